// SPDX-License-Identifier: Apache-2.0
// What outlives a DSP program: weights that it packed are taken over by the next one if they are what they were, and packed again if anybody
// wrote there; records that were written over are encoded again. Flows that are the same share both. Skipped where there is no emulator.
#include "hex_bench.h"

#include "pass/pass.h"
#include "support/graph_text.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

static void find_part(const tn_plan *plan, void *context)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        if (plan->flows && plan->flows[i] && plan->flows[i]->device->vtable == &tn_device_hexagon) {
            *(tn_hex_part **)context = ((tn_hex_flow *)plan->flows[i])->part;
        }
    }
}

// The program is gone when it returns.
static void kill_program(hex_bench *b)
{
    tn_hex_link *link = hex_bench_link(b);
    kill(hex_bench_process(b), SIGKILL);
    tn_hex_link_lock(link);
    while (tn_hex_link_running(link)) {
    }
    tn_hex_link_unlock(link);
}

typedef struct fixture {
    hex_bench b;
    tn_result_slot dsp[HEX_MOST_RESULTS], cpu[HEX_MOST_RESULTS];
    tn_hex_part *part;
} fixture;

static void open_fixture(fixture *f, const char *rounding)
{
    memset(f, 0, sizeof *f);
    hex_bench_open_net(&f->b, rounding);
    hex_bench_link(&f->b)->spare.off = true;      // it is what a program that is started anew does that is looked at
    assert_int_equal(hex_bench_run(&f->b, HEX_CPU, f->cpu, 0), TN_OK);
    assert_int_equal(hex_bench_run(&f->b, HEX_DSP, f->dsp, 0), TN_OK);
    tn_program_visit(f->b.program[HEX_DSP], find_part, &f->part);
    assert_non_null(f->part);
    assert_non_null(f->part->packed);
    assert_true(f->part->kept);
    assert_int_equal(f->part->packings, 1);
    assert_int_equal(f->part->taken, 0);
}

// A run with a new program; so often weights have been packed and taken over since the begin.
static void run_again(fixture *f, uint32_t packings, uint32_t taken)
{
    assert_int_equal(hex_bench_run(&f->b, HEX_DSP, f->dsp, 0), TN_OK);
    hex_bench_compare(&f->b, f->dsp, f->cpu);
    assert_int_equal(f->part->packings, packings);
    assert_int_equal(f->part->taken, taken);
}

static void taken_over(const char *rounding)
{
    fixture f;
    open_fixture(&f, rounding);
    for (uint32_t i = 1; i <= 3; i++) {
        kill_program(&f.b);
        run_again(&f, 1, i);
    }
    hex_bench_close(&f.b);
}

static void test_taken_over_q31(void **state) { taken_over("fixed_q31"); }
static void test_taken_over_rne(void **state) { taken_over("float_rne"); }

// One bit in each of many places, one at a time; then everything.
static void test_weights_written_over(void **state)
{
    fixture f;
    uint32_t packings = 1;
    open_fixture(&f, "fixed_q31");
    const size_t bytes = f.part->packed->bytes, used = bytes < 20000 ? bytes : 20000;
    for (size_t at = 0; at < used; at += used / 9) {
        kill_program(&f.b);
        // Bytes behind the weights are nobody's: the first that are not zero are surely in them.
        size_t place = at;
        while (place > 0 && f.part->packed->data[place] == 0) {
            place--;
        }
        f.part->packed->data[place] ^= (uint8_t)(1u << at % 8);
        run_again(&f, ++packings, 0);
    }
    kill_program(&f.b);
    memset(f.part->packed->data, 0xa5, bytes);
    run_again(&f, ++packings, 0);
    kill_program(&f.b);
    run_again(&f, packings, 1);
    // A program that died while it packed: its bytes are there, and nobody has said that they are whole.
    kill_program(&f.b);
    f.part->kept = false;
    memset(f.part->packed->data, 0, bytes / 2);
    run_again(&f, ++packings, 1);
    hex_bench_close(&f.b);
}

static void test_records_written_over(void **state)
{
    fixture f;
    open_fixture(&f, "float_rne");
    const tn_hex_part *part = f.part;
    const size_t places[] = {4, part->consts_bytes - 8, part->nodes_at + 4, part->data_at + part->data_bytes / 2, part->data_at + part->data_bytes - 1};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        kill_program(&f.b);
        part->records->data[places[i]] ^= 0x41;
        // Weights packed from them too, so that only the records can tell.
        part->packed->data[0] ^= 1;
        run_again(&f, (uint32_t)i + 2, 0);
    }
    kill_program(&f.b);
    memset(part->records->data, 0xff, part->records->bytes);
    run_again(&f, (uint32_t)(sizeof places / sizeof places[0]) + 1, 1);
    hex_bench_close(&f.b);
}

static void test_shared(void **state)
{
    hex_bench b;
    hex_bench_open_net(&b, "fixed_q31");
    tn_graph *other = tn_graph_parse("graph \"g\" (%x: uint8[1,8,12,12]) -> (%y)\n  %y = qlinear_table(%x, %t: const uint8[256])\n", &b.heap, &b.diag);
    assert_non_null(other);
    assert_int_equal(tn_infer_graph(other, &b.heap, &b.diag), TN_OK);
    tn_hex_flow *flows[3] = {NULL};
    tn_graph *plain = tn_graph_parse("graph \"g\" (%x: uint8[1,8,12,12]) -> (%y)\n  %y = max_pool(%x) {kernel=[2,2], strides=[2,2]}\n", &b.heap, &b.diag);
    assert_non_null(plain);
    assert_int_equal(tn_infer_graph(plain, &b.heap, &b.diag), TN_OK);
    for (int i = 0; i < 3; i++) {
        const tn_flow_request request = {.graph = i < 2 ? other : plain, .precision = "fp32", .diag = &b.diag};
        assert_int_equal(tn_hex_flow_make((tn_hex_device *)b.devices[0], &request, &flows[i]), TN_OK);
    }
    assert_ptr_equal(flows[0]->part, flows[1]->part);
    assert_ptr_not_equal(flows[0]->part, flows[2]->part);
    assert_int_equal(flows[0]->part->uses, 2);
    assert_int_equal(flows[0]->part->packings, 1);
    tn_hex_flow_release(flows[0]);
    assert_int_equal(flows[1]->part->uses, 1);
    // What is left works.
    uint8_t y[HEX_INPUT], p[8 * 36];
    tn_tensor out[2] = {{.dtype = TN_U8, .shape = {4, {1, 8, 12, 12}}, .data = y}, {.dtype = TN_U8, .shape = {4, {1, 8, 6, 6}}, .data = p}};
    const tn_tensor *const ins[] = {&b.feed};
    for (int i = 0; i < 2; i++) {
        tn_tensor *const outs[] = {&out[i]};
        const tn_flow_run run = {.in = ins, .out = outs, .diag = &b.diag};
        assert_int_equal(tn_hex_flow_run(flows[1 + i], &run), TN_OK);
        tn_hex_flow_release(flows[1 + i]);
    }
    assert_null(hex_bench_link(&b)->parts);
    tn_graph_destroy(other);
    tn_graph_destroy(plain);
    hex_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taken_over_q31),   cmocka_unit_test(test_taken_over_rne), cmocka_unit_test(test_weights_written_over),
        cmocka_unit_test(test_records_written_over), cmocka_unit_test(test_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
