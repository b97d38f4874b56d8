// SPDX-License-Identifier: Apache-2.0
// Packing of weights at prepare, which a program that was started anew does again for every graph: four bytes at a time, sums by vectors.
// Ownership: none. Threads: any.
#ifndef TN_HX_PACK_H
#define TN_HX_PACK_H

#include "exec/hexagon/dsp/vec/hx_kernels.h"

// What one output channel's weights add up to.
typedef struct tn_hx_weight_sums {
    int32_t all, positive;
} tn_hx_weight_sums;

tn_hx_weight_sums tn_hx_weight_sums_of(const int8_t *w, uint32_t n);

// One row of [planes of four][taps] words of a tile, `step` words apart, from w[inner][taps].
void tn_hx_pack_row(uint8_t *to, int32_t step, const int8_t *w, int32_t inner, int32_t taps);

// 128 columns of w[inner][pitch], every byte with 128 added, to words of four rows: [2][steps][64]. The rows beyond inner stay as they are
// (128). sums[128]. w may be read up to the end of each row's 128 bytes only.
void tn_hx_pack_columns(uint8_t *to, int32_t steps, const int8_t *w, int32_t pitch, int32_t inner, tn_hx_weight_sums *sums);

#endif
