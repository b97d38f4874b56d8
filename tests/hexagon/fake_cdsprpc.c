// SPDX-License-Identifier: Apache-2.0
// An imitation of the vendor's FastRPC library for tests of the transport: memory of its own, and remote calls that go to functions which
// the test hands in. It checks what it is called with as the real one would.
// Ownership: static tables of the one test. Threads: blocks under a lock; calls as they come.
#include "fake_cdsprpc.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCKS = 256, FAILED = 1, BAD = 14, NONE = 0x27 };

static struct { void *data; size_t bytes; int fd, mapped; } blocks[BLOCKS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const fake_hooks *hooks;

__attribute__((visibility("default"))) void fake_set_hooks(const fake_hooks *given) { hooks = given; }

__attribute__((visibility("default"))) void *rpcmem_alloc(int heap, uint32_t flags, int bytes)
{
    void *data = NULL;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BLOCKS && !data && heap == 25 && flags == 1 && bytes > 0; i++) {
        if (blocks[i].data) {
            continue;
        }
        const int fd = memfd_create("rpcmem", MFD_CLOEXEC);
        data = fd >= 0 && ftruncate(fd, bytes) == 0 ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
        if (data == MAP_FAILED) {
            data = NULL;
            break;
        }
        blocks[i].data = data;
        blocks[i].bytes = (size_t)bytes;
        blocks[i].fd = fd;
        blocks[i].mapped = 0;
    }
    pthread_mutex_unlock(&lock);
    return data;
}

static int place_of(const void *data)
{
    for (int i = 0; data && i < BLOCKS; i++) {
        if (blocks[i].data == data) {
            return i;
        }
    }
    return -1;
}

__attribute__((visibility("default"))) void rpcmem_free(void *data)
{
    pthread_mutex_lock(&lock);
    const int i = place_of(data);
    if (i >= 0) {
        munmap(data, blocks[i].bytes);
        close(blocks[i].fd);
        blocks[i].data = NULL;
    }
    pthread_mutex_unlock(&lock);
}

__attribute__((visibility("default"))) int rpcmem_to_fd(void *data)
{
    const int i = place_of(data);
    return i < 0 ? -1 : blocks[i].fd;
}

__attribute__((visibility("default"))) int fastrpc_mmap(int domain, int fd, void *address, int offset, size_t bytes, int flags)
{
    const int i = place_of(address);
    if (domain != 3 || i < 0 || blocks[i].fd != fd || offset != 0 || bytes != blocks[i].bytes || flags != 2) {
        return BAD;
    }
    blocks[i].mapped = 1;
    return 0;
}

__attribute__((visibility("default"))) int remote_session_control(uint32_t request, void *data, uint32_t bytes)
{
    if (request == 6 && data && bytes == 4 && hooks) {
        hooks->kill();
    }
    return request == 2 || request == 6 ? 0 : FAILED;
}

__attribute__((visibility("default"))) int remote_handle64_open(const char *name, uint64_t *handle)
{
    if (!hooks || !strstr(name, "tn_hex_skel_handle_invoke") || !strstr(name, "_dom=cdsp")) {
        return FAILED;
    }
    *handle = 77;
    return hooks->open() ? 0 : NONE;
}

__attribute__((visibility("default"))) int remote_handle64_close(uint64_t handle)
{
    if (handle == 77 && hooks) {
        hooks->close();
    }
    return 0;
}

__attribute__((visibility("default"))) int remote_handle64_invoke(uint64_t handle, uint32_t scalars, fake_arg *args)
{
    uint32_t numbers[4];
    if (handle != 77 || !hooks || scalars != (2u << 24 | 3u << 16 | 1u << 8) || args[0].bytes != sizeof numbers) {
        return BAD;
    }
    memcpy(numbers, args[0].data, sizeof numbers);
    if (args[1].bytes != 4 * (size_t)numbers[0] || args[2].bytes != 4 * (size_t)numbers[2] || args[3].bytes != 4 * (size_t)numbers[3]) {
        return BAD;
    }
    const int fd = (int)numbers[1];
    for (int i = 0; i < BLOCKS && fd >= 0; i++) {
        if (blocks[i].data && blocks[i].fd == fd && !blocks[i].mapped) {
            return BAD;       // the DSP would not find it
        }
    }
    return hooks->invoke(args[1].data, fd, args[2].data, numbers[2], args[3].data);
}
