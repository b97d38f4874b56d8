// SPDX-License-Identifier: Apache-2.0
// Cases of convolution and transposed convolution: the layers of real nets (small), every attribute, each fused operand, odd sizes,
// one to three spatial dims; then random ones.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/nn/op_conv.h"

enum { BIAS = 1, RESIDUAL = 2 };

// A layer with square kernels: x [n, c, h, w], m results, kernel k, stride s, dilation d, pad p on all sides, g groups.
typedef struct layer {
    int64_t n, c, h, w, m, k, s, d, p, g;
    int fused;
    int64_t act;
} layer;

static const layer layers[] = {
    // first layers
    {1, 3, 33, 35, 16, 3, 2, 1, 1, 1, BIAS, TN_LOOP_RELU},
    {1, 1, 28, 28, 8, 5, 1, 1, 2, 1, BIAS, TN_LOOP_CONST},
    {1, 3, 31, 30, 24, 7, 2, 1, 3, 1, BIAS, TN_LOOP_RELU},
    {2, 3, 20, 21, 10, 3, 1, 1, 0, 1, 0, TN_LOOP_CONST},
    {1, 3, 9, 131, 20, 7, 2, 1, 3, 1, BIAS, TN_LOOP_RELU},
    {1, 3, 12, 130, 33, 3, 1, 1, 1, 1, BIAS, TN_LOOP_HARD_SWISH},
    // pointwise
    {1, 16, 14, 14, 96, 1, 1, 1, 0, 1, BIAS, TN_LOOP_CLIP},
    {1, 96, 7, 7, 40, 1, 1, 1, 0, 1, BIAS, TN_LOOP_CONST},
    {1, 40, 7, 7, 24, 1, 1, 1, 0, 1, BIAS | RESIDUAL, TN_LOOP_CONST},
    {3, 17, 5, 9, 33, 1, 1, 1, 0, 1, 0, TN_LOOP_SILU},
    {1, 24, 15, 13, 16, 1, 2, 1, 0, 1, BIAS, TN_LOOP_CONST},
    {1, 64, 1, 1, 16, 1, 1, 1, 0, 1, BIAS, TN_LOOP_HARD_SIGMOID},
    {1, 5, 1, 300, 3, 1, 1, 1, 0, 1, BIAS, TN_LOOP_CONST},
    {1, 136, 1, 1, 72, 1, 1, 1, 0, 1, BIAS, TN_LOOP_RELU},
    {3, 72, 1, 1, 136, 1, 1, 1, 0, 1, BIAS | RESIDUAL, TN_LOOP_SILU},
    {5, 32, 1, 1, 48, 1, 1, 1, 0, 1, BIAS, TN_LOOP_CONST},
    // pointwise by strips of pixels: whole groups of channels and a rest, several chunks of weights, sums in parts
    {1, 72, 14, 13, 48, 1, 1, 1, 0, 1, BIAS | RESIDUAL, TN_LOOP_RELU},
    {2, 20, 9, 11, 40, 1, 1, 1, 0, 1, BIAS, TN_LOOP_SILU},
    {1, 600, 12, 12, 136, 1, 1, 1, 0, 1, BIAS, TN_LOOP_HARD_SWISH},
    {2, 48, 20, 21, 64, 1, 1, 1, 0, 2, 0, TN_LOOP_CLIP},
    {1, 4404, 6, 7, 32, 1, 1, 1, 0, 1, RESIDUAL, TN_LOOP_GELU},
    // 3x3, the Winograd kind
    {1, 16, 14, 14, 16, 3, 1, 1, 1, 1, BIAS | RESIDUAL, TN_LOOP_RELU},
    {1, 32, 13, 17, 48, 3, 1, 1, 1, 1, BIAS, TN_LOOP_RELU},
    {1, 8, 6, 5, 9, 3, 1, 1, 1, 1, 0, TN_LOOP_LEAKY},
    {2, 24, 9, 8, 32, 3, 1, 1, 0, 1, BIAS, TN_LOOP_CONST},
    {1, 64, 8, 8, 64, 3, 1, 1, 1, 1, RESIDUAL, TN_LOOP_CONST},
    {1, 32, 46, 41, 40, 3, 1, 1, 1, 1, BIAS, TN_LOOP_RELU},
    {1, 200, 14, 14, 176, 3, 1, 1, 1, 1, BIAS | RESIDUAL, TN_LOOP_RELU},
    {1, 20, 12, 12, 30, 3, 2, 1, 1, 1, BIAS, TN_LOOP_HARD_SWISH},
    {1, 2, 4, 270, 4, 3, 1, 1, 1, 1, BIAS, TN_LOOP_CONST},
    // depthwise
    {1, 16, 14, 15, 16, 3, 1, 1, 1, 16, BIAS, TN_LOOP_CLIP},
    {1, 33, 17, 16, 33, 3, 2, 1, 1, 33, BIAS, TN_LOOP_RELU},
    {1, 24, 13, 11, 24, 5, 1, 1, 2, 24, BIAS, TN_LOOP_HARD_SWISH},
    {2, 8, 15, 15, 8, 5, 2, 1, 2, 8, 0, TN_LOOP_CONST},
    {1, 8, 10, 12, 16, 3, 1, 1, 1, 8, BIAS, TN_LOOP_RELU},
    {1, 16, 12, 12, 16, 3, 1, 4, 4, 16, BIAS, TN_LOOP_CONST},
    {1, 12, 9, 9, 12, 7, 1, 1, 3, 12, BIAS | RESIDUAL, TN_LOOP_GELU},
    {1, 16, 14, 13, 16, 5, 1, 2, 4, 16, BIAS, TN_LOOP_HARD_SWISH},
    {1, 24, 9, 10, 24, 3, 1, 3, 1, 24, BIAS | RESIDUAL, TN_LOOP_RELU},
    {2, 8, 5, 3, 8, 5, 1, 3, 6, 8, 0, TN_LOOP_SILU},
    {1, 8, 25, 24, 8, 3, 1, 12, 12, 8, BIAS, TN_LOOP_CONST},
    // groups, dilation
    {1, 16, 9, 10, 24, 1, 1, 1, 0, 2, BIAS, TN_LOOP_CONST},
    {1, 32, 8, 8, 32, 3, 1, 1, 1, 4, BIAS, TN_LOOP_RELU},
    {1, 6, 11, 7, 9, 3, 2, 1, 1, 3, 0, TN_LOOP_TANH},
    {1, 12, 16, 15, 20, 3, 1, 2, 2, 1, BIAS, TN_LOOP_RELU},
    {1, 128, 13, 14, 72, 3, 1, 12, 12, 1, BIAS, TN_LOOP_RELU},
    // windows wider than the image: taps that lie in the padding always
    {1, 24, 6, 7, 40, 3, 1, 9, 9, 1, BIAS, TN_LOOP_RELU},
    {2, 40, 1, 1, 24, 3, 1, 1, 1, 1, BIAS | RESIDUAL, TN_LOOP_CONST},
    {1, 3, 5, 4, 16, 7, 1, 2, 6, 1, BIAS, TN_LOOP_CONST},
    {1, 17, 5, 9, 33, 5, 2, 3, 6, 1, 0, TN_LOOP_TANH},
    {1, 16, 7, 6, 24, 5, 1, 4, 8, 1, BIAS, TN_LOOP_CONST},
    {2, 24, 7, 7, 16, 3, 2, 1, 1, 1, BIAS | RESIDUAL, TN_LOOP_HARD_SWISH},
    {1, 4, 13, 13, 6, 3, 2, 3, 1, 1, 0, TN_LOOP_SIGMOID},
    // nothing to do
    {0, 4, 5, 5, 3, 3, 1, 1, 1, 1, BIAS, TN_LOOP_CONST},
    {1, 0, 4, 4, 3, 1, 1, 1, 0, 1, BIAS, TN_LOOP_RELU},
    {1, 4, 4, 4, 0, 1, 1, 1, 0, 1, 0, TN_LOOP_CONST},
};

// Everything else: other ranks, kernels that are not square, pads that differ, auto_pad, the transposed kind.
typedef struct other {
    bool transposed;
    int rank;                                   // spatial
    int64_t n, c, m, g;
    int64_t in[3], k[3], s[3], d[3], pads[6];
    int auto_pad;
    int64_t extra[3];                           // output_padding
    int64_t shape[3];                           // output_shape; 0: not given
    int fused;
    int64_t act;
} other;

static const other others[] = {
    {false, 1, 1, 5, 7, 1, {23}, {3}, {1}, {1}, {1, 1}, 0, {0}, {0}, BIAS, TN_LOOP_RELU},
    {false, 1, 2, 16, 12, 1, {64}, {5}, {2}, {1}, {2, 1}, 0, {0}, {0}, BIAS, TN_LOOP_CONST},
    {false, 1, 1, 257, 9, 1, {1}, {1}, {1}, {1}, {0}, 0, {0}, {0}, 0, TN_LOOP_CONST},
    {false, 1, 1, 8, 8, 8, {40}, {7}, {1}, {2}, {6, 6}, 0, {0}, {0}, BIAS, TN_LOOP_SILU},
    {false, 3, 1, 3, 4, 1, {5, 6, 7}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 0, {0}, {0}, BIAS, TN_LOOP_RELU},
    {false, 3, 2, 4, 6, 2, {4, 9, 5}, {1, 3, 2}, {1, 2, 1}, {1, 1, 2}, {0, 1, 0, 0, 1, 2}, 0, {0}, {0}, 0, TN_LOOP_CONST},
    {false, 2, 1, 3, 5, 1, {9, 14}, {1, 5}, {1, 1}, {1, 1}, {0, 2, 0, 2}, 0, {0}, {0}, BIAS, TN_LOOP_CONST},
    {false, 2, 1, 3, 5, 1, {14, 9}, {5, 1}, {2, 1}, {1, 1}, {1, 0, 3, 0}, 0, {0}, {0}, BIAS, TN_LOOP_RELU},
    {false, 2, 1, 8, 16, 1, {12, 13}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}, 0, {0}, {0}, BIAS, TN_LOOP_RELU},
    {false, 2, 1, 8, 16, 1, {12, 13}, {3, 3}, {2, 2}, {1, 1}, {0}, TN_PAD_SAME_UPPER, {0}, {0}, BIAS, TN_LOOP_RELU},
    {false, 2, 1, 8, 8, 8, {12, 12}, {3, 3}, {2, 2}, {1, 1}, {0}, TN_PAD_SAME_LOWER, {0}, {0}, BIAS, TN_LOOP_RELU},
    {false, 2, 1, 8, 16, 1, {12, 13}, {4, 2}, {1, 3}, {1, 1}, {0}, TN_PAD_VALID, {0}, {0}, BIAS, TN_LOOP_CONST},
    {false, 2, 1, 4, 4, 1, {6, 6}, {2, 2}, {2, 2}, {1, 1}, {-1, 0, 0, -1}, 0, {0}, {0}, 0, TN_LOOP_CONST},
    // weights of several chunks, so that all of x is padded
    {false, 2, 1, 72, 144, 1, {9, 17}, {1, 7}, {1, 1}, {1, 1}, {0, 3, 0, 3}, 0, {0}, {0}, BIAS, TN_LOOP_RELU},
    {false, 2, 2, 136, 80, 1, {5, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 0, 1, 2}, 0, {0}, {0}, BIAS, TN_LOOP_CONST},
    {false, 2, 1, 160, 160, 2, {6, 7}, {3, 5}, {1, 1}, {2, 1}, {2, 2, 2, 2}, 0, {0}, {0}, BIAS | RESIDUAL, TN_LOOP_SILU},
    {true, 2, 1, 24, 1, 1, {12, 20}, {2, 2}, {2, 2}, {1, 1}, {0}, 0, {0}, {0}, BIAS, TN_LOOP_SIGMOID},
    {true, 2, 1, 6, 8, 1, {7, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, {1, 1}, {0}, BIAS, TN_LOOP_RELU},
    {true, 2, 2, 5, 3, 1, {4, 6}, {4, 4}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 0, {0}, {0}, 0, TN_LOOP_LEAKY},
    {true, 2, 1, 4, 6, 2, {5, 5}, {3, 2}, {1, 3}, {2, 1}, {0, 1, 2, 0}, 0, {0, 2}, {0}, BIAS, TN_LOOP_CONST},
    {true, 2, 1, 3, 4, 1, {6, 7}, {3, 3}, {2, 3}, {1, 1}, {0}, TN_PAD_SAME_UPPER, {0}, {0}, BIAS, TN_LOOP_CONST},
    {true, 2, 1, 3, 4, 1, {6, 7}, {4, 3}, {3, 1}, {1, 1}, {0}, TN_PAD_SAME_LOWER, {0}, {0}, 0, TN_LOOP_CONST},
    {true, 2, 1, 3, 2, 1, {3, 3}, {3, 3}, {3, 2}, {1, 1}, {0}, 0, {1, 1}, {10, 8}, 0, TN_LOOP_CONST},
    {true, 1, 1, 6, 5, 1, {13}, {5}, {3}, {1}, {2, 2}, 0, {1}, {0}, BIAS, TN_LOOP_CONST},
    {true, 1, 1, 16, 16, 16, {10}, {4}, {2}, {1}, {1, 1}, 0, {0}, {0}, BIAS, TN_LOOP_RELU},
    {true, 3, 1, 2, 3, 1, {3, 4, 5}, {3, 2, 3}, {1, 2, 2}, {1, 1, 1}, {1, 0, 1, 1, 0, 1}, 0, {0, 1, 1}, {0}, BIAS, TN_LOOP_CONST},
    {true, 2, 0, 3, 4, 1, {6, 7}, {2, 2}, {2, 2}, {1, 1}, {0}, 0, {0}, {0}, BIAS, TN_LOOP_CONST},
};
enum { LAYERS = TN_COUNT(layers), LISTED = LAYERS + TN_COUNT(others) };

static const int64_t acts[] = {TN_LOOP_CONST, TN_LOOP_CONST, TN_LOOP_RELU,         TN_LOOP_CLIP,       TN_LOOP_LEAKY,
                               TN_LOOP_SIGMOID,
                               TN_LOOP_TANH,  TN_LOOP_SILU,  TN_LOOP_HARD_SIGMOID, TN_LOOP_HARD_SWISH, TN_LOOP_GELU,  TN_LOOP_ELU};

static tn_act act_of(int64_t code)
{
    const tn_act act = {code, code == TN_LOOP_CLIP ? 0 : code == TN_LOOP_HARD_SIGMOID ? 0.2 : 0.1,
                        code == TN_LOOP_CLIP ? 6 : code == TN_LOOP_HARD_SIGMOID ? 0.5 : 0};
    return act;
}

static other other_of(const layer *l)
{
    const other o = {false, 2, l->n, l->c, l->m, l->g, {l->h, l->w}, {l->k, l->k}, {l->s, l->s}, {l->d, l->d},
                     {l->p, l->p, l->p, l->p},
                     TN_PAD_NOTSET, {0}, {0}, l->fused, l->act};
    return o;
}

// A layer of odd sizes whose kernel fits its input.
static other draw_layer(tn_rand *r)
{
    static const int ranks[] = {1, 2, 2, 2, 3};
    static const int64_t channels[] = {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 33};
    other o = {.transposed = tn_draw_index(r, 4) == 0, .rank = TN_DRAW(r, ranks), .n = tn_rand_range(r, 1, 2)};
    const int kind = (int)tn_draw_index(r, 4);   // plain (twice), depthwise, groups
    o.c = TN_DRAW(r, channels);
    o.m = TN_DRAW(r, channels);
    o.g = 1;
    if (kind == 2) {
        o.g = o.c;
        o.m = o.c * tn_rand_range(r, 1, 2);
    } else if (kind == 3) {
        o.g = tn_rand_range(r, 2, 3);
        o.c *= o.g;
        o.m *= o.g;
    }
    for (int i = 0; i < o.rank; i++) {
        o.k[i] = tn_rand_range(r, 1, o.rank == 3 ? 3 : 5);
        o.s[i] = tn_rand_range(r, 1, 3);
        o.d[i] = tn_draw_index(r, 3) == 0 ? 2 : 1;
        o.pads[i] = tn_rand_range(r, 0, o.k[i] - 1);
        o.pads[o.rank + i] = tn_rand_range(r, 0, o.k[i] - 1);
        o.in[i] = tn_rand_range(r, 1, o.rank == 3 ? 6 : 19) + (o.k[i] - 1) * o.d[i];
        o.extra[i] = o.transposed ? tn_rand_range(r, 0, o.s[i] - 1) : 0;
    }
    o.auto_pad = tn_draw_index(r, 4) == 0 ? (int)tn_rand_range(r, TN_PAD_SAME_UPPER, TN_PAD_VALID) : TN_PAD_NOTSET;
    o.fused = (tn_rand_bool(r) ? BIAS : 0) | (tn_draw_index(r, 4) == 0 && !o.transposed ? RESIDUAL : 0);
    o.act = TN_DRAW(r, acts);
    return o;
}

static bool given(const int64_t *v, int count)
{
    bool any = false;
    for (int i = 0; i < count; i++) {
        any |= v[i] != 0;
    }
    return any;
}

// Attributes that equal their defaults are left out, now and then.
static bool fill_attr(tn_case *c, const other *o, tn_arena *arena)
{
    void *attr = tn_case_attr(arena, c->op);
    if (!attr) {
        return false;
    }
    tn_conv_attr conv = {.group = o->g, .auto_pad = o->auto_pad, .act = act_of(o->act)};
    conv.kernel = tn_case_ints(arena, o->rank, o->k);
    conv.strides = tn_case_ints(arena, o->rank, o->s);
    conv.dilations = tn_case_ints(arena, o->rank, o->d);
    if (o->auto_pad == TN_PAD_NOTSET && given(o->pads, 2 * o->rank)) {
        conv.pads = tn_case_ints(arena, 2 * o->rank, o->pads);
    }
    c->attr = attr;
    if (!o->transposed) {
        *(tn_conv_attr *)attr = conv;
        return true;
    }
    tn_deconv_attr *deconv = attr;
    *deconv = (tn_deconv_attr){.kernel = conv.kernel, .strides = conv.strides, .pads = conv.pads, .dilations = conv.dilations,
                               .group = conv.group, .auto_pad = conv.auto_pad, .act = conv.act};
    if (given(o->extra, o->rank)) {
        deconv->output_padding = tn_case_ints(arena, o->rank, o->extra);
    }
    if (given(o->shape, o->rank)) {
        deconv->output_shape = tn_case_ints(arena, o->rank, o->shape);
    }
    return true;
}

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    const other o = i < LAYERS ? other_of(&layers[i]) : i < LISTED ? others[i - LAYERS] : draw_layer(r);
    const tn_dtype dtype = i < LISTED ? TN_F32 : tn_draw_dtype(r, o.act == TN_LOOP_CONST ? TN_DRAW_FLOATS : 1u << TN_F32);
    tn_shape x = {.rank = o.rank + 2, .dims = {o.n, o.c}}, w = {.rank = o.rank + 2};
    w.dims[0] = o.transposed ? o.c : o.m;
    w.dims[1] = (o.transposed ? o.m : o.c) / o.g;
    for (int k = 0; k < o.rank; k++) {
        x.dims[2 + k] = o.in[k];
        w.dims[2 + k] = o.k[k];
    }
    c->op = o.transposed ? &tn_op_deconv : &tn_op_conv;
    c->n_out = 1;
    c->rel = dtype == TN_F32 ? 1e-4 : 2e-2;
    c->abs = 1e-6;
    if (!fill_attr(c, &o, arena)) {
        return false;
    }
    c->in[0] = tn_draw_in(dtype, x);
    c->in[1] = tn_draw_in(dtype, w);
    c->in[2] = o.fused & BIAS ? tn_draw_in(dtype, tn_shape_of(1, &o.m)) : TN_ABSENT;
    c->in[1].constant = c->in[2].constant = true;
    c->n_in = o.fused & BIAS ? 3 : 2;
    tn_window window;
    if (o.fused & RESIDUAL && tn_conv_window(c->attr, &x, &w, &window)) {
        tn_shape y = {.rank = x.rank, .dims = {o.n, o.m}};
        for (int k = 0; k < o.rank; k++) {
            y.dims[2 + k] = window.out[k];
        }
        c->in[3] = tn_draw_in(dtype, y);
        c->n_in = 4;
    }
    return true;
}

TN_CASE_EXPORT(conv){"conv", LISTED, make};
