// SPDX-License-Identifier: Apache-2.0
// A growing string, and a JSON writer on top of it. Out of memory is sticky: the writer goes on doing nothing and `failed`
// says so at the end. (A JSON library would allocate past the user's allocator through process-wide hooks.)
// Ownership: the text owns its bytes until deinit. Threads: one at a time.
#ifndef TN_TEXT_H
#define TN_TEXT_H

#include "base/alloc.h"
#include "base/macros.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tn_text {
    tn_heap *heap;
    char *data;        // zero-terminated once anything was added
    size_t length, capacity;
    bool failed;       // some addition found no memory
    uint8_t depth;     // JSON nesting, up to 32
    uint32_t comma;    // bit d: level d already holds a member
    bool after_key;
} tn_text;

void tn_text_init(tn_text *text, tn_heap *heap);
void tn_text_deinit(tn_text *text);
void tn_text_add(tn_text *text, const char *format, ...) TN_PRINTF(2, 3);
void tn_text_bytes(tn_text *text, const char *data, size_t length);

// JSON: open and close with '{' or '['; inside an object every value follows a key. Non-finite numbers are written as null.
void tn_json_open(tn_text *text, char bracket);
void tn_json_close(tn_text *text, char bracket);
void tn_json_key(tn_text *text, const char *key);
void tn_json_string(tn_text *text, const char *value);   // NULL is written as null; invalid UTF-8 is replaced
void tn_json_int(tn_text *text, int64_t value);
void tn_json_real(tn_text *text, double value);
void tn_json_bool(tn_text *text, bool value);
void tn_json_null(tn_text *text);

// A key and its value. An unsigned number beyond 2^63 - 1 is written as that.
void tn_json_key_string(tn_text *text, const char *key, const char *value);
void tn_json_key_int(tn_text *text, const char *key, uint64_t value);
void tn_json_key_real(tn_text *text, const char *key, double value);
void tn_json_key_bool(tn_text *text, const char *key, bool value);

#endif
