// SPDX-License-Identifier: Apache-2.0
// FunctionProto: functions that the model defines. A call is expanded in place: the function's nodes are read again in a scope that
// knows the call's operands and attributes, with the function's own opsets. Results get the caller's names, other values the
// call's name before their own.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/onnx_read.h"

#include <string.h>

// Functions are found by domain, name and overload, joined with zero bytes (names hold none).
static tn_status function_key(const tn_onnx_reader *reader, tn_arena *arena, const tn_span parts[3], const char **key,
                              size_t *length)
{
    *length = parts[0].size + parts[1].size + parts[2].size + 2;
    char *text = tn_arena_take(arena, *length);
    if (!text) {
        return tn_fail_memory(reader->diag, "", *length);
    }
    *key = text;
    for (int i = 0; i < 3; ++i) {
        if (parts[i].size > 0) {
            memcpy(text, parts[i].data, parts[i].size);
        }
        text += parts[i].size + 1;
    }
    return TN_OK;
}

// FunctionProto   1 name   4 input*   5 output*   6 attribute*   7 node*   9 opset_import*   10 domain   11 attribute_proto*
//                 13 overload
static tn_status read_head(tn_onnx_reader *reader, tn_onnx_function *function)
{
    tn_wire wire = tn_wire_open(function->body);
    while (tn_wire_next(&wire)) {
        switch (wire.key) {
        case TN_WIRE_KEY(1, TN_WIRE_BYTES):
            function->name = wire.bytes;
            break;
        case TN_WIRE_KEY(4, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_span(reader, &reader->scratch, &function->inputs, wire.bytes));
            break;
        case TN_WIRE_KEY(5, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_span(reader, &reader->scratch, &function->outputs, wire.bytes));
            break;
        case TN_WIRE_KEY(9, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_opset(reader, &function->opsets, wire.bytes));
            break;
        case TN_WIRE_KEY(10, TN_WIRE_BYTES):
            function->domain = tn_span_is(wire.bytes, "ai.onnx") ? (tn_span){NULL, 0} : wire.bytes;
            break;
        case TN_WIRE_KEY(13, TN_WIRE_BYTES):
            function->overload = wire.bytes;
            break;
        default:
            break;
        }
    }
    return wire.fault ? tn_onnx_malformed(reader, "", "FunctionProto", wire.at, wire.fault) : TN_OK;
}

// Only the head is read and kept; the nodes are read anew at each call.
tn_status tn_onnx_read_function(tn_onnx_reader *reader, tn_span body)
{
    const char *key = NULL;
    size_t length = 0;
    tn_onnx_function *function = tn_arena_take(&reader->scratch, sizeof *function);
    if (!function) {
        return tn_fail_memory(reader->diag, "", sizeof *function);
    }
    function->body = body;
    TN_TRY(read_head(reader, function));
    const tn_span parts[3] = {function->domain, function->name, function->overload};
    TN_TRY(function_key(reader, &reader->scratch, parts, &key, &length));
    if (tn_map_find(&reader->functions, key, length)) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, "", "function '%.*s' is defined twice",
                       (int)TN_MIN(function->name.size, 200), function->name.size ? (const char *)function->name.data : "");
    }
    return tn_map_set(&reader->functions, key, length, function) ? TN_OK : tn_fail_memory(reader->diag, "", length);
}

tn_status tn_onnx_find_function(const tn_onnx_node *node, tn_onnx_function **out)
{
    const tn_onnx_reader *reader = node->scope->reader;
    const char *key = NULL;
    size_t length = 0;
    *out = NULL;
    if (reader->functions.count == 0) {
        return TN_OK;
    }
    const tn_span parts[3] = {node->domain, node->type, node->overload};
    TN_TRY(function_key(reader, &node->scope->scratch, parts, &key, &length));
    *out = tn_map_find(&reader->functions, key, length);
    return TN_OK;
}

// ---- calls ----

// attribute_proto: defaults of attributes that the call may leave out.
static tn_status read_defaults(tn_onnx_scope *scope, const tn_onnx_function *function)
{
    tn_onnx_reader *reader = scope->reader;
    size_t capacity = 0;
    tn_wire wire = tn_wire_open(function->body);
    while (tn_wire_next(&wire)) {
        if (wire.key != TN_WIRE_KEY(11, TN_WIRE_BYTES)) {
            continue;
        }
        if (scope->n_defaults == TN_ONNX_MAX_ATTRS) {
            return tn_fail(reader->diag, TN_LIMIT, scope->call->name, "a function has more than %d attributes", TN_ONNX_MAX_ATTRS);
        }
        tn_onnx_attr *defaults = tn_arena_grow(&scope->scratch, scope->defaults, scope->n_defaults, &capacity, sizeof *defaults);
        if (!defaults) {
            return tn_fail_memory(reader->diag, scope->call->name, sizeof *defaults);
        }
        bool found;
        scope->defaults = defaults;
        TN_TRY(tn_onnx_read_attr(scope, wire.bytes, scope->call->name, &defaults[scope->n_defaults], &found));
        scope->n_defaults += found;
    }
    return TN_OK;
}

// The function's names for the call's operands. An operand that the call leaves out stands for "absent" inside, and may be handed
// on as such.
static tn_status bind_operands(tn_onnx_scope *scope, const tn_onnx_function *function)
{
    const tn_onnx_node *call = scope->call;
    if ((size_t)call->n_in > function->inputs.count) {
        return tn_fail(scope->reader->diag, TN_INVALID_MODEL, call->name, "%d operands, the function takes %zu", call->n_in,
                       function->inputs.count);
    }
    for (size_t i = 0; i < function->inputs.count; ++i) {
        tn_value *value = tn_onnx_in(call, (int)i);
        TN_TRY(value ? tn_onnx_bind(scope, function->inputs.v[i], value, call->name)
                     : tn_onnx_bind_absent(scope, function->inputs.v[i]));
    }
    return tn_onnx_spend(scope, (function->inputs.count + function->outputs.count) * TN_ONNX_FIELD_WORK);
}

// Results of the function are to have the names that the caller gives them.
static tn_status rename_results(tn_onnx_scope *scope, const tn_onnx_function *function)
{
    const tn_onnx_node *call = scope->call;
    if ((size_t)call->n_out > function->outputs.count) {
        return tn_fail(scope->reader->diag, TN_INVALID_MODEL, call->name, "%d results, the function has %zu", call->n_out,
                       function->outputs.count);
    }
    for (int i = 0; i < call->n_out; ++i) {
        const tn_span inner = function->outputs.v[i];
        const char *name;
        if (call->out_names[i].size == 0 || inner.size == 0 || tn_map_find(&scope->renamed, (const char *)inner.data, inner.size)) {
            continue;
        }
        TN_TRY(tn_onnx_full_name(call->scope, call->out_names[i], "a value", &name));
        if (name && !tn_map_set(&scope->renamed, (const char *)inner.data, inner.size, (void *)name)) {
            return tn_fail_memory(scope->reader->diag, call->name, inner.size);
        }
    }
    return TN_OK;
}

// The nodes, in the function's own scope.
static tn_status read_nodes(tn_onnx_scope *scope, const tn_onnx_function *function)
{
    size_t index = 0;
    tn_wire wire = tn_wire_open(function->body);
    while (tn_wire_next(&wire)) {
        TN_TRY(tn_onnx_spend(scope, TN_ONNX_FIELD_WORK));
        if (wire.key == TN_WIRE_KEY(7, TN_WIRE_BYTES)) {
            TN_TRY(tn_onnx_read_node(scope, wire.bytes, index++));
        }
    }
    return TN_OK;
}

// The caller's results. One that the function hands through from an operand, or gives twice, is copied so that it has its name.
static tn_status take_results(tn_onnx_scope *scope, const tn_onnx_function *function)
{
    tn_onnx_node *call = scope->call;
    for (int i = 0; i < call->n_out; ++i) {
        tn_value *value;
        bool absent;
        const char *name;
        if (call->out_names[i].size == 0) {
            continue;
        }
        TN_TRY(tn_onnx_lookup(scope, function->outputs.v[i], &value, &absent));
        if (!value) {
            return tn_fail(scope->reader->diag, TN_INVALID_MODEL, call->name, "the function does not make its result %d", i);
        }
        TN_TRY(tn_onnx_full_name(call->scope, call->out_names[i], "a value", &name));
        if (name && strcmp(name, value->name) != 0) {
            tn_onnx_finish_as(call, i, value);
        } else {
            call->out[i] = value;
        }
        TN_TRY(call->status);
    }
    return TN_OK;
}

static tn_status expand(tn_onnx_scope *scope, const tn_onnx_function *function)
{
    TN_TRY(read_defaults(scope, function));
    TN_TRY(bind_operands(scope, function));
    TN_TRY(rename_results(scope, function));
    TN_TRY(read_nodes(scope, function));
    return take_results(scope, function);
}

// Calls nest, and a function may be called again and again: depth, nodes and work are limited, and a function that is being
// expanded cannot be called.
tn_status tn_onnx_call(tn_onnx_node *node, tn_onnx_function *function)
{
    tn_onnx_scope *outer = node->scope;
    tn_onnx_reader *reader = outer->reader;
    if (function->active) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, node->name, "function '%.*s' calls itself",
                       (int)TN_MIN(function->name.size, 200), (const char *)function->name.data);
    }
    if (outer->depth >= TN_ONNX_MAX_NESTING) {
        return tn_fail(reader->diag, TN_LIMIT, node->name, "functions are nested more than %d deep", TN_ONNX_MAX_NESTING);
    }
    tn_onnx_scope scope;
    tn_onnx_scope_init(&scope, reader, NULL);
    scope.graph = outer->graph;
    scope.opsets = &function->opsets;
    scope.depth = outer->depth + 1;
    scope.call = node;
    scope.prefix = node->name;
    function->active = true;
    const tn_status status = expand(&scope, function);
    function->active = false;
    tn_onnx_scope_deinit(&scope);
    return status;
}
