// SPDX-License-Identifier: Apache-2.0
// Embedding and channels-last layers of com.microsoft (onnxruntime, docs/ContribOperators.md).
// Ownership: const data. Threads: any.
#include "import/onnx/rows/domains/onnx_contrib_parts.h"

#include "ops/index/op_gather.h"
#include "ops/index/op_make.h"
#include "ops/math/op_reduce.h"
#include "ops/move/op_reshape.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_norm.h"

#include <stddef.h>

// ---- EmbedLayerNormalization ----

enum { IDS, SEGMENTS, WORDS, PLACES, KINDS, GAMMA, BETA, MASK, POSITIONS };

static tn_value *look_up(tn_onnx_node *node, int table, tn_value *ids)
{
    const tn_gather_attr rows = {.axis = 0};
    return tn_onnx_emit(node, &tn_op_gather, &rows, TN_IN(tn_onnx_in(node, table), ids));
}

// Result 1, int32 [B]: how many tokens of each element are there; zeros without a mask.
static void finish_lengths(tn_onnx_node *node)
{
    const tn_reduce_attr along = {.keepdims = false};
    tn_value *mask = tn_onnx_in(node, MASK);
    if (mask) {
        tn_onnx_finish_one(node, 1, &tn_op_reduce_sum, &along, TN_IN(mask, tn_onnx_const_ints(node, (int64_t[]){1}, 1)));
        return;
    }
    tn_value *zero = tn_onnx_const(node, TN_I32, &(tn_shape){0}, &(int32_t){0});
    tn_onnx_finish_one(node, 1, &tn_op_expand, NULL, TN_IN(zero, tn_contrib_dim(node, tn_onnx_in(node, IDS), 0)));
}

// ids [B, S] -> layer norm of word + position (+ segment) embeddings [B, S, D], lengths?, the sum itself?
static void map_embed(tn_onnx_node *node)
{
    const tn_layer_norm_attr attr = {.axis = -1, .epsilon = tn_onnx_real(node, "epsilon", 1e-12f), .stash_type = 1};
    tn_value *ids = tn_onnx_in(node, IDS), *at = tn_onnx_in(node, POSITIONS);
    tn_onnx_find(node, "mask_index_type");   // lengths are what they are
    at = at ? at : tn_contrib_range(node, tn_contrib_dim(node, ids, 1));
    tn_value *sum = tn_contrib_add(node, look_up(node, WORDS, ids), look_up(node, PLACES, at));
    if (tn_onnx_in(node, SEGMENTS) && tn_onnx_in(node, KINDS)) {
        sum = tn_contrib_add(node, sum, look_up(node, KINDS, tn_onnx_in(node, SEGMENTS)));
    }
    tn_onnx_finish_one(node, 0, &tn_op_layer_norm, &attr, TN_IN(sum, tn_onnx_in(node, GAMMA), tn_onnx_in(node, BETA)));
    if (tn_onnx_wants(node, 1)) {
        finish_lengths(node);
    }
    if (tn_onnx_wants(node, 2)) {
        tn_onnx_finish_as(node, 2, sum);
    }
}

// ---- NhwcConv: x and the result have their channels last, weights are [M, C / group, kernel...] ----

static void map_nhwc_conv(tn_onnx_node *node)
{
    tn_conv_attr attr;
    tn_onnx_fill(node, &tn_op_conv, tn_onnx_conv_fields, TN_COUNT(tn_onnx_conv_fields), &attr);
    tn_value *x = tn_contrib_channels_first(node, tn_onnx_in(node, 0));
    tn_value *y = tn_onnx_emit(node, &tn_op_conv, &attr, TN_IN(x, tn_onnx_in(node, 1), tn_onnx_in(node, 2)));
    if (tn_onnx_good(node)) {
        tn_onnx_finish_as(node, 0, tn_contrib_channels_last(node, y, tn_contrib_rank(tn_onnx_in(node, 0))));
    }
}

static const tn_onnx_row rows[] = {
    {.type = "EmbedLayerNormalization", .since = 1, .max_in = 9, .op = &tn_op_layer_norm, .map = map_embed},
    {.type = "NhwcConv", .since = 1, .max_in = 3, .op = &tn_op_conv, .map = map_nhwc_conv},
    {0},
};

const tn_onnx_table tn_onnx_contrib_layers = {"com.microsoft", rows};
