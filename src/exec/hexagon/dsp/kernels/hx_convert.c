// SPDX-License-Identifier: Apache-2.0
// Conversions between the border's dense rows and the inner layouts. Bytes that are s8 outside have their sign bit flipped on the way.
// Ownership: none. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"

typedef struct convert_run {
    const tn_hx_value *x, *y;
    int32_t flip;                // 0x80 in every byte, or 0
} convert_run;

enum { PART = 65536 };

// Four rows of n bytes to n pixels of four channels, and back. Vectors of 128 pixels.
static void join_rows(uint8_t *to, const uint8_t *const rows[4], int32_t n, HVX_Vector flip)
{
    for (int32_t i = 0; i < n; i += TN_HX_VECTOR) {
        HVX_Vector r[4];
        for (int c = 0; c < 4; c++) {
            r[c] = rows[c] ? Q6_V_vxor_VV(tn_hx_load_bytes(rows[c] + i, n - i), flip) : Q6_V_vzero();
        }
        const HVX_VectorPair ac = Q6_W_vshuff_VVR(r[2], r[0], -1), bd = Q6_W_vshuff_VVR(r[3], r[1], -1);
        const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(bd), Q6_V_lo_W(ac), -1);
        const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(bd), Q6_V_hi_W(ac), -1);
        const HVX_Vector v[4] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
        for (int32_t k = 0; k < 4 && i + 32 * k < n; k++) {
            TN_HX_VU(to + 4 * i + k * TN_HX_VECTOR) = v[k];
        }
    }
}

static void split_rows(uint8_t *const rows[4], const uint8_t *from, int32_t n, HVX_Vector flip)
{
    for (int32_t i = 0; i < n; i += TN_HX_VECTOR) {
        HVX_Vector v[4];
        for (int32_t k = 0; k < 4; k++) {
            v[k] = i + 32 * k < n ? Q6_V_vxor_VV(TN_HX_CVU(from + 4 * i + k * TN_HX_VECTOR), flip) : Q6_V_vzero();
        }
        const HVX_VectorPair low = Q6_W_vdeal_VVR(v[1], v[0], -1), high = Q6_W_vdeal_VVR(v[3], v[2], -1);
        const HVX_VectorPair ac = Q6_W_vdeal_VVR(Q6_V_lo_W(high), Q6_V_lo_W(low), -1);
        const HVX_VectorPair bd = Q6_W_vdeal_VVR(Q6_V_hi_W(high), Q6_V_hi_W(low), -1);
        const HVX_Vector r[4] = {Q6_V_lo_W(ac), Q6_V_lo_W(bd), Q6_V_hi_W(ac), Q6_V_hi_W(bd)};
        for (int c = 0; c < 4; c++) {
            if (rows[c]) {
                tn_hx_store_bytes(rows[c] + i, r[c], n - i);
            }
        }
    }
}

static void plane_tile(void *context, uint32_t index)
{
    const convert_run *run = context;
    const int to_quad = run->y->layout == TN_HX_QUAD;
    const tn_hx_value *quad = to_quad ? run->y : run->x, *plain = to_quad ? run->x : run->y;
    const int32_t channels = plain->dims[1], area = quad->height * quad->width;
    const int32_t image = (int32_t)index / quad->planes, plane = (int32_t)index % quad->planes;
    const HVX_Vector flip = Q6_V_vsplat_R(run->flip);
    uint8_t *at = tn_hx_plane(quad, image, plane);
    uint8_t *rows[4];
    for (int c = 0; c < 4; c++) {
        rows[c] = 4 * plane + c < channels ? plain->data + (uint32_t)(image * channels + 4 * plane + c) * (uint32_t)area : NULL;
    }
    // Rows without padding between them are one long row.
    const int32_t whole = quad->pitch == quad->width, n = whole ? area : quad->width;
    for (int32_t y = 0; y < (whole ? 1 : quad->height); y++, at += 4 * quad->pitch) {
        if (to_quad) {
            join_rows(at, (const uint8_t *const *)rows, n, flip);
        } else {
            split_rows(rows, at, n, flip);
        }
        for (int c = 0; c < 4; c++) {
            rows[c] = rows[c] ? rows[c] + n : NULL;
        }
    }
}

static void plain_tile(void *context, uint32_t index)
{
    const convert_run *run = context;
    const uint32_t bytes = run->x->count * run->x->size, from = index * PART, end = from + PART < bytes ? from + PART : bytes;
    const HVX_Vector flip = Q6_V_vsplat_R(run->flip);
    if (!run->flip) {
        memcpy(run->y->data + from, run->x->data + from, end - from);
        return;
    }
    for (uint32_t i = from; i < end; i += TN_HX_VECTOR) {
        const int32_t n = (int32_t)(end - i);
        tn_hx_store_bytes(run->y->data + i, Q6_V_vxor_VV(tn_hx_load_bytes(run->x->data + i, n), flip), n);
    }
}

static void run(tn_hx_graph *graph, tn_hx_node *node)
{
    convert_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node)};
    r.flip = r.x->flip != r.y->flip ? (int32_t)0x80808080u : 0;
    if (r.x->layout == TN_HX_PLAIN && r.y->layout == TN_HX_PLAIN) {
        tn_hx_parallel(plain_tile, &r, (r.x->count * r.x->size + PART - 1) / PART);
        return;
    }
    const tn_hx_value *quad = r.y->layout == TN_HX_QUAD ? r.y : r.x;
    tn_hx_parallel(plane_tile, &r, (uint32_t)(quad->images * quad->planes));
    if (r.y->layout == TN_HX_QUAD) {
        tn_hx_fill_padding(r.y);
    }
}

const tn_hx_op tn_hx_convert = {.index = -1, .min_in = 1, .max_in = 1, .run = run};
