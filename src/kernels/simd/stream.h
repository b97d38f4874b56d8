// SPDX-License-Identifier: Apache-2.0
// Results that do not fit in the caches are stored past them (tn_vf_stream): no line is read before it is written, which saves a third
// of what a copy moves, and the operands of the next node stay. Smaller results are wanted in a cache by the node that reads them.
// Ownership: none. Threads: any.
#ifndef TN_STREAM_H
#define TN_STREAM_H

#include "dispatch/kernel.h"

#define TN_STREAM_ALIGN 64        // a line: whole ones are written, else parts of them would be read again

// The first result is larger than half of the last cache.
static inline bool tn_stream_result(const tn_query *query)
{
    size_t bytes = 0;
    return tn_tensor_bytes(query->out[0], &bytes) && bytes > query->cpu->l3 / 2;
}

#endif
