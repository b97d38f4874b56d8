// SPDX-License-Identifier: Apache-2.0
// Cases of deformable convolution: offsets that leave the picture, groups of both kinds, strides, dilations, bias and mask; then
// random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_conv.h"
#include "ops/vision/op_deform.h"

typedef struct form {
    int64_t n, c, h, w, m, kh, kw, stride, pad, dilation, group, offset_group;
    bool bias, mask;
} form;

static const form forms[] = {
    {1, 1, 3, 3, 1, 2, 2, 1, 0, 1, 1, 1, false, false}, {2, 4, 7, 9, 6, 3, 3, 1, 1, 1, 1, 1, true, true},
    {1, 6, 8, 8, 4, 3, 2, 2, 1, 1, 2, 3, true, false},  {1, 4, 9, 7, 4, 3, 3, 1, 2, 2, 4, 2, false, true},
    {1, 16, 6, 5, 8, 1, 1, 1, 0, 1, 1, 1, true, true},  {0, 2, 4, 4, 2, 2, 2, 1, 0, 1, 1, 1, true, true},
};
enum { LISTED = TN_COUNT(forms) };

static form draw_form(tn_rand *r)
{
    form f = {tn_rand_range(r, 1, 2), 0, 0, 0, 0, tn_rand_range(r, 1, 3), tn_rand_range(r, 1, 3), tn_rand_range(r, 1, 2),
              tn_rand_range(r, 0, 2),
              tn_rand_range(r, 1, 2), tn_rand_range(r, 1, 2), tn_rand_range(r, 1, 2), tn_rand_bool(r), tn_rand_bool(r)};
    f.c = f.group * f.offset_group * tn_rand_range(r, 1, 3);
    f.m = f.group * tn_rand_range(r, 1, 4);
    f.h = (f.kh - 1) * f.dilation + tn_rand_range(r, 1, 6);
    f.w = (f.kw - 1) * f.dilation + tn_rand_range(r, 1, 9);
    return f;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const form f = i < LISTED ? forms[i] : draw_form(r);
    const int64_t strides[] = {f.stride, f.stride}, pads[] = {f.pad, f.pad, f.pad, f.pad}, dilations[] = {f.dilation, f.dilation};
    const tn_shape x = {4, {f.n, f.c, f.h, f.w}}, w = {4, {f.m, f.c / f.group, f.kh, f.kw}};
    c->op = &tn_op_deform_conv;
    tn_deform_conv_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->strides = tn_case_ints(arena, 2, strides);
    attr->pads = tn_case_ints(arena, 4, pads);
    attr->dilations = tn_case_ints(arena, 2, dilations);
    attr->group = f.group;
    attr->offset_group = f.offset_group;
    c->attr = attr;
    const tn_conv_attr conv = {.strides = attr->strides, .pads = attr->pads, .dilations = attr->dilations, .group = f.group};
    tn_window window = {0};
    tn_conv_window(&conv, &x, &w, &window);
    const int64_t taps = f.offset_group * f.kh * f.kw;
    const tn_dtype dtype = i < LISTED ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS);
    c->in[0] = tn_draw_in(dtype, x);
    c->in[1] = tn_draw_in(dtype, w);
    c->in[2] = tn_draw_in(dtype, (tn_shape){4, {f.n, 2 * taps, window.out[0], window.out[1]}});
    c->in[3] = f.bias ? tn_draw_in(dtype, tn_shape_of(1, &f.m)) : TN_ABSENT;
    c->in[4] = f.mask ? tn_draw_in(dtype, (tn_shape){4, {f.n, taps, window.out[0], window.out[1]}}) : TN_ABSENT;
    c->in[1].constant = c->in[3].constant = true;
    c->n_in = f.mask ? 5 : f.bias ? 4 : 3;
    c->n_out = 1;
    c->rel = 1e-4;
    c->abs = 1e-5;
    return true;
}

TN_CASE_EXPORT(deform){"deform", LISTED, make};
