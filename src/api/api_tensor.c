// SPDX-License-Identifier: Apache-2.0
// Inputs and results of a session: by copy, by reference, borrowed.
#include "api/api.h"

#include <stdio.h>
#include <string.h>

// ---- inputs ----

static tn_status find_input(tenon_session *session, const char *name, size_t *out, tn_diag *diag)
{
    const tn_graph *graph = session->model->import.graph;
    if (!name) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "input", "the name must not be NULL");
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        if (strcmp(graph->inputs[i]->name, name) == 0) {
            *out = i;
            return TN_OK;
        }
    }
    char list[512] = "";
    size_t at = 0;
    for (size_t i = 0; i < graph->n_inputs && at + 2 < sizeof list; i++) {
        const int n = snprintf(list + at, sizeof list - at, "%s'%s'", i ? ", " : "", graph->inputs[i]->name);
        at = n < 0 || (size_t)n >= sizeof list - at ? sizeof list : at + (size_t)n;
    }
    return tn_fail(diag, TN_NOT_FOUND, name, "the model has no input of this name; it has %s", list);
}

// A model that takes a scalar also takes one element of any rank, as other engines do.
static tn_status check_input(const tn_value *value, tn_tensor *given, size_t bytes, tn_diag *diag)
{
    size_t needed;
    char a[160], b[160];
    int64_t count;
    if (value->shape.rank == 0 && tn_shape_count(&given->shape, &count) && count == 1) {
        given->shape = value->shape;
    }
    if (value->dtype != given->dtype) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the input is %s, but the model takes %s", tn_dtype_text(given->dtype),
                       tn_dtype_text(value->dtype));
    }
    bool fits = value->shape.rank < 0 || value->shape.rank == given->shape.rank;
    for (int i = 0; fits && i < value->shape.rank; i++) {
        fits = !tn_dim_known(value->shape.dims[i]) || value->shape.dims[i] == given->shape.dims[i];
    }
    if (!fits) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the input has shape %s, but the model takes %s",
                       tn_shape_print(&given->shape, a, sizeof a), tn_shape_print(&value->shape, b, sizeof b));
    }
    if (given->dtype == TN_STRING) {
        return tn_fail(diag, TN_UNSUPPORTED, value->name, "string tensors are not supported");
    }
    if (!tn_tensor_bytes(given, &needed)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the shape %s is too large", tn_shape_print(&given->shape, a, sizeof a));
    }
    if (needed != bytes) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "%zu bytes are given, but shape %s of %s takes %zu", bytes,
                       tn_shape_print(&given->shape, a, sizeof a), tn_dtype_text(given->dtype), needed);
    }
    if (!given->data && needed) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "data must not be NULL");
    }
    return TN_OK;
}

static tn_status copy_in(tenon_session *session, tn_input *input, size_t bytes, tn_diag *diag)
{
    if (input->held_bytes < bytes || !input->held) {
        tn_give(session->heap, input->held);
        input->held_bytes = 0;
        input->set = false;
        input->held = tn_take(session->heap, bytes);
        if (!input->held) {
            return tn_fail_memory(diag, "input", bytes);
        }
        input->held_bytes = bytes;
    }
    if (bytes) {
        memmove(input->held, input->tensor.data, bytes);     // the caller may hand back what it borrowed
    }
    input->tensor.data = input->held;
    return TN_OK;
}

static tenon_status set_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims, const void *data,
                              size_t bytes, bool copy, tenon_error **error)
{
    tn_diag diag;
    size_t index = 0;
    if (!session) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "session", "session must not be NULL");
    }
    tn_diag_clear(&diag);
    tn_status status = find_input(session, name, &index, &diag);
    if (status == TN_OK && (rank < 0 || rank > TN_MAX_RANK || (rank && !dims))) {
        status = tn_fail(&diag, TN_INVALID_ARGUMENT, name, "rank %d is not in 0 .. %d, or dims is NULL", rank, TN_MAX_RANK);
    }
    for (int i = 0; status == TN_OK && i < rank; i++) {
        if (dims[i] < 0) {
            status = tn_fail(&diag, TN_INVALID_ARGUMENT, name, "dim %d is %lld", i, (long long)dims[i]);
        }
    }
    if (status != TN_OK) {
        return tn_api_fail(error, status, &diag);
    }
    tn_input *input = &session->inputs[index];
    tn_tensor given = {.dtype = (tn_dtype)dtype, .shape = tn_shape_of(rank, dims), .data = (void *)(uintptr_t)data};
    const size_t element = TN_MIN(tn_dtype_bytes(given.dtype), (size_t)8);
    status = check_input(session->model->import.graph->inputs[index], &given, bytes, &diag);
    if (status == TN_OK && !copy && element && (uintptr_t)data % element != 0) {
        status = tn_fail(&diag, TN_INVALID_ARGUMENT, name, "data by reference must be aligned to its element (%zu bytes)", element);
    }
    if (status == TN_OK) {
        input->tensor = given;
        input->set = true;
        status = copy ? copy_in(session, input, bytes, &diag) : TN_OK;
        input->set = status == TN_OK;
    }
    return tn_api_fail(error, status, &diag);
}

tenon_status tenon_session_set_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims,
                                     const void *data, size_t bytes, tenon_error **error)
{
    return set_input(session, name, dtype, rank, dims, data, bytes, true, error);
}

tenon_status tenon_session_bind_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims,
                                      const void *data, size_t bytes, tenon_error **error)
{
    return set_input(session, name, dtype, rank, dims, data, bytes, false, error);
}

void tenon_session_clear_inputs(tenon_session *session)
{
    for (size_t i = 0; session && i < session->n_inputs; i++) {
        session->inputs[i].set = false;
    }
}

// ---- results ----

tenon_status tenon_session_bind_output(tenon_session *session, const char *name, void *data, size_t bytes, tenon_error **error)
{
    if (!session || !name) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_bind_output", "session and name must not be NULL");
    }
    if ((uintptr_t)data % 8 != 0) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, name, "the buffer must be aligned to 8 bytes");
    }
    tn_binding **link = &session->bindings;
    while (*link && strcmp((*link)->name, name) != 0) {
        link = &(*link)->next;
    }
    tn_binding *binding = *link;
    session->ran = false;
    if (!data) {
        if (binding) {
            *link = binding->next;
            tn_give(session->heap, binding->name);
            tn_give(session->heap, binding);
        }
        return TENON_OK;
    }
    if (!binding) {
        binding = tn_take_zero(session->heap, 1, sizeof *binding);
        char *copy = binding ? tn_api_copy_text(session->heap, name) : NULL;
        if (!copy) {
            tn_give(session->heap, binding);
            return tn_api_refuse(error, TN_OUT_OF_MEMORY, name, "no memory to remember the buffer");
        }
        binding->name = copy;
        binding->next = session->bindings;
        session->bindings = binding;
    }
    binding->data = data;
    binding->bytes = bytes;
    return TENON_OK;
}

size_t tenon_session_output_count(const tenon_session *session) { return session && session->ran ? session->wanted->count : 0; }

tenon_status tenon_session_output(const tenon_session *session, size_t index, tenon_tensor *tensor, tenon_error **error)
{
    if (!session || !tensor) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_output", "session and tensor must not be NULL");
    }
    memset(tensor, 0, sizeof *tensor);
    if (!session->ran) {
        return tn_api_refuse(error, TN_STATE, "session", "there is no result: the session has not run, or its last run failed");
    }
    if (index >= session->wanted->count) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "index", "result %zu of %zu", index, session->wanted->count);
    }
    const tn_tensor *result = &session->wanted->results[index].tensor;
    *tensor = (tenon_tensor){.dtype = (tenon_dtype)result->dtype, .rank = result->shape.rank, .data = result->data};
    memcpy(tensor->dims, result->shape.dims, sizeof tensor->dims);
    (void)tn_tensor_bytes(result, &tensor->bytes);
    return TENON_OK;
}
