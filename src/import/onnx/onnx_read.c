// SPDX-License-Identifier: Apache-2.0
// A ModelProto: versions, functions, metadata, then its graph. Also what all parts of the reader report through and the limits
// they keep.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/onnx_read.h"

#include "base/num.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- reports and limits ----

void tn_onnx_report(tn_onnx_reader *reader, const char *format, ...)
{
    ++reader->n_refused;
    const size_t room = sizeof reader->report - reader->report_length;
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(reader->report + reader->report_length, room, format, values);
    va_end(values);
    // A line that does not fit is counted, not cut.
    if (length >= 0 && (size_t)length + 1 < room) {
        reader->report_length += (size_t)length;
        reader->report[reader->report_length++] = '\n';
        ++reader->n_reported;
    }
    reader->report[reader->report_length] = '\0';
}

// The one message about all that is not supported.
static tn_status report_all(const tn_onnx_reader *reader)
{
    if (reader->n_refused == 0) {
        return TN_OK;
    }
    const unsigned long long more = reader->n_refused - reader->n_reported;
    const int length = (int)reader->report_length - (more == 0 && reader->report_length > 0);   // no newline at the end
    char tail[64] = "";
    // Lines that did not fit are at least counted.
    if (more > 0) {
        snprintf(tail, sizeof tail, "and %llu more", more);
    }
    return tn_fail(reader->diag, TN_UNSUPPORTED, "", "%llu thing%s in this model %s not supported:\n%.*s%s",
                   (unsigned long long)reader->n_refused, reader->n_refused == 1 ? "" : "s", reader->n_refused == 1 ? "is" : "are",
                   length, reader->report, tail);
}

tn_status tn_onnx_malformed(const tn_onnx_reader *reader, const char *place, const char *type, const uint8_t *at, const char *fault)
{
    const size_t offset = at && at >= reader->data && at <= reader->data + reader->size ? (size_t)(at - reader->data) : 0;
    return tn_fail(reader->diag, TN_INVALID_MODEL, place, "malformed %s at byte %zu: %s", type, offset, fault);
}

tn_status tn_onnx_spend(tn_onnx_scope *scope, uint64_t units)
{
    tn_onnx_reader *reader = scope->reader;
    if (!scope->call) {
        return TN_OK;
    }
    reader->work += units;
    if (reader->work / TN_ONNX_WORK_PER_NODE > reader->options->limit_nodes) {
        return tn_fail(reader->diag, TN_LIMIT, scope->call->name,
                       "the model's functions expand to more work than limit_nodes (%llu) allows",
                       (unsigned long long)reader->options->limit_nodes);
    }
    return TN_OK;
}

tn_status tn_onnx_take(tn_onnx_reader *reader, size_t bytes, const char *place, void **out)
{
    // Decoding widens by 8 at most (a byte that holds a varint becomes an int64), so only constants that are decoded again and
    // again, or files that many tensors share, come here.
    const uint64_t most = reader->bytes * 8 + (UINT64_C(1) << 26);
    reader->decoded += bytes;
    if (reader->decoded > most) {
        return tn_fail(reader->diag, TN_LIMIT, place, "constants decode to more than %llu bytes, 8 times the model's size",
                       (unsigned long long)most);
    }
    *out = tn_arena_take(&reader->out->graph->arena, bytes);
    return *out ? TN_OK : tn_fail_memory(reader->diag, place, bytes);
}

tn_status tn_onnx_name(const tn_onnx_reader *reader, tn_arena *arena, tn_span span, const char *what, const char **out)
{
    if (span.size > 0 && memchr(span.data, 0, span.size)) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, "", "the name of %s holds a zero byte", what);
    }
    *out = tn_arena_text(arena, (const char *)span.data, span.size);
    return *out ? TN_OK : tn_fail_memory(reader->diag, "", span.size + 1);
}

tn_status tn_onnx_add_span(const tn_onnx_reader *reader, tn_arena *arena, tn_onnx_spans *spans, tn_span span)
{
    tn_span *v = tn_arena_grow(arena, spans->v, spans->count, &spans->capacity, sizeof *v);
    if (!v) {
        return tn_fail_memory(reader->diag, "", (spans->count + 1) * sizeof *v);
    }
    v[spans->count++] = span;
    spans->v = v;
    return TN_OK;
}

// OperatorSetIdProto. "ai.onnx" is another spelling of the default domain.
tn_status tn_onnx_add_opset(tn_onnx_reader *reader, tn_onnx_opsets *opsets, tn_span body)
{
    tn_onnx_opset opset = {{NULL, 0}, 0};
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(1, TN_WIRE_BYTES) && !tn_span_is(wire.bytes, "ai.onnx")) {
            opset.domain = wire.bytes;
        } else if (wire.key == TN_WIRE_KEY(2, TN_WIRE_VARINT)) {
            opset.version = (int64_t)wire.value;
        }
    }
    if (wire.fault) {
        return tn_onnx_malformed(reader, "", "OperatorSetIdProto", wire.at, wire.fault);
    }
    if (opsets->count == TN_ONNX_MAX_OPSETS) { // they are searched one by one for each node
        return tn_fail(reader->diag, TN_LIMIT, "", "more than %d opsets are imported", TN_ONNX_MAX_OPSETS);
    }
    tn_onnx_opset *v = tn_arena_grow(&reader->scratch, opsets->v, opsets->count, &opsets->capacity, sizeof *v);
    if (!v) {
        return tn_fail_memory(reader->diag, "", (opsets->count + 1) * sizeof *v);
    }
    v[opsets->count++] = opset;
    opsets->v = v;
    return TN_OK;
}

// ---- the model ----

typedef struct model {
    int64_t ir_version;
    tn_span producer, version, graph;
    tn_onnx_opsets opsets;
    tn_onnx_spans metadata, functions;
} model;

// The top of the file. Of fields that should be there once the last counts, as in other readers.
//
//   ModelProto   1 ir_version   2 producer_name   3 producer_version   7 graph   8 opset_import*   14 metadata_props*
//                25 functions*
static tn_status read_model(tn_onnx_reader *reader, model *m)
{
    tn_wire wire = tn_wire_open((tn_span){reader->data, reader->size});
    while (tn_wire_next(&wire)) {
        switch (wire.key) {
        case TN_WIRE_KEY(1, TN_WIRE_VARINT):
            m->ir_version = (int64_t)wire.value;
            break;
        case TN_WIRE_KEY(2, TN_WIRE_BYTES):
            m->producer = wire.bytes;
            break;
        case TN_WIRE_KEY(3, TN_WIRE_BYTES):
            m->version = wire.bytes;
            break;
        case TN_WIRE_KEY(7, TN_WIRE_BYTES):
            m->graph = wire.bytes;
            break;
        case TN_WIRE_KEY(8, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_opset(reader, &m->opsets, wire.bytes));
            break;
        case TN_WIRE_KEY(14, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_span(reader, &reader->scratch, &m->metadata, wire.bytes));
            break;
        case TN_WIRE_KEY(25, TN_WIRE_BYTES):
            TN_TRY(tn_onnx_add_span(reader, &reader->scratch, &m->functions, wire.bytes));
            break;
        default:
            break;
        }
    }
    return wire.fault ? tn_onnx_malformed(reader, "", "ModelProto", wire.at, wire.fault) : TN_OK;
}

// Newer files are refused instead of guessed at: an opset may change what an operator means. Older ones are all understood.
static tn_status check_versions(const tn_onnx_reader *reader, model *m)
{
    if (m->ir_version < 1) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, "", "the model gives no IR version");
    }
    if (m->ir_version > TN_ONNX_MAX_IR) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, "", "ONNX IR version %lld is newer than %d, the newest that is understood",
                       (long long)m->ir_version, TN_ONNX_MAX_IR);
    }
    if (!m->graph.data) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, "", "the model has no graph");
    }
    for (size_t i = 0; i < m->opsets.count; ++i) {
        const tn_onnx_opset *opset = &m->opsets.v[i];
        if (opset->domain.size == 0) {
            reader->out->opset = opset->version;
        }
        if (opset->version < 1) {
            return tn_fail(reader->diag, TN_INVALID_MODEL, "", "the model imports opset %lld of domain '%.*s'",
                           (long long)opset->version, (int)TN_MIN(opset->domain.size, 100), (const char *)opset->domain.data);
        }
    }
    if (reader->out->opset > TN_ONNX_MAX_OPSET) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, "", "ONNX opset %lld is newer than %d, the newest that is understood",
                       (long long)reader->out->opset, TN_ONNX_MAX_OPSET);
    }
    return TN_OK;
}

// Before IR version 3 models named no opsets: theirs is the first.
static tn_status default_opset(tn_onnx_reader *reader, model *m)
{
    if (m->ir_version >= 3 || reader->out->opset != 0) {
        return TN_OK;
    }
    static const uint8_t first[] = {0x10, 1}; // version: 1
    reader->out->opset = 1;
    return tn_onnx_add_opset(reader, &m->opsets, (tn_span){first, sizeof first});
}

static void write_producer(const tn_onnx_reader *reader, const model *m)
{
    char *text = reader->out->producer;
    const size_t room = sizeof reader->out->producer;
    snprintf(text, room, "%.*s%s%.*s", (int)TN_MIN(m->producer.size, room), m->producer.size ? (const char *)m->producer.data : "",
             m->producer.size > 0 && m->version.size > 0 ? " " : "", (int)TN_MIN(m->version.size, room),
             m->version.size ? (const char *)m->version.data : "");
}

// StringStringEntryProto entries become pairs of strings.
static tn_status read_metadata(tn_onnx_reader *reader, const model *m)
{
    tn_arena *arena = &reader->out->graph->arena;
    const char **pairs = tn_arena_array(arena, m->metadata.count, 2 * sizeof *pairs);
    if (!pairs) {
        return tn_fail_memory(reader->diag, "", m->metadata.count * 2 * sizeof *pairs);
    }
    for (size_t i = 0; i < m->metadata.count; ++i) {
        tn_span parts[2] = {{NULL, 0}, {NULL, 0}};
        tn_wire wire = tn_wire_open(m->metadata.v[i]);
        while (tn_wire_next(&wire)) {
            if (wire.key == TN_WIRE_KEY(1, TN_WIRE_BYTES) || wire.key == TN_WIRE_KEY(2, TN_WIRE_BYTES)) {
                parts[(wire.key >> 3) - 1] = wire.bytes;
            }
        }
        if (wire.fault) {
            return tn_onnx_malformed(reader, "", "StringStringEntryProto", wire.at, wire.fault);
        }
        for (size_t part = 0; part < 2; ++part) {
            pairs[2 * i + part] = tn_arena_text(arena, (const char *)parts[part].data, parts[part].size);
            if (!pairs[2 * i + part]) {
                return tn_fail_memory(reader->diag, "", parts[part].size);
            }
        }
    }
    reader->out->metadata = pairs;
    reader->out->n_metadata = m->metadata.count;
    return TN_OK;
}

// The name is wanted before the graph is read: places of messages carry it.
static tn_status graph_name(tn_onnx_reader *reader, tn_span graph, const char **out)
{
    tn_span name = {NULL, 0};
    tn_wire wire = tn_wire_open(graph);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(2, TN_WIRE_BYTES)) {
            name = wire.bytes;
        }
    }
    return tn_onnx_name(reader, &reader->scratch, name, "the graph", out);
}

// Everything in order: head, rows, functions, graph, then the report of what could not be mapped, then the verifier (a broken graph
// would be a bug of ours, and must not get further).
static tn_status read_main(tn_onnx_reader *reader, model *m)
{
    const char *name = "";
    TN_TRY(read_model(reader, m));
    TN_TRY(check_versions(reader, m));
    TN_TRY(default_opset(reader, m));
    TN_TRY(graph_name(reader, m->graph, &name));
    write_producer(reader, m);
    reader->out->graph = tn_graph_create(reader->heap, name);
    if (!reader->out->graph || !tn_onnx_index_rows(reader)) {
        return tn_fail_memory(reader->diag, "", sizeof(tn_graph));
    }
    TN_TRY(read_metadata(reader, m));
    for (size_t i = 0; i < m->functions.count; ++i) {
        TN_TRY(tn_onnx_read_function(reader, m->functions.v[i]));
    }
    tn_onnx_scope scope;
    tn_onnx_scope_init(&scope, reader, NULL);
    scope.graph = reader->out->graph;
    scope.opsets = &m->opsets;
    const tn_status status = tn_onnx_read_graph(&scope, m->graph);
    tn_onnx_scope_deinit(&scope);
    TN_TRY(status);
    TN_TRY(report_all(reader));
    return tn_graph_verify(reader->out->graph, reader->diag);
}

tn_status tn_import_onnx(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap,
                         tn_diag *diag)
{
    memset(out, 0, sizeof *out);
    tn_onnx_reader reader = {.out = out, .data = data, .size = size, .options = options, .heap = heap, .diag = diag, .bytes = size};
    tn_arena_init(&reader.scratch, heap);
    tn_arena_init(&reader.hints, heap);
    tn_map_init(&reader.rows, &reader.scratch);
    tn_map_init(&reader.functions, &reader.scratch);
    tn_map_init(&reader.files, &reader.scratch);
    tn_map_init(&reader.symbols, &reader.scratch);
    model m = {0};
    out->heap = heap;
    memcpy(out->format, "onnx", 5);
    const tn_status status = read_main(&reader, &m);
    tn_arena_deinit(&reader.hints);
    tn_arena_deinit(&reader.scratch);
    if (status != TN_OK) {
        tn_import_deinit(out);
    }
    return status;
}
