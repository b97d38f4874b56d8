// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of two operands with broadcasting, and the variadic ones, which fold their operands from the left. One table
// says what each operator takes and how it computes in each arithmetic type.
// Integers wrap in two's complement; a division by an integer zero is an error of the run. float16 and bfloat16 compute in float32.
// Ownership: const data. Threads: any.
#include "ops/math/op_binary.h"

#include "base/num.h"
#include "loop/loop.h"
#include "ops/walk/lanes.h"
#include "ops/op_facts.h"
#include "ops/walk/walk.h"

#include <math.h>
#include <stddef.h>

// ---- attributes ----

static const tn_attr mod_attrs[] = {{"fmod", TN_ATTR_BOOL, offsetof(tn_mod_attr, fmod), NULL}};
static const tn_attr bit_shift_attrs[] = {{"left", TN_ATTR_BOOL, offsetof(tn_bit_shift_attr, left), NULL}};

// ---- bodies: a = f(a, b) over a block of n lanes ----

typedef struct context {
    const void *attr;
    int bits;              // of the operand's dtype
} context;

#define BODY(NAME, SUFFIX, TYPE, EXPRESSION)                                            \
    static void NAME##_##SUFFIX(TYPE *a, const TYPE *b, int n, const context *c)        \
    {                                                                                   \
        (void)c;                                                                        \
        for (int i = 0; i < n; i++) {                                                   \
            const TYPE x = a[i], y = b[i];                                              \
            a[i] = (EXPRESSION);                                                        \
        }                                                                               \
    }
#define FLOATS(NAME, EXPRESSION) BODY(NAME, f32, float, EXPRESSION) BODY(NAME, f64, double, EXPRESSION)
#define INTEGERS(NAME, EXPRESSION) BODY(NAME, i64, int64_t, EXPRESSION) BODY(NAME, u64, uint64_t, EXPRESSION)
#define NUMBERS(NAME, EXPRESSION) FLOATS(NAME, EXPRESSION) INTEGERS(NAME, EXPRESSION)

// Wrapping arithmetic is done on unsigned numbers, where it is defined.
#define WRAPPING(NAME, OPERATOR)                                                                \
    FLOATS(NAME, x OPERATOR y)                                                                  \
    BODY(NAME, i64, int64_t, (int64_t)((uint64_t)x OPERATOR (uint64_t)y))                       \
    BODY(NAME, u64, uint64_t, x OPERATOR y)

// Toward zero; the one quotient that does not fit wraps to itself. y is not 0: run checks.
static int64_t quotient(int64_t x, int64_t y) { return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y; }
// The remainder has the sign of the dividend (truncated) or of the divisor. x % -1 traps for the lowest number.
static int64_t remainder_of(int64_t x, int64_t y, bool truncate)
{
    if (y == -1) {
        return 0;
    }
    const int64_t r = x % y;
    return !truncate && r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

static bool is_fmod(const context *c) { return ((const tn_mod_attr *)c->attr)->fmod; }

// ONNX Mod 28: the special cases of a floored remainder are those of IEEE fmod moved to the divisor's sign.
static double floored(double r, double y)
{
    if (r == 0) {
        return copysign(0, y);
    }
    return (r < 0) != (y < 0) ? r + y : r;
}
// In float, so that the sum is rounded as the operands' type rounds.
static float floored_f(float r, float y)
{
    if (r == 0) {
        return copysignf(0, y);
    }
    return (r < 0) != (y < 0) ? r + y : r;
}

// x to the power y by squaring, wrapping. A negative exponent gives the reciprocal toward zero; that of 0 is taken as 0.
static uint64_t power(uint64_t x, uint64_t y)
{
    uint64_t result = 1;
    for (; y != 0; y >>= 1, x *= x) {
        result *= y & 1 ? x : 1;
    }
    return result;
}
// Products wrap like those of unsigned numbers.
static int64_t power_signed(int64_t x, int64_t y)
{
    if (y < 0) {
        return x == 1 ? 1 : x == -1 ? (y % 2 == 0 ? 1 : -1) : 0;
    }
    return (int64_t)power((uint64_t)x, (uint64_t)y);
}

// ONNX BitShift 28: an amount outside 0 .. bits-1 shifts everything out; a right shift fills with the sign.
static int64_t shift_signed(int64_t x, int64_t y, const context *c)
{
    const bool left = ((const tn_bit_shift_attr *)c->attr)->left;
    if (y < 0 || y >= c->bits) {
        return left || x >= 0 ? 0 : -1;
    }
    return left ? (int64_t)((uint64_t)x << y) : x >> y;
}
static uint64_t shift_unsigned(uint64_t x, uint64_t y, const context *c)
{
    const bool left = ((const tn_bit_shift_attr *)c->attr)->left;
    if (y >= (uint64_t)c->bits) {
        return 0;
    }
    return left ? x << y : x >> y;
}

// NaN if either is NaN; of the zeros, -0 is the smaller one (as in the loop program).
static double least(double x, double y)
{
    if (isnan(x) || isnan(y)) {
        return x + y;
    }
    return x < y || (x == y && signbit(x)) ? x : y;
}

WRAPPING(add, +)
WRAPPING(sub, -)
WRAPPING(mul, *)
FLOATS(div, x / y)
BODY(div, i64, int64_t, quotient(x, y))
BODY(div, u64, uint64_t, x / y)
BODY(mod, f32, float, is_fmod(c) ? fmodf(x, y) : floored_f(fmodf(x, y), y))
BODY(mod, f64, double, is_fmod(c) ? fmod(x, y) : floored(fmod(x, y), y))
BODY(mod, i64, int64_t, remainder_of(x, y, is_fmod(c)))
BODY(mod, u64, uint64_t, x % y)
BODY(pow, f32, float, (float)pow(x, y))
BODY(pow, f64, double, pow(x, y))
BODY(pow, i64, int64_t, power_signed(x, y))
BODY(pow, u64, uint64_t, power(x, y))
BODY(and, u64, uint64_t, x & y)
BODY(or, u64, uint64_t, x | y)
BODY(xor, u64, uint64_t, x ^ y)
INTEGERS(bitwise_and, x & y)
INTEGERS(bitwise_or, x | y)
INTEGERS(bitwise_xor, x ^ y)
BODY(bit_shift, i64, int64_t, shift_signed(x, y, c))
BODY(bit_shift, u64, uint64_t, shift_unsigned(x, y, c))
NUMBERS(equal, x == y)
NUMBERS(greater, x > y)
NUMBERS(less, x < y)
NUMBERS(greater_or_equal, x >= y)
NUMBERS(less_or_equal, x <= y)
BODY(max, f32, float, (float)-least(-x, -y))
BODY(max, f64, double, -least(-x, -y))
BODY(min, f32, float, (float)least(x, y))
BODY(min, f64, double, least(x, y))
INTEGERS(max, x > y ? x : y)
INTEGERS(min, x < y ? x : y)

// ---- what is known of an element when the operands' elements are known, symbolic or unknown ----
//
// Shape arithmetic of exported models: floor-free halves (dim / 2), paddings (dim + 2), the larger of two dims, -1 replaced where a
// comparison says so. Rules that hold for every number a symbol may stand for keep the symbol; others give TN_DIM_UNKNOWN, and
// the plan, which knows the numbers, asks again.

#define KNOWN(a, b) (tn_dim_known(a) && tn_dim_known(b))

// Same symbol on both sides.
static bool same_symbol(int64_t a, int64_t b) { return a == b && a != TN_DIM_UNKNOWN; }

// 0 is neutral, so a symbol passes through; anything else needs both numbers.
static int64_t elem_add(int64_t a, int64_t b)
{
    int64_t v = TN_DIM_UNKNOWN;
    if (a == 0 || b == 0) {
        return a == 0 ? b : a;
    }
    return KNOWN(a, b) && tn_add_i64(a, b, &v) ? v : TN_DIM_UNKNOWN;
}
// A symbol minus itself is 0 whatever it stands for.
static int64_t elem_sub(int64_t a, int64_t b)
{
    int64_t v = TN_DIM_UNKNOWN;
    if (b == 0) {
        return a;
    }
    if (same_symbol(a, b)) {
        return 0;
    }
    return KNOWN(a, b) && tn_sub_i64(a, b, &v) ? v : TN_DIM_UNKNOWN;
}
// 1 is neutral and 0 absorbs even what is not known.
static int64_t elem_mul(int64_t a, int64_t b)
{
    int64_t v = TN_DIM_UNKNOWN;
    if (a == 0 || b == 0) {
        return 0;
    }
    if (a == 1 || b == 1) {
        return a == 1 ? b : a;
    }
    return KNOWN(a, b) && tn_mul_i64(a, b, &v) ? v : TN_DIM_UNKNOWN;
}
// A division by zero is left unknown: the run reports it.
static int64_t elem_div(int64_t a, int64_t b)
{
    if (b == 1) {
        return a;
    }
    return KNOWN(a, b) && b != 0 ? quotient(a, b) : TN_DIM_UNKNOWN;
}
// A symbol stands for a dim, so it is not negative.
static int64_t elem_max(int64_t a, int64_t b)
{
    if (KNOWN(a, b)) {
        return TN_MAX(a, b);
    }
    if (same_symbol(a, b) || (tn_dim_known(b) && b <= 0 && a != TN_DIM_UNKNOWN)) {
        return a;
    }
    return tn_dim_known(a) && a <= 0 && b != TN_DIM_UNKNOWN ? b : TN_DIM_UNKNOWN;
}
static int64_t elem_min(int64_t a, int64_t b)
{
    if (KNOWN(a, b)) {
        return TN_MIN(a, b);
    }
    if (same_symbol(a, b) || (tn_dim_known(a) && a <= 0 && b != TN_DIM_UNKNOWN)) {
        return a;
    }
    return tn_dim_known(b) && b <= 0 && a != TN_DIM_UNKNOWN ? b : TN_DIM_UNKNOWN;
}
// A symbol is never a negative number; -1 in a wanted shape is compared with dims this way.
static int64_t elem_equal(int64_t a, int64_t b)
{
    if (KNOWN(a, b)) {
        return a == b;
    }
    if (same_symbol(a, b)) {
        return 1;
    }
    const int64_t known = tn_dim_known(a) ? a : b, other = tn_dim_known(a) ? b : a;
    return tn_dim_known(known) && known < 0 && other != TN_DIM_UNKNOWN ? 0 : TN_DIM_UNKNOWN;
}
static int64_t elem_less(int64_t a, int64_t b) { return KNOWN(a, b) ? a < b : TN_DIM_UNKNOWN; }
static int64_t elem_greater(int64_t a, int64_t b) { return elem_less(b, a); }
// One known side can decide.
static int64_t elem_and(int64_t a, int64_t b) { return a == 0 || b == 0 ? 0 : KNOWN(a, b) ? 1 : TN_DIM_UNKNOWN; }
static int64_t elem_or(int64_t a, int64_t b)
{
    if ((tn_dim_known(a) && a != 0) || (tn_dim_known(b) && b != 0)) {
        return 1;
    }
    return KNOWN(a, b) ? 0 : TN_DIM_UNKNOWN;
}

// ---- the table ----
//
// A body is NULL where `set` has no type of that arithmetic. Comparisons leave 1 or 0 in the lane, which becomes a bool when stored.

typedef struct binary {
    const tn_op *op;
    uint32_t set;                   // dtypes of the operands
    bool to_bool;                   // the result is bool
    bool divides;                   // integer operands after the first must not be 0
    void (*f32)(float *a, const float *b, int n, const context *c);
    void (*f64)(double *a, const double *b, int n, const context *c);
    void (*i64)(int64_t *a, const int64_t *b, int n, const context *c);
    void (*u64)(uint64_t *a, const uint64_t *b, int n, const context *c);
    int64_t (*elem)(int64_t a, int64_t b);
} binary;

#define ALL(NAME) NAME##_f32, NAME##_f64, NAME##_i64, NAME##_u64

static const binary table[] = {
    {&tn_op_add, TN_SET_NUMBER, false, false, ALL(add), elem_add},
    {&tn_op_sub, TN_SET_NUMBER, false, false, ALL(sub), elem_sub},
    {&tn_op_mul, TN_SET_NUMBER, false, false, ALL(mul), elem_mul},
    {&tn_op_div, TN_SET_NUMBER, false, true, ALL(div), elem_div},
    {&tn_op_mod, TN_SET_NUMBER, false, true, ALL(mod), NULL},
    {&tn_op_pow, TN_SET_NUMBER, false, false, ALL(pow), NULL},
    {&tn_op_and, TN_BIT(BOOL), false, false, NULL, NULL, NULL, and_u64, elem_and},
    {&tn_op_or, TN_BIT(BOOL), false, false, NULL, NULL, NULL, or_u64, elem_or},
    {&tn_op_xor, TN_BIT(BOOL), false, false, NULL, NULL, NULL, xor_u64, NULL},
    {&tn_op_bitwise_and, TN_SET_INT, false, false, NULL, NULL, bitwise_and_i64, bitwise_and_u64, NULL},
    {&tn_op_bitwise_or, TN_SET_INT, false, false, NULL, NULL, bitwise_or_i64, bitwise_or_u64, NULL},
    {&tn_op_bitwise_xor, TN_SET_INT, false, false, NULL, NULL, bitwise_xor_i64, bitwise_xor_u64, NULL},
    {&tn_op_bit_shift, TN_SET_INT, false, false, NULL, NULL, bit_shift_i64, bit_shift_u64, NULL},
    {&tn_op_equal, TN_SET_NUMBER | TN_BIT(BOOL) | TN_BIT(STRING), true, false, ALL(equal), elem_equal},
    {&tn_op_greater, TN_SET_NUMBER, true, false, ALL(greater), elem_greater},
    {&tn_op_less, TN_SET_NUMBER, true, false, ALL(less), elem_less},
    {&tn_op_greater_or_equal, TN_SET_NUMBER, true, false, ALL(greater_or_equal), NULL},
    {&tn_op_less_or_equal, TN_SET_NUMBER, true, false, ALL(less_or_equal), NULL},
    {&tn_op_max, TN_SET_NUMBER, false, false, ALL(max), elem_max},
    {&tn_op_min, TN_SET_NUMBER, false, false, ALL(min), elem_min},
    {&tn_op_sum, TN_SET_FLOAT, false, false, add_f32, add_f64, NULL, NULL, NULL},
    {&tn_op_mean, TN_SET_FLOAT, false, false, add_f32, add_f64, NULL, NULL, NULL},
};

// Descriptors know nothing of the table: rows are found by the operator's address.
static const binary *find(const tn_op *op)
{
    for (size_t i = 0; i < TN_COUNT(table); i++) {
        if (table[i].op == op) {
            return &table[i];
        }
    }
    return NULL;
}

// ---- infer ----

// Elements of a small integer result, folded from the left like the result itself.
static tn_status infer_elems(tn_infer *infer, const binary *row)
{
    const tn_fact *out = &infer->out[0];
    const tn_shape *of[TN_MAX_IN];
    for (int k = 0; k < infer->n_in; k++) {
        if (!tn_infer_tells(infer, k)) {
            return TN_OK;
        }
        of[k] = &infer->in[k]->shape;
    }
    tn_walk walk;
    bool more = tn_walk_init(&walk, &out->shape, infer->n_in, of);
    int64_t *elems = tn_infer_elems(infer, 0, tn_fact_count(out));
    if (!elems) {
        return TN_OUT_OF_MEMORY;
    }
    for (; more; more = tn_walk_next(&walk)) {
        for (int64_t i = 0; i < walk.row; i++) {
            int64_t v = tn_fact_elem(infer->in[0], walk.offsets[0] + i * walk.steps[0]);
            for (int k = 1; k < infer->n_in; k++) {
                v = row->elem(v, tn_fact_elem(infer->in[k], walk.offsets[k] + i * walk.steps[k]));
            }
            const bool fits = out->dtype != TN_I32 || !tn_dim_known(v) || (v >= INT32_MIN && v <= INT32_MAX);
            *elems++ = fits ? v : TN_DIM_UNKNOWN;
        }
    }
    return TN_OK;
}

// Operands: shapes that broadcast, one type. Result: the broadcast shape, of that type or bool.
static tn_status infer_binary(tn_infer *infer)
{
    const binary *row = find(infer->op);
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, infer->n_in - 1, row->set, &dtype));
    tn_shape shape;
    TN_TRY(tn_infer_broadcast(infer, 0, infer->n_in - 1, &shape));
    tn_infer_out(infer, 0, row->to_bool ? TN_BOOL : dtype, &shape);
    return row->elem ? infer_elems(infer, row) : TN_OK;
}

// The base has the result's type; the exponent may be of any other.
static tn_status infer_pow(tn_infer *infer)
{
    TN_TRY(tn_infer_type(infer, 0, TN_SET_FLOAT | TN_SET_INDEX));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_NUMBER));
    tn_shape shape;
    TN_TRY(tn_infer_broadcast(infer, 0, 1, &shape));
    tn_infer_out(infer, 0, infer->in[0]->dtype, &shape);
    return TN_OK;
}

// ---- loop forms ----

// a, b, c, ... -> ((a f b) f c) f ...; one operand alone is no instruction.
static bool loop_fold(tn_loop_build *build, tn_loop_code code, const int *args, int n_args, int *result)
{
    *result = args[0];
    for (int k = 1; k < n_args; k++) {
        *result = tn_loop_add(build, code, *result, args[k], 0, 0, 0);
    }
    return n_args > 1 && !build->full;
}

#define LOOP(NAME, CODE)                                                                                                        \
    static bool loop_##NAME(const void *attr, struct tn_loop_build *build, const int *args, int n_args, int *result)            \
    {                                                                                                                           \
        (void)attr;                                                                                                             \
        return loop_fold(build, CODE, args, n_args, result);                                                                    \
    }
LOOP(add, TN_LOOP_ADD)
LOOP(sub, TN_LOOP_SUB)
LOOP(mul, TN_LOOP_MUL)
LOOP(div, TN_LOOP_DIV)
LOOP(pow, TN_LOOP_POW)
LOOP(max, TN_LOOP_MAX)
LOOP(min, TN_LOOP_MIN)

// The sum divided by the count: a product with the reciprocal would round twice.
static bool loop_mean(const void *attr, struct tn_loop_build *build, const int *args, int n_args, int *result)
{
    (void)attr;
    if (!loop_fold(build, TN_LOOP_ADD, args, n_args, result)) {
        return false;
    }
    const int count = tn_loop_add(build, TN_LOOP_CONST, 0, 0, 0, (float)n_args, 0);
    *result = tn_loop_add(build, TN_LOOP_DIV, *result, count, 0, 0, 0);
    return !build->full;
}

// ---- descriptors ----

#define BINARY(NAME, FLAGS, MIN, MAX, INFER, ...)                                                          \
    const tn_op tn_op_##NAME = {                                                                           \
        .name = #NAME, .version = 1, .flags = TN_OP_ELEMENTWISE | (FLAGS), .min_in = MIN, .max_in = MAX,   \
        .min_out = 1, .max_out = 1, .infer = INFER, __VA_ARGS__                                            \
    }
#define BINARY_LOOP(NAME) BINARY(NAME, TN_OP_INPLACE_ANY, 2, 2, infer_binary, .loop = loop_##NAME)
#define BINARY_PLAIN(NAME) BINARY(NAME, TN_OP_INPLACE_ANY, 2, 2, infer_binary, .loop = NULL)
#define BINARY_BOOL(NAME) BINARY(NAME, 0, 2, 2, infer_binary, .loop = NULL)
#define VARIADIC(NAME, LOOP_FORM) BINARY(NAME, TN_OP_INPLACE_ANY, 1, -1, infer_binary, .loop = LOOP_FORM)

BINARY_LOOP(add);
BINARY_LOOP(sub);
BINARY_LOOP(mul);
BINARY_LOOP(div);
BINARY(pow, TN_OP_INPLACE, 2, 2, infer_pow, .loop = loop_pow);
BINARY(mod, TN_OP_INPLACE_ANY, 2, 2, infer_binary, .attrs = mod_attrs, .n_attrs = TN_COUNT(mod_attrs),
       .attr_size = sizeof(tn_mod_attr));
BINARY(bit_shift, TN_OP_INPLACE_ANY, 2, 2, infer_binary, .attrs = bit_shift_attrs, .n_attrs = TN_COUNT(bit_shift_attrs),
       .attr_size = sizeof(tn_bit_shift_attr));
BINARY_PLAIN(and);
BINARY_PLAIN(or);
BINARY_PLAIN(xor);
BINARY_PLAIN(bitwise_and);
BINARY_PLAIN(bitwise_or);
BINARY_PLAIN(bitwise_xor);
BINARY_BOOL(equal);
BINARY_BOOL(greater);
BINARY_BOOL(less);
BINARY_BOOL(greater_or_equal);
BINARY_BOOL(less_or_equal);
VARIADIC(max, loop_max);
VARIADIC(min, loop_min);
VARIADIC(sum, loop_add);
VARIADIC(mean, loop_mean);

// ---- reference ----

// Integer division by zero would trap: it is found in the block before the division.
static tn_status check_divisors(const tn_call *call, int k, tn_lane lane, const tn_lanes *v, int n)
{
    if (lane == TN_LANE_F32 || lane == TN_LANE_F64) {
        return TN_OK;
    }
    for (int i = 0; i < n; i++) {
        if (v->u64[i] == 0) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: operand %d holds a zero: integer division by zero",
                           call->op->name, k);
        }
    }
    return TN_OK;
}

// The types of operands were checked by infer, so the row has a body for the lane.
static void apply(const binary *row, tn_lane lane, tn_lanes *a, const tn_lanes *b, int n, const context *c)
{
    switch (lane) {
    case TN_LANE_F32: row->f32(a->f32, b->f32, n, c); break;
    case TN_LANE_F64: row->f64(a->f64, b->f64, n, c); break;
    case TN_LANE_I64: row->i64(a->i64, b->i64, n, c); break;
    case TN_LANE_U64: row->u64(a->u64, b->u64, n, c); break;
    }
}

// mean divides its sum.
static void scale(tn_lane lane, tn_lanes *v, int n, int count)
{
    for (int i = 0; i < n; i++) {
        if (lane == TN_LANE_F64) {
            v->f64[i] /= count;
        } else {
            v->f32[i] /= (float)count;
        }
    }
}

// Arithmetic type: that of the operands. pow of different types computes in float64 if either is a float.
static tn_lane lane_of_call(const tn_call *call)
{
    const tn_lane lane = tn_lane_of(call->in[0]->dtype);
    if (call->op != &tn_op_pow) {
        return lane;
    }
    const tn_dtype x = call->in[0]->dtype, y = call->in[1]->dtype;
    if (tn_dtype_is_float(x) && tn_lane_of(y) == lane) {
        return lane;
    }
    return tn_dtype_is_float(x) || tn_dtype_is_float(y) ? TN_LANE_F64 : TN_LANE_I64;
}

// One block of n <= TN_LANES results at element `at` of the walk's current row; they begin at `first` of the result.
static tn_status run_block(const tn_call *call, const binary *row, tn_lane lane, const tn_walk *walk, int64_t at, int64_t first, int n)
{
    const context c = {call->attr, 8 * (int)tn_dtype_bytes(call->in[0]->dtype)};
    tn_lanes a, b;
    tn_lanes_load(&a, lane, call->in[0]->dtype, call->in[0]->data, walk->offsets[0] + at * walk->steps[0], walk->steps[0], n);
    for (int k = 1; k < call->n_in; k++) {
        const tn_tensor *operand = call->in[k];
        tn_lanes_load(&b, lane, operand->dtype, operand->data, walk->offsets[k] + at * walk->steps[k], walk->steps[k], n);
        if (row->divides) {
            TN_TRY(check_divisors(call, k, lane, &b, n));
        }
        apply(row, lane, &a, &b, n, &c);
    }
    if (call->op == &tn_op_mean) {
        scale(lane, &a, n, call->n_in);
    }
    const tn_dtype to = call->out[0]->dtype;
    if ((lane == TN_LANE_F32 || lane == TN_LANE_F64) && tn_dtype_is_int(to)) {
        lane = tn_lanes_to_int(&a, lane, to, n);
    }
    tn_lanes_store(&a, lane, to, call->out[0]->data, first, n);
    return TN_OK;
}

// Operands: shapes that broadcast to that of the result.
static tn_status run_binary(const tn_call *call)
{
    const binary *row = find(call->op);
    const tn_lane lane = lane_of_call(call);
    const tn_shape *of[TN_MAX_IN];
    for (int k = 0; k < call->n_in; k++) {
        of[k] = &call->in[k]->shape;
    }
    tn_walk walk;
    int64_t first = 0;
    for (bool more = tn_walk_init(&walk, &call->out[0]->shape, call->n_in, of); more; more = tn_walk_next(&walk)) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t at = 0; at < walk.row; at += TN_LANES) {
            const int n = (int)TN_MIN(walk.row - at, TN_LANES);
            TN_TRY(run_block(call, row, lane, &walk, at, first + at, n));
        }
        first += walk.row;
    }
    return TN_OK;
}

// Strings compare as handles, which says nothing: no row for them here.
static bool match_binary(const tn_query *query, const char **why)
{
    *why = "type of operand 0";
    return find(query->op)->set >> query->in[0]->dtype & 1 && tn_match_numbers(query, why);
}

// ---- export ----

#define OP_LIST(X)                                                                                              \
    X(add) X(sub) X(mul) X(div) X(pow) X(mod) X(and) X(or) X(xor) X(bitwise_and) X(bitwise_or) X(bitwise_xor)    \
    X(bit_shift) X(equal) X(greater) X(less) X(greater_or_equal) X(less_or_equal) X(max) X(min) X(sum) X(mean)
#define ROW(NAME) TN_REFERENCE(NAME, match_binary, run_binary),
#define OP(NAME) &tn_op_##NAME,

static const tn_kernel rows[] = {OP_LIST(ROW)};
static const tn_op *const ops[] = {OP_LIST(OP)};

TN_EXPORT_OPS(op_binary, ops);
TN_EXPORT_KERNELS(op_binary, rows);
