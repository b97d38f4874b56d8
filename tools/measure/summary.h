// SPDX-License-Identifier: Apache-2.0
// A PROFILE report added up: the time of each node and of each operator in one run.
// Ownership: names are the report's, which must outlive the summary. Threads: one.
#ifndef TN_SUMMARY_H
#define TN_SUMMARY_H

#include "cli_session.h"

#include <stdbool.h>

#define TN_CLI_EVENTS ((size_t)1 << 18)      // steps that a record has room for; memory is touched as they come

// A row of a table: an operator or a node, in one run. The time of a node is the median of its runs, so that a run which other work
// disturbed does not count; that of an operator is the sum of its nodes.
typedef struct tn_cli_line {
    const char *name, *op, *kernel, *device;
    double ns, calls, flop, bytes;
} tn_cli_line;

typedef struct tn_cli_summary {
    tn_cli_line *nodes, *ops;  // in the order of the plan; operators dearest first
    size_t n_nodes, n_ops;
    double *busy;              // ns of shares, by thread, all runs
    double *own;               // by node and run: ns of its own
    double *runs;              // ns, sorted
    size_t n_runs;
    unsigned threads;
    double alone;              // ns of steps that only the caller worked on, all runs
    double stepped;            // ns of all steps, all runs
    double all;                // sum of the nodes' medians
} tn_cli_summary;

// Adds the report up; the caller frees the summary.
void tn_cli_summarise(tn_cli_summary *s, const cJSON *profile);
void tn_cli_summary_free(tn_cli_summary *s);

// For qsort: the dearest line first.
int tn_cli_dearest(const void *a, const void *b);

#endif
