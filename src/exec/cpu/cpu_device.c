// SPDX-License-Identifier: Apache-2.0
// The CPU as a device: always there, takes every node that has a kernel row, no transfers. Its executor is exec/program.c.
#include "device/device.h"
#include "dispatch/registry.h"
#include "exec/cpu/cpu_tables.h"

#include <stdio.h>
#include <string.h>

static tn_status cpu_probe(tn_device_facts *facts)
{
    tn_cpu cpu;
    tn_cpu_detect(&cpu);
    memset(facts, 0, sizeof *facts);
    memcpy(facts->name, cpu.name, sizeof facts->name);
    facts->present = true;
    facts->cores = cpu.cores;
    (void)snprintf(facts->limits, sizeof facts->limits, "caches of %zu KiB, %zu KiB and %zu KiB", cpu.l1d / 1024, cpu.l2 / 1024, cpu.l3 / 1024);
    return TN_OK;
}

static tn_status cpu_open(tn_device **out, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag);

static void cpu_close(tn_device *device)
{
    if (device) {
        tn_give(device->heap, device);
    }
}

typedef struct asking {
    const tn_query *query;
    uint32_t features;
    uint64_t macs;
    bool reference;           // only a reference has been found so far
    tn_bid *bid;
} asking;

// The query in the layouts that the row works in; the plan brings operands there.
typedef struct laid_out {
    tn_query query;
    tn_tensor in[TN_MAX_IN], out;
    const tn_tensor *in_list[TN_MAX_IN], *out_list[TN_MAX_OUT];
} laid_out;

static const tn_query *lay_out(const tn_query *query, const tn_kernel *row, laid_out *l)
{
    if (row->layouts.in == TN_LAYOUT_SAME || query->n_in > TN_MAX_IN || query->n_out < 1 || query->n_out > TN_MAX_OUT || !query->out[0]) {
        return query;
    }
    l->query = *query;
    for (int i = 0; i < query->n_in; i++) {
        l->in_list[i] = query->in[i];
        if (query->in[i] && (i == 0 || (i < 8 && row->layouts.blocked_in >> i & 1))) {
            l->in[i] = *query->in[i];
            l->in[i].layout = (tn_layout)row->layouts.in;
            l->in_list[i] = &l->in[i];
        }
    }
    memcpy((void *)l->out_list, query->out, (size_t)query->n_out * sizeof *query->out);
    l->out = *query->out[0];
    l->out.layout = (tn_layout)row->layouts.out;
    l->out_list[0] = &l->out;
    l->query.in = l->in_list;
    l->query.out = l->out_list;
    return &l->query;
}

// The cheapest row; a reference counts only where there is nothing else, as in the plan.
static bool ask_row(const tn_kernel *row, void *context)
{
    asking *a = context;
    const char *why = NULL;
    const bool reference = row->impl == TN_IMPL_REFERENCE, first = a->bid->refusal != NULL;
    laid_out l;
    const tn_query *query = lay_out(a->query, row, &l);
    if (row->cpu & ~a->features || !tn_kernel_accepts(row, query, a->features, &why)) {
        a->bid->refusal = first && why ? why : a->bid->refusal;
        return true;
    }
    const double cost = tn_kernel_cost(row, query, a->macs);
    if (first || (a->reference && !reference) || (a->reference == reference && cost < a->bid->nanoseconds)) {
        *a->bid = (tn_bid){.nanoseconds = cost};
        a->reference = reference;
    }
    return true;
}

static void cpu_bid(tn_device *device, const tn_query *query, tn_bid *bid)
{
    *bid = (tn_bid){.refusal = "the operator has no kernel"};
    asking a = {.query = query, .features = device->cpu.features, .macs = tn_query_macs(query), .bid = bid};
    tn_registry_visit(query->op, ask_row, &a);
}

static double cpu_transfer(tn_device *device, size_t bytes)
{
    (void)device;
    (void)bytes;
    return 0;
}

const tn_device_vtable tn_device_cpu = {.name = "cpu", .probe = cpu_probe, .open = cpu_open, .close = cpu_close,
                                        .bid = cpu_bid, .transfer_cost = cpu_transfer,
                                        .cache_list = tn_cpu_tables_list, .cache_prune = tn_cpu_tables_prune};

static tn_status cpu_open(tn_device **out, tn_heap *heap, const tn_cpu *cpu, tn_diag *diag)
{
    *out = tn_take_zero(heap, 1, sizeof **out);
    if (!*out) {
        return tn_fail_memory(diag, "cpu", sizeof **out);
    }
    **out = (tn_device){.vtable = &tn_device_cpu, .heap = heap, .cpu = *cpu};
    return TN_OK;
}
