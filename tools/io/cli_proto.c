// SPDX-License-Identifier: Apache-2.0
// ONNX TensorProto files (.pb), as the standard's own tests store inputs: a small reader of the protobuf wire format
// (protobuf.dev, "Encoding") that knows this one message. Every length is compared with what is left.
#include "cli_tensor.h"

#include <string.h>

typedef struct cursor {
    const uint8_t *at, *end;
    bool bad;
} cursor;

// Where values that are not in raw_data lie: the field that holds them, gathered.
typedef struct gathered {
    uint8_t *data;        // elements as the tensor keeps them
    size_t count, capacity, element;
    tenon_dtype dtype;
} gathered;

static uint64_t read_varint(cursor *c)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (c->at == c->end) {
            break;
        }
        const uint8_t byte = *c->at++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            return value;
        }
    }
    c->bad = true;
    return 0;
}

static cursor read_block(cursor *c)
{
    const uint64_t length = read_varint(c);
    if (c->bad || length > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        return (cursor){c->end, c->end, true};
    }
    const cursor inside = {c->at, c->at + length, false};
    c->at += length;
    return inside;
}

static void put(gathered *g, const void *value, size_t size)
{
    if (g->count == g->capacity) {
        g->capacity = g->capacity ? g->capacity * 2 : 64;
        g->data = tn_cli_grow(g->data, g->capacity, g->element);
    }
    uint8_t *slot = g->data + g->count++ * g->element;
    memset(slot, 0, g->element);
    memcpy(slot, value, size < g->element ? size : g->element);
}

// A whole number of int32_data, int64_data or uint64_data. Types narrower than the field keep its low bytes.
static void put_whole(gathered *g, uint64_t value)
{
    if (g->dtype == TENON_FLOAT16 || g->dtype == TENON_BFLOAT16 || tenon_dtype_bytes(g->dtype) < 8) {
        const uint32_t low = (uint32_t)value;
        put(g, &low, sizeof low);
    } else {
        put(g, &value, sizeof value);
    }
}

// Values of fixed width (float_data, double_data) or varints, packed or one by one.
static void read_values(cursor *c, unsigned wire, size_t fixed, gathered *g)
{
    cursor inside = {c->at, c->end, false};
    const bool packed = wire == 2;
    if (packed) {
        inside = read_block(c);
        c->bad |= inside.bad;
    }
    do {
        if (packed && inside.at == inside.end) {
            break;
        }
        if (!fixed) {
            put_whole(g, read_varint(&inside));
        } else if ((size_t)(inside.end - inside.at) >= fixed) {
            put(g, inside.at, fixed);
            inside.at += fixed;
        } else {
            inside.bad = true;
        }
    } while (packed && !inside.bad);
    c->bad |= inside.bad;
    if (!packed) {
        c->at = inside.at;
    }
}

static void read_dims(cursor *c, unsigned wire, tn_cli_tensor *tensor)
{
    cursor inside = {c->at, c->end, false};
    if (wire == 2) {
        inside = read_block(c);
        c->bad |= inside.bad;
    }
    while (!inside.bad && inside.at != inside.end && tensor->rank < 8) {
        tensor->dims[tensor->rank++] = (int64_t)read_varint(&inside);
        if (wire != 2) {
            c->at = inside.at;
            break;
        }
    }
    c->bad |= inside.bad || (wire == 2 && inside.at != inside.end);
}

static void skip(cursor *c, unsigned wire)
{
    const size_t fixed = wire == 1 ? 8 : wire == 5 ? 4 : 0;
    if (wire == 0) {
        read_varint(c);
    } else if (wire == 2) {
        read_block(c);
    } else if (fixed && (size_t)(c->end - c->at) >= fixed) {
        c->at += fixed;
    } else {
        c->bad = true;
    }
}

static unsigned bits_of(tenon_dtype dtype)
{
    switch (dtype) {
    case TENON_UINT4:
    case TENON_INT4:
    case TENON_FLOAT4_E2M1FN:
        return 4;
    case TENON_UINT2:
    case TENON_INT2:
        return 2;
    default:
        return 8 * (unsigned)tenon_dtype_bytes(dtype);
    }
}

// raw_data of 4- and 2-bit types is packed, lowest bits first; in memory each element takes a byte, sign-extended where signed.
static bool unpack(tn_cli_tensor *tensor, const uint8_t *raw, size_t size, size_t count)
{
    const unsigned bits = bits_of(tensor->dtype);
    if (bits >= 8) {
        if (size != tensor->bytes) {
            return false;
        }
        memcpy(tensor->data, raw, size);
        return true;
    }
    const size_t each = 8 / bits;
    if (size != (count + each - 1) / each) {
        return false;
    }
    const bool is_signed = tensor->dtype == TENON_INT4 || tensor->dtype == TENON_INT2;
    for (size_t i = 0; i < count; i++) {
        unsigned value = raw[i / each] >> (i % each * bits) & ((1u << bits) - 1);
        if (is_signed && value >> (bits - 1)) {
            value |= ~0u << bits;
        }
        ((uint8_t *)tensor->data)[i] = (uint8_t)value;
    }
    return true;
}

// First pass: dims, type and where the values are. Field numbers are those of onnx.proto, TensorProto.
static void read_fields(cursor c, tn_cli_tensor *tensor, cursor *raw, bool *external)
{
    while (c.at != c.end && !c.bad) {
        const uint64_t tag = read_varint(&c);
        const unsigned field = (unsigned)(tag >> 3), wire = tag & 7;
        if (field == 1 && (wire == 0 || wire == 2)) {
            read_dims(&c, wire, tensor);
        } else if (field == 2 && wire == 0) {
            tensor->dtype = (tenon_dtype)read_varint(&c);
        } else if (field == 9 && wire == 2) {
            *raw = read_block(&c);
            c.bad |= raw->bad;
        } else {
            *external |= field == 14 && wire == 0 && c.at != c.end && *c.at == 1;
            skip(&c, wire);
        }
    }
    raw->bad |= c.bad;
}

static bool gather_fields(cursor c, gathered *g)
{
    while (c.at != c.end && !c.bad) {
        const uint64_t tag = read_varint(&c);
        const unsigned field = (unsigned)(tag >> 3), wire = tag & 7;
        if (field == 4 && (wire == 5 || wire == 2)) {
            read_values(&c, wire, 4, g);
        } else if (field == 10 && (wire == 1 || wire == 2)) {
            read_values(&c, wire, 8, g);
        } else if ((field == 5 || field == 7 || field == 11) && (wire == 0 || wire == 2)) {
            read_values(&c, wire, 0, g);
        } else {
            skip(&c, wire);
        }
    }
    return !c.bad;
}

static int take_values(tn_cli_tensor *tensor, cursor file, cursor raw, size_t count, const char *name)
{
    if (raw.at) {
        tensor->data = tn_cli_take(tensor->bytes, 1);
        return unpack(tensor, raw.at, (size_t)(raw.end - raw.at), count)
                   ? TN_EXIT_GOOD : tn_cli_fail(TN_EXIT_USAGE, "%s: raw_data does not have the size of its shape", name);
    }
    // Complex numbers are pairs in their field: half an element at a time.
    const bool pairs = tensor->dtype == TENON_COMPLEX64 || tensor->dtype == TENON_COMPLEX128;
    const unsigned bits = bits_of(tensor->dtype);
    gathered g = {.element = bits < 8 ? 1 : tenon_dtype_bytes(tensor->dtype) / (pairs ? 2 : 1), .dtype = tensor->dtype};
    const bool read = gather_fields(file, &g);
    if (read && bits < 8) {
        tensor->data = tn_cli_take(tensor->bytes, 1);
        const bool fits = unpack(tensor, g.data, g.count, count);
        tn_cli_tensor rest = {.data = g.data};
        tn_cli_tensor_deinit(&rest);
        return fits ? TN_EXIT_GOOD : tn_cli_fail(TN_EXIT_USAGE, "%s: there are not as many values as the shape has", name);
    }
    tensor->data = g.data;
    if (!read || g.count * g.element != tensor->bytes) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: there are not as many values as the shape has", name);
    }
    return TN_EXIT_GOOD;
}

int tn_cli_proto_read(tn_cli_tensor *tensor, const uint8_t *file, size_t size, const char *name)
{
    *tensor = (tn_cli_tensor){0};
    cursor raw = {0};
    bool external = false;
    const cursor all = {file, file + size, false};
    read_fields(all, tensor, &raw, &external);
    if (raw.bad) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: not a correct TensorProto", name);
    }
    if (external || tensor->dtype == TENON_STRING || tenon_dtype_bytes(tensor->dtype) == 0) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: a TensorProto with %s cannot be read", name,
                           external ? "external data" : tensor->dtype == TENON_STRING ? "text" : "this data type");
    }
    const int64_t count = tn_cli_elements(tensor->rank, tensor->dims);
    if (count < 0 || (uint64_t)count > 64 * (uint64_t)size + 64) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: its shape is larger than the file", name);
    }
    tensor->bytes = (size_t)count * tenon_dtype_bytes(tensor->dtype);
    return take_values(tensor, all, raw, (size_t)count, name);
}
