// SPDX-License-Identifier: Apache-2.0
// Layers that carry a state from call to call: linear_attention(q, k, v, past_state?, decay?, beta?) and
// causal_conv(x, w, bias?, past_state?). ONNX LinearAttention 27, CausalConvWithState 27.
// Ownership: const data. Threads: any.
#ifndef TN_OP_STREAM_H
#define TN_OP_STREAM_H

#include "ir/op.h"

// How the state S [d_k, d_v] follows from the one before, with key k, value v, decay g and rate beta of the step:
//   linear       S + k v^T                    delta        S + beta k (v - S^T k)^T
//   gated        e^g S + k v^T                gated_delta  as delta, from e^g S
enum { TN_RULE_LINEAR, TN_RULE_GATED, TN_RULE_DELTA, TN_RULE_GATED_DELTA };

// q [B, T, Hq * d_k], k [B, T, Hkv * d_k], v [B, T, Hkv * d_v], state [B, Hkv, d_k, d_v], decay [B, T, Hkv * d_k] or [B, T, Hkv],
// beta [B, T, Hkv] or [B, T, 1]. Results: scale * q^T S [B, T, Hq * d_v], the last state.
typedef struct tn_linear_attention_attr {
    int64_t q_num_heads, kv_num_heads;
    int rule;                // TN_RULE_*
    double scale;            // 0: 1 / sqrt(d_k)
} tn_linear_attention_attr;

// x [B, C, L], w [C, 1, K], bias [C], state [B, C, K - 1] (the elements before x; zeros when absent). Results: y [B, C, L], the
// last K - 1 elements.
typedef struct tn_causal_conv_attr { bool silu; } tn_causal_conv_attr;

extern const tn_op tn_op_linear_attention;
extern const tn_op tn_op_causal_conv;

#endif
