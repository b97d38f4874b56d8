// SPDX-License-Identifier: Apache-2.0
// Runs plans. The walk over the steps is flat; everything that could be decided was decided when the plan was made.
#include "exec/program.h"
#include "exec/blocks.h"
#include "exec/light.h"

#include "base/num.h"
#include "ir/edit.h"
#include "ops/control/op_flow.h"
#include "ops/op_facts.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

#define MAX_KEY_ELEMENTS 64       // inputs with more elements are not in the key by value

typedef struct own_result {
    void *data;
    size_t bytes;
} own_result;

struct tn_program {
    tn_heap *heap;
    tn_plan_context *context;
    const tn_graph *graph;
    bool *by_value;               // by input
    bool holds_inputs;            // the session may have copies of them
    tn_plan *plans;               // most recently used first
    size_t n_plans, max_plans;
    void *arena;
    size_t arena_bytes;
    own_result *own;              // by output
    tn_loose_block *pool;         // results of unknown size of the last run
    unsigned char *key;           // room for the key of one call
    size_t key_bytes;
    tn_tensor *later;             // operands of the rest of a staged plan
    size_t later_capacity;
};

bool tn_program_by_value(const tn_program *program, size_t input) { return program->by_value[input]; }
void tn_program_hold_inputs(tn_program *program) { program->holds_inputs = true; }
const tn_graph *tn_program_graph(const tn_program *program) { return program->graph; }
const tn_plan *tn_program_plan(const tn_program *program) { return program->plans; }
size_t tn_program_plans(const tn_program *program) { return program->n_plans; }

// ---- life ----

static void destroy_plan(tn_plan *plan)
{
    for (size_t i = 0; plan->bodies && i < plan->n_steps; i++) {
        for (int b = 0; plan->bodies[i] && b < plan->steps[i].node->n_bodies; b++) {
            tn_program_destroy(plan->bodies[i][b]);
        }
    }
    for (size_t i = 0; plan->flows && i < plan->n_steps; i++) {
        if (plan->flows[i]) {
            plan->flows[i]->device->vtable->release(plan->flows[i]);
        }
    }
    tn_program_destroy(plan->rest_program);
    tn_plan_destroy(plan);
}

static void free_pool(tn_program *program)
{
    while (program->pool) {
        tn_loose_block *block = program->pool;
        program->pool = block->next;
        tn_block_give(program->context->blocks, block);
    }
}

static void give_arena(tn_program *program)
{
    if (program->arena && program->context->arenas && !program->context->memory) {
        tn_arena_pool_give(program->context->arenas, program->arena, program->arena_bytes);
    } else {
        tn_tensor_memory_give(program->context->memory, program->heap, program->arena);
    }
    program->arena = NULL;
    program->arena_bytes = 0;
}

static bool take_arena(tn_program *program, size_t bytes)
{
    program->arena_bytes = bytes;
    const tn_plan_context *context = program->context;
    program->arena = context->arenas && !context->memory ? tn_arena_pool_take(context->arenas, bytes, &program->arena_bytes)
                                                         : tn_tensor_memory_take(context->memory, program->heap, bytes);
    return program->arena != NULL;
}

void tn_program_destroy(tn_program *program)
{
    if (!program) {
        return;
    }
    while (program->plans) {
        tn_plan *plan = program->plans;
        program->plans = plan->next;
        destroy_plan(plan);
    }
    free_pool(program);
    for (size_t i = 0; program->own && i < program->graph->n_outputs; i++) {
        tn_tensor_memory_give(program->context->memory, program->heap, program->own[i].data);
    }
    tn_give(program->heap, program->own);
    give_arena(program);
    tn_give(program->heap, program->by_value);
    tn_give(program->heap, program->key);
    tn_give(program->heap, program->later);
    tn_give(program->heap, program);
}

tn_status tn_program_create(tn_program **out, const tn_graph *graph, tn_plan_context *context, size_t max_plans, tn_diag *diag)
{
    *out = NULL;
    tn_heap *heap = context->heap;
    tn_status status = TN_OK;
    tn_program *program = tn_take_zero(heap, 1, sizeof *program);
    if (!program) {
        return tn_fail_memory(diag, "program", sizeof *program);
    }
    program->heap = heap;
    program->context = context;
    program->graph = graph;
    program->max_plans = max_plans;
    const size_t per_input = 2 * sizeof(int64_t) + sizeof(tn_shape) + MAX_KEY_ELEMENTS * sizeof(int64_t);
    program->by_value = tn_take_zero(heap, graph->n_inputs + 1, sizeof *program->by_value);
    program->own = tn_take_zero(heap, graph->n_outputs + 1, sizeof *program->own);
    program->key = tn_take_zero(heap, graph->n_inputs + 1, per_input);
    if (!program->by_value || !program->own || !program->key) {
        status = tn_fail_memory(diag, "program", (graph->n_inputs + 1) * per_input);
        goto done;
    }
    TN_GO(tn_plan_value_inputs(graph, program->by_value, heap, diag));
    *out = program;
    program = NULL;
done:
    tn_program_destroy(program);
    return status;
}

void tn_program_forget(tn_program *program)
{
    while (program->plans) {
        tn_plan *plan = program->plans;
        program->plans = plan->next;
        destroy_plan(plan);
    }
    program->n_plans = 0;
}

void tn_program_trim(tn_program *program)
{
    while (program->plans && program->plans->next) {
        tn_plan *plan = program->plans->next;
        program->plans->next = plan->next;
        destroy_plan(plan);
        program->n_plans--;
    }
    free_pool(program);
    give_arena(program);
    for (size_t i = 0; i < program->graph->n_outputs; i++) {
        tn_tensor_memory_give(program->context->memory, program->heap, program->own[i].data);
        program->own[i] = (own_result){NULL, 0};
    }
    if (program->plans) {
        program->plans->bound_base = NULL;
    }
}

void tn_program_visit(const tn_program *program, void (*visit)(const tn_plan *plan, void *context), void *context)
{
    const tn_plan *plan = program ? program->plans : NULL;
    if (!plan) {
        return;
    }
    visit(plan, context);
    for (size_t i = 0; plan->bodies && i < plan->n_steps; i++) {
        for (int b = 0; plan->bodies[i] && b < plan->steps[i].node->n_bodies; b++) {
            tn_program_visit(plan->bodies[i][b], visit, context);
        }
    }
    tn_program_visit(plan->rest_program, visit, context);
}

// ---- the cache of plans ----

static bool in_key_by_value(const tn_program *program, size_t index, const tn_tensor *input, size_t *bytes)
{
    return program->by_value[index] && input->kind == TN_KIND_TENSOR && input->data && tn_tensor_count(input) <= MAX_KEY_ELEMENTS && tn_tensor_bytes(input, bytes);
}

// The key: dtype and shape of every input, and the contents of those that decide shapes.
static void write_key(tn_program *program, const tn_tensor *inputs)
{
    unsigned char *at = program->key;
    for (size_t i = 0; i < program->graph->n_inputs; i++) {
        const int rank = inputs[i].kind == TN_KIND_TENSOR ? inputs[i].shape.rank : 0;
        const int64_t head[2] = {inputs[i].dtype + 256 * (int64_t)inputs[i].kind, rank};
        const size_t dims = (size_t)rank * sizeof(int64_t);
        size_t bytes;
        memcpy(at, head, sizeof head);
        memcpy(at + sizeof head, inputs[i].shape.dims, dims);
        at += sizeof head + dims;
        if (in_key_by_value(program, i, &inputs[i], &bytes)) {
            memcpy(at, inputs[i].data, bytes);
            at += bytes;
        }
    }
    program->key_bytes = (size_t)(at - program->key);
}

static bool find_plan(tn_program *program)
{
    tn_plan **link = &program->plans;
    while (*link) {
        tn_plan *plan = *link;
        if (plan->key_bytes == program->key_bytes && memcmp(plan->key, program->key, program->key_bytes) == 0) {
            *link = plan->next;
            plan->next = program->plans;
            program->plans = plan;
            return true;
        }
        link = &plan->next;
    }
    return false;
}

// Of a sub-flow's node: the device keeps it in another precision than asked for.
static tn_status hear_precision(void *context, const tn_node *node, const char *what, tn_diag *diag)
{
    tn_plan_context *own = context;
    own->precision_events++;
    return tn_plan_tell(own, node, TN_STRICT_PRECISION, what, diag);
}

static void hear_warning(void *context, const char *what)
{
    const tn_plan_context *own = context;
    if (own->log) {
        own->log(own->log_context, 2, what);
    }
}

static void hear_line(void *context, const char *line)
{
    const tn_plan_context *own = context;
    own->log(own->log_context, 0, line);
}

static tn_flow_listener listener_of(tn_plan_context *context)
{
    const bool talks = context->log && context->device_log;
    return (tn_flow_listener){hear_precision, hear_warning, context, talks ? hear_line : NULL, talks ? context->device_log : 0};
}

static tn_status compile_flow(tn_program *program, const tn_step *step, tn_flow **flow, tn_diag *diag)
{
    tn_plan_context *context = program->context;
    const tn_flow_listener listener = listener_of(context);
    const tn_flow_request request = {.graph = step->node->bodies[0], .precision = context->precision,
                                     .store = context->store, .cache = context->cache, .slice_ns = context->slice_ns,
                                     .listener = &listener, .diag = diag};
    for (size_t d = 0; d < context->n_devices; d++) {
        if (strcmp(context->devices[d]->vtable->name, step->device) == 0) {
            return context->devices[d]->vtable->compile(context->devices[d], &request, flow);
        }
    }
    return tn_fail(diag, TN_INTERNAL, step->call.name, "the device '%s' of a sub-flow is not open", step->device);
}

// Bodies and the later stage get programs of their own; sub-flows are compiled by their devices.
static tn_status add_programs(tn_program *program, tn_plan *plan, tn_diag *diag)
{
    plan->bodies = tn_arena_array(&plan->arena, plan->n_steps + 1, sizeof *plan->bodies);
    plan->flows = tn_arena_array(&plan->arena, plan->n_steps + 1, sizeof *plan->flows);
    if (!plan->bodies || !plan->flows) {
        return tn_fail_memory(diag, "plan", plan->n_steps * sizeof *plan->bodies);
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        const tn_node *node = plan->steps[i].node;
        if (plan->steps[i].kind != TN_STEP_CONTROL) {
            continue;
        }
        if (node->op == &tn_op_flow) {
            TN_TRY(compile_flow(program, &plan->steps[i], &plan->flows[i], diag));
            continue;
        }
        plan->bodies[i] = tn_arena_array(&plan->arena, (size_t)node->n_bodies + 1, sizeof **plan->bodies);
        if (!plan->bodies[i]) {
            return tn_fail_memory(diag, node->name, sizeof **plan->bodies);
        }
        for (int b = 0; b < node->n_bodies; b++) {
            TN_TRY(tn_program_create(&plan->bodies[i][b], node->bodies[b], program->context, program->max_plans, diag));
        }
    }
    return plan->rest ? tn_program_create(&plan->rest_program, plan->rest, program->context, program->max_plans, diag) : TN_OK;
}

// What devices hold is known when they have their sub-flows.
static tn_status check_held(const tn_program *program, const tn_plan *plan, uint64_t spare, tn_diag *diag)
{
    tn_plan_context *context = program->context;
    const uint64_t held = tn_plan_held(plan), limit = tn_plan_limit(context), needed = tn_plan_peak(plan) + context->around + spare;
    if (!held || !limit || needed <= limit) {
        return TN_OK;
    }
    context->lacking = needed - limit;
    return tn_fail(diag, TN_LIMIT, "plan", "a run would take at least %llu bytes, %llu of them held by a device for its sub-flows, more than %s (%llu) allows",
                   (unsigned long long)needed, (unsigned long long)held, context->limit_memory ? "memory_limit" : "limit_peak_bytes",
                   (unsigned long long)limit);
}

static void evict(tn_program *program)
{
    tn_plan **link = &program->plans;
    size_t kept = 0;
    while (*link) {
        tn_plan *plan = *link;
        if (++kept > program->max_plans) {
            *link = plan->next;
            destroy_plan(plan);
            program->n_plans--;
        } else {
            link = &plan->next;
        }
    }
}

static tn_status make_plan(tn_program *program, const tn_tensor *inputs, uint64_t spare, tn_diag *diag)
{
    tn_status status = TN_OK;
    tn_plan *plan = NULL;
    tn_arena arena;
    tn_arena_init(&arena, program->heap);
    tn_fact *facts = tn_arena_array(&arena, program->graph->n_inputs + 1, sizeof *facts);
    if (!facts) {
        status = tn_fail_memory(diag, "plan", program->graph->n_inputs * sizeof *facts);
        goto done;
    }
    for (size_t i = 0; i < program->graph->n_inputs; i++) {
        size_t bytes;
        facts[i] = (tn_fact){.kind = inputs[i].kind, .inner = program->graph->inputs[i]->inner, .dtype = inputs[i].dtype,
                             .shape = inputs[i].kind == TN_KIND_TENSOR ? inputs[i].shape : tn_shape_unknown()};
        if (in_key_by_value(program, i, &inputs[i], &bytes)) {
            facts[i] = tn_fact_of(&inputs[i]);
        }
    }
    const tn_plan_request request = {.graph = program->graph, .inputs = facts, .held = program->holds_inputs, .spare = spare};
    TN_GO(tn_plan_make(&plan, &request, program->context, diag));
    plan->key = tn_take(program->heap, program->key_bytes);
    if (!plan->key) {
        status = tn_fail_memory(diag, "plan", program->key_bytes);
        goto done;
    }
    memcpy(plan->key, program->key, program->key_bytes);
    plan->key_bytes = program->key_bytes;
    TN_GO(add_programs(program, plan, diag));
    TN_GO(check_held(program, plan, spare, diag));
    plan->next = program->plans;
    program->plans = plan;
    program->n_plans++;
    plan = NULL;
    evict(program);
done:
    if (plan) {
        destroy_plan(plan);
    }
    tn_arena_deinit(&arena);
    return status;
}

// ---- binding a plan to memory ----

static tn_status bind_arena(tn_program *program, tn_plan *plan, tn_diag *diag)
{
    if (program->context->light) {
        return TN_OK;
    }
    if (program->arena_bytes < plan->memory.arena_bytes || !program->arena) {
        give_arena(program);
        if (!take_arena(program, plan->memory.arena_bytes)) {
            program->arena_bytes = 0;
            return tn_fail_memory(diag, "arena", plan->memory.arena_bytes);
        }
        for (tn_plan *other = program->plans; other; other = other->next) {
            other->bound_base = NULL;     // the new arena may lie where the old one lay
        }
    }
    if (plan->bound_base == program->arena) {
        return TN_OK;
    }
    for (size_t i = 0; i < plan->n_slots; i++) {
        tn_slot *slot = &plan->slots[i];
        if (slot->lease == TN_LEASE_SHARE) {
            slot->tensor.data = (char *)program->arena + plan->slots[slot->root].offset + slot->root_offset;
        }
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        plan->steps[i].call.scratch = (char *)program->arena + plan->steps[i].scratch_offset;
    }
    plan->bound_base = program->arena;
    return TN_OK;
}

static tn_status bind_results(tn_program *program, tn_plan *plan, tn_diag *diag)
{
    for (size_t i = 0; i < plan->n_outputs; i++) {
        const tn_slot *root = &plan->slots[plan->slots[plan->outputs[i]].root];
        own_result *own = &program->own[i];
        if (root->lease != TN_LEASE_OUTPUT || (own->data && own->bytes >= root->bytes)) {
            continue;
        }
        tn_tensor_memory_give(program->context->memory, program->heap, own->data);
        own->data = NULL;
        own->bytes = 0;
        own->data = tn_tensor_memory_take(program->context->memory, program->heap, root->bytes);
        if (!own->data) {
            return tn_fail_memory(diag, root->name, root->bytes);
        }
        own->bytes = root->bytes;
    }
    return TN_OK;
}

static void count(tn_plan_context *context, uint64_t bytes)
{
    context->around += bytes;
    context->highest = TN_MAX(context->highest, context->around);
}

// Whether so many bytes fit the limit beside what the run holds. If not, what is lacking is noted.
static bool has_room(tn_plan_context *context, uint64_t bytes)
{
    const uint64_t limit = tn_plan_limit(context);
    if (!limit || (context->around <= limit && bytes <= limit - context->around)) {
        return true;
    }
    context->lacking = context->around + bytes - limit;
    return false;
}

tn_status tn_run_count(tn_plan_context *context, uint64_t bytes, const char *place, const char *what, tn_diag *diag)
{
    if (!has_room(context, bytes)) {
        return tn_fail(diag, TN_LIMIT, place, "with %s the run would take %llu bytes, more than %s (%llu) allows", what,
                       (unsigned long long)(context->around + bytes), context->limit_memory ? "memory_limit" : "limit_peak_bytes",
                       (unsigned long long)tn_plan_limit(context));
    }
    count(context, bytes);
    return TN_OK;
}

static void drop_first(tn_program *program)
{
    tn_plan *plan = program->plans;
    program->plans = plan->next;
    program->n_plans--;
    destroy_plan(plan);
}

// The plan found was made when the run held less around it: another is made, or the error says what is needed. And of parts, one that
// was made lean in a run before is not what this run would have chosen at this point: results shall not depend on the runs before.
static bool outgrown(tn_program *program)
{
    const tn_plan_context *context = program->context;
    const bool old = program->plans->lean && context->around > 0 && program->plans->lean != context->runs;
    if (!old && has_room(program->context, tn_plan_peak(program->plans))) {
        return false;
    }
    drop_first(program);
    return true;
}

tn_status tn_program_prepare(tn_program *program, const tn_tensor *inputs, tn_diag *diag)
{
    write_key(program, inputs);
    if (find_plan(program) && !outgrown(program)) {
        program->context->hits++;
    } else {
        TN_TRY(make_plan(program, inputs, 0, diag));
    }
    TN_TRY(bind_arena(program, program->plans, diag));
    return bind_results(program, program->plans, diag);
}

// A result in the caller's buffer has the type that it was bound for, and fits, as far as its type and shape are known.
static tn_status check_bound(const tn_value *output, const tn_result_slot *result, const tn_tensor *tensor, tn_diag *diag)
{
    size_t bytes;
    if (!result->bound) {
        return TN_OK;
    }
    if (result->bound_dtype && tensor->dtype && (tensor->kind != TN_KIND_TENSOR || result->bound_dtype != tensor->dtype)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, output->name, "the result is %s of %s, the buffer was bound for a tensor of %s",
                       tensor->kind == TN_KIND_TENSOR ? "a tensor" : "no tensor, but", tn_dtype_text(tensor->dtype), tn_dtype_text(result->bound_dtype));
    }
    if (tensor->kind != TN_KIND_TENSOR || !tensor->dtype || !tn_shape_known(&tensor->shape) || !tn_tensor_bytes(tensor, &bytes) ||
        bytes <= result->bound_bytes) {
        return TN_OK;
    }
    return tn_fail(diag, TN_INVALID_ARGUMENT, output->name, "the bound buffer has %zu bytes, the result takes %zu", result->bound_bytes, bytes);
}

// Before a step runs: no buffer is written when another does not fit. What a later stage computes is looked at by what the graph says of it.
static tn_status check_results(const tn_program *program, const tn_plan *plan, const tn_result_slot *results, tn_diag *diag)
{
    for (size_t i = 0; results && i < program->graph->n_outputs; i++) {
        const tn_value *said = plan->rest && i < plan->rest->n_outputs ? plan->rest->outputs[i] : program->graph->outputs[i];
        const tn_tensor later = {.kind = said->kind, .dtype = said->dtype, .shape = said->shape};
        TN_TRY(check_bound(program->graph->outputs[i], &results[i], plan->rest ? &later : &plan->slots[plan->outputs[i]].tensor, diag));
    }
    return TN_OK;
}

// Addresses of what lies in the caller's memory, in result buffers or in the pool.
static void bind_moving(const tn_program *program, tn_plan *plan, const tn_tensor *inputs, const tn_result_slot *results)
{
    for (size_t i = 0; i < plan->n_moving; i++) {
        tn_slot *slot = &plan->slots[plan->moving[i]];
        const tn_slot *root = &plan->slots[slot->root];
        void *data = NULL;
        if (root->lease == TN_LEASE_INPUT) {
            data = inputs[root->index].data;
        } else if (root->lease == TN_LEASE_OUTPUT) {
            const tn_result_slot *result = results ? &results[root->index] : NULL;
            data = result && result->bound ? result->bound : program->own[root->index].data;
        } else if (slot->root == plan->moving[i]) {
            slot->tensor.shape = tn_shape_unknown();
        }
        slot->tensor.data = data ? (char *)data + slot->root_offset : NULL;
    }
}

// ---- running ----

tn_status tn_run_check(const tn_run *run, const char *place)
{
    if (run->cancel && atomic_load_explicit(run->cancel, memory_order_relaxed)) {
        return tn_fail(run->diag, TN_CANCELLED, place, "the run was cancelled");
    }
    if (run->deadline_ns && tn_clock_ns() > run->deadline_ns) {
        return tn_fail(run->diag, TN_DEADLINE, place, "the run took longer than its deadline allows");
    }
    return TN_OK;
}

tn_status tn_program_resize(tn_program *program, tn_plan *plan, const tn_step *step, int index, const tn_shape *shape, tn_diag *diag)
{
    tn_slot *slot = &plan->slots[step->out[index]];
    size_t bytes;
    if (slot->tensor.kind != TN_KIND_TENSOR) {
        return tn_fail(diag, TN_INTERNAL, step->call.name, "result %d is no tensor", index);
    }
    if (slot->lease != TN_LEASE_POOL) {
        return tn_shape_equal(&slot->tensor.shape, shape)
                   ? TN_OK
                   : tn_fail(diag, TN_INTERNAL, step->call.name, "result %d has another shape than planned", index);
    }
    slot->tensor.shape = *shape;
    if (!tn_tensor_bytes(&slot->tensor, &bytes) || bytes > program->context->limit_tensor) {
        return tn_fail(diag, TN_LIMIT, step->call.name, "result %d is larger than limit_tensor_bytes (%llu) allows", index,
                       (unsigned long long)program->context->limit_tensor);
    }
    TN_TRY(tn_run_count(program->context, tn_block_bytes(bytes), step->call.name, "this result, whose size is known only now,", diag));
    tn_loose_block *block = tn_block_take(program->context->blocks, bytes);
    if (!block) {
        return tn_fail_memory(diag, step->call.name, bytes);
    }
    block->next = program->pool;
    program->pool = block;
    slot->tensor.data = block->data;
    return TN_OK;
}

typedef struct resizing {
    tn_program *program;
    tn_plan *plan;
    const tn_step *step;
    tn_diag *diag;
} resizing;

static tn_status resize_call(const tn_call *call, int index, const tn_shape *shape)
{
    const resizing *r = call->resize_context;
    if (index < 0 || index >= call->n_out || r->step->out[index] < 0) {
        return TN_OK;
    }
    return tn_program_resize(r->program, r->plan, r->step, index, shape, r->diag);
}

static tn_status run_step(tn_program *program, tn_plan *plan, tn_step *step, tn_run *run)
{
    const size_t at = (size_t)(step - plan->steps);
    if (plan->flows[at]) {
        const tn_flow_listener listener = listener_of(run->context);
        const uint64_t limit = tn_plan_limit(run->context), around = run->context->around;
        const tn_flow_run flow = {.in = step->call.in, .out = step->call.out, .cancel = run->cancel, .deadline_ns = run->deadline_ns,
                                  .number = run->number, .timed = run->profile != NULL, .listener = &listener, .diag = run->diag,
                                  .frugal = run->context->limit_memory != 0,
                                  .room = !limit ? 0 : limit > around ? limit - around : 1};
        return plan->flows[at]->device->vtable->execute(plan->flows[at], &flow);
    }
    if (step->kind == TN_STEP_CONTROL) {
        return tn_control_run(program, plan, step, plan->bodies[at], run);
    }
    resizing r = {program, plan, step, run->diag};
    tn_call *call = &step->call;
    call->workers = step->alone ? NULL : run->workers;
    call->diag = run->diag;
    call->objects = run->objects;
    call->objects_limit = tn_plan_limit(run->context);
    call->resize = resize_call;
    call->resize_context = &r;
    call->cancel = (const volatile int *)(const volatile void *)run->cancel;
    const tn_status status = step->kernel->run(call);
    call->resize_context = NULL;
    return status;
}

static tn_status watch_step(tn_program *program, tn_plan *plan, tn_step *step, tn_run *run)
{
    if (run->observe) {
        run->observe(run->observer, plan, step, false, 0);
    }
    const uint64_t begin = tn_clock_ns();
    TN_TRY(run_step(program, plan, step, run));
    const uint64_t end = tn_clock_ns();
    if (run->profile) {
        tn_profile_step(run->profile, plan, step, begin, end);
    }
    if (run->observe) {
        run->observe(run->observer, plan, step, true, end - begin);
    }
    return TN_OK;
}

static tn_status run_steps(tn_program *program, tn_plan *plan, tn_run *run)
{
    const bool light = program->context->light, watched = run->observe || run->profile;
    for (size_t i = 0; i < plan->n_steps; i++) {
        tn_step *step = &plan->steps[i];
        TN_TRY(tn_run_check(run, step->call.name));
        if (light) {
            TN_TRY(tn_light_before(plan, i, run->diag));
        }
        TN_TRY(watched ? watch_step(program, plan, step, run) : run_step(program, plan, step, run));
        if (light) {
            tn_light_after(plan, i);
        }
    }
    program->context->steps += plan->n_steps;
    return TN_OK;
}

// The rest of a staged plan: its inputs are the graph's, then the border.
static tn_status run_rest(tn_program *program, tn_plan *plan, tn_run *run, const tn_tensor *inputs, tn_result_slot *results)
{
    const size_t n_inputs = program->graph->n_inputs, count = n_inputs + plan->n_border;
    if (count > program->later_capacity) {
        tn_give(program->heap, program->later);
        program->later_capacity = 0;
        program->later = tn_take_zero(program->heap, count, sizeof *program->later);
        if (!program->later) {
            return tn_fail_memory(run->diag, "stage", count * sizeof *program->later);
        }
        program->later_capacity = count;
    }
    for (size_t i = 0; i < n_inputs; i++) {
        program->later[i] = inputs[i];
    }
    for (size_t i = 0; i < plan->n_border; i++) {
        program->later[n_inputs + i] = plan->slots[plan->border[i]].tensor;
    }
    return tn_program_run(plan->rest_program, run, program->later, results);
}

static tn_status run_rest_deeper(tn_program *program, tn_plan *plan, tn_run *run, const tn_tensor *inputs, tn_result_slot *results)
{
    for (size_t i = 0; program->context->light && i < plan->n_border; i++) {
        tn_light_point(plan, plan->border[i]);
    }
    const tn_status status = ++run->depth > TN_MAX_DEPTH
                                 ? tn_fail(run->diag, TN_LIMIT, "stage", "more than %d stages depend on one another", TN_MAX_DEPTH)
                                 : run_rest(program, plan, run, inputs, results);
    run->depth--;
    return status;
}

// Hands the results over; those whose place was not known when the plan was made are copied to the caller's buffer.
static tn_status give_results(tn_program *program, tn_plan *plan, tn_run *run, tn_result_slot *results)
{
    TN_TRY(check_results(program, plan, results, run->diag));      // now all shapes are known
    for (size_t i = 0; i < plan->n_outputs; i++) {
        const tn_slot *root = &plan->slots[plan->slots[plan->outputs[i]].root];
        size_t bytes;
        results[i].tensor = plan->slots[plan->outputs[i]].tensor;
        if (!results[i].bound || root->lease == TN_LEASE_OUTPUT || results[i].tensor.kind != TN_KIND_TENSOR || !tn_tensor_bytes(&results[i].tensor, &bytes)) {
            continue;
        }
        if (bytes) {
            memcpy(results[i].bound, results[i].tensor.data, bytes);
        }
        results[i].tensor.data = results[i].bound;
    }
    return TN_OK;
}

// What a step of a later stage or a body counts beside its arithmetic, and each node of a plan made for one: what a turn of an empty body
// costs is not nothing, and loops inside loops take many.
#define STEP_WORK 256
#define NODE_WORK 4096

// Loops execute a plan many times, and each stage and body has its own: together they stay within the run's limit.
static tn_status count_work(const tn_program *program, tn_run *run)
{
    const tn_plan *plan = program->plans;
    const uint64_t limit = program->context->limit_run, inner = run->depth ? plan->n_steps * (STEP_WORK + (plan->runs ? 0 : NODE_WORK)) : 0;
    if (limit && (__builtin_add_overflow(run->work, plan->work, &run->work) || __builtin_add_overflow(run->work, inner, &run->work) || run->work > limit)) {
        return tn_fail(run->diag, TN_LIMIT, plan->n_steps ? plan->steps[0].call.name : "run",
                       "with the turns of its loops the run takes more arithmetic than limit_work allows (%llu weighted multiply-accumulates in all)",
                       (unsigned long long)limit);
    }
    return TN_OK;
}

// By the first plan of the cache, which is bound to memory.
static tn_status run_plan(tn_program *program, tn_run *run, const tn_tensor *inputs, tn_result_slot *results)
{
    free_pool(program);
    tn_plan *plan = program->plans;
    bind_moving(program, plan, inputs, results);
    TN_TRY(check_results(program, plan, results, run->diag));
    TN_TRY(count_work(program, run));
    plan->runs++;
    const uint64_t around = program->context->around, highest = program->context->highest;
    program->context->highest = around;
    program->context->lacking = 0;
    count(program->context, tn_plan_peak(plan));
    tn_status status = run_steps(program, plan, run);
    if (status == TN_OK) {
        status = plan->rest ? run_rest_deeper(program, plan, run, inputs, results) : give_results(program, plan, run, results);
    }
    plan->counted = status == TN_OK ? program->context->highest - around : plan->counted;
    program->context->highest = TN_MAX(highest, program->context->highest);
    program->context->around = around;
    if (program->context->light) {
        tn_light_end(plan);
    } else if (program->context->arenas && !program->context->memory) {
        give_arena(program);
    }
    return status;
}

// Times that parts of one run begin anew: each takes more from the plan around it, so it ends anyway, but not always soon.
#define MAX_RENEWALS 64

// What lies inside the plan - a later stage, a body, a result of unknown size, the state of a loop - was refused for memory although that was
// as lean as it gets: the plan around it gives up as much, and never less than before. What its inside needs at least is then known, so the
// next plan leaves that free. Only for memory_limit: the default limit is there to stop runs, not to begin them again.
static tn_status make_leaner(tn_program *program, tn_run *run, const tn_tensor *inputs, uint64_t *spare, bool *made)
{
    const tn_plan_context *context = program->context;
    const uint64_t inside = context->lacking + tn_plan_limit(context) - context->around - tn_plan_peak(program->plans);
    if (inside <= *spare || run->renewals == MAX_RENEWALS) {
        return TN_LIMIT;
    }
    *spare = inside;
    run->renewals++;
    drop_first(program);
    tn_diag_clear(run->diag);
    TN_TRY(make_plan(program, inputs, inside, run->diag));
    TN_TRY(bind_arena(program, program->plans, run->diag));
    TN_TRY(bind_results(program, program->plans, run->diag));
    *made = true;
    return TN_OK;
}

tn_status tn_program_run(tn_program *program, tn_run *run, const tn_tensor *inputs, tn_result_slot *results)
{
    program->context->runs += program->context->around == 0;
    tn_status status = tn_program_prepare(program, inputs, run->diag);
    bool planned = status == TN_OK;
    uint64_t spare = 0;
    while (planned) {
        status = run_plan(program, run, inputs, results);
        planned = false;
        if (status == TN_LIMIT && program->context->limit_memory && program->context->lacking) {
            status = make_leaner(program, run, inputs, &spare, &planned);
        }
    }
    return status;
}
