// SPDX-License-Identifier: Apache-2.0
// Tables of measured choices: which row runs a node in given layouts, how large it is to believe the second-level cache when it cuts its
// blocks, and whether all threads help. Some are embedded (plan/tune/tables, found by the processor), one more is in the cache folder, where
// `tenon tune` writes it. A table is text:
//   tenon-cpu-choices VERSION
//   processor NAME                      all three lines must be this machine's
//   isa TEXT                            tiers in use, joined by '+'
//   caches L1D L2                       bytes
//   OP NODE ROWS IN OUT ROW CACHE THREADS SHAPE
// NODE is a hash of operator, attributes, types, shapes and which operands are constant; ROWS one of the names and versions of all rows of
// the operator that the processor can run: when a row is added or changes, what was measured before does not count. CACHE is a power of two
// (-2 .. 2), THREADS "all" or "one", SHAPE is for the reader. Files are untrusted: a line that is not whole is left out.
//
// Row and cache change the order of arithmetic and are looked up without the number of threads, so results have the same bits for any number
// of threads with the same table. THREADS changes only the split of work.
// Ownership: a table owns its rows; init/deinit. Threads: one writer, or many readers.
#ifndef TN_CHOICES_H
#define TN_CHOICES_H

#include "base/text.h"
#include "dispatch/kernel.h"

#define TN_CHOICES_VERSION 1
#define TN_CHOICES_CACHE 2               // largest power of two, either way
#define TN_CHOICES_SHAPE 64

typedef struct tn_tuned {
    uint64_t node;
    const tn_kernel *row;
    uint8_t in, out;                     // layouts of the choice (plan/work.h)
    int8_t cache;
    bool alone;                          // one thread is faster than all
    char shape[TN_CHOICES_SHAPE];
} tn_tuned;

typedef struct tn_choices {
    tn_heap *heap;
    tn_tuned *rows;                      // sorted by node, in, out
    size_t count, room;
    size_t stale;                        // whole lines of the folder's table that say nothing to this build
} tn_choices;

void tn_choices_init(tn_choices *choices, tn_heap *heap);
void tn_choices_deinit(tn_choices *choices);

// The key of a node, from a query in any layouts, and its shapes for the reader (may be NULL). 0: no memory.
uint64_t tn_choices_node(tn_heap *heap, const tn_query *query, char shape[TN_CHOICES_SHAPE]);

// NULL: not measured.
const tn_tuned *tn_choices_find(const tn_choices *choices, uint64_t node, uint8_t in, uint8_t out);
bool tn_choices_knows(const tn_choices *choices, const tn_op *op);     // some row is of this operator

// Adds a row or replaces that of the same node and layouts. false: no memory, or the table is full.
bool tn_choices_put(tn_choices *choices, const tn_tuned *row);

// Adds the rows of a text if it is of this processor; *taken: how many. Errors: OUT_OF_MEMORY.
tn_status tn_choices_read(tn_choices *choices, const tn_cpu *cpu, const char *text, size_t length, size_t *taken, tn_diag *diag);

// Whether a text is a table of some processor, each line of it whole.
bool tn_choices_whole(const char *text, size_t length);

// The embedded tables and that of the folder (NULL: none). A file that is not there or is broken is no error. Errors: OUT_OF_MEMORY.
tn_status tn_choices_load(tn_choices *choices, const tn_cpu *cpu, const char *folder, tn_diag *diag);

// The table as text, and to this processor's file in the folder. Errors: OUT_OF_MEMORY, IO, INVALID_ARGUMENT (a path too long).
void tn_choices_write(const tn_choices *choices, const tn_cpu *cpu, tn_text *text);
tn_status tn_choices_save(const tn_choices *choices, const tn_cpu *cpu, const char *folder, tn_diag *diag);

// The second-level cache as a row with this choice is to believe it.
static inline size_t tn_choices_l2(size_t l2, int cache) { return cache < 0 ? l2 >> -cache : l2 << cache; }

// Embedded tables, written by the build; ends with NULL.
typedef struct tn_choices_source { const char *name; const unsigned char *data; size_t size; } tn_choices_source;
extern const tn_choices_source tn_choices_sources[];

#endif
