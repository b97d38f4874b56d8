// SPDX-License-Identifier: Apache-2.0
// Authenticated encryption by the system's libcrypto (AES-256-GCM), opened when it is first needed: nothing links to it, and a machine
// without it runs everything that is not encrypted.
// Ownership: open/close. Threads: one per tn_cipher.
#ifndef TN_CIPHER_H
#define TN_CIPHER_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_CIPHER_KEY 32
#define TN_CIPHER_NONCE 12
#define TN_CIPHER_TAG 16

typedef struct tn_cipher {
    void *library;
    void *context;               // EVP_CIPHER_CTX
    struct tn_cipher_calls {
        void *(*make)(void);
        void (*free)(void *context);
        const void *(*aes_256_gcm)(void);
        int (*init)(void *context, const void *cipher, void *engine, const uint8_t *key, const uint8_t *nonce, int encrypt);
        int (*update)(void *context, uint8_t *out, int *out_bytes, const uint8_t *in, int in_bytes);
        int (*final)(void *context, uint8_t *out, int *out_bytes);
        int (*control)(void *context, int type, int value, void *data);
    } calls;
    uint8_t key[TN_CIPHER_KEY];
} tn_cipher;

// Errors: TN_UNSUPPORTED when the machine has no libcrypto, TN_OUT_OF_MEMORY.
tn_status tn_cipher_open(tn_cipher *cipher, const uint8_t key[TN_CIPHER_KEY], tn_diag *diag);
void tn_cipher_close(tn_cipher *cipher);     // forgets the key

// At most 1 GiB at a time; out may be in. `extra` is authenticated but not encrypted. seal writes the tag. open returns
// TN_INVALID_MODEL, with out undefined, when key, nonce, extra, bytes or tag are not those that were sealed.
tn_status tn_cipher_seal(tn_cipher *cipher, const uint8_t nonce[TN_CIPHER_NONCE], const void *extra, size_t extra_bytes, const void *in,
                         void *out, size_t bytes, uint8_t tag[TN_CIPHER_TAG]);
tn_status tn_cipher_unseal(tn_cipher *cipher, const uint8_t nonce[TN_CIPHER_NONCE], const void *extra, size_t extra_bytes, const void *in,
                           void *out, size_t bytes, const uint8_t tag[TN_CIPHER_TAG]);

// Unpredictable bytes from the system. false: there are none.
bool tn_random_bytes(void *data, size_t bytes);

#endif
