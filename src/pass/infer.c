// SPDX-License-Identifier: Apache-2.0
// The inference walk: nodes in order, each by its descriptor's infer; what is small and depends on known things only is computed
// with the reference kernel, so that shape arithmetic goes on. Control operators are walked in infer_control.c.
// One numbering of symbols serves a whole walk, that of the outermost graph; writing into a body translates by name.
// Ownership: facts in the caller's arena. Threads: one walk is one thread.
#include "pass/infer_walk.h"

#include "ops/op_eval.h"
#include "pass/pass.h"

// Operands of a node that is computed may hold so many elements together.
#define MAX_OPERAND_ELEMS 65536

// Types whose tensors may hold shapes, axes and counts.
static bool countable(tn_dtype dtype) { return tn_dtype_is_int(dtype) || dtype == TN_BOOL; }

// The elements of a known integer tensor in dim coding. Numbers that the coding needs for itself become unknown.
static bool elems_of_value(tn_fact *fact, tn_arena *arena)
{
    int64_t count;
    if (!countable(fact->dtype) || !tn_shape_count(&fact->shape, &count) || count > TN_INFER_MAX_ELEMS) {
        return true;
    }
    int64_t *elems = tn_arena_array(arena, (size_t)TN_MAX(count, 1), sizeof *elems);
    if (!elems) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t v = tn_dtype_load_i64(fact->dtype, fact->value->data, (size_t)i);
        elems[i] = tn_dim_known(v) ? v : TN_DIM_UNKNOWN;
    }
    fact->elems = elems;
    return true;
}

// The reverse: elements that infer could all tell make a value.
static bool value_of_elems(tn_fact *fact, tn_arena *arena)
{
    int64_t count;
    if (!fact->elems || fact->value || !countable(fact->dtype) || !tn_shape_count(&fact->shape, &count) ||
        count > TN_INFER_MAX_ELEMS) {
        return true;
    }
    for (int64_t i = 0; i < count; i++) {
        if (!tn_dim_known(fact->elems[i])) {
            return true;
        }
    }
    tn_tensor *value = tn_arena_array(arena, 1, sizeof *value);
    void *data = tn_arena_array(arena, (size_t)TN_MAX(count, 1), tn_dtype_bytes(fact->dtype));
    if (!value || !data) {
        return false;
    }
    for (int64_t i = 0; i < count; i++) {
        tn_dtype_store_i64(fact->dtype, data, (size_t)i, fact->elems[i]);
    }
    *value = (tn_tensor){.dtype = fact->dtype, .layout = TN_LAYOUT_PLAIN, .shape = fact->shape, .data = data};
    fact->value = value;
    return true;
}

// Constants are known by value; small integer ones also element by element, for descriptors that only look at those.
static tn_status fact_of_constant(tn_walk *walk, const tn_tensor *tensor, tn_fact *fact)
{
    *fact = (tn_fact){.kind = TN_KIND_TENSOR, .dtype = tensor->dtype, .shape = tensor->shape, .value = tensor};
    return elems_of_value(fact, walk->arena) ? TN_OK : tn_fail_memory(walk->diag, "", TN_INFER_MAX_ELEMS * 8);
}

// ---- one node ----

// Whether the node's results may be computed now: everything it reads is known and small, and it has no will of its own.
static bool computable(const tn_node *node, const tn_fact *const *in, const tn_fact *out)
{
    if ((node->op->flags & (TN_OP_RANDOM | TN_OP_CONTROL)) || node->n_in > TN_MAX_IN) {
        return false;
    }
    int64_t total = 0, count;
    for (int i = 0; i < node->n_in; i++) {
        if (!in[i]) {
            continue;
        }
        if (!in[i]->value || in[i]->kind != TN_KIND_TENSOR || in[i]->dtype == TN_STRING ||
            !tn_shape_count(&in[i]->shape, &count) || count > MAX_OPERAND_ELEMS) {
            return false;
        }
        total += count;
    }
    for (int i = 0; i < node->n_out; i++) {
        if (out[i].kind != TN_KIND_TENSOR || out[i].dtype == TN_STRING) {
            return false;
        }
        // A result of a shape that depends on contents is bounded by max_bytes when it is computed.
        const bool told = tn_shape_count(&out[i].shape, &count);
        if (told ? count > TN_INFER_MAX_ELEMS : !(node->op->flags & TN_OP_DYNAMIC)) {
            return false;
        }
    }
    return total <= MAX_OPERAND_ELEMS;
}

// Computes the results. A kernel that fails leaves them as they are: the node may stand where it is never run.
static tn_status compute(tn_walk *walk, const tn_node *node, const tn_fact *const *in, tn_fact *out)
{
    const tn_tensor *operands[TN_MAX_IN];
    for (int i = 0; i < node->n_in; i++) {
        operands[i] = in[i] ? in[i]->value : NULL;
    }
    tn_tensor *results = tn_arena_array(walk->arena, (size_t)node->n_out, sizeof *results);
    if (!results) {
        return tn_fail_memory(walk->diag, node->name, (size_t)node->n_out * sizeof *results);
    }
    const tn_status status = tn_op_eval(node->op, node->attr, node->name, operands, node->n_in, results, node->n_out,
                                        TN_INFER_MAX_ELEMS * sizeof(double) * 2, walk->arena, walk->heap, NULL);
    if (status != TN_OK) {
        return status == TN_OUT_OF_MEMORY ? tn_fail_memory(walk->diag, node->name, 0) : TN_OK;
    }
    for (int i = 0; i < node->n_out; i++) {
        int64_t count;
        if (node->out[i] && results[i].data && tn_shape_count(&results[i].shape, &count) && count <= TN_INFER_MAX_ELEMS) {
            TN_TRY(fact_of_constant(walk, &results[i], &out[i]));
        }
    }
    return TN_OK;
}

// What the descriptor says of node's results; control operators are asked through their bodies.
static tn_status ask(tn_walk *walk, const tn_node *node, const tn_fact *const *in, tn_fact *out)
{
    for (int i = 0; i < node->n_out; i++) {
        out[i] = (tn_fact){.kind = TN_KIND_TENSOR, .shape = tn_shape_unknown()};
    }
    if (node->op->flags & TN_OP_CONTROL) {
        return tn_walk_control(walk, node, in, out);
    }
    const tn_dim_names dims = {walk->root->symbols, walk->root->n_symbols};
    tn_infer infer = {.op = node->op, .attr = node->attr, .name = node->name, .n_in = node->n_in, .n_out = node->n_out, .in = in, .out = out,
                      .arena = walk->arena, .diag = walk->diag, .dims = &dims};
    TN_TRY(tn_op_ask(&infer));
    for (int i = 0; i < node->n_out; i++) {
        if (!value_of_elems(&out[i], walk->arena)) {
            return tn_fail_memory(walk->diag, node->name, TN_INFER_MAX_ELEMS * 8);
        }
    }
    return computable(node, in, out) ? compute(walk, node, in, out) : TN_OK;
}

// Gives a fresh symbol to each dim that is not known.
static void freshen(tn_walk *walk, tn_fact *fact)
{
    for (int d = 0; walk->fresh && d < fact->shape.rank; d++) {
        if (fact->shape.dims[d] == TN_DIM_UNKNOWN && walk->next_fresh < TN_MAX_SYMBOLS) {
            fact->shape.dims[d] = TN_DIM_SYMBOL + walk->next_fresh++;
        }
    }
}

// Infers one node from the facts of its operands and stores those of its results. Most nodes have few operands: their lists are
// on the stack, as a plan of many nodes should not fill an arena with pointers.
static tn_status walk_node(tn_walk *walk, const tn_node *node, const tn_fact *const *known, tn_fact *facts)
{
    const tn_fact *few_in[16];
    tn_fact few_out[4];
    const tn_fact **in = few_in;
    tn_fact *out = few_out;
    if (node->n_in > (int)TN_COUNT(few_in)) {
        in = tn_arena_array(walk->arena, (size_t)node->n_in, sizeof *in);
    }
    if (node->n_out > (int)TN_COUNT(few_out)) {
        out = tn_arena_array(walk->arena, (size_t)node->n_out, sizeof *out);
    }
    if (!in || !out) {
        return tn_fail_memory(walk->diag, node->name, (size_t)node->n_in * sizeof *in + (size_t)node->n_out * sizeof *out);
    }
    bool all_known = known != NULL;
    for (int i = 0; all_known && i < node->n_out; i++) {
        all_known = !node->out[i] || known[node->out[i]->id];
    }
    if (!all_known) {
        for (int i = 0; i < node->n_in; i++) {
            in[i] = node->in[i] ? &facts[node->in[i]->id] : NULL;
        }
        TN_TRY(ask(walk, node, in, out));
    }
    for (int i = 0; i < node->n_out; i++) {
        if (!node->out[i]) {
            continue;
        }
        const uint32_t id = node->out[i]->id;
        // What an earlier stage found out stands, whatever infer says.
        facts[id] = known && known[id] ? *known[id] : out[i];
        freshen(walk, &facts[id]);
    }
    return TN_OK;
}

// ---- a graph ----

// The failure of an input: the caller's fault for a graph, the model's for a body.
static tn_status contradiction(const tn_walk *walk, const char *place, const char *what, const tn_fact *fact, tn_dtype dtype,
                               const tn_shape *shape)
{
    char given[160], declared[160];
    return tn_fail(walk->diag, walk->depth ? TN_INVALID_MODEL : TN_INVALID_ARGUMENT, place, "%s is %s%s, but %s%s is declared",
                   what, tn_dtype_text(fact->dtype), tn_graph_shape_print(walk->root, &fact->shape, given, sizeof given), tn_dtype_text(dtype),
                   tn_graph_shape_print(walk->root, shape, declared, sizeof declared));
}

// Joins the declaration of an input of the outermost graph with what is given for it.
static bool merge_declared(tn_fact *fact, const tn_value *value)
{
    if (value->shape.rank < 0) {
        return true;
    }
    if (fact->shape.rank < 0) {
        fact->shape = value->shape;
        return true;
    }
    if (fact->shape.rank != value->shape.rank) {
        return false;
    }
    for (int d = 0; d < fact->shape.rank; d++) {
        const int64_t declared = value->shape.dims[d];
        if (!tn_dim_known(fact->shape.dims[d])) {
            fact->shape.dims[d] = declared;
        } else if (tn_dim_known(declared) && declared != fact->shape.dims[d]) {
            return false;
        }
    }
    return true;
}

// An input's fact. Shapes that a body declares for its inputs are not believed: a state may change its shape from one turn to
// the next, and exporters write those of the first.
static tn_status input_fact(tn_walk *walk, const tn_value *value, const tn_fact *given, tn_fact *fact)
{
    if (!given) {
        *fact = (tn_fact){.kind = value->kind, .inner = value->inner, .dtype = value->dtype, .shape = value->shape};
        freshen(walk, fact);
        return TN_OK;
    }
    *fact = *given;
    if (fact->dtype == TN_NONE) {
        fact->dtype = value->dtype;
    }
    const bool typed = value->dtype == TN_NONE || (value->dtype == fact->dtype && value->kind == fact->kind);
    if (!typed || (walk->depth == 0 && !merge_declared(fact, value))) {
        return contradiction(walk, value->name, walk->depth ? "what reaches this input of a body" : "this input", given,
                             value->dtype, &value->shape);
    }
    if (fact->value && !fact->elems && !elems_of_value(fact, walk->arena)) {
        return tn_fail_memory(walk->diag, value->name, TN_INFER_MAX_ELEMS * 8);
    }
    freshen(walk, fact);
    return TN_OK;
}

tn_status tn_walk_graph(tn_walk *walk, const tn_graph *graph, const tn_fact *inputs, const tn_fact *const *known, tn_fact *facts)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        const tn_value *value = graph->values[i];
        facts[i] = (tn_fact){.kind = TN_KIND_TENSOR, .shape = tn_shape_unknown()};
        if (value && value->constant) {
            TN_TRY(fact_of_constant(walk, value->constant, &facts[i]));
        } else if (value && known && known[i]) {
            facts[i] = *known[i];
        }
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        const tn_value *value = graph->inputs[i];
        if (!(known && known[value->id])) {
            TN_TRY(input_fact(walk, value, inputs ? &inputs[i] : NULL, &facts[value->id]));
        }
    }
    for (const tn_node *node = graph->first; node; node = node->next) {
        TN_TRY(walk_node(walk, node, known, facts));
    }
    return TN_OK;
}

tn_status tn_infer_facts(const tn_graph *graph, const tn_fact *inputs, const tn_fact *const *known, tn_fact *facts, tn_arena *arena,
                         tn_heap *heap, tn_diag *diag)
{
    tn_walk walk = {.arena = arena, .heap = heap, .diag = diag, .root = graph, .next_fresh = TN_FRESH_SYMBOL};
    return tn_walk_graph(&walk, graph, inputs, known, facts);
}

// ---- writing into the graph ----

// A shape in the outermost graph's symbols, in those of `graph`. Fresh symbols have the same numbers everywhere.
static tn_status translate(const tn_walk *walk, tn_graph *graph, tn_shape *shape)
{
    for (int d = 0; graph != walk->root && d < shape->rank; d++) {
        const int64_t dim = shape->dims[d];
        if (tn_dim_known(dim) || dim == TN_DIM_UNKNOWN || dim - TN_DIM_SYMBOL >= TN_FRESH_SYMBOL) {
            continue;
        }
        const size_t id = (size_t)(dim - TN_DIM_SYMBOL);
        const int mine = id < walk->root->n_symbols ? tn_graph_symbol(graph, walk->root->symbols[id]) : -1;
        if (mine < 0) {
            return tn_fail_memory(walk->diag, graph->name, sizeof(char *));
        }
        shape->dims[d] = TN_DIM_SYMBOL + mine;
    }
    return TN_OK;
}

// A symbol that only this walk, or an earlier one, knows.
static bool is_fresh(int64_t dim)
{
    return !tn_dim_known(dim) && dim != TN_DIM_UNKNOWN && dim - TN_DIM_SYMBOL >= TN_FRESH_SYMBOL;
}

// The declared shape of a result tells dims that inference cannot.
static void keep_declared(const tn_value *value, tn_shape *shape)
{
    if (!value->is_output || value->is_input || value->shape.rank < 0) {
        return;
    }
    if (shape->rank < 0) {
        *shape = value->shape;
    }
    for (int d = 0; shape->rank == value->shape.rank && d < shape->rank; d++) {
        const int64_t dim = shape->dims[d], declared = value->shape.dims[d];
        if ((dim == TN_DIM_UNKNOWN || is_fresh(dim)) && declared != TN_DIM_UNKNOWN && !is_fresh(declared)) {
            shape->dims[d] = declared;
        }
    }
}

// A declared type that inference contradicts is an error; declared shapes of inner values are not even looked at, as exporters
// get them wrong after edits.
static tn_status write_value(const tn_walk *walk, tn_graph *graph, tn_value *value, const tn_fact *fact)
{
    const char *place = value->producer ? value->producer->name : value->name;
    if (fact->dtype != TN_NONE && value->dtype != TN_NONE && (fact->dtype != value->dtype || fact->kind != value->kind)) {
        return tn_fail(walk->diag, TN_INVALID_MODEL, place, "its result \"%s\" is of type %s, but %s is declared", value->name,
                       tn_dtype_text(fact->dtype), tn_dtype_text(value->dtype));
    }
    tn_shape shape = fact->shape;
    TN_TRY(translate(walk, graph, &shape));
    keep_declared(value, &shape);
    value->kind = fact->kind;
    value->inner = fact->inner;
    value->dtype = fact->dtype != TN_NONE ? fact->dtype : value->dtype;
    value->shape = shape;
    return TN_OK;
}

tn_status tn_walk_write(tn_walk *walk, tn_graph *graph, const tn_fact *facts)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        tn_value *value = graph->values[i];
        if (value && !value->constant && (value->producer || value->is_input)) {
            TN_TRY(write_value(walk, graph, value, &facts[i]));
        }
    }
    return TN_OK;
}

void tn_infer_forget_fresh(tn_graph *graph)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        tn_shape *shape = graph->values[i] ? &graph->values[i]->shape : NULL;
        for (int d = 0; shape && d < shape->rank; d++) {
            if (is_fresh(shape->dims[d])) {
                shape->dims[d] = TN_DIM_UNKNOWN;
            }
        }
    }
    for (tn_node *node = graph->first; node; node = node->next) {
        for (int i = 0; i < node->n_bodies; i++) {
            tn_infer_forget_fresh(node->bodies[i]);
        }
    }
}

// Symbols of an earlier walk are forgotten first: this walk numbers its own from the same start.
static tn_status infer_graph(tn_graph *graph, bool fresh, tn_heap *heap, tn_diag *diag)
{
    tn_infer_forget_fresh(graph);
    tn_arena arena;
    tn_arena_init(&arena, heap);
    tn_walk walk = {.arena = &arena, .heap = heap, .diag = diag, .root = graph, .write = true, .fresh = fresh,
                    .next_fresh = TN_FRESH_SYMBOL};
    tn_status status = TN_OK;
    tn_fact *facts = tn_arena_array(&arena, graph->n_values + 1, sizeof *facts);
    if (!facts) {
        status = tn_fail_memory(diag, graph->name, graph->n_values * sizeof *facts);
        goto done;
    }
    TN_GO(tn_walk_graph(&walk, graph, NULL, NULL, facts));
    TN_GO(tn_walk_write(&walk, graph, facts));
done:
    tn_arena_deinit(&arena);
    return status;
}

tn_status tn_infer_graph(tn_graph *graph, tn_heap *heap, tn_diag *diag) { return infer_graph(graph, false, heap, diag); }

tn_status tn_infer_graph_fresh(tn_graph *graph, tn_heap *heap, tn_diag *diag) { return infer_graph(graph, true, heap, diag); }
