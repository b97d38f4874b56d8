// SPDX-License-Identifier: Apache-2.0
// Inputs that have an initialiser: constants unless the caller gives another value. A given value becomes a constant of a graph of the
// session's own, which is optimised again; so weights can be replaced at the full speed of weights, and a value that decides shapes decides
// them when it is planned. Taking a value back and giving the same one again costs nothing.
// Ownership: the session owns values and graphs. Threads: one, that of the session.
#include "api/api.h"

#include "base/num.h"

#include <string.h>

static tn_value *find_constant(const tn_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        tn_value *value = graph->values[i];
        if (value && value->constant && strcmp(value->name, name) == 0) {
            return value;
        }
    }
    return NULL;
}

static void drop_graphs(tenon_session *session)
{
    tn_api_forget_wanted(session);       // plans read the constants
    tn_graph_destroy(session->own_optimised);
    tn_graph_destroy(session->own_import);
    session->own_optimised = session->own_import = NULL;
    for (tn_override *o = session->overrides; o; o = o->next) {
        o->active = false;
    }
}

void tn_api_override_destroy(tenon_session *session)
{
    drop_graphs(session);
    while (session->overrides) {
        tn_override *o = session->overrides;
        session->overrides = o->next;
        tn_give(session->heap, o->tensor.data);
        tn_give(session->heap, o);
    }
}

void tn_api_override_clear(tenon_session *session)
{
    for (tn_override *o = session->overrides; o; o = o->next) {
        o->set = false;
    }
}

static tn_status check(const tn_value *value, const tn_tensor *given, size_t bytes, tn_diag *diag)
{
    char a[160], b[160];
    size_t needed;
    if (value->dtype != given->dtype || given->dtype == TN_STRING) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the value is %s, but the initialiser that it replaces is %s",
                       tn_dtype_text(given->dtype), tn_dtype_text(value->dtype));
    }
    if (!tn_shape_equal(&value->constant->shape, &given->shape)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "the value has shape %s, but the initialiser that it replaces has %s",
                       tn_shape_print(&given->shape, a, sizeof a), tn_shape_print(&value->constant->shape, b, sizeof b));
    }
    if (!tn_tensor_bytes(given, &needed) || needed != bytes || (needed && !given->data)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, value->name, "%zu bytes are given, but the shape takes %zu, and data must not be NULL", bytes, needed);
    }
    return TN_OK;
}

tn_status tn_api_override(tenon_session *session, const char *name, const tn_tensor *given, size_t bytes, tn_diag *diag)
{
    const tn_value *value = find_constant(session->model->import.graph, name);
    tn_override *o = session->overrides;
    if (!value) {
        return tn_fail(diag, TN_NOT_FOUND, name, "the model has no input of this name");
    }
    if (session->quantised) {
        return tn_fail(diag, TN_UNSUPPORTED, name, "initialisers cannot be replaced in a session of precision int8: their values are in the scales");
    }
    TN_TRY(check(value, given, bytes, diag));
    while (o && strcmp(o->name, name) != 0) {
        o = o->next;
    }
    if (o && (!bytes || memcmp(o->tensor.data, given->data, bytes) == 0)) {
        o->set = true;
        return TN_OK;
    }
    void *data = tn_take(session->heap, bytes);
    tn_override *fresh = o ? o : tn_take_zero(session->heap, 1, sizeof *fresh);
    if (!data || !fresh) {
        tn_give(session->heap, data);
        if (!o) {
            tn_give(session->heap, fresh);
        }
        return tn_fail_memory(diag, name, bytes);
    }
    if (bytes) {
        memcpy(data, given->data, bytes);
    }
    if (o) {
        drop_graphs(session);
        session->ran = false;
        tn_give(session->heap, o->tensor.data);
    } else {
        fresh->name = value->name;
        fresh->next = session->overrides;
        session->overrides = fresh;
    }
    fresh->tensor = *given;
    fresh->tensor.data = data;
    fresh->set = true;
    return TN_OK;
}

static tn_status build(tenon_session *session, tn_diag *diag)
{
    tenon_model *model = session->model;
    session->own_import = tn_graph_clone(model->import.graph, session->heap, NULL);
    for (tn_override *o = session->overrides; o && session->own_import; o = o->next) {
        tn_value *value = o->set ? find_constant(session->own_import, o->name) : NULL;
        tn_tensor *constant = value ? tn_arena_copy(&session->own_import->arena, &o->tensor, sizeof o->tensor) : NULL;
        if (value && !constant) {
            return tn_fail_memory(diag, o->name, sizeof *constant);
        }
        if (value) {
            value->constant = constant;
            value->weight = 0;           // its bytes live no longer than this session: packed forms are not shared
        }
    }
    session->own_optimised = session->own_import ? tn_graph_clone(session->own_import, session->heap, NULL) : NULL;
    if (!session->own_optimised) {
        return tn_fail_memory(diag, "inputs", sizeof(tn_graph));
    }
    tn_pass_context context = {.heap = session->heap, .diag = diag, .limit_tensor_bytes = model->limit_tensor,
                               .floats = !session->integers};
    return model->no_optimise ? tn_infer_graph(session->own_optimised, session->heap, diag) : tn_optimise(session->own_optimised, &context, NULL);
}

tn_status tn_api_override_apply(tenon_session *session, tn_diag *diag)
{
    bool same = true, any = false;
    for (const tn_override *o = session->overrides; o; o = o->next) {
        same = same && o->set == o->active;
        any = any || o->set;
    }
    if (same) {
        return TN_OK;
    }
    drop_graphs(session);
    const tn_status status = any ? build(session, diag) : TN_OK;
    if (status != TN_OK) {
        drop_graphs(session);
        return status;
    }
    for (tn_override *o = session->overrides; o; o = o->next) {
        o->active = o->set;
    }
    return TN_OK;
}
