// SPDX-License-Identifier: Apache-2.0
// Many sessions of one model: throughput of 8 against 2 on this machine's cores, what idle sessions burn, and whether cycles of create, run
// and destroy leave anything behind.
//
//   bench_sessions [--json] throughput MODEL [ROUNDS]     rounds of 2 and of 8 sessions, one thread each, taking turns
//   bench_sessions [--json] idle MODEL [SECONDS]          8 sessions with threads of their own, right after a run
//   bench_sessions [--json] cycles MODEL [COUNT]
//
// Inputs are zeros; dims that the model leaves open are 1.
#include "bench_feed.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { MANY = 8, FEW = 2 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static double resident_mib(void)
{
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    const int read = file ? fscanf(file, "%ld %ld", &all, &pages) : 0;
    if (file) {
        fclose(file);
    }
    return read == 2 ? (double)pages * 4096 / (1 << 20) : 0;
}

static void give_up(tenon_error *error)
{
    fprintf(stderr, "bench_sessions: %s\n", error ? tenon_error_message(error) : "failed");
    exit(1);
}

static tenon_session *open_session(tenon_model *model, unsigned threads)
{
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    tenon_session_options options;
    tenon_session_options_init(&options);
    options.threads = threads;
    if (tenon_session_create(&session, model, &options, &error) != TENON_OK || tn_bench_feed(session, model, &error) != TENON_OK) {
        give_up(error);
    }
    return session;
}

static void run(tenon_session *session)
{
    tenon_error *error = NULL;
    if (tenon_session_run(session, NULL, 0, &error) != TENON_OK) {
        give_up(error);
    }
}

static long long statistic(tenon_session *session, const char *key)
{
    char *json = NULL, pattern[64];
    if (tenon_report(session, TENON_REPORT_STATISTICS, &json, NULL) != TENON_OK) {
        return -1;
    }
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *at = strstr(json, pattern);
    const long long value = at ? strtoll(at + strlen(pattern), NULL, 10) : -1;
    tenon_report_destroy(json);
    return value;
}

// ---- throughput ----

typedef struct worker {
    tenon_session *session;
    double until;
    atomic_long *runs;
} worker;

static void *work(void *argument)
{
    const worker *w = argument;
    while (seconds() < w->until) {
        run(w->session);
        atomic_fetch_add_explicit(w->runs, 1, memory_order_relaxed);
    }
    return NULL;
}

// Runs a second of all sessions together.
static double rate(tenon_session *const *sessions, int count, double length)
{
    pthread_t threads[MANY];
    worker workers[MANY];
    atomic_long runs = 0;
    const double begin = seconds();
    for (int i = 0; i < count; i++) {
        workers[i] = (worker){sessions[i], begin + length, &runs};
        if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0) {
            give_up(NULL);
        }
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    return (double)atomic_load(&runs) / (seconds() - begin);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int throughput(tenon_model *model, long rounds, int json)
{
    enum { MOST = 64 };
    tenon_session *sessions[MANY];
    double ratios[MOST], few = 0, many = 0;
    rounds = rounds < 1 ? 9 : rounds > MOST ? MOST : rounds;
    for (int i = 0; i < MANY; i++) {
        sessions[i] = open_session(model, 1);
        run(sessions[i]);
    }
    for (long r = 0; r < rounds; r++) {      // few, many, few: what drifts meanwhile hits both
        const double a = rate(sessions, FEW, 0.4), b = rate(sessions, MANY, 0.8), c = rate(sessions, FEW, 0.4);
        ratios[r] = b / (0.5 * (a + c));
        few = 0.5 * (a + c) > few ? 0.5 * (a + c) : few;
        many = b > many ? b : many;
    }
    qsort(ratios, (size_t)rounds, sizeof ratios[0], ascending);
    printf(json ? "{\"sessions\": [%d, %d], \"best_runs_per_second\": [%.1f, %.1f], \"median_ratio\": %.3f}\n"
                : "%d and %d sessions: %.1f and %.1f runs/s at best; ratio %.3f in the median of the rounds\n",
           FEW, MANY, few, many, ratios[rounds / 2]);
    for (int i = 0; i < MANY; i++) {
        tenon_session_destroy(sessions[i]);
    }
    return 0;
}

// ---- idle ----

static int idle(tenon_model *model, long length, int json)
{
    tenon_session *sessions[MANY];
    const long wait = length > 0 ? length : 2;
    for (int i = 0; i < MANY; i++) {
        sessions[i] = open_session(model, 2);
    }
    for (int i = 0; i < MANY; i++) {
        run(sessions[i]);
    }
    const double before = cpu_seconds();
    nanosleep(&(struct timespec){0, 100000000}, NULL);      // workers look for another job a while before they sleep
    const double settled = cpu_seconds();
    nanosleep(&(struct timespec){wait, 0}, NULL);
    const double burnt = cpu_seconds() - settled;
    printf(json ? "{\"sessions\": %d, \"first_100_ms\": %.6f, \"seconds\": %ld, \"cpu_seconds\": %.6f}\n"
                : "%d idle sessions: %.6f s of processor time in the first 0.1 s, in %ld s after that %.6f\n",
           MANY, settled - before, wait, burnt);
    for (int i = 0; i < MANY; i++) {
        tenon_session_destroy(sessions[i]);
    }
    return 0;
}

// ---- cycles ----

static int cycles(tenon_model *model, long count, int json)
{
    double early = 0;
    const double begin = seconds();
    count = count > 0 ? count : 10000;
    tenon_session *keeper = open_session(model, 1);      // to ask for the counters; it holds no plan and no weights
    const long long live = statistic(keeper, "live_bytes");
    for (long i = 0; i < count; i++) {
        tenon_session *session = open_session(model, 1 + (unsigned)(i % 2));
        run(session);
        tenon_session_destroy(session);
        early = i == count / 20 ? resident_mib() : early;
    }
    const long long left = statistic(keeper, "live_bytes") - live;
    printf(json ? "{\"cycles\": %ld, \"resident_mib\": [%.2f, %.2f], \"bytes_left\": %lld, \"ms_a_cycle\": %.4f}\n"
                : "%ld cycles: resident %.2f MiB after a twentieth, %.2f MiB at the end, %lld bytes left, %.4f ms a cycle\n",
           count, early, resident_mib(), left, 1e3 * (seconds() - begin) / (double)count);
    tenon_session_destroy(keeper);
    return left != 0;
}

int main(int argc, char **argv)
{
    const int json = argc > 1 && strcmp(argv[1], "--json") == 0;
    char **words = argv + 1 + json;
    const int count = argc - 1 - json;
    tenon_model *model = NULL;
    tenon_error *error = NULL;
    if (count < 2) {
        fputs("bench_sessions [--json] throughput|idle|cycles MODEL [NUMBER]\n", stderr);
        return 2;
    }
    if (tenon_model_open(&model, words[1], NULL, &error) != TENON_OK) {
        give_up(error);
    }
    const long number = count > 2 ? strtol(words[2], NULL, 10) : 0;
    const int code = strcmp(words[0], "throughput") == 0 ? throughput(model, number, json)
                     : strcmp(words[0], "idle") == 0     ? idle(model, number, json)
                                                         : cycles(model, number, json);
    tenon_model_destroy(model);
    return code;
}
