// SPDX-License-Identifier: Apache-2.0
// Sequences and optionals. (SequenceMap is a loop: onnx_control.c.)
// Ownership: const data. Threads: any.
#include "import/onnx/rows/onnx_rows.h"

#include "import/onnx/onnx_read.h"
#include "ops/sequence/op_optional.h"
#include "ops/sequence/op_sequence.h"

#include <stddef.h>

static const tn_onnx_field empty_fields[] = {
    {.name = "dtype", .kind = TN_ATTR_DTYPE, .offset = offsetof(tn_sequence_empty_attr, dtype), .number = TN_F32},
};
static const tn_onnx_field split_fields[] = {
    TN_FIELD_INT(tn_sequence_split_attr, axis, "axis", 0),
    TN_FIELD_BOOL(tn_sequence_split_attr, keepdims, "keepdims", 1),
};
static const tn_onnx_field concat_fields[] = {
    {.name = "axis", .kind = TN_ATTR_INT, .offset = offsetof(tn_sequence_concat_attr, axis), .required = true},
    TN_FIELD_BOOL(tn_sequence_concat_attr, new_axis, "new_axis", 0),
};

// What an optional without contents could hold is said by a TypeProto.
static void map_optional(tn_onnx_node *node)
{
    const tn_onnx_attr *type = tn_onnx_find(node, "type");
    tn_optional_attr attr = {TN_NONE, false};
    if (!tn_onnx_in(node, 0)) {
        tn_onnx_info info;
        if (!type || type->type != TN_ONNX_TYPE || !type->bytes.data) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "without an operand it needs attribute 'type'");
            return;
        }
        node->status = tn_onnx_read_type(node->scope->reader, type->bytes, &info);
        if (node->status == TN_OK && (info.refused || info.kind == TN_KIND_OPTIONAL)) {
            tn_onnx_refuse(node, "attribute 'type': %s", info.refused ? info.refused : "an optional in an optional");
        }
        attr = (tn_optional_attr){info.dtype, info.kind == TN_KIND_SEQUENCE};
    }
    tn_onnx_finish(node, &tn_op_optional, &attr, node->in, node->n_in);
}

static const tn_onnx_row rows[] = {
    {.type = "ConcatFromSequence", .since = 11, .op = &tn_op_concat_from_sequence, TN_FIELDS(concat_fields)},
    {.type = "Optional", .since = 15, .op = &tn_op_optional, .map = map_optional},
    TN_ROW("OptionalGetElement", 15, optional_get_element),
    TN_ROW("OptionalHasElement", 15, optional_has_element),
    TN_ROW("SequenceAt", 11, sequence_at),
    TN_ROW("SequenceConstruct", 11, sequence_construct),
    {.type = "SequenceEmpty", .since = 11, .op = &tn_op_sequence_empty, TN_FIELDS(empty_fields)},
    TN_ROW("SequenceErase", 11, sequence_erase),
    TN_ROW("SequenceInsert", 11, sequence_insert),
    TN_ROW("SequenceLength", 11, sequence_length),
    {.type = "SplitToSequence", .since = 11, .op = &tn_op_split_to_sequence, TN_FIELDS(split_fields)},
    {0},
};

const tn_onnx_table tn_onnx_sequence = {"", rows};
