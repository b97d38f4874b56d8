// SPDX-License-Identifier: Apache-2.0
// Looking up labels: the keys in a hash table, strings by their bytes, numbers by one 64-bit pattern each.
// Ownership: the table is the run's and given back. Threads: any.
#include "ops/text/op_label.h"

#include "base/map.h"
#include "ops/objects.h"
#include "ops/op_facts.h"

#include <math.h>
#include <string.h>

// ---- infer ----

// x: any shape, of the keys' type; keys, values [n]; otherwise: one element
static tn_status infer_label(tn_infer *infer)
{
    int64_t n;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_NUMBER | TN_BIT(STRING)));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_NUMBER | TN_BIT(STRING)));
    TN_TRY(tn_infer_type(infer, 2, TN_SET_ANY));
    TN_TRY(tn_infer_type(infer, 3, TN_SET_ANY));
    TN_TRY(tn_infer_scalar(infer, 3));
    const tn_dtype x = infer->in[0]->dtype, keys = infer->in[1]->dtype, values = infer->in[2]->dtype, other = infer->in[3]->dtype;
    if ((x != TN_NONE && keys != TN_NONE && x != keys) || (values != TN_NONE && other != TN_NONE && values != other)) {
        return tn_infer_fail(infer, "operand 0 is %s and the keys %s, the values are %s and the default %s", tn_dtype_text(x),
                             tn_dtype_text(keys), tn_dtype_text(values), tn_dtype_text(other));
    }
    TN_TRY(tn_infer_rank(infer, 1, 1, 1));
    TN_TRY(tn_infer_rank(infer, 2, 1, 1));
    const tn_shape *k = &infer->in[1]->shape, *v = &infer->in[2]->shape;
    if (k->rank == 1 && v->rank == 1 && !tn_dim_join(k->dims[0], v->dims[0], &n)) {
        return tn_infer_fail(infer, "%lld keys and %lld values", (long long)k->dims[0], (long long)v->dims[0]);
    }
    tn_infer_out(infer, 0, values != TN_NONE ? values : other, &infer->in[0]->shape);
    return TN_OK;
}

// ---- descriptor ----

const tn_op tn_op_label_encoder = {
    .name = "label_encoder", .version = 1, .min_in = 4, .max_in = 4, .min_out = 1, .max_out = 1, .infer = infer_label,
};

// ---- reference ----

// The pattern of a number: equal ones have the same, and so have all NaNs.
static uint64_t pattern(const tn_tensor *x, int64_t i)
{
    uint64_t bits;
    if (!tn_dtype_is_float(x->dtype)) {
        return (uint64_t)tn_dtype_load_i64(x->dtype, x->data, (size_t)i);
    }
    double v = tn_dtype_load(x->dtype, x->data, (size_t)i);
    v = isnan(v) ? (double)NAN : v == 0 ? 0.0 : v;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static uint64_t hash_of(const tn_tensor *x, int64_t i)
{
    if (x->dtype == TN_STRING) {
        const char *text = tn_cell(x, i);
        return tn_hash(text, strlen(text), 0);
    }
    const uint64_t bits = pattern(x, i);
    return tn_hash(&bits, sizeof bits, 0);
}

static bool same(const tn_tensor *a, int64_t i, const tn_tensor *b, int64_t k)
{
    return a->dtype == TN_STRING ? strcmp(tn_cell(a, i), tn_cell(b, k)) == 0 : pattern(a, i) == pattern(b, k);
}

// The place in the table for element i of x: that of an equal key, or a free one (-1). Places hold numbers of keys.
static int64_t *find(int64_t *table, size_t mask, const tn_tensor *keys, const tn_tensor *x, int64_t i)
{
    for (size_t at = (size_t)hash_of(x, i) & mask;; at = (at + 1) & mask) {
        if (table[at] < 0 || same(keys, table[at], x, i)) {
            return &table[at];
        }
    }
}

// x: any shape, keys [n], values [n], otherwise: one element -> the shape of x
static tn_status run_label(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *keys = call->in[1], *values = call->in[2], *y = call->out[0];
    const int64_t n = tn_tensor_count(keys), count = tn_tensor_count(x);
    const size_t size = tn_dtype_bytes(y->dtype);
    size_t places = 16;
    while (places / 2 < (size_t)n) {
        places *= 2;
    }
    int64_t *table = tn_take_zero(call->heap, places, sizeof *table);
    if (!table) {
        return tn_fail_memory(call->diag, call->name, places * sizeof *table);
    }
    memset(table, 0xff, places * sizeof *table);
    for (int64_t k = 0; k < n; k++) {
        *find(table, places - 1, keys, keys, k) = k;
    }
    for (int64_t i = 0; i < count && !tn_cancelled(call); i++) {
        const int64_t k = *find(table, places - 1, keys, x, i);
        memcpy((char *)y->data + (size_t)i * size, k < 0 ? call->in[3]->data : (const char *)values->data + (size_t)k * size, size);
    }
    tn_give(call->heap, table);
    return tn_cancelled(call) ? tn_fail_cancelled(call) : TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {TN_REFERENCE(label_encoder, NULL, run_label)};
static const tn_op *const ops[] = {&tn_op_label_encoder};

TN_EXPORT_OPS(op_label, ops);
TN_EXPORT_KERNELS(op_label, rows);
