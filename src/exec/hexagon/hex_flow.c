// SPDX-License-Identifier: Apache-2.0
// Sub-flows on the DSP (hex_flow.h). Tensors that lie in shared memory go as handle and offset; others through a staging buffer, and
// their bytes are counted.
// Ownership: see hex_flow.h. Threads: see hex_flow.h.
#include "exec/hexagon/hex_flow.h"

#include "base/macros.h"
#include "exec/hexagon/hex_encode.h"
#include "sys/clock.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define IO_ALIGN 128     // of tensors in the staging buffer
#define MOST_STARTS 8    // of the DSP while one graph is handed over

static const char *node_name(void *context, uint32_t id)
{
    const tn_node *node = tn_hex_part_node(((const tn_hex_flow *)context)->graph, id);
    return node ? node->name : NULL;
}

// ---- compile ----

static tn_status encode(const tn_hex_flow *flow, tn_hex_encoder *e, tn_diag *diag)
{
    TN_TRY(tn_hex_encode_init(e, flow->graph, flow->base.device->heap, diag));
    return tn_hex_encode_graph(e, flow->graph, &flow->base.device->cpu);
}

// Under the link's lock. A spare program is memory that one can do without.
static void set_frugal(tn_hex_flow *flow, bool frugal)
{
    tn_hex_spare *spare = &flow->link->spare;
    if (frugal && !flow->frugal && spare->frugal++ == 0) {
        tn_hex_spare_drop(flow->link);
    } else if (!frugal && flow->frugal && --spare->frugal == 0) {
        spare->idle = spare->off;
    }
    flow->frugal = frugal;
}

// Under the link's lock, perhaps when the session is gone.
static void release(tn_hex_link *link, tn_hex_chore *chore)
{
    tn_hex_flow *flow = (tn_hex_flow *)(void *)((uint8_t *)chore - offsetof(tn_hex_flow, chore));
    set_frugal(flow, false);
    tn_hex_part_give(flow->part);
    tn_hex_buffer_give_locked(link, flow->staging);
    tn_give(link->heap, flow->lines.text);
    tn_give(link->heap, flow);
}

void tn_hex_flow_release(tn_hex_flow *flow)
{
    if (flow) {
        tn_hex_link_later(flow->link, &flow->chore);
    }
}

// Under the link's lock, after a call: what the flow holds by now.
static void count_held(tn_hex_flow *flow)
{
    const tn_hex_part *part = flow->part;
    flow->held = part->records->bytes + part->arena_bytes + (part->packed ? part->packed->bytes : 0) + (flow->staging ? flow->staging->bytes : 0);
}

// ---- turns ----

static bool listens(const tn_hex_flow *flow) { return flow->listener && flow->listener->tell; }

// The DSP runs, with the power that this session wishes, and logs what the listener asks for.
static tn_status begin(tn_hex_flow *flow, tn_diag *diag)
{
    const int detail = listens(flow) ? flow->listener->detail : 0;
    TN_TRY(tn_hex_link_ready(flow->link, diag));
    const tn_status power = tn_hex_link_power(flow->link, &flow->device->power, diag);
    if (power != TN_OK && power != TN_UNSUPPORTED) {
        return power;
    }
    tn_diag_clear(diag);      // a wish that is refused is no failure of a run
    return tn_hex_log_level(flow->link, detail > 1 ? TN_HEX_LOG_NODES : detail ? TN_HEX_LOG_CALLS : TN_HEX_LOG_ERRORS, diag);
}

static tn_status take_turn(tn_hex_flow *flow, const tn_flow_listener *listener, uint64_t deadline_ns, const atomic_int *cancel, tn_diag *diag)
{
    TN_TRY(tn_hex_link_lock_until(flow->link, deadline_ns, cancel, diag));
    flow->turn = true;
    flow->listener = listener;
    tn_hex_link_limit(flow->link, deadline_ns, cancel);
    tn_hex_link_names(flow->link, node_name, flow);
    return TN_OK;
}

// What listens hears what was logged when others may have their turns: it may run another session.
static void give_turn(tn_hex_flow *flow)
{
    if (flow->turn) {
        if (listens(flow)) {
            tn_hex_log_take(flow->link, &flow->lines);
        }
        if (flow->part) {
            count_held(flow);
        }
        tn_hex_link_names(flow->link, NULL, NULL);
        tn_hex_link_limit(flow->link, 0, NULL);
        tn_hex_link_unlock(flow->link);
        flow->turn = false;
    }
    if (listens(flow)) {
        tn_hex_log_tell(flow->link, &flow->lines, flow->listener->tell, flow->listener->context);
    }
    flow->listener = NULL;
}

// A graph that is handed over takes its time: others go first after each piece.
static tn_status breathe(tn_hex_flow *flow, tn_diag *diag)
{
    if (listens(flow)) {
        tn_hex_log_take(flow->link, &flow->lines);
    }
    const tn_status status = tn_hex_link_breathe(flow->link, diag);
    flow->turn = status == TN_OK;
    return status == TN_OK ? begin(flow, diag) : status;
}

tn_status tn_hex_flow_ready(tn_hex_flow *flow, tn_diag *diag)
{
    tn_hex_part *part = flow->part;
    const uint64_t first = flow->link->session;
    for (bool more = true; more;) {
        if (flow->link->session - first > MOST_STARTS) {
            return tn_fail(diag, TN_DEVICE, "hexagon", "the DSP was started %d times while a graph was handed over; it died %s", MOST_STARTS,
                           flow->link->death);
        }
        tn_hex_part_prove(part);
        if (part->session != flow->link->session && !tn_hex_part_intact(part)) {
            // The program that is gone wrote where it should not: its records and weights are nothing to go on with.
            tn_hex_encoder e;
            const tn_status status = encode(flow, &e, diag);
            if (status == TN_OK) {
                tn_hex_part_write(part, &e);
            }
            tn_hex_encode_deinit(&e);
            TN_TRY(status);
        }
        TN_TRY(tn_hex_part_ready(part, flow->graph, flow->cache, &more, diag));
        TN_TRY(more ? breathe(flow, diag) : TN_OK);
    }
    return TN_OK;
}

// Under the link's lock.
static tn_status compile(tn_hex_flow *flow, const tn_hex_encoder *e, tn_diag *diag)
{
    flow->part = tn_hex_part_take(flow->link, e);
    if (!flow->part) {
        return tn_fail_memory(diag, "hexagon", e->consts.size + e->nodes.size + e->data.size);
    }
    TN_TRY(begin(flow, diag));
    return tn_hex_flow_ready(flow, diag);
}

tn_status tn_hex_flow_make(tn_hex_device *device, const tn_flow_request *request, tn_hex_flow **out)
{
    tn_hex_link *link = device->link;
    tn_hex_encoder e;
    *out = NULL;
    tn_hex_flow *flow = tn_take_zero(link->heap, 1, sizeof *flow);
    if (!flow) {
        return tn_fail_memory(request->diag, "hexagon", sizeof *flow);
    }
    flow->base.device = &device->base;
    flow->device = device;
    flow->link = link;
    flow->chore.run = release;
    flow->graph = request->graph;
    flow->cache = request->cache;
    tn_status status = encode(flow, &e, request->diag);
    if (status == TN_OK && request->graph->n_inputs + request->graph->n_outputs > TN_HEX_IO_MAX) {
        status = tn_fail(request->diag, TN_LIMIT, "hexagon", "a sub-graph of more than %d inputs and outputs", TN_HEX_IO_MAX);
    }
    if (status == TN_OK) {
        status = take_turn(flow, request->listener, tn_clock_ns() + link->patience_ns, NULL, request->diag);
        status = status == TN_OK ? compile(flow, &e, request->diag) : status;
        give_turn(flow);
        if (status == TN_DEADLINE) {
            tn_diag_clear(request->diag);
            status = tn_fail(request->diag, TN_DEVICE, request->graph->first ? request->graph->first->name : "hexagon",
                             "the DSP was not handed a sub-graph of %zu nodes within %u ms: it is slow, or others' runs keep it busy",
                             request->graph->n_nodes, (unsigned)(link->patience_ns / 1000000u));
        }
    }
    tn_hex_encode_deinit(&e);
    if (status != TN_OK) {
        tn_hex_flow_release(flow);
        return status;
    }
    *out = flow;
    return TN_OK;
}

// ---- execute ----

// Inputs first.
static const tn_tensor *tensor_at(const tn_hex_flow *flow, const tn_flow_run *run, size_t i)
{
    return i < flow->graph->n_inputs ? run->in[i] : run->out[i - flow->graph->n_inputs];
}

// Under the lock: bytes that need the staging buffer, which is made large enough.
static tn_status make_staging(tn_hex_flow *flow, const tn_flow_run *run)
{
    size_t need = 0;
    for (size_t i = 0; i < flow->graph->n_inputs + flow->graph->n_outputs; i++) {
        const tn_tensor *tensor = tensor_at(flow, run, i);
        size_t bytes = 0;
        if (tn_tensor_bytes(tensor, &bytes) && !tn_hex_buffer_find(flow->link, tensor->data, bytes)) {
            need += (bytes + IO_ALIGN - 1) / IO_ALIGN * IO_ALIGN;
        }
    }
    if (need && (!flow->staging || flow->staging->bytes < need)) {
        tn_hex_buffer_give_locked(flow->link, flow->staging);
        flow->staging = NULL;
        count_held(flow);
        if (run->room && need > run->room) {
            return tn_fail(run->diag, TN_LIMIT, "hexagon", "copies of tensors that lie in the caller's memory take %zu bytes, memory_limit leaves %llu",
                           need, (unsigned long long)run->room);
        }
        flow->staging = tn_hex_buffer_take(flow->link, need);
        return flow->staging ? TN_OK : tn_fail_memory(run->diag, "hexagon", need);
    }
    return TN_OK;
}

// Under the lock: the word list of all tensors in the control page, inputs that are staged copied.
static tn_status place_tensors(tn_hex_flow *flow, const tn_flow_run *run, bool copy_out)
{
    tn_hex_link *link = flow->link;
    size_t used = 0;
    for (size_t i = 0; i < flow->graph->n_inputs + flow->graph->n_outputs; i++) {
        const tn_tensor *tensor = tensor_at(flow, run, i);
        const bool input = i < flow->graph->n_inputs;
        size_t bytes = 0;
        (void)tn_tensor_bytes(tensor, &bytes);
        tn_hex_buffer *buffer = tn_hex_buffer_find(link, tensor->data, bytes);
        size_t offset = buffer ? (size_t)((uint8_t *)tensor->data - buffer->data) : used;
        if (!buffer) {
            buffer = flow->staging;
            used += (bytes + IO_ALIGN - 1) / IO_ALIGN * IO_ALIGN;
            if (input != copy_out) {
                memcpy(input ? buffer->data + offset : tensor->data, input ? tensor->data : buffer->data + offset, bytes);
                atomic_fetch_add(&flow->device->copied, bytes);
            }
        }
        if (copy_out) {
            continue;
        }
        TN_TRY(tn_hex_part_map(flow->part, buffer, run->diag));
        const uint32_t words[TN_HEX_IO_WORDS] = {buffer->handle, (uint32_t)offset, (uint32_t)bytes};
        for (size_t w = 0; w < TN_HEX_IO_WORDS; w++) {
            tn_hex_patch(link->page + TN_HEX_AT_IO + 4 * (TN_HEX_IO_WORDS * i + w), words[w]);
        }
    }
    return TN_OK;
}

// Counters are those of the runs that are timed: what ran before begins anew.
static tn_status begin_timing(tn_hex_flow *flow, const tn_flow_run *run)
{
    if (run->timed && !flow->timed) {
        tn_hex_call call = {.call = TN_HEX_CALL_RESET_PERF, .args = &flow->part->id, .n_args = 1, .place = "hexagon"};
        TN_TRY(tn_hex_link_call(flow->link, &call, run->diag));
    }
    flow->timed = run->timed;
    return TN_OK;
}

// A run of several sub-flows has values of its own in memory that the DSP sees: they are what they were for as long as the program that
// it began with lives. Whoever's call it was that the program died in, this run is over.
static tn_status check_program(tn_hex_flow *flow, const tn_flow_run *run)
{
    tn_hex_device *device = flow->device;
    if (run->number && device->run == run->number && device->run_session != flow->link->session) {
        return tn_fail(run->diag, TN_DEVICE, "hexagon", "the DSP died under this run, %s", flow->link->death);
    }
    device->run = run->number;
    device->run_session = flow->link->session;
    return TN_OK;
}

static tn_status execute(tn_hex_flow *flow, const tn_flow_run *run)
{
    tn_hex_link *link = flow->link;
    TN_TRY(begin(flow, run->diag));
    TN_TRY(tn_hex_flow_ready(flow, run->diag));
    TN_TRY(check_program(flow, run));
    TN_TRY(begin_timing(flow, run));
    TN_TRY(place_tensors(flow, run, false));
    TN_TRY(tn_hex_link_check(link, "prepared", run->diag));     // not begun, it need not be stopped
    const uint32_t args[3] = {flow->part->id, (uint32_t)flow->graph->n_inputs, (uint32_t)flow->graph->n_outputs};
    tn_hex_call call = {.call = TN_HEX_CALL_EXECUTE, .args = args, .n_args = 3, .place = flow->graph->first ? flow->graph->first->name : "hexagon",
                        .deadline_ns = run->deadline_ns, .cancel = run->cancel};
    TN_TRY(tn_hex_link_call(link, &call, run->diag));
    if (call.status != TN_HEX_OK) {
        flow->part->session = TN_HEX_NO_SESSION;
        return tn_hex_part_refused(flow->graph, &call, "execute", run->diag);
    }
    if (run->frugal != flow->frugal) {
        set_frugal(flow, run->frugal);
    }
    if (!link->spare.idle) {
        tn_hex_spare_pump(link);
    }
    flow->dsp_us = call.results[0];
    flow->packets = call.results[1] | (uint64_t)call.results[2] << 32;
    return place_tensors(flow, run, true);
}

tn_status tn_hex_flow_run(tn_hex_flow *flow, const tn_flow_run *run)
{
    TN_TRY(take_turn(flow, run->listener, run->deadline_ns, run->cancel, run->diag));
    const tn_status staged = make_staging(flow, run), status = staged == TN_OK ? execute(flow, run) : staged;
    give_turn(flow);
    return status;
}

// ---- reports ----

// Microseconds of each node by its place, from the DSP's own records; zeros where it cannot be asked.
static void read_perf(const tn_hex_flow *flow, uint64_t *microseconds, size_t n_nodes)
{
    tn_hex_link *link = flow->link;
    // Records are for what the DSP runs, which is more than the graph's nodes where movement and constants need helpers.
    const size_t room = (4 * n_nodes + 64) * TN_HEX_PERF_WORDS * 4;
    tn_hex_buffer *buffer = tn_hex_buffer_take(link, room);
    tn_diag ignored = {.status = TN_OK};
    tn_hex_link_lock(link);
    if (buffer && flow->part->session == link->session && tn_hex_link_running(link) && tn_hex_link_map(link, buffer, &ignored) == TN_OK) {
        const uint32_t args[4] = {flow->part->id, buffer->handle, 0, (uint32_t)room};
        tn_hex_call call = {.call = TN_HEX_CALL_PERF, .args = args, .n_args = 4, .place = "hexagon"};
        if (tn_hex_link_call(link, &call, &ignored) == TN_OK && call.status == TN_HEX_OK) {
            tn_hex_cursor cursor = {buffer->data, room, 0};
            for (uint32_t i = 0; i < call.results[0] && !cursor.failed; i++) {
                uint32_t words[TN_HEX_PERF_WORDS];
                for (int w = 0; w < TN_HEX_PERF_WORDS; w++) {
                    words[w] = tn_hex_get(&cursor);
                }
                if (words[TN_HEX_PERF_NODE] >= 1 && words[TN_HEX_PERF_NODE] <= n_nodes) {
                    microseconds[words[TN_HEX_PERF_NODE] - 1] += words[TN_HEX_PERF_MICROSECONDS];
                }
            }
        }
    }
    tn_hex_link_unlock(link);
    tn_hex_buffer_give(link, buffer);
}

void tn_hex_flow_describe(const tn_hex_flow *flow, void (*visit)(const tn_flow_node *node, void *context), void *context)
{
    const size_t n_nodes = flow->graph->n_nodes;
    tn_heap *heap = flow->base.device->heap;
    uint64_t *microseconds = tn_take_zero(heap, n_nodes + 1, sizeof *microseconds);
    size_t at = 0;
    if (microseconds) {
        read_perf(flow, microseconds, n_nodes);
    }
    for (const tn_node *node = flow->graph->first; node; node = node->next, at++) {
        const tn_flow_node line = {.node = node, .kernel = node->op->name, .impl = tn_impl_text(TN_IMPL_HVX), .layout_in = "plain",
                                   .layout_out = "plain", .nanoseconds = microseconds ? 1000 * microseconds[at] : 0};
        visit(&line, context);
    }
    tn_give(heap, microseconds);
}
