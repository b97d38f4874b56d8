// SPDX-License-Identifier: Apache-2.0
// Products of matrices of bytes, the common part of quantised convolutions and matrix products: left [rows][K] times right
// [K][columns], each byte less its zero point. A tile of columns is made into pairs of int16, two k side by side, and so are the rows of
// the left side as they come; sums are in int32, exact modulo 2^32, so that the order of arithmetic does not matter.
//
//   columns   [TILE / step][pairs][step][2] int16, step = two vectors
//   rows      [SLICE][2 * pairs]            int16
//   sums      [rows][TILE]                  int32
//
// Nothing is packed ahead: the left side of a convolution is the weights as the file has them.
// Ownership: none. Threads: const after prepare; each slot has its own workspace.
#ifndef TN_QSUM_H
#define TN_QSUM_H

#include "dispatch/kernel.h"
#include "ops/quant/requantise.h"

#define TN_QSUM_TILE 64      // columns of a tile
#define TN_QSUM_DEPTH 512    // k of a block, even
#define TN_QSUM_SLICE 64     // rows that are widened at a time
#define TN_QSUM_ROWS 256     // rows of a piece of work, at most

// Sums of a row or column to results: the same for all, or one for each.
typedef struct tn_qsum_results {
    const tn_requant *factor;    // NULL: sums are the results, int32
    const int32_t *bias;
    int32_t zero, low, high;
    bool is_signed;              // the results
} tn_qsum_results;

// Bytes of a slot's workspace for this K and at most `rows` rows; a multiple of 64.
size_t tn_qsum_slot_bytes(int64_t k, int64_t rows);

// Rows of a piece of work, so that there are pieces for all threads.
int64_t tn_qsum_rows(int64_t rows, int64_t tiles, unsigned threads);

// Element i of a scale, zero point or bias that may be one for all, or absent (0).
double tn_qsum_at(const tn_tensor *tensor, int64_t i);

// Zero point i as above, of bytes.
static inline int16_t tn_qsum_zero(const tn_tensor *zero, int64_t i)
{
    if (!zero) {
        return 0;
    }
    const uint8_t byte = ((const uint8_t *)zero->data)[tn_tensor_count(zero) == 1 ? 0 : i];
    return (int16_t)(zero->dtype == TN_I8 ? (int8_t)byte : byte);
}

// Factors and biases of `count` results in the plan's arena: scales x, w (one or count of them), y, and a bias or NULL.
tn_status tn_qsum_results_init(tn_prepare *prepare, const tn_qlinear_attr *q, const int scales[3], int zero, int bias, int64_t count,
                               tn_qsum_results *results);

#endif
