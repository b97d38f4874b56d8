// SPDX-License-Identifier: Apache-2.0
// The recorder behind tenon_session_profile: when each step of each run began and ended, and which thread did how much of it.
// All room is taken when recording begins; when it is full, what comes later is counted and dropped, so recording never changes
// what a run does. Facts of a step (names, bytes, multiply-accumulates) are copied once, at its first event: its plan may be gone by the
// time of the report.
// Ownership: create/destroy. Threads: those of the session; shares are written by its workers (sys/workers.h).
#ifndef TN_PROFILE_H
#define TN_PROFILE_H

#include "plan/plan.h"
#include "sys/threads/watch.h"

struct tn_text;
typedef struct tn_profile tn_profile;

// Room for `events` steps and as many shares of threads. NULL: no memory.
tn_profile *tn_profile_create(tn_heap *heap, size_t events, unsigned threads);
void tn_profile_destroy(tn_profile *profile);

// A run begins and ends; its workers report to the recorder in between.
void tn_profile_run_begin(tn_profile *profile, tn_workers *workers, uint64_t planning_ns);
void tn_profile_run_end(tn_profile *profile, tn_workers *workers, uint64_t planning_ns);

// A step ended. Steps of bodies end before the step that they belong to.
void tn_profile_step(tn_profile *profile, const tn_plan *plan, const tn_step *step, uint64_t begin_ns, uint64_t end_ns);

// The record as members of the open object that is the PROFILE document of tenon.h.
void tn_profile_write(const tn_profile *profile, struct tn_text *text);

#endif
