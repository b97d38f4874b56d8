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
#define TN_COPY_LINE 16           // 4-byte elements: a line
#define TN_COPY_ITEM 16384        // 4-byte elements that an item takes in the caches: ...
#define TN_COPY_ROWS 64           // ... a line of the result's direction or, where that is the longer one, so many; half more at most, and a line
#define TN_COPY_WIDE 128          // past the caches: an item takes a line or so many of the result's direction, ...
#define TN_COPY_WINDOW 1024       // ... and so many of the operand's, whose rows in the result a table of pages can hold; the last half more
#define TN_COPY_BURST 64          // past the caches, WHOLE: so many of the operand's direction; the last half more
#define TN_COPY_WHOLE 256         // elements that are taken whole at most
#define TN_COPY_PITCH (TN_COPY_WIDE + TN_COPY_LINE)   // columns put together lie so far apart: in different sets of the first cache
#define TN_COPY_FEW 7             // runs that WEAVE and PART take at most

typedef enum tn_copy_kind { TN_COPY_RUN, TN_COPY_TRANSPOSE, TN_COPY_WEAVE, TN_COPY_PART, TN_COPY_STRIDED, TN_COPY_FILL } tn_copy_kind;

// How 4-byte elements of a transpose go past the caches.
typedef enum tn_copy_past {
    TN_COPY_NOT,                  // they stay in them
    TN_COPY_LINES,                // lines of the result
    TN_COPY_HALVES,               // half a KiB of each of 16 columns
    TN_COPY_RESULT_WHOLE,         // columns that lie one after another in the result, all of each
    TN_COPY_OPERAND_WHOLE         // half a KiB of each column of rows that lie one after another in the operand, all of each
} tn_copy_past;

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
    tn_copy_past past;            // TRANSPOSE of 4-byte elements
    int64_t line, lines;          // TRANSPOSE of 4-byte elements: what an item takes of the result's direction, and items of a window
    int64_t window;               // TRANSPOSE of 4-byte elements: what it takes of the operand's
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
    int64_t block_floats;         // of a thread: where what is taken whole is put together
    int64_t items;                // of all steps
    tn_copy_step steps[];
} tn_copy_params;

bool tn_copy_match(const tn_query *query, const char **why);
bool tn_copy_match_lines(const tn_query *query, const char **why);   // all tensors in NCHW32B
tn_status tn_copy_prepare(tn_prepare *prepare);
double tn_copy_cost(const tn_query *query);

#endif
