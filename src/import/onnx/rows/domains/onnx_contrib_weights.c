// SPDX-License-Identifier: Apache-2.0
// Operators of com.microsoft whose weights are stored in few bits (onnxruntime, docs/ContribOperators.md).
// Ownership: const data. Threads: any.
#include "import/onnx/rows/domains/onnx_contrib_parts.h"

#include "ops/math/op_binary.h"
#include "ops/quant/op_matmul_nbits.h"
#include "ops/seq/op_lstm.h"

#include <stddef.h>

static const tn_onnx_field nbits_fields[] = {
    {.name = "K", .kind = TN_ATTR_INT, .offset = offsetof(tn_nbits_attr, k), .required = true},
    {.name = "N", .kind = TN_ATTR_INT, .offset = offsetof(tn_nbits_attr, n), .required = true},
    TN_FIELD_INT(tn_nbits_attr, bits, "bits", 4),
    {.name = "block_size", .kind = TN_ATTR_INT, .offset = offsetof(tn_nbits_attr, block_size), .required = true},
    TN_FIELD_SKIP("accuracy_level"), // in what the product may be computed; ours is the most exact
    TN_FIELD_SKIP("weight_prepacked"),
};

// (w - zero) * scale in float, [dirs, rows, 4H] turned into [dirs, 4H, rows]. scale and zero are [dirs] or [dirs, 4H].
static tn_value *real_weights(tn_onnx_node *node, tn_value *w, tn_value *scale, tn_value *zero)
{
    static const int64_t turn[] = {0, 2, 1};
    const int rank = tn_contrib_rank(scale);
    if (rank != 1 && rank != 2) {
        tn_onnx_refuse(node, "scales that are neither per direction nor per channel");
        return NULL;
    }
    const int64_t axes[2] = {1, 2};
    const size_t count = rank == 1 ? 2 : 1;
    tn_value *real = tn_contrib_cast(node, w, TN_F32);
    if (zero) {
        tn_value *middle = tn_onnx_unsqueeze(node, tn_contrib_cast(node, zero, TN_F32), axes, count);
        real = tn_onnx_emit(node, &tn_op_sub, NULL, TN_IN(real, middle));
    }
    real = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(real, tn_onnx_unsqueeze(node, scale, axes, count)));
    return tn_contrib_transpose(node, real, turn, 3);
}

// x, w, r, b?, lengths?, h?, c?, p?, w_scale, w_zero, r_scale, r_zero. Only the weights are of 8 bits by meaning; that x and h are rounded
// to 8 bits on the way is a liberty of one implementation, which is not taken here: the results are the more exact ones.
static void map_dynamic_lstm(tn_onnx_node *node)
{
    tn_value *w = real_weights(node, tn_onnx_in(node, 1), tn_onnx_in(node, 8), tn_onnx_in(node, 9));
    tn_value *r = real_weights(node, tn_onnx_in(node, 2), tn_onnx_in(node, 10), tn_onnx_in(node, 11));
    if (!tn_onnx_good(node)) {
        return;
    }
    node->in[1] = w;
    node->in[2] = r;
    node->n_in = TN_MIN(node->n_in, 8);
    tn_onnx_map_lstm(node);
}

static const tn_onnx_row rows[] = {
    {.type = "DynamicQuantizeLSTM", .since = 1, .max_in = 12, .op = &tn_op_lstm, .map = map_dynamic_lstm},
    {.type = "MatMulNBits", .since = 1, .op = &tn_op_matmul_nbits, TN_FIELDS(nbits_fields)},
    {0},
};

const tn_onnx_table tn_onnx_contrib_weights = {"com.microsoft", rows};
