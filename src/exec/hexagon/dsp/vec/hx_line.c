// SPDX-License-Identifier: Apache-2.0
// Looks for the straight line that gives what float32 arithmetic gives, for every sum that a channel can have.
// Ownership: none. Threads: any.
#include "exec/hexagon/dsp/vec/hx_line.h"

enum { MANTISSA = 24, EXPONENT_BIAS = 127, MOST_EXPONENT = 14, FRACTION_MIN = 16, GUARD = 16 };
enum { MARGIN = 5 };   // what the ends of an interval may be off by: rounding of the product, of `reach`, of the limit

// The channel's factor is m / 2^(24 + e), m of 24 bits.
typedef struct factor {
    int64_t m;
    int32_t e;
    float scale;
} factor;

// The least sum whose result is at least `want`. about: (want - 1/2) / factor with `bits` bits of fraction; where that is so near a whole
// number that the rounding of the float product counts, float arithmetic decides.
static int32_t least_sum(const factor *f, int32_t want, int64_t about, int32_t bits)
{
    const int64_t one = INT64_C(1) << bits, rest = about & (one - 1);
    // Products are below 256, so float32 is off by 2^-17 at most: in sums, 2^(e + 1 - 17). Twice that, and what `about` is off by.
    const int64_t near = (INT64_C(1) << (bits + f->e - 15)) + 1024;
    const int32_t below = (int32_t)(about >> bits);
    if (rest > near && one - rest > near) {
        return below + 1;
    }
    int32_t at = below - 1;
    while (tn_requant_rne(at, f->scale) < want) {
        at++;
    }
    return at;
}

int tn_hx_line_find(tn_hx_line *line, const tn_hx_requant *r, int32_t zero, int32_t low, int32_t high, int32_t most)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &r->scale, 4);
    const factor f = {.m = (bits & 0x7fffff) | 0x800000, .e = EXPONENT_BIAS - 1 - (int32_t)(bits >> 23 & 0xff), .scale = r->scale};
    if (bits >> 31 || f.e < 1 || f.e > MOST_EXPONENT || r->bound >= 1u << (MANTISSA - 1)) {
        return 0;
    }
    // The most bits of fraction with which the line stays within 32 bits: sums, and twice the 256 bytes (m may be half of its range).
    const int32_t bound = (int32_t)r->bound;
    int32_t fraction = most;
    while (fraction >= FRACTION_MIN && fraction >= f.e &&
           ((int64_t)bound << (fraction - f.e)) + (INT64_C(260) << (fraction + 1)) >= INT64_C(1) << 31) {
        fraction--;
    }
    if (fraction < FRACTION_MIN || fraction < f.e) {
        return 0;
    }
    const int32_t left = fraction - f.e, of_sum = 39 - f.e;
    const int64_t sum_step = (int64_t)((UINT64_C(1) << 63) / (uint64_t)f.m);                              // 1 / factor
    const int64_t byte_step = (int64_t)((UINT64_C(1) << (fraction + MANTISSA + GUARD)) / (uint64_t)f.m);   // a byte, where the product begins
    int64_t least[2] = {INT32_MIN, INT32_MIN}, latest[2] = {INT32_MAX, INT32_MAX};   // of `start`, for sums with the bias: even results, odd ones
    for (int32_t byte = low + 1; byte <= high; byte++) {
        const int32_t want = byte - zero, odd = want & 1;
        int64_t sum = least_sum(&f, want, (2 * (int64_t)want - 1) * (sum_step / 2), of_sum);
        sum = sum > bound + 1 ? bound + 1 : sum < -bound ? -bound : sum;
        const int64_t reach = (byte * byte_step) >> GUARD;   // where the product reaches the byte
        const int64_t from = reach + MARGIN - sum * (INT64_C(1) << left), to = reach - MARGIN - (sum - 1) * (INT64_C(1) << left);
        least[odd] = sum <= bound && from > least[odd] ? from : least[odd];
        latest[odd] = sum > -bound && to < latest[odd] ? to : latest[odd];
    }
    int64_t low_end = least[0] > least[1] ? least[0] : least[1], high_end = latest[0] < latest[1] ? latest[0] : latest[1];
    line->limit = 0;
    if (low_end > high_end) {   // odd results a little later
        low_end = least[0];
        high_end = latest[0];
        const int64_t later = (least[0] + latest[0]) / 2 - (least[1] + latest[1]) / 2;
        line->limit = (int32_t)((later * f.m) >> MANTISSA);
        if (least[0] > latest[0] || least[1] > latest[1] || later <= 0 || line->limit > 0xffff) {
            return 0;
        }
    }
    const int64_t start = (low_end + high_end) / 2 + (int64_t)r->bias * (INT64_C(1) << left);
    line->start = (int32_t)(uint32_t)(uint64_t)start;   // sums without the bias wrap round as this does
    line->multiplier = (int32_t)(f.m << (31 - MANTISSA));
    line->left = left;
    line->down = fraction - FRACTION_MIN;
    line->odd = zero & 1 ? 0 : 1 << line->down;
    return 1;
}
