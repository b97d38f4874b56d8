// SPDX-License-Identifier: Apache-2.0
// Cases of functions of one quantised operand: tables, softmax, layer normalisation, average pooling, linear resizing, in both roundings.
// Results are exact.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/quant/op_qmap.h"
#include "ops/quant/op_qpool.h"
#include "ops/vision/op_qresize.h"

#define BYTES (1u << TN_U8 | 1u << TN_I8)

static const tn_shape shapes[] = {{4, {1, 8, 7, 9}}, {4, {2, 3, 12, 5}}, {4, {1, 17, 4, 4}}, {4, {1, 1, 3, 40}}};

enum { TABLE, SOFTMAX, NORM, POOL, GLOBAL, RESIZE, KINDS, LISTED = KINDS * 2 * TN_COUNT(shapes) };

static tn_case_in bytes_in(tn_dtype dtype, tn_shape shape)
{
    return (tn_case_in){.dtype = dtype, .shape = shape, .low = dtype == TN_I8 ? -128 : 0, .high = dtype == TN_I8 ? 127 : 255};
}

static tn_case_in scale_in(double low, double high)
{
    return (tn_case_in){.dtype = TN_F32, .low = low, .high = high, .constant = true};
}

static tn_case_in zero_in(tn_dtype dtype)
{
    return (tn_case_in){.dtype = dtype, .low = dtype == TN_I8 ? -9 : 110, .high = dtype == TN_I8 ? 9 : 140, .constant = true};
}

static tn_qlinear_attr draw_rounding(tn_rand *r)
{
    return (tn_qlinear_attr){.rounding = tn_rand_bool(r) ? TN_ROUND_FIXED_Q31 : TN_ROUND_FLOAT_RNE, .low = INT16_MIN, .high = INT16_MAX};
}

static bool set_pool(tn_case *c, tn_arena *arena, tn_rand *r)
{
    tn_qpool_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    const int64_t kernel[] = {tn_rand_range(r, 1, 3), tn_rand_range(r, 1, 3)}, strides[] = {tn_rand_range(r, 1, 2), 1};
    const int64_t pads[] = {kernel[0] / 2, 0, 0, kernel[1] / 2};
    attr->pool.kernel = tn_case_ints(arena, 2, kernel);
    attr->pool.strides = tn_case_ints(arena, 2, strides);
    attr->pool.pads = tn_case_ints(arena, 4, pads);
    attr->pool.count_include_pad = tn_rand_bool(r);
    attr->pool.ceil_mode = tn_rand_bool(r);
    attr->q = draw_rounding(r);
    c->attr = attr;
    return true;
}

// Rows or columns of a result, each between any two of `length`.
static tn_case_in draw_places(tn_arena *arena, tn_rand *r, int64_t length, int64_t one)
{
    const int64_t n = tn_rand_range(r, 1, 3 * length);
    int64_t *v = tn_arena_array(arena, (size_t)n * 3, sizeof *v);
    for (int64_t i = 0; v && i < 3 * n; i++) {
        v[i] = i % 3 < 2 ? tn_rand_range(r, 0, length - 1) : tn_rand_range(r, 0, one);
    }
    return (tn_case_in){.dtype = TN_I32, .shape = {2, {n, 3}}, .constant = true, .ints = v};
}

// Over some of the last dims; without a bias now and then, with no epsilon and with one that is all there is beside steps so small.
static bool set_norm(tn_case *c, tn_arena *arena, tn_rand *r)
{
    static const double epsilons[] = {0, 1e-12, 1e-5, 1e-3, 0.5};
    tn_qlayer_norm_attr *attr = tn_case_attr(arena, c->op);
    const tn_shape *x = &c->in[0].shape;
    if (!attr) {
        return false;
    }
    const int axis = tn_rand_bool(r) ? x->rank - 1 : (int)tn_draw_index(r, x->rank);
    attr->axis = tn_rand_bool(r) ? axis : axis - x->rank;
    attr->epsilon = TN_DRAW(r, epsilons);
    attr->q = draw_rounding(r);
    c->attr = attr;
    c->in[1] = scale_in(0.001, 0.1);
    c->in[3] = scale_in(0.01, 0.05);
    c->in[5] = (tn_case_in){.dtype = TN_F32, .shape = tn_shape_of(x->rank - axis, x->dims + axis), .low = -2, .high = 2, .constant = true};
    c->in[6] = c->in[5];
    c->n_in = tn_rand_bool(r) ? 7 : 6;
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const tn_op *const ops[] = {&tn_op_qlinear_table, &tn_op_qlinear_softmax, &tn_op_qlinear_layer_norm,
                                       &tn_op_qlinear_average_pool, &tn_op_qlinear_global_average_pool, &tn_op_qlinear_resize};
    const int kind = i < LISTED ? (int)(i % KINDS) : (int)tn_draw_index(r, KINDS);
    const tn_shape shape = i < LISTED ? shapes[i / KINDS % TN_COUNT(shapes)] : kind < POOL ? tn_draw_shape(r, 1, 4) : TN_DRAW(r, shapes);
    const tn_dtype x = tn_draw_dtype(r, BYTES), y = tn_draw_dtype(r, BYTES);
    c->op = ops[kind];
    c->n_out = 1;
    c->in[0] = bytes_in(x, shape);
    if (kind == TABLE) {
        c->in[1] = bytes_in(y, (tn_shape){1, {256}});
        c->in[1].constant = true;
        c->n_in = 2;
        return true;
    }
    c->in[1] = scale_in(0.01, 0.1);
    c->in[2] = zero_in(x);
    const double part = tn_draw_rarely(r) ? 1.0 / 20000 : 1.0 / 256;
    c->in[3] = kind == SOFTMAX ? scale_in(part, part) : scale_in(0.01, 0.1);
    c->in[4] = zero_in(y);
    c->n_in = 5;
    if (kind == NORM) {
        return set_norm(c, arena, r);
    }
    if (kind == POOL) {
        return set_pool(c, arena, r);
    }
    if (kind == RESIZE) {
        const bool wide = tn_draw_rarely(r);
        if (wide) {
            c->in[0] = (tn_case_in){.dtype = TN_I16, .shape = shape, .low = INT16_MIN, .high = INT16_MAX};
            c->in[2] = c->in[4] = TN_ABSENT;
        }
        for (int k = 0; k < 2; k++) {
            c->in[5 + k] = draw_places(arena, r, shape.dims[2 + k], wide ? TN_WIDE_WEIGHT : TN_QRESIZE_ONE);
        }
        c->n_in = 7;
    }
    if (kind == GLOBAL || kind == RESIZE) {
        tn_qlinear_attr *attr = tn_case_attr(arena, c->op);
        if (attr) {
            *attr = draw_rounding(r);
        }
        c->attr = attr;
        return attr != NULL && (kind == GLOBAL || (c->in[5].ints && c->in[6].ints));
    }
    tn_qsoftmax_attr *attr = tn_case_attr(arena, c->op);
    if (attr) {
        attr->axis = tn_rand_range(r, -shape.rank, shape.rank - 1);
    }
    c->attr = attr;
    return attr != NULL;
}

TN_CASE_EXPORT(qmap){"qmap", LISTED, make};
