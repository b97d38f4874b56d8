// SPDX-License-Identifier: Apache-2.0
// What prepare asks of the operators beyond their own functions, and helpers that kernels share.
// Ownership: none. Threads: any.
#ifndef TN_HX_KERNELS_H
#define TN_HX_KERNELS_H

#include "exec/hexagon/dsp/hx_graph.h"

#include <hexagon_protos.h>
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>

// Vectors at addresses that are multiples of 128, and at any (the header's own unaligned type promises four bytes).
typedef long tn_hx_unaligned __attribute__((vector_size(128), aligned(1), may_alias));
#define TN_HX_V(at) (*(HVX_Vector *)(at))
#define TN_HX_CV(at) (*(const HVX_Vector *)(at))
#define TN_HX_VU(at) (*(tn_hx_unaligned *)(at))
#define TN_HX_CVU(at) (*(const tn_hx_unaligned *)(at))

// A byte in all lanes.
static inline HVX_Vector tn_hx_splat_byte(int32_t b) { return Q6_V_vsplat_R((int32_t)((uint32_t)b * 0x01010101u)); }

// A number that the compiler knows nothing of. From loads at any address that it sees to be neighbours it would make loads of three aligned
// vectors, align twice and guard the third, where two loads do. To be asked for before a loop: nothing is moved across it.
static inline int32_t tn_hx_opaque(int32_t n)
{
    __asm__("" : "+r"(n));
    return n;
}

// What a node with a window wants: padding pixels around its operand, and a least pitch of its result.
typedef struct tn_hx_need {
    int32_t pad, pitch;
} tn_hx_need;

tn_hx_need tn_hx_window_need(const tn_hx_graph *graph, const tn_hx_node *node);
// The layout a node that works in `layout` wants operand k in.
int tn_hx_operand_layout(const tn_hx_graph *graph, const tn_hx_node *node, uint32_t k, int layout);
// Operands, from the first on, that may be activations or constants alike; what follows are constants for the operator to pack.
uint32_t tn_hx_activations(int op);

// Vectors of a plane's flat run.
static inline int32_t tn_hx_plane_vectors(const tn_hx_value *v) { return (v->height * v->pitch + 31) / 32; }

// Fills the padding of all planes with the zero point, after kernels have written over it.
void tn_hx_fill_padding(const tn_hx_value *v);
// That of one plane.
void tn_hx_fill_plane(const tn_hx_value *v, uint8_t *plane);

// ---- windows (conv, deconv, pools) ----

// Whether dims[at], dims[at + 1] of y are what a window over those of x gives.
int tn_hx_window_fits(const tn_hx_attr *attr, const tn_hx_value *x, const tn_hx_value *y, const int32_t kernel[2]);

// The windows of stride 2 of models that halve their images.
int tn_hx_window_is_halving(const tn_hx_attr *attr, int32_t kernel);
// The window of a depthwise convolution that goes by blocks (hx_blocks.h): 3 or 5; 0: another.
int32_t tn_hx_window_blocks(const tn_hx_attr *attr);

// Where each tap of a window reads, as one flat run over the result's pixels: either in x itself (stride 1, equal pitches, enough
// padding) or in phase planes, copies of x for each remainder of row and column by the stride.
typedef struct tn_hx_taps {
    int32_t n;                   // taps of one plane
    int32_t *offsets;            // bytes from a plane's pixel (0, 0) of the result to the tap's pixel
    int32_t copied;              // set before init: x must not be read itself
    int32_t direct;              // reads x itself
    uint32_t plane_bytes;        // of the phase planes of one plane of x
    uint32_t phase_bytes;        // of one of them
    int32_t rows;                // of a phase plane
    int32_t n_phases[2], *phases, *columns;   // remainders of rows and of columns by the strides that occur
} tn_hx_taps;

// attr's strides, pads and dilations with a kernel; x, y: QUAD values. Returns TN_HEX_WHY_*.
uint32_t tn_hx_taps_init(tn_hx_graph *graph, tn_hx_taps *taps, const tn_hx_attr *attr, const int32_t kernel[2], const tn_hx_value *x,
                         const tn_hx_value *y);
// Makes the phase planes of planes [from, to) of an image in `scratch`; padding is `fill`. Nothing to do when direct.
void tn_hx_taps_fill(const tn_hx_taps *taps, const tn_hx_attr *attr, const tn_hx_value *x, const tn_hx_value *y, int32_t image,
                     int32_t plane, uint8_t fill, uint8_t *to);
// Scratch that all planes of one image need.
uint32_t tn_hx_taps_scratch(const tn_hx_taps *taps, const tn_hx_value *x);

#endif
