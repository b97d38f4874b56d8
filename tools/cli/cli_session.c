// SPDX-License-Identifier: Apache-2.0
// Opening, running and asking a session (cli_session.h).
// The session that runs is kept for the signal handler: tenon_session_cancel is what it calls.
#include "cli_session.h"

#include "cli_calibrate.h"
#include "cli_file.h"
#include "cli_text.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tenon_session *volatile running;
static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    if (running && !interrupted) {
        interrupted = 1;
        tenon_session_cancel(running);
        return;
    }
    tn_cli_writer_remove_pending();
    _exit(TN_EXIT_INTERRUPT);
}

void tn_cli_catch_interrupt(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

static void on_log(void *context, tenon_log_level level, const char *text)
{
    tn_cli_session *s = context;
    if (level == TENON_LOG_DEBUG) {
        tn_cli_note("%s", text);
        return;
    }
    bool again = level < TENON_LOG_WARNING;
    for (unsigned i = 0; i < s->warnings && i < TN_CLI_WARNINGS && !again; i++) {
        again = strcmp(s->told[i], text) == 0;
    }
    if (again) {
        return;
    }
    if (s->warnings < TN_CLI_WARNINGS) {
        s->told[s->warnings++] = tn_cli_copy(text);
        tn_cli_note("%s: %s", level == TENON_LOG_ERROR ? "error" : "warning", text);
    } else if (s->warnings++ == TN_CLI_WARNINGS) {
        tn_cli_note("more warnings are not shown; tenon explain tells each node's story");
    }
}

static tenon_status open_model(tn_cli_session *s, const char *path, const tenon_model_options *options, tenon_error **error)
{
    if (strcmp(path, "-") != 0) {
        return tenon_model_open(&s->model, path, options, error);
    }
    if (!s->bytes && !tn_cli_file_read(path, &s->bytes, &s->size, NULL)) {
        return TENON_IO;
    }
    return tenon_model_open_memory(&s->model, s->bytes, s->size, options, error);
}

int tn_cli_key_read(const char *path, uint8_t key[32])
{
    unsigned char *bytes;
    size_t size;
    if (!tn_cli_file_read(path, &bytes, &size, NULL)) {
        return TN_EXIT_USAGE;
    }
    bool good = size == 32;
    while (size == 65 && (bytes[64] == '\n')) {
        size--;
    }
    if (good) {
        memcpy(key, bytes, 32);
    } else if (size == 64) {
        good = true;
        for (size_t i = 0; i < 32 && good; i++) {
            const char digits[3] = {(char)bytes[2 * i], (char)bytes[2 * i + 1], 0};
            good = isxdigit(bytes[2 * i]) && isxdigit(bytes[2 * i + 1]);
            key[i] = (uint8_t)strtoul(digits, NULL, 16);
        }
    }
    free(bytes);
    return good ? TN_EXIT_GOOD : tn_cli_fail(TN_EXIT_USAGE, "%s: a key file holds 32 bytes, or 64 hexadecimal digits", path);
}

int tn_cli_key_give(void *context, const char *name, uint8_t *key)
{
    (void)name;
    memcpy(key, context, 32);
    return 0;
}

int tn_cli_model_options(tn_cli_session *s, tenon_model_options *mo, const tn_cli_options *options)
{
    tenon_model_options_init(mo);
    mo->log = on_log;
    mo->log_context = s;
    mo->no_optimise = options->no_optimise;
    mo->sha256 = options->sha256;
    mo->verify = options->verify;
    if (!options->key_file) {
        return TN_EXIT_GOOD;
    }
    mo->key = tn_cli_key_give;
    mo->key_context = s->key;
    return tn_cli_key_read(options->key_file, s->key);
}

// Files that the run will end in are tried before it begins.
static int probe_files(const tn_cli_options *options)
{
    const char *const files[] = {options->outputs, options->html, options->trace, options->svg};
    int code = TN_EXIT_GOOD;
    for (size_t i = 0; !code && i < sizeof files / sizeof files[0]; i++) {
        code = files[i] ? tn_cli_writer_probe(files[i]) : TN_EXIT_GOOD;
    }
    if (!code && options->npy) {
        (void)mkdir(options->npy, 0777); // there already, or the folder cannot be made: writing into it tells
        code = tn_cli_folder_probe(options->npy);
    }
    return code;
}

int tn_cli_session_open(tn_cli_session *s, const tn_cli_options *options)
{
    tenon_error *error = NULL;
    *s = (tn_cli_session){0};
    tenon_power power;
    int code = tn_cli_power_read(&power, options->power);
    code = code ? code : probe_files(options);
    if (code) {
        return code;
    }
    tenon_model_options mo;
    code = tn_cli_model_options(s, &mo, options);
    if (code) {
        return code;
    }
    const double begin = tn_cli_seconds();
    tenon_status status = open_model(s, options->model, &mo, &error);
    if (status == TENON_INVALID_ARGUMENT && options->describe && !mo.key && strcmp(tenon_error_place(error), "key") == 0) {
        mo.describe = 1;
        status = open_model(s, options->model, &mo, &error);
        s->closed = status == TENON_OK;
        if (s->closed) {
            tenon_error_destroy(error);
            return TN_EXIT_GOOD;
        }
    }
    if (status != TENON_OK) {
        explicit_bzero(s->key, sizeof s->key);
        tn_cli_session_close(s);
        return error ? tn_cli_error(error) : TN_EXIT_MODEL;
    }
    explicit_bzero(s->key, sizeof s->key);
    const double opened = tn_cli_seconds();
    tenon_session_options so;
    tenon_session_options_init(&so);
    so.power = &power;
    so.device = options->device;
    so.threads = (unsigned)options->threads;
    so.precision = options->precision;
    so.strict = options->strict;
    so.memory_limit = options->memory_limit;
    so.limit_peak_bytes = options->limit_peak;
    so.isa = options->isa;
    so.pin = options->pin;
    so.store = options->store;
    so.cache = options->cache;
    so.device_log = (int)(options->device_log > 2 ? 2 : options->device_log);
    tn_cli_samples samples = {NULL, 0};
    if (options->calibrate) {
        code = tn_cli_samples_read(&samples, s->model, options->calibrate);
        so.calibration = samples.items;
        so.calibration_count = samples.count;
    }
    const bool made = !code && tenon_session_create(&s->session, s->model, &so, &error) == TENON_OK;
    tn_cli_samples_deinit(&samples);
    if (!made) {
        tn_cli_session_close(s);
        return code ? code : tn_cli_error(error);
    }
    tenon_session_set_deadline(s->session, options->deadline < UINT64_MAX / 1000000 ? options->deadline * 1000000 : UINT64_MAX);
    s->open_ms = 1e3 * (opened - begin);
    s->create_ms = 1e3 * (tn_cli_seconds() - opened);
    if (options->power) {
        tn_cli_power_tell(s);
    }
    return TN_EXIT_GOOD;
}

void tn_cli_session_close(tn_cli_session *s)
{
    tenon_session_destroy(s->session);
    tenon_model_destroy(s->model);
    free(s->bytes);
    for (unsigned i = 0; i < s->warnings && i < TN_CLI_WARNINGS; i++) {
        free(s->told[i]);
    }
    *s = (tn_cli_session){0};
}

int tn_cli_session_run(tn_cli_session *s, const char *const *names, size_t count)
{
    tenon_error *error = NULL;
    running = s->session;
    const tenon_status status = tenon_session_run(s->session, names, count, &error);
    running = NULL;
    if (interrupted) {
        tenon_error_destroy(error);
        return tn_cli_fail(TN_EXIT_INTERRUPT, "interrupted");
    }
    return status == TENON_OK ? TN_EXIT_GOOD : tn_cli_error(error);
}

int tn_cli_session_write_outputs(const tn_cli_session *s, const tn_cli_options *options)
{
    tn_cli_writer writer;
    if (!options->outputs) {
        return TN_EXIT_GOOD;
    }
    int code = tn_cli_writer_open(&writer, options->outputs);
    for (size_t i = 0; !code && i < tenon_session_output_count(s->session); i++) {
        tenon_tensor tensor;
        tenon_error *error = NULL;
        if (tenon_session_output(s->session, i, &tensor, &error) != TENON_OK) {
            tn_cli_writer_abandon(&writer);
            return tn_cli_error(error);
        }
        code = tn_cli_writer_add(&writer, tensor.data, tensor.dtype == TENON_STRING || tensor.kind != TENON_KIND_TENSOR ? 0 : tensor.bytes);
    }
    return code ? code : tn_cli_writer_close(&writer);
}

cJSON *tn_cli_session_report(const tn_cli_session *s, tenon_report_kind kind, int *code)
{
    char *text = NULL;
    tenon_error *error = NULL;
    const bool of_model = kind == TENON_REPORT_MODEL || kind == TENON_REPORT_GRAPH;
    const tenon_status status = of_model ? tenon_model_report(s->model, kind, &text, &error)
                                         : tenon_report(s->session, kind, &text, &error);
    if (status != TENON_OK) {
        *code = tn_cli_error(error);
        return NULL;
    }
    cJSON *tree = cJSON_Parse(text);
    tenon_report_destroy(text);
    *code = tree ? TN_EXIT_GOOD : tn_cli_fail(TN_EXIT_LIMIT, "a report of the library could not be read");
    return tree;
}

double tn_cli_number(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

const char *tn_cli_string(const cJSON *object, const char *key, const char *otherwise)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
    return cJSON_IsString(item) ? item->valuestring : otherwise;
}

cJSON *tn_cli_document(const char *verb, const tn_cli_options *options)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "schema", 1);
    cJSON_AddStringToObject(root, "verb", verb);
    if (options->model) {
        cJSON_AddStringToObject(root, "model", options->model);
    }
    return root;
}

int tn_cli_session_run_if_asked(tn_cli_session *s, const tn_cli_options *o)
{
    int code = TN_EXIT_GOOD;
    const uint64_t runs = o->runs != TN_CLI_UNSET ? o->runs : o->outputs ? 1 : 0;
    for (uint64_t i = 0; !code && i < runs; i++) {
        code = tn_cli_session_run(s, NULL, 0);
    }
    return code || !o->outputs ? code : tn_cli_session_write_outputs(s, o);
}

void tn_cli_print_document(cJSON *root)
{
    tn_cli_print_json(root);
    cJSON_Delete(root);
}
