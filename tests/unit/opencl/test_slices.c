// SPDX-License-Identifier: Apache-2.0
// Slices: they cover each item once, in multiples of the group, and are as long as the time allows; a flow in slices gives the same bits as
// a whole one, keeps the bound from its first run on, and stops between slices when asked. Time is that of a made-up device.
#include "unit/opencl/cl_unit.h"

#include "exec/opencl/run/cl_slice.h"
#include "ir/edit.h"
#include "ops/nn/op_matmul.h"

#include <stdlib.h>
#include <string.h>

static void mark(unsigned char seen[9][9][9], const size_t from[3], const size_t to[3])
{
    for (size_t z = from[2]; z < to[2]; z++) {
        for (size_t y = from[1]; y < to[1]; y++) {
            for (size_t x = from[0]; x < to[0]; x++) {
                assert_int_equal(seen[z][y][x]++, 0);
            }
        }
    }
}

static void cover(void **state)
{
    tn_rand r = {3};
    (void)state;
    for (int round = 0; round < 300; round++) {
        tn_cl_step step = {.n_args = 0};
        unsigned char seen[9][9][9] = {{{0}}};
        size_t groups[3], total = 0, n;
        for (int d = 0; d < 3; d++) {
            step.local[d] = (size_t)1 << tn_rand_range(&r, 0, 3);
            groups[d] = (size_t)tn_rand_range(&r, 1, 9);
            step.global[d] = step.local[d] * groups[d];
        }
        tn_cl_cut at = {0, 0};
        tn_cl_slice slice;
        const double each = tn_rand_real(&r, 1e3, 1e6);
        while ((n = tn_cl_slice_next(&step, &at, each * tn_rand_real(&r, 0.5, 2), 1e6, &slice)) > 0) {
            size_t inside = 1, from[3], to[3];
            for (int d = 0; d < 3; d++) {
                assert_int_equal(slice.offset[d] % step.local[d], 0);
                assert_int_equal(slice.size[d] % step.local[d], 0);
                from[d] = slice.offset[d] / step.local[d];
                to[d] = from[d] + slice.size[d] / step.local[d];
                assert_true(to[d] > from[d] && to[d] <= groups[d]);
                inside *= to[d] - from[d];
            }
            assert_int_equal(inside, n);
            mark(seen, from, to);
            total += n;
        }
        assert_int_equal(total, groups[0] * groups[1] * groups[2]);
        assert_int_equal(total, tn_cl_slice_groups(&step));
    }
}

// A slice is as long as the limit allows, or the shortest there is.
static void lengths(void **state)
{
    const tn_cl_step step = {.global = {40, 64, 3}, .local = {4, 8, 1}};      // 10 x 8 x 3 groups
    const struct { double group_ns; size_t groups; } want[] = {{1, 240}, {1e6 / 24, 24}, {1e6 / 23, 21}, {1e6 / 7, 6}, {1e6 / 3, 3}, {1e9, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        tn_cl_cut at = {0, 0};
        tn_cl_slice slice;
        assert_int_equal(tn_cl_slice_next(&step, &at, want[i].group_ns, 1e6 + 1e-3, &slice), want[i].groups);
    }
}

enum { N = 256 };

typedef struct product {
    tn_graph *graph;
    tn_cl_flow *flow;
} product;

static void make_product(product *p, tn_cl_context *cl, tn_heap *heap, uint64_t slice_ns)
{
    const tn_matmul_attr attr = {.alpha = 1};
    tn_diag diag = {.status = TN_OK};
    tn_value *v[3];
    p->graph = tn_graph_create(heap, "product");
    for (int i = 0; i < 3; i++) {
        v[i] = tn_graph_value(p->graph, NULL);
        v[i]->dtype = TN_F32;
        v[i]->shape = tn_shape_of(2, (const int64_t[]){N, N});
    }
    assert_int_equal(tn_graph_add_input(p->graph, v[0]), TN_OK);
    assert_int_equal(tn_graph_add_input(p->graph, v[1]), TN_OK);
    assert_non_null(tn_graph_node(p->graph, NULL, &tn_op_matmul, "product", &attr, v, 2, &v[2], 1));
    assert_int_equal(tn_graph_add_output(p->graph, v[2]), TN_OK);
    const tn_flow_request request = {.graph = p->graph, .precision = "fp32", .slice_ns = slice_ns, .diag = &diag};
    assert_int_equal(tn_cl_flow_make(cl, &request, &p->flow), TN_OK);
}

static uint64_t deadline;             // of the runs that follow; 0: none

static tn_status run_product(const product *p, const atomic_int *cancel, float *y)
{
    static float a[N * N], b[N * N];
    const tn_shape shape = tn_shape_of(2, (const int64_t[]){N, N});
    tn_diag diag = {.status = TN_OK};
    for (int i = 0; i < N * N; i++) {
        a[i] = (float)(i % 17) - 8;
        b[i] = (float)(i % 23) / 7;
    }
    tn_tensor in[2] = {{.dtype = TN_F32, .shape = shape, .data = a}, {.dtype = TN_F32, .shape = shape, .data = b}};
    tn_tensor out = {.dtype = TN_F32, .shape = shape, .data = y};
    const tn_tensor *ins[] = {&in[0], &in[1]};
    tn_tensor *outs[] = {&out};
    const tn_flow_run go = {.in = ins, .out = outs, .cancel = cancel, .deadline_ns = deadline, .diag = &diag};
    return tn_cl_flow_run(p->flow, &go);
}

static void close_product(product *p)
{
    tn_cl_flow_release(p->flow);
    tn_graph_destroy(p->graph);
}

static tn_status run(tn_cl_context *cl, tn_heap *heap, uint64_t slice_ns, const atomic_int *cancel, float *y)
{
    product p;
    make_product(&p, cl, heap, slice_ns);
    const tn_status status = run_product(&p, cancel, y);
    close_product(&p);
    return status;
}

// Groups of one part of a row.
static size_t smallest_slice(const tn_cl_step *step)
{
    tn_cl_cut at = {0, 0};
    tn_cl_slice slice;
    return tn_cl_slice_next(step, &at, 1e18, 1, &slice);
}

static void same_bits(void **state)
{
    static float whole[N * N], sliced[N * N];
    tn_heap heap;
    atomic_int cancel = 0;
    (void)state;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cl_context *cl = tn_unit_device(&heap);
    if (!cl) {
        skip();
    }
    assert_int_equal(run(cl, &heap, 0, &cancel, whole), TN_OK);
    assert_int_equal(run(cl, &heap, 1, &cancel, sliced), TN_OK);     // a nanosecond: the smallest slices
    assert_memory_equal(whole, sliced, sizeof whole);
    cancel = 1;
    assert_int_equal(run(cl, &heap, 1, &cancel, sliced), TN_CANCELLED);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// ---- a device whose time is made up: kernels run for real, their events tell what they would have taken ----

enum { LIMIT = 1000000, START = 4000, HOST = 2000 };      // nanoseconds: a slice, starting a kernel, putting one into the queue

typedef struct fake_event { uint64_t end; } fake_event;

static tn_cl_driver real;
static struct {
    uint64_t now, idle_at, stop_at;       // host; when the device has nothing left to do; when somebody cancels (0: nobody)
    double group_ns;                      // of the kernels
    size_t width;                         // groups that run side by side; 0: one
    uint64_t longest;                     // kernel since it was last cleared
    size_t smallest;                      // groups that are a kernel of their own at least
    uint64_t ends[4];                     // of the last kernels in the queue
    unsigned kernels, waiting;            // put into the queue; the most that were there unfinished at a time
    int events;                           // alive
    atomic_int cancel;
} fake;

static uint64_t fake_now(void) { return fake.now; }

static void pass_to(uint64_t time)
{
    fake.now = time > fake.now ? time : fake.now;
    if (fake.stop_at && fake.now >= fake.stop_at) {
        atomic_store(&fake.cancel, 1);
    }
}

static cl_int CL_API_CALL fake_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                                       const size_t *local, cl_uint n, const cl_event *wait, cl_event *event)
{
    size_t groups = 1;
    unsigned waiting = 1;
    for (cl_uint d = 0; d < dims; d++) {
        groups *= global[d] / local[d];
    }
    pass_to(fake.now + HOST);
    const size_t width = fake.width ? fake.width : 1;
    const uint64_t ns = START + (uint64_t)(fake.group_ns * (double)((groups + width - 1) / width));
    fake.longest = ns > fake.longest && groups > fake.smallest ? ns : fake.longest;
    fake.idle_at = (fake.idle_at > fake.now ? fake.idle_at : fake.now) + ns;
    for (size_t i = 0; i < 4; i++) {
        waiting += fake.ends[i] > fake.now;
    }
    fake.ends[fake.kernels++ % 4] = fake.idle_at;
    fake.waiting = waiting > fake.waiting ? waiting : fake.waiting;
    if (event) {
        fake_event *made = malloc(sizeof *made);
        assert_non_null(made);
        made->end = fake.idle_at;
        *event = (cl_event)made;
        fake.events++;
    }
    return real.EnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, NULL);
}

static cl_int CL_API_CALL fake_wait(cl_uint n, const cl_event *events)
{
    for (cl_uint i = 0; i < n; i++) {
        pass_to(((const fake_event *)events[i])->end);
    }
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_release(cl_event event)
{
    fake.events--;
    free(event);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL fake_finish(cl_command_queue queue)
{
    pass_to(fake.idle_at);
    return real.Finish(queue);
}

static tn_cl_context *open_fake(tn_heap *heap)
{
    tn_cl_context *cl = tn_unit_device(heap);
    if (cl) {
        real = cl->driver;
        cl->driver.Now = fake_now;
        cl->driver.EnqueueNDRangeKernel = fake_enqueue;
        cl->driver.WaitForEvents = fake_wait;
        cl->driver.ReleaseEvent = fake_release;
        cl->driver.Finish = fake_finish;
        cl->facts.is_cpu = true;      // whatever runs the kernels: groups of the made-up device run one after another, unless a case says more
        cl->facts.units = 2;
        memset(&fake, 0, sizeof fake);
    }
    return cl;
}

// Whatever the kernel takes, and however wrong the estimate is: no slice is longer than the limit from the first run on, but where it is
// the smallest there is; at most two are in the queue; bits are those of the whole; and later runs waste little.
static void bounded(void **state)
{
    static float whole[N * N], sliced[N * N];
    static const double group_ns[] = {10, 1e3, 2e4, 1e5, 7e5, 3e6};
    tn_heap heap;
    (void)state;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cl_context *cl = open_fake(&heap);
    if (!cl) {
        skip();
    }
    assert_int_equal(run(cl, &heap, 0, NULL, whole), TN_OK);
    for (size_t i = 0; i < sizeof group_ns / sizeof *group_ns; i++) {
        product p;
        make_product(&p, cl, &heap, LIMIT);
        memset(&fake, 0, sizeof fake);
        fake.group_ns = group_ns[i];
        const size_t groups = tn_cl_slice_groups(p.flow->first);
        const double all = (double)groups * group_ns[i];
        for (int again = 0; again < 3; again++) {
            fake.longest = fake.kernels = fake.waiting = 0;
            fake.smallest = group_ns[i] > LIMIT ? smallest_slice(p.flow->first) : 0;
            memset(sliced, 0, sizeof sliced);
            assert_int_equal(run_product(&p, NULL, sliced), TN_OK);
            assert_memory_equal(whole, sliced, sizeof whole);
            assert_true(fake.longest <= LIMIT + START);
            assert_true(fake.waiting <= 2);
            assert_int_equal(fake.kernels, p.flow->slices ? p.flow->slices : 1);
            assert_true(again == 0 || group_ns[i] > LIMIT / 4 || fake.kernels <= 2 + 1.5 * all / LIMIT);
        }
        close_product(&p);
    }
    tn_cl_context_close(cl);
    assert_int_equal(fake.events, 0);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// On a GPU: groups that run side by side take no longer than one, so slices become as wide as the device; where they do not, one slice of two
// groups tells. One that takes most of a slice alone must not leave the other units idle.
static void side_by_side(void **state)
{
    static const struct { double group_ns; size_t width; } devices[] = {{6e5, 16}, {9e5, 16}, {1.4e6, 16}, {6e5, 1}, {1e5, 1}, {1e3, 16}};
    static float y[N * N];
    tn_heap heap;
    (void)state;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cl_context *cl = open_fake(&heap);
    if (!cl) {
        skip();
    }
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        product p;
        cl->facts.is_cpu = false;
        cl->facts.units = 16;
        make_product(&p, cl, &heap, LIMIT);
        memset(&fake, 0, sizeof fake);
        fake.group_ns = devices[i].group_ns;
        fake.width = devices[i].width;
        const uint64_t limit = fake.group_ns > LIMIT ? (uint64_t)(1.25 * fake.group_ns) : LIMIT;
        const size_t groups = tn_cl_slice_groups(p.flow->first);
        for (int again = 0; again < 8; again++) {
            fake.longest = fake.kernels = 0;
            assert_int_equal(run_product(&p, NULL, y), TN_OK);
            assert_true(fake.longest <= 2 * limit + 2 * START);
        }
        const double all = (double)((groups + fake.width - 1) / fake.width) * fake.group_ns;
        assert_true(fake.longest <= limit + 2 * START);
        assert_true(fake.kernels <= 2 + 2 * all / LIMIT);
        close_product(&p);
    }
    tn_cl_context_close(cl);
    assert_int_equal(fake.events, 0);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// A cancelled run is back within one slice and 2 ms.
static void cancelled(void **state)
{
    static float y[N * N];
    tn_heap heap;
    tn_rand r = {11};
    (void)state;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cl_context *cl = open_fake(&heap);
    if (!cl) {
        skip();
    }
    for (int i = 0; i < 20; i++) {
        product p;
        make_product(&p, cl, &heap, LIMIT);
        memset(&fake, 0, sizeof fake);
        fake.group_ns = 1.5e5;
        const double all = (double)tn_cl_slice_groups(p.flow->first) * fake.group_ns;
        assert_true(all > 5 * LIMIT);
        if (i % 2) {
            assert_int_equal(run_product(&p, &fake.cancel, y), TN_OK);       // measured
        }
        fake.stop_at = fake.now + 1 + (uint64_t)tn_rand_real(&r, 0, 0.7 * all);
        assert_int_equal(run_product(&p, &fake.cancel, y), TN_CANCELLED);
        assert_true(fake.now - fake.stop_at <= LIMIT + 2000000);
        close_product(&p);
    }
    tn_cl_context_close(cl);
    assert_int_equal(fake.events, 0);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

// Nobody asked for slices, but the run may be called back: the same bound with longer stretches, also where the device is a thousand times
// slower than the estimate, in the first run and in later ones; and a run that nobody calls back is one kernel.
static void called_back(void **state)
{
    enum { STRETCH = 2000000 };
    static const double group_ns[] = {3.2e5, 6e5, 1.9e6};
    static float y[N * N];
    tn_heap heap;
    tn_rand r = {13};
    (void)state;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_cl_context *cl = open_fake(&heap);
    if (!cl) {
        skip();
    }
    for (int i = 0; i < 24; i++) {
        product p;
        make_product(&p, cl, &heap, 0);
        memset(&fake, 0, sizeof fake);
        fake.group_ns = group_ns[i % 3];
        fake.width = cl->facts.units = 2;
        const double all = (double)tn_cl_slice_groups(p.flow->first) * fake.group_ns / (double)fake.width;
        if (i % 2) {
            assert_int_equal(run_product(&p, &fake.cancel, y), TN_OK);       // measured
            assert_true(fake.longest <= STRETCH + START && fake.waiting <= 2);
        }
        fake.stop_at = fake.now + 1 + (uint64_t)tn_rand_real(&r, 0, 0.7 * all);
        if (i % 4 < 2) {
            assert_int_equal(run_product(&p, &fake.cancel, y), TN_CANCELLED);
        } else {
            deadline = fake.stop_at;
            assert_int_equal(run_product(&p, NULL, y), TN_DEADLINE);
            deadline = 0;
        }
        assert_true(fake.now - fake.stop_at <= STRETCH + 2000000 + 2 * START);
        fake.stop_at = fake.kernels = 0;
        assert_int_equal(run_product(&p, NULL, y), TN_OK);
        assert_int_equal(fake.kernels, 1);
        close_product(&p);
    }
    tn_cl_context_close(cl);
    assert_int_equal(fake.events, 0);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cover), cmocka_unit_test(lengths), cmocka_unit_test(same_bits), cmocka_unit_test(bounded), cmocka_unit_test(side_by_side),
        cmocka_unit_test(cancelled), cmocka_unit_test(called_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
