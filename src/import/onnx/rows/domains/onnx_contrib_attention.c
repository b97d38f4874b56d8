// SPDX-License-Identifier: Apache-2.0
// The attention layers of com.microsoft, which transformer optimisers and exporters of language models write (onnxruntime,
// docs/ContribOperators.md). Each becomes the one attention operator of ours: projections, rotation, cache and masks are built around it.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/domains/onnx_contrib_parts.h"

#include "ops/index/op_gather.h"
#include "ops/math/op_binary.h"
#include "ops/math/op_select.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"
#include "ops/nn/op_matmul.h"
#include "ops/quant/op_qlinear.h"
#include "ops/seq/op_attention.h"

static int64_t positive(tn_onnx_node *node, const char *name)
{
    const int64_t v = tn_onnx_int(node, name, 0);
    if (v < 1 || v > 1 << 20) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "attribute %s is %lld, expected a number of heads", name, (long long)v);
    }
    return v;
}

static void refuse_operand(tn_onnx_node *node, int i, const char *what)
{
    if (tn_onnx_in(node, i)) {
        tn_onnx_refuse(node, "operand %s", what);
    }
}

static tn_attention_attr scaled(tn_onnx_node *node, int64_t q_heads, int64_t kv_heads)
{
    const double scale = tn_onnx_real(node, "scale", 0.0f);
    return (tn_attention_attr){.q_num_heads = q_heads, .kv_num_heads = kv_heads, .scale = scale, .has_scale = scale != 0,
                               .left_window = -1, .right_window = -1};
}

// ---- masks ----

// Which keys are there, bool [B, T], by the length of each batch element: mask [B], or [2B]: ends, then starts.
static tn_value *mask_of_lengths(tn_onnx_node *node, tn_value *mask, tn_value *x, tn_value *total)
{
    const int64_t given = tn_contrib_known_dim(mask, 0), batch = tn_contrib_known_dim(x, 0);
    tn_value *parts[2] = {tn_contrib_cast(node, mask, TN_I64), NULL};
    tn_value *keys = tn_contrib_range(node, total);
    if (given >= 0 && batch >= 0 && given != batch && given != 2 * batch) {
        tn_onnx_refuse(node, "a mask of %lld numbers for a batch of %lld", (long long)given, (long long)batch);
    }
    if (given >= 0 && batch >= 0 && given == 2 * batch) {
        tn_contrib_split(node, parts[0], 0, NULL, 2, parts);
    }
    tn_value *end = tn_onnx_unsqueeze(node, parts[0], (int64_t[]){1}, 1);
    tn_value *seen = tn_onnx_emit(node, &tn_op_less, NULL, TN_IN(keys, end));
    if (!parts[1]) {
        return seen;
    }
    tn_value *start = tn_onnx_unsqueeze(node, parts[1], (int64_t[]){1}, 1);
    return tn_onnx_emit(node, &tn_op_and, NULL, TN_IN(seen, tn_onnx_emit(node, &tn_op_greater_or_equal, NULL, TN_IN(keys, start))));
}

// The mask of integers as numbers that are added to the scores, [B, 1, S or 1, T]: a hidden key gets mask_filter_value, which leaves a
// row of hidden keys with plain averages. x: an operand whose first dim is the batch. total: number of keys, [1].
static tn_value *added_mask(tn_onnx_node *node, tn_value *mask, tn_value *x, tn_value *total)
{
    const int rank = tn_contrib_rank(mask);
    tn_value *seen = NULL;
    if (!mask) {
        return NULL;
    }
    if (rank < 1 || rank > 3) {
        tn_onnx_refuse(node, "a mask of %s", rank < 0 ? "unknown rank" : "this rank");
        return NULL;
    }
    if (rank == 1) {
        seen = mask_of_lengths(node, mask, x, total);
    } else {
        tn_value *zero = tn_onnx_const_like(node, mask, 0);
        seen = tn_onnx_emit(node, &tn_op_greater, NULL, TN_IN(mask, zero));
    }
    seen = rank == 3 ? tn_onnx_unsqueeze(node, seen, (int64_t[]){1}, 1) : tn_onnx_unsqueeze(node, seen, (int64_t[]){1, 2}, 2);
    tn_value *hidden = tn_onnx_const_like(node, x, tn_onnx_real(node, "mask_filter_value", -10000.0f));
    return tn_onnx_emit(node, &tn_op_where, NULL, TN_IN(seen, tn_onnx_const_like(node, x, 0), hidden));
}

// ---- Attention and QAttention: one projection for queries, keys and values ----

// qkv [B, S, ...]; past [2, B, H, P, D]?, mask?, bias?; results y and present [2, B, H, P + S, D]?
static void finish_projected(tn_onnx_node *node, tn_value *qkv, tn_value *mask, tn_value *past, tn_value *bias)
{
    const int64_t heads = positive(node, "num_heads");
    const tn_ints sizes = tn_onnx_ints(node, "qkv_hidden_sizes");
    tn_attention_attr attr = scaled(node, heads, heads);
    attr.is_causal = tn_onnx_int(node, "unidirectional", 0) != 0;
    if (tn_onnx_int(node, "do_rotary", 0) != 0 || tn_onnx_int(node, "past_present_share_buffer", 0) != 0) {
        tn_onnx_refuse(node, "do_rotary or past_present_share_buffer");
    }
    if (sizes.set && sizes.count != 3) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "qkv_hidden_sizes has %d numbers, expected 3", sizes.count);
        return;
    }
    tn_value *parts[3], *out[3], *total = tn_contrib_dim(node, qkv, 1);
    tn_contrib_split(node, qkv, -1, sizes.set ? sizes.v : NULL, 3, parts);
    tn_value *key = past ? tn_contrib_pick(node, past, 0, 0) : NULL, *value = past ? tn_contrib_pick(node, past, 0, 1) : NULL;
    if (past) {
        total = tn_contrib_add(node, total, tn_contrib_dim(node, past, 3));
    }
    tn_value *added = tn_contrib_add(node, added_mask(node, mask, qkv, total), bias);
    tn_onnx_emit_several(node, &tn_op_attention, &attr, TN_IN(parts[0], parts[1], parts[2], added, key, value), out, 3);
    tn_onnx_finish_as(node, 0, out[0]);
    if (tn_onnx_wants(node, 1)) {
        tn_value *both[2] = {tn_onnx_unsqueeze(node, out[1], (int64_t[]){0}, 1), tn_onnx_unsqueeze(node, out[2], (int64_t[]){0}, 1)};
        tn_onnx_finish_as(node, 1, tn_contrib_concat(node, 0, both, 2));
    }
}

// input, weights, bias?, mask_index?, past?, attention_bias?, past_sequence_length?
static void map_attention(tn_onnx_node *node)
{
    const tn_matmul_attr product = {.alpha = 1};
    refuse_operand(node, 6, "past_sequence_length");
    tn_value *x = tn_onnx_in(node, 0);
    tn_value *qkv = tn_onnx_emit(node, &tn_op_matmul, &product, TN_IN(x, tn_onnx_in(node, 1)));
    qkv = tn_contrib_add(node, qkv, tn_onnx_in(node, 2));
    finish_projected(node, qkv, tn_onnx_in(node, 3), tn_onnx_in(node, 4), tn_onnx_in(node, 5));
}

// input, weight, bias, input_scale, weight_scale, mask_index?, input_zero?, weight_zero?, past?
static void map_qattention(tn_onnx_node *node)
{
    tn_value *sum = tn_onnx_emit(node, &tn_op_matmul_integer, NULL,
                                 TN_IN(tn_onnx_in(node, 0), tn_onnx_in(node, 1), tn_onnx_in(node, 6), tn_onnx_in(node, 7)));
    tn_value *scale = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(tn_onnx_in(node, 3), tn_onnx_in(node, 4)));
    tn_value *qkv = tn_onnx_emit(node, &tn_op_mul, NULL, TN_IN(tn_contrib_cast(node, sum, TN_F32), scale));
    qkv = tn_contrib_add(node, qkv, tn_onnx_in(node, 2));
    finish_projected(node, qkv, tn_onnx_in(node, 5), tn_onnx_in(node, 8), NULL);
}

// ---- MultiHeadAttention ----

// query, key?, value?, in any of their packed forms, as three tensors of heads [B, H, L, D]; bias [D + D + Dv] where it belongs.
static void unpack(tn_onnx_node *node, int64_t heads, tn_value *heads_of[3])
{
    static const int64_t swap[] = {0, 2, 1, 3};
    tn_value *const in[3] = {tn_onnx_in(node, 0), tn_onnx_in(node, 1), tn_onnx_in(node, 2)}, *bias = tn_onnx_in(node, 3);
    tn_value *biases[3] = {NULL, NULL, NULL};
    const int packed = tn_contrib_rank(in[0]) == 5 ? 0 : tn_contrib_rank(in[1]) == 5 ? 1 : 3;   // first tensor that lies in another
    const int64_t wide = tn_contrib_known_dim(in[0], 2), values = tn_contrib_known_dim(in[2], 2);
    if (bias) {
        const bool uneven = packed == 3 && tn_contrib_rank(in[2]) == 3 && wide >= 0 && values >= 0 && wide != values;
        const int64_t sizes[3] = {wide, wide, values};
        tn_contrib_split(node, bias, 0, uneven ? sizes : NULL, 3, biases);
    }
    if (packed < 3 && bias && packed == 0) {
        tn_onnx_refuse(node, "a bias for packed queries, keys and values");
    }
    for (int i = 0; i < 3; i++) {
        if (i >= packed) {
            tn_value *part = tn_contrib_pick(node, in[packed], 3, i - packed);   // [B, L, H, n, D]
            heads_of[i] = tn_contrib_transpose(node, part, swap, 4);
        } else if (!in[i]) {
            tn_onnx_refuse(node, "a call without %s", i == 1 ? "keys" : "values");
        } else if (tn_contrib_rank(in[i]) == 4) {
            heads_of[i] = in[i];   // keys and values of another sequence, biased before
        } else {
            heads_of[i] = tn_contrib_heads(node, tn_contrib_add(node, in[i], biases[i]), heads);
        }
    }
}

// query, key?, value?, bias?, key_padding_mask?, attention_bias?, past_key?, past_value?, past_sequence_length?, cache_indirection?
static void map_multi_head(tn_onnx_node *node)
{
    const int64_t heads = positive(node, "num_heads");
    tn_value *parts[3] = {NULL, NULL, NULL}, *out[4], *past_key = tn_onnx_in(node, 6), *past_value = tn_onnx_in(node, 7);
    tn_attention_attr attr = scaled(node, heads, heads);
    attr.is_causal = tn_onnx_int(node, "unidirectional", 0) != 0;
    attr.qk_output_mode = TN_QK_RAW;
    refuse_operand(node, 8, "past_sequence_length");
    refuse_operand(node, 9, "cache_indirection");
    unpack(node, heads, parts);
    if (!tn_onnx_good(node)) {
        return;
    }
    tn_value *total = tn_contrib_dim(node, parts[1], 2);
    if (past_key) {
        total = tn_contrib_add(node, total, tn_contrib_dim(node, past_key, 2));
    }
    tn_value *added = tn_contrib_add(node, added_mask(node, tn_onnx_in(node, 4), tn_onnx_in(node, 0), total), tn_onnx_in(node, 5));
    tn_onnx_emit_several(node, &tn_op_attention, &attr, TN_IN(parts[0], parts[1], parts[2], added, past_key, past_value), out,
                         tn_onnx_wants(node, 3) ? 4 : 3);
    tn_onnx_finish_as(node, 0, tn_contrib_join_heads(node, out[0]));
    for (int i = 1; i < 4 && tn_onnx_good(node); i++) {
        if (tn_onnx_wants(node, i)) {
            tn_onnx_finish_as(node, i, out[i]);
        }
    }
}

// ---- RotaryEmbedding ----

// x, position_ids [1] (of the first token) or [B, S], cos, sin
static void map_rotary(tn_onnx_node *node)
{
    tn_value *x = tn_onnx_in(node, 0), *at = tn_onnx_in(node, 1), *cosines = tn_onnx_in(node, 2), *sines = tn_onnx_in(node, 3);
    tn_rotary_attr attr = {.num_heads = tn_onnx_int(node, "num_heads", 0),
                           .rotary_dim = tn_onnx_int(node, "rotary_embedding_dim", 0),
                           .interleaved = tn_onnx_int(node, "interleaved", 0) != 0};
    const int64_t wide = tn_contrib_known_dim(x, 2), half = tn_contrib_known_dim(cosines, 1);
    tn_onnx_find(node, "is_packed_batching"), tn_onnx_find(node, "scale");   // for kernels that see tokens without padding; not used
    if (attr.num_heads == 0 && tn_contrib_rank(x) == 3) {
        if (wide < 0 || half < 1) {
            tn_onnx_refuse(node, "a number of heads that neither an attribute nor the shapes tell");
            return;
        }
        attr.num_heads = wide / (2 * half);
    }
    if (tn_contrib_rank(at) == 1) {
        tn_value *steps = tn_contrib_range(node, tn_contrib_dim(node, x, tn_contrib_rank(x) == 4 ? 2 : 1));
        tn_value *shape[2] = {tn_contrib_dim(node, x, 0), tn_contrib_dim(node, x, tn_contrib_rank(x) == 4 ? 2 : 1)};
        at = tn_onnx_emit(node, &tn_op_expand, NULL, TN_IN(tn_contrib_add(node, at, steps), tn_contrib_concat(node, 0, shape, 2)));
    } else if (tn_contrib_rank(at) != 2) {
        tn_onnx_refuse(node, "position_ids of unknown rank");
    }
    tn_onnx_finish(node, &tn_op_rotary_embedding, &attr, TN_IN(x, cosines, sines, at));
}

// ---- GroupQueryAttention: decoding with a cache of keys and values ----

enum { KEY = 1, VALUE, PAST_KEY, PAST_VALUE, LENGTHS, TOTAL, COS, SIN, POSITIONS, BIAS, SINK };   // operands after query

typedef struct decoding {
    tn_value *heads[3];        // queries, keys, values [B, H, S, D]
    tn_value *start, *at;      // tokens in the cache before the call [B]; places of the new ones [B, S]
    tn_value *total;           // [1]: keys after the call
    tn_value *cache[2];        // [B, H, max(P, total), D] with the new keys and values
} decoding;

static void split_heads(tn_onnx_node *node, int64_t q_heads, int64_t kv_heads, decoding *d)
{
    static const int64_t swap[] = {0, 2, 1, 3};
    if (tn_onnx_in(node, KEY) && tn_onnx_in(node, VALUE)) {
        for (int i = 0; i < 3; i++) {
            d->heads[i] = tn_contrib_heads(node, tn_onnx_in(node, i), i == 0 ? q_heads : kv_heads);
        }
        return;
    }
    tn_value *parts[3], *all = tn_contrib_reshape(node, tn_onnx_in(node, 0), (int64_t[]){0, 0, q_heads + 2 * kv_heads, -1}, 4);
    tn_contrib_split(node, all, 2, (int64_t[]){q_heads, kv_heads, kv_heads}, 3, parts);
    for (int i = 0; i < 3; i++) {
        d->heads[i] = tn_contrib_transpose(node, parts[i], swap, 4);
    }
}

// lengths [B] hold the place of each element's last token. In the first call all tokens are new and the shorter elements are padded at
// their end, so that counting back from their length would begin before the first token.
static void find_places(tn_onnx_node *node, decoding *d)
{
    tn_value *last = tn_contrib_reshape(node, tn_contrib_cast(node, tn_onnx_in(node, LENGTHS), TN_I64), (int64_t[]){-1}, 1);
    tn_value *steps = tn_contrib_dim(node, d->heads[0], 2), *one = tn_onnx_const_int(node, 1);
    d->total = tn_contrib_reshape(node, tn_contrib_cast(node, tn_onnx_in(node, TOTAL), TN_I64), (int64_t[]){1}, 1);
    tn_value *before = tn_onnx_emit(node, &tn_op_sub, NULL, TN_IN(tn_contrib_add(node, last, one), steps));
    tn_value *first_call = tn_onnx_emit(node, &tn_op_equal, NULL, TN_IN(d->total, steps));
    d->start = tn_onnx_emit(node, &tn_op_where, NULL, TN_IN(first_call, tn_onnx_const_int(node, 0), before));
    d->at = tn_contrib_add(node, tn_onnx_unsqueeze(node, d->start, (int64_t[]){1}, 1), tn_contrib_range(node, steps));
}

static void rotate(tn_onnx_node *node, decoding *d)
{
    const int64_t half = tn_contrib_known_dim(tn_onnx_in(node, COS), 1);
    const tn_rotary_attr attr = {.rotary_dim = half > 0 && half < 1 << 20 ? 2 * half : 0,
                                 .interleaved = tn_onnx_int(node, "rotary_interleaved", 0) != 0};
    if (tn_onnx_int(node, "do_rotary", 0) == 0) {
        return;
    }
    tn_value *at = tn_onnx_in(node, POSITIONS) ? tn_onnx_in(node, POSITIONS) : d->at;
    for (int i = 0; i < 2; i++) {
        d->heads[i] = tn_onnx_emit(node, &tn_op_rotary_embedding, &attr,
                                   TN_IN(d->heads[i], tn_onnx_in(node, COS), tn_onnx_in(node, SIN), at));
    }
}

// The cache, longer where the new tokens need it, with them written at their places.
static void write_cache(tn_onnx_node *node, decoding *d, int which)
{
    const tn_tensor_scatter_attr along = {.axis = -2};
    const tn_pad_attr zeros = {.mode = TN_PAD_CONSTANT};
    tn_value *fresh = d->heads[which + 1], *past = tn_onnx_in(node, PAST_KEY + which), *cache;
    if (past) {
        tn_value *room = tn_contrib_dim(node, past, 2);
        tn_value *more = tn_onnx_emit(node, &tn_op_sub, NULL, TN_IN(tn_onnx_emit(node, &tn_op_max, NULL, TN_IN(room, d->total)), room));
        tn_value *none = tn_onnx_const_ints(node, (int64_t[]){0, 0, 0, 0, 0, 0}, 6);
        tn_value *pads[3] = {none, more, tn_onnx_const_ints(node, (int64_t[]){0}, 1)};
        cache = tn_onnx_emit(node, &tn_op_pad, &zeros, TN_IN(past, tn_contrib_concat(node, 0, pads, 3)));
    } else {
        tn_value *dims[4] = {tn_contrib_dim(node, fresh, 0), tn_contrib_dim(node, fresh, 1), d->total, tn_contrib_dim(node, fresh, 3)};
        cache = tn_onnx_emit(node, &tn_op_expand, NULL, TN_IN(tn_onnx_const_like(node, fresh, 0), tn_contrib_concat(node, 0, dims, 4)));
    }
    d->cache[which] = tn_onnx_emit(node, &tn_op_tensor_scatter, &along, TN_IN(cache, fresh, d->start));
}

// A query sees the keys up to its own place, the last `window` of them; [B, 1, S, total], bool, or numbers where there is a bias.
static tn_value *causal_mask(tn_onnx_node *node, const decoding *d)
{
    const int64_t window = tn_onnx_int(node, "local_window_size", -1);
    tn_value *keys = tn_contrib_range(node, d->total), *at = tn_onnx_unsqueeze(node, d->at, (int64_t[]){1, 3}, 2);
    tn_value *seen = tn_onnx_emit(node, &tn_op_less_or_equal, NULL, TN_IN(keys, at));
    if (window > 0) {
        tn_value *low = tn_onnx_emit(node, &tn_op_sub, NULL, TN_IN(at, tn_onnx_const_int(node, window)));
        seen = tn_onnx_emit(node, &tn_op_and, NULL, TN_IN(seen, tn_onnx_emit(node, &tn_op_greater, NULL, TN_IN(keys, low))));
    }
    tn_value *bias = tn_onnx_in(node, BIAS);
    return bias ? tn_onnx_emit(node, &tn_op_where, NULL, TN_IN(seen, bias, tn_onnx_const_like(node, bias, -65504.0))) : seen;
}

static void map_group_query(tn_onnx_node *node)
{
    const int64_t q_heads = positive(node, "num_heads"), kv_heads = positive(node, "kv_num_heads");
    tn_attention_attr attr = scaled(node, q_heads, kv_heads);
    decoding d = {0};
    tn_value *y;
    attr.softcap = tn_onnx_real(node, "softcap", 0.0f);
    refuse_operand(node, SINK, "head_sink");
    if (tn_onnx_int(node, "smooth_softmax", 0) > 0 || tn_onnx_int(node, "qk_output", 0) != 0 || tn_onnx_wants(node, 3)) {
        tn_onnx_refuse(node, "smooth_softmax or output_qk");
    }
    if (!tn_onnx_in(node, LENGTHS) || !tn_onnx_in(node, TOTAL)) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "seqlens_k and total_sequence_length are missing");
    }
    split_heads(node, q_heads, kv_heads, &d);
    find_places(node, &d);
    rotate(node, &d);
    write_cache(node, &d, 0);
    write_cache(node, &d, 1);
    tn_value *mask = causal_mask(node, &d);
    y = tn_onnx_emit(node, &tn_op_attention, &attr, TN_IN(d.heads[0], d.cache[0], d.cache[1], mask));
    tn_onnx_finish_as(node, 0, tn_contrib_join_heads(node, y));
    for (int i = 1; i < 3 && tn_onnx_good(node); i++) {
        if (tn_onnx_wants(node, i)) {
            tn_onnx_finish_as(node, i, d.cache[i - 1]);
        }
    }
}

static const tn_onnx_row rows[] = {
    {.type = "Attention", .since = 1, .max_in = 7, .op = &tn_op_attention, .map = map_attention},
    {.type = "GroupQueryAttention", .since = 1, .max_in = 14, .op = &tn_op_attention, .map = map_group_query},
    {.type = "MultiHeadAttention", .since = 1, .max_in = 10, .op = &tn_op_attention, .map = map_multi_head},
    {.type = "QAttention", .since = 1, .max_in = 9, .op = &tn_op_attention, .map = map_qattention},
    {.type = "RotaryEmbedding", .since = 1, .max_in = 4, .op = &tn_op_rotary_embedding, .map = map_rotary},
    {0},
};

const tn_onnx_table tn_onnx_contrib_attention = {"com.microsoft", rows};
