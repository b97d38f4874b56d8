// SPDX-License-Identifier: Apache-2.0
// wide_conv: a flat run over padded planes, 64 pixels of up to four output channels at a time. A stride reads copies of a plane, one for
// each remainder of row and column, so that a tap is one unaligned load. After 128 taps what the low words carry goes to the high ones.
// Channels whose sums do not surely fit take the scalar way, in 64 bits.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/wide/hx_wide.h"

enum { MOST_TAPS = 256, CHUNK = 128, SLACK = 2 * TN_HX_WIDE_LANES };

typedef struct conv_plan {
    int32_t channels, group_in, group_out, taps;
    int32_t pitch, rows, n_rows, n_columns;      // of a phase plane; phases
    int32_t *phase_row, *phase_column;           // remainders, in the order of the planes
    int32_t *offsets;                            // [taps] halves from a channel's first plane
    int32_t plane;                               // halves of one phase plane
    int32_t flat;                                // pixels of the run
    int32_t direct;                              // x itself is read
    int32_t scalar;
    int32_t *weights;                            // [M][group_in][taps][2]: high and low part, twice in a word
    tn_hx_wide_finish *finish;
} conv_plan;

typedef struct conv_run {
    const conv_plan *plan;
    const tn_hx_value *x, *y;
    const tn_hx_attr *attr;
    int16_t *planes;                             // padded copies of the image
    int16_t *flat;                               // [M][flat, rounded up] results before rows are cut out
    int32_t image;
} conv_run;

// ---- what all sums share ----

tn_requant tn_hx_wide_factor(const tn_hx_attr *attr, uint32_t i)
{
    tn_requant r = {.rounding = attr->rounding == TN_HEX_FIXED_Q31 ? TN_ROUND_FIXED_Q31 : TN_ROUND_FLOAT_RNE};
    if (r.rounding == TN_ROUND_FIXED_Q31) {
        r.multiplier = (int32_t)attr->multipliers[i];
        r.shift = (int32_t)attr->shifts[i];
    } else {
        __builtin_memcpy(&r.scale, &attr->multipliers[i], 4);
    }
    return r;
}

uint32_t tn_hx_wide_sum_check(const tn_hx_graph *graph, const tn_hx_node *node, int32_t channels)
{
    const tn_hx_value *w = tn_hx_in(graph, node, 1), *bias = tn_hx_in(graph, node, 2);
    if (!tn_hx_is_wide(tn_hx_in(graph, node, 0)) || !tn_hx_is_wide(tn_hx_out(graph, node)) || w->dtype != TN_HEX_S16 ||
        (bias && bias->dtype != TN_HEX_S32)) {
        return TN_HEX_WHY_DTYPE;
    }
    if (w->origin != TN_HX_CONST || (bias && bias->origin != TN_HX_CONST)) {
        return TN_HEX_WHY_CONST;
    }
    if (bias && (bias->rank != 2 || bias->dims[0] != channels || bias->dims[1] != 2)) {
        return TN_HEX_WHY_SHAPE;
    }
    return node->attr.n_multipliers == 1 || node->attr.n_multipliers == (uint32_t)channels ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

void tn_hx_wide_finish_set(tn_hx_wide_finish *f, const tn_hx_graph *graph, const tn_hx_node *node, uint32_t m)
{
    const tn_hx_attr *attr = &node->attr;
    const tn_hx_value *bias = tn_hx_in(graph, node, 2);
    const uint32_t i = attr->n_multipliers == 1 ? 0 : m;
    uint32_t words[2] = {0, 0};
    if (bias) {
        memcpy(words, bias->data + 8 * m, sizeof words);
    }
    f->factor = tn_hx_wide_factor(attr, i);
    f->down = attr->down;
    f->low = attr->low;
    f->high = attr->high;
    f->bias = (int64_t)((uint64_t)words[1] << 32 | words[0]);
    // Nothing the host means is that large; sums must not overflow for anything it could send.
    const int64_t most = INT64_C(1) << 61;
    f->bias = f->bias > most ? most : f->bias < -most ? -most : f->bias;
    f->bias += (INT64_C(1) << f->down) >> 1;
    if (attr->rounding == TN_HEX_FIXED_Q31) {
        tn_hx_requant_set(&f->q31, TN_HEX_FIXED_Q31, attr->multipliers[i], (int32_t)attr->shifts[i], UINT64_C(1) << 31);
    }
}

int16_t tn_hx_wide_finish_one(const tn_hx_wide_finish *f, int64_t sum)
{
    const int32_t v = tn_saturate_i32((sum + f->bias) >> f->down);
    return (int16_t)tn_clamp_i32(tn_requant_apply(&f->factor, v), f->low, f->high);
}

// ---- check and prepare ----

static uint32_t check(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    tn_hx_attr *attr = &node->attr;
    if (!w) {
        return TN_HEX_WHY_ARITY;
    }
    if (x->rank != 4 || w->rank != 4 || y->rank != 4 || x->dims[0] != y->dims[0] || w->dims[0] != y->dims[1] ||
        (int64_t)w->dims[1] * attr->group != x->dims[1] || w->dims[0] % attr->group) {
        return TN_HEX_WHY_SHAPE;
    }
    if (w->dims[2] > 1024 || w->dims[3] > 1024) {
        return TN_HEX_WHY_LIMIT;
    }
    attr->kernel[0] = w->dims[2];
    attr->kernel[1] = w->dims[3];
    return tn_hx_window_fits(attr, x, y, attr->kernel) ? tn_hx_wide_sum_check(graph, node, w->dims[0]) : TN_HEX_WHY_SHAPE;
}

// The place of a remainder in a list that grows.
static int32_t phase_of(int32_t *list, int32_t *n, int32_t remainder)
{
    for (int32_t i = 0; i < *n; i++) {
        if (list[i] == remainder) {
            return i;
        }
    }
    list[*n] = remainder;
    return (*n)++;
}

static uint32_t set_taps(tn_hx_graph *graph, conv_plan *p, const tn_hx_attr *attr, const tn_hx_value *x, const tn_hx_value *y)
{
    const int32_t kh = attr->kernel[0], kw = attr->kernel[1];
    const int64_t reach_row = (int64_t)(kh - 1) * attr->dilations[0], reach_column = (int64_t)(kw - 1) * attr->dilations[1];
    const int64_t pitch = y->dims[3] + reach_column / attr->strides[1], rows = y->dims[2] + reach_row / attr->strides[0];
    p->direct = kh == 1 && kw == 1 && attr->strides[0] == 1 && attr->strides[1] == 1 && !attr->pads[0] && !attr->pads[1] &&
                x->origin == TN_HX_INNER && x->dims[3] == y->dims[3] && x->dims[2] == y->dims[2];
    p->phase_row = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)kh);
    p->phase_column = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)kw);
    p->offsets = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)p->taps);
    if (!p->phase_row || !p->phase_column || !p->offsets || pitch * rows > (1 << 28)) {
        return TN_HEX_WHY_LIMIT;
    }
    p->pitch = (int32_t)pitch;
    p->rows = (int32_t)rows;
    p->plane = p->direct ? (int32_t)(pitch * rows) : (int32_t)(pitch * rows + SLACK);
    p->flat = (y->dims[2] - 1) * p->pitch + y->dims[3];
    for (int32_t i = 0; i < kh; i++) {
        (void)phase_of(p->phase_row, &p->n_rows, i * attr->dilations[0] % attr->strides[0]);
    }
    for (int32_t i = 0; i < kw; i++) {
        (void)phase_of(p->phase_column, &p->n_columns, i * attr->dilations[1] % attr->strides[1]);
    }
    const uint64_t halves = (uint64_t)x->dims[1] * (uint32_t)p->n_rows * (uint32_t)p->n_columns * (uint32_t)p->plane;
    const uint64_t flat = (uint64_t)y->dims[1] * (uint32_t)(p->flat + SLACK);
    if (2 * (halves + flat) > 0x40000000u) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t i = 0; i < p->taps; i++) {
        const int32_t row = i / kw * attr->dilations[0], column = i % kw * attr->dilations[1];
        const int32_t a = phase_of(p->phase_row, &p->n_rows, row % attr->strides[0]);
        const int32_t b = phase_of(p->phase_column, &p->n_columns, column % attr->strides[1]);
        p->offsets[i] = (a * p->n_columns + b) * p->plane + row / attr->strides[0] * p->pitch + column / attr->strides[1];
    }
    tn_hx_scratch(graph, 2 * (uint32_t)(p->direct ? 0 : halves + flat) + 4 * TN_HX_VECTOR);
    return TN_HEX_WHY_NONE;
}

// Weights in parts; whether the words of all sums surely hold them.
static void pack_weights(conv_plan *p, const tn_hx_value *w, int32_t channels)
{
    const int32_t each = p->group_in * p->taps;
    p->scalar = p->taps > MOST_TAPS;
    for (int32_t m = 0; m < channels; m++) {
        uint64_t high = 0;
        for (int32_t k = 0; k < each; k++) {
            const int32_t v = ((const int16_t *)w->data)[m * each + k], upper = tn_hx_wide_high(v), lower = tn_hx_wide_low(v);
            int32_t *to = p->weights + 2 * (m * each + k);
            to[0] = (int32_t)((uint32_t)upper << 16 | (uint16_t)upper);
            to[1] = (int32_t)((uint32_t)lower << 16 | (uint16_t)lower);
            high += (uint64_t)(upper < 0 ? -upper : upper);
        }
        const int64_t bias = p->finish[m].bias >> 8;
        const uint64_t most = (high << 15) + ((uint64_t)(uint32_t)each << 14) + (uint64_t)(bias < 0 ? -bias : bias) + 2;
        p->scalar |= most > INT32_MAX;
    }
}

static uint32_t prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    const tn_hx_attr *attr = &node->attr;
    conv_plan *p = node->plan = tn_hx_pool_take(&graph->pool, sizeof *p);
    if (!p || (uint64_t)w->count * 8 > 0x40000000u) {
        return TN_HEX_WHY_LIMIT;
    }
    p->channels = w->dims[0];
    p->group_in = w->dims[1];
    p->group_out = p->channels / attr->group;
    p->taps = attr->kernel[0] * attr->kernel[1];
    p->finish = tn_hx_pool_take(&graph->pool, (uint32_t)p->channels * sizeof *p->finish);
    if (!p->finish) {
        return TN_HEX_WHY_LIMIT;
    }
    tn_hx_packed_room(graph, 8 * (uint64_t)w->count);
    tn_hx_packed_room(graph, sizeof p->scalar);
    return set_taps(graph, p, attr, x, y);
}

static uint32_t pack(tn_hx_graph *graph, tn_hx_node *node, int fresh)
{
    const tn_hx_value *w = tn_hx_in(graph, node, 1);
    conv_plan *p = node->plan;
    p->weights = (int32_t *)tn_hx_packed_next(graph, 8 * (uint64_t)w->count);
    if (!p->weights) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t m = 0; m < p->channels; m++) {
        tn_hx_wide_finish_set(&p->finish[m], graph, node, (uint32_t)m);
    }
    if (fresh) {
        pack_weights(p, w, p->channels);
    }
    return tn_hx_packed_copy(graph, &p->scalar, sizeof p->scalar, fresh) ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
}

// ---- run ----

// The phase planes of one channel, padding zero.
static void fill_tile(void *context, uint32_t channel)
{
    const conv_run *run = context;
    const conv_plan *p = run->plan;
    const int32_t height = run->x->dims[2], width = run->x->dims[3], sy = run->attr->strides[0], sx = run->attr->strides[1];
    const int16_t *from = (const int16_t *)run->x->data + (uint32_t)(run->image * run->x->dims[1] + (int32_t)channel) * (uint32_t)(height * width);
    int16_t *to = run->planes + channel * (uint32_t)(p->n_rows * p->n_columns * p->plane);
    for (int32_t a = 0; a < p->n_rows; a++) {
        for (int32_t b = 0; b < p->n_columns; b++, to += p->plane) {
            memset(to, 0, 2 * (uint32_t)p->plane);
            const int32_t shift = p->phase_column[b] - run->attr->pads[1];       // column 0 of the plane in x
            for (int32_t r = 0; r < p->rows; r++) {
                const int64_t row = (int64_t)r * sy + p->phase_row[a] - run->attr->pads[0];
                if (row < 0 || row >= height) {
                    continue;
                }
                const int16_t *line = from + row * width;
                int16_t *out = to + r * p->pitch;
                const int32_t first = shift < 0 ? (-shift + sx - 1) / sx : 0;
                if (sx == 1 && first < p->pitch && shift + first < width) {
                    const int32_t n = p->pitch - first < width - shift - first ? p->pitch - first : width - shift - first;
                    memcpy(out + first, line + shift + first, 2 * (uint32_t)n);
                    continue;
                }
                for (int32_t q = first; q < p->pitch && (int64_t)q * sx + shift < width; q++) {
                    out[q] = line[q * sx + shift];
                }
            }
        }
    }
}

// The even (which 0) or odd pixels' sums: 256 * high + low, shifted down, requantised.
static HVX_Vector finish_words(HVX_Vector high, HVX_Vector low, const tn_hx_wide_finish *f)
{
    high = Q6_Vw_vadd_VwVw(high, Q6_Vw_vasr_VwR(low, 8));
    low = Q6_V_vand_VV(low, Q6_V_vsplat_R(255));
    HVX_Vector v = f->down >= 8 ? Q6_Vw_vasr_VwR(high, f->down - 8)
                                : Q6_Vw_vadd_VwVw(Q6_Vw_vasl_VwR(high, 8 - f->down), Q6_Vw_vasr_VwR(low, f->down));
    if (f->factor.rounding == TN_ROUND_FIXED_Q31) {
        v = tn_hx_q31(v, &f->q31, TN_HX_Q31_UNIT);
    } else {
        int32_t words[32] __attribute__((aligned(128)));
        TN_HX_V(words) = v;
        for (int i = 0; i < 32; i++) {
            words[i] = tn_requant_rne(words[i], f->factor.scale);
        }
        v = TN_HX_V(words);
    }
    return Q6_Vw_vmin_VwVw(Q6_Vw_vmax_VwVw(v, Q6_V_vsplat_R(f->low)), Q6_V_vsplat_R(f->high));
}

static inline HVX_VectorPair normal_high(HVX_VectorPair high, HVX_VectorPair low)
{
    return Q6_W_vcombine_VV(Q6_Vw_vadd_VwVw(Q6_V_hi_W(high), Q6_Vw_vasr_VwR(Q6_V_hi_W(low), 8)),
                            Q6_Vw_vadd_VwVw(Q6_V_lo_W(high), Q6_Vw_vasr_VwR(Q6_V_lo_W(low), 8)));
}

static inline HVX_VectorPair normal_low(HVX_VectorPair low)
{
    const HVX_Vector mask = Q6_V_vsplat_R(255);
    return Q6_W_vcombine_VV(Q6_V_vand_VV(Q6_V_hi_W(low), mask), Q6_V_vand_VV(Q6_V_lo_W(low), mask));
}

// 64 pixels of one channel.
static HVX_Vector sum_one(const conv_plan *p, const int16_t *from, int32_t step, const int32_t *w, const tn_hx_wide_finish *f)
{
    const HVX_Vector h = Q6_V_vsplat_R((int32_t)(f->bias >> 8)), l = Q6_V_vsplat_R((int32_t)(f->bias & 255));
    HVX_VectorPair high = Q6_W_vcombine_VV(h, h), low = Q6_W_vcombine_VV(l, l);
    int32_t left = CHUNK;
    for (int32_t c = 0; c < p->group_in; c++, from += step) {
        for (int32_t t = 0; t < p->taps; t++, w += 2) {
            const HVX_Vector x = TN_HX_CVU(from + p->offsets[t]);
            high = Q6_Ww_vmpyacc_WwVhRh(high, x, w[0]);
            low = Q6_Ww_vmpyacc_WwVhRh(low, x, w[1]);
        }
        left -= p->taps;
        if (left < p->taps) {
            high = normal_high(high, low);
            low = normal_low(low);
            left = CHUNK;
        }
    }
    return Q6_Vh_vsat_VwVw(finish_words(Q6_V_hi_W(high), Q6_V_hi_W(low), f), finish_words(Q6_V_lo_W(high), Q6_V_lo_W(low), f));
}

// The same of four channels that read the same pixels.
static void sum_four(const conv_plan *p, const int16_t *from, int32_t step, const int32_t *w, const tn_hx_wide_finish *f, HVX_Vector out[4])
{
    const int32_t each = 2 * p->group_in * p->taps;
    HVX_VectorPair high[4], low[4];
    int32_t left = CHUNK;
    for (int k = 0; k < 4; k++) {
        const HVX_Vector h = Q6_V_vsplat_R((int32_t)(f[k].bias >> 8)), l = Q6_V_vsplat_R((int32_t)(f[k].bias & 255));
        high[k] = Q6_W_vcombine_VV(h, h);
        low[k] = Q6_W_vcombine_VV(l, l);
    }
    for (int32_t c = 0; c < p->group_in; c++, from += step) {
        for (int32_t t = 0; t < p->taps; t++, w += 2) {
            const HVX_Vector x = TN_HX_CVU(from + p->offsets[t]);
#pragma clang loop unroll(full)
            for (int k = 0; k < 4; k++) {
                high[k] = Q6_Ww_vmpyacc_WwVhRh(high[k], x, w[k * each]);
                low[k] = Q6_Ww_vmpyacc_WwVhRh(low[k], x, w[k * each + 1]);
            }
        }
        left -= p->taps;
        if (left < p->taps) {
#pragma clang loop unroll(full)
            for (int k = 0; k < 4; k++) {
                high[k] = normal_high(high[k], low[k]);
                low[k] = normal_low(low[k]);
            }
            left = CHUNK;
        }
    }
    for (int k = 0; k < 4; k++) {
        out[k] = Q6_Vh_vsat_VwVw(finish_words(Q6_V_hi_W(high[k]), Q6_V_hi_W(low[k]), &f[k]),
                                 finish_words(Q6_V_lo_W(high[k]), Q6_V_lo_W(low[k]), &f[k]));
    }
}

// Channel m by scalars.
static void scalar_channel(const conv_run *run, int32_t m, const int16_t *from, int32_t step, int16_t *to)
{
    const conv_plan *p = run->plan;
    const int32_t *w = p->weights + 2 * m * p->group_in * p->taps;
    for (int32_t i = 0; i < p->flat; i++) {
        int64_t sum = 0;
        for (int32_t c = 0; c < p->group_in; c++) {
            for (int32_t t = 0; t < p->taps; t++) {
                const int32_t *parts = w + 2 * (c * p->taps + t);
                sum += (int64_t)from[c * step + p->offsets[t] + i] * (256 * (int16_t)parts[0] + (int16_t)parts[1]);
            }
        }
        to[i] = tn_hx_wide_finish_one(&p->finish[m], sum);
    }
}

// Results of a channel without the pixels between rows.
static void cut_rows(const conv_run *run, int32_t m, const int16_t *flat)
{
    const int32_t height = run->y->dims[2], width = run->y->dims[3];
    int16_t *to = (int16_t *)run->y->data + (uint32_t)(run->image * run->y->dims[1] + m) * (uint32_t)(height * width);
    for (int32_t r = 0; r < height; r++, to += width, flat += run->plan->pitch) {
        memcpy(to, flat, 2 * (uint32_t)width);
    }
}

// Four output channels, or what is left of a group.
static void channel_tile(void *context, uint32_t index)
{
    const conv_run *run = context;
    const conv_plan *p = run->plan;
    const int32_t tiles = (p->group_out + 3) / 4, group = (int32_t)index / tiles, first = (int32_t)index % tiles * 4;
    const int32_t m = group * p->group_out + first, n = p->group_out - first < 4 ? p->group_out - first : 4;
    const int32_t each = 2 * p->group_in * p->taps, step = p->direct ? p->plane : p->n_rows * p->n_columns * p->plane;
    const int16_t *from = (p->direct ? (const int16_t *)run->x->data + (uint32_t)(run->image * run->x->dims[1]) * (uint32_t)p->plane : run->planes) +
                          group * p->group_in * step;
    const int32_t area = p->direct ? p->flat : p->flat + SLACK;
    int16_t *to = p->direct ? (int16_t *)run->y->data + (uint32_t)(run->image * p->channels + m) * (uint32_t)area : run->flat + m * area;
    for (int32_t i = 0; i < p->flat && !p->scalar; i += TN_HX_WIDE_LANES) {
        HVX_Vector out[4];
        if (n == 4) {
            sum_four(p, from + i, step, p->weights + m * each, &p->finish[m], out);
        }
        for (int32_t k = 0; k < n; k++) {
            out[k] = n == 4 ? out[k] : sum_one(p, from + i, step, p->weights + (m + k) * each, &p->finish[m + k]);
            tn_hx_store_bytes((uint8_t *)(to + k * area + i), out[k], 2 * (p->flat - i));
        }
    }
    for (int32_t k = 0; k < n; k++) {
        if (p->scalar) {
            scalar_channel(run, m + k, from, step, to + k * area);
        }
        if (!p->direct) {
            cut_rows(run, m + k, to + k * area);
        }
    }
}

static void run(tn_hx_graph *graph, tn_hx_node *node)
{
    conv_run r = {.plan = node->plan, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node), .attr = &node->attr};
    const conv_plan *p = r.plan;
    r.planes = (int16_t *)graph->scratch;
    r.flat = r.planes + (uint32_t)(r.x->dims[1] * p->n_rows * p->n_columns) * (uint32_t)p->plane;
    for (r.image = 0; r.image < r.x->dims[0]; r.image++) {
        if (!p->direct) {
            tn_hx_parallel(fill_tile, &r, (uint32_t)r.x->dims[1]);
        }
        tn_hx_parallel(channel_tile, &r, (uint32_t)(node->attr.group * ((p->group_out + 3) / 4)));
    }
}

const tn_hx_op tn_hx_op_wide_conv = {
    .index = TN_HEX_OP_WIDE_CONV, .min_in = 2, .max_in = 3, .check = check, .layout = tn_hx_layout_plain, .prepare = prepare, .pack = pack,
    .run = run
};
