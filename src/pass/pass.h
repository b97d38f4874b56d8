// SPDX-License-Identifier: Apache-2.0
// A pass changes a graph and keeps its meaning. The order is the one visible table in pipeline.c; in debug builds the verifier
// runs after each pass.
// Ownership: passes work on the caller's graph. Threads: one per graph.
#ifndef TN_PASS_H
#define TN_PASS_H

#include "ir/edit.h"

typedef struct tn_pass_context {
    tn_heap *heap;
    tn_diag *diag;
    uint64_t limit_tensor_bytes;    // a fold that would make a larger constant is left alone
    const char *const *pinned;      // names of values that must survive (asked for by the caller); n_pinned
    size_t n_pinned;
    bool floats;                    // dequantise - compute - quantise stays as written: the devices are faster with float32 than with bytes
    int rounding;                   // tn_rounding of the quantised operators that passes make
    unsigned changes;               // counted by the passes
} tn_pass_context;

typedef struct tn_pass {
    const char *name;               // "fuse_conv"
    tn_status (*run)(tn_graph *graph, tn_pass_context *context);   // on one graph; bodies are visited by the pipeline
} tn_pass;

// Type and shape inference over a graph and its bodies: fills dtype and shape of every value from its inputs' declared ones, with
// symbolic dims and element propagation. Contradictions with the model's own declarations are errors that name the node.
tn_status tn_infer_graph(tn_graph *graph, tn_heap *heap, tn_diag *diag);

// The whole pipeline, or up to and including pass `last` (NULL: all), over the graph and its bodies. Infers first and after.
tn_status tn_optimise(tn_graph *graph, tn_pass_context *context, const char *last);

// The passes that find more when the shapes are concrete, over an optimised graph whose values have them (a plan's own graph, what
// is known by value being constants). Makes no new weights. Infers after each pass that changed something, from the inputs' shapes.
tn_status tn_optimise_shaped(tn_graph *graph, tn_pass_context *context);

const tn_pass *tn_pass_find(const char *name);

#endif
