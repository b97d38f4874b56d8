// SPDX-License-Identifier: Apache-2.0
// A case made concrete: contents for its operands, shapes for its results, and running one kernel row on it in guarded memory.
// Used by the kernel check; the benches use the parts that make queries.
// Ownership: tensors live in the trial's arena; the bench owns its buffers until deinit. Threads: one at a time.
#ifndef TN_TRIAL_H
#define TN_TRIAL_H

#include "trial/buffer.h"
#include "support/case.h"
#include "dispatch/kernel.h"

typedef struct tn_trial {
    const tn_case *c;
    tn_arena *arena;
    tn_cpu cpu;
    tn_tensor in[TN_CASE_MAX_IN];         // plain; data NULL: absent
    tn_tensor want[TN_MAX_OUT];           // plain results of the reference, once it ran; shapes known before unless dynamic
    bool special;                         // contents have planted values
} tn_trial;

// Contents from r. `special`: NaN, infinities, denormals and huge numbers are planted in float operands. TN_OUT_OF_MEMORY, or what
// infer says.
tn_status tn_trial_init(tn_trial *trial, const tn_case *c, tn_arena *arena, tn_rand *r, bool special, tn_diag *diag);

// Layouts a row may be tried in.
typedef struct tn_trial_layouts { tn_layout in, out; } tn_trial_layouts;
#define TN_TRIAL_MAX_LAYOUTS 12
int tn_trial_layouts_of(const tn_trial *trial, const tn_kernel *row, tn_trial_layouts *layouts);

// The row's query in these layouts; pointers into the description, which must outlive it. Data is set for constants only.
typedef struct tn_trial_query {
    tn_query query;
    tn_tensor in[TN_CASE_MAX_IN], out[TN_MAX_OUT];
    const tn_tensor *in_list[TN_CASE_MAX_IN], *out_list[TN_MAX_OUT];
} tn_trial_query;
void tn_trial_describe(const tn_trial *trial, const tn_kernel *row, tn_trial_layouts layouts, tn_trial_query *out);

// Guarded memory for running rows.
typedef struct tn_trial_bench {
    tn_heap heap;
    tn_workers *workers;                  // of several threads
    tn_buffer in[TN_CASE_MAX_IN], out[TN_MAX_OUT], scratch, packed[TN_MAX_PACKS];
} tn_trial_bench;
bool tn_trial_bench_init(tn_trial_bench *bench, unsigned threads);
void tn_trial_bench_deinit(tn_trial_bench *bench);

typedef struct tn_trial_options {
    tn_trial_layouts layouts;
    bool threads;                         // on the bench's workers; else one thread
    bool at_end;                          // buffers end (else begin) at the guard page
    int in_place;                         // result 0 takes the bytes of this operand; -1: of none
} tn_trial_options;

// Runs a row that accepts the trial's query. Results are converted to plain tensors in the trial's arena. *broken names what was
// written that may not be; NULL otherwise.
tn_status tn_trial_run(const tn_trial *trial, tn_trial_bench *bench, const tn_kernel *row, const tn_trial_options *options,
                       tn_tensor *results, const char **broken, tn_diag *diag);

// Operand whose bytes result 0 may take, by the operator's flags and the layouts; -1: none.
int tn_trial_in_place(const tn_trial *trial, const tn_trial_query *query);

#endif
