// SPDX-License-Identifier: Apache-2.0
// Cases of tf_idf_vectorizer on integers: grams of one and two items, the three weightings, skipped items.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/text/op_tfidf.h"

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const int64_t pool[] = {2, 3, 5, 4, 5, 6, 7, 8, 6, 7}, counts[] = {0, 4}, indexes[] = {0, 1, 2, 3, 4, 5, 6};
    static const float weights[] = {0.5f, 1, 2, 3, 0, 1.5f, 4};
    tn_tf_idf_attr *attr = tn_case_attr(arena, &tn_op_tf_idf_vectorizer);
    if (!attr) {
        return false;
    }
    attr->mode = (int)tn_draw_index(r, 3);
    attr->min_gram = tn_rand_range(r, 1, 2);
    attr->max_gram = tn_rand_range(r, attr->min_gram, 3);
    attr->max_skip = i == 0 ? INT64_MAX : tn_draw_index(r, 6);
    attr->counts = (tn_ints){counts, TN_COUNT(counts), true};
    attr->indexes = (tn_ints){indexes, TN_COUNT(indexes), true};
    if (tn_rand_bool(r)) {
        attr->weights = (tn_reals){weights, TN_COUNT(weights), true};
    }
    c->op = &tn_op_tf_idf_vectorizer;
    c->attr = attr;
    c->n_in = 2;
    c->n_out = 1;
    c->in[0] = tn_draw_in(tn_rand_bool(r) ? TN_I64 : TN_I32, tn_draw_shape(r, 0, 2));
    c->in[0].low = 2;
    c->in[0].high = 9;
    c->in[1] = tn_draw_list(arena, TN_COUNT(pool), pool);
    return c->in[1].ints != NULL;
}

TN_CASE_EXPORT(tfidf) {"tfidf", 1, make};
