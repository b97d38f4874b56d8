// SPDX-License-Identifier: Apache-2.0
// Losses of classifiers: negative_log_likelihood(log_probabilities [N, C, d...], target [N, d...], weight [C]?) and
// softmax_cross_entropy(scores, labels, weights?) -> loss, log_probabilities?. ONNX NegativeLogLikelihoodLoss 22,
// SoftmaxCrossEntropyLoss 13.
// Ownership: const data. Threads: any.
#ifndef TN_OP_LOSS_H
#define TN_OP_LOSS_H

#include "ir/op.h"

enum { TN_LOSS_NONE, TN_LOSS_SUM, TN_LOSS_MEAN };   // mean: by the sum of the weights

typedef struct tn_loss_attr {
    int reduction;                           // TN_LOSS_*; without reduction the result has the target's shape
    int64_t ignore_index; bool has_ignore;   // a target that does not count
} tn_loss_attr;

extern const tn_op tn_op_negative_log_likelihood;
extern const tn_op tn_op_softmax_cross_entropy;

#endif
