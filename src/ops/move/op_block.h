// SPDX-License-Identifier: Apache-2.0
// Blocks of space, channels and repeats: depth_to_space, space_to_depth, tile(x, repeats), reverse_sequence(x, lengths).
// Ownership: const data. Threads: any.
#ifndef TN_OP_BLOCK_H
#define TN_OP_BLOCK_H

#include "ir/op.h"

typedef struct tn_block_attr { int64_t blocksize; bool crd; } tn_block_attr;   // crd: mode CRD, else DCR
typedef struct tn_reverse_sequence_attr { int64_t batch_axis, time_axis; } tn_reverse_sequence_attr;

extern const tn_op tn_op_depth_to_space;
extern const tn_op tn_op_space_to_depth;
extern const tn_op tn_op_tile;
extern const tn_op tn_op_reverse_sequence;

#endif
