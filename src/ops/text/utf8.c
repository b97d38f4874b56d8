// SPDX-License-Identifier: Apache-2.0
// UTF-8. The case table has three kinds of runs: a fixed distance, and pairs of neighbours that begin at an even or an odd number
// (Unicode Character Database, UnicodeData.txt, fields simple upper and lower case).
// Ownership: const data. Threads: any.
#include "ops/text/utf8.h"

#include "base/macros.h"

uint32_t tn_utf8_next(const char **at, const char *end)
{
    const unsigned char *p = (const unsigned char *)*at;
    const size_t left = (size_t)(end - *at);
    const size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    static const uint32_t mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = p[0] & mask[length];
    bool good = length > 0 && length <= left;
    for (size_t i = 1; i < length && good; i++) {
        good = (p[i] & 0xc0) == 0x80;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (!good || c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
        *at += 1;
        return 0xfffd;
    }
    *at += length;
    return c;
}

size_t tn_utf8_put(uint32_t c, char *to)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    const size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; c >>= 6) {
        to[i] = (char)(0x80 | (c & 0x3f));
    }
    to[0] = (char)(lead[length] | c);
    return length;
}

// ---- case ----

// Capitals first .. last. step 1: the small letter is `distance` further. step 2: capital and small letter are neighbours.
typedef struct run {
    uint32_t first, last;
    int32_t distance;
    int step;
} run;

static const run runs[] = {
    {'A', 'Z', 32, 1},          {0xc0, 0xd6, 32, 1},        {0xd8, 0xde, 32, 1},       {0x100, 0x12e, 1, 2},
    {0x132, 0x136, 1, 2},       {0x139, 0x147, 1, 2},       {0x14a, 0x176, 1, 2},      {0x178, 0x178, -121, 1},
    {0x179, 0x17d, 1, 2},       {0x1cd, 0x1db, 1, 2},       {0x1de, 0x1ee, 1, 2},      {0x1f8, 0x21e, 1, 2},
    {0x222, 0x232, 1, 2},       {0x386, 0x386, 38, 1},      {0x388, 0x38a, 37, 1},     {0x38c, 0x38c, 64, 1},
    {0x38e, 0x38f, 63, 1},      {0x391, 0x3a1, 32, 1},      {0x3a3, 0x3ab, 32, 1},     {0x400, 0x40f, 80, 1},
    {0x410, 0x42f, 32, 1},      {0x460, 0x480, 1, 2},       {0x48a, 0x4be, 1, 2},      {0x4c1, 0x4cd, 1, 2},
    {0x4d0, 0x52e, 1, 2},       {0x531, 0x556, 48, 1},      {0x1e00, 0x1e94, 1, 2},    {0x1ea0, 0x1efe, 1, 2},
    {0x24b6, 0x24cf, 26, 1},    {0xff21, 0xff3a, 32, 1},    {0x10400, 0x10427, 40, 1},
};

uint32_t tn_utf8_lower(uint32_t c)
{
    for (size_t i = 0; i < TN_COUNT(runs); i++) {
        const run *r = &runs[i];
        if (c >= r->first && c <= r->last && (c - r->first) % (uint32_t)r->step == 0) {
            return (uint32_t)((int32_t)c + r->distance);
        }
    }
    return c;
}

uint32_t tn_utf8_upper(uint32_t c)
{
    if (c == 0x3c2) {
        return 0x3a3;   // sigma at a word's end
    }
    for (size_t i = 0; i < TN_COUNT(runs); i++) {
        const run *r = &runs[i];
        const uint32_t capital = (uint32_t)((int32_t)c - r->distance);
        if (capital >= r->first && capital <= r->last && (capital - r->first) % (uint32_t)r->step == 0) {
            return capital;
        }
    }
    return c;
}

bool tn_utf8_space(uint32_t c)
{
    return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}
