// SPDX-License-Identifier: Apache-2.0
// Predicate, cost and parameters of attention. How queries and keys are cut depends on the shapes and on the tier alone, so results have the
// same bits on any number of threads.
// Ownership: parameters live in the plan's arena. Threads: any.
#include "kernels/attention/attention.h"

#include "base/macros.h"
#include "kernels/bgemm/bgemm.h"
#include "kernels/gemm/scratch.h"
#include "ops/seq/op_attention.h"

#include <math.h>

enum { Q, K, V, MASK, PAST_KEY };

#define SCORES_FLOATS 32768   // of a block: they stay in the second-level cache beside a head's keys and values
#define KEY_BLOCK 1024
#define QUERY_LEAST 24
#define QUERY_MOST 96

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

bool tn_attention_match(const tn_query *query, const char **why)
{
    const tn_attention_attr *attr = query->attr;
    const tn_tensor *mask = operand(query, MASK);
    for (int i = Q; i <= V; i++) {
        if (query->in[i]->dtype != TN_F32 || tn_tensor_count(query->in[i]) == 0) {
            *why = "an operand is not float32, or empty";
            return false;
        }
    }
    if (tn_tensor_count(query->out[0]) == 0) {
        *why = "no elements";
        return false;
    }
    if (mask && mask->dtype != TN_F32 && mask->dtype != TN_BOOL) {
        *why = "the mask is neither float32 nor bool";
        return false;
    }
    for (int i = PAST_KEY; i < query->n_in; i++) {
        if (query->in[i]) {
            *why = "there is a cache, or numbers of valid keys";
            return false;
        }
    }
    for (int i = 1; i < query->n_out; i++) {
        if (query->out[i]) {
            *why = "more than the first result is wanted";
            return false;
        }
    }
    *why = "there is a softcap";
    return attr->softcap == 0;
}

// A tensor of heads, [batch][heads][length][size] or [batch][length][heads * size].
static tn_attention_steps steps_of(const tn_shape *shape, int64_t heads, int64_t *length, int64_t *size)
{
    const int64_t *d = shape->dims;
    if (shape->rank == 3) {
        *length = d[1];
        *size = d[2] / heads;
        return (tn_attention_steps){d[1] * d[2], *size, d[2]};
    }
    *length = d[2];
    *size = d[3];
    return (tn_attention_steps){d[1] * d[2] * d[3], d[2] * d[3], d[3]};
}

static void set_mask(tn_attention_shape *s, const tn_tensor *mask)
{
    s->covered = s->keys;
    s->has_mask = mask != NULL;
    if (!mask) {
        return;
    }
    const tn_shape *shape = &mask->shape;
    s->mask_bool = mask->dtype == TN_BOOL;
    s->covered = shape->dims[shape->rank - 1];
    ptrdiff_t steps[3] = {0, 0, 0}, step = (ptrdiff_t)s->covered;
    for (int d = shape->rank - 2, i = 2; d >= 0 && i >= 0; d--, i--) {
        steps[i] = shape->dims[d] == 1 ? 0 : step;
        step *= (ptrdiff_t)shape->dims[d];
    }
    s->mask = (tn_attention_steps){steps[0], steps[1], steps[2]};
}

static tn_attention_shape shape_of(const tn_query *query, const tn_tile_facts *facts)
{
    const tn_attention_attr *attr = query->attr;
    const tn_shape *q = &query->in[Q]->shape, *k = &query->in[K]->shape, *v = &query->in[V]->shape;
    const bool packed = q->rank == 3;
    tn_attention_shape s = {.facts = facts, .batch = q->dims[0], .causal = attr->is_causal, .left = attr->left_window, .right = attr->right_window};
    s.heads = packed ? attr->q_num_heads : q->dims[1];
    s.kv_heads = packed ? attr->kv_num_heads : k->dims[1];
    s.q = steps_of(q, s.heads, &s.queries, &s.size);
    s.k = steps_of(k, s.kv_heads, &s.keys, &s.size);
    s.v = steps_of(v, s.kv_heads, &s.keys, &s.value_size);
    int64_t length, size;
    s.y = steps_of(&query->out[0]->shape, s.heads, &length, &size);
    s.scale = (float)(attr->has_scale ? attr->scale : 1.0 / sqrt((double)s.size));
    set_mask(&s, operand(query, MASK));
    // Whole groups of columns but for the last block.
    const int64_t group = 2 * facts->lanes, p = facts->max_p[2];
    s.key_block = TN_MIN(KEY_BLOCK, tn_tile_cuts(s.keys, group) * group);
    const int64_t most = TN_MAX(QUERY_LEAST, TN_MIN(QUERY_MOST, SCORES_FLOATS / s.key_block)), blocks = tn_tile_cuts(s.queries, most);
    s.query_block = tn_tile_cuts(tn_tile_cuts(s.queries, blocks), p) * p;
    return s;
}

// Weights cost about a quarter of a nanosecond each with eight lanes.
static double cost(const tn_query *query, const tn_tile_facts *facts)
{
    const tn_attention_shape s = shape_of(query, facts);
    const int64_t lanes = facts->lanes, p = TN_MIN(s.queries, s.query_block);
    const double blocks = (double)s.queries / (double)p, all = (double)s.batch * (double)s.heads;
    const double products = (double)s.size * tn_tile_cost(facts, p, tn_tile_cuts(s.keys, lanes), 2) +
                            (double)s.keys * tn_tile_cost(facts, p, tn_tile_cuts(s.value_size, lanes), 2);
    const double weights = (double)s.queries * (double)s.keys * 2.0 / (double)lanes;
    const double pack = (double)s.batch * (double)s.kv_heads * (double)s.keys * (double)(s.size + s.value_size) * 0.2;
    return 500.0 + all * (blocks * products + weights) + pack;
}

static tn_gemm gemm_of(const tn_attention_shape *s, int64_t m, int64_t n, int64_t k, ptrdiff_t lda, ptrdiff_t ldc, size_t l2)
{
    tn_gemm g = {.m = m, .n = n, .k = k, .q = 2, .lda = lda, .ldc = ldc, .alpha = 1.0f, .beta = 1.0f};
    tn_gemm_block(&g, s->facts, l2);
    return g;
}

static tn_status prepare(tn_prepare *prepare, const tn_tile_facts *facts)
{
    const size_t l2 = prepare->query->cpu->l2;
    tn_attention_shape *s;
    TN_TRY(tn_prepare_params(prepare, sizeof *s, (void **)&s));
    *s = shape_of(prepare->query, facts);
    s->scores = gemm_of(s, s->query_block, s->key_block, s->size, s->q.row, (ptrdiff_t)s->key_block, l2);
    s->weighted = gemm_of(s, s->query_block, s->value_size, s->key_block, (ptrdiff_t)s->key_block, s->y.row, l2);
    s->slots = TN_MAX(1u, prepare->query->threads);
    s->k_floats = tn_gemm_packed_floats(facts->lanes, s->size, s->keys);
    s->v_floats = tn_gemm_packed_floats(facts->lanes, s->keys, s->value_size);
    size_t heads, count;
    if (!tn_mul_size((size_t)s->batch, (size_t)s->kv_heads, &heads) || !tn_mul_size(heads, s->k_floats, &count)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    TN_TRY(tn_scratch_add(prepare, count, sizeof(float), &s->k_at));
    if (!tn_mul_size(heads, s->v_floats, &count)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    TN_TRY(tn_scratch_add(prepare, count, sizeof(float), &s->v_at));
    // Blocks are bounded, so the bytes of a slot fit.
    s->slot_bytes = ((size_t)s->query_block * (size_t)(s->key_block + 2) * sizeof(float) + TN_ALIGNMENT - 1) / TN_ALIGNMENT * TN_ALIGNMENT;
    return tn_scratch_add(prepare, s->slots, s->slot_bytes, &s->slot_at);
}

#define TIER(tier)                                                                                             \
    double tn_attention_cost_##tier(const tn_query *query) { return cost(query, &tn_tile_facts_##tier); }      \
    tn_status tn_attention_prepare_##tier(tn_prepare *p) { return prepare(p, &tn_tile_facts_##tier); }

TIER(portable)
TIER(avx2)
TIER(avx512)

// ---- rows of bf16 ----

static tn_attention_shape shape_bf16(const tn_query *query)
{
    tn_attention_shape s = shape_of(query, &tn_tile_facts_avx512);
    s.query_block = TN_BGEMM_ROWS;
    s.key_block = TN_MIN(KEY_BLOCK, tn_tile_cuts(s.keys, TN_BGEMM_LINE) * TN_BGEMM_LINE);
    return s;
}

// Packing and the end of each block take what they take for products.
static double cost_bf16(const tn_query *query, const tn_bgemm_facts *facts)
{
    const tn_attention_shape s = shape_bf16(query);
    const int64_t all = s.batch * s.heads;
    const double rounded = (double)(s.batch * s.kv_heads) * (double)s.keys * (double)(s.size + s.value_size) / TN_BGEMM_LANES;
    const double weights = (double)all * (double)s.queries * (double)s.keys * 2.0 / TN_BGEMM_LANES;
    const tn_bgemm_around around = {.made = true};
    return tn_bgemm_cost(facts, all, s.queries, s.keys, s.size, around) + tn_bgemm_cost(facts, all, s.queries, s.value_size, s.keys, around) +
           weights + 2.0 * rounded * facts->round_ns;
}

double tn_attention_cost_avx512bf16(const tn_query *query) { return cost_bf16(query, &tn_bgemm_facts_avx512bf16); }
double tn_attention_cost_amx(const tn_query *query) { return cost_bf16(query, &tn_bgemm_facts_amx); }

tn_status tn_attention_prepare_bf16(tn_prepare *prepare)
{
    tn_attention_shape *s;
    TN_TRY(tn_prepare_params(prepare, sizeof *s, (void **)&s));
    *s = shape_bf16(prepare->query);
    s->slots = TN_MAX(1u, prepare->query->threads);
    const int64_t value_vectors = tn_tile_cuts(s->value_size, TN_BGEMM_LANES);
    size_t heads, count, bytes;
    const bool fits = tn_bgemm_packed_bytes(s->size, s->keys, &s->k_floats) &&
                      tn_mul_size((size_t)value_vectors * TN_BGEMM_TILE, (size_t)tn_bgemm_lines(s->keys), &s->v_floats);
    s->k_floats /= sizeof(uint16_t);
    if (!fits || !tn_mul_size((size_t)s->batch, (size_t)s->kv_heads, &heads) || !tn_mul_size(heads, s->k_floats, &count)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    TN_TRY(tn_scratch_add(prepare, count, sizeof(uint16_t), &s->k_at));
    if (!tn_mul_size(heads, s->v_floats, &count)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    TN_TRY(tn_scratch_add(prepare, count, sizeof(uint16_t), &s->v_at));
    const size_t rows = (size_t)s->query_block, block = rows * (size_t)s->key_block;
    if (!tn_mul_size(rows * TN_BGEMM_LINE * sizeof(uint16_t), (size_t)tn_bgemm_lines(s->size), &bytes) ||
        !tn_add_size(bytes, block * (sizeof(uint16_t) + sizeof(float)) + 2 * rows * sizeof(float), &bytes) ||
        !tn_align_size(bytes, TN_ALIGNMENT, &s->slot_bytes)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    return tn_scratch_add(prepare, s->slots, s->slot_bytes, &s->slot_at);
}
