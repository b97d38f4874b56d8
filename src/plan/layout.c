// SPDX-License-Identifier: Apache-2.0
// Planning step 6: layouts by price. Each node has a few rows that can run it, each with the layouts it wants and an estimated time.
// A value that a consumer wants in another layout than its producer gives costs one conversion: one read and one write of the
// tensor, each in its layout (NCHW32B has half the bytes), paid once per layout however many consumers share it; for a constant nothing,
// since it is converted while binding. Single nodes are changed as long as the sum falls; since that stops at the nearest valley, the search
// begins at three different points and the best end counts. Nothing here looks at the thread count.
#include "ops/move/op_relayout.h"
#include "plan/work.h"

#include <string.h>

#define MAX_SWEEPS 6
#define CONVERT_NS 300.0          // of starting one more step
#define CONVERT_BYTES_NS 40.0     // bytes read and written per nanosecond

// ---- rows that can run a node ----

static uint8_t plan_block(const tn_work *work)
{
    return work->context->cpu.features & TN_CPU_AVX512 ? TN_LAYOUT_NCHW16C : TN_LAYOUT_NCHW8C;
}

static bool reads_blocks(const tn_kernel *row, int index) { return index == 0 || (index < 8 && row->layouts.blocked_in >> index & 1); }

uint8_t tn_work_operand_layout(const tn_work *work, const tn_node *node, const tn_kernel *row, uint8_t in, uint8_t out, int index)
{
    const tn_value *value = node->in[index];
    if (row->layouts.in != TN_LAYOUT_SAME) {
        return reads_blocks(row, index) ? in : TN_LAYOUT_PLAIN;
    }
    const tn_shape *mine = &work->facts[value->id].shape, *result = &work->facts[node->out[0]->id].shape;
    if (value->constant && !tn_shape_equal(mine, result)) {
        return TN_LAYOUT_PLAIN;
    }
    return mine->rank == result->rank && mine->rank > 1 && mine->dims[1] == result->dims[1] ? out : TN_LAYOUT_PLAIN;
}

static void describe(tn_work *work, const tn_value *value, uint8_t layout, tn_tensor *tensor)
{
    const tn_fact *fact = tn_work_fact(work, value);
    tensor->kind = fact->kind;
    tensor->dtype = fact->dtype;
    tensor->shape = fact->shape;
    tensor->layout = (tn_layout)layout;
    tensor->data = value->constant && layout == value->constant->layout ? value->constant->data : NULL;
}

void tn_work_query(tn_work *work, const tn_node *node, uint8_t in, uint8_t out, const tn_kernel *row, tn_query *query, tn_tensor *tensors,
                   const tn_tensor **pointers)
{
    for (int i = 0; i < node->n_in; i++) {
        pointers[i] = node->in[i] ? &tensors[i] : NULL;
        if (node->in[i]) {
            describe(work, node->in[i], row ? tn_work_operand_layout(work, node, row, in, out, i) : TN_LAYOUT_PLAIN, &tensors[i]);
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        tn_tensor *tensor = &tensors[node->n_in + i];
        pointers[node->n_in + i] = node->out[i] ? tensor : NULL;
        if (node->out[i]) {
            describe(work, node->out[i], i == 0 ? out : TN_LAYOUT_PLAIN, tensor);
        }
    }
    *query = (tn_query){.op = node->op, .attr = node->attr, .name = node->name, .n_in = node->n_in, .n_out = node->n_out, .in = pointers,
                        .out = pointers + node->n_in, .cpu = &work->context->cpu, .threads = work->context->threads};
}

uint64_t tn_work_macs(tn_work *work, const tn_node *node)
{
    if (node->n_in > TN_MAX_IN || node->n_out > TN_MAX_OUT || !node->n_out) {
        return 0;
    }
    const tn_fact *in[TN_MAX_IN];
    tn_fact out[TN_MAX_OUT];
    for (int i = 0; i < node->n_in; i++) {
        in[i] = node->in[i] ? tn_work_fact(work, node->in[i]) : NULL;
    }
    memset(out, 0, sizeof out);
    int64_t count = 0, elements = 0;
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i]) {
            out[i] = *tn_work_fact(work, node->out[i]);
            elements = tn_shape_count(&out[i].shape, &count) && count > elements ? count : elements;
        }
    }
    const int64_t macs = node->op->macs ? node->op->macs(node->attr, in, node->n_in, out, node->n_out) : 0;
    return (uint64_t)(macs > 0 ? macs : 0);
}

double tn_work_cost(tn_work *work, const tn_kernel *row, const tn_query *query, uint64_t macs)
{
    (void)work;
    return tn_kernel_cost(row, query, macs);
}

// The bytes that a row would hold for a node: packed weights, constants in its layout, copies of those that the file holds at an odd
// address, and its workspace.
static void count_held(tn_work *work, const tn_node *node, const tn_query *query, tn_choice *choice)
{
    const tn_kernel *row = choice->row;
    if (work->byte_ns <= 0) {
        return;
    }
    tn_diag unheard = {0};
    tn_prepare prepare = {.query = query, .row = row, .arena = &work->scratch, .diag = &unheard};
    if (row->prepare && row->prepare(&prepare) != TN_OK) {
        choice->held = 1e30;     // binding it says what is wrong
        return;
    }
    double bytes = 0;
    bool packed[TN_MAX_IN] = {false};
    for (int i = 0; i < prepare.n_packs; i++) {
        bytes += (double)prepare.packs[i].bytes;
        packed[prepare.packs[i].operand] = true;
    }
    for (int i = 0; i < query->n_in; i++) {
        size_t size;
        const tn_tensor *in = query->in[i];
        const bool copied = in && in->data && row->aligned_constants && !packed[i] && tn_work_misaligned(in);
        const bool converted = in && node->in[i]->constant && in->layout != node->in[i]->constant->layout;
        bytes += (copied || converted) && tn_tensor_bytes(in, &size) ? (double)size : 0;
    }
    choice->held = bytes;
    choice->passing = (double)prepare.scratch_bytes;
}

static double hold_price(const tn_work *work, const tn_choice *choice)
{
    return work->byte_ns > 0 ? (choice->held + (work->transient ? choice->passing : 0)) * work->byte_ns : 0;
}

typedef struct gather {
    tn_work *work;
    const tn_node *node;
    tn_choice *choices;
    int count;
    uint64_t macs;
} gather;

static void consider(gather *g, const tn_kernel *row, uint8_t in, uint8_t out)
{
    tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
    const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
    tn_query query;
    const char *why = NULL;
    tn_work_query(g->work, g->node, in, out, row, &query, tensors, pointers);
    if (g->count == TN_MAX_CHOICES || !tn_kernel_accepts(row, &query, g->work->context->cpu.features, &why)) {
        return;
    }
    tn_choice *choice = &g->choices[g->count++];
    *choice = (tn_choice){.row = row, .in = in, .out = out, .cost = tn_work_cost(g->work, row, &query, g->macs)};
    count_held(g->work, g->node, &query, choice);
}

// "op=version" pins in the session's options: a row of another version does not count.
static bool pinned_out(const tn_work *work, const tn_kernel *row)
{
    const char *pin = work->context->pin;
    const size_t length = strlen(row->op->name);
    while (pin && *pin) {
        if (strncmp(pin, row->op->name, length) == 0 && pin[length] == '=') {
            unsigned version = 0;
            for (const char *c = pin + length + 1; *c >= '0' && *c <= '9'; c++) {
                version = version * 10 + (unsigned)(*c - '0');
            }
            return version != row->version;
        }
        pin = strchr(pin, ',');
        pin = pin ? pin + 1 : NULL;
    }
    return false;
}

static bool visit_row(const tn_kernel *row, void *context)
{
    gather *g = context;
    if (row->cpu & ~g->work->context->cpu.features || pinned_out(g->work, row)) {
        return true;
    }
    const uint8_t block = plan_block(g->work);
    const tn_value *result = g->node->n_out ? g->node->out[0] : NULL;
    const tn_shape *shape = result ? &g->work->facts[result->id].shape : NULL;
    if (row->layouts.in == TN_LAYOUT_SAME) {
        const bool rounds = (row->cpu & TN_CPU_BF16_WEIGHTS) != 0;
        if (!rounds) {
            consider(g, row, TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN);
        }
        if (shape && shape->rank >= 3 && shape->rank <= 5 && shape->dims[1] > 1) {
            const uint8_t layout = rounds ? TN_LAYOUT_NCHW32B : block;
            consider(g, row, layout, layout);
        }
        return true;
    }
    // Only rows of precision bf16 have NCHW32B.
    const bool in = row->layouts.in == TN_LAYOUT_PLAIN || row->layouts.in == block || row->layouts.in == TN_LAYOUT_NCHW32B;
    const bool out = row->layouts.out == TN_LAYOUT_PLAIN || row->layouts.out == block || row->layouts.out == TN_LAYOUT_NCHW32B;
    if (in && out) {
        consider(g, row, row->layouts.in, row->layouts.out);
    }
    return true;
}

// References come last, unless memory is short and nobody forbids them: then what they save counts.
static bool comes_last(const tn_work *work, const tn_choice *choice)
{
    return choice->row->impl == TN_IMPL_REFERENCE && (work->byte_ns <= 0 || work->context->strict & TN_STRICT_REFERENCE);
}

// A row is out when another with the same layouts ranks higher: the measured one first, references last, then by cost, ties to the higher
// tier.
static bool better(const tn_work *work, const tn_choice *a, const tn_choice *b)
{
    if (!a->tuned != !b->tuned) {
        return a->tuned != NULL;
    }
    const bool a_last = comes_last(work, a), b_last = comes_last(work, b);
    if (a_last != b_last) {
        return b_last;
    }
    if (a->cost + a->hold != b->cost + b->hold) {
        return a->cost + a->hold < b->cost + b->hold;
    }
    return a->row->impl > b->row->impl;
}

static bool same_layouts(const tn_choice *a, const tn_choice *b)
{
    return a->in == b->in && a->out == b->out && a->row->layouts.blocked_in == b->row->layouts.blocked_in;
}

// Marks the rows that the tuning table names. A marked row costs what the cheapest of its layouts was estimated at, so that layouts are
// chosen as they are without the table: it was measured with them as they were. Where memory is short bytes decide, and nothing is marked.
static void mark_tuned(tn_work *work, const tn_node *node, tn_choice *choices, int count)
{
    const tn_choices *table = work->context->choices;
    tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
    const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
    tn_query query;
    if (!table || !table->count || work->byte_ns > 0 || !count || !tn_choices_knows(table, node->op)) {
        return;
    }
    tn_work_query(work, node, TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, NULL, &query, tensors, pointers);
    const uint64_t key = tn_choices_node(work->context->heap, &query, NULL);
    for (int i = 0; i < count; i++) {
        const tn_tuned *tuned = tn_choices_find(table, key, choices[i].in, choices[i].out);
        choices[i].tuned = tuned && tuned->row == choices[i].row ? tuned : NULL;
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < count && choices[i].tuned; j++) {
            choices[i].cost = same_layouts(&choices[i], &choices[j]) ? TN_MIN(choices[i].cost, choices[j].cost) : choices[i].cost;
        }
    }
}

// All rows that can run a node.
static int all_choices(tn_work *work, const tn_node *node, tn_choice *choices)
{
    if (node->n_in > TN_MAX_IN || node->n_out > TN_MAX_OUT) {
        return 0;
    }
    gather g = {.work = work, .node = node, .choices = choices, .macs = tn_work_macs(work, node)};
    tn_registry_visit(node->op, visit_row, &g);
    mark_tuned(work, node, choices, g.count);
    return g.count;
}

// Those that are worth looking at, at today's price of a byte, to `kept`, which may be `choices` itself.
static int best_choices(const tn_work *work, tn_choice *choices, int count, tn_choice *kept)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        choices[i].hold = hold_price(work, &choices[i]);
    }
    for (int i = 0; i < count; i++) {
        bool dominated = false;
        for (int j = 0; j < count && !dominated; j++) {
            dominated = j != i && same_layouts(&choices[j], &choices[i]) && better(work, &choices[j], &choices[i]) && !better(work, &choices[i], &choices[j]);
        }
        if (!dominated) {
            kept[n++] = choices[i];
        }
    }
    return n;
}

int tn_work_choices(tn_work *work, const tn_node *node, tn_choice *choices)
{
    return best_choices(work, choices, all_choices(work, node, choices), choices);
}

// ---- prices ----

static double convert_cost(tn_work *work, const tn_value *value, uint8_t from, uint8_t to)
{
    size_t bytes = 0, more = 0;
    const tn_fact *fact = tn_work_fact(work, value);
    const tn_tensor before = {.dtype = fact->dtype, .shape = fact->shape, .layout = (tn_layout)from};
    const tn_tensor after = {.dtype = fact->dtype, .shape = fact->shape, .layout = (tn_layout)to};
    const double hold = work->transient ? work->byte_ns : 0;
    return tn_tensor_bytes(&before, &bytes) && tn_tensor_bytes(&after, &more)
               ? CONVERT_NS + (double)bytes / CONVERT_BYTES_NS + (1.0 / CONVERT_BYTES_NS + hold) * (double)more
               : 1e30;
}

static uint8_t wanted_layout(tn_work *work, const tn_use *use)
{
    const tn_choice *choice = &work->chosen[use->node->id];
    if (use->node->op->flags & TN_OP_CONTROL) {
        return TN_LAYOUT_PLAIN;
    }
    if (!choice->row) {
        return work->layout[use->node->in[use->index]->id];     // not decided yet: takes what comes
    }
    return tn_work_operand_layout(work, use->node, choice->row, choice->in, choice->out, use->index);
}

#define USES_COMPARED 256   // of a value that many read the first ones and the node itself: asking all for each of them is quadratic

// What the consumers of a value pay for conversions when it lies in `layout`: its first `most` uses, and `own` (may be NULL).
static double consumers_pay(tn_work *work, const tn_value *value, uint8_t layout, size_t most, const tn_use *own)
{
    bool wanted[TN_LAYOUT_COUNT] = {false};
    if (value->is_output) {
        wanted[TN_LAYOUT_PLAIN] = true;
    }
    for (size_t u = 0; u < TN_MIN(value->n_uses, most); u++) {
        wanted[wanted_layout(work, &value->uses[u])] = true;
    }
    if (own) {
        wanted[wanted_layout(work, own)] = true;
    }
    double sum = 0;
    for (int l = 0; l < TN_LAYOUT_COUNT; l++) {
        sum += wanted[l] && l != layout ? convert_cost(work, value, layout, (uint8_t)l) : 0;
    }
    return sum;
}

// The price of running `node` by `choice` while everything else stays as it is.
static double price(tn_work *work, tn_node *node, const tn_choice *choice)
{
    const tn_choice old = work->chosen[node->id];
    double sum = choice->cost + choice->hold;
    work->chosen[node->id] = *choice;
    for (int i = 0; i < node->n_in; i++) {
        bool seen = false;
        for (int j = 0; j < i; j++) {
            seen = seen || node->in[j] == node->in[i];
        }
        if (node->in[i] && !node->in[i]->constant && !seen) {
            sum += consumers_pay(work, node->in[i], work->layout[node->in[i]->id], USES_COMPARED, &(tn_use){node, i});
        }
    }
    if (node->n_out && node->out[0]) {
        sum += consumers_pay(work, node->out[0], choice->out, USES_COMPARED, NULL);
    }
    work->chosen[node->id] = old;
    return sum;
}

// Where the search begins: a forward walk that minds conversions; every node blocked that can be; every node by its cheapest row.
typedef enum start { START_FORWARD, START_BLOCKED, START_CHEAPEST, START_COUNT } start;

typedef struct search {
    tn_work *work;
    tn_choice **choices;      // by position in the graph's order
    int *counts;
    tn_choice *best;          // by position: the best assignment so far
    double best_sum;
} search;

static double bias(const tn_work *work, const tn_choice *choice) { return comes_last(work, choice) ? 1e12 : 0; }

static double start_price(tn_work *work, tn_node *node, const tn_choice *choice, start from)
{
    if (from == START_FORWARD) {
        return price(work, node, choice);
    }
    const int blocks = (choice->in != TN_LAYOUT_PLAIN) + (choice->out != TN_LAYOUT_PLAIN);
    return choice->cost + choice->hold - (from == START_BLOCKED ? 1e9 * blocks : 0);
}

static void take(tn_work *work, tn_node *node, const tn_choice *choice)
{
    work->chosen[node->id] = *choice;
    if (node->n_out && node->out[0]) {
        work->layout[node->out[0]->id] = choice->out;
    }
}

static bool choose(tn_work *work, tn_node *node, const tn_choice *choices, int count, start from)
{
    int best = 0;
    double best_price = 1e300;
    for (int i = 0; i < count; i++) {
        const double p = bias(work, &choices[i]) +
                         (from == START_COUNT ? price(work, node, &choices[i]) : start_price(work, node, &choices[i], from));
        if (p < best_price - 1e-9) {
            best_price = p;
            best = i;
        }
    }
    const tn_choice *old = &work->chosen[node->id];
    const bool changed = old->row != choices[best].row || old->out != choices[best].out;
    take(work, node, &choices[best]);
    return changed;
}

// Work and conversions of the assignment as it stands.
static double total(tn_work *work)
{
    double sum = 0;
    for (const tn_node *node = work->graph->first; node; node = node->next) {
        const tn_choice *choice = &work->chosen[node->id];
        sum += choice->row ? choice->cost + choice->hold + bias(work, choice) : 0;
    }
    for (size_t i = 0; i < work->graph->n_values; i++) {
        const tn_value *value = work->graph->values[i];
        if (value && !value->constant && (value->producer || value->is_input)) {
            sum += consumers_pay(work, value, work->layout[i], SIZE_MAX, NULL);
        }
    }
    return sum;
}

static void search_from(search *s, start from)
{
    tn_work *work = s->work;
    bool changed = true;
    memset(work->chosen, 0, work->n_chosen * sizeof *work->chosen);
    memset(work->layout, 0, work->n_layout);
    for (int sweep = 0; sweep < MAX_SWEEPS && changed; sweep++) {
        size_t at = 0;
        changed = false;
        for (tn_node *node = work->graph->first; node; node = node->next, at++) {
            if (s->counts[at] > (sweep ? 1 : 0)) {
                changed = choose(work, node, s->choices[at], s->counts[at], sweep ? START_COUNT : from) || changed;
            }
        }
    }
    const double sum = total(work);
    if (sum < s->best_sum) {
        size_t at = 0;
        s->best_sum = sum;
        for (const tn_node *node = work->graph->first; node; node = node->next) {
            s->best[at++] = work->chosen[node->id];
        }
    }
}

// ---- conversions become nodes ----

bool tn_work_made_once(const tn_node *node) { return node->op == &tn_op_relayout && node->in[0]->constant; }

static tn_status insert_conversion(tn_work *work, tn_value *value, uint8_t layout)
{
    tn_graph *graph = work->graph;
    const tn_relayout_attr attr = {.layout = layout};
    tn_value *fresh = tn_graph_value(graph, NULL);
    tn_node *before = value->producer ? value->producer->next : graph->first;
    tn_node *node = fresh ? tn_graph_node(graph, before, &tn_op_relayout, value->name, &attr, &value, 1, &fresh, 1) : NULL;
    if (!node) {
        return tn_fail_memory(work->diag, value->name, sizeof *node);
    }
    const tn_fact known = *tn_work_fact(work, value);
    tn_fact *fact = tn_work_fact(work, fresh);
    if (!fact || fresh->id >= work->n_layout || node->id >= work->n_chosen) {
        return tn_fail_memory(work->diag, value->name, sizeof *fact);
    }
    *fact = known;
    fact->value = NULL;
    fresh->dtype = known.dtype;
    fresh->shape = known.shape;
    work->layout[fresh->id] = layout;
    work->planned[node->id] = true;
    work->device[node->id] = work->context->devices[work->context->n_devices - 1]->vtable->name;   // behind a sub-flow as elsewhere
    work->plan->n_conversions += !tn_work_made_once(node);
    for (size_t u = value->n_uses; u-- > 0;) {
        const tn_use use = value->uses[u];
        if (use.node != node && wanted_layout(work, &use) == layout) {
            TN_TRY(tn_node_set_in(graph, use.node, use.index, fresh));
        }
    }
    if (value->is_output && layout == TN_LAYOUT_PLAIN) {
        for (size_t i = 0; i < graph->n_outputs; i++) {
            graph->outputs[i] = graph->outputs[i] == value ? fresh : graph->outputs[i];
        }
        value->is_output = false;
        fresh->is_output = true;
    }
    return TN_OK;
}

static tn_status convert_value(tn_work *work, tn_value *value)
{
    bool wanted[TN_LAYOUT_COUNT] = {false};
    const uint8_t layout = work->layout[value->id];
    wanted[TN_LAYOUT_PLAIN] = value->is_output;
    for (size_t u = 0; u < value->n_uses; u++) {
        wanted[wanted_layout(work, &value->uses[u])] = true;
    }
    for (uint8_t l = 0; l < TN_LAYOUT_COUNT; l++) {
        if (wanted[l] && l != layout) {
            TN_TRY(insert_conversion(work, value, l));
        }
    }
    return TN_OK;
}

// Conversions by the row that is there for them, the fastest that accepts.
static tn_status bind_conversions(tn_work *work)
{
    for (tn_node *node = work->graph->first; node; node = node->next) {
        if (node->op != &tn_op_relayout || work->chosen[node->id].row || tn_work_made_once(node)) {
            continue;
        }
        tn_choice choices[TN_MAX_CHOICES];
        gather g = {.work = work, .node = node, .choices = choices};
        const uint8_t in = work->layout[node->in[0]->id], out = work->layout[node->out[0]->id];
        const tn_kernel *best = NULL;
        for (const tn_kernel_list *const *list = tn_registry_kernels; *list; list++) {
            for (size_t i = 0; i < (*list)->count; i++) {
                const tn_kernel *row = &(*list)->rows[i];
                g.count = 0;
                if (row->op == &tn_op_relayout) {
                    consider(&g, row, in, out);
                    best = g.count && (!best || row->impl > best->impl) ? row : best;
                }
            }
        }
        if (!best) {
            return tn_fail(work->diag, TN_INTERNAL, node->name, "no kernel converts this layout");
        }
        work->chosen[node->id] = (tn_choice){.row = best, .in = in, .out = out, .cost = convert_cost(work, node->in[0], in, out)};
    }
    return TN_OK;
}

static tn_status tables(tn_work *work)
{
    // Each value may get one conversion per layout, each conversion is a node and a value.
    work->n_layout = work->graph->n_values * (1 + TN_LAYOUT_COUNT) + 16;
    work->n_chosen = work->graph->next_node + work->n_layout;
    work->layout = tn_arena_array(&work->scratch, work->n_layout, sizeof *work->layout);
    work->chosen = tn_arena_array(&work->scratch, work->n_chosen, sizeof *work->chosen);
    const char **device = tn_arena_array(&work->scratch, work->n_chosen, sizeof *device);
    bool *planned = tn_arena_array(&work->scratch, work->n_chosen, sizeof *planned);
    if (!work->layout || !work->chosen || !device || !planned) {
        return tn_fail_memory(work->diag, "plan", work->n_chosen * sizeof *work->chosen);
    }
    memset(planned, 1, work->n_chosen);
    work->planned = planned;
    for (const tn_node *node = work->graph->first; node; node = node->next) {
        device[node->id] = work->device[node->id];
    }
    work->device = device;
    return TN_OK;
}

// Rows of each node, by position in the graph's order: all, and those that are worth looking at.
struct tn_row_lists {
    tn_choice **all, **kept;
    int *n_all, *n_kept;
    tn_choice *best;
};

tn_status tn_work_check_size(tn_work *work, const tn_value *value, const tn_tensor *tensor, size_t *bytes)
{
    if (!tn_tensor_bytes(tensor, bytes) || *bytes > work->context->limit_tensor) {
        char shape[160];
        return tn_fail(work->diag, TN_LIMIT, value->producer ? value->producer->name : value->name,
                       "a tensor of shape %s is larger than limit_tensor_bytes (%llu)", tn_shape_print(&tensor->shape, shape, sizeof shape),
                       (unsigned long long)work->context->limit_tensor);
    }
    return TN_OK;
}

// Before rows are asked: their answers may take time that grows with the results.
static tn_status check_results(tn_work *work, const tn_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        const tn_fact *fact = node->out[i] ? tn_work_fact(work, node->out[i]) : NULL;
        size_t bytes;
        if (fact && fact->kind == TN_KIND_TENSOR && fact->dtype && tn_shape_known(&fact->shape)) {
            TN_TRY(tn_work_check_size(work, node->out[i], &(tn_tensor){.dtype = fact->dtype, .shape = fact->shape}, &bytes));
        }
    }
    return TN_OK;
}

static tn_status gather_rows(tn_work *work)
{
    const size_t n_nodes = work->graph->n_nodes;
    struct tn_row_lists *lists = tn_arena_array(&work->scratch, 1, sizeof *lists);
    size_t at = 0;
    if (!lists) {
        return tn_fail_memory(work->diag, "plan", sizeof *lists);
    }
    lists->all = tn_arena_array(&work->scratch, n_nodes + 1, sizeof *lists->all);
    lists->kept = tn_arena_array(&work->scratch, n_nodes + 1, sizeof *lists->kept);
    lists->n_all = tn_arena_array(&work->scratch, n_nodes + 1, sizeof *lists->n_all);
    lists->n_kept = tn_arena_array(&work->scratch, n_nodes + 1, sizeof *lists->n_kept);
    lists->best = tn_arena_array(&work->scratch, n_nodes + 1, sizeof *lists->best);
    if (!lists->all || !lists->kept || !lists->n_all || !lists->n_kept || !lists->best) {
        return tn_fail_memory(work->diag, "plan", n_nodes * sizeof *lists->best);
    }
    for (tn_node *node = work->graph->first; node; node = node->next, at++) {
        tn_choice room[TN_MAX_CHOICES];
        if (node->op->flags & TN_OP_CONTROL) {
            continue;
        }
        TN_TRY(check_results(work, node));
        const int count = all_choices(work, node, room);
        if (!count) {
            return tn_fail(work->diag, TN_UNSUPPORTED, node->name, "%s: no kernel takes operands of these types and shapes%s",
                           node->op->name, work->context->pin ? " (or `pin` names a version that none has)" : "");
        }
        lists->n_all[at] = count;
        lists->all[at] = tn_arena_copy(&work->scratch, room, (size_t)count * sizeof *room);
        lists->kept[at] = tn_arena_array(&work->scratch, (size_t)count, sizeof *room);
        if (!lists->all[at] || !lists->kept[at]) {
            return tn_fail_memory(work->diag, node->name, sizeof room);
        }
    }
    work->rows = lists;
    return TN_OK;
}

tn_status tn_plan_rows(tn_work *work)
{
    if (!work->rows) {
        TN_TRY(tables(work));
        TN_TRY(gather_rows(work));
    }
    const struct tn_row_lists *lists = work->rows;
    search s = {.work = work, .best_sum = 1e300, .choices = lists->kept, .counts = lists->n_kept, .best = lists->best};
    for (size_t i = 0; i < work->graph->n_nodes; i++) {
        lists->n_kept[i] = best_choices(work, lists->all[i], lists->n_all[i], lists->kept[i]);
    }
    for (int from = 0; from < START_COUNT; from++) {
        search_from(&s, (start)from);
    }
    size_t at = 0;
    for (tn_node *node = work->graph->first; node; node = node->next, at++) {
        if (s.counts[at]) {
            take(work, node, &s.best[at]);
        }
    }
    return TN_OK;
}

tn_status tn_plan_layout(tn_work *work)
{
    TN_TRY(tn_plan_rows(work));
    const size_t n_values = work->graph->n_values;
    for (size_t i = 0; i < n_values; i++) {
        tn_value *value = work->graph->values[i];
        if (value) {
            TN_TRY(convert_value(work, value));
        }
    }
    return bind_conversions(work);
}
