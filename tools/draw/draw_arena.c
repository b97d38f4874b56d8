// SPDX-License-Identifier: Apache-2.0
// The arena over time (drawing.h). A tensor that took over another's bytes has the same place and life as that one, so it is drawn once: as
// a capital letter in the text, with an outline in the picture.
#include "drawing.h"

#include "cli_file.h"
#include "cli_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct block {
    const char *name, *alias_of;
    double bytes, offset;
    int first, last;
    bool shared;               // other tensors lie in its bytes
} block;

typedef struct arena {
    block *blocks;
    int count, steps;          // steps: one past the last
    double bytes, bound;
} arena;

static void read_arena(arena *a, const cJSON *memory)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(memory, "blocks"), *item;
    *a = (arena){.bytes = tn_cli_number(memory, "arena_bytes", 0), .bound = tn_cli_number(memory, "lower_bound_bytes", 0)};
    a->blocks = tn_cli_take((size_t)cJSON_GetArraySize(list) + 1, sizeof *a->blocks);
    cJSON_ArrayForEach(item, list)
    {
        block *b = &a->blocks[a->count++];
        *b = (block){.name = tn_cli_string(item, "name", ""), .alias_of = tn_cli_string(item, "alias_of", NULL),
                     .bytes = tn_cli_number(item, "bytes", 0), .offset = tn_cli_number(item, "offset", 0),
                     .first = (int)tn_cli_number(item, "first", 0), .last = (int)tn_cli_number(item, "last", 0)};
        a->steps = b->last + 1 > a->steps ? b->last + 1 : a->steps;
    }
    for (int i = 0; i < a->count; i++) {
        for (int j = 0; a->blocks[i].alias_of && j < a->count; j++) {
            a->blocks[j].shared = a->blocks[j].shared || (!a->blocks[j].alias_of && strcmp(a->blocks[j].name, a->blocks[i].alias_of) == 0);
        }
    }
}

static double live_at(const arena *a, int step)
{
    double sum = 0;
    for (int i = 0; i < a->count; i++) {
        const block *b = &a->blocks[i];
        sum += !b->alias_of && b->first <= step && step <= b->last ? b->bytes : 0;
    }
    return sum;
}

// ---- text ----

enum { ROWS = 20, COLUMNS = 100 };

static char letter(const block *b, int index) { return (char)((b->shared ? 'A' : 'a') + index % 26); }

// The letter of the block in the middle of a cell, '.' where nothing lives.
static char cell(const arena *a, double at, int step)
{
    for (int i = 0; i < a->count; i++) {
        const block *b = &a->blocks[i];
        if (!b->alias_of && b->first <= step && step <= b->last && b->offset <= at && at < b->offset + b->bytes) {
            return letter(b, i);
        }
    }
    return '.';
}

void tn_draw_arena_text(const cJSON *memory)
{
    arena a;
    char size[24];
    read_arena(&a, memory);
    if (!a.count || a.bytes <= 0) {
        puts("\n  the plan keeps nothing in the arena");
        free(a.blocks);
        return;
    }
    const int columns = a.steps < COLUMNS ? a.steps : COLUMNS;
    const int bound = (int)((a.bytes - a.bound) / a.bytes * ROWS);
    printf("\nArena: %d steps to the right, bytes upwards; a letter is a tensor, a capital one whose bytes other tensors take over\n", a.steps);
    for (int r = 0; r < ROWS; r++) {
        const double at = a.bytes * (ROWS - r - 0.5) / ROWS;
        printf("  %10s ", r % 5 == 0 ? tn_cli_size_text(size, a.bytes * (ROWS - r) / ROWS) : "");
        for (int c = 0; c < columns; c++) {
            putchar(cell(&a, at, (int)((c + 0.5) * a.steps / columns)));
        }
        printf("%s%s\n", r == 0 ? " <- peak" : "", r == bound ? (r == 0 ? " = lower bound" : " <- lower bound") : "");
    }
    printf("  %10s ", "live");
    for (int c = 0; c < columns; c++) {
        const int tenth = (int)(live_at(&a, (int)((c + 0.5) * a.steps / columns)) / a.bytes * 10);
        putchar(tenth > 9 ? '#' : (char)('0' + tenth));
    }
    puts(" tenths of the arena (#: all)\n");
    free(a.blocks);
}

// ---- SVG ----

enum { WIDTH = 1200, HEIGHT = 520, LEFT = 76, RIGHT = 16, TOP = 44, BOTTOM = 40 };

static double x_of(const arena *a, double step) { return LEFT + step / a->steps * (WIDTH - LEFT - RIGHT); }
static double y_of(const arena *a, double bytes) { return HEIGHT - BOTTOM - bytes / a->bytes * (HEIGHT - TOP - BOTTOM); }

static int add(tn_cli_writer *w, const char *format, ...) TN_CLI_PRINTF(2, 3);

static int add(tn_cli_writer *w, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    const int length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return tn_cli_writer_add(w, text, length < 0 ? 0 : (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

// Names come from the model: what XML gives a meaning is written as a reference, what it forbids as a question mark. About `most` bytes,
// whole characters.
static const char *escaped(char *buffer, size_t room, const char *text, size_t most)
{
    size_t at = 0;
    for (size_t i = 0; text[i] && (i < most || ((unsigned char)text[i] & 0xc0) == 0x80) && at + 8 < room; i++) {
        const unsigned char c = (unsigned char)text[i];
        const char *reference = c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : c == '"' ? "&quot;" : c < 32 || c == 127 ? "?" : NULL;
        const size_t length = reference ? strlen(reference) : 1;
        memcpy(buffer + at, reference ? reference : &text[i], length);
        at += length;
    }
    buffer[at] = '\0';
    return buffer;
}

static int add_head(tn_cli_writer *w, const arena *a, const char *title)
{
    char name[512], size[24], bound[24];
    int code = add(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n<style>\n"
                      "  :root { color-scheme: light dark } text { font: 12px system-ui, sans-serif; fill: #636c76 }\n"
                      "  .page { fill: #ffffff } .grid { stroke: #e4e6ea } .bound { stroke: #b42318; stroke-dasharray: 6 4 }\n"
                      "  .peak { stroke: #1f2328 } .live { fill: none; stroke: #1f2328; stroke-width: 1.5 } .head { font-size: 15px; fill: #1f2328 }\n",
                   WIDTH, HEIGHT);
    code = code ? code : add(w, "  .c0 { fill: #7fabd9 } .c1 { fill: #e9b37d } .c2 { fill: #82bd9a } .c3 { fill: #b79bd0 } .c4 { fill: #de93a9 }\n"
                                "  .c5 { fill: #7fc5cc } .c6 { fill: #c2b678 } .shared { stroke: #1f2328; stroke-width: 1.2 } .label { font-size: 10px; fill: #1f2328 }\n"
                                "  @media (prefers-color-scheme: dark) { .page { fill: #16191c } text { fill: #9aa3ad } .grid { stroke: #2b3036 }\n"
                                "    .head, .label { fill: #e6e8ea } .peak, .live, .shared { stroke: #e6e8ea } .bound { stroke: #ff8a7a }\n"
                                "    rect { fill-opacity: 0.62 } .page { fill-opacity: 1 } }\n</style>\n<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    return code ? code : add(w, "<text class=\"head\" x=\"%d\" y=\"24\">%s: arena %s over %d steps, lower bound %s</text>\n", LEFT,
                             escaped(name, sizeof name, title, 160), tn_cli_size_text(size, a->bytes), a->steps, tn_cli_size_text(bound, a->bound));
}

static int add_axes(tn_cli_writer *w, const arena *a)
{
    char size[24];
    int code = TN_EXIT_GOOD;
    for (int i = 0; !code && i <= 4; i++) {
        const double y = y_of(a, a->bytes * i / 4);
        code = add(w, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT,
                   WIDTH - RIGHT, y, y, LEFT - 6, y + 4, tn_cli_size_text(size, a->bytes * i / 4));
    }
    for (int i = 0; !code && i <= 8; i++) {
        const int step = (int)((double)a->steps * i / 8 + 0.5);
        code = add(w, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", x_of(a, step), HEIGHT - BOTTOM + 18, step);
    }
    return code ? code : add(w, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">step</text>\n", WIDTH - RIGHT, HEIGHT - 6);
}

static int add_block(tn_cli_writer *w, const arena *a, int index)
{
    const block *b = &a->blocks[index];
    char name[512], label[128], size[24];
    const double x = x_of(a, b->first), wide = x_of(a, b->last + 1) - x, y = y_of(a, b->offset + b->bytes), high = y_of(a, b->offset) - y;
    int code = add(w, "<rect class=\"c%d%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"><title>%s\n%s, steps %d to %d</title></rect>\n", index % 7,
                   b->shared ? " shared" : "", x, y, wide > 1.4 ? wide - 0.6 : 0.8, high > 1.4 ? high - 0.6 : 0.8,
                   escaped(name, sizeof name, b->name, 300), tn_cli_size_text(size, b->bytes), b->first, b->last);
    if (!code && wide > 60 && high > 14) {
        code = add(w, "<text class=\"label\" x=\"%.2f\" y=\"%.2f\">%s</text>\n", x + 4, y + 11, escaped(label, sizeof label, b->name, (size_t)(wide / 6)));
    }
    return code;
}

static int add_lines(tn_cli_writer *w, const arena *a)
{
    int code = add(w, "<path class=\"live\" d=\"M%d %.2f", LEFT, y_of(a, live_at(a, 0)));
    for (int s = 0; !code && s < a->steps; s++) {
        const double y = y_of(a, live_at(a, s));
        code = add(w, " L%.2f %.2f L%.2f %.2f", x_of(a, s), y, x_of(a, s + 1), y);
    }
    code = code ? code : add(w, "\"><title>live bytes at each step</title></path>\n");
    code = code ? code : add(w, "<line class=\"peak\" x1=\"%d\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\"/>\n", LEFT, WIDTH - RIGHT, y_of(a, a->bytes), y_of(a, a->bytes));
    code = code ? code : add(w, "<line class=\"bound\" x1=\"%d\" x2=\"%d\" y1=\"%.2f\" y2=\"%.2f\"/>\n", LEFT, WIDTH - RIGHT, y_of(a, a->bound), y_of(a, a->bound));
    return code ? code : add(w, "<text x=\"%d\" y=\"%d\">solid: peak; dashed: lower bound; curve: live bytes; outlined: bytes that other tensors "
                                "take over</text>\n", LEFT, HEIGHT - 6);
}

int tn_draw_arena_svg(const cJSON *memory, const char *title, const char *path)
{
    arena a;
    tn_cli_writer writer;
    int code = tn_cli_writer_open(&writer, path);
    if (code) {
        return code;
    }
    read_arena(&a, memory);
    a.bytes = a.bytes > 0 ? a.bytes : 1;      // an empty arena is an empty picture
    a.steps = a.steps > 0 ? a.steps : 1;
    code = add_head(&writer, &a, title);
    code = code ? code : add_axes(&writer, &a);
    for (int i = 0; !code && i < a.count; i++) {
        code = a.blocks[i].alias_of ? TN_EXIT_GOOD : add_block(&writer, &a, i);
    }
    code = code ? code : add_lines(&writer, &a);
    code = code ? code : add(&writer, "</svg>\n");
    free(a.blocks);
    return code ? code : tn_cli_writer_close(&writer);
}
