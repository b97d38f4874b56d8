// SPDX-License-Identifier: Apache-2.0
// The scalar definition of the content types (cl_content.h has the table): index in row-major [d0, d1, d2, d3] of what texel (x, y)
// holds in lane l; -1: padding. CONTENT is the number of the type.
int lane_index(int x, int y, int l, int d0, int d1, int d2, int d3)
{
    int i0 = 0, i1 = 0, i2 = 0, i3 = 0;
#if CONTENT == 0
    i0 = 4 * (y / (d2 * d3)) + l, i1 = x, i2 = y % (d2 * d3) / d3, i3 = y % d3;
#elif CONTENT == 1
    i0 = y / d2, i1 = 4 * (x / d3) + l, i2 = y % d2, i3 = x % d3;
#elif CONTENT == 2
    i0 = 4 * x + l;
#elif CONTENT == 3
    i0 = y / CD4(d2), i1 = x / d3, i2 = 4 * (y % CD4(d2)) + l, i3 = x % d3;
#elif CONTENT == 4
    i0 = y / d2, i1 = x / CD4(d3), i2 = y % d2, i3 = 4 * (x % CD4(d3)) + l;
#elif CONTENT == 6
    i0 = 4 * y + l, i2 = x / d3, i3 = x % d3;
#elif CONTENT == 7
    i0 = 4 * y + l, i1 = x % d1, i2 = x / d1 / d3, i3 = x / d1 % d3;
#elif CONTENT == 8
    i0 = y, i1 = 4 * (x % CD4(d1)) + l, i2 = x / CD4(d1) / d3, i3 = x / CD4(d1) % d3;
#endif
    return i0 < d0 && i1 < d1 && i2 < d2 && i3 < d3 ? ((i0 * d1 + i1) * d2 + i2) * d3 + i3 : -1;
}

