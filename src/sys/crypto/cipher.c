// SPDX-License-Identifier: Apache-2.0
// Calls into libcrypto (OpenSSL 1.1 and 3: the EVP interface is the same) through pointers found by name.
// Ownership and threads: see cipher.h.
#include "sys/crypto/cipher.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

enum { SET_TAG = 0x11, GET_TAG = 0x10 };     // EVP_CTRL_AEAD_SET_TAG and _GET_TAG (openssl/evp.h)
#define MOST ((size_t)1 << 30)

static bool find_calls(tn_cipher *cipher)
{
    const struct { const char *name; void **to; } calls[] = {
        {"EVP_CIPHER_CTX_new", (void **)&cipher->calls.make},      {"EVP_CIPHER_CTX_free", (void **)&cipher->calls.free},
        {"EVP_aes_256_gcm", (void **)&cipher->calls.aes_256_gcm},  {"EVP_CipherInit_ex", (void **)&cipher->calls.init},
        {"EVP_CipherUpdate", (void **)&cipher->calls.update},      {"EVP_CipherFinal_ex", (void **)&cipher->calls.final},
        {"EVP_CIPHER_CTX_ctrl", (void **)&cipher->calls.control},
    };
    for (size_t i = 0; i < TN_COUNT(calls); i++) {
        *calls[i].to = dlsym(cipher->library, calls[i].name);
        if (!*calls[i].to) {
            return false;
        }
    }
    return true;
}

tn_status tn_cipher_open(tn_cipher *cipher, const uint8_t key[TN_CIPHER_KEY], tn_diag *diag)
{
    static const char *const names[] = {"libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.so"};
    memset(cipher, 0, sizeof *cipher);
    for (size_t i = 0; i < TN_COUNT(names) && !cipher->library; i++) {
        cipher->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    if (!cipher->library || !find_calls(cipher)) {
        tn_cipher_close(cipher);
        return tn_fail(diag, TN_UNSUPPORTED, "libcrypto", "encrypted weights need OpenSSL's libcrypto (version 1.1 or 3), which this "
                                                          "machine does not have");
    }
    cipher->context = cipher->calls.make();
    if (!cipher->context) {
        tn_cipher_close(cipher);
        return tn_fail_memory(diag, "libcrypto", 0);
    }
    memcpy(cipher->key, key, sizeof cipher->key);
    return TN_OK;
}

void tn_cipher_close(tn_cipher *cipher)
{
    if (cipher->context) {
        cipher->calls.free(cipher->context);
    }
    if (cipher->library) {
        dlclose(cipher->library);
    }
    explicit_bzero(cipher, sizeof *cipher);
}

// Everything but the tag: key and nonce set, extra and data passed through.
static bool pass(tn_cipher *cipher, int encrypt, const uint8_t *nonce, const void *extra, size_t extra_bytes, const void *in, void *out,
                 size_t bytes)
{
    int done;
    if (bytes > MOST || extra_bytes > MOST) {
        return false;
    }
    return cipher->calls.init(cipher->context, cipher->calls.aes_256_gcm(), NULL, cipher->key, nonce, encrypt) == 1 &&
           (!extra_bytes || cipher->calls.update(cipher->context, NULL, &done, extra, (int)extra_bytes) == 1) &&
           (!bytes || cipher->calls.update(cipher->context, out, &done, in, (int)bytes) == 1);
}

tn_status tn_cipher_seal(tn_cipher *cipher, const uint8_t nonce[TN_CIPHER_NONCE], const void *extra, size_t extra_bytes, const void *in,
                         void *out, size_t bytes, uint8_t tag[TN_CIPHER_TAG])
{
    uint8_t rest[16];
    int done;
    const bool sealed = pass(cipher, 1, nonce, extra, extra_bytes, in, out, bytes) &&
                        cipher->calls.final(cipher->context, rest, &done) == 1 &&
                        cipher->calls.control(cipher->context, GET_TAG, TN_CIPHER_TAG, tag) == 1;
    return sealed ? TN_OK : TN_INTERNAL;
}

tn_status tn_cipher_unseal(tn_cipher *cipher, const uint8_t nonce[TN_CIPHER_NONCE], const void *extra, size_t extra_bytes, const void *in,
                           void *out, size_t bytes, const uint8_t tag[TN_CIPHER_TAG])
{
    uint8_t rest[16], copy[TN_CIPHER_TAG];
    int done;
    memcpy(copy, tag, sizeof copy);      // the call takes a pointer that is not const
    const bool good = pass(cipher, 0, nonce, extra, extra_bytes, in, out, bytes) &&
                      cipher->calls.control(cipher->context, SET_TAG, TN_CIPHER_TAG, copy) == 1 &&
                      cipher->calls.final(cipher->context, rest, &done) == 1;
    return good ? TN_OK : TN_INVALID_MODEL;
}

bool tn_random_bytes(void *data, size_t bytes)
{
    uint8_t *at = data;
    while (bytes > 0) {
        const ssize_t got = getrandom(at, bytes, 0);
        if (got < 0 && errno != EINTR) {
            return false;
        }
        at += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t)got : 0;
    }
    return true;
}
