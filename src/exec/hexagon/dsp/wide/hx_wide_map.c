// SPDX-License-Identifier: Apache-2.0
// Values of 16 bits element by element: pairs with broadcasting, the mean of a picture, functions by table, and the border to floats.
// Scalar work throughout: beside the convolutions it is little.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/wide/hx_wide.h"

enum { PART = 4096, MOST_MEAN = 32768 };

static float float_of(uint32_t bits)
{
    float v;
    __builtin_memcpy(&v, &bits, 4);
    return v;
}

static uint32_t parts_of(uint32_t count) { return (count + PART - 1) / PART; }
static uint32_t end_of(uint32_t from, uint32_t count) { return from + PART < count ? from + PART : count; }

// ---- pairs ----

typedef struct pair_plan {
    tn_requant_pair pair;
    int op;
    int32_t a_steps[TN_HEX_MAX_RANK], b_steps[TN_HEX_MAX_RANK];      // along the dims of y; 0: repeats
} pair_plan;

typedef struct pair_run {
    const pair_plan *plan;
    const tn_hx_value *a, *b, *y;
} pair_run;

static int broadcasts(const tn_hx_value *x, const tn_hx_value *y)
{
    for (int i = 1; i <= x->rank; i++) {
        if (i > y->rank || (x->dims[x->rank - i] != 1 && x->dims[x->rank - i] != y->dims[y->rank - i])) {
            return 0;
        }
    }
    return 1;
}

static uint32_t check_pair(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *a = tn_hx_in(graph, node, 0), *b = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    const tn_hx_attr *attr = &node->attr;
    if (!b) {
        return TN_HEX_WHY_ARITY;
    }
    if (!tn_hx_is_wide(a) || !tn_hx_is_wide(b) || !tn_hx_is_wide(y)) {
        return TN_HEX_WHY_DTYPE;
    }
    if (!broadcasts(a, y) || !broadcasts(b, y)) {
        return TN_HEX_WHY_SHAPE;
    }
    const uint32_t multipliers = node->op->index == TN_HEX_OP_WIDE_MUL ? 1 : 3;
    const int fits = attr->rounding == TN_HEX_FLOAT_RNE ? attr->n_scales == 3 : attr->n_multipliers == multipliers;
    return fits ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static void steps_of(const tn_hx_value *x, const tn_hx_value *y, int32_t *steps)
{
    int32_t step = 1;
    for (int i = 1; i <= y->rank; i++) {
        const int32_t dim = i <= x->rank ? x->dims[x->rank - i] : 1;
        steps[y->rank - i] = dim == 1 ? 0 : step;
        step *= dim;
    }
}

static uint32_t prepare_pair(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_attr *attr = &node->attr;
    pair_plan *p = node->plan = tn_hx_pool_take(&graph->pool, sizeof *p);
    if (!p) {
        return TN_HEX_WHY_LIMIT;
    }
    p->op = node->op->index;
    p->pair = (tn_requant_pair){.rounding = attr->rounding == TN_HEX_FIXED_Q31 ? TN_ROUND_FIXED_Q31 : TN_ROUND_FLOAT_RNE, .low = attr->low,
                                .high = attr->high};
    if (attr->rounding == TN_HEX_FLOAT_RNE) {
        p->pair.a_scale = float_of(attr->scales[0]);
        p->pair.b_scale = float_of(attr->scales[1]);
        p->pair.y_scale = float_of(attr->scales[2]);
    } else if (attr->n_multipliers == 1) {
        p->pair.y = tn_hx_wide_factor(attr, 0);
    } else {
        p->pair.a = tn_hx_wide_factor(attr, 0);
        p->pair.b = tn_hx_wide_factor(attr, 1);
        p->pair.y = tn_hx_wide_factor(attr, 2);
    }
    steps_of(tn_hx_in(graph, node, 0), tn_hx_out(graph, node), p->a_steps);
    steps_of(tn_hx_in(graph, node, 1), tn_hx_out(graph, node), p->b_steps);
    return TN_HEX_WHY_NONE;
}

static int16_t pair_one(const pair_plan *p, int32_t a, int32_t b)
{
    return (int16_t)(p->op == TN_HEX_OP_WIDE_MUL ? tn_requant_product(&p->pair, a, b)
                                                 : tn_wide_sum(&p->pair, a, b, p->op == TN_HEX_OP_WIDE_SUB));
}

// A row of the last dim, wherever its operands begin.
static void pair_tile(void *context, uint32_t row)
{
    const pair_run *run = context;
    const pair_plan *p = run->plan;
    const tn_hx_value *y = run->y;
    const int last = y->rank - 1;
    const uint32_t n = y->rank ? (uint32_t)y->dims[last] : 1;
    uint32_t rest = row, a_at = 0, b_at = 0;
    for (int i = last - 1; i >= 0; i--) {
        const uint32_t index = rest % (uint32_t)y->dims[i];
        rest /= (uint32_t)y->dims[i];
        a_at += index * (uint32_t)p->a_steps[i];
        b_at += index * (uint32_t)p->b_steps[i];
    }
    const uint32_t a_step = y->rank ? (uint32_t)p->a_steps[last] : 0, b_step = y->rank ? (uint32_t)p->b_steps[last] : 0;
    const int16_t *a = (const int16_t *)run->a->data + a_at, *b = (const int16_t *)run->b->data + b_at;
    int16_t *to = (int16_t *)y->data + row * n;
    for (uint32_t i = 0; i < n; i++) {
        to[i] = pair_one(p, a[i * a_step], b[i * b_step]);
    }
}

static void run_pair(tn_hx_graph *graph, tn_hx_node *node)
{
    pair_run r = {.plan = node->plan, .a = tn_hx_in(graph, node, 0), .b = tn_hx_in(graph, node, 1), .y = tn_hx_out(graph, node)};
    tn_hx_parallel(pair_tile, &r, r.y->rank ? r.y->count / (uint32_t)r.y->dims[r.y->rank - 1] : 1);
}

// ---- mean ----

typedef struct mean_run {
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    uint32_t inner;
} mean_run;

static uint32_t check_mean(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    if (!tn_hx_is_wide(x) || !tn_hx_is_wide(y)) {
        return TN_HEX_WHY_DTYPE;
    }
    if (x->rank < 3 || y->rank != x->rank) {
        return TN_HEX_WHY_SHAPE;
    }
    for (int i = 0; i < y->rank; i++) {
        if (y->dims[i] != (i < 2 ? x->dims[i] : 1)) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    if (x->count / y->count > MOST_MEAN) {
        return TN_HEX_WHY_LIMIT;
    }
    return node->attr.n_multipliers == 1 ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static void mean_tile(void *context, uint32_t index)
{
    const mean_run *run = context;
    const int16_t *x = (const int16_t *)run->x->data + index * run->inner;
    const tn_requant factor = tn_hx_wide_factor(run->attr, 0);
    int32_t sum = 0;
    for (uint32_t i = 0; i < run->inner; i++) {
        sum += x[i];
    }
    ((int16_t *)run->y->data)[index] = (int16_t)tn_clamp_i32(tn_requant_apply(&factor, sum), run->attr->low, run->attr->high);
}

static void run_mean(tn_hx_graph *graph, tn_hx_node *node)
{
    mean_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr};
    r.inner = r.x->count / r.y->count;
    tn_hx_parallel(mean_tile, &r, r.y->count);
}

// ---- tables ----

typedef struct lut_run {
    const tn_hx_value *x, *y;
    const int16_t *tables;
    uint32_t entries, inner, channels;       // inner: elements that share a table
} lut_run;

static uint32_t check_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *table = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    if (!table || table->origin != TN_HX_CONST) {
        return TN_HEX_WHY_CONST;
    }
    if (table->dtype != TN_HEX_S16 || (!tn_hx_is_wide(x) && !tn_hx_is_byte(x)) || (!tn_hx_is_wide(y) && !tn_hx_is_byte(y))) {
        return TN_HEX_WHY_DTYPE;
    }
    const int32_t entries = tn_hx_is_wide(x) ? TN_WIDE_ENTRIES : 256;
    const int fits = (table->rank == 1 && table->dims[0] == entries) ||
                     (table->rank == 2 && x->rank >= 2 && table->dims[0] == x->dims[1] && table->dims[1] == entries);
    return fits && tn_hx_same_shape(x, y) ? TN_HEX_WHY_NONE : TN_HEX_WHY_SHAPE;
}

// A copy in the graph's memory, for bytes in the order of the inner u8 form.
static uint32_t prepare_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *table = tn_hx_in(graph, node, 1);
    int16_t *to = node->plan = tn_hx_pool_take(&graph->pool, 2 * table->count);
    if (!to) {
        return TN_HEX_WHY_LIMIT;
    }
    const uint32_t flip = x->dtype == TN_HEX_S8 ? 0x80 : 0;
    for (uint32_t i = 0; i < table->count; i++) {
        to[i] = ((const int16_t *)table->data)[i ^ flip];
    }
    return TN_HEX_WHY_NONE;
}

static void lut_tile(void *context, uint32_t index)
{
    const lut_run *run = context;
    const uint32_t pieces = parts_of(run->inner), block = index / pieces, first = index % pieces * PART, end = end_of(first, run->inner);
    const int16_t *table = run->tables + block % run->channels * run->entries;
    const int16_t *x = (const int16_t *)run->x->data;
    const uint8_t *bytes = run->x->data;
    const int wide_in = tn_hx_is_wide(run->x), wide_out = tn_hx_is_wide(run->y), flip = run->y->dtype == TN_HEX_S8;
    for (uint32_t i = block * run->inner + first; i < block * run->inner + end; i++) {
        const int32_t v = wide_in ? tn_wide_look(table, x[i]) : table[bytes[i]];
        if (wide_out) {
            ((int16_t *)run->y->data)[i] = (int16_t)v;
        } else {
            run->y->data[i] = (uint8_t)(flip ? tn_wide_byte(v, INT8_MIN, INT8_MAX) ^ 0x80 : tn_wide_byte(v, 0, UINT8_MAX));
        }
    }
}

static void run_lut(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *table = tn_hx_in(graph, node, 1);
    lut_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .tables = node->plan, .channels = 1};
    r.entries = (uint32_t)table->dims[table->rank - 1];
    r.inner = r.x->count;
    if (table->rank == 2) {
        r.channels = (uint32_t)table->dims[0];
        r.inner = r.x->count / (uint32_t)(r.x->dims[0] * r.x->dims[1]);
    }
    tn_hx_parallel(lut_tile, &r, r.x->count / r.inner * parts_of(r.inner));
}

// ---- the border ----

typedef struct border_run {
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    float scale;
} border_run;

static uint32_t check_border(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const int down = node->op->index == TN_HEX_OP_WIDE_QUANTISE;
    if (!tn_hx_is_wide(down ? y : x) || (down ? x : y)->dtype != TN_HEX_F32) {
        return TN_HEX_WHY_DTYPE;
    }
    if (!tn_hx_same_shape(x, y)) {
        return TN_HEX_WHY_SHAPE;
    }
    return node->attr.n_scales == 1 ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static void quantise_tile(void *context, uint32_t index)
{
    const border_run *run = context;
    const uint32_t end = end_of(index * PART, run->x->count);
    for (uint32_t i = index * PART; i < end; i++) {
        const int32_t v = tn_round_even(((const float *)run->x->data)[i] / run->scale);
        ((int16_t *)run->y->data)[i] = (int16_t)tn_clamp_i32(v, run->attr->low, run->attr->high);
    }
}

static void dequantise_tile(void *context, uint32_t index)
{
    const border_run *run = context;
    const uint32_t end = end_of(index * PART, run->x->count);
    for (uint32_t i = index * PART; i < end; i++) {
        ((float *)run->y->data)[i] = (float)((const int16_t *)run->x->data)[i] * run->scale;
    }
}

static void run_border(tn_hx_graph *graph, tn_hx_node *node)
{
    border_run r = {.x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr, .scale = float_of(node->attr.scales[0])};
    tn_hx_parallel(node->op->index == TN_HEX_OP_WIDE_QUANTISE ? quantise_tile : dequantise_tile, &r, parts_of(r.x->count));
}

#define PAIR(NAME, INDEX)                                                                                             \
    const tn_hx_op tn_hx_op_##NAME = {                                                                                \
        .index = INDEX, .min_in = 2, .max_in = 2, .check = check_pair, .layout = tn_hx_layout_plain,                  \
        .prepare = prepare_pair, .run = run_pair                                                                      \
    }
PAIR(wide_add, TN_HEX_OP_WIDE_ADD);
PAIR(wide_sub, TN_HEX_OP_WIDE_SUB);
PAIR(wide_mul, TN_HEX_OP_WIDE_MUL);
const tn_hx_op tn_hx_op_wide_mean = {
    .index = TN_HEX_OP_WIDE_MEAN, .min_in = 1, .max_in = 1, .check = check_mean, .layout = tn_hx_layout_plain, .run = run_mean
};
const tn_hx_op tn_hx_op_wide_lut = {
    .index = TN_HEX_OP_WIDE_LUT, .min_in = 2, .max_in = 2, .check = check_lut, .layout = tn_hx_layout_plain, .prepare = prepare_lut,
    .run = run_lut
};
const tn_hx_op tn_hx_op_wide_quantise = {
    .index = TN_HEX_OP_WIDE_QUANTISE, .min_in = 1, .max_in = 1, .check = check_border, .layout = tn_hx_layout_plain, .run = run_border
};
const tn_hx_op tn_hx_op_wide_dequantise = {
    .index = TN_HEX_OP_WIDE_DEQUANTISE, .min_in = 1, .max_in = 1, .check = check_border, .layout = tn_hx_layout_plain, .run = run_border
};
