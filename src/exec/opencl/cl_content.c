// SPDX-License-Identifier: Apache-2.0
// The scalar definition of the content types: sizes and places, in plain integer arithmetic.
// Ownership: none. Threads: any.
#include "exec/opencl/cl_content.h"

#include "base/macros.h"
#include "base/num.h"

size_t tn_cl_element_bytes(tn_cl_element element)
{
    return element == TN_CL_F16 ? 2 : element == TN_CL_U8 ? 1 : 4;
}

const char *tn_cl_content_text(tn_cl_content content)
{
    static const char *const texts[] = {
#define X(name, text) text,
        TN_CL_CONTENT_LIST(X)
#undef X
    };
    return content < TN_CL_CONTENT_COUNT ? texts[content] : "none";
}

static bool product(size_t *out, int64_t a, int64_t b, int64_t c)
{
    size_t v = 0;
    const bool fits = tn_mul_size((size_t)a, (size_t)b, &v) && tn_mul_size(v, (size_t)c, out);
    return fits && *out <= INT32_MAX;
}

bool tn_cl_content_size(tn_cl_content content, const int64_t dims[4], int block, size_t *width, size_t *height)
{
    for (int i = 0; i < 4; i++) {
        if (dims[i] < 0 || dims[i] > INT32_MAX) {
            return false;
        }
    }
    const int64_t a = dims[0], b = dims[1], h = dims[2], w = dims[3];
    const int64_t t = block + 2;
    switch (content) {
    case TN_CL_CONV2D_FILTER: return product(width, b, 1, 1) && product(height, h, w, TN_CEIL_DIV(a, 4));
    case TN_CL_IN_OUT_CHANNEL: return product(width, TN_CEIL_DIV(b, 4), w, 1) && product(height, a, h, 1);
    case TN_CL_ARGUMENT: return b == 1 && h == 1 && w == 1 && product(width, TN_CEIL_DIV(a, 4), 1, 1) && product(height, 1, 1, 1);
    case TN_CL_IN_OUT_HEIGHT: return product(width, w, b, 1) && product(height, a, TN_CEIL_DIV(h, 4), 1);
    case TN_CL_IN_OUT_WIDTH: return product(width, TN_CEIL_DIV(w, 4), b, 1) && product(height, a, h, 1);
    case TN_CL_WINOGRAD_FILTER:
        return h == 3 && w == 3 && (block == 2 || block == 4 || block == 6) && product(width, TN_CEIL_DIV(b, 4), 1, 1) &&
               product(height, a, t, t);
    case TN_CL_DW_CONV2D_FILTER: return b == 1 && product(width, h, w, 1) && product(height, TN_CEIL_DIV(a, 4), 1, 1);
    case TN_CL_WEIGHT_HEIGHT: return product(width, b, h, w) && product(height, TN_CEIL_DIV(a, 4), 1, 1);
    case TN_CL_WEIGHT_WIDTH: return product(width, TN_CEIL_DIV(b, 4), h, w) && product(height, a, 1, 1);
    default: return false;
    }
}

// Row-major place of [i0, i1, i2, i3], or -1 where a lane hangs over the end.
static int64_t place(const int64_t d[4], int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    const bool inside = i0 < d[0] && i1 < d[1] && i2 < d[2] && i3 < d[3];
    return inside ? ((i0 * d[1] + i1) * d[2] + i2) * d[3] + i3 : -1;
}

int64_t tn_cl_content_index(tn_cl_content content, const int64_t d[4], size_t tx, size_t ty, int lane)
{
    const int64_t x = (int64_t)tx, y = (int64_t)ty, l = lane, hw = d[2] * d[3];
    const int64_t i4 = TN_CEIL_DIV(d[1], 4), h4 = TN_CEIL_DIV(d[2], 4), w4 = TN_CEIL_DIV(d[3], 4);
    switch (content) {
    case TN_CL_CONV2D_FILTER: return place(d, 4 * (y / hw) + l, x, y % hw / d[3], y % hw % d[3]);
    case TN_CL_IN_OUT_CHANNEL: return place(d, y / d[2], 4 * (x / d[3]) + l, y % d[2], x % d[3]);
    case TN_CL_ARGUMENT: return place(d, 4 * x + l, 0, 0, 0);
    case TN_CL_IN_OUT_HEIGHT: return place(d, y / h4, x / d[3], 4 * (y % h4) + l, x % d[3]);
    case TN_CL_IN_OUT_WIDTH: return place(d, y / d[2], x / w4, y % d[2], 4 * (x % w4) + l);
    case TN_CL_DW_CONV2D_FILTER: return place(d, 4 * y + l, 0, x / d[3], x % d[3]);
    case TN_CL_WEIGHT_HEIGHT: return place(d, 4 * y + l, x % d[1], x / d[1] / d[3], x / d[1] % d[3]);
    case TN_CL_WEIGHT_WIDTH: return place(d, y, 4 * (x % i4) + l, x / i4 / d[3], x / i4 % d[3]);
    default: return -1;
    }
}

// ---- Winograd ----

static const float g2[4][3] = {{1, 0, 0}, {.5f, .5f, .5f}, {.5f, -.5f, .5f}, {0, 0, 1}};
static const float g4[6][3] = {{1.0f / 4, 0, 0},
                               {-1.0f / 6, -1.0f / 6, -1.0f / 6},
                               {-1.0f / 6, 1.0f / 6, -1.0f / 6},
                               {1.0f / 24, 1.0f / 12, 1.0f / 6},
                               {1.0f / 24, -1.0f / 12, 1.0f / 6},
                               {0, 0, 1}};
static const float g6[8][3] = {{1, 0, 0},
                               {-2.0f / 9, -2.0f / 9, -2.0f / 9},
                               {-2.0f / 9, 2.0f / 9, -2.0f / 9},
                               {1.0f / 90, 1.0f / 45, 2.0f / 45},
                               {1.0f / 90, -1.0f / 45, 2.0f / 45},
                               {1.0f / 45, 1.0f / 90, 1.0f / 180},
                               {1.0f / 45, -1.0f / 90, 1.0f / 180},
                               {0, 0, 1}};

const float *tn_cl_winograd_row(int block, int row)
{
    return block == 2 ? g2[row] : block == 4 ? g4[row] : g6[row];
}

bool tn_cl_winograd_inverse(int block, double inverse[3][8])
{
    // Normal equations, solved by the adjugate of the 3 x 3 matrix G^T G.
    double m[3][3] = {{0}};
    for (int r = 0; r < block + 2; r++) {
        const float *g = tn_cl_winograd_row(block, r);
        for (int i = 0; i < 9; i++) {
            m[i / 3][i % 3] += (double)g[i / 3] * g[i % 3];
        }
    }
    double adjugate[3][3];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            adjugate[i][j] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    }
    const double det = m[0][0] * adjugate[0][0] + m[0][1] * adjugate[1][0] + m[0][2] * adjugate[2][0];
    for (int i = 0; i < 3 && det != 0; i++) {
        for (int r = 0; r < block + 2; r++) {
            const float *g = tn_cl_winograd_row(block, r);
            inverse[i][r] = (adjugate[i][0] * g[0] + adjugate[i][1] * g[1] + adjugate[i][2] * g[2]) / det;
        }
    }
    return det != 0;
}
