// SPDX-License-Identifier: Apache-2.0
// Linear resizing of bytes in integers (ops/vision/op_qresize.h), bit for bit what the operator says. A row of x is spread along its width
// once and kept, as sums with 11 bits of fraction, while result rows lie between it and a neighbour:
//
//      bytes of x  --pairs of bytes times pairs of weights-->  kept rows [2][width]  --between two, requantised-->  result row
//
// The pairs of eight results are picked from 16 neighbouring bytes, where those hold them.
// Ownership: tables live in the plan's arena. Threads: const after prepare.
#ifndef TN_QRESIZE_KERNEL_H
#define TN_QRESIZE_KERNEL_H

#include "dispatch/kernel.h"
#include "ops/vision/op_qresize.h"

#define TN_QRESIZE_WINDOW 16      // bytes
#define TN_QRESIZE_GROUP 8        // results of a window

typedef struct tn_qresize_params {
    int64_t planes, height_in, width_in, height, width;
    int64_t kept;                 // words of a kept row: whole vectors of any tier
    const int32_t *starts;        // [kept / 8]: first byte of a window; NULL: some result's pair is not in it
    const uint8_t *picks;         // [kept][2]: places in the window
    const int16_t *weights;       // [kept][2]
    tn_requant factor;
    int32_t x_zero, y_zero, low, high;
    bool is_signed, to_signed;    // x, y
    size_t slot_bytes;            // scratch of a thread
} tn_qresize_params;

bool tn_qresize_match(const tn_query *query, const char **why);
tn_status tn_qresize_prepare(tn_prepare *prepare);
double tn_qresize_cost_portable(const tn_query *query);
double tn_qresize_cost_avx2(const tn_query *query);
double tn_qresize_cost_avx512(const tn_query *query);

#endif
