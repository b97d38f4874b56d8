// SPDX-License-Identifier: Apache-2.0
// Reading and writing files, and the rules for files that a model names.
#include "support/unit.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static tn_diag diag;
static tn_file file;

static const char *in_folder(const char *name)
{
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static void write_text(const char *name, const char *text)
{
    tn_diag_clear(&diag);
    if (tn_file_write(in_folder(name), text, strlen(text), &diag) != TN_OK) {
        fail_msg("%s: %s", diag.place, diag.message);
    }
}

static int setup(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/tenon-test-XXXXXX");
    if (!mkdtemp(folder)) {
        return 1;
    }
    mkdir(in_folder("sub"), 0700);
    write_text("plain", "hello");
    write_text("sub/inner", "inner");
    write_text("linked", "two names");
    write_text("empty", "");
    const int failed = link(in_folder("linked"), in_folder("second")) | symlink("plain", in_folder("soft")) |
                       symlink("sub", in_folder("softsub")) | mkfifo(in_folder("pipe"), 0600);
    return failed;
}

static int teardown(void **state)
{
    static const char *const names[] = {"sub/inner", "plain", "linked", "second", "soft", "softsub", "pipe", "empty", "out"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unlink(in_folder(names[i]));
    }
    rmdir(in_folder("sub"));
    return rmdir(folder);   // fails when a temporary file was left behind
}

static void test_open_maps_the_bytes(void **state)
{
    assert_int_equal(tn_file_open(&file, in_folder("plain"), &diag), TN_OK);
    assert_int_equal(file.size, 5);
    assert_memory_equal(file.data, "hello", 5);
    tn_file_close(&file);
    assert_null(file.data);
    tn_file_close(&file);
    assert_int_equal(tn_file_open(&file, in_folder("soft"), &diag), TN_OK);   // the user may name a link
    tn_file_close(&file);
}

static void test_open_an_empty_file(void **state)
{
    assert_int_equal(tn_file_open(&file, in_folder("empty"), &diag), TN_OK);
    assert_int_equal(file.size, 0);
    assert_null(file.data);
    tn_file_close(&file);
}

static void expect(tn_status got, tn_status want, const char *part)
{
    assert_int_equal(got, want);
    assert_null(file.data);
    if (!strstr(diag.message, part)) {
        fail_msg("'%s' is not in: %s", part, diag.message);
    }
    tn_diag_clear(&diag);
}

static void test_open_refuses_what_is_no_file(void **state)
{
    tn_diag_clear(&diag);
    expect(tn_file_open(&file, in_folder("absent"), &diag), TN_IO, "No such file");
    expect(tn_file_open(&file, folder, &diag), TN_IO, "regular");
    expect(tn_file_open(&file, in_folder("pipe"), &diag), TN_IO, "regular");   // and does not wait for a writer
    tn_file_writer writer;
    expect(tn_file_create(&writer, in_folder("pipe"), &diag), TN_IO, "regular");
}

static void test_open_below_accepts_plain_paths(void **state)
{
    static const char *const paths[] = {"plain", "./plain", "sub/inner", "sub//inner", "sub/./inner"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(tn_file_open_below(&file, folder, paths[i], &diag), TN_OK);
        assert_int_equal(file.size, 5);
        tn_file_close(&file);
    }
}

static void test_open_below_refuses_ways_out(void **state)
{
    char long_name[400];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = 0;
    tn_diag_clear(&diag);
    expect(tn_file_open_below(&file, folder, "", &diag), TN_INVALID_MODEL, "relative");
    expect(tn_file_open_below(&file, folder, "/etc/passwd", &diag), TN_INVALID_MODEL, "relative");
    expect(tn_file_open_below(&file, folder, "sub/", &diag), TN_INVALID_MODEL, "relative");
    expect(tn_file_open_below(&file, folder, "../plain", &diag), TN_INVALID_MODEL, "outside");
    expect(tn_file_open_below(&file, folder, "sub/../plain", &diag), TN_INVALID_MODEL, "outside");
    expect(tn_file_open_below(&file, folder, "soft", &diag), TN_INVALID_MODEL, "symbolic");
    expect(tn_file_open_below(&file, folder, "softsub/inner", &diag), TN_INVALID_MODEL, "symbolic");
    expect(tn_file_open_below(&file, folder, "linked", &diag), TN_INVALID_MODEL, "hard link");
    expect(tn_file_open_below(&file, folder, "pipe", &diag), TN_INVALID_MODEL, "regular");
    expect(tn_file_open_below(&file, folder, "sub", &diag), TN_INVALID_MODEL, "regular");
    expect(tn_file_open_below(&file, folder, ".", &diag), TN_INVALID_MODEL, "regular");
    expect(tn_file_open_below(&file, folder, long_name, &diag), TN_INVALID_MODEL, "too long");
    expect(tn_file_open_below(&file, folder, "absent", &diag), TN_IO, "No such file");
    expect(tn_file_open_below(&file, folder, "plain/inner", &diag), TN_IO, "directory");
    expect(tn_file_open_below(&file, in_folder("absent"), "plain", &diag), TN_IO, "folder");
}

static void test_write_replaces_whole_files(void **state)
{
    write_text("out", "first");
    assert_int_equal(tn_file_open(&file, in_folder("out"), &diag), TN_OK);
    write_text("out", "second, and longer");
    assert_memory_equal(file.data, "first", 5);   // the mapping keeps the old file
    tn_file_close(&file);
    assert_int_equal(tn_file_open(&file, in_folder("out"), &diag), TN_OK);
    assert_int_equal(file.size, 18);
    tn_file_close(&file);
}

static void test_write_fails_cleanly(void **state)
{
    tn_diag_clear(&diag);
    expect(tn_file_write(in_folder("absent/out"), "x", 1, &diag), TN_IO, "create");
    expect(tn_file_write(in_folder("sub"), "x", 1, &diag), TN_IO, "write");   // a folder is in the way
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_maps_the_bytes),
        cmocka_unit_test(test_open_an_empty_file),
        cmocka_unit_test(test_open_refuses_what_is_no_file),
        cmocka_unit_test(test_open_below_accepts_plain_paths),
        cmocka_unit_test(test_open_below_refuses_ways_out),
        cmocka_unit_test(test_write_replaces_whole_files),
        cmocka_unit_test(test_write_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
