// SPDX-License-Identifier: Apache-2.0
// Random cases: shapes, attributes and values of each operator, extreme values and exact halves among them.
// Ownership: case_free. Threads: one.
#include "dsp_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int32_t draw(tn_rand *r, int32_t low, int32_t high) { return (int32_t)tn_rand_range(r, low, high); }
static bool chance(tn_rand *r, int32_t percent) { return draw(r, 0, 99) < percent; }

static void set_dims(case_tensor *x, uint32_t dtype, uint32_t rank, const int32_t *dims)
{
    x->t.dtype = dtype;
    x->t.rank = rank;
    memcpy(x->t.dims, dims, rank * sizeof *dims);
    x->v = calloc(dsp_count(&x->t) + 1, sizeof *x->v);
}

static int32_t draw_zero(tn_rand *r, uint32_t dtype)
{
    static const int32_t ends[] = {0, 128, 255};
    return (chance(r, 30) ? ends[draw(r, 0, 2)] : draw(r, 0, 255)) - (dtype == TN_HEX_S8 ? 128 : 0);
}

// Bytes: all over the range, only the ends, or near the zero point.
static void fill_bytes(case_tensor *x, tn_rand *r)
{
    const int32_t off = x->t.dtype == TN_HEX_S8 ? 128 : 0, kind = draw(r, 0, 5);
    for (uint32_t i = 0; i < dsp_count(&x->t); i++) {
        const int32_t near = tn_clamp_i32(x->t.zero + off + draw(r, -3, 3), 0, 255);
        x->v[i] = (kind == 0 ? 255 * draw(r, 0, 1) : kind == 1 ? near : draw(r, 0, 255)) - off;
    }
}

static void draw_activation(case_tensor *x, tn_rand *r, uint32_t dtype, uint32_t rank, const int32_t *dims)
{
    x->t.zero = draw_zero(r, dtype);
    set_dims(x, dtype, rank, dims);
    fill_bytes(x, r);
}

static void result_dims(dsp_case *c, tn_rand *r, uint32_t dtype, uint32_t rank, const int32_t *dims)
{
    c->y.t.zero = draw_zero(r, dtype);
    set_dims(&c->y, dtype, rank, dims);
}

static void set_multiplier(dsp_case *c, uint32_t i, double factor)
{
    const float f = (float)factor;
    if (c->rounding == TN_HEX_FLOAT_RNE) {
        memcpy(&c->multipliers[i], &f, 4);
        return;
    }
    int e;
    int64_t m = llround(ldexp(frexp(factor, &e), 31));
    if (m == INT64_C(1) << 31) {
        m /= 2;
        e++;
    }
    c->multipliers[i] = (uint32_t)m;
    c->shifts[i] = e;
}

// A factor of the given size, now and then a power of two, which makes exact halves, or a part of one, which makes halves to within float32.
static double draw_factor(tn_rand *r, double about)
{
    const double f = about * exp2(tn_rand_real(r, -2, 2));
    return chance(r, 20) ? exp2(round(log2(f))) : f < 0.5 && chance(r, 25) ? 1 / (2 * round(0.5 / f)) : f;
}

static void draw_multipliers(dsp_case *c, tn_rand *r, uint32_t n, double about)
{
    c->n_multipliers = n;
    for (uint32_t i = 0; i < n; i++) {
        set_multiplier(c, i, draw_factor(r, about));
        if (c->rounding == TN_HEX_FIXED_Q31 && chance(r, 1)) {
            c->multipliers[i] = 0;
        }
    }
}

static void draw_clamp(dsp_case *c, tn_rand *r)
{
    c->has_clamp = chance(r, 40);
    if (c->has_clamp) {
        const int32_t off = c->y.t.dtype == TN_HEX_S8 ? 128 : 0;
        c->clamp[0] = draw(r, 0, 120) - off;
        c->clamp[1] = draw(r, c->clamp[0] + off, 255) - off;
    }
}

static uint32_t draw_byte_type(tn_rand *r) { return chance(r, 50) ? TN_HEX_U8 : TN_HEX_S8; }

// Weights, and a bias with which sums stay within 32 bits.
static void draw_weights(dsp_case *c, tn_rand *r, uint32_t rank, const int32_t *dims, int32_t channels, double inner)
{
    case_tensor *w = &c->in[1], *b = &c->in[2];
    set_dims(w, TN_HEX_S8, rank, dims);
    w->is_const = b->is_const = true;
    const int32_t kind = draw(r, 0, 4);
    for (uint32_t i = 0; i < dsp_count(&w->t); i++) {
        w->v[i] = kind == 0 ? (chance(r, 50) ? -128 : 127) : draw(r, -128, 127);
    }
    set_dims(b, TN_HEX_S32, 1, &channels);
    for (int32_t i = 0; i < channels; i++) {
        b->v[i] = draw(r, -100000, 100000);
    }
    c->n_in = chance(r, 80) ? 3 : 2;
    draw_multipliers(c, r, chance(r, 50) ? 1 : (uint32_t)channels, 60.0 / (5000.0 * sqrt(inner)));
    // Channels that give one byte, or nearly: small factors, and what they leave of a large bias.
    for (uint32_t i = 0; i < c->n_multipliers && c->n_multipliers == (uint32_t)channels && kind == 1; i++) {
        if (chance(r, 30)) {
            const int32_t bits = draw(r, 17, 30);
            set_multiplier(c, i, tn_rand_real(r, 1, 2) * exp2(-bits));
            b->v[i] = draw(r, -(1 << (bits - 1)), 1 << (bits - 1)) / draw(r, 1, 4);
        }
    }
}

static int32_t out_length(int32_t length, int32_t before, int32_t after, int32_t kernel, int32_t dilation, int32_t stride)
{
    const int32_t room = length + before + after - (kernel - 1) * dilation - 1;
    return room < 0 ? 0 : room / stride + 1;
}

static void draw_window(dsp_case *c, tn_rand *r, int32_t most)
{
    static const int32_t kernels[] = {1, 1, 3, 3, 3, 5, 2, 4, 7};
    for (int i = 0; i < 2; i++) {
        c->kernel[i] = i && chance(r, 70) ? c->kernel[0] : kernels[draw(r, 0, 8)];
        c->kernel[i] = c->kernel[i] > most ? most : c->kernel[i];
        c->strides[i] = i && chance(r, 80) ? c->strides[0] : chance(r, 60) ? 1 : draw(r, 1, 3);
        c->dilations[i] = chance(r, 85) ? 1 : draw(r, 1, 3);
        c->pads[i] = chance(r, 60) ? (c->kernel[i] - 1) * c->dilations[i] / 2 : draw(r, 0, c->kernel[i] - 1);
        c->pads[2 + i] = chance(r, 60) ? (c->kernel[i] - 1) * c->dilations[i] - c->pads[i] : draw(r, 0, c->kernel[i] - 1);
    }
}

// x [N,C,H,W] and the height and width of the result; until there is one.
static void draw_image(dsp_case *c, tn_rand *r, uint32_t dtype, int32_t channels, bool big, int32_t most_kernel, int32_t out[2])
{
    int32_t dims[4] = {chance(r, 85) ? 1 : draw(r, 2, 3), channels, 0, 0};
    do {
        draw_window(c, r, most_kernel);
        for (int i = 0; i < 2; i++) {
            dims[2 + i] = draw(r, 1, big ? 40 : 14);
            out[i] = out_length(dims[2 + i], c->pads[i], c->pads[2 + i], c->kernel[i], c->dilations[i], c->strides[i]);
        }
    } while (out[0] < 1 || out[1] < 1);
    draw_activation(&c->in[0], r, dtype, 4, dims);
}

// Depthwise 3 x 3 as models have it: on images that are large enough for the kernels made for them, and on small ones of many channels.
static void draw_depthwise(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r);
    const int small = chance(r, 40), narrow = small && chance(r, 60);   // rows of half a vector, which the kernel pads itself
    const int32_t channels = small ? draw(r, 13, 70) : draw(r, 1, big ? 40 : 9), stride = narrow ? 1 : draw(r, 1, 2);
    const int32_t kernel = !narrow && chance(r, 35) ? 5 : 3;
    const int32_t most = small ? 16 : big ? 80 : 30, height = draw(r, narrow ? 8 : kernel - 1, narrow ? 26 : most);
    const int32_t x[4] = {1, channels, height, draw(r, narrow ? 9 : 5, narrow ? 15 : most)};
    c->group = channels;
    for (int i = 0; i < 2; i++) {
        c->kernel[i] = kernel;
        c->strides[i] = stride;
        c->dilations[i] = 1;
        c->pads[i] = stride == 2 ? draw(r, 0, kernel / 2) : kernel / 2;
        c->pads[2 + i] = kernel / 2;
    }
    draw_activation(&c->in[0], r, dtype, 4, x);
    const int32_t w[4] = {channels, 1, kernel, kernel}, after = kernel / 2;
    const int32_t y[4] = {1, channels, out_length(x[2], c->pads[0], after, kernel, 1, stride), out_length(x[3], c->pads[1], after, kernel, 1, stride)};
    draw_weights(c, r, 4, w, channels, kernel * kernel);
    result_dims(c, r, dtype, 4, y);
    if (chance(r, 50)) {
        c->y.t.zero = dtype == TN_HEX_S8 ? -128 : 0;   // as behind ReLU: results of one sign are requantised another way
    }
    draw_clamp(c, r);
}

static void draw_conv(dsp_case *c, tn_rand *r, bool big)
{
    if (chance(r, 30)) {
        draw_depthwise(c, r, big);
        return;
    }
    const uint32_t dtype = draw_byte_type(r);
    int32_t out[2], per_in = draw(r, 1, big ? 40 : 12), per_out = draw(r, 1, big ? 40 : 12);
    const int32_t kind = draw(r, 0, 3);
    c->group = kind == 0 ? draw(r, 2, 4) : kind == 1 ? draw(r, 2, big ? 70 : 20) : 1;
    if (kind == 1) {
        per_in = 1;
        per_out = chance(r, 70) ? 1 : draw(r, 2, 3);
    }
    draw_image(c, r, dtype, per_in * c->group, big, 7, out);
    const int32_t w[4] = {per_out * c->group, per_in, c->kernel[0], c->kernel[1]};
    const int32_t y[4] = {c->in[0].t.dims[0], w[0], out[0], out[1]};
    draw_weights(c, r, 4, w, w[0], per_in * c->kernel[0] * c->kernel[1]);
    result_dims(c, r, dtype, 4, y);
    draw_clamp(c, r);
}

static void draw_deconv(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r);
    const int32_t per_in = draw(r, 1, 9), per_out = draw(r, 1, 9);
    int32_t x[4] = {chance(r, 85) ? 1 : 2, 0, 0, 0}, y[4] = {x[0], 0, 0, 0};
    c->group = chance(r, 80) ? 1 : draw(r, 2, 4);
    x[1] = per_in * c->group;
    y[1] = per_out * c->group;
    do {
        draw_window(c, r, 5);
        for (int i = 0; i < 2; i++) {
            x[2 + i] = draw(r, 1, big ? 20 : 9);
            const int32_t extra = draw(r, 0, c->strides[i] - 1);   // output padding
            y[2 + i] = (x[2 + i] - 1) * c->strides[i] + (c->kernel[i] - 1) * c->dilations[i] + 1 - c->pads[i] - c->pads[2 + i] + extra;
        }
    } while (y[2] < 1 || y[3] < 1);
    draw_activation(&c->in[0], r, dtype, 4, x);
    const int32_t w[4] = {x[1], per_out, c->kernel[0], c->kernel[1]};
    draw_weights(c, r, 4, w, y[1], per_in * c->kernel[0] * c->kernel[1]);
    result_dims(c, r, dtype, 4, y);
    draw_clamp(c, r);
}

static void draw_matmul(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r), rank = (uint32_t)draw(r, 1, 3);
    const int32_t inner = draw(r, 1, big ? 300 : 40), n = draw(r, 1, big ? 200 : 70);
    int32_t x[3] = {draw(r, 1, 3), draw(r, 1, 9), inner}, y[3] = {x[0], x[1], n};
    draw_activation(&c->in[0], r, dtype, rank, x + 3 - rank);
    c->transpose = chance(r, 50);
    const int32_t w[2] = {c->transpose ? n : inner, c->transpose ? inner : n};
    draw_weights(c, r, 2, w, n, inner);
    result_dims(c, r, dtype, rank, y + 3 - rank);
    draw_clamp(c, r);
}

static void draw_pool(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r);
    int32_t out[2];
    const int32_t n = c->op == TN_HEX_OP_MAX_POOL ? 7 : 5;
    for (;;) {
        draw_image(c, r, dtype, draw(r, 1, 20), big, n, out);
        bool covered = true;   // each window has an element
        for (int i = 0; i < 2; i++) {
            if (c->op == TN_HEX_OP_AVERAGE_POOL) {
                c->dilations[i] = 1;
            }
            covered &= c->dilations[i] == 1 && c->pads[i] < c->kernel[i] && c->pads[2 + i] < c->kernel[i];
            out[i] = out_length(c->in[0].t.dims[2 + i], c->pads[i], c->pads[2 + i], c->kernel[i], 1, c->strides[i]);
            covered &= out[i] > 0 && (out[i] - 1) * c->strides[i] - c->pads[i] < c->in[0].t.dims[2 + i];
        }
        if (covered) {
            break;
        }
        free(c->in[0].v);
    }
    c->n_in = 1;
    const int32_t y[4] = {c->in[0].t.dims[0], c->in[0].t.dims[1], out[0], out[1]};
    result_dims(c, r, dtype, 4, y);
    draw_clamp(c, r);
    if (c->op == TN_HEX_OP_MAX_POOL) {
        c->y.t.zero = c->in[0].t.zero;
        return;
    }
    c->count_pad = chance(r, 30);
    const double about = draw_factor(r, 1.0);
    c->scales[0] = (float)about;
    c->n_scales = c->rounding == TN_HEX_FLOAT_RNE;
    c->n_multipliers = c->rounding == TN_HEX_FIXED_Q31 ? (uint32_t)(c->kernel[0] * c->kernel[1]) : 0;
    for (uint32_t i = 0; i < c->n_multipliers; i++) {
        set_multiplier(c, i, about / (i + 1));
    }
}

static void draw_mean(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r), rank = chance(r, 60) ? 4 : (uint32_t)draw(r, 2, 4);
    int32_t x[4], y[4];
    c->axis = rank == 4 && chance(r, 70) ? 2 : draw(r, 0, (int32_t)rank - 1);
    double n = 1;
    for (uint32_t i = 0; i < rank; i++) {
        x[i] = draw(r, 1, i == 0 ? 2 : big ? 30 : 9);
        y[i] = (int32_t)i < c->axis ? x[i] : 1;
        n *= (int32_t)i < c->axis ? 1 : x[i];
    }
    draw_activation(&c->in[0], r, dtype, rank, x);
    c->n_in = 1;
    result_dims(c, r, dtype, chance(r, 50) ? rank : (uint32_t)c->axis, y);
    const double factor = draw_factor(r, 1.0) / n;
    c->scales[0] = (float)factor;
    c->n_scales = c->rounding == TN_HEX_FLOAT_RNE;
    c->n_multipliers = c->rounding == TN_HEX_FIXED_Q31;
    set_multiplier(c, 0, factor);
    draw_clamp(c, r);
}

static void draw_binary(dsp_case *c, tn_rand *r, bool big)
{
    const bool pairs = chance(r, 6);   // of all bytes: few results are so near to a half that it matters how they are rounded
    const uint32_t dtype = draw_byte_type(r), rank = pairs ? 2 : chance(r, 60) ? 4 : (uint32_t)draw(r, 1, 4);
    int32_t y[4], own[2][4];
    const int32_t kind = pairs ? 0 : draw(r, 0, 3), other = draw(r, 0, 1);
    for (uint32_t i = 0; i < rank; i++) {
        y[i] = pairs ? 256 : i == 0 && rank == 4 ? draw(r, 1, 2) : draw(r, 1, big ? 40 : 12);
        own[0][i] = own[1][i] = y[i];
        if (kind == 1 && rank == 4 && i >= 2) {
            own[other][i] = 1;               // one per channel
        } else if (kind == 2) {
            own[draw(r, 0, 1)][i] = chance(r, 40) ? 1 : y[i];
        }
    }
    for (int k = 0; k < 2; k++) {
        const uint32_t drop = kind == 3 && k == other ? (uint32_t)draw(r, 0, (int32_t)rank) : 0;
        draw_activation(&c->in[k], r, dtype, rank - drop, own[k] + drop);
        c->in[k].is_const = k == 1 && chance(r, 25);
        for (int32_t i = 0; i < 65536 && pairs; i++) {
            c->in[k].v[i] = (k ? i >> 8 : i & 255) - (dtype == TN_HEX_S8 ? 128 : 0);
        }
    }
    c->n_in = 2;
    result_dims(c, r, dtype, rank, y);
    draw_clamp(c, r);
    if (c->op == TN_HEX_OP_MIN || c->op == TN_HEX_OP_MAX) {
        c->in[0].t.zero = c->in[1].t.zero = c->y.t.zero;
        return;
    }
    const double a = draw_factor(r, 0.02), b = draw_factor(r, 0.02);
    const bool product = c->op == TN_HEX_OP_MUL;
    const double s = draw_factor(r, product ? a * b * 128 : a + b);
    if (c->rounding == TN_HEX_FLOAT_RNE) {
        c->n_scales = 3;
        c->scales[0] = (float)a;
        c->scales[1] = (float)b;
        c->scales[2] = (float)s;
    } else if (product) {
        c->n_multipliers = 1;
        set_multiplier(c, 0, a * b / s);
    } else {
        const double twice = 2 * (a > b ? a : b);
        c->n_multipliers = 3;
        set_multiplier(c, 0, a / twice);
        set_multiplier(c, 1, b / twice);
        set_multiplier(c, 2, twice / (1048576.0 * s));
    }
}

static void draw_unary(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r), rank = (uint32_t)draw(r, 1, 4);
    int32_t dims[4];
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = draw(r, 1, big ? 40 : 12);
    }
    draw_activation(&c->in[0], r, dtype, rank, dims);
    c->n_in = 1;
    result_dims(c, r, c->op == TN_HEX_OP_LUT ? draw_byte_type(r) : dtype, rank, dims);
    if (c->op == TN_HEX_OP_CLAMP) {
        c->y.t.zero = c->in[0].t.zero;
        draw_clamp(c, r);
        return;
    }
    const int32_t all = 256;
    c->n_in = 2;
    set_dims(&c->in[1], TN_HEX_U8, 1, &all);
    c->in[1].is_const = true;
    fill_bytes(&c->in[1], r);
}

static void draw_softmax(dsp_case *c, tn_rand *r, bool big)
{
    draw_unary(c, r, big);
    free(c->in[1].v);
    free(c->y.v);
    const int32_t all = 256;
    set_dims(&c->in[1], TN_HEX_S32, 1, &all);
    c->in[1].is_const = true;
    c->n_in = 2;
    c->axis = draw(r, 0, (int32_t)c->in[0].t.rank - 1);
    const double scale = draw_factor(r, 0.05);
    for (int32_t i = 0; i < 256; i++) {
        c->in[1].v[i] = (int32_t)lround(8388608.0 * exp(-scale * i));
    }
    c->factor = chance(r, 50) ? 256u << 16 : (uint32_t)draw(r, 1 << 16, 1 << 25);
    result_dims(c, r, c->in[0].t.dtype, c->in[0].t.rank, c->in[0].t.dims);
    draw_clamp(c, r);
}

// Lines: any bytes, or all of one value but one, or two neighbours: the deviation that the root has fewest bits of.
static void fill_lines(case_tensor *x, tn_rand *r, int32_t n)
{
    const int32_t kind = draw(r, 0, 3), off = x->t.dtype == TN_HEX_S8 ? 128 : 0, low = x->v[0] + off < 255 ? x->v[0] + off : 254;
    for (uint32_t i = 0; i < dsp_count(&x->t) && kind; i++) {
        const int32_t first = (int32_t)i % n == 0;
        x->v[i] = (kind == 1 ? low + first : kind == 2 ? low + draw(r, 0, 1) : first ? 255 - low : low) - off;
    }
}

static void draw_layer_norm(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r), rank = (uint32_t)draw(r, 1, 3), lines = (uint32_t)draw(r, 1, (int32_t)rank);
    const int32_t dims[3] = {draw(r, 1, 3), draw(r, 1, 6), big && chance(r, 5) ? draw(r, 400, 5461) : draw(r, 1, big ? 400 : 50)};
    int32_t n = 1;
    for (uint32_t i = 0; i < lines; i++) {
        n *= dims[2 - i];
    }
    n = n > 32768 ? dims[2] : n;
    draw_activation(&c->in[0], r, dtype, rank, dims + 3 - rank);
    fill_lines(&c->in[0], r, n);
    // Gains such that results fill a byte, and extreme ones.
    c->down = chance(r, 80) ? draw(r, 8, 22) : draw(r, 1, 31);
    const int32_t gain = c->down > 16 ? INT32_MAX : 1 << (c->down + 14), bias = c->down > 22 ? 1 << 30 : 1 << (c->down + 7);
    const bool wild = chance(r, 10);
    for (int k = 1; k <= 2; k++) {
        set_dims(&c->in[k], TN_HEX_S32, 1, &n);
        c->in[k].is_const = true;
        for (int32_t i = 0; i < n; i++) {
            const int32_t most = k == 1 ? gain : bias;
            c->in[k].v[i] = !wild ? draw(r, -most, most) : chance(r, 30) ? INT32_MIN : chance(r, 30) ? INT32_MAX : (int32_t)tn_rand_u64(r);
        }
    }
    c->n_in = 3;
    const uint64_t epsilon = chance(r, 30) ? 0 : chance(r, 5) ? UINT64_C(1) << 62 : tn_rand_u64(r) >> draw(r, 2, 62);
    c->epsilon[0] = (uint32_t)epsilon;
    c->epsilon[1] = (uint32_t)(epsilon >> 32);
    result_dims(c, r, dtype, rank, dims + 3 - rank);
    draw_clamp(c, r);
}

static void draw_product(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r), rank = (uint32_t)draw(r, 2, 4);
    const int32_t m = draw(r, 1, big ? 40 : 9), k = draw(r, 1, big ? 300 : 40), n = chance(r, 30) ? 64 * draw(r, 1, 4) : draw(r, 1, big ? 300 : 40);
    const int32_t lead[2] = {draw(r, 1, 2), draw(r, 1, 3)}, a[4] = {lead[0], lead[1], m, k}, b[4] = {lead[0], lead[1], k, n},
                  y[4] = {lead[0], lead[1], m, n};
    draw_activation(&c->in[0], r, dtype, rank, a + 4 - rank);
    draw_activation(&c->in[1], r, draw_byte_type(r), rank, b + 4 - rank);
    c->n_in = 2;
    result_dims(c, r, dtype, rank, y + 4 - rank);
    draw_multipliers(c, r, 1, 60.0 / (5000.0 * sqrt(k)));
    draw_clamp(c, r);
}

static void draw_border(dsp_case *c, tn_rand *r, bool big)
{
    const int32_t n = draw(r, 1, big ? 6000 : 300);
    const bool to_bytes = c->op == TN_HEX_OP_QUANTISE;
    c->n_in = c->n_scales = 1;
    c->scales[0] = (float)draw_factor(r, 0.05);
    if (to_bytes) {
        set_dims(&c->in[0], TN_HEX_F32, 1, &n);
        for (int32_t i = 0; i < n; i++) {
            static const float odd[] = {0.0f, -0.0f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN, 1e-40f};
            const float half = c->scales[0] * ((float)draw(r, -300, 300) + 0.5f), any = (float)(c->scales[0] * tn_rand_real(r, -300, 300));
            const float v = chance(r, 3) ? odd[draw(r, 0, 7)] : chance(r, 20) ? half : any;
            memcpy(&c->in[0].v[i], &v, 4);
        }
        result_dims(c, r, draw_byte_type(r), 1, &n);
        draw_clamp(c, r);
    } else {
        draw_activation(&c->in[0], r, draw_byte_type(r), 1, &n);
        set_dims(&c->y, TN_HEX_F32, 1, &n);
    }
}

static void draw_concat(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r), rank = chance(r, 70) ? 4 : (uint32_t)draw(r, 1, 4);
    int32_t y[4], length = 0;
    for (uint32_t i = 0; i < rank; i++) {
        y[i] = i == 0 ? draw(r, 1, 2) : draw(r, 1, big ? 30 : 8);
    }
    c->axis = rank == 4 && chance(r, 60) ? 1 : draw(r, 0, (int32_t)rank - 1);
    c->n_in = (uint32_t)draw(r, 1, 4);
    const int32_t unit = chance(r, 60) ? 4 : 1;
    for (uint32_t k = 0; k < c->n_in; k++) {
        int32_t x[4];
        memcpy(x, y, sizeof x);
        x[c->axis] = unit * draw(r, 1, 4);
        length += x[c->axis];
        draw_activation(&c->in[k], r, dtype, rank, x);
        c->in[k].t.zero = c->in[0].t.zero;
    }
    y[c->axis] = length;
    result_dims(c, r, dtype, rank, y);
    c->y.t.zero = c->in[0].t.zero;
}

// A transpose, a slice with steps (and back to front), a pad, or two halves that change places.
static void draw_copy(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = chance(r, 20) ? TN_HEX_F32 : draw_byte_type(r);
    int32_t x[4], y[4], steps[4], order[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++) {
        x[i] = draw(r, 1, big ? 14 : 6);
    }
    for (int i = 3; i > 0; i--) {
        const int k = draw(r, 0, i), old = order[i];
        order[i] = order[k];
        order[k] = old;
    }
    if (chance(r, 40)) {
        for (int i = 0; i < 4; i++) {
            order[i] = i;
        }
    }
    if (dtype == TN_HEX_F32) {
        set_dims(&c->in[0], dtype, 4, x);
        for (uint32_t i = 0; i < dsp_count(&c->in[0].t); i++) {
            c->in[0].v[i] = draw(r, INT32_MIN, INT32_MAX);
        }
    } else {
        draw_activation(&c->in[0], r, dtype, 4, x);
    }
    const int32_t strides[4] = {x[1] * x[2] * x[3], x[2] * x[3], x[3], 1};
    uint32_t *w = c->regions;
    int32_t from = 0, to = 0, grow[4];
    *w++ = 4;
    uint32_t *offsets = w;
    w += 2;
    for (int i = 0; i < 4; i++) {
        const int32_t dim = x[order[i]], step = chance(r, 70) ? 1 : draw(r, 1, 2), n = chance(r, 60) ? (dim + step - 1) / step : draw(r, 1, (dim + step - 1) / step);
        const bool back = chance(r, 15);
        steps[i] = (back ? -step : step) * strides[order[i]];
        from += back ? (n - 1) * step * strides[order[i]] : 0;
        grow[i] = chance(r, 80) ? 0 : draw(r, 0, 2);
        *w++ = (uint32_t)n;
        y[i] = n + grow[i] + (chance(r, 80) ? 0 : draw(r, 0, 2));
    }
    for (int i = 0; i < 4; i++) {
        *w++ = (uint32_t)steps[i];
    }
    const int32_t out[4] = {y[1] * y[2] * y[3], y[2] * y[3], y[3], 1};
    for (int i = 0; i < 4; i++) {
        *w++ = (uint32_t)out[i];
        to += grow[i] * out[i];
    }
    offsets[0] = (uint32_t)from;
    offsets[1] = (uint32_t)to;
    c->n_regions = (uint32_t)(w - c->regions);
    c->n_in = 1;
    result_dims(c, r, dtype, 4, y);
    c->y.t.zero = dtype == TN_HEX_F32 ? 0 : c->in[0].t.zero;
}

static void draw_resize(dsp_case *c, tn_rand *r, bool big)
{
    const uint32_t dtype = draw_byte_type(r);
    int32_t x[4] = {draw(r, 1, 2), draw(r, 1, 10), 0, 0}, y[4] = {x[0], x[1], 0, 0};
    c->mode = draw(r, 0, 1);
    for (int i = 2; i < 4; i++) {
        x[i] = draw(r, 1, big ? 30 : 9);
        y[i] = chance(r, 50) ? 2 * x[i] : draw(r, 1, big ? 60 : 20);
    }
    draw_activation(&c->in[0], r, dtype, 4, x);
    for (int k = 1; k <= 2; k++) {
        const int32_t dims[2] = {y[1 + k], 3};
        set_dims(&c->in[k], TN_HEX_S32, c->mode ? 2 : 1, dims);
        c->in[k].is_const = true;
        for (int32_t i = 0; i < y[1 + k]; i++) {
            if (!c->mode) {
                c->in[k].v[i] = i * x[1 + k] / y[1 + k];
            } else {
                c->in[k].v[3 * i] = draw(r, 0, x[1 + k] - 1);
                c->in[k].v[3 * i + 1] = draw(r, 0, x[1 + k] - 1);
                c->in[k].v[3 * i + 2] = chance(r, 20) ? 2048 * draw(r, 0, 1) : draw(r, 0, 2048);
            }
        }
    }
    c->n_in = 3;
    result_dims(c, r, dtype, 4, y);
    if (!c->mode) {
        c->y.t.zero = c->in[0].t.zero;
        return;
    }
    draw_multipliers(c, r, 1, 1.0 / (1 << 22));
    draw_clamp(c, r);
}

void case_draw(dsp_case *c, int op, tn_rand *r, bool big)
{
    memset(c, 0, sizeof *c);
    c->op = op;
    c->strides[0] = c->strides[1] = c->dilations[0] = c->dilations[1] = c->group = c->kernel[0] = c->kernel[1] = 1;
    c->rounding = draw(r, 0, 1);
    switch (op) {
    case TN_HEX_OP_CONV: draw_conv(c, r, big); break;
    case TN_HEX_OP_DECONV: draw_deconv(c, r, big); break;
    case TN_HEX_OP_MATMUL: draw_matmul(c, r, big); break;
    case TN_HEX_OP_PRODUCT: draw_product(c, r, big); break;
    case TN_HEX_OP_AVERAGE_POOL:
    case TN_HEX_OP_MAX_POOL: draw_pool(c, r, big); break;
    case TN_HEX_OP_MEAN: draw_mean(c, r, big); break;
    case TN_HEX_OP_LUT:
    case TN_HEX_OP_CLAMP: draw_unary(c, r, big); break;
    case TN_HEX_OP_SOFTMAX: draw_softmax(c, r, big); break;
    case TN_HEX_OP_LAYER_NORM: draw_layer_norm(c, r, big); break;
    case TN_HEX_OP_QUANTISE:
    case TN_HEX_OP_DEQUANTISE: draw_border(c, r, big); break;
    case TN_HEX_OP_CONCAT: draw_concat(c, r, big); break;
    case TN_HEX_OP_COPY: draw_copy(c, r, big); break;
    case TN_HEX_OP_RESIZE: draw_resize(c, r, big); break;
    default:
        if (!case_draw_wide(c, r, big)) {
            c->has_clamp = false;
            draw_binary(c, r, big);
        }
    }
    const int32_t *x = c->in[0].t.dims, *y = c->y.t.dims;
    snprintf(c->text, sizeof c->text, "%s x=[%d,%d,%d,%d] rank %u y=[%d,%d,%d,%d] k=%d,%d s=%d,%d d=%d,%d p=%d,%d,%d,%d g=%d round=%d type=%u mult=%u",
             tn_hex_op_text(op), x[0], x[1], x[2], x[3], c->in[0].t.rank, y[0], y[1], y[2], y[3], c->kernel[0], c->kernel[1], c->strides[0],
             c->strides[1], c->dilations[0], c->dilations[1], c->pads[0], c->pads[1], c->pads[2], c->pads[3], c->group, c->rounding,
             c->y.t.dtype, c->n_multipliers);
}

static void copy_tensor(case_tensor *to, const case_tensor *from)
{
    *to = *from;
    to->is_const = false;
    to->v = malloc(4 * dsp_count(&from->t));
    memcpy(to->v, from->v, 4 * dsp_count(&from->t));
}

void case_draw_next(dsp_case *c, int op, const case_tensor *x, const case_tensor *z, tn_rand *r)
{
    memset(c, 0, sizeof *c);
    c->op = op;
    c->group = 1;
    c->rounding = draw(r, 0, 1);
    int32_t y[4];
    memcpy(y, x->t.dims, sizeof y);
    copy_tensor(&c->in[0], x);
    if (z) {
        copy_tensor(&c->in[1], z);
    }
    c->n_in = z ? 2 : 1;
    draw_window(c, r, 5);
    const int same = chance(r, 70);
    for (int i = 0; i < 2; i++) {
        const int32_t room = y[2 + i] + c->pads[i] + c->pads[2 + i] - (c->kernel[i] - 1) * c->dilations[i] - 1;
        c->strides[i] = same ? 1 : c->strides[i];
        if (room < 0 || same || op == TN_HEX_OP_MAX_POOL) {   // a window that fits anything, and reads the padding all round
            c->kernel[i] = 3;
            c->dilations[i] = c->pads[i] = c->pads[2 + i] = 1;
        }
    }
    if (op == TN_HEX_OP_CONV || op == TN_HEX_OP_MAX_POOL) {
        for (int i = 0; i < 2; i++) {
            y[2 + i] = out_length(y[2 + i], c->pads[i], c->pads[2 + i], c->kernel[i], c->dilations[i], c->strides[i]);
        }
    }
    if (op == TN_HEX_OP_CONV) {
        c->group = chance(r, 40) ? y[1] : 1;
        const int32_t m = c->group > 1 ? y[1] : draw(r, 1, 20), w[4] = {m, y[1] / c->group, c->kernel[0], c->kernel[1]};
        y[1] = m;
        draw_weights(c, r, 4, w, m, w[1] * w[2] * w[3]);
    } else if (op == TN_HEX_OP_CONCAT) {
        c->axis = 1;
        y[1] += z->t.dims[1];
        c->in[1].t.zero = c->in[0].t.zero;
    } else if (op == TN_HEX_OP_ADD) {
        c->n_scales = 3;
        c->rounding = TN_HEX_FLOAT_RNE;
        c->scales[0] = (float)draw_factor(r, 0.02);
        c->scales[1] = (float)draw_factor(r, 0.02);
        c->scales[2] = c->scales[0] + c->scales[1];
    } else if (op == TN_HEX_OP_LUT) {
        const int32_t all = 256;
        c->n_in = 2;
        set_dims(&c->in[1], TN_HEX_U8, 1, &all);
        c->in[1].is_const = true;
        fill_bytes(&c->in[1], r);
    }
    result_dims(c, r, x->t.dtype, 4, y);
    if (op == TN_HEX_OP_CONCAT || op == TN_HEX_OP_MAX_POOL) {
        c->y.t.zero = x->t.zero;
    }
}

void case_free(dsp_case *c)
{
    for (uint32_t i = 0; i < CASE_OPERANDS; i++) {
        free(c->in[i].v);
    }
    free(c->y.v);
}

// ---- onto the wire ----

void case_store(const case_tensor *x, uint8_t *bytes)
{
    const uint32_t n = dsp_count(&x->t);
    if (dsp_size(x->t.dtype) == 4) {
        memcpy(bytes, x->v, 4 * n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const int16_t half = (int16_t)x->v[i];
        if (x->t.dtype == TN_HEX_S16) {
            memcpy(bytes + 2 * i, &half, sizeof half);
        } else {
            bytes[i] = (uint8_t)x->v[i];
        }
    }
}

void case_load(const case_tensor *like, const uint8_t *bytes, int32_t *v)
{
    const uint32_t n = dsp_count(&like->t);
    if (dsp_size(like->t.dtype) == 4) {
        memcpy(v, bytes, 4 * n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        int16_t half = 0;
        if (like->t.dtype == TN_HEX_S16) {
            memcpy(&half, bytes + 2 * i, sizeof half);
        }
        v[i] = like->t.dtype == TN_HEX_S16 ? half : like->t.dtype == TN_HEX_S8 ? (int8_t)bytes[i] : bytes[i];
    }
}

static void write_attrs(const dsp_case *c, dsp_graph *g)
{
    const struct { uint32_t key; const void *words; uint32_t n; } rows[] = {
        {TN_HEX_ATTR_STRIDES, c->strides, 2}, {TN_HEX_ATTR_PADS, c->pads, 4}, {TN_HEX_ATTR_DILATIONS, c->dilations, 2},
        {TN_HEX_ATTR_GROUP, &c->group, 1}, {TN_HEX_ATTR_ROUNDING, &c->rounding, 1}, {TN_HEX_ATTR_KERNEL, c->kernel, 2},
        {TN_HEX_ATTR_AXIS, &c->axis, 1}, {TN_HEX_ATTR_COUNT_PAD, &c->count_pad, 1}, {TN_HEX_ATTR_MODE, &c->mode, 1},
        {TN_HEX_ATTR_TRANSPOSE, &c->transpose, 1}, {TN_HEX_ATTR_FACTOR, &c->factor, 1}, {TN_HEX_ATTR_CLAMP, c->clamp, c->has_clamp ? 2 : 0},
        {TN_HEX_ATTR_MULTIPLIER, c->multipliers, c->n_multipliers},
        {TN_HEX_ATTR_SHIFT, c->shifts, c->rounding == TN_HEX_FIXED_Q31 ? c->n_multipliers : 0},
        {TN_HEX_ATTR_SCALES, c->scales, c->n_scales}, {TN_HEX_ATTR_REGIONS, c->regions, c->n_regions}, {TN_HEX_ATTR_DOWN, &c->down, c->down ? 1 : 0},
        {TN_HEX_ATTR_EPSILON, c->epsilon, c->op == TN_HEX_OP_LAYER_NORM ? 2 : 0}};
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].n) {
            dsp_attr(g, rows[i].key, rows[i].words, rows[i].n);
        }
    }
}

uint32_t case_write(const dsp_case *c, dsp_graph *g, const uint32_t given[CASE_OPERANDS], uint32_t inputs[CASE_OPERANDS], uint32_t *n_inputs)
{
    uint32_t in[CASE_OPERANDS];
    *n_inputs = 0;
    for (uint32_t i = 0; i < c->n_in; i++) {
        const case_tensor *x = &c->in[i];
        if (given[i]) {
            in[i] = given[i];
        } else if (x->is_const) {
            const uint32_t bytes = dsp_count(&x->t) * dsp_size(x->t.dtype);
            uint8_t *data = malloc(bytes);
            case_store(x, data);
            in[i] = dsp_const(g, &x->t, data, bytes);
            free(data);
        } else {
            in[i] = dsp_value(g, &x->t);
            dsp_border(g, TN_HEX_RECORD_INPUT, in[i]);
            inputs[(*n_inputs)++] = i;
        }
    }
    const uint32_t y = dsp_value(g, &c->y.t);
    dsp_node(g, c->op, in, c->n_in, y);
    write_attrs(c, g);
    dsp_node_end(g);
    return y;
}
