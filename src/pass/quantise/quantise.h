// SPDX-License-Identifier: Apache-2.0
// Post-training quantisation of a float graph whose values' ranges are known from sample inputs. The graph is written as dequantise -
// compute - quantise, which the passes of pass/quant fold; so what they cannot fold still computes the same in float32.
// Ownership: new values belong to the graph. Threads: one per graph.
#ifndef TN_QUANTISE_H
#define TN_QUANTISE_H

#include "pass/pass.h"

// What sample inputs made of a value.
typedef struct tn_range {
    float low, high;
    bool seen;
    bool bottomless;          // minus infinity was there too, which `low` does not tell
    bool broken;              // so were NaN or plus infinity
    int64_t channels;         // of `peaks`; 0: none were taken
    float *peaks;             // greatest absolute value of each index of axis 1; in the heap, the ranges' owner gives it back
} tn_range;

// Forms that quantise better: prelu as relu parts, transposed convolutions as convolutions, products of two values apart from what is added
// to them. Before the ranges are taken.
tn_status tn_quantise_prepare(tn_graph *graph, tn_pass_context *context);

// How many nodes compute in a width of their own: sums, pairs and means before the last sum. What comes after that stays float32.
size_t tn_quantise_count(const tn_graph *graph);

// ranges: by value id, of those that tn_has_scale; they are changed, but for their peaks. wide: for each node of tn_quantise_count, in the
// graph's order, whether it computes in 16 bits; NULL: none does. There activations and weights become int16 without zero points, elsewhere
// activations uint8 with a scale and a zero point each and weights int8 with a scale for each result channel. What moves, joins or is a
// function has the width that its readers want; where both meet there is a second pair.
tn_status tn_quantise_graph(tn_graph *graph, tn_pass_context *context, tn_range *ranges, const bool *wide);

// Masks add numbers like -10000 to scores that are not to count, or put such a number in their place, beside which the others would all have
// one code: ranges and constant masks are cut to where a softmax makes nothing of them.
tn_status tn_trim_masks(tn_graph *graph, tn_pass_context *context, tn_range *ranges);

// Between a convolution and the convolutions that read a function of it, channels may differ so much in size that one scale for all is
// too coarse even at 16 bits. There each channel gets a factor, in the weights and biases before and behind; the function between becomes
// one for each channel. The lists are by value id, of n_values (the graph may have got more since they were made). scaled: what gets a scale of
// 16 bits; at[id] becomes the value that it is to stand behind where it is another.
tn_status tn_equalise(tn_graph *graph, tn_pass_context *context, tn_range *ranges, const bool *scaled, tn_value **at, size_t n_values);

#endif
