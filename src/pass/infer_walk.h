// SPDX-License-Identifier: Apache-2.0
// What the two files of the inference walk share.
// Ownership: a walk is on the caller's stack. Threads: one a walk.
#ifndef TN_INFER_WALK_H
#define TN_INFER_WALK_H

#include "ir/edit.h"
#include "pass/infer.h"

typedef struct tn_walk {
    tn_arena *arena;         // facts and what they point to
    tn_heap *heap;
    tn_diag *diag;
    const tn_graph *root;    // its symbol table numbers all symbols of the walk
    bool write;              // results are written into bodies as they are visited for the last time
    bool fresh;              // unknown dims get fresh symbols
    int64_t next_fresh;
    int depth;               // of bodies
} tn_walk;

// Fills facts (by value id) of one graph; see tn_infer_facts.
tn_status tn_walk_graph(tn_walk *walk, const tn_graph *graph, const tn_fact *inputs, const tn_fact *const *known, tn_fact *facts);

// Writes facts into the graph's values.
tn_status tn_walk_write(tn_walk *walk, tn_graph *graph, const tn_fact *facts);

// The results of If, Loop or Scan, by walking the bodies.
tn_status tn_walk_control(tn_walk *walk, const tn_node *node, const tn_fact *const *in, tn_fact *out);

#endif
