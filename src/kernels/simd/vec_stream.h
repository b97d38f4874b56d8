// SPDX-License-Identifier: Apache-2.0
// Moving floats to a result that does not fit in the caches (stream.h): whole lines go past them, the ends of a run, which share a line
// with what lies beside it, do not.
// Ownership: none. Threads: any.
#ifndef TN_VEC_STREAM_H
#define TN_VEC_STREAM_H

#include "kernels/simd/stream.h"
#include "kernels/simd/vec.h"

#define TN_STREAM_LINE (TN_STREAM_ALIGN / (int)sizeof(float))

// Floats from an address, aligned to floats, to the next line.
TN_INLINE int64_t tn_stream_head(const void *to) { return (int64_t)((0 - (uintptr_t)to) % TN_STREAM_ALIGN / sizeof(float)); }

// tn_stream_end() before anybody else may look.
TN_INLINE void tn_stream_floats(float *to, const float *from, int64_t n)
{
    const int64_t head = tn_stream_head(to);
    int64_t i = head < n ? head : n;
    memcpy(to, from, (size_t)i * sizeof *to);
    for (; i + TN_STREAM_LINE <= n; i += TN_STREAM_LINE) {
#pragma GCC unroll 4
        for (int k = 0; k < TN_STREAM_LINE; k += TN_VL) {
            tn_vf_stream(to + i + k, tn_vf_load(from + i + k));
        }
    }
    memcpy(to + i, from + i, (size_t)(n - i) * sizeof *to);
}

#endif
