// SPDX-License-Identifier: Apache-2.0
// memcpy and its kin, which the compiler may call by name. Copies go by eight bytes where both sides allow it: the scalar unit moves
// those without the detours of unaligned vectors.
// Ownership: none. Threads: any.
#include "exec/hexagon/dsp/rt/rt.h"

typedef uint64_t __attribute__((may_alias)) word;

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *d = to;
    const uint8_t *s = from;
    if ((((uintptr_t)d ^ (uintptr_t)s) & 7) == 0 && bytes >= 16) {
        for (; (uintptr_t)d & 7; bytes--) {
            *d++ = *s++;
        }
        for (; bytes >= 64; bytes -= 64, d += 64, s += 64) {
            const word *from8 = (const word *)s;
            const uint64_t a = from8[0], b = from8[1], c = from8[2], e = from8[3], f = from8[4], g = from8[5], h = from8[6], i = from8[7];
            word *to8 = (word *)d;
            to8[0] = a, to8[1] = b, to8[2] = c, to8[3] = e, to8[4] = f, to8[5] = g, to8[6] = h, to8[7] = i;
        }
        for (; bytes >= 8; bytes -= 8, d += 8, s += 8) {
            *(word *)d = *(const word *)s;
        }
    }
    while (bytes--) {
        *d++ = *s++;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    uint8_t *d = to;
    const uint8_t *s = from;
    if (d <= s || d >= s + bytes) {
        return memcpy(to, from, bytes);
    }
    while (bytes--) {
        d[bytes] = s[bytes];
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *d = to;
    for (; bytes && ((uintptr_t)d & 7); bytes--) {
        *d++ = (uint8_t)value;
    }
    const uint64_t all = (uint8_t)value * UINT64_C(0x0101010101010101);
    for (; bytes >= 8; bytes -= 8, d += 8) {
        *(word *)d = all;
    }
    while (bytes--) {
        *d++ = (uint8_t)value;
    }
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *p = a, *q = b;
    for (; bytes; bytes--, p++, q++) {
        if (*p != *q) {
            return *p - *q;
        }
    }
    return 0;
}

void *__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *restrict to, const void *restrict from, size_t bytes)
{
    return memcpy(to, from, bytes);
}
