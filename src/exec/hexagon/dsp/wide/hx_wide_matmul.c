// SPDX-License-Identifier: Apache-2.0
// wide_matmul: 64 columns at a time, an activation in both halves of a scalar register; the parts of the weights are two matrices of halves.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/wide/hx_wide.h"

enum { CHUNK = 128, MOST_INNER = 1 << 20 };

typedef struct matmul_plan {
    int32_t rows, inner, columns, padded;        // padded: columns rounded up to a vector
    int16_t *high, *low;                         // [inner][padded]
    tn_hx_wide_finish *finish;                   // [columns]
} matmul_plan;

typedef struct matmul_run {
    const matmul_plan *plan;
    const tn_hx_value *x, *y;
} matmul_run;

static uint32_t check(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    if (!w) {
        return TN_HEX_WHY_ARITY;
    }
    if (w->rank != 2 || x->rank < 1 || y->rank != x->rank || x->dims[x->rank - 1] != w->dims[0] || y->dims[y->rank - 1] != w->dims[1]) {
        return TN_HEX_WHY_SHAPE;
    }
    for (int i = 0; i + 1 < x->rank; i++) {
        if (x->dims[i] != y->dims[i]) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    return w->dims[0] <= MOST_INNER && w->dims[1] <= MOST_INNER ? tn_hx_wide_sum_check(graph, node, w->dims[1]) : TN_HEX_WHY_LIMIT;
}

// Bytes of one part of the weights.
static uint64_t part_bytes(const matmul_plan *p) { return 2 * (uint64_t)p->inner * (uint32_t)p->padded; }

static uint32_t prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    matmul_plan *p = node->plan = tn_hx_pool_take(&graph->pool, sizeof *p);
    if (!p) {
        return TN_HEX_WHY_LIMIT;
    }
    p->inner = w->dims[0];
    p->columns = w->dims[1];
    p->padded = (p->columns + TN_HX_WIDE_LANES - 1) / TN_HX_WIDE_LANES * TN_HX_WIDE_LANES;
    p->rows = (int32_t)(y->count / (uint32_t)p->columns);
    p->finish = tn_hx_pool_take(&graph->pool, (uint32_t)p->columns * sizeof *p->finish);
    if (!p->finish || part_bytes(p) > 0x20000000u) {
        return TN_HEX_WHY_LIMIT;
    }
    tn_hx_packed_room(graph, part_bytes(p));
    tn_hx_packed_room(graph, part_bytes(p));
    return TN_HEX_WHY_NONE;
}

static uint32_t pack(tn_hx_graph *graph, tn_hx_node *node, int fresh)
{
    const tn_hx_value *w = tn_hx_in(graph, node, 1);
    matmul_plan *p = node->plan;
    p->high = (int16_t *)tn_hx_packed_next(graph, part_bytes(p));
    p->low = (int16_t *)tn_hx_packed_next(graph, part_bytes(p));
    if (!p->high || !p->low) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t n = 0; n < p->columns; n++) {
        tn_hx_wide_finish_set(&p->finish[n], graph, node, (uint32_t)n);
        for (int32_t k = 0; fresh && k < p->inner; k++) {
            const int32_t v = ((const int16_t *)w->data)[k * p->columns + n];
            p->high[k * p->padded + n] = (int16_t)tn_hx_wide_high(v);
            p->low[k * p->padded + n] = (int16_t)tn_hx_wide_low(v);
        }
    }
    return TN_HEX_WHY_NONE;
}

// Words of a chunk's sums are below 2^30; they are added up in 64 bits, column by column.
static void tile(void *context, uint32_t index)
{
    const matmul_run *run = context;
    const matmul_plan *p = run->plan;
    const int32_t groups = p->padded / TN_HX_WIDE_LANES, row = (int32_t)index / groups, column = (int32_t)index % groups * TN_HX_WIDE_LANES;
    const int16_t *x = (const int16_t *)run->x->data + row * p->inner;
    int16_t *y = (int16_t *)run->y->data + row * p->columns;
    int32_t words[4][32] __attribute__((aligned(128)));
    int64_t sums[TN_HX_WIDE_LANES] = {0};
    for (int32_t from = 0; from < p->inner; from += CHUNK) {
        const int32_t end = from + CHUNK < p->inner ? from + CHUNK : p->inner;
        HVX_VectorPair high = Q6_W_vcombine_VV(Q6_V_vzero(), Q6_V_vzero()), low = high;
        for (int32_t k = from; k < end; k++) {
            const int32_t v = (int32_t)((uint32_t)x[k] << 16 | (uint16_t)x[k]);
            high = Q6_Ww_vmpyacc_WwVhRh(high, TN_HX_CV(p->high + k * p->padded + column), v);
            low = Q6_Ww_vmpyacc_WwVhRh(low, TN_HX_CV(p->low + k * p->padded + column), v);
        }
        TN_HX_V(words[0]) = Q6_V_lo_W(high);
        TN_HX_V(words[1]) = Q6_V_hi_W(high);
        TN_HX_V(words[2]) = Q6_V_lo_W(low);
        TN_HX_V(words[3]) = Q6_V_hi_W(low);
        for (int32_t i = 0; i < TN_HX_WIDE_LANES; i++) {
            sums[i] += 256 * (int64_t)words[i & 1][i >> 1] + words[2 + (i & 1)][i >> 1];
        }
    }
    for (int32_t i = 0; i < TN_HX_WIDE_LANES && column + i < p->columns; i++) {
        y[column + i] = tn_hx_wide_finish_one(&p->finish[column + i], sums[i]);
    }
}

static void run(tn_hx_graph *graph, tn_hx_node *node)
{
    matmul_run r = {.plan = node->plan, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node)};
    tn_hx_parallel(tile, &r, (uint32_t)(r.plan->rows * (r.plan->padded / TN_HX_WIDE_LANES)));
}

const tn_hx_op tn_hx_op_wide_matmul = {
    .index = TN_HEX_OP_WIDE_MATMUL, .min_in = 2, .max_in = 3, .check = check, .layout = tn_hx_layout_plain, .prepare = prepare, .pack = pack,
    .run = run
};
