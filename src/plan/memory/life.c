// SPDX-License-Identifier: Apache-2.0
// Planning step 10: leases. Works out between which steps the bytes of each slot are needed, lets results take over the bytes of
// operands that die in the same step, lets what is only joined be made where the joined tensor has it, and places what is left in the
// arena together with the workspaces of the steps.
#include "ops/move/op_copy.h"
#include "plan/memory/offsets.h"
#include "plan/work.h"

#include <string.h>

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

// ---- joins ----

// What is live at each step, to see that a join in place does not raise the peak.
typedef struct live {
    size_t *bytes;      // by step
    size_t peak;
    int *maker;         // by slot: the step that makes it; -1: none
} live;

static size_t rounded(size_t bytes) { return (bytes + TN_ALIGNMENT - 1) / TN_ALIGNMENT * TN_ALIGNMENT; }

// What a root takes of the arena.
static size_t in_arena(const tn_slot *root) { return root->lease == TN_LEASE_SHARE ? rounded(root->bytes) : 0; }

static tn_status weigh(tn_work *work, live *l)
{
    const tn_plan *plan = work->plan;
    l->bytes = tn_arena_array(&work->scratch, plan->n_steps + 1, sizeof *l->bytes);
    l->maker = tn_arena_array(&work->scratch, plan->n_slots + 1, sizeof *l->maker);
    if (!l->bytes || !l->maker) {
        return tn_fail_memory(work->diag, "plan", plan->n_steps * sizeof *l->bytes);
    }
    memset(l->maker, -1, plan->n_slots * sizeof *l->maker);
    // Differences first: what begins and what ends at a step.
    for (size_t i = 0; i < plan->n_slots; i++) {
        const tn_slot *slot = &plan->slots[i];
        if (slot->lease == TN_LEASE_SHARE && slot->root == (int)i && slot->first >= 0) {
            l->bytes[slot->first] += rounded(slot->bytes);
            if ((size_t)slot->last < plan->n_steps) {
                l->bytes[slot->last + 1] -= rounded(slot->bytes);
            }
        }
    }
    for (size_t i = 0; i < plan->n_steps; i++) {
        l->bytes[i + 1] += l->bytes[i];
        for (int k = 0; k < plan->steps[i].call.n_out; k++) {
            if (plan->steps[i].out[k] >= 0) {
                l->maker[plan->steps[i].out[k]] = (int)i;
            }
        }
    }
    for (size_t i = 0; i <= plan->n_steps; i++) {
        l->bytes[i] += i < plan->n_steps ? rounded(plan->steps[i].scratch_bytes) : 0;
        l->peak = TN_MAX(l->peak, l->bytes[i]);
    }
    return TN_OK;
}

// Where the joined tensor has operand k as one run of bytes. In blocks of channels these must begin and end a block.
static bool place_in_join(const tn_plan *plan, const tn_step *step, int k, size_t *offset)
{
    const tn_regions *regions = ((const tn_copy_attr *)step->node->attr)->regions;
    const tn_slot *part = &plan->slots[step->in[k]], *whole = &plan->slots[step->out[0]];
    const tn_shape *shape = &part->tensor.shape;
    const int64_t count = tn_tensor_count(&part->tensor), total = tn_tensor_count(&whole->tensor);
    if (part->tensor.layout != whole->tensor.layout || part->tensor.dtype != whole->tensor.dtype || part->tensor.dtype == TN_STRING || count == 0) {
        return false;
    }
    int64_t at = -1, unit = TN_MAX(1, tn_layout_block(whole->tensor.layout));
    for (int i = 0; i < regions->count; i++) {
        tn_region r = regions->regions[i];
        if (r.source != k) {
            continue;
        }
        tn_region_simplify(&r);
        const bool dense = r.rank == 0 ? count == 1 : r.rank == 1 && r.sizes[0] == count && r.src_strides[0] == 1 && r.dst_strides[0] == 1;
        if (at >= 0 || !dense || r.src_offset != 0) {
            return false;
        }
        at = r.dst_offset;
    }
    for (int d = 2; unit > 1 && d < shape->rank; d++) {
        unit *= shape->dims[d];
    }
    if (at < 0 || (unit > 1 && shape->dims[0] != 1) || at % unit != 0 || (count % unit != 0 && at + count != total)) {
        return false;
    }
    *offset = (size_t)at * tn_tensor_unit(&whole->tensor);
    // Kernels may store past the caches, by whole vectors; blocks begin at one anyway.
    return *offset + part->bytes <= whole->bytes && (unit > 1 || *offset % TN_ALIGNMENT == 0);
}

// The bytes of an operand may become a part of the result's: a step made them, the join is the last to read them, nothing else is in them.
static bool can_join(const tn_plan *plan, const members *m, const live *l, int at, int slot)
{
    const tn_slot *part = &plan->slots[slot], *root = &plan->slots[part->root];
    if (root->lease != TN_LEASE_SHARE || root->last != at || part->root_offset != 0 || root->bytes != part->bytes) {
        return false;
    }
    for (int i = part->root; i >= 0; i = m->next[i]) {
        const int maker = l->maker[i];
        if ((maker < 0 && plan->slots[i].root == i) ||
            (maker >= 0 && (plan->steps[maker].kind != TN_STEP_KERNEL || plan->steps[maker].dynamic))) {
            return false;
        }
    }
    return true;
}

// The join of step `at` needs no step: all its operands are made in its result. offsets: room for each operand.
static bool joins_in_place(const tn_plan *plan, const members *m, const live *l, int at, size_t *offsets)
{
    const tn_step *step = &plan->steps[at];
    if (step->kind != TN_STEP_KERNEL || step->dynamic || step->call.op != &tn_op_copy || step->call.n_in < 2 || step->call.n_out != 1 ||
        step->out[0] < 0) {
        return false;
    }
    const tn_slot *whole = &plan->slots[step->out[0]];
    const tn_regions *regions = ((const tn_copy_attr *)step->node->attr)->regions;
    if (whole->root != step->out[0] || (whole->lease != TN_LEASE_SHARE && whole->lease != TN_LEASE_OUTPUT) ||
        regions->count != step->call.n_in) {
        return false;
    }
    int first = at;
    for (int k = 0; k < step->call.n_in; k++) {
        if (step->in[k] < 0 || !place_in_join(plan, step, k, &offsets[k]) || !can_join(plan, m, l, at, step->in[k])) {
            return false;
        }
        for (int j = 0; j < k; j++) {
            if (plan->slots[step->in[j]].root == plan->slots[step->in[k]].root) {
                return false;
            }
        }
        first = TN_MIN(first, plan->slots[plan->slots[step->in[k]].root].first);
    }
    // All of the result is live from the first operand on, instead of the operands that are there by then.
    for (int i = first; i < at; i++) {
        size_t there = 0;
        for (int k = 0; k < step->call.n_in; k++) {
            const tn_slot *root = &plan->slots[plan->slots[step->in[k]].root];
            there += root->first <= i ? rounded(root->bytes) : 0;
        }
        if (l->bytes[i] - there + in_arena(whole) > l->peak) {
            return false;
        }
    }
    return true;
}

static void join(tn_plan *plan, members *m, live *l, int at, const size_t *offsets)
{
    tn_step *step = &plan->steps[at];
    const int into = step->out[0];
    tn_slot *whole = &plan->slots[into];
    const size_t before = in_arena(whole);
    for (int k = 0; k < step->call.n_in; k++) {
        const int slot = plan->slots[step->in[k]].root;
        tn_slot *root = &plan->slots[slot];
        for (int i = root->first; i <= at; i++) {
            l->bytes[i] -= rounded(root->bytes);
        }
        for (int i = whole->first - 1; i >= root->first; i--) {
            l->bytes[i] += before;
        }
        whole->first = TN_MIN(whole->first, root->first);
        for (int i = slot; i >= 0; i = m->next[i]) {
            plan->slots[i].root = into;
            plan->slots[i].root_offset += offsets[k];
        }
        m->next[m->last[into]] = slot;
        m->last[into] = m->last[slot];
    }
    step->call.op = NULL;   // no step any more: compact
}

// Takes out the steps that joins were.
static tn_status compact(tn_work *work)
{
    tn_plan *plan = work->plan;
    int *number = tn_arena_array(&work->scratch, plan->n_steps + 1, sizeof *number);
    if (!number) {
        return tn_fail_memory(work->diag, "plan", plan->n_steps * sizeof *number);
    }
    size_t kept = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        number[i] = (int)kept;
        if (plan->steps[i].call.op) {
            plan->steps[kept++] = plan->steps[i];
        }
    }
    number[plan->n_steps] = (int)kept;
    for (size_t i = 0; i < plan->n_slots; i++) {
        tn_slot *slot = &plan->slots[i];
        slot->first = slot->first < 0 ? slot->first : number[slot->first];
        slot->last = slot->last < 0 ? slot->last : number[slot->last];
    }
    plan->n_steps = kept;
    return TN_OK;
}

static tn_status join_in_place(tn_work *work, members *m)
{
    tn_plan *plan = work->plan;
    live l = {0};
    TN_TRY(weigh(work, &l));
    size_t joins = 0;
    for (size_t i = 0; i < plan->n_steps; i++) {
        size_t *offsets = tn_arena_array(&work->scratch, (size_t)plan->steps[i].call.n_in + 1, sizeof *offsets);
        if (!offsets) {
            return tn_fail_memory(work->diag, "plan", sizeof *offsets);
        }
        if (joins_in_place(plan, m, &l, (int)i, offsets)) {
            join(plan, m, &l, (int)i, offsets);
            joins++;
        }
    }
    return joins > 0 ? compact(work) : TN_OK;
}

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
    TN_TRY(join_in_place(work, &m));
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
