// SPDX-License-Identifier: Apache-2.0
// What every row shares: matching its key against a node, and memory for its parameters.
// Ownership: none. Threads: any.
#include "dispatch/registry.h"

const char *tn_impl_text(tn_impl impl)
{
    switch (impl) {
#define X(name, text)      \
    case TN_IMPL_##name:   \
        return text;
        TN_IMPL_LIST(X)
#undef X
    case TN_IMPL_COUNT:
        break;
    }
    return "invalid";
}

// An absent operand matches only a key that does not care.
static bool type_matches(uint8_t key, const tn_tensor *const *list, int count, int index)
{
    return key == TN_NONE || (index < count && list[index] && list[index]->dtype == (tn_dtype)key);
}

bool tn_kernel_accepts(const tn_kernel *row, const tn_query *query, uint32_t features, const char **why)
{
    if (row->op != query->op) {
        *why = "another operator";
        return false;
    }
    if ((row->cpu & features) != row->cpu) {
        *why = "the processor lacks the instructions";
        return false;
    }
    if (!type_matches(row->types.act, query->in, query->n_in, 0)) {
        *why = "operand type";
        return false;
    }
    if (!type_matches(row->types.weight, query->in, query->n_in, 1)) {
        *why = "weight type";
        return false;
    }
    if (!type_matches(row->types.out, query->out, query->n_out, 0)) {
        *why = "result type";
        return false;
    }
    *why = "predicate";
    if (row->match && !row->match(query, why)) {
        return false;
    }
    *why = NULL;
    return true;
}

tn_status tn_prepare_params(tn_prepare *prepare, size_t bytes, void **params)
{
    *params = tn_arena_take(prepare->arena, bytes);
    prepare->params = *params;
    return *params ? TN_OK : tn_fail_memory(prepare->diag, prepare->query->name, bytes);
}
