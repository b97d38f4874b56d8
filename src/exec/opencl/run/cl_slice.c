// SPDX-License-Identifier: Apache-2.0
// Slices and windows. At most two stretches are in the queue: one runs, the next waits, and the host waits for the one before.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/run/cl_slice.h"

#include "ops/op_eval.h"

#include <math.h>
#include <string.h>

#define CALLED_NS 2000000     // longest stretch of a run that may be cancelled or has a deadline, where nobody asked for shorter ones
#define CALM 64               // slices that keep their time before a larger one is tried that did not
#define CAUTION 8.0           // how much longer than expected a kernel may take that was never measured

// The dims of a step by their number of groups: the longest first.
static void sort_dims(const tn_cl_step *step, int dim[3], size_t groups[3])
{
    for (int d = 0; d < 3; d++) {
        const size_t n = step->global[d] / step->local[d];
        int at = d;
        for (; at > 0 && groups[at - 1] < n; at--) {
            dim[at] = dim[at - 1];
            groups[at] = groups[at - 1];
        }
        dim[at] = d;
        groups[at] = n;
    }
}

size_t tn_cl_slice_groups(const tn_cl_step *step)
{
    size_t n = 1;
    for (int d = 0; d < 3; d++) {
        n *= step->global[d] / step->local[d];
    }
    return n;
}

static size_t fitting(double each_ns, double limit_ns, size_t most)
{
    const double n = each_ns > 0 ? limit_ns / each_ns : (double)most;
    return n >= (double)most ? most : n < 1 ? 1 : (size_t)n;
}

size_t tn_cl_slice_next(const tn_cl_step *step, tn_cl_cut *at, double group_ns, double limit_ns, tn_cl_slice *slice)
{
    int dim[3];
    size_t groups[3];
    sort_dims(step, dim, groups);
    if (at->row >= groups[0]) {
        return 0;
    }
    const double part_ns = group_ns * (double)groups[2], row_ns = part_ns * (double)groups[1];
    *slice = (tn_cl_slice){{0, 0, 0}, {step->global[0], step->global[1], step->global[2]}};
    size_t rows = 1, parts = groups[1];
    slice->offset[dim[0]] = at->row * step->local[dim[0]];
    if (at->part == 0 && row_ns <= limit_ns) {
        rows = fitting(row_ns, limit_ns, groups[0] - at->row);
        at->row += rows;
    } else {
        parts = fitting(part_ns, limit_ns, groups[1] - at->part);
        slice->offset[dim[1]] = at->part * step->local[dim[1]];
        slice->size[dim[1]] = parts * step->local[dim[1]];
        at->part += parts;
        at->row += at->part == groups[1];
        at->part = at->part == groups[1] ? 0 : at->part;
    }
    slice->size[dim[0]] = rows * step->local[dim[0]];
    return rows * parts * groups[2];
}

static double products(const tn_node *node)
{
    const int64_t macs = node ? tn_node_macs(node) : 0;
    return macs > 0 ? (double)macs : 0;
}

double tn_cl_slice_estimate(const tn_cl_facts *facts, const tn_cl_step *step)
{
    const bool conversion = !step->node || strncmp(step->file, "buffer_to", 9) == 0 || strncmp(step->file, "image_to", 8) == 0;
    const double macs = conversion ? 0 : products(step->node) + products(step->ahead);
    double bytes = 0;
    for (int i = 0; i < step->n_args; i++) {
        bytes += step->args[i].mem ? (double)step->args[i].mem->bytes : 0;
    }
    const double compute = 2.0 * macs / ((facts->is_cpu ? 2.0 : 20.0) * TN_MAX(facts->units, 1u));
    return TN_MAX(compute, bytes / (facts->is_cpu || facts->unified ? 4.0 : 100.0));
}

// ---- the queue: one stretch runs, the next waits, and the host waits for the one before ----

typedef struct stretch {
    cl_event end;             // NULL: there is none
    tn_cl_step *step;         // it is a slice of this one; NULL: of whole steps
    size_t groups;            // of the slice
    uint64_t begin;           // when it was put into the queue
    double whole;             // expected nanoseconds of its whole steps
    double guessed;           // of those among them that were never measured
} stretch;

typedef struct queue {
    tn_cl_flow *flow;
    const tn_flow_run *run;
    stretch before, now;      // in the queue; being filled
    uint64_t done;            // when the last stretch ended
} queue;

static tn_status stop_asked(const queue *q)
{
    const tn_flow_run *run = q->run;
    if (run->cancel && atomic_load(run->cancel)) {
        return tn_fail(run->diag, TN_CANCELLED, "opencl", "the run was cancelled");
    }
    if (run->deadline_ns && q->flow->cl->driver.Now() > run->deadline_ns) {
        return tn_fail(run->diag, TN_DEADLINE, "opencl", "the deadline passed");
    }
    return TN_OK;
}

// The longest that a slice may take: the limit, or what the smallest one takes.
static double bound_ns(const tn_cl_flow *flow, const tn_cl_step *step) { return TN_MAX((double)flow->stretch_ns, 1.25 * step->least_ns); }

// What a slice's time tells of how many groups the device takes side by side.
static void learn_width(const tn_cl_flow *flow, tn_cl_step *step, size_t groups, double ns)
{
    step->least_ns = step->least_ns > 0 ? TN_MIN(step->least_ns, ns) : ns;
    if (ns > bound_ns(flow, step)) {
        step->over = groups;
        step->proven = TN_MIN(step->proven, groups / 2);
        step->flat = false;
        step->kept = 0;
    } else {
        if (groups > step->proven) {
            const double slope = step->proven ? TN_MAX(ns - step->proven_ns, 0.0) / (double)(groups - step->proven) : 0;
            step->flat = ns + slope * (double)groups <= bound_ns(flow, step);
            step->proven = groups;
            step->proven_ns = ns;
        }
        // A slice may have been long because somebody else used the device: now and then larger ones are tried again.
        step->over += step->over && ++step->kept % CALM == 0 ? step->over / 16 + 1 : 0;
    }
}

// Groups of the next slice of a step that was measured. A GPU has its units work side by side, so many groups take as long as one: their number
// is doubled as long as the last two sizes promise that twice as many keep the time; from there on the time of one group decides.
static size_t slice_groups(const tn_cl_flow *flow, const tn_cl_step *step)
{
    const size_t all = tn_cl_slice_groups(step), wider = TN_MIN(step->flat ? 2 * step->proven : step->proven, all);
    const size_t n = TN_MAX(fitting(step->group_ns, (double)flow->stretch_ns, all), wider);
    return step->over && n >= step->over ? TN_MAX((step->proven + step->over) / 2, (size_t)1) : n;
}

// What counts for one group of the next slice.
static double group_share(const tn_cl_flow *flow, const tn_cl_step *step)
{
    if (flow->cl->facts.is_cpu && !flow->slice_ns) {
        // Nobody asked for short slices: none is so short that cores stand idle, since groups on all of them take as long as one.
        return TN_MIN(step->group_ns, (double)flow->stretch_ns / (TN_MAX(flow->cl->facts.units, 1u) + 1e-6));
    }
    return flow->cl->facts.is_cpu ? step->group_ns : (double)flow->stretch_ns / ((double)slice_groups(flow, step) + 1e-6);
}

// What a stretch that has ended tells: its own groups' time, and how wrong estimates are.
static void learn(queue *q, const stretch *s)
{
    tn_cl_flow *flow = q->flow;
    const uint64_t end = flow->cl->driver.Now(), begin = TN_MAX(s->begin, q->done);
    const double ns = end > begin ? (double)(end - begin) : 1;
    double rate = 0;
    if (s->step) {
        // Longer is believed at once, since a bound is to be kept, but not of a short slice, which is mostly its start; shorter by and by.
        const double group = TN_MAX(ns - s->whole, ns / 4) / (double)s->groups, known = s->step->group_ns;
        learn_width(flow, s->step, s->groups, ns);
        if (known <= 0 || (group > known && ns > 0.5 * (double)flow->stretch_ns)) {
            s->step->group_ns = group;
        } else if (group < known) {
            s->step->group_ns = (known + group) / 2;
        }
        rate = s->step->estimate > 0 ? s->step->group_ns * (double)tn_cl_slice_groups(s->step) / s->step->estimate : 0;
    } else if (s->guessed > 0) {
        rate = flow->rate * (ns - (s->whole - s->guessed)) / s->guessed;
    }
    if (rate > 0) {
        flow->rate = TN_MAX(1e-2, TN_MIN(1e4, flow->rated ? sqrt(rate * flow->rate) : rate));
        flow->rated = true;
    }
    q->done = end;
}

// Waits for the stretch before the one that is being filled.
static tn_status wait_before(queue *q)
{
    const tn_cl_driver *driver = &q->flow->cl->driver;
    if (!q->before.end) {
        return TN_OK;
    }
    const cl_int error = driver->WaitForEvents(1, &q->before.end);
    (void)driver->ReleaseEvent(q->before.end);
    q->before.end = NULL;
    if (error == CL_SUCCESS) {
        learn(q, &q->before);
    }
    return error == CL_SUCCESS ? TN_OK : tn_cl_fail(q->run->diag, "opencl", "to wait", error);
}

// The stretch ends with this event.
static tn_status turn(queue *q, cl_event end)
{
    const cl_int error = q->flow->cl->driver.Flush(q->flow->cl->queue);
    const tn_status status = wait_before(q);
    q->now.end = end;
    q->before = q->now;
    q->now = (stretch){.end = NULL};
    TN_TRY(status);
    return error == CL_SUCCESS ? stop_asked(q) : tn_cl_fail(q->run->diag, "opencl", "to flush the queue", error);
}

// What is in the queue (operands on their way, whole steps) would count as time of the slice that is measured next.
static tn_status drain(queue *q)
{
    TN_TRY(wait_before(q));
    const cl_int error = q->flow->cl->driver.Finish(q->flow->cl->queue);
    q->now = (stretch){.end = NULL};
    q->done = q->flow->cl->driver.Now();
    return error == CL_SUCCESS ? TN_OK : tn_cl_fail(q->run->diag, "opencl", "to finish", error);
}

static bool measured(const tn_cl_step *step) { return step->group_ns > 0 || step->nanoseconds > 0; }

static double expected(const tn_cl_flow *flow, const tn_cl_step *step)
{
    return step->group_ns > 0 ? step->group_ns * (double)tn_cl_slice_groups(step)
                              : step->nanoseconds ? (double)step->nanoseconds : step->estimate * flow->rate;
}

// Whole steps that wait in the stretch end with the first slice, which is the shorter for them.
static tn_status enqueue_sliced(queue *q, tn_cl_step *step)
{
    tn_cl_flow *flow = q->flow;
    const tn_cl_driver *driver = &flow->cl->driver;
    const double groups = (double)tn_cl_slice_groups(step), limit = (double)flow->stretch_ns, guess = expected(flow, step) / groups;
    tn_cl_cut at = {0, 0};
    tn_cl_slice slice;
    const bool known = measured(step);
    if (!(step->group_ns > 0)) {
        TN_TRY(drain(q));
    }
    const uint64_t begin = driver->Now();
    for (;;) {
        const double each = step->group_ns > 0 ? group_share(flow, step) : known ? guess : flow->rated ? guess * CAUTION : 2 * limit;
        const size_t n = tn_cl_slice_next(step, &at, each, limit - q->now.whole, &slice);
        if (n == 0) {
            break;
        }
        cl_event end = NULL;
        q->now.step = step;
        q->now.groups = n;
        q->now.begin = q->now.whole > 0 ? q->now.begin : driver->Now();
        const cl_int error = driver->EnqueueNDRangeKernel(flow->cl->queue, step->kernel, 3, slice.offset, slice.size, step->local, 0, NULL, &end);
        if (error != CL_SUCCESS) {
            return tn_cl_fail(q->run->diag, step->node ? step->node->name : step->file, "a kernel", error);
        }
        flow->slices++;
        TN_TRY(turn(q, end));
        if (!(step->group_ns > 0)) {
            TN_TRY(wait_before(q));       // nothing is in the queue while the first slice is measured
        }
    }
    step->nanoseconds = driver->Now() - begin;
    return TN_OK;
}

static tn_status enqueue_whole(queue *q, tn_cl_step *step, bool timed)
{
    tn_cl_context *cl = q->flow->cl;
    const double limit = (double)q->flow->stretch_ns, ns = expected(q->flow, step);
    q->now.begin = q->now.whole > 0 ? q->now.begin : cl->driver.Now();
    q->now.guessed += measured(step) ? 0 : ns;
    q->now.whole += ns;
    const bool last = limit > 0 && q->now.whole >= limit && !timed;
    TN_TRY(tn_cl_step_enqueue(cl, timed ? cl->timing : cl->queue, step, timed || last, q->run->diag));
    if (!last) {
        return TN_OK;
    }
    cl_event end = step->event;
    step->event = NULL;
    return turn(q, end);
}

// Whether a step may run longer than a stretch.
static bool is_long(const tn_cl_flow *flow, const tn_cl_step *step)
{
    const double ns = expected(flow, step), limit = (double)flow->stretch_ns;
    return measured(step) ? ns > limit : !flow->rated || ns * CAUTION > limit;
}

tn_status tn_cl_run_steps(tn_cl_flow *flow, const tn_flow_run *run, bool timed)
{
    queue q = {.flow = flow, .run = run};
    tn_status status = stop_asked(&q);
    flow->slices = 0;
    flow->stretch_ns = flow->slice_ns ? flow->slice_ns : run->cancel || run->deadline_ns ? CALLED_NS : 0;
    // A display waits for uploads, too. Otherwise they may be on their way: most flows are shorter than one stretch, and waiting costs them more.
    if (status == TN_OK && flow->slice_ns && !timed) {
        status = drain(&q);
    }
    for (tn_cl_step *step = flow->first; step && status == TN_OK; step = step->next) {
        status = flow->stretch_ns && !timed && is_long(flow, step) ? enqueue_sliced(&q, step) : enqueue_whole(&q, step, timed);
    }
    if (q.before.end) {
        (void)flow->cl->driver.ReleaseEvent(q.before.end);
    }
    return status;
}
