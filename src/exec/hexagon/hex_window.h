// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions, of 8 and of 16 bits, as the wire has them.
// Ownership: none. Threads: any.
#ifndef TN_HEX_WINDOW_H
#define TN_HEX_WINDOW_H

#include "exec/hexagon/hex_encode.h"
#include "ops/nn/op_conv.h"

// Whether the convolution of x [N, C, H, W] with w [M, C / group, kH, kW] has a window that the wire can say; if not, *why tells.
bool tn_hex_window_fits(const tn_conv_attr *attr, const tn_tensor *x, const tn_tensor *w, const char **why);

// The attributes of such a window: strides, pads, dilations and groups.
void tn_hex_window_attrs(tn_hex_encoder *e, const tn_conv_attr *attr, const tn_tensor *x, const tn_tensor *w);

#endif
