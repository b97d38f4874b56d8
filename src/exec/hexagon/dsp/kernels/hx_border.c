// SPDX-License-Identifier: Apache-2.0
// Float at the border: quantise and dequantise. The scalar unit has float32 with IEEE rounding, so these have the bits of the definition;
// dequantise looks its 256 results up.
// Ownership: tables in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/wire/hex_control.h"

typedef struct border_run {
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    const uint32_t *table;
    float scale;
} border_run;

enum { PART = 4096 };

static uint32_t check_pair(const tn_hx_node *node, const tn_hx_value *bytes, const tn_hx_value *floats)
{
    if (!tn_hx_is_byte(bytes) || floats->dtype != TN_HEX_F32) {
        return TN_HEX_WHY_DTYPE;
    }
    if (!tn_hx_same_shape(bytes, floats)) {
        return TN_HEX_WHY_SHAPE;
    }
    return node->attr.n_scales == 1 ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static uint32_t check_quantise(tn_hx_graph *graph, tn_hx_node *node)
{
    return check_pair(node, tn_hx_out(graph, node), tn_hx_in(graph, node, 0));
}

static uint32_t check_dequantise(tn_hx_graph *graph, tn_hx_node *node)
{
    return check_pair(node, tn_hx_in(graph, node, 0), tn_hx_out(graph, node));
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_PLAIN;
}

static float float_of(uint32_t bits)
{
    float v;
    __builtin_memcpy(&v, &bits, 4);
    return v;
}

static void quantise_tile(void *context, uint32_t index)
{
    const border_run *run = context;
    const uint32_t from = index * PART, end = from + PART < run->x->count ? from + PART : run->x->count;
    const float *x = (const float *)run->x->data;
    for (uint32_t i = from; i < end; i++) {
        const int32_t v = x[i] == x[i] ? tn_round_even(x[i] / run->scale) + run->y->zero : run->attr->low;     // NaN: the least
        run->y->data[i] = (uint8_t)tn_clamp_i32(v, run->attr->low, run->attr->high);
    }
}

static void run_quantise(tn_hx_graph *graph, tn_hx_node *node)
{
    border_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr,
                    .scale = float_of(node->attr.scales[0])};
    tn_hx_parallel(quantise_tile, &r, (r.x->count + PART - 1) / PART);
}

static uint32_t prepare_dequantise(tn_hx_graph *graph, tn_hx_node *node)
{
    float *table = node->plan = tn_hx_pool_take(&graph->pool, 1024);
    for (int32_t i = 0; table && i < 256; i++) {
        table[i] = (float)(i - tn_hx_in(graph, node, 0)->zero) * float_of(node->attr.scales[0]);
    }
    return table ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
}

static void dequantise_tile(void *context, uint32_t index)
{
    const border_run *run = context;
    const uint32_t from = index * PART, end = from + PART < run->x->count ? from + PART : run->x->count;
    uint32_t *y = (uint32_t *)run->y->data;
    for (uint32_t i = from; i < end; i++) {
        y[i] = run->table[run->x->data[i]];
    }
}

static void run_dequantise(tn_hx_graph *graph, tn_hx_node *node)
{
    border_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr, .table = node->plan};
    tn_hx_parallel(dequantise_tile, &r, (r.x->count + PART - 1) / PART);
}

const tn_hx_op tn_hx_op_quantise = {
    .index = TN_HEX_OP_QUANTISE, .min_in = 1, .max_in = 1, .check = check_quantise, .layout = layout, .run = run_quantise
};
const tn_hx_op tn_hx_op_dequantise = {
    .index = TN_HEX_OP_DEQUANTISE, .min_in = 1, .max_in = 1, .check = check_dequantise, .layout = layout, .prepare = prepare_dequantise,
    .run = run_dequantise
};
