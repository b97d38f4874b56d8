// SPDX-License-Identifier: Apache-2.0
// One memory as plain tensor and as grid: pixels of whole channel blocks between a convolution and what reads plain tensors, without a
// conversion, as buffers and as images over buffers. No driver at hand has the latter (cl_khr_image2d_from_buffer), so one is imitated: an image over a buffer
// is one of its own whose texels are copied from the buffer before each kernel that has it, and back after it.
#include "unit/opencl/cl_unit.h"

#include "ir/edit.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_pool.h"
#include "ops/nn/op_softmax.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

enum { N = 3, C = 8, SIDE = 5, MID = 16, ARGS = 512, IMAGES = 64, IN = N * C * SIDE * SIDE, OUT = N * MID };

static tn_heap heap;
static tn_cl_driver real;
static cl_int(CL_API_CALL *to_image)(cl_command_queue, cl_mem, cl_mem, size_t, const size_t *, const size_t *, cl_uint, const cl_event *, cl_event *);
static cl_int(CL_API_CALL *to_buffer)(cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *, size_t, cl_uint, const cl_event *, cl_event *);
static struct { cl_kernel kernel; cl_uint index; cl_mem mem; } args[ARGS];
static struct { cl_mem image, buffer; size_t width, height, pitch; } images[IMAGES];
static int n_args, n_images, made;

static cl_mem CL_API_CALL make_image(cl_context context, cl_mem_flags flags, const cl_image_format *format, const cl_image_desc *desc, void *host,
                                     cl_int *error)
{
    cl_image_desc own = *desc;
    if (desc->buffer) {
        size_t bytes = 0;
        assert_int_equal(real.GetMemObjectInfo(desc->buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL), CL_SUCCESS);
        assert_true(desc->image_row_pitch >= desc->image_width * 16 && desc->image_row_pitch % 64 == 0);      // four texels
        assert_true(bytes >= desc->image_row_pitch * desc->image_height);
        own.buffer = NULL;
        own.image_row_pitch = 0;
    }
    cl_mem image = real.CreateImage(context, flags, format, &own, host, error);
    if (desc->buffer && image) {
        assert_true(n_images < IMAGES);
        images[n_images].image = image;
        images[n_images].buffer = desc->buffer;
        images[n_images].width = desc->image_width;
        images[n_images].height = desc->image_height;
        images[n_images++].pitch = desc->image_row_pitch;
        made++;
    }
    return image;
}

static cl_int CL_API_CALL drop_mem(cl_mem mem)
{
    for (int i = 0; i < n_images; i++) {
        if (images[i].image == mem) {
            images[i] = images[--n_images];
            break;
        }
    }
    return real.ReleaseMemObject(mem);
}

static cl_int CL_API_CALL set_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value)
{
    int at = 0;
    while (at < n_args && (args[at].kernel != kernel || args[at].index != index)) {
        at++;
    }
    assert_true(at < ARGS);
    n_args = at == n_args ? n_args + 1 : n_args;
    args[at].kernel = kernel;
    args[at].index = index;
    args[at].mem = NULL;
    if (value && size == sizeof args[at].mem) {
        memcpy(&args[at].mem, value, size);
    }
    return real.SetKernelArg(kernel, index, size, value);
}

static void copy(cl_command_queue queue, cl_kernel kernel, bool back)
{
    for (int a = 0; a < n_args; a++) {
        for (int i = 0; i < n_images && args[a].kernel == kernel; i++) {
            for (size_t row = 0; images[i].image == args[a].mem && row < images[i].height; row++) {
                const size_t origin[3] = {0, row, 0}, region[3] = {images[i].width, 1, 1}, at = row * images[i].pitch;
                assert_int_equal(back ? to_buffer(queue, images[i].image, images[i].buffer, origin, region, at, 0, NULL, NULL)
                                      : to_image(queue, images[i].buffer, images[i].image, at, origin, region, 0, NULL, NULL), CL_SUCCESS);
            }
        }
    }
}

static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global,
                                  const size_t *local, cl_uint n, const cl_event *wait, cl_event *event)
{
    copy(queue, kernel, false);
    const cl_int error = real.EnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, wait, event);
    copy(queue, kernel, true);
    return error;
}

static tn_value *value(tn_graph *graph, int64_t c, int64_t side)
{
    tn_value *v = tn_graph_value(graph, NULL);
    v->dtype = TN_F32;
    v->shape = tn_shape_of(4, (const int64_t[]){N, c, side, side});
    return v;
}

static tn_value *conv(tn_graph *graph, tn_value *x, int64_t from, int64_t to, const float *weights)
{
    const tn_conv_attr attr = {.group = 1};
    const tn_shape shape = tn_shape_of(4, (const int64_t[]){to, from, 1, 1});
    tn_value *in[2] = {x, tn_graph_constant(graph, NULL, TN_F32, &shape, weights, false)}, *y = value(graph, to, x->shape.dims[3]);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "conv", &attr, in, 2, &y, 1));
    return y;
}

// x -> conv -> mean over pixels -> conv -> softmax (plain) -> conv (a grid again) -> softmax; the first softmax is a result, too
static tn_graph *make_graph(const float *weights)
{
    const tn_softmax_attr attr = {.axis = 1};
    tn_graph *graph = tn_graph_create(&heap, "pixels");
    tn_value *x = value(graph, C, SIDE), *mean = value(graph, MID, 1), *first = value(graph, MID, 1), *last = value(graph, MID, 1);
    assert_int_equal(tn_graph_add_input(graph, x), TN_OK);
    tn_value *map = conv(graph, x, C, MID, weights);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_global_average_pool, "mean", NULL, &map, 1, &mean, 1));
    tn_value *pixel = conv(graph, mean, MID, MID, weights);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_softmax, "first", &attr, &pixel, 1, &first, 1));
    tn_value *again = conv(graph, first, MID, MID, weights);
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_softmax, "last", &attr, &again, 1, &last, 1));
    assert_int_equal(tn_graph_add_output(graph, first), TN_OK);
    assert_int_equal(tn_graph_add_output(graph, last), TN_OK);
    return graph;
}

// Runs it; the number of conversions between the forms.
static int run(tn_cl_context *cl, const tn_graph *graph, const char *store, const float *x, float *y)
{
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow = NULL;
    int conversions = 0;
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = store, .diag = &diag};
    if (tn_cl_flow_make(cl, &request, &flow) != TN_OK) {
        fail_msg("%s", diag.message);
    }
    for (const tn_cl_step *step = flow->first; step; step = step->next) {
        conversions += strcmp(step->file, "image_to_buffer") == 0 || strcmp(step->file, "buffer_to_image") == 0;
    }
    const tn_tensor in = {.dtype = TN_F32, .shape = graph->inputs[0]->shape, .data = (void *)(uintptr_t)x};
    tn_tensor out[2] = {{.dtype = TN_F32, .shape = graph->outputs[0]->shape, .data = y}, {.dtype = TN_F32, .shape = graph->outputs[1]->shape, .data = y + OUT}};
    const tn_tensor *ins[] = {&in};
    tn_tensor *outs[] = {&out[0], &out[1]};
    const tn_flow_run go = {.in = ins, .out = outs, .diag = &diag};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tn_cl_flow_run(flow, &go), TN_OK);
    }
    tn_cl_flow_release(flow);
    return conversions;
}

static void one_memory(void **state)
{
    static float plain[2 * OUT], got[2 * OUT];
    tn_rand r = {5};
    (void)state;
    tn_cl_context *cl = tn_unit_device(&heap);
    if (!cl || !cl->facts.images) {
        tn_cl_context_close(cl);
        skip();
    }
    real = cl->driver;
    void *symbol = dlsym(real.library, "clEnqueueCopyBufferToImage");
    memcpy(&to_image, &symbol, sizeof symbol);
    symbol = dlsym(real.library, "clEnqueueCopyImageToBuffer");
    memcpy(&to_buffer, &symbol, sizeof symbol);
    float *x = tn_unit_numbers(&r, IN), *weights = tn_unit_numbers(&r, MID * MID);
    tn_graph *graph = make_graph(weights);
    cl->lend_from = 1;                    // results may lie in host memory
    cl->facts.pitch = 0;
    const int before = run(cl, graph, "image", x, plain);
    assert_true(before >= 3);
    cl->driver.CreateImage = make_image;
    cl->driver.ReleaseMemObject = drop_mem;
    cl->driver.SetKernelArg = set_arg;
    cl->driver.EnqueueNDRangeKernel = enqueue;
    static const struct { const char *store; size_t pitch; bool over, fewer; } ways[] = {
        {"buffer", 0, false, true}, {"image", 4, true, true}, {"image", 3, false, false},       // rows of 4 texels; 3 does not divide them
    };
    for (size_t i = 0; i < TN_COUNT(ways); i++) {
        made = n_args = 0;
        cl->facts.pitch = ways[i].pitch;
        memset(got, 0, sizeof got);
        const int conversions = run(cl, graph, ways[i].store, x, got);
        for (int k = 0; k < 2 * OUT; k++) {
            assert_true(fabsf(got[k] - plain[k]) <= 1e-5f);
        }
        assert_true(ways[i].fewer ? conversions <= before - 3 : conversions == before);
        assert_int_equal(made > 0, ways[i].over);
        assert_int_equal(n_images, 0);
    }
    free(x);
    free(weights);
    tn_graph_destroy(graph);
    tn_cl_context_close(cl);
    assert_int_equal(atomic_load(&heap.live_blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_memory)};
    tn_heap_init(&heap, NULL, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
