// SPDX-License-Identifier: Apache-2.0
// Which values halves are too coarse for, by the weights that read them. A stored value is off by up to u|x|, u = 2^-11, and these errors are
// independent of each other: the sum of a filter w is off by u |w|_2 rms(x), where |w|_2 is the root of the sum of its squares. Between layers
// values are of the order of 1, as normalisation makes them, so a filter of a large norm lifts the rounding of its operand into what it
// computes: it takes the difference of large numbers (stems that look for edges, where normalisation over a small variance was folded in).
// Its operand stays in f32, and so does what the operand was only moved from; such filters are no halves themselves.
// Ownership: none. Threads: as the flow.
#include "exec/opencl/run/cl_watch.h"

#include "base/num.h"
#include "exec/opencl/cl_flow.h"
#include "ops/move/op_copy.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_pool.h"
#include "ops/vision/op_resize.h"

// Root of the mean over filters of |w|_2^2. Of the models we know, most layers lie between 1 and 3; those above 3 are one in six, and hold
// most of the error (yolox_nano: 6.0 % of the span with all values as halves, 1.2 % without the sixteen of 143).
#define MAX_GAIN 3.0

bool tn_cl_gain_is_large(const void *weights, size_t count, size_t filters)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = (double)tn_load_f32(weights, i);
        sum += v * v;
    }
    return sum > MAX_GAIN * MAX_GAIN * (double)filters;
}

static bool lifts_rounding(const tn_node *node)
{
    const bool turned = node->op == &tn_op_deconv;
    const tn_value *w = (node->op == &tn_op_conv || turned) && node->n_in > 1 ? node->in[1] : NULL;
    int64_t count;
    if (!w || !w->constant || w->dtype != TN_F32 || w->shape.rank < 3 || !tn_shape_count(&w->shape, &count) || count <= 0) {
        return false;
    }
    const int64_t filters = turned ? w->shape.dims[1] * ((const tn_deconv_attr *)node->attr)->group : w->shape.dims[0];
    return tn_cl_gain_is_large(w->constant->data, (size_t)count, (size_t)filters);
}

static bool only_moves(const tn_op *op) { return op == &tn_op_copy || op == &tn_op_resize || op == &tn_op_max_pool; }

// Nodes are in the order they run, so one walk from the last to the first meets each reader of a value before its producer.
void tn_cl_gain_mark(const tn_graph *graph, unsigned char *wide)
{
    for (const tn_node *node = graph->last; node; node = node->prev) {
        const bool moved = only_moves(node->op) && node->n_out && node->out[0] && wide[node->out[0]->id];
        const int n = moved ? node->n_in : lifts_rounding(node) ? 1 : 0;
        for (int i = 0; i < n; i++) {
            if (node->in[i]) {
                wide[node->in[i]->id] = 1;
            }
        }
    }
}
