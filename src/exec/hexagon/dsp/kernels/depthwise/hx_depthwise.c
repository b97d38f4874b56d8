// SPDX-License-Identifier: Apache-2.0
// Depthwise convolution, one output channel per input channel: any kernel, stride, dilation. vrmpy sums four bytes of a word, and in QUAD
// those are four channels; so four taps at a time are turned round, word by word, into four taps of each channel:
//
//   tap 0: a0 b0 c0 d0   tap 1: a1 b1 c1 d1   ...   ->   a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3
//
// (eight shuffles of even and odd bytes and halves, which keep the pixels in order), and one vrmpy with four weights in a register does
// four useful products in each lane. Taps left over are multiplied as they lie, with one weight and three zeros.
//
// 3 x 3 with stride 1 turns round four rows instead: with weights 0 1 2 - of a column they give one row of the result, with - 0 1 2 the
// row below it; the other columns are the same words one and two lanes further.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/kernels/hx_conv.h"
#include "exec/hexagon/dsp/kernels/depthwise/hx_blocks.h"
#include "exec/hexagon/dsp/kernels/depthwise/hx_columns.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { BLOCK_VECTORS = 64 };

typedef struct depthwise_plan {
    tn_hx_taps taps;
    int32_t groups, singles;     // of four taps; left over
    uint8_t *modes;              // [planes]
    int32_t words;               // of weights of a plane
    int32_t rows;                // 3 x 3 by four rows: weights are [3 columns][4] for the upper row, then for the lower
    int32_t *weights;            // [planes][groups + singles][4]: four taps of a channel; or one weight at the channel's byte
    tn_hx_requant *requant;      // [planes][4]
    tn_hx_planar *planar;        // NULL: not that way
    tn_hx_blocks *blocks;        // NULL: not that way
} depthwise_plan;

typedef struct depthwise_run {
    const depthwise_plan *plan;
    const tn_hx_attr *attr;
    const tn_hx_value *x, *y;
    uint8_t *scratch;
    uint32_t taken;              // bit i: a thread works in part i of the scratch
    int32_t image, vectors;
} depthwise_run;

typedef struct depthwise_tile {
    const uint8_t *x;
    const int32_t *offsets, *weights;
    const tn_hx_requant *requant;
    int32_t groups, singles;
    int32_t pitch, width, height;
    tn_hx_ends ends;
} depthwise_tile;

int tn_hx_depthwise_fits(const tn_hx_graph *graph, const tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    return node->op->index == TN_HEX_OP_CONV && node->attr.group == x->dims[1] && y->dims[1] == x->dims[1];
}

static int is_planar(const depthwise_plan *plan, const tn_hx_attr *attr, const tn_hx_value *x, const tn_hx_value *y)
{
    const int square = plan->taps.direct && attr->kernel[0] == attr->kernel[1] && (attr->kernel[0] == 3 || attr->kernel[0] == 5) &&
                       attr->dilations[0] == 1 && attr->dilations[1] == 1;
    return square && tn_hx_planar_pays(x, y, attr->kernel[0]);
}

// Bytes of the plan's own arrays.
static uint32_t weights_bytes(const depthwise_plan *plan, const tn_hx_value *x) { return 4 * (uint32_t)x->planes * (uint32_t)plan->words; }
static uint32_t requant_bytes(const tn_hx_value *x) { return 4 * (uint32_t)x->planes * sizeof(tn_hx_requant); }

uint32_t tn_hx_depthwise_prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    depthwise_plan *plan = node->plan = tn_hx_pool_take(&graph->pool, sizeof *plan);
    if (!plan) {
        return TN_HEX_WHY_LIMIT;
    }
    const uint32_t why = tn_hx_taps_init(graph, &plan->taps, &node->attr, node->attr.kernel, x, y);
    if (why) {
        return why;
    }
    const int32_t taps = plan->taps.n;
    plan->groups = (taps + 1) / 4;   // three left over are a group with a weight of 0
    plan->singles = taps - 4 * plan->groups > 0 ? taps - 4 * plan->groups : 0;
    plan->rows = plan->taps.direct && node->attr.kernel[0] == 3 && node->attr.kernel[1] == 3 && node->attr.dilations[0] == 1 &&
                 node->attr.dilations[1] == 1;
    plan->words = plan->rows ? 24 : 4 * (plan->groups + plan->singles);
    int32_t *offsets = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)(taps + 1));
    plan->weights = tn_hx_pool_take(&graph->pool, weights_bytes(plan, x));
    plan->requant = tn_hx_pool_take(&graph->pool, requant_bytes(x));
    plan->modes = tn_hx_pool_take(&graph->pool, (uint32_t)x->planes);
    if (!offsets || !plan->weights || !plan->requant || !plan->modes) {
        return TN_HEX_WHY_LIMIT;
    }
    memcpy(offsets, plan->taps.offsets, 4 * (uint32_t)taps);
    plan->taps.offsets = offsets;
    tn_hx_packed_room(graph, weights_bytes(plan, x));
    tn_hx_packed_room(graph, requant_bytes(x));
    tn_hx_packed_room(graph, (uint32_t)x->planes);
    if (tn_hx_window_blocks(&node->attr)) {
        tn_hx_blocks_room(graph, y);
    } else if (is_planar(plan, &node->attr, x, y)) {
        tn_hx_planar_room(graph, y, node->attr.kernel[0]);
    }
    tn_hx_scratch(graph, tn_hx_taps_scratch(&plan->taps, x));
    return TN_HEX_WHY_NONE;
}

static uint32_t prepare_planar(tn_hx_graph *graph, const tn_hx_node *node, depthwise_plan *plan, const int8_t *w, int fresh)
{
    plan->planar = tn_hx_pool_take(&graph->pool, sizeof *plan->planar);
    if (!plan->planar) {
        return TN_HEX_WHY_LIMIT;
    }
    const uint32_t why = tn_hx_planar_prepare(graph, plan->planar, node, w, plan->requant, plan->modes, plan->taps.offsets[0] / 4, fresh);
    tn_hx_scratch(graph, TN_HEX_MAX_THREADS * tn_hx_planar_scratch(plan->planar));
    return why;
}

static void pack_weights(const tn_hx_graph *graph, const tn_hx_node *node, depthwise_plan *plan, int8_t *weights)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *w = tn_hx_in(graph, node, 1);
    const int32_t taps = plan->taps.n;
    for (int32_t c = 0; c < 4 * x->planes; c++) {
        tn_hx_requant *r = &plan->requant[c];
        if (c >= x->dims[1]) {
            *r = plan->requant[c - 1];   // lanes of no channel
            continue;
        }
        const int8_t *from = (const int8_t *)w->data + c * taps;
        int32_t *to = plan->weights + c / 4 * plan->words;
        if (!tn_hx_conv_requant(graph, node, r, c, from, (uint32_t)taps)) {
            continue;
        }
        memcpy(weights + c * taps, from, (uint32_t)taps);
        for (int32_t t = 0; t < taps; t++) {
            const uint32_t weight = (uint8_t)from[t];
            if (plan->rows) {
                to[4 * (t % 3) + c % 4] |= (int32_t)(weight << 8 * (t / 3));
                to[12 + 4 * (t % 3) + c % 4] |= (int32_t)(weight << 8 * (t / 3 + 1));
            } else if (t < 4 * plan->groups) {
                to[t / 4 * 4 + c % 4] |= (int32_t)(weight << 8 * (t % 4));
            } else {
                to[4 * (plan->groups + t - 4 * plan->groups) + c % 4] = (int32_t)(weight << 8 * (c % 4));
            }
        }
    }
}

uint32_t tn_hx_depthwise_pack(tn_hx_graph *graph, tn_hx_node *node, int fresh)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    depthwise_plan *plan = node->plan;
    const uint32_t planes = (uint32_t)x->planes;
    int8_t *weights = fresh ? tn_hx_pool_take(&graph->pool, (uint32_t)(x->dims[1] * plan->taps.n)) : NULL;   // those that count
    if (fresh && !weights) {
        return TN_HEX_WHY_LIMIT;
    }
    if (fresh) {
        pack_weights(graph, node, plan, weights);
    }
    for (uint32_t plane = 0; fresh && plane < planes; plane++) {
        plan->modes[plane] = (uint8_t)tn_hx_requant_mode(plan->requant + 4 * plane, 4, node->attr.rounding, 1);
    }
    if (!tn_hx_packed_copy(graph, plan->weights, weights_bytes(plan, x), fresh) ||
        !tn_hx_packed_copy(graph, plan->requant, requant_bytes(x), fresh) || !tn_hx_packed_copy(graph, plan->modes, planes, fresh)) {
        return TN_HEX_WHY_LIMIT;
    }
    const uint32_t why = tn_hx_requant_sane(plan->requant, 4 * planes, plan->modes, planes);
    if (!why && tn_hx_window_blocks(&node->attr)) {
        plan->blocks = tn_hx_pool_take(&graph->pool, sizeof *plan->blocks);
        return plan->blocks ? tn_hx_blocks_prepare(graph, plan->blocks, node, weights, plan->requant, plan->modes, fresh) : TN_HEX_WHY_LIMIT;
    }
    return !why && is_planar(plan, &node->attr, x, y) ? prepare_planar(graph, node, plan, weights, fresh) : why;
}

// Four taps of four channels, turned round, times their weights.
static inline __attribute__((always_inline)) void add_group(HVX_Vector *s, const uint8_t *x, const int32_t *offsets, const int32_t *w)
{
    const HVX_Vector a = TN_HX_CVU(x + offsets[0]), b = TN_HX_CVU(x + offsets[1]);
    const HVX_Vector c = TN_HX_CVU(x + offsets[2]), d = TN_HX_CVU(x + offsets[3]);
    const HVX_Vector ab_even = Q6_Vb_vshuffe_VbVb(b, a), ab_odd = Q6_Vb_vshuffo_VbVb(b, a);
    const HVX_Vector cd_even = Q6_Vb_vshuffe_VbVb(d, c), cd_odd = Q6_Vb_vshuffo_VbVb(d, c);
    s[0] = Q6_Vw_vrmpyacc_VwVubRb(s[0], Q6_Vh_vshuffe_VhVh(cd_even, ab_even), w[0]);
    s[2] = Q6_Vw_vrmpyacc_VwVubRb(s[2], Q6_Vh_vshuffe_VhVh(cd_odd, ab_odd), w[1]);
    s[4] = Q6_Vw_vrmpyacc_VwVubRb(s[4], Q6_Vh_vshuffo_VhVh(cd_even, ab_even), w[2]);
    s[6] = Q6_Vw_vrmpyacc_VwVubRb(s[6], Q6_Vh_vshuffo_VhVh(cd_odd, ab_odd), w[3]);
}

static inline __attribute__((always_inline)) void add_single(HVX_Vector *s, const uint8_t *x, int32_t offset, const int32_t *w)
{
    const HVX_Vector v = TN_HX_CVU(x + offset);
    s[0] = Q6_Vw_vrmpyacc_VwVubRb(s[0], v, w[0]);
    s[2] = Q6_Vw_vrmpyacc_VwVubRb(s[2], v, w[1]);
    s[4] = Q6_Vw_vrmpyacc_VwVubRb(s[4], v, w[2]);
    s[6] = Q6_Vw_vrmpyacc_VwVubRb(s[6], v, w[3]);
}

// Vectors [from, end) of a plane, two at a time (the last may be one too many: planes have room for it, and padding is put right later).
// nine: the usual 3 x 3, with its loops undone.
static inline __attribute__((always_inline)) void depthwise_span(const depthwise_tile *t, int32_t from, int32_t end, int mode, int nine)
{
    const int32_t groups = nine ? 2 : t->groups, singles = nine ? 1 : t->singles;
    const tn_hx_ends ends = t->ends;
    const tn_hx_requant *r = t->requant;
    const int32_t apart = tn_hx_opaque(TN_HX_VECTOR);
    for (int32_t f = from; f < end; f += 2) {
        HVX_Vector s[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            s[i] = Q6_V_vsplat_R(r[i / 2].bias);
        }
        const uint8_t *x = t->x + f * TN_HX_VECTOR, *beside = x + apart;
        const int32_t *offsets = t->offsets, *w = t->weights;
#pragma unroll
        for (int32_t g = 0; g < groups; g++, offsets += 4, w += 4) {
            add_group(s, x, offsets, w);
            add_group(s + 1, beside, offsets, w);
        }
#pragma unroll
        for (int32_t i = 0; i < singles; i++, offsets++, w += 4) {
            add_single(s, x, *offsets, w);
            add_single(s + 1, beside, *offsets, w);
        }
        tn_hx_store_tile(s, r, &ends, 1, 2, mode, f * TN_HX_VECTOR, TN_HX_VECTOR, 0);
    }
}

// Four rows of 32 pixels from x on, turned round: words of the four rows for each channel.
static inline __attribute__((always_inline)) void turn_rows(HVX_Vector *t, const uint8_t *x, int32_t row)
{
    const HVX_Vector a = TN_HX_CVU(x), b = TN_HX_CVU(x + row), c = TN_HX_CVU(x + 2 * row), d = TN_HX_CVU(x + 3 * row);
    const HVX_Vector ab_even = Q6_Vb_vshuffe_VbVb(b, a), ab_odd = Q6_Vb_vshuffo_VbVb(b, a);
    const HVX_Vector cd_even = Q6_Vb_vshuffe_VbVb(d, c), cd_odd = Q6_Vb_vshuffo_VbVb(d, c);
    t[0] = Q6_Vh_vshuffe_VhVh(cd_even, ab_even);
    t[1] = Q6_Vh_vshuffe_VhVh(cd_odd, ab_odd);
    t[2] = Q6_Vh_vshuffo_VhVh(cd_even, ab_even);
    t[3] = Q6_Vh_vshuffo_VhVh(cd_odd, ab_odd);
}

// The sums of 32 pixels from flat pixel f on, and of those a row below.
static inline __attribute__((always_inline)) void sum_rows(HVX_Vector *s, const uint8_t *x, int32_t row, int32_t apart, const int32_t *w,
                                                      const tn_hx_requant *r)
{
    HVX_Vector now[4], next[4];
    turn_rows(now, x, row);
    turn_rows(next, x + apart, row);
#pragma unroll
    for (int c = 0; c < 4; c++) {
        const HVX_Vector bias = Q6_V_vsplat_R(r[c].bias);
        const HVX_Vector one = Q6_V_valign_VVI(next[c], now[c], 4), two = Q6_V_vlalign_VVR(next[c], now[c], 120);
        s[2 * c] = Q6_Vw_vrmpyacc_VwVubRb(bias, now[c], w[c]);
        s[2 * c + 1] = Q6_Vw_vrmpyacc_VwVubRb(bias, now[c], w[12 + c]);
        s[2 * c] = Q6_Vw_vrmpyacc_VwVubRb(s[2 * c], one, w[4 + c]);
        s[2 * c + 1] = Q6_Vw_vrmpyacc_VwVubRb(s[2 * c + 1], one, w[16 + c]);
        s[2 * c] = Q6_Vw_vrmpyacc_VwVubRb(s[2 * c], two, w[8 + c]);
        s[2 * c + 1] = Q6_Vw_vrmpyacc_VwVubRb(s[2 * c + 1], two, w[20 + c]);
    }
}

// A plane by pieces of 32 pixels and the 32 below them; in narrow images both together are one run of pitch + 32. What lies beyond a row
// is computed like any flat pixel, so that overlapping stores agree. The sums of a piece are made while the one before is requantised.
static inline __attribute__((always_inline)) void rows_plane(const depthwise_tile *t, int mode)
{
    const tn_hx_ends ends = t->ends;
    const tn_hx_requant *r = t->requant;
    const int32_t row = 4 * t->pitch, apart = tn_hx_opaque(TN_HX_VECTOR), *w = t->weights;
    const int wide = t->pitch >= 32;
    const int32_t across = wide ? (t->width + 31) / 32 : 1, step = wide ? 2 * t->pitch : t->pitch + 32;
    const int32_t down = (t->height * t->pitch + step - 1) / step;
    const uint8_t *x = t->x + t->offsets[0];
    HVX_Vector s[8], ahead[8];
    int32_t at = 0, line = 0, i = 0;
    sum_rows(s, x, row, apart, w, r);
    for (int32_t n = across * down; n > 0; n--) {
        int32_t then = at + TN_HX_VECTOR;
        if (++i == across) {
            i = 0;
            line += 4 * step;
            then = line;
        }
        then = n > 1 ? then : at;
        sum_rows(ahead, x + then, row, apart, w, r);
        tn_hx_store_tile(s, r, &ends, 1, 2, mode, at, row, 1);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            s[k] = ahead[k];
        }
        at = then;
    }
}

typedef void span_fn(const depthwise_tile *, int32_t, int32_t);
#define SPAN(MODE)                                                                                                    \
    static void span_##MODE##_0(const depthwise_tile *t, int32_t from, int32_t end)                                   \
    {                                                                                                                 \
        depthwise_span(t, from, end, TN_HX_##MODE, 0);                                                                \
    }                                                                                                                 \
    static void span_##MODE##_1(const depthwise_tile *t, int32_t from, int32_t end)                                   \
    {                                                                                                                 \
        depthwise_span(t, from, end, TN_HX_##MODE, 1);                                                                \
    }                                                                                                                 \
    static void span_##MODE##_2(const depthwise_tile *t, int32_t from, int32_t end)                                   \
    {                                                                                                                 \
        (void)from, (void)end;                                                                                        \
        rows_plane(t, TN_HX_##MODE);                                                                                  \
    }
SPAN(Q31_NARROW) SPAN(RNE_NARROW) SPAN(Q31) SPAN(Q31_UNIT) SPAN(RNE)

// Planes in a part of the scratch that no other thread works in.
static void run_planar(depthwise_run *run, int32_t plane, int32_t n)
{
    const tn_hx_planar *planar = run->plan->planar;
    const uint8_t *x = tn_hx_plane(run->x, run->image, plane);
    uint8_t *to = tn_hx_plane(run->y, run->image, plane);
    uint32_t part = 0;
    while (__atomic_fetch_or(&run->taken, 1u << part, __ATOMIC_ACQUIRE) >> part & 1) {
        part = (part + 1) % TN_HEX_MAX_THREADS;
    }
    uint8_t *scratch = run->scratch + part * tn_hx_planar_scratch(planar);
    if (planar->slot) {
        tn_hx_planar_planes(planar, plane, n, x, run->y, to, scratch);
    } else {
        tn_hx_planar_plane(planar, plane, x, run->y, to, scratch);
    }
    __atomic_fetch_and(&run->taken, ~(1u << part), __ATOMIC_RELEASE);
}

static void run_plane(depthwise_run *run, int32_t plane)
{
    static span_fn *const spans[3][5] = {
        {span_Q31_NARROW_0, span_RNE_NARROW_0, span_Q31_0, span_Q31_UNIT_0, span_RNE_0},
        {span_Q31_NARROW_1, span_RNE_NARROW_1, span_Q31_1, span_Q31_UNIT_1, span_RNE_1},
        {span_Q31_NARROW_2, span_RNE_NARROW_2, span_Q31_2, span_Q31_UNIT_2, span_RNE_2}};
    const depthwise_plan *plan = run->plan;
    depthwise_tile t = {.offsets = plan->taps.offsets, .weights = plan->weights + plane * plan->words, .requant = plan->requant + 4 * plane,
                        .groups = plan->groups, .singles = plan->singles, .pitch = run->y->pitch, .width = run->y->width,
                        .height = run->y->height};
    t.x = tn_hx_plane(run->x, run->image, plane);
    if (!plan->taps.direct) {
        uint8_t *phases = run->scratch + (uint32_t)plane * plan->taps.plane_bytes;
        tn_hx_taps_fill(&plan->taps, run->attr, run->x, run->y, run->image, plane, (uint8_t)run->x->zero, phases);
        t.x = phases;
    }
    tn_hx_ends_set(&t.ends, run->y->zero, run->attr->low, run->attr->high);
    t.ends.to[0] = t.ends.to[1] = tn_hx_plane(run->y, run->image, plane);
    spans[plan->rows ? 2 : plan->taps.n == 9][plan->modes[plane]](&t, 0, run->vectors);
}

// A plane that those around it leave out.
static void run_other(depthwise_run *run, int32_t plane)
{
    run_plane(run, plane);
    tn_hx_fill_plane(run->y, tn_hx_plane(run->y, run->image, plane));
}

static void run_tile(void *context, uint32_t index)
{
    depthwise_run *run = context;
    const depthwise_plan *plan = run->plan;
    const int32_t group = plan->planar ? plan->planar->group : plan->blocks ? plan->blocks->group : 1, first = (int32_t)index * group;
    const int32_t n = run->y->planes - first < group ? run->y->planes - first : group;
    if (plan->blocks && plan->blocks->records) {
        tn_hx_blocks_planes(plan->blocks, run->attr, first, n, run->x, tn_hx_plane(run->x, run->image, first), run->y,
                            tn_hx_plane(run->y, run->image, first));
        return;
    }
    if (plan->blocks) {
        tn_hx_blocks_plane(plan->blocks, run->attr, first, run->x, tn_hx_plane(run->x, run->image, first), run->y,
                           tn_hx_plane(run->y, run->image, first));
        return;
    }
    if (plan->planar && (plan->planar->slot || plan->planar->fits[first])) {
        run_planar(run, first, n);
    }
    const tn_hx_columns *columns = plan->planar ? plan->planar->columns : NULL;
    for (int32_t i = 0; columns && i < columns->n_others; i++) {
        if (columns->others[i] >= first && columns->others[i] < first + n) {
            run_other(run, columns->others[i]);
        }
    }
    for (int32_t plane = first; plane < first + n && !columns; plane++) {
        if (!plan->planar) {
            run_plane(run, plane);
        } else if (!plan->planar->fits[plane]) {
            run_other(run, plane);
        }
    }
}

void tn_hx_depthwise_run(tn_hx_graph *graph, tn_hx_node *node)
{
    const depthwise_plan *plan = node->plan;
    const int32_t group = plan->planar ? plan->planar->group : plan->blocks ? plan->blocks->group : 1;
    depthwise_run r = {.plan = plan, .attr = &node->attr, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node),
                       .scratch = graph->scratch};
    r.vectors = tn_hx_plane_vectors(r.y);
    const uint32_t tiles = group < r.y->planes ? (uint32_t)((r.y->planes + group - 1) / group) : 1;
    for (r.image = 0; r.image < r.y->images; r.image++) {
        tn_hx_parallel(run_tile, &r, tiles);
    }
    if (!plan->blocks && !plan->planar) {
        tn_hx_fill_padding(r.y);
    }
}
