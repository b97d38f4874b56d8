// SPDX-License-Identifier: Apache-2.0
// The Hexagon DSP as a device for the planner: bids for what it computes with the CPU's bits, sub-flows of hex_flow.c, memory that both
// sides see.
// Ownership: see device/device.h. Threads: see device/device.h.
#include "base/macros.h"
#include "exec/hexagon/disk/hex_disk.h"
#include "exec/hexagon/hex_encode.h"
#include "exec/hexagon/hex_flow.h"
#include "exec/hexagon/share/hex_share.h"
#include "sys/clock.h"

#include <stdio.h>
#include <string.h>

#define CALL_NS 30e3          // of one call, without the work

static tn_status hexagon_probe(tn_device_facts *facts)
{
    const tn_hex_options options = {.threads = 0};
    tn_hex_link *link = NULL;
    tn_diag diag = {.status = TN_OK};
    memset(facts, 0, sizeof *facts);
    if (tn_hex_share_take(&link, tn_hex_transport_choose(), &options, &diag) != TN_OK || tn_hex_link_wake(link, 0, &diag) != TN_OK) {
        (void)snprintf(facts->reason, sizeof facts->reason, "%.120s", diag.message);
        tn_hex_share_give(link);
        return TN_OK;
    }
    (void)snprintf(facts->name, sizeof facts->name, "Hexagon v%u, HVX %u bytes, by %s", link->hello.arch, link->hello.hvx_bytes,
                   link->transport->name);
    facts->present = true;
    facts->cores = link->hello.threads;
    char under[80] = "";
    if (link->transport->describe) {
        link->transport->describe(under, sizeof under);
    }
    (void)snprintf(facts->limits, sizeof facts->limits, "protocol %u, program %u, %u operators, VTCM %u KiB%s%s", link->hello.protocol,
                   link->hello.version, link->hello.n_ops, link->hello.vtcm_bytes / 1024, under[0] ? ", under " : "", under);
    tn_hex_share_give(link);
    return TN_OK;
}

static void hexagon_close(tn_device *device)
{
    tn_hex_device *hexagon = (tn_hex_device *)device;
    tn_hex_share_give(hexagon->link);
    tn_give(device->heap, hexagon);
}

// ---- prices ----

static void hexagon_bid(tn_device *device, const tn_query *query, tn_bid *bid)
{
    const char *why;
    const tn_hex_row *row = tn_hex_row_for(query, &why);
    (void)device;
    if (!row) {
        *bid = (tn_bid){.refusal = why};
        return;
    }
    const double work = (double)tn_query_macs(query) / row->macs_per_ns, elements = (double)tn_tensor_count(query->out[0]) * row->element_ns;
    *bid = (tn_bid){.nanoseconds = 500.0 + work + elements};
}

// Tensors lie where both see them; the price stands for caches that are cleaned.
static double hexagon_transfer(tn_device *device, size_t bytes)
{
    (void)device;
    return 500.0 + (double)bytes * 0.05;
}

static double hexagon_call(tn_device *device)
{
    (void)device;
    return CALL_NS;
}

// ---- flows ----

static tn_status hexagon_compile(tn_device *device, const tn_flow_request *request, tn_flow **out)
{
    tn_hex_flow *flow = NULL;
    const tn_status status = tn_hex_flow_make((tn_hex_device *)device, request, &flow);
    *out = flow ? &flow->base : NULL;
    return status;
}

static tn_status hexagon_execute(tn_flow *flow, const tn_flow_run *run) { return tn_hex_flow_run((tn_hex_flow *)flow, run); }
static void hexagon_release(tn_flow *flow) { tn_hex_flow_release((tn_hex_flow *)flow); }

static void hexagon_describe(const tn_flow *flow, void (*visit)(const tn_flow_node *node, void *context), void *context)
{
    tn_hex_flow_describe((const tn_hex_flow *)flow, visit, context);
}

static size_t hexagon_memory(const tn_flow *base)
{
    return ((const tn_hex_flow *)base)->held;
}

static tn_status hexagon_revive(tn_device *device, uint64_t deadline_ns, tn_diag *diag)
{
    tn_hex_link *link = ((tn_hex_device *)device)->link;
    const tn_status status = tn_hex_link_wake(link, deadline_ns, diag);
    if (status == TN_DEADLINE && !deadline_ns) {
        tn_diag_clear(diag);
        return tn_fail(diag, TN_DEVICE, "hexagon", "the DSP could not be had within %u ms: its program has not started, or others' runs keep it busy",
                       (unsigned)(link->patience_ns / 1000000u));
    }
    return status;
}

// ---- memory and power ----

static void *hexagon_take(tn_device *device, size_t bytes)
{
    tn_hex_buffer *buffer = tn_hex_buffer_take(((tn_hex_device *)device)->link, bytes);
    return buffer ? buffer->data : NULL;
}

static void hexagon_give(tn_device *device, void *block)
{
    tn_hex_link *link = ((tn_hex_device *)device)->link;
    tn_hex_buffer_give(link, tn_hex_buffer_find(link, block, 1));     // of no byte, the one that ends here would do as well
}

static uint64_t hexagon_copied(tn_device *device) { return atomic_load(&((tn_hex_device *)device)->copied); }

// Each session's runs are made with its own wishes; here is found out whether the DSP follows them.
static void hexagon_power(tn_device *device, const tn_power *power, tn_power_effect *effect)
{
    tn_hex_device *hexagon = (tn_hex_device *)device;
    tn_hex_link *link = hexagon->link;
    tn_diag ignored = {.status = TN_OK};
    if (!power->dsp_level && !power->dsp_dcvs && !power->dsp_latency_us) {
        return;
    }
    hexagon->power = (tn_hex_power){.wished = true, .level = (uint32_t)power->dsp_level * 20, .corner = (uint32_t)power->dsp_level,
                                    .dcvs = power->dsp_dcvs != 1, .latency_us = (uint32_t)power->dsp_latency_us};
    bool runs = false, told = false;
    if (tn_hex_link_lock_until(link, tn_clock_ns() + link->patience_ns, NULL, &ignored) == TN_OK) {
        runs = link->greeted && tn_hex_link_running(link);
        told = runs && tn_hex_link_power(link, &hexagon->power, &ignored) == TN_OK;
        tn_hex_link_unlock(link);
    }
    const tn_power_fate fate = {.applied = told, .why = told ? NULL : runs ? "the DSP refuses it" : "the DSP does not run"};
    effect->dsp_level = effect->dsp_dcvs = effect->dsp_latency_us = fate;
}

static tn_status hexagon_open(tn_device **out, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag);

const tn_device_vtable tn_device_hexagon = {
    .name = "hexagon", .integers = true, .named_only = true, .probe_opens = true, .holds = true, .probe = hexagon_probe, .open = hexagon_open,
    .close = hexagon_close, .bid = hexagon_bid, .transfer_cost = hexagon_transfer, .call_cost = hexagon_call, .compile = hexagon_compile,
    .execute = hexagon_execute, .release = hexagon_release, .revive = hexagon_revive, .describe = hexagon_describe, .memory = hexagon_memory, .take = hexagon_take,
    .has = tn_hex_has_row, .give = hexagon_give, .copied = hexagon_copied, .cache_list = tn_hex_disk_list, .cache_prune = tn_hex_disk_prune, .power = hexagon_power,
};

tn_status tn_hex_device_open(tn_device **out, tn_heap *heap, const tn_cpu *cpu, const tn_hex_options *options, tn_diag *diag)
{
    tn_hex_device *device = tn_take_zero(heap, 1, sizeof *device);
    *out = NULL;
    if (!device) {
        return tn_fail_memory(diag, "hexagon", sizeof *device);
    }
    device->base = (tn_device){.vtable = &tn_device_hexagon, .heap = heap, .cpu = *cpu};
    const tn_status status = tn_hex_share_take(&device->link, tn_hex_transport_choose(), options, diag);
    if (status != TN_OK) {
        tn_give(heap, device);
        return status;
    }
    *out = &device->base;
    return TN_OK;
}

static tn_status hexagon_open(tn_device **out, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag)
{
    const tn_hex_options options = {.threads = (uint32_t)TN_MIN(cpu->cores, 4u)};
    return tn_hex_device_open(out, heap, cpu, &options, diag);
}
