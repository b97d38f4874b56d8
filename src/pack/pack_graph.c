// SPDX-License-Identifier: Apache-2.0
// Graphs as tables of model.fbs. Values that nothing makes and nothing reads (what passes left behind) are left out; the others keep
// their order, so that a graph that was read back is planned the same way.
// Ownership and threads: see pack_work.h.
#include "pack/pack_work.h"

#include "base/num.h"
#include "base/text.h"
#include "ir/attr/attr_codec.h"
#include "ir/edit.h"
#include "loop/loop.h"

#define NONE UINT32_MAX

// ---- collecting ----

static bool add_op(tn_packer *p, const tn_op *op)
{
    if (tn_map_find(&p->op_index, (const char *)&op, sizeof op)) {
        return true;
    }
    const tn_op **ops = tn_arena_grow(&p->scratch, p->ops, p->n_ops, &p->ops_capacity, sizeof *ops);
    if (!ops) {
        return false;
    }
    p->ops = ops;
    ops[p->n_ops++] = op;
    return tn_map_set(&p->op_index, (const char *)&op, sizeof op, (void *)(uintptr_t)p->n_ops);
}

// What makes two constants the same: where they lie and how many bytes. All empty ones are the same.
typedef struct contents {
    const void *data;
    size_t bytes;
    size_t strings;
} contents;

static contents contents_of(const tn_tensor *tensor, size_t bytes)
{
    contents c;
    memset(&c, 0, sizeof c);         // padding is part of the key
    c.data = bytes ? tensor->data : NULL;
    c.bytes = bytes;
    c.strings = tensor->dtype == TN_STRING;
    return c;
}

static tn_status add_constant(tn_packer *p, const tn_value *value)
{
    size_t bytes;
    if (value->kind != TN_KIND_TENSOR || !tn_tensor_bytes(value->constant, &bytes)) {
        return tn_fail(p->diag, TN_UNSUPPORTED, value->name, "a constant that is no tensor cannot be saved");
    }
    const contents key = contents_of(value->constant, bytes);
    if (tn_map_find(&p->known, (const char *)&key, sizeof key)) {
        return TN_OK;
    }
    tn_pack_constant *constants = tn_arena_grow(&p->scratch, p->constants, p->n_constants, &p->constants_capacity, sizeof *constants);
    if (!constants) {
        return tn_packer_memory(p, sizeof *constants);
    }
    p->constants = constants;
    constants[p->n_constants++] = (tn_pack_constant){.tensor = value->constant, .bytes = key.strings ? 0 : bytes};
    void *index = (void *)(uintptr_t)p->n_constants;
    const bool good = tn_map_set(&p->known, (const char *)&key, sizeof key, index) &&
                      (!bytes || key.strings || tn_map_set(&p->sources, (const char *)&key.data, sizeof key.data, index));
    return good ? TN_OK : tn_packer_memory(p, sizeof key);
}

static bool is_used(const tn_value *value)
{
    return value->producer || value->is_input || value->is_output || value->n_uses > 0;
}

tn_status tn_pack_collect(tn_packer *p, const tn_graph *graph)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        if (graph->values[i]->constant && is_used(graph->values[i])) {
            TN_TRY(add_constant(p, graph->values[i]));
        }
    }
    for (const tn_node *node = graph->first; node; node = node->next) {
        if (!add_op(p, node->op)) {
            return tn_packer_memory(p, sizeof node->op);
        }
        for (int i = 0; i < node->n_bodies; i++) {
            TN_TRY(tn_pack_collect(p, node->bodies[i]));
        }
    }
    return TN_OK;
}

// ---- dictionaries ----

static const uint8_t wire_kinds[] = {
    [TN_ATTR_INT] = TN_WIRE_INT, [TN_ATTR_REAL] = TN_WIRE_REAL, [TN_ATTR_BOOL] = TN_WIRE_BOOL, [TN_ATTR_DTYPE] = TN_WIRE_DTYPE,
    [TN_ATTR_ENUM] = TN_WIRE_ENUM, [TN_ATTR_TEXT] = TN_WIRE_TEXT, [TN_ATTR_INTS] = TN_WIRE_INTS, [TN_ATTR_REALS] = TN_WIRE_REALS,
    [TN_ATTR_LOOP] = TN_WIRE_LOOP};

// A vector of strings; the texts end with NULL.
static tn_flat_ref text_list(tn_packer *p, const char *const *texts)
{
    tn_flat_ref refs[64];
    size_t count = 0;
    while (texts[count] && count < TN_COUNT(refs)) {
        refs[count] = tn_packer_text(p, texts[count]);
        count++;
    }
    return tn_flat_put_refs(&p->build, refs, count);
}

static tn_flat_ref attribute_row(tn_packer *p, const tn_attr *row)
{
    const tn_flat_ref name = tn_packer_text(p, row->name), texts = row->texts ? text_list(p, row->texts) : 0;
    tn_flat_open(&p->build);
    tn_flat_field_ref(&p->build, TN_ATTRIBUTE_NAME, name);
    tn_flat_field(&p->build, TN_ATTRIBUTE_KIND, wire_kinds[row->kind], 1, 0);
    tn_flat_field_ref(&p->build, TN_ATTRIBUTE_TEXTS, texts);
    return tn_flat_close(&p->build);
}

// An operator of the application always has a colon in its name: domain:name, so that none is taken for one of ours.
static tn_flat_ref op_name(tn_packer *p, const tn_op *op)
{
    const char *name = op->name;
    if (op->row && !strchr(name, ':')) {
        name = tn_arena_print(&p->scratch, ":%s", name);
    }
    p->build.failed = p->build.failed || !name;
    return name ? tn_packer_text(p, name) : 0;
}

tn_status tn_pack_ops(tn_packer *p, tn_flat_ref *out)
{
    tn_flat_ref *tables = tn_arena_array(&p->scratch, p->n_ops + 1, sizeof *tables);
    for (size_t i = 0; tables && i < p->n_ops; i++) {
        const tn_op *op = p->ops[i];
        tn_flat_ref *rows = tn_arena_array(&p->scratch, (size_t)op->n_attrs + 1, sizeof *rows);
        if (!rows) {
            return tn_packer_memory(p, sizeof *rows);
        }
        for (int k = 0; k < op->n_attrs; k++) {
            if (op->attrs[k].kind == TN_ATTR_REGIONS) {
                return tn_fail(p->diag, TN_UNSUPPORTED, op->name, "an operator of plans cannot be saved");
            }
            rows[k] = attribute_row(p, &op->attrs[k]);
        }
        const tn_flat_ref list = op->n_attrs ? tn_flat_put_refs(&p->build, rows, (size_t)op->n_attrs) : 0, name = op_name(p, op);
        tn_flat_open(&p->build);
        tn_flat_field_ref(&p->build, TN_OPERATOR_NAME, name);
        tn_flat_field(&p->build, TN_OPERATOR_VERSION, op->version, 2, 0);
        tn_flat_field_ref(&p->build, TN_OPERATOR_ATTRIBUTES, list);
        tables[i] = tn_flat_close(&p->build);
    }
    *out = tables ? tn_flat_put_refs(&p->build, tables, p->n_ops) : 0;
    return tables ? TN_OK : tn_packer_memory(p, p->n_ops * sizeof *tables);
}

tn_status tn_pack_codes(tn_packer *p, tn_flat_ref *out)
{
    const char *names[TN_LOOP_COUNT + 1];
    for (int i = 0; i < TN_LOOP_COUNT; i++) {
        names[i] = tn_loop_code_text((tn_loop_code)i);
    }
    names[TN_LOOP_COUNT] = NULL;
    *out = text_list(p, names);
    return TN_OK;
}

// ---- values ----

// The shape in the file's coding; 0: rank not known. A symbol that belongs to an outer graph is left out: inference finds it again.
static tn_flat_ref shape_of(tn_packer *p, const tn_graph *graph, const tn_shape *shape)
{
    uint8_t dims[8 * TN_MAX_RANK];
    if (shape->rank < 0) {
        return 0;
    }
    for (int i = 0; i < shape->rank; i++) {
        const int64_t dim = shape->dims[i];
        const bool foreign = dim == TN_DIM_UNKNOWN || (!tn_dim_known(dim) && (uint64_t)(dim - TN_DIM_SYMBOL) >= graph->n_symbols);
        const int64_t coded = tn_dim_known(dim) ? dim : foreign ? -1 : -2 - (dim - TN_DIM_SYMBOL);
        for (int k = 0; k < 8; k++) {
            dims[8 * i + k] = (uint8_t)((uint64_t)coded >> (8 * k));
        }
    }
    return tn_flat_put_vector(&p->build, dims, (size_t)shape->rank, 8);
}

static tn_flat_ref value_table(tn_packer *p, const tn_graph *graph, const tn_value *value)
{
    const tn_flat_ref name = tn_packer_text(p, value->name), shape = shape_of(p, graph, &value->shape);
    uint32_t constant = NONE;
    size_t bytes;
    if (value->constant && tn_tensor_bytes(value->constant, &bytes)) {
        const contents key = contents_of(value->constant, bytes);
        constant = (uint32_t)((uintptr_t)tn_map_find(&p->known, (const char *)&key, sizeof key) - 1);
    }
    tn_flat_open(&p->build);
    tn_flat_field_ref(&p->build, TN_VALUE_NAME, name);
    tn_flat_field(&p->build, TN_VALUE_KIND, value->kind, 1, 0);
    tn_flat_field(&p->build, TN_VALUE_INNER, value->inner, 1, 0);
    tn_flat_field(&p->build, TN_VALUE_DTYPE, value->dtype, 1, 0);
    tn_flat_field_ref(&p->build, TN_VALUE_SHAPE, shape);
    tn_flat_field(&p->build, TN_VALUE_CONSTANT, constant, 4, NONE);
    return tn_flat_close(&p->build);
}

// Values that count, in their order; index[id] is the number in the file.
static tn_status value_tables(tn_packer *p, const tn_graph *graph, uint32_t *index, tn_flat_ref *out)
{
    tn_flat_ref *tables = tn_arena_array(&p->scratch, graph->n_values + 1, sizeof *tables);
    size_t count = 0;
    if (!tables) {
        return tn_packer_memory(p, graph->n_values * sizeof *tables);
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        if (is_used(graph->values[i])) {
            index[i] = (uint32_t)count;
            tables[count++] = value_table(p, graph, graph->values[i]);
        }
    }
    *out = tn_flat_put_refs(&p->build, tables, count);
    return TN_OK;
}

// ---- nodes ----

// A list of values by their numbers, little-endian.
static tn_flat_ref value_list(tn_packer *p, tn_value *const *values, size_t count, const uint32_t *index)
{
    uint8_t *bytes = tn_arena_array(&p->scratch, count + 1, 4);
    for (size_t i = 0; bytes && i < count; i++) {
        const uint32_t number = values[i] ? index[values[i]->id] : NONE;
        for (int k = 0; k < 4; k++) {
            bytes[4 * i + (size_t)k] = (uint8_t)(number >> (8 * k));
        }
    }
    p->build.failed = p->build.failed || !bytes;
    return bytes ? tn_flat_put_vector(&p->build, bytes, count, 4) : 0;
}

static tn_status attributes(tn_packer *p, const tn_node *node, tn_flat_ref *out)
{
    tn_text bytes;
    *out = 0;
    if (!node->attr) {
        return TN_OK;
    }
    tn_text_init(&bytes, p->heap);
    const bool coded = tn_attr_encode(node->op, node->attr, &bytes);
    tn_status status = TN_OK;
    if (!coded) {
        status = tn_fail(p->diag, TN_UNSUPPORTED, node->name, "%s: an operator of plans cannot be saved", node->op->name);
    } else if (bytes.failed) {
        status = tn_packer_memory(p, bytes.length);
    } else if (bytes.length) {
        *out = tn_flat_put_vector(&p->build, bytes.data, bytes.length, 1);
    }
    tn_text_deinit(&bytes);
    return status;
}

// Origins are stored where they say more than the node's name.
static tn_flat_ref origins_of(tn_packer *p, const tn_node *node)
{
    if (node->n_origins == 1 && strcmp(node->origins[0], node->name) == 0) {
        return 0;
    }
    tn_flat_ref *refs = tn_arena_array(&p->scratch, (size_t)node->n_origins + 1, sizeof *refs);
    for (int i = 0; refs && i < node->n_origins; i++) {
        refs[i] = tn_packer_text(p, node->origins[i]);
    }
    p->build.failed = p->build.failed || !refs;
    return refs ? tn_flat_put_refs(&p->build, refs, (size_t)node->n_origins) : 0;
}

static tn_status node_table(tn_packer *p, const tn_node *node, const uint32_t *index, tn_flat_ref *out)
{
    tn_flat_ref bodies[2] = {0, 0}, attr;
    for (int i = 0; i < node->n_bodies && i < 2; i++) {
        TN_TRY(tn_pack_graph(p, node->bodies[i], &bodies[i]));
    }
    TN_TRY(attributes(p, node, &attr));
    const tn_flat_ref body_list = node->n_bodies ? tn_flat_put_refs(&p->build, bodies, (size_t)node->n_bodies) : 0;
    const tn_flat_ref name = tn_packer_text(p, node->name), origins = origins_of(p, node);
    const tn_flat_ref in = value_list(p, node->in, (size_t)node->n_in, index), outs = value_list(p, node->out, (size_t)node->n_out, index);
    const uintptr_t op = (uintptr_t)tn_map_find(&p->op_index, (const char *)&node->op, sizeof node->op) - 1;
    tn_flat_open(&p->build);
    tn_flat_field(&p->build, TN_NODE_OPERATOR, op, 4, 0);
    tn_flat_field_ref(&p->build, TN_NODE_NAME, name);
    tn_flat_field_ref(&p->build, TN_NODE_ATTRIBUTES, attr);
    tn_flat_field_ref(&p->build, TN_NODE_INPUTS, in);
    tn_flat_field_ref(&p->build, TN_NODE_OUTPUTS, outs);
    tn_flat_field_ref(&p->build, TN_NODE_BODIES, body_list);
    tn_flat_field_ref(&p->build, TN_NODE_ORIGINS, origins);
    *out = tn_flat_close(&p->build);
    return TN_OK;
}

// ---- graphs ----

tn_status tn_pack_graph(tn_packer *p, const tn_graph *graph, tn_flat_ref *out)
{
    uint32_t *index = tn_arena_array(&p->scratch, graph->n_values + 1, sizeof *index);
    tn_flat_ref *nodes = tn_arena_array(&p->scratch, graph->n_nodes + 1, sizeof *nodes);
    tn_flat_ref *symbols = tn_arena_array(&p->scratch, graph->n_symbols + 1, sizeof *symbols);
    tn_flat_ref values = 0;
    size_t n = 0;
    if (!index || !nodes || !symbols) {
        return tn_packer_memory(p, graph->n_values * sizeof *index);
    }
    TN_TRY(value_tables(p, graph, index, &values));
    for (const tn_node *node = graph->first; node; node = node->next) {
        TN_TRY(node_table(p, node, index, &nodes[n++]));
    }
    for (size_t i = 0; i < graph->n_symbols; i++) {
        symbols[i] = tn_packer_text(p, graph->symbols[i]);
    }
    const tn_flat_ref node_list = tn_flat_put_refs(&p->build, nodes, n), name = tn_packer_text(p, graph->name);
    const tn_flat_ref symbol_list = graph->n_symbols ? tn_flat_put_refs(&p->build, symbols, graph->n_symbols) : 0;
    const tn_flat_ref in = value_list(p, graph->inputs, graph->n_inputs, index), outs = value_list(p, graph->outputs, graph->n_outputs, index);
    tn_flat_open(&p->build);
    tn_flat_field_ref(&p->build, TN_GRAPH_NAME, name);
    tn_flat_field_ref(&p->build, TN_GRAPH_SYMBOLS, symbol_list);
    tn_flat_field_ref(&p->build, TN_GRAPH_VALUES, values);
    tn_flat_field_ref(&p->build, TN_GRAPH_INPUTS, in);
    tn_flat_field_ref(&p->build, TN_GRAPH_OUTPUTS, outs);
    tn_flat_field_ref(&p->build, TN_GRAPH_NODES, node_list);
    *out = tn_flat_close(&p->build);
    return TN_OK;
}
