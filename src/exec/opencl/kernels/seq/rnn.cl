// SPDX-License-Identifier: Apache-2.0
// LSTM or GRU (ONNX operands, the usual activations): one group walks the steps of one sequence in one direction; its items share the
// hidden units. h, and for GRU r * h, lie in local memory.
//   x [steps, batch, inputs]   w [dirs, G * hidden, inputs]   r [dirs, G * hidden, hidden]   bias [dirs, 2 * G * hidden]
//   y [steps, dirs, batch, hidden]   y_h, y_c [dirs, batch, hidden]
#define SIGMOID(v) (1.0f / (1.0f + exp(-(v))))

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

__kernel GROUP void run(PARAMETERS)
{
    const int lane = get_local_id(0), sequence = Y_ID, d = Z_ID, state = (d * batch + sequence) * hidden;
    const bool backward = d == 1 || REVERSE;
    __global const float *w0 = w + d * GATES * hidden * inputs, *r0 = r + d * GATES * hidden * hidden;
#ifdef BIAS
    __global const float *bias0 = bias + d * 2 * GATES * hidden;
#define BIAS_W(gate, k) bias0[(gate) * hidden + (k)]
#define BIAS_R(gate, k) bias0[(GATES + (gate)) * hidden + (k)]
#else
#define BIAS_W(gate, k) 0.0f
#define BIAS_R(gate, k) 0.0f
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
    for (int step = 0; step < steps; step++) {
        const int t = backward ? steps - 1 - step : step;
        __global const float *xt = x + (t * batch + sequence) * inputs;
#if GATES == 4
        for (int k = lane; k < hidden; k += LANES) {
            const float i = SIGMOID(OUTER(0, k) + INNER(0, k, h)), o = SIGMOID(OUTER(1, k) + INNER(1, k, h));
            const float f = SIGMOID(OUTER(2, k) + INNER(2, k, h)), g = tanh(OUTER(3, k) + INNER(3, k, h));
            c[k] = f * c[k] + i * g;
            next[k] = o * tanh(c[k]);
        }
#else
        // gates z, r, h
        for (int k = lane; k < hidden; k += LANES) {
            const float reset = SIGMOID(OUTER(1, k) + INNER(1, k, h));
            c[k] = reset;
            mixed[k] = LINEAR ? h[k] : reset * h[k];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = lane; k < hidden; k += LANES) {
            const float z = SIGMOID(OUTER(0, k) + INNER(0, k, h));
            const float g = tanh(OUTER(2, k) + (LINEAR ? c[k] : 1.0f) * INNER(2, k, mixed));
            next[k] = (1.0f - z) * g + z * h[k];
        }
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int k = lane; k < hidden; k += LANES) {
            h[k] = next[k];
#ifdef Y_OUT
            y[((t * DIRECTIONS + d) * batch + sequence) * hidden + k] = next[k];
#endif
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = lane; k < hidden; k += LANES) {
#ifdef H_OUT
        y_h[state + k] = h[k];
#endif
#ifdef C_OUT
        y_c[state + k] = c[k];
#endif
    }
}
