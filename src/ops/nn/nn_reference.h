// SPDX-License-Identifier: Apache-2.0
// The reference loops that float and integer operators share. Sums are double: more precise than any float kernel, and exact for
// 8-bit operands, so that one loop serves conv, conv_integer and qlinear_conv (and the products likewise).
// Ownership: borrowed for the call. Threads: each call its own; work is split over call->workers, bits do not depend on it.
#ifndef TN_NN_REFERENCE_H
#define TN_NN_REFERENCE_H

#include "dispatch/kernel.h"
#include "ops/nn/op_conv.h"

typedef struct tn_conv_reference {
    const tn_call *call;                        // prepared by tn_conv_reference_prepare
    const tn_tensor *x, *w;                     // [N, C, spatial...], [M, C / group, kernel...]; transposed: w [C, M / group, kernel...]
    tn_tensor *y;                               // [N, M, out...]
    tn_window window;
    int64_t group;
    bool transposed;
    double x_zero;                              // subtracted from every element of x
    const tn_tensor *w_zero;                    // [1] or [M], subtracted from the weights; NULL: none
    // Turns the sums of `count` results of channel m, y[start ..], into results and stores them.
    void (*store)(const struct tn_conv_reference *reference, int64_t m, int64_t start, int64_t count, double *sums);
    const void *context;
} tn_conv_reference;

tn_status tn_conv_reference_prepare(tn_prepare *prepare);
tn_status tn_conv_reference_run(tn_conv_reference *reference);

#endif
