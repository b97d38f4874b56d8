// SPDX-License-Identifier: Apache-2.0
// Light mode: intermediate tensors are taken and given back step by step.
#include "exec/light.h"

// Slots of one root all point into its bytes.
void tn_light_point(tn_plan *plan, int slot)
{
    tn_slot *s = &plan->slots[slot];
    const tn_slot *root = &plan->slots[s->root];
    if (root->lease == TN_LEASE_SHARE) {
        s->tensor.data = root->tensor.data ? (char *)root->tensor.data + s->root_offset : NULL;
    }
}

static tn_status take(tn_plan *plan, int slot, tn_diag *diag)
{
    tn_slot *root = slot < 0 ? NULL : &plan->slots[plan->slots[slot].root];
    if (!root || root->lease != TN_LEASE_SHARE) {
        return TN_OK;
    }
    if (!root->tensor.data) {
        root->tensor.data = tn_take(plan->heap, root->bytes);
        if (!root->tensor.data) {
            return tn_fail_memory(diag, root->name, root->bytes);
        }
    }
    tn_light_point(plan, slot);
    return TN_OK;
}

static void give(tn_plan *plan, int slot, int at)
{
    tn_slot *root = slot < 0 ? NULL : &plan->slots[plan->slots[slot].root];
    if (root && root->lease == TN_LEASE_SHARE && root->last <= at) {
        tn_give(plan->heap, root->tensor.data);
        root->tensor.data = NULL;
        plan->slots[slot].tensor.data = NULL;
    }
}

tn_status tn_light_before(tn_plan *plan, size_t at, tn_diag *diag)
{
    tn_step *step = &plan->steps[at];
    for (int i = 0; i < step->call.n_in; i++) {
        if (step->in[i] >= 0) {
            tn_light_point(plan, step->in[i]);
        }
    }
    for (int i = 0; i < step->call.n_out; i++) {
        TN_TRY(take(plan, step->out[i], diag));
    }
    if (step->scratch_bytes) {
        step->call.scratch = tn_take(plan->heap, step->scratch_bytes);
        if (!step->call.scratch) {
            return tn_fail_memory(diag, step->call.name, step->scratch_bytes);
        }
    }
    return TN_OK;
}

void tn_light_after(tn_plan *plan, size_t at)
{
    tn_step *step = &plan->steps[at];
    for (int i = 0; i < step->call.n_in; i++) {
        give(plan, step->in[i], (int)at);
    }
    for (int i = 0; i < step->call.n_out; i++) {
        give(plan, step->out[i], (int)at);
    }
    tn_give(plan->heap, step->call.scratch);
    step->call.scratch = NULL;
}

void tn_light_end(tn_plan *plan)
{
    for (size_t i = 0; i < plan->n_slots; i++) {
        tn_slot *slot = &plan->slots[i];
        if (slot->lease == TN_LEASE_SHARE) {
            if (slot->root == (int)i) {
                tn_give(plan->heap, slot->tensor.data);
            }
            slot->tensor.data = NULL;
        }
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        tn_give(plan->heap, plan->steps[i].call.scratch);
        plan->steps[i].call.scratch = NULL;
    }
}
