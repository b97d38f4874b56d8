// SPDX-License-Identifier: Apache-2.0
// The reader of ONNX files: what its parts share. A model is read in one pass over views into the mapped bytes; only maps of
// names are built beside the graph. Every loop is bounded by bytes that are there, by the node limit, or by the work limit.
//
//   model ── functions (by name)                     scope: names of one graph or one function call
//     └── graph ── initialisers, inputs, nodes, outputs
//                                   ├── row       -> operators        (onnx_node.c, rows/)
//                                   ├── function  -> its nodes        (onnx_function.c)
//                                   └── body      -> a closed graph   (onnx_graph.c)
// Ownership: scratch memory dies with its scope or with the import; the graph owns the rest. Threads: one per import.
#ifndef TN_ONNX_READ_H
#define TN_ONNX_READ_H

#include "import/import.h"
#include "import/onnx/onnx_map.h"

enum {
    TN_ONNX_MAX_OPSET = 28,     // newest opset of the default domain that is understood
    TN_ONNX_MAX_IR = 14,        // newest IR version
    TN_ONNX_MAX_OPSETS = 128,   // imported by a model or by a function
    TN_ONNX_MAX_NESTING = 32,   // graphs and function calls inside each other
    TN_ONNX_MAX_ATTRS = 256,    // attributes of one node
    TN_ONNX_MAX_SYMBOLS = 4096, // names of dims that are kept; dims with further names are just unknown
    TN_ONNX_MAX_NAME = 512      // bytes of a name made by joining the names of a call and of a value in it
};

// What reading inside function calls may cost for each node that limit_nodes allows: stops a small file that stands for endless
// work. A node counts TN_ONNX_NODE_WORK, each of its fields TN_ONNX_FIELD_WORK, each number of a list 1.
#define TN_ONNX_WORK_PER_NODE 8
enum { TN_ONNX_NODE_WORK = 64, TN_ONNX_FIELD_WORK = 4 };

typedef struct tn_onnx_opset {
    tn_span domain;
    int64_t version;
} tn_onnx_opset;

typedef struct tn_onnx_opsets {
    tn_onnx_opset *v;
    size_t count, capacity;
} tn_onnx_opsets;

typedef struct tn_onnx_spans {
    tn_span *v;
    size_t count, capacity;
} tn_onnx_spans;

typedef struct tn_onnx_function {
    tn_span body; // FunctionProto
    tn_span domain, name, overload;
    tn_onnx_spans inputs, outputs;
    tn_onnx_opsets opsets;
    bool active; // a call of it is being expanded
} tn_onnx_function;

typedef struct tn_onnx_reader {
    tn_import *out;
    const uint8_t *data;
    size_t size;
    const tn_import_options *options;
    tn_heap *heap;
    tn_diag *diag;
    tn_arena scratch;
    tn_arena hints;   // what shape hints allocate; emptied now and then
    tn_map rows;      // "domain:type" -> const tn_onnx_row *, the first of that type
    tn_map functions; // domain, name, overload -> tn_onnx_function *
    tn_map files;     // location -> size_t *, index in out->files
    tn_map symbols;   // name of a dim -> int *, id in the main graph
    size_t files_capacity;
    uint64_t n_nodes;    // NodeProtos visited
    uint64_t work;       // done inside function calls
    uint64_t n_captures; // values that bodies take from outside
    uint64_t decoded;    // bytes of constants that could not stay in the file
    uint64_t bytes;      // of the model and its external files
    uint64_t n_refused;
    size_t report_length;
    unsigned n_reported;
    char report[3400]; // lines of the message about what is not supported
} tn_onnx_reader;

// A value of an outer scope that a body uses.
typedef struct tn_onnx_capture {
    tn_value *outer, *inner;
} tn_onnx_capture;

typedef struct tn_onnx_scope {
    tn_arena scratch;
    tn_onnx_reader *reader;
    struct tn_onnx_scope *outer; // bodies: where their node is; NULL for the main graph and for functions
    tn_graph *graph;
    tn_map values; // name -> tn_value *
    const tn_onnx_opsets *opsets;
    int depth;
    // function calls (bodies inside them share these)
    tn_onnx_node *call;     // whose attributes references speak of; NULL outside functions
    const char *prefix;     // of names, "" outside functions
    tn_onnx_attr *defaults; // of the function's attributes
    size_t n_defaults;
    tn_map renamed; // names of the function's results -> name of the caller's value
    // captures of a body
    tn_onnx_capture *captures;
    size_t n_captures, captures_capacity;
    // storage of the node being read, used again by the next one
    tn_onnx_attr *attrs;
    tn_onnx_spans in_names, out_names;
    tn_value **in, **out;
    size_t attrs_capacity, in_capacity, out_capacity;
} tn_onnx_scope;

// ---- onnx_read.c: reports and limits ----

// Adds "what 'name' reason" to the report; always TN_OK.
void tn_onnx_report(tn_onnx_reader *reader, const char *format, ...) TN_PRINTF(2, 3);

// TN_INVALID_MODEL for malformed bytes: place, message type and offset in the file.
tn_status tn_onnx_malformed(const tn_onnx_reader *reader, const char *place, const char *type, const uint8_t *at,
                            const char *fault);

// Counts `units` of work when inside a function call; TN_LIMIT past the limit.
tn_status tn_onnx_spend(tn_onnx_scope *scope, uint64_t units);

// Takes bytes for a decoded constant from the main graph's arena; fails with TN_LIMIT when the file stands for far more than it
// holds.
tn_status tn_onnx_take(tn_onnx_reader *reader, size_t bytes, const char *place, void **out);

// A zero-terminated copy; TN_INVALID_MODEL when the name holds a zero byte.
tn_status tn_onnx_name(const tn_onnx_reader *reader, tn_arena *arena, tn_span span, const char *what, const char **out);

tn_status tn_onnx_add_span(const tn_onnx_reader *reader, tn_arena *arena, tn_onnx_spans *spans, tn_span span);
tn_status tn_onnx_add_opset(tn_onnx_reader *reader, tn_onnx_opsets *opsets, tn_span body);

// ---- onnx_tensor.c ----

typedef struct tn_onnx_tensor {
    tn_span name;
    tn_dtype dtype;
    tn_shape shape;
    const void *data;    // in the file, in an external file, or decoded
    const char *refused; // why it is not supported; then the rest is not filled in
} tn_onnx_tensor;

tn_status tn_onnx_read_tensor(tn_onnx_reader *reader, tn_span body, const char *place, tn_onnx_tensor *out);

// Adds the elements of an initialiser, or of a Constant node that stands for one.
void tn_onnx_count_parameters(tn_onnx_reader *reader, const tn_shape *shape);

// A constant value of the graph with a weight id of its own.
tn_status tn_onnx_constant(tn_onnx_reader *reader, tn_graph *graph, const char *name, tn_dtype dtype, const tn_shape *shape,
                           const void *data, bool copy, tn_value **out);

// ---- onnx_type.c ----

typedef struct tn_onnx_info {
    tn_span name;
    tn_kind kind, inner; // inner: what an optional may hold
    tn_dtype dtype;      // TN_NONE: not given; of sequences: of the items
    tn_shape shape;
    const char *refused; // why the type is not supported
} tn_onnx_info;

// ValueInfoProto. Names of dims become symbols of the main graph when symbols is set.
tn_status tn_onnx_read_info(tn_onnx_reader *reader, tn_span body, bool symbols, tn_onnx_info *out);

// TypeProto.
tn_status tn_onnx_read_type(tn_onnx_reader *reader, tn_span body, tn_onnx_info *out);

// ---- onnx_attr.c ----

// Reads an AttributeProto. References to attributes of the function call are resolved; *found is false when the call lacks it.
tn_status tn_onnx_read_attr(tn_onnx_scope *scope, tn_span body, const char *place, tn_onnx_attr *out, bool *found);

// ---- onnx_scope.c ----

// A scope without names. outer not NULL: for a graph inside it, which sees the names there and the attributes of the function call
// that is being expanded. The tn_graph is for the caller to set: a new one makes it a body.
void tn_onnx_scope_init(tn_onnx_scope *scope, tn_onnx_reader *reader, tn_onnx_scope *outer);
void tn_onnx_scope_deinit(tn_onnx_scope *scope); // gives the scratch memory back, not the graph; zeros are allowed

// The value of a name, captured from outer scopes as needed. *out is NULL when there is none; *absent: the name stands for an
// optional operand that the caller left out.
tn_status tn_onnx_lookup(tn_onnx_scope *scope, tn_span name, tn_value **out, bool *absent);
// The stand-in, in a body's scope, of a value outside.
tn_status tn_onnx_take_value(tn_onnx_scope *scope, tn_value *outer, tn_value **out);

tn_status tn_onnx_bind(tn_onnx_scope *scope, tn_span name, tn_value *value, const char *place);
tn_status tn_onnx_bind_absent(tn_onnx_scope *scope, tn_span name);

// The full name of a value or node of this scope, in its scratch memory.
tn_status tn_onnx_full_name(tn_onnx_scope *scope, tn_span name, const char *what, const char **out);

// ---- onnx_graph.c, onnx_node.c, onnx_function.c ----

tn_status tn_onnx_read_graph(tn_onnx_scope *scope, tn_span body);
tn_status tn_onnx_read_node(tn_onnx_scope *scope, tn_span body, size_t index);

// The attribute's graph as a closed graph; *inner is the scope that holds its captures, for the caller to end. The caller adds the
// captures as inputs.
tn_graph *tn_onnx_body(tn_onnx_node *node, const char *attr, tn_onnx_scope *inner);

tn_status tn_onnx_read_function(tn_onnx_reader *reader, tn_span body);
tn_status tn_onnx_find_function(const tn_onnx_node *node, tn_onnx_function **out);
tn_status tn_onnx_call(tn_onnx_node *node, tn_onnx_function *function);

// What the graph of an attribute declares of its inputs or outputs, in scratch memory of the node's scope.
enum { TN_ONNX_INPUTS = 11, TN_ONNX_OUTPUTS = 12 }; // fields of GraphProto
size_t tn_onnx_declared(tn_onnx_node *node, const char *attr, uint32_t field, tn_onnx_info **infos);

bool tn_onnx_index_rows(tn_onnx_reader *reader);

#endif
