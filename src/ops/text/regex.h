// SPDX-License-Identifier: Apache-2.0
// Regular expressions in the syntax of RE2 (its wiki page "Syntax"), for whole strings: literals, ".", classes, groups, "|",
// repetitions, anchors, word boundaries, flags i m s U. No Unicode classes (\p) and no single bytes (\C).
// A pattern comes from the model: it is run as a set of states that moves over the text once (K. Thompson, "Regular expression
// search algorithm", CACM 1968), so that no pattern takes more than its length times that of the text.
// Ownership: compile/free. Threads: one match at a time.
#ifndef TN_REGEX_H
#define TN_REGEX_H

#include "base/alloc.h"

#include <stdbool.h>

typedef struct tn_regex tn_regex;

// NULL: *fault says why ("no memory" when that is it).
tn_regex *tn_regex_compile(const char *pattern, tn_heap *heap, const char **fault);
void tn_regex_free(tn_regex *regex);

// The whole text matches. cancel: non-zero there ends it early with false; NULL: never.
bool tn_regex_full_match(tn_regex *regex, const char *text, size_t length, const volatile int *cancel);

#endif
