// SPDX-License-Identifier: Apache-2.0
// Predicates, parameters and costs of products of matrices of bytes (qgemm.h).
// Ownership: none. Threads: any.
#include "kernels/qgemm/qgemm.h"

#include "base/macros.h"
#include "kernels/gemm/scratch.h"

static bool is_byte(const tn_tensor *tensor) { return tensor->dtype == TN_U8 || tensor->dtype == TN_I8; }
static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

static bool is_single(const tn_tensor *tensor) { return !tensor || tn_tensor_count(tensor) == 1; }

// One, or one for each column of b.
static bool fits_columns(const tn_tensor *tensor, const tn_tensor *b)
{
    return is_single(tensor) || (tensor->shape.rank == 1 && b->shape.rank > 1 && tensor->shape.dims[0] == b->shape.dims[b->shape.rank - 1]);
}

static bool matches(const tn_query *query, int b, int a_zero, int b_zero, const char **why)
{
    const tn_tensor *x = query->in[0], *w = query->in[b];
    if (!is_byte(x) || !is_byte(w) || tn_tensor_count(x) == 0 || tn_tensor_count(w) == 0 || tn_tensor_count(query->out[0]) == 0) {
        *why = "no bytes, or no elements";
        return false;
    }
    if (!is_single(operand(query, a_zero)) || !fits_columns(operand(query, b_zero), w)) {
        *why = "zero points for each row, or for each matrix";
        return false;
    }
    return true;
}

bool tn_matmul_integer_match(const tn_query *query, const char **why) { return matches(query, 1, 2, 3, why); }

bool tn_qlinear_matmul_match(const tn_query *query, const char **why)
{
    static const int constants[] = {1, 4, 6, 7, 8};
    for (size_t i = 0; i < TN_COUNT(constants); i++) {
        if (operand(query, constants[i]) && !operand(query, constants[i])->data) {
            *why = "scales that are no constants";
            return false;
        }
    }
    if (query->in[1]->dtype != TN_F32 || !is_byte(query->out[0]) || !is_single(query->in[1]) || !fits_columns(query->in[4], query->in[3])) {
        *why = "other scales than float32 for all or for each column";
        return false;
    }
    return matches(query, 3, 2, 5, why);
}

static tn_status prepare_at(tn_prepare *prepare, int b, int a_zero, int b_zero, tn_qgemm_params **params)
{
    const tn_query *query = prepare->query;
    size_t at;
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_qgemm_params), &memory));
    tn_qgemm_params *p = memory;
    tn_tensor y = *query->out[0];
    tn_product_set(&p->product, query->in[0], false, NULL, query->in[b], false, NULL, &y);
    p->product.y = NULL;
    p->product.a.tensor = p->product.b.tensor = NULL;
    p->b = b;
    p->a_zero = a_zero;
    p->b_zero = b_zero;
    p->a_signed = query->in[0]->dtype == TN_I8;
    p->b_signed = query->in[b]->dtype == TN_I8;
    p->each = !is_single(operand(query, b_zero));
    p->vector = p->product.m == 1;
    // A row of a as pairs, or tiles.
    p->slot_bytes = p->vector ? (size_t)(p->product.k + 1) * sizeof(int16_t) : tn_qsum_slot_bytes(p->product.k, p->product.m);
    p->slot_bytes = (p->slot_bytes + 63) / 64 * 64;
    *params = p;
    return tn_scratch_add(prepare, TN_MAX(query->threads, 1u), p->slot_bytes, &at);
}

tn_status tn_matmul_integer_prepare(tn_prepare *prepare)
{
    tn_qgemm_params *p;
    return prepare_at(prepare, 1, 2, 3, &p);
}

tn_status tn_qlinear_matmul_prepare(tn_prepare *prepare)
{
    static const int scales[] = {1, 4, 6};
    tn_qgemm_params *p;
    TN_TRY(prepare_at(prepare, 3, 2, 5, &p));
    p->columns = !is_single(prepare->query->in[4]);
    return tn_qsum_results_init(prepare, &((const tn_qmatmul_attr *)prepare->query->attr)->q, scales, 7, 8, p->product.n, &p->results);
}

static double cost(const tn_query *query, double per_ns, double lines)
{
    const tn_tensor *b = query->in[query->n_in > 4 ? 3 : 1];
    return 300.0 + (double)tn_query_macs(query) / per_ns + (double)tn_tensor_count(b) * lines + (double)tn_tensor_count(query->out[0]) * lines;
}

double tn_qgemm_cost_portable(const tn_query *query) { return cost(query, 6.0, 1.0); }
double tn_qgemm_cost_avx2(const tn_query *query) { return cost(query, 70.0, 0.05); }
double tn_qgemm_cost_avx512(const tn_query *query) { return cost(query, 110.0, 0.04); }
double tn_qgemm_cost_vnni(const tn_query *query) { return cost(query, 180.0, 0.04); }
