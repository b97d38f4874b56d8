// SPDX-License-Identifier: Apache-2.0
// Advice to the system about pages of memory. It changes no contents, and a system that does not follow it loses nothing.
// Threads: any.
#ifndef TN_PAGES_H
#define TN_PAGES_H

#include <stddef.h>

// Large blocks that are about to be written whole: let the pages inside be large ones, where the system waits to be asked.
void tn_pages_large(void *data, size_t bytes);

#endif
