// SPDX-License-Identifier: Apache-2.0
/*
 * Tenon: run a trained model on the hardware at hand.
 *
 *     #include <stdio.h>
 *     #include <tenon/tenon.h>
 *
 *     int main(void)
 *     {
 *         static float image[1 * 3 * 224 * 224];
 *         const int64_t dims[4] = {1, 3, 224, 224};
 *         tenon_error *error = NULL;
 *         tenon_model *model = NULL;
 *         tenon_session *session = NULL;
 *         tenon_tensor out;
 *         if (tenon_model_open(&model, "classifier.onnx", NULL, &error) == TENON_OK &&
 *             tenon_session_create(&session, model, NULL, &error) == TENON_OK &&
 *             tenon_session_set_input(session, "input", TENON_FLOAT32, 4, dims, image, sizeof image, &error) == TENON_OK &&
 *             tenon_session_run(session, NULL, 0, &error) == TENON_OK &&
 *             tenon_session_output(session, 0, &out, &error) == TENON_OK) {
 *             printf("first score %g\n", ((const float *)out.data)[0]);
 *         }
 *         if (error) {
 *             fprintf(stderr, "%s: %s\n", tenon_error_place(error), tenon_error_message(error));
 *         }
 *         tenon_error_destroy(error);
 *         tenon_session_destroy(session);
 *         tenon_model_destroy(model);
 *     }
 *
 * Rules for every call. Handles are opaque; destroy accepts NULL; a model and its sessions may be destroyed in any order (a
 * session keeps its model alive). A model may be used by many threads at the same time; a session by one thread at a time
 * (tenon_session_cancel excepted). `error` may be NULL; on failure it receives a new error object that the caller destroys (an
 * error object that is there already is replaced), on success it is left alone. Out-pointers are NULL after a failure. Option
 * structs begin with their size: fill them with tenon_*_options_init. Nothing is printed, no environment variable is read, the
 * host process is never ended.
 *
 * Callbacks of a run (observers, custom operators) must not destroy their session; other calls that would change it, or look at what the
 * run is changing (tenon_report), return STATE, and those that return nothing do nothing. After a
 * fork the child makes sessions, pools and arenas of its own: those of the parent give STATE there, and destroying them does nothing. What
 * the parent used through OpenCL the child cannot: it has no device "opencl" then.
 */
#ifndef TENON_TENON_H
#define TENON_TENON_H

#include <stddef.h>
#include <stdint.h>

#define TENON_VERSION_MAJOR 0
#define TENON_VERSION_MINOR 1
#define TENON_VERSION_PATCH 0

#if defined(_WIN32)
#define TENON_API __declspec(dllexport)
#else
#define TENON_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

TENON_API const char *tenon_version(void); /* "0.1.0" */

/* Zeroes an option struct of `struct_size` bytes and writes the size into its first field. The *_init functions below call it with the size
   that the caller was compiled with, so that a newer library never writes past an older caller's struct. */
TENON_API void tenon_options_init(void *options, size_t struct_size);

/* ---- status and errors ---- */

typedef enum tenon_status {
    TENON_OK = 0,
    TENON_INVALID_ARGUMENT = 1, /* a name, shape, type, size or option that does not fit */
    TENON_INVALID_MODEL = 2,    /* the file is not a correct model */
    TENON_UNSUPPORTED = 3,      /* a correct model that needs what is not there; the message lists all of it */
    TENON_OUT_OF_MEMORY = 4,
    TENON_LIMIT = 5,            /* a stated limit would be passed; the message names the option */
    TENON_DEVICE = 6,           /* the named device is absent or failed */
    TENON_IO = 7,
    TENON_STATE = 8,            /* not now: no result yet, used after fork, ... */
    TENON_CANCELLED = 9,
    TENON_DEADLINE = 10,
    TENON_NOT_FOUND = 11,
    TENON_FALLBACK = 12,        /* strict refused a fall-back */
    TENON_INTERNAL = 13         /* a bug of ours */
} tenon_status;

TENON_API const char *tenon_status_text(tenon_status status); /* static text, never NULL */

typedef struct tenon_error tenon_error;

TENON_API tenon_status tenon_error_status(const tenon_error *error);
TENON_API const char *tenon_error_message(const tenon_error *error); /* what is wrong, and what to do */
TENON_API const char *tenon_error_place(const tenon_error *error);   /* node, input, option or file; may be "" */
TENON_API void tenon_error_destroy(tenon_error *error);

/* ---- element types: the numbers of ONNX TensorProto.DataType ---- */

typedef enum tenon_dtype {
    TENON_NONE = 0,
    TENON_FLOAT32 = 1,
    TENON_UINT8 = 2,
    TENON_INT8 = 3,
    TENON_UINT16 = 4,
    TENON_INT16 = 5,
    TENON_INT32 = 6,
    TENON_INT64 = 7,
    TENON_STRING = 8, /* elements are const char *, zero-terminated UTF-8 */
    TENON_BOOL = 9,
    TENON_FLOAT16 = 10,
    TENON_FLOAT64 = 11,
    TENON_UINT32 = 12,
    TENON_UINT64 = 13,
    TENON_COMPLEX64 = 14,
    TENON_COMPLEX128 = 15,
    TENON_BFLOAT16 = 16,
    TENON_FLOAT8_E4M3FN = 17,
    TENON_FLOAT8_E4M3FNUZ = 18,
    TENON_FLOAT8_E5M2 = 19,
    TENON_FLOAT8_E5M2FNUZ = 20,
    TENON_UINT4 = 21, /* 4- and 2-bit elements take one byte each in memory */
    TENON_INT4 = 22,
    TENON_FLOAT4_E2M1FN = 23,
    TENON_FLOAT8_E8M0FNU = 24,
    TENON_UINT2 = 25,
    TENON_INT2 = 26
} tenon_dtype;

TENON_API const char *tenon_dtype_text(tenon_dtype dtype); /* numpy or ml_dtypes name */
TENON_API size_t tenon_dtype_bytes(tenon_dtype dtype);     /* bytes of one element in memory; 0: not a type */

typedef enum tenon_kind {
    TENON_KIND_TENSOR = 0,
    TENON_KIND_SEQUENCE = 1, /* of tensors */
    TENON_KIND_NONE = 2      /* an optional that holds nothing */
} tenon_kind;

/* ---- allocator and log ---- */

typedef struct tenon_allocator {
    void *(*take)(void *context, size_t bytes, size_t alignment); /* NULL: refused */
    void (*give)(void *context, void *block);                     /* block is never NULL */
    void *context;
} tenon_allocator;

typedef enum tenon_log_level { TENON_LOG_DEBUG = 0, TENON_LOG_INFO = 1, TENON_LOG_WARNING = 2, TENON_LOG_ERROR = 3 } tenon_log_level;

/* Called on the thread of the call that has something to say; text is valid during the call only. */
typedef void (*tenon_log_fn)(void *context, tenon_log_level level, const char *text);

/* ---- model ---- */

typedef struct tenon_model tenon_model;
typedef struct tenon_registry tenon_registry;   /* made by ext.h */

/* Writes the 32 bytes of the AES-256 key of this name ("" when it has none) to `key`; anything but 0: there is no such key. The library
   forgets the key when the call that asked for it returns. */
typedef int (*tenon_key_fn)(void *context, const char *name, uint8_t *key);

typedef struct tenon_model_options {
    size_t struct_size;
    tenon_allocator allocator;    /* take NULL: the C library. Used by the model and all its sessions, but for what these share with others on hexagon */
    tenon_log_fn log;             /* NULL: silent */
    void *log_context;
    const char *folder;           /* tenon_model_open_memory only: where external data may lie; NULL: external data refused */
    int no_optimise;              /* non-zero: keep the graph as imported: nothing is fused, now or when a run is planned, and
                                     nothing computed ahead but what shapes depend on; moves of data may become views */
    uint64_t limit_tensor_bytes;  /* largest tensor, 0: 2^32 */
    uint64_t limit_nodes;         /* nodes of all graphs after expansion, 0: 1,000,000 */
    tenon_registry *registry;     /* operators of the application (ext.h); the model keeps it alive. NULL: none */
    const char *sha256;           /* 64 hexadecimal digits: open this file only. Of an ONNX file all bytes count (not its external data), of a
                                     .tenon file the graph, as `tenon info` tells, and then its weights are verified too. NULL: any file */
    int verify;                   /* non-zero: compare the weights of a .tenon file with the hashes in it, chunk by chunk (reads all of them) */
    tenon_key_fn key;             /* for encrypted weights of a .tenon file; NULL: they are refused */
    void *key_context;
    int describe;                 /* non-zero: only to be looked at. Encrypted weights then need no key: inputs, outputs and MODEL tell what
                                     the rest of the file says. Sessions of such a model, saving it and (without the key) GRAPH give STATE */
} tenon_model_options;

static inline void tenon_model_options_init(tenon_model_options *options) { tenon_options_init(options, sizeof *options); }

/* Opens a model file (ONNX, or .tenon as build.h writes it). The file stays mapped while the model lives; weights are read in place, and
   the packed weights of a .tenon file too. So nobody may change or shorten the file meanwhile - the system ends a process that reads
   past the end of a shortened mapping -: replace it by renaming another one over it, or open from memory. options may be NULL.
   Errors: IO, INVALID_MODEL (also: not the pinned file, weights that do not verify or decrypt), UNSUPPORTED (all unsupported operators at
   once; a file of a newer version), INVALID_ARGUMENT (no key), LIMIT, OUT_OF_MEMORY. */
TENON_API tenon_status tenon_model_open(tenon_model **model, const char *path, const tenon_model_options *options, tenon_error **error);

/* The same from bytes, which must stay unchanged until the model and all its sessions are destroyed. The packed weights of a .tenon file are
   used in place where the bytes begin at a multiple of 64. */
TENON_API tenon_status tenon_model_open_memory(tenon_model **model, const void *data, size_t size, const tenon_model_options *options,
                                               tenon_error **error);
TENON_API void tenon_model_destroy(tenon_model *model);

/* One input or output of a model. Pointers live as long as the model. */
typedef struct tenon_value_info {
    size_t struct_size;
    const char *name;
    tenon_dtype dtype;
    int rank;                  /* -1: unknown */
    int64_t dims[8];           /* -1 where not fixed */
    const char *symbols[8];    /* name of a dim that is not fixed, or NULL */
    int optional;              /* non-zero: an optional value, which may hold none */
    tenon_kind kind;           /* tensor or sequence (of an optional: what it may hold); dtype of a sequence is that of its items */
} tenon_value_info;

TENON_API size_t tenon_model_input_count(const tenon_model *model);  /* graph order; without those that have an initialiser */
TENON_API size_t tenon_model_output_count(const tenon_model *model);
TENON_API tenon_status tenon_model_input(const tenon_model *model, size_t index, tenon_value_info *info);
TENON_API tenon_status tenon_model_output(const tenon_model *model, size_t index, tenon_value_info *info);

/* What the model's maker wrote beside the graph (ONNX metadata_props): the text under `key`, or NULL. Lives as long as the model. */
TENON_API const char *tenon_model_metadata(const tenon_model *model, const char *key);

/* ---- what sessions can share: threads and idle memory ---- */

typedef enum tenon_affinity { /* over the machine's fast and slow cores; without effect where all are alike (STATISTICS says so) */
    TENON_AFFINITY_NONE = 0,
    TENON_AFFINITY_BIG = 1,              /* only the fastest cluster */
    TENON_AFFINITY_LITTLE = 2,           /* only the slowest cluster */
    TENON_AFFINITY_HIGH_PERFORMANCE = 3, /* the fastest clusters that hold all threads */
    TENON_AFFINITY_POWER_SAVE = 4        /* the slowest clusters that hold all threads */
} tenon_affinity;

/* One configuration for all devices. 0 leaves a thing as the system has it. What the hardware or its driver lacks is left out and said in
   STATISTICS ("not supported here", with the reason), never an error; a number that no device could mean is INVALID_ARGUMENT. */
typedef struct tenon_power {
    size_t struct_size;
    tenon_affinity affinity;
    int gpu_performance;   /* 1 low, 2 normal, 3 high: how willingly the GPU's clock rises */
    int gpu_priority;      /* 1 low (work is cut into slices, so that a display can run between), 2 normal, 3 high */
    int dsp_level;         /* 1 (most saving) .. 5 (fastest): voltage corner of the DSP */
    int dsp_latency_us;    /* highest latency, in microseconds, with which the DSP may wake from sleep */
    int dsp_dcvs;          /* dynamic clock and voltage scaling of the DSP: 1 off (the corner is held), 2 on (it may fall when idle) */
} tenon_power;

static inline void tenon_power_init(tenon_power *power) { tenon_options_init(power, sizeof *power); }

/* Worker threads for any number of sessions. A job that finds them busy runs on its caller's thread, so no session waits for another. */
typedef struct tenon_pool tenon_pool;

typedef struct tenon_pool_options {
    size_t struct_size;
    unsigned threads;              /* the calling thread included; 0: one for each core */
    tenon_affinity affinity;       /* of the threads made here */
    /* Bring your own threads: calls task(task_context, slot) for every slot 0 .. slots-1 once, and returns when all are done. NULL: ours. */
    void (*run)(void *context, void (*task)(void *task_context, size_t slot), void *task_context, size_t slots);
    void *context;
} tenon_pool_options;

static inline void tenon_pool_options_init(tenon_pool_options *options) { tenon_options_init(options, sizeof *options); }
TENON_API tenon_status tenon_pool_create(tenon_pool **pool, const tenon_pool_options *options, tenon_error **error);
TENON_API void tenon_pool_destroy(tenon_pool *pool); /* sessions that use it keep it alive */

/* Idle arenas: sessions put their arena here after a run and take one for the next, so that many idle sessions hold little memory. */
typedef struct tenon_arenas tenon_arenas;

TENON_API tenon_status tenon_arenas_create(tenon_arenas **arenas, size_t max_idle_bytes, tenon_error **error);
TENON_API void tenon_arenas_destroy(tenon_arenas *arenas); /* sessions that use it keep it alive */

/* ---- session ---- */

typedef struct tenon_session tenon_session;

enum { /* tenon_session_options.strict: what becomes an error instead of a warning */
    TENON_STRICT_DEVICE = 1,    /* a node does not run on the named device; quantising and dequantising, which run on the cheaper side of its border, do not count */
    TENON_STRICT_REFERENCE = 2, /* a node has only its reference kernel */
    TENON_STRICT_PRECISION = 4  /* a node is computed in another precision than asked for */
};

/* Inputs of one run, to learn from: a tensor for each name. */
typedef struct tenon_sample {
    const char *const *names;
    const struct tenon_tensor *tensors;
    size_t count;
} tenon_sample;

typedef struct tenon_session_options {
    size_t struct_size;
    const char *device;             /* "cpu", "opencl", "hexagon"; NULL: the best there is, of those that need no name. A named device that is absent is an error at create;
                                       one that is there and does not work leaves the session to the CPU, unless TENON_STRICT_DEVICE is set */
    unsigned threads;               /* 0: one for each core */
    const char *precision;          /* "fp32"; "fp16" (device opencl: stored as halves), "bf16" (cpu: operands of products and convolutions), summed in fp32;
                                       "fp16_pure" (device opencl with cl_khr_fp16: convolutions also multiply in halves; else as "fp16", which is told); "int8": quantised by `calibration`; NULL: fp32,
                                       and for a model that comes quantised, on the CPU alone, integers where those are faster */
    unsigned strict;                /* TENON_STRICT_* */
    uint64_t memory_limit;          /* bytes that a run may take, counted as peak_bytes of MEMORY is: arena with workspaces, packed
                                       weights, and inputs and results, whether the caller lends memory for them or not. The exact peak
                                       as a limit changes nothing; below it cheaper kernels are chosen, and where none are left the LIMIT
                                       error says how much is needed. A stage, a body or a result of unknown size that finds no room makes
                                       the run begin anew by a smaller plan (steps are then observed again; 64 times at most), which stays for these shapes: after
                                       other data that needs more, results may differ in the last places. Parts that had to be planned lean
                                       are planned in each run. With such parts the error names what the one that failed needs at least.
                                       0: only the default limit below */
    const char *isa;                /* highest instruction set to use: "portable", "avx2", "avx512" ...; NULL: what is there */
    const char *pin;                /* "op=version[,op=version...]": choose kernel rows of these versions; NULL: none */
    uint64_t limit_work;            /* multiply-accumulates (or elements) of one run before it is refused; those of reference kernels count
                                       32-fold. Turns of loops count each, and end the run at the turn that would be too many. 0: the largest
                                       of 2^33, 2^14 x bytes of the file, 2^15 x bytes of the inputs (the last at most 2^42: a huge input does
                                       not lift its own limit), 128-fold for all turns together */
    uint64_t limit_loop_steps;      /* steps of one Loop or Scan, 0: 2^20; refused before anything runs where planning knows their number (a
                                       trip count that is a constant or a small input, the length of what is scanned), before the
                                       first step where the operands tell it, else at the step that would be too many */
    uint64_t limit_peak_bytes;      /* the same sum, 0: the largest of 768 MiB, 32 x the file, 256 x the inputs (the last
                                       at most 8 GiB) */
    size_t plan_cache;              /* plans kept, 0: 16 */
    tenon_pool *pool;               /* threads shared with other sessions; NULL: the session's own */
    tenon_arenas *arenas;           /* where the arena rests between runs; NULL: the session keeps it */
    int light;                      /* non-zero: no arena; tensors are taken and given back step by step */
    const tenon_power *power;       /* NULL: defaults */
    const char *cache;              /* folder where a device may keep what it made for this machine: built programs (opencl), packed weights (hexagon); NULL: nothing is kept */
    const char *store;              /* how a GPU keeps tensors of pictures: "image" or "buffer"; NULL: the device's choice */
    const tenon_sample *calibration; /* precision int8: sample inputs, of which the ranges of all values are taken; read during create only.
                                       A model that comes quantised needs none: it runs in integers as its scales say */
    size_t calibration_count;
    int device_log;                 /* what a device says of its own work goes to the model's log as DEBUG: 0 nothing, 1 each call, 2 each node (hexagon) */
} tenon_session_options;

static inline void tenon_session_options_init(tenon_session_options *options) { tenon_options_init(options, sizeof *options); }

/* options may be NULL. Errors: DEVICE, INVALID_ARGUMENT, LIMIT, OUT_OF_MEMORY, FALLBACK. Plans at once when all input shapes are
   fixed, else at the first run. */
TENON_API tenon_status tenon_session_create(tenon_session **session, tenon_model *model, const tenon_session_options *options,
                                            tenon_error **error);
TENON_API void tenon_session_destroy(tenon_session *session);

/* A tensor as the caller sees it: dense, row-major. */
typedef struct tenon_tensor {
    tenon_dtype dtype;
    int rank;
    int64_t dims[8];
    void *data;        /* strings: const char * cells, valid as long as the tensor */
    size_t bytes;
    tenon_kind kind;   /* SEQUENCE: dtype is that of the items, `count` of which tenon_session_output_item gives; no data */
    size_t count;
} tenon_tensor;

/* Zero copy. Tensors of the caller are dense and row-major: no strides, elements native-endian, 4- and 2-bit ones in a byte each (signed ones
   sign-extended), string cells as const char *. tenon_session_bind_input reads them where they lie, aligned to their element;
   tenon_session_bind_output writes a result where it shall be, aligned to 8 bytes (64 is best for both). Either is without any copy on the CPU
   where the model's input or output is a tensor; a result that is an input or a constant of the model is copied into its buffer. A device with memory
   of its own copies (device_copied_bytes of STATISTICS counts it); hexagon shares what the session allocates: tenon_session_lend_input or _set_input, and
   results read at tenon_session_output. A run refuses
   a buffer of a wanted output that overlaps an input by reference or another such buffer (INVALID_ARGUMENT). Weights stay in the mapped file where their type and alignment allow (copied_bytes of MODEL tells
   what had to be copied) and packed weights are shared by all sessions of a model. */

/* Sets an input by copy: `bytes` must be what the shape needs. Stays set until set again or tenon_session_clear_inputs. An input that has an
   initialiser takes another value too, of the same type and shape (it is copied, by tenon_session_bind_input as well): the model is
   optimised again with it in this session, so it is meant for what changes rarely. */
TENON_API tenon_status tenon_session_set_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims,
                                               const void *data, size_t bytes, tenon_error **error);

/* Sets an input that the caller writes in place: *data is memory of the session's own, which the device shares where it can. Write there before
   the run, and before each further one what changes; it stays until the input is set again, is cleared or the session ends. Not for strings,
   optional inputs and those with an initialiser; 4- and 2-bit elements must be written as they are read. */
TENON_API tenon_status tenon_session_lend_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims,
                                                size_t bytes, void **data, tenon_error **error);

/* Sets an input that is a sequence by copy of its items, and an optional one to none. */
TENON_API tenon_status tenon_session_set_sequence(tenon_session *session, const char *name, const tenon_tensor *items, size_t count,
                                                  tenon_error **error);
TENON_API tenon_status tenon_session_set_none(tenon_session *session, const char *name, tenon_error **error);

/* Sets an input by reference: data is read during run, must be aligned to its element, and must stay until the input is set again. */
TENON_API tenon_status tenon_session_bind_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims,
                                                const void *data, size_t bytes, tenon_error **error);
TENON_API void tenon_session_clear_inputs(tenon_session *session); /* nothing while the session runs */

/* Results of output `name` are written to data (at least `bytes` bytes, aligned to 8) by each run; data NULL undoes it. The second form also
   says what elements the buffer is for. A run whose result is larger or of another type fails with INVALID_ARGUMENT: before it computes,
   with no buffer written, where the size is known ahead, else before anything is written to that buffer. */
TENON_API tenon_status tenon_session_bind_output(tenon_session *session, const char *name, void *data, size_t bytes, tenon_error **error);
TENON_API tenon_status tenon_session_bind_output_as(tenon_session *session, const char *name, tenon_dtype dtype, void *data, size_t bytes,
                                                    tenon_error **error);

/* Runs. names: the outputs wanted (NULL, 0: all of the model); only what they need is computed. A name may also be an intermediate
   tensor of the model. Allocates nothing when the plan for these shapes is cached. */
TENON_API tenon_status tenon_session_run(tenon_session *session, const char *const *names, size_t count, tenon_error **error);

/* Borrows result `index` of the last run's names; valid until the next call that changes the session. */
TENON_API tenon_status tenon_session_output(const tenon_session *session, size_t index, tenon_tensor *tensor, tenon_error **error);
TENON_API size_t tenon_session_output_count(const tenon_session *session);

/* Borrows one item of a result that is a sequence. */
TENON_API tenon_status tenon_session_output_item(const tenon_session *session, size_t index, size_t item, tenon_tensor *tensor,
                                                 tenon_error **error);

/* Plans for the shapes and values set now without running. */
TENON_API tenon_status tenon_session_prepare(tenon_session *session, const char *const *names, size_t count, tenon_error **error);

/* A shape for one input, without data. values: its contents where they decide shapes (a target shape, a count, a condition), else NULL. */
typedef struct tenon_input_shape {
    const char *name;
    int rank;
    int64_t dims[8];
    const void *values;
} tenon_input_shape;

/* Plans for shapes ahead of time: a later run with them finds its plan, its arena and the room for its results. Inputs that are not listed
   keep the shape that they are set to or that the model fixes. As many plans are kept as tenon_session_options.plan_cache says.
   Errors: INVALID_ARGUMENT (a shape that does not fit, an open shape or a deciding value that is not given), NOT_FOUND, LIMIT. */
TENON_API tenon_status tenon_session_prepare_shapes(tenon_session *session, const tenon_input_shape *shapes, size_t count,
                                                    const char *const *names, size_t n_names, tenon_error **error);

/* Runs as tenon_session_run does, on a thread of the session's own; done is called there when it ends (error is destroyed after the
   call). One run at a time: STATE while one is in progress. The session must not be touched until done was called, tenon_session_cancel and _wait excepted. */
typedef void (*tenon_done_fn)(void *context, tenon_session *session, tenon_status status, const tenon_error *error);
TENON_API tenon_status tenon_session_run_async(tenon_session *session, const char *const *names, size_t count, tenon_done_fn done,
                                               void *context, tenon_error **error);
TENON_API void tenon_session_wait(tenon_session *session); /* until no asynchronous run is in progress */

/* Gives back arenas, result buffers, idle blocks and all plans but the last. */
TENON_API void tenon_session_trim(tenon_session *session);

/* Makes the run in progress return CANCELLED soon, or the next one when none is in progress; from any thread. */
TENON_API void tenon_session_cancel(tenon_session *session);

/* A run that takes longer returns DEADLINE at the next node; 0: none. */
TENON_API void tenon_session_set_deadline(tenon_session *session, uint64_t nanoseconds);

/* Called before (after = 0) and after (after = 1) each executed step; NULL: none. Tensors are valid during the call. */
typedef struct tenon_step_info {
    size_t struct_size;
    const char *node;     /* name in the optimised graph */
    const char *op;
    const char *kernel;
    const char *device;
    size_t output_count;
    uint64_t nanoseconds; /* after only */
    uint64_t macs;
    const char *const *output_names; /* names of the tensors in `outputs`, as in the model where they come from it */
} tenon_step_info;
typedef void (*tenon_step_fn)(void *context, const tenon_step_info *info, int after, const tenon_tensor *outputs);
TENON_API void tenon_session_observe(tenon_session *session, tenon_step_fn step, void *context);

/* Records from now on what each run does: when each step began and ended, and which thread did how much of it. Room for `events` steps
   (and as many shares of threads) is taken at once; what comes later is dropped and counted. 0 ends recording and forgets. The record is
   read with tenon_report, kind PROFILE. Not during a run. */
TENON_API tenon_status tenon_session_profile(tenon_session *session, size_t events, tenon_error **error);

/* ---- reports ---- */

/* Keys of the documents. Sizes are bytes, n is a whole number, a shape is an array with null where a dim is not known.
     EXPLAIN     {"nodes": [{"name", "op", "device", "kernel", "impl", "version": n, "tuned": the table of tenon_session_tune
                  chose the kernel, "layout_in", "layout_out", "lease", "dtype", "shape",
                  "macs": n, "scratch_bytes", "estimated_ns", "origins": [name], "lost": [{"kernel", "why"}],
                  "bids": [{"device", "ns": price or null, "parts": n, only where the price is that of so many nodes of which the device
                  would make the operator up, "why": the first rule that refused, or why a price lost, or null}],
                  "flow": {"nodes": n, "transfers": [{"tensor", "way": "to" or "from", "bytes", "ns"}], "call_ns", "work_ns", "ns": all of
                  it, "cpu_ns": the same nodes on the CPU, "remark": what else the device says of it, or null}, "fallback": why or null}], "processor", "isa", "threads": n, "stages": n,
                  "conversions": n, "device_failure": why the device that was asked for is left out, or null}
                  nodes in the order of execution, those of a sub-flow after the node that stands for it (which alone has "flow");
                  layout_*, dtype, shape of operand 0 and result 0; "precision" in sub-flows: how the result is kept
     PLACEMENT   {"cpu": {"nodes": n, "macs": n}}
     MEMORY      {"arena_bytes", "lower_bound_bytes", "scratch_bytes" (of the arena, by the step that takes most), "packed_bytes", "input_bytes",
                  "output_bytes", "device_bytes": what sub-flows keep on other devices (weights, tensors between their nodes; each session
                  counts what it shares), on top of the rest and under no memory_limit, but for hexagon, which holds memory of the host,
                  "peak_bytes": arena, packed weights, inputs, results and what hexagon holds: what memory_limit is compared with;
                  where "exact" is false, of the last run: the most of it at one time, with stages, bodies, what loops hold from step to step and
                  results of unknown size (in blocks of 2^k or 1.5 x 2^k bytes), never above the limit; before a run, of what is planned (null while a stage is not),
                  "exact": true or false,
                  "blocks": [{"name", "bytes", "offset", "first": n, "last": n, "alias_of": name or null}]}
     STATISTICS  {"plans_made": n, "plan_hits": n, "plans_cached": n, "planning_ns",
                  "fallbacks": n (nodes planned on a reference kernel), "device_fallbacks": n (planned on the CPU although another device is
                  named, and devices that failed), "precision_events": n (kept in another precision than asked for: by the plan, or since a run
                  met values that fp16 does not reach),
                  "runs": n, "steps": n (executed), "idle_block_bytes", "device_copied_bytes" (between memory of devices and the host's,
                  where they do not share it),
                  "live_bytes", "peak_bytes" (of all that model and sessions took; the file's own pages are not among them),
                  "packed_weight_bytes" (made and held now), "weights_packed": n, "weights_found": n (packed since the model was opened,
                  and asked for when they were there: by all sessions of the model),
                  "programs_built": n, "programs_found": n (kernels of devices: built, and found in memory or in the cache folder),
                  "power": {"affinity" and each field of tenon_power: {"asked", "effect": "default", "applied" or
                  "not supported here", "why": text or null}}}
     MODEL       {"format", "producer", "opset": n, "inputs": [{"name", "dtype", "shape", "symbols": [name or null], "optional": bool}],
                  "initialised_inputs": [name] (constants that the model lets a caller replace; not among "inputs"),
                  "outputs": the same, "nodes": n, "operators": {type: n}, "parameters": n, "weight_bytes", "copied_bytes",
                  "macs": n or null, "file": null, or of a .tenon file {"version": "1.0", "writer", "graph_sha256", "graph_bytes",
                  "targets": [name], "pack_bytes", "packs": n, "chunks": n, "chunk_bytes", "weights_sha256": of all chunk hashes,
                  "data_file": name or null, "encrypted": bool, "key_name": name or null, "imported_graph": bool}}
     PROFILE     {"processor", "isa", "threads": n, "dropped": n, "nodes": [{"name", "op", "kernel", "impl", "device", "macs": n, "read_bytes", "write_bytes",
                  "constant_bytes", "inner": [{"name", "op", "kernel", "macs": n, "ns": n}]}], "runs": [[begin, end, planning]],
                  "steps": [[node, run, begin, end]], "shares": [[step, thread, begin, end, tiles]]}
                  times in nanoseconds from the begin of the first run; node, run and step are places in those arrays; "inner": the nodes
                  of a sub-flow with the least time that its device told of a recorded run (ns 0: not measured); a step that no share speaks
                  of ran on the caller's thread alone; steps of bodies lie within the step of their If, Loop or Scan
     GRAPH       "the text" */
typedef enum tenon_report_kind {
    TENON_REPORT_EXPLAIN = 0,    /* per node: kernel, rows that lost and why, prices of the devices, layout, lease */
    TENON_REPORT_PLACEMENT = 1,  /* nodes and multiply-accumulates per device */
    TENON_REPORT_MEMORY = 2,     /* what the plan takes, and each block of the arena */
    TENON_REPORT_STATISTICS = 3, /* counters of the session */
    TENON_REPORT_MODEL = 4,      /* what the file holds */
    TENON_REPORT_GRAPH = 5,      /* the optimised graph as text */
    TENON_REPORT_PROFILE = 6     /* what tenon_session_profile recorded */
} tenon_report_kind;

/* A JSON document about the session's last plan. *json is zero-terminated; free it with tenon_report_destroy. EXPLAIN, PLACEMENT and
   MEMORY need a plan, PROFILE a recorder (STATE otherwise, and while the session runs; MODEL and GRAPH are always there). */
TENON_API tenon_status tenon_report(tenon_session *session, tenon_report_kind kind, char **json, tenon_error **error);

/* The same for a model alone: MODEL and GRAPH. */
TENON_API tenon_status tenon_model_report(tenon_model *model, tenon_report_kind kind, char **json, tenon_error **error);
TENON_API void tenon_report_destroy(char *json);   /* before or after its session and model; NULL is ignored */

/* What an operator support report says of a file that cannot be opened is in the error's message; this gives the devices of the machine:
   {"devices": [{"name": "cpu", "present": true, "what": "AMD EPYC ...", "reason": why not present or null,
   "limits": versions and sizes or null, "cores": n,
   "memory_bytes": n, "features": ["avx2", ...]}]}. Allocated with the C library; free with free(). */
TENON_API char *tenon_devices_json(void);

/* The operators that models may hold: {"operators": [{"domain", "name", "since": n, "until": n or null, "built_in": name, or null where
   it becomes several}], "built_in": [{"name", "dtypes": [...], "kernels": ["reference", "avx2", ...], "composite": bool, "devices": [...]}]}.
   Allocated with the C library; free with free(). */
TENON_API char *tenon_operators_json(void);

/* ---- tuning and the cache folder ---- */

typedef struct tenon_tune_options {
    size_t struct_size;
    double seconds;                /* for all layers together; default 30 */
    uint64_t seed;
    /* After each layer: its name and nanoseconds before and now. 0: stop; what was found so far is kept. May be NULL. */
    int (*progress)(void *context, size_t done, size_t count, const char *layer, double before_ns, double after_ns);
    void *context;
} tenon_tune_options;

static inline void tenon_tune_options_init(tenon_tune_options *options)
{
    tenon_options_init(options, sizeof *options);
    options->seconds = 30;
}

/* Searches for the fastest parameters of the kernels that the session's plan uses on its device and writes them to the session's cache
   folder, where sessions made later find them. On the CPU: which kernel runs a node, how it cuts its blocks, one thread or all; results
   then differ by rounding and are the same for any number of threads. Elsewhere results stay the same. Nothing else should use the device meanwhile. Errors: STATE (no
   plan, no cache folder), UNSUPPORTED (nothing to tune), DEVICE, IO. */
TENON_API tenon_status tenon_session_tune(tenon_session *session, const tenon_tune_options *options, tenon_error **error);

/* What devices keep in a cache folder: {"files": [{"name", "kind": "program", "tiles" or "rows", "bytes", "whole": false when cut short or changed}],
   "readable": bool, "count": n, "bytes": n, "broken": n}. Free with free(); NULL: no memory, or folder is NULL. */
TENON_API char *tenon_cache_json(const char *folder);

/* Removes files that are not whole, then the oldest programs until at most keep_bytes of them are left. The number of files removed; -1:
   folder is NULL, or a file that should go could not be removed. */
TENON_API int64_t tenon_cache_prune(const char *folder, uint64_t keep_bytes);

#ifdef __cplusplus
}
#endif

#endif
