// SPDX-License-Identifier: Apache-2.0
// Planning ahead of a run: for the inputs that are set, for shapes alone, or at create where the model fixes all shapes.
// Ownership: none. Threads: one, that of the session.
#include "api/api.h"

#include "base/map.h"
#include "base/num.h"

#include <string.h>

#define LIMIT_WORK ((uint64_t)1 << 33)
// A run of loops may take this many times the default limit of one plan.
#define LOOPS_WORK 128
#define LIMIT_PEAK ((uint64_t)768 << 20)
// What the defaults grow to at most by the inputs: whoever sends a larger one states the limits too.
#define INPUT_PEAK ((uint64_t)8 << 30)
#define INPUT_WORK ((uint64_t)1 << 42)

// The default limits grow with the model file and, up to a bound, with the bytes of the inputs.
static void set_limits(tenon_session *session)
{
    const uint64_t file = session->model->file_bytes + (session->model->import.facts ? session->model->import.external_bytes : 0);
    uint64_t bytes = 0;
    for (size_t i = 0; i < session->n_inputs; i++) {
        size_t size = 0;
        bytes += tn_tensor_bytes(&session->feeds[i], &size) ? size : 0;
    }
    const uint64_t peak = TN_MAX(file << 5, TN_MIN(bytes, INPUT_PEAK >> 8) << 8), work = TN_MAX(file << 14, TN_MIN(bytes, INPUT_WORK >> 15) << 15);
    session->context.limit_work = session->limit_work ? session->limit_work : TN_MAX(LIMIT_WORK, work);
    session->context.limit_run = session->limit_work ? session->limit_work : session->context.limit_work * LOOPS_WORK;
    session->context.limit_peak = session->limit_peak ? session->limit_peak : TN_MAX(LIMIT_PEAK, peak);
}

// What stands for an input that is not set: its type and shape, free dims as 1.
static tn_tensor unset(const tn_value *value)
{
    tn_tensor tensor = {.dtype = value->dtype, .shape = value->shape};
    tensor.shape.rank = value->shape.rank < 0 ? 0 : value->shape.rank;
    for (int d = 0; d < tensor.shape.rank; d++) {
        tensor.shape.dims[d] = tn_dim_known(value->shape.dims[d]) ? value->shape.dims[d] : 1;
    }
    return tensor;
}

tn_status tn_api_gather(tenon_session *session, tn_diag *diag)
{
    const tn_graph *graph = tn_program_graph(session->wanted->program);
    for (size_t i = 0; i < session->n_inputs; i++) {
        const tn_value *value = graph->inputs[i];
        if (!session->inputs[i].set && (value->n_uses || value->is_output)) {
            return tn_fail(diag, TN_STATE, value->name, "this input is not set");
        }
        session->feeds[i] = session->inputs[i].set ? session->inputs[i].tensor : unset(value);
    }
    set_limits(session);
    return TN_OK;
}

tn_status tn_api_prepare_fixed(tenon_session *session, tn_diag *diag)
{
    bool fixed = true;
    TN_TRY(tn_api_find_wanted(session, NULL, 0, diag));
    const tn_program *program = session->wanted->program;
    for (size_t i = 0; i < session->n_inputs; i++) {
        const tn_value *value = tn_api_graph(session)->inputs[i];
        fixed = fixed && tn_shape_known(&value->shape) && !tn_program_by_value(program, i);
        session->feeds[i] = unset(value);
    }
    set_limits(session);
    return fixed ? tn_program_prepare(session->wanted->program, session->feeds, diag) : TN_OK;
}

tenon_status tenon_session_prepare(tenon_session *session, const char *const *names, size_t count, tenon_error **error)
{
    tn_diag diag;
    tn_status status = tn_api_begin(session, &diag);
    if (status != TN_OK) {
        return tn_api_fail(error, status, &diag);
    }
    status = tn_api_enter(session, names, count, &diag);
    if (status == TN_OK) {
        status = tn_program_prepare(session->wanted->program, session->feeds, &diag);
        if (status == TN_DEVICE && tn_api_lose_devices(session, &diag)) {
            status = tn_program_prepare(session->wanted->program, session->feeds, &diag);
        }
    }
    status = tn_api_blame(session, status);
    tn_api_end(session);
    return tn_api_fail(error, status, &diag);
}

// ---- shapes without data ----

static tn_status take_shape(tenon_session *session, size_t index, const tenon_input_shape *given, tn_diag *diag)
{
    const tn_value *value = tn_program_graph(session->wanted->program)->inputs[index];
    tn_tensor *feed = &session->feeds[index];
    size_t bytes;
    const tn_graph *graph = session->model->import.graph;
    bool readable = given->rank >= 0 && given->rank <= TN_MAX_RANK;
    for (int d = 0; readable && d < given->rank; d++) {
        readable = given->dims[d] >= 0;
    }
    if (!readable) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the rank %d is not in 0 .. %d, or a dim is negative", given->rank, TN_MAX_RANK);
    }
    *feed = (tn_tensor){.dtype = value->dtype, .shape = tn_shape_of(given->rank, given->dims), .data = (void *)(uintptr_t)given->values};
    TN_TRY(tn_api_fit_shape(graph, graph->inputs[index], &feed->shape, diag));
    if (!tn_tensor_bytes(feed, &bytes) || bytes > session->model->limit_tensor) {
        return tn_fail(diag, TN_LIMIT, value->name, "a tensor of this shape is larger than limit_tensor_bytes (%llu)",
                       (unsigned long long)session->model->limit_tensor);
    }
    return TN_OK;
}

// Feeds without data: shapes from the list (by name), else from inputs that are set, else as the model fixes them.
static tn_status gather_inputs(tenon_session *session, const tn_map *by_name, tn_diag *diag)
{
    const tn_program *program = session->wanted->program;
    const tn_graph *graph = tn_program_graph(program);
    for (size_t i = 0; i < session->n_inputs; i++) {
        const tn_value *value = graph->inputs[i];
        const tenon_input_shape *given = tn_map_find(by_name, value->name, strlen(value->name));
        session->feeds[i] = session->inputs[i].set ? session->inputs[i].tensor : unset(value);
        if (given) {
            TN_TRY(take_shape(session, i, given, diag));
        } else if (!session->inputs[i].set && !tn_shape_known(&value->shape) && (value->n_uses || value->is_output)) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the model leaves the shape of this input open: give one");
        }
        if (tn_program_by_value(program, i) && value->kind == TN_KIND_TENSOR && !session->feeds[i].data && tn_tensor_count(&session->feeds[i])) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the contents of this input decide shapes: give its values");
        }
    }
    return TN_OK;
}

// A model may have thousands of inputs: names are looked up, not compared one by one.
static tn_status gather_shapes(tenon_session *session, const tenon_input_shape *shapes, size_t count, tn_diag *diag)
{
    const tn_graph *graph = tn_program_graph(session->wanted->program);
    tn_arena arena;
    tn_map given, known;
    bool room = true;
    tn_status status = TN_OK;
    tn_arena_init(&arena, session->heap);
    tn_map_init(&given, &arena);
    tn_map_init(&known, &arena);
    for (size_t i = 0; i < session->n_inputs && count && room; i++) {
        room = tn_map_set(&known, graph->inputs[i]->name, strlen(graph->inputs[i]->name), graph->inputs[i]);
    }
    for (size_t k = 0; k < count && room && status == TN_OK; k++) {
        const char *name = shapes[k].name;
        const size_t length = strlen(name);
        if (!tn_map_find(&known, name, length)) {
            status = tn_fail(diag, TN_NOT_FOUND, name, "the model has no input of this name");
        } else if (tn_map_find(&given, name, length)) {
            status = tn_fail(diag, TN_INVALID_ARGUMENT, name, "two shapes are given for this input");
        } else {
            room = tn_map_set(&given, name, length, (void *)(uintptr_t)&shapes[k]);
        }
    }
    status = room ? status : tn_fail_memory(diag, "shapes", count * sizeof *shapes);
    status = status == TN_OK ? gather_inputs(session, &given, diag) : status;
    tn_arena_deinit(&arena);
    return status;
}

tenon_status tenon_session_prepare_shapes(tenon_session *session, const tenon_input_shape *shapes, size_t count, const char *const *names,
                                          size_t n_names, tenon_error **error)
{
    tn_diag diag;
    if (!session || (count && !shapes)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_prepare_shapes", "session and shapes must not be NULL");
    }
    for (size_t i = 0; i < count; i++) {
        if (!shapes[i].name) {
            return tn_api_refuse(error, TN_INVALID_ARGUMENT, "shapes", "the name of shape %zu is NULL", i);
        }
    }
    tn_status status = tn_api_begin(session, &diag);
    if (status != TN_OK) {
        return tn_api_fail(error, status, &diag);
    }
    status = tn_api_check_names(names, n_names, &diag);
    if (status == TN_OK) {
        status = tn_api_find_wanted(session, names, n_names, &diag);
    }
    if (status == TN_OK) {
        session->ran = false;
        status = gather_shapes(session, shapes, count, &diag);
    }
    if (status == TN_OK) {
        set_limits(session);
        status = tn_program_prepare(session->wanted->program, session->feeds, &diag);
    }
    status = tn_api_blame(session, status);
    tn_api_end(session);
    return tn_api_fail(error, status, &diag);
}
