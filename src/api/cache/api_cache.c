// SPDX-License-Identifier: Apache-2.0
// What devices keep on disk: searching parameters of their kernels, listing and pruning a cache folder.
// Ownership: none. Threads: as tenon.h says.
#include "api/api.h"
#include "tune/tune_cpu.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

// ---- tuning ----

// Embedded tables do not change: the first session reads them. What the cache folder has may, and each session reads it.
tn_status tn_api_find_choices(tenon_session *session, tn_diag *diag)
{
    tenon_model *model = session->model;
    const tn_cpu *cpu = &session->context.cpu;
    if (session->cache) {
        session->context.choices = &session->choices;
        TN_TRY(tn_choices_load(&session->choices, cpu, session->cache, diag));
        if (session->choices.stale) {
            tn_diag note = {0};
            (void)tn_fail(&note, TN_OK, "cache", "%zu measured choices in '%s' are of other kernels than this build has and are not used; "
                          "tenon_session_tune ('tenon tune') measures anew", session->choices.stale, session->cache);
            tn_api_warn(session, &note);
        }
        return TN_OK;
    }
    pthread_mutex_lock(&model->lock);
    tn_status status = TN_OK;
    tn_tables *tables = model->tables;
    while (tables && tables->features != cpu->features) {
        tables = tables->next;
    }
    if (!tables) {
        tables = tn_take_zero(&model->heap, 1, sizeof *tables);
        if (!tables) {
            status = tn_fail_memory(diag, "session", sizeof *tables);
            goto done;
        }
        tables->features = cpu->features;
        tn_choices_init(&tables->choices, &model->heap);
        status = tn_choices_load(&tables->choices, cpu, NULL, diag);
        if (status != TN_OK) {
            tn_choices_deinit(&tables->choices);
            tn_give(&model->heap, tables);
            goto done;
        }
        tables->next = model->tables;
        model->tables = tables;
    }
    session->context.choices = &tables->choices;
done:
    pthread_mutex_unlock(&model->lock);
    return status;
}

typedef struct tuning {
    tenon_session *session;
    const tenon_tune_options *options;
    tn_tune_request request;
    tn_status status;
    unsigned flows;
} tuning;

static bool forward(void *context, size_t done, size_t count, const char *layer, double before_ns, double after_ns)
{
    const tenon_tune_options *options = ((tuning *)context)->options;
    return options->progress(options->context, done, count, layer, before_ns, after_ns) != 0;
}

static void tune_plan(const tn_plan *plan, void *context)
{
    tuning *t = context;
    for (size_t i = 0; plan->flows && i < plan->n_steps && t->status == TN_OK; i++) {
        tn_flow *flow = plan->flows[i];
        if (flow && flow->device->vtable->tune) {
            t->flows++;
            t->status = flow->device->vtable->tune(flow, &t->request);
        }
    }
}

static void collect(const tn_plan *plan, void *context) { tn_tune_cpu_add(context, plan); }

// The CPU's part of the plan.
static tn_status tune_cpu(tenon_session *session, tuning *t, bool *any)
{
    tn_plan_context *c = &session->context;
    tn_diag *diag = t->request.diag;
    tn_tune_cpu *cpu = tn_take_zero(session->heap, 1, sizeof *cpu);
    if (!cpu) {
        return tn_fail_memory(diag, "tune", sizeof *cpu);
    }
    cpu->heap = session->heap;
    cpu->cpu = &c->cpu;
    cpu->threads = c->threads;
    cpu->workers = session->workers;
    cpu->choices = &session->choices;
    tn_program_visit(session->wanted->program, collect, cpu);
    *any = cpu->count > 0;
    tn_status status = *any ? tn_tune_cpu_run(cpu, &t->request) : TN_OK;
    tn_give(session->heap, cpu);
    if (*any && status == TN_OK) {
        status = tn_choices_save(&session->choices, &c->cpu, session->cache, diag);
    }
    // Plans that were made before know nothing of what was found.
    for (tn_wanted *wanted = *any ? session->wanted : NULL; wanted; wanted = wanted->next) {
        tn_program_forget(wanted->program);
    }
    return status == TN_OK ? tn_api_prepare_fixed(session, diag) : status;
}

tenon_status tenon_session_tune(tenon_session *session, const tenon_tune_options *given, tenon_error **error)
{
    tn_diag diag = {0};
    tenon_tune_options options;
    tenon_tune_options_init(&options);
    if (!session) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_tune", "session must not be NULL");
    }
    if (given && !tn_api_options(&options, sizeof options, given)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "struct_size", "fill the options with tenon_tune_options_init first");
    }
    if (!(options.seconds >= 0 && options.seconds <= 86400)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "seconds", "%g is not 0 to 86400", options.seconds);
    }
    const tn_status idle = tn_api_idle(session, &diag);
    if (idle != TN_OK) {
        return tn_api_fail(error, idle, &diag);
    }
    if (!session->cache) {
        return tn_api_refuse(error, TN_STATE, "cache", "the session has no cache folder where the table could be kept");
    }
    const tn_program *program = session->wanted ? session->wanted->program : NULL;
    if (!program || !tn_program_plan(program)) {
        return tn_api_refuse(error, TN_STATE, "tune", "there is no plan yet: run or prepare the session first");
    }
    tuning t = {.session = session, .options = &options, .status = TN_OK,
                .request = {.seconds = options.seconds, .precision = session->context.precision, .store = session->store, .cache = session->cache,
                            .seed = options.seed, .progress = options.progress ? forward : NULL, .diag = &diag}};
    t.request.context = &t;
    tn_program_visit(program, tune_plan, &t);
    bool any = t.flows > 0;
    if (t.status == TN_OK && !any) {
        t.status = tune_cpu(session, &t, &any);
    }
    if (t.status == TN_OK && !any) {
        return tn_api_refuse(error, TN_UNSUPPORTED, "tune", "no node of the plan leaves a choice");
    }
    return tn_api_fail(error, t.status, &diag);
}

// ---- the folder ----

typedef struct listing {
    tn_text text;
    uint64_t files, bytes, broken;
} listing;

static void list_file(const tn_cache_file *file, void *context)
{
    listing *l = context;
    tn_json_open(&l->text, '{');
    tn_json_key_string(&l->text, "name", file->name);
    tn_json_key_string(&l->text, "kind", file->kind);
    tn_json_key(&l->text, "bytes");
    tn_json_int(&l->text, (int64_t)file->bytes);
    tn_json_key_bool(&l->text, "whole", file->whole);
    tn_json_close(&l->text, '}');
    l->files++;
    l->bytes += file->bytes;
    l->broken += !file->whole;
}

char *tenon_cache_json(const char *folder)
{
    tn_heap heap;
    listing l = {.files = 0};
    bool readable = false;
    if (!folder) {
        return NULL;
    }
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_text_init(&l.text, &heap);
    tn_json_open(&l.text, '{');
    tn_json_key(&l.text, "files");
    tn_json_open(&l.text, '[');
    for (const tn_device_vtable *const *vtable = tn_registry_devices; *vtable; vtable++) {
        readable = ((*vtable)->cache_list && (*vtable)->cache_list(folder, list_file, &l)) || readable;
    }
    tn_json_close(&l.text, ']');
    tn_json_key(&l.text, "readable");
    tn_json_bool(&l.text, readable);
    tn_json_key_int(&l.text, "count", l.files);
    tn_json_key_int(&l.text, "bytes", l.bytes);
    tn_json_key_int(&l.text, "broken", l.broken);
    tn_json_close(&l.text, '}');
    char *copy = l.text.failed || !l.text.data ? NULL : strdup(l.text.data);
    tn_text_deinit(&l.text);
    return copy;
}

int64_t tenon_cache_prune(const char *folder, uint64_t keep_bytes)
{
    int64_t removed = 0;
    for (const tn_device_vtable *const *vtable = tn_registry_devices; folder && *vtable; vtable++) {
        const int more = (*vtable)->cache_prune ? (*vtable)->cache_prune(folder, keep_bytes) : 0;
        removed = more < 0 || removed < 0 ? -1 : removed + more;
    }
    return folder ? removed : -1;
}
