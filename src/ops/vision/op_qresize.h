// SPDX-License-Identifier: Apache-2.0
// Linear resizing of quantised pictures, bytes or int16 without zero points: four neighbours, weighed in integers, requantised once.
// Ownership: const data. Threads: any.
#ifndef TN_OP_QRESIZE_H
#define TN_OP_QRESIZE_H

#include "ops/quant/requantise.h"
#include "ops/vision/op_resize.h"

#define TN_QRESIZE_BITS 11                        // of fraction of a weight: 255 * 2^22 leaves a bit of 32 for the sign
#define TN_QRESIZE_ONE (1 << TN_QRESIZE_BITS)

// Of int16, which have more steps for weights to move (base/requant.h).
#define TN_QRESIZE_ONE_OF(dtype) ((dtype) == TN_I16 ? TN_WIDE_WEIGHT : TN_QRESIZE_ONE)

// x [N, C, H, W], x_scale, x_zero?, y_scale, y_zero?, rows [h, 3], columns [w, 3] (int32) -> y [N, C, h, w] of y_zero's type, that of x
// without one. For each row (column) of the result: the two that it lies between, and the weight of the second in 1 / TN_QRESIZE_ONE.
// y = clamp(requant(sum of four (x - x_zero) * weight) + y_zero), sums exact. Of int16: tn_wide_across, tn_wide_between.
extern const tn_op tn_op_qlinear_resize;

// Of the sums; dtype: of x.
tn_requant tn_qresize_factor(int rounding, tn_dtype dtype, float x_scale, float y_scale);

// Whether two rows (columns) and a weight say all of an axis that a resize in floats reads so.
bool tn_qresize_fits(const tn_resize_attr *attr, const tn_resize_table *table);

// words: [resized, 3], from a filled table of an axis that fits; one: the weight of 1.
void tn_qresize_words(const tn_resize_table *table, int32_t one, int32_t *words);

// Whether every place that a constant table, of any alignment, names is there.
bool tn_qresize_good(const void *words, int32_t one, int64_t resized, int64_t length);

#endif
