// SPDX-License-Identifier: Apache-2.0
// attention: scaled dot products of q [B, Hq, L, D], k [B, Hkv, S, D], v [B, Hkv, S, Dv] (or rank 3: [B, L, H * D]), mask?,
// past_key?, past_value?, nonpad_kv_seqlen?. rotary_embedding: x, cos, sin, position_ids?. ONNX Attention 25, RotaryEmbedding 23.
// Ownership: const data. Threads: any.
#ifndef TN_OP_ATTENTION_H
#define TN_OP_ATTENTION_H

#include "ir/op.h"

// What the fourth result of attention shows: products, after softcap, after the mask, after softmax.
enum { TN_QK_RAW, TN_QK_CAPPED, TN_QK_BIASED, TN_QK_SOFTMAX };

// Results: y (rank of q), present_key?, present_value? (rank 4), qk? [B, Hq, L, past + S].
typedef struct tn_attention_attr {
    int64_t q_num_heads, kv_num_heads;      // of rank 3 operands
    double scale; bool has_scale;           // 1 / sqrt(D) when not given
    double softcap;                         // 0: none
    bool is_causal;
    int64_t left_window, right_window;      // keys before and after a query that it may see; -1: all
    int64_t qk_output_mode;                 // TN_QK_*
    tn_dtype softmax_precision;
} tn_attention_attr;

typedef struct tn_rotary_attr {
    int64_t num_heads;                      // of rank 3 operands
    int64_t rotary_dim;                     // elements of a head that turn; 0: all
    bool interleaved;                       // pairs are neighbours, not halves
} tn_rotary_attr;

extern const tn_op tn_op_attention;
extern const tn_op tn_op_rotary_embedding;

#endif
