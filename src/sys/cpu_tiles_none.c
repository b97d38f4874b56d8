// SPDX-License-Identifier: Apache-2.0
// Tile registers where there are none: other processors, other systems, builds that do not look at the processor.
// Ownership: none. Threads: any.
#include "sys/cpu.h"

uint32_t tn_cpu_tiles(void) { return 0; }

uint32_t tn_cpu_permit(uint32_t features) { return features & ~(uint32_t)TN_CPU_AMX; }
