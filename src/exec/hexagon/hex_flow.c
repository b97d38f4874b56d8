// SPDX-License-Identifier: Apache-2.0
// Sub-flows on the DSP (hex_flow.h). Tensors that lie in shared memory go as handle and offset; others through a staging buffer, and
// their bytes are counted.
// Ownership: see hex_flow.h. Threads: see hex_flow.h.
#include "exec/hexagon/hex_flow.h"

#include "base/macros.h"
#include "exec/hexagon/hex_encode.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

#define IO_ALIGN 128     // of tensors in the staging buffer

static const char *node_name(void *context, uint32_t id)
{
    const tn_node *node = tn_hex_part_node(((const tn_hex_flow *)context)->graph, id);
    return node ? node->name : NULL;
}

// ---- compile ----

static tn_status encode(const tn_hex_flow *flow, tn_hex_encoder *e, tn_diag *diag)
{
    TN_TRY(tn_hex_encode_init(e, flow->graph, flow->link->heap, diag));
    return tn_hex_encode_graph(e, flow->graph, &flow->base.device->cpu);
}

tn_status tn_hex_flow_ready(tn_hex_flow *flow, tn_diag *diag)
{
    if (flow->part->session != flow->link->session && !tn_hex_part_intact(flow->part)) {
        // The program that is gone wrote where it should not: its records and weights are nothing to go on with.
        tn_hex_encoder e;
        const tn_status status = encode(flow, &e, diag);
        if (status == TN_OK) {
            tn_hex_part_write(flow->part, &e);
        }
        tn_hex_encode_deinit(&e);
        TN_TRY(status);
    }
    return tn_hex_part_ready(flow->part, flow->graph, flow->cache, diag);
}

void tn_hex_flow_release(tn_hex_flow *flow)
{
    if (!flow) {
        return;
    }
    tn_hex_link_lock(flow->link);
    tn_hex_part_give(flow->part);
    tn_hex_buffer_give_locked(flow->link, flow->staging);
    tn_hex_link_unlock(flow->link);
    tn_give(flow->link->heap, flow);
}

// Under the link's lock, after a call: what the flow holds by now.
static void count_held(tn_hex_flow *flow)
{
    const tn_hex_part *part = flow->part;
    flow->held = part->records->bytes + part->arena_bytes + (part->packed ? part->packed->bytes : 0) + (flow->staging ? flow->staging->bytes : 0);
}

// The DSP logs what the listener asks for.
static tn_status set_log(tn_hex_link *link, const tn_flow_listener *listener, tn_diag *diag)
{
    const int detail = listener && listener->tell ? listener->detail : 0;
    return tn_hex_log_level(link, detail > 1 ? TN_HEX_LOG_NODES : detail ? TN_HEX_LOG_CALLS : TN_HEX_LOG_ERRORS, diag);
}

static void tell_log(tn_hex_link *link, const tn_flow_listener *listener)
{
    if (listener && listener->tell) {
        tn_hex_log_tell(link, listener->tell, listener->context);
    }
}

// Under the link's lock.
static tn_status compile(tn_hex_flow *flow, const tn_hex_encoder *e, const tn_flow_listener *listener, tn_diag *diag)
{
    flow->part = tn_hex_part_take(flow->link, e);
    if (!flow->part) {
        return tn_fail_memory(diag, "hexagon", e->consts.size + e->nodes.size + e->data.size);
    }
    TN_TRY(tn_hex_link_ready(flow->link, diag));
    TN_TRY(set_log(flow->link, listener, diag));
    const tn_status status = tn_hex_flow_ready(flow, diag);
    tell_log(flow->link, listener);
    count_held(flow);
    return status;
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
    flow->link = link;
    flow->graph = request->graph;
    flow->cache = request->cache;
    tn_status status = encode(flow, &e, request->diag);
    if (status == TN_OK && request->graph->n_inputs + request->graph->n_outputs > TN_HEX_IO_MAX) {
        status = tn_fail(request->diag, TN_LIMIT, "hexagon", "a sub-graph of more than %d inputs and outputs", TN_HEX_IO_MAX);
    }
    if (status == TN_OK) {
        tn_hex_link_lock(link);
        status = compile(flow, &e, request->listener, request->diag);
        tn_hex_link_unlock(link);
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
        flow->staging = tn_hex_buffer_take_locked(flow->link, need);
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
                atomic_fetch_add(&link->copied, bytes);
            }
        }
        if (copy_out) {
            continue;
        }
        TN_TRY(tn_hex_link_map(link, buffer, run->diag));
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

static tn_status execute(tn_hex_flow *flow, const tn_flow_run *run)
{
    tn_hex_link *link = flow->link;
    TN_TRY(tn_hex_link_ready(link, run->diag));
    TN_TRY(set_log(link, run->listener, run->diag));
    TN_TRY(tn_hex_flow_ready(flow, run->diag));
    TN_TRY(begin_timing(flow, run));
    TN_TRY(place_tensors(flow, run, false));
    TN_TRY(tn_hex_link_check(link, "prepared", run->diag));     // not begun, it need not be stopped
    const uint32_t args[3] = {flow->part->id, (uint32_t)flow->graph->n_inputs, (uint32_t)flow->graph->n_outputs};
    tn_hex_call call = {.call = TN_HEX_CALL_EXECUTE, .args = args, .n_args = 3, .place = flow->graph->first ? flow->graph->first->name : "hexagon",
                        .deadline_ns = run->deadline_ns, .cancel = run->cancel};
    tn_hex_link_names(link, node_name, flow);
    const tn_status status = tn_hex_link_call(link, &call, run->diag);
    tn_hex_link_names(link, NULL, NULL);
    TN_TRY(status);
    if (call.status != TN_HEX_OK) {
        flow->part->session = TN_HEX_NO_SESSION;
        return tn_hex_part_refused(flow->graph, &call, "execute", run->diag);
    }
    flow->dsp_us = call.results[0];
    flow->packets = call.results[1] | (uint64_t)call.results[2] << 32;
    return place_tensors(flow, run, true);
}

tn_status tn_hex_flow_run(tn_hex_flow *flow, const tn_flow_run *run)
{
    TN_TRY(tn_hex_link_lock_until(flow->link, run->deadline_ns, run->cancel, run->diag));
    tn_hex_link_limit(flow->link, run->deadline_ns, run->cancel);
    tn_status status = make_staging(flow, run);
    status = status == TN_OK ? execute(flow, run) : status;
    tell_log(flow->link, run->listener);
    count_held(flow);
    tn_hex_link_limit(flow->link, 0, NULL);
    tn_hex_link_unlock(flow->link);
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
    uint64_t *microseconds = tn_take_zero(flow->link->heap, n_nodes + 1, sizeof *microseconds);
    size_t at = 0;
    if (microseconds) {
        read_perf(flow, microseconds, n_nodes);
    }
    for (const tn_node *node = flow->graph->first; node; node = node->next, at++) {
        const tn_flow_node line = {.node = node, .kernel = node->op->name, .impl = tn_impl_text(TN_IMPL_HVX), .layout_in = "plain",
                                   .layout_out = "plain", .nanoseconds = microseconds ? 1000 * microseconds[at] : 0};
        visit(&line, context);
    }
    tn_give(flow->link->heap, microseconds);
}
