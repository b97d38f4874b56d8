// SPDX-License-Identifier: Apache-2.0
// Tables for signals: hann_window, hamming_window and blackman_window (size) -> [size]; mel_weight_matrix(num_mel_bins, dft_length,
// sample_rate, lower_edge_hertz, upper_edge_hertz) -> [dft_length / 2 + 1, num_mel_bins]. ONNX opset 17.
// Ownership: const data. Threads: any.
#ifndef TN_OP_WINDOW_H
#define TN_OP_WINDOW_H

#include "ir/op.h"

typedef struct tn_signal_window_attr {
    bool periodic;           // a window of size + 1 without its last element
    tn_dtype dtype;          // of the result
} tn_signal_window_attr;

typedef struct tn_mel_attr { tn_dtype dtype; } tn_mel_attr;

extern const tn_op tn_op_hann_window;
extern const tn_op tn_op_hamming_window;
extern const tn_op tn_op_blackman_window;
extern const tn_op tn_op_mel_weight_matrix;

#endif
