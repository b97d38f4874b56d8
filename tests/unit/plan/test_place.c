// SPDX-License-Identifier: Apache-2.0
// Placement with two simulated devices: the split is the cheapest of all (by trying every one), what a device does not take splits its
// sub-flow, a composite that it lacks is bid for by its parts, results are the same, and a device that dies leads to a plan without it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/text.h"
#include "exec/blocks.h"
#include "exec/program.h"
#include "ir/edit.h"
#include "ops/control/op_flow.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_unary.h"
#include "ops/move/op_relayout.h"
#include "ops/nn/op_conv.h"
#include "ops/nn/op_matmul.h"
#include "ops/op_eval.h"
#include "pass/pass.h"
#include "plan/report/bids.h"
#include "support/graph_text.h"

#include <stdlib.h>
#include <string.h>

// ---- a simulated device: bids by a table of speeds, runs by the references ----

typedef struct sim {
    tn_device device;
    double per_element, per_byte, per_call;      // ns
    const tn_op *lacks, *lacks_too;              // operators it does not take
    int calls, timed, dies_at;
    bool small;                                  // its memory has room for `room` nodes
    uint64_t room;
} sim;

typedef struct sim_flow {
    tn_flow flow;
    const tn_graph *graph;
} sim_flow;

static void sim_bid(tn_device *device, const tn_query *query, tn_bid *bid)
{
    const sim *s = (const sim *)device;
    *bid = (tn_bid){.nanoseconds = s->per_element * (double)tn_tensor_count(query->out[0])};
    if (query->op == s->lacks || query->op == s->lacks_too) {
        bid->refusal = "this device lacks it";
    }
}

static double sim_transfer(tn_device *device, size_t bytes) { return 10 + ((sim *)device)->per_byte * (double)bytes; }
static double sim_call(tn_device *device) { return ((sim *)device)->per_call; }

static uint64_t sim_need(tn_device *device, const tn_graph *graph, uint64_t *room)
{
    const sim *s = (const sim *)device;
    *room = s->small ? s->room : UINT64_MAX;
    return graph->n_nodes;
}

static tn_status sim_compile(tn_device *device, const tn_flow_request *request, tn_flow **flow)
{
    sim_flow *f = tn_take_zero(device->heap, 1, sizeof *f);
    if (!f) {
        return tn_fail_memory(request->diag, "sim", sizeof *f);
    }
    f->flow.device = device;
    f->graph = request->graph;
    *flow = &f->flow;
    return TN_OK;
}

static void sim_release(tn_flow *flow) { tn_give(flow->device->heap, flow); }

static tn_status sim_execute(tn_flow *flow, const tn_flow_run *run)
{
    sim *s = (sim *)flow->device;
    const tn_graph *g = ((sim_flow *)flow)->graph;
    tn_arena arena;
    if (++s->calls == s->dies_at) {
        return tn_fail(run->diag, TN_DEVICE, "sim", "the device is gone");
    }
    s->timed += run->timed;
    tn_arena_init(&arena, flow->device->heap);
    tn_tensor *values = tn_arena_array(&arena, g->n_values, sizeof *values);
    for (size_t i = 0; i < g->n_inputs; i++) {
        values[g->inputs[i]->id] = *run->in[i];
    }
    for (const tn_node *node = g->first; node; node = node->next) {
        const tn_tensor *in[4];
        tn_tensor out;
        for (int i = 0; i < node->n_in; i++) {
            in[i] = node->in[i]->constant ? node->in[i]->constant : &values[node->in[i]->id];
        }
        assert_int_equal(tn_op_eval(node->op, node->attr, node->name, in, node->n_in, &out, 1, 1 << 20, &arena, flow->device->heap, run->diag),
                         TN_OK);
        values[node->out[0]->id] = out;
    }
    for (size_t i = 0; i < g->n_outputs; i++) {
        size_t bytes;
        assert_true(tn_tensor_bytes(run->out[i], &bytes));
        memcpy(run->out[i]->data, values[g->outputs[i]->id].data, bytes);
    }
    tn_arena_deinit(&arena);
    return TN_OK;
}

// The first timed run takes 9 ns a node, later ones 5.
static void sim_describe(const tn_flow *flow, void (*visit)(const tn_flow_node *node, void *context), void *context)
{
    const int timed = ((const sim *)flow->device)->timed;
    for (const tn_node *node = ((const sim_flow *)flow)->graph->first; node; node = node->next) {
        const tn_flow_node described = {.node = node, .kernel = "sim", .nanoseconds = timed == 0 ? 0 : timed == 1 ? 9 : 5};
        visit(&described, context);
    }
}

#define SIM(label)                                                                                                      \
    {.name = label, .bid = sim_bid, .transfer_cost = sim_transfer, .call_cost = sim_call, .need = sim_need, .compile = sim_compile, \
     .execute = sim_execute, .release = sim_release, .describe = sim_describe}
static const tn_device_vtable sim_a = SIM("sim_a"), sim_b = SIM("sim_b");

// ---- fixture ----

static uint64_t state;

static int draw(int low, int high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

typedef struct fixture {
    tn_heap heap;
    tn_weights weights;
    tn_block_cache blocks;
    sim a, b;
    tn_device *list[3];
    tn_plan_context context;
    tn_diag diag;
} fixture;

static void open_fixture(fixture *f)
{
    memset(f, 0, sizeof *f);
    tn_heap_init(&f->heap, NULL, NULL, NULL);
    assert_int_equal(tn_weights_init(&f->weights, &f->heap, &f->diag), TN_OK);
    f->blocks.heap = &f->heap;
    f->context = (tn_plan_context){.heap = &f->heap, .weights = &f->weights, .threads = 1, .n_devices = 3, .limit_tensor = 1 << 30,
                                   .limit_work = (uint64_t)1 << 40, .limit_loop = 1000, .blocks = &f->blocks};
    tn_cpu_detect(&f->context.cpu);
    f->a.device = (tn_device){.vtable = &sim_a, .heap = &f->heap};
    f->b.device = (tn_device){.vtable = &sim_b, .heap = &f->heap};
    f->list[0] = &f->a.device;
    f->list[1] = &f->b.device;
    for (const tn_device_vtable *const *v = tn_registry_devices; *v; v++) {
        if (strcmp((*v)->name, "cpu") == 0) {
            assert_int_equal((*v)->open(&f->list[2], &f->heap, &f->context.cpu, &f->diag), TN_OK);
        }
    }
    f->context.devices = f->list;
}

static void close_fixture(fixture *f)
{
    f->list[2]->vtable->close(f->list[2]);
    tn_block_trim(&f->blocks);
    tn_weights_deinit(&f->weights);
    assert_int_equal(atomic_load(&f->heap.live_blocks), 0);
}

// y = x x' + 2 x: what lowers to a product, a multiplication and a sum.
static const tn_gemm_attr composite = {.trans_b = true, .alpha = 1, .beta = 2};
static const tn_op *const composite_parts[] = {&tn_op_matmul, &tn_op_mul, &tn_op_add};

// A random graph of up to `most` nodes over one input of 8 x 8 elements: elementwise operators that no pass fuses, and composites.
static tn_graph *random_graph(tn_heap *heap, int most, bool composites)
{
    static const tn_op *const unary[] = {&tn_op_sign, &tn_op_sin, &tn_op_cos, &tn_op_atan};
    static const tn_mod_attr fmod = {.fmod = true};
    tn_graph *g = tn_graph_create(heap, "g");
    tn_value *values[16];
    const int nodes = draw(2, most);
    values[0] = tn_graph_value(g, "x");
    values[0]->dtype = TN_F32;
    values[0]->shape = tn_shape_of(2, (const int64_t[]){8, 8});
    tn_graph_add_input(g, values[0]);
    for (int i = 0; i < nodes; i++) {
        if (composites && draw(0, 2) == 0) {
            tn_value *in[3] = {values[draw(0, i)], values[i], values[draw(TN_MAX(0, i - 3), i)]};
            values[i + 1] = tn_graph_value(g, NULL);
            assert_non_null(tn_graph_node(g, NULL, &tn_op_gemm, "n", &composite, in, 3, &values[i + 1], 1));
            continue;
        }
        const bool two = draw(0, 2) == 0;
        tn_value *in[2] = {values[draw(TN_MAX(0, i - 3), i)], values[draw(0, i)]};
        values[i + 1] = tn_graph_value(g, NULL);
        assert_non_null(tn_graph_node(g, NULL, two ? &tn_op_mod : unary[draw(0, 3)], "n", two ? &fmod : NULL, in, two ? 2 : 1, &values[i + 1], 1));
    }
    for (int i = 1; i <= nodes; i++) {
        if (values[i]->n_uses == 0 || draw(0, 6) == 0) {
            tn_graph_add_output(g, values[i]);
        }
    }
    return g;
}

// ---- every split, priced by the definition ----

static double op_price(fixture *f, const tn_op *op, const void *attr, int n_in, int d)
{
    tn_tensor t = {.dtype = TN_F32, .shape = tn_shape_of(2, (const int64_t[]){8, 8})};
    const tn_tensor *in[3] = {&t, &t, &t}, *out[1] = {&t};
    const tn_query query = {.op = op, .attr = attr, .name = "n", .n_in = n_in, .n_out = 1, .in = in, .out = out,
                            .cpu = &f->context.cpu, .threads = 1};
    tn_bid bid;
    f->list[d]->vtable->bid(f->list[d], &query, &bid);
    return bid.refusal ? -1 : bid.nanoseconds;
}

// The whole, or, where a device lacks it, all of its parts.
static double node_price(fixture *f, const tn_node *node, int d)
{
    const double whole = op_price(f, node->op, node->attr, node->n_in, d);
    double sum = 0;
    if (whole >= 0 || node->op != &tn_op_gemm) {
        return whole;
    }
    for (size_t i = 0; i < TN_COUNT(composite_parts); i++) {
        const double part = op_price(f, composite_parts[i], NULL, 2, d);
        if (part < 0) {
            return -1;
        }
        sum += part;
    }
    return sum;
}

static double fetch(fixture *f, unsigned *where, int device)
{
    double sum = 0;
    if (*where >> device & 1) {
        return 0;
    }
    if (!(*where & 4)) {
        sum += sim_transfer(f->list[*where & 1 ? 0 : 1], 256);
        *where |= 4;
    }
    if (device != 2) {
        sum += sim_transfer(f->list[device], 256);
        *where |= 1u << device;
    }
    return sum;
}

static double price_of(fixture *f, const tn_graph *g, const int *split)
{
    unsigned where[64] = {0};
    double sum = 0;
    int last = 2, i = 0;
    where[g->inputs[0]->id] = 4;
    for (const tn_node *node = g->first; node; node = node->next, i++) {
        const int d = split[i];
        const double own = node_price(f, node, d);
        if (own < 0) {
            return 1e300;
        }
        sum += own + (d != last && d != 2 ? sim_call(f->list[d]) : 0);
        for (int k = 0; k < node->n_in; k++) {
            sum += fetch(f, &where[node->in[k]->id], d);
        }
        where[node->out[0]->id] = 1u << d;
        last = d;
    }
    for (size_t k = 0; k < g->n_outputs; k++) {
        sum += fetch(f, &where[g->outputs[k]->id], 2);
    }
    return sum;
}

static double cheapest(fixture *f, const tn_graph *g)
{
    int split[16];
    double best = 1e300;
    long all = 1;
    for (size_t i = 0; i < g->n_nodes; i++) {
        all *= 3;
    }
    for (long code = 0; code < all; code++) {
        long left = code;
        for (size_t i = 0; i < g->n_nodes; i++, left /= 3) {
            split[i] = (int)(left % 3);
        }
        const double price = price_of(f, g, split);
        best = price < best ? price : best;
    }
    return best;
}

static void the_split_is_the_cheapest(void **unused)
{
    int mixed = 0, apart = 0;
    (void)unused;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        const bool composites = seed % 2 == 0;
        fixture f;
        tn_plan *plan = NULL;
        open_fixture(&f);
        state = seed;
        f.a.per_element = draw(1, 40) / 10.0;
        f.b.per_element = draw(1, 40) / 10.0;
        f.a.per_byte = draw(0, 30) / 100.0;
        f.b.per_byte = draw(0, 30) / 100.0;
        f.a.per_call = draw(0, 200);
        f.b.per_call = draw(0, 200);
        f.a.lacks = draw(0, 1) ? &tn_op_sin : NULL;
        f.b.lacks = draw(0, 1) ? &tn_op_mod : NULL;
        if (composites) {
            f.a.lacks_too = draw(0, 2) ? &tn_op_gemm : NULL;
            f.b.lacks_too = draw(0, 2) ? &tn_op_gemm : draw(0, 1) ? &tn_op_matmul : NULL;
            f.a.lacks = draw(0, 2) ? f.a.lacks : composite_parts[draw(0, 2)];
        }
        tn_graph *g = random_graph(&f.heap, 8, composites);
        tn_pass_context passes = {.heap = &f.heap, .diag = &f.diag, .limit_tensor_bytes = 1 << 20};
        assert_int_equal(tn_infer_graph(g, &f.heap, &f.diag), TN_OK);
        assert_int_equal(tn_optimise_shaped(g, &passes), TN_OK);     // equal nodes become one, as in the plan
        const tn_fact input = {.dtype = TN_F32, .shape = g->inputs[0]->shape};
        const tn_plan_request request = {.graph = g, .inputs = &input};
        if (tn_plan_make(&plan, &request, &f.context, &f.diag) != TN_OK) {
            fail_msg("seed %d: %s", (int)seed, f.diag.message);
        }
        const double best = cheapest(&f, g);
        if (plan->placed_cost > best * (1 + 1e-9) + 1e-6 || plan->placed_cost < best * (1 - 1e-9) - 1e-6) {
            fail_msg("seed %d: %g, the cheapest is %g", (int)seed, plan->placed_cost, best);
        }
        for (size_t i = 0; i < plan->n_steps; i++) {
            const bool flow = plan->steps[i].call.op == &tn_op_flow;
            mixed += flow;
            for (const tn_node *node = flow ? plan->steps[i].node->bodies[0]->first : NULL; node; node = node->next) {
                apart += node->op == &tn_op_matmul;
            }
        }
        tn_plan_destroy(plan);
        tn_graph_destroy(g);
        close_fixture(&f);
    }
    assert_true(mixed > 50 && apart > 50);
}

// ---- running ----

static void flows_run_and_a_dead_device_is_left_out(void **unused)
{
    float x[64], first[64];
    (void)unused;
    for (int i = 0; i < 64; i++) {
        x[i] = (float)(i - 30) / 16.0f;
    }
    for (uint64_t seed = 1; seed <= 60; seed++) {
        fixture f;
        tn_program *program = NULL;
        tn_result_slot results[16] = {{0}};
        open_fixture(&f);
        state = seed;
        f.a.per_element = 0.01;
        f.b.per_element = 0.02;
        f.a.lacks = &tn_op_sin;
        f.b.lacks = seed % 2 ? &tn_op_sin : NULL;
        tn_graph *g = random_graph(&f.heap, 10, false);
        tn_run run = {.context = &f.context, .diag = &f.diag};
        const tn_tensor input = {.dtype = TN_F32, .shape = g->inputs[0]->shape, .data = x};
        f.context.dead = 3;
        assert_int_equal(tn_program_create(&program, g, &f.context, 4, &f.diag), TN_OK);
        assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
        memcpy(first, results[0].tensor.data, sizeof first);
        f.context.dead = 0;
        tn_program_forget(program);
        assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
        assert_memory_equal(results[0].tensor.data, first, sizeof first);     // references on both sides
        assert_true(f.a.calls + f.b.calls > 0);
        f.a.dies_at = f.a.calls + 1;
        f.b.dies_at = f.b.calls + 1;
        assert_int_equal(tn_program_run(program, &run, &input, results), TN_DEVICE);
        tn_diag_clear(&f.diag);
        f.context.dead = 3;
        tn_program_forget(program);
        assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
        assert_memory_equal(results[0].tensor.data, first, sizeof first);
        tn_program_destroy(program);
        tn_graph_destroy(g);
        close_fixture(&f);
    }
}

// ---- memory ----

// A device gets as many nodes as its memory has room for, those first in order; the rest runs on the CPU, which is told, and nothing differs.
static void nodes_that_have_no_room_stay_on_the_cpu(void **unused)
{
    float x[64], first[64];
    int crowded = 0, whole = 0;
    (void)unused;
    for (int i = 0; i < 64; i++) {
        x[i] = (float)(i - 30) / 16.0f;
    }
    for (uint64_t seed = 1; seed <= 80; seed++) {
        fixture f;
        tn_program *program = NULL;
        tn_plan *plan = NULL;
        tn_result_slot results[16] = {{0}};
        open_fixture(&f);
        state = seed;
        f.a.per_element = 0.01;
        f.b.lacks = &tn_op_sin;
        f.b.per_element = 1000;
        f.a.lacks = seed % 2 ? &tn_op_sin : NULL;
        f.context.device = "sim_a";
        tn_graph *g = random_graph(&f.heap, 10, false);
        tn_run run = {.context = &f.context, .diag = &f.diag};
        const tn_tensor input = {.dtype = TN_F32, .shape = g->inputs[0]->shape, .data = x};
        const tn_fact fact = {.dtype = TN_F32, .shape = input.shape};
        const tn_plan_request request = {.graph = g, .inputs = &fact};
        assert_int_equal(tn_program_create(&program, g, &f.context, 4, &f.diag), TN_OK);
        assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
        memcpy(first, results[0].tensor.data, sizeof first);
        f.a.small = true;
        f.a.room = (uint64_t)draw(0, 6);
        tn_program_forget(program);
        assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
        assert_memory_equal(results[0].tensor.data, first, sizeof first);
        tn_program_destroy(program);
        assert_int_equal(tn_plan_make(&plan, &request, &f.context, &f.diag), TN_OK);
        uint64_t taken = 0;
        bool any = false;
        for (size_t i = 0; i < plan->n_steps; i++) {
            const tn_step *step = &plan->steps[i];
            taken += step->call.op == &tn_op_flow && strcmp(step->device, "sim_a") == 0 ? step->node->bodies[0]->n_nodes : 0;
            if (step->crowded) {
                tn_text text;
                any = true;
                tn_text_init(&text, &f.heap);
                assert_string_equal(step->device, "cpu");
                tn_plan_explain_step_bids(&f.context, step, &text);
                assert_non_null(strstr(text.data, "no memory left"));
                tn_text_deinit(&text);
            }
        }
        assert_true(taken <= f.a.room);
        assert_true(!any || taken == f.a.room);
        crowded += any;
        whole += !any;
        tn_plan_destroy(plan);
        tn_graph_destroy(g);
        close_fixture(&f);
    }
    assert_true(crowded > 20 && whole > 5);
}

// A conversion of layout runs on the CPU, behind a sub-flow too, and plans say so.
static void conversions_behind_a_sub_flow_are_the_cpus(void **unused)
{
    fixture f;
    tn_plan *plan = NULL;
    (void)unused;
    open_fixture(&f);
    f.a.lacks = f.b.lacks = &tn_op_conv;
    f.b.per_element = 1000;
    f.context.device = "sim_a";
    tn_graph *g = tn_graph_parse("graph \"g\" (%x: float32[1,32,24,24]) -> (%y)\n"
                                 "  %s = sin(%x)\n"
                                 "  %a = conv(%s, %w: const float32[32,32,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n"
                                 "  %y = conv(%a, %v: const float32[32,32,3,3]) {kernel=[3,3], pads=[1,1,1,1]}\n",
                                 &f.heap, &f.diag);
    assert_non_null(g);
    assert_int_equal(tn_infer_graph(g, &f.heap, &f.diag), TN_OK);
    const tn_fact fact = {.dtype = TN_F32, .shape = g->inputs[0]->shape};
    const tn_plan_request request = {.graph = g, .inputs = &fact};
    assert_int_equal(tn_plan_make(&plan, &request, &f.context, &f.diag), TN_OK);
    int flows = 0, conversions = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const bool flow = plan->steps[i].call.op == &tn_op_flow;
        flows += flow;
        conversions += plan->steps[i].call.op == &tn_op_relayout;
        assert_string_equal(plan->steps[i].device, flow ? "sim_a" : "cpu");
    }
    assert_int_equal(flows, 1);
    assert_true(conversions > 0);
    tn_plan_destroy(plan);
    tn_graph_destroy(g);
    close_fixture(&f);
}

// ---- composites by their parts ----

static tn_graph *one_composite(tn_heap *heap)
{
    tn_graph *g = tn_graph_create(heap, "g");
    tn_value *x = tn_graph_value(g, "x"), *in[3] = {x, x, x}, *y = tn_graph_value(g, "y");
    x->dtype = TN_F32;
    x->shape = tn_shape_of(2, (const int64_t[]){8, 8});
    tn_graph_add_input(g, x);
    assert_non_null(tn_graph_node(g, NULL, &tn_op_gemm, "whole", &composite, in, 3, &y, 1));
    tn_graph_add_output(g, y);
    return g;
}

static void explain_into(fixture *f, const tn_plan *plan, tn_text *text)
{
    tn_text_init(text, &f->heap);
    tn_json_open(text, '[');
    tn_plan_explain(plan, &f->context, text);
    tn_json_close(text, ']');
}

// A device without the composite runs its three parts in one sub-flow; one that lacks a part too refuses with what it says of the whole.
static void a_composite_is_taken_apart_where_that_is_cheaper(void **unused)
{
    fixture f;
    tn_program *program = NULL;
    tn_result_slot results[1] = {{0}};
    tn_text text;
    float x[64], like[64];
    (void)unused;
    open_fixture(&f);
    for (int i = 0; i < 64; i++) {
        x[i] = (float)(i % 11 - 5);
    }
    for (int r = 0; r < 8; r++) {
        for (int c = 0; c < 8; c++) {
            like[8 * r + c] = 2 * x[8 * r + c];
            for (int k = 0; k < 8; k++) {
                like[8 * r + c] += x[8 * r + k] * x[8 * c + k];
            }
        }
    }
    f.a.lacks = f.b.lacks = &tn_op_gemm;
    f.b.lacks_too = &tn_op_add;
    f.a.per_element = f.b.per_element = 0.001;
    f.context.device = "sim_a";
    f.context.strict = TN_STRICT_DEVICE;
    tn_graph *g = one_composite(&f.heap);
    tn_run run = {.context = &f.context, .diag = &f.diag};
    const tn_tensor input = {.dtype = TN_F32, .shape = g->inputs[0]->shape, .data = x};
    assert_int_equal(tn_program_create(&program, g, &f.context, 4, &f.diag), TN_OK);
    assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
    assert_int_equal(f.a.calls, 1);
    assert_memory_equal(results[0].tensor.data, like, sizeof like);      // whole numbers
    const tn_plan *plan = tn_program_plan(program);
    assert_int_equal(plan->n_steps, 1);
    assert_int_equal(plan->steps[0].node->bodies[0]->n_nodes, 3);
    assert_string_equal(plan->steps[0].node->bodies[0]->last->origins[0], "whole");
    explain_into(&f, plan, &text);
    assert_non_null(strstr(text.data, "\"op\":\"matmul\""));
    tn_text_deinit(&text);

    // On the CPU where the parts are dear: what they would have cost is told.
    f.context.device = NULL;
    f.context.strict = 0;
    f.a.per_element = 1000;
    tn_program_forget(program);
    assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
    assert_int_equal(f.a.calls + f.b.calls, 1);
    explain_into(&f, tn_program_plan(program), &text);
    assert_non_null(strstr(text.data, "{\"device\":\"sim_a\",\"ns\":192000,\"parts\":3,\"why\":\"dearer with its transfers and calls\"}"));
    assert_non_null(strstr(text.data, "{\"device\":\"sim_b\",\"ns\":null,\"why\":\"this device lacks it\"}"));
    tn_text_deinit(&text);
    tn_program_destroy(program);
    tn_graph_destroy(g);
    close_fixture(&f);
}

// ---- wishes: strict, and what explain says ----

// x -> atan -> sin -> y; sim_a lacks the sine.
static tn_graph *two_nodes(tn_heap *heap)
{
    static const tn_op *const ops[2] = {&tn_op_atan, &tn_op_sin};
    static const char *const names[2] = {"first", "second"};
    tn_graph *g = tn_graph_create(heap, "g");
    tn_value *value = tn_graph_value(g, "x");
    value->dtype = TN_F32;
    value->shape = tn_shape_of(1, (const int64_t[]){64});
    tn_graph_add_input(g, value);
    for (int i = 0; i < 2; i++) {
        tn_value *out = tn_graph_value(g, i ? "y" : "t");
        assert_non_null(tn_graph_node(g, NULL, ops[i], names[i], NULL, &value, 1, &out, 1));
        value = out;
    }
    tn_graph_add_output(g, value);
    return g;
}

typedef struct said {
    int count;
    char last[512];
} said;

static void hear(void *context, int level, const char *text)
{
    said *s = context;
    (void)level;
    s->count++;
    strncpy(s->last, text, sizeof s->last - 1);
}

static tn_status plan_two(fixture *f, tn_plan **plan)
{
    tn_graph *g = two_nodes(&f->heap);
    const tn_fact input = {.dtype = TN_F32, .shape = g->inputs[0]->shape};
    const tn_plan_request request = {.graph = g, .inputs = &input};
    const tn_status status = tn_plan_make(plan, &request, &f->context, &f->diag);
    tn_graph_destroy(g);
    return status;
}

static void fall_backs_are_told_and_strict_refuses_them(void **unused)
{
    static const struct { unsigned strict; const char *precision; const char *why; } cases[] = {
        {TN_STRICT_DEVICE, "fp32", "this device lacks it"}, {TN_STRICT_PRECISION, "fp16", "computed in fp32 on cpu instead of fp16"},
        {TN_STRICT_REFERENCE, "fp32", "reference kernel"},
    };
    fixture f;
    said heard = {0};
    tn_plan *plan = NULL;
    (void)unused;
    open_fixture(&f);
    f.a.lacks = f.b.lacks = &tn_op_sin;
    f.a.per_element = f.b.per_element = 0.01;
    f.context.device = "sim_a";
    f.context.precision = "fp16";
    f.context.log = hear;
    f.context.log_context = &heard;
    assert_int_equal(plan_two(&f, &plan), TN_OK);
    assert_int_equal(f.context.device_fallbacks, 1);
    assert_int_equal(f.context.precision_events, 1);
    assert_true(heard.count >= 2);
    tn_plan_destroy(plan);
    for (size_t i = 0; i < TN_COUNT(cases); i++) {
        f.context.strict = cases[i].strict;
        f.context.precision = cases[i].precision;
        plan = NULL;
        tn_diag_clear(&f.diag);
        const tn_status status = plan_two(&f, &plan);
        assert_int_equal(status, TN_FALLBACK);
        assert_null(plan);
        assert_string_equal(f.diag.place, "second");
        assert_non_null(strstr(f.diag.message, cases[i].why));
        assert_non_null(strstr(f.diag.message, "strict forbids it"));
    }
    f.a.lacks = NULL;      // with every wish met, strict says nothing
    f.context.strict = TN_STRICT_DEVICE | TN_STRICT_PRECISION;
    f.context.precision = "fp16";
    tn_diag_clear(&f.diag);
    assert_int_equal(plan_two(&f, &plan), TN_OK);
    tn_plan_destroy(plan);
    close_fixture(&f);
}

static void explain_tells_prices_and_refusals(void **unused)
{
    fixture f;
    tn_plan *plan = NULL;
    tn_text text;
    (void)unused;
    open_fixture(&f);
    f.a.lacks = f.b.lacks = &tn_op_sin;
    f.a.per_element = 0.01;
    f.b.per_element = 0.02;
    f.a.per_call = 7;
    f.b.per_call = 20;
    f.context.device = "sim_a";
    assert_int_equal(plan_two(&f, &plan), TN_OK);
    tn_text_init(&text, &f.heap);
    tn_json_open(&text, '[');
    f.context.dead = 2;
    tn_plan_explain(plan, &f.context, &text);
    tn_json_close(&text, ']');
    assert_non_null(strstr(text.data, "{\"device\":\"sim_a\",\"ns\":null,\"why\":\"this device lacks it\"}"));
    assert_non_null(strstr(text.data, "{\"device\":\"sim_b\",\"ns\":null,\"why\":\"the device failed in this session\"}"));
    assert_non_null(strstr(text.data, "\"flow\":{\"nodes\":1,\"transfers\":[{\"tensor\":\"x\",\"way\":\"to\",\"bytes\":256,\"ns\":10}"));
    assert_non_null(strstr(text.data, "\"call_ns\":7,"));
    tn_text_deinit(&text);
    tn_plan_destroy(plan);
    close_fixture(&f);
}

static void recorded_runs_are_timed_inside_of_flows(void **unused)
{
    fixture f;
    tn_program *program = NULL;
    tn_result_slot results[2] = {{0}};
    tn_text text;
    float x[64] = {0};
    (void)unused;
    open_fixture(&f);
    f.a.per_element = f.b.per_element = 0.01;
    f.b.lacks = &tn_op_atan;
    f.context.device = "sim_a";
    tn_graph *g = two_nodes(&f.heap);
    const tn_tensor input = {.dtype = TN_F32, .shape = g->inputs[0]->shape, .data = x};
    tn_run run = {.context = &f.context, .diag = &f.diag};
    assert_int_equal(tn_program_create(&program, g, &f.context, 4, &f.diag), TN_OK);
    assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
    assert_int_equal(f.a.timed, 0);
    run.profile = tn_profile_create(&f.heap, 100, 1);
    assert_non_null(run.profile);
    for (int i = 0; i < 2; i++) {
        tn_profile_run_begin(run.profile, NULL, 0);
        assert_int_equal(tn_program_run(program, &run, &input, results), TN_OK);
        tn_profile_run_end(run.profile, NULL, 0);
    }
    assert_int_equal(f.a.timed, 2);
    tn_text_init(&text, &f.heap);
    tn_json_open(&text, '{');
    tn_profile_write(run.profile, &text);
    tn_json_close(&text, '}');
    assert_non_null(strstr(text.data, "\"op\":\"flow\",\"kernel\":\"sub-flow\""));
    assert_non_null(strstr(text.data, "\"kernel\":\"sim\",\"macs\":0,\"ns\":5}"));
    assert_null(strstr(text.data, "\"ns\":9}"));
    tn_text_deinit(&text);
    tn_profile_destroy(run.profile);
    tn_program_destroy(program);
    tn_graph_destroy(g);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_split_is_the_cheapest), cmocka_unit_test(flows_run_and_a_dead_device_is_left_out),
                                       cmocka_unit_test(nodes_that_have_no_room_stay_on_the_cpu),
                                       cmocka_unit_test(conversions_behind_a_sub_flow_are_the_cpus), cmocka_unit_test(a_composite_is_taken_apart_where_that_is_cheaper),
                                       cmocka_unit_test(fall_backs_are_told_and_strict_refuses_them),
                                       cmocka_unit_test(explain_tells_prices_and_refusals),
                                       cmocka_unit_test(recorded_runs_are_timed_inside_of_flows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
