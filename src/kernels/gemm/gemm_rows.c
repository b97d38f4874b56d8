// SPDX-License-Identifier: Apache-2.0
// What the rows of matmul and gemm share on all tiers: reading the operands' shapes, choosing what is packed when, running.
// Constant B is packed when the plan is made. Other B are packed at each run into the workspace, unless one tile of rows covers
// all of A: then each column is read once anyway, and B is used where it lies. The rows of bf16 take constant B only and keep them so;
// arithmetic is that of float32.
// Ownership: parameters live in the plan's arena. Threads: any.
#include "kernels/gemm/gemm.h"

#include "base/macros.h"
#include "base/num.h"
#include "kernels/gemm/scratch.h"
#include "ops/nn/op_matmul.h"

typedef enum bias_kind { BIAS_NONE, BIAS_COLUMNS, BIAS_ROWS, BIAS_SCALAR, BIAS_FULL } bias_kind;

// A product as its operands' shapes say it.
typedef struct product {
    int64_t m, n, k;
    int batch_rank;
    int64_t batch[TN_GEMM_BATCH];
    int64_t a_batch[TN_GEMM_BATCH], b_batch[TN_GEMM_BATCH];   // steps in matrices
    int64_t count, a_count, b_count;                          // matrices in the result, a, b
    bool trans_a, trans_b;
    bias_kind bias;
} product;

typedef struct matmul_params {
    const tn_tile_facts *facts;
    product product;
    tn_gemm gemm;                // all but the pointers, which run sets
    tn_act act;
    bool b_constant, b_in_place, copy_a, copy_bias;
    bool bf16;                   // packed columns are bf16
    unsigned slots;              // that there are panels or rooms for; 0: there are none
    size_t panels_at, rooms_at;
    ptrdiff_t a_row;             // floats from row to row in the copy of a
    size_t bias_at, a_at, b_at;  // bytes in the workspace
    size_t b_floats;             // of one packed matrix, or of the last group
} matmul_params;

static bias_kind bias_of(const tn_shape *c, int64_t m, int64_t n)
{
    const int64_t columns = c->rank > 0 ? c->dims[c->rank - 1] : 1;
    const int64_t rows = c->rank > 1 ? c->dims[c->rank - 2] : 1;
    if (rows == 1 && columns == 1) {
        return m == 1 && n == 1 ? BIAS_COLUMNS : BIAS_SCALAR;
    }
    if (rows == 1) {
        return BIAS_COLUMNS;
    }
    return columns == 1 ? BIAS_ROWS : BIAS_FULL;
}

// Outer dims of the result and how far a step along each goes in an operand.
static int64_t batch_steps(const tn_shape *shape, int rank, int64_t steps[])
{
    int64_t count = 1;
    for (int d = rank - 1, s = shape->rank - 3; d >= 0; d--, s--) {
        const int64_t dim = s >= 0 ? shape->dims[s] : 1;
        steps[d] = dim == 1 ? 0 : count;
        count *= dim;
    }
    return count;
}

static product product_of(const tn_op *op, const void *attr, const tn_tensor *const *in, int n_in)
{
    product p = {0};
    tn_shape a = in[0]->shape, b = in[1]->shape;
    if (op == &tn_op_gemm) {
        const tn_gemm_attr *g = attr;
        p.trans_a = g->trans_a;
        p.trans_b = g->trans_b;
    } else {
        const tn_matmul_attr *g = attr;
        p.trans_a = g->trans_a && a.rank > 1;
        p.trans_b = g->trans_b && b.rank > 1;
    }
    if (a.rank == 1) {
        a = (tn_shape){2, {1, a.dims[0]}};
    }
    if (b.rank == 1) {
        b = (tn_shape){2, {b.dims[0], 1}};
    }
    p.m = a.dims[a.rank - (p.trans_a ? 1 : 2)];
    p.k = a.dims[a.rank - (p.trans_a ? 2 : 1)];
    p.n = b.dims[b.rank - (p.trans_b ? 2 : 1)];
    p.batch_rank = TN_MAX(a.rank, b.rank) - 2;
    p.a_count = batch_steps(&a, p.batch_rank, p.a_batch);
    p.b_count = batch_steps(&b, p.batch_rank, p.b_batch);
    p.count = 1;
    for (int d = 0; d < p.batch_rank; d++) {
        const int sa = a.rank - 2 - p.batch_rank + d, sb = b.rank - 2 - p.batch_rank + d;
        const int64_t da = sa >= 0 ? a.dims[sa] : 1, db = sb >= 0 ? b.dims[sb] : 1;
        p.batch[d] = da == 1 ? db : da;
        p.count *= p.batch[d];
    }
    // One B for all: the rows of all matrices of A are rows of one.
    if (p.b_count == 1 && p.a_count == p.count && !p.trans_a) {
        p.m *= p.count;
        p.batch_rank = 0;
        p.count = p.a_count = 1;
    }
    if (n_in > 2 && in[2]) {
        p.bias = op == &tn_op_gemm ? bias_of(&in[2]->shape, p.m, p.n) : BIAS_COLUMNS;
    }
    return p;
}

static bool operands_are_f32(const tn_query *query, const char **why)
{
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i] && query->in[i]->dtype != TN_F32) {
            *why = "an operand is not float32";
            return false;
        }
    }
    return true;
}

bool tn_matmul_match_f32(const tn_query *query, const char **why)
{
    const tn_matmul_attr *attr = query->attr;
    if (!tn_act_valid(&attr->act)) {
        *why = "unknown activation";
        return false;
    }
    return operands_are_f32(query, why);
}

bool tn_gemm_match_f32(const tn_query *query, const char **why)
{
    return operands_are_f32(query, why);
}

static bool has_weights(const tn_query *query, const char **why)
{
    if (!query->in[1] || !query->in[1]->data) {
        *why = "operand 1 is no constant";
        return false;
    }
    return true;
}

bool tn_matmul_match_bf16(const tn_query *query, const char **why) { return has_weights(query, why) && tn_matmul_match_f32(query, why); }
bool tn_gemm_match_bf16(const tn_query *query, const char **why) { return has_weights(query, why) && tn_gemm_match_f32(query, why); }

#define SHORT_SUM 64
#define WIDE_ROWS 6              // of tiles three or four vectors wide, where registers are enough for them

static int choose_q(const product *p, const tn_tile_facts *facts)
{
    if (p->m <= TN_STREAM_MAX_P) {
        return 2;   // tn_stream_fn
    }
    const int64_t vectors = (p->n + facts->lanes - 1) / facts->lanes;
    // Short sums are bound by writing: a tile as wide as the result, or half of it, writes more of a row at once.
    if (p->k <= SHORT_SUM && (vectors == 3 || vectors == 4 || vectors == 6) && facts->max_p[vectors == 4 ? 4 : 3] >= WIDE_ROWS) {
        return vectors == 4 ? 4 : 3;
    }
    return tn_tile_choose_q(facts, p->m, vectors);
}

// Half the bytes; and where it is the arithmetic that takes the time, who asked for bf16 is to get it.
#define BF16_STREAM 0.5
#define BF16_COMPUTE 0.95

static double cost(const tn_query *query, const tn_tile_facts *facts, bool bf16)
{
    const product p = product_of(query->op, query->attr, query->in, query->n_in);
    const double vectors = (double)((p.n + facts->lanes - 1) / facts->lanes);
    const double compute = (double)p.k * tn_tile_cost(facts, p.m, (int64_t)vectors, choose_q(&p, facts));
    // Bytes of B at 40 bytes a nanosecond; wider vectors win a tie.
    const double stream = (double)p.k * vectors * facts->lanes * 4.0 / 40.0 * (1.0 + 0.5 / facts->lanes);
    const double pack = query->in[1]->data ? 0.0 : 2.0 * stream * (double)p.b_count;
    if (bf16) {
        return 190.0 + (double)p.count * TN_MAX(BF16_COMPUTE * compute, BF16_STREAM * stream);
    }
    return 200.0 + (double)p.count * TN_MAX(compute, stream) + pack;
}

// B as operand 1 lies: element (k, n) of matrix 0 is k * row + n * column floats on.
static void b_strides(const product *p, ptrdiff_t *row, ptrdiff_t *column)
{
    *row = p->trans_b ? 1 : p->n;
    *column = p->trans_b ? p->k : 1;
}

// One group of columns of one matrix.
static void pack_group(void *dst, const tn_query *query, const void *params, int64_t part)
{
    const matmul_params *x = params;
    const product *p = &x->product;
    const int lanes = x->facts->lanes;
    const int64_t groups = tn_gemm_groups(lanes, x->gemm.q, p->n), i = part / groups;
    ptrdiff_t row, column;
    b_strides(p, &row, &column);
    if (x->bf16) {
        tn_gemm_pack_bf16((uint16_t *)dst + (size_t)i * x->b_floats, (const char *)query->in[1]->data + (size_t)(i * p->k * p->n) * sizeof(float), row,
                          column, p->k, p->n, lanes, x->gemm.q, part % groups, 1);
        return;
    }
    tn_gemm_pack((float *)dst + (size_t)i * x->b_floats, (const char *)query->in[1]->data + (size_t)(i * p->k * p->n) * sizeof(float), row, column,
                 p->k, p->n, lanes, x->gemm.q, part % groups, 1);
}

static int64_t pack_parts(const matmul_params *x) { return x->product.b_count * tn_gemm_groups(x->facts->lanes, x->gemm.q, x->product.n); }

static void pack_constant(void *dst, const tn_query *query, const void *params)
{
    for (int64_t part = 0; part < pack_parts(params); part++) {
        pack_group(dst, query, params, part);
    }
}

static tn_status prepare_b(tn_prepare *prepare, matmul_params *x)
{
    const product *p = &x->product;
    const int lanes = x->facts->lanes;
    x->b_constant = prepare->query->in[1]->data != NULL;
    const int widest = (int)TN_MIN((int64_t)x->gemm.q, (p->n + lanes - 1) / lanes);
    x->b_in_place = !x->b_constant && !p->trans_b && p->m <= x->facts->max_p[TN_MAX(1, widest)] && (p->n % lanes == 0 || p->b_count == 1);
    size_t floats;
    if (x->b_in_place) {
        for (int d = 0; d < p->batch_rank; d++) {
            x->gemm.b_batch[d] = (ptrdiff_t)(p->b_batch[d] * p->k * p->n);
        }
        x->gemm.ldb = (ptrdiff_t)p->n;
        x->b_floats = p->n % lanes == 0 ? 0 : (size_t)p->k * (size_t)(lanes * widest);
        return tn_scratch_add(prepare, x->b_floats, sizeof(float), &x->b_at);
    }
    if (!tn_mul_size((size_t)p->k, (size_t)((p->n + lanes - 1) / lanes), &floats) || !tn_mul_size(floats, (size_t)lanes, &x->b_floats) ||
        !tn_mul_size(x->b_floats, (size_t)p->b_count * sizeof(float), &floats)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the packed operand 1 does not fit in memory");
    }
    for (int d = 0; d < p->batch_rank; d++) {
        x->gemm.b_batch[d] = (ptrdiff_t)p->b_batch[d] * (ptrdiff_t)x->b_floats;
    }
    if (!x->b_constant) {
        return tn_scratch_add(prepare, floats, 1, &x->b_at);
    }
    if (x->bf16) {
        x->slots = TN_MAX(1u, prepare->query->threads);
        x->gemm.panel_floats = tn_gemm_panel_floats(&x->gemm, x->facts);
        TN_TRY(tn_scratch_add(prepare, x->gemm.panel_floats, x->slots * sizeof(float), &x->panels_at));
    }
    prepare->packs[0] = (tn_pack){.operand = 1,
                                  .id = x->bf16 ? "gemm_bf16_panels" : "gemm_f32_panels",
                                  .variant = tn_gemm_variant(lanes, x->gemm.q, p->k, p->n, p->trans_b),
                                  .bytes = x->bf16 ? floats / 2 : floats,
                                  .pack = pack_constant,
                                  .part = pack_group,
                                  .parts = pack_parts(x),
                                  .in_order = p->trans_b || p->b_count > 1};
    prepare->n_packs = 1;
    return TN_OK;
}

// Rows that lie a multiple of the page size apart would fall into one set of the first-level cache, which holds about 8 to 12 of
// them: where a tile has more, such an A is copied with a few floats between the rows; strips copy their items' rows (gemm_run.c). A
// transposed A is copied row by row anyway.
#define ALIAS_ROWS 8

static tn_status prepare_a(tn_prepare *prepare, matmul_params *x)
{
    const product *p = &x->product;
    const bool alias = p->k % TN_GEMM_ALIAS == 0 && p->k > 0;
    x->copy_a = p->trans_a || (alias && TN_MIN(p->m, (int64_t)x->facts->max_p[2]) > ALIAS_ROWS);
    x->a_row = p->k + (alias && x->copy_a ? TN_GEMM_GAP : 0);
    x->gemm.lda = x->a_row;
    for (int d = 0; d < p->batch_rank; d++) {
        x->gemm.a_batch[d] = (ptrdiff_t)p->a_batch[d] * (ptrdiff_t)p->m * x->a_row;
    }
    if (!x->copy_a) {
        return TN_OK;
    }
    size_t rows;
    if (!tn_mul_size((size_t)p->a_count, (size_t)p->m, &rows) || !tn_mul_size(rows, (size_t)x->a_row, &rows)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the copy of operand 0 does not fit in memory");
    }
    return tn_scratch_add(prepare, rows, sizeof(float), &x->a_at);
}

// Room for the rows of strips that would fall into one set of the first-level cache, where the product goes by strips: without a bias of
// rows, and with a factor only if it goes into columns that a run packs.
static tn_status prepare_rooms(tn_prepare *prepare, matmul_params *x)
{
    if (x->bf16 || x->product.bias == BIAS_ROWS || (x->gemm.alpha != 1.0f && x->b_constant)) {
        return TN_OK;
    }
    x->gemm.room_floats = tn_gemm_room_floats(&x->gemm, x->facts);
    x->slots = x->gemm.room_floats > 0 ? TN_MAX(1u, prepare->query->threads) : 0;
    return tn_scratch_add(prepare, x->gemm.room_floats, x->slots * sizeof(float), &x->rooms_at);
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts, bool bf16)
{
    const tn_query *query = prepare->query;
    matmul_params *x;
    TN_TRY(tn_prepare_params(prepare, sizeof *x, (void **)&x));
    x->facts = facts;
    x->bf16 = bf16;
    x->product = product_of(query->op, query->attr, query->in, query->n_in);
    const product *p = &x->product;
    tn_gemm *g = &x->gemm;
    g->m = p->m;
    g->n = p->n;
    g->k = p->k;
    g->ldc = p->n;
    g->q = choose_q(p, facts);
    g->batch_rank = p->batch_rank;
    memcpy(g->batch, p->batch, sizeof g->batch);
    g->beta = 1.0f;
    x->act = (tn_act){TN_LOOP_CONST, 0.0, 0.0};
    if (query->op == &tn_op_gemm) {
        const tn_gemm_attr *attr = query->attr;
        g->alpha = (float)attr->alpha;
        g->beta = (float)attr->beta;
        x->copy_bias = p->bias == BIAS_SCALAR || (g->beta != 1.0f && (p->bias == BIAS_COLUMNS || p->bias == BIAS_ROWS));
    } else {
        const tn_matmul_attr *attr = query->attr;
        g->alpha = (float)attr->alpha;
        x->act = attr->act;
    }
    if (bf16) {
        tn_gemm_block_bf16(g, facts, query->cpu->l2);
    } else {
        tn_gemm_block(g, facts, query->cpu->l2);
    }
    if (x->copy_bias) {
        TN_TRY(tn_scratch_add(prepare, (size_t)TN_MAX(p->m, p->n), sizeof(float), &x->bias_at));
    }
    TN_TRY(prepare_a(prepare, x));
    TN_TRY(prepare_b(prepare, x));
    return prepare_rooms(prepare, x);
}

// ---- running: the workspace is filled first ----

typedef struct fill {
    const matmul_params *x;
    const tn_tiles *tiles;
    const float *src;
    float *dst;
    float scale;                 // factor of packed columns
} fill;

static void copy_rows(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const fill *f = context;
    const product *p = &f->x->product;
    for (size_t i = first; i < first + count; i++) {
        const int64_t matrix = (int64_t)i / p->m, row = (int64_t)i % p->m;
        const float *src = f->src + matrix * p->m * p->k;
        float *dst = f->dst + (int64_t)i * f->x->a_row;
        if (!p->trans_a) {
            memcpy(dst, src + row * p->k, (size_t)p->k * sizeof(float));
            continue;
        }
        for (int64_t k = 0; k < p->k; k++) {
            dst[k] = src[k * p->m + row];
        }
    }
}

static void pack_groups(void *context, size_t first, size_t count, unsigned slot)
{
    (void)slot;
    const fill *f = context;
    const product *p = &f->x->product;
    const int lanes = f->x->facts->lanes, q = f->x->gemm.q;
    const int64_t groups = tn_gemm_groups(lanes, q, p->n);
    ptrdiff_t row, column;
    b_strides(p, &row, &column);
    for (size_t i = first; i < first + count; i++) {
        const int64_t matrix = (int64_t)i / groups;
        float *packed = f->dst + (size_t)matrix * f->x->b_floats;
        const int64_t group = (int64_t)i % groups, n0 = group * q * lanes;
        tn_gemm_pack_fast(f->tiles, packed, f->src + matrix * p->k * p->n, row, column, p->k, p->n, q, group, 1);
        if (f->scale != 1.0f) {
            float *v = packed + n0 * p->k;
            for (int64_t e = 0; e < TN_MIN((int64_t)q, (p->n - n0 + lanes - 1) / lanes) * lanes * p->k; e++) {
                v[e] *= f->scale;
            }
        }
    }
}

static void fill_workspace(const tn_call *call, const matmul_params *x, tn_gemm *g)
{
    const product *p = &x->product;
    const int lanes = x->facts->lanes;
    char *scratch = call->scratch;
    g->a = call->in[0]->data;
    g->rooms = g->room_floats > 0 ? (float *)(scratch + x->rooms_at) : NULL;
    if (x->copy_a) {
        fill f = {x, g->tiles, call->in[0]->data, (float *)(scratch + x->a_at), 1.0f};
        g->a = f.dst;
        tn_workers_run(call->workers, copy_rows, &f, (size_t)(p->a_count * p->m), 8);
    }
    if (x->bf16) {
        g->b_bf16 = call->packed[0];
        g->panels = (float *)(scratch + x->panels_at);
    } else if (x->b_constant) {
        g->b = call->packed[0];
    } else if (x->b_in_place) {
        g->b = call->in[1]->data;
        g->b_last = (float *)(scratch + x->b_at);
        if (p->n % lanes != 0) {
            const int64_t at = (tn_gemm_groups(lanes, g->q, p->n) - 1) * lanes * g->q;
            tn_gemm_pack_fast(g->tiles, (float *)(scratch + x->b_at), g->b + at, p->n, 1, p->k, p->n - at, g->q, 0, 1);
        }
    } else {
        // The factor goes into the columns, so that no tile has to apply it.
        fill f = {x, g->tiles, call->in[1]->data, (float *)(scratch + x->b_at), g->alpha};
        g->b = f.dst;
        g->alpha = 1.0f;
        tn_workers_run(call->workers, pack_groups, &f, (size_t)(p->b_count * tn_gemm_groups(lanes, g->q, p->n)), 1);
    }
}

static void set_bias(const tn_call *call, const matmul_params *x, tn_gemm *g)
{
    const product *p = &x->product;
    const float *bias = p->bias == BIAS_NONE ? NULL : call->in[2]->data;
    if (p->bias == BIAS_FULL) {
        g->residual = bias;
        return;
    }
    if (x->copy_bias) {
        float *copy = (float *)((char *)call->scratch + x->bias_at);
        const int64_t count = p->bias == BIAS_ROWS ? p->m : p->n;
        for (int64_t i = 0; i < count; i++) {
            copy[i] = g->beta * bias[p->bias == BIAS_SCALAR ? 0 : i];
        }
        bias = copy;
    }
    if (p->bias == BIAS_ROWS) {
        g->row_bias = bias;
    } else {
        g->bias = bias;
    }
}

tn_status tn_matmul_run_f32(const tn_call *call, const tn_tiles *tiles)
{
    const matmul_params *x = call->params;
    tn_gemm g = x->gemm;
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    g.tiles = tiles;
    g.act = &x->act;
    g.c = call->out[0]->data;
    if (call->op == &tn_op_matmul && call->n_in > 3 && call->in[3]) {
        g.residual = call->in[3]->data;
    }
    set_bias(call, x, &g);
    fill_workspace(call, x, &g);
    // Panels and rooms are for as many slots as the plan knew of.
    tn_gemm_run(x->slots > 0 && tn_workers_count(call->workers) > x->slots ? NULL : call->workers, &g);
    return TN_OK;
}

#define TIER(tier)                                                                                                   \
    double tn_matmul_cost_##tier(const tn_query *query) { return cost(query, &tn_tile_facts_##tier, false); }        \
    double tn_matmul_cost_bf16_##tier(const tn_query *query) { return cost(query, &tn_tile_facts_##tier, true); }    \
    tn_status tn_matmul_prepare_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier, false); }           \
    tn_status tn_matmul_prepare_bf16_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier, true); }

TIER(avx512)
TIER(avx2)
TIER(portable)
