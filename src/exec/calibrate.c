// SPDX-License-Identifier: Apache-2.0
// Calibration (calibrate.h). Values that fusion would swallow must survive, so they become results; some at a time, because all
// of them together may be many times what a run needs.
// Ownership: see calibrate.h. Threads: see calibrate.h.
#include "exec/calibrate.h"

#include "ir/edit.h"

#include <math.h>
#include <string.h>

#define AT_A_TIME 48     // values watched in one pass over the samples

typedef struct calibration {
    const tn_graph *graph;
    tn_plan_context context;
    tn_workers *workers;
    const tn_tensor *samples;
    size_t n_samples;
    tn_range *ranges;
    tn_diag *diag;
} calibration;

static void widen(tn_range *range, const tn_tensor *tensor)
{
    const float *data = tensor->data;
    const int64_t count = tn_tensor_count(tensor);
    float low = range->seen ? range->low : INFINITY, high = range->seen ? range->high : -INFINITY;
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(data[i])) {
            low = fminf(low, data[i]);
            high = fmaxf(high, data[i]);
        }
    }
    if (low <= high) {
        *range = (tn_range){.low = low, .high = high, .seen = true};
    }
}

// The graph with these values as its results, in their order.
static tn_graph *watching(const calibration *c, const uint32_t *ids, size_t count)
{
    tn_value **map = tn_take_zero(c->context.heap, c->graph->n_values + 1, sizeof *map);
    tn_graph *graph = map ? tn_graph_clone(c->graph, c->context.heap, map) : NULL;
    bool good = graph != NULL;
    for (size_t i = 0; good && i < graph->n_outputs; i++) {
        graph->outputs[i]->is_output = false;
    }
    if (good) {
        graph->n_outputs = 0;
    }
    for (size_t i = 0; good && i < count; i++) {
        good = tn_graph_add_output(graph, map[ids[i]]) == TN_OK;
    }
    tn_give(c->context.heap, map);
    if (!good) {
        tn_graph_destroy(graph);
        graph = NULL;
    }
    return graph;
}

static tn_status run_samples(calibration *c, const tn_graph *graph, const uint32_t *ids, size_t count)
{
    tn_program *program = NULL;
    tn_result_slot *results = tn_take_zero(c->context.heap, count + 1, sizeof *results);
    tn_arena objects;
    tn_arena_init(&objects, c->context.heap);
    tn_status status = results ? tn_program_create(&program, graph, &c->context, 1, c->diag) : tn_fail_memory(c->diag, "calibration", count);
    tn_run run = {.context = &c->context, .workers = c->workers, .diag = c->diag, .objects = &objects};
    for (size_t s = 0; s < c->n_samples && status == TN_OK; s++) {
        status = tn_program_run(program, &run, c->samples + s * c->graph->n_inputs, results);
        for (size_t i = 0; i < count && status == TN_OK; i++) {
            widen(&c->ranges[ids[i]], &results[i].tensor);
        }
        tn_arena_deinit(&objects);
        tn_arena_init(&objects, c->context.heap);
    }
    tn_program_destroy(program);
    tn_arena_deinit(&objects);
    tn_give(c->context.heap, results);
    return status;
}

tn_status tn_calibrate(const tn_graph *graph, const tn_plan_context *context, tn_workers *workers, const tn_tensor *samples, size_t n_samples,
                       tn_range *ranges, tn_diag *diag)
{
    calibration c = {.graph = graph, .context = *context, .workers = workers, .samples = samples, .n_samples = n_samples, .ranges = ranges,
                     .diag = diag};
    tn_device *const cpu = context->devices[context->n_devices - 1];
    c.context.devices = &cpu;
    c.context.n_devices = 1;
    c.context.device = NULL;
    c.context.precision = "fp32";
    c.context.memory = NULL;
    c.context.arenas = NULL;
    c.context.strict = 0;
    c.context.limit_peak = 0;     // all watched values are results of one run
    c.context.limit_work = UINT64_MAX;
    uint32_t ids[AT_A_TIME];
    size_t count = 0;
    for (size_t i = 0; i <= graph->n_values; i++) {
        const tn_value *value = i < graph->n_values ? graph->values[i] : NULL;
        if (value && !value->is_input && tn_quantise_wants(graph, value)) {
            ids[count++] = value->id;
        }
        if (count == AT_A_TIME || (i == graph->n_values && count)) {
            tn_graph *watched = watching(&c, ids, count);
            const tn_status status = watched ? run_samples(&c, watched, ids, count) : tn_fail_memory(diag, "calibration", count);
            tn_graph_destroy(watched);
            TN_TRY(status);
            count = 0;
        }
    }
    for (size_t i = 0; i < graph->n_inputs; i++) {
        for (size_t s = 0; s < n_samples && tn_quantise_wants(graph, graph->inputs[i]); s++) {
            widen(&ranges[graph->inputs[i]->id], &samples[s * graph->n_inputs + i]);
        }
    }
    return TN_OK;
}
