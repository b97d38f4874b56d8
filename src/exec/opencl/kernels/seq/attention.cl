// SPDX-License-Identifier: Apache-2.0
// Fused attention: y = softmax(cap(scale q k^T) + mask) v, without the scores in memory. One group makes four queries of one head, whose
// numbers are the lanes of a float4: its items share the keys of a chunk, then the columns of the result, and keep the largest score and
// the sum of the weights so far, by which earlier chunks are scaled (Milakov and Gimelshein, arXiv 1805.02867).
//   q, k, v, y  heads at HEAD(name, batch, head, row): *_B, *_H, *_R are the steps between them     mask  rows at MASK_B, MASK_H, MASK_R
// Keys low .. high - 1 are seen by causality, windows and padding; a query that sees none gets zeros.
#define NONE (-INFINITY)
#define LARGER(a, b) select((a), (b), (b) > (a))

float4 shared_by_all(__local float4 *room, int part, float4 v, bool largest)
{
    barrier(CLK_LOCAL_MEM_FENCE);
    room[part] = v;
    for (int left = PARTS / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (part < left) {
            const float4 a = room[part], b = room[part + left];
            room[part] = largest ? LARGER(a, b) : a + b;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return room[0];
}

__kernel GROUP void run(PARAMETERS)
{
    const int part = get_local_id(0), first = Y_ID * 4, batch = Z_ID / heads, head = Z_ID % heads, shared = head / (heads / kv_heads);
    __global const float *q0 = q + batch * Q_B + head * Q_H, *k0 = k + batch * K_B + shared * K_H, *v0 = v + batch * V_B + shared * V_H;
    int known = total, ahead = past;
#ifdef VALID
    known = (int)clamp(valid[batch], (long)0, (long)total);
    ahead = known - queries;
    if (part == 0 && known != valid[batch]) {
        bad[0] = 1;
    }
#endif
    // Lanes past the last query repeat it and are not written.
    const int4 row = min((int4)(first, first + 1, first + 2, first + 3), (int4)(queries - 1)), position = row + (int4)(ahead);
    int4 low = (int4)(0), high = (int4)(known);
#ifdef CAUSAL
    high = min(high, position + (int4)(1));
#endif
#ifdef LEFT
    low = max(position - (int4)(LEFT), (int4)(0));
#endif
#ifdef RIGHT
    high = min(high, position + (int4)(RIGHT + 1));
#endif
    for (int d = part; d < SIZE; d += PARTS) {
        qs[d] = (float4)(q0[row.x * Q_R + d], q0[row.y * Q_R + d], q0[row.z * Q_R + d], q0[row.w * Q_R + d]);
    }
    float4 top = (float4)(NONE), sum = (float4)(0.0f), acc[EACH];
    for (int e = 0; e < EACH; e++) {
        acc[e] = (float4)(0.0f);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int c0 = 0; c0 < total; c0 += CHUNK) {
        const int count = min(CHUNK, total - c0);
        float4 most = (float4)(NONE);
        for (int i = part; i < count; i += PARTS) {
            const int j = c0 + i;
            __global const float *kj = k0 + j * K_R;
            float4 s = (float4)(0.0f);
            for (int d = 0; d < SIZE; d++) {
                s = mad((float4)(kj[d]), qs[d], s);
            }
            s *= (float4)(scale);
#ifdef CAP
            s = (float4)(CAP) * tanh(s / (float4)(CAP));
#endif
            int4 seen = (low <= (int4)(j)) & (high > (int4)(j));
#ifdef MASKED
            if (j < covered) {
                const int4 at = row * (int4)(MASK_R) + (int4)(batch * MASK_B + head * MASK_H + j);
#ifdef BOOL_MASK
                seen &= (int4)(mask[at.x] ? -1 : 0, mask[at.y] ? -1 : 0, mask[at.z] ? -1 : 0, mask[at.w] ? -1 : 0);
#else
                s += (float4)(mask[at.x], mask[at.y], mask[at.z], mask[at.w]);
#endif
            } else {
                seen = (int4)(0);
            }
#endif
            s = select((float4)(NONE), s, seen);
            ps[i] = s;
            most = LARGER(most, s);
        }
        const float4 next = LARGER(top, shared_by_all(room, part, most, true));
        const int4 none = next == (float4)(NONE);
        const float4 before = select(exp(top - next), (float4)(0.0f), (top == (float4)(NONE)) | none);
        float4 weights = (float4)(0.0f);
        for (int i = part; i < count; i += PARTS) {
            const float4 s = ps[i], w = select(exp(s - next), (float4)(0.0f), (s == (float4)(NONE)) | none);
            ps[i] = w;
            weights += w;
        }
        sum = mad(sum, before, shared_by_all(room, part, weights, false));
        top = next;
        for (int e = 0; e < EACH; e++) {
            const int d = part + e * PARTS;
            acc[e] *= before;
            for (int i = 0; i < count && d < VALUE_SIZE; i++) {
                acc[e] = mad(ps[i], (float4)(v0[(c0 + i) * V_R + d]), acc[e]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    __global float *y0 = y + batch * Y_B + head * Y_H;
    const int rows[4] = {row.x, row.y, row.z, row.w};
    for (int e = 0; e < EACH; e++) {
        const int d = part + e * PARTS;
        const float4 r = select(acc[e] / sum, (float4)(0.0f), sum == (float4)(0.0f));
        const float lanes[4] = {r.x, r.y, r.z, r.w};
        for (int l = 0; l < 4 && first + l < queries && d < VALUE_SIZE; l++) {
            y0[rows[l] * Y_R + d] = lanes[l];
        }
    }
}
