// SPDX-License-Identifier: Apache-2.0
// Recurrent layers (lstm, gru) in f32, or with weights of bf16: what the rows of all tiers share.
//
// Columns of w and r are the gates' outputs, ordered so that one vector per gate holds all gates of V hidden units:
//      [hidden unit / V][gate][V]          padded with zeros to whole vectors of units
//   1. inputs [steps * batch][columns] = x w' + bias: one matrix product for all steps
//   2. at each step, for each V units: recurrent = h r' for all gates, then the cell at once
// A gru that resets before the product (linear_before_reset 0) has two parts of step 2, as gate h needs r h of all units:
//      gates z, r [unit / V][2][V], then gate h [unit / V][V], each in groups of four vectors
// r is larger than the second-level cache in many nets. Odd steps take its groups from last to first, so that what the step before read
// last is read first.
// Rows of bf16 keep r as pairs, [hidden unit / V][k / 2][gate][V][2], take one sequence, and no gru in two parts; w is packed for
// kernels/bgemm. Joint pairs are multiplied as floats: the even number of k is the pair moved up by 16 bits, the odd one the pair as it is, whose
// upper half is rounded so that both halves together are nearest to it.
// Ownership: borrows everything; parameters live in the plan's arena. Threads: any.
#ifndef TN_RNN_H
#define TN_RNN_H

#include "kernels/bgemm/bgemm.h"
#include "kernels/gemm/gemm.h"
#include "ops/seq/op_lstm.h"

typedef struct tn_rnn {
    const tn_tile_facts *facts;
    int64_t steps, batch, inputs, hidden, directions;
    int gates;
    bool split;                  // gru that resets before the product
    bool batch_first;            // x, y [batch, steps, ...], states [batch, directions, ...]
    bool backward;               // of the first direction; the second one is
    int64_t units;               // vectors of hidden units
    int64_t columns;             // units * gates * V
    ptrdiff_t h_row;             // floats of a state: units * V
    bool has_bias;
    tn_gemm gemm;                // of step 1 for one direction
    bool bf16;                   // instead of gemm:
    tn_bgemm product;            // its workspace comes first
    size_t w_elements;           // of one direction, packed
    size_t r_bytes;              // of an element of r
    int64_t r_steps;             // of k that r has: pairs are whole
    bool joint;                  // pairs are
    size_t inputs_at, h_at, c_at, reset_at;
} tn_rnn;

// The cell of one sequence for V units. inputs, recurrent: a vector per gate. h, c: the state before, replaced by the state after.
typedef void (*tn_rnn_cell)(const float *inputs, const float *recurrent, const float *h_before, float *h, float *c);

typedef struct tn_rnn_isa {
    const tn_tiles *tiles;
    const tn_btiles *btiles;     // rows of bf16
    tn_rnn_cell lstm, gru, reset, update;
    // to[groups][q][V] = bias + h[k] r, for 1 or 2 groups [k][q][V], of bf16 [k / 2][q][V][2]; bias NULL: none.
    void (*product)(float *to, const float *h, const void *r, int64_t k, const float *bias, int q, int groups);
} tn_rnn_isa;

bool tn_rnn_match(const tn_query *query, const char **why);
tn_status tn_rnn_run(const tn_call *call, const tn_rnn_isa *isa);

bool tn_rnn_match_bf16(const tn_query *query, const char **why);
double tn_rnn_cost_bf16_avx512bf16(const tn_query *query);
double tn_rnn_cost_bf16_amx(const tn_query *query);
tn_status tn_rnn_prepare_bf16(tn_prepare *prepare);
tn_status tn_rnn_prepare_joint(tn_prepare *prepare);   // joint pairs

#define TN_RNN_TIER(tier)                               \
    double tn_rnn_cost_##tier(const tn_query *query);   \
    tn_status tn_rnn_prepare_##tier(tn_prepare *prepare);

TN_RNN_TIER(avx512)
TN_RNN_TIER(avx2)
TN_RNN_TIER(portable)

#endif
