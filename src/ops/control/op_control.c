// SPDX-License-Identifier: Apache-2.0
// Control flow: descriptors only. exec runs the bodies; inference goes through them in pass/infer.c and plan. Here are the checks that
// need no body: operand counts and types, and the attributes of loop and scan. Results stay unknown.
// Ownership: const data. Threads: any.
#include "ops/control/op_control.h"

#include "ir/graph.h"
#include "ops/move/op_reshape.h"
#include "ops/op_facts.h"

#include <stddef.h>

// ---- attributes ----

static const tn_attr loop_attrs[] = {{"n_carried", TN_ATTR_INT, offsetof(tn_loop_attr, n_carried), NULL}};
static const tn_attr scan_attrs[] = {
    {"n_state", TN_ATTR_INT, offsetof(tn_scan_attr, n_state), NULL},
    {"n_scan", TN_ATTR_INT, offsetof(tn_scan_attr, n_scan), NULL},
    {"in_axes", TN_ATTR_INTS, offsetof(tn_scan_attr, in_axes), NULL},
    {"in_directions", TN_ATTR_INTS, offsetof(tn_scan_attr, in_directions), NULL},
    {"out_axes", TN_ATTR_INTS, offsetof(tn_scan_attr, out_axes), NULL},
    {"out_directions", TN_ATTR_INTS, offsetof(tn_scan_attr, out_directions), NULL},
};

// ---- infer ----

// What bodies return is found by pass/infer.c, which goes through them.
static void leave_unknown(const tn_infer *infer)
{
    const tn_shape unknown = tn_shape_unknown();
    for (int i = 0; i < infer->n_out; i++) {
        tn_infer_out(infer, i, TN_NONE, &unknown);
    }
}

// Operand i is one element of the dtype.
static tn_status single(const tn_infer *infer, int i, uint32_t set)
{
    TN_TRY(tn_infer_type(infer, i, set));
    const int64_t count = tn_fact_count(infer->in[i]);
    if (count >= 0 && count != 1) {
        return tn_infer_fail(infer, "operand %d has %lld elements, expected one", i, (long long)count);
    }
    return TN_OK;
}

// condition, captures...: only the condition is the operator's own.
static tn_status infer_if(tn_infer *infer)
{
    TN_TRY(single(infer, 0, TN_BIT(BOOL)));
    leave_unknown(infer);
    return TN_OK;
}

// max trips?, condition?, carried..., captures...
static tn_status infer_loop(tn_infer *infer)
{
    const int64_t carried = ((const tn_loop_attr *)infer->attr)->n_carried;
    if (carried < 0 || carried > infer->n_in - 2 || carried > infer->n_out) {
        return tn_infer_fail(infer, "carries %lld values, with %d operands and %d results", (long long)carried, infer->n_in, infer->n_out);
    }
    if (tn_infer_in(infer, 0)) {
        TN_TRY(single(infer, 0, TN_SET_INDEX));
    }
    if (tn_infer_in(infer, 1)) {
        TN_TRY(single(infer, 1, TN_BIT(BOOL)));
    }
    for (int i = 2; i < 2 + carried; i++) {
        if (!infer->in[i]) {
            return tn_infer_fail(infer, "operand %d, a carried value, is missing", i);
        }
    }
    leave_unknown(infer);
    return TN_OK;
}

// A list with one entry for each of `count` values, or none at all. Directions are 0 or 1.
static tn_status check_list(const tn_infer *infer, const char *what, const tn_ints *list, int64_t count, bool directions)
{
    if (!list->set) {
        return TN_OK;
    }
    if (list->count != count) {
        return tn_infer_fail(infer, "%s has %d entries, expected %lld", what, list->count, (long long)count);
    }
    for (int i = 0; i < list->count && directions; i++) {
        if (list->v[i] < 0 || list->v[i] > 1) {
            return tn_infer_fail(infer, "%s is %lld, expected 0 or 1", what, (long long)list->v[i]);
        }
    }
    return TN_OK;
}

// state..., scanned..., captures...; all scanned operands have the same length along their axes.
static tn_status infer_scan(tn_infer *infer)
{
    const tn_scan_attr *attr = infer->attr;
    int64_t length = TN_DIM_UNKNOWN;
    if (attr->n_state < 0 || attr->n_scan < 1 || attr->n_state > infer->n_out || attr->n_state > infer->n_in ||
        attr->n_scan > infer->n_in - attr->n_state) {
        return tn_infer_fail(infer, "has %lld states and %lld scanned operands, with %d operands and %d results",
                             (long long)attr->n_state, (long long)attr->n_scan, infer->n_in, infer->n_out);
    }
    TN_TRY(check_list(infer, "in_axes", &attr->in_axes, attr->n_scan, false));
    TN_TRY(check_list(infer, "in_directions", &attr->in_directions, attr->n_scan, true));
    TN_TRY(check_list(infer, "out_axes", &attr->out_axes, infer->n_out - attr->n_state, false));
    TN_TRY(check_list(infer, "out_directions", &attr->out_directions, infer->n_out - attr->n_state, true));
    for (int i = 0; i < attr->n_state + attr->n_scan; i++) {
        const int scanned = i - (int)attr->n_state;
        if (scanned < 0 && infer->in[i]) {
            continue;   // a state may be of any kind
        }
        TN_TRY(tn_infer_type(infer, i, TN_SET_ANY));
        const tn_shape *x = &infer->in[i]->shape;
        int axis;
        if (x->rank < 0) {
            continue;
        }
        TN_TRY(tn_infer_axis(infer, "scan axis", attr->in_axes.set ? attr->in_axes.v[scanned] : 0, x->rank, &axis));
        if (!tn_dim_join(length, x->dims[axis], &length)) {
            return tn_infer_fail(infer, "operand %d has %lld elements along its scan axis, expected %lld", i, (long long)x->dims[axis],
                                 (long long)length);
        }
    }
    leave_unknown(infer);
    return TN_OK;
}

// ---- how often ----

static bool one_element(const tn_fact *fact) { return fact && fact->value && fact->value->data && tn_tensor_count(fact->value) == 1; }

static int64_t element(const tn_fact *fact) { return tn_dtype_load_i64(fact->value->dtype, fact->value->data, 0); }

// The condition that the body gives back is the one it is given, or true.
static bool never_stops(const tn_graph *body)
{
    const tn_value *goes_on = body->n_outputs ? body->outputs[0] : NULL;
    while (goes_on && goes_on->producer && goes_on->producer->op == &tn_op_identity) {
        goes_on = goes_on->producer->in[0];
    }
    const tn_fact known = {.value = goes_on ? goes_on->constant : NULL};
    return goes_on && ((body->n_inputs > 1 && goes_on == body->inputs[1]) || (one_element(&known) && element(&known) != 0));
}

static int64_t loop_steps(const tn_graph *body, const tn_fact *trips, const tn_fact *condition)
{
    if (one_element(condition) && element(condition) == 0) {
        return 0;
    }
    const bool goes = !condition || one_element(condition);
    return goes && one_element(trips) && never_stops(body) ? TN_MAX(element(trips), 0) : -1;
}

int64_t tn_control_steps(const tn_op *op, const void *attr, const tn_graph *body, const tn_fact *const *in, int n_in)
{
    if (op == &tn_op_loop) {
        return loop_steps(body, n_in > 0 ? in[0] : NULL, n_in > 1 ? in[1] : NULL);
    }
    const tn_scan_attr *scan = attr;
    if (op != &tn_op_scan || scan->n_scan < 1 || scan->n_state >= n_in || !in[scan->n_state]) {
        return -1;
    }
    const tn_shape *first = &in[scan->n_state]->shape;
    int axis;
    if (first->rank < 1 || !tn_axis(scan->in_axes.set && scan->in_axes.count ? scan->in_axes.v[0] : 0, first->rank, &axis)) {
        return -1;
    }
    return tn_dim_known(first->dims[axis]) ? first->dims[axis] : -1;
}

// ---- descriptors ----

const tn_op tn_op_if = {
    .name = "if", .version = 1, .flags = TN_OP_CONTROL, .min_in = 1, .max_in = -1, .min_out = 1, .max_out = TN_MAX_OUT,
    .infer = infer_if, .shape_operands = 1,
};

const tn_op tn_op_loop = {
    .name = "loop", .version = 1, .flags = TN_OP_CONTROL, .min_in = 2, .max_in = -1, .min_out = 1, .max_out = TN_MAX_OUT,
    .attrs = loop_attrs, .n_attrs = TN_COUNT(loop_attrs), .attr_size = sizeof(tn_loop_attr), .infer = infer_loop,
};

const tn_op tn_op_scan = {
    .name = "scan", .version = 1, .flags = TN_OP_CONTROL, .min_in = 1, .max_in = -1, .min_out = 1, .max_out = TN_MAX_OUT,
    .attrs = scan_attrs, .n_attrs = TN_COUNT(scan_attrs), .attr_size = sizeof(tn_scan_attr), .infer = infer_scan,
};

// ---- export ----

static const tn_op *const ops[] = {&tn_op_if, &tn_op_loop, &tn_op_scan};

TN_EXPORT_OPS(op_control, ops);
const tn_kernel_list tn_kernels_op_control = {NULL, 0};
