// SPDX-License-Identifier: Apache-2.0
// The little that a freestanding program needs of a C library: memory moves; the division helpers, which only the compiler
// calls.
// Ownership: none. Threads: any.
#ifndef TN_HX_RT_H
#define TN_HX_RT_H

#include <stddef.h>
#include <stdint.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *restrict to, const void *restrict from, size_t bytes);
uint32_t __hexagon_udivsi3(uint32_t n, uint32_t d);
uint32_t __hexagon_umodsi3(uint32_t n, uint32_t d);
int32_t __hexagon_divsi3(int32_t n, int32_t d);
int32_t __hexagon_modsi3(int32_t n, int32_t d);
uint64_t __hexagon_udivdi3(uint64_t n, uint64_t d);
uint64_t __hexagon_umoddi3(uint64_t n, uint64_t d);
int64_t __hexagon_divdi3(int64_t n, int64_t d);
int64_t __hexagon_moddi3(int64_t n, int64_t d);

#endif
