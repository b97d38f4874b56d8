// SPDX-License-Identifier: Apache-2.0
// A second DSP program that is kept beside the one that runs, with the same graphs handed over, and takes its place when that dies: the start
// of a program, and the preparation of graphs, are past by then. It is brought up a call at a time while a host waits for a run anyway, or
// when a run has ended, and never waited for. docs/hexagon.md.
// Ownership: a line owns its spare. Threads: who has the line's turn.
#ifndef TN_HEX_SPARE_H
#define TN_HEX_SPARE_H

#include "base/diag.h"
#include "exec/hexagon/share/hex_late.h"

struct tn_hex_link;
struct tn_hex_part;
struct tn_hex_transport;

// What the spare has of a part; owned by the spare.
typedef struct tn_hex_copy {
    struct tn_hex_copy *next;
    struct tn_hex_part *part;     // NULL: it was given back, and the spare is to forget it
    int step;                     // as tn_hex_part.step
    bool packing;                 // weights are being taken over
    uint32_t id;                  // its graph there; valid from step 1 on
    uint32_t records, packed;     // handles there; 0: not mapped
} tn_hex_copy;

typedef struct tn_hex_spare {
    const struct tn_hex_transport *transport;
    void *state;                  // of the transport; NULL: there is none
    uint8_t *page;                // of its own, changed for the line's when it takes over; NULL: there was none yet
    int page_fd;
    bool listens, idle, off;      // idle: nothing to do for it; off: one failed, there is to be none any more
    bool adopted;                 // it runs as the line's program, whose parts do not have what it knows of them yet
    uint32_t sequence;
    uint64_t session, started_ns;
    tn_hex_late late;             // the call that it is at
    tn_hex_copy *at;              // whose that is
    tn_hex_copy *copies;
    size_t frugal;                // flows whose sessions have a limit of memory: there is none as long as they are there
} tn_hex_spare;

// Goes on with it where there is something to do: one that does not exist is started, an answer that has come is taken, the next call is made.
void tn_hex_spare_pump(struct tn_hex_link *link);

// The line has no program: the spare becomes it. false: there is none that lives.
bool tn_hex_spare_take(struct tn_hex_link *link);

// After tn_hex_spare_take, the program having answered: what it has of parts is theirs from now on.
tn_status tn_hex_spare_install(struct tn_hex_link *link, tn_diag *diag);

// The spare's copy of a part that goes, or whose memory changes, is of no use. NULL allowed.
void tn_hex_spare_forget(struct tn_hex_part *part);

// Ends it; what is known of copies is forgotten. Another may be started later.
void tn_hex_spare_drop(struct tn_hex_link *link);
void tn_hex_spare_close(struct tn_hex_link *link);       // for good; not its process where that is another process' child

#endif
