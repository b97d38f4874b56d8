// SPDX-License-Identifier: Apache-2.0
// Names: what a name means in a graph, in a body (which sees the graphs around it) and in a function call (which sees its operands
// only). A body becomes a closed graph: the first use of an outer value makes an inner one and notes the pair; an outer constant
// becomes a constant of the body with the same weight id, so that it can be packed there too.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/onnx_read.h"

#include <string.h>

// Stands in the maps of function calls for an operand that the caller left out. Only its address is used.
static const tn_value absent_operand;

static tn_status out_of_memory(const tn_onnx_scope *scope, size_t bytes)
{
    return tn_fail_memory(scope->reader->diag, scope->graph->name, bytes);
}

void tn_onnx_scope_init(tn_onnx_scope *scope, tn_onnx_reader *reader, tn_onnx_scope *outer)
{
    *scope = (tn_onnx_scope){.reader = reader, .outer = outer, .prefix = ""};
    tn_arena_init(&scope->scratch, reader->heap);
    tn_map_init(&scope->values, &scope->scratch);
    tn_map_init(&scope->renamed, &scope->scratch);
    if (outer) {
        scope->opsets = outer->opsets;
        scope->depth = outer->depth + 1;
        scope->call = outer->call;
        scope->defaults = outer->defaults;
        scope->n_defaults = outer->n_defaults;
    }
}

void tn_onnx_scope_deinit(tn_onnx_scope *scope)
{
    tn_arena_deinit(&scope->scratch);
    *scope = (tn_onnx_scope){0};
}

// A name means one value in a graph, once and for all (ONNX wants single assignment).
tn_status tn_onnx_bind(tn_onnx_scope *scope, tn_span name, tn_value *value, const char *place)
{
    if (name.size == 0) {
        return tn_fail(scope->reader->diag, TN_INVALID_MODEL, place, "a value has no name");
    }
    if (tn_map_find(&scope->values, (const char *)name.data, name.size)) {
        return tn_fail(scope->reader->diag, TN_INVALID_MODEL, place, "value '%.*s' is defined twice", (int)TN_MIN(name.size, 200),
                       (const char *)name.data);
    }
    return tn_map_set(&scope->values, (const char *)name.data, name.size, value) ? TN_OK : out_of_memory(scope, name.size);
}

tn_status tn_onnx_bind_absent(tn_onnx_scope *scope, tn_span name)
{
    return tn_onnx_bind(scope, name, (tn_value *)&absent_operand, scope->graph->name);
}

tn_status tn_onnx_take_value(tn_onnx_scope *scope, tn_value *outer, tn_value **out)
{
    tn_value *inner;
    tn_onnx_reader *reader = scope->reader;
    if (++reader->n_captures > reader->options->limit_nodes) {
        return tn_fail(reader->diag, TN_LIMIT, scope->graph->name, "bodies take more than %llu values from outside (limit_nodes)",
                       (unsigned long long)reader->options->limit_nodes);
    }
    if (outer->constant) {
        const tn_tensor *constant = outer->constant;
        TN_TRY(
            tn_onnx_constant(reader, scope->graph, outer->name, constant->dtype, &constant->shape, constant->data, false, &inner));
        inner->weight = outer->weight;
    } else {
        tn_onnx_capture *captures =
            tn_arena_grow(&scope->scratch, scope->captures, scope->n_captures, &scope->captures_capacity, sizeof *captures);
        inner = captures ? tn_graph_value(scope->graph, outer->name) : NULL;
        if (!inner) {
            return out_of_memory(scope, sizeof *inner);
        }
        inner->kind = outer->kind;
        inner->inner = outer->inner;
        inner->dtype = outer->dtype;
        inner->shape = outer->shape;
        captures[scope->n_captures++] = (tn_onnx_capture){outer, inner};
        scope->captures = captures;
    }
    *out = inner;
    return TN_OK;
}

// Both the pair and the name are kept, so that the next use of the name finds the stand-in at once.
static tn_status capture(tn_onnx_scope *scope, tn_span name, tn_value *outer, tn_value **out)
{
    TN_TRY(tn_onnx_take_value(scope, outer, out));
    return tn_map_set(&scope->values, (const char *)name.data, name.size, *out) ? TN_OK : out_of_memory(scope, name.size);
}

// Nesting is bounded by TN_ONNX_MAX_NESTING, so is this recursion.
tn_status tn_onnx_lookup(tn_onnx_scope *scope, tn_span name, tn_value **out, bool *absent)
{
    tn_value *outer = NULL;
    *out = name.size > 0 ? tn_map_find(&scope->values, (const char *)name.data, name.size) : NULL;
    *absent = *out == &absent_operand;
    if (*absent) {
        *out = NULL;
    }
    if (*out || *absent || !scope->outer || name.size == 0) {
        return TN_OK;
    }
    TN_TRY(tn_onnx_lookup(scope->outer, name, &outer, absent));
    if (outer && scope->graph == scope->outer->graph) {
        *out = outer; // a graph that is read into the one around it
        return TN_OK;
    }
    return outer ? capture(scope, name, outer, out) : TN_OK;
}

// "call:name" inside a function, the caller's name for a result of the function, the plain name elsewhere.
tn_status tn_onnx_full_name(tn_onnx_scope *scope, tn_span name, const char *what, const char **out)
{
    if (scope->renamed.count > 0 && name.size > 0) {
        *out = tn_map_find(&scope->renamed, (const char *)name.data, name.size);
        if (*out) {
            return TN_OK;
        }
    }
    TN_TRY(tn_onnx_name(scope->reader, &scope->scratch, name, what, out));
    const size_t prefix = strlen(scope->prefix);
    if (prefix == 0) {
        return TN_OK;
    }
    // Names of calls in calls grow with the nesting; beyond the limit the graph numbers the value instead.
    if (prefix + name.size > TN_ONNX_MAX_NAME) {
        *out = NULL;
        return TN_OK;
    }
    *out = tn_arena_print(&scope->scratch, "%s:%s", scope->prefix, *out);
    return *out ? TN_OK : out_of_memory(scope, prefix + name.size + 2);
}
