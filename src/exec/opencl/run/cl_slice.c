// SPDX-License-Identifier: Apache-2.0
// Slices and windows. At most two stretches are in the queue: one runs, the next waits, and the host waits for the one before.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/run/cl_slice.h"

#include "ops/op_eval.h"
#include "sys/clock.h"

#include <string.h>

#define WINDOW_NS 20e6        // between looks at cancel and deadline where nobody asked for slices

static int longest_dim(const tn_cl_step *step)
{
    int best = 0;
    size_t most = 0;
    for (int d = 0; d < 3; d++) {
        const size_t groups = step->global[d] / step->local[d];
        if (groups > most) {
            most = groups;
            best = d;
        }
    }
    return best;
}

size_t tn_cl_slice_count(const tn_cl_step *step, double ns, double limit_ns)
{
    const int d = longest_dim(step);
    const size_t groups = step->global[d] / step->local[d];
    const double wanted = limit_ns > 0 ? ns / limit_ns : 0;
    return wanted <= 1 ? 1 : wanted >= (double)groups ? groups : (size_t)wanted + 1;
}

bool tn_cl_slice_at(const tn_cl_step *step, size_t count, size_t index, tn_cl_slice *slice)
{
    const int d = longest_dim(step);
    const size_t groups = step->global[d] / step->local[d], each = TN_CEIL_DIV(groups, count), first = index * each;
    if (first >= groups) {
        return false;
    }
    *slice = (tn_cl_slice){{0, 0, 0}, {step->global[0], step->global[1], step->global[2]}};
    slice->offset[d] = first * step->local[d];
    slice->size[d] = TN_MIN(each, groups - first) * step->local[d];
    return true;
}

double tn_cl_slice_estimate(const tn_cl_facts *facts, const tn_cl_step *step)
{
    const bool conversion = !step->node || strncmp(step->file, "buffer_to", 9) == 0 || strncmp(step->file, "image_to", 8) == 0;
    const int64_t macs = conversion ? 0 : tn_node_macs(step->node);
    double bytes = 0;
    for (int i = 0; i < step->n_args; i++) {
        bytes += step->args[i].mem ? (double)step->args[i].mem->bytes : 0;
    }
    const double compute = macs > 0 ? 2.0 * (double)macs / ((facts->is_cpu ? 2.0 : 20.0) * TN_MAX(facts->units, 1u)) : 0;
    return TN_MAX(compute, bytes / (facts->is_cpu || facts->unified ? 4.0 : 100.0));
}

// ---- the queue ----

typedef struct queue {
    tn_cl_flow *flow;
    const tn_flow_run *run;
    cl_event before;          // end of the stretch before the one that is being filled
    double filled;            // estimated nanoseconds in it
} queue;

static tn_status stop_asked(const tn_flow_run *run)
{
    if (run->cancel && atomic_load(run->cancel)) {
        return tn_fail(run->diag, TN_CANCELLED, "opencl", "the run was cancelled");
    }
    if (run->deadline_ns && tn_clock_ns() > run->deadline_ns) {
        return tn_fail(run->diag, TN_DEADLINE, "opencl", "the deadline passed");
    }
    return TN_OK;
}

// A stretch ends here: wait for the one before it.
static tn_status turn(queue *q, cl_event end)
{
    const tn_cl_driver *driver = &q->flow->cl->driver;
    cl_int error = driver->Flush(q->flow->cl->queue);
    if (q->before) {
        error = error == CL_SUCCESS ? driver->WaitForEvents(1, &q->before) : error;
        (void)driver->ReleaseEvent(q->before);
    }
    q->before = end;
    q->filled = 0;
    return error == CL_SUCCESS ? stop_asked(q->run) : tn_cl_fail(q->run->diag, "opencl", "to wait", error);
}

static double expected(const tn_cl_flow *flow, const tn_cl_step *step)
{
    return step->nanoseconds ? (double)step->nanoseconds : step->estimate * flow->rate;
}

// One step in slices, each a stretch of its own; their times, added up, are the step's for the next run.
static tn_status enqueue_sliced(queue *q, tn_cl_step *step, size_t count)
{
    tn_cl_context *cl = q->flow->cl;
    tn_cl_slice slice;
    const uint64_t begin = tn_clock_ns();
    for (size_t i = 0; tn_cl_slice_at(step, count, i, &slice); i++) {
        cl_event end = NULL;
        const cl_int error = cl->driver.EnqueueNDRangeKernel(cl->queue, step->kernel, 3, slice.offset, slice.size, step->local, 0, NULL, &end);
        if (error != CL_SUCCESS) {
            return tn_cl_fail(q->run->diag, step->node ? step->node->name : step->file, "a kernel", error);
        }
        TN_TRY(turn(q, end));
    }
    step->nanoseconds = tn_clock_ns() - begin;
    if (step->estimate > 0) {
        q->flow->rate = TN_MAX(0.01, TN_MIN(1e3, (double)step->nanoseconds / step->estimate));
    }
    return TN_OK;
}

static tn_status enqueue_whole(queue *q, tn_cl_step *step, bool timed)
{
    const double limit = q->flow->slice_ns ? (double)q->flow->slice_ns : WINDOW_NS;
    q->filled += expected(q->flow, step);
    const bool last = q->filled >= limit && !timed;
    tn_cl_context *cl = q->flow->cl;
    TN_TRY(tn_cl_step_enqueue(cl, timed ? cl->timing : cl->queue, step, timed || last, q->run->diag));
    if (!last) {
        return TN_OK;
    }
    cl_event end = step->event;
    step->event = NULL;
    return turn(q, end);
}

tn_status tn_cl_run_steps(tn_cl_flow *flow, const tn_flow_run *run, bool timed)
{
    queue q = {.flow = flow, .run = run};
    tn_status status = stop_asked(run);
    for (tn_cl_step *step = flow->first; step && status == TN_OK; step = step->next) {
        const size_t count = flow->slice_ns && !timed ? tn_cl_slice_count(step, expected(flow, step), (double)flow->slice_ns) : 1;
        status = count > 1 ? enqueue_sliced(&q, step, count) : enqueue_whole(&q, step, timed);
    }
    if (q.before) {
        (void)flow->cl->driver.ReleaseEvent(q.before);
    }
    return status;
}
