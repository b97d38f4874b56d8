// SPDX-License-Identifier: Apache-2.0
// What an operator is: its descriptor. The descriptors themselves are in ops/, one file per family; an operator's identity
// is the address of its descriptor.
// Ownership: descriptors are const data. Threads: any.
#ifndef TN_OP_H
#define TN_OP_H

#include "base/arena.h"
#include "base/diag.h"
#include "ir/tensor.h"

#define TN_MAX_IN 64     // operands a kernel call can carry (variadic operators with more are built as trees by importers)
#define TN_MAX_OUT 64

typedef struct tn_node tn_node;
typedef struct tn_graph tn_graph;
typedef struct tn_op tn_op;
struct tn_loop;
struct tn_loop_build;

// ---- attributes: a plain C struct per operator, described by one list (printing, comparing, files, Python) ----

typedef struct tn_ints { const int64_t *v; int32_t count; bool set; } tn_ints;      // set: given at all
typedef struct tn_reals { const float *v; int32_t count; bool set; } tn_reals;

// X(kind, C type of the field)
#define TN_ATTR_LIST(X)     \
    X(INT, int64_t)         \
    X(REAL, double)         \
    X(BOOL, bool)           \
    X(DTYPE, tn_dtype)      \
    X(ENUM, int)            \
    X(TEXT, const char *)   \
    X(INTS, tn_ints)        \
    X(REALS, tn_reals)      \
    X(LOOP, const struct tn_loop *)   \
    X(REGIONS, const struct tn_regions *)

typedef enum tn_attr_kind {
#define X(kind, type) TN_ATTR_##kind,
    TN_ATTR_LIST(X)
#undef X
} tn_attr_kind;

typedef struct tn_attr {
    const char *name;
    tn_attr_kind kind;
    size_t offset;               // in the operator's attribute struct
    const char *const *texts;    // ENUM: names of values 0, 1, ...; ends with NULL
} tn_attr;

// ---- what is known of a value ----

typedef struct tn_fact {
    tn_kind kind;
    tn_kind inner;               // OPTIONAL: what it may hold
    tn_dtype dtype;              // of a sequence or optional: of its items
    tn_shape shape;
    const tn_tensor *value;      // the contents, fully known; NULL otherwise
    const int64_t *elems;        // integer or bool tensor of at most 64 elements, known in part (dim coding); else NULL
} tn_fact;

// The call that infer gets. `in[i]` is NULL for an absent optional operand. infer fills out[i]->kind, dtype and shape (unknown
// where it cannot know), and may fill out[i]->elems (from the arena) when it can tell elements in part: Shape, Gather, Concat
// and their like do. Fully known values are computed by the caller with the reference kernel, not here.
typedef struct tn_infer {
    const tn_op *op;
    const void *attr;
    const char *name;            // the node's name, for messages
    int n_in, n_out;
    const tn_fact *const *in;
    tn_fact *out;
    tn_arena *arena;
    tn_diag *diag;
    const tn_dim_names *dims;    // for messages; or NULL
} tn_infer;

// ---- movement ----

// One strided box of up to 8 dims: dst[dst_offset + sum i*dst_stride] = src[src_offset + sum i*src_stride], in elements of the
// logical row-major order. Strides may be negative or zero.
typedef struct tn_region {
    int source;                  // operand index; -1: the constant `fill`
    int rank;
    int64_t sizes[TN_MAX_RANK];
    int64_t src_offset, dst_offset;
    int64_t src_strides[TN_MAX_RANK], dst_strides[TN_MAX_RANK];
} tn_region;

#define TN_MAX_REGIONS 64

typedef struct tn_regions {
    int count;
    int source_count;            // operands
    uint8_t fill[16];            // one element, for regions with source -1
    const tn_region *regions;
} tn_regions;

// Describes a movement operator as regions, shapes known. Later regions overwrite earlier ones. Returns false when it would
// take more than TN_MAX_REGIONS or depends on values that are not known (then the operator's own kernel runs).
typedef struct tn_move {
    const tn_op *op;
    const void *attr;
    int n_in;
    const tn_fact *const *in;    // facts with known shapes; in[i]->value where contents are known
    const tn_fact *out;          // fact of output `out_index`
    int n_out;                   // the node's
    int out_index;               // operators with several outputs (split) are asked once per output
    tn_region *regions;          // room for TN_MAX_REGIONS
    int count;                   // filled in
    uint8_t fill[16];            // filled in when a region has source -1
} tn_move;

// ---- the descriptor ----

enum {
    TN_OP_ELEMENTWISE = 1,   // output element i depends on element i of (broadcast) operands only
    TN_OP_DYNAMIC = 2,       // output shapes depend on contents: the kernel asks for its outputs by tn_call.resize
    TN_OP_RANDOM = 4,        // two runs may differ: never folded, never deduplicated
    TN_OP_CONTROL = 8,       // has bodies; run by exec, not by a kernel
    TN_OP_INPLACE = 16,      // output 0 may share the bytes of operand 0 when that dies here
    TN_OP_INPLACE_ANY = 32,  // output 0 may share the bytes of any operand of the same size that dies here
    TN_OP_SHAPE_ONLY = 64,   // the result depends on the operand's type and shape only, never on its contents
    TN_OP_HOLES = 128,       // operands before the last needed one may be absent (zero points): infer itself asks for each that is needed
};

struct tn_op {
    const char *name;            // snake_case, unique: "conv"
    uint16_t version;
    uint16_t flags;              // TN_OP_*
    int8_t min_in, max_in;       // max -1: any number up to TN_MAX_IN
    int8_t min_out, max_out;
    const tn_attr *attrs;        // n_attrs rows
    int n_attrs;
    size_t attr_size;            // 0: no attributes, node->attr is NULL
    const void *defaults;        // attr_size bytes; NULL: zeros

    // Checks attributes, operand types, ranks and shapes as far as known, and infers outputs. Called on graphs (shapes in part
    // symbolic) and on plans (all known). Errors name the node. Never divides, indexes or allocates by an unchecked number.
    tn_status (*infer)(tn_infer *infer);

    // Rewrites the operator as simpler ones; NULL: none. See ir/edit.h for what it may call. Sets *done = false when these
    // attributes or types have no lowering.
    tn_status (*lower)(tn_graph *graph, tn_node *node, bool *done, tn_diag *diag);

    bool (*regions)(tn_move *move);                       // movement operators only; NULL otherwise

    // Multiply-accumulates (or the nearest thing) of one call, shapes known; NULL: output elements count.
    int64_t (*macs)(const void *attr, const tn_fact *const *in, int n_in, const tn_fact *out, int n_out);

    // The operand that must be known (by value) to infer shapes: bit i for operand i. The plan cache keys on such inputs.
    uint32_t shape_operands;

    // Elementwise operators: appends the operator's meaning to a loop program (loop/loop.h); false: has no loop form for these
    // attributes. args are loop registers of the operands; *result is the register of the result. NULL: none.
    bool (*loop)(const void *attr, struct tn_loop_build *build, const int *args, int n_args, int *result);

    // Operators that the application registered at run time bring their one kernel row; NULL: rows are in the registry.
    const struct tn_kernel *row;
};

// ---- what can be done with any attribute struct, given its list ----

// Attributes of two nodes of the same operator are equal.
bool tn_attr_equal(const tn_op *op, const void *a, const void *b);

// A deep copy: arrays, texts, loops and regions too. attr is not NULL. NULL: no memory.
void *tn_attr_copy(const tn_op *op, const void *attr, tn_arena *arena);

// Appends "{strides=[2,2], activation=relu}": the fields that differ from the defaults; nothing when none does.
struct tn_text;
void tn_attr_print(const tn_op *op, const void *attr, struct tn_text *text);

#endif
