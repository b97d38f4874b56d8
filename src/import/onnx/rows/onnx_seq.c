// SPDX-License-Identifier: Apache-2.0
// Recurrent layers. Activations are names in the file and loop codes in our attributes, with the parameters of each.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "loop/loop.h"
#include "ops/seq/op_lstm.h"

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

static const char *const directions[] = {"forward", "reverse", "bidirectional", NULL};   // TN_RNN_FORWARD ...

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
    tn_onnx_find(node, "output_sequence");   // opset 1: whether Y is wanted, which the results say too
    fill_activations(node, &attr, gates);
    tn_onnx_finish(node, op, &attr, node->in, node->n_in);
}

static void map_lstm(tn_onnx_node *node)
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

static const tn_onnx_row rows[] = {
    {.type = "GRU", .since = 1, .map = map_gru},
    {.type = "LSTM", .since = 1, .map = map_lstm},
    {.type = "RNN", .since = 1, .map = map_rnn},
    {0},
};

const tn_onnx_table tn_onnx_seq = {"", rows};
