// SPDX-License-Identifier: Apache-2.0
// Guarded memory for tests, by mmap and mprotect.
// Ownership: see buffer.h. Threads: one at a time.
#include "trial/buffer.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

void tn_buffer_release(tn_buffer *buffer)
{
    if (buffer->pages) {
        munmap(buffer->pages - page_size(), buffer->size + 2 * page_size());
    }
    *buffer = (tn_buffer){0};
}

static bool reserve(tn_buffer *buffer, size_t bytes)
{
    const size_t page = page_size(), size = (bytes + page) / page * page;
    if (buffer->size >= size) {
        return mprotect(buffer->pages, buffer->size, PROT_READ | PROT_WRITE) == 0;
    }
    tn_buffer_release(buffer);
    uint8_t *base = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
        return false;
    }
    buffer->pages = base + page;
    buffer->size = size;
    return mprotect(buffer->pages, size, PROT_READ | PROT_WRITE) == 0;
}

bool tn_buffer_place(tn_buffer *buffer, size_t bytes, bool at_end, size_t align, uint8_t fill)
{
    if (!reserve(buffer, bytes + align)) {
        return false;
    }
    const size_t slack = (bytes + align - 1) / align * align;
    memset(buffer->pages, fill, buffer->size);
    buffer->data = at_end ? buffer->pages + buffer->size - slack : buffer->pages;
    buffer->bytes = bytes;
    return true;
}

void tn_buffer_protect(tn_buffer *buffer) { mprotect(buffer->pages, buffer->size, PROT_READ); }

bool tn_buffer_intact(const tn_buffer *buffer, uint8_t fill)
{
    const uint8_t *end = buffer->pages + buffer->size;
    for (const uint8_t *p = buffer->pages; p < end; p++) {
        if (p == buffer->data) {
            p += buffer->bytes;
        }
        if (p < end && *p != fill) {
            return false;
        }
    }
    return true;
}
