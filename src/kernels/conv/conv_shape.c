// SPDX-License-Identifier: Apache-2.0
// Reads the shapes of a convolution, and the rules that all f32 rows share.
// Ownership: none. Threads: any.
#include "kernels/conv/conv.h"

#include "base/macros.h"

// An image one pixel wide is a row: kernels go along the last dim.
static void lay_flat(tn_conv_shape *s)
{
    if (s->in[2] != 1 || s->kernel[2] != 1 || s->out[2] != 1 || s->pad[2] != 0) {
        return;
    }
    int64_t *const fields[] = {s->in, s->out, s->kernel, s->stride, s->dilation, s->pad};
    for (size_t i = 0; i < TN_COUNT(fields); i++) {
        const int64_t one = fields[i][2];
        fields[i][2] = fields[i][1];
        fields[i][1] = one;
    }
}

bool tn_conv_shape_of(const tn_conv_attr *attr, const tn_shape *x, const tn_shape *w, tn_conv_shape *shape)
{
    tn_window window;
    if (x->rank < 3 || x->rank > 5 || w->rank != x->rank || attr->group < 1 || !tn_conv_window(attr, x, w, &window)) {
        return false;
    }
    *shape = (tn_conv_shape){.n = x->dims[0], .c = x->dims[1], .m = w->dims[0], .groups = attr->group, .cg = w->dims[1]};
    shape->mg = shape->m / shape->groups;
    for (int i = 0; i < 3; i++) {
        const int from = i - (3 - window.rank);
        shape->in[i] = from < 0 ? 1 : window.in[from];
        shape->out[i] = from < 0 ? 1 : window.out[from];
        shape->kernel[i] = from < 0 ? 1 : window.kernel[from];
        shape->stride[i] = from < 0 ? 1 : window.stride[from];
        shape->dilation[i] = from < 0 ? 1 : window.dilation[from];
        shape->pad[i] = from < 0 ? 0 : window.pad_begin[from];
    }
    lay_flat(shape);
    return shape->cg * shape->groups == shape->c && shape->mg * shape->groups == shape->m;
}

// A window that moves on sees earlier taps: of the windows that reach x the first tells the last tap, the last the first. (With holes wider
// than x some of these windows miss it; then a tap may stay that none needs.)
static void trim(tn_conv_shape *s, int dim, int64_t *taps, int64_t *tap0)
{
    const int64_t reach = (s->kernel[dim] - 1) * s->dilation[dim], stride = s->stride[dim];
    const int64_t from = s->pad[dim] > reach ? (s->pad[dim] - reach + stride - 1) / stride : 0;
    const int64_t to = TN_MIN((s->in[dim] - 1 + s->pad[dim]) / stride, s->out[dim] - 1);
    int64_t first = s->kernel[dim], end = 0, unused;
    if (from <= to) {
        tn_conv_taps(to * stride - s->pad[dim], s->kernel[dim], s->dilation[dim], s->in[dim], &first, &unused);
        tn_conv_taps(from * stride - s->pad[dim], s->kernel[dim], s->dilation[dim], s->in[dim], &unused, &end);
    }
    *taps = s->kernel[dim];
    *tap0 = 0;
    if (first < end && s->pad[dim] >= first * s->dilation[dim]) {
        *tap0 = first;
        s->kernel[dim] = end - first;
        s->pad[dim] -= first * s->dilation[dim];
    }
}

void tn_conv_trim(tn_conv_shape *shape, int64_t taps[2], int64_t tap0[2])
{
    trim(shape, 1, &taps[0], &tap0[0]);
    trim(shape, 2, &taps[1], &tap0[1]);
}

void tn_conv_flatten(tn_conv_shape *s)
{
    for (int i = 0; i < 3; i++) {
        if (s->kernel[i] != 1 || s->stride[i] != 1 || s->pad[i] != 0 || s->out[i] != s->in[i]) {
            return;
        }
    }
    s->in[2] *= s->in[1];
    s->out[2] *= s->out[1];
    s->in[1] = s->out[1] = 1;
}

bool tn_conv_match_common(const tn_query *query, const char **why)
{
    const tn_conv_attr *attr = query->attr;
    for (int i = 0; i < query->n_in; i++) {
        if (query->in[i] && query->in[i]->dtype != TN_F32) {
            *why = "an operand is not float32";
            return false;
        }
    }
    if (!tn_act_valid(&attr->act)) {
        *why = "unknown activation";
        return false;
    }
    return true;
}

bool tn_conv_match_packed(const tn_query *query, const char **why)
{
    if (!tn_conv_match_common(query, why)) {
        return false;
    }
    if (!query->in[1]->data) {
        *why = "the weights are not constant";
        return false;
    }
    if (tn_tensor_count(query->in[0]) == 0 || tn_tensor_count(query->out[0]) == 0) {
        *why = "empty";
        return false;
    }
    return true;
}
