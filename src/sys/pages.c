// SPDX-License-Identifier: Apache-2.0
// Advice to the system about pages of memory (Linux).
#include "sys/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#define LARGE ((uintptr_t)2 << 20)

// Only whole large pages inside the block are asked for, so that nothing beside it becomes resident.
void tn_pages_large(void *data, size_t bytes)
{
    const uintptr_t first = ((uintptr_t)data + LARGE - 1) & ~(LARGE - 1), last = ((uintptr_t)data + bytes) & ~(LARGE - 1);
    if (first < last) {
        (void)madvise((void *)first, last - first, MADV_HUGEPAGE);
    }
}
