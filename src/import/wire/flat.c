// SPDX-License-Identifier: Apache-2.0
// The FlatBuffers reader: every position is a number below the buffer's size before anything is read there. Nothing recurses here:
// tables in tables are the caller's walk, and so is its bound.
// Ownership and threads: see flat.h.
#include "import/wire/flat.h"

#include <string.h>

uint64_t tn_flat_load(const uint8_t *data, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value |= (uint64_t)data[i] << (8 * i);
    }
    return value;
}

static bool fail(tn_flat *flat, const char *what)
{
    flat->fault = flat->fault ? flat->fault : what;
    return false;
}

// `bytes` bytes lie at `at`.
static bool inside(tn_flat *flat, size_t at, size_t bytes)
{
    return (at <= flat->size && bytes <= flat->size - at) || fail(flat, "something lies past the end");
}

// The place that the forward offset at `at` names; 0 on a fault.
static size_t follow(tn_flat *flat, size_t at)
{
    if (!inside(flat, at, 4)) {
        return 0;
    }
    const uint64_t offset = tn_flat_load(flat->data + at, 4);
    if (offset == 0 || offset >= flat->size - at) {
        fail(flat, "an offset leads out of the buffer");
        return 0;
    }
    return at + (size_t)offset;
}

static tn_flat_table open_table(tn_flat *flat, size_t at)
{
    const tn_flat_table none = {0};
    if (flat->fault || !inside(flat, at, 4)) {
        return none;
    }
    const int64_t back = (int32_t)(uint32_t)tn_flat_load(flat->data + at, 4), vtable = (int64_t)at - back;
    if (vtable < 0 || !inside(flat, (size_t)vtable, 4)) {
        fail(flat, "a table without its vtable");
        return none;
    }
    const tn_flat_table table = {.at = at, .vtable = (size_t)vtable, .vtable_bytes = (uint16_t)tn_flat_load(flat->data + vtable, 2),
                                 .table_bytes = (uint16_t)tn_flat_load(flat->data + vtable + 2, 2)};
    if (table.vtable_bytes < 4 || table.vtable_bytes % 2 || !inside(flat, table.vtable, table.vtable_bytes) ||
        !inside(flat, at, table.table_bytes)) {
        fail(flat, "a vtable of a wrong size");
        return none;
    }
    return table;
}

tn_flat_table tn_flat_root(tn_flat *flat, const char *identifier)
{
    const tn_flat_table none = {0};
    if (flat->size < 8 || memcmp(flat->data + 4, identifier, 4) != 0) {
        fail(flat, "the file's identifier is another");
        return none;
    }
    const size_t at = follow(flat, 0);
    return at ? open_table(flat, at) : none;
}

// Where field `id` of the table lies; 0: it is not stored.
static size_t field(tn_flat *flat, const tn_flat_table *table, unsigned id, size_t bytes)
{
    const size_t entry = 4 + 2 * (size_t)id;
    if (flat->fault || !table->at || entry + 2 > table->vtable_bytes) {
        return 0;
    }
    const size_t place = (size_t)tn_flat_load(flat->data + table->vtable + entry, 2);
    if (place == 0) {
        return 0;
    }
    if (place < 4 || place + bytes > table->table_bytes) {
        fail(flat, "a field lies outside its table");
        return 0;
    }
    return table->at + place;
}

uint64_t tn_flat_scalar(tn_flat *flat, const tn_flat_table *table, unsigned id, size_t bytes, uint64_t absent)
{
    const size_t at = field(flat, table, id, bytes);
    return at ? tn_flat_load(flat->data + at, bytes) : absent;
}

tn_flat_table tn_flat_sub(tn_flat *flat, const tn_flat_table *table, unsigned id)
{
    const size_t at = field(flat, table, id, 4), target = at ? follow(flat, at) : 0;
    return target ? open_table(flat, target) : (tn_flat_table){0};
}

static tn_flat_vector open_vector(tn_flat *flat, size_t at, size_t element_bytes)
{
    const tn_flat_vector none = {0};
    if (!inside(flat, at, 4)) {
        return none;
    }
    const size_t count = (size_t)tn_flat_load(flat->data + at, 4);
    if (count > (flat->size - at - 4) / element_bytes) {
        fail(flat, "a vector is longer than the buffer");
        return none;
    }
    return (tn_flat_vector){flat->data + at + 4, count};
}

tn_flat_vector tn_flat_array(tn_flat *flat, const tn_flat_table *table, unsigned id, size_t element_bytes)
{
    const size_t at = field(flat, table, id, 4), target = at ? follow(flat, at) : 0;
    return target ? open_vector(flat, target, element_bytes) : (tn_flat_vector){0};
}

static const char *open_text(tn_flat *flat, size_t at)
{
    const tn_flat_vector text = open_vector(flat, at, 1);
    if (!text.data) {
        return NULL;
    }
    if (text.count >= flat->size - (size_t)(text.data - flat->data) || text.data[text.count] != 0 || memchr(text.data, 0, text.count)) {
        fail(flat, "a string does not end where it says");
        return NULL;
    }
    return (const char *)text.data;
}

const char *tn_flat_text(tn_flat *flat, const tn_flat_table *table, unsigned id)
{
    const size_t at = field(flat, table, id, 4), target = at ? follow(flat, at) : 0;
    return target ? open_text(flat, target) : NULL;
}

tn_flat_table tn_flat_table_at(tn_flat *flat, const tn_flat_vector *vector, size_t i)
{
    const size_t target = flat->fault ? 0 : follow(flat, (size_t)(vector->data - flat->data) + 4 * i);
    return target ? open_table(flat, target) : (tn_flat_table){0};
}

const char *tn_flat_text_at(tn_flat *flat, const tn_flat_vector *vector, size_t i)
{
    const size_t target = flat->fault ? 0 : follow(flat, (size_t)(vector->data - flat->data) + 4 * i);
    return target ? open_text(flat, target) : NULL;
}
