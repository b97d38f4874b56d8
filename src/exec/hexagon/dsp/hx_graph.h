// SPDX-License-Identifier: Apache-2.0
// A graph on the DSP: values, nodes, and what prepare decides about them. Inside, all quantised data is u8 (s8 from outside has its sign bit
// flipped and 128 added to its zero point), in one of two layouts:
//   PLAIN   dense row-major, as in the model
//   QUAD    four channels of a pixel side by side, one plane per four channels; pixels of a plane lie in rows of `pitch`, with room of
//           `lead` bytes before and `trail` after, all padding filled with the zero point. A row's right padding is the next one's left:
//
//             lead:  z z z z z z z z z           vector = 32 pixels x 4 channels; a kernel goes over the plane in one flat run, and
//             row 0: p p p p p p p z             what it writes to the padding is put right afterwards
//             row 1: p p p p p p p z
//             trail: z z z z z z z z z
// Ownership: everything of a graph lies in blocks of its own, freed with it. Threads: one call at a time.
#ifndef TN_HX_GRAPH_H
#define TN_HX_GRAPH_H

#include "base/requant.h"
#include "exec/hexagon/dsp/os.h"
#include "exec/hexagon/wire/hex_graph.h"

enum { TN_HX_MAX_BUFFERS = 4096, TN_HX_MAX_GRAPHS = 256, TN_HX_VECTOR = 128 };
enum { TN_HX_PLAIN, TN_HX_QUAD, TN_HX_LAYOUTS };

typedef struct tn_hx_buffer {
    uint8_t *at;                 // NULL: a free handle
    void *cookie;
    uint32_t bytes;
    uint32_t uses;               // graphs whose packed weights lie in it: it cannot be unmapped
} tn_hx_buffer;

// A bump allocator over blocks of the operating system.
typedef struct tn_hx_pool {
    uint8_t *block;              // the newest; begins with the address and the size of the one before
    uint32_t used, size;
    uint32_t total;
} tn_hx_pool;

typedef enum { TN_HX_INNER, TN_HX_CONST, TN_HX_INPUT } tn_hx_origin;

typedef struct tn_hx_value {
    uint32_t id;
    uint8_t dtype;               // TN_HEX_*, as the host said it
    uint8_t rank, layout, origin;
    int32_t zero;                // of the u8 form
    int32_t dims[TN_HEX_MAX_RANK];
    uint32_t count;              // elements
    uint8_t size;                // bytes of an element
    uint8_t flip;                // the bytes are s8: inputs and outputs in the host's memory, constants
    uint8_t produced;
    int16_t output;              // place among the outputs, or -1
    int32_t as[TN_HX_LAYOUTS];   // the values that hold the same in each layout; -1: none
    int32_t host;                // an output: the value with the host's bytes; -1: itself
    // QUAD
    int32_t images, planes, height, width;   // N, (C + 3) / 4, H, W
    int32_t pad, pitch;          // pixels
    int32_t family;              // values that share pitch and pad: index of the first
    uint32_t lead, plane_bytes;
    // memory
    uint32_t handle, offset, length;         // constants and borders: where in a buffer
    uint32_t bytes, place;       // inner values: size and place in the arena
    int32_t first, last;         // steps of the first and last use
    uint8_t *data;               // PLAIN: first element; QUAD: pixel (0, 0) of the first plane
} tn_hx_value;

typedef struct tn_hx_attr {
    int32_t strides[2], pads[4], dilations[2], kernel[2];
    int32_t group, rounding, low, high, axis, count_pad, mode, transpose, down;
    uint32_t factor, epsilon[2];
    uint32_t n_multipliers, n_shifts, n_scales, n_regions;   // words
    const uint32_t *multipliers, *shifts, *scales, *regions;
    uint32_t has_clamp;
} tn_hx_attr;

typedef struct tn_hx_graph tn_hx_graph;
typedef struct tn_hx_node tn_hx_node;

// One operator of the wire as the DSP does it. All functions return TN_HEX_WHY_* (0: fine).
typedef struct tn_hx_op {
    int index;                                    // TN_HEX_OP_*
    int min_in, max_in;
    uint32_t (*check)(tn_hx_graph *graph, tn_hx_node *node);      // types, shapes, attributes
    int (*layout)(const tn_hx_graph *graph, const tn_hx_node *node);   // the layout it wants its first operand and result in
    uint32_t (*prepare)(tn_hx_graph *graph, tn_hx_node *node);    // plans, and asks for room for what it packs; may be NULL
    // Packs, or takes over what an earlier process packed (fresh: 0); NULL: nothing worth keeping.
    uint32_t (*pack)(tn_hx_graph *graph, tn_hx_node *node, int fresh);
    void (*run)(tn_hx_graph *graph, tn_hx_node *node);
} tn_hx_op;

struct tn_hx_node {
    uint32_t id, op_id;          // id 0: a conversion of ours
    const tn_hx_op *op;
    uint32_t n_in;
    int32_t in[TN_HEX_MAX_OPERANDS];   // values; -1: absent
    int32_t out;
    tn_hx_attr attr;
    void *plan;                  // of its operator
    uint32_t executions;
    uint64_t packets;
    uint32_t instructions, hvx, microseconds;
};

struct tn_hx_graph {
    uint8_t used, prepared, packed, failed;      // prepared, then packed
    uint32_t n_values, max_values, n_nodes, max_nodes, n_steps, max_steps;
    tn_hx_value *values;
    int32_t *ids;                // by id, while ids are below max_ids: place of the value + 1
    uint32_t max_ids;
    tn_hx_node *nodes;
    tn_hx_node **steps;          // nodes and conversions in the order they run
    int32_t *inputs, *outputs;
    uint32_t n_inputs, n_outputs;
    tn_hx_pool pool;
    uint8_t *arena;
    uint32_t arena_bytes, scratch_bytes;
    uint8_t *scratch;            // for one node at a time
    uint8_t *weights;            // packed, in the order of the nodes: no pointers, nothing that indexes
    uint64_t weights_bytes;
    uint32_t weights_at;         // how far packing is: bytes, and steps
    uint32_t pack_step;
    uint8_t packing, pack_fresh; // begun; anew
    uint32_t weights_handle;     // of the buffer they lie in; 0: they are the graph's own
    uint32_t records_handle;     // of the buffer whose records are being read
    uint32_t fault;              // id of what a failed call complains about
};

// Memory of the operating system; NULL: there is none left, and tn_hx_starved is 1, which tells it from a graph that is too large in any case.
void *tn_hx_take(size_t bytes);
extern uint32_t tn_hx_starved;

void *tn_hx_pool_take(tn_hx_pool *pool, uint32_t bytes);   // zeroed, 128-byte aligned; NULL
void tn_hx_pool_free(tn_hx_pool *pool);

// Reads records of consts or nodes. Returns TN_HEX_WHY_*.
uint32_t tn_hx_graph_read(tn_hx_graph *graph, uint8_t *bytes, uint32_t length, int only_consts);
tn_hx_value *tn_hx_value_find(tn_hx_graph *graph, uint32_t id);
// Layouts, conversions, places, room for weights. Returns TN_HEX_WHY_*; TN_HEX_WHY_LIMIT when memory ends.
uint32_t tn_hx_graph_prepare(tn_hx_graph *graph);
// After it: weights into graph->weights, of graph->weights_bytes, or, unless graph->pack_fresh, from there. Goes on where it was and for a
// moment only; *more: there is more to do. Then the graph can run.
uint32_t tn_hx_graph_pack(tn_hx_graph *graph, uint32_t *more);
void tn_hx_graph_run(tn_hx_graph *graph);
void tn_hx_graph_free(tn_hx_graph *graph);

// A new value like another, in the given layout; -1: no memory.
int32_t tn_hx_value_like(tn_hx_graph *graph, int32_t of, int layout);
// Reserves scratch memory that a node may use while it runs.
void tn_hx_scratch(tn_hx_graph *graph, uint32_t bytes);

// Packed weights outlive the process, in memory that the host and a process gone wild may have written: they hold data alone, and what
// must be in a range is checked when it is taken over. In prepare: room. In pack: the next piece, asked for in the same order; NULL: more
// than there is room for.
void tn_hx_packed_room(tn_hx_graph *graph, uint64_t bytes);
uint8_t *tn_hx_packed_next(tn_hx_graph *graph, uint64_t bytes);
// The next piece is a copy of the graph's own `bytes`: written when fresh, else read. Returns whether there is room.
int tn_hx_packed_copy(tn_hx_graph *graph, void *own, uint32_t bytes, int fresh);

extern tn_hx_buffer tn_hx_buffers[TN_HX_MAX_BUFFERS];
// The bytes of a range in a buffer; NULL: not all of it exists.
uint8_t *tn_hx_range(uint32_t handle, uint32_t offset, uint32_t length);

extern const tn_hx_op *const tn_hx_ops[TN_HEX_OP_COUNT];
extern const tn_hx_op tn_hx_convert;

// Runs tiles 0..n-1 on the worker threads. Every tile runs once, and all have ended when it returns.
void tn_hx_parallel(void (*tile)(void *context, uint32_t tile), void *context, uint32_t n);
void tn_hx_workers_start(uint32_t threads);
uint32_t tn_hx_workers(void);   // the serving thread among them

static inline tn_hx_value *tn_hx_in(const tn_hx_graph *graph, const tn_hx_node *node, uint32_t i)
{
    return i < node->n_in && node->in[i] >= 0 ? &graph->values[node->in[i]] : NULL;
}

static inline tn_hx_value *tn_hx_out(const tn_hx_graph *graph, const tn_hx_node *node) { return &graph->values[node->out]; }

// Pixel (0, 0) of plane `plane` of image `image`.
static inline uint8_t *tn_hx_plane(const tn_hx_value *v, int32_t image, int32_t plane)
{
    return v->data + (uint32_t)(image * v->planes + plane) * v->plane_bytes;
}

#endif
