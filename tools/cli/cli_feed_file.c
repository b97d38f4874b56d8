// SPDX-License-Identifier: Apache-2.0
// Inputs from files (cli_feed.h): arrays, TensorProtos, raw bytes, text, and folders of numbered items for sequences.
// Text is plain lines, not .npy: numpy can only store strings of any length by pickling, which runs code of whoever wrote the file.
// Ownership: what is read belongs to the feed. Threads: one.
#include "cli_feed.h"

#include "cli_text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

// Values in a file without a shape: known dims first; a single open dim, or the last of several, takes what is left.
static bool shape_of_count(tn_cli_feed *feed, tn_cli_tensor *t, uint64_t count)
{
    int last = -1;
    for (int d = 0; d < t->rank; d++) {
        if (t->dims[d] < 0) {
            t->dims[d] = 1;
            feed->open[d] = feed->any_open = true;
            last = d;
        }
    }
    const int64_t known = tn_cli_elements(t->rank, t->dims);
    if (last >= 0 && known > 0 && count % (uint64_t)known == 0) {
        t->dims[last] = (int64_t)(count / (uint64_t)known);
    }
    return known >= 0 && (uint64_t)tn_cli_elements(t->rank, t->dims) == count;
}

static int read_raw(tn_cli_feed *feed, tn_cli_tensor *t, uint8_t *data, size_t size, const char *path)
{
    const size_t element = tenon_dtype_bytes(t->dtype);
    if (t->dtype == TENON_STRING || !element) {
        free(data);
        return tn_cli_fail(TN_EXIT_USAGE, "%s: raw bytes cannot feed an input of type %s", path, tenon_dtype_text(t->dtype));
    }
    if (size % element || !shape_of_count(feed, t, size / element)) {
        char dims[128];
        tn_cli_dims_text(dims, sizeof dims, t->rank, t->dims);
        free(data);
        return tn_cli_fail(TN_EXIT_USAGE, "%s has %zu bytes, which is not a %s of shape %s; give --shape %s=...", path, size,
                           tenon_dtype_text(t->dtype), dims, feed->info.name);
    }
    t->data = data;
    t->bytes = size;
    return TN_EXIT_GOOD;
}

// One string a line. The pointers and the bytes that they point to are one block.
static int read_lines(tn_cli_feed *feed, tn_cli_tensor *t, uint8_t *data, size_t size, const char *path)
{
    size_t lines = size && data[size - 1] != '\n';
    const bool zero = size && memchr(data, 0, size) != NULL;
    for (size_t i = 0; i < size; i++) {
        lines += data[i] == '\n';
    }
    if (t->dtype != TENON_STRING || zero || !shape_of_count(feed, t, lines)) {
        free(data);
        return tn_cli_fail(TN_EXIT_USAGE, "%s has %zu lines%s, which do not fit input '%s' of type %s; give --shape %s=...", path, lines,
                           zero ? " and a zero byte" : "", feed->info.name, tenon_dtype_text(t->dtype), feed->info.name);
    }
    char **cells = tn_cli_take(lines * sizeof *cells + size + 1, 1), *text = (char *)(cells + lines);
    memcpy(text, data, size);
    free(data);
    for (size_t i = 0; i < lines; i++) {
        char *end = text + strcspn(text, "\n");
        cells[i] = text;
        if (end > text && end[-1] == '\r') {
            end[-1] = '\0';
        }
        text = end + 1;
        *end = '\0';
    }
    t->data = cells;
    t->bytes = lines * sizeof *cells;
    return TN_EXIT_GOOD;
}

static const char *const extensions[] = {"npy", "pb", "txt", "bin"};
enum { NPY, PB, TXT, BIN, EXTENSIONS };

static int read_file(tn_cli_feed *feed, tn_cli_tensor *t, int extension, uint8_t *data, size_t size, const char *path)
{
    if (extension == BIN || extension == TXT) {
        return (extension == BIN ? read_raw : read_lines)(feed, t, data, size, path);
    }
    const tenon_dtype expected = t->dtype;
    const int code = extension == NPY ? tn_cli_npy_read(t, data, size, expected, path) : tn_cli_proto_read(t, data, size, path);
    free(data);
    return code;
}

// Tries stem.npy, stem.pb ... *path is the file that was there, or NULL when none was.
static int try_files(tn_cli_feed *feed, tn_cli_tensor *t, const char *stem, int kinds, char **path)
{
    for (int e = 0; e < kinds; e++) {
        uint8_t *data;
        size_t size;
        bool missing = false;
        *path = tn_cli_format("%s.%s", stem, extensions[e]);
        const bool read = tn_cli_file_read(*path, &data, &size, &missing);
        if (!missing) {
            return read ? read_file(feed, t, e, data, size, *path) : TN_EXIT_USAGE;
        }
        free(*path);
    }
    *path = NULL;
    return TN_EXIT_GOOD;
}

// Items 0, 1, 2 ... until one is not there. An empty folder is an empty sequence.
static int read_items(tn_cli_feed *feed, const char *folder, bool *found)
{
    DIR *there = opendir(folder);
    *found = there != NULL;
    if (!there) {
        return TN_EXIT_GOOD;
    }
    closedir(there);
    feed->from = tn_cli_copy(folder);
    feed->source = TN_FEED_FILE;
    for (;;) {
        tn_cli_tensor item = {.dtype = feed->info.dtype, .rank = 1, .dims = {-1}};
        char *stem = tn_cli_format("%s/%zu", folder, feed->n_items), *path;
        const int code = try_files(feed, &item, stem, BIN, &path);
        free(stem);
        if (code || !path) {
            free(path);
            feed->any_open = false;      // items say their own shapes
            return code;
        }
        free(path);
        feed->items = tn_cli_grow(feed->items, feed->n_items + 1, sizeof *feed->items);
        feed->items[feed->n_items++] = item;
    }
}

int tn_cli_feed_read(tn_cli_feed *feed, const char *folder)
{
    const bool sequence = feed->info.kind == TENON_KIND_SEQUENCE;
    for (int flat = 0; flat < 2; flat++) {
        char *name = tn_cli_copy(feed->info.name);
        for (char *c = name; flat && *c; c++) {
            *c = *c == '/' || *c == ':' ? '_' : *c;
        }
        char *stem = tn_cli_format("%s/%s", folder, name), *path = NULL;
        const bool allowed = flat || !strstr(name, "..");
        bool found = false;
        int code = TN_EXIT_GOOD;
        if (allowed && sequence) {
            code = read_items(feed, stem, &found);
        } else if (allowed) {
            code = try_files(feed, &feed->tensor, stem, EXTENSIONS, &path);
            found = path != NULL;
        }
        free(stem);
        free(name);
        if (path) {
            feed->from = path;
            feed->source = TN_FEED_FILE;
        }
        if (code || found) {
            return code;
        }
    }
    if (feed->info.optional) {
        feed->source = TN_FEED_ABSENT;
        return TN_EXIT_GOOD;
    }
    return tn_cli_fail(TN_EXIT_USAGE, sequence ? "input '%s': there is no folder %s in %s" : "input '%s': there is no %s.npy, .pb, .txt or .bin in %s",
                       feed->info.name, feed->info.name, folder);
}
