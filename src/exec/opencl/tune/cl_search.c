// SPDX-License-Identifier: Apache-2.0
// A layer is measured with its own weights and whatever its input memory holds: tiles move the same texels for any values. The first
// tries are those that the model prices lowest; a temperature that falls with the time left decides whether a slower tile is kept as the
// place to go on from.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/tune/cl_search.h"

#include "base/num.h"
#include "device/tuning.h"
#include "exec/opencl/tune/cl_table.h"
#include "ir/edit.h"
#include "sys/clock.h"

#include <string.h>

#define GUESSES 8
#define MEASURES 9
#define MAX_LAYERS 512
#define BETWEEN_NS 1500.0     // from the end of a kernel to the start of one that waits for it
#define START_NS 3000.0       // what a start costs the host beyond that, where it is what a flow waits for

typedef struct search {
    tn_cl_context *cl;
    tn_cl_flow *flow;
    const tn_tune_request *request;
    tn_annealing annealing;
    uint64_t deadline;
} search;

// A layer on its own, computed in one of the ways there are.
typedef struct candidate {
    const tn_node *place;             // in the flow
    const tn_graph *graph;            // of the node alone
    tn_cl_layer layer;
    tn_cl_tile tile;                  // the best so far
    char text[TN_CL_LAYER_TEXT];
} candidate;

// The node with its constants, and inputs for the rest; first: its operand 0, or NULL. *result: its first result. false: no memory.
static bool add_node(tn_graph *graph, const tn_node *node, tn_value *first, tn_value **result)
{
    tn_value *in[TN_MAX_IN] = {NULL}, *out[TN_MAX_OUT] = {NULL};
    bool good = true;
    for (int i = 0; i < node->n_in && good; i++) {
        const tn_value *value = node->in[i];
        if (!value || (i == 0 && first)) {
            in[i] = value ? first : NULL;
            continue;
        }
        in[i] = value->constant ? tn_graph_constant(graph, NULL, value->dtype, &value->shape, value->constant->data, false)
                                : tn_graph_value(graph, NULL);
        good = in[i] != NULL;
        if (good && !value->constant) {
            in[i]->dtype = value->dtype;
            in[i]->shape = value->shape;
            good = tn_graph_add_input(graph, in[i]) == TN_OK;
        }
    }
    for (int i = 0; i < node->n_out && good; i++) {
        out[i] = tn_graph_value(graph, NULL);
        good = out[i] != NULL;
        if (good) {
            out[i]->dtype = node->out[i]->dtype;
            out[i]->shape = node->out[i]->shape;
        }
    }
    *result = out[0];
    return good && tn_graph_node(graph, NULL, node->op, "layer", node->attr, in, node->n_in, out, node->n_out) != NULL;
}

// A graph of what the step's layer says, alone. NULL: no memory.
static tn_graph *alone(tn_heap *heap, const tn_cl_step *step)
{
    tn_value *result = NULL;
    tn_graph *graph = tn_graph_create(heap, "layer");
    bool good = graph && (step->layer->kind != TN_CL_LAYER_EXPAND || add_node(graph, step->ahead, NULL, &result));
    good = good && add_node(graph, step->node, result, &result) && tn_graph_add_output(graph, result) == TN_OK;
    if (!good && graph) {
        tn_graph_destroy(graph);
    }
    return good ? graph : NULL;
}

static double event_ns(const tn_cl_driver *driver, tn_cl_step *step)
{
    cl_ulong start = 0, end = 0;
    (void)driver->WaitForEvents(1, &step->event);
    (void)driver->GetEventProfilingInfo(step->event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    (void)driver->GetEventProfilingInfo(step->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    (void)driver->ReleaseEvent(step->event);
    step->event = NULL;
    return end > start ? (double)(end - start) : 0;
}

static bool is_work(const tn_cl_step *step) { return strncmp(step->file, "buffer_to", 9) != 0 && strncmp(step->file, "image_to", 8) != 0; }

// All kernels of the layer, and the time between them. On a GPU with the flow around it, so that code and texels come from where they
// will come from in a run. A driver on the CPU has nothing like that, and a flow takes it long.
static tn_status run_once(search *s, const tn_node *place, tn_cl_flow *layer, double *ns, tn_diag *diag)
{
    tn_cl_context *cl = s->cl;
    for (tn_cl_step *other = s->flow->first; other && !cl->facts.is_cpu && other->node != place; other = other->next) {
        TN_TRY(tn_cl_step_enqueue(cl, cl->timing, other, false, diag));
    }
    *ns = -BETWEEN_NS;
    for (tn_cl_step *step = layer->first; step; step = step->next) {
        if (is_work(step)) {
            TN_TRY(tn_cl_step_enqueue(cl, cl->timing, step, true, diag));
            *ns += event_ns(&cl->driver, step) + BETWEEN_NS;
        }
    }
    return TN_OK;
}

static const tn_cl_step *layer_step(const tn_cl_flow *flow)
{
    const tn_cl_step *step = flow->first;
    while (step && !step->layer) {
        step = step->next;
    }
    return step;
}

static tn_status make(search *s, const tn_graph *graph, bool half, tn_cl_flow **flow)
{
    tn_diag diag = {.status = TN_OK};
    const tn_flow_request request = {.graph = graph, .store = s->flow->store, .cache = s->request->cache,
                                     .precision = !half ? "fp32" : s->flow->halves ? "fp16_pure" : "fp16", .diag = &diag};
    return tn_cl_flow_make(s->cl, &request, flow);
}

// Nanoseconds of the layer, the median, as it is made now; tile: it must have this one, unless NULL. 0: it cannot be had so.
static double time_layer(search *s, const candidate *c, const tn_cl_tile *tile)
{
    tn_diag diag = {.status = TN_OK};
    tn_cl_flow *flow = NULL;
    double times[MEASURES] = {0};
    if (make(s, c->graph, c->layer.half, &flow) != TN_OK) {
        return 0;
    }
    const tn_cl_step *step = layer_step(flow);
    bool good = step && (!tile || memcmp(&step->tile, tile, sizeof *tile) == 0);
    for (int i = -2; i < MEASURES && good; i++) {
        double ns = 0;
        good = run_once(s, c->place, flow, &ns, &diag) == TN_OK;
        // Sorted as they come.
        for (int k = i; k >= 0; k--) {
            const bool moved = k > 0 && times[k - 1] > ns;
            times[k] = moved ? times[k - 1] : ns;
            if (!moved) {
                break;
            }
        }
    }
    (void)s->cl->driver.Finish(s->cl->timing);
    tn_cl_flow_release(flow);
    return good ? times[MEASURES / 2] : 0;
}

// The same with this tile; 0: the device does not take it.
static double measure(search *s, const candidate *c, const tn_cl_tile *tile)
{
    return tn_cl_table_put(s->cl, c->text, tile) ? time_layer(s, c, tile) : 0;
}

// One number of the tile doubled or halved.
static tn_cl_tile changed(search *s, tn_cl_tile tile)
{
    int *const numbers[] = {&tile.ob, &tile.p, &tile.split_c, &tile.split_t, &tile.lanes_x, &tile.lanes_y};
    int *number = numbers[tn_annealing_random(&s->annealing) % 6];
    const int base = number == &tile.split_t ? 3 : 2;
    *number = tn_annealing_random(&s->annealing) & 1 ? *number * base : *number / base;
    return tile;
}

typedef struct best_guess { tn_cl_tile tile[GUESSES]; double price[GUESSES]; size_t n; } best_guess;

static void guess(best_guess *g, const tn_cl_layer *layer, const tn_cl_facts *facts)
{
    g->n = 0;
    for (size_t i = 0; i < tn_cl_tile_count(layer); i++) {
        const tn_cl_tile tile = tn_cl_tile_nth(layer, i);
        if (!tn_cl_tile_valid(&tile, layer, facts)) {
            continue;
        }
        const double price = tn_cl_tile_price(&tile, layer, facts);
        size_t k = g->n;
        while (k > 0 && g->price[k - 1] > price) {
            k--;
        }
        if (k < GUESSES) {
            const size_t last = TN_MIN(g->n, (size_t)GUESSES - 1);
            memmove(&g->tile[k + 1], &g->tile[k], (last - k) * sizeof g->tile[0]);
            memmove(&g->price[k + 1], &g->price[k], (last - k) * sizeof g->price[0]);
            g->tile[k] = tile;
            g->price[k] = price;
            g->n = last + 1;
        }
    }
}

static void search_tiles(search *s, candidate *c, uint64_t until, double *before, double *after)
{
    const tn_cl_layer *layer = &c->layer;
    best_guess guesses;
    tn_cl_tile here = c->tile;
    tn_cl_layer_text(layer, c->text);
    *before = *after = measure(s, c, &c->tile);
    double now = *before;
    tn_annealing_begin(&s->annealing, until);
    guess(&guesses, layer, &s->cl->facts);
    for (size_t i = 0; *before > 0 && !tn_annealing_over(&s->annealing); i++) {
        const bool random = i >= guesses.n && tn_annealing_random(&s->annealing) % 4 == 0;
        const tn_cl_tile tile = i < guesses.n ? guesses.tile[i]
                                : random      ? tn_cl_tile_nth(layer, (size_t)(tn_annealing_random(&s->annealing) % tn_cl_tile_count(layer)))
                                              : changed(s, here);
        if (!tn_cl_tile_valid(&tile, layer, &s->cl->facts)) {
            continue;
        }
        const double ns = measure(s, c, &tile);
        if (ns > 0 && (i < guesses.n ? ns < now : tn_annealing_moves(&s->annealing, ns, now))) {
            here = tile;
            now = ns;
        }
        if (ns > 0 && ns < *after) {
            *after = ns;
            c->tile = here = tile;
            now = ns;
        }
    }
    (void)tn_cl_table_put(s->cl, c->text, &c->tile);
}

// The layer as the flow computes it, with a row of the table that says how: in block 1, 2 or 4. false: it cannot be computed so.
static bool as_chosen(search *s, const tn_cl_layer *choice, int block, candidate *c)
{
    static const tn_cl_layer_kind kinds[] = {[1] = TN_CL_LAYER_CONV, [2] = TN_CL_LAYER_WINOGRAD_2, [4] = TN_CL_LAYER_WINOGRAD_4};
    const tn_cl_tile row = {block, 1, 1, 1, 1, 1};
    char text[TN_CL_LAYER_TEXT];
    tn_cl_flow *flow = NULL;
    tn_cl_layer_text(choice, text);
    if (!tn_cl_table_put(s->cl, text, &row) || make(s, c->graph, choice->half, &flow) != TN_OK) {
        return false;
    }
    const tn_cl_step *step = layer_step(flow);
    const bool so = step && step->layer->kind == kinds[block];
    if (so) {
        c->layer = *step->layer;
        c->tile = step->tile;
    }
    tn_cl_flow_release(flow);
    return so;
}

// Convolutions that Winograd's transform may suit are searched in each of the ways, then the fastest is written down.
static void search_ways(search *s, candidate *c, uint64_t until, double *before, double *after)
{
    const tn_cl_layer_kind first = c->layer.kind;
    const tn_cl_layer choice = tn_cl_layer_choice(&c->layer);
    const uint64_t begin = tn_clock_ns();
    char text[TN_CL_LAYER_TEXT];
    int best = 1;
    *before = *after = 0;
    for (int way = 0; way < 3; way++) {
        const uint64_t now = TN_MIN(tn_clock_ns(), until), end = TN_MAX(now, begin + (until - begin) * (uint64_t)(way + 1) / 3);
        const int block = 1 << way;
        double from = 0, to = 0;
        if (!as_chosen(s, &choice, block, c)) {
            continue;
        }
        search_tiles(s, c, end, &from, &to);
        *before = c->layer.kind == first ? from : *before;
        if (to > 0 && (*after <= 0 || to < *after)) {
            *after = to;
            best = block;
        }
    }
    tn_cl_layer_text(&choice, text);
    (void)tn_cl_table_put(s->cl, text, &(tn_cl_tile){best, 1, 1, 1, 1, 1});
}

// Two convolutions in one kernel: its tiles, and whether each on its own is faster, started once more. Tiles of those come from the table.
static void search_joined(search *s, candidate *c, uint64_t until, double *before, double *after)
{
    const tn_cl_layer fuse = tn_cl_layer_choice(&c->layer);
    char text[TN_CL_LAYER_TEXT];
    tn_cl_tile row = {2, 1, 1, 1, 1, 1};
    tn_cl_layer_text(&fuse, text);
    if (!tn_cl_table_put(s->cl, text, &row)) {
        return;
    }
    search_tiles(s, c, until, before, after);
    row.ob = 1;
    const double apart = tn_cl_table_put(s->cl, text, &row) ? time_layer(s, c, NULL) : 0;
    if (*after > 0 && (apart <= 0 || *after <= apart + START_NS)) {
        row.ob = 2;
        (void)tn_cl_table_put(s->cl, text, &row);
    }
}

static bool has_ways(const tn_cl_layer *l)
{
    return tn_cl_layer_batch(l) > 1 ||
           (l->kind == TN_CL_LAYER_CONV && l->kh == 3 && l->kw == 3 && l->stride == 1 && l->group == 1 && l->in_blocks >= 4 && l->out_blocks >= 4);
}

static void search_layer(search *s, const tn_cl_step *step, uint64_t until, double *before, double *after)
{
    tn_graph *graph = alone(s->cl->base.heap, step);
    candidate c = {.place = step->node, .graph = graph, .layer = *step->layer, .tile = step->tile};
    *before = *after = 0;
    if (graph && step->layer->kind == TN_CL_LAYER_EXPAND) {
        search_joined(s, &c, until, before, after);
    } else if (graph && has_ways(step->layer)) {
        search_ways(s, &c, until, before, after);
    } else if (graph) {
        search_tiles(s, &c, until, before, after);
    }
    if (graph) {
        tn_graph_destroy(graph);
    }
}

// Nothing measured is known of the layer.
static bool is_new(const search *s, const tn_cl_layer *layer)
{
    tn_cl_tile tile;
    const tn_cl_layer row = has_ways(layer) || layer->kind == TN_CL_LAYER_EXPAND ? tn_cl_layer_choice(layer) : *layer;
    return !tn_cl_table_find(s->cl, &row, &tile);
}

static size_t distinct(const tn_cl_flow *flow, const tn_cl_step **steps, size_t room)
{
    char text[TN_CL_LAYER_TEXT], other[TN_CL_LAYER_TEXT];
    size_t n = 0;
    for (const tn_cl_step *step = flow->first; step && n < room; step = step->next) {
        bool seen = !step->layer;
        if (step->layer) {
            tn_cl_layer_text(step->layer, text);
        }
        for (size_t i = 0; i < n && !seen; i++) {
            tn_cl_layer_text(steps[i]->layer, other);
            seen = strcmp(text, other) == 0;
        }
        if (!seen) {
            steps[n++] = step;
        }
    }
    return n;
}

tn_status tn_cl_search(tn_cl_flow *flow, const tn_tune_request *request)
{
    const tn_cl_step *steps[MAX_LAYERS];
    search s = {.cl = flow->cl, .flow = flow, .request = request, .annealing = {.random = request->seed}};
    const size_t n = distinct(flow, steps, MAX_LAYERS);
    if (!tn_cl_timing_queue(flow->cl)) {
        return tn_fail(request->diag, TN_DEVICE, "opencl", "the device has no queue that measures");
    }
    s.deadline = tn_clock_ns() + (uint64_t)(request->seconds * 1e9);
    // What nobody has measured first, and the rest with the time that is left.
    size_t new = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_new(&s, steps[i]->layer)) {
            const tn_cl_step *step = steps[i];
            memmove(&steps[new + 1], &steps[new], (i - new) * sizeof *steps);
            steps[new++] = step;
        }
    }
    for (size_t i = 0; i < n; i++) {
        char text[TN_CL_LAYER_TEXT];
        double before, after;
        const uint64_t now = tn_clock_ns();
        if (now >= s.deadline) {
            break;
        }
        tn_cl_layer_text(steps[i]->layer, text);
        search_layer(&s, steps[i], now + (s.deadline - now) / ((i < new ? new : n) - i), &before, &after);
        if (request->progress && !request->progress(request->context, i + 1, n, text, before, after)) {
            break;
        }
    }
    return TN_OK;
}
