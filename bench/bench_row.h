// SPDX-License-Identifier: Apache-2.0
// Timing one kernel row on one node: operands of random numbers in the row's layouts, constants packed as the row asks.
// Ownership: tensors of a node are the caller's. Threads: one at a time.
#ifndef TN_BENCH_ROW_H
#define TN_BENCH_ROW_H

#include "dispatch/registry.h"

#define TN_BENCH_MAX_IN 8

// A node: its operands' shapes (float32), which of them are constant.
typedef struct tn_bench_node {
    const tn_op *op;
    const void *attr;
    int n_in, n_out;
    tn_shape in[TN_BENCH_MAX_IN];          // rank -1: absent
    bool constant[TN_BENCH_MAX_IN];
} tn_bench_node;

typedef struct tn_bench_options {
    tn_heap *heap;
    const tn_cpu *cpu;
    tn_workers *workers;
    bool cold;                             // packed constants and results are out of all caches before each run
    double seconds;                        // spent on one row
} tn_bench_options;

typedef struct tn_bench_result {
    double ns;                             // of the fastest run
    double estimate;                       // what the row's cost says, on one thread
} tn_bench_result;

// Bytes of operands and results, each counted once; 0: the node does not infer.
double tn_bench_bytes(const tn_bench_node *node, const tn_bench_options *options);

// False: the row does not take the node (*why says the rule), or there is no memory.
bool tn_bench_row(const tn_bench_node *node, const tn_kernel *row, const tn_bench_options *options, tn_bench_result *result, const char **why);

#endif
