// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution in f32 on channel blocks (group = C, one output channel each): what the rows of all tiers share.
//   x [n][block][ih][iw][L]   w packed [block][kh][kw][L]   y [n][block][oh][ow][L]
// Ownership: borrows everything; parameters live in the plan's arena. Threads: any.
#ifndef TN_DWCONV_H
#define TN_DWCONV_H

#include "dispatch/kernel.h"
#include "kernels/conv/conv.h"

typedef struct tn_dwconv {
    tn_conv_shape s;             // 2-D
    int block;                   // L
    int64_t blocks;
    tn_act act;                  // CONST where low and high say it all
    float low, high;
    bool below, ask;             // x, y do not stay in the second-level cache
} tn_dwconv;

// The tensors of one call.
typedef struct tn_dwconv_call {
    const tn_dwconv *d;
    const void *x, *residual;    // floats, or bf16 in NCHW32B, as y
    const float *w, *bias;
    void *y;
    int64_t x_rows, x_first;     // rows from block to block of x, and the row of the picture that each block of x begins with
    int64_t x_block;             // that x begins with
    int64_t y_rows, y_first;     // as of x
} tn_dwconv_call;

// Computes rows oh0 .. oh1 - 1 of channel block `block` of image n.
typedef void (*tn_dwconv_rows)(const tn_dwconv_call *call, int64_t n, int64_t block, int64_t oh0, int64_t oh1);

bool tn_dwconv_match(const tn_query *query, const char **why);
tn_status tn_dwconv_prepare(tn_prepare *prepare);
void tn_dwconv_pack(void *dst, const tn_query *query, const void *params);   // operand 1; params: tn_dwconv
tn_status tn_dwconv_run(const tn_call *call, tn_dwconv_rows rows);
double tn_dwconv_cost_avx512bf16(const tn_query *query);
double tn_dwconv_cost_avx512(const tn_query *query);
double tn_dwconv_cost_avx2(const tn_query *query);
double tn_dwconv_cost_portable(const tn_query *query);

// With a pointwise convolution behind it, or before it (tn_op_conv_pair, dwconv_pair.c).
bool tn_dwconv_pair_match(const tn_query *query, const char **why);
double tn_dwconv_pair_cost_avx2(const tn_query *query);
tn_status tn_dwconv_pair_prepare_avx2(tn_prepare *prepare);
bool tn_expand_pair_match(const tn_query *query, const char **why);
double tn_expand_pair_cost_avx2(const tn_query *query);
tn_status tn_expand_pair_prepare_avx2(tn_prepare *prepare);
tn_status tn_dwconv_pair_run(const tn_call *call, tn_dwconv_rows rows, const tn_tiles *tiles);

#endif
