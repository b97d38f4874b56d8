// SPDX-License-Identifier: Apache-2.0
// Prepare: which layout each node works in, conversions between layouts, rows and padding of QUAD values, packing, and where each value
// lies in the arena. Then running the steps.
// Ownership: into the graph. Threads: the serving thread.
#include "exec/hexagon/dsp/hx_graph.h"
#include "exec/hexagon/dsp/hx_log.h"
#include "exec/hexagon/dsp/hx_workers.h"
#include "exec/hexagon/dsp/vec/hx_kernels.h"
#include "exec/hexagon/dsp/rt/rt.h"
#include "exec/hexagon/wire/hex_control.h"

enum { MAX_PAD = 1024, MAX_ARENA = 0x60000000, PIECE_US = 20000 };   // the time of a piece of packing

static uint32_t round_up(uint32_t v, uint32_t to) { return (v + to - 1) & ~(to - 1); }

// ---- layouts and conversions ----

static int add_step(tn_hx_graph *graph, tn_hx_node *node)
{
    if (graph->n_steps >= graph->max_steps) {
        const uint32_t more = graph->max_steps ? 2 * graph->max_steps : 64;
        tn_hx_node **bigger = tn_hx_pool_take(&graph->pool, more * sizeof *bigger);
        if (!bigger) {
            return 0;
        }
        if (graph->n_steps) {
            memcpy(bigger, graph->steps, graph->n_steps * sizeof *bigger);
        }
        graph->steps = bigger;
        graph->max_steps = more;
    }
    graph->steps[graph->n_steps++] = node;
    return 1;
}

// A step that brings `from` into `to`.
static int add_conversion(tn_hx_graph *graph, int32_t from, int32_t to)
{
    tn_hx_node *node = tn_hx_pool_take(&graph->pool, sizeof *node);
    if (!node) {
        return 0;
    }
    node->op = &tn_hx_convert;
    node->n_in = 1;
    node->in[0] = from;
    node->out = to;
    return add_step(graph, node);
}

// The value that holds the same as `at` as u8 in `layout` (other types: as they are); -1: no memory.
static int32_t in_layout(tn_hx_graph *graph, int32_t at, int layout)
{
    const tn_hx_value *v = &graph->values[at];
    if (v->as[layout] >= 0) {
        return v->as[layout];
    }
    if (v->layout == layout && !v->flip) {
        return at;
    }
    const int32_t fresh = tn_hx_value_like(graph, at, layout);
    if (fresh < 0 || !add_conversion(graph, at, fresh)) {
        return -1;
    }
    graph->values[at].as[layout] = fresh;
    return fresh;
}

static int is_byte(const tn_hx_value *v) { return v->dtype == TN_HEX_U8 || v->dtype == TN_HEX_S8; }

static uint32_t choose_layouts(tn_hx_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        tn_hx_node *node = &graph->nodes[i];
        graph->fault = node->id;
        const int layout = node->op->layout(graph, node);
        for (uint32_t k = 0; k < node->n_in; k++) {
            // Constants are for the operator to read, but for those that stand where an activation may stand.
            if (node->in[k] < 0 || !is_byte(&graph->values[node->in[k]]) ||
                (graph->values[node->in[k]].origin == TN_HX_CONST && k >= tn_hx_activations(node->op->index))) {
                continue;
            }
            const int as = tn_hx_operand_layout(graph, node, k, layout);
            node->in[k] = in_layout(graph, node->in[k], as);
            if (node->in[k] < 0) {
                return TN_HEX_WHY_LIMIT;
            }
        }
        graph->values[node->out].layout = (uint8_t)layout;
        if (!add_step(graph, node)) {
            return TN_HEX_WHY_LIMIT;
        }
    }
    return TN_HEX_WHY_NONE;
}

// Outputs whose bytes the last node cannot write where and as the host wants them.
static uint32_t add_outputs(tn_hx_graph *graph)
{
    for (uint32_t i = 0; i < graph->n_outputs; i++) {
        const int32_t at = graph->outputs[i];
        const tn_hx_value *v = &graph->values[at];
        const int flip = v->dtype == TN_HEX_S8;
        if (v->origin == TN_HX_INNER && v->layout == TN_HX_PLAIN && !flip) {
            continue;
        }
        const int32_t from = v->origin == TN_HX_INNER ? at : in_layout(graph, at, TN_HX_PLAIN);
        const int32_t host = tn_hx_value_like(graph, at, TN_HX_PLAIN);
        if (from < 0 || host < 0 || !add_conversion(graph, from, host)) {
            return TN_HEX_WHY_LIMIT;
        }
        graph->values[host].flip = (uint8_t)flip;
        graph->values[host].output = (int16_t)i;
        graph->values[at].host = host;
        graph->values[at].output = -1;
    }
    return TN_HEX_WHY_NONE;
}

// ---- geometry of QUAD values ----

static int32_t family_of(tn_hx_graph *graph, int32_t at)
{
    while (graph->values[at].family != at) {
        at = graph->values[at].family = graph->values[graph->values[at].family].family;
    }
    return at;
}

static uint32_t shape_quads(tn_hx_graph *graph)
{
    tn_hx_value *values = graph->values;
    for (uint32_t i = 0; i < graph->n_values; i++) {
        tn_hx_value *v = &values[i];
        if (v->layout == TN_HX_QUAD) {
            v->images = v->dims[0];
            v->planes = (v->dims[1] + 3) / 4;
            v->height = v->dims[2];
            v->width = v->dims[3];
            v->pitch = v->width;
        }
    }
    // Values of one node with the same rows go over them in one flat run if their pitches are equal.
    for (uint32_t s = 0; s < graph->n_steps; s++) {
        const tn_hx_node *node = graph->steps[s];
        const tn_hx_value *y = &values[node->out];
        for (uint32_t k = 0; y->layout == TN_HX_QUAD && k < node->n_in; k++) {
            const tn_hx_value *x = node->in[k] >= 0 ? &values[node->in[k]] : NULL;
            if (x && x->layout == TN_HX_QUAD && x->height == y->height && x->width == y->width) {
                values[family_of(graph, node->in[k])].family = family_of(graph, node->out);
            }
        }
    }
    for (uint32_t s = 0; s < graph->n_steps; s++) {
        const tn_hx_node *node = graph->steps[s];
        tn_hx_value *y = &values[node->out];
        tn_hx_value *x = &values[node->in[0]];
        const tn_hx_need need = tn_hx_window_need(graph, node);
        if (x->layout == TN_HX_QUAD) {
            tn_hx_value *head = &values[family_of(graph, node->in[0])];
            head->pad = need.pad > head->pad ? need.pad : head->pad;
        }
        if (y->layout == TN_HX_QUAD) {
            tn_hx_value *head = &values[family_of(graph, node->out)];
            head->pitch = need.pitch > head->pitch ? need.pitch : head->pitch;
        }
    }
    for (uint32_t i = 0; i < graph->n_values; i++) {
        tn_hx_value *v = &values[i];
        tn_hx_value *head = &values[family_of(graph, (int32_t)i)];
        if (v->layout == TN_HX_QUAD && head->pitch < v->width + head->pad) {
            head->pitch = v->width + head->pad;
        }
    }
    for (uint32_t i = 0; i < graph->n_values; i++) {
        tn_hx_value *v = &values[i];
        if (v->layout != TN_HX_QUAD) {
            v->bytes = round_up(v->count * v->size, TN_HX_VECTOR) + TN_HX_VECTOR;   // vectors may read and write past the end
            continue;
        }
        const tn_hx_value *head = &values[family_of(graph, (int32_t)i)];
        v->pad = head->pad;
        v->pitch = head->pitch;
        const uint64_t beside = round_up(4 * (uint32_t)(v->pad * v->pitch + v->pad), TN_HX_VECTOR) + TN_HX_VECTOR;
        const uint64_t plane = 2 * beside + round_up(4 * (uint32_t)(v->height * v->pitch), TN_HX_VECTOR);
        const uint64_t bytes = plane * (uint32_t)v->planes * (uint32_t)v->images;
        if (v->pad > MAX_PAD || bytes > MAX_ARENA) {
            graph->fault = v->id;
            return TN_HEX_WHY_LIMIT;
        }
        v->lead = (uint32_t)beside;
        v->plane_bytes = (uint32_t)plane;
        v->bytes = (uint32_t)bytes;
    }
    return TN_HEX_WHY_NONE;
}

// ---- memory ----

static void use(tn_hx_graph *graph, int32_t at, int32_t step)
{
    tn_hx_value *v = &graph->values[at];
    v->first = v->first < 0 ? step : v->first;
    v->last = step;
}

static int in_arena(const tn_hx_value *v) { return v->origin == TN_HX_INNER && v->output < 0 && v->first >= 0; }

// Largest first, each at the lowest place where no value that lives at the same time lies.
static uint32_t place_values(tn_hx_graph *graph)
{
    for (uint32_t s = 0; s < graph->n_steps; s++) {
        const tn_hx_node *node = graph->steps[s];
        for (uint32_t k = 0; k < node->n_in; k++) {
            if (node->in[k] >= 0) {
                use(graph, node->in[k], (int32_t)s);
            }
        }
        use(graph, node->out, (int32_t)s);
    }
    int32_t *order = tn_hx_pool_take(&graph->pool, (graph->n_values + 1) * sizeof *order);
    int32_t *placed = tn_hx_pool_take(&graph->pool, (graph->n_values + 1) * sizeof *placed);   // by place
    if (!order || !placed) {
        return TN_HEX_WHY_LIMIT;
    }
    uint32_t n = 0, n_placed = 0;
    for (uint32_t i = 0; i < graph->n_values; i++) {
        if (in_arena(&graph->values[i])) {
            uint32_t k = n++;
            for (; k > 0 && graph->values[order[k - 1]].bytes < graph->values[i].bytes; k--) {
                order[k] = order[k - 1];
            }
            order[k] = (int32_t)i;
        }
    }
    uint64_t top = 0;
    for (uint32_t i = 0; i < n; i++) {
        tn_hx_value *v = &graph->values[order[i]];
        uint64_t at = 0;
        for (uint32_t k = 0; k < n_placed; k++) {
            const tn_hx_value *other = &graph->values[placed[k]];
            if (other->last < v->first || other->first > v->last || other->place + (uint64_t)other->bytes <= at) {
                continue;
            }
            if (other->place >= at + v->bytes) {
                break;
            }
            at = other->place + (uint64_t)other->bytes;
        }
        if (at + v->bytes > MAX_ARENA) {
            return TN_HEX_WHY_LIMIT;
        }
        v->place = (uint32_t)at;
        top = at + v->bytes > top ? at + v->bytes : top;
        uint32_t k = n_placed++;
        for (; k > 0 && graph->values[placed[k - 1]].place > v->place; k--) {
            placed[k] = placed[k - 1];
        }
        placed[k] = order[i];
    }
    // Kernels load one step ahead of what they use: up to a plane past the last value.
    uint32_t ahead = TN_HX_VECTOR;
    for (uint32_t i = 0; i < graph->n_values; i++) {
        ahead = graph->values[i].plane_bytes > ahead ? graph->values[i].plane_bytes : ahead;
    }
    graph->arena_bytes = (uint32_t)top + 2 * ahead;
    return TN_HEX_WHY_NONE;
}

static uint32_t take_arena(tn_hx_graph *graph)
{
    graph->arena = tn_hx_take(graph->arena_bytes + graph->scratch_bytes);
    if (!graph->arena) {
        return TN_HEX_WHY_LIMIT;
    }
    graph->scratch = graph->arena + graph->arena_bytes;
    for (uint32_t i = 0; i < graph->n_values; i++) {
        tn_hx_value *v = &graph->values[i];
        if (in_arena(v)) {
            v->data = graph->arena + v->place + (v->layout == TN_HX_QUAD ? v->lead : 0);
        }
    }
    return TN_HEX_WHY_NONE;
}

void tn_hx_scratch(tn_hx_graph *graph, uint32_t bytes)
{
    bytes = round_up(bytes, TN_HX_VECTOR);
    graph->scratch_bytes = bytes > graph->scratch_bytes ? bytes : graph->scratch_bytes;
}

// Constants that stand where an activation may are brought into their layout once: their values become constants with memory of their own.
static uint32_t fold_constants(tn_hx_graph *graph)
{
    uint32_t kept = 0;
    for (uint32_t s = 0; s < graph->n_steps; s++) {
        tn_hx_node *node = graph->steps[s];
        const tn_hx_value *x = &graph->values[node->in[0]];
        tn_hx_value *y = &graph->values[node->out];
        if (node->op != &tn_hx_convert || x->origin != TN_HX_CONST || y->output >= 0) {
            graph->steps[kept++] = node;
            continue;
        }
        uint8_t *block = tn_hx_pool_take(&graph->pool, y->bytes + 2 * y->plane_bytes + TN_HX_VECTOR);
        if (!block) {
            return TN_HEX_WHY_LIMIT;
        }
        y->data = block + (y->layout == TN_HX_QUAD ? y->lead : 0);
        y->origin = TN_HX_INPUT;   // its memory is not in the arena
        tn_hx_convert.run(graph, node);
    }
    graph->n_steps = kept;
    return TN_HEX_WHY_NONE;
}

// Constants that nodes read while they run, and no conversion has copied.
static uint32_t keep_constants(tn_hx_graph *graph)
{
    for (uint32_t s = 0; s < graph->n_steps; s++) {
        tn_hx_node *node = graph->steps[s];
        for (uint32_t k = 0; k < node->n_in && k < tn_hx_activations(node->op->index); k++) {
            const int32_t at = node->in[k];
            if (at < 0 || graph->values[at].origin != TN_HX_CONST) {
                continue;
            }
            const tn_hx_value *v = &graph->values[at];
            uint8_t *copy = tn_hx_pool_take(&graph->pool, v->count * v->size + TN_HX_VECTOR);
            const int32_t fresh = copy ? tn_hx_value_like(graph, at, TN_HX_PLAIN) : -1;
            if (fresh < 0) {
                return TN_HEX_WHY_LIMIT;
            }
            v = &graph->values[at];
            memcpy(copy, v->data, v->count * v->size);
            graph->values[fresh].data = copy;
            graph->values[fresh].origin = TN_HX_INPUT;
            graph->values[fresh].flip = v->flip;
            node->in[k] = fresh;
        }
    }
    return TN_HEX_WHY_NONE;
}

uint32_t tn_hx_graph_prepare(tn_hx_graph *graph)
{
    uint32_t why = choose_layouts(graph);
    why = why ? why : add_outputs(graph);
    why = why ? why : shape_quads(graph);
    why = why ? why : fold_constants(graph);
    why = why ? why : keep_constants(graph);
    for (uint32_t s = 0; !why && s < graph->n_steps; s++) {
        tn_hx_node *node = graph->steps[s];
        graph->fault = node->id;
        tn_hx_os_table.self()->node = node->id;
        why = node->op->prepare ? node->op->prepare(graph, node) : TN_HEX_WHY_NONE;
    }
    why = why ? why : place_values(graph);
    tn_hx_packed_room(graph, TN_HX_VECTOR);   // kernels load one step ahead
    return why ? why : graph->weights_bytes > MAX_ARENA ? TN_HEX_WHY_LIMIT : TN_HEX_WHY_NONE;
}

// ---- packed weights ----

void tn_hx_packed_room(tn_hx_graph *graph, uint64_t bytes)
{
    graph->weights_bytes += (bytes + TN_HX_VECTOR - 1) & ~(uint64_t)(TN_HX_VECTOR - 1);
}

uint8_t *tn_hx_packed_next(tn_hx_graph *graph, uint64_t bytes)
{
    const uint64_t room = (bytes + TN_HX_VECTOR - 1) & ~(uint64_t)(TN_HX_VECTOR - 1);
    if (room > graph->weights_bytes - graph->weights_at) {
        return NULL;
    }
    uint8_t *at = graph->weights + graph->weights_at;
    graph->weights_at += (uint32_t)room;
    return at;
}

int tn_hx_packed_copy(tn_hx_graph *graph, void *own, uint32_t bytes, int fresh)
{
    uint8_t *at = tn_hx_packed_next(graph, bytes);
    if (at) {
        memcpy(fresh ? at : own, fresh ? own : at, bytes);
    }
    return at != NULL;
}

uint32_t tn_hx_graph_pack(tn_hx_graph *graph, uint32_t *more)
{
    const uint64_t start = tn_hx_os_table.microseconds();
    uint32_t why = TN_HEX_WHY_NONE;
    if (!graph->packing && graph->pack_fresh) {
        memset(graph->weights, 0, (uint32_t)graph->weights_bytes);
    }
    graph->packing = 1;
    while (!why && graph->pack_step < graph->n_steps) {
        tn_hx_node *node = graph->steps[graph->pack_step++];
        graph->fault = node->id;
        tn_hx_os_table.self()->node = node->id;
        why = node->op->pack ? node->op->pack(graph, node, graph->pack_fresh) : TN_HEX_WHY_NONE;
        if (!why && graph->pack_step < graph->n_steps && tn_hx_os_table.microseconds() - start > PIECE_US) {
            *more = 1;
            return TN_HEX_WHY_NONE;
        }
    }
    return why ? why : take_arena(graph);
}

void tn_hx_graph_run(tn_hx_graph *graph)
{
    const tn_hx_os *os = &tn_hx_os_table;
    os->hvx_lock();
    for (uint32_t s = 0; s < graph->n_steps; s++) {
        tn_hx_node *node = graph->steps[s];
        uint32_t before[3], after[3];
        const uint64_t start = os->microseconds();
        os->self()->node = node->id;
        tn_hx_link_table.alive(node->id);
        tn_hx_worker_counts(before);
        node->op->run(graph, node);
        tn_hx_worker_counts(after);
        node->executions++;
        node->packets = after[0] - before[0];
        node->instructions = after[1] - before[1];
        node->hvx = after[2] - before[2];
        node->microseconds = (uint32_t)(os->microseconds() - start);
        tn_hx_log(3, "node", node->id);
    }
    tn_hx_link_table.alive(0);
    os->hvx_unlock();
}

void tn_hx_graph_free(tn_hx_graph *graph)
{
    if (graph->arena) {
        tn_hx_os_table.give(graph->arena, graph->arena_bytes + graph->scratch_bytes);
    }
    if (graph->weights_handle) {
        tn_hx_buffers[graph->weights_handle - 1].uses--;
    } else if (graph->weights) {
        tn_hx_os_table.give(graph->weights, (size_t)graph->weights_bytes);
    }
    tn_hx_pool_free(&graph->pool);
    memset(graph, 0, sizeof *graph);
}
