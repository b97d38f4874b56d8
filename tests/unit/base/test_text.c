// SPDX-License-Identifier: Apache-2.0
// The growing string, the JSON writer and failure messages.
#include "support/unit.h"
#include "base/diag.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static tn_heap heap;

static int setup(void **state)
{
    tn_heap_init(&heap, NULL, NULL, NULL);
    return 0;
}

static int teardown(void **state)
{
    return atomic_load(&heap.live_blocks) != 0;
}

static void test_text_grows(void **state)
{
    tn_text text;
    tn_text_init(&text, &heap);
    for (int i = 0; i < 1000; i++) {
        tn_text_add(&text, "%03d,", i);
    }
    assert_false(text.failed);
    assert_int_equal(text.length, 4000);
    assert_int_equal(strlen(text.data), 4000);
    assert_memory_equal(text.data + 3996, "999,", 5);
    tn_text_deinit(&text);
    assert_null(text.data);
}

static void test_json_nests_and_separates(void **state)
{
    tn_text text;
    tn_text_init(&text, &heap);
    tn_json_open(&text, '{');
    tn_json_key(&text, "a");
    tn_json_int(&text, INT64_MIN);
    tn_json_key(&text, "b");
    tn_json_open(&text, '[');
    tn_json_bool(&text, true);
    tn_json_null(&text);
    tn_json_open(&text, '{');
    tn_json_close(&text, '}');
    tn_json_open(&text, '[');
    tn_json_close(&text, ']');
    tn_json_close(&text, ']');
    tn_json_key(&text, "c");
    tn_json_string(&text, NULL);
    tn_json_close(&text, '}');
    assert_string_equal(text.data, "{\"a\":-9223372036854775808,\"b\":[true,null,{},[]],\"c\":null}");
    tn_text_deinit(&text);
}

static void check_string(const char *value, const char *want)
{
    tn_text text;
    tn_text_init(&text, &heap);
    tn_json_string(&text, value);
    assert_string_equal(text.data, want);
    tn_text_deinit(&text);
}

static void test_json_keys_with_values(void **state)
{
    tn_heap heap;
    tn_text text;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_text_init(&text, &heap);
    tn_json_open(&text, '{');
    tn_json_key_string(&text, "s", "x");
    tn_json_key_string(&text, "none", NULL);
    tn_json_key_int(&text, "n", UINT64_MAX);
    tn_json_key_real(&text, "r", 0.5);
    tn_json_key_bool(&text, "b", true);
    tn_json_close(&text, '}');
    assert_string_equal(text.data, "{\"s\":\"x\",\"none\":null,\"n\":9223372036854775807,\"r\":0.5,\"b\":true}");
    tn_text_deinit(&text);
}

static void test_json_escapes(void **state)
{
    check_string("a\"b\\c\n\x01\x7f", "\"a\\\"b\\\\c\\u000a\\u0001\\u007f\"");
    check_string("gr\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80", "\"gr\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\"");
    // Not UTF-8: a lone continuation, a cut sequence, an overlong slash, a surrogate, past U+10FFFF.
    check_string("\x80|\xe2\x82|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80",
                 "\"\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"
                 "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void check_real(double value, const char *want)
{
    tn_text text;
    tn_text_init(&text, &heap);
    tn_json_real(&text, value);
    assert_string_equal(text.data, want);
    tn_text_deinit(&text);
}

static void test_json_reals_read_back(void **state)
{
    check_real(0.1, "0.1");
    check_real(1.0 / 3, "0.3333333333333333");
    check_real(-0.0, "-0");
    check_real(1e300, "1e+300");
    check_real((double)NAN, "null");
    check_real((double)-INFINITY, "null");
}

static void test_json_too_deep_fails(void **state)
{
    tn_text text;
    tn_text_init(&text, &heap);
    for (int i = 0; i < 33; i++) {
        tn_json_open(&text, '[');
    }
    assert_true(text.failed);
    tn_text_deinit(&text);
}

static bool write_some(tn_heap *failing, void *context)
{
    tn_text text;
    tn_text_init(&text, failing);
    tn_json_open(&text, '[');
    for (int i = 0; i < 500; i++) {
        tn_json_string(&text, "element");
    }
    tn_json_close(&text, ']');
    const bool ok = !text.failed;
    tn_text_deinit(&text);
    return ok;
}

static void test_failing_memory_is_sticky(void **state)
{
    assert_true(tn_fail_every_request(write_some, NULL) > 2);
}

static void test_diag_keeps_the_first_failure(void **state)
{
    tn_diag diag = {0};
    char name[400];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    assert_int_equal(tn_fail(&diag, TN_IO, name, "reason %d", 1), TN_IO);
    assert_int_equal(tn_fail(&diag, TN_LIMIT, "other", "reason 2"), TN_LIMIT);
    assert_int_equal(diag.status, TN_IO);
    assert_string_equal(diag.message, "reason 1");
    assert_int_equal(strlen(diag.place), sizeof diag.place - 1);
    tn_diag_clear(&diag);
    assert_int_equal(diag.status, TN_OK);
    assert_int_equal(tn_fail_memory(&diag, NULL, 12), TN_OUT_OF_MEMORY);
    assert_string_equal(diag.place, "");
    assert_int_equal(tn_fail(NULL, TN_STATE, "x", "y"), TN_STATE);
    assert_string_equal(tn_status_text(TN_LIMIT), "limit exceeded");
    assert_string_equal(tn_status_text((tn_status)99), "unknown status");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_grows),
        cmocka_unit_test(test_json_nests_and_separates),
        cmocka_unit_test(test_json_keys_with_values), cmocka_unit_test(test_json_escapes),
        cmocka_unit_test(test_json_reals_read_back),
        cmocka_unit_test(test_json_too_deep_fails),
        cmocka_unit_test(test_failing_memory_is_sticky),
        cmocka_unit_test(test_diag_keeps_the_first_failure),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
