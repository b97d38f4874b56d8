// SPDX-License-Identifier: Apache-2.0
// The protobuf wire format (protobuf.dev, "Encoding"): a message is a row of fields, each a key (number and wire type) and a
// value. The reader hands out views into the caller's bytes, copies nothing, allocates nothing and never recurses; every length is
// compared with what is left. Field numbers and their meaning are the caller's. Groups (wire types 3 and 4) are refused.
// Ownership: views borrow the bytes. Threads: one per reader.
#ifndef TN_PROTOBUF_H
#define TN_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tn_span {
    const uint8_t *data; // NULL only when nothing was given
    size_t size;
} tn_span;

enum { TN_WIRE_VARINT = 0, TN_WIRE_FIXED64 = 1, TN_WIRE_BYTES = 2, TN_WIRE_FIXED32 = 5 };

// What `switch (wire.key)` compares with: a field of this number and this wire type. A known number with another wire type is an
// unknown field, as in other protobuf readers.
#define TN_WIRE_KEY(number, type) ((uint32_t)(number) << 3 | (type))

typedef struct tn_wire {
    const uint8_t *at, *end;
    const char *fault; // what is malformed at `at`; NULL while nothing is
    uint32_t key;      // the field just read ...
    uint64_t value;    // ... its number when it is a varint or fixed
    tn_span bytes;     // ... its contents when it is of wire type BYTES
} tn_wire;

static inline tn_wire tn_wire_open(tn_span message)
{
    return (tn_wire){message.data, message.data ? message.data + message.size : NULL, NULL, 0, 0, {NULL, 0}};
}

// Reads the next field. false: the end of the message, or a fault.
bool tn_wire_next(tn_wire *wire);

// The elements of a repeated scalar field of a message, in order, whether packed or not (a parser must take both).
typedef struct tn_wire_each {
    tn_wire fields, pack;
    uint32_t number;
    int type; // VARINT, FIXED32 or FIXED64
    const char *fault;
} tn_wire_each;

tn_wire_each tn_wire_each_open(tn_span message, uint32_t number, int type);
bool tn_wire_each_next(tn_wire_each *each, uint64_t *value); // false: no more, or a fault

// Counts those elements; false: a fault (*fault says which). The count never exceeds the size of the message.
bool tn_wire_count(tn_span message, uint32_t number, int type, size_t *count, const char **fault);

// When a repeated fixed field was written as exactly one packed run, that run as it lies in the bytes; else an empty span.
tn_span tn_wire_run(tn_span message, uint32_t number);

bool tn_span_is(tn_span span, const char *text);
bool tn_span_equal(tn_span a, tn_span b);

static inline float tn_wire_f32(uint64_t value)
{
    union {
        uint32_t bits;
        float real;
    } both = {(uint32_t)value};
    return both.real;
}

#endif
