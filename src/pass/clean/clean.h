// SPDX-License-Identifier: Apache-2.0
// Passes that make a graph smaller without making new operators.
// Ownership: const data. Threads: any.
#ifndef TN_CLEAN_H
#define TN_CLEAN_H

#include "pass/pass.h"

extern const tn_pass tn_pass_fold;        // constants are computed
extern const tn_pass tn_pass_inline_if;   // a branch whose condition is constant takes the place of its If
extern const tn_pass tn_pass_sink;        // constants that bodies take of the outer graph move into the bodies
extern const tn_pass tn_pass_dead;        // what nothing uses goes
extern const tn_pass tn_pass_dedup;       // what is computed twice is computed once
extern const tn_pass tn_pass_neutral;     // operators that change nothing go: identity, x + 0, a cast to the same type, ...
extern const tn_pass tn_pass_untangle;        // movements that cancel or merge: transposes, reshapes, slices of everything

#endif
