// SPDX-License-Identifier: Apache-2.0
// tenon convert: a model file into a .tenon file, with weights packed for named instruction sets.
#include "cmd.h"

#include "cli_feed.h"
#include "cli_session.h"
#include "cli_text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/build.h>

// The library removes its temporary files when it fails; Ctrl-C waits until it is done.
static tenon_status save(tenon_model *model, const char *path, const tenon_save_options *options, tenon_error **error)
{
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    const tenon_status status = tenon_model_save(model, path, options, error);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

static double size_of(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (double)facts.st_size : 0;
}

static int report(const tn_cli_options *o, tn_cli_session *s, double seconds)
{
    int code;
    char bytes[24], packed[24];
    cJSON *model = tn_cli_session_report(s, TENON_REPORT_MODEL, &code);
    cJSON *file = model ? cJSON_DetachItemFromObject(model, "file") : NULL;
    if (o->json && file) {
        cJSON *root = tn_cli_document("convert", o);
        cJSON_AddStringToObject(root, "out", o->out);
        cJSON_AddNumberToObject(root, "bytes", size_of(o->out));
        cJSON_AddItemToObject(root, "file", file);
        tn_cli_print_document(root);
        file = NULL;
    } else if (file) {
        const cJSON *target;
        printf("%s  %s in %.1f s; packed for", tn_cli_shown(o->out), tn_cli_size_text(bytes, size_of(o->out)), seconds);
        cJSON_ArrayForEach(target, cJSON_GetObjectItemCaseSensitive(file, "targets"))
        {
            printf(" %s", tn_cli_shown(target->valuestring));
        }
        printf("%s (%s)\n  graph_sha256 %s\n", cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(file, "targets")) ? "" : " no target",
               tn_cli_size_text(packed, tn_cli_number(file, "pack_bytes", 0)), tn_cli_string(file, "graph_sha256", "?"));
    }
    cJSON_Delete(file);
    cJSON_Delete(model);
    return code;
}

// Opens what was written, as an application would: the file must be readable before anybody relies on it.
static int check(const tn_cli_options *o, uint8_t *key, double seconds)
{
    tn_cli_session s = {0};
    tenon_model_options mo;
    tenon_error *error = NULL;
    tenon_model_options_init(&mo);
    mo.verify = 1;
    mo.key = o->encrypt ? tn_cli_key_give : NULL;
    mo.key_context = key;
    if (tenon_model_open(&s.model, o->out, &mo, &error) != TENON_OK) {
        return tn_cli_error(error);
    }
    const int code = report(o, &s, seconds);
    tn_cli_session_close(&s);
    return code;
}

static int convert(const tn_cli_options *o, const tn_cli_session *s, uint8_t *key)
{
    tenon_save_options so;
    tenon_error *error = NULL;
    const double begin = tn_cli_seconds();
    tenon_save_options_init(&so);
    so.targets = o->target;
    so.session = s->session;
    so.precision = o->precision;
    so.split_weights = o->split_weights;
    so.drop_imported = o->drop_imported;
    so.key = o->encrypt ? tn_cli_key_give : NULL;
    so.key_context = key;
    so.key_name = o->key_name;
    so.chunk_bytes = (size_t)o->chunk;
    const tenon_status status = save(s->model, o->out, &so, &error);
    if (status != TENON_OK) {
        const int code = tn_cli_error(error);
        return status == TENON_IO ? TN_EXIT_CHECK : code;
    }
    return check(o, key, tn_cli_seconds() - begin);
}

static int run(const tn_cli_options *options)
{
    tn_cli_session s;
    tn_cli_feeds feeds = {0};
    uint8_t key[32] = {0};
    if (!options->out) {
        return tn_cli_fail(TN_EXIT_USAGE, "tenon convert needs the name of the file to write: -o OUT.tenon");
    }
    if (options->no_optimise) {
        return tn_cli_fail(TN_EXIT_USAGE, "--no-optimise: a .tenon file holds the optimised graph, and the imported one beside it for this option when it is run");
    }
    struct stat out, secret;
    if (stat(options->out, &out) == 0 && S_ISDIR(out.st_mode)) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: is a folder, not a file", options->out);
    }
    if (options->encrypt && stat(options->out, &out) == 0 && stat(options->encrypt, &secret) == 0 && out.st_dev == secret.st_dev &&
        out.st_ino == secret.st_ino) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: this is the file with the key: write to another name", options->out);
    }
    int code = options->encrypt ? tn_cli_key_read(options->encrypt, key) : TN_EXIT_GOOD;
    code = code ? code : tn_cli_session_open(&s, options);
    if (code) {
        explicit_bzero(key, sizeof key);
        return code;
    }
    // Shapes that the model leaves open are found as the other verbs find them.
    if (!options->target || strcmp(options->target, "none") != 0) {
        code = tn_cli_feeds_make(&feeds, &s, options);
    }
    code = code ? code : convert(options, &s, key);
    tn_cli_session_close(&s);
    tn_cli_feeds_deinit(&feeds);
    explicit_bzero(key, sizeof key);
    return code;
}

#define AT(field) offsetof(tn_cli_options, field)

static const tn_cli_option options_of_convert[] = {
    {"out", "FILE", TN_CLI_TEXT, AT(out), "the file to write (-o FILE); an existing one is replaced, but none that MODEL is read from"},
    {"target", "LIST", TN_CLI_TEXT, AT(target), "instruction sets to pack weights for: avx2,avx512 ...; host (default): this machine; none"},
    {"split-weights", NULL, TN_CLI_FLAG, AT(split_weights), "weights in a file of their own beside OUT.tenon: OUT.weights"},
    {"drop-imported", NULL, TN_CLI_FLAG, AT(drop_imported), "keep only the optimised graph: tensors that fusion swallowed have no name then"},
    {"encrypt", "KEYFILE", TN_CLI_TEXT, AT(encrypt), "encrypt the weights (AES-256-GCM) with the key in KEYFILE: 32 bytes or 64 hexadecimal digits"},
    {"key-name", "NAME", TN_CLI_TEXT, AT(key_name), "what applications are asked a key for; written to the file as it is"},
    {"chunk", "BYTES", TN_CLI_BYTES, AT(chunk), "bytes of weights that share a hash (default 1M, at least 4096)"},
    {NULL, NULL, TN_CLI_FLAG, 0, NULL},
};

const tn_cli_verb tn_verb_convert = {
    .name = "convert",
    .summary = "write a .tenon file: optimised graph, weights, packed weights",
    .about = "Reads MODEL (ONNX or .tenon) and writes a .tenon file that opens without optimising and, on machines of a named target,\n"
             "without packing weights: they are used in place from the mapped file, and processes that open it share its pages.\n"
             "Results are the same, bit for bit, as those of MODEL. The choice of packed weights depends on the shapes of the inputs:\n"
             "--shape names those that MODEL leaves open (else the\n"
             "smallest that it accepts). Of a model that comes quantised each target gets the form that its sessions run, in floats or\n"
             "integers; --precision fp32 or int8 says which. What a target does not cover is packed when it is opened, as ever.\n\n"
             "The file is written under a temporary name and renamed when all of it is there; then it is opened and verified.\n"
             "Weights are hashed in chunks (SHA-256). graph_sha256 names the whole file: give it to --sha256 or to the option sha256\n"
             "of tenon_model_open, and no other file opens. With --encrypt the weights open only with the key (--key-file); packed\n"
             "weights are then decrypted into memory like the others, so that --target none is the better choice there.\n\n"
             "With --json: {out, bytes, file: {version, writer, graph_sha256, targets, pack_bytes, packs, chunks, ...}}.\n",
    .examples = "  tenon convert model.onnx -o model.tenon\n"
                "  tenon convert model.onnx -o model.tenon --target avx2,avx512 --shape input=1x3x224x224\n"
                "  tenon convert model.onnx -o model.tenon --split-weights --target none\n"
                "  openssl rand -hex 32 > key && tenon convert model.onnx -o model.tenon --encrypt key --target none\n"
                "  tenon run model.tenon --key-file key\n",
    .options = options_of_convert,
    .run = run,
};
