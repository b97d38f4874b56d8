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

static const tn_node *node_at(const tn_graph *graph, uint32_t id)
{
    const tn_node *node = id ? graph->first : NULL;
    for (uint32_t i = 1; node && i < id; i++) {
        node = node->next;
    }
    return node;
}

static const char *node_name(void *context, uint32_t id)
{
    const tn_node *node = node_at(((const tn_hex_flow *)context)->graph, id);
    return node ? node->name : NULL;
}

// ---- compile ----

// The three runs of bytes side by side; offsets of constants count from the buffer's begin then.
static tn_status lay_out(tn_hex_flow *flow, tn_hex_encoder *e, tn_diag *diag)
{
    const size_t data_at = (e->consts.size + e->nodes.size + 127) / 128 * 128, bytes = data_at + e->data.size;
    flow->consts_bytes = e->consts.size;
    flow->nodes_at = e->consts.size;
    flow->nodes_bytes = e->nodes.size;
    flow->records = tn_hex_buffer_take(flow->link, bytes);
    if (!flow->records) {
        return tn_fail_memory(diag, "hexagon", bytes);
    }
    if (e->consts.size) {
        memcpy(flow->records->data, e->consts.data, e->consts.size);
    }
    if (e->nodes.size) {
        memcpy(flow->records->data + flow->nodes_at, e->nodes.data, e->nodes.size);
    }
    if (e->data.size) {
        memcpy(flow->records->data + data_at, e->data.data, e->data.size);
    }
    for (size_t at = 0; at < flow->consts_bytes;) {
        tn_hex_cursor cursor = {flow->records->data + at, flow->consts_bytes - at, 0};
        (void)tn_hex_get(&cursor);
        const size_t words = tn_hex_get(&cursor);
        tn_hex_cursor offset = {flow->records->data + at + 4 * (words - 2), 4, 0};
        const uint32_t value = tn_hex_get(&offset);
        tn_hex_patch(flow->records->data + at + 4 * (words - 2), value + (uint32_t)data_at);
        at += 4 * words;
    }
    return TN_OK;
}

// The handle of the buffer in every record of a constant: another one after each start of the DSP.
static void set_handles(tn_hex_flow *flow)
{
    for (size_t at = 0; at < flow->consts_bytes;) {
        tn_hex_cursor cursor = {flow->records->data + at, flow->consts_bytes - at, 0};
        (void)tn_hex_get(&cursor);
        const size_t words = tn_hex_get(&cursor);
        tn_hex_patch(flow->records->data + at + 4 * (words - 3), flow->records->handle);
        at += 4 * words;
    }
}

static tn_status give_up(const tn_hex_flow *flow, const tn_hex_call *call, const char *what, tn_diag *diag)
{
    const tn_node *node = node_at(flow->graph, call->results[0]);
    if (call->status == TN_HEX_MEMORY) {
        return tn_fail(diag, TN_OUT_OF_MEMORY, "hexagon", "the DSP has no memory for a sub-graph (%s)", what);
    }
    return tn_fail(diag, TN_DEVICE, node ? node->name : "hexagon", "the DSP refuses the sub-graph in %s: %s, %s (id %u)", what,
                   tn_hex_status_text(call->status), tn_hex_why_text(call->results[1]), call->results[0]);
}

static tn_status send(tn_hex_flow *flow, uint32_t number, const char *what, int n_args, const uint32_t *args, uint32_t *results, tn_diag *diag)
{
    tn_hex_call call = {.call = number, .args = args, .n_args = n_args, .place = "hexagon"};
    TN_TRY(tn_hex_link_call(flow->link, &call, diag));
    if (call.status != TN_HEX_OK) {
        return give_up(flow, &call, what, diag);
    }
    if (results) {
        memcpy(results, call.results, sizeof call.results);
    }
    return TN_OK;
}

tn_status tn_hex_flow_ready(tn_hex_flow *flow, tn_diag *diag)
{
    uint32_t results[TN_HEX_MESSAGE_ARGS] = {0};
    if (flow->session == flow->link->session) {
        return TN_OK;
    }
    TN_TRY(tn_hex_link_map(flow->link, flow->records, diag));
    set_handles(flow);
    TN_TRY(send(flow, TN_HEX_CALL_INIT, "init", 0, NULL, results, diag));
    flow->id = results[0];
    const uint32_t consts[4] = {flow->id, flow->records->handle, 0, (uint32_t)flow->consts_bytes};
    const uint32_t nodes[4] = {flow->id, flow->records->handle, (uint32_t)flow->nodes_at, (uint32_t)flow->nodes_bytes};
    tn_status status = flow->consts_bytes ? send(flow, TN_HEX_CALL_CONSTS, "consts", 4, consts, NULL, diag) : TN_OK;
    status = status == TN_OK ? send(flow, TN_HEX_CALL_NODES, "nodes", 4, nodes, NULL, diag) : status;
    status = status == TN_OK ? send(flow, TN_HEX_CALL_PREPARE, "prepare", 1, &flow->id, results, diag) : status;
    if (status == TN_OK && (results[3] != flow->graph->n_inputs || results[4] != flow->graph->n_outputs)) {
        status = tn_fail(diag, TN_DEVICE, "hexagon", "the DSP counts %u inputs and %u outputs of a sub-graph with %zu and %zu", results[3],
                         results[4], flow->graph->n_inputs, flow->graph->n_outputs);
    }
    if (status != TN_OK) {
        tn_diag ignored = {.status = TN_OK};
        if (flow->link->state) {
            (void)send(flow, TN_HEX_CALL_TEARDOWN, "teardown", 1, &flow->id, NULL, &ignored);
        }
        return status;
    }
    flow->arena_bytes = (size_t)results[0] + results[2];
    flow->session = flow->link->session;
    return TN_OK;
}

void tn_hex_flow_release(tn_hex_flow *flow)
{
    if (!flow) {
        return;
    }
    tn_hex_link *link = flow->link;
    tn_hex_link_lock(link);
    if (flow->session == link->session && tn_hex_link_running(link)) {
        tn_diag ignored = {.status = TN_OK};
        (void)send(flow, TN_HEX_CALL_TEARDOWN, "teardown", 1, &flow->id, NULL, &ignored);
    }
    tn_hex_link_unlock(link);
    tn_hex_buffer_give(link, flow->records);
    tn_hex_buffer_give(link, flow->staging);
    tn_give(link->heap, flow);
}

tn_status tn_hex_flow_make(tn_hex_device *device, const tn_flow_request *request, tn_hex_flow **out)
{
    tn_hex_link *link = device->link;
    tn_status status;
    tn_hex_encoder e;
    *out = NULL;
    tn_hex_flow *flow = tn_take_zero(link->heap, 1, sizeof *flow);
    if (!flow) {
        return tn_fail_memory(request->diag, "hexagon", sizeof *flow);
    }
    flow->base.device = &device->base;
    flow->link = link;
    flow->graph = request->graph;
    flow->session = TN_HEX_NO_SESSION;
    status = tn_hex_encode_init(&e, request->graph, link->heap, request->diag);
    status = status == TN_OK ? tn_hex_encode_graph(&e, request->graph, &device->base.cpu) : status;
    if (status == TN_OK && request->graph->n_inputs + request->graph->n_outputs > TN_HEX_IO_MAX) {
        status = tn_fail(request->diag, TN_LIMIT, "hexagon", "a sub-graph of more than %d inputs and outputs", TN_HEX_IO_MAX);
    }
    status = status == TN_OK ? lay_out(flow, &e, request->diag) : status;
    tn_hex_encode_deinit(&e);
    if (status == TN_OK) {
        tn_hex_link_lock(link);
        status = tn_hex_link_ready(link, request->diag);
        status = status == TN_OK ? tn_hex_flow_ready(flow, request->diag) : status;
        tn_hex_link_unlock(link);
    }
    if (status != TN_OK) {
        tn_hex_flow_release(flow);
        return status;
    }
    *out = flow;
    return TN_OK;
}

// ---- execute ----

// Where tensor `i` (inputs first) is for the DSP; data that it cannot see gets a place in the staging buffer.
typedef struct place {
    tn_hex_buffer *buffer;
    size_t offset, bytes;
} place;

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

static tn_status execute(tn_hex_flow *flow, const tn_flow_run *run)
{
    tn_hex_link *link = flow->link;
    TN_TRY(tn_hex_link_ready(link, run->diag));
    TN_TRY(tn_hex_flow_ready(flow, run->diag));
    TN_TRY(place_tensors(flow, run, false));
    const uint32_t args[3] = {flow->id, (uint32_t)flow->graph->n_inputs, (uint32_t)flow->graph->n_outputs};
    tn_hex_call call = {.call = TN_HEX_CALL_EXECUTE, .args = args, .n_args = 3, .place = flow->graph->first ? flow->graph->first->name : "hexagon",
                        .deadline_ns = run->deadline_ns, .cancel = run->cancel};
    tn_hex_link_names(link, node_name, flow);
    const tn_status status = tn_hex_link_call(link, &call, run->diag);
    tn_hex_link_names(link, NULL, NULL);
    TN_TRY(status);
    if (call.status != TN_HEX_OK) {
        flow->session = TN_HEX_NO_SESSION;
        return give_up(flow, &call, "execute", run->diag);
    }
    flow->dsp_us = call.results[0];
    flow->packets = call.results[1] | (uint64_t)call.results[2] << 32;
    return place_tensors(flow, run, true);
}

tn_status tn_hex_flow_run(tn_hex_flow *flow, const tn_flow_run *run)
{
    TN_TRY(tn_hex_link_lock_until(flow->link, run->deadline_ns, run->cancel, run->diag));
    tn_status status = make_staging(flow, run);
    status = status == TN_OK ? execute(flow, run) : status;
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
    if (buffer && flow->session == link->session && tn_hex_link_running(link) && tn_hex_link_map(link, buffer, &ignored) == TN_OK) {
        const uint32_t args[4] = {flow->id, buffer->handle, 0, (uint32_t)room};
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
