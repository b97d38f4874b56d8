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

// Looks at every program of the folder: its number, bytes, and how many are not whole. Removes those that are not whole when `repair`.
typedef struct tn_cl_disk_state {
    unsigned files, broken;
    uint64_t bytes;
} tn_cl_disk_state;
bool tn_cl_disk_scan(const char *folder, bool repair, tn_cl_disk_state *state);

// Removes the oldest programs until at most `limit` bytes are left.
void tn_cl_disk_prune(const char *folder, uint64_t limit);

#endif
