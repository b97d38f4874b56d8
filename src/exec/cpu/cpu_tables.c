// SPDX-License-Identifier: Apache-2.0
// Tables are small, so pruning takes only broken ones and no limit of bytes.
// Ownership: see the header. Threads: see the header.
#include "exec/cpu/cpu_tables.h"

#include "device/cache_folder.h"
#include "device/tuning.h"
#include "plan/tune/choices.h"

static bool rows_whole(const uint8_t *bytes, size_t size)
{
    return size <= TN_TUNING_MOST_BYTES && tn_choices_whole((const char *)bytes, size);
}

static const tn_cache_kind kinds[] = {{".rows", "rows", rows_whole, false}, {.ending = NULL}};

bool tn_cpu_tables_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context)
{
    return tn_cache_list(folder, kinds, visit, context);
}

int tn_cpu_tables_prune(const char *folder, uint64_t limit) { return tn_cache_prune(folder, kinds, limit); }
