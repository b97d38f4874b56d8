// SPDX-License-Identifier: Apache-2.0
// Operators on tensors of strings (ONNX StringConcat 20, StringSplit 20, StringNormalizer 10, RegexFullMatch 20).
//   string_concat(a, b)               element by element, broadcast
//   string_split(x) -> pieces [x..., most pieces], count of each [x...]
//   string_normalizer(x, stopwords?)  x [C] or [1, C]; without the stop words, in the wanted case
//   regex_full_match(x) -> bool       the whole of each string matches
// Ownership: const data. Threads: any.
#ifndef TN_OP_TEXT_H
#define TN_OP_TEXT_H

#include "ir/op.h"

enum { TN_CASE_NONE, TN_CASE_LOWER, TN_CASE_UPPER };

typedef struct tn_string_split_attr { const char *delimiter; int64_t maxsplit; } tn_string_split_attr;   // NULL, "": white space; < 0: all
typedef struct tn_string_normalizer_attr { int change; bool is_case_sensitive; } tn_string_normalizer_attr;   // TN_CASE_*
typedef struct tn_regex_attr { const char *pattern; } tn_regex_attr;

extern const tn_op tn_op_string_concat;
extern const tn_op tn_op_string_split;
extern const tn_op tn_op_string_normalizer;
extern const tn_op tn_op_regex_full_match;

#endif
