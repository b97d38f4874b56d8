// SPDX-License-Identifier: Apache-2.0
// Softmax and layer normalisation in integers. They work on lines of a few hundred elements, so scalar code with 64-bit products serves;
// softmax divides once per different distance from the greatest element of a line, not once per element.
// Ownership: tables in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { MAX_LINE = 65536 };

typedef struct norm_run {
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    const uint32_t *table;       // softmax
    const int32_t *gain, *bias;  // layer_norm
    int32_t n, inner;            // elements of a line, and their distance
} norm_run;

static uint32_t check_bytes(const tn_hx_graph *graph, const tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    if (!tn_hx_is_byte(x) || x->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    return tn_hx_same_shape(x, y) && x->rank > 0 ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

// Operand k is a constant of n words.
static uint32_t check_words(const tn_hx_graph *graph, const tn_hx_node *node, uint32_t k, uint32_t n)
{
    const tn_hx_value *v = tn_hx_in(graph, node, k);
    if (!v || v->origin != TN_HX_CONST) {
        return TN_HEX_WHY_CONST;
    }
    if (v->dtype != TN_HEX_S32) {
        return TN_HEX_WHY_DTYPE;
    }
    return v->count == n ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_PLAIN;
}

// ---- softmax ----

static uint32_t check_softmax(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *y = tn_hx_out(graph, node);
    uint32_t why = check_bytes(graph, node);
    if (!why && (node->attr.axis >= y->rank || y->dims[node->attr.axis] > MAX_LINE)) {
        why = TN_HEX_WHY_ATTR;
    }
    return why ? why : check_words(graph, node, 1, 256);
}

static uint32_t prepare_softmax(tn_hx_graph *graph, tn_hx_node *node)
{
    uint32_t *table = node->plan = tn_hx_pool_take(&graph->pool, 1024);
    if (!table) {
        return TN_HEX_WHY_LIMIT;
    }
    memcpy(table, tn_hx_in(graph, node, 1)->data, 1024);
    for (int i = 0; i < 256; i++) {
        if (table[i] > TN_SOFTMAX_ONE) {
            return TN_HEX_WHY_ATTR;   // products would leave 64 bits
        }
    }
    return TN_HEX_WHY_NONE;
}

static void softmax_line(void *context, uint32_t line)
{
    const norm_run *run = context;
    const uint32_t inner = (uint32_t)run->inner, first = line / inner * inner * (uint32_t)run->n + line % inner;
    const uint8_t *x = run->x->data + first;
    uint8_t *y = run->y->data + first;
    const int32_t zero = run->y->zero, low = run->attr->low, high = run->attr->high;
    int32_t most = 0;
    uint64_t sum = 0;
    for (int32_t i = 0; i < run->n; i++) {
        most = x[i * run->inner] > most ? x[i * run->inner] : most;
    }
    for (int32_t i = 0; i < run->n; i++) {
        sum += run->table[most - x[i * run->inner]];
    }
    int16_t known[256];
    memset(known, 0xff, sizeof known);
    for (int32_t i = 0; i < run->n; i++) {
        const int32_t d = most - x[i * run->inner];
        if (known[d] < 0) {
            known[d] = (int16_t)tn_requant_softmax(run->table[d], sum, run->attr->factor, zero, low, high);
        }
        y[i * run->inner] = (uint8_t)known[d];
    }
}

static void run_softmax(tn_hx_graph *graph, tn_hx_node *node)
{
    norm_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr, .table = node->plan, .inner = 1};
    r.n = r.y->dims[node->attr.axis];
    for (int32_t i = node->attr.axis + 1; i < r.y->rank; i++) {
        r.inner *= r.y->dims[i];
    }
    tn_hx_parallel(softmax_line, &r, r.y->count / (uint32_t)r.n);
}

// ---- layer_norm ----

static uint32_t check_layer_norm(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *y = tn_hx_out(graph, node);
    uint32_t why = check_bytes(graph, node);
    if (!why && (y->dims[y->rank - 1] > MAX_LINE || node->attr.n_multipliers != 1)) {
        why = TN_HEX_WHY_ATTR;
    }
    why = why ? why : check_words(graph, node, 1, (uint32_t)y->dims[y->rank - 1]);
    return why ? why : check_words(graph, node, 2, (uint32_t)y->dims[y->rank - 1]);
}

static uint32_t prepare_layer_norm(tn_hx_graph *graph, tn_hx_node *node)
{
    const uint32_t n = tn_hx_in(graph, node, 1)->count;
    int32_t *words = node->plan = tn_hx_pool_take(&graph->pool, 8 * n);
    if (!words) {
        return TN_HEX_WHY_LIMIT;
    }
    memcpy(words, tn_hx_in(graph, node, 1)->data, 4 * n);
    memcpy(words + n, tn_hx_in(graph, node, 2)->data, 4 * n);
    return TN_HEX_WHY_NONE;
}

static void layer_norm_line(void *context, uint32_t line)
{
    const norm_run *run = context;
    const int32_t n = run->n;
    const uint8_t *x = run->x->data + line * (uint32_t)n;
    uint8_t *y = run->y->data + line * (uint32_t)n;
    int64_t s = 0, squares = 0;
    for (int32_t i = 0; i < n; i++) {   // the 128 that u8 adds to s8 changes neither q nor d
        s += x[i];
        squares += x[i] * x[i];
    }
    const uint32_t deviation = tn_hx_isqrt((uint64_t)(n * squares - s * s) + run->attr->factor);
    const int64_t r = (int64_t)((1u << 30) / (deviation ? deviation : 1));
    tn_requant factor = {.rounding = run->attr->rounding};
    if (run->attr->rounding == TN_HEX_FLOAT_RNE) {
        memcpy(&factor.scale, run->attr->multipliers, 4);
    } else {
        factor.multiplier = (int32_t)run->attr->multipliers[0];
        factor.shift = (int32_t)run->attr->shifts[0];
    }
    for (int32_t i = 0; i < n; i++) {
        const int64_t d = (int64_t)n * x[i] - s;
        const int64_t v = (((d * r) >> 15) * run->gain[i] >> 12) + run->bias[i];
        y[i] = (uint8_t)tn_clamp_i32(tn_requant_apply(&factor, tn_saturate_i32(v)) + run->y->zero, run->attr->low, run->attr->high);
    }
}

static void run_layer_norm(tn_hx_graph *graph, tn_hx_node *node)
{
    norm_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr, .gain = node->plan};
    r.n = r.y->dims[r.y->rank - 1];
    r.bias = r.gain + r.n;
    tn_hx_parallel(layer_norm_line, &r, r.y->count / (uint32_t)r.n);
}

const tn_hx_op tn_hx_op_softmax = {
    .index = TN_HEX_OP_SOFTMAX, .min_in = 2, .max_in = 2, .check = check_softmax, .layout = layout, .prepare = prepare_softmax,
    .run = run_softmax
};
const tn_hx_op tn_hx_op_layer_norm = {
    .index = TN_HEX_OP_LAYER_NORM, .min_in = 3, .max_in = 3, .check = check_layer_norm, .layout = layout, .prepare = prepare_layer_norm,
    .run = run_layer_norm
};
