// SPDX-License-Identifier: Apache-2.0
// Cases of tree_ensemble: two trees of two nodes over random rows, all comparisons, ways to combine and to transform.
//
//   root 0: leaf 0 or node 1     node 1: leaf 1 or leaf 2     root 2: node 3 or leaf 3     node 3: leaf 4 or leaf 0
//
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/ml/op_tree.h"

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const int64_t features[] = {0, 2, 1, 0}, true_ids[] = {0, 1, 3, 4}, false_ids[] = {1, 2, 3, 0};
    static const int64_t true_leafs[] = {1, 1, 0, 1}, false_leafs[] = {0, 1, 1, 1}, targets[] = {0, 1, 0, 2, 1}, roots[] = {0, 2};
    static const int64_t nodes = 4, leaves = 5, members = 3;
    tn_tree_attr *attr = tn_case_attr(arena, &tn_op_tree_ensemble);
    int64_t *modes = tn_arena_array(arena, 4, sizeof *modes);
    if (!attr || !modes) {
        return false;
    }
    for (int k = 0; k < 4; k++) {
        modes[k] = i == 0 ? TN_TREE_MEMBER : tn_draw_index(r, TN_TREE_MEMBER + 1);
    }
    *attr = (tn_tree_attr){.n_targets = 3, .aggregate = tn_draw_index(r, 4), .transform = tn_draw_index(r, 4),
                           .features = {features, 4, true}, .modes = {modes, 4, true}, .true_ids = {true_ids, 4, true},
                           .false_ids = {false_ids, 4, true}, .true_leafs = {true_leafs, 4, true},
                           .false_leafs = {false_leafs, 4, true}, .missing_true = {true_leafs, 4, true},
                           .targets = {targets, 5, true}, .roots = {roots, 2, true}};
    const tn_dtype dtype = tn_draw_dtype(r, TN_DRAW_FLOATS);
    c->op = &tn_op_tree_ensemble;
    c->attr = attr;
    c->n_in = 4;
    c->n_out = 1;
    c->in[0] = tn_draw_in(dtype, tn_case_shape(2, tn_rand_range(r, 0, 9), (int64_t)3));
    c->in[1] = tn_draw_in(dtype, tn_shape_of(1, &nodes));
    c->in[2] = tn_draw_in(dtype, tn_shape_of(1, &leaves));
    c->in[3] = tn_draw_in(dtype, tn_shape_of(1, &members));
    c->special = true;
    return true;
}

TN_CASE_EXPORT(tree) {"tree", 1, make};
