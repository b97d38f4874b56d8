// SPDX-License-Identifier: Apache-2.0
// Recurrent layers with ONNX operands: x [T, B, I] (layout 1: [B, T, I]), w, r, b?, lengths?, initial_h?, (lstm: initial_c?, p?). Results y?, y_h?, y_c?.
// Ownership: const data. Threads: any.
#ifndef TN_OP_LSTM_H
#define TN_OP_LSTM_H

#include "ir/op.h"

enum { TN_RNN_FORWARD, TN_RNN_REVERSE, TN_RNN_BIDIRECTIONAL };
typedef struct tn_rnn_attr {
    int64_t hidden_size, layout;
    int direction;
    bool linear_before_reset, input_forget;
    double clip; bool has_clip;
    // activation of each gate, per direction: lstm f, g, h; gru f, g; rnn f. tn_loop_code, -1: the default of the operator
    int64_t act[6];
    double act_alpha[6], act_beta[6];
} tn_rnn_attr;

extern const tn_op tn_op_lstm;
extern const tn_op tn_op_gru;
extern const tn_op tn_op_rnn;

#endif
