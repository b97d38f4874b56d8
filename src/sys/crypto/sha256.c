// SPDX-License-Identifier: Apache-2.0
// SHA-256 as FIPS 180-4 defines it, in plain C: it is asked for when a file is made or checked, never on the way of a normal open.
// The constants are the fractional parts of the square and cube roots of the first primes (sections 4.2.2 and 5.3.3 there).
// Ownership and threads: see sha256.h.
#include "sys/crypto/sha256.h"

#include <string.h>

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void tn_sha256_init(tn_sha256 *sha)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(sha->state, start, sizeof start);
    sha->bytes = 0;
}

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void take_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (int i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        const uint32_t sum1 = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25), choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
        const uint32_t sum0 = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22), most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        const uint32_t t = s[7] + sum1 + choose + k[i] + w[i];
        memmove(&s[1], &s[0], 7 * sizeof s[0]);
        s[4] += t;
        s[0] = t + sum0 + most;
    }
    for (int i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

void tn_sha256_add(tn_sha256 *sha, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    size_t waiting = (size_t)(sha->bytes % 64);
    sha->bytes += bytes;
    while (bytes > 0) {
        if (waiting == 0 && bytes >= 64) {
            take_block(sha->state, at);
            at += 64;
            bytes -= 64;
            continue;
        }
        const size_t part = bytes < 64 - waiting ? bytes : 64 - waiting;
        memcpy(sha->block + waiting, at, part);
        waiting += part;
        at += part;
        bytes -= part;
        if (waiting == 64) {
            take_block(sha->state, sha->block);
            waiting = 0;
        }
    }
}

void tn_sha256_end(tn_sha256 *sha, uint8_t digest[TN_SHA256_BYTES])
{
    static const uint8_t padding[64] = {0x80};
    const uint64_t bits = sha->bytes * 8;
    uint8_t length[8];
    for (int i = 0; i < 8; i++) {
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    tn_sha256_add(sha, padding, 64 - (size_t)((sha->bytes + 8) % 64));
    tn_sha256_add(sha, length, sizeof length);
    for (int i = 0; i < TN_SHA256_BYTES; i++) {
        digest[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

void tn_sha256_of(const void *data, size_t bytes, uint8_t digest[TN_SHA256_BYTES])
{
    tn_sha256 sha;
    tn_sha256_init(&sha);
    tn_sha256_add(&sha, data, bytes);
    tn_sha256_end(&sha, digest);
}

void tn_sha256_print(const uint8_t digest[TN_SHA256_BYTES], char text[2 * TN_SHA256_BYTES + 1])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < TN_SHA256_BYTES; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[2 * TN_SHA256_BYTES] = 0;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool tn_sha256_parse(const char *text, uint8_t digest[TN_SHA256_BYTES])
{
    if (strlen(text) != 2 * TN_SHA256_BYTES) {
        return false;
    }
    for (int i = 0; i < TN_SHA256_BYTES; i++) {
        const int high = digit(text[2 * i]), low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        digest[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
