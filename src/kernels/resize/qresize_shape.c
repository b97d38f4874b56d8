// SPDX-License-Identifier: Apache-2.0
// Predicate, tables and costs of linear resizing of bytes (qresize.h).
// Ownership: none. Threads: any.
#include "kernels/resize/qresize.h"

#include "base/macros.h"
#include "kernels/gemm/scratch.h"
#include "ops/op_rows.h"

#include <math.h>
#include <string.h>

enum { IN_X, IN_X_SCALE, IN_X_ZERO, IN_Y_SCALE, IN_Y_ZERO, IN_ROWS, IN_COLUMNS };

#define WIDEST 16                // lanes of any tier
#define LARGEST (1 << 20)        // side of a picture

static tn_requant factor_of(const tn_query *query)
{
    return tn_qresize_factor(((const tn_qlinear_attr *)query->attr)->rounding, query->in[IN_X]->dtype, (float)tn_element(query->in[IN_X_SCALE], 0),
                             (float)tn_element(query->in[IN_Y_SCALE], 0));
}

bool tn_qresize_match(const tn_query *query, const char **why)
{
    const int64_t *x = query->in[IN_X]->shape.dims, *y = query->out[0]->shape.dims;
    if (query->in[IN_X]->dtype == TN_I16) {
        *why = "no bytes";
        return false;
    }
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && !query->in[i]->data) {
            *why = "scales, zero points, rows or columns that are no constants";
            return false;
        }
    }
    *why = "no elements, or very many rows or columns";
    if (tn_tensor_count(query->in[IN_X]) == 0 || tn_tensor_count(query->out[0]) == 0 || x[2] > LARGEST || x[3] > LARGEST || y[2] > LARGEST ||
        y[3] > LARGEST) {
        return false;
    }
    const tn_requant factor = factor_of(query);
    *why = "scales that are no numbers to scale with, or places that are not there";
    return (factor.rounding == TN_ROUND_FIXED_Q31 ? factor.shift <= 0 : isnormal(factor.scale) && factor.scale > 0) &&
           tn_qresize_good(query->in[IN_ROWS]->data, TN_QRESIZE_ONE, y[2], x[2]) && tn_qresize_good(query->in[IN_COLUMNS]->data, TN_QRESIZE_ONE, y[3], x[3]);
}

// The windows of groups of results; false: one does not hold all of its group.
static bool place_windows(const tn_qresize_params *p, const char *columns, int32_t *starts, uint8_t *picks, int16_t *weights)
{
    bool fits = true;
    for (int64_t group = 0; group < p->kept; group += TN_QRESIZE_GROUP) {
        int32_t w[TN_QRESIZE_GROUP][3], first = INT32_MAX;
        for (int64_t i = 0; i < TN_QRESIZE_GROUP; i++) {
            // Behind the last result: the last one again.
            memcpy(w[i], columns + TN_MIN(group + i, p->width - 1) * (int64_t)sizeof w[i], sizeof w[i]);
            first = TN_MIN(first, TN_MIN(w[i][0], w[i][1]));
        }
        first = (int32_t)TN_MAX(TN_MIN(first, p->width_in - TN_QRESIZE_WINDOW), 0);
        starts[group / TN_QRESIZE_GROUP] = first;
        for (int64_t i = 0; i < TN_QRESIZE_GROUP; i++) {
            for (int k = 0; k < 2; k++) {
                fits = fits && w[i][k] - first < TN_QRESIZE_WINDOW;
                picks[2 * (group + i) + k] = (uint8_t)(w[i][k] - first);
                weights[2 * (group + i) + k] = (int16_t)(k ? w[i][2] : TN_QRESIZE_ONE - w[i][2]);
            }
        }
    }
    return fits;
}

static int32_t zero_at(const tn_query *query, int i) { return query->in[i] ? (int32_t)tn_element(query->in[i], 0) : 0; }

tn_status tn_qresize_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const int64_t *x = query->in[IN_X]->shape.dims, *y = query->out[0]->shape.dims;
    const int64_t kept = (y[3] + WIDEST - 1) / WIDEST * WIDEST;
    const size_t words = (size_t)kept / TN_QRESIZE_GROUP * sizeof(int32_t), pairs = 2 * (size_t)kept;
    void *memory, *tables;
    size_t at;
    TN_TRY(tn_prepare_params(prepare, words + pairs * sizeof(int16_t) + pairs, &tables));
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_qresize_params), &memory));
    tn_qresize_params *p = memory;
    int32_t *starts = tables;
    int16_t *weights = (int16_t *)(void *)((char *)tables + words);
    uint8_t *picks = (uint8_t *)(weights + pairs);
    *p = (tn_qresize_params){.planes = y[0] * y[1], .height_in = x[2], .width_in = x[3], .height = y[2], .width = y[3], .kept = kept,
                             .picks = picks, .weights = weights, .factor = factor_of(query), .x_zero = zero_at(query, IN_X_ZERO),
                             .y_zero = zero_at(query, IN_Y_ZERO),
                             .is_signed = query->in[IN_X]->dtype == TN_I8, .to_signed = query->out[0]->dtype == TN_I8,
                             .slot_bytes = 2 * (size_t)kept * sizeof(int32_t)};
    tn_qlinear_range(query->attr, query->out[0]->dtype, &p->low, &p->high);
    p->starts = place_windows(p, query->in[IN_COLUMNS]->data, starts, picks, weights) ? starts : NULL;
    return tn_scratch_add(prepare, TN_MAX(query->threads, 1u), p->slot_bytes, &at);
}

// A row of x is spread for each result row that is new between its neighbours, at most once for each of x's and twice for the result's.
static double cost(const tn_query *query, double spread, double element)
{
    const int64_t *x = query->in[IN_X]->shape.dims, *y = query->out[0]->shape.dims;
    const double rows = (double)TN_MIN(x[2], 2 * y[2]);
    return 500.0 + (double)(y[0] * y[1]) * (double)y[3] * (rows * spread + (double)y[2] * element);
}

double tn_qresize_cost_portable(const tn_query *query) { return cost(query, 1.5, 2); }
double tn_qresize_cost_avx2(const tn_query *query) { return cost(query, 0.25, 0.3); }
double tn_qresize_cost_avx512(const tn_query *query) { return cost(query, 0.2, 0.2); }
