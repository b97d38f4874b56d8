// SPDX-License-Identifier: Apache-2.0
// Convolution over QUAD planes: any kernel, stride, dilation, padding and group. A vector holds 32 pixels of four channels, one vrmpy
// multiplies it with four weights of one output channel in a scalar register. A tile is eight output channels by 32 pixels, so each
// vector that is loaded is used eight times and two vrmpy go into each packet:
//
//   for each plane of four channels, for each tap:   8 sums += vrmpy(pixels at the tap, 8 x 4 weights)
//
// Weights are packed in that order, 32 bytes per step. The zero point of x is folded into the bias. A group reads only its own planes;
// where groups cut through planes the other channels' weights are 0. Transposed convolution is one of stride 1 over x spread out with
// zero points between its pixels, the kernel turned round.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/kernels/hx_conv.h"

#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/dsp/vec/hx_line.h"
#include "exec/hexagon/wire/hex_control.h"

enum { TILE = TN_HX_TILE, MAX_CHANNELS = 65536, BLOCK_VECTORS = 64, VTCM_VECTORS = 32, JOB_TILES = 6 };
// ahead: bytes read beyond the last. Of few vectors float_rne does too many pairs twice.
enum { FEW_STEPS = 6, WEIGHTS_AHEAD = 64, WALK_AHEAD = 2, GAP = 64, MANY_VECTORS = 16 };

typedef struct conv_plan {
    tn_hx_taps taps;
    tn_hx_attr window;           // what taps go by: the node's, or for deconv those of the stride 1 convolution
    int32_t inner;               // input channels of a group
    int32_t steps;               // planes a tile reads x taps
    int32_t span;                // planes a tile reads
    int32_t tiles;
    uint8_t *modes;              // [tiles]
    tn_hx_conv_line *lines;      // [tiles][8], in float_rne; NULL: none
    int8_t *downs;               // [tiles]: of a tile's lines, and GAP where one has a gap; -1: it has none
    int32_t *offsets;            // [steps] from the first plane a tile reads
    int32_t *walk;               // [steps + 2]: from the first of them, the last repeated
    int32_t *first_plane;        // [tiles]
    uint8_t *weights;            // [tiles][steps][8][4]
    tn_hx_requant *requant;      // [tiles][8]
} conv_plan;

// What all tiles of a run share.
typedef struct conv_run {
    const conv_plan *plan;
    const tn_hx_attr *attr;
    const tn_hx_value *x, *y;
    uint8_t *phases;             // of the image
    const uint8_t *weights;      // of tile `first`
    int32_t image, vectors, blocks, is_deconv;
    int32_t first, tiles;        // of the jobs at hand
} conv_run;

// ---- check ----

uint32_t tn_hx_conv_check_channels(const tn_hx_graph *graph, const tn_hx_node *node, int32_t channels)
{
    const tn_hx_value *w = tn_hx_in(graph, node, 1), *bias = tn_hx_in(graph, node, 2);
    const tn_hx_attr *a = &node->attr;
    if (w->origin != TN_HX_CONST || (bias && bias->origin != TN_HX_CONST)) {
        return TN_HEX_WHY_CONST;
    }
    if (w->dtype != TN_HEX_S8 || (bias && bias->dtype != TN_HEX_S32)) {
        return TN_HEX_WHY_DTYPE;
    }
    if (channels > MAX_CHANNELS || (bias && (bias->rank != 1 || bias->dims[0] != channels))) {
        return TN_HEX_WHY_SHAPE;
    }
    return a->n_multipliers == 1 || a->n_multipliers == (uint32_t)channels ? TN_HEX_WHY_NONE : TN_HEX_WHY_ATTR;
}

// What conv and deconv ask of their operands alike.
static uint32_t check_operands(const tn_hx_value *x, const tn_hx_value *w, const tn_hx_value *y)
{
    if (!w) {
        return TN_HEX_WHY_ARITY;
    }
    if (x->dtype != y->dtype || (x->dtype != TN_HEX_U8 && x->dtype != TN_HEX_S8)) {
        return TN_HEX_WHY_DTYPE;
    }
    if (x->rank != 4 || w->rank != 4 || y->rank != 4 || w->dims[2] > 1024 || w->dims[3] > 1024) {
        return TN_HEX_WHY_SHAPE;
    }
    return TN_HEX_WHY_NONE;
}

static uint32_t check(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    tn_hx_attr *a = &node->attr;
    const uint32_t why = check_operands(x, w, y);
    if (why != TN_HEX_WHY_NONE) {
        return why;
    }
    a->kernel[0] = w->dims[2];
    a->kernel[1] = w->dims[3];
    const int fits = x->dims[0] == y->dims[0] && w->dims[0] == y->dims[1] && (int64_t)w->dims[1] * a->group == x->dims[1] &&
                     w->dims[0] % a->group == 0 && tn_hx_window_fits(a, x, y, a->kernel);
    return fits ? tn_hx_conv_check_channels(graph, node, y->dims[1]) : TN_HEX_WHY_SHAPE;
}

static uint32_t check_deconv(tn_hx_graph *graph, tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    tn_hx_attr *a = &node->attr;
    const uint32_t why = check_operands(x, w, y);
    if (why != TN_HEX_WHY_NONE) {
        return why;
    }
    int fits = x->dims[0] == y->dims[0] && w->dims[0] == x->dims[1] && (int64_t)w->dims[1] * a->group == y->dims[1] &&
               w->dims[0] % a->group == 0;
    for (int i = 0; i < 2; i++) {
        a->kernel[i] = w->dims[2 + i];
        // The result may be longer than what x reaches by less than a stride.
        const int64_t span = (int64_t)(x->dims[2 + i] - 1) * a->strides[i] + (int64_t)(a->kernel[i] - 1) * a->dilations[i] + 1;
        const int64_t extra = y->dims[2 + i] - (span - a->pads[i] - a->pads[2 + i]);
        fits &= extra >= 0 && (extra < a->strides[i] || extra < a->dilations[i]);
    }
    return fits ? tn_hx_conv_check_channels(graph, node, y->dims[1]) : TN_HEX_WHY_SHAPE;
}

static int layout(const tn_hx_graph *graph, const tn_hx_node *node)
{
    (void)graph, (void)node;
    return TN_HX_QUAD;
}

// ---- prepare ----

// The least and the greatest sum of a channel.
typedef struct sum_range {
    int64_t low, high;
} sum_range;

static sum_range range_of(int32_t bias, tn_hx_weight_sums sums)
{
    return (sum_range){255 * (int64_t)(sums.all - sums.positive) + bias, 255 * (int64_t)sums.positive + bias};
}

// The bias with x's zero point folded in; the greatest magnitude that sums with it can have.
void tn_hx_conv_requant_sums(const tn_hx_graph *graph, const tn_hx_node *node, tn_hx_requant *r, int32_t channel, tn_hx_weight_sums sums)
{
    const tn_hx_value *bias = tn_hx_in(graph, node, 2);
    const tn_hx_attr *a = &node->attr;
    const uint32_t at = a->n_multipliers == 1 ? 0 : (uint32_t)channel;
    const int32_t given = bias ? ((const int32_t *)bias->data)[channel] : 0;
    r->bias = (int32_t)((uint32_t)given - (uint32_t)tn_hx_in(graph, node, 0)->zero * (uint32_t)sums.all);
    const sum_range range = range_of(r->bias, sums);
    tn_hx_requant_set(r, a->rounding, a->multipliers[at], a->n_shifts ? (int32_t)a->shifts[at] : 0,
                      (uint64_t)(-range.low > range.high ? -range.low : range.high));
}

int tn_hx_conv_requant(const tn_hx_graph *graph, const tn_hx_node *node, tn_hx_requant *r, int32_t channel, const int8_t *w, uint32_t n)
{
    const tn_hx_attr *a = &node->attr;
    const tn_hx_weight_sums sums = tn_hx_weight_sums_of(w, n);
    tn_hx_conv_requant_sums(graph, node, r, channel, sums);
    const sum_range range = range_of(r->bias, sums);
    if (range.low < INT32_MIN || range.high > INT32_MAX) {   // sums wrap round
        return 1;
    }
    const uint32_t at = a->n_multipliers == 1 ? 0 : (uint32_t)channel;
    const tn_requant by = {.rounding = a->rounding == TN_HEX_FLOAT_RNE ? TN_ROUND_FLOAT_RNE : TN_ROUND_FIXED_Q31, .scale = r->scale,
                           .multiplier = (int32_t)a->multipliers[at], .shift = a->n_shifts ? (int32_t)a->shifts[at] : 0};
    const int32_t zero = tn_hx_out(graph, node)->zero;
    const int32_t least = tn_clamp_i32(tn_requant_apply(&by, (int32_t)range.low) + zero, a->low, a->high);
    const int32_t most = tn_clamp_i32(tn_requant_apply(&by, (int32_t)range.high) + zero, a->low, a->high);
    if (least != most) {
        return 1;
    }
    // A little more than 1/256: no sum is at a half.
    const int32_t value = least - zero, sum = 256 * value;
    tn_hx_requant_set(r, a->rounding, a->rounding == TN_HEX_FLOAT_RNE ? 0x3b800054u : (1u << 30) + 10740, -7, (uint64_t)(sum < 0 ? -sum : sum));
    r->bias = sum;
    return 0;
}

// The weights of output channel m of a transposed convolution in the order of a convolution's: [inner][taps].
static void turn_weights(const tn_hx_node *node, const conv_plan *plan, const tn_hx_value *w, const tn_hx_value *y, int32_t m, int8_t *to)
{
    const int32_t taps = plan->taps.n, inner = plan->inner;
    const int32_t group_out = y->dims[1] / node->attr.group;
    for (int32_t c = 0; c < inner; c++) {
        const uint8_t *from = w->data + (uint32_t)((m / group_out * inner + c) * group_out + m % group_out) * (uint32_t)taps;
        for (int32_t t = 0; t < taps; t++) {
            to[c * taps + t] = (int8_t)from[taps - 1 - t];
        }
    }
}

static void pack_tile(const tn_hx_graph *graph, const tn_hx_node *node, conv_plan *plan, int32_t tile, int8_t *row)
{
    const tn_hx_value *w = tn_hx_in(graph, node, 1), *y = tn_hx_out(graph, node);
    const int32_t taps = plan->taps.n, inner = plan->inner, group_out = y->dims[1] / node->attr.group;
    uint8_t *to = plan->weights + (uint32_t)tile * (uint32_t)plan->steps * 4 * TILE;
    for (int32_t o = 0; o < TILE; o++) {
        const int32_t m = tile * TILE + o;
        tn_hx_requant *r = &plan->requant[m];
        if (m >= y->dims[1]) {
            *r = (tn_hx_requant){.right = 1, .up = 31, .scale = 1.0f};
            continue;
        }
        const int8_t *from = row;
        if (node->op->index == TN_HEX_OP_CONV) {
            from = (const int8_t *)w->data + (uint32_t)m * (uint32_t)(inner * taps);
        } else {
            turn_weights(node, plan, w, y, m, row);
        }
        if (!tn_hx_conv_requant(graph, node, r, m, from, (uint32_t)(inner * taps))) {
            continue;
        }
        const int32_t first = m / group_out * inner - 4 * plan->first_plane[tile];   // channel within the tile's planes
        if (first % 4 == 0) {
            tn_hx_pack_row(to + (uint32_t)(first * taps * TILE + 4 * o), TILE, from, inner, taps);
        }
        for (int32_t c = 0; c < inner && first % 4; c++) {
            const int32_t at = first + c;
            for (int32_t t = 0; t < taps; t++) {
                to[((at / 4 * taps + t) * TILE + o) * 4 + at % 4] = (uint8_t)from[c * taps + t];
            }
        }
    }
}

// Lines for the n channels of a tile: all with as many bits of fraction. Returns what stands in `downs`.
static int8_t find_lines(const tn_hx_requant *r, int32_t n, const tn_hx_attr *a, int32_t zero, tn_hx_conv_line *lines)
{
    int32_t fewest = TN_HX_LINE_FRACTION_MAX;
    for (int32_t i = 0; i < n; i++) {
        const int32_t fraction = tn_hx_line_fraction(&r[i], a->rounding);
        fewest = fraction < fewest ? fraction : fewest;
    }
    tn_hx_line line = {0};
    int32_t gap = 0;
    for (int32_t i = 0; i < TILE; i++) {   // those beyond n as the last
        if (i < n && (!fewest || !tn_hx_line_find(&line, &r[i], a->rounding, zero, a->low, a->high, fewest) ||
                      line.down + 16 != fewest)) {
            return -1;
        }
        lines[i] = (tn_hx_conv_line){line.start, line.multiplier, line.left, (int32_t)((uint16_t)line.low * 0x00010001u),
                                     (int32_t)((uint32_t)line.limit * 0x00010001u), 0};
        gap = line.limit ? GAP : gap;
    }
    return (int8_t)(line.down | gap);
}

static uint32_t requant_bytes(const conv_plan *plan) { return (uint32_t)plan->tiles * TILE * sizeof *plan->requant; }
static uint32_t lines_bytes(const conv_plan *plan) { return (uint32_t)plan->tiles * TILE * sizeof *plan->lines; }

// The stride 1 convolution that a transposed one is; its padding may be negative.
static void turn_round(conv_plan *plan, const tn_hx_attr *a)
{
    for (int i = 0; i < 2; i++) {
        plan->window.strides[i] = 1;
        plan->window.pads[i] = (a->kernel[i] - 1) * a->dilations[i] - a->pads[i];
    }
    plan->taps.copied = 1;
}

static uint32_t prepare(tn_hx_graph *graph, tn_hx_node *node)
{
    if (tn_hx_depthwise_fits(graph, node)) {
        return tn_hx_depthwise_prepare(graph, node);
    }
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const int32_t inner = x->dims[1] / node->attr.group, group_out = y->dims[1] / node->attr.group;
    conv_plan *plan = node->plan = tn_hx_pool_take(&graph->pool, sizeof *plan);
    if (!plan) {
        return TN_HEX_WHY_LIMIT;
    }
    plan->window = node->attr;
    plan->inner = inner;
    if (node->op->index == TN_HEX_OP_DECONV) {
        turn_round(plan, &node->attr);
    }
    const uint32_t why = tn_hx_taps_init(graph, &plan->taps, &plan->window, node->attr.kernel, x, y);
    if (why) {
        return why;
    }
    plan->tiles = (y->dims[1] + TILE - 1) / TILE;
    plan->first_plane = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)plan->tiles);
    if (!plan->first_plane) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t i = 0; i < plan->tiles; i++) {
        const int32_t last_out = i * TILE + TILE - 1 < y->dims[1] ? i * TILE + TILE - 1 : y->dims[1] - 1;
        const int32_t last = (last_out / group_out * inner + inner - 1) / 4;
        plan->first_plane[i] = i * TILE / group_out * inner / 4;
        plan->span = last - plan->first_plane[i] + 1 > plan->span ? last - plan->first_plane[i] + 1 : plan->span;
    }
    for (int32_t i = 0; i < plan->tiles; i++) {
        if (plan->first_plane[i] > x->planes - plan->span) {
            plan->first_plane[i] = x->planes - plan->span;
        }
    }
    const uint64_t steps = (uint64_t)plan->span * (uint32_t)plan->taps.n;
    if (steps * (uint32_t)plan->tiles > 0x1000000u) {
        return TN_HEX_WHY_LIMIT;
    }
    plan->steps = (int32_t)steps;
    plan->offsets = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)steps);
    plan->walk = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)(steps + WALK_AHEAD));
    plan->requant = tn_hx_pool_take(&graph->pool, requant_bytes(plan));
    plan->modes = tn_hx_pool_take(&graph->pool, (uint32_t)plan->tiles);
    tn_hx_packed_room(graph, steps * (uint32_t)plan->tiles * 4 * TILE + WEIGHTS_AHEAD);
    tn_hx_packed_room(graph, requant_bytes(plan));
    tn_hx_packed_room(graph, (uint32_t)plan->tiles);
    if (!plan->offsets || !plan->walk || !plan->requant || !plan->modes) {
        return TN_HEX_WHY_LIMIT;
    }
    // Lines take long to find. They pay where results are many beside their products.
    if (plan->steps > 1 && inner * plan->taps.n <= group_out && node->attr.rounding == TN_HEX_FLOAT_RNE) {
        plan->lines = tn_hx_pool_take(&graph->pool, lines_bytes(plan));
        tn_hx_packed_room(graph, lines_bytes(plan));
        tn_hx_packed_room(graph, (uint32_t)plan->tiles);
        plan->downs = tn_hx_pool_take(&graph->pool, (uint32_t)plan->tiles);
        if (!plan->lines || !plan->downs) {
            return TN_HEX_WHY_LIMIT;
        }
    }
    for (int32_t p = 0; p < plan->span; p++) {
        for (int32_t t = 0; t < plan->taps.n; t++) {
            plan->offsets[p * plan->taps.n + t] = p * (int32_t)plan->taps.plane_bytes + plan->taps.offsets[t];
        }
    }
    for (int32_t i = 0; i < plan->steps + WALK_AHEAD; i++) {
        plan->walk[i] = plan->offsets[i < plan->steps ? i : plan->steps - 1] - plan->offsets[0];
    }
    tn_hx_scratch(graph, tn_hx_taps_scratch(&plan->taps, x));
    return TN_HEX_WHY_NONE;
}

static uint32_t keep_lines(tn_hx_graph *graph, conv_plan *plan, int fresh)
{
    if (!tn_hx_packed_copy(graph, plan->lines, lines_bytes(plan), fresh) ||
        !tn_hx_packed_copy(graph, plan->downs, (uint32_t)plan->tiles, fresh)) {
        return TN_HEX_WHY_LIMIT;
    }
    uint32_t lefts = 0;
    for (int32_t i = 0; i < plan->tiles; i++) {
        const int32_t down = plan->downs[i];
        if (down < -1 || (down >= 0 && (down & ~GAP) > TN_HX_LINE_FRACTION_MAX - 16)) {
            return TN_HEX_WHY_RANGE;
        }
    }
    for (int32_t i = 0; i < plan->tiles * TILE; i++) {
        lefts |= (uint32_t)plan->lines[i].left;
    }
    return lefts <= 31 ? TN_HEX_WHY_NONE : TN_HEX_WHY_RANGE;
}

static uint32_t pack(tn_hx_graph *graph, tn_hx_node *node, int fresh)
{
    if (tn_hx_depthwise_fits(graph, node)) {
        return tn_hx_depthwise_pack(graph, node, fresh);
    }
    conv_plan *plan = node->plan;
    const int32_t channels = tn_hx_out(graph, node)->dims[1];
    int8_t *row = fresh && node->op->index == TN_HEX_OP_DECONV ? tn_hx_pool_take(&graph->pool, (uint32_t)(plan->inner * plan->taps.n)) : NULL;
    plan->weights = tn_hx_packed_next(graph, (uint64_t)(uint32_t)plan->steps * (uint32_t)plan->tiles * 4 * TILE + WEIGHTS_AHEAD);
    if (!plan->weights || (fresh && node->op->index == TN_HEX_OP_DECONV && !row)) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t i = 0; fresh && i < plan->tiles; i++) {
        pack_tile(graph, node, plan, i, row);
    }
    for (int32_t i = 0; fresh && i < plan->tiles; i++) {
        const int32_t n = channels - i * TILE < TILE ? channels - i * TILE : TILE;
        plan->modes[i] = (uint8_t)tn_hx_requant_mode(plan->requant + i * TILE, (uint32_t)n, node->attr.rounding, 1);
        if (plan->lines) {
            plan->downs[i] = n > 4 && plan->modes[i] == TN_HX_RNE_NARROW
                                 ? find_lines(plan->requant + i * TILE, n, &node->attr, tn_hx_out(graph, node)->zero, plan->lines + i * TILE) : -1;
        }
    }
    if (!tn_hx_packed_copy(graph, plan->requant, requant_bytes(plan), fresh) ||
        !tn_hx_packed_copy(graph, plan->modes, (uint32_t)plan->tiles, fresh)) {
        return TN_HEX_WHY_LIMIT;
    }
    const uint32_t why = plan->lines ? keep_lines(graph, plan, fresh) : TN_HEX_WHY_NONE;
    return why ? why : tn_hx_requant_sane(plan->requant, (uint32_t)plan->tiles * TILE, plan->modes, (uint32_t)plan->tiles);
}

// ---- run ----

typedef struct conv_tile {
    const uint8_t *x;            // first plane of the tile, pixel (0, 0)
    const int32_t *offsets;      // [steps]
    const int64_t *weights;
    const tn_hx_requant *requant;
    uint8_t *to[2];
    int32_t steps, stride;       // stride: between planes, where there is one tap
    int32_t zero, low, high;
} conv_tile;

// One step: the pixels of one tap of one plane by the weights of all channels of the tile.
static inline __attribute__((always_inline)) void sum_step(HVX_Vector *s, HVX_Vector a, HVX_Vector b, const int64_t *w, int quads, int pixels)
{
#pragma unroll
    for (int i = 0; i < 2 * quads; i++) {
        const int64_t pair = w[i];
        s[4 * i] = Q6_Vw_vrmpyacc_VwVubRb(s[4 * i], a, (int32_t)pair);
        s[4 * i + 2] = Q6_Vw_vrmpyacc_VwVubRb(s[4 * i + 2], a, (int32_t)(pair >> 32));
        if (pixels == 2) {
            s[4 * i + 1] = Q6_Vw_vrmpyacc_VwVubRb(s[4 * i + 1], b, (int32_t)pair);
            s[4 * i + 3] = Q6_Vw_vrmpyacc_VwVubRb(s[4 * i + 3], b, (int32_t)(pair >> 32));
        }
    }
}

static inline __attribute__((always_inline)) HVX_Vector load_pixels(const uint8_t *x, int plain)
{
    return plain ? TN_HX_CV(x) : TN_HX_CVU(x);
}

// The second vector of pixels, where there are two.
static inline __attribute__((always_inline)) HVX_Vector load_more(const uint8_t *x, int32_t beside, int pixels, int plain)
{
    return pixels < 2 ? Q6_V_vzero() : plain ? TN_HX_CV(x + TN_HX_VECTOR) : TN_HX_CVU(x + beside);
}

// The sums of a tile at vector f. plain: one tap, planes at a constant distance, aligned. Two steps at a time: the loads of the second
// find room beside the products of the first.
static inline __attribute__((always_inline)) void sum_tile(HVX_Vector *s, const conv_tile *t, int quads, int pixels, int plain, int32_t f,
                                                      int32_t beside)
{
    const uint8_t *x = t->x + f * TN_HX_VECTOR + (plain ? t->offsets[0] : 0);
    const int64_t *w = t->weights;
    const int32_t *offset = t->offsets;
    const int32_t stride = t->stride;
#pragma unroll
    for (int i = 0; i < 8 * quads; i++) {
        s[i] = Q6_V_vsplat_R(t->requant[i / 2].bias);
    }
    if (t->steps % 2) {
        const uint8_t *at = plain ? x : x + *offset++;
        sum_step(s, load_pixels(at, plain), load_more(at, beside, pixels, plain), w, quads, pixels);
        x += plain ? stride : 0;
        w += TILE / 2;
    }
#pragma clang loop unroll(disable)
    for (int32_t k = t->steps / 2; k > 0; k--) {
        const uint8_t *at = plain ? x : x + offset[0], *then = plain ? x + stride : x + offset[1];
        const HVX_Vector a = load_pixels(at, plain), b = load_more(at, beside, pixels, plain);
        const HVX_Vector c = load_pixels(then, plain), d = load_more(then, beside, pixels, plain);
        sum_step(s, a, b, w, quads, pixels);
        sum_step(s, c, d, w + TILE / 2, quads, pixels);
        x += plain ? 2 * stride : 0;
        offset += 2;
        w += TILE;
    }
}

// Vectors [from, end) of the flat run. `quads` (1, 2), `mode` and `plain` are constants of each instance.
static inline __attribute__((always_inline)) void conv_span(const conv_tile *t, int32_t from, int32_t end, int quads, int mode, int plain)
{
    tn_hx_ends ends = {.to = {t->to[0], t->to[1]}};
    tn_hx_ends_set(&ends, t->zero, t->low, t->high);
    const tn_hx_requant *r = t->requant;
    const int32_t beside = tn_hx_opaque(TN_HX_VECTOR);
    HVX_Vector s[2 * TILE];
    int32_t f = from;
    for (; f + 2 <= end; f += 2) {
        sum_tile(s, t, quads, 2, plain, f, beside);
        tn_hx_store_tile(s, r, &ends, quads, 2, mode, f * TN_HX_VECTOR, TN_HX_VECTOR, 0);
    }
    if (f < end) {
        sum_tile(s, t, quads, 1, plain, f, beside);
        tn_hx_store_tile(s, r, &ends, quads, 1, mode, f * TN_HX_VECTOR, TN_HX_VECTOR, 0);
    }
}

typedef void span_fn(const conv_tile *, int32_t, int32_t);
#define SPAN(QUADS, MODE, PLAIN)                                                                                      \
    static void span_##QUADS##_##MODE##_##PLAIN(const conv_tile *t, int32_t from, int32_t end)                        \
    {                                                                                                                 \
        conv_span(t, from, end, QUADS, TN_HX_##MODE, PLAIN);                                                          \
    }
#define SPANS(QUADS, PLAIN)                                                                                           \
    SPAN(QUADS, Q31_NARROW, PLAIN) SPAN(QUADS, RNE_NARROW, PLAIN) SPAN(QUADS, Q31, PLAIN)                             \
    SPAN(QUADS, Q31_UNIT, PLAIN) SPAN(QUADS, RNE, PLAIN)
#define SPAN_NAMES(QUADS, PLAIN)                                                                                      \
    {span_##QUADS##_Q31_NARROW_##PLAIN, span_##QUADS##_RNE_NARROW_##PLAIN, span_##QUADS##_Q31_##PLAIN,                \
     span_##QUADS##_Q31_UNIT_##PLAIN, span_##QUADS##_RNE_##PLAIN}
SPANS(1, 0) SPANS(1, 1) SPANS(2, 0) SPANS(2, 1)

// Vectors [from, end) of a tile of eight channels in a narrow mode. Where they are odd and steps are few, one more: planes have room for
// it, and a vector alone takes longer. again: the way of the vectors that are left.
static void run_pairs(const conv_tile *t, tn_hx_conv_job *job, int32_t from, int32_t end, tn_hx_conv_pairs_fn *pairs, span_fn *again)
{
    if ((end - from) % 2 && t->steps > FEW_STEPS) {
        end--;
        again(t, end, end + 1);
    }
    job->pairs = (end - from + 1) / 2;
    while (job->pairs > 0) {
        const int32_t at = from * TN_HX_VECTOR, all = job->pairs;
        job->x = t->x + t->offsets[0] + at;
        job->to[0] = t->to[0] + at;
        job->to[1] = t->to[1] + at;
        const int32_t left = pairs(job);
        from += 2 * (all - left);
        if (left > 0) {
            again(t, from, from + 2);
            from += 2;
        }
        job->pairs = left - 1;
    }
}

// Tiles of a job: small images are one block, of which several make one job.
static void run_job(void *context, uint32_t index)
{
    static span_fn *const spans[2][2][5] = {{SPAN_NAMES(1, 0), SPAN_NAMES(2, 0)}, {SPAN_NAMES(1, 1), SPAN_NAMES(2, 1)}};
    const conv_run *run = context;
    const conv_plan *plan = run->plan;
    const int one = run->blocks == 1;
    const int32_t block = one ? 0 : (int32_t)index % run->blocks, begin = one ? (int32_t)index * JOB_TILES : (int32_t)index / run->blocks;
    const int32_t all = one ? (run->tiles - begin < JOB_TILES ? run->tiles - begin : JOB_TILES) : 1;
    const int32_t from = block * BLOCK_VECTORS, end = from + BLOCK_VECTORS < run->vectors ? from + BLOCK_VECTORS : run->vectors;
    const int plain = plan->taps.n == 1 && plan->offsets[0] % TN_HX_VECTOR == 0;
    tn_hx_conv_pairs_fn *const q31 = plain ? tn_hx_conv_pairs_q31 : tn_hx_conv_taps_q31, *const rne = plain ? tn_hx_conv_pairs_rne : tn_hx_conv_taps_rne;
    tn_hx_conv_pairs_fn *const line = plain ? tn_hx_conv_pairs_line : tn_hx_conv_taps_line;
    tn_hx_conv_pairs_fn *const even_line = plain ? tn_hx_conv_pairs_even_line : tn_hx_conv_taps_even_line;
    const uint32_t weights_bytes = (uint32_t)plan->steps * 4 * TILE, y_bytes = run->y->plane_bytes;
    int32_t tile = run->first + begin;
    conv_tile t = {.offsets = plan->offsets, .steps = plan->steps, .stride = (int32_t)plan->taps.plane_bytes, .zero = run->y->zero,
                   .low = run->attr->low, .high = run->attr->high};
    tn_hx_conv_job job = {.stride = plain ? t.stride : plan->walk[1], .second = plain ? t.stride : plan->walk[2] - plan->walk[1],
                          .offsets = plan->walk + 3, .rounds = t.steps - 1, .zero = t.zero * 0x00010001, .low = (int32_t)((uint32_t)t.low * 0x01010101u),
                          .high = (int32_t)((uint32_t)t.high * 0x01010101u)};
    const uint8_t *weights = run->weights + (uint32_t)begin * weights_bytes;
    const uint8_t *x = plan->taps.direct ? tn_hx_plane(run->x, run->image, 0) : run->phases;
    uint8_t *to = tn_hx_plane(run->y, run->image, 2 * tile);
    for (int32_t i = 0; i < all; i++, tile++, weights += weights_bytes, to += 2 * y_bytes) {
        const int32_t quads = run->y->planes - 2 * tile > 1 ? 2 : 1;
        t.x = x + (uint32_t)plan->first_plane[tile] * plan->taps.plane_bytes;
        t.weights = (const int64_t *)weights;
        t.requant = plan->requant + tile * TILE;
        t.to[0] = to;
        t.to[1] = quads == 2 ? to + y_bytes : NULL;
        const int mode = plan->modes[tile];
        span_fn *span = spans[plain][quads - 1][mode];
        tn_hx_conv_pairs_fn *pairs = mode == TN_HX_Q31_NARROW                                  ? q31
                                     : mode == TN_HX_RNE_NARROW && end - from >= MANY_VECTORS ? rne
                                                                                                  : NULL;
        job.weights = weights;
        job.constants = t.requant;
        if (plan->lines && plan->downs[tile] >= 0) {
            const int32_t down = plan->downs[tile] & (GAP - 1);
            pairs = plan->downs[tile] & GAP ? even_line : line;
            job.constants = plan->lines + tile * TILE;
            job.down = down;
            job.odd = t.zero & 1 ? 0 : 0x00010001 << down;
            job.bits = ((2 << down) - 1) * 0x00010001;
        }
        if (quads == 2 && t.steps > 1 && pairs) {
            run_pairs(&t, &job, from, end, pairs, span);
        } else {
            span(&t, from, end);
        }
    }
}

// Tiles [first, first + n) of the node.
static void run_jobs(conv_run *run, int32_t first, int32_t n, const uint8_t *weights)
{
    run->first = first;
    run->tiles = n;
    run->weights = weights;
    tn_hx_parallel(run_job, run, (uint32_t)(run->blocks == 1 ? (n + JOB_TILES - 1) / JOB_TILES : n * run->blocks));
}

// x's pixels at multiples of the stride, zero points between and around them.
static void spread_plane(const conv_run *run, int32_t plane, uint8_t *to)
{
    const conv_plan *plan = run->plan;
    const int32_t *s = run->attr->strides, *pads = plan->window.pads;
    memset(to, run->x->zero, plan->taps.plane_bytes);
    const uint32_t *from = (const uint32_t *)tn_hx_plane(run->x, run->image, plane);
    for (int32_t i = 0; i < run->x->height; i++) {
        const int32_t row = i * s[0] + pads[0];
        for (int32_t k = 0; row >= 0 && row < plan->taps.rows && k < run->x->width; k++) {
            const int32_t column = k * s[1] + pads[1];
            if (column >= 0 && column < run->y->pitch) {
                ((uint32_t *)to)[row * run->y->pitch + column] = from[i * run->x->pitch + k];
            }
        }
    }
}

static void run_phase(void *context, uint32_t plane)
{
    const conv_run *run = context;
    uint8_t *to = run->phases + plane * run->plan->taps.plane_bytes;
    if (run->is_deconv) {
        spread_plane(run, (int32_t)plane, to);
        return;
    }
    tn_hx_taps_fill(&run->plan->taps, run->attr, run->x, run->y, run->image, (int32_t)plane, (uint8_t)run->x->zero, to);
}

// All tiles of an image. Where many pixels use each weight, weights go through VTCM in two halves: a chunk of tiles is computed from one
// while the next chunk's weights come into the other.
static void run_tiles(conv_run *run)
{
    const tn_hx_os *os = &tn_hx_os_table;
    const conv_plan *plan = run->plan;
    const uint32_t each = (uint32_t)plan->steps * 4 * TILE, room = os->vtcm_bytes(), half = room > WEIGHTS_AHEAD ? (room - WEIGHTS_AHEAD) / 2 : 0;
    const int32_t fit = (int32_t)(half / each), chunk = fit < plan->tiles ? fit : plan->tiles;
    uint8_t *vtcm = chunk > 0 && run->vectors >= VTCM_VECTORS ? os->vtcm_take(2 * (uint32_t)chunk * each + WEIGHTS_AHEAD) : NULL;
    if (!vtcm) {
        run_jobs(run, 0, plan->tiles, plan->weights);
        return;
    }
    uint8_t *now = vtcm, *next = vtcm + (uint32_t)chunk * each;
    os->copy_start(now, plan->weights, (uint32_t)chunk * each);
    for (int32_t first = 0; first < plan->tiles; first += chunk) {
        const int32_t left = plan->tiles - first, n = left < chunk ? left : chunk, after = left - n < chunk ? left - n : chunk;
        os->copy_wait();
        if (after > 0) {
            os->copy_start(next, plan->weights + (uint32_t)(first + n) * each, (uint32_t)after * each);
        }
        run_jobs(run, first, n, now);
        uint8_t *done = now;
        now = next;
        next = done;
    }
    os->vtcm_give(vtcm);
}

static void run(tn_hx_graph *graph, tn_hx_node *node)
{
    if (tn_hx_depthwise_fits(graph, node)) {
        tn_hx_depthwise_run(graph, node);
        return;
    }
    const conv_plan *plan = node->plan;
    conv_run r = {.plan = plan, .attr = &node->attr, .x = tn_hx_in(graph, node, 0), .y = tn_hx_out(graph, node),
                  .phases = graph->scratch, .is_deconv = node->op->index == TN_HEX_OP_DECONV};
    r.vectors = tn_hx_plane_vectors(r.y);
    r.blocks = (r.vectors + BLOCK_VECTORS - 1) / BLOCK_VECTORS;
    for (r.image = 0; r.image < r.y->images; r.image++) {
        if (!plan->taps.direct) {
            tn_hx_parallel(run_phase, &r, (uint32_t)r.x->planes);
        }
        run_tiles(&r);
    }
    tn_hx_fill_padding(r.y);
}

const tn_hx_op tn_hx_op_conv = {
    .index = TN_HEX_OP_CONV, .min_in = 2, .max_in = 3, .check = check, .layout = layout, .prepare = prepare, .pack = pack, .run = run
};
const tn_hx_op tn_hx_op_deconv = {
    .index = TN_HEX_OP_DECONV, .min_in = 2, .max_in = 3, .check = check_deconv, .layout = layout, .prepare = prepare, .pack = pack,
    .run = run
};
