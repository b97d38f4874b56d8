// SPDX-License-Identifier: Apache-2.0
// A tensor at run time: a description over bytes that someone else owns.
// Ownership: never owns data. Threads: plain value.
#ifndef TN_TENSOR_H
#define TN_TENSOR_H

#include "ir/dtype.h"
#include "ir/layout.h"
#include "ir/shape.h"

typedef enum tn_kind { TN_KIND_TENSOR, TN_KIND_SEQUENCE, TN_KIND_OPTIONAL } tn_kind;

// Besides tensors a value may hold a sequence or an optional (ONNX). Then `data` points to an immutable object that lives to the end of
// the run (tn_call.objects) or as long as the model:
//   SEQUENCE   const tn_sequence *; dtype is that of the items
//   OPTIONAL   const tn_tensor * (a tensor or a sequence); NULL: none
// shape means nothing for both. Elements of string tensors are const char * cells of 8 bytes with the same lifetime, so that movement
// treats them like numbers.
typedef struct tn_tensor {
    tn_kind kind;
    tn_dtype dtype;
    tn_layout layout;
    tn_shape shape;      // the logical shape, whatever the layout
    void *data;          // NULL when only described. Constants may lie at any address: read them byte-safe (base/num.h)
                         // where the kernel row does not ask for aligned constants
} tn_tensor;

typedef struct tn_sequence {
    int64_t count;
    const tn_tensor *items;          // tensors of one dtype, PLAIN
    struct tn_sequence_room *room;   // what the array behind items has left for appending (ops/sequence); NULL: nothing
} tn_sequence;

// Bytes of one element in the tensor's layout.
size_t tn_tensor_unit(const tn_tensor *tensor);

// Bytes of the elements in the tensor's layout; false when the shape is not known or the size does not fit.
bool tn_tensor_bytes(const tn_tensor *tensor, size_t *bytes);

// Elements of a tensor whose shape is known (checked before by tn_tensor_bytes).
int64_t tn_tensor_count(const tn_tensor *tensor);

#endif
