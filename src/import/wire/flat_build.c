// SPDX-License-Identifier: Apache-2.0
// The FlatBuffers writer. Alignment is counted from the end of the buffer, whose length tn_flat_finish makes a multiple of the largest
// alignment, so that it holds from the front too.
// Ownership and threads: see flat_build.h.
#include "import/wire/flat_build.h"

#include "base/num.h"

#define MAX_BUFFER ((size_t)1 << 31)     // offsets are 31 bits
#define LARGEST 8

void tn_flat_build_init(tn_flat_build *build, tn_heap *heap) { *build = (tn_flat_build){.heap = heap}; }

void tn_flat_build_deinit(tn_flat_build *build)
{
    tn_give(build->heap, build->data);
    *build = (tn_flat_build){.heap = build->heap};
}

// `bytes` zeroed bytes in front of what is there; NULL: no memory.
static uint8_t *grow(tn_flat_build *build, size_t bytes)
{
    if (build->failed || bytes > MAX_BUFFER - build->used) {
        build->failed = true;
        return NULL;
    }
    if (!build->data || bytes > build->capacity - build->used) {
        const size_t capacity = (build->used + bytes < 2048 ? 4096 : (build->used + bytes) * 2);
        uint8_t *data = tn_take(build->heap, capacity);
        if (!data) {
            build->failed = true;
            return NULL;
        }
        if (build->used) {
            memcpy(data + capacity - build->used, build->data + build->capacity - build->used, build->used);
        }
        tn_give(build->heap, build->data);
        build->data = data;
        build->capacity = capacity;
    }
    build->used += bytes;
    uint8_t *at = build->data + build->capacity - build->used;
    memset(at, 0, bytes);
    return at;
}

// Padding such that an object whose first `bytes` bytes come next begins at a multiple of `alignment`.
static void align(tn_flat_build *build, size_t bytes, size_t alignment)
{
    const size_t over = (build->used + bytes) % alignment;
    (void)grow(build, over ? alignment - over : 0);
}

static void store(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void push(tn_flat_build *build, uint64_t value, size_t bytes)
{
    uint8_t *at = grow(build, bytes);
    if (at) {
        store(at, value, bytes);
    }
}

// A forward offset to `ref`, itself at a multiple of 4.
static void push_ref(tn_flat_build *build, tn_flat_ref ref)
{
    align(build, 4, 4);
    push(build, build->used + 4 - ref, 4);
}

static tn_flat_ref here(const tn_flat_build *build) { return build->failed ? 0 : (tn_flat_ref)build->used; }

tn_flat_ref tn_flat_put_vector(tn_flat_build *build, const void *elements, size_t count, size_t element_bytes)
{
    size_t bytes;
    if (!tn_mul_size(count, element_bytes, &bytes) || count > UINT32_MAX) {
        build->failed = true;
        return 0;
    }
    align(build, bytes, 4);               // the count is 4 bytes in front of the elements
    align(build, bytes, element_bytes);
    uint8_t *at = grow(build, bytes);
    if (at && bytes) {
        memcpy(at, elements, bytes);
    }
    push(build, count, 4);
    return here(build);
}

tn_flat_ref tn_flat_put_text(tn_flat_build *build, const char *text)
{
    if (!text) {
        return 0;
    }
    const size_t length = strlen(text);
    align(build, length + 1, 4);
    uint8_t *at = grow(build, length + 1);
    if (at) {
        memcpy(at, text, length);
    }
    push(build, length, 4);
    return here(build);
}

tn_flat_ref tn_flat_put_refs(tn_flat_build *build, const tn_flat_ref *refs, size_t count)
{
    align(build, 0, 4);
    for (size_t i = count; i-- > 0;) {
        push_ref(build, refs[i]);
    }
    push(build, count, 4);
    return here(build);
}

void tn_flat_open(tn_flat_build *build)
{
    memset(build->fields, 0, sizeof build->fields);
    build->n_fields = 0;
    align(build, 0, 4);
    build->table_end = build->used;
}

static void note(tn_flat_build *build, unsigned id)
{
    build->fields[id] = here(build);
    build->n_fields = build->n_fields > id ? build->n_fields : id + 1;
}

void tn_flat_field(tn_flat_build *build, unsigned id, uint64_t value, size_t bytes, uint64_t usual)
{
    if (value != usual) {
        align(build, bytes, bytes);
        push(build, value, bytes);
        note(build, id);
    }
}

void tn_flat_field_ref(tn_flat_build *build, unsigned id, tn_flat_ref ref)
{
    if (ref) {
        push_ref(build, ref);
        note(build, id);
    }
}

// A vtable equal to `form` that was written before, or 0.
static tn_flat_ref find_vtable(const tn_flat_build *build, const uint8_t *form, size_t bytes)
{
    for (unsigned i = 0; i < build->n_vtables && i < TN_FLAT_KNOWN_VTABLES; i++) {
        const uint8_t *known = build->data + build->capacity - build->vtables[i];
        if (bytes <= build->vtables[i] && memcmp(known, form, bytes) == 0) {
            return build->vtables[i];
        }
    }
    return 0;
}

tn_flat_ref tn_flat_close(tn_flat_build *build)
{
    align(build, 4, 4);
    uint8_t *offset = grow(build, 4);     // to the vtable, filled in below
    const tn_flat_ref table = here(build);
    if (!offset || !table) {
        return 0;
    }
    uint8_t form[4 + 2 * TN_FLAT_MAX_FIELDS];
    const size_t bytes = 4 + 2 * (size_t)build->n_fields;
    store(form, bytes, 2);
    store(form + 2, table - build->table_end, 2);
    for (unsigned id = 0; id < build->n_fields; id++) {
        store(form + 4 + 2 * id, build->fields[id] ? table - build->fields[id] : 0, 2);
    }
    tn_flat_ref vtable = find_vtable(build, form, bytes);
    if (!vtable) {
        align(build, bytes, 2);
        uint8_t *at = grow(build, bytes);
        if (!at) {
            return 0;
        }
        memcpy(at, form, bytes);
        vtable = here(build);
        build->vtables[build->n_vtables++ % TN_FLAT_KNOWN_VTABLES] = vtable;
    }
    // The vtable's place is the table's minus this number; both are counted from the end.
    store(build->data + build->capacity - table, (uint64_t)((int64_t)vtable - (int64_t)table), 4);
    return table;
}

void tn_flat_finish(tn_flat_build *build, tn_flat_ref root, const char *identifier, size_t multiple)
{
    align(build, 8, multiple > LARGEST ? multiple : LARGEST);
    uint8_t *at = grow(build, 8);
    if (at) {
        store(at, build->used - root, 4);
        memcpy(at + 4, identifier, 4);
    }
}

void tn_flat_patch(tn_flat_build *build, tn_flat_ref at, uint64_t value, size_t bytes)
{
    if (!build->failed) {
        store(build->data + build->capacity - at, value, bytes);
    }
}
