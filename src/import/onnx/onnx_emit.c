// SPDX-License-Identifier: Apache-2.0
// Building operators for a node of the model. After each one its types and shapes are inferred as far as the operands tell, so
// that map functions may ask for ranks and dtypes; what cannot be told, or is wrong, is left to the inference over the whole graph.
// Ownership and threads: see onnx_map.h.
#include "import/onnx/onnx_read.h"

#include "base/num.h"
#include "ops/math/op_cast.h"
#include "ops/move/op_reshape.h"
#include "ops/op_eval.h"

#include <string.h>

// Memory of hints is given back when it passes this many bytes.
#define HINT_BYTES ((size_t)1 << 20)

static void out_of_memory(tn_onnx_node *node, size_t bytes)
{
    if (node->status == TN_OK) {
        node->status = tn_fail_memory(node->scope->reader->diag, node->name, bytes);
    }
}

// ---- shape hints ----

// What is known of a value. Constants tell their contents, so that shapes given by constants become known.
static tn_fact fact_of(const tn_value *value)
{
    return (tn_fact){.kind = value->kind, .inner = value->inner, .dtype = value->dtype, .shape = value->shape, .value = value->constant};
}

// Runs the operator's own inference on what is known so far and notes dtypes and shapes. Failures are passed over here: the
// inference over the whole graph, which knows more, will say them again.
static void hint(const tn_onnx_node *node, const tn_node *made)
{
    tn_fact in[TN_MAX_IN], out[TN_MAX_OUT];
    const tn_fact *list[TN_MAX_IN];
    tn_onnx_reader *reader = node->scope->reader;
    if (made->op->flags & TN_OP_CONTROL || made->n_in > TN_MAX_IN || made->n_out > TN_MAX_OUT) {
        return;
    }
    for (int i = 0; i < made->n_in; ++i) {
        if (made->in[i]) {
            in[i] = fact_of(made->in[i]);
        }
        list[i] = made->in[i] ? &in[i] : NULL;
    }
    for (int i = 0; i < made->n_out; ++i) {
        out[i] = (tn_fact){.shape = tn_shape_unknown()};
    }
    if (reader->hints.used > HINT_BYTES) {
        tn_arena_deinit(&reader->hints);
        tn_arena_init(&reader->hints, reader->heap);
    }
    if (tn_op_infer(made->op, made->attr, made->name, list, made->n_in, out, made->n_out, &reader->hints, NULL) != TN_OK) {
        return;
    }
    for (int i = 0; i < made->n_out; ++i) {
        if (made->out[i]) {
            made->out[i]->kind = out[i].kind;
            made->out[i]->inner = out[i].inner;
            made->out[i]->dtype = out[i].dtype;
            made->out[i]->shape = out[i].shape;
        }
    }
}

// ---- nodes ----

// How many operands, and that those that must be there are. Inference relies on it. Control operators check their own: theirs may
// be absent in front.
static bool check_operands(tn_onnx_node *node, const tn_op *op, tn_value *const *in, int n_in)
{
    if (n_in < op->min_in || (op->max_in >= 0 && n_in > op->max_in)) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%d operands, expected %d to %d", n_in, op->min_in,
                     op->max_in < 0 ? TN_MAX_IN : op->max_in);
        return false;
    }
    const bool control = op->flags & TN_OP_CONTROL;
    for (int i = 0; i < (op->max_in < 0 ? n_in : op->min_in) && !control; ++i) {
        if (!in[i]) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "operand %d is missing", i);
            return false;
        }
    }
    if (n_in > TN_MAX_IN && !control) {
        tn_onnx_refuse(node, "%d operands, at most %d can be taken", n_in, TN_MAX_IN);
        return false;
    }
    return true;
}

// The one place where nodes are made.
void tn_onnx_build(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in, tn_value *const *out,
                   int count)
{
    if (!tn_onnx_good(node)) {
        return;
    }
    while (n_in > op->min_in && !in[n_in - 1]) {
        --n_in;
    }
    if (!check_operands(node, op, in, n_in)) {
        return;
    }
    if (count > TN_MAX_OUT && !(op->flags & TN_OP_CONTROL)) {
        tn_onnx_refuse(node, "%d results, at most %d can be made", count, TN_MAX_OUT);
        return;
    }
    const tn_node *made = tn_graph_node(node->graph, NULL, op, node->name, attr, in, n_in, out, count);
    if (!made) {
        out_of_memory(node, sizeof *made);
        return;
    }
    hint(node, made);
}

void tn_onnx_emit_several(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in, tn_value **out,
                          int count)
{
    for (int i = 0; i < count; ++i) {
        out[i] = tn_onnx_good(node) ? tn_graph_value(node->graph, NULL) : NULL;
        if (!out[i] && tn_onnx_good(node)) {
            out_of_memory(node, sizeof *out[i]);
        }
    }
    tn_onnx_build(node, op, attr, in, n_in, out, count);
    for (int i = 0; i < count && !tn_onnx_good(node); ++i) {
        out[i] = NULL;
    }
}

tn_value *tn_onnx_emit(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in)
{
    tn_value *value;
    tn_onnx_emit_several(node, op, attr, in, n_in, &value, 1);
    return value;
}

// Made when first asked for, so that an operator that makes a constant can bring its own value instead.
tn_value *tn_onnx_result(tn_onnx_node *node, int i)
{
    const char *name;
    if (!tn_onnx_wants(node, i) || !tn_onnx_good(node) || node->out[i]) {
        return i < node->n_out ? node->out[i] : NULL;
    }
    node->status = tn_onnx_full_name(node->scope, node->out_names[i], "a value", &name);
    if (node->status == TN_OK) {
        node->out[i] = tn_graph_value(node->graph, name);
        if (!node->out[i]) {
            out_of_memory(node, sizeof(tn_value));
        }
    }
    return node->out[i];
}

void tn_onnx_finish_one(tn_onnx_node *node, int index, const tn_op *op, const void *attr, tn_value *const *in, int n_in)
{
    tn_value *value = tn_onnx_result(node, index);
    if (value) {
        tn_onnx_build(node, op, attr, in, n_in, &value, 1);
    }
}

void tn_onnx_finish_as(tn_onnx_node *node, int index, tn_value *x)
{
    tn_onnx_finish_one(node, index, &tn_op_identity, NULL, TN_IN(x));
}

void tn_onnx_finish(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in)
{
    int count = node->n_out;
    // Trailing results that nobody named do not count, except where their number means something (split).
    while (op->max_out >= 0 && count > op->min_out && !tn_onnx_wants(node, count - 1)) {
        --count;
    }
    if (op->max_out >= 0 && count > op->max_out) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "%d results, at most %d are allowed", count, op->max_out);
        return;
    }
    for (int i = 0; i < count; ++i) {
        tn_onnx_result(node, i);
    }
    // The operator makes its first results even if nobody wants them. The spare entries of the array are room for them.
    for (int i = 0; i < op->min_out && tn_onnx_good(node); ++i) {
        if (!node->out[i] && !(node->out[i] = tn_graph_value(node->graph, NULL))) {
            out_of_memory(node, sizeof(tn_value));
        }
    }
    tn_onnx_build(node, op, attr, in, n_in, node->out, TN_MAX(count, op->min_out));
}

// ---- mapping by the row alone ----

// Operators of parts first, until no more operands than a kernel takes are left.
static void nest(tn_onnx_node *node, const void *attr)
{
    while (node->n_in > TN_MAX_IN && tn_onnx_good(node)) {
        int parts = 0;
        for (int at = 0; at < node->n_in && tn_onnx_good(node); at += TN_MAX_IN) {
            const int count = TN_MIN(TN_MAX_IN, node->n_in - at);
            node->in[parts++] = count == 1 ? node->in[at] : tn_onnx_emit(node, node->row->op, attr, node->in + at, count);
        }
        node->n_in = parts;
    }
}

// The attribute of an older opset as the operand that replaced it.
static tn_value *attr_operand(tn_onnx_node *node, const tn_onnx_operand *operand)
{
    if (operand->kind == TN_ATTR_INTS) {
        const tn_ints list = tn_onnx_ints(node, operand->name);
        return tn_onnx_const_ints(node, list.v, (size_t)list.count);
    }
    if (operand->kind == TN_ATTR_INT) {
        const int64_t number = tn_onnx_int(node, operand->name, 0);
        return tn_onnx_const_ints(node, &number, 1);
    }
    if (operand->kind == TN_ATTR_REALS) {
        const tn_reals list = tn_onnx_reals(node, operand->name);
        const tn_shape shape = tn_shape_of(1, (const int64_t[]){list.count});
        return tn_onnx_const(node, TN_F32, &shape, list.v);
    }
    return tn_onnx_const_like(node, tn_onnx_in(node, 0), tn_onnx_real(node, operand->name, 0));
}

// Attributes to operands, attributes to fields, one operator. The struct is built on the stack (the graph copies it); its size was
// checked against the room.
void tn_onnx_plain(tn_onnx_node *node)
{
    _Alignas(16) char attr[512];
    const tn_onnx_row *row = node->row;
    if (row->op->attr_size > sizeof attr) {
        tn_onnx_fail(node, TN_INTERNAL, "attributes of %zu bytes", row->op->attr_size);
        return;
    }
    for (size_t i = 0; i < row->n_operands; ++i) {
        const tn_onnx_operand *operand = &row->operands[i];
        if (node->opset <= operand->until && tn_onnx_find(node, operand->name)) {
            tn_onnx_set_in(node, operand->index, attr_operand(node, operand));
        }
    }
    tn_onnx_fill(node, row->op, row->fields, row->n_fields, attr);
    if (row->nests) {
        nest(node, attr);
    }
    tn_onnx_finish(node, row->op, attr, node->in, node->n_in);
}

// ---- constants ----

tn_value *tn_onnx_const(tn_onnx_node *node, tn_dtype dtype, const tn_shape *shape, const void *data)
{
    tn_value *value = NULL;
    static const uint8_t nothing[16]; // contents of a tensor without elements
    data = data ? data : nothing;
    if (tn_onnx_good(node)) {
        node->status = tn_onnx_constant(node->scope->reader, node->graph, NULL, dtype, shape, data, true, &value);
    }
    return value;
}

tn_value *tn_onnx_const_ints(tn_onnx_node *node, const int64_t *v, size_t count)
{
    const tn_shape shape = tn_shape_of(1, (const int64_t[]){(int64_t)count});
    return tn_onnx_const(node, TN_I64, &shape, v);
}

tn_value *tn_onnx_const_int(tn_onnx_node *node, int64_t v)
{
    const tn_shape shape = tn_shape_of(0, NULL);
    return tn_onnx_const(node, TN_I64, &shape, &v);
}

tn_value *tn_onnx_const_real(tn_onnx_node *node, tn_dtype dtype, double v)
{
    uint64_t element[2] = {0, 0};
    const tn_shape shape = tn_shape_of(0, NULL);
    tn_dtype_store(dtype, element, 0, v);
    return tn_onnx_const(node, dtype, &shape, element);
}

// A cast_like costs nothing in the end: once the type is known, folding turns it into a constant.
tn_value *tn_onnx_const_like(tn_onnx_node *node, tn_value *like, double v)
{
    if (!like || like->dtype != TN_NONE) {
        return tn_onnx_const_real(node, like ? like->dtype : TN_F32, v);
    }
    tn_value *value = tn_onnx_const_real(node, TN_F32, v);
    return tn_onnx_emit(node, &tn_op_cast_like, NULL, TN_IN(value, like));
}

tn_value *tn_onnx_const_attr(tn_onnx_node *node, const char *attr, const char *name)
{
    tn_onnx_reader *reader = node->scope->reader;
    const tn_onnx_attr *found = tn_onnx_good(node) ? tn_onnx_find(node, attr) : NULL;
    tn_onnx_tensor tensor;
    tn_value *value = NULL;
    if (!found) {
        return NULL;
    }
    if (found->type != TN_ONNX_TENSOR || !found->bytes.data) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "attribute '%s' must be a tensor", attr);
        return NULL;
    }
    node->status = tn_onnx_read_tensor(reader, found->bytes, node->name, &tensor);
    if (node->status == TN_OK && tensor.refused) {
        tn_onnx_refuse(node, "attribute '%s': %s", attr, tensor.refused);
    }
    if (tn_onnx_good(node)) {
        node->status = tn_onnx_constant(reader, node->graph, name, tensor.dtype, &tensor.shape, tensor.data, false, &value);
    }
    return value;
}

// Cells for `count` strings, in the memory of the model; NULL: recorded.
static const char **take_cells(tn_onnx_node *node, size_t count)
{
    void *room = NULL;
    if (tn_onnx_good(node)) {
        node->status = tn_onnx_take(node->scope->reader, (count + 1) * sizeof(char *), node->name, &room);
    }
    return tn_onnx_good(node) ? room : NULL;
}

// The constant whose cells these are.
static tn_value *const_cells(tn_onnx_node *node, const char **cells, size_t count)
{
    tn_value *value = NULL;
    const tn_shape shape = tn_shape_of(1, (const int64_t[]){(int64_t)count});
    if (tn_onnx_good(node)) {
        node->status = tn_onnx_constant(node->scope->reader, node->graph, NULL, TN_STRING, &shape, cells, false, &value);
    }
    return value;
}

static void copy_cell(tn_onnx_node *node, const char *text, size_t length, const char **cell)
{
    void *room;
    node->status = tn_onnx_take(node->scope->reader, length + 1, node->name, &room);
    if (node->status == TN_OK) {
        memcpy(room, length ? text : "", length);
        ((char *)room)[length] = 0;
        *cell = room;
    }
}

tn_value *tn_onnx_const_texts(tn_onnx_node *node, const char *const *texts, size_t count)
{
    const char **cells = take_cells(node, count);
    for (size_t i = 0; cells && i < count && tn_onnx_good(node); ++i) {
        copy_cell(node, texts[i], strlen(texts[i]), &cells[i]);
    }
    return cells ? const_cells(node, cells, count) : NULL;
}

tn_value *tn_onnx_const_strings(tn_onnx_node *node, const char *attr)
{
    const tn_onnx_attr *found = tn_onnx_good(node) ? tn_onnx_find(node, attr) : NULL;
    size_t count = 0, at = 0;
    if (!found) {
        return NULL;
    }
    (void)tn_onnx_string(node, attr, SIZE_MAX, &count);
    const char **cells = take_cells(node, count);
    tn_wire wire = tn_wire_open(found->body);
    while (cells && tn_onnx_good(node) && tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(9, TN_WIRE_BYTES) && at < count) {   // AttributeProto.strings
            copy_cell(node, (const char *)wire.bytes.data, wire.bytes.size, &cells[at++]);
        }
    }
    return cells ? const_cells(node, cells, count) : NULL;
}

bool tn_onnx_known_scalar(const tn_value *value, double *v)
{
    int64_t count;
    if (!value || !value->constant || !tn_shape_count(&value->shape, &count) || count != 1 || value->dtype == TN_C64 ||
        value->dtype == TN_C128) {
        return false;
    }
    *v = tn_dtype_load(value->dtype, value->constant->data, 0);
    return true;
}
