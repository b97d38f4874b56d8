// SPDX-License-Identifier: Apache-2.0
// Average and max pooling over QUAD planes, and means over the last axes. Pooling reads its taps as convolution does; a vector is 32 pixels
// of four channels. Averages use one factor for all pixels; pixels at the border that average fewer elements are done again one by one.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/vec/hx_flat.h"
#include "exec/hexagon/dsp/vec/hx_requant.h"
#include "exec/hexagon/wire/hex_control.h"

enum { MAX_TAPS = 65536, MAX_MEAN = 1 << 23 };

typedef struct pool_plan {
    tn_hx_taps taps;
    tn_hx_requant full;          // for all elements of the window, or of the mean
    tn_requant exact;
    int32_t mode;
} pool_plan;

typedef struct pool_run {
    const pool_plan *plan;
    const tn_hx_attr *attr;
    const tn_hx_value *x, *y;
    uint8_t *phases;
    int32_t image, is_max;
} pool_run;

// ---- check and prepare ----

static uint32_t check(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const tn_hx_attr *a = &node->attr;
    const int32_t taps = a->kernel[0] * a->kernel[1];
    if (!tn_hx_is_byte(x) || x->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    if (x->rank != 4 || y->rank != 4 || x->dims[0] != y->dims[0] || x->dims[1] != y->dims[1] ||
        !tn_hx_window_fits(a, x, y, a->kernel)) {
        return TN_HEX_WHY_SHAPE;
    }
    if (node->op->index == TN_HEX_OP_MAX_POOL) {
        return x->zero == y->zero && taps <= MAX_TAPS ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
    }
    const int fits = a->rounding == TN_HEX_FLOAT_RNE ? a->n_scales == 1 : a->n_multipliers == (uint32_t)taps;
    return fits && taps <= MAX_TAPS ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_QUAD;
}

static uint32_t bits_of(float v)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &v, 4);
    return bits;
}

static float float_of(uint32_t bits)
{
    float v;
    __builtin_memcpy(&v, &bits, 4);
    return v;
}

// The factor for n elements.
static tn_requant factor_of(const tn_hx_attr *a, int32_t n)
{
    tn_requant r = {.rounding = a->rounding};
    if (a->rounding == TN_HEX_FLOAT_RNE) {
        r.scale = float_of(a->scales[0]) / (float)n;
    } else {
        r.multiplier = (int32_t)a->multipliers[n - 1];
        r.shift = (int32_t)a->shifts[n - 1];
    }
    return r;
}

static void set_factor(pool_plan *plan, const tn_requant *r, uint64_t bound)
{
    plan->exact = *r;
    const uint32_t word = r->rounding == TN_HEX_FLOAT_RNE ? bits_of(r->scale) : (uint32_t)r->multiplier;
    tn_hx_requant_set(&plan->full, r->rounding, word, r->shift, bound);
    plan->mode = tn_hx_requant_mode(&plan->full, 1, r->rounding, 0);
}

static uint32_t prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    pool_plan *plan = node->plan = tn_hx_pool_take(&graph->pool, sizeof *plan);
    if (!plan) {
        return TN_HEX_WHY_LIMIT;
    }
    const int32_t taps = node->attr.kernel[0] * node->attr.kernel[1];
    if (node->op->index == TN_HEX_OP_AVERAGE_POOL) {
        const tn_requant r = factor_of(&node->attr, taps);
        set_factor(plan, &r, 255u * (uint32_t)taps);
    }
    plan->taps.copied = node->op->index == TN_HEX_OP_MAX_POOL;   // padding must lose: it is the least value, not the zero point
    const uint32_t why = tn_hx_taps_init(graph, &plan->taps, &node->attr, node->attr.kernel, x, y);
    tn_hx_scratch(graph, why ? 0 : tn_hx_taps_scratch(&plan->taps, x));
    return why;
}

// ---- run ----

static void max_plane(const pool_run *run, const uint8_t *x, uint8_t *y)
{
    const tn_hx_taps *taps = &run->plan->taps;
    const HVX_Vector low = tn_hx_splat_byte(run->attr->low), high = tn_hx_splat_byte(run->attr->high);
    const int32_t vectors = tn_hx_plane_vectors(run->y);
    for (int32_t f = 0; f < vectors; f++) {
        HVX_Vector v = low;
        for (int32_t t = 0; t < taps->n; t++) {
            v = Q6_Vub_vmax_VubVub(v, TN_HX_CVU(x + taps->offsets[t] + f * TN_HX_VECTOR));
        }
        TN_HX_V(y + f * TN_HX_VECTOR) = Q6_Vub_vmin_VubVub(v, high);
    }
}

static void average_plane(const pool_run *run, const uint8_t *x, uint8_t *y)
{
    const tn_hx_taps *taps = &run->plan->taps;
    const HVX_Vector low = tn_hx_splat_byte(run->attr->low), high = tn_hx_splat_byte(run->attr->high);
    const HVX_Vector zero = Q6_V_vsplat_R(run->y->zero * 0x00010001);
    const int32_t vectors = tn_hx_plane_vectors(run->y), begin = -taps->n * run->x->zero;
    for (int32_t f = 0; f < vectors; f++) {
        HVX_Vector s[4];
        for (int c = 0; c < 4; c++) {
            s[c] = Q6_V_vsplat_R(begin);
        }
        for (int32_t t = 0; t < taps->n; t++) {
            const HVX_Vector v = TN_HX_CVU(x + taps->offsets[t] + f * TN_HX_VECTOR);
            s[0] = Q6_Vw_vrmpyacc_VwVubRb(s[0], v, 0x00000001);   // one channel each
            s[1] = Q6_Vw_vrmpyacc_VwVubRb(s[1], v, 0x00000100);
            s[2] = Q6_Vw_vrmpyacc_VwVubRb(s[2], v, 0x00010000);
            s[3] = Q6_Vw_vrmpyacc_VwVubRb(s[3], v, 0x01000000);
        }
        for (int c = 0; c < 4; c++) {
            s[c] = tn_hx_requant_one(s[c], &run->plan->full, run->plan->mode);
        }
        TN_HX_V(y + f * TN_HX_VECTOR) = tn_hx_pack(s[0], s[1], s[2], s[3], zero, low, high);
    }
}

// Elements of x that the window at one place covers, along one axis: first and number.
static int32_t inside(const tn_hx_attr *a, int axis, int32_t at, int32_t length)
{
    int32_t n = 0;
    for (int32_t k = 0; k < a->kernel[axis]; k++) {
        const int32_t i = at * a->strides[axis] - a->pads[axis] + k * a->dilations[axis];
        n += i >= 0 && i < length;
    }
    return n;
}

// Four channels of one pixel whose window has n elements in x.
static void average_pixel(const pool_run *run, const uint8_t *x, uint8_t *y, int32_t n)
{
    const tn_hx_taps *taps = &run->plan->taps;
    const tn_requant factor = factor_of(run->attr, n ? n : 1);
    for (int c = 0; c < 4; c++) {
        int32_t sum = 0;
        for (int32_t t = 0; t < taps->n; t++) {
            sum += x[taps->offsets[t] + c] - run->x->zero;   // padding is the zero point
        }
        y[c] = (uint8_t)tn_clamp_i32(tn_requant_apply(&factor, sum) + run->y->zero, run->attr->low, run->attr->high);
    }
}

static void average_border(const pool_run *run, const uint8_t *x, uint8_t *y)
{
    const int32_t all[2] = {run->attr->kernel[0], run->attr->kernel[1]};
    for (int32_t i = 0; i < run->y->height; i++) {
        const int32_t rows = inside(run->attr, 0, i, run->x->height);
        for (int32_t k = 0; k < run->y->width; k++) {
            const int32_t columns = inside(run->attr, 1, k, run->x->width);
            if (rows == all[0] && columns == all[1]) {
                continue;
            }
            const int32_t at = 4 * (i * run->y->pitch + k);
            average_pixel(run, x + at, y + at, rows * columns);
        }
    }
}

static int has_border(const tn_hx_attr *a, const tn_hx_value *x, const tn_hx_value *y)
{
    for (int i = 0; i < 2; i++) {
        if (a->pads[i] > 0 || (y->dims[2 + i] - 1) * a->strides[i] - a->pads[i] + (a->kernel[i] - 1) * a->dilations[i] >= x->dims[2 + i]) {
            return !a->count_pad;
        }
    }
    return 0;
}

static void pool_tile(void *context, uint32_t plane)
{
    const pool_run *run = context;
    const tn_hx_taps *taps = &run->plan->taps;
    uint8_t *y = tn_hx_plane(run->y, run->image, (int32_t)plane);
    const uint8_t *x = tn_hx_plane(run->x, run->image, (int32_t)plane);
    if (!taps->direct) {
        uint8_t *phases = run->phases + plane * taps->plane_bytes;
        tn_hx_taps_fill(taps, run->attr, run->x, run->y, run->image, (int32_t)plane, run->is_max ? 0 : (uint8_t)run->x->zero, phases);
        x = phases;
    }
    if (run->is_max) {
        max_plane(run, x, y);
        return;
    }
    average_plane(run, x, y);
    if (has_border(run->attr, run->x, run->y)) {
        average_border(run, x, y);
    }
}

static void run(tn_hx_graph *graph, tn_hx_node *node)
{
    pool_run r = {.plan = node->plan, .attr = &node->attr, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node),
                  .phases = graph->scratch, .is_max = node->op->index == TN_HEX_OP_MAX_POOL};
    for (r.image = 0; r.image < r.y->images; r.image++) {
        tn_hx_parallel(pool_tile, &r, (uint32_t)r.y->planes);
    }
    tn_hx_fill_padding(r.y);
}

// ---- mean ----

static uint32_t check_mean(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const tn_hx_attr *a = &node->attr;
    if (!tn_hx_is_byte(x) || x->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    if (a->axis >= x->rank || (y->rank != a->axis && y->rank != x->rank)) {
        return TN_HEX_WHY_SHAPE;
    }
    for (int i = 0; i < y->rank; i++) {
        if (y->dims[i] != (i < a->axis ? x->dims[i] : 1)) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    if (x->count / y->count > MAX_MEAN) {
        return TN_HEX_WHY_LIMIT;
    }
    const int fits = a->rounding == TN_HEX_FLOAT_RNE ? a->n_scales == 1 : a->n_multipliers == 1;
    return fits ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static int layout_mean(const tn_hx_graph *graph, const tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0);
    return x->rank == 4 && node->attr.axis == 2 && tn_hx_out(graph, node)->rank == 4 ? TN_HX_QUAD : TN_HX_PLAIN;
}

static uint32_t prepare_mean(tn_hx_graph *graph, tn_hx_node *node)
{
    pool_plan *plan = node->plan = tn_hx_pool_take(&graph->pool, sizeof *plan);
    if (!plan) {
        return TN_HEX_WHY_LIMIT;
    }
    const tn_hx_attr *a = &node->attr;
    plan->exact = (tn_requant){.rounding = a->rounding};
    if (a->rounding == TN_HEX_FLOAT_RNE) {
        plan->exact.scale = float_of(a->scales[0]);
    } else {
        plan->exact.multiplier = (int32_t)a->multipliers[0];
        plan->exact.shift = (int32_t)a->shifts[0];
    }
    return TN_HEX_WHY_NONE;
}

static uint8_t mean_of(const pool_run *run, int32_t sum)
{
    return (uint8_t)tn_clamp_i32(tn_requant_apply(&run->plan->exact, sum) + run->y->zero, run->attr->low, run->attr->high);
}

static int32_t add_lanes(HVX_Vector v)
{
    for (int32_t shift = 64; shift >= 4; shift /= 2) {
        v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, shift));
    }
    return Q6_R_vextract_VR(v, 0);
}

// Four channels of a plane. Padding between the rows is the zero point and adds nothing.
static void mean_plane(void *context, uint32_t index)
{
    const pool_run *run = context;
    const tn_hx_value *x = run->x;
    const uint8_t *from = tn_hx_plane(x, 0, (int32_t)index);
    const int32_t pixels = x->height * x->pitch, plane = (int32_t)index % x->planes, image = (int32_t)index / x->planes;
    const HVX_Vector none = Q6_V_vzero();
    HVX_Vector s[4] = {none, none, none, none};
    for (int32_t i = 0; i < pixels; i += 32) {
        HVX_Vector v = TN_HX_CV(from + 4 * i);
        if (pixels - i < 32) {
            v = Q6_V_vmux_QVV(Q6_Q_vsetq_R(4 * (pixels - i)), v, none);
        }
        s[0] = Q6_Vw_vrmpyacc_VwVubRb(s[0], v, 0x00000001);
        s[1] = Q6_Vw_vrmpyacc_VwVubRb(s[1], v, 0x00000100);
        s[2] = Q6_Vw_vrmpyacc_VwVubRb(s[2], v, 0x00010000);
        s[3] = Q6_Vw_vrmpyacc_VwVubRb(s[3], v, 0x01000000);
    }
    for (int32_t c = 0; c < 4; c++) {
        const uint8_t y = mean_of(run, add_lanes(s[c]) - pixels * x->zero);
        if (run->y->layout == TN_HX_QUAD) {
            tn_hx_plane(run->y, image, plane)[c] = y;
        } else if (4 * plane + c < x->dims[1]) {
            run->y->data[image * x->dims[1] + 4 * plane + c] = y;
        }
    }
}

static void mean_row(void *context, uint32_t row)
{
    const pool_run *run = context;
    const uint32_t n = run->x->count / run->y->count;
    const uint8_t *from = run->x->data + row * n;
    int32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += from[i];
    }
    run->y->data[row] = mean_of(run, sum - (int32_t)n * run->x->zero);
}

static void run_mean(tn_hx_graph *graph, tn_hx_node *node)
{
    pool_run r = {.plan = node->plan, .attr = &node->attr, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node)};
    if (r.x->layout == TN_HX_QUAD) {
        tn_hx_parallel(mean_plane, &r, (uint32_t)(r.x->images * r.x->planes));
    } else {
        tn_hx_parallel(mean_row, &r, r.y->count);
    }
    if (r.y->layout == TN_HX_QUAD) {
        tn_hx_fill_padding(r.y);
    }
}

const tn_hx_op tn_hx_op_average_pool = {
    .index = TN_HEX_OP_AVERAGE_POOL, .min_in = 1, .max_in = 1, .check = check, .layout = layout, .prepare = prepare, .run = run
};
const tn_hx_op tn_hx_op_max_pool = {
    .index = TN_HEX_OP_MAX_POOL, .min_in = 1, .max_in = 1, .check = check, .layout = layout, .prepare = prepare, .run = run
};
const tn_hx_op tn_hx_op_mean = {
    .index = TN_HEX_OP_MEAN, .min_in = 1, .max_in = 1, .check = check_mean, .layout = layout_mean, .prepare = prepare_mean, .run = run_mean
};
