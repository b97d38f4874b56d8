// SPDX-License-Identifier: Apache-2.0
// A sub-graph as the DSP has it: its records, its packed weights, its number there. Flows whose records are the same - sessions of a model
// with the same shapes - share one. Records and weights lie in memory that outlives the program, so that one that is started again takes
// them over; neither is trusted for that: what is there must be what was written, or it is written again.
// Ownership: take/give. Threads: who has the link's turn.
#ifndef TN_HEX_PART_H
#define TN_HEX_PART_H

#include "exec/hexagon/hex_encode.h"
#include "exec/hexagon/hex_link.h"

enum {       // tn_hex_part.step
    TN_HEX_STEP_NONE, TN_HEX_STEP_MADE, TN_HEX_STEP_HAS_CONSTS, TN_HEX_STEP_HAS_NODES, TN_HEX_STEP_PREPARED, TN_HEX_STEP_READY
};

typedef struct tn_hex_part {
    struct tn_hex_part *next;     // of the link's
    tn_hex_link *link;
    size_t uses;
    tn_hex_buffer *records;       // [records of constants][records of nodes][bytes of constants]
    size_t consts_bytes, nodes_at, nodes_bytes, data_at, data_bytes;
    uint64_t mark;                // of all of it, as it was encoded
    uint64_t written_mark;        // of the buffer, as written last
    tn_hex_buffer *packed;        // NULL: the DSP has not said how large
    bool kept;                    // weights of this sum lie there
    bool looked, from_disk;       // for them on disk; what the DSP is about to take over comes from there
    uint64_t sum;
    uint64_t session;             // of the DSP that was given the graph; TN_HEX_NO_SESSION: none
    int step;                     // how far that went
    bool packing;                 // weights are being packed, or taken over (`taking`), piece by piece
    bool taking;
    size_t pieces;
    bool starved;                 // the DSP refused for want of memory
    tn_hex_copy *copy;            // what the spare program has of it; NULL: nothing
    bool adopted;                 // a spare was given the graph, and what it was made of has not been looked at since
    uint64_t used;                // when it was last asked for, in the link's count
    size_t packed_bytes;          // what the DSP wants for packed weights
    uint32_t id;                  // its graph number there
    size_t arena_bytes;           // what the DSP took for it
    uint32_t packings, taken;     // how often weights were packed, and taken over
} tn_hex_part;

// The part with what was encoded: one that there is, or a new one. NULL: no memory.
tn_hex_part *tn_hex_part_take(tn_hex_link *link, const tn_hex_encoder *e);
void tn_hex_part_give(tn_hex_part *part);     // NULL allowed

// Whether its records are still what was written; if not they can be written again from the same graph's encoding.
bool tn_hex_part_intact(const tn_hex_part *part);
void tn_hex_part_write(tn_hex_part *part, const tn_hex_encoder *e);

// The program has it, with weights that another could take over.
bool tn_hex_part_kept(const tn_hex_part *part);
// The program that takes over has so much of it. Then, after tn_hex_link_ready: what that program was given must be what is there, or it is
// torn down.
void tn_hex_part_adopt(tn_hex_part *part, const tn_hex_copy *copy);
void tn_hex_part_prove(tn_hex_part *part);

// After tn_hex_link_ready: the DSP has the graph when it succeeds and *more is false; else there is more to do, by calls like this, and another
// may have the turn before. graph: for the names of nodes in messages. What the limits of the run cut
// short is gone on with by the next. cache: folder where packed weights are kept for later processes, or NULL. Where the DSP has no room, graphs that were not used for longest give way; they come back when used.
tn_status tn_hex_part_ready(tn_hex_part *part, const tn_graph *graph, const char *cache, bool *more, tn_diag *diag);

// Under the link's lock, while the DSP has the graph: the DSP's handle of a buffer. What is not in use gives way.
tn_status tn_hex_part_map(tn_hex_part *part, tn_hex_buffer *buffer, tn_diag *diag);

// The failure of a call that the DSP answered with another status than TN_HEX_OK.
tn_status tn_hex_part_refused(const tn_graph *graph, const tn_hex_call *call, const char *what, tn_diag *diag);

// The node of a graph with an id of the wire; NULL: none.
const tn_node *tn_hex_part_node(const tn_graph *graph, uint32_t id);

#endif
