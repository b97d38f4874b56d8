// SPDX-License-Identifier: Apache-2.0
// Loads and stores of lane blocks. One typed loop for each element type that C knows; small floats go through their converters.
// Ownership: plain values. Threads: any.
#include "ops/walk/lanes.h"

#include "base/num.h"

// 8- and 4-bit floats are exact in float32.
tn_lane tn_lane_of(tn_dtype dtype)
{
    if (dtype == TN_F64) {
        return TN_LANE_F64;
    }
    if (tn_dtype_is_float(dtype)) {
        return TN_LANE_F32;
    }
    return tn_dtype_is_signed(dtype) ? TN_LANE_I64 : TN_LANE_U64;
}

#define LOAD_LOOP(field, type, expression)                 \
    do {                                                   \
        for (int i = 0; i < n; i++) {                      \
            const type *p = (const type *)data + (first + i * step);    \
            out->field[i] = (expression);                  \
        }                                                  \
    } while (0)

#define LOAD_CASES(field, cast)                                                  \
    case TN_F32: LOAD_LOOP(field, float, cast *p); break;                        \
    case TN_F64: LOAD_LOOP(field, double, cast *p); break;                       \
    case TN_F16: LOAD_LOOP(field, uint16_t, cast tn_f16_to_f32(*p)); break;      \
    case TN_BF16: LOAD_LOOP(field, uint16_t, cast tn_bf16_to_f32(*p)); break;    \
    INTEGER_CASES(field, cast)

#define INTEGER_CASES(field, cast)                                               \
    case TN_I64: LOAD_LOOP(field, int64_t, cast *p); break;                      \
    case TN_I32: LOAD_LOOP(field, int32_t, cast *p); break;                      \
    case TN_I16: LOAD_LOOP(field, int16_t, cast *p); break;                      \
    case TN_I8: LOAD_LOOP(field, int8_t, cast *p); break;                        \
    case TN_U64: LOAD_LOOP(field, uint64_t, cast *p); break;                     \
    case TN_U32: LOAD_LOOP(field, uint32_t, cast *p); break;                     \
    case TN_U16: LOAD_LOOP(field, uint16_t, cast *p); break;                     \
    case TN_U8: LOAD_LOOP(field, uint8_t, cast *p); break;                       \
    case TN_BOOL: LOAD_LOOP(field, uint8_t, cast(*p != 0)); break;

// Every pair of lane and type has its own loop, so that the compiler can vectorise it.
void tn_lanes_load(tn_lanes *out, tn_lane lane, tn_dtype dtype, const void *data, int64_t first, int64_t step, int n)
{
    switch (lane) {
    case TN_LANE_F32:
        switch (dtype) {
            LOAD_CASES(f32, (float))
        default:
            for (int i = 0; i < n; i++) {
                out->f32[i] = (float)tn_dtype_load(dtype, data, (size_t)(first + i * step));
            }
        }
        break;
    case TN_LANE_F64:
        switch (dtype) {
            LOAD_CASES(f64, (double))
        default:
            for (int i = 0; i < n; i++) {
                out->f64[i] = tn_dtype_load(dtype, data, (size_t)(first + i * step));
            }
        }
        break;
    case TN_LANE_I64:
        switch (dtype) {
            INTEGER_CASES(i64, (int64_t))
        default:
            for (int i = 0; i < n; i++) {
                out->i64[i] = tn_dtype_load_i64(dtype, data, (size_t)(first + i * step));
            }
        }
        break;
    case TN_LANE_U64:
        switch (dtype) {
            INTEGER_CASES(u64, (uint64_t))
        default:
            for (int i = 0; i < n; i++) {
                out->u64[i] = (uint64_t)tn_dtype_load_i64(dtype, data, (size_t)(first + i * step));
            }
        }
        break;
    }
}

#define STORE_LOOP(field, type, expression)               \
    do {                                                  \
        type *p = (type *)data + first;                   \
        for (int i = 0; i < n; i++) {                     \
            p[i] = (type)(expression);                    \
        }                                                 \
    } while (0)

#define STORE_INTEGERS(field)                                                    \
    switch (dtype) {                                                             \
    case TN_I64: case TN_U64: STORE_LOOP(field, uint64_t, in->field[i]); break;  \
    case TN_I32: case TN_U32: STORE_LOOP(field, uint32_t, in->field[i]); break;  \
    case TN_I16: case TN_U16: STORE_LOOP(field, uint16_t, in->field[i]); break;  \
    case TN_I8: case TN_U8: STORE_LOOP(field, uint8_t, in->field[i]); break;     \
    case TN_BOOL: STORE_LOOP(field, uint8_t, in->field[i] != 0); break;          \
    case TN_F32: STORE_LOOP(field, float, in->field[i]); break;                  \
    case TN_F64: STORE_LOOP(field, double, in->field[i]); break;                 \
    default:                                                                     \
        for (int i = 0; i < n; i++) {                                            \
            tn_dtype_store_i64(dtype, data, (size_t)(first + i), (int64_t)in->field[i]);    \
        }                                                                        \
    }

// Floats smaller than float32 round once, by their own converter.
static void store_f32(const tn_lanes *in, tn_dtype dtype, void *data, int64_t first, int n)
{
    switch (dtype) {
    case TN_F32: STORE_LOOP(f32, float, in->f32[i]); break;
    case TN_F64: STORE_LOOP(f32, double, in->f32[i]); break;
    case TN_F16: STORE_LOOP(f32, uint16_t, tn_f16_from_f32(in->f32[i])); break;
    case TN_BF16: STORE_LOOP(f32, uint16_t, tn_bf16_from_f32(in->f32[i])); break;
    case TN_BOOL: STORE_LOOP(f32, uint8_t, in->f32[i] != 0); break;
    default:
        for (int i = 0; i < n; i++) {
            tn_dtype_store(dtype, data, (size_t)(first + i), in->f32[i]);
        }
    }
}

// From float64 straight to the small type: by way of float32 would round twice.
static void store_f64(const tn_lanes *in, tn_dtype dtype, void *data, int64_t first, int n)
{
    switch (dtype) {
    case TN_F32: STORE_LOOP(f64, float, in->f64[i]); break;
    case TN_F64: STORE_LOOP(f64, double, in->f64[i]); break;
    case TN_BOOL: STORE_LOOP(f64, uint8_t, in->f64[i] != 0); break;
    default:
        for (int i = 0; i < n; i++) {
            tn_dtype_store(dtype, data, (size_t)(first + i), in->f64[i]);
        }
    }
}

// Integers of any width keep their low bits; which lane they come from does not matter.
void tn_lanes_store(const tn_lanes *in, tn_lane lane, tn_dtype dtype, void *data, int64_t first, int n)
{
    switch (lane) {
    case TN_LANE_F32:
        store_f32(in, dtype, data, first, n);
        break;
    case TN_LANE_F64:
        store_f64(in, dtype, data, first, n);
        break;
    case TN_LANE_I64:
        STORE_INTEGERS(i64)
        break;
    case TN_LANE_U64:
        STORE_INTEGERS(u64)
        break;
    }
}

// The bound of the type is a power of two, so the comparison in double is exact also for 64 bits.
static int64_t saturate_signed(double x, int bits)
{
    const double bound = (double)(UINT64_C(1) << (bits - 1));
    if (x != x) {
        return 0;
    }
    if (x >= bound) {
        return INT64_MAX >> (64 - bits);
    }
    return x < -bound ? INT64_MIN >> (64 - bits) : (int64_t)x;
}

// Negative numbers and NaN become 0.
static uint64_t saturate_unsigned(double x, int bits)
{
    if (!(x > 0)) {
        return 0;
    }
    return x >= 2.0 * (double)(UINT64_C(1) << (bits - 1)) ? UINT64_MAX >> (64 - bits) : (uint64_t)x;
}

// 4- and 2-bit kinds take a byte in memory but hold fewer numbers.
static int bits_of(tn_dtype dtype)
{
    if (dtype == TN_I4 || dtype == TN_U4) {
        return 4;
    }
    return dtype == TN_I2 || dtype == TN_U2 ? 2 : 8 * (int)tn_dtype_bytes(dtype);
}

tn_lane tn_lanes_to_int(tn_lanes *v, tn_lane lane, tn_dtype dtype, int n)
{
    const int bits = bits_of(dtype);
    const tn_lane to = tn_lane_of(dtype);
    // From the end: an integer lane is at least as wide as a float lane, so it covers only what was read already.
    for (int i = n - 1; i >= 0; i--) {
        const double x = lane == TN_LANE_F64 ? v->f64[i] : (double)v->f32[i];
        if (to == TN_LANE_I64) {
            v->i64[i] = saturate_signed(x, bits);
        } else {
            v->u64[i] = saturate_unsigned(x, bits);
        }
    }
    return to;
}
