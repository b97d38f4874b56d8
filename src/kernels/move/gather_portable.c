// SPDX-License-Identifier: Apache-2.0
// gather and gather_nd: runs of elements picked by an index tensor, any element type. The indices are checked, and turned into
// places, before anything is copied.
// Ownership: none. Threads: runs are shared out.
#include "dispatch/kernel.h"

#include "base/macros.h"
#include "base/num.h"
#include "ops/index/op_gather.h"

#include <string.h>

// The runs to copy: run i of the result comes from element (i / n) * stride + from[i % n] of the data.
typedef struct job {
    const tn_call *call;
    const int64_t *from;      // [n]
    int64_t n, stride;
    size_t inner, size;       // bytes of a run, of an element
} job;

// Index i of the index tensor, counted from the front; negative ones count from the end. False, recorded: it is out of range.
static tn_status index_at(const tn_call *call, int64_t i, int64_t length, int64_t *index)
{
    const tn_tensor *at = call->in[1];
    const int64_t v = at->dtype == TN_I32 ? tn_load_i32(at->data, (size_t)i) : tn_load_i64(at->data, (size_t)i);
    *index = v < 0 ? v + length : v;
    if (*index < 0 || *index >= length) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: index %lld is not in -%lld .. %lld", call->op->name, (long long)v,
                       (long long)length, (long long)length - 1);
    }
    return TN_OK;
}

static void copy_runs(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    const char *from = j->call->in[0]->data;
    char *to = j->call->out[0]->data;
    (void)slot;
    for (int64_t i = (int64_t)first; i < (int64_t)(first + count); i++) {
        const int64_t at = i / j->n * j->stride + j->from[i % j->n];
        memcpy(to + (size_t)i * j->inner, from + (size_t)at * j->size, j->inner);
    }
}

// outer times n runs of `run` elements.
static tn_status copy_all(const tn_call *call, int64_t outer, int64_t n, int64_t stride, int64_t run)
{
    job j = {.call = call, .from = call->scratch, .n = n, .stride = stride, .size = tn_dtype_bytes(call->in[0]->dtype)};
    j.inner = (size_t)run * j.size;
    if (j.inner > 0) {
        tn_workers_run(call->workers, copy_runs, &j, (size_t)(outer * n), TN_MAX(32768 / j.inner, (size_t)1));
    }
    return TN_OK;
}

static bool match_gather(const tn_query *query, const char **why)
{
    const tn_dtype index = query->in[1]->dtype;
    if (query->in[0]->dtype == TN_STRING || (index != TN_I32 && index != TN_I64)) {
        *why = "strings, or indices of another type";
        return false;
    }
    return true;
}

static double cost_gather(const tn_query *query)
{
    size_t bytes = 0;
    tn_tensor_bytes(query->out[0], &bytes);
    return 150.0 + 3.0 * (double)tn_tensor_count(query->in[1]) + (double)bytes / 20.0;
}

// ---- gather: data is [outer][length][inner], indices [n], the result [outer][n][inner] ----

// Scratch: where each run of an outer index comes from.
static tn_status prepare_gather(tn_prepare *prepare)
{
    prepare->scratch_bytes = sizeof(int64_t) * (size_t)tn_tensor_count(prepare->query->in[1]);
    return TN_OK;
}

static tn_status run_gather(const tn_call *call)
{
    const tn_shape *x = &call->in[0]->shape;
    int axis;
    if (!tn_axis(((const tn_gather_attr *)call->attr)->axis, x->rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    const int64_t outer = tn_shape_span(x, 0, axis), length = x->dims[axis], inner = tn_shape_span(x, axis + 1, x->rank);
    const int64_t n = tn_tensor_count(call->in[1]);
    int64_t *from = call->scratch;
    for (int64_t i = 0; i < n; i++) {
        TN_TRY(index_at(call, i, length, &from[i]));
        from[i] *= inner;
    }
    return copy_all(call, outer, n, length * inner, inner);
}

// ---- gather_nd: data [batch..., d..., inner...], indices [batch..., n..., size] with one index for each d ----

static int64_t tuples_of(const tn_shape *indices) { return tn_shape_span(indices, 0, indices->rank - 1); }

static tn_status prepare_gather_nd(tn_prepare *prepare)
{
    prepare->scratch_bytes = sizeof(int64_t) * (size_t)tuples_of(&prepare->query->in[1]->shape);
    return TN_OK;
}

static tn_status run_gather_nd(const tn_call *call)
{
    const tn_shape *x = &call->in[0]->shape, *at = &call->in[1]->shape;
    const int batch = (int)((const tn_gather_nd_attr *)call->attr)->batch_dims, size = (int)at->dims[at->rank - 1];
    const int64_t tuples = tuples_of(at), batches = tn_shape_span(at, 0, batch), image = tn_shape_span(x, batch, x->rank);
    int64_t *from = call->scratch;
    for (int64_t i = 0; i < tuples; i++) {
        from[i] = i / (tuples / batches) * image;
        for (int k = 0; k < size; k++) {
            int64_t index;
            TN_TRY(index_at(call, i * size + k, x->dims[batch + k], &index));
            from[i] += index * tn_shape_span(x, batch + k + 1, x->rank);
        }
    }
    return copy_all(call, 1, tuples, 0, tn_shape_span(x, batch + size, x->rank));
}

// ---- rows ----

#define ROW(NAME)                                                                                                         \
    {                                                                                                                     \
        .name = #NAME "_portable", .op = &tn_op_##NAME, .impl = TN_IMPL_PORTABLE, .tag = "", .version = 1,                \
        .aligned_constants = true, .match = match_gather, .cost = cost_gather, .prepare = prepare_##NAME, .run = run_##NAME \
    }
static const tn_kernel rows[] = {ROW(gather), ROW(gather_nd)};
TN_EXPORT_KERNELS(gather_portable, rows);
