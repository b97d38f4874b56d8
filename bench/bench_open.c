// SPDX-License-Identifier: Apache-2.0
// How long it takes to open a model and to create a session, each from nothing: bench_open FILE [ROUNDS [THREADS]]. For models whose
// input shapes are fixed that is everything before the first run. Prints median and minimum in milliseconds, and the weights packed.
#include <tenon/tenon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST 1000

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, double *ms, size_t n)
{
    qsort(ms, n, sizeof *ms, by_size);
    printf("  %-7s median %8.3f ms, min %8.3f ms\n", what, ms[n / 2], ms[0]);
}

static int fail(tenon_error *error)
{
    fprintf(stderr, "%s: %s\n", tenon_error_place(error), tenon_error_message(error));
    tenon_error_destroy(error);
    return 1;
}

int main(int argc, char **argv)
{
    static double open_ms[MOST], create_ms[MOST], both_ms[MOST];
    const size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 30;
    tenon_session_options options;
    if (argc < 2 || rounds < 1 || rounds > MOST) {
        fprintf(stderr, "usage: bench_open FILE [ROUNDS, at most %d [THREADS]]\n", MOST);
        return 2;
    }
    tenon_session_options_init(&options);
    options.threads = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 1;
    for (size_t i = 0; i < rounds; i++) {
        tenon_model *model;
        tenon_session *session;
        tenon_error *error = NULL;
        char *json = NULL;
        const double begin = now_ms();
        if (tenon_model_open(&model, argv[1], NULL, &error) != TENON_OK) {
            return fail(error);
        }
        const double opened = now_ms();
        if (tenon_session_create(&session, model, &options, &error) != TENON_OK) {
            tenon_model_destroy(model);
            return fail(error);
        }
        const double created = now_ms();
        open_ms[i] = opened - begin;
        create_ms[i] = created - opened;
        both_ms[i] = created - begin;
        if (i == 0 && tenon_report(session, TENON_REPORT_STATISTICS, &json, NULL) == TENON_OK) {
            const char *packed = strstr(json, "\"weights_packed\":");
            printf("%s: %.0f weights packed, first time %.3f ms\n", argv[1], packed ? strtod(packed + 17, NULL) : 0.0, both_ms[0]);
            tenon_report_destroy(json);
        }
        tenon_session_destroy(session);
        tenon_model_destroy(model);
    }
    print("open", open_ms, rounds);
    print("create", create_ms, rounds);
    print("both", both_ms, rounds);
    return 0;
}
