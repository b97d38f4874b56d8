// SPDX-License-Identifier: Apache-2.0
// matmul_nbits: a product with weights of 2, 4 or 8 bits in blocks along K, each block with a scale and a zero point. com.microsoft
// MatMulNBits (onnxruntime, docs/ContribOperators.md), the usual form of weights of language models.
// Ownership: const data. Threads: any.
#ifndef TN_OP_MATMUL_NBITS_H
#define TN_OP_MATMUL_NBITS_H

#include "ir/op.h"

// a [..., K], b uint8 [N, blocks, block_size * bits / 8], scales [N * blocks], zero_points?, groups int32 [K]?, bias [N]?
// -> [..., N]: y = a * (b - zero) * scale + bias. blocks = ceil(K / block_size); the low bits of a byte come first.
// zero_points: packed like b in uint8, each row of N on bytes of its own, or one number per block in a's type; absent: 2^(bits-1).
// groups: the block whose scale and zero point element k of a row has; absent: k / block_size.
typedef struct tn_nbits_attr { int64_t k, n, bits, block_size; } tn_nbits_attr;

extern const tn_op tn_op_matmul_nbits;

#endif
