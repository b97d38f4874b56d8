// SPDX-License-Identifier: Apache-2.0
// Register tiles in the compiler's 16-byte vectors: up to 6 x 8 (12 sums, 2 vectors of B, 1 broadcast of A in 16 registers), and
// the rows of matrix products on them.
// Ownership: const data. Threads: any.
#include "kernels/gemm/gemm.h"
#include "kernels/simd/vec.h"
#include "ops/nn/op_matmul.h"

// Bf16 is the upper half of a float.
TN_INLINE tn_vf load_bf16(const uint16_t *p)
{
    const tn_vi bits = {p[0], p[1], p[2], p[3]};
    return (tn_vf)(bits << 16);
}

#include "kernels/gemm/gemm_pack.inc"
#include "kernels/gemm/tile.inc"

TILE(1, 1) TILE(2, 1) TILE(3, 1) TILE(4, 1) TILE(5, 1) TILE(6, 1) TILE(7, 1)
TILE(8, 1)
TILE(1, 2) TILE(2, 2) TILE(3, 2) TILE(4, 2) TILE(5, 2) TILE(6, 2)
TILE(1, 3) TILE(2, 3)
TILE(1, 4) TILE(2, 4)

STREAM(1, 1) STREAM(1, 2) STREAM(1, 3) STREAM(1, 4) STREAM(1, 5) STREAM(1, 6)
STREAM(2, 1) STREAM(2, 2) STREAM(2, 3)
STREAM(3, 1) STREAM(3, 2)

const tn_tiles tn_tiles_portable = {
    &tn_tile_facts_portable,
    {{tile_1x1, tile_2x1, tile_3x1, tile_4x1, tile_5x1, tile_6x1, tile_7x1, tile_8x1},
     {tile_1x2, tile_2x2, tile_3x2, tile_4x2, tile_5x2, tile_6x2},
     {tile_1x3, tile_2x3},
     {tile_1x4, tile_2x4}},
    TILES_STREAMS,
    activate,
    pack_vector,
    {NULL},
};

static tn_status run_matmul(const tn_call *call)
{
    return tn_matmul_run_f32(call, &tn_tiles_portable);
}

static const tn_kernel rows[] = {TN_GEMM_ROWS(portable, TN_IMPL_PORTABLE, 0, 2, 1)};

TN_EXPORT_KERNELS(gemm_f32_portable, rows);
