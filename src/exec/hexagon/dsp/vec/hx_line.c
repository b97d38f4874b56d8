// SPDX-License-Identifier: Apache-2.0
// Looks for the straight line that gives the bytes of base/requant.h, for every sum that a channel can have: first where a line must begin
// if arithmetic were exact, then whether the vector unit's is right on both sides of every byte's first sum.
// Ownership: none. Threads: any.
#include "exec/hexagon/dsp/vec/hx_line.h"

enum { MANTISSA = 24, EXPONENT_BIAS = 127, MOST_EXPONENT = 14, FRACTION_MIN = 16, GUARD = 9, TRIES = 9, WORDS = 32 };

static const int32_t numbers[WORDS] __attribute__((aligned(128))) = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

// The channel's factor is multiplier / 2^(31 + e).
typedef struct factor {
    int64_t multiplier;          // 2^30 and more
    int32_t e, rounding;
    float scale;                 // float_rne
    int64_t sum_step;            // 1 / factor, with 32 bits of fraction
} factor;

static int find_factor(factor *f, const tn_hx_requant *r, int rounding)
{
    f->rounding = rounding;
    f->scale = r->scale;
    if (rounding == TN_HEX_FLOAT_RNE) {
        uint32_t bits;
        __builtin_memcpy(&bits, &r->scale, 4);
        f->multiplier = (int64_t)((bits & 0x7fffff) | 0x800000) << (31 - MANTISSA);
        f->e = bits >> 31 ? 0 : EXPONENT_BIAS - 1 - (int32_t)(bits >> 23 & 0xff);
    } else {
        f->multiplier = r->multiplier;
        f->e = r->left ? 0 : r->right;
    }
    return f->e >= 1 && f->e <= MOST_EXPONENT && f->multiplier >= 1 << 30;
}

// ---- lanes of 64 bits ----

typedef struct lanes {
    HVX_Vector whole, fraction;  // of 32 bits
} lanes;

// Lane i: first + i * step.
static lanes ramp(int64_t first, int64_t step)
{
    int32_t words[2][WORDS] __attribute__((aligned(128)));
    for (int32_t i = 0; i < WORDS; i++, first += step) {
        words[0][i] = (int32_t)(first >> 32);
        words[1][i] = (int32_t)first;
    }
    return (lanes){TN_HX_CV(words[0]), TN_HX_CV(words[1])};
}

static lanes advance(lanes a, int64_t step)
{
    const HVX_Vector low = Q6_V_vsplat_R((int32_t)step);
    a.fraction = Q6_Vw_vadd_VwVw(a.fraction, low);
    const HVX_VectorPred carry = Q6_Q_vcmp_gt_VuwVuw(low, a.fraction);
    a.whole = Q6_Vw_condacc_QVwVw(carry, Q6_Vw_vadd_VwVw(a.whole, Q6_V_vsplat_R((int32_t)(step >> 32))), Q6_V_vsplat_R(1));
    return a;
}

// ---- the first sum of each byte ----

typedef struct firsts {
    int32_t sums[256] __attribute__((aligned(128)));
    int32_t low, high;           // bytes low + 1..high
} firsts;

// The least sums of fixed_q31 whose results are at least `want`; below: at most three less.
static HVX_Vector least_q31(const tn_hx_requant *r, HVX_Vector below, HVX_Vector want)
{
    for (;;) {
        const HVX_VectorPred early = Q6_Q_vcmp_gt_VwVw(want, tn_hx_q31(below, r, TN_HX_Q31));
        if (!tn_hx_any(early)) {
            return below;
        }
        below = Q6_Vw_condacc_QVwVw(early, below, Q6_V_vsplat_R(1));
    }
}

// Sums of float_rne whose lane of `doubts` is set, as the definition decides; sums: at most two more than the least. want: of the first.
static void settle(int32_t *sums, HVX_Vector doubts, int32_t want, float scale)
{
    int32_t set[WORDS] __attribute__((aligned(128)));
    TN_HX_V(set) = doubts;
    for (int32_t i = 0; i < WORDS; i++) {
        int32_t sum = sums[i] - 2;
        while (set[i] && tn_requant_rne(sum, scale) < want + i) {
            sum++;
        }
        sums[i] = set[i] ? sum : sums[i];
    }
}

// Results are whole where sums are (result - 1/2) / factor. Products are below 256, so float32 is off by 2^-17 at most: in sums, 2^(e + 1 - 17).
// Where twice that, and what the arithmetic here loses, is as much as the next whole number is away, the definition decides.
static void find_firsts(firsts *first, const factor *f, const tn_hx_requant *r, int32_t zero, int32_t bound)
{
    const int64_t half = f->sum_step / 2;
    const uint32_t near = (1u << (f->e + 17)) + (1u << (f->e + 8)) + 2;
    const HVX_Vector ones = Q6_V_vsplat_R(-1), least = Q6_V_vsplat_R(-bound), most = Q6_V_vsplat_R(bound + 1);
    lanes at = ramp((-2 * (int64_t)zero - 1) * half, 2 * half);
    for (int32_t byte = 0; byte < 256; byte += WORDS, at = advance(at, 2 * WORDS * half)) {
        int32_t *sums = first->sums + byte;
        if (f->rounding == TN_HEX_FIXED_Q31) {
            const HVX_Vector want = Q6_Vw_vadd_VwVw(TN_HX_CV(numbers), Q6_V_vsplat_R(byte - zero));
            TN_HX_V(sums) = least_q31(r, Q6_Vw_vsub_VwVw(at.whole, Q6_V_vsplat_R(2)), want);   // rounding twice moves it by less than two
        } else {
            const HVX_VectorPred sure = Q6_Q_vcmp_gt_VuwVuw(Q6_Vw_vadd_VwVw(at.fraction, Q6_V_vsplat_R((int32_t)near)),
                                                            Q6_V_vsplat_R((int32_t)(2 * near)));
            const HVX_Vector doubts = f->e < MOST_EXPONENT ? Q6_V_vand_QnV(sure, ones) : ones;
            TN_HX_V(sums) = Q6_Vw_vadd_VwVw(at.whole, Q6_V_vsplat_R(1));
            if (tn_hx_any(Q6_Q_vcmp_eq_VwVw(doubts, ones))) {
                settle(sums, doubts, byte - zero, f->scale);
            }
        }
        TN_HX_V(sums) = Q6_Vw_vmax_VwVw(Q6_Vw_vmin_VwVw(TN_HX_CV(sums), most), least);
    }
}

// Words of two vectors side by side, as tn_hx_line_halves has them: those of a in the even halves.
static HVX_Vector beside(HVX_Vector a, HVX_Vector b) { return Q6_Vh_vshuffe_VhVh(b, a); }

// Halves that are all ones where v > limit.
static HVX_Vector above(HVX_Vector a, HVX_Vector b, int32_t limit)
{
    const HVX_Vector l = Q6_V_vsplat_R(limit), ones = Q6_V_vsplat_R(-1);
    return beside(Q6_V_vand_QV(Q6_Q_vcmp_gt_VwVw(a, l), ones), Q6_V_vand_QV(Q6_Q_vcmp_gt_VwVw(b, l), ones));
}

// Whether the first sum of each byte, and the one before, are on their sides of it when the vector unit has them.
static int is_right(const tn_hx_line *line, const firsts *f, int32_t bound, int64_t start)
{
    tn_hx_line moved = *line;
    moved.start = (int32_t)start;
    const tn_hx_line_lanes lanes = tn_hx_line_splat(&moved);
    const HVX_Vector one = Q6_V_vsplat_R(1), ones = Q6_V_vsplat_R(-1);
    HVX_Vector wrong = Q6_V_vzero();
    for (int32_t byte = 0; byte < 256; byte += 2 * WORDS) {
        const HVX_Vector a = TN_HX_CV(f->sums + byte), b = TN_HX_CV(f->sums + byte + WORDS);
        const HVX_Vector bytes = beside(Q6_Vw_vadd_VwVw(TN_HX_CV(numbers), Q6_V_vsplat_R(byte)),
                                        Q6_Vw_vadd_VwVw(TN_HX_CV(numbers), Q6_V_vsplat_R(byte + WORDS)));
        const HVX_Vector at = Q6_Vh_vasr_VhR(tn_hx_line_halves(a, b, &lanes, line->limit != 0), line->down);
        const HVX_Vector before = Q6_Vh_vasr_VhR(tn_hx_line_halves(Q6_Vw_vsub_VwVw(a, one), Q6_Vw_vsub_VwVw(b, one), &lanes, line->limit != 0),
                                                 line->down);
        const HVX_Vector late = Q6_V_vand_QV(Q6_Q_vcmp_gt_VhVh(bytes, at), ones);
        const HVX_Vector early = Q6_V_vnot_V(Q6_V_vand_QV(Q6_Q_vcmp_gt_VhVh(bytes, before), ones));
        HVX_Vector here = Q6_V_vor_VV(Q6_V_vand_VV(late, Q6_V_vnot_V(above(a, b, bound))), Q6_V_vand_VV(early, above(a, b, -bound)));
        const HVX_VectorPred used = Q6_Q_and_QQ(Q6_Q_vcmp_gt_VhVh(bytes, Q6_V_vsplat_R(f->low * 0x00010001)),
                                                Q6_Q_vcmp_gt_VhVh(Q6_V_vsplat_R((f->high + 1) * 0x00010001), bytes));
        wrong = Q6_V_vor_VV(wrong, Q6_V_vand_QV(used, here));
    }
    return !tn_hx_any(Q6_Q_vcmp_gt_VuwVuw(wrong, Q6_V_vzero()));
}

// Bits of fraction: as many as `most`, and as leave sums, and twice the 256 bytes, within 32 bits (the multiplier may be half of its range).
static int32_t find_fraction(const factor *f, int64_t bound, int32_t most)
{
    int32_t fraction = most;
    while (fraction >= FRACTION_MIN && fraction >= f->e &&
           (bound << (fraction - f->e)) + (INT64_C(260) << (fraction + 1)) >= INT64_C(1) << 31) {
        fraction--;
    }
    return fraction < f->e ? 0 : fraction;
}

// Between what starts every byte is reached in time and not too early, for even bytes and odd ones. All of it fits in words: see find_fraction.
static void find_window(const firsts *first, int64_t byte_step, int32_t left, int32_t bound, int64_t least[2], int64_t latest[2])
{
    const int64_t step = byte_step << (32 - GUARD);
    const HVX_Vector none = Q6_V_vsplat_R(INT32_MIN), all = Q6_V_vsplat_R(INT32_MAX);
    HVX_Vector highest = none, lowest = all;
    lanes reach = ramp(0, step);      // where the product reaches the byte
    for (int32_t byte = 0; byte < 256; byte += WORDS, reach = advance(reach, WORDS * step)) {
        const HVX_Vector sums = TN_HX_CV(first->sums + byte), bytes = Q6_Vw_vadd_VwVw(TN_HX_CV(numbers), Q6_V_vsplat_R(byte));
        const HVX_Vector from = Q6_Vw_vsub_VwVw(reach.whole, Q6_Vw_vasl_VwR(sums, left));
        const HVX_VectorPred used = Q6_Q_and_QQ(Q6_Q_vcmp_gt_VwVw(bytes, Q6_V_vsplat_R(first->low)),
                                                Q6_Q_vcmp_gt_VwVw(Q6_V_vsplat_R(first->high + 1), bytes));
        const HVX_VectorPred reached = Q6_Q_and_QQ(used, Q6_Q_vcmp_gt_VwVw(Q6_V_vsplat_R(bound + 1), sums));
        const HVX_VectorPred entered = Q6_Q_and_QQ(used, Q6_Q_vcmp_gt_VwVw(sums, Q6_V_vsplat_R(-bound)));
        highest = Q6_Vw_vmax_VwVw(highest, Q6_V_vmux_QVV(reached, from, none));
        lowest = Q6_Vw_vmin_VwVw(lowest, Q6_V_vmux_QVV(entered, from, all));
    }
    for (int32_t bytes = 64; bytes >= 8; bytes /= 2) {
        highest = Q6_Vw_vmax_VwVw(highest, Q6_V_vror_VR(highest, bytes));
        lowest = Q6_Vw_vmin_VwVw(lowest, Q6_V_vror_VR(lowest, bytes));
    }
    for (int32_t i = 0; i < 2; i++) {
        least[i] = Q6_R_vextract_VR(highest, 4 * i);
        latest[i] = Q6_R_vextract_VR(lowest, 4 * i) + (INT64_C(1) << left);
    }
}

// Where a line with this multiplier begins, if it is right anywhere. zero: the least bit counts. gap: it may have one.
static int fit(tn_hx_line *line, const factor *f, const firsts *first, int64_t multiplier, int32_t fraction, int32_t bound, int32_t zero, int gap,
               int64_t *begin)
{
    const int64_t upper = (multiplier + (1 << 15)) >> 16;
    line->multiplier = (int32_t)((upper > INT16_MAX ? INT16_MAX : upper) << 16);
    line->low = (int32_t)(multiplier - line->multiplier > INT16_MAX ? INT16_MAX : multiplier - line->multiplier);
    line->limit = 0;
    const int64_t byte_step = (int64_t)((UINT64_C(1) << (fraction + 31 + GUARD)) / (uint64_t)multiplier);   // a byte, where the product begins
    int64_t least[2], latest[2];   // of even bytes, odd ones
    find_window(first, byte_step, line->left, bound, least, latest);
    const int even = zero & 1, odd = !even;      // of results
    int64_t low_end = least[0] > least[1] ? least[0] : least[1], high_end = latest[0] < latest[1] ? latest[0] : latest[1];
    if (low_end > high_end && !gap) {
        return 0;
    }
    if (low_end > high_end) {   // odd results a little later
        low_end = least[even];
        high_end = latest[even];
        const int64_t later = (least[even] + latest[even]) / 2 - (least[odd] + latest[odd]) / 2, limit = (later * (multiplier >> 7)) >> MANTISSA;
        if (f->rounding == TN_HEX_FIXED_Q31 || least[0] > latest[0] || least[1] > latest[1] || limit <= 0 || limit > 0xffff) {
            return 0;
        }
        line->limit = (int32_t)limit;
    }
    // The lower half of the sum is not multiplied with that of the multiplier: by what is lost on average the line begins later.
    int64_t start = (low_end + high_end) / 2 + line->low * (INT64_C(1) << 15) / multiplier;
    for (int32_t tries = 0; tries < TRIES; tries++) {   // the middle, and steps to both sides of it
        if (is_right(line, first, bound, start)) {
            *begin = start;
            return 1;
        }
        start += tries % 2 ? tries + 1 : -tries - 1;
    }
    return 0;
}

int32_t tn_hx_line_fraction(const tn_hx_requant *r, int rounding)
{
    factor f;
    if (r->bound >= 1u << (MANTISSA - 1) || !find_factor(&f, r, rounding)) {
        return 0;
    }
    const int32_t fraction = find_fraction(&f, (int64_t)r->bound, TN_HX_LINE_FRACTION_MAX);
    return fraction < FRACTION_MIN ? 0 : fraction;
}

int tn_hx_line_find(tn_hx_line *line, const tn_hx_requant *r, int rounding, int32_t zero, int32_t low, int32_t high, int32_t most)
{
    factor f;
    firsts first = {.low = low, .high = high};
    if (r->bound >= 1u << (MANTISSA - 1) || !find_factor(&f, r, rounding)) {
        return 0;
    }
    const int32_t bound = (int32_t)r->bound, fraction = find_fraction(&f, bound, most);
    if (fraction < FRACTION_MIN) {
        return 0;
    }
    f.sum_step = (int64_t)((UINT64_C(1) << 63) / (uint64_t)f.multiplier) << f.e;
    line->left = fraction - f.e;
    line->down = fraction - FRACTION_MIN;
    line->odd = zero & 1 ? 0 : 1 << line->down;
    find_firsts(&first, &f, r, zero, bound);
    // Lines that are a little steeper or flatter do as well; some have room where the others have none. One without a gap is faster.
    static const int8_t slopes[] = {0, 20, -20, 40, -40, 60, -60};
    for (uint32_t i = 0; i < 2 * sizeof slopes; i++) {
        int64_t start;
        const int64_t multiplier = f.multiplier + slopes[i % sizeof slopes];
        if (multiplier < INT32_MAX && fit(line, &f, &first, multiplier, fraction, bound, zero, i >= sizeof slopes, &start)) {
            // Sums without the bias wrap round as this does.
            line->start = (int32_t)(uint32_t)(uint64_t)(start + (int64_t)r->bias * (INT64_C(1) << line->left));
            return 1;
        }
    }
    return 0;
}
