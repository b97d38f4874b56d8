// SPDX-License-Identifier: Apache-2.0
// Operators that only move data: reshapes, transpose, slices, joins, pads, blocks.
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "ops/move/op_block.h"
#include "ops/move/op_join.h"
#include "ops/move/op_reshape.h"
#include "ops/move/op_slice.h"
#include "ops/move/op_transpose.h"

#include <stddef.h>

static const char *const block_modes[] = {"DCR", "CRD", NULL};
static const char *const pad_modes[] = {"constant", "reflect", "edge", "wrap", NULL}; // TN_PAD_CONSTANT ...

static const tn_onnx_field reshape_fields[] = {TN_FIELD_BOOL(tn_reshape_attr, allowzero, "allowzero", 0)};
static const tn_onnx_field flatten_fields[] = {TN_FIELD_INT(tn_flatten_attr, axis, "axis", 1)};
static const tn_onnx_field transpose_fields[] = {TN_FIELD_INTS(tn_transpose_attr, perm, "perm")};
static const tn_onnx_field old_concat_fields[] = {TN_FIELD_INT(tn_concat_attr, axis, "axis", 1)};
static const tn_onnx_field concat_fields[] = {
    {.name = "axis", .kind = TN_ATTR_INT, .offset = offsetof(tn_concat_attr, axis), .required = true},
};
static const tn_onnx_field split_fields[] = {
    TN_FIELD_INT(tn_split_attr, axis, "axis", 0),
    TN_FIELD_INT(tn_split_attr, num_outputs, "num_outputs", 0),
};
static const tn_onnx_field pad_fields[] = {TN_FIELD_ENUM(tn_pad_attr, mode, "mode", pad_modes, TN_PAD_CONSTANT)};
static const tn_onnx_field block_fields[] = {
    {.name = "blocksize", .kind = TN_ATTR_INT, .offset = offsetof(tn_block_attr, blocksize), .required = true},
    TN_FIELD_CHOICE(tn_block_attr, crd, "mode", block_modes, 0),
};
static const tn_onnx_field crop_fields[] = {TN_FIELD_INTS(tn_crop_attr, axes, "axes")};
static const tn_onnx_field reverse_fields[] = {
    TN_FIELD_INT(tn_reverse_sequence_attr, batch_axis, "batch_axis", 1),
    TN_FIELD_INT(tn_reverse_sequence_attr, time_axis, "time_axis", 0),
};

// Attributes that became operands.
static const tn_onnx_operand axes_operands[] = {{"axes", TN_ATTR_INTS, 1, 12}};
static const tn_onnx_operand reshape_operands[] = {{"shape", TN_ATTR_INTS, 1, 4}};
static const tn_onnx_operand split_operands[] = {{"split", TN_ATTR_INTS, 1, 12}};
static const tn_onnx_operand old_pad_operands[] = {{"paddings", TN_ATTR_INTS, 1, 1}, {"value", TN_ATTR_REAL, 2, 1}};
static const tn_onnx_operand pad_operands[] = {{"pads", TN_ATTR_INTS, 1, 10}, {"value", TN_ATTR_REAL, 2, 10}};
static const tn_onnx_operand slice_operands[] = {
    {"starts", TN_ATTR_INTS, 1, 9}, {"ends", TN_ATTR_INTS, 2, 9}, {"axes", TN_ATTR_INTS, 3, 9}};

// Tile of opset 1: x, tiles (a number), axis.
static void map_old_tile(tn_onnx_node *node)
{
    tn_value *x = tn_onnx_in(node, 0);
    double tiles, axis;
    int at;
    if (!x || x->shape.rank < 0 || !tn_onnx_known_scalar(tn_onnx_in(node, 1), &tiles) ||
        !tn_onnx_known_scalar(tn_onnx_in(node, 2), &axis)) {
        tn_onnx_refuse(node, "the rank, the number of tiles or the axis is not known");
        return;
    }
    int64_t repeats[TN_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (!(axis >= -TN_MAX_RANK && axis <= TN_MAX_RANK && tiles >= 0 && tiles < 9e15) ||
        !tn_axis((int64_t)axis, x->shape.rank, &at)) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "the axis or the number of tiles does not fit");
        return;
    }
    repeats[at] = (int64_t)tiles;
    tn_value *list = tn_onnx_const_ints(node, repeats, (size_t)x->shape.rank);
    tn_onnx_finish(node, &tn_op_tile, NULL, TN_IN(x, list));
}

static const tn_onnx_row rows[] = {
    {.type = "CenterCropPad", .since = 18, .op = &tn_op_center_crop_pad, TN_FIELDS(crop_fields)},
    {.type = "Concat", .since = 1, .until = 3, .op = &tn_op_concat, .nests = true, TN_FIELDS(old_concat_fields)},
    {.type = "Concat", .since = 4, .op = &tn_op_concat, .nests = true, TN_FIELDS(concat_fields)},
    {.type = "DepthToSpace", .since = 1, .op = &tn_op_depth_to_space, TN_FIELDS(block_fields)},
    TN_ROW("Expand", 8, expand),
    {.type = "Flatten", .since = 1, .op = &tn_op_flatten, TN_FIELDS(flatten_fields)},
    TN_ROW("Identity", 1, identity),
    {.type = "Pad", .since = 1, .until = 1, .op = &tn_op_pad, TN_FIELDS(pad_fields), TN_OPERANDS(old_pad_operands)},
    {.type = "Pad", .since = 2, .op = &tn_op_pad, TN_FIELDS(pad_fields), TN_OPERANDS(pad_operands)},
    {.type = "Reshape", .since = 1, .op = &tn_op_reshape, TN_FIELDS(reshape_fields), TN_OPERANDS(reshape_operands)},
    {.type = "ReverseSequence", .since = 10, .op = &tn_op_reverse_sequence, TN_FIELDS(reverse_fields)},
    {.type = "Slice", .since = 1, .op = &tn_op_slice, TN_OPERANDS(slice_operands)},
    {.type = "SpaceToDepth", .since = 1, .op = &tn_op_space_to_depth, TN_FIELDS(block_fields)},
    {.type = "Split", .since = 1, .op = &tn_op_split, TN_FIELDS(split_fields), TN_OPERANDS(split_operands)},
    {.type = "Squeeze", .since = 1, .op = &tn_op_squeeze, TN_OPERANDS(axes_operands)},
    {.type = "Tile", .since = 1, .until = 5, .op = &tn_op_tile, .map = map_old_tile},
    TN_ROW("Tile", 6, tile),
    {.type = "Transpose", .since = 1, .op = &tn_op_transpose, TN_FIELDS(transpose_fields)},
    {.type = "Unsqueeze", .since = 1, .op = &tn_op_unsqueeze, TN_OPERANDS(axes_operands)},
    {0},
};

const tn_onnx_table tn_onnx_move = {"", rows};
