// SPDX-License-Identifier: Apache-2.0
// Depthwise 3 x 3 and 5 x 5 of stride 1 in rows of one channel. A plane's four channels are taken apart first, so that four neighbours of a row lie
// in a word; with weights 0 1 2 - one vrmpy gives the result at the first of them, with - 0 1 2 at the second, and the same two on
// words two bytes further the third and fourth:
//
//   row:  a b c d  e f g h ...     a b c -   - b c d         sums of pixels 4i, 4i + 1,
//   + 2:  c d e f  g h i j ...     c d e -   - d e f                        4i + 2, 4i + 3
//
// Three rows give 128 pixels of a channel in 12 products, two to a packet; requantisation narrows them to a vector in the order of the row.
// Loops over a long row are in hx_planar_loops.S. Of small images, and for 5 x 5, all channels of several planes lie one behind the other, each
// in a slot of whole vectors that begins with the padding before the plane, and one loop goes over a vector of each of them
// (hx_planar_planes.S). In the end four channels are put together again.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers, each with a scratch of its own.
#include "exec/hexagon/dsp/kernels/depthwise/hx_columns.h"
#include "exec/hexagon/dsp/rt/rt.h"

#include "exec/hexagon/wire/hex_control.h"

enum { FEW_VECTORS = 12, LEAST_PLANES = 4, GROUP_PIXELS = 32768 };   // images of so few go by groups of planes; pixels of a group
enum { PAST = 2 };                                       // vectors of rows read past the end
enum { BY_Q31, BY_LINE, BY_EVEN_LINE };                  // how a channel is requantised; even: with a gap, see hx_line.h

int tn_hx_planar_has_lines(const tn_hx_planar *planar, int32_t plane)
{
    int lines = planar->fits[plane];
    for (int32_t i = 0; i < 4; i++) {
        lines &= planar->channels[4 * plane + i].by != BY_Q31;
    }
    return lines;
}

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

// Channels of all planes with at most so many bits of fraction.
static void set_channels(tn_hx_planar *planar, const int8_t *w, const tn_hx_value *y, const tn_hx_attr *attr, const tn_hx_requant *requant,
                            const uint8_t *modes, int32_t most)
{
    for (int32_t plane = 0; plane < y->planes; plane++) {
        int fits = 1;
        for (int32_t c = 4 * plane; c < 4 * plane + 4; c++) {
            tn_hx_planar_channel *channel = &planar->channels[c];
            *channel = (tn_hx_planar_channel){.by = BY_Q31};
            if (c >= y->dims[1]) {
                *channel = channel[-1];   // lanes of no channel
            } else if (!set_channel(channel, &requant[c], w + attr->kernel[0] * attr->kernel[0] * c, y, attr, modes[plane], most)) {
                fits = 0;
            }
        }
        planar->fits[plane] = (uint8_t)fits;
    }
}

int32_t tn_hx_planar_fewest(const tn_hx_requant *requant, int32_t n, int rounding)
{
    int32_t fewest = TN_HX_LINE_FRACTION_MAX;
    for (int32_t c = 0; c < n; c++) {
        const int32_t fraction = tn_hx_line_fraction(&requant[c], rounding);
        fewest = fraction && fraction < fewest ? fraction : fewest;
    }
    return fewest;
}

static void set_record(const tn_hx_planar *planar, const tn_hx_planar_channel *ch, uint8_t *to)
{
    const int32_t lower = (int32_t)((uint16_t)ch->line.low * 0x00010001u), limit = (int32_t)((uint32_t)ch->line.limit * 0x00010001u);
    if (planar->kernel == 3) {
        tn_hx_planar_record3 r = {.lower = lower, .start = ch->line.start, .multiplier = ch->line.multiplier, .left = ch->line.left, .limit = limit};
        __builtin_memcpy(r.weights, ch->weights, sizeof r.weights);
        __builtin_memcpy(to, &r, sizeof r);
    } else {
        tn_hx_planar_record5 r = {.lower = lower, .start = ch->line.start, .multiplier = ch->line.multiplier, .left = ch->line.left, .limit = limit};
        __builtin_memcpy(r.weights, ch->weights, sizeof r.weights);
        __builtin_memcpy(to, &r, sizeof r);
    }
}

static uint32_t record_bytes(int32_t kernel) { return kernel == 3 ? sizeof(tn_hx_planar_record3) : sizeof(tn_hx_planar_record5); }
static uint32_t alike_bytes(const tn_hx_value *y) { return 4 * (uint32_t)y->planes * sizeof(uint16_t); }

// With room before and behind, of which the loop reads a little.
static uint32_t records_bytes(const tn_hx_value *y, int32_t kernel)
{
    return (4 * (uint32_t)y->planes + 2 * TN_HX_PLANAR_PLANES_AHEAD) * record_bytes(kernel);
}

// Which channels follow each other in a loop, and what the loop reads. Where one line of a group has a gap all go that way: it takes two
// packets more, and a new start of the loop would take dozens.
static void set_records(tn_hx_planar *planar, int32_t channels)
{
    const int32_t share = 4 * planar->group;
    for (int32_t begin = 0; begin < channels; begin += share) {
        const int32_t end = begin + share < channels ? begin + share : channels;
        int32_t line = BY_LINE;
        for (int32_t c = begin; c < end; c++) {
            line = planar->channels[c].by == BY_EVEN_LINE ? BY_EVEN_LINE : line;
        }
        for (int32_t c = begin; c < end; c++) {
            tn_hx_planar_channel *ch = &planar->channels[c];
            // In float_rne planes without a line are done another way.
            ch->by = ch->by == BY_Q31 && planar->rounding == TN_HEX_FIXED_Q31 ? BY_Q31 : line;
            planar->alike[c] = c == begin || ch[-1].by != ch->by ? 1 : (uint16_t)(planar->alike[c - 1] + 1);
            set_record(planar, ch, planar->records + (TN_HX_PLANAR_PLANES_AHEAD + c) * planar->record);
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
    const int32_t room = GROUP_PIXELS / planar->slot > 1 ? GROUP_PIXELS / planar->slot : 1, threads = (int32_t)tn_hx_workers();
    const int32_t groups = (y->planes + room * threads - 1) / (room * threads) * threads;   // as many for each thread
    planar->group = (y->planes + groups - 1) / groups;
    planar->clamps = tn_hx_pool_take(&graph->pool, 2 * (uint32_t)planar->slot);
    planar->alike = tn_hx_pool_take(&graph->pool, alike_bytes(y));
    planar->record = (int32_t)record_bytes(planar->kernel);
    planar->records = tn_hx_pool_take(&graph->pool, records_bytes(y, planar->kernel));
    if (!planar->clamps || !planar->alike || !planar->records) {
        return TN_HEX_WHY_LIMIT;
    }
    memset(planar->clamps, planar->zero, 2 * (uint32_t)planar->slot);
    for (int32_t row = 0; row < y->height; row++) {
        const uint32_t begin = (uint32_t)(planar->lead + row * planar->pitch);
        for (uint32_t i = begin; i < begin + (uint32_t)y->width; i++) {
            uint8_t *low = planar->clamps + i / TN_HX_VECTOR * 2 * TN_HX_VECTOR + i % TN_HX_VECTOR;
            low[0] = (uint8_t)planar->low;
            low[TN_HX_VECTOR] = (uint8_t)planar->high;
        }
    }
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

static uint32_t channels_bytes(const tn_hx_value *y) { return 4 * (uint32_t)y->planes * sizeof(tn_hx_planar_channel); }

void tn_hx_planar_room(tn_hx_graph *graph, const tn_hx_value *y, int32_t kernel)
{
    tn_hx_packed_room(graph, channels_bytes(y));
    tn_hx_packed_room(graph, (uint32_t)y->planes);
    tn_hx_packed_room(graph, sizeof(int32_t));
    tn_hx_packed_room(graph, alike_bytes(y));
    tn_hx_packed_room(graph, records_bytes(y, kernel));
}

// What the loops over planes go by, written or taken over.
static uint32_t keep_records(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_value *y, int fresh)
{
    const int32_t channels = 4 * y->planes, share = 4 * planar->group;
    if (!tn_hx_packed_copy(graph, planar->alike, alike_bytes(y), fresh) ||
        !tn_hx_packed_copy(graph, planar->records, records_bytes(y, planar->kernel), fresh)) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t c = 0, most = 1; c < channels; c++, most = most < share ? most + 1 : 1) {
        if (planar->alike[c] < 1 || planar->alike[c] > most) {
            return TN_HEX_WHY_RANGE;
        }
    }
    return TN_HEX_WHY_NONE;
}

// What the search for lines found, written or taken over. `fewest`: bits of fraction.
static uint32_t keep_channels(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_value *y, int32_t *fewest, int fresh)
{
    if (!tn_hx_packed_copy(graph, planar->channels, channels_bytes(y), fresh) ||
        !tn_hx_packed_copy(graph, planar->fits, (uint32_t)y->planes, fresh) || !tn_hx_packed_copy(graph, fewest, sizeof *fewest, fresh)) {
        return TN_HEX_WHY_LIMIT;
    }
    tn_hx_line_bits seen = {0, 0, 0};
    uint32_t rights = 0, ways = 0;
    for (int32_t c = 0; c < 4 * y->planes; c++) {
        const tn_hx_planar_channel *one = &planar->channels[c];
        rights |= (uint32_t)one->right;
        ways = (uint32_t)one->by > ways ? (uint32_t)one->by : ways;
        tn_hx_line_see(&seen, &one->line);
    }
    if (ways > BY_EVEN_LINE || rights > 31 || !tn_hx_line_sane(&seen)) {
        return TN_HEX_WHY_RANGE;
    }
    return *fewest >= 16 && *fewest <= TN_HX_LINE_FRACTION_MAX ? TN_HEX_WHY_NONE : TN_HEX_WHY_RANGE;
}

uint32_t tn_hx_planar_prepare(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_node *node, const int8_t *w, const tn_hx_requant *requant,
                              const uint8_t *modes, int32_t first, int fresh)
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
    const int groups = planar->kernel == 5 || planar->vectors <= FEW_VECTORS;   // a loop over planes, whose lines have one shift
    int32_t fewest = groups && fresh ? tn_hx_planar_fewest(requant, y->dims[1], planar->rounding) : TN_HX_LINE_FRACTION_MAX;
    if (fresh) {
        set_channels(planar, w, y, &node->attr, requant, modes, fewest);
    }
    planar->group = 1;
    uint32_t why = groups ? set_slots(graph, planar, x, y) : TN_HEX_WHY_NONE;
    if (!why && groups && fresh) {
        set_records(planar, 4 * y->planes);
    }
    why = why ? why : keep_channels(graph, planar, y, &fewest, fresh);
    if (why) {
        return why;
    }
    if (groups) {
        planar->line.down = fewest - 16;
        planar->line.odd = y->zero & 1 ? 0 : 1 << planar->line.down;
        why = keep_records(graph, planar, y, fresh);
        planar->records += TN_HX_PLANAR_PLANES_AHEAD * planar->record;   // the loop reads a little before and behind
        return why ? why : tn_hx_columns_prepare(graph, planar, node);
    }
    planar->jobs = tn_hx_pool_take(&graph->pool, 4 * (uint32_t)y->planes * sizeof *planar->jobs);
    for (int32_t c = 0; planar->jobs && c < 4 * y->planes; c++) {
        set_job(&planar->jobs[c], planar, &planar->channels[c]);
    }
    return planar->jobs ? TN_HEX_WHY_NONE : TN_HEX_WHY_LIMIT;
}

// Of rows or results of a group.
static int32_t slots_bytes(const tn_hx_planar *planar)
{
    return 4 * (planar->group + 1) * planar->slot + ((4 * planar->pitch + 8 + TN_HX_VECTOR - 1) & ~(TN_HX_VECTOR - 1));
}

uint32_t tn_hx_planar_scratch(const tn_hx_planar *planar)
{
    if (planar->columns) {
        return 0;
    }
    if (planar->slot) {
        // Rows and results, each with a plane behind it, of which a vector is written too much and which windows read, and before the
        // results the rounds that come before the first.
        return (uint32_t)(planar->margin + 2 * slots_bytes(planar) + TN_HX_PLANAR_PLANES_AHEAD * planar->slot);
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

// n channels, one vector of each, by fixed_q31 as it is defined; x: the first tap of the first.
static inline __attribute__((always_inline)) void planes_q31(const tn_hx_planar *p, const tn_hx_planar_channel *restrict ch,
                                                        const uint8_t *restrict x, uint8_t *restrict to, int32_t n, const uint8_t *clamp,
                                                        int kernel)
{
    const HVX_Vector zero = Q6_V_vsplat_R(p->zero * 0x00010001), low = TN_HX_CV(clamp), high = TN_HX_CV(clamp + TN_HX_VECTOR);
    const int32_t four = tn_hx_opaque(4), stride = p->slot;
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
            if (kernel == 5) {   // the fifth tap: the next words, with three weights of 0
                const HVX_VectorPair u = Q6_W_vcombine_VV(next, next);
                even = Q6_Ww_vrmpyacc_WwWubRbI(even, u, ch->weights[5 + r], 0);
                odd = Q6_Ww_vrmpyacc_WwWubRbI(odd, u, ch->weights[5 + r], 1);
            }
            row[r] += stride, beside[r] += stride;
        }
        const HVX_Vector bias = Q6_V_vsplat_R(ch->bias), m = Q6_V_vsplat_R(ch->multiplier);
        const HVX_Vector a = tn_hx_q31_product(Q6_Vw_vadd_VwVw(Q6_V_lo_W(even), bias), m);
        const HVX_Vector b = tn_hx_q31_product(Q6_Vw_vadd_VwVw(Q6_V_lo_W(odd), bias), m);
        const HVX_Vector c = tn_hx_q31_product(Q6_Vw_vadd_VwVw(Q6_V_hi_W(even), bias), m);
        const HVX_Vector d = tn_hx_q31_product(Q6_Vw_vadd_VwVw(Q6_V_hi_W(odd), bias), m);
        const HVX_Vector ac = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vasr_VwVwR_rnd_sat(c, a, ch->right), zero);
        const HVX_Vector bd = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vasr_VwVwR_rnd_sat(d, b, ch->right), zero);
        TN_HX_V(to) = Q6_Vub_vmin_VubVub(Q6_Vub_vmax_VubVub(Q6_Vub_vsat_VhVh(bd, ac), low), high);
        to += stride, ch++;
    }
}

static void planes_3_q31(const tn_hx_planar *p, const tn_hx_planar_channel *ch, const uint8_t *x, uint8_t *to, int32_t n, const uint8_t *clamp)
{
    planes_q31(p, ch, x, to, n, clamp, 3);
}

static void planes_5_q31(const tn_hx_planar *p, const tn_hx_planar_channel *ch, const uint8_t *x, uint8_t *to, int32_t n, const uint8_t *clamp)
{
    planes_q31(p, ch, x, to, n, clamp, 5);
}

// Results of channels [c, c + n), which are requantised alike, in vector `at` of their slots.
static void run_planes(const tn_hx_planar *p, int32_t c, int32_t n, const uint8_t *x, uint8_t *to, int32_t at)
{
    static void (*const lines[2][2])(const tn_hx_planar_batch *) = {{tn_hx_planar_planes_3_line, tn_hx_planar_planes_3_even_line},
                                                                    {tn_hx_planar_planes_5_line, tn_hx_planar_planes_5_even_line}};
    static const uint8_t ahead[2][2] = {{4, 3}, {4, 4}};
    const int five = p->kernel == 5, even = p->channels[c].by == BY_EVEN_LINE;
    const uint8_t *clamp = p->clamps + 2 * at;
    if (p->channels[c].by == BY_Q31) {
        (five ? planes_5_q31 : planes_3_q31)(p, &p->channels[c], x + p->first, to, n, clamp);
        return;
    }
    const tn_hx_planar_batch batch = {.x = x + p->first, .pitch = p->pitch, .slot = p->slot, .rounds = n + ahead[five][even],
                                      .records = p->records + c * p->record, .to = to - ahead[five][even] * p->slot, .clamp = clamp,
                                      .down = p->line.down, .odd = p->line.odd * 0x00010001, .bits = ((2 << p->line.down) - 1) * 0x00010001};
    lines[five][even](&batch);
}

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
    if (planar->columns) {
        tn_hx_columns_planes(planar, plane, n, x, y, to);
        return;
    }
    const int32_t slot = planar->slot, lead = planar->lead, step = (int32_t)y->plane_bytes, first = 4 * plane;
    uint8_t *rows = scratch + planar->margin, *results = rows + slots_bytes(planar) + TN_HX_PLANAR_PLANES_AHEAD * slot;
    for (int32_t at = 0; at < slot; at += TN_HX_VECTOR) {
        tn_hx_planar_apart(x + 4 * (at - lead), rows + at, slot, n, step, 4 * slot);
    }
    TN_HX_V(rows + 4 * n * slot) = tn_hx_splat_byte(planar->x_zero);   // behind the last channel, its padding: another's lies there behind the others
    for (int32_t at = 0; at < slot; at += TN_HX_VECTOR) {
        for (int32_t end = 4 * n; end > 0;) {   // from the last on: a loop writes over what lies before its results
            const int32_t alike = planar->alike[first + end - 1], c = end - alike;
            run_planes(planar, first + c, alike, rows + c * slot + at, results + c * slot + at, at);
            end = c;
        }
        together(to + 4 * (at - lead), results + at, slot, n, step, 4 * slot, planar->reach - at);
    }
    const HVX_Vector blank = tn_hx_splat_byte(planar->zero);
    for (int32_t at = slot; at < planar->reach; at += 32) {
        for (int32_t i = 0; i < n; i++) {
            TN_HX_V(to + 4 * (at - lead) + (uint32_t)i * y->plane_bytes) = blank;
        }
    }
}
