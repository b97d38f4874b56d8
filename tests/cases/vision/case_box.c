// SPDX-License-Identifier: Apache-2.0
// Cases of non_max_suppression, roi_align and max_roi_pool: overlapping boxes, regions that leave the picture, empty ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/vision/op_box.h"

enum { LISTED = 3 };

static bool make_nms(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const int64_t batch = tn_rand_range(r, 1, 2), classes = tn_rand_range(r, 1, 3), n = tn_rand_range(r, 0, 60);
    const double iou = tn_rand_real(r, 0, 0.8), score = tn_rand_real(r, 0, 0.4);
    tn_nms_attr *attr = tn_case_attr(arena, &tn_op_non_max_suppression);
    if (!attr) {
        return false;
    }
    attr->center_point_box = tn_rand_bool(r);
    c->op = &tn_op_non_max_suppression;
    c->attr = attr;
    c->n_in = (int)tn_rand_range(r, 2, 5);
    c->in[0] = tn_draw_in(TN_F32, tn_case_shape(3, batch, n, (int64_t)4));
    c->in[1] = tn_draw_in(TN_F32, tn_case_shape(3, batch, classes, n));
    c->in[0].low = c->in[1].low = 0;
    c->in[0].high = c->in[1].high = 1;
    c->in[2] = tn_draw_scalar(arena, tn_rand_range(r, 0, 20));
    c->in[3] = tn_draw_reals(arena, 1, &iou);
    c->in[4] = tn_draw_reals(arena, 1, &score);
    return true;
}

static bool make_align(tn_case *c, tn_arena *arena, tn_rand *r)
{
    const int64_t images = tn_rand_range(r, 1, 3), rois = tn_rand_range(r, 0, 5);
    tn_roi_align_attr *attr = tn_case_attr(arena, &tn_op_roi_align);
    if (!attr) {
        return false;
    }
    *attr = (tn_roi_align_attr){tn_rand_range(r, 1, 5), tn_rand_range(r, 1, 5), tn_rand_range(r, 0, 3), tn_rand_real(r, 0.2, 1),
                                tn_rand_bool(r), tn_rand_bool(r)};
    c->op = &tn_op_roi_align;
    c->attr = attr;
    c->n_in = 3;
    c->in[0] = tn_draw_in(TN_F32, tn_case_shape(4, images, tn_rand_range(r, 1, 9), tn_rand_range(r, 1, 17), tn_rand_range(r, 1, 17)));
    c->in[1] = tn_draw_in(TN_F32, tn_case_shape(2, rois, (int64_t)4));
    c->in[1].low = -4;
    c->in[1].high = 24;
    c->in[2] = tn_draw_in(TN_I64, tn_case_shape(1, rois));
    c->in[2].low = 0;
    c->in[2].high = (double)images - 1;
    return true;
}

static bool make_pool(tn_case *c, tn_arena *arena, tn_rand *r)
{
    enum { ROIS = 4 };
    double *rois = tn_arena_array(arena, (size_t)ROIS * 5, sizeof *rois);
    tn_roi_pool_attr *attr = tn_case_attr(arena, &tn_op_max_roi_pool);
    const int64_t images = tn_rand_range(r, 1, 3);
    if (!attr || !rois) {
        return false;
    }
    for (int i = 0; i < ROIS * 5; i++) {
        rois[i] = i % 5 == 0 ? (double)tn_draw_index(r, images) : tn_rand_real(r, -4, 24);
    }
    *attr = (tn_roi_pool_attr){tn_rand_range(r, 1, 5), tn_rand_range(r, 1, 5), tn_rand_real(r, 0.2, 1)};
    c->op = &tn_op_max_roi_pool;
    c->attr = attr;
    c->n_in = 2;
    c->in[0] = tn_draw_in(TN_F32, tn_case_shape(4, images, tn_rand_range(r, 1, 9), tn_rand_range(r, 1, 17), tn_rand_range(r, 1, 17)));
    c->in[1] = tn_draw_reals(arena, (int64_t)ROIS * 5, rois);
    c->in[1].shape = tn_case_shape(2, (int64_t)ROIS, (int64_t)5);
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const int kind = i < LISTED ? (int)i : (int)tn_draw_index(r, 3);
    c->n_out = 1;
    c->rel = c->abs = 1e-4;
    return kind == 0 ? make_nms(c, arena, r) : kind == 1 ? make_align(c, arena, r) : make_pool(c, arena, r);
}

TN_CASE_EXPORT(box) {"box", LISTED, make};
