// SPDX-License-Identifier: Apache-2.0
// tf_idf_vectorizer(x, pool): how often each n-gram of the pool is in x [C] or [B, C], weighted -> float32 [width] or [B, width]
// (ONNX TfIdfVectorizer 9). pool holds the 1-grams, then the 2-grams, ...; counts[i] is where the (i+1)-grams begin. indexes[g] is
// the column of gram g; the width is the largest one plus 1.
// Ownership: const data. Threads: any.
#ifndef TN_OP_TFIDF_H
#define TN_OP_TFIDF_H

#include "ir/op.h"

enum { TN_WEIGHT_TF, TN_WEIGHT_IDF, TN_WEIGHT_TFIDF };

typedef struct tn_tf_idf_attr {
    int mode;                              // TN_WEIGHT_*
    int64_t min_gram, max_gram, max_skip;
    tn_ints counts, indexes;
    tn_reals weights;                      // by column
} tn_tf_idf_attr;

extern const tn_op tn_op_tf_idf_vectorizer;

#endif
