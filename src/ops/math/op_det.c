// SPDX-License-Identifier: Apache-2.0
// det: Gaussian elimination with partial pivoting in float64, on a copy of each matrix in the call's scratch.
// Ownership: const data. Threads: any.
#include "ops/math/op_det.h"

#include "base/num.h"
#include "ops/op_facts.h"

#include <math.h>

// ---- infer ----

// x [batch..., n, n] -> [batch...]
static tn_status infer_det(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_FLOAT));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank >= 2) {
        int64_t side;
        if (!tn_dim_join(shape.dims[shape.rank - 2], shape.dims[shape.rank - 1], &side)) {
            return tn_infer_fail(infer, "the matrices are %lld by %lld, expected square ones", (long long)shape.dims[shape.rank - 2],
                                 (long long)shape.dims[shape.rank - 1]);
        }
        shape = tn_shape_of(shape.rank - 2, shape.dims);
    }
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// n^3 / 3 products a matrix.
static int64_t macs_det(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr;
    (void)n_in;
    (void)out;
    (void)n_out;
    const tn_shape *x = &in[0]->shape;
    int64_t macs;
    return tn_mul_i64(TN_MAX(tn_fact_count(in[0]), 0), x->dims[x->rank - 1], &macs) ? macs / 3 : INT64_MAX;
}

// ---- descriptor ----

const tn_op tn_op_det = {
    .name = "det", .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .infer = infer_det,
    .macs = macs_det,
};

// ---- reference ----

// m [n, n] is destroyed.
static double determinant(double *m, int64_t n)
{
    double product = 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++) {
            pivot = fabs(m[i * n + k]) > fabs(m[pivot * n + k]) ? i : pivot;
        }
        if (m[pivot * n + k] == 0) {
            return 0;
        }
        for (int64_t j = k; j < n && pivot != k; j++) {
            const double swap = m[k * n + j];
            m[k * n + j] = m[pivot * n + j];
            m[pivot * n + j] = swap;
        }
        product *= pivot == k ? m[k * n + k] : -m[k * n + k];
        for (int64_t i = k + 1; i < n; i++) {
            const double factor = m[i * n + k] / m[k * n + k];
            for (int64_t j = k + 1; j < n; j++) {
                m[i * n + j] -= factor * m[k * n + j];
            }
        }
    }
    return product;
}

// x [batch..., n, n] -> [batch...]
static tn_status run_det(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *y = call->out[0];
    const int64_t n = x->shape.dims[x->shape.rank - 1], count = tn_tensor_count(y);
    double *m = call->scratch;
    for (int64_t i = 0; i < count; i++) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t k = 0; k < n * n; k++) {
            m[k] = tn_dtype_load(x->dtype, x->data, (size_t)(i * n * n + k));
        }
        tn_dtype_store(y->dtype, y->data, (size_t)i, determinant(m, n));
    }
    return TN_OK;
}

// Scratch: one matrix.
static tn_status prepare_det(tn_prepare *prepare)
{
    const tn_shape *x = &prepare->query->in[0]->shape;
    const size_t n = tn_tensor_count(prepare->query->out[0]) > 0 ? (size_t)x->dims[x->rank - 1] : 0;
    size_t bytes;
    if (!tn_mul_size(n, n, &bytes) || !tn_mul_size(bytes, sizeof(double), &bytes)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    prepare->scratch_bytes = bytes;
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    {.name = "det_reference", .op = &tn_op_det, .impl = TN_IMPL_REFERENCE, .tag = "", .version = 1, .aligned_constants = true,
     .prepare = prepare_det, .run = run_det},
};

static const tn_op *const ops[] = {&tn_op_det};

TN_EXPORT_OPS(op_det, ops);
TN_EXPORT_KERNELS(op_det, rows);
