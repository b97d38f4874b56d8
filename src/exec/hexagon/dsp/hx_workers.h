// SPDX-License-Identifier: Apache-2.0
// Counters over all worker threads.
// Ownership: none. Threads: the serving thread.
#ifndef TN_HX_WORKERS_H
#define TN_HX_WORKERS_H

#include <stdint.h>

// Packets, instructions and HVX instructions that all threads have run, modulo 2^32.
void tn_hx_worker_counts(uint32_t out[3]);

#endif
