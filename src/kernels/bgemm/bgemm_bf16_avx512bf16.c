// SPDX-License-Identifier: Apache-2.0
// Products of bf16 pairs by AVX512-BF16: up to 11 rows by two vectors of sums in registers; and the rows of matrix products on them.
// Ownership: const data. Threads: any.
#include "kernels/bgemm/bgemm.h"
#include "kernels/simd/vec.h"
#include "ops/nn/op_matmul.h"

#include "kernels/bgemm/bgemm.inc"

#define MOST 11   // a block's 32 rows are 11, 11 and 10

TN_INLINE __m512 pair_products(__m512 sum, const uint16_t *pair, __m512i columns)
{
    int32_t both;
    memcpy(&both, pair, sizeof both);
    return _mm512_dpbf16_ps(sum, (__m512bh)_mm512_set1_epi32(both), (__m512bh)columns);
}

// P rows of a block by Q vectors.
TN_INLINE void sum_rows(const tn_btile *t, int64_t row, bool asks, float *sums, const int P, const int Q)
{
    const uint16_t *b = t->b;
    const char *next = (const char *)t->next;
    const int ask = asks ? t->ask : 0;
    __m512 sum[MOST][TN_BGEMM_VECTORS];
#pragma GCC unroll 16
    for (int p = 0; p < P; p++) {
#pragma GCC unroll 2
        for (int q = 0; q < Q; q++) {
            sum[p][q] = _mm512_setzero_ps();
        }
    }
    for (int64_t line = 0; line < t->lines; line++) {
        const uint16_t *a = t->a + row * TN_BGEMM_LINE + (t->steps ? t->steps[line] : line * TN_BGEMM_ROWS * TN_BGEMM_LINE);
        for (int pair = 0; pair < TN_BGEMM_LINE / 2; pair++) {
            __m512i w[TN_BGEMM_VECTORS];
#pragma GCC unroll 2
            for (int q = 0; q < Q; q++) {
                w[q] = _mm512_loadu_si512(b + q * TN_BGEMM_TILE + pair * 2 * TN_BGEMM_LANES);
            }
#pragma GCC unroll 16
            for (int p = 0; p < P; p++) {
#pragma GCC unroll 2
                for (int q = 0; q < Q; q++) {
                    sum[p][q] = pair_products(sum[p][q], a + p * TN_BGEMM_LINE + 2 * pair, w[q]);
                }
            }
        }
        next = ask_ahead(next, ask);
        b += Q * TN_BGEMM_TILE;
    }
#pragma GCC unroll 16
    for (int p = 0; p < P; p++) {
#pragma GCC unroll 2
        for (int q = 0; q < Q; q++) {
            _mm512_store_ps(sums + (p * TN_BGEMM_VECTORS + q) * TN_BGEMM_LANES, sum[p][q]);
        }
        if (Q < TN_BGEMM_VECTORS) {
            _mm512_store_ps(sums + (p * TN_BGEMM_VECTORS + 1) * TN_BGEMM_LANES, _mm512_setzero_ps());
        }
    }
}

#define SUMS(P)                                                                                                               \
    static void sum_##P##x1(const tn_btile *t, int64_t row, bool asks, float *sums) { sum_rows(t, row, asks, sums, P, 1); } \
    static void sum_##P##x2(const tn_btile *t, int64_t row, bool asks, float *sums) { sum_rows(t, row, asks, sums, P, 2); }

SUMS(1) SUMS(2) SUMS(3) SUMS(4) SUMS(5) SUMS(6) SUMS(7) SUMS(8) SUMS(9) SUMS(10) SUMS(11)

static void (*const sum_of[TN_BGEMM_VECTORS][MOST])(const tn_btile *, int64_t, bool, float *) = {
    {sum_1x1, sum_2x1, sum_3x1, sum_4x1, sum_5x1, sum_6x1, sum_7x1, sum_8x1, sum_9x1, sum_10x1, sum_11x1},
    {sum_1x2, sum_2x2, sum_3x2, sum_4x2, sum_5x2, sum_6x2, sum_7x2, sum_8x2, sum_9x2, sum_10x2, sum_11x2},
};

static void tile(const tn_btile *t)
{
    _Alignas(64) float sums[TN_BGEMM_ROWS * TN_BGEMM_VECTORS * TN_BGEMM_LANES];
    const int64_t cuts = tn_tile_cuts(t->rows, MOST);
    for (int64_t i = 0; i < cuts; i++) {
        const int64_t r = tn_tile_cut(t->rows, cuts, i), rows = tn_tile_cut(t->rows, cuts, i + 1) - r;
        sum_of[t->vectors - 1][rows - 1](t, r, i == 0, sums + r * TN_BGEMM_VECTORS * TN_BGEMM_LANES);
    }
    end_block(t, sums, TN_BGEMM_VECTORS * TN_BGEMM_LANES, t->rows);
}

const tn_btiles tn_btiles_avx512bf16 = {&tn_bgemm_facts_avx512bf16, NULL, NULL, tile, round_rows, round_part, copy_lines, round_pixels, round_columns};

static tn_status run_matmul(const tn_call *call) { return tn_bmatmul_run(call, &tn_btiles_avx512bf16); }

#define ROW(operator)                                                                                                          \
    .op = &operator, .types = {TN_F32, TN_F32, TN_F32, TN_F32}, .layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0}, .impl = TN_IMPL_AVX512BF16, \
    .tag = "gemm_bf16", .version = 1, .cpu = TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_BF16_WEIGHTS, .aligned_constants = true,                                                   \
    .match = tn_bmatmul_match, .cost = tn_bmatmul_cost_avx512bf16, .prepare = tn_bmatmul_prepare, .run = run_matmul

static const tn_kernel rows[] = {
    {.name = "matmul_bf16_avx512bf16", ROW(tn_op_matmul)},
    {.name = "gemm_bf16_avx512bf16", ROW(tn_op_gemm)},
};

TN_EXPORT_KERNELS(bgemm_bf16_avx512bf16, rows);
