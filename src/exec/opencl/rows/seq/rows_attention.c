// SPDX-License-Identifier: Apache-2.0
// Attention as one kernel (and one for each cache that grows), and rotary embedding.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/op_facts.h"
#include "ops/seq/op_attention.h"

#include <math.h>
#include <stdio.h>

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID };

#define MAX_SIZE 1024         // elements of a head that lie in local memory, times four queries
#define CHUNK 128
#define MAX_EACH 16           // columns of the result that one item keeps

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

// A tensor of heads: [batch, heads, length, size] or [batch, length, heads * size].
typedef struct heads {
    int64_t batch, heads, length, size;
    int64_t step[3];          // elements between batches, heads, rows
} heads;

static heads heads_of(const tn_shape *shape, int64_t num_heads)
{
    const int64_t *d = shape->dims;
    if (shape->rank == 3) {
        const int64_t n = TN_MAX(num_heads, 1), size = d[2] / n;
        return (heads){d[0], n, d[1], size, {d[1] * d[2], size, d[2]}};
    }
    return (heads){d[0], d[1], d[2], d[3], {d[1] * d[2] * d[3], d[2] * d[3], d[3]}};
}

static void step_defines(tn_cl_build *b, const char *name, const heads *h)
{
    static const char kinds[] = "BHR";
    for (int i = 0; i < 3; i++) {
        char text[16];
        (void)snprintf(text, sizeof text, "%s_%c", name, kinds[i]);
        tn_cl_define(b, text, "(%lld)", (long long)h->step[i]);
    }
}

static bool match_attention(const tn_query *query, const char **why)
{
    const tn_attention_attr *attr = query->attr;
    for (int i = 0; i < query->n_in; i++) {
        const bool mask = i == MASK, index = i == VALID;
        if (query->in[i] && query->in[i]->dtype != TN_F32 && !(mask && query->in[i]->dtype == TN_BOOL) && !index) {
            *why = "only float32 has a kernel, and masks of float32 or bool";
            return false;
        }
    }
    if (query->n_out > 3 && query->out[3]) {
        *why = "the scores are never in memory";
        return false;
    }
    const heads q = heads_of(&query->in[Q]->shape, attr->q_num_heads), v = heads_of(&query->in[V]->shape, attr->kv_num_heads);
    *why = "heads too large for local memory, a window or a cap out of range";
    return q.size <= MAX_SIZE && v.size <= MAX_SIZE && attr->left_window < INT32_MAX / 2 && attr->right_window < INT32_MAX / 2 && isfinite(attr->softcap) &&
           attr->softcap < 1e30;
}

// Keys or values with the cache before them, in memory of their own: the result `present`, or scratch where nobody wants it.
static tn_cl_mem *joined(tn_cl_build *b, tn_cl_value *x, tn_cl_value *cache, tn_cl_value *present, heads *h)
{
    const int64_t past = cache ? cache->shape.dims[2] : 0, total = past + h->length;
    tn_cl_mem *from = tn_cl_plain(b, x), *old = past ? tn_cl_plain(b, cache) : NULL;
    tn_cl_mem *to = present ? tn_cl_new_plain(b, present) : tn_cl_take_plain(b, (size_t)(h->batch * h->heads * total * h->size) * sizeof(float));
    tn_cl_begin(b, "join_heads");
    tn_cl_in(b, "float", "x", from);
    if (past) {
        tn_cl_in(b, "float", "cache", old);
        tn_cl_define(b, "CACHED", "1");
        tn_cl_int(b, "past", past);
    }
    tn_cl_out(b, "float", "y", to);
    step_defines(b, "X", h);
    tn_cl_int(b, "heads", h->heads);
    tn_cl_end(b, (size_t)h->size, (size_t)total, (size_t)(h->batch * h->heads));
    *h = (heads){h->batch, h->heads, total, h->size, {h->heads * total * h->size, total * h->size, h->size}};
    return to;
}

static void mask_args(tn_cl_build *b, const tn_tensor *mask, tn_cl_mem *mem)
{
    int64_t dims[4] = {1, 1, 1, 1};
    for (int i = 0; i < mask->shape.rank; i++) {
        dims[4 - mask->shape.rank + i] = mask->shape.dims[i];
    }
    const heads steps = {.step = {dims[0] > 1 ? dims[1] * dims[2] * dims[3] : 0, dims[1] > 1 ? dims[2] * dims[3] : 0, dims[2] > 1 ? dims[3] : 0}};
    tn_cl_in(b, tn_cl_type(mask->dtype), "mask", mem);
    tn_cl_define(b, "MASKED", "1");
    if (mask->dtype == TN_BOOL) {
        tn_cl_define(b, "BOOL_MASK", "1");
    }
    step_defines(b, "MASK", &steps);
    tn_cl_int(b, "covered", dims[3]);
}

static void attr_defines(tn_cl_build *b, const tn_attention_attr *attr)
{
    if (attr->is_causal) {
        tn_cl_define(b, "CAUSAL", "1");
    }
    if (attr->left_window >= 0) {
        tn_cl_define(b, "LEFT", "(%lld)", (long long)attr->left_window);
    }
    if (attr->right_window >= 0) {
        tn_cl_define(b, "RIGHT", "(%lld)", (long long)attr->right_window);
    }
    if (attr->softcap > 0) {
        tn_cl_define(b, "CAP", "(%.9ef)", attr->softcap);
    }
}

// Enough items that each keeps few columns of the result.
static size_t parts_for(const tn_cl_build *b, int64_t size)
{
    const size_t most = TN_MIN(b->cl->facts.max_group, (size_t)256);
    size_t parts = b->cl->facts.is_cpu ? 8 : 64;
    while (parts > most) {
        parts /= 2;
    }
    while (parts * 2 <= most && (int64_t)parts * MAX_EACH < size) {
        parts *= 2;
    }
    return parts;
}

static void emit_attention(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_attention_attr *attr = query->attr;
    const heads q = heads_of(&in[Q]->shape, attr->q_num_heads);
    heads k = heads_of(&in[K]->shape, attr->kv_num_heads), v = heads_of(&in[V]->shape, attr->kv_num_heads);
    tn_cl_value *old[2] = {operand(query, PAST_KEY) ? in[PAST_KEY] : NULL, operand(query, PAST_VALUE) ? in[PAST_VALUE] : NULL};
    tn_cl_value *present[2] = {query->n_out > 1 ? out[1] : NULL, query->n_out > 2 ? out[2] : NULL};
    const int64_t past = old[0] ? old[0]->shape.dims[2] : 0;
    tn_cl_mem *queries = tn_cl_plain(b, in[Q]);
    tn_cl_mem *keys = old[0] || present[0] ? joined(b, in[K], old[0], present[0], &k) : tn_cl_plain(b, in[K]);
    tn_cl_mem *values = old[1] || present[1] ? joined(b, in[V], old[1], present[1], &v) : tn_cl_plain(b, in[V]);
    tn_cl_mem *mask = operand(query, MASK) ? tn_cl_plain(b, in[MASK]) : NULL, *valid = operand(query, VALID) ? tn_cl_plain(b, in[VALID]) : NULL;
    tn_cl_mem *bad = valid ? tn_cl_flag(b) : NULL, *to = tn_cl_new_plain(b, out[0]);
    const heads y = heads_of(&out[0]->shape, attr->q_num_heads);
    const size_t parts = parts_for(b, v.size);
    tn_cl_begin(b, "attention");
    tn_cl_in(b, "float", "q", queries);
    tn_cl_in(b, "float", "k", keys);
    tn_cl_in(b, "float", "v", values);
    tn_cl_out(b, "float", "y", to);
    step_defines(b, "Q", &q);
    step_defines(b, "K", &k);
    step_defines(b, "V", &v);
    step_defines(b, "Y", &y);
    if (mask) {
        mask_args(b, query->in[MASK], mask);
    }
    if (valid) {
        tn_cl_in(b, "long", "valid", valid);
        tn_cl_out(b, "int", "bad", bad);
        tn_cl_define(b, "VALID", "1");
    }
    attr_defines(b, attr);
    tn_cl_int(b, "heads", q.heads);
    tn_cl_int(b, "kv_heads", k.heads);
    tn_cl_int(b, "queries", q.length);
    tn_cl_int(b, "total", k.length);
    tn_cl_int(b, "past", past);
    tn_cl_real(b, "scale", attr->has_scale ? attr->scale : 1 / sqrt((double)q.size));
    tn_cl_local(b, "float4", "qs", (size_t)q.size * 16);
    tn_cl_local(b, "float4", "ps", (size_t)CHUNK * 16);
    tn_cl_local(b, "float4", "room", parts * 16);
    tn_cl_define(b, "SIZE", "%lld", (long long)q.size);
    tn_cl_define(b, "VALUE_SIZE", "%lld", (long long)v.size);
    tn_cl_define(b, "CHUNK", "%d", CHUNK);
    tn_cl_define(b, "EACH", "%lld", (long long)TN_CEIL_DIV(v.size, (int64_t)parts));
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)TN_CEIL_DIV(q.length, 4), (size_t)(q.batch * q.heads));
}

static bool match_rotary(const tn_query *query, const char **why)
{
    *why = "only float32 has a kernel";
    return query->in[0]->dtype == TN_F32 && query->in[1]->dtype == TN_F32 && query->in[2]->dtype == TN_F32;
}

static void emit_rotary(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    const tn_rotary_attr *attr = query->attr;
    const heads x = heads_of(&in[0]->shape, attr->num_heads);
    const bool positions = operand(query, 3) != NULL;
    tn_cl_mem *from = tn_cl_plain(b, in[0]), *cosines = tn_cl_plain(b, in[1]), *sines = tn_cl_plain(b, in[2]);
    tn_cl_mem *places = positions ? tn_cl_plain(b, in[3]) : NULL, *bad = positions ? tn_cl_flag(b) : NULL, *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "rotary");
    tn_cl_in(b, "float", "x", from);
    tn_cl_in(b, "float", "cosines", cosines);
    tn_cl_in(b, "float", "sines", sines);
    tn_cl_out(b, "float", "y", to);
    if (positions) {
        tn_cl_in(b, "long", "positions", places);
        tn_cl_out(b, "int", "bad", bad);
        tn_cl_define(b, "POSITIONS", "1");
        tn_cl_int(b, "rows", in[1]->shape.dims[0]);
    }
    if (attr->interleaved) {
        tn_cl_define(b, "INTERLEAVED", "1");
    }
    step_defines(b, "X", &x);
    tn_cl_int(b, "tokens", x.length);
    tn_cl_define(b, "HALF", "(%lld)", (long long)(attr->rotary_dim ? attr->rotary_dim : x.size) / 2);
    tn_cl_end(b, (size_t)x.size, (size_t)x.heads, (size_t)(x.batch * x.length));
}

static const tn_cl_row rows[] = {
    {.op = &tn_op_attention, .match = match_attention, .emit = emit_attention},
    {.op = &tn_op_rotary_embedding, .match = match_rotary, .emit = emit_rotary},
};

TN_CL_EXPORT(attention, rows);
