// SPDX-License-Identifier: Apache-2.0
// See linear.h. Weights are walked as [outer][middle][inner] with the result channel, or the operand's, known from the indices:
//
//   conv     w [M][C / group][kernel]     m = i0,                    c = group of m * C/group + i1
//   deconv   w [C][M / group][kernel]     c = i0,                    m = group of c * M/group + i1
//   matmul   w [K][N] or [N][K]           c = row k, m = column n    (the other way round when transposed)
//
// Sums are in float64.
// Ownership: new weights belong to the graph. Threads: one per graph.
#include "pass/fuse/linear.h"

#include "base/num.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"

#include <string.h>

#define SHARED_BYTES 65536   // weights up to this size are copied although others use them too

bool tn_linear_of(tn_node *node, tn_linear *linear)
{
    const bool conv = node->op == &tn_op_conv, deconv = node->op == &tn_op_deconv, matmul = node->op == &tn_op_matmul;
    if ((!conv && !deconv && !matmul) || node->n_in < 2 || node->n_in > TN_LINEAR_OPERANDS || !node->in[0] || !node->in[1] ||
        !node->out[0] || !tn_is_f32(node->out[0]) || node->out[0]->shape.rank < 1) {
        return false;
    }
    *linear = (tn_linear){.node = node, .takes_residual = !deconv};
    for (int i = 0; i < node->n_in; i++) {
        linear->in[i] = node->in[i];
    }
    const tn_shape *out = &node->out[0]->shape;
    linear->act = conv     ? ((const tn_conv_attr *)node->attr)->act
                  : deconv ? ((const tn_deconv_attr *)node->attr)->act
                           : ((const tn_matmul_attr *)node->attr)->act;
    if (matmul) {
        // A vector has no dim of columns that a bias could follow.
        linear->in_axis = ((const tn_matmul_attr *)node->attr)->trans_a ? -1 : node->in[0]->shape.rank - 1;
        linear->out_axis = out->rank - 1;
        return node->in[1]->shape.rank >= 2 && (linear->channels = out->dims[linear->out_axis], true);
    }
    linear->in_axis = linear->out_axis = 1;
    linear->channels = out->rank > 1 ? out->dims[1] : TN_DIM_UNKNOWN;
    return out->rank >= 3;
}

// The attributes of the view's node with the view's activation, in *room.
typedef union attributes {
    tn_conv_attr conv;
    tn_deconv_attr deconv;
    tn_matmul_attr matmul;
} attributes;

static const void *attributes_of(const tn_linear *linear, attributes *room)
{
    const tn_node *node = linear->node;
    if (node->op == &tn_op_conv) {
        room->conv = *(const tn_conv_attr *)node->attr;
        room->conv.act = linear->act;
    } else if (node->op == &tn_op_deconv) {
        room->deconv = *(const tn_deconv_attr *)node->attr;
        room->deconv.act = linear->act;
    } else {
        room->matmul = *(const tn_matmul_attr *)node->attr;
        room->matmul.act = linear->act;
    }
    return room;
}

tn_status tn_linear_replace(tn_graph *graph, tn_pass_context *context, const tn_linear *linear, tn_node *root, tn_node **made)
{
    tn_node *node = linear->node;
    attributes room;
    tn_value *old[2] = {node->in[TN_LINEAR_W], node->n_in > TN_LINEAR_BIAS ? node->in[TN_LINEAR_BIAS] : NULL};
    int n_in = TN_LINEAR_OPERANDS;
    while (n_in > 2 && !linear->in[n_in - 1]) {
        n_in--;
    }
    const tn_rewrite rewrite = {.root = root, .op = node->op, .attr = attributes_of(linear, &room), .in = linear->in, .n_in = n_in,
                                .from = &node, .n_from = root == node ? 0 : 1};
    TN_TRY(tn_rewrite_node(graph, context, &rewrite, made));
    for (int i = 0; i < 2; i++) {
        if (old[i]) {
            tn_graph_release(graph, old[i]);
        }
    }
    return TN_OK;
}

// ---- weights ----

// Weights as a box of three dims, and how channels follow from the indices.
typedef struct box {
    const void *data;
    int64_t n0, n1, n2;
    bool out_first;          // i0 counts result channels, i1 those of the operand (inside the group)
    int64_t groups;
} box;

// The weights as a box; false: not constant, not f32, or groups that do not fit.
static bool box_of(const tn_linear *linear, box *b)
{
    const tn_node *node = linear->node;
    const tn_value *w = linear->in[TN_LINEAR_W];
    int64_t count;
    if (!tn_floats(w, &count) || w->shape.rank < 2) {
        return false;
    }
    *b = (box){.data = w->constant->data, .n0 = w->shape.dims[0], .n1 = w->shape.dims[1], .groups = 1, .out_first = true};
    b->n2 = tn_shape_span(&w->shape, 2, w->shape.rank);
    if (node->op == &tn_op_matmul) {
        b->out_first = ((const tn_matmul_attr *)node->attr)->trans_b;
        return w->shape.rank == 2;
    }
    b->out_first = node->op == &tn_op_conv;
    b->groups = b->out_first ? ((const tn_conv_attr *)node->attr)->group : ((const tn_deconv_attr *)node->attr)->group;
    return b->groups > 0 && b->n0 % b->groups == 0;
}

// Result channel m and operand channel c of weight [i0][i1][..].
static void channels_at(const box *b, int64_t i0, int64_t i1, int64_t *m, int64_t *c)
{
    const int64_t other = i0 / (b->n0 / b->groups) * b->n1 + i1;
    *m = b->out_first ? i0 : other;
    *c = b->out_first ? other : i0;
}

// Channels the weights have on either side.
static int64_t out_channels(const box *b) { return b->out_first ? b->n0 : b->n1 * b->groups; }
static int64_t in_channels(const box *b) { return b->out_first ? b->n1 * b->groups : b->n0; }

int64_t tn_linear_in_channels(const tn_linear *linear)
{
    box b;
    return box_of(linear, &b) ? in_channels(&b) : -1;
}

// data[0 .. count) times factor.
static void scale_run(float *data, int64_t count, float factor)
{
    for (int64_t i = 0; i < count; i++) {
        data[i] *= factor;
    }
}

// New weights, each run of equal channel times by_out[m] or by_in[c] (the other is NULL). Weights that others read too are copied
// only when they are small: a model must not grow by the number of its readers.
static tn_value *scale_weights(tn_graph *graph, const tn_linear *linear, const float *by_out, const float *by_in)
{
    box b;
    const tn_value *w = linear->in[TN_LINEAR_W];
    float *data;
    if (!box_of(linear, &b) || (w->n_uses > 1 && b.n0 * b.n1 * b.n2 > (int64_t)(SHARED_BYTES / sizeof *data))) {
        return NULL;
    }
    tn_value *value = tn_new_room(graph, &w->shape, &data);
    for (int64_t i0 = 0; value && i0 < b.n0; i0++) {
        const size_t at = (size_t)(i0 * b.n1 * b.n2);
        memcpy(data + at, (const char *)b.data + at * sizeof *data, (size_t)(b.n1 * b.n2) * sizeof *data);
        if (by_out ? b.out_first : !b.out_first) {
            scale_run(data + at, b.n1 * b.n2, by_out ? by_out[i0] : by_in[i0]);
            continue;
        }
        const int64_t base = i0 / (b.n0 / b.groups) * b.n1;
        for (int64_t i1 = 0; i1 < b.n1; i1++) {
            scale_run(data + at + i1 * b.n2, b.n2, (by_out ? by_out : by_in)[base + i1]);
        }
    }
    return value;
}

tn_value *tn_linear_scale_out(tn_graph *graph, const tn_linear *linear, const float *scale)
{
    box b;
    return box_of(linear, &b) && out_channels(&b) == linear->channels ? scale_weights(graph, linear, scale, NULL) : NULL;
}

tn_value *tn_linear_scale_in(tn_graph *graph, const tn_linear *linear, const float *scale, int64_t count)
{
    box b;
    return box_of(linear, &b) && in_channels(&b) == count ? scale_weights(graph, linear, NULL, scale) : NULL;
}

bool tn_linear_shift_in(const tn_linear *linear, const float *shift, int64_t count, double *sums)
{
    box b;
    if (!box_of(linear, &b) || in_channels(&b) != count || out_channels(&b) != linear->channels ||
        linear->node->op == &tn_op_deconv) {
        return false;
    }
    const double alpha = linear->node->op == &tn_op_matmul ? ((const tn_matmul_attr *)linear->node->attr)->alpha : 1;
    for (int64_t m = 0; m < linear->channels; m++) {
        sums[m] = 0;
    }
    for (int64_t i0 = 0; i0 < b.n0; i0++) {
        for (int64_t i1 = 0; i1 < b.n1; i1++) {
            int64_t m, c;
            double sum = 0;
            channels_at(&b, i0, i1, &m, &c);
            for (int64_t i2 = 0; i2 < b.n2; i2++) {
                sum += tn_load_f32(b.data, (size_t)((i0 * b.n1 + i1) * b.n2 + i2));
            }
            sums[m] += alpha * sum * shift[c];
        }
    }
    return true;
}

bool tn_linear_unpadded(const tn_linear *linear)
{
    if (linear->node->op == &tn_op_matmul) {
        return true;
    }
    const tn_conv_attr *attr = linear->node->attr;
    if (linear->node->op != &tn_op_conv || (attr->auto_pad != TN_PAD_NOTSET && attr->auto_pad != TN_PAD_VALID)) {
        return false;
    }
    for (int i = 0; attr->auto_pad == TN_PAD_NOTSET && attr->pads.set && i < attr->pads.count; i++) {
        if (attr->pads.v[i] != 0) {
            return false;
        }
    }
    return true;
}
