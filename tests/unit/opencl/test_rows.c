// SPDX-License-Identifier: Apache-2.0
// Every row of the OpenCL device against the reference, on the cases of its operator's family: listed ones and random ones, as a flow of
// one node, in images and in buffers, with kernels that report writes outside their grids. Skipped where there is no device.
//   test_rows [FAMILY] [RANDOM CASES] [list | MACS]      list: only tells which cases the device refuses, and why; MACS: leaves larger cases out
#include "support/unit.h"

#include "dispatch/registry.h"
#include "exec/opencl/cl_flow.h"
#include "exec/opencl/rows/cl_rows.h"
#include "ir/edit.h"
#include "ops/move/op_copy.h"
#include "ops/op_eval.h"
#include "support/compare.h"
#include "trial/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tn_heap heap;
static tn_cl_context *device;
static const char *wanted_family;
static unsigned random_cases = 3, ran, refused;
static bool only_list;
static int64_t most_macs = INT64_MAX;

static tn_graph *graph_of(const tn_trial *trial)
{
    const tn_case *c = trial->c;
    tn_graph *graph = tn_graph_create(&heap, "case");
    tn_value *in[TN_CASE_MAX_IN] = {NULL}, *out[TN_MAX_OUT] = {NULL};
    for (int i = 0; i < c->n_in; i++) {
        if (c->in[i].absent) {
            continue;
        }
        if (c->in[i].constant || c->in[i].ints) {
            in[i] = tn_graph_constant(graph, NULL, c->in[i].dtype, &c->in[i].shape, trial->in[i].data, false);
        } else {
            in[i] = tn_graph_value(graph, NULL);
            in[i]->dtype = c->in[i].dtype;
            in[i]->shape = c->in[i].shape;
            assert_int_equal(tn_graph_add_input(graph, in[i]), TN_OK);
        }
    }
    for (int i = 0; i < c->n_out; i++) {
        out[i] = tn_graph_value(graph, NULL);
        out[i]->dtype = trial->want[i].dtype;
        out[i]->shape = trial->want[i].shape;
    }
    assert_non_null(tn_graph_node(graph, NULL, c->op, "case", c->attr, in, c->n_in, out, c->n_out));
    for (int i = 0; i < c->n_out; i++) {
        assert_int_equal(tn_graph_add_output(graph, out[i]), TN_OK);
    }
    return graph;
}

static void describe(const tn_trial *trial, const char *family, unsigned index, char *text, size_t size)
{
    int used = snprintf(text, size, "%s case %u, %s%s:", family, index, trial->c->op->name, device->buffers_only ? ", buffers" : "");
    for (int i = 0; i < trial->c->n_in && used < (int)size - 200; i++) {
        char shape[160];
        used += snprintf(text + used, size - (size_t)used, " %s%s", tn_dtype_text(trial->c->in[i].dtype),
                         tn_shape_print(&trial->c->in[i].shape, shape, sizeof shape));
    }
}

static void run_flow(const tn_trial *trial, const tn_graph *graph, const char *what, tn_arena *arena)
{
    const tn_case *c = trial->c;
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow;
    const tn_tensor *in[TN_CASE_MAX_IN];
    tn_tensor got[TN_MAX_OUT], *out[TN_MAX_OUT];
    int n = 0;
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = device->buffers_only ? "buffer" : "image", .diag = &diag};
    if (tn_cl_flow_make(device, &request, &flow) != TN_OK) {
        fail_msg("%s: %s", what, diag.message);
    }
    for (int i = 0; i < c->n_in; i++) {
        if (!c->in[i].absent && !c->in[i].constant && !c->in[i].ints) {
            in[n++] = &trial->in[i];
        }
    }
    for (int i = 0; i < c->n_out; i++) {
        size_t bytes = 0;
        got[i] = trial->want[i];
        assert_true(tn_tensor_bytes(&got[i], &bytes));
        got[i].data = tn_arena_take(arena, bytes + 1);
        assert_non_null(got[i].data);
        out[i] = &got[i];
    }
    const tn_flow_run run = {.in = in, .out = out, .diag = &diag};
    if (tn_cl_flow_run(flow, &run) != TN_OK) {
        fail_msg("%s: %s", what, diag.message);
    }
    tn_cl_flow_release(flow);
    for (int i = 0; i < c->n_out; i++) {
        // Sums in another order than the reference's, and functions to a few units in the last place.
        const bool exact = !tn_dtype_is_float(got[i].dtype);
        tn_difference worst;
        if (!tn_compare(&got[i], &trial->want[i], exact ? 0 : TN_MAX(c->rel, 2e-5), exact ? 0 : TN_MAX(c->abs, 2e-6), false, &worst)) {
            fail_msg("%s: result %d: %lld elements differ, the worst at %lld: %.9g, expected %.9g", what, i, (long long)worst.count,
                     (long long)worst.index, worst.got, worst.want);
        }
    }
    ran++;
}

// Boxes of plans cover their result; cases of copy may leave room between them, which the device's memory has anything in.
static bool has_gaps(const tn_case *c, const tn_tensor *result)
{
    const tn_regions *regions = c->op == &tn_op_copy ? ((const tn_copy_attr *)c->attr)->regions : NULL;
    int64_t covered = 0;
    for (int i = 0; regions && i < regions->count; i++) {
        int64_t box = 1;
        for (int d = 0; d < regions->regions[i].rank; d++) {
            box *= regions->regions[i].sizes[d];
        }
        covered += box;
    }
    return regions && covered != tn_tensor_count(result);
}

static void try_case(const tn_case_family *family, unsigned index)
{
    tn_arena arena;
    tn_rand r = {index * 7919 + 17};
    tn_case c;
    tn_trial trial;
    tn_trial_query q;
    tn_diag diag = {.status = TN_OK};
    const char *why = NULL;
    char what[2048];
    tn_arena_init(&arena, &heap);
    memset(&c, 0, sizeof c);
    assert_true(family->make(&c, &arena, &r, index));
    const bool fit = tn_trial_init(&trial, &c, &arena, &r, false, &diag) == TN_OK && !(c.op->flags & (TN_OP_DYNAMIC | TN_OP_CONTROL));
    bool all = fit && !has_gaps(&c, &trial.want[0]);
    for (int i = 0; fit && i < c.n_in; i++) {
        all = all && !(c.in[i].ints && c.in[i].dtype == TN_STRING);
    }
    if (all) {
        const tn_kernel any = {.layouts = {TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, 0}};
        tn_trial_describe(&trial, &any, (tn_trial_layouts){TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN}, &q);
        for (int i = 0; i < c.n_in; i++) {
            q.in[i].data = c.in[i].constant || c.in[i].ints ? trial.in[i].data : NULL;
        }
        const bool taken = tn_cl_row_for(&q.query, &why) && (uint64_t)tn_query_macs(&q.query) <= (uint64_t)most_macs;
        if (only_list && !taken) {
            describe(&trial, family->name, index, what, sizeof what);
            print_message("%s: %s\n", what, why ? why : "there is no kernel");
        } else if (!only_list && taken) {
            describe(&trial, family->name, index, what, sizeof what);
            const tn_tensor *in[TN_CASE_MAX_IN];
            for (int i = 0; i < c.n_in; i++) {
                in[i] = c.in[i].absent ? NULL : &trial.in[i];
            }
            assert_int_equal(tn_op_eval(c.op, c.attr, "case", in, c.n_in, trial.want, c.n_out, (size_t)1 << 30, &arena, &heap, &diag), TN_OK);
            tn_graph *graph = graph_of(&trial);
            run_flow(&trial, graph, what, &arena);
            tn_graph_destroy(graph);
        } else {
            refused++;
        }
    }
    tn_arena_deinit(&arena);
}

// A driver builds a program for most cases, a quarter of a second each. Unless the family is named, of one with many cases a fixed draw of
// one in four is taken; families of handwritten kernels run whole under ctest -L oclgrind.
static bool is_drawn(const tn_case_family *family, unsigned index)
{
    return wanted_family || only_list || family->listed <= 12 || (index * 2654435761u >> 16) % 4 == 0;
}

// Families that list few cases draw among several operators.
static unsigned cases_of(const tn_case_family *family)
{
    return family->listed + (family->listed <= 8 && !wanted_family ? 4 * random_cases : random_cases);
}

static void rows_agree(void **state)
{
    (void)state;
    if (!device) {
        print_message("no OpenCL device\n");
        skip();
    }
    device->checked = true;
    for (const tn_case_family *const *family = tn_case_families; *family; family++) {
        for (unsigned i = 0; i < cases_of(*family) && (!wanted_family || strcmp((*family)->name, wanted_family) == 0); i++) {
            device->buffers_only = i % 2 == 1;
            device->baked = i % 9 == 0;
            device->no_sampler = i % 4 == 0;
            device->filter_buffers = i % 3 == 0;
            device->facts.dot = i % 2 == 0;                  // without the built-ins the kernel spells them out
            device->float_sums = i % 4 == 1;
            device->tile_seed = i % 3 == 0 ? i + 1 : 0;      // a third of the cases with odd tiles, the others with those of a user
            if (is_drawn(*family, i)) {
                try_case(*family, i);
            }
        }
    }
    print_message("%u cases ran, %u were refused\n", ran, refused);
    tn_cl_context_close(device);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_agree)};
    tn_cl_driver driver;
    tn_cpu cpu;
    const char *reason;
    wanted_family = argc > 1 && argv[1][0] ? argv[1] : NULL;
    random_cases = argc > 2 ? (unsigned)atoi(argv[2]) : random_cases;
    only_list = argc > 3 && strcmp(argv[3], "list") == 0;
    most_macs = argc > 3 && !only_list ? atoll(argv[3]) : most_macs;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cpu_detect(&cpu);
    if (tn_cl_driver_open(&driver, &reason)) {
        (void)tn_cl_context_open(&device, &driver, &heap, &cpu, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
