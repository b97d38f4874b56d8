// SPDX-License-Identifier: Apache-2.0
// The tenon command: finds the verb, reads its options, runs it. Everything it does goes through include/tenon.
#include "cmd.h"

#include "cli_session.h"
#include "cli_text.h"

#include <stdio.h>
#include <string.h>

static const tn_cli_verb *const verbs[] = {&tn_verb_run,     &tn_verb_info,    &tn_verb_bench,
                                           &tn_verb_explain, &tn_verb_compare, &tn_verb_profile,
                                           &tn_verb_convert, &tn_verb_doctor,  &tn_verb_tune,
                                           &tn_verb_cache};
enum { VERBS = sizeof verbs / sizeof verbs[0] };

static const char *verb_name(const void *table, size_t i)
{
    return ((const tn_cli_verb *const *)table)[i]->name;
}

static void print_usage(FILE *stream)
{
    fputs("tenon - run trained models on the hardware at hand\n\nUsage: tenon VERB MODEL [options]\n\nVerbs:\n", stream);
    for (size_t i = 0; i < VERBS; i++) {
        fprintf(stream, "  %-9s %s\n", verbs[i]->name, verbs[i]->summary);
    }
    fputs("\n  tenon VERB --help    options and examples of a verb\n"
          "  tenon --version      version of the command and the library\n\n"
          "A model is an ONNX or .tenon file, or - for standard input. Results go to stdout, messages to stderr.\n"
          "Exit status: 0 good, 1 the check failed, 2 usage, 3 bad model, 4 unsupported, 5 device unavailable,\n"
          "6 out of memory or a limit refused, 130 interrupted.\n", stream);
}

static const tn_cli_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verbs[i]->name, name) == 0) {
            return verbs[i];
        }
    }
    return NULL;
}

static int unknown_verb(const char *word)
{
    const char *near = tn_cli_nearest(word, verb_name, verbs, VERBS);
    if (near) {
        return tn_cli_fail(TN_EXIT_USAGE, "unknown verb '%s'; did you mean '%s'?", word, near);
    }
    return tn_cli_fail(TN_EXIT_USAGE, "unknown verb '%s'; see tenon --help", word);
}

// Output that could not be written (a full disk, a closed pipe) is a failure, whatever the verb said.
static int flushed(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        return code ? code : tn_cli_fail(TN_EXIT_CHECK, "standard output could not be written");
    }
    return code;
}

static int run_verb(const tn_cli_verb *verb, int argc, char **argv)
{
    tn_cli_options options;
    for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            tn_cli_set_json_errors(verb->name);   // known before the first thing that can fail
        }
    }
    int code = tn_cli_options_read(&options, verb, argc, argv, 2);
    if (code == TN_EXIT_GOOD) {
        tn_cli_set_quiet(options.quiet);
        tn_cli_color_setup(&options);
        tn_cli_catch_interrupt();
        code = verb->run(&options);
    }
    tn_cli_options_deinit(&options);
    return flushed(code < 0 ? TN_EXIT_GOOD : code);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return TN_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        printf("tenon %d.%d.%d (library %s)\n", TENON_VERSION_MAJOR, TENON_VERSION_MINOR, TENON_VERSION_PATCH, tenon_version());
        return flushed(TN_EXIT_GOOD);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || (strcmp(word, "help") == 0 && argc == 2)) {
        print_usage(stdout);
        return flushed(TN_EXIT_GOOD);
    }
    if (strcmp(word, "help") == 0) {
        const tn_cli_verb *verb = find_verb(argv[2]);
        if (verb) {
            tn_cli_print_help(verb);
        }
        return verb ? flushed(TN_EXIT_GOOD) : unknown_verb(argv[2]);
    }
    const tn_cli_verb *verb = find_verb(word);
    return verb ? run_verb(verb, argc, argv) : unknown_verb(word);
}
