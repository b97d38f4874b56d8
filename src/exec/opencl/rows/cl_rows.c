// SPDX-License-Identifier: Apache-2.0
// The list of tables, and what rows share.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

static const tn_cl_row_list *const tables[] = {
    &tn_cl_rows_conv, &tn_cl_rows_pool, &tn_cl_rows_loop,  &tn_cl_rows_typed, &tn_cl_rows_copy, &tn_cl_rows_matmul,
    &tn_cl_rows_reduce, &tn_cl_rows_norm, &tn_cl_rows_index, &tn_cl_rows_rnn,  &tn_cl_rows_quant,
    &tn_cl_rows_qconv, &tn_cl_rows_qmap, &tn_cl_rows_attention, &tn_cl_rows_axes,
    &tn_cl_rows_resize, &tn_cl_rows_arg, &tn_cl_rows_scatter, &tn_cl_rows_volume, &tn_cl_rows_nbits,
    &tn_cl_rows_select, &tn_cl_rows_sample, &tn_cl_rows_einsum, &tn_cl_rows_fold, &tn_cl_rows_fourier, &tn_cl_rows_pad,
};

const tn_cl_row *tn_cl_row_for(const tn_query *query, const char **why)
{
    if (!tn_cl_all_fit(query)) {
        *why = "a tensor is empty or has 2^31 elements or more";
        return NULL;
    }
    for (size_t t = 0; t < TN_COUNT(tables); t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            const tn_cl_row *row = &tables[t]->rows[i];
            // A row without an operator asks the operator itself (elementwise ones).
            if ((!row->op || row->op == query->op) && (!row->match || row->match(query, why))) {
                return row;
            }
        }
    }
    return NULL;
}

// Bytes of one tensor on the device: plain, or as a grid where that is larger and the row reads or writes it as one. Operand 1 of such a row
// may become filters, whose channels are filled up to whole texels on both sides.
static uint64_t device_bytes(const tn_query *query, const tn_cl_row *row, int i, const tn_tensor *tensor)
{
    int64_t d[4];
    size_t plain = 0, width = 0, height = 0;
    (void)tn_tensor_bytes(tensor, &plain);
    if (!row->grid || tensor->dtype != TN_F32 || !tn_cl_grid_dims(&tensor->shape, d)) {
        return plain;
    }
    if (i == 1 && i < query->n_in) {
        return (uint64_t)(4 * TN_CEIL_DIV(d[0], 4)) * (uint64_t)(4 * TN_CEIL_DIV(d[1], 4)) * (uint64_t)(d[2] * d[3]) * sizeof(float);
    }
    (void)tn_cl_content_size(TN_CL_IN_OUT_CHANNEL, d, 0, &width, &height);
    return TN_MAX((uint64_t)plain, (uint64_t)width * height * 16);
}

bool tn_cl_within(const tn_cl_facts *facts, const tn_query *query, const tn_cl_row *row, const char **why)
{
    uint64_t sum = 0;
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        const uint64_t bytes = tensor ? device_bytes(query, row, i, tensor) : 0;
        if (bytes > facts->largest_bytes) {
            *why = "a tensor is larger than the device's largest block (CL_DEVICE_MAX_MEM_ALLOC_SIZE)";
            return false;
        }
        sum += bytes;
    }
    if (sum > facts->memory_bytes) {
        *why = "its tensors together are larger than the device's memory (CL_DEVICE_GLOBAL_MEM_SIZE)";
        return false;
    }
    return true;
}

// Bytes of a value in the larger of its forms; results and operands of the flow are plain, too.
static uint64_t value_bytes(const tn_value *value)
{
    const tn_tensor tensor = {.dtype = value->dtype, .shape = value->shape};
    int64_t d[4];
    size_t plain = 0, width = 0, height = 0;
    (void)tn_tensor_bytes(&tensor, &plain);
    uint64_t bytes = plain;
    if (value->dtype == TN_F32 && tn_cl_grid_dims(&value->shape, d)) {
        const bool weights = value->constant && value->n_uses && value->uses[0].index == 1;
        (void)tn_cl_content_size(TN_CL_IN_OUT_CHANNEL, d, 0, &width, &height);
        bytes = weights ? (uint64_t)(4 * TN_CEIL_DIV(d[0], 4)) * (uint64_t)(4 * TN_CEIL_DIV(d[1], 4)) * (uint64_t)(d[2] * d[3]) * sizeof(float)
                        : (uint64_t)width * height * 16;
        bytes = TN_MAX(bytes, (uint64_t)plain) + (value->is_input || value->is_output ? plain : 0);
    }
    return bytes;
}

// Constants, operands and results stay for the life of the flow; what is between lives from its node to its last reader, and counts twice: blocks are
// shared only where they fit (images on both sides), and some values are there as grid and plain.
uint64_t tn_cl_flow_bytes(const tn_graph *graph, tn_heap *heap)
{
    int *last = tn_take_zero(heap, graph->n_values + 1, sizeof *last);
    uint64_t fixed = 0, live = 0, most = 0, staged = 0;
    int at = 1;
    for (const tn_node *node = graph->first; last && node; node = node->next, at++) {
        for (int i = 0; i < node->n_in; i++) {
            if (node->in[i]) {
                last[node->in[i]->id] = at;
            }
        }
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        const tn_value *value = graph->values[i];
        if (value && (value->constant || value->is_input || value->is_output)) {
            const uint64_t bytes = value_bytes(value);
            fixed += bytes;
            staged = value->constant ? TN_MAX(staged, bytes) : staged;      // on its way it is there in both forms
        }
    }
    at = 1;
    for (const tn_node *node = graph->first; last && node; node = node->next, at++) {
        for (int i = 0; i < node->n_out; i++) {
            live += node->out[i] && !node->out[i]->is_output ? value_bytes(node->out[i]) : 0;
        }
        most = TN_MAX(most, live);
        for (int i = 0; i < node->n_out; i++) {
            live -= node->out[i] && !node->out[i]->is_output && last[node->out[i]->id] == 0 ? value_bytes(node->out[i]) : 0;
        }
        for (int i = 0; i < node->n_in; i++) {
            const tn_value *value = node->in[i];
            const bool between = value && !value->constant && !value->is_input && !value->is_output;
            if (between && last[value->id] == at) {
                live -= value_bytes(value);
                last[value->id] = -1;                                       // it may be read twice by the node
            }
        }
    }
    tn_give(heap, last);
    return fixed + TN_MAX(2 * most, staged);
}

bool tn_cl_row_exists(const tn_op *op)
{
    for (size_t t = 0; t < TN_COUNT(tables); t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            if (tables[t]->rows[i].op == op) {
                return true;
            }
        }
    }
    return op->loop != NULL || tn_cl_form_exists(op);
}

bool tn_cl_row_takes_grid(const tn_op *op)
{
    for (size_t t = 0; t < TN_COUNT(tables); t++) {
        for (size_t i = 0; i < tables[t]->count; i++) {
            if (tables[t]->rows[i].op == op && tables[t]->rows[i].grid) {
                return true;
            }
        }
    }
    return false;
}

bool tn_cl_fits(const tn_tensor *tensor)
{
    int64_t count;
    return tn_shape_count(&tensor->shape, &count) && count > 0 && count <= INT32_MAX / 8;
}

bool tn_cl_all_fit(const tn_query *query)
{
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        if (tensor && !tn_cl_fits(tensor)) {
            return false;
        }
    }
    return query->n_out > 0 && query->out[0];
}

bool tn_cl_all_f32(const tn_query *query, const char **why)
{
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        if (tensor && tensor->dtype != TN_F32) {
            *why = "only float32 has a kernel";
            return false;
        }
    }
    return true;
}

int64_t tn_cl_count(const tn_cl_value *value)
{
    int64_t count = 0;
    return tn_shape_count(&value->shape, &count) ? count : 0;
}

void tn_cl_alias(tn_cl_build *b, tn_cl_value *out, tn_cl_value *in) { out->plain = tn_cl_plain(b, in); }

void tn_cl_plain_result(tn_cl_build *b, tn_cl_mem *bias, tn_cl_mem *residual, const tn_act *act)
{
    if (bias) {
        tn_cl_in(b, "float", "bias", bias);
    }
    if (residual) {
        tn_cl_in(b, "float", "residual", residual);
    }
    tn_cl_act(b, act);
    tn_cl_define(b, "RESULT(i, column, sum)", "do { const float v_ = (sum)%s%s; y[i] = ACT(v_); } while (0)", bias ? " + bias[column]" : "",
                 residual ? " + residual[i]" : "");
}

void tn_cl_write_list(tn_cl_build *b, const char *name, const int64_t *v, int n)
{
    tn_cl_code(b, "__constant int %s[] = {0", name);
    for (int i = 0; i < n; i++) {
        tn_cl_code(b, ", %lld", (long long)v[i]);
    }
    tn_cl_code(b, "};\n");
}

const char *tn_cl_bits_type(tn_dtype dtype)
{
    const size_t bytes = tn_dtype_bytes(dtype);
    return bytes == 1 ? "uchar" : bytes == 2 ? "ushort" : bytes == 4 ? "uint" : "ulong";
}

void tn_cl_mask(tn_cl_build *b, int64_t channels)
{
    const int64_t tail = channels % 4, last = channels / 4;
    if (tail == 0) {
        tn_cl_define(b, "MASK(block, v)", "(v)");
    } else {
        tn_cl_define(b, "MASK(block, v)", "((block) == %lld ? select((float4)(0.0f), (v), (int4)(-1, %d, %d, 0)) : (v))", (long long)last,
                     tail > 1 ? -1 : 0, tail > 2 ? -1 : 0);
    }
}
