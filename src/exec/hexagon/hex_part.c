// SPDX-License-Identifier: Apache-2.0
// Handing a sub-graph over (hex_part.h): records, then the weights, packed by the DSP into a buffer of ours or taken over from there.
// Ownership: see hex_part.h. Threads: see hex_part.h.
#include "exec/hexagon/hex_part.h"

#include "base/macros.h"
#include "exec/hexagon/disk/hex_disk.h"
#include "exec/hexagon/hex_program.h"

#include <string.h>

// Weights are packed to at most so many times their size: one column of a matrix to 64 of them.
#define MOST_GROWTH 64
#define LEAST_ROOM ((size_t)1 << 20)
#define MOST_PIECES 1024     // of packing, beside some for each node

const tn_node *tn_hex_part_node(const tn_graph *graph, uint32_t id)
{
    const tn_node *node = id ? graph->first : NULL;
    for (uint32_t i = 1; node && i < id; i++) {
        node = node->next;
    }
    return node;
}

// ---- marks ----

static uint64_t mark_of_blob(const tn_hex_blob *blob, uint64_t seed) { return blob->size ? tn_hex_mark(blob->data, blob->size, seed) : seed; }

static uint64_t mark_of_encoding(const tn_hex_encoder *e)
{
    return mark_of_blob(&e->consts, mark_of_blob(&e->nodes, mark_of_blob(&e->data, 0)));
}

static uint64_t written_mark(const tn_hex_part *part) { return tn_hex_mark(part->records->data, part->data_at + part->data_bytes, 1); }

static uint64_t packed_mark(const tn_hex_part *part) { return tn_hex_mark(part->packed->data, part->packed_bytes, 3); }

// ---- records ----

// The bytes of constants follow the records, whose last three words are handle, offset and length: handle 0 is the buffer of the records.
static void place_constants(tn_hex_part *part)
{
    for (size_t at = 0; at < part->consts_bytes;) {
        tn_hex_cursor cursor = {part->records->data + at + 4, 4, 0};
        const size_t words = tn_hex_get(&cursor);
        if (words < 3 || words > (part->consts_bytes - at) / 4) {
            return;      // somebody else writes here: the DSP will refuse it
        }
        uint8_t *offset = part->records->data + at + 4 * (words - 2);
        tn_hex_cursor old = {offset, 4, 0};
        tn_hex_patch(offset, tn_hex_get(&old) + (uint32_t)part->data_at);
        at += 4 * words;
    }
}

static void put(uint8_t *to, const tn_hex_blob *blob)
{
    if (blob->size) {
        memcpy(to, blob->data, blob->size);
    }
}

void tn_hex_part_write(tn_hex_part *part, const tn_hex_encoder *e)
{
    put(part->records->data, &e->consts);
    put(part->records->data + part->nodes_at, &e->nodes);
    memset(part->records->data + part->nodes_at + part->nodes_bytes, 0, part->data_at - part->nodes_at - part->nodes_bytes);
    put(part->records->data + part->data_at, &e->data);
    place_constants(part);
    part->written_mark = written_mark(part);
}

bool tn_hex_part_intact(const tn_hex_part *part) { return part->written_mark == written_mark(part); }

static bool same(const tn_hex_part *part, const tn_hex_encoder *e, uint64_t mark)
{
    return part->mark == mark && part->consts_bytes == e->consts.size && part->nodes_bytes == e->nodes.size && part->data_bytes == e->data.size &&
           memcmp(part->records->data + part->nodes_at, e->nodes.data, e->nodes.size) == 0 &&
           (e->data.size == 0 || memcmp(part->records->data + part->data_at, e->data.data, e->data.size) == 0);
}

tn_hex_part *tn_hex_part_take(tn_hex_link *link, const tn_hex_encoder *e)
{
    const uint64_t mark = mark_of_encoding(e);
    for (tn_hex_part *part = link->parts; part; part = part->next) {
        if (same(part, e, mark)) {
            part->uses++;
            return part;
        }
    }
    tn_hex_part *part = tn_take_zero(link->heap, 1, sizeof *part);
    if (!part) {
        return NULL;
    }
    *part = (tn_hex_part){.link = link, .uses = 1, .consts_bytes = e->consts.size, .nodes_at = e->consts.size, .nodes_bytes = e->nodes.size,
                          .data_at = (e->consts.size + e->nodes.size + 127) / 128 * 128, .data_bytes = e->data.size, .mark = mark,
                          .session = TN_HEX_NO_SESSION};
    part->records = tn_hex_buffer_take(link, part->data_at + part->data_bytes);
    if (!part->records) {
        tn_give(link->heap, part);
        return NULL;
    }
    tn_hex_part_write(part, e);
    part->next = link->parts;
    link->parts = part;
    return part;
}

// ---- calls ----

tn_status tn_hex_part_refused(const tn_graph *graph, const tn_hex_call *call, const char *what, tn_diag *diag)
{
    const tn_node *node = tn_hex_part_node(graph, call->results[0]);
    if (call->status == TN_HEX_MEMORY) {
        return tn_fail(diag, TN_OUT_OF_MEMORY, "hexagon", "the DSP has no room for a sub-graph, in its memory or in its table of them (%s)", what);
    }
    return tn_fail(diag, TN_DEVICE, node ? node->name : "hexagon", "the DSP refuses the sub-graph in %s: %s, %s (id %u)", what,
                   tn_hex_status_text(call->status), tn_hex_why_text(call->results[1]), call->results[0]);
}

static tn_status send(tn_hex_part *part, const tn_graph *graph, uint32_t number, const char *what, int n_args, const uint32_t *args,
                      uint32_t *results, tn_diag *diag)
{
    tn_hex_call call = {.call = number, .args = args, .n_args = n_args, .place = "hexagon"};
    TN_TRY(tn_hex_link_call(part->link, &call, diag));
    if (call.status != TN_HEX_OK) {
        part->starved = call.status == TN_HEX_MEMORY;
        return tn_hex_part_refused(graph, &call, what, diag);
    }
    if (results) {
        memcpy(results, call.results, sizeof call.results);
    }
    return TN_OK;
}

// The DSP has nothing of it. What was being taken over is still there, what was being packed is not.
static void forget(tn_hex_part *part)
{
    part->kept = part->packing ? part->taking : part->kept;
    part->packing = false;
    part->records->pinned = false;
    if (part->packed) {
        part->packed->pinned = false;
    }
    part->session = TN_HEX_NO_SESSION;
    part->step = TN_HEX_STEP_NONE;
}

static void tear_down(tn_hex_part *part)
{
    tn_hex_call call = {.call = TN_HEX_CALL_TEARDOWN, .args = &part->id, .n_args = 1, .place = "hexagon"};
    tn_diag ignored = {.status = TN_OK};
    if (tn_hex_link_running(part->link)) {
        (void)tn_hex_link_call(part->link, &call, &ignored);
    }
    forget(part);
}

bool tn_hex_part_kept(const tn_hex_part *part)
{
    return part->step == TN_HEX_STEP_READY && part->session == part->link->session && part->kept && !part->adopted;
}

void tn_hex_part_adopt(tn_hex_part *part, const tn_hex_copy *copy)
{
    forget(part);
    if (copy->step != TN_HEX_STEP_NONE) {
        part->id = copy->id;
        part->session = part->link->session;
        part->step = copy->step;
        part->packing = part->taking = copy->packing;
        part->kept = part->kept && !copy->packing;
        part->pieces = 0;
        part->taken += part->step == TN_HEX_STEP_READY;
        part->adopted = true;
    }
    part->copy = NULL;
}

void tn_hex_part_prove(tn_hex_part *part)
{
    const bool adopted = part->adopted && part->session == part->link->session;
    if (part->adopted) {
        part->adopted = false;
        part->link->spare.idle = part->link->spare.off;      // the next spare may have it from now on
    }
    if (adopted && !(tn_hex_part_intact(part) && packed_mark(part) == part->sum)) {
        tear_down(part);
    }
}

void tn_hex_part_give(tn_hex_part *part)
{
    if (!part || --part->uses > 0) {
        return;
    }
    tn_hex_part **at = &part->link->parts;
    while (*at != part) {
        at = &(*at)->next;
    }
    *at = part->next;
    tn_hex_spare_forget(part);
    if (part->session == part->link->session) {
        tear_down(part);
    }
    tn_hex_buffer_give_locked(part->link, part->packed);
    tn_hex_buffer_give_locked(part->link, part->records);
    tn_give(part->link->heap, part);
}

static tn_status map(tn_hex_part *part, tn_hex_buffer *buffer, tn_diag *diag)
{
    const tn_status status = tn_hex_link_map(part->link, buffer, diag);
    part->starved = part->starved || status == TN_OUT_OF_MEMORY;
    buffer->pinned = status == TN_OK;
    return status;
}

// The buffer for `bytes` of packed weights.
static tn_status make_room(tn_hex_part *part, size_t bytes, tn_diag *diag)
{
    if (bytes > MOST_GROWTH * (part->data_bytes + LEAST_ROOM)) {
        return tn_fail(diag, TN_DEVICE, "hexagon", "the DSP wants %zu bytes for %zu bytes of weights", bytes, part->data_bytes);
    }
    if (part->packed && part->packed->bytes < bytes) {
        tn_hex_spare_forget(part);
        tn_hex_buffer_give_locked(part->link, part->packed);
        part->packed = NULL;
    }
    if (!part->packed) {
        part->kept = false;
        part->packed = tn_hex_buffer_take(part->link, bytes);
    }
    return part->packed ? TN_OK : tn_fail_memory(diag, "hexagon", bytes);
}

// What the packed form depends on beside the sub-graph is what the program is and says: its threads share work as they were told to.
static tn_hex_disk_key key_of(const tn_hex_part *part)
{
    const tn_hex_hello *hello = &part->link->hello;
    const uint64_t says = tn_hex_mark((const uint8_t *)hello, sizeof *hello, 4);
    const tn_hex_options *options = &part->link->options;
    const uint64_t program = options->program ? tn_hex_mark(options->program, options->program_size, says)
                                              : tn_hex_mark(tn_hex_program, tn_hex_program_size, says);
    return (tn_hex_disk_key){.program = program, .graph = part->mark,
                             .consts_bytes = part->consts_bytes, .nodes_bytes = part->nodes_bytes, .data_bytes = part->data_bytes};
}

// Looks for what an earlier process packed, once.
static void look_on_disk(tn_hex_part *part, const char *cache)
{
    if (part->kept || part->looked || !cache) {
        return;
    }
    const tn_hex_disk_key key = key_of(part);
    part->looked = true;
    part->from_disk = part->kept = tn_hex_disk_load(cache, &key, part->packed->data, part->packed_bytes);
    part->sum = part->kept ? packed_mark(part) : 0;
}

// The next piece.
static tn_status pack(tn_hex_part *part, const tn_graph *graph, const char *cache, bool *more, tn_diag *diag)
{
    uint32_t results[TN_HEX_MESSAGE_ARGS] = {0};
    if (!part->packing) {
        TN_TRY(make_room(part, part->packed_bytes, diag));
        look_on_disk(part, cache);
        TN_TRY(map(part, part->packed, diag));
        part->taking = part->kept && packed_mark(part) == part->sum;      // which writes nothing
        part->kept = false;       // whatever a program that dies on the way leaves there is nothing
        part->packing = true;
        part->pieces = 0;
    }
    const uint32_t args[4] = {part->id, part->packed->handle, 0, part->taking};
    const tn_status status = send(part, graph, TN_HEX_CALL_PACK, "pack", 4, args, results, diag);
    if (status != TN_OK) {
        part->packing = status == TN_DEADLINE || status == TN_CANCELLED;      // the same call takes up the answer
        return status;
    }
    *more = results[1] != 0;
    if (*more) {
        return ++part->pieces <= MOST_PIECES + 4 * graph->n_nodes ? TN_OK : tn_fail(diag, TN_DEVICE, "hexagon", "the DSP packs weights without end");
    }
    part->packing = false;
    if (part->taking && results[0] == 0) {
        part->taken++;
    } else {
        part->packings++;
        part->sum = packed_mark(part);
        if (cache) {
            const tn_hex_disk_key key = key_of(part);
            tn_hex_disk_store(cache, &key, part->packed->data, part->packed_bytes);
        }
    }
    part->kept = true;
    return TN_OK;
}

// Goes on at part->step.
static tn_status hand_over(tn_hex_part *part, const tn_graph *graph, const char *cache, bool *more, tn_diag *diag)
{
    uint32_t results[TN_HEX_MESSAGE_ARGS] = {0};
    if (part->step == TN_HEX_STEP_NONE) {
        TN_TRY(map(part, part->records, diag));
        TN_TRY(send(part, graph, TN_HEX_CALL_INIT, "init", 0, NULL, results, diag));
        part->id = results[0];
        part->session = part->link->session;
        part->step = TN_HEX_STEP_MADE;
    }
    const uint32_t handle = part->records->handle;
    const uint32_t consts[4] = {part->id, handle, 0, (uint32_t)part->consts_bytes};
    const uint32_t nodes[4] = {part->id, handle, (uint32_t)part->nodes_at, (uint32_t)part->nodes_bytes};
    if (part->step == TN_HEX_STEP_MADE) {
        TN_TRY(part->consts_bytes ? send(part, graph, TN_HEX_CALL_CONSTS, "consts", 4, consts, NULL, diag) : TN_OK);
        part->step = TN_HEX_STEP_HAS_CONSTS;
    }
    if (part->step == TN_HEX_STEP_HAS_CONSTS) {
        TN_TRY(send(part, graph, TN_HEX_CALL_NODES, "nodes", 4, nodes, NULL, diag));
        part->step = TN_HEX_STEP_HAS_NODES;
    }
    if (part->step == TN_HEX_STEP_PREPARED) {
        return pack(part, graph, cache, more, diag);
    }
    TN_TRY(send(part, graph, TN_HEX_CALL_PREPARE, "prepare", 1, &part->id, results, diag));
    if (results[3] != graph->n_inputs || results[4] != graph->n_outputs) {
        return tn_fail(diag, TN_DEVICE, "hexagon", "the DSP counts %u inputs and %u outputs of a sub-graph with %zu and %zu", results[3], results[4],
                       graph->n_inputs, graph->n_outputs);
    }
    part->arena_bytes = (size_t)results[0] + results[2];
    part->packed_bytes = results[5];
    part->step = TN_HEX_STEP_PREPARED;
    return pack(part, graph, cache, more, diag);
}

// Takes the graph that was not used for longest from the DSP; false: there is no other.
static bool make_way(const tn_hex_part *part)
{
    tn_hex_part *oldest = NULL;
    for (tn_hex_part *other = part->link->parts; other; other = other->next) {
        if (other != part && other->step != TN_HEX_STEP_NONE && other->session == part->link->session && (!oldest || other->used < oldest->used)) {
            oldest = other;
        }
    }
    if (oldest) {
        tear_down(oldest);
    }
    return oldest != NULL;
}

tn_status tn_hex_part_map(tn_hex_part *part, tn_hex_buffer *buffer, tn_diag *diag)
{
    tn_status status = tn_hex_link_map(part->link, buffer, diag);
    while (status == TN_OUT_OF_MEMORY && part->link->state && (tn_hex_link_unmap_idle(part->link) || make_way(part))) {
        tn_diag_clear(diag);
        status = tn_hex_link_map(part->link, buffer, diag);
    }
    if (status == TN_OUT_OF_MEMORY) {
        status = diag->status = TN_DEVICE;
    }
    return status;
}

// Again from the beginning, after a failure that left the DSP running.
static tn_status anew(tn_hex_part *part, const tn_graph *graph, const char *cache, bool *more, tn_diag *diag)
{
    if (part->step != TN_HEX_STEP_NONE) {
        tear_down(part);
    }
    tn_diag_clear(diag);
    return hand_over(part, graph, cache, more, diag);
}

tn_status tn_hex_part_ready(tn_hex_part *part, const tn_graph *graph, const char *cache, bool *more, tn_diag *diag)
{
    *more = part->starved = false;
    part->used = ++part->link->part_uses;
    if (part->session != part->link->session) {
        forget(part);
    }
    if (part->step == TN_HEX_STEP_READY) {
        return TN_OK;
    }
    const bool resumed = part->step != TN_HEX_STEP_NONE;
    tn_status status = hand_over(part, graph, cache, more, diag);
    if (status == TN_DEADLINE || status == TN_CANCELLED) {
        return status;
    }
    if (status != TN_OK && (resumed || part->from_disk) && part->link->state) {
        // Another session's call may have taken the answer that was to come; what was on disk may be refused.
        status = anew(part, graph, cache, more, diag);
    }
    while (status == TN_OUT_OF_MEMORY && part->link->state && (tn_hex_link_unmap_idle(part->link) || make_way(part))) {
        status = anew(part, graph, cache, more, diag);
    }
    if (*more && status == TN_OK) {
        return TN_OK;
    }
    part->from_disk = false;
    if (status == TN_OUT_OF_MEMORY && part->starved) {
        status = diag->status = TN_DEVICE;      // it is the DSP that has none: the session's policy decides
    }
    if (status == TN_OK) {
        part->step = TN_HEX_STEP_READY;
        part->records->pinned = false;
        part->link->spare.idle = part->link->spare.off;
    } else if (status != TN_DEADLINE && status != TN_CANCELLED && part->step != TN_HEX_STEP_NONE && part->link->state) {
        tear_down(part);
    }
    return status;
}
