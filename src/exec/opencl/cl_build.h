// SPDX-License-Identifier: Apache-2.0
// Making a flow: rows (rows/) turn nodes into steps with this. A step is one kernel; its source is written as it is described: each
// argument adds a parameter and, for grids, the macros to read or write it, so one kernel text serves images and buffers, f32 and f16.
// A failure sticks in build->status and makes the calls that follow do nothing; rows need not test each call.
// Ownership: everything lives in the flow. Threads: one.
#ifndef TN_CL_BUILD_H
#define TN_CL_BUILD_H

#include "base/text.h"
#include "dispatch/kernel.h"
#include "exec/opencl/cl_content.h"
#include "exec/opencl/cl_context.h"
#include "exec/opencl/tune/cl_tile.h"
#include "ops/nn/op_act.h"

#define TN_CL_MAX_ARGS 64

// Memory on the device. Plain: row-major elements. Grid: texels (cl_content.h).
typedef struct tn_cl_mem {
    struct tn_cl_mem *next;
    bool grid, image;
    bool past;                        // an image was wanted, but it is past the device's limits
    bool pinned;                      // its own memory for the life of the flow: constants, inputs, results
    tn_cl_element element;            // grids
    size_t width, height;             // grids, in texels
    size_t bytes;
    struct tn_cl_mem *of;             // a view: the columns from x0 on of this grid, which has the memory; NULL: its own
    size_t x0;
    struct tn_cl_mem *below;          // the plain memory that this grid is over: the same bytes are both; NULL: none
    bool covered;                     // a grid is over it
    int watch;                        // 1 + id of the value that it holds; 0: of none
    int first, last;                  // steps that touch it
    cl_mem handle;
    struct tn_cl_block *block;        // where the handle comes from, when not its own
} tn_cl_mem;

// What a flow knows of a value: either form is made when it is first asked for.
typedef struct tn_cl_value {
    const tn_value *value;
    tn_dtype dtype;
    tn_shape shape;
    tn_cl_mem *plain, *cells;         // cells: the grid, IN_OUT_CHANNEL
    struct tn_cl_value *whole;        // its grid is to be made as a part of this one's, from channel block `block` on; NULL: not
    int64_t block;
    const struct tn_cl_ahead *sibling; // a convolution of it that is left to a later one of it (rows/conv); NULL: none
    const struct tn_cl_ahead *ahead;  // its convolution is left to the step of its only reader (rows/conv); NULL: not
} tn_cl_value;

typedef enum tn_cl_arg_kind { TN_CL_ARG_MEM, TN_CL_ARG_INT, TN_CL_ARG_REAL, TN_CL_ARG_LOCAL } tn_cl_arg_kind;

typedef struct tn_cl_arg {
    tn_cl_arg_kind kind;
    tn_cl_mem *mem;
    cl_int i;
    cl_float real;
    size_t local_bytes;
} tn_cl_arg;

typedef struct tn_cl_step {
    struct tn_cl_step *next;
    const tn_node *node;              // NULL: a conversion
    const tn_node *ahead;             // a node that it computes too, or NULL
    const char *file;                 // kernel source, also its name in reports
    const char *helper;               // a source that stands before it, or NULL
    cl_program program;               // the context's; only to tell whether steps share one
    cl_kernel kernel;
    tn_cl_arg *args;
    int n_args;
    const tn_cl_layer *layer;         // kernels that have tiles: what they depend on, and the tile; else NULL
    tn_cl_tile tile;
    double estimate;                  // nanoseconds, before anything was measured
    double group_ns;                  // of one group, measured by slices; 0: not yet
    size_t proven, over;              // groups of the largest slice that kept its time, of the smallest that did not (0: none)
    double least_ns, proven_ns;       // of the first slice, and of the largest
    unsigned kept;                    // slices in a row that kept their time
    bool flat;                        // twice as many groups promise to keep the time
    size_t global[3], local[3];       // local[0] = 0: the driver's choice
    size_t real[3];                   // items that have work; global is rounded up to groups
    bool image, grid_out;             // it reads or writes images; writes a grid
    bool past;                        // one of its grids is past the device's image limits
    bool half_out, watched;           // of halves; it has the argument `watch`
    bool halves;                      // multiplies in halves
    cl_event event;                   // of the last run, while timed
    uint64_t nanoseconds;             // of the last timed run
} tn_cl_step;

// What the work of a graph takes in either store (run/cl_store.h).
typedef struct tn_cl_prices { double image_ns, buffer_ns; } tn_cl_prices;

typedef struct tn_cl_flow {
    tn_flow base;
    tn_cl_context *cl;
    tn_arena arena;
    const tn_graph *graph;
    tn_cl_step *first, *last;
    int n_steps;
    tn_cl_mem *mems;
    struct tn_cl_block *blocks;
    struct tn_cl_border *borders;     // see run/cl_border.h
    tn_cl_mem **in, **out;            // by input and output of the graph; in: NULL where nobody reads it
    cl_mem stage;                     // see run/cl_transfer.h
    void *staged;                     // its address, or NULL
    bool arriving[2];                 // flag_seen, overflow: what was read of them lies there
    size_t bytes;                     // on the device
    tn_cl_mem *flag;                  // one int: not 0 when a kernel met an index outside its tensor; NULL: none looks
    cl_int flag_seen;
    tn_cl_mem *check;                 // one int: the first step that wrote outside its grid, or 0
    const char *store;                // "image" or "buffer": of grids within the device's limits; see run/cl_store.h
    tn_cl_prices prices;
    char remark[320];
    tn_flow_request request;          // what it was made for; half precision only
    tn_cl_mem *watch;                 // see run/cl_watch.h; NULL: nobody watches
    bool halves;                      // arithmetic in halves was asked for, and the device has it
    cl_int overflow;                  // of the last run: a watched store was out of range
    const cl_int *zeros;              // as many as `watch` has
    bool watch_old;                   // it may hold what an earlier run noted
    unsigned char *wide;              // by value id: kept in f32 for the range of its values
    uint64_t slice_ns;                // longest stretch of work at a time that was asked for; 0: any
    uint64_t stretch_ns;              // the same for the run that is under way (run/cl_slice.c)
    double rate;                      // measured: nanoseconds for each estimated one; rated: it was
    bool rated;
    unsigned slices;                  // of the last run
    bool timed;                       // the last run measured each step
    const char *unsaved;              // folder that programs built for it go into after its first run; NULL: none
} tn_cl_flow;

typedef struct tn_cl_build {
    tn_cl_flow *flow;
    tn_cl_context *cl;
    tn_diag *diag;
    tn_status status;
    const char *cache;                // folder of built programs, or NULL
    bool half;                        // grids hold f16, those of wide values excepted
    bool halves;                      // then: kernels that know how multiply in halves, too
    double watch_limit;               // a store beyond it is noted; watch_all: also where grids hold f32
    bool watch_all;
    const tn_flow_listener *listener; // NULL: nobody listens, or what happens was told before
    bool buffers;                     // grids are buffers even where an image would fit
    bool once;                        // steps run now, for constants
    bool retries;                     // the row has a narrower group to offer when the device does not take the first
    bool too_wide;                    // then: the last step was left out
    tn_cl_value *values;              // by value id
    const tn_node *node;
    tn_cl_step *step;                 // being written
    tn_text params, prologue, source;
    tn_arena scratch;                 // dies with the build
} tn_cl_build;

// ---- values ----

tn_cl_value *tn_cl_value_of(tn_cl_build *b, const tn_value *value);
// The dims of a value as [N, C, H, W]: rank 4 as it is, rank 3 [N, C, L] as [N, C, 1, L]. false: no such view, or too large.
bool tn_cl_grid_dims(const tn_shape *shape, int64_t dims[4]);
bool tn_cl_griddable(const tn_tensor *tensor);                        // f32 of rank 3 or 4
// The value in the form asked for, converted by a step where it has only the other one. NULL: build->status says why.
tn_cl_mem *tn_cl_plain(tn_cl_build *b, tn_cl_value *value);
tn_cl_mem *tn_cl_grid(tn_cl_build *b, tn_cl_value *value);
// Memory for a result in that form.
tn_cl_mem *tn_cl_new_plain(tn_cl_build *b, tn_cl_value *value);
tn_cl_mem *tn_cl_new_grid(tn_cl_build *b, tn_cl_value *value);
// Some reader of the value works on grids only.
bool tn_cl_wants_grid(tn_cl_build *b, const tn_cl_value *value);

// ---- memory ----

tn_cl_mem *tn_cl_take_plain(tn_cl_build *b, size_t bytes);            // shared with others by lifetime; in `once`: pinned
tn_cl_mem *tn_cl_take_grid(tn_cl_build *b, tn_cl_element element, size_t width, size_t height);
tn_cl_mem *tn_cl_view_grid(tn_cl_build *b, tn_cl_mem *of, size_t x0, size_t width);   // columns of a grid
tn_cl_mem *tn_cl_over_plain(tn_cl_build *b, tn_cl_mem *plain, size_t width, size_t height);   // an f32 grid over its bytes, as an image or a buffer
tn_cl_mem *tn_cl_pin_plain(tn_cl_build *b, size_t bytes);
tn_cl_mem *tn_cl_upload(tn_cl_build *b, const void *data, size_t bytes);   // pinned, with these contents
void tn_cl_drop(tn_cl_build *b, tn_cl_mem *mem);                      // pinned memory that no step but those run already needs
// A constant in a content type. dims as in cl_content.h; data: f32, row-major.
tn_cl_mem *tn_cl_weight(tn_cl_build *b, tn_cl_content content, const int64_t dims[4], int block, const void *data);
// A conversion of f32 (or i32, u8 by element) between plain and grid.
void tn_cl_to_grid(tn_cl_build *b, tn_cl_content content, const int64_t dims[4], int block, tn_cl_mem *plain, tn_cl_mem *grid);
void tn_cl_to_plain(tn_cl_build *b, tn_cl_content content, const int64_t dims[4], int block, tn_cl_mem *grid, tn_cl_mem *plain);
tn_cl_mem *tn_cl_flag(tn_cl_build *b);                                // flow->flag
tn_cl_element tn_cl_float(const tn_cl_build *b);                      // of f32 grids on the way to the result of the node

tn_status tn_cl_memory_assign(tn_cl_build *b);                        // when all steps are there: shares blocks, sets arguments
void tn_cl_memory_release(tn_cl_flow *flow);

// ---- steps ----

void tn_cl_begin(tn_cl_build *b, const char *file);
// Grid `X`: X_READ(x, y), X_READ0(inside, x, y) which gives 0 where !inside. Written: Y_WRITE(x, y, texel).
void tn_cl_in_grid(tn_cl_build *b, const char *name, tn_cl_mem *mem);
void tn_cl_out_grid(tn_cl_build *b, const char *name, tn_cl_mem *mem);
// Right behind begin: the step multiplies in halves where that was asked for and operand, filters and result are kept in halves.
void tn_cl_narrow(tn_cl_build *b, const tn_cl_mem *operand, const tn_cl_mem *filter, const tn_cl_mem *result);
// As in_grid; X_READ is of type N4, so half4 in such a step.
void tn_cl_in_narrow(tn_cl_build *b, const char *name, tn_cl_mem *mem);
// A plain f32 tensor of at most four channels read as if it were the grid `name`: no conversion, for who reads each texel a few times.
void tn_cl_in_planes(tn_cl_build *b, const char *name, tn_cl_mem *mem, const int64_t dims[4]);
void tn_cl_in(tn_cl_build *b, const char *type, const char *name, tn_cl_mem *mem);
void tn_cl_out(tn_cl_build *b, const char *type, const char *name, tn_cl_mem *mem);
void tn_cl_int(tn_cl_build *b, const char *name, int64_t value);      // must fit in 32 bits
void tn_cl_over(tn_cl_build *b, const char *name, int64_t divisor);   // what OVER(n, name) needs; `name` is an argument too
void tn_cl_real(tn_cl_build *b, const char *name, double value);
void tn_cl_local(tn_cl_build *b, const char *type, const char *name, size_t bytes);
void tn_cl_define(tn_cl_build *b, const char *name, const char *format, ...) TN_PRINTF(3, 4);
void tn_cl_code(tn_cl_build *b, const char *format, ...) TN_PRINTF(2, 3);
// The activation as the macro ACT(v) over float or float4; another one as ACT0(v).
void tn_cl_act(tn_cl_build *b, const tn_act *act);
void tn_cl_act_first(tn_cl_build *b, const tn_act *act);
void tn_cl_group(tn_cl_build *b, size_t x, size_t y, size_t z);       // the work-group; else a default
void tn_cl_tiled(tn_cl_build *b, const tn_cl_layer *layer, const tn_cl_tile *tile);   // notes what the step was made with
void tn_cl_end(tn_cl_build *b, size_t x, size_t y, size_t z);         // items; parameters gx, gy, gz say how many are real

// Gives the kernel its arguments (memory is there); puts it into the queue. Used by end and by the run.
tn_status tn_cl_step_set(tn_cl_context *cl, tn_cl_step *step, tn_diag *diag);
// event: the step's event is set.
tn_status tn_cl_step_enqueue(tn_cl_context *cl, cl_command_queue queue, tn_cl_step *step, bool event, tn_diag *diag);

// C name of an element type in kernels; NULL: plain kernels do not work on it.
const char *tn_cl_type(tn_dtype dtype);

// OpenCL C text of one loop instruction over float or float4 expressions.
struct tn_loop;
void tn_cl_loop_body(tn_text *text, const struct tn_loop *loop);      // statements; operands r0 .., the result in `result`

// The embedded sources (made by cmake/opencl.cmake); ends with a NULL name.
typedef struct tn_cl_source { const char *name; const unsigned char *data; size_t size; } tn_cl_source;
extern const tn_cl_source tn_cl_sources[];

#endif
