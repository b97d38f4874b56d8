// SPDX-License-Identifier: Apache-2.0
// tenon_model_save: plans the model once for each target, which packs its weights, and hands everything to pack/. Predicates, costs and
// packers are baseline code, so that the planning machine need not be of the kind that it plans for.
// Ownership: sessions live until the file is written, and keep their packed weights. Threads: as tenon.h says.
#include "api/api.h"

#include "base/num.h"
#include "dispatch/registry.h"
#include "pack/pack.h"
#include "tenon/build.h"

#include <stdio.h>
#include <string.h>

#define MAX_TARGETS 8

typedef struct saving {
    tenon_model *model;
    const tenon_save_options *options;
    tn_diag *diag;
    tn_arena arena;
    char names[MAX_TARGETS][32];
    uint32_t features[MAX_TARGETS];
    tenon_session *sessions[MAX_TARGETS];
    tn_pack_target targets[MAX_TARGETS];
    size_t n_targets;
    // the target being collected
    const tn_packed **packs;
    size_t n_packs, packs_capacity;
    bool no_memory, held;        // held: the caller's session is kept from running
} saving;

// ---- targets ----

static bool visit_features(const tn_kernel *row, void *context)
{
    // Packed for float32 as the session's precision in a file is.
    *(uint32_t *)context |= row->cpu & TN_CPU_BF16_WEIGHTS ? 0 : row->cpu;
    return true;
}

// "avx2": its features. "host" is named after the highest tier that this machine has.
static tn_status add_target(saving *s, const char *name, size_t length)
{
    uint32_t built = 0, mask;
    int known = 1;
    char level[32];
    if (length >= sizeof level || length == 0 || s->n_targets == MAX_TARGETS) {
        return tn_fail(s->diag, TN_INVALID_ARGUMENT, "targets", "'%s' are not at most %d names of instruction sets", name, MAX_TARGETS);
    }
    memcpy(level, name, length);
    level[length] = 0;
    tn_registry_visit(NULL, visit_features, &built);
    if (strcmp(level, "host") == 0) {
        tn_cpu cpu;
        tn_cpu_detect(&cpu);
        mask = cpu.features;
        snprintf(level, sizeof level, "portable");
#define X(id, bit, text)                                              \
        if (mask >> bit & 1 && built >> bit & 1) {                    \
            snprintf(level, sizeof level, "%s", text);                \
        }
        TN_CPU_LIST(X)
#undef X
    } else {
        mask = tn_cpu_mask(level, &known);
    }
    if (!known || (mask && !(mask & built) && strcmp(level, "portable") != 0)) {
        return tn_fail(s->diag, known ? TN_UNSUPPORTED : TN_INVALID_ARGUMENT, "targets", "'%s' is not an instruction set that this build has kernels for",
                       level);
    }
    for (size_t i = 0; i < s->n_targets; i++) {
        if (strcmp(s->names[i], level) == 0) {
            return TN_OK;
        }
    }
    memcpy(s->names[s->n_targets], level, sizeof level);
    s->features[s->n_targets++] = mask;
    return TN_OK;
}

static tn_status read_targets(saving *s)
{
    const char *at = s->options->targets ? s->options->targets : "host";
    if (strcmp(at, "none") == 0) {
        return TN_OK;
    }
    for (;;) {
        const size_t length = strcspn(at, ",");
        TN_TRY(add_target(s, at, length));
        if (!at[length]) {
            return TN_OK;
        }
        at += length + 1;
    }
}

// ---- inputs ----

// Zeros of the input's shape, open dims 1: planning looks at shapes, and at the contents of small inputs that decide shapes.
static tn_status set_zeros(saving *s, tenon_session *session, const tn_value *input)
{
    tn_tensor tensor = {.dtype = input->dtype, .shape = input->shape};
    tenon_error *error = NULL;
    size_t bytes;
    for (int i = 0; i < tensor.shape.rank; i++) {
        tensor.shape.dims[i] = tn_dim_known(tensor.shape.dims[i]) ? tensor.shape.dims[i] : 1;
    }
    if (input->kind != TN_KIND_TENSOR || input->shape.rank < 0 || !input->dtype) {
        return tn_fail(s->diag, TN_INVALID_ARGUMENT, input->name, "to pack weights this input must be known: give a session in which it is set, or "
                                                                   "say \"none\" in targets");
    }
    if (!tn_tensor_bytes(&tensor, &bytes) || bytes > s->model->limit_tensor) {
        return tn_fail(s->diag, TN_LIMIT, input->name, "an input of this shape is larger than limit_tensor_bytes");
    }
    void *zeros = tn_take_zero(session->heap, bytes + 1, 1);
    if (!zeros) {
        return tn_fail_memory(s->diag, input->name, bytes);
    }
    const char **cells = zeros;
    for (size_t i = 0; tensor.dtype == TN_STRING && i < bytes / sizeof *cells; i++) {
        cells[i] = "";
    }
    const tenon_status status = tenon_session_set_input(session, input->name, (tenon_dtype)tensor.dtype, tensor.shape.rank, tensor.shape.dims, zeros,
                                                        bytes, &error);
    tn_give(session->heap, zeros);
    if (status != TENON_OK) {
        tn_fail(s->diag, (tn_status)status, input->name, "%s", error ? tenon_error_message(error) : "no memory");
        tenon_error_destroy(error);
    }
    return (tn_status)status;
}

// What the caller's session was given is read by reference while the file is made.
static tn_status set_inputs(saving *s, tenon_session *session)
{
    const tenon_session *given = s->options->session;
    const tn_graph *graph = s->model->optimised;
    for (size_t i = 0; i < graph->n_inputs; i++) {
        if (given && given->inputs[i].set) {
            session->inputs[i].tensor = given->inputs[i].tensor;
            session->inputs[i].set = true;
        } else {
            TN_TRY(set_zeros(s, session, graph->inputs[i]));
        }
    }
    return TN_OK;
}

// ---- packed weights ----

static bool is_listed(const saving *s, const tn_packed *packed)
{
    for (size_t t = 0; t < s->n_targets; t++) {
        for (size_t i = 0; i < s->targets[t].n_packs; i++) {
            if (s->targets[t].packs[i] == packed) {
                return true;
            }
        }
    }
    for (size_t i = 0; i < s->n_packs; i++) {
        if (s->packs[i] == packed) {
            return true;
        }
    }
    return false;
}

static void list(saving *s, const tn_packed *packed)
{
    if (!packed || !packed->source || is_listed(s, packed)) {
        return;
    }
    const tn_packed **packs = tn_arena_grow(&s->arena, s->packs, s->n_packs, &s->packs_capacity, sizeof *packs);
    if (!packs) {
        s->no_memory = true;
        return;
    }
    s->packs = packs;
    packs[s->n_packs++] = packed;
}

// Constants in other layouts, then, in the order of execution, packed weights, so that a first run reads the file from front to back. Plain
// copies are of no use: the file holds its constants aligned.
static void visit_plan(const tn_plan *plan, void *context)
{
    for (size_t i = 0; i < plan->n_held; i++) {
        if (strcmp(plan->held[i]->id, "aligned") != 0) {
            list(context, plan->held[i]);
        }
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        for (int k = 0; k < TN_MAX_PACKS; k++) {
            list(context, plan->steps[i].packed[k]);
        }
    }
}

static tn_status pack_for(saving *s, size_t target)
{
    tenon_session_options options;
    tenon_error *error = NULL;
    tenon_session_options_init(&options);
    options.device = "cpu";
    options.threads = 1;
    options.precision = s->options->precision;
    TN_TRY(tn_session_make(&s->sessions[target], s->model, &options, &s->features[target], s->diag));
    tenon_session *session = s->sessions[target];
    TN_TRY(set_inputs(s, session));
    const tenon_status status = tenon_session_prepare(session, NULL, 0, &error);
    if (status != TENON_OK) {
        tn_fail(s->diag, (tn_status)status, error ? tenon_error_place(error) : "", "the model cannot be planned for the target %s: %s; give a session with other inputs, "
                "or \"none\" as targets", s->names[target], error ? tenon_error_message(error) : "no memory");
        tenon_error_destroy(error);
        return (tn_status)status;
    }
    s->packs = NULL;
    s->n_packs = s->packs_capacity = 0;
    tn_program_visit(session->wanted->program, visit_plan, s);
    s->targets[target] = (tn_pack_target){.name = s->names[target], .packs = s->packs, .n_packs = s->n_packs};
    return s->no_memory ? tn_fail_memory(s->diag, "targets", sizeof *s->packs) : TN_OK;
}

// ---- what is saved ----

static tn_status check_precision(const saving *s)
{
    const char *precision = s->options->precision;
    if (!precision || strcmp(precision, "fp32") == 0) {
        return TN_OK;
    }
    if (strcmp(precision, "int8") != 0) {
        return tn_fail(s->diag, TN_INVALID_ARGUMENT, "precision", "'%s' is not a precision that a .tenon file has packed weights for; there are: fp32, and int8 "
                       "for models that come quantised", precision);
    }
    return tn_api_comes_quantised(s->model)
               ? TN_OK
               : tn_fail(s->diag, TN_INVALID_ARGUMENT, "precision", "this model does not come quantised; a session of precision int8 quantises it by "
                         "samples, and that form is not saved");
}

// The forms of quantised arithmetic that the targets run: one graph, or two where they differ.
static tn_pack_model choose_forms(const saving *s)
{
    tn_pack_model saved = {.import = &s->model->import, .optimised = s->model->optimised};
    bool integers = s->model->integers;
    for (size_t t = 0; t < s->n_targets; t++) {
        const tn_graph *graph = tn_api_graph(s->sessions[t]);
        if (t == 0) {
            saved.optimised = graph;
            integers = s->sessions[t]->integers;
        } else if (graph != saved.optimised) {
            saved.other = graph;
        }
    }
    saved.form = !tn_api_comes_quantised(s->model) ? TN_FORM_NONE : integers ? TN_FORM_INTEGERS : TN_FORM_FLOATS;
    return saved;
}

// ---- the call ----

static tn_status save(saving *s, const char *path, const uint8_t *key)
{
    char writer[64];
    const tn_pack_options options = {.writer = writer, .split = s->options->split_weights != 0, .drop_imported = s->options->drop_imported != 0,
                                     .key = key, .key_name = s->options->key_name, .chunk_bytes = s->options->chunk_bytes};
    snprintf(writer, sizeof writer, "tenon %s", tenon_version());
    if (s->model->describe) {
        return tn_fail(s->diag, TN_STATE, "describe", "the model was opened only to be looked at: open it again without describe to save it");
    }
    if (s->model->no_optimise) {
        return tn_fail(s->diag, TN_STATE, "no_optimise", "the model was opened without optimising it: open it again without no_optimise to save it");
    }
    TN_TRY(tn_pack_check_path(path, &s->model->file, &s->model->import, options.split, s->diag));
    TN_TRY(check_precision(s));
    TN_TRY(read_targets(s));
    if (s->options->session && s->options->session->model != s->model) {
        return tn_fail(s->diag, TN_INVALID_ARGUMENT, "session", "the session is one of another model");
    }
    if (s->options->session) {
        TN_TRY(tn_api_begin(s->options->session, s->diag));    // what it was given is read until the file is written
        s->held = true;
    }
    for (size_t t = 0; t < s->n_targets; t++) {
        TN_TRY(pack_for(s, t));
    }
    const tn_pack_model saved = choose_forms(s);
    return tn_pack_write(path, &saved, s->targets, s->n_targets, &options, &s->model->heap, s->diag);
}

tenon_status tenon_model_save(tenon_model *model, const char *path, const tenon_save_options *given, tenon_error **error)
{
    tn_diag diag = {0};
    tn_status status = TN_OK;
    uint8_t key[32] = {0};
    tenon_save_options options;
    if (!model || !path || !path[0]) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_model_save", "model and path must not be NULL or empty");
    }
    tenon_save_options_init(&options);
    if (given && !tn_api_options(&options, sizeof options, given)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "struct_size", "fill the options with tenon_save_options_init first");
    }
    saving s = {.model = model, .options = &options, .diag = &diag};
    tn_arena_init(&s.arena, &model->heap);
    if (options.key && options.key(options.key_context, options.key_name ? options.key_name : "", key) != 0) {
        status = tn_fail(&diag, TN_INVALID_ARGUMENT, "key", "the key function has no key '%.100s'", options.key_name ? options.key_name : "");
    } else {
        status = save(&s, path, options.key ? key : NULL);
    }
    explicit_bzero(key, sizeof key);
    if (s.held) {
        tn_api_end(options.session);
    }
    for (size_t t = 0; t < s.n_targets; t++) {
        tenon_session_destroy(s.sessions[t]);
    }
    tn_arena_deinit(&s.arena);
    return tn_api_fail(error, status, &diag);
}
