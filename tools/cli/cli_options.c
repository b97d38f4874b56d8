// SPDX-License-Identifier: Apache-2.0
// Table-driven options (cli_options.h): the same table reads the command line, prints the help and guesses at misspellings.
#include "cli_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) offsetof(tn_cli_options, field)

static const tn_cli_option common[] = {
    {"threads", "N", TN_CLI_NUMBER, AT(threads), "threads to compute with; 0, the default, is one for each core"},
    {"device", "NAME", TN_CLI_TEXT, AT(device), "where to run: cpu, opencl, hexagon; an absent device is an error (default: cpu)"},
    {"precision", "NAME", TN_CLI_TEXT, AT(precision), "arithmetic: fp32, fp16 (opencl: tensors of halves), fp16_pure (opencl: products too), bf16 (cpu: weights of products), int8 (float models: with --calibrate); default fp32, quantised models as is faster"},
    {"calibrate", "DIR", TN_CLI_TEXT, AT(calibrate), "precision int8: sample inputs as for --inputs, one set in DIR or one in each folder of it"},
    {"store", "KIND", TN_CLI_TEXT, AT(store), "how opencl keeps tensors of pictures: image, buffer (default: its choice)"},
    {"cache", "DIR", TN_CLI_TEXT, AT(cache), "keep what devices make for this machine in DIR: built programs, packed weights"},
    {"power", "KEY=V[,KEY=V]", TN_CLI_TEXT, AT(power),
     "hints: affinity=big|little|high-performance|power-save, gpu-performance= and gpu-priority=low|normal|high,\n"
     "                         dsp-level=1..5, dsp-dcvs=off|on, dsp-latency=MICROSECONDS; what is not there is noted and left out"},
    {"isa", "NAME", TN_CLI_TEXT, AT(isa), "highest instruction set to use: portable, avx2, avx512, ..."},
    {"pin", "OP=V[,OP=V]", TN_CLI_TEXT, AT(pin), "use kernels of these versions for these operators"},
    {"strict", "WHAT", TN_CLI_STRICT, AT(strict),
     "fail instead of falling back; --strict=device,reference,precision says on what (default: device)"},
    {"memory-limit", "BYTES", TN_CLI_BYTES, AT(memory_limit), "choose kernels so that peak_bytes of 'info --memory' stays below this (512M, 2G), or fail"},
    {"limit-peak", "BYTES", TN_CLI_BYTES, AT(limit_peak), "refuse a run that may take more (default: 768M, 32 x the file or 256 x the inputs)"},
    {"sha256", "HEX", TN_CLI_TEXT, AT(sha256), "refuse any other model file (of a .tenon file: the graph_sha256 of info; weights are verified too)"},
    {"verify", NULL, TN_CLI_FLAG, AT(verify), "compare all weights of a .tenon file with its hashes"},
    {"key-file", "FILE", TN_CLI_TEXT, AT(key_file), "key of encrypted weights: 32 bytes, or 64 hexadecimal digits"},
    {"no-optimise", NULL, TN_CLI_FLAG, AT(no_optimise), "keep the graph as it is in the file: nothing is fused"},
    {"shape", "NAME=DxDxD", TN_CLI_LIST, AT(shapes), "shape of an input; repeat it for more inputs"},
    {"inputs", "DIR", TN_CLI_TEXT, AT(inputs), "read inputs from DIR/NAME.npy, .pb (TensorProto), .txt (one string a line) or raw .bin;\n"
     "                         sequences from folders DIR/NAME with 0.npy, 1.npy ..."},
    {"outputs", "FILE", TN_CLI_TEXT, AT(outputs), "write the raw outputs of the last run to FILE, one after another"},
    {"runs", "N", TN_CLI_NUMBER, AT(runs), "runs (run: 1; bench: what fits 2 s; explain, compare: as needed)"},
    {"warmup", "N", TN_CLI_NUMBER, AT(warmup), "runs before those that count (bench: 3, else 0)"},
    {"seed", "N", TN_CLI_NUMBER, AT(seed), "seed of random inputs: floats N(0,1), integers 0 or 1 (default 0); contents that decide shapes are chosen"},
    {"json", NULL, TN_CLI_FLAG, AT(json), "one JSON document on stdout instead of text"},
    {"deadline", "MS", TN_CLI_NUMBER, AT(deadline), "milliseconds: a run that takes longer fails at its next node"},
    {"device-log", "N", TN_CLI_NUMBER, AT(device_log), "what the device says of its own work, on stderr: 1 each call, 2 each node (hexagon)"},
    {"quiet", NULL, TN_CLI_FLAG, AT(quiet), "no notes on stderr (-q)"},
    {"no-progress", NULL, TN_CLI_FLAG, AT(no_progress), "no progress line on a terminal"},
    {"color", "WHEN", TN_CLI_TEXT, AT(color), "auto (default; off with NO_COLOR or TERM=dumb), always, never"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

// A verb without a model runs nothing: of the common options only those on output mean something to it.
static bool means_something(const tn_cli_verb *verb, const tn_cli_option *option)
{
    static const char *const on_output[] = {"json", "quiet", "color"};
    bool found = !verb->no_model;
    for (size_t i = 0; i < sizeof on_output / sizeof on_output[0]; i++) {
        found = found || strcmp(option->name, on_output[i]) == 0;
    }
    return found;
}

static const tn_cli_option *find_option(const tn_cli_option *table, const char *name, size_t length)
{
    for (; table && table->name; table++) {
        if (strlen(table->name) == length && strncmp(table->name, name, length) == 0) {
            return table;
        }
    }
    return NULL;
}

bool tn_cli_parse_number(const char *text, uint64_t *number)
{
    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    *number = value;
    return errno == 0 && *end == '\0';
}

bool tn_cli_parse_bytes(const char *text, uint64_t *bytes)
{
    char *end;
    if (!isdigit((unsigned char)*text)) {
        return false;
    }
    const double value = strtod(text, &end);
    double unit = 1;
    const char *letters = "kmgt";
    const char *letter = *end ? strchr(letters, tolower((unsigned char)*end)) : NULL;
    if (letter) {
        for (const char *l = letters; l <= letter; l++) {
            unit *= 1024;
        }
        end++;
    }
    if (strcmp(end, "") != 0 && strcmp(end, "B") != 0 && strcmp(end, "iB") != 0) {
        return false;
    }
    if (!(value * unit < 9.0e18)) {
        return false;
    }
    *bytes = (uint64_t)(value * unit);
    return true;
}

// Edit distance (Levenshtein 1966) with early words cut at 31 letters: enough to tell a slip from another word.
static unsigned distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    unsigned row[LONGEST + 1];
    const size_t na = strnlen(a, LONGEST), nb = strnlen(b, LONGEST);
    for (size_t j = 0; j <= nb; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            const unsigned swap = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            const unsigned gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = swap < gap ? swap : gap;
        }
    }
    return row[nb];
}

const char *tn_cli_nearest(const char *word, const char *(*name_of)(const void *table, size_t i), const void *table, size_t count)
{
    const char *best = NULL;
    unsigned best_distance = strlen(word) > 4 ? 3 : 2;
    for (size_t i = 0; i < count; i++) {
        const char *name = name_of(table, i);
        const bool begins = strlen(word) >= 3 && strncmp(name, word, strlen(word)) == 0;
        const unsigned d = begins ? 1 : distance(word, name);
        if (d < best_distance) {
            best_distance = d;
            best = name;
        }
    }
    return best;
}

static const char *option_name(const void *table, size_t i)
{
    return ((const tn_cli_option *)table)[i].name;
}

static size_t table_length(const tn_cli_option *table)
{
    size_t count = 0;
    while (table && table[count].name) {
        count++;
    }
    return count;
}

static int unknown_option(const tn_cli_verb *verb, const char *name, size_t length)
{
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)(length < 63 ? length : 63), name);
    const char *near = tn_cli_nearest(word, option_name, verb->options, table_length(verb->options));
    if (!near) {
        near = tn_cli_nearest(word, option_name, common, table_length(common));
    }
    if (near && strcmp(near, word) == 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "tenon %s takes no --%s: it opens no model", verb->name, word);
    }
    if (near) {
        return tn_cli_fail(TN_EXIT_USAGE, "unknown option --%s; did you mean --%s?", word, near);
    }
    return tn_cli_fail(TN_EXIT_USAGE, "unknown option --%s; see tenon %s --help", word, verb->name);
}

static int set_strict(unsigned *flags, const char *value)
{
    static const struct { const char *word; unsigned flag; } words[] = {
        {"device", TENON_STRICT_DEVICE}, {"reference", TENON_STRICT_REFERENCE}, {"precision", TENON_STRICT_PRECISION}};
    if (!value) {
        *flags |= TENON_STRICT_DEVICE;
        return TN_EXIT_GOOD;
    }
    do {
        const size_t length = strcspn(value, ",");
        unsigned flag = 0;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
            if (strlen(words[i].word) == length && strncmp(words[i].word, value, length) == 0) {
                flag = words[i].flag;
            }
        }
        if (!flag) {
            return tn_cli_fail(TN_EXIT_USAGE, "--strict takes device, reference and precision, not '%.*s'", (int)length, value);
        }
        *flags |= flag;
        value += length + (value[length] == ',');
    } while (*value);
    return TN_EXIT_GOOD;
}

static void list_add(tn_cli_list *list, const char *item)
{
    list->items = tn_cli_grow(list->items, list->count + 1, sizeof *list->items);
    list->items[list->count++] = item;
}

static int set_option(tn_cli_options *options, const tn_cli_option *option, const char *value)
{
    void *field = (char *)options + option->offset;
    switch (option->kind) {
    case TN_CLI_FLAG:
        *(bool *)field = true;
        break;
    case TN_CLI_NUMBER:
        if (!tn_cli_parse_number(value, field)) {
            return tn_cli_fail(TN_EXIT_USAGE, "--%s takes a whole number, not '%s'", option->name, value);
        }
        break;
    case TN_CLI_BYTES:
        if (!tn_cli_parse_bytes(value, field)) {
            return tn_cli_fail(TN_EXIT_USAGE, "--%s takes a size such as 1048576, 512M or 2G, not '%s'", option->name, value);
        }
        break;
    case TN_CLI_TEXT:
        *(const char **)field = value;
        break;
    case TN_CLI_LIST:
        list_add(field, value);
        break;
    case TN_CLI_STRICT:
        return set_strict(field, value);
    }
    return TN_EXIT_GOOD;
}

// One "--name", "--name value" or "--name=value" at argv[*i].
static int read_long(tn_cli_options *options, const tn_cli_verb *verb, int argc, char **argv, int *i)
{
    const char *name = argv[*i] + 2;
    const size_t length = strcspn(name, "=");
    const char *value = name[length] == '=' ? name + length + 1 : NULL;
    const tn_cli_option *option = find_option(verb->options, name, length);
    if (!option) {
        option = find_option(common, name, length);
        option = option && means_something(verb, option) ? option : NULL;
    }
    if (!option) {
        return unknown_option(verb, name, length);
    }
    if (option->kind == TN_CLI_FLAG && value) {
        return tn_cli_fail(TN_EXIT_USAGE, "--%s takes no value", option->name);
    }
    if (option->kind != TN_CLI_FLAG && option->kind != TN_CLI_STRICT && !value) {
        if (*i + 1 >= argc) {
            return tn_cli_fail(TN_EXIT_USAGE, "--%s needs a value: %s", option->name, option->value);
        }
        value = argv[++*i];
    }
    return set_option(options, option, value);
}

static int read_positional(tn_cli_options *options, const tn_cli_verb *verb, const char *word)
{
    if (verb->no_model) {
        return tn_cli_fail(TN_EXIT_USAGE, "tenon %s takes no model or other argument ('%s')", verb->name, word);
    }
    if (options->model) {
        return tn_cli_fail(TN_EXIT_USAGE, verb->operand ? "tenon takes one of these words at a time: '%s' is one too many"
                                                        : "one model at a time: '%s' is one too many", word);
    }
    options->model = word;
    return TN_EXIT_GOOD;
}

int tn_cli_options_read(tn_cli_options *options, const tn_cli_verb *verb, int argc, char **argv, int first)
{
    *options = (tn_cli_options){.runs = TN_CLI_UNSET, .warmup = TN_CLI_UNSET, .top = TN_CLI_UNSET, .seconds = TN_CLI_UNSET,
                                .keep = TN_CLI_UNSET};
    bool only_words = false;
    for (int i = first; i < argc; i++) {
        const char *word = argv[i];
        int rc = TN_EXIT_GOOD;
        if (only_words || word[0] != '-' || strcmp(word, "-") == 0) {
            rc = read_positional(options, verb, word);
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0) {
            tn_cli_print_help(verb);
            return -1;
        } else if (strcmp(word, "-q") == 0) {
            options->quiet = true;
        } else if (strcmp(word, "-o") == 0 && find_option(verb->options, "out", 3)) {
            rc = i + 1 < argc ? set_option(options, find_option(verb->options, "out", 3), argv[++i])
                              : tn_cli_fail(TN_EXIT_USAGE, "-o needs the name of a file");
        } else if (word[1] == '-') {
            rc = read_long(options, verb, argc, argv, &i);
        } else {
            rc = tn_cli_fail(TN_EXIT_USAGE, "unknown option %s; see tenon %s --help", word, verb->name);
        }
        if (rc != TN_EXIT_GOOD) {
            return rc;
        }
    }
    if (options->color && strcmp(options->color, "auto") && strcmp(options->color, "always") && strcmp(options->color, "never")) {
        return tn_cli_fail(TN_EXIT_USAGE, "--color takes auto, always or never, not '%s'", options->color);
    }
    if (options->threads > UINT32_MAX) {
        return tn_cli_fail(TN_EXIT_USAGE, "--threads %llu is too many", (unsigned long long)options->threads);
    }
    if (!options->model && !verb->no_model && !options->ops) {
        return tn_cli_fail(TN_EXIT_USAGE, "tenon %s needs %s; see tenon %s --help", verb->name, verb->operand ? verb->operand : "a model file",
                           verb->name);
    }
    return TN_EXIT_GOOD;
}

void tn_cli_options_deinit(tn_cli_options *options)
{
    tn_cli_list *const lists[] = {&options->shapes, &options->pictures, &options->wanted, &options->a, &options->b, &options->rtol};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        free(lists[i]->items);
    }
    *options = (tn_cli_options){0};
}

static void print_table(const tn_cli_verb *verb, const tn_cli_option *table)
{
    const bool own = table == verb->options;
    for (; table && table->name; table++) {
        if (!own && !means_something(verb, table)) {
            continue;
        }
        char left[48];
        const char *join = table->kind == TN_CLI_STRICT ? "[=" : table->value ? " " : "";
        snprintf(left, sizeof left, "--%s%s%s%s", table->name, join, table->value ? table->value : "",
                 table->kind == TN_CLI_STRICT ? "]" : "");
        printf("  %-22s %s%s\n", left, strlen(left) > 22 ? "\n                         " : "", table->help);
    }
}

void tn_cli_print_help(const tn_cli_verb *verb)
{
    printf("tenon %s - %s\n\nUsage: tenon %s %s%s[options]\n\n%s\n", verb->name, verb->summary, verb->name,
           verb->no_model  ? ""
           : verb->operand ? verb->operand
                           : "MODEL",
           verb->no_model ? "" : " ", verb->about);
    if (verb->options) {
        puts("Options of this verb:");
        print_table(verb, verb->options);
        putchar('\n');
    }
    puts("Options of every verb:");
    print_table(verb, common);
    puts("  -h, --help             this page");
    printf("\nExamples:\n%s", verb->examples);
    puts("\nExit status:\n"
         "  0 good                       4 unsupported, or --strict refused a fall-back\n"
         "  1 ran and the check failed   5 device unavailable\n"
         "  2 usage                      6 out of memory, or a limit refused\n"
         "  3 bad model                  130 interrupted");
}
