// SPDX-License-Identifier: Apache-2.0
// PNM (Netpbm P1 to P6): "P6", width, height and largest value as text, then samples as text or packed.
// Ownership: none. Threads: any.
#include "picture/picture.h"

#include <string.h>

static const char too_short[] = "the file ends too early";

typedef struct pnm {
    int64_t width, height, most;   // most: the largest sample
    size_t at;                     // first sample
    bool text, colour, bits;       // bits: 1 is black, no largest value, rows end on a byte
} pnm;

// The next number of the text; -1: there is none. Comments run from # to the end of the line. digits: at most this many.
static int64_t next_number(tn_bytes file, size_t *at, int digits)
{
    bool comment = false;
    while (*at < file.size && file.data[*at] && (comment || strchr(" \t\r\n\v\f#", file.data[*at]))) {
        comment = file.data[*at] == '#' || (comment && file.data[*at] != '\n');
        ++*at;
    }
    int64_t v = -1;
    for (; digits > 0 && *at < file.size && file.data[*at] >= '0' && file.data[*at] <= '9'; ++*at, --digits) {
        v = (v < 0 ? 0 : v) * 10 + (file.data[*at] - '0');
    }
    return v;
}

static const char *read_pnm(tn_bytes file, pnm *p)
{
    const int kind = file.data[1] - '0';
    *p = (pnm){.at = 2, .most = 1, .text = kind <= 3, .colour = kind % 3 == 0, .bits = kind % 3 == 1};
    p->width = next_number(file, &p->at, 10);
    p->height = next_number(file, &p->at, 10);
    if (!p->bits) {
        p->most = next_number(file, &p->at, 10);
    }
    p->at++;   // one white space
    if (!tn_picture_fits(p->width, p->height) || p->most < 1 || p->most > 65535) {
        return "the size or the largest value is out of range";
    }
    const size_t row = p->bits && !p->text ? ((size_t)p->width + 7) / 8 : (size_t)p->width * (p->colour ? 3 : 1);
    const size_t bytes = row * (size_t)p->height * (!p->text && p->most > 255 ? 2 : 1);   // of text a byte or more each
    return p->at > file.size || file.size - p->at < bytes ? too_short : NULL;
}

static const char *head_pnm(tn_bytes file, tn_picture *out)
{
    pnm p;
    const char *fault = read_pnm(file, &p);
    out->width = p.width;
    out->height = p.height;
    return fault;
}

// Sample `c` of pixel (x, y); -1: there is none. Text is read in order, packed samples by their place.
static int64_t pnm_sample(tn_bytes file, pnm *p, int64_t y, int64_t x, int c)
{
    if (p->text) {
        const int64_t v = next_number(file, &p->at, p->bits ? 1 : 10);
        return p->bits && v >= 0 ? v == 0 : v;
    }
    if (p->bits) {
        const size_t byte = (size_t)y * (((size_t)p->width + 7) / 8) + (size_t)x / 8;
        return !(file.data[p->at + byte] >> (7 - x % 8) & 1);
    }
    const size_t i = ((size_t)y * (size_t)p->width + (size_t)x) * (p->colour ? 3 : 1) + (size_t)c;
    return p->most > 255 ? file.data[p->at + 2 * i] << 8 | file.data[p->at + 2 * i + 1] : file.data[p->at + i];
}

static const char *pixels_pnm(tn_bytes file, const tn_picture_heap *heap, const tn_picture *picture, uint8_t *rgb)
{
    pnm p;
    (void)heap;
    (void)picture;
    const char *fault = read_pnm(file, &p);
    for (int64_t i = 0; !fault && i < p.width * p.height; i++, rgb += 3) {
        for (int c = 0; c < (p.colour ? 3 : 1); c++) {
            const int64_t v = pnm_sample(file, &p, i / p.width, i % p.width, c);
            if (v < 0) {
                return too_short;
            }
            rgb[c] = (uint8_t)((v > p.most ? p.most : v) * 255 / p.most);
        }
        if (!p.colour) {
            rgb[1] = rgb[2] = rgb[0];
        }
    }
    return fault;
}

const tn_picture_decoder tn_picture_pnm = {"PNM", head_pnm, pixels_pnm};
