// SPDX-License-Identifier: Apache-2.0
// Division helpers that the compiler calls: Hexagon has no integer divide, and no compiler runtime is linked. Shift and subtract, starting
// at the first bit that can be set; a division by zero gives all ones and the dividend.
// Ownership: none. Threads: any.
#include "exec/hexagon/dsp/rt/rt.h"

// One text for both widths: names, types and the count of leading zeros are all that differs.
#define DEFINE_DIVIDE(bits, leading_zeros)                                                                        \
    static uint##bits##_t divide##bits(uint##bits##_t n, uint##bits##_t d, uint##bits##_t *rest)                  \
    {                                                                                                             \
        if (d == 0 || n < d) {                                                                                    \
            *rest = n;                                                                                            \
            return d == 0 ? UINT##bits##_MAX : 0;                                                                 \
        }                                                                                                         \
        uint##bits##_t q = 0;                                                                                     \
        for (int i = leading_zeros(d) - leading_zeros(n); i >= 0; i--) {                                          \
            if (n >= d << i) {                                                                                    \
                n -= d << i;                                                                                      \
                q |= (uint##bits##_t)1 << i;                                                                      \
            }                                                                                                     \
        }                                                                                                         \
        *rest = n;                                                                                                \
        return q;                                                                                                 \
    }                                                                                                             \
                                                                                                                  \
    static uint##bits##_t magnitude##bits(int##bits##_t v) { return v < 0 ? 0u - (uint##bits##_t)v : (uint##bits##_t)v; }

DEFINE_DIVIDE(32, __builtin_clz)
DEFINE_DIVIDE(64, __builtin_clzll)

// The quotient's sign is that of the product, the remainder's that of the dividend (C11 6.5.5).
#define DEFINE_HELPERS(bits, suffix)                                                                              \
    uint##bits##_t __hexagon_udiv##suffix(uint##bits##_t n, uint##bits##_t d)                                     \
    {                                                                                                             \
        uint##bits##_t rest;                                                                                      \
        return divide##bits(n, d, &rest);                                                                         \
    }                                                                                                             \
                                                                                                                  \
    uint##bits##_t __hexagon_umod##suffix(uint##bits##_t n, uint##bits##_t d)                                     \
    {                                                                                                             \
        uint##bits##_t rest;                                                                                      \
        divide##bits(n, d, &rest);                                                                                \
        return rest;                                                                                              \
    }                                                                                                             \
                                                                                                                  \
    int##bits##_t __hexagon_div##suffix(int##bits##_t n, int##bits##_t d)                                         \
    {                                                                                                             \
        uint##bits##_t rest;                                                                                      \
        const uint##bits##_t q = divide##bits(magnitude##bits(n), magnitude##bits(d), &rest);                     \
        return (int##bits##_t)((n < 0) != (d < 0) ? 0u - q : q);                                                  \
    }                                                                                                             \
                                                                                                                  \
    int##bits##_t __hexagon_mod##suffix(int##bits##_t n, int##bits##_t d)                                         \
    {                                                                                                             \
        uint##bits##_t rest;                                                                                      \
        divide##bits(magnitude##bits(n), magnitude##bits(d), &rest);                                              \
        return (int##bits##_t)(n < 0 ? 0u - rest : rest);                                                         \
    }

DEFINE_HELPERS(32, si3)
DEFINE_HELPERS(64, di3)
