// SPDX-License-Identifier: Apache-2.0
// NodeProto: reads a node, finds its operands, and maps it by a function of the model, by its row, or reports that it cannot be.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/onnx_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- failing ----

// The message begins with the operator: the place of a failure is the name of a node, which says little by itself.
void tn_onnx_fail(tn_onnx_node *node, tn_status status, const char *format, ...)
{
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    if (node->status == TN_OK) {
        node->status = tn_fail(node->scope->reader->diag, status, node->name, "%.*s: %s", (int)TN_MIN(node->type.size, 100),
                               node->type.size ? (const char *)node->type.data : "", text);
    }
}

void tn_onnx_refuse(tn_onnx_node *node, const char *format, ...)
{
    char text[512];
    if (!tn_onnx_good(node)) {
        return;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    node->refused = true;
    const bool standard = node->domain.size == 0;
    char opset[40] = "of no imported opset";
    if (node->opset > 0) {
        snprintf(opset, sizeof opset, "opset %lld", (long long)node->opset);
    }
    tn_onnx_report(node->scope->reader, "node '%.200s': %.*s.%.*s (%s): %s", node->name,
                   standard ? 7 : (int)TN_MIN(node->domain.size, 100), standard ? "ai.onnx" : (const char *)node->domain.data,
                   (int)TN_MIN(node->type.size, 100), node->type.size ? (const char *)node->type.data : "", opset, text);
}

// ---- rows ----

enum { MAX_KEY = 160 };

// "domain:type"; 0: too long for any row.
static size_t row_key(tn_span domain, tn_span type, char key[MAX_KEY])
{
    if (domain.size + type.size + 1 > MAX_KEY) {
        return 0;
    }
    if (domain.size > 0) {
        memcpy(key, domain.data, domain.size);
    }
    key[domain.size] = ':';
    if (type.size > 0) {
        memcpy(key + domain.size + 1, type.data, type.size);
    }
    return domain.size + 1 + type.size;
}

static tn_span span_of(const char *text)
{
    return (tn_span){(const uint8_t *)text, strlen(text)};
}

// One map over all tables. Rows of one operator lie side by side, so the first of them is enough to find the others; a thousandth
// of a millisecond for all, against a search through every row for each node.
static bool index_tables(tn_onnx_reader *reader, const tn_onnx_table *const *tables)
{
    char key[MAX_KEY];
    for (size_t t = 0; tables && tables[t]; ++t) {
        const char *last = "";
        for (const tn_onnx_row *row = tables[t]->rows; row->type; ++row) {
            if (strcmp(row->type, last) == 0) {
                continue;
            }
            last = row->type;
            const size_t length = row_key(span_of(tables[t]->domain), span_of(row->type), key);
            if (!tn_map_set(&reader->rows, key, length, (void *)row)) {
                return false;
            }
        }
    }
    return true;
}

// The application's tables come last: a later row takes the place of an earlier one.
bool tn_onnx_index_rows(tn_onnx_reader *reader)
{
    return index_tables(reader, tn_onnx_tables) && index_tables(reader, reader->options->tables);
}

// The row for this opset. *known: the operator has rows, though perhaps not for this opset.
static const tn_onnx_row *find_row(const tn_onnx_node *node, bool *known)
{
    char key[MAX_KEY];
    const size_t length = row_key(node->domain, node->type, key);
    const tn_onnx_row *row = length ? tn_map_find(&node->scope->reader->rows, key, length) : NULL;
    *known = row != NULL;
    for (const char *type = row ? row->type : NULL; row && row->type && strcmp(row->type, type) == 0; ++row) {
        if (node->opset >= row->since && (row->until == 0 || node->opset <= row->until)) {
            return row;
        }
    }
    return NULL;
}

// ---- reading ----

// Room for one more attribute, and the attribute itself unless it refers to one that the function call lacks.
static tn_status add_attr(tn_onnx_scope *scope, tn_onnx_node *node, tn_span body)
{
    tn_onnx_reader *reader = scope->reader;
    bool found;
    if (node->n_attrs == TN_ONNX_MAX_ATTRS) {
        return tn_fail(reader->diag, TN_LIMIT, scope->graph->name, "a node has more than %d attributes", TN_ONNX_MAX_ATTRS);
    }
    tn_onnx_attr *attrs = tn_arena_grow(&scope->scratch, scope->attrs, node->n_attrs, &scope->attrs_capacity, sizeof *attrs);
    if (!attrs) {
        return tn_fail_memory(reader->diag, scope->graph->name, sizeof *attrs);
    }
    scope->attrs = node->attrs = attrs;
    TN_TRY(tn_onnx_read_attr(scope, body, node->name, &attrs[node->n_attrs], &found));
    for (size_t i = 0; i < node->n_attrs; ++i) {
        if (tn_span_equal(attrs[i].name, attrs[node->n_attrs].name)) {
            return tn_fail(reader->diag, TN_INVALID_MODEL, node->name, "attribute '%.*s' is there twice",
                           (int)TN_MIN(attrs[i].name.size, 100), (const char *)attrs[i].name.data);
        }
    }
    node->n_attrs += found;
    return TN_OK;
}

// Everything but the attributes, which want the node's name for their messages.
//
//   NodeProto   1 input*   2 output*   3 name   4 op_type   5 attribute*   7 domain   8 overload
static tn_status read_fields(tn_onnx_scope *scope, tn_onnx_node *node, tn_span body, tn_span *name)
{
    tn_onnx_reader *reader = scope->reader;
    uint64_t fields = 0;
    scope->in_names.count = scope->out_names.count = 0;
    tn_wire wire = tn_wire_open(body);
    for (; tn_wire_next(&wire); ++fields) {
        switch (wire.key) {
        case TN_WIRE_KEY(1, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_span(reader, &scope->scratch, &scope->in_names, wire.bytes));
            break;
        case TN_WIRE_KEY(2, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_span(reader, &scope->scratch, &scope->out_names, wire.bytes));
            break;
        case TN_WIRE_KEY(3, TN_WIRE_BYTES):
            *name = wire.bytes;
            break;
        case TN_WIRE_KEY(4, TN_WIRE_BYTES):
            node->type = wire.bytes;
            break;
        case TN_WIRE_KEY(7, TN_WIRE_BYTES):
            node->domain = tn_span_is(wire.bytes, "ai.onnx") ? (tn_span){NULL, 0} : wire.bytes;
            break;
        case TN_WIRE_KEY(8, TN_WIRE_BYTES):
            node->overload = wire.bytes;
            break;
        default:
            break;
        }
    }
    if (wire.fault) {
        return tn_onnx_malformed(reader, scope->graph->name, "NodeProto", wire.at, wire.fault);
    }
    return tn_onnx_spend(scope, TN_ONNX_NODE_WORK + fields * TN_ONNX_FIELD_WORK);
}

// A node without a name is called after its operator and its place in the graph.
static tn_status name_node(tn_onnx_scope *scope, tn_onnx_node *node, tn_span name, size_t index)
{
    tn_onnx_reader *reader = scope->reader;
    const char *own = NULL;
    if (name.size > 0) {
        TN_TRY(tn_onnx_name(reader, &scope->scratch, name, "a node", &own));
    }
    const size_t type = TN_MIN(node->type.size, 200);
    if (!own || (scope->prefix[0] && strlen(scope->prefix) + name.size > TN_ONNX_MAX_NAME)) {
        own = tn_arena_print(&scope->scratch, "%.*s_%zu", (int)type, type ? (const char *)node->type.data : "", index);
    }
    if (own && scope->prefix[0] && strlen(scope->prefix) < TN_ONNX_MAX_NAME) {
        own = tn_arena_print(&scope->scratch, "%s:%s", scope->prefix, own);
    }
    node->name = own;
    return own ? TN_OK : tn_fail_memory(reader->diag, scope->graph->name, name.size + TN_ONNX_MAX_NAME);
}

// A second walk over the same bytes; their form was checked by the first.
static tn_status read_attrs(tn_onnx_scope *scope, tn_onnx_node *node, tn_span body)
{
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(5, TN_WIRE_BYTES)) {
            TN_TRY(add_attr(scope, node, wire.bytes));
        }
    }
    return TN_OK;
}

// Makes an array of at least `count` pointers, all NULL; the scope keeps it for the next node.
static tn_status clear_values(tn_onnx_scope *scope, tn_value ***list, size_t *capacity, size_t count)
{
    if (count > *capacity) {
        tn_value **more = tn_arena_array(&scope->scratch, count * 2, sizeof *more);
        if (!more) {
            return tn_fail_memory(scope->reader->diag, scope->graph->name, count * 2 * sizeof *more);
        }
        *list = more;
        *capacity = count * 2;
    }
    memset(*list, 0, count * sizeof **list);
    return TN_OK;
}

// Names become values. ONNX wants the nodes of a graph in an order in which each comes after what it reads, so a name that is not
// there yet is an error, whether it comes later or never.
static tn_status find_operands(tn_onnx_scope *scope, tn_onnx_node *node)
{
    const tn_onnx_spans *names = &scope->in_names;
    if (names->count > INT32_MAX / 2 || scope->out_names.count > INT32_MAX / 2) {
        return tn_fail(scope->reader->diag, TN_LIMIT, node->name, "the node has %zu operands and %zu results", names->count,
                       scope->out_names.count);
    }
    TN_TRY(clear_values(scope, &scope->in, &scope->in_capacity, names->count + TN_ONNX_SPARE));
    TN_TRY(clear_values(scope, &scope->out, &scope->out_capacity, scope->out_names.count + TN_ONNX_SPARE));
    node->in = scope->in;
    node->out = scope->out;
    node->out_names = scope->out_names.v;
    node->n_out = (int)scope->out_names.count;
    for (size_t i = 0; i < names->count; ++i) {
        const tn_span name = names->v[i];
        bool absent = name.size == 0;
        if (!absent) {
            TN_TRY(tn_onnx_lookup(scope, name, &node->in[i], &absent));
        }
        if (node->in[i]) {
            node->n_in = (int)i + 1;
        } else if (!absent) {
            return tn_fail(scope->reader->diag, TN_INVALID_MODEL, node->name,
                           "operand '%.*s' is no input, initialiser or result of an earlier node", (int)TN_MIN(name.size, 200),
                           (const char *)name.data);
        }
    }
    return TN_OK;
}

// ---- mapping ----

// The version of the domain that this graph or function imports; 0: it does not.
static int64_t find_opset(const tn_onnx_scope *scope, tn_span domain)
{
    for (size_t i = 0; i < scope->opsets->count; ++i) {
        if (tn_span_equal(scope->opsets->v[i].domain, domain)) {
            return scope->opsets->v[i].version;
        }
    }
    return 0;
}

// An attribute that no row knows may change the meaning of its operator: better refused than ignored.
static void refuse_unknown_attrs(tn_onnx_node *node)
{
    for (size_t i = 0; i < node->n_attrs && tn_onnx_good(node); ++i) {
        const tn_onnx_attr *attr = &node->attrs[i];
        // How operators before opset 6 said which operands they may overwrite.
        if (!attr->used && !tn_span_is(attr->name, "consumed_inputs")) {
            tn_onnx_refuse(node, "attribute '%.*s' is not known", (int)TN_MIN(attr->name.size, 100), (const char *)attr->name.data);
        }
    }
}

// By the row that fits the opset. What is missing is told apart: no opset, no operator, no such version of it.
static void map_by_row(tn_onnx_node *node)
{
    bool known;
    if (node->opset == 0) {
        tn_onnx_refuse(node, "the model imports no opset of this domain");
        return;
    }
    if (node->domain.size == 0 && node->opset > TN_ONNX_MAX_OPSET) {
        tn_onnx_refuse(node, "the newest opset that is understood is %d", TN_ONNX_MAX_OPSET);
        return;
    }
    node->row = find_row(node, &known);
    if (!node->row) {
        tn_onnx_refuse(node, known ? "not in this opset" : "no such operator");
        return;
    }
    if (node->row->max_in > 0 && node->n_in > node->row->max_in) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%d operands, at most %d are allowed", node->n_in, node->row->max_in);
        return;
    }
    if (node->row->map) {
        node->row->map(node);
    } else {
        tn_onnx_plain(node);
    }
    refuse_unknown_attrs(node);
}

// Names of results now mean what was built; where nothing was, a value without producer, so that the import can go on looking.
static tn_status bind_results(tn_onnx_node *node)
{
    for (int i = 0; i < node->n_out; ++i) {
        if (node->out_names[i].size == 0) {
            continue;
        }
        tn_value *value = node->out[i];
        if (!value) {
            if (!node->refused) {
                return tn_fail(node->scope->reader->diag, TN_INVALID_MODEL, node->name, "the operator has no result %d", i);
            }
            value = tn_graph_value(node->graph, NULL);
            TN_TRY(value ? TN_OK : tn_fail_memory(node->scope->reader->diag, node->name, sizeof *value));
        }
        TN_TRY(tn_onnx_bind(node->scope, node->out_names[i], value, node->name));
    }
    return TN_OK;
}

// One node, whole. Functions of the model come before rows, so that a model may bring its own definition of an operator.
tn_status tn_onnx_read_node(tn_onnx_scope *scope, tn_span body, size_t index)
{
    tn_onnx_reader *reader = scope->reader;
    tn_onnx_node node = {.scope = scope, .graph = scope->graph};
    tn_onnx_function *function;
    tn_span name = {NULL, 0};
    if (++reader->n_nodes > reader->options->limit_nodes) {
        return tn_fail(reader->diag, TN_LIMIT, scope->graph->name, "the model has more than %llu nodes (limit_nodes)",
                       (unsigned long long)reader->options->limit_nodes);
    }
    TN_TRY(read_fields(scope, &node, body, &name));
    TN_TRY(name_node(scope, &node, name, index));
    TN_TRY(read_attrs(scope, &node, body));
    TN_TRY(find_operands(scope, &node));
    node.opset = find_opset(scope, node.domain);
    TN_TRY(tn_onnx_find_function(&node, &function));
    if (function) {
        TN_TRY(tn_onnx_call(&node, function));
    } else {
        map_by_row(&node);
    }
    TN_TRY(node.status);
    return bind_results(&node);
}
