// SPDX-License-Identifier: Apache-2.0
// Inputs for benches that measure what does not depend on values.
// Ownership: none. Threads: one.
#ifndef TN_BENCH_FEED_H
#define TN_BENCH_FEED_H

#include <tenon/tenon.h>

// Zeros for every input of the session's model, unknown dims as 1. The first failure ends it, with *error.
tenon_status tn_bench_feed(tenon_session *session, const tenon_model *model, tenon_error **error);

#endif
