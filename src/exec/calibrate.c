// SPDX-License-Identifier: Apache-2.0
// Calibration (calibrate.h). Values that fusion would swallow must survive, so they become results; some at a time, because all
// of them together may be many times what a run needs.
// Ownership: see calibrate.h. Threads: see calibrate.h.
#include "exec/calibrate.h"

#include "ir/edit.h"
#include "pass/quantise/roles.h"

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

// Room for the greatest of each channel, for values that are pictures; without it they are quantised as a whole.
static int64_t take_peaks(tn_range *range, const tn_tensor *tensor, tn_heap *heap)
{
    const int64_t channels = tensor->shape.rank >= 3 ? tensor->shape.dims[1] : 0;
    if (!heap || channels < 2 || (range->peaks && range->channels != channels)) {
        return 0;
    }
    if (!range->peaks) {
        range->peaks = tn_take_zero(heap, (size_t)channels, sizeof *range->peaks);
        range->channels = range->peaks ? channels : 0;
    }
    return range->channels;
}

// Widens a range by a tensor, and its peaks where there is a heap for them: runs of elements of one channel, or all of them.
static void widen(tn_range *range, const tn_tensor *tensor, tn_heap *heap)
{
    const float *data = tensor->data;
    const int64_t count = tn_tensor_count(tensor);
    const int64_t channels = count ? take_peaks(range, tensor, heap) : 0;
    const int64_t length = channels ? tn_shape_span(&tensor->shape, 2, tensor->shape.rank) : count;
    for (int64_t run = 0; run * length < count; run++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = run * length; i < (run + 1) * length; i++) {
            if (isfinite(data[i])) {
                low = fminf(low, data[i]);
                high = fmaxf(high, data[i]);
            }
            range->bottomless = range->bottomless || data[i] == -INFINITY;
            range->broken = range->broken || isnan(data[i]) || data[i] == INFINITY;
        }
        if (low > high) {
            continue;
        }
        range->low = range->seen ? fminf(range->low, low) : low;
        range->high = range->seen ? fmaxf(range->high, high) : high;
        range->seen = true;
        if (channels) {
            float *peak = &range->peaks[run % channels];
            *peak = fmaxf(*peak, fmaxf(fabsf(low), fabsf(high)));
        }
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
            widen(&c->ranges[ids[i]], &results[i].tensor, c->context.heap);
        }
        tn_arena_deinit(&objects);
        tn_arena_init(&objects, c->context.heap);
    }
    tn_program_destroy(program);
    tn_arena_deinit(&objects);
    tn_give(c->context.heap, results);
    return status;
}

// What is needed to run on the CPU in float32, or with quantised arithmetic as written.
static void plain_context(tn_plan_context *context)
{
    context->device = NULL;
    context->precision = "fp32";
    context->memory = NULL;
    context->arenas = NULL;
    context->strict = 0;
    context->limit_peak = 0;     // all watched values are results of one run
    context->limit_work = UINT64_MAX;
    context->log = NULL;         // which kernels it took is of no interest
}

tn_status tn_calibrate(const tn_graph *graph, const tn_plan_context *context, tn_workers *workers, const tn_tensor *samples, size_t n_samples,
                       tn_range *ranges, tn_diag *diag)
{
    calibration c = {.graph = graph, .context = *context, .workers = workers, .samples = samples, .n_samples = n_samples, .ranges = ranges,
                     .diag = diag};
    tn_device *const cpu = context->devices[context->n_devices - 1];
    c.context.devices = &cpu;
    c.context.n_devices = 1;
    plain_context(&c.context);
    uint32_t ids[AT_A_TIME];
    size_t count = 0;
    for (size_t i = 0; i <= graph->n_values; i++) {
        const tn_value *value = i < graph->n_values ? graph->values[i] : NULL;
        if (value && !value->is_input && tn_has_scale(value)) {
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
        for (size_t s = 0; s < n_samples && tn_has_scale(graph->inputs[i]); s++) {
            widen(&ranges[graph->inputs[i]->id], &samples[s * graph->n_inputs + i], NULL);
        }
    }
    return TN_OK;
}

void tn_ranges_free(tn_range *ranges, size_t count, tn_heap *heap)
{
    for (size_t i = 0; ranges && i < count; i++) {
        tn_give(heap, ranges[i].peaks);
    }
    tn_give(heap, ranges);
}

// The greatest difference of two results as a part of what the first one spans; 0 for what is not float32.
static double difference(const tn_tensor *a, const tn_tensor *b)
{
    const float *u = a->data, *v = b->data;
    const int64_t count = tn_tensor_count(a);
    float low = INFINITY, high = -INFINITY, most = 0;
    if (a->dtype != TN_F32 || b->dtype != TN_F32 || tn_tensor_count(b) != count) {
        return 0;
    }
    for (int64_t i = 0; i < count; i++) {
        if (isfinite(u[i]) && isfinite(v[i])) {
            low = fminf(low, u[i]);
            high = fmaxf(high, u[i]);
            most = fmaxf(most, fabsf(u[i] - v[i]));
        }
    }
    return high > low ? (double)most / ((double)high - (double)low) : 0;
}

tn_status tn_quantised_error(const tn_graph *const graphs[2], const tn_plan_context *context, tn_workers *workers, const tn_tensor *samples,
                             size_t n_samples, double *error, tn_diag *diag)
{
    const size_t n_in = graphs[0]->n_inputs, n_out = graphs[0]->n_outputs;
    tn_plan_context plain = *context;
    tn_device *const cpu = context->devices[context->n_devices - 1];
    tn_program *programs[2] = {NULL, NULL};
    tn_result_slot *results = tn_take_zero(context->heap, 2 * n_out + 1, sizeof *results);
    tn_arena objects;
    tn_arena_init(&objects, context->heap);
    plain_context(&plain);
    plain.devices = &cpu;
    plain.n_devices = 1;
    *error = 0;
    tn_status status = results ? TN_OK : tn_fail_memory(diag, "calibration", n_out);
    for (int k = 0; k < 2 && status == TN_OK; k++) {
        status = tn_program_create(&programs[k], graphs[k], &plain, 1, diag);
    }
    tn_run run = {.context = &plain, .workers = workers, .diag = diag, .objects = &objects};
    for (size_t s = 0; s < n_samples && status == TN_OK; s++) {
        for (int k = 0; k < 2 && status == TN_OK; k++) {
            status = tn_program_run(programs[k], &run, samples + s * n_in, results + (size_t)k * n_out);
        }
        for (size_t i = 0; i < n_out && status == TN_OK; i++) {
            *error = fmax(*error, difference(&results[i].tensor, &results[n_out + i].tensor));
        }
        tn_arena_deinit(&objects);
        tn_arena_init(&objects, context->heap);
    }
    tn_program_destroy(programs[0]);
    tn_program_destroy(programs[1]);
    tn_arena_deinit(&objects);
    tn_give(context->heap, results);
    return status;
}
