// SPDX-License-Identifier: Apache-2.0
// Encoding (hex_encode.h). A value's zero point is not ours but its users': the operand of a quantised operator that names it. Movement
// passes it on. Where two users disagree, a table that changes nothing puts a value with the other zero point between.
// Ownership: see hex_encode.h. Threads: one each.
#include "exec/hexagon/hex_encode.h"

#include "base/macros.h"
#include "base/num.h"

#include <string.h>

#define CONST_ALIGN 128       // of the bytes of a constant: a vector

// ---- bytes ----

static void *grow(tn_hex_encoder *e, tn_hex_blob *blob, size_t bytes)
{
    if (e->status != TN_OK) {
        return NULL;
    }
    if (bytes > SIZE_MAX / 4 - blob->size || blob->size + bytes > UINT32_MAX / 2) {
        e->status = tn_fail(e->diag, TN_LIMIT, "hexagon", "a sub-graph of more than 2 GiB");
        return NULL;
    }
    if (blob->size + bytes > blob->room) {
        const size_t room = 2 * (blob->size + bytes) + 4096;
        uint8_t *data = tn_take(e->heap, room);
        if (!data) {
            e->status = tn_fail_memory(e->diag, "hexagon", room);
            return NULL;
        }
        if (blob->size) {
            memcpy(data, blob->data, blob->size);
        }
        tn_give(e->heap, blob->data);
        blob->data = data;
        blob->room = room;
    }
    void *at = blob->data + blob->size;
    blob->size += bytes;
    return at;
}

static void put(tn_hex_encoder *e, tn_hex_blob *blob, uint32_t word)
{
    uint8_t *at = grow(e, blob, 4);
    if (at) {
        tn_hex_patch(at, word);
    }
}

static void count_words(tn_hex_encoder *e, tn_hex_blob *blob, size_t record)
{
    if (e->status == TN_OK) {
        tn_hex_patch(blob->data + record + 4, (uint32_t)((blob->size - record) / 4));
    }
}

tn_status tn_hex_encode_init(tn_hex_encoder *e, const tn_graph *graph, tn_heap *heap, tn_diag *diag)
{
    *e = (tn_hex_encoder){.heap = heap, .diag = diag, .next_value = 1};
    e->values = tn_take_zero(heap, graph->n_values + 1, sizeof *e->values);
    return e->values ? TN_OK : tn_fail_memory(diag, "hexagon", graph->n_values * sizeof *e->values);
}

void tn_hex_encode_deinit(tn_hex_encoder *e)
{
    tn_give(e->heap, e->values);
    tn_give(e->heap, e->consts.data);
    tn_give(e->heap, e->nodes.data);
    tn_give(e->heap, e->data.data);
}

// ---- records ----

uint32_t tn_hex_dtype(tn_dtype dtype)
{
    switch (dtype) {
    case TN_U8: return TN_HEX_U8;
    case TN_I8: return TN_HEX_S8;
    case TN_I16: return TN_HEX_S16;
    case TN_I32: return TN_HEX_S32;
    case TN_F32: return TN_HEX_F32;
    default: return 0;
    }
}

static void describe(tn_hex_encoder *e, tn_hex_blob *blob, uint32_t id, uint32_t dtype, int32_t zero, int rank, const int64_t *dims)
{
    put(e, blob, id);
    put(e, blob, dtype);
    put(e, blob, (uint32_t)zero);
    put(e, blob, (uint32_t)rank);
    for (int i = 0; i < rank; i++) {
        put(e, blob, (uint32_t)dims[i]);
    }
}

uint32_t tn_hex_constant(tn_hex_encoder *e, uint32_t dtype, int rank, const int64_t *dims, const void *data, size_t bytes)
{
    const size_t record = e->consts.size, gap = (CONST_ALIGN - e->data.size % CONST_ALIGN) % CONST_ALIGN;
    const uint32_t id = e->next_value++;
    uint8_t *pad = grow(e, &e->data, gap);
    if (pad && gap) {
        memset(pad, 0, gap);
    }
    const size_t offset = e->data.size;
    uint8_t *to = grow(e, &e->data, bytes);
    if (to && bytes) {
        if (data) {
            memcpy(to, data, bytes);
        } else {
            memset(to, 0, bytes);
        }
    }
    put(e, &e->consts, TN_HEX_RECORD_CONST);
    put(e, &e->consts, 0);
    describe(e, &e->consts, id, dtype, 0, rank, dims);
    put(e, &e->consts, 0);                       // handle: known when the DSP has the buffer
    put(e, &e->consts, (uint32_t)offset);        // from the begin of the data: moved with it
    put(e, &e->consts, (uint32_t)bytes);
    count_words(e, &e->consts, record);
    e->n_consts++;
    return id;
}

uint32_t tn_hex_temporary(tn_hex_encoder *e, uint32_t dtype, int32_t zero, const tn_shape *shape)
{
    const size_t record = e->nodes.size;
    const uint32_t id = e->next_value++;
    put(e, &e->nodes, TN_HEX_RECORD_VALUE);
    put(e, &e->nodes, 0);
    describe(e, &e->nodes, id, dtype, zero, shape->rank, shape->dims);
    count_words(e, &e->nodes, record);
    return id;
}

static void border(tn_hex_encoder *e, uint32_t kind, uint32_t id)
{
    put(e, &e->nodes, kind);
    put(e, &e->nodes, 3);
    put(e, &e->nodes, id);
}

void tn_hex_node_begin(tn_hex_encoder *e, int op)
{
    e->record = e->nodes.size;
    put(e, &e->nodes, TN_HEX_RECORD_NODE);
    put(e, &e->nodes, 0);
    put(e, &e->nodes, e->node);
    put(e, &e->nodes, tn_hex_op_id(op));
    e->arity = e->nodes.size;
    put(e, &e->nodes, 0);
}

void tn_hex_operand(tn_hex_encoder *e, uint32_t id)
{
    put(e, &e->nodes, id);
    if (e->status == TN_OK) {
        tn_hex_patch(e->nodes.data + e->arity, (uint32_t)((e->nodes.size - e->arity) / 4 - 1));
    }
}

void tn_hex_result(tn_hex_encoder *e, uint32_t id)
{
    put(e, &e->nodes, 1);
    put(e, &e->nodes, id);
}

void tn_hex_attr(tn_hex_encoder *e, uint32_t key, int n, const uint32_t *words)
{
    put(e, &e->nodes, key);
    put(e, &e->nodes, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        put(e, &e->nodes, words[i]);
    }
}

void tn_hex_attr_list(tn_hex_encoder *e, uint32_t key, int n, const int64_t *words)
{
    put(e, &e->nodes, key);
    put(e, &e->nodes, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        put(e, &e->nodes, (uint32_t)words[i]);
    }
}

static uint32_t float_bits(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

void tn_hex_attr_float(tn_hex_encoder *e, uint32_t key, int n, const float *v)
{
    put(e, &e->nodes, key);
    put(e, &e->nodes, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        put(e, &e->nodes, float_bits(v[i]));
    }
}

void tn_hex_attr_requant(tn_hex_encoder *e, int n, const tn_requant *factors)
{
    const bool fixed = factors[0].rounding == TN_ROUND_FIXED_Q31;
    const uint32_t rounding = fixed ? TN_HEX_FIXED_Q31 : TN_HEX_FLOAT_RNE;
    tn_hex_attr(e, TN_HEX_ATTR_ROUNDING, 1, &rounding);
    put(e, &e->nodes, TN_HEX_ATTR_MULTIPLIER);
    put(e, &e->nodes, (uint32_t)n);
    for (int i = 0; i < n; i++) {
        put(e, &e->nodes, fixed ? (uint32_t)factors[i].multiplier : float_bits(factors[i].scale));
    }
    if (fixed) {
        put(e, &e->nodes, TN_HEX_ATTR_SHIFT);
        put(e, &e->nodes, (uint32_t)n);
        for (int i = 0; i < n; i++) {
            put(e, &e->nodes, (uint32_t)factors[i].shift);
        }
    }
}

void tn_hex_attr_clamp(tn_hex_encoder *e, int32_t low, int32_t high)
{
    const uint32_t words[2] = {(uint32_t)low, (uint32_t)high};
    tn_hex_attr(e, TN_HEX_ATTR_CLAMP, 2, words);
}

void tn_hex_node_end(tn_hex_encoder *e) { count_words(e, &e->nodes, e->record); }

// ---- rows ----

static const tn_hex_row_list *const lists[] = {&tn_hex_rows_sum, &tn_hex_rows_map, &tn_hex_rows_move, &tn_hex_rows_wide};

bool tn_hex_has_row(const tn_op *op)
{
    for (size_t l = 0; l < TN_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            if (lists[l]->rows[i].op == op) {
                return true;
            }
        }
    }
    return false;
}

const tn_hex_row *tn_hex_row_for(const tn_query *query, const char **why)
{
    // Most float operators have no row, and the user of a float model wants to know why.
    const bool floats = query->n_out > 0 && query->out[0] && query->out[0]->dtype == TN_F32;
    *why = floats ? "it computes in floats and the DSP in integers: the model is not quantised there (precision int8 with calibration does that)"
                  : "there is no DSP kernel for this operator";
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        size_t bytes = 0;
        if (tensor && (tensor->kind != TN_KIND_TENSOR || tensor->shape.rank > TN_HEX_MAX_RANK || !tn_tensor_bytes(tensor, &bytes) ||
                       bytes == 0 || bytes > INT32_MAX)) {
            *why = "a tensor without elements, of more than 8 dims or too large for the DSP";
            return NULL;
        }
    }
    for (size_t l = 0; l < TN_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count; i++) {
            const tn_hex_row *row = &lists[l]->rows[i];
            if (row->op == query->op && row->match(query, why)) {
                return row;
            }
        }
    }
    return NULL;
}

// ---- zero points ----

typedef struct view {
    tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
    const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
    tn_query query;
} view;

static void look(const tn_node *node, const tn_cpu *cpu, view *v)
{
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        const tn_value *value = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        v->pointers[i] = value ? &v->tensors[i] : NULL;
        if (value) {
            v->tensors[i] = value->constant ? *value->constant : (tn_tensor){.dtype = value->dtype, .shape = value->shape};
        }
    }
    v->query = (tn_query){.op = node->op, .attr = node->attr, .name = node->name, .n_in = node->n_in, .n_out = node->n_out,
                          .in = v->pointers, .out = v->pointers + node->n_in, .cpu = cpu, .threads = 1};
}

// Operand or result `of` of a node.
static const tn_value *part(const tn_node *node, int of)
{
    return of >= TN_HEX_RESULT ? node->out[of - TN_HEX_RESULT] : of < node->n_in ? node->in[of] : NULL;
}

static int32_t zero_in(const tn_node *node, int at)
{
    const tn_value *zero = at < node->n_in ? node->in[at] : NULL;
    return zero && zero->constant ? (int32_t)tn_dtype_load_i64(zero->dtype, zero->constant->data, 0) : 0;
}

static void learn(tn_hex_encoder *e, const tn_value *value, int32_t zero)
{
    tn_hex_value *known = &e->values[value->id];
    if (!known->has_zero) {
        *known = (tn_hex_value){.id = known->id, .has_zero = true, .zero = zero};
    }
}

// What nodes say of the zero points of their operands and results, then what movement passes on, forward and back.
static tn_status find_zeros(tn_hex_encoder *e, const tn_graph *graph, const tn_cpu *cpu)
{
    const char *why;
    view v;
    for (const tn_node *node = graph->first; node; node = node->next) {
        look(node, cpu, &v);
        const tn_hex_row *row = tn_hex_row_for(&v.query, &why);
        if (!row) {
            return tn_fail(e->diag, TN_INTERNAL, node->name, "a node that the DSP does not take: %s", why);
        }
        for (const int8_t *at = row->zeros; at && *at >= 0; at += 2) {
            const tn_value *value = part(node, at[1]);
            if (value && !value->constant) {
                learn(e, value, zero_in(node, at[0]));
            }
        }
    }
    for (const tn_node *node = graph->first; node; node = node->next) {
        look(node, cpu, &v);
        const tn_hex_row *row = tn_hex_row_for(&v.query, &why);
        if (row && row->keeps_zero && e->values[node->in[0]->id].has_zero) {
            learn(e, node->out[0], e->values[node->in[0]->id].zero);
        }
    }
    for (const tn_node *node = graph->last; node; node = node->prev) {
        look(node, cpu, &v);
        const tn_hex_row *row = tn_hex_row_for(&v.query, &why);
        for (int i = 0; row && row->keeps_zero && i < node->n_in; i++) {
            if (node->in[i] && e->values[node->out[0]->id].has_zero) {
                learn(e, node->in[i], e->values[node->out[0]->id].zero);
            }
        }
    }
    return TN_OK;
}

// ---- the graph ----

// An identity as a table: `from` as the same bytes under another zero point.
void tn_hex_relabel(tn_hex_encoder *e, uint32_t from, uint32_t to)
{
    static const int64_t dims[1] = {256};
    uint8_t table[256];
    for (int i = 0; i < 256; i++) {
        table[i] = (uint8_t)i;
    }
    const uint32_t id = tn_hex_constant(e, TN_HEX_U8, 1, dims, table, sizeof table);
    tn_hex_node_begin(e, TN_HEX_OP_LUT);
    tn_hex_operand(e, from);
    tn_hex_operand(e, id);
    tn_hex_result(e, to);
    tn_hex_node_end(e);
}

uint32_t tn_hex_bytes(tn_hex_encoder *e, const tn_tensor *tensor, int32_t zero)
{
    const uint32_t dtype = tn_hex_dtype(tensor->dtype);
    const uint32_t constant = tn_hex_constant(e, dtype, tensor->shape.rank, tensor->shape.dims, tensor->data, (size_t)tn_tensor_count(tensor));
    const uint32_t value = tn_hex_temporary(e, dtype, zero, &tensor->shape);
    tn_hex_relabel(e, constant, value);
    return value;
}

static uint32_t value_id(tn_hex_encoder *e, const tn_value *value)
{
    tn_hex_value *known = &e->values[value->id];
    if (!known->id) {
        known->id = tn_hex_temporary(e, tn_hex_dtype(value->dtype), known->zero, &value->shape);
    }
    return known->id;
}

// The zero point that a node wants of operand or result `of`; false: it does not say.
static bool wanted_zero(const tn_hex_encoder *e, const tn_hex_row *row, const tn_node *node, int of, int32_t *zero)
{
    for (const int8_t *at = row->zeros; at && *at >= 0; at += 2) {
        if (at[1] == of) {
            *zero = zero_in(node, at[0]);
            return true;
        }
    }
    if (row->keeps_zero) {
        *zero = e->values[node->out[0]->id].zero;
    }
    return row->keeps_zero;
}

static void encode_node(tn_hex_encoder *e, const tn_node *node, const tn_cpu *cpu)
{
    uint32_t in[TN_MAX_IN] = {0}, out[TN_MAX_OUT] = {0}, late[TN_MAX_OUT] = {0};
    const char *why;
    int32_t zero = 0;
    view v;
    look(node, cpu, &v);
    const tn_hex_row *row = tn_hex_row_for(&v.query, &why);
    for (int i = 0; row && i < node->n_in && i < TN_MAX_IN; i++) {
        const tn_value *value = node->in[i];
        if (!value || value->constant || !tn_hex_dtype(value->dtype)) {
            continue;
        }
        in[i] = value_id(e, value);
        if (value->dtype != TN_F32 && wanted_zero(e, row, node, i, &zero) && zero != e->values[value->id].zero) {
            const uint32_t other = tn_hex_temporary(e, tn_hex_dtype(value->dtype), zero, &value->shape);
            tn_hex_relabel(e, in[i], other);
            in[i] = other;
        }
    }
    for (int i = 0; row && i < node->n_out && i < TN_MAX_OUT; i++) {
        const tn_value *value = node->out[i];
        if (!value) {
            continue;
        }
        out[i] = value_id(e, value);
        if (value->dtype != TN_F32 && wanted_zero(e, row, node, TN_HEX_RESULT + i, &zero) && zero != e->values[value->id].zero) {
            late[i] = out[i];
            out[i] = tn_hex_temporary(e, tn_hex_dtype(value->dtype), zero, &value->shape);
        }
    }
    if (row) {
        e->zero_out = out[0] ? e->values[node->out[0]->id].zero : 0;
        row->encode(e, &v.query, in, out);
    }
    for (int i = 0; i < node->n_out && i < TN_MAX_OUT; i++) {
        if (late[i]) {
            tn_hex_relabel(e, out[i], late[i]);
        }
    }
}

tn_status tn_hex_encode_graph(tn_hex_encoder *e, const tn_graph *graph, const tn_cpu *cpu)
{
    TN_TRY(find_zeros(e, graph, cpu));
    for (size_t i = 0; i < graph->n_inputs; i++) {
        border(e, TN_HEX_RECORD_INPUT, value_id(e, graph->inputs[i]));
    }
    e->node = 0;
    for (const tn_node *node = graph->first; node; node = node->next) {
        e->node++;
        encode_node(e, node, cpu);
    }
    for (size_t i = 0; i < graph->n_outputs; i++) {
        border(e, TN_HEX_RECORD_OUTPUT, value_id(e, graph->outputs[i]));
    }
    return e->status;
}
