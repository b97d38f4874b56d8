// SPDX-License-Identifier: Apache-2.0
// Predicate, parameters and costs of quantised sums and products (qmap.h).
// Ownership: none. Threads: any.
#include "base/macros.h"
#include "kernels/qmap/qmap.h"
#include "ops/quant/op_qpair.h"
#include "ops/walk/walk.h"

#include <math.h>

bool tn_qpair_match(const tn_query *query, const char **why)
{
    static const int constants[] = {1, 2, 4, 5, 6, 7};
    for (size_t i = 0; i < TN_COUNT(constants); i++) {
        const int at = constants[i];
        if (at < query->n_in && query->in[at] && !query->in[at]->data) {
            *why = "scales or zero points that are no constants";
            return false;
        }
    }
    *why = "no elements";
    return tn_tensor_count(query->out[0]) > 0;
}

tn_status tn_qpair_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_shape *of[2] = {&query->in[0]->shape, &query->in[3]->shape};
    tn_walk walk;
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_qpair_job), &memory));
    tn_qpair_job *p = memory;
    tn_qpair_params(query->op, query->attr, query->in, query->n_in, query->out[0]->dtype, &p->pair);
    p->kind = query->op == &tn_op_qlinear_mul ? TN_QPAIR_MUL : query->op == &tn_op_qlinear_sub ? TN_QPAIR_SUB : TN_QPAIR_ADD;
    p->is_signed = query->out[0]->dtype == TN_I8;
    // Vectors shift to the right only, and take the bounds in one order.
    p->plain = p->pair.low > p->pair.high || p->pair.a.shift > 0 || p->pair.b.shift > 0 || p->pair.y.shift > 0;
    if (tn_walk_init(&walk, &query->out[0]->shape, 2, of)) {
        p->row = walk.row;
        p->rows = tn_tensor_count(query->out[0]) / walk.row;
        p->pieces = TN_CEIL_DIV(walk.row, TN_QMAP_PIECE);
    }
    return TN_OK;
}

static double cost(const tn_query *query, double element) { return 300.0 + (double)tn_tensor_count(query->out[0]) * element; }

double tn_qpair_cost_portable(const tn_query *query) { return cost(query, 2.0); }
double tn_qpair_cost_avx2(const tn_query *query) { return cost(query, 0.25); }
double tn_qpair_cost_avx512(const tn_query *query) { return cost(query, 0.15); }
