// SPDX-License-Identifier: Apache-2.0
// GraphProto: initialisers, inputs, nodes, outputs, each in a walk of its own over the top fields, because the file has them in
// another order than they are needed. Also the bodies of control operators.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/onnx_read.h"

#include <string.h>

enum { NODE = 1, INITIALISER = 5, INPUT = 11, OUTPUT = 12, SPARSE_INITIALISER = 15 }; // fields of GraphProto

// A constant under the tensor's name. The name is read first: it is the place of all messages about the tensor.
static tn_status read_initialiser(tn_onnx_scope *scope, tn_span body)
{
    tn_onnx_reader *reader = scope->reader;
    tn_onnx_tensor tensor;
    const char *name = "";
    tn_value *value;
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(8, TN_WIRE_BYTES)) {
            TN_TRY(tn_onnx_full_name(scope, wire.bytes, "an initialiser", &name));
        }
    }
    TN_TRY(tn_onnx_read_tensor(reader, body, name ? name : "", &tensor));
    if (tensor.refused) {
        tn_onnx_report(reader, "initialiser '%s': %s", name ? name : "", tensor.refused);
        value = tn_graph_value(scope->graph, name);
        TN_TRY(value ? TN_OK : tn_fail_memory(reader->diag, name ? name : "", sizeof *value));
    } else {
        TN_TRY(tn_onnx_constant(reader, scope->graph, name, tensor.dtype, &tensor.shape, tensor.data, false, &value));
        tn_onnx_count_parameters(reader, &tensor.shape);
    }
    return tn_onnx_bind(scope, tensor.name, value, name ? name : "");
}

// A sparse initialiser is bound to a value that cannot be used: the report makes the import fail at its end.
static tn_status read_sparse(tn_onnx_scope *scope, tn_span body)
{
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key != TN_WIRE_KEY(1, TN_WIRE_BYTES)) {
            continue;
        }
        tn_onnx_tensor values;
        const char *name;
        TN_TRY(tn_onnx_read_tensor(scope->reader, wire.bytes, scope->graph->name, &values));
        TN_TRY(tn_onnx_full_name(scope, values.name, "an initialiser", &name));
        tn_onnx_report(scope->reader, "initialiser '%s': sparse tensors", name ? name : "");
        tn_value *value = tn_graph_value(scope->graph, name);
        TN_TRY(value ? TN_OK : tn_fail_memory(scope->reader->diag, "", sizeof *value));
        TN_TRY(tn_onnx_bind(scope, values.name, value, name ? name : ""));
    }
    return wire.fault ? tn_onnx_malformed(scope->reader, scope->graph->name, "SparseTensorProto", wire.at, wire.fault) : TN_OK;
}

// An input that has an initialiser is a constant (files before IR version 4 list all initialisers as inputs too). In the main graph a caller
// may replace it.
static tn_status keep_default(tn_onnx_scope *scope, const tn_value *value)
{
    tn_import *out = scope->reader->out;
    if (scope->outer || scope->call || !value->constant) {
        return TN_OK;
    }
    const char **list = tn_arena_grow(&scope->graph->arena, out->defaults, out->n_defaults, &out->defaults_capacity, sizeof *list);
    if (!list) {
        return tn_fail_memory(scope->reader->diag, value->name, sizeof *list);
    }
    out->defaults = list;
    out->defaults[out->n_defaults++] = value->name;
    return TN_OK;
}

static tn_status read_input(tn_onnx_scope *scope, tn_span body)
{
    tn_onnx_reader *reader = scope->reader;
    tn_onnx_info info;
    const char *name;
    TN_TRY(tn_onnx_read_info(reader, body, !scope->outer, &info));
    const tn_value *known = info.name.size > 0 ? tn_map_find(&scope->values, (const char *)info.name.data, info.name.size) : NULL;
    if (known && !known->is_input) {
        return keep_default(scope, known);
    }
    TN_TRY(tn_onnx_full_name(scope, info.name, "an input", &name));
    if (info.refused) {
        tn_onnx_report(reader, "input '%s': %s", name ? name : "", info.refused);
    } else if (info.dtype == TN_NONE && !scope->outer) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, name, "the input has no type");
    }
    tn_value *value = tn_graph_value(scope->graph, name);
    if (!value || tn_graph_add_input(scope->graph, value) != TN_OK) {
        return tn_fail_memory(reader->diag, name ? name : "", sizeof *value);
    }
    value->kind = info.kind;
    value->inner = info.inner;
    value->dtype = info.dtype;
    value->shape = info.shape;
    return tn_onnx_bind(scope, info.name, value, name ? name : "");
}

// An output may be any value that the graph can see, in a body also one from outside; it is then captured like an operand.
static tn_status read_output(tn_onnx_scope *scope, tn_span body)
{
    tn_onnx_reader *reader = scope->reader;
    tn_onnx_info info;
    tn_value *value;
    bool absent;
    TN_TRY(tn_onnx_read_info(reader, body, false, &info));
    TN_TRY(tn_onnx_lookup(scope, info.name, &value, &absent));
    if (!value) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, scope->graph->name, "output '%.*s' is not a value of the graph",
                       (int)TN_MIN(info.name.size, 200), info.name.size ? (const char *)info.name.data : "");
    }
    if (info.refused) {
        tn_onnx_report(reader, "output '%s': %s", value->name, info.refused);
    }
    if (value->dtype == TN_NONE) {
        value->kind = info.kind;
        value->inner = info.inner;
        value->dtype = info.dtype;
    }
    return tn_graph_add_output(scope->graph, value) == TN_OK ? TN_OK : tn_fail_memory(reader->diag, value->name, sizeof value);
}

// GraphProto   1 node*   5 initializer*   11 input*   12 output*   15 sparse_initializer*   (13 value_info is not needed)
static tn_status read_part(tn_onnx_scope *scope, uint32_t number, tn_span body, size_t index)
{
    switch (number) {
    case NODE:
        return tn_onnx_read_node(scope, body, index);
    case INITIALISER:
        return read_initialiser(scope, body);
    case SPARSE_INITIALISER:
        return read_sparse(scope, body);
    case INPUT:
        return read_input(scope, body);
    default:
        return read_output(scope, body);
    }
}

// Reads the parts of a graph in the given order.
static tn_status read_parts(tn_onnx_scope *scope, tn_span body, const uint32_t *order, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        size_t index = 0;
        tn_wire wire = tn_wire_open(body);
        while (tn_wire_next(&wire)) {
            if (wire.key == TN_WIRE_KEY(order[i], TN_WIRE_BYTES)) {
                TN_TRY(read_part(scope, order[i], wire.bytes, index++));
            }
            TN_TRY(tn_onnx_spend(scope, TN_ONNX_FIELD_WORK));
        }
        if (wire.fault) {
            return tn_onnx_malformed(scope->reader, scope->graph->name, "GraphProto", wire.at, wire.fault);
        }
    }
    return TN_OK;
}

tn_status tn_onnx_read_graph(tn_onnx_scope *scope, tn_span body)
{
    static const uint32_t order[] = {INITIALISER, SPARSE_INITIALISER, INPUT, NODE, OUTPUT};
    TN_TRY(read_parts(scope, body, order, TN_COUNT(order)));
    if (!scope->outer && scope->graph->n_outputs == 0) {
        return tn_fail(scope->reader->diag, TN_INVALID_MODEL, scope->graph->name, "the graph has no outputs");
    }
    return TN_OK;
}

// ---- bodies ----

// The scope of the graph in an attribute; its tn_graph is for the caller to set.
static tn_status open_scope(tn_onnx_node *node, const char *attr, tn_onnx_scope *inner, tn_span *graph)
{
    tn_onnx_scope *outer = node->scope;
    tn_onnx_reader *reader = outer->reader;
    const tn_onnx_attr *found = tn_onnx_find(node, attr);
    if (!found || found->type != TN_ONNX_GRAPH || !found->bytes.data) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, node->name, "attribute '%s' must be a graph", attr);
    }
    if (outer->depth >= TN_ONNX_MAX_NESTING) {
        return tn_fail(reader->diag, TN_LIMIT, node->name, "graphs are nested more than %d deep", TN_ONNX_MAX_NESTING);
    }
    *graph = found->bytes;
    tn_onnx_scope_init(inner, reader, outer);
    return TN_OK;
}

// The graph of a failed body is destroyed here; a good one is the caller's until a node owns it.
tn_graph *tn_onnx_body(tn_onnx_node *node, const char *attr, tn_onnx_scope *inner)
{
    tn_span graph;
    *inner = (tn_onnx_scope){0};
    if (!tn_onnx_good(node)) {
        return NULL;
    }
    node->status = open_scope(node, attr, inner, &graph);
    if (node->status != TN_OK) {
        return NULL;
    }
    inner->graph = tn_graph_create(inner->reader->heap, attr);
    node->status =
        inner->graph ? tn_onnx_read_graph(inner, graph) : tn_fail_memory(inner->reader->diag, node->name, sizeof(tn_graph));
    if (node->status != TN_OK) {
        tn_graph_destroy(inner->graph);
        inner->graph = NULL;
    }
    return inner->graph;
}

// ---- graphs that are read into the graph of their node ----

// The values declared under field `number` (inputs or outputs), at most `most`; more are only counted.
static tn_status list_declared(tn_onnx_scope *scope, tn_span graph, uint32_t number, tn_onnx_info *infos, size_t most, size_t *count)
{
    *count = 0;
    tn_wire wire = tn_wire_open(graph);
    while (tn_wire_next(&wire)) {
        if (wire.key != TN_WIRE_KEY(number, TN_WIRE_BYTES)) {
            continue;
        }
        if (*count < most) {
            TN_TRY(tn_onnx_read_info(scope->reader, wire.bytes, false, &infos[*count]));
        }
        ++*count;
    }
    return wire.fault ? tn_onnx_malformed(scope->reader, scope->prefix, "GraphProto", wire.at, wire.fault) : TN_OK;
}

// Exactly `expected` of them.
static tn_status find_declared(tn_onnx_scope *scope, tn_span graph, uint32_t number, tn_onnx_info **infos, size_t expected)
{
    size_t count;
    *infos = tn_arena_array(&scope->scratch, expected + 1, sizeof **infos);
    if (!*infos) {
        return tn_fail_memory(scope->reader->diag, scope->prefix, expected * sizeof **infos);
    }
    TN_TRY(list_declared(scope, graph, number, *infos, expected, &count));
    return count == expected ? TN_OK
                             : tn_fail(scope->reader->diag, TN_INVALID_MODEL, scope->prefix, "its graph has %zu %s, expected %zu", count,
                                       number == INPUT ? "inputs" : "outputs", expected);
}

size_t tn_onnx_declared(tn_onnx_node *node, const char *attr, uint32_t field, tn_onnx_info **infos)
{
    tn_onnx_scope *scope = node->scope;
    const tn_onnx_attr *found = tn_onnx_good(node) ? tn_onnx_find(node, attr) : NULL;
    size_t count = 0;
    if (!found || found->type != TN_ONNX_GRAPH || !found->bytes.data) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "attribute '%s' must be a graph", attr);
        return 0;
    }
    node->status = list_declared(scope, found->bytes, field, NULL, 0, &count);
    if (node->status == TN_OK) {
        node->status = find_declared(scope, found->bytes, field, infos, count);
    }
    return node->status == TN_OK ? count : 0;
}

// Like a function call whose text is a graph: names inside get the node's name before them, values outside are seen as they are.
static tn_status read_inline(tn_onnx_scope *scope, tn_span graph, tn_value *const *in, size_t n_in, tn_value **out, size_t n_out)
{
    static const uint32_t order[] = {INITIALISER, SPARSE_INITIALISER, NODE};
    tn_onnx_info *inputs, *outputs;
    bool absent;
    TN_TRY(find_declared(scope, graph, INPUT, &inputs, n_in));
    TN_TRY(find_declared(scope, graph, OUTPUT, &outputs, n_out));
    for (size_t i = 0; i < n_in; ++i) {
        TN_TRY(tn_onnx_bind(scope, inputs[i].name, in[i], scope->prefix));
    }
    TN_TRY(read_parts(scope, graph, order, TN_COUNT(order)));
    for (size_t i = 0; i < n_out; ++i) {
        TN_TRY(tn_onnx_lookup(scope, outputs[i].name, &out[i], &absent));
        if (!out[i]) {
            return tn_fail(scope->reader->diag, TN_INVALID_MODEL, scope->prefix, "its graph does not make its output %zu", i);
        }
    }
    return TN_OK;
}

void tn_onnx_inline(tn_onnx_node *node, const char *attr, tn_value *const *in, size_t n_in, tn_value **out, size_t n_out)
{
    tn_onnx_scope inner = {.graph = NULL};
    tn_span graph = {0};
    if (tn_onnx_good(node)) {
        node->status = open_scope(node, attr, &inner, &graph);
        if (node->status == TN_OK) {
            inner.graph = node->graph;
            inner.prefix = node->name;
            node->status = read_inline(&inner, graph, in, n_in, out, n_out);
        }
        tn_onnx_scope_deinit(&inner);
    }
    for (size_t i = 0; i < n_out && !tn_onnx_good(node); ++i) {
        out[i] = NULL;
    }
}
