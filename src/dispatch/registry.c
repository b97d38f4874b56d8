// SPDX-License-Identifier: Apache-2.0
// Look-ups over the generated lists. They are walked in full: it happens when graphs and plans are made, never in a run.
// Ownership: const data. Threads: any.
#include "dispatch/registry.h"

#include <string.h>

void tn_registry_visit(const tn_op *op, bool (*visit)(const tn_kernel *row, void *context), void *context)
{
    if (op && op->row) {
        (void)visit(op->row, context);
        return;
    }
    for (const tn_kernel_list *const *list = tn_registry_kernels; *list; list++) {
        for (size_t i = 0; i < (*list)->count; i++) {
            const tn_kernel *row = &(*list)->rows[i];
            if ((!op || row->op == op) && !visit(row, context)) {
                return;
            }
        }
    }
}

const tn_op *tn_registry_op(const char *name)
{
    for (const tn_op_list *const *list = tn_registry_ops; *list; list++) {
        for (size_t i = 0; i < (*list)->count; i++) {
            if (strcmp((*list)->ops[i]->name, name) == 0) {
                return (*list)->ops[i];
            }
        }
    }
    return NULL;
}

typedef struct reference_search {
    const tn_query *query;
    const tn_kernel *found;
} reference_search;

static bool visit_reference(const tn_kernel *row, void *context)
{
    reference_search *search = context;
    const char *why;
    if (row->impl == TN_IMPL_REFERENCE && tn_kernel_accepts(row, search->query, 0, &why)) {
        search->found = row;
    }
    return !search->found;
}

const tn_kernel *tn_registry_reference(const tn_query *query)
{
    reference_search search = {.query = query};
    tn_registry_visit(query->op, visit_reference, &search);
    return search.found;
}
