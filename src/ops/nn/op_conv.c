// SPDX-License-Identifier: Apache-2.0
// Convolution and transposed convolution (ONNX Conv 22, ConvTranspose 22), with what fusion adds: residual and activation.
// The reference works on blocks of 16 result channels by up to 256 columns: a run of the input is converted once and used by all
// channels of the block. Each result is one sum in the order c, kd, kh, kw, whatever the block.
// Ownership: const data. Threads: any.
#include "ops/nn/op_conv.h"

#include "base/num.h"
#include "ops/nn/nn_reference.h"
#include "ops/op_facts.h"
#include "ops/op_rows.h"

// ---- attributes ----

const char *const tn_auto_pad_texts[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};

static const tn_attr conv_attrs[] = {
    {"kernel", TN_ATTR_INTS, offsetof(tn_conv_attr, kernel), NULL},
    {"strides", TN_ATTR_INTS, offsetof(tn_conv_attr, strides), NULL},
    {"pads", TN_ATTR_INTS, offsetof(tn_conv_attr, pads), NULL},
    {"dilations", TN_ATTR_INTS, offsetof(tn_conv_attr, dilations), NULL},
    {"group", TN_ATTR_INT, offsetof(tn_conv_attr, group), NULL},
    {"auto_pad", TN_ATTR_ENUM, offsetof(tn_conv_attr, auto_pad), tn_auto_pad_texts},
    TN_ACT_ATTRS(tn_conv_attr),
};
static const tn_conv_attr conv_defaults = {.group = 1, .act = {.code = TN_LOOP_CONST}};

static const tn_attr deconv_attrs[] = {
    {"kernel", TN_ATTR_INTS, offsetof(tn_deconv_attr, kernel), NULL},
    {"strides", TN_ATTR_INTS, offsetof(tn_deconv_attr, strides), NULL},
    {"pads", TN_ATTR_INTS, offsetof(tn_deconv_attr, pads), NULL},
    {"dilations", TN_ATTR_INTS, offsetof(tn_deconv_attr, dilations), NULL},
    {"output_padding", TN_ATTR_INTS, offsetof(tn_deconv_attr, output_padding), NULL},
    {"output_shape", TN_ATTR_INTS, offsetof(tn_deconv_attr, output_shape), NULL},
    {"group", TN_ATTR_INT, offsetof(tn_deconv_attr, group), NULL},
    {"auto_pad", TN_ATTR_ENUM, offsetof(tn_deconv_attr, auto_pad), tn_auto_pad_texts},
    TN_ACT_ATTRS(tn_deconv_attr),
};
static const tn_deconv_attr deconv_defaults = {.group = 1, .act = {.code = TN_LOOP_CONST}};

// ---- windows ----

// Larger kernels, strides, dilations and pads are refused, so that sums and products of two of them fit in int64.
#define WINDOW_MAX ((int64_t)1 << 31)

// Element i of a list that may be left out. Returns false when the list has another length or the number is out of range.
static bool list_value(const tn_ints *list, int length, int i, int64_t low, int64_t otherwise, int64_t *out)
{
    *out = otherwise;
    if (list->set) {
        if (list->count != length) {
            return false;
        }
        *out = list->v[i];
    }
    return *out >= low && *out <= WINDOW_MAX;
}

// The steps that conv and deconv have in common.
static const char *fill_steps(const tn_ints *strides, const tn_ints *dilations, tn_window *w)
{
    for (int i = 0; i < w->rank; i++) {
        if (!list_value(strides, w->rank, i, 1, 1, &w->stride[i])) {
            return "strides must be one positive number for each spatial dim";
        }
        if (!list_value(dilations, w->rank, i, 1, 1, &w->dilation[i])) {
            return "dilations must be one positive number for each spatial dim";
        }
        if (tn_dim_known(w->kernel[i]) && (w->kernel[i] < 1 || w->kernel[i] > WINDOW_MAX)) {
            return "the kernel must have at least one element in each spatial dim";
        }
    }
    return NULL;
}

// Elements from the first to the last tap; needs a known kernel.
static int64_t reach(const tn_window *w, int i) { return w->dilation[i] * (w->kernel[i] - 1) + 1; }

static bool is_same(int auto_pad) { return auto_pad == TN_PAD_SAME_UPPER || auto_pad == TN_PAD_SAME_LOWER; }

// Splits a total padding: the odd element goes to the end for SAME_UPPER, to the begin for SAME_LOWER.
static void split_pad(int auto_pad, int64_t total, int64_t *begin, int64_t *end)
{
    *begin = auto_pad == TN_PAD_SAME_LOWER ? total - total / 2 : total / 2;
    *end = total - *begin;
}

// Output size of one spatial dim (ONNX Conv and the pools):
//     out = floor((in + pads - (dilation * (kernel - 1) + 1)) / stride) + 1
// SAME makes out = ceil(in / stride) and pads as needed. An input that is not known gives an output that is not known, unless the
// window keeps sizes: then symbols pass through.
static const char *slide_axis(const tn_sliding *s, tn_window *w, int i)
{
    const bool same = is_same(s->auto_pad);
    if (same || s->auto_pad == TN_PAD_VALID) {
        w->pad_begin[i] = w->pad_end[i] = 0;
    } else if (!list_value(&s->pads, 2 * w->rank, i, -WINDOW_MAX, 0, &w->pad_begin[i]) ||
               !list_value(&s->pads, 2 * w->rank, w->rank + i, -WINDOW_MAX, 0, &w->pad_end[i])) {
        return "pads must be two numbers for each spatial dim: all begins, then all ends";
    }
    w->out[i] = TN_DIM_UNKNOWN;
    if (!tn_dim_known(w->kernel[i])) {
        return NULL;
    }
    const int64_t taps = reach(w, i), in = w->in[i], stride = w->stride[i];
    if (!tn_dim_known(in)) {
        const bool keeps = stride == 1 && (same || w->pad_begin[i] + w->pad_end[i] == taps - 1);
        w->out[i] = keeps ? in : TN_DIM_UNKNOWN;
        return NULL;
    }
    if (in > INT64_MAX / 4) {
        return "a spatial dim is too large";
    }
    if (same) {
        w->out[i] = TN_CEIL_DIV(in, stride);
        const int64_t total = (w->out[i] - 1) * stride + taps - in;
        split_pad(s->auto_pad, TN_MAX(total, 0), &w->pad_begin[i], &w->pad_end[i]);
        return NULL;
    }
    const int64_t room = in + w->pad_begin[i] + w->pad_end[i] - taps;
    if (room < 0) {
        w->out[i] = 0;
        return in == 0 ? NULL : "the kernel is larger than the padded input";
    }
    w->out[i] = room / stride + 1;
    // ONNX pooling: a window that would start in the padding at the end does not count.
    if (s->ceil_mode && s->auto_pad == TN_PAD_NOTSET && room % stride != 0 && w->out[i] * stride < in + w->pad_begin[i]) {
        w->out[i]++;
    }
    return NULL;
}

const char *tn_window_slide(const tn_sliding *sliding, tn_window *window)
{
    const char *wrong = fill_steps(&sliding->strides, &sliding->dilations, window);
    if (sliding->auto_pad < TN_PAD_NOTSET || sliding->auto_pad > TN_PAD_VALID) {
        wrong = "auto_pad is none of NOTSET, SAME_UPPER, SAME_LOWER and VALID";
    }
    for (int i = 0; i < window->rank && !wrong; i++) {
        wrong = slide_axis(sliding, window, i);
    }
    return wrong;
}

// Output size and pads of a transposed convolution (ONNX ConvTranspose, the two equations there).
static const char *deconv_axis(const tn_deconv_attr *attr, tn_window *w, int i)
{
    const bool same = is_same(attr->auto_pad);
    int64_t extra, asked = -1;
    if (!list_value(&attr->output_padding, w->rank, i, 0, 0, &extra)) {
        return "output_padding must be one number for each spatial dim, not negative";
    }
    // Early opsets gave the whole shape, with batch and channels.
    const int given = attr->output_shape.set ? attr->output_shape.count : 0;
    if (given && ((given != w->rank && given != w->rank + 2) ||
                  !list_value(&attr->output_shape, given, given - w->rank + i, 0, 0, &asked))) {
        return "output_shape must be one size for each spatial dim";
    }
    w->pad_begin[i] = w->pad_end[i] = 0;
    if (!given && attr->auto_pad == TN_PAD_NOTSET &&
        (!list_value(&attr->pads, 2 * w->rank, i, -WINDOW_MAX, 0, &w->pad_begin[i]) ||
         !list_value(&attr->pads, 2 * w->rank, w->rank + i, -WINDOW_MAX, 0, &w->pad_end[i]))) {
        return "pads must be two numbers for each spatial dim: all begins, then all ends";
    }
    w->out[i] = asked >= 0 ? asked : TN_DIM_UNKNOWN;
    if (!tn_dim_known(w->kernel[i]) || !tn_dim_known(w->in[i])) {
        return NULL;
    }
    int64_t whole, one = w->in[i] - 1;   // size without any padding
    if (!tn_mul_i64(one, w->stride[i], &whole) || whole > INT64_MAX / 4 || reach(w, i) > INT64_MAX / 4) {
        return "a spatial dim is too large";
    }
    whole += reach(w, i) + extra;
    if (asked < 0 && same) {
        asked = w->in[i] * w->stride[i];
    }
    if (asked >= 0) {
        split_pad(attr->auto_pad == TN_PAD_SAME_UPPER ? TN_PAD_SAME_UPPER : TN_PAD_SAME_LOWER, TN_MAX(whole - asked, 0),
                  &w->pad_begin[i], &w->pad_end[i]);
        w->out[i] = asked;
        return NULL;
    }
    w->out[i] = w->in[i] == 0 ? 0 : whole - w->pad_begin[i] - w->pad_end[i];
    return w->out[i] < 0 ? "the pads take away more than there is" : NULL;
}

// All spatial dims of a transposed convolution.
static const char *deconv_slide(const tn_deconv_attr *attr, tn_window *window)
{
    const char *wrong = fill_steps(&attr->strides, &attr->dilations, window);
    if (attr->auto_pad < TN_PAD_NOTSET || attr->auto_pad > TN_PAD_VALID) {
        wrong = "auto_pad is none of NOTSET, SAME_UPPER, SAME_LOWER and VALID";
    }
    for (int i = 0; i < window->rank && !wrong; i++) {
        wrong = deconv_axis(attr, window, i);
    }
    return wrong;
}

// Rank, kernel and input sizes of a window from the shapes of x and w, either of which may be unknown. Returns a broken rule.
static const char *window_sizes(const tn_ints *kernel, const tn_shape *x, const tn_shape *w, tn_window *window)
{
    const int rank = x->rank >= 0 ? x->rank : w->rank;
    memset(window, 0, sizeof *window);
    if (rank < 3 || rank > 5 || (w->rank >= 0 && w->rank != rank)) {
        return "x and w must both have rank 3, 4 or 5";
    }
    window->rank = rank - 2;
    if (kernel->set && kernel->count != window->rank) {
        return "kernel must be one number for each spatial dim";
    }
    for (int i = 0; i < window->rank; i++) {
        window->in[i] = x->rank >= 0 ? x->dims[2 + i] : TN_DIM_UNKNOWN;
        window->kernel[i] = w->rank >= 0 ? w->dims[2 + i] : TN_DIM_UNKNOWN;
        if (kernel->set && !tn_dim_join(kernel->v[i], window->kernel[i], &window->kernel[i])) {
            return "kernel differs from the shape of w";
        }
    }
    return NULL;
}

static tn_sliding conv_sliding(const tn_conv_attr *attr)
{
    const tn_sliding sliding = {attr->strides, attr->pads, attr->dilations, attr->auto_pad, false};
    return sliding;
}

bool tn_conv_window(const tn_conv_attr *attr, const tn_shape *x, const tn_shape *w, tn_window *window)
{
    const tn_sliding sliding = conv_sliding(attr);
    return !window_sizes(&attr->kernel, x, w, window) && !tn_window_slide(&sliding, window);
}

bool tn_deconv_window(const tn_deconv_attr *attr, const tn_shape *x, const tn_shape *w, tn_window *window)
{
    return !window_sizes(&attr->kernel, x, w, window) && !deconv_slide(attr, window);
}

// 1-d [w] becomes [1, 1, w], 2-d [h, w] becomes [1, h, w]: a tap of a dim of one, without pads, changes nothing.
void tn_window_widen(tn_window *window)
{
    int64_t *const fields[] = {window->kernel, window->stride, window->dilation, window->pad_begin,
                               window->pad_end, window->in, window->out};
    const int shift = 3 - window->rank;
    for (size_t f = 0; f < TN_COUNT(fields); f++) {
        const bool pad = fields[f] == window->pad_begin || fields[f] == window->pad_end;
        for (int i = 2; i >= 0; i--) {
            fields[f][i] = i >= shift ? fields[f][i - shift] : pad ? 0 : 1;
        }
    }
    window->rank = 3;
}

// ---- infer ----

// group must divide both channel counts. c and m may be unknown.
static tn_status check_group(const tn_infer *infer, int64_t group, int64_t c, int64_t m)
{
    if (group < 1) {
        return tn_infer_fail(infer, "group is %lld, expected a positive number", (long long)group);
    }
    if ((tn_dim_known(c) && c % group != 0) || (tn_dim_known(m) && m % group != 0)) {
        return tn_infer_fail(infer, "group %lld does not divide the channels", (long long)group);
    }
    return TN_OK;
}

// float64 results would lose bits in an activation, which is float32 arithmetic: fusion leaves them alone.
static tn_status check_act(const tn_infer *infer, const tn_act *act, tn_dtype dtype)
{
    if (!tn_act_valid(act) || (act->code != TN_LOOP_CONST && dtype == TN_F64)) {
        return tn_infer_fail(infer, "activation %lld cannot be applied to %s", (long long)act->code, tn_dtype_text(dtype));
    }
    return TN_OK;
}

// Dim i of a shape whose rank may not be known.
static int64_t dim_or_unknown(const tn_shape *shape, int i) { return shape->rank > i ? shape->dims[i] : TN_DIM_UNKNOWN; }

// The shape [n, m, out...].
static tn_shape result_shape(int64_t n, int64_t m, const tn_window *window)
{
    tn_shape y = {.rank = window->rank + 2, .dims = {n, m}};
    for (int i = 0; i < window->rank; i++) {
        y.dims[2 + i] = window->out[i];
    }
    return y;
}

// x [N, C, in...], w [M, C / group, kernel...] -> y [N, M, out...].
tn_status tn_conv_infer(const tn_infer *infer, const tn_conv_attr *attr, int x, int w, tn_shape *y)
{
    const tn_shape *xs = &infer->in[x]->shape, *ws = &infer->in[w]->shape;
    const int64_t c = dim_or_unknown(xs, 1), m = dim_or_unknown(ws, 0);
    *y = tn_shape_unknown();
    TN_TRY(check_group(infer, attr->group, c, m));
    if (xs->rank < 0 && ws->rank < 0) {
        return TN_OK;
    }
    tn_window window;
    const tn_sliding sliding = conv_sliding(attr);
    const char *wrong = window_sizes(&attr->kernel, xs, ws, &window);
    if (!wrong) {
        wrong = tn_window_slide(&sliding, &window);
    }
    if (wrong) {
        return tn_infer_fail(infer, "%s", wrong);
    }
    int64_t part = dim_or_unknown(ws, 1);
    if (tn_dim_known(c) && !tn_dim_join(part, c / attr->group, &part)) {
        return tn_infer_fail(infer, "w has %lld channels a group, but x has %lld in %lld groups", (long long)part, (long long)c,
                             (long long)attr->group);
    }
    *y = result_shape(dim_or_unknown(xs, 0), m, &window);
    return TN_OK;
}

static tn_status infer_conv(tn_infer *infer)
{
    const tn_conv_attr *attr = infer->attr;
    tn_dtype dtype;
    tn_shape y;
    TN_TRY(tn_infer_types(infer, 0, 1, TN_SET_FLOAT, &dtype));
    for (int i = 2; i < 4; i++) {
        TN_TRY(tn_infer_optional(infer, i, TN_SET_FLOAT));
        TN_TRY(tn_infer_like(infer, i, 0));
    }
    TN_TRY(tn_conv_infer(infer, attr, 0, 1, &y));
    TN_TRY(tn_infer_vector(infer, 2, y.rank < 0 ? TN_DIM_UNKNOWN : y.dims[1]));
    TN_TRY(tn_infer_shape(infer, 3, &y));
    TN_TRY(check_act(infer, &attr->act, dtype));
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// x [N, C, in...], w [C, M / group, kernel...], bias [M] -> y [N, M, out...].
static tn_status infer_deconv(tn_infer *infer)
{
    const tn_deconv_attr *attr = infer->attr;
    tn_dtype dtype;
    TN_TRY(tn_infer_types(infer, 0, 1, TN_SET_FLOAT, &dtype));
    TN_TRY(tn_infer_optional(infer, 2, TN_SET_FLOAT));
    TN_TRY(tn_infer_like(infer, 2, 0));
    TN_TRY(check_act(infer, &attr->act, dtype));
    const tn_shape *x = &infer->in[0]->shape, *w = &infer->in[1]->shape;
    int64_t c, m;
    TN_TRY(check_group(infer, attr->group, dim_or_unknown(x, 1), TN_DIM_UNKNOWN));
    TN_TRY(check_group(infer, attr->group, dim_or_unknown(w, 0), TN_DIM_UNKNOWN));
    if (!tn_dim_join(dim_or_unknown(x, 1), dim_or_unknown(w, 0), &c)) {
        return tn_infer_fail(infer, "x has %lld channels, but w is made for %lld", (long long)x->dims[1], (long long)w->dims[0]);
    }
    if (!tn_dim_times(dim_or_unknown(w, 1), attr->group, &m)) {
        return tn_infer_fail(infer, "too many channels");
    }
    TN_TRY(tn_infer_vector(infer, 2, m));
    tn_shape y = tn_shape_unknown();
    if (x->rank >= 0 || w->rank >= 0) {
        tn_window window;
        const char *wrong = window_sizes(&attr->kernel, x, w, &window);
        if (!wrong) {
            wrong = deconv_slide(attr, &window);
        }
        if (wrong) {
            return tn_infer_fail(infer, "%s", wrong);
        }
        y = result_shape(dim_or_unknown(x, 0), m, &window);
    }
    tn_infer_out(infer, 0, dtype, &y);
    return TN_OK;
}

// Every result takes the weights of one output channel: y elements * (w elements / M).
int64_t tn_conv_macs(const tn_shape *w, const tn_shape *y)
{
    int64_t weights, macs;
    if (!tn_shape_count(w, &weights) || !tn_shape_count(y, &macs)) {
        return INT64_MAX;
    }
    return w->dims[0] > 0 && tn_mul_i64(macs, weights / w->dims[0], &macs) ? macs : w->dims[0] > 0 ? INT64_MAX : 0;
}

static int64_t macs_conv(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)n_out;
    return tn_conv_macs(&in[1]->shape, &out->shape);
}

// Every element of x meets the weights of its channel: x elements * (M / group) * kernel.
static int64_t macs_deconv(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out)
{
    (void)attr, (void)n_in, (void)out, (void)n_out;
    return tn_conv_macs(&in[1]->shape, &in[0]->shape);
}

// ---- reference ----

// A block of results: channels m0 .. of one group, columns t0 .. of one output row.
enum { BLOCK = 16, TILE = 256, PITCH = TILE + 8 };   // a pitch that is no power of two keeps rows apart in the cache

typedef struct conv_block {
    int64_t n, g, m0, mc, od, oh, t0, tc;
} conv_block;

typedef struct conv_scratch {
    double sums[BLOCK][PITCH];
    double run[TILE];
    double weights[BLOCK], zeros[BLOCK];
} conv_scratch;

tn_status tn_conv_reference_prepare(tn_prepare *prepare) { return tn_prepare_slots(prepare, sizeof(conv_scratch)); }

// Channels of one group on each side.
static int64_t group_in(const tn_conv_reference *r) { return r->x->shape.dims[1] / r->group; }
static int64_t group_out(const tn_conv_reference *r) { return r->y->shape.dims[1] / r->group; }

// Weights of the block's channels for input channel c (of the group) and tap k, zero points taken off.
static void load_weights(const tn_conv_reference *r, const conv_block *b, int64_t c, int64_t k, const double *zeros,
                         double *weights)
{
    const tn_window *w = &r->window;
    const int64_t taps = w->kernel[0] * w->kernel[1] * w->kernel[2], cg = group_in(r), mg = group_out(r);
    const int64_t first = b->g * mg + b->m0;
    if (r->transposed) {
        tn_row_load(r->w->dtype, r->w->data, ((b->g * cg + c) * mg + b->m0) * taps + k, taps, b->mc, weights);
    } else {
        tn_row_load(r->w->dtype, r->w->data, (first * cg + c) * taps + k, cg * taps, b->mc, weights);
    }
    for (int64_t m = 0; r->w_zero && m < b->mc; m++) {
        weights[m] -= zeros[m];
    }
}

// Zero points of the block's weights, when there are any.
static void load_zeros(const tn_conv_reference *r, const conv_block *b, double *zeros)
{
    const int64_t each = r->w_zero && tn_tensor_count(r->w_zero) != 1;
    if (r->w_zero) {
        const int64_t first = each ? b->g * group_out(r) + b->m0 : 0;
        tn_row_load(r->w_zero->dtype, r->w_zero->data, first, each, b->mc, zeros);
    }
}

// Adds one tap of one input row. Element `first + i` of the row, i < count, meets column `column + i * step` of the block.
static void add_tap(const tn_conv_reference *r, const conv_block *b, int64_t c, int64_t k, int64_t element, int64_t stride,
                    int64_t count, int64_t column, int64_t step, conv_scratch *s)
{
    tn_row_load(r->x->dtype, r->x->data, element, stride, count, s->run);
    for (int64_t i = 0; r->x_zero != 0 && i < count; i++) {
        s->run[i] -= r->x_zero;
    }
    load_weights(r, b, c, k, s->zeros, s->weights);
    for (int64_t m = 0; m < b->mc; m++) {
        double *sums = s->sums[m] + column;
        if (step == 1) {
            tn_row_add(sums, s->run, s->weights[m], count);
            continue;
        }
        for (int64_t i = 0; i < count; i++) {
            sums[i * step] += s->weights[m] * s->run[i];
        }
    }
}

// The columns of a block that tap kw reaches: conv reads x[o * stride - pad + kw * dilation].
static void conv_columns(const tn_conv_reference *r, const conv_block *b, int64_t c, int64_t k, int64_t row, int64_t kw,
                         conv_scratch *s)
{
    const tn_window *w = &r->window;
    const int64_t stride = w->stride[2], base = b->t0 * stride - w->pad_begin[2] + kw * w->dilation[2];
    const int64_t low = base >= 0 ? 0 : TN_CEIL_DIV(-base, stride);
    const int64_t high = base >= w->in[2] ? 0 : TN_MIN(b->tc, (w->in[2] - 1 - base) / stride + 1);
    if (low < high) {
        add_tap(r, b, c, k, row + base + low * stride, stride, high - low, low, 1, s);
    }
}

// Element i of x goes to column i * stride - pad + kw * dilation.
static void deconv_columns(const tn_conv_reference *r, const conv_block *b, int64_t c, int64_t k, int64_t row, int64_t kw,
                           conv_scratch *s)
{
    const tn_window *w = &r->window;
    const int64_t stride = w->stride[2], base = kw * w->dilation[2] - w->pad_begin[2] - b->t0;   // column of element 0
    const int64_t low = base >= 0 ? 0 : TN_CEIL_DIV(-base, stride);
    const int64_t high = base >= b->tc ? 0 : TN_MIN(w->in[2], (b->tc - 1 - base) / stride + 1);
    if (low < high) {
        add_tap(r, b, c, k, row + low, 1, high - low, base + low * stride, stride, s);
    }
}

// The input position that tap k of output position o reads along axis i; -1: none.
static int64_t source(const tn_conv_reference *r, int i, int64_t o, int64_t k)
{
    const tn_window *w = &r->window;
    int64_t at;
    if (r->transposed) {
        at = o + w->pad_begin[i] - k * w->dilation[i];
        if (at < 0 || at % w->stride[i] != 0) {
            return -1;
        }
        at /= w->stride[i];
    } else {
        at = o * w->stride[i] - w->pad_begin[i] + k * w->dilation[i];
    }
    return at >= 0 && at < w->in[i] ? at : -1;
}

// Adds input channel c (of the block's group) to all sums of the block: taps in the order kd, kh, kw. Rows that lie in the padding
// add nothing and are skipped.
static void add_channel(const tn_conv_reference *r, const conv_block *b, int64_t c, conv_scratch *s)
{
    const tn_window *w = &r->window;
    const int64_t plane = (b->n * r->x->shape.dims[1] + b->g * group_in(r) + c) * w->in[0];
    for (int64_t kd = 0; kd < w->kernel[0]; kd++) {
        const int64_t id = source(r, 0, b->od, kd);
        for (int64_t kh = 0; id >= 0 && kh < w->kernel[1]; kh++) {
            const int64_t ih = source(r, 1, b->oh, kh);
            for (int64_t kw = 0; ih >= 0 && kw < w->kernel[2]; kw++) {
                const int64_t row = ((plane + id) * w->in[1] + ih) * w->in[2], k = (kd * w->kernel[1] + kh) * w->kernel[2] + kw;
                (r->transposed ? deconv_columns : conv_columns)(r, b, c, k, row, kw, s);
            }
        }
    }
}

// Items count tiles fastest, then rows of the output, channel blocks, groups and images: neighbours share input rows.
static conv_block block_of(const tn_conv_reference *r, int64_t item)
{
    const tn_window *w = &r->window;
    const int64_t mg = group_out(r), blocks = TN_CEIL_DIV(mg, BLOCK), tiles = TN_CEIL_DIV(w->out[2], TILE);
    conv_block b;
    b.t0 = item % tiles * TILE;
    item /= tiles;
    b.oh = item % w->out[1];
    item /= w->out[1];
    b.od = item % w->out[0];
    item /= w->out[0];
    b.m0 = item % blocks * BLOCK;
    item /= blocks;
    b.g = item % r->group;
    b.n = item / r->group;
    b.mc = TN_MIN(mg - b.m0, BLOCK);
    b.tc = TN_MIN(w->out[2] - b.t0, TILE);
    return b;
}

// Each item writes results of its own, so that the split over threads does not show in the bits.
static void conv_task(void *context, size_t first, size_t count, unsigned slot)
{
    const tn_conv_reference *r = context;
    const tn_window *w = &r->window;
    conv_scratch *s = tn_slot_scratch(r->call, slot);
    for (size_t item = first; item < first + count && !tn_cancelled(r->call); item++) {
        const conv_block b = block_of(r, (int64_t)item);
        for (int64_t m = 0; m < b.mc; m++) {
            memset(s->sums[m], 0, (size_t)b.tc * sizeof(double));
        }
        load_zeros(r, &b, s->zeros);
        for (int64_t c = 0; c < group_in(r); c++) {
            add_channel(r, &b, c, s);
        }
        for (int64_t m = 0; m < b.mc; m++) {
            const int64_t channel = b.g * group_out(r) + b.m0 + m;
            const int64_t plane = (b.n * r->y->shape.dims[1] + channel) * w->out[0] + b.od;
            r->store(r, channel, (plane * w->out[1] + b.oh) * w->out[2] + b.t0, b.tc, s->sums[m]);
        }
    }
}

// A 1x1 kernel without stride and pads does not care where rows end: one long row is faster.
static void flatten_window(tn_window *w)
{
    int64_t count = 1;
    for (int i = 0; i < w->rank; i++) {
        if (w->kernel[i] != 1 || w->stride[i] != 1 || w->pad_begin[i] != 0 || w->pad_end[i] != 0 || w->in[i] != w->out[i]) {
            return;
        }
        count *= w->in[i];
    }
    w->rank = 1;
    w->in[0] = w->out[0] = count;
}

// The window is flattened or widened in place: store gets offsets into y all the same, as both keep the order of elements.
tn_status tn_conv_reference_run(tn_conv_reference *reference)
{
    tn_window *w = &reference->window;
    const tn_shape *y = &reference->y->shape;
    if (tn_tensor_count(reference->y) == 0) {
        return TN_OK;
    }
    flatten_window(w);
    tn_window_widen(w);
    const int64_t blocks = TN_CEIL_DIV(group_out(reference), BLOCK), tiles = TN_CEIL_DIV(w->out[2], TILE);
    const int64_t items = y->dims[0] * reference->group * blocks * w->out[0] * w->out[1] * tiles;
    return tn_call_split(reference->call, conv_task, reference, (size_t)items, 1);
}

// y = act(sum + bias + residual)
static void store_float(const tn_conv_reference *r, int64_t m, int64_t start, int64_t count, double *sums)
{
    const tn_tensor *bias = tn_call_in(r->call, 2), *residual = tn_call_in(r->call, 3);
    const tn_act *act = r->context;
    const double b = bias ? tn_element(bias, m) : 0;
    for (int64_t i = 0; i < count; i++) {
        sums[i] += b + (residual ? tn_element(residual, start + i) : 0);
        sums[i] = act->code == TN_LOOP_CONST ? sums[i] : (double)tn_act_apply(act, (float)sums[i]);
    }
    tn_row_store(r->y->dtype, r->y->data, start, 1, count, sums);
}

static tn_status run_conv(const tn_call *call)
{
    const tn_conv_attr *attr = call->attr;
    tn_conv_reference r = {.call = call, .x = call->in[0], .w = call->in[1], .y = call->out[0], .group = attr->group,
                           .store = store_float, .context = &attr->act};
    if (!tn_conv_window(attr, &r.x->shape, &r.w->shape, &r.window)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "conv: the window was not checked");
    }
    return tn_conv_reference_run(&r);
}

static tn_status run_deconv(const tn_call *call)
{
    const tn_deconv_attr *attr = call->attr;
    tn_conv_reference r = {.call = call, .x = call->in[0], .w = call->in[1], .y = call->out[0], .group = attr->group,
                           .transposed = true, .store = store_float, .context = &attr->act};
    if (!tn_deconv_window(attr, &r.x->shape, &r.w->shape, &r.window)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "deconv: the window was not checked");
    }
    return tn_conv_reference_run(&r);
}

// ---- export ----

const tn_op tn_op_conv = {
    .name = "conv", .version = 1, .min_in = 2, .max_in = 4, .min_out = 1, .max_out = 1,
    .attrs = conv_attrs, .n_attrs = TN_COUNT(conv_attrs), .attr_size = sizeof(tn_conv_attr), .defaults = &conv_defaults,
    .infer = infer_conv, .macs = macs_conv,
};
const tn_op tn_op_deconv = {
    .name = "deconv", .version = 1, .min_in = 2, .max_in = 3, .min_out = 1, .max_out = 1,
    .attrs = deconv_attrs, .n_attrs = TN_COUNT(deconv_attrs), .attr_size = sizeof(tn_deconv_attr), .defaults = &deconv_defaults,
    .infer = infer_deconv, .macs = macs_deconv,
};

static const tn_op *const ops[] = {&tn_op_conv, &tn_op_deconv};
TN_EXPORT_OPS(op_conv, ops);

static const tn_kernel rows[] = {
    TN_REFERENCE_SCRATCH(conv, tn_conv_reference_prepare, run_conv),
    TN_REFERENCE_SCRATCH(deconv, tn_conv_reference_prepare, run_deconv),
};
TN_EXPORT_KERNELS(op_conv, rows);
