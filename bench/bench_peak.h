// SPDX-License-Identifier: Apache-2.0
// The multiply-add rate of one core of this machine, measured.
// Ownership: none. Threads: any.
#ifndef TN_BENCH_PEAK_H
#define TN_BENCH_PEAK_H

#include "dispatch/kernel.h"

// GFLOP/s (a multiply-add is two) in float32 with the vectors of `impl`; 0 where this program knows no such vectors.
double tn_bench_peak(const tn_cpu *cpu, tn_impl impl);

#endif
