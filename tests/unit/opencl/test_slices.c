// SPDX-License-Identifier: Apache-2.0
// Slices: they cover each item once, in multiples of the group, and as many as the time asks for; a flow in slices gives the same bits as a
// whole one, and stops between slices when asked.
#include "support/unit.h"

#include "exec/opencl/cl_flow.h"
#include "exec/opencl/run/cl_slice.h"
#include "ir/edit.h"
#include "ops/nn/op_matmul.h"
#include "support/case.h"

#include <stdlib.h>
#include <string.h>

static void cover(void **state)
{
    tn_rand r = {3};
    (void)state;
    for (int round = 0; round < 200; round++) {
        tn_cl_step step = {.n_args = 0};
        size_t items = 1;
        for (int d = 0; d < 3; d++) {
            step.local[d] = (size_t)1 << tn_rand_range(&r, 0, 3);
            step.global[d] = step.local[d] * (size_t)tn_rand_range(&r, 1, 9);
            items *= step.global[d];
        }
        const double ns = tn_rand_real(&r, 0, 1e7);
        const size_t count = tn_cl_slice_count(&step, ns, 1e6);
        size_t seen = 0, next = 0;
        tn_cl_slice slice;
        assert_true(count >= 1);
        assert_true(ns > 1e6 || count == 1);
        for (size_t i = 0; tn_cl_slice_at(&step, count, i, &slice); i++) {
            size_t size = 1;
            for (int d = 0; d < 3; d++) {
                assert_int_equal(slice.offset[d] % step.local[d], 0);
                assert_int_equal(slice.size[d] % step.local[d], 0);
                assert_true(slice.size[d] > 0 && slice.offset[d] + slice.size[d] <= step.global[d]);
                next = slice.offset[d] > next ? slice.offset[d] : next;
                size *= slice.size[d];
            }
            seen += size;
            assert_true(i < count);
        }
        assert_int_equal(seen, items);
    }
}

enum { N = 96 };

static tn_status run(tn_cl_context *cl, tn_heap *heap, uint64_t slice_ns, const atomic_int *cancel, float *y)
{
    static float a[N * N], b[N * N];
    const tn_shape shape = tn_shape_of(2, (const int64_t[]){N, N});
    const tn_matmul_attr attr = {.alpha = 1};
    tn_diag diag = {.status = TN_OK};
    tn_graph *graph = tn_graph_create(heap, "product");
    tn_value *v[3];
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 17) - 8;
        b[i] = (float)(i % 23) / 7;
    }
    for (int i = 0; i < 3; i++) {
        v[i] = tn_graph_value(graph, NULL);
        v[i]->dtype = TN_F32;
        v[i]->shape = shape;
    }
    assert_int_equal(tn_graph_add_input(graph, v[0]), TN_OK);
    assert_int_equal(tn_graph_add_input(graph, v[1]), TN_OK);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_matmul, "product", &attr, v, 2, &v[2], 1));
    assert_int_equal(tn_graph_add_output(graph, v[2]), TN_OK);
    tn_tensor in[2] = {{.dtype = TN_F32, .shape = shape, .data = a}, {.dtype = TN_F32, .shape = shape, .data = b}};
    tn_tensor out = {.dtype = TN_F32, .shape = shape, .data = y};
    const tn_tensor *ins[] = {&in[0], &in[1]};
    tn_tensor *outs[] = {&out};
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .slice_ns = slice_ns, .diag = &diag};
    const tn_flow_run go = {.in = ins, .out = outs, .cancel = cancel, .diag = &diag};
    tn_cl_flow *flow;
    assert_int_equal(tn_cl_flow_make(cl, &request, &flow), TN_OK);
    const tn_status status = tn_cl_flow_run(flow, &go);
    tn_cl_flow_release(flow);
    tn_graph_destroy(graph);
    return status;
}

static void same_bits(void **state)
{
    static float whole[N * N], sliced[N * N];
    tn_heap heap;
    tn_cl_context *cl = NULL;
    tn_cl_driver driver;
    tn_cpu cpu;
    const char *reason;
    atomic_int cancel = 0;
    (void)state;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cpu_detect(&cpu);
    if (!tn_cl_driver_open(&driver, &reason) || tn_cl_context_open(&cl, &driver, &heap, &cpu, NULL) != TN_OK) {
        print_message("no OpenCL device\n");
        skip();
    }
    assert_int_equal(run(cl, &heap, 0, &cancel, whole), TN_OK);
    assert_int_equal(run(cl, &heap, 1, &cancel, sliced), TN_OK);     // a nanosecond: one group at a time
    assert_memory_equal(whole, sliced, sizeof whole);
    cancel = 1;
    assert_int_equal(run(cl, &heap, 1, &cancel, sliced), TN_CANCELLED);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cover), cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
