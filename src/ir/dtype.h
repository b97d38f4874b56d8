// SPDX-License-Identifier: Apache-2.0
// Element types. The numbers are those of ONNX TensorProto.DataType (IR specification) and are frozen: they reach files.
// In memory every element takes whole bytes: 4- and 2-bit kinds take one byte each (low bits, sign-extended for signed).
// Leaf header, shared with device programs. Ownership: none. Threads: any.
#ifndef TN_DTYPE_H
#define TN_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// X(name, number, bytes per element in memory, text)
#define TN_DTYPE_LIST(X)            \
    X(NONE, 0, 0, "none")           \
    X(F32, 1, 4, "float32")         \
    X(U8, 2, 1, "uint8")            \
    X(I8, 3, 1, "int8")             \
    X(U16, 4, 2, "uint16")          \
    X(I16, 5, 2, "int16")           \
    X(I32, 6, 4, "int32")           \
    X(I64, 7, 8, "int64")           \
    X(STRING, 8, 8, "string")       \
    X(BOOL, 9, 1, "bool")           \
    X(F16, 10, 2, "float16")        \
    X(F64, 11, 8, "float64")        \
    X(U32, 12, 4, "uint32")         \
    X(U64, 13, 8, "uint64")         \
    X(C64, 14, 8, "complex64")      \
    X(C128, 15, 16, "complex128")   \
    X(BF16, 16, 2, "bfloat16")      \
    X(F8E4M3FN, 17, 1, "float8_e4m3fn")     \
    X(F8E4M3FNUZ, 18, 1, "float8_e4m3fnuz") \
    X(F8E5M2, 19, 1, "float8_e5m2")         \
    X(F8E5M2FNUZ, 20, 1, "float8_e5m2fnuz") \
    X(U4, 21, 1, "uint4")           \
    X(I4, 22, 1, "int4")            \
    X(F4E2M1, 23, 1, "float4_e2m1fn")       \
    X(F8E8M0, 24, 1, "float8_e8m0fnu")      \
    X(U2, 25, 1, "uint2")           \
    X(I2, 26, 1, "int2")

typedef enum tn_dtype {
#define X(name, number, bytes, text) TN_##name = number,
    TN_DTYPE_LIST(X)
#undef X
    TN_DTYPE_COUNT = 27
} tn_dtype;

size_t tn_dtype_bytes(tn_dtype dtype);          // 0 for TN_NONE and for numbers that are no dtype
const char *tn_dtype_text(tn_dtype dtype);      // numpy / ml_dtypes name
bool tn_dtype_is_float(tn_dtype dtype);         // f16, bf16, f32, f64, float8, float4
bool tn_dtype_is_int(tn_dtype dtype);           // signed or unsigned, all widths, not bool
bool tn_dtype_is_signed(tn_dtype dtype);        // signed integers and floats

// Element i of an array (any alignment) as a number, and back. On store integers drop the fraction and saturate (NaN: 0); floats
// round to nearest even, and past their range become infinity (f16, bf16, f32) or the largest number (8- and 4-bit floats).
// Not for strings and complex numbers (load gives 0). int64/uint64 beyond 2^53 lose bits: use the i64 pair for them.
double tn_dtype_load(tn_dtype dtype, const void *data, size_t i);
void tn_dtype_store(tn_dtype dtype, void *data, size_t i, double value);
int64_t tn_dtype_load_i64(tn_dtype dtype, const void *data, size_t i);     // floats truncate toward zero
void tn_dtype_store_i64(tn_dtype dtype, void *data, size_t i, int64_t v);  // integers wrap, floats round

// The code of a number in an 8- or 4-bit float. Past the range: the largest number if `saturate`, else infinity or NaN, whichever
// the kind has (float4 has neither). float8_e8m0 rounds to the nearer power of two, halfway up.
uint8_t tn_dtype_small_float(tn_dtype kind, double value, bool saturate);

#endif
