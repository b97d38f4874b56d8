// SPDX-License-Identifier: Apache-2.0
// Recurrent layers (ONNX LSTM, GRU, RNN 22). Each pair of direction and batch element is a sequence of its own: the reference runs
// it from first to last step with its state in double, so that the pairs can be shared out among threads.
// Ownership: const data. Threads: any.
#include "ops/seq/op_lstm.h"

#include "base/num.h"
#include "loop/loop.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const char *const direction_texts[] = {"forward", "reverse", "bidirectional", NULL};

#define FIELD(field) offsetof(tn_rnn_attr, field)
static const tn_attr attrs[] = {
    {"hidden_size", TN_ATTR_INT, FIELD(hidden_size), NULL},
    {"layout", TN_ATTR_INT, FIELD(layout), NULL},
    {"direction", TN_ATTR_ENUM, FIELD(direction), direction_texts},
    {"linear_before_reset", TN_ATTR_BOOL, FIELD(linear_before_reset), NULL},
    {"input_forget", TN_ATTR_BOOL, FIELD(input_forget), NULL},
    {"clip", TN_ATTR_REAL, FIELD(clip), NULL},
    {"has_clip", TN_ATTR_BOOL, FIELD(has_clip), NULL},
    {"act_0", TN_ATTR_INT, FIELD(act[0]), NULL},
    {"act_1", TN_ATTR_INT, FIELD(act[1]), NULL},
    {"act_2", TN_ATTR_INT, FIELD(act[2]), NULL},
    {"act_3", TN_ATTR_INT, FIELD(act[3]), NULL},
    {"act_4", TN_ATTR_INT, FIELD(act[4]), NULL},
    {"act_5", TN_ATTR_INT, FIELD(act[5]), NULL},
    {"act_alpha_0", TN_ATTR_REAL, FIELD(act_alpha[0]), NULL},
    {"act_alpha_1", TN_ATTR_REAL, FIELD(act_alpha[1]), NULL},
    {"act_alpha_2", TN_ATTR_REAL, FIELD(act_alpha[2]), NULL},
    {"act_alpha_3", TN_ATTR_REAL, FIELD(act_alpha[3]), NULL},
    {"act_alpha_4", TN_ATTR_REAL, FIELD(act_alpha[4]), NULL},
    {"act_alpha_5", TN_ATTR_REAL, FIELD(act_alpha[5]), NULL},
    {"act_beta_0", TN_ATTR_REAL, FIELD(act_beta[0]), NULL},
    {"act_beta_1", TN_ATTR_REAL, FIELD(act_beta[1]), NULL},
    {"act_beta_2", TN_ATTR_REAL, FIELD(act_beta[2]), NULL},
    {"act_beta_3", TN_ATTR_REAL, FIELD(act_beta[3]), NULL},
    {"act_beta_4", TN_ATTR_REAL, FIELD(act_beta[4]), NULL},
    {"act_beta_5", TN_ATTR_REAL, FIELD(act_beta[5]), NULL},
};
static const tn_rnn_attr defaults = {.act = {-1, -1, -1, -1, -1, -1}};

// What differs between the three.
typedef struct cell {
    const tn_op *op;
    int gates;                 // blocks of rows in w and r
    int acts;                  // activations of one direction
    int64_t act[3];            // their defaults
} cell;

static const cell cells[] = {
    {&tn_op_lstm, 4, 3, {TN_LOOP_SIGMOID, TN_LOOP_TANH, TN_LOOP_TANH}},
    {&tn_op_gru, 3, 2, {TN_LOOP_SIGMOID, TN_LOOP_TANH, 0}},
    {&tn_op_rnn, 1, 1, {TN_LOOP_TANH, 0, 0}},
};

static const cell *cell_of(const tn_op *op)
{
    const cell *c = cells;
    while (c->op != op) {
        c++;
    }
    return c;
}

// Operands
enum { X, W, R, BIAS, LENGTHS, INITIAL_H, INITIAL_C, PEEPHOLES };

// ---- infer ----

static tn_status check_attr(const tn_infer *infer, const tn_rnn_attr *attr)
{
    if (attr->direction < TN_RNN_FORWARD || attr->direction > TN_RNN_BIDIRECTIONAL) {
        return tn_infer_fail(infer, "direction is none of forward, reverse and bidirectional");
    }
    if (attr->layout != 0 && attr->layout != 1) {
        return tn_infer_fail(infer, "layout is %lld, expected 0 or 1", (long long)attr->layout);
    }
    if (attr->hidden_size < 0) {
        return tn_infer_fail(infer, "hidden_size is %lld", (long long)attr->hidden_size);
    }
    if (attr->has_clip && !(attr->clip >= 0)) {
        return tn_infer_fail(infer, "clip is %g, expected a number that is not negative", attr->clip);
    }
    for (size_t i = 0; i < TN_COUNT(attr->act); i++) {
        const int64_t code = attr->act[i];
        const bool own = code >= TN_RNN_SCALED_TANH && code <= TN_RNN_SOFTSIGN;
        if (code != -1 && !own && (code < 0 || code >= TN_LOOP_COUNT || tn_loop_code_operands((tn_loop_code)code) != 1)) {
            return tn_infer_fail(infer, "activation %zu is not one of those that a recurrent layer can have", i);
        }
    }
    return TN_OK;
}

// A shape of three dims in layout 0, batch first in layout 1; c stays last.
static tn_shape state_shape(const tn_rnn_attr *attr, int64_t directions, int64_t batch, int64_t hidden)
{
    const tn_shape by_direction = {.rank = 3, .dims = {directions, batch, hidden}},
        by_batch = {.rank = 3, .dims = {batch, directions, hidden}};
    return attr->layout ? by_batch : by_direction;
}

static int64_t dim_of(const tn_fact *fact, int i) { return fact->shape.rank > i ? fact->shape.dims[i] : TN_DIM_UNKNOWN; }

static tn_status check_weights(const tn_infer *infer, const cell *c, int64_t directions, int64_t hidden)
{
    int64_t rows = TN_DIM_UNKNOWN, both = TN_DIM_UNKNOWN, peepholes = TN_DIM_UNKNOWN;
    if (!tn_dim_times(hidden, c->gates, &rows) || !tn_dim_times(hidden, 2 * c->gates, &both) ||
        !tn_dim_times(hidden, 3, &peepholes)) {
        return tn_infer_fail(infer, "hidden_size is too large");
    }
    const tn_shape w = {.rank = 3, .dims = {directions, rows, dim_of(infer->in[X], 2)}},
        r = {.rank = 3, .dims = {directions, rows, hidden}};
    const tn_shape bias = {.rank = 2, .dims = {directions, both}}, p = {.rank = 2, .dims = {directions, peepholes}};
    TN_TRY(tn_infer_shape(infer, W, &w));
    TN_TRY(tn_infer_shape(infer, R, &r));
    TN_TRY(tn_infer_shape(infer, BIAS, &bias));
    return tn_infer_shape(infer, PEEPHOLES, &p);
}

static tn_status infer_rnn(tn_infer *infer)
{
    const tn_rnn_attr *attr = infer->attr;
    tn_dtype dtype;
    TN_TRY(check_attr(infer, attr));
    TN_TRY(tn_infer_types(infer, X, R, TN_SET_FLOAT, &dtype));
    for (int i = BIAS; i <= PEEPHOLES; i++) {
        TN_TRY(tn_infer_optional(infer, i, i == LENGTHS ? TN_SET_INDEX : TN_SET_FLOAT));
        TN_TRY(i == LENGTHS ? TN_OK : tn_infer_like(infer, i, X));
    }
    TN_TRY(tn_infer_rank(infer, X, 3, 3));
    const int64_t directions = attr->direction == TN_RNN_BIDIRECTIONAL ? 2 : 1;
    const int64_t steps = dim_of(infer->in[X], attr->layout ? 1 : 0), batch = dim_of(infer->in[X], attr->layout ? 0 : 1);
    int64_t hidden = dim_of(infer->in[R], 2);
    if (!tn_dim_join(hidden, attr->hidden_size ? attr->hidden_size : TN_DIM_UNKNOWN, &hidden)) {
        return tn_infer_fail(infer, "hidden_size is %lld, but r is made for %lld", (long long)attr->hidden_size,
                             (long long)infer->in[R]->shape.dims[2]);
    }
    TN_TRY(check_weights(infer, cell_of(infer->op), directions, hidden));
    const tn_shape state = state_shape(attr, directions, batch, hidden);
    TN_TRY(tn_infer_vector(infer, LENGTHS, batch));
    TN_TRY(tn_infer_shape(infer, INITIAL_H, &state));
    TN_TRY(tn_infer_shape(infer, INITIAL_C, &state));
    const tn_shape by_step = {.rank = 4, .dims = {steps, directions, batch, hidden}},
        by_batch = {.rank = 4, .dims = {batch, steps, directions, hidden}};
    tn_infer_out(infer, 0, dtype, attr->layout ? &by_batch : &by_step);
    tn_infer_out(infer, 1, dtype, &state);
    tn_infer_out(infer, 2, dtype, &state);
    return TN_OK;
}

// Steps * batch times the elements of w and r.
static int64_t macs_rnn(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)out, (void)n_out;
    int64_t w, r, macs;
    const int64_t *x = in[X]->shape.dims;
    const bool fits = tn_shape_count(&in[W]->shape, &w) && tn_shape_count(&in[R]->shape, &r) && tn_add_i64(w, r, &macs) &&
                      tn_mul_i64(macs, x[0], &macs) && tn_mul_i64(macs, x[1], &macs);
    return fits ? macs : INT64_MAX;
}

// ---- reference ----

typedef struct rnn_job {
    const tn_call *call;
    const tn_rnn_attr *attr;
    const cell *cell;
    int64_t steps, batch, inputs, hidden, directions;
} rnn_job;

// State and workspace of one sequence, in scratch.
typedef struct rnn_state {
    const rnn_job *job;
    int64_t d;                 // direction
    double *x;                 // [inputs] of this step
    double *h, *c;             // [hidden]
    double *gates;             // [gates][hidden]: w x + bias, then gate values
    double *recurrent;         // [gates][hidden]: r h + bias
    double *mixed;             // [hidden]: workspace of gru
} rnn_state;

static tn_status prepare_rnn(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const int64_t inputs = query->in[X]->shape.dims[2], hidden = query->in[R]->shape.dims[2];
    int64_t count = 2 * cell_of(query->op)->gates + 3;
    size_t bytes;
    if (!tn_mul_i64(count, hidden, &count) || !tn_add_i64(count, inputs, &count) ||
        !tn_mul_size((size_t)count, sizeof(double), &bytes)) {
        return tn_fail_memory(prepare->diag, query->name, SIZE_MAX);
    }
    return tn_prepare_slots(prepare, bytes);
}

static double activation(int64_t code, double alpha, double beta, double v)
{
    switch (code) {
    case TN_LOOP_SIGMOID: return 1 / (1 + exp(-v));
    case TN_LOOP_TANH: return tanh(v);
    case TN_LOOP_RELU: return v < 0 ? 0 : v;
    case TN_LOOP_AFFINE: return alpha * v + beta;
    case TN_RNN_SCALED_TANH: return alpha * tanh(beta * v);
    case TN_RNN_THRESHOLDED_RELU: return v < alpha ? 0 : v;
    case TN_RNN_SOFTSIGN: return v / (1 + fabs(v));
    default: return (double)tn_loop_eval_code((tn_loop_code)code, (float)v, 0, 0, (float)alpha, (float)beta);
    }
}

// Activation `which` of this direction, in place. Gates are clipped first; the cell state that h() takes is not (as onnxruntime).
static void activate(const rnn_state *s, int which, double *v, bool clip)
{
    const tn_rnn_attr *attr = s->job->attr;
    const int i = (int)s->d * s->job->cell->acts + which;
    const int64_t code = attr->act[i] >= 0 ? attr->act[i] : s->job->cell->act[which];
    for (int64_t k = 0; k < s->job->hidden; k++) {
        const double limited = clip && attr->has_clip ? fmin(fmax(v[k], -attr->clip), attr->clip) : v[k];
        v[k] = activation(code, attr->act_alpha[i], attr->act_beta[i], limited);
    }
}

// Dot product of a row of a weight tensor with v: four sums over every fourth element, which a processor can add side by side.
static double dot(const tn_tensor *w, int64_t start, int64_t count, const double *v)
{
    double run[256], sums[4] = {0};
    for (int64_t from = 0; from < count; from += (int64_t)TN_COUNT(run)) {
        const int64_t n = TN_MIN(count - from, (int64_t)TN_COUNT(run));
        int64_t i = 0;
        tn_row_load(w->dtype, w->data, start + from, 1, n, run);
        for (; i + 4 <= n; i += 4) {
            for (int k = 0; k < 4; k++) {
                sums[k] += run[i + k] * v[from + i + k];
            }
        }
        for (; i < n; i++) {
            sums[0] += run[i] * v[from + i];
        }
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// out[row] = row `row` of this direction's matrix times v, plus the bias of w (half 0) or of r (half 1), for rows first ..
// first+count-1.
static void affine(const rnn_state *s, int operand, const double *v, int64_t first, int64_t count, double *out)
{
    const rnn_job *job = s->job;
    const tn_tensor *w = job->call->in[operand], *bias = tn_call_in(job->call, BIAS);
    const int64_t rows = job->cell->gates * job->hidden, width = operand == W ? job->inputs : job->hidden;
    for (int64_t row = first; row < first + count; row++) {
        const double b = bias ? tn_element(bias, (2 * s->d + (operand == R)) * rows + row) : 0;
        out[row] = dot(w, (s->d * rows + row) * width, width, v) + b;
    }
}

// Adds peephole `which` (i, o, f) times the cell state.
static void add_peephole(const rnn_state *s, int which, double *gate)
{
    const tn_tensor *p = tn_call_in(s->job->call, PEEPHOLES);
    for (int64_t k = 0; p && k < s->job->hidden; k++) {
        gate[k] += tn_element(p, (s->d * 3 + which) * s->job->hidden + k) * s->c[k];
    }
}

static void lstm_step(rnn_state *s)
{
    const int64_t n = s->job->hidden;
    double *i = s->gates, *o = i + n, *f = o + n, *c = f + n;
    affine(s, R, s->h, 0, 4 * n, s->recurrent);
    for (int64_t k = 0; k < 4 * n; k++) {
        s->gates[k] += s->recurrent[k];
    }
    add_peephole(s, 0, i);
    add_peephole(s, 2, f);
    activate(s, 0, i, true);
    activate(s, 0, f, true);
    activate(s, 1, c, true);
    for (int64_t k = 0; k < n; k++) {
        const double forget = s->job->attr->input_forget ? 1 - i[k] : f[k];
        s->c[k] = forget * s->c[k] + i[k] * c[k];
        c[k] = s->c[k];
    }
    add_peephole(s, 1, o);
    activate(s, 0, o, true);
    activate(s, 2, c, false);
    for (int64_t k = 0; k < n; k++) {
        s->h[k] = o[k] * c[k];
    }
}

static void gru_step(rnn_state *s)
{
    const int64_t n = s->job->hidden;
    double *z = s->gates, *r = z + n, *h = r + n, *rz = s->recurrent;
    affine(s, R, s->h, 0, 2 * n, rz);
    for (int64_t k = 0; k < 2 * n; k++) {
        s->gates[k] += rz[k];
    }
    activate(s, 0, z, true);
    activate(s, 0, r, true);
    for (int64_t k = 0; k < n; k++) {
        s->mixed[k] = s->job->attr->linear_before_reset ? s->h[k] : r[k] * s->h[k];
    }
    affine(s, R, s->mixed, 2 * n, n, rz);
    for (int64_t k = 0; k < n; k++) {
        h[k] += (s->job->attr->linear_before_reset ? r[k] : 1) * rz[2 * n + k];
    }
    activate(s, 1, h, true);
    for (int64_t k = 0; k < n; k++) {
        s->h[k] = (1 - z[k]) * h[k] + z[k] * s->h[k];
    }
}

static void rnn_step(rnn_state *s)
{
    const int64_t n = s->job->hidden;
    affine(s, R, s->h, 0, n, s->recurrent);
    for (int64_t k = 0; k < n; k++) {
        s->h[k] = s->gates[k] + s->recurrent[k];
    }
    activate(s, 0, s->h, true);
}

// Where the state of direction d, batch element b begins in initial_h, y_h ...
static int64_t state_at(const rnn_job *job, int64_t d, int64_t b)
{
    return (job->attr->layout ? b * job->directions + d : d * job->batch + b) * job->hidden;
}

static void load_state(const rnn_job *job, int operand, int64_t d, int64_t b, double *state)
{
    const tn_tensor *from = tn_call_in(job->call, operand);
    memset(state, 0, (size_t)job->hidden * sizeof *state);
    if (from) {
        tn_row_load(from->dtype, from->data, state_at(job, d, b), 1, job->hidden, state);
    }
}

// Stores a row of y for step t.
static void store_step(const rnn_job *job, int64_t t, int64_t d, int64_t b, const double *h)
{
    tn_tensor *y = tn_call_out(job->call, 0);
    if (y) {
        const int64_t by_step = (t * job->directions + d) * job->batch + b, by_batch = (b * job->steps + t) * job->directions + d;
        tn_row_store(y->dtype, y->data, (job->attr->layout ? by_batch : by_step) * job->hidden, 1, job->hidden, h);
    }
}

static void run_sequence(const rnn_job *job, int64_t d, int64_t b, int64_t length, double *scratch)
{
    const tn_tensor *x = job->call->in[X];
    const int64_t n = job->hidden, gates = job->cell->gates * n;
    double *h = scratch, *c = h + n, *mixed = c + n, *first = mixed + n;
    rnn_state s = {.job = job, .d = d, .h = h, .c = c, .mixed = mixed, .gates = first, .recurrent = first + gates,
                   .x = first + 2 * gates};
    const bool backward = d == 1 || job->attr->direction == TN_RNN_REVERSE;
    load_state(job, INITIAL_H, d, b, h);
    load_state(job, INITIAL_C, d, b, c);
    for (int64_t step = 0; step < length && !tn_cancelled(job->call); step++) {
        const int64_t t = backward ? length - 1 - step : step;
        tn_row_load(x->dtype, x->data, (job->attr->layout ? b * job->steps + t : t * job->batch + b) * job->inputs, 1, job->inputs,
                    s.x);
        affine(&s, W, s.x, 0, gates, s.gates);
        (job->cell->gates == 4 ? lstm_step : job->cell->gates == 3 ? gru_step : rnn_step)(&s);
        store_step(job, t, d, b, h);
    }
    for (int i = 1; i < 3; i++) {
        tn_tensor *out = tn_call_out(job->call, i);
        if (out) {
            tn_row_store(out->dtype, out->data, state_at(job, d, b), 1, n, i == 1 ? h : c);
        }
    }
    memset(mixed, 0, (size_t)n * sizeof *mixed);
    for (int64_t t = length; t < job->steps; t++) {
        store_step(job, t, d, b, mixed);   // past the end of a short sequence y is 0
    }
}

static void rnn_task(void *context, size_t first, size_t count, unsigned slot)
{
    const rnn_job *job = context;
    const tn_tensor *lengths = tn_call_in(job->call, LENGTHS);
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count); item++) {
        const int64_t b = item % job->batch;
        const int64_t length = lengths ? tn_dtype_load_i64(lengths->dtype, lengths->data, (size_t)b) : job->steps;
        run_sequence(job, item / job->batch, b, length, tn_slot_scratch(job->call, slot));
    }
}

static tn_status run_rnn(const tn_call *call)
{
    const tn_rnn_attr *attr = call->attr;
    const int64_t *x = call->in[X]->shape.dims;
    const tn_tensor *lengths = tn_call_in(call, LENGTHS);
    rnn_job job = {.call = call, .attr = attr, .cell = cell_of(call->op), .steps = x[attr->layout ? 1 : 0],
                   .batch = x[attr->layout ? 0 : 1], .inputs = x[2], .hidden = call->in[R]->shape.dims[2],
                   .directions = attr->direction == TN_RNN_BIDIRECTIONAL ? 2 : 1};
    if (job.hidden == 0) {
        return TN_OK;
    }
    for (int64_t b = 0; lengths && b < job.batch; b++) {
        const int64_t length = tn_dtype_load_i64(lengths->dtype, lengths->data, (size_t)b);
        if (length < 0 || length > job.steps) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name,
                           "%s: sequence %lld has the length %lld, but x has %lld steps",
                           call->op->name, (long long)b, (long long)length, (long long)job.steps);
        }
    }
    return tn_call_split(call, rnn_task, &job, (size_t)(job.directions * job.batch), 1);
}

// ---- export ----

#define RNN(NAME, OPERANDS, RESULTS)                                                                                     \
    const tn_op tn_op_##NAME = {                                                                                         \
        .name = #NAME, .version = 1, .min_in = 3, .max_in = OPERANDS, .min_out = 0, .max_out = RESULTS, .attrs = attrs,  \
        .n_attrs = TN_COUNT(attrs), .attr_size = sizeof(tn_rnn_attr), .defaults = &defaults, .infer = infer_rnn,         \
        .macs = macs_rnn,                                                                                                \
    }
RNN(lstm, 8, 3);
RNN(gru, 6, 2);
RNN(rnn, 6, 2);

static const tn_op *const ops[] = {&tn_op_lstm, &tn_op_gru, &tn_op_rnn};
TN_EXPORT_OPS(op_lstm, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(lstm, prepare_rnn, run_rnn),
    TN_REFERENCE_SCRATCH(gru, prepare_rnn, run_rnn),
    TN_REFERENCE_SCRATCH(rnn, prepare_rnn, run_rnn),
};
TN_EXPORT_KERNELS(op_lstm, rows);
