// SPDX-License-Identifier: Apache-2.0
// Sessions: create, destroy, and running. A run finds the program for the wanted names, checks that every input it needs is set, and
// hands over to exec.
#include "api/api.h"

#include "base/num.h"
#include "dispatch/registry.h"
#include "exec/observe.h"
#include "sys/clock.h"
#include "sys/threads/affinity.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLAN_CACHE 16
#define BACKGROUND_SLICE 1000000      // ns at a stretch on a GPU of low priority, so that a display can run
#define MAX_THREADS 1024
#define LIMIT_LOOP ((uint64_t)1 << 20)

// ---- create and destroy ----

static void destroy_wanted(tenon_session *session, tn_wanted *wanted)
{
    tn_program_destroy(wanted->program);
    tn_graph_destroy(wanted->graph);
    for (size_t i = 0; wanted->names && i < wanted->count; i++) {
        tn_give(session->heap, wanted->names[i]);
    }
    tn_give(session->heap, wanted->names);
    tn_give(session->heap, wanted->results);
    tn_give(session->heap, wanted);
}

void tn_api_forget_wanted(tenon_session *session)
{
    while (session->wanted) {
        tn_wanted *wanted = session->wanted;
        session->wanted = wanted->next;
        destroy_wanted(session, wanted);
    }
}

void tenon_session_destroy(tenon_session *session)
{
    if (!session) {
        return;
    }
    tn_heap *heap = session->heap;
    tenon_model *model = session->model;
    // In a forked child the threads do not exist, and the fork may have caught locks, drivers or a run half way: all is left alone.
    if (session->pid != getpid()) {
        return;
    }
    tn_async_destroy(session);
    tn_api_forget_wanted(session);
    tn_api_override_destroy(session);
    while (session->bindings) {
        tn_binding *binding = session->bindings;
        session->bindings = binding->next;
        tn_give(heap, binding->name);
        tn_give(heap, binding);
    }
    for (size_t i = 0; session->inputs && i < session->n_inputs; i++) {
        tn_tensor_memory_give(session->context.memory, heap, session->inputs[i].held);
    }
    tn_api_close_devices(session);
    tn_workers_destroy(session->workers);
    tn_pool_shared_drop(session->pool);
    tn_arena_pool_drop(session->context.arenas);
    tn_arena_deinit(&session->objects);
    for (size_t i = 0; session->inputs && i < session->n_inputs; i++) {
        tn_arena_deinit(&session->inputs[i].objects);
    }
    tn_block_trim(&session->blocks);
    tn_profile_destroy(session->profile);
    tn_graph_destroy(session->quantised);
    tn_give(heap, session->cores);
    tn_give(heap, session->inputs);
    tn_give(heap, session->feeds);
    tn_give(heap, session->device);
    tn_give(heap, session->pin);
    tn_give(heap, session->cache);
    tn_give(heap, session->store);
    tn_choices_deinit(&session->choices);
    tn_give(heap, session);
    tn_model_release(model);
}

static void forward_log(void *context, int level, const char *text)
{
    const tenon_session *session = context;
    session->model->log(session->model->log_context, (tenon_log_level)level, text);
}

// Own threads inherit the policy's cores from this thread while they are made; a shared pool has its own policy.
static tn_status make_workers(tenon_session *session, const tenon_session_options *options, tn_diag *diag)
{
    tn_affinity_saved saved = {.valid = false};
    session->cores = tn_api_cores(session->heap, session->power.affinity, session->context.threads, &session->n_cores, &session->affinity_note);
    if (options->pool) {
        const tn_pool view = tn_pool_shared_view(options->pool->shared);
        tn_pool_shared_hold(options->pool->shared);
        session->pool = options->pool->shared;
        return tn_workers_create(&session->workers, session->heap, view.run ? session->context.threads : 1, &view, diag);
    }
    if (session->cores) {
        (void)tn_affinity_set(session->cores, session->n_cores, &saved);
    }
    const tn_status status = tn_workers_create(&session->workers, session->heap, session->context.threads, NULL, diag);
    tn_affinity_restore(&saved);
    return status;
}

static tn_status set_cpu(tenon_session *session, const tenon_session_options *options, tn_diag *diag)
{
    int known = 1;
    tn_cpu_detect(&session->context.cpu);
    session->context.cpu.features &= tn_cpu_mask(options->isa, &known);
    session->context.cpu.features = session->features ? *session->features : session->context.cpu.features;
    if (!known) {
#define X(name, bit, text) ", " text
        return tn_fail(diag, TN_INVALID_ARGUMENT, "isa", "'%s' is no instruction set; there are portable" TN_CPU_LIST(X), options->isa);
#undef X
    }
    if (options->threads > MAX_THREADS) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "threads", "%u threads are more than %d", options->threads, MAX_THREADS);
    }
    const unsigned pooled = options->pool ? tn_pool_shared_threads(options->pool->shared) : 0;
    session->context.threads = options->threads ? options->threads : pooled ? pooled : session->context.cpu.cores;
    session->context.threads = pooled ? TN_MIN(pooled, session->context.threads) : session->context.threads;
    const bool pure = options->precision && strcmp(options->precision, "fp16_pure") == 0;
    const bool half = pure || (options->precision && strcmp(options->precision, "fp16") == 0);
    const bool bf16 = options->precision && strcmp(options->precision, "bf16") == 0;
    if (options->precision && !half && !bf16 && strcmp(options->precision, "fp32") != 0 && strcmp(options->precision, "int8") != 0) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "precision", "'%s' is not a precision of this build; there are: fp32, fp16, fp16_pure, bf16, int8", options->precision);
    }
    if (half && (!options->device || strcmp(options->device, "opencl") != 0)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "precision", "%s is a precision of the device opencl only", options->precision);
    }
    if (bf16 && options->device && strcmp(options->device, "cpu") != 0) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "precision", "bf16 is a precision of the device cpu only");
    }
    // Only rows of bf16 have a use for tile registers.
    session->context.cpu.features = bf16 ? tn_cpu_permit(session->context.cpu.features) | TN_CPU_BF16_WEIGHTS : session->context.cpu.features & ~(uint32_t)TN_CPU_AMX;
    session->context.precision = pure ? "fp16_pure" : half ? "fp16" : bf16 ? "bf16" : "fp32";
    return make_workers(session, options, diag);
}

// "op=version[,op=version...]" with operators that exist.
static tn_status check_pin(const char *pin, tn_diag *diag)
{
    while (pin) {
        char name[64];
        unsigned version;
        int used = 0;
        if (sscanf(pin, "%63[a-z0-9_]=%u%n", name, &version, &used) != 2 || !tn_registry_op(name) || (pin[used] && pin[used] != ',')) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, "pin", "'%.100s' is not op=version[,op=version...] with an operator of this build", pin);
        }
        pin = pin[used] ? pin + used + 1 : NULL;
    }
    return TN_OK;
}

static tn_status set_context(tenon_session *session, const tenon_session_options *options, tn_diag *diag)
{
    tn_plan_context *c = &session->context;
    c->heap = session->heap;
    c->precision = "fp32";
    c->weights = &session->model->weights;
    c->strict = options->strict;
    if (options->strict & ~(unsigned)(TENON_STRICT_DEVICE | TENON_STRICT_REFERENCE | TENON_STRICT_PRECISION)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "strict", "%u has bits that mean nothing", (unsigned)options->strict);
    }
    if ((options->pool && options->pool->pid != getpid()) || (options->arenas && options->arenas->pid != getpid())) {
        return tn_fail(diag, TN_STATE, options->pool && options->pool->pid != getpid() ? "pool" : "arenas",
                       "this was made before a fork, in another process; make a new one");
    }
    c->limit_memory = options->memory_limit;
    c->light = options->light != 0;
    c->device_log = options->device_log;
    if (options->device_log < 0 || options->device_log > 2) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "device_log", "%d is none of 0, 1 and 2", options->device_log);
    }
    c->as_written = session->model->no_optimise;
    session->blocks.heap = session->heap;
    c->blocks = &session->blocks;
    if (options->arenas) {
        tn_arena_pool_hold(options->arenas->pool);
        c->arenas = options->arenas->pool;
    }
    tenon_power_init(&session->power);
    if (options->power && !tn_api_options(&session->power, sizeof session->power, options->power)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "power", "fill it with tenon_power_init first");
    }
    TN_TRY(tn_api_power_check(&session->power, diag));
    c->slice_ns = session->power.gpu_priority == 1 ? BACKGROUND_SLICE : 0;
    c->limit_tensor = session->model->limit_tensor;
    c->limit_loop = options->limit_loop_steps ? options->limit_loop_steps : LIMIT_LOOP;
    c->log = session->model->log ? forward_log : NULL;
    c->log_context = session;
    session->limit_work = options->limit_work;
    session->limit_peak = options->limit_peak_bytes;
    session->plan_cache = options->plan_cache ? options->plan_cache : PLAN_CACHE;
    if (options->store && strcmp(options->store, "image") != 0 && strcmp(options->store, "buffer") != 0) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "store", "'%s' is not a way to keep tensors; there are: image, buffer", options->store);
    }
    if (options->cache && !options->cache[0]) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "cache", "an empty path names no folder; NULL is no cache");
    }
    TN_TRY(check_pin(options->pin, diag));
    const struct { const char *given; char **kept; const char **seen; } texts[] = {
        {options->pin, &session->pin, &c->pin}, {options->device, &session->device, &c->device},
        {options->cache, &session->cache, &c->cache}, {options->store, &session->store, &c->store},
    };
    for (size_t i = 0; i < TN_COUNT(texts); i++) {
        *texts[i].kept = texts[i].given ? tn_api_copy_text(session->heap, texts[i].given) : NULL;
        *texts[i].seen = *texts[i].kept;
        if (texts[i].given && !*texts[i].kept) {
            return tn_fail_memory(diag, "session", 64);
        }
    }
    return TN_OK;
}

static tn_status variant_of(const tenon_session *session, const char *const *names, size_t count, const tn_graph **out, tn_diag *diag);

// Under the model's lock.
static tn_variant *listed_variant(const tenon_model *model, bool integers, const char *pinned)
{
    tn_variant *variant = model->variants;
    while (variant && (variant->integers != integers || strcmp(variant->pinned, pinned) != 0)) {
        variant = variant->next;
    }
    return variant;
}

// Variants stay as they are, and as long as the model.
static const tn_variant *find_variant(tenon_model *model, bool integers, const char *pinned)
{
    pthread_mutex_lock(&model->lock);
    const tn_variant *variant = listed_variant(model, integers, pinned);
    pthread_mutex_unlock(&model->lock);
    return variant;
}

// Quantised arithmetic in its integer form: where the caller or a device wants it, and on a CPU alone that multiplies bytes faster, unless
// the caller wants fp32. As samples say, or as the model has it.
static tn_status choose_integers(tenon_session *session, const tenon_session_options *options, tn_diag *diag)
{
    tenon_model *model = session->model;
    const bool int8 = options->precision && strcmp(options->precision, "int8") == 0, open = !options->precision;
    const bool written = tn_api_comes_quantised(model);
    session->integers = int8 || (written && open && session->context.n_devices == 1 && tn_plan_integers_pay(&session->context.cpu));
    const bool fp32 = options->precision && strcmp(options->precision, "fp32") == 0;
    for (size_t i = 0; i < session->context.n_devices && !fp32; i++) {
        session->integers = session->integers || session->devices[i]->vtable->integers;
    }
    if (options->calibration_count && !int8) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "calibration", "sample inputs are for precision int8, not for %s", options->precision ? options->precision : "fp32");
    }
    if (int8 && (options->calibration_count || !written)) {
        return tn_api_quantise(session, options, diag);
    }
    if (!written || session->integers == model->integers) {
        return TN_OK;
    }
    if (find_variant(model, session->integers, "") || !model->import.facts || model->import.facts->has_imported) {
        return variant_of(session, NULL, 0, &session->other_form, diag);
    }
    if (!open) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "precision", "the file has quantised arithmetic in %s only, and no imported graph (drop_imported) to make "
                       "the other form of", model->integers ? "integers" : "floats");
    }
    session->integers = model->integers;     // what there is
    return TN_OK;
}

static tn_status fill(tenon_session *session, const tenon_session_options *options, tn_diag *diag)
{
    session->n_inputs = session->model->import.graph->n_inputs;
    session->inputs = tn_take_zero(session->heap, session->n_inputs + 1, sizeof *session->inputs);
    session->feeds = tn_take_zero(session->heap, session->n_inputs + 1, sizeof *session->feeds);
    if (!session->inputs || !session->feeds) {
        return tn_fail_memory(diag, "session", session->n_inputs * sizeof *session->inputs);
    }
    tn_choices_init(&session->choices, session->heap);
    TN_TRY(set_context(session, options, diag));
    TN_TRY(set_cpu(session, options, diag));
    session->context.workers = session->workers;
    if (!session->features) {
        TN_TRY(tn_api_find_choices(session, diag));
    }
    TN_TRY(tn_api_open_devices(session, options->device, diag));
    tn_api_power_apply(session);
    TN_TRY(choose_integers(session, options, diag));
    const tn_status status = tn_api_prepare_fixed(session, diag);
    return status == TN_DEVICE && tn_api_lose_devices(session, diag) ? tn_api_prepare_fixed(session, diag) : status;
}

tn_status tn_session_make(tenon_session **out, tenon_model *model, const tenon_session_options *options, const uint32_t *features, tn_diag *diag)
{
    tenon_session *session = tn_take_zero(&model->heap, 1, sizeof *session);
    if (!session) {
        return tn_fail_memory(diag, "session", sizeof *session);
    }
    atomic_fetch_add(&model->references, 1);
    session->model = model;
    session->heap = &model->heap;
    session->pid = getpid();
    session->features = features;
    const tn_status status = fill(session, options, diag);
    if (status != TN_OK) {
        tenon_session_destroy(session);
        return status;
    }
    *out = session;
    return TN_OK;
}

tenon_status tenon_session_create(tenon_session **out, tenon_model *model, const tenon_session_options *given, tenon_error **error)
{
    tn_diag diag = {0};
    tn_status status = TN_OK;
    tenon_session_options options;
    if (out) {
        *out = NULL;
    }
    if (!out || !model) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_session_create", "session and model must not be NULL");
    }
    tenon_session_options_init(&options);
    if (given && !tn_api_options(&options, sizeof options, given)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "struct_size", "fill the options with tenon_session_options_init first");
    }
    if (model->describe) {
        return tn_api_refuse(error, TN_STATE, "describe", "the model was opened only to be looked at: open it again without describe to run it");
    }
    status = tn_session_make(out, model, &options, NULL, &diag);
    return tn_api_fail(error, status, &diag);
}

// ---- what is wanted: names to a program ----

static bool same_names(const tn_wanted *wanted, const char *const *names, size_t count)
{
    if (!names || !wanted->names) {
        return !names && !wanted->names;
    }
    bool same = wanted->count == count;
    for (size_t i = 0; i < count && same; i++) {
        same = strcmp(wanted->names[i], names[i]) == 0;
    }
    return same;
}

static tn_value *value_named(const tn_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_values; i++) {
        tn_value *value = graph->values[i];
        if (value && strcmp(value->name, name) == 0 && (value->producer || value->is_input || value->constant)) {
            return value;
        }
    }
    return NULL;
}

// A copy of the graph optimised so that the named values survive.
static tn_status optimise_pinned(const tn_graph *from, const tenon_session *session, const char *const *names, size_t count, tn_graph **out,
                                 tn_diag *diag)
{
    tenon_model *model = session->model;
    tn_graph *graph = tn_graph_clone(from, &model->heap, NULL);
    tn_pass_context context = {.heap = &model->heap, .diag = diag, .limit_tensor_bytes = model->limit_tensor, .pinned = names, .n_pinned = count,
                               .floats = !session->integers};
    const tn_status status = graph ? tn_optimise(graph, &context, NULL) : tn_fail_memory(diag, "names", sizeof *graph);
    *out = status == TN_OK ? graph : NULL;
    if (status != TN_OK) {
        tn_graph_destroy(graph);
    }
    return status;
}

static tn_status make_variant(const tenon_session *session, const char *const *names, size_t count, tn_variant **out, tn_diag *diag)
{
    tn_heap *heap = &session->model->heap;
    tn_variant *variant = tn_take_zero(heap, 1, sizeof *variant);
    const tn_status status = variant ? optimise_pinned(session->model->import.graph, session, names, count, &variant->graph, diag)
                                     : tn_fail_memory(diag, "names", sizeof *variant);
    if (status != TN_OK) {
        tn_give(heap, variant);
        return status;
    }
    variant->integers = session->integers;
    *out = variant;
    return TN_OK;
}

// The one that is kept: where another session was faster, its.
static const tn_variant *add_variant(tenon_model *model, tn_variant *made)
{
    pthread_mutex_lock(&model->lock);
    tn_variant *there = listed_variant(model, made->integers, made->pinned);
    if (!there) {
        made->next = model->variants;
        model->variants = there = made;
    }
    pthread_mutex_unlock(&model->lock);
    if (there != made) {
        tn_graph_destroy(made->graph);
        tn_give(&model->heap, made->pinned);
        tn_give(&model->heap, made);
    }
    return there;
}

// The same, kept with the model. It is made without the model's lock: operators of the application that fold constants may use the model.
static tn_status variant_of(const tenon_session *session, const char *const *names, size_t count, const tn_graph **out, tn_diag *diag)
{
    tenon_model *model = session->model;
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += strlen(names[i]) + 1;
    }
    char *key = tn_take(&model->heap, bytes);
    if (!key) {
        return tn_fail_memory(diag, "names", bytes);
    }
    char *at = key;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        memcpy(at, names[i], length);
        at[length] = '\n';
        at += length + 1;
    }
    *at = 0;
    tn_variant *made = NULL;
    const tn_variant *variant = find_variant(model, session->integers, key);
    if (!variant) {
        const tn_status status = make_variant(session, names, count, &made, diag);
        if (status != TN_OK) {
            tn_give(&model->heap, key);
            return status;
        }
        made->pinned = key;
        key = NULL;
        variant = add_variant(model, made);
    }
    tn_give(&model->heap, key);
    *out = variant->graph;
    return TN_OK;
}

// Makes the named values the outputs of a copy of the graph, and drops what they do not need.
static tn_status cut(tenon_session *session, const tn_graph *from, const char *const *names, size_t count, tn_graph **out, tn_diag *diag)
{
    tn_graph *graph = tn_graph_clone(from, session->heap, NULL);
    tn_pass_context context = {.heap = session->heap, .diag = diag, .limit_tensor_bytes = session->model->limit_tensor};
    tn_status status = TN_OK;
    if (!graph) {
        return tn_fail_memory(diag, "names", sizeof *graph);
    }
    for (size_t i = 0; i < graph->n_outputs; i++) {
        graph->outputs[i]->is_output = false;
    }
    graph->n_outputs = 0;
    for (size_t i = 0; i < count; i++) {
        tn_value *value = value_named(graph, names[i]);
        if (!value) {
            status = tn_fail(diag, TN_NOT_FOUND, names[i], "the model computes no tensor of this name");
            goto done;
        }
        TN_GO(tn_graph_add_output(graph, value));
    }
    TN_GO(tn_pass_find("dead")->run(graph, &context));
    *out = graph;
    graph = NULL;
done:
    tn_graph_destroy(graph);
    return status;
}

static tn_status graph_for(tenon_session *session, tn_wanted *wanted, const char *const *names, size_t count, tn_diag *diag)
{
    tenon_model *model = session->model;
    const tn_graph *from = tn_api_graph(session);
    bool all = true;
    for (size_t i = 0; i < count && all; i++) {
        all = value_named(from, names[i]) != NULL;
    }
    const tn_import_facts *facts = model->import.facts;
    if (!all && facts && !facts->has_imported) {
        return tn_fail(diag, TN_NOT_FOUND, names[0], "a wanted tensor is not in the optimised graph, and the file was saved without the imported "
                                                     "one (drop_imported), which would tell how to compute it");
    }
    if (!all && session->quantised) {
        return tn_fail(diag, TN_NOT_FOUND, names[0], "a wanted tensor is not in the quantised graph: precision int8 keeps what it runs only");
    }
    if (!all && session->own_import) {
        tn_graph *own = NULL;      // not kept: it is only for this session's values
        tn_status status = optimise_pinned(session->own_import, session, names, count, &own, diag);
        status = status == TN_OK ? cut(session, own, names, count, &wanted->graph, diag) : status;
        tn_graph_destroy(own);
        return status;
    }
    if (!all) {
        TN_TRY(variant_of(session, names, count, &from, diag));
    }
    return cut(session, from, names, count, &wanted->graph, diag);
}

static tn_status make_wanted(tenon_session *session, const char *const *names, size_t count, tn_diag *diag)
{
    tn_status status = TN_OK;
    tn_wanted *wanted = tn_take_zero(session->heap, 1, sizeof *wanted);
    if (!wanted) {
        return tn_fail_memory(diag, "names", sizeof *wanted);
    }
    wanted->count = count;
    if (names) {
        wanted->names = tn_take_zero(session->heap, count + 1, sizeof *wanted->names);
        for (size_t i = 0; wanted->names && i < count; i++) {
            wanted->names[i] = tn_api_copy_text(session->heap, names[i]);
            status = wanted->names[i] ? status : TN_OUT_OF_MEMORY;
        }
        if (!wanted->names || status != TN_OK) {
            status = tn_fail_memory(diag, "names", count * sizeof *wanted->names);
            goto done;
        }
        TN_GO(graph_for(session, wanted, names, count, diag));
    } else {
        wanted->count = tn_api_graph(session)->n_outputs;
    }
    wanted->results = tn_take_zero(session->heap, wanted->count + 1, sizeof *wanted->results);
    if (!wanted->results) {
        status = tn_fail_memory(diag, "results", wanted->count * sizeof *wanted->results);
        goto done;
    }
    TN_GO(tn_program_create(&wanted->program, names ? wanted->graph : tn_api_graph(session), &session->context, session->plan_cache, diag));
    tn_program_hold_inputs(wanted->program);
    wanted->next = session->wanted;
    session->wanted = wanted;
    wanted = NULL;
done:
    if (wanted) {
        destroy_wanted(session, wanted);
    }
    return status;
}

// Puts the program for these names at the head of session->wanted.
tn_status tn_api_find_wanted(tenon_session *session, const char *const *names, size_t count, tn_diag *diag)
{
    if (count == 0) {
        names = NULL;
    }
    TN_TRY(tn_api_override_apply(session, diag));
    size_t kept = 0;
    for (tn_wanted **link = &session->wanted; *link; link = &(*link)->next) {
        tn_wanted *wanted = *link;
        if (same_names(wanted, names, count)) {
            *link = wanted->next;
            wanted->next = session->wanted;
            session->wanted = wanted;
            return TN_OK;
        }
        kept++;
    }
    if (kept >= session->plan_cache) {      // the oldest goes
        tn_wanted **link = &session->wanted;
        while ((*link)->next) {
            link = &(*link)->next;
        }
        destroy_wanted(session, *link);
        *link = NULL;
    }
    return make_wanted(session, names, count, diag);
}

// ---- running ----

static tn_status own_process(const tenon_session *session, tn_diag *diag)
{
    tn_diag_clear(diag);
    if (!session) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "session", "session must not be NULL");
    }
    return session->pid == getpid() ? TN_OK
                                    : tn_fail(diag, TN_STATE, "session", "this session was made before a fork, in another process; make a new one");
}

static tn_status is_running(tn_diag *diag)
{
    return tn_fail(diag, TN_STATE, "session", "this session is running: callbacks of a run must leave it alone, and threads wait for its end");
}

tn_status tn_api_idle(const tenon_session *session, tn_diag *diag)
{
    TN_TRY(own_process(session, diag));
    return atomic_load(&session->running) ? is_running(diag) : TN_OK;
}

tn_status tn_api_begin(tenon_session *session, tn_diag *diag)
{
    int idle = 0;
    TN_TRY(own_process(session, diag));
    return atomic_compare_exchange_strong(&session->running, &idle, 1) ? TN_OK : is_running(diag);
}

void tn_api_end(tenon_session *session) { atomic_store(&session->running, 0); }

tn_status tn_api_check_names(const char *const *names, size_t count, tn_diag *diag)
{
    for (size_t i = 0; i < count; i++) {
        if (!names || !names[i]) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, "names", "name %zu is NULL", i);
        }
    }
    return TN_OK;
}

tn_status tn_api_enter(tenon_session *session, const char *const *names, size_t count, tn_diag *diag)
{
    TN_TRY(tn_api_check_names(names, count, diag));
    session->ran = false;
    TN_TRY(tn_api_find_wanted(session, names, count, diag));
    return tn_api_gather(session, diag);
}

#define MAX_OBSERVED 64

static void observe(void *observer, const tn_plan *plan, const tn_step *step, bool after, uint64_t nanoseconds)
{
    tenon_session *session = observer;
    tenon_tensor tensors[MAX_OBSERVED];
    const char *names[MAX_OBSERVED];
    void *copies[MAX_OBSERVED];
    size_t count = 0;
    if (!session->step) {      // the observer took itself away during this run
        return;
    }
    for (int i = 0; after && i < step->call.n_out && count < MAX_OBSERVED; i++) {
        const tn_tensor *out = step->call.out[i];
        copies[count] = out && out->data && out->kind == TN_KIND_TENSOR ? tn_plain_copy(out, &session->context.cpu, session->heap) : NULL;
        if (!copies[count]) {
            continue;
        }
        tensors[count] = (tenon_tensor){.dtype = (tenon_dtype)out->dtype, .rank = out->shape.rank, .data = copies[count]};
        memcpy(tensors[count].dims, out->shape.dims, sizeof tensors[count].dims);
        tn_tensor plain = *out;
        plain.layout = TN_LAYOUT_PLAIN;
        (void)tn_tensor_bytes(&plain, &tensors[count].bytes);
        names[count++] = plan->slots[step->out[i]].name;
    }
    const tenon_step_info info = {.struct_size = sizeof info, .node = step->call.name, .op = step->call.op->name,
                                  .kernel = step->kernel ? step->kernel->name : "control", .device = step->device, .output_count = count,
                                  .nanoseconds = nanoseconds, .macs = step->macs, .output_names = names};
    session->step(session->step_context, &info, after, tensors);
    for (size_t i = 0; i < count; i++) {
        tn_give(session->heap, copies[i]);
    }
}

// A model with free dims was found sound when it was opened: what does not fit now are the shapes it was given.
tn_status tn_api_blame(const tenon_session *session, tn_status status)
{
    for (size_t i = 0; i < session->n_inputs && status == TN_INVALID_MODEL; i++) {
        status = tn_shape_known(&session->model->import.graph->inputs[i]->shape) ? status : TN_INVALID_ARGUMENT;
    }
    return status;
}

// A device failed in a run: unless strict forbids it, and when one of them can start anew, the run is done once more.
static bool try_again(tenon_session *session, tn_diag *diag)
{
    bool revives = false;
    for (size_t d = 0; d + 1 < session->context.n_devices; d++) {
        revives = revives || (session->devices[d]->vtable->revive && !(session->context.dead >> d & 1));
    }
    if (!revives || session->context.strict & TENON_STRICT_DEVICE) {
        return false;
    }
    tn_api_warn(session, diag);
    tn_diag_clear(diag);
    return true;
}

static tn_status run_once(tenon_session *session, tn_run *run)
{
    run->number = ++session->attempts;
    TN_TRY(tn_api_sync_inputs(session, run->diag));
    TN_TRY(tn_program_run(session->wanted->program, run, session->feeds, session->wanted->results));
    return tn_api_sync_results(session, run->diag);
}

// nanoseconds from now, 0 for none; what is too far for a clock never comes.
static uint64_t moment_after(uint64_t nanoseconds)
{
    const uint64_t now = tn_clock_ns();
    return nanoseconds == 0 ? 0 : nanoseconds > UINT64_MAX - now ? UINT64_MAX : now + nanoseconds;
}

tenon_status tenon_session_run(tenon_session *session, const char *const *names, size_t count, tenon_error **error)
{
    tn_diag diag;
    tn_status status = tn_api_begin(session, &diag);
    if (status != TN_OK) {
        return tn_api_fail(error, status, &diag);
    }
    tn_api_regain_devices(session);
    status = tn_api_enter(session, names, count, &diag);
    status = status == TN_OK ? tn_api_bind_results(session, &diag) : status;
    if (status == TN_OK) {
        tn_arena_deinit(&session->objects);
        tn_arena_init(&session->objects, session->heap);
        tn_run run = {.context = &session->context, .objects = &session->objects, .workers = session->workers, .cancel = &session->cancel, .diag = &diag,
                      .deadline_ns = moment_after(session->deadline_ns),
                      .observe = session->step ? observe : NULL, .observer = session, .profile = session->profile};
        tn_affinity_saved saved = {.valid = false};
        if (session->cores) {
            (void)tn_affinity_set(session->cores, session->n_cores, &saved);
        }
        if (session->profile) {
            tn_profile_run_begin(session->profile, session->workers, session->context.planning_ns);
        }
        status = run_once(session, &run);
        if (status == TN_DEVICE && try_again(session, &diag)) {
            status = run_once(session, &run);
        }
        if (status == TN_DEVICE && tn_api_lose_devices(session, &diag)) {
            status = run_once(session, &run);
        }
        session->losses = status == TN_OK && !session->context.dead ? 0 : session->losses;
        status = status == TN_OK ? tn_run_check(&run, "session") : status;   // the last step looked at neither cancel nor deadline
        if (session->profile) {
            tn_profile_run_end(session->profile, session->workers, session->context.planning_ns);
        }
        tn_affinity_restore(&saved);
        session->ran = status == TN_OK;
        session->runs++;
    }
    atomic_store(&session->cancel, 0);
    status = tn_api_blame(session, status);
    tn_api_end(session);
    return tn_api_fail(error, status, &diag);
}

void tenon_session_trim(tenon_session *session)
{
    tn_diag diag;
    if (tn_api_begin(session, &diag) != TN_OK) {
        return;
    }
    for (tn_wanted *wanted = session->wanted; wanted; wanted = wanted->next) {
        tn_program_trim(wanted->program);
    }
    session->ran = false;
    tn_block_trim(&session->blocks);
    tn_api_end(session);
}

void tenon_session_cancel(tenon_session *session)
{
    if (session) {
        atomic_store(&session->cancel, 1);
    }
}

void tenon_session_set_deadline(tenon_session *session, uint64_t nanoseconds)
{
    tn_diag diag;
    if (tn_api_idle(session, &diag) == TN_OK) {
        session->deadline_ns = nanoseconds;
    }
}

void tenon_session_observe(tenon_session *session, tenon_step_fn step, void *context)
{
    tn_diag diag;
    if (tn_api_idle(session, &diag) == TN_OK) {
        session->step = step;
        session->step_context = context;
    }
}
