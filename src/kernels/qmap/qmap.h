// SPDX-License-Identifier: Apache-2.0
// Quantised operators that move more than they compute: sums, differences and products of two, tables, averages, and maxima of bytes.
// All are bit for bit what the operators say, in both roundings.
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_QMAP_KERNEL_H
#define TN_QMAP_KERNEL_H

#include "dispatch/kernel.h"
#include "ops/nn/op_conv.h"
#include "ops/quant/requantise.h"

#define TN_QMAP_PIECE 4096

typedef struct tn_qpair_job {
    tn_requant_pair pair;
    int kind;                 // TN_QPAIR_*
    bool is_signed;
    bool plain;               // scales of a kind that only the scalar form is right for
    int64_t rows, row;        // as tn_walk gives them
    int64_t pieces;           // of a row
} tn_qpair_job;

enum { TN_QPAIR_ADD, TN_QPAIR_SUB, TN_QPAIR_MUL };

typedef struct tn_qpool_params {
    tn_window w;              // widened; a global average: the window is the whole plane
    bool max, is_signed, with_pads;
    int rounding;
    float x_scale, y_scale;
    int32_t x_zero, y_zero, low, high;
    int64_t planes;
    size_t slot_bytes;
} tn_qpool_params;

bool tn_qpair_match(const tn_query *query, const char **why);
bool tn_qpool_match(const tn_query *query, const char **why);
bool tn_qpool_max_match(const tn_query *query, const char **why);
tn_status tn_qpair_prepare(tn_prepare *prepare);
tn_status tn_qpool_prepare(tn_prepare *prepare);
tn_status tn_qpool_max_prepare(tn_prepare *prepare);

#define TN_QMAP_TIER(tier)                            \
    double tn_qpair_cost_##tier(const tn_query *query); \
    double tn_qpool_cost_##tier(const tn_query *query);
TN_QMAP_TIER(portable)
TN_QMAP_TIER(avx2)
TN_QMAP_TIER(avx512)

#endif
