// SPDX-License-Identifier: Apache-2.0
// Cases of operators that rename dims (reshape with 0 and -1, squeeze, unsqueeze, flatten, identity) and of expand.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/move/op_reshape.h"

static const tn_op *const plain[] = {&tn_op_identity, &tn_op_flatten, &tn_op_reshape, &tn_op_squeeze, &tn_op_unsqueeze, &tn_op_expand};

static const struct {
    const tn_op *op;
    tn_shape shape;
    int n;
    int64_t list[6];
} forms[] = {
    {&tn_op_reshape, {4, {2, 3, 4, 5}}, 3, {0, -1, 5}}, {&tn_op_reshape, {3, {2, 3, 4}}, 1, {-1}},    {&tn_op_reshape, {1, {1}}, 0, {0}},
    {&tn_op_reshape, {2, {0, 3}}, 2, {3, -1}},          {&tn_op_squeeze, {4, {1, 3, 1, 5}}, 2, {0, -2}},
    {&tn_op_unsqueeze, {2, {3, 5}}, 3, {0, 2, -1}},     {&tn_op_expand, {2, {3, 1}}, 4, {2, 1, 1, 6}}, {&tn_op_expand, {3, {5, 1, 9}}, 1, {1}},
    {&tn_op_expand, {0, {0}}, 2, {7, 33}},              {&tn_op_expand, {2, {1, 4}}, 2, {0, 4}},      {&tn_op_identity, {3, {3, 5, 7}}, 0, {0}},
    {&tn_op_flatten, {4, {2, 3, 4, 5}}, 0, {0}},
};

// The list operand of a random case.
static int draw_list(const tn_op *op, const tn_shape *shape, tn_rand *r, int64_t *list)
{
    int n = 0;
    for (int d = 0; d < shape->rank && op == &tn_op_reshape; d++) {
        list[n++] = shape->dims[shape->rank - 1 - d];   // another order of the same dims
    }
    if (op == &tn_op_reshape && n > 0 && tn_draw_index(r, 2) && shape->dims[0] > 0 && shape->dims[shape->rank - 1] > 0) {
        list[n - 1] = -1;
    }
    for (int d = 0; d < shape->rank && op == &tn_op_squeeze; d++) {
        if (shape->dims[d] == 1) {
            list[n++] = tn_rand_bool(r) ? d : d - shape->rank;
        }
    }
    if (op == &tn_op_unsqueeze) {
        list[n++] = tn_rand_range(r, -shape->rank - 1, shape->rank);
    }
    for (int d = 0; d < 4 && op == &tn_op_expand; d++) {
        const int at = shape->rank - 4 + d;
        list[n++] = at >= 0 && shape->dims[at] != 1 ? (tn_rand_bool(r) ? shape->dims[at] : 1) : tn_rand_range(r, 1, 4);
    }
    return n;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < TN_COUNT(forms);
    const tn_shape shape = listed ? forms[i].shape : tn_draw_shape(r, 0, 5);
    int64_t list[TN_MAX_RANK + 1];
    c->op = listed ? forms[i].op : TN_DRAW(r, plain);
    c->attr = tn_case_attr(arena, c->op);
    c->in[0] = tn_draw_in(listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_SIZES), shape);
    c->n_in = c->op == &tn_op_identity || c->op == &tn_op_flatten ? 1 : 2;
    c->n_out = 1;
    if (listed) {
        c->in[1] = tn_draw_list(arena, forms[i].n, forms[i].list);
    } else {
        const int n = draw_list(c->op, &shape, r, list);
        c->in[1] = tn_draw_list(arena, n, list);
    }
    if (c->op == &tn_op_reshape && c->attr && !listed) {
        ((tn_reshape_attr *)c->attr)->allowzero = true;   // dims of 0 are meant
    }
    if (c->op == &tn_op_flatten && c->attr) {
        ((tn_flatten_attr *)c->attr)->axis = listed ? 2 : tn_rand_range(r, -shape.rank, shape.rank);
    }
    c->special = true;
    return true;
}

TN_CASE_EXPORT(reshape) {"reshape", TN_COUNT(forms), make};
