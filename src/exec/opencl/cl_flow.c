// SPDX-License-Identifier: Apache-2.0
// Compiling and running sub-flows. All memory is taken and all arguments are set when the flow is made: a run uploads, enqueues the
// steps, downloads, waits once.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/cl_flow.h"

#include "exec/opencl/rows/cl_rows.h"
#include "exec/opencl/run/cl_border.h"
#include "exec/opencl/run/cl_slice.h"
#include "exec/opencl/run/cl_store.h"
#include "exec/opencl/run/cl_transfer.h"
#include "exec/opencl/run/cl_watch.h"
#include "exec/opencl/tune/cl_table.h"

#include <stdio.h>
#include <string.h>

// ---- making ----

tn_status tn_cl_build_open(tn_cl_build *b, tn_cl_context *cl, const tn_graph *graph, tn_diag *diag)
{
    memset(b, 0, sizeof *b);
    b->cl = cl;
    b->buffers = cl->buffers_only;
    b->diag = diag;
    tn_text_init(&b->params, cl->base.heap);
    tn_text_init(&b->prologue, cl->base.heap);
    tn_text_init(&b->source, cl->base.heap);
    tn_arena_init(&b->scratch, cl->base.heap);
    b->flow = tn_take_zero(cl->base.heap, 1, sizeof *b->flow);
    if (!b->flow) {
        return b->status = tn_fail_memory(diag, "opencl", sizeof *b->flow);
    }
    b->flow->base.device = &cl->base;
    b->flow->cl = cl;
    b->flow->graph = graph;
    b->flow->rate = 1;
    tn_arena_init(&b->flow->arena, cl->base.heap);
    if (cl->checked) {
        const cl_int zero = 0;
        b->flow->check = tn_cl_upload(b, &zero, sizeof zero);
    }
    return b->status;
}

tn_status tn_cl_build_close(tn_cl_build *b, tn_cl_flow **flow)
{
    if (b->status == TN_OK) {
        (void)tn_cl_memory_assign(b);
    }
    if (b->status == TN_OK && b->cl->driver.Finish(b->cl->queue) != CL_SUCCESS) {
        b->status = tn_fail(b->diag, TN_DEVICE, "opencl", "the device stopped while weights were brought to it");
    }
    if (b->status != TN_OK) {
        tn_cl_flow_release(b->flow);
        b->flow = NULL;
    }
    *flow = b->flow;
    tn_text_deinit(&b->params);
    tn_text_deinit(&b->prologue);
    tn_text_deinit(&b->source);
    tn_arena_deinit(&b->scratch);
    return b->status;
}

static void emit_node(tn_cl_build *b, const tn_node *node)
{
    tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
    const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
    tn_cl_value *values[TN_MAX_IN + TN_MAX_OUT];
    const char *why = NULL;
    const int n = node->n_in + node->n_out;
    for (int i = 0; i < n; i++) {
        const tn_value *value = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        values[i] = tn_cl_value_of(b, value);
        pointers[i] = NULL;
        if (value) {
            tensors[i] = (tn_tensor){.dtype = value->dtype, .shape = value->shape, .data = value->constant ? value->constant->data : NULL};
            pointers[i] = &tensors[i];
        }
    }
    const tn_query query = {.op = node->op, .attr = node->attr, .name = node->name, .n_in = node->n_in, .n_out = node->n_out,
                            .in = pointers, .out = pointers + node->n_in, .cpu = &b->cl->base.cpu, .threads = 1};
    const tn_cl_row *row = tn_cl_row_for(&query, &why);
    b->node = node;
    if (row) {
        row->emit(b, &query, values, values + node->n_in);
    } else {
        b->status = tn_fail(b->diag, TN_INTERNAL, node->name, "was placed on opencl, which refuses it: %s", why ? why : "no kernel");
    }
}

static tn_status add_inputs(tn_cl_build *b)
{
    tn_cl_flow *flow = b->flow;
    const tn_graph *graph = flow->graph;
    flow->in = tn_arena_array(&flow->arena, graph->n_inputs + 1, sizeof *flow->in);
    flow->out = tn_arena_array(&flow->arena, graph->n_outputs + 1, sizeof *flow->out);
    b->values = tn_arena_array(&flow->arena, graph->n_values + 1, sizeof *b->values);
    if (!flow->in || !flow->out || !b->values) {
        return b->status = tn_fail_memory(b->diag, "opencl", graph->n_values * sizeof *b->values);
    }
    for (size_t i = 0; i < graph->n_values; i++) {
        const tn_value *value = graph->values[i];
        if (value) {
            b->values[i] = (tn_cl_value){.value = value, .dtype = value->dtype, .shape = value->shape};
        }
    }
    for (size_t i = 0; i < graph->n_inputs && b->status == TN_OK; i++) {
        const tn_tensor tensor = {.dtype = graph->inputs[i]->dtype, .shape = graph->inputs[i]->shape};
        size_t bytes = 0;
        (void)tn_tensor_bytes(&tensor, &bytes);
        flow->in[i] = b->values[graph->inputs[i]->id].plain = tn_cl_pin_plain(b, bytes);
    }
    return b->status;
}

// Results are read back after the last step, so their blocks stay theirs until then (tn_cl_memory_assign looks at flow->out).
static void add_outputs(tn_cl_build *b)
{
    const tn_graph *graph = b->flow->graph;
    for (size_t i = 0; i < graph->n_outputs && b->status == TN_OK; i++) {
        b->node = NULL;
        b->flow->out[i] = tn_cl_plain(b, tn_cl_value_of(b, graph->outputs[i]));
    }
}

tn_status tn_cl_flow_make(tn_cl_context *cl, const tn_flow_request *request, tn_cl_flow **flow)
{
    return tn_cl_flow_make_wide(cl, request, NULL, flow);
}

tn_status tn_cl_flow_make_wide(tn_cl_context *cl, const tn_flow_request *request, const tn_cl_widths *widths, tn_cl_flow **flow)
{
    tn_cl_build b;
    *flow = NULL;
    if (tn_cl_build_open(&b, cl, request->graph, request->diag) == TN_OK) {
        b.cache = request->cache;
        b.flow->unsaved = request->cache;
        b.flow->slice_ns = request->slice_ns;
        tn_cl_store_choose(&b, request);
        tn_cl_table_load(cl, request->cache);
        tn_cl_watch_open(&b, request, widths);
        if (add_inputs(&b) == TN_OK) {
            tn_cl_plan_views(&b);
        }
        for (const tn_node *node = request->graph->first; node && b.status == TN_OK; node = node->next) {
            emit_node(&b, node);
        }
        if (b.status == TN_OK) {
            add_outputs(&b);
        }
        if (b.status == TN_OK) {
            b.status = tn_cl_borders_make(b.flow, b.diag);
        }
        if (b.status == TN_OK) {
            tn_cl_stage_make(b.flow);
            tn_cl_store_remark(&b, request);
        }
    }
    return tn_cl_build_close(&b, flow);
}

void tn_cl_flow_release(tn_cl_flow *flow)
{
    if (!flow) {
        return;
    }
    tn_heap *heap = flow->cl->base.heap;
    (void)flow->cl->driver.Finish(flow->cl->queue);
    tn_cl_programs_save(flow->cl, flow->unsaved);     // it never ran
    for (tn_cl_step *step = flow->first; step; step = step->next) {
        if (step->event) {
            (void)flow->cl->driver.ReleaseEvent(step->event);
        }
        (void)flow->cl->driver.ReleaseKernel(step->kernel);
    }
    tn_cl_stage_release(flow);
    tn_cl_memory_release(flow);
    tn_arena_deinit(&flow->arena);
    tn_give(heap, flow);
}

// ---- running ----

// A timed run measures on another queue, which begins when the first has sent all operands and ends before results are read.
static tn_status enqueue_all(tn_cl_flow *flow, const tn_flow_run *run, bool timed)
{
    tn_cl_context *cl = flow->cl;
    if (timed && !tn_cl_timing_queue(cl)) {
        return tn_fail(run->diag, TN_DEVICE, "opencl", "the device has no queue that measures");
    }
    TN_TRY(tn_cl_borders_begin(flow, run));
    TN_TRY(tn_cl_send(flow, run));
    cl_int error = timed ? cl->driver.Finish(cl->queue) : CL_SUCCESS;
    if (error == CL_SUCCESS) {
        const tn_status status = tn_cl_run_steps(flow, run, timed);
        error = timed ? cl->driver.Finish(cl->timing) : CL_SUCCESS;
        TN_TRY(status);
    }
    if (error != CL_SUCCESS) {
        return tn_cl_fail(run->diag, "opencl", "to finish", error);
    }
    if (flow->flag) {
        TN_TRY(tn_cl_receive_number(flow, TN_CL_FLAG_SEEN, flow->flag, run->diag));
    }
    TN_TRY(tn_cl_watch_read(flow, run->diag));
    TN_TRY(tn_cl_borders_show(flow, run));
    return tn_cl_receive(flow, run);
}

// An index outside its tensor: said once, then forgotten, so that the next run starts clean.
static tn_status check_flag(tn_cl_flow *flow, tn_diag *diag)
{
    const cl_int zero = 0;
    if (!flow->flag || flow->flag_seen == 0) {
        return TN_OK;
    }
    (void)flow->cl->driver.EnqueueWriteBuffer(flow->cl->queue, flow->flag->handle, CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL);
    return tn_fail(diag, TN_INVALID_ARGUMENT, "opencl", "an index is outside its tensor");
}

static void read_times(tn_cl_flow *flow)
{
    for (tn_cl_step *step = flow->first; step; step = step->next) {
        cl_ulong start = 0, end = 0;
        if (!step->event) {
            continue;
        }
        (void)flow->cl->driver.GetEventProfilingInfo(step->event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
        (void)flow->cl->driver.GetEventProfilingInfo(step->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
        step->nanoseconds = end > start ? end - start : 0;
        (void)flow->cl->driver.ReleaseEvent(step->event);
        step->event = NULL;
    }
}

static tn_status check_writes(tn_cl_flow *flow, tn_diag *diag)
{
    cl_int number = 0;
    const cl_int error = flow->cl->driver.EnqueueReadBuffer(flow->cl->queue, flow->check->handle, CL_TRUE, 0, sizeof number, &number, 0, NULL, NULL);
    const tn_cl_step *step = flow->first;
    for (cl_int i = 1; i < number && step; i++) {
        step = step->next;
    }
    if (error != CL_SUCCESS) {
        return tn_cl_fail(diag, "opencl", "a download", error);
    }
    return number == 0 ? TN_OK : tn_fail(diag, TN_INTERNAL, step ? step->file : "opencl", "step %d wrote outside its grid", (int)number);
}

static tn_status run_flow(tn_cl_flow *flow, const tn_flow_run *run, bool timed)
{
    tn_status status = enqueue_all(flow, run, timed);
    // Host memory must not be touched any more when we return, also after a failure.
    const cl_int error = flow->cl->driver.Finish(flow->cl->queue);
    if (status == TN_OK && error != CL_SUCCESS) {
        status = tn_cl_fail(run->diag, "opencl", "to finish", error);
    }
    if (status == TN_OK) {
        tn_cl_fetch(flow, run);
    }
    tn_cl_borders_end(flow);
    if (status == TN_OK && flow->unsaved) {
        tn_cl_programs_save(flow->cl, flow->unsaved);
        flow->unsaved = NULL;
    }
    if (timed) {
        read_times(flow);
    }
    if (status == TN_OK) {
        status = check_flag(flow, run->diag);
    }
    if (status == TN_OK && flow->check) {
        status = check_writes(flow, run->diag);
    }
    return status;
}

tn_status tn_cl_flow_run(tn_cl_flow *flow, const tn_flow_run *run) { return run_flow(flow, run, false); }

tn_status tn_cl_flow_time(tn_cl_flow *flow, const tn_flow_run *run)
{
    flow->timed = true;
    return run_flow(flow, run, true);
}
