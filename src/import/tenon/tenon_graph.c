// SPDX-License-Identifier: Apache-2.0
// Graphs of a .tenon file. Tables may be shared in the file, so that what a small file stands for is counted before it is made.
// Everything that tn_graph_verify asks is checked here as an error of the file; what operators ask of their attributes, operands and
// bodies is checked by inference, which runs over every graph before it is planned.
// Ownership and threads: see tenon_read.h.
#include "import/tenon/tenon_read.h"

#include "base/num.h"

#define MAX_DEPTH 64             // of bodies in bodies, as everywhere

typedef struct build {
    tn_tenon_reader *reader;
    tn_graph *graph;
    int depth;
    const char *place;           // name of the value or node at hand
} build;

static tn_status invalid(const build *b, const char *what) { return tn_tenon_invalid(b->reader, b->place, what); }
static tn_status no_memory(const build *b) { return tn_fail_memory(b->reader->diag, b->place, sizeof(tn_value)); }
static tn_status spend(const build *b, uint64_t bytes) { return tn_tenon_spend(b->reader, b->place, bytes); }

// ---- values ----

static tn_status read_shape(const build *b, const tn_flat_table *table, tn_shape *shape)
{
    const tn_flat_vector dims = tn_flat_array(&b->reader->flat, table, TN_VALUE_SHAPE, 8);
    *shape = tn_shape_unknown();
    if (!dims.data) {
        return TN_OK;
    }
    if (dims.count > TN_MAX_RANK) {
        return invalid(b, "a shape has more than 8 dims");
    }
    shape->rank = (int)dims.count;
    for (size_t i = 0; i < dims.count; i++) {
        const int64_t dim = (int64_t)tn_flat_load(dims.data + 8 * i, 8);
        if (dim < -1 && (uint64_t)(-(dim + 2)) >= b->graph->n_symbols) {
            return invalid(b, "a shape names a symbol that there is not");
        }
        shape->dims[i] = dim >= 0 ? dim : dim == -1 ? TN_DIM_UNKNOWN : TN_DIM_SYMBOL + -(dim + 2);
    }
    return TN_OK;
}

// Cells that point to the file's strings.
static tn_status read_texts(const build *b, const tn_tenon_constant *constant, size_t count, void **data)
{
    if (constant->texts.count != count) {
        return invalid(b, "a tensor of strings has another number of elements than its shape");
    }
    TN_TRY(spend(b, count * sizeof(char *)));
    const char **cells = tn_arena_array(&b->graph->arena, count + 1, sizeof *cells);
    if (!cells) {
        return no_memory(b);
    }
    for (size_t i = 0; i < count; i++) {
        cells[i] = tn_flat_text_at(&b->reader->flat, &constant->texts, i);
        TN_TRY(tn_tenon_check(b->reader, b->place));
    }
    *data = cells;
    return TN_OK;
}

// 4- and 2-bit elements take a byte each, with the value (sign-extended) in its low bits: kernels look numbers up by them.
static bool small_elements_fit(tn_dtype dtype, const uint8_t *data, size_t count)
{
    const int bits = dtype == TN_U2 || dtype == TN_I2 ? 2 : 4;
    const bool is_signed = dtype == TN_I4 || dtype == TN_I2;
    const int least = is_signed ? -(1 << (bits - 1)) : 0, most = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    bool fit = true;
    for (size_t i = 0; i < count; i++) {
        const int value = is_signed ? (int8_t)data[i] : data[i];
        fit = fit && value >= least && value <= most;
    }
    return fit;
}

static tn_status read_constant(const build *b, const tn_flat_table *table, tn_value *value)
{
    const int64_t index = (int32_t)(uint32_t)tn_flat_scalar(&b->reader->flat, table, TN_VALUE_CONSTANT, 4, UINT32_MAX);
    if (index < 0) {
        return TN_OK;
    }
    tn_tensor tensor = {.dtype = value->dtype, .layout = TN_LAYOUT_PLAIN, .shape = value->shape};
    int64_t count;
    size_t bytes;
    if ((uint64_t)index >= b->reader->n_constants || value->kind != TN_KIND_TENSOR || !value->dtype || !tn_tensor_bytes(&tensor, &bytes) ||
        !tn_shape_count(&value->shape, &count)) {
        return invalid(b, "a constant without contents, type or shape");
    }
    const tn_tenon_constant *constant = &b->reader->constants[index];
    if (bytes > b->reader->options->limit_tensor_bytes) {
        return tn_fail(b->reader->diag, TN_LIMIT, b->place, "a constant of %zu bytes is larger than limit_tensor_bytes (%llu)", bytes,
                       (unsigned long long)b->reader->options->limit_tensor_bytes);
    }
    tensor.data = (void *)(uintptr_t)constant->data;
    if (value->dtype == TN_STRING) {
        TN_TRY(read_texts(b, constant, (size_t)count, &tensor.data));
    } else if (constant->texts.data || bytes != constant->size) {
        return invalid(b, "a constant has another size than its shape needs");
    }
    const bool small = value->dtype == TN_U4 || value->dtype == TN_I4 || value->dtype == TN_F4E2M1 || value->dtype == TN_U2 || value->dtype == TN_I2;
    if (small && !small_elements_fit(value->dtype, constant->data, bytes)) {
        return invalid(b, "a constant of 4- or 2-bit elements holds larger numbers");
    }
    value->constant = tn_arena_copy(&b->graph->arena, &tensor, sizeof tensor);
    value->weight = constant->weight;
    return value->constant ? TN_OK : no_memory(b);
}

static tn_status read_value(build *b, const tn_flat_table *table)
{
    tn_flat *flat = &b->reader->flat;
    const char *name = tn_flat_text(flat, table, TN_VALUE_NAME);
    const uint64_t kind = tn_flat_scalar(flat, table, TN_VALUE_KIND, 1, 0), inner = tn_flat_scalar(flat, table, TN_VALUE_INNER, 1, 0);
    const uint64_t dtype = tn_flat_scalar(flat, table, TN_VALUE_DTYPE, 1, 0);
    TN_TRY(tn_tenon_check(b->reader, b->graph->name));
    if (!name || kind > TN_KIND_OPTIONAL || inner > TN_KIND_SEQUENCE || dtype >= TN_DTYPE_COUNT) {
        return invalid(b, "a value without a name, or of no kind or type");
    }
    b->place = name;
    TN_TRY(spend(b, sizeof(tn_value) + strlen(name)));
    tn_value *value = tn_graph_value(b->graph, name);
    if (!value) {
        return no_memory(b);
    }
    value->kind = (tn_kind)kind;
    value->inner = (tn_kind)inner;
    value->dtype = (tn_dtype)dtype;
    TN_TRY(read_shape(b, table, &value->shape));
    TN_TRY(read_constant(b, table, value));
    return tn_tenon_check(b->reader, b->place);
}

// ---- nodes ----

// Whether a value can be read by the next node.
static bool is_made(const tn_value *value) { return value->producer || value->is_input || value->constant; }

// A list of values; -1 is none.
static tn_status read_list(const build *b, const tn_flat_table *table, unsigned field, tn_value ***list, int *count)
{
    const tn_flat_vector indices = tn_flat_array(&b->reader->flat, table, field, 4);
    TN_TRY(tn_tenon_check(b->reader, b->place));
    TN_TRY(spend(b, indices.count * (sizeof(tn_value *) + sizeof(tn_use))));
    tn_value **values = tn_arena_array(&b->reader->scratch, indices.count + 1, sizeof *values);
    if (!values || indices.count > INT32_MAX) {
        return no_memory(b);
    }
    for (size_t i = 0; i < indices.count; i++) {
        const uint32_t index = (uint32_t)tn_flat_load(indices.data + 4 * i, 4);
        if (index != UINT32_MAX && index >= b->graph->n_values) {
            return invalid(b, "a value that there is not");
        }
        values[i] = index == UINT32_MAX ? NULL : b->graph->values[index];
    }
    *list = values;
    *count = (int)indices.count;
    return TN_OK;
}

// The number of operands and results, and that they are there where they must be.
static tn_status check_operands(const build *b, const tn_op *op, tn_value *const *in, int n_in, tn_value *const *out, int n_out)
{
    const bool control = (op->flags & TN_OP_CONTROL) != 0;
    const int most_in = op->max_in >= 0 ? op->max_in : control ? INT32_MAX : TN_MAX_IN;
    const int most_out = op->max_out >= 0 ? op->max_out : TN_MAX_OUT;
    if (n_in < op->min_in || n_in > most_in || n_out < op->min_out || n_out > most_out) {
        return invalid(b, "a node has another number of operands or results than its operator takes");
    }
    for (int i = 0; i < n_in; i++) {
        const bool needed = !control && !(op->flags & TN_OP_HOLES) && (op->max_in < 0 || i < op->min_in);
        if (in[i] ? !is_made(in[i]) : needed) {
            return invalid(b, "an operand is missing, or made later");
        }
    }
    for (int i = 0; i < n_out; i++) {
        if (out[i] && is_made(out[i])) {
            return invalid(b, "a result is made before");
        }
        for (int k = 0; k < i && out[i]; k++) {
            if (out[k] == out[i]) {
                return invalid(b, "a value is two results of one node");
            }
        }
    }
    return TN_OK;
}

static tn_status read_attributes(const build *b, const tn_flat_table *table, const tn_tenon_op *op, void **attr)
{
    const tn_flat_vector bytes = tn_flat_array(&b->reader->flat, table, TN_NODE_ATTRIBUTES, 1);
    const char *why;
    *attr = NULL;
    TN_TRY(tn_tenon_check(b->reader, b->place));
    TN_TRY(spend(b, op->op->attr_size + 2 * bytes.count));
    if (!op->op->attr_size) {
        return bytes.count ? invalid(b, "attributes of an operator that has none") : TN_OK;
    }
    *attr = tn_attr_decode(op->op, &op->wires, bytes.data, bytes.count, &b->graph->arena, &why);
    return *attr ? TN_OK : why ? invalid(b, why) : no_memory(b);
}

static tn_status read_bodies(build *b, const tn_flat_table *table, tn_node *node)
{
    const tn_flat_vector bodies = tn_flat_array(&b->reader->flat, table, TN_NODE_BODIES, 4);
    TN_TRY(tn_tenon_check(b->reader, b->place));
    if (bodies.count > 2 || (bodies.count && !(node->op->flags & TN_OP_CONTROL))) {
        return invalid(b, "bodies of an operator that has none");
    }
    for (size_t i = 0; i < bodies.count; i++) {
        const tn_flat_table body = tn_flat_table_at(&b->reader->flat, &bodies, i);
        tn_graph *graph = NULL;
        TN_TRY(tn_tenon_check(b->reader, b->place));
        tn_status status = tn_tenon_read_graph(b->reader, &body, b->depth + 1, &graph);
        if (status == TN_OK && tn_node_add_body(b->graph, node, graph) != TN_OK) {
            status = no_memory(b);
        }
        if (status != TN_OK) {
            tn_graph_destroy(graph);
            return status;
        }
    }
    return TN_OK;
}

// Names of the first model's nodes; the arrays grow by powers of two (ir/edit.c), hence their room.
static tn_status read_origins(const build *b, const tn_flat_table *table, tn_node *node)
{
    const tn_flat_vector names = tn_flat_array(&b->reader->flat, table, TN_NODE_ORIGINS, 4);
    size_t room = 4;
    TN_TRY(tn_tenon_check(b->reader, b->place));
    if (names.count == 0) {
        return TN_OK;            // its own name
    }
    while (room < names.count) {
        room *= 2;
    }
    TN_TRY(spend(b, room * sizeof(char *)));
    const char **origins = tn_arena_array(&b->graph->arena, room, sizeof *origins);
    if (!origins || names.count > INT32_MAX) {
        return no_memory(b);
    }
    for (size_t i = 0; i < names.count; i++) {
        origins[i] = tn_flat_text_at(&b->reader->flat, &names, i);
        TN_TRY(tn_tenon_check(b->reader, b->place));
    }
    node->origins = origins;
    node->n_origins = (int)names.count;
    return TN_OK;
}

static tn_status read_node(build *b, const tn_flat_table *table)
{
    tn_tenon_reader *reader = b->reader;
    tn_value **in, **out;
    int n_in, n_out;
    void *attr;
    const char *name = tn_flat_text(&reader->flat, table, TN_NODE_NAME);
    const uint64_t index = tn_flat_scalar(&reader->flat, table, TN_NODE_OPERATOR, 4, 0);
    TN_TRY(tn_tenon_check(reader, b->graph->name));
    if (!name || index >= reader->n_ops) {
        return invalid(b, "a node without a name or an operator");
    }
    if (++reader->nodes > reader->options->limit_nodes) {
        return tn_fail(reader->diag, TN_LIMIT, name, "the model has more nodes than limit_nodes (%llu)",
                       (unsigned long long)reader->options->limit_nodes);
    }
    b->place = name;
    TN_TRY(spend(b, sizeof(tn_node) + strlen(name)));
    TN_TRY(read_list(b, table, TN_NODE_INPUTS, &in, &n_in));
    TN_TRY(read_list(b, table, TN_NODE_OUTPUTS, &out, &n_out));
    TN_TRY(check_operands(b, reader->ops[index].op, in, n_in, out, n_out));
    TN_TRY(read_attributes(b, table, &reader->ops[index], &attr));
    tn_node *node = tn_graph_node(b->graph, NULL, reader->ops[index].op, name, attr, in, n_in, out, n_out);
    if (!node) {
        return no_memory(b);
    }
    TN_TRY(read_origins(b, table, node));
    return read_bodies(b, table, node);
}

// ---- graphs ----

static tn_status read_symbols(const build *b, const tn_flat_table *table)
{
    const tn_flat_vector names = tn_flat_array(&b->reader->flat, table, TN_GRAPH_SYMBOLS, 4);
    if (names.count > TN_MAX_SYMBOLS / 2) {
        return invalid(b, "more symbols than a graph may have");
    }
    TN_TRY(spend(b, names.count * sizeof(char *)));
    tn_graph *graph = b->graph;
    graph->symbols = tn_arena_array(&graph->arena, names.count + 1, sizeof *graph->symbols);
    if (!graph->symbols) {
        return no_memory(b);
    }
    for (size_t i = 0; i < names.count; i++) {
        graph->symbols[i] = tn_flat_text_at(&b->reader->flat, &names, i);
        TN_TRY(tn_tenon_check(b->reader, b->place));
    }
    graph->n_symbols = graph->symbols_capacity = names.count;
    return TN_OK;
}

static tn_status read_borders(const build *b, const tn_flat_table *table, bool outputs)
{
    tn_value **values;
    int count;
    TN_TRY(read_list(b, table, outputs ? TN_GRAPH_OUTPUTS : TN_GRAPH_INPUTS, &values, &count));
    for (int i = 0; i < count; i++) {
        if (!values[i] || (outputs ? !is_made(values[i]) : is_made(values[i]))) {
            return invalid(b, outputs ? "an output that nothing makes" : "an input that is listed twice or is a constant");
        }
        if ((outputs ? tn_graph_add_output(b->graph, values[i]) : tn_graph_add_input(b->graph, values[i])) != TN_OK) {
            return no_memory(b);
        }
    }
    return TN_OK;
}

static tn_status fill(build *b, const tn_flat_table *table)
{
    tn_flat *flat = &b->reader->flat;
    TN_TRY(read_symbols(b, table));
    const tn_flat_vector values = tn_flat_array(flat, table, TN_GRAPH_VALUES, 4), nodes = tn_flat_array(flat, table, TN_GRAPH_NODES, 4);
    for (size_t i = 0; i < values.count; i++) {
        const tn_flat_table value = tn_flat_table_at(flat, &values, i);
        TN_TRY(tn_tenon_check(b->reader, b->graph->name));
        TN_TRY(read_value(b, &value));
    }
    b->place = b->graph->name;
    TN_TRY(read_borders(b, table, false));
    for (size_t i = 0; i < nodes.count; i++) {
        const tn_flat_table node = tn_flat_table_at(flat, &nodes, i);
        TN_TRY(tn_tenon_check(b->reader, b->graph->name));
        TN_TRY(read_node(b, &node));
    }
    b->place = b->graph->name;
    TN_TRY(read_borders(b, table, true));
    return tn_tenon_check(b->reader, b->graph->name);
}

tn_status tn_tenon_read_graph(tn_tenon_reader *reader, const tn_flat_table *table, int depth, tn_graph **out)
{
    if (depth > MAX_DEPTH) {
        return tn_fail(reader->diag, TN_LIMIT, "", "control operators are nested more than %d deep", MAX_DEPTH);
    }
    if (!*out) {
        *out = tn_graph_create(reader->heap, tn_flat_text(&reader->flat, table, TN_GRAPH_NAME));
    }
    if (!*out) {
        return tn_fail_memory(reader->diag, "", sizeof(tn_graph));
    }
    build b = {.reader = reader, .graph = *out, .depth = depth, .place = (*out)->name};
    return fill(&b, table);
}
