// SPDX-License-Identifier: Apache-2.0
// Sequences of tensors (ONNX Sequence*, SplitToSequence, ConcatFromSequence). A position may be negative: it counts from the end.
//   sequence_construct(x...)                     sequence_insert(s, x, position?)      default: the end
//   sequence_empty()                             sequence_erase(s, position?)          default: the last item
//   sequence_at(s, position)                     sequence_length(s) -> int64 scalar
//   split_to_sequence(x, split?)                 concat_from_sequence(s)
// Ownership: const data. Threads: any.
#ifndef TN_OP_SEQUENCE_H
#define TN_OP_SEQUENCE_H

#include "ir/op.h"

typedef struct tn_sequence_empty_attr { tn_dtype dtype; } tn_sequence_empty_attr;
typedef struct tn_sequence_split_attr { int64_t axis; bool keepdims; } tn_sequence_split_attr;     // keepdims: without split only
typedef struct tn_sequence_concat_attr { int64_t axis; bool new_axis; } tn_sequence_concat_attr;

extern const tn_op tn_op_sequence_construct;
extern const tn_op tn_op_sequence_empty;
extern const tn_op tn_op_sequence_at;
extern const tn_op tn_op_sequence_erase;
extern const tn_op tn_op_sequence_insert;
extern const tn_op tn_op_sequence_length;
extern const tn_op tn_op_split_to_sequence;
extern const tn_op tn_op_concat_from_sequence;

#endif
