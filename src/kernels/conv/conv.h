// SPDX-License-Identifier: Apache-2.0
// Convolutions and transposed convolutions in f32: what the rows of all tiers share.
//
//   direct    x and y in channel blocks (or x plain, for few channels): every tap is a segment of the register tile, no im2col
//   plain     x and y plain, anything ONNX allows: im2col of a few columns at a time, then the register tile
// Weights of the direct form, constant, packed per group of q vectors of output channels (V floats each):
//      [group][output vectors / q][input block][kh][kw][lane of the block][q * V]
// Ownership: borrows everything; parameters live in the plan's arena. Threads: any.
#ifndef TN_KERNEL_CONV_H
#define TN_KERNEL_CONV_H

#include "dispatch/kernel.h"
#include "kernels/gemm/tile.h"
#include "ops/nn/op_conv.h"

// A convolution whose shapes are known, with 3 spatial dims; missing ones lead and are 1.
typedef struct tn_conv_shape {
    int64_t n, c, m;                  // batch, channels of x, of y
    int64_t groups, cg, mg;           // channels of x and y in a group
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
} tn_conv_shape;

// False when the attributes do not fit (infer has said why).
bool tn_conv_shape_of(const tn_conv_attr *attr, const tn_shape *x, const tn_shape *w, tn_conv_shape *shape);

// A pointwise window sees the rows of an image as one.
void tn_conv_flatten(tn_conv_shape *shape);

// Leaves out the rows (dim 1) and columns (dim 2) of the window that no window has in x: wide dilations in small images. taps: the window as
// its weights have it; tap0: the first row and column of it that are left.
void tn_conv_trim(tn_conv_shape *shape, int64_t taps[2], int64_t tap0[2]);

// Taps k0 .. k1 - 1 of a window that begins at `base` hit 0 .. in - 1.
static inline void tn_conv_taps(int64_t base, int64_t kernel, int64_t dilation, int64_t in, int64_t *k0, int64_t *k1)
{
    if (base >= 0 && base + (kernel - 1) * dilation < in) {   // most windows: no division
        *k0 = 0;
        *k1 = kernel;
        return;
    }
    *k0 = base >= 0 ? 0 : (-base + dilation - 1) / dilation;
    *k1 = base >= in ? 0 : (in - base + dilation - 1) / dilation;
    *k1 = *k1 < kernel ? *k1 : kernel;
    *k0 = *k0 < *k1 ? *k0 : *k1;
}

// Residual and bias are float32, the activation is one that tiles know.
bool tn_conv_match_common(const tn_query *query, const char **why);

// The same for rows that pack their weights when they are prepared: these are constant, and nothing is empty.
bool tn_conv_match_packed(const tn_query *query, const char **why);

tn_status tn_conv_direct_run(const tn_call *call, const tn_tiles *tiles);
tn_status tn_conv_plain_run(const tn_call *call, const tn_tiles *tiles);

tn_status tn_deconv_plain_run(const tn_call *call, const tn_tiles *tiles);

#define TN_CONV_TIER(tier)                                                    \
    bool tn_conv_direct_match_##tier(const tn_query *query, const char **why); \
    double tn_conv_direct_cost_##tier(const tn_query *query);                 \
    tn_status tn_conv_direct_prepare_##tier(tn_prepare *prepare);             \
    double tn_conv_plain_cost_##tier(const tn_query *query);                  \
    tn_status tn_conv_plain_prepare_##tier(tn_prepare *prepare);              \
    double tn_deconv_plain_cost_##tier(const tn_query *query);                \
    tn_status tn_deconv_plain_prepare_##tier(tn_prepare *prepare);

TN_CONV_TIER(avx512)
TN_CONV_TIER(avx2)
TN_CONV_TIER(portable)

bool tn_conv_plain_match(const tn_query *query, const char **why);
bool tn_deconv_plain_match(const tn_query *query, const char **why);

#endif
