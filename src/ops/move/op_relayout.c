// SPDX-License-Identifier: Apache-2.0
// relayout: same logical tensor, other memory layout. The reference moves element by element by the definition in ir/layout.h.
#include "ops/move/op_relayout.h"

#include "base/num.h"
#include "ops/op_facts.h"

#include <float.h>
#include <string.h>

// ---- attributes, descriptor ----

static const char *const layout_texts[] = {
#define X(name, block, text) text,
    TN_LAYOUT_LIST(X)
#undef X
    NULL};

static const tn_attr attrs[] = {{"layout", TN_ATTR_ENUM, offsetof(tn_relayout_attr, layout), layout_texts}};

// x: a shape that the layout can hold -> the same logical shape
static tn_status infer_relayout(tn_infer *infer)
{
    const tn_relayout_attr *attr = infer->attr;
    if (!infer->in[0] || infer->in[0]->kind != TN_KIND_TENSOR) {
        return tn_fail(infer->diag, TN_INVALID_MODEL, infer->name, "relayout: the operand must be a tensor");
    }
    if (attr->layout < 0 || attr->layout >= TN_LAYOUT_COUNT) {
        return tn_fail(infer->diag, TN_INVALID_MODEL, infer->name, "relayout: %d is not a layout", attr->layout);
    }
    const int layout = ((const tn_relayout_attr *)infer->attr)->layout;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_ANY & ~TN_BIT(STRING)));
    if (layout < 0 || layout >= TN_LAYOUT_COUNT) {
        return tn_infer_fail(infer, "layout %d is none", layout);
    }
    if (layout == TN_LAYOUT_NCHW32B) {
        TN_TRY(tn_infer_type(infer, 0, TN_BIT(F32)));
    }
    if (tn_layout_block((tn_layout)layout) > 0) {
        TN_TRY(tn_infer_rank(infer, 0, 3, 5));
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &infer->in[0]->shape);
    return TN_OK;
}

const tn_op tn_op_relayout = {.name = "relayout", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = attrs,
                              .n_attrs = 1, .attr_size = sizeof(tn_relayout_attr), .infer = infer_relayout};

// ---- reference ----

// Index of element (n, c, s) in a layout with channel blocks of `block` (0: plain): n of N images, c of C channels, s of S pixels.
static size_t place(int64_t n, int64_t c, int64_t s, int64_t channels, int64_t pixels, int64_t block)
{
    if (block == 0) {
        return (size_t)((n * channels + c) * pixels + s);
    }
    const int64_t blocks = (channels + block - 1) / block;
    return (size_t)(((n * blocks + c / block) * pixels + s) * block + c % block);
}

// One element; both sides are float32 where either is rounded.
static void move_element(char *to, bool to_rounded, const char *from, bool from_rounded, size_t size)
{
    if (!to_rounded && !from_rounded) {
        memcpy(to, from, size);
        return;
    }
    uint16_t bits;
    memcpy(&bits, from, sizeof bits);
    if (!from_rounded) {
        float value;
        memcpy(&value, from, sizeof value);
        // As the products take them, numbers below the normal range are zeros.
        bits = tn_bf16_from_f32(value > -FLT_MIN && value < FLT_MIN ? 0.0f : value);
    }
    const float wide = tn_bf16_to_f32(bits);
    memcpy(to, to_rounded ? (const void *)&bits : &wide, to_rounded ? sizeof bits : sizeof wide);
}

static tn_status run_relayout(const tn_call *call)
{
    const tn_tensor *in = call->in[0], *out = call->out[0];
    const size_t size = tn_dtype_bytes(in->dtype), in_unit = tn_tensor_unit(in), out_unit = tn_tensor_unit(out);
    const bool in_rounded = in->layout == TN_LAYOUT_NCHW32B, out_rounded = out->layout == TN_LAYOUT_NCHW32B;
    const int rank = in->shape.rank;
    const int64_t images = rank > 0 ? in->shape.dims[0] : 1, channels = rank > 1 ? in->shape.dims[1] : 1;
    const int64_t pixels = rank > 2 ? tn_shape_span(&in->shape, 2, rank) : 1;
    const int64_t from = tn_layout_block(in->layout), to = tn_layout_block(out->layout);
    size_t bytes;
    if (tn_tensor_count(in) == 0) {
        return TN_OK;   // beside a dim of 0 the others may be huge
    }
    if (out_rounded && tn_tensor_bytes(out, &bytes)) {
        memset(out->data, 0, bytes);
    }
    for (int64_t n = 0; n < images; n++) {
        for (int64_t c = 0; c < channels; c++) {
            for (int64_t s = 0; s < pixels; s++) {
                move_element((char *)out->data + place(n, c, s, channels, pixels, to) * out_unit, out_rounded,
                             (const char *)in->data + place(n, c, s, channels, pixels, from) * in_unit, in_rounded, size);
            }
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    {.name = "relayout_reference", .op = &tn_op_relayout, .impl = TN_IMPL_REFERENCE, .tag = "", .version = 1, .aligned_constants = true,
     .run = run_relayout},
};
static const tn_op *const ops[] = {&tn_op_relayout};
TN_EXPORT_KERNELS(op_relayout, rows);
TN_EXPORT_OPS(op_relayout, ops);
