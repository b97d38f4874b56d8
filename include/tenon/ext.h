// SPDX-License-Identifier: Apache-2.0
/*
 * Operators of your own: registered at run time with the models that need them, without rebuilding the library.
 *
 *     static tenon_status run(const tenon_call *call)
 *     {
 *         const float *x = call->inputs[0].data;
 *         float *y = call->outputs[0].data;
 *         for (size_t i = 0; i < call->outputs[0].bytes / sizeof *y; i++) {
 *             y[i] = x[i] > 0 ? x[i] : 0;
 *         }
 *         return TENON_OK;
 *     }
 *     ...
 *     tenon_custom_op op;
 *     tenon_custom_op_init(&op);
 *     op.domain = "com.example";
 *     op.name = "Ramp";
 *     op.min_inputs = op.max_inputs = op.min_outputs = op.max_outputs = 1;
 *     op.run = run;
 *     tenon_registry_create(&registry, NULL, &error);
 *     tenon_registry_add(registry, &op, &error);
 *     options.registry = registry;                       (tenon_model_options)
 *     tenon_model_open(&model, "model.onnx", &options, &error);
 *
 * There is no global list: a registry is an object, and only models opened with it know its operators. An operator of a registry comes
 * before one of the library of the same domain and name. Custom operators run on the CPU, on the thread that runs the session.
 * This header makes no promise of binary compatibility: build against the library you ship.
 */
#ifndef TENON_EXT_H
#define TENON_EXT_H

#include <tenon/tenon.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- a call ---- */

typedef struct tenon_call_inner tenon_call_inner;

/* What shape and run get. Valid during the call. An input that is absent has dtype TENON_NONE. */
typedef struct tenon_call {
    size_t struct_size;
    const char *node;               /* name of the node, for messages */
    void *user;                     /* of the operator */
    size_t input_count, output_count;
    const tenon_tensor *inputs;     /* in shape: rank -1 and dims -1 where not known; data only where the contents are known */
    tenon_tensor *outputs;          /* in shape: to be filled (dtype, rank, dims); in run: data is there, except of dynamic operators */
    tenon_call_inner *inner;
} tenon_call;

/* Attributes of the node, or their defaults. Asking for a name or kind that the operator does not have gives 0 or NULL. */
TENON_API int64_t tenon_call_int(const tenon_call *call, const char *name);
TENON_API double tenon_call_real(const tenon_call *call, const char *name);
TENON_API const char *tenon_call_text(const tenon_call *call, const char *name);
TENON_API const int64_t *tenon_call_ints(const tenon_call *call, const char *name, size_t *count);
TENON_API const float *tenon_call_reals(const tenon_call *call, const char *name, size_t *count);

/* Says why the call fails; returns status, so that a callback can end with it. The caller of the library reads the text, with the node's
   name, in its error object. */
TENON_API tenon_status tenon_call_fail(const tenon_call *call, tenon_status status, const char *message);

/* run of a dynamic operator: gives output `index` its shape and memory (outputs[index].data). Once for each output that is wanted. */
TENON_API tenon_status tenon_call_resize(const tenon_call *call, size_t index, int rank, const int64_t *dims);

/* run: a copy of a text that lives as long as the results, for the cells of an output of strings; NULL: no memory (return
   TENON_OUT_OF_MEMORY). */
TENON_API const char *tenon_call_copy_text(const tenon_call *call, const char *text, size_t length);

/* ---- an operator ---- */

typedef enum tenon_attribute_kind {
    TENON_ATTRIBUTE_INT = 0,
    TENON_ATTRIBUTE_REAL = 1,
    TENON_ATTRIBUTE_TEXT = 2,
    TENON_ATTRIBUTE_INTS = 3,
    TENON_ATTRIBUTE_REALS = 4
} tenon_attribute_kind;

typedef struct tenon_attribute {
    const char *name;
    tenon_attribute_kind kind;
    int required;                   /* non-zero: a node without it is refused */
    int64_t default_int;
    double default_real;
    const char *default_text;       /* lists have no default: they are empty */
} tenon_attribute;

enum { /* tenon_custom_op.flags */
    TENON_CUSTOM_DYNAMIC = 1,       /* output shapes depend on contents: run calls tenon_call_resize */
    TENON_CUSTOM_IMPURE = 2         /* two calls may differ: never computed ahead, never merged */
};

#define TENON_CUSTOM_MAX_VALUES 64      /* inputs, and outputs */
#define TENON_CUSTOM_MAX_ATTRIBUTES 16

/* All that it points to is copied by tenon_registry_add, user excepted. */
typedef struct tenon_custom_op {
    size_t struct_size;
    const char *domain;             /* "" or NULL: the default domain of ONNX */
    const char *name;               /* op_type of the nodes */
    int since_version;              /* first opset of the domain with this meaning; 0: 1. Several versions of one name may be added */
    size_t min_inputs, max_inputs, min_outputs, max_outputs;
    const tenon_attribute *attributes;
    size_t attribute_count;
    unsigned flags;                 /* TENON_CUSTOM_* */
    uint32_t shape_inputs;          /* bit i: shape looks at the contents of input i */
    /* Tells dtype, rank and dims of each output, and checks inputs and attributes. Called when a model is opened, with what is known
       then (-1 elsewhere; -1 may be answered), and when a run is planned, with all shapes known. NULL: each output is like input 0. */
    tenon_status (*shape)(const tenon_call *call);
    tenon_status (*run)(const tenon_call *call);
    void (*destroy)(void *user);    /* NULL: nothing to do. Called once, also when tenon_registry_add fails */
    void *user;
} tenon_custom_op;

static inline void tenon_custom_op_init(tenon_custom_op *op) { tenon_options_init(op, sizeof *op); }

/* ---- a registry ---- */

/* allocator NULL: the C library. A registry lives until its handle is destroyed and the last model opened with it is gone. */
TENON_API tenon_status tenon_registry_create(tenon_registry **registry, const tenon_allocator *allocator, tenon_error **error);
TENON_API void tenon_registry_destroy(tenon_registry *registry);

/* Not while a model is being opened with this registry, nor after the first was (STATE). */
TENON_API tenon_status tenon_registry_add(tenon_registry *registry, const tenon_custom_op *op, tenon_error **error);

/* ---- OpenCL: tensors in memory objects of the application ---- */

/* What a session of device "opencl" works with: a cl_context, a cl_device_id and an in-order cl_command_queue, which live as long as the
   session. What is put into that queue before a run is done before the run reads; other queues must be finished first. */
typedef struct tenon_opencl { void *context, *device, *queue; } tenon_opencl;

/* Errors: UNSUPPORTED (the session has no such device, or has lost it). */
TENON_API tenon_status tenon_session_opencl(tenon_session *session, tenon_opencl *handles, tenon_error **error);

/* From now on the tensor at `host`, which the application binds as an input or a result (tenon_session_bind_input, _bind_output), is in the
   cl_mem `object`, row-major from its first byte on: a buffer of the session's context of at least `bytes` bytes, retained. The device reads
   and writes it there without a copy. Host memory is touched only where a part of the model that runs on the CPU needs the tensor: the run
   brings it up to date, and the object after it. object NULL: the tensor is in host memory again. Errors: INVALID_ARGUMENT (no such
   buffer), UNSUPPORTED, STATE (during a run). */
TENON_API tenon_status tenon_session_share_opencl(tenon_session *session, void *host, size_t bytes, void *object, tenon_error **error);

#ifdef __cplusplus
}
#endif

#endif
