// SPDX-License-Identifier: Apache-2.0
// Cases of col2im: overlapping and separate blocks, strides, pads, dilations, one to three spatial dims; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/vision/op_fold.h"

typedef struct form {
    int rank;
    int64_t batch, channels, image[3], block[3], stride[3], pads[6], dilation[3];
} form;

static const form forms[] = {
    {2, 1, 1, {5, 5}, {1, 5}, {1, 1}, {0}, {1, 1}},
    {2, 2, 3, {9, 7}, {3, 2}, {2, 1}, {1, 0, 1, 1}, {1, 1}},
    {2, 1, 2, {8, 8}, {2, 2}, {2, 2}, {0}, {1, 1}},
    {2, 1, 3, {10, 11}, {3, 3}, {1, 2}, {2, 2, 2, 2}, {2, 2}},
    {1, 1, 4, {20}, {5}, {3}, {1, 2}, {1}},
    {3, 1, 2, {3, 4, 5}, {1, 2, 3}, {1, 1, 2}, {0, 1, 0, 0, 0, 1}, {1, 1, 1}},
    {2, 0, 3, {4, 4}, {2, 2}, {1, 1}, {0}, {1, 1}},
};
enum { LISTED = TN_COUNT(forms) };

static form draw_form(tn_rand *r)
{
    form f = {.rank = (int)tn_rand_range(r, 1, 3), .batch = tn_rand_range(r, 1, 2), .channels = tn_rand_range(r, 1, 5)};
    for (int i = 0; i < f.rank; i++) {
        f.block[i] = tn_rand_range(r, 1, 3);
        f.stride[i] = tn_rand_range(r, 1, 3);
        f.dilation[i] = tn_rand_range(r, 1, 2);
        f.pads[i] = tn_rand_range(r, 0, 2);
        f.pads[f.rank + i] = tn_rand_range(r, 0, 2);
        f.image[i] = tn_rand_range(r, 1, 8) + (f.block[i] - 1) * f.dilation[i];
    }
    return f;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const form f = i < LISTED ? forms[i] : draw_form(r);
    int64_t taps = 1, columns = 1;
    for (int k = 0; k < f.rank; k++) {
        taps *= f.block[k];
        columns *= (f.image[k] + f.pads[k] + f.pads[f.rank + k] - f.dilation[k] * (f.block[k] - 1) - 1) / f.stride[k] + 1;
    }
    c->op = &tn_op_col2im;
    tn_col2im_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    *attr = (tn_col2im_attr){tn_case_ints(arena, f.rank, f.stride), tn_case_ints(arena, 2 * f.rank, f.pads),
                             tn_case_ints(arena, f.rank, f.dilation)};
    c->attr = attr;
    c->in[0] = tn_draw_in(i < LISTED ? TN_F32 : tn_draw_dtype(r, TN_DRAW_NUMBERS),
                          (tn_shape){3, {f.batch, f.channels * taps, columns}});
    c->in[1] = tn_draw_list(arena, f.rank, f.image);
    c->in[2] = tn_draw_list(arena, f.rank, f.block);
    c->n_in = 3;
    c->n_out = 1;
    c->rel = 1e-5;
    c->abs = 1e-6;
    return true;
}

TN_CASE_EXPORT(fold){"fold", LISTED, make};
