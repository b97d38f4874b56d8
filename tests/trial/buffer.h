// SPDX-License-Identifier: Apache-2.0
// Memory that finds accesses past its ends: pages between two pages that may not be touched, the data at one end or the other.
//
//      no access | canary ......... data | no access        at the end: reading or writing past it faults
//      no access | data ......... canary | no access        at the start: reading or writing before it faults
//
// Ownership: release frees. A buffer may be placed again and again; its pages are kept. Threads: one at a time.
#ifndef TN_BUFFER_H
#define TN_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tn_buffer {
    uint8_t *pages;       // first page that may be touched; NULL: none yet
    size_t size;          // of the pages, without the guards
    uint8_t *data;
    size_t bytes;
} tn_buffer;

// Makes room for `bytes` bytes and fills all of it, canaries too, with `fill`. At the end data begins at a multiple of `align` (a
// power of two that divides the page size) and the slack behind it, less than align, is canary. False: no memory.
bool tn_buffer_place(tn_buffer *buffer, size_t bytes, bool at_end, size_t align, uint8_t fill);

void tn_buffer_protect(tn_buffer *buffer);                          // read only until placed again
bool tn_buffer_intact(const tn_buffer *buffer, uint8_t fill);       // everything around the data is still `fill`
void tn_buffer_release(tn_buffer *buffer);

#endif
