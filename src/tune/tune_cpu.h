// SPDX-License-Identifier: Apache-2.0
// Off-line search over what the CPU's rows leave open in a finished plan: which row runs a node in the layouts it has, how large the row is to
// believe the second-level cache when it cuts its blocks, and one thread or all. Layouts and fusion stay as they are. Nodes that are alike
// are measured once, dearest first; for each one the rows' own choices come first, then chance and changes of the best (annealing).
// Ownership: the caller's; steps and plans must stay until the search is over. Threads: one, and no other work on the machine, or the measure
// is of both.
#ifndef TN_TUNE_CPU_H
#define TN_TUNE_CPU_H

#include "plan/plan.h"

#define TN_TUNE_MAX_NODES 512

typedef struct tn_tune_node {
    uint64_t key;
    const tn_plan *plan;
    const tn_step *step;
    uint8_t in, out;                  // layouts of the choice
    double weight;                    // estimated time of all nodes like this one
    char shape[TN_CHOICES_SHAPE];
} tn_tune_node;

typedef struct tn_tune_cpu {
    tn_heap *heap;
    const tn_cpu *cpu;
    unsigned threads;
    tn_workers *workers;
    tn_choices *choices;              // what is found goes in here
    tn_tune_node nodes[TN_TUNE_MAX_NODES];
    size_t count;
} tn_tune_cpu;

// Collects the nodes of a plan that leave something open.
void tn_tune_cpu_add(tn_tune_cpu *tune, const tn_plan *plan);

// Errors: OUT_OF_MEMORY. Seconds and progress as in the request.
tn_status tn_tune_cpu_run(tn_tune_cpu *tune, const tn_tune_request *request);

#endif
