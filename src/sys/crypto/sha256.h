// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4): names files and chunks of weights by their contents.
// Ownership: plain values. Threads: one per tn_sha256.
#ifndef TN_SHA256_H
#define TN_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TN_SHA256_BYTES 32

typedef struct tn_sha256 {
    uint32_t state[8];
    uint64_t bytes;          // taken so far
    uint8_t block[64];       // the part of a block that waits for more
} tn_sha256;

void tn_sha256_init(tn_sha256 *sha);
void tn_sha256_add(tn_sha256 *sha, const void *data, size_t bytes);
void tn_sha256_end(tn_sha256 *sha, uint8_t digest[TN_SHA256_BYTES]);

// All at once.
void tn_sha256_of(const void *data, size_t bytes, uint8_t digest[TN_SHA256_BYTES]);

// 64 hexadecimal digits and a zero; and back (upper or lower case; false: not such a text).
void tn_sha256_print(const uint8_t digest[TN_SHA256_BYTES], char text[2 * TN_SHA256_BYTES + 1]);
bool tn_sha256_parse(const char *text, uint8_t digest[TN_SHA256_BYTES]);

#endif
