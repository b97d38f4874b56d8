// SPDX-License-Identifier: Apache-2.0
// Depthwise 3 x 3 and 5 x 5 of stride 2. Two rows of 64 pixels are taken apart into words of 2 x 2 pixels of one channel, each pixel once:
//
//   row r:   E O E O ...        word i of a channel: E E' O O'     the window of result i: its block, the upper row of the block
//   row r':  E'O'E'O'...                                           below (E - O -), and of the blocks to the right E, E', and E below
//
// so three products make a result: the block, the one below, and a word of the even columns of both, moved by one lane. The last lane
// has no neighbour: a strip gives 31 results of two rows. 5 x 5 takes nine: three rows of three blocks, of which the second and third are the first
// moved by one and two lanes; a strip gives 30. The block below is the next row's own. Strips go from left to right and the last
// one ends with the row, so that what is written too much falls on padding or on rows that are written later. Of 3 x 3 where all planes have
// lines a loop goes over all of a group, four rows of a strip a round.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/kernels/depthwise/hx_blocks.h"

#include "exec/hexagon/dsp/kernels/depthwise/hx_columns.h"
#include "exec/hexagon/dsp/vec/hx_store.h"
#include "exec/hexagon/wire/hex_control.h"

enum { LEAST_PLANES = 4, ROWS = 4, MOST_PIXELS = 1 << 16 };   // rows of a round; pixels of a plane that is done by rounds
// Ways to requantise; even: with a gap, see hx_line.h. By mode: what hx_store.h has for it, which looks for lanes near a half.
enum { BY_MODE, BY_Q31, BY_LINE, BY_EVEN_LINE };

static int32_t word(int8_t a, int8_t b, int8_t c, int8_t d)
{
    return (int32_t)((uint32_t)(uint8_t)a | (uint32_t)(uint8_t)b << 8 | (uint32_t)(uint8_t)c << 16 | (uint32_t)(uint8_t)d << 24);
}

static void set_weights(int32_t to[9], const int8_t *w, int32_t kernel)
{
    if (kernel == 3) {
        to[0] = word(w[0], w[3], w[1], w[4]);
        to[1] = word(w[6], 0, w[7], 0);
        to[2] = word(w[2], w[5], w[8], 0);
        return;
    }
    for (int32_t i = 0; i < 9; i++) {
        const int32_t row = i / 3 * 2, column = i % 3 * 2, below = row < 4, beside = column < 4;
        const int8_t *at = w + 5 * row + column;
        to[i] = word(at[0], below ? at[5] : 0, beside ? at[1] : 0, below && beside ? at[6] : 0);
    }
}

// The way of a plane's four channels; n of them are real. most: bits of fraction of a line.
static int set_plane(tn_hx_blocks_channel *c, const tn_hx_requant *r, const int8_t *w, int32_t n, const tn_hx_value *y, const tn_hx_attr *attr,
                     int mode, int32_t most)
{
    const int32_t kernel = attr->kernel[0];
    int way = BY_MODE, fits = 1;
    for (int32_t i = 0; i < n; i++, w += kernel * kernel) {
        set_weights(c[i].weights, w, kernel);
        c[i].bias = r[i].bias;
        c[i].multiplier = r[i].multiplier;
        c[i].right = r[i].right;
    }
    // All lines with as many bits of fraction as the one with the fewest.
    for (int again = 0; again < 2 && fits; again++) {
        way = BY_LINE;
        fits = 1;
        for (int32_t i = 0; i < n; i++) {
            fits &= tn_hx_line_find(&c[i].line, &r[i], attr->rounding, y->zero, attr->low, attr->high, most);
            most = fits && c[i].line.down + 16 < most ? c[i].line.down + 16 : most;
            way = c[i].line.limit ? BY_EVEN_LINE : way;
        }
    }
    for (int32_t i = n; i < 4; i++) {
        c[i] = c[n - 1];   // lanes of no channel
    }
    return fits ? way : mode == TN_HX_Q31_NARROW ? BY_Q31 : BY_MODE;
}

static uint32_t channels_bytes(const tn_hx_value *y) { return 4 * (uint32_t)y->planes * sizeof(tn_hx_blocks_channel); }

void tn_hx_blocks_room(tn_hx_graph *graph, const tn_hx_value *y)
{
    tn_hx_packed_room(graph, channels_bytes(y));
    tn_hx_packed_room(graph, (uint32_t)y->planes);
}

// Whether almost all planes have lines, with one shift; it is `down` then. Or whether all can be requantised by the definition of fixed_q31.
static int goes_by_groups(tn_hx_blocks *blocks, const tn_hx_value *y, int rounding)
{
    const int fits = blocks->kernel == 3 && y->planes >= LEAST_PLANES && y->height >= ROWS && y->height * y->pitch <= MOST_PIXELS;
    int alike = fits, narrow = rounding == TN_HEX_FIXED_Q31;
    blocks->down = -1;
    for (int32_t c = 0; c < 4 * y->planes; c++) {
        const int32_t down = blocks->channels[c].line.down;
        narrow &= blocks->ways[c / 4] >= BY_Q31 && tn_hx_columns_narrow(blocks->channels[c].right);
        if (blocks->ways[c / 4] < BY_LINE) {
            blocks->n_others += c % 4 == 0;
            continue;
        }
        alike &= blocks->down < 0 || blocks->down == down;
        blocks->down = down;
    }
    if (alike && blocks->down >= 0 && tn_hx_columns_few(blocks->n_others, y->planes)) {
        return 1;
    }
    blocks->n_others = 0;
    blocks->q31 = fits && narrow;
    return blocks->q31;
}

// Results of a strip: the last lanes have no neighbours.
static int32_t strip_width(const tn_hx_blocks *b) { return 32 - b->kernel / 2; }
static int32_t strips_of(const tn_hx_blocks *b, const tn_hx_value *y) { return (y->width + strip_width(b) - 1) / strip_width(b); }

// Where a strip begins.
static int32_t strip_at(const tn_hx_blocks *b, const tn_hx_value *y, int32_t strip)
{
    const int32_t wide = strip_width(b);
    return strip > 0 && wide * (strip + 1) > y->width ? y->width - wide : wide * strip;
}

static tn_hx_blocks_record *first_record(const tn_hx_blocks *b, int32_t group, int even)
{
    return b->records + group * b->share + TN_HX_COLUMNS_AHEAD + (even ? b->plain[group] + 2 * TN_HX_COLUMNS_AHEAD : 0);
}

static void set_record(tn_hx_blocks_record *r, const tn_hx_blocks_channel *c, int q31, int32_t x, int32_t y)
{
    *r = (tn_hx_blocks_record){.x = x, .y = y};
    for (int32_t i = 0; i < 4; i++) {
        for (int32_t k = 0; k < 3; k++) {
            r->channels[i].weights[k] = c[i].weights[k];
        }
        if (i >= 2) {   // the last row of x has the pixels of two channels in a word, this one's in the odd bytes
            const uint32_t below = (uint32_t)c[i].weights[1], beside = (uint32_t)c[i].weights[2];
            r->last[i - 2][0] = (int32_t)(below << 8);
            r->last[i - 2][1] = (int32_t)((beside & 0xffff) | (beside & 0xff0000) << 8);
        }
        r->channels[i].start = q31 ? c[i].bias : c[i].line.start;
        r->multipliers[i % 2][i / 2] = q31 ? c[i].multiplier : c[i].line.multiplier | c[i].line.left;
        if (q31) {   // see hx_columns.h
            (i % 2 ? r->limit : r->lower)[i / 2] = c[i].right;
            continue;
        }
        r->lower[i % 2] |= (int32_t)((uint32_t)(uint16_t)c[i].line.low << 16 * (i / 2));
        r->limit[i % 2] |= (int32_t)((uint32_t)c[i].line.limit << 16 * (i / 2));
    }
}

// Rounds of a plane. The last rows end with the plane and may be done again.
static int32_t rounds_of(const tn_hx_blocks *b, const tn_hx_value *y) { return strips_of(b, y) * ((y->height + ROWS - 1) / ROWS); }

// By the definition of fixed_q31 all planes go alike.
static int way_of(const tn_hx_blocks *b, int32_t plane) { return b->q31 ? BY_LINE : b->ways[plane]; }

static void set_group(tn_hx_blocks *b, int32_t group, int32_t n, const tn_hx_value *x, const tn_hx_value *y)
{
    const int32_t first = group * b->group, strips = strips_of(b, y), rounds = b->rounds;
    int32_t plain = 0, all = 0;
    for (int32_t i = 0; i < n; i++) {
        plain += way_of(b, first + i) == BY_LINE;
        all += way_of(b, first + i) >= BY_LINE;
    }
    const int apart = tn_hx_columns_apart(plain, all);
    for (int even = 0; even < 2; even++) {
        tn_hx_blocks_record *const begin = first_record(b, group, even), *to = begin;
        for (int32_t k = 0; k < n * rounds; k++) {
            const int32_t i = k / rounds, at = strip_at(b, y, k % strips), next = k % rounds / strips * ROWS;
            const int32_t row = next + ROWS > y->height ? y->height - ROWS : next;
            if (way_of(b, first + i) >= BY_LINE && (!apart || way_of(b, first + i) == BY_EVEN_LINE) == even) {
                set_record(to++, b->channels + 4 * (first + i), b->q31, i * (int32_t)x->plane_bytes + 8 * (row * x->pitch + at),
                           i * (int32_t)y->plane_bytes + 4 * (row * y->pitch + at));
            }
        }
        for (int32_t i = 0; i < TN_HX_COLUMNS_AHEAD && to > begin; i++) {
            begin[-1 - i] = *begin;
            to[i] = to[-1];
        }
        (even ? b->gaps : b->plain)[group] = (uint16_t)(to - begin);
    }
}

static uint32_t prepare_records(tn_hx_graph *graph, tn_hx_blocks *b, const tn_hx_value *x, const tn_hx_value *y, const tn_hx_attr *attr)
{
    b->group = tn_hx_columns_group(y);
    b->rounds = rounds_of(b, y);
    b->share = b->group * b->rounds + 4 * TN_HX_COLUMNS_AHEAD;
    const int32_t groups = (y->planes + b->group - 1) / b->group;
    b->records = tn_hx_pool_take(&graph->pool, (uint32_t)(groups * b->share) * sizeof *b->records);
    b->plain = tn_hx_pool_take(&graph->pool, (uint32_t)groups * sizeof *b->plain);
    b->gaps = tn_hx_pool_take(&graph->pool, (uint32_t)groups * sizeof *b->gaps);
    b->clamps = tn_hx_pool_take(&graph->pool, 4 * TN_HX_VECTOR);
    b->others = tn_hx_pool_take(&graph->pool, (uint32_t)b->n_others * sizeof *b->others);
    if (!b->records || !b->plain || !b->gaps || !b->clamps || !b->others) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t plane = 0, k = 0; plane < y->planes; plane++) {
        if (way_of(b, plane) < BY_LINE) {
            b->others[k++] = plane;
        }
    }
    for (int32_t group = 0; group < groups; group++) {
        const int32_t left = y->planes - group * b->group;
        set_group(b, group, left < b->group ? left : b->group, x, y);
    }
    for (int32_t i = 0; i < 4 * TN_HX_VECTOR; i++) {   // low, high, and again, which the loop loads too; strips of several are full
        const int32_t lane = i % TN_HX_VECTOR / 4;
        const int inside = lane < strip_width(b) && lane < y->width;
        b->clamps[i] = (uint8_t)(!inside ? y->zero : i / TN_HX_VECTOR % 2 ? attr->high : attr->low);
    }
    return TN_HEX_WHY_NONE;
}

uint32_t tn_hx_blocks_prepare(tn_hx_graph *graph, tn_hx_blocks *blocks, const tn_hx_node *node, const int8_t *w, const tn_hx_requant *requant,
                             const uint8_t *modes, int fresh)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    blocks->kernel = node->attr.kernel[0];
    blocks->first = -node->attr.pads[0] * x->pitch - node->attr.pads[1];
    blocks->channels = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)y->planes * sizeof *blocks->channels);
    blocks->ways = tn_hx_pool_take(&graph->pool, (uint32_t)y->planes);
    if (!blocks->channels || !blocks->ways) {
        return TN_HEX_WHY_LIMIT;
    }
    blocks->requant = requant;
    blocks->modes = modes;
    const int32_t fewest = fresh ? tn_hx_planar_fewest(requant, y->dims[1], node->attr.rounding) : 0;
    for (int32_t plane = 0; fresh && plane < y->planes; plane++) {
        const int32_t c = 4 * plane, n = y->dims[1] - c < 4 ? y->dims[1] - c : 4;
        blocks->ways[plane] = (uint8_t)set_plane(blocks->channels + c, requant + c, w + blocks->kernel * blocks->kernel * c, n, y, &node->attr,
                                                modes[plane], fewest);
    }
    if (!tn_hx_packed_copy(graph, blocks->channels, channels_bytes(y), fresh) ||
        !tn_hx_packed_copy(graph, blocks->ways, (uint32_t)y->planes, fresh)) {
        return TN_HEX_WHY_LIMIT;
    }
    tn_hx_line_bits seen = {0, 0, 0};
    uint32_t rights = 0, ways = 0;
    for (int32_t c = 0; c < 4 * y->planes; c++) {
        ways = blocks->ways[c / 4] > ways ? blocks->ways[c / 4] : ways;
        rights |= (uint32_t)blocks->channels[c].right;
        tn_hx_line_see(&seen, &blocks->channels[c].line);
    }
    if (ways > BY_EVEN_LINE || rights > 31 || !tn_hx_line_sane(&seen)) {
        return TN_HEX_WHY_RANGE;
    }
    blocks->group = 1;
    return goes_by_groups(blocks, y, node->attr.rounding) ? prepare_records(graph, blocks, x, y, &node->attr) : TN_HEX_WHY_NONE;
}

// 32 blocks of each of four channels, from two rows of x.
static inline __attribute__((always_inline)) void take_blocks(HVX_Vector b[4], const uint8_t *x, int32_t row, int32_t beside)
{
    const uint8_t *below = x + row;
    const HVX_VectorPair upper = Q6_W_vdeal_VVR(TN_HX_CVU(x + beside), TN_HX_CVU(x), -1);
    const HVX_VectorPair lower = Q6_W_vdeal_VVR(TN_HX_CVU(below + beside), TN_HX_CVU(below), -1);
    const HVX_VectorPair even = Q6_Wb_vshuffoe_VbVb(Q6_V_lo_W(lower), Q6_V_lo_W(upper));
    const HVX_VectorPair odd = Q6_Wb_vshuffoe_VbVb(Q6_V_hi_W(lower), Q6_V_hi_W(upper));
    b[0] = Q6_V_lo_W(even);
    b[1] = Q6_V_lo_W(odd);
    b[2] = Q6_V_hi_W(even);
    b[3] = Q6_V_hi_W(odd);
}

// Rows [from, end) of blocks.
static inline __attribute__((always_inline)) void take_rows(HVX_Vector rows[4][4], int from, int end, const uint8_t *x, int32_t row, int32_t beside)
{
#pragma unroll
    for (int i = from; i < end; i++) {
        take_blocks(rows[i], x + 2 * i * row, row, beside);
    }
}

static inline __attribute__((always_inline)) HVX_Vector sum3(HVX_Vector block, HVX_Vector below, const int32_t *w)
{
    const HVX_Vector beside = Q6_V_vror_VR(Q6_Vh_vshuffe_VhVh(below, block), 4);
    return Q6_Vw_vrmpyacc_VwVubRb(Q6_Vw_vrmpyacc_VwVubRb(Q6_Vw_vrmpy_VubRb(block, w[0]), below, w[1]), beside, w[2]);
}

// The sums of two rows of a channel, from three rows of blocks, or four.
static inline __attribute__((always_inline)) void sum_rows(HVX_Vector rows[4][4], int channel, const int32_t *w, int five, HVX_Vector sums[2])
{
    if (!five) {
        sums[0] = sum3(rows[0][channel], rows[1][channel], w);
        sums[1] = sum3(rows[1][channel], rows[2][channel], w);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const HVX_Vector block = rows[i][channel], beside = Q6_V_vror_VR(block, 4), last = Q6_V_vror_VR(block, 8);
#pragma unroll
        for (int row = 0; row < 2; row++) {
            const int32_t *taps = w + 3 * (i - row);
            if (i == row) {
                sums[row] = Q6_Vw_vrmpy_VubRb(block, taps[0]);
            } else if (i > row && i < row + 3) {
                sums[row] = Q6_Vw_vrmpyacc_VwVubRb(sums[row], block, taps[0]);
            }
            if (i >= row && i < row + 3) {
                sums[row] = Q6_Vw_vrmpyacc_VwVubRb(Q6_Vw_vrmpyacc_VwVubRb(sums[row], beside, taps[1]), last, taps[2]);
            }
        }
    }
}

typedef struct strip {
    const tn_hx_blocks_channel *channels;
    const tn_hx_requant *requant;
    const tn_hx_ends *ends;
    int32_t row, to_row;         // bytes from a row to the next, of x and of y
} strip;

// n pairs of rows; x: the first tap of the first.
static inline __attribute__((always_inline)) void strip_run(const strip *t, const uint8_t *restrict x, uint8_t *restrict to, int32_t n, int by,
                                                            int five)
{
    const tn_hx_blocks_channel *c = t->channels;
    const int32_t beside = tn_hx_opaque(TN_HX_VECTOR), row = t->row, to_row = t->to_row, down = c[0].line.down;
    const HVX_Vector zero = t->ends->zero, low = t->ends->low, high = t->ends->high;
    HVX_Vector rows[4][4], bias[4], m[4];   // of blocks; the first ones are kept from the rows before
    tn_hx_line_lanes lines[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        bias[i] = Q6_V_vsplat_R(c[i].bias);
        m[i] = Q6_V_vsplat_R(c[i].multiplier);
        lines[i] = tn_hx_line_splat(&c[i].line);
    }
    take_rows(rows, 0, 1 + five, x, row, beside);
#pragma clang loop unroll(disable)
    for (; n > 0; n--) {
        HVX_Vector h[4], out[2];
        take_rows(rows, 1 + five, 3 + five, x, row, beside);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            HVX_Vector s[2];
            sum_rows(rows, i, c[i].weights, five, s);
            if (by == BY_Q31) {
                h[i] = Q6_Vh_vasr_VwVwR_rnd_sat(tn_hx_q31_product(Q6_Vw_vadd_VwVw(s[1], bias[i]), m[i]),
                                                tn_hx_q31_product(Q6_Vw_vadd_VwVw(s[0], bias[i]), m[i]), c[i].right);
            } else {
                h[i] = tn_hx_line_halves(s[0], s[1], &lines[i], by == BY_EVEN_LINE);
            }
            rows[0][i] = rows[2][i];
            rows[1][i] = five ? rows[3][i] : rows[1][i];
        }
        if (by == BY_Q31) {
            tn_hx_pack_narrow(h, zero, low, high, out);
        } else {
            const HVX_Vector ab = Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(Q6_Vub_vasr_VhVhR_sat(h[1], h[0], down), low), high);
            const HVX_Vector cd = Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(Q6_Vub_vasr_VhVhR_sat(h[3], h[2], down), low), high);
            out[0] = Q6_Vh_vshuffe_VhVh(cd, ab);
            out[1] = Q6_Vh_vshuffo_VhVh(cd, ab);
        }
        TN_HX_VU(to) = out[0];
        TN_HX_VU(to + to_row) = out[1];
        x += 4 * row, to += 2 * to_row;
    }
}

// The same for the other modes.
static inline __attribute__((always_inline)) void strip_run_mode(const strip *t, const uint8_t *x, uint8_t *to, int32_t n, int mode, int five)
{
    const int32_t beside = tn_hx_opaque(TN_HX_VECTOR), row = t->row, to_row = t->to_row;
    tn_hx_ends ends = *t->ends;
    HVX_Vector rows[4][4];
    take_rows(rows, 0, 1 + five, x, row, beside);
    for (; n > 0; n--) {
        HVX_Vector s[8];
        take_rows(rows, 1 + five, 3 + five, x, row, beside);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const HVX_Vector bias = Q6_V_vsplat_R(t->channels[i].bias);
            sum_rows(rows, i, t->channels[i].weights, five, s + 2 * i);
            s[2 * i] = Q6_Vw_vadd_VwVw(s[2 * i], bias);
            s[2 * i + 1] = Q6_Vw_vadd_VwVw(s[2 * i + 1], bias);
            rows[0][i] = rows[2][i];
            rows[1][i] = five ? rows[3][i] : rows[1][i];
        }
        ends.to[0] = to;
        tn_hx_store_tile(s, t->requant, &ends, 1, 2, mode, 0, to_row, 1);
        x += 4 * row;
        to += 2 * to_row;
    }
}

typedef void run_fn(const strip *, const uint8_t *, uint8_t *, int32_t);
#define RUN(NAME, HOW, BY)                                                                                            \
    static void NAME##_3(const strip *t, const uint8_t *x, uint8_t *to, int32_t n) { HOW(t, x, to, n, BY, 0); }       \
    static void NAME##_5(const strip *t, const uint8_t *x, uint8_t *to, int32_t n) { HOW(t, x, to, n, BY, 1); }
RUN(by_q31, strip_run, BY_Q31)
RUN(by_line, strip_run, BY_LINE)
RUN(by_even_line, strip_run, BY_EVEN_LINE)
RUN(by_rne_narrow, strip_run_mode, TN_HX_RNE_NARROW)
RUN(by_wide_q31, strip_run_mode, TN_HX_Q31)
RUN(by_q31_unit, strip_run_mode, TN_HX_Q31_UNIT)
RUN(by_rne, strip_run_mode, TN_HX_RNE)

void tn_hx_blocks_plane(const tn_hx_blocks *blocks, const tn_hx_attr *attr, int32_t plane, const tn_hx_value *x, const uint8_t *from,
                        const tn_hx_value *y, uint8_t *to)
{
    static run_fn *const by_way[2][4] = {{NULL, by_q31_3, by_line_3, by_even_line_3}, {NULL, by_q31_5, by_line_5, by_even_line_5}};
    static run_fn *const by_mode[2][5] = {{by_q31_3, by_rne_narrow_3, by_wide_q31_3, by_q31_unit_3, by_rne_3},
                                         {by_q31_5, by_rne_narrow_5, by_wide_q31_5, by_q31_unit_5, by_rne_5}};
    const int five = blocks->kernel == 5;
    const int32_t strips = strips_of(blocks, y);
    run_fn *run = blocks->ways[plane] == BY_MODE ? by_mode[five][blocks->modes[plane]] : by_way[five][blocks->ways[plane]];
    tn_hx_ends ends;
    tn_hx_ends_set(&ends, y->zero, attr->low, attr->high);
    strip t = {.channels = blocks->channels + 4 * plane, .requant = blocks->requant + 4 * plane, .ends = &ends, .row = 4 * x->pitch,
               .to_row = 4 * y->pitch};
    const int32_t pairs = y->height / 2;
    for (int32_t i = 0; i < strips; i++) {
        const int32_t at = strip_at(blocks, y, i);
        const uint8_t *first = from + 4 * (blocks->first + 2 * at);
        uint8_t *result = to + 4 * at;
        run(&t, first, result, pairs);
        if (y->height % 2) {   // the last row, and one that is not there
            strip last = t;
            uint8_t rows[2 * TN_HX_VECTOR] __attribute__((aligned(128)));
            last.to_row = TN_HX_VECTOR;
            run(&last, first + (uint32_t)(8 * (y->height - 1) * x->pitch), rows, 1);
            TN_HX_VU(result + (uint32_t)(y->height - 1) * (uint32_t)t.to_row) = TN_HX_V(rows);
        }
    }
    tn_hx_fill_plane(y, to);
}

void tn_hx_blocks_planes(const tn_hx_blocks *blocks, const tn_hx_attr *attr, int32_t plane, int32_t n, const tn_hx_value *x, const uint8_t *from,
                         const tn_hx_value *y, uint8_t *to)
{
    const int32_t group = plane ? plane / blocks->group : 0, down = blocks->down;
    tn_hx_columns_job job = {.x = from + 4 * blocks->first, .to = to, .row = 4 * x->pitch, .to_row = 4 * y->pitch, .down = down,
                             .clamps = blocks->clamps, .odd = y->zero & 1 ? 0 : 0x00010001 << down, .bits = ((2 << down) - 1) * 0x00010001};
    static void (*const loops[3])(const tn_hx_columns_job *) = {tn_hx_columns_blocks, tn_hx_columns_blocks_even, tn_hx_columns_blocks_q31};
    if (blocks->q31) {
        job.down = 31;
        job.odd = y->zero * 0x00010001;
    }
    for (int even = 0; even < 2; even++) {
        const int32_t rounds = (even ? blocks->gaps : blocks->plain)[group];
        job.records = first_record(blocks, group, even);
        job.rounds = rounds + 1;
        if (rounds) {
            loops[blocks->q31 ? 2 : even](&job);
        }
    }
    if (y->pitch <= y->width + 1 && y->pad <= 1) {
        tn_hx_columns_ends(y, to, n);
    } else {
        for (int32_t i = 0; i < n; i++) {
            tn_hx_fill_plane(y, to + (uint32_t)i * y->plane_bytes);
        }
    }
    for (int32_t k = 0; k < blocks->n_others; k++) {
        const int32_t i = blocks->others[k] - plane;
        if (i >= 0 && i < n) {
            tn_hx_blocks_plane(blocks, attr, plane + i, x, from + (uint32_t)i * x->plane_bytes, y, to + (uint32_t)i * y->plane_bytes);
        }
    }
}
