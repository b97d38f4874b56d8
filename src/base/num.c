// SPDX-License-Identifier: Apache-2.0
// Conversions to and from the 16-bit floats, on bits (IEEE 754-2019, binary16; bfloat16 is the upper half of binary32). Plain
// integer code gives the same bits on every machine, whatever its conversion instructions do.
// Ownership: none. Threads: any.
#include "base/num.h"

// value >> shift, rounded to nearest, ties to even; 1 <= shift.
static uint64_t round_shift(uint64_t value, int shift)
{
    if (shift > 62) {
        return 0;
    }
    const uint64_t half = (uint64_t)1 << (shift - 1);
    const uint64_t rest = value & ((half << 1) - 1);
    const uint64_t kept = value >> shift;
    return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t tn_f16_from_f64(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const int exponent = (int)(bits >> 52 & 0x7ff);
    const uint64_t fraction = bits & 0xfffffffffffffu;
    if (exponent == 0x7ff) {
        // A NaN keeps the top of its payload and is made quiet.
        return (uint16_t)(sign | 0x7c00 | (fraction ? 0x200 | (fraction >> 42 & 0x1ff) : 0));
    }
    if (exponent == 0) {
        return sign;   // below 2^-1022: rounds to zero
    }
    const int e = exponent - 1023 + 15;
    if (e >= 31) {
        return (uint16_t)(sign | 0x7c00);
    }
    if (e <= 0) {
        // Subnormal: the implicit one is written out and shifted down to units of 2^-24.
        return (uint16_t)(sign | round_shift(fraction | (uint64_t)1 << 52, 43 - e));
    }
    // A carry out of the fraction moves into the exponent, up to infinity, as it should.
    return (uint16_t)(sign | (((uint64_t)e << 10) + round_shift(fraction, 42)));
}

uint16_t tn_f16_from_f32(float value)
{
    const uint32_t bits = tn_f32_bits(value);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7fffffff;
    if (magnitude >= 0x47800000) {   // 2^16 and above, infinity, NaN
        return (uint16_t)(sign | 0x7c00 | (magnitude > 0x7f800000 ? 0x200 | (magnitude >> 13 & 0x1ff) : 0));
    }
    if (magnitude < 0x38800000) {   // below 2^-14: adding 2^-1 leaves units of 2^-24, rounded by the addition
        const float shifted = tn_f32_from_bits(magnitude) + 0.5f;
        return (uint16_t)(sign | (tn_f32_bits(shifted) - 0x3f000000));
    }
    const uint32_t odd = magnitude >> 13 & 1;
    return (uint16_t)(sign | ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
}

float tn_f16_to_f32(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 31;
    const uint32_t fraction = bits & 0x3ff;
    if (exponent == 31) {
        return tn_f32_from_bits(sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000u : 0));
    }
    if (exponent == 0) {
        const float magnitude = (float)fraction * 0x1p-24f;
        return tn_f32_from_bits(sign | tn_f32_bits(magnitude));
    }
    return tn_f32_from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t tn_bf16_from_f32(float value)
{
    const uint32_t bits = tn_f32_bits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return (uint16_t)(bits >> 16 | 0x40);
    }
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

uint16_t tn_bf16_from_f64(double value)
{
    // Rounded to odd first: a float that lost bits ends in one, so that the second rounding cannot meet a false tie.
    float near = (float)value;
    uint32_t bits = tn_f32_bits(near);
    const double back = (double)near;
    if (back != value && back == back && (bits & 0x7fffffff) < 0x7f800000) {
        const bool away = (back < 0 ? -back : back) > (value < 0 ? -value : value);
        bits = away ? bits - 1 : bits;
        near = tn_f32_from_bits(bits | 1);
    }
    return tn_bf16_from_f32(near);
}
