// SPDX-License-Identifier: Apache-2.0
// Which nodes compute in 16 bits where 8 are too few for a model (calibrate.h). Beginning with 16 bits everywhere, groups of nodes are
// tried with 8 bits, one at a time: what that does to the results is measured. As many of the least harmful as the aim allows stay at 8
// bits together; then the same with smaller groups of those that are left.
// Ownership: graphs made here are destroyed here. Threads: one at a time.
#include "exec/calibrate.h"

#include "base/macros.h"

#include <string.h>

enum { GROUPS = 16, ROUNDS = 3 };

typedef struct search {
    const tn_graph *real;
    const tn_range *ranges;
    tn_pass_context passes;
    const tn_plan_context *context;
    tn_workers *workers;
    const tn_tensor *samples;
    size_t n_samples, n_nodes;
    bool *wide, *trial;       // by node
    size_t *left;             // nodes that are wide still, in order
    tn_diag *diag;
} search;

typedef struct group {
    size_t first, count;      // of `left`
    double error;             // with only this one narrow, beside what is narrow already
} group;

tn_status tn_quantised_copy(const tn_graph *real, tn_pass_context *passes, const tn_range *ranges, const bool *wide, tn_graph **out)
{
    tn_value **map = tn_take_zero(passes->heap, real->n_values + 1, sizeof *map);
    tn_graph *graph = map ? tn_graph_clone(real, passes->heap, map) : NULL;
    tn_range *copy = graph ? tn_take_zero(passes->heap, graph->n_values + 1, sizeof *copy) : NULL;
    tn_status status = copy ? TN_OK : tn_fail_memory(passes->diag, "calibration", real->n_values * sizeof *copy);
    for (size_t i = 0; status == TN_OK && i < real->n_values; i++) {
        if (map[i]) {
            copy[map[i]->id] = ranges[i];
        }
    }
    status = status == TN_OK ? tn_quantise_graph(graph, passes, copy, wide) : status;
    status = status == TN_OK ? tn_optimise(graph, passes, NULL) : status;
    tn_give(passes->heap, copy);
    tn_give(passes->heap, map);
    if (status != TN_OK) {
        tn_graph_destroy(graph);
        graph = NULL;
    }
    *out = graph;
    return status;
}

// The error of the widths in `trial`. Arithmetic is that of floats between quantised values: what integers add to it is small.
static tn_status measure(search *s, size_t n_samples, double *error)
{
    tn_graph *graph;
    TN_TRY(tn_quantised_copy(s->real, &s->passes, s->ranges, s->trial, &graph));
    const tn_graph *const both[2] = {s->real, graph};
    const tn_status status = tn_quantised_error(both, s->context, s->workers, s->samples, n_samples, error, s->diag);
    tn_graph_destroy(graph);
    return status;
}

static void set_narrow(const search *s, const group *g)
{
    for (size_t i = 0; i < g->count; i++) {
        s->trial[s->left[g->first + i]] = false;
    }
}

static void start_trial(const search *s) { memcpy(s->trial, s->wide, s->n_nodes * sizeof *s->trial); }

// Groups with the least error first.
static void sort_groups(group *groups, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const group g = groups[i];
        size_t k = i;
        for (; k > 0 && groups[k - 1].error > g.error; k--) {
            groups[k] = groups[k - 1];
        }
        groups[k] = g;
    }
}

// As many of the sorted groups as the aim allows become narrow.
static tn_status narrow_most(search *s, const group *groups, size_t count, double aim)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = (low + high + 1) / 2;
        double error;
        start_trial(s);
        for (size_t g = 0; g < middle; g++) {
            set_narrow(s, &groups[g]);
        }
        TN_TRY(measure(s, s->n_samples, &error));
        if (error <= aim) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    start_trial(s);
    for (size_t g = 0; g < low; g++) {
        set_narrow(s, &groups[g]);
    }
    memcpy(s->wide, s->trial, s->n_nodes * sizeof *s->wide);
    return TN_OK;
}

static tn_status narrow_once(search *s, double aim, bool *last)
{
    group groups[GROUPS];
    size_t n_left = 0;
    for (size_t i = 0; i < s->n_nodes; i++) {
        if (s->wide[i]) {
            s->left[n_left++] = i;
        }
    }
    const size_t count = TN_MIN(n_left, (size_t)GROUPS);
    for (size_t g = 0; g < count; g++) {
        groups[g].first = g * n_left / count;
        groups[g].count = (g + 1) * n_left / count - groups[g].first;
        start_trial(s);
        set_narrow(s, &groups[g]);
        TN_TRY(measure(s, 1, &groups[g].error));
    }
    sort_groups(groups, count);
    *last = n_left <= GROUPS;
    return count ? narrow_most(s, groups, count, aim) : TN_OK;
}

tn_status tn_choose_widths(const tn_graph *graph, const tn_pass_context *passes, const tn_plan_context *context, tn_workers *workers,
                           const tn_tensor *samples, size_t n_samples, const tn_range *ranges, double aim, bool *wide)
{
    search s = {.real = graph, .ranges = ranges, .passes = *passes, .context = context, .workers = workers, .samples = samples,
                .n_samples = n_samples, .n_nodes = tn_quantise_count(graph), .wide = wide, .diag = passes->diag};
    bool last = s.n_nodes == 0;
    s.passes.floats = true;
    s.trial = tn_take_zero(passes->heap, s.n_nodes + 1, sizeof *s.trial);
    s.left = tn_take_zero(passes->heap, s.n_nodes + 1, sizeof *s.left);
    tn_status status = s.trial && s.left ? TN_OK : tn_fail_memory(passes->diag, "calibration", s.n_nodes * sizeof *s.left);
    for (size_t i = 0; i < s.n_nodes; i++) {
        wide[i] = true;
    }
    for (int round = 0; round < ROUNDS && status == TN_OK && !last; round++) {
        status = narrow_once(&s, aim, &last);
    }
    tn_give(passes->heap, s.trial);
    tn_give(passes->heap, s.left);
    return status;
}
