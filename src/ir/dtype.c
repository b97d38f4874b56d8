// SPDX-License-Identifier: Apache-2.0
// Element types: sizes, names, and elements as numbers. The 8- and 4-bit floats share one coder over a small table of formats
// (OCP 8-bit and Microscaling specifications; the FNUZ kinds: Noune et al., "8-bit numerical formats for deep neural networks",
// 2022), so that every kind is described by five numbers.
// Ownership: none. Threads: any.
#include "ir/dtype.h"
#include "base/macros.h"
#include "base/num.h"

#include <math.h>

size_t tn_dtype_bytes(tn_dtype dtype)
{
    switch (dtype) {
#define X(name, number, bytes, text) \
    case TN_##name:                  \
        return bytes;
        TN_DTYPE_LIST(X)
#undef X
    case TN_DTYPE_COUNT:
        break;
    }
    return 0;
}

const char *tn_dtype_text(tn_dtype dtype)
{
    switch (dtype) {
#define X(name, number, bytes, text) \
    case TN_##name:                  \
        return text;
        TN_DTYPE_LIST(X)
#undef X
    case TN_DTYPE_COUNT:
        break;
    }
    return "invalid";
}

bool tn_dtype_is_float(tn_dtype dtype)
{
    switch (dtype) {
    case TN_F32: case TN_F64: case TN_F16: case TN_BF16:
    case TN_F8E4M3FN: case TN_F8E4M3FNUZ: case TN_F8E5M2: case TN_F8E5M2FNUZ: case TN_F8E8M0: case TN_F4E2M1:
        return true;
    default:
        return false;
    }
}

bool tn_dtype_is_int(tn_dtype dtype)
{
    switch (dtype) {
    case TN_U8: case TN_U16: case TN_U32: case TN_U64: case TN_U4: case TN_U2:
    case TN_I8: case TN_I16: case TN_I32: case TN_I64: case TN_I4: case TN_I2:
        return true;
    default:
        return false;
    }
}

bool tn_dtype_is_signed(tn_dtype dtype)
{
    switch (dtype) {
    case TN_I8: case TN_I16: case TN_I32: case TN_I64: case TN_I4: case TN_I2:
        return true;
    default:
        return tn_dtype_is_float(dtype) && dtype != TN_F8E8M0;
    }
}

// ---- 8- and 4-bit floats ----

// A byte is | sign | exponent | fraction |. With `infinity` the top exponent means infinity and NaN as in IEEE 754; otherwise all
// codes are numbers except those named here.
typedef struct small_float {
    int fraction, bias;      // bits; exponent bias
    int sign_shift;          // place of the sign bit
    int largest;             // code of the largest finite number
    int nan;                 // code of NaN
    bool signed_nan;         // the NaN of a negative number has the sign bit too
    bool infinity;           // largest + 1 is infinity
    bool unsigned_zero;      // FNUZ: the code of -0 is the NaN
    bool finite;             // neither infinity nor NaN: large numbers become the largest, NaN becomes -0 as in the ONNX tests
} small_float;

static const small_float e4m3fn = {3, 7, 7, 0x7e, 0x7f, true, false, false, false};
static const small_float e4m3fnuz = {3, 8, 7, 0x7f, 0x80, false, false, true, false};
static const small_float e5m2 = {2, 15, 7, 0x7b, 0x7e, true, true, false, false};
static const small_float e5m2fnuz = {2, 16, 7, 0x7f, 0x80, false, false, true, false};
static const small_float e2m1 = {1, 1, 3, 0x7, 0x8, false, false, false, true};

static const small_float *small_float_of(tn_dtype kind)
{
    switch (kind) {
    case TN_F8E4M3FN: return &e4m3fn;
    case TN_F8E4M3FNUZ: return &e4m3fnuz;
    case TN_F8E5M2: return &e5m2;
    case TN_F8E5M2FNUZ: return &e5m2fnuz;
    case TN_F4E2M1: return &e2m1;
    default: return NULL;
    }
}

static double small_float_load(const small_float *f, unsigned code)
{
    const int magnitude = (int)(code & ((1u << f->sign_shift) - 1));
    const bool negative = code >> f->sign_shift & 1;
    if (f->unsigned_zero && negative && magnitude == 0) {
        return (double)NAN;
    }
    if (magnitude > f->largest) {
        const double special = f->infinity && magnitude == f->largest + 1 ? (double)INFINITY : (double)NAN;
        return negative ? -special : special;
    }
    const int exponent = magnitude >> f->fraction;
    const int fraction = magnitude & ((1 << f->fraction) - 1);
    const double value = exponent ? ldexp(fraction + (1 << f->fraction), exponent - f->bias - f->fraction)
                                  : ldexp(fraction, 1 - f->bias - f->fraction);
    return negative ? -value : value;
}

static uint8_t small_float_store(const small_float *f, double value, bool saturate)
{
    const int sign = signbit(value) ? 1 << f->sign_shift : 0;
    const uint8_t nan = (uint8_t)(f->signed_nan ? sign | f->nan : f->nan);
    if (isnan(value)) {
        return nan;
    }
    const double magnitude = fabs(value);
    int code = magnitude == 0 ? 0 : f->largest + 1;
    if (magnitude > 0 && magnitude < 0x1p20) {   // 2^20 is past every format's largest number
        int exponent = 0;
        frexp(magnitude, &exponent);                      // magnitude < 2^exponent
        exponent = TN_MAX(exponent - 1, 1 - f->bias);      // that of the unit step below; subnormals share the lowest
        const int steps = (int)nearbyint(ldexp(magnitude, f->fraction - exponent));
        // A step count of 2^(fraction+1) carries into the exponent by plain addition.
        code = ((exponent + f->bias - 1) << f->fraction) + steps;
    }
    if (code > f->largest) {
        if (!saturate && !f->finite && !f->infinity) {
            return nan;
        }
        code = saturate || f->finite ? f->largest : f->largest + 1;
    }
    return (uint8_t)(code == 0 && f->unsigned_zero ? 0 : sign | code);
}

// E8M0 is a power of two from 2^-127 to 2^127, no sign and no zero (the smallest number stands for it); 0xff is NaN, and infinity
// becomes NaN.
static uint8_t e8m0_store(double value, bool saturate)
{
    if (isnan(value) || isinf(value) || value < 0) {
        return 0xff;
    }
    if (value < 0x1p-127) {
        return 0;
    }
    if (value > 0x1p127) {
        return value < 0x1.8p127 || saturate ? 0xfe : 0xff;
    }
    int exponent = 0;
    const double fraction = frexp(value, &exponent);   // in [1/2, 1)
    return (uint8_t)(exponent - 1 + 127 + (fraction >= 0.75));
}

uint8_t tn_dtype_small_float(tn_dtype kind, double value, bool saturate)
{
    const small_float *format = small_float_of(kind);
    return format ? small_float_store(format, value, saturate) : e8m0_store(value, saturate);
}

// ---- elements ----

// Low `bits` bits of a byte as a signed number.
static int sign_extend(unsigned byte, int bits)
{
    const int low = (int)(byte & ((1u << bits) - 1));
    return low - ((low >> (bits - 1)) << bits);
}

#define ELEMENT(type, data, i) ((const char *)(data) + (i) * sizeof(type))
#define LOAD(type)                                       \
    do {                                                 \
        type element_;                                   \
        memcpy(&element_, ELEMENT(type, data, i), sizeof element_); \
        return LOADED(element_);                         \
    } while (0)
#define STORE(type, v)                                   \
    do {                                                 \
        const type element_ = (type)(v);                 \
        memcpy((char *)data + i * sizeof(type), &element_, sizeof element_); \
        return;                                          \
    } while (0)

double tn_dtype_load(tn_dtype dtype, const void *data, size_t i)
{
    const uint8_t *bytes = data;
#define LOADED(v) ((double)(v))
    switch (dtype) {
    case TN_F32: LOAD(float);
    case TN_F64: LOAD(double);
    case TN_U8: return bytes[i];
    case TN_I8: LOAD(int8_t);
    case TN_U16: LOAD(uint16_t);
    case TN_I16: LOAD(int16_t);
    case TN_I32: LOAD(int32_t);
    case TN_U32: LOAD(uint32_t);
    case TN_I64: LOAD(int64_t);
    case TN_U64: LOAD(uint64_t);
    case TN_BOOL: return bytes[i] != 0;
#undef LOADED
#define LOADED(v) ((double)tn_f16_to_f32(v))
    case TN_F16: LOAD(uint16_t);
#undef LOADED
#define LOADED(v) ((double)tn_bf16_to_f32(v))
    case TN_BF16: LOAD(uint16_t);
#undef LOADED
    case TN_F8E4M3FN: case TN_F8E4M3FNUZ: case TN_F8E5M2: case TN_F8E5M2FNUZ: case TN_F4E2M1:
        return small_float_load(small_float_of(dtype), dtype == TN_F4E2M1 ? bytes[i] & 15u : bytes[i]);
    case TN_F8E8M0: return bytes[i] == 0xff ? (double)NAN : ldexp(1, bytes[i] - 127);
    case TN_U4: return bytes[i] & 15;
    case TN_U2: return bytes[i] & 3;
    case TN_I4: return sign_extend(bytes[i], 4);
    case TN_I2: return sign_extend(bytes[i], 2);
    case TN_NONE: case TN_STRING: case TN_C64: case TN_C128: case TN_DTYPE_COUNT: break;
    }
    return 0;
}

// The number without its fraction, inside low .. high; NaN: 0.
static double clamp(double value, double low, double high)
{
    return isnan(value) ? 0 : value < low ? low : value > high ? high : trunc(value);
}

// The bounds of the 64-bit types are no doubles: the comparison is with the power of two past them.
static int64_t clamp_i64(double value)
{
    return isnan(value) ? 0 : value < -0x1p63 ? INT64_MIN : value >= 0x1p63 ? INT64_MAX : (int64_t)value;
}

static uint64_t clamp_u64(double value)
{
    return isnan(value) || value <= 0 ? 0 : value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

void tn_dtype_store(tn_dtype dtype, void *data, size_t i, double value)
{
    uint8_t *bytes = data;
    switch (dtype) {
    case TN_F32: STORE(float, value);
    case TN_F64: STORE(double, value);
    case TN_U8: STORE(uint8_t, clamp(value, 0, UINT8_MAX));
    case TN_I8: STORE(int8_t, clamp(value, INT8_MIN, INT8_MAX));
    case TN_U16: STORE(uint16_t, clamp(value, 0, UINT16_MAX));
    case TN_I16: STORE(int16_t, clamp(value, INT16_MIN, INT16_MAX));
    case TN_U32: STORE(uint32_t, clamp(value, 0, UINT32_MAX));
    case TN_I32: STORE(int32_t, clamp(value, INT32_MIN, INT32_MAX));
    case TN_U64: STORE(uint64_t, clamp_u64(value));
    case TN_I64: STORE(int64_t, clamp_i64(value));
    case TN_BOOL: STORE(uint8_t, value != 0);
    case TN_F16: STORE(uint16_t, tn_f16_from_f64(value));
    case TN_BF16: STORE(uint16_t, tn_bf16_from_f64(value));
    case TN_F8E4M3FN: case TN_F8E4M3FNUZ: case TN_F8E5M2: case TN_F8E5M2FNUZ: case TN_F8E8M0: case TN_F4E2M1:
        bytes[i] = tn_dtype_small_float(dtype, value, true);
        return;
    case TN_U4: STORE(uint8_t, clamp(value, 0, 15));
    case TN_U2: STORE(uint8_t, clamp(value, 0, 3));
    case TN_I4: STORE(int8_t, clamp(value, -8, 7));
    case TN_I2: STORE(int8_t, clamp(value, -2, 1));
    case TN_NONE: case TN_STRING: case TN_C64: case TN_C128: case TN_DTYPE_COUNT: break;
    }
}

int64_t tn_dtype_load_i64(tn_dtype dtype, const void *data, size_t i)
{
    if (dtype == TN_I64 || dtype == TN_U64) {
        return tn_load_i64(data, i);
    }
    return clamp_i64(tn_dtype_load(dtype, data, i));
}

void tn_dtype_store_i64(tn_dtype dtype, void *data, size_t i, int64_t v)
{
    const uint64_t low = (uint64_t)v;
    switch (dtype) {
    case TN_U8: case TN_I8: STORE(uint8_t, low);
    case TN_U16: case TN_I16: STORE(uint16_t, low);
    case TN_U32: case TN_I32: STORE(uint32_t, low);
    case TN_U64: case TN_I64: STORE(uint64_t, low);
    case TN_U4: STORE(uint8_t, low & 15);
    case TN_U2: STORE(uint8_t, low & 3);
    case TN_I4: STORE(int8_t, sign_extend((unsigned)(low & 15), 4));
    case TN_I2: STORE(int8_t, sign_extend((unsigned)(low & 3), 2));
    case TN_BOOL: STORE(uint8_t, v != 0);
    case TN_F32: STORE(float, v);   // one rounding, not two by way of double
    default: tn_dtype_store(dtype, data, i, (double)v);
    }
}
