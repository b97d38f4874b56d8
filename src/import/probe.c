// SPDX-License-Identifier: Apache-2.0
// Tells which format bytes are, from their structure.
// Ownership: none. Threads: any.
#include "import/import.h"
#include "import/tenon/tenon_format.h"
#include "import/wire/protobuf.h"

#include <string.h>

// The fields of ModelProto with their wire types (onnx.proto).
static bool is_model_field(uint32_t key)
{
    switch (key) {
    case TN_WIRE_KEY(1, TN_WIRE_VARINT): // ir_version
    case TN_WIRE_KEY(2, TN_WIRE_BYTES):  // producer_name
    case TN_WIRE_KEY(3, TN_WIRE_BYTES):  // producer_version
    case TN_WIRE_KEY(4, TN_WIRE_BYTES):  // domain
    case TN_WIRE_KEY(5, TN_WIRE_VARINT): // model_version
    case TN_WIRE_KEY(6, TN_WIRE_BYTES):  // doc_string
    case TN_WIRE_KEY(7, TN_WIRE_BYTES):  // graph
    case TN_WIRE_KEY(8, TN_WIRE_BYTES):  // opset_import
    case TN_WIRE_KEY(14, TN_WIRE_BYTES): // metadata_props
    case TN_WIRE_KEY(20, TN_WIRE_BYTES): // training_info
    case TN_WIRE_KEY(25, TN_WIRE_BYTES): // functions
    case TN_WIRE_KEY(26, TN_WIRE_BYTES): // configuration
        return true;
    default:
        return false;
    }
}

// A file counts as ONNX when its first fields are those of a model and a version or a graph is among them; what comes after a cut
// or a broken field is for the reader to complain about, which can say where.
static bool is_onnx(const uint8_t *data, size_t size)
{
    tn_wire wire = tn_wire_open((tn_span){data, size});
    bool named = false;
    while (tn_wire_next(&wire)) {
        if (!is_model_field(wire.key)) {
            return named;
        }
        named = named || wire.key == TN_WIRE_KEY(1, TN_WIRE_VARINT) || wire.key == TN_WIRE_KEY(7, TN_WIRE_BYTES) ||
                wire.key == TN_WIRE_KEY(8, TN_WIRE_BYTES);
    }
    return named;
}

const char *tn_import_probe(const uint8_t *data, size_t size)
{
    if (data && size >= 8 && memcmp(data + 4, TN_TENON_IDENTIFIER, 3) == 0) {
        return "tenon";      // of any version: the reader says which it understands
    }
    return data && is_onnx(data, size) ? "onnx" : NULL;
}
