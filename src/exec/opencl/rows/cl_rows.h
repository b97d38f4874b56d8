// SPDX-License-Identifier: Apache-2.0
// The rows of the OpenCL device: which operators it has kernels for, and how a node becomes steps. One table per file, listed in
// cl_rows.c; within the tables the first row that matches is taken.
// Ownership: const data. Threads: any.
#ifndef TN_CL_ROWS_H
#define TN_CL_ROWS_H

#include "exec/opencl/cl_build.h"

typedef struct tn_cl_row {
    const tn_op *op;
    bool grid;                        // operand 0 is read as a grid
    // NULL: always. *why: the rule that refused.
    bool (*match)(const tn_query *query, const char **why);
    // values: one per operand and result, NULL where absent. Failures stick in b->status.
    void (*emit)(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out);
} tn_cl_row;

typedef struct tn_cl_row_list { const tn_cl_row *rows; size_t count; } tn_cl_row_list;

const tn_cl_row *tn_cl_row_for(const tn_query *query, const char **why);   // NULL: refused
// The device has room for the node: no tensor, in the form that the row wants, is larger than its largest block, nor all of them than its memory.
bool tn_cl_within(const tn_cl_facts *facts, const tn_query *query, const tn_cl_row *row, const char **why);
// Bytes that a sub-flow takes on the device, about: its weights, operands and results, and the most that lives between.
uint64_t tn_cl_flow_bytes(const tn_graph *graph, tn_heap *heap);
bool tn_cl_row_exists(const tn_op *op);                                     // for some types and shapes
bool tn_cl_form_exists(const tn_op *op);                                    // of rows_typed.c, whose row names no operator
bool tn_cl_row_takes_grid(const tn_op *op);

// Tables, by file.
extern const tn_cl_row_list tn_cl_rows_conv, tn_cl_rows_pool, tn_cl_rows_loop, tn_cl_rows_typed, tn_cl_rows_copy, tn_cl_rows_matmul,
    tn_cl_rows_reduce, tn_cl_rows_norm, tn_cl_rows_index, tn_cl_rows_rnn, tn_cl_rows_quant, tn_cl_rows_qconv, tn_cl_rows_qmap, tn_cl_rows_attention,
    tn_cl_rows_axes, tn_cl_rows_resize, tn_cl_rows_arg, tn_cl_rows_scatter,
    tn_cl_rows_volume, tn_cl_rows_nbits, tn_cl_rows_select, tn_cl_rows_sample, tn_cl_rows_einsum,
    tn_cl_rows_fold, tn_cl_rows_fourier, tn_cl_rows_pad;

#define TN_CL_EXPORT(stem, array) const tn_cl_row_list tn_cl_rows_##stem = {array, sizeof(array) / sizeof((array)[0])}

// Before any node is emitted: results that a concat along channels puts side by side are made in their place.
void tn_cl_plan_views(tn_cl_build *b);

// ---- shared ----

// Elements fit in the 32 bits that kernels count with.
bool tn_cl_fits(const tn_tensor *tensor);
bool tn_cl_all_fit(const tn_query *query);
// Every operand and result that is there is f32 and fits.
bool tn_cl_all_f32(const tn_query *query, const char **why);
int64_t tn_cl_count(const tn_cl_value *value);
// The result is a view: its plain form is the operand's.
void tn_cl_alias(tn_cl_build *b, tn_cl_value *out, tn_cl_value *in);
// Begins an elementwise step over plain tensors of any types: what is left is to write `program` (a function or macro of the operands'
// elements) and to end the step. in[i]->shape is broadcast to out's.
void tn_cl_elementwise_begin(tn_cl_build *b, tn_cl_value *const *in, int n, tn_cl_value *out);
// Writes `program` as one expression over the operands' names and the result's type T.
void tn_cl_expression(tn_cl_build *b, tn_cl_value *const *in, const char *const *names, int n, const tn_cl_value *out, const char *format, ...)
    TN_PRINTF(6, 7);
// Which axes a reduction goes over, as bits; false: not known here, or none.
bool tn_cl_reduced_axes(const tn_query *query, uint32_t *mask);
// Elements along the axes of `mask`, and how many items of a group share them: a power of two.
size_t tn_cl_reduced_parts(const tn_cl_build *b, const tn_shape *shape, uint32_t mask, int64_t *count);
// A macro name(i): the place of number i in the mixed radix of the dims chosen by `mask`.
void tn_cl_write_places(tn_cl_build *b, const char *name, const tn_shape *shape, uint32_t mask);
// What sums of plain tensors end with: bias and residual (or NULL) as arguments, and the macro RESULT(i, column, sum), which stores
// y[i] = act(sum + bias[column] + residual[i]).
void tn_cl_plain_result(tn_cl_build *b, tn_cl_mem *bias, tn_cl_mem *residual, const tn_act *act);
// A list of numbers in the kernel's text; it begins with a 0, as OpenCL C knows no empty ones.
void tn_cl_write_list(tn_cl_build *b, const char *name, const int64_t *v, int n);
// The unsigned type that moves elements of this size.
const char *tn_cl_bits_type(tn_dtype dtype);
// Writes zeros into the lanes past C of a texel: the macro MASK(channel block, texel).
void tn_cl_mask(tn_cl_build *b, int64_t channels);

#endif
