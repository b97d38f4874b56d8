// SPDX-License-Identifier: Apache-2.0
// Planning step 3: movement becomes `copy`, and copies compose (docs/design.md, graph IR).
#include "ops/move/op_copy.h"
#include "plan/work.h"

#include <string.h>

// Boxes count elements in 64 bits: a tensor of more than that, which memory refuses later, has none.
static bool countable(const tn_fact *fact)
{
    int64_t count;
    return !fact || tn_shape_count(&fact->shape, &count);
}

// The boxes that make result `index` of a movement node; NULL when it has no such form.
static tn_status boxes_of(tn_work *work, const tn_node *node, int index, const tn_regions **out)
{
    *out = NULL;
    if (node->n_in > TN_MAX_IN) {
        return TN_OK;
    }
    const tn_fact *in[TN_MAX_IN];
    for (int i = 0; i < node->n_in; i++) {
        in[i] = node->in[i] ? tn_work_fact(work, node->in[i]) : NULL;
        if (!countable(in[i])) {
            return TN_OK;
        }
    }
    tn_region *room = tn_arena_array(&work->scratch, TN_MAX_REGIONS, sizeof *room);
    if (!room) {
        return tn_fail_memory(work->diag, node->name, TN_MAX_REGIONS * sizeof *room);
    }
    tn_move move = {.op = node->op, .attr = node->attr, .n_in = node->n_in, .in = in, .out = tn_work_fact(work, node->out[index]),
                    .n_out = node->n_out, .out_index = index, .regions = room};
    if (!move.out || !countable(move.out) || !node->op->regions(&move) || move.count > TN_MAX_REGIONS) {
        return TN_OK;
    }
    for (int i = 0; i < move.count && move.out->dtype == TN_STRING; i++) {
        if (room[i].source < 0) {
            return TN_OK;     // a string to fill with is no bytes
        }
    }
    tn_arena *arena = &work->graph->arena;
    tn_regions *regions = tn_arena_take(arena, sizeof *regions);
    tn_region *boxes = tn_arena_array(arena, move.count ? (size_t)move.count : 1, sizeof *boxes);
    if (!regions || !boxes) {
        return tn_fail_memory(work->diag, node->name, sizeof *boxes * (size_t)move.count);
    }
    for (int i = 0; i < move.count; i++) {
        boxes[i] = room[i];
        tn_region_simplify(&boxes[i]);
    }
    regions->count = move.count;
    regions->source_count = node->n_in;
    memcpy(regions->fill, move.fill, sizeof regions->fill);
    regions->regions = boxes;
    *out = regions;
    return TN_OK;
}

// Operands that no box reads are left out (shape operands, pads ...), and operands read twice are named once.
static tn_status make_copy(tn_work *work, tn_node *before, const tn_node *like, tn_regions *regions, tn_value *const *sources, tn_value *value)
{
    tn_value *in[TN_MAX_IN];
    int n_in = 0;
    tn_region *boxes = (tn_region *)(uintptr_t)regions->regions;
    for (int i = 0; i < regions->count; i++) {
        if (boxes[i].source < 0) {
            continue;
        }
        tn_value *source = sources[boxes[i].source];
        int at = 0;
        while (at < n_in && in[at] != source) {
            at++;
        }
        if (at == n_in) {
            in[n_in++] = source;
        }
        boxes[i].source = at;
    }
    regions->source_count = n_in;
    const tn_fact *fact = tn_work_fact(work, value);
    int64_t *dims = tn_arena_copy(&work->graph->arena, fact->shape.dims, sizeof fact->shape.dims);
    if (!dims) {
        return tn_fail_memory(work->diag, like->name, sizeof fact->shape.dims);
    }
    const tn_copy_attr attr = {.regions = regions, .shape = {.v = dims, .count = fact->shape.rank, .set = true}};
    tn_value *fresh = tn_graph_value(work->graph, NULL);
    tn_node *copy = fresh ? tn_graph_node(work->graph, before, &tn_op_copy, like->name, &attr, in, n_in, &fresh, 1) : NULL;
    if (!copy) {
        return tn_fail_memory(work->diag, like->name, sizeof *copy);
    }
    TN_TRY(tn_node_add_origins(work->graph, copy, like));
    fresh->dtype = fact->dtype;
    fresh->shape = fact->shape;
    const tn_fact known = *fact;
    tn_fact *made = tn_work_fact(work, fresh);
    if (!made) {
        return tn_fail_memory(work->diag, like->name, sizeof *made);
    }
    *made = known;
    return tn_graph_replace(work->graph, value, fresh);
}

static bool unused(const tn_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && (node->out[i]->n_uses || node->out[i]->is_output)) {
            return false;
        }
    }
    return true;
}

static bool all_tensors(const tn_node *node)
{
    for (int i = 0; i < node->n_in + node->n_out; i++) {
        const tn_value *value = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
        if (value && value->kind != TN_KIND_TENSOR) {
            return false;
        }
    }
    return true;
}

static tn_status lower_node(tn_work *work, tn_node *node)
{
    const tn_regions *regions[TN_MAX_OUT] = {NULL};
    if (node->n_out > TN_MAX_OUT) {
        return TN_OK;
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && tn_dtype_bytes(node->out[i]->dtype) > 0 && all_tensors(node)) {
            TN_TRY(boxes_of(work, node, i, &regions[i]));
        }
        if (node->out[i] && !regions[i]) {
            return TN_OK;
        }
    }
    for (int i = 0; i < node->n_out; i++) {
        if (node->out[i] && (node->out[i]->n_uses || node->out[i]->is_output)) {
            TN_TRY(make_copy(work, node, node, (tn_regions *)(uintptr_t)regions[i], node->in, node->out[i]));
        }
    }
    if (unused(node)) {
        tn_graph_remove(work->graph, node);
    }
    return TN_OK;
}

// The single box of a copy that writes all of its result in row-major order, or NULL.
static const tn_region *single_box(const tn_value *value)
{
    const tn_node *producer = value->producer;
    if (!producer || producer->op != &tn_op_copy) {
        return NULL;
    }
    const tn_copy_attr *attr = producer->attr;
    if (attr->regions->count != 1 || attr->regions->regions[0].source < 0) {
        return NULL;
    }
    return &attr->regions->regions[0];
}

// Reads through the copies that feed this one, as far as their boxes compose.
static tn_status compose_node(tn_work *work, tn_node *node)
{
    const tn_copy_attr *attr = node->attr;
    tn_value *sources[2 * TN_MAX_IN];
    int n_sources = node->n_in;
    bool changed = false;
    if (node->n_in > TN_MAX_IN || attr->regions->count == 0) {
        return TN_OK;
    }
    tn_region *boxes = tn_arena_copy(&work->graph->arena, attr->regions->regions, (size_t)attr->regions->count * sizeof *boxes);
    tn_regions *regions = tn_arena_copy(&work->graph->arena, attr->regions, sizeof *regions);
    if (!boxes || !regions) {
        return tn_fail_memory(work->diag, node->name, sizeof *boxes);
    }
    for (int i = 0; i < node->n_in; i++) {
        sources[i] = node->in[i];
    }
    for (int operand = 0; operand < node->n_in; operand++) {
        const tn_region *p = node->in[operand] ? single_box(node->in[operand]) : NULL;
        if (!p) {
            continue;
        }
        tn_region composed[TN_MAX_REGIONS];
        bool all = true;
        for (int i = 0; i < regions->count && all; i++) {
            all = boxes[i].source != operand || tn_region_compose(&boxes[i], p, &composed[i]);
        }
        for (int i = 0; i < regions->count && all; i++) {
            if (boxes[i].source == operand) {
                boxes[i] = composed[i];
                boxes[i].source = n_sources;
                changed = true;
            }
        }
        if (all) {
            sources[n_sources++] = node->in[operand]->producer->in[p->source];
        }
    }
    if (!changed) {
        return TN_OK;
    }
    regions->regions = boxes;
    tn_value *value = node->out[0];
    TN_TRY(make_copy(work, node, node, regions, sources, value));
    tn_graph_remove(work->graph, node);
    return TN_OK;
}

// A copy that reads `value` moves something: it is no view of it.
static bool moves(const tn_use *use)
{
    const tn_copy_attr *attr = use->node->op == &tn_op_copy ? use->node->attr : NULL;
    int64_t count = 1, offset;
    for (int i = 0; attr && i < attr->shape.count; i++) {
        count *= attr->shape.v[i];
    }
    return attr && !tn_regions_dense(attr->regions, count, &offset);
}

// The copy of several boxes that makes a value which nothing but copies read: when all of these read its sources instead, it is not needed.
static const tn_node *joined(const tn_value *value)
{
    const tn_node *producer = value->producer;
    if (!producer || producer->op != &tn_op_copy || value->is_output || ((const tn_copy_attr *)producer->attr)->regions->count < 2) {
        return NULL;
    }
    for (size_t u = 0; u < value->n_uses; u++) {
        if (!moves(&value->uses[u])) {
            return NULL;
        }
    }
    return producer;
}

// Operands that copies read in the layout of the first.
#define SOURCES_MOST 8
#define BOXES_MOST 24

// Reads the sources of joined operands.
static tn_status flatten_node(tn_work *work, tn_node *node)
{
    const tn_copy_attr *attr = node->attr;
    tn_value *sources[TN_MAX_IN * 2], *distinct[TN_MAX_IN * 2];
    tn_region *boxes = tn_arena_array(&work->graph->arena, BOXES_MOST, sizeof *boxes);
    tn_regions *regions = tn_arena_copy(&work->graph->arena, attr->regions, sizeof *regions);
    int n = 0, n_sources = node->n_in, n_distinct = 0;
    bool changed = false;
    if (!boxes || !regions) {
        return tn_fail_memory(work->diag, node->name, sizeof *boxes);
    }
    for (int i = 0; i < attr->regions->count; i++) {
        const tn_region *c = &attr->regions->regions[i];
        const tn_node *p = c->source >= 0 ? joined(node->in[c->source]) : NULL;
        int64_t count = 0;
        if (n == BOXES_MOST || node->n_in > TN_MAX_IN / 2) {
            return TN_OK;
        }
        if (!p || n_sources + p->n_in > (int)TN_COUNT(sources) || !tn_shape_count(&tn_work_fact(work, p->out[0])->shape, &count)) {
            boxes[n++] = *c;
            continue;
        }
        const int made = tn_region_flatten(c, ((const tn_copy_attr *)p->attr)->regions, count, boxes + n, BOXES_MOST - n, &work->scratch);
        if (!made) {
            return TN_OK;
        }
        for (int k = n; k < n + made; k++) {
            boxes[k].source += n_sources;
        }
        memcpy(sources + n_sources, p->in, (size_t)p->n_in * sizeof *sources);
        n_sources += p->n_in;
        n += made;
        changed = true;
    }
    memcpy(sources, node->in, (size_t)node->n_in * sizeof *sources);
    for (int i = 0; i < n; i++) {
        int at = 0;
        while (boxes[i].source >= 0 && at < n_distinct && distinct[at] != sources[boxes[i].source]) {
            at++;
        }
        if (boxes[i].source >= 0 && at == n_distinct) {
            distinct[n_distinct++] = sources[boxes[i].source];
        }
    }
    if (!changed || n_distinct > SOURCES_MOST) {
        return TN_OK;
    }
    regions->count = n;
    regions->regions = boxes;
    TN_TRY(make_copy(work, node, node, regions, sources, node->out[0]));
    tn_graph_remove(work->graph, node);
    return TN_OK;
}

static void drop_unused(tn_work *work)
{
    for (tn_node *node = work->graph->last, *prev; node; node = prev) {
        prev = node->prev;
        if (node->op == &tn_op_copy && unused(node)) {
            tn_graph_remove(work->graph, node);
        }
    }
}

tn_status tn_plan_move(tn_work *work)
{
    for (tn_node *node = work->graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op->regions && node->op != &tn_op_copy) {
            TN_TRY(lower_node(work, node));
        }
    }
    for (tn_node *node = work->graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_copy) {
            TN_TRY(compose_node(work, node));
        }
    }
    drop_unused(work);
    for (tn_node *node = work->graph->first, *next; node; node = next) {
        next = node->next;
        if (node->op == &tn_op_copy) {
            TN_TRY(flatten_node(work, node));
        }
    }
    drop_unused(work);
    return TN_OK;
}
