// SPDX-License-Identifier: Apache-2.0
// copy: the boxes of a movement, one after another. They come from our own planner, but each is checked against its tensors before it
// is copied: a box is four numbers away from writing anywhere.
// Ownership: const data. Threads: any.
#include "ops/move/op_copy.h"

#include "ops/walk/strided.h"

#include <stddef.h>

// ---- attributes ----

static const tn_attr copy_attrs[] = {
    {"regions", TN_ATTR_REGIONS, offsetof(tn_copy_attr, regions), NULL},
    {"shape", TN_ATTR_INTS, offsetof(tn_copy_attr, shape), NULL},
};

// ---- infer ----

// Operands: any shapes, one type -> the shape of the attribute. Boxes are checked against what is known of the operands.
static tn_status infer_copy(tn_infer *infer)
{
    const tn_copy_attr *attr = infer->attr;
    const tn_regions *regions = attr->regions;
    tn_dtype dtype = infer->out[0].dtype;
    int64_t count;
    if (!regions || attr->shape.count < 0 || attr->shape.count > TN_MAX_RANK || regions->count < 0 || regions->count > TN_MAX_REGIONS) {
        return tn_infer_fail(infer, "has no boxes, or too many");
    }
    if (regions->source_count != infer->n_in) {
        return tn_infer_fail(infer, "has %d operands, its boxes read %d", infer->n_in, regions->source_count);
    }
    if (infer->n_in > 0) {
        TN_TRY(tn_infer_types(infer, 0, infer->n_in - 1, TN_SET_ANY, &dtype));
    }
    const tn_shape shape = tn_shape_of(attr->shape.count, attr->shape.v);
    if (!tn_shape_count(&shape, &count)) {
        return tn_infer_fail(infer, "the result's size is not known, or does not fit in 64 bits");
    }
    for (int i = 0; i < regions->count; i++) {
        const tn_region *region = &regions->regions[i];
        if (region->source >= infer->n_in) {
            return tn_infer_fail(infer, "box %d reads operand %d of %d", i, region->source, infer->n_in);
        }
        const int64_t have = region->source < 0 ? 1 : tn_fact_count(infer->in[region->source]);
        if (!tn_region_inside(region, have < 0 ? INT64_MAX : have, count)) {
            return tn_infer_fail(infer, "box %d lies outside its tensors", i);
        }
    }
    tn_infer_out(infer, 0, dtype, &shape);
    return TN_OK;
}

// ---- descriptor ----

const tn_op tn_op_copy = {
    .name = "copy", .version = 1, .min_in = 0, .max_in = -1, .min_out = 1, .max_out = 1, .attrs = copy_attrs,
    .n_attrs = TN_COUNT(copy_attrs), .attr_size = sizeof(tn_copy_attr), .infer = infer_copy,
};

// ---- reference ----

// Boxes in their order: later ones win where they overlap.
static tn_status run_copy(const tn_call *call)
{
    const tn_regions *regions = ((const tn_copy_attr *)call->attr)->regions;
    return tn_regions_copy(call, regions->regions, regions->count, regions->fill, call->out[0]);
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(copy, NULL, run_copy)};
static const tn_op *const ops[] = {&tn_op_copy};

TN_EXPORT_OPS(op_copy, ops);
TN_EXPORT_KERNELS(op_copy, rows);
