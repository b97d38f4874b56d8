// SPDX-License-Identifier: Apache-2.0
// A kernel is a const row: key, predicate, cost, prepare, run (docs/design.md, dispatch). To exist is to be registered: the
// build finds rows by file name and writes the list.
// Ownership: rows are const data; what prepare takes comes from the plan. Threads: rows may run on many threads at once, each
// call with its own tn_call.
#ifndef TN_KERNEL_H
#define TN_KERNEL_H

#include "base/diag.h"
#include "ir/op.h"
#include "sys/cpu.h"
#include "sys/workers.h"

// X(name, text) in rank order inside one device: a later one is preferred when both match.
#define TN_IMPL_LIST(X)          \
    X(REFERENCE, "reference")    \
    X(PORTABLE, "portable")      \
    X(AVX2, "avx2")              \
    X(AVX512, "avx512")          \
    X(VNNI, "vnni")              \
    X(AVX512BF16, "avx512bf16")  \
    X(AMX, "amx")                \
    X(NEON, "neon")              \
    X(DOTPROD, "dotprod")        \
    X(I8MM, "i8mm")              \
    X(OPENCL_IMAGE, "opencl-image")   \
    X(OPENCL_BUFFER, "opencl-buffer") \
    X(HVX, "hvx")

typedef enum tn_impl {
#define X(name, text) TN_IMPL_##name,
    TN_IMPL_LIST(X)
#undef X
    TN_IMPL_COUNT
} tn_impl;

const char *tn_impl_text(tn_impl impl);

// dtypes of the key; TN_NONE matches anything.
typedef struct tn_types {
    uint8_t act;       // operand 0
    uint8_t weight;    // operand 1
    uint8_t acc;       // accumulator: documentation, not matched
    uint8_t out;       // result 0
} tn_types;

// How a row wants its operands laid out: `in` for operand 0 (and for those in blocked_in), PLAIN for the rest, `out` for result 0.
// in = TN_LAYOUT_SAME: the row works in any layout (elementwise families). Then result 0 has that layout, and so has every
// operand that has the result's rank and the result's dims[1], of constants those alone that have the result's shape; the rest is
// PLAIN. The query's tensors say which case it is. Rows that ask for TN_CPU_BF16_WEIGHTS have NCHW32B alone, the others all but that.
#define TN_LAYOUT_SAME 0xff

typedef struct tn_layouts {
    uint8_t in, out;          // tn_layout, or TN_LAYOUT_SAME in both
    uint8_t blocked_in;       // bit i: operand i (besides 0) is also in layout `in`
} tn_layouts;

// What predicate, cost and prepare see of a node: shapes known, data not (except constants).
typedef struct tn_query {
    const tn_op *op;
    const void *attr;
    const char *name;                // node
    int n_in, n_out;
    const tn_tensor *const *in;      // NULL: absent. layout is the row's. data is set for constants only (any alignment), and while
                                     // rows are chosen only for those that stay PLAIN
    const tn_tensor *const *out;     // NULL: unused
    const tn_cpu *cpu;
    unsigned threads;                // for cost only: nothing that changes arithmetic may look at it
} tn_query;

// A packed form of a constant operand.
typedef struct tn_pack {
    int operand;                     // which operand is replaced by the packed bytes
    const char *id;                  // names the format; with `variant` it is the sharing key
    uint64_t variant;                // parameters of the format (tile sizes, dtype, groups ...), hashed or packed by the row
    size_t bytes;
    // Writes exactly `bytes` bytes at dst (64-byte aligned). in[] as in the query. Baseline code, never the row's ISA.
    void (*pack)(void *dst, const tn_query *query, const void *params);
    // The same in `parts` parts, which may be written at the same time: together they write what pack writes. NULL: only pack.
    void (*part)(void *dst, const tn_query *query, const void *params, int64_t part);
    int64_t parts;
    bool in_order;                   // part i reads about the i-th share of the constant and nothing that parts long before it read
} tn_pack;

#define TN_MAX_PACKS 4

typedef struct tn_prepare {
    const tn_query *query;
    const struct tn_kernel *row;
    tn_arena *arena;                 // the plan's: params live here
    tn_diag *diag;
    // to fill:
    void *params;                    // whatever run wants, from the arena; NULL: none
    size_t scratch_bytes;            // workspace of one call in all, aligned to 64 at run
    tn_pack packs[TN_MAX_PACKS];
    int n_packs;
} tn_prepare;

typedef struct tn_call {
    const tn_op *op;
    const void *attr;
    const char *name;                // node, for messages
    int n_in, n_out;
    const tn_tensor *const *in;      // NULL: absent
    tn_tensor *const *out;           // NULL: unused. data is there, except for TN_OP_DYNAMIC results
    const void *params;              // from prepare
    const void *packed[TN_MAX_PACKS];
    void *scratch;                   // scratch_bytes at a multiple of 64
    tn_workers *workers;             // NULL: one thread
    tn_heap *heap;                   // reference kernels that need memory of a size known only now
    tn_arena *objects;               // strings, sequences and their items: lives to the end of the run (ops/objects.h)
    uint64_t objects_limit;          // bytes that objects may grow to; 0: no limit
    tn_diag *diag;
    // TN_OP_DYNAMIC only: gives result `index` its shape and memory (out[index]->data).
    tn_status (*resize)(const struct tn_call *call, int index, const tn_shape *shape);
    void *resize_context;
    const volatile int *cancel;      // non-zero: stop soon with TN_CANCELLED; long reference loops look at it. NULL: never
} tn_call;

typedef struct tn_kernel {
    const char *name;                // "conv_f32_nchw16c_avx512"
    const tn_op *op;
    tn_types types;
    tn_layouts layouts;
    tn_impl impl;
    const char *tag;                 // "k1x1", "depthwise", "gemm", ...; "" is the general one
    uint16_t version;                // 1 for the first
    uint32_t cpu;                    // TN_CPU_* bits that must all be there, tested before any function below is called
    bool aligned_constants;          // constants that it reads without packing must be aligned to their dtype (64 bytes)
    // NULL: matches all of the key. On refusal *why is a fixed text: the rule that refused.
    bool (*match)(const tn_query *query, const char **why);
    // Estimated nanoseconds on one thread; NULL: a generic estimate from macs and bytes by impl.
    double (*cost)(const tn_query *query);
    tn_status (*prepare)(tn_prepare *prepare);   // NULL: nothing to prepare
    tn_status (*run)(const tn_call *call);
} tn_kernel;

// What a file of rows exports, one per file, named after the file: tn_kernels_<stem> (and tn_ops_<stem> in ops/).
typedef struct tn_kernel_list { const tn_kernel *rows; size_t count; } tn_kernel_list;
typedef struct tn_op_list { const tn_op *const *ops; size_t count; } tn_op_list;

#define TN_EXPORT_KERNELS(stem, array) \
    const tn_kernel_list tn_kernels_##stem = {array, sizeof(array) / sizeof((array)[0])}
#define TN_EXPORT_OPS(stem, array) \
    const tn_op_list tn_ops_##stem = {array, sizeof(array) / sizeof((array)[0])}

// Multiply-accumulates of a query whose shapes are known: the operator's count, or its result elements.
uint64_t tn_query_macs(const tn_query *query);

// The row's estimate in nanoseconds, or a generic one from multiply-accumulates and bytes.
double tn_kernel_cost(const tn_kernel *row, const tn_query *query, uint64_t macs);

// Shorthand for prepare: zeroed params from the plan's arena, or an error.
tn_status tn_prepare_params(tn_prepare *prepare, size_t bytes, void **params);

#endif
