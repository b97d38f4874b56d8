// SPDX-License-Identifier: Apache-2.0
// Inference of If, Loop and Scan through their bodies. If joins what both branches say. The states of Loop and Scan start from
// the operands and are widened until one more turn changes nothing: dims that change become unknown, then ranks, so that a body
// is walked at most four times; bodies of bodies of bodies are widened at once, which bounds the whole.
// Ownership: as infer.c. Threads: one walk is one thread.
#include "pass/infer_walk.h"

#include "ops/control/op_control.h"

#include <string.h>

#define MAX_DEPTH 64         // of bodies in bodies
#define MAX_PATIENT_DEPTH 3  // deeper loops start fully widened

static tn_status broken(const tn_walk *walk, const tn_node *node, const char *what)
{
    return tn_fail(walk->diag, TN_INVALID_MODEL, node->name, "%s: %s", node->op->name, what);
}

// ---- joins ----

// Dims that differ become unknown; symbols are compared as they are.
static void join_shape(const tn_shape *a, tn_shape *into)
{
    if (into->rank < 0 || a->rank != into->rank) {
        *into = tn_shape_unknown();
        return;
    }
    for (int d = 0; d < into->rank; d++) {
        if (into->dims[d] != a->dims[d]) {
            into->dims[d] = TN_DIM_UNKNOWN;
        }
    }
}

// Elements that both agree on stay; without equal shapes there is nothing to compare.
static tn_status join_elems(const tn_walk *walk, const tn_fact *a, tn_fact *into)
{
    int64_t count;
    if (!a->elems || !into->elems || !tn_shape_equal(&a->shape, &into->shape) || !tn_shape_count(&into->shape, &count)) {
        into->elems = NULL;
        return TN_OK;
    }
    int64_t *elems = tn_arena_array(walk->arena, (size_t)TN_MAX(count, 1), sizeof *elems);
    if (!elems) {
        return tn_fail_memory(walk->diag, "", (size_t)count * sizeof *elems);
    }
    for (int64_t i = 0; i < count; i++) {
        elems[i] = a->elems[i] == into->elems[i] ? a->elems[i] : TN_DIM_UNKNOWN;
    }
    into->elems = elems;
    return TN_OK;
}

// An optional of X or an X is an optional of X: the run boxes the latter. false: the kinds have nothing in common.
static bool join_kind(const tn_fact *a, tn_fact *into)
{
    const tn_kind held = a->kind == TN_KIND_OPTIONAL ? a->inner : a->kind;
    const tn_kind into_held = into->kind == TN_KIND_OPTIONAL ? into->inner : into->kind;
    if (held != into_held) {
        return false;
    }
    if (a->kind != into->kind) {
        into->inner = held;
        into->kind = TN_KIND_OPTIONAL;
        into->shape = tn_shape_unknown();
        into->value = NULL;
        into->elems = NULL;
    }
    return true;
}

// Nothing at all is known of a value: its operator could not be inferred.
static bool blank(const tn_fact *fact) { return fact->dtype == TN_NONE && fact->kind == TN_KIND_TENSOR; }

// What is certain when a value is either `a` or `into`.
static tn_status join(const tn_walk *walk, const tn_node *node, const tn_fact *a, tn_fact *into)
{
    if (blank(into)) {
        into->kind = a->kind;
        into->inner = a->inner;
    } else if (!blank(a) && !join_kind(a, into)) {
        return tn_fail(walk->diag, TN_INVALID_MODEL, node->name, "%s: a value is a tensor one way and a sequence another", node->op->name);
    }
    if (a->dtype == TN_NONE || into->dtype == TN_NONE) {
        into->dtype = a->dtype == TN_NONE ? into->dtype : a->dtype;
    } else if (a->dtype != into->dtype) {
        return tn_fail(walk->diag, TN_INVALID_MODEL, node->name, "%s: a value is of type %s one way and %s another", node->op->name,
                       tn_dtype_text(a->dtype), tn_dtype_text(into->dtype));
    }
    TN_TRY(join_elems(walk, a, into));
    if (into->value != a->value) {
        into->value = NULL;
    }
    join_shape(&a->shape, &into->shape);
    return TN_OK;
}

// A fact of which only type and rank, or less, are kept.
static void forget(tn_fact *fact, bool rank_too)
{
    fact->value = NULL;
    fact->elems = NULL;
    if (rank_too) {
        fact->shape = tn_shape_unknown();
    }
}

// ---- bodies ----

// Walks a body; *results (n_outputs facts) are in the arena.
static tn_status walk_body(tn_walk *walk, const tn_node *node, int index, const tn_fact *inputs, bool last, tn_fact **results)
{
    tn_graph *body = node->bodies[index];
    if (walk->depth >= MAX_DEPTH) {
        return tn_fail(walk->diag, TN_LIMIT, node->name, "control operators are nested more than %d deep", MAX_DEPTH);
    }
    tn_fact *facts = tn_arena_array(walk->arena, body->n_values + 1, sizeof *facts);
    *results = tn_arena_array(walk->arena, body->n_outputs + 1, sizeof **results);
    if (!facts || !*results) {
        return tn_fail_memory(walk->diag, node->name, body->n_values * sizeof *facts);
    }
    // Only the last walk of a body writes and numbers fresh symbols: those before work with states that are still too narrow.
    const tn_walk outer = *walk;
    walk->depth++;
    walk->write = outer.write && last;
    walk->fresh = outer.fresh && last;
    tn_status status = tn_walk_graph(walk, body, inputs, NULL, facts);
    if (status == TN_OK && walk->write) {
        status = tn_walk_write(walk, body, facts);
    }
    walk->depth = outer.depth;
    walk->write = outer.write;
    walk->fresh = outer.fresh;
    TN_TRY(status);
    for (size_t i = 0; i < body->n_outputs; i++) {
        (*results)[i] = facts[body->outputs[i]->id];
    }
    return TN_OK;
}

// Copies operand facts first .. n_in-1 (captures) behind the body's own inputs.
static tn_status copy_captures(const tn_walk *walk, const tn_node *node, int first, const tn_fact *const *in, tn_fact *inputs)
{
    for (int i = first; i < node->n_in; i++) {
        if (!in[i]) {
            return broken(walk, node, "a value that a body takes of the outer graph is absent");
        }
        inputs[i - first] = *in[i];
    }
    return TN_OK;
}

// One more than asked for, so that a count of zero gives a pointer too.
static tn_fact *take_facts(tn_walk *walk, size_t count) { return tn_arena_array(walk->arena, count + 1, sizeof(tn_fact)); }

// ---- if ----

// A condition is one bool, of rank 0 or 1 (ONNX If and Loop).
static bool known_condition(const tn_fact *condition, bool *taken)
{
    int64_t count;
    if (!condition->value || condition->dtype != TN_BOOL || !tn_shape_count(&condition->shape, &count) || count != 1) {
        return false;
    }
    *taken = tn_dtype_load_i64(TN_BOOL, condition->value->data, 0) != 0;
    return true;
}

// One branch. A branch that cannot be typed is an error of the model, unless these are particular inputs: then it is one that
// must not be taken for them.
static tn_status walk_branch(tn_walk *walk, const tn_node *node, int index, const tn_fact *inputs, tn_fact **results)
{
    const size_t n = node->bodies[index]->n_outputs;
    if (walk->write) {
        return walk_body(walk, node, index, inputs, true, results);
    }
    tn_diag *diag = walk->diag;
    walk->diag = NULL;
    const tn_status status = walk_body(walk, node, index, inputs, true, results);
    walk->diag = diag;
    if (status == TN_OUT_OF_MEMORY) {
        return tn_fail_memory(diag, node->name, 0);
    }
    if (status != TN_OK) {
        *results = take_facts(walk, n);
        for (size_t i = 0; *results && i < n; i++) {
            (*results)[i] = (tn_fact){.kind = node->bodies[index]->outputs[i]->kind,
                                      .dtype = node->bodies[index]->outputs[i]->dtype,
                                      .shape = tn_shape_unknown()};
        }
    }
    return *results ? TN_OK : tn_fail_memory(diag, node->name, n * sizeof(tn_fact));
}

// If: body inputs are the captures; results are those of the branch taken, or what both have in common.
static tn_status walk_if(tn_walk *walk, const tn_node *node, const tn_fact *const *in, tn_fact *out)
{
    if (node->n_bodies != 2 || node->n_in < 1 || !in[0]) {
        return broken(walk, node, "needs a condition and two branches");
    }
    for (int b = 0; b < 2; b++) {
        if (node->bodies[b]->n_inputs != (size_t)(node->n_in - 1) || node->bodies[b]->n_outputs < (size_t)node->n_out) {
            return broken(walk, node, "a branch has another number of inputs or fewer results than the operator needs");
        }
    }
    if (in[0]->kind != TN_KIND_TENSOR || (in[0]->dtype != TN_BOOL && in[0]->dtype != TN_NONE)) {
        return broken(walk, node, "the condition must be bool");
    }
    tn_fact *inputs = take_facts(walk, (size_t)node->n_in), *results[2] = {NULL, NULL};
    if (!inputs) {
        return tn_fail_memory(walk->diag, node->name, (size_t)node->n_in * sizeof *inputs);
    }
    TN_TRY(copy_captures(walk, node, 1, in, inputs));
    bool taken;
    if (known_condition(in[0], &taken)) {
        TN_TRY(walk_body(walk, node, taken ? 0 : 1, inputs, true, &results[0]));
        memcpy(out, results[0], (size_t)node->n_out * sizeof *out);
        return TN_OK;
    }
    for (int b = 0; b < 2; b++) {
        TN_TRY(walk_branch(walk, node, b, inputs, &results[b]));
    }
    for (int i = 0; i < node->n_out; i++) {
        out[i] = results[0][i];
        TN_TRY(join(walk, node, &results[1][i], &out[i]));
    }
    return TN_OK;
}

// ---- loop and scan ----

// Walks a body until its states are stable. inputs[first_in .. +n) are the states, results[first_out .. +n) what a turn makes of
// them. On return inputs hold the widened states and *results the facts of the last walk.
static tn_status settle(tn_walk *walk, const tn_node *node, tn_fact *inputs, size_t first_in, size_t first_out, size_t n,
                        tn_fact **results)
{
    tn_fact *state = inputs + first_in;
    for (size_t i = 0; i < n; i++) {
        forget(&state[i], walk->depth >= MAX_PATIENT_DEPTH);
    }
    for (int turn = walk->depth >= MAX_PATIENT_DEPTH ? 3 : 0; turn < 3; turn++) {
        bool changed = false;
        TN_TRY(walk_body(walk, node, 0, inputs, false, results));
        for (size_t i = 0; i < n; i++) {
            tn_fact next = state[i];
            TN_TRY(join(walk, node, &(*results)[first_out + i], &next));
            if (next.kind != state[i].kind) {
                changed = true;
            }
            if (!tn_shape_equal(&next.shape, &state[i].shape)) {
                changed = true;
                forget(&next, turn > 0);
            }
            state[i] = next;
        }
        if (!changed) {
            break;
        }
        // Shapes still move after the changed dims were given up: all states give up theirs, and nothing can change any more.
        for (size_t i = 0; turn == 1 && i < n; i++) {
            forget(&state[i], true);
        }
    }
    return walk_body(walk, node, 0, inputs, true, results);
}

// Loop: body inputs iteration, condition, carried..., captures...; results condition, carried..., scanned...
static tn_status walk_loop(tn_walk *walk, const tn_node *node, const tn_fact *const *in, tn_fact *out)
{
    const tn_loop_attr *attr = node->attr;
    const int64_t n = attr ? attr->n_carried : -1;
    if (node->n_bodies != 1 || n < 0 || node->n_in < 2 || n > node->n_in - 2) {
        return broken(walk, node, "needs a body and as many states as it says");
    }
    const tn_graph *body = node->bodies[0];
    if (body->n_inputs != (size_t)node->n_in || body->n_outputs < (size_t)TN_MAX(n, node->n_out) + 1) {
        return broken(walk, node, "the body has another number of inputs or fewer results than the operator needs");
    }
    if ((in[0] && (in[0]->kind != TN_KIND_TENSOR || (in[0]->dtype != TN_I64 && in[0]->dtype != TN_NONE))) ||
        (in[1] && (in[1]->kind != TN_KIND_TENSOR || (in[1]->dtype != TN_BOOL && in[1]->dtype != TN_NONE)))) {
        return broken(walk, node, "the trip count must be int64 and the condition bool");
    }
    tn_fact *inputs = take_facts(walk, (size_t)node->n_in), *results = NULL;
    if (!inputs) {
        return tn_fail_memory(walk->diag, node->name, (size_t)node->n_in * sizeof *inputs);
    }
    TN_TRY(copy_captures(walk, node, 2, in, inputs + 2));
    inputs[0] = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = TN_I64, .shape = {0, {0}}};
    inputs[1] = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = TN_BOOL, .shape = in[1] ? in[1]->shape : (tn_shape){0, {0}}};
    TN_TRY(settle(walk, node, inputs, 1, 0, (size_t)n + 1, &results));
    for (int i = 0; i < node->n_out; i++) {
        if (i < n) {
            out[i] = inputs[2 + i];
            TN_TRY(join(walk, node, &results[1 + i], &out[i]));
            out[i].kind = results[1 + i].kind;     // ONNX: of the body's type; the run opens the box
            continue;
        }
        out[i] = results[1 + i];
        if (out[i].kind != TN_KIND_TENSOR) {
            return broken(walk, node, "a scanned result must be a tensor");
        }
        forget(&out[i], out[i].shape.rank >= TN_MAX_RANK);
        if (out[i].shape.rank >= 0) {
            // One slice a turn, as many as there are turns: [turns, slice...].
            memmove(out[i].shape.dims + 1, out[i].shape.dims, (size_t)out[i].shape.rank * sizeof out[i].shape.dims[0]);
            out[i].shape.dims[0] = TN_DIM_UNKNOWN;
            out[i].shape.rank++;
        }
    }
    return TN_OK;
}

// The axis of entry i of an axis list; entries that are not there mean 0.
static tn_status scan_axis(const tn_walk *walk, const tn_node *node, const tn_ints *axes, int64_t i, int rank, int *axis)
{
    const int64_t given = axes->set && i < axes->count ? axes->v[i] : 0;
    return tn_axis(given, rank, axis) ? TN_OK : broken(walk, node, "a scan axis is out of range");
}

// What one turn sees of scanned operand i; *length is the number of turns as far as known.
static tn_status scan_slice(const tn_walk *walk, const tn_node *node, const tn_scan_attr *attr, int64_t i, tn_fact *fact,
                            int64_t *length)
{
    forget(fact, false);
    if (fact->kind != TN_KIND_TENSOR) {
        return broken(walk, node, "a scanned operand must be a tensor");
    }
    if (fact->shape.rank < 0) {
        return TN_OK;
    }
    int axis;
    TN_TRY(scan_axis(walk, node, &attr->in_axes, i, fact->shape.rank, &axis));
    const int64_t dim = fact->shape.dims[axis];
    if (tn_dim_known(dim) && tn_dim_known(*length) && dim != *length) {
        return broken(walk, node, "the scanned operands have different lengths");
    }
    if (tn_dim_known(dim) || *length == TN_DIM_UNKNOWN) {
        *length = dim;
    }
    for (int d = axis; d + 1 < fact->shape.rank; d++) {
        fact->shape.dims[d] = fact->shape.dims[d + 1];
    }
    fact->shape.dims[--fact->shape.rank] = 0;
    return TN_OK;
}

// The fact of scanned result i, made of that of one turn.
static tn_status scan_stack(const tn_walk *walk, const tn_node *node, const tn_scan_attr *attr, int64_t i, int64_t length,
                            tn_fact *fact)
{
    forget(fact, fact->shape.rank >= TN_MAX_RANK);
    if (fact->kind != TN_KIND_TENSOR) {
        return broken(walk, node, "a scanned result must be a tensor");
    }
    if (fact->shape.rank < 0) {
        return TN_OK;
    }
    int axis;
    TN_TRY(scan_axis(walk, node, &attr->out_axes, i, fact->shape.rank + 1, &axis));
    for (int d = fact->shape.rank++; d > axis; d--) {
        fact->shape.dims[d] = fact->shape.dims[d - 1];
    }
    fact->shape.dims[axis] = length;
    return TN_OK;
}

// Scan: body inputs state..., slices..., captures...; results state..., scanned...
static tn_status walk_scan(tn_walk *walk, const tn_node *node, const tn_fact *const *in, tn_fact *out)
{
    const tn_scan_attr *attr = node->attr;
    if (node->n_bodies != 1 || !attr || attr->n_state < 0 || attr->n_scan < 1 || attr->n_state > node->n_in ||
        attr->n_scan > node->n_in - attr->n_state) {
        return broken(walk, node, "needs a body and as many states and scanned operands as it says");
    }
    const tn_graph *body = node->bodies[0];
    if (body->n_inputs != (size_t)node->n_in || body->n_outputs < (size_t)TN_MAX(attr->n_state, node->n_out)) {
        return broken(walk, node, "the body has another number of inputs or fewer results than the operator needs");
    }
    tn_fact *inputs = take_facts(walk, (size_t)node->n_in), *results = NULL;
    if (!inputs) {
        return tn_fail_memory(walk->diag, node->name, (size_t)node->n_in * sizeof *inputs);
    }
    TN_TRY(copy_captures(walk, node, 0, in, inputs));
    int64_t length = TN_DIM_UNKNOWN;
    for (int64_t i = 0; i < attr->n_scan; i++) {
        TN_TRY(scan_slice(walk, node, attr, i, &inputs[attr->n_state + i], &length));
    }
    TN_TRY(settle(walk, node, inputs, 0, 0, (size_t)attr->n_state, &results));
    for (int64_t i = 0; i < node->n_out; i++) {
        out[i] = i < attr->n_state ? inputs[i] : results[i];
        TN_TRY(i < attr->n_state ? join(walk, node, &results[i], &out[i])
                                 : scan_stack(walk, node, attr, i - attr->n_state, length, &out[i]));
    }
    return TN_OK;
}

tn_status tn_walk_control(tn_walk *walk, const tn_node *node, const tn_fact *const *in, tn_fact *out)
{
    if (node->op == &tn_op_if) {
        return walk_if(walk, node, in, out);
    }
    if (node->op == &tn_op_loop) {
        return walk_loop(walk, node, in, out);
    }
    if (node->op == &tn_op_scan) {
        return walk_scan(walk, node, in, out);
    }
    return broken(walk, node, "no such control operator");
}
