// SPDX-License-Identifier: Apache-2.0
// Packed weights in a cache folder: a later process takes them over, what was changed is packed anew, and what is refused as well.
// Skipped where there is no emulator.
#include "hex_bench.h"

#include "exec/hexagon/disk/hex_disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 64 };      // bytes before the payload: magic, bytes, key, mark

static char folder[64], name[256];
static int whole, broken;

static void see(const tn_cache_file *file, void *context)
{
    (void)context;
    assert_string_equal(file->kind, "weights");
    (void)snprintf(name, sizeof name, "%s/%s", folder, file->name);
    whole += file->whole;
    broken += !file->whole;
}

static void look(void)
{
    whole = broken = 0;
    assert_true(tn_hex_disk_list(folder, see, NULL));
}

static void find_part(const tn_plan *plan, void *context)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        if (plan->flows && plan->flows[i] && plan->flows[i]->device->vtable == &tn_device_hexagon) {
            *(tn_hex_part **)context = ((tn_hex_flow *)plan->flows[i])->part;
        }
    }
}

// A program of its own each time.
static void run_once(const char *rounding, uint32_t packings, uint32_t taken)
{
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    tn_hex_part *part = NULL;
    hex_bench_open_net(&b, rounding);
    b.context[HEX_DSP].cache = folder;
    assert_int_equal(hex_bench_run(&b, HEX_CPU, cpu, 0), TN_OK);
    if (hex_bench_run(&b, HEX_DSP, dsp, 0) != TN_OK) {
        fail_msg("%s", b.diag.message);
    }
    hex_bench_compare(&b, dsp, cpu);
    tn_program_visit(b.program[HEX_DSP], find_part, &part);
    assert_non_null(part);
    assert_int_equal(part->packings, packings);
    assert_int_equal(part->taken, taken);
    hex_bench_close(&b);
}

static void change(long at, int value)
{
    FILE *file = fopen(name, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, SEEK_SET), 0);
    assert_int_equal(fputc(value, file), value);
    fclose(file);
}

// Other weights, under a hash that is theirs.
static void forge(void)
{
    static uint8_t bytes[1 << 22];
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    assert_true(n > HEAD && n < sizeof bytes);
    memset(bytes + HEAD, 0xff, n - HEAD);
    uint64_t graph;
    memcpy(&graph, bytes + 24, sizeof graph);
    const uint64_t mark = tn_hex_mark(bytes + HEAD, n - HEAD, graph);
    memcpy(bytes + HEAD - 8, &mark, sizeof mark);
    file = fopen(name, "wb");
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static void kept(const char *rounding)
{
    if (!hex_bench_present()) {
        skip();
    }
    (void)snprintf(folder, sizeof folder, "/tmp/tenon-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
    run_once(rounding, 1, 0);
    look();
    assert_int_equal(whole, 1);
    run_once(rounding, 0, 1);
    // One byte of the weights, of the key, the end.
    const long places[] = {HEAD + 200, 20, 30};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        change(places[i], 0x5b);
        run_once(rounding, 1, 0);
        run_once(rounding, 0, 1);
    }
    assert_int_equal(truncate(name, HEAD + 100), 0);
    look();
    assert_int_equal(broken, 1);
    run_once(rounding, 1, 0);
    run_once(rounding, 0, 1);
    // Shifts that are none are refused by the DSP, and packed anew.
    forge();
    look();
    assert_int_equal(whole, 1);
    run_once(rounding, 1, 0);
    run_once(rounding, 0, 1);
    assert_int_equal(tn_hex_disk_prune(folder, UINT64_MAX), 0);
    assert_int_equal(truncate(name, 10), 0);
    assert_int_equal(tn_hex_disk_prune(folder, UINT64_MAX), 1);
    run_once(rounding, 1, 0);
    assert_int_equal(tn_hex_disk_prune(folder, 0), 1);
    look();
    assert_int_equal(whole + broken, 0);
    assert_int_equal(rmdir(folder), 0);
    // Where nothing can be written nothing is kept, and all is as without.
    (void)snprintf(folder, sizeof folder, "/proc/none");
    run_once(rounding, 1, 0);
}

static void test_q31(void **state) { kept("fixed_q31"); }
static void test_rne(void **state) { kept("float_rne"); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_q31), cmocka_unit_test(test_rne)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
