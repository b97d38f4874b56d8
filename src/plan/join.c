// SPDX-License-Identifier: Apache-2.0
// Planning step 7: nodes that rows and layouts are chosen for are joined where one row does the work of two for less: two convolutions, the
// second of which alone reads the first. Prices decide. Only nodes that run here are seen: devices have theirs in closed bodies by now.
#include "ops/joined/op_conv_pair.h"
#include "plan/work.h"

#include <string.h>

typedef struct join {
    tn_work *work;
    tn_node node;             // as it would be, in no graph
    const tn_choice *first, *second;   // what the two were to run by
    tn_choice best;
} join;

// Rows of the tier and the layouts of the old ones, so that everything around stays as it is.
static bool visit_row(const tn_kernel *row, void *context)
{
    join *j = context;
    tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
    const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
    tn_query query;
    const char *why = NULL;
    if (row->impl != j->second->row->impl || row->layouts.in != j->first->in || row->layouts.out != j->second->out) {
        return true;
    }
    tn_work_query(j->work, &j->node, row->layouts.in, row->layouts.out, row, &query, tensors, pointers);
    if (!tn_kernel_accepts(row, &query, j->work->context->cpu.features, &why)) {
        return true;
    }
    const tn_choice choice = {.row = row, .in = row->layouts.in, .out = row->layouts.out,
                              .cost = tn_work_cost(j->work, row, &query, tn_work_macs(j->work, &j->node))};
    j->best = !j->best.row || choice.cost < j->best.cost ? choice : j->best;
    return true;
}

// Puts j->node into the graph in place of the two.
static tn_status replace(join *j, tn_node *first, tn_node *second)
{
    tn_work *work = j->work;
    tn_graph *graph = work->graph;
    tn_value *fresh = tn_graph_value(graph, NULL);
    tn_node *node = fresh ? tn_graph_node(graph, second, j->node.op, second->name, j->node.attr, j->node.in, j->node.n_in, &fresh, 1) : NULL;
    if (!node || tn_node_add_origins(graph, node, first) != TN_OK || tn_node_add_origins(graph, node, second) != TN_OK) {
        return tn_fail_memory(work->diag, second->name, sizeof *node);
    }
    const tn_fact known = *tn_work_fact(work, second->out[0]);
    tn_fact *fact = tn_work_fact(work, fresh);
    if (!fact || fresh->id >= work->n_layout || node->id >= work->n_chosen) {
        return tn_fail_memory(work->diag, second->name, sizeof *fact);
    }
    *fact = known;
    fact->value = NULL;
    fresh->dtype = known.dtype;
    fresh->shape = known.shape;
    work->layout[fresh->id] = j->best.out;
    work->chosen[node->id] = j->best;
    work->planned[node->id] = true;
    work->device[node->id] = work->device[second->id];
    TN_TRY(tn_graph_replace(graph, second->out[0], fresh));
    tn_graph_remove(graph, second);
    tn_graph_remove(graph, first);
    return TN_OK;
}

// What a node with its producer would be. j->best.row is NULL where no row takes the two, or none for less; the difference otherwise is *gain.
static void consider(join *j, tn_work *work, tn_node *second, tn_conv_pair_attr *attr, tn_value **in, double *gain)
{
    tn_node *first = second->in[0] ? second->in[0]->producer : NULL;
    *j = (join){.work = work, .node = *second};
    *gain = 0;
    if (second->op != &tn_op_conv || !work->planned[second->id] || !first || first->op != &tn_op_conv || !work->planned[first->id] ||
        first->out[0]->n_uses != 1 || first->out[0]->is_output || second->out[0]->is_output || (first->n_in > 3 && first->in[3])) {
        return;
    }
    j->first = &work->chosen[first->id];
    j->second = &work->chosen[second->id];
    if (!j->first->row || !j->second->row || j->first->row->impl == TN_IMPL_REFERENCE) {
        return;
    }
    *attr = (tn_conv_pair_attr){.first = *(const tn_conv_attr *)first->attr, .second = *(const tn_conv_attr *)second->attr};
    in[TN_PAIR_X] = first->in[0];
    in[TN_PAIR_W1] = first->in[1];
    in[TN_PAIR_W2] = second->in[1];
    in[TN_PAIR_BIAS1] = first->n_in > 2 ? first->in[2] : NULL;
    in[TN_PAIR_BIAS2] = second->n_in > 2 ? second->in[2] : NULL;
    in[TN_PAIR_RESIDUAL] = second->n_in > 3 ? second->in[3] : NULL;
    j->node.op = &tn_op_conv_pair;
    j->node.attr = attr;
    j->node.in = in;
    j->node.n_in = TN_PAIR_IN;
    while (!in[j->node.n_in - 1]) {
        j->node.n_in--;
    }
    tn_registry_visit(j->node.op, visit_row, j);
    *gain = j->best.row ? j->first->cost + j->second->cost - j->best.cost : 0;
}

// A chain of convolutions can be cut into pairs in many ways. By node id: the most that a chain up to this node gains, and whether the node is
// then a pair with its producer.
typedef struct chain {
    double gain;
    bool pair;
} chain;

static void find_pairs(tn_work *work, chain *chains)
{
    for (tn_node *node = work->graph->first; node; node = node->next) {
        join j;
        tn_conv_pair_attr attr;
        tn_value *in[TN_PAIR_IN];
        double gain;
        const tn_node *first = node->n_in && node->in[0] ? node->in[0]->producer : NULL;
        if (node->op != &tn_op_conv) {
            continue;
        }
        consider(&j, work, node, &attr, in, &gain);
        if (gain > 0) {
            const tn_node *before = first->in[0]->producer;
            const double apart = chains[first->id].gain, together = gain + (before ? chains[before->id].gain : 0);
            chains[node->id] = together > apart ? (chain){together, true} : (chain){apart, false};
        }
    }
}

tn_status tn_plan_join(tn_work *work)
{
    const size_t count = work->graph->next_node;
    if (work->context->as_written) {
        return TN_OK;
    }
    chain *chains = tn_arena_array(&work->scratch, count + 1, sizeof *chains);
    if (!chains) {
        return tn_fail_memory(work->diag, "plan", count * sizeof *chains);
    }
    memset(chains, 0, (count + 1) * sizeof *chains);
    find_pairs(work, chains);
    for (tn_node *node = work->graph->last, *before; node; node = before) {
        before = node->prev;
        if (node->id < count && chains[node->id].pair) {
            join j;
            tn_conv_pair_attr attr;
            tn_value *in[TN_PAIR_IN];
            double gain;
            tn_node *first = node->in[0]->producer;
            consider(&j, work, node, &attr, in, &gain);
            chains[first->id].pair = false;
            before = before == first ? first->prev : before;
            TN_TRY(replace(&j, first, node));
        }
    }
    return TN_OK;
}
