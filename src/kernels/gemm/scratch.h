// SPDX-License-Identifier: Apache-2.0
// Adding up a kernel's workspace: parts one after another, each at a multiple of 64 bytes, sizes checked.
// Leaf header of kernels/. Ownership: none. Threads: any.
#ifndef TN_SCRATCH_H
#define TN_SCRATCH_H

#include "base/num.h"
#include "dispatch/kernel.h"

// Adds a part of count * size bytes; *at is where it begins. TN_LIMIT when the sum does not fit.
static inline tn_status tn_scratch_add(tn_prepare *prepare, size_t count, size_t size, size_t *at)
{
    size_t bytes, total;
    if (!tn_mul_size(count, size, &bytes) || !tn_align_size(bytes, TN_ALIGNMENT, &bytes) ||
        !tn_add_size(prepare->scratch_bytes, bytes, &total)) {
        return tn_fail(prepare->diag, TN_LIMIT, prepare->query->name, "the workspace of %s does not fit in memory", prepare->row->name);
    }
    *at = prepare->scratch_bytes;
    prepare->scratch_bytes = total;
    return TN_OK;
}

#endif
