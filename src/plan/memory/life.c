// SPDX-License-Identifier: Apache-2.0
// Planning step 9: leases. Works out between which steps the bytes of each slot are needed, lets results take over the bytes of
// operands that die in the same step, and places what is left in the arena together with the workspaces of the steps.
#include "plan/memory/offsets.h"
#include "plan/work.h"

static int root_of(const tn_plan *plan, int slot) { return slot < 0 ? -1 : plan->slots[slot].root; }

static void touch(tn_plan *plan, int slot, int step)
{
    const int root = root_of(plan, slot);
    if (root >= 0) {
        tn_slot *r = &plan->slots[root];
        r->first = r->first < 0 || step < r->first ? step : r->first;
        r->last = step > r->last ? step : r->last;
    }
}

static void lifetimes(tn_plan *plan)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const tn_step *step = &plan->steps[i];
        for (int k = 0; k < step->call.n_in; k++) {
            touch(plan, step->in[k], (int)i);
        }
        for (int k = 0; k < step->call.n_out; k++) {
            touch(plan, step->out[k], (int)i);
        }
    }
    for (size_t i = 0; i < plan->n_outputs; i++) {
        touch(plan, plan->outputs[i], (int)plan->n_steps);
    }
    for (size_t i = 0; i < plan->n_border; i++) {
        touch(plan, plan->border[i], (int)plan->n_steps);
    }
}

// Result 0 of step `at` may take the bytes of operand k: same size and layout, nobody reads them later, and no other operand of the
// step lies in them.
static bool can_take_over(const tn_plan *plan, const tn_step *step, int at, int k)
{
    const int in = step->in[k], out = step->out[0];
    if (in < 0 || step->call.in[k]->shape.rank < 0) {
        return false;
    }
    const tn_slot *source = &plan->slots[in], *root = &plan->slots[source->root], *result = &plan->slots[out];
    if (root->lease != TN_LEASE_SHARE || root->last != at || root->bytes != result->bytes || source->root_offset != 0 ||
        source->bytes != result->bytes || source->tensor.layout != result->tensor.layout ||
        tn_dtype_bytes(source->tensor.dtype) != tn_dtype_bytes(result->tensor.dtype) ||
        !tn_shape_equal(&source->tensor.shape, &result->tensor.shape)) {
        return false;
    }
    for (int j = 0; j < step->call.n_in; j++) {
        if (j != k && step->in[j] >= 0 && plan->slots[step->in[j]].root == source->root &&
            !(plan->slots[step->in[j]].root_offset == 0 && tn_shape_equal(&plan->slots[step->in[j]].tensor.shape, &source->tensor.shape))) {
            return false;
        }
    }
    return true;
}

// The slots of each root as a list, so that a merge visits only those that change root: looking at all makes long chains quadratic.
typedef struct members {
    int *next;     // by slot: the next one of the same root, -1: none
    int *last;     // by root
} members;

static tn_status list_members(tn_work *work, members *m)
{
    const tn_plan *plan = work->plan;
    m->next = tn_arena_array(&work->scratch, plan->n_slots + 1, sizeof *m->next);
    m->last = tn_arena_array(&work->scratch, plan->n_slots + 1, sizeof *m->last);
    if (!m->next || !m->last) {
        return tn_fail_memory(work->diag, "plan", plan->n_slots * sizeof *m->next);
    }
    for (size_t i = 0; i < plan->n_slots; i++) {
        m->next[i] = -1;
        m->last[i] = (int)i;
    }
    for (size_t i = 0; i < plan->n_slots; i++) {
        const int root = plan->slots[i].root;
        if (root != (int)i) {
            m->next[m->last[root]] = (int)i;
            m->last[root] = (int)i;
        }
    }
    return TN_OK;
}

static void merge(tn_plan *plan, members *m, int into, int slot)
{
    tn_slot *root = &plan->slots[into], *old = &plan->slots[slot];
    root->last = old->last > root->last ? old->last : root->last;
    if (old->lease == TN_LEASE_OUTPUT) {
        root->lease = TN_LEASE_OUTPUT;
        root->index = old->index;
    }
    for (int i = slot; i >= 0; i = m->next[i]) {
        plan->slots[i].root = into;
    }
    m->next[m->last[into]] = slot;
    m->last[into] = m->last[slot];
}

static void take_over(tn_plan *plan, members *m)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const tn_step *step = &plan->steps[i];
        const uint16_t flags = step->call.op->flags;
        if (step->call.n_out < 1 || step->out[0] < 0 || !(flags & (TN_OP_INPLACE | TN_OP_INPLACE_ANY)) || step->kind != TN_STEP_KERNEL) {
            continue;
        }
        const tn_slot *result = &plan->slots[step->out[0]];
        if (result->root != step->out[0] || (result->lease != TN_LEASE_SHARE && result->lease != TN_LEASE_OUTPUT)) {
            continue;
        }
        const int operands = flags & TN_OP_INPLACE_ANY ? step->call.n_in : TN_MIN(step->call.n_in, 1);
        for (int k = 0; k < operands; k++) {
            if (can_take_over(plan, step, (int)i, k)) {
                merge(plan, m, plan->slots[step->in[k]].root, step->out[0]);
                break;
            }
        }
    }
}

static bool round64(size_t bytes, size_t *out) { return tn_align_size(bytes, TN_ALIGNMENT, out); }

// Slots whose address changes from run to run.
static tn_status list_moving(tn_work *work)
{
    tn_plan *plan = work->plan;
    plan->moving = tn_arena_array(&plan->arena, plan->n_slots + 1, sizeof *plan->moving);
    if (!plan->moving) {
        return tn_fail_memory(work->diag, "plan", plan->n_slots * sizeof *plan->moving);
    }
    for (size_t i = 0; i < plan->n_slots; i++) {
        const tn_lease lease = plan->slots[plan->slots[i].root].lease;
        plan->slots[i].lease = lease;
        if (lease == TN_LEASE_INPUT || lease == TN_LEASE_OUTPUT || lease == TN_LEASE_POOL) {
            plan->moving[plan->n_moving++] = (int)i;
        }
    }
    return TN_OK;
}

tn_status tn_plan_memory_assign(tn_work *work)
{
    tn_plan *plan = work->plan;
    lifetimes(plan);
    members m;
    TN_TRY(list_members(work, &m));
    take_over(plan, &m);
    TN_TRY(list_moving(work));
    const size_t room = plan->n_slots + plan->n_steps + 1;
    tn_block *blocks = tn_arena_array(&work->scratch, room, sizeof *blocks);
    int *owner = tn_arena_array(&work->scratch, room, sizeof *owner);
    size_t count = 0;
    if (!blocks || !owner) {
        return tn_fail_memory(work->diag, "plan", room * sizeof *blocks);
    }
    for (size_t i = 0; i < plan->n_slots; i++) {
        const tn_slot *slot = &plan->slots[i];
        if (slot->lease == TN_LEASE_SHARE && slot->root == (int)i && slot->first >= 0 && slot->bytes) {
            blocks[count] = (tn_block){.first = slot->first, .last = slot->last};
            owner[count] = (int)i;
            if (!round64(slot->bytes, &blocks[count++].bytes)) {
                return tn_fail(work->diag, TN_LIMIT, slot->name, "the tensor is too large");
            }
        }
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        if (plan->steps[i].scratch_bytes) {
            blocks[count] = (tn_block){.first = (int)i, .last = (int)i};
            owner[count] = -1 - (int)i;
            if (!round64(plan->steps[i].scratch_bytes, &blocks[count++].bytes)) {
                return tn_fail(work->diag, TN_LIMIT, plan->steps[i].call.name, "the workspace is too large");
            }
        }
    }
    if (!tn_offsets_assign(blocks, count, &plan->memory.arena_bytes, &plan->memory.lower_bound_bytes, work->context->heap)) {
        return tn_fail_memory(work->diag, "plan", count * sizeof *blocks);
    }
    for (size_t i = 0; i < count; i++) {
        if (owner[i] >= 0) {
            plan->slots[owner[i]].offset = blocks[i].offset;
        } else {
            plan->steps[-1 - owner[i]].scratch_offset = blocks[i].offset;
        }
    }
    return TN_OK;
}
