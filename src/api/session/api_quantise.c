// SPDX-License-Identifier: Apache-2.0
// Sessions of precision int8: the model's graph is quantised once, by the ranges that the caller's sample inputs have in it.
#include "api/api.h"

#include "base/num.h"
#include "exec/calibrate.h"
#include "ops/op_facts.h"
#include "ops/quant/op_qlinear.h"
#include "ops/quant/requantise.h"

#include <string.h>

#define MAX_SAMPLES 100000
#define CHECKED_SAMPLES 4         // of which the results are compared
#define MAX_ERROR 0.1             // of a result's span: above it some values get 16 bits
#define WIDE_ERROR 0.05           // which: so many that the error is not above this

static tn_status take_tensor(const tn_value *input, const tenon_tensor *given, tn_tensor *out, tn_diag *diag)
{
    size_t bytes;
    tn_shape joined;
    if (input->kind != TN_KIND_TENSOR || given->kind != TENON_KIND_TENSOR || (tn_dtype)given->dtype != input->dtype || given->rank < 0 ||
        given->rank > TN_MAX_RANK) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, input->name, "a sample of another type than the input's");
    }
    *out = (tn_tensor){.dtype = input->dtype, .shape = tn_shape_of(given->rank, given->dims), .data = given->data};
    for (int d = 0; d < given->rank; d++) {
        if (given->dims[d] < 0) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, input->name, "a sample with a negative dim");
        }
    }
    if (!tn_shape_join(&input->shape, &out->shape, &joined) || !tn_tensor_bytes(out, &bytes) || bytes != given->bytes ||
        (bytes && !given->data)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, input->name, "a sample whose shape or size does not fit the input");
    }
    const size_t size = TN_MIN(tn_dtype_bytes(input->dtype), (size_t)8);
    if (size && (uintptr_t)given->data % size) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, input->name, "the bytes of a sample must be aligned to its element");
    }
    return TN_OK;
}

// One row of tensors for each sample, in the order of the graph's inputs.
static tn_status take_samples(const tn_graph *graph, const tenon_session_options *options, tn_tensor *samples, tn_diag *diag)
{
    for (size_t s = 0; s < options->calibration_count; s++) {
        const tenon_sample *sample = &options->calibration[s];
        if (!sample->names || !sample->tensors) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, "calibration", "sample %zu names no inputs", s);
        }
        for (size_t i = 0; i < graph->n_inputs; i++) {
            size_t at = 0;
            while (at < sample->count && (!sample->names[at] || strcmp(sample->names[at], graph->inputs[i]->name) != 0)) {
                at++;
            }
            if (at == sample->count) {
                return tn_fail(diag, TN_INVALID_ARGUMENT, graph->inputs[i]->name, "sample %zu lacks this input", s);
            }
            TN_TRY(take_tensor(graph->inputs[i], &sample->tensors[at], &samples[s * graph->n_inputs + i], diag));
        }
    }
    return TN_OK;
}

// Quantised without a dequantise_linear: operators on bytes, as some exporters write them, or nothing that is computed is a float. Then
// there is nothing to quantise.
static bool is_on_bytes(const tn_graph *graph)
{
    bool floats = false;
    for (const tn_node *node = graph->first; node; node = node->next) {
        if (strncmp(node->op->name, "qlinear_", strlen("qlinear_")) == 0 || node->op == &tn_op_matmul_integer || node->op == &tn_op_conv_integer) {
            return true;
        }
        floats = floats || node->n_bodies;
        for (int i = 0; i < node->n_out; i++) {
            floats = floats || (node->out[i] && tn_dtype_is_float(node->out[i]->dtype));
        }
    }
    return !floats;
}

// Integers have no NaN and no infinity: results would look right that are none.
static void check_numbers(const tenon_session *session, const tn_graph *graph, const tn_range *ranges)
{
    const tn_value *first = NULL;
    tn_diag note = {0};
    size_t count = 0;
    for (size_t i = 0; i < graph->n_values; i++) {
        if (graph->values[i] && ranges[i].broken) {
            first = first ? first : graph->values[i];
            count++;
        }
    }
    if (first) {
        (void)tn_fail(&note, TN_OK, "calibration",
                      "the sample inputs make NaN or infinity of '%s' (and of %zu other values), which integers cannot hold: ranges leave them out, and "
                      "results in int8 do not show them", first->name ? first->name : "a value without a name", count - 1);
        tn_api_warn(session, &note);
    }
}

// The results of the widths that were chosen, measured again: the aim may be out of reach.
static tn_status check_aim(const tenon_session *session, const tn_graph *graph, tn_pass_context *passes, const tn_range *ranges, const bool *wide,
                           const tn_tensor *samples, size_t n_samples, tn_diag *diag)
{
    tn_graph *chosen;
    tn_diag note = {0};
    double error = 0;
    TN_TRY(tn_quantised_copy(graph, passes, ranges, wide, &chosen));
    const tn_graph *const both[2] = {graph, chosen};
    const tn_status status = tn_quantised_error(both, &session->context, session->workers, samples, n_samples, &error, diag);
    tn_graph_destroy(chosen);
    if (status == TN_OK && error > WIDE_ERROR) {
        (void)tn_fail(&note, TN_OK, "calibration", "quantised results of the samples are up to %.2g of their span off the float32 ones, more than the %g "
                      "aimed at, with 16 bits as well: look at what the model makes of it, or run it in another precision", error, WIDE_ERROR);
        tn_api_warn(session, &note);
    }
    return status;
}

tn_status tn_api_quantise(tenon_session *session, const tenon_session_options *options, tn_diag *diag)
{
    tenon_model *model = session->model;
    const size_t n = options->calibration_count;
    tn_status status = TN_OK;
    if (n == 0 && is_on_bytes(model->import.graph)) {
        session->integers = model->integers;
        return TN_OK;
    }
    if (!options->calibration || n == 0 || n > MAX_SAMPLES) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "calibration", "precision int8 needs 1 to %d sample inputs to know the ranges of values: "
                       "the model has no quantised products of its own", MAX_SAMPLES);
    }
    tn_pass_context passes = {.heap = session->heap, .diag = diag, .limit_tensor_bytes = model->limit_tensor, .rounding = TN_ROUND_FIXED_Q31};
    tn_graph *graph = tn_graph_clone(model->import.graph, session->heap, NULL);
    tn_tensor *samples = graph ? tn_take_zero(session->heap, n * graph->n_inputs + 1, sizeof *samples) : NULL;
    tn_range *ranges = NULL;
    tn_graph *narrow = NULL;
    bool *wide = NULL;
    const size_t checked = TN_MIN(n, (size_t)CHECKED_SAMPLES);
    size_t n_ranges = 0;
    double error;
    if (!graph || !samples) {
        status = tn_fail_memory(diag, "calibration", n * sizeof *samples);
        goto done;
    }
    // As far as batch norms are in their convolutions and functions are one operator, but no activation is swallowed yet.
    TN_GO(tn_optimise(graph, &passes, "fuse_affine"));
    TN_GO(tn_quantise_prepare(graph, &passes));
    TN_GO(take_samples(graph, options, samples, diag));
    n_ranges = graph->n_values;
    ranges = tn_take_zero(session->heap, n_ranges + 1, sizeof *ranges);
    if (!ranges) {
        status = tn_fail_memory(diag, "calibration", graph->n_values * sizeof *ranges);
        goto done;
    }
    TN_GO(tn_calibrate(graph, &session->context, session->workers, samples, n, ranges, diag));
    check_numbers(session, graph, ranges);
    // Eight bits where they are enough: what they do to the results is measured on the samples.
    TN_GO(tn_quantised_copy(graph, &passes, ranges, NULL, &narrow));
    const tn_graph *const both[2] = {graph, narrow};
    TN_GO(tn_quantised_error(both, &session->context, session->workers, samples, checked, &error, diag));
    if (error > MAX_ERROR) {
        wide = tn_take_zero(session->heap, tn_quantise_count(graph) + 1, sizeof *wide);
        status = wide ? tn_choose_widths(graph, &passes, &session->context, session->workers, samples, checked, ranges, WIDE_ERROR, wide)
                      : tn_fail_memory(diag, "calibration", graph->n_values);
        TN_GO(status);
        TN_GO(check_aim(session, graph, &passes, ranges, wide, samples, checked, diag));
    }
    TN_GO(tn_quantise_graph(graph, &passes, ranges, wide));
    TN_GO(tn_optimise(graph, &passes, NULL));
    session->quantised = graph;
    graph = NULL;
done:
    tn_give(session->heap, samples);
    tn_ranges_free(ranges, n_ranges, session->heap);
    tn_give(session->heap, wide);
    tn_graph_destroy(narrow);
    tn_graph_destroy(graph);
    return status;
}
