// SPDX-License-Identifier: Apache-2.0
// Memory, messages and exit codes of the tenon command (cli.h).
// The two settings are those of the process: how it talks to its user.
#include "cli.h"

#include <cjson/cJSON.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool be_quiet;
static const char *json_verb;

static void *taken(void *block)
{
    if (!block) {
        fputs("tenon: no memory left\n", stderr);
        exit(TN_EXIT_LIMIT);
    }
    return block;
}

void *tn_cli_take(size_t count, size_t size)
{
    return taken(calloc(count ? count : 1, size ? size : 1));
}

void *tn_cli_grow(void *block, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) {
        return taken(NULL);
    }
    const size_t bytes = count * size;
    return taken(realloc(block, bytes ? bytes : 1));
}

char *tn_cli_copy(const char *text)
{
    const size_t length = strlen(text) + 1;
    return memcpy(tn_cli_take(length, 1), text, length);
}

static char *format_list(const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = tn_cli_take((size_t)(length > 0 ? length : 0) + 1, 1);
    vsnprintf(text, (size_t)(length > 0 ? length : 0) + 1, format, list);
    return text;
}

char *tn_cli_format(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    return text;
}

// Whether the character at text[0] would steer a terminal: C0, DEL, or C1 as UTF-8 (c2 80 .. c2 9f).
static bool steers(const unsigned char *text)
{
    return text[0] < 32 || text[0] == 127 || (text[0] == 0xc2 && text[1] >= 0x80 && text[1] <= 0x9f);
}

// The text with such characters as escapes; `lines`: newlines stay.
static char *escape(const char *text, bool lines)
{
    const unsigned char *from = (const unsigned char *)text;
    char *copy = tn_cli_take(4 * strlen(text) + 1, 1), *to = copy;
    for (; *from; from++) {
        if (steers(from) && !(lines && *from == '\n')) {
            to += sprintf(to, "\\x%02x", *from == 0xc2 ? *++from : *from);
        } else {
            *to++ = (char)*from;
        }
    }
    return copy;
}

static const char *keep(char *escaped)
{
    static char *kept[8];
    static unsigned next;
    char **slot = &kept[next++ % 8];
    free(*slot);
    *slot = escaped;
    return escaped;
}

const char *tn_cli_shown(const char *text) { return keep(escape(text, false)); }
const char *tn_cli_shown_lines(const char *text) { return keep(escape(text, true)); }

void tn_cli_set_quiet(bool quiet)
{
    be_quiet = quiet;
}

void tn_cli_set_json_errors(const char *verb)
{
    json_verb = verb;
}

void tn_cli_note(const char *format, ...)
{
    if (be_quiet) {
        return;
    }
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    char *safe = escape(text, true);
    fprintf(stderr, "tenon: %s\n", safe);
    free(safe);
    free(text);
}

// Bytes of the well-formed UTF-8 sequence at s, 0 when there is none (Unicode 15, table 3-7). Ends at the zero byte.
static size_t utf8_length(const unsigned char *s)
{
    static const struct { unsigned char low, high, second_low, second_high; size_t length; } rows[] = {
        {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
        {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (s[0] < rows[r].low || s[0] > rows[r].high) {
            continue;
        }
        bool good = rows[r].length == 1 || (s[1] >= rows[r].second_low && s[1] <= rows[r].second_high);
        for (size_t i = 2; good && i < rows[r].length; i++) {
            good = (s[i] & 0xc0) == 0x80;
        }
        return good ? rows[r].length : 0;
    }
    return 0;
}

void tn_cli_print_json(const cJSON *root)
{
    char *text = cJSON_Print(root);
    // Names in models are any bytes, JSON is UTF-8: what is none becomes U+FFFD, as in the library's own reports.
    for (const unsigned char *s = (const unsigned char *)text; s && *s;) {
        const size_t length = utf8_length(s);
        fwrite(length ? (const char *)s : "\xef\xbf\xbd", 1, length ? length : 3, stdout);
        s += length ? length : 1;
    }
    if (text) {
        putchar('\n');
    }
    free(text);
}

static void tell_json(int code, const char *status, const char *place, const char *message)
{
    cJSON *root = json_verb ? cJSON_CreateObject() : NULL;
    if (!root) {
        return;
    }
    cJSON_AddNumberToObject(root, "schema", 1);
    cJSON_AddStringToObject(root, "verb", json_verb);
    cJSON *error = cJSON_AddObjectToObject(root, "error");
    cJSON_AddStringToObject(error, "status", status);
    cJSON_AddStringToObject(error, "place", place);
    cJSON_AddStringToObject(error, "message", message);
    cJSON_AddNumberToObject(error, "exit", code);
    tn_cli_print_json(root);
    cJSON_Delete(root);
}

int tn_cli_fail(int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = format_list(format, list);
    va_end(list);
    char *safe = escape(text, true);
    fprintf(stderr, "tenon: %s\n", safe);
    free(safe);
    tell_json(code, code == TN_EXIT_USAGE ? "usage" : "failed", "", text);
    free(text);
    return code;
}

int tn_cli_exit_of(tenon_status status)
{
    switch (status) {
    case TENON_OK:
        return TN_EXIT_GOOD;
    case TENON_INVALID_ARGUMENT:
    case TENON_NOT_FOUND:
        return TN_EXIT_USAGE;
    case TENON_INVALID_MODEL:
    case TENON_IO:
        return TN_EXIT_MODEL;
    case TENON_UNSUPPORTED:
    case TENON_FALLBACK:
        return TN_EXIT_UNSUPPORTED;
    case TENON_DEVICE:
        return TN_EXIT_DEVICE;
    case TENON_OUT_OF_MEMORY:
    case TENON_LIMIT:
        return TN_EXIT_LIMIT;
    case TENON_CANCELLED:
        return TN_EXIT_INTERRUPT;
    case TENON_STATE:
    case TENON_DEADLINE:
    case TENON_INTERNAL:
        break;
    }
    return TN_EXIT_CHECK;
}

int tn_cli_error(tenon_error *error)
{
    const tenon_status status = error ? tenon_error_status(error) : TENON_OUT_OF_MEMORY;
    const char *place = error ? tenon_error_place(error) : "";
    const char *message = error ? tenon_error_message(error) : "no memory left";
    const int code = tn_cli_exit_of(status);
    char *safe = escape(message, true);
    fprintf(stderr, "tenon: %s%s%s\n", tn_cli_shown(place), *place ? ": " : "", safe);
    free(safe);
    tell_json(code, tenon_status_text(status), place, message);
    tenon_error_destroy(error);
    return code;
}
