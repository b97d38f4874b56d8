// SPDX-License-Identifier: Apache-2.0
// Objects of a run: see objects.h. Every one of them is taken here, so that the limit holds for all.
// Ownership: the run's arena. Threads: one kernel at a time.
#include "ops/objects.h"

#include "base/num.h"

#include <string.h>

tn_status tn_object_take(const tn_call *call, size_t bytes, void **out)
{
    size_t total;
    if (!tn_add_size(call->objects->used, bytes, &total) || (call->objects_limit && total > call->objects_limit)) {
        return tn_fail(call->diag, TN_LIMIT, call->name, "%s: strings and sequences of the run take more than %llu bytes", call->op->name,
                       (unsigned long long)call->objects_limit);
    }
    *out = tn_arena_take(call->objects, bytes ? bytes : 1);
    return *out ? TN_OK : tn_fail_memory(call->diag, call->name, bytes);
}

tn_status tn_object_text(const tn_call *call, const char *text, size_t length, const char **out)
{
    void *room;
    TN_TRY(tn_object_take(call, length + 1, &room));
    if (length) {
        memcpy(room, text, length);
    }
    *out = room;
    return TN_OK;
}

tn_status tn_object_copy(const tn_call *call, const tn_tensor *from, tn_tensor *to)
{
    size_t bytes;
    if (!tn_tensor_bytes(from, &bytes)) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: an item without a size", call->op->name);
    }
    *to = *from;
    TN_TRY(tn_object_take(call, bytes, &to->data));
    if (bytes) {
        memcpy(to->data, from->data, bytes);
    }
    return TN_OK;
}

tn_status tn_object_give(const tn_call *call, int index, const tn_tensor *from)
{
    tn_tensor *out = call->out[index];
    size_t bytes;
    if (!out) {
        return TN_OK;
    }
    out->dtype = out->dtype == TN_NONE ? from->dtype : out->dtype;
    if (from->kind != out->kind || from->dtype != out->dtype) {
        return tn_fail(call->diag, TN_INTERNAL, call->name, "%s: result %d is not what was said to be", call->op->name, index);
    }
    if (from->kind != TN_KIND_TENSOR) {
        out->data = from->data;
        return TN_OK;
    }
    TN_TRY(call->resize(call, index, &from->shape));
    if (tn_tensor_bytes(from, &bytes) && bytes) {
        memcpy(out->data, from->data, bytes);
    }
    return TN_OK;
}
