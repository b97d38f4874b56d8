// SPDX-License-Identifier: Apache-2.0
// File: magic, version, payload bytes, two hashes of source and options, hash of device and driver, hash of the payload, payload. All
// numbers are 64-bit little-endian as stored by the machine that also made the binary: it never leaves that machine.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/cl_disk.h"

#include "base/map.h"
#include "device/cache_folder.h"
#include "exec/opencl/tune/cl_table.h"
#include "sys/file.h"

#include <string.h>

#define MAGIC UINT64_C(0x31504c434e4f4e54)   // "TNONCLP1"
#define ENDING ".clbin"
#define PAYLOAD_LIMIT ((uint64_t)256 << 20)

typedef struct header {
    uint64_t magic, bytes, hash[2], device, checksum;
} header;

static uint64_t device_hash(const tn_cl_facts *facts)
{
    uint64_t hash = tn_hash(facts->name, strlen(facts->name), 3);
    hash = tn_hash(facts->version, strlen(facts->version), hash);
    return tn_hash(facts->driver, strlen(facts->driver), hash);
}

static bool path_of(char *path, const char *folder, const tn_cl_facts *facts, const uint64_t hash[2])
{
    return tn_cache_path(path, folder, hash[0] ^ device_hash(facts), hash[1], ENDING);
}

// The payload of a whole file, or NULL.
static const uint8_t *payload_of(const uint8_t *bytes, size_t size, header *head)
{
    if (size < sizeof *head) {
        return NULL;
    }
    memcpy(head, bytes, sizeof *head);
    const uint8_t *payload = bytes + sizeof *head;
    const bool whole = head->magic == MAGIC && head->bytes > 0 && head->bytes == size - sizeof *head &&
                       head->checksum == tn_hash(payload, (size_t)head->bytes, head->device);
    return whole ? payload : NULL;
}

static bool program_whole(const uint8_t *bytes, size_t size)
{
    header head;
    return payload_of(bytes, size, &head) != NULL;
}

static bool tiles_whole(const uint8_t *bytes, size_t size) { return tn_cl_table_whole((const char *)bytes, size); }

static const tn_cache_kind kinds[] = {{ENDING, "program", program_whole, true}, {".tiles", "tiles", tiles_whole, false}, {.ending = NULL}};

bool tn_cl_disk_load(tn_cl_context *cl, const char *folder, const uint64_t hash[2], cl_program *program)
{
    char path[TN_CACHE_PATH];
    tn_file file;
    header head;
    cl_program made = NULL;
    if (!path_of(path, folder, &cl->facts, hash) || tn_file_open(&file, path, NULL) != TN_OK) {
        return false;
    }
    const uint8_t *payload = payload_of(file.data, file.size, &head);
    if (payload && head.device == device_hash(&cl->facts) && head.hash[0] == hash[0] && head.hash[1] == hash[1]) {
        const size_t bytes = (size_t)head.bytes;
        cl_int status = CL_SUCCESS, error = CL_SUCCESS;
        made = cl->driver.CreateProgramWithBinary(cl->context, 1, &cl->id, &bytes, &payload, &status, &error);
        if (made && (error != CL_SUCCESS || status != CL_SUCCESS || cl->driver.BuildProgram(made, 1, &cl->id, "", NULL, NULL) != CL_SUCCESS)) {
            (void)cl->driver.ReleaseProgram(made);
            made = NULL;
        }
    }
    tn_file_close(&file);
    *program = made;
    return made != NULL;
}

void tn_cl_disk_store(tn_cl_context *cl, const char *folder, const uint64_t hash[2], cl_program program)
{
    char path[TN_CACHE_PATH];
    size_t bytes = 0;
    if (cl->driver.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || bytes == 0 ||
        bytes > PAYLOAD_LIMIT || !path_of(path, folder, &cl->facts, hash)) {
        return;
    }
    unsigned char *payload = tn_take(cl->base.heap, bytes);
    if (payload && cl->driver.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof payload, &payload, NULL) == CL_SUCCESS) {
        header head = {.magic = MAGIC, .bytes = bytes, .hash = {hash[0], hash[1]}, .device = device_hash(&cl->facts)};
        head.checksum = tn_hash(payload, bytes, head.device);
        tn_cache_store(folder, path, kinds, TN_CL_DISK_LIMIT, &head, sizeof head, payload, bytes);
    }
    tn_give(cl->base.heap, payload);
}

bool tn_cl_disk_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context)
{
    return tn_cache_list(folder, kinds, visit, context);
}

int tn_cl_disk_prune(const char *folder, uint64_t limit) { return tn_cache_prune(folder, kinds, limit); }
