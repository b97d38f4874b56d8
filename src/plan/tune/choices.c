// SPDX-License-Identifier: Apache-2.0
// Rows are kept sorted, so that a plan finds a node by bisection. The hash of a node's key is 64 bits of its whole description: two nodes of
// one table that share it are less likely than a broken disk, and would cost speed, never a result.
// Ownership: see the header. Threads: see the header.
#include "plan/tune/choices.h"

#include "base/map.h"
#include "base/num.h"
#include "device/tuning.h"
#include "dispatch/registry.h"
#include "sys/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_ROWS 65536
#define LINE_ROOM 512
#define PATH_ROOM 1024
#define WORDS 9

void tn_choices_init(tn_choices *choices, tn_heap *heap) { *choices = (tn_choices){.heap = heap}; }

void tn_choices_deinit(tn_choices *choices)
{
    tn_give(choices->heap, choices->rows);
    tn_choices_init(choices, choices->heap);
}

// ---- keys ----

static void describe(tn_text *text, const tn_tensor *tensor, const char *kind)
{
    if (!tensor) {
        tn_text_add(text, "|-");
        return;
    }
    tn_text_add(text, "|%s %s", kind, tn_dtype_text(tensor->dtype));
    for (int i = 0; i < tensor->shape.rank; i++) {
        tn_text_add(text, " %" PRId64, tensor->shape.dims[i]);
    }
}

static void shape_text(const tn_query *query, char shape[TN_CHOICES_SHAPE])
{
    size_t length = 0;
    shape[0] = 0;
    for (int i = 0; i < query->n_in; i++) {
        const tn_tensor *t = query->in[i];
        for (int d = 0; t && d < t->shape.rank && length + 24 < TN_CHOICES_SHAPE; d++) {
            length += (size_t)snprintf(shape + length, TN_CHOICES_SHAPE - length, "%s%" PRId64, d ? "x" : i ? "," : "", t->shape.dims[d]);
        }
    }
    if (!length) {
        memcpy(shape, "-", 2);
    }
}

uint64_t tn_choices_node(tn_heap *heap, const tn_query *query, char shape[TN_CHOICES_SHAPE])
{
    tn_text text;
    tn_text_init(&text, heap);
    tn_text_add(&text, "%s", query->op->name);
    if (query->attr) {
        tn_attr_print(query->op, query->attr, &text);
    }
    for (int i = 0; i < query->n_in; i++) {
        describe(&text, query->in[i], query->in[i] && query->in[i]->data ? "constant" : "value");
    }
    for (int i = 0; i < query->n_out; i++) {
        describe(&text, query->out[i], "result");
    }
    const uint64_t hash = text.failed ? 0 : TN_MAX(tn_hash(text.data, text.length, 0), (uint64_t)1);
    tn_text_deinit(&text);
    if (shape) {
        shape_text(query, shape);
    }
    return hash;
}

typedef struct asked {
    const char *name;         // of the row looked for; NULL: none
    const tn_kernel *row;
    uint32_t features;
    uint64_t stamp;
} asked;

static bool visit(const tn_kernel *row, void *context)
{
    asked *a = context;
    if (row->impl < TN_IMPL_OPENCL_IMAGE && !(row->cpu & ~a->features)) {
        a->stamp = tn_hash(row->name, strlen(row->name), a->stamp + row->version);
        a->row = a->name && strcmp(a->name, row->name) == 0 ? row : a->row;
    }
    return true;
}

// A hash of the operator's rows that run with these features, and one of them by name.
static uint64_t stamp_of(const tn_op *op, uint32_t features, const char *name, const tn_kernel **row)
{
    asked a = {.name = name, .features = features};
    tn_registry_visit(op, visit, &a);
    *row = a.row;
    return a.stamp & UINT32_MAX;
}

// ---- rows ----

static int order(const tn_tuned *row, uint64_t node, uint8_t in, uint8_t out)
{
    if (row->node != node) {
        return row->node < node ? -1 : 1;
    }
    return row->in != in ? (int)row->in - in : (int)row->out - out;
}

// Where a key is or belongs.
static size_t place_of(const tn_choices *choices, uint64_t node, uint8_t in, uint8_t out)
{
    size_t low = 0, high = choices->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (order(&choices->rows[middle], node, in, out) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const tn_tuned *tn_choices_find(const tn_choices *choices, uint64_t node, uint8_t in, uint8_t out)
{
    const size_t at = place_of(choices, node, in, out);
    return at < choices->count && order(&choices->rows[at], node, in, out) == 0 ? &choices->rows[at] : NULL;
}

bool tn_choices_knows(const tn_choices *choices, const tn_op *op)
{
    for (size_t i = 0; i < choices->count; i++) {
        if (choices->rows[i].row->op == op) {
            return true;
        }
    }
    return false;
}

bool tn_choices_put(tn_choices *choices, const tn_tuned *row)
{
    const size_t at = place_of(choices, row->node, row->in, row->out);
    if (at < choices->count && order(&choices->rows[at], row->node, row->in, row->out) == 0) {
        choices->rows[at] = *row;
        return true;
    }
    if (choices->count == choices->room) {
        const size_t room = choices->room ? choices->room * 2 : 32;
        tn_tuned *rows = room <= MAX_ROWS ? tn_take_zero(choices->heap, room, sizeof *rows) : NULL;
        if (!rows) {
            return false;
        }
        if (choices->count) {
            memcpy(rows, choices->rows, choices->count * sizeof *rows);
        }
        tn_give(choices->heap, choices->rows);
        choices->rows = rows;
        choices->room = room;
    }
    memmove(&choices->rows[at + 1], &choices->rows[at], (choices->count - at) * sizeof *choices->rows);
    choices->rows[at] = *row;
    choices->count++;
    return true;
}

// ---- text ----

// The lines of the header after the first, which also name the file.
static void add_machine(tn_text *text, const tn_cpu *cpu)
{
    bool any = false;
    tn_text_add(text, "processor %s\nisa ", cpu->name[0] ? cpu->name : "unknown");
#define X(name, bit, word)                                \
    if (cpu->features & TN_CPU_##name) {                  \
        tn_text_add(text, "%s%s", any ? "+" : "", word);  \
        any = true;                                       \
    }
    TN_CPU_LIST(X)
#undef X
    tn_text_add(text, "%s\ncaches %zu %zu\n", any ? "" : "portable", cpu->l1d, cpu->l2);
}

static int layout_of(const char *word)
{
    int found = -1;
    for (int i = 0; word && i < TN_LAYOUT_COUNT; i++) {
        found = strcmp(word, tn_layout_text((tn_layout)i)) == 0 ? i : found;
    }
    return found;
}

static bool hexadecimal(const char *word, size_t digits, uint64_t *value)
{
    char *end = NULL;
    if (!word || strlen(word) != digits || strspn(word, "0123456789abcdef") != digits) {
        return false;
    }
    *value = strtoull(word, &end, 16);
    return *end == 0;
}

typedef struct line {
    char *words[WORDS];
    uint64_t node, stamp;
    int in, out, cache;
    bool alone;
} line;

// Takes a line apart (it is changed). false: it is not whole.
static bool split(char *text, line *l)
{
    char *rest = NULL, *word = strtok_r(text, " ", &rest);
    size_t count = 0;
    for (; word && count < WORDS; word = strtok_r(NULL, " ", &rest)) {
        l->words[count++] = word;
    }
    if (word || count != WORDS || !hexadecimal(l->words[1], 16, &l->node) || !l->node || !hexadecimal(l->words[2], 8, &l->stamp)) {
        return false;
    }
    l->in = layout_of(l->words[3]);
    l->out = layout_of(l->words[4]);
    char *end = NULL;
    const long cache = strtol(l->words[6], &end, 10);
    l->cache = cache >= -TN_CHOICES_CACHE && cache <= TN_CHOICES_CACHE ? (int)cache : 0;
    l->alone = strcmp(l->words[7], "one") == 0;
    return l->in >= 0 && l->out >= 0 && !*end && end != l->words[6] && l->cache == cache && (l->alone || strcmp(l->words[7], "all") == 0);
}

// What a line says to this build; false: nothing, its operator or rows have changed.
static bool row_of(const line *l, const tn_cpu *cpu, tn_tuned *row)
{
    const tn_kernel *kernel = NULL;
    const tn_op *op = tn_registry_op(l->words[0]);
    if (!op || stamp_of(op, cpu->features, l->words[5], &kernel) != l->stamp || !kernel) {
        return false;
    }
    *row = (tn_tuned){.node = l->node, .row = kernel, .in = (uint8_t)l->in, .out = (uint8_t)l->out, .cache = (int8_t)l->cache, .alone = l->alone};
    (void)snprintf(row->shape, sizeof row->shape, "%s", l->words[8]);
    return true;
}

static bool first_line(const char **at, const char *end)
{
    char text[LINE_ROOM];
    const char *value;
    return tn_table_line(at, end, text, sizeof text) && tn_table_named(text, "tenon-cpu-choices", &value) &&
           strtol(value, NULL, 10) == TN_CHOICES_VERSION;
}

tn_status tn_choices_read(tn_choices *choices, const tn_cpu *cpu, const char *text, size_t length, size_t *taken, tn_diag *diag)
{
    const char *at = text, *end = text + length;
    char row_text[LINE_ROOM];
    tn_text machine;
    *taken = 0;
    if (!first_line(&at, end)) {
        return TN_OK;
    }
    tn_text_init(&machine, choices->heap);
    add_machine(&machine, cpu);
    const bool failed = machine.failed, here = !failed && (size_t)(end - at) >= machine.length && memcmp(at, machine.data, machine.length) == 0;
    at += here ? machine.length : 0;
    tn_text_deinit(&machine);
    if (failed) {
        return tn_fail_memory(diag, "choices", LINE_ROOM);
    }
    while (here && *taken < MAX_ROWS && tn_table_line(&at, end, row_text, sizeof row_text)) {
        line l;
        tn_tuned row;
        if (!split(row_text, &l)) {
            continue;
        }
        if (!row_of(&l, cpu, &row)) {
            choices->stale += tn_registry_op(l.words[0]) != NULL;      // else of an application's own operator, perhaps
        } else if (!tn_choices_put(choices, &row)) {
            return choices->room * 2 > MAX_ROWS ? TN_OK : tn_fail_memory(diag, "choices", choices->room * 2 * sizeof row);
        } else {
            (*taken)++;
        }
    }
    return TN_OK;
}

bool tn_choices_whole(const char *text, size_t length)
{
    static const char *const heads[] = {"processor", "isa", "caches"};
    const char *at = text, *end = text + length, *value;
    char row_text[LINE_ROOM];
    if (!length || text[length - 1] != '\n' || !first_line(&at, end)) {
        return false;
    }
    for (size_t i = 0; i < TN_COUNT(heads); i++) {
        if (!tn_table_line(&at, end, row_text, sizeof row_text) || !tn_table_named(row_text, heads[i], &value) || !*value) {
            return false;
        }
    }
    while (tn_table_line(&at, end, row_text, sizeof row_text)) {
        line l;
        if (!split(row_text, &l)) {
            return false;
        }
    }
    return true;
}

void tn_choices_write(const tn_choices *choices, const tn_cpu *cpu, tn_text *text)
{
    tn_text_add(text, "tenon-cpu-choices %d\n", TN_CHOICES_VERSION);
    add_machine(text, cpu);
    for (size_t i = 0; i < choices->count; i++) {
        const tn_tuned *r = &choices->rows[i];
        const tn_kernel *unused;
        tn_text_add(text, "%s %016" PRIx64 " %08" PRIx64 " %s %s %s %d %s %s\n", r->row->op->name, r->node,
                    stamp_of(r->row->op, cpu->features, NULL, &unused), tn_layout_text((tn_layout)r->in), tn_layout_text((tn_layout)r->out), r->row->name,
                    r->cache, r->alone ? "one" : "all", r->shape);
    }
}

// ---- files ----

static bool path_of(const tn_choices *choices, const tn_cpu *cpu, const char *folder, char path[PATH_ROOM], tn_diag *diag, tn_status *status)
{
    tn_text machine;
    tn_text_init(&machine, choices->heap);
    add_machine(&machine, cpu);
    const uint64_t hash = machine.failed ? 0 : tn_hash(machine.data, machine.length, 5);
    *status = machine.failed ? tn_fail_memory(diag, "choices", LINE_ROOM) : TN_OK;
    tn_text_deinit(&machine);
    const int n = snprintf(path, PATH_ROOM, "%s/%016" PRIx64 ".rows", folder, hash);
    return *status == TN_OK && n > 0 && n < PATH_ROOM;
}

tn_status tn_choices_load(tn_choices *choices, const tn_cpu *cpu, const char *folder, tn_diag *diag)
{
    size_t taken;
    char path[PATH_ROOM];
    tn_file file;
    tn_status status = TN_OK;
    for (const tn_choices_source *source = tn_choices_sources; source->name; source++) {
        TN_TRY(tn_choices_read(choices, cpu, (const char *)source->data, source->size, &taken, diag));
    }
    choices->stale = 0;
    if (folder && path_of(choices, cpu, folder, path, diag, &status) && tn_file_open(&file, path, NULL) == TN_OK) {
        status = file.size && file.size <= TN_TUNING_MOST_BYTES ? tn_choices_read(choices, cpu, (const char *)file.data, file.size, &taken, diag) : TN_OK;
        tn_file_close(&file);
    }
    return status;
}

tn_status tn_choices_save(const tn_choices *choices, const tn_cpu *cpu, const char *folder, tn_diag *diag)
{
    char path[PATH_ROOM];
    tn_text text;
    tn_status status;
    if (!path_of(choices, cpu, folder, path, diag, &status)) {
        return status != TN_OK ? status : tn_fail(diag, TN_INVALID_ARGUMENT, "cache", "the folder's path is too long");
    }
    tn_text_init(&text, choices->heap);
    tn_choices_write(choices, cpu, &text);
    (void)mkdir(folder, 0700);
    status = text.failed ? tn_fail_memory(diag, "choices", text.length) : tn_file_write(path, text.data, text.length, diag);
    tn_text_deinit(&text);
    return status;
}
