// SPDX-License-Identifier: Apache-2.0
// Which loop of TN_TYPED_LIST runs a node, and how its rows lie.
// Ownership: none. Threads: any.
#include "kernels/typed/typed.h"

#include "base/macros.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_cast.h"
#include "ops/math/op_select.h"
#include "ops/math/op_unary.h"
#include "ops/walk/walk.h"

static const struct {
    const tn_op *op;
    tn_dtype a, b, y;
} entries[] = {
#define X(OP, A, B, Y, EXPRESSION) {&tn_op_##OP, TN_##A, TN_##B, TN_##Y},
    TN_TYPED_LIST(X)
#undef X
};

static int find_entry(const tn_query *query)
{
    const tn_dtype a = query->in[0]->dtype, b = query->n_in > 1 ? query->in[1]->dtype : TN_NONE, y = query->out[0]->dtype;
    for (size_t i = 0; i < TN_COUNT(entries); i++) {
        if (entries[i].op == query->op && entries[i].a == a && entries[i].b == b && entries[i].y == y) {
            return (int)i;
        }
    }
    return -1;
}

bool tn_typed_match(const tn_query *query, const char **why)
{
    *why = "no loop for these types";
    return find_entry(query) >= 0;
}

tn_status tn_typed_prepare(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_shape *of[3];
    tn_walk walk;
    void *memory;
    TN_TRY(tn_prepare_params(prepare, sizeof(tn_typed_params), &memory));
    tn_typed_params *p = memory;
    p->entry = find_entry(query);
    p->operands = query->n_in;
    for (int k = 0; k < query->n_in; k++) {
        of[k] = &query->in[k]->shape;
    }
    if (tn_walk_init(&walk, &query->out[0]->shape, query->n_in, of)) {
        p->row = walk.row;
        p->rows = tn_tensor_count(query->out[0]) / walk.row;
        p->pieces = TN_CEIL_DIV(walk.row, TN_TYPED_PIECE);
    }
    return TN_OK;
}

double tn_typed_cost(const tn_query *query) { return 200.0 + 0.3 * (double)tn_tensor_count(query->out[0]); }
