// SPDX-License-Identifier: Apache-2.0
// A tensor at run time: a description over bytes that someone else owns.
// Ownership: never owns data. Threads: plain value.
#ifndef TN_TENSOR_H
#define TN_TENSOR_H

#include "ir/dtype.h"
#include "ir/layout.h"
#include "ir/shape.h"

typedef struct tn_tensor {
    tn_dtype dtype;
    tn_layout layout;
    tn_shape shape;      // the logical shape, whatever the layout
    void *data;          // NULL when only described. Constants may lie at any address: read them byte-safe (base/num.h)
                         // where the kernel row does not ask for aligned constants
} tn_tensor;

// Bytes of the elements in the tensor's layout; false when the shape is not known or the size does not fit.
bool tn_tensor_bytes(const tn_tensor *tensor, size_t *bytes);

// Elements of a tensor whose shape is known (checked before by tn_tensor_bytes).
int64_t tn_tensor_count(const tn_tensor *tensor);

#endif
