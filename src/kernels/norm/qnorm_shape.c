// SPDX-License-Identifier: Apache-2.0
// Predicate, parameters and costs of layer normalisation of bytes (qnorm.h).
// Ownership: none. Threads: any.
#include "kernels/norm/qnorm.h"

#define WIDEST 16              // lanes of any tier

bool tn_qnorm_match(const tn_query *query, const char **why)
{
    for (int i = 1; i < query->n_in; i++) {
        if (query->in[i] && !query->in[i]->data) {
            *why = "scales, zero points, gain or bias that are no constants";
            return false;
        }
    }
    *why = "no elements";
    return tn_tensor_count(query->in[0]) > 0;
}

tn_status tn_qnorm_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    tn_qnorm q;
    void *memory;
    // Beyond what the definition reaches it has the nearest that it does reach, as the reference.
    (void)tn_qnorm_of(query->attr, query->in, query->n_in, query->out[0]->dtype, &q);
    const int32_t room = (q.n + WIDEST - 1) / WIDEST * WIDEST;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_qnorm_params) + 2 * (size_t)room * sizeof(int32_t), &memory));
    tn_qnorm_params *p = memory;
    p->q = q;
    p->room = room;
    p->lines = tn_tensor_count(query->in[0]) / q.n;
    p->is_signed = query->in[0]->dtype == TN_I8;
    tn_qnorm_words(&q, query->in, query->n_in, p->words, p->words + room);
    return TN_OK;
}

static double cost(const tn_query *query, double element) { return 300.0 + (double)tn_tensor_count(query->in[0]) * element; }

double tn_qnorm_cost_portable(const tn_query *query) { return cost(query, 3); }
double tn_qnorm_cost_avx2(const tn_query *query) { return cost(query, 0.6); }
double tn_qnorm_cost_avx512(const tn_query *query) { return cost(query, 0.4); }
