// SPDX-License-Identifier: Apache-2.0
// Folding runs of floats to one number: what reductions, normalisations and softmax share. Four vectors take turns, so that no
// addition waits for the one before it; sums of long runs go on in double after every TN_FOLD_RUN floats. The order of additions
// depends on the length only.
// Ownership: none. Threads: any.
#ifndef TN_VEC_FOLD_H
#define TN_VEC_FOLD_H

#include "kernels/simd/fold.h"
#include "kernels/simd/vec.h"

#define TN_FOLD_RUN 4096

TN_INLINE float tn_fold_first(tn_fold kind)
{
    return kind == TN_FOLD_MAX ? -INFINITY : kind == TN_FOLD_MIN ? INFINITY : kind == TN_FOLD_PROD ? 1.0f : 0.0f;
}

// One more element in each lane.
TN_INLINE tn_vf tn_fold_step(tn_fold kind, tn_vf sum, tn_vf x, tn_vf about)
{
    switch (kind) {
    case TN_FOLD_ABS:
        return tn_vf_add(sum, tn_vf_abs(x));
    case TN_FOLD_SQUARE:
        x = tn_vf_sub(x, about);
        return tn_vf_fma(x, x, sum);
    case TN_FOLD_PROD:
        return tn_vf_mul(sum, x);
    case TN_FOLD_MAX:
        return tn_vf_max(sum, x);
    case TN_FOLD_MIN:
        return tn_vf_min(sum, x);
    default:
        return tn_vf_add(sum, x);
    }
}

// Two partial results become one.
TN_INLINE tn_vf tn_fold_join(tn_fold kind, tn_vf a, tn_vf b)
{
    return tn_fold_step(kind == TN_FOLD_ABS || kind == TN_FOLD_SQUARE ? TN_FOLD_SUM : kind, a, b, b);
}

TN_INLINE double tn_fold_scalars(tn_fold kind, double a, double b)
{
    switch (kind) {
    case TN_FOLD_PROD:
        return a * b;
    case TN_FOLD_MAX:
        return a != a || a > b ? a : b;
    case TN_FOLD_MIN:
        return a != a || a < b ? a : b;
    default:
        return a + b;
    }
}

TN_INLINE float tn_fold_lanes(tn_fold kind, tn_vf v)
{
    float lanes[TN_VL];
    const float sum = tn_vf_sum(v);
    if (kind == TN_FOLD_SUM || kind == TN_FOLD_ABS || kind == TN_FOLD_SQUARE) {
        return sum;
    }
    if (kind != TN_FOLD_PROD && sum == sum) {   // so there is no NaN
        return kind == TN_FOLD_MAX ? tn_vf_hmax(v) : tn_vf_hmin(v);
    }
    tn_vf_store(lanes, v);
    double all = lanes[0];
    for (int i = 1; i < TN_VL; i++) {
        all = tn_fold_scalars(kind, all, lanes[i]);
    }
    return (float)all;
}

// Up to TN_FOLD_RUN floats into one vector.
TN_INLINE tn_vf tn_fold_vector(tn_fold kind, const float *x, int64_t n, tn_vf about)
{
    const tn_vf first = tn_vf_set(tn_fold_first(kind));
    tn_vf s0 = first, s1 = first, s2 = first, s3 = first;
    int64_t i = 0;
    for (; i + 4 * TN_VL <= n; i += 4 * TN_VL) {
        s0 = tn_fold_step(kind, s0, tn_vf_load(x + i), about);
        s1 = tn_fold_step(kind, s1, tn_vf_load(x + i + TN_VL), about);
        s2 = tn_fold_step(kind, s2, tn_vf_load(x + i + 2 * TN_VL), about);
        s3 = tn_fold_step(kind, s3, tn_vf_load(x + i + 3 * TN_VL), about);
    }
    for (; i + TN_VL <= n; i += TN_VL) {
        s0 = tn_fold_step(kind, s0, tn_vf_load(x + i), about);
    }
    if (i < n) {
        // Lanes past the end hold what changes nothing.
        const tn_vf neutral = kind == TN_FOLD_SQUARE ? about : first;
        s1 = tn_fold_step(kind, s1, tn_vf_load_or(x + i, (int)(n - i), neutral), about);
    }
    return tn_fold_join(kind, tn_fold_join(kind, s0, s1), tn_fold_join(kind, s2, s3));
}

// Any number of floats.
TN_INLINE double tn_fold_floats(tn_fold kind, const float *x, int64_t n, float about)
{
    double all = tn_fold_first(kind);
    for (int64_t i = 0; i < n; i += TN_FOLD_RUN) {
        const int64_t length = n - i < TN_FOLD_RUN ? n - i : TN_FOLD_RUN;
        all = tn_fold_scalars(kind, all, tn_fold_lanes(kind, tn_fold_vector(kind, x + i, length, tn_vf_set(about))));
    }
    return all;
}

#endif
