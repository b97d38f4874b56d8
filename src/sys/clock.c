// SPDX-License-Identifier: Apache-2.0
// Monotonic time from the system (POSIX clock_gettime). Ownership: none. Threads: any.
#include "sys/clock.h"

#include <time.h>

uint64_t tn_clock_ns(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
