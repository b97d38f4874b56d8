// SPDX-License-Identifier: Apache-2.0
// Adds a PROFILE report up.
#include "summary.h"

#include "cli_text.h"

#include <stdlib.h>
#include <string.h>

static double at(const cJSON *row, int index)
{
    const cJSON *item = cJSON_GetArrayItem(row, index);
    return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int tn_cli_dearest(const void *a, const void *b)
{
    const double x = ((const tn_cli_line *)a)->ns, y = ((const tn_cli_line *)b)->ns;
    return (x < y) - (x > y);
}

static void read_nodes(tn_cli_summary *s, const cJSON *profile)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(profile, "nodes"), *node;
    s->nodes = tn_cli_take((size_t)cJSON_GetArraySize(list) + 1, sizeof *s->nodes);
    s->ops = tn_cli_take((size_t)cJSON_GetArraySize(list) + 1, sizeof *s->ops);
    cJSON_ArrayForEach(node, list)
    {
        s->nodes[s->n_nodes++] = (tn_cli_line){
            .name = tn_cli_string(node, "name", "?"), .op = tn_cli_string(node, "op", "?"), .kernel = tn_cli_string(node, "kernel", "?"),
            .device = tn_cli_string(node, "device", "?"), .flop = 2 * tn_cli_number(node, "macs", 0),
            .bytes = tn_cli_number(node, "read_bytes", 0) + tn_cli_number(node, "write_bytes", 0) + tn_cli_number(node, "constant_bytes", 0)};
    }
}

// A step's own time: what steps of its bodies took is theirs. Bodies' steps come before the step they belong to.
static void read_steps(tn_cli_summary *s, const cJSON *profile, bool *shared)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(profile, "steps"), *row;
    double (*open)[3] = tn_cli_take((size_t)cJSON_GetArraySize(list) + 1, sizeof *open);      // begin, end of steps that may lie in one to come
    size_t n_open = 0, index = 0;
    cJSON_ArrayForEach(row, list)
    {
        tn_cli_line *n = &s->nodes[(size_t)at(row, 0)];
        const double begin = at(row, 2), end = at(row, 3);
        double own = end - begin;
        while (n_open && open[n_open - 1][0] >= begin && open[n_open - 1][1] <= end) {
            own -= open[n_open - 1][1] - open[n_open - 1][0];
            n_open--;
        }
        open[n_open][0] = begin;
        open[n_open++][1] = end;
        own = own > 0 ? own : 0;
        s->own[(size_t)at(row, 0) * s->n_runs + (size_t)at(row, 1)] += own;
        n->calls++;
        s->stepped += own;
        s->alone += shared[index++] ? 0 : own;
    }
    free(open);
}

static void read_shares(tn_cli_summary *s, const cJSON *profile, bool *shared)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(profile, "shares"))
    {
        const size_t thread = (size_t)at(row, 1);
        s->busy[thread < s->threads ? thread : 0] += at(row, 3) - at(row, 2);
        shared[(size_t)at(row, 0)] = true;
    }
}

void tn_cli_summarise(tn_cli_summary *s, const cJSON *profile)
{
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(profile, "runs"), *row;
    *s = (tn_cli_summary){.threads = (unsigned)tn_cli_number(profile, "threads", 1)};
    bool *shared = tn_cli_take((size_t)cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(profile, "steps")) + 1, sizeof *shared);
    s->busy = tn_cli_take(s->threads, sizeof *s->busy);
    s->runs = tn_cli_take((size_t)cJSON_GetArraySize(runs) + 1, sizeof *s->runs);
    cJSON_ArrayForEach(row, runs)
    {
        s->runs[s->n_runs++] = at(row, 1) - at(row, 0);
    }
    read_nodes(s, profile);
    s->own = tn_cli_take(s->n_nodes * s->n_runs + 1, sizeof *s->own);
    read_shares(s, profile, shared);
    read_steps(s, profile, shared);
    free(shared);
    qsort(s->runs, s->n_runs, sizeof *s->runs, ascending);
    for (size_t i = 0; i < s->n_nodes; i++) {
        tn_cli_line *n = &s->nodes[i];
        size_t o = 0;
        qsort(&s->own[i * s->n_runs], s->n_runs, sizeof *s->own, ascending);
        n->ns = s->n_runs ? s->own[i * s->n_runs + s->n_runs / 2] : 0;
        n->calls /= s->n_runs ? (double)s->n_runs : 1;
        n->flop *= n->calls;
        n->bytes *= n->calls;
        s->all += n->ns;
        while (o < s->n_ops && strcmp(s->ops[o].op, n->op) != 0) {
            o++;
        }
        if (o == s->n_ops) {
            s->ops[s->n_ops++] = (tn_cli_line){.name = n->op, .op = n->op};
        }
        s->ops[o].ns += n->ns;
        s->ops[o].calls += n->calls;
        s->ops[o].flop += n->flop;
        s->ops[o].bytes += n->bytes;
    }
    qsort(s->ops, s->n_ops, sizeof *s->ops, tn_cli_dearest);
}

void tn_cli_summary_free(tn_cli_summary *s)
{
    free(s->nodes);
    free(s->ops);
    free(s->busy);
    free(s->own);
    free(s->runs);
}
