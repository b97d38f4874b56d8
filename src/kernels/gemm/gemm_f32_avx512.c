// SPDX-License-Identifier: Apache-2.0
// Register tiles for AVX-512: up to 14 x 32 (28 sums, 2 vectors of B, 1 broadcast of A in 32 registers), and the rows of matrix
// products on them.
// Ownership: const data. Threads: any.
#include "kernels/gemm/gemm.h"
#include "kernels/simd/vec.h"
#include "ops/nn/op_matmul.h"

// Bf16 is the upper half of a float.
TN_INLINE tn_vf load_bf16(const uint16_t *p)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p)), 16));
}

#include "kernels/gemm/gemm_pack.inc"
#include "kernels/gemm/tile.inc"
#define STRIP_PLAIN 1
#include "kernels/gemm/strip.inc"

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(7, 1)
TILE(8, 1) TILE(9, 1) TILE(10, 1) TILE(11, 1) TILE(12, 1) TILE(13, 1) TILE(14, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2) TILE(7, 2)
TILE(8, 2) TILE(9, 2) TILE(10, 2) TILE(11, 2) TILE(12, 2) TILE(13, 2) TILE(14, 2)
TILE(1, 3) TILE(2, 3) TILE(3, 3) TILE(4, 3) TILE(5, 3) TILE(6, 3) TILE(7, 3)
TILE(8, 3) TILE(9, 3)
TILE(1, 4) TILE(2, 4) TILE(3, 4) TILE(4, 4) TILE(5, 4) TILE(6, 4)

STRIP(10) STRIP(11) STRIP(12) STRIP(13) STRIP(14)

STREAM(1, 1) STREAM(1, 2) STREAM(1, 3) STREAM(1, 4) STREAM(1, 5) STREAM(1, 6)
STREAM(2, 1) STREAM(2, 2) STREAM(2, 3)
STREAM(3, 1) STREAM(3, 2)

const tn_tiles tn_tiles_avx512 = {
    &tn_tile_facts_avx512,
    {{tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1, tile_9x1, tile_10x1, tile_11x1,
      tile_12x1, tile_13x1, tile_14x1},
     {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2, tile_7x2, tile_8x2, tile_9x2, tile_10x2, tile_11x2,
      tile_12x2, tile_13x2, tile_14x2},
     {tile_1x3, tile_2x3, tile_3x3, tile_4x3, tile_5x3, tile_6x3, tile_7x3, tile_8x3, tile_9x3},
     {tile_1x4, tile_2x4, tile_3x4, tile_4x4, tile_5x4, tile_6x4}},
    TILES_STREAMS,
    activate,
    pack_vector,
    {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, strip_10, strip_11, strip_12, strip_13, strip_14},
};

static tn_status run_matmul(const tn_call *call)
{
    return tn_matmul_run_f32(call, &tn_tiles_avx512);
}

static const tn_kernel rows[] = {TN_GEMM_ROWS(avx512, TN_IMPL_AVX512, TN_CPU_AVX512, 3, 2)};

TN_EXPORT_KERNELS(gemm_f32_avx512, rows);
