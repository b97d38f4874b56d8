// SPDX-License-Identifier: Apache-2.0
// ValueInfoProto and TypeProto: what a model declares of its inputs and outputs. Tensors, sequences of tensors and optionals of both are
// understood; the other types are named in the report.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/onnx_read.h"

#include <string.h>

// TypeProto: the field that is there says which type it is.
static const char *type_refusal(uint32_t key)
{
    switch (key) {
    case TN_WIRE_KEY(5, TN_WIRE_BYTES):
        return "maps";
    case TN_WIRE_KEY(7, TN_WIRE_BYTES):
        return "opaque types";
    case TN_WIRE_KEY(8, TN_WIRE_BYTES):
        return "sparse tensors";
    default:
        return NULL;
    }
}

// The symbol of a dim's name; dims with names beyond the limit are just unknown.
static tn_status find_symbol(tn_onnx_reader *reader, tn_span name, int64_t *dim)
{
    const int *known = tn_map_find(&reader->symbols, (const char *)name.data, name.size);
    if (!known && reader->symbols.count < TN_ONNX_MAX_SYMBOLS) {
        const char *text;
        TN_TRY(tn_onnx_name(reader, &reader->scratch, name, "a dim", &text));
        const int id = tn_graph_symbol(reader->out->graph, text);
        const int *copy = id < 0 ? NULL : tn_arena_copy(&reader->scratch, &id, sizeof id);
        if (!copy || !tn_map_set(&reader->symbols, (const char *)name.data, name.size, (void *)copy)) {
            return tn_fail_memory(reader->diag, text, name.size);
        }
        known = copy;
    }
    *dim = known ? TN_DIM_SYMBOL + *known : TN_DIM_UNKNOWN;
    return TN_OK;
}

// TensorShapeProto.Dimension. Some exporters write -1 for a dim that is not fixed.
static tn_status read_dim(tn_onnx_reader *reader, tn_span body, bool symbols, int64_t *dim)
{
    tn_span name = {NULL, 0};
    *dim = TN_DIM_UNKNOWN;
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(1, TN_WIRE_VARINT)) {
            *dim = wire.value <= INT64_MAX ? (int64_t)wire.value : TN_DIM_UNKNOWN;
            name.size = 0;
        } else if (wire.key == TN_WIRE_KEY(2, TN_WIRE_BYTES)) {
            *dim = TN_DIM_UNKNOWN;
            name = wire.bytes;
        }
    }
    if (wire.fault) {
        return tn_onnx_malformed(reader, "", "TensorShapeProto.Dimension", wire.at, wire.fault);
    }
    return symbols && name.size > 0 ? find_symbol(reader, name, dim) : TN_OK;
}

// TensorShapeProto: dims in order. A value without this field has an unknown rank, one with an empty field is a scalar.
static tn_status read_shape(tn_onnx_reader *reader, tn_span body, bool symbols, tn_onnx_info *out)
{
    out->shape = (tn_shape){0, {0}};
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key != TN_WIRE_KEY(1, TN_WIRE_BYTES)) {
            continue;
        }
        if (out->shape.rank == TN_MAX_RANK) {
            out->shape = tn_shape_unknown();
            out->refused = "tensors of more than 8 dims";
            return TN_OK;
        }
        TN_TRY(read_dim(reader, wire.bytes, symbols, &out->shape.dims[out->shape.rank]));
        ++out->shape.rank;
    }
    return wire.fault ? tn_onnx_malformed(reader, "", "TensorShapeProto", wire.at, wire.fault) : TN_OK;
}

static tn_status read_type(tn_onnx_reader *reader, tn_span body, bool symbols, int depth, tn_onnx_info *out);

// TypeProto.Tensor
static tn_status read_tensor_type(tn_onnx_reader *reader, tn_span body, bool symbols, tn_onnx_info *out)
{
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(1, TN_WIRE_VARINT)) {
            if (wire.value == 27 || wire.value == 28) {
                out->refused = "6-bit floats";
            } else if (wire.value >= TN_DTYPE_COUNT) {
                return tn_fail(reader->diag, TN_INVALID_MODEL, "", "a value has data type %llu, which is none",
                               (unsigned long long)wire.value);
            } else {
                out->dtype = (tn_dtype)wire.value;
            }
        } else if (wire.key == TN_WIRE_KEY(2, TN_WIRE_BYTES)) {
            TN_TRY(read_shape(reader, wire.bytes, symbols, out));
        }
    }
    return wire.fault ? tn_onnx_malformed(reader, "", "TypeProto.Tensor", wire.at, wire.fault) : TN_OK;
}

// TypeProto.Sequence and TypeProto.Optional hold one TypeProto as field 1. A sequence of sequences is not understood.
static tn_status read_inner(tn_onnx_reader *reader, tn_span body, tn_kind kind, int depth, tn_onnx_info *out)
{
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(1, TN_WIRE_BYTES)) {
            TN_TRY(read_type(reader, wire.bytes, false, depth + 1, out));
        }
    }
    if (out->kind == TN_KIND_OPTIONAL || (kind == TN_KIND_SEQUENCE && out->kind != TN_KIND_TENSOR)) {
        out->refused = "types nested deeper than an optional sequence of tensors";
    }
    out->inner = out->kind;
    out->kind = kind;
    out->shape = tn_shape_unknown();
    return wire.fault ? tn_onnx_malformed(reader, "", "TypeProto", wire.at, wire.fault) : TN_OK;
}

// TypeProto   1 tensor_type   4 sequence_type   5 map_type   7 opaque_type   8 sparse_tensor_type   9 optional_type
static tn_status read_type(tn_onnx_reader *reader, tn_span body, bool symbols, int depth, tn_onnx_info *out)
{
    tn_wire wire = tn_wire_open(body);
    if (depth > 2) {
        out->refused = "types nested deeper than an optional sequence of tensors";
        return TN_OK;
    }
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(1, TN_WIRE_BYTES)) {
            TN_TRY(read_tensor_type(reader, wire.bytes, symbols, out));
        } else if (wire.key == TN_WIRE_KEY(4, TN_WIRE_BYTES)) {
            TN_TRY(read_inner(reader, wire.bytes, TN_KIND_SEQUENCE, depth, out));
        } else if (wire.key == TN_WIRE_KEY(9, TN_WIRE_BYTES)) {
            TN_TRY(read_inner(reader, wire.bytes, TN_KIND_OPTIONAL, depth, out));
        } else if (type_refusal(wire.key)) {
            out->refused = type_refusal(wire.key);
        }
    }
    return wire.fault ? tn_onnx_malformed(reader, "", "TypeProto", wire.at, wire.fault) : TN_OK;
}

tn_status tn_onnx_read_type(tn_onnx_reader *reader, tn_span body, tn_onnx_info *out)
{
    *out = (tn_onnx_info){.shape = tn_shape_unknown()};
    return read_type(reader, body, false, 0, out);
}

tn_status tn_onnx_read_info(tn_onnx_reader *reader, tn_span body, bool symbols, tn_onnx_info *out)
{
    *out = (tn_onnx_info){.shape = tn_shape_unknown()};
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(1, TN_WIRE_BYTES)) {
            out->name = wire.bytes;
        } else if (wire.key == TN_WIRE_KEY(2, TN_WIRE_BYTES)) {
            TN_TRY(read_type(reader, wire.bytes, symbols, 0, out));
        }
    }
    return wire.fault ? tn_onnx_malformed(reader, "", "ValueInfoProto", wire.at, wire.fault) : TN_OK;
}
