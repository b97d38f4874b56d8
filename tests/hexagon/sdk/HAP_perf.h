// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef HAP_PERF_H
#define HAP_PERF_H

unsigned long long HAP_perf_get_time_us(void);
unsigned long long HAP_perf_get_pcycles(void);

#endif
