// SPDX-License-Identifier: Apache-2.0
// Normalisations of f32. A row is what shares a mean and a deviation:
//
//   layer_norm, rms_norm         everything from the axis on; scale (and bias) are vectors as long as the row
//   instance_norm, group_norm    the pixels of the channels of a group; scale and bias are one number a channel
//   batch_norm                   no statistics: each channel has (x - mean) * factor + bias, in any layout
//
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_NORM_H
#define TN_NORM_H

#include "dispatch/kernel.h"
#include "ops/nn/op_norm.h"

typedef struct tn_norm_params {
    int64_t rows, row;        // rows and their floats
    int64_t channels;         // of x (instance, group, batch)
    int64_t members, plane;   // group_norm: channels of a row, pixels of a channel
    int64_t blocks, pixels;   // batch_norm: channel blocks of an image, pixels of a plane
    int block;                // batch_norm: lanes; 1 when plain
    double epsilon;
    bool rms;
    bool stream;              // the result is larger than the caches
} tn_norm_params;

bool tn_norm_match_layer(const tn_query *query, const char **why);
bool tn_norm_match_group(const tn_query *query, const char **why);
bool tn_norm_match_batch(const tn_query *query, const char **why);
tn_status tn_norm_prepare_layer(tn_prepare *prepare);
tn_status tn_norm_prepare_group(tn_prepare *prepare);
tn_status tn_norm_prepare_batch(tn_prepare *prepare);
double tn_norm_cost_portable(const tn_query *query);
double tn_norm_cost_avx2(const tn_query *query);
double tn_norm_cost_avx512(const tn_query *query);

#endif
