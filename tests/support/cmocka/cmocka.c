// SPDX-License-Identifier: Apache-2.0
// Running tests one after the other; a failed assertion jumps back here. See cmocka.h for why this exists.
// Ownership: none. Threads: one.
#include "cmocka.h"

#include <stdio.h>
#include <string.h>

enum { PASSED, FAILED, SKIPPED };

static jmp_buf back;   // to the running test; tests run one at a time

void cmocka_small_fail(const char *file, int line, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, values);
    fprintf(stderr, "\n");
    va_end(values);
    longjmp(back, FAILED);
}

void print_message(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
}

void print_error(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
}

void cmocka_small_skip(void)
{
    longjmp(back, SKIPPED);
}

void cmocka_small_text(const char *a, const char *b, int equal, const char *file, int line)
{
    if ((strcmp(a, b) == 0) != equal) {
        cmocka_small_fail(file, line, "\"%s\" %s \"%s\"", a, equal ? "is not" : "is", b);
    }
}

void cmocka_small_memory(const void *a, const void *b, size_t size, int equal, const char *file, int line)
{
    if ((memcmp(a, b, size) == 0) != equal) {
        cmocka_small_fail(file, line, "%zu bytes %s", size, equal ? "differ" : "are the same");
    }
}

static int run_one(const CMUnitTest *test, void *shared)
{
    void *state = shared;
    const int outcome = setjmp(back);
    if (outcome == PASSED) {
        if (test->setup && test->setup(&state) != 0) {
            return FAILED;
        }
        test->run(&state);
    }
    if (test->teardown && test->teardown(&state) != 0) {
        return FAILED;
    }
    return outcome;
}

int cmocka_small_run(const char *group, const CMUnitTest *tests, size_t count, int (*setup)(void **), int (*teardown)(void **))
{
    static const char *const words[] = {"ok", "FAILED", "skipped"};
    void *shared = NULL;
    int failed = setup && setup(&shared) != 0;
    for (size_t i = 0; i < count && !failed; i++) {
        const int outcome = run_one(&tests[i], shared);
        printf("%-8s %s\n", words[outcome], tests[i].name);
        failed += outcome == FAILED;
    }
    if (teardown && teardown(&shared) != 0) {
        failed++;
    }
    printf("%s: %s\n", group, failed ? "FAILED" : "ok");
    return failed;
}
