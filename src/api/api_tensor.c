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

// The same in a session that may be changed.
static tn_status idle_input(tenon_session *session, const char *name, size_t *out, tn_diag *diag)
{
    TN_TRY(tn_api_idle(session, diag));
    return find_input(session, name, out, diag);
}

static bool is_default(const tenon_model *model, const char *name)
{
    bool found = false;
    for (size_t i = 0; i < model->import.n_defaults && !found; i++) {
        found = strcmp(model->import.defaults[i], name) == 0;
    }
    return found;
}

tn_status tn_api_fit_shape(const tn_graph *graph, const tn_value *value, tn_shape *shape, tn_diag *diag)
{
    const tn_shape *declared = &value->shape;
    char given[160], taken[160];
    int64_t count;
    if (declared->rank == 0 && tn_shape_count(shape, &count) && count == 1) {
        *shape = *declared;
    }
    bool fits = declared->rank < 0 || declared->rank == shape->rank;
    for (int i = 0; fits && i < declared->rank; i++) {
        fits = !tn_dim_known(declared->dims[i]) || declared->dims[i] == shape->dims[i];
    }
    return fits ? TN_OK
                : tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the shape %s does not fit the model's %s",
                          tn_shape_print(shape, given, sizeof given), tn_graph_shape_print(graph, declared, taken, sizeof taken));
}

static tn_status check_input(const tn_graph *graph, const tn_value *value, tn_tensor *given, size_t bytes, tn_diag *diag)
{
    size_t needed;
    char a[160];
    if (value->dtype != given->dtype) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the input is %s, but the model takes %s", tn_dtype_text(given->dtype),
                       tn_dtype_text(value->dtype));
    }
    TN_TRY(tn_api_fit_shape(graph, value, &given->shape, diag));
    const tn_kind held = value->kind == TN_KIND_OPTIONAL ? value->inner : value->kind;
    if (held != TN_KIND_TENSOR) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the model takes a sequence here");
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

static tn_status no_room(const char *name, size_t bytes, tn_diag *diag) { return tn_fail_memory(diag, name, bytes); }

// The cells of a string tensor and the texts they point to, in the arena.
static tn_status copy_strings(tn_arena *arena, tn_tensor *tensor, const char *name, tn_diag *diag)
{
    const size_t count = (size_t)tn_tensor_count(tensor);
    const char *const *from = tensor->data;
    const char **cells = tn_arena_array(arena, count + 1, sizeof *cells);
    if (!cells) {
        return no_room(name, count * sizeof *cells, diag);
    }
    for (size_t i = 0; i < count; i++) {
        if (!from[i]) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, name, "string %zu is NULL", i);
        }
        cells[i] = tn_arena_text(arena, from[i], strlen(from[i]));
        if (!cells[i]) {
            return no_room(name, strlen(from[i]), diag);
        }
    }
    tensor->data = cells;
    return TN_OK;
}

// What an optional input holds is boxed.
static tn_status box(tn_input *input, const tn_value *value, tn_diag *diag)
{
    if (value->kind != TN_KIND_OPTIONAL) {
        return TN_OK;
    }
    tn_tensor *boxed = tn_arena_copy(&input->objects, &input->tensor, sizeof input->tensor);
    if (!boxed) {
        return no_room(value->name, sizeof *boxed, diag);
    }
    input->tensor = (tn_tensor){.kind = TN_KIND_OPTIONAL, .dtype = boxed->dtype, .data = boxed};
    return TN_OK;
}

static void reset_objects(tenon_session *session, tn_input *input)
{
    tn_arena_deinit(&input->objects);
    tn_arena_init(&input->objects, session->heap);
}

// 4- and 2-bit elements lie in a byte each; of what the caller gives only the low bits count, signed ones are extended.
static void narrow(const tn_tensor *tensor)
{
    const tn_dtype dtype = tensor->dtype;
    const size_t count = dtype == TN_I4 || dtype == TN_U4 || dtype == TN_I2 || dtype == TN_U2 ? (size_t)tn_tensor_count(tensor) : 0;
    for (size_t i = 0; i < count; i++) {
        tn_dtype_store_i64(dtype, tensor->data, i, tn_dtype_load_i64(dtype, tensor->data, i));
    }
}

// Memory of the session's own for the input: where the device shares memory, both see it.
static tn_status make_held(tenon_session *session, tn_input *input, size_t bytes, tn_diag *diag)
{
    if (input->held_bytes < bytes || !input->held) {
        tn_tensor_memory_give(session->context.memory, session->heap, input->held);
        input->held = NULL;
        input->held_bytes = 0;
        input->set = false;
        input->held = tn_tensor_memory_take(session->context.memory, session->heap, bytes);
        if (!input->held) {
            return tn_fail_memory(diag, "input", bytes);
        }
        input->held_bytes = bytes;
    }
    return TN_OK;
}

static tn_status copy_in(tenon_session *session, tn_input *input, size_t bytes, tn_diag *diag)
{
    TN_TRY(make_held(session, input, bytes, diag));
    if (bytes) {
        memmove(input->held, input->tensor.data, bytes);     // the caller may hand back what it borrowed
    }
    input->tensor.data = input->held;
    narrow(&input->tensor);
    return TN_OK;
}

static tn_status check_dims(const char *name, int rank, const int64_t *dims, tn_diag *diag)
{
    if (rank < 0 || rank > TN_MAX_RANK || (rank && !dims)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, name, "rank %d is not in 0 .. %d, or dims is NULL", rank, TN_MAX_RANK);
    }
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, name, "dim %d is %lld", i, (long long)dims[i]);
        }
    }
    return TN_OK;
}

static tenon_status set_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims, const void *data,
                              size_t bytes, bool copy, tenon_error **error)
{
    tn_diag diag;
    size_t index = 0;
    tn_status status = tn_api_idle(session, &diag);
    const bool overrides = status == TN_OK && name && is_default(session->model, name);
    status = status != TN_OK || overrides ? status : find_input(session, name, &index, &diag);
    status = status == TN_OK ? check_dims(name, rank, dims, &diag) : status;
    if (status != TN_OK) {
        return tn_api_fail(error, status, &diag);
    }
    if (overrides) {
        const tn_tensor value = {.dtype = (tn_dtype)dtype, .shape = tn_shape_of(rank, dims), .data = (void *)(uintptr_t)data};
        return tn_api_fail(error, tn_api_override(session, name, &value, bytes, &diag), &diag);
    }
    tn_input *input = &session->inputs[index];
    tn_tensor given = {.dtype = (tn_dtype)dtype, .shape = tn_shape_of(rank, dims), .data = (void *)(uintptr_t)data};
    const size_t element = TN_MIN(tn_dtype_bytes(given.dtype), (size_t)8);
    status = check_input(session->model->import.graph, session->model->import.graph->inputs[index], &given, bytes, &diag);
    if (status == TN_OK && !copy && element && (uintptr_t)data % element != 0) {
        status = tn_fail(&diag, TN_INVALID_ARGUMENT, name, "data by reference must be aligned to its element (%zu bytes)", element);
    }
    if (status == TN_OK) {
        input->set = false;
        input->tensor = given;
        reset_objects(session, input);
        if (given.dtype == TN_STRING) {
            status = copy_strings(&input->objects, &input->tensor, name, &diag);
        } else if (copy) {
            status = copy_in(session, input, bytes, &diag);
        }
        status = status == TN_OK ? box(input, session->model->import.graph->inputs[index], &diag) : status;
        input->set = status == TN_OK;
    }
    return tn_api_fail(error, status, &diag);
}

static tn_status copy_item(tn_arena *arena, const tenon_tensor *from, const tn_value *value, tn_tensor *to, tn_diag *diag)
{
    size_t bytes;
    if (from->rank < 0 || from->rank > TN_MAX_RANK || (tn_dtype)from->dtype != value->dtype) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "an item is %s of rank %d, but the model takes %s", tn_dtype_text((tn_dtype)from->dtype),
                       from->rank, tn_dtype_text(value->dtype));
    }
    *to = (tn_tensor){.dtype = (tn_dtype)from->dtype, .shape = tn_shape_of(from->rank, from->dims), .data = from->data};
    for (int i = 0; i < from->rank; i++) {
        if (from->dims[i] < 0) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "dim %d of an item is %lld", i, (long long)from->dims[i]);
        }
    }
    if (!tn_tensor_bytes(to, &bytes) || bytes != from->bytes || (bytes && !from->data)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "an item's bytes do not fit its shape");
    }
    if (to->dtype == TN_STRING) {
        return copy_strings(arena, to, value->name, diag);
    }
    to->data = tn_arena_take(arena, bytes + 1);
    if (!to->data) {
        return no_room(value->name, bytes, diag);
    }
    if (bytes) {
        memcpy(to->data, from->data, bytes);
    }
    return TN_OK;
}

static tn_status set_sequence(tenon_session *session, tn_input *input, const tn_value *value, const tenon_tensor *items, size_t count,
                              tn_diag *diag)
{
    const tn_kind held = value->kind == TN_KIND_OPTIONAL ? value->inner : value->kind;
    if (held != TN_KIND_SEQUENCE) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the model takes a tensor here, not a sequence");
    }
    if (count && !items) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "items must not be NULL");
    }
    input->set = false;
    reset_objects(session, input);
    tn_sequence *sequence = tn_arena_take(&input->objects, sizeof *sequence);
    tn_tensor *copies = tn_arena_array(&input->objects, count + 1, sizeof *copies);
    if (!sequence || !copies) {
        return no_room(value->name, count * sizeof *copies, diag);
    }
    for (size_t i = 0; i < count; i++) {
        TN_TRY(copy_item(&input->objects, &items[i], value, &copies[i], diag));
    }
    *sequence = (tn_sequence){.count = (int64_t)count, .items = copies};
    input->tensor = (tn_tensor){.kind = TN_KIND_SEQUENCE, .dtype = value->dtype, .data = sequence};
    TN_TRY(box(input, value, diag));
    input->set = true;
    return TN_OK;
}

tenon_status tenon_session_set_sequence(tenon_session *session, const char *name, const tenon_tensor *items, size_t count, tenon_error **error)
{
    tn_diag diag;
    size_t index = 0;
    tn_status status = idle_input(session, name, &index, &diag);
    if (status == TN_OK) {
        status = set_sequence(session, &session->inputs[index], session->model->import.graph->inputs[index], items, count, &diag);
    }
    return tn_api_fail(error, status, &diag);
}

tenon_status tenon_session_set_none(tenon_session *session, const char *name, tenon_error **error)
{
    tn_diag diag;
    size_t index = 0;
    tn_status status = idle_input(session, name, &index, &diag);
    if (status == TN_OK && session->model->import.graph->inputs[index]->kind != TN_KIND_OPTIONAL) {
        status = tn_fail(&diag, TN_INVALID_ARGUMENT, name, "this input is not optional");
    }
    if (status == TN_OK) {
        tn_input *input = &session->inputs[index];
        input->tensor = (tn_tensor){.kind = TN_KIND_OPTIONAL, .dtype = session->model->import.graph->inputs[index]->dtype};
        input->set = true;
    }
    return tn_api_fail(error, status, &diag);
}

tenon_status tenon_session_set_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims,
                                     const void *data, size_t bytes, tenon_error **error)
{
    return set_input(session, name, dtype, rank, dims, data, bytes, true, error);
}

static tn_status lend_input(tenon_session *session, tn_input *input, const tn_value *value, tn_tensor given, size_t bytes, tn_diag *diag)
{
    given.data = input;        // something that is not NULL, and is not looked at
    TN_TRY(check_input(session->model->import.graph, value, &given, bytes, diag));
    if (value->kind != TN_KIND_TENSOR || given.dtype == TN_STRING) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "only tensors that are neither optional nor strings can be written in place");
    }
    const bool fresh = input->held_bytes < bytes || !input->held;
    input->set = false;
    reset_objects(session, input);
    TN_TRY(make_held(session, input, bytes, diag));
    if (fresh) {
        memset(input->held, 0, bytes);
    }
    given.data = input->held;
    input->tensor = given;
    input->set = true;
    return TN_OK;
}

tenon_status tenon_session_lend_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims, size_t bytes,
                                      void **data, tenon_error **error)
{
    tn_diag diag;
    size_t index = 0;
    if (!data) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_lend_input", "data must not be NULL");
    }
    *data = NULL;
    tn_status status = idle_input(session, name, &index, &diag);
    status = status == TN_OK ? check_dims(name, rank, dims, &diag) : status;
    if (status == TN_OK) {
        tn_input *input = &session->inputs[index];
        const tn_tensor given = {.dtype = (tn_dtype)dtype, .shape = tn_shape_of(rank, dims)};
        status = lend_input(session, input, session->model->import.graph->inputs[index], given, bytes, &diag);
        *data = status == TN_OK ? input->held : NULL;
    }
    return tn_api_fail(error, status, &diag);
}

tenon_status tenon_session_bind_input(tenon_session *session, const char *name, tenon_dtype dtype, int rank, const int64_t *dims,
                                      const void *data, size_t bytes, tenon_error **error)
{
    return set_input(session, name, dtype, rank, dims, data, bytes, false, error);
}

void tenon_session_clear_inputs(tenon_session *session)
{
    tn_diag diag;
    if (tn_api_idle(session, &diag) != TN_OK) {
        return;
    }
    for (size_t i = 0; i < session->n_inputs; i++) {
        session->inputs[i].set = false;
    }
    tn_api_override_clear(session);
}

// ---- results ----

static void unbind(tenon_session *session, tn_binding **link)
{
    tn_binding *binding = *link;
    if (binding) {
        *link = binding->next;
        tn_give(session->heap, binding->name);
        tn_give(session->heap, binding);
    }
}

static tn_status add_binding(tenon_session *session, const char *name, tn_dtype made, tn_binding **out, tn_diag *diag)
{
    tn_binding *binding = tn_take_zero(session->heap, 1, sizeof *binding);
    char *copy = binding ? tn_api_copy_text(session->heap, name) : NULL;
    if (!copy) {
        tn_give(session->heap, binding);
        return tn_fail(diag, TN_OUT_OF_MEMORY, name, "no memory to remember the buffer");
    }
    binding->name = copy;
    binding->made = made;
    binding->next = session->bindings;
    session->bindings = *out = binding;
    return TN_OK;
}

// The type of a tensor of this name, as far as the model says it. Of a name that is bound already the binding knows it.
static tn_status find_result(const tenon_session *session, const char *name, tn_dtype *made, tn_diag *diag)
{
    const tn_graph *graph = session->model->import.graph;
    for (size_t i = 0; i < graph->n_values; i++) {
        if (graph->values[i] && strcmp(graph->values[i]->name, name) == 0) {
            *made = graph->values[i]->dtype;
            return TN_OK;
        }
    }
    return tn_fail(diag, TN_NOT_FOUND, name, "the model computes no tensor of this name");
}

static tn_status bind_output(tenon_session *session, const char *name, tn_dtype dtype, void *data, size_t bytes, tn_diag *diag)
{
    TN_TRY(tn_api_idle(session, diag));
    if ((uintptr_t)data % 8 != 0) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, name, "the buffer must be aligned to 8 bytes");
    }
    tn_binding **link = &session->bindings;
    while (*link && strcmp((*link)->name, name) != 0) {
        link = &(*link)->next;
    }
    tn_dtype made = *link ? (*link)->made : TN_NONE;
    if (!*link) {
        TN_TRY(find_result(session, name, &made, diag));
    }
    if (dtype && made && dtype != made) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, name, "the result is %s, the buffer is for %s", tn_dtype_text(made), tn_dtype_text(dtype));
    }
    session->ran = false;
    if (!data) {
        unbind(session, link);
        return TN_OK;
    }
    tn_binding *binding = *link;
    if (!binding) {
        TN_TRY(add_binding(session, name, made, &binding, diag));
    }
    binding->data = data;
    binding->bytes = bytes;
    binding->dtype = dtype;
    return TN_OK;
}

tenon_status tenon_session_bind_output_as(tenon_session *session, const char *name, tenon_dtype dtype, void *data, size_t bytes, tenon_error **error)
{
    tn_diag diag;      // cleared by who asks first whether the session is idle
    if (!session || !name) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_bind_output", "session and name must not be NULL");
    }
    if (dtype && tenon_dtype_bytes(dtype) == 0) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, name, "%d is no element type", (int)dtype);
    }
    return tn_api_fail(error, bind_output(session, name, (tn_dtype)dtype, data, bytes, &diag), &diag);
}

tenon_status tenon_session_bind_output(tenon_session *session, const char *name, void *data, size_t bytes, tenon_error **error)
{
    return tenon_session_bind_output_as(session, name, TENON_NONE, data, bytes, error);
}

// The bytes [a, a + n) and [b, b + m) have some in common.
static bool overlaps(const void *a, size_t n, const void *b, size_t m)
{
    const uintptr_t from = (uintptr_t)a, other = (uintptr_t)b;
    return n && m && (from < other ? n > other - from : m > from - other);
}

// Results are written while inputs are still read: a buffer that is both would be neither.
static tn_status check_overlap(const tenon_session *session, const tn_binding *binding, tn_diag *diag)
{
    const tn_graph *graph = session->model->import.graph;
    size_t bytes;
    for (size_t i = 0; i < session->n_inputs; i++) {
        const tn_input *input = &session->inputs[i];
        const bool lent = input->set && input->tensor.kind == TN_KIND_TENSOR && input->tensor.data && input->tensor.data != input->held;
        if (lent && tn_tensor_bytes(&input->tensor, &bytes) && overlaps(binding->data, binding->bytes, input->tensor.data, bytes)) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, binding->name, "the buffer of this output overlaps the data of input '%s': give it one of its own, "
                           "or set the input by copy", graph->inputs[i]->name);
        }
    }
    return TN_OK;
}

static const tn_binding *binding_of(const tenon_session *session, const char *name)
{
    const tn_binding *b = session->bindings;
    while (b && strcmp(b->name, name) != 0) {
        b = b->next;
    }
    return b;
}

tn_status tn_api_bind_results(tenon_session *session, tn_diag *diag)
{
    tn_wanted *wanted = session->wanted;
    const tn_graph *graph = tn_program_graph(wanted->program);
    for (size_t i = 0; i < wanted->count; i++) {
        const char *name = wanted->names ? wanted->names[i] : graph->outputs[i]->name;
        const tn_binding *b = session->bindings ? binding_of(session, name) : NULL;
        wanted->results[i].bound = NULL;
        if (!b) {
            continue;
        }
        TN_TRY(check_overlap(session, b, diag));
        for (size_t k = 0; k < i; k++) {
            const tn_result_slot *other = &wanted->results[k];
            const char *before = wanted->names ? wanted->names[k] : graph->outputs[k]->name;
            if (other->bound && overlaps(b->data, b->bytes, other->bound, other->bound_bytes) && strcmp(before, name) != 0) {
                return tn_fail(diag, TN_INVALID_ARGUMENT, name, "the buffer of this output overlaps that of output '%s'", before);
            }
        }
        wanted->results[i].bound = b->data;
        wanted->results[i].bound_bytes = b->bytes;
        wanted->results[i].bound_dtype = b->dtype;
    }
    return TN_OK;
}

// What an optional holds; itself when it holds nothing or is none.
static const tn_tensor *held_by(const tn_tensor *tensor)
{
    return tensor->kind == TN_KIND_OPTIONAL && tensor->data ? tensor->data : tensor;
}

static void lend(const tn_tensor *from, tenon_tensor *to)
{
    *to = (tenon_tensor){.dtype = (tenon_dtype)from->dtype};
    if (from->kind == TN_KIND_OPTIONAL) {
        to->kind = TENON_KIND_NONE;
    } else if (from->kind == TN_KIND_SEQUENCE) {
        to->kind = TENON_KIND_SEQUENCE;
        to->count = from->data ? (size_t)((const tn_sequence *)from->data)->count : 0;
    } else {
        to->rank = from->shape.rank;
        to->data = from->data;
        memcpy(to->dims, from->shape.dims, sizeof to->dims);
        (void)tn_tensor_bytes(from, &to->bytes);
    }
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
    lend(held_by(&session->wanted->results[index].tensor), tensor);
    return TENON_OK;
}

tenon_status tenon_session_output_item(const tenon_session *session, size_t index, size_t item, tenon_tensor *tensor, tenon_error **error)
{
    const tenon_status status = tenon_session_output(session, index, tensor, error);
    if (status != TENON_OK) {
        return status;
    }
    if (tensor->kind != TENON_KIND_SEQUENCE || item >= tensor->count) {
        memset(tensor, 0, sizeof *tensor);
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "item", "result %zu is not a sequence with an item %zu", index, item);
    }
    const tn_tensor *sequence = held_by(&session->wanted->results[index].tensor);
    lend(&((const tn_sequence *)sequence->data)->items[item], tensor);
    return TENON_OK;
}
