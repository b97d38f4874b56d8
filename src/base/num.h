// SPDX-License-Identifier: Apache-2.0
// Checked size arithmetic, byte-safe loads, and the small float formats (IEEE 754 binary16, bfloat16).
// Leaf header. Ownership: none. Threads: any.
#ifndef TN_NUM_H
#define TN_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Each returns false when the exact result does not fit; *out then holds no meaning.
static inline bool tn_mul_size(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool tn_add_size(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool tn_mul_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool tn_add_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_add_overflow(a, b, out); }
static inline bool tn_sub_i64(int64_t a, int64_t b, int64_t *out) { return !__builtin_sub_overflow(a, b, out); }

// Rounds up to a multiple of align (a power of two).
static inline bool tn_align_size(size_t a, size_t align, size_t *out)
{
    if (!tn_add_size(a, align - 1, out)) {
        return false;
    }
    *out &= ~(align - 1);
    return true;
}

// Element i of an array of any alignment (constants are read straight from the mapped file).
static inline float tn_load_f32(const void *data, size_t i)
{
    float v;
    memcpy(&v, (const char *)data + i * sizeof v, sizeof v);
    return v;
}
static inline int64_t tn_load_i64(const void *data, size_t i)
{
    int64_t v;
    memcpy(&v, (const char *)data + i * sizeof v, sizeof v);
    return v;
}
static inline int32_t tn_load_i32(const void *data, size_t i)
{
    int32_t v;
    memcpy(&v, (const char *)data + i * sizeof v, sizeof v);
    return v;
}

static inline uint32_t tn_f32_bits(float f) { uint32_t u; memcpy(&u, &f, sizeof u); return u; }
static inline float tn_f32_from_bits(uint32_t u) { float f; memcpy(&f, &u, sizeof f); return f; }

// Round to nearest, ties to even; overflow becomes infinity, NaN stays NaN.
uint16_t tn_f16_from_f32(float value);
float tn_f16_to_f32(uint16_t bits);
uint16_t tn_f16_from_f64(double value);   // one rounding
uint16_t tn_bf16_from_f32(float value);
uint16_t tn_bf16_from_f64(double value);   // one rounding
static inline float tn_bf16_to_f32(uint16_t bits) { return tn_f32_from_bits((uint32_t)bits << 16); }

#endif
