// SPDX-License-Identifier: Apache-2.0
// Activations (ONNX names are those of the operators). One table says what each takes, how one element is computed, and its loop
// form. Elements are computed in double and rounded once, as in the loop program; integers that ONNX allows keep all their bits.
// Ownership: const data. Threads: any.
#include "ops/nn/op_activation.h"

#include "loop/loop.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr alpha_attrs[] = {{"alpha", TN_ATTR_REAL, offsetof(tn_activation_attr, alpha), NULL}};
static const tn_attr alpha_beta_attrs[] = {
    {"alpha", TN_ATTR_REAL, offsetof(tn_activation_attr, alpha), NULL},
    {"beta", TN_ATTR_REAL, offsetof(tn_activation_attr, beta), NULL},
};
static const tn_attr gelu_attrs[] = {{"approximate", TN_ATTR_BOOL, offsetof(tn_activation_attr, approximate), NULL}};

// ONNX states its defaults as float32.
static const tn_activation_attr leaky_relu_defaults = {.alpha = 0.01f};
static const tn_activation_attr one_defaults = {.alpha = 1};
static const tn_activation_attr selu_defaults = {.alpha = 1.67326319217681884765625, .beta = 1.05070102214813232421875};
static const tn_activation_attr hard_sigmoid_defaults = {.alpha = 0.2f, .beta = 0.5};
static const tn_activation_attr shrink_defaults = {.alpha = 0.5, .beta = 0};
static const tn_activation_attr gelu_defaults = {.approximate = false};

// ---- one element ----

typedef tn_activation_attr params;

static double unit_ramp(double v) { return v < 0 ? 0 : v > 1 ? 1 : v; }   // NaN stays
static double sigmoid(double v) { return 1 / (1 + exp(-v)); }
static double softplus(double v) { return isnan(v) ? v : (v > 0 ? v : 0) + log1p(exp(-fabs(v))); }

#define ELEMENT(NAME, EXPRESSION)                                 \
    static double NAME##_element(const params *p, double v)       \
    {                                                             \
        (void)p;                                                  \
        return EXPRESSION;                                        \
    }
ELEMENT(relu, v < 0 ? 0 : v)
ELEMENT(leaky_relu, v < 0 ? p->alpha * v : v)
ELEMENT(elu, v < 0 ? p->alpha * expm1(v) : v)
ELEMENT(selu, p->beta * (v <= 0 ? p->alpha * expm1(v) : v))
ELEMENT(celu, v < 0 ? p->alpha * expm1(v / p->alpha) : v)
ELEMENT(thresholded_relu, isnan(v) || v > p->alpha ? v : 0)
ELEMENT(hard_sigmoid, unit_ramp(p->alpha * v + p->beta))
ELEMENT(hard_swish, v * unit_ramp(v / 6 + 0.5))
ELEMENT(softplus, softplus(v))
ELEMENT(softsign, v / (1 + fabs(v)))
ELEMENT(mish, v * tanh(softplus(v)))
ELEMENT(gelu, p->approximate ? 0.5 * v * (1 + tanh(0.79788456080286535588 * (v + 0.044715 * v * v * v)))
                             : 0.5 * v * (1 + erf(v * 0.70710678118654752440)))
ELEMENT(swish, v * sigmoid(p->alpha * v))
ELEMENT(sigmoid, sigmoid(v))
ELEMENT(tanh, tanh(v))
ELEMENT(shrink, v < -p->alpha ? v + p->beta : v > p->alpha ? v - p->beta : isnan(v) ? v : 0)

// ---- loop forms ----

#define LOOP(NAME) static bool loop_##NAME(const void *attr, tn_loop_build *build, const int *args, int n_args, int *result)

// A form of one instruction whose immediates are expressions over p.
#define LOOP_ONE(NAME, CODE, X, Y)                                                         \
    LOOP(NAME)                                                                             \
    {                                                                                      \
        const params *p = attr;                                                            \
        (void)p, (void)n_args;                                                             \
        *result = tn_loop_add(build, CODE, args[0], 0, 0, (float)(X), (float)(Y));         \
        return !build->full;                                                               \
    }
LOOP_ONE(relu, TN_LOOP_RELU, 0, 0)
LOOP_ONE(leaky_relu, TN_LOOP_LEAKY, p->alpha, 0)
LOOP_ONE(elu, TN_LOOP_ELU, p->alpha, 0)
LOOP_ONE(hard_sigmoid, TN_LOOP_HARD_SIGMOID, p->alpha, p->beta)
LOOP_ONE(hard_swish, TN_LOOP_HARD_SWISH, 0, 0)
LOOP_ONE(softplus, TN_LOOP_SOFTPLUS, 0, 0)
LOOP_ONE(gelu, p->approximate ? TN_LOOP_GELU_TANH : TN_LOOP_GELU, 0, 0)
LOOP_ONE(sigmoid, TN_LOOP_SIGMOID, 0, 0)
LOOP_ONE(tanh, TN_LOOP_TANH, 0, 0)

LOOP(selu)
{
    const params *p = attr;
    (void)n_args;
    const int elu = tn_loop_add(build, TN_LOOP_ELU, args[0], 0, 0, (float)p->alpha, 0);
    *result = tn_loop_add(build, TN_LOOP_AFFINE, elu, 0, 0, (float)p->beta, 0);
    return !build->full;
}

// alpha * elu(x / alpha); for alpha <= 0 the two halves would meet elsewhere.
LOOP(celu)
{
    const params *p = attr;
    (void)n_args;
    if (!(p->alpha > 0)) {
        return false;
    }
    const int scaled = p->alpha == 1 ? args[0] : tn_loop_add(build, TN_LOOP_AFFINE, args[0], 0, 0, (float)(1 / p->alpha), 0);
    const int elu = tn_loop_add(build, TN_LOOP_ELU, scaled, 0, 0, 1, 0);
    *result = p->alpha == 1 ? elu : tn_loop_add(build, TN_LOOP_AFFINE, elu, 0, 0, (float)p->alpha, 0);
    return !build->full;
}

LOOP(softsign)
{
    (void)attr, (void)n_args;
    const int size = tn_loop_add(build, TN_LOOP_ABS, args[0], 0, 0, 0, 0);
    const int below = tn_loop_add(build, TN_LOOP_AFFINE, size, 0, 0, 1, 1);
    *result = tn_loop_add(build, TN_LOOP_DIV, args[0], below, 0, 0, 0);
    return !build->full;
}

LOOP(mish)
{
    (void)attr, (void)n_args;
    const int plus = tn_loop_add(build, TN_LOOP_SOFTPLUS, args[0], 0, 0, 0, 0);
    const int gate = tn_loop_add(build, TN_LOOP_TANH, plus, 0, 0, 0, 0);
    *result = tn_loop_add(build, TN_LOOP_MUL, args[0], gate, 0, 0, 0);
    return !build->full;
}

LOOP(swish)
{
    const params *p = attr;
    (void)n_args;
    if (p->alpha == 1) {
        *result = tn_loop_add(build, TN_LOOP_SILU, args[0], 0, 0, 0, 0);
        return !build->full;
    }
    const int scaled = tn_loop_add(build, TN_LOOP_AFFINE, args[0], 0, 0, (float)p->alpha, 0);
    const int gate = tn_loop_add(build, TN_LOOP_SIGMOID, scaled, 0, 0, 0, 0);
    *result = tn_loop_add(build, TN_LOOP_MUL, args[0], gate, 0, 0, 0);
    return !build->full;
}

LOOP(swiglu)
{
    int gate;
    if (!loop_swish(attr, build, args, n_args, &gate)) {
        return false;
    }
    *result = tn_loop_add(build, TN_LOOP_MUL, gate, args[1], 0, 0, 0);
    return !build->full;
}

// An operand that is absent has a negative register.
LOOP(clip)
{
    (void)attr;
    int v = args[0];
    if (n_args > 1 && args[1] >= 0) {
        v = tn_loop_add(build, TN_LOOP_MAX, v, args[1], 0, 0, 0);
    }
    if (n_args > 2 && args[2] >= 0) {
        v = tn_loop_add(build, TN_LOOP_MIN, v, args[2], 0, 0, 0);
    }
    *result = v;
    return !build->full && v != args[0];
}

LOOP(prelu)
{
    (void)attr, (void)n_args;
    *result = tn_loop_add(build, TN_LOOP_PRELU, args[0], args[1], 0, 0, 0);
    return !build->full;
}

// ---- infer ----

// Elementwise: the result is like operand 0.
static tn_status infer_one(tn_infer *infer, uint32_t set)
{
    TN_TRY(tn_infer_type(infer, 0, set));
    tn_infer_out(infer, 0, infer->in[0]->dtype, &infer->in[0]->shape);
    return TN_OK;
}

static tn_status infer_float(tn_infer *infer) { return infer_one(infer, TN_SET_FLOAT); }
static tn_status infer_relu(tn_infer *infer) { return infer_one(infer, TN_SET_FLOAT | TN_SET_SIGNED); }
static tn_status infer_shrink(tn_infer *infer) { return infer_one(infer, TN_SET_NUMBER); }

static tn_status infer_celu(tn_infer *infer)
{
    const params *p = infer->attr;
    TN_TRY(infer_float(infer));
    return p->alpha != 0 ? TN_OK : tn_infer_fail(infer, "alpha must not be 0");
}

// x, min? and max?: scalars of the type of x.
static tn_status infer_clip(tn_infer *infer)
{
    TN_TRY(infer_one(infer, TN_SET_NUMBER));
    for (int i = 1; i < infer->n_in; i++) {
        if (infer->in[i]) {
            TN_TRY(tn_infer_type(infer, i, TN_SET_NUMBER));
            TN_TRY(tn_infer_like(infer, i, 0));
            TN_TRY(tn_infer_scalar(infer, i));
        }
    }
    return TN_OK;
}

// x, slope that broadcasts to x without making it larger.
static tn_status infer_prelu(tn_infer *infer)
{
    TN_TRY(infer_one(infer, TN_SET_FLOAT | TN_SET_INDEX | TN_BIT(U32) | TN_BIT(U64)));
    TN_TRY(tn_infer_type(infer, 1, TN_SET_NUMBER));
    TN_TRY(tn_infer_like(infer, 1, 0));
    return tn_infer_fits(infer, 1, &infer->in[0]->shape);
}

// Gate and x have one shape: ONNX does not broadcast them.
static tn_status infer_swiglu(tn_infer *infer)
{
    tn_dtype dtype;
    tn_shape shape;
    TN_TRY(tn_infer_types(infer, 0, 1, TN_SET_FLOAT, &dtype));
    if (!tn_shape_join(&infer->in[0]->shape, &infer->in[1]->shape, &shape)) {
        return tn_infer_fail(infer, "gate and x differ in shape");
    }
    tn_infer_out(infer, 0, dtype, &shape);
    return TN_OK;
}

// ---- reference ----

enum { RUN = 512 };   // elements that are converted at a time

typedef struct map_job {
    const tn_call *call;
    double (*element)(const params *p, double v);
} map_job;

// One item is one run of 512 elements.
static void map_task(void *context, size_t first, size_t count, unsigned slot)
{
    const map_job *job = context;
    const tn_tensor *x = job->call->in[0];
    const int64_t total = tn_tensor_count(x);
    double run[RUN];
    (void)slot;
    for (size_t item = first; item < first + count && !tn_cancelled(job->call); item++) {
        const int64_t start = (int64_t)item * RUN, length = TN_MIN(total - start, RUN);
        tn_row_load(x->dtype, x->data, start, 1, length, run);
        for (int64_t i = 0; i < length; i++) {
            run[i] = job->element(job->call->attr, run[i]);
        }
        tn_row_store(job->call->out[0]->dtype, job->call->out[0]->data, start, 1, length, run);
    }
}

static tn_status run_map(const tn_call *call, double (*element)(const params *p, double v))
{
    map_job job = {call, element};
    return tn_call_split(call, map_task, &job, (size_t)TN_CEIL_DIV(tn_tensor_count(call->in[0]), RUN), 4);
}

#define RUN_MAP(NAME) \
    static tn_status run_##NAME(const tn_call *call) { return run_map(call, NAME##_element); }
RUN_MAP(leaky_relu)
RUN_MAP(elu)
RUN_MAP(selu)
RUN_MAP(celu)
RUN_MAP(thresholded_relu)
RUN_MAP(hard_sigmoid)
RUN_MAP(hard_swish)
RUN_MAP(softplus)
RUN_MAP(softsign)
RUN_MAP(mish)
RUN_MAP(gelu)
RUN_MAP(swish)
RUN_MAP(sigmoid)
RUN_MAP(tanh)
RUN_MAP(shrink)

static bool less_than(int64_t a, int64_t b, bool is_signed) { return is_signed ? a < b : (uint64_t)a < (uint64_t)b; }

// min(max(x, low), high) on all bits of any integer type. NULL: no bound.
static void clip_ints(const tn_call *call, const int64_t *low, const int64_t *high)
{
    const tn_tensor *x = call->in[0];
    const bool is_signed = tn_dtype_is_signed(x->dtype);
    const int64_t total = tn_tensor_count(x);
    int64_t run[RUN];
    for (int64_t start = 0; start < total && !tn_cancelled(call); start += RUN) {
        const int64_t length = TN_MIN(total - start, RUN);
        tn_row_load_i64(x->dtype, x->data, start, 1, length, run);
        for (int64_t i = 0; i < length; i++) {
            run[i] = low && less_than(run[i], *low, is_signed) ? *low : run[i];
            run[i] = high && less_than(*high, run[i], is_signed) ? *high : run[i];
        }
        tn_row_store_i64(x->dtype, call->out[0]->data, start, 1, length, run);
    }
}

// Integers have no NaN and no zero of two signs: a clip from below.
static tn_status run_relu(const tn_call *call)
{
    if (tn_dtype_is_float(call->in[0]->dtype)) {
        return run_map(call, relu_element);
    }
    clip_ints(call, &(int64_t){0}, NULL);
    return tn_call_status(call);
}

// Bounds as parameters: alpha = min, beta = max.
static double clip_element(const params *p, double v)
{
    v = v < p->alpha ? p->alpha : v;
    return v > p->beta ? p->beta : v;
}

// Floats go through the common loop with the bounds as its parameters.
static tn_status run_clip(const tn_call *call)
{
    const tn_tensor *low = tn_call_in(call, 1), *high = tn_call_in(call, 2);
    if (tn_dtype_is_float(call->in[0]->dtype)) {
        const params bounds = {.alpha = low ? tn_element(low, 0) : -INFINITY, .beta = high ? tn_element(high, 0) : INFINITY};
        tn_call bounded = *call;
        bounded.attr = &bounds;
        return run_map(&bounded, clip_element);
    }
    const int64_t least = low ? tn_dtype_load_i64(low->dtype, low->data, 0) : 0;
    const int64_t most = high ? tn_dtype_load_i64(high->dtype, high->data, 0) : 0;
    clip_ints(call, low ? &least : NULL, high ? &most : NULL);
    return tn_call_status(call);
}

// One piece of a line along the last dim: v < 0 ? slope * v : v.
static void prelu_run(const tn_call *call, int64_t start, int64_t length, int64_t slope_start, int64_t step)
{
    const tn_tensor *x = call->in[0], *slope = call->in[1];
    if (tn_dtype_is_float(x->dtype)) {
        double run[RUN], slopes[RUN];
        tn_row_load(x->dtype, x->data, start, 1, length, run);
        tn_row_load(slope->dtype, slope->data, slope_start, step, length, slopes);
        for (int64_t i = 0; i < length; i++) {
            run[i] = run[i] < 0 ? slopes[i] * run[i] : run[i];
        }
        tn_row_store(x->dtype, call->out[0]->data, start, 1, length, run);
        return;
    }
    int64_t run[RUN], slopes[RUN];
    const bool is_signed = tn_dtype_is_signed(x->dtype);
    tn_row_load_i64(x->dtype, x->data, start, 1, length, run);
    tn_row_load_i64(slope->dtype, slope->data, slope_start, step, length, slopes);
    for (int64_t i = 0; i < length; i++) {
        run[i] = is_signed && run[i] < 0 ? (int64_t)((uint64_t)slopes[i] * (uint64_t)run[i]) : run[i];
    }
    tn_row_store_i64(x->dtype, call->out[0]->data, start, 1, length, run);
}

// Lines along the last dim, in which the slope's step is fixed.
static tn_status run_prelu(const tn_call *call)
{
    const tn_shape *x = &call->in[0]->shape;
    const int64_t count = tn_tensor_count(call->in[0]), last = x->rank ? x->dims[x->rank - 1] : 1;
    for (int64_t line = 0; count && line < count / last && !tn_cancelled(call); line++) {
        int64_t step;
        const int64_t slope = tn_broadcast_row(&call->in[1]->shape, x, line, &step);
        for (int64_t at = 0; at < last; at += RUN) {
            prelu_run(call, line * last + at, TN_MIN(last - at, RUN), slope + at * step, step);
        }
    }
    return tn_call_status(call);
}

static tn_status run_swiglu(const tn_call *call)
{
    const tn_tensor *gate = call->in[0], *x = call->in[1];
    const int64_t total = tn_tensor_count(gate);
    double gates[RUN], run[RUN];
    for (int64_t start = 0; start < total && !tn_cancelled(call); start += RUN) {
        const int64_t length = TN_MIN(total - start, RUN);
        tn_row_load(gate->dtype, gate->data, start, 1, length, gates);
        tn_row_load(x->dtype, x->data, start, 1, length, run);
        for (int64_t i = 0; i < length; i++) {
            run[i] *= swish_element(call->attr, gates[i]);
        }
        tn_row_store(call->out[0]->dtype, call->out[0]->data, start, 1, length, run);
    }
    return tn_call_status(call);
}

// ---- export ----

#define PLAIN_ACTIVATION(NAME, LOW, HIGH, FLAG, INFER, ...)                                                       \
    const tn_op tn_op_##NAME = {                                                                                  \
        .name = #NAME, .version = 1, .flags = TN_OP_ELEMENTWISE | (FLAG), .min_in = LOW, .max_in = HIGH,          \
        .min_out = 1, .max_out = 1, .infer = INFER, __VA_ARGS__                                                   \
    }
#define ACTIVATION(NAME, ATTRS, DEFAULTS, INFER, LOOP_FORM)                                                       \
    PLAIN_ACTIVATION(NAME, 1, 1, TN_OP_INPLACE, INFER, .attrs = ATTRS, .n_attrs = TN_COUNT(ATTRS),                \
                     .attr_size = sizeof(params), .defaults = &DEFAULTS, .loop = LOOP_FORM)

PLAIN_ACTIVATION(relu, 1, 1, TN_OP_INPLACE, infer_relu, .loop = loop_relu);
PLAIN_ACTIVATION(hard_swish, 1, 1, TN_OP_INPLACE, infer_float, .loop = loop_hard_swish);
PLAIN_ACTIVATION(softplus, 1, 1, TN_OP_INPLACE, infer_float, .loop = loop_softplus);
PLAIN_ACTIVATION(softsign, 1, 1, TN_OP_INPLACE, infer_float, .loop = loop_softsign);
PLAIN_ACTIVATION(mish, 1, 1, TN_OP_INPLACE, infer_float, .loop = loop_mish);
PLAIN_ACTIVATION(sigmoid, 1, 1, TN_OP_INPLACE, infer_float, .loop = loop_sigmoid);
PLAIN_ACTIVATION(tanh, 1, 1, TN_OP_INPLACE, infer_float, .loop = loop_tanh);
PLAIN_ACTIVATION(clip, 1, 3, TN_OP_INPLACE, infer_clip, .loop = loop_clip);
PLAIN_ACTIVATION(prelu, 2, 2, TN_OP_INPLACE, infer_prelu, .loop = loop_prelu);
PLAIN_ACTIVATION(swiglu, 2, 2, TN_OP_INPLACE_ANY, infer_swiglu, .attrs = alpha_attrs, .n_attrs = TN_COUNT(alpha_attrs),
                 .attr_size = sizeof(params), .defaults = &one_defaults, .loop = loop_swiglu);
ACTIVATION(leaky_relu, alpha_attrs, leaky_relu_defaults, infer_float, loop_leaky_relu);
ACTIVATION(elu, alpha_attrs, one_defaults, infer_float, loop_elu);
ACTIVATION(selu, alpha_beta_attrs, selu_defaults, infer_float, loop_selu);
ACTIVATION(celu, alpha_attrs, one_defaults, infer_celu, loop_celu);
ACTIVATION(thresholded_relu, alpha_attrs, one_defaults, infer_float, NULL);
ACTIVATION(hard_sigmoid, alpha_beta_attrs, hard_sigmoid_defaults, infer_float, loop_hard_sigmoid);
ACTIVATION(gelu, gelu_attrs, gelu_defaults, infer_float, loop_gelu);
ACTIVATION(swish, alpha_attrs, one_defaults, infer_float, loop_swish);
ACTIVATION(shrink, alpha_beta_attrs, shrink_defaults, infer_shrink, NULL);

#define LIST(X)                                                                                                   \
    X(relu) X(leaky_relu) X(elu) X(selu) X(celu) X(thresholded_relu) X(hard_sigmoid) X(hard_swish) X(softplus)    \
    X(softsign) X(mish) X(gelu) X(swish) X(sigmoid) X(tanh) X(shrink) X(clip) X(prelu) X(swiglu)

#define OP_OF(NAME) &tn_op_##NAME,
static const tn_op *const ops[] = {LIST(OP_OF)};
TN_EXPORT_OPS(op_activation, ops);

#define ROW_OF(NAME) TN_REFERENCE(NAME, NULL, run_##NAME),
static const tn_kernel rows[] = {LIST(ROW_OF)};
TN_EXPORT_KERNELS(op_activation, rows);
