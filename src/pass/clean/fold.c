// SPDX-License-Identifier: Apache-2.0
// Constant folding by the reference kernels. Two sources: what inference already computed (shape arithmetic), and nodes all of
// whose operands are constants. A fold never blows the model up: more elements than its operands have are made only up to a
// small limit, and the arithmetic that one graph may spend is bounded.
// Ownership: new constants belong to the graph. Threads: one per graph.
#include "pass/clean/clean.h"

#include "base/num.h"
#include "ops/op_eval.h"
#include "pass/infer.h"
#include "pass/rewrite.h"

#include <string.h>

#define SMALL_BYTES 65536                // a result up to this size is always worth having
#define MAX_WORK (INT64_C(1) << 31)      // multiply-accumulates, or elements read and written, of one run of the pass

typedef struct fold {
    tn_graph *graph;
    tn_pass_context *context;
    tn_arena arena;          // of inference
    tn_fact *facts;
    size_t n_facts;
    int64_t work;
} fold;

// Facts are those of the start of the pass; values made since have none.
static const tn_fact *fact_of(const fold *f, const tn_value *value) { return value->id < f->n_facts ? &f->facts[value->id] : NULL; }

// Gives the uses of a node's result to a constant with these contents.
static tn_status become_constant(fold *f, tn_value *old, const tn_tensor *tensor)
{
    void *data;
    size_t bytes = 0;
    tn_value *value =
        tn_tensor_bytes(tensor, &bytes) ? tn_graph_room(f->graph, old->name, tensor->dtype, &tensor->shape, &data) : NULL;
    if (!value) {
        return tn_fail_memory(f->context->diag, old->name, bytes);
    }
    if (bytes) {
        memcpy(data, tensor->data, bytes);
    }
    TN_TRY(tn_graph_replace(f->graph, old, value));
    f->context->changes++;
    return TN_OK;
}

// Results that inference computed. Those that a pinned name must keep stay made by their node.
static tn_status fold_known(fold *f, tn_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        tn_value *value = node->out[i];
        const tn_fact *fact = value ? fact_of(f, value) : NULL;
        if (!fact || !fact->value || (value->n_uses == 0 && !value->is_output) ||
            (!value->is_output && !tn_can_drop(f->context, value))) {
            continue;
        }
        TN_TRY(become_constant(f, value, fact->value));
    }
    return TN_OK;
}

// Operands and results of a node as facts and tensors, for one fold.
typedef struct operands {
    const tn_tensor *tensor[TN_MAX_IN];
    tn_fact in[TN_MAX_IN], out[TN_MAX_OUT];
    const tn_fact *in_at[TN_MAX_IN];
    int64_t total;               // elements
} operands;

// All operands are constants; strings are left to the run, as their bytes are pointers.
static bool gather_operands(const tn_node *node, operands *o)
{
    o->total = 0;
    for (int i = 0; i < node->n_in; i++) {
        const tn_value *value = node->in[i];
        o->tensor[i] = NULL;
        o->in_at[i] = NULL;
        if (!value) {
            continue;
        }
        int64_t count;
        if (!value->constant || value->dtype == TN_STRING || !tn_shape_count(&value->constant->shape, &count)) {
            return false;
        }
        o->tensor[i] = value->constant;
        o->in[i] =
            (tn_fact){.kind = TN_KIND_TENSOR, .dtype = value->dtype, .shape = value->constant->shape, .value = value->constant};
        o->in_at[i] = &o->in[i];
        if (!tn_add_i64(o->total, count, &o->total)) {
            return false;
        }
    }
    return true;
}

// Whether the fold is worth it; adds its work to the account.
static bool worth(fold *f, const tn_node *node, const operands *o)
{
    int64_t made = 0;
    for (int i = 0; i < node->n_out; i++) {
        int64_t count, bytes;
        if (o->out[i].kind != TN_KIND_TENSOR || o->out[i].dtype == TN_STRING || !tn_shape_count(&o->out[i].shape, &count) ||
            !tn_mul_i64(count, (int64_t)tn_dtype_bytes(o->out[i].dtype), &bytes) ||
            (uint64_t)bytes > f->context->limit_tensor_bytes || (bytes > SMALL_BYTES && count > o->total) ||
            !tn_add_i64(made, count, &made)) {
            return false;
        }
    }
    // An operator that counts no multiply-accumulates costs about one step an element.
    int64_t work = made;
    if (node->op->macs) {
        work = node->op->macs(node->attr, o->in_at, node->n_in, o->out, node->n_out);
    }
    return work >= 0 && tn_add_i64(work, o->total, &work) && tn_add_i64(work, f->work, &f->work) && f->work <= MAX_WORK;
}

// Operators without operands are made at run time as well as here (constant_of_shape, range have some); random ones must be, and
// bodies are folded node by node.
static bool may_fold(const fold *f, const tn_node *node)
{
    if ((node->op->flags & (TN_OP_RANDOM | TN_OP_CONTROL | TN_OP_DYNAMIC)) || node->n_in == 0 || node->n_in > TN_MAX_IN ||
        node->n_out > TN_MAX_OUT) {
        return false;
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && !node->out[i]->is_output && !tn_can_drop(f->context, node->out[i])) {
            return false;
        }
    }
    return true;
}

// Runs the reference kernel into new constants, which take the place of the results.
static tn_status compute(fold *f, tn_node *node, const operands *o)
{
    tn_value *value[TN_MAX_OUT];
    tn_tensor results[TN_MAX_OUT];
    int made = 0;
    tn_status status = TN_OK;
    for (; status == TN_OK && made < node->n_out; made++) {
        const char *name = node->out[made] ? node->out[made]->name : NULL;
        void *data;
        value[made] = tn_graph_room(f->graph, name, o->out[made].dtype, &o->out[made].shape, &data);
        if (!value[made]) {
            status = tn_fail_memory(f->context->diag, node->name, 0);
            break;
        }
        results[made] = *value[made]->constant;
    }
    if (status == TN_OK) {
        status =
            tn_op_eval_into(node->op, node->attr, node->name, o->tensor, node->n_in, results, node->n_out, f->context->heap, NULL);
        if (status == TN_OUT_OF_MEMORY) {
            tn_fail_memory(f->context->diag, node->name, 0);
        }
    }
    for (int i = 0; status == TN_OK && i < node->n_out; i++) {
        if (node->out[i]) {
            status = tn_graph_replace(f->graph, node->out[i], value[i]);
            f->context->changes++;
        }
    }
    for (int i = 0; i < made; i++) {
        tn_graph_release(f->graph, value[i]);
    }
    // Another failure: no reference kernel for these types, or contents that it refuses. The run will say so, if it comes to it.
    return status == TN_OUT_OF_MEMORY ? status : TN_OK;
}

// A node over constants only.
static tn_status fold_node(fold *f, tn_node *node, operands *o)
{
    if (!may_fold(f, node) || !gather_operands(node, o)) {
        return TN_OK;
    }
    for (int i = 0; i < node->n_out; i++) {
        o->out[i] = (tn_fact){.kind = TN_KIND_TENSOR, .shape = tn_shape_unknown()};
    }
    const tn_status status =
        tn_op_infer(node->op, node->attr, node->name, o->in_at, node->n_in, o->out, node->n_out, &f->arena, NULL);
    if (status != TN_OK || !worth(f, node, o)) {
        return status == TN_OUT_OF_MEMORY ? tn_fail_memory(f->context->diag, node->name, 0) : TN_OK;
    }
    return compute(f, node, o);
}

// A node that is done with goes, and so do the bytes of constants that this run made for it only.
static void drop_folded(fold *f, tn_node *node)
{
    tn_value *const *in = node->in;
    const int n_in = node->n_in;
    if (tn_drop_unused(f->graph, f->context, node)) {
        for (int i = 0; i < n_in; i++) {
            if (in[i] && in[i]->id >= f->n_facts) {
                tn_graph_release(f->graph, in[i]);
            }
        }
    }
}

static tn_status run_fold(tn_graph *graph, tn_pass_context *context)
{
    fold f = {.graph = graph, .context = context, .n_facts = graph->n_values};
    operands *o = NULL;
    tn_status status = TN_OK;
    tn_arena_init(&f.arena, context->heap);
    f.facts = tn_arena_array(&f.arena, f.n_facts + 1, sizeof *f.facts);
    o = tn_arena_array(&f.arena, 1, sizeof *o);
    if (!f.facts || !o) {
        status = tn_fail_memory(context->diag, graph->name, f.n_facts * sizeof *f.facts);
        goto done;
    }
    // A branch that is not taken need not make sense; then there is nothing to fold in it.
    status = tn_infer_facts(graph, NULL, NULL, f.facts, &f.arena, context->heap, NULL);
    if (status != TN_OK) {
        status = status == TN_OUT_OF_MEMORY ? tn_fail_memory(context->diag, graph->name, 0) : TN_OK;
        goto done;
    }
    for (tn_node *node = graph->first, *next; node; node = next) {
        next = node->next;
        TN_GO(fold_known(&f, node));
        TN_GO(fold_node(&f, node, o));
        drop_folded(&f, node);
    }
done:
    tn_arena_deinit(&f.arena);
    return status;
}

const tn_pass tn_pass_fold = {"fold", run_fold};
