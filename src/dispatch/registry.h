// SPDX-License-Identifier: Apache-2.0
// All operators and kernel rows, from the list that the build writes (registry.gen.c).
// Ownership: const data. Threads: any.
#ifndef TN_REGISTRY_H
#define TN_REGISTRY_H

#include "dispatch/kernel.h"

// Written by the build; each ends with NULL.
extern const tn_kernel_list *const tn_registry_kernels[];
extern const tn_op_list *const tn_registry_ops[];

// Calls visit for every row (of `op` only, unless NULL) in registry order until it returns false.
void tn_registry_visit(const tn_op *op, bool (*visit)(const tn_kernel *row, void *context), void *context);

const tn_op *tn_registry_op(const char *name);   // NULL: no such operator

// The reference row of op for these types, or NULL.
const tn_kernel *tn_registry_reference(const tn_query *query);

// Whether the row's key (op, types, cpu bits in `features`) and predicate accept the query. On false *why says which rule.
bool tn_kernel_accepts(const tn_kernel *row, const tn_query *query, uint32_t features, const char **why);

#endif
