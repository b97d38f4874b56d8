// SPDX-License-Identifier: Apache-2.0
// Constants, shapes, ranges, random draws.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "import/onnx/onnx_read.h"
#include "ops/index/op_gather.h"
#include "ops/index/op_make.h"
#include "ops/move/op_reshape.h"

#include <stddef.h>

// ---- Constant ----

// A constant under the name of result 0.
static void finish_constant(tn_onnx_node *node, tn_dtype dtype, const tn_shape *shape, const void *data, bool copy)
{
    const char *name;
    if (!tn_onnx_good(node) || !tn_onnx_wants(node, 0)) {
        return;
    }
    node->status = tn_onnx_full_name(node->scope, node->out_names[0], "a value", &name);
    if (node->status == TN_OK) {
        node->status = tn_onnx_constant(node->scope->reader, node->graph, name, dtype, shape, data, copy, &node->out[0]);
    }
}

static void constant_tensor(tn_onnx_node *node, const tn_onnx_attr *attr)
{
    tn_onnx_tensor tensor;
    node->status = tn_onnx_read_tensor(node->scope->reader, attr->bytes, node->name, &tensor);
    if (node->status == TN_OK && tensor.refused) {
        tn_onnx_refuse(node, "%s", tensor.refused);
    } else if (node->status == TN_OK) {
        tn_onnx_count_parameters(node->scope->reader, &tensor.shape);
        finish_constant(node, tensor.dtype, &tensor.shape, tensor.data, false);
    }
}

static void constant_list(tn_onnx_node *node, const tn_onnx_attr *attr)
{
    tn_shape shape = tn_shape_of(1, (const int64_t[]){0});
    if (attr->type == TN_ONNX_INTS) {
        const tn_ints list = tn_onnx_ints(node, "value_ints");
        shape.dims[0] = list.count;
        finish_constant(node, TN_I64, &shape, list.v ? list.v : (const int64_t[]){0}, list.v == NULL);
    } else {
        const tn_reals list = tn_onnx_reals(node, "value_floats");
        shape.dims[0] = list.count;
        finish_constant(node, TN_F32, &shape, list.v ? list.v : (const float[]){0}, list.v == NULL);
    }
}

static void map_constant(tn_onnx_node *node)
{
    static const struct {
        const char *name;
        int type;
    } forms[] = {{"value", TN_ONNX_TENSOR},          {"value_int", TN_ONNX_INT},       {"value_float", TN_ONNX_FLOAT},
                 {"value_ints", TN_ONNX_INTS},       {"value_floats", TN_ONNX_FLOATS}, {"value_string", TN_ONNX_STRING},
                 {"value_strings", TN_ONNX_STRINGS}, {"sparse_value", TN_ONNX_SPARSE}};
    const tn_onnx_attr *attr = NULL;
    size_t form = 0;
    while (form < TN_COUNT(forms) && !(attr = tn_onnx_find(node, forms[form].name))) {
        ++form;
    }
    if (!attr || attr->type != forms[form].type) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "its value is missing or of the wrong type");
        return;
    }
    const tn_shape scalar = tn_shape_of(0, NULL);
    if (attr->type == TN_ONNX_TENSOR) {
        constant_tensor(node, attr);
    } else if (attr->type == TN_ONNX_INT) {
        finish_constant(node, TN_I64, &scalar, &attr->i, true);
    } else if (attr->type == TN_ONNX_FLOAT) {
        finish_constant(node, TN_F32, &scalar, &attr->f, true);
    } else if (attr->type == TN_ONNX_INTS || attr->type == TN_ONNX_FLOATS) {
        constant_list(node, attr);
    } else {
        tn_onnx_refuse(node, attr->type == TN_ONNX_SPARSE ? "sparse tensors" : "string tensors");
    }
}

static void map_constant_of_shape(tn_onnx_node *node)
{
    tn_value *value = tn_onnx_const_attr(node, "value", NULL);
    const float zero = 0;
    const tn_shape one = tn_shape_of(1, (const int64_t[]){1});
    if (!value && tn_onnx_good(node)) {
        node->status = tn_onnx_constant(node->scope->reader, node->graph, NULL, TN_F32, &one, &zero, true, &value);
    }
    tn_onnx_finish(node, &tn_op_constant_of_shape, NULL, TN_IN(tn_onnx_in(node, 0), value));
}

// ---- shapes and ranges ----

static const tn_onnx_field shape_fields[] = {
    TN_FIELD_INT(tn_shape_attr, start, "start", 0),
    TN_FIELD_INT(tn_shape_attr, end, "end", INT64_MAX),
};
static const tn_onnx_field range_fields[] = {TN_FIELD_SKIP("stash_type")};
static const tn_onnx_field trilu_fields[] = {TN_FIELD_BOOL(tn_trilu_attr, upper, "upper", 1)};
static const tn_onnx_field eye_fields[] = {
    TN_FIELD_DTYPE(tn_eye_like_attr, dtype, "dtype"),
    TN_FIELD_INT(tn_eye_like_attr, k, "k", 0),
};

// ---- random draws ----

#define RANDOM(dtype_default, name_a, value_a, name_b, value_b)                                                                    \
    {.name = "dtype", .kind = TN_ATTR_DTYPE, .offset = offsetof(tn_random_attr, dtype), .number = dtype_default},                  \
        TN_FIELD_REAL(tn_random_attr, a, name_a, value_a), TN_FIELD_REAL(tn_random_attr, b, name_b, value_b),                      \
    {                                                                                                                              \
        .name = "seed", .kind = TN_ATTR_REAL, .offset = offsetof(tn_random_attr, seed),                                            \
        .given = offsetof(tn_random_attr, has_seed) + 1                                                                            \
    }

static const tn_onnx_field normal_fields[] = {
    RANDOM(TN_F32, "mean", 0.0f, "scale", 1.0f),
    {.name = "shape", .kind = TN_ATTR_INTS, .offset = offsetof(tn_random_attr, shape), .required = true},
};
static const tn_onnx_field uniform_fields[] = {
    RANDOM(TN_F32, "low", 0.0f, "high", 1.0f),
    {.name = "shape", .kind = TN_ATTR_INTS, .offset = offsetof(tn_random_attr, shape), .required = true},
};
static const tn_onnx_field normal_like_fields[] = {RANDOM(TN_NONE, "mean", 0.0f, "scale", 1.0f)};
static const tn_onnx_field uniform_like_fields[] = {RANDOM(TN_NONE, "low", 0.0f, "high", 1.0f)};
static const tn_onnx_field bernoulli_fields[] = {
    TN_FIELD_DTYPE(tn_random_attr, dtype, "dtype"),
    {.name = "seed",
     .kind = TN_ATTR_REAL,
     .offset = offsetof(tn_random_attr, seed),
     .given = offsetof(tn_random_attr, has_seed) + 1},
};

static const tn_onnx_field multinomial_fields[] = {
    {.name = "dtype", .kind = TN_ATTR_DTYPE, .offset = offsetof(tn_multinomial_attr, dtype), .number = TN_I32},
    TN_FIELD_INT(tn_multinomial_attr, sample_size, "sample_size", 1),
    {.name = "seed",
     .kind = TN_ATTR_REAL,
     .offset = offsetof(tn_multinomial_attr, seed),
     .given = offsetof(tn_multinomial_attr, has_seed) + 1},
};

static const tn_onnx_row rows[] = {
    {.type = "Bernoulli", .since = 15, .op = &tn_op_bernoulli, TN_FIELDS(bernoulli_fields)},
    {.type = "Constant", .since = 1, .map = map_constant},
    {.type = "ConstantOfShape", .since = 9, .max_in = 1, .op = &tn_op_constant_of_shape, .map = map_constant_of_shape},
    {.type = "EyeLike", .since = 9, .op = &tn_op_eye_like, TN_FIELDS(eye_fields)},
    {.type = "Multinomial", .since = 7, .op = &tn_op_multinomial, TN_FIELDS(multinomial_fields)},
    {.type = "RandomNormal", .since = 1, .op = &tn_op_random_normal, TN_FIELDS(normal_fields)},
    {.type = "RandomNormalLike", .since = 1, .op = &tn_op_random_normal_like, TN_FIELDS(normal_like_fields)},
    {.type = "RandomUniform", .since = 1, .op = &tn_op_random_uniform, TN_FIELDS(uniform_fields)},
    {.type = "RandomUniformLike", .since = 1, .op = &tn_op_random_uniform_like, TN_FIELDS(uniform_like_fields)},
    {.type = "Range", .since = 11, .op = &tn_op_range, TN_FIELDS(range_fields)},
    {.type = "Shape", .since = 1, .op = &tn_op_shape, TN_FIELDS(shape_fields)},
    TN_ROW("Size", 1, size),
    {.type = "Trilu", .since = 14, .op = &tn_op_trilu, TN_FIELDS(trilu_fields)},
    {0},
};

const tn_onnx_table tn_onnx_make = {"", rows};
