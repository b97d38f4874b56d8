// SPDX-License-Identifier: Apache-2.0
// Recurrent layers with ONNX operands: x [T, B, I] (layout 1: [B, T, I]), w, r, b?, lengths?, initial_h?, (lstm: initial_c?, p?).
// Results y?, y_h?, y_c?.
// Ownership: const data. Threads: any.
#ifndef TN_OP_LSTM_H
#define TN_OP_LSTM_H

#include "ir/op.h"

// Activations that the loop program has no code for: alpha * tanh(beta a); a < alpha ? 0 : a; a / (1 + |a|).
enum { TN_RNN_SCALED_TANH = 1000, TN_RNN_THRESHOLDED_RELU, TN_RNN_SOFTSIGN };

enum { TN_RNN_FORWARD, TN_RNN_REVERSE, TN_RNN_BIDIRECTIONAL };
typedef struct tn_rnn_attr {
    int64_t hidden_size, layout;
    int direction;
    bool linear_before_reset, input_forget;
    double clip; bool has_clip;
    // activation of each gate, per direction: lstm f, g, h; gru f, g; rnn f. tn_loop_code or one of the above, -1: the default of
    // the operator.
    // alpha and beta must be given for activations that have them (the importer knows ONNX's defaults)
    int64_t act[6];
    double act_alpha[6], act_beta[6];
} tn_rnn_attr;

extern const tn_op tn_op_lstm;
extern const tn_op tn_op_gru;
extern const tn_op tn_op_rnn;

#endif
