// SPDX-License-Identifier: Apache-2.0
// Where the weights of a .tenon file are: in the file behind the graph, in a file beside it, or - encrypted - in a block that they are
// decrypted into. Sections and constants are checked against the bytes that are there; chunks against their hashes when that is asked
// for, and always by their tags when they are encrypted.
// Ownership: mapped files and the block belong to the import. Threads: one.
#include "import/tenon/tenon_read.h"

#include "base/num.h"
#include "sys/crypto/cipher.h"
#include "sys/crypto/sha256.h"

typedef struct data {
    const uint8_t *at;           // as in the file
    size_t size;
    size_t chunk_bytes, n_chunks;
    tn_flat_vector hashes, salt, tags;
} data;

// ---- the bytes ----

// The weights' file lies in the model's folder itself.
static tn_status open_beside(tn_tenon_reader *reader, const char *name)
{
    if (strchr(name, '/')) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, name, "the weights' file must lie in the folder of the .tenon file");
    }
    if (!reader->options->folder) {
        return tn_fail(reader->diag, TN_INVALID_ARGUMENT, name, "the weights are in a file beside the graph: say in which folder (option folder)");
    }
    reader->out->files = tn_take_zero(reader->heap, 1, sizeof *reader->out->files);
    if (!reader->out->files) {
        return tn_fail_memory(reader->diag, name, sizeof *reader->out->files);
    }
    TN_TRY(tn_file_open_below(&reader->out->files[0], reader->options->folder, name, reader->diag));
    reader->out->n_files = 1;
    reader->out->external_bytes = reader->out->files[0].size;
    return TN_OK;
}

static tn_status find_bytes(tn_tenon_reader *reader, data *d)
{
    const char *name = tn_flat_text(&reader->flat, &reader->model, TN_MODEL_DATA_FILE);
    const uint64_t offset = tn_flat_scalar(&reader->flat, &reader->model, TN_MODEL_DATA_OFFSET, 8, 0);
    const uint64_t size = tn_flat_scalar(&reader->flat, &reader->model, TN_MODEL_DATA_SIZE, 8, 0);
    TN_TRY(tn_tenon_check(reader, ""));
    const uint8_t *file = reader->file;
    size_t have = reader->file_size;
    if (name) {
        TN_TRY(open_beside(reader, name));
        file = reader->out->files[0].data;
        have = reader->out->files[0].size;
    }
    if (offset > have || size > have - offset || offset % TN_TENON_ALIGNMENT) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, name ? name : "",
                       "the weights (%llu bytes at %llu) reach past the end of their file (%zu bytes): it is cut short, or not the right one",
                       (unsigned long long)size, (unsigned long long)offset, have);
    }
    reader->facts->data_file = name;
    d->at = size ? file + offset : NULL;
    d->size = (size_t)size;
    return TN_OK;
}

// ---- sections ----

static tn_status read_sections(tn_tenon_reader *reader, const data *d)
{
    const tn_flat_vector sections = tn_flat_array(&reader->flat, &reader->model, TN_MODEL_SECTIONS, 4);
    reader->sections = tn_arena_array(&reader->scratch, sections.count + 1, sizeof *reader->sections);
    const char **targets = tn_arena_array(reader->kept, sections.count + 1, sizeof *targets);
    if (!reader->sections || !targets) {
        return tn_fail_memory(reader->diag, "sections", sections.count * sizeof *reader->sections);
    }
    size_t end = 0;              // sections lie one behind another
    for (size_t i = 0; i < sections.count; i++) {
        const tn_flat_table table = tn_flat_table_at(&reader->flat, &sections, i);
        const char *target = tn_flat_text(&reader->flat, &table, TN_SECTION_TARGET);
        const uint64_t offset = tn_flat_scalar(&reader->flat, &table, TN_SECTION_OFFSET, 8, 0);
        const uint64_t size = tn_flat_scalar(&reader->flat, &table, TN_SECTION_SIZE, 8, 0);
        TN_TRY(tn_tenon_check(reader, "sections"));
        if (!target != (i == 0) || (size && (offset % TN_TENON_ALIGNMENT || offset < end || offset > d->size || size > d->size - offset))) {
            return tn_tenon_invalid(reader, "sections", "a section lies outside the data, over another, or has the wrong target");
        }
        end = size ? (size_t)(offset + size) : end;
        reader->sections[i] = (tn_tenon_section){.target = target, .data = size ? d->at + offset : NULL, .size = (size_t)size};
        if (target) {
            targets[reader->facts->n_targets++] = target;
        }
    }
    reader->n_sections = sections.count;
    reader->facts->targets = targets;
    return TN_OK;
}

// The table of hashes must cover what there is: one for each chunk of each section.
static tn_status read_chunks(tn_tenon_reader *reader, data *d)
{
    d->chunk_bytes = (size_t)tn_flat_scalar(&reader->flat, &reader->model, TN_MODEL_CHUNK_BYTES, 4, 0);
    d->hashes = tn_flat_array(&reader->flat, &reader->model, TN_MODEL_CHUNK_HASHES, 1);
    TN_TRY(tn_tenon_check(reader, "chunks"));
    if (d->size && (d->chunk_bytes < TN_TENON_CHUNK_LEAST || d->chunk_bytes > TN_TENON_CHUNK_MOST)) {
        return tn_tenon_invalid(reader, "chunks", "chunks of a size that is not allowed");
    }
    for (size_t i = 0; i < reader->n_sections; i++) {
        d->n_chunks += d->chunk_bytes ? TN_CEIL_DIV(reader->sections[i].size, d->chunk_bytes) : 0;
    }
    if (d->hashes.count / TN_SHA256_BYTES != d->n_chunks || d->hashes.count % TN_SHA256_BYTES) {
        return tn_tenon_invalid(reader, "chunks", "another number of hashes than of chunks");
    }
    reader->facts->n_chunks = d->n_chunks;
    reader->facts->chunk_bytes = d->chunk_bytes;
    reader->facts->hashes = d->hashes.data;
    return TN_OK;
}

static tn_status verify(const tn_tenon_reader *reader, const data *d)
{
    size_t chunk = 0;
    for (size_t i = 0; i < reader->n_sections; i++) {
        const tn_tenon_section *section = &reader->sections[i];
        for (size_t at = 0; at < section->size; at += d->chunk_bytes, chunk++) {
            uint8_t digest[TN_SHA256_BYTES];
            tn_sha256_of(section->data + at, TN_MIN(d->chunk_bytes, section->size - at), digest);
            if (memcmp(digest, d->hashes.data + chunk * TN_SHA256_BYTES, sizeof digest) != 0) {
                return tn_fail(reader->diag, TN_INVALID_MODEL, "weights", "chunk %zu of %zu (at byte %zu of section %zu) has another SHA-256 than "
                               "the file says: it was damaged or changed", chunk, d->n_chunks, at, i);
            }
        }
    }
    return TN_OK;
}

// ---- encryption ----

static tn_status ask_key(const tn_tenon_reader *reader, const char *name, tn_cipher *cipher)
{
    uint8_t key[TN_CIPHER_KEY] = {0};
    if (!reader->options->key) {
        return tn_fail(reader->diag, TN_INVALID_ARGUMENT, "key", "the weights are encrypted%s%.100s: give the option key", name ? " with the key " : "",
                       name ? name : "");
    }
    tn_status status = TN_OK;
    if (reader->options->key(reader->options->key_context, name ? name : "", key) != 0) {
        status = tn_fail(reader->diag, TN_INVALID_ARGUMENT, "key", "the key function has no key '%.100s'", name ? name : "");
    } else {
        status = tn_cipher_open(cipher, key, reader->diag);
    }
    explicit_bzero(key, sizeof key);
    return status;
}

// Each chunk by itself into the block; the sections then lie there, as far apart as in the file.
static tn_status unseal(tn_tenon_reader *reader, const data *d, tn_cipher *cipher)
{
    uint8_t *to = reader->out->plain;
    size_t chunk = 0;
    for (size_t i = 0; i < reader->n_sections; i++) {
        tn_tenon_section *section = &reader->sections[i];
        const size_t start = section->data ? (size_t)(section->data - d->at) : 0;
        for (size_t at = 0; at < section->size; at += d->chunk_bytes, chunk++) {
            uint8_t nonce[TN_CIPHER_NONCE];
            const size_t bytes = TN_MIN(d->chunk_bytes, section->size - at);
            memcpy(nonce, d->salt.data, TN_TENON_SALT);
            for (size_t k = 0; k < 4; k++) {
                nonce[TN_TENON_SALT + k] = (uint8_t)(chunk >> (8 * k));
            }
            if (tn_cipher_unseal(cipher, nonce, TN_TENON_IDENTIFIER, 4, section->data + at, to + start + at, bytes,
                                 d->tags.data + chunk * TN_CIPHER_TAG) != TN_OK) {
                return tn_fail(reader->diag, TN_INVALID_MODEL, "weights",
                               "chunk %zu of %zu of the encrypted weights does not open: the key is wrong, or the file was changed", chunk, d->n_chunks);
            }
        }
        section->data = section->size ? to + start : NULL;
    }
    return TN_OK;
}

// Nothing will compute with the weights: zeros stand for them.
static tn_status leave_closed(tn_tenon_reader *reader, const data *d)
{
    uint8_t *to = tn_take_zero(reader->heap, d->size, 1);
    if (!to) {
        return tn_fail_memory(reader->diag, "weights", d->size);
    }
    reader->out->plain = to;
    reader->facts->closed = true;
    for (size_t i = 0; i < reader->n_sections; i++) {
        tn_tenon_section *section = &reader->sections[i];
        section->data = section->size ? to + (section->data - d->at) : NULL;
    }
    return TN_OK;
}

static tn_status decrypt(tn_tenon_reader *reader, data *d, const tn_flat_table *encryption)
{
    const char *name = tn_flat_text(&reader->flat, encryption, TN_ENCRYPTION_KEY_NAME);
    const uint64_t kind = tn_flat_scalar(&reader->flat, encryption, TN_ENCRYPTION_CIPHER, 1, 0);
    d->salt = tn_flat_array(&reader->flat, encryption, TN_ENCRYPTION_SALT, 1);
    d->tags = tn_flat_array(&reader->flat, encryption, TN_ENCRYPTION_TAGS, 1);
    TN_TRY(tn_tenon_check(reader, "encryption"));
    if (kind != TN_CIPHER_AES_256_GCM) {
        return tn_fail(reader->diag, TN_UNSUPPORTED, "encryption", "the weights are encrypted by cipher %u, which this version does not know",
                       (unsigned)kind);
    }
    if (d->salt.count != TN_TENON_SALT || d->tags.count / TN_CIPHER_TAG != d->n_chunks || d->tags.count % TN_CIPHER_TAG || d->n_chunks > UINT32_MAX) {
        return tn_tenon_invalid(reader, "encryption", "a salt of another length, or another number of tags than of chunks");
    }
    reader->facts->encrypted = true;
    reader->facts->key_name = name;
    if (reader->options->describe && !reader->options->key) {
        return leave_closed(reader, d);
    }
    tn_cipher cipher;
    TN_TRY(ask_key(reader, name, &cipher));
    tn_status status = TN_OK;
    reader->out->plain = tn_take(reader->heap, d->size);
    if (!reader->out->plain) {
        status = tn_fail_memory(reader->diag, "weights", d->size);
    } else {
        status = unseal(reader, d, &cipher);
    }
    tn_cipher_close(&cipher);
    return status;
}

// ---- constants ----

static tn_status read_constants(tn_tenon_reader *reader)
{
    const tn_flat_vector constants = tn_flat_array(&reader->flat, &reader->model, TN_MODEL_CONSTANTS, 4);
    reader->constants = tn_arena_array(&reader->scratch, constants.count + 1, sizeof *reader->constants);
    if (!reader->constants) {
        return tn_fail_memory(reader->diag, "constants", constants.count * sizeof *reader->constants);
    }
    const tn_tenon_section none = {0}, *section = reader->n_sections ? &reader->sections[0] : &none;
    for (size_t i = 0; i < constants.count; i++) {
        const tn_flat_table table = tn_flat_table_at(&reader->flat, &constants, i);
        const uint64_t offset = tn_flat_scalar(&reader->flat, &table, TN_CONSTANT_OFFSET, 8, 0);
        const uint64_t size = tn_flat_scalar(&reader->flat, &table, TN_CONSTANT_SIZE, 8, 0);
        const tn_flat_vector texts = tn_flat_array(&reader->flat, &table, TN_CONSTANT_TEXTS, 4);
        TN_TRY(tn_tenon_check(reader, "constants"));
        if (offset % TN_TENON_ALIGNMENT || offset > section->size || size > section->size - offset) {
            return tn_tenon_invalid(reader, "constants", "a constant lies outside its section or is not aligned");
        }
        reader->constants[i] = (tn_tenon_constant){.data = size ? section->data + offset : NULL, .size = (size_t)size, .texts = texts,
                                                   .weight = tn_heap_id(reader->heap)};
    }
    reader->n_constants = constants.count;
    return TN_OK;
}

tn_status tn_tenon_read_data(tn_tenon_reader *reader)
{
    data d = {0};
    const tn_flat_table encryption = tn_flat_sub(&reader->flat, &reader->model, TN_MODEL_ENCRYPTION);
    TN_TRY(find_bytes(reader, &d));
    reader->facts->graph_bytes = reader->flat.size;
    TN_TRY(read_sections(reader, &d));
    TN_TRY(read_chunks(reader, &d));
    if (reader->options->verify) {
        TN_TRY(verify(reader, &d));
    }
    if (encryption.at) {
        TN_TRY(decrypt(reader, &d, &encryption));
    }
    reader->data = encryption.at ? reader->out->plain : d.at;
    return read_constants(reader);
}
