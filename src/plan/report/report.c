// SPDX-License-Identifier: Apache-2.0
// A plan as JSON: what was chosen and why, where it runs, what it takes. The keys are written down in tenon.h.
#include "base/text.h"
#include "ops/control/op_flow.h"
#include "ops/op_eval.h"
#include "plan/report/bids.h"
#include "plan/work.h"

#include <string.h>

// ---- explain ----

typedef struct lost {
    const tn_plan *plan;
    const tn_step *step;
    const tn_plan_context *context;
    tn_text *text;
} lost;

static bool visit_lost(const tn_kernel *row, void *pointer)
{
    const lost *l = pointer;
    const tn_query query = {.op = l->step->call.op, .attr = l->step->call.attr, .name = l->step->call.name, .n_in = l->step->call.n_in,
                            .n_out = l->step->call.n_out, .in = l->step->call.in, .out = (const tn_tensor *const *)l->step->call.out,
                            .cpu = &l->context->cpu, .threads = l->context->threads};
    const char *why = NULL;
    if (row == l->step->kernel) {
        return true;
    }
    if (row->cpu & ~l->context->cpu.features) {
        why = "this processor lacks the instruction set, or the session does not allow it";
    } else if (row->layouts.in != TN_LAYOUT_SAME && l->step->call.n_in && l->step->call.in[0] &&
               row->layouts.in != (uint8_t)l->step->call.in[0]->layout) {
        why = "its layout was dearer, conversions included";
    } else if (!tn_kernel_accepts(row, &query, l->context->cpu.features, &why)) {
        why = why ? why : "other types";
    } else if (l->plan->byte_ns > 0 && tn_kernel_cost(row, &query, l->step->macs) < l->step->cost) {
        why = "faster, but memory_limit leaves no room for what it holds";
    } else {
        why = row->impl == TN_IMPL_REFERENCE ? "a reference: the last resort" : l->step->tuned ? "the chosen row was measured faster" : "the chosen row is estimated faster";
    }
    tn_json_open(l->text, '{');
    tn_json_key_string(l->text, "kernel", row->name);
    tn_json_key_string(l->text, "why", why);
    tn_json_close(l->text, '}');
    return true;
}

static void shape_json(tn_text *text, const tn_shape *shape)
{
    tn_json_open(text, '[');
    for (int i = 0; i < shape->rank; i++) {
        if (tn_dim_known(shape->dims[i])) {
            tn_json_int(text, shape->dims[i]);
        } else {
            tn_json_null(text);
        }
    }
    tn_json_close(text, ']');
}

static void explain_step(const tn_plan *plan, const tn_plan_context *context, const tn_step *step, tn_text *text)
{
    const tn_slot *result = step->call.n_out && step->out[0] >= 0 ? &plan->slots[step->out[0]] : NULL;
    const tn_tensor *operand = step->call.n_in ? step->call.in[0] : NULL;
    const bool reference = step->kernel && step->kernel->impl == TN_IMPL_REFERENCE && !step->call.op->row;
    tn_json_open(text, '{');
    tn_json_key_string(text, "name", step->call.name);
    tn_json_key_string(text, "op", step->call.op->name);
    tn_json_key_string(text, "device", step->device);
    tn_json_key_string(text, "kernel", step->kernel ? step->kernel->name : "control");
    tn_json_key_string(text, "impl", step->kernel ? tn_impl_text(step->kernel->impl) : "control");
    tn_json_key(text, "version");
    tn_json_int(text, step->kernel ? step->kernel->version : 1);
    tn_json_key_bool(text, "tuned", step->tuned);
    tn_json_key_string(text, "layout_in", tn_layout_text(operand ? operand->layout : TN_LAYOUT_PLAIN));
    tn_json_key_string(text, "layout_out", tn_layout_text(result ? result->tensor.layout : TN_LAYOUT_PLAIN));
    tn_json_key_string(text, "lease", result ? tn_lease_text(result->lease) : NULL);
    tn_json_key_string(text, "dtype", result ? tn_dtype_text(result->tensor.dtype) : NULL);
    tn_json_key(text, "shape");
    shape_json(text, result ? &result->tensor.shape : &(tn_shape){.rank = 0});
    tn_json_key_int(text, "macs", step->macs);
    tn_json_key_int(text, "scratch_bytes", step->scratch_bytes);
    tn_json_key_real(text, "estimated_ns", step->cost);
    tn_json_key(text, "origins");
    tn_json_open(text, '[');
    for (int i = 0; i < step->node->n_origins; i++) {
        tn_json_string(text, step->node->origins[i]);
    }
    tn_json_close(text, ']');
    tn_json_key(text, "lost");
    tn_json_open(text, '[');
    if (step->kernel) {
        lost l = {.plan = plan, .step = step, .context = context, .text = text};
        tn_registry_visit(step->call.op, visit_lost, &l);
    }
    tn_json_close(text, ']');
    tn_plan_explain_step_bids(context, step, text);
    tn_plan_explain_flow(plan, context, step, text);
    tn_json_key_string(text, "fallback", reference ? "no other kernel takes these types and shapes" : NULL);
    tn_json_close(text, '}');
}

// The nodes of a sub-flow, as its device describes them.
typedef struct flow_text {
    tn_text *text;
    const tn_plan_context *context;
    const char *device;
} flow_text;

static void explain_flow_node(const tn_flow_node *described, void *context)
{
    const flow_text *f = context;
    const tn_node *node = described->node;
    const tn_value *result = node->n_out ? node->out[0] : NULL;
    const int64_t macs = tn_node_macs(node);
    tn_json_open(f->text, '{');
    tn_json_key_string(f->text, "name", node->name);
    tn_json_key_string(f->text, "op", node->op->name);
    tn_json_key_string(f->text, "device", f->device);
    tn_json_key_string(f->text, "kernel", described->kernel);
    tn_json_key_string(f->text, "impl", described->impl);
    tn_json_key(f->text, "version");
    tn_json_int(f->text, 1);
    tn_json_key_string(f->text, "layout_in", described->layout_in);
    tn_json_key_string(f->text, "layout_out", described->layout_out);
    tn_json_key_string(f->text, "precision", described->precision);
    tn_json_key_string(f->text, "lease", "device");
    tn_json_key_string(f->text, "dtype", result ? tn_dtype_text(result->dtype) : NULL);
    tn_json_key(f->text, "shape");
    shape_json(f->text, result ? &result->shape : &(tn_shape){.rank = 0});
    tn_json_key_int(f->text, "macs", macs > 0 ? (uint64_t)macs : 0);
    tn_json_key_int(f->text, "ns", described->nanoseconds);
    tn_json_key(f->text, "origins");
    tn_json_open(f->text, '[');
    for (int i = 0; i < node->n_origins; i++) {
        tn_json_string(f->text, node->origins[i]);
    }
    tn_json_close(f->text, ']');
    tn_json_key(f->text, "lost");
    tn_json_open(f->text, '[');
    tn_json_close(f->text, ']');
    tn_plan_explain_node_bids(f->context, node, f->device, f->text);
    tn_json_key_string(f->text, "fallback", NULL);
    tn_json_close(f->text, '}');
}

void tn_plan_explain(const tn_plan *plan, const tn_plan_context *context, tn_text *text)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const tn_flow *flow = plan->flows ? plan->flows[i] : NULL;
        explain_step(plan, context, &plan->steps[i], text);
        if (flow && flow->device->vtable->describe) {
            flow_text f = {.text = text, .context = context, .device = flow->device->vtable->name};
            flow->device->vtable->describe(flow, explain_flow_node, &f);
        }
    }
}

// ---- placement: nodes and multiply-accumulates by device ----

void tn_plan_add_placement(const tn_plan *plan, const char *device, uint64_t *nodes, uint64_t *macs)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const tn_step *step = &plan->steps[i];
        if (strcmp(step->device, device) == 0) {
            *nodes += step->call.op == &tn_op_flow ? step->node->bodies[0]->n_nodes : 1;
            *macs += step->macs;
        }
    }
}

// ---- memory ----

static void block_json(tn_text *text, const char *name, size_t bytes, size_t offset, int first, int last, const char *alias_of)
{
    tn_json_open(text, '{');
    tn_json_key_string(text, "name", name);
    tn_json_key_int(text, "bytes", bytes);
    tn_json_key_int(text, "offset", offset);
    tn_json_key(text, "first");
    tn_json_int(text, first);
    tn_json_key(text, "last");
    tn_json_int(text, last);
    tn_json_key_string(text, "alias_of", alias_of);
    tn_json_close(text, '}');
}

void tn_plan_report_blocks(const tn_plan *plan, size_t base, tn_text *text)
{
    for (size_t i = 0; i < plan->n_slots; i++) {
        const tn_slot *slot = &plan->slots[i], *root = &plan->slots[slot->root];
        if (root->lease == TN_LEASE_SHARE && root->first >= 0) {
            block_json(text, slot->name, slot->bytes, base + root->offset + slot->root_offset, root->first, root->last,
                       root == slot ? NULL : root->name);
        }
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        if (plan->steps[i].scratch_bytes) {
            block_json(text, plan->steps[i].call.name, plan->steps[i].scratch_bytes, base + plan->steps[i].scratch_offset, (int)i, (int)i, NULL);
        }
    }
}
