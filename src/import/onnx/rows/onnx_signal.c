// SPDX-License-Identifier: Apache-2.0
// Signals: transforms and windows.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/signal/op_fourier.h"
#include "ops/signal/op_window.h"

#include <stddef.h>

static const tn_onnx_field dft_fields[] = {
    TN_FIELD_BOOL(tn_dft_attr, inverse, "inverse", 0),
    TN_FIELD_BOOL(tn_dft_attr, onesided, "onesided", 0),
};
static const tn_onnx_field stft_fields[] = {TN_FIELD_BOOL(tn_stft_attr, onesided, "onesided", 1)};
static const tn_onnx_field window_fields[] = {
    TN_FIELD_BOOL(tn_signal_window_attr, periodic, "periodic", 1),
    {.name = "output_datatype", .kind = TN_ATTR_DTYPE, .offset = offsetof(tn_signal_window_attr, dtype), .number = TN_F32},
};
static const tn_onnx_field mel_fields[] = {
    {.name = "output_datatype", .kind = TN_ATTR_DTYPE, .offset = offsetof(tn_mel_attr, dtype), .number = TN_F32},
};

// Until opset 19 the axis was an attribute.
static void map_old_dft(tn_onnx_node *node)
{
    tn_onnx_set_in(node, 2, tn_onnx_const_int(node, tn_onnx_int(node, "axis", 1)));
    tn_onnx_plain(node);
}

static const tn_onnx_row rows[] = {
    {.type = "BlackmanWindow", .since = 17, .op = &tn_op_blackman_window, TN_FIELDS(window_fields)},
    {.type = "DFT", .since = 17, .until = 19, .max_in = 2, .op = &tn_op_dft, .map = map_old_dft, TN_FIELDS(dft_fields)},
    {.type = "DFT", .since = 20, .op = &tn_op_dft, TN_FIELDS(dft_fields)},
    {.type = "HammingWindow", .since = 17, .op = &tn_op_hamming_window, TN_FIELDS(window_fields)},
    {.type = "HannWindow", .since = 17, .op = &tn_op_hann_window, TN_FIELDS(window_fields)},
    {.type = "MelWeightMatrix", .since = 17, .op = &tn_op_mel_weight_matrix, TN_FIELDS(mel_fields)},
    {.type = "STFT", .since = 17, .op = &tn_op_stft, TN_FIELDS(stft_fields)},
    {0},
};

const tn_onnx_table tn_onnx_signal = {"", rows};
