// SPDX-License-Identifier: Apache-2.0
// LSTM (GATES 4: i, o, f, c), GRU (3: z, r, h) or the plain recurrent layer (1) with ONNX operands: one group walks the steps of one sequence
// in one direction; its items share the hidden units. h, and for GRU r * h, lie in local memory.
//   x [steps, batch, inputs]   w [dirs, G * hidden, inputs]   r [dirs, G * hidden, hidden]   bias [dirs, 2 * G * hidden]
//   peepholes [dirs, 3 * hidden]   y [steps, dirs, batch, hidden]   y_h, y_c [dirs, batch, hidden]   BY_BATCH: batch comes first
// ACT0(d, v) ..: the activations of direction d, generated; gates go through LIMIT first.
float dot_global(__global const float *w, __global const float *v, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum = mad(w[i], v[i], sum);
    }
    return sum;
}

float dot_local(__global const float *w, __local const float *v, int n)
{
    float sum = 0.0f;
    for (int i = 0; i < n; i++) {
        sum = mad(w[i], v[i], sum);
    }
    return sum;
}

// Weights times x_t plus both biases: what does not wait for the step before.
#define OUTER(gate, k) (dot_global(w0 + ((gate) * hidden + (k)) * inputs, xt, inputs) + BIAS_W(gate, k))
#define INNER(gate, k, v) (dot_local(r0 + ((gate) * hidden + (k)) * hidden, v, hidden) + BIAS_R(gate, k))
#define BOTH(gate, k) (OUTER(gate, k) + INNER(gate, k, h))
#ifdef BIAS
#define BIAS_W(gate, k) bias0[(gate) * hidden + (k)]
#define BIAS_R(gate, k) bias0[(GATES + (gate)) * hidden + (k)]
#else
#define BIAS_W(gate, k) 0.0f
#define BIAS_R(gate, k) 0.0f
#endif
#ifdef PEEPHOLES
#define PEEP(which, k) (peepholes[(d * 3 + (which)) * hidden + (k)] * c[k])
#else
#define PEEP(which, k) 0.0f
#endif

__kernel GROUP void run(PARAMETERS)
{
    const int lane = get_local_id(0), sequence = Y_ID, d = Z_ID;
    const int state = (BY_BATCH ? sequence * DIRECTIONS + d : d * batch + sequence) * hidden;
    const bool backward = d == 1 || REVERSE;
    __global const float *w0 = w + d * GATES * hidden * inputs, *r0 = r + d * GATES * hidden * hidden;
    int length = steps;
#ifdef BIAS
    __global const float *bias0 = bias + d * 2 * GATES * hidden;
#endif
#ifdef LENGTHS
    length = clamp(lengths[sequence], 0, steps);
    if (lane == 0 && length != lengths[sequence]) {
        bad[0] = 1;
    }
#endif
    __local float *h = room, *next = room + hidden, *c = room + 2 * hidden, *mixed = room + 3 * hidden;
    for (int k = lane; k < hidden; k += LANES) {
#ifdef INITIAL_H
        h[k] = initial_h[state + k];
#else
        h[k] = 0.0f;
#endif
#ifdef INITIAL_C
        c[k] = initial_c[state + k];
#else
        c[k] = 0.0f;
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 0; step < length; step++) {
        const int t = backward ? length - 1 - step : step;
        __global const float *xt = x + (BY_BATCH ? sequence * steps + t : t * batch + sequence) * inputs;
#if GATES == 4
        for (int k = lane; k < hidden; k += LANES) {
            const float i = ACT0(d, LIMIT(BOTH(0, k) + PEEP(0, k))), f = ACT0(d, LIMIT(BOTH(2, k) + PEEP(2, k)));
            const float g = ACT1(d, LIMIT(BOTH(3, k)));
            c[k] = (INPUT_FORGET ? 1.0f - i : f) * c[k] + i * g;
            next[k] = ACT0(d, LIMIT(BOTH(1, k) + PEEP(1, k))) * ACT2(d, c[k]);
        }
#elif GATES == 3
        for (int k = lane; k < hidden; k += LANES) {
            const float reset = ACT0(d, LIMIT(BOTH(1, k)));
            c[k] = reset;
            mixed[k] = LINEAR ? h[k] : reset * h[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = lane; k < hidden; k += LANES) {
            const float z = ACT0(d, LIMIT(BOTH(0, k)));
            const float g = ACT1(d, LIMIT(OUTER(2, k) + (LINEAR ? c[k] : 1.0f) * INNER(2, k, mixed)));
            next[k] = (1.0f - z) * g + z * h[k];
        }
#else
        for (int k = lane; k < hidden; k += LANES) {
            next[k] = ACT0(d, LIMIT(BOTH(0, k)));
        }
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = lane; k < hidden; k += LANES) {
            h[k] = next[k];
#ifdef Y_OUT
            y[(BY_BATCH ? (sequence * steps + t) * DIRECTIONS + d : (t * DIRECTIONS + d) * batch + sequence) * hidden + k] = next[k];
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = lane; k < hidden; k += LANES) {
#ifdef Y_OUT
        // past the end of a short sequence
        for (int t = length; t < steps; t++) {
            y[(BY_BATCH ? (sequence * steps + t) * DIRECTIONS + d : (t * DIRECTIONS + d) * batch + sequence) * hidden + k] = 0.0f;
        }
#endif
#ifdef H_OUT
        y_h[state + k] = h[k];
#endif
#ifdef C_OUT
        y_c[state + k] = c[k];
#endif
    }
}
