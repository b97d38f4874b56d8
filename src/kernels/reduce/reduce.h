// SPDX-License-Identifier: Apache-2.0
// Reductions of f32 over any axes. Neighbouring dims that are both kept or both reduced become one, so that the operand is
//
//   ... kept x reduced x kept x reduced          last is reduced: a result folds runs of neighbours
//   ... reduced x kept                           last is kept: a vector of results folds whole rows
//
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_REDUCE_H
#define TN_REDUCE_H

#include "dispatch/kernel.h"

#define TN_REDUCE_PIECE 65536     // floats of a run that one item folds; longer runs are split so, whatever the threads

typedef struct tn_reduce_dims {
    int rank;
    int64_t sizes[TN_MAX_RANK], strides[TN_MAX_RANK];   // of the operand, outermost first
    int64_t count;                                      // product of sizes
} tn_reduce_dims;

typedef struct tn_reduce_params {
    int kind;                     // tn_fold
    enum { TN_REDUCE_END_NONE, TN_REDUCE_END_MEAN, TN_REDUCE_END_ROOT, TN_REDUCE_END_LOG } end;
    bool runs;                    // the last dim is reduced
    tn_reduce_dims kept, reduced; // without the last dim
    int64_t last;                 // size of the last dim
    int64_t pieces;               // runs: of TN_REDUCE_PIECE floats
    double total;                 // elements of a result
} tn_reduce_params;

bool tn_reduce_match(const tn_query *query, const char **why);
tn_status tn_reduce_prepare(tn_prepare *prepare);
double tn_reduce_cost_portable(const tn_query *query);
double tn_reduce_cost_avx2(const tn_query *query);
double tn_reduce_cost_avx512(const tn_query *query);

// Offset of element `index` in the operand.
static inline int64_t tn_reduce_offset(const tn_reduce_dims *dims, int64_t index)
{
    int64_t at = 0;
    for (int d = dims->rank - 1; d > 0; d--) {
        at += index % dims->sizes[d] * dims->strides[d];
        index /= dims->sizes[d];
    }
    return dims->rank ? at + index * dims->strides[0] : 0;
}

#endif
