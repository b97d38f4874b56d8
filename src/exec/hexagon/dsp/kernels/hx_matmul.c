// SPDX-License-Identifier: Apache-2.0
// Products of activations with constant matrices, fully connected layers among them. Lanes are 32 output columns; weights with 128 added are
// the unsigned operand in the vector, four activations less 128 of a row the signed one in a scalar register:
//
//   sum (w + 128) * (x - 128) = sum w * x - 128 * sum w + 128 * sum x - 2^14 * K
//
// What depends on the column is in its bias, the sum of the row is subtracted once per row. Tiles are those of hx_rows.h.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/kernels/hx_conv.h"
#include "exec/hexagon/dsp/vec/hx_lanes.h"
#include "exec/hexagon/dsp/vec/hx_rows.h"
#include "exec/hexagon/wire/hex_control.h"

enum { ROWS = TN_HX_ROWS, COLUMNS = TN_HX_ROWS_COLUMNS, MAX_INNER = 1 << 20 };

typedef struct matmul_plan {
    int32_t rows, inner, columns;        // of the product
    int32_t steps;                       // inner / 4, rounded up
    int32_t groups;                      // of 64 columns
    int32_t mode;
    uint8_t *weights;                    // [groups][steps][2][32][4]
    tn_hx_lanes *lanes;                  // [2 * groups]
} matmul_plan;

typedef struct matmul_run {
    const matmul_plan *plan;
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    int32_t *rows;                       // [rows][steps] words of four activations less 128
    int32_t *sums;                       // [rows]
} matmul_run;

void tn_hx_lanes_set(tn_hx_lanes *lanes)
{
    for (int i = 0; i < 32; i++) {
        const tn_hx_requant *r = &lanes->one[i];
        lanes->multiplier[i] = r->multiplier;
        lanes->left[i] = r->left;
        lanes->less[i] = r->up || r->half ? r->right : r->right ? r->right - 1 : 0;
        lanes->some[i] = r->right ? -1 : 0;
        lanes->half[i] = r->half;
        lanes->limit[i] = (int32_t)r->limit;
        lanes->up[i] = r->up;
        lanes->bias[i] = r->bias;
        lanes->scale[i] = r->scale;
    }
}

__attribute__((noinline)) HVX_Vector tn_hx_lanes_exact(HVX_Vector sums, const tn_hx_lanes *lanes, int rounding)
{
    int32_t v[32] __attribute__((aligned(128)));
    TN_HX_V(v) = sums;
    for (int i = 0; i < 32; i++) {
        const tn_hx_requant *r = &lanes->one[i];
        v[i] = rounding == TN_HEX_FLOAT_RNE ? tn_requant_rne(v[i], r->scale) : tn_requant_q31(v[i], r->multiplier, r->left ? r->left : -r->right);
    }
    return TN_HX_V(v);
}

static uint32_t check(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    if (!w) {
        return TN_HEX_WHY_ARITY;
    }
    if (!tn_hx_is_byte(x) || x->dtype != y->dtype) {
        return TN_HEX_WHY_DTYPE;
    }
    if (w->rank != 2 || x->rank < 1 || y->rank != x->rank) {
        return TN_HEX_WHY_SHAPE;
    }
    for (int i = 0; i + 1 < x->rank; i++) {
        if (x->dims[i] != y->dims[i]) {
            return TN_HEX_WHY_SHAPE;
        }
    }
    const int t = node->attr.transpose;
    if (w->dims[t ? 1 : 0] != x->dims[x->rank - 1] || w->dims[t ? 0 : 1] != y->dims[y->rank - 1] || x->dims[x->rank - 1] > MAX_INNER) {
        return TN_HEX_WHY_SHAPE;
    }
    return tn_hx_conv_check_channels(graph, node, y->dims[y->rank - 1]);
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_PLAIN;
}

// The constants of column n. The tail beyond inner has weight byte 128 and activation byte 0: it adds nothing.
static void set_column(const tn_hx_graph *graph, const tn_hx_node *node, matmul_plan *plan, int32_t n, tn_hx_weight_sums sums)
{
    tn_hx_requant *r = &plan->lanes[n / 32].one[n % 32];
    tn_hx_conv_requant_sums(graph, node, r, n, sums);
    r->bias = (int32_t)((uint32_t)r->bias + 128u * (uint32_t)sums.all + 16384u * (uint32_t)plan->inner);
}

static void pack_vector(const tn_hx_graph *graph, const tn_hx_node *node, matmul_plan *plan, int32_t n)
{
    tn_hx_weight_sums sums[TN_HX_VECTOR];
    tn_hx_pack_columns(plan->weights + (uint32_t)(n / COLUMNS * plan->steps) * 4 * COLUMNS, plan->steps,
                       (const int8_t *)tn_hx_in(graph, node, 1)->data + n, plan->columns, plan->inner, sums);
    for (int32_t i = 0; i < TN_HX_VECTOR; i++) {
        set_column(graph, node, plan, n + i, sums[i]);
    }
}

static void pack_column(const tn_hx_graph *graph, const tn_hx_node *node, matmul_plan *plan, int32_t n, int8_t *column)
{
    const tn_hx_value *w = tn_hx_in(graph, node, 1);
    if (n >= plan->columns) {
        plan->lanes[n / 32].one[n % 32] = (tn_hx_requant){.right = 1, .scale = 1.0f};
        return;
    }
    uint8_t *to = plan->weights + (uint32_t)(n / COLUMNS * plan->steps) * 4 * COLUMNS + 4 * (n % COLUMNS);
    for (int32_t k = 0; k < plan->inner; k++) {
        column[k] = (int8_t)w->data[node->attr.transpose ? (uint32_t)n * (uint32_t)plan->inner + (uint32_t)k
                                                         : (uint32_t)k * (uint32_t)plan->columns + (uint32_t)n];
        to[k / 4 * 4 * COLUMNS + k % 4] = (uint8_t)(column[k] + 128);
    }
    set_column(graph, node, plan, n, tn_hx_weight_sums_of(column, (uint32_t)plan->inner));
}

static uint64_t weights_bytes(const matmul_plan *plan) { return (uint64_t)plan->groups * (uint32_t)plan->steps * 4 * COLUMNS; }
static uint32_t lanes_bytes(const matmul_plan *plan) { return (uint32_t)plan->groups * 2 * sizeof *plan->lanes; }

static uint32_t prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    matmul_plan *plan = node->plan = tn_hx_pool_take(&graph->pool, sizeof *plan);
    if (!plan) {
        return TN_HEX_WHY_LIMIT;
    }
    plan->inner = x->dims[x->rank - 1];
    plan->columns = y->dims[y->rank - 1];
    plan->rows = (int32_t)(y->count / (uint32_t)plan->columns);
    plan->steps = (plan->inner + 3) / 4;
    plan->groups = (plan->columns + COLUMNS - 1) / COLUMNS;
    const uint64_t scratch = ((uint64_t)plan->rows + ROWS) * ((uint32_t)plan->steps + 1) * 4 + 2 * TN_HX_VECTOR;
    if (weights_bytes(plan) > 0x20000000u || scratch > 0x20000000u) {
        return TN_HEX_WHY_LIMIT;
    }
    plan->lanes = tn_hx_pool_take(&graph->pool, lanes_bytes(plan));
    if (!plan->lanes) {
        return TN_HEX_WHY_LIMIT;
    }
    tn_hx_packed_room(graph, weights_bytes(plan));
    tn_hx_packed_room(graph, lanes_bytes(plan));
    tn_hx_scratch(graph, (uint32_t)scratch);
    return TN_HEX_WHY_NONE;
}

static uint32_t pack(tn_hx_graph *graph, tn_hx_node *node, int fresh)
{
    matmul_plan *plan = node->plan;
    int8_t *column = fresh ? tn_hx_pool_take(&graph->pool, (uint32_t)plan->inner) : NULL;
    plan->weights = tn_hx_packed_next(graph, weights_bytes(plan));
    if (!plan->weights || (fresh && !column)) {
        return TN_HEX_WHY_LIMIT;
    }
    if (fresh) {
        memset(plan->weights, 128, (uint32_t)weights_bytes(plan));   // weight 0
    }
    int32_t n = 0;
    for (; fresh && !node->attr.transpose && n + TN_HX_VECTOR <= plan->columns; n += TN_HX_VECTOR) {
        pack_vector(graph, node, plan, n);
    }
    for (; fresh && n < COLUMNS * plan->groups; n++) {
        pack_column(graph, node, plan, n, column);
    }
    if (!tn_hx_packed_copy(graph, plan->lanes, lanes_bytes(plan), fresh)) {
        return TN_HEX_WHY_LIMIT;
    }
    plan->mode = TN_HX_Q31;
    for (int32_t i = 0; i < 2 * plan->groups; i++) {
        if (tn_hx_requant_sane(plan->lanes[i].one, 32, NULL, 0)) {
            return TN_HEX_WHY_RANGE;
        }
        tn_hx_lanes_set(&plan->lanes[i]);
        const int mode = tn_hx_requant_mode(plan->lanes[i].one, 32, node->attr.rounding, 0);
        plan->mode = mode == TN_HX_Q31 ? plan->mode : mode;
    }
    return TN_HEX_WHY_NONE;
}

// A row's bytes as words of four signed activations, and 128 times their sum.
static void row_tile(void *context, uint32_t row)
{
    const matmul_run *run = context;
    const int32_t inner = run->plan->inner, steps = run->plan->steps;
    const uint8_t *from = run->x->data + row * (uint32_t)inner;
    int32_t *to = run->rows + row * (uint32_t)steps, sum = 0;
    int32_t k = 0;
    for (; k + 4 <= inner; k += 4) {
        const uint32_t a = from[k], b = from[k + 1], c = from[k + 2], d = from[k + 3];
        sum += (int32_t)(a + b + c + d);
        to[k / 4] = (int32_t)((a | b << 8 | c << 16 | d << 24) ^ 0x80808080u);
    }
    for (uint32_t last = 0; k < inner; k++) {
        sum += from[k];
        last |= (uint32_t)(from[k] ^ 0x80) << 8 * (k % 4);
        to[k / 4] = (int32_t)last;
    }
    run->sums[row] = 128 * sum;
}

static void product_tile(void *context, uint32_t index)
{
    const matmul_run *run = context;
    const matmul_plan *plan = run->plan;
    const int32_t group = (int32_t)index % plan->groups, row = (int32_t)index / plan->groups * ROWS;
    const int32_t n_rows = plan->rows - row < ROWS ? plan->rows - row : ROWS;
    const tn_hx_lanes *lanes = plan->lanes + 2 * group;
    const tn_hx_rows rows = {.words = run->rows + (uint32_t)(row * plan->steps), .less = run->sums + row, .pitch = plan->steps, .n = n_rows,
                             .begin = {lanes[0].bias, lanes[1].bias}, .packed = plan->weights + (uint32_t)(group * plan->steps) * 4 * COLUMNS,
                             .steps = plan->steps, .step = 4 * COLUMNS};
    HVX_Vector s[ROWS][2];
    tn_hx_rows_sums(&rows, s);
    for (int r = 0; r < n_rows; r++) {
        const HVX_Vector a = tn_hx_lanes_apply(s[r][0], &lanes[0], plan->mode), b = tn_hx_lanes_apply(s[r][1], &lanes[1], plan->mode);
        uint8_t *to = run->y->data + (uint32_t)((row + r) * plan->columns + group * COLUMNS);
        tn_hx_rows_store(a, b, run->y, run->attr, to, plan->columns - group * COLUMNS);
    }
}

static void run(tn_hx_graph *graph, tn_hx_node *node)
{
    const matmul_plan *plan = node->plan;
    matmul_run r = {.plan = plan, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr};
    r.sums = (int32_t *)graph->scratch;
    r.rows = r.sums + ((plan->rows + 31) & ~31);
    tn_hx_parallel(row_tile, &r, (uint32_t)plan->rows);
    tn_hx_parallel(product_tile, &r, (uint32_t)(plan->groups * ((plan->rows + ROWS - 1) / ROWS)));
}

const tn_hx_op tn_hx_op_matmul = {
    .index = TN_HEX_OP_MATMUL, .min_in = 2, .max_in = 3, .check = check, .layout = layout, .prepare = prepare, .pack = pack, .run = run
};
