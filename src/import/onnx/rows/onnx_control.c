// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan. Their bodies become closed graphs; what they took from outside becomes operands after the operator's own
// (ops/control/op_control.h).
// Ownership and threads: see onnx_read.h.
#include "import/onnx/rows/onnx_rows.h"

#include "import/onnx/onnx_read.h"
#include "ops/control/op_control.h"
#include "ops/sequence/op_sequence.h"

#include <string.h>

// Captures of the bodies of one node: operands of the node, inputs of every body.
typedef struct captured {
    tn_value **outer;    // n, in the order of operands
    tn_value **inner[2]; // by body; NULL: that body does not use it
    size_t n;
} captured;

static void out_of_memory(tn_onnx_node *node, size_t bytes)
{
    if (tn_onnx_good(node)) {
        node->status = tn_fail_memory(node->scope->reader->diag, node->name, bytes);
    }
}

// One list of all that the bodies use. The map finds values that both use by their addresses.
static void join_captures(tn_onnx_node *node, tn_onnx_scope *scopes, int n_bodies, captured *all)
{
    tn_arena *scratch = &scopes[0].scratch;
    const size_t most = scopes[0].n_captures + (n_bodies > 1 ? scopes[1].n_captures : 0);
    tn_map places;
    tn_map_init(&places, scratch);
    size_t *place = tn_arena_array(scratch, most, sizeof *place);
    all->outer = tn_arena_array(scratch, most, sizeof(tn_value *));
    all->inner[0] = tn_arena_array(scratch, most, sizeof(tn_value *));
    all->inner[1] = tn_arena_array(scratch, most, sizeof(tn_value *));
    if (!place || !all->outer || !all->inner[0] || !all->inner[1]) {
        out_of_memory(node, most * 4 * sizeof *place);
        return;
    }
    for (int b = 0; b < n_bodies; ++b) {
        for (size_t i = 0; i < scopes[b].n_captures; ++i) {
            const tn_onnx_capture *capture = &scopes[b].captures[i];
            const size_t *known = tn_map_find(&places, (const char *)&capture->outer, sizeof capture->outer);
            // Two names of one value make two captures; the second then gets a place of its own.
            size_t at = known && !all->inner[b][*known] ? *known : all->n;
            if (at == all->n) {
                place[all->n] = all->n;
                all->outer[all->n] = capture->outer;
                if (!tn_map_set(&places, (const char *)&capture->outer, sizeof capture->outer, &place[all->n++])) {
                    out_of_memory(node, sizeof *place);
                    return;
                }
            }
            all->inner[b][at] = capture->inner;
        }
    }
}

// The captures become the last inputs of a body.
static void add_inputs(tn_onnx_node *node, tn_graph *body, const captured *all, int b)
{
    for (size_t i = 0; i < all->n && tn_onnx_good(node); ++i) {
        const tn_value *outer = all->outer[i];
        tn_value *inner = all->inner[b][i] ? all->inner[b][i] : tn_graph_value(body, outer->name);
        if (!inner || tn_graph_add_input(body, inner) != TN_OK) {
            out_of_memory(node, sizeof *inner);
            return;
        }
        inner->kind = outer->kind;
        inner->inner = outer->inner;
        inner->dtype = outer->dtype;
        inner->shape = outer->shape;
    }
}

// The operator over its own operands and the captures. Takes the bodies and ends their scopes, also when it fails.
static void build_control(tn_onnx_node *node, const tn_op *op, const void *attr, int n_own, tn_onnx_scope *scopes, int n_bodies,
                          int n_results)
{
    captured all = {0};
    tn_value **in = NULL, **out = NULL;
    int added = 0;
    if (tn_onnx_good(node)) {
        join_captures(node, scopes, n_bodies, &all);
        in = tn_arena_array(&scopes[0].scratch, (size_t)n_own + all.n + 1, sizeof *in);
        out = tn_arena_array(&scopes[0].scratch, (size_t)n_results + 1, sizeof *out);
        if (!in || !out) {
            out_of_memory(node, ((size_t)n_own + all.n + (size_t)n_results) * sizeof *in);
        }
    }
    for (int b = 0; b < n_bodies; ++b) {
        add_inputs(node, scopes[b].graph, &all, b);
    }
    if (tn_onnx_good(node)) {
        memcpy(in, node->in, (size_t)n_own * sizeof *in);
        if (all.n > 0) {
            memcpy(in + n_own, all.outer, all.n * sizeof *in);
        }
        for (int i = 0; i < n_results; ++i) {
            out[i] = tn_onnx_result(node, i);
        }
    }
    if (tn_onnx_good(node)) {
        tn_node *made = tn_graph_node(node->graph, NULL, op, node->name, attr, in, n_own + (int)all.n, out, n_results);
        while (made && added < n_bodies && tn_node_add_body(node->graph, made, scopes[added].graph) == TN_OK) {
            ++added;
        }
        if (added < n_bodies) {
            out_of_memory(node, sizeof *made);
        }
    }
    for (int b = 0; b < n_bodies; ++b) {
        if (b >= added) {
            tn_graph_destroy(scopes[b].graph);
        }
        tn_onnx_scope_deinit(&scopes[b]);
    }
}

// The node may name fewer results than its body makes, not more.
static bool check_results(tn_onnx_node *node, size_t have)
{
    if (tn_onnx_good(node) && (node->n_out < 0 || (size_t)node->n_out > have)) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%d results, its body makes %zu", node->n_out, have);
    }
    return tn_onnx_good(node);
}

// Both branches are read before anything is built: only then is it known what they take from outside.
static void map_if(tn_onnx_node *node)
{
    tn_onnx_scope scopes[2] = {{.graph = NULL}, {.graph = NULL}};
    if (node->n_in != 1 || !node->in[0]) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%d operands, expected 1", node->n_in);
    }
    tn_onnx_body(node, "then_branch", &scopes[0]);
    tn_onnx_body(node, "else_branch", &scopes[1]);
    size_t have = 0;
    if (tn_onnx_good(node)) {
        have = scopes[0].graph->n_outputs;
        if (have != scopes[1].graph->n_outputs || scopes[0].graph->n_inputs > 0 || scopes[1].graph->n_inputs > 0) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "its branches make %zu and %zu results and must not have inputs", have,
                         scopes[1].graph->n_outputs);
        }
    }
    check_results(node, have);
    build_control(node, &tn_op_if, NULL, 1, scopes, 2, (int)have);
}

// Operands: trips?, condition?, carried...   Body: (i, condition, carried...) -> (condition, carried..., scanned...)
static void map_loop(tn_onnx_node *node)
{
    tn_onnx_scope scope = {0};
    tn_loop_attr attr = {.n_carried = TN_MAX(node->n_in - 2, 0)};
    const size_t carried = (size_t)attr.n_carried;
    for (int i = 2; i < node->n_in; ++i) {
        if (!node->in[i]) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "operand %d is missing", i);
        }
    }
    tn_onnx_body(node, "body", &scope);
    size_t have = 0;
    if (tn_onnx_good(node)) {
        if (scope.graph->n_inputs != carried + 2 || scope.graph->n_outputs < carried + 1) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "its body has %zu inputs and %zu outputs, expected %zu and %zu or more",
                         scope.graph->n_inputs, scope.graph->n_outputs, carried + 2, carried + 1);
        }
        have = tn_onnx_good(node) ? scope.graph->n_outputs - 1 : 0;
    }
    check_results(node, have);
    build_control(node, &tn_op_loop, &attr, (int)carried + 2, &scope, 1, (int)have);
}

static void check_scan_operands(tn_onnx_node *node, int64_t n_scan)
{
    if (n_scan < 1 || n_scan > node->n_in) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "num_scan_inputs is %lld of %d operands", (long long)n_scan, node->n_in);
    }
    for (int i = 0; i < node->n_in; ++i) {
        if (!node->in[i]) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "operand %d is missing", i);
        }
    }
}

// How many results the body makes; its inputs are checked too.
static size_t count_scan_results(tn_onnx_node *node, const tn_onnx_scope *scope, int64_t n_state)
{
    if (!tn_onnx_good(node)) {
        return 0;
    }
    const size_t have = scope->graph->n_outputs;
    if (scope->graph->n_inputs != (size_t)node->n_in || have < (size_t)n_state || have > INT32_MAX) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "its body has %zu inputs and %zu outputs, expected %d and %lld or more",
                     scope->graph->n_inputs, have, node->n_in, (long long)n_state);
        return 0;
    }
    return have;
}

// Operands: state..., scanned...   Body: (state..., one slice of each scanned...) -> (state..., one slice of each result...)
static void map_scan(tn_onnx_node *node)
{
    tn_onnx_scope scope = {0};
    tn_scan_attr attr = {.n_scan = tn_onnx_int(node, "num_scan_inputs", 0),
                         .in_axes = tn_onnx_ints(node, "scan_input_axes"),
                         .in_directions = tn_onnx_ints(node, "scan_input_directions"),
                         .out_axes = tn_onnx_ints(node, "scan_output_axes"),
                         .out_directions = tn_onnx_ints(node, "scan_output_directions")};
    check_scan_operands(node, attr.n_scan);
    attr.n_state = node->n_in - attr.n_scan;
    tn_onnx_body(node, "body", &scope);
    const size_t have = count_scan_results(node, &scope, attr.n_state);
    check_results(node, have);
    build_control(node, &tn_op_scan, &attr, node->n_in, &scope, 1, (int)have);
}

// ---- Scan of opset 8: state and scanned values have a batch dim in front ----

// A scope like the one of a body in which there is nothing yet but an input for each operand of the node.
static void open_batch(tn_onnx_node *node, tn_onnx_scope *batch, tn_value **in)
{
    tn_onnx_scope *outer = node->scope;
    tn_onnx_scope_init(batch, outer->reader, outer);
    batch->graph = tn_graph_create(outer->reader->heap, "batch");
    for (int i = 0; i < node->n_in && batch->graph; ++i) {
        in[i] = tn_graph_value(batch->graph, NULL);
        if (!in[i] || tn_graph_add_input(batch->graph, in[i]) != TN_OK) {
            out_of_memory(node, sizeof *in[i]);
            return;
        }
    }
    if (!batch->graph) {
        out_of_memory(node, sizeof *batch->graph);
    }
}

// The scan over the time steps of one element of the batch, inside `batch`. Its results are the outputs there.
static void scan_steps(tn_onnx_node *node, tn_onnx_scope *batch, tn_value **in, const tn_scan_attr *attr)
{
    tn_arena *scratch = &batch->scratch;
    tn_onnx_scope body;
    tn_onnx_node step = *node;
    step.scope = batch;
    step.graph = batch->graph;
    step.in = in;
    tn_onnx_body(&step, "body", &body);
    const size_t have = count_scan_results(&step, &body, attr->n_state);
    step.n_out = (int)have;
    step.out = tn_arena_array(scratch, have + 1, sizeof *step.out);
    step.out_names = tn_arena_array(scratch, have + 1, sizeof *step.out_names);
    for (size_t i = 0; i < have && step.out && tn_onnx_good(&step); ++i) {
        step.out[i] = tn_graph_value(batch->graph, NULL);
        if (!step.out[i] || tn_graph_add_output(batch->graph, step.out[i]) != TN_OK) {
            out_of_memory(&step, sizeof *step.out[i]);
        }
    }
    if (!step.out || !step.out_names) {
        out_of_memory(&step, have * sizeof *step.out);
    }
    build_control(&step, &tn_op_scan, attr, node->n_in, &body, 1, (int)have);
    node->status = step.status;
}

// Operands: lengths?, state [B, ...]..., scanned [B, T, ...]...: a scan over B whose body is the scan over T.
static void map_scan_8(tn_onnx_node *node)
{
    tn_onnx_scope batch = {0};
    if (tn_onnx_in(node, 0)) {
        tn_onnx_refuse(node, "sequences of different lengths");
        return;
    }
    ++node->in;
    node->n_in = TN_MAX(node->n_in - 1, 0);
    const tn_scan_attr all = {.n_scan = node->n_in};
    tn_scan_attr attr = {.n_scan = tn_onnx_int(node, "num_scan_inputs", 0), .in_directions = tn_onnx_ints(node, "directions")};
    check_scan_operands(node, attr.n_scan);
    attr.n_state = node->n_in - attr.n_scan;
    tn_value **in = tn_arena_array(&node->scope->scratch, (size_t)node->n_in + 1, sizeof *in);
    if (!in) {
        out_of_memory(node, (size_t)node->n_in * sizeof *in);
    }
    if (tn_onnx_good(node)) {
        open_batch(node, &batch, in);
    }
    if (tn_onnx_good(node)) {
        scan_steps(node, &batch, in, &attr);
    }
    const size_t have = batch.graph ? batch.graph->n_outputs : 0;
    check_results(node, have);
    build_control(node, &tn_op_scan, &all, node->n_in, &batch, 1, (int)have);
}

// ---- SequenceMap: a loop over the items ----

// A sequence_map being built. `step` stands for the node inside the loop's body.
typedef struct mapping {
    tn_onnx_scope *loop;
    tn_onnx_node step;
    tn_value *iteration;
    tn_value **lists; // carried: the results so far
    tn_value **items; // what the graph of the node gets: n_in
    tn_value **made;  // what it makes: n_out
    size_t n_out;
} mapping;

static tn_value *loop_input(mapping *m, tn_kind kind, tn_dtype dtype, int rank)
{
    tn_value *value = tn_graph_value(m->loop->graph, NULL);
    if (!value || tn_graph_add_input(m->loop->graph, value) != TN_OK) {
        out_of_memory(&m->step, sizeof *value);
        return NULL;
    }
    value->kind = kind;
    value->dtype = dtype;
    value->shape = rank < 0 ? tn_shape_unknown() : tn_shape_of(0, NULL);
    return value;
}

// Body: (i, condition, list...) -> (condition, list with what the graph makes of item i...)
static void fill_loop(mapping *m, const tn_onnx_info *results)
{
    tn_onnx_node *step = &m->step;
    m->iteration = loop_input(m, TN_KIND_TENSOR, TN_I64, 0);
    tn_value *condition = loop_input(m, TN_KIND_TENSOR, TN_BOOL, 0);
    for (size_t j = 0; j < m->n_out && tn_onnx_good(step); ++j) {
        m->lists[j] = loop_input(m, TN_KIND_SEQUENCE, results[j].dtype, -1);
    }
    for (int k = 0; k < step->n_in && tn_onnx_good(step); ++k) {
        step->status = tn_onnx_take_value(m->loop, step->in[k], &m->items[k]);
        if (tn_onnx_good(step) && step->in[k]->kind == TN_KIND_SEQUENCE) {
            m->items[k] = tn_onnx_emit(step, &tn_op_sequence_at, NULL, TN_IN(m->items[k], m->iteration));
        }
    }
    tn_onnx_inline(step, "body", m->items, (size_t)step->n_in, m->made, m->n_out);
    if (tn_onnx_good(step) && tn_graph_add_output(m->loop->graph, condition) != TN_OK) {
        out_of_memory(step, sizeof condition);
    }
    for (size_t j = 0; j < m->n_out && tn_onnx_good(step); ++j) {
        tn_value *grown = tn_onnx_emit(step, &tn_op_sequence_insert, NULL, TN_IN(m->lists[j], m->made[j]));
        if (grown && tn_graph_add_output(m->loop->graph, grown) != TN_OK) {
            out_of_memory(step, sizeof grown);
        }
    }
}

// The loop's own operands: as many turns as the first sequence has items, and empty lists.
static void open_lists(tn_onnx_node *node, const tn_onnx_info *results, size_t n_out, tn_value **own)
{
    own[0] = tn_onnx_emit(node, &tn_op_sequence_length, NULL, TN_IN(node->in[0]));
    own[1] = NULL;
    for (size_t j = 0; j < n_out && tn_onnx_good(node); ++j) {
        const tn_sequence_empty_attr attr = {results[j].dtype};
        own[2 + j] = tn_onnx_emit(node, &tn_op_sequence_empty, &attr, NULL, 0);
    }
}

// Operands: a sequence, then sequences of the same length and tensors that every turn sees.
static void map_sequence_map(tn_onnx_node *node)
{
    tn_onnx_scope loop = {0};
    tn_onnx_info *results = NULL;
    const size_t n_out = tn_onnx_declared(node, "body", TN_ONNX_OUTPUTS, &results);
    tn_arena *scratch = &node->scope->scratch;
    for (int k = 0; k < node->n_in && tn_onnx_good(node); ++k) {
        if (!node->in[k] || (k == 0 && node->in[k]->kind != TN_KIND_SEQUENCE)) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "operand %d %s", k, node->in[k] ? "is not a sequence" : "is missing");
        }
    }
    if (tn_onnx_good(node) && (node->n_in < 1 || n_out > TN_MAX_OUT)) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%d operands, its graph has %zu outputs", node->n_in, n_out);
    }
    mapping m = {.loop = &loop, .n_out = n_out};
    m.lists = tn_arena_array(scratch, n_out + 1, sizeof(tn_value *));
    m.made = tn_arena_array(scratch, n_out + 1, sizeof(tn_value *));
    m.items = tn_arena_array(scratch, (size_t)node->n_in + 1, sizeof(tn_value *));
    tn_value **own = tn_arena_array(scratch, n_out + 3, sizeof(tn_value *));
    if (!m.lists || !m.made || !m.items || !own) {
        out_of_memory(node, (n_out + (size_t)node->n_in) * sizeof *own);
    }
    if (!check_results(node, n_out)) {
        return;
    }
    open_lists(node, results, n_out, own);
    tn_onnx_scope_init(&loop, node->scope->reader, node->scope);
    loop.graph = tn_graph_create(loop.reader->heap, "sequence_map");
    if (!loop.graph) {
        out_of_memory(node, sizeof *loop.graph);
    }
    m.step = *node;
    m.step.scope = &loop;
    m.step.graph = loop.graph;
    if (tn_onnx_good(node)) {
        fill_loop(&m, results);
        node->status = m.step.status;
        node->refused = m.step.refused;
    }
    const tn_loop_attr attr = {.n_carried = (int64_t)n_out};
    node->in = own;
    build_control(node, &tn_op_loop, &attr, (int)n_out + 2, &loop, 1, (int)n_out);
}

static const tn_onnx_row rows[] = {
    {.type = "If", .since = 1, .op = &tn_op_if, .map = map_if},
    {.type = "Loop", .since = 1, .op = &tn_op_loop, .map = map_loop},
    {.type = "Scan", .since = 8, .until = 8, .op = &tn_op_scan, .map = map_scan_8},
    {.type = "Scan", .since = 9, .op = &tn_op_scan, .map = map_scan},
    {.type = "SequenceMap", .since = 17, .op = &tn_op_loop, .map = map_sequence_map},
    {0},
};

const tn_onnx_table tn_onnx_control = {"", rows};
