// SPDX-License-Identifier: Apache-2.0
// The list of lines (hex_share.h). It is locked for moments only: programs are started and ended outside, by whoever has the line's turn. A
// forked child begins with a copy in which nothing is of use, not even the lock if another thread had it: the lock is the number of the
// process that has it, so that a child finds out, and lines of another process are passed over.
// Ownership: see hex_share.h. Threads: see hex_share.h.
#include "exec/hexagon/share/hex_share.h"

#include <sched.h>
#include <string.h>
#include <unistd.h>

typedef struct line {
    struct line *next;
    tn_hex_link *link;
    unsigned users;
} line;

static atomic_int holder;         // 0: nobody
static tn_heap heap;
static bool has_heap;
static line *lines;

static void lock(void)
{
    const int me = (int)getpid();
    for (;;) {
        int seen = 0;
        if (atomic_compare_exchange_weak(&holder, &seen, me)) {
            return;
        }
        // Of a process before the fork: whoever had it is not here.
        if (seen != 0 && seen != me && atomic_compare_exchange_weak(&holder, &seen, me)) {
            return;
        }
        (void)sched_yield();
    }
}

static void unlock(void) { atomic_store(&holder, 0); }

static bool same(const tn_hex_link *link, const tn_hex_transport *transport, const tn_hex_options *options)
{
    const tn_hex_options *own = &link->options;
    return link->owner == getpid() && strcmp(link->transport->name, transport->name) == 0 && own->threads == options->threads && own->vtcm == options->vtcm &&
           own->flags == options->flags && own->program == options->program && own->program_size == options->program_size;
}

// Under the lock: one more user of the line that there is, or of `fresh`; NULL: neither.
static line *join(const tn_hex_transport *transport, const tn_hex_options *options, line *fresh)
{
    line *at = lines;
    while (at && !same(at->link, transport, options)) {
        at = at->next;
    }
    if (!at && fresh) {
        fresh->next = lines;
        lines = at = fresh;
    }
    if (at) {
        at->users++;
    }
    return at;
}

// A line that nobody else knows of.
static tn_status make(line **out, const tn_hex_transport *transport, const tn_hex_options *options, tn_diag *diag)
{
    line *fresh = tn_take_zero(&heap, 1, sizeof *fresh);
    *out = NULL;
    if (!fresh) {
        return tn_fail_memory(diag, "hexagon", sizeof *fresh);
    }
    const tn_status status = tn_hex_link_create(&fresh->link, transport, &heap, options, diag);
    if (status != TN_OK) {
        tn_give(&heap, fresh);
        return status;
    }
    *out = fresh;
    return TN_OK;
}

tn_status tn_hex_share_take(tn_hex_link **out, const tn_hex_transport *transport, const tn_hex_options *options, tn_diag *diag)
{
    *out = NULL;
    lock();
    if (!has_heap) {
        tn_heap_init(&heap, NULL, NULL, NULL);
        has_heap = true;
    }
    line *at = join(transport, options, NULL);
    unlock();
    if (!at) {
        line *fresh;
        TN_TRY(make(&fresh, transport, options, diag));
        lock();
        at = join(transport, options, fresh);
        unlock();
        if (at != fresh) {
            tn_hex_link_close(fresh->link);     // another thread was faster
            tn_give(&heap, fresh);
        }
    }
    *out = at->link;
    return TN_OK;
}

void tn_hex_share_give(tn_hex_link *link)
{
    line *last = NULL;
    if (!link) {
        return;
    }
    lock();
    for (line **at = &lines; *at; at = &(*at)->next) {
        if ((*at)->link == link) {
            if (--(*at)->users == 0) {
                last = *at;
                *at = last->next;
            }
            break;
        }
    }
    unlock();
    if (last) {
        tn_hex_link_close(last->link);
        tn_give(&heap, last);
    }
}
