// SPDX-License-Identifier: Apache-2.0
// Planning steps 4 and 5: devices bid on nodes and the cheapest sum of work and transfers wins; what the winner has no kernel for is
// taken apart by the operator's lowering. The last device is the CPU: it takes everything no one bids for.
#include "plan/work.h"

#include <string.h>

static tn_status bid(tn_work *work, const tn_node *node, tn_device *device, tn_bid *out)
{
    tn_tensor tensors[TN_MAX_IN + TN_MAX_OUT];
    const tn_tensor *pointers[TN_MAX_IN + TN_MAX_OUT];
    tn_query query;
    *out = (tn_bid){.refusal = "too many operands"};
    if (node->n_in <= TN_MAX_IN && node->n_out <= TN_MAX_OUT) {
        tn_work_query(work, node, TN_LAYOUT_PLAIN, TN_LAYOUT_PLAIN, NULL, &query, tensors, pointers);
        device->vtable->bid(device, &query, out);
    }
    return TN_OK;
}

// The price of bringing to `device` the operands that lie on another one.
static double transfer(tn_work *work, const tn_node *node, tn_device *device)
{
    double sum = 0;
    for (int i = 0; i < node->n_in; i++) {
        const tn_value *in = node->in[i];
        const char *from = in && in->producer ? work->device[in->producer->id] : "cpu";
        size_t bytes = 0;
        const tn_fact *fact = in ? tn_work_fact(work, in) : NULL;
        const tn_tensor tensor = fact ? (tn_tensor){.dtype = fact->dtype, .shape = fact->shape} : (tn_tensor){0};
        if (in && !in->constant && strcmp(from, device->vtable->name) != 0 && tn_tensor_bytes(&tensor, &bytes)) {
            sum += device->vtable->transfer_cost(device, bytes);
        }
    }
    return sum;
}

tn_status tn_plan_place(tn_work *work)
{
    work->device = tn_arena_array(&work->scratch, work->graph->next_node + 1, sizeof *work->device);
    if (!work->device) {
        return tn_fail_memory(work->diag, "plan", work->graph->next_node * sizeof *work->device);
    }
    for (tn_node *node = work->graph->first; node; node = node->next) {
        const size_t last = work->context->n_devices - 1;
        double best = 1e300;
        work->device[node->id] = work->context->devices[last]->vtable->name;
        for (size_t d = 0; d < last && !(node->op->flags & TN_OP_CONTROL); d++) {
            tn_bid offer;
            TN_TRY(bid(work, node, work->context->devices[d], &offer));
            const double sum = offer.nanoseconds + transfer(work, node, work->context->devices[d]);
            if (!offer.refusal && sum < best) {
                best = sum;
                work->device[node->id] = work->context->devices[d]->vtable->name;
            }
        }
    }
    return TN_OK;
}

tn_status tn_plan_lower(tn_work *work)
{
    bool lowered = false;
    for (tn_node *node = work->graph->first, *next; node; node = next) {
        next = node->next;
        tn_choice choices[TN_MAX_CHOICES];
        bool done = false;
        if (!node->op->lower || node->op->flags & TN_OP_CONTROL || tn_work_choices(work, node, choices) > 0) {
            continue;
        }
        TN_TRY(node->op->lower(work->graph, node, &done, work->diag));
        lowered = lowered || done;
    }
    return lowered ? tn_plan_shapes(work) : TN_OK;
}
