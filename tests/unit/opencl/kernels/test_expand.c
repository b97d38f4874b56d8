// SPDX-License-Identifier: Apache-2.0
// A convolution and the depthwise one that alone reads it, in one kernel, against sums in double precision: random shapes, windows, batches
// and tiles, images and buffers, planes of a picture as operand, kernels that report writes outside their grids. And where the two must stay
// apart: a result that somebody else wants, a reader of another kind.
//   test_expand [RANDOM CASES]
#include "unit/opencl/cl_unit.h"

#include "exec/opencl/tune/cl_search.h"
#include "exec/opencl/tune/cl_table.h"
#include "ir/edit.h"
#include "ops/nn/op_conv.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static tn_heap heap;
static tn_cl_context *device;
static unsigned cases = 10;

typedef struct window {
    int64_t kernel[2], stride[2], dilation[2], pads[4];
    bool bias, relu;
} window;

// x [n, c, h, w] -> mid [n, e, mh, mw] -> y [n, e, oh, ow]
typedef struct pair {
    int64_t n, c, h, w, e, mh, mw, oh, ow;
    window one, two;
    bool residual, shown, dense;      // shown: mid is a result, too; dense: the second is no depthwise one
    float *x, *w1, *b1, *w2, *b2, *r, *mid, *y;
} pair;

static int64_t side(const window *s, int d, int64_t in)
{
    const int64_t room = in + s->pads[d] + s->pads[d + 2] - (s->kernel[d] - 1) * s->dilation[d] - 1;
    return room < 0 ? 0 : room / s->stride[d] + 1;
}

static window draw_window(tn_rand *r, bool pointwise, bool dilated)
{
    window s;
    for (int d = 0; d < 2; d++) {
        s.kernel[d] = pointwise ? 1 : tn_rand_range(r, 1, 4);
        s.stride[d] = tn_rand_range(r, 1, 2);
        s.dilation[d] = dilated ? tn_rand_range(r, 1, 2) : 1;
    }
    for (int i = 0; i < 4; i++) {
        s.pads[i] = pointwise && tn_rand_range(r, 0, 1) ? 0 : tn_rand_range(r, 0, 2);
    }
    s.bias = tn_rand_range(r, 0, 1);
    s.relu = tn_rand_range(r, 0, 1);
    return s;
}

static void draw(pair *p, tn_rand *r)
{
    memset(p, 0, sizeof *p);
    do {
        p->n = tn_rand_range(r, 1, 2);
        p->c = tn_rand_range(r, 1, 21);
        p->h = tn_rand_range(r, 4, 17);
        p->w = tn_rand_range(r, 4, 17);
        p->e = tn_rand_range(r, 2, 19);
        p->one = draw_window(r, tn_rand_range(r, 0, 1), true);
        p->two = draw_window(r, false, false);
        p->mh = side(&p->one, 0, p->h), p->mw = side(&p->one, 1, p->w);
        p->oh = side(&p->two, 0, p->mh), p->ow = side(&p->two, 1, p->mw);
    } while (p->mh < 1 || p->mw < 1 || p->oh < 1 || p->ow < 1);
    p->two.bias = p->two.bias || (p->residual = tn_rand_range(r, 0, 3) == 0);
}

static void data(pair *p, tn_rand *r)
{
    const int64_t second = p->e * (p->dense ? p->e : 1) * p->two.kernel[0] * p->two.kernel[1];
    p->x = tn_unit_numbers(r, p->n * p->c * p->h * p->w);
    p->w1 = tn_unit_numbers(r, p->e * p->c * p->one.kernel[0] * p->one.kernel[1]);
    p->b1 = tn_unit_numbers(r, p->e);
    p->w2 = tn_unit_numbers(r, second);
    p->b2 = tn_unit_numbers(r, p->e);
    p->r = tn_unit_numbers(r, p->n * p->e * p->oh * p->ow);
    p->y = tn_unit_numbers(r, p->n * p->e * p->oh * p->ow);
    p->mid = tn_unit_numbers(r, p->n * p->e * p->mh * p->mw);
}

static void release(pair *p)
{
    free(p->x), free(p->w1), free(p->b1), free(p->w2), free(p->b2), free(p->r), free(p->y), free(p->mid);
}

static tn_value *value_of(tn_graph *graph, int64_t n, int64_t c, int64_t h, int64_t w)
{
    tn_value *v = tn_graph_value(graph, NULL);
    v->dtype = TN_F32;
    v->shape = tn_shape_of(4, (const int64_t[]){n, c, h, w});
    return v;
}

static void add(tn_graph *graph, tn_arena *arena, const window *s, int64_t group, tn_value *const *in, int n_in, tn_value *out)
{
    const tn_conv_attr attr = {.group = group, .pads = tn_case_ints(arena, 4, s->pads), .strides = tn_case_ints(arena, 2, s->stride),
                               .dilations = tn_case_ints(arena, 2, s->dilation), .act = {.code = s->relu ? TN_LOOP_RELU : TN_LOOP_CONST}};
    assert_non_null(tn_graph_node(graph, NULL, &tn_op_conv, "conv", &attr, in, n_in, &out, 1));
}

static tn_graph *graph_of(const pair *p, tn_arena *arena)
{
    tn_graph *graph = tn_graph_create(&heap, "pair");
    const tn_shape w1 = tn_shape_of(4, (const int64_t[]){p->e, p->c, p->one.kernel[0], p->one.kernel[1]}), list = tn_shape_of(1, &p->e);
    const tn_shape w2 = tn_shape_of(4, (const int64_t[]){p->e, p->dense ? p->e : 1, p->two.kernel[0], p->two.kernel[1]});
    tn_value *x = value_of(graph, p->n, p->c, p->h, p->w), *mid = value_of(graph, p->n, p->e, p->mh, p->mw), *r = NULL;
    tn_value *y = value_of(graph, p->n, p->e, p->oh, p->ow);
    assert_int_equal(tn_graph_add_input(graph, x), TN_OK);
    if (p->residual) {
        r = value_of(graph, p->n, p->e, p->oh, p->ow);
        assert_int_equal(tn_graph_add_input(graph, r), TN_OK);
    }
    tn_value *first[] = {x, tn_graph_constant(graph, "w1", TN_F32, &w1, p->w1, false),
                         p->one.bias ? tn_graph_constant(graph, "b1", TN_F32, &list, p->b1, false) : NULL};
    tn_value *second[] = {mid, tn_graph_constant(graph, "w2", TN_F32, &w2, p->w2, false),
                          p->two.bias ? tn_graph_constant(graph, "b2", TN_F32, &list, p->b2, false) : NULL, r};
    add(graph, arena, &p->one, 1, first, p->one.bias ? 3 : 2, mid);
    add(graph, arena, &p->two, p->dense ? 1 : p->e, second, r ? 4 : p->two.bias ? 3 : 2, y);
    assert_int_equal(tn_graph_add_output(graph, y), TN_OK);
    if (p->shown) {
        assert_int_equal(tn_graph_add_output(graph, mid), TN_OK);
    }
    return graph;
}

static tn_status run(const pair *p, tn_graph *graph, tn_diag *diag, bool *joined)
{
    const tn_flow_request request = {.graph = graph, .precision = "fp32", .store = device->buffers_only ? "buffer" : "image", .diag = diag};
    tn_tensor x = {.dtype = TN_F32, .shape = graph->inputs[0]->shape, .data = p->x}, y = {.dtype = TN_F32, .shape = graph->outputs[0]->shape, .data = p->y};
    tn_tensor r = {.dtype = TN_F32, .shape = y.shape, .data = p->r};
    tn_tensor mid = {.dtype = TN_F32, .shape = tn_shape_of(4, (const int64_t[]){p->n, p->e, p->mh, p->mw}), .data = p->mid};
    const tn_tensor *in[] = {&x, &r};
    tn_tensor *out[] = {&y, &mid};
    const tn_flow_run once = {.in = in, .out = out, .diag = diag};
    tn_cl_flow *flow;
    tn_status status = tn_cl_flow_make(device, &request, &flow);
    if (status == TN_OK) {
        *joined = false;
        for (const tn_cl_step *step = flow->first; step; step = step->next) {
            *joined = *joined || (strcmp(step->file, "conv_expand") == 0 && step->ahead);
        }
        status = tn_cl_flow_run(flow, &once);
        tn_cl_flow_release(flow);
    }
    return status;
}

// One convolution at one place, over doubles; group: 1, or as many as channels.
static double sum_at(const double *x, int64_t c, int64_t h, int64_t w, const float *weights, const window *s, bool depthwise, int64_t o, int64_t oy, int64_t ox)
{
    double sum = 0;
    for (int64_t i = 0; i < (depthwise ? 1 : c); i++) {
        for (int64_t k = 0; k < s->kernel[0] * s->kernel[1]; k++) {
            const int64_t iy = oy * s->stride[0] - s->pads[0] + k / s->kernel[1] * s->dilation[0];
            const int64_t ix = ox * s->stride[1] - s->pads[1] + k % s->kernel[1] * s->dilation[1];
            const int64_t channel = depthwise ? o : i;
            if (iy >= 0 && ix >= 0 && iy < h && ix < w) {
                sum += x[(channel * h + iy) * w + ix] * (double)weights[(o * (depthwise ? 1 : c) + i) * s->kernel[0] * s->kernel[1] + k];
            }
        }
    }
    return sum;
}

// The largest difference between y and the exact result.
static double error_of(const pair *p)
{
    double worst = 0, *x = calloc((size_t)(p->c * p->h * p->w), sizeof *x), *mid = calloc((size_t)(p->e * p->mh * p->mw), sizeof *mid);
    assert_true(x && mid);
    for (int64_t n = 0; n < p->n; n++) {
        for (int64_t i = 0; i < p->c * p->h * p->w; i++) {
            x[i] = (double)p->x[n * p->c * p->h * p->w + i];
        }
        for (int64_t i = 0; i < p->e * p->mh * p->mw; i++) {
            const int64_t o = i / (p->mh * p->mw);
            mid[i] = sum_at(x, p->c, p->h, p->w, p->w1, &p->one, false, o, i / p->mw % p->mh, i % p->mw) + (p->one.bias ? (double)p->b1[o] : 0);
            mid[i] = p->one.relu && mid[i] < 0 ? 0 : mid[i];
        }
        for (int64_t i = 0; i < p->e * p->oh * p->ow; i++) {
            const int64_t o = i / (p->oh * p->ow), at = n * p->e * p->oh * p->ow + i;
            double v = sum_at(mid, p->e, p->mh, p->mw, p->w2, &p->two, !p->dense, o, i / p->ow % p->oh, i % p->ow);
            v += (p->two.bias ? (double)p->b2[o] : 0) + (p->residual ? (double)p->r[at] : 0);
            v = p->two.relu && v < 0 ? 0 : v;
            worst = fmax(worst, fabs(v - (double)p->y[at]));
        }
    }
    free(x);
    free(mid);
    return worst;
}

static cl_program(CL_API_CALL *from_binary)(cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *);
static unsigned twins;

static cl_program CL_API_CALL count_binaries(cl_context context, cl_uint n, const cl_device_id *ids, const size_t *lengths, const unsigned char **binaries,
                                             cl_int *status, cl_int *error)
{
    twins++;
    return from_binary(context, n, ids, lengths, binaries, status, error);
}

static void need_device(void)
{
    if (!device) {
        print_message("no OpenCL device\n");
        skip();
    }
}

static void try(pair *p, tn_rand *r, const char *what, bool together)
{
    tn_arena arena;
    tn_diag diag = {.status = TN_OK};
    bool joined = false;
    data(p, r);
    tn_arena_init(&arena, &heap);
    tn_graph *graph = graph_of(p, &arena);
    if (run(p, graph, &diag, &joined) != TN_OK) {
        fail_msg("%s: %s", what, diag.message);
    }
    assert_int_equal(joined, together);
    const double error = error_of(p);
    if (!(error < 1e-4)) {
        fail_msg("%s, [%lld %lld %lld %lld] to %lld: error %g", what, (long long)p->n, (long long)p->c, (long long)p->h, (long long)p->w, (long long)p->e, error);
    }
    tn_graph_destroy(graph);
    tn_arena_deinit(&arena);
    release(p);
}

static void settings(unsigned i)
{
    tn_unit_vary(device, i);
    device->twins = i % 2 == 0;
}

static void pairs_agree(void **state)
{
    tn_rand r = {41};
    (void)state;
    need_device();
    device->checked = true;
    device->expand = 2;
    for (unsigned i = 0; i < cases; i++) {
        pair p;
        char what[32];
        (void)snprintf(what, sizeof what, "case %u", i);
        settings(i);
        draw(&p, &r);
        try(&p, &r, what, true);
    }
    device->checked = false;
    settings(0);
}

static void some_stay_apart(void **state)
{
    tn_rand r = {43};
    pair p;
    (void)state;
    need_device();
    device->expand = 2;
    draw(&p, &r);
    p.shown = true;
    try(&p, &r, "a result of the graph", false);
    draw(&p, &r);
    p.dense = true;
    try(&p, &r, "a reader of all channels", false);
    draw(&p, &r);
    p.residual = false;
    p.two.dilation[0] = p.two.dilation[1] = 2;
    p.two.pads[0] = p.two.pads[1] = p.two.pads[2] = p.two.pads[3] = 4;
    p.oh = side(&p.two, 0, p.mh), p.ow = side(&p.two, 1, p.mw);
    try(&p, &r, "a dilated reader", false);
    draw(&p, &r);
    device->expand = 1;
    try(&p, &r, "forbidden", false);
    device->expand = 0;
}

// Two steps of one text: each has a program of its own where they work on images, and computes the same.
static void steps_on_images_have_their_own_programs(void **state)
{
    tn_rand r = {53};
    (void)state;
    need_device();
    from_binary = device->driver.CreateProgramWithBinary;
    device->driver.CreateProgramWithBinary = count_binaries;
    for (int i = 0; i < 4; i++) {
        const window same = {{3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, true, true};
        pair p = {.n = 1, .c = 8, .h = 6, .w = 7, .e = 8, .mh = 6, .mw = 7, .oh = 6, .ow = 7, .one = same, .two = same, .dense = true};
        settings(0);
        device->tile_seed = 0;
        device->winograd = 1;
        device->buffers_only = i & 1;
        device->twins = i & 2;
        twins = 0;
        try(&p, &r, "two steps of one text", false);
        assert_int_equal(twins, device->twins && !device->buffers_only && device->facts.images ? 1 : 0);
    }
    device->winograd = 0;
    device->driver.CreateProgramWithBinary = from_binary;
    settings(0);
}

// Tuning measures both ways, and flows made afterwards follow what it wrote down.
static void a_search_chooses(void **state)
{
    tn_rand r = {47};
    tn_arena arena;
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow = NULL;
    tn_cl_tile row;
    pair p;
    (void)state;
    need_device();
    draw(&p, &r);
    data(&p, &r);
    tn_arena_init(&arena, &heap);
    tn_graph *graph = graph_of(&p, &arena);
    settings(0);
    device->expand = 2;
    const tn_flow_request request = {.graph = graph, .store = "buffer", .precision = "fp32", .diag = &diag};
    assert_int_equal(tn_cl_flow_make(device, &request, &flow), TN_OK);
    device->expand = 0;
    const tn_cl_step *step = flow->first;
    while (step && !step->ahead) {
        step = step->next;
    }
    assert_non_null(step);
    const tn_cl_layer layer = *step->layer, fuse = tn_cl_layer_choice(&layer);
    const tn_tune_request wish = {.seconds = 0.5, .store = "buffer", .seed = 1, .diag = &diag};
    assert_int_equal(tn_cl_search(flow, &wish), TN_OK);
    tn_cl_flow_release(flow);
    assert_true(tn_cl_table_find(device, &fuse, &row) && (row.ob == 1 || row.ob == 2));
    for (int wanted = 1; wanted <= 2; wanted++) {
        char text[TN_CL_LAYER_TEXT];
        row.ob = wanted;
        tn_cl_layer_text(&fuse, text);
        assert_true(tn_cl_table_put(device, text, &row));
        assert_int_equal(tn_cl_flow_make(device, &request, &flow), TN_OK);
        bool joined = false;
        for (step = flow->first; step; step = step->next) {
            joined = joined || step->ahead;
        }
        assert_int_equal(joined, wanted == 2);
        tn_cl_flow_release(flow);
    }
    tn_graph_destroy(graph);
    tn_arena_deinit(&arena);
    release(&p);
}

// By the model: on a GPU the layers of a mobile network go together, and every tile that it proposes is one that the device takes.
static void price_decides(void **state)
{
    const tn_cl_facts gpu = {.name = "GPU", .driver = "1", .max_group = 1024, .local_bytes = 48 << 10, .units = 132};
    const tn_cl_facts small = {.name = "GPU", .driver = "1", .max_group = 256, .local_bytes = 16 << 10, .units = 8};
    const tn_cl_layer layer = {.kind = TN_CL_LAYER_EXPAND, .pixels = 196, .out_blocks = 96, .in_blocks = 16, .kh = 3, .kw = 3, .stride = 1, .group = 1,
                               .height = 14, .map = 196, .mid_height = 14, .mid_width = 14};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const tn_cl_facts *facts = i ? &small : &gpu;
        const tn_cl_tile tile = tn_cl_tile_default(&layer, facts);
        assert_true(tn_cl_tile_valid(&tile, &layer, facts));
        assert_true(tn_cl_tile_room(&tile, &layer) * tile.ob * tile.split_c * 16 <= (int64_t)facts->local_bytes);
        assert_true(tn_cl_tile_price(&tile, &layer, facts) > 0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(price_decides), cmocka_unit_test(pairs_agree), cmocka_unit_test(some_stay_apart),
        cmocka_unit_test(steps_on_images_have_their_own_programs), cmocka_unit_test(a_search_chooses),
    };
    cases = argc > 1 ? (unsigned)atoi(argv[1]) : cases;
    tn_heap_init(&heap, NULL, NULL, NULL);
    device = tn_unit_device(&heap);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    tn_cl_context_close(device);
    return failed;
}
