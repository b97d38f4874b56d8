// SPDX-License-Identifier: Apache-2.0
// Attention and rotary position embedding (ONNX Attention 25, RotaryEmbedding 23). The reference takes blocks of 16 queries of one
// head: scores of the block against all keys, softmax of each row, then the weighted sum of the values.
// Ownership: const data. Threads: any.
#include "ops/seq/op_attention.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr attention_attrs[] = {
    {"q_num_heads", TN_ATTR_INT, offsetof(tn_attention_attr, q_num_heads), NULL},
    {"kv_num_heads", TN_ATTR_INT, offsetof(tn_attention_attr, kv_num_heads), NULL},
    {"scale", TN_ATTR_REAL, offsetof(tn_attention_attr, scale), NULL},
    {"has_scale", TN_ATTR_BOOL, offsetof(tn_attention_attr, has_scale), NULL},
    {"softcap", TN_ATTR_REAL, offsetof(tn_attention_attr, softcap), NULL},
    {"is_causal", TN_ATTR_BOOL, offsetof(tn_attention_attr, is_causal), NULL},
    {"left_window", TN_ATTR_INT, offsetof(tn_attention_attr, left_window), NULL},
    {"right_window", TN_ATTR_INT, offsetof(tn_attention_attr, right_window), NULL},
    {"qk_output_mode", TN_ATTR_INT, offsetof(tn_attention_attr, qk_output_mode), NULL},
    {"softmax_precision", TN_ATTR_DTYPE, offsetof(tn_attention_attr, softmax_precision), NULL},
};
static const tn_attention_attr attention_defaults = {.left_window = -1, .right_window = -1};

static const tn_attr rotary_attrs[] = {
    {"num_heads", TN_ATTR_INT, offsetof(tn_rotary_attr, num_heads), NULL},
    {"rotary_dim", TN_ATTR_INT, offsetof(tn_rotary_attr, rotary_dim), NULL},
    {"interleaved", TN_ATTR_BOOL, offsetof(tn_rotary_attr, interleaved), NULL},
};
static const tn_rotary_attr rotary_defaults = {0};

enum { Q, K, V, MASK, PAST_KEY, PAST_VALUE, VALID };   // operands of attention

// ---- infer ----

// A tensor of heads, whichever of the two shapes it has: [batch][heads][length][size] or [batch][length][heads * size].
typedef struct heads {
    const tn_tensor *tensor;     // in kernels
    bool packed;                 // rank 3
    int64_t batch, heads, length, size;
} heads;

// Dims may be unknown. Returns a broken rule.
static const char *heads_of(const tn_shape *shape, int64_t num_heads, heads *h)
{
    *h = (heads){.batch = shape->dims[0], .heads = shape->dims[1], .length = shape->dims[2], .size = shape->dims[3]};
    if (shape->rank != 3) {
        return NULL;
    }
    h->packed = true;
    if (num_heads < 1) {
        return "operands of rank 3 need the number of heads as attribute";
    }
    h->heads = num_heads;
    h->length = shape->dims[1];
    h->size = TN_DIM_UNKNOWN;
    if (tn_dim_known(shape->dims[2])) {
        h->size = shape->dims[2] / num_heads;
        return shape->dims[2] % num_heads ? "the last dim is not a multiple of the number of heads" : NULL;
    }
    return NULL;
}

// The shapes of a call, as far as known.
typedef struct sizes {
    heads q, k, v;
    int64_t past, total;         // keys of the cache; of cache and k together
} sizes;

static const char *sizes_of(const tn_attention_attr *attr, const tn_shape *q, const tn_shape *k, const tn_shape *v,
                            const tn_shape *past, sizes *s)
{
    const char *wrong_q = heads_of(q, attr->q_num_heads, &s->q), *wrong_k = heads_of(k, attr->kv_num_heads, &s->k);
    const char *wrong_v = heads_of(v, attr->kv_num_heads, &s->v);
    s->past = past ? past->rank == 4 ? past->dims[2] : TN_DIM_UNKNOWN : 0;
    s->total = s->past == 0 ? s->k.length : TN_DIM_UNKNOWN;
    if (tn_dim_known(s->past) && tn_dim_known(s->k.length) && !tn_add_i64(s->past, s->k.length, &s->total)) {
        return "too many keys";
    }
    return wrong_q ? wrong_q : wrong_k ? wrong_k : wrong_v;
}

static tn_status check_attention_attr(const tn_infer *infer, const tn_attention_attr *attr)
{
    if (attr->left_window < -1 || attr->right_window < -1) {
        return tn_infer_fail(infer, "a window size must be -1 or not negative");
    }
    if (attr->qk_output_mode < TN_QK_RAW || attr->qk_output_mode > TN_QK_SOFTMAX) {
        return tn_infer_fail(infer, "qk_matmul_output_mode is %lld, expected 0 to 3", (long long)attr->qk_output_mode);
    }
    if (!tn_infer_in(infer, PAST_KEY) != !tn_infer_in(infer, PAST_VALUE)) {
        return tn_infer_fail(infer, "past_key and past_value must be given together");
    }
    if (tn_infer_in(infer, PAST_KEY) && tn_infer_in(infer, VALID)) {
        return tn_infer_fail(infer, "nonpad_kv_seqlen cannot be combined with a cache");
    }
    if (!(attr->softcap >= 0)) {
        return tn_infer_fail(infer, "softcap is %g, expected a number that is not negative", attr->softcap);
    }
    return TN_OK;
}

static tn_status check_attention_types(const tn_infer *infer)
{
    for (int i = Q; i <= V; i++) {
        TN_TRY(tn_infer_type(infer, i, TN_SET_FLOAT));
        TN_TRY(tn_infer_rank(infer, i, 3, 4));
    }
    TN_TRY(tn_infer_like(infer, K, Q));
    TN_TRY(tn_infer_optional(infer, MASK, TN_SET_NUMBER | TN_BIT(BOOL)));
    TN_TRY(tn_infer_optional(infer, PAST_KEY, TN_SET_FLOAT));
    TN_TRY(tn_infer_like(infer, PAST_KEY, K));
    TN_TRY(tn_infer_optional(infer, PAST_VALUE, TN_SET_FLOAT));
    TN_TRY(tn_infer_like(infer, PAST_VALUE, V));
    return tn_infer_optional(infer, VALID, TN_BIT(I64));
}

// Joins two dims that must be equal, or fails with what they are.
static tn_status same_dim(const tn_infer *infer, const char *what, int64_t a, int64_t b, int64_t *out)
{
    return tn_dim_join(a, b, out) ? TN_OK : tn_infer_fail(infer, "%s differs: %lld and %lld", what, (long long)a, (long long)b);
}

static tn_status check_sizes(const tn_infer *infer, sizes *s)
{
    TN_TRY(same_dim(infer, "the batch of q and k", s->q.batch, s->k.batch, &s->q.batch));
    TN_TRY(same_dim(infer, "the batch of q and v", s->q.batch, s->v.batch, &s->q.batch));
    TN_TRY(same_dim(infer, "the head size of q and k", s->q.size, s->k.size, &s->q.size));
    TN_TRY(same_dim(infer, "the number of heads of k and v", s->k.heads, s->v.heads, &s->k.heads));
    TN_TRY(same_dim(infer, "the length of k and v", s->k.length, s->v.length, &s->k.length));
    if (tn_dim_known(s->q.heads) && tn_dim_known(s->k.heads) && (s->k.heads < 1 || s->q.heads % s->k.heads != 0)) {
        return tn_infer_fail(infer, "%lld query heads cannot share %lld key heads", (long long)s->q.heads, (long long)s->k.heads);
    }
    const tn_shape past_key = {.rank = 4, .dims = {s->q.batch, s->k.heads, s->past, s->q.size}};
    const tn_shape past_value = {.rank = 4, .dims = {s->q.batch, s->k.heads, s->past, s->v.size}};
    TN_TRY(tn_infer_shape(infer, PAST_KEY, &past_key));
    TN_TRY(tn_infer_shape(infer, PAST_VALUE, &past_value));
    TN_TRY(tn_infer_vector(infer, VALID, s->q.batch));
    // The mask's last dim may be shorter than the number of keys.
    const tn_fact *mask = tn_infer_in(infer, MASK);
    tn_shape scores = {.rank = 4, .dims = {s->q.batch, s->q.heads, s->q.length, s->total}};
    if (mask && mask->shape.rank == 0) {
        return tn_infer_fail(infer, "the mask is a scalar");
    }
    if (mask && mask->shape.rank > 0) {
        const int64_t last = mask->shape.dims[mask->shape.rank - 1];
        if (tn_dim_known(last) && tn_dim_known(s->total) && last > s->total) {
            return tn_infer_fail(infer, "the mask covers %lld keys, but there are %lld", (long long)last, (long long)s->total);
        }
        scores.dims[3] = last;
        TN_TRY(tn_infer_fits(infer, MASK, &scores));
    }
    return TN_OK;
}

static tn_status infer_attention(tn_infer *infer)
{
    const tn_attention_attr *attr = infer->attr;
    const tn_shape unknown = tn_shape_unknown();
    TN_TRY(check_attention_types(infer));
    TN_TRY(check_attention_attr(infer, attr));
    const tn_dtype type = infer->in[Q]->dtype, value_type = infer->in[V]->dtype;
    const tn_shape *q = &infer->in[Q]->shape, *k = &infer->in[K]->shape, *v = &infer->in[V]->shape;
    if (q->rank < 0 || k->rank < 0 || v->rank < 0) {
        for (int i = 0; i < 4; i++) {
            tn_infer_out(infer, i, i == 2 ? value_type : type, &unknown);
        }
        return TN_OK;
    }
    sizes s;
    const tn_fact *past = tn_infer_in(infer, PAST_KEY);
    const char *wrong = sizes_of(attr, q, k, v, past ? &past->shape : NULL, &s);
    if (wrong || q->rank != k->rank || q->rank != v->rank) {
        return tn_infer_fail(infer, "%s", wrong ? wrong : "q, k and v differ in rank");
    }
    TN_TRY(check_sizes(infer, &s));
    tn_shape y = {.rank = 4, .dims = {s.q.batch, s.q.heads, s.q.length, s.v.size}};
    if (q->rank == 3) {
        y = (tn_shape){.rank = 3, .dims = {s.q.batch, s.q.length, TN_DIM_UNKNOWN}};
        if (!tn_dim_times(s.v.size, s.q.heads, &y.dims[2])) {
            return tn_infer_fail(infer, "the result is too large");
        }
    }
    const tn_shape key = {.rank = 4, .dims = {s.q.batch, s.k.heads, s.total, s.q.size}};
    const tn_shape value = {.rank = 4, .dims = {s.q.batch, s.k.heads, s.total, s.v.size}};
    const tn_shape scores = {.rank = 4, .dims = {s.q.batch, s.q.heads, s.q.length, s.total}};
    tn_infer_out(infer, 0, type, &y);
    tn_infer_out(infer, 1, type, &key);
    tn_infer_out(infer, 2, value_type, &value);
    tn_infer_out(infer, 3, type, &scores);
    return TN_OK;
}

static int64_t macs_attention(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    sizes s;
    (void)out, (void)n_out;
    int64_t macs = 1;
    sizes_of(attr, &in[Q]->shape, &in[K]->shape, &in[V]->shape, n_in > PAST_KEY && in[PAST_KEY] ? &in[PAST_KEY]->shape : NULL, &s);
    const int64_t factors[] = {s.q.batch, s.q.heads, s.q.length, s.total};
    bool fits = tn_add_i64(s.q.size, s.v.size, &macs);
    for (size_t i = 0; fits && i < TN_COUNT(factors); i++) {
        fits = tn_mul_i64(macs, factors[i], &macs);
    }
    return fits ? macs : INT64_MAX;
}

static tn_status infer_rotary(tn_infer *infer)
{
    const tn_rotary_attr *attr = infer->attr;
    tn_dtype dtype;
    heads x;
    TN_TRY(tn_infer_types(infer, 0, 2, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_optional(infer, 3, TN_BIT(I64)));
    TN_TRY(tn_infer_rank(infer, 0, 3, 4));
    const tn_shape *shape = &infer->in[0]->shape;
    tn_infer_out(infer, 0, dtype, shape);
    if (shape->rank < 0) {
        return TN_OK;
    }
    const char *wrong = heads_of(shape, attr->num_heads, &x);
    if (wrong) {
        return tn_infer_fail(infer, "%s", wrong);
    }
    const int64_t turned = attr->rotary_dim ? attr->rotary_dim : x.size;
    // the lowest numbers would read as a dim that is not known
    if (attr->rotary_dim < 0 ||
        (tn_dim_known(turned) && (turned < 0 || turned % 2 != 0 || (tn_dim_known(x.size) && turned > x.size)))) {
        return tn_infer_fail(infer, "rotary_embedding_dim is %lld, expected an even number of at most the head size",
                             (long long)turned);
    }
    const int64_t half = tn_dim_known(turned) ? turned / 2 : TN_DIM_UNKNOWN;
    const tn_shape positions = {.rank = 2, .dims = {x.batch, x.length}};
    const tn_shape by_position = {.rank = 2, .dims = {TN_DIM_UNKNOWN, half}},
        by_token = {.rank = 3, .dims = {x.batch, x.length, half}};
    TN_TRY(tn_infer_shape(infer, 3, &positions));
    for (int i = 1; i < 3; i++) {
        TN_TRY(tn_infer_shape(infer, i, tn_infer_in(infer, 3) ? &by_position : &by_token));
    }
    if (!tn_shape_join(&infer->in[1]->shape, &infer->in[2]->shape, &(tn_shape){0})) {
        return tn_infer_fail(infer, "cos and sin differ in shape");
    }
    return TN_OK;
}

// ---- reference: attention ----

enum { BLOCK = 16 };   // queries of one item

typedef struct attention_job {
    const tn_call *call;
    const tn_attention_attr *attr;
    sizes s;
    double scale;                // of the products
    double root;                 // its root, by which the 16-bit types scale q and k beforehand
    tn_dtype step;               // a 16-bit type that every step rounds to, as ONNX's function does; TN_NONE: one rounding
} attention_job;

static double narrow(tn_dtype step, double v) { return step == TN_NONE ? v : tn_dtype_round(step, v); }

// First element of row `at` of head `head`.
static int64_t head_row(const heads *h, int64_t batch, int64_t head, int64_t at)
{
    return h->packed ? ((batch * h->length + at) * h->heads + head) * h->size
        : ((batch * h->heads + head) * h->length + at) * h->size;
}

// Row `at` of keys or values: from the cache first, then from the operand.
static void load_cached(const attention_job *job, const heads *h, int past, int64_t batch, int64_t head, int64_t at, double *row)
{
    const tn_tensor *cache = tn_call_in(job->call, past);
    if (at < job->s.past) {
        tn_row_load(cache->dtype, cache->data, ((batch * h->heads + head) * job->s.past + at) * h->size, 1, h->size, row);
    } else {
        tn_row_load(h->tensor->dtype, h->tensor->data, head_row(h, batch, head, at - job->s.past), 1, h->size, row);
    }
}

// Keys that query `i` of a batch element may see by causality, windows and padding: *low .. *high-1.
static void visible(const attention_job *job, int64_t batch, int64_t i, int64_t *low, int64_t *high)
{
    const tn_attention_attr *attr = job->attr;
    const tn_tensor *valid = tn_call_in(job->call, VALID);
    const int64_t known = valid ? tn_dtype_load_i64(valid->dtype, valid->data, (size_t)batch) : job->s.total;
    const int64_t position = (valid ? known - job->s.q.length : job->s.past) + i;   // in the keys
    *low = 0;
    *high = TN_MIN(known, job->s.total);
    if (attr->is_causal) {
        *high = TN_MIN(*high, position + 1);
    }
    if (attr->left_window >= 0) {
        *low = attr->left_window < position ? position - attr->left_window : 0;
    }
    if (attr->right_window >= 0 && attr->right_window < job->s.total) {
        *high = TN_MIN(*high, position + attr->right_window + 1);
    }
}

// bias[j]: what is added to the score of key j; -inf where it may not be seen. Returns false when none may be.
static bool fill_bias(const attention_job *job, int64_t batch, int64_t head, int64_t i, double *bias)
{
    const tn_tensor *mask = tn_call_in(job->call, MASK);
    const sizes *s = &job->s;
    int64_t low, high, covered = s->total, start = 0;
    bool any = false;
    visible(job, batch, i, &low, &high);
    if (mask) {
        const int rank = mask->shape.rank;
        covered = mask->shape.dims[rank - 1];
        const tn_shape scores = {.rank = 4, .dims = {s->q.batch, s->q.heads, s->q.length, covered}};
        int64_t step;
        start = tn_broadcast_row(&mask->shape, &scores, (batch * s->q.heads + head) * s->q.length + i, &step);
    }
    for (int64_t j = 0; j < s->total; j++) {
        const bool seen = j >= low && j < high && j < covered;
        const double v = !seen || !mask ? 0 : tn_element(mask, start + j);
        bias[j] = !seen || (mask && mask->dtype == TN_BOOL && v == 0) ? -INFINITY : mask && mask->dtype != TN_BOOL ? v : 0;
        any |= bias[j] != -INFINITY;
    }
    return any;
}

static void softmax_row(double *row, int64_t count, bool any, tn_dtype step)
{
    double top = -INFINITY, sum = 0;
    for (int64_t j = 0; j < count; j++) {
        top = row[j] > top ? row[j] : top;
    }
    for (int64_t j = 0; j < count; j++) {
        row[j] = !any || top == -INFINITY ? 0 : narrow(step, exp(narrow(step, row[j] - top)));
        sum = narrow(step == TN_BF16 ? step : TN_NONE, sum + row[j]);   // float16 sums stay wide, as in numpy
    }
    sum = narrow(step, sum);
    for (int64_t j = 0; j < count && sum != 0; j++) {
        row[j] = narrow(step, row[j] / sum);
    }
}

// Scratch of a slot, in doubles: queries [16][D], scores [16][S], results [16][Dv], a row of keys or values, a row of bias [S].
static tn_status prepare_attention(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_tensor *past = query->n_in > PAST_KEY ? query->in[PAST_KEY] : NULL;
    int64_t words, keys;
    size_t bytes;
    sizes s;
    sizes_of(query->attr, &query->in[Q]->shape, &query->in[K]->shape, &query->in[V]->shape, past ? &past->shape : NULL, &s);
    const bool fits = tn_add_i64(s.q.size, s.v.size, &words) && tn_mul_i64(words, BLOCK + 1, &words) &&
                      tn_mul_i64(s.total, BLOCK + 1, &keys) && tn_add_i64(words, keys, &words) &&
                      tn_mul_size((size_t)words, sizeof(double), &bytes);
    return fits ? tn_prepare_slots(prepare, bytes) : tn_fail_memory(prepare->diag, query->name, SIZE_MAX);
}

// The fourth result shows the scores at one stage.
static void show_scores(const attention_job *job, int stage, int64_t row, const double *scores)
{
    tn_tensor *qk = tn_call_out(job->call, 3);
    if (qk && job->attr->qk_output_mode == stage) {
        tn_row_store(qk->dtype, qk->data, row * job->s.total, 1, job->s.total, scores);
    }
}

// Scores of one query, then its probabilities, in place.
static void finish_scores(const attention_job *job, int64_t batch, int64_t head, int64_t i, double *scores, double *bias)
{
    const int64_t row = (batch * job->s.q.heads + head) * job->s.q.length + i;
    const double cap = job->attr->softcap;
    show_scores(job, TN_QK_RAW, row, scores);
    for (int64_t j = 0; cap > 0 && j < job->s.total; j++) {
        scores[j] = narrow(job->step, cap * narrow(job->step, tanh(narrow(job->step, scores[j] / cap))));
    }
    show_scores(job, TN_QK_CAPPED, row, scores);
    const bool any = fill_bias(job, batch, head, i, bias);
    for (int64_t j = 0; j < job->s.total; j++) {
        scores[j] = narrow(job->step, scores[j] + bias[j]);
    }
    show_scores(job, TN_QK_BIASED, row, scores);
    const tn_dtype wide = job->attr->softmax_precision;   // a wider type for the softmax alone
    softmax_row(scores, job->s.total, any, wide == TN_F32 || wide == TN_F64 ? TN_NONE : job->step);
    show_scores(job, TN_QK_SOFTMAX, row, scores);
}

static void scale_row(const attention_job *job, double *row, int64_t count)
{
    for (int64_t i = 0; job->step != TN_NONE && i < count; i++) {
        row[i] = narrow(job->step, row[i] * job->root);
    }
}

// Queries first .. first+count-1 of one head.
static void attend(const attention_job *job, int64_t batch, int64_t head, int64_t first, int64_t count, double *scratch)
{
    const sizes *s = &job->s;
    const heads y = {job->call->out[0], s->q.packed, s->q.batch, s->q.heads, s->q.length, s->v.size};
    const int64_t shared = head / (s->q.heads / s->k.heads), total = s->total;
    double *queries = scratch, *scores = queries + BLOCK * s->q.size, *results = scores + BLOCK * total;
    double *row = results + BLOCK * s->v.size, *bias = row + s->q.size + s->v.size;
    for (int64_t i = 0; i < count; i++) {
        tn_row_load(s->q.tensor->dtype, s->q.tensor->data, head_row(&s->q, batch, head, first + i), 1, s->q.size,
                    queries + i * s->q.size);
    }
    scale_row(job, queries, count * s->q.size);
    for (int64_t j = 0; j < total; j++) {
        load_cached(job, &s->k, PAST_KEY, batch, shared, j, row);
        scale_row(job, row, s->q.size);
        for (int64_t i = 0; i < count; i++) {
            double sum = 0;
            for (int64_t d = 0; d < s->q.size; d++) {
                sum += queries[i * s->q.size + d] * row[d];
            }
            scores[i * total + j] = job->step == TN_NONE ? sum * job->scale : narrow(job->step, sum);
        }
    }
    for (int64_t i = 0; i < count; i++) {
        finish_scores(job, batch, head, first + i, scores + i * total, bias);
    }
    memset(results, 0, (size_t)(BLOCK * s->v.size) * sizeof *results);
    for (int64_t j = 0; j < total; j++) {
        load_cached(job, &s->v, PAST_VALUE, batch, shared, j, row);
        for (int64_t i = 0; i < count; i++) {
            // A key of no weight does not count, whatever its value is.
            if (scores[i * total + j] != 0) {
                tn_row_add(results + i * s->v.size, row, scores[i * total + j], s->v.size);
            }
        }
    }
    for (int64_t i = 0; i < count; i++) {
        tn_row_store(y.tensor->dtype, y.tensor->data, head_row(&y, batch, head, first + i), 1, y.size, results + i * y.size);
    }
}

static void attention_task(void *context, size_t first, size_t count, unsigned slot)
{
    const attention_job *job = context;
    const int64_t blocks = TN_CEIL_DIV(job->s.q.length, BLOCK);
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count) && !tn_cancelled(job->call); item++) {
        const int64_t i = item % blocks * BLOCK, head = item / blocks % job->s.q.heads, batch = item / blocks / job->s.q.heads;
        attend(job, batch, head, i, TN_MIN(job->s.q.length - i, BLOCK), tn_slot_scratch(job->call, slot));
    }
}

// present [B][H][past + S][size] = cache, then the operand.
static void store_present(const attention_job *job, const heads *h, int past, tn_tensor *present)
{
    const tn_tensor *cache = tn_call_in(job->call, past);
    const size_t bytes = tn_dtype_bytes(h->tensor->dtype) * (size_t)h->size;
    if (!present || tn_tensor_count(present) == 0) {
        return;
    }
    for (int64_t row = 0; row < h->batch * h->heads * job->s.total; row++) {
        const int64_t at = row % job->s.total, head = row / job->s.total % h->heads, batch = row / job->s.total / h->heads;
        const bool old = at < job->s.past;
        const int64_t start = old ? ((batch * h->heads + head) * job->s.past + at) * h->size
            : head_row(h, batch, head, at - job->s.past);
        const char *from = old ? cache->data : h->tensor->data;
        memcpy((char *)present->data + (size_t)row * bytes, from + (size_t)start * tn_dtype_bytes(h->tensor->dtype), bytes);
    }
}

static tn_status run_attention(const tn_call *call)
{
    attention_job job = {.call = call, .attr = call->attr};
    const tn_tensor *past = tn_call_in(call, PAST_KEY), *valid = tn_call_in(call, VALID);
    sizes *s = &job.s;
    sizes_of(job.attr, &call->in[Q]->shape, &call->in[K]->shape, &call->in[V]->shape, past ? &past->shape : NULL, s);
    s->q.tensor = call->in[Q];
    s->k.tensor = call->in[K];
    s->v.tensor = call->in[V];
    job.scale = job.attr->has_scale ? job.attr->scale : 1 / sqrt((double)s->q.size);
    const tn_dtype type = call->in[Q]->dtype;
    job.step = type == TN_F16 || type == TN_BF16 ? type : TN_NONE;
    job.root = narrow(job.step, sqrt(job.scale));
    for (int64_t b = 0; valid && b < s->q.batch; b++) {
        const int64_t length = tn_dtype_load_i64(valid->dtype, valid->data, (size_t)b);
        if (length < 0 || length > s->total) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "attention: nonpad_kv_seqlen %lld is not in 0 .. %lld",
                           (long long)length, (long long)s->total);
        }
    }
    store_present(&job, &s->k, PAST_KEY, tn_call_out(call, 1));
    store_present(&job, &s->v, PAST_VALUE, tn_call_out(call, 2));
    const tn_tensor *qk = tn_call_out(call, 3);
    const bool empty = tn_tensor_count(call->out[0]) == 0 && (!qk || tn_tensor_count(qk) == 0);
    const int64_t items = empty ? 0 : s->q.batch * s->q.heads * TN_CEIL_DIV(s->q.length, BLOCK);
    return tn_call_split(call, attention_task, &job, (size_t)items, 1);
}

// ---- reference: rotary_embedding ----

// Turns one head of one token: pairs (a, b) become (a cos - b sin, a sin + b cos).
static void turn(const tn_rotary_attr *attr, int64_t half, const double *cosines, const double *sines, double *head)
{
    for (int64_t i = 0; i < half; i++) {
        double *a = head + (attr->interleaved ? 2 * i : i), *b = attr->interleaved ? a + 1 : a + half;
        const double real = *a * cosines[i] - *b * sines[i], imaginary = *a * sines[i] + *b * cosines[i];
        *a = real;
        *b = imaginary;
    }
}

static tn_status prepare_rotary(tn_prepare *prepare)
{
    const tn_rotary_attr *attr = prepare->query->attr;
    heads x;
    heads_of(&prepare->query->in[0]->shape, attr->num_heads, &x);
    return tn_prepare_rows(prepare, tn_tensor_count(prepare->query->in[0]) ? 2 * x.size : 0);
}

static tn_status run_rotary(const tn_call *call)
{
    const tn_rotary_attr *attr = call->attr;
    const tn_tensor *cosine = call->in[1], *sine = call->in[2], *positions = tn_call_in(call, 3);
    heads x;
    heads_of(&call->in[0]->shape, attr->num_heads, &x);
    if (tn_tensor_count(call->in[0]) == 0) {
        return TN_OK;
    }
    const int64_t half = (attr->rotary_dim ? attr->rotary_dim : x.size) / 2;
    double *head = tn_slot_scratch(call, 0), *cosines = head + x.size, *sines = cosines + half;
    for (int64_t token = 0; token < x.batch * x.length && !tn_cancelled(call); token++) {
        const int64_t at = positions ? tn_dtype_load_i64(positions->dtype, positions->data, (size_t)token) : token;
        if (positions && (at < 0 || at >= cosine->shape.dims[0])) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "rotary_embedding: position %lld is not in 0 .. %lld",
                           (long long)at, (long long)cosine->shape.dims[0] - 1);
        }
        tn_row_load(cosine->dtype, cosine->data, at * half, 1, half, cosines);
        tn_row_load(sine->dtype, sine->data, at * half, 1, half, sines);
        for (int64_t h = 0; h < x.heads; h++) {
            const int64_t start = head_row(&x, token / x.length, h, token % x.length);
            tn_row_load(call->in[0]->dtype, call->in[0]->data, start, 1, x.size, head);
            turn(attr, half, cosines, sines, head);
            tn_row_store(call->out[0]->dtype, call->out[0]->data, start, 1, x.size, head);
        }
    }
    return tn_call_status(call);
}

// ---- export ----

const tn_op tn_op_attention = {
    .name = "attention", .version = 1, .min_in = 3, .max_in = 7, .min_out = 1, .max_out = 4, .attrs = attention_attrs,
    .n_attrs = TN_COUNT(attention_attrs), .attr_size = sizeof(tn_attention_attr), .defaults = &attention_defaults,
    .infer = infer_attention, .macs = macs_attention,
};
const tn_op tn_op_rotary_embedding = {
    .name = "rotary_embedding", .version = 1, .flags = TN_OP_INPLACE, .min_in = 3, .max_in = 4, .min_out = 1, .max_out = 1,
    .attrs = rotary_attrs, .n_attrs = TN_COUNT(rotary_attrs), .attr_size = sizeof(tn_rotary_attr), .defaults = &rotary_defaults,
    .infer = infer_rotary,
};

static const tn_op *const ops[] = {&tn_op_attention, &tn_op_rotary_embedding};
TN_EXPORT_OPS(op_attention, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(attention, prepare_attention, run_attention),
    TN_REFERENCE_SCRATCH(rotary_embedding, prepare_rotary, run_rotary),
};
TN_EXPORT_KERNELS(op_attention, rows);
