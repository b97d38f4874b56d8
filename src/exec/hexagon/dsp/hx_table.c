// SPDX-License-Identifier: Apache-2.0
// The operators this program has, by their place in the wire's table.
// Ownership: const data. Threads: any.
#include "exec/hexagon/dsp/hx_graph.h"

#define TN_HX_LIST(X)                                                                                                 \
    X(CONV, conv) X(DECONV, deconv) X(MATMUL, matmul) X(PRODUCT, product)                                             \
    X(AVERAGE_POOL, average_pool) X(MAX_POOL, max_pool)                                                               \
    X(MEAN, mean) X(ADD, add) X(SOFTMAX, softmax) X(LAYER_NORM, layer_norm)                                            \
    X(SUB, sub) X(MUL, mul) X(MIN, min) X(MAX, max) X(LUT, lut) X(QUANTISE, quantise) X(DEQUANTISE, dequantise)       \
    X(CONCAT, concat) X(COPY, copy) X(RESIZE, resize) X(CLAMP, clamp)                                      \
    X(WIDE_CONV, wide_conv) X(WIDE_MATMUL, wide_matmul) X(WIDE_ADD, wide_add) X(WIDE_SUB, wide_sub)                   \
    X(WIDE_MUL, wide_mul) X(WIDE_MEAN, wide_mean) X(WIDE_LUT, wide_lut) X(WIDE_MAX_POOL, wide_max_pool)               \
    X(WIDE_RESIZE, wide_resize) X(WIDE_QUANTISE, wide_quantise) X(WIDE_DEQUANTISE, wide_dequantise)

#define TN_HX_X(NAME, name) extern const tn_hx_op tn_hx_op_##name;
TN_HX_LIST(TN_HX_X)
#undef TN_HX_X

const tn_hx_op *const tn_hx_ops[TN_HEX_OP_COUNT] = {
#define TN_HX_X(NAME, name) [TN_HEX_OP_##NAME] = &tn_hx_op_##name,
    TN_HX_LIST(TN_HX_X)
#undef TN_HX_X
};
