// SPDX-License-Identifier: Apache-2.0
// How one layer is cut into items: a few numbers that change a kernel's speed and never its result. They come from a table of measured
// ones (cl_table.h) or, where it does not know the layer, from a model of the device.
// Ownership: plain values. Threads: any.
#ifndef TN_CL_TILE_H
#define TN_CL_TILE_H

#include "exec/opencl/cl_context.h"

typedef struct tn_cl_tile {
    int ob, p;                        // blocks of four output channels, and pixels, of one item
    int split_t, split_c;             // items that share one reduction: over taps, over blocks of input channels
    int lanes_x, lanes_y;             // the group: pixels, output blocks
} tn_cl_tile;

// WINOGRAD_n: the product of F(n, 3), a matrix for each tap; `pixels` counts its tiles. CHOICE: no kernel, but a row of the table that
// says which of them a layer of kind CONV is computed by: `ob` of its tile is 1 (direct), 2 or 4. EXPAND: a convolution and the depthwise one
// that alone reads it in one kernel: sides and stride are the second's, `group` counts the taps of the first, `in_blocks` are the first's; of its
// tile `split_t` counts the rows of a group. FUSE: as CHOICE, for EXPAND: 1 (each on its own) or 2.
#define TN_CL_LAYER_LIST(X)         \
    X(CONV, "conv")                 \
    X(DEPTHWISE, "depthwise")       \
    X(WINOGRAD_2, "winograd2")      \
    X(WINOGRAD_4, "winograd4")      \
    X(CHOICE, "choice")             \
    X(EXPAND, "expand")             \
    X(FUSE, "fuse")

typedef enum tn_cl_layer_kind {
#define X(name, text) TN_CL_LAYER_##name,
    TN_CL_LAYER_LIST(X)
#undef X
} tn_cl_layer_kind;

// What a tile depends on.
typedef struct tn_cl_layer {
    tn_cl_layer_kind kind;
    int64_t pixels, out_blocks, in_blocks;   // results; in_blocks: of one group
    int64_t kh, kw, stride, group;
    int64_t height;                   // rows of the result, for depthwise strips
    bool image, half;                 // how the grids are kept
    int64_t map;                      // results of one channel, also where `pixels` counts tiles
    int64_t mid_height, mid_width;    // EXPAND: of the map between
} tn_cl_layer;

#define TN_CL_LAYER_TEXT 96

// Matrices of a product: the taps of a Winograd transform, else 1.
int64_t tn_cl_layer_batch(const tn_cl_layer *layer);

// The layer as the table spells it.
void tn_cl_layer_text(const tn_cl_layer *layer, char text[TN_CL_LAYER_TEXT]);

// The numbers are in range and the group is one that the device takes.
bool tn_cl_tile_valid(const tn_cl_tile *tile, const tn_cl_layer *layer, const tn_cl_facts *facts);

// Halves what the group has most to spare of. false: it has one item, and stays as it is.
bool tn_cl_tile_narrower(tn_cl_tile *tile);

// By the model: nanoseconds of the layer with this tile, and the best tile.
double tn_cl_tile_price(const tn_cl_tile *tile, const tn_cl_layer *layer, const tn_cl_facts *facts);
tn_cl_tile tn_cl_tile_default(const tn_cl_layer *layer, const tn_cl_facts *facts);

// Nanoseconds of the transforms before and after the product of a WINOGRAD layer, and of starting them.
double tn_cl_winograd_moves(const tn_cl_layer *layer, const tn_cl_facts *facts);

// Of the whole layer with its best known tile, in one measure for CONV and WINOGRAD: by the model; where the driver runs on the CPU, by the
// number of products.
double tn_cl_layer_price(tn_cl_context *cl, const tn_cl_layer *layer);

// Texels of one block of the map between that a group of EXPAND keeps.
int64_t tn_cl_tile_room(const tn_cl_tile *tile, const tn_cl_layer *layer);

// The row of the table that says how a CONV or WINOGRAD layer is computed, or an EXPAND layer.
tn_cl_layer tn_cl_layer_choice(const tn_cl_layer *layer);

// From the device's table, else the default.
tn_cl_tile tn_cl_tile_for(tn_cl_context *cl, const tn_cl_layer *layer);

// The tiles that a search goes over, not all of them valid: number i of count.
size_t tn_cl_tile_count(const tn_cl_layer *layer);
tn_cl_tile tn_cl_tile_nth(const tn_cl_layer *layer, size_t i);

#endif
