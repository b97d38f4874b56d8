// SPDX-License-Identifier: Apache-2.0
// Predicates, parameters and costs of pooling of bytes (qmap.h).
// Ownership: none. Threads: any.
#include "base/macros.h"
#include "kernels/gemm/scratch.h"
#include "kernels/qmap/qmap.h"
#include "ops/op_rows.h"
#include "ops/quant/op_qpool.h"

#define MAX_WINDOW 4096        // taps along a dim
#define MAX_TAPS (1 << 23)     // sums of a window fit 32 bits

// Every window along the dim has a tap inside x.
static bool covered(const tn_window *w, int dim)
{
    for (int64_t o = 0; o < w->out[dim]; o++) {
        const int64_t base = o * w->stride[dim] - w->pad_begin[dim], last = base + (w->kernel[dim] - 1) * w->dilation[dim];
        const int64_t skip = base < 0 ? TN_CEIL_DIV(-base, w->dilation[dim]) : 0;
        if (base + skip * w->dilation[dim] >= w->in[dim] || skip >= w->kernel[dim] || last < 0) {
            return false;
        }
    }
    return true;
}

static bool window_of(const tn_query *query, tn_window *w)
{
    const tn_shape *x = &query->in[0]->shape;
    if (query->op == &tn_op_qlinear_global_average_pool) {
        const int64_t plane = tn_shape_span(x, 2, x->rank);
        *w = (tn_window){.rank = 3, .kernel = {1, 1, plane}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}, .in = {1, 1, plane}, .out = {1, 1, 1}};
        return plane > 0 && plane <= MAX_TAPS;
    }
    // The pool's attributes come first in those of both operators.
    if (!tn_pool_window(query->attr, x, w)) {
        return false;
    }
    tn_window_widen(w);
    bool fits = w->in[0] == 1 && w->out[0] == 1 && w->kernel[0] == 1;
    for (int i = 1; i < 3; i++) {
        fits = fits && w->kernel[i] <= MAX_WINDOW && w->in[i] <= 1 << 20 && w->out[i] <= 1 << 20 && covered(w, i);
    }
    return fits && w->kernel[1] * w->kernel[2] <= MAX_TAPS;
}

bool tn_qpool_match(const tn_query *query, const char **why)
{
    static const int constants[] = {1, 2, 3, 4};
    tn_window w;
    for (size_t i = 0; i < TN_COUNT(constants); i++) {
        if (constants[i] < query->n_in && query->in[constants[i]] && !query->in[constants[i]]->data) {
            *why = "scales or zero points that are no constants";
            return false;
        }
    }
    *why = "no elements, or a window of this size";
    return tn_tensor_count(query->in[0]) > 0 && tn_tensor_count(query->out[0]) > 0 && window_of(query, &w);
}

bool tn_qpool_max_match(const tn_query *query, const char **why)
{
    tn_window w;
    if (query->in[0]->dtype != TN_U8 && query->in[0]->dtype != TN_I8) {
        *why = "no bytes";
        return false;
    }
    if (query->n_out > 1 && query->out[1]) {
        *why = "indices of the maxima are asked for";
        return false;
    }
    *why = "no elements, or a window of this size";
    return tn_tensor_count(query->in[0]) > 0 && tn_tensor_count(query->out[0]) > 0 && window_of(query, &w);
}

static tn_status prepare_window(tn_prepare *prepare, tn_qpool_params **params)
{
    const tn_query *query = prepare->query;
    const tn_shape *x = &query->in[0]->shape;
    size_t at;
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_qpool_params), &memory));
    tn_qpool_params *p = memory;
    (void)window_of(query, &p->w);
    p->is_signed = query->in[0]->dtype == TN_I8;
    p->planes = x->dims[0] * x->dims[1];
    // A folded row of x, as bytes or sums, and a row of sums of results.
    p->slot_bytes = (size_t)(p->w.in[2] + p->w.out[2]) * sizeof(int32_t);
    p->slot_bytes = (p->slot_bytes + 63) / 64 * 64;
    *params = p;
    return tn_scratch_add(prepare, TN_MAX(query->threads, 1u), p->slot_bytes, &at);
}

static int32_t zero_at(const tn_query *query, int i) { return i < query->n_in && query->in[i] ? (int32_t)tn_element(query->in[i], 0) : 0; }

tn_status tn_qpool_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const bool global = query->op == &tn_op_qlinear_global_average_pool;
    const tn_qpool_attr *attr = global ? NULL : query->attr;
    const tn_qlinear_attr *q = attr ? &attr->q : query->attr;
    tn_qpool_params *p;
    TN_TRY(prepare_window(prepare, &p));
    p->with_pads = attr && attr->pool.count_include_pad;
    p->rounding = q->rounding;
    p->x_scale = (float)tn_element(query->in[1], 0);
    p->y_scale = (float)tn_element(query->in[3], 0);
    p->x_zero = zero_at(query, 2);
    p->y_zero = zero_at(query, 4);
    tn_qlinear_range(q, query->out[0]->dtype, &p->low, &p->high);
    return TN_OK;
}

tn_status tn_qpool_max_prepare(tn_prepare *prepare)
{
    tn_qpool_params *p;
    TN_TRY(prepare_window(prepare, &p));
    p->max = true;
    return TN_OK;
}

// Rows are folded, then columns.
static double cost(const tn_query *query, double element, double tap)
{
    tn_window w;
    const double taps = window_of(query, &w) ? (double)w.kernel[2] : 1;
    return 500.0 + (double)tn_tensor_count(query->in[0]) * element * 3 + (double)tn_tensor_count(query->out[0]) * TN_MIN(taps, 64) * tap;
}

double tn_qpool_cost_portable(const tn_query *query) { return cost(query, 0.3, 0.5); }
double tn_qpool_cost_avx2(const tn_query *query) { return cost(query, 0.05, 0.2); }
double tn_qpool_cost_avx512(const tn_query *query) { return cost(query, 0.04, 0.2); }
