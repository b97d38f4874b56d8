// SPDX-License-Identifier: Apache-2.0
// Discrete Fourier transforms. fourier.inc has the algorithm. Forward is computed in double, inverse in the operand's precision: as
// numpy does, from which the standard's test vectors are; where sums cancel to 0 only the rounding is left to compare.
// Ownership: const data. Threads: any.
#include "ops/signal/op_fourier.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr dft_attrs[] = {
    {"inverse", TN_ATTR_BOOL, offsetof(tn_dft_attr, inverse), NULL},
    {"onesided", TN_ATTR_BOOL, offsetof(tn_dft_attr, onesided), NULL},
};
static const tn_attr stft_attrs[] = {{"onesided", TN_ATTR_BOOL, offsetof(tn_stft_attr, onesided), NULL}};
static const tn_stft_attr stft_defaults = {.onesided = true};

enum { LENGTH = 1, AXIS = 2 };                    // operands of dft
enum { STEP = 1, WINDOW = 2, FRAME = 3 };         // operands of stft

// ---- infer ----

// A scalar operand that may be absent or not yet known.
static tn_status known_scalar(const tn_infer *infer, int i, uint32_t set, int64_t *v, bool *known)
{
    *known = false;
    if (!tn_infer_in(infer, i)) {
        return TN_OK;
    }
    TN_TRY(tn_infer_type(infer, i, set));
    return tn_infer_int(infer, i, v, known);
}

// The last dim is 1 (real) or 2 (complex).
static tn_status check_parts(const tn_infer *infer, bool real_only, bool complex_only)
{
    const tn_shape *x = &infer->in[0]->shape;
    const int64_t parts = x->rank > 0 ? x->dims[x->rank - 1] : TN_DIM_UNKNOWN;
    if (tn_dim_known(parts) && ((parts != 1 && parts != 2) || (real_only && parts == 2) || (complex_only && parts == 1))) {
        return tn_infer_fail(infer, "the last dim is %lld, expected %s", (long long)parts,
                             real_only ? "1 (a real signal)" : complex_only ? "2 (a complex signal)" : "1 or 2");
    }
    return TN_OK;
}

static tn_status infer_dft(tn_infer *infer)
{
    const tn_dft_attr *attr = infer->attr;
    const bool real_out = attr->inverse && attr->onesided;
    tn_dtype dtype;
    int64_t axis = -2, n = TN_DIM_UNKNOWN;
    bool has_axis, has_length;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 2, TN_MAX_RANK));
    TN_TRY(check_parts(infer, attr->onesided && !attr->inverse, real_out));
    TN_TRY(known_scalar(infer, LENGTH, TN_SET_INDEX, &n, &has_length));
    TN_TRY(known_scalar(infer, AXIS, TN_SET_INDEX, &axis, &has_axis));
    tn_shape y = infer->in[0]->shape;
    if (y.rank >= 0) {
        y.dims[y.rank - 1] = real_out ? 1 : 2;
    }
    if (y.rank >= 0 && tn_infer_in(infer, AXIS) && !has_axis) {
        for (int i = 0; i < y.rank - 1; i++) {
            y.dims[i] = TN_DIM_UNKNOWN;
        }
    } else if (y.rank >= 0) {
        int at;
        TN_TRY(tn_infer_axis(infer, "axis", axis, y.rank, &at));
        if (at == y.rank - 1) {
            return tn_infer_fail(infer, "axis %lld is the one of the real and imaginary part", (long long)axis);
        }
        if (!tn_infer_in(infer, LENGTH)) {
            n = y.dims[at];
            n = tn_dim_known(n) && real_out ? n > INT64_MAX / 2 ? -1 : TN_MAX(2 * (n - 1), 0) : real_out ? TN_DIM_UNKNOWN : n;
        } else if (!has_length) {
            n = TN_DIM_UNKNOWN;
        }
        if (tn_dim_known(n) && n < 0) {
            return tn_infer_fail(infer, "the length is %lld", (long long)n);
        }
        const bool half = attr->onesided && !attr->inverse;
        y.dims[at] = !half ? n : tn_dim_known(n) ? n / 2 + 1 : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// The number of elements of a frame: given, that of the window, or all of the signal.
static tn_status infer_frame(const tn_infer *infer, int64_t signal, int64_t *frame)
{
    const tn_fact *window = tn_infer_in(infer, WINDOW);
    bool known;
    TN_TRY(known_scalar(infer, FRAME, TN_SET_INDEX, frame, &known));
    if (!known) {
        *frame = tn_infer_in(infer, FRAME) ? TN_DIM_UNKNOWN : signal;
    }
    if (window && !tn_infer_in(infer, FRAME)) {
        *frame = window->shape.rank == 1 ? window->shape.dims[0] : TN_DIM_UNKNOWN;
    }
    if (tn_dim_known(*frame) && (*frame < 1 || (tn_dim_known(signal) && *frame > signal))) {
        return tn_infer_fail(infer, "a frame has %lld elements, but the signal has %lld", (long long)*frame, (long long)signal);
    }
    return tn_infer_vector(infer, WINDOW, *frame);
}

static tn_status infer_stft(tn_infer *infer)
{
    const tn_stft_attr *attr = infer->attr;
    tn_dtype dtype;
    int64_t step = 0, frame = TN_DIM_UNKNOWN;
    bool has_step;
    TN_TRY(tn_infer_types(infer, 0, 0, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_rank(infer, 0, 2, 3));
    const tn_shape *x = &infer->in[0]->shape;
    if (x->rank == 3) {
        TN_TRY(check_parts(infer, attr->onesided, false));
    }
    TN_TRY(tn_infer_type(infer, STEP, TN_SET_INDEX));
    TN_TRY(known_scalar(infer, STEP, TN_SET_INDEX, &step, &has_step));
    TN_TRY(tn_infer_optional(infer, WINDOW, TN_SET_FLOAT));
    TN_TRY(tn_infer_like(infer, WINDOW, 0));
    const int64_t signal = x->rank >= 2 ? x->dims[1] : TN_DIM_UNKNOWN;
    TN_TRY(infer_frame(infer, signal, &frame));
    if (has_step && step < 1) {
        return tn_infer_fail(infer, "frame_step is %lld, expected a positive number", (long long)step);
    }
    tn_shape y = {.rank = 4, .dims = {x->rank >= 1 ? x->dims[0] : TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, TN_DIM_UNKNOWN, 2}};
    if (tn_dim_known(frame)) {
        y.dims[2] = attr->onesided ? frame / 2 + 1 : frame;
        y.dims[1] = has_step && tn_dim_known(signal) ? (signal - frame) / step + 1 : TN_DIM_UNKNOWN;
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// ---- the transform ----

#define PI 3.14159265358979323846

enum { LARGEST_FACTOR = 13 };

// Splits n >= 1 into factors: a 2, 4s, odd primes. Returns how many, or 0 when a prime is too large.
static int factorise(int64_t n, int factors[64])
{
    const int twos = __builtin_ctzll((unsigned long long)n);
    int count = 0;
    n >>= twos;
    if (twos % 2) {
        factors[count++] = 2;
    }
    for (int i = 0; i < twos / 2; i++) {
        factors[count++] = 4;
    }
    for (int p = 3; p <= LARGEST_FACTOR; p += 2) {
        for (; n % p == 0; n /= p) {
            factors[count++] = p;
        }
    }
    if (n == 1 && count == 0) {
        factors[count++] = 1;
    }
    return n == 1 ? count : 0;
}

// The power of two that a convolution for n points needs: at least 2 n - 1.
static int64_t convolution_length(int64_t n)
{
    int64_t m = 1;
    while (m < 2 * n - 1) {
        m *= 2;
    }
    return m;
}

#define REAL float
#define F(name) single_##name
#include "ops/signal/fourier.inc"
#undef REAL
#undef F
#define REAL double
#define F(name) double_##name
#include "ops/signal/fourier.inc"
#undef REAL
#undef F

// Doubles that a transform of up to n points needs, its points [n] and [n] included; false: too many. No length needs more than an
// odd one that becomes a convolution.
static bool fourier_words(int64_t n, int64_t *words)
{
    if (n > INT64_MAX / 256) {
        return false;
    }
    *words = 2 * n + 2 * n + 8 * convolution_length(n | 1);
    return true;
}

typedef struct fourier {
    double *re, *im;           // [n] each: points, then results
    bool is_double;
    single_transform single;
    double_transform full;
} fourier;

static void fourier_init(fourier *f, int64_t n, bool inverse, tn_dtype dtype, double *scratch)
{
    f->re = scratch;
    f->im = scratch + n;
    f->is_double = dtype == TN_F64 || !inverse;
    if (f->is_double) {
        double_transform_init(&f->full, n, inverse, (char *)(scratch + 2 * n));
    } else {
        single_transform_init(&f->single, n, inverse, (char *)(scratch + 2 * n));
    }
}

static void fourier_run(fourier *f)
{
    if (f->is_double) {
        double_transform_run(&f->full, f->re, f->im);
    } else {
        single_transform_run(&f->single, f->re, f->im);
    }
}

static tn_status prepare_fourier(tn_prepare *prepare, int64_t n)
{
    int64_t words = 0;
    size_t bytes;
    const bool some = tn_tensor_count(prepare->query->out[0]) > 0;
    if ((some && !fourier_words(n, &words)) || !tn_mul_size((size_t)words, sizeof(double), &bytes)) {
        return tn_fail_memory(prepare->diag, prepare->query->name, SIZE_MAX);
    }
    return tn_prepare_slots(prepare, bytes);
}

// ---- reference: dft ----

typedef struct dft_job {
    const tn_call *call;
    const tn_dft_attr *attr;
    int at;                      // axis
    int64_t n, inner;            // length of the transform; elements (of parts) inside the axis
    int64_t x_dim, y_dim;        // of the axis
    int64_t x_parts, y_parts;    // 1 or 2
} dft_job;

// Axis and length of a call or query: x is [outer][x_dim][inner][parts]. The length is told by the result where it can be.
static void dft_sizes(const tn_dft_attr *attr, const tn_tensor *x, const tn_tensor *y, const tn_tensor *length,
                      const tn_tensor *axis, dft_job *job)
{
    const int rank = x->shape.rank;
    int at = rank - 2;
    job->attr = attr;
    if (axis) {
        tn_axis(tn_dtype_load_i64(axis->dtype, axis->data, 0), rank, &at);
    }
    job->at = at;
    job->x_dim = x->shape.dims[at];
    job->y_dim = y->shape.dims[at];
    job->x_parts = x->shape.dims[rank - 1];
    job->y_parts = y->shape.dims[rank - 1];
    job->n = !attr->onesided || attr->inverse ? job->y_dim
             : length                         ? tn_dtype_load_i64(length->dtype, length->data, 0)
                                              : job->x_dim;
    job->inner = tn_tensor_count(y) ? tn_shape_span(&y->shape, at + 1, rank - 1) : 0;
}

// Lengths may be operands that only the run knows; the largest that fits the result is planned for.
static tn_status prepare_dft(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const tn_dft_attr *attr = query->attr;
    int64_t n = 0;
    for (int i = 0; i < query->out[0]->shape.rank - 1; i++) {
        n = TN_MAX(n, query->out[0]->shape.dims[i]);
    }
    return prepare_fourier(prepare, attr->onesided && !attr->inverse ? 2 * TN_MIN(n, INT64_MAX / 8) : n);
}

// Bins past the middle are the conjugates of those before: x[n - k] = x[k]*. Bins that are not given are 0.
static void mirror(const dft_job *job, fourier *f)
{
    const int64_t given = TN_MIN(job->x_dim, job->n / 2 + 1);
    for (int64_t k = job->n / 2 + 1; k < job->n; k++) {
        const int64_t other = job->n - k;
        f->re[k] = other < given ? f->re[other] : 0;
        f->im[k] = other < given ? -f->im[other] : 0;
    }
}

static void dft_task(void *context, size_t first, size_t count, unsigned slot)
{
    const dft_job *job = context;
    const tn_tensor *x = job->call->in[0], *y = job->call->out[0];
    const bool half = job->attr->onesided && job->attr->inverse;
    const int64_t given = TN_MIN(job->x_dim, half ? job->n / 2 + 1 : job->n);
    fourier f;
    fourier_init(&f, job->n, job->attr->inverse, x->dtype, tn_slot_scratch(job->call, slot));
    for (int64_t line = (int64_t)first; line < (int64_t)(first + count) && !tn_cancelled(job->call); line++) {
        const int64_t outer = line / job->inner, in = line % job->inner;
        const int64_t from = (outer * job->x_dim * job->inner + in) * job->x_parts,
            to = (outer * job->y_dim * job->inner + in) * job->y_parts;
        memset(f.re, 0, 2 * (size_t)job->n * sizeof(double));
        tn_row_load(x->dtype, x->data, from, job->inner * job->x_parts, given, f.re);
        if (job->x_parts == 2) {
            tn_row_load(x->dtype, x->data, from + 1, job->inner * job->x_parts, given, f.im);
        }
        if (half) {
            mirror(job, &f);
        }
        fourier_run(&f);
        tn_row_store(y->dtype, y->data, to, job->inner * job->y_parts, job->y_dim, f.re);
        if (job->y_parts == 2) {
            tn_row_store(y->dtype, y->data, to + 1, job->inner * job->y_parts, job->y_dim, f.im);
        }
    }
}

static tn_status run_dft(const tn_call *call)
{
    const int64_t count = tn_tensor_count(call->out[0]);
    dft_job job = {.call = call};
    dft_sizes(call->attr, call->in[0], call->out[0], tn_call_in(call, LENGTH), tn_call_in(call, AXIS), &job);
    bool planned = job.y_dim == (job.attr->onesided && !job.attr->inverse ? job.n / 2 + 1 : job.n);
    for (int i = 0; i < job.at; i++) {
        planned &= call->in[0]->shape.dims[i] == call->out[0]->shape.dims[i];
    }
    for (int i = job.at + 1; i < call->in[0]->shape.rank - 1; i++) {
        planned &= call->in[0]->shape.dims[i] == call->out[0]->shape.dims[i];
    }
    if (count && !planned) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name,
                       "dft: the axis or the length is not the one that was planned for");
    }
    return tn_call_split(call, dft_task, &job, count && job.n > 0 ? (size_t)(count / job.y_dim / job.y_parts) : 0, 1);
}

// ---- reference: stft ----

static int64_t frame_of(const tn_tensor *x, const tn_tensor *window, const tn_tensor *frame)
{
    return frame ? tn_dtype_load_i64(frame->dtype, frame->data, 0) : window ? window->shape.dims[0] : x->shape.dims[1];
}

static tn_status prepare_stft(tn_prepare *prepare)
{
    const tn_query *query = prepare->query;
    const int64_t bins = query->out[0]->shape.dims[2];
    // Two frame lengths have this many bins when onesided; both are less than twice as many.
    return prepare_fourier(prepare, ((const tn_stft_attr *)query->attr)->onesided ? 2 * TN_MIN(bins, INT64_MAX / 8) : bins);
}

typedef struct stft_job {
    const tn_call *call;
    int64_t frame, step;
} stft_job;

// One item is one frame of one batch element.
static void stft_task(void *context, size_t first, size_t count, unsigned slot)
{
    const stft_job *job = context;
    const tn_tensor *x = job->call->in[0], *window = tn_call_in(job->call, WINDOW), *y = job->call->out[0];
    const int64_t frames = y->shape.dims[1], bins = y->shape.dims[2], parts = x->shape.rank == 3 ? x->shape.dims[2] : 1;
    fourier f;
    fourier_init(&f, job->frame, false, x->dtype, tn_slot_scratch(job->call, slot));
    for (int64_t item = (int64_t)first; item < (int64_t)(first + count) && !tn_cancelled(job->call); item++) {
        const int64_t from = (item / frames * x->shape.dims[1] + item % frames * job->step) * parts, to = item * bins * 2;
        memset(f.re, 0, 2 * (size_t)job->frame * sizeof(double));
        tn_row_load(x->dtype, x->data, from, parts, job->frame, f.re);
        if (parts == 2) {
            tn_row_load(x->dtype, x->data, from + 1, parts, job->frame, f.im);
        }
        for (int64_t i = 0; window && i < job->frame; i++) {
            const double v = tn_element(window, i);
            f.re[i] *= v;
            f.im[i] *= v;
        }
        fourier_run(&f);
        tn_row_store(y->dtype, y->data, to, 2, bins, f.re);
        tn_row_store(y->dtype, y->data, to + 1, 2, bins, f.im);
    }
}

static tn_status run_stft(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *step = call->in[STEP];
    const tn_stft_attr *attr = call->attr;
    const tn_shape *y = &call->out[0]->shape;
    stft_job job = {.call = call, .step = tn_dtype_load_i64(step->dtype, step->data, 0)};
    job.frame = frame_of(x, tn_call_in(call, WINDOW), tn_call_in(call, FRAME));
    if (tn_tensor_count(call->out[0]) == 0) {
        return TN_OK;
    }
    const bool planned = job.step > 0 && job.frame > 0 && job.frame <= x->shape.dims[1] &&
                         y->dims[2] == (attr->onesided ? job.frame / 2 + 1 : job.frame) &&
                         y->dims[1] == (x->shape.dims[1] - job.frame) / job.step + 1;
    if (!planned) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name,
                       "stft: frame_step or frame_length is not the one that was planned for");
    }
    return tn_call_split(call, stft_task, &job, (size_t)(y->dims[0] * y->dims[1]), 4);
}

// ---- export ----

const tn_op tn_op_dft = {
    .name = "dft", .version = 1, .min_in = 1, .max_in = 3, .min_out = 1, .max_out = 1, .attrs = dft_attrs,
    .n_attrs = TN_COUNT(dft_attrs), .attr_size = sizeof(tn_dft_attr), .infer = infer_dft,
    .shape_operands = 1u << LENGTH | 1u << AXIS,
};
const tn_op tn_op_stft = {
    .name = "stft", .version = 1, .min_in = 2, .max_in = 4, .min_out = 1, .max_out = 1, .attrs = stft_attrs,
    .n_attrs = TN_COUNT(stft_attrs), .attr_size = sizeof(tn_stft_attr), .defaults = &stft_defaults, .infer = infer_stft,
    .shape_operands = 1u << STEP | 1u << FRAME,
};

static const tn_op *const ops[] = {&tn_op_dft, &tn_op_stft};
TN_EXPORT_OPS(op_fourier, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(dft, prepare_dft, run_dft),
    TN_REFERENCE_SCRATCH(stft, prepare_stft, run_stft),
};
TN_EXPORT_KERNELS(op_fourier, rows);
