// SPDX-License-Identifier: Apache-2.0
// Quantised convolution on the CPU, plain layout. Sums are made of pairs of 16-bit products, as every vector unit has them:
//
//   columns   [K / 2][TN_QCONV_TILE][2] int16: the x - x_zero under tile pixels, two of the K = C / group * kernel side by side
//   weights   [M][K / 2][2]             int16: w - w_zero, packed once; depthwise [M][K], no pairs
//
// Sums are exact modulo 2^32, so that the order of arithmetic does not matter and the reference's bits are met.
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_QCONV_KERNEL_H
#define TN_QCONV_KERNEL_H

#include "dispatch/kernel.h"
#include "ops/quant/op_qlinear.h"

#define TN_QCONV_TILE 64      // output pixels
#define TN_QCONV_BLOCK 4      // result channels whose sums are in registers at a time
#define TN_QCONV_SLICE 64     // result channels of a piece of work

typedef struct tn_qconv_params {
    tn_window w;              // widened to three dims, the first of which is 1
    int64_t group, cg, mg;    // channels of a group on each side
    int64_t taps, k, pairs;
    int64_t m;
    bool depthwise;           // one channel of x in a group, and few taps
    int64_t rows, phase;      // depthwise: rows of a padded plane that windows reach, columns of one phase of the stride
    bool x_signed;
    int32_t x_zero, y_zero, low, high;
    const tn_requant *factor; // m
    const int32_t *bias;      // m
    size_t slot_bytes;
} tn_qconv_params;

bool tn_qconv_match(const tn_query *query, const char **why);
tn_status tn_qconv_prepare(tn_prepare *prepare);
double tn_qconv_cost_portable(const tn_query *query);
double tn_qconv_cost_avx2(const tn_query *query);
double tn_qconv_cost_avx512(const tn_query *query);

#endif
