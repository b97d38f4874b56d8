// SPDX-License-Identifier: Apache-2.0
// The model's store of packed weights (the PRIVATE lease): each packed form is made once, shared by all plans of all sessions
// and freed when the last plan that uses it is gone.
// Ownership: the model owns the store; a plan holds references. Threads: any; packing happens under the store's lock.
#ifndef TN_WEIGHTS_H
#define TN_WEIGHTS_H

#include "dispatch/kernel.h"

#include <pthread.h>

#define TN_WEIGHT_BUCKETS 256

typedef struct tn_packed {
    struct tn_packed *next;
    const void *source;       // the constant's bytes: identity of the weight; NULL: not shared
    const char *id;           // format, or "aligned" for a plain copy
    uint64_t variant;
    size_t bytes;
    unsigned references;
    void *data;               // 64-byte aligned
    bool resident;            // lies in the model's file: never freed, not counted
} tn_packed;

typedef struct tn_weights {
    tn_heap *heap;
    pthread_mutex_t lock;
    tn_packed *buckets[TN_WEIGHT_BUCKETS];   // by the constant's address
    size_t bytes;             // of all packed forms that were made
    size_t made, hits;        // packed forms made since the model was opened, and asked for when they were there
    size_t copied_bytes;      // of those that are plain aligned copies
    // Told when a constant that outlives the plan was packed: its own bytes are not needed for now. NULL: nobody to tell.
    void (*packed)(void *context, const void *data, size_t bytes);
    void *context;
} tn_weights;

tn_status tn_weights_init(tn_weights *weights, tn_heap *heap, tn_diag *diag);
void tn_weights_deinit(tn_weights *weights);

// The packed form of operand pack->operand, made when it is not there. `shared`: the constant outlives the plan, so that its
// address identifies it. workers, or NULL, share the packing. Give it back with tn_weights_give. pack->pack NULL makes a plain copy of the constant.
tn_status tn_weights_take(tn_weights *weights, const tn_pack *pack, const tn_query *query, const void *params, bool shared,
                          tn_workers *workers, tn_packed **out, tn_diag *diag);
void tn_weights_give(tn_weights *weights, tn_packed *packed);

// A packed form that the model's file holds, to be used in place of making it. data: aligned to 64, lives as long as the store.
tn_status tn_weights_add(tn_weights *weights, const void *source, const char *id, uint64_t variant, const void *data, size_t bytes,
                         tn_diag *diag);

#endif
