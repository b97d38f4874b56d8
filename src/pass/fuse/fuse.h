// SPDX-License-Identifier: Apache-2.0
// Passes that make one operator of several. They work on f32, where the fused arithmetic stays within rounding of the written one.
// Ownership: const data. Threads: any.
#ifndef TN_FUSE_H
#define TN_FUSE_H

#include "pass/pass.h"

extern const tn_pass tn_pass_split_einsum;    // einsum that is a matrix product
extern const tn_pass tn_pass_fuse_pattern;    // activations written out: silu, hard_swish, hard_sigmoid, mish, gelu
extern const tn_pass tn_pass_fuse_norm;       // layer_norm and rms_norm written out
extern const tn_pass tn_pass_fuse_matmul;     // gemm, transposed and scaled operands, reshapes around a product
extern const tn_pass tn_pass_fuse_attention;  // products, mask and softmax, heads split from rows and joined again
extern const tn_pass tn_pass_fuse_hoist;      // elementwise work before the reshape of a product
extern const tn_pass tn_pass_fuse_pad;        // zero padding into convolutions and average pooling
extern const tn_pass tn_pass_fuse_affine;     // batch_norm, scales and shifts per channel into weights and bias
extern const tn_pass tn_pass_fuse_residual;   // the sum with another value into convolutions and matrix products
extern const tn_pass tn_pass_fuse_act;        // the activation behind into convolutions and matrix products
extern const tn_pass tn_pass_fuse_chain;      // what elementwise work is left becomes chains

#endif
