// SPDX-License-Identifier: Apache-2.0
// Linear attention and causal convolution with state. The references take one head, or one channel, of one batch element from its
// first step to its last.
// Ownership: const data. Threads: any.
#include "ops/seq/op_stream.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const char *const rule_texts[] = {"linear", "gated", "delta", "gated_delta", NULL};
static const tn_attr linear_attention_attrs[] = {
    {"q_num_heads", TN_ATTR_INT, offsetof(tn_linear_attention_attr, q_num_heads), NULL},
    {"kv_num_heads", TN_ATTR_INT, offsetof(tn_linear_attention_attr, kv_num_heads), NULL},
    {"rule", TN_ATTR_ENUM, offsetof(tn_linear_attention_attr, rule), rule_texts},
    {"scale", TN_ATTR_REAL, offsetof(tn_linear_attention_attr, scale), NULL},
};
static const tn_linear_attention_attr linear_attention_defaults = {.rule = TN_RULE_GATED_DELTA};

static const tn_attr causal_conv_attrs[] = {{"silu", TN_ATTR_BOOL, offsetof(tn_causal_conv_attr, silu), NULL}};

enum { Q, K, V, PAST, DECAY, BETA };      // operands of linear_attention
enum { X, W, BIAS, STATE };               // operands of causal_conv

// ---- infer ----

static int64_t dim_of(const tn_fact *fact, int i) { return fact && fact->shape.rank > i ? fact->shape.dims[i] : TN_DIM_UNKNOWN; }

// The size of one head in the last dim of operand i.
static tn_status head_size(const tn_infer *infer, int i, int64_t heads, int64_t *size)
{
    const int64_t last = dim_of(infer->in[i], 2);
    *size = tn_dim_known(last) ? last / heads : TN_DIM_UNKNOWN;
    if (tn_dim_known(last) && last % heads != 0) {
        return tn_infer_fail(infer, "operand %d has %lld in its last dim, which %lld heads cannot share", i, (long long)last,
                             (long long)heads);
    }
    return TN_OK;
}

// Operand i, when there, is [batch, steps, a] or [batch, steps, b].
static tn_status check_gate(const tn_infer *infer, int i, int64_t batch, int64_t steps, int64_t a, int64_t b)
{
    int64_t last = dim_of(tn_infer_in(infer, i), 2);
    const bool either = !tn_dim_known(last) || tn_dim_join(last, a, &last) || tn_dim_join(last, b, &last);
    const tn_shape shape = {.rank = 3, .dims = {batch, steps, TN_DIM_UNKNOWN}};
    TN_TRY(tn_infer_shape(infer, i, &shape));
    return either ? TN_OK : tn_infer_fail(infer, "operand %d has %lld in its last dim", i, (long long)last);
}

static tn_status check_linear(const tn_infer *infer, const tn_linear_attention_attr *attr)
{
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, Q, V, TN_SET_FLOAT, &dtype));
    for (int i = Q; i <= BETA; i++) {
        TN_TRY(tn_infer_optional(infer, i, TN_SET_FLOAT));
        TN_TRY(i == PAST ? TN_OK : tn_infer_like(infer, i, Q));
    }
    for (int i = Q; i <= V; i++) {
        TN_TRY(tn_infer_rank(infer, i, 3, 3));
    }
    if (attr->q_num_heads < 1 || attr->kv_num_heads < 1 || attr->q_num_heads % attr->kv_num_heads != 0) {
        return tn_infer_fail(infer, "%lld query heads cannot share %lld key heads", (long long)attr->q_num_heads,
                             (long long)attr->kv_num_heads);
    }
    if (attr->rule < TN_RULE_LINEAR || attr->rule > TN_RULE_GATED_DELTA) {
        return tn_infer_fail(infer, "the update rule is not known");
    }
    const bool gated = attr->rule == TN_RULE_GATED || attr->rule == TN_RULE_GATED_DELTA;
    const bool delta = attr->rule == TN_RULE_DELTA || attr->rule == TN_RULE_GATED_DELTA;
    if ((gated && !tn_infer_in(infer, DECAY)) || (delta && !tn_infer_in(infer, BETA))) {
        const char *missing = gated && !tn_infer_in(infer, DECAY) ? "decay" : "beta";
        return tn_infer_fail(infer, "the update rule %s needs %s", rule_texts[attr->rule], missing);
    }
    return TN_OK;
}

static tn_status infer_linear_attention(tn_infer *infer)
{
    const tn_linear_attention_attr *attr = infer->attr;
    int64_t batch, steps, dq, dk, dv, all_keys, width;
    TN_TRY(check_linear(infer, attr));
    const tn_fact *q = infer->in[Q], *k = infer->in[K], *v = infer->in[V];
    if (!tn_dim_join(dim_of(q, 0), dim_of(k, 0), &batch) || !tn_dim_join(batch, dim_of(v, 0), &batch) ||
        !tn_dim_join(dim_of(q, 1), dim_of(k, 1), &steps) || !tn_dim_join(steps, dim_of(v, 1), &steps)) {
        return tn_infer_fail(infer, "q, k and v differ in batch or steps");
    }
    TN_TRY(head_size(infer, Q, attr->q_num_heads, &dq));
    TN_TRY(head_size(infer, K, attr->kv_num_heads, &dk));
    TN_TRY(head_size(infer, V, attr->kv_num_heads, &dv));
    if (!tn_dim_join(dq, dk, &dk) || !tn_dim_times(dk, attr->kv_num_heads, &all_keys) ||
        !tn_dim_times(dv, attr->q_num_heads, &width)) {
        return tn_infer_fail(infer, "the heads of q and k differ in size");
    }
    const tn_shape state = {.rank = 4, .dims = {batch, attr->kv_num_heads, dk, dv}};
    const tn_shape y = {.rank = 3, .dims = {batch, steps, width}};
    TN_TRY(tn_infer_shape(infer, PAST, &state));
    TN_TRY(check_gate(infer, DECAY, batch, steps, all_keys, attr->kv_num_heads));
    TN_TRY(check_gate(infer, BETA, batch, steps, attr->kv_num_heads, 1));
    const tn_fact *past = tn_infer_in(infer, PAST);
    tn_infer_out(infer, 0, q->dtype, &y);
    tn_infer_out(infer, 1, past ? past->dtype : q->dtype, &state);
    return TN_OK;
}

static tn_status infer_causal_conv(tn_infer *infer)
{
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, X, W, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, X, 3, 3));
    for (int i = BIAS; i <= STATE; i++) {
        TN_TRY(tn_infer_optional(infer, i, TN_SET_FLOAT));
        TN_TRY(tn_infer_like(infer, i, X));
    }
    const tn_fact *x = infer->in[X], *w = infer->in[W];
    const int64_t taps = dim_of(w, 2);
    if (tn_dim_known(taps) && taps < 1) {
        return tn_infer_fail(infer, "the kernel is empty");
    }
    const tn_shape weights = {.rank = 3, .dims = {dim_of(x, 1), 1, TN_DIM_UNKNOWN}};
    const tn_shape state = {.rank = 3, .dims = {dim_of(x, 0), dim_of(x, 1), tn_dim_known(taps) ? taps - 1 : TN_DIM_UNKNOWN}};
    TN_TRY(tn_infer_shape(infer, W, &weights));
    TN_TRY(tn_infer_vector(infer, BIAS, dim_of(x, 1)));
    TN_TRY(tn_infer_shape(infer, STATE, &state));
    tn_infer_out(infer, 0, dtype, &x->shape);
    tn_infer_out(infer, 1, dtype, &state);
    return TN_OK;
}

// ---- reference: linear_attention ----

typedef struct linear_job {
    const tn_call *call;
    const tn_linear_attention_attr *attr;
    int64_t steps, dk, dv;
    double scale;
} linear_job;

// Scratch of a slot: state [dk][dv], key [dk], decay [dk], value [dv], result [dv], query [dk].
static tn_status prepare_linear(tn_prepare *prepare)
{
    const tn_linear_attention_attr *attr = prepare->query->attr;
    const int64_t dk = prepare->query->in[K]->shape.dims[2] / attr->kv_num_heads;
    const int64_t dv = prepare->query->in[V]->shape.dims[2] / attr->kv_num_heads;
    int64_t words;
    size_t bytes;
    const bool fits = tn_mul_i64(dk + 2, dv + 3, &words) && tn_mul_size((size_t)words, sizeof(double), &bytes);
    return fits ? tn_prepare_slots(prepare, bytes) : tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
}

// e^g for each key dim of one step: decay has a number for each, or one for the head; none: 1.
static void load_decay(const linear_job *job, int64_t row, int64_t head, double *factors)
{
    const tn_tensor *decay = tn_call_in(job->call, DECAY);
    const bool gated = job->attr->rule == TN_RULE_GATED || job->attr->rule == TN_RULE_GATED_DELTA;
    const int64_t width = gated ? decay->shape.dims[2] : 0;
    const bool each = gated && width != job->attr->kv_num_heads;
    for (int64_t i = 0; i < job->dk; i++) {
        factors[i] = gated ? exp(tn_element(decay, row * width + (each ? head * job->dk + i : head))) : 1;
    }
}

// Brings the state from one step to the next.
static void update_state(const linear_job *job, int64_t row, int64_t head, const double *factors, const double *key, double *value,
                         double *state)
{
    const bool delta = job->attr->rule == TN_RULE_DELTA || job->attr->rule == TN_RULE_GATED_DELTA;
    const tn_tensor *beta = tn_call_in(job->call, BETA);
    for (int64_t i = 0; i < job->dk; i++) {
        for (int64_t j = 0; j < job->dv; j++) {
            state[i * job->dv + j] *= factors[i];
        }
    }
    for (int64_t i = 0; delta && i < job->dk; i++) {
        tn_row_add(value, state + i * job->dv, -key[i], job->dv);
    }
    if (delta) {
        const int64_t width = beta->shape.dims[2];
        const double rate = tn_element(beta, row * width + (width == 1 ? 0 : head));
        for (int64_t j = 0; j < job->dv; j++) {
            value[j] *= rate;
        }
    }
    for (int64_t i = 0; i < job->dk; i++) {
        tn_row_add(state + i * job->dv, value, key[i], job->dv);
    }
}

// One item is one key head of one batch element.
static void linear_task(void *context, size_t first, size_t count, unsigned slot)
{
    const linear_job *job = context;
    const tn_call *call = job->call;
    const int64_t dk = job->dk, dv = job->dv, kv = job->attr->kv_num_heads, shared = job->attr->q_num_heads / kv;
    const tn_tensor *past = tn_call_in(call, PAST), *q = call->in[Q], *k = call->in[K], *v = call->in[V];
    tn_tensor *y = tn_call_out(call, 0), *present = tn_call_out(call, 1);
    double *state = tn_slot_scratch(call, slot), *key = state + dk * dv, *factors = key + dk, *query = factors + dk;
    double *value = query + dk, *result = value + dv;
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count) && !tn_cancelled(call); item++) {
        const int64_t batch = item / kv, head = item % kv;
        memset(state, 0, (size_t)(dk * dv) * sizeof *state);
        if (past) {
            tn_row_load(past->dtype, past->data, item * dk * dv, 1, dk * dv, state);
        }
        for (int64_t t = 0; t < job->steps; t++) {
            const int64_t row = batch * job->steps + t;
            tn_row_load(k->dtype, k->data, (row * kv + head) * dk, 1, dk, key);
            tn_row_load(v->dtype, v->data, (row * kv + head) * dv, 1, dv, value);
            load_decay(job, row, head, factors);
            update_state(job, row, head, factors, key, value, state);
            for (int64_t h = head * shared; y && h < (head + 1) * shared; h++) {
                memset(result, 0, (size_t)dv * sizeof *result);
                tn_row_load(q->dtype, q->data, (row * kv * shared + h) * dk, 1, dk, query);
                for (int64_t i = 0; i < dk; i++) {
                    tn_row_add(result, state + i * dv, job->scale * query[i], dv);
                }
                tn_row_store(y->dtype, y->data, (row * kv * shared + h) * dv, 1, dv, result);
            }
        }
        if (present) {
            tn_row_store(present->dtype, present->data, item * dk * dv, 1, dk * dv, state);
        }
    }
}

static tn_status run_linear_attention(const tn_call *call)
{
    linear_job job = {.call = call, .attr = call->attr, .steps = call->in[Q]->shape.dims[1]};
    job.dk = call->in[K]->shape.dims[2] / job.attr->kv_num_heads;
    job.dv = call->in[V]->shape.dims[2] / job.attr->kv_num_heads;
    job.scale = job.attr->scale != 0 ? job.attr->scale : 1 / sqrt((double)job.dk);
    const int64_t items = job.dk > 0 && job.dv > 0 ? call->in[Q]->shape.dims[0] * job.attr->kv_num_heads : 0;
    return tn_call_split(call, linear_task, &job, (size_t)items, 1);
}

// ---- reference: causal_conv ----

// Scratch: state and x in one row, results, weights.
static tn_status prepare_causal_conv(tn_prepare *prepare)
{
    const int64_t length = prepare->query->in[X]->shape.dims[2], taps = prepare->query->in[W]->shape.dims[2];
    int64_t words;
    size_t bytes;
    const bool fits = tn_add_i64(length, taps, &words) && tn_mul_i64(words, 2, &words) &&
        tn_mul_size((size_t)words, sizeof(double), &bytes);
    return fits ? tn_prepare_slots(prepare, bytes) : tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
}

// One item is one channel of one batch element.
static void causal_task(void *context, size_t first, size_t count, unsigned slot)
{
    const tn_call *call = context;
    const tn_causal_conv_attr *attr = call->attr;
    const tn_tensor *x = call->in[X], *w = call->in[W], *bias = tn_call_in(call, BIAS), *past = tn_call_in(call, STATE);
    tn_tensor *y = tn_call_out(call, 0), *present = tn_call_out(call, 1);
    const int64_t length = x->shape.dims[2], taps = w->shape.dims[2], before = taps - 1;
    double *row = tn_slot_scratch(call, slot), *sums = row + before + length, *weights = sums + length;
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count) && !tn_cancelled(call); item++) {
        const int64_t c = item % x->shape.dims[1];
        memset(row, 0, (size_t)before * sizeof *row);
        if (past) {
            tn_row_load(past->dtype, past->data, item * before, 1, before, row);
        }
        tn_row_load(x->dtype, x->data, item * length, 1, length, row + before);
        tn_row_load(w->dtype, w->data, c * taps, 1, taps, weights);
        for (int64_t t = 0; t < length; t++) {
            sums[t] = bias ? tn_element(bias, c) : 0;
        }
        for (int64_t k = 0; k < taps; k++) {
            tn_row_add(sums, row + k, weights[k], length);
        }
        for (int64_t t = 0; attr->silu && t < length; t++) {
            sums[t] /= 1 + exp(-sums[t]);
        }
        if (y) {
            tn_row_store(y->dtype, y->data, item * length, 1, length, sums);
        }
        if (present) {
            tn_row_store(present->dtype, present->data, item * before, 1, before, row + length);
        }
    }
}

static tn_status run_causal_conv(const tn_call *call)
{
    tn_call context = *call;
    const tn_shape *x = &call->in[X]->shape;
    const tn_tensor *present = tn_call_out(call, 1);
    const bool some = tn_tensor_count(call->in[X]) > 0 || (present && tn_tensor_count(present) > 0);
    return tn_call_split(call, causal_task, &context, some ? (size_t)(x->dims[0] * x->dims[1]) : 0, 4);
}

// ---- export ----

const tn_op tn_op_linear_attention = {
    .name = "linear_attention", .version = 1, .min_in = 3, .max_in = 6, .min_out = 1, .max_out = 2, .attrs = linear_attention_attrs,
    .n_attrs = TN_COUNT(linear_attention_attrs), .attr_size = sizeof(tn_linear_attention_attr),
    .defaults = &linear_attention_defaults,
    .infer = infer_linear_attention,
};
const tn_op tn_op_causal_conv = {
    .name = "causal_conv", .version = 1, .min_in = 2, .max_in = 4, .min_out = 1, .max_out = 2, .attrs = causal_conv_attrs,
    .n_attrs = TN_COUNT(causal_conv_attrs), .attr_size = sizeof(tn_causal_conv_attr), .infer = infer_causal_conv,
};

static const tn_op *const ops[] = {&tn_op_linear_attention, &tn_op_causal_conv};
TN_EXPORT_OPS(op_stream, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(linear_attention, prepare_linear, run_linear_attention),
    TN_REFERENCE_SCRATCH(causal_conv, prepare_causal_conv, run_causal_conv),
};
TN_EXPORT_KERNELS(op_stream, rows);
