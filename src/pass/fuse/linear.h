// SPDX-License-Identifier: Apache-2.0
// One view of conv, deconv and matmul for the passes that change their weights, bias, residual and activation. All have the
// operands x, w, bias?, residual? (deconv: no residual).
// Ownership: a view borrows from its node. Threads: any.
#ifndef TN_LINEAR_H
#define TN_LINEAR_H

#include "ops/nn/op_act.h"
#include "pass/rewrite.h"

enum { TN_LINEAR_X, TN_LINEAR_W, TN_LINEAR_BIAS, TN_LINEAR_RESIDUAL, TN_LINEAR_OPERANDS };

typedef struct tn_linear {
    tn_node *node;
    tn_value *in[TN_LINEAR_OPERANDS];   // NULL: absent
    tn_act act;
    bool takes_residual;
    int in_axis, out_axis;              // of x and of the result: where channels are; in_axis -1: nowhere fixed
    int64_t channels;                   // of the result; unknown or symbolic when not known
} tn_linear;

// The view of an f32 node; false: it is none of the three.
bool tn_linear_of(tn_node *node, tn_linear *linear);

// Puts a node with these operands and this activation in place of `root` (linear->node itself, or a later node whose work is
// taken in). from as in tn_rewrite, without linear->node.
tn_status tn_linear_replace(tn_graph *graph, tn_pass_context *context, const tn_linear *linear, tn_node *root, tn_node **made);

// ---- weights ----

// New weights: w times scale[m] for result channel m (channels numbers). NULL: w is no constant of known shape, it is large and
// used elsewhere too, or no memory.
tn_value *tn_linear_scale_out(tn_graph *graph, const tn_linear *linear, const float *scale);

// The same for channel c of the operand x, of which there are `count`.
tn_value *tn_linear_scale_in(tn_graph *graph, const tn_linear *linear, const float *scale, int64_t count);

// sums[m] = sum over c and the kernel of w * shift[c]: what a shift of x adds to result channel m, where no padding is.
// sums: channels numbers. false: not possible (see above; deconv).
bool tn_linear_shift_in(const tn_linear *linear, const float *shift, int64_t count, double *sums);

// Number of channels of x that the weights are for; -1: not known.
int64_t tn_linear_in_channels(const tn_linear *linear);

// No border of x is padded.
bool tn_linear_unpadded(const tn_linear *linear);

#endif
