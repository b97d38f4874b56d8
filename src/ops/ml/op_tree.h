// SPDX-License-Identifier: Apache-2.0
// tree_ensemble(x [N, C], splits [nodes], weights [leaves], members [m]?) -> [N, targets] (ONNX ai.onnx.ml TreeEnsemble 5).
// Every row of x runs down each tree; the weights of the leaves that it comes to are put together for each target. members: the sets
// of the nodes that test membership, in the order of the nodes, each ended by a NaN.
// Ownership: const data. Threads: any.
#ifndef TN_OP_TREE_H
#define TN_OP_TREE_H

#include "ir/op.h"

enum { TN_TREE_LEQ, TN_TREE_LT, TN_TREE_GTE, TN_TREE_GT, TN_TREE_EQ, TN_TREE_NEQ, TN_TREE_MEMBER };   // modes
enum { TN_TREE_AVERAGE, TN_TREE_SUM, TN_TREE_MIN, TN_TREE_MAX };
enum { TN_TREE_NONE, TN_TREE_SOFTMAX, TN_TREE_LOGISTIC, TN_TREE_SOFTMAX_ZERO, TN_TREE_PROBIT };

typedef struct tn_tree_attr {
    int64_t n_targets, aggregate, transform;     // TN_TREE_*
    tn_ints features, modes;                     // by node
    tn_ints true_ids, false_ids;                 // nodes, or leaves where the flag says so
    tn_ints true_leafs, false_leafs;             // flags
    tn_ints missing_true;                        // flags: NaN goes the way of true; may be absent
    tn_ints targets;                             // by leaf
    tn_ints roots;
} tn_tree_attr;

extern const tn_op tn_op_tree_ensemble;

#endif
