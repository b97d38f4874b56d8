// SPDX-License-Identifier: Apache-2.0
// Cases of slice (negative steps, ends out of range, nothing left), pad (all modes, cropping, more than the operand's own size) and
// center_crop_pad.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_slice.h"

typedef struct form {
    tn_shape shape;
    int n;
    int64_t starts[3], ends[3], axes[3], steps[3];
} form;

static const form forms[] = {
    {{2, {20, 17}}, 2, {0, 3}, {3, 10}, {0, 1}, {1, 1}},
    {{3, {20, 10, 5}}, 1, {0}, {INT64_MAX}, {1}, {2}},
    {{3, {20, 10, 5}}, 1, {-1}, {INT64_MIN}, {0}, {-1}},
    {{3, {20, 10, 5}}, 2, {100, -3}, {-100, INT64_MAX}, {1, 2}, {-3, 1}},
    {{3, {20, 10, 5}}, 1, {1000}, {1000}, {1}, {1}},
    {{4, {1, 3, 16, 16}}, 2, {1, 1}, {INT64_MAX, INT64_MAX}, {-2, -1}, {2, 2}},
    {{1, {9}}, 1, {INT64_MIN}, {INT64_MAX}, {0}, {INT64_MAX}},
    {{1, {9}}, 1, {INT64_MAX}, {INT64_MIN}, {0}, {INT64_MIN}},
    {{2, {0, 4}}, 2, {0, -1}, {5, -9}, {0, 1}, {1, -2}},
};

static bool make_slice(tn_case *c, tn_arena *arena, tn_rand *r, const form *f)
{
    const tn_shape shape = f ? f->shape : tn_draw_shape(r, 1, 6);
    form any = {.n = 0};
    for (int d = 0; !f && d < shape.rank && any.n < 3; d++) {
        if (tn_rand_bool(r)) {
            const int64_t dim = shape.dims[d];
            any.starts[any.n] = tn_rand_range(r, -dim - 2, dim + 2);
            any.ends[any.n] = tn_rand_range(r, -dim - 2, dim + 2);
            any.steps[any.n] = tn_rand_bool(r) ? 1 : tn_rand_range(r, 1, 4) * (tn_rand_bool(r) ? 1 : -1);
            any.axes[any.n++] = tn_rand_bool(r) ? d : d - shape.rank;
        }
    }
    const form *at = f ? f : &any;
    c->op = &tn_op_slice;
    c->n_in = 5;
    c->in[0] = tn_draw_in(f ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->in[1] = tn_draw_list(arena, at->n, at->starts);
    c->in[2] = tn_draw_list(arena, at->n, at->ends);
    c->in[3] = tn_draw_list(arena, at->n, at->axes);
    c->in[4] = tn_draw_list(arena, at->n, at->steps);
    return true;
}

// mode, shape, before..., after...
static const struct {
    int mode;
    tn_shape shape;
    int64_t pads[8];
} padded[] = {
    {TN_PAD_CONSTANT, {4, {1, 3, 9, 9}}, {0, 0, 1, 1, 0, 0, 1, 1}}, {TN_PAD_CONSTANT, {4, {2, 3, 4, 5}}, {0, 1, -1, 2, 0, 0, 2, -3}},
    {TN_PAD_CONSTANT, {0, {0}}, {0}},                               {TN_PAD_CONSTANT, {2, {0, 3}}, {1, 0, 1, 2}},
    {TN_PAD_REFLECT, {3, {2, 9, 7}}, {0, 3, 2, 0, 3, 2}},           {TN_PAD_REFLECT, {2, {3, 4}}, {7, 0, 2, 9}},
    {TN_PAD_REFLECT, {1, {1}}, {2, 3}},                             {TN_PAD_EDGE, {3, {4, 5, 6}}, {1, 2, 0, 3, 0, 1}},
    {TN_PAD_EDGE, {4, {2, 2, 3, 3}}, {1, 1, 1, 1, 1, 1, 1, 1}},     {TN_PAD_WRAP, {2, {3, 5}}, {1, 7, 4, 2}},
    {TN_PAD_WRAP, {4, {2, 2, 2, 2}}, {2, 2, 2, 2, 2, 2, 2, 2}},     {TN_PAD_CONSTANT, {3, {1, 5, 4}}, {3, -5, 0, 0, 2, 1}},
};

static bool make_pad(tn_case *c, tn_arena *arena, tn_rand *r, int which)
{
    const tn_shape shape = which >= 0 ? padded[which].shape : tn_draw_shape(r, 0, 4);
    tn_pad_attr *attr = tn_case_attr(arena, &tn_op_pad);
    int64_t pads[8];
    if (!attr) {
        return false;
    }
    attr->mode = which >= 0 ? padded[which].mode : (int)tn_draw_index(r, 4);
    for (int k = 0; k < 2 * shape.rank; k++) {
        const int64_t dim = shape.dims[k % shape.rank];
        pads[k] = which >= 0 ? padded[which].pads[k] : dim > 0 || attr->mode == TN_PAD_CONSTANT ? tn_rand_range(r, -(dim / 2), 4) : 0;
    }
    c->op = &tn_op_pad;
    c->attr = attr;
    c->in[0] = tn_draw_in(which >= 0 ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->in[1] = tn_draw_list(arena, 2 * shape.rank, pads);
    c->n_in = attr->mode == TN_PAD_CONSTANT && tn_rand_bool(r) ? 3 : 2;
    c->in[2] = tn_draw_in(c->in[0].dtype, tn_case_shape(0));
    c->in[2].constant = tn_rand_bool(r);
    return true;
}

static bool make_crop(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const tn_shape shape = tn_draw_shape(r, 1, 5);
    tn_crop_attr *attr = tn_case_attr(arena, &tn_op_center_crop_pad);
    int64_t want[TN_MAX_RANK], axes[TN_MAX_RANK];
    int n = 0;
    if (!attr) {
        return false;
    }
    const bool all = tn_rand_bool(r);
    for (int d = 0; d < shape.rank; d++) {
        if (all || tn_rand_bool(r)) {
            want[n] = tn_rand_range(r, 0, shape.dims[d] + 5);
            axes[n++] = d;
        }
    }
    if (!all) {
        attr->axes = tn_case_ints(arena, n, axes);
    }
    c->op = &tn_op_center_crop_pad;
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->in[1] = tn_draw_list(arena, n, want);
    return true;
}

enum { LISTED = TN_COUNT(forms) + TN_COUNT(padded) };

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    c->n_out = 1;
    c->special = true;
    if (i < TN_COUNT(forms)) {
        return make_slice(c, arena, r, &forms[i]);
    }
    if (i < LISTED) {
        return make_pad(c, arena, r, (int)(i - TN_COUNT(forms)));
    }
    const int kind = (int)tn_draw_index(r, 5);
    return kind < 2 ? make_slice(c, arena, r, NULL) : kind < 4 ? make_pad(c, arena, r, -1) : make_crop(c, arena, r);
}

TN_CASE_EXPORT(slice) {"slice", LISTED, make};
