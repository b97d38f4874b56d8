// SPDX-License-Identifier: Apache-2.0
// Packing of weights by fours (qquad.h).
// Ownership: none. Threads: blocks may be packed at the same time.
#include "kernels/qgemm/qquad.h"

#include "base/macros.h"
#include "base/num.h"

#include <string.h>

bool tn_qquads_init(tn_qquads *quads, int64_t group, int64_t mg, int64_t k, bool clip, bool is_unsigned)
{
    *quads = (tn_qquads){.group = group, .mg = mg, .k = k, .quads = TN_CEIL_DIV(k, 4), .blocks = TN_CEIL_DIV(mg, TN_QQUAD_ROWS), .clip = clip,
                         .flip = is_unsigned ? 128 : 0};
    quads->room = clip ? (8 + k / 5) / 4 * 4 : 0;
    quads->block_bytes = sizeof(tn_qquad_block) + (size_t)quads->room * sizeof(tn_qquad_fix) + (size_t)quads->quads * 4 * TN_QQUAD_ROWS;
    return k <= UINT16_MAX && tn_mul_size(quads->block_bytes, (size_t)(group * quads->blocks), &quads->bytes);
}

// Two neighbours whose products could leave 16 bits: what the larger must give up, else 0.
static int excess(int a, int b)
{
    return a > 0 && b > 0 && a + b > 128 ? a + b - 128 : a < 0 && b < 0 && a + b < -128 ? a + b + 128 : 0;
}

static void pack_row(const tn_qquads *q, const uint8_t *row, int32_t *sum, int8_t *to)
{
    for (int64_t k = 0; k < q->k; k++) {
        const int8_t w = (int8_t)(q->flip ? row[k] ^ 0x80 : row[k]);
        to[k / 4 * 4 * TN_QQUAD_ROWS + k % 4] = w;
        *sum += w;
    }
}

// Reduces what must be, over all rows so that corrections are in the order of k. false: there are more than there is room for.
static bool reduce(const tn_qquads *q, tn_qquad_block *block, tn_qquad_fix *fixes, int8_t *weights)
{
    int32_t count = 0;
    for (int64_t k = 0; k + 1 < q->k; k += 2) {
        for (int row = 0; row < TN_QQUAD_ROWS; row++) {
            int8_t *at = weights + k / 4 * 4 * TN_QQUAD_ROWS + row * 4 + k % 4;
            const int e = excess(at[0], at[1]), larger = (at[0] > 0 ? at[0] < at[1] : at[0] > at[1]);
            if (e == 0) {
                continue;
            }
            if (count == q->room) {
                return false;
            }
            at[larger] = (int8_t)(at[larger] - e);
            fixes[count++] = (tn_qquad_fix){.k = (uint16_t)(k + larger), .e = (int8_t)e, .row = (uint8_t)row};
        }
    }
    block->fixes = count;
    return true;
}

void tn_qquads_pack(void *dst, const tn_qquads *q, const uint8_t *weights, int64_t number)
{
    tn_qquad_block *block = dst;
    tn_qquad_fix *fixes = (tn_qquad_fix *)(block + 1);
    int8_t *to = (int8_t *)(fixes + q->room);
    memset(dst, 0, q->block_bytes);
    const int64_t rows = TN_MIN(q->mg - number * TN_QQUAD_ROWS, TN_QQUAD_ROWS);
    for (int pass = 0; pass < 2; pass++) {
        memset(block->sums, 0, sizeof block->sums);
        for (int64_t i = 0; i < rows; i++) {
            pack_row(q, weights + (number * TN_QQUAD_ROWS + i) * q->k, &block->sums[i], to + i * 4);
        }
        // Too many: the weights again as they are.
        if (pass > 0 || !q->clip || reduce(q, block, fixes, to)) {
            break;
        }
        memset(fixes, 0, (size_t)q->room * sizeof *fixes);
        block->fixes = -1;
    }
}
