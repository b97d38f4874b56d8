// SPDX-License-Identifier: Apache-2.0
// Sizes of tensors in their layouts, and the table of layouts.
// Ownership: plain values. Threads: any.
#include "ir/tensor.h"
#include "base/num.h"

const char *tn_layout_text(tn_layout layout)
{
    switch (layout) {
#define X(name, block, text)    \
    case TN_LAYOUT_##name:      \
        return text;
        TN_LAYOUT_LIST(X)
#undef X
    case TN_LAYOUT_COUNT:
        break;
    }
    return "invalid";
}

int tn_layout_block(tn_layout layout)
{
    switch (layout) {
#define X(name, block, text)    \
    case TN_LAYOUT_##name:      \
        return block;
        TN_LAYOUT_LIST(X)
#undef X
    case TN_LAYOUT_COUNT:
        break;
    }
    return 0;
}

size_t tn_tensor_unit(const tn_tensor *tensor)
{
    return tensor->layout == TN_LAYOUT_NCHW32B ? sizeof(uint16_t) : tn_dtype_bytes(tensor->dtype);
}

bool tn_tensor_bytes(const tn_tensor *tensor, size_t *bytes)
{
    tn_shape shape = tensor->shape;
    const int block = tn_layout_block(tensor->layout);
    if (!tn_shape_known(&shape)) {
        return false;
    }
    if (tensor->layout == TN_LAYOUT_NCHW32B && tensor->dtype != TN_F32) {
        return false;
    }
    if (block && (shape.rank < 3 || shape.rank > 5 || !tn_add_i64(shape.dims[1], block - 1, &shape.dims[1]))) {
        return false;
    }
    if (block) {
        shape.dims[1] -= shape.dims[1] % block;   // channels in whole blocks
    }
    int64_t count;
    return tn_shape_count(&shape, &count) && (uint64_t)count <= SIZE_MAX &&
           tn_mul_size((size_t)count, tn_tensor_unit(tensor), bytes) && *bytes <= PTRDIFF_MAX;
}

int64_t tn_tensor_count(const tn_tensor *tensor)
{
    int64_t count;
    return tn_shape_count(&tensor->shape, &count) ? count : 0;
}
