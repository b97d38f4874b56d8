// SPDX-License-Identifier: Apache-2.0
// Depthwise 3 x 3 of stride 1 in rows of one channel. A plane's four channels are taken apart first, so that four neighbours of a row lie
// in a word; with weights 0 1 2 - one vrmpy gives the result at the first of them, with - 0 1 2 at the second, and the same two on
// words two bytes further the third and fourth:
//
//   row:  a b c d  e f g h ...     a b c -   - b c d         sums of pixels 4i, 4i + 1,
//   + 2:  c d e f  g h i j ...     c d e -   - d e f                        4i + 2, 4i + 3
//
// Three rows give 128 pixels of a channel in 12 products, two to a packet; requantisation narrows them to a vector in the order of the row.
// The loops over a row are in hx_planar_loops.S. In the end four channels are put together again.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers, each with a scratch of its own.
#include "exec/hexagon/dsp/kernels/depthwise/hx_planar.h"

#include "exec/hexagon/wire/hex_control.h"

enum { FEW_VECTORS = 2, GROUP = 16, GROUP_LEAST = 4 };   // images that go by groups of planes; planes of a group
enum { PAST = 2 };                                       // vectors of rows read past the end
enum { BY_Q31, BY_LINE, BY_EVEN_LINE };                  // how a channel is requantised; even: with a gap, see hx_line.h

int tn_hx_planar_pays(const tn_hx_value *x, const tn_hx_value *y)
{
    const int large = y->height * y->pitch > FEW_VECTORS * TN_HX_VECTOR;
    const int alike = x->plane_bytes == y->plane_bytes && x->lead == y->lead && y->planes >= GROUP_LEAST;
    return large || alike;
}

// most: bits of fraction of a line. Returns whether there is a way.
static int set_channel(tn_hx_planar_channel *c, const tn_hx_requant *r, const int8_t *w, const tn_hx_value *y, const tn_hx_attr *attr, int mode,
                       int32_t most)
{
    for (int row = 0; row < 3; row++) {
        const uint32_t three = (uint8_t)w[3 * row] | (uint32_t)(uint8_t)w[3 * row + 1] << 8 | (uint32_t)(uint8_t)w[3 * row + 2] << 16;
        c->weights[2 * row] = (int32_t)three;
        c->weights[2 * row + 1] = (int32_t)(three << 8);
    }
    c->bias = r->bias;
    c->multiplier = r->multiplier;
    c->right = r->right;
    const int line = tn_hx_line_find(&c->line, r, attr->rounding, y->zero, attr->low, attr->high, most);
    c->by = line ? c->line.limit ? BY_EVEN_LINE : BY_LINE : BY_Q31;
    return line || mode == TN_HX_Q31_NARROW;
}

// Channels of all planes with at most so many bits of fraction. Returns the fewest that a channel has.
static int32_t set_channels(tn_hx_planar *planar, const int8_t *w, const tn_hx_value *y, const tn_hx_attr *attr, const tn_hx_requant *requant,
                            const uint8_t *modes, int32_t most)
{
    int32_t fewest = most;
    planar->all = 1;
    for (int32_t plane = 0; plane < y->planes; plane++) {
        int fits = 1;
        for (int32_t c = 4 * plane; c < 4 * plane + 4; c++) {
            tn_hx_planar_channel *channel = &planar->channels[c];
            if (c >= y->dims[1]) {
                *channel = channel[-1];   // lanes of no channel
            } else if (!set_channel(channel, &requant[c], w + 9 * c, y, attr, modes[plane], most)) {
                fits = 0;
            } else if (channel->by != BY_Q31 && channel->line.down + 16 < fewest) {
                fewest = channel->line.down + 16;
            }
        }
        planar->fits[plane] = (uint8_t)fits;
        planar->all &= fits;
    }
    return fewest;
}

// How each of the four loops of a group requantises: all of its planes alike.
static void set_groups(tn_hx_planar *planar, int32_t planes)
{
    for (int32_t plane = 0; plane < planes; plane += GROUP) {
        for (int32_t c = 0; c < 4; c++) {
            uint8_t by = BY_LINE;
            for (int32_t i = plane; i < plane + GROUP && i < planes; i++) {
                const int32_t one = planar->channels[4 * i + c].by;
                by = by == BY_LINE || one == BY_Q31 ? (uint8_t)one : by;
            }
            // In float_rne planes without a line are done another way.
            planar->group_by[plane / GROUP * 4 + c] = by == BY_Q31 && planar->rounding == TN_HEX_FLOAT_RNE ? BY_EVEN_LINE : by;
        }
    }
}

// By the way of a channel: the loop, and its vectors in flight.
typedef void loop_fn(const tn_hx_planar_job *);
static loop_fn *const loops[] = {tn_hx_planar_q31, tn_hx_planar_line, tn_hx_planar_even_line};
static const int32_t ahead[] = {TN_HX_PLANAR_Q31_AHEAD, TN_HX_PLANAR_LINE_AHEAD, TN_HX_PLANAR_EVEN_LINE_AHEAD};

static void set_job(tn_hx_planar_job *job, const tn_hx_planar *p, const tn_hx_planar_channel *ch)
{
    *job = (tn_hx_planar_job){.low = (int32_t)((uint32_t)p->low * 0x01010101u), .high = (int32_t)((uint32_t)p->high * 0x01010101u),
                              .pitch = p->pitch, .rounds = p->vectors + ahead[ch->by]};
    __builtin_memcpy(job->weights, ch->weights, sizeof job->weights);
    if (ch->by == BY_Q31) {
        job->start = ch->bias;
        job->multiplier = ch->multiplier;
        job->lower = 31;
        job->shift = ch->right;
        job->zero = p->zero * 0x00010001;
    } else {
        job->start = ch->line.start;
        job->multiplier = ch->line.multiplier;
        job->lower = (int32_t)((uint16_t)ch->line.low * 0x00010001u);
        job->shift = ch->line.left;
        job->down = ch->line.down;
        job->limit = (int32_t)((uint32_t)ch->line.limit * 0x00010001u);
        job->odd = ch->line.odd * 0x00010001;
        job->bits = ((2 << ch->line.down) - 1) * 0x00010001;
    }
}

uint32_t tn_hx_planar_prepare(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_node *node, const int8_t *w, const tn_hx_requant *requant,
                              const uint8_t *modes, int32_t first)
{
    const tn_hx_value *y = tn_hx_out(graph, node);
    planar->rounding = node->attr.rounding;
    planar->zero = y->zero;
    planar->low = node->attr.low;
    planar->high = node->attr.high;
    planar->first = first;
    planar->pitch = y->pitch;
    planar->pixels = y->height * y->pitch;
    planar->vectors = (planar->pixels + TN_HX_VECTOR - 1) / TN_HX_VECTOR;
    planar->chunks = (TN_HX_VECTOR * planar->vectors + 2 * y->pitch + 34 + TN_HX_VECTOR - 1) / TN_HX_VECTOR;
    planar->channels = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)y->planes * sizeof *planar->channels);
    planar->fits = tn_hx_pool_take(&graph->pool, (uint32_t)y->planes);
    planar->group_by = tn_hx_pool_take(&graph->pool, 4 * ((uint32_t)y->planes / GROUP + 1));
    if (!planar->channels || !planar->fits || !planar->group_by) {
        return TN_HEX_WHY_LIMIT;
    }
    const int32_t fewest = set_channels(planar, w, y, &node->attr, requant, modes, TN_HX_LINE_FRACTION_MAX);
    planar->group = 1;
    if (planar->vectors <= FEW_VECTORS) {   // a loop over planes, whose lines have one shift
        planar->group = GROUP;
        planar->apart = (int32_t)(y->plane_bytes / 4);
        planar->lead = (int32_t)(y->lead / 4);
        planar->chunks = (GROUP * planar->apart + TN_HX_VECTOR - 1) / TN_HX_VECTOR;
        set_channels(planar, w, y, &node->attr, requant, modes, fewest);
        planar->line.down = fewest - 16;
        planar->line.odd = y->zero & 1 ? 0 : 1 << planar->line.down;
        set_groups(planar, y->planes);
        return TN_HEX_WHY_NONE;
    }
    planar->jobs = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)y->planes * sizeof *planar->jobs);
    for (int32_t c = 0; planar->jobs && c < 4 * y->planes; c++) {
        set_job(&planar->jobs[c], planar, &planar->channels[c]);
    }
    return planar->jobs ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
}

uint32_t tn_hx_planar_scratch(const tn_hx_planar *planar)
{
    const int32_t results = planar->group > 1 ? planar->chunks + 1 : planar->vectors;
    return (4 * (uint32_t)(planar->chunks + 1 + results) + TN_HX_PLANAR_MOST_AHEAD + PAST) * TN_HX_VECTOR;
}

// The way back from rows of one channel, by whole vectors of 32 pixels. The loop writes half a chunk past its last one: there must be room
// for `room` pixels behind the last.
static void put_together(uint8_t *to, const uint8_t *a, int32_t apart, int32_t pixels, int32_t room)
{
    const int32_t most = (pixels + room - TN_HX_VECTOR / 2) / TN_HX_VECTOR, whole = (pixels + 31) / TN_HX_VECTOR;
    const int32_t chunks = most < whole ? most : whole;
    if (chunks > 0) {
        tn_hx_planar_together(to, a, apart, chunks);
        to += 4 * TN_HX_VECTOR * chunks;
        a += TN_HX_VECTOR * chunks;
        pixels -= TN_HX_VECTOR * chunks;
    }
    for (; pixels > 0; pixels -= TN_HX_VECTOR, to += 4 * TN_HX_VECTOR, a += TN_HX_VECTOR) {
        const HVX_VectorPair even = Q6_W_vshuff_VVR(TN_HX_CV(a + 2 * apart), TN_HX_CV(a), -1);
        const HVX_VectorPair odd = Q6_W_vshuff_VVR(TN_HX_CV(a + 3 * apart), TN_HX_CV(a + apart), -1);
        const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(odd), Q6_V_lo_W(even), -1);
        const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(odd), Q6_V_hi_W(even), -1);
        const HVX_Vector v[4] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma unroll
        for (int32_t i = 0; i < 4; i++) {
            if (32 * i < pixels) {
                TN_HX_V(to + TN_HX_VECTOR * i) = v[i];
            }
        }
    }
}

// Small images: vector `at` of one of the four channels of n planes. `apart`: bytes from a plane to the next.
static inline __attribute__((always_inline)) void planes_run(const tn_hx_planar *p, const tn_hx_planar_channel *restrict ch,
                                                        const uint8_t *restrict x, uint8_t *restrict to, int32_t apart, int32_t n, int by)
{
    const HVX_Vector zero = Q6_V_vsplat_R(p->zero * 0x00010001), low = tn_hx_splat_byte(p->low), high = tn_hx_splat_byte(p->high);
    const int32_t two = tn_hx_opaque(2), pitch = p->pitch, down = p->line.down;
    tn_hx_line_lanes line = tn_hx_line_splat(&p->line);
    const uint8_t *a = x, *b = a + pitch, *c = b + pitch, *a2 = a + two, *b2 = b + two, *c2 = c + two;
#pragma clang loop unroll(disable)
    for (; n > 0; n--) {
        const int32_t *w = ch->weights;
        HVX_Vector v = TN_HX_CVU(a), u = TN_HX_CVU(a2);
        HVX_Vector s0 = Q6_Vw_vrmpy_VubRb(v, w[0]), s1 = Q6_Vw_vrmpy_VubRb(v, w[1]), s2 = Q6_Vw_vrmpy_VubRb(u, w[0]), s3 = Q6_Vw_vrmpy_VubRb(u, w[1]);
        v = TN_HX_CVU(b), u = TN_HX_CVU(b2);
        s0 = Q6_Vw_vrmpyacc_VwVubRb(s0, v, w[2]), s1 = Q6_Vw_vrmpyacc_VwVubRb(s1, v, w[3]);
        s2 = Q6_Vw_vrmpyacc_VwVubRb(s2, u, w[2]), s3 = Q6_Vw_vrmpyacc_VwVubRb(s3, u, w[3]);
        v = TN_HX_CVU(c), u = TN_HX_CVU(c2);
        s0 = Q6_Vw_vrmpyacc_VwVubRb(s0, v, w[4]), s1 = Q6_Vw_vrmpyacc_VwVubRb(s1, v, w[5]);
        s2 = Q6_Vw_vrmpyacc_VwVubRb(s2, u, w[4]), s3 = Q6_Vw_vrmpyacc_VwVubRb(s3, u, w[5]);
        HVX_Vector y;
        if (by == BY_Q31) {
            const HVX_Vector start = Q6_V_vsplat_R(ch->bias), m = Q6_V_vsplat_R(ch->multiplier);
            s0 = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s0, start), m), s1 = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s1, start), m);
            s2 = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s2, start), m), s3 = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s3, start), m);
            const HVX_Vector even = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vasr_VwVwR_rnd_sat(s2, s0, ch->right), zero);
            y = Q6_Vub_vsat_VhVh(Q6_Vh_vadd_VhVh_sat(Q6_Vh_vasr_VwVwR_rnd_sat(s3, s1, ch->right), zero), even);
        } else {
            line.start = Q6_V_vsplat_R(ch->line.start);
            line.multiplier = Q6_V_vsplat_R(ch->line.multiplier);
            line.low = (int32_t)((uint16_t)ch->line.low * 0x00010001u);
            line.left = ch->line.left;
            line.limit = Q6_V_vsplat_R((int32_t)((uint32_t)ch->line.limit * 0x00010001u));
            const HVX_Vector even = tn_hx_line_halves(s0, s2, &line, by == BY_EVEN_LINE);
            y = Q6_Vub_vasr_VhVhR_sat(tn_hx_line_halves(s1, s3, &line, by == BY_EVEN_LINE), even, down);
        }
        TN_HX_VU(to) = Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(y, low), high);
        a += apart, b += apart, c += apart, a2 += apart, b2 += apart, c2 += apart, to += apart, ch += 4;
    }
}
void tn_hx_planar_plane(const tn_hx_planar *planar, int32_t plane, const uint8_t *x, const tn_hx_value *y, uint8_t *to, uint8_t *scratch)
{
    // x's planes begin at a multiple of a vector; the first tap may not.
    const int32_t begin = planar->first & ~31, apart = (planar->chunks + 1) * TN_HX_VECTOR, back = planar->vectors * TN_HX_VECTOR;
    uint8_t *results = scratch + 4 * apart + TN_HX_PLANAR_MOST_AHEAD * TN_HX_VECTOR;
    tn_hx_planar_apart(x + 4 * begin, scratch, apart, planar->chunks);
    for (int32_t c = 3; c >= 0; c--) {   // each writes over the end of the one before
        const int32_t by = planar->channels[4 * plane + c].by;
        tn_hx_planar_job *job = &planar->jobs[4 * plane + c];
        job->x = scratch + c * apart + (planar->first - begin);
        job->to = results + c * back - ahead[by] * TN_HX_VECTOR;
        loops[by](job);
    }
    put_together(to, results, back, planar->pixels, TN_HX_VECTOR / 2);   // a plane has so much behind it
    tn_hx_fill_plane(y, to);
}

void tn_hx_planar_planes(const tn_hx_planar *planar, int32_t plane, int32_t n, const uint8_t *x, const tn_hx_value *y, uint8_t *to,
                         uint8_t *scratch)
{
    // Rows of a channel of all planes, with what lies between them. What is written beyond a plane falls on the room before the next.
    const int32_t row = (planar->chunks + 1) * TN_HX_VECTOR, back = row, apart = planar->apart, lead = planar->lead;
    uint8_t *results = scratch + 4 * row;
    tn_hx_planar_apart(x - 4 * lead, scratch, row, (n * apart + TN_HX_VECTOR - 1) / TN_HX_VECTOR);
    for (int32_t c = 0; c < 4; c++) {
        for (int32_t at = lead; at < lead + planar->vectors * TN_HX_VECTOR; at += TN_HX_VECTOR) {
            const tn_hx_planar_channel *channel = &planar->channels[4 * plane + c];
            const uint8_t *from = scratch + c * row + at + planar->first;
            const uint8_t by = planar->group_by[plane / GROUP * 4 + c];
            if (by == BY_Q31) {
                planes_run(planar, channel, from, results + c * back + at, apart, n, BY_Q31);
            } else if (by == BY_LINE) {
                planes_run(planar, channel, from, results + c * back + at, apart, n, BY_LINE);
            } else {
                planes_run(planar, channel, from, results + c * back + at, apart, n, BY_EVEN_LINE);
            }
        }
    }
    put_together(to - 4 * lead, results, back, n * apart, 0);
    for (int32_t i = 0; i < n; i++) {
        tn_hx_fill_plane(y, to + (uint32_t)i * y->plane_bytes);
    }
}
