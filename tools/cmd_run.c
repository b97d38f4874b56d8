// SPDX-License-Identifier: Apache-2.0
// tenon run: runs a model on files, pictures or random values and shows, ranks or stores what comes out.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct labels {
    char *text;
    const char **lines;
    size_t count;
} labels;

static int read_labels(labels *l, const char *path)
{
    uint8_t *data;
    size_t size;
    *l = (labels){0};
    if (!path) {
        return TN_EXIT_GOOD;
    }
    if (!tn_cli_file_read(path, &data, &size, NULL)) {
        return TN_EXIT_USAGE;
    }
    l->text = tn_cli_grow(data, size + 1, 1);
    l->text[size] = '\0';
    for (char *line = l->text; *line;) {
        char *end = line + strcspn(line, "\n");
        const bool more = *end != '\0';
        *end = '\0';
        line[strcspn(line, "\r")] = '\0';
        l->lines = tn_cli_grow(l->lines, l->count + 1, sizeof *l->lines);
        l->lines[l->count++] = line;
        line = end + more;
    }
    return TN_EXIT_GOOD;
}

static void free_labels(labels *l)
{
    free(l->lines);
    free(l->text);
}

typedef struct summary {
    double least, most, mean;
    size_t odd;               // NaN or infinite
} summary;

static summary summarise(const tenon_tensor *t, size_t count)
{
    summary s = {INFINITY, -INFINITY, 0, 0};
    size_t finite = 0;
    for (size_t i = 0; i < count; i++) {
        const double v = tn_cli_element(t->dtype, t->data, i);
        if (!isfinite(v)) {
            s.odd++;
            continue;
        }
        s.least = v < s.least ? v : s.least;
        s.most = v > s.most ? v : s.most;
        s.mean += v;
        finite++;
    }
    s.mean = finite ? s.mean / (double)finite : NAN;
    return s;
}

// Indices of the `top` largest of a row, best first.
static void best_of(const tenon_tensor *t, size_t from, size_t length, size_t *best, size_t top)
{
    size_t held = 0;
    for (size_t i = 0; i < length; i++) {
        const double v = tn_cli_element(t->dtype, t->data, from + i);
        size_t at = held;
        while (at > 0 && !(tn_cli_element(t->dtype, t->data, from + best[at - 1]) >= v)) {
            at--;
        }
        if (at < top && !isnan(v)) {
            held += held < top;
            memmove(best + at + 1, best + at, (held - at - 1) * sizeof *best);
            best[at] = i;
        }
    }
    for (; held < top; held++) {
        best[held] = SIZE_MAX;
    }
}

static void show_top(const tenon_tensor *t, size_t count, const labels *l, size_t top, cJSON *json)
{
    const size_t length = t->rank ? (size_t)t->dims[t->rank - 1] : 1;
    cJSON *list = json ? cJSON_AddArrayToObject(json, "top") : NULL;
    top = top < length ? top : length;
    size_t *best = tn_cli_take(top + 1, sizeof *best);
    for (size_t row = 0; length && row < count / length && row < 8; row++) {
        best_of(t, row * length, length, best, top);
        for (size_t k = 0; k < top && best[k] != SIZE_MAX; k++) {
            const double v = tn_cli_element(t->dtype, t->data, row * length + best[k]);
            const char *label = best[k] < l->count ? l->lines[best[k]] : NULL;
            if (json) {
                cJSON *item = cJSON_CreateObject();
                cJSON_AddNumberToObject(item, "row", (double)row);
                cJSON_AddNumberToObject(item, "index", (double)best[k]);
                cJSON_AddNumberToObject(item, "value", v);
                if (label) {
                    cJSON_AddStringToObject(item, "label", label);
                }
                cJSON_AddItemToArray(list, item);
            } else {
                printf("    %10.6g  %zu%s%s\n", v, best[k], label ? "  " : "", label ? tn_cli_shown(label) : "");
            }
        }
    }
    free(best);
}

static void show_values(const tenon_tensor *t, size_t count)
{
    enum { SHOWN = 6 };
    printf("   ");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        if (t->dtype == TENON_STRING) {
            printf(" \"%s\"", tn_cli_shown(((const char *const *)t->data)[i]));
        } else {
            printf(" %.6g", tn_cli_element(t->dtype, t->data, i));
        }
    }
    puts(count > SHOWN ? " ..." : "");
}

static cJSON *describe_json(const char *name, const tenon_tensor *t, const summary *s)
{
    cJSON *item = cJSON_CreateObject(), *shape = cJSON_CreateArray();
    cJSON_AddStringToObject(item, "name", name);
    cJSON_AddStringToObject(item, "dtype", tenon_dtype_text(t->dtype));
    for (int d = 0; d < t->rank; d++) {
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)t->dims[d]));
    }
    cJSON_AddItemToObject(item, "shape", shape);
    cJSON_AddNumberToObject(item, "min", s->least);
    cJSON_AddNumberToObject(item, "max", s->most);
    cJSON_AddNumberToObject(item, "mean", s->mean);
    cJSON_AddNumberToObject(item, "not_finite", (double)s->odd);
    return item;
}

// What is no tensor: a sequence's items follow it, nothing follows none.
static void show_other(const char *name, const tenon_tensor *t, cJSON *list)
{
    const bool none = t->kind == TENON_KIND_NONE;
    if (list) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", name);
        cJSON_AddStringToObject(item, "kind", none ? "none" : "sequence");
        cJSON_AddNumberToObject(item, "items", (double)t->count);
        cJSON_AddItemToArray(list, item);
        return;
    }
    printf("  out %s%s%s  ", tn_cli_bold(), tn_cli_shown(name), tn_cli_plain());
    if (none) {
        puts("none");
    } else {
        printf("sequence of %zu\n", t->count);
    }
}

static void show_output(const char *name, const tenon_tensor *t, const tn_cli_options *o, const labels *l, cJSON *list)
{
    if (t->kind != TENON_KIND_TENSOR) {
        show_other(name, t, list);
        return;
    }
    const size_t count = (size_t)tn_cli_elements(t->rank, t->dims);
    const bool text = t->dtype == TENON_STRING;
    const summary s = text ? (summary){NAN, NAN, NAN, 0} : summarise(t, count);
    const bool ranked = !text && count > 1 && (o->top != TN_CLI_UNSET || o->labels);
    const size_t top = o->top == TN_CLI_UNSET ? 5 : (size_t)o->top;
    if (list) {
        cJSON *item = describe_json(name, t, &s);
        if (ranked) {
            show_top(t, count, l, top, item);
        }
        cJSON_AddItemToArray(list, item);
        return;
    }
    char dims[128];
    tn_cli_dims_text(dims, sizeof dims, t->rank, t->dims);
    printf("  out %s%s%s  %s %s", tn_cli_bold(), tn_cli_shown(name), tn_cli_plain(), tenon_dtype_text(t->dtype), dims);
    if (count && !text) {
        printf("  min %.6g  max %.6g  mean %.6g", s.least, s.most, s.mean);
    }
    if (s.odd) {
        printf("  %s%zu not finite%s", tn_cli_red(), s.odd, tn_cli_plain());
    }
    putchar('\n');
    if (ranked) {
        show_top(t, count, l, top, NULL);
    } else if (count) {
        show_values(t, count);
    }
}

// Text as lines, which is how it is read; a line break inside a string would make two of it.
static int write_lines(tn_cli_writer *writer, const tenon_tensor *t, const char *name)
{
    int code = TN_EXIT_GOOD;
    for (int64_t i = 0; !code && i < tn_cli_elements(t->rank, t->dims); i++) {
        const char *text = ((const char *const *)t->data)[i];
        if (strchr(text, '\n')) {
            tn_cli_writer_abandon(writer);
            return tn_cli_fail(TN_EXIT_CHECK, "--npy: output '%s' has a line break in string %lld: it cannot be written as lines", name, (long long)i);
        }
        code = tn_cli_writer_add(writer, text, strlen(text));
        code = code ? code : tn_cli_writer_add(writer, "\n", 1);
    }
    return code;
}

// A name as one part of a path.
static char *flatten(const char *name)
{
    char *flat = tn_cli_copy(name);
    for (char *c = flat; *c; c++) {
        *c = *c == '/' || *c == ':' ? '_' : *c;
    }
    return flat;
}

static int store_npy(const char *folder, const char *name, const tenon_tensor *t)
{
    const bool text = t->dtype == TENON_STRING;
    char *flat = flatten(name);
    char *path = tn_cli_format("%s/%s.%s", folder, flat, text ? "txt" : "npy");
    tn_cli_writer writer;
    int code = tn_cli_writer_open(&writer, path);
    if (!code) {
        code = text ? write_lines(&writer, t, name) : tn_cli_npy_write(&writer, t);
    }
    if (!code) {
        code = tn_cli_writer_close(&writer);
    }
    free(path);
    free(flat);
    return code;
}

static const char *output_name(const tn_cli_session *s, const tn_cli_options *o, size_t i)
{
    tenon_value_info info = {.struct_size = sizeof info};
    if (o->wanted.count) {
        return o->wanted.items[i];
    }
    return tenon_model_output(s->model, i, &info) == TENON_OK ? info.name : "?";
}

// Two outputs must not become one file.
static int check_npy_names(const tn_cli_session *s, const tn_cli_options *o)
{
    int code = TN_EXIT_GOOD;
    const size_t count = o->wanted.count ? o->wanted.count : tenon_model_output_count(s->model);
    char **flat = tn_cli_take(count + 1, sizeof *flat);
    for (size_t i = 0; i < count; i++) {
        flat[i] = flatten(output_name(s, o, i));
        for (size_t k = 0; k < i && !code; k++) {
            if (strcmp(flat[k], flat[i]) == 0 && strcmp(output_name(s, o, k), output_name(s, o, i)) != 0) {
                code = tn_cli_fail(TN_EXIT_USAGE, "--npy: two outputs would both be written to %s.npy; ask for one with --output '%s'", flat[i],
                                   output_name(s, o, i));
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(flat[i]);
    }
    free(flat);
    return code;
}

// The items of a sequence as outputs of their own; --npy puts them into a folder, from where they can be fed again.
static int show_items(const tn_cli_session *s, size_t index, size_t count, const tn_cli_options *o, const labels *l, cJSON *list)
{
    int code = TN_EXIT_GOOD;
    char *flat = flatten(output_name(s, o, index));
    char *folder = o->npy ? tn_cli_format("%s/%s", o->npy, flat) : NULL;
    free(flat);
    if (folder) {
        (void)mkdir(folder, 0777); // there already, or opening the file says why it cannot be made
    }
    for (size_t k = 0; !code && k < count; k++) {
        tenon_tensor item;
        tenon_error *error = NULL;
        if (tenon_session_output_item(s->session, index, k, &item, &error) != TENON_OK) {
            code = tn_cli_error(error);
            break;
        }
        char *name = tn_cli_format("%s[%zu]", output_name(s, o, index), k), *number = tn_cli_format("%zu", k);
        show_output(name, &item, o, l, list);
        code = folder ? store_npy(folder, number, &item) : TN_EXIT_GOOD;
        free(name);
        free(number);
    }
    free(folder);
    return code;
}

static int show_outputs(const tn_cli_session *s, const tn_cli_options *o, const labels *l, cJSON *list)
{
    int code = TN_EXIT_GOOD;
    for (size_t i = 0; !code && i < tenon_session_output_count(s->session); i++) {
        tenon_tensor tensor;
        tenon_error *error = NULL;
        if (tenon_session_output(s->session, i, &tensor, &error) != TENON_OK) {
            return tn_cli_error(error);
        }
        show_output(output_name(s, o, i), &tensor, o, l, list);
        if (tensor.kind == TENON_KIND_SEQUENCE) {
            code = show_items(s, i, tensor.count, o, l, list);
        } else if (o->npy && tensor.kind == TENON_KIND_TENSOR) {
            code = store_npy(o->npy, output_name(s, o, i), &tensor);
        }
    }
    return code ? code : tn_cli_session_write_outputs(s, o);
}

static int run_session(tn_cli_session *s, const tn_cli_feeds *feeds, const tn_cli_options *o, const labels *l)
{
    const uint64_t warmup = o->warmup == TN_CLI_UNSET ? 0 : o->warmup, runs = o->runs == TN_CLI_UNSET ? 1 : o->runs;
    double begin = tn_cli_seconds();
    for (uint64_t i = 0; i < warmup + runs; i++) {
        begin = i == warmup ? tn_cli_seconds() : begin;
        const int code = tn_cli_session_run(s, o->wanted.items, o->wanted.count);
        if (code) {
            return code;
        }
    }
    const double ms = 1e3 * (tn_cli_seconds() - begin) / (double)runs;
    cJSON *root = NULL, *list = NULL;
    if (o->json) {
        root = tn_cli_document("run", o);
        cJSON_AddItemToObject(root, "inputs", tn_cli_feeds_json(feeds));
        list = cJSON_AddArrayToObject(root, "outputs");
        cJSON_AddNumberToObject(root, "run_ms", ms);
    } else {
        tn_cli_feeds_print(feeds);
    }
    const int code = show_outputs(s, o, l, list);
    if (root && !code) {
        tn_cli_print_document(root);
    } else if (root) {
        cJSON_Delete(root);
    } else if (!code) {
        printf("  %.3f ms\n", ms);
    }
    return code;
}

static int run(const tn_cli_options *options)
{
    tn_cli_session session;
    tn_cli_feeds feeds = {0};
    labels l;
    if (options->runs == 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "--runs 0: there would be no outputs to show");
    }
    int code = read_labels(&l, options->labels);
    if (!code) {
        code = tn_cli_session_open(&session, options);
    }
    if (code) {
        free_labels(&l);
        return code;
    }
    code = options->npy ? check_npy_names(&session, options) : TN_EXIT_GOOD;
    code = code ? code : tn_cli_feeds_make(&feeds, &session, options);
    if (!code) {
        code = run_session(&session, &feeds, options, &l);
    }
    tn_cli_session_close(&session);
    tn_cli_feeds_deinit(&feeds);
    free_labels(&l);
    return code;
}

#define AT(field) offsetof(tn_cli_options, field)

static const tn_cli_option options_of_run[] = {
    {"picture", "[NAME=]FILE", TN_CLI_LIST, AT(pictures), "feed a PNG, JPEG, PPM or PGM picture (to the first input that can take one)"},
    {"resize", "WxH", TN_CLI_TEXT, AT(resize), "size of the picture in the model (default: what the input declares)"},
    {"fit", "HOW", TN_CLI_TEXT, AT(fit), "stretch (default), crop the middle, or pad"},
    {"normalise", "HOW", TN_CLI_TEXT, AT(normalise),
     "unit: 0..1 (default); signed: -1..1; imagenet: its mean and deviation; none: 0..255"},
    {"mean", "V[,V,V]", TN_CLI_TEXT, AT(mean), "value = (pixel / 255 - mean) / std"},
    {"std", "V[,V,V]", TN_CLI_TEXT, AT(std), "see --mean"},
    {"channels", "ORDER", TN_CLI_TEXT, AT(channels), "rgb (default), bgr, gray"},
    {"layout", "ORDER", TN_CLI_TEXT, AT(layout), "nchw or nhwc (default: from the input's shape)"},
    {"output", "NAME", TN_CLI_LIST, AT(wanted), "an output or a tensor inside the model, instead of all outputs; repeatable"},
    {"top", "K", TN_CLI_NUMBER, AT(top), "the K largest values of each row (5 with --labels)"},
    {"labels", "FILE", TN_CLI_TEXT, AT(labels), "one label a line, for --top"},
    {"npy", "DIR", TN_CLI_TEXT, AT(npy), "write each output to DIR/NAME.npy, text to NAME.txt, a sequence to a folder NAME; DIR is made"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_run = {
    .name = "run",
    .summary = "run a model and show or store its outputs",
    .about = "Runs the model once (--runs for more) and prints each output: type, shape, range and first values, or the largest\n"
             "values with --top and --labels. Inputs come from --inputs, --picture, or a generator with a fixed seed. Dims that\n"
             "the model leaves open are 1, or the smallest that the graph accepts, unless --shape says otherwise.\n",
    .examples = "  tenon run classifier.onnx --picture cat.jpg --normalise imagenet --labels names.txt --top 5\n"
                "  tenon run detector.onnx --inputs feeds/ --npy results/\n"
                "  tenon run model.onnx --shape input=1x3x320x320 --output conv_17\n",
    .options = options_of_run,
    .run = run,
};
