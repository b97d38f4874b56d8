// SPDX-License-Identifier: Apache-2.0
// WebP through libwebp, which is opened when the first picture comes and closed again. Two functions of its simple decoding interface
// (WebP API documentation) are all that is used; it is the same in all versions of the library's number 7.
// Ownership: libwebp's own memory, given back. Threads: any.
#include "ops/image/picture.h"

#include <dlfcn.h>
#include <string.h>

#define LIBRARY "libwebp.so.7"

typedef struct library {
    void *handle;
    int (*info)(const uint8_t *data, size_t size, int *width, int *height);
    uint8_t *(*decode)(const uint8_t *data, size_t size, uint8_t *to, size_t bytes, int stride);
} library;

static bool is_webp(tn_bytes file) { return file.size >= 16 && memcmp(file.data, "RIFF", 4) == 0 && memcmp(file.data + 8, "WEBP", 4) == 0; }

// The address of a function, through memory: C does not convert pointers to functions.
static bool load(void *handle, const char *name, void *to)
{
    void *address = dlsym(handle, name);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

static const char *open_library(library *lib)
{
    lib->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!lib->handle) {
        return LIBRARY " is not installed";
    }
    if (!load(lib->handle, "WebPGetInfo", &lib->info) || !load(lib->handle, "WebPDecodeRGBInto", &lib->decode)) {
        dlclose(lib->handle);
        return LIBRARY " lacks a function";
    }
    return NULL;
}

static const char *head_webp(tn_bytes file, tn_heap *heap, tn_picture *out)
{
    library lib;
    int width = 0, height = 0;
    (void)heap;
    const char *fault = open_library(&lib);
    if (fault) {
        return fault;
    }
    const bool good = lib.info(file.data, file.size, &width, &height) && tn_picture_fits(width, height);
    dlclose(lib.handle);
    *out = (tn_picture){width, height};
    return good ? NULL : "the file is broken";
}

static const char *pixels_webp(tn_bytes file, tn_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    library lib;
    (void)heap;
    const char *fault = open_library(&lib);
    if (fault) {
        return fault;
    }
    const size_t stride = (size_t)picture->width * 3;
    const bool good = lib.decode(file.data, file.size, rgb, stride * (size_t)picture->height, (int)stride) != NULL;
    dlclose(lib.handle);
    return good ? NULL : "the file is broken";
}

const tn_picture_reader tn_picture_webp = {"WebP", is_webp, head_webp, pixels_webp};
