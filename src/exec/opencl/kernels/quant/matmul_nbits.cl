// SPDX-License-Identifier: Apache-2.0
// y [rows, n] = a [rows, k] times weights of BITS bits: codes [n, pitch] hold k numbers a row, the low bits of a byte first; element j belongs to
// block j / block (or groups[j]) with a scale and a zero point. The items of a group share one column of y and add up in local memory, always in
// the same order; they hold ROWS rows at a time.
#define EACH (8 / BITS)
#define CD_EACH(count) (((count) + EACH - 1) / EACH)
#define CODE(bytes, i) ((bytes)[(i) / EACH] >> (i) % EACH * BITS & ((1 << BITS) - 1))

__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), col = Y_ID, first = Z_ID * ROWS;
    __global const uchar *row = codes + col * pitch;
    float acc[ROWS];
    for (int r = 0; r < ROWS; r++) {
        acc[r] = 0.0f;
    }
    for (int j = part; j < k; j += PARTS) {
#ifdef GROUPS
        const bool in = groups[j] >= 0 && groups[j] < blocks;
        const int at = in ? groups[j] : 0;
        if (!in) {
            bad[0] = 1;
        }
#else
        const int at = j / block;
#endif
#if defined PACKED_ZEROS
        const float zero = (float)CODE(zeros + col * CD_EACH(blocks), at);
#elif defined ZEROS
        const float zero = zeros[col * blocks + at];
#else
        const float zero = (float)(1 << (BITS - 1));
#endif
        const float v = ((float)CODE(row, j) - zero) * scales[col * blocks + at];
        for (int r = 0; r < ROWS; r++) {
            acc[r] = mad(a[min(first + r, rows - 1) * k + j], v, acc[r]);
        }
    }
    for (int r = 0; r < ROWS; r++) {
        sums[r * PARTS + part] = acc[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = part; r < ROWS && first + r < rows; r += PARTS) {
        float v = 0.0f;
        for (int s = 0; s < PARTS; s++) {
            v += sums[r * PARTS + s];
        }
#ifdef BIAS
        v += bias[col];
#endif
        y[(first + r) * n + col] = v;
    }
}
