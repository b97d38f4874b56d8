// SPDX-License-Identifier: Apache-2.0
// What this processor can do: instruction sets, caches, cores (over the cpuinfo library).
// Ownership: plain values. Threads: any.
#ifndef TN_CPU_H
#define TN_CPU_H

#include <stddef.h>
#include <stdint.h>

// One bit per instruction-set tier that a kernel row may require. X(name, bit, text)
#define TN_CPU_LIST(X)                                                                \
    X(AVX2, 0, "avx2")             /* AVX2 + FMA + F16C */                            \
    X(AVX512, 1, "avx512")         /* F + BW + DQ + VL */                             \
    X(VNNI, 2, "vnni")             /* AVX512-VNNI (with VL) */                        \
    X(AVX512BF16, 3, "avx512bf16") /* products of bf16 pairs (with AVX512) */          \
    X(AMX, 4, "amx")               /* tiles of bf16 (with AVX512BF16) */               \
    X(NEON, 8, "neon")                                                                \
    X(DOTPROD, 9, "dotprod")                                                          \
    X(I8MM, 10, "i8mm")

enum {
#define X(name, bit, text) TN_CPU_##name = 1 << bit,
    TN_CPU_LIST(X)
#undef X
};

typedef struct tn_cpu {
    uint32_t features;       // TN_CPU_* bits
    unsigned cores;          // usable by this process
    size_t l1d, l2, l3;      // bytes; per core, per core, whole; never 0 (defaults where unknown)
    char name[64];
} tn_cpu;

void tn_cpu_detect(tn_cpu *cpu);

// Name, caches and features into a zeroed *cpu; what is not known stays 0. tn_cpu_detect calls it; which file defines it is the
// build's choice (TENON_CPUINFO).
void tn_cpu_probe(tn_cpu *cpu);

// TN_CPU_AMX where the processor has tile registers with products of bf16 and the system saves them, else 0. tn_cpu_detect calls it; which
// file defines these two is the build's choice.
uint32_t tn_cpu_tiles(void);

// Linux lets a process use tile registers only after it asked, once for all of its threads: the features, without TN_CPU_AMX where that is
// refused. Asked by those who will use them: signal frames on small alternate stacks no longer fit afterwards.
uint32_t tn_cpu_permit(uint32_t features);

// The features that remain when only tiers up to `level` are allowed: "portable", or a text of TN_CPU_LIST (itself and
// everything below it on its architecture). NULL allows all. Returns 0 and sets *known = 0 for an unknown level.
uint32_t tn_cpu_mask(const char *level, int *known);

// No property of a processor: rows that keep weights as bf16 ask for it, and sessions of precision bf16 have it.
#define TN_CPU_BF16_WEIGHTS (UINT32_C(1) << 31)

#endif
