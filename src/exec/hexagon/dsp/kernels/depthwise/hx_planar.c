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

enum { FEW_VECTORS = 12, PARTS = 4, LEAST_PLANES = 4, GROUP_PIXELS = 32768 };   // images of so few go by groups of planes; parts of an image, pixels of a part
enum { PAST = 2 };                                       // vectors of rows read past the end
enum { BY_Q31, BY_LINE, BY_EVEN_LINE };                  // how a channel is requantised; even: with a gap, see hx_line.h

int tn_hx_planar_pays(const tn_hx_value *x, const tn_hx_value *y, int32_t kernel)
{
    const int large = y->height * y->pitch > FEW_VECTORS * TN_HX_VECTOR;
    const int alike = x->plane_bytes == y->plane_bytes && x->lead == y->lead && x->pitch == y->pitch && y->planes >= LEAST_PLANES;
    return (large && kernel == 3) || alike;
}

// most: bits of fraction of a line. Returns whether there is a way.
static int set_channel(tn_hx_planar_channel *c, const tn_hx_requant *r, const int8_t *w, const tn_hx_value *y, const tn_hx_attr *attr, int mode,
                       int32_t most)
{
    const int32_t kernel = attr->kernel[0];
    for (int32_t t = 0; t < kernel * kernel; t++) {
        const int32_t row = t / kernel, column = t % kernel;
        c->weights[column / 4 * kernel + row] |= (int32_t)((uint32_t)(uint8_t)w[t] << 8 * (column % 4));
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
    for (int32_t plane = 0; plane < y->planes; plane++) {
        int fits = 1;
        for (int32_t c = 4 * plane; c < 4 * plane + 4; c++) {
            tn_hx_planar_channel *channel = &planar->channels[c];
            *channel = (tn_hx_planar_channel){.by = BY_Q31};
            if (c >= y->dims[1]) {
                *channel = channel[-1];   // lanes of no channel
            } else if (!set_channel(channel, &requant[c], w + attr->kernel[0] * attr->kernel[0] * c, y, attr, modes[plane], most)) {
                fits = 0;
            } else if (channel->by != BY_Q31 && channel->line.down + 16 < fewest) {
                fewest = channel->line.down + 16;
            }
        }
        planar->fits[plane] = (uint8_t)fits;
    }
    return fewest;
}

// How each of the four loops of a group requantises: all of its planes alike.
static void set_groups(tn_hx_planar *planar, int32_t planes)
{
    for (int32_t plane = 0; plane < planes; plane += planar->group) {
        for (int32_t c = 0; c < 4; c++) {
            uint8_t by = BY_LINE;
            for (int32_t i = plane; i < plane + planar->group && i < planes; i++) {
                const int32_t one = planar->channels[4 * i + c].by;
                by = by == BY_LINE || one == BY_Q31 ? (uint8_t)one : by;
            }
            // In float_rne planes without a line are done another way.
            planar->group_by[plane / planar->group * 4 + c] = by == BY_Q31 && planar->rounding == TN_HEX_FLOAT_RNE ? BY_EVEN_LINE : by;
        }
    }
}

// A plane's place in rows of one channel: from the padding before it on, whole vectors until its last pixel. What a clamp leaves of a pixel
// that is padding is the zero point.
static uint32_t set_slots(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_value *x, const tn_hx_value *y)
{
    const int32_t beside = y->pad * y->pitch + y->pad, up = TN_HX_VECTOR - 1;
    planar->lead = (beside + 31) & ~31;
    planar->slot = (planar->lead + planar->pixels + up) & ~up;
    planar->reach = planar->lead + planar->pixels + beside;
    planar->margin = (up - planar->first) & ~up;
    planar->x_zero = x->zero;
    const int32_t share = (y->planes + PARTS - 1) / PARTS, room = GROUP_PIXELS / planar->slot;
    planar->group = share < room ? share : room > 0 ? room : 1;
    // Behind the last plane is room for one more, of which a vector is written too much, and for what a window reads there.
    planar->apart = (planar->group + 1) * planar->slot + planar->margin + ((4 * y->pitch + 8 + up) & ~up) + TN_HX_VECTOR;
    planar->clamps = tn_hx_pool_take(&graph->pool, 2 * (uint32_t)planar->slot);
    planar->group_by = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)((y->planes + planar->group - 1) / planar->group));
    if (!planar->clamps || !planar->group_by) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t i = 0; i < planar->slot; i++) {
        const int32_t at = i - planar->lead;
        const int inside = at >= 0 && at < planar->pixels && at % planar->pitch < y->width;
        uint8_t *low = planar->clamps + i / TN_HX_VECTOR * 2 * TN_HX_VECTOR + i % TN_HX_VECTOR;
        low[0] = (uint8_t)(inside ? planar->low : planar->zero);
        low[TN_HX_VECTOR] = (uint8_t)(inside ? planar->high : planar->zero);
    }
    set_groups(planar, y->planes);
    return TN_HEX_WHY_NONE;
}

// By the way of a channel: the loop, and its vectors in flight.
typedef void loop_fn(const tn_hx_planar_job *);
static loop_fn *const loops[] = {tn_hx_planar_q31, tn_hx_planar_line, tn_hx_planar_even_line};
static const int32_t ahead[] = {TN_HX_PLANAR_Q31_AHEAD, TN_HX_PLANAR_LINE_AHEAD, TN_HX_PLANAR_EVEN_LINE_AHEAD};

static void set_job(tn_hx_planar_job *job, const tn_hx_planar *p, const tn_hx_planar_channel *ch)
{
    *job = (tn_hx_planar_job){.low = (int32_t)((uint32_t)p->low * 0x01010101u), .high = (int32_t)((uint32_t)p->high * 0x01010101u),
                              .pitch = p->pitch, .rounds = p->vectors + ahead[ch->by]};
    for (int32_t row = 0; row < 3; row++) {
        job->weights[2 * row] = ch->weights[row];
        job->weights[2 * row + 1] = (int32_t)((uint32_t)ch->weights[row] << 8);
    }
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
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    planar->kernel = node->attr.kernel[0];
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
    if (!planar->channels || !planar->fits) {
        return TN_HEX_WHY_LIMIT;
    }
    const int32_t fewest = set_channels(planar, w, y, &node->attr, requant, modes, TN_HX_LINE_FRACTION_MAX);
    planar->group = 1;
    if (planar->kernel == 5 || planar->vectors <= FEW_VECTORS) {   // a loop over planes, whose lines have one shift
        set_channels(planar, w, y, &node->attr, requant, modes, fewest);
        planar->line.down = fewest - 16;
        planar->line.odd = y->zero & 1 ? 0 : 1 << planar->line.down;
        return set_slots(graph, planar, x, y);
    }
    planar->jobs = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)y->planes * sizeof *planar->jobs);
    for (int32_t c = 0; planar->jobs && c < 4 * y->planes; c++) {
        set_job(&planar->jobs[c], planar, &planar->channels[c]);
    }
    return planar->jobs ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
}

uint32_t tn_hx_planar_scratch(const tn_hx_planar *planar)
{
    if (planar->slot) {
        return (uint32_t)(planar->margin + 8 * planar->apart);
    }
    return (4 * (uint32_t)(planar->chunks + 1 + planar->vectors) + TN_HX_PLANAR_MOST_AHEAD + PAST) * TN_HX_VECTOR;
}

// 128 pixels of four rows back to `vectors` of 32 pixels.
static inline void together_chunk(uint8_t *to, const uint8_t *a, int32_t apart, int32_t vectors)
{
    const HVX_VectorPair even = Q6_W_vshuff_VVR(TN_HX_CV(a + 2 * apart), TN_HX_CV(a), -1);
    const HVX_VectorPair odd = Q6_W_vshuff_VVR(TN_HX_CV(a + 3 * apart), TN_HX_CV(a + apart), -1);
    const HVX_VectorPair low = Q6_W_vshuff_VVR(Q6_V_lo_W(odd), Q6_V_lo_W(even), -1);
    const HVX_VectorPair high = Q6_W_vshuff_VVR(Q6_V_hi_W(odd), Q6_V_hi_W(even), -1);
    const HVX_Vector v[4] = {Q6_V_lo_W(low), Q6_V_hi_W(low), Q6_V_lo_W(high), Q6_V_hi_W(high)};
#pragma unroll
    for (int32_t i = 0; i < 4; i++) {
        if (i < vectors) {
            TN_HX_V(to + TN_HX_VECTOR * i) = v[i];
        }
    }
}

// n chunks of which the first `pixels` pixels (and what fills their last vector) are written. The loop writes half a chunk past its last one.
static void together(uint8_t *to, const uint8_t *a, int32_t apart, int32_t n, int32_t step, int32_t row_step, int32_t pixels)
{
    const int32_t vectors = pixels >= TN_HX_VECTOR ? 4 : (pixels + 31) / 32;
    if (vectors == 4 && n > 1) {
        tn_hx_planar_together(to, a, apart, n - 1, step, row_step);
        to += (n - 1) * step;
        a += (n - 1) * row_step;
        n = 1;
    }
    for (; n > 0; n--, to += step, a += row_step) {
        together_chunk(to, a, apart, vectors);
    }
}

// One of the four channels of n planes, one vector of each; x: the first tap of the first. stride: bytes from a plane to the next. The last of
// five taps is a product with the next words, whose other three weights are 0.
static inline __attribute__((always_inline)) void planes_run(const tn_hx_planar *p, const tn_hx_planar_channel *restrict ch,
                                                        const uint8_t *restrict x, uint8_t *restrict to, int32_t n, const uint8_t *clamp,
                                                        int kernel, int by)
{
    const HVX_Vector zero = Q6_V_vsplat_R(p->zero * 0x00010001), low = TN_HX_CV(clamp), high = TN_HX_CV(clamp + TN_HX_VECTOR);
    const int32_t four = tn_hx_opaque(4), stride = p->slot, down = p->line.down;
    tn_hx_line_lanes line = tn_hx_line_splat(&p->line);
    const uint8_t *row[5], *beside[5];
#pragma unroll
    for (int r = 0; r < kernel; r++) {
        row[r] = x + r * p->pitch;
        beside[r] = row[r] + four;
    }
#pragma clang loop unroll(disable)
    for (; n > 0; n--) {
        HVX_VectorPair even, odd;
#pragma unroll
        for (int r = 0; r < kernel; r++) {
            const int32_t w = ch->weights[r];
            const HVX_Vector next = TN_HX_CVU(beside[r]);
            const HVX_VectorPair v = Q6_W_vcombine_VV(next, TN_HX_CVU(row[r]));
            even = r ? Q6_Ww_vrmpyacc_WwWubRbI(even, v, w, 0) : Q6_Ww_vrmpy_WubRbI(v, w, 0);
            odd = r ? Q6_Ww_vrmpyacc_WwWubRbI(odd, v, w, 1) : Q6_Ww_vrmpy_WubRbI(v, w, 1);
            if (kernel == 5) {
                const HVX_VectorPair u = Q6_W_vcombine_VV(next, next);
                even = Q6_Ww_vrmpyacc_WwWubRbI(even, u, ch->weights[5 + r], 0);
                odd = Q6_Ww_vrmpyacc_WwWubRbI(odd, u, ch->weights[5 + r], 1);
            }
            row[r] += stride, beside[r] += stride;
        }
        const HVX_Vector s0 = Q6_V_lo_W(even), s1 = Q6_V_lo_W(odd), s2 = Q6_V_hi_W(even), s3 = Q6_V_hi_W(odd);
        HVX_Vector y;
        if (by == BY_Q31) {
            const HVX_Vector bias = Q6_V_vsplat_R(ch->bias), m = Q6_V_vsplat_R(ch->multiplier);
            const HVX_Vector a = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s0, bias), m), b = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s1, bias), m);
            const HVX_Vector c = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s2, bias), m), d = tn_hx_q31_product(Q6_Vw_vadd_VwVw(s3, bias), m);
            const HVX_Vector ac = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vasr_VwVwR_rnd_sat(c, a, ch->right), zero);
            y = Q6_Vub_vsat_VhVh(Q6_Vh_vadd_VhVh_sat(Q6_Vh_vasr_VwVwR_rnd_sat(d, b, ch->right), zero), ac);
        } else {
            line.start = Q6_V_vsplat_R(ch->line.start);
            line.multiplier = Q6_V_vsplat_R(ch->line.multiplier);
            line.low = (int32_t)((uint16_t)ch->line.low * 0x00010001u);
            line.left = ch->line.left;
            line.limit = Q6_V_vsplat_R((int32_t)((uint32_t)ch->line.limit * 0x00010001u));
            const HVX_Vector ac = tn_hx_line_halves(s0, s2, &line, by == BY_EVEN_LINE);
            y = Q6_Vub_vasr_VhVhR_sat(tn_hx_line_halves(s1, s3, &line, by == BY_EVEN_LINE), ac, down);
        }
        TN_HX_V(to) = Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(y, low), high);
        to += stride, ch += 4;
    }
}

typedef void planes_fn(const tn_hx_planar *, const tn_hx_planar_channel *, const uint8_t *, uint8_t *, int32_t, const uint8_t *);
#define PLANES(NAME, KERNEL, BY)                                                                                      \
    static void NAME(const tn_hx_planar *p, const tn_hx_planar_channel *ch, const uint8_t *x, uint8_t *to, int32_t n, \
                     const uint8_t *clamp)                                                                            \
    {                                                                                                                 \
        planes_run(p, ch, x, to, n, clamp, KERNEL, BY);                                                               \
    }
PLANES(planes_3_q31, 3, BY_Q31)
PLANES(planes_3_line, 3, BY_LINE)
PLANES(planes_3_even_line, 3, BY_EVEN_LINE)
PLANES(planes_5_q31, 5, BY_Q31)
PLANES(planes_5_line, 5, BY_LINE)
PLANES(planes_5_even_line, 5, BY_EVEN_LINE)

void tn_hx_planar_plane(const tn_hx_planar *planar, int32_t plane, const uint8_t *x, const tn_hx_value *y, uint8_t *to, uint8_t *scratch)
{
    // x's planes begin at a multiple of a vector; the first tap may not.
    const int32_t begin = planar->first & ~31, apart = (planar->chunks + 1) * TN_HX_VECTOR, back = planar->vectors * TN_HX_VECTOR;
    uint8_t *results = scratch + 4 * apart + TN_HX_PLANAR_MOST_AHEAD * TN_HX_VECTOR;
    tn_hx_planar_apart(x + 4 * begin, scratch, apart, planar->chunks, 4 * TN_HX_VECTOR, TN_HX_VECTOR);
    for (int32_t c = 3; c >= 0; c--) {   // each writes over the end of the one before
        const int32_t by = planar->channels[4 * plane + c].by;
        tn_hx_planar_job *job = &planar->jobs[4 * plane + c];
        job->x = scratch + c * apart + (planar->first - begin);
        job->to = results + c * back - ahead[by] * TN_HX_VECTOR;
        loops[by](job);
    }
    const int32_t whole = planar->pixels / TN_HX_VECTOR;
    together(to, results, back, whole, 4 * TN_HX_VECTOR, TN_HX_VECTOR, TN_HX_VECTOR);
    if (whole < planar->vectors) {
        together_chunk(to + 4 * TN_HX_VECTOR * whole, results + TN_HX_VECTOR * whole, back, (planar->pixels - TN_HX_VECTOR * whole + 31) / 32);
    }
    tn_hx_fill_plane(y, to);
}

void tn_hx_planar_planes(const tn_hx_planar *planar, int32_t plane, int32_t n, const uint8_t *x, const tn_hx_value *y, uint8_t *to,
                         uint8_t *scratch)
{
    static planes_fn *const runs[2][3] = {{planes_3_q31, planes_3_line, planes_3_even_line}, {planes_5_q31, planes_5_line, planes_5_even_line}};
    const int32_t slot = planar->slot, lead = planar->lead, apart = planar->apart, step = (int32_t)y->plane_bytes;
    uint8_t *rows = scratch + planar->margin, *results = rows + 4 * apart;
    const uint8_t *by = planar->group_by + plane / planar->group * 4;
    for (int32_t at = 0; at < slot; at += TN_HX_VECTOR) {
        tn_hx_planar_apart(x + 4 * (at - lead), rows + at, apart, n, step, slot);
    }
    for (int32_t c = 0; c < 4; c++) {   // behind the last plane, its padding: another's lies there behind the others
        TN_HX_V(rows + c * apart + n * slot) = tn_hx_splat_byte(planar->x_zero);
    }
    for (int32_t at = 0; at < slot; at += TN_HX_VECTOR) {
        for (int32_t c = 0; c < 4; c++) {
            runs[planar->kernel == 5][by[c]](planar, &planar->channels[4 * plane + c], rows + c * apart + at + planar->first,
                                             results + c * apart + at, n, planar->clamps + 2 * at);
        }
        together(to + 4 * (at - lead), results + at, apart, n, step, slot, planar->reach - at);
    }
    const HVX_Vector blank = tn_hx_splat_byte(planar->zero);
    for (int32_t at = slot; at < planar->reach; at += 32) {
        for (int32_t i = 0; i < n; i++) {
            TN_HX_V(to + 4 * (at - lead) + (uint32_t)i * y->plane_bytes) = blank;
        }
    }
}
