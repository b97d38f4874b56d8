// SPDX-License-Identifier: Apache-2.0
// The search for orders with a low peak: against the exact answer on small graphs (a walk over all sets of nodes), never above the order that
// it was given, deterministic, and a gain on graphs with branches.
#include "support/unit.h"

#include "base/macros.h"
#include "plan/memory/schedule.h"

#include <stdio.h>
#include <string.h>

#define MOST 40

static uint64_t state;

static int draw(int low, int high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (int)((state >> 33) % (uint64_t)(high - low + 1));
}

// Node n makes value n and reads one to three values before it, or value MOST, which comes from outside.
typedef struct graph {
    tn_schedule_node nodes[MOST];
    uint32_t in[MOST][3], out[MOST];
    size_t bytes[MOST + 1];
    bool kept[MOST + 1];
    tn_schedule schedule;
} graph;

static void random_graph(graph *g, int count, int reach)
{
    memset(g, 0, sizeof *g);
    for (int n = 0; n < count; n++) {
        tn_schedule_node *node = &g->nodes[n];
        const int reads = draw(1, 3);
        for (int r = 0; r < reads; r++) {
            const uint32_t v = n == 0 || draw(0, 9) == 0 ? MOST : (uint32_t)draw(TN_MAX(0, n - reach), n - 1);
            bool seen = false;
            for (uint32_t k = 0; k < node->n_in; k++) {
                seen = seen || g->in[n][k] == v;
            }
            if (!seen) {
                g->in[n][node->n_in++] = v;
            }
        }
        g->out[n] = (uint32_t)n;
        node->in = g->in[n];
        node->out = &g->out[n];
        node->n_out = 1;
        node->in_place = draw(0, 2) == 0 ? node->n_in : 0;
        g->bytes[n] = 64 * (size_t)(draw(0, 1) ? draw(1, 4) : draw(1, 64));
        g->kept[n] = draw(0, 12) == 0;
    }
    g->schedule = (tn_schedule){.nodes = g->nodes, .n_nodes = (size_t)count, .bytes = g->bytes, .kept = g->kept, .n_values = MOST + 1};
}

// ---- the exact answer: the lowest peak to reach each set of nodes ----

static bool ends(const graph *g, uint32_t value, uint32_t set)
{
    bool last = !g->kept[value];
    for (size_t n = 0; n < g->schedule.n_nodes; n++) {
        for (uint32_t k = 0; k < g->nodes[n].n_in; k++) {
            last = last && (g->in[n][k] != value || set >> n & 1);
        }
    }
    return last;
}

static size_t live(const graph *g, uint32_t set)
{
    size_t sum = 0;
    for (size_t n = 0; n < g->schedule.n_nodes; n++) {
        sum += set >> n & 1 && !ends(g, (uint32_t)n, set) ? g->bytes[n] : 0;
    }
    return sum;
}

static size_t exact(const graph *g)
{
    static size_t peak[1 << 14];
    const uint32_t all = ((uint32_t)1 << g->schedule.n_nodes) - 1;
    for (uint32_t set = 1; set <= all; set++) {
        peak[set] = SIZE_MAX;
    }
    peak[0] = 0;
    for (uint32_t set = 0; set < all; set++) {
        if (peak[set] == SIZE_MAX) {
            continue;
        }
        const size_t before = live(g, set);
        for (uint32_t n = 0; n < g->schedule.n_nodes; n++) {
            const uint32_t next = set | (uint32_t)1 << n;
            bool ready = !(set >> n & 1);
            size_t shared = 0;
            for (uint32_t k = 0; k < g->nodes[n].n_in; k++) {
                const uint32_t v = g->in[n][k];
                ready = ready && (v == MOST || set >> v & 1);
                shared = k < g->nodes[n].in_place && v != MOST && g->bytes[v] == g->bytes[n] && ends(g, v, next) ? g->bytes[v] : shared;
            }
            if (ready) {
                const size_t here = TN_MAX(peak[set], before + g->bytes[n] - shared);
                peak[next] = TN_MIN(peak[next], here);
            }
        }
    }
    return peak[all];
}

static void check_order(const graph *g, const uint32_t *order)
{
    bool done[MOST] = {false};
    for (size_t i = 0; i < g->schedule.n_nodes; i++) {
        const uint32_t n = order[i];
        assert_true(n < g->schedule.n_nodes && !done[n]);
        for (uint32_t k = 0; k < g->nodes[n].n_in; k++) {
            assert_true(g->in[n][k] == MOST || done[g->in[n][k]]);
        }
        done[n] = true;
    }
}

static void small_graphs_get_the_best_order(void **unused)
{
    tn_heap heap;
    int better = 0;
    (void)unused;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (uint64_t seed = 1; seed <= 300; seed++) {
        graph g;
        tn_arena arena;
        uint32_t order[MOST];
        state = seed;
        tn_arena_init(&arena, &heap);
        random_graph(&g, draw(3, 11), draw(2, 11));
        for (uint32_t i = 0; i < g.schedule.n_nodes; i++) {
            order[i] = i;
        }
        const size_t before = tn_schedule_peak(&g.schedule, order, &arena), after = tn_schedule_improve(&g.schedule, order, 24000, &arena);
        check_order(&g, order);
        assert_int_equal(tn_schedule_peak(&g.schedule, order, &arena), after);
        assert_true(tn_schedule_floor(&g.schedule) <= after);
        const size_t best = exact(&g);
        if (after != best) {
            fail_msg("seed %d: peak %zu, the lowest is %zu", (int)seed, after, best);
        }
        better += after < before;
        tn_arena_deinit(&arena);
    }
    assert_true(better > 60);
    assert_int_equal(atomic_load(&heap.live_bytes), 0);
}

static void larger_graphs_gain_and_never_lose(void **unused)
{
    tn_heap heap;
    double gain = 0;
    (void)unused;
    tn_heap_init(&heap, NULL, NULL, NULL);
    for (uint64_t seed = 1; seed <= 60; seed++) {
        graph g;
        tn_arena arena;
        uint32_t order[MOST], again[MOST];
        state = seed;
        tn_arena_init(&arena, &heap);
        random_graph(&g, draw(20, MOST), draw(3, 20));
        for (uint32_t i = 0; i < g.schedule.n_nodes; i++) {
            order[i] = again[i] = i;
        }
        const size_t before = tn_schedule_peak(&g.schedule, order, &arena), after = tn_schedule_improve(&g.schedule, order, 24000, &arena);
        assert_int_equal(tn_schedule_improve(&g.schedule, again, 24000, &arena), after);
        assert_memory_equal(order, again, g.schedule.n_nodes * sizeof order[0]);
        check_order(&g, order);
        assert_true(after <= before);
        gain += 1 - (double)after / (double)before;
        tn_arena_deinit(&arena);
    }
    print_message("mean gain over the order as made: %.1f %%\n", 100 * gain / 60);
    assert_true(gain / 60 > 0.03);
}

static bool attempt(tn_heap *heap, void *context)
{
    graph g;
    tn_arena arena;
    uint32_t order[MOST];
    (void)context;
    state = 7;
    random_graph(&g, 12, 12);
    for (uint32_t i = 0; i < 12; i++) {
        order[i] = i;
    }
    tn_arena_init(&arena, heap);
    const bool done = tn_schedule_improve(&g.schedule, order, 24000, &arena) != SIZE_MAX;
    check_order(&g, order);
    tn_arena_deinit(&arena);
    return done;
}

static void no_memory_leaves_the_order(void **unused)
{
    (void)unused;
    assert_true(tn_fail_every_request(attempt, NULL) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_graphs_get_the_best_order),
        cmocka_unit_test(larger_graphs_gain_and_never_lose),
        cmocka_unit_test(no_memory_leaves_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
