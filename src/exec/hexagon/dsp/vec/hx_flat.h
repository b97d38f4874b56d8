// SPDX-License-Identifier: Apache-2.0
// Elementwise work: one flat run over bytes. QUAD values of the same shape have the same geometry, so they are gone over as they lie,
// padding and all, and the padding is put right afterwards. PLAIN values may lie in the host's memory, at any address and with
// anything behind them, so their last vector is handled apart.
// Ownership: none. Threads: tiles run on all workers.
#ifndef TN_HX_FLAT_H
#define TN_HX_FLAT_H

#include "exec/hexagon/dsp/vec/hx_kernels.h"
#include "exec/hexagon/dsp/rt/rt.h"

enum { TN_HX_FLAT_PART = 8192 };   // bytes of a tile

// Up to a vector of bytes; what lies beyond n is not touched.
static inline HVX_Vector tn_hx_load_bytes(const uint8_t *from, int32_t n)
{
    if (n >= TN_HX_VECTOR) {
        return TN_HX_CVU(from);
    }
    uint8_t part[TN_HX_VECTOR] __attribute__((aligned(128)));
    TN_HX_V(part) = Q6_V_vzero();
    memcpy(part, from, (uint32_t)n);
    return TN_HX_V(part);
}

static inline void tn_hx_store_bytes(uint8_t *to, HVX_Vector v, int32_t n)
{
    if (n >= TN_HX_VECTOR) {
        TN_HX_VU(to) = v;
        return;
    }
    uint8_t part[TN_HX_VECTOR] __attribute__((aligned(128)));
    TN_HX_V(part) = v;
    memcpy(to, part, (uint32_t)n);
}

// First byte and number of bytes of a value's run.
static inline uint8_t *tn_hx_flat_start(const tn_hx_value *v) { return v->layout == TN_HX_QUAD ? v->data - v->lead : v->data; }
static inline uint32_t tn_hx_flat_bytes(const tn_hx_value *v) { return v->layout == TN_HX_QUAD ? v->bytes : v->count; }

static inline uint32_t tn_hx_flat_tiles(const tn_hx_value *v)
{
    return (tn_hx_flat_bytes(v) + TN_HX_FLAT_PART - 1) / TN_HX_FLAT_PART;
}

// 128 bytes as four vectors of words: word i of vector k is byte 4 * i + k.
static inline void tn_hx_widen(HVX_Vector v, HVX_Vector out[4])
{
    const HVX_VectorPair halves = Q6_Wuh_vzxt_Vub(v);
    const HVX_VectorPair even = Q6_Wuw_vzxt_Vuh(Q6_V_lo_W(halves)), odd = Q6_Wuw_vzxt_Vuh(Q6_V_hi_W(halves));
    out[0] = Q6_V_lo_W(even);
    out[1] = Q6_V_lo_W(odd);
    out[2] = Q6_V_hi_W(even);
    out[3] = Q6_V_hi_W(odd);
}

static inline int tn_hx_is_byte(const tn_hx_value *v) { return v->dtype == TN_HEX_U8 || v->dtype == TN_HEX_S8; }

static inline int tn_hx_same_shape(const tn_hx_value *a, const tn_hx_value *b)
{
    if (a->rank != b->rank) {
        return 0;
    }
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] != b->dims[i]) {
            return 0;
        }
    }
    return 1;
}

#endif
