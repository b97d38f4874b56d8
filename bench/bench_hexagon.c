// SPDX-License-Identifier: Apache-2.0
// What the host adds to a run on the DSP, and what a restart of the DSP costs, part by part.
//
//   bench_hexagon overhead MODEL [RUNS]      a run's time beyond the DSP's own: least, median; host processor time
//   bench_hexagon restart MODEL [ROUNDS [OTHER ...]]   the program is killed and comes back: least and median of each part
//   bench_hexagon cold MODEL ...             the same without a spare program, which has all behind it
//
// OTHER models have their sub-graphs in the same program: MODEL comes back as if it were alone, and what the others' then cost is told.
// MODEL is quantised or has its parts on the DSP otherwise; inputs are zeros; dims that the model leaves open are 1.
#include "bench_feed.h"
#include "api/api.h"
#include "exec/hexagon/hex_flow.h"
#include "sys/clock.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 2000, MOST_FLOWS = 64, MOST_OTHERS = 4 };

static void give_up(const char *what)
{
    fprintf(stderr, "bench_hexagon: %s\n", what);
    exit(1);
}

static void must(tenon_status status, tenon_error **error)
{
    if (status != TENON_OK) {
        give_up(*error ? tenon_error_message(*error) : "failed");
    }
}

static uint64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// Processor time of the DSP's process.
static uint64_t process_ns(const tn_hex_link *link)
{
    clockid_t id;
    struct timespec t = {0};
    if (clock_getcpuclockid(link->transport->process(link->state), &id) == 0) {
        clock_gettime(id, &t);
    }
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void line(const char *what, double *us, int count)
{
    qsort(us, (size_t)count, sizeof *us, ascending);
    printf("%-34s least %9.1f  median %9.1f us\n", what, us[0], us[count / 2]);
}

// ---- the session ----

typedef struct dsp {
    tenon_session *session;
    tn_hex_link *link;
    tn_hex_flow *flows[MOST_FLOWS];
    int n_flows;
} dsp;

static void find_flows(const tn_plan *plan, void *context)
{
    dsp *d = context;
    for (size_t i = 0; i < plan->n_steps && d->n_flows < MOST_FLOWS; i++) {
        if (plan->flows && plan->flows[i] && strcmp(plan->flows[i]->device->vtable->name, "hexagon") == 0) {
            d->flows[d->n_flows++] = (tn_hex_flow *)plan->flows[i];
        }
    }
}

static void run(const dsp *d)
{
    tenon_error *error = NULL;
    must(tenon_session_run(d->session, NULL, 0, &error), &error);
}

static void open_dsp(dsp *d, tenon_model **model, const char *path)
{
    tenon_error *error = NULL;
    tenon_session_options options;
    tenon_session_options_init(&options);
    options.device = "hexagon";
    options.threads = 1;
    must(tenon_model_open(model, path, NULL, &error), &error);
    must(tenon_session_create(&d->session, *model, &options, &error), &error);
    must(tn_bench_feed(d->session, *model, &error), &error);
    run(d);
    tn_program_visit(d->session->wanted->program, find_flows, d);
    if (d->n_flows == 0) {
        give_up("no part of the model runs on the DSP");
    }
    d->link = d->flows[0]->link;
}

// ---- overhead ----

static void overhead(dsp *d, int runs)
{
    static double all[MOST_ROUNDS], beyond[MOST_ROUNDS], host[MOST_ROUNDS];
    const bool whole = d->session->wanted->program && tn_program_plan(d->session->wanted->program)->n_steps == 1;
    for (int i = 0; i < runs; i++) {
        uint64_t own = 0;
        const uint64_t begin = tn_clock_ns(), cpu = thread_ns();
        run(d);
        all[i] = (double)(tn_clock_ns() - begin) / 1e3;
        host[i] = (double)(thread_ns() - cpu) / 1e3;
        for (int k = 0; k < d->n_flows; k++) {
            own += d->flows[k]->dsp_us;
        }
        beyond[i] = all[i] - (double)own;
    }
    printf("%d calls a run%s\n", d->n_flows, whole ? ", nothing on the CPU" : "; what is beyond has the CPU's steps in it");
    line("run", all, runs);
    line("beyond the DSP's own time", beyond, runs);
    line("host's processor time", host, runs);
}

// ---- restart ----

enum { STOP, START, START_CPU, HAND_OVER, HAND_OVER_CPU, RUN, ALL, PARTS };

// Processor time of handing a model's sub-graphs over, under the lock.
static double hand_over_cpu(const dsp *d)
{
    tn_diag diag = {.status = TN_OK};
    const uint64_t before = process_ns(d->link);
    for (int k = 0; k < d->n_flows; k++) {
        if (tn_hex_flow_ready(d->flows[k], &diag) != TN_OK) {
            give_up(diag.message);
        }
    }
    return (double)(process_ns(d->link) - before) / 1e3;
}

static void restart(dsp *d, int rounds, const dsp *others, int n_others)
{
    static const char *const names[PARTS] = {"the dead program is taken away", "a program that answers", "  its processor time",
                                             "buffers, graphs, weights, prepare", "  its processor time", "the run itself", "all but the run"};
    static double us[PARTS][MOST_ROUNDS], after[MOST_OTHERS][MOST_ROUNDS];
    tn_diag diag = {.status = TN_OK};
    for (int i = 0; i < rounds; i++) {
        kill(d->link->transport->process(d->link->state), SIGKILL);
        uint64_t at = tn_clock_ns(), begin = at, now;
        tn_hex_link_lock(d->link);
        while (tn_hex_link_running(d->link)) {
        }
        us[STOP][i] = (double)((now = tn_clock_ns()) - at) / 1e3;
        at = now;
        if (tn_hex_link_ready(d->link, &diag) != TN_OK) {
            give_up(diag.message);
        }
        us[START][i] = (double)((now = tn_clock_ns()) - at) / 1e3;
        us[START_CPU][i] = (double)process_ns(d->link) / 1e3;       // of all that a spare was brought up with
        at = now;
        us[HAND_OVER_CPU][i] = hand_over_cpu(d);
        us[HAND_OVER][i] = (double)((now = tn_clock_ns()) - at) / 1e3;
        us[ALL][i] = (double)(now - begin) / 1e3;
        for (int k = 0; k < n_others; k++) {
            after[k][i] = hand_over_cpu(&others[k]);
        }
        tn_hex_link_unlock(d->link);
        at = now;
        run(d);
        us[RUN][i] = (double)(tn_clock_ns() - at) / 1e3;
    }
    for (int part = 0; part < PARTS; part++) {
        line(names[part], us[part], rounds);
    }
    for (int k = 0; k < n_others; k++) {
        line("then another's: processor time", after[k], rounds);
    }
}

int main(int argc, char **argv)
{
    dsp d = {0}, others[MOST_OTHERS] = {0};
    tenon_model *model = NULL, *of_others[MOST_OTHERS];
    const bool cold = argc > 1 && strcmp(argv[1], "cold") == 0;
    if (argc < 3 || (strcmp(argv[1], "overhead") != 0 && strcmp(argv[1], "restart") != 0 && !cold)) {
        fprintf(stderr, "usage: bench_hexagon overhead|restart|cold MODEL [COUNT [OTHER ...]]\n");
        return 2;
    }
    const bool restarts = cold || strcmp(argv[1], "restart") == 0;
    const int asked = argc > 3 ? atoi(argv[3]) : restarts ? 40 : 500, count = asked < 1 ? 1 : asked > MOST_ROUNDS ? MOST_ROUNDS : asked;
    const int n_others = argc > 4 ? argc - 4 < MOST_OTHERS ? argc - 4 : MOST_OTHERS : 0;
    open_dsp(&d, &model, argv[2]);
    for (int i = 0; i < n_others; i++) {
        open_dsp(&others[i], &of_others[i], argv[4 + i]);
        if (others[i].link != d.link) {
            give_up("the models have different programs");
        }
    }
    if (cold) {
        tn_hex_link_lock(d.link);
        tn_hex_spare_close(d.link);
        tn_hex_link_unlock(d.link);
    }
    if (restarts) {
        restart(&d, count, others, n_others);
    } else {
        overhead(&d, count);
    }
    for (int i = 0; i < n_others; i++) {
        tenon_session_destroy(others[i].session);
        tenon_model_destroy(of_others[i]);
    }
    tenon_session_destroy(d.session);
    tenon_model_destroy(model);
    return 0;
}
