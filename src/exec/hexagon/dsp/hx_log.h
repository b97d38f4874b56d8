// SPDX-License-Identifier: Apache-2.0
// Lines for the log ring: a text and a number.
// Ownership: the level is the process's. Threads: the serving thread.
#ifndef TN_HX_LOG_H
#define TN_HX_LOG_H

#include <stdint.h>

extern uint32_t tn_hx_log_level;   // 0 silent, 1 errors, 2 calls, 3 nodes

// Writes "text number\n" when level is at most tn_hx_log_level.
void tn_hx_log(uint32_t level, const char *text, uint32_t number);

#endif
