// SPDX-License-Identifier: Apache-2.0
// Whole files for unit tests, and inputs that were recorded in one.
// Ownership: the caller frees data. Threads: any.
#ifndef TN_TEST_READ_H
#define TN_TEST_READ_H

#include "support/unit.h"

#include <tenon/tenon.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static inline bytes read_all(const char *path)
{
    bytes b = {NULL, 0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    b.size = (size_t)ftell(file);
    rewind(file);
    b.data = malloc(b.size + 1);
    assert_int_equal(fread(b.data, 1, b.size, file), b.size);
    fclose(file);
    return b;
}

// ---- recorded inputs (data/kinds.bin): name length, name, dtype, rank, dims, bytes, data; one after another ----

static inline const unsigned char *read_u32(const unsigned char *at, uint32_t *value)
{
    memcpy(value, at, sizeof *value);
    return at + sizeof *value;
}

// Sets all of them. The first status that is not OK.
static inline tenon_status feed_recorded(tenon_session *session, const bytes *feeds, tenon_error **error)
{
    tenon_status status = TENON_OK;
    for (const unsigned char *at = feeds->data; at < feeds->data + feeds->size && status == TENON_OK;) {
        uint32_t length, dtype, rank, size;
        char name[256];
        int64_t dims[8];
        at = read_u32(at, &length);
        memcpy(name, at, length);
        name[length] = 0;
        at = read_u32(at + length, &dtype);
        at = read_u32(at, &rank);
        memcpy(dims, at, rank * sizeof *dims);
        at = read_u32(at + rank * sizeof *dims, &size);
        status = tenon_session_set_input(session, name, (tenon_dtype)dtype, (int)rank, dims, at, size, error);
        at += size;
    }
    return status;
}

#endif
