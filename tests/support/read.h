// SPDX-License-Identifier: Apache-2.0
// Whole files for unit tests.
// Ownership: the caller frees data. Threads: any.
#ifndef TN_TEST_READ_H
#define TN_TEST_READ_H

#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>

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

#endif
