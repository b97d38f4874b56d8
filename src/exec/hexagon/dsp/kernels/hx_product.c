// SPDX-License-Identifier: Apache-2.0
// Products of two activations, matrix by matrix, as attention has them. Lanes are 32 result columns: b is the unsigned operand in the vector,
// four elements of a row of a, less 128, the signed one in a scalar register:
//
//   sum (a - az) (b - bz) = sum b (a - 128) + (128 - az) sum b - bz sum a + K az bz
//
// Sums of columns of b come with its packing, at each run, sums of rows of a with theirs. Tiles are those of hx_rows.h.
// Ownership: plans in the graph's pool, packed operands in scratch. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/dsp/vec/hx_requant.h"
#include "exec/hexagon/dsp/vec/hx_rows.h"
#include "exec/hexagon/wire/hex_control.h"

enum { ROWS = TN_HX_ROWS, COLUMNS = TN_HX_ROWS_COLUMNS, PACKED = 128, MAX_INNER = 32768 };

typedef struct product_plan {
    int32_t batches, rows, inner, columns;
    int32_t steps;                       // inner / 4, rounded up
    int32_t pitch;                       // words of a row of a
    int32_t blocks;                      // of 128 columns
    int32_t mode;
    tn_hx_requant factor;
} product_plan;

typedef struct product_run {
    const product_plan *plan;
    const tn_hx_value *a, *b, *y;
    const tn_hx_attr *attr;
    int32_t *rows;                       // [batches * rows][pitch]: words of four elements less 128
    int32_t *sums;                       // [batches * rows]: bz times the sum of a row
    uint8_t *packed;                     // [batches][blocks][steps][4][32][4]
    int32_t *columns;                    // [batches][blocks][4][32]: what sums of columns begin with
} product_run;

static uint32_t check(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *a = tn_hx_in(graph, node, 0), *b = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    if (!b) {
        return TN_HEX_WHY_ARITY;
    }
    if (!tn_hx_is_byte(a) || !tn_hx_is_byte(b) || a->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    const int rank = a->rank;
    if (rank < 2 || b->rank != rank || y->rank != rank || a->dims[rank - 1] != b->dims[rank - 2] || a->dims[rank - 2] != y->dims[rank - 2] ||
        b->dims[rank - 1] != y->dims[rank - 1] || a->dims[rank - 1] > MAX_INNER) {
        return TN_HEX_WHY_SHAPE;
    }
    for (int i = 0; i < rank - 2; i++) {
        if (a->dims[i] != b->dims[i] || a->dims[i] != y->dims[i]) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    return node->attr.n_multipliers == 1 ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_PLAIN;
}

// Bytes of each part of the scratch, multiples of 128.
static uint64_t rows_bytes(const product_plan *p) { return (uint64_t)(uint32_t)(p->batches * p->rows) * (uint32_t)p->pitch * 4; }
static uint64_t sums_bytes(const product_plan *p) { return ((uint64_t)(uint32_t)(p->batches * p->rows) * 4 + 127) & ~UINT64_C(127); }
static uint64_t packed_bytes(const product_plan *p) { return (uint64_t)(uint32_t)(p->batches * p->blocks) * (uint32_t)p->steps * 4 * PACKED; }
static uint64_t columns_bytes(const product_plan *p) { return (uint64_t)(uint32_t)(p->batches * p->blocks) * 4 * PACKED; }

static uint32_t prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *a = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const tn_hx_attr *attr = &node->attr;
    product_plan *plan = node->plan = tn_hx_pool_take(&graph->pool, sizeof *plan);
    if (!plan) {
        return TN_HEX_WHY_LIMIT;
    }
    plan->inner = a->dims[a->rank - 1];
    plan->rows = y->dims[y->rank - 2];
    plan->columns = y->dims[y->rank - 1];
    plan->batches = (int32_t)(y->count / (uint32_t)plan->columns / (uint32_t)plan->rows);
    plan->steps = (plan->inner + 3) / 4;
    plan->pitch = (plan->inner + TN_HX_VECTOR - 1) / TN_HX_VECTOR * 32;
    plan->blocks = (plan->columns + PACKED - 1) / PACKED;
    tn_hx_requant_set(&plan->factor, attr->rounding, attr->multipliers[0], attr->rounding == TN_HEX_FIXED_Q31 ? (int32_t)attr->shifts[0] : 0,
                      UINT64_C(65025) * (uint32_t)plan->inner);
    plan->mode = tn_hx_requant_mode(&plan->factor, 1, attr->rounding, 0);
    const uint64_t scratch = rows_bytes(plan) + sums_bytes(plan) + packed_bytes(plan) + columns_bytes(plan);
    if (scratch > 0x20000000u) {
        return TN_HEX_WHY_LIMIT;
    }
    tn_hx_scratch(graph, (uint32_t)scratch);
    return TN_HEX_WHY_NONE;
}

static int32_t sum_of_lanes(HVX_Vector v)
{
    for (int32_t shift = 64; shift >= 4; shift /= 2) {
        v = Q6_Vw_vadd_VwVw(v, Q6_V_vror_VR(v, shift));
    }
    return Q6_R_vextract_VR(v, 0);
}

// What lies behind a row is multiplied with rows of b that are 0.
static void row_tile(void *context, uint32_t row)
{
    const product_run *run = context;
    const int32_t inner = run->plan->inner;
    const uint8_t *from = run->a->data + row * (uint32_t)inner;
    uint8_t *to = (uint8_t *)(run->rows + row * (uint32_t)run->plan->pitch);
    const HVX_Vector turn = tn_hx_splat_byte(128);
    HVX_Vector sums = Q6_V_vzero();
    for (int32_t k = 0; k < inner; k += TN_HX_VECTOR) {
        const HVX_Vector v = tn_hx_load_bytes(from + k, inner - k);
        sums = Q6_Vuw_vrmpyacc_VuwVubRub(sums, v, 0x01010101);
        TN_HX_V(to + k) = Q6_V_vxor_VV(v, turn);
    }
    run->sums[row] = run->b->zero * sum_of_lanes(sums);
}

// 128 columns of a matrix of b: four rows of it become words.
static void pack_tile(void *context, uint32_t index)
{
    const product_run *run = context;
    const product_plan *plan = run->plan;
    const int32_t block = (int32_t)index % plan->blocks, batch = (int32_t)index / plan->blocks, n = plan->columns - block * PACKED;
    const uint8_t *from = run->b->data + (uint32_t)(batch * plan->inner) * (uint32_t)plan->columns + (uint32_t)(block * PACKED);
    uint8_t *to = run->packed + index * (uint32_t)plan->steps * 4 * PACKED;
    const HVX_Vector none = Q6_V_vzero();
    HVX_Vector sums[4] = {none, none, none, none};
    for (int32_t k = 0; k < plan->inner; k += 4, to += 4 * PACKED) {
        HVX_Vector r[4];
        for (int i = 0; i < 4; i++) {
            r[i] = k + i < plan->inner ? tn_hx_load_bytes(from + (uint32_t)(k + i) * (uint32_t)plan->columns, n) : none;
        }
        const HVX_VectorPair first = Q6_W_vshuff_VVR(r[1], r[0], -1), second = Q6_W_vshuff_VVR(r[3], r[2], -1);
        const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(second), Q6_V_lo_W(first), -2);
        const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(second), Q6_V_hi_W(first), -2);
        const HVX_Vector v[4] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
        for (int i = 0; i < 4; i++) {
            sums[i] = Q6_Vuw_vrmpyacc_VuwVubRub(sums[i], v[i], 0x01010101);
            TN_HX_V(to + PACKED * i) = v[i];
        }
    }
    const int32_t factor = (int32_t)((uint16_t)(128 - run->a->zero) * 0x00010001u);
    const HVX_Vector constant = Q6_V_vsplat_R(plan->inner * run->a->zero * run->b->zero);
    for (int i = 0; i < 4; i++) {
        TN_HX_V(run->columns + (index * 4 + (uint32_t)i) * 32) = Q6_Vw_vadd_VwVw(Q6_Vw_vmpyi_VwRh(sums[i], factor), constant);
    }
}

static void product_tile(void *context, uint32_t index)
{
    const product_run *run = context;
    const product_plan *plan = run->plan;
    const int32_t groups = (plan->columns + COLUMNS - 1) / COLUMNS, blocks = (plan->rows + ROWS - 1) / ROWS;
    const int32_t group = (int32_t)index % groups, row = (int32_t)index / groups % blocks * ROWS, batch = (int32_t)index / groups / blocks;
    const int32_t n_rows = plan->rows - row < ROWS ? plan->rows - row : ROWS, half = group % 2;
    const uint32_t block = (uint32_t)(batch * plan->blocks + group / 2), first = (uint32_t)(batch * plan->rows + row);
    const int32_t *begin = run->columns + (block * 4 + (uint32_t)half * 2) * 32;
    const tn_hx_rows rows = {.words = run->rows + first * (uint32_t)plan->pitch, .less = run->sums + first, .pitch = plan->pitch, .n = n_rows,
                             .begin = {begin, begin + 32}, .packed = run->packed + block * (uint32_t)plan->steps * 4 * PACKED + half * 2 * PACKED,
                             .steps = plan->steps, .step = 4 * PACKED};
    HVX_Vector s[ROWS][2];
    tn_hx_rows_sums(&rows, s);
    for (int r = 0; r < n_rows; r++) {
        const HVX_Vector u = tn_hx_requant_one(s[r][0], &plan->factor, plan->mode), v = tn_hx_requant_one(s[r][1], &plan->factor, plan->mode);
        uint8_t *to = run->y->data + (first + (uint32_t)r) * (uint32_t)plan->columns + group * COLUMNS;
        tn_hx_rows_store(u, v, run->y, run->attr, to, plan->columns - group * COLUMNS);
    }
}

static void run_product(tn_hx_graph *graph, tn_hx_node *node)
{
    const product_plan *plan = node->plan;
    product_run r = {.plan = plan, .a = tn_hx_in(graph, node, 0), .b = tn_hx_in(graph, node, 1), .y = tn_hx_out(graph, node), .attr = &node->attr};
    uint8_t *at = graph->scratch;
    r.rows = (int32_t *)at;
    at += rows_bytes(plan);
    r.sums = (int32_t *)at;
    at += sums_bytes(plan);
    r.packed = at;
    r.columns = (int32_t *)(at + packed_bytes(plan));
    tn_hx_parallel(row_tile, &r, (uint32_t)(plan->batches * plan->rows));
    tn_hx_parallel(pack_tile, &r, (uint32_t)(plan->batches * plan->blocks));
    const int32_t groups = (plan->columns + COLUMNS - 1) / COLUMNS;
    tn_hx_parallel(product_tile, &r, (uint32_t)(plan->batches * groups * ((plan->rows + ROWS - 1) / ROWS)));
}

const tn_hx_op tn_hx_op_product = {
    .index = TN_HEX_OP_PRODUCT, .min_in = 2, .max_in = 2, .check = check, .layout = layout, .prepare = prepare, .run = run_product
};
