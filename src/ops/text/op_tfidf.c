// SPDX-License-Identifier: Apache-2.0
// Counting n-grams: the grams of the pool are put in a hash table, then every gram that begins at every place of x, with every
// distance of its items (1 .. max_skip + 1), is looked up. Grams of one item have no distance and are counted once.
// Ownership: the table is the run's and given back. Threads: any.
#include "ops/text/op_tfidf.h"

#include "base/map.h"
#include "base/num.h"
#include "ops/objects.h"
#include "ops/op_facts.h"

#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const char *const modes[] = {"tf", "idf", "tfidf", NULL};
static const tn_attr attrs[] = {
    {"mode", TN_ATTR_ENUM, offsetof(tn_tf_idf_attr, mode), modes},
    {"min_gram", TN_ATTR_INT, offsetof(tn_tf_idf_attr, min_gram), NULL},
    {"max_gram", TN_ATTR_INT, offsetof(tn_tf_idf_attr, max_gram), NULL},
    {"max_skip", TN_ATTR_INT, offsetof(tn_tf_idf_attr, max_skip), NULL},
    {"counts", TN_ATTR_INTS, offsetof(tn_tf_idf_attr, counts), NULL},
    {"indexes", TN_ATTR_INTS, offsetof(tn_tf_idf_attr, indexes), NULL},
    {"weights", TN_ATTR_REALS, offsetof(tn_tf_idf_attr, weights), NULL},
};

// ---- infer ----

// Where the (i+1)-grams begin and end in the pool of `total` items.
static int64_t section(const tn_tf_idf_attr *attr, int i, int64_t total) { return i < attr->counts.count ? attr->counts.v[i] : total; }

// The sections follow one another inside the pool, and every gram has a column.
static tn_status check_pool(const tn_infer *infer, int64_t total)
{
    const tn_tf_idf_attr *attr = infer->attr;
    int64_t grams = 0;
    for (int i = 0; i < attr->counts.count; i++) {
        const int64_t from = section(attr, i, total), to = section(attr, i + 1, total);
        if (from < 0 || to < from || to > total) {
            return tn_infer_fail(infer, "entry %d of ngram_counts is %lld, the pool has %lld items", i, (long long)from, (long long)total);
        }
        grams += (to - from) / (i + 1);
    }
    if (grams > attr->indexes.count) {
        return tn_infer_fail(infer, "the pool has %lld n-grams, ngram_indexes has %d entries", (long long)grams, attr->indexes.count);
    }
    return TN_OK;
}

static tn_status find_width(const tn_infer *infer, int64_t *width)
{
    const tn_tf_idf_attr *attr = infer->attr;
    *width = 0;
    for (int i = 0; i < attr->indexes.count; i++) {
        const int64_t index = attr->indexes.v[i];
        if (index < 0 || index > INT32_MAX) {
            return tn_infer_fail(infer, "entry %d of ngram_indexes is %lld", i, (long long)index);
        }
        *width = TN_MAX(*width, index + 1);
    }
    if (attr->weights.count > 0 && attr->weights.count < *width && attr->mode != TN_WEIGHT_TF) {
        return tn_infer_fail(infer, "weights has %d entries, the result %lld columns", attr->weights.count, (long long)*width);
    }
    return TN_OK;
}

static tn_status infer_tf_idf(tn_infer *infer)
{
    const tn_tf_idf_attr *attr = infer->attr;
    int64_t width;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_INDEX | TN_BIT(STRING)));
    TN_TRY(tn_infer_type(infer, 1, TN_BIT(I64) | TN_BIT(STRING)));
    TN_TRY(tn_infer_rank(infer, 0, 0, 2));
    TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    const int64_t total = tn_fact_count(infer->in[1]);
    const tn_dtype x = infer->in[0]->dtype, pool = infer->in[1]->dtype;
    if (x != TN_NONE && pool != TN_NONE && (x == TN_STRING) != (pool == TN_STRING)) {
        return tn_infer_fail(infer, "operand 0 is %s, the pool is %s", tn_dtype_text(x), tn_dtype_text(pool));
    }
    if (attr->min_gram < 1 || attr->max_gram < attr->min_gram || attr->max_skip < 0) {
        return tn_infer_fail(infer, "n-grams of %lld to %lld items, %lld skipped", (long long)attr->min_gram, (long long)attr->max_gram,
                             (long long)attr->max_skip);
    }
    if (total >= 0) {
        TN_TRY(check_pool(infer, total));
    }
    TN_TRY(find_width(infer, &width));
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank >= 0) {
        shape.rank = TN_MAX(shape.rank, 1);
        shape.dims[shape.rank - 1] = width;
    }
    tn_infer_out(infer, 0, TN_F32, &shape);
    return TN_OK;
}

// ---- descriptor ----

const tn_op tn_op_tf_idf_vectorizer = {
    .name = "tf_idf_vectorizer", .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = attrs,
    .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_tf_idf_attr), .infer = infer_tf_idf,
};

// ---- reference ----

typedef struct gram {
    uint64_t hash;
    int64_t first;               // in the pool
    int64_t size;                // items; 0: a free place
    int64_t column;
} gram;

typedef struct table {
    const tn_call *call;
    gram *grams;                 // open addressing
    size_t mask;
    int64_t longest;
} table;

static bool same_item(const tn_tensor *a, int64_t i, const tn_tensor *b, int64_t k)
{
    return a->dtype == TN_STRING ? strcmp(tn_cell(a, i), tn_cell(b, k)) == 0
                                 : tn_dtype_load_i64(a->dtype, a->data, (size_t)i) == tn_dtype_load_i64(b->dtype, b->data, (size_t)k);
}

static uint64_t hash_item(const tn_tensor *x, int64_t i, uint64_t seed)
{
    if (x->dtype == TN_STRING) {
        const char *text = tn_cell(x, i);
        return tn_hash(text, strlen(text) + 1, seed);
    }
    const int64_t v = tn_dtype_load_i64(x->dtype, x->data, (size_t)i);
    return tn_hash(&v, sizeof v, seed);
}

// The place of a gram (items first, first + step, ... of x) in the table: where it is or where it would be.
static gram *find(const table *t, uint64_t hash, const tn_tensor *x, int64_t first, int64_t step, int64_t size)
{
    const tn_tensor *pool = t->call->in[1];
    for (size_t at = (size_t)hash & t->mask;; at = (at + 1) & t->mask) {
        gram *g = &t->grams[at];
        bool same = g->size == 0 || (g->hash == hash && g->size == size);
        for (int64_t i = 0; i < g->size && same; i++) {
            same = same_item(x, first + i * step, pool, g->first + i);
        }
        if (same) {
            return g;
        }
    }
}

static tn_status fill_table(table *t)
{
    const tn_tf_idf_attr *attr = t->call->attr;
    const tn_tensor *pool = t->call->in[1];
    const int64_t total = tn_tensor_count(pool);
    size_t places = 16;
    while (places < 2 * (size_t)attr->indexes.count) {
        places *= 2;
    }
    t->mask = places - 1;
    t->grams = tn_take_zero(t->call->heap, places, sizeof *t->grams);
    if (!t->grams) {
        return tn_fail_memory(t->call->diag, t->call->name, places * sizeof *t->grams);
    }
    int number = 0;
    for (int i = 0; i < attr->counts.count; i++) {
        const int64_t from = section(attr, i, total), size = i + 1;
        const int64_t count = (section(attr, i + 1, total) - from) / size;
        for (int64_t g = 0; g < count; g++, number++) {
            if (size < attr->min_gram || size > attr->max_gram) {
                continue;
            }
            uint64_t hash = 0;
            for (int64_t k = 0; k < size; k++) {
                hash = hash_item(pool, from + g * size + k, hash);
            }
            *find(t, hash, pool, from + g * size, 1, size) = (gram){hash, from + g * size, size, attr->indexes.v[number]};
            t->longest = size;
        }
    }
    return TN_OK;
}

// Grams of items first, first + step, ... below end.
static void count_from(const table *t, int64_t first, int64_t end, int64_t step, float *row)
{
    const tn_tf_idf_attr *attr = t->call->attr;
    const tn_tensor *x = t->call->in[0];
    const int64_t shortest = step > 1 ? TN_MAX(attr->min_gram, 2) : attr->min_gram;
    uint64_t hash = 0;
    int64_t at = first;
    for (int64_t size = 1; size <= t->longest && at < end; size++, at += step) {
        hash = hash_item(x, at, hash);
        const gram *g = size >= shortest ? find(t, hash, x, first, step, size) : NULL;
        if (g && g->size > 0) {
            row[g->column] += 1;
        }
    }
}

static tn_status count_row(const table *t, int64_t begin, int64_t end, float *row)
{
    const tn_tf_idf_attr *attr = t->call->attr;
    const int64_t farthest = t->longest < 2 ? 0 : TN_MIN(attr->max_skip, end - begin);   // beyond the row there is nothing
    for (int64_t skip = 0; skip <= farthest; skip++) {
        for (int64_t first = begin; first < end; first++) {
            if (tn_cancelled(t->call)) {
                return tn_fail_cancelled(t->call);
            }
            count_from(t, first, end, skip + 1, row);
        }
    }
    return TN_OK;
}

// A count becomes its weight.
static void weigh(const tn_tf_idf_attr *attr, float *row, int64_t width)
{
    for (int64_t i = 0; i < width && attr->mode != TN_WEIGHT_TF; i++) {
        const float weight = attr->weights.count > 0 ? attr->weights.v[i] : 1.0f;
        row[i] = attr->mode == TN_WEIGHT_TFIDF ? row[i] * weight : row[i] > 0 ? weight : 0.0f;
    }
}

// x [C] or [B, C], pool [items] -> [width] or [B, width]
static tn_status run_tf_idf(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *y = call->out[0];
    const int64_t width = y->shape.dims[y->shape.rank - 1], rows = x->shape.rank == 2 ? x->shape.dims[0] : 1;
    const int64_t length = x->shape.rank > 0 ? x->shape.dims[x->shape.rank - 1] : 1;
    table t = {.call = call};
    tn_status status = TN_OK;
    if (tn_tensor_count(y) == 0) {
        return TN_OK;
    }
    memset(y->data, 0, (size_t)tn_tensor_count(y) * sizeof(float));
    TN_GO(fill_table(&t));
    for (int64_t r = 0; r < rows; r++) {
        float *row = (float *)y->data + r * width;
        TN_GO(count_row(&t, r * length, (r + 1) * length, row));
        weigh(call->attr, row, width);
    }
done:
    tn_give(call->heap, t.grams);
    return status;
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(tf_idf_vectorizer, NULL, run_tf_idf)};
static const tn_op *const ops[] = {&tn_op_tf_idf_vectorizer};

TN_EXPORT_OPS(op_tfidf, ops);
TN_EXPORT_KERNELS(op_tfidf, rows);
