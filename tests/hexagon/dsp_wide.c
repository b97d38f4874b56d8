// SPDX-License-Identifier: Apache-2.0
// Random cases of the wire's operators on 16 bits, and what they mean, one element at a time.
// Ownership: case_free. Threads: one.
#include "dsp_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t draw(tn_rand *r, int32_t low, int32_t high) { return (int32_t)tn_rand_range(r, low, high); }
static bool chance(tn_rand *r, int32_t percent) { return draw(r, 0, 99) < percent; }

static void set(case_tensor *x, uint32_t dtype, uint32_t rank, const int32_t *dims)
{
    x->t.dtype = dtype;
    x->t.rank = rank;
    memcpy(x->t.dims, dims, rank * sizeof *dims);
    x->v = calloc(dsp_count(&x->t) + 1, sizeof *x->v);
}

// Halves (or bytes): all over the range, only the ends, or small.
static void fill(case_tensor *x, tn_rand *r)
{
    const int32_t low = x->t.dtype == TN_HEX_S16 ? INT16_MIN : x->t.dtype == TN_HEX_S8 ? INT8_MIN : 0;
    const int32_t high = x->t.dtype == TN_HEX_S16 ? INT16_MAX : x->t.dtype == TN_HEX_S8 ? INT8_MAX : UINT8_MAX, kind = draw(r, 0, 3);
    for (uint32_t i = 0; i < dsp_count(&x->t); i++) {
        x->v[i] = kind == 0 ? (chance(r, 50) ? low : high) : kind == 1 ? tn_clamp_i32(draw(r, -9, 9), low, high) : draw(r, low, high);
    }
}

static void set_factor(dsp_case *c, uint32_t i, double factor)
{
    const float f = (float)factor;
    int e;
    if (c->rounding == TN_HEX_FLOAT_RNE) {
        memcpy(&c->multipliers[i], &f, 4);
        return;
    }
    const int64_t m = (int64_t)(frexp(factor, &e) * 2147483647.0);
    c->multipliers[i] = (uint32_t)(m < (INT64_C(1) << 30) ? INT64_C(1) << 30 : m);
    c->shifts[i] = tn_clamp_i32(e, -31, 30);
}

static void draw_clamp(dsp_case *c, tn_rand *r)
{
    c->has_clamp = chance(r, 40);
    c->clamp[0] = draw(r, -30000, 1000);
    c->clamp[1] = draw(r, c->clamp[0], 32767);
}

// Weights, bias, the shift that their sums need, factors. inner: products of one sum.
static void draw_weights(dsp_case *c, tn_rand *r, uint32_t rank, const int32_t *dims, int32_t channels, int32_t inner)
{
    case_tensor *w = &c->in[1], *b = &c->in[2];
    const int32_t words[2] = {channels, 2};
    set(w, TN_HEX_S16, rank, dims);
    set(b, TN_HEX_S32, 2, words);
    w->is_const = b->is_const = true;
    fill(w, r);
    const int shift = draw(r, 0, 38);
    for (int32_t m = 0; m < channels; m++) {
        const int64_t v = (int64_t)tn_rand_range(r, -(INT64_C(1) << shift), INT64_C(1) << shift);
        b->v[2 * m] = (int32_t)(uint32_t)v;
        b->v[2 * m + 1] = (int32_t)(v >> 32);
    }
    c->n_in = chance(r, 80) ? 3 : 2;
    const double most = 32768.0 * 32768.0 * inner + ldexp(1, shift);
    while (c->down < 32 && most / ldexp(1, c->down) > 2147483000.0) {
        c->down++;
    }
    c->n_multipliers = chance(r, 50) ? 1 : (uint32_t)channels;
    for (uint32_t i = 0; i < c->n_multipliers; i++) {
        set_factor(c, i, ldexp(tn_rand_real(r, 0.5, 2), draw(r, -20, -12)));
    }
}

static void draw_conv(dsp_case *c, tn_rand *r, bool big)
{
    int32_t x[4] = {chance(r, 85) ? 1 : 2, 0, 0, 0}, y[4];
    c->group = chance(r, 30) ? draw(r, 2, 9) : 1;
    const int32_t each = c->group > 1 ? draw(r, 1, 3) : draw(r, 1, big ? 150 : 20), m = c->group * draw(r, 1, c->group > 1 ? 2 : 11);
    x[1] = each * c->group;
    for (int i = 0; i < 2; i++) {
        c->kernel[i] = chance(r, 40) ? 1 : draw(r, 1, 4);
        c->strides[i] = chance(r, 60) ? 1 : draw(r, 1, 3);
        c->dilations[i] = chance(r, 80) ? 1 : 2;
        c->pads[i] = draw(r, 0, c->kernel[i] - 1);
        c->pads[2 + i] = draw(r, 0, c->kernel[i] - 1);
        x[2 + i] = (c->kernel[i] - 1) * c->dilations[i] + draw(r, 1, big ? 30 : 12);
        y[2 + i] = (x[2 + i] + c->pads[i] + c->pads[2 + i] - (c->kernel[i] - 1) * c->dilations[i] - 1) / c->strides[i] + 1;
    }
    y[0] = x[0];
    y[1] = m;
    const int32_t w[4] = {m, each, c->kernel[0], c->kernel[1]};
    set(&c->in[0], TN_HEX_S16, 4, x);
    fill(&c->in[0], r);
    draw_weights(c, r, 4, w, m, each * w[2] * w[3]);
    set(&c->y, TN_HEX_S16, 4, y);
}

static void draw_matmul(dsp_case *c, tn_rand *r, bool big)
{
    const int32_t k = draw(r, 1, big ? 400 : 40), n = draw(r, 1, big ? 150 : 20), x[2] = {draw(r, 1, 5), k}, w[2] = {k, n}, y[2] = {x[0], n};
    set(&c->in[0], TN_HEX_S16, 2, x);
    fill(&c->in[0], r);
    draw_weights(c, r, 2, w, n, k);
    set(&c->y, TN_HEX_S16, 2, y);
}

static void draw_pair(dsp_case *c, tn_rand *r)
{
    int32_t dims[3] = {draw(r, 1, 4), draw(r, 1, 6), draw(r, 1, 40)}, part[3];
    for (int i = 0; i < 3; i++) {
        part[i] = chance(r, 70) ? dims[i] : 1;
    }
    const bool first = chance(r, 50);
    set(&c->in[0], TN_HEX_S16, 3, first ? dims : part);
    set(&c->in[1], TN_HEX_S16, 3, first ? part : dims);
    set(&c->y, TN_HEX_S16, 3, dims);
    fill(&c->in[0], r);
    fill(&c->in[1], r);
    c->n_in = 2;
    if (c->rounding == TN_HEX_FLOAT_RNE) {
        c->n_scales = 3;
        for (int i = 0; i < 3; i++) {
            c->scales[i] = (float)tn_rand_real(r, 1e-4, 4e-4);
        }
        c->scales[2] *= c->op == TN_HEX_OP_WIDE_MUL ? 3 : 1;
        return;
    }
    c->n_multipliers = c->op == TN_HEX_OP_WIDE_MUL ? 1 : 3;
    set_factor(c, 0, c->op == TN_HEX_OP_WIDE_MUL ? 3e-5 : tn_rand_real(r, 0.1, 0.5));
    set_factor(c, 1, tn_rand_real(r, 0.1, 0.5));
    set_factor(c, 2, tn_rand_real(r, 1, 4) / 32768);
}

static void draw_lut(dsp_case *c, tn_rand *r)
{
    static const uint32_t types[] = {TN_HEX_S16, TN_HEX_U8, TN_HEX_S8};
    const bool large = chance(r, 10);      // enough for a table of each channel to be worth bringing over
    const int32_t dims[4] = {draw(r, 1, 2), draw(r, 1, 5), large ? draw(r, 25, 30) : draw(r, 1, 9), large ? draw(r, 90, 150) : draw(r, 1, 90)};
    const uint32_t from = types[draw(r, 0, 2)], to = types[draw(r, 0, 2)];
    const int32_t entries = from == TN_HEX_S16 ? TN_WIDE_ENTRIES : 256, many[2] = {dims[1], entries};
    set(&c->in[0], from, 4, dims);
    fill(&c->in[0], r);
    const bool one = chance(r, 50);
    set(&c->in[1], TN_HEX_S16, one ? 1 : 2, one ? &entries : many);
    c->in[1].is_const = true;
    fill(&c->in[1], r);
    c->n_in = 2;
    set(&c->y, to, 4, dims);
    c->has_clamp = false;
}

static void draw_picture(dsp_case *c, tn_rand *r)
{
    const int32_t x[4] = {1, draw(r, 1, 7), draw(r, 3, 20), draw(r, 3, 20)};
    int32_t y[4] = {x[0], x[1], 1, 1};
    set(&c->in[0], TN_HEX_S16, 4, x);
    fill(&c->in[0], r);
    c->n_in = 1;
    for (int i = 0; i < 2 && c->op == TN_HEX_OP_WIDE_MAX_POOL; i++) {
        c->kernel[i] = draw(r, 1, 3);
        c->strides[i] = draw(r, 1, 2);
        c->pads[i] = draw(r, 0, c->kernel[i] - 1);
        y[2 + i] = (x[2 + i] + c->pads[i] - c->kernel[i]) / c->strides[i] + 1;
    }
    for (uint32_t k = 0; k < 2 && c->op == TN_HEX_OP_WIDE_RESIZE; k++) {
        y[2 + k] = draw(r, 1, 40);
        c->mode = k ? c->mode : draw(r, 0, 1);
        const int32_t entries[2] = {y[2 + k], 3};
        set(&c->in[1 + k], TN_HEX_S32, c->mode ? 2 : 1, entries);
        c->in[1 + k].is_const = true;
        for (int32_t i = 0; i < y[2 + k] * (c->mode ? 3 : 1); i++) {
            c->in[1 + k].v[i] = !c->mode || i % 3 < 2 ? draw(r, 0, x[2 + k] - 1) : draw(r, 0, 9) ? draw(r, 0, TN_WIDE_WEIGHT) : TN_WIDE_WEIGHT;
        }
        c->n_in = 3;
        c->has_clamp = c->mode && c->has_clamp;
    }
    if (c->mode) {
        c->n_multipliers = 1;
        set_factor(c, 0, tn_rand_real(r, 0.2, 4) / 65536);
    }
    if (c->op == TN_HEX_OP_WIDE_MEAN) {
        c->n_multipliers = 1;
        set_factor(c, 0, tn_rand_real(r, 0.2, 2) / (x[2] * x[3]));
    }
    set(&c->y, TN_HEX_S16, 4, y);
}

static void draw_border(dsp_case *c, tn_rand *r)
{
    const bool down = c->op == TN_HEX_OP_WIDE_QUANTISE;
    const int32_t dims[2] = {draw(r, 1, 9), draw(r, 1, 300)};
    set(&c->in[0], down ? TN_HEX_F32 : TN_HEX_S16, 2, dims);
    set(&c->y, down ? TN_HEX_S16 : TN_HEX_F32, 2, dims);
    c->has_clamp = false;
    c->n_scales = 1;
    c->scales[0] = (float)tn_rand_real(r, 1e-4, 1e-3);
    c->n_in = 1;
    if (!down) {
        fill(&c->in[0], r);
        return;
    }
    for (uint32_t i = 0; i < dsp_count(&c->in[0].t); i++) {
        static const float odd[] = {0.0f, -0.0f, 1e30f, -1e30f, INFINITY, -INFINITY, NAN, 1e-40f};
        const float v = draw(r, 0, 99) < 3 ? odd[draw(r, 0, 7)] : (float)tn_rand_real(r, -40, 40);
        memcpy(&c->in[0].v[i], &v, 4);
    }
}

bool case_draw_wide(dsp_case *c, tn_rand *r, bool big)
{
    draw_clamp(c, r);
    switch (c->op) {
    case TN_HEX_OP_WIDE_CONV: draw_conv(c, r, big); return true;
    case TN_HEX_OP_WIDE_MATMUL: draw_matmul(c, r, big); return true;
    case TN_HEX_OP_WIDE_ADD:
    case TN_HEX_OP_WIDE_SUB:
    case TN_HEX_OP_WIDE_MUL: draw_pair(c, r); return true;
    case TN_HEX_OP_WIDE_LUT: draw_lut(c, r); return true;
    case TN_HEX_OP_WIDE_MEAN:
    case TN_HEX_OP_WIDE_MAX_POOL:
    case TN_HEX_OP_WIDE_RESIZE: draw_picture(c, r); return true;
    case TN_HEX_OP_WIDE_QUANTISE:
    case TN_HEX_OP_WIDE_DEQUANTISE: draw_border(c, r); return true;
    default: return false;
    }
}

// ---- meaning ----

static tn_requant factor(const dsp_case *c, uint32_t i)
{
    tn_requant f = {.rounding = c->rounding == TN_HEX_FIXED_Q31 ? TN_ROUND_FIXED_Q31 : TN_ROUND_FLOAT_RNE};
    const uint32_t at = c->n_multipliers == 1 ? 0 : i;
    f.multiplier = (int32_t)c->multipliers[at];
    f.shift = c->shifts[at];
    memcpy(&f.scale, &c->multipliers[at], 4);
    return f;
}

static int32_t low_of(const dsp_case *c) { return c->has_clamp ? c->clamp[0] : INT16_MIN; }
static int32_t high_of(const dsp_case *c) { return c->has_clamp ? c->clamp[1] : INT16_MAX; }

static int32_t finish(const dsp_case *c, uint32_t m, int64_t sum)
{
    const tn_requant f = factor(c, m);
    const uint64_t bias = c->n_in > 2 ? (uint64_t)(uint32_t)c->in[2].v[2 * m + 1] << 32 | (uint32_t)c->in[2].v[2 * m] : 0;
    return tn_requant_wide(&f, sum + (int64_t)bias, c->down, low_of(c), high_of(c));
}

static int64_t conv_sum(const dsp_case *c, int32_t n, int32_t m, int32_t i)
{
    const case_tensor *x = &c->in[0], *w = &c->in[1];
    const int32_t *xd = x->t.dims, *yd = c->y.t.dims, *wd = w->t.dims, size = wd[1] * wd[2] * wd[3];
    const int32_t first = n * xd[1] + m / (yd[1] / c->group) * wd[1];
    int64_t sum = 0;
    for (int32_t k = 0; k < size; k++) {
        const int32_t row = i / yd[3] * c->strides[0] - c->pads[0] + k / wd[3] % wd[2] * c->dilations[0];
        const int32_t column = i % yd[3] * c->strides[1] - c->pads[1] + k % wd[3] * c->dilations[1];
        if (row >= 0 && row < xd[2] && column >= 0 && column < xd[3]) {
            sum += (int64_t)x->v[((first + k / (wd[2] * wd[3])) * xd[2] + row) * xd[3] + column] * w->v[m * size + k];
        }
    }
    return sum;
}

static int32_t pair_one(const dsp_case *c, uint32_t i)
{
    tn_requant_pair p = {.rounding = c->rounding == TN_HEX_FIXED_Q31 ? TN_ROUND_FIXED_Q31 : TN_ROUND_FLOAT_RNE, .low = low_of(c),
                         .high = high_of(c), .a_scale = c->scales[0], .b_scale = c->scales[1], .y_scale = c->scales[2]};
    int32_t at[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        const int32_t *d = c->in[k].t.dims, *y = c->y.t.dims;
        const int32_t index[3] = {(int32_t)i / (y[1] * y[2]), (int32_t)i / y[2] % y[1], (int32_t)i % y[2]};
        for (int n = 0; n < 3; n++) {
            at[k] = at[k] * d[n] + (d[n] == 1 ? 0 : index[n]);
        }
    }
    const int32_t a = c->in[0].v[at[0]], b = c->in[1].v[at[1]];
    if (c->op == TN_HEX_OP_WIDE_MUL) {
        p.y = factor(c, 0);
        return tn_requant_product(&p, a, b);
    }
    p.a = factor(c, 0);
    p.b = factor(c, 1);
    p.y = factor(c, 2);
    return tn_wide_sum(&p, a, b, c->op == TN_HEX_OP_WIDE_SUB);
}

static int32_t lut_one(const dsp_case *c, uint32_t i)
{
    const case_tensor *x = &c->in[0], *t = &c->in[1];
    const int32_t *d = x->t.dims, entries = t->t.dims[t->t.rank - 1], channel = (int32_t)i / (d[2] * d[3]) % d[1];
    int16_t table[TN_WIDE_ENTRIES];
    for (int32_t k = 0; k < entries; k++) {
        table[k] = (int16_t)t->v[(t->t.rank == 2 ? channel * entries : 0) + k];
    }
    const int32_t v = x->t.dtype == TN_HEX_S16 ? tn_wide_look(table, x->v[i]) : table[x->v[i] & 255];
    return c->y.t.dtype == TN_HEX_S16 ? v : c->y.t.dtype == TN_HEX_S8 ? tn_wide_byte(v, -128, 127) : tn_wide_byte(v, 0, 255);
}

static int32_t picture_one(const dsp_case *c, uint32_t i)
{
    const int32_t *xd = c->in[0].t.dims, *yd = c->y.t.dims, area = yd[2] * yd[3], row = (int32_t)i / yd[3] % yd[2], column = (int32_t)i % yd[3];
    const int32_t *x = c->in[0].v + (int32_t)i / area * xd[2] * xd[3];
    if (c->op == TN_HEX_OP_WIDE_RESIZE && c->mode) {
        // The definition's sums with divisions that round down, in 64 bits.
        const int32_t *r = c->in[1].v + 3 * row, *k = c->in[2].v + 3 * column;
        int64_t lines[2];
        for (int n = 0; n < 2; n++) {
            const int64_t a = x[r[n] * xd[3] + k[0]], b = x[r[n] * xd[3] + k[1]], sum = a * (16384 - k[2]) + b * k[2] + 2048;
            lines[n] = (sum - ((sum % 4096) + 4096) % 4096) / 4096;
        }
        const tn_requant f = factor(c, 0);
        return tn_clamp_i32(tn_requant_apply(&f, (int32_t)(lines[0] * (16384 - r[2]) + lines[1] * r[2])), low_of(c), high_of(c));
    }
    if (c->op == TN_HEX_OP_WIDE_RESIZE) {
        return x[c->in[1].v[row] * xd[3] + c->in[2].v[column]];
    }
    int32_t sum = 0, most = INT16_MIN;
    for (int32_t k = 0; k < xd[2] * xd[3]; k++) {
        const int32_t top = row * c->strides[0] - c->pads[0], left = column * c->strides[1] - c->pads[1];
        sum += x[k];
        if (k / xd[3] >= top && k / xd[3] < top + c->kernel[0] && k % xd[3] >= left && k % xd[3] < left + c->kernel[1] && x[k] > most) {
            most = x[k];
        }
    }
    const tn_requant f = factor(c, 0);
    return tn_clamp_i32(c->op == TN_HEX_OP_WIDE_MEAN ? tn_requant_apply(&f, sum) : most, low_of(c), high_of(c));
}

static int32_t border_one(const dsp_case *c, uint32_t i)
{
    float v;
    int32_t bits;
    memcpy(&v, &c->in[0].v[i], 4);
    if (c->op == TN_HEX_OP_WIDE_QUANTISE) {
        return v == v ? tn_clamp_i32(tn_round_even(v / c->scales[0]), INT16_MIN, INT16_MAX) : INT16_MIN;     // NaN: the least
    }
    v = (float)c->in[0].v[i] * c->scales[0];
    memcpy(&bits, &v, 4);
    return bits;
}

static int32_t sum_one(const dsp_case *c, uint32_t i)
{
    const int32_t *yd = c->y.t.dims;
    if (c->op == TN_HEX_OP_WIDE_CONV) {
        const int32_t area = yd[2] * yd[3], plane = (int32_t)i / area, m = plane % yd[1];
        return finish(c, (uint32_t)m, conv_sum(c, plane / yd[1], m, (int32_t)i % area));
    }
    const int32_t k = c->in[0].t.dims[1], row = (int32_t)i / yd[1], column = (int32_t)i % yd[1];
    int64_t sum = 0;
    for (int32_t n = 0; n < k; n++) {
        sum += (int64_t)c->in[0].v[row * k + n] * c->in[1].v[n * yd[1] + column];
    }
    return finish(c, (uint32_t)column, sum);
}

bool case_reference_wide(dsp_case *c)
{
    for (uint32_t i = 0; i < dsp_count(&c->y.t); i++) {
        switch (c->op) {
        case TN_HEX_OP_WIDE_CONV:
        case TN_HEX_OP_WIDE_MATMUL: c->y.v[i] = sum_one(c, i); break;
        case TN_HEX_OP_WIDE_ADD:
        case TN_HEX_OP_WIDE_SUB:
        case TN_HEX_OP_WIDE_MUL: c->y.v[i] = pair_one(c, i); break;
        case TN_HEX_OP_WIDE_LUT: c->y.v[i] = lut_one(c, i); break;
        case TN_HEX_OP_WIDE_MEAN:
        case TN_HEX_OP_WIDE_MAX_POOL:
        case TN_HEX_OP_WIDE_RESIZE: c->y.v[i] = picture_one(c, i); break;
        case TN_HEX_OP_WIDE_QUANTISE:
        case TN_HEX_OP_WIDE_DEQUANTISE: c->y.v[i] = border_one(c, i); break;
        default: return false;
        }
    }
    return true;
}
