// SPDX-License-Identifier: Apache-2.0
// Comparing tensors by the rule of case.h.
// Ownership: none. Threads: any.
#include "support/compare.h"

#include <math.h>
#include <string.h>

// As a float tensor with f32 values holds them: the largest finite number, past which a result may round to infinity.
#define TN_F32_LARGEST 3.4028234663852886e38

static double scale_of(const tn_tensor *want, int64_t count)
{
    double sum = 0;
    int64_t finite = 0;
    for (int64_t i = 0; i < count; i++) {
        const double v = tn_dtype_load(want->dtype, want->data, (size_t)i);
        if (isfinite(v)) {
            sum += v * v;
            finite++;
        }
    }
    return finite ? sqrt(sum / (double)finite) : 0;
}

static bool same_element(const tn_tensor *got, const tn_tensor *want, int64_t i)
{
    const size_t size = tn_dtype_bytes(want->dtype), at = (size_t)i * size;
    return memcmp((const char *)got->data + at, (const char *)want->data + at, size) == 0;
}

// An infinity is as good as a value so large that the error allowed reaches past the largest finite number.
static double finite_part(double v, double allowed)
{
    return isinf(v) && allowed > 0 ? copysign(TN_F32_LARGEST, v) : v;
}

static bool close_enough(double got, double want, double allowed)
{
    if (isnan(got) || isnan(want)) {
        return isnan(got) && isnan(want);
    }
    if (isinf(got) != isinf(want)) {
        return fabs(finite_part(got, allowed) - finite_part(want, allowed)) <= allowed;
    }
    return got == want || fabs(got - want) <= allowed;
}

bool tn_compare(const tn_tensor *got, const tn_tensor *want, double rel, double abs, bool special, tn_difference *worst)
{
    const int64_t count = tn_tensor_count(want);
    const bool number = tn_dtype_is_float(want->dtype) || tn_dtype_is_int(want->dtype) || want->dtype == TN_BOOL;
    const double scale = number && rel > 0 && !special ? scale_of(want, count) : 0;
    double excess = -1;
    *worst = (tn_difference){.index = -1};
    for (int64_t i = 0; i < count; i++) {
        if (same_element(got, want, i)) {
            continue;
        }
        const double g = tn_dtype_load(got->dtype, got->data, (size_t)i), w = tn_dtype_load(want->dtype, want->data, (size_t)i);
        const double size = isfinite(w) ? fabs(w) : TN_F32_LARGEST;
        const double allowed = abs + rel * fmax(size, scale);
        const bool integers = !tn_dtype_is_float(want->dtype);
        if (number && (!integers || allowed > 0) && close_enough(g, w, allowed)) {
            continue;
        }
        worst->count++;
        const double over = isfinite(g) && isfinite(w) ? fabs(g - w) - allowed : INFINITY;
        if (over > excess) {
            excess = over;
            worst->index = i;
            worst->got = g;
            worst->want = w;
            worst->allowed = allowed;
        }
    }
    return worst->count == 0;
}
