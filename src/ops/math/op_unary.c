// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one operand. Integers wrap in two's complement; float16 and bfloat16 compute in float32. One table says
// what each operator takes, how it computes in each arithmetic type, and its loop form.
// Ownership: const data. Threads: any.
#include "ops/math/op_unary.h"

#include "loop/loop.h"
#include "ops/walk/lanes.h"
#include "ops/op_facts.h"

#include <math.h>
#include <stddef.h>

// ---- attributes ----

static const tn_attr is_inf_attrs[] = {
    {"detect_negative", TN_ATTR_BOOL, offsetof(tn_is_inf_attr, detect_negative), NULL},
    {"detect_positive", TN_ATTR_BOOL, offsetof(tn_is_inf_attr, detect_positive), NULL},
};
static const tn_is_inf_attr is_inf_defaults = {true, true};

// ---- bodies: a block of n lanes, in place ----
//
// Written as macros over one expression: what differs between the operators is the expression, and it should be all one reads.

#define FLOATS(NAME, EXPRESSION32, EXPRESSION64)                            \
    static void NAME##_f32(float *v, int n, const void *attr)               \
    {                                                                       \
        (void)attr;                                                         \
        for (int i = 0; i < n; i++) {                                       \
            const float x = v[i];                                           \
            v[i] = (EXPRESSION32);                                          \
        }                                                                   \
    }                                                                       \
    static void NAME##_f64(double *v, int n, const void *attr)              \
    {                                                                       \
        (void)attr;                                                         \
        for (int i = 0; i < n; i++) {                                       \
            const double x = v[i];                                          \
            v[i] = (EXPRESSION64);                                          \
        }                                                                   \
    }
// Functions are computed in double and rounded once, as in the loop program.
#define FLOATS_MATH(NAME, FUNCTION) FLOATS(NAME, (float)FUNCTION(x), FUNCTION(x))
#define INTEGERS(NAME, SUFFIX, TYPE, EXPRESSION)                            \
    static void NAME##_##SUFFIX(TYPE *v, int n)                             \
    {                                                                       \
        for (int i = 0; i < n; i++) {                                       \
            const TYPE x = v[i];                                            \
            v[i] = (EXPRESSION);                                            \
        }                                                                   \
    }

// Which infinity: 1 negative, 2 positive, 0 none; kept where `attr` asks for it.
static bool is_wanted_inf(double x, const void *attr)
{
    const tn_is_inf_attr *want = attr;
    return isinf(x) && (x < 0 ? want->detect_negative : want->detect_positive);
}

FLOATS(neg, -x, -x)
FLOATS(abs, fabsf(x), fabs(x))
FLOATS(reciprocal, 1.0f / x, 1.0 / x)
FLOATS(sign, (x > 0) - (x < 0) + (x != x ? x : 0), (x > 0) - (x < 0) + (x != x ? x : 0))
FLOATS(is_nan, x != x, x != x)
FLOATS(is_inf, is_wanted_inf(x, attr), is_wanted_inf(x, attr))
FLOATS_MATH(sqrt, sqrt)
FLOATS_MATH(exp, exp)
FLOATS_MATH(log, log)
FLOATS_MATH(floor, floor)
FLOATS_MATH(ceil, ceil)
FLOATS_MATH(round, rint)     // ties to even in the default rounding mode
FLOATS_MATH(sin, sin)
FLOATS_MATH(cos, cos)
FLOATS_MATH(tan, tan)
FLOATS_MATH(asin, asin)
FLOATS_MATH(acos, acos)
FLOATS_MATH(atan, atan)
FLOATS_MATH(sinh, sinh)
FLOATS_MATH(cosh, cosh)
FLOATS_MATH(asinh, asinh)
FLOATS_MATH(acosh, acosh)
FLOATS_MATH(atanh, atanh)
FLOATS_MATH(erf, erf)
INTEGERS(neg, i64, int64_t, (int64_t)(0 - (uint64_t)x))
INTEGERS(abs, i64, int64_t, x < 0 ? (int64_t)(0 - (uint64_t)x) : x)
INTEGERS(abs, u64, uint64_t, x)
INTEGERS(sign, i64, int64_t, (x > 0) - (x < 0))
INTEGERS(sign, u64, uint64_t, x != 0)
INTEGERS(not, u64, uint64_t, x == 0)
INTEGERS(bitwise_not, i64, int64_t, ~x)
INTEGERS(bitwise_not, u64, uint64_t, ~x)

// What is known of an element of a small integer operand; v is a known number.
static int64_t elem_neg(int64_t v) { return -v; }
// The lowest int64 is no element: facts code unknown dims there.
static int64_t elem_abs(int64_t v) { return v < 0 ? -v : v; }
static int64_t elem_sign(int64_t v) { return (v > 0) - (v < 0); }
static int64_t elem_not(int64_t v) { return v == 0; }

typedef struct unary {
    const tn_op *op;
    uint32_t set;                                       // dtypes of the operand
    bool to_bool;                                       // the result is bool, not of the operand's type
    void (*f32)(float *v, int n, const void *attr);
    void (*f64)(double *v, int n, const void *attr);
    void (*i64)(int64_t *v, int n);
    void (*u64)(uint64_t *v, int n);
    int64_t (*elem)(int64_t v);
} unary;

#define FLOAT_ROW(NAME) {&tn_op_##NAME, TN_SET_FLOAT, false, NAME##_f32, NAME##_f64, NULL, NULL, NULL},

// Operators on floats only.
#define FLOAT_LIST(X)                                                                                                    \
    X(sqrt) X(exp) X(log) X(floor) X(ceil) X(round) X(reciprocal) X(erf) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan)    \
    X(sinh) X(cosh) X(asinh) X(acosh) X(atanh)

static const unary table[] = {
    {&tn_op_neg, TN_SET_FLOAT | TN_SET_SIGNED, false, neg_f32, neg_f64, neg_i64, NULL, elem_neg},
    {&tn_op_abs, TN_SET_NUMBER, false, abs_f32, abs_f64, abs_i64, abs_u64, elem_abs},
    {&tn_op_sign, TN_SET_NUMBER, false, sign_f32, sign_f64, sign_i64, sign_u64, elem_sign},
    {&tn_op_is_nan, TN_SET_FLOAT | TN_SET_F8, true, is_nan_f32, is_nan_f64, NULL, NULL, NULL},
    {&tn_op_is_inf, TN_SET_FLOAT | TN_SET_F8, true, is_inf_f32, is_inf_f64, NULL, NULL, NULL},
    {&tn_op_not, TN_BIT(BOOL), false, NULL, NULL, NULL, not_u64, elem_not},
    {&tn_op_bitwise_not, TN_SET_INT, false, NULL, NULL, bitwise_not_i64, bitwise_not_u64, NULL},
    FLOAT_LIST(FLOAT_ROW)
};

// By address: descriptors know nothing of the table.
static const unary *find(const tn_op *op)
{
    for (size_t i = 0; i < TN_COUNT(table); i++) {
        if (table[i].op == op) {
            return &table[i];
        }
    }
    return NULL;
}

// ---- infer ----

// x: any shape -> the same shape, of x's type or bool.
static tn_status infer_unary(tn_infer *infer)
{
    const unary *row = find(infer->op);
    TN_TRY(tn_infer_type(infer, 0, row->set));
    const tn_fact *x = infer->in[0];
    tn_infer_out(infer, 0, row->to_bool ? TN_BOOL : x->dtype, &x->shape);
    if (!row->elem || !tn_infer_tells(infer, 0)) {
        return TN_OK;
    }
    const int64_t count = tn_fact_count(x);
    int64_t *elems = tn_infer_elems(infer, 0, count);
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        const int64_t v = tn_fact_elem(x, i);
        elems[i] = tn_dim_known(v) ? row->elem(v) : TN_DIM_UNKNOWN;
    }
    return TN_OK;
}

// ---- loop forms ----

#define LOOP(NAME, CODE)                                                                                                        \
    static bool loop_##NAME(const void *attr, struct tn_loop_build *build, const int *args, int n_args, int *result)            \
    {                                                                                                                           \
        (void)attr;                                                                                                             \
        (void)n_args;                                                                                                           \
        *result = tn_loop_add(build, CODE, args[0], 0, 0, 0, 0);                                                                \
        return !build->full;                                                                                                    \
    }
LOOP(neg, TN_LOOP_NEG)
LOOP(abs, TN_LOOP_ABS)
LOOP(sqrt, TN_LOOP_SQRT)
LOOP(exp, TN_LOOP_EXP)
LOOP(log, TN_LOOP_LOG)
LOOP(floor, TN_LOOP_FLOOR)
LOOP(ceil, TN_LOOP_CEIL)
LOOP(round, TN_LOOP_ROUND)
LOOP(reciprocal, TN_LOOP_RECIP)
LOOP(erf, TN_LOOP_ERF)

// ---- descriptors ----

#define UNARY(NAME, FLAGS, ...)                                                                      \
    const tn_op tn_op_##NAME = {                                                                     \
        .name = #NAME, .version = 1, .flags = TN_OP_ELEMENTWISE | (FLAGS), .min_in = 1, .max_in = 1, \
        .min_out = 1, .max_out = 1, .infer = infer_unary, __VA_ARGS__                                \
    }
#define UNARY_LOOP(NAME) UNARY(NAME, TN_OP_INPLACE, .loop = loop_##NAME)
#define UNARY_PLAIN(NAME) UNARY(NAME, TN_OP_INPLACE, .loop = NULL)

UNARY_LOOP(neg);
UNARY_LOOP(abs);
UNARY_LOOP(sqrt);
UNARY_LOOP(exp);
UNARY_LOOP(log);
UNARY_LOOP(floor);
UNARY_LOOP(ceil);
UNARY_LOOP(round);
UNARY_LOOP(reciprocal);
UNARY_LOOP(erf);
UNARY_PLAIN(sign);
UNARY_PLAIN(sin);
UNARY_PLAIN(cos);
UNARY_PLAIN(tan);
UNARY_PLAIN(asin);
UNARY_PLAIN(acos);
UNARY_PLAIN(atan);
UNARY_PLAIN(sinh);
UNARY_PLAIN(cosh);
UNARY_PLAIN(asinh);
UNARY_PLAIN(acosh);
UNARY_PLAIN(atanh);
UNARY_PLAIN(not);
UNARY_PLAIN(bitwise_not);
UNARY(is_nan, 0, .loop = NULL);
UNARY(is_inf, 0, .attrs = is_inf_attrs, .n_attrs = TN_COUNT(is_inf_attrs), .attr_size = sizeof(tn_is_inf_attr),
      .defaults = &is_inf_defaults);

// ---- reference ----

// x and result: any shape, the same.
static tn_status run_unary(const tn_call *call)
{
    const unary *row = find(call->op);
    const tn_tensor *x = call->in[0];
    tn_tensor *y = call->out[0];
    const tn_lane lane = tn_lane_of(x->dtype);
    const int64_t count = tn_tensor_count(x);
    tn_lanes block;
    for (int64_t at = 0; at < count; at += TN_LANES) {
        const int n = (int)TN_MIN(count - at, TN_LANES);
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        tn_lanes_load(&block, lane, x->dtype, x->data, at, 1, n);
        switch (lane) {
        case TN_LANE_F32: row->f32(block.f32, n, call->attr); break;
        case TN_LANE_F64: row->f64(block.f64, n, call->attr); break;
        case TN_LANE_I64: row->i64(block.i64, n); break;
        case TN_LANE_U64: row->u64(block.u64, n); break;
        }
        tn_lanes_store(&block, lane, y->dtype, y->data, at, n);
    }
    return TN_OK;
}

// Types that infer lets through but that have no body are refused here.
static bool match_unary(const tn_query *query, const char **why)
{
    *why = "type of operand 0";
    return find(query->op)->set >> query->in[0]->dtype & 1;
}

// ---- export ----

#define OP_LIST(X) FLOAT_LIST(X) X(neg) X(abs) X(sign) X(not) X(bitwise_not) X(is_nan) X(is_inf)
#define ROW(NAME) TN_REFERENCE(NAME, match_unary, run_unary),
#define OP(NAME) &tn_op_##NAME,

static const tn_kernel rows[] = {OP_LIST(ROW)};
static const tn_op *const ops[] = {OP_LIST(OP)};

TN_EXPORT_OPS(op_unary, ops);
TN_EXPORT_KERNELS(op_unary, rows);
