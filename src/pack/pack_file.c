// SPDX-License-Identifier: Apache-2.0
// Makes a .tenon file: collect what the graphs use, lay out and hash the weights, build the tables, write. The weights' file of a pair
// takes its name first and the graph last, so that whoever opens the graph finds weights that fit it.
// Ownership and threads: see pack.h.
#include "pack/pack_work.h"

#include "base/num.h"
#include "sys/crypto/sha256.h"

#include <limits.h>

tn_status tn_packer_memory(const tn_packer *p, size_t bytes) { return tn_fail_memory(p->diag, "save", bytes); }

tn_flat_ref tn_packer_text(tn_packer *p, const char *text)
{
    if (!text) {
        return 0;
    }
    tn_flat_ref ref = (tn_flat_ref)(uintptr_t)tn_map_find(&p->texts, text, strlen(text));
    if (!ref) {
        ref = tn_flat_put_text(&p->build, text);
        p->build.failed = p->build.failed || !tn_map_set(&p->texts, text, strlen(text), (void *)(uintptr_t)ref);
    }
    return ref;
}

// ---- tables beside the graphs ----

static tn_flat_ref metadata(tn_packer *p, const tn_import *import)
{
    tn_flat_ref *pairs = tn_arena_array(&p->scratch, import->n_metadata + 1, sizeof *pairs);
    for (size_t i = 0; pairs && i < import->n_metadata; i++) {
        const tn_flat_ref key = tn_packer_text(p, import->metadata[2 * i]), value = tn_packer_text(p, import->metadata[2 * i + 1]);
        tn_flat_open(&p->build);
        tn_flat_field_ref(&p->build, TN_PAIR_KEY, key);
        tn_flat_field_ref(&p->build, TN_PAIR_VALUE, value);
        pairs[i] = tn_flat_close(&p->build);
    }
    p->build.failed = p->build.failed || !pairs;
    return pairs && import->n_metadata ? tn_flat_put_refs(&p->build, pairs, import->n_metadata) : 0;
}

// The elements of a tensor of strings.
static tn_flat_ref string_cells(tn_packer *p, const tn_tensor *tensor)
{
    const size_t count = (size_t)tn_tensor_count(tensor);
    const char *const *cells = tensor->data;
    tn_flat_ref *refs = tn_arena_array(&p->scratch, count + 1, sizeof *refs);
    for (size_t i = 0; refs && i < count; i++) {
        refs[i] = tn_packer_text(p, cells[i] ? cells[i] : "");
    }
    p->build.failed = p->build.failed || !refs;
    return refs ? tn_flat_put_refs(&p->build, refs, count) : 0;
}

static tn_flat_ref constants(tn_packer *p)
{
    tn_flat_ref *tables = tn_arena_array(&p->scratch, p->n_constants + 1, sizeof *tables);
    for (size_t i = 0; tables && i < p->n_constants; i++) {
        const tn_pack_constant *constant = &p->constants[i];
        const tn_flat_ref texts = constant->tensor->dtype == TN_STRING ? string_cells(p, constant->tensor) : 0;
        tn_flat_open(&p->build);
        tn_flat_field(&p->build, TN_CONSTANT_OFFSET, constant->offset, 8, 0);
        tn_flat_field(&p->build, TN_CONSTANT_SIZE, constant->bytes, 8, 0);
        tn_flat_field_ref(&p->build, TN_CONSTANT_TEXTS, texts);
        tables[i] = tn_flat_close(&p->build);
    }
    p->build.failed = p->build.failed || !tables;
    return tables ? tn_flat_put_refs(&p->build, tables, p->n_constants) : 0;
}

static tn_flat_ref packed(tn_packer *p, const tn_pack_target *targets, size_t n_targets)
{
    size_t total = 0, n = 0;
    for (size_t t = 0; t < n_targets; t++) {
        total += targets[t].n_packs;
    }
    tn_flat_ref *tables = tn_arena_array(&p->scratch, total + 1, sizeof *tables);
    for (size_t t = 0; tables && t < n_targets; t++) {
        for (size_t i = 0; i < targets[t].n_packs; i++) {
            const tn_packed *pack = targets[t].packs[i];
            const uintptr_t constant = (uintptr_t)tn_map_find(&p->sources, (const char *)&pack->source, sizeof pack->source);
            const tn_flat_ref id = tn_packer_text(p, pack->id);
            tn_flat_open(&p->build);
            tn_flat_field(&p->build, TN_PACKED_CONSTANT, constant - 1, 4, 0);
            tn_flat_field_ref(&p->build, TN_PACKED_ID, id);
            tn_flat_field(&p->build, TN_PACKED_VARIANT, pack->variant, 8, 0);
            tn_flat_field(&p->build, TN_PACKED_SECTION, t + 1, 2, 0);
            tn_flat_field(&p->build, TN_PACKED_OFFSET, p->sections[t + 1].pieces[i].offset, 8, 0);
            tn_flat_field(&p->build, TN_PACKED_SIZE, pack->bytes, 8, 0);
            tables[n++] = tn_flat_close(&p->build);
        }
    }
    p->build.failed = p->build.failed || !tables;
    return tables && n ? tn_flat_put_refs(&p->build, tables, n) : 0;
}

static tn_flat_ref sections(tn_packer *p)
{
    tn_flat_ref *tables = tn_arena_array(&p->scratch, p->n_sections + 1, sizeof *tables);
    for (size_t i = 0; tables && i < p->n_sections; i++) {
        const tn_flat_ref target = tn_packer_text(p, p->sections[i].target);
        tn_flat_open(&p->build);
        tn_flat_field_ref(&p->build, TN_SECTION_TARGET, target);
        tn_flat_field(&p->build, TN_SECTION_OFFSET, p->sections[i].offset, 8, 0);
        tn_flat_field(&p->build, TN_SECTION_SIZE, p->sections[i].size, 8, 0);
        tables[i] = tn_flat_close(&p->build);
    }
    p->build.failed = p->build.failed || !tables;
    return tables ? tn_flat_put_refs(&p->build, tables, p->n_sections) : 0;
}

static tn_flat_ref encryption(tn_packer *p)
{
    if (!p->options->key) {
        return 0;
    }
    const tn_flat_ref name = tn_packer_text(p, p->options->key_name), salt = tn_flat_put_vector(&p->build, p->salt, sizeof p->salt, 1);
    const tn_flat_ref tags = tn_flat_put_vector(&p->build, p->tags, p->n_chunks * TN_CIPHER_TAG, 1);
    tn_flat_open(&p->build);
    tn_flat_field(&p->build, TN_ENCRYPTION_CIPHER, TN_CIPHER_AES_256_GCM, 1, 0);
    tn_flat_field_ref(&p->build, TN_ENCRYPTION_KEY_NAME, name);
    tn_flat_field_ref(&p->build, TN_ENCRYPTION_SALT, salt);
    tn_flat_field_ref(&p->build, TN_ENCRYPTION_TAGS, tags);
    return tn_flat_close(&p->build);
}

// A graph that only a file without its imported one has is optimised already.
static bool keeps_imported(const tn_packer *p, const tn_pack_model *model)
{
    const tn_import_facts *facts = model->import->facts;
    return !p->options->drop_imported && model->import->graph != model->optimised && !(facts && !facts->has_imported);
}

// The whole graph part. data_file NULL: the data follow it, at its length.
static tn_status build_tables(tn_packer *p, const tn_pack_model *model, const tn_pack_target *targets, size_t n_targets, const char *data_file)
{
    const tn_import *import = model->import;
    tn_flat_ref refs[TN_MODEL_FIELDS] = {0};
    TN_TRY(tn_pack_ops(p, &refs[TN_MODEL_OPERATORS]));
    TN_TRY(tn_pack_codes(p, &refs[TN_MODEL_LOOP_CODES]));
    TN_TRY(tn_pack_graph(p, model->optimised, &refs[TN_MODEL_GRAPH]));
    if (keeps_imported(p, model)) {
        TN_TRY(tn_pack_graph(p, import->graph, &refs[TN_MODEL_IMPORTED]));
    }
    if (model->other) {
        TN_TRY(tn_pack_graph(p, model->other, &refs[TN_MODEL_OTHER]));
    }
    refs[TN_MODEL_WRITER] = tn_packer_text(p, p->options->writer);
    refs[TN_MODEL_SOURCE_FORMAT] = tn_packer_text(p, import->format);
    refs[TN_MODEL_PRODUCER] = tn_packer_text(p, import->producer);
    refs[TN_MODEL_METADATA] = metadata(p, import);
    refs[TN_MODEL_CONSTANTS] = constants(p);
    refs[TN_MODEL_PACKED] = packed(p, targets, n_targets);
    refs[TN_MODEL_SECTIONS] = sections(p);
    refs[TN_MODEL_DATA_FILE] = tn_packer_text(p, data_file);
    refs[TN_MODEL_CHUNK_HASHES] = tn_flat_put_vector(&p->build, p->hashes, p->n_chunks * TN_SHA256_BYTES, 1);
    refs[TN_MODEL_ENCRYPTION] = encryption(p);
    tn_flat_open(&p->build);
    for (unsigned i = 0; i < TN_COUNT(refs); i++) {
        tn_flat_field_ref(&p->build, i, refs[i]);
    }
    tn_flat_field(&p->build, TN_MODEL_VERSION, TN_TENON_MINOR, 2, 0);
    tn_flat_field(&p->build, TN_MODEL_FORM, model->form, 1, 0);
    tn_flat_field(&p->build, TN_MODEL_OPSET, (uint64_t)import->opset, 8, 0);
    tn_flat_field(&p->build, TN_MODEL_PARAMETERS, import->parameter_count, 8, 0);
    tn_flat_field(&p->build, TN_MODEL_DATA_SIZE, p->data_size, 8, 0);
    tn_flat_field(&p->build, TN_MODEL_CHUNK_BYTES, p->chunk_bytes, 4, 0);
    tn_flat_field(&p->build, TN_MODEL_DATA_OFFSET, !data_file, 8, 0);      // its place; the number is known at the end
    const tn_flat_ref offset = p->build.fields[TN_MODEL_DATA_OFFSET], root = tn_flat_close(&p->build);
    tn_flat_finish(&p->build, root, TN_TENON_IDENTIFIER, data_file ? 8 : TN_TENON_PAGE);
    if (!data_file) {
        tn_flat_patch(&p->build, offset, p->build.used, 8);
    }
    return p->build.failed ? tn_fail(p->diag, TN_OUT_OF_MEMORY, "save", "no memory for the graph, or it is larger than 2 GiB") : TN_OK;
}

// ---- files ----

// PATH with the ending ".tenon" (or none) replaced by ".weights"; *name is its last part.
static tn_status weights_path(const char *path, char *out, size_t size, const char **name, tn_diag *diag)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const size_t stem = dot && (!slash || dot > slash + 1) && dot != path ? (size_t)(dot - path) : strlen(path);
    if (stem + sizeof ".weights" > size) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, path, "the path is too long");
    }
    memcpy(out, path, stem);
    memcpy(out + stem, ".weights", sizeof ".weights");
    *name = out + (slash ? slash + 1 - path : 0);
    return strcmp(out, path) == 0 ? tn_fail(diag, TN_INVALID_ARGUMENT, path, "with weights in a file beside, the graph may not end in .weights")
                                  : TN_OK;
}

static tn_status is_free(const char *path, const tn_file *file, const tn_import *import, tn_diag *diag)
{
    bool read = tn_file_is(file, path);
    for (size_t i = 0; i < import->n_files && !read; i++) {
        read = tn_file_is(&import->files[i], path);
    }
    return read ? tn_fail(diag, TN_INVALID_ARGUMENT, path, "the model is read from this file: write to another name") : TN_OK;
}

tn_status tn_pack_check_path(const char *path, const tn_file *file, const tn_import *import, bool split, tn_diag *diag)
{
    char weights[PATH_MAX];
    const char *name = NULL;
    TN_TRY(is_free(path, file, import, diag));
    if (split) {
        TN_TRY(weights_path(path, weights, sizeof weights, &name, diag));
        TN_TRY(is_free(weights, file, import, diag));
    }
    return TN_OK;
}

static tn_status write_files(tn_packer *p, const char *path, const char *weights)
{
    tn_file_writer graph = {.descriptor = -1}, data = {.descriptor = -1};
    tn_status status = TN_OK;
    TN_GO(tn_file_create(&graph, path, p->diag));
    if (weights) {
        TN_GO(tn_file_create(&data, weights, p->diag));
    }
    TN_GO(tn_file_append(&graph, p->build.data + p->build.capacity - p->build.used, p->build.used, p->diag));
    TN_GO(tn_pack_write_data(p, weights ? &data : &graph));
    if (weights) {
        TN_GO(tn_file_commit(&data, p->diag));
    }
    TN_GO(tn_file_commit(&graph, p->diag));
done:
    tn_file_abandon(&data);
    tn_file_abandon(&graph);
    return status;
}

// Packed forms of constants that the saved graphs do not hold stay out.
static tn_status own_targets(tn_packer *p, const tn_pack_target *targets, size_t n_targets, tn_pack_target **out)
{
    tn_pack_target *copies = tn_arena_array(&p->scratch, n_targets + 1, sizeof *copies);
    for (size_t t = 0; copies && t < n_targets; t++) {
        const tn_packed **packs = tn_arena_array(&p->scratch, targets[t].n_packs + 1, sizeof *packs);
        if (!packs) {
            return tn_packer_memory(p, targets[t].n_packs * sizeof *packs);
        }
        copies[t] = (tn_pack_target){.name = targets[t].name, .packs = packs};
        for (size_t i = 0; i < targets[t].n_packs; i++) {
            const tn_packed *one = targets[t].packs[i];
            if (tn_map_find(&p->sources, (const char *)&one->source, sizeof one->source)) {
                packs[copies[t].n_packs++] = one;
            }
        }
    }
    *out = copies;
    return copies ? TN_OK : tn_packer_memory(p, n_targets * sizeof *copies);
}

static tn_status pack(tn_packer *p, const char *path, const tn_pack_model *model, const tn_pack_target *targets, size_t n_targets)
{
    char weights[PATH_MAX];
    const char *name = NULL;
    if (p->options->split) {
        TN_TRY(weights_path(path, weights, sizeof weights, &name, p->diag));
    }
    TN_TRY(tn_pack_collect(p, model->optimised));
    if (model->other) {
        TN_TRY(tn_pack_collect(p, model->other));
    }
    if (keeps_imported(p, model)) {
        TN_TRY(tn_pack_collect(p, model->import->graph));
    }
    tn_pack_target *held;
    TN_TRY(own_targets(p, targets, n_targets, &held));
    TN_TRY(tn_pack_lay_out(p, held, n_targets));
    TN_TRY(tn_pack_hash(p));
    TN_TRY(build_tables(p, model, held, n_targets, name));
    return write_files(p, path, name ? weights : NULL);
}

tn_status tn_pack_write(const char *path, const tn_pack_model *model, const tn_pack_target *targets, size_t n_targets,
                        const tn_pack_options *options, tn_heap *heap, tn_diag *diag)
{
    tn_packer p = {.heap = heap, .diag = diag, .options = options, .chunk_bytes = options->chunk_bytes ? options->chunk_bytes : TN_TENON_CHUNK};
    if (p.chunk_bytes < TN_TENON_CHUNK_LEAST || p.chunk_bytes > TN_TENON_CHUNK_MOST || n_targets > 64) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "chunk_bytes", "chunks have %d bytes to 1 GiB, and a file at most 64 targets", TN_TENON_CHUNK_LEAST);
    }
    tn_arena_init(&p.scratch, heap);
    tn_flat_build_init(&p.build, heap);
    tn_map_init(&p.texts, &p.scratch);
    tn_map_init(&p.known, &p.scratch);
    tn_map_init(&p.sources, &p.scratch);
    tn_map_init(&p.op_index, &p.scratch);
    tn_status status = pack(&p, path, model, targets, n_targets);
    if (options->key) {
        tn_cipher_close(&p.cipher);
    }
    tn_flat_build_deinit(&p.build);
    tn_arena_deinit(&p.scratch);
    return status;
}
