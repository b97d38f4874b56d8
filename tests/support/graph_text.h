// SPDX-License-Identifier: Apache-2.0
// Reads the text form of ir/print.c back, for tests: graphs can be written as they are printed. Larger constants, whose contents
// the text form leaves out, get numbers that depend on their name only. Not read: bodies, loop programs, regions.
// Ownership: the graph is the caller's. Threads: any.
#ifndef TN_GRAPH_TEXT_H
#define TN_GRAPH_TEXT_H

#include "ir/edit.h"

// `text` up to its end. Types behind the nodes and node names may be left out; a constant is written in full where it is first used.
// Dims may be numbers, ? or names of symbols. NULL: an error, described in diag.
tn_graph *tn_graph_parse(const char *text, tn_heap *heap, tn_diag *diag);

#endif
