// SPDX-License-Identifier: Apache-2.0
// Light mode: no arena. Each intermediate tensor is taken when the first step needs it and given back after the last, so that the peak is
// the largest sum of live tensors and nothing is kept between runs.
// Ownership: bytes belong to the run in progress. Threads: as the run.
#ifndef TN_LIGHT_H
#define TN_LIGHT_H

#include "plan/plan.h"

// Takes what step `at` is the first to need, and its workspace.
tn_status tn_light_before(tn_plan *plan, size_t at, tn_diag *diag);

// Gives back what step `at` was the last to need, and its workspace.
void tn_light_after(tn_plan *plan, size_t at);

// Sets the address of a slot that views another's bytes.
void tn_light_point(tn_plan *plan, int slot);

// Gives back whatever is still held: after the run, or when it failed.
void tn_light_end(tn_plan *plan);

#endif
