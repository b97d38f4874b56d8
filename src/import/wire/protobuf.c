// SPDX-License-Identifier: Apache-2.0
// The protobuf wire format: see protobuf.h. Each byte is looked at once per walk; a walk over a message skips the contents of its
// fields, so that nested messages cost nothing until they are opened.
// Ownership: views borrow the bytes. Threads: one per reader.
#include "import/wire/protobuf.h"

#include <string.h>

// Reads a base-128 number of at most 64 bits, least significant group first.
static bool read_varint(tn_wire *wire, uint64_t *out)
{
    uint64_t value = 0;
    const uint8_t *at = wire->at;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (at == wire->end) {
            wire->fault = "a number reaches past the end";
            return false;
        }
        const uint8_t byte = *at++;
        if (shift == 63 && byte > 1) {
            break;
        }
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            wire->at = at;
            *out = value;
            return true;
        }
    }
    wire->fault = "a number is longer than 64 bits";
    return false;
}

// A number of 4 or 8 bytes, least significant byte first, at any address.
static bool read_fixed(tn_wire *wire, size_t bytes)
{
    if ((size_t)(wire->end - wire->at) < bytes) {
        wire->fault = "a number reaches past the end";
        return false;
    }
    wire->value = 0;
    for (size_t i = bytes; i-- > 0;) {
        wire->value = wire->value << 8 | wire->at[i];
    }
    wire->at += bytes;
    return true;
}

// A field of its own length. The length is compared with what is left before it becomes an offset, so that no sum can overflow.
static bool read_bytes(tn_wire *wire)
{
    uint64_t size;
    if (!read_varint(wire, &size)) {
        return false;
    }
    if (size > (uint64_t)(wire->end - wire->at)) {
        wire->fault = "a field reaches past the end";
        return false;
    }
    wire->bytes = (tn_span){wire->at, (size_t)size};
    wire->at += size;
    return true;
}

// One field: key, then what the wire type says.
//
//   key = number << 3 | type        VARINT   [key][v 1..10 bytes]
//   (a varint itself)               FIXED64  [key][8 bytes]
//                                   BYTES    [key][size, a varint][size bytes]
//                                   FIXED32  [key][4 bytes]
bool tn_wire_next(tn_wire *wire)
{
    uint64_t key;
    if (wire->fault || wire->at == wire->end || !read_varint(wire, &key)) {
        return false;
    }
    if (key < 8 || key > UINT32_MAX) {
        wire->fault = "a field has a number that is not allowed";
        return false;
    }
    wire->key = (uint32_t)key;
    switch (key & 7) {
    case TN_WIRE_VARINT:
        return read_varint(wire, &wire->value);
    case TN_WIRE_FIXED64:
        return read_fixed(wire, 8);
    case TN_WIRE_BYTES:
        return read_bytes(wire);
    case TN_WIRE_FIXED32:
        return read_fixed(wire, 4);
    default:
        wire->fault = "a field has a wire type that is not allowed";
        return false;
    }
}

// A repeated scalar may be written as single fields, as packed runs, or as a mixture; a parser must take all of them. Two readers
// do it: one over the fields of the message, one over the run that is open.
tn_wire_each tn_wire_each_open(tn_span message, uint32_t number, int type)
{
    return (tn_wire_each){tn_wire_open(message), tn_wire_open((tn_span){NULL, 0}), number, type, NULL};
}

// The next element of a packed run.
static bool read_packed(tn_wire_each *each, uint64_t *value)
{
    tn_wire *pack = &each->pack;
    const bool good =
        each->type == TN_WIRE_VARINT ? read_varint(pack, &pack->value) : read_fixed(pack, each->type == TN_WIRE_FIXED64 ? 8 : 4);
    *value = pack->value;
    each->fault = pack->fault;
    return good;
}

bool tn_wire_each_next(tn_wire_each *each, uint64_t *value)
{
    if (each->fault) {
        return false;
    }
    if (each->pack.at != each->pack.end) {
        return read_packed(each, value);
    }
    while (tn_wire_next(&each->fields)) {
        if (each->fields.key == TN_WIRE_KEY(each->number, (uint32_t)each->type)) {
            *value = each->fields.value;
            return true;
        }
        if (each->fields.key == TN_WIRE_KEY(each->number, TN_WIRE_BYTES) && each->fields.bytes.size > 0) {
            each->pack = tn_wire_open(each->fields.bytes);
            return read_packed(each, value);
        }
    }
    each->fault = each->fields.fault;
    return false;
}

// Elements of a packed run. A varint ends at each byte without the high bit.
static size_t count_run(tn_span run, int type)
{
    if (type != TN_WIRE_VARINT) {
        const size_t bytes = type == TN_WIRE_FIXED64 ? 8 : 4;
        return run.size / bytes + (run.size % bytes != 0);
    }
    size_t count = 0;
    for (size_t i = 0; i < run.size; ++i) {
        count += run.data[i] < 128;
    }
    return count + (run.size > 0 && run.data[run.size - 1] >= 128);
}

// Counts without decoding: what is allocated afterwards is bounded by bytes that are there.
bool tn_wire_count(tn_span message, uint32_t number, int type, size_t *count, const char **fault)
{
    tn_wire wire = tn_wire_open(message);
    *count = 0;
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(number, (uint32_t)type)) {
            ++*count;
        } else if (wire.key == TN_WIRE_KEY(number, TN_WIRE_BYTES)) {
            *count += count_run(wire.bytes, type);
        }
    }
    *fault = wire.fault;
    return !wire.fault;
}

// Lists of floats mostly are one run, and a run of fixed numbers lies in the file as it lies in memory.
tn_span tn_wire_run(tn_span message, uint32_t number)
{
    tn_wire wire = tn_wire_open(message);
    tn_span run = {NULL, 0};
    while (tn_wire_next(&wire)) {
        if (wire.key >> 3 != number) {
            continue;
        }
        if (run.data || (wire.key & 7) != TN_WIRE_BYTES) {
            return (tn_span){NULL, 0};
        }
        run = wire.bytes;
    }
    return run;
}

bool tn_span_is(tn_span span, const char *text)
{
    return span.size == strlen(text) && (span.size == 0 || memcmp(span.data, text, span.size) == 0);
}

bool tn_span_equal(tn_span a, tn_span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
