// SPDX-License-Identifier: Apache-2.0
// The DSP's log: a ring of text in the control page (wire/hex_control.h), which the host reads behind it. What stands there may be
// anything: heads and bytes are copied out first, lines are cut to a length, and what is no printable character becomes a '?'.
// Ownership: see hex_link.h. Threads: see hex_link.h.
#include "exec/hexagon/hex_link.h"

#include "base/macros.h"

#include <stdio.h>
#include <string.h>

#define LINE 120                       // characters of a line that are passed on
#define MOST_TEXT ((size_t)1 << 20)    // of a run

static uint32_t head_of(const tn_hex_link *link)
{
    return atomic_load_explicit((_Atomic uint32_t *)(void *)(link->page + TN_HEX_AT_LOG_HEAD), memory_order_acquire);
}

// The character at `at` of all that was ever written.
static char character(const tn_hex_link *link, uint32_t at)
{
    const char c = ((const volatile char *)link->page)[TN_HEX_AT_LOG + at % TN_HEX_LOG_BYTES];
    return c == '\n' || (c >= ' ' && c <= '~') ? c : '?';
}

void tn_hex_log_begin(tn_hex_link *link) { link->log_read = link->log_begin = head_of(link); }

void tn_hex_log_take(tn_hex_link *link, tn_hex_lines *lines)
{
    const uint32_t head = head_of(link);
    // What was written over since is lost, and with it the begin of the line after it.
    uint32_t at = head - link->log_read > TN_HEX_LOG_BYTES ? head - TN_HEX_LOG_BYTES : link->log_read;
    const size_t more = head - at, need = lines->size + more;
    link->log_read = head;
    if (more == 0 || need > MOST_TEXT) {
        return;
    }
    if (need > lines->room) {
        char *bigger = tn_take(link->heap, need);
        if (!bigger) {
            return;
        }
        if (lines->size) {
            memcpy(bigger, lines->text, lines->size);
        }
        tn_give(link->heap, lines->text);
        lines->text = bigger;
        lines->room = need;
    }
    for (; at != head; at++) {
        lines->text[lines->size++] = character(link, at);
    }
}

void tn_hex_log_tell(tn_hex_link *link, tn_hex_lines *lines, void (*tell)(void *context, const char *line), void *context)
{
    char line[LINE + 1];
    size_t n = 0;
    for (size_t at = 0; at < lines->size; at++) {
        const char c = lines->text[at];
        if (c != '\n' && n < LINE) {
            line[n++] = c;
        } else if (c == '\n') {
            line[n] = '\0';
            if (tell && n) {
                tell(context, line);
            }
            n = 0;
        }
    }
    tn_give(link->heap, lines->text);
    *lines = (tn_hex_lines){.text = NULL};
}

void tn_hex_log_last(const tn_hex_link *link, char *text, size_t size)
{
    enum { LINES = 3 };
    const uint32_t head = head_of(link);
    uint32_t begin = head, lines = 0, most = (uint32_t)TN_MIN(size, (size_t)LINES * (LINE + 1)) - 1;
    size_t n = 0;
    for (; begin != link->log_begin && head - begin < most; begin--) {
        lines += head != begin && character(link, begin - 1) == '\n';
        if (lines == LINES) {
            break;
        }
    }
    for (uint32_t at = begin; at != head; at++) {
        const char c = character(link, at);
        text[n++] = c == '\n' ? ',' : c;
    }
    n -= n > 0 && text[n - 1] == ',';
    text[n] = '\0';
}

tn_status tn_hex_log_level(tn_hex_link *link, uint32_t level, tn_diag *diag)
{
    const uint32_t told = link->log_session == link->session ? link->log_level : TN_HEX_LOG_ERRORS;      // what a program begins with
    if (told == level) {
        return TN_OK;
    }
    tn_hex_call call = {.call = TN_HEX_CALL_LOG_LEVEL, .args = &level, .n_args = 1, .place = "hexagon"};
    TN_TRY(tn_hex_link_call(link, &call, diag));
    link->log_session = link->session;
    link->log_level = level;
    return TN_OK;
}
