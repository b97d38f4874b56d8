// SPDX-License-Identifier: Apache-2.0
// What passes share: questions about values, constants, and the one step they all take, "this node becomes that one".
// Ownership: new values and constants belong to the graph. Threads: one per graph.
#ifndef TN_REWRITE_H
#define TN_REWRITE_H

#include "pass/pass.h"

// ---- questions ----

// The node that makes `value`, when it is an `op`; else NULL. value may be NULL.
tn_node *tn_made_by(const tn_value *value, const tn_op *op);

// The value may vanish: nobody asked for it by name and it is no result of the graph.
bool tn_can_drop(const tn_pass_context *context, const tn_value *value);

// The value may vanish together with its only use.
bool tn_used_once(const tn_pass_context *context, const tn_value *value);

// All uses of `old` may be given to `value` (which is made before them).
bool tn_can_replace(const tn_pass_context *context, const tn_value *old, const tn_value *value);

// The shapes are the same in every run: each dim known and equal, or the same symbol.
bool tn_surely_same(const tn_shape *a, const tn_shape *b);
bool tn_dim_surely_same(int64_t a, int64_t b);

static inline bool tn_is_f32(const tn_value *value) { return value->dtype == TN_F32 && value->kind == TN_KIND_TENSOR; }

// ---- constants ----

// A constant number of one element, whatever its rank.
bool tn_scalar(const tn_value *value, double *out);

// As tn_scalar, and near `want` (to 1e-5 of it).
bool tn_scalar_is(const tn_value *value, double want);

// A constant f32 tensor with one element or more; *count of them.
bool tn_floats(const tn_value *value, int64_t *count);

// Element i of such a tensor; one of one element repeats.
float tn_float(const tn_value *value, int64_t i);

// A constant list of at most `max` integers; false when it is not one.
bool tn_int_list(const tn_value *value, int max, int64_t *v, int *count);

// The constant has one element, or is one number per index of axis `axis` (counted from 0) of a tensor of rank `rank` and 1 in
// all other dims: [C, 1, 1] is so for axis 1 of rank 4. dim is the tensor's, which must be known.
bool tn_per_axis(const tn_value *value, int rank, int axis, int64_t dim);

// New constants in the graph; NULL: no memory.
tn_value *tn_new_floats(tn_graph *graph, const tn_shape *shape, const float *data);
tn_value *tn_new_ints(tn_graph *graph, int count, const int64_t *v);

// Room for a new f32 constant of known shape, to be filled through *data before use; NULL: no memory.
tn_value *tn_new_room(tn_graph *graph, const tn_shape *shape, float **data);

// An array attribute in the graph's arena; .set is false when there was no memory.
tn_ints tn_new_attr_ints(tn_graph *graph, int count, const int64_t *v);

// ---- the step ----

typedef struct tn_rewrite {
    tn_node *root;              // its result 0 is made anew, and it goes
    const tn_op *op;            // by this operator
    const void *attr;           // NULL: its defaults
    tn_value *const *in;
    int n_in;
    tn_node *const *from;       // nodes whose work the new one does besides root, nearest to root first; those left without uses go
    int n_from;                 // at most 64
    const tn_shape *shape;      // of the result, when it is not that of root's
} tn_rewrite;

// Puts the new node in root's place under the name of the last of `from` (root's when there is none): the name of the node that
// does the work. The result keeps root's name, type and uses. *made may be NULL.
tn_status tn_rewrite_node(tn_graph *graph, tn_pass_context *context, const tn_rewrite *rewrite, tn_node **made);

// A helper node before `before` that stands for `from`; its result is a new value of this type.
tn_status tn_insert_node(tn_graph *graph, tn_pass_context *context, tn_node *before, const tn_node *from, const tn_op *op,
                         const void *attr, tn_value *const *in, int n_in, tn_dtype dtype, const tn_shape *shape, tn_value **out);

// Gives the uses of node's result 0 to `value` and removes the node. The caller has asked tn_can_replace.
tn_status tn_bypass(tn_graph *graph, tn_pass_context *context, tn_node *node, tn_value *value);

// Removes node, and says so, when none of its results is used, is a result of the graph or is pinned.
bool tn_drop_unused(tn_graph *graph, const tn_pass_context *context, tn_node *node);

#endif
