// SPDX-License-Identifier: Apache-2.0
// Strings.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/text/op_text.h"
#include "ops/text/op_tfidf.h"

#include <stddef.h>

static const tn_onnx_field split_fields[] = {
    TN_FIELD_TEXT(tn_string_split_attr, delimiter, "delimiter"),
    TN_FIELD_INT(tn_string_split_attr, maxsplit, "maxsplit", -1),
};
static const tn_onnx_field regex_fields[] = {
    {.name = "pattern", .kind = TN_ATTR_TEXT, .offset = offsetof(tn_regex_attr, pattern), .required = true},
};

// The case of letters is changed as Unicode says, whatever the locale.
static void map_string_normalizer(tn_onnx_node *node)
{
    static const char *const changes[] = {"NONE", "LOWER", "UPPER", NULL};   // TN_CASE_NONE ...
    const tn_string_normalizer_attr attr = {tn_onnx_choice(node, "case_change_action", changes, TN_CASE_NONE),
                                            tn_onnx_int(node, "is_case_sensitive", 0) != 0};
    (void)tn_onnx_find(node, "locale");
    tn_onnx_set_in(node, 1, tn_onnx_const_strings(node, "stopwords"));
    tn_onnx_finish(node, &tn_op_string_normalizer, &attr, node->in, node->n_in);
}

static void map_tf_idf(tn_onnx_node *node)
{
    static const char *const modes[] = {"TF", "IDF", "TFIDF", NULL};   // TN_WEIGHT_TF ...
    tn_tf_idf_attr attr = {.mode = tn_onnx_choice(node, "mode", modes, TN_WEIGHT_TF),
                           .min_gram = tn_onnx_int(node, "min_gram_length", 1),
                           .max_gram = tn_onnx_int(node, "max_gram_length", 1),
                           .max_skip = tn_onnx_int(node, "max_skip_count", 0),
                           .counts = tn_onnx_ints(node, "ngram_counts"),
                           .indexes = tn_onnx_ints(node, "ngram_indexes"),
                           .weights = tn_onnx_reals(node, "weights")};
    tn_value *pool = tn_onnx_const_strings(node, "pool_strings");
    if (!pool) {
        const tn_ints ints = tn_onnx_ints(node, "pool_int64s");
        pool = tn_onnx_const_ints(node, ints.v, (size_t)ints.count);
    }
    tn_onnx_set_in(node, 1, pool);
    tn_onnx_finish(node, &tn_op_tf_idf_vectorizer, &attr, node->in, node->n_in);
}

static const tn_onnx_row rows[] = {
    {.type = "RegexFullMatch", .since = 20, .op = &tn_op_regex_full_match, TN_FIELDS(regex_fields)},
    TN_ROW("StringConcat", 20, string_concat),
    {.type = "StringNormalizer", .since = 10, .max_in = 1, .op = &tn_op_string_normalizer, .map = map_string_normalizer},
    {.type = "StringSplit", .since = 20, .op = &tn_op_string_split, TN_FIELDS(split_fields)},
    {.type = "TfIdfVectorizer", .since = 9, .max_in = 1, .op = &tn_op_tf_idf_vectorizer, .map = map_tf_idf},
    {0},
};

const tn_onnx_table tn_onnx_strings = {"", rows};
