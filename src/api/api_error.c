// SPDX-License-Identifier: Apache-2.0
// Version, names of statuses and types, and error objects. Error objects come from the C library: the user's allocator may be what
// failed. When not even that has memory, a static object says so.
#include "api/api.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tenon_error {
    tn_status status;
    char *place;
    char message[];
};

// The status codes and dtypes of both sides are the same numbers.
_Static_assert((int)TENON_OK == (int)TN_OK && (int)TENON_FALLBACK == (int)TN_FALLBACK && (int)TENON_INTERNAL == (int)TN_INTERNAL, "status");
_Static_assert((int)TENON_FLOAT32 == (int)TN_F32 && (int)TENON_INT2 == (int)TN_I2 && (int)TENON_BFLOAT16 == (int)TN_BF16, "dtype");

#define TEXT_OF(x) #x
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char *tenon_version(void) { return VERSION_TEXT(TENON_VERSION_MAJOR, TENON_VERSION_MINOR, TENON_VERSION_PATCH); }
const char *tenon_status_text(tenon_status status) { return tn_status_text((tn_status)status); }
const char *tenon_dtype_text(tenon_dtype dtype) { return tn_dtype_text((tn_dtype)dtype); }
size_t tenon_dtype_bytes(tenon_dtype dtype) { return tn_dtype_bytes((tn_dtype)dtype); }

void tenon_options_init(void *options, size_t struct_size)
{
    if (options && struct_size >= sizeof struct_size) {
        memset(options, 0, struct_size);
        memcpy(options, &struct_size, sizeof struct_size);
    }
}

static bool is_static(const tenon_error *error);

// Same layout as tenon_error with its text in place.
static const struct {
    tn_status status;
    char *place;
    char message[32];
} no_memory_error = {TN_OUT_OF_MEMORY, NULL, "no memory for the error's text"};

static bool is_static(const tenon_error *error) { return (const void *)error == (const void *)&no_memory_error; }

tenon_status tenon_error_status(const tenon_error *error) { return error ? (tenon_status)error->status : TENON_OK; }
const char *tenon_error_message(const tenon_error *error) { return error ? error->message : ""; }
const char *tenon_error_place(const tenon_error *error) { return error && error->place ? error->place : ""; }

void tenon_error_destroy(tenon_error *error)
{
    if (error && !is_static(error)) {
        free(error);
    }
}

tenon_status tn_api_fail(tenon_error **error, tn_status status, const tn_diag *diag)
{
    if (status == TN_OK || !error) {
        return (tenon_status)status;
    }
    const char *message = diag->status != TN_OK ? diag->message : tn_status_text(status);
    const size_t length = strlen(message), place = strlen(diag->place);
    tenon_error *made = malloc(sizeof *made + length + place + 2);
    tenon_error_destroy(*error);
    if (!made) {
        *error = (tenon_error *)(uintptr_t)&no_memory_error;
        return (tenon_status)status;
    }
    made->status = status;
    memcpy(made->message, message, length + 1);
    made->place = made->message + length + 1;
    memcpy(made->place, diag->place, place + 1);
    *error = made;
    return (tenon_status)status;
}

tenon_status tn_api_refuse(tenon_error **error, tn_status status, const char *place, const char *format, ...)
{
    tn_diag diag = {.status = status};
    va_list list;
    va_start(list, format);
    vsnprintf(diag.message, sizeof diag.message, format, list);
    va_end(list);
    snprintf(diag.place, sizeof diag.place, "%s", place ? place : "");
    return tn_api_fail(error, status, &diag);
}

bool tn_api_options(void *into, size_t size, const void *given)
{
    size_t theirs;
    memcpy(&theirs, given, sizeof theirs);
    if (theirs < sizeof theirs || theirs > 65536) {
        return false;
    }
    memcpy(into, given, theirs < size ? theirs : size);
    memcpy(into, &size, sizeof size);
    return true;
}

char *tn_api_copy_text(tn_heap *heap, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = tn_take(heap, bytes);
    if (copy) {
        memcpy(copy, text, bytes);
    }
    return copy;
}
