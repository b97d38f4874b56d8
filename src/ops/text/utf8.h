// SPDX-License-Identifier: Apache-2.0
// UTF-8 (RFC 3629): code points out of and into bytes, simple case mapping, white space.
// Leaf header. Ownership: none. Threads: any.
#ifndef TN_UTF8_H
#define TN_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The code point at *at (before end), which moves behind it. A byte that begins no valid sequence reads as U+FFFD.
uint32_t tn_utf8_next(const char **at, const char *end);

// Writes at most 4 bytes; returns how many.
size_t tn_utf8_put(uint32_t c, char *to);

// One code point to one (Unicode simple case mapping) for Latin, Greek, Cyrillic, Armenian; others stay as they are.
uint32_t tn_utf8_lower(uint32_t c);
uint32_t tn_utf8_upper(uint32_t c);

// What Python's str.split() without a separator splits at.
bool tn_utf8_space(uint32_t c);

#endif
