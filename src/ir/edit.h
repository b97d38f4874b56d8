// SPDX-License-Identifier: Apache-2.0
// The only way to build and change a graph. Every call keeps uses, order and names consistent; NULL or a status other than
// TN_OK means no memory (or what is said), and the graph is then still valid.
// Ownership: results belong to the graph. Threads: one writer.
#ifndef TN_EDIT_H
#define TN_EDIT_H

#include "ir/graph.h"

tn_graph *tn_graph_create(tn_heap *heap, const char *name);
void tn_graph_destroy(tn_graph *graph);     // bodies too; NULL allowed

// A new value without producer. name NULL makes one ("%12"). Shape unknown, dtype TN_NONE.
tn_value *tn_graph_value(tn_graph *graph, const char *name);

// A new constant of known shape. copy: the bytes are copied into the graph's arena (aligned to 16); else data must outlive the graph.
tn_value *tn_graph_constant(tn_graph *graph, const char *name, tn_dtype dtype, const tn_shape *shape, const void *data, bool copy);

// A new constant with bytes of its own, not filled yet, to be written through *data. Its block goes with the graph, or before, by
// tn_graph_release.
tn_value *tn_graph_room(tn_graph *graph, const char *name, tn_dtype dtype, const tn_shape *shape, void **data);

// A new constant over the bytes (all of them) of another graph's or this graph's constant; it has the other's weight identity.
tn_value *tn_graph_alias(tn_graph *graph, const char *name, const tn_shape *shape, tn_value *of);

// Gives the block of a constant back when nothing uses the constant any more; it is then an empty value. Else does nothing.
void tn_graph_release(tn_graph *graph, tn_value *value);

// Adds a value to the inputs / outputs.
tn_status tn_graph_add_input(tn_graph *graph, tn_value *value);
tn_status tn_graph_add_output(tn_graph *graph, tn_value *value);

// Id of a named symbol, made when new; -1: no memory or too many.
int tn_graph_symbol(tn_graph *graph, const char *name);

// A new node before `before` (NULL: at the end). attr is copied (op->attr_size bytes; NULL takes the defaults). Operands in[]
// may hold NULL. out[] are values without producer. Arrays inside attr (tn_ints ...) must live in the graph's arena or be static.
// origin NULL: the node's own name is its origin.
tn_node *tn_graph_node(tn_graph *graph, tn_node *before, const tn_op *op, const char *name, const void *attr,
                       tn_value *const *in, int n_in, tn_value *const *out, int n_out);

tn_status tn_node_set_in(tn_graph *graph, tn_node *node, int index, tn_value *value);   // value NULL: absent
tn_status tn_node_add_in(tn_graph *graph, tn_node *node, tn_value *value);
tn_status tn_node_add_body(tn_graph *graph, tn_node *node, tn_graph *body);             // node owns the body
tn_status tn_node_add_origins(tn_graph *graph, tn_node *node, const tn_node *from);
void tn_node_set_attr(tn_node *node, const void *attr);    // attr lives in the graph's arena

// All uses of `old`, and its place among the graph's outputs, become `value`; what the producer of `value` itself uses stays. When
// `old` is a graph output, the two exchange names, so that the model's output names survive. An output that is also a graph input,
// or an output already, cannot take the name: TN_STATE, nothing changed, and the caller keeps the node in between.
tn_status tn_graph_replace(tn_graph *graph, tn_value *old, tn_value *value);

// Takes an operand, and an unused input that is no output, out of their lists; what stands behind moves up by one.
void tn_node_drop_in(tn_node *node, int index);
void tn_graph_drop_input(tn_graph *graph, size_t index);

// Body `index` leaves its node and is kept alive by the graph, so that its nodes' attributes and constants can be used there.
tn_status tn_graph_keep_body(tn_graph *graph, tn_node *node, int index);

// Removes a node whose outputs have no uses and are not graph outputs.
void tn_graph_remove(tn_graph *graph, tn_node *node);

// Puts all nodes into the given order, which must be topological and hold each node of the graph once.
void tn_graph_reorder(tn_graph *graph, tn_node *const *nodes);

// A deep copy (bodies too) into a new graph; constants still point to the same data. map_out: NULL, or n_values pointers that get
// the copy of each value by id.
tn_graph *tn_graph_clone(const tn_graph *graph, tn_heap *heap, tn_value **map_out);

// Checks every invariant of ir/graph.h; TN_INTERNAL with the first broken one.
tn_status tn_graph_verify(const tn_graph *graph, tn_diag *diag);

// Text form, one node a line, used by golden tests and `tenon info --graph`:
//   graph "name" (%x: float32[1,3,s0,s1]) -> (%y)
//     %t = conv(%x, %w: const float32[8,3,3,3]) {strides=[2,2], activation=relu} : float32[1,8,?,?] "node name"
struct tn_text;
void tn_graph_print(const tn_graph *graph, struct tn_text *text);

// A shape of one of the graph's values with the names of its symbols, as tn_shape_print_named.
char *tn_graph_shape_print(const tn_graph *graph, const tn_shape *shape, char *text, size_t size);

#endif
