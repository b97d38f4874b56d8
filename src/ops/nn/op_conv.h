// SPDX-License-Identifier: Apache-2.0
// Convolution in 1 to 3 spatial dims, grouped, depthwise, dilated; transposed convolution is op_deconv. ONNX Conv, ConvTranspose.
// Ownership: const data. Threads: any.
#ifndef TN_OP_CONV_H
#define TN_OP_CONV_H

#include "ir/op.h"

#include "ops/nn/op_act.h"

enum { TN_PAD_NOTSET, TN_PAD_SAME_UPPER, TN_PAD_SAME_LOWER, TN_PAD_VALID };   // auto_pad, ONNX meaning
extern const char *const tn_auto_pad_texts[];

// Operands: x [N, C, spatial...], w [M, C / group, kernel...], bias [M]?, residual (shape of the result)?
// Result: y = act(conv(x, w) + bias + residual) [N, M, out...].
typedef struct tn_conv_attr {
    tn_ints kernel, strides, pads, dilations;   // not set: from w, 1s, 0s, 1s. pads: begins then ends
    int64_t group;
    int auto_pad;
    tn_act act;
} tn_conv_attr;

// Operands: x [N, C, spatial...], w [C, M / group, kernel...], bias [M]?. Result: act(deconv + bias).
typedef struct tn_deconv_attr {
    tn_ints kernel, strides, pads, dilations, output_padding, output_shape;
    int64_t group;
    int auto_pad;
    tn_act act;
} tn_deconv_attr;

// Spatial parameters with every default filled in, checked; shared by conv, deconv and pool kernels.
typedef struct tn_window {
    int rank;                                   // spatial dims, 1 .. 3
    int64_t kernel[3], stride[3], dilation[3], pad_begin[3], pad_end[3], in[3], out[3];
} tn_window;

// Of a convolution whose shapes are known; false when the attributes do not fit (infer has said why).
bool tn_conv_window(const tn_conv_attr *attr, const tn_shape *x, const tn_shape *w, tn_window *window);
bool tn_deconv_window(const tn_deconv_attr *attr, const tn_shape *x, const tn_shape *w, tn_window *window);

// What a sliding window's attributes say, whatever the operator.
typedef struct tn_sliding {
    tn_ints strides, pads, dilations;
    int auto_pad;
    bool ceil_mode;                             // pooling: the last window may hang over the end
} tn_sliding;

// Fills in stride, dilation, pads and out from rank, kernel and in. Unknown or symbolic `in` dims give unknown `out` dims, or the
// same symbol where the window keeps the size. Returns NULL, or the rule that is broken (fixed text).
const char *tn_window_slide(const tn_sliding *sliding, tn_window *window);

// Puts ones before the spatial dims of a window until there are three, so that kernels know one form.
void tn_window_widen(tn_window *window);

// infer of everything that convolves: checks operands x and w against the attributes (not dtypes) and tells the result's shape.
tn_status tn_conv_infer(const tn_infer *infer, const tn_conv_attr *attr, int x, int w, tn_shape *y);
int64_t tn_conv_macs(const tn_shape *w, const tn_shape *y);

extern const tn_op tn_op_conv;
extern const tn_op tn_op_deconv;

#endif
