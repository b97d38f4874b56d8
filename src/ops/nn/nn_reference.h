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
    // [N, C, spatial...], [M, C / group, kernel...]; transposed: w [C, M / group, kernel...]
    const tn_tensor *x, *w;
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

// One side of a product of matrices.
typedef struct tn_factor {
    const tn_tensor *tensor;
    tn_shape stack;                             // batch dims, then one dim: the elements of a matrix
    int64_t row, col;                           // steps between rows and columns, transposition done
    const tn_tensor *zero;                      // subtracted: one for all, or for each row (of a) or column (of b); NULL: none
    tn_shape zero_stack;                        // as stack, for zero
} tn_factor;

// y[batch] = a[batch] [m, k] times b[batch] [k, n] (numpy matmul), by the same kind of loop.
typedef struct tn_product {
    const tn_call *call;                        // prepared by tn_product_prepare
    tn_factor a, b;
    tn_tensor *y;
    tn_shape stack;                             // batch dims of y, then m * n
    int64_t batch, m, n, k;
    // Turns the sums of `count` results in row `row` of matrix `batch`, from column `col` on, into results and stores them.
    void (*store)(const struct tn_product *product, int64_t batch, int64_t row, int64_t col, int64_t count, double *sums);
    const void *context;
} tn_product;

// infer of everything that multiplies matrices (not dtypes): operands a and b, the result's shape.
tn_status tn_matmul_infer(const tn_infer *infer, int a, int b, bool trans_a, bool trans_b, tn_shape *y);

// Sets all but call, store and context from shapes that infer has checked. zero_a and zero_b may be NULL.
void tn_product_set(tn_product *product, const tn_tensor *a, bool trans_a, const tn_tensor *zero_a, const tn_tensor *b,
                    bool trans_b, const tn_tensor *zero_b, tn_tensor *y);
// Where matrix `batch` of a stack (as in tn_factor) begins.
int64_t tn_product_offset(const tn_product *product, const tn_shape *stack, int64_t batch);
tn_status tn_product_prepare(tn_prepare *prepare);
tn_status tn_product_run(tn_product *product);

#endif
