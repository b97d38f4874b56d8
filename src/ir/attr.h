// SPDX-License-Identifier: Apache-2.0
// What can be done with any operator's attribute struct, given its list (tn_attr_equal is in ir/op.h).
// Ownership: copies belong to the arena given. Threads: any, one arena each.
#ifndef TN_ATTR_H
#define TN_ATTR_H

#include "base/text.h"
#include "ir/op.h"

// A deep copy: arrays, texts, loops and regions too. attr is not NULL. NULL: no memory.
void *tn_attr_copy(const tn_op *op, const void *attr, tn_arena *arena);

// Appends "{strides=[2,2], activation=relu}": the fields that differ from the defaults; nothing when none does.
void tn_attr_print(const tn_op *op, const void *attr, tn_text *text);

#endif
