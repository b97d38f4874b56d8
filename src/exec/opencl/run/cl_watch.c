// SPDX-License-Identifier: Apache-2.0
// The buffer `watch` holds one int for "somewhere" and then one for each value of the graph.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/run/cl_watch.h"

#include "base/num.h"
#include "exec/opencl/cl_flow.h"
#include "exec/opencl/run/cl_transfer.h"

#include <string.h>

#define HALF_MAX 65504.0
// Values that come near the border are kept in f32 too, so that the next input does not lead to the next flow.
#define NEAR_MAX (HALF_MAX / 2)
// Transforms of filters (Winograd) make numbers of up to 2.25 times the largest weight.
#define WEIGHT_MAX (HALF_MAX / 4)
// Smaller filters (depthwise ones, most of all) stay in f32: halves would save next to nothing, and their rounding is what hurts most, as each
// number of them goes into every pixel and few are added up (ppocrv4_det: 19 % of the span with all as halves, 3.6 % with those from 16384
// numbers on, 1.6 % with these; they are 60 % of its filters' bytes).
#define SMALL_WEIGHT 65536
// What is noted of a value: a store beyond the limit; a sum in halves that is not finite.
#define SEEN_STORE 1
#define SEEN_SUM 2
#define SEEN_SUM_TEXT "2"

static size_t n_watched(const tn_cl_flow *flow) { return flow->graph->n_values + 1; }

void tn_cl_watch_open(tn_cl_build *b, const tn_flow_request *request, const tn_cl_widths *widths)
{
    tn_cl_flow *flow = b->flow;
    const size_t n = n_watched(flow);
    const bool pure = request->precision && strcmp(request->precision, "fp16_pure") == 0;
    if (b->status != TN_OK || !request->precision || (!pure && strcmp(request->precision, "fp16") != 0)) {
        return;
    }
    cl_int *zeros = tn_arena_array(&flow->arena, n, sizeof *zeros);
    flow->wide = tn_arena_array(&flow->arena, n, 1);
    if (!zeros || !flow->wide) {
        b->status = tn_fail_memory(b->diag, "opencl", n * sizeof *zeros);
        return;
    }
    flow->watch = tn_cl_upload(b, zeros, n * sizeof *zeros);
    flow->zeros = zeros;
    flow->request = *request;
    flow->request.diag = NULL;
    flow->request.listener = NULL;
    b->half = !widths || !widths->all;
    b->halves = b->half && pure && b->cl->halves;
    flow->halves = pure && b->cl->halves;
    b->watch_all = !b->half;
    b->watch_limit = b->watch_all ? NEAR_MAX : HALF_MAX;
    b->listener = widths ? NULL : request->listener;
    if (widths) {
        memcpy(flow->wide, widths->wide, n);
    } else {
        tn_cl_gain_mark(flow->graph, flow->wide);
    }
    if (pure && !b->cl->halves && b->listener && flow->graph->first) {
        b->status = b->listener->precision(b->listener->context, flow->graph->first, "and the nodes with it are computed in fp32 on halves: the device has "
                                           "no cl_khr_fp16", b->diag);
    }
}

// ---- constants ----

static bool fits(const void *data, size_t count, double limit)
{
    float most = 0;
    for (size_t i = 0; i < count; i++) {
        const float v = tn_load_f32(data, i), size = v < 0 ? -v : v;
        most = size > most && size <= 3.402823466e38f ? size : most;      // infinity is a half too
    }
    return (double)most <= limit;
}

static void tell_constant(tn_cl_build *b)
{
    if (b->listener && b->node && b->status == TN_OK) {
        b->status = b->listener->precision(b->listener->context, b->node, "keeps constants in fp32: they leave the range of fp16", b->diag);
    }
}

bool tn_cl_watch_value(tn_cl_build *b, const tn_cl_value *value)
{
    const tn_tensor *constant = value->value->constant;
    int64_t count = 0;
    if (!b->half) {
        return false;
    }
    unsigned char *wide = &b->flow->wide[value->value->id];
    if (constant && !*wide && tn_shape_count(&value->shape, &count) && !fits(constant->data, (size_t)count, HALF_MAX)) {
        *wide = 1;
        tell_constant(b);
    }
    return !*wide;
}

bool tn_cl_watch_weight(tn_cl_build *b, const void *data, size_t count, size_t filters)
{
    if (!b->half || (count < SMALL_WEIGHT && !b->halves)) {
        return false;
    }
    if (!fits(data, count, WEIGHT_MAX)) {
        tell_constant(b);
        return false;
    }
    return !tn_cl_gain_is_large(data, count, filters);
}

// A grid that holds no value of the graph is a step on the way to the result of its node.
static const tn_value *result_of(const tn_cl_build *b) { return b->node && b->node->n_out ? b->node->out[0] : NULL; }

tn_cl_element tn_cl_float(const tn_cl_build *b)
{
    const tn_value *result = result_of(b);
    return b->half && (!result || !b->flow->wide[result->id]) ? TN_CL_F16 : TN_CL_F32;
}

// ---- stores ----

bool tn_cl_watches(const tn_cl_build *b, const tn_cl_mem *mem)
{
    return b->flow->watch && !b->once && (mem->watch || result_of(b)) &&
           (mem->element == TN_CL_F16 || (b->watch_all && mem->element == TN_CL_F32));
}

void tn_cl_watch_store(tn_cl_build *b, const char *name, const tn_cl_mem *mem)
{
    char seen[48];
    if (!b->step->watched) {
        b->step->watched = true;
        tn_cl_out(b, "int", "watch", b->flow->watch);
    }
    size_t used = 0;
    for (; name[used] && used < 40; used++) {
        seen[used] = name[used];
    }
    memcpy(seen + used, "_seen", 6);
    tn_cl_int(b, seen, mem->watch ? mem->watch : (int64_t)result_of(b)->id + 1);
    // Where a sum of halves may have made an infinity, the run in f32 tells which values are none: they stay in f32.
    const bool all = b->watch_all && b->flow->halves;
    tn_cl_code(b, "#define %s_WRITE(px, py, v) do { const float4 stored_ = (v); if (any(%s(fabs(stored_) %s %.1ff)%s)) "
                  "watch[0] = watch[%s] = %d; %s_STORE(px, py, stored_); } while (0)\n", name, all ? "~" : "", all ? "<=" : ">", b->watch_limit,
               all ? "" : " & isfinite(stored_)", seen, SEEN_STORE, name);
}

const char *tn_cl_watch_sum(const tn_cl_build *b)
{
    return b->status == TN_OK && b->step->halves ? "if (any(~isfinite(v_))) watch[0] = watch[Y_seen] = " SEEN_SUM_TEXT "; " : "";
}

tn_status tn_cl_watch_read(tn_cl_flow *flow, tn_diag *diag)
{
    flow->overflow = 0;
    if (!flow->watch) {
        return TN_OK;
    }
    return tn_cl_receive_number(flow, TN_CL_OVERFLOW, flow->watch, diag);
}

// ---- making the flow again ----

static tn_status run_once(tn_cl_flow *flow, const tn_flow_run *run) { return (run->timed ? tn_cl_flow_time : tn_cl_flow_run)(flow, run); }

// A sum that is not finite, while an operand of its node was noted as well: that one is the cause.
static bool follows(const tn_value *value, const cl_int *seen)
{
    const tn_node *node = value ? value->producer : NULL;
    bool caused = false;
    for (int i = 0; node && i < node->n_in; i++) {
        caused = caused || (node->in[i] && seen[node->in[i]->id + 1]);
    }
    return caused && seen[value->id + 1] == SEEN_SUM;
}

// Adds the values that the flow has noted.
static tn_status gather(const tn_cl_flow *flow, cl_int *seen, unsigned char *wide, tn_diag *diag)
{
    const size_t n = n_watched(flow);
    const cl_int error = flow->cl->driver.EnqueueReadBuffer(flow->cl->queue, flow->watch->handle, CL_TRUE, 0, n * sizeof *seen, seen, 0, NULL, NULL);
    if (error != CL_SUCCESS) {
        return tn_cl_fail(diag, "opencl", "a download", error);
    }
    for (size_t i = 0; i + 1 < n; i++) {
        wide[i] = wide[i] || (seen[i + 1] && !follows(flow->graph->values[i], seen));
    }
    return TN_OK;
}

static tn_status gather_in_f32(tn_cl_flow *flow, const tn_flow_run *run, const tn_flow_request *request, cl_int *seen, unsigned char *wide)
{
    tn_cl_flow *all = NULL;
    const tn_cl_widths widths = {wide, true};
    tn_status status = tn_cl_flow_make_wide(flow->cl, request, &widths, &all);
    if (status == TN_OK) {
        status = tn_cl_flow_run(all, run);
    }
    if (status == TN_OK) {
        status = gather(all, seen, wide, run->diag);
    }
    tn_cl_flow_release(all);
    return status;
}

static tn_status tell_values(const tn_cl_flow *flow, const tn_flow_run *run, const unsigned char *wide, size_t *added)
{
    for (size_t i = 0; i < flow->graph->n_values; i++) {
        const tn_value *value = flow->graph->values[i];
        if (!value || !wide[i] || flow->wide[i]) {
            continue;
        }
        const tn_node *node = value->producer ? value->producer : value->n_uses ? value->uses[0].node : NULL;
        ++*added;
        if (run->listener && node) {
            TN_TRY(run->listener->precision(run->listener->context, node, value->producer ? "is kept in fp32: its values leave the range of fp16"
                                            : "has its operand kept in fp32: its values leave the range of fp16", run->diag));
        }
    }
    return TN_OK;
}

static tn_status widen(tn_cl_flow *flow, const tn_flow_run *run)
{
    tn_heap *heap = flow->cl->base.heap;
    const size_t n = n_watched(flow);
    cl_int *seen = tn_take_zero(heap, n, sizeof *seen);
    unsigned char *wide = tn_take_zero(heap, n, 1);
    tn_flow_request request = flow->request;
    tn_cl_flow *fresh = NULL;
    size_t added = 0;
    tn_status status = TN_OK;
    request.diag = run->diag;
    if (!seen || !wide) {
        status = tn_fail_memory(run->diag, "opencl", n * sizeof *seen);
        goto done;
    }
    memcpy(wide, flow->wide, n);
    TN_GO(gather(flow, seen, wide, run->diag));
    TN_GO(gather_in_f32(flow, run, &request, seen, wide));
    TN_GO(tell_values(flow, run, wide, &added));
    if (!added) {
        status = tn_fail(run->diag, TN_INTERNAL, "opencl", "a value kept in fp32 overflowed as a half");
        goto done;
    }
    const tn_cl_widths widths = {wide, false};
    TN_GO(tn_cl_flow_make_wide(flow->cl, &request, &widths, &fresh));
    const tn_cl_flow old = *flow;
    *flow = *fresh;                   // the plan keeps the address
    *fresh = old;
done:
    tn_cl_flow_release(fresh);
    tn_give(heap, wide);
    tn_give(heap, seen);
    return status;
}

// What a run that was refused or ended early has noted is not the next one's.
static tn_status forget(tn_cl_flow *flow, tn_diag *diag)
{
    if (flow->watch && flow->watch_old) {
        const cl_int error = flow->cl->driver.EnqueueWriteBuffer(flow->cl->queue, flow->watch->handle, CL_TRUE, 0,
                                                                 n_watched(flow) * sizeof *flow->zeros, flow->zeros, 0, NULL, NULL);
        if (error != CL_SUCCESS) {
            return tn_cl_fail(diag, "opencl", "an upload", error);
        }
    }
    flow->watch_old = true;
    return TN_OK;
}

tn_status tn_cl_watched_run(tn_cl_flow *flow, const tn_flow_run *run)
{
    TN_TRY(forget(flow, run->diag));
    TN_TRY(run_once(flow, run));
    while (flow->watch && flow->overflow) {
        TN_TRY(widen(flow, run));
        TN_TRY(run_once(flow, run));
    }
    flow->watch_old = false;
    return TN_OK;
}
