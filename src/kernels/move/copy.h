// SPDX-License-Identifier: Apache-2.0
// Copies of strided boxes (ir/op.h: tn_region), any element size. Each box becomes one step with everything in bytes; its dims are
// sorted by their stride in the result and merged where both sides allow it. What is left over innermost decides the kind:
//
//   RUN         neighbours on both sides: blocks of bytes are moved
//   TRANSPOSE   neighbours along some dims of the operand, along others of the result: squares are transposed
//   WEAVE       a few runs of the operand become one of the result whose elements take turns, as colours of pixels do (4 bytes)
//   PART        the other way round
//   STRIDED     element by element
//   FILL        one constant element
//
// Runs of 2, 4, 8 or 16 bytes count as elements themselves.
// Ownership: parameters live in the plan's arena. Threads: const after prepare.
#ifndef TN_COPY_H
#define TN_COPY_H

#include "dispatch/kernel.h"

#define TN_COPY_PIECE 65536       // bytes of a run that one item moves
#define TN_COPY_STRIP 16          // elements of the operand's direction that one item of a transpose takes
#define TN_COPY_LINE 16           // 4-byte elements: an item takes so many of the result's direction, a line, ...
#define TN_COPY_WIDE 128          // ... or so many where results go past the caches, ...
#define TN_COPY_WINDOW 1024       // ... and so many of the operand's, whose rows in the result a table of pages can hold; the last half more
#define TN_COPY_FEW 7             // runs that WEAVE and PART take at most

typedef enum tn_copy_kind { TN_COPY_RUN, TN_COPY_TRANSPOSE, TN_COPY_WEAVE, TN_COPY_PART, TN_COPY_STRIDED, TN_COPY_FILL } tn_copy_kind;

// One direction of a transpose of 4-byte elements: dims that lie one in another on its own side, the innermost first, and their strides
// on the other side, in bytes.
typedef struct tn_copy_way {
    int rank;
    int64_t sizes[TN_MAX_RANK], steps[TN_MAX_RANK];
} tn_copy_way;


typedef struct tn_copy_step {
    tn_copy_kind kind;
    int source;                   // operand, -1: the fill
    int rank;                     // outer dims
    int64_t sizes[TN_MAX_RANK], from[TN_MAX_RANK], to[TN_MAX_RANK];   // strides in bytes
    int64_t from_offset, to_offset;
    int64_t size;                 // of an element
    int64_t n;                    // RUN: bytes; else elements of the innermost dim (TRANSPOSE and below: of the result's direction)
    int64_t from_step, to_step;   // innermost
    int64_t m, m_step;            // TRANSPOSE and below: elements of the operand's direction and their stride in the result
    tn_copy_way rows, columns;    // TRANSPOSE of 4-byte elements: n and m, and where each row begins in the operand, each column in the result
    int64_t line, lines;          // TRANSPOSE of 4-byte elements: TN_COPY_LINE or TN_COPY_WIDE, and items of a window
    bool lined;                   // TRANSPOSE of 4-byte elements: columns lie lines apart
    int64_t windows;              // of m; of n for PART
    int64_t pieces;               // items of one position of the outer dims
    int64_t items, bytes;
} tn_copy_step;

typedef struct tn_copy_params {
    int count;
    uint8_t fill[16];
    bool apart;                   // no two steps touch the same bytes: all go in one job
    bool stream;                  // the result is larger than the caches
    int64_t items;                // of all steps
    tn_copy_step steps[];
} tn_copy_params;

bool tn_copy_match(const tn_query *query, const char **why);
bool tn_copy_match_lines(const tn_query *query, const char **why);   // all tensors in NCHW32B
tn_status tn_copy_prepare(tn_prepare *prepare);
double tn_copy_cost(const tn_query *query);

#endif
