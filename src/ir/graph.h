// SPDX-License-Identifier: Apache-2.0
// The graph: values and nodes in one arena. A value has one producer (a node, or none: input or constant) and a list of uses.
// Nodes are kept in a topological order. Bodies of If, Loop and Scan are closed graphs: what they use of the outer scope comes
// in as explicit operands of the control node (after its own operands) and inputs of the body.
// Ownership: the graph owns its nodes, values, names and attributes; constant data belongs to the model (the mapped file) or to
// the arena. Threads: one writer, or many readers.
#ifndef TN_GRAPH_H
#define TN_GRAPH_H

#include "base/map.h"
#include "ir/op.h"

typedef struct tn_value tn_value;
typedef struct tn_graph tn_graph;

typedef struct tn_use {
    tn_node *node;
    int index;                // operand index
} tn_use;

struct tn_value {
    uint32_t id;              // unique in the graph; index in tn_graph.values
    const char *name;         // never NULL; unique for values that come from the model
    tn_kind kind, inner;      // inner: what an optional may hold
    tn_dtype dtype;           // TN_NONE until inferred
    tn_shape shape;
    tn_tensor *constant;      // contents (data may be unaligned), or NULL
    void *block;              // constants made by passes: their bytes, a block of the graph's heap; NULL: the bytes are another's
    bool shared;              // the bytes of block are also another value's: it stays until the graph dies
    uint32_t weight;          // constants: identity in the model's weight store (tn_heap_id), shared by all clones of the graph; 0: none
    tn_node *producer;        // NULL: graph input or constant
    int out_index;            // of the producer
    tn_use *uses;
    size_t n_uses, uses_capacity;
    bool is_input, is_output; // of the graph
};

struct tn_node {
    uint32_t id;
    const char *name;         // never NULL
    const tn_op *op;
    const void *attr;         // op->attr_size bytes, in the arena; NULL when the operator has none
    tn_value **in;            // n_in; NULL entries are absent optional operands
    tn_value **out;           // n_out; NULL entries are unused optional results
    int n_in, n_out;
    tn_graph **bodies;        // control operators: if = {then, else}, loop and scan = {body}
    int n_bodies;
    const char **origins;     // names of the model's nodes this one stands for (n_origins >= 1); several nodes may share the array
    int n_origins;
    tn_node *prev, *next;     // order
};

struct tn_graph {
    tn_arena arena;
    const char *name;
    tn_node *first, *last;
    size_t n_nodes;
    tn_value **values;        // by id
    size_t n_values, values_capacity;
    tn_value **inputs, **outputs;      // outputs may repeat a value, and may be inputs or constants
    size_t n_inputs, n_outputs;
    const char **symbols;     // names of symbolic dims by id ("batch")
    size_t n_symbols, symbols_capacity;
    uint32_t next_node;
    tn_graph **kept;          // bodies whose nodes moved into this graph: attributes and constants may lie in their arenas
    size_t n_kept;
};

#endif
