// SPDX-License-Identifier: Apache-2.0
// Text for people: tables with columns that fit, sizes in words, colour only where a terminal wants it, a progress line.
// Ownership: a table owns copies of its cells until printed. Threads: one.
#ifndef TN_CLI_TEXT_H
#define TN_CLI_TEXT_H

#include "cli.h"
#include "cli_options.h"

#define TN_CLI_COLUMNS 12

typedef struct tn_cli_table {
    int columns;
    const char *heads[TN_CLI_COLUMNS];   // a head that begins with '>' is right-aligned (numbers)
    char **cells;                        // row-major, [rows][columns]
    size_t rows;
} tn_cli_table;

void tn_cli_table_init(tn_cli_table *table, int columns, const char *const *heads);
void tn_cli_table_add(tn_cli_table *table, int column, const char *format, ...) TN_CLI_PRINTF(3, 4);   // column 0 begins a row
void tn_cli_table_print(tn_cli_table *table);                                                           // and frees the cells

// Whether stdout gets colour: from --color, NO_COLOR, TERM and what stdout is.
void tn_cli_color_setup(const tn_cli_options *options);
const char *tn_cli_bold(void);
const char *tn_cli_dim(void);
const char *tn_cli_red(void);
const char *tn_cli_plain(void);

// Into buffer[24]: "1.21 MiB", "385.2 M".
const char *tn_cli_size_text(char *buffer, double bytes);
const char *tn_cli_count_text(char *buffer, double count);

// "1x3x224x224", "scalar" for rank 0, "?" for dims that are not known.
void tn_cli_dims_text(char *buffer, size_t size, int rank, const int64_t *dims);

// A progress line on stderr, only on a terminal and after half a second. done == total wipes it.
void tn_cli_progress(const char *what, uint64_t done, uint64_t total, double seconds);

double tn_cli_seconds(void);   // monotonic

#endif
