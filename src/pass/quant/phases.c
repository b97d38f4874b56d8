// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions by their phases (phases.h).
// Ownership: see phases.h. Threads: one per graph.
#include "pass/quant/phases.h"

#include "base/macros.h"
#include "ops/move/op_block.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"

#include <string.h>

enum { MOST_BLOCK = 32 };

static int64_t one_of(const tn_ints *list, int i, int64_t otherwise) { return list->set && i < list->count ? list->v[i] : otherwise; }

// Of one axis, but for the weights. Sizes may be unknown: only differences count.
static bool axis_of(const tn_deconv_attr *attr, const tn_shape *x, int64_t kernel, int i, tn_phases *p)
{
    const int64_t s = p->block, before = one_of(&attr->pads, i, 0), behind = one_of(&attr->pads, 2 + i, 0);
    const int64_t extra = one_of(&attr->output_padding, i, 0), taps = (kernel + s - 1) / s;
    if (one_of(&attr->dilations, i, 1) != 1 || before < 0 || behind < 0 || extra < 0 || kernel < 1 || kernel > 4096 || before > 4096 || behind > 4096 ||
        extra > 4096) {
        return false;
    }
    // The last result is at before + out - 1 = (in - 1) s + kernel - behind + extra - 1, of phase rows in + more of which there must be.
    const int64_t over = kernel - s - behind + extra, more = over > 0 ? (over + s - 1) / s : 0;
    p->pads[i] = taps - 1;
    p->pads[2 + i] = more;
    p->skip[i] = before;
    p->cut[i] = more * s - over;
    p->weights.dims[2 + i] = taps;
    const int64_t in = x->dims[2 + i];
    p->made.dims[2 + i] = tn_dim_known(in) ? in + more : TN_DIM_UNKNOWN;
    p->spread.dims[2 + i] = tn_dim_known(in) ? (in + more) * s : TN_DIM_UNKNOWN;
    return !tn_dim_known(in) || (in > 0 && in < INT32_MAX && (in + more) * s > p->skip[i] + p->cut[i]);
}

bool tn_phases_of(const tn_deconv_attr *attr, const tn_shape *x, const tn_shape *w, tn_phases *p)
{
    memset(p, 0, sizeof *p);
    p->block = one_of(&attr->strides, 0, 1);
    if (x->rank != 4 || w->rank != 4 || attr->auto_pad != TN_PAD_NOTSET || (attr->output_shape.set && attr->output_shape.count) ||
        attr->act.code != TN_LOOP_CONST || attr->group < 1 || p->block < 1 || p->block > MOST_BLOCK ||
        one_of(&attr->strides, 1, 1) != p->block || w->dims[0] % attr->group != 0 || w->dims[1] < 1 || w->dims[1] > INT32_MAX / attr->group) {
        return false;
    }
    p->group = attr->group;
    p->channels = w->dims[1] * attr->group;
    p->from = *w;
    p->weights = p->made = p->spread = (tn_shape){.rank = 4};
    p->weights.dims[0] = p->made.dims[1] = p->channels * p->block * p->block;
    p->weights.dims[1] = w->dims[0] / attr->group;
    p->made.dims[0] = p->spread.dims[0] = x->dims[0];
    p->spread.dims[1] = p->channels;
    return axis_of(attr, x, w->dims[2], 0, p) && axis_of(attr, x, w->dims[3], 1, p);
}

tn_status tn_phases_conv(tn_graph *graph, const tn_phases *p, tn_conv_attr *attr)
{
    *attr = (tn_conv_attr){.kernel = tn_new_attr_ints(graph, 2, p->weights.dims + 2), .pads = tn_new_attr_ints(graph, 4, p->pads), .group = p->group,
                           .act = {.code = TN_LOOP_CONST}};
    return attr->kernel.set && attr->pads.set ? TN_OK : TN_OUT_OF_MEMORY;
}

tn_value *tn_phases_weights(tn_graph *graph, const tn_phases *p, const tn_value *w, size_t size, const void *blank)
{
    const int64_t s = p->block, each = p->channels / p->group, inner = p->weights.dims[1], kh = p->from.dims[2], kw = p->from.dims[3];
    const int64_t th = p->weights.dims[2], tw = p->weights.dims[3];
    void *room = NULL;
    tn_value *value = tn_graph_room(graph, NULL, w->dtype, &p->weights, &room);
    uint8_t *to = room;
    for (int64_t row = 0; value && row < p->weights.dims[0]; row++) {
        const int64_t m = row / (s * s), r = row % (s * s) / s, c = row % s;
        for (int64_t k = 0; k < inner; k++) {
            const int64_t first = ((m / each * inner + k) * each + m % each) * kh * kw;
            for (int64_t tap = 0; tap < th * tw; tap++, to += size) {
                // The first tap of the convolution is the furthest pixel before: the last of the kernel.
                const int64_t i = r + (th - 1 - tap / tw) * s, j = c + (tw - 1 - tap % tw) * s;
                const uint8_t *from = (const uint8_t *)w->constant->data + (size_t)(first + i * kw + j) * size;
                memcpy(to, i < kh && j < kw ? from : blank, size);
            }
        }
    }
    return value;
}

tn_value *tn_phases_repeat(tn_graph *graph, const tn_phases *p, tn_value *value, bool *ok)
{
    const int64_t channels = p->weights.dims[0] / (p->block * p->block);
    int64_t count = 1;
    if (!value || !value->constant || !tn_shape_count(&value->constant->shape, &count) || count != channels) {
        return value;   // one for all channels
    }
    const tn_shape shape = {1, {p->weights.dims[0]}};
    const size_t size = value->dtype == TN_F32 || value->dtype == TN_I32 ? 4 : 1;
    void *room = NULL;
    tn_value *made = tn_graph_room(graph, NULL, value->dtype, &shape, &room);
    for (int64_t i = 0; made && i < shape.dims[0]; i++) {
        memcpy((uint8_t *)room + (size_t)i * size, (const uint8_t *)value->constant->data + (size_t)(i / (p->block * p->block)) * size, size);
    }
    *ok = *ok && made;
    return made;
}

tn_status tn_phases_finish(tn_graph *graph, tn_pass_context *context, const tn_phases *p, tn_value *made, tn_dtype dtype, tn_rewrite rewrite)
{
    static const int64_t axes[2] = {2, 3};
    const tn_block_attr attr = {.blocksize = p->block, .crd = true};
    const bool sliced = p->skip[0] || p->skip[1] || p->cut[0] || p->cut[1];
    tn_value *in[4] = {made};
    rewrite.op = &tn_op_identity;
    rewrite.in = in;
    rewrite.n_in = 1;
    if (p->block > 1 && sliced) {
        TN_TRY(tn_insert_node(graph, context, rewrite.root, rewrite.root, &tn_op_depth_to_space, &attr, in, 1, dtype, &p->spread, &in[0]));
    } else if (p->block > 1) {
        rewrite.op = &tn_op_depth_to_space;
        rewrite.attr = &attr;
    }
    if (sliced) {
        const int64_t ends[2] = {p->cut[0] ? -p->cut[0] : INT64_MAX, p->cut[1] ? -p->cut[1] : INT64_MAX};
        in[1] = tn_new_ints(graph, 2, p->skip);
        in[2] = tn_new_ints(graph, 2, ends);
        in[3] = tn_new_ints(graph, 2, axes);
        if (!in[1] || !in[2] || !in[3]) {
            return tn_fail_memory(context->diag, rewrite.root->name, sizeof ends);
        }
        rewrite.op = &tn_op_slice;
        rewrite.attr = NULL;
        rewrite.n_in = 4;
    }
    return tn_rewrite_node(graph, context, &rewrite, NULL);
}
