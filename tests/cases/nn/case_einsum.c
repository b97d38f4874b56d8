// SPDX-License-Identifier: Apache-2.0
// Cases of einsum: products of matrices in disguise, diagonals, traces, sums, outer products, broadcast ellipses, implicit results,
// more than two operands; random ones draw the sizes of the letters.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_matmul.h"

// Sizes follow the letters: a .. z in order of the table below; dims of "..." are given.
static const char *const equations[] = {
    "ij,jk->ik",  "bij,bjk->bik", "bhid,bhjd->bhij", "bhij,bhjd->bhid", "bihd,bjhd->bhij", "ij->ji",   "ii->i",        "ii->",
    "ij->",       "ij->j",        "i,j->ij",         "i,i->",           "ij,ij->ij",       "ijk,il->jkl", "a,b,c->abc",
    "ij,jk,kl->il",
    "iij,ji->i",  "ij,jk",        "bca,cb",          "Aa,aB->AB",       " i j , j k -> i k ", ",i->i",  "bhwc,hkc->bhwk",
    "ijk->kij",
};
static const char *const dotted[] = {"...ij,...jk->...ik", "...i->...", "i...,i...->...", "...ii->...i", "...,...", "a...b->b...a"};
enum { EQUATIONS = TN_COUNT(equations), LISTED = EQUATIONS + TN_COUNT(dotted) };

static int64_t size_of(char letter, const int64_t *sizes) { return sizes[(unsigned char)letter % 8]; }

// The operands that an equation's left side asks for; dots are two dims, of which the second operand broadcasts one.
static void add_operands(tn_case *c, const char *text, const int64_t *sizes, tn_dtype dtype)
{
    tn_shape shape = {0};
    for (;; text++) {
        if (*text == ',' || *text == '-' || !*text) {
            c->in[c->n_in++] = tn_draw_in(dtype, shape);
            shape = (tn_shape){0};
            if (*text != ',') {
                return;
            }
        } else if (*text == '.') {
            shape.dims[shape.rank++] = c->n_in == 1 ? 1 : 2;
            shape.dims[shape.rank++] = 3;
            text += 2;
        } else if (*text != ' ') {
            shape.dims[shape.rank++] = size_of(*text, sizes);
        }
    }
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    int64_t sizes[8] = {3, 5, 2, 7, 4, 1, 6, 9};
    const bool listed = i < LISTED;
    const unsigned at = listed ? i : (unsigned)tn_draw_index(r, LISTED);
    for (int k = 0; k < 8 && !listed; k++) {
        sizes[k] = tn_draw_rarely(r) ? 0 : tn_rand_range(r, 1, 12);
    }
    c->op = &tn_op_einsum;
    tn_einsum_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->equation = at < EQUATIONS ? equations[at] : dotted[at - EQUATIONS];
    c->attr = attr;
    c->n_out = 1;
    c->rel = 1e-4;
    c->abs = 1e-6;
    add_operands(c, attr->equation, sizes, listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_NUMBERS));
    return true;
}

TN_CASE_EXPORT(einsum){"einsum", LISTED, make};
