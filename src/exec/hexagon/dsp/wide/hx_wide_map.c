// SPDX-License-Identifier: Apache-2.0
// Values of 16 bits element by element: pairs with broadcasting, the mean of a picture, and the border to floats. Vectors are 64 halves,
// in runs over as many of the last dims as one operand is dense in and the other dense or one number. float_rne and the border are scalar:
// HVX v67 has no float unit.
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
    int outer;                                   // dims of y before those of a run
    uint32_t run;                                // elements of a run
    int32_t a_step, b_step;                      // in it: 1 or 0
    int vectors;                                 // it is computed by vectors
    tn_hx_requant a, b, y;
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

// As many of the last dims as can be gone over in one run.
static void set_run(pair_plan *p, const tn_hx_value *y)
{
    p->outer = y->rank;
    p->run = 1;
    int known = 0;
    while (p->outer > 0) {
        const int i = p->outer - 1;
        if (y->dims[i] != 1) {
            const int32_t a = p->a_steps[i] != 0, b = p->b_steps[i] != 0;
            if (known && (a != p->a_step || b != p->b_step)) {
                break;
            }
            p->a_step = a;
            p->b_step = b;
            known = 1;
            p->run *= (uint32_t)y->dims[i];
        }
        p->outer--;
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
    set_run(p, tn_hx_out(graph, node));
    p->vectors = attr->rounding == TN_HEX_FIXED_Q31;
    const uint64_t bound = UINT64_C(1) << 31;
    if (p->vectors && attr->n_multipliers == 1) {
        tn_hx_requant_set(&p->y, TN_HEX_FIXED_Q31, attr->multipliers[0], (int32_t)attr->shifts[0], bound);
    } else if (p->vectors) {
        tn_hx_requant_set(&p->a, TN_HEX_FIXED_Q31, attr->multipliers[0], (int32_t)attr->shifts[0], bound);
        tn_hx_requant_set(&p->b, TN_HEX_FIXED_Q31, attr->multipliers[1], (int32_t)attr->shifts[1], bound);
        tn_hx_requant_set(&p->y, TN_HEX_FIXED_Q31, attr->multipliers[2], (int32_t)attr->shifts[2], bound);
    }
    return TN_HEX_WHY_NONE;
}

static int16_t pair_one(const pair_plan *p, int32_t a, int32_t b)
{
    return (int16_t)(p->op == TN_HEX_OP_WIDE_MUL ? tn_requant_product(&p->pair, a, b)
                                                 : tn_wide_sum(&p->pair, a, b, p->op == TN_HEX_OP_WIDE_SUB));
}

// 64 results of fixed_q31, as tn_wide_sum and tn_requant_product have them.
static HVX_Vector pair_vector(const pair_plan *p, HVX_Vector a, HVX_Vector b)
{
    HVX_Vector even, odd;
    if (p->op == TN_HEX_OP_WIDE_MUL) {
        const HVX_VectorPair product = Q6_Ww_vmpy_VhVh(a, b);
        even = Q6_V_lo_W(product);
        odd = Q6_V_hi_W(product);
    } else {
        const HVX_VectorPair u = Q6_Ww_vsxt_Vh(a), v = Q6_Ww_vsxt_Vh(b);
        const HVX_Vector u_even = tn_hx_q31(Q6_Vw_vasl_VwR(Q6_V_lo_W(u), TN_WIDE_UP), &p->a, TN_HX_Q31_UNIT);
        const HVX_Vector u_odd = tn_hx_q31(Q6_Vw_vasl_VwR(Q6_V_hi_W(u), TN_WIDE_UP), &p->a, TN_HX_Q31_UNIT);
        const HVX_Vector v_even = tn_hx_q31(Q6_Vw_vasl_VwR(Q6_V_lo_W(v), TN_WIDE_UP), &p->b, TN_HX_Q31_UNIT);
        const HVX_Vector v_odd = tn_hx_q31(Q6_Vw_vasl_VwR(Q6_V_hi_W(v), TN_WIDE_UP), &p->b, TN_HX_Q31_UNIT);
        const int minus = p->op == TN_HEX_OP_WIDE_SUB;
        even = minus ? Q6_Vw_vsub_VwVw_sat(u_even, v_even) : Q6_Vw_vadd_VwVw_sat(u_even, v_even);
        odd = minus ? Q6_Vw_vsub_VwVw_sat(u_odd, v_odd) : Q6_Vw_vadd_VwVw_sat(u_odd, v_odd);
    }
    const HVX_Vector y = Q6_Vh_vsat_VwVw(tn_hx_q31(odd, &p->y, TN_HX_Q31_UNIT), tn_hx_q31(even, &p->y, TN_HX_Q31_UNIT));
    return Q6_Vh_vmin_VhVh(Q6_Vh_vmax_VhVh(y, tn_hx_wide_splat(p->pair.low)), tn_hx_wide_splat(p->pair.high));
}

// A part of a run, wherever its operands begin. What is less than a vector is done by scalars: nothing is read past an operand's end.
static void pair_tile(void *context, uint32_t index)
{
    const pair_run *run = context;
    const pair_plan *p = run->plan;
    const tn_hx_value *y = run->y;
    const uint32_t pieces = parts_of(p->run), first = index % pieces * PART, end = end_of(first, p->run);
    uint32_t rest = index / pieces, a_at = 0, b_at = 0, i = first;
    for (int d = p->outer - 1; d >= 0; d--) {
        const uint32_t at = rest % (uint32_t)y->dims[d];
        rest /= (uint32_t)y->dims[d];
        a_at += at * (uint32_t)p->a_steps[d];
        b_at += at * (uint32_t)p->b_steps[d];
    }
    const int16_t *a = (const int16_t *)run->a->data + a_at, *b = (const int16_t *)run->b->data + b_at;
    int16_t *to = (int16_t *)y->data + index / pieces * p->run;
    for (; p->vectors && i + TN_HX_WIDE_LANES <= end; i += TN_HX_WIDE_LANES) {
        const HVX_Vector u = p->a_step ? TN_HX_CVU(a + i) : tn_hx_wide_splat(a[0]), v = p->b_step ? TN_HX_CVU(b + i) : tn_hx_wide_splat(b[0]);
        TN_HX_VU(to + i) = pair_vector(p, u, v);
    }
    for (; i < end; i++) {
        to[i] = pair_one(p, a[i * (uint32_t)p->a_step], b[i * (uint32_t)p->b_step]);
    }
}

static void run_pair(tn_hx_graph *graph, tn_hx_node *node)
{
    pair_run r = {.plan = node->plan, .a = tn_hx_in(graph, node, 0), .b = tn_hx_in(graph, node, 1), .y = tn_hx_out(graph, node)};
    tn_hx_parallel(pair_tile, &r, r.y->count / r.plan->run * parts_of(r.plan->run));
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
    HVX_VectorPair sums = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero());
    int32_t words[2][32] __attribute__((aligned(128))), sum = 0;
    uint32_t i = 0;
    for (; i + TN_HX_WIDE_LANES <= run->inner; i += TN_HX_WIDE_LANES) {
        sums = Q6_Ww_vmpyacc_WwVhRh(sums, TN_HX_CVU(x + i), 0x00010001);
    }
    TN_HX_V(words[0]) = Q6_V_lo_W(sums);
    TN_HX_V(words[1]) = Q6_V_hi_W(sums);
    for (int k = 0; k < 32; k++) {
        sum += words[0][k] + words[1][k];
    }
    for (; i < run->inner; i++) {
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
        const float x = ((const float *)run->x->data)[i];
        const int32_t v = x == x ? tn_round_even(x / run->scale) : run->attr->low;     // NaN: the least
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
const tn_hx_op tn_hx_op_wide_quantise = {
    .index = TN_HEX_OP_WIDE_QUANTISE, .min_in = 1, .max_in = 1, .check = check_border, .layout = tn_hx_layout_plain, .run = run_border
};
const tn_hx_op tn_hx_op_wide_dequantise = {
    .index = TN_HEX_OP_WIDE_DEQUANTISE, .min_in = 1, .max_in = 1, .check = check_border, .layout = tn_hx_layout_plain, .run = run_border
};
