// SPDX-License-Identifier: Apache-2.0
// One operator with operands, attributes and the results that the wire's definition gives, for comparison with the DSP program.
// Ownership: case_free. Threads: one.
#ifndef TN_TEST_DSP_CASE_H
#define TN_TEST_DSP_CASE_H

#include "dsp_host.h"

#include "base/requant.h"
#include "support/case.h"

enum { CASE_OPERANDS = 8, CASE_MULTIPLIERS = 512, CASE_REGIONS = 256 };

typedef struct case_tensor {
    dsp_tensor t;
    bool is_const, absent;
    int32_t *v;                  // values as numbers; f32: their bits
} case_tensor;

typedef struct dsp_case {
    int op;
    uint32_t n_in;
    case_tensor in[CASE_OPERANDS], y;
    int32_t strides[2], pads[4], dilations[2], kernel[2], clamp[2];
    int32_t group, rounding, axis, count_pad, mode, transpose, down;
    uint32_t factor, epsilon[2];
    bool has_clamp;
    uint32_t n_multipliers, n_scales, n_regions;
    uint32_t multipliers[CASE_MULTIPLIERS];
    int32_t shifts[CASE_MULTIPLIERS];
    float scales[4];
    uint32_t regions[CASE_REGIONS];
    char text[200];              // for messages
} dsp_case;

// Draws a case of an operator; big: larger shapes.
void case_draw(dsp_case *c, int op, tn_rand *r, bool big);
// Fills y by the definition.
void case_reference(dsp_case *c);
void case_free(dsp_case *c);
// The parts of both for operators on 16 bits; false: it is none.
bool case_draw_wide(dsp_case *c, tn_rand *r, bool big);
bool case_reference_wide(dsp_case *c);
// Writes the operands' values and the node into a graph; returns the id of the result. given[i]: an id the graph has for operand i, or 0.
// inputs: the operands that became graph inputs.
uint32_t case_write(const dsp_case *c, dsp_graph *g, const uint32_t given[CASE_OPERANDS], uint32_t inputs[CASE_OPERANDS], uint32_t *n_inputs);
// Draws a case of an operator of images whose first operand is x (and second z, of the same shape and type; or NULL), copied.
void case_draw_next(dsp_case *c, int op, const case_tensor *x, const case_tensor *z, tn_rand *r);
// A tensor's values as the bytes they have in memory, and back.
void case_store(const case_tensor *x, uint8_t *bytes);
void case_load(const case_tensor *like, const uint8_t *bytes, int32_t *v);

#endif
