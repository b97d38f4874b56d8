// SPDX-License-Identifier: Apache-2.0
// Reading tables and looking tiles up in them.
// Ownership: see the header. Threads: see the header.
#include "exec/opencl/tune/cl_table.h"

#include "base/map.h"
#include "device/tuning.h"
#include "exec/opencl/cl_build.h"
#include "sys/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ROWS 65536
#define LINE_ROOM 256

static bool for_device(const char **at, const char *end, const tn_cl_facts *facts)
{
    char line[LINE_ROOM];
    const char *value;
    if (!tn_table_line(at, end, line, sizeof line) || !tn_table_named(line, "tenon-opencl-tiles", &value) || strtol(value, NULL, 10) != TN_CL_TILE_VERSION) {
        return false;
    }
    if (!tn_table_line(at, end, line, sizeof line) || !tn_table_named(line, "device", &value) || !*value || !strstr(facts->name, value)) {
        return false;
    }
    return tn_table_line(at, end, line, sizeof line) && tn_table_named(line, "driver", &value) && (strcmp(value, "*") == 0 || strcmp(value, facts->driver) == 0);
}

// A number of a tile; -1: it is none.
static int small_number(const char *word)
{
    char *end = NULL;
    const long n = word ? strtol(word, &end, 10) : -1;
    return word && *word && !*end && n >= 0 && n <= 4096 ? (int)n : -1;
}

static bool row_of(char *line, const tn_cl_facts *facts, tn_cl_table_row *row)
{
    char *rest = NULL, *layer = strtok_r(line, " ", &rest);
    int v[6];
    if (!layer || strlen(layer) >= TN_CL_LAYER_TEXT) {
        return false;
    }
    for (int i = 0; i < 6; i++) {
        v[i] = small_number(strtok_r(NULL, " ", &rest));
        if (v[i] < 1) {
            return false;
        }
    }
    memset(row->layer, 0, sizeof row->layer);
    memcpy(row->layer, layer, strlen(layer));
    row->tile = (tn_cl_tile){v[0], v[1], v[2], v[3], v[4], v[5]};
    // Rows of a group are no items of it.
    const size_t split = strncmp(layer, "expand", 6) == 0 ? 1 : (size_t)v[2];
    return split * (size_t)v[3] * (size_t)v[4] * (size_t)v[5] <= facts->max_group;
}

bool tn_cl_table_whole(const char *text, size_t length)
{
    static const char *const heads[] = {"tenon-opencl-tiles", "device", "driver"};
    static const tn_cl_facts widest = {.max_group = 4096};
    char line[LINE_ROOM];
    const char *at = text, *end = text + length, *value;
    tn_cl_table_row row;
    for (size_t i = 0; i < TN_COUNT(heads); i++) {
        if (!tn_table_line(&at, end, line, sizeof line) || !tn_table_named(line, heads[i], &value) || !*value) {
            return false;
        }
    }
    while (tn_table_line(&at, end, line, sizeof line)) {
        if (!row_of(line, &widest, &row)) {
            return false;
        }
    }
    return length > 0 && text[length - 1] == '\n';
}

static bool put(tn_cl_table *table, tn_heap *heap, const tn_cl_table_row *row)
{
    for (size_t i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].layer, row->layer) == 0) {
            table->rows[i] = *row;
            return true;
        }
    }
    if (table->count == table->room) {
        const size_t room = table->room ? table->room * 2 : 64;
        tn_cl_table_row *rows = room <= MAX_ROWS ? tn_take_zero(heap, room, sizeof *rows) : NULL;
        if (!rows) {
            return false;
        }
        if (table->count) {
            memcpy(rows, table->rows, table->count * sizeof *rows);
        }
        tn_give(heap, table->rows);
        table->rows = rows;
        table->room = room;
    }
    table->rows[table->count++] = *row;
    return true;
}

size_t tn_cl_table_read(tn_cl_table *table, tn_heap *heap, const tn_cl_facts *facts, const char *text, size_t length)
{
    char line[LINE_ROOM];
    const char *at = text, *end = text + length;
    size_t taken = 0;
    if (!for_device(&at, end, facts)) {
        return 0;
    }
    while (taken < MAX_ROWS && tn_table_line(&at, end, line, sizeof line)) {
        tn_cl_table_row row;
        if (row_of(line, facts, &row)) {
            if (!put(table, heap, &row)) {
                return taken;
            }
            taken++;
        }
    }
    return taken;
}

void tn_cl_table_release(tn_cl_table *table, tn_heap *heap)
{
    tn_give(heap, table->rows);
    *table = (tn_cl_table){.count = 0};
}

void tn_cl_table_path(const tn_cl_facts *facts, const char *folder, char path[TN_CL_TABLE_PATH])
{
    const uint64_t hash = tn_hash(facts->driver, strlen(facts->driver), tn_hash(facts->name, strlen(facts->name), 7));
    const int n = snprintf(path, TN_CL_TABLE_PATH, "%s/%016" PRIx64 ".tiles", folder, hash);
    if (n < 0 || n >= TN_CL_TABLE_PATH) {
        path[0] = 0;
    }
}

static bool is_table(const char *name)
{
    const size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, "_tiles") == 0;
}

static void load(tn_cl_context *cl, const char *folder)
{
    tn_cl_table *table = &cl->tiles;
    if (!cl->shipped_tiles) {
        cl->shipped_tiles = true;
        for (const tn_cl_source *source = tn_cl_sources; source->name; source++) {
            if (is_table(source->name)) {
                (void)tn_cl_table_read(table, cl->base.heap, &cl->facts, (const char *)source->data, source->size);
            }
        }
    }
    if (folder && !cl->own_tiles) {
        char path[TN_CL_TABLE_PATH];
        tn_file file;
        cl->own_tiles = true;
        tn_cl_table_path(&cl->facts, folder, path);
        if (path[0] && tn_file_open(&file, path, NULL) == TN_OK) {
            if (file.size <= TN_TUNING_MOST_BYTES) {
                (void)tn_cl_table_read(table, cl->base.heap, &cl->facts, (const char *)file.data, file.size);
            }
            tn_file_close(&file);
        }
    }
}

void tn_cl_table_load(tn_cl_context *cl, const char *folder)
{
    (void)pthread_mutex_lock(&cl->lock);
    load(cl, folder);
    (void)pthread_mutex_unlock(&cl->lock);
}

bool tn_cl_table_put(tn_cl_context *cl, const char *layer, const tn_cl_tile *tile)
{
    tn_cl_table_row row = {.tile = *tile};
    (void)snprintf(row.layer, sizeof row.layer, "%s", layer);
    (void)pthread_mutex_lock(&cl->lock);
    const bool good = put(&cl->tiles, cl->base.heap, &row);
    (void)pthread_mutex_unlock(&cl->lock);
    return good;
}

void tn_cl_table_write(tn_cl_context *cl, tn_text *text)
{
    (void)pthread_mutex_lock(&cl->lock);
    tn_text_add(text, "tenon-opencl-tiles %d\ndevice %s\ndriver %s\n", TN_CL_TILE_VERSION, cl->facts.name, cl->facts.driver);
    for (size_t i = 0; i < cl->tiles.count; i++) {
        const tn_cl_table_row *row = &cl->tiles.rows[i];
        const tn_cl_tile *t = &row->tile;
        tn_text_add(text, "%s %d %d %d %d %d %d\n", row->layer, t->ob, t->p, t->split_t, t->split_c, t->lanes_x, t->lanes_y);
    }
    (void)pthread_mutex_unlock(&cl->lock);
}

tn_status tn_cl_table_save(tn_cl_context *cl, const char *folder, tn_diag *diag)
{
    char path[TN_CL_TABLE_PATH];
    tn_text text;
    tn_text_init(&text, cl->base.heap);
    tn_cl_table_write(cl, &text);
    tn_cl_table_path(&cl->facts, folder, path);
    (void)mkdir(folder, 0700);
    const tn_status status = text.failed ? tn_fail_memory(diag, "opencl", text.length)
                             : path[0]   ? tn_file_write(path, text.data, text.length, diag)
                                         : tn_fail(diag, TN_INVALID_ARGUMENT, "opencl", "the folder's path is too long");
    tn_text_deinit(&text);
    return status;
}

bool tn_cl_table_find(tn_cl_context *cl, const tn_cl_layer *layer, tn_cl_tile *tile)
{
    char text[TN_CL_LAYER_TEXT];
    bool found = false;
    tn_cl_layer_text(layer, text);
    (void)pthread_mutex_lock(&cl->lock);
    for (size_t i = 0; i < cl->tiles.count && !found; i++) {
        found = strcmp(cl->tiles.rows[i].layer, text) == 0;
        *tile = found ? cl->tiles.rows[i].tile : *tile;
    }
    (void)pthread_mutex_unlock(&cl->lock);
    return found && tn_cl_tile_valid(tile, layer, &cl->facts);
}
