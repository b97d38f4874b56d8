// SPDX-License-Identifier: Apache-2.0
// JPEG through libjpeg, which is opened when the first picture comes and closed again: nothing that has no pictures to read needs it.
// Its errors end in a jump back here. (Without its header at build time this file is empty.)
// Ownership: libjpeg's own memory, given back. Threads: any, each call its own decoder.
#include "ops/image/picture.h"

#ifdef TN_HAVE_JPEG

#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

#if JPEG_LIB_VERSION >= 80
#define LIBRARY "libjpeg.so.8"
#else
#define LIBRARY "libjpeg.so.62"
#endif

// Functions of the library, by name.
#define FUNCTIONS(X)                                                                                               \
    X(std_error, struct jpeg_error_mgr *, (struct jpeg_error_mgr *))                                               \
    X(CreateDecompress, void, (j_decompress_ptr, int, size_t))                                                     \
    X(mem_src, void, (j_decompress_ptr, const unsigned char *, unsigned long))                                     \
    X(read_header, int, (j_decompress_ptr, boolean))                                                               \
    X(start_decompress, boolean, (j_decompress_ptr))                                                               \
    X(read_scanlines, JDIMENSION, (j_decompress_ptr, JSAMPARRAY, JDIMENSION))                                      \
    X(destroy_decompress, void, (j_decompress_ptr))

typedef struct library {
    void *handle;
#define X(name, result, arguments) result(*name) arguments;
    FUNCTIONS(X)
#undef X
} library;

// The address of a function, through memory: C does not convert pointers to functions.
static bool load(void *handle, const char *name, void *to)
{
    void *address = dlsym(handle, name);
    memcpy(to, &address, sizeof address);
    return address != NULL;
}

static const char *open_library(library *lib)
{
    bool good = true;
    lib->handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!lib->handle) {
        return LIBRARY " is not installed";
    }
#define X(name, result, arguments) good = load(lib->handle, "jpeg_" #name, &lib->name) && good;
    FUNCTIONS(X)
#undef X
    if (!good) {
        dlclose(lib->handle);
        return LIBRARY " lacks a function";
    }
    return NULL;
}

typedef struct errors {
    struct jpeg_error_mgr base;
    jmp_buf back;
} errors;

static void leave(j_common_ptr info) { longjmp(((errors *)info->err)->back, 1); }
static void keep_quiet(j_common_ptr info) { (void)info; }

static bool is_jpeg(tn_bytes file) { return file.size >= 4 && memcmp(file.data, "\xff\xd8\xff", 3) == 0; }

// Reads the head and, with rgb, the pixels. What changes between setjmp and a jump lies in *info.
static const char *decode(const library *lib, struct jpeg_decompress_struct *info, tn_bytes file, tn_picture *picture, uint8_t *rgb)
{
    errors err;
    memset(info, 0, sizeof *info);
    info->err = lib->std_error(&err.base);
    err.base.error_exit = leave;
    err.base.output_message = keep_quiet;
    if (setjmp(err.back)) {
        lib->destroy_decompress(info);
        return "the file is broken";
    }
    lib->CreateDecompress(info, JPEG_LIB_VERSION, sizeof *info);
    lib->mem_src(info, file.data, (unsigned long)file.size);
    lib->read_header(info, TRUE);
    const bool fits = tn_picture_fits(info->image_width, info->image_height) && info->num_components != 4;
    if (!rgb) {
        *picture = (tn_picture){info->image_width, info->image_height};
    } else if (fits && picture->width == info->image_width && picture->height == info->image_height) {
        info->out_color_space = JCS_RGB;
        lib->start_decompress(info);
        while (info->output_scanline < info->output_height) {
            JSAMPROW row = rgb + (size_t)info->output_scanline * info->output_width * 3;
            lib->read_scanlines(info, &row, 1);
        }
    }
    lib->destroy_decompress(info);
    return fits ? NULL : "the size or the colour space is not supported";
}

static const char *head_jpeg(tn_bytes file, tn_heap *heap, tn_picture *out)
{
    library lib;
    struct jpeg_decompress_struct info;
    (void)heap;
    const char *fault = open_library(&lib);
    if (!fault) {
        fault = decode(&lib, &info, file, out, NULL);
        dlclose(lib.handle);
    }
    // A block of 64 pixels takes 2 bits or more, subsampled colours aside.
    const bool small = (uint64_t)out->width * (uint64_t)out->height / 1024 > file.size;
    return fault ? fault : small ? "the file is too small for its size" : NULL;
}

static const char *pixels_jpeg(tn_bytes file, tn_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    library lib;
    struct jpeg_decompress_struct info;
    tn_picture same = *picture;
    (void)heap;
    const char *fault = open_library(&lib);
    if (!fault) {
        fault = decode(&lib, &info, file, &same, rgb);
        dlclose(lib.handle);
    }
    return fault;
}

const tn_picture_reader tn_picture_jpeg = {"JPEG", is_jpeg, head_jpeg, pixels_jpeg};

#else

extern const tn_picture_reader tn_picture_jpeg;   // not there; a file of C holds at least one declaration

#endif
