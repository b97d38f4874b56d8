// SPDX-License-Identifier: Apache-2.0
// Tree ensembles. The trees come from the model: numbers of nodes, leaves and targets are checked before the run, and a row that has
// passed more nodes than there are is in a circle.
// Ownership: const data. Threads: any.
#include "ops/ml/op_tree.h"

#include "ops/op_rows.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

// ---- attributes ----

static const tn_attr attrs[] = {
    {"n_targets", TN_ATTR_INT, offsetof(tn_tree_attr, n_targets), NULL},
    {"aggregate", TN_ATTR_INT, offsetof(tn_tree_attr, aggregate), NULL},
    {"transform", TN_ATTR_INT, offsetof(tn_tree_attr, transform), NULL},
    {"features", TN_ATTR_INTS, offsetof(tn_tree_attr, features), NULL},
    {"modes", TN_ATTR_INTS, offsetof(tn_tree_attr, modes), NULL},
    {"true_ids", TN_ATTR_INTS, offsetof(tn_tree_attr, true_ids), NULL},
    {"false_ids", TN_ATTR_INTS, offsetof(tn_tree_attr, false_ids), NULL},
    {"true_leafs", TN_ATTR_INTS, offsetof(tn_tree_attr, true_leafs), NULL},
    {"false_leafs", TN_ATTR_INTS, offsetof(tn_tree_attr, false_leafs), NULL},
    {"missing_true", TN_ATTR_INTS, offsetof(tn_tree_attr, missing_true), NULL},
    {"targets", TN_ATTR_INTS, offsetof(tn_tree_attr, targets), NULL},
    {"roots", TN_ATTR_INTS, offsetof(tn_tree_attr, roots), NULL},
};

// ---- infer ----

static tn_status check_list(const tn_infer *infer, const char *what, const tn_ints *list, int64_t count, int64_t limit)
{
    if (list->count != count) {
        return tn_infer_fail(infer, "%s has %d entries, expected %lld", what, list->count, (long long)count);
    }
    for (int i = 0; i < list->count; i++) {
        if (list->v[i] < 0 || list->v[i] >= limit) {
            return tn_infer_fail(infer, "entry %d of %s is %lld, expected 0 to %lld", i, what, (long long)list->v[i], (long long)limit - 1);
        }
    }
    return TN_OK;
}

// Where the branches of all nodes lead: to a leaf or to a node.
static tn_status check_branches(const tn_infer *infer, const char *what, const tn_ints *ids, const tn_ints *leafs, int64_t n_leaves)
{
    const int64_t n = ids->count;
    TN_TRY(check_list(infer, what, leafs, n, 2));
    for (int i = 0; i < n; i++) {
        const int64_t limit = leafs->v[i] ? n_leaves : n;
        if (ids->v[i] < 0 || ids->v[i] >= limit) {
            return tn_infer_fail(infer, "node %d leads to %s %lld of %lld", i, leafs->v[i] ? "leaf" : "node", (long long)ids->v[i],
                                 (long long)limit);
        }
    }
    return TN_OK;
}

static tn_status infer_tree(tn_infer *infer)
{
    const tn_tree_attr *attr = infer->attr;
    const int64_t n = attr->modes.count, n_leaves = attr->targets.count;
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, tn_infer_in(infer, 3) ? 3 : 2, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 2, 2));
    const tn_shape *x = &infer->in[0]->shape;
    const int64_t width = x->rank == 2 && tn_dim_known(x->dims[1]) ? x->dims[1] : INT64_MAX;
    if (attr->n_targets < 1 || attr->aggregate < TN_TREE_AVERAGE || attr->aggregate > TN_TREE_MAX || attr->transform < TN_TREE_NONE ||
        attr->transform > TN_TREE_PROBIT) {
        return tn_infer_fail(infer, "%lld targets, aggregate_function %lld, post_transform %lld", (long long)attr->n_targets,
                             (long long)attr->aggregate, (long long)attr->transform);
    }
    const int64_t splits = tn_fact_count(infer->in[1]), weights = tn_fact_count(infer->in[2]);
    if ((splits >= 0 && splits != n) || (weights >= 0 && weights != n_leaves)) {
        return tn_infer_fail(infer, "%lld splits for %lld nodes, %lld weights for %lld leaves", (long long)splits, (long long)n,
                             (long long)weights, (long long)n_leaves);
    }
    TN_TRY(check_list(infer, "nodes_featureids", &attr->features, n, width));
    TN_TRY(check_list(infer, "nodes_modes", &attr->modes, n, TN_TREE_MEMBER + 1));
    TN_TRY(check_list(infer, "leaf_targetids", &attr->targets, n_leaves, attr->n_targets));
    TN_TRY(check_list(infer, "tree_roots", &attr->roots, attr->roots.count, n));
    if (attr->missing_true.set && attr->missing_true.count > 0) {
        TN_TRY(check_list(infer, "nodes_missing_value_tracks_true", &attr->missing_true, n, 2));
    }
    if (attr->true_ids.count != n || attr->false_ids.count != n) {
        return tn_infer_fail(infer, "%d and %d branches for %lld nodes", attr->true_ids.count, attr->false_ids.count, (long long)n);
    }
    TN_TRY(check_branches(infer, "nodes_trueleafs", &attr->true_ids, &attr->true_leafs, n_leaves));
    TN_TRY(check_branches(infer, "nodes_falseleafs", &attr->false_ids, &attr->false_leafs, n_leaves));
    tn_shape shape = *x;
    if (shape.rank == 2) {
        shape.dims[1] = attr->n_targets;
    }
    tn_infer_out(infer, 0, dtype, &shape);
    return TN_OK;
}

// ---- descriptor ----

const tn_op tn_op_tree_ensemble = {
    .name = "tree_ensemble", .version = 1, .min_in = 3, .max_in = 4, .min_out = 1, .max_out = 1, .attrs = attrs,
    .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_tree_attr), .infer = infer_tree,
};

// ---- reference ----

// The set of a node that tests membership: its number among such nodes says which.
static bool is_member(const tn_call *call, int64_t node, double v)
{
    const tn_tree_attr *attr = call->attr;
    const tn_tensor *members = tn_call_in(call, 3);
    const int64_t n = members ? tn_tensor_count(members) : 0;
    int64_t at = 0;
    for (int64_t i = 0; i < node; i++) {
        for (bool inside = attr->modes.v[i] == TN_TREE_MEMBER; inside && at < n; at++) {
            inside = !isnan(tn_element(members, at));
        }
    }
    for (; at < n && !isnan(tn_element(members, at)); at++) {
        if (tn_element(members, at) == v) {
            return true;
        }
    }
    return false;
}

static bool is_true(const tn_call *call, int64_t node, double v)
{
    const tn_tree_attr *attr = call->attr;
    const double split = tn_element(call->in[1], node);
    if (isnan(v) && attr->missing_true.count > 0 && attr->missing_true.v[node]) {
        return true;
    }
    switch (attr->modes.v[node]) {
    case TN_TREE_LEQ: return v <= split;
    case TN_TREE_LT: return v < split;
    case TN_TREE_GTE: return v >= split;
    case TN_TREE_GT: return v > split;
    case TN_TREE_EQ: return v == split;
    case TN_TREE_NEQ: return v != split;
    default: return is_member(call, node, v);
    }
}

// The leaf that a row of x comes to; -1: it goes in circles.
static int64_t find_leaf(const tn_call *call, int64_t root, int64_t row)
{
    const tn_tree_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    int64_t node = root;
    for (int64_t step = 0; step < attr->modes.count; step++) {
        const bool yes = is_true(call, node, tn_element(x, row * x->shape.dims[1] + attr->features.v[node]));
        const int64_t next = yes ? attr->true_ids.v[node] : attr->false_ids.v[node];
        if (yes ? attr->true_leafs.v[node] : attr->false_leafs.v[node]) {
            return next;
        }
        node = next;
    }
    return -1;
}

static double combine(int64_t aggregate, double sum, double weight, double trees)
{
    switch (aggregate) {
    case TN_TREE_MIN: return TN_MIN(sum, weight);
    case TN_TREE_MAX: return TN_MAX(sum, weight);
    case TN_TREE_AVERAGE: return sum + weight / trees;
    default: return sum + weight;
    }
}

// The inverse of the normal distribution, through that of erf (S. Winitzki, "A handy approximation for the error function and its
// inverse", 2008).
static double probit(double p)
{
    const double x = 2 * p - 1, log = log1p(-x * x), a = 0.147, b = 2 / (3.14159265358979323846 * a) + log / 2;
    return sqrt(2) * copysign(sqrt(sqrt(b * b - log / a) - b), x);
}

static void transform_row(int64_t transform, double *row, int64_t n)
{
    double most = row[0], sum = 0;
    for (int64_t i = 0; i < n; i++) {
        most = TN_MAX(most, row[i]);
        row[i] = transform == TN_TREE_LOGISTIC ? 1 / (1 + exp(-row[i])) : transform == TN_TREE_PROBIT ? probit(row[i]) : row[i];
    }
    if (transform != TN_TREE_SOFTMAX && transform != TN_TREE_SOFTMAX_ZERO) {
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        row[i] = transform == TN_TREE_SOFTMAX_ZERO && row[i] == 0 ? 0 : exp(row[i] - most);
        sum += row[i];
    }
    for (int64_t i = 0; i < n; i++) {
        row[i] = sum > 0 ? row[i] / sum : 0;
    }
}

// x [N, C], splits [nodes], weights [leaves], members [m]? -> [N, targets]
static tn_status run_tree(const tn_call *call)
{
    const tn_tree_attr *attr = call->attr;
    const int64_t n = call->in[0]->shape.dims[0], width = attr->n_targets;
    double *row = call->scratch;
    const double start = attr->aggregate == TN_TREE_MIN ? FLT_MAX : attr->aggregate == TN_TREE_MAX ? -FLT_MAX : 0;
    for (int64_t r = 0; r < n; r++) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t t = 0; t < width; t++) {
            row[t] = start;
        }
        for (int i = 0; i < attr->roots.count; i++) {
            const int64_t leaf = find_leaf(call, attr->roots.v[i], r);
            if (leaf < 0) {
                return tn_fail(call->diag, TN_INVALID_MODEL, call->name, "tree_ensemble: tree %d leads in a circle", i);
            }
            double *sum = &row[attr->targets.v[leaf]];
            *sum = combine(attr->aggregate, *sum, tn_element(call->in[2], leaf), attr->roots.count);
        }
        transform_row(attr->transform, row, width);
        tn_row_store(call->out[0]->dtype, call->out[0]->data, r * width, 1, width, row);
    }
    return TN_OK;
}

// Scratch: one row of results.
static tn_status prepare_tree(tn_prepare *prepare)
{
    const tn_tensor *y = prepare->query->out[0];
    prepare->scratch_bytes = tn_tensor_count(y) > 0 ? (size_t)y->shape.dims[1] * sizeof(double) : 0;
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE_SCRATCH(tree_ensemble, prepare_tree, run_tree)};
static const tn_op *const ops[] = {&tn_op_tree_ensemble};

TN_EXPORT_OPS(op_tree, ops);
TN_EXPORT_KERNELS(op_tree, rows);
