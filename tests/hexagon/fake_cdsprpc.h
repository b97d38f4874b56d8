// SPDX-License-Identifier: Apache-2.0
// What the imitated FastRPC library (fake_cdsprpc.c) asks of a test.
// Ownership: the hooks outlive the calls. Threads: as the transport calls.
#ifndef TN_TEST_FAKE_CDSPRPC_H
#define TN_TEST_FAKE_CDSPRPC_H

#include <stddef.h>
#include <stdint.h>

typedef struct fake_arg {
    void *data;
    size_t bytes;
} fake_arg;

typedef struct fake_hooks {
    int (*open)(void);        // 0: failed
    void (*close)(void);
    void (*kill)(void);
    // A message each way; fd: of a buffer to map, or -1. 0, or the number of an error.
    int (*invoke)(const uint32_t *request, int fd, const uint32_t *io, uint32_t n_io, uint32_t *response);
} fake_hooks;

typedef void (*fake_set_hooks_fn)(const fake_hooks *hooks);

#endif
