// SPDX-License-Identifier: Apache-2.0
// Models: open, optimise once, describe. A model is kept alive by its handle and by its sessions.
#include "api/custom.h"

#include "base/num.h"
#include "ops/quant/op_quantize.h"
#include "sys/crypto/sha256.h"

#include <string.h>

#define LIMIT_TENSOR ((uint64_t)1 << 32)
#define LIMIT_NODES 1000000

void tn_model_release(tenon_model *model)
{
    if (!model || atomic_fetch_sub(&model->references, 1) != 1) {
        return;
    }
    while (model->variants) {
        tn_variant *variant = model->variants;
        model->variants = variant->next;
        tn_graph_destroy(variant->graph);
        tn_give(&model->heap, variant->pinned);
        tn_give(&model->heap, variant);
    }
    while (model->tables) {
        tn_tables *tables = model->tables;
        model->tables = tables->next;
        tn_choices_deinit(&tables->choices);
        tn_give(&model->heap, tables);
    }
    tn_weights_deinit(&model->weights);
    if (model->optimised != model->import.graph) {
        tn_graph_destroy(model->optimised);
    }
    tn_import_deinit(&model->import);
    tn_registry_drop(model->registry);   // its operators' descriptors were in the graphs
    tn_file_close(&model->file);
    if (model->has_lock) {
        pthread_mutex_destroy(&model->lock);
    }
    tn_heap heap;
    tn_heap_init(&heap, model->heap.take, model->heap.give, model->heap.context);
    tn_give(&heap, model);
}

void tenon_model_destroy(tenon_model *model) { tn_model_release(model); }

// Constants that nobody can read decide shapes: there is nothing to infer, and the graph is shown as the file has it.
bool tn_api_closed(const tenon_model *model) { return model->import.facts && model->import.facts->closed; }

bool tn_api_comes_quantised(const tenon_model *model)
{
    const tn_import_facts *facts = model->import.facts;
    if (facts && facts->form && !model->no_optimise) {
        return true;
    }
    const tn_node *node = model->no_optimise ? NULL : model->import.graph->first;
    while (node && node->op != &tn_op_dequantize_linear) {
        node = node->next;
    }
    return node != NULL;
}

// In which form sessions on the CPU of this machine run it.
static bool integers_pay(const tenon_model *model)
{
    tn_cpu cpu;
    if (!tn_api_comes_quantised(model)) {
        return false;
    }
    tn_cpu_detect(&cpu);
    return tn_plan_integers_pay(&cpu);
}

// The optimised graph in the other form becomes the variant that sessions which want that form look for.
static tn_status take_other(tenon_model *model, tn_diag *diag)
{
    if (!model->import.other || model->no_optimise || tn_api_closed(model)) {
        return TN_OK;
    }
    TN_TRY(tn_infer_graph(model->import.other, &model->heap, diag));
    tn_variant *variant = tn_take_zero(&model->heap, 1, sizeof *variant);
    char *none = variant ? tn_api_copy_text(&model->heap, "") : NULL;
    if (!none) {
        tn_give(&model->heap, variant);
        return tn_fail_memory(diag, "model", sizeof *variant);
    }
    *variant = (tn_variant){.graph = model->import.other, .pinned = none, .integers = !model->integers};
    model->import.other = NULL;
    model->variants = variant;
    return TN_OK;
}

// What a .tenon file brings: the optimised graph, which is inferred again because the file is not trusted, and packed weights.
static tn_status take_optimised(tenon_model *model, tn_diag *diag)
{
    tn_import *import = &model->import;
    if (model->no_optimise && !import->graph) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "no_optimise", "the file holds only the optimised graph (it was saved with drop_imported)");
    }
    for (size_t i = 0; i < import->n_packs && !tn_api_closed(model); i++) {
        const tn_import_pack *pack = &import->packs[i];
        TN_TRY(tn_weights_add(&model->weights, pack->source, pack->id, pack->variant, pack->data, pack->bytes, diag));
    }
    if (model->no_optimise) {
        model->optimised = import->graph;      // the other stays with the import
    } else {
        model->optimised = import->optimised;
        import->optimised = NULL;
        import->graph = import->graph ? import->graph : model->optimised;
    }
    // A file that does not say has the form of the machine that it was saved on; either is right.
    model->integers = import->facts->form ? import->facts->form == TN_FORM_INTEGERS : integers_pay(model);
    TN_TRY(tn_api_closed(model) ? TN_OK : tn_infer_graph(model->optimised, &model->heap, diag));
    return take_other(model, diag);
}

// Takes the pages of [data, data + bytes) in the model's files out of memory, all of them for NULL: what is needed again comes back from the
// system's cache.
static void forget_source(void *context, const void *data, size_t bytes)
{
    const tenon_model *model = context;
    for (size_t i = 0; i <= model->import.n_files; i++) {
        const tn_file *file = i ? &model->import.files[i - 1] : &model->file;
        tn_file_forget(file, data ? data : file->data, data ? bytes : file->size);
    }
}

static tn_status optimise(tenon_model *model, tn_diag *diag)
{
    if (model->import.optimised) {
        return take_optimised(model, diag);
    }
    if (model->no_optimise) {
        model->optimised = model->import.graph;
        return tn_infer_graph(model->optimised, &model->heap, diag);
    }
    model->integers = integers_pay(model);
    model->optimised = tn_graph_clone(model->import.graph, &model->heap, NULL);
    if (!model->optimised) {
        return tn_fail_memory(diag, "model", sizeof(tn_graph));
    }
    tn_pass_context context = {.heap = &model->heap, .diag = diag, .limit_tensor_bytes = model->limit_tensor,
                               .floats = !model->integers};
    const tn_status status = tn_optimise(model->optimised, &context, NULL);
    forget_source(model, NULL, 0);   // folded weights have been read for the last time
    return status;
}

static tn_status check_pin(const char *sha256, const uint8_t *data, size_t size, const char *place, tn_diag *diag)
{
    uint8_t wanted[TN_SHA256_BYTES], found[TN_SHA256_BYTES];
    char text[2 * TN_SHA256_BYTES + 1];
    if (!tn_sha256_parse(sha256, wanted)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "sha256", "a SHA-256 is written as 64 hexadecimal digits");
    }
    tn_sha256_of(data, tn_import_pinned_bytes(data, size), found);
    tn_sha256_print(found, text);
    if (memcmp(wanted, found, sizeof wanted) != 0) {
        return tn_fail(diag, TN_INVALID_MODEL, place, "this is not the pinned file: its SHA-256 is %s", text);
    }
    return TN_OK;
}

static tn_status fill(tenon_model *model, const uint8_t *data, size_t size, const tenon_model_options *options, const char *folder, tn_diag *diag)
{
    model->limit_tensor = options->limit_tensor_bytes ? options->limit_tensor_bytes : LIMIT_TENSOR;
    model->no_optimise = options->no_optimise != 0;
    model->describe = options->describe != 0;
    model->log = options->log;
    model->log_context = options->log_context;
    model->file_bytes = size;
    if (options->registry) {
        tn_registry_hold(options->registry);
        model->registry = options->registry;
    }
    model->bytes = data;
    if (pthread_mutex_init(&model->lock, NULL) != 0) {
        return tn_fail(diag, TN_OUT_OF_MEMORY, "model", "the system refused a lock");
    }
    model->has_lock = true;
    TN_TRY(tn_weights_init(&model->weights, &model->heap, diag));
    model->weights.packed = forget_source;   // packed weights take the place of the file's pages
    model->weights.context = model;
    if (options->sha256) {
        TN_TRY(check_pin(options->sha256, data, size, "model", diag));
    }
    const tn_import_options import = {.folder = folder, .limit_tensor_bytes = model->limit_tensor,
                                      .limit_nodes = options->limit_nodes ? options->limit_nodes : LIMIT_NODES,
                                      .tables = model->registry ? tn_registry_tables(model->registry) : NULL,
                                      .verify = options->verify || options->sha256, .key = options->key, .key_context = options->key_context,
                                      .describe = model->describe};
    TN_TRY(tn_import_model(&model->import, data, size, &import, &model->heap, diag));
    return optimise(model, diag);
}

static tn_status make(tenon_model **out, const tenon_model_options *options, tn_diag *diag)
{
    tn_heap heap;
    const tenon_allocator *a = &options->allocator;
    if (!a->take != !a->give) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "allocator", "take and give must both be set, or neither");
    }
    tn_heap_init(&heap, a->take, a->give, a->context);
    tenon_model *model = tn_take_zero(&heap, 1, sizeof *model);
    if (!model) {
        return tn_fail_memory(diag, "model", sizeof *model);
    }
    tn_heap_init(&model->heap, a->take, a->give, a->context);
    atomic_init(&model->references, 1);
    *out = model;
    return TN_OK;
}

// The folder part of a path: where its external data may lie.
static tn_status folder_of(tenon_model *model, const char *path, char **folder, tn_diag *diag)
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash ? (size_t)(slash - path) + (slash == path) : 1;
    *folder = tn_take(&model->heap, length + 1);
    if (!*folder) {
        return tn_fail_memory(diag, path, length);
    }
    memcpy(*folder, slash ? path : ".", length);
    (*folder)[length] = 0;
    return TN_OK;
}

static tenon_status open_model(tenon_model **out, const char *path, const void *data, size_t size, const tenon_model_options *given,
                               tenon_error **error)
{
    tn_diag diag = {0};
    tenon_model_options options;
    tenon_model *model = NULL;
    char *folder = NULL;
    tn_status status = TN_OK;
    *out = NULL;
    tenon_model_options_init(&options);
    if (given && !tn_api_options(&options, sizeof options, given)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "struct_size", "fill the options with tenon_model_options_init first");
    }
    TN_GO(make(&model, &options, &diag));
    if (path) {
        TN_GO(tn_file_open(&model->file, path, &diag));
        TN_GO(folder_of(model, path, &folder, &diag));
        data = model->file.data;
        size = model->file.size;
    }
    TN_GO(fill(model, data, size, &options, path ? folder : options.folder, &diag));
    *out = model;
done:
    if (model) {
        tn_give(&model->heap, folder);
    }
    if (status != TN_OK) {
        tn_model_release(model);
    }
    return tn_api_fail(error, status, &diag);
}

tenon_status tenon_model_open(tenon_model **model, const char *path, const tenon_model_options *options, tenon_error **error)
{
    if (model) {
        *model = NULL;
    }
    if (!model || !path) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_model_open", "model and path must not be NULL");
    }
    return open_model(model, path, NULL, 0, options, error);
}

tenon_status tenon_model_open_memory(tenon_model **model, const void *data, size_t size, const tenon_model_options *options, tenon_error **error)
{
    if (model) {
        *model = NULL;
    }
    if (!model || (!data && size)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_model_open_memory", "model and data must not be NULL");
    }
    return open_model(model, NULL, data, size, options, error);
}

size_t tenon_model_input_count(const tenon_model *model) { return model ? model->import.graph->n_inputs : 0; }
size_t tenon_model_output_count(const tenon_model *model) { return model ? model->import.graph->n_outputs : 0; }

static tenon_status describe(const tn_graph *graph, const tn_value *value, tenon_value_info *out)
{
    tenon_value_info info = {.struct_size = sizeof info, .name = value->name, .dtype = (tenon_dtype)value->dtype, .rank = value->shape.rank,
                             .optional = value->kind == TN_KIND_OPTIONAL};
    const tn_kind held = value->kind == TN_KIND_OPTIONAL ? value->inner : value->kind;
    info.kind = held == TN_KIND_SEQUENCE ? TENON_KIND_SEQUENCE : TENON_KIND_TENSOR;
    for (int i = 0; i < value->shape.rank; i++) {
        const int64_t dim = value->shape.dims[i];
        info.dims[i] = tn_dim_known(dim) ? dim : -1;
        if (dim >= TN_DIM_SYMBOL && !tn_dim_known(dim) && (size_t)(dim - TN_DIM_SYMBOL) < graph->n_symbols) {
            info.symbols[i] = graph->symbols[dim - TN_DIM_SYMBOL];
        }
    }
    const size_t size = out->struct_size;
    memcpy(out, &info, size < sizeof info ? size : sizeof info);
    out->struct_size = size;
    return TENON_OK;
}

tenon_status tenon_model_input(const tenon_model *model, size_t index, tenon_value_info *info)
{
    if (!model || !info || info->struct_size < sizeof info->struct_size || index >= model->import.graph->n_inputs) {
        return TENON_INVALID_ARGUMENT;
    }
    return describe(model->import.graph, model->import.graph->inputs[index], info);
}

tenon_status tenon_model_output(const tenon_model *model, size_t index, tenon_value_info *info)
{
    if (!model || !info || info->struct_size < sizeof info->struct_size || index >= model->import.graph->n_outputs) {
        return TENON_INVALID_ARGUMENT;
    }
    // The optimised graph has inferred what the file left open; its outputs are the file's in the same order.
    return describe(model->optimised, model->optimised->outputs[index], info);
}

const char *tenon_model_metadata(const tenon_model *model, const char *key)
{
    for (size_t i = 0; model && key && i < model->import.n_metadata; i++) {
        if (strcmp(model->import.metadata[2 * i], key) == 0) {
            return model->import.metadata[2 * i + 1];
        }
    }
    return NULL;
}
