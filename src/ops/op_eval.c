// SPDX-License-Identifier: Apache-2.0
// One operator on known operands: infer, find the reference row, give it memory, run it. Folding and shape values go through here,
// so results are bounded before they are allocated.
// Ownership: results are in the caller's arena; the row's scratch is given back. Threads: any, one arena each.
#include "ops/op_eval.h"

#include <string.h>
#include "base/num.h"

typedef struct eval {
    tn_query query;
    tn_tensor *out;                        // the caller's, n_out
    const tn_tensor *in[TN_MAX_IN];
    tn_tensor aligned[TN_MAX_IN];          // copies of operands whose bytes lie too badly for the row
    const tn_tensor *out_facts[TN_MAX_OUT];
    tn_tensor *out_list[TN_MAX_OUT];
    const void *packed[TN_MAX_PACKS];
    void *scratch;
    size_t max_bytes;
    bool given;                            // the caller's results have their memory
    tn_arena *arena;
    tn_heap *heap;
    tn_diag *diag;
} eval;

tn_status tn_op_ask(tn_infer *infer)
{
    const tn_op *op = infer->op;
    if (infer->n_in < op->min_in || infer->n_in > (op->max_in < 0 ? TN_MAX_IN : op->max_in)) {
        return tn_fail(infer->diag, TN_INVALID_MODEL, infer->name, "%s takes %d to %d operands, not %d", op->name, op->min_in,
                       op->max_in < 0 ? TN_MAX_IN : op->max_in, infer->n_in);
    }
    if (infer->n_out < op->min_out || infer->n_out > (op->max_out < 0 ? TN_MAX_OUT : op->max_out)) {
        return tn_fail(infer->diag, TN_INVALID_MODEL, infer->name, "%s has %d to %d results, not %d", op->name, op->min_out,
                       op->max_out < 0 ? TN_MAX_OUT : op->max_out, infer->n_out);
    }
    for (int i = 0; i < infer->n_out; i++) {
        infer->out[i] = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = TN_NONE, .shape = tn_shape_unknown()};
    }
    return op->infer(infer);
}

tn_status tn_op_infer(const tn_op *op, const void *attr, const char *name, const tn_fact *const *in, int n_in, tn_fact *out, int n_out,
                      tn_arena *arena, tn_diag *diag)
{
    tn_infer infer = {.op = op, .attr = attr, .name = name, .n_in = n_in, .n_out = n_out, .in = in, .out = out, .arena = arena,
                      .diag = diag};
    return tn_op_ask(&infer);
}

static tn_status infer_outputs(eval *e)
{
    tn_fact facts[TN_MAX_IN], out[TN_MAX_OUT];
    const tn_fact *in[TN_MAX_IN] = {0};
    const tn_query *q = &e->query;
    for (int i = 0; i < q->n_in; i++) {
        if (q->in[i]) {
            facts[i] = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = q->in[i]->dtype, .shape = q->in[i]->shape, .value = q->in[i]};
            in[i] = &facts[i];
        }
    }
    TN_TRY(tn_op_infer(q->op, q->attr, q->name, in, q->n_in, out, q->n_out, e->arena, e->diag));
    for (int i = 0; i < q->n_out; i++) {
        if (out[i].kind != TN_KIND_TENSOR) {
            return tn_fail(e->diag, TN_UNSUPPORTED, q->name, "%s: result %d is not a tensor", q->op->name, i);
        }
        if (e->given && (e->out[i].dtype != out[i].dtype || !tn_shape_equal(&e->out[i].shape, &out[i].shape))) {
            return tn_fail(e->diag, TN_INTERNAL, q->name, "%s: result %d is not what it was said to be", q->op->name, i);
        }
        e->out[i] = (tn_tensor){.dtype = out[i].dtype, .layout = TN_LAYOUT_PLAIN, .shape = out[i].shape,
                                .data = e->given ? e->out[i].data : NULL};
    }
    return TN_OK;
}

// Memory for one result whose shape is known.
static tn_status give_memory(const eval *e, tn_tensor *out)
{
    size_t bytes;
    const bool fits = tn_tensor_bytes(out, &bytes);
    if (!fits || bytes > e->max_bytes) {
        char shape[192];
        return tn_fail(e->diag, TN_LIMIT, e->query.name, "%s: a result of shape %s is larger than %zu bytes", e->query.op->name,
                       tn_shape_print(&out->shape, shape, sizeof shape), e->max_bytes);
    }
    out->data = tn_arena_take(e->arena, bytes);
    return out->data ? TN_OK : tn_fail_memory(e->diag, e->query.name, bytes);
}

static tn_status resize(const tn_call *call, int index, const tn_shape *shape)
{
    const eval *e = call->resize_context;
    if (index < 0 || index >= call->n_out || !call->out[index]) {
        return TN_OK;   // a result that nobody asked for
    }
    call->out[index]->shape = *shape;
    return give_memory(e, call->out[index]);
}

// Rows that read constants in place may need them aligned; a file's bytes often are not.
static tn_status align_operands(eval *e)
{
    for (int i = 0; i < e->query.n_in; i++) {
        size_t bytes;
        const tn_tensor *from = e->in[i];
        if (!from || !tn_tensor_bytes(from, &bytes) || bytes == 0 || (uintptr_t)from->data % 16 == 0) {
            continue;
        }
        e->aligned[i] = *from;
        e->aligned[i].data = tn_arena_copy(e->arena, from->data, bytes);
        if (!e->aligned[i].data) {
            return tn_fail_memory(e->diag, e->query.name, bytes);
        }
        e->in[i] = &e->aligned[i];
    }
    return TN_OK;
}

static tn_status pack_operands(eval *e, const tn_prepare *prepare)
{
    for (int i = 0; i < prepare->n_packs; i++) {
        const tn_pack *pack = &prepare->packs[i];
        size_t room;
        void *bytes = tn_add_size(pack->bytes, TN_ALIGNMENT, &room) ? tn_arena_take(e->arena, room) : NULL;
        if (!bytes) {
            return tn_fail_memory(e->diag, e->query.name, pack->bytes);
        }
        bytes = (char *)bytes + (TN_ALIGNMENT - (uintptr_t)bytes % TN_ALIGNMENT) % TN_ALIGNMENT;
        pack->pack(bytes, &e->query, prepare->params);
        e->packed[i] = bytes;
    }
    return TN_OK;
}

static tn_status run_row(eval *e, const tn_kernel *row)
{
    const tn_query *q = &e->query;
    tn_prepare prepare = {.query = q, .row = row, .arena = e->arena, .diag = e->diag};
    if (row->prepare) {
        TN_TRY(row->prepare(&prepare));
    }
    TN_TRY(pack_operands(e, &prepare));
    if (prepare.scratch_bytes) {
        e->scratch = tn_take(e->heap, prepare.scratch_bytes);
        if (!e->scratch) {
            return tn_fail_memory(e->diag, q->name, prepare.scratch_bytes);
        }
    }
    tn_call call = {.op = q->op, .attr = q->attr, .name = q->name, .n_in = q->n_in, .n_out = q->n_out, .in = e->in,
                    .out = e->out_list, .params = prepare.params, .scratch = e->scratch, .heap = e->heap, .objects = e->arena,
                    .diag = e->diag, .resize = resize, .resize_context = e};
    memcpy(call.packed, e->packed, sizeof call.packed);
    const tn_status status = row->run(&call);
    tn_give(e->heap, e->scratch);
    return status;
}

static tn_status evaluate(eval *e, const tn_op *op, const void *attr, const char *name, const tn_tensor *const *in, int n_in, int n_out)
{
    if (n_in > TN_MAX_IN || n_out > TN_MAX_OUT || op->flags & TN_OP_CONTROL) {
        return tn_fail(e->diag, TN_UNSUPPORTED, name, "%s cannot be evaluated on its own", op->name);
    }
    tn_cpu cpu = {.cores = 1, .l1d = 32 << 10, .l2 = 512 << 10, .l3 = 8 << 20};   // references do not look at it
    for (int i = 0; i < n_in; i++) {
        e->in[i] = in[i];
    }
    e->query = (tn_query){.op = op, .attr = attr, .name = name, .n_in = n_in, .n_out = n_out, .in = e->in, .out = e->out_facts,
                         .cpu = &cpu, .threads = 1};
    for (int i = 0; i < n_out; i++) {
        e->out_list[i] = &e->out[i];
        e->out_facts[i] = &e->out[i];
    }
    TN_TRY(infer_outputs(e));
    const tn_kernel *row = tn_registry_reference(&e->query);
    if (!row) {
        return tn_fail(e->diag, TN_UNSUPPORTED, name, "%s has no reference kernel for %s", op->name,
                       n_in && in[0] ? tn_dtype_text(in[0]->dtype) : "these operands");
    }
    TN_TRY(align_operands(e));
    for (int i = 0; i < n_out && !(op->flags & TN_OP_DYNAMIC); i++) {
        if (!tn_shape_known(&e->out[i].shape)) {
            // Contents such as the lowest numbers, which stand for "not known" in shapes, lead here.
            return tn_fail(e->diag, TN_INVALID_ARGUMENT, name, "%s: the operands' contents tell no shape for result %d", op->name, i);
        }
        if (!e->given) {
            TN_TRY(give_memory(e, &e->out[i]));
        }
    }
    return run_row(e, row);
}

tn_status tn_op_eval(const tn_op *op, const void *attr, const char *name, const tn_tensor *const *in, int n_in, tn_tensor *out,
                     int n_out, size_t max_bytes, tn_arena *arena, tn_heap *heap, tn_diag *diag)
{
    eval e = {.out = out, .max_bytes = max_bytes, .arena = arena, .heap = heap, .diag = diag};
    return evaluate(&e, op, attr, name, in, n_in, n_out);
}

tn_status tn_op_eval_into(const tn_op *op, const void *attr, const char *name, const tn_tensor *const *in, int n_in, tn_tensor *out,
                          int n_out, tn_heap *heap, tn_diag *diag)
{
    tn_arena arena;
    tn_arena_init(&arena, heap);
    eval e = {.out = out, .given = true, .max_bytes = SIZE_MAX, .arena = &arena, .heap = heap, .diag = diag};
    const tn_status status = evaluate(&e, op, attr, name, in, n_in, n_out);
    tn_arena_deinit(&arena);
    return status;
}

// ---- counting ----

static void fact_of(const tn_value *value, tn_fact *fact)
{
    *fact = (tn_fact){.kind = value->kind, .dtype = value->dtype, .shape = value->shape, .value = value->constant};
}

int64_t tn_node_macs(const tn_node *node)
{
    tn_fact in[TN_MAX_IN], out[TN_MAX_OUT];
    const tn_fact *pointers[TN_MAX_IN];
    if (!node->op->macs || node->n_in > TN_MAX_IN || node->n_out > TN_MAX_OUT) {
        return 0;
    }
    memset(out, 0, sizeof(tn_fact) * (size_t)node->n_out);
    for (int i = 0; i < node->n_in; i++) {
        pointers[i] = node->in[i] ? &in[i] : NULL;
        if (node->in[i]) {
            if (!tn_shape_known(&node->in[i]->shape)) {
                return -1;
            }
            fact_of(node->in[i], &in[i]);
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i]) {
            if (!tn_shape_known(&node->out[i]->shape)) {
                return -1;
            }
            fact_of(node->out[i], &out[i]);
        }
    }
    const int64_t macs = node->op->macs(node->attr, pointers, node->n_in, out, node->n_out);
    return macs > 0 ? macs : 0;
}

int64_t tn_graph_macs(const tn_graph *graph)
{
    int64_t sum = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        const int64_t macs = tn_node_macs(node);
        if (macs < 0) {
            return -1;
        }
        if (__builtin_add_overflow(sum, macs, &sum)) {
            return INT64_MAX;
        }
    }
    return sum;
}
