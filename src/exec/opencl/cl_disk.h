// SPDX-License-Identifier: Apache-2.0
// Built programs on disk, one file each. A file that is short, changed, of another device or of another driver is ignored and written
// again; a disk that is full or read-only only costs the next start its time.
// Ownership: none. Threads: any, also of several processes: a file is renamed into place whole.
#ifndef TN_CL_DISK_H
#define TN_CL_DISK_H

#include "exec/opencl/cl_context.h"

#define TN_CL_DISK_LIMIT ((uint64_t)64 << 20)   // bytes of all programs in a folder; the oldest go first

// hash: of the source and the options. false: not there, or not usable.
bool tn_cl_disk_load(tn_cl_context *cl, const char *folder, const uint64_t hash[2], cl_program *program);
void tn_cl_disk_store(tn_cl_context *cl, const char *folder, const uint64_t hash[2], cl_program program);

// See device.h.
bool tn_cl_disk_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context);
int tn_cl_disk_prune(const char *folder, uint64_t limit);

#endif
