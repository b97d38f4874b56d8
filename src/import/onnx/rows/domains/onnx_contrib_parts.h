// SPDX-License-Identifier: Apache-2.0
// Small building blocks of the compositions that operators of com.microsoft become. All values may be NULL once building has stopped.
// Ownership: what is built belongs to the node's graph. Threads: as the import.
#ifndef TN_ONNX_CONTRIB_PARTS_H
#define TN_ONNX_CONTRIB_PARTS_H

#include "import/onnx/rows/onnx_rows.h"

tn_value *tn_contrib_reshape(tn_onnx_node *node, tn_value *x, const int64_t *dims, size_t count);   // 0 keeps a dim, -1 takes the rest
tn_value *tn_contrib_transpose(tn_onnx_node *node, tn_value *x, const int64_t *perm, int rank);     // perm is static
tn_value *tn_contrib_pick(tn_onnx_node *node, tn_value *x, int64_t axis, int64_t index);            // drops the axis
tn_value *tn_contrib_concat(tn_onnx_node *node, int64_t axis, tn_value *const *in, int n_in);
tn_value *tn_contrib_cast(tn_onnx_node *node, tn_value *x, tn_dtype to);
tn_value *tn_contrib_dim(tn_onnx_node *node, tn_value *x, int64_t axis);                            // int64 [1]
tn_value *tn_contrib_range(tn_onnx_node *node, tn_value *count);                                    // count [1] -> 0 .. count-1
tn_value *tn_contrib_add(tn_onnx_node *node, tn_value *a, tn_value *b);                             // one may be NULL: the other

// The parts of x along an axis: of the given sizes, or `count` equal ones when sizes is NULL.
void tn_contrib_split(tn_onnx_node *node, tn_value *x, int64_t axis, const int64_t *sizes, int count, tn_value **parts);

// [B, L, H * D] -> [B, H, L, D] and back.
tn_value *tn_contrib_heads(tn_onnx_node *node, tn_value *x, int64_t heads);
tn_value *tn_contrib_join_heads(tn_onnx_node *node, tn_value *x);

// [N, spatial..., C] -> [N, C, spatial...] and back; refuses what does not have 3 to 5 dims.
tn_value *tn_contrib_channels_first(tn_onnx_node *node, tn_value *x);
tn_value *tn_contrib_channels_last(tn_onnx_node *node, tn_value *x, int rank);

// Rank, or dim i, as far as the file tells; -1: it does not.
int tn_contrib_rank(const tn_value *x);
int64_t tn_contrib_known_dim(const tn_value *x, int i);

#endif
