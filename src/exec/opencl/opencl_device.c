// SPDX-License-Identifier: Apache-2.0
// OpenCL as a device for the planner: probing, bidding, and the sub-flows of cl_flow.c.
// Ownership: see device/device.h. Threads: see device/device.h.
#include "exec/opencl/cl_flow.h"
#include "exec/opencl/cl_disk.h"
#include "exec/opencl/rows/cl_rows.h"
#include "exec/opencl/run/cl_border.h"
#include "exec/opencl/run/cl_hints.h"
#include "exec/opencl/run/cl_watch.h"
#include "exec/opencl/tune/cl_search.h"
#include "exec/opencl/tune/cl_table.h"

#include <stdio.h>
#include <string.h>

static tn_status opencl_probe(tn_device_facts *facts)
{
    tn_cl_driver driver;
    tn_diag diag = {.status = TN_OK};
    cl_platform_id platform;
    cl_device_id id;
    const char *reason = "";
    memset(facts, 0, sizeof *facts);
    const bool begun = tn_cl_driver_begin(&reason);
    if (!begun || !tn_cl_driver_open(&driver, &reason)) {
        (void)snprintf(facts->reason, sizeof facts->reason, "%s", reason);
        if (begun) {
            tn_cl_driver_end();
        }
        return TN_OK;
    }
    if (tn_cl_pick(&driver, &platform, &id, &diag) == TN_OK) {
        tn_cl_facts found;
        tn_cl_facts_read(&driver, id, &found);
        (void)snprintf(facts->name, sizeof facts->name, "%.40s, %.20s", found.name, found.driver);
        facts->present = true;
        facts->memory_bytes = found.memory_bytes;
        facts->cores = found.units;
        (void)snprintf(facts->limits, sizeof facts->limits, "images up to %zu x %zu, groups of %zu, %zu KiB local, halves: %s", found.max_width,
                       found.max_height, found.max_group, found.local_bytes / 1024, found.half ? "yes" : "no");
    } else {
        (void)snprintf(facts->reason, sizeof facts->reason, "%.120s", diag.message);
    }
    tn_cl_driver_close(&driver);
    tn_cl_driver_end();
    return TN_OK;
}

static void opencl_close(tn_device *device)
{
    const char *reason;
    // In a forked process the driver's objects stay as they are.
    if (tn_cl_driver_begin(&reason)) {
        tn_cl_context_close((tn_cl_context *)device);
        tn_cl_driver_end();
    }
}

static void opencl_power(tn_device *device, const tn_power *power, tn_power_effect *effect)
{
    tn_cl_hints((tn_cl_context *)device, power, effect);
}

// ---- prices ----

// What the device does in a nanosecond. Units of GPUs are wide; a driver that runs on the CPU is no faster than the CPU.
static double flops_per_ns(const tn_cl_facts *facts) { return facts->is_cpu ? 4.0 * facts->units : 40.0 * facts->units; }
static double bytes_per_ns(const tn_cl_facts *facts) { return facts->is_cpu ? 4.0 : facts->unified ? 20.0 : 400.0; }
static double launch_ns(const tn_cl_facts *facts) { return facts->is_cpu ? 30e3 : 5e3; }

static double tensor_bytes(const tn_query *query)
{
    double sum = 0;
    for (int i = 0; i < query->n_in + query->n_out; i++) {
        const tn_tensor *tensor = i < query->n_in ? query->in[i] : query->out[i - query->n_in];
        size_t bytes = 0;
        sum += tensor && tn_tensor_bytes(tensor, &bytes) ? (double)bytes : 0;
    }
    return sum;
}

static void opencl_bid(tn_device *device, const tn_query *query, tn_bid *bid)
{
    const tn_cl_context *cl = (const tn_cl_context *)device;
    const char *why = "there is no OpenCL kernel for this operator";
    const tn_cl_row *row = tn_cl_row_for(query, &why);
    if (!row || !tn_cl_within(&cl->facts, query, row, &why)) {
        *bid = (tn_bid){.refusal = why};
        return;
    }
    const double compute = 2.0 * (double)tn_query_macs(query) / flops_per_ns(&cl->facts), memory = tensor_bytes(query) / bytes_per_ns(&cl->facts);
    *bid = (tn_bid){.nanoseconds = launch_ns(&cl->facts) + TN_MAX(compute, memory)};
}

// A quarter stays free for what the estimate leaves out: ways of computing that have memory of their own, and what the driver takes.
static uint64_t opencl_need(tn_device *device, const tn_graph *graph, uint64_t *room)
{
    const tn_cl_context *cl = (const tn_cl_context *)device;
    *room = cl->facts.memory_bytes / 4 * 3;
    return tn_cl_flow_bytes(graph, device->heap);
}

static double opencl_transfer(tn_device *device, size_t bytes)
{
    const tn_cl_context *cl = (const tn_cl_context *)device;
    return 10e3 + (double)bytes / (cl->facts.unified ? 8.0 : 5.0);
}

static double opencl_call(tn_device *device)
{
    (void)device;
    return 20e3;
}

// ---- flows ----

static tn_status opencl_compile(tn_device *device, const tn_flow_request *request, tn_flow **out)
{
    tn_cl_flow *flow = NULL;
    const tn_status status = tn_cl_flow_make((tn_cl_context *)device, request, &flow);
    *out = flow ? &flow->base : NULL;
    return status;
}

static tn_status opencl_execute(tn_flow *flow, const tn_flow_run *run)
{
    return tn_cl_watched_run((tn_cl_flow *)flow, run);
}

static void opencl_release(tn_flow *flow) { tn_cl_flow_release((tn_cl_flow *)flow); }
static const char *opencl_remark(const tn_flow *flow) { return ((const tn_cl_flow *)flow)->remark; }
static size_t opencl_memory(const tn_flow *flow) { return ((const tn_cl_flow *)flow)->bytes; }

// One line a node: its last step speaks for it, the time is that of all its steps.
static void opencl_describe(const tn_flow *base, void (*visit)(const tn_flow_node *node, void *context), void *context)
{
    const tn_cl_flow *flow = (const tn_cl_flow *)base;
    for (const tn_node *node = flow->graph->first; node; node = node->next) {
        tn_flow_node line = {.node = node, .kernel = "view", .impl = tn_impl_text(TN_IMPL_OPENCL_BUFFER), .layout_in = "plain",
                             .layout_out = "plain"};
        for (const tn_cl_step *step = flow->first; step; step = step->next) {
            if (step->node == node || step->ahead == node) {
                line.kernel = step->file;
                line.impl = tn_impl_text(step->image && !step->past ? TN_IMPL_OPENCL_IMAGE : TN_IMPL_OPENCL_BUFFER);
                line.layout_in = step->n_args > 0 && step->args[0].mem && step->args[0].mem->grid ? "in_out_channel" : "plain";
                line.layout_out = step->grid_out ? "in_out_channel" : "plain";
                line.precision = flow->watch ? step->halves ? "fp16_pure" : step->half_out ? "fp16" : "fp32" : NULL;
                line.nanoseconds += step->node == node ? step->nanoseconds : 0;
            }
        }
        visit(&line, context);
    }
}

static uint64_t opencl_copied(tn_device *device) { return atomic_load(&((tn_cl_context *)device)->copied); }

static void opencl_native(tn_device *device, void *handles[3])
{
    const tn_cl_context *cl = (const tn_cl_context *)device;
    handles[0] = cl->context;
    handles[1] = cl->id;
    handles[2] = cl->queue;
}

static tn_status opencl_share(tn_device *device, void *host, size_t bytes, void *object, tn_diag *diag)
{
    return tn_cl_share((tn_cl_context *)device, host, bytes, object, diag);
}

static tn_status opencl_sync(tn_device *device, const void *host, bool to_host, tn_diag *diag)
{
    return tn_cl_share_sync((tn_cl_context *)device, host, to_host, diag);
}

static tn_status opencl_tune(tn_flow *base, const tn_tune_request *request)
{
    tn_cl_flow *flow = (tn_cl_flow *)base;
    TN_TRY(tn_cl_search(flow, request));
    return tn_cl_table_save(flow->cl, request->cache, request->diag);
}

static tn_status opencl_open(tn_device **out, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag);

const tn_device_vtable tn_device_opencl = {
    .name = "opencl", .named_only = true, .probe = opencl_probe, .open = opencl_open, .close = opencl_close, .bid = opencl_bid, .need = opencl_need,
    .transfer_cost = opencl_transfer, .call_cost = opencl_call, .compile = opencl_compile, .execute = opencl_execute,
    .release = opencl_release, .describe = opencl_describe, .remark = opencl_remark, .memory = opencl_memory, .has = tn_cl_row_exists,
    .copied = opencl_copied, .native = opencl_native, .share = opencl_share, .sync = opencl_sync, .power = opencl_power, .tune = opencl_tune, .cache_list = tn_cl_disk_list, .cache_prune = tn_cl_disk_prune,
};

static tn_status opencl_open(tn_device **out, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag)
{
    tn_cl_driver driver;
    tn_cl_context *cl = NULL;
    const char *reason = "";
    const bool begun = tn_cl_driver_begin(&reason), opened = begun && tn_cl_driver_open(&driver, &reason);
    const tn_status status = opened ? tn_cl_context_open(&cl, &driver, heap, cpu, diag) :
                                      tn_fail(diag, TN_DEVICE, "opencl", "the device is not present: %s", reason);
    if (begun) {
        tn_cl_driver_end();
    }
    TN_TRY(status);
    cl->base.vtable = &tn_device_opencl;
    *out = &cl->base;
    return TN_OK;
}
