// SPDX-License-Identifier: Apache-2.0
// Factors of quantised operators from scales (requantise.h). Sources: ONNX QLinearConv for float_rne; the reference kernels of TensorFlow
// Lite for what fixed_q31 means (quantized_multiplier, add and average pool).
// Ownership: plain values. Threads: any.
#include "ops/quant/requantise.h"

#include "base/macros.h"
#include "ir/dtype.h"

#include <math.h>

const char *const tn_rounding_texts[] = {"float_rne", "fixed_q31", NULL};

void tn_qlinear_range(const tn_qlinear_attr *attr, tn_dtype dtype, int32_t *low, int32_t *high)
{
    const int64_t least = dtype == TN_I8 ? INT8_MIN : dtype == TN_I16 ? INT16_MIN : 0;
    const int64_t most = dtype == TN_I8 ? INT8_MAX : dtype == TN_I16 ? INT16_MAX : UINT8_MAX;
    *low = (int32_t)TN_MIN(TN_MAX(attr->low, least), most);
    *high = (int32_t)TN_MAX(TN_MIN(attr->high, most), least);
}

tn_requant tn_requant_fixed(double factor)
{
    tn_requant r = {.rounding = TN_ROUND_FIXED_Q31};
    int shift = 0;
    if (!(factor > 0) || !isfinite(factor)) {
        return r;
    }
    int64_t whole = llrint(frexp(factor, &shift) * 2147483648.0);
    if (whole == INT64_C(1) << 31) {
        whole /= 2;
        shift++;
    }
    if (shift < -31) {
        return r;
    }
    r.multiplier = shift > 30 ? INT32_MAX : (int32_t)whole;
    r.shift = TN_MIN(shift, 30);
    return r;
}

tn_requant tn_requant_factor(int rounding, float x_scale, float w_scale, float y_scale)
{
    if (rounding == TN_ROUND_FIXED_Q31) {
        return tn_requant_fixed((double)x_scale * w_scale / y_scale);
    }
    return (tn_requant){.rounding = TN_ROUND_FLOAT_RNE, .scale = x_scale * w_scale / y_scale};
}

tn_requant tn_requant_mean(int rounding, float x_scale, float y_scale, int64_t n)
{
    if (rounding == TN_ROUND_FIXED_Q31) {
        return tn_requant_fixed((double)x_scale / ((double)y_scale * (double)n));
    }
    return (tn_requant){.rounding = TN_ROUND_FLOAT_RNE, .scale = x_scale / y_scale / (float)n};
}

static void pair_scales(tn_requant_pair *pair, int rounding, float a_scale, float b_scale, float y_scale, bool product, int up)
{
    // Operands are brought to twice the larger scale, so that both factors are at most 1/2 and their sum cannot overflow.
    const double common = 2.0 * (double)TN_MAX(a_scale, b_scale);
    pair->rounding = rounding;
    pair->a_scale = a_scale;
    pair->b_scale = b_scale;
    pair->y_scale = y_scale;
    pair->a = tn_requant_fixed(a_scale / common);
    pair->b = tn_requant_fixed(b_scale / common);
    pair->y = product ? tn_requant_fixed((double)a_scale * b_scale / y_scale)
                      : tn_requant_fixed(common / ((double)(1 << up) * y_scale));
}

void tn_requant_pair_scales(tn_requant_pair *pair, int rounding, float a_scale, float b_scale, float y_scale, bool product)
{
    pair_scales(pair, rounding, a_scale, b_scale, y_scale, product, TN_REQUANT_UP);
}

void tn_wide_pair_scales(tn_requant_pair *pair, int rounding, float a_scale, float b_scale, float y_scale, bool product)
{
    pair_scales(pair, rounding, a_scale, b_scale, y_scale, product, TN_WIDE_UP);
}

int tn_wide_down(uint64_t most)
{
    int down = 0;
    while (down < 32 && (most + ((UINT64_C(1) << down) >> 1)) >> down > INT32_MAX) {
        down++;
    }
    return down;
}

tn_requant tn_wide_factor(int rounding, float x_scale, float w_scale, float y_scale, int down)
{
    if (rounding == TN_ROUND_FIXED_Q31) {
        return tn_requant_fixed((double)x_scale * w_scale / y_scale * (double)(UINT64_C(1) << down));
    }
    return (tn_requant){.rounding = TN_ROUND_FLOAT_RNE, .scale = x_scale * w_scale / y_scale * (float)(UINT64_C(1) << down)};
}

void tn_softmax_table(float x_scale, float y_scale, uint32_t table[256], uint32_t *inverse)
{
    for (int d = 0; d < 256; d++) {
        const double e = exp(-(double)x_scale * d) * TN_SOFTMAX_ONE;
        table[d] = e >= 0 && e <= TN_SOFTMAX_ONE ? (uint32_t)(e + 0.5) : 0;
    }
    const double one = 65536.0 / (double)y_scale;
    *inverse = one >= 4294967295.0 ? UINT32_MAX : one >= 0 ? (uint32_t)(one + 0.5) : 0;
}
