// SPDX-License-Identifier: Apache-2.0
// A program: a graph with its cache of plans and the memory they run in. The session has one per set of wanted results; each body of
// a control operator and each later stage of a plan has its own.
// Ownership: create/destroy; a program owns its plans, arena and result buffers. Threads: one run at a time.
#ifndef TN_PROGRAM_H
#define TN_PROGRAM_H

#include "exec/profile.h"

#include <stdatomic.h>

#define TN_MAX_DEPTH 512              // stages and bodies below one another in one run

// What one run carries down to bodies and stages.
typedef struct tn_run {
    tn_plan_context *context;
    tn_workers *workers;
    const atomic_int *cancel;         // non-zero: stop
    uint64_t deadline_ns;             // on tn_clock_ns; 0: none
    uint64_t number;                  // as the session counts runs, repeated ones too; 0: nobody does
    // called before (after = false) and after each step of any program; NULL: nobody looks
    void (*observe)(void *observer, const tn_plan *plan, const tn_step *step, bool after, uint64_t nanoseconds);
    void *observer;
    tn_profile *profile;              // records; NULL: nobody asked
    tn_diag *diag;
    tn_arena *objects;                // strings and sequences made in the run; lives until the next
    unsigned depth;                   // stages and bodies below one another
    unsigned renewals;                // times that a part began anew by a leaner plan
    uint64_t work;                    // of the plans executed so far, against limit_run
} tn_run;

// Where a result goes and what came of it.
typedef struct tn_result_slot {
    void *bound;                      // the caller's buffer, or NULL: the program's own
    size_t bound_bytes;
    tn_dtype bound_dtype;             // of its elements; TN_NONE: the caller did not say
    tn_tensor tensor;                 // filled by the run
} tn_result_slot;

typedef struct tn_program tn_program;

// `graph` must outlive the program.
tn_status tn_program_create(tn_program **out, const tn_graph *graph, tn_plan_context *context, size_t max_plans, tn_diag *diag);
void tn_program_destroy(tn_program *program);

// Makes or finds the plan for these inputs (one tensor per graph input, PLAIN, shapes known).
tn_status tn_program_prepare(tn_program *program, const tn_tensor *inputs, tn_diag *diag);

// Runs; results[] has one entry per graph output. Allocates nothing when the plan is cached and has no stage, body or pool slot.
tn_status tn_program_run(tn_program *program, tn_run *run, const tn_tensor *inputs, tn_result_slot *results);

bool tn_program_by_value(const tn_program *program, size_t input);   // its contents can decide shapes
// The model's own program: its plans count copies of the inputs. Before the first plan.
void tn_program_hold_inputs(tn_program *program);
const tn_graph *tn_program_graph(const tn_program *program);
const tn_plan *tn_program_plan(const tn_program *program);     // the last one prepared or run; NULL: none
size_t tn_program_plans(const tn_program *program);            // cached
void tn_program_forget(tn_program *program);                   // drops all plans: what they were made for has changed
void tn_program_trim(tn_program *program);                     // gives back arena, results and all plans but the last

// Visits the last plan and those of its later stages and bodies, outermost first.
void tn_program_visit(const tn_program *program, void (*visit)(const tn_plan *plan, void *context), void *context);

// ---- for exec/control.c ----

// Memory for result `index` of a step whose size is known only now (or a check that it is what was planned).
tn_status tn_program_resize(tn_program *program, tn_plan *plan, const tn_step *step, int index, const tn_shape *shape, tn_diag *diag);
// Counts memory that a run takes beside its plans, until the plan that it belongs to ends or the caller takes it from context->around
// again. LIMIT where there is no room: "with `what` the run would take ...".
tn_status tn_run_count(tn_plan_context *context, uint64_t bytes, const char *place, const char *what, tn_diag *diag);
// Runs a control operator.
tn_status tn_control_run(tn_program *program, tn_plan *plan, const tn_step *step, tn_program **bodies, tn_run *run);

// Stop requested or deadline passed.
tn_status tn_run_check(const tn_run *run, const char *place);

#endif
