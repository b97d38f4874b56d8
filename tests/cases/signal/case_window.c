// SPDX-License-Identifier: Apache-2.0
// Cases of windows and mel matrices: sizes, both kinds of period, result types; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/signal/op_window.h"

static const tn_op *const windows[] = {&tn_op_hann_window, &tn_op_hamming_window, &tn_op_blackman_window};
static const int64_t sizes[] = {10, 1, 33, 400, 0};
static const int64_t mels[][3] = {{8, 16, 8192}, {40, 512, 16000}, {3, 9, 100}};   // bins, length of the transform, sample rate
enum { WINDOWS = 2 * TN_COUNT(windows) * TN_COUNT(sizes), LISTED = WINDOWS + TN_COUNT(mels) };

static bool make_mel(tn_case *c, tn_arena *arena, const int64_t mel[3])
{
    const double edges[2] = {0, (double)mel[2] / 2};
    c->op = &tn_op_mel_weight_matrix;
    c->attr = tn_case_attr(arena, c->op);
    for (int i = 0; i < 5; i++) {
        c->in[i] = i < 3 ? tn_draw_scalar(arena, mel[i]) : tn_draw_reals(arena, 1, &edges[i - 3]);
    }
    c->n_in = 5;
    return c->attr != NULL;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    c->n_out = 1;
    c->rel = 1e-6;
    c->abs = 1e-7;
    if (i >= WINDOWS && i < LISTED) {
        return make_mel(c, arena, mels[i - WINDOWS]);
    }
    if (i >= LISTED && tn_rand_bool(r)) {
        const int64_t mel[3] = {tn_rand_range(r, 1, 30), tn_rand_range(r, 1, 300), tn_rand_range(r, 100, 20000)};
        return make_mel(c, arena, mel);
    }
    c->op = i < LISTED ? windows[i % TN_COUNT(windows)] : TN_DRAW(r, windows);
    tn_signal_window_attr *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    attr->periodic = i / TN_COUNT(windows) % 2;
    attr->dtype = i < LISTED ? TN_F32 : tn_draw_dtype(r, TN_DRAW_NUMBERS);
    c->attr = attr;
    c->in[0] = tn_draw_scalar(arena, i < LISTED ? sizes[i / TN_COUNT(windows) / 2] : tn_rand_range(r, 0, 99));
    c->n_in = 1;
    return true;
}

TN_CASE_EXPORT(window){"window", LISTED, make};
