// SPDX-License-Identifier: Apache-2.0
// The windows of convolutions on the wire: their bounds and attributes.
// Ownership: none. Threads: any.
#include "exec/hexagon/hex_window.h"
#include "base/macros.h"

#define LARGEST_SIDE 1024     // of strides, pads, dilations and kernels on the wire

bool tn_hex_window_fits(const tn_conv_attr *attr, const tn_tensor *x, const tn_tensor *w, const char **why)
{
    tn_window window;
    if (x->shape.rank != 4 || !w->data) {
        *why = "only pictures, with constant weights";
        return false;
    }
    bool fits = tn_conv_window(attr, &x->shape, &w->shape, &window) && window.rank == 2;
    for (int i = 0; i < 2 && fits; i++) {
        fits = window.stride[i] <= LARGEST_SIDE && window.dilation[i] <= LARGEST_SIDE && window.pad_begin[i] <= LARGEST_SIDE &&
               window.kernel[i] <= LARGEST_SIDE;
    }
    if (!fits) {
        *why = "strides, pads or kernels larger than the DSP takes";
    }
    return fits;
}

void tn_hex_window_attrs(tn_hex_encoder *e, const tn_conv_attr *attr, const tn_tensor *x, const tn_tensor *w)
{
    tn_window window;
    int64_t behind[2];
    (void)tn_conv_window(attr, &x->shape, &w->shape, &window);
    // The DSP computes the result's size from the pads, so those behind are as the last window reaches them; the rest changes nothing.
    for (int i = 0; i < 2; i++) {
        const int64_t reach = (window.out[i] - 1) * window.stride[i] + (window.kernel[i] - 1) * window.dilation[i] + 1;
        behind[i] = TN_MAX(reach - window.in[i] - window.pad_begin[i], 0);
    }
    const int64_t pads[4] = {window.pad_begin[0], window.pad_begin[1], behind[0], behind[1]};
    const uint32_t group = (uint32_t)attr->group;
    tn_hex_attr_list(e, TN_HEX_ATTR_STRIDES, 2, window.stride);
    tn_hex_attr_list(e, TN_HEX_ATTR_PADS, 4, pads);
    tn_hex_attr_list(e, TN_HEX_ATTR_DILATIONS, 2, window.dilation);
    tn_hex_attr(e, TN_HEX_ATTR_GROUP, 1, &group);
}
