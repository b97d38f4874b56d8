// SPDX-License-Identifier: Apache-2.0
// DynamicQuantizeLinear: one group finds the range of a (with 0 in it), then writes y, the scale and the zero point.
__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0);
    float low = 0.0f, high = 0.0f;
    for (int i = part; i < n; i += PARTS) {
        low = fmin(low, a[i]);
        high = fmax(high, a[i]);
    }
    lows[part] = low;
    highs[part] = high;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            lows[part] = fmin(lows[part], lows[part + left]);
            highs[part] = fmax(highs[part], highs[part + left]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const float span = lows[0] == highs[0] ? 1.0f : (highs[0] - lows[0]) / 255.0f;
    const float zero = rint(fmin(fmax(0.0f - lows[0] / span, 0.0f), 255.0f));
    for (int i = part; i < n; i += PARTS) {
        y[i] = convert_uchar_sat(rint(a[i] / span) + zero);
    }
    if (part == 0) {
        scale[0] = span;
        zero_point[0] = (uchar)zero;
    }
}
