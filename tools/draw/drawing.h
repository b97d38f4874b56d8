// SPDX-License-Identifier: Apache-2.0
// Pictures and files of reports: the arena over time, the timeline of a profile.
// Ownership: reports stay the caller's. Threads: one.
#ifndef TN_DRAW_H
#define TN_DRAW_H

#include "cli_session.h"

// The arena of a MEMORY report: steps to the right, bytes upwards. As a grid of letters on stdout, and as an SVG file (exit code).
void tn_draw_arena_text(const cJSON *memory);
int tn_draw_arena_svg(const cJSON *memory, const char *title, const char *path);

// What belongs to a PROFILE report on paper: what was measured, and what this machine can do at most.
typedef struct tn_draw_profile {
    const char *model, *processor, *isa;
    const cJSON *profile, *memory;
    double peak_gflops, copy_gbps;
} tn_draw_profile;

// Trace events for chrome://tracing and Perfetto; a page that needs nothing else. Exit codes.
int tn_draw_trace(const tn_draw_profile *p, const char *path);
int tn_draw_page(const tn_draw_profile *p, const char *path);

// tools/draw/page.html, embedded by the build.
extern const unsigned char tn_draw_page_bytes[];
extern const unsigned tn_draw_page_size;

#endif
