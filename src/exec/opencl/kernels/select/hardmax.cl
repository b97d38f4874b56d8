// SPDX-License-Identifier: Apache-2.0
// y = 1 at the first of the largest of `count` elements of a, which lie `inner` apart, else 0. A NaN counts only where it comes first. The items
// of a group each look at every PARTS-th element, then pairs of parts are joined.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), line = Y_ID, base = line / inner * count * inner + line % inner;
    float top = -INFINITY;
    int at = INT_MAX;
    for (int j = part; j < count; j += PARTS) {
        const float v = a[base + j * inner];
        if (v > top || (v == top && j < at)) {
            top = v;
            at = j;
        }
    }
    best[part] = top;
    place[part] = at;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left && (best[part + left] > best[part] || (best[part + left] == best[part] && place[part + left] < place[part]))) {
            best[part] = best[part + left];
            place[part] = place[part + left];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const int where = isnan(a[base]) ? 0 : place[0];
    for (int j = part; j < count; j += PARTS) {
        y[base + j * inner] = j == where ? 1.0f : 0.0f;
    }
}
