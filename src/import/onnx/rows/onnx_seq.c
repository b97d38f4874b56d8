// SPDX-License-Identifier: Apache-2.0
// Sequences: recurrent layers, attention and layers with a state. Activations of recurrent layers are names in the file and codes
// in our attributes, with the parameters of each. Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "loop/loop.h"
#include "ops/seq/op_attention.h"
#include "ops/seq/op_lstm.h"
#include "ops/seq/op_stream.h"

#include <stddef.h>

// Activations: alpha and beta are their defaults (ONNX RNN), n how many parameters they take.
static const struct {
    const char *name;
    int code, n;
    float alpha, beta;
} activations[] = {
    {"Relu", TN_LOOP_RELU, 0, 0, 0},
    {"Tanh", TN_LOOP_TANH, 0, 0, 0},
    {"Sigmoid", TN_LOOP_SIGMOID, 0, 0, 0},
    {"Softplus", TN_LOOP_SOFTPLUS, 0, 0, 0},
    {"Affine", TN_LOOP_AFFINE, 2, 1.0f, 0.0f},
    {"LeakyRelu", TN_LOOP_LEAKY, 1, 0.01f, 0},
    {"Elu", TN_LOOP_ELU, 1, 1.0f, 0},
    {"HardSigmoid", TN_LOOP_HARD_SIGMOID, 2, 0.2f, 0.5f},
    {"ThresholdedRelu", TN_RNN_THRESHOLDED_RELU, 1, 1.0f, 0},
    {"ScaledTanh", TN_RNN_SCALED_TANH, 2, 1.0f, 1.0f},
    {"Softsign", TN_RNN_SOFTSIGN, 0, 0, 0},
};

static const char *const directions[] = {"forward", "reverse", "bidirectional", NULL}; // TN_RNN_FORWARD ...

static bool same_letters(tn_span a, const char *b)
{
    for (size_t i = 0; i < a.size; ++i) {
        const int x = a.data[i], y = (unsigned char)b[i];
        if (y == 0 || (x | 32) != (y | 32)) {
            return false;
        }
    }
    return b[a.size] == 0;
}

// Fills activation i. Parameters are taken in turn from the lists, by those activations that have any.
static void fill_activation(tn_onnx_node *node, tn_rnn_attr *attr, size_t i, tn_span name, const tn_reals lists[2], int32_t at[2])
{
    size_t found = 0;
    while (found < TN_COUNT(activations) && !same_letters(name, activations[found].name)) {
        ++found;
    }
    if (found == TN_COUNT(activations)) {
        tn_onnx_refuse(node, "activation '%.*s'", (int)TN_MIN(name.size, 40), name.size ? (const char *)name.data : "");
        return;
    }
    attr->act[i] = activations[found].code;
    double *const parameters[2] = {&attr->act_alpha[i], &attr->act_beta[i]};
    const float defaults[2] = {activations[found].alpha, activations[found].beta};
    for (int p = 0; p < 2; ++p) {
        *parameters[p] = (double)defaults[p];
        if (p < activations[found].n && at[p] < lists[p].count) {
            *parameters[p] = (double)lists[p].v[at[p]++];
        }
    }
}

static void fill_activations(tn_onnx_node *node, tn_rnn_attr *attr, size_t gates)
{
    const size_t wanted = gates * (attr->direction == TN_RNN_BIDIRECTIONAL ? 2 : 1);
    const tn_reals lists[2] = {tn_onnx_reals(node, "activation_alpha"), tn_onnx_reals(node, "activation_beta")};
    int32_t at[2] = {0, 0};
    size_t count;
    for (size_t i = 0; i < TN_COUNT(attr->act); ++i) {
        attr->act[i] = -1;
    }
    tn_onnx_string(node, "activations", 0, &count);
    // A list that is too short for two directions, as the default of RNN for one is too long, counts as far as it goes.
    for (size_t i = 0; i < wanted && i < count && tn_onnx_good(node); ++i) {
        fill_activation(node, attr, i, tn_onnx_string(node, "activations", i, &count), lists, at);
    }
}

// gates: activations for each direction.
static void map_recurrent(tn_onnx_node *node, const tn_op *op, size_t gates)
{
    tn_rnn_attr attr = {.hidden_size = tn_onnx_int(node, "hidden_size", 0),
                        .layout = tn_onnx_int(node, "layout", 0),
                        .direction = tn_onnx_choice(node, "direction", directions, TN_RNN_FORWARD),
                        .linear_before_reset = tn_onnx_int(node, "linear_before_reset", 0) != 0,
                        .input_forget = tn_onnx_int(node, "input_forget", 0) != 0,
                        .clip = tn_onnx_real(node, "clip", 0.0f)};
    attr.has_clip = tn_onnx_find(node, "clip") != NULL;
    tn_onnx_find(node, "output_sequence"); // opset 1: whether Y is wanted, which the results say too
    fill_activations(node, &attr, gates);
    tn_onnx_finish(node, op, &attr, node->in, node->n_in);
}

void tn_onnx_map_lstm(tn_onnx_node *node)
{
    map_recurrent(node, &tn_op_lstm, 3);
}

static void map_gru(tn_onnx_node *node)
{
    map_recurrent(node, &tn_op_gru, 2);
}

static void map_rnn(tn_onnx_node *node)
{
    map_recurrent(node, &tn_op_rnn, 1);
}

static const char *const update_rules[] = {"linear", "gated", "delta", "gated_delta", NULL}; // TN_RULE_LINEAR ...
static const char *const stream_acts[] = {"none", "silu", "swish", NULL};

static const tn_onnx_field attention_fields[] = {
    TN_FIELD_INT(tn_attention_attr, q_num_heads, "q_num_heads", 0),
    TN_FIELD_INT(tn_attention_attr, kv_num_heads, "kv_num_heads", 0),
    {.name = "scale",
     .kind = TN_ATTR_REAL,
     .offset = offsetof(tn_attention_attr, scale),
     .given = offsetof(tn_attention_attr, has_scale) + 1},
    TN_FIELD_REAL(tn_attention_attr, softcap, "softcap", 0),
    TN_FIELD_BOOL(tn_attention_attr, is_causal, "is_causal", 0),
    TN_FIELD_INT(tn_attention_attr, left_window, "left_window_size", -1),
    TN_FIELD_INT(tn_attention_attr, right_window, "right_window_size", -1),
    TN_FIELD_INT(tn_attention_attr, qk_output_mode, "qk_matmul_output_mode", 0),
    TN_FIELD_DTYPE(tn_attention_attr, softmax_precision, "softmax_precision"),
};
static const tn_onnx_field rotary_fields[] = {
    TN_FIELD_INT(tn_rotary_attr, num_heads, "num_heads", 0),
    TN_FIELD_INT(tn_rotary_attr, rotary_dim, "rotary_embedding_dim", 0),
    TN_FIELD_BOOL(tn_rotary_attr, interleaved, "interleaved", 0),
};
static const tn_onnx_field linear_attention_fields[] = {
    {.name = "q_num_heads", .kind = TN_ATTR_INT, .offset = offsetof(tn_linear_attention_attr, q_num_heads), .required = true},
    {.name = "kv_num_heads", .kind = TN_ATTR_INT, .offset = offsetof(tn_linear_attention_attr, kv_num_heads), .required = true},
    TN_FIELD_ENUM(tn_linear_attention_attr, rule, "update_rule", update_rules, TN_RULE_GATED_DELTA),
    TN_FIELD_REAL(tn_linear_attention_attr, scale, "scale", 0),
    TN_FIELD_SKIP("chunk_size"),
};
static const tn_onnx_field causal_conv_fields[] = {TN_FIELD_CHOICE(tn_causal_conv_attr, silu, "activation", stream_acts, 0)};

static const tn_onnx_row rows[] = {
    {.type = "Attention", .since = 23, .op = &tn_op_attention, TN_FIELDS(attention_fields)},
    {.type = "CausalConvWithState", .since = 27, .op = &tn_op_causal_conv, TN_FIELDS(causal_conv_fields)},
    {.type = "GRU", .since = 1, .op = &tn_op_gru, .map = map_gru},
    {.type = "LinearAttention", .since = 27, .op = &tn_op_linear_attention, TN_FIELDS(linear_attention_fields)},
    {.type = "LSTM", .since = 1, .op = &tn_op_lstm, .map = tn_onnx_map_lstm},
    {.type = "RNN", .since = 1, .op = &tn_op_rnn, .map = map_rnn},
    {.type = "RotaryEmbedding", .since = 23, .op = &tn_op_rotary_embedding, TN_FIELDS(rotary_fields)},
    {0},
};

const tn_onnx_table tn_onnx_seq = {"", rows};
