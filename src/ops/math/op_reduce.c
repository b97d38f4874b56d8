// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, arg_max / arg_min, running sums and products.
// A reduction reads its operand once, in memory order, and keeps one accumulator per result: float64 for floats (and for functions
// that need it), 64-bit integers otherwise. Over no elements each gives its identity, as ONNX says.
// Ownership: const data; accumulators are the call's scratch. Threads: any.
#include "ops/math/op_reduce.h"

#include "base/num.h"
#include "ops/walk/lanes.h"
#include "ops/op_facts.h"
#include "ops/walk/walk.h"

#include <math.h>
#include <stddef.h>

// ---- attributes ----

static const tn_attr reduce_attrs[] = {
    {"keepdims", TN_ATTR_BOOL, offsetof(tn_reduce_attr, keepdims), NULL},
    {"noop_with_empty_axes", TN_ATTR_BOOL, offsetof(tn_reduce_attr, noop_with_empty_axes), NULL},
};
static const tn_reduce_attr reduce_defaults = {true, false};

static const tn_attr arg_attrs[] = {
    {"axis", TN_ATTR_INT, offsetof(tn_arg_attr, axis), NULL},
    {"keepdims", TN_ATTR_BOOL, offsetof(tn_arg_attr, keepdims), NULL},
    {"select_last_index", TN_ATTR_BOOL, offsetof(tn_arg_attr, select_last_index), NULL},
};
static const tn_arg_attr arg_defaults = {0, true, false};

static const tn_attr cum_attrs[] = {
    {"exclusive", TN_ATTR_BOOL, offsetof(tn_cum_attr, exclusive), NULL},
    {"reverse", TN_ATTR_BOOL, offsetof(tn_cum_attr, reverse), NULL},
};

// ---- infer ----

// Marks the reduced axes of an operand of a known rank. false: they are not known.
static tn_status reduced_axes(const tn_infer *infer, int rank, bool *known, uint32_t *mask)
{
    const tn_reduce_attr *attr = infer->attr;
    int64_t axes[TN_MAX_RANK];
    int count = 0;
    *known = true;
    if (tn_infer_in(infer, 1)) {
        TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
        TN_TRY(tn_infer_ints(infer, 1, TN_MAX_RANK, axes, &count));
        *known = count >= 0;
    }
    if (count <= 0) {
        *mask = attr->noop_with_empty_axes ? 0 : (UINT32_C(1) << rank) - 1;
        return TN_OK;
    }
    return tn_infer_axes(infer, axes, count, rank, mask, NULL);
}

// x: any shape, axes [n]? -> the dims that are not reduced, and ones with keepdims. Without known axes keepdims still tells the
// rank.
static tn_status infer_reduced(tn_infer *infer, uint32_t set)
{
    const tn_reduce_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, set));
    const tn_fact *x = infer->in[0];
    tn_shape shape = tn_shape_unknown();
    if (x->shape.rank >= 0) {
        bool known;
        uint32_t mask;
        TN_TRY(reduced_axes(infer, x->shape.rank, &known, &mask));
        if (known || attr->keepdims) {
            shape.rank = 0;
        }
        for (int d = 0; d < x->shape.rank && shape.rank >= 0; d++) {
            const bool reduced = mask >> d & 1;
            if (!known) {
                shape.dims[shape.rank++] = x->shape.dims[d] == 1 ? 1 : TN_DIM_UNKNOWN;
            } else if (!reduced) {
                shape.dims[shape.rank++] = x->shape.dims[d];
            } else if (attr->keepdims) {
                shape.dims[shape.rank++] = 1;
            }
        }
    }
    tn_infer_out(infer, 0, x->dtype, &shape);
    return TN_OK;
}

static tn_status infer_reduce(tn_infer *infer) { return infer_reduced(infer, TN_SET_NUMBER); }
static tn_status infer_reduce_order(tn_infer *infer) { return infer_reduced(infer, TN_SET_NUMBER | TN_BIT(BOOL)); }

// x [outer, length, inner] -> int64 [outer, (1,) inner]. A scalar counts as a list of one; an empty axis has no answer.
static tn_status infer_arg(tn_infer *infer)
{
    const tn_arg_attr *attr = infer->attr;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_NUMBER));
    tn_shape shape = infer->in[0]->shape;
    if (shape.rank >= 0) {
        int axis = 0;
        if (shape.rank > 0 || attr->axis < -1 || attr->axis > 0) {
            TN_TRY(tn_infer_axis(infer, "axis", attr->axis, shape.rank, &axis));
        }
        if (shape.rank > 0 && shape.dims[axis] == 0) {
            return tn_infer_fail(infer, "axis %lld has no elements to choose from", (long long)attr->axis);
        }
        if (shape.rank > 0 && attr->keepdims) {
            shape.dims[axis] = 1;
        } else if (shape.rank > 0) {
            shape.rank--;
            for (int d = axis; d < shape.rank; d++) {
                shape.dims[d] = shape.dims[d + 1];
            }
            shape.dims[shape.rank] = 0;
        }
    }
    tn_infer_out(infer, 0, TN_I64, &shape);
    return TN_OK;
}

// x: any shape, axis: one element -> the same shape. The axis may be data: it is checked again when it is read.
static tn_status infer_cum(tn_infer *infer)
{
    int64_t axis;
    int resolved;
    bool known;
    TN_TRY(tn_infer_type(infer, 0, TN_SET_NUMBER));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_INDEX));
    TN_TRY(tn_infer_int(infer, 1, &axis, &known));
    const tn_fact *x = infer->in[0];
    if (known && x->shape.rank >= 0) {
        TN_TRY(tn_infer_axis(infer, "axis", axis, x->shape.rank, &resolved));
    }
    tn_infer_out(infer, 0, x->dtype, &x->shape);
    return TN_OK;
}

// A reduction costs its operand, not its result.
static int64_t macs_operand(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr;
    (void)n_in;
    (void)out;
    (void)n_out;
    return TN_MAX(tn_fact_count(in[0]), 0);
}

// ---- descriptors ----

#define REDUCE(NAME, INFER)                                                                                               \
    const tn_op tn_op_##NAME = {                                                                                          \
        .name = #NAME, .version = 1, .min_in = 1, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = reduce_attrs,          \
        .n_attrs = TN_COUNT(reduce_attrs), .attr_size = sizeof(tn_reduce_attr), .defaults = &reduce_defaults,             \
        .infer = INFER, .macs = macs_operand, .shape_operands = 2                                                         \
    }
#define ARG(NAME)                                                                                                         \
    const tn_op tn_op_##NAME = {                                                                                          \
        .name = #NAME, .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = arg_attrs,             \
        .n_attrs = TN_COUNT(arg_attrs), .attr_size = sizeof(tn_arg_attr), .defaults = &arg_defaults, .infer = infer_arg,  \
        .macs = macs_operand                                                                                              \
    }
#define CUM(NAME)                                                                                                         \
    const tn_op tn_op_##NAME = {                                                                                          \
        .name = #NAME, .version = 1, .min_in = 2, .max_in = 2, .min_out = 1, .max_out = 1, .attrs = cum_attrs,             \
        .n_attrs = TN_COUNT(cum_attrs), .attr_size = sizeof(tn_cum_attr), .infer = infer_cum                              \
    }

REDUCE(reduce_sum, infer_reduce);
REDUCE(reduce_mean, infer_reduce);
REDUCE(reduce_prod, infer_reduce);
REDUCE(reduce_l1, infer_reduce);
REDUCE(reduce_l2, infer_reduce);
REDUCE(reduce_log_sum, infer_reduce);
REDUCE(reduce_log_sum_exp, infer_reduce);
REDUCE(reduce_sum_square, infer_reduce);
REDUCE(reduce_max, infer_reduce_order);
REDUCE(reduce_min, infer_reduce_order);
ARG(arg_max);
ARG(arg_min);
CUM(cum_sum);
CUM(cum_prod);

// ---- reference: reductions ----

// Accumulates n lanes: into acc[0], or lane i into acc[i] (step 1). The float form may look at shift[i * step] (log_sum_exp).
// Floats are summed in float64: float32 sums of a million elements would lose a third of their digits.
#define ACCUMULATE(NAME, SUFFIX, TYPE, EXPRESSION)                                                                        \
    static void NAME##_##SUFFIX(TYPE *acc, const TYPE *v, int64_t step, int n, const double *shift)                       \
    {                                                                                                                     \
        (void)shift;                                                                                                      \
        for (int i = 0; i < n; i++) {                                                                                     \
            const TYPE a = acc[i * step], x = v[i];                                                                       \
            acc[i * step] = (EXPRESSION);                                                                                 \
        }                                                                                                                 \
    }
#define WRAP(EXPRESSION) (int64_t)(EXPRESSION)
#define U(x) ((uint64_t)(x))

ACCUMULATE(sum, f64, double, a + x)
ACCUMULATE(sum, i64, int64_t, WRAP(U(a) + U(x)))
ACCUMULATE(prod, f64, double, a *x)
ACCUMULATE(prod, i64, int64_t, WRAP(U(a) * U(x)))
ACCUMULATE(l1, f64, double, a + fabs(x))
ACCUMULATE(l1, i64, int64_t, WRAP(U(a) + (x < 0 ? 0 - U(x) : U(x))))
ACCUMULATE(square, f64, double, a + x * x)
ACCUMULATE(square, i64, int64_t, WRAP(U(a) + U(x) * U(x)))
ACCUMULATE(max, f64, double, a != a || a > x ? a : x)
ACCUMULATE(max, i64, int64_t, TN_MAX(a, x))
ACCUMULATE(min, f64, double, a != a || a < x ? a : x)
ACCUMULATE(min, i64, int64_t, TN_MIN(a, x))

// e^(x - largest); where the largest is infinite the sum is e^largest itself.
static void exp_f64(double *acc, const double *v, int64_t step, int n, const double *shift)
{
    for (int i = 0; i < n; i++) {
        const double largest = shift[i * step];
        acc[i * step] += isinf(largest) ? (v[i] == largest ? 1 : 0) : exp(v[i] - largest);
    }
}

// Unsigned numbers compare like signed ones once their top bit is turned; only 64-bit ones have it set. So one body for max and one
// for min serve signed and unsigned integers.
static void flip_top(int64_t *v, int n)
{
    for (int i = 0; i < n; i++) {
        v[i] = (int64_t)(U(v[i]) ^ UINT64_C(1) << 63);
    }
}

typedef struct reduction {
    const tn_op *op;
    void (*f64)(double *acc, const double *v, int64_t step, int n, const double *shift);
    void (*i64)(int64_t *acc, const int64_t *v, int64_t step, int n, const double *shift);   // NULL: integers go by way of float64
    double first;                   // identity; infinite: the lowest or highest number of an integer type
    enum { END_NONE, END_MEAN, END_ROOT, END_LOG, END_LOG_SHIFT } end;
} reduction;

static const reduction reductions[] = {
    {&tn_op_reduce_sum, sum_f64, sum_i64, 0, END_NONE},
    {&tn_op_reduce_mean, sum_f64, sum_i64, 0, END_MEAN},
    {&tn_op_reduce_prod, prod_f64, prod_i64, 1, END_NONE},
    {&tn_op_reduce_l1, l1_f64, l1_i64, 0, END_NONE},
    {&tn_op_reduce_l2, square_f64, NULL, 0, END_ROOT},
    {&tn_op_reduce_sum_square, square_f64, square_i64, 0, END_NONE},
    {&tn_op_reduce_log_sum, sum_f64, NULL, 0, END_LOG},
    {&tn_op_reduce_log_sum_exp, exp_f64, NULL, 0, END_LOG_SHIFT},
    {&tn_op_reduce_max, max_f64, max_i64, -INFINITY, END_NONE},
    {&tn_op_reduce_min, min_f64, min_i64, INFINITY, END_NONE},
};

// By address, as everywhere.
static const reduction *find(const tn_op *op)
{
    for (size_t i = 0; i < TN_COUNT(reductions); i++) {
        if (reductions[i].op == op) {
            return &reductions[i];
        }
    }
    return NULL;
}

typedef struct reduce_params {
    int64_t count;         // results
    int64_t reduced;       // elements of each
    tn_shape kept;         // shape of the result with keepdims
    tn_lane lane;          // F64, or I64 (unsigned too)
    bool flipped;          // uint64 with its top bit turned, so that order is that of int64
} reduce_params;

// Which axes the call reduces: those in which operand and keepdims-shape differ. Axes of size 1 do not matter.
static tn_status reduce_geometry(const tn_call *call, reduce_params *p)
{
    const tn_reduce_attr *attr = call->attr;
    const tn_tensor *x = call->in[0], *axes = call->n_in > 1 ? call->in[1] : NULL;
    const int64_t n_axes = axes ? tn_tensor_count(axes) : 0;
    uint32_t mask = n_axes > 0 || attr->noop_with_empty_axes ? 0 : (UINT32_C(1) << x->shape.rank) - 1;
    for (int64_t i = 0; i < n_axes; i++) {
        int axis;
        const int64_t given = tn_dtype_load_i64(axes->dtype, axes->data, (size_t)i);
        if (!tn_axis(given, x->shape.rank, &axis)) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: axis %lld is out of range for rank %d", call->op->name,
                           (long long)given, x->shape.rank);
        }
        mask |= UINT32_C(1) << axis;
    }
    p->kept = x->shape;
    p->reduced = 1;
    for (int d = 0; d < x->shape.rank; d++) {
        if (mask >> d & 1) {
            p->kept.dims[d] = 1;
        }
    }
    p->count = tn_shape_span(&p->kept, 0, p->kept.rank);
    if (p->count != tn_tensor_count(call->out[0])) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: the result has another size than planned", call->op->name);
    }
    p->reduced = p->count > 0 ? tn_tensor_count(x) / p->count : 0;
    const reduction *row = find(call->op);
    p->lane = row->i64 && !tn_dtype_is_float(x->dtype) ? TN_LANE_I64 : TN_LANE_F64;
    p->flipped = p->lane == TN_LANE_I64 && isinf(row->first) && x->dtype == TN_U64;
    return TN_OK;
}

// First value of every accumulator: the identity, or for integers the end of the type's range.
static void start(const reduction *row, const reduce_params *p, tn_dtype dtype, void *acc)
{
    tn_lanes limit = {.f64 = {row->first}};
    int64_t first = (int64_t)(isinf(row->first) ? 0 : row->first);
    if (p->lane == TN_LANE_I64 && isinf(row->first)) {
        const bool low = row->first < 0;
        if (dtype == TN_BOOL) {
            first = low ? 0 : 1;
        } else {
            tn_lanes_to_int(&limit, TN_LANE_F64, dtype, 1);
            first = limit.i64[0];
        }
        if (p->flipped) {
            flip_top(&first, 1);
        }
    }
    for (int64_t i = 0; i < p->count; i++) {
        if (p->lane == TN_LANE_I64) {
            ((int64_t *)acc)[i] = first;
        } else {
            ((double *)acc)[i] = row->first;
        }
    }
}

// One pass over the operand in memory order. Whether the innermost axis is reduced or not only decides where the lanes of a row go:
//
//   x [2, 3], axis 1:  a b c | d e f   ->  acc[0] = a + b + c,  acc[1] = d + e + f             step 0 inside a row
//   x [2, 3], axis 0:  a b c | d e f   ->  acc[0] = a + d,  acc[1] = b + e,  acc[2] = c + f    step 1
static tn_status accumulate(const tn_call *call, const reduction *row, const reduce_params *p, void *acc, const double *shift)
{
    const tn_tensor *x = call->in[0];
    const tn_shape *of[2] = {&x->shape, &p->kept};
    tn_walk walk;
    tn_lanes v;
    for (bool more = tn_walk_init(&walk, &x->shape, 2, of); more; more = tn_walk_next(&walk)) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t at = 0; at < walk.row; at += TN_LANES) {
            const int n = (int)TN_MIN(walk.row - at, TN_LANES);
            const int64_t step = walk.steps[1], to = walk.offsets[1] + at * step;
            tn_lanes_load(&v, p->lane, x->dtype, x->data, walk.offsets[0] + at * walk.steps[0], walk.steps[0], n);
            if (p->flipped) {
                flip_top(v.i64, n);
            }
            if (p->lane == TN_LANE_I64) {
                row->i64((int64_t *)acc + to, v.i64, step, n, NULL);
            } else {
                row->f64((double *)acc + to, v.f64, step, n, shift ? shift + to : NULL);
            }
        }
    }
    return TN_OK;
}

// The step from accumulator to result. An empty log_sum_exp has sum 0 and gives minus infinity.
static double finish_one(const reduction *row, double v, int64_t reduced, const double *shift)
{
    switch (row->end) {
    case END_MEAN: return v / (double)reduced;
    case END_ROOT: return sqrt(v);
    case END_LOG: return log(v);
    case END_LOG_SHIFT: return v > 0 ? log(v) + *shift : v == 0 ? -INFINITY : v;
    case END_NONE: break;
    }
    return v;
}

// Accumulators to elements of the result.
static void finish(const tn_call *call, const reduction *row, const reduce_params *p, const void *acc, const double *shift)
{
    const tn_tensor *y = call->out[0];
    const bool to_int = !tn_dtype_is_float(y->dtype);
    tn_lanes v;
    for (int64_t at = 0; at < p->count; at += TN_LANES) {
        const int n = (int)TN_MIN(p->count - at, TN_LANES);
        tn_lane lane = p->lane;
        for (int i = 0; i < n && lane == TN_LANE_F64; i++) {
            v.f64[i] = finish_one(row, ((const double *)acc)[at + i], p->reduced, shift ? shift + at + i : NULL);
        }
        for (int i = 0; i < n && lane == TN_LANE_I64; i++) {
            const int64_t sum = ((const int64_t *)acc)[at + i];
            v.i64[i] = sum;
            if (row->end == END_MEAN && p->reduced > 0) {
                v.i64[i] = y->dtype == TN_U64 ? WRAP(U(sum) / U(p->reduced)) : sum / p->reduced;
            }
        }
        if (p->flipped) {
            flip_top(v.i64, n);
        }
        if (to_int && lane == TN_LANE_F64) {
            lane = tn_lanes_to_int(&v, lane, y->dtype, n);
        }
        tn_lanes_store(&v, lane, y->dtype, y->data, at, n);
    }
}

// x: any shape; axes: [count]?; result: x's shape with the reduced dims 1 or left out.
static tn_status run_reduce(const tn_call *call)
{
    const reduction *row = find(call->op);
    reduce_params p;
    TN_TRY(reduce_geometry(call, &p));
    if (p.count == 0) {
        return TN_OK;
    }
    void *acc = call->scratch;
    double *shift = NULL;
    if (row->end == END_LOG_SHIFT) {
        static const reduction largest = {NULL, max_f64, NULL, -INFINITY, END_NONE};
        shift = (double *)call->scratch + p.count;
        start(&largest, &p, TN_F64, shift);
        TN_TRY(accumulate(call, &largest, &p, shift, NULL));
    }
    start(row, &p, call->in[0]->dtype, acc);
    TN_TRY(accumulate(call, row, &p, acc, shift));
    finish(call, row, &p, acc, shift);
    return TN_OK;
}

// Scratch: an accumulator per result, twice for log_sum_exp, which needs the largest elements too.
static tn_status prepare_reduce(tn_prepare *prepare)
{
    const int64_t count = tn_tensor_count(prepare->query->out[0]);
    size_t bytes;
    if (!tn_mul_size((size_t)count, 2 * sizeof(double), &bytes)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    prepare->scratch_bytes = bytes;
    return TN_OK;
}

// ---- reference: arg_max, arg_min ----

// Whether x replaces the best so far. A NaN is the best of all, the first (or last) one, as in numpy.
#define BETTER(TYPE, SUFFIX)                                                                \
    static bool better_##SUFFIX(TYPE x, TYPE best, bool largest, bool last)                 \
    {                                                                                       \
        if (x != x || best != best) {                                                       \
            return x != x && (last || best == best);                                        \
        }                                                                                   \
        return largest ? x > best || (last && x == best) : x < best || (last && x == best); \
    }
BETTER(double, f64)
BETTER(int64_t, i64)
BETTER(uint64_t, u64)

// Columns inner .. inner+n-1 of one outer row: x is [outer, length, inner].
static void arg_block(const tn_call *call, tn_lane lane, int64_t first, int64_t length, int64_t inner, int n, int64_t *y)
{
    const tn_arg_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    const bool largest = call->op == &tn_op_arg_max, last = attr->select_last_index;
    tn_lanes best, v;
    tn_lanes_load(&best, lane, x->dtype, x->data, first, 1, n);
    for (int i = 0; i < n; i++) {
        y[i] = 0;
    }
    for (int64_t k = 1; k < length; k++) {
        tn_lanes_load(&v, lane, x->dtype, x->data, first + k * inner, 1, n);
        for (int i = 0; i < n; i++) {
            const bool take = lane == TN_LANE_F64   ? better_f64(v.f64[i], best.f64[i], largest, last)
                              : lane == TN_LANE_I64 ? better_i64(v.i64[i], best.i64[i], largest, last)
                                                    : better_u64(v.u64[i], best.u64[i], largest, last);
            if (take) {
                best.u64[i] = v.u64[i];
                y[i] = k;
            }
        }
    }
}

// x: [outer..., length, inner...]; result: int64 [outer..., (1,) inner...].
static tn_status run_arg(const tn_call *call)
{
    const tn_arg_attr *attr = call->attr;
    const tn_tensor *x = call->in[0];
    const int rank = x->shape.rank;
    int axis = 0;
    if (rank > 0 && !tn_axis(attr->axis, rank, &axis)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "axis was not checked");
    }
    const int64_t outer = tn_shape_span(&x->shape, 0, axis), length = rank > 0 ? x->shape.dims[axis] : 1;
    const int64_t inner = rank > 0 ? tn_shape_span(&x->shape, axis + 1, rank) : 1;
    const tn_lane lane = tn_dtype_is_float(x->dtype) ? TN_LANE_F64 : tn_lane_of(x->dtype);
    int64_t *y = call->out[0]->data;
    if (tn_tensor_count(x) == 0) {
        return TN_OK;
    }
    for (int64_t o = 0; o < outer; o++) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < inner; i += TN_LANES) {
            const int n = (int)TN_MIN(inner - i, TN_LANES);
            arg_block(call, lane, o * length * inner + i, length, inner, n, y + o * inner + i);
        }
    }
    return TN_OK;
}

// ---- reference: cum_sum, cum_prod ----

typedef struct running {
    const tn_call *call;
    tn_lane lane;                      // F64 or I64 (unsigned too)
    int64_t length, inner;             // x is [outer, length, inner]
    bool product;
} running;

// Unsigned sums and products have the bits of signed ones.
static void add_to(const running *r, tn_lanes *acc, const tn_lanes *v, int n)
{
    for (int i = 0; i < n; i++) {
        if (r->lane == TN_LANE_F64) {
            acc->f64[i] = r->product ? acc->f64[i] * v->f64[i] : acc->f64[i] + v->f64[i];
        } else {
            acc->u64[i] = r->product ? acc->u64[i] * v->u64[i] : acc->u64[i] + v->u64[i];
        }
    }
}

// Columns first .. first+n-1 of one outer row, all at once: the inner dim is contiguous.
static void cum_block(const running *r, int64_t first, int n)
{
    const tn_cum_attr *attr = r->call->attr;
    const tn_tensor *x = r->call->in[0], *y = r->call->out[0];
    tn_lanes acc, v;
    for (int i = 0; i < n; i++) {
        if (r->lane == TN_LANE_F64) {
            acc.f64[i] = r->product ? 1 : 0;
        } else {
            acc.u64[i] = r->product ? 1 : 0;
        }
    }
    for (int64_t k = 0; k < r->length; k++) {
        const int64_t at = first + (attr->reverse ? r->length - 1 - k : k) * r->inner;
        tn_lanes_load(&v, r->lane, x->dtype, x->data, at, 1, n);
        if (attr->exclusive) {
            tn_lanes_store(&acc, r->lane, y->dtype, y->data, at, n);
        }
        add_to(r, &acc, &v, n);
        if (!attr->exclusive) {
            tn_lanes_store(&acc, r->lane, y->dtype, y->data, at, n);
        }
    }
}

// x and result: the same shape; axis: one element.
static tn_status run_cum(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    const int64_t given = tn_dtype_load_i64(call->in[1]->dtype, call->in[1]->data, 0);
    int axis;
    if (!tn_axis(given, x->shape.rank, &axis)) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: axis %lld is out of range for rank %d", call->op->name,
                       (long long)given, x->shape.rank);
    }
    if (tn_tensor_count(x) == 0) {
        return TN_OK;
    }
    const running r = {.call = call,
                       .lane = tn_dtype_is_float(x->dtype) ? TN_LANE_F64 : TN_LANE_I64,
                       .length = x->shape.dims[axis],
                       .inner = tn_shape_span(&x->shape, axis + 1, x->shape.rank),
                       .product = call->op == &tn_op_cum_prod};
    const int64_t outer = tn_shape_span(&x->shape, 0, axis);
    for (int64_t o = 0; o < outer; o++) {
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        for (int64_t i = 0; i < r.inner; i += TN_LANES) {
            cum_block(&r, o * r.length * r.inner + i, (int)TN_MIN(r.inner - i, TN_LANES));
        }
    }
    return TN_OK;
}

// ---- export ----

#define REDUCE_LIST(X)                                                                                      \
    X(reduce_sum) X(reduce_mean) X(reduce_prod) X(reduce_l1) X(reduce_l2) X(reduce_log_sum) X(reduce_log_sum_exp) \
    X(reduce_sum_square) X(reduce_max) X(reduce_min)
#define ROW(NAME)                                                                                           \
    {.name = #NAME "_reference", .op = &tn_op_##NAME, .impl = TN_IMPL_REFERENCE, .tag = "", .version = 1,   \
     .aligned_constants = true, .prepare = prepare_reduce, .run = run_reduce},
#define OP(NAME) &tn_op_##NAME,

static const tn_kernel rows[] = {
    REDUCE_LIST(ROW)
    TN_REFERENCE(arg_max, NULL, run_arg),
    TN_REFERENCE(arg_min, NULL, run_arg),
    TN_REFERENCE(cum_sum, NULL, run_cum),
    TN_REFERENCE(cum_prod, NULL, run_cum),
};

static const tn_op *const ops[] = {REDUCE_LIST(OP) &tn_op_arg_max, &tn_op_arg_min, &tn_op_cum_sum, &tn_op_cum_prod};

TN_EXPORT_OPS(op_reduce, ops);
TN_EXPORT_KERNELS(op_reduce, rows);
