// SPDX-License-Identifier: Apache-2.0
// Attention of f32 without the matrix of all scores (the operator is in ops/seq/op_attention.h): an item of work is a block of queries of
// one head, whose scores against a block of keys are made by the tiles of matrix products, become weights where they lie, and are
// multiplied with the values. Heads may lie side by side in a row, so what splits and joins them costs nothing. Rows of bf16 round what is
// multiplied.
// Ownership: parameters live in the plan's arena. Threads: blocks of queries are shared out.
#ifndef TN_ATTENTION_H
#define TN_ATTENTION_H

#include "kernels/gemm/gemm.h"

// Floats from one to the next.
typedef struct tn_attention_steps {
    ptrdiff_t batch, head, row;
} tn_attention_steps;

typedef struct tn_attention_shape {
    const tn_tile_facts *facts;
    int64_t batch, heads, kv_heads, queries, keys;
    int64_t size, value_size;             // of a row of a head
    tn_attention_steps q, k, v, y;
    float scale;
    bool causal;
    int64_t left, right;                  // keys before and after a query that it may see; -1: all
    bool has_mask, mask_bool;
    tn_attention_steps mask;              // in elements; 0 where it is the same for all
    int64_t covered;                      // keys that the mask has
    int64_t query_block, key_block;       // of an item; keys whose scores there are at a time
    tn_gemm scores, weighted;             // all but pointers, and sizes where a block is not whole
    size_t k_floats, v_floats;            // of one head, packed; rows of bf16: elements
    size_t k_at, v_at, slot_at, slot_bytes;   // in the workspace; a slot: scores [query_block][key_block], largest scores, sums of weights; rows
                                              // of bf16: before them rounded queries and weights
    unsigned slots;
} tn_attention_shape;

bool tn_attention_match(const tn_query *query, const char **why);

#define TN_ATTENTION_TIER(tier)                              \
    double tn_attention_cost_##tier(const tn_query *query);  \
    tn_status tn_attention_prepare_##tier(tn_prepare *prepare);

TN_ATTENTION_TIER(portable)
TN_ATTENTION_TIER(avx2)
TN_ATTENTION_TIER(avx512)

double tn_attention_cost_avx512bf16(const tn_query *query);
double tn_attention_cost_amx(const tn_query *query);
tn_status tn_attention_prepare_bf16(tn_prepare *prepare);

#endif
