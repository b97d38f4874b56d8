// SPDX-License-Identifier: Apache-2.0
// What all searches for kernels' parameters share: chance, simulated annealing (S. Kirkpatrick et al., "Optimization by Simulated
// Annealing", 1983) within a span of time, and reading the tables that keep what was found.
// Ownership: plain values. Threads: one.
#ifndef TN_TUNING_H
#define TN_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_TUNING_MOST_BYTES ((size_t)4 << 20)   // a larger file is no table: it is not read

typedef struct tn_annealing {
    uint64_t random;              // state of the generator; the seed at first
    uint64_t begin, until;        // of the search under way, on tn_clock_ns
} tn_annealing;

// Begins a search that ends at `until`.
void tn_annealing_begin(tn_annealing *a, uint64_t until);
bool tn_annealing_over(const tn_annealing *a);

uint64_t tn_annealing_random(tn_annealing *a);

// Whether to go on from a place that takes ns, when the search stands at one that takes `now`: always when it is faster, and else the more
// rarely the slower it is and the less time is left.
bool tn_annealing_moves(tn_annealing *a, double ns, double now);

// The next line of a text, cut at the room; false: there is none.
bool tn_table_line(const char **at, const char *end, char *line, size_t room);

// Whether a line begins with a word and a space; *value is what follows.
bool tn_table_named(const char *line, const char *word, const char **value);

#endif
