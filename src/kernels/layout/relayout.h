// SPDX-License-Identifier: Apache-2.0
// Conversion between the layouts of ir/layout.h. Between plain and blocked, one image and channel block is the transpose of
// `block` rows (channels) of S pixels into S rows of `block` lanes:
//
//      plain    channel 0:  p0 p1 p2 ...            blocked   pixel 0:  c0 c1 c2 ...
//               channel 1:  p0 p1 p2 ...      <->             pixel 1:  c0 c1 c2 ...
//
// Ownership: none. Threads: any.
#ifndef TN_RELAYOUT_H
#define TN_RELAYOUT_H

#include "dispatch/kernel.h"

#define TN_RELAYOUT_PIXELS 1024       // of one piece of work

typedef struct tn_relayout_geometry {
    int64_t images, channels, pixels;
    int64_t block;                    // lanes of the blocked side; of two blocked sides that of the result
    int64_t blocks;                   // channel blocks of an image
    int64_t pieces;                   // of TN_RELAYOUT_PIXELS pixels
} tn_relayout_geometry;

tn_relayout_geometry tn_relayout_geometry_of(const tn_tensor *in, const tn_tensor *out);

// Any element size and pair of layouts, element by element; items are images times pieces.
tn_status tn_relayout_general(const tn_call *call);

bool tn_relayout_match_32(const tn_query *query, const char **why);     // plain to blocked or back, elements of 4 bytes
bool tn_relayout_match_any(const tn_query *query, const char **why);
bool tn_relayout_match_lines(const tn_query *query, const char **why);  // NCHW32B to plain or NCHW16C, or back

#endif
