// SPDX-License-Identifier: Apache-2.0
// What the operators of the wire mean (exec/hexagon/wire/hex_graph.h), as plainly as possible: logical tensors, one element at a time.
// Ownership: none. Threads: one.
#include "dsp_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t low_of(const dsp_case *c)
{
    const int32_t least = c->y.t.dtype == TN_HEX_S8 ? -128 : 0;
    return c->has_clamp && c->clamp[0] > least ? c->clamp[0] : least;
}

static int32_t high_of(const dsp_case *c)
{
    const int32_t most = c->y.t.dtype == TN_HEX_S8 ? 127 : 255;
    return c->has_clamp && c->clamp[1] < most ? c->clamp[1] : most;
}

static int32_t finish(const dsp_case *c, int32_t v) { return tn_clamp_i32(v + c->y.t.zero, low_of(c), high_of(c)); }

static float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

static int32_t requant(const dsp_case *c, int32_t sum, uint32_t channel)
{
    const uint32_t at = c->n_multipliers == 1 ? 0 : channel;
    return c->rounding == TN_HEX_FIXED_Q31 ? tn_requant_q31(sum, (int32_t)c->multipliers[at], c->shifts[at])
                                           : tn_requant_rne(sum, float_of(c->multipliers[at]));
}

// The sum of one place of the result: output channel m of image n, pixel i.
static int64_t conv_sum(const dsp_case *c, int32_t n, int32_t m, int32_t i)
{
    const case_tensor *x = &c->in[0], *w = &c->in[1], *b = &c->in[2];
    const int32_t *xd = x->t.dims, *yd = c->y.t.dims, *wd = w->t.dims;
    const int32_t size = wd[1] * wd[2] * wd[3], first = n * xd[1] + m / (yd[1] / c->group) * wd[1];
    int64_t sum = c->n_in > 2 && !b->absent ? b->v[m] : 0;
    for (int32_t k = 0; k < size; k++) {
        const int32_t ch = k / (wd[2] * wd[3]), ky = k / wd[3] % wd[2], kx = k % wd[3];
        const int32_t row = i / yd[3] * c->strides[0] - c->pads[0] + ky * c->dilations[0];
        const int32_t column = i % yd[3] * c->strides[1] - c->pads[1] + kx * c->dilations[1];
        if (row >= 0 && row < xd[2] && column >= 0 && column < xd[3]) {
            sum += (int64_t)(x->v[((first + ch) * xd[2] + row) * xd[3] + column] - x->t.zero) * w->v[m * size + k];
        }
    }
    return sum;
}

static void conv(dsp_case *c)
{
    const int32_t *yd = c->y.t.dims;
    int32_t *out = c->y.v;
    for (int32_t n = 0; n < yd[0]; n++) {
        for (int32_t m = 0; m < yd[1]; m++) {
            for (int32_t i = 0; i < yd[2] * yd[3]; i++) {
                const int64_t sum = conv_sum(c, n, m, i);
                *out++ = finish(c, requant(c, (int32_t)(uint32_t)(uint64_t)sum, (uint32_t)m));
            }
        }
    }
}

// Each element of x adds to a window of y.
static void deconv(dsp_case *c)
{
    const case_tensor *x = &c->in[0], *w = &c->in[1], *b = &c->in[2];
    const int32_t *xd = x->t.dims, *yd = c->y.t.dims, *wd = w->t.dims;
    const int32_t in_per = xd[1] / c->group, out_per = wd[1], area = yd[2] * yd[3];
    int64_t *sums = calloc((size_t)(yd[0] * yd[1] * area), sizeof *sums);
    for (int32_t i = 0; i < (int32_t)dsp_count(&x->t); i++) {
        const int32_t column = i % xd[3], row = i / xd[3] % xd[2], ch = i / (xd[2] * xd[3]) % xd[1], n = i / (xd[1] * xd[2] * xd[3]);
        for (int32_t k = 0; k < out_per * wd[2] * wd[3]; k++) {
            const int32_t m = k / (wd[2] * wd[3]), ky = k / wd[3] % wd[2], kx = k % wd[3];
            const int32_t oy = row * c->strides[0] - c->pads[0] + ky * c->dilations[0];
            const int32_t ox = column * c->strides[1] - c->pads[1] + kx * c->dilations[1];
            if (oy >= 0 && oy < yd[2] && ox >= 0 && ox < yd[3]) {
                sums[(n * yd[1] + ch / in_per * out_per + m) * area + oy * yd[3] + ox] +=
                    (int64_t)(x->v[i] - x->t.zero) * w->v[ch * out_per * wd[2] * wd[3] + k];
            }
        }
    }
    for (int32_t i = 0; i < yd[0] * yd[1] * area; i++) {
        const int32_t m = i / area % yd[1];
        const int64_t sum = sums[i] + (c->n_in > 2 && !b->absent ? b->v[m] : 0);
        c->y.v[i] = finish(c, requant(c, (int32_t)(uint32_t)(uint64_t)sum, (uint32_t)m));
    }
    free(sums);
}

static void matmul(dsp_case *c)
{
    const case_tensor *x = &c->in[0], *w = &c->in[1], *b = &c->in[2];
    const int32_t inner = x->t.dims[x->t.rank - 1], n = c->y.t.dims[c->y.t.rank - 1];
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        int64_t sum = c->n_in > 2 && !b->absent ? b->v[i % n] : 0;
        for (int32_t k = 0; k < inner; k++) {
            sum += (int64_t)(x->v[i / n * inner + k] - x->t.zero) * w->v[c->transpose ? i % n * inner + k : k * n + i % n];
        }
        c->y.v[i] = finish(c, requant(c, (int32_t)(uint32_t)(uint64_t)sum, (uint32_t)(i % n)));
    }
}

static void pool(dsp_case *c)
{
    const case_tensor *x = &c->in[0];
    const int32_t *xd = x->t.dims, *yd = c->y.t.dims;
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        const int32_t ox = i % yd[3], oy = i / yd[3] % yd[2], plane = i / (yd[2] * yd[3]);
        int32_t sum = 0, most = INT32_MIN, n = 0;
        for (int32_t k = 0; k < c->kernel[0] * c->kernel[1]; k++) {
            const int32_t row = oy * c->strides[0] - c->pads[0] + k / c->kernel[1] * c->dilations[0];
            const int32_t column = ox * c->strides[1] - c->pads[1] + k % c->kernel[1] * c->dilations[1];
            if (row >= 0 && row < xd[2] && column >= 0 && column < xd[3]) {
                const int32_t v = x->v[(plane * xd[2] + row) * xd[3] + column];
                sum += v - x->t.zero;
                most = v > most ? v : most;
                n++;
            }
        }
        if (c->op == TN_HEX_OP_MAX_POOL) {
            c->y.v[i] = tn_clamp_i32(most, low_of(c), high_of(c));
            continue;
        }
        n = c->count_pad ? c->kernel[0] * c->kernel[1] : n;
        const int32_t v = c->rounding == TN_HEX_FIXED_Q31 ? tn_requant_q31(sum, (int32_t)c->multipliers[n - 1], c->shifts[n - 1])
                                                          : tn_requant_rne(sum, c->scales[0] / (float)n);
        c->y.v[i] = finish(c, v);
    }
}

static void mean(dsp_case *c)
{
    const int32_t n = (int32_t)(dsp_count(&c->in[0].t) / dsp_count(&c->y.t));
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        int32_t sum = 0;
        for (int32_t k = 0; k < n; k++) {
            sum += c->in[0].v[i * n + k] - c->in[0].t.zero;
        }
        c->y.v[i] = finish(c, c->rounding == TN_HEX_FIXED_Q31 ? tn_requant_q31(sum, (int32_t)c->multipliers[0], c->shifts[0])
                                                              : tn_requant_rne(sum, c->scales[0]));
    }
}

// Place in x of the element of y at `at` under broadcast.
static int32_t broadcast_at(const dsp_tensor *x, const dsp_tensor *y, int32_t at)
{
    int32_t place = 0, stride = 1;
    for (int32_t i = 1; i <= (int32_t)y->rank; i++) {
        const int32_t dim = y->dims[y->rank - (uint32_t)i], index = at % dim;
        at /= dim;
        if (i <= (int32_t)x->rank) {
            const int32_t own = x->dims[x->rank - (uint32_t)i];
            place += own == 1 ? 0 : index * stride;
            stride *= own;
        }
    }
    return place;
}

static void binary(dsp_case *c)
{
    const case_tensor *a = &c->in[0], *b = &c->in[1];
    tn_requant_pair p = {.rounding = c->rounding, .a_zero = a->t.zero, .b_zero = b->t.zero, .y_zero = c->y.t.zero, .low = low_of(c),
                         .high = high_of(c), .a_scale = c->scales[0], .b_scale = c->scales[1], .y_scale = c->scales[2]};
    tn_requant *const to[3] = {&p.a, &p.b, &p.y};
    for (uint32_t i = 0; i < c->n_multipliers; i++) {
        tn_requant *r = to[c->n_multipliers == 1 ? 2 : i];
        r->multiplier = (int32_t)c->multipliers[i];
        r->shift = c->shifts[i];
    }
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        const int32_t u = a->v[broadcast_at(&a->t, &c->y.t, i)], v = b->v[broadcast_at(&b->t, &c->y.t, i)];
        switch (c->op) {
        case TN_HEX_OP_MIN: c->y.v[i] = tn_clamp_i32(u < v ? u : v, p.low, p.high); break;
        case TN_HEX_OP_MAX: c->y.v[i] = tn_clamp_i32(u > v ? u : v, p.low, p.high); break;
        case TN_HEX_OP_MUL: c->y.v[i] = tn_requant_product(&p, u, v); break;
        default: c->y.v[i] = tn_requant_sum(&p, u, v, c->op == TN_HEX_OP_SUB); break;
        }
    }
}

static void unary(dsp_case *c)
{
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        const int32_t v = c->in[0].v[i];
        if (c->op == TN_HEX_OP_LUT) {
            const int32_t byte = c->in[1].v[(uint8_t)v];
            c->y.v[i] = c->y.t.dtype == TN_HEX_S8 ? (int8_t)byte : byte;
        } else {
            c->y.v[i] = tn_clamp_i32(v, low_of(c), high_of(c));
        }
    }
}

static void softmax(dsp_case *c)
{
    const dsp_tensor *t = &c->y.t;
    int32_t inner = 1;
    for (uint32_t i = (uint32_t)c->axis + 1; i < t->rank; i++) {
        inner *= t->dims[i];
    }
    const int32_t n = t->dims[c->axis];
    for (int32_t line = 0; line < (int32_t)dsp_count(t) / n; line++) {
        const int32_t first = line / inner * inner * n + line % inner;
        int32_t most = INT32_MIN;
        uint64_t sum = 0;
        for (int32_t i = 0; i < n; i++) {
            most = c->in[0].v[first + i * inner] > most ? c->in[0].v[first + i * inner] : most;
        }
        for (int32_t i = 0; i < n; i++) {
            sum += (uint32_t)c->in[1].v[most - c->in[0].v[first + i * inner]];
        }
        for (int32_t i = 0; i < n; i++) {
            const uint32_t e = (uint32_t)c->in[1].v[most - c->in[0].v[first + i * inner]];
            c->y.v[first + i * inner] = tn_requant_softmax(e, sum, c->factor, t->zero, low_of(c), high_of(c));
        }
    }
}

static uint32_t root(uint64_t v)
{
    uint64_t r = (uint64_t)sqrt((double)v);
    while (r * r > v) {
        r--;
    }
    while ((r + 1) * (r + 1) <= v) {
        r++;
    }
    return (uint32_t)r;
}

static void layer_norm(dsp_case *c)
{
    const int32_t n = c->in[1].t.dims[0];
    const uint64_t epsilon = (uint64_t)c->epsilon[1] << 32 | c->epsilon[0];
    for (int32_t line = 0; line < (int32_t)dsp_count(&c->y.t) / n; line++) {
        const int32_t *x = c->in[0].v + line * n;
        int64_t s = 0, squares = 0;
        for (int32_t i = 0; i < n; i++) {
            s += x[i];
            squares += (int64_t)x[i] * x[i];
        }
        const tn_norm_factor f = tn_norm_factor_of(n, root(tn_norm_square(n, s, squares, epsilon)));
        for (int32_t i = 0; i < n; i++) {
            const int32_t z = tn_norm_scaled(&f, n * x[i] - (int32_t)s);
            c->y.v[line * n + i] = tn_norm_result(z, c->in[1].v[i], c->in[2].v[i], c->down, c->y.t.zero, low_of(c), high_of(c));
        }
    }
}

static void product(dsp_case *c)
{
    const case_tensor *a = &c->in[0], *b = &c->in[1];
    const uint32_t rank = c->y.t.rank;
    const int32_t m = c->y.t.dims[rank - 2], n = c->y.t.dims[rank - 1], inner = a->t.dims[rank - 1];
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        const int32_t batch = i / n / m, *row = a->v + i / n * inner, *column = b->v + batch * inner * n + i % n;
        int64_t sum = 0;
        for (int32_t k = 0; k < inner; k++) {
            sum += (int64_t)(row[k] - a->t.zero) * (column[k * n] - b->t.zero);
        }
        c->y.v[i] = finish(c, requant(c, (int32_t)sum, 0));
    }
}

static void border(dsp_case *c)
{
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        if (c->op == TN_HEX_OP_QUANTISE) {
            const float v = float_of((uint32_t)c->in[0].v[i]) / c->scales[0];
            c->y.v[i] = finish(c, v == v ? tn_round_even(v) : INT16_MIN);     // NaN: the least
        } else {
            const float v = (float)(c->in[0].v[i] - c->in[0].t.zero) * c->scales[0];
            memcpy(&c->y.v[i], &v, 4);
        }
    }
}

static void concat(dsp_case *c)
{
    const dsp_tensor *t = &c->y.t;
    int32_t inner = 1, before = 0;
    for (uint32_t i = (uint32_t)c->axis + 1; i < t->rank; i++) {
        inner *= t->dims[i];
    }
    for (uint32_t k = 0; k < c->n_in; k++) {
        const int32_t own = c->in[k].t.dims[c->axis] * inner, row = t->dims[c->axis] * inner;
        for (int32_t i = 0; i < (int32_t)dsp_count(&c->in[k].t); i++) {
            c->y.v[i / own * row + before + i % own] = c->in[k].v[i];
        }
        before += own;
    }
}

static void copy(dsp_case *c)
{
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        c->y.v[i] = c->y.t.zero;
    }
    for (const uint32_t *w = c->regions, *end = c->regions + c->n_regions; w < end; w += 3 + 3 * w[0]) {
        const uint32_t rank = w[0], *sizes = w + 3;
        uint32_t total = 1;
        for (uint32_t i = 0; i < rank; i++) {
            total *= sizes[i];
        }
        for (uint32_t at = 0; at < total; at++) {
            int64_t from = w[1], to = w[2];
            uint32_t rest = at;
            for (uint32_t i = rank; i-- > 0; rest /= sizes[i]) {
                from += (int64_t)(rest % sizes[i]) * (int32_t)sizes[rank + i];
                to += (int64_t)(rest % sizes[i]) * (int32_t)sizes[2 * rank + i];
            }
            c->y.v[to] = c->in[0].v[from];
        }
    }
}

static void resize(dsp_case *c)
{
    const int32_t *xd = c->in[0].t.dims, *yd = c->y.t.dims, *rows = c->in[1].v, *columns = c->in[2].v;
    for (int32_t i = 0; i < (int32_t)dsp_count(&c->y.t); i++) {
        const int32_t ox = i % yd[3], oy = i / yd[3] % yd[2], *x = c->in[0].v + i / (yd[2] * yd[3]) * xd[2] * xd[3];
        if (!c->mode) {
            c->y.v[i] = x[rows[oy] * xd[3] + columns[ox]];
            continue;
        }
        const int32_t *r = rows + 3 * oy, *k = columns + 3 * ox, *top = x + r[0] * xd[3], *low = x + r[1] * xd[3];
        const int64_t above = (int64_t)top[k[0]] * (2048 - k[2]) + (int64_t)top[k[1]] * k[2];
        const int64_t below = (int64_t)low[k[0]] * (2048 - k[2]) + (int64_t)low[k[1]] * k[2];
        const int64_t sum = above * (2048 - r[2]) + below * r[2] - ((int64_t)c->in[0].t.zero * (1 << 22));
        c->y.v[i] = finish(c, requant(c, (int32_t)sum, 0));
    }
}

void case_reference(dsp_case *c)
{
    switch (c->op) {
    case TN_HEX_OP_CONV: conv(c); break;
    case TN_HEX_OP_DECONV: deconv(c); break;
    case TN_HEX_OP_MATMUL: matmul(c); break;
    case TN_HEX_OP_AVERAGE_POOL:
    case TN_HEX_OP_MAX_POOL: pool(c); break;
    case TN_HEX_OP_MEAN: mean(c); break;
    case TN_HEX_OP_LUT:
    case TN_HEX_OP_CLAMP: unary(c); break;
    case TN_HEX_OP_SOFTMAX: softmax(c); break;
    case TN_HEX_OP_LAYER_NORM: layer_norm(c); break;
    case TN_HEX_OP_PRODUCT: product(c); break;
    case TN_HEX_OP_QUANTISE:
    case TN_HEX_OP_DEQUANTISE: border(c); break;
    case TN_HEX_OP_CONCAT: concat(c); break;
    case TN_HEX_OP_COPY: copy(c); break;
    case TN_HEX_OP_RESIZE: resize(c); break;
    default:
        if (!case_reference_wide(c)) {
            binary(c);
        }
    }
}
