// SPDX-License-Identifier: Apache-2.0
// A transposed convolution of stride s as a convolution of stride 1 whose results are its phases: result p = q s + r of an axis has only the
// taps r, r + s, r + 2 s ... of the kernel, so each of the s x s phases is a convolution with a kernel s times smaller. Their channels lie
// side by side, depth_to_space puts them in their places, and a slice takes the pads away. No product is with a zero that was put
// between pixels, and integers need no operator of their own.
// Ownership: new values belong to the graph. Threads: one per graph.
#ifndef TN_PHASES_H
#define TN_PHASES_H

#include "ops/nn/op_conv.h"
#include "pass/rewrite.h"

typedef struct tn_phases {
    int64_t block;                    // s
    int64_t channels, group;          // results of the transposed convolution
    tn_shape weights;                 // of the convolution: [M s s, C / group, kernel...]
    tn_shape from;                    // of the transposed one's
    int64_t pads[4];                  // of the convolution
    int64_t skip[2], cut[2];          // rows and columns that are no results: before and behind
    tn_shape made, spread;            // results of the convolution, of depth_to_space
} tn_phases;

// false: it has none: not of pictures, different strides, dilated, or a size that is asked for.
bool tn_phases_of(const tn_deconv_attr *attr, const tn_shape *x, const tn_shape *w, tn_phases *phases);

// Its window.
tn_status tn_phases_conv(tn_graph *graph, const tn_phases *phases, tn_conv_attr *attr);

// Weights of `size` bytes each for the convolution; blank: what stands where the kernel has no tap. NULL: no memory.
tn_value *tn_phases_weights(tn_graph *graph, const tn_phases *phases, const tn_value *w, size_t size, const void *blank);

// A constant of one number for each result channel, for the convolution; value itself where it is one for all, or NULL. *ok: memory.
tn_value *tn_phases_repeat(tn_graph *graph, const tn_phases *phases, tn_value *value, bool *ok);

// From the convolution's result (or what bounds made of it) to that of rewrite->root, which goes.
tn_status tn_phases_finish(tn_graph *graph, tn_pass_context *context, const tn_phases *phases, tn_value *made, tn_dtype dtype, tn_rewrite rewrite);

#endif
