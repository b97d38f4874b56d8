// SPDX-License-Identifier: Apache-2.0
// How the elements of a tensor lie in memory. One table for all devices.
//
//   PLAIN    logical order, row-major, dense. The layout of every input, output, constant and of all ranks.
//   NCHW8C   rank 3..5 [N, C, spatial...]: [N][ceil(C/8)][spatial...][8];
//   NCHW16C  the same with blocks of 16.
//   NCHW32B  the same with blocks of 32, float32 tensors only, each element rounded to bf16: 64 bytes a pixel and block.
// In NCHW8C and NCHW16C the lanes past C in the last block hold anything: no kernel may let them reach a real element (it never
// reads across lanes past C), and none needs to clear them. In NCHW32B they are zero: products take whole lines of 32.
// Leaf header. Ownership: none. Threads: any.
#ifndef TN_LAYOUT_H
#define TN_LAYOUT_H

// X(name, channel block, text)
#define TN_LAYOUT_LIST(X)         \
    X(PLAIN, 0, "plain")          \
    X(NCHW8C, 8, "nchw8c")        \
    X(NCHW16C, 16, "nchw16c")     \
    X(NCHW32B, 32, "nchw32b")

typedef enum tn_layout {
#define X(name, block, text) TN_LAYOUT_##name,
    TN_LAYOUT_LIST(X)
#undef X
    TN_LAYOUT_COUNT
} tn_layout;

const char *tn_layout_text(tn_layout layout);
int tn_layout_block(tn_layout layout);   // 8, 16, 32; 0 for PLAIN

#endif
