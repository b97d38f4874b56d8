// SPDX-License-Identifier: Apache-2.0
// Depthwise 3 x 3 of stride 1 on small images. Four rows are turned round, byte by byte, into words of a column of each channel: one product
// with weights 0 1 2 - gives the upper of two rows of the result, one with - 0 1 2 the lower, and the other columns are the same words one and
// two lanes further. Four channels at once come out as they lie in planes, so nothing is taken apart or put together. A vector of 32
// pixels holds what is left of a row's 30, or
//
//   half:     rows of 16   r, r + 4               and the rows below each
//   quarter:  rows of 8    r, r + 2, r + 4, r + 6
//
// where the last pixel of a row is padding, which is what the two columns beside the last one read. A round gives four rows of 30 pixels, eight of
// 16, or a plane of up to seven rows of 8; the last one of a plane ends with it and may do again what the one before did. A loop goes over all
// rounds of a group of planes, each of which has a record with weights and lines of four channels; planes with a gap in a line (hx_line.h) come
// after the others, and the few that have none are done another way; in fixed_q31 all are requantised by definition where many have none. Quarters have fewer packets than would make vectors of all constants, so where lines begin is kept as vectors; without gaps
// their planes are gone over as they lie.
// Ownership: plans in the graph's pool. Threads: tiles run on all workers.
#include "exec/hexagon/dsp/kernels/depthwise/hx_columns.h"

#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

// Packets of a round here, and of one of hx_planar_planes.S with what takes planes apart and puts them together.
enum { QUARTER_ROUND = 29, ROUND = 53, PLANAR_ROUND = 16, LEAST_PLANES = 4, GROUP_BYTES = 1 << 20, LEAST_PLAIN = 20, MOST_WIDE = 30, MOST_HIGH = 1024 };
enum { LINES_TO_NONE = 12 };     // so many planes and more have lines for one that has none, which takes some times as long

static int32_t find_across(const tn_hx_planar *p, const tn_hx_node *node, const tn_hx_value *x, const tn_hx_value *y)
{
    const int alike = x->plane_bytes == y->plane_bytes && x->lead == y->lead && x->pitch == y->pitch;
    if (p->kernel != 3 || !alike || y->height > MOST_HIGH || node->attr.pads[0] != 1 || node->attr.pads[1] != 1 || y->planes < LEAST_PLANES) {
        return 0;
    }
    return y->pitch == 8 && y->height <= 7 ? 8 : y->pitch == 16 && y->height > 6 ? 16 : y->width <= MOST_WIDE && y->pitch <= 32 && y->height > 3 ? 32 : 0;
}

// Rows of a round.
static int32_t rows_of(int32_t across) { return across > 16 ? 4 : 8; }

// The first row of a round. Where two rows fill a vector they begin at an even one, and the last may be one of padding.
static int32_t row_at(const tn_hx_columns *c, const tn_hx_value *y, int32_t position)
{
    const int32_t rows = rows_of(c->across), height = c->across > 16 ? y->height : (y->height + 1) & ~1;
    return rows * (position + 1) > height && height > rows ? height - rows : rows * position;
}

// The vector that a round of halves fills with padding, in bytes from its plane: before the first row, or after the last one.
static int32_t beside_at(const tn_hx_columns *c, const tn_hx_value *y, int32_t position)
{
    return !c->ends && position == c->positions - 1 ? 4 * y->height * y->pitch : -TN_HX_VECTOR;
}

// Weights of a column, for the upper row and, a byte further, for the lower.
static void set_taps(int32_t taps[3][2], const int32_t *weights)
{
    for (int32_t column = 0; column < 3; column++) {
        uint32_t word = 0;
        for (int32_t row = 0; row < 3; row++) {
            word |= ((uint32_t)weights[row] >> 8 * column & 0xff) << 8 * row;
        }
        taps[column][0] = (int32_t)word;
        taps[column][1] = (int32_t)(word << 8);
    }
}

static void set_halves(const tn_hx_columns *columns, int32_t lower[2], int32_t limit[2], const tn_hx_planar_channel *c)
{
    if (columns->q31) {
        lower[0] = c[0].right, lower[1] = c[2].right;
        limit[0] = c[1].right, limit[1] = c[3].right;
        return;
    }
    for (int32_t i = 0; i < 4; i++) {
        lower[i % 2] |= (int32_t)((uint32_t)(uint16_t)c[i].line.low << 16 * (i / 2));
        limit[i % 2] |= (int32_t)((uint32_t)c[i].line.limit << 16 * (i / 2));
    }
}

static int32_t start_of(const tn_hx_columns *columns, const tn_hx_planar_channel *c) { return columns->q31 ? c->bias : c->line.start; }

static int32_t multiplier_of(const tn_hx_columns *columns, const tn_hx_planar_channel *c)
{
    return columns->q31 ? c->multiplier : c->line.multiplier | c->line.left;
}

static void set_record(const tn_hx_columns *columns, int32_t at, const tn_hx_planar_channel *c, int32_t x, int32_t y)
{
    uint8_t *const to = columns->records + at * columns->record;
    if (columns->across == 8) {
        tn_hx_columns_plane *r = (tn_hx_columns_plane *)to;
        *r = (tn_hx_columns_plane){.x = x, .y = y};
        for (int32_t i = 0; i < 4; i++) {
            set_taps(r->taps[i], c[i].weights);
            r->multipliers[i % 2][i / 2] = multiplier_of(columns, &c[i]);
            TN_HX_V(columns->starts + (4 * at + i) * TN_HX_VECTOR) = Q6_V_vsplat_R(start_of(columns, &c[i]));
        }
        set_halves(columns, r->lower, r->limit, c);
        return;
    }
    tn_hx_columns_record *r = (tn_hx_columns_record *)to;
    *r = (tn_hx_columns_record){.x = x, .y = y};
    for (int32_t i = 0; i < 4; i++) {
        set_taps(r->channels[i].taps, c[i].weights);
        r->channels[i].start = start_of(columns, &c[i]);
        r->channels[i].multiplier = multiplier_of(columns, &c[i]);
    }
    set_halves(columns, r->lower, r->limit, c);
}

// Of a plane. By the definition of fixed_q31 none has.
static int has_gap(const tn_hx_columns *columns, const tn_hx_planar_channel *c)
{
    return !columns->q31 && (c[0].line.limit | c[1].line.limit | c[2].line.limit | c[3].line.limit) != 0;
}

int tn_hx_columns_narrow(int32_t right) { return right >= 1 && right <= 15; }

int tn_hx_columns_few(int32_t without, int32_t planes) { return without * LINES_TO_NONE <= planes; }

int tn_hx_columns_apart(int32_t plain, int32_t n) { return plain == n || plain >= LEAST_PLAIN; }

// Enough of it for rounds of which nothing is kept.
static void copy_record(const tn_hx_columns *c, int32_t to, int32_t from)
{
    memcpy(c->records + to * c->record, c->records + from * c->record, (uint32_t)c->record);
}

// The first round of a group, as an index to its records.
static int32_t first_record(const tn_hx_columns *c, int32_t group, int even)
{
    return group * c->share + TN_HX_COLUMNS_AHEAD + (even ? c->plain[group] + 2 * TN_HX_COLUMNS_AHEAD : 0);
}

static void set_group(const tn_hx_planar *p, tn_hx_columns *c, int32_t group, int32_t n, const tn_hx_value *y)
{
    const tn_hx_planar_channel *channels = p->channels + 4 * group * c->group;
    int32_t plain = 0, all = 0;
    for (int32_t i = 0; i < n; i++) {
        const int fits = p->fits[group * c->group + i];
        all += fits;
        plain += fits && !has_gap(c, channels + 4 * i);
    }
    const int apart = tn_hx_columns_apart(plain, all);
    for (int even = 0; even < 2; even++) {
        const int32_t begin = first_record(c, group, even);
        int32_t to = begin;
        for (int32_t k = 0; k < n * c->positions; k++) {
            const int32_t i = k / c->positions, plane = i * (int32_t)y->plane_bytes, at = plane + 4 * row_at(c, y, k % c->positions) * y->pitch;
            if (p->fits[group * c->group + i] && (!apart || has_gap(c, channels + 4 * i)) == even) {
                set_record(c, to++, channels + 4 * i, at, c->across == 16 ? plane + beside_at(c, y, k % c->positions) : at);
            }
        }
        for (int32_t i = 0; i < TN_HX_COLUMNS_AHEAD && to > begin; i++) {
            copy_record(c, begin - 1 - i, begin);
            copy_record(c, to + i, to - 1);
        }
        (even ? c->gaps : c->plain)[group] = (uint16_t)(to - begin);
    }
}

// What a clamp leaves of a pixel that is padding is the zero point.
static void set_clamps(const tn_hx_planar *p, tn_hx_columns *c, const tn_hx_value *y)
{
    for (int32_t i = 0; i < 2 * TN_HX_VECTOR; i++) {
        const int32_t lane = i % TN_HX_VECTOR / 4, row = c->across > 8 ? 0 : i / TN_HX_VECTOR * 4 + lane / 8;
        const int inside = row < y->height && lane % c->across < y->width;
        uint8_t *to = c->clamps + i / TN_HX_VECTOR * 2 * TN_HX_VECTOR + i % TN_HX_VECTOR;
        to[0] = (uint8_t)(inside ? p->low : p->zero);
        to[TN_HX_VECTOR] = (uint8_t)(inside ? p->high : p->zero);
    }
}

int32_t tn_hx_columns_group(const tn_hx_value *y)
{
    const int32_t room = GROUP_BYTES / (int32_t)y->plane_bytes > 1 ? GROUP_BYTES / (int32_t)y->plane_bytes : 1, threads = (int32_t)tn_hx_workers();
    const int32_t groups = (y->planes + room * threads - 1) / (room * threads) * threads;   // as many for each thread
    return (y->planes + groups - 1) / groups;
}

// Whether all planes can be requantised by the definition of fixed_q31.
static int is_narrow(const tn_hx_planar *p, int32_t planes)
{
    int narrow = p->rounding == TN_HEX_FIXED_Q31;
    for (int32_t c = 0; c < 4 * planes; c++) {
        narrow &= p->fits[c / 4] && tn_hx_columns_narrow(p->channels[c].right);
    }
    return narrow;
}

uint32_t tn_hx_columns_prepare(tn_hx_graph *graph, tn_hx_planar *planar, const tn_hx_node *node)
{
    const tn_hx_value *x = tn_hx_in(graph, node, 0), *y = tn_hx_out(graph, node);
    const int32_t across = find_across(planar, node, x, y);
    const int32_t positions = across ? (y->height + rows_of(across) - 1) / rows_of(across) : 0;
    if (!across || positions * (across > 8 ? ROUND : QUARTER_ROUND) >= 4 * PLANAR_ROUND * planar->slot / TN_HX_VECTOR) {
        return TN_HEX_WHY_NONE;
    }
    int32_t without = 0;
    for (int32_t plane = 0; plane < y->planes; plane++) {
        without += !tn_hx_planar_has_lines(planar, plane);
    }
    const int few = tn_hx_columns_few(without, y->planes);
    if (!few && !is_narrow(planar, y->planes)) {
        return TN_HEX_WHY_NONE;
    }
    tn_hx_columns *c = planar->columns = tn_hx_pool_take(&graph->pool, sizeof *c);
    if (!c) {
        return TN_HEX_WHY_LIMIT;
    }
    c->others = tn_hx_pool_take(&graph->pool, (uint32_t)without * sizeof *c->others);
    if (!c->others) {
        return TN_HEX_WHY_LIMIT;
    }
    c->q31 = !few;
    for (int32_t plane = 0; plane < y->planes && few; plane++) {
        planar->fits[plane] = (uint8_t)tn_hx_planar_has_lines(planar, plane);
        if (!planar->fits[plane]) {
            c->others[c->n_others++] = plane;
        }
    }
    c->across = across;
    c->positions = positions;
    // Quarters write these vectors themselves; halves of several rounds a plane do if padding is a vector and begins with one.
    const int each = across == 16 && positions > 1 && y->height % 2 == 0;
    c->ends = y->pad > 1 || (across != 8 && !each);
    c->group = tn_hx_columns_group(y);
    const int32_t groups = (y->planes + c->group - 1) / c->group;
    c->share = c->group * c->positions + 4 * TN_HX_COLUMNS_AHEAD;
    c->record = across == 8 ? (int32_t)sizeof(tn_hx_columns_plane) : (int32_t)sizeof(tn_hx_columns_record);
    c->records = tn_hx_pool_take(&graph->pool, (uint32_t)(groups * c->share * c->record));
    c->starts = across == 8 ? tn_hx_pool_take(&graph->pool, (uint32_t)(groups * c->share) * 4 * TN_HX_VECTOR) : c->records;
    c->plain = tn_hx_pool_take(&graph->pool, (uint32_t)groups * sizeof *c->plain);
    c->gaps = tn_hx_pool_take(&graph->pool, (uint32_t)groups * sizeof *c->gaps);
    c->clamps = tn_hx_pool_take(&graph->pool, 4 * TN_HX_VECTOR);
    if (!c->records || !c->starts || !c->plain || !c->gaps || !c->clamps) {
        return TN_HEX_WHY_LIMIT;
    }
    for (int32_t group = 0; group < groups; group++) {
        const int32_t left = y->planes - group * c->group;
        set_group(planar, c, group, left < c->group ? left : c->group, y);
    }
    set_clamps(planar, c, y);
    planar->group = c->group;
    return TN_HEX_WHY_NONE;
}

void tn_hx_columns_ends(const tn_hx_value *y, uint8_t *plane, int32_t n)
{
    const HVX_Vector blank = tn_hx_splat_byte(y->zero);
    const int32_t beside = y->pad * y->pitch + y->pad, step = (int32_t)y->plane_bytes;
    uint8_t *after = plane + 4 * y->height * y->pitch;
    for (int32_t k = 0; k < beside; k += 32) {
        uint8_t *a = plane - TN_HX_VECTOR - 4 * k, *b = after + 4 * k;
#pragma clang loop unroll(disable)
        for (int32_t i = n; i > 0; i--, a += step, b += step) {
            TN_HX_V(a) = blank;
            TN_HX_VU(b) = blank;
        }
    }
}

void tn_hx_columns_planes(const tn_hx_planar *planar, int32_t plane, int32_t n, const uint8_t *x, const tn_hx_value *y, uint8_t *to)
{
    static void (*const loops[3][3])(const tn_hx_columns_job *) = {{tn_hx_columns_quarter, tn_hx_columns_quarter_even, tn_hx_columns_quarter_q31},
                                                                    {tn_hx_columns_half, tn_hx_columns_half_even, tn_hx_columns_half_q31},
                                                                    {tn_hx_columns_row, tn_hx_columns_row_even, tn_hx_columns_row_q31}};
    const tn_hx_columns *c = planar->columns;
    const int32_t group = plane ? plane / c->group : 0;   // a division takes longer than a round
    tn_hx_columns_job job = {.x = x + 4 * planar->first, .to = to, .row = 4 * y->pitch, .down = planar->line.down, .clamps = c->clamps,
                             .odd = planar->line.odd * 0x00010001, .bits = ((2 << planar->line.down) - 1) * 0x00010001,
                             .x_zero = (int32_t)((uint32_t)planar->x_zero * 0x01010101u), .zero = (int32_t)((uint32_t)planar->zero * 0x01010101u)};
    if (c->q31) {
        job.down = 31;
        job.odd = planar->zero * 0x00010001;
    }
    for (int even = 0; even < 2; even++) {
        const int32_t rounds = (even ? c->gaps : c->plain)[group];
        const int32_t first = first_record(c, group, even);
        job.records = c->records + first * c->record;
        job.starts = c->starts + first * 4 * TN_HX_VECTOR;
        job.rounds = rounds + (c->across > 8 ? 1 : TN_HX_COLUMNS_AHEAD);
        if (!even && !c->q31 && c->across == 8 && rounds == n) {
            job.row = (int32_t)y->plane_bytes;
            tn_hx_columns_line(&job);
        } else if (rounds) {
            loops[c->across / 16][c->q31 ? 2 : even](&job);
        }
    }
    if (c->ends) {
        tn_hx_columns_ends(y, to, n);
    }
}
