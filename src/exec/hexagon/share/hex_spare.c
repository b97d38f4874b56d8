// SPDX-License-Identifier: Apache-2.0
// The spare program (hex_spare.h). Its answers are trusted no more than those of the one that runs; where one is not as it should be, or does
// not come, there is no spare any more. Records and weights may be changed by a program gone wild after the spare has read them: what it has
// of a part is believed when the bytes are found to be what they were (tn_hex_part_prove).
// Ownership: see hex_spare.h. Threads: see hex_spare.h.
#include "exec/hexagon/share/hex_spare.h"

#include "exec/hexagon/hex_link.h"
#include "exec/hexagon/hex_part.h"
#include "sys/clock.h"

#include <string.h>
#include <unistd.h>

#define ANSWER_NS 20000000000u      // for a spare to start, or to answer

// ---- life ----

static void forget_copies(tn_hex_spare *spare, tn_heap *heap)
{
    while (spare->copies) {
        tn_hex_copy *copy = spare->copies;
        spare->copies = copy->next;
        if (copy->part) {
            copy->part->copy = NULL;
        }
        tn_give(heap, copy);
    }
    spare->at = NULL;
    spare->adopted = false;
}

void tn_hex_spare_drop(tn_hex_link *link)
{
    tn_hex_spare *spare = &link->spare;
    if (spare->state) {
        spare->transport->stop(spare->state, false);
    }
    forget_copies(spare, link->heap);
    spare->state = NULL;
    spare->listens = spare->idle = false;
    spare->late = (tn_hex_late){.waiting = false};
}

static void give_up(tn_hex_link *link)
{
    tn_hex_spare_drop(link);
    link->spare.off = link->spare.idle = true;
}

void tn_hex_spare_close(tn_hex_link *link)
{
    tn_hex_spare *spare = &link->spare;
    if (link->owner == getpid()) {
        tn_hex_spare_drop(link);
    }
    forget_copies(spare, link->heap);
    tn_hex_page_give(spare->page, spare->page_fd);
    spare->page = NULL;
    spare->off = spare->idle = true;
}

static void start(tn_hex_link *link)
{
    tn_hex_spare *spare = &link->spare;
    tn_diag ignored = {.status = TN_OK};
    if ((!spare->page && !tn_hex_page_take(&spare->page, &spare->page_fd)) ||
        tn_hex_link_launch(link, spare->page, spare->page_fd, &spare->state, &ignored) != TN_OK) {
        spare->state = NULL;
        give_up(link);
        return;
    }
    spare->transport = link->transport;
    spare->sequence = 0;
    spare->session = ++link->programs;
    spare->started_ns = tn_clock_ns();
}

// ---- calls ----

static void post(tn_hex_link *link, tn_hex_copy *copy, uint32_t call, int n_args, const uint32_t *args)
{
    tn_hex_spare *spare = &link->spare;
    spare->at = copy;
    spare->late = (tn_hex_late){.waiting = true, .sequence = ++spare->sequence, .call = call, .n_args = (uint32_t)n_args, .begin_ns = tn_clock_ns(),
                                .session = spare->session};
    if (n_args) {
        memcpy(spare->late.args, args, (size_t)n_args * sizeof *args);
    }
    tn_hex_page_post(spare->page, spare->sequence, call, args, n_args);
}

static void post_map(tn_hex_link *link, tn_hex_copy *copy, const tn_hex_buffer *buffer)
{
    tn_hex_spare *spare = &link->spare;
    const uint32_t bytes = (uint32_t)buffer->bytes;
    if (spare->transport->send_fd(spare->state, buffer->fd, buffer->data, buffer->bytes) != TN_OK) {
        give_up(link);
        return;
    }
    post(link, copy, TN_HEX_CALL_MAP, 1, &bytes);
}

// The next call for a copy that is not whole yet.
static void go_on(tn_hex_link *link, tn_hex_copy *copy)
{
    const tn_hex_part *part = copy->part;
    const uint32_t consts[4] = {copy->id, copy->records, 0, (uint32_t)part->consts_bytes};
    const uint32_t nodes[4] = {copy->id, copy->records, (uint32_t)part->nodes_at, (uint32_t)part->nodes_bytes};
    const uint32_t pack[4] = {copy->id, copy->packed, 0, 1};
    if (!copy->records) {
        post_map(link, copy, part->records);
        return;
    }
    if (copy->step == TN_HEX_STEP_MADE && !part->consts_bytes) {
        copy->step = TN_HEX_STEP_HAS_CONSTS;
    }
    switch (copy->step) {
    case TN_HEX_STEP_NONE: post(link, copy, TN_HEX_CALL_INIT, 0, NULL); break;
    case TN_HEX_STEP_MADE: post(link, copy, TN_HEX_CALL_CONSTS, 4, consts); break;
    case TN_HEX_STEP_HAS_CONSTS: post(link, copy, TN_HEX_CALL_NODES, 4, nodes); break;
    case TN_HEX_STEP_HAS_NODES: post(link, copy, TN_HEX_CALL_PREPARE, 1, &copy->id); break;
    default:
        if (!copy->packed) {
            post_map(link, copy, part->packed);
        } else {
            copy->packing = true;
            post(link, copy, TN_HEX_CALL_PACK, 4, pack);
        }
    }
}

// The next call that makes the spare forget a copy; false: it has nothing of it.
static bool take_back(tn_hex_copy *copy, uint32_t *call, uint32_t *arg)
{
    uint32_t *handle = copy->packed ? &copy->packed : &copy->records;
    if (copy->step != TN_HEX_STEP_NONE) {
        *call = TN_HEX_CALL_TEARDOWN;
        *arg = copy->id;
        copy->step = TN_HEX_STEP_NONE;
        return true;
    }
    *call = TN_HEX_CALL_UNMAP;
    *arg = *handle;
    *handle = 0;
    return *arg != 0;
}

static void remove_copy(tn_hex_spare *spare, tn_heap *heap, tn_hex_copy *copy)
{
    tn_hex_copy **at = &spare->copies;
    while (*at != copy) {
        at = &(*at)->next;
    }
    *at = copy->next;
    tn_give(heap, copy);
}

// What an answer says of the copy that it is about; false: it is not what it should be.
static bool settle(tn_hex_copy *copy, uint32_t call, const uint32_t *answer)
{
    const uint32_t *result = answer + TN_HEX_MSG_ARG;
    if (answer[TN_HEX_MSG_STATUS] != TN_HEX_OK) {
        return false;
    }
    switch (call) {
    case TN_HEX_CALL_MAP: *(copy->records ? &copy->packed : &copy->records) = result[0]; return result[0] != 0;
    case TN_HEX_CALL_INIT:
        copy->id = result[0];
        copy->step = TN_HEX_STEP_MADE;
        return true;
    case TN_HEX_CALL_CONSTS: copy->step = TN_HEX_STEP_HAS_CONSTS; return true;
    case TN_HEX_CALL_NODES: copy->step = TN_HEX_STEP_HAS_NODES; return true;
    case TN_HEX_CALL_PREPARE:
        copy->step = TN_HEX_STEP_PREPARED;
        return !copy->part || result[5] == copy->part->packed_bytes;
    case TN_HEX_CALL_PACK:
        copy->packing = result[1] != 0;
        copy->step = copy->packing ? TN_HEX_STEP_PREPARED : TN_HEX_STEP_READY;
        return result[0] == 0;
    default: return true;
    }
}

// ---- pump ----

// A copy of the first part that the program has and the spare has nothing of; NULL: there is none, or no memory.
static tn_hex_copy *begin_copy(tn_hex_link *link)
{
    tn_hex_part *part = link->parts;
    while (part && (part->copy || !tn_hex_part_kept(part))) {
        part = part->next;
    }
    tn_hex_copy *copy = part ? tn_take_zero(link->heap, 1, sizeof *copy) : NULL;
    if (copy) {
        copy->part = part;
        copy->next = link->spare.copies;
        link->spare.copies = part->copy = copy;
    }
    return copy;
}

static void next_call(tn_hex_link *link)
{
    tn_hex_spare *spare = &link->spare;
    tn_hex_copy *copy = spare->copies;
    uint32_t call, arg;
    while (copy && copy->part && copy->step == TN_HEX_STEP_READY) {
        copy = copy->next;
    }
    copy = copy ? copy : begin_copy(link);
    if (!copy) {
        spare->idle = true;
    } else if (copy->part) {
        go_on(link, copy);
    } else if (take_back(copy, &call, &arg)) {
        post(link, copy, call, 1, &arg);
    } else {
        remove_copy(spare, link->heap, copy);
    }
}

// Whether it has said what it was to say; it is given up where it is dead or takes too long.
static bool heard(tn_hex_link *link, bool said, uint64_t since)
{
    char how[64];
    if (!said && (tn_clock_ns() - since > ANSWER_NS || !link->spare.transport->alive(link->spare.state, how, sizeof how))) {
        give_up(link);
    }
    return said;
}

void tn_hex_spare_pump(tn_hex_link *link)
{
    tn_hex_spare *spare = &link->spare;
    uint32_t answer[TN_HEX_MESSAGE_WORDS];
    if (spare->idle || spare->off || spare->adopted || spare->frugal || link->owner != getpid()) {
        return;
    }
    if (!spare->state) {
        const tn_hex_part *part = link->parts;
        while (part && !tn_hex_part_kept(part)) {
            part = part->next;
        }
        if (!part || !link->transport->spares) {
            spare->idle = true;       // until there is something to be ready for
        } else {
            start(link);
        }
        return;
    }
    if (!spare->listens) {
        spare->listens = heard(link, tn_hex_page_load(spare->page, TN_HEX_AT_ALIVE, TN_HEX_ALIVE_READY) == 1, spare->started_ns);
        if (!spare->listens) {
            return;
        }
    }
    if (spare->late.waiting) {
        if (!heard(link, tn_hex_page_load(spare->page, TN_HEX_AT_RSP_SEQ, 0) == spare->late.sequence, spare->late.begin_ns)) {
            return;
        }
        for (int i = 0; i < TN_HEX_MESSAGE_WORDS; i++) {
            answer[i] = tn_hex_page_load(spare->page, TN_HEX_AT_RESPONSE, i);
        }
        spare->late.waiting = false;
        if (!settle(spare->at, spare->late.call, answer)) {
            give_up(link);
            return;
        }
    }
    next_call(link);
}

void tn_hex_spare_forget(tn_hex_part *part)
{
    if (part && part->copy) {
        part->copy->part = NULL;
        part->copy = NULL;
        part->link->spare.idle = false;
    }
}

// ---- taking over ----

bool tn_hex_spare_take(tn_hex_link *link)
{
    tn_hex_spare *spare = &link->spare;
    char how[64];
    if (spare->state && (spare->transport != link->transport || !spare->transport->alive(spare->state, how, sizeof how))) {
        tn_hex_spare_drop(link);
    }
    spare->idle = spare->off;
    if (!spare->state) {
        return false;
    }
    uint8_t *page = link->page;
    const int page_fd = link->page_fd;
    link->page = spare->page;
    link->page_fd = spare->page_fd;
    spare->page = page;
    spare->page_fd = page_fd;
    link->state = spare->state;
    link->sequence = spare->sequence;
    link->session = spare->session;
    link->started_ns = spare->started_ns;
    link->late = spare->late;
    tn_hex_log_begin(link);
    spare->state = NULL;
    spare->listens = false;
    spare->late.waiting = false;
    spare->adopted = true;
    return true;
}

static void hand_buffer(const tn_hex_link *link, tn_hex_buffer *buffer, uint32_t handle, bool pinned)
{
    if (handle) {
        buffer->handle = handle;
        buffer->session = link->session;
        buffer->pinned = pinned;
    }
}

tn_status tn_hex_spare_install(tn_hex_link *link, tn_diag *diag)
{
    tn_hex_spare *spare = &link->spare;
    const uint64_t deadline = link->deadline_ns;
    const atomic_int *cancel = link->cancel;
    tn_status status = TN_OK;
    if (spare->at && link->late.answered && !settle(spare->at, link->late.call, link->late.answer)) {
        tn_hex_spare_forget(spare->at->part);
    }
    link->late.answered = false;
    spare->at = NULL;
    tn_hex_link_limit(link, 0, NULL);      // short calls, where there are any
    while (spare->copies && status == TN_OK) {
        tn_hex_copy *copy = spare->copies;
        tn_hex_part *part = copy->part;
        uint32_t arg;
        tn_hex_call call = {.args = &arg, .n_args = 1, .place = "hexagon"};
        while (!part && status == TN_OK && take_back(copy, &call.call, &arg)) {
            status = tn_hex_link_call(link, &call, diag);
        }
        if (status != TN_OK) {
            break;       // it died: nothing is left of any copy
        }
        if (part) {
            hand_buffer(link, part->records, copy->records, copy->step != TN_HEX_STEP_READY);
            hand_buffer(link, part->packed, copy->packed, true);
            tn_hex_part_adopt(part, copy);
        }
        spare->copies = copy->next;
        tn_give(link->heap, copy);
    }
    tn_hex_link_limit(link, deadline, cancel);
    spare->adopted = spare->adopted && status != TN_OK;
    return status;
}
