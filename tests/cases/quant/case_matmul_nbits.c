// SPDX-License-Identifier: Apache-2.0
// Cases of matmul_nbits: each width with and without zero points of both kinds, groups and bias; a last block that is not full; no rows.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/quant/op_matmul_nbits.h"

typedef struct form {
    int64_t rows, k, n, bits, block;
    int zeros;               // 0 none, 1 packed, 2 numbers
    bool groups, bias;
} form;

static const form forms[] = {
    {1, 64, 5, 4, 32, 0, false, false}, {3, 40, 7, 4, 16, 1, false, true}, {2, 33, 4, 8, 16, 1, true, false},
    {1, 100, 3, 2, 32, 2, false, true}, {0, 16, 2, 4, 16, 0, false, false}, {2, 64, 3, 2, 16, 1, false, false},
};

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const int64_t widths[] = {2, 4, 8}, blocks_of[] = {16, 32, 64};
    const form drawn = {tn_rand_range(r, 1, 4), tn_rand_range(r, 1, 130), tn_rand_range(r, 1, 17), TN_DRAW(r, widths),
                        TN_DRAW(r, blocks_of), (int)tn_draw_index(r, 3), tn_rand_bool(r), tn_rand_bool(r)};
    const form f = i < TN_COUNT(forms) ? forms[i] : drawn;
    const int64_t blocks = (f.k + f.block - 1) / f.block;
    const tn_dtype dtype = i < TN_COUNT(forms) ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS);
    tn_nbits_attr *attr = tn_case_attr(arena, &tn_op_matmul_nbits);
    if (!attr) {
        return false;
    }
    *attr = (tn_nbits_attr){f.k, f.n, f.bits, f.block};
    c->op = &tn_op_matmul_nbits;
    c->attr = attr;
    c->in[0] = tn_draw_in(dtype, (tn_shape){2, {f.rows, f.k}});
    c->in[1] = tn_draw_in(TN_U8, (tn_shape){3, {f.n, blocks, f.block * f.bits / 8}});
    c->in[1].high = 255;
    c->in[2] = tn_draw_in(dtype, (tn_shape){2, {f.n, blocks}});
    c->in[3] = f.zeros == 0 ? TN_ABSENT : f.zeros == 1 ? tn_draw_in(TN_U8, (tn_shape){2, {f.n, (blocks * f.bits + 7) / 8}})
                                                       : tn_draw_in(dtype, (tn_shape){2, {f.n, blocks}});
    c->in[4] = f.groups ? tn_draw_in(TN_I32, (tn_shape){1, {f.k}}) : TN_ABSENT;
    c->in[4].low = 0;
    c->in[4].high = (double)(blocks - 1);
    c->in[5] = f.bias ? tn_draw_in(dtype, (tn_shape){1, {f.n}}) : TN_ABSENT;
    c->n_in = 6;
    c->n_out = 1;
    c->rel = 1e-5;
    return true;
}

TN_CASE_EXPORT(matmul_nbits) {"matmul_nbits", TN_COUNT(forms), make};
