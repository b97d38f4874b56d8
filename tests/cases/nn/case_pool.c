// SPDX-License-Identifier: Apache-2.0
// Cases of pooling: the windows of real nets, ceil_mode, count_include_pad, dilation, indices in both orders, one to three spatial
// dims, global pooling, unpooling; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_pool.h"

typedef struct pool {
    const tn_op *op;
    int rank;                                   // spatial
    int64_t n, c, in[3], k[3], s[3], d[3], pads[6];
    int auto_pad;
    bool ceil_mode, include_pad, indices;
    int64_t order, p;
} pool;

static const pool pools[] = {
    {&tn_op_max_pool, 2, 1, 8, {28, 28}, {2, 2}, {2, 2}, {1, 1}, {0}, 0, false, false, false, 0, 2},
    {&tn_op_max_pool, 2, 1, 33, {15, 17}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, false, false, false, 0, 2},
    {&tn_op_max_pool, 2, 1, 16, {13, 13}, {5, 5}, {1, 1}, {1, 1}, {2, 2, 2, 2}, 0, false, false, false, 0, 2},
    {&tn_op_max_pool, 2, 1, 9, {11, 10}, {13, 13}, {1, 1}, {1, 1}, {6, 6, 6, 6}, 0, false, false, false, 0, 2},
    {&tn_op_max_pool, 2, 2, 5, {9, 10}, {2, 2}, {2, 2}, {1, 1}, {0}, 0, true, false, true, 0, 2},
    {&tn_op_max_pool, 2, 1, 3, {7, 8}, {3, 2}, {1, 2}, {2, 1}, {1, 0, 1, 1}, 0, false, false, true, 1, 2},
    {&tn_op_max_pool, 2, 1, 10, {12, 12}, {3, 3}, {2, 2}, {1, 1}, {0}, TN_PAD_SAME_UPPER, false, false, false, 0, 2},
    {&tn_op_max_pool, 2, 1, 10, {12, 12}, {3, 3}, {2, 2}, {1, 1}, {0}, TN_PAD_SAME_LOWER, false, false, false, 0, 2},
    {&tn_op_max_pool, 2, 1, 6, {10, 270}, {3, 3}, {1, 1}, {1, 1}, {0}, TN_PAD_VALID, false, false, false, 0, 2},
    {&tn_op_max_pool, 1, 1, 7, {33}, {3}, {2}, {1}, {1, 1}, 0, true, false, false, 0, 2},
    {&tn_op_max_pool, 3, 1, 2, {5, 6, 7}, {2, 3, 2}, {2, 1, 2}, {1, 1, 1}, {0, 1, 0, 0, 1, 1}, 0, false, false, true, 1, 2},
    {&tn_op_max_pool, 2, 0, 3, {4, 4}, {2, 2}, {2, 2}, {1, 1}, {0}, 0, false, false, true, 0, 2},
    {&tn_op_average_pool, 2, 1, 8, {14, 14}, {2, 2}, {2, 2}, {1, 1}, {0}, 0, false, false, false, 0, 2},
    {&tn_op_average_pool, 2, 1, 17, {15, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, false, false, false, 0, 2},
    {&tn_op_average_pool, 2, 1, 17, {15, 13}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, false, true, false, 0, 2},
    {&tn_op_average_pool, 2, 1, 12, {9, 23}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 0, false, false, false, 0, 2},
    {&tn_op_average_pool, 2, 1, 4, {9, 8}, {3, 3}, {2, 2}, {1, 1}, {0, 1, 1, 0}, 0, true, true, false, 0, 2},
    {&tn_op_average_pool, 2, 1, 4, {9, 8}, {3, 3}, {3, 3}, {1, 1}, {1, 1, 1, 1}, 0, true, false, false, 0, 2},
    {&tn_op_average_pool, 2, 1, 24, {12, 80}, {3, 2}, {3, 2}, {1, 1}, {0}, 0, false, false, false, 0, 2},
    {&tn_op_average_pool, 2, 2, 3, {10, 10}, {2, 3}, {1, 1}, {2, 2}, {0}, TN_PAD_SAME_UPPER, false, true, false, 0, 2},
    {&tn_op_average_pool, 1, 1, 5, {20}, {4}, {4}, {1}, {0}, 0, false, false, false, 0, 2},
    {&tn_op_average_pool, 3, 1, 3, {4, 5, 6}, {2, 2, 3}, {1, 2, 1}, {1, 1, 1}, {0, 0, 1, 1, 0, 1}, 0, false, false, false, 0, 2},
    {&tn_op_lp_pool, 2, 1, 6, {9, 11}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, false, false, false, 0, 2},
    {&tn_op_lp_pool, 2, 1, 3, {8, 8}, {2, 2}, {1, 1}, {2, 2}, {0}, 0, true, false, false, 0, 1},
    {&tn_op_lp_pool, 1, 2, 3, {21}, {4}, {3}, {1}, {0}, TN_PAD_SAME_LOWER, false, false, false, 0, 3},
    {&tn_op_max_unpool, 2, 1, 3, {4, 5}, {2, 2}, {2, 2}, {1, 1}, {0}, 0, false, false, false, 0, 2},
    {&tn_op_max_unpool, 1, 2, 2, {6}, {3}, {2}, {1}, {1, 0}, 0, false, false, false, 0, 2},
    {&tn_op_max_unpool, 2, 2, 3, {7, 5}, {2, 3}, {2, 2}, {1, 1}, {0}, 0, false, false, true, 0, 2},
};

static const tn_op *const global_ops[] = {&tn_op_global_average_pool, &tn_op_global_max_pool, &tn_op_global_lp_pool};
static const tn_shape global_shapes[] = {
    {4, {1, 16, 7, 7}}, {4, {2, 33, 5, 9}}, {4, {1, 8, 1, 1}}, {3, {3, 5, 67}}, {5, {1, 3, 2, 3, 4}}, {4, {1, 3, 40, 33}},
    {4, {0, 3, 4, 4}},
};
enum {
    POOLS = TN_COUNT(pools),
    GLOBALS = TN_COUNT(global_ops) * TN_COUNT(global_shapes),
    LISTED = POOLS + GLOBALS
};

static const tn_op *const random_ops[] = {&tn_op_max_pool, &tn_op_average_pool, &tn_op_lp_pool};

static pool draw_pool(tn_rand *r)
{
    static const int ranks[] = {1, 2, 2, 2, 3};
    pool o = {.op = TN_DRAW(r, random_ops), .rank = TN_DRAW(r, ranks), .n = tn_rand_range(r, 1, 2), .c = tn_rand_range(r, 1, 19)};
    for (int i = 0; i < o.rank; i++) {
        o.k[i] = tn_rand_range(r, 1, 4);
        o.s[i] = tn_rand_range(r, 1, 3);
        o.d[i] = tn_draw_index(r, 3) == 0 ? 2 : 1;
        o.pads[i] = tn_rand_range(r, 0, o.k[i] - 1);
        o.pads[o.rank + i] = tn_rand_range(r, 0, o.k[i] - 1);
        o.in[i] = tn_rand_range(r, 1, o.rank == 3 ? 6 : 19) + (o.k[i] - 1) * o.d[i];
    }
    o.auto_pad = tn_draw_index(r, 4) == 0 ? (int)tn_rand_range(r, TN_PAD_SAME_UPPER, TN_PAD_VALID) : TN_PAD_NOTSET;
    o.ceil_mode = tn_rand_bool(r);
    o.include_pad = tn_rand_bool(r);
    o.indices = o.op == &tn_op_max_pool && tn_draw_index(r, 3) == 0;
    o.order = tn_rand_range(r, 0, 1);
    o.p = tn_rand_range(r, 1, 3);
    return o;
}

// Places for the maxima of an unpooled tensor: distinct ones, or (with `indices`) up to two maxima to a place, and a result that is larger than need be.
static bool fill_unpool(tn_case *c, tn_arena *arena, const pool *o)
{
    int64_t count, room = o->n * o->c;
    for (int i = 0; i < o->rank; i++) {
        room *= (o->in[i] - 1) * o->s[i] + o->k[i] - o->pads[i] - o->pads[o->rank + i];
    }
    if (!tn_shape_count(&c->in[0].shape, &count)) {
        return false;
    }
    int64_t *places = tn_arena_array(arena, (size_t)count, sizeof *places);
    for (int64_t i = 0; places && i < count; i++) {
        places[i] = i * room / count / (o->indices ? 5 : 1) * (o->indices ? 5 : 1);
    }
    c->in[1] = (tn_case_in){.dtype = TN_I64, .shape = c->in[0].shape, .ints = places};
    c->n_in = 2;
    if (o->indices) {
        int64_t sides[5] = {o->n, o->c};
        for (int i = 0; i < o->rank; i++) {
            sides[2 + i] = (o->in[i] - 1) * o->s[i] + o->k[i] - o->pads[i] - o->pads[o->rank + i] + i + 1;
        }
        c->in[2] = tn_draw_list(arena, 2 + o->rank, sides);
        c->n_in = 3;
    }
    return places != NULL;
}

static bool make_global(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    (void)r;
    c->op = global_ops[i % TN_COUNT(global_ops)];
    c->attr = tn_case_attr(arena, c->op);
    c->n_in = c->n_out = 1;
    c->in[0] = tn_case_f32(global_shapes[i / TN_COUNT(global_ops)]);
    c->rel = c->op == &tn_op_global_max_pool ? 0 : 1e-5;
    c->abs = c->rel;
    return !c->op->attr_size || c->attr;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    if (i >= POOLS && i < LISTED) {
        return make_global(c, arena, r, i - POOLS);
    }
    const pool o = i < POOLS ? pools[i] : draw_pool(r);
    const uint32_t set = TN_DRAW_FLOATS | (o.op == &tn_op_max_pool ? 1u << TN_I8 | 1u << TN_U8 : 0);
    tn_shape x = {.rank = o.rank + 2, .dims = {o.n, o.c}};
    for (int k = 0; k < o.rank; k++) {
        x.dims[2 + k] = o.in[k];
    }
    c->op = o.op;
    tn_pool_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->kernel = tn_case_ints(arena, o.rank, o.k);
    attr->strides = tn_case_ints(arena, o.rank, o.s);
    attr->dilations = tn_case_ints(arena, o.rank, o.d);
    if (o.auto_pad == TN_PAD_NOTSET) {
        attr->pads = tn_case_ints(arena, 2 * o.rank, o.pads);
    }
    attr->auto_pad = o.auto_pad;
    attr->ceil_mode = o.ceil_mode;
    attr->count_include_pad = o.include_pad;
    attr->storage_order = o.order;
    attr->p = o.p;
    c->attr = attr;
    c->in[0] = tn_draw_in(i < LISTED ? TN_F32 : tn_draw_dtype(r, set), x);
    c->n_in = 1;
    c->n_out = o.indices && o.op == &tn_op_max_pool ? 2 : 1;
    c->rel = c->op == &tn_op_average_pool || c->op == &tn_op_lp_pool ? 1e-5 : 0;
    c->abs = c->rel;
    return c->op != &tn_op_max_unpool || fill_unpool(c, arena, &o);
}

TN_CASE_EXPORT(pool){"pool", LISTED, make};
