// SPDX-License-Identifier: Apache-2.0
// Pointwise convolutions of some pixels (points.h).
// Ownership: borrows everything. Threads: any.
#include "kernels/dwconv/points.h"

#include "base/macros.h"
#include "base/num.h"
#include "ir/tensor.h"

// Tiles in a strip where a function is applied behind them, in the first-level cache.
#define REPEAT_MOST 32

// Of the next group's weights, as in conv_direct.c.
#define ASK_BYTES 1024

tn_points tn_points_of(const tn_tile_facts *facts, int64_t c, int64_t m, int block, const tn_act *act)
{
    const int64_t vectors = TN_CEIL_DIV(m, facts->lanes);
    return (tn_points){.facts = facts, .c = c, .m = m, .block = block, .vectors = vectors, .groups = TN_MAX(1, vectors / 2), .act = *act};
}

int tn_points_width(const tn_points *points, int64_t group) { return group + 1 < points->groups ? 2 : (int)(points->vectors - 2 * group); }

size_t tn_points_at(const tn_points *points, int64_t group) { return (size_t)(group * 2 * points->facts->lanes * points->c); }

bool tn_points_bytes(const tn_points *points, size_t *bytes)
{
    return tn_mul_size((size_t)(points->vectors * points->facts->lanes) * sizeof(float), (size_t)points->c, bytes);
}

void tn_points_pack(const tn_points *points, float *to, const void *weights)
{
    const int64_t c = points->c, lanes = points->facts->lanes;
    for (int64_t g = 0; g < points->groups; g++) {
        const int64_t first = 2 * g * lanes, end = first + tn_points_width(points, g) * lanes;
        for (int64_t k = 0; k < c; k++) {
            for (int64_t m = first; m < end; m++) {
                *to++ = m < points->m ? tn_load_f32(weights, (size_t)(m * c + k)) : 0.0f;
            }
        }
    }
}

static const float no_bias[32];   // two vectors of any tier

typedef struct run {
    const tn_points *points;
    const tn_tiles *tiles;
    const float *w, *bias, *x, *residual;
    float *y;
    ptrdiff_t x_plane, y_plane;
    int64_t pixels;
    int width;                   // vectors of the group
    int bias_tail;               // lanes of the last one that have a channel
} run;

// A whole group by strips of pixels, as run_points of conv_direct.c.
static void by_strips(const run *r)
{
    const tn_points *p = r->points;
    const int64_t cuts = tn_tile_cuts(r->pixels, p->facts->max_p[2]), each = r->pixels / cuts, more = r->pixels % cuts;
    tn_tile ends;
    tn_tile_set_act(&ends, &p->act);
    tn_strip t = {
        .b = r->w,
        .a_row = p->block, .a_block = r->x_plane,
        .c_row = p->block, .c_vec = r->y_plane,
        .steps = p->c,
        .bias = r->bias ? r->bias : no_bias,
        .beta = 1.0f,
        .clamp = ends.clamp, .low = ends.low, .high = ends.high,
        .ask = r->w + p->c * 2 * p->facts->lanes, .ask_step = (size_t)TN_MIN(64, TN_CEIL_DIV(ASK_BYTES, cuts)),
    };
    t.ask_tile = (size_t)(t.steps / p->block) * t.ask_step;
    for (int64_t tile = 0; tile < cuts; tile += t.repeat) {   // tiles of one pixel more, then the others
        const int64_t count = each + (tile < more), end = tile < more ? more : cuts;
        const ptrdiff_t at = (ptrdiff_t)(tile * each + TN_MIN(tile, more)) * p->block;
        t.repeat = TN_MIN(ends.act ? REPEAT_MOST : cuts, end - tile);
        t.a = r->x + at;
        t.c = r->y + at;
        t.residual = r->residual ? r->residual + at : NULL;
        r->tiles->strip[count - 1](&t);
        t.ask += (size_t)t.repeat * t.ask_tile / sizeof *t.ask;
        for (int i = 0; i < 2 && ends.act; i++) {
            r->tiles->activate(t.c + i * t.c_vec, t.repeat * count * p->block, ends.act);
        }
    }
}

static void by_tiles(const run *r)
{
    const tn_points *p = r->points;
    const int lanes = p->facts->lanes;
    const int64_t blocks = TN_CEIL_DIV(p->c, p->block);
    const int64_t cuts = tn_tile_cuts(r->pixels, p->facts->max_p[r->width]), each = r->pixels / cuts, more = r->pixels % cuts;
    tn_tile t = {
        .a_row = p->block, .a0 = r->x_plane,
        .n0 = blocks, .n1 = 1, .n2 = 1,
        .lanes = p->block, .last_lanes = p->c - (blocks - 1) * p->block,
        .b = r->w, .b_step = r->width * lanes, .b0 = (ptrdiff_t)p->block * r->width * lanes,
        .next = r->w,
        .c_row = p->block, .c_vec = r->y_plane,
        .tail = lanes, .bias_tail = r->bias_tail,
        .bias = r->bias,
        .alpha = 1.0f, .beta = 1.0f,
        .finish = true,
    };
    tn_tile_set_act(&t, &p->act);
    for (int part = 0; part < 2; part++) {
        const int64_t count = each + !part;
        const ptrdiff_t at = (ptrdiff_t)(part ? more * (each + 1) : 0) * p->block;
        t.repeat = part ? cuts - more : more;
        t.a = r->x + at;
        t.c = r->y + at;
        t.residual = r->residual ? r->residual + at : NULL;
        if (t.repeat > 0) {
            r->tiles->tile[r->width - 1][count - 1](&t);
        }
    }
}

void tn_points_run(const tn_points *points, const tn_tiles *tiles, int64_t group, const float *w, const float *bias, const float *x, ptrdiff_t x_plane,
                   int64_t pixels, float *y, const float *residual, ptrdiff_t y_plane)
{
    const int lanes = points->facts->lanes;
    const int64_t first = 2 * group * lanes;
    const run r = {.points = points, .tiles = tiles, .w = w + tn_points_at(points, group), .bias = bias ? bias + first : NULL, .x = x,
                   .residual = residual, .y = y, .x_plane = x_plane, .y_plane = y_plane, .pixels = pixels,
                   .width = tn_points_width(points, group),
                   .bias_tail = (int)(group + 1 < points->groups ? lanes : points->m - (points->vectors - 1) * lanes)};
    if (r.width == 2 && r.bias_tail == lanes && points->facts->strips) {
        by_strips(&r);
    } else {
        by_tiles(&r);
    }
}
