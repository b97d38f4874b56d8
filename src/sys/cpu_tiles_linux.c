// SPDX-License-Identifier: Apache-2.0
// Tile registers (AMX) on Linux for x86-64: the processor's answer, the system's, and the permission that a process has to ask for. Built
// where the rest of the processor's facts are known too.
// Ownership: none; a permission holds for the process until it ends. Threads: any.
#include "sys/cpu.h"

#include <cpuid.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

// arch_prctl(2), and the state component of the tiles' data (Intel SDM volume 1, 13.1).
#define ASK_SUPPORTED 0x1021
#define ASK_PERMISSION 0x1023
#define TILE_CONFIG 17
#define TILE_DATA 18

uint32_t tn_cpu_tiles(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    // Leaf 7: bit 22 products of bf16, bit 24 tiles.
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d >> 22 & 1) == 0 || (d >> 24 & 1) == 0) {
        return 0;
    }
    uint64_t saved = 0;
    const uint64_t both = UINT64_C(1) << TILE_CONFIG | UINT64_C(1) << TILE_DATA;
    return syscall(SYS_arch_prctl, ASK_SUPPORTED, &saved) == 0 && (saved & both) == both ? TN_CPU_AMX : 0;
}

uint32_t tn_cpu_permit(uint32_t features)
{
    const bool asks = (features & TN_CPU_AMX) != 0;
    return asks && syscall(SYS_arch_prctl, ASK_PERMISSION, TILE_DATA) != 0 ? features & ~(uint32_t)TN_CPU_AMX : features;
}
