// SPDX-License-Identifier: Apache-2.0
// Comparing tensors by the rule of case.h.
// Ownership: none. Threads: any.
#ifndef TN_COMPARE_H
#define TN_COMPARE_H

#include "ir/tensor.h"

typedef struct tn_difference {
    int64_t index;            // of the worst element; -1: none is wrong
    int64_t count;            // of wrong elements
    double got, want, allowed;
} tn_difference;

// Both plain, of one dtype and shape. rel = abs = 0: the same bits (zeros may differ in sign, NaN in payload). Otherwise
// |got - want| <= abs + rel * max(|want|, scale), scale being the root mean square of `want`, or 0 when `special` is set: huge
// values planted on purpose must not excuse the others. NaN equals NaN only, an infinity itself only.
bool tn_compare(const tn_tensor *got, const tn_tensor *want, double rel, double abs, bool special, tn_difference *worst);

#endif
