// SPDX-License-Identifier: Apache-2.0
// Division helpers that the compiler calls: Hexagon has no integer divide, and no compiler runtime is linked. Shift and subtract, starting
// at the first bit that can be set; a division by zero gives all ones and the dividend.
// Ownership: none. Threads: any.
#include "exec/hexagon/dsp/rt/rt.h"

static uint64_t divide64(uint64_t n, uint64_t d, uint64_t *rest)
{
    if (d == 0 || n < d) {
        *rest = n;
        return d == 0 ? UINT64_MAX : 0;
    }
    const int shift = __builtin_clzll(d) - __builtin_clzll(n);
    uint64_t q = 0;
    for (int i = shift; i >= 0; i--) {
        if (n >= d << i) {
            n -= d << i;
            q |= (uint64_t)1 << i;
        }
    }
    *rest = n;
    return q;
}

static uint32_t divide32(uint32_t n, uint32_t d, uint32_t *rest)
{
    if (d == 0 || n < d) {
        *rest = n;
        return d == 0 ? UINT32_MAX : 0;
    }
    const int shift = __builtin_clz(d) - __builtin_clz(n);
    uint32_t q = 0;
    for (int i = shift; i >= 0; i--) {
        if (n >= d << i) {
            n -= d << i;
            q |= (uint32_t)1 << i;
        }
    }
    *rest = n;
    return q;
}

static uint32_t magnitude32(int32_t v) { return v < 0 ? 0u - (uint32_t)v : (uint32_t)v; }
static uint64_t magnitude64(int64_t v) { return v < 0 ? 0u - (uint64_t)v : (uint64_t)v; }

uint32_t __hexagon_udivsi3(uint32_t n, uint32_t d)
{
    uint32_t rest;
    return divide32(n, d, &rest);
}

uint32_t __hexagon_umodsi3(uint32_t n, uint32_t d)
{
    uint32_t rest;
    divide32(n, d, &rest);
    return rest;
}

int32_t __hexagon_divsi3(int32_t n, int32_t d)
{
    uint32_t rest;
    const uint32_t q = divide32(magnitude32(n), magnitude32(d), &rest);
    return (int32_t)((n < 0) != (d < 0) ? 0u - q : q);
}

int32_t __hexagon_modsi3(int32_t n, int32_t d)
{
    uint32_t rest;
    divide32(magnitude32(n), magnitude32(d), &rest);
    return (int32_t)(n < 0 ? 0u - rest : rest);
}

uint64_t __hexagon_udivdi3(uint64_t n, uint64_t d)
{
    uint64_t rest;
    return divide64(n, d, &rest);
}

uint64_t __hexagon_umoddi3(uint64_t n, uint64_t d)
{
    uint64_t rest;
    divide64(n, d, &rest);
    return rest;
}

int64_t __hexagon_divdi3(int64_t n, int64_t d)
{
    uint64_t rest;
    const uint64_t q = divide64(magnitude64(n), magnitude64(d), &rest);
    return (int64_t)((n < 0) != (d < 0) ? 0u - q : q);
}

int64_t __hexagon_moddi3(int64_t n, int64_t d)
{
    uint64_t rest;
    divide64(magnitude64(n), magnitude64(d), &rest);
    return (int64_t)(n < 0 ? 0u - rest : rest);
}
