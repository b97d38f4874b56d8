// SPDX-License-Identifier: Apache-2.0
// The JSON reports of models and sessions. Their keys are written down in tenon.h.
#include "api/api.h"

#include "base/text.h"
#include "ops/op_eval.h"
#include "sys/crypto/sha256.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A report holds its model, whose allocator made it, so that it may outlive every handle.
typedef struct report {
    tenon_model *model;
    char text[];
} report;

static tenon_status finish(tn_text *text, tenon_model *model, char **json, tenon_error **error)
{
    const size_t bytes = text->failed || !text->data ? 0 : text->length + 1;
    report *made = bytes ? tn_take(&model->heap, sizeof *made + bytes) : NULL;
    if (made) {
        memcpy(made->text, text->data, bytes);
        made->model = model;
        atomic_fetch_add(&model->references, 1);
        *json = made->text;
    }
    tn_text_deinit(text);
    return made ? TENON_OK : tn_api_refuse(error, TN_OUT_OF_MEMORY, "report", "no memory for the report");
}

void tenon_report_destroy(char *json)
{
    if (json) {
        report *made = (report *)(void *)(json - offsetof(report, text));
        tenon_model *model = made->model;
        tn_give(&model->heap, made);
        tn_model_release(model);
    }
}

// ---- model ----

static void write_values(tn_text *text, const char *key, const tn_graph *graph, tn_value *const *values, size_t count)
{
    tn_json_key(text, key);
    tn_json_open(text, '[');
    for (size_t i = 0; i < count; i++) {
        const tn_shape *shape = &values[i]->shape;
        tn_json_open(text, '{');
        tn_json_key_string(text, "name", values[i]->name);
        tn_json_key_string(text, "dtype", tn_dtype_text(values[i]->dtype));
        tn_json_key(text, "shape");
        if (shape->rank < 0) {
            tn_json_null(text);
        } else {
            tn_json_open(text, '[');
            for (int d = 0; d < shape->rank; d++) {
                if (tn_dim_known(shape->dims[d])) {
                    tn_json_int(text, shape->dims[d]);
                } else {
                    tn_json_null(text);
                }
            }
            tn_json_close(text, ']');
        }
        tn_json_key(text, "symbols");
        tn_json_open(text, '[');
        for (int d = 0; d < shape->rank; d++) {
            const int64_t dim = shape->dims[d];
            const bool named = !tn_dim_known(dim) && dim >= TN_DIM_SYMBOL && (size_t)(dim - TN_DIM_SYMBOL) < graph->n_symbols;
            tn_json_string(text, named ? graph->symbols[dim - TN_DIM_SYMBOL] : NULL);
        }
        tn_json_close(text, ']');
        tn_json_key_bool(text, "optional", false);
        tn_json_close(text, '}');
    }
    tn_json_close(text, ']');
}

static bool same_op_before(const tn_node *node)
{
    for (const tn_node *p = node->prev; p; p = p->prev) {
        if (p->op == node->op) {
            return true;
        }
    }
    return false;
}

static void write_operators(tn_text *text, const tn_graph *graph)
{
    tn_json_key(text, "operators");
    tn_json_open(text, '{');
    for (const tn_node *node = graph->first; node; node = node->next) {
        uint64_t count = 0;
        if (same_op_before(node)) {
            continue;
        }
        for (const tn_node *other = node; other; other = other->next) {
            count += other->op == node->op;
        }
        tn_json_key_int(text, node->op->name, count);
    }
    tn_json_close(text, '}');
}

static uint64_t weight_bytes(const tn_graph *graph)
{
    uint64_t sum = 0;
    size_t bytes;
    for (size_t i = 0; i < graph->n_values; i++) {
        if (graph->values[i] && graph->values[i]->constant && tn_tensor_bytes(graph->values[i]->constant, &bytes)) {
            sum += bytes;
        }
    }
    return sum;
}

// The hash of some bytes under `key`.
static void key_hash(tn_text *text, const char *key, const void *data, size_t bytes)
{
    uint8_t digest[TN_SHA256_BYTES];
    char printed[2 * TN_SHA256_BYTES + 1];
    tn_sha256_of(data, bytes, digest);
    tn_sha256_print(digest, printed);
    tn_json_key_string(text, key, printed);
}

static void write_file(tn_text *text, const tenon_model *model)
{
    const tn_import_facts *facts = model->import.facts;
    char version[32];
    tn_json_key(text, "file");
    if (!facts) {
        tn_json_null(text);
        return;
    }
    snprintf(version, sizeof version, "%u.%u", facts->major, facts->minor);
    tn_json_open(text, '{');
    tn_json_key_string(text, "version", version);
    tn_json_key_string(text, "writer", facts->writer);
    key_hash(text, "graph_sha256", model->bytes, facts->graph_bytes);
    tn_json_key_int(text, "graph_bytes", facts->graph_bytes);
    tn_json_key(text, "targets");
    tn_json_open(text, '[');
    for (size_t i = 0; i < facts->n_targets; i++) {
        tn_json_string(text, facts->targets[i]);
    }
    tn_json_close(text, ']');
    tn_json_key_int(text, "pack_bytes", facts->pack_bytes);
    tn_json_key_int(text, "packs", model->import.n_packs);
    tn_json_key_int(text, "chunks", facts->n_chunks);
    tn_json_key_int(text, "chunk_bytes", facts->chunk_bytes);
    key_hash(text, "weights_sha256", facts->hashes, facts->n_chunks * TN_SHA256_BYTES);
    tn_json_key_string(text, "data_file", facts->data_file);
    tn_json_key_bool(text, "encrypted", facts->encrypted);
    tn_json_key_string(text, "key_name", facts->key_name);
    tn_json_key_bool(text, "imported_graph", facts->has_imported);
    tn_json_close(text, '}');
}

static void write_model(tn_text *text, tenon_model *model)
{
    const tn_graph *graph = model->import.graph;
    tn_json_open(text, '{');
    tn_json_key_string(text, "format", model->import.format);
    tn_json_key_string(text, "producer", model->import.producer);
    tn_json_key(text, "opset");
    tn_json_int(text, model->import.opset);
    write_values(text, "inputs", graph, graph->inputs, graph->n_inputs);
    tn_json_key(text, "initialised_inputs");
    tn_json_open(text, '[');
    for (size_t i = 0; i < model->import.n_defaults; i++) {
        tn_json_string(text, model->import.defaults[i]);
    }
    tn_json_close(text, ']');
    write_values(text, "outputs", model->optimised, model->optimised->outputs, model->optimised->n_outputs);
    tn_json_key_int(text, "nodes", graph->n_nodes);
    tn_json_key_int(text, "optimised_nodes", model->optimised->n_nodes);
    write_operators(text, graph);
    tn_json_key_int(text, "parameters", model->import.parameter_count);
    tn_json_key_int(text, "weight_bytes", weight_bytes(graph));
    tn_json_key_int(text, "copied_bytes", model->weights.copied_bytes);
    tn_json_key(text, "macs");
    const int64_t macs = tn_api_closed(model) ? -1 : tn_graph_macs(model->optimised);   // operands were not checked
    if (macs < 0) {
        tn_json_null(text);
    } else {
        tn_json_int(text, macs);
    }
    write_file(text, model);
    tn_json_close(text, '}');
}

static bool write_graph(tn_text *text, const tenon_model *model)
{
    tn_text plain;
    tn_text_init(&plain, text->heap);
    tn_graph_print(model->optimised, &plain);
    const bool good = !plain.failed && plain.data;
    if (good) {
        tn_json_string(text, plain.data);
    }
    tn_text_deinit(&plain);
    return good;
}

tenon_status tenon_model_report(tenon_model *model, tenon_report_kind kind, char **json, tenon_error **error)
{
    tn_text text;
    if (json) {
        *json = NULL;
    }
    if (!model || !json) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_model_report", "model and json must not be NULL");
    }
    if (kind == TENON_REPORT_GRAPH && tn_api_closed(model)) {
        return tn_api_refuse(error, TN_STATE, "key", "the graph's constants are encrypted: open the model with its key");
    }
    tn_text_init(&text, &model->heap);
    if (kind == TENON_REPORT_MODEL) {
        write_model(&text, model);
    } else if (kind == TENON_REPORT_GRAPH) {
        text.failed = !write_graph(&text, model) || text.failed;
    } else {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "kind", "this report needs a session");
    }
    return finish(&text, model, json, error);
}

// ---- session ----

typedef struct reporting {
    tn_text *text;
    const tenon_session *session;
    size_t stages, base, lower, scratch, packed, inputs, outputs, on_devices;
    uint64_t peak;
    const char *device;
    uint64_t nodes, macs;
    bool exact;
    bool open;                // some stage has not been planned yet
} reporting;

static void visit_explain(const tn_plan *plan, void *context)
{
    reporting *r = context;
    tn_plan_explain(plan, &r->session->context, r->text);
    r->stages++;
}

static void visit_placement(const tn_plan *plan, void *context)
{
    reporting *r = context;
    tn_plan_add_placement(plan, r->device, &r->nodes, &r->macs);
}

// Plans of stages and bodies have arenas of their own: they are drawn one after another.
static void visit_memory(const tn_plan *plan, void *context)
{
    reporting *r = context;
    tn_plan_report_blocks(plan, r->base, r->text);
    r->base += plan->memory.arena_bytes;
    r->lower += plan->memory.lower_bound_bytes;
    r->packed += plan->memory.packed_bytes;
    r->outputs += plan->memory.output_bytes;
    r->inputs += plan->memory.input_bytes;
    r->peak += tn_plan_peak(plan);
    r->exact = r->exact && plan->memory.exact;
    r->open = r->open || (plan->rest_program && !tn_program_plan(plan->rest_program));
    for (size_t i = 0; i < plan->n_steps; i++) {
        const tn_flow *flow = plan->flows ? plan->flows[i] : NULL;
        r->scratch = TN_MAX(r->scratch, plan->steps[i].scratch_bytes);
        r->on_devices += flow && flow->device->vtable->memory ? flow->device->vtable->memory(flow) : 0;
    }
}

// What the times of a document belong to: members of the open object.
static void write_machine(tn_text *text, const tenon_session *session)
{
    const uint32_t features = session->context.cpu.features;
    const char *isa = "portable";
#define X(name, bit, label) isa = features >> bit & 1 ? label : isa;
    TN_CPU_LIST(X)
#undef X
    tn_json_key_string(text, "processor", session->context.cpu.name);
    tn_json_key_string(text, "isa", isa);
    tn_json_key_int(text, "threads", session->context.threads);
}

static void write_profile(tn_text *text, const tenon_session *session)
{
    tn_json_open(text, '{');
    write_machine(text, session);
    tn_profile_write(session->profile, text);
    tn_json_close(text, '}');
}

static void write_explain(tn_text *text, const tenon_session *session, const tn_program *program)
{
    reporting r = {.text = text, .session = session};
    tn_json_open(text, '{');
    tn_json_key(text, "nodes");
    tn_json_open(text, '[');
    tn_program_visit(program, visit_explain, &r);
    tn_json_close(text, ']');
    write_machine(text, session);
    tn_json_key_int(text, "stages", r.stages);
    tn_json_key_int(text, "conversions", tn_program_plan(program)->n_conversions);
    tn_json_key_string(text, "device_failure", session->context.failure[0] ? session->context.failure : NULL);
    tn_json_close(text, '}');
}

static void write_placement(tn_text *text, const tenon_session *session, const tn_program *program)
{
    tn_json_open(text, '{');
    for (size_t d = 0; d < session->context.n_devices; d++) {
        reporting r = {.device = session->context.devices[d]->vtable->name};
        tn_program_visit(program, visit_placement, &r);
        tn_json_key(text, r.device);
        tn_json_open(text, '{');
        tn_json_key_int(text, "nodes", r.nodes);
        tn_json_key_int(text, "macs", r.macs);
        tn_json_close(text, '}');
    }
    tn_json_close(text, '}');
}

static void write_memory(tn_text *text, const tenon_session *session, const tn_program *program)
{
    reporting r = {.text = text, .session = session, .exact = true};
    tn_json_open(text, '{');
    tn_json_key(text, "blocks");
    tn_json_open(text, '[');
    tn_program_visit(program, visit_memory, &r);
    tn_json_close(text, ']');
    tn_json_key_int(text, "arena_bytes", r.base);
    tn_json_key_int(text, "lower_bound_bytes", r.lower);
    tn_json_key_int(text, "scratch_bytes", r.scratch);
    tn_json_key_int(text, "packed_bytes", r.packed);
    tn_json_key_int(text, "output_bytes", r.outputs);
    tn_json_key_int(text, "input_bytes", r.inputs);
    tn_json_key_int(text, "device_bytes", r.on_devices);
    tn_json_key(text, "peak_bytes");
    const tn_plan *plan = tn_program_plan(program);
    if (!plan->memory.exact && plan->counted) {
        tn_json_int(text, (int64_t)plan->counted);     // bodies that run one after another do not add up, results of unknown size do
    } else if (r.open) {
        tn_json_null(text);     // what later stages and bodies take is known only when they run
    } else {
        tn_json_int(text, (int64_t)r.peak);
    }
    tn_json_key_bool(text, "exact", r.exact);
    tn_json_close(text, '}');
}

static void write_statistics(tn_text *text, const tenon_session *session)
{
    size_t plans = 0;
    uint64_t built = 0, found = 0;
    tn_weights *weights = &session->model->weights;
    for (size_t d = 0; d < session->context.n_devices; d++) {
        built += atomic_load(&session->devices[d]->programs_built);
        found += atomic_load(&session->devices[d]->programs_found);
    }
    pthread_mutex_lock(&weights->lock);
    const uint64_t packs = weights->made, pack_hits = weights->hits, packed_bytes = weights->bytes;
    pthread_mutex_unlock(&weights->lock);
    for (const tn_wanted *wanted = session->wanted; wanted; wanted = wanted->next) {
        plans += tn_program_plans(wanted->program);
    }
    tn_json_open(text, '{');
    tn_json_key_int(text, "plans_made", session->context.plans);
    tn_json_key_int(text, "plan_hits", session->context.hits);
    tn_json_key_int(text, "plans_cached", plans);
    tn_json_key_int(text, "planning_ns", session->context.planning_ns);
    tn_json_key_int(text, "fallbacks", session->context.fallbacks);
    tn_json_key_int(text, "device_fallbacks", session->context.device_fallbacks);
    tn_json_key_int(text, "precision_events", session->context.precision_events);
    tn_json_key_int(text, "runs", session->runs);
    tn_json_key_int(text, "steps", session->context.steps);
    tn_json_key_int(text, "idle_block_bytes", session->blocks.idle_bytes);
    uint64_t copied = 0;
    for (size_t d = 0; d < session->context.n_devices; d++) {
        copied += session->devices[d]->vtable->copied ? session->devices[d]->vtable->copied(session->devices[d]) : 0;
    }
    tn_json_key_int(text, "device_copied_bytes", copied);
    tn_json_key(text, "power");
    tn_api_power_report(session, text);
    tn_json_key_int(text, "live_bytes", atomic_load(&session->heap->live_bytes));
    tn_json_key_int(text, "peak_bytes", atomic_load(&session->heap->peak_bytes));
    tn_json_key_int(text, "packed_weight_bytes", packed_bytes);
    tn_json_key_int(text, "weights_packed", packs);
    tn_json_key_int(text, "weights_found", pack_hits);
    tn_json_key_int(text, "programs_built", built);
    tn_json_key_int(text, "programs_found", found);
    tn_json_close(text, '}');
}

tenon_status tenon_report(tenon_session *session, tenon_report_kind kind, char **json, tenon_error **error)
{
    tn_text text;
    if (json) {
        *json = NULL;
    }
    if (!session || !json) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_report", "session and json must not be NULL");
    }
    *json = NULL;
    if (kind == TENON_REPORT_MODEL || kind == TENON_REPORT_GRAPH) {
        return tenon_model_report(session->model, kind, json, error);
    }
    tn_diag diag = {0};
    const tn_status idle = tn_api_idle(session, &diag);     // plans and records change while it runs
    if (idle != TN_OK) {
        return tn_api_fail(error, idle, &diag);
    }
    if (kind == TENON_REPORT_PROFILE && !session->profile) {
        return tn_api_refuse(error, TN_STATE, "report", "nothing is recorded: call tenon_session_profile first");
    }
    const tn_program *program = session->wanted ? session->wanted->program : NULL;
    if (kind != TENON_REPORT_STATISTICS && kind != TENON_REPORT_PROFILE && (!program || !tn_program_plan(program))) {
        return tn_api_refuse(error, TN_STATE, "report", "there is no plan yet: run or prepare the session first");
    }
    tn_text_init(&text, session->heap);
    switch (kind) {
    case TENON_REPORT_EXPLAIN: write_explain(&text, session, program); break;
    case TENON_REPORT_PLACEMENT: write_placement(&text, session, program); break;
    case TENON_REPORT_MEMORY: write_memory(&text, session, program); break;
    case TENON_REPORT_PROFILE: write_profile(&text, session); break;
    case TENON_REPORT_STATISTICS: write_statistics(&text, session); break;
    default: return tn_api_refuse(error, TN_INVALID_ARGUMENT, "kind", "%d is not a report", (int)kind);
    }
    return finish(&text, session->model, json, error);
}

// ---- devices ----

char *tenon_devices_json(void)
{
    tn_heap heap;
    tn_text text;
    tn_cpu cpu;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_text_init(&text, &heap);
    tn_cpu_detect(&cpu);
    tn_json_open(&text, '{');
    tn_json_key(&text, "devices");
    tn_json_open(&text, '[');
    for (const tn_device_vtable *const *vtable = tn_registry_devices; *vtable; vtable++) {
        tn_device_facts facts;
        if ((*vtable)->probe(&facts) != TN_OK) {
            continue;
        }
        tn_json_open(&text, '{');
        tn_json_key_string(&text, "name", (*vtable)->name);
        tn_json_key_bool(&text, "present", facts.present);
        tn_json_key_string(&text, "what", facts.name);
        tn_json_key_string(&text, "reason", facts.present ? NULL : facts.reason);
        tn_json_key_string(&text, "limits", facts.limits[0] ? facts.limits : NULL);
        tn_json_key_int(&text, "cores", facts.cores);
        tn_json_key_int(&text, "memory_bytes", facts.memory_bytes);
        tn_json_key(&text, "features");
        tn_json_open(&text, '[');
#define X(id, bit, label)                                                  \
    if (strcmp((*vtable)->name, "cpu") == 0 && cpu.features >> bit & 1) {    \
        tn_json_string(&text, label);                                        \
    }
        TN_CPU_LIST(X)
#undef X
        tn_json_close(&text, ']');
        tn_json_close(&text, '}');
    }
    tn_json_close(&text, ']');
    tn_json_close(&text, '}');
    char *copy = text.failed || !text.data ? NULL : strdup(text.data);
    tn_text_deinit(&text);
    return copy;
}
