// SPDX-License-Identifier: Apache-2.0
// What the CPU keeps in a cache folder: tables of measured choices (plan/tune/choices.h), NAME.rows.
// Ownership: none. Threads: any.
#ifndef TN_CPU_TABLES_H
#define TN_CPU_TABLES_H

#include "device/device.h"

bool tn_cpu_tables_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context);

// Removes tables that are not whole; the number removed.
int tn_cpu_tables_prune(const char *folder, uint64_t limit);

#endif
