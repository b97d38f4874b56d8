// SPDX-License-Identifier: Apache-2.0
// What the quantised operators share: their common attributes, and factors of base/requant.h from the scales that a graph holds. The
// same numbers go to the references, to the CPU's kernels and over the wire to a DSP.
// Ownership: plain values. Threads: any.
#ifndef TN_REQUANTISE_H
#define TN_REQUANTISE_H

#include "base/requant.h"
#include "ir/op.h"

// How results are rounded, and the least and greatest they may be, in integers of the result's type (an activation that was folded
// in). Beyond the type's own range: no bound.
typedef struct tn_qlinear_attr {
    int rounding;             // tn_rounding
    int64_t low, high;
} tn_qlinear_attr;

#define TN_QLINEAR_DEFAULTS {.rounding = TN_ROUND_FLOAT_RNE, .low = INT16_MIN, .high = INT16_MAX}

extern const char *const tn_rounding_texts[];

// Rows for an attribute list of a struct with a field of this type.
#define TN_QLINEAR_ATTRS(type, field)                                                \
    {"rounding", TN_ATTR_ENUM, offsetof(type, field.rounding), tn_rounding_texts},   \
    {"low", TN_ATTR_INT, offsetof(type, field.low), NULL},                           \
    {"high", TN_ATTR_INT, offsetof(type, field.high), NULL}

// The bounds that hold for results of a byte type or int16.
void tn_qlinear_range(const tn_qlinear_attr *attr, tn_dtype dtype, int32_t *low, int32_t *high);

// Of x_scale * w_scale / y_scale. Scales that are no positive finite numbers give a factor of 0 (fixed_q31) or what float32 makes of
// them (float_rne).
tn_requant tn_requant_factor(int rounding, float x_scale, float w_scale, float y_scale);

// Of a mean of n elements.
tn_requant tn_requant_mean(int rounding, float x_scale, float y_scale, int64_t n);

// multiplier and shift of fixed_q31 for any factor; 0 for what is not positive or too small, the largest for what is too large.
tn_requant tn_requant_fixed(double factor);

// Factors of a sum, and (fixed_q31) of a product when `product`. Zeros and bounds are left alone.
void tn_requant_pair_scales(tn_requant_pair *pair, int rounding, float a_scale, float b_scale, float y_scale, bool product);

// For 16 bits: as tn_requant_pair_scales; and of x_scale * w_scale / y_scale for sums that lost `down` bits.
void tn_wide_pair_scales(tn_requant_pair *pair, int rounding, float a_scale, float b_scale, float y_scale, bool product);
tn_requant tn_wide_factor(int rounding, float x_scale, float w_scale, float y_scale, int down);

// Bits that sums of at most `most` (absolute, at most 2^62) lose on the way to 32.
int tn_wide_down(uint64_t most);

// exp(-scale * d) * 2^23 for the distances d = 0 .. 255 from the largest value, and 2^16 / y_scale. Below TN_SOFTMAX_LEAST the latter is
// cut: only large parts come out right, and graphs keep their softmax in floats.
#define TN_SOFTMAX_LEAST (1.0F / 32768)
void tn_softmax_table(float x_scale, float y_scale, uint32_t table[256], uint32_t *inverse);

#endif
