// SPDX-License-Identifier: Apache-2.0
// Windows and the mel filter bank. All are functions of small operands, and are mostly folded into constants.
// Ownership: const data. Threads: any.
#include "ops/signal/op_window.h"

#include "base/num.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

#include <math.h>

// ---- attributes ----

static const tn_attr window_attrs[] = {
    {"periodic", TN_ATTR_BOOL, offsetof(tn_signal_window_attr, periodic), NULL},
    {"dtype", TN_ATTR_DTYPE, offsetof(tn_signal_window_attr, dtype), NULL},
};
static const tn_signal_window_attr window_defaults = {.periodic = true, .dtype = TN_F32};

static const tn_attr mel_attrs[] = {{"dtype", TN_ATTR_DTYPE, offsetof(tn_mel_attr, dtype), NULL}};
static const tn_mel_attr mel_defaults = {.dtype = TN_F32};

// ---- infer ----

static tn_status check_dtype(const tn_infer *infer, tn_dtype dtype)
{
    const bool number = dtype > TN_NONE && dtype < TN_DTYPE_COUNT && (TN_SET_NUMBER >> dtype & 1);
    return number ? TN_OK : tn_infer_fail(infer, "a result of type %s cannot be made", tn_dtype_text(dtype));
}

// A size that operand i gives; unknown when its contents are.
static tn_status size_operand(const tn_infer *infer, int i, int64_t *size)
{
    bool known;
    TN_TRY(tn_infer_type(infer, i, TN_SET_INDEX));
    TN_TRY(tn_infer_int(infer, i, size, &known));
    if (!known) {
        *size = TN_DIM_UNKNOWN;
    } else if (*size < 0) {
        return tn_infer_fail(infer, "operand %d is %lld, expected a size", i, (long long)*size);
    }
    return TN_OK;
}

static tn_status infer_window(tn_infer *infer)
{
    const tn_signal_window_attr *attr = infer->attr;
    int64_t size;
    TN_TRY(size_operand(infer, 0, &size));
    TN_TRY(check_dtype(infer, attr->dtype));
    const tn_shape y = tn_shape_of(1, &size);
    tn_infer_out(infer, 0, attr->dtype, &y);
    return TN_OK;
}

static tn_status infer_mel(tn_infer *infer)
{
    const tn_mel_attr *attr = infer->attr;
    int64_t mels, length, rate;
    TN_TRY(size_operand(infer, 0, &mels));
    TN_TRY(size_operand(infer, 1, &length));
    TN_TRY(size_operand(infer, 2, &rate));
    for (int i = 3; i < 5; i++) {
        TN_TRY(tn_infer_type(infer, i, TN_SET_FLOAT));
        TN_TRY(tn_infer_scalar(infer, i));
    }
    TN_TRY(check_dtype(infer, attr->dtype));
    const tn_shape y = {.rank = 2, .dims = {tn_dim_known(length) ? length / 2 + 1 : TN_DIM_UNKNOWN, mels}};
    tn_infer_out(infer, 0, attr->dtype, &y);
    return TN_OK;
}

// ---- reference ----

// a0 - a1 cos(2 pi n / N) + a2 cos(4 pi n / N), N = size, or size - 1 when not periodic.
static tn_status run_cosines(const tn_call *call, double a0, double a1, double a2)
{
    const tn_signal_window_attr *attr = call->attr;
    tn_tensor *y = call->out[0];
    const int64_t size = y->shape.dims[0], steps = attr->periodic ? size : TN_MAX(size - 1, 1);
    const double turn = 2 * 3.14159265358979323846 / (double)steps;
    for (int64_t n = 0; n < size && !tn_cancelled(call); n++) {
        const double angle = turn * (double)n;
        tn_dtype_store(y->dtype, y->data, (size_t)n, a0 - a1 * cos(angle) + a2 * cos(2 * angle));
    }
    return tn_call_status(call);
}

static tn_status run_hann(const tn_call *call) { return run_cosines(call, 0.5, 0.5, 0); }
static tn_status run_hamming(const tn_call *call) { return run_cosines(call, 25.0 / 46, 21.0 / 46, 0); }
static tn_status run_blackman(const tn_call *call) { return run_cosines(call, 0.42, 0.5, 0.08); }

// The bin of the spectrum where edge `i` of the triangles lies; edges are evenly spaced in mel = 2595 log10(1 + hertz / 700).
static double mel_edge(const tn_call *call, int64_t i, int64_t mels)
{
    const double low = 2595 * log10(1 + tn_element(call->in[3], 0) / 700),
        high = 2595 * log10(1 + tn_element(call->in[4], 0) / 700);
    const double mel = low + (double)i * (high - low) / (double)(mels + 2), hertz = 700 * (pow(10, mel / 2595) - 1);
    return floor((tn_element(call->in[1], 0) + 1) * hertz / tn_element(call->in[2], 0));
}

// Column m is a triangle that rises from edge m to edge m + 1 and falls to edge m + 2.
static tn_status run_mel(const tn_call *call)
{
    tn_tensor *y = call->out[0];
    const int64_t bins = y->shape.dims[0], mels = y->shape.dims[1];
    if (!(tn_element(call->in[2], 0) > 0)) {
        return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "mel_weight_matrix: sample_rate must be positive");
    }
    for (int64_t m = 0; m < mels && !tn_cancelled(call); m++) {
        const double left = mel_edge(call, m, mels), peak = mel_edge(call, m + 1, mels), right = mel_edge(call, m + 2, mels);
        for (int64_t b = 0; b < bins; b++) {
            const double at = (double)b;
            double v = 0;
            if (at >= peak && at < right) {
                v = (right - at) / (right - peak);
            } else if (at >= left && at <= peak) {
                v = peak == left ? 1 : (at - left) / (peak - left);
            }
            tn_dtype_store(y->dtype, y->data, (size_t)(b * mels + m), v);
        }
    }
    return tn_call_status(call);
}

// ---- export ----

#define WINDOW(NAME)                                                                                                              \
    const tn_op tn_op_##NAME = {                                                                                                  \
        .name = #NAME, .version = 1, .min_in = 1, .max_in = 1, .min_out = 1, .max_out = 1, .attrs = window_attrs,                 \
        .n_attrs = TN_COUNT(window_attrs), .attr_size = sizeof(tn_signal_window_attr), .defaults = &window_defaults,              \
        .infer = infer_window, .shape_operands = 1,                                                                               \
    }
WINDOW(hann_window);
WINDOW(hamming_window);
WINDOW(blackman_window);

const tn_op tn_op_mel_weight_matrix = {
    .name = "mel_weight_matrix", .version = 1, .min_in = 5, .max_in = 5, .min_out = 1, .max_out = 1, .attrs = mel_attrs,
    .n_attrs = TN_COUNT(mel_attrs), .attr_size = sizeof(tn_mel_attr), .defaults = &mel_defaults, .infer = infer_mel,
    .shape_operands = 3,
};

static const tn_op *const ops[] = {&tn_op_hann_window, &tn_op_hamming_window, &tn_op_blackman_window, &tn_op_mel_weight_matrix};
TN_EXPORT_OPS(op_window, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE(hann_window, NULL, run_hann),
    TN_REFERENCE(hamming_window, NULL, run_hamming),
    TN_REFERENCE(blackman_window, NULL, run_blackman),
    TN_REFERENCE(mel_weight_matrix, NULL, run_mel),
};
TN_EXPORT_KERNELS(op_window, rows);
