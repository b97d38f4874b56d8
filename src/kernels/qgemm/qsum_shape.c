// SPDX-License-Identifier: Apache-2.0
// Sizes and factors of products of bytes (qsum.h).
// Ownership: none. Threads: any.
#include "kernels/qgemm/qsum.h"

#include "base/macros.h"
#include "ops/op_rows.h"

size_t tn_qsum_slot_bytes(int64_t k, int64_t rows)
{
    const size_t depth = (size_t)TN_MIN(k + k % 2, TN_QSUM_DEPTH);
    const size_t kept = (size_t)(k > TN_QSUM_DEPTH ? TN_MIN(rows, TN_QSUM_ROWS) : TN_MIN(rows, TN_QSUM_SLICE));
    return 2 * TN_QSUM_TILE * sizeof(int16_t) + 8 * TN_QSUM_TILE + (TN_QSUM_TILE + TN_QSUM_SLICE) * depth * sizeof(int16_t) +
           (kept + 3) / 4 * 4 * TN_QSUM_TILE * sizeof(int32_t);
}

int64_t tn_qsum_rows(int64_t rows, int64_t tiles, unsigned threads)
{
    int64_t piece = TN_QSUM_ROWS;
    while (threads > 1 && piece > 16 && tiles * TN_CEIL_DIV(rows, piece) < 4 * (int64_t)threads) {
        piece /= 2;
    }
    return piece;
}

double tn_qsum_at(const tn_tensor *tensor, int64_t i) { return tensor ? tn_element(tensor, tn_tensor_count(tensor) == 1 ? 0 : i) : 0; }

tn_status tn_qsum_results_init(tn_prepare *prepare, const tn_qlinear_attr *q, const int scales[3], int zero, int bias, int64_t count,
                               tn_qsum_results *results)
{
    const tn_query *query = prepare->query;
    const tn_tensor *x_scale = query->in[scales[0]], *w_scale = query->in[scales[1]], *y_scale = query->in[scales[2]];
    const tn_tensor *y_zero = zero < query->n_in ? query->in[zero] : NULL, *shift = bias < query->n_in ? query->in[bias] : NULL;
    tn_requant *factors = tn_arena_array(prepare->arena, (size_t)count, sizeof *factors);
    int32_t *biases = tn_arena_array(prepare->arena, (size_t)count, sizeof *biases);
    if (!factors || !biases) {
        return tn_fail_memory(prepare->diag, query->name, (size_t)count * sizeof *factors);
    }
    for (int64_t i = 0; i < count; i++) {
        factors[i] = tn_requant_factor(q->rounding, (float)tn_element(x_scale, 0), (float)tn_qsum_at(w_scale, i), (float)tn_element(y_scale, 0));
        biases[i] = (int32_t)tn_qsum_at(shift, i);
    }
    *results = (tn_qsum_results){.factor = factors, .bias = biases, .zero = (int32_t)tn_qsum_at(y_zero, 0),
                                   .is_signed = query->out[0]->dtype == TN_I8};
    tn_qlinear_range(q, query->out[0]->dtype, &results->low, &results->high);
    return TN_OK;
}
