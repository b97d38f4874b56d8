// SPDX-License-Identifier: Apache-2.0
// Conversions between element types (ONNX Cast 28, CastLike 25, BitCast 26).
//   float to float    one rounding, to nearest even; float8 saturates or not as asked
//   float to integer  toward zero; what ONNX leaves undefined is the nearest number in range, NaN becomes 0; 4- and 2-bit integers
//                     take the low bits of the whole number, as the standard's tests have it
//   integer to integer  low bits;  anything to bool: not zero
// Ownership: const data. Threads: any.
#include "ops/math/op_cast.h"

#include "ops/walk/lanes.h"
#include "ops/op_facts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

// ---- attributes ----

static const tn_attr cast_attrs[] = {
    {"to", TN_ATTR_DTYPE, offsetof(tn_cast_attr, to), NULL},
    {"saturate", TN_ATTR_BOOL, offsetof(tn_cast_attr, saturate), NULL},
    {"round_mode", TN_ATTR_INT, offsetof(tn_cast_attr, round_mode), NULL},
};
static const tn_cast_attr cast_defaults = {TN_NONE, true, 0};

enum { ROUND_UP, ROUND_DOWN, ROUND_NEAREST };

// ---- infer ----

#define SET_CAST (TN_SET_ANY & ~(TN_BIT(C64) | TN_BIT(C128)))

// Attribute values are any number.
static bool is_dtype(tn_dtype dtype) { return dtype > TN_NONE && dtype < TN_DTYPE_COUNT; }

// Integers and bool keep what is known of their elements.
static tn_status infer_elems(tn_infer *infer)
{
    const tn_fact *x = infer->in[0];
    const tn_dtype to = infer->out[0].dtype;
    if (!tn_infer_tells(infer, 0) || !(tn_dtype_is_int(x->dtype) || x->dtype == TN_BOOL)) {
        return TN_OK;
    }
    const int64_t count = tn_fact_count(x);
    int64_t *elems = tn_infer_elems(infer, 0, count);
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t v = tn_fact_elem(x, i);
        if (to == TN_I64 || (to == TN_I32 && (!tn_dim_known(v) || (v >= INT32_MIN && v <= INT32_MAX)))) {
            elems[i] = v;
        } else if (to == TN_BOOL && tn_dim_known(v)) {
            elems[i] = v != 0;
        }
    }
    return TN_OK;
}

// x: any shape -> the same shape of type `to` (TN_NONE: not known yet).
static tn_status infer_to(tn_infer *infer, tn_dtype to)
{
    const tn_cast_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, SET_CAST));
    if (to != TN_NONE && (!is_dtype(to) || !(SET_CAST >> to & 1))) {
        return tn_infer_fail(infer, "cannot convert to type %d (%s)", (int)to, tn_dtype_text(to));
    }
    if (attr->round_mode < ROUND_UP || attr->round_mode > ROUND_NEAREST) {
        return tn_infer_fail(infer, "round_mode is %lld, expected 0, 1 or 2", (long long)attr->round_mode);
    }
    tn_infer_out(infer, 0, to, &infer->in[0]->shape);
    return infer_elems(infer);
}

static tn_status infer_cast(tn_infer *infer)
{
    const tn_cast_attr *attr = infer->attr;
    if (!is_dtype(attr->to)) {
        return tn_infer_fail(infer, "attribute to is %d, which is no type", (int)attr->to);
    }
    return infer_to(infer, attr->to);
}

static tn_status infer_cast_like(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 1, SET_CAST));
    return infer_to(infer, infer->in[1]->dtype);
}

// Bits of an element as ONNX counts them: narrow kinds have fewer than the byte they take in memory.
static int bits_of(tn_dtype dtype)
{
    switch (dtype) {
    case TN_U4: case TN_I4: case TN_F4E2M1: return 4;
    case TN_U2: case TN_I2: return 2;
    default: return 8 * (int)tn_dtype_bytes(dtype);
    }
}

// x: any shape -> the same shape; the types must have the same number of bits.
static tn_status infer_bit_cast(tn_infer *infer)
{
    const tn_cast_attr *attr = infer->attr;
    const uint32_t set = TN_SET_ANY & ~TN_BIT(STRING);
    TN_TRY(tn_infer_type(infer, 0, set));
    const tn_dtype from = infer->in[0]->dtype, to = attr->to;
    if (!is_dtype(to) || !(set >> to & 1)) {
        return tn_infer_fail(infer, "cannot reinterpret as type %d (%s)", (int)to, tn_dtype_text(to));
    }
    if (from != TN_NONE && bits_of(from) != bits_of(to)) {
        return tn_infer_fail(infer, "%s has %d bits and %s has %d, expected the same number", tn_dtype_text(from), bits_of(from),
                             tn_dtype_text(to), bits_of(to));
    }
    tn_infer_out(infer, 0, to, &infer->in[0]->shape);
    return TN_OK;
}

// ---- descriptors ----

#define CAST(NAME, OPERANDS, FLAGS)                                                                                          \
    const tn_op tn_op_##NAME = {                                                                                             \
        .name = #NAME, .version = 1, .flags = TN_OP_ELEMENTWISE | (FLAGS), .min_in = OPERANDS, .max_in = OPERANDS,           \
        .min_out = 1, .max_out = 1, .attrs = cast_attrs, .n_attrs = TN_COUNT(cast_attrs), .attr_size = sizeof(tn_cast_attr), \
        .defaults = &cast_defaults, .infer = infer_##NAME                                                                    \
    }

CAST(cast, 1, 0);
CAST(cast_like, 2, 0);
CAST(bit_cast, 1, TN_OP_INPLACE);

// ---- reference ----

// A positive number moved to the power of two that the mode asks for (ONNX Cast, table for FLOAT8E8M0); nearest is left to the coder.
static double round_to_power(double v, int64_t mode)
{
    int exponent;
    if (!(v > 0) || isinf(v) || mode == ROUND_NEAREST) {
        return v;
    }
    const double fraction = frexp(v, &exponent);   // in [1/2, 1)
    return ldexp(1, fraction == 0.5 || mode == ROUND_DOWN ? exponent - 1 : exponent);
}

// The code of v in an 8- or 4-bit float, by the attributes.
static uint8_t small_float_of(const tn_cast_attr *attr, tn_dtype to, double v)
{
    if (to != TN_F8E8M0) {
        return tn_dtype_small_float(to, v, attr->saturate);
    }
    if (!attr->saturate && v < 0x1p-127) {
        return 0xff;   // its NaN
    }
    return tn_dtype_small_float(to, round_to_power(v, attr->round_mode), attr->saturate);
}

static bool is_small_float(tn_dtype dtype) { return tn_dtype_is_float(dtype) && tn_dtype_bytes(dtype) == 1; }

// n <= TN_LANES elements from element `at` of x to the same place of y.
static void cast_block(const tn_cast_attr *attr, const tn_tensor *x, const tn_tensor *y, int64_t at, int n)
{
    const tn_lane natural = tn_lane_of(x->dtype);
    const bool from_float = natural == TN_LANE_F32 || natural == TN_LANE_F64;
    tn_lanes v;
    if (is_small_float(y->dtype)) {
        tn_lanes_load(&v, TN_LANE_F64, x->dtype, x->data, at, 1, n);
        for (int i = 0; i < n; i++) {
            ((uint8_t *)y->data)[at + i] = small_float_of(attr, y->dtype, v.f64[i]);
        }
        return;
    }
    tn_lane lane = natural;
    if (tn_dtype_is_float(y->dtype) && !from_float) {
        lane = y->dtype == TN_F32 ? TN_LANE_F32 : TN_LANE_F64;   // the way with one rounding
    } else if (tn_dtype_is_float(y->dtype) && y->dtype == TN_F32) {
        lane = TN_LANE_F32;
    }
    tn_lanes_load(&v, lane, x->dtype, x->data, at, 1, n);
    if (from_float && tn_dtype_is_int(y->dtype)) {
        lane = tn_lanes_to_int(&v, lane, bits_of(y->dtype) < 8 ? TN_I64 : y->dtype, n);
    }
    tn_lanes_store(&v, lane, y->dtype, y->data, at, n);
}

// x and result: any shape, the same.
static tn_status run_cast(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *y = call->out[0];
    const int64_t count = tn_tensor_count(x);
    if (x->dtype == y->dtype) {
        if (count > 0 && x->data != y->data) {
            memcpy(y->data, x->data, (size_t)count * tn_dtype_bytes(x->dtype));
        }
        return TN_OK;
    }
    for (int64_t at = 0; at < count; at += TN_LANES) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        cast_block(call->attr, x, y, at, (int)TN_MIN(count - at, TN_LANES));
    }
    return TN_OK;
}

// 4- and 2-bit kinds take a byte each, sign-extended for signed ones: their low bits are put in order for the new type.
static tn_status run_bit_cast(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *y = call->out[0];
    const size_t count = (size_t)tn_tensor_count(x);
    if (count > 0 && x->data != y->data) {
        memcpy(y->data, x->data, count * tn_dtype_bytes(x->dtype));
    }
    if (bits_of(y->dtype) < 8) {
        uint8_t *bytes = y->data;
        const int mask = (1 << bits_of(y->dtype)) - 1;
        for (size_t i = 0; i < count; i++) {
            const int low = bytes[i] & mask;
            const bool negative = tn_dtype_is_int(y->dtype) && tn_dtype_is_signed(y->dtype) && low > mask / 2;
            bytes[i] = (uint8_t)(negative ? low | ~mask : low);
        }
    }
    return TN_OK;
}

// ---- export ----

static const tn_kernel rows[] = {
    TN_REFERENCE(cast, tn_match_numbers, run_cast),
    TN_REFERENCE(cast_like, tn_match_numbers, run_cast),
    TN_REFERENCE(bit_cast, NULL, run_bit_cast),
};

static const tn_op *const ops[] = {&tn_op_cast, &tn_op_cast_like, &tn_op_bit_cast};

TN_EXPORT_OPS(op_cast, ops);
TN_EXPORT_KERNELS(op_cast, rows);
