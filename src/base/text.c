// SPDX-License-Identifier: Apache-2.0
// The growing string and the JSON writer (RFC 8259). Numbers are written with a point whatever the host's locale says.
// Ownership: bytes are the text's until deinit. Threads: one at a time.
#include "base/text.h"
#include "base/num.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_DEPTH 32

void tn_text_init(tn_text *text, tn_heap *heap)
{
    *text = (tn_text){.heap = heap};
}

void tn_text_deinit(tn_text *text)
{
    tn_give(text->heap, text->data);
    *text = (tn_text){.heap = text->heap};
}

// Room for `more` characters and the closing zero.
static bool reserve(tn_text *text, size_t more)
{
    size_t need;
    if (text->failed) {
        return false;
    }
    if (!tn_add_size(text->length, more, &need) || !tn_add_size(need, 1, &need)) {
        text->failed = true;
        return false;
    }
    if (need <= text->capacity) {
        return true;
    }
    const size_t capacity = need < 128 ? 256 : need > SIZE_MAX / 2 ? need : need * 2;
    char *data = tn_take(text->heap, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    if (text->length) {
        memcpy(data, text->data, text->length);
    }
    data[text->length] = 0;
    tn_give(text->heap, text->data);
    text->data = data;
    text->capacity = capacity;
    return true;
}

void tn_text_bytes(tn_text *text, const char *data, size_t length)
{
    if (!reserve(text, length)) {
        return;
    }
    if (length) {
        memcpy(text->data + text->length, data, length);
    }
    text->length += length;
    text->data[text->length] = 0;
}

void tn_text_add(tn_text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(NULL, 0, format, values);
    va_end(values);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if (!reserve(text, (size_t)length)) {
        return;
    }
    va_start(values, format);
    vsnprintf(text->data + text->length, (size_t)length + 1, format, values);
    va_end(values);
    text->length += (size_t)length;
}

static void json_char(tn_text *text, char c) { tn_text_bytes(text, &c, 1); }

// The comma before a member or element, unless it is the first or follows its key.
static void separate(tn_text *text)
{
    if (text->after_key) {
        text->after_key = false;
        return;
    }
    if (text->depth) {
        const uint32_t bit = 1u << (text->depth - 1);
        if (text->comma & bit) {
            json_char(text, ',');
        }
        text->comma |= bit;
    }
}

void tn_json_open(tn_text *text, char bracket)
{
    separate(text);
    json_char(text, bracket);
    if (text->depth == MAX_DEPTH) {
        text->failed = true;
        return;
    }
    text->depth++;
    text->comma &= ~(1u << (text->depth - 1));
}

void tn_json_close(tn_text *text, char bracket)
{
    json_char(text, bracket == '{' || bracket == '}' ? '}' : ']');
    if (text->depth) {
        text->depth--;
    }
}

// Bytes of the well-formed UTF-8 sequence at s, 0 when there is none (Unicode 15, table 3-7). Ends at the zero byte.
static int utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) {
        return 1;
    }
    const int n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4) {
        return 0;
    }
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
                     (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : n;
}

static void json_escaped(tn_text *text, const char *value)
{
    const unsigned char *s = (const unsigned char *)value;
    json_char(text, '"');
    while (*s) {
        const int n = utf8_length(s);
        if (n == 0) {
            tn_text_bytes(text, "\xef\xbf\xbd", 3);   // U+FFFD, the replacement character
            s++;
        } else if (*s == '"' || *s == '\\') {
            json_char(text, '\\');
            json_char(text, (char)*s++);
        } else if (*s < 0x20 || *s == 0x7f) {
            tn_text_add(text, "\\u%04x", *s++);
        } else {
            tn_text_bytes(text, (const char *)s, (size_t)n);
            s += n;
        }
    }
    json_char(text, '"');
}

void tn_json_key(tn_text *text, const char *key)
{
    separate(text);
    json_escaped(text, key);
    json_char(text, ':');
    text->after_key = true;
}

void tn_json_string(tn_text *text, const char *value)
{
    if (!value) {
        tn_json_null(text);
        return;
    }
    separate(text);
    json_escaped(text, value);
}

void tn_json_int(tn_text *text, int64_t value)
{
    separate(text);
    tn_text_add(text, "%lld", (long long)value);
}

void tn_json_real(tn_text *text, double value)
{
    if (!isfinite(value)) {
        tn_json_null(text);
        return;
    }
    separate(text);
    char digits[40];
    for (int precision = 15; precision <= 17; precision++) {   // the shortest of these that reads back as the same number
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) {
            break;
        }
    }
    for (char *c = digits; *c; c++) {
        if (!((*c >= '0' && *c <= '9') || *c == '-' || *c == '+' || *c == 'e')) {
            *c = '.';
        }
    }
    tn_text_add(text, "%s", digits);
}

void tn_json_bool(tn_text *text, bool value)
{
    separate(text);
    tn_text_add(text, value ? "true" : "false");
}

void tn_json_null(tn_text *text)
{
    separate(text);
    tn_text_add(text, "null");
}

void tn_json_key_string(tn_text *text, const char *key, const char *value)
{
    tn_json_key(text, key);
    tn_json_string(text, value);
}

void tn_json_key_int(tn_text *text, const char *key, uint64_t value)
{
    tn_json_key(text, key);
    tn_json_int(text, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void tn_json_key_real(tn_text *text, const char *key, double value)
{
    tn_json_key(text, key);
    tn_json_real(text, value);
}

void tn_json_key_bool(tn_text *text, const char *key, bool value)
{
    tn_json_key(text, key);
    tn_json_bool(text, value);
}
