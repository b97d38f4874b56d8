// SPDX-License-Identifier: Apache-2.0
// Patterns of operators as text, and their matcher.
//
//   mul(0.5, x, add(1, erf(mul(0.70710678, x))))
//
// A small letter is any value; the same letter again is the same value. A capital letter is a constant tensor of more than one
// element. A number is a constant scalar near it; # is any constant scalar, captured in the order of the text. `d=expr` names
// what expr matched, for later use as a letter. op[a,b](...) also asks for the attributes alpha and beta of an activation.
// add and mul are sums and products: any number of terms, in any order, however they were nested and written (x - c, x / c and
// whole powers count), with all constant scalars gathered into one.
// Ownership: a parsed pattern is a plain value. Threads: any.
#ifndef TN_PATTERN_H
#define TN_PATTERN_H

#include "pass/rewrite.h"

#define TN_PATTERN_MAX 48      // parts of a pattern
#define TN_MATCH_MAX_NODES 32  // nodes of a match

typedef struct tn_pattern_part {
    enum { TN_PART_VALUE, TN_PART_CONSTANT, TN_PART_NUMBER, TN_PART_CAPTURE, TN_PART_OP } kind;
    const tn_op *op;
    char letter;               // VALUE, CONSTANT; OP: the name given to it, or 0
    double number;             // NUMBER
    bool has_attr;             // OP
    double alpha, beta;
    int children, n_children;  // OP: index of the first child's entry in tn_pattern.child
} tn_pattern_part;

typedef struct tn_pattern {
    tn_pattern_part part[TN_PATTERN_MAX];
    int child[TN_PATTERN_MAX];
    int n_parts, n_child;
    int root;
} tn_pattern;

typedef struct tn_match {
    tn_value *value[26];       // by letter, small or capital: 'x' - 'a', 'G' - 'A'
    double number[4];          // captured
    int n_numbers;
    tn_node *node[TN_MATCH_MAX_NODES];   // root first, each before those it reads
    int n_nodes;
} tn_match;

#define TN_MATCHED(match, letter) ((match)->value[((letter) | 32) - 'a'])

// Parses a pattern; false: an error in its text, which is a bug of ours.
bool tn_pattern_parse(tn_pattern *pattern, const char *text);

// Parses the patterns of a table whose rows, `size` bytes each, begin with their text. The caller gives *patterns to context->heap.
tn_status tn_pattern_parse_all(tn_pattern **patterns, const void *rows, size_t count, size_t size, const tn_pass_context *context);

// Whether the node and those before it have the pattern's form and, besides the result, nothing else reads what lies inside.
bool tn_pattern_match(const tn_pattern *pattern, const tn_pass_context *context, tn_node *node, tn_match *match);

#endif
