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

// ---- cost ----

uint64_t tn_query_macs(const tn_query *query)
{
    tn_fact in[TN_MAX_IN], out[TN_MAX_OUT];
    const tn_fact *pointers[TN_MAX_IN];
    int64_t macs = 0;
    for (int i = 0; i < query->n_in; i++) {
        pointers[i] = NULL;
        if (query->in[i]) {
            in[i] = (tn_fact){.dtype = query->in[i]->dtype, .shape = query->in[i]->shape};
            pointers[i] = &in[i];
        }
    }
    for (int i = 0; i < query->n_out; i++) {
        out[i] = query->out[i] ? (tn_fact){.dtype = query->out[i]->dtype, .shape = query->out[i]->shape} : (tn_fact){.shape = tn_shape_unknown()};
    }
    if (query->op->macs) {
        macs = query->op->macs(query->attr, pointers, query->n_in, out, query->n_out);
    } else if (query->n_out > 0 && query->out[0] && !tn_shape_count(&query->out[0]->shape, &macs)) {
        macs = 0;
    }
    return macs > 0 ? (uint64_t)macs : 0;
}

double tn_kernel_cost(const tn_kernel *row, const tn_query *query, uint64_t macs)
{
    double bytes = 0, elements = 0;
    size_t size;
    if (row->cost) {
        return row->cost(query);
    }
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        if (tensor && tn_tensor_bytes(tensor, &size)) {
            bytes += (double)size;
            elements += (double)tn_tensor_count(tensor);
        }
    }
    if (row->impl == TN_IMPL_REFERENCE) {
        return 100.0 + 1.5 * (double)macs + 3.0 * elements;
    }
    return 100.0 + bytes / 8.0 + (double)macs / 16.0;
}
