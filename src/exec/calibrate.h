// SPDX-License-Identifier: Apache-2.0
// Ranges of a graph's values over sample inputs, by running it in float32.
// Ownership: ranges are the caller's. Threads: one at a time.
#ifndef TN_CALIBRATE_H
#define TN_CALIBRATE_H

#include "exec/program.h"
#include "pass/quantise/quantise.h"

// samples: n_samples rows of one tensor per graph input (PLAIN, shapes known). ranges: by value id, those of values with a scale of their own
// (tn_has_scale) are filled in. The context's devices, precision and memory are not used: the run is on the CPU.
tn_status tn_calibrate(const tn_graph *graph, const tn_plan_context *context, tn_workers *workers, const tn_tensor *samples, size_t n_samples,
                       tn_range *ranges, tn_diag *diag);

// NULL allowed.
void tn_ranges_free(tn_range *ranges, size_t count, tn_heap *heap);

// Runs both graphs over the samples: the greatest difference of any result, as a part of the span of the first graph's.
tn_status tn_quantised_error(const tn_graph *const graphs[2], const tn_plan_context *context, tn_workers *workers, const tn_tensor *samples,
                             size_t n_samples, double *error, tn_diag *diag);

// A copy of `real`, as tn_quantise_graph makes it, which borrows its constants. The ranges stay as they are.
tn_status tn_quantised_copy(const tn_graph *real, tn_pass_context *passes, const tn_range *ranges, const bool *wide, tn_graph **out);

// wide: for each node of tn_quantise_count, becomes whether it needs 16 bits for the results' error to stay below `aim`.
tn_status tn_choose_widths(const tn_graph *graph, const tn_pass_context *passes, const tn_plan_context *context, tn_workers *workers,
                           const tn_tensor *samples, size_t n_samples, const tn_range *ranges, double aim, bool *wide);

#endif
