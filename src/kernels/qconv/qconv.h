// SPDX-License-Identifier: Apache-2.0
// Convolution of bytes on the CPU, plain layout: qlinear_conv and conv_integer.
//
//   general     the weights [M][C / group * taps] times the pixels under a tile's windows, by kernels/qgemm/qsum.h; constant
//               weights without a zero point are packed by fours (qquad.h) where the tier multiplies bytes
//   depthwise   plane by plane: rows 2r and 2r + 1 lie as pairs, [phase of the stride][r][column], so that a pair of taps below each other
//               is one product; with stride 1 the same pairs serve two rows of results, with the weights a row further down for the second
//
// Windows read a padded copy of x whose columns are dealt to `stride` phases, [rows][stride][phase], so that every tap reads neighbours;
// a window of one tap without pads or strides reads x itself. Zero points may be known in the run only, weights too.
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_QCONV_KERNEL_H
#define TN_QCONV_KERNEL_H

#include "kernels/qgemm/qquad.h"
#include "kernels/qgemm/qsum.h"
#include "ops/quant/op_qlinear.h"

#define TN_QCONV_MAX_TAPS 256     // of a depthwise window

typedef struct tn_qconv_params {
    tn_window w;                  // widened to three dims, the first of which is 1
    int64_t group, cg, mg;        // channels of a group on each side
    int64_t taps, k, m;
    bool depthwise;               // one channel of x in a group, strides 1 or 2 down, no dilation down, and few taps
    bool flat;                    // x is read as it lies
    int64_t rows, phase, plane;   // of the padded copy: rows that windows reach, columns of a phase, elements of a plane
    const int64_t *reach;         // taps: where each lies from the window's first element in the copy; depthwise: pairs of taps, in pairs
    int64_t sets;                 // depthwise: rows of results of a row of pairs
    int64_t pair_taps, pair_rows, positions;   // pairs of taps; rows of pairs; first elements of windows, with what lies between rows
    int x_zero, weights, w_zero;  // operands
    bool x_signed;
    size_t copy_bytes;            // general: of the copy of x, which comes first in the workspace
    size_t slot_bytes;
    tn_qsum_results results;
    bool packed;                  // weights by fours
    tn_qquads quads;
} tn_qconv_params;

bool tn_qconv_match(const tn_query *query, const char **why);
bool tn_conv_integer_match(const tn_query *query, const char **why);
tn_status tn_qconv_prepare(tn_prepare *prepare);
tn_status tn_conv_integer_prepare(tn_prepare *prepare);

#define TN_QCONV_TIER(tier) double tn_qconv_cost_##tier(const tn_query *query);
TN_QCONV_TIER(portable)
TN_QCONV_TIER(avx2)
TN_QCONV_TIER(avx512)
TN_QCONV_TIER(vnni)

#endif
