// SPDX-License-Identifier: Apache-2.0
// Reads sample inputs (cli_calibrate.h): for each input of the model NAME.npy or NAME.pb.
// Ownership: see cli_calibrate.h. Threads: one.
#include "cli_calibrate.h"

#include "cli_file.h"
#include "cli_tensor.h"
#include "cli_text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_SETS 4096

static int read_input(tn_cli_tensor *tensor, const tenon_value_info *info, const char *folder)
{
    static const char *const extensions[] = {"npy", "pb"};
    *tensor = (tn_cli_tensor){.dtype = info->dtype};
    for (int e = 0; e < 2; e++) {
        char *name = tn_cli_copy(info->name);
        for (char *c = name; *c; c++) {
            *c = *c == '/' || *c == ':' ? '_' : *c;
        }
        char *path = tn_cli_format("%s/%s.%s", folder, name, extensions[e]);
        uint8_t *data = NULL;
        size_t size = 0;
        bool missing = false;
        free(name);
        const bool read = tn_cli_file_read(path, &data, &size, &missing);
        int code = TN_EXIT_USAGE;
        if (read) {
            code = e == 0 ? tn_cli_npy_read(tensor, data, size, info->dtype, path) : tn_cli_proto_read(tensor, data, size, path);
        }
        free(data);
        free(path);
        if (!missing) {
            return code;
        }
    }
    return tn_cli_fail(TN_EXIT_USAGE, "--calibrate: there is no %s.npy or .pb in %s", info->name, folder);
}

static int read_set(tenon_sample *sample, const tenon_model *model, const char *folder)
{
    const size_t count = tenon_model_input_count(model);
    const char **names = calloc(count + 1, sizeof *names);
    tenon_tensor *tensors = calloc(count + 1, sizeof *tensors);
    int code = names && tensors ? TN_EXIT_GOOD : tn_cli_fail(TN_EXIT_LIMIT, "no memory left");
    *sample = (tenon_sample){.names = names, .tensors = tensors, .count = names && tensors ? count : 0};
    for (size_t i = 0; i < count && !code; i++) {
        tenon_value_info info = {.struct_size = sizeof info};
        tn_cli_tensor tensor;
        (void)tenon_model_input(model, i, &info);
        names[i] = info.name;
        code = read_input(&tensor, &info, folder);
        if (!code) {
            tensors[i] = (tenon_tensor){.dtype = tensor.dtype, .rank = tensor.rank, .data = tensor.data, .bytes = tensor.bytes};
            memcpy(tensors[i].dims, tensor.dims, sizeof tensor.dims);
        }
    }
    return code;
}

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

int tn_cli_samples_read(tn_cli_samples *samples, const tenon_model *model, const char *folder)
{
    int code = TN_EXIT_GOOD, n = 0;
    struct dirent **entries = NULL;
    *samples = (tn_cli_samples){.items = calloc(MAX_SETS, sizeof *samples->items)};
    if (!samples->items) {
        return tn_cli_fail(TN_EXIT_LIMIT, "no memory left");
    }
    n = scandir(folder, &entries, NULL, alphasort);
    if (n < 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "--calibrate: %s cannot be read", folder);
    }
    for (int i = 0; i < n; i++) {
        char *path = tn_cli_format("%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && !code && samples->count < MAX_SETS && is_folder(path)) {
            code = read_set(&samples->items[samples->count++], model, path);
        }
        free(path);
        free(entries[i]);
    }
    free(entries);
    return !code && samples->count == 0 ? read_set(&samples->items[samples->count++], model, folder) : code;
}

void tn_cli_samples_deinit(tn_cli_samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        for (size_t k = 0; k < samples->items[i].count; k++) {
            free(samples->items[i].tensors[k].data);
        }
        free((void *)(uintptr_t)samples->items[i].names);
        free((void *)(uintptr_t)samples->items[i].tensors);
    }
    free(samples->items);
    *samples = (tn_cli_samples){NULL, 0};
}
