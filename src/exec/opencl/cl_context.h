// SPDX-License-Identifier: Apache-2.0
// One OpenCL device with its context, its in-order queue, what it can do, and the programs built for it.
// Ownership: open/close. Threads: programs are behind a lock; flows enqueue on the one queue, which OpenCL allows from any thread.
#ifndef TN_CL_CONTEXT_H
#define TN_CL_CONTEXT_H

#include "device/device.h"
#include "exec/opencl/cl_driver.h"

#include <pthread.h>

typedef struct tn_cl_facts {
    char name[64], version[64], driver[64];
    bool images, unified, half, is_cpu;
    bool performance_hint, context_priority, queue_priority;   // see run/cl_hints.h
    bool dot;                         // has products of four bytes (cl_khr_integer_dot_product)
    bool exact;                       // can round division and square root correctly
    size_t max_width, max_height;     // of an image2d, in texels
    size_t pitch;                     // texels that rows of an image over a buffer are a multiple of (cl_khr_image2d_from_buffer); 0: it has none
    size_t max_group, local_bytes;
    size_t alignment;                 // of host memory that a buffer may lie in
    uint64_t memory_bytes, largest_bytes;
    unsigned units;
} tn_cl_facts;

typedef struct tn_cl_program {
    struct tn_cl_program *next;
    uint64_t hash[2];
    cl_program program;
    bool unsaved;                     // built here, and not in the folder yet
} tn_cl_program;

typedef struct tn_cl_shared tn_cl_shared;

// Rows of measured tiles (tune/cl_table.h).
typedef struct tn_cl_table {
    struct tn_cl_table_row *rows;
    size_t count, room;
} tn_cl_table;

typedef struct tn_cl_context {
    tn_device base;                   // first: this is what the planner sees
    tn_cl_driver driver;
    cl_platform_id platform;
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;           // in order
    cl_command_queue timing;          // its twin that measures each command; made when first wanted
    tn_cl_facts facts;
    bool buffers_only;                // no images unless a request names them
    bool baked;                       // numbers are written into the kernels' text instead of being arguments
    bool no_sampler;                  // texels outside are left out by the kernels, not by the sampler's border
    bool twins;                       // each step that works on images has a program of its own, also where the text is another's
    bool float_sums;                  // sums of products of bytes are made of floats, which CPUs multiply faster than 32-bit integers
    bool filter_buffers;              // filters are in buffers also where grids are images
    size_t lend_from;                 // bytes of tensors that are worth a buffer over host memory (run/cl_border.h)
    bool halves;                      // compiles arithmetic in halves: cl_khr_fp16, or tests
    bool checked;                     // kernels report writes outside their grids
    pthread_mutex_t lock;             // over programs and tiles
    tn_cl_table tiles;
    int winograd;                     // tests: 2, 4: wherever it can be; 1: never; 0: by price
    int expand;                       // tests: 2: convolutions join the depthwise one wherever they can; 1: never; 0: by price
    int pairs;                        // tests: 2: convolutions side by side are one wherever they can; 1: never; 0: on GPUs
    unsigned tile_seed;               // tests: not 0, any valid tile instead of the best known
    bool shipped_tiles, own_tiles;    // those of the build, those of the folder were read
    tn_cl_program *programs;
    tn_cl_shared *shared;             // what the application shares (run/cl_border.h)
    atomic_ullong copied;             // bytes of operands and results that were copied
    unsigned built, loaded;           // programs from source, from the cache on disk
} tn_cl_context;

// Picks a device: a GPU before an accelerator before a CPU, on any platform. Errors: TN_DEVICE.
tn_status tn_cl_pick(const tn_cl_driver *driver, cl_platform_id *platform, cl_device_id *id, tn_diag *diag);
void tn_cl_facts_read(const tn_cl_driver *driver, cl_device_id id, tn_cl_facts *facts);

// Takes over *driver (also when it fails).
tn_status tn_cl_context_open(tn_cl_context **out, const tn_cl_driver *driver, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag);
void tn_cl_context_close(tn_cl_context *cl);

// The queue that measures, or NULL. Not beside runs on the other: their commands are not in order with each other.
cl_command_queue tn_cl_timing_queue(tn_cl_context *cl);

// A program from source: built before, found in the folder `cache` (NULL: none), or built now. It belongs to cl.
tn_status tn_cl_program_get(tn_cl_context *cl, const char *source, size_t length, const char *options, const char *cache,
                            const char *place, cl_program *program, tn_diag *diag);
// Writes programs that were built here into the folder: when they have run, since some drivers make machine code only then (PoCL, for each
// size of group), and a program that is saved before takes as long at its next start.
void tn_cl_programs_save(tn_cl_context *cl, const char *cache);
// The same program once more, from its binary: the caller's to release. NULL: the driver does not give it.
cl_program tn_cl_program_twin(tn_cl_context *cl, cl_program program);

#endif
