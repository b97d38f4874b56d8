// SPDX-License-Identifier: Apache-2.0
// The .tenon reader's way through a file: root, version, operators, weights, graphs, packed forms. Nothing is believed before it was
// compared with the bytes that are there; whatever depends on the build (operators, attributes, enumerated values) is found by name.
// Ownership and threads: see tenon_read.h.
#include "import/tenon/tenon_read.h"

#include "base/num.h"
#include "base/text.h"
#include "dispatch/registry.h"
#include "import/onnx/onnx_map.h"
#include "loop/loop.h"
#include "ops/control/op_flow.h"
#include "ops/move/op_copy.h"
#include "ops/move/op_relayout.h"
#include "ops/joined/op_conv_pair.h"

#include <stdio.h>

tn_status tn_tenon_invalid(const tn_tenon_reader *reader, const char *place, const char *what)
{
    return tn_fail(reader->diag, TN_INVALID_MODEL, place, "the .tenon file is broken: %s", what);
}

tn_status tn_tenon_check(const tn_tenon_reader *reader, const char *place)
{
    return reader->flat.fault ? tn_tenon_invalid(reader, place, reader->flat.fault) : TN_OK;
}

tn_status tn_tenon_spend(tn_tenon_reader *reader, const char *place, uint64_t bytes)
{
    reader->spent += bytes;
    if (reader->spent > reader->budget) {
        return tn_fail(reader->diag, TN_LIMIT, place, "the graphs of the file stand for far more than its %zu bytes", reader->flat.size);
    }
    return TN_OK;
}

// ---- operators ----

static const char *const attribute_kinds[TN_WIRE_KINDS] = {"int", "real", "bool", "dtype", "enum", "text", "ints", "reals", "loop"};

static int wire_kind(tn_attr_kind kind)
{
    static const int8_t kinds[] = {
        [TN_ATTR_INT] = TN_WIRE_INT, [TN_ATTR_REAL] = TN_WIRE_REAL, [TN_ATTR_BOOL] = TN_WIRE_BOOL, [TN_ATTR_DTYPE] = TN_WIRE_DTYPE,
        [TN_ATTR_ENUM] = TN_WIRE_ENUM, [TN_ATTR_TEXT] = TN_WIRE_TEXT, [TN_ATTR_INTS] = TN_WIRE_INTS, [TN_ATTR_REALS] = TN_WIRE_REALS,
        [TN_ATTR_LOOP] = TN_WIRE_LOOP, [TN_ATTR_REGIONS] = -1};
    return kinds[kind];
}

static const tn_attr *find_row(const tn_op *op, const char *name)
{
    for (int i = 0; i < op->n_attrs; i++) {
        if (strcmp(op->attrs[i].name, name) == 0) {
            return &op->attrs[i];
        }
    }
    return NULL;
}

// The values here of an enum's names there.
static tn_status map_enum(tn_tenon_reader *reader, const char *op, const tn_flat_vector *texts, tn_attr_wire *wire)
{
    int32_t *values = tn_arena_array(&reader->scratch, texts->count + 1, sizeof *values);
    if (!values) {
        return tn_fail_memory(reader->diag, op, texts->count * sizeof *values);
    }
    for (size_t i = 0; i < texts->count; i++) {
        const char *text = tn_flat_text_at(&reader->flat, texts, i);
        TN_TRY(tn_tenon_check(reader, op));
        values[i] = -1;
        for (int k = 0; wire->row->texts && wire->row->texts[k]; k++) {
            values[i] = strcmp(wire->row->texts[k], text) == 0 ? k : values[i];
        }
        if (values[i] < 0) {
            return tn_fail(reader->diag, TN_UNSUPPORTED, op, "its attribute %s may be '%.100s' in the file, which this version does not know",
                           wire->row->name, text);
        }
    }
    wire->enums = values;
    wire->n_enums = texts->count;
    return TN_OK;
}

static tn_status read_row(tn_tenon_reader *reader, const tn_op *op, const tn_flat_table *table, tn_attr_wire *wire)
{
    const char *name = tn_flat_text(&reader->flat, table, TN_ATTRIBUTE_NAME);
    const uint64_t kind = tn_flat_scalar(&reader->flat, table, TN_ATTRIBUTE_KIND, 1, 0);
    const tn_flat_vector texts = tn_flat_array(&reader->flat, table, TN_ATTRIBUTE_TEXTS, 4);
    TN_TRY(tn_tenon_check(reader, op->name));
    if (!name || kind >= TN_WIRE_KINDS) {
        return tn_tenon_invalid(reader, op->name, "an attribute without a name or of no kind");
    }
    wire->row = find_row(op, name);
    if (!wire->row || wire_kind(wire->row->kind) != (int)kind) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, op->name, "its attribute '%.100s' (%s) is not known to this version", name,
                       attribute_kinds[kind]);
    }
    return map_enum(reader, op->name, &texts, wire);
}

// An operator of the application: "domain:name", of the version that the file was made with.
static const tn_op *find_custom(const tn_tenon_reader *reader, const char *name, uint64_t version)
{
    const char *want = name[0] == ':' ? name + 1 : name;
    for (const tn_onnx_table *const *table = reader->options->tables; table && *table; table++) {
        for (const tn_onnx_row *row = (*table)->rows; row->type; row++) {
            if (row->op && strcmp(row->op->name, want) == 0 && row->op->version == version) {
                return row->op;
            }
        }
    }
    return NULL;
}

static tn_status find_op(tn_tenon_reader *reader, const char *name, uint64_t version, const tn_op **op)
{
    const bool custom = name && strchr(name, ':');
    *op = custom ? find_custom(reader, name, version) : name ? tn_registry_op(name) : NULL;
    if (custom && !*op) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, name, "the file uses this operator of the application in version %u: open it with a registry that has it",
                       (unsigned)version);
    }
    // What only plans are made of trusts the planner that made it.
    if (!*op || *op == &tn_op_copy || *op == &tn_op_relayout || *op == &tn_op_flow || *op == &tn_op_conv_pair) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, "operators", "the file uses the operator '%.100s', which this version does not know",
                       name ? name : "");
    }
    return TN_OK;
}

static tn_status read_op(tn_tenon_reader *reader, const tn_flat_table *table, tn_tenon_op *out)
{
    const char *name = tn_flat_text(&reader->flat, table, TN_OPERATOR_NAME);
    const uint64_t version = tn_flat_scalar(&reader->flat, table, TN_OPERATOR_VERSION, 2, 0);
    const tn_flat_vector rows = tn_flat_array(&reader->flat, table, TN_OPERATOR_ATTRIBUTES, 4);
    TN_TRY(tn_tenon_check(reader, "operators"));
    TN_TRY(find_op(reader, name, version, &out->op));
    if (version > out->op->version) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, out->op->name, "the file uses version %u of the operator, this version knows %u",
                       (unsigned)version, (unsigned)out->op->version);
    }
    tn_attr_wire *wires = tn_arena_array(&reader->scratch, rows.count + 1, sizeof *wires);
    if (!wires) {
        return tn_fail_memory(reader->diag, out->op->name, rows.count * sizeof *wires);
    }
    for (size_t i = 0; i < rows.count; i++) {
        const tn_flat_table row = tn_flat_table_at(&reader->flat, &rows, i);
        TN_TRY(tn_tenon_spend(reader, out->op->name, sizeof *wires));
        TN_TRY(read_row(reader, out->op, &row, &wires[i]));
    }
    out->wires = (tn_attr_wires){.rows = wires, .n_rows = rows.count, .codes = reader->codes, .n_codes = reader->n_codes};
    return TN_OK;
}

static tn_status read_codes(tn_tenon_reader *reader)
{
    const tn_flat_vector names = tn_flat_array(&reader->flat, &reader->model, TN_MODEL_LOOP_CODES, 4);
    reader->n_codes = names.count;
    reader->codes = tn_arena_array(&reader->scratch, names.count + 1, sizeof *reader->codes);
    if (!reader->codes) {
        return tn_fail_memory(reader->diag, "operators", names.count * sizeof *reader->codes);
    }
    for (size_t i = 0; i < names.count; i++) {
        const char *name = tn_flat_text_at(&reader->flat, &names, i);
        TN_TRY(tn_tenon_check(reader, "operators"));
        reader->codes[i] = -1;       // an instruction of a newer version: refused where it is used
        for (int code = 0; code < TN_LOOP_COUNT; code++) {
            reader->codes[i] = strcmp(tn_loop_code_text((tn_loop_code)code), name) == 0 ? code : reader->codes[i];
        }
    }
    return TN_OK;
}

static tn_status read_ops(tn_tenon_reader *reader)
{
    const tn_flat_vector ops = tn_flat_array(&reader->flat, &reader->model, TN_MODEL_OPERATORS, 4);
    TN_TRY(read_codes(reader));
    reader->n_ops = ops.count;
    reader->ops = tn_arena_array(&reader->scratch, ops.count + 1, sizeof *reader->ops);
    if (!reader->ops) {
        return tn_fail_memory(reader->diag, "operators", ops.count * sizeof *reader->ops);
    }
    for (size_t i = 0; i < ops.count; i++) {
        const tn_flat_table table = tn_flat_table_at(&reader->flat, &ops, i);
        TN_TRY(tn_tenon_check(reader, "operators"));
        TN_TRY(read_op(reader, &table, &reader->ops[i]));
    }
    return TN_OK;
}

// ---- the rest of the file's head ----

static tn_status read_metadata(tn_tenon_reader *reader)
{
    const tn_flat_vector pairs = tn_flat_array(&reader->flat, &reader->model, TN_MODEL_METADATA, 4);
    const char **texts = tn_arena_array(reader->kept, pairs.count + 1, 2 * sizeof *texts);
    if (!texts) {
        return tn_fail_memory(reader->diag, "metadata", pairs.count * 2 * sizeof *texts);
    }
    for (size_t i = 0; i < pairs.count; i++) {
        const tn_flat_table pair = tn_flat_table_at(&reader->flat, &pairs, i);
        texts[2 * i] = tn_flat_text(&reader->flat, &pair, TN_PAIR_KEY);
        texts[2 * i + 1] = tn_flat_text(&reader->flat, &pair, TN_PAIR_VALUE);
        TN_TRY(tn_tenon_check(reader, "metadata"));
        if (!texts[2 * i] || !texts[2 * i + 1]) {
            return tn_tenon_invalid(reader, "metadata", "a pair without its key or value");
        }
    }
    reader->out->metadata = texts;
    reader->out->n_metadata = pairs.count;
    return TN_OK;
}

static tn_status read_head(tn_tenon_reader *reader)
{
    tn_flat *flat = &reader->flat;
    const char *writer = tn_flat_text(flat, &reader->model, TN_MODEL_WRITER);
    const char *producer = tn_flat_text(flat, &reader->model, TN_MODEL_PRODUCER);
    const uint64_t version = tn_flat_scalar(flat, &reader->model, TN_MODEL_VERSION, 2, 0);
    TN_TRY(tn_tenon_check(reader, ""));
    if (version > TN_TENON_MINOR) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, "", "the file needs a reader of format version %d.%u, this one reads up to %d.%d%s%.60s",
                       TN_TENON_MAJOR, (unsigned)version, TN_TENON_MAJOR, TN_TENON_MINOR, writer ? "; it was written by " : "",
                       writer ? writer : "");
    }
    reader->facts->major = TN_TENON_MAJOR;
    reader->facts->minor = (unsigned)version;
    reader->facts->writer = writer ? writer : "";
    snprintf(reader->out->producer, sizeof reader->out->producer, "%s", producer ? producer : "");
    reader->out->opset = (int64_t)tn_flat_scalar(flat, &reader->model, TN_MODEL_OPSET, 8, 0);
    reader->out->parameter_count = tn_flat_scalar(flat, &reader->model, TN_MODEL_PARAMETERS, 8, 0);
    return read_metadata(reader);
}

// ---- packed forms ----

static tn_status read_packed(tn_tenon_reader *reader, const tn_flat_table *table, tn_import_pack *pack)
{
    tn_flat *flat = &reader->flat;
    const char *id = tn_flat_text(flat, table, TN_PACKED_ID);
    const uint64_t constant = tn_flat_scalar(flat, table, TN_PACKED_CONSTANT, 4, 0), variant = tn_flat_scalar(flat, table, TN_PACKED_VARIANT, 8, 0);
    const uint64_t section = tn_flat_scalar(flat, table, TN_PACKED_SECTION, 2, 0), offset = tn_flat_scalar(flat, table, TN_PACKED_OFFSET, 8, 0);
    const uint64_t size = tn_flat_scalar(flat, table, TN_PACKED_SIZE, 8, 0);
    TN_TRY(tn_tenon_check(reader, "packed"));
    if (!id || constant >= reader->n_constants || !reader->constants[constant].data || section == 0 || section >= reader->n_sections) {
        return tn_tenon_invalid(reader, "packed", "a packed form without an id, a constant or a section");
    }
    const tn_tenon_section *where = &reader->sections[section];
    if (offset % TN_TENON_ALIGNMENT || offset > where->size || size > where->size - offset) {
        return tn_tenon_invalid(reader, "packed", "a packed form lies outside its section or is not aligned");
    }
    *pack = (tn_import_pack){.source = reader->constants[constant].data, .id = id, .variant = variant, .data = where->data + offset,
                             .bytes = (size_t)size};
    reader->facts->pack_bytes += size;
    return TN_OK;
}

static tn_status read_packs(tn_tenon_reader *reader)
{
    const tn_flat_vector packed = tn_flat_array(&reader->flat, &reader->model, TN_MODEL_PACKED, 4);
    tn_import_pack *packs = tn_arena_array(reader->kept, packed.count + 1, sizeof *packs);
    if (!packs) {
        return tn_fail_memory(reader->diag, "packed", packed.count * sizeof *packs);
    }
    for (size_t i = 0; i < packed.count; i++) {
        const tn_flat_table table = tn_flat_table_at(&reader->flat, &packed, i);
        TN_TRY(tn_tenon_check(reader, "packed"));
        TN_TRY(read_packed(reader, &table, &packs[i]));
    }
    // Kernels load packed weights by whole vectors: in a block of the caller's that is not aligned they cannot be used where they are.
    const bool aligned = reader->n_sections < 2 || (uintptr_t)reader->data % TN_TENON_ALIGNMENT == 0;
    reader->out->packs = packs;
    reader->out->n_packs = aligned ? packed.count : 0;
    return TN_OK;
}

// ---- all of it ----

// Callers see inputs and outputs of the imported graph; the optimised one, which runs, has the same at the same places.
static tn_status check_border(tn_tenon_reader *reader, const tn_graph *imported, const tn_graph *optimised)
{
    bool same = imported->n_inputs == optimised->n_inputs && imported->n_outputs == optimised->n_outputs;
    for (size_t i = 0; same && i < imported->n_inputs; i++) {
        const tn_value *a = imported->inputs[i], *b = optimised->inputs[i];
        same = strcmp(a->name, b->name) == 0 && a->kind == b->kind && a->inner == b->inner && a->dtype == b->dtype;
    }
    return same ? TN_OK : tn_tenon_invalid(reader, "imported", "its graphs have other inputs or another number of outputs");
}

static tn_status read_all(tn_tenon_reader *reader)
{
    reader->model = tn_flat_root(&reader->flat, TN_TENON_IDENTIFIER);
    if (reader->flat.size >= 8 && memcmp(reader->flat.data + 4, TN_TENON_IDENTIFIER, 4) != 0) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, "", "a .tenon file of format version %c; this version reads version %d",
                       reader->flat.data[7] >= ' ' && reader->flat.data[7] < 127 ? (char)reader->flat.data[7] : '?', TN_TENON_MAJOR);
    }
    TN_TRY(tn_tenon_check(reader, ""));
    const tn_flat_table graph = tn_flat_sub(&reader->flat, &reader->model, TN_MODEL_GRAPH);
    const tn_flat_table imported = tn_flat_sub(&reader->flat, &reader->model, TN_MODEL_IMPORTED);
    const tn_flat_table other = tn_flat_sub(&reader->flat, &reader->model, TN_MODEL_OTHER);
    const uint64_t form = tn_flat_scalar(&reader->flat, &reader->model, TN_MODEL_FORM, 1, 0);
    TN_TRY(tn_tenon_check(reader, ""));
    if (!graph.at) {
        return tn_tenon_invalid(reader, "", "it has no graph");
    }
    reader->out->optimised = tn_graph_create(reader->heap, tn_flat_text(&reader->flat, &graph, TN_GRAPH_NAME));
    if (!reader->out->optimised) {
        return tn_fail_memory(reader->diag, "", sizeof(tn_graph));
    }
    reader->kept = &reader->out->optimised->arena;
    reader->facts = tn_arena_take(reader->kept, sizeof *reader->facts);
    if (!reader->facts) {
        return tn_fail_memory(reader->diag, "", sizeof *reader->facts);
    }
    reader->out->facts = reader->facts;
    TN_TRY(read_head(reader));
    TN_TRY(read_ops(reader));
    TN_TRY(tn_tenon_read_data(reader));
    TN_TRY(tn_tenon_read_graph(reader, &graph, 0, &reader->out->optimised));
    if (form > TN_FORM_INTEGERS || (other.at && form == TN_FORM_NONE)) {
        return tn_tenon_invalid(reader, "form", "its graphs are in no known form");
    }
    reader->facts->form = (tn_form)form;
    if (other.at) {
        TN_TRY(tn_tenon_read_graph(reader, &other, 0, &reader->out->other));
        TN_TRY(check_border(reader, reader->out->other, reader->out->optimised));
    }
    if (imported.at) {
        reader->facts->has_imported = true;
        TN_TRY(tn_tenon_read_graph(reader, &imported, 0, &reader->out->graph));
        TN_TRY(check_border(reader, reader->out->graph, reader->out->optimised));
    }
    return read_packs(reader);
}

tn_status tn_import_tenon(tn_import *out, const uint8_t *data, size_t size, const tn_import_options *options, tn_heap *heap, tn_diag *diag)
{
    memset(out, 0, sizeof *out);
    tn_tenon_reader reader = {.out = out, .file = data, .file_size = size, .options = options, .heap = heap, .diag = diag};
    out->heap = heap;
    memcpy(out->format, "tenon", 6);
    tn_arena_init(&reader.scratch, heap);
    reader.flat = (tn_flat){.data = data, .size = tn_import_pinned_bytes(data, size)};
    // A value of a few bytes in the file becomes a struct of some hundred.
    reader.budget = ((uint64_t)1 << 20) + 64 * (uint64_t)reader.flat.size;
    const tn_status status = read_all(&reader);
    tn_arena_deinit(&reader.scratch);
    if (status != TN_OK) {
        tn_import_deinit(out);
    }
    return status;
}

size_t tn_import_pinned_bytes(const uint8_t *data, size_t size)
{
    tn_flat flat = {.data = data, .size = size};
    if (size < 8 || memcmp(data + 4, TN_TENON_IDENTIFIER, 4) != 0) {
        return size;
    }
    const tn_flat_table model = tn_flat_root(&flat, TN_TENON_IDENTIFIER);
    const uint64_t offset = tn_flat_scalar(&flat, &model, TN_MODEL_DATA_OFFSET, 8, 0);
    const bool beside = tn_flat_text(&flat, &model, TN_MODEL_DATA_FILE) != NULL;
    return flat.fault || beside || offset == 0 || offset > size ? size : (size_t)offset;
}
