// SPDX-License-Identifier: Apache-2.0
// How reference kernels read and write tensors of any number type: runs of elements become rows of double (or of int64 where
// bits count) in scratch, are worked on, and are rounded once when they are stored. One kernel then serves all dtypes.
// Scratch is planned by prepare, one share for each thread, so that running takes no memory.
// Ownership: none. Threads: any, each slot its own share.
#ifndef TN_OP_ROWS_H
#define TN_OP_ROWS_H

#include "ops/op_facts.h"

// count elements of data from element `start` in steps of `stride` (may be 0 or negative). The caller has checked the range.
void tn_row_load(tn_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t count, double *row);
void tn_row_load_i64(tn_dtype dtype, const void *data, int64_t start, int64_t stride, int64_t count, int64_t *row);

// As tn_dtype_store and tn_dtype_store_i64: floats round to nearest even; integers drop the fraction and saturate, or wrap.
void tn_row_store(tn_dtype dtype, void *data, int64_t start, int64_t stride, int64_t count, const double *row);
void tn_row_store_i64(tn_dtype dtype, void *data, int64_t start, int64_t stride, int64_t count, const int64_t *row);

// row[i] += factor * run[i]
static inline void tn_row_add(double *restrict row, const double *restrict run, double factor, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        row[i] += factor * run[i];
    }
}

// Where row `row` (an index over all dims of `out` but the last) of an operand that broadcasts to `out` begins, and the step
// along the last dim (0 or 1).
int64_t tn_broadcast_row(const tn_shape *operand, const tn_shape *out, int64_t row, int64_t *stride);

// A reference row that wants scratch.
#define TN_REFERENCE_SCRATCH(NAME, PREPARE, RUN)                                                                  \
    {                                                                                                             \
        .name = #NAME "_reference", .op = &tn_op_##NAME, .impl = TN_IMPL_REFERENCE, .tag = "", .version = 1,      \
        .aligned_constants = true, .prepare = PREPARE, .run = RUN,                                                \
    }

// Prepare function's helper: `bytes` of scratch for every thread of the plan. Uses params.
tn_status tn_prepare_slots(tn_prepare *prepare, size_t bytes);

// The same for a row of `count` doubles (nothing when result 0 is empty: then nothing is computed).
tn_status tn_prepare_rows(tn_prepare *prepare, int64_t count);

// tn_shape_span, but 0 when the tensor is empty: then the product of some dims need not fit.
int64_t tn_tensor_span(const tn_tensor *tensor, int from, int to);

// Scratch of a slot, aligned to 64.
void *tn_slot_scratch(const tn_call *call, unsigned slot);

// What a prepare function has added to scratch behind the shares of all slots.
void *tn_shared_scratch(const tn_call *call);

// tn_workers_run over a call that was prepared by tn_prepare_slots; TN_CANCELLED when the call was told to stop. Tasks
// return early once tn_cancelled(call).
tn_status tn_call_split(const tn_call *call, tn_task task, void *context, size_t total, size_t tile);

// TN_CANCELLED, recorded, when the call was told to stop; asked at the end of loops that return early.
static inline tn_status tn_call_status(const tn_call *call) { return tn_cancelled(call) ? tn_fail_cancelled(call) : TN_OK; }

// Operand i, or NULL when it is absent or past the last.
static inline const tn_tensor *tn_call_in(const tn_call *call, int i) { return i < call->n_in ? call->in[i] : NULL; }
static inline tn_tensor *tn_call_out(const tn_call *call, int i) { return i < call->n_out ? call->out[i] : NULL; }

// The nearest number of a dtype: for steps that a formula rounds on the way.
static inline double tn_dtype_round(tn_dtype dtype, double value)
{
    unsigned char bytes[8];
    tn_dtype_store(dtype, bytes, 0, value);
    return tn_dtype_load(dtype, bytes, 0);
}

// Element i as a number.
static inline double tn_element(const tn_tensor *tensor, int64_t i)
{
    return tn_dtype_load(tensor->dtype, tensor->data, (size_t)i);
}

#endif
