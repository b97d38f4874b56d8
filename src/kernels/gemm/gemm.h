// SPDX-License-Identifier: Apache-2.0
// Matrix products over the register tiles: C = act(alpha * A B + bias + beta * residual), batched.
//
// Columns are packed in groups of q vectors, groups one after another; the last group may hold fewer vectors, the last vector is
// filled with zeros:
//      group 0: [k][q * lanes]   group 1: [k][q * lanes] ...   = k * lanes * ceil(n / lanes) floats
// Ownership: borrows everything. Threads: a run uses the workers it is given.
#ifndef TN_GEMM_H
#define TN_GEMM_H

#include "base/map.h"
#include "dispatch/kernel.h"
#include "kernels/gemm/tile.h"

#define TN_GEMM_BATCH 6

typedef struct tn_gemm {
    const tn_tiles *tiles;
    int64_t m, n, k;
    int q;                              // vectors in a group
    bool few;                           // rows for their columns: columns pass by (gemm_run.c)
    int64_t k_chunk, row_chunk, group_chunk;   // k steps of a group, rows, groups that are used before the next ones
    bool strips;                        // by tn_strip_fn, where what run knows allows it; then in chunks of so many k steps and rows:
    int64_t strip_steps, strip_rows;
    const float *a;                     // [batch...][m, k], rows lda apart
    ptrdiff_t lda;
    const float *b;                     // packed; or [k, n] with rows ldb apart when ldb > 0
    const uint16_t *b_bf16;             // instead of b: the packed columns as bf16
    float *panels;                      // with b_bf16 and more rows than streams take: for each thread's slot room for columns as floats
    size_t panel_floats;                // of a slot: tn_gemm_panel_floats
    float *rooms;                       // for each thread's slot room for the rows of an item by strips; NULL: rows are read where they lie
    size_t room_floats;                 // of a slot: tn_gemm_room_floats
    ptrdiff_t ldb;
    const float *b_last;                // with ldb: the last group, packed, where n is no multiple of the lanes
    float *c;                           // [batch][m, n] dense, rows ldc apart
    ptrdiff_t ldc;
    int batch_rank;                     // outer dims, and what a step along them adds to a and b; c and residual are dense
    int64_t batch[TN_GEMM_BATCH];
    ptrdiff_t a_batch[TN_GEMM_BATCH], b_batch[TN_GEMM_BATCH];
    const float *bias, *row_bias;       // [n], [m]; or NULL
    const float *residual;              // as c, or NULL
    float alpha, beta;
    const tn_act *act;
    bool resume;                        // c holds the sum so far; alpha is 1, there is no bias
} tn_gemm;

// Floats of packed columns.
size_t tn_gemm_packed_floats(int lanes, int64_t k, int64_t n);

// Chooses few, strips and the chunks for a second-level cache of l2 bytes: from shapes and the machine only.
void tn_gemm_block(tn_gemm *gemm, const tn_tile_facts *facts, size_t l2);
void tn_gemm_block_bf16(tn_gemm *gemm, const tn_tile_facts *facts, size_t l2);   // for b_bf16

// Room for one slot's columns of a product with b_bf16; 0: it needs none.
size_t tn_gemm_panel_floats(const tn_gemm *gemm, const tn_tile_facts *facts);

// Rows that lie a multiple of so many floats (a page) apart fall into one set of the first-level cache.
#define TN_GEMM_ALIAS 1024
#define TN_GEMM_GAP 16               // floats between rows that are copied to lie apart

// Room for one slot's rows of a product by strips, the rows of A being lda apart; 0: they do not fall into one set, or are few.
size_t tn_gemm_room_floats(const tn_gemm *gemm, const tn_tile_facts *facts);

void tn_gemm_run(tn_workers *workers, const tn_gemm *gemm);

// Writes groups first .. first + count - 1 of the packed form of b, where b[k][n] lies at src + (k * row + n * column) floats, at
// any alignment.
void tn_gemm_pack(float *packed, const void *src, ptrdiff_t row, ptrdiff_t column, int64_t k, int64_t n, int lanes, int q, int64_t first,
                  int64_t count);

// The same, rounded to bf16.
void tn_gemm_pack_bf16(uint16_t *packed, const void *src, ptrdiff_t row, ptrdiff_t column, int64_t k, int64_t n, int lanes, int q, int64_t first,
                       int64_t count);

// The same at run time, for floats at their alignment and with row or column 1, by a tier's own code.
void tn_gemm_pack_fast(const tn_tiles *tiles, float *packed, const float *src, ptrdiff_t row, ptrdiff_t column, int64_t k, int64_t n, int q,
                       int64_t first, int64_t count);

// Names a packed form: with the constant's address it is the key under which the form is shared.
static inline uint64_t tn_gemm_variant(int lanes, int q, int64_t k, int64_t n, bool transposed)
{
    const uint64_t facts[] = {(uint64_t)lanes, (uint64_t)q, (uint64_t)k, (uint64_t)n, transposed};
    return tn_hash(facts, sizeof facts, 0);
}

static inline int64_t tn_gemm_groups(int lanes, int q, int64_t n) { return (n + (int64_t)lanes * q - 1) / ((int64_t)lanes * q); }

// What the rows of one tier share (gemm_rows.c).
bool tn_matmul_match_f32(const tn_query *query, const char **why);
bool tn_gemm_match_f32(const tn_query *query, const char **why);
bool tn_matmul_match_bf16(const tn_query *query, const char **why);
bool tn_gemm_match_bf16(const tn_query *query, const char **why);
tn_status tn_matmul_run_f32(const tn_call *call, const tn_tiles *tiles);

#define TN_GEMM_TIER(tier)                                        \
    double tn_matmul_cost_##tier(const tn_query *query);          \
    double tn_matmul_cost_bf16_##tier(const tn_query *query);     \
    tn_status tn_matmul_prepare_bf16_##tier(tn_prepare *prepare); \
    tn_status tn_matmul_prepare_##tier(tn_prepare *prepare);

TN_GEMM_TIER(avx512)
TN_GEMM_TIER(avx2)
TN_GEMM_TIER(portable)

// The rows of a tier, in a file that has run_matmul: products of floats, and those that keep constant columns as bf16.
#define TN_GEMM_ROW(OP, TYPE, FORM, TIER, IMPL, CPU, TAG, VERSION)                                                           \
    {                                                                                                                        \
        .name = #OP "_" #TYPE "_" #TIER, .op = &tn_op_##OP, .types = {TN_F32, TN_F32, TN_F32, TN_F32},                       \
        .layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0}, .impl = IMPL, .tag = TAG, .version = VERSION, .cpu = CPU,          \
        .aligned_constants = true, .match = tn_##OP##_match_##TYPE, .cost = tn_matmul_cost_##FORM,                           \
        .prepare = tn_matmul_prepare_##FORM, .run = run_matmul                                                               \
    }
#define TN_GEMM_ROWS(TIER, IMPL, CPU, VERSION, BF16_VERSION)                                                                 \
    TN_GEMM_ROW(matmul, f32, TIER, TIER, IMPL, CPU, "gemm", VERSION),                                                        \
    TN_GEMM_ROW(gemm, f32, TIER, TIER, IMPL, CPU, "gemm", VERSION),                                                          \
    TN_GEMM_ROW(matmul, bf16, bf16_##TIER, TIER, IMPL, CPU | TN_CPU_BF16_WEIGHTS, "gemm_bf16", BF16_VERSION),                \
    TN_GEMM_ROW(gemm, bf16, bf16_##TIER, TIER, IMPL, CPU | TN_CPU_BF16_WEIGHTS, "gemm_bf16", BF16_VERSION)

#endif
