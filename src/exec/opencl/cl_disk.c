// SPDX-License-Identifier: Apache-2.0
// File: magic, version, payload bytes, two hashes of source and options, hash of device and driver, hash of the payload, payload. All
// numbers are 64-bit little-endian as stored by the machine that also made the binary: it never leaves that machine.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/cl_disk.h"

#include "base/map.h"
#include "exec/opencl/tune/cl_table.h"
#include "sys/file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31504c434e4f4e54)   // "TNONCLP1"
#define PATH_ROOM 1024
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
    const int n = snprintf(path, PATH_ROOM, "%s/%016" PRIx64 "%016" PRIx64 ".clbin", folder, hash[0] ^ device_hash(facts), hash[1]);
    return n > 0 && n < PATH_ROOM;
}

// The payload of a whole file, or NULL.
static const uint8_t *payload_of(const tn_file *file, header *head)
{
    if (file->size < sizeof *head) {
        return NULL;
    }
    memcpy(head, file->data, sizeof *head);
    const uint8_t *payload = file->data + sizeof *head;
    const bool whole = head->magic == MAGIC && head->bytes > 0 && head->bytes == file->size - sizeof *head &&
                       head->checksum == tn_hash(payload, (size_t)head->bytes, head->device);
    return whole ? payload : NULL;
}

bool tn_cl_disk_load(tn_cl_context *cl, const char *folder, const uint64_t hash[2], cl_program *program)
{
    char path[PATH_ROOM];
    tn_file file;
    header head;
    cl_program made = NULL;
    if (!path_of(path, folder, &cl->facts, hash) || tn_file_open(&file, path, NULL) != TN_OK) {
        return false;
    }
    const uint8_t *payload = payload_of(&file, &head);
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

static int drop_oldest(const char *folder, uint64_t limit);

void tn_cl_disk_store(tn_cl_context *cl, const char *folder, const uint64_t hash[2], cl_program program)
{
    char path[PATH_ROOM];
    size_t bytes = 0;
    if (cl->driver.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) != CL_SUCCESS || bytes == 0 ||
        bytes > PAYLOAD_LIMIT || !path_of(path, folder, &cl->facts, hash)) {
        return;
    }
    uint8_t *file = tn_take(cl->base.heap, sizeof(header) + bytes);
    if (!file) {
        return;
    }
    unsigned char *payload = file + sizeof(header);
    if (cl->driver.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof payload, &payload, NULL) == CL_SUCCESS) {
        header head = {.magic = MAGIC, .bytes = bytes, .hash = {hash[0], hash[1]}, .device = device_hash(&cl->facts)};
        head.checksum = tn_hash(payload, bytes, head.device);
        memcpy(file, &head, sizeof head);
        (void)mkdir(folder, 0700);
        if (tn_file_write(path, file, sizeof head + bytes, NULL) == TN_OK) {
            drop_oldest(folder, TN_CL_DISK_LIMIT);
        }
    }
    tn_give(cl->base.heap, file);
}

// ---- the folder ----

static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static bool is_program(const char *name) { return ends_in(name, ".clbin"); }

bool tn_cl_disk_list(const char *folder, void (*visit)(const tn_cache_file *file, void *context), void *context)
{
    DIR *list = opendir(folder);
    if (!list) {
        return false;
    }
    for (const struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        char path[PATH_ROOM];
        tn_file file;
        header head;
        const bool program = is_program(entry->d_name), tiles = ends_in(entry->d_name, ".tiles");
        const int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if ((!program && !tiles) || n < 0 || n >= PATH_ROOM || tn_file_open(&file, path, NULL) != TN_OK) {
            continue;
        }
        const bool whole = program ? payload_of(&file, &head) != NULL : tn_cl_table_whole((const char *)file.data, file.size);
        const tn_cache_file seen = {entry->d_name, program ? "program" : "tiles", file.size, whole};
        tn_file_close(&file);
        visit(&seen, context);
    }
    (void)closedir(list);
    return true;
}

// What a process that was killed while it wrote has left: NAME.clbin.PID-TIME, not touched for an hour.
static bool is_leftover(const char *name, const struct stat *facts)
{
    return strstr(name, ".clbin.") && time(NULL) - facts->st_mtim.tv_sec > 3600;
}

// Bytes of all programs, and the path and size of the one written longest ago. Removes leftovers.
static uint64_t oldest(const char *folder, char *path, uint64_t *size)
{
    DIR *list = opendir(folder);
    uint64_t sum = 0;
    struct timespec when = {0};
    path[0] = 0;
    for (const struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
        char full[PATH_ROOM];
        struct stat facts;
        const int n = snprintf(full, sizeof full, "%s/%s", folder, entry->d_name);
        if (n < 0 || n >= PATH_ROOM || lstat(full, &facts) != 0) {
            continue;
        }
        if (is_leftover(entry->d_name, &facts)) {
            (void)unlink(full);
        }
        if (!is_program(entry->d_name)) {
            continue;
        }
        sum += (uint64_t)facts.st_size;
        const bool older = facts.st_mtim.tv_sec < when.tv_sec || (facts.st_mtim.tv_sec == when.tv_sec && facts.st_mtim.tv_nsec < when.tv_nsec);
        if (!path[0] || older) {
            when = facts.st_mtim;
            *size = (uint64_t)facts.st_size;
            memcpy(path, full, (size_t)n + 1);
        }
    }
    if (list) {
        (void)closedir(list);
    }
    return sum;
}

static int drop_oldest(const char *folder, uint64_t limit)
{
    char path[PATH_ROOM];
    uint64_t size = 0;
    int removed = 0;
    while (oldest(folder, path, &size) > limit && path[0]) {
        if (unlink(path) != 0) {
            return -1;
        }
        removed++;
    }
    return removed;
}

typedef struct broken_file { const char *folder; char path[PATH_ROOM]; } broken_file;

static void note_broken(const tn_cache_file *file, void *context)
{
    broken_file *found = context;
    if (!file->whole && !found->path[0]) {
        const int n = snprintf(found->path, PATH_ROOM, "%s/%s", found->folder, file->name);
        found->path[0] = n > 0 && n < PATH_ROOM ? found->path[0] : 0;
    }
}

int tn_cl_disk_prune(const char *folder, uint64_t limit)
{
    int removed = 0;
    for (broken_file found = {.folder = folder}; tn_cl_disk_list(folder, note_broken, &found) && found.path[0];) {
        if (unlink(found.path) != 0) {
            return -1;
        }
        found.path[0] = 0;
        removed++;
    }
    const int old = drop_oldest(folder, limit);
    return old < 0 ? old : removed + old;
}

bool tn_cl_disk_writable(const char *folder)
{
    struct stat facts;
    (void)mkdir(folder, 0700);
    return stat(folder, &facts) == 0 && S_ISDIR(facts.st_mode) && access(folder, W_OK | X_OK) == 0;
}
