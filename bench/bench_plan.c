// SPDX-License-Identifier: Apache-2.0
// What planning gains and costs, without running: the arena in the model's order and in the chosen one, how far it is from its lower bound,
// the time of the first plan and of a plan for another shape.
//
//   bench_plan [--json] [--open N] MODEL...   dims that a model leaves open: N, or the smallest of 1, 2, 8 ... 512 that it accepts for all
//   bench_plan [--json] --generated           orders of made graphs with branches, by the search alone
#include "api/api.h"
#include "plan/memory/schedule.h"
#include "sys/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_INPUTS 32

static int json, printed;
static int64_t first_open;

static void begin_row(void)
{
    printf("%s", json ? (printed ? ",\n" : "[\n") : "");
    printed = 1;
}

// ---- models ----

typedef struct shapes {
    tenon_input_shape list[MOST_INPUTS];
    size_t count;
    int64_t ones[64];
} shapes;

static void fill_shapes(shapes *s, const tenon_model *model, int64_t open)
{
    s->count = tenon_model_input_count(model);
    s->count = s->count > MOST_INPUTS ? MOST_INPUTS : s->count;
    for (size_t i = 0; i < 64; i++) {
        s->ones[i] = 1;
    }
    for (size_t i = 0; i < s->count; i++) {
        tenon_value_info info = {.struct_size = sizeof info};
        int64_t elements = 1;
        tenon_model_input(model, i, &info);
        s->list[i] = (tenon_input_shape){.name = info.name, .rank = info.rank < 0 ? 1 : info.rank};
        for (int d = 0; d < s->list[i].rank; d++) {
            const int64_t dim = info.rank < 0 ? open : info.dims[d] >= 0 ? info.dims[d] : d == 0 ? 1 : open;
            s->list[i].dims[d] = dim;
            elements *= dim;
        }
        s->list[i].values = elements > 0 && elements <= 64 ? s->ones : NULL;      // for those whose contents decide shapes
    }
}

static tenon_status plan(tenon_session *session, const shapes *s, int keep_order, double *ms)
{
    session->context.keep_order = keep_order;
    for (tn_wanted *wanted = session->wanted; wanted; wanted = wanted->next) {
        tn_program_forget(wanted->program);
    }
    const uint64_t begin = tn_clock_ns();
    const tenon_status status = tenon_session_prepare_shapes(session, s->list, s->count, NULL, 0, NULL);
    *ms = 1e-6 * (double)(tn_clock_ns() - begin);
    return status;
}

static int measure(const char *path)
{
    static const int64_t open_dims[] = {1, 2, 8, 16, 32, 48, 64, 128, 224, 256, 512};
    tenon_model *model = NULL;
    tenon_session *session = NULL;
    tenon_error *error = NULL;
    tenon_session_options options;
    shapes s, other;
    double ms, again_ms, other_ms = 0;
    size_t k = 0;
    tenon_session_options_init(&options);
    options.threads = 1;
    if (tenon_model_open(&model, path, NULL, &error) != TENON_OK || tenon_session_create(&session, model, &options, &error) != TENON_OK) {
        fprintf(stderr, "%s: %s\n", path, tenon_error_message(error));
        tenon_error_destroy(error);
        tenon_model_destroy(model);
        return 1;
    }
    for (;; k++) {
        fill_shapes(&s, model, first_open ? first_open : open_dims[k]);
        if (plan(session, &s, 0, &ms) == TENON_OK) {
            break;
        }
        if (first_open || k + 1 == sizeof open_dims / sizeof open_dims[0]) {
            fprintf(stderr, "%s: no shape was accepted\n", path);
            tenon_session_destroy(session);
            tenon_model_destroy(model);
            return 1;
        }
    }
    const tn_plan_memory chosen = tn_program_plan(session->wanted->program)->memory;
    plan(session, &s, 1, &again_ms);
    const tn_plan_memory own = tn_program_plan(session->wanted->program)->memory;
    session->context.keep_order = 0;
    fill_shapes(&other, model, (first_open ? first_open : open_dims[k]) + 1);
    const uint64_t begin = tn_clock_ns();
    const int changed = memcmp(s.list, other.list, sizeof s.list) != 0 &&
                        tenon_session_prepare_shapes(session, other.list, other.count, NULL, 0, NULL) == TENON_OK;
    other_ms = changed ? 1e-6 * (double)(tn_clock_ns() - begin) : 0;
    const double gain = own.arena_bytes ? 1 - (double)chosen.arena_bytes / (double)own.arena_bytes : 0;
    const double over = chosen.lower_bound_bytes ? (double)chosen.arena_bytes / (double)chosen.lower_bound_bytes : 1;
    begin_row();
    printf(json ? "{\"model\": \"%s\", \"arena\": %zu, \"bound\": %zu, \"own_order\": %zu, \"over_bound\": %.4f, \"gain\": %.4f, \"plan_ms\": %.3f, "
                  "\"other_shape_ms\": %.3f}"
                : "%-60s arena %10zu  bound %10zu  in the model's order %10zu  over bound %.3f  gain %.3f  plan %.2f ms  other shape %.2f ms\n",
           path, chosen.arena_bytes, chosen.lower_bound_bytes, own.arena_bytes, over, gain, ms, other_ms);
    tenon_session_destroy(session);
    tenon_model_destroy(model);
    return 0;
}

// ---- made graphs: cells of branches that meet in one node, as in networks found by search ----

enum { CELLS = 6, BRANCHES = 4, DEPTH = 4, NODES = CELLS * (BRANCHES * DEPTH + 1) };

static uint64_t state;

static size_t draw(size_t low, size_t high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (size_t)(state >> 33) % (high - low + 1);
}

typedef struct made {
    tn_schedule_node nodes[NODES];
    uint32_t in[NODES][BRANCHES], out[NODES];
    size_t bytes[NODES + 1];
    bool kept[NODES + 1];
    tn_schedule schedule;
} made;

// by_level: all branches advance together, as exporters that walk breadth-first write them; else one after another.
static void make(made *g, int by_level)
{
    uint32_t ends[BRANCHES], input = NODES;
    uint32_t n = 0;
    memset(g, 0, sizeof *g);
    for (int cell = 0; cell < CELLS; cell++) {
        const size_t scale = 64 * draw(1, 8);
        for (int i = 0; i < BRANCHES * DEPTH; i++, n++) {
            const int branch = by_level ? i % BRANCHES : i / DEPTH, depth = by_level ? i / BRANCHES : i % DEPTH;
            g->in[n][0] = depth == 0 ? input : ends[branch];
            g->nodes[n] = (tn_schedule_node){.in = g->in[n], .out = &g->out[n], .n_in = 1, .n_out = 1, .in_place = draw(0, 3) == 0};
            g->out[n] = n;
            g->bytes[n] = scale * (depth + 1 == DEPTH ? draw(1, 4) : draw(1, 16));
            ends[branch] = n;
        }
        memcpy(g->in[n], ends, sizeof ends);
        g->nodes[n] = (tn_schedule_node){.in = g->in[n], .out = &g->out[n], .n_in = BRANCHES, .n_out = 1};
        g->out[n] = n;
        g->bytes[n] = scale * 8;
        input = n++;
    }
    g->schedule = (tn_schedule){.nodes = g->nodes, .n_nodes = NODES, .bytes = g->bytes, .kept = g->kept, .n_values = NODES + 1};
}

static int generated(void)
{
    tn_heap heap;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (int by_level = 0; by_level < 2; by_level++) {
        double gain = 0, ms = 0, most = 0;
        enum { GRAPHS = 50 };
        for (int i = 0; i < GRAPHS; i++) {
            static made g;
            tn_arena arena;
            uint32_t order[NODES];
            state = (uint64_t)i + 1;
            make(&g, by_level);
            for (uint32_t k = 0; k < NODES; k++) {
                order[k] = k;
            }
            tn_arena_init(&arena, &heap);
            const size_t before = tn_schedule_peak(&g.schedule, order, &arena);
            const uint64_t begin = tn_clock_ns();
            const size_t after = tn_schedule_improve(&g.schedule, order, 24000, &arena);
            ms += 1e-6 * (double)(tn_clock_ns() - begin);
            gain += 1 - (double)after / (double)before;
            most = 1 - (double)after / (double)before > most ? 1 - (double)after / (double)before : most;
            tn_arena_deinit(&arena);
        }
        begin_row();
        printf(json ? "{\"graphs\": %d, \"nodes\": %d, \"order\": \"%s\", \"mean_gain\": %.4f, \"largest_gain\": %.4f, \"search_ms\": %.3f}"
                    : "%d graphs of %d nodes, branches %s: mean gain %.3f, largest %.3f, search %.2f ms\n",
               GRAPHS, NODES, by_level ? "side by side" : "one after another", gain / GRAPHS, most, ms / GRAPHS);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int bad = 0, made_graphs = 0;
    for (int i = 1; i < argc; i++) {
        json = json || strcmp(argv[i], "--json") == 0;
        made_graphs = made_graphs || strcmp(argv[i], "--generated") == 0;
        first_open = strcmp(argv[i], "--open") == 0 && i + 1 < argc ? strtoll(argv[i + 1], NULL, 10) : first_open;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--open") == 0) {
            i++;                   // its value
        } else {
            bad += argv[i][0] != '-' && measure(argv[i]);
        }
    }
    bad += made_graphs ? generated() : 0;
    if (json) {
        puts(printed ? "\n]" : "[]");
    }
    return bad || argc < 2 ? 1 : 0;
}
