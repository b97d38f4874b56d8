// SPDX-License-Identifier: Apache-2.0
// The weights of a .tenon file: where each piece lies, the hashes and tags of the chunks, and the bytes themselves. The data are walked
// twice in the same way, once to hash and once to write, so that they are never in memory as a whole.
// Ownership and threads: see pack_work.h.
#include "pack/pack_work.h"

#include "base/num.h"
#include "sys/crypto/sha256.h"

// ---- layout ----

static tn_status place(tn_packer *p, tn_pack_section *section, const void *data, size_t bytes, uint64_t *offset)
{
    const uint64_t at = (section->size + TN_TENON_ALIGNMENT - 1) / TN_TENON_ALIGNMENT * TN_TENON_ALIGNMENT;
    if (bytes > UINT64_MAX / 4 - at) {
        return tn_fail(p->diag, TN_LIMIT, "weights", "they are too large for a file");
    }
    section->pieces[section->n_pieces++] = (tn_pack_piece){data, bytes, at};
    section->size = at + bytes;
    *offset = at;
    return TN_OK;
}

static tn_status place_constants(tn_packer *p, tn_pack_section *section)
{
    section->pieces = tn_arena_array(&p->scratch, p->n_constants + 1, sizeof *section->pieces);
    if (!section->pieces) {
        return tn_packer_memory(p, p->n_constants * sizeof *section->pieces);
    }
    for (size_t i = 0; i < p->n_constants; i++) {
        tn_pack_constant *constant = &p->constants[i];
        if (constant->bytes) {
            TN_TRY(place(p, section, constant->tensor->data, constant->bytes, &constant->offset));
        }
    }
    return TN_OK;
}

static tn_status place_target(tn_packer *p, tn_pack_section *section, const tn_pack_target *target)
{
    uint64_t offset;
    section->target = target->name;
    section->pieces = tn_arena_array(&p->scratch, target->n_packs + 1, sizeof *section->pieces);
    if (!section->pieces) {
        return tn_packer_memory(p, target->n_packs * sizeof *section->pieces);
    }
    for (size_t i = 0; i < target->n_packs; i++) {
        TN_TRY(place(p, section, target->packs[i]->data, target->packs[i]->bytes, &offset));
    }
    return TN_OK;
}

// Each section begins on a page, so that reading the one touches no page of another.
tn_status tn_pack_lay_out(tn_packer *p, const tn_pack_target *targets, size_t n_targets)
{
    p->n_sections = n_targets + 1;
    p->sections = tn_arena_array(&p->scratch, p->n_sections, sizeof *p->sections);
    if (!p->sections) {
        return tn_packer_memory(p, p->n_sections * sizeof *p->sections);
    }
    for (size_t i = 0; i < p->n_sections; i++) {
        tn_pack_section *section = &p->sections[i];
        TN_TRY(i == 0 ? place_constants(p, section) : place_target(p, section, &targets[i - 1]));
        if (section->size) {
            section->offset = (p->data_size + TN_TENON_PAGE - 1) / TN_TENON_PAGE * TN_TENON_PAGE;
            p->data_size = section->offset + section->size;
        }
        p->n_chunks += (size_t)TN_CEIL_DIV(section->size, p->chunk_bytes);
    }
    return p->n_chunks < UINT32_MAX ? TN_OK : tn_fail(p->diag, TN_LIMIT, "weights", "they have more chunks than a file may have");
}

// ---- the walk ----

// Fills the chunk with the section's bytes from `at` on; *next is the first piece that may reach into it.
static void fill(tn_packer *p, const tn_pack_section *section, uint64_t at, size_t bytes, size_t *next)
{
    memset(p->chunk, 0, bytes);
    for (size_t i = *next; i < section->n_pieces && section->pieces[i].offset < at + bytes; i++) {
        const tn_pack_piece *piece = &section->pieces[i];
        if (piece->offset + piece->bytes <= at) {
            *next = i + 1;
            continue;
        }
        const uint64_t from = TN_MAX(piece->offset, at), to = TN_MIN(piece->offset + piece->bytes, at + bytes);
        memcpy(p->chunk + (from - at), (const uint8_t *)piece->data + (from - piece->offset), (size_t)(to - from));
    }
}

// Chunk by chunk as it will lie in the file: encrypted when there is a key.
static tn_status walk(tn_packer *p, tn_status (*take)(tn_packer *p, size_t chunk, uint64_t at, size_t bytes, void *context), void *context)
{
    size_t chunk = 0;
    for (size_t i = 0; i < p->n_sections; i++) {
        const tn_pack_section *section = &p->sections[i];
        size_t next = 0;
        for (uint64_t at = 0; at < section->size; at += p->chunk_bytes, chunk++) {
            const size_t bytes = (size_t)TN_MIN((uint64_t)p->chunk_bytes, section->size - at);
            fill(p, section, at, bytes, &next);
            if (p->options->key) {
                uint8_t nonce[TN_CIPHER_NONCE];
                memcpy(nonce, p->salt, TN_TENON_SALT);
                for (size_t k = 0; k < 4; k++) {
                    nonce[TN_TENON_SALT + k] = (uint8_t)(chunk >> (8 * k));
                }
                if (tn_cipher_seal(&p->cipher, nonce, TN_TENON_IDENTIFIER, 4, p->chunk, p->chunk, bytes, p->tags + chunk * TN_CIPHER_TAG) != TN_OK) {
                    return tn_fail(p->diag, TN_INTERNAL, "libcrypto", "it could not encrypt a chunk of %zu bytes", bytes);
                }
            }
            TN_TRY(take(p, chunk, section->offset + at, bytes, context));
        }
    }
    return TN_OK;
}

static tn_status hash_chunk(tn_packer *p, size_t chunk, uint64_t at, size_t bytes, void *context)
{
    (void)at;
    (void)context;
    tn_sha256_of(p->chunk, bytes, p->hashes + chunk * TN_SHA256_BYTES);
    return TN_OK;
}

tn_status tn_pack_hash(tn_packer *p)
{
    p->hashes = tn_arena_array(&p->scratch, p->n_chunks + 1, TN_SHA256_BYTES);
    p->tags = tn_arena_array(&p->scratch, p->n_chunks + 1, TN_CIPHER_TAG);
    p->chunk = tn_arena_take(&p->scratch, p->chunk_bytes);
    if (!p->hashes || !p->tags || !p->chunk) {
        return tn_packer_memory(p, p->chunk_bytes);
    }
    if (p->options->key) {
        if (!tn_random_bytes(p->salt, sizeof p->salt)) {
            return tn_fail(p->diag, TN_IO, "random", "the system gives no random bytes to encrypt with");
        }
        TN_TRY(tn_cipher_open(&p->cipher, p->options->key, p->diag));
    }
    return walk(p, hash_chunk, NULL);
}

typedef struct output {
    tn_file_writer *writer;
    uint64_t at;                 // bytes of the data written
} output;

static tn_status write_chunk(tn_packer *p, size_t chunk, uint64_t at, size_t bytes, void *context)
{
    static const uint8_t zeros[TN_TENON_PAGE];
    output *out = context;
    (void)chunk;
    while (out->at < at) {
        const size_t gap = (size_t)TN_MIN(at - out->at, (uint64_t)sizeof zeros);
        TN_TRY(tn_file_append(out->writer, zeros, gap, p->diag));
        out->at += gap;
    }
    out->at += bytes;
    return tn_file_append(out->writer, p->chunk, bytes, p->diag);
}

tn_status tn_pack_write_data(tn_packer *p, tn_file_writer *writer)
{
    output out = {.writer = writer};
    return walk(p, write_chunk, &out);
}
