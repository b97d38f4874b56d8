// SPDX-License-Identifier: Apache-2.0
// Cases of resize: what detection and segmentation models use (twice as large, bilinear, by sizes), then every combination of modes.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/vision/op_resize.h"

static const struct {
    tn_shape shape;
    int mode, coord, nearest;
    double scales[4];         // 0 in the first place: by sizes
    int64_t sizes[4];
} forms[] = {
    {{4, {1, 3, 13, 13}}, TN_RESIZE_NEAREST, TN_COORD_ASYMMETRIC, TN_NEAREST_FLOOR, {1, 1, 2, 2}, {0}},
    {{4, {2, 17, 5, 7}}, TN_RESIZE_NEAREST, TN_COORD_HALF_PIXEL, TN_NEAREST_ROUND_PREFER_FLOOR, {1, 1, 2, 2}, {0}},
    {{4, {1, 5, 9, 11}}, TN_RESIZE_LINEAR, TN_COORD_HALF_PIXEL, 0, {1, 1, 2, 2}, {0}},
    {{4, {1, 2, 10, 10}}, TN_RESIZE_LINEAR, TN_COORD_ALIGN_CORNERS, 0, {0}, {1, 2, 37, 23}},
    {{4, {1, 4, 20, 30}}, TN_RESIZE_LINEAR, TN_COORD_PYTORCH_HALF_PIXEL, 0, {0}, {1, 4, 7, 1}},
    {{4, {1, 1, 8, 8}}, TN_RESIZE_CUBIC, TN_COORD_HALF_PIXEL, 0, {1, 1, 1.5, 0.6}, {0}},
    {{4, {1, 2, 6, 43}}, TN_RESIZE_LINEAR, TN_COORD_HALF_PIXEL, 0, {0}, {1, 2, 9, 101}},
    {{4, {1, 1, 5, 37}}, TN_RESIZE_CUBIC, TN_COORD_ALIGN_CORNERS, 0, {0}, {1, 1, 8, 150}},
    {{4, {1, 3, 9, 21}}, TN_RESIZE_NEAREST, TN_COORD_HALF_PIXEL, TN_NEAREST_FLOOR, {1, 1, 1.5, 2.5}, {0}},
    {{4, {1, 2, 5, 43}}, TN_RESIZE_LINEAR, TN_COORD_HALF_PIXEL, 0, {1, 1, 2, 2}, {0}},
    {{4, {1, 3, 6, 29}}, TN_RESIZE_LINEAR, TN_COORD_ASYMMETRIC, 0, {1, 1, 4, 4}, {0}},
    {{4, {1, 1, 7, 45}}, TN_RESIZE_CUBIC, TN_COORD_HALF_PIXEL, 0, {1, 1, 2, 2}, {0}},
    {{4, {1, 2, 3, 52}}, TN_RESIZE_NEAREST, TN_COORD_HALF_PIXEL, TN_NEAREST_ROUND_PREFER_CEIL, {1, 1, 1, 2}, {0}},
    {{4, {1, 2, 12, 90}}, TN_RESIZE_LINEAR, TN_COORD_HALF_PIXEL, 0, {1, 1, 0.5, 0.5}, {0}},
    {{4, {1, 2, 11, 97}}, TN_RESIZE_LINEAR, TN_COORD_ALIGN_CORNERS, 0, {0}, {1, 2, 7, 63}},
    {{4, {1, 1, 6, 75}}, TN_RESIZE_NEAREST, TN_COORD_ASYMMETRIC, TN_NEAREST_FLOOR, {1, 1, 0.5, 0.5}, {0}},
    {{4, {1, 1, 6, 71}}, TN_RESIZE_CUBIC, TN_COORD_HALF_PIXEL, 0, {1, 1, 0.7, 0.6}, {0}},
    {{4, {1, 1, 4, 0}}, TN_RESIZE_LINEAR, TN_COORD_HALF_PIXEL, 0, {1, 1, 2, 2}, {0}},
};

static bool make_listed(tn_case *c, tn_resize_attr *attr, tn_arena *arena, unsigned i)
{
    attr->mode = forms[i].mode;
    attr->coord = forms[i].coord;
    attr->nearest = forms[i].nearest;
    c->in[0] = tn_draw_in(TN_F32, forms[i].shape);
    if (forms[i].scales[0] > 0) {
        c->n_in = 3;
        c->in[2] = tn_draw_reals(arena, 4, forms[i].scales);
    } else {
        c->n_in = 4;
        c->in[2] = TN_ABSENT;
        c->in[3] = tn_draw_list(arena, 4, forms[i].sizes);
    }
    return true;
}

static void draw_modes(tn_resize_attr *attr, tn_rand *r)
{
    attr->mode = (int)tn_draw_index(r, 3);
    attr->coord = (int)tn_draw_index(r, 6);
    attr->nearest = (int)tn_draw_index(r, 4);
    attr->policy = (int)tn_draw_index(r, 3);
    attr->antialias = attr->mode != TN_RESIZE_NEAREST && tn_rand_bool(r);
    attr->exclude_outside = tn_rand_bool(r);
    attr->cubic_a = tn_rand_bool(r) ? -0.75 : -0.5;
    attr->extrapolation = 10;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    tn_resize_attr *attr = tn_case_attr(arena, &tn_op_resize);
    tn_shape shape = tn_draw_shape(r, 1, 4);
    double scales[TN_MAX_RANK], roi[2 * TN_MAX_RANK];
    int64_t sizes[TN_MAX_RANK], axes[TN_MAX_RANK];
    int n = 0;
    if (!attr) {
        return false;
    }
    c->op = &tn_op_resize;
    c->attr = attr;
    c->n_out = 1;
    c->rel = c->abs = 1e-5;
    c->in[1] = TN_ABSENT;
    if (i < TN_COUNT(forms)) {
        return make_listed(c, attr, arena, i);
    }
    draw_modes(attr, r);
    for (int d = 0; d < shape.rank; d++) {
        shape.dims[d] = TN_MAX(shape.dims[d], 1);
        if (tn_rand_bool(r)) {
            scales[n] = (double)tn_rand_range(r, 3, 26) / 8;
            sizes[n] = tn_rand_range(r, 1, 20);
            roi[n] = tn_rand_real(r, -0.2, 0.4);
            axes[n++] = d;
        }
    }
    for (int k = 0; k < n; k++) {
        roi[n + k] = tn_rand_real(r, 0.5, 1.2);
    }
    if (n == 0) {
        scales[0] = sizes[0] = 1;
        axes[n++] = 0;
        roi[0] = 0;
        roi[1] = 1;
        sizes[0] = shape.dims[0];
    }
    if (tn_rand_bool(r)) {        // rows of several vectors
        shape.dims[shape.rank - 1] = tn_rand_range(r, 1, 90);
        if (axes[n - 1] == shape.rank - 1) {
            sizes[n - 1] = tn_rand_range(r, 1, 120);
        }
    }
    attr->axes = tn_case_ints(arena, n, axes);
    c->in[0] = tn_draw_in(tn_draw_dtype(r, TN_DRAW_FLOATS | 1u << TN_U8), shape);
    if (attr->coord == TN_COORD_TF_CROP) {
        c->in[1] = tn_draw_reals(arena, 2 * n, roi);
    }
    const bool by_scale = tn_rand_bool(r);
    c->n_in = by_scale ? 3 : 4;
    c->in[2] = by_scale ? tn_draw_reals(arena, n, scales) : TN_ABSENT;
    c->in[3] = tn_draw_list(arena, n, sizes);
    return true;
}

TN_CASE_EXPORT(resize) {"resize", TN_COUNT(forms), make};
