// SPDX-License-Identifier: Apache-2.0
// SHA-256 on the examples of FIPS 180-4's test vectors, in one piece and in many; AES-256-GCM on case 14 of its submission, and that
// nothing opens that was not sealed so.
#include "support/unit.h"

#include "sys/crypto/cipher.h"
#include "sys/crypto/sha256.h"

#include <string.h>

static void hash(const char *text, const char *wanted)
{
    uint8_t digest[TN_SHA256_BYTES], back[TN_SHA256_BYTES];
    char printed[2 * TN_SHA256_BYTES + 1];
    tn_sha256_of(text, strlen(text), digest);
    tn_sha256_print(digest, printed);
    assert_string_equal(printed, wanted);
    assert_true(tn_sha256_parse(printed, back));
    assert_memory_equal(digest, back, sizeof back);
}

static void test_sha256(void **state)
{
    hash("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    // A million times "a", in pieces of every size.
    static char letters[1000];
    uint8_t digest[TN_SHA256_BYTES];
    char printed[2 * TN_SHA256_BYTES + 1];
    tn_sha256 sha;
    memset(letters, 'a', sizeof letters);
    tn_sha256_init(&sha);
    for (size_t left = 1000000, piece = 1; left > 0; piece = piece % 1000 + 1) {
        const size_t now = piece < left ? piece : left;
        tn_sha256_add(&sha, letters, now);
        left -= now;
    }
    tn_sha256_end(&sha, digest);
    tn_sha256_print(digest, printed);
    assert_string_equal(printed, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    assert_false(tn_sha256_parse("abc", digest));
    printed[5] = 'x';
    assert_false(tn_sha256_parse(printed, digest));
}

static void test_cipher(void **state)
{
    static const uint8_t key[TN_CIPHER_KEY], nonce[TN_CIPHER_NONCE], plain[16];
    static const uint8_t sealed[16] = {0xce, 0xa7, 0x40, 0x3d, 0x4d, 0x60, 0x6b, 0x6e, 0x07, 0x4e, 0xc5, 0xd3, 0xba, 0xf3, 0x9d, 0x18};
    static const uint8_t wanted[16] = {0xd0, 0xd1, 0xc8, 0xa7, 0x99, 0x99, 0x6b, 0xf0, 0x26, 0x5b, 0x98, 0xb5, 0xd4, 0x8a, 0xb9, 0x19};
    static tn_diag diag;
    tn_cipher cipher;
    uint8_t out[16], tag[TN_CIPHER_TAG], other[TN_CIPHER_KEY] = {1};
    if (tn_cipher_open(&cipher, key, &diag) == TN_UNSUPPORTED) {
        assert_non_null(strstr(diag.message, "libcrypto"));
        skip();
    }
    assert_int_equal(tn_cipher_seal(&cipher, nonce, NULL, 0, plain, out, sizeof plain, tag), TN_OK);
    assert_memory_equal(out, sealed, sizeof out);
    assert_memory_equal(tag, wanted, sizeof tag);
    assert_int_equal(tn_cipher_unseal(&cipher, nonce, NULL, 0, sealed, out, sizeof out, tag), TN_OK);
    assert_memory_equal(out, plain, sizeof out);
    assert_int_equal(tn_cipher_unseal(&cipher, nonce, "x", 1, sealed, out, sizeof out, tag), TN_INVALID_MODEL);
    tag[3] ^= 1;
    assert_int_equal(tn_cipher_unseal(&cipher, nonce, NULL, 0, sealed, out, sizeof out, tag), TN_INVALID_MODEL);
    tn_cipher_close(&cipher);
    assert_int_equal(tn_cipher_open(&cipher, other, &diag), TN_OK);
    assert_int_equal(tn_cipher_unseal(&cipher, nonce, NULL, 0, sealed, out, sizeof out, wanted), TN_INVALID_MODEL);
    tn_cipher_close(&cipher);
    assert_true(tn_random_bytes(out, sizeof out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sha256), cmocka_unit_test(test_cipher)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
