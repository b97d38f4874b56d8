// SPDX-License-Identifier: Apache-2.0
// The block holds all operands, then all results, in the order of the graph, then the flow's own numbers.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/run/cl_transfer.h"

#include "exec/opencl/run/cl_border.h"

#include <string.h>

#define STAGE_LIMIT ((size_t)64 << 20)
#define PART ((size_t)256 << 10)

static size_t place_bytes(const tn_cl_mem *mem) { return mem ? TN_CEIL_DIV(mem->bytes, (size_t)64) * 64 : 0; }

static size_t all_bytes(const tn_cl_flow *flow)
{
    size_t sum = 0;
    for (size_t i = 0; i < flow->graph->n_inputs; i++) {
        sum += place_bytes(flow->in[i]);
    }
    for (size_t i = 0; i < flow->graph->n_outputs; i++) {
        sum += place_bytes(flow->out[i]);
    }
    return sum;
}

void tn_cl_stage_make(tn_cl_flow *flow)
{
    const tn_cl_context *cl = flow->cl;
    cl_int error = CL_SUCCESS;
    const size_t bytes = all_bytes(flow) + TN_CL_NUMBERS * sizeof(cl_int);
    if (cl->facts.unified || cl->facts.is_cpu || bytes > STAGE_LIMIT) {
        return;
    }
    flow->stage = cl->driver.CreateBuffer(cl->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    if (flow->stage) {
        flow->staged = cl->driver.EnqueueMapBuffer(cl->queue, flow->stage, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
    }
    if (!flow->staged) {
        tn_cl_stage_release(flow);
    }
}

void tn_cl_stage_release(tn_cl_flow *flow)
{
    const tn_cl_context *cl = flow->cl;
    if (flow->staged) {
        (void)cl->driver.EnqueueUnmapMemObject(cl->queue, flow->stage, flow->staged, 0, NULL, NULL);
        (void)cl->driver.Finish(cl->queue);
    }
    if (flow->stage) {
        (void)cl->driver.ReleaseMemObject(flow->stage);
    }
    flow->stage = NULL;
    flow->staged = NULL;
}

static bool moves(const tn_cl_mem *mem, const tn_tensor *tensor, size_t *bytes)
{
    return mem && tensor && tn_tensor_bytes(tensor, bytes) && *bytes > 0 && *bytes <= mem->bytes;
}

static cl_int send_one(tn_cl_flow *flow, const tn_cl_mem *mem, const uint8_t *data, size_t bytes, uint8_t *stage)
{
    const tn_cl_driver *driver = &flow->cl->driver;
    if (!stage) {
        return driver->EnqueueWriteBuffer(flow->cl->queue, mem->handle, CL_FALSE, 0, bytes, data, 0, NULL, NULL);
    }
    cl_int error = CL_SUCCESS;
    for (size_t at = 0; at < bytes && error == CL_SUCCESS; at += PART) {
        const size_t part = TN_MIN(PART, bytes - at);
        memcpy(stage + at, data + at, part);
        error = driver->EnqueueWriteBuffer(flow->cl->queue, mem->handle, CL_FALSE, at, part, stage + at, 0, NULL, NULL);
    }
    return error;
}

tn_status tn_cl_send(tn_cl_flow *flow, const tn_flow_run *run)
{
    uint8_t *stage = flow->staged;
    for (size_t i = 0; i < flow->graph->n_inputs; i++) {
        size_t bytes = 0;
        if (moves(flow->in[i], run->in[i], &bytes) && !tn_cl_borrowed(flow, i)) {
            atomic_fetch_add(&flow->cl->copied, bytes);
            const cl_int error = send_one(flow, flow->in[i], run->in[i]->data, bytes, stage);
            if (error != CL_SUCCESS) {
                return tn_cl_fail(run->diag, "opencl", "an upload", error);
            }
        }
        stage += stage ? place_bytes(flow->in[i]) : 0;
    }
    return TN_OK;
}

// Where the results begin in the block.
static uint8_t *results_at(const tn_cl_flow *flow)
{
    uint8_t *stage = flow->staged;
    for (size_t i = 0; stage && i < flow->graph->n_inputs; i++) {
        stage += place_bytes(flow->in[i]);
    }
    return stage;
}

tn_status tn_cl_receive(tn_cl_flow *flow, const tn_flow_run *run)
{
    uint8_t *stage = results_at(flow);
    for (size_t i = 0; i < flow->graph->n_outputs; i++) {
        size_t bytes = 0;
        if (moves(flow->out[i], run->out[i], &bytes) && !tn_cl_borrowed(flow, flow->graph->n_inputs + i)) {
            atomic_fetch_add(&flow->cl->copied, bytes);
            const cl_int error = flow->cl->driver.EnqueueReadBuffer(flow->cl->queue, flow->out[i]->handle, CL_FALSE, 0, bytes,
                                                                    stage ? stage : run->out[i]->data, 0, NULL, NULL);
            if (error != CL_SUCCESS) {
                return tn_cl_fail(run->diag, "opencl", "a download", error);
            }
        }
        stage += stage ? place_bytes(flow->out[i]) : 0;
    }
    return TN_OK;
}

static cl_int *number_of(tn_cl_flow *flow, tn_cl_number which) { return which == TN_CL_OVERFLOW ? &flow->overflow : &flow->flag_seen; }

tn_status tn_cl_receive_number(tn_cl_flow *flow, tn_cl_number which, const tn_cl_mem *mem, tn_diag *diag)
{
    void *to = flow->staged ? (uint8_t *)flow->staged + all_bytes(flow) + which * sizeof(cl_int) : (void *)number_of(flow, which);
    flow->arriving[which] = flow->staged != NULL;
    const cl_int error = flow->cl->driver.EnqueueReadBuffer(flow->cl->queue, mem->handle, CL_FALSE, 0, sizeof(cl_int), to, 0, NULL, NULL);
    return error == CL_SUCCESS ? TN_OK : tn_cl_fail(diag, "opencl", "a download", error);
}

void tn_cl_fetch(tn_cl_flow *flow, const tn_flow_run *run)
{
    const uint8_t *stage = results_at(flow);
    for (size_t i = 0; stage && i < flow->graph->n_outputs; i++) {
        size_t bytes = 0;
        if (moves(flow->out[i], run->out[i], &bytes) && !tn_cl_borrowed(flow, flow->graph->n_inputs + i)) {
            memcpy(run->out[i]->data, stage, bytes);
        }
        stage += place_bytes(flow->out[i]);
    }
    for (int which = 0; which < TN_CL_NUMBERS; which++) {
        if (flow->arriving[which]) {
            memcpy(number_of(flow, (tn_cl_number)which), (const uint8_t *)flow->staged + all_bytes(flow) + (size_t)which * sizeof(cl_int), sizeof(cl_int));
        }
        flow->arriving[which] = false;
    }
}
