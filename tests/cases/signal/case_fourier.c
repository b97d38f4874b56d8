// SPDX-License-Identifier: Apache-2.0
// Cases of Fourier transforms: powers of two, other lengths, every axis, padding and cutting by a length, both directions and
// halves; frames with and without window; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/signal/op_fourier.h"

typedef struct form {
    tn_shape x;
    int64_t axis, length;      // length 0: not given
    bool inverse, onesided;
} form;

static const form forms[] = {
    {{3, {2, 16, 1}}, 1, 0, false, false},       {{3, {2, 16, 2}}, -2, 0, true, false},      {{3, {1, 10, 1}}, 1, 0, false, true},
    {{4, {1, 10, 3, 2}}, 1, 0, false, false},    {{4, {1, 3, 11, 1}}, 2, 16, false, true},
    {{4, {1, 3, 11, 2}}, 2, 5, true, false},
    {{3, {2, 9, 2}}, 1, 0, true, true},          {{3, {2, 9, 2}}, 1, 15, true, true},        {{3, {2, 9, 2}}, 1, 40, true, true},
    {{3, {1, 1, 1}}, 1, 0, false, false},        {{3, {1, 257, 1}}, 1, 0, false, true},      {{2, {512, 2}}, 0, 0, false, false},
    {{3, {0, 8, 1}}, 1, 0, false, false},        {{3, {1, 2, 2}}, 1, 0, true, false},
};

typedef struct frames {
    int64_t batch, signal, parts, step, frame;
    bool window, given, onesided;
} frames;

static const frames framed[] = {
    {1, 128, 1, 8, 16, true, false, true}, {2, 100, 1, 20, 33, true, true, true}, {1, 64, 2, 7, 24, true, true, false},
    {1, 50, 1, 5, 50, false, false, true}, {1, 40, 1, 3, 12, false, true, false},
};
enum { FORMS = TN_COUNT(forms), LISTED = FORMS + TN_COUNT(framed) };

static bool make_dft(tn_case *c, tn_arena *arena, const form *f, tn_dtype dtype)
{
    c->op = &tn_op_dft;
    tn_dft_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    *attr = (tn_dft_attr){f->inverse, f->onesided};
    c->attr = attr;
    c->in[0] = tn_draw_in(dtype, f->x);
    c->in[1] = f->length ? tn_draw_scalar(arena, f->length) : TN_ABSENT;
    c->in[2] = tn_draw_scalar(arena, f->axis);
    c->n_in = 3;
    return true;
}

static bool make_stft(tn_case *c, tn_arena *arena, const frames *f, tn_dtype dtype)
{
    c->op = &tn_op_stft;
    tn_stft_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->onesided = f->onesided;
    c->attr = attr;
    c->in[0] = tn_draw_in(dtype, (tn_shape){3, {f->batch, f->signal, f->parts}});
    c->in[1] = tn_draw_scalar(arena, f->step);
    c->in[2] = f->window ? tn_draw_in(dtype, (tn_shape){1, {f->frame}}) : TN_ABSENT;
    c->in[3] = f->given ? tn_draw_scalar(arena, f->frame) : TN_ABSENT;
    c->n_in = 4;
    return true;
}

static form draw_form(tn_rand *r)
{
    form f = {.x = tn_draw_shape(r, 1, 3), .inverse = tn_rand_bool(r), .onesided = tn_rand_bool(r)};
    const bool real = f.onesided ? !f.inverse : tn_rand_bool(r);
    f.axis = tn_draw_index(r, f.x.rank);
    f.length = tn_rand_bool(r) ? tn_rand_range(r, 1, 40) : 0;
    f.x.dims[f.x.rank++] = real ? 1 : 2;
    return f;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const bool listed = i < LISTED, transform = listed ? i < FORMS : tn_rand_bool(r);
    const tn_dtype dtype = listed ? TN_F32 : tn_draw_dtype(r, TN_DRAW_FLOATS);
    c->n_out = 1;
    c->rel = 1e-5;
    c->abs = 1e-5;
    if (transform) {
        const form f = listed ? forms[i] : draw_form(r);
        return make_dft(c, arena, &f, dtype);
    }
    frames f = {tn_rand_range(r, 1, 2), tn_rand_range(r, 33, 80), 1, tn_rand_range(r, 1, 9), tn_rand_range(r, 1, 33), true,
                tn_rand_bool(r),
                tn_rand_bool(r)};
    f = listed ? framed[i - FORMS] : f;
    return make_stft(c, arena, &f, dtype);
}

TN_CASE_EXPORT(fourier){"fourier", LISTED, make};
