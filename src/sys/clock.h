// SPDX-License-Identifier: Apache-2.0
// Monotonic time. Ownership: none. Threads: any.
#ifndef TN_CLOCK_H
#define TN_CLOCK_H

#include <stdint.h>

uint64_t tn_clock_ns(void);   // nanoseconds since an arbitrary moment; never goes back

#endif
