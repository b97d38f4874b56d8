// SPDX-License-Identifier: Apache-2.0
// The OpenCL device on whole networks: end to end (upload, run, download), data resident (kernels only, one wait), and each kernel by
// events with its rate. Image and buffer stores take turns, so that both see the same clocks.
//   bench_opencl [--net NAME] [--rounds N] [--precision fp16] [--cache DIR] [--kernels] [--check]
//                [--json] [--tune SECONDS] [--direct]
// --direct: also the resident time with every convolution direct and in a kernel of its own: none by Winograd's transform, none joined to
// the depthwise one that reads it.
// Ownership: everything until the end. Threads: one.
#include "bench_nets.h"

#include "api/api.h"
#include "exec/opencl/run/cl_transfer.h"
#include "exec/opencl/tune/cl_search.h"
#include "exec/opencl/tune/cl_table.h"
#include "ops/op_eval.h"
#include "sys/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROUNDS 2000
#define MAX_STEPS 512
#define BATCH 10              // resident runs between two waits of the clock

typedef struct side {
    const char *store;
    tenon_session *session;
    tn_cl_flow *flow, *direct;    // direct: a flow of the same graph with plain convolutions, or NULL
    double first_ms, ms[MAX_ROUNDS], resident_ms[MAX_ROUNDS], enqueue_ms[MAX_ROUNDS], direct_ms[MAX_ROUNDS];
    float y[1000];
} side;

typedef struct settings {
    const char *net, *precision, *cache;
    int rounds, kernels, check, json, direct;
    double tune;                  // seconds for each net and store; 0: none
} settings;

static void die(const char *what, tenon_error *error)
{
    fprintf(stderr, "%s: %s\n", what, error ? tenon_error_message(error) : "failed");
    exit(1);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}

static void visit_plan(const tn_plan *plan, void *context)
{
    side *s = context;
    for (size_t i = 0; plan->flows && i < plan->n_steps; i++) {
        if (plan->flows[i]) {
            s->flow = (tn_cl_flow *)plan->flows[i];
        }
    }
}

static double run_once(side *s)
{
    tenon_error *error = NULL;
    const uint64_t begin = tn_clock_ns();
    if (tenon_session_run(s->session, NULL, 0, &error) != TENON_OK) {
        die("run", error);
    }
    return (double)(tn_clock_ns() - begin) / 1e6;
}

static void open_side(side *s, tenon_model *model, const settings *set, const float *x, const char *device)
{
    tenon_error *error = NULL;
    tenon_session_options options;
    const int64_t dims[] = {1, 3, 224, 224};
    tenon_session_options_init(&options);
    options.device = device;
    options.store = s->store;
    options.cache = set->cache;
    options.precision = strcmp(device, "opencl") == 0 ? set->precision : NULL;
    const uint64_t begin = tn_clock_ns();
    if (tenon_session_create(&s->session, model, &options, &error) != TENON_OK ||
        tenon_session_set_input(s->session, "x", TENON_FLOAT32, 4, dims, x, 3 * 224 * 224 * sizeof *x, &error) != TENON_OK) {
        die("session", error);
    }
    (void)run_once(s);
    s->first_ms = (double)(tn_clock_ns() - begin) / 1e6;
    tenon_tensor y;
    if (tenon_session_output(s->session, 0, &y, &error) != TENON_OK || y.bytes != sizeof s->y) {
        die("result", error);
    }
    memcpy(s->y, y.data, sizeof s->y);
    tn_program_visit(s->session->wanted->program, visit_plan, s);
}

static bool tuned_layer(void *context, size_t done, size_t count, const char *layer, double before_ns, double after_ns)
{
    (void)context;
    printf("  tuned %3zu of %3zu  %-52s %9.2f -> %9.2f us\n", done, count, layer, before_ns / 1e3, after_ns / 1e3);
    return true;
}

// The table goes to the cache folder, where the sessions that follow find it.
static void tune(const side *s, const settings *set)
{
    tn_diag diag = {.status = TN_OK};
    const tn_tune_request request = {.seconds = set->tune, .cache = set->cache, .store = s->store, .seed = 1,
                                          .progress = tuned_layer, .diag = &diag};
    if (s->flow && (tn_cl_search(s->flow, &request) != TN_OK || (set->cache && tn_cl_table_save(s->flow->cl, set->cache, &diag) != TN_OK))) {
        die(diag.message, NULL);
    }
}

// Kernels only: what a caller whose data stays on the device would see.
static double resident(tn_cl_flow *flow, double *enqueue_ms)
{
    tn_diag diag = {.status = TN_OK};
    const uint64_t begin = tn_clock_ns();
    uint64_t enqueue = 0;
    for (int i = 0; i < BATCH; i++) {
        const uint64_t start = tn_clock_ns();
        for (tn_cl_step *step = flow->first; step; step = step->next) {
            if (tn_cl_step_enqueue(flow->cl, flow->cl->queue, step, false, &diag) != TN_OK) {
                die(diag.message, NULL);
            }
        }
        enqueue += tn_clock_ns() - start;
        (void)flow->cl->driver.Finish(flow->cl->queue);
    }
    *enqueue_ms = (double)enqueue / 1e6 / BATCH;
    return (double)(tn_clock_ns() - begin) / 1e6 / BATCH;
}

static void make_direct(side *s, const settings *set)
{
    tn_diag diag = {.status = TN_OK};
    const tn_flow_request request = {.graph = s->flow->graph, .precision = set->precision ? set->precision : "fp32", .store = s->store,
                                     .cache = set->cache, .diag = &diag};
    s->flow->cl->winograd = s->flow->cl->expand = s->flow->cl->pairs = 1;
    if (tn_cl_flow_make(s->flow->cl, &request, &s->direct) != TN_OK) {
        die(diag.message, NULL);
    }
    s->flow->cl->winograd = s->flow->cl->expand = s->flow->cl->pairs = 0;
}

// One kernel many times in a row: what it takes when its code and texels are warm.
static double alone_us(side *s, tn_cl_step *step)
{
    tn_diag diag = {.status = TN_OK};
    double least = 1e9;
    for (int round = 0; round < 3; round++) {
        const uint64_t begin = tn_clock_ns();
        for (int i = 0; i < BATCH; i++) {
            (void)tn_cl_step_enqueue(s->flow->cl, s->flow->cl->queue, step, false, &diag);
        }
        (void)s->flow->cl->driver.Finish(s->flow->cl->queue);
        least = fmin(least, (double)(tn_clock_ns() - begin) / 1e3 / BATCH);
    }
    return least;
}

// Microseconds that the host takes to put each step into the queue, within whole runs of the flow.
static void enqueue_us(side *s, double *us, int most)
{
    tn_diag diag = {.status = TN_OK};
    memset(us, 0, (size_t)most * sizeof *us);
    for (int round = 0; round < BATCH; round++) {
        int i = 0;
        for (tn_cl_step *step = s->flow->first; step; step = step->next, i++) {
            const uint64_t begin = tn_clock_ns();
            (void)tn_cl_step_enqueue(s->flow->cl, s->flow->cl->queue, step, false, &diag);
            us[i < most ? i : most - 1] += (double)(tn_clock_ns() - begin) / 1e3 / BATCH;
        }
        (void)s->flow->cl->driver.Finish(s->flow->cl->queue);
    }
}

static double flops(const tn_cl_step *step, const tn_cl_step *before)
{
    const bool first = step->node && (!before || before->node != step->node);
    const double ahead = step->ahead ? 2.0 * (double)tn_node_macs(step->ahead) : 0;
    return first || (step->node && strncmp(step->file, "buffer", 6) != 0) ? ahead + 2.0 * (double)tn_node_macs(step->node) : 0;
}

static void print_kernels(side *s, const float *x)
{
    static float y[1000];
    const tn_shape in_shape = tn_shape_of(4, (const int64_t[]){1, 3, 224, 224});
    tn_tensor in = {.dtype = TN_F32, .shape = in_shape, .data = (void *)(uintptr_t)x};
    tn_tensor out = {.dtype = TN_F32, .shape = tn_shape_of(2, (const int64_t[]){1, 1000}), .data = y};
    const tn_tensor *ins[] = {&in};
    tn_tensor *outs[] = {&out};
    tn_diag diag = {.status = TN_OK};
    const tn_flow_run run = {.in = ins, .out = outs, .diag = &diag};
    double sum = 0;
    if (s->flow->graph->n_inputs != 1 || s->flow->graph->n_outputs != 1 || tn_cl_flow_time(s->flow, &run) != TN_OK ||
        tn_cl_flow_time(s->flow, &run) != TN_OK) {
        printf("  the flow is not whole, or could not be timed: %s\n", diag.message);
        return;
    }
    const tn_cl_step *before = NULL;
    static double starts[MAX_STEPS];
    int number = 0;
    enqueue_us(s, starts, MAX_STEPS);
    for (const tn_cl_step *step = s->flow->first; step; before = step, step = step->next, number++) {
        const double us = (double)step->nanoseconds / 1e3;
        double bytes = 0;
        for (int i = 0; i < step->n_args; i++) {
            bytes += step->args[i].mem ? (double)step->args[i].mem->bytes : 0;
        }
        sum += us;
        printf("  %9.2f us (alone %7.2f, start %5.2f) %9.1f GFLOP/s %8.1f GB/s  %-16s %4zu x %4zu x %4zu / %zu x %zu x %zu  %s %d.%d\n", us, alone_us(s, (tn_cl_step *)(uintptr_t)step), starts[number < MAX_STEPS ? number : MAX_STEPS - 1],
               us > 0 ? flops(step, before) / us / 1e3 : 0, us > 0 ? bytes / us / 1e3 : 0, step->file, step->global[0], step->global[1],
               step->global[2], step->local[0], step->local[1], step->local[2], step->node ? step->node->name : "", step->tile.ob,
               step->tile.p);
    }
    printf("  %9.2f us in %d kernels\n", sum, s->flow->n_steps);
}

// Parts of the way of operands and results, medians.
static void print_transfers(side *s, const float *x)
{
    static float y[1000];
    double times[4][51];
    tn_tensor in = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){1, 3, 224, 224}), .data = (void *)(uintptr_t)x};
    tn_tensor out = {.dtype = TN_F32, .shape = tn_shape_of(2, (const int64_t[]){1, 1000}), .data = y};
    const tn_tensor *ins[] = {&in};
    tn_tensor *outs[] = {&out};
    tn_diag diag = {.status = TN_OK};
    const tn_flow_run run = {.in = ins, .out = outs, .diag = &diag};
    if (!s->flow || s->flow->graph->n_inputs != 1 || s->flow->graph->n_outputs != 1) {
        return;
    }
    const tn_cl_driver *driver = &s->flow->cl->driver;
    for (int i = 0; i < 51; i++) {
        const uint64_t a = tn_clock_ns();
        (void)tn_cl_send(s->flow, &run);
        const uint64_t b = tn_clock_ns();
        (void)driver->Finish(s->flow->cl->queue);
        const uint64_t c = tn_clock_ns();
        (void)tn_cl_receive(s->flow, &run);
        (void)driver->Finish(s->flow->cl->queue);
        tn_cl_fetch(s->flow, &run);
        const uint64_t d = tn_clock_ns();
        (void)driver->EnqueueWriteBuffer(s->flow->cl->queue, s->flow->in[0]->handle, CL_TRUE, 0, 3 * 224 * 224 * sizeof *x, x, 0, NULL, NULL);
        const uint64_t e = tn_clock_ns();
        times[0][i] = (double)(b - a);
        times[1][i] = (double)(c - a);
        times[2][i] = (double)(d - c);
        times[3][i] = (double)(e - d);
    }
    printf("          send %.1f us, until it is there %.1f; back %.1f; pageable %.1f\n", median(times[0], 51) / 1e3, median(times[1], 51) / 1e3,
           median(times[2], 51) / 1e3, median(times[3], 51) / 1e3);
}

static void compare(const side *a, const side *b)
{
    double worst = 0, low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 1000; i++) {
        worst = fmax(worst, fabs((double)a->y[i] - (double)b->y[i]));
        low = fmin(low, (double)b->y[i]);
        high = fmax(high, (double)b->y[i]);
    }
    printf("  %s against %s: largest difference %.3g of span %.3g\n", a->store ? a->store : "device", b->store ? b->store : "cpu", worst, high - low);
}

// One line for scripts.
static void print_json(const char *name, const settings *set, side sides[2])
{
    printf("{\"net\": \"%s\", \"precision\": \"%s\"", name, set->precision ? set->precision : "fp32");
    for (int i = 0; i < 2; i++) {
        side *s = &sides[i];
        printf(", \"%s\": {\"end_to_end_ms\": %.4f, \"resident_ms\": %.4f, \"enqueue_ms\": %.4f, \"first_ms\": %.1f, \"kernels\": %d", s->store,
               median(s->ms, set->rounds), median(s->resident_ms, set->rounds), median(s->enqueue_ms, set->rounds), s->first_ms,
               s->flow ? s->flow->n_steps : 0);
        if (s->direct) {
            printf(", \"direct_ms\": %.4f", median(s->direct_ms, set->rounds));
        }
        printf("}");
    }
    printf("}\n");
}

static void bench(const char *name, const settings *set)
{
    static side sides[2], host;
    static float x[3 * 224 * 224];
    tenon_error *error = NULL;
    tenon_model *model;
    size_t size = 0;
    unsigned char *bytes = tn_bench_net(name, &size);
    memset(sides, 0, sizeof sides);
    memset(&host, 0, sizeof host);
    if (!bytes || tenon_model_open_memory(&model, bytes, size, NULL, &error) != TENON_OK) {
        die(name, error);
    }
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        x[i] = (float)((double)(i * 2654435761u % 10007) / 5003.5 - 1);
    }
    sides[0].store = "image";
    sides[1].store = "buffer";
    for (int i = 0; i < 2; i++) {
        open_side(&sides[i], model, set, x, "opencl");
        if (set->tune > 0) {
            tune(&sides[i], set);
            tenon_session_destroy(sides[i].session);
            open_side(&sides[i], model, set, x, "opencl");
        }
    }
    for (int i = 0; i < 2 && set->direct; i++) {
        if (sides[i].flow) {
            make_direct(&sides[i], set);
        }
    }
    if (set->check) {
        open_side(&host, model, set, x, "cpu");
    }
    for (int r = 0; r < set->rounds + 5; r++) {
        for (int i = 0; i < 2; i++) {
            // The other side had the caches before: the first of a few runs in a row is not the one that counts.
            double enqueue = 0, ms = 0;
            for (int k = 0; k < 4; k++) {
                ms = run_once(&sides[i]);
            }
            double unused = 0;
            const double direct = sides[i].direct ? resident(sides[i].direct, &unused) : 0;
            const double kernels = sides[i].flow ? resident(sides[i].flow, &enqueue) : 0;
            if (r >= 5) {
                sides[i].ms[r - 5] = ms;
                sides[i].resident_ms[r - 5] = kernels;
                sides[i].direct_ms[r - 5] = direct;
                sides[i].enqueue_ms[r - 5] = enqueue;
            }
        }
    }
    printf("%s%s%s\n", name, set->precision ? ", " : "", set->precision ? set->precision : "");
    for (int i = 0; i < 2; i++) {
        side *s = &sides[i];
        printf("  %-6s  end to end %8.3f ms  resident %8.3f ms (enqueue %.3f)  first %9.1f ms  %d kernels, %u built, %u from the cache\n",
               s->store, median(s->ms, set->rounds), median(s->resident_ms, set->rounds), median(s->enqueue_ms, set->rounds), s->first_ms,
               s->flow ? s->flow->n_steps : 0, s->flow ? s->flow->cl->built : 0, s->flow ? s->flow->cl->loaded : 0);
        if (s->direct) {
            printf("          resident, plain convolutions %8.3f ms, %d kernels\n", median(s->direct_ms, set->rounds), s->direct->n_steps);
        }
        print_transfers(s, x);
        if (set->check) {
            compare(s, &host);
        }
        if (set->kernels && s->flow) {
            print_kernels(s, x);
        }
    }
    if (set->json) {
        print_json(name, set, sides);
    }
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        tn_cl_flow_release(sides[i].direct);
        tenon_session_destroy(sides[i].session);
    }
    tenon_session_destroy(host.session);
    tenon_model_destroy(model);
    free(bytes);
}

int main(int argc, char **argv)
{
    settings set = {.rounds = 50};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--kernels") == 0) {
            set.kernels = 1;
        } else if (strcmp(argv[i], "--check") == 0) {
            set.check = 1;
        } else if (strcmp(argv[i], "--json") == 0) {
            set.json = 1;
        } else if (strcmp(argv[i], "--direct") == 0) {
            set.direct = 1;
        } else if (strcmp(argv[i], "--net") == 0) {
            set.net = value, i++;
        } else if (strcmp(argv[i], "--rounds") == 0) {
            set.rounds = atoi(value) < 1 ? 1 : atoi(value) > MAX_ROUNDS ? MAX_ROUNDS : atoi(value), i++;
        } else if (strcmp(argv[i], "--tune") == 0) {
            set.tune = atof(value), i++;
        } else if (strcmp(argv[i], "--precision") == 0) {
            set.precision = value, i++;
        } else if (strcmp(argv[i], "--cache") == 0) {
            set.cache = value, i++;
        } else {
            fprintf(stderr, "usage: bench_opencl [--net NAME] [--rounds N] [--precision fp16] [--cache DIR] [--kernels] [--check] [--json] [--tune SECONDS] [--direct]\n");
            return 2;
        }
    }
    char *devices = tenon_devices_json();
    printf("%s\n", devices ? devices : "");
    free(devices);
    for (const char *const *name = tn_bench_nets; *name; name++) {
        if (!set.net || strcmp(set.net, *name) == 0) {
            bench(*name, &set);
        }
    }
    return 0;
}
