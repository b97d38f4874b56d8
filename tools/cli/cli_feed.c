// SPDX-License-Identifier: Apache-2.0
// Collecting the inputs of a run (cli_feed.h). Order: what the model declares, --shape, files and pictures, dims known by their
// symbol from those, and last the search for the smallest shape that the graph accepts.
#include "cli_feed.h"

#include "cli_picture_feed.h"
#include "cli_text.h"

#include <stdlib.h>
#include <string.h>

#define SMALL_INPUT 4096                  // elements of an input whose values are made before anything is planned: they may decide shapes
#define LARGEST_INPUT ((uint64_t)1 << 32) // bytes: the library's own limit, known before memory is taken for random values

static const char *feed_name(const void *table, size_t i)
{
    return ((const tn_cli_feed *)table)[i].info.name;
}

tn_cli_feed *tn_cli_feeds_find(const tn_cli_feeds *feeds, const char *name, size_t length, const char *option, int *code)
{
    for (size_t i = 0; i < feeds->count; i++) {
        const char *known = feeds->items[i].info.name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            return &feeds->items[i];
        }
    }
    char *word = tn_cli_format("%.*s", (int)length, name);
    const char *near = tn_cli_nearest(word, feed_name, feeds->items, feeds->count);
    if (!near && feeds->count == 1) {
        near = feeds->items[0].info.name;
    }
    *code = tn_cli_fail(TN_EXIT_USAGE, "%s: the model has no input '%s'%s%s%s", option, word, near ? "; did you mean '" : "",
                        near ? near : "", near ? "'?" : "");
    free(word);
    return NULL;
}

static int describe(tn_cli_feeds *feeds, const tn_cli_session *s)
{
    feeds->count = tenon_model_input_count(s->model);
    feeds->items = tn_cli_take(feeds->count, sizeof *feeds->items);
    for (size_t i = 0; i < feeds->count; i++) {
        tn_cli_feed *feed = &feeds->items[i];
        feed->info.struct_size = sizeof feed->info;
        if (tenon_model_input(s->model, i, &feed->info) != TENON_OK) {
            feeds->count = i;
            return tn_cli_fail(TN_EXIT_MODEL, "input %zu cannot be described", i);
        }
        feed->info.name = tn_cli_copy(feed->info.name);
        for (int d = 0; d < feed->info.rank; d++) {
            feed->info.symbols[d] = feed->info.symbols[d] ? tn_cli_copy(feed->info.symbols[d]) : NULL;
        }
        feed->tensor.dtype = feed->info.dtype;
        feed->tensor.rank = feed->info.rank < 0 ? 1 : feed->info.rank;
        for (int d = 0; d < feed->tensor.rank; d++) {
            feed->tensor.dims[d] = feed->info.rank < 0 ? -1 : feed->info.dims[d];
        }
    }
    return TN_EXIT_GOOD;
}

// "1x3x224x224", "1,3,224,224" or "" (a scalar).
static bool parse_dims(const char *text, tn_cli_tensor *tensor)
{
    tensor->rank = 0;
    while (*text) {
        char *end;
        if (*text < '0' || *text > '9' || tensor->rank == 8) {
            return false;
        }
        tensor->dims[tensor->rank++] = strtoll(text, &end, 10);
        if (*end && *end != 'x' && *end != 'X' && *end != ',') {
            return false;
        }
        if (*end && !end[1]) {
            return false;
        }
        text = end + (*end != '\0');
    }
    return tn_cli_elements(tensor->rank, tensor->dims) >= 0;
}

static int apply_shapes(tn_cli_feeds *feeds, const tn_cli_options *options)
{
    for (size_t i = 0; i < options->shapes.count; i++) {
        const char *text = options->shapes.items[i], *split = strrchr(text, '=');
        int code = TN_EXIT_GOOD;
        tn_cli_feed *feed = NULL;
        if (split) {
            feed = tn_cli_feeds_find(feeds, text, (size_t)(split - text), "--shape", &code);
        } else if (feeds->count == 1) {
            feed = &feeds->items[0];
        } else {
            code = tn_cli_fail(TN_EXIT_USAGE, "--shape takes NAME=1x3x224x224, not '%s'", text);
        }
        if (!feed) {
            return code;
        }
        if (!parse_dims(split ? split + 1 : text, &feed->tensor)) {
            return tn_cli_fail(TN_EXIT_USAGE, "--shape '%s': dims look like 1x3x224x224, at most eight, and their product fits 63 bits", text);
        }
        feed->shaped = true;
    }
    return TN_EXIT_GOOD;
}

// What a file holds has a shape of its own: --shape must not say another one.
static int check_shaped(const tn_cli_feed *feed, const tn_cli_tensor *asked)
{
    const tn_cli_tensor *t = &feed->tensor;
    if (feed->shaped && feed->source != TN_FEED_RANDOM &&
        (t->rank != asked->rank || memcmp(t->dims, asked->dims, (size_t)t->rank * sizeof *t->dims) != 0)) {
        char have[128], want[128];
        tn_cli_dims_text(have, sizeof have, t->rank, t->dims);
        tn_cli_dims_text(want, sizeof want, asked->rank, asked->dims);
        return tn_cli_fail(TN_EXIT_USAGE, "input '%s': %s gives %s, but --shape says %s", feed->info.name, feed->from ? feed->from : "the file", have,
                           want);
    }
    return TN_EXIT_GOOD;
}

static int load_files(tn_cli_feeds *feeds, const tn_cli_options *options)
{
    tn_cli_tensor *asked = tn_cli_take(feeds->count + 1, sizeof *asked);
    for (size_t i = 0; i < feeds->count; i++) {
        asked[i] = feeds->items[i].tensor;
    }
    int code = tn_cli_feeds_pictures(feeds, options);
    for (size_t i = 0; !code && i < feeds->count; i++) {
        tn_cli_feed *feed = &feeds->items[i];
        if (options->inputs && feed->source == TN_FEED_RANDOM) {
            code = tn_cli_feed_read(feed, options->inputs);
            code = code ? code : check_shaped(feed, &asked[i]);
        } else if (feed->source == TN_FEED_PICTURE) {
            code = check_shaped(feed, &asked[i]);
        } else if (feed->source == TN_FEED_RANDOM && feed->info.optional) {
            feed->source = TN_FEED_ABSENT;
        }
    }
    free(asked);
    return code;
}

static const char *symbol_of(const tn_cli_feed *feed, int d)
{
    return feed->info.rank >= 0 && d < feed->info.rank ? feed->info.symbols[d] : NULL;
}

// A dim named "batch" is what another input, whose shape is known, has under that name.
static int64_t known_by_symbol(const tn_cli_feeds *feeds, const char *symbol)
{
    for (size_t i = 0; symbol && i < feeds->count; i++) {
        const tn_cli_feed *feed = &feeds->items[i];
        for (int d = 0; d < feed->tensor.rank && d < feed->info.rank; d++) {
            if (symbol_of(feed, d) && strcmp(symbol_of(feed, d), symbol) == 0 && feed->tensor.dims[d] >= 0 && !feed->open[d]) {
                return feed->tensor.dims[d];
            }
        }
    }
    return -1;
}

// One free quantity of the search: all open dims of one symbol, or one unnamed open dim.
typedef struct unknown {
    const char *symbol;
    size_t feed;
    int dim;
    int64_t value;
} unknown;

static bool is_of(const unknown *u, const tn_cli_feeds *feeds, size_t feed, int dim)
{
    const char *symbol = symbol_of(&feeds->items[feed], dim);
    return u->symbol ? symbol && strcmp(symbol, u->symbol) == 0 : u->feed == feed && u->dim == dim;
}

static size_t collect_unknowns(tn_cli_feeds *feeds, unknown **list)
{
    size_t count = 0;
    *list = NULL;
    for (size_t i = 0; i < feeds->count; i++) {
        tn_cli_feed *feed = &feeds->items[i];
        for (int d = 0; feed->source == TN_FEED_RANDOM && d < feed->tensor.rank; d++) {
            if (feed->tensor.dims[d] >= 0) {
                continue;
            }
            feed->tensor.dims[d] = known_by_symbol(feeds, symbol_of(feed, d));
            if (feed->tensor.dims[d] >= 0) {
                continue;
            }
            feed->open[d] = feed->any_open = true;
            bool listed = false;
            for (size_t k = 0; k < count; k++) {
                listed |= is_of(&(*list)[k], feeds, i, d);
            }
            if (!listed) {
                *list = tn_cli_grow(*list, count + 1, sizeof **list);
                (*list)[count++] = (unknown){symbol_of(feed, d), i, d, 1};
            }
        }
    }
    return count;
}

// Contents for inputs that decide shapes, in the order in which they are tried: counts, sizes, repeats, scales and conditions take ones; a
// shape to be filled up ends in -1; axes and orders count; starts and widths of borders take zeros. Last what the generator draws.
enum { ALL_ONES, ONES_THEN_REST, COUNTING, ALL_ZEROS, DRAWN, PATTERNS };

static void set_pattern(tn_cli_feed *feed)
{
    const size_t count = (size_t)tn_cli_elements(feed->tensor.rank, feed->tensor.dims);
    for (size_t i = 0; i < count; i++) {
        const int rest = i + 1 == count ? -1 : 1;
        const int value = feed->pattern == ALL_ONES ? 1 : feed->pattern == ONES_THEN_REST ? rest : feed->pattern == COUNTING ? (int)i : 0;
        tn_cli_set_element(feed->tensor.dtype, feed->tensor.data, i, value);
    }
}

// Each input has a generator of its own, so that its values do not depend on the sizes of others.
static bool fill(tn_cli_feed *feed, size_t index, uint64_t seed)
{
    uint64_t state = seed + index * UINT64_C(0x9e3779b97f4a7c15);
    const bool good = tn_cli_tensor_random(&feed->tensor, &state);
    if (good && feed->decides && feed->pattern != DRAWN && feed->tensor.dtype != TENON_STRING) {
        set_pattern(feed);
    }
    return good;
}

static bool is_small(const tn_cli_feed *feed) { return tn_cli_elements(feed->tensor.rank, feed->tensor.dims) <= SMALL_INPUT; }

// Gives random inputs the shapes of the list, and those that may decide shapes their values too; the others get theirs when all is planned.
static int shape_random(tn_cli_feeds *feeds, const unknown *list, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < feeds->count; i++) {
        tn_cli_feed *feed = &feeds->items[i];
        if (feed->source != TN_FEED_RANDOM) {
            continue;
        }
        if (feed->info.kind == TENON_KIND_SEQUENCE) {
            return tn_cli_fail(TN_EXIT_USAGE, "input '%s' is a sequence: give --inputs DIR with a folder DIR/%s of 0.npy, 1.npy ...", feed->info.name,
                               feed->info.name);
        }
        for (int d = 0; d < feed->tensor.rank; d++) {
            for (size_t k = 0; k < count && feed->open[d]; k++) {
                if (is_of(&list[k], feeds, i, d)) {
                    feed->tensor.dims[d] = list[k].value;
                }
            }
        }
        const size_t element = tenon_dtype_bytes(feed->tensor.dtype);
        const int64_t elements = tn_cli_elements(feed->tensor.rank, feed->tensor.dims);
        if (elements < 0 || (element && elements > (int64_t)(LARGEST_INPUT / element))) {
            return tn_cli_fail(TN_EXIT_LIMIT, "input '%s' would have more than the 4 GiB that a tensor may take", feed->info.name);
        }
        if (is_small(feed) && !fill(feed, i, seed)) {
            return tn_cli_fail(TN_EXIT_USAGE, "input '%s' of type %s needs values: give --inputs", feed->info.name, tenon_dtype_text(feed->info.dtype));
        }
    }
    return TN_EXIT_GOOD;
}

static int fill_random(tn_cli_feeds *feeds, uint64_t seed)
{
    for (size_t i = 0; i < feeds->count; i++) {
        if (feeds->items[i].source == TN_FEED_RANDOM && !is_small(&feeds->items[i]) && !fill(&feeds->items[i], i, seed)) {
            return tn_cli_fail(TN_EXIT_USAGE, "input '%s' of type %s needs values: give --inputs", feeds->items[i].info.name,
                               tenon_dtype_text(feeds->items[i].info.dtype));
        }
    }
    return TN_EXIT_GOOD;
}

static tenon_status give_items(const tn_cli_feed *feed, tn_cli_session *s, tenon_error **error)
{
    tenon_tensor *items = tn_cli_take(feed->n_items + 1, sizeof *items);
    for (size_t i = 0; i < feed->n_items; i++) {
        const tn_cli_tensor *t = &feed->items[i];
        items[i] = (tenon_tensor){.dtype = t->dtype, .rank = t->rank, .data = t->data, .bytes = t->bytes};
        memcpy(items[i].dims, t->dims, sizeof items[i].dims);
    }
    const tenon_status status = tenon_session_set_sequence(s->session, feed->info.name, items, feed->n_items, error);
    free(items);
    return status;
}

static tenon_status bind(const tn_cli_feed *feed, tn_cli_session *s, tenon_error **error)
{
    const tn_cli_tensor *t = &feed->tensor;
    if (feed->info.kind == TENON_KIND_SEQUENCE) {
        return give_items(feed, s, error);
    }
    // Of 4- and 2-bit elements files may hold the low bits only: a copy is put right.
    const bool few_bits = t->dtype == TENON_INT4 || t->dtype == TENON_UINT4 || t->dtype == TENON_INT2 || t->dtype == TENON_UINT2;
    return (few_bits ? tenon_session_set_input : tenon_session_bind_input)(s->session, feed->info.name, t->dtype, t->rank, t->dims, t->data,
                                                                            t->bytes, error);
}

static tenon_status bind_all(const tn_cli_feeds *feeds, tn_cli_session *s, tenon_error **error)
{
    tenon_status status = TENON_OK;
    for (size_t i = 0; i < feeds->count && status == TENON_OK; i++) {
        status = feeds->items[i].source != TN_FEED_ABSENT ? bind(&feeds->items[i], s, error) : TENON_OK;
    }
    return status;
}

// Plans for what files give and for the shapes of random inputs, whose values a plan needs only where they decide shapes.
static tenon_status plan(const tn_cli_feeds *feeds, tn_cli_session *s, tenon_error **error)
{
    tenon_status status = TENON_OK;
    tenon_input_shape *shapes = tn_cli_take(feeds->count + 1, sizeof *shapes);
    size_t count = 0;
    for (size_t i = 0; i < feeds->count && status == TENON_OK; i++) {
        const tn_cli_feed *feed = &feeds->items[i];
        if (feed->source == TN_FEED_RANDOM) {
            tenon_input_shape *shape = &shapes[count++];
            *shape = (tenon_input_shape){.name = feed->info.name, .rank = feed->tensor.rank, .values = feed->decides ? feed->tensor.data : NULL};
            memcpy(shape->dims, feed->tensor.dims, sizeof shape->dims);
        } else if (feed->source != TN_FEED_ABSENT) {
            status = bind(feed, s, error);
        }
    }
    status = status == TENON_OK ? tenon_session_prepare_shapes(s->session, shapes, count, NULL, 0, error) : status;
    free(shapes);
    return status;
}

int tn_cli_feeds_give(const tn_cli_feeds *feeds, tn_cli_session *s)
{
    tenon_error *error = NULL;
    return bind_all(feeds, s, &error) == TENON_OK ? TN_EXIT_GOOD : tn_cli_error(error);
}

typedef struct search {
    tn_cli_feeds *feeds;
    tn_cli_session *s;
    unknown *list;
    size_t count, deciders;
    uint64_t seed;
    double deadline;         // seconds; no new try after it
    tenon_error *first;      // why the first shapes were refused
    int code;                // not good: give up
} search;

// An input that the library wants the contents of: from now on they are chosen.
static bool decider_named(search *q, const tenon_error *error)
{
    for (size_t i = 0; i < q->feeds->count; i++) {
        tn_cli_feed *feed = &q->feeds->items[i];
        if (feed->source == TN_FEED_RANDOM && !feed->decides && is_small(feed) && strcmp(tenon_error_place(error), feed->info.name) == 0) {
            feed->decides = true;
            q->deciders++;
            return fill(feed, i, q->seed);
        }
    }
    return false;
}

// Plans with the values in the list. True: the graph accepts them.
static bool accepted(search *q)
{
    tenon_error *error = NULL;
    q->code = shape_random(q->feeds, q->list, q->count, q->seed);
    if (q->code) {
        return false;
    }
    q->feeds->tries++;
    const double begin = tn_cli_seconds();
    tenon_status status = plan(q->feeds, q->s, &error);
    while (status == TENON_INVALID_ARGUMENT && decider_named(q, error)) {
        tenon_error_destroy(error);
        error = NULL;
        status = plan(q->feeds, q->s, &error);
    }
    if (status == TENON_OK) {
        q->feeds->prepare_ms = 1e3 * (tn_cli_seconds() - begin);
        return true;
    }
    if ((q->count == 0 && q->deciders == 0) || (status != TENON_INVALID_ARGUMENT && status != TENON_INVALID_MODEL)) {
        q->code = tn_cli_error(error);
    } else if (q->first) {
        tenon_error_destroy(error);
    } else {
        q->first = error;
    }
    return false;
}

static bool may_try(const search *q)
{
    return !q->code && tn_cli_seconds() < q->deadline;
}

static void set_patterns(search *q, unsigned pattern)
{
    for (size_t i = 0; i < q->feeds->count; i++) {
        q->feeds->items[i].pattern = pattern;
    }
}

// The next combination of contents of the inputs that decide shapes; false: those were all.
static bool next_patterns(search *q)
{
    for (size_t i = 0; i < q->feeds->count; i++) {
        tn_cli_feed *feed = &q->feeds->items[i];
        feed->pattern = feed->decides ? (feed->pattern + 1) % PATTERNS : 0;
        if (feed->pattern) {
            return true;
        }
    }
    return false;
}

static bool any_contents(search *q)
{
    do {
        if (accepted(q)) {
            return true;
        }
    } while (may_try(q) && next_patterns(q));
    return false;
}

static const int64_t ladder[] = {1,  2,  3,  4,  5,  6,  7,   8,   9,   10,  12,  14,  15,  16,  20,  24,  28,
                                 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512};
enum { RUNGS = sizeof ladder / sizeof ladder[0] };

// Every unknown but those of leading dims gets the same value, the smallest rung that is accepted; then each is lowered, alone or with another.
static bool climb(search *q, bool leading_too)
{
    for (size_t rung = 0; rung < RUNGS && may_try(q); rung++) {
        for (size_t k = 0; k < q->count; k++) {
            q->list[k].value = q->list[k].dim == 0 && !leading_too ? 1 : ladder[rung];
        }
        if (accepted(q)) {
            return true;
        }
    }
    return false;
}

// Lowers dim k to the smallest rung that is accepted; with another one of the same value where m is not k: two that must be equal.
static bool lower_pair(search *q, size_t k, size_t m, bool *plan_is_current)
{
    const int64_t good = q->list[k].value;
    for (size_t rung = 0; rung < RUNGS && ladder[rung] < good && may_try(q); rung++) {
        q->list[k].value = q->list[m].value = ladder[rung];
        *plan_is_current = accepted(q);
        if (*plan_is_current) {
            return true;
        }
        q->list[k].value = q->list[m].value = good;
    }
    return false;
}

static void lower(search *q)
{
    bool plan_is_current = true;
    for (size_t k = 0; k < q->count; k++) {
        bool lowered = lower_pair(q, k, k, &plan_is_current);
        for (size_t m = k + 1; m < q->count && !lowered; m++) {
            lowered = q->list[m].value == q->list[k].value && lower_pair(q, k, m, &plan_is_current);
        }
    }
    if (!plan_is_current && !q->code) {
        accepted(q);
    }
}

static bool climb_both(search *q, unsigned pattern)
{
    set_patterns(q, pattern);
    return q->count && may_try(q) && (climb(q, false) || (may_try(q) && climb(q, true)));
}

static int settle(search *q)
{
    const bool found = any_contents(q) || climb_both(q, ALL_ONES) || (q->deciders && climb_both(q, ONES_THEN_REST));
    if (found && q->first) {
        lower(q);
    }
    if (!q->code && !found) {
        q->code = q->first ? tn_cli_error(q->first) : tn_cli_fail(TN_EXIT_USAGE, "no shape was accepted; give --shape");
        q->first = NULL;
    }
    tenon_error_destroy(q->first);
    if (!q->code) {
        q->code = fill_random(q->feeds, q->seed);
    }
    return q->code ? q->code : tn_cli_feeds_give(q->feeds, q->s);
}

int tn_cli_feeds_make(tn_cli_feeds *feeds, tn_cli_session *s, const tn_cli_options *options)
{
    *feeds = (tn_cli_feeds){0};
    int code = describe(feeds, s);
    if (!code) {
        code = apply_shapes(feeds, options);
    }
    if (!code) {
        code = load_files(feeds, options);
    }
    if (code) {
        return code;
    }
    search q = {.feeds = feeds, .s = s, .seed = options->seed, .deadline = tn_cli_seconds() + 5};
    q.count = collect_unknowns(feeds, &q.list);
    code = settle(&q);
    free(q.list);
    return code;
}

void tn_cli_feeds_deinit(tn_cli_feeds *feeds)
{
    for (size_t i = 0; i < feeds->count; i++) {
        tn_cli_feed *feed = &feeds->items[i];
        tn_cli_tensor_deinit(&feed->tensor);
        for (size_t k = 0; k < feed->n_items; k++) {
            tn_cli_tensor_deinit(&feed->items[k]);
        }
        free(feed->items);
        free(feed->from);
        free((char *)feed->info.name);
        for (int d = 0; d < feed->info.rank; d++) {
            free((char *)feed->info.symbols[d]);
        }
    }
    free(feeds->items);
    *feeds = (tn_cli_feeds){0};
}

static const char *source_text(const tn_cli_feed *feed)
{
    switch (feed->source) {
    case TN_FEED_RANDOM:
        return feed->decides && feed->pattern != DRAWN ? "chosen" : "random";
    case TN_FEED_ABSENT:
        return "left out";
    default:
        return feed->from;
    }
}

void tn_cli_feeds_print(const tn_cli_feeds *feeds)
{
    for (size_t i = 0; i < feeds->count; i++) {
        const tn_cli_feed *feed = &feeds->items[i];
        char dims[128];
        if (feed->info.kind == TENON_KIND_SEQUENCE && feed->source == TN_FEED_FILE) {
            printf("  in  %s  sequence of %zu %s  %s\n", tn_cli_shown(feed->info.name), feed->n_items, tenon_dtype_text(feed->info.dtype),
                   tn_cli_shown(feed->from));
            continue;
        }
        tn_cli_dims_text(dims, sizeof dims, feed->tensor.rank, feed->tensor.dims);
        printf("  in  %s  %s %s  %s", tn_cli_shown(feed->info.name), tenon_dtype_text(feed->tensor.dtype), dims,
               tn_cli_shown(source_text(feed)));
        for (int d = 0, n = 0; d < feed->tensor.rank && feed->any_open; d++) {
            if (feed->open[d]) {
                const char *symbol = symbol_of(feed, d);
                char unnamed[16];
                snprintf(unnamed, sizeof unnamed, "dim %d", d);
                printf("%s%s = %lld", n++ ? ", " : "  (assumed: ", tn_cli_shown(symbol ? symbol : unnamed), (long long)feed->tensor.dims[d]);
            }
        }
        if (feed->any_open) {
            fputs(feed->source == TN_FEED_FILE ? ", from the size of the file)" : ", the smallest the graph accepts)", stdout);
        }
        putchar('\n');
    }
}

cJSON *tn_cli_feeds_json(const tn_cli_feeds *feeds)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < feeds->count; i++) {
        const tn_cli_feed *feed = &feeds->items[i];
        cJSON *item = cJSON_CreateObject(), *shape = cJSON_CreateArray(), *open = cJSON_CreateArray();
        cJSON_AddStringToObject(item, "name", feed->info.name);
        cJSON_AddStringToObject(item, "dtype", tenon_dtype_text(feed->tensor.dtype));
        for (int d = 0; d < feed->tensor.rank; d++) {
            cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)feed->tensor.dims[d]));
            if (feed->open[d]) {
                cJSON_AddItemToArray(open, cJSON_CreateNumber(d));
            }
        }
        cJSON_AddItemToObject(item, "shape", shape);
        cJSON_AddStringToObject(item, "source", source_text(feed));
        cJSON_AddItemToObject(item, "assumed_dims", open);
        cJSON_AddItemToArray(list, item);
    }
    return list;
}
