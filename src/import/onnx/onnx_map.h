// SPDX-License-Identifier: Apache-2.0
// How a node of an ONNX model becomes operators of ours. Most foreign operators are rows of data: their attributes fill our
// attribute struct field by field, attributes that newer opsets turned into operands become constants. The others have a map
// function that builds them from emit calls. Version numbers and defaults are those of the ONNX operator documents.
//
// Failure is sticky in the node: after the first one every call below does nothing and returns NULL or the fall-back, so that
// map functions read straight; the caller looks at node->status once.
// Ownership: what is built belongs to the node's graph. Threads: one per import.
#ifndef TN_ONNX_MAP_H
#define TN_ONNX_MAP_H

#include "import/wire/protobuf.h"
#include "ir/edit.h"

struct tn_onnx_scope;
struct tn_onnx_node;

// ---- attributes of the file ----

// AttributeProto.AttributeType
enum {
    TN_ONNX_FLOAT = 1,
    TN_ONNX_INT = 2,
    TN_ONNX_STRING = 3,
    TN_ONNX_TENSOR = 4,
    TN_ONNX_GRAPH = 5,
    TN_ONNX_FLOATS = 6,
    TN_ONNX_INTS = 7,
    TN_ONNX_STRINGS = 8,
    TN_ONNX_TENSORS = 9,
    TN_ONNX_GRAPHS = 10,
    TN_ONNX_SPARSE = 11,
    TN_ONNX_TYPE = 13
};

typedef struct tn_onnx_attr {
    tn_span name;
    tn_span body; // the whole AttributeProto: lists are read from it when asked for
    int64_t type; // TN_ONNX_*
    int64_t i;
    float f;
    tn_span bytes; // string, tensor, graph, sparse tensor or type
    bool used;     // some map function asked for it
} tn_onnx_attr;

// ---- rows ----

// An attribute of the foreign operator that fills a field of our attribute struct.
typedef struct tn_onnx_field {
    const char *name;
    int kind;        // tn_attr_kind, or TN_ONNX_SKIP: known, without influence on results
    uint16_t offset; // of the field
    uint16_t given;  // offset + 1 of a bool that becomes true when the attribute is there; 0: none
    bool required;
    int64_t number;           // default of INT, BOOL, DTYPE and choices
    float real;               // default of REAL
    const char *const *texts; // the attribute is one of these strings and the field gets its index; ends with NULL
} tn_onnx_field;

enum { TN_ONNX_SKIP = 100 };

#define TN_FIELD_INT(type, field, text, value)                                                                                     \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_INT, .offset = offsetof(type, field), .number = value                                        \
    }
#define TN_FIELD_BOOL(type, field, text, value)                                                                                    \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_BOOL, .offset = offsetof(type, field), .number = value                                       \
    }
#define TN_FIELD_REAL(type, field, text, value)                                                                                    \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_REAL, .offset = offsetof(type, field), .real = value                                         \
    }
#define TN_FIELD_INTS(type, field, text)                                                                                           \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_INTS, .offset = offsetof(type, field)                                                        \
    }
#define TN_FIELD_TEXT(type, field, text)                                                                                           \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_TEXT, .offset = offsetof(type, field)                                                        \
    }
#define TN_FIELD_DTYPE(type, field, text)                                                                                          \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_DTYPE, .offset = offsetof(type, field)                                                       \
    }
#define TN_FIELD_ENUM(type, field, text, list, value)                                                                              \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_ENUM, .offset = offsetof(type, field), .number = value, .texts = list                        \
    }
#define TN_FIELD_CHOICE(type, field, text, list, value)                                                                            \
    {                                                                                                                              \
        .name = text, .kind = TN_ATTR_BOOL, .offset = offsetof(type, field), .number = value, .texts = list                        \
    }
#define TN_FIELD_SKIP(text)                                                                                                        \
    {                                                                                                                              \
        .name = text, .kind = TN_ONNX_SKIP                                                                                         \
    }

// An attribute of older opsets that is an operand now.
typedef struct tn_onnx_operand {
    const char *name;
    int kind;      // INTS: int64 [n]. INT: int64 [1]. REALS: float32 [n]. REAL: a scalar of operand 0's type
    uint8_t index; // operand
    uint8_t until; // last opset that has it as attribute
} tn_onnx_operand;

typedef struct tn_onnx_row {
    const char *type;                       // operator of the foreign domain
    uint8_t since, until;                   // opsets with this meaning; until 0: to the newest
    uint8_t max_in;                         // operands the foreign operator takes; 0: as many as op
    bool nests;                             // op of parts is op of all: more operands than a kernel takes become a tree
    const tn_op *op;                        // NULL: map says
    void (*map)(struct tn_onnx_node *node); // NULL: tn_onnx_plain
    const tn_onnx_field *fields;
    size_t n_fields;
    const tn_onnx_operand *operands;
    size_t n_operands;
} tn_onnx_row;

#define TN_FIELDS(list) .fields = list, .n_fields = TN_COUNT(list)
#define TN_OPERANDS(list) .operands = list, .n_operands = TN_COUNT(list)

typedef struct tn_onnx_table {
    const char *domain;      // "": the default one
    const tn_onnx_row *rows; // rows of one operator type lie side by side; ends with a row without type
} tn_onnx_table;

extern const tn_onnx_table *const tn_onnx_tables[]; // ends with NULL

// ---- the node being mapped ----

enum { TN_ONNX_SPARE = 8 };

typedef struct tn_onnx_node {
    struct tn_onnx_scope *scope;
    tn_graph *graph;
    const char *name;
    tn_span type, domain, overload;
    int64_t opset; // of the domain
    const tn_onnx_row *row;
    tn_value **in; // n_in; absent operands are NULL, trailing ones cut off; TN_ONNX_SPARE more entries are NULL
    int n_in;
    tn_span *out_names; // n_out; empty: not wanted
    tn_value **out;     // results so far
    int n_out;
    tn_onnx_attr *attrs;
    size_t n_attrs;
    tn_status status; // first failure
    bool refused;     // reported as unsupported: build nothing more
} tn_onnx_node;

// Records a failure of the whole import.
void tn_onnx_fail(tn_onnx_node *node, tn_status status, const char *format, ...) TN_PRINTF(3, 4);

// Notes that this node cannot be mapped and why; the import goes on to find the others, and fails at its end.
void tn_onnx_refuse(tn_onnx_node *node, const char *format, ...) TN_PRINTF(2, 3);

// Whether building goes on.
static inline bool tn_onnx_good(const tn_onnx_node *node)
{
    return node->status == TN_OK && !node->refused;
}

// Operand i or NULL.
static inline tn_value *tn_onnx_in(const tn_onnx_node *node, int i)
{
    return i < node->n_in ? node->in[i] : NULL;
}

// Gives the node another operand i (at most TN_ONNX_SPARE past those of the file).
static inline void tn_onnx_set_in(tn_onnx_node *node, int i, tn_value *value)
{
    node->in[i] = value;
    node->n_in = i < node->n_in ? node->n_in : i + 1;
}

// Result i is named, that is, somebody may read it.
static inline bool tn_onnx_wants(const tn_onnx_node *node, int i)
{
    return i < node->n_out && node->out_names[i].size > 0;
}

// ---- attributes ----

// The attribute, or NULL when the node has none of that name.
const tn_onnx_attr *tn_onnx_find(tn_onnx_node *node, const char *name);

int64_t tn_onnx_int(tn_onnx_node *node, const char *name, int64_t fallback);
double tn_onnx_real(tn_onnx_node *node, const char *name, float fallback);
tn_ints tn_onnx_ints(tn_onnx_node *node, const char *name); // in the graph's arena; not set when absent
tn_reals tn_onnx_reals(tn_onnx_node *node, const char *name);
const char *tn_onnx_text(tn_onnx_node *node, const char *name); // NULL when absent
int tn_onnx_choice(tn_onnx_node *node, const char *name, const char *const *texts, int fallback);
tn_span tn_onnx_string(tn_onnx_node *node, const char *name, size_t index, size_t *count); // of a list of strings

// An operator's attribute struct filled by the row's fields; room: at least op->attr_size bytes.
void tn_onnx_fill(tn_onnx_node *node, const tn_op *op, const tn_onnx_field *fields, size_t n_fields, void *room);

// ---- building ----

// An operand list: TN_IN(a, b) stands for the two arguments "array, count".
#define TN_IN(...) (tn_value *[]){__VA_ARGS__}, (int)(sizeof((tn_value *[]){__VA_ARGS__}) / sizeof(tn_value *))

// A new operator with one result without a name of its own.
tn_value *tn_onnx_emit(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in);

// The same for an operator with `count` results; out is NULL throughout when building has stopped.
void tn_onnx_emit_several(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in, tn_value **out,
                          int count);

// The operator that makes all results of the node.
void tn_onnx_finish(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in);

// The operator that makes result `index` alone.
void tn_onnx_finish_one(tn_onnx_node *node, int index, const tn_op *op, const void *attr, tn_value *const *in, int n_in);

// Result `index` is a copy of x.
void tn_onnx_finish_as(tn_onnx_node *node, int index, tn_value *x);

// The operator that makes the `count` results in `out` (entries may be NULL).
void tn_onnx_build(tn_onnx_node *node, const tn_op *op, const void *attr, tn_value *const *in, int n_in, tn_value *const *out,
                   int count);

// A value for result i, named as in the model; NULL when nobody wants it.
tn_value *tn_onnx_result(tn_onnx_node *node, int i);

// Reads the graph of an attribute, which has n_in inputs and n_out outputs, into the node's own graph: its outputs for the inputs
// `in`. out is NULL throughout when building has stopped.
void tn_onnx_inline(tn_onnx_node *node, const char *attr, tn_value *const *in, size_t n_in, tn_value **out, size_t n_out);

// Maps the node by its row alone.
void tn_onnx_plain(tn_onnx_node *node);

// Constants. like: of the dtype of `like` (scalar); where that is not known, a cast_like makes it so.
tn_value *tn_onnx_const(tn_onnx_node *node, tn_dtype dtype, const tn_shape *shape, const void *data); // data is copied
tn_value *tn_onnx_const_ints(tn_onnx_node *node, const int64_t *v, size_t count);                     // int64 [count]
tn_value *tn_onnx_const_int(tn_onnx_node *node, int64_t v);                                           // int64 scalar
tn_value *tn_onnx_const_real(tn_onnx_node *node, tn_dtype dtype, double v);                           // scalar
tn_value *tn_onnx_const_like(tn_onnx_node *node, tn_value *like, double v);

// The tensor of an attribute as a constant; name NULL: made. NULL when the attribute is not there.
tn_value *tn_onnx_const_attr(tn_onnx_node *node, const char *attr, const char *name);

// Strings as a constant [n]: the list of an attribute (NULL when it is not there), or texts of our own.
tn_value *tn_onnx_const_strings(tn_onnx_node *node, const char *attr);
tn_value *tn_onnx_const_texts(tn_onnx_node *node, const char *const *texts, size_t count);

// A constant's only element as a number; false when the value is not such a constant.
bool tn_onnx_known_scalar(const tn_value *value, double *v);

#endif
