// SPDX-License-Identifier: Apache-2.0
// Stand-in for the vendor's header of this name: what the phone's side of the DSP program uses of it, by public names, so that it can be
// compiled. Nothing is linked.
// Ownership: declarations. Threads: none.
#ifndef STDLIB_STAND_IN_H
#define STDLIB_STAND_IN_H

#include <stddef.h>

void *memalign(size_t alignment, size_t bytes);
void free(void *block);

#endif
