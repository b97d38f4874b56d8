// SPDX-License-Identifier: Apache-2.0
// Cases of image_decoder: small pictures in formats without compression, in all pixel formats.
// Ownership: the caller's arena. Threads: one at a time.
#include "cases/draw.h"
#include "ops/image/op_image.h"

#include <string.h>

static const char grey[] = "P5 # grey\n3 2\n255\nabcdef", colour[] = "P6\n1 2\n255\nabcdef", text[] = "P3 1 1 15 0 7 15";

static bool make(tn_case *c, tn_arena *arena, tn_rand *r, unsigned i)
{
    static const char *const files[] = {grey, colour, text};
    const char *file = i < 3 ? files[i] : TN_DRAW(r, files);
    const int64_t n = (int64_t)strlen(file);
    int64_t *bytes = tn_arena_array(arena, (size_t)n, sizeof *bytes);
    tn_image_attr *attr = tn_case_attr(arena, &tn_op_image_decoder);
    if (!bytes || !attr) {
        return false;
    }
    for (int64_t k = 0; k < n; k++) {
        bytes[k] = (unsigned char)file[k];
    }
    attr->format = (int)tn_draw_index(r, 3);
    c->op = &tn_op_image_decoder;
    c->attr = attr;
    c->n_in = c->n_out = 1;
    c->in[0] = (tn_case_in){.dtype = TN_U8, .shape = tn_shape_of(1, &n), .ints = bytes};
    return true;
}

TN_CASE_EXPORT(image) {"image", 3, make};
