// SPDX-License-Identifier: Apache-2.0
// Optionals: a box with at most one value in it. The box and a copy of a tensor in it live in the run's arena.
// Ownership: const data. Threads: any.
#include "ops/sequence/op_optional.h"

#include "ops/objects.h"
#include "ops/op_facts.h"

#include <stddef.h>

// ---- attributes ----

static const tn_attr attrs[] = {
    {"dtype", TN_ATTR_DTYPE, offsetof(tn_optional_attr, dtype), NULL},
    {"sequence", TN_ATTR_BOOL, offsetof(tn_optional_attr, sequence), NULL},
};

// ---- infer ----

static tn_status infer_optional(tn_infer *infer)
{
    const tn_optional_attr *attr = infer->attr;
    const tn_fact *x = tn_infer_in(infer, 0);
    if (x && x->kind == TN_KIND_OPTIONAL) {
        return tn_infer_fail(infer, "an optional cannot hold an optional");
    }
    infer->out[0] = (tn_fact){.kind = TN_KIND_OPTIONAL, .inner = x ? x->kind : attr->sequence ? TN_KIND_SEQUENCE : TN_KIND_TENSOR,
                              .dtype = x ? x->dtype : attr->dtype, .shape = tn_shape_unknown()};
    return TN_OK;
}

static tn_status infer_optional_has_element(tn_infer *infer)
{
    const tn_shape scalar = tn_shape_of(0, NULL);
    tn_infer_out(infer, 0, TN_BOOL, &scalar);
    return TN_OK;
}

static tn_status infer_optional_get_element(tn_infer *infer)
{
    const tn_fact *x = tn_infer_in(infer, 0);
    if (!x) {
        return tn_infer_fail(infer, "operand 0 is missing");
    }
    const bool boxed = x->kind == TN_KIND_OPTIONAL;
    infer->out[0] = (tn_fact){.kind = boxed ? x->inner : x->kind, .dtype = x->dtype, .shape = boxed ? tn_shape_unknown() : x->shape};
    return TN_OK;
}

// ---- descriptors ----

const tn_op tn_op_optional = {
    .name = "optional", .version = 1, .min_in = 0, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = attrs,
    .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_optional_attr), .infer = infer_optional,
};

const tn_op tn_op_optional_has_element = {
    .name = "optional_has_element", .version = 1, .min_in = 0, .max_in = 1, .min_out = 1, .max_out = 1,
    .infer = infer_optional_has_element,
};

const tn_op tn_op_optional_get_element = {
    .name = "optional_get_element", .version = 1, .flags = TN_OP_DYNAMIC, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1,
    .infer = infer_optional_get_element,
};

// ---- reference ----

// x: a tensor of any shape or a sequence?
static tn_status run_optional(const tn_call *call)
{
    const tn_tensor *x = call->n_in > 0 ? call->in[0] : NULL;
    tn_tensor *out = call->out[0];
    void *room = NULL;
    if (x) {
        TN_TRY(tn_object_take(call, sizeof *x, &room));
        *(tn_tensor *)room = *x;
        if (x->kind == TN_KIND_TENSOR) {
            TN_TRY(tn_object_copy(call, x, room));
        }
        out->dtype = x->dtype;
    }
    out->kind = TN_KIND_OPTIONAL;
    out->data = room;
    return TN_OK;
}

// x: of any kind?
static tn_status run_optional_has_element(const tn_call *call)
{
    const tn_tensor *x = call->n_in > 0 ? call->in[0] : NULL;
    *(uint8_t *)call->out[0]->data = x && (x->kind != TN_KIND_OPTIONAL || x->data != NULL);
    return TN_OK;
}

// x: of any kind
static tn_status run_optional_get_element(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    if (x->kind == TN_KIND_OPTIONAL) {
        x = x->data;
    }
    if (!x) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "optional_get_element: the optional is empty");
    }
    return tn_object_give(call, 0, x);
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE_OBJECTS(optional, "", NULL, run_optional),
    TN_REFERENCE(optional_has_element, NULL, run_optional_has_element),
    TN_REFERENCE(optional_get_element, NULL, run_optional_get_element),
};

static const tn_op *const ops[] = {&tn_op_optional, &tn_op_optional_has_element, &tn_op_optional_get_element};

TN_EXPORT_OPS(op_optional, ops);
TN_EXPORT_KERNELS(op_optional, rows);
