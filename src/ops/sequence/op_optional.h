// SPDX-License-Identifier: Apache-2.0
// Optionals (ONNX Optional, OptionalHasElement, OptionalGetElement): a value that holds a tensor or a sequence, or nothing.
//   optional(x?) -> holds x; without x it is empty and the attributes say of what type
//   optional_has_element(x?) -> bool scalar; true for what is no optional
//   optional_get_element(x) -> what x holds; x itself when it is no optional
// Ownership: const data. Threads: any.
#ifndef TN_OP_OPTIONAL_H
#define TN_OP_OPTIONAL_H

#include "ir/op.h"

typedef struct tn_optional_attr { tn_dtype dtype; bool sequence; } tn_optional_attr;

extern const tn_op tn_op_optional;
extern const tn_op tn_op_optional_has_element;
extern const tn_op tn_op_optional_get_element;

#endif
