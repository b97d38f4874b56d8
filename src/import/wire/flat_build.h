// SPDX-License-Identifier: Apache-2.0
// Writing FlatBuffers (see flat.h for the form). The buffer grows from its end to its front, because offsets lead forward only: what a
// table points to is written before it. A reference is the distance of an object from the end, 0 is none.
// No memory is sticky: the builder goes on doing nothing and `failed` says so at the end.
// Ownership: the builder owns its bytes until deinit. Threads: one at a time.
#ifndef TN_FLAT_BUILD_H
#define TN_FLAT_BUILD_H

#include "base/alloc.h"

#include <stdbool.h>

#define TN_FLAT_MAX_FIELDS 24
#define TN_FLAT_KNOWN_VTABLES 16

typedef uint32_t tn_flat_ref;

typedef struct tn_flat_build {
    tn_heap *heap;
    uint8_t *data;                              // bytes are the last `used` of `capacity`
    size_t capacity, used;
    bool failed;                                // no memory, or more than 2 GiB
    tn_flat_ref fields[TN_FLAT_MAX_FIELDS];     // of the open table: where each was written, 0: not
    unsigned n_fields;
    size_t table_end;                           // `used` when it was opened
    tn_flat_ref vtables[TN_FLAT_KNOWN_VTABLES]; // some that were written: tables of one form share theirs
    unsigned n_vtables;
} tn_flat_build;

void tn_flat_build_init(tn_flat_build *build, tn_heap *heap);
void tn_flat_build_deinit(tn_flat_build *build);

tn_flat_ref tn_flat_put_text(tn_flat_build *build, const char *text);       // NULL: none
tn_flat_ref tn_flat_put_vector(tn_flat_build *build, const void *elements, size_t count, size_t element_bytes);   // little-endian
tn_flat_ref tn_flat_put_refs(tn_flat_build *build, const tn_flat_ref *refs, size_t count);   // none of them 0

// A table: open, fields in any order, close. Nothing else may be written in between. A scalar equal to its schema's default is left out.
void tn_flat_open(tn_flat_build *build);
void tn_flat_field(tn_flat_build *build, unsigned id, uint64_t value, size_t bytes, uint64_t usual);
void tn_flat_field_ref(tn_flat_build *build, unsigned id, tn_flat_ref ref);   // 0: left out
tn_flat_ref tn_flat_close(tn_flat_build *build);

// The root and the identifier; then data + capacity - used is the buffer. `multiple`: its length is one of this power of two.
void tn_flat_finish(tn_flat_build *build, tn_flat_ref root, const char *identifier, size_t multiple);

// Writes a number of `bytes` bytes over the scalar that fields[] of its table said was at `at`.
void tn_flat_patch(tn_flat_build *build, tn_flat_ref at, uint64_t value, size_t bytes);

#endif
