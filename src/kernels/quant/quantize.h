// SPDX-License-Identifier: Apache-2.0
// Linear quantisation between f32 and 8-bit integers, bit for bit as the operators say (rounding to nearest, ties to even): one
// scale for all elements, in any layout, or one for each index of an axis, plain. x is seen as rows:
//
//   one scale            pieces of memory
//   axis, inner > 1      a row is what lies inside one index of the axis: one scale
//   axis is the last     a row runs along the axis: a scale for each element
//
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_QUANTIZE_KERNEL_H
#define TN_QUANTIZE_KERNEL_H

#include "dispatch/kernel.h"

#define TN_QUANTIZE_PIECE 4096

typedef struct tn_quantize_params {
    int64_t count;               // elements in memory
    int64_t row;                 // elements of a row (the last may have fewer)
    int64_t rows;
    int64_t scales;              // 1, or the size of the axis
    bool along;                  // a scale for each element of a row
    bool is_signed;              // the integers
} tn_quantize_params;

bool tn_quantize_match(const tn_query *query, const char **why);
bool tn_dequantize_match(const tn_query *query, const char **why);
bool tn_dynamic_quantize_match(const tn_query *query, const char **why);
tn_status tn_quantize_prepare(tn_prepare *prepare);
tn_status tn_dequantize_prepare(tn_prepare *prepare);
tn_status tn_dynamic_quantize_prepare(tn_prepare *prepare);
double tn_quantize_cost_portable(const tn_query *query);
double tn_quantize_cost_avx2(const tn_query *query);
double tn_quantize_cost_avx512(const tn_query *query);

#endif
