// SPDX-License-Identifier: Apache-2.0
// y[i]: the place of the largest (smallest) of `count` elements of a, which lie `inner` apart. NaN is above all. Of equal ones the first counts,
// or with LAST_WINS the last. The items of a group each look at every PARTS-th element, then pairs of parts are joined.
//   ABOVE(x, z)  x is the better one, as numbers
int beats(ELEMENT x, int x_at, ELEMENT z, int z_at)
{
    const int x_nan = x != x, z_nan = z != z, later = LAST_WINS ? x_at > z_at : x_at < z_at;
    if (x_nan || z_nan) {
        return x_nan && (!z_nan || later);
    }
    return (ABOVE(x, z)) || (x == z && later);
}

__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), i = Y_ID, base = i / inner * count * inner + i % inner;
    ELEMENT top = a[base + part * inner];
    int at = part;
    for (int j = part + PARTS; j < count; j += PARTS) {
        const ELEMENT v = a[base + j * inner];
        if (beats(v, j, top, at)) {
            top = v;
            at = j;
        }
    }
    best[part] = top;
    place[part] = at;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left && beats(best[part + left], place[part + left], best[part], place[part])) {
            best[part] = best[part + left];
            place[part] = place[part + left];
        }
    }
    if (part == 0) {
        y[i] = place[0];
    }
}
