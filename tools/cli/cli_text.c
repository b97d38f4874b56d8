// SPDX-License-Identifier: Apache-2.0
// Tables, words for numbers, colour and progress (cli_text.h).
// Whether to colour and to show progress are settings of the process, made once from the options.
#include "cli_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool use_color, use_progress;

void tn_cli_table_init(tn_cli_table *table, int columns, const char *const *heads)
{
    *table = (tn_cli_table){.columns = columns};
    for (int c = 0; c < columns; c++) {
        table->heads[c] = heads[c];
    }
}

void tn_cli_table_add(tn_cli_table *table, int column, const char *format, ...)
{
    const size_t columns = (size_t)table->columns;
    if (column == 0) {
        table->cells = tn_cli_grow(table->cells, (table->rows + 1) * columns, sizeof *table->cells);
        memset(&table->cells[table->rows * columns], 0, columns * sizeof *table->cells);
        table->rows++;
    }
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    char **cell = &table->cells[(table->rows - 1) * columns + (size_t)column];
    free(*cell);
    *cell = tn_cli_copy(tn_cli_shown(text));
}

// Columns on the screen that UTF-8 text takes: one for each byte that does not continue a character.
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

static void print_cell(const char *text, int width, bool right, bool last)
{
    const int gap = width - width_of(text);
    if (right) {
        printf("%*s%s", gap, "", text);
    } else if (last) {
        fputs(text, stdout);
    } else {
        printf("%s%*s", text, gap, "");
    }
    fputs(last ? "\n" : "  ", stdout);
}

void tn_cli_table_print(tn_cli_table *table)
{
    int width[TN_CLI_COLUMNS];
    for (int c = 0; c < table->columns; c++) {
        width[c] = width_of(table->heads[c]) - (table->heads[c][0] == '>');
        for (size_t r = 0; r < table->rows; r++) {
            const char *cell = table->cells[r * (size_t)table->columns + (size_t)c];
            const int w = cell ? width_of(cell) : 0;
            width[c] = w > width[c] ? w : width[c];
        }
    }
    fputs(tn_cli_dim(), stdout);
    for (int c = 0; c < table->columns; c++) {
        const bool right = table->heads[c][0] == '>';
        fputs(c ? "" : "  ", stdout);
        print_cell(table->heads[c] + right, width[c], right, c + 1 == table->columns);
    }
    fputs(tn_cli_plain(), stdout);
    for (size_t r = 0; r < table->rows; r++) {
        for (int c = 0; c < table->columns; c++) {
            char *cell = table->cells[r * (size_t)table->columns + (size_t)c];
            fputs(c ? "" : "  ", stdout);
            print_cell(cell ? cell : "", width[c], table->heads[c][0] == '>', c + 1 == table->columns);
            free(cell);
        }
    }
    free(table->cells);
    *table = (tn_cli_table){0};
}

void tn_cli_color_setup(const tn_cli_options *options)
{
    const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
    const bool capable = isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 && !(no_color && *no_color);
    const char *when = options->color ? options->color : "auto";
    use_color = strcmp(when, "always") == 0 || (strcmp(when, "auto") == 0 && capable);
    use_progress = !options->no_progress && !options->quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

const char *tn_cli_bold(void)
{
    return use_color ? "\033[1m" : "";
}

const char *tn_cli_dim(void)
{
    return use_color ? "\033[2m" : "";
}

const char *tn_cli_red(void)
{
    return use_color ? "\033[31m" : "";
}

const char *tn_cli_plain(void)
{
    return use_color ? "\033[0m" : "";
}

const char *tn_cli_size_text(char *buffer, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    while (bytes >= 1024 && u < 4) {
        bytes /= 1024;
        u++;
    }
    snprintf(buffer, 24, u ? "%.2f %s" : "%.0f %s", bytes, units[u]);
    return buffer;
}

const char *tn_cli_count_text(char *buffer, double count)
{
    static const char *const units[] = {"", " k", " M", " G", " T"};
    int u = 0;
    while (count >= 1000 && u < 4) {
        count /= 1000;
        u++;
    }
    snprintf(buffer, 24, u ? "%.2f%s" : "%.0f%s", count, units[u]);
    return buffer;
}

void tn_cli_dims_text(char *buffer, size_t size, int rank, const int64_t *dims)
{
    size_t at = 0;
    snprintf(buffer, size, "%s", rank < 0 ? "unknown" : rank == 0 ? "scalar" : "");
    for (int i = 0; i < rank && at < size; i++) {
        const char *join = i ? "x" : "";
        const int n = dims[i] < 0 ? snprintf(buffer + at, size - at, "%s?", join)
                                  : snprintf(buffer + at, size - at, "%s%lld", join, (long long)dims[i]);
        at += n > 0 ? (size_t)n : 0;
    }
}

void tn_cli_progress(const char *what, uint64_t done, uint64_t total, double seconds)
{
    static double last;
    if (!use_progress || seconds < 0.5) {
        return;
    }
    if (done >= total) {
        fputs("\r\033[K", stderr);
        last = 0;
    } else if (seconds - last >= 0.2) {
        last = seconds;
        const double left = done ? seconds / (double)done * (double)(total - done) : 0;
        fprintf(stderr, "\r%s %llu of %llu, %.0f s left\033[K", what, (unsigned long long)done, (unsigned long long)total, left);
    }
    fflush(stderr);
}

double tn_cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
