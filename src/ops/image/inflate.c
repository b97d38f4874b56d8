// SPDX-License-Identifier: Apache-2.0
// Unpacking of zlib streams (RFC 1950 and 1951). Codes are read bit by bit against the counts of each length, which needs no tables
// besides the sorted symbols; pictures in models are small. Checksums are not looked at.
// Ownership: none. Threads: any.
#include "ops/image/picture.h"

#include <string.h>

enum { LONGEST = 15, LITERALS = 288, DISTANCES = 32 };

typedef struct stream {
    const uint8_t *at, *end;
    uint32_t bits;
    int n_bits;
    uint8_t *to;
    size_t done, bytes;
    bool broken;
} stream;

typedef struct huffman {
    uint16_t count[LONGEST + 1];   // codes of each length
    uint16_t symbol[LITERALS];     // in the order of their codes
} huffman;

static uint32_t read_bits(stream *s, int n)
{
    while (s->n_bits < n) {
        if (s->at == s->end) {
            s->broken = true;
            return 0;
        }
        s->bits |= (uint32_t)*s->at++ << s->n_bits;
        s->n_bits += 8;
    }
    const uint32_t v = s->bits & ((1u << n) - 1);
    s->bits >>= n;
    s->n_bits -= n;
    return v;
}

static void make_codes(huffman *h, const uint8_t *lengths, int n)
{
    uint16_t next[LONGEST + 2] = {0};
    memset(h, 0, sizeof *h);
    for (int i = 0; i < n; i++) {
        h->count[lengths[i]]++;
    }
    h->count[0] = 0;
    for (int length = 1; length <= LONGEST; length++) {
        next[length + 1] = (uint16_t)(next[length] + h->count[length]);
    }
    for (int i = 0; i < n; i++) {
        if (lengths[i]) {
            h->symbol[next[lengths[i]]++] = (uint16_t)i;
        }
    }
}

// Codes of one length are consecutive numbers; `first` is the first of the length, `index` its place among the symbols.
static int read_symbol(stream *s, const huffman *h)
{
    int code = 0, first = 0, index = 0;
    for (int length = 1; length <= LONGEST && !s->broken; length++) {
        code |= (int)read_bits(s, 1);
        if (code - first < h->count[length]) {
            return h->symbol[index + code - first];
        }
        index += h->count[length];
        first = (first + h->count[length]) << 1;
        code <<= 1;
    }
    s->broken = true;
    return -1;
}

// The codes of a block with codes of its own.
static void read_codes(stream *s, huffman *literals, huffman *distances)
{
    static const uint8_t order[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[LITERALS + DISTANCES] = {0};
    huffman codes;
    const int n_literals = (int)read_bits(s, 5) + 257, n_distances = (int)read_bits(s, 5) + 1, n_codes = (int)read_bits(s, 4) + 4;
    for (int i = 0; i < n_codes; i++) {
        lengths[order[i]] = (uint8_t)read_bits(s, 3);
    }
    make_codes(&codes, lengths, 19);
    memset(lengths, 0, sizeof lengths);
    for (int i = 0; i < n_literals + n_distances && !s->broken;) {
        const int symbol = read_symbol(s, &codes);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)(symbol < 0 ? 0 : symbol);
            continue;
        }
        const uint8_t value = symbol == 16 && i > 0 ? lengths[i - 1] : 0;
        const int repeat = symbol == 16 ? 3 + (int)read_bits(s, 2) : symbol == 17 ? 3 + (int)read_bits(s, 3) : 11 + (int)read_bits(s, 7);
        s->broken |= i + repeat > n_literals + n_distances;
        for (int k = 0; k < repeat && !s->broken; k++) {
            lengths[i++] = value;
        }
    }
    s->broken |= n_literals > LITERALS - 2;
    make_codes(literals, lengths, s->broken ? 0 : n_literals);
    make_codes(distances, lengths + (s->broken ? 0 : n_literals), s->broken ? 0 : n_distances);
}

static void fixed_codes(huffman *literals, huffman *distances)
{
    uint8_t lengths[LITERALS];
    for (int i = 0; i < LITERALS; i++) {
        lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    }
    make_codes(literals, lengths, LITERALS);
    memset(lengths, 5, 30);
    make_codes(distances, lengths, 30);
}

static void copy_back(stream *s, size_t length, size_t distance)
{
    s->broken |= distance > s->done;
    for (size_t i = 0; i < length && !s->broken && s->done < s->bytes; i++, s->done++) {
        s->to[s->done] = s->to[s->done - distance];
    }
}

static void read_block(stream *s, const huffman *literals, const huffman *distances)
{
    static const uint16_t base[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    while (!s->broken && s->done < s->bytes) {
        int symbol = read_symbol(s, literals);
        if (symbol == 256) {
            return;
        }
        if (symbol >= 0 && symbol < 256) {
            s->to[s->done++] = (uint8_t)symbol;
            continue;
        }
        symbol -= 257;
        if (symbol < 0 || symbol > 28) {
            s->broken = true;
            return;
        }
        const size_t length = base[symbol] + read_bits(s, extra[symbol]);
        const int far = read_symbol(s, distances);
        if (far < 0 || far > 29) {
            s->broken = true;
            return;
        }
        // Distances double every two symbols: 1 2 3 4 5-6 7-8 9-12 13-16 ...
        const int more = far < 2 ? 0 : far / 2 - 1;
        const size_t from = far < 2 ? (size_t)far + 1 : (((size_t)2 + (size_t)(far & 1)) << more) + 1;
        copy_back(s, length, from + read_bits(s, more));
    }
}

static void read_stored(stream *s)
{
    s->bits = 0;
    s->n_bits = 0;
    const size_t length = s->end - s->at >= 4 ? tn_little(s->at, 2) : SIZE_MAX;
    if (length == SIZE_MAX || (size_t)(s->end - s->at) - 4 < length) {
        s->broken = true;
        return;
    }
    const size_t kept = length < s->bytes - s->done ? length : s->bytes - s->done;
    memcpy(s->to + s->done, s->at + 4, kept);
    s->at += 4 + length;
    s->done += kept;
}

const char *tn_inflate(tn_bytes packed, uint8_t *to, size_t bytes)
{
    stream s = {.to = to, .bytes = bytes};
    huffman literals, distances;
    if (packed.size < 2 || (packed.data[0] & 15) != 8 || packed.data[1] & 32) {
        return "packed data are no zlib stream";
    }
    s.at = packed.data + 2;
    s.end = packed.data + packed.size;
    for (bool last = false; !last && !s.broken && s.done < bytes;) {
        last = read_bits(&s, 1);
        const uint32_t kind = read_bits(&s, 2);
        if (kind == 0) {
            read_stored(&s);
        } else if (kind == 3) {
            s.broken = true;
        } else {
            if (kind == 1) {
                fixed_codes(&literals, &distances);
            } else {
                read_codes(&s, &literals, &distances);
            }
            read_block(&s, &literals, &distances);
        }
    }
    return s.broken || s.done < bytes ? "packed data are broken" : NULL;
}
