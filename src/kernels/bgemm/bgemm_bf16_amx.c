// SPDX-License-Identifier: Apache-2.0
// Products of bf16 by the tile registers of AMX: two tiles of A by two of B, four of sums, so that each tile that is loaded meets two others;
// and the rows of matrix products on them.
// Ownership: const data. Threads: any; the registers' shape is a thread's own, set before its items and given back after them.
#include "kernels/bgemm/bgemm.h"
#include "kernels/simd/vec.h"
#include "ops/nn/op_matmul.h"

#include "kernels/bgemm/bgemm.inc"

// What LDTILECFG reads: all eight tiles are 16 rows of 64 bytes.
typedef struct tile_shape {
    uint8_t palette, start, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} tile_shape;

static const tile_shape shape = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {16, 16, 16, 16, 16, 16, 16, 16}};

// Loads by intrinsics do not tell every compiler that they read memory.
#define SETTLE() __asm__ volatile("" : : : "memory")

static void begin(void)
{
    SETTLE();
    _tile_loadconfig(&shape);
}

static void end(void) { _tile_release(); }

// Bytes from row to row of a tile of A or B, and of the sums of a block.
#define TILE_ROW 64
#define SUMS_ROW (TN_BGEMM_VECTORS * TN_BGEMM_LANES)

TN_INLINE const uint16_t *line_of(const tn_btile *t, int64_t line) { return t->a + (t->steps ? t->steps[line] : line * 2 * TN_BGEMM_TILE); }

// Sums of up to two tiles of rows, from a on, by up to two of columns.
TN_INLINE void sum_tiles(const tn_btile *t, ptrdiff_t a, float *sums, const bool rows, const bool columns)
{
    const uint16_t *b = t->b;
    const char *next = (const char *)t->next;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int64_t line = 0; line < t->lines; line++) {
        const uint16_t *from = line_of(t, line) + a;
        _tile_loadd(4, from, TILE_ROW);
        _tile_loadd(6, b, TILE_ROW);
        _tile_dpbf16ps(0, 4, 6);
        if (columns) {
            _tile_loadd(7, b + TN_BGEMM_TILE, TILE_ROW);
            _tile_dpbf16ps(1, 4, 7);
        }
        if (rows) {
            _tile_loadd(5, from + TN_BGEMM_TILE, TILE_ROW);
            _tile_dpbf16ps(2, 5, 6);
        }
        if (rows && columns) {
            _tile_dpbf16ps(3, 5, 7);
        }
        next = ask_ahead(next, t->ask);
        b += columns ? 2 * TN_BGEMM_TILE : TN_BGEMM_TILE;
    }
    // Sums that nobody asked for are zeros.
    _tile_stored(0, sums, SUMS_ROW * sizeof(float));
    _tile_stored(1, sums + TN_BGEMM_LANES, SUMS_ROW * sizeof(float));
    if (rows) {
        _tile_stored(2, sums + 16 * SUMS_ROW, SUMS_ROW * sizeof(float));
        _tile_stored(3, sums + 16 * SUMS_ROW + TN_BGEMM_LANES, SUMS_ROW * sizeof(float));
    }
}

static void sum_32x32(const tn_btile *t, ptrdiff_t a, float *sums) { sum_tiles(t, a, sums, true, true); }
static void sum_16x32(const tn_btile *t, ptrdiff_t a, float *sums) { sum_tiles(t, a, sums, false, true); }
static void sum_32x16(const tn_btile *t, ptrdiff_t a, float *sums) { sum_tiles(t, a, sums, true, false); }
static void sum_16x16(const tn_btile *t, ptrdiff_t a, float *sums) { sum_tiles(t, a, sums, false, false); }

// Rows of A that the block does not have are whatever lies there, behind it or, where that may not be read, before it: they meet nobody
// else's sums.
static void tile(const tn_btile *t)
{
    _Alignas(64) float sums[TN_BGEMM_ROWS * SUMS_ROW];
    const bool half = t->rows <= TN_BGEMM_ROWS / 2;
    const ptrdiff_t before = t->exact ? (half ? TN_BGEMM_ROWS / 2 : TN_BGEMM_ROWS) - t->rows : 0, a = -before * TN_BGEMM_LINE;
    SETTLE();
    if (t->vectors == TN_BGEMM_VECTORS) {
        (half ? sum_16x32 : sum_32x32)(t, a, sums);
    } else {
        (half ? sum_16x16 : sum_32x16)(t, a, sums);
    }
    end_block(t, sums + before * SUMS_ROW, SUMS_ROW, t->rows);
}

const tn_btiles tn_btiles_amx = {&tn_bgemm_facts_amx, begin, end, tile, round_rows, round_part, copy_lines, round_pixels, round_columns};

static tn_status run_matmul(const tn_call *call) { return tn_bmatmul_run(call, &tn_btiles_amx); }

#define ROW(operator)                                                                                                          \
    .op = &operator, .types = {TN_F32, TN_F32, TN_F32, TN_F32}, .layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0}, .impl = TN_IMPL_AMX, \
    .tag = "gemm_bf16", .version = 1, .cpu = TN_CPU_AVX512 | TN_CPU_AVX512BF16 | TN_CPU_AMX | TN_CPU_BF16_WEIGHTS, .aligned_constants = true,                                                   \
    .match = tn_bmatmul_match, .cost = tn_bmatmul_cost_amx, .prepare = tn_bmatmul_prepare, .run = run_matmul

static const tn_kernel rows[] = {
    {.name = "matmul_bf16_amx", ROW(tn_op_matmul)},
    {.name = "gemm_bf16_amx", ROW(tn_op_gemm)},
};

TN_EXPORT_KERNELS(bgemm_bf16_amx, rows);
