// SPDX-License-Identifier: Apache-2.0
// Requantisation: how a 32-bit sum becomes a value of fewer bits. One definition, for the CPU's references and for the program that
// runs on the DSP, so that both have the same bits. Freestanding: no library, no operating system.
//   float_rne   one float32 product, rounded to nearest, ties to even (ONNX, onnxruntime)
//   fixed_q31   a saturating rounding doubling high product and a rounding shift (gemmlowp, TensorFlow Lite)
// Ownership: none. Threads: any.
#ifndef TN_REQUANT_H
#define TN_REQUANT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum tn_rounding { TN_ROUND_FLOAT_RNE, TN_ROUND_FIXED_Q31 } tn_rounding;

// A factor in the form of its rounding: `scale`, or multiplier / 2^31 * 2^shift with multiplier in [2^30, 2^31) or 0.
typedef struct tn_requant {
    int32_t rounding;         // tn_rounding
    float scale;
    int32_t multiplier, shift;
} tn_requant;

// Any two products and halves as below hold in 64 bits; >> of a negative number is arithmetic on every target.
static inline int32_t tn_saturate_i32(int64_t v)
{
    return v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v;
}

// a * b / 2^31 to nearest, ties up; only INT32_MIN * INT32_MIN saturates. The same bits as gemmlowp's SaturatingRoundingDoublingHighMul.
static inline int32_t tn_q31_mul(int32_t a, int32_t b)
{
    return tn_saturate_i32(((int64_t)a * b + (INT64_C(1) << 30)) >> 31);
}

// x / 2^n to nearest, ties away from zero, 0 <= n <= 31. gemmlowp's RoundingDivideByPOT.
static inline int32_t tn_q31_shift(int32_t x, int32_t n)
{
    const int64_t mask = (INT64_C(1) << n) - 1, rest = (int64_t)x & mask;
    return (int32_t)(((int64_t)x >> n) + (rest > (mask >> 1) + (x < 0)));
}

// shift in [-31, 30]. What the shift to the left pushes out of 32 bits saturates.
static inline int32_t tn_requant_q31(int32_t sum, int32_t multiplier, int32_t shift)
{
    const int32_t left = shift > 0 ? shift : 0, right = shift < 0 ? -shift : 0;
    return tn_q31_shift(tn_q31_mul(tn_saturate_i32((int64_t)sum * (INT64_C(1) << left)), multiplier), right);
}

#define TN_REQUANT_BOUND 4194304   // 2^22: results beyond lie outside every type we requantise to

// To nearest, ties to even, by the sum with 1.5 * 2^23 that leaves no bits for a fraction. NaN becomes 0.
static inline int32_t tn_round_even(float v)
{
    const float bound = (float)TN_REQUANT_BOUND, magic = 12582912.0f;
    if (!(v == v)) {
        return 0;
    }
    v = v > bound ? bound : v < -bound ? -bound : v;
    const float sum = v + magic;
    return (int32_t)(sum - magic);
}

static inline int32_t tn_requant_rne(int32_t sum, float scale) { return tn_round_even((float)sum * scale); }

static inline int32_t tn_clamp_i32(int32_t v, int32_t low, int32_t high) { return v < low ? low : v > high ? high : v; }

static inline int32_t tn_requant_apply(const tn_requant *r, int32_t sum)
{
    const int32_t v = r->rounding == TN_ROUND_FIXED_Q31 ? tn_requant_q31(sum, r->multiplier, r->shift) : tn_requant_rne(sum, r->scale);
    return tn_clamp_i32(v, -(1 << 30), 1 << 30);   // room for a zero point; callers clamp to a byte, for which it is all the same
}

// ---- sums and products of two quantised operands ----

// x_i stands for scale_i * (x_i - zero_i). float_rne: scales in float32. fixed_q31: factors of the operands to a common scale, to which
// they are first shifted up by 20 bits, and of the sum (or product) to the result.
typedef struct tn_requant_pair {
    int32_t rounding;
    int32_t a_zero, b_zero, y_zero, low, high;
    float a_scale, b_scale, y_scale;
    tn_requant a, b, y;
} tn_requant_pair;

#define TN_REQUANT_UP 20

// minus: 1 for a - b.
static inline int32_t tn_requant_sum(const tn_requant_pair *p, int32_t a, int32_t b, int minus)
{
    a -= p->a_zero;
    b -= p->b_zero;
    int32_t y;
    if (p->rounding == TN_ROUND_FIXED_Q31) {
        const int32_t u = tn_requant_q31(a * (1 << TN_REQUANT_UP), p->a.multiplier, p->a.shift);
        const int32_t v = tn_requant_q31(b * (1 << TN_REQUANT_UP), p->b.multiplier, p->b.shift);
        y = tn_requant_q31(minus ? u - v : u + v, p->y.multiplier, p->y.shift) + p->y_zero;
    } else {
        const float u = p->a_scale * (float)a, v = p->b_scale * (float)b;
        const float exact = minus ? u - v : u + v, quotient = exact / p->y_scale;
        y = tn_round_even(quotient + (float)p->y_zero);
    }
    return tn_clamp_i32(y, p->low, p->high);
}

static inline int32_t tn_requant_product(const tn_requant_pair *p, int32_t a, int32_t b)
{
    a -= p->a_zero;
    b -= p->b_zero;
    int32_t y;
    if (p->rounding == TN_ROUND_FIXED_Q31) {
        y = tn_requant_q31(a * b, p->y.multiplier, p->y.shift) + p->y_zero;
    } else {
        const float u = p->a_scale * (float)a, v = p->b_scale * (float)b;
        const float exact = u * v, quotient = exact / p->y_scale;
        y = tn_round_even(quotient + (float)p->y_zero);
    }
    return tn_clamp_i32(y, p->low, p->high);
}

// ---- softmax ----

#define TN_SOFTMAX_ONE 8388608u   // 2^23: what table[0] holds

// One result of a softmax over quantised values: e and sum come from a table of exp(-scale * d) * 2^23 by the distance d from the
// largest value; inverse is 2^16 / y_scale. To nearest, ties up. e <= 2^23, inverse < 2^32: all fits 64 bits.
static inline int32_t tn_requant_softmax(uint32_t e, uint64_t sum, uint32_t inverse, int32_t y_zero, int32_t low, int32_t high)
{
    const uint64_t part = (uint64_t)e * inverse, whole = sum << 16;
    const uint64_t quotient = whole ? (part + whole / 2) / whole : 0;
    return tn_clamp_i32((int32_t)(quotient > 65535 ? 65535 : quotient) + y_zero, low, high);
}

// ---- layer normalisation ----

// Of a line of n bytes x:
//
//   s = sum x,  d = n x - s,  q = n sum x x - s s            n^2 times the variance, in steps of x; what is added to all x changes neither
//   D = root(q 2^(48-2L) + epsilon), at least 2^16           2^L >= n, L the least; epsilon is n^2 epsilon / x_scale^2 2^(48-2L)
//   z = d 2^(24-L) / D                                       with 22 bits of fraction: one product of 31 bits, rounded to nearest
//   y = clamp((z gain + bias >> down) + y_zero)              z gain / 2^31, to nearest; gain with 9 + down bits of fraction; bias with down,
//                                                            and one half added
//
// The root has 17 bits at least whatever the line, so that short lines and lines of one step are as exact as others: z is off by
// 2^-16 of itself and 2^-23 at most. |z| < sqrt(n), so nothing leaves 32 bits. The same in float_rne and fixed_q31.

#define TN_NORM_LINE 32768                              // elements of a line at most: n sum x x fits the root's 64 bits
#define TN_NORM_EPSILON (UINT64_C(1) << 62)             // epsilon at most
#define TN_NORM_BITS 22                                 // of fraction of z
#define TN_NORM_GAIN_BITS (31 - TN_NORM_BITS)           // of fraction of a gain beyond `down`
#define TN_NORM_DOWN 8                                  // the least down; TN_NORM_BITS the most

// The greatest integer whose square is at most v.
static inline uint32_t tn_norm_root(uint64_t v)
{
    uint64_t rest = 0, root = 0;
    for (int i = 0; i < 32; i++, v <<= 2) {
        rest = rest << 2 | v >> 62;
        root <<= 1;
        if (rest > 2 * root) {
            rest -= 2 * root + 1;
            root++;
        }
    }
    return (uint32_t)root;
}

// The least L with 2^L >= n, 1 <= n <= TN_NORM_LINE.
static inline int32_t tn_norm_log(int32_t n) { return n > 1 ? 32 - __builtin_clz((uint32_t)(n - 1)) : 0; }

// What D is the root of.
static inline uint64_t tn_norm_square(int32_t n, int64_t sum, int64_t squares, uint64_t epsilon)
{
    return ((uint64_t)(n * squares - sum * sum) << (48 - 2 * tn_norm_log(n))) + epsilon;
}

// z = tn_q31_shift(tn_q31_mul(d << lift, multiplier), drop)
typedef struct tn_norm_factor {
    int32_t lift, multiplier, drop;
} tn_norm_factor;

static inline tn_norm_factor tn_norm_factor_of(int32_t n, uint32_t root)
{
    const uint32_t deviation = root > 65536 ? root : 65536;
    const int32_t bits = 32 - __builtin_clz(deviation);      // 17 .. 32
    const uint64_t inverse = (UINT64_C(1) << (30 + bits)) / deviation;
    return (tn_norm_factor){.lift = TN_NORM_BITS - tn_norm_log(n) + (bits < 25 ? 25 - bits : 0),
                            .multiplier = inverse > INT32_MAX ? INT32_MAX : (int32_t)inverse,
                            .drop = bits > 25 ? bits - 25 : 0};
}

static inline int32_t tn_norm_scaled(const tn_norm_factor *f, int32_t d)
{
    return tn_q31_shift(tn_q31_mul(d * (INT32_C(1) << f->lift), f->multiplier), f->drop);
}

static inline int32_t tn_norm_result(int32_t z, int32_t gain, int32_t bias, int32_t down, int32_t y_zero, int32_t low, int32_t high)
{
    return tn_clamp_i32((tn_saturate_i32((int64_t)tn_q31_mul(z, gain) + bias) >> down) + y_zero, low, high);
}

// ---- 16 bits ----

// Values of 16 bits have no zero point. Sums of their products are exact in 64 bits and are brought to 32 by a shift of `down` bits, to
// nearest, ties up; `down` is the least that every sum of the node fits after (tn_wide_down), and the factor is made for what is left.
static inline int32_t tn_requant_down(int64_t sum, int32_t down)
{
    return tn_saturate_i32((sum + ((INT64_C(1) << down) >> 1)) >> down);
}

static inline int32_t tn_requant_wide(const tn_requant *r, int64_t sum, int32_t down, int32_t low, int32_t high)
{
    return tn_clamp_i32(tn_requant_apply(r, tn_requant_down(sum, down)), low, high);
}

#define TN_WIDE_UP 15             // what operands of sums are shifted up by: 2^15 * 2^15 fits

// As tn_requant_sum, for 16 bits: zeros are 0.
static inline int32_t tn_wide_sum(const tn_requant_pair *p, int32_t a, int32_t b, int minus)
{
    if (p->rounding != TN_ROUND_FIXED_Q31) {
        return tn_requant_sum(p, a, b, minus);
    }
    const int32_t u = tn_requant_q31(a * (1 << TN_WIDE_UP), p->a.multiplier, p->a.shift);
    const int32_t v = tn_requant_q31(b * (1 << TN_WIDE_UP), p->b.multiplier, p->b.shift);
    const int32_t sum = tn_saturate_i32((int64_t)u + (minus ? -(int64_t)v : v));
    return tn_clamp_i32(tn_requant_q31(sum, p->y.multiplier, p->y.shift), p->low, p->high);
}

// Linear resizing: weights with 14 bits of fraction, a row between two columns with 2, what lies between two rows with 16; factors are for that.
#define TN_WIDE_WEIGHT (1 << 14)

static inline int32_t tn_wide_across(int32_t a, int32_t b, int32_t weight)
{
    return (a * TN_WIDE_WEIGHT + (b - a) * weight + (1 << 11)) >> 12;
}

static inline int32_t tn_wide_between(int32_t top, int32_t bottom, int32_t weight)
{
    return (int32_t)((int64_t)top * (TN_WIDE_WEIGHT - weight) + (int64_t)bottom * weight);
}

#define TN_WIDE_BITS 4            // of a value below the entries of a table, between which it interpolates
#define TN_WIDE_ENTRIES 4097      // of a table: for the values -32768, -32752 ... 32768
#define TN_WIDE_TO_BYTE 7         // fraction bits of tables whose results are bytes

// A function of 16 bits by a table, to nearest, ties up.
static inline int32_t tn_wide_look(const int16_t *table, int32_t x)
{
    const int32_t place = (x + 32768) >> TN_WIDE_BITS, rest = x & ((1 << TN_WIDE_BITS) - 1);
    return table[place] + (((table[place + 1] - table[place]) * rest + (1 << (TN_WIDE_BITS - 1))) >> TN_WIDE_BITS);
}

// A table's result as a byte.
static inline int32_t tn_wide_byte(int32_t v, int32_t low, int32_t high)
{
    return tn_clamp_i32((v + (1 << (TN_WIDE_TO_BYTE - 1))) >> TN_WIDE_TO_BYTE, low, high);
}

#endif
