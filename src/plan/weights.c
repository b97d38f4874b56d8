// SPDX-License-Identifier: Apache-2.0
// The model's store of packed weights: a small hash table with chains, looked up only while planning.
#include "plan/weights.h"

#include "base/macros.h"

#include <string.h>

#define SHARE_BYTES ((size_t)1 << 20)      // for each thread

tn_status tn_weights_init(tn_weights *weights, tn_heap *heap, tn_diag *diag)
{
    memset(weights, 0, sizeof *weights);
    weights->heap = heap;
    if (pthread_mutex_init(&weights->lock, NULL) != 0) {
        weights->heap = NULL;
        return tn_fail(diag, TN_OUT_OF_MEMORY, "weights", "the system refused a lock");
    }
    return TN_OK;
}

void tn_weights_deinit(tn_weights *weights)
{
    if (!weights->heap) {
        return;
    }
    for (size_t i = 0; i < TN_WEIGHT_BUCKETS; i++) {
        while (weights->buckets[i]) {
            tn_packed *packed = weights->buckets[i];
            weights->buckets[i] = packed->next;
            if (!packed->resident) {
                tn_give(weights->heap, packed->data);
            }
            tn_give(weights->heap, packed);
        }
    }
    pthread_mutex_destroy(&weights->lock);
    weights->heap = NULL;
}

static size_t bucket_of(const void *source) { return (size_t)(((uintptr_t)source >> 4) * 0x9e3779b97f4a7c15u >> 56) % TN_WEIGHT_BUCKETS; }

// The size is compared too: a file may hold anything under a known id.
static tn_packed *find(const tn_weights *weights, const void *source, const tn_pack *pack)
{
    for (tn_packed *p = weights->buckets[bucket_of(source)]; p; p = p->next) {
        if (p->source && p->source == source && p->variant == pack->variant && p->bytes == pack->bytes && strcmp(p->id, pack->id) == 0) {
            return p;
        }
    }
    return NULL;
}

static void put(tn_weights *weights, tn_packed *packed)
{
    tn_packed **bucket = &weights->buckets[bucket_of(packed->source)];
    packed->next = *bucket;
    *bucket = packed;
}

tn_status tn_weights_add(tn_weights *weights, const void *source, const char *id, uint64_t variant, const void *data, size_t bytes,
                         tn_diag *diag)
{
    tn_packed *packed = tn_take_zero(weights->heap, 1, sizeof *packed);
    if (!packed) {
        return tn_fail_memory(diag, "weights", sizeof *packed);
    }
    // The store itself holds one reference, so that it stays when plans come and go.
    *packed = (tn_packed){.source = source, .id = id, .variant = variant, .bytes = bytes, .references = 1, .data = (void *)(uintptr_t)data,
                          .resident = true};
    pthread_mutex_lock(&weights->lock);
    put(weights, packed);
    pthread_mutex_unlock(&weights->lock);
    return TN_OK;
}

typedef struct packing {
    const tn_pack *pack;
    const tn_query *query;
    const void *params;
    void *dst;
    size_t first;        // part that the workers' item 0 is
} packing;

static void pack_parts(void *context, size_t first, size_t count, unsigned slot)
{
    const packing *p = context;
    (void)slot;
    for (size_t i = first; i < first + count; i++) {
        p->pack->part(p->dst, p->query, p->params, (int64_t)(p->first + i));
    }
}

// Packs a large constant by shares: the file's pages of a share go when it is packed, so that at no time the whole constant is in memory
// twice. Shares are large enough for all threads to have work in each.
static void pack_shares(const tn_weights *weights, packing *p, bool shared, tn_workers *workers)
{
    const tn_tensor *source = p->query->in[p->pack->operand];
    const size_t parts = (size_t)p->pack->parts;
    size_t size;
    const bool forget = shared && weights->packed && p->pack->in_order && tn_tensor_bytes(source, &size);
    const size_t shares = forget ? TN_MAX((size_t)1, TN_MIN(parts, size / (SHARE_BYTES * tn_workers_count(workers)))) : 1;
    for (size_t s = 0; s < shares; s++) {
        const size_t end = parts / shares * (s + 1) + TN_MIN(parts % shares, s + 1);
        p->first = parts / shares * s + TN_MIN(parts % shares, s);
        tn_workers_run(workers, pack_parts, p, end - p->first, 1);
        if (forget) {
            const size_t from = size / shares * s;
            weights->packed(weights->context, (const char *)source->data + from, s + 1 < shares ? size / shares : size - from);
        }
    }
}

static tn_packed *make(tn_weights *weights, const tn_pack *pack, const tn_query *query, const void *params, bool shared, tn_workers *workers)
{
    tn_packed *packed = tn_take_zero(weights->heap, 1, sizeof *packed);
    if (!packed) {
        return NULL;
    }
    const tn_tensor *source = query->in[pack->operand];
    packed->data = tn_take(weights->heap, pack->bytes);
    if (!packed->data) {
        tn_give(weights->heap, packed);
        return NULL;
    }
    if (pack->part && pack->parts > 1) {
        packing p = {pack, query, params, packed->data, 0};
        pack_shares(weights, &p, shared, workers);
    } else if (pack->pack) {
        pack->pack(packed->data, query, params);
    } else if (pack->bytes) {
        memcpy(packed->data, source->data, pack->bytes);
        weights->copied_bytes += pack->bytes;
    }
    size_t bytes;
    if (shared && weights->packed && tn_tensor_bytes(source, &bytes)) {
        weights->packed(weights->context, source->data, bytes);
    }
    packed->source = shared ? source->data : NULL;
    packed->id = pack->id;
    packed->variant = pack->variant;
    packed->bytes = pack->bytes;
    put(weights, packed);
    weights->bytes += pack->bytes;
    weights->made++;
    return packed;
}

tn_status tn_weights_take(tn_weights *weights, const tn_pack *pack, const tn_query *query, const void *params, bool shared,
                          tn_workers *workers, tn_packed **out, tn_diag *diag)
{
    *out = NULL;
    pthread_mutex_lock(&weights->lock);
    tn_packed *packed = find(weights, query->in[pack->operand]->data, pack);
    if (packed) {
        weights->hits++;
    } else {
        packed = make(weights, pack, query, params, shared, workers);
    }
    if (packed) {
        packed->references++;
    }
    pthread_mutex_unlock(&weights->lock);
    if (!packed) {
        return tn_fail_memory(diag, query->name, pack->bytes);
    }
    *out = packed;
    return TN_OK;
}

void tn_weights_give(tn_weights *weights, tn_packed *packed)
{
    if (!packed) {
        return;
    }
    pthread_mutex_lock(&weights->lock);
    if (--packed->references == 0) {
        tn_packed **link = &weights->buckets[bucket_of(packed->source)];
        while (*link != packed) {
            link = &(*link)->next;
        }
        *link = packed->next;
        weights->bytes -= packed->bytes;
        if (strcmp(packed->id, "aligned") == 0) {
            weights->copied_bytes -= packed->bytes;
        }
        tn_give(weights->heap, packed->data);
        tn_give(weights->heap, packed);
    }
    pthread_mutex_unlock(&weights->lock);
}
