// SPDX-License-Identifier: Apache-2.0
// Control operators: If, Loop and Scan call the programs of their bodies (ONNX specification of the three operators). Carried state is
// copied out of a body's results before the next step, because the next step writes the same memory.
// Ownership: buffers live for the call. Threads: as the run.
#include "base/num.h"
#include "exec/program.h"
#include "ops/control/op_control.h"
#include "ops/objects.h"
#include "ops/op_facts.h"

#include <string.h>

// A tensor whose bytes we hold.
typedef struct held {
    tn_tensor tensor;
    size_t capacity;
} held;

typedef struct control {
    tn_program *program;
    tn_plan *plan;
    const tn_step *step;
    tn_run *run;
    tn_heap *heap;
    tn_program *body;
    tn_tensor *inputs;        // of the body
    tn_result_slot *results;  // of the body
    held *state;              // carried values
    held *stacked;            // scanned results: steps one after another
    held *slices;             // Scan: the operand's slice of this step
    size_t n_inputs, n_results, n_state, n_stacked, n_slices;
    int64_t known;            // steps, as far as that is known ahead; -1: not
    size_t counted;           // bytes of all that is held
} control;

static tn_status no_memory(const control *c, size_t bytes) { return tn_fail_memory(c->run->diag, c->step->call.name, bytes); }

static void release(control *c, held *h)
{
    if (h->capacity) {
        tn_give(c->heap, h->tensor.data);
        c->run->context->around -= h->capacity;
        c->counted -= h->capacity;
        h->capacity = 0;
    }
}

// What is held counts like a plan's own memory. A value that grows again gets more than it asks for.
static tn_status reserve(control *c, held *h, size_t bytes)
{
    if (bytes > c->run->context->limit_tensor) {
        return tn_fail(c->run->diag, TN_LIMIT, c->step->call.name, "a value of a body is larger than limit_tensor_bytes allows");
    }
    if (bytes <= h->capacity && h->capacity) {
        return TN_OK;
    }
    const size_t room = bytes + (h->capacity ? bytes / 2 : 0) + TN_ALIGNMENT;
    TN_TRY(tn_run_count(c->run->context, room, c->step->call.name, "what it holds from step to step", c->run->diag));
    c->counted += room;
    void *data = tn_take(c->heap, room);
    if (!data) {
        return no_memory(c, room);
    }
    if (h->capacity) {
        memcpy(data, h->tensor.data, TN_MIN(h->capacity, bytes));
    }
    release(c, h);
    h->tensor.data = data;
    h->capacity = room;
    return TN_OK;
}

static tn_status hold(control *c, held *h, const tn_tensor *from)
{
    size_t bytes;
    if (from->kind != TN_KIND_TENSOR) {      // immutable, and lives to the end of the run
        release(c, h);
        h->tensor = *from;
        return TN_OK;
    }
    if (!tn_tensor_bytes(from, &bytes)) {
        return tn_fail(c->run->diag, TN_INTERNAL, c->step->call.name, "a value of a body has no size");
    }
    TN_TRY(reserve(c, h, bytes));
    if (bytes) {
        memcpy(h->tensor.data, from->data, bytes);
    }
    void *data = h->tensor.data;
    h->tensor = *from;
    h->tensor.data = data;
    return TN_OK;
}

// Gives result `index` of the step a shape and returns its tensor; NULL in *out when nobody wants it.
static tn_status open_result(control *c, int index, tn_dtype dtype, const tn_shape *shape, tn_tensor **out)
{
    *out = index < c->step->call.n_out ? c->step->call.out[index] : NULL;
    if (!*out) {
        return TN_OK;
    }
    (*out)->dtype = dtype;
    return tn_program_resize(c->program, c->plan, c->step, index, shape, c->run->diag);
}

// Where an optional is expected, what comes without a box gets one; where none is, a box is opened.
static tn_status box(control *c, tn_kind expected, const tn_tensor *from, tn_tensor *to)
{
    *to = *from;
    if (expected != TN_KIND_OPTIONAL && from->kind == TN_KIND_OPTIONAL && from->data) {
        *to = *(const tn_tensor *)from->data;
    }
    if (expected != TN_KIND_OPTIONAL || from->kind == TN_KIND_OPTIONAL) {
        return TN_OK;
    }
    tn_call call = c->step->call;
    void *held;
    call.diag = c->run->diag;
    call.objects = c->run->objects;
    call.objects_limit = tn_plan_limit(c->run->context);
    TN_TRY(tn_object_take(&call, sizeof *from, &held));
    *(tn_tensor *)held = *from;
    if (from->kind == TN_KIND_TENSOR) {
        TN_TRY(tn_object_copy(&call, from, held));
    }
    *to = (tn_tensor){.kind = TN_KIND_OPTIONAL, .dtype = from->dtype, .data = held};
    return TN_OK;
}

static tn_status give_result(control *c, int index, const tn_tensor *result)
{
    tn_tensor *out = index < c->step->call.n_out ? c->step->call.out[index] : NULL, boxed;
    const tn_tensor *from = result;
    size_t bytes;
    if (out && out->kind != result->kind) {
        TN_TRY(box(c, out->kind, result, &boxed));
        from = &boxed;
        if (from->kind != out->kind) {
            return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "result %d of the body is of another kind than was said", index);
        }
    }
    if (from->kind != TN_KIND_TENSOR) {
        if (out) {
            out->dtype = from->dtype;
            out->data = from->data;
        }
        return TN_OK;
    }
    TN_TRY(open_result(c, index, from->dtype, &from->shape, &out));
    if (out && tn_tensor_bytes(from, &bytes) && bytes) {
        memcpy(out->data, from->data, bytes);
    }
    return TN_OK;
}

static tn_status open_control(control *c, tn_program *body)
{
    const tn_graph *graph = tn_program_graph(body);
    c->body = body;
    c->n_inputs = graph->n_inputs;
    c->n_results = graph->n_outputs;
    c->inputs = tn_take_zero(c->heap, c->n_inputs + 1, sizeof *c->inputs);
    c->results = tn_take_zero(c->heap, c->n_results + 1, sizeof *c->results);
    return c->inputs && c->results ? TN_OK : no_memory(c, (c->n_inputs + c->n_results) * sizeof *c->results);
}

static void free_held(control *c, held *list, size_t count)
{
    for (size_t i = 0; list && i < count; i++) {
        release(c, &list[i]);
    }
    tn_give(c->heap, list);
}

static void close_control(control *c)
{
    free_held(c, c->state, c->n_state);
    free_held(c, c->stacked, c->n_stacked);
    free_held(c, c->slices, c->n_slices);
    tn_give(c->heap, c->inputs);
    tn_give(c->heap, c->results);
    c->run->context->around -= c->counted;      // a block that was counted, and refused by the heap
}

static tn_status run_body(control *c)
{
    TN_TRY(tn_run_check(c->run, c->step->call.name));
    if (++c->run->depth > TN_MAX_DEPTH) {
        c->run->depth--;
        return tn_fail(c->run->diag, TN_LIMIT, c->step->call.name, "bodies are nested deeper than %d", TN_MAX_DEPTH);
    }
    const tn_status status = tn_program_run(c->body, c->run, c->inputs, c->results);
    c->run->depth--;
    return status;
}

static bool truth(const tn_tensor *tensor) { return tensor->data && tn_tensor_count(tensor) > 0 && *(const unsigned char *)tensor->data != 0; }

// Operand k of the step, or an error: only the first two of Loop may be absent.
static tn_status operand(const control *c, int k, tn_tensor *out)
{
    if (k >= c->step->call.n_in || !c->step->call.in[k]) {
        return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "operand %d is missing", k);
    }
    *out = *c->step->call.in[k];
    return TN_OK;
}

// ---- if ----

static tn_status run_if(control *c, tn_program **bodies)
{
    TN_TRY(open_control(c, bodies[truth(c->step->call.in[0]) ? 0 : 1]));
    for (size_t i = 0; i < c->n_inputs; i++) {
        TN_TRY(operand(c, 1 + (int)i, &c->inputs[i]));
    }
    TN_TRY(run_body(c));
    for (size_t i = 0; i < c->n_results; i++) {
        TN_TRY(give_result(c, (int)i, &c->results[i].tensor));
    }
    return TN_OK;
}

// ---- stacking of scanned results ----

static tn_status stack(control *c, held *h, const tn_tensor *element, int64_t step)
{
    size_t bytes, total;
    if (element->kind != TN_KIND_TENSOR) {
        return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "a scanned result must be a tensor");
    }
    if (step > 0 && (h->tensor.dtype != element->dtype || !tn_shape_equal(&h->tensor.shape, &element->shape))) {
        return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "a scanned result changes its shape from step to step");
    }
    const size_t steps = (size_t)TN_MAX(step + 1, c->known);      // at once where their number is known
    if (!tn_tensor_bytes(element, &bytes) || !tn_mul_size(bytes, steps, &total)) {
        return tn_fail(c->run->diag, TN_LIMIT, c->step->call.name, "a scanned result is too large");
    }
    TN_TRY(reserve(c, h, total));
    if (bytes) {
        memcpy((char *)h->tensor.data + bytes * (size_t)step, element->data, bytes);
    }
    h->tensor.dtype = element->dtype;
    h->tensor.shape = element->shape;
    return TN_OK;
}

// Inserts dim `count` at `axis` of the element's shape; for a loop that never ran the body's own description is used, with unknown dims
// as 0.
static tn_status stacked_shape(const control *c, const tn_value *described, const held *h, int64_t count, int64_t axis, tn_shape *out, int *at)
{
    tn_shape element = count ? h->tensor.shape : described->shape;
    for (int i = 0; i < element.rank; i++) {
        element.dims[i] = tn_dim_known(element.dims[i]) ? element.dims[i] : 0;
    }
    element.rank = element.rank < 0 ? 0 : element.rank;
    if (element.rank >= TN_MAX_RANK || !tn_axis(axis, element.rank + 1, at)) {
        return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "axis %lld of a scanned result is out of range", (long long)axis);
    }
    out->rank = element.rank + 1;
    for (int i = 0, from = 0; i < out->rank; i++) {
        out->dims[i] = i == *at ? count : element.dims[from++];
    }
    return TN_OK;
}

// Writes the stacked steps as result `index`, the step dim at `axis`, last step first when reversed.
static tn_status give_stacked(control *c, int index, const tn_value *described, const held *h, int64_t count, int64_t axis, bool reverse)
{
    tn_shape shape = {0};
    tn_tensor *out;
    int at;
    TN_TRY(stacked_shape(c, described, h, count, axis, &shape, &at));
    TN_TRY(open_result(c, index, count ? h->tensor.dtype : described->dtype, &shape, &out));
    if (!out) {
        return TN_OK;
    }
    const size_t size = tn_dtype_bytes(out->dtype);
    const size_t outer = (size_t)tn_shape_span(&shape, 0, at), run = (size_t)tn_shape_span(&shape, at + 1, shape.rank) * size;
    for (size_t o = 0; run && o < outer; o++) {
        for (size_t s = 0; s < (size_t)count; s++) {
            const size_t step = reverse ? (size_t)count - 1 - s : s;
            memcpy((char *)out->data + (o * (size_t)count + s) * run, (const char *)h->tensor.data + (step * outer + o) * run, run);
        }
    }
    return TN_OK;
}

// The results of a turn become the states of the next, which are inputs first_input, ... of the body.
static tn_status take_state(control *c, size_t first_input, size_t first_result)
{
    const tn_graph *graph = tn_program_graph(c->body);
    for (size_t i = 0; i < c->n_state; i++) {
        tn_tensor boxed;
        TN_TRY(box(c, graph->inputs[first_input + i]->kind, &c->results[first_result + i].tensor, &boxed));
        TN_TRY(hold(c, &c->state[i], &boxed));
    }
    return TN_OK;
}

static tn_status make_lists(control *c, size_t n_state, size_t n_stacked, size_t n_slices)
{
    c->state = tn_take_zero(c->heap, n_state + 1, sizeof *c->state);
    c->n_state = c->state ? n_state : 0;
    c->stacked = tn_take_zero(c->heap, n_stacked + 1, sizeof *c->stacked);
    c->n_stacked = c->stacked ? n_stacked : 0;
    c->slices = tn_take_zero(c->heap, n_slices + 1, sizeof *c->slices);
    c->n_slices = c->slices ? n_slices : 0;
    return c->state && c->stacked && c->slices ? TN_OK : no_memory(c, sizeof *c->state);
}

// Of a known number of steps before the first, else at the step that would be too many.
static tn_status too_many(const control *c)
{
    return tn_fail(c->run->diag, TN_LIMIT, c->step->call.name, "more steps than limit_loop_steps (%llu) allows",
                   (unsigned long long)c->run->context->limit_loop);
}

// ---- loop ----

// The same question as planning asks, with all operands there.
static int64_t known_steps(const control *c)
{
    const tn_call *call = &c->step->call;
    tn_fact facts[2];
    const tn_fact *in[2] = {NULL, NULL};
    for (int i = 0; i < TN_MIN(call->n_in, 2); i++) {
        facts[i] = call->in[i] ? tn_fact_of(call->in[i]) : (tn_fact){.kind = TN_KIND_TENSOR};
        in[i] = call->in[i] ? &facts[i] : NULL;
    }
    return tn_control_steps(call->op, call->attr, tn_program_graph(c->body), in, 2);
}

static tn_status run_loop(control *c, tn_program *body)
{
    const tn_loop_attr *attr = c->step->call.attr;
    const tn_tensor *trips = c->step->call.in[0], *condition = c->step->call.n_in > 1 ? c->step->call.in[1] : NULL;
    const size_t n_carried = (size_t)attr->n_carried;
    const int64_t most = trips ? tn_dtype_load_i64(trips->dtype, trips->data, 0) : INT64_MAX;
    bool go = !condition || truth(condition);
    int64_t step = 0;
    TN_TRY(open_control(c, body));
    if (c->n_inputs < 2 + n_carried || c->n_results < 1 + n_carried) {
        return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "the body has too few inputs or outputs");
    }
    TN_TRY(make_lists(c, n_carried, c->n_results - 1 - n_carried, 0));
    for (size_t i = 2; i < c->n_inputs; i++) {
        TN_TRY(operand(c, (int)i, &c->inputs[i]));
    }
    for (size_t i = 0; i < n_carried; i++) {
        tn_tensor boxed;
        TN_TRY(box(c, tn_program_graph(body)->inputs[2 + i]->kind, &c->inputs[2 + i], &boxed));
        TN_TRY(hold(c, &c->state[i], &boxed));
    }
    c->known = known_steps(c);
    if (c->known >= 0 && (uint64_t)c->known > c->run->context->limit_loop) {
        return too_many(c);
    }
    for (; go && step < most; step++) {
        bool flag = true;
        if ((uint64_t)step >= c->run->context->limit_loop) {
            return too_many(c);
        }
        c->inputs[0] = (tn_tensor){.dtype = TN_I64, .data = &step};
        c->inputs[1] = (tn_tensor){.dtype = TN_BOOL, .data = &flag};
        for (size_t i = 0; i < n_carried; i++) {
            c->inputs[2 + i] = c->state[i].tensor;
        }
        TN_TRY(run_body(c));
        go = truth(&c->results[0].tensor);
        TN_TRY(take_state(c, 2, 1));
        for (size_t i = 0; i < c->n_stacked; i++) {
            TN_TRY(stack(c, &c->stacked[i], &c->results[1 + n_carried + i].tensor, step));
        }
    }
    for (size_t i = 0; i < n_carried; i++) {
        TN_TRY(give_result(c, (int)i, &c->state[i].tensor));
    }
    for (size_t i = 0; i < c->n_stacked; i++) {
        const tn_value *described = tn_program_graph(body)->outputs[1 + n_carried + i];
        TN_TRY(give_stacked(c, (int)(n_carried + i), described, &c->stacked[i], step, 0, false));
    }
    return TN_OK;
}

// ---- scan ----

// The slice at position `at` of the operand along its axis.
static tn_status take_slice(control *c, held *h, const tn_tensor *from, int axis, int64_t at)
{
    tn_tensor slice = {.dtype = from->dtype, .shape = {.rank = from->shape.rank - 1}};
    size_t bytes;
    for (int i = 0, to = 0; i < from->shape.rank; i++) {
        if (i != axis) {
            slice.shape.dims[to++] = from->shape.dims[i];
        }
    }
    if (!tn_tensor_bytes(&slice, &bytes)) {
        return no_memory(c, 0);
    }
    TN_TRY(reserve(c, h, bytes));
    const size_t size = tn_dtype_bytes(from->dtype), outer = (size_t)tn_shape_span(&from->shape, 0, axis);
    const size_t run = (size_t)tn_shape_span(&from->shape, axis + 1, from->shape.rank) * size, length = (size_t)from->shape.dims[axis];
    for (size_t o = 0; run && o < outer; o++) {
        memcpy((char *)h->tensor.data + o * run, (const char *)from->data + (o * length + (size_t)at) * run, run);
    }
    slice.data = h->tensor.data;
    h->tensor = slice;
    return TN_OK;
}

static int64_t listed(const tn_ints *list, size_t i, int64_t otherwise)
{
    return list->set && i < (size_t)list->count ? list->v[i] : otherwise;
}

static tn_status scan_length(control *c, const tn_scan_attr *attr, int *axes, int64_t *length)
{
    *length = -1;
    for (size_t i = 0; i < c->n_slices; i++) {
        const tn_tensor *from = &c->inputs[c->n_state + i];
        const int64_t axis = listed(&attr->in_axes, i, 0);
        if (from->shape.rank < 1 || !tn_axis(axis, from->shape.rank, &axes[i])) {
            return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "axis %lld of scanned operand %zu is out of range",
                           (long long)axis, i);
        }
        if (*length >= 0 && *length != from->shape.dims[axes[i]]) {
            return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "scanned operands have different lengths");
        }
        *length = from->shape.dims[axes[i]];
    }
    return *length >= 0 && (uint64_t)*length <= c->run->context->limit_loop ? TN_OK : too_many(c);
}

static tn_status run_scan(control *c, tn_program *body)
{
    const tn_scan_attr *attr = c->step->call.attr;
    const size_t n_state = (size_t)attr->n_state, n_scan = (size_t)attr->n_scan;
    int axes[TN_MAX_IN];
    tn_tensor scanned[TN_MAX_IN];
    int64_t length;
    TN_TRY(open_control(c, body));
    if (n_scan > TN_MAX_IN || c->n_inputs < n_state + n_scan || c->n_results < n_state) {
        return tn_fail(c->run->diag, TN_INVALID_MODEL, c->step->call.name, "the body's inputs or outputs do not fit the operator");
    }
    TN_TRY(make_lists(c, n_state, c->n_results - n_state, n_scan));
    for (size_t i = 0; i < c->n_inputs; i++) {
        TN_TRY(operand(c, (int)i, &c->inputs[i]));
    }
    TN_TRY(scan_length(c, attr, axes, &length));
    c->known = length;
    for (size_t i = 0; i < n_state; i++) {
        tn_tensor boxed;
        TN_TRY(box(c, tn_program_graph(body)->inputs[i]->kind, &c->inputs[i], &boxed));
        TN_TRY(hold(c, &c->state[i], &boxed));
    }
    for (size_t i = 0; i < n_scan; i++) {
        scanned[i] = c->inputs[n_state + i];
    }
    for (int64_t step = 0; step < length; step++) {
        for (size_t i = 0; i < n_scan; i++) {
            const bool back = listed(&attr->in_directions, i, 0) != 0;
            TN_TRY(take_slice(c, &c->slices[i], &scanned[i], axes[i], back ? length - 1 - step : step));
            c->inputs[n_state + i] = c->slices[i].tensor;
        }
        for (size_t i = 0; i < n_state; i++) {
            c->inputs[i] = c->state[i].tensor;
        }
        TN_TRY(run_body(c));
        TN_TRY(take_state(c, 0, 0));
        for (size_t i = 0; i < c->n_stacked; i++) {
            TN_TRY(stack(c, &c->stacked[i], &c->results[n_state + i].tensor, step));
        }
    }
    for (size_t i = 0; i < n_state; i++) {
        TN_TRY(give_result(c, (int)i, &c->state[i].tensor));
    }
    for (size_t i = 0; i < c->n_stacked; i++) {
        const tn_value *described = tn_program_graph(body)->outputs[n_state + i];
        TN_TRY(give_stacked(c, (int)(n_state + i), described, &c->stacked[i], length, listed(&attr->out_axes, i, 0),
                            listed(&attr->out_directions, i, 0) != 0));
    }
    return TN_OK;
}

tn_status tn_control_run(tn_program *program, tn_plan *plan, const tn_step *step, tn_program **bodies, tn_run *run)
{
    control c = {.program = program, .plan = plan, .step = step, .run = run, .heap = run->context->heap, .known = -1};
    tn_status status;
    if (step->call.op == &tn_op_if) {
        status = run_if(&c, bodies);
    } else if (step->call.op == &tn_op_loop) {
        status = run_loop(&c, bodies[0]);
    } else {
        status = run_scan(&c, bodies[0]);
    }
    close_control(&c);
    return status;
}
