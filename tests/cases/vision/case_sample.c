// SPDX-License-Identifier: Apache-2.0
// Cases of grid_sample in one to three spatial dims, with places inside and outside, and of affine_grid.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/vision/op_sample.h"

// Every mode with every padding, in two dims.
enum { LISTED = 9 };

static bool make_affine(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const int64_t spatial = tn_rand_range(r, 2, 3), n = tn_rand_range(r, 1, 2);
    int64_t size[5] = {n, 3};
    tn_affine_grid_attr *attr = tn_case_attr(arena, &tn_op_affine_grid);
    if (!attr) {
        return false;
    }
    for (int d = 0; d < spatial; d++) {
        size[2 + d] = tn_rand_range(r, 1, 7);
    }
    attr->align_corners = tn_rand_bool(r);
    c->op = &tn_op_affine_grid;
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(TN_F32, tn_case_shape(3, n, spatial, spatial + 1));
    c->in[1] = tn_draw_list(arena, 2 + spatial, size);
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED;
    const int spatial = listed ? 2 : (int)tn_rand_range(r, 1, 3);
    c->n_out = 1;
    c->rel = c->abs = 1e-4;
    if (!listed && tn_draw_index(r, 4) == 0) {
        return make_affine(c, arena, r);
    }
    tn_grid_sample_attr *attr = tn_case_attr(arena, &tn_op_grid_sample);
    const int64_t n = tn_rand_range(r, 1, 2), channels = tn_rand_range(r, 1, 9);
    tn_shape x = {.rank = spatial + 2, .dims = {n, channels}}, grid = {.rank = spatial + 2, .dims = {n}};
    if (!attr) {
        return false;
    }
    for (int d = 0; d < spatial; d++) {
        x.dims[2 + d] = tn_rand_range(r, 1, 9);
        grid.dims[1 + d] = tn_rand_range(r, listed ? 1 : 0, 9);
    }
    grid.dims[spatial + 1] = spatial;
    *attr = (tn_grid_sample_attr){listed ? (int)i % 3 : (int)tn_draw_index(r, 3), listed ? (int)i / 3 : (int)tn_draw_index(r, 3),
                                  tn_rand_bool(r)};
    c->op = &tn_op_grid_sample;
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS), x);
    c->in[1] = tn_draw_in(TN_F32, grid);
    c->in[1].low = -1.5;
    c->in[1].high = 1.5;
    return true;
}

TN_CASE_EXPORT(sample) {"sample", LISTED, make};
