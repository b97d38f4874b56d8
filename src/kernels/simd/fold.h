// SPDX-License-Identifier: Apache-2.0
// What a fold does with numbers (simd/vec_fold.h); apart from it so that files without vectors can name them.
// Ownership: none. Threads: any.
#ifndef TN_FOLD_H
#define TN_FOLD_H

typedef enum tn_fold {
    TN_FOLD_SUM,
    TN_FOLD_ABS,          // sum of |x|
    TN_FOLD_SQUARE,       // sum of (x - about)^2
    TN_FOLD_PROD,
    TN_FOLD_MAX,          // NaN if there is one
    TN_FOLD_MIN,
    TN_FOLD_COUNT
} tn_fold;

#endif
