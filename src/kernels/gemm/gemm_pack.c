// SPDX-License-Identifier: Apache-2.0
// Packs the columns of a matrix for the register tiles (the picture is in gemm.h). Baseline code that reads its source byte by
// byte safe, since constants lie in the mapped file at any address.
// Ownership: borrows everything. Threads: any.
#include "kernels/gemm/gemm.h"

#include "base/macros.h"
#include "base/num.h"

size_t tn_gemm_packed_floats(int lanes, int64_t k, int64_t n)
{
    return (size_t)k * (size_t)((n + lanes - 1) / lanes * lanes);
}

// Transposed sources are read in squares of this many k by one vector, so that a line is read once.
#define PACK_SQUARE 16

// One vector of columns: `valid` of its lanes exist. dst steps by `step` from one k to the next.
static void pack_vector(float *dst, ptrdiff_t step, const char *src, ptrdiff_t row, ptrdiff_t column, int64_t k, int lanes, int valid)
{
    if (column == 1) {
        for (int64_t i = 0; i < k; i++) {
            memcpy(dst + i * step, src + (size_t)(i * row) * sizeof(float), (size_t)valid * sizeof(float));
            memset(dst + i * step + valid, 0, (size_t)(lanes - valid) * sizeof(float));
        }
        return;
    }
    for (int64_t i0 = 0; i0 < k; i0 += PACK_SQUARE) {
        const int64_t i1 = TN_MIN(k, i0 + PACK_SQUARE);
        for (int lane = 0; lane < lanes; lane++) {
            for (int64_t i = i0; i < i1; i++) {
                dst[i * step + lane] = lane < valid ? tn_load_f32(src, (size_t)(i * row + lane * column)) : 0.0f;
            }
        }
    }
}

void tn_gemm_pack(float *packed, const void *src, ptrdiff_t row, ptrdiff_t column, int64_t k, int64_t n, int lanes, int q, int64_t first,
                  int64_t count)
{
    for (int64_t group = first; group < first + count; group++) {
        const int64_t n0 = group * q * lanes;
        const int64_t vectors = TN_MIN((int64_t)q, (n - n0 + lanes - 1) / lanes);
        for (int64_t v = 0; v < vectors; v++) {
            const int64_t at = n0 + v * lanes;
            pack_vector(packed + n0 * k + v * lanes, vectors * lanes, (const char *)src + (size_t)(at * column) * sizeof(float), row, column,
                        k, lanes, (int)TN_MIN((int64_t)lanes, n - at));
        }
    }
}

void tn_gemm_pack_bf16(uint16_t *packed, const void *src, ptrdiff_t row, ptrdiff_t column, int64_t k, int64_t n, int lanes, int q, int64_t first,
                       int64_t count)
{
    for (int64_t group = first; group < first + count; group++) {
        const int64_t n0 = group * q * lanes, width = TN_MIN((int64_t)q, (n - n0 + lanes - 1) / lanes) * lanes;
        uint16_t *to = packed + n0 * k;
        for (int64_t i0 = 0; i0 < k; i0 += PACK_SQUARE) {
            const int64_t i1 = TN_MIN(k, i0 + PACK_SQUARE);
            for (int64_t lane = 0; lane < width; lane++) {
                for (int64_t i = i0; i < i1; i++) {
                    const float value = n0 + lane < n ? tn_load_f32(src, (size_t)(i * row + (n0 + lane) * column)) : 0.0f;
                    to[i * width + lane] = tn_bf16_from_f32(value);
                }
            }
        }
    }
}

void tn_gemm_pack_fast(const tn_tiles *tiles, float *packed, const float *src, ptrdiff_t row, ptrdiff_t column, int64_t k, int64_t n, int q,
                       int64_t first, int64_t count)
{
    const int lanes = tiles->facts->lanes;
    for (int64_t group = first; group < first + count; group++) {
        const int64_t n0 = group * q * lanes;
        const int64_t vectors = TN_MIN((int64_t)q, (n - n0 + lanes - 1) / lanes);
        for (int64_t v = 0; v < vectors; v++) {
            const int64_t at = n0 + v * lanes;
            tiles->pack_vector(packed + n0 * k + v * lanes, vectors * lanes, src + at * column, row, column, k,
                               (int)TN_MIN((int64_t)lanes, n - at));
        }
    }
}
