// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor lie in the texels of a grid: the nine content types. A grid is a rectangle of texels of four lanes; it is
// stored as an image2d or, past the device's limits or by choice, as a buffer of the same rectangle row by row. Here is the scalar
// definition that kernels, tests and pictures are compared with. docs/opencl.md draws them.
// Ownership: plain values. Threads: any.
#ifndef TN_CL_CONTENT_H
#define TN_CL_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// X(name, text). dims are those of the row-major tensor in memory: [N, C, H, W] for the IN_OUT kinds (the ONNX order of the
// logical N, H, W, C), [S, 1, 1, 1] for ARGUMENT, [O, I, H, W] for filters, [I * M, 1, H, W] for depthwise ones with multiplier M.
// cd4(x) = ceil(x / 4).
//
//   kind             width           height          texel (x, y), lane l holds
//   CONV2D_FILTER    I               H W cd4(O)      o = 4 (y / HW) + l, i = x, (h, w) = y % HW
//   IN_OUT_CHANNEL   cd4(C) W        N H             c = 4 (x / W) + l, w = x % W, n = y / H, h = y % H
//   ARGUMENT         cd4(S)          1               s = 4 x + l
//   IN_OUT_HEIGHT    W C             N cd4(H)        c = x / W, w = x % W, n = y / cd4(H), h = 4 (y % cd4(H)) + l
//   IN_OUT_WIDTH     cd4(W) C        N H             c = x / cd4(W), w = 4 (x % cd4(W)) + l, n = y / H, h = y % H
//   WINOGRAD_FILTER  cd4(I)          O (b + 2)^2     tap t = y / O of G g G^T, o = y % O, i = 4 x + l; filters of 3 x 3
//   DW_CONV2D_FILTER H W             cd4(I M)        channel i M + m = 4 y + l, (h, w) = x. M > 1 is our extension
//   WEIGHT_HEIGHT    I H W           cd4(O)          o = 4 y + l, (h, w) = x / I, i = x % I
//   WEIGHT_WIDTH     cd4(I) H W      O               o = y, (h, w) = x / cd4(I), i = 4 (x % cd4(I)) + l
#define TN_CL_CONTENT_LIST(X)                        \
    X(CONV2D_FILTER, "conv2d_filter")                \
    X(IN_OUT_CHANNEL, "in_out_channel")              \
    X(ARGUMENT, "argument")                          \
    X(IN_OUT_HEIGHT, "in_out_height")                \
    X(IN_OUT_WIDTH, "in_out_width")                  \
    X(WINOGRAD_FILTER, "winograd_filter")            \
    X(DW_CONV2D_FILTER, "dw_conv2d_filter")          \
    X(WEIGHT_HEIGHT, "weight_height")                \
    X(WEIGHT_WIDTH, "weight_width")

typedef enum tn_cl_content {
#define X(name, text) TN_CL_##name,
    TN_CL_CONTENT_LIST(X)
#undef X
    TN_CL_CONTENT_COUNT
} tn_cl_content;

// What one lane is stored as. Arithmetic on F16 grids is f32: images convert when they are read.
typedef enum tn_cl_element { TN_CL_F32, TN_CL_F16, TN_CL_I32, TN_CL_U8, TN_CL_ELEMENT_COUNT } tn_cl_element;

size_t tn_cl_element_bytes(tn_cl_element element);
const char *tn_cl_content_text(tn_cl_content content);

// Width and height in texels. block: 2, 4 or 6 for WINOGRAD_FILTER, else ignored. false: the dims do not fit the kind, or a side
// does not fit in 31 bits.
bool tn_cl_content_size(tn_cl_content content, const int64_t dims[4], int block, size_t *width, size_t *height);

// Index in the row-major tensor of what texel (x, y) holds in `lane`; -1: padding, holds 0. Not for WINOGRAD_FILTER.
int64_t tn_cl_content_index(tn_cl_content content, const int64_t dims[4], size_t x, size_t y, int lane);

// Row `row` (0 .. b + 1) of the filter transform G for output blocks of b (Lavin and Gray, arXiv 1509.09308); 3 numbers.
const float *tn_cl_winograd_row(int block, int row);

// Left inverse of G: row `row` (0 .. 2) of (G^T G)^-1 G^T, b + 2 numbers, so that a transformed filter can be read back.
bool tn_cl_winograd_inverse(int block, double inverse[3][8]);

#endif
