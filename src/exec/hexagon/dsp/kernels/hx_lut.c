// SPDX-License-Identifier: Apache-2.0
// Functions of one byte: a table of 256 entries, looked up by eight vlut32 of 32 entries each; and clamp.
// Ownership: tables in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/wire/hex_control.h"

typedef struct lut_run {
    const tn_hx_value *x, *y;
    const uint8_t *table;
    int32_t low, high;
} lut_run;

static uint32_t check_unary(const tn_hx_graph *graph, const tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    if (!tn_hx_is_byte(x) || !tn_hx_is_byte(y)) {
        return TN_HEX_WHY_DTYPE;
    }
    return tn_hx_same_shape(x, y) ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

static int layout_follow(const tn_hx_graph *graph, const tn_hx_node *node) { return tn_hx_in(graph, node, 0)->layout; }

// ---- lut ----

static uint32_t check_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *table = tn_hx_in(graph, node, 1);
    if (!table || table->origin != TN_HX_CONST) {
        return TN_HEX_WHY_CONST;
    }
    if (table->dtype != TN_HEX_U8) {
        return TN_HEX_WHY_DTYPE;
    }
    return table->count == 256 ? check_unary(graph, node) : TN_HEX_WHY_SHAPE;
}

// The table in terms of the inner u8 bytes, in the order vlut32 wants: entries j and j + 64 of each half side by side.
static uint32_t prepare_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node), *given = tn_hx_in(graph, node, 1);
    const uint32_t in_flip = x->dtype == TN_HEX_S8 ? 0x80 : 0, out_flip = y->dtype == TN_HEX_S8 ? 0x80 : 0;
    uint8_t *table = node->plan = tn_hx_pool_take(&graph->pool, 256);
    if (!table) {
        return TN_HEX_WHY_LIMIT;
    }
    for (uint32_t i = 0; i < 256; i++) {
        const uint32_t half = i & 128, j = i & 127;
        table[half + 2 * (j & 63) + (j >> 6)] = (uint8_t)(given->data[i ^ in_flip] ^ out_flip);
    }
    return TN_HEX_WHY_NONE;
}

static inline HVX_Vector look_up(HVX_Vector v, HVX_Vector low, HVX_Vector high)
{
    HVX_Vector y = Q6_Vb_vlut32_VbVbR(v, low, 0);
    y = Q6_Vb_vlut32or_VbVbVbR(y, v, low, 1);
    y = Q6_Vb_vlut32or_VbVbVbR(y, v, low, 2);
    y = Q6_Vb_vlut32or_VbVbVbR(y, v, low, 3);
    y = Q6_Vb_vlut32or_VbVbVbR(y, v, high, 4);
    y = Q6_Vb_vlut32or_VbVbVbR(y, v, high, 5);
    y = Q6_Vb_vlut32or_VbVbVbR(y, v, high, 6);
    return Q6_Vb_vlut32or_VbVbVbR(y, v, high, 7);
}

static void lut_tile(void *context, uint32_t index)
{
    const lut_run *run = context;
    const uint8_t *x = tn_hx_flat_start(run->x);
    uint8_t *y = tn_hx_flat_start(run->y);
    const HVX_Vector low = TN_HX_CV(run->table), high = TN_HX_CV(run->table + 128);
    const uint32_t all = tn_hx_flat_bytes(run->y), from = index * TN_HX_FLAT_PART;
    const uint32_t end = from + TN_HX_FLAT_PART < all ? from + TN_HX_FLAT_PART : all;
    for (uint32_t i = from; i < end; i += TN_HX_VECTOR) {
        const int32_t n = (int32_t)(end - i);
        tn_hx_store_bytes(y + i, look_up(tn_hx_load_bytes(x + i, n), low, high), n);
    }
}

static void run_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    lut_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .table = node->plan};
    tn_hx_parallel(lut_tile, &r, tn_hx_flat_tiles(r.y));
    if (r.y->layout == TN_HX_QUAD) {
        tn_hx_fill_padding(r.y);
    }
}

// ---- clamp ----

static uint32_t check_clamp(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    return x->dtype == y->dtype ? check_unary(graph, node) : TN_HEX_WHY_DTYPE;
}

static void clamp_tile(void *context, uint32_t index)
{
    const lut_run *run = context;
    const uint8_t *x = tn_hx_flat_start(run->x);
    uint8_t *y = tn_hx_flat_start(run->y);
    const HVX_Vector low = tn_hx_splat_byte(run->low), high = tn_hx_splat_byte(run->high);
    const uint32_t all = tn_hx_flat_bytes(run->y), from = index * TN_HX_FLAT_PART;
    const uint32_t end = from + TN_HX_FLAT_PART < all ? from + TN_HX_FLAT_PART : all;
    for (uint32_t i = from; i < end; i += TN_HX_VECTOR) {
        const int32_t n = (int32_t)(end - i);
        tn_hx_store_bytes(y + i, Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(tn_hx_load_bytes(x + i, n), low), high), n);
    }
}

static void run_clamp(tn_hx_graph *graph, tn_hx_node *node)
{
    lut_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .low = node->attr.low, .high = node->attr.high};
    tn_hx_parallel(clamp_tile, &r, tn_hx_flat_tiles(r.y));
    if (r.y->layout == TN_HX_QUAD) {
        tn_hx_fill_padding(r.y);
    }
}

const tn_hx_op tn_hx_op_lut = {
    .index = TN_HEX_OP_LUT, .min_in = 2, .max_in = 2, .check = check_lut, .layout = layout_follow, .prepare = prepare_lut, .run = run_lut
};
const tn_hx_op tn_hx_op_clamp = {
    .index = TN_HEX_OP_CLAMP, .min_in = 1, .max_in = 1, .check = check_clamp, .layout = layout_follow, .run = run_clamp
};
