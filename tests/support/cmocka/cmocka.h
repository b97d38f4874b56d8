// SPDX-License-Identifier: Apache-2.0
// A stand-in for the part of the cmocka library that our unit tests use, for targets where it is not packaged (TENON_CMOCKA=OFF).
// Same names and meaning, so that the tests need not know.
// Ownership: none. Threads: assertions only on the thread that runs the test.
#ifndef CMOCKA_H
#define CMOCKA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
    int (*setup)(void **state);      // NULL: none
    int (*teardown)(void **state);   // NULL: none
} CMUnitTest;

#define cmocka_unit_test(f) {#f, f, NULL, NULL}
#define cmocka_unit_test_setup_teardown(f, setup, teardown) {#f, f, setup, teardown}
#define cmocka_run_group_tests(tests, setup, teardown) \
    cmocka_small_run(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

int cmocka_small_run(const char *group, const CMUnitTest *tests, size_t count, int (*setup)(void **), int (*teardown)(void **));
void cmocka_small_fail(const char *file, int line, const char *format, ...) __attribute__((noreturn, format(printf, 3, 4)));
void cmocka_small_skip(void) __attribute__((noreturn));
void cmocka_small_text(const char *a, const char *b, int equal, const char *file, int line);
void cmocka_small_memory(const void *a, const void *b, size_t size, int equal, const char *file, int line);

void print_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define CMOCKA_CHECK(condition, ...) ((condition) ? (void)0 : cmocka_small_fail(__FILE__, __LINE__, __VA_ARGS__))

#define fail() cmocka_small_fail(__FILE__, __LINE__, "failed")
#define fail_msg(...) cmocka_small_fail(__FILE__, __LINE__, __VA_ARGS__)
#define skip() cmocka_small_skip()
#define assert_true(c) CMOCKA_CHECK(c, "not true: %s", #c)
#define assert_false(c) CMOCKA_CHECK(!(c), "not false: %s", #c)
#define assert_null(p) CMOCKA_CHECK(!(p), "not NULL: %s", #p)
#define assert_non_null(p) CMOCKA_CHECK(p, "NULL: %s", #p)
#define assert_ptr_equal(a, b) CMOCKA_CHECK((const void *)(a) == (const void *)(b), "%s is not %s", #a, #b)
#define assert_ptr_not_equal(a, b) CMOCKA_CHECK((const void *)(a) != (const void *)(b), "%s is %s", #a, #b)
#define assert_int_equal(a, b) \
    CMOCKA_CHECK((long long)(a) == (long long)(b), "%s is %lld, not %lld", #a, (long long)(a), (long long)(b))
#define assert_int_not_equal(a, b) CMOCKA_CHECK((long long)(a) != (long long)(b), "%s is %lld", #a, (long long)(a))
#define assert_in_range(v, low, high) \
    CMOCKA_CHECK((v) >= (low) && (v) <= (high), "%s is %lld, out of range", #v, (long long)(v))
#define assert_float_equal(a, b, e) \
    CMOCKA_CHECK((a) - (b) <= (e) && (b) - (a) <= (e), "%s is %g, not %g", #a, (double)(a), (double)(b))
#define assert_double_equal(a, b, e) assert_float_equal(a, b, e)
#define assert_string_equal(a, b) cmocka_small_text(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) cmocka_small_text(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) cmocka_small_memory(a, b, size, 1, __FILE__, __LINE__)
#define assert_memory_not_equal(a, b, size) cmocka_small_memory(a, b, size, 0, __FILE__, __LINE__)

#endif
