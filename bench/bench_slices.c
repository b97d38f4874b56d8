// SPDX-License-Identifier: Apache-2.0
// One deliberately long kernel on the OpenCL device: whole, in slices of a millisecond, and cancelled on the way. Prints what the slices
// cost, how long they are (from the end of one to the end of the next), whether the bits are equal, and how long after the request a cancelled
// run returned.
//   bench_slices [N]      a product of two N x N matrices, default 4096
// Ownership: everything until the end. Threads: one more, that cancels.
#include "exec/opencl/cl_flow.h"
#include "exec/opencl/run/cl_slice.h"
#include "ir/edit.h"
#include "ops/nn/op_matmul.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SLICE_NS 1000000

typedef struct product {
    tn_heap heap;
    tn_cl_context *cl;
    tn_graph *graph;
    tn_tensor a, b, y;
    atomic_int cancel;
    bool callable;                // runs have the handle to cancel them
    uint64_t asked_ns;
    long wait_ns;                 // until the request: then the operands are there and the kernel runs
} product;

// The ends of slices, as the host sees them.
static cl_int(CL_API_CALL *wait_for)(cl_uint, const cl_event *);
static struct { uint64_t last; double longest, sum; unsigned n; } seen;

static cl_int CL_API_CALL watched_wait(cl_uint n, const cl_event *events)
{
    const cl_int error = wait_for(n, events);
    const uint64_t now = tn_clock_ns();
    if (seen.last) {
        const double ms = (double)(now - seen.last) / 1e6;
        seen.longest = ms > seen.longest ? ms : seen.longest;
        seen.sum += ms;
        seen.n++;
    }
    seen.last = now;
    return error;
}

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static float *numbers(size_t n, unsigned step)
{
    float *v = malloc(n * sizeof *v);
    for (size_t i = 0; v && i < n; i++) {
        v[i] = (float)(i * step % 31) / 31 - 0.5f;
    }
    return v ? v : (die("no memory"), v);
}

static void make(product *p, int64_t n)
{
    const tn_matmul_attr attr = {.alpha = 1};
    const tn_shape shape = tn_shape_of(2, (const int64_t[]){n, n});
    tn_cl_driver driver;
    tn_cpu cpu;
    const char *reason;
    tn_value *v[3];
    memset(p, 0, sizeof *p);
    tn_heap_init(&p->heap, NULL, NULL, NULL);
    tn_cpu_detect(&cpu);
    if (!tn_cl_driver_open(&driver, &reason) || tn_cl_context_open(&p->cl, &driver, &p->heap, &cpu, NULL) != TN_OK) {
        die("no OpenCL device");
    }
    wait_for = p->cl->driver.WaitForEvents;
    p->cl->driver.WaitForEvents = watched_wait;
    p->graph = tn_graph_create(&p->heap, "product");
    for (int i = 0; i < 3; i++) {
        v[i] = tn_graph_value(p->graph, NULL);
        v[i]->dtype = TN_F32;
        v[i]->shape = shape;
    }
    if (tn_graph_add_input(p->graph, v[0]) != TN_OK || tn_graph_add_input(p->graph, v[1]) != TN_OK ||
        !tn_graph_node(p->graph, NULL, &tn_op_matmul, "product", &attr, v, 2, &v[2], 1) || tn_graph_add_output(p->graph, v[2]) != TN_OK) {
        die("no graph");
    }
    p->a = (tn_tensor){.dtype = TN_F32, .shape = shape, .data = numbers((size_t)(n * n), 7)};
    p->b = (tn_tensor){.dtype = TN_F32, .shape = shape, .data = numbers((size_t)(n * n), 11)};
    p->y = (tn_tensor){.dtype = TN_F32, .shape = shape, .data = numbers((size_t)(n * n), 0)};
}

static tn_cl_flow *flow_of(product *p, uint64_t slice_ns)
{
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow = NULL;
    const tn_flow_request request = {.graph = p->graph, .slice_ns = slice_ns, .diag = &diag};
    if (tn_cl_flow_make(p->cl, &request, &flow) != TN_OK) {
        die(diag.message);
    }
    return flow;
}

static tn_status run(product *p, tn_cl_flow *flow, double *ms)
{
    tn_diag diag = {.status = TN_OK};
    const tn_tensor *in[] = {&p->a, &p->b};
    tn_tensor *out[] = {&p->y};
    const tn_flow_run go = {.in = in, .out = out, .cancel = p->callable ? &p->cancel : NULL, .diag = &diag};
    const uint64_t begin = tn_clock_ns();
    const tn_status status = tn_cl_flow_run(flow, &go);
    *ms = (double)(tn_clock_ns() - begin) / 1e6;
    return status;
}

static void *ask(void *context)
{
    product *p = context;
    const struct timespec wait = {.tv_nsec = p->wait_ns};
    (void)nanosleep(&wait, NULL);
    p->asked_ns = tn_clock_ns();
    atomic_store(&p->cancel, 1);
    return NULL;
}

// Ten runs that are cancelled on their way; how late the latest returned.
static void cancel_some(product *p, tn_cl_flow *flow, double ms, const char *what)
{
    double worst = 0;
    p->wait_ns = ms < 900 ? (long)(ms * 0.6e6) : 500000000;
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        atomic_store(&p->cancel, 0);
        if (pthread_create(&thread, NULL, ask, p) != 0) {
            die("no thread");
        }
        const tn_status status = run(p, flow, &ms);
        const uint64_t end = tn_clock_ns();
        (void)pthread_join(thread, NULL);
        if (status == TN_CANCELLED) {
            const double late = (double)(end - p->asked_ns) / 1e6;
            worst = late > worst ? late : worst;
        } else {
            printf("  the run ended before it was cancelled\n");
        }
    }
    atomic_store(&p->cancel, 0);
    printf("  %s a cancelled run returned at most %.2f ms after the request\n", what, worst);
}

int main(int argc, char **argv)
{
    const int64_t n = argc > 1 ? atoll(argv[1]) : 4096;
    static product p;
    double ms = 0;
    if (n < 64 || n > 16384) {
        die("usage: bench_slices [64 .. 16384]");
    }
    make(&p, n);
    const size_t bytes = (size_t)(n * n) * sizeof(float);
    float *whole = numbers((size_t)(n * n), 0);
    tn_cl_flow *flow = flow_of(&p, 0);
    for (int i = 0; i < 3; i++) {
        (void)run(&p, flow, &ms);
    }
    memcpy(whole, p.y.data, bytes);
    printf("%s, product of %lld: %.1f ms whole, transfers included\n", p.cl->facts.name, (long long)n, ms);
    tn_cl_flow_release(flow);
    p.callable = true;
    flow = flow_of(&p, SLICE_NS);
    for (int i = 0; i < 5; i++) {
        memset(&seen, 0, sizeof seen);
        (void)run(&p, flow, &ms);
        printf("  in slices of 1 ms: %.1f ms, %u slices, %.2f ms each, the longest %.2f, bits %s\n", ms, flow->slices, seen.n ? seen.sum / seen.n : 0,
               seen.longest, memcmp(whole, p.y.data, bytes) == 0 ? "equal" : "DIFFERENT");
        (void)fflush(stdout);
    }
    cancel_some(&p, flow, ms, "with low priority");
    tn_cl_flow_release(flow);
    flow = flow_of(&p, 0);                // stretches of 2 ms, as the run has a handle to cancel it
    for (int i = 0; i < 3; i++) {
        (void)run(&p, flow, &ms);
    }
    printf("  at normal priority: %.1f ms, %u slices\n", ms, flow->slices);
    cancel_some(&p, flow, ms, "at normal priority");
    tn_cl_flow_release(flow);
    tn_graph_destroy(p.graph);
    tn_cl_context_close(p.cl);
    free(whole);
    free(p.a.data);
    free(p.b.data);
    free(p.y.data);
    return 0;
}
