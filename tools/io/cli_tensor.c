// SPDX-License-Identifier: Apache-2.0
// Tensors of the tenon command: sizes, elements as numbers, random values (cli_tensor.h).
// Small floats are read by one routine over their parameters (OCP 8-bit floating point specification; ONNX float8 page).
#include "cli_tensor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void tn_cli_tensor_deinit(tn_cli_tensor *tensor)
{
    free(tensor->data);
    *tensor = (tn_cli_tensor){0};
}

int64_t tn_cli_elements(int rank, const int64_t *dims)
{
    const int64_t most = (int64_t)1 << 40;
    int64_t count = 1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0 || dims[i] > most || (dims[i] && count > most / dims[i])) {
            return -1;
        }
        count *= dims[i];
    }
    return count;
}

typedef enum small_kind {
    SMALL_IEEE,    // top exponent: infinity and NaN
    SMALL_FN,      // only all ones is NaN
    SMALL_FNUZ,    // no negative zero: its code is the one NaN
    SMALL_FINITE   // no NaN at all
} small_kind;

typedef struct small_float {
    int exponent, mantissa, bias;   // bits, bits, bias
    small_kind kind;
} small_float;

static const small_float *small_of(tenon_dtype dtype)
{
    static const small_float f16 = {5, 10, 15, SMALL_IEEE}, bf16 = {8, 7, 127, SMALL_IEEE}, e4m3fn = {4, 3, 7, SMALL_FN},
                             e4m3fnuz = {4, 3, 8, SMALL_FNUZ}, e5m2 = {5, 2, 15, SMALL_IEEE}, e5m2fnuz = {5, 2, 16, SMALL_FNUZ},
                             e2m1fn = {2, 1, 1, SMALL_FINITE};
    switch (dtype) {
    case TENON_FLOAT16:
        return &f16;
    case TENON_BFLOAT16:
        return &bf16;
    case TENON_FLOAT8_E4M3FN:
        return &e4m3fn;
    case TENON_FLOAT8_E4M3FNUZ:
        return &e4m3fnuz;
    case TENON_FLOAT8_E5M2:
        return &e5m2;
    case TENON_FLOAT8_E5M2FNUZ:
        return &e5m2fnuz;
    case TENON_FLOAT4_E2M1FN:
        return &e2m1fn;
    default:
        return NULL;
    }
}

static double small_value(const small_float *f, unsigned bits)
{
    const unsigned mantissa = bits & ((1u << f->mantissa) - 1), top = (1u << f->exponent) - 1;
    const unsigned exponent = bits >> f->mantissa & top;
    const bool negative = bits >> (f->mantissa + f->exponent) & 1;
    if (f->kind == SMALL_FNUZ && negative && !exponent && !mantissa) {
        return NAN;
    }
    if (f->kind == SMALL_IEEE && exponent == top) {
        return mantissa ? NAN : negative ? -INFINITY : INFINITY;
    }
    if (f->kind == SMALL_FN && exponent == top && mantissa == (1u << f->mantissa) - 1) {
        return NAN;
    }
    const double whole = exponent ? mantissa + (1u << f->mantissa) : mantissa;
    const double value = ldexp(whole, (exponent ? (int)exponent : 1) - f->bias - f->mantissa);
    return negative ? -value : value;
}

// The code nearest to a value of moderate size: below the largest finite code, by halving (codes of one sign rise with value).
static unsigned small_nearest(const small_float *f, double value)
{
    const unsigned sign = value < 0 ? 1u << (f->mantissa + f->exponent) : 0;
    const double size = fabs(value);
    unsigned low = 0, high = (1u << (f->mantissa + f->exponent)) - 1;
    while (high > low + 1) {
        const unsigned middle = low + (high - low) / 2;
        if (small_value(f, middle) <= size) {
            low = middle;
        } else {
            high = middle;
        }
    }
    const double below = size - small_value(f, low), above = small_value(f, high) - size;
    const unsigned code = above < below ? high : low;
    return code || f->kind != SMALL_FNUZ ? code | sign : code;
}

bool tn_cli_dtype_is_float(tenon_dtype dtype)
{
    return dtype == TENON_FLOAT32 || dtype == TENON_FLOAT64 || dtype == TENON_FLOAT8_E8M0FNU || small_of(dtype) != NULL;
}

double tn_cli_element(tenon_dtype dtype, const void *data, size_t i)
{
    const uint8_t *at = (const uint8_t *)data + i * tenon_dtype_bytes(dtype);
    const small_float *small = small_of(dtype);
    if (small) {
        uint16_t bits = *at;
        if (tenon_dtype_bytes(dtype) == 2) {
            memcpy(&bits, at, 2);
        }
        return small_value(small, bits);
    }
#define CASE(NAME, type)            \
    case NAME: {                    \
        type v;                     \
        memcpy(&v, at, sizeof v);   \
        return (double)v;           \
    }
    switch (dtype) {
        CASE(TENON_FLOAT32, float)
        CASE(TENON_COMPLEX64, float)
        CASE(TENON_FLOAT64, double)
        CASE(TENON_COMPLEX128, double)
        CASE(TENON_UINT8, uint8_t)
        CASE(TENON_BOOL, uint8_t)
        CASE(TENON_UINT4, uint8_t)
        CASE(TENON_UINT2, uint8_t)
        CASE(TENON_INT8, int8_t)
        CASE(TENON_INT4, int8_t)
        CASE(TENON_INT2, int8_t)
        CASE(TENON_UINT16, uint16_t)
        CASE(TENON_INT16, int16_t)
        CASE(TENON_INT32, int32_t)
        CASE(TENON_UINT32, uint32_t)
        CASE(TENON_INT64, int64_t)
        CASE(TENON_UINT64, uint64_t)
    case TENON_FLOAT8_E8M0FNU:
        return *at == 255 ? NAN : ldexp(1.0, *at - 127);
    default:
        return 0;
    }
#undef CASE
}

// splitmix64 (Steele, Lea, Flood 2014): the same values on every machine.
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// Box and Muller (1958); one of the pair is used, so that element i does not depend on whether i is even.
static double next_normal(uint64_t *state)
{
    const double u = ((double)(next_random(state) >> 11) + 1) * 0x1p-53, v = (double)(next_random(state) >> 11) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static void store_random(tenon_dtype dtype, void *at, uint64_t *state)
{
    const small_float *small = small_of(dtype);
    if (small) {
        const uint16_t bits = (uint16_t)small_nearest(small, next_normal(state));
        if (tenon_dtype_bytes(dtype) == 2) {
            memcpy(at, &bits, 2);
        } else {
            *(uint8_t *)at = (uint8_t)bits;
        }
        return;
    }
    switch (dtype) {
    case TENON_FLOAT32:
    case TENON_COMPLEX64:
        for (size_t i = 0; i < tenon_dtype_bytes(dtype) / 4; i++) {
            const float v = (float)next_normal(state);
            memcpy((uint8_t *)at + 4 * i, &v, 4);
        }
        break;
    case TENON_FLOAT64:
    case TENON_COMPLEX128:
        for (size_t i = 0; i < tenon_dtype_bytes(dtype) / 8; i++) {
            const double v = next_normal(state);
            memcpy((uint8_t *)at + 8 * i, &v, 8);
        }
        break;
    case TENON_FLOAT8_E8M0FNU:
        *(uint8_t *)at = (uint8_t)(126 + (next_random(state) >> 63));
        break;
    default: {
        const uint64_t v = next_random(state) >> 63;   // integers of any width: 0 or 1, little-endian
        memcpy(at, &v, tenon_dtype_bytes(dtype));
        break;
    }
    }
}

void tn_cli_set_element(tenon_dtype dtype, void *data, size_t i, int value)
{
    const size_t size = tenon_dtype_bytes(dtype);
    uint8_t *at = (uint8_t *)data + i * size;
    const small_float *small = small_of(dtype);
    const float single = (float)value;
    const double wide = value;
    const int64_t whole = value;          // little-endian: the low bytes of any width
    const uint16_t bits = small ? (uint16_t)small_nearest(small, value) : 0;
    memset(at, 0, size);
    if (small) {
        memcpy(at, &bits, size);
    } else if (dtype == TENON_FLOAT32 || dtype == TENON_COMPLEX64) {
        memcpy(at, &single, sizeof single);
    } else if (dtype == TENON_FLOAT64 || dtype == TENON_COMPLEX128) {
        memcpy(at, &wide, sizeof wide);
    } else if (dtype == TENON_FLOAT8_E8M0FNU) {
        *at = 127;                        // only powers of two: 1
    } else {
        memcpy(at, &whole, size);
    }
}

// For text inputs: words, two of them, a number, nothing.
static const char *random_word(uint64_t *state)
{
    static const char *const words[] = {"ash", "birch", "cedar", "elm", "two words", "7", ""};
    return words[next_random(state) % (sizeof words / sizeof words[0])];
}

bool tn_cli_tensor_random(tn_cli_tensor *tensor, uint64_t *state)
{
    const size_t size = tenon_dtype_bytes(tensor->dtype);
    const int64_t count = tn_cli_elements(tensor->rank, tensor->dims);
    if (size == 0 || count < 0) {
        return false;
    }
    free(tensor->data);
    tensor->bytes = (size_t)count * size;
    tensor->data = tn_cli_take((size_t)count, size);
    for (size_t i = 0; i < (size_t)count && tensor->dtype == TENON_STRING; i++) {
        ((const char **)tensor->data)[i] = random_word(state);
    }
    for (size_t i = 0; i < (size_t)count && tensor->dtype != TENON_STRING; i++) {
        store_random(tensor->dtype, (uint8_t *)tensor->data + i * size, state);
    }
    return true;
}
