// SPDX-License-Identifier: Apache-2.0
// Bids, asked for again (plan/report/bids.h).
#include "plan/report/bids.h"

#include "base/text.h"
#include "ir/edit.h"
#include "ops/control/op_flow.h"
#include "plan/place/parts.h"

#include <string.h>

#define CROWDED "the device has no memory left for it beside the rest of the plan"

// A query with room for its tensors.
typedef struct asking {
    tn_query query;
    tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
    const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
} asking;

static void put(asking *a, int at, const tn_tensor *tensor)
{
    a->pointers[at] = tensor ? &a->tensors[at] : NULL;
    if (tensor) {
        a->tensors[at] = *tensor;
        a->tensors[at].layout = TN_LAYOUT_PLAIN;
    }
}

static void put_value(asking *a, int at, const tn_value *value)
{
    const tn_tensor described = {.kind = TN_KIND_TENSOR, .dtype = value ? value->dtype : TN_NONE, .shape = value ? value->shape : tn_shape_unknown()};
    put(a, at, !value ? NULL : value->constant ? value->constant : &described);
}

static bool begin(asking *a, const tn_plan_context *context, const tn_op *op, const void *attr, const char *name, int n_in, int n_out)
{
    a->query = (tn_query){.op = op, .attr = attr, .name = name, .n_in = n_in, .n_out = n_out, .in = a->pointers, .out = a->pointers + n_in,
                          .cpu = &context->cpu, .threads = context->threads};
    return n_in <= TN_MAX_IN && n_out <= TN_MAX_OUT;
}

static tn_bid ask(const tn_plan_context *context, size_t device, const tn_query *query)
{
    tn_device *d = context->devices[device];
    tn_bid bid = {.refusal = NULL};
    if (context->dead >> device & 1) {
        return (tn_bid){.refusal = "the device failed in this session"};
    }
    if (device + 1 != context->n_devices && query->op->flags & (TN_OP_CONTROL | TN_OP_DYNAMIC)) {
        return (tn_bid){.refusal = "control and dynamic shapes stay on the CPU"};
    }
    d->vtable->bid(d, query, &bid);
    return bid;
}

static bool fill_step(asking *a, const tn_plan_context *context, const tn_step *step)
{
    const tn_call *call = &step->call;
    if (!begin(a, context, call->op, call->attr, call->name, call->n_in, call->n_out)) {
        return false;
    }
    for (int i = 0; i < call->n_in; i++) {
        put(a, i, call->in[i]);
    }
    for (int i = 0; i < call->n_out; i++) {
        put(a, call->n_in + i, call->out[i]);
    }
    return true;
}

static bool fill_node(asking *a, const tn_plan_context *context, const tn_node *node)
{
    if (!begin(a, context, node->op, node->attr, node->name, node->n_in, node->n_out)) {
        return false;
    }
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        put_value(a, i, i < node->n_in ? node->in[i] : node->out[i - node->n_in]);
    }
    return true;
}

tn_bid tn_plan_parts_bid(const tn_plan_context *context, size_t device, const tn_graph *parts)
{
    tn_bid sum = {.refusal = NULL};
    for (const tn_node *node = parts->first; node && !sum.refusal; node = node->next) {
        asking a;
        const tn_bid bid = fill_node(&a, context, node) ? ask(context, device, &a.query) : (tn_bid){.refusal = "more operands than a device takes"};
        sum.refusal = bid.refusal;
        sum.nanoseconds += bid.nanoseconds;
    }
    return sum;
}

// The whole, or, where another device than the CPU lacks that, its parts: *n_parts of them, 0 for the whole.
static tn_bid ask_either(const tn_plan_context *context, size_t device, const tn_query *query, size_t *n_parts)
{
    tn_bid bid = ask(context, device, query);
    tn_graph *parts = NULL;
    tn_diag unheard = {0};
    *n_parts = 0;
    if (!bid.refusal || device + 1 == context->n_devices || context->dead >> device & 1) {
        return bid;
    }
    if (tn_parts_make(&parts, query, context->heap, &unheard) == TN_OK && parts) {
        const tn_bid sum = tn_plan_parts_bid(context, device, parts);
        *n_parts = sum.refusal ? 0 : parts->n_nodes;
        bid = sum.refusal ? bid : sum;
    }
    tn_graph_destroy(parts);
    return bid;
}

tn_bid tn_plan_step_bid(const tn_plan_context *context, size_t device, const tn_step *step)
{
    asking a;
    size_t n_parts;
    if (step->crowded) {
        return (tn_bid){.refusal = CROWDED};
    }
    return fill_step(&a, context, step) ? ask_either(context, device, &a.query, &n_parts) : (tn_bid){.refusal = "more operands than a device takes"};
}

size_t tn_plan_device(const tn_plan_context *context, const char *name)
{
    size_t d = 0;
    while (d < context->n_devices && strcmp(context->devices[d]->vtable->name, name) != 0) {
        d++;
    }
    return d;
}

// ---- JSON ----

// Why a device that would take the node does not run it.
static const char *why_lost(const tn_plan_context *context, const char *device, const char *chosen)
{
    const char *host = context->devices[context->n_devices - 1]->vtable->name;
    const bool named = context->device && strcmp(context->device, host) != 0;
    if (strcmp(device, chosen) == 0) {
        return NULL;
    }
    return named && strcmp(device, host) == 0 ? "another device was asked for by name" : "dearer with its transfers and calls";
}

static void write_bid(tn_text *text, const char *device, const tn_bid *bid, size_t n_parts, const char *lost)
{
    tn_json_open(text, '{');
    tn_json_key_string(text, "device", device);
    tn_json_key(text, "ns");
    if (bid->refusal) {
        tn_json_null(text);
    } else {
        tn_json_real(text, bid->nanoseconds);
    }
    if (n_parts) {
        tn_json_key_int(text, "parts", (int64_t)n_parts);
    }
    tn_json_key_string(text, "why", bid->refusal ? bid->refusal : lost);
    tn_json_close(text, '}');
}

static void write_bids(const tn_plan_context *context, const asking *a, const char *chosen, const tn_bid *own, bool crowded, tn_text *text)
{
    tn_json_key(text, "bids");
    tn_json_open(text, '[');
    for (size_t d = 0; a && d < context->n_devices; d++) {
        const char *name = context->devices[d]->vtable->name;
        size_t n_parts = 0;
        tn_bid bid = own && strcmp(name, chosen) == 0 ? *own : ask_either(context, d, &a->query, &n_parts);
        if (crowded && context->devices[d]->vtable->need && !bid.refusal) {
            bid.refusal = CROWDED;
        }
        write_bid(text, name, &bid, n_parts, why_lost(context, name, chosen));
    }
    tn_json_close(text, ']');
}

void tn_plan_explain_step_bids(const tn_plan_context *context, const tn_step *step, tn_text *text)
{
    asking a;
    const tn_bid own = {.nanoseconds = step->cost};      // in the layouts that were chosen
    const bool asked = step->kind == TN_STEP_KERNEL && fill_step(&a, context, step);
    write_bids(context, asked ? &a : NULL, step->device, &own, step->crowded, text);
}

void tn_plan_explain_node_bids(const tn_plan_context *context, const tn_node *node, const char *chosen, tn_text *text)
{
    asking a;
    write_bids(context, fill_node(&a, context, node) ? &a : NULL, chosen, NULL, false, text);
}

// Sum of a device's bids for the nodes of a body.
static double sum_of_bids(const tn_plan_context *context, size_t device, const tn_graph *body)
{
    double sum = 0;
    for (const tn_node *node = body->first; node; node = node->next) {
        asking a;
        const tn_bid bid = fill_node(&a, context, node) ? ask(context, device, &a.query) : (tn_bid){.refusal = ""};
        sum += bid.refusal ? 0 : bid.nanoseconds;
    }
    return sum;
}

static double write_transfers(const tn_plan *plan, tn_device *device, const tn_step *step, tn_text *text)
{
    double sum = 0;
    tn_json_key(text, "transfers");
    tn_json_open(text, '[');
    for (int i = 0; i < step->call.n_in + step->call.n_out; i++) {
        const bool in = i < step->call.n_in;
        const int slot = in ? step->in[i] : step->out[i - step->call.n_in];
        size_t bytes = 0;
        if (slot < 0 || !tn_tensor_bytes(&plan->slots[slot].tensor, &bytes)) {
            continue;
        }
        const double ns = device->vtable->transfer_cost(device, bytes);
        tn_json_open(text, '{');
        tn_json_key_string(text, "tensor", plan->slots[slot].name);
        tn_json_key_string(text, "way", in ? "to" : "from");
        tn_json_key(text, "bytes");
        tn_json_int(text, (int64_t)bytes);
        tn_json_key_real(text, "ns", ns);
        tn_json_close(text, '}');
        sum += ns;
    }
    tn_json_close(text, ']');
    return sum;
}

void tn_plan_explain_flow(const tn_plan *plan, const tn_plan_context *context, const tn_step *step, tn_text *text)
{
    const size_t at = tn_plan_device(context, step->device);
    if (step->call.op != &tn_op_flow || at == context->n_devices) {
        return;
    }
    tn_device *device = context->devices[at];
    const tn_graph *body = step->node->bodies[0];
    const double call = device->vtable->call_cost ? device->vtable->call_cost(device) : 0;
    tn_json_key(text, "flow");
    tn_json_open(text, '{');
    tn_json_key(text, "nodes");
    tn_json_int(text, (int64_t)body->n_nodes);
    const double transfers = write_transfers(plan, device, step, text);
    const double work = sum_of_bids(context, at, body);
    tn_json_key_real(text, "call_ns", call);
    tn_json_key_real(text, "work_ns", work);
    tn_json_key_real(text, "ns", call + work + transfers);
    tn_json_key_real(text, "cpu_ns", sum_of_bids(context, context->n_devices - 1, body));
    const tn_flow *flow = plan->flows ? plan->flows[step - plan->steps] : NULL;
    const char *remark = flow && device->vtable->remark ? device->vtable->remark(flow) : NULL;
    tn_json_key_string(text, "remark", remark);
    tn_json_close(text, '}');
}
