// SPDX-License-Identifier: Apache-2.0
// Cases of layers with a state: every rule of linear attention with shared heads and both forms of decay and rate; causal
// convolution with and without its optional operands; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/seq/op_stream.h"

typedef struct form {
    int64_t batch, steps, heads, kv_heads, key, value;
    int rule;
    bool past, each;      // each: decay for each key dim, rate for each head
} form;

static const form forms[] = {
    {1, 9, 4, 4, 8, 8, TN_RULE_LINEAR, false, false},       {2, 5, 4, 2, 16, 12, TN_RULE_GATED, true, true},
    {1, 7, 3, 3, 5, 9, TN_RULE_DELTA, true, false},         {1, 6, 6, 2, 8, 7, TN_RULE_GATED_DELTA, true, true},
    {2, 1, 2, 2, 32, 32, TN_RULE_GATED_DELTA, true, false}, {1, 0, 2, 2, 4, 4, TN_RULE_GATED, true, false},
};

typedef struct conv {
    int64_t batch, channels, length, taps;
    bool bias, past, silu;
} conv;

static const conv convs[] = {
    {1, 16, 20, 4, true, true, true},   {2, 5, 1, 4, false, true, false}, {1, 7, 2, 5, true, false, true},
    {1, 3, 67, 1, false, false, false}, {1, 4, 0, 3, true, true, false},
};
enum { FORMS = TN_COUNT(forms), LISTED = FORMS + TN_COUNT(convs) };

static form draw_form(tn_rand *r)
{
    form f = {tn_rand_range(r, 1, 2), tn_rand_range(r, 1, 6), 0, tn_rand_range(r, 1, 3), tn_rand_range(r, 2, 17),
              tn_rand_range(r, 1, 17),
              (int)tn_rand_range(r, TN_RULE_LINEAR, TN_RULE_GATED_DELTA), tn_rand_bool(r), tn_rand_bool(r)};
    f.heads = f.kv_heads * tn_rand_range(r, 1, 3);
    return f;
}

static bool make_linear(tn_case *c, tn_arena *arena, const form *f, tn_dtype dtype)
{
    c->op = &tn_op_linear_attention;
    tn_linear_attention_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    *attr = (tn_linear_attention_attr){f->heads, f->kv_heads, f->rule, f->past ? 0 : 0.25};
    c->attr = attr;
    c->in[0] = tn_draw_in(dtype, (tn_shape){3, {f->batch, f->steps, f->heads * f->key}});
    c->in[1] = tn_draw_in(dtype, (tn_shape){3, {f->batch, f->steps, f->kv_heads * f->key}});
    c->in[2] = tn_draw_in(dtype, (tn_shape){3, {f->batch, f->steps, f->kv_heads * f->value}});
    c->in[3] = f->past ? tn_draw_in(dtype, (tn_shape){4, {f->batch, f->kv_heads, f->key, f->value}}) : TN_ABSENT;
    c->in[4] = tn_draw_in(dtype, (tn_shape){3, {f->batch, f->steps, f->each ? f->kv_heads * f->key : f->kv_heads}});
    c->in[5] = tn_draw_in(dtype, (tn_shape){3, {f->batch, f->steps, f->each ? f->kv_heads : 1}});
    c->in[4].low = -1;
    c->in[4].high = 0;
    c->in[5].low = 0;
    c->in[5].high = 0.1;
    c->n_in = 6;
    return true;
}

static bool make_conv(tn_case *c, tn_arena *arena, const conv *v, tn_dtype dtype)
{
    c->op = &tn_op_causal_conv;
    tn_causal_conv_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->silu = v->silu;
    c->attr = attr;
    c->in[0] = tn_draw_in(dtype, (tn_shape){3, {v->batch, v->channels, v->length}});
    c->in[1] = tn_draw_in(dtype, (tn_shape){3, {v->channels, 1, v->taps}});
    c->in[1].constant = true;
    c->in[2] = v->bias ? tn_draw_in(dtype, (tn_shape){1, {v->channels}}) : TN_ABSENT;
    c->in[3] = v->past ? tn_draw_in(dtype, (tn_shape){3, {v->batch, v->channels, v->taps - 1}}) : TN_ABSENT;
    c->n_in = v->past ? 4 : v->bias ? 3 : 2;
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED, linear = listed ? i < FORMS : tn_rand_bool(r);
    const tn_dtype dtype = listed ? TN_F32 : tn_draw_dtype(r, 1u << TN_F32 | 1u << TN_F16 | 1u << TN_BF16);
    c->n_out = 2;
    c->rel = 1e-4;
    c->abs = 1e-6;
    if (linear) {
        const form f = listed ? forms[i] : draw_form(r);
        return make_linear(c, arena, &f, dtype);
    }
    const conv v = listed ? convs[i - FORMS]
                          : (conv){tn_rand_range(r, 1, 3), tn_rand_range(r, 1, 20), tn_rand_range(r, 1, 40), tn_rand_range(r, 1, 6),
                                   tn_rand_bool(r), tn_rand_bool(r), tn_rand_bool(r)};
    return make_conv(c, arena, &v, dtype);
}

TN_CASE_EXPORT(stream){"stream", LISTED, make};
