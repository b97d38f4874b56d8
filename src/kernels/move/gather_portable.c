// SPDX-License-Identifier: Apache-2.0
// gather: runs of elements picked by an index tensor, any element type. The indices are checked before anything is copied.
// Ownership: none. Threads: runs are shared out.
#include "dispatch/kernel.h"

#include "base/macros.h"
#include "base/num.h"
#include "ops/index/op_gather.h"

#include <string.h>

// data is [outer][length][inner], indices [n], the result [outer][n][inner].
typedef struct job {
    const tn_call *call;
    int64_t length, n;
    size_t inner;             // bytes
} job;

// Index i, counted from the front; negative ones count from the end.
static int64_t index_at(const job *j, int64_t i)
{
    const tn_tensor *at = j->call->in[1];
    const int64_t v = at->dtype == TN_I32 ? tn_load_i32(at->data, (size_t)i) : tn_load_i64(at->data, (size_t)i);
    return v < 0 ? v + j->length : v;
}

static void run_picks(void *context, size_t first, size_t count, unsigned slot)
{
    const job *j = context;
    const char *from = j->call->in[0]->data;
    char *to = j->call->out[0]->data;
    (void)slot;
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count); item++) {
        const int64_t outer = item / j->n, pick = outer * j->length + index_at(j, item % j->n);
        memcpy(to + (size_t)item * j->inner, from + (size_t)pick * j->inner, j->inner);
    }
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

// data, indices (int32 or int64); result: data with the axis replaced by the shape of indices.
static tn_status run_gather(const tn_call *call)
{
    const tn_shape *x = &call->in[0]->shape;
    int axis;
    if (!tn_axis(((const tn_gather_attr *)call->attr)->axis, x->rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    job j = {.call = call, .length = x->dims[axis], .n = tn_tensor_count(call->in[1])};
    for (int64_t i = 0; i < j.n; i++) {
        const int64_t index = index_at(&j, i);
        if (index < 0 || index >= j.length) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "gather: index %lld is not in -%lld .. %lld",
                           (long long)(index < 0 ? index - j.length : index), (long long)j.length, (long long)j.length - 1);
        }
    }
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    j.inner = (size_t)tn_shape_span(x, axis + 1, x->rank) * tn_dtype_bytes(call->in[0]->dtype);
    const size_t picks = (size_t)(tn_shape_span(x, 0, axis) * j.n);
    tn_workers_run(call->workers, run_picks, &j, picks, TN_MAX(32768 / TN_MAX(j.inner, (size_t)1), (size_t)1));
    return TN_OK;
}

static const tn_kernel rows[] = {
    {.name = "gather_portable", .op = &tn_op_gather, .impl = TN_IMPL_PORTABLE, .tag = "", .version = 1, .aligned_constants = true,
     .match = match_gather, .cost = cost_gather, .run = run_gather},
};
TN_EXPORT_KERNELS(gather_portable, rows);
