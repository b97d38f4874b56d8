// SPDX-License-Identifier: Apache-2.0
// Planning step 9: slots and steps. Each value gets a slot, each node a step with its kernel row, parameters, workspace and packed
// weights. A copy that moves nothing (a reshape, a cut along the outermost dim) becomes a view and no step.
#include "base/map.h"
#include "ops/control/op_control.h"
#include "ops/control/op_flow.h"
#include "ops/move/op_copy.h"
#include "ops/move/op_relayout.h"
#include "ops/op_eval.h"
#include "ops/op_facts.h"
#include "ops/quant/op_quantize.h"
#include "plan/report/bids.h"
#include "plan/work.h"

#include <stdio.h>
#include <string.h>

#define REFERENCE_WEIGHT 32     // a reference kernel's multiply-accumulate costs about as much as so many fast ones

typedef struct bind {
    tn_work *work;
    tn_plan *plan;
    int *slot_of;             // by value id, -1: none
    bool *claimed;            // by slot: its bytes are a result
    tn_map held;              // packed forms that the plan holds, by source, pack id, variant and size
} bind;

static tn_status no_memory(const bind *b, const char *place) { return tn_fail_memory(b->work->diag, place, sizeof(tn_slot)); }

static tn_status add_slot(bind *b, const tn_value *value, tn_lease lease, int *out)
{
    tn_plan *plan = b->plan;
    const int at = (int)plan->n_slots++;
    tn_slot *slot = &plan->slots[at];
    const tn_fact *fact = tn_work_fact(b->work, value);
    slot->name = value->name;
    slot->lease = lease;
    slot->root = at;
    slot->first = slot->last = -1;
    slot->index = -1;
    slot->tensor = (tn_tensor){.kind = fact->kind, .dtype = fact->dtype, .shape = fact->shape, .layout = (tn_layout)b->work->layout[value->id]};
    if (value->constant) {
        slot->tensor = *value->constant;
    }
    if (lease != TN_LEASE_POOL && fact->kind == TN_KIND_TENSOR) {
        TN_TRY(tn_work_check_size(b->work, value, &slot->tensor, &slot->bytes));
    }
    b->slot_of[value->id] = at;
    *out = at;
    return TN_OK;
}

bool tn_work_misaligned(const tn_tensor *constant)
{
    const size_t size = TN_MIN(tn_dtype_bytes(constant->dtype), (size_t)8);
    return size && (uintptr_t)constant->data % size;
}

// Counts a packed form once however many nodes read it, by the identity that the store of weights has for it; forms that are not shared
// (of constants that planning made) count each time. A plan that is only weighed thus has the sum of the one that is made.
static tn_status count_packed(bind *b, const tn_node *node, const tn_tensor *read, const tn_pack *pack)
{
    char key[3 * sizeof(uint64_t) + 64] = {0};
    const tn_value *weight = node->in[pack->operand];
    const uint64_t numbers[3] = {(uintptr_t)(weight->constant ? weight->constant->data : read->data), pack->variant, pack->bytes};
    memcpy(key, numbers, sizeof numbers);
    const int length = snprintf(key + sizeof numbers, sizeof key - sizeof numbers, "%s", pack->id);
    const size_t bytes = sizeof numbers + (size_t)TN_MIN(length, 63);
    if (weight->weight && tn_map_find(&b->held, key, bytes)) {
        return TN_OK;
    }
    b->plan->memory.packed_bytes += pack->bytes;
    return !weight->weight || tn_map_set(&b->held, key, bytes, b) ? TN_OK : no_memory(b, node->name);
}

// Constants that a kernel reads in place are copied once when the file holds them at an address their type does not allow.
static tn_status align_constant(bind *b, const tn_node *node, const tn_query *query, int operand)
{
    tn_slot *slot = &b->plan->slots[b->slot_of[node->in[operand]->id]];
    if (!tn_work_misaligned(&slot->tensor)) {
        return TN_OK;
    }
    const tn_pack pack = {.operand = operand, .id = "aligned", .bytes = slot->bytes};
    tn_packed *packed;
    TN_TRY(count_packed(b, node, &slot->tensor, &pack));
    if (b->work->dry) {
        return TN_OK;
    }
    TN_TRY(tn_weights_take(b->plan->weights, &pack, query, NULL, node->in[operand]->weight != 0, NULL, &packed, b->work->diag));
    b->plan->held[b->plan->n_held++] = packed;
    slot->tensor.data = packed->data;
    return TN_OK;
}

// A constant in another layout, by the reference, which reads at any alignment. Lanes past the channels are 0, so that the bytes are the same
// each time.
static void lay_out(void *dst, const tn_query *query, const void *params)
{
    tn_tensor result = *query->out[0];
    tn_tensor *out[1] = {&result};
    const tn_kernel *row = tn_registry_reference(query);
    const tn_call call = {.op = query->op, .attr = query->attr, .name = query->name, .n_in = 1, .n_out = 1, .in = query->in, .out = out};
    size_t bytes = 0;
    (void)params;
    result.data = dst;
    if (tn_tensor_bytes(&result, &bytes) && row) {
        memset(dst, 0, bytes);
        row->run(&call);
    }
}

// The conversion of a constant: its result is one of the packed forms that the plan holds.
static tn_status bind_constant(bind *b, const tn_node *node)
{
    int from = b->slot_of[node->in[0]->id], to;
    if (from < 0) {
        TN_TRY(add_slot(b, node->in[0], TN_LEASE_PRIVATE, &from));
    }
    TN_TRY(add_slot(b, node->out[0], TN_LEASE_PRIVATE, &to));
    const tn_tensor *in[1] = {&b->plan->slots[from].tensor}, *out[1] = {&b->plan->slots[to].tensor};
    const tn_query query = {.op = node->op, .attr = node->attr, .name = node->name, .n_in = 1, .n_out = 1, .in = in, .out = out,
                            .cpu = &b->work->context->cpu, .threads = 1};
    const tn_pack pack = {.operand = 0, .id = "layout", .variant = out[0]->layout, .bytes = b->plan->slots[to].bytes, .pack = lay_out};
    tn_packed *packed;
    TN_TRY(count_packed(b, node, in[0], &pack));
    if (b->work->dry) {
        return TN_OK;
    }
    TN_TRY(tn_weights_take(b->plan->weights, &pack, &query, NULL, node->in[0]->weight != 0, NULL, &packed, b->work->diag));
    b->plan->held[b->plan->n_held++] = packed;
    b->plan->slots[to].tensor.data = packed->data;
    return TN_OK;
}

static tn_status take_packs(bind *b, const tn_node *node, tn_step *step, const tn_query *query, const tn_prepare *prepare)
{
    for (int i = 0; i < prepare->n_packs; i++) {
        const tn_value *weight = node->in[prepare->packs[i].operand];
        TN_TRY(count_packed(b, node, query->in[prepare->packs[i].operand], &prepare->packs[i]));
        if (b->work->dry) {
            continue;
        }
        TN_TRY(tn_weights_take(b->plan->weights, &prepare->packs[i], query, prepare->params, weight->weight != 0,
                               b->work->context->workers, &step->packed[i], b->work->diag));
        step->call.packed[i] = step->packed[i]->data;
    }
    return TN_OK;
}

tn_status tn_plan_tell(const tn_plan_context *context, const tn_node *node, unsigned strict, const char *what, tn_diag *diag)
{
    if (context->strict & strict) {
        return tn_fail(diag, TN_FALLBACK, node->name, "%s %s; strict forbids it", node->op->name, what);
    }
    if (context->log) {
        char text[512];
        snprintf(text, sizeof text, "%s '%.200s' %s", node->op->name, node->name, what);
        context->log(context->log_context, 2, text);
    }
    return TN_OK;
}

static tn_status tell(bind *b, const tn_node *node, unsigned strict, const char *what)
{
    return tn_plan_tell(b->work->context, node, strict, what, b->work->diag);
}

static tn_status fallback(bind *b, const tn_node *node)
{
    tn_plan_context *context = b->work->context;
    b->plan->n_reference++;
    context->fallbacks++;
    return tell(b, node, TN_STRICT_REFERENCE,
                b->work->byte_ns > 0 ? "runs by its reference kernel, the one for these types and shapes that fits memory_limit"
                                     : "runs by its reference kernel, the only one for these types and shapes");
}

static bool is_float(const tn_tensor *tensor) { return tensor && tensor->dtype == TN_F32; }

// A conversion between floats and integers. Where the device would take it, the side of the border that it is computed on is a matter of
// price alone, as that of a copy: no fall-back.
static bool is_border(const tn_node *node) { return node->op == &tn_op_quantize_linear || node->op == &tn_op_dequantize_linear; }

// What runs on the CPU although another device or a shorter precision was asked for. A conversion between layouts follows its neighbours,
// and control operators compute nothing: the nodes of their bodies are looked at in their own plans.
static tn_status check_wishes(bind *b, const tn_node *node, const tn_step *step)
{
    tn_plan_context *context = b->work->context;
    const size_t host = context->n_devices - 1;
    const char *wanted = context->device;
    char what[256];
    if (node->op->flags & TN_OP_CONTROL || node->op == &tn_op_relayout || strcmp(step->device, context->devices[host]->vtable->name) != 0) {
        return TN_OK;
    }
    const size_t d = wanted && strcmp(wanted, step->device) != 0 ? tn_plan_device(context, wanted) : host;
    const tn_bid bid = d < host ? tn_plan_step_bid(context, d, step) : (tn_bid){.refusal = "the device is not open"};
    if (wanted && strcmp(wanted, step->device) != 0 && (bid.refusal || !is_border(node))) {
        context->device_fallbacks++;
        snprintf(what, sizeof what, "runs on %s instead of %s: %s", step->device, wanted, bid.refusal ? bid.refusal : "that was dearer with transfers and calls");
        TN_TRY(tell(b, node, TN_STRICT_DEVICE, what));
    }
    if (context->precision && strcmp(context->precision, "bf16") == 0) {
        // A precision of weights: what has none loses nothing.
        const tn_tensor *weights = step->call.n_in > 1 ? step->call.in[1] : NULL;
        if (!is_float(weights) || !weights->data || weights->shape.rank < 2 || step->kernel->cpu & TN_CPU_BF16_WEIGHTS) {
            return TN_OK;
        }
        context->precision_events++;
        return tell(b, node, TN_STRICT_PRECISION, "keeps its weights in fp32 instead of bf16");
    }
    bool floats = false;
    for (int i = 0; i < step->call.n_in + step->call.n_out && !floats; i++) {
        floats = is_float(i < step->call.n_in ? step->call.in[i] : step->call.out[i - step->call.n_in]);
    }
    if (floats && context->precision && strcmp(context->precision, "fp32") != 0) {
        context->precision_events++;
        snprintf(what, sizeof what, "is computed in fp32 on %s instead of %s", step->device, context->precision);
        TN_TRY(tell(b, node, TN_STRICT_PRECISION, what));
    }
    return TN_OK;
}

static tn_status count_work(bind *b, const tn_node *node, tn_step *step)
{
    const tn_plan_context *context = b->work->context;
    uint64_t elements = 0;
    for (int i = 0; i < node->n_out; i++) {
        int64_t count;
        if (node->out[i] && tn_shape_count(&b->work->facts[node->out[i]->id].shape, &count)) {
            elements += (uint64_t)count;
        }
    }
    const int64_t inside = node->op == &tn_op_flow ? tn_graph_macs(node->bodies[0]) : 0;
    step->macs = tn_work_macs(b->work, node) + (uint64_t)(inside > 0 ? inside : 0);
    b->plan->macs += step->macs;
    const uint64_t factor = step->kernel && step->kernel->impl == TN_IMPL_REFERENCE ? REFERENCE_WEIGHT : 1;
    uint64_t weighted;
    if (__builtin_mul_overflow(TN_MAX(step->macs, elements), factor, &weighted) ||
        __builtin_add_overflow(b->plan->work, weighted, &b->plan->work) || b->plan->work > context->limit_work) {
        return tn_fail(b->work->diag, TN_LIMIT, node->name,
                       "the run would take more arithmetic than limit_work (%llu weighted multiply-accumulates) allows",
                       (unsigned long long)context->limit_work);
    }
    return TN_OK;
}

// Arrays of a step: slots and pointers to their tensors.
static tn_status wire(bind *b, const tn_node *node, tn_step *step)
{
    tn_arena *arena = &b->plan->arena;
    const tn_tensor **in = tn_arena_array(arena, (size_t)node->n_in + 1, sizeof *in);
    tn_tensor **out = tn_arena_array(arena, (size_t)node->n_out + 1, sizeof *out);
    step->in = tn_arena_array(arena, (size_t)node->n_in + 1, sizeof *step->in);
    step->out = tn_arena_array(arena, (size_t)node->n_out + 1, sizeof *step->out);
    if (!in || !out || !step->in || !step->out) {
        return no_memory(b, node->name);
    }
    for (int i = 0; i < node->n_in; i++) {
        step->in[i] = node->in[i] ? b->slot_of[node->in[i]->id] : -1;
        in[i] = node->in[i] ? &b->plan->slots[step->in[i]].tensor : NULL;
    }
    for (int i = 0; i < node->n_out; i++) {
        step->out[i] = node->out[i] ? b->slot_of[node->out[i]->id] : -1;
        out[i] = node->out[i] ? &b->plan->slots[step->out[i]].tensor : NULL;
    }
    step->call = (tn_call){.op = node->op, .attr = node->attr, .name = node->name, .n_in = node->n_in, .n_out = node->n_out, .in = in,
                           .out = out, .heap = b->plan->heap};
    return TN_OK;
}

static bool is_packed(const tn_prepare *prepare, int operand)
{
    bool packed = false;
    for (int i = 0; i < prepare->n_packs; i++) {
        packed = packed || prepare->packs[i].operand == operand;
    }
    return packed;
}

static tn_status bind_kernel(bind *b, const tn_node *node, tn_step *step)
{
    const tn_choice *choice = &b->work->chosen[node->id];
    const tn_cpu *cpu = &b->work->context->cpu;
    if (choice->tuned) {
        step->tuned = true;
        step->alone = choice->tuned->alone;
        step->cache = choice->tuned->cache;
    }
    if (step->cache) {
        // Blocks are cut by the cache that the row believes to be there.
        tn_cpu *believed = tn_arena_copy(&b->plan->arena, cpu, sizeof *cpu);
        if (!believed) {
            return no_memory(b, node->name);
        }
        believed->l2 = tn_choices_l2(cpu->l2, step->cache);
        cpu = believed;
    }
    const tn_query query = {.op = node->op, .attr = node->attr, .name = node->name, .n_in = node->n_in, .n_out = node->n_out,
                            .in = step->call.in, .out = (const tn_tensor *const *)step->call.out, .cpu = cpu,
                            .threads = b->work->context->threads};
    tn_prepare prepare = {.query = &query, .row = choice->row, .arena = &b->plan->arena, .diag = b->work->diag};
    step->kernel = choice->row;
    step->layout = (tn_layout)choice->out;
    step->cost = choice->cost;
    if (choice->row->prepare) {
        TN_TRY(choice->row->prepare(&prepare));
    }
    step->params = prepare.params;
    step->call.params = prepare.params;
    step->scratch_bytes = prepare.scratch_bytes;
    // Packing reads constants where they lie in the file, at any alignment; that place is also the packed form's identity.
    TN_TRY(take_packs(b, node, step, &query, &prepare));
    for (int i = 0; i < node->n_in && choice->row->aligned_constants; i++) {
        if (node->in[i] && node->in[i]->constant && !is_packed(&prepare, i)) {
            TN_TRY(align_constant(b, node, &query, i));
        }
    }
    // The application's own kernel is what it asked for.
    return choice->row->impl == TN_IMPL_REFERENCE && !node->op->row ? fallback(b, node) : TN_OK;
}

// Elements of a block of channels, 1 when plain.
static int64_t block_elements(const tn_tensor *tensor)
{
    int64_t unit = TN_MAX(1, tn_layout_block(tensor->layout));
    for (int d = 2; unit > 1 && d < tensor->shape.rank; d++) {
        unit *= tensor->shape.dims[d];
    }
    return unit;
}

// Elements of the source from `offset` on are the result's in their layout too: blocks of channels must be the same, whole, and of one image.
static bool same_blocks(const tn_tensor *source, const tn_tensor *result, int64_t offset)
{
    const int64_t unit = block_elements(source), count = tn_tensor_count(result);
    if (source->layout != result->layout || source->layout == TN_LAYOUT_PLAIN) {
        return source->layout == result->layout;
    }
    return unit == block_elements(result) && source->shape.dims[0] == 1 && result->shape.dims[0] == 1 && offset % unit == 0 &&
           (count % unit == 0 || offset + count == tn_tensor_count(source));
}

// Makes result 0 of a copy a view of its source where the bytes are already there. A model's result may only view bytes that can
// become that result's own: made by a step, of the same size, and not another result's.
static bool try_view(bind *b, const tn_node *node, int result)
{
    if (node->op != &tn_op_copy || node->n_in != 1) {
        return false;
    }
    const tn_copy_attr *attr = node->attr;
    tn_slot *slot = &b->plan->slots[result], *source = &b->plan->slots[b->slot_of[node->in[0]->id]];
    int64_t offset;
    if (!tn_regions_dense(attr->regions, tn_tensor_count(&slot->tensor), &offset) || !same_blocks(&source->tensor, &slot->tensor, offset)) {
        return false;
    }
    const size_t start = source->root_offset + (size_t)offset * tn_tensor_unit(&slot->tensor);
    tn_slot *root = &b->plan->slots[source->root];
    if (node->out[0]->is_output && !b->plan->rest) {
        if (root->lease != TN_LEASE_SHARE || b->claimed[source->root] || start != 0 || root->bytes != slot->bytes) {
            return false;
        }
        b->claimed[source->root] = true;
    }
    slot->root = source->root;
    slot->root_offset = start;
    slot->lease = root->lease;
    if (root->tensor.data && root->lease == TN_LEASE_PRIVATE) {
        slot->tensor.data = (char *)root->tensor.data + start;
    }
    return true;
}

// Steps of a Loop or Scan that are known ahead are refused before anything runs.
static tn_status check_steps(bind *b, const tn_node *node)
{
    const uint64_t limit = b->work->context->limit_loop;
    const size_t n_in = (size_t)node->n_in;
    tn_fact *facts = tn_arena_array(&b->work->scratch, n_in + 1, sizeof *facts);
    const tn_fact **in = tn_arena_array(&b->work->scratch, n_in + 1, sizeof *in);
    if (!facts || !in) {
        return no_memory(b, node->name);
    }
    for (size_t i = 0; i < n_in; i++) {
        const tn_value *value = node->in[i];
        if (value) {
            facts[i] = value->constant ? tn_fact_of(value->constant) : *tn_work_fact(b->work, value);
            in[i] = &facts[i];
        }
    }
    const int64_t steps = node->n_bodies ? tn_control_steps(node->op, node->attr, node->bodies[0], in, node->n_in) : -1;
    return limit && steps >= 0 && (uint64_t)steps > limit
               ? tn_fail(b->work->diag, TN_LIMIT, node->name, "%lld steps are more than limit_loop_steps (%llu) allows", (long long)steps,
                         (unsigned long long)limit)
               : TN_OK;
}

static tn_status bind_node(bind *b, const tn_node *node)
{
    tn_plan *plan = b->plan;
    const bool control = (node->op->flags & TN_OP_CONTROL) != 0;
    bool dynamic = false;
    int at = -1;
    if (tn_work_made_once(node)) {
        return bind_constant(b, node);
    }
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] && b->slot_of[node->in[i]->id] < 0) {
            TN_TRY(add_slot(b, node->in[i], TN_LEASE_PRIVATE, &at));
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i]) {
            const tn_fact *fact = tn_work_fact(b->work, node->out[i]);
            const bool known = fact->kind == TN_KIND_TENSOR && tn_shape_known(&fact->shape);
            TN_TRY(add_slot(b, node->out[i], known ? TN_LEASE_SHARE : TN_LEASE_POOL, &at));
            dynamic = dynamic || !known;
            b->claimed[at] = node->out[i]->is_output && !plan->rest;
        }
    }
    if (node->n_out == 1 && !dynamic && !control) {
        const bool was = b->claimed[at];
        b->claimed[at] = false;
        if (try_view(b, node, at)) {
            return TN_OK;
        }
        b->claimed[at] = was;
    }
    tn_step *step = &plan->steps[plan->n_steps];
    step->kind = control ? TN_STEP_CONTROL : TN_STEP_KERNEL;
    step->node = node;
    step->dynamic = dynamic;
    step->device = b->work->device[node->id];
    step->crowded = node->id < b->work->n_crowded && b->work->crowded[node->id];
    plan->n_steps++;
    TN_TRY(wire(b, node, step));
    TN_TRY(control ? check_steps(b, node) : bind_kernel(b, node, step));
    plan->memory.exact = plan->memory.exact && !(control && node->op != &tn_op_flow) && !dynamic;
    TN_TRY(check_wishes(b, node, step));
    return count_work(b, node, step);
}

static tn_status tables(bind *b)
{
    tn_plan *plan = b->plan;
    const tn_graph *graph = b->work->graph;
    const size_t n = graph->n_values + 1;
    plan->slots = tn_arena_array(&plan->arena, n, sizeof *plan->slots);
    plan->held = tn_arena_array(&plan->arena, n, sizeof *plan->held);
    plan->steps = tn_arena_array(&plan->arena, graph->n_nodes + 1, sizeof *plan->steps);
    plan->inputs = tn_arena_array(&plan->arena, graph->n_inputs + 1, sizeof *plan->inputs);
    plan->outputs = tn_arena_array(&plan->arena, graph->n_outputs + 1, sizeof *plan->outputs);
    b->slot_of = tn_arena_array(&b->work->scratch, n, sizeof *b->slot_of);
    b->claimed = tn_arena_array(&b->work->scratch, n, sizeof *b->claimed);
    if (!plan->slots || !plan->held || !plan->steps || !plan->inputs || !plan->outputs || !b->slot_of || !b->claimed) {
        return no_memory(b, "plan");
    }
    for (size_t i = 0; i < n; i++) {
        b->slot_of[i] = -1;
    }
    return TN_OK;
}

// What the session may hold copies of counts; texts, sequences and optionals lie in arenas that grow with what is set.
static tn_status bind_inputs(bind *b)
{
    tn_plan *plan = b->plan;
    const tn_graph *graph = b->work->graph;
    plan->n_inputs = graph->n_inputs;
    for (size_t i = 0; i < plan->n_inputs; i++) {
        TN_TRY(add_slot(b, graph->inputs[i], TN_LEASE_INPUT, &plan->inputs[i]));
        tn_slot *slot = &plan->slots[plan->inputs[i]];
        slot->index = (int)i;
        if (b->work->request->held) {
            plan->memory.input_bytes += slot->bytes;
            plan->memory.exact = plan->memory.exact && slot->tensor.kind == TN_KIND_TENSOR && slot->tensor.dtype != TN_STRING;
        }
    }
    return TN_OK;
}

tn_status tn_plan_bind(tn_work *work)
{
    tn_plan *plan = work->plan;
    bind b = {.work = work, .plan = plan};
    tn_map_init(&b.held, &work->scratch);
    plan->memory.exact = plan->rest == NULL;
    TN_TRY(tables(&b));
    TN_TRY(bind_inputs(&b));
    for (const tn_node *node = work->graph->first; node; node = node->next) {
        TN_TRY(bind_node(&b, node));
    }
    const size_t n_outputs = work->graph->n_outputs;
    for (size_t i = 0; i < n_outputs; i++) {
        plan->outputs[i] = b.slot_of[work->graph->outputs[i]->id];
        if (plan->outputs[i] < 0) {
            return tn_fail(work->diag, TN_INTERNAL, work->graph->outputs[i]->name, "a result without a slot");
        }
    }
    plan->n_outputs = n_outputs;
    if (plan->rest) {
        plan->border = plan->outputs;
        plan->n_border = n_outputs;
        plan->n_outputs = 0;
        return TN_OK;
    }
    for (size_t i = 0; i < n_outputs; i++) {
        tn_slot *root = &plan->slots[plan->slots[plan->outputs[i]].root];
        if (root->lease == TN_LEASE_SHARE) {
            root->lease = TN_LEASE_OUTPUT;
            root->index = (int)i;
            plan->memory.output_bytes += root->bytes;
        }
    }
    return TN_OK;
}
