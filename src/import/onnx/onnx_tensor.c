// SPDX-License-Identifier: Apache-2.0
// TensorProto as a constant. Contents that lie in the file as they lie in memory stay there (raw_data, external data, one packed
// run of floats); only numbers written as varints and 4- and 2-bit kinds are decoded. The declared shape is believed only after
// the bytes that are there were counted.
// Ownership and threads: see onnx_read.h.
#include "import/onnx/onnx_read.h"

#include "base/num.h"

#include <string.h>

enum { FLOAT_DATA = 4, INT32_DATA = 5, INT64_DATA = 7, DOUBLE_DATA = 10, UINT64_DATA = 11 }; // fields of TensorProto

// How a dtype is stored: the typed field, and bits per element in raw_data.
static const struct {
    uint8_t field, bits;
} storage[TN_DTYPE_COUNT] = {
    [TN_F32] = {FLOAT_DATA, 32},       [TN_U8] = {INT32_DATA, 8},         [TN_I8] = {INT32_DATA, 8},
    [TN_U16] = {INT32_DATA, 16},       [TN_I16] = {INT32_DATA, 16},       [TN_I32] = {INT32_DATA, 32},
    [TN_I64] = {INT64_DATA, 64},       [TN_BOOL] = {INT32_DATA, 8},       [TN_F16] = {INT32_DATA, 16},
    [TN_F64] = {DOUBLE_DATA, 64},      [TN_U32] = {UINT64_DATA, 32},      [TN_U64] = {UINT64_DATA, 64},
    [TN_C64] = {FLOAT_DATA, 64},       [TN_C128] = {DOUBLE_DATA, 128},    [TN_BF16] = {INT32_DATA, 16},
    [TN_F8E4M3FN] = {INT32_DATA, 8},   [TN_F8E4M3FNUZ] = {INT32_DATA, 8}, [TN_F8E5M2] = {INT32_DATA, 8},
    [TN_F8E5M2FNUZ] = {INT32_DATA, 8}, [TN_U4] = {INT32_DATA, 4},         [TN_I4] = {INT32_DATA, 4},
    [TN_F4E2M1] = {INT32_DATA, 4},     [TN_F8E8M0] = {INT32_DATA, 8},     [TN_U2] = {INT32_DATA, 2},
    [TN_I2] = {INT32_DATA, 2},
};

typedef struct source {
    tn_onnx_reader *reader;
    const char *place;
    tn_span body;     // TensorProto
    tn_span raw;      // data NULL: none
    tn_span location; // of external data
    uint64_t offset, length;
    bool external, has_length, segment;
    int64_t dtype;
    tn_dtype type;       // the same, checked
    size_t count, bytes; // elements, and bytes of them in memory
    size_t packed;       // bytes of them in the file
} source;

static tn_status invalid(const source *s, const char *what)
{
    return tn_fail(s->reader->diag, TN_INVALID_MODEL, s->place, "%s", what);
}

// ---- the head ----

// A decimal number of external_data.
static bool read_decimal(tn_span text, uint64_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < text.size; ++i) {
        if (text.data[i] < '0' || text.data[i] > '9' || __builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text.data[i] - '0'), &value)) {
            return false;
        }
    }
    *out = value;
    return text.size > 0;
}

// One StringStringEntryProto of external_data: location, offset or length.
static tn_status read_external(source *s, tn_span body)
{
    tn_span key = {NULL, 0}, value = {NULL, 0};
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(1, TN_WIRE_BYTES)) {
            key = wire.bytes;
        } else if (wire.key == TN_WIRE_KEY(2, TN_WIRE_BYTES)) {
            value = wire.bytes;
        }
    }
    if (wire.fault) {
        return tn_onnx_malformed(s->reader, s->place, "StringStringEntryProto", wire.at, wire.fault);
    }
    if (tn_span_is(key, "location")) {
        s->location = value;
    } else if (tn_span_is(key, "offset")) {
        return read_decimal(value, &s->offset) ? TN_OK : invalid(s, "the offset of external data is not a number");
    } else if (tn_span_is(key, "length")) {
        s->has_length = true;
        return read_decimal(value, &s->length) ? TN_OK : invalid(s, "the length of external data is not a number");
    }
    return TN_OK;
}

// TensorProto   1 dims*   2 data_type   3 segment   8 name   9 raw_data   13 external_data*   14 data_location
//               4 float_data*   5 int32_data*   7 int64_data*   10 double_data*   11 uint64_data*   6 string_data*
static tn_status read_head(source *s, tn_onnx_tensor *out)
{
    tn_wire wire = tn_wire_open(s->body);
    while (tn_wire_next(&wire)) {
        switch (wire.key) {
        case TN_WIRE_KEY(2, TN_WIRE_VARINT):
            s->dtype = (int64_t)wire.value;
            break;
        case TN_WIRE_KEY(3, TN_WIRE_BYTES):
            s->segment = true;
            break;
        case TN_WIRE_KEY(8, TN_WIRE_BYTES):
            out->name = wire.bytes;
            break;
        case TN_WIRE_KEY(9, TN_WIRE_BYTES):
            s->raw = wire.bytes;
            break;
        case TN_WIRE_KEY(13, TN_WIRE_BYTES):
            TN_TRY(read_external(s, wire.bytes));
            break;
        case TN_WIRE_KEY(14, TN_WIRE_VARINT):
            s->external = wire.value == 1;
            break;
        default:
            break;
        }
    }
    return wire.fault ? tn_onnx_malformed(s->reader, s->place, "TensorProto", wire.at, wire.fault) : TN_OK;
}

// dims: at most 8, none negative. What is more than that makes *out refused.
static tn_status read_shape(source *s, tn_onnx_tensor *out)
{
    tn_wire_each each = tn_wire_each_open(s->body, 1, TN_WIRE_VARINT);
    uint64_t dim;
    out->shape = (tn_shape){0, {0}};
    while (tn_wire_each_next(&each, &dim)) {
        if (out->shape.rank == TN_MAX_RANK) {
            out->refused = "a tensor has more than 8 dims";
            return TN_OK;
        }
        if (dim > INT64_MAX) {
            return invalid(s, "a tensor has a negative dim");
        }
        out->shape.dims[out->shape.rank++] = (int64_t)dim;
    }
    return each.fault ? tn_onnx_malformed(s->reader, s->place, "TensorProto", each.fields.at, each.fault) : TN_OK;
}

// The element type. Types that exist but are not understood make the tensor refused, others are the model's fault.
static tn_status check_type(source *s, tn_onnx_tensor *out)
{
    if (s->segment) {
        out->refused = "a tensor is split into segments";
    } else if (s->dtype == 27 || s->dtype == 28) {
        out->refused = "6-bit floats";
    } else if (s->dtype < 1 || s->dtype >= TN_DTYPE_COUNT) {
        return tn_fail(s->reader->diag, TN_INVALID_MODEL, s->place, "a tensor has data type %lld, which is none",
                       (long long)s->dtype);
    } else {
        s->type = out->dtype = (tn_dtype)s->dtype;
    }
    return TN_OK;
}

// Elements, bytes in memory and bytes in the file (4- and 2-bit kinds are packed there), all with checked arithmetic. Nothing has
// been allocated yet: the limit is told by name before memory is asked for.
static tn_status check_size(source *s, const tn_shape *shape)
{
    int64_t count;
    size_t bits;
    if (!tn_shape_count(shape, &count) || (uint64_t)count > SIZE_MAX ||
        !tn_mul_size((size_t)count, tn_dtype_bytes(s->type), &s->bytes) ||
        !tn_mul_size((size_t)count, storage[s->type].bits, &bits) || s->bytes > s->reader->options->limit_tensor_bytes) {
        char text[160];
        return tn_fail(s->reader->diag, TN_LIMIT, s->place, "a tensor of shape %s is larger than limit_tensor_bytes (%llu)",
                       tn_shape_print(shape, text, sizeof text), (unsigned long long)s->reader->options->limit_tensor_bytes);
    }
    s->count = (size_t)count;
    s->packed = bits / 8 + (bits % 8 != 0);
    return TN_OK;
}

// ---- external files ----

// Maps a file and remembers it by its path: many tensors share one file.
static tn_status open_file(const source *s, const char *path, size_t *index)
{
    tn_onnx_reader *reader = s->reader;
    tn_import *import = reader->out;
    if (import->n_files == reader->files_capacity) {
        const size_t more = reader->files_capacity ? reader->files_capacity * 2 : 4;
        tn_file *files = tn_take_zero(reader->heap, more, sizeof *files);
        if (!files) {
            return tn_fail_memory(reader->diag, s->place, more * sizeof *files);
        }
        if (import->n_files > 0) {
            memcpy(files, import->files, import->n_files * sizeof *files);
        }
        tn_give(reader->heap, import->files);
        import->files = files;
        reader->files_capacity = more;
    }
    TN_TRY(tn_file_open_below(&import->files[import->n_files], reader->options->folder, path, reader->diag));
    *index = import->n_files++;
    reader->bytes += import->files[*index].size;
    size_t *mark = tn_arena_copy(&reader->scratch, index, sizeof *index);
    return mark && tn_map_set(&reader->files, path, strlen(path), mark) ? TN_OK
                                                                        : tn_fail_memory(reader->diag, s->place, strlen(path));
}

// The bytes of the tensor in its external file.
static tn_status find_external(source *s)
{
    tn_onnx_reader *reader = s->reader;
    const char *path;
    if (s->location.size == 0) {
        return invalid(s, "external data has no location");
    }
    TN_TRY(tn_onnx_name(reader, &reader->scratch, s->location, "an external file", &path));
    if (!reader->options->folder) {
        return tn_fail(reader->diag, TN_INVALID_ARGUMENT, s->place,
                       "the weights are in the external file '%s': say in which folder (option folder)", path);
    }
    size_t index = 0;
    const size_t *known = tn_map_find(&reader->files, path, strlen(path));
    if (known) {
        index = *known;
    } else {
        TN_TRY(open_file(s, path, &index));
    }
    const tn_file *file = &reader->out->files[index];
    if (s->has_length && s->length != s->packed) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, s->place, "external data has %llu bytes, its shape needs %zu",
                       (unsigned long long)s->length, s->packed);
    }
    if (s->offset > file->size || s->packed > file->size - s->offset) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, s->place, "external data reaches past the end of '%s' (%zu bytes)", path,
                       file->size);
    }
    s->raw = (tn_span){file->data + (file->data ? s->offset : 0), s->packed};
    reader->out->external_bytes += s->packed;
    return TN_OK;
}

// ---- decoding ----

// 4- and 2-bit elements, the first in the low bits of its byte, become bytes; signed ones keep their sign.
static void unpack_bits(const uint8_t *from, uint8_t *to, size_t count, tn_dtype type)
{
    const unsigned bits = storage[type].bits;
    const unsigned per_byte = 8 / bits, mask = (1u << bits) - 1, top = 1u << (bits - 1);
    const bool sign = type == TN_I4 || type == TN_I2;
    for (size_t i = 0; i < count; ++i) {
        const unsigned v = from[i / per_byte] >> (i % per_byte * bits) & mask;
        to[i] = (uint8_t)(sign && (v & top) ? v | ~mask : v);
    }
}

// One byte for each element of a packed tensor.
static tn_status decode_packed(const source *s, const uint8_t *from, const void **data)
{
    void *to;
    TN_TRY(tn_onnx_take(s->reader, s->count, s->place, &to));
    unpack_bits(from, to, s->count, s->type);
    *data = to;
    return TN_OK;
}

// Bytes of a bool tensor that are neither 0 nor 1 would be undefined to read as bool: such a tensor is copied with 1 for them.
static tn_status clean_bools(const source *s, const void **data)
{
    const uint8_t *from = *data;
    size_t i = 0;
    while (i < s->count && from[i] <= 1) {
        ++i;
    }
    if (i == s->count) {
        return TN_OK;
    }
    void *to;
    TN_TRY(tn_onnx_take(s->reader, s->count, s->place, &to));
    for (i = 0; i < s->count; ++i) {
        ((uint8_t *)to)[i] = from[i] != 0;
    }
    *data = to;
    return TN_OK;
}

// raw_data and external data: in place, unless the elements have to be unpacked or cleaned.
static tn_status decode_raw(const source *s, const void **data)
{
    if (s->raw.size != s->packed) {
        return tn_fail(s->reader->diag, TN_INVALID_MODEL, s->place, "raw data has %zu bytes, its shape and type need %zu",
                       s->raw.size, s->packed);
    }
    if (s->packed == 0) {
        *data = s->body.data; // a tensor without elements: any address will do
        return TN_OK;
    }
    if (storage[s->type].bits < 8) {
        return decode_packed(s, s->raw.data, data);
    }
    *data = s->raw.data;
    return s->type == TN_BOOL ? clean_bools(s, data) : TN_OK;
}

// Writes entry i, which takes `size` bytes.
static void store_entry(void *to, size_t i, size_t size, uint64_t value)
{
    const uint8_t v8 = (uint8_t)value;
    const uint16_t v16 = (uint16_t)value;
    const uint32_t v32 = (uint32_t)value;
    const void *from = size == 1 ? (const void *)&v8 : size == 2 ? (const void *)&v16 : size == 4 ? (const void *)&v32 : &value;
    memcpy((char *)to + i * size, from, size);
}

// Entries of a typed field: one for each element, or two for complex kinds, or one for each byte of packed kinds.
static tn_status decode_typed(const source *s, const void **data)
{
    const uint32_t field = storage[s->type].field;
    const int wire = field == FLOAT_DATA ? TN_WIRE_FIXED32 : field == DOUBLE_DATA ? TN_WIRE_FIXED64 : TN_WIRE_VARINT;
    const bool packed = storage[s->type].bits < 8, complex = s->type == TN_C64 || s->type == TN_C128;
    const size_t entries = packed ? s->packed : complex ? s->count * 2 : s->count;
    const size_t size = packed ? 1 : tn_dtype_bytes(s->type) / (complex ? 2 : 1);
    size_t found;
    const char *fault;
    if (!tn_wire_count(s->body, field, wire, &found, &fault)) {
        return tn_onnx_malformed(s->reader, s->place, "TensorProto", s->body.data, fault);
    }
    if (found != entries) {
        return tn_fail(s->reader->diag, TN_INVALID_MODEL, s->place, "a tensor has %zu numbers, its shape and type need %zu", found,
                       entries);
    }
    const tn_span run = wire == TN_WIRE_VARINT ? (tn_span){NULL, 0} : tn_wire_run(s->body, field);
    if (run.size == entries * size) {
        *data = run.size ? run.data : s->body.data;
        return TN_OK;
    }
    void *to;
    TN_TRY(tn_onnx_take(s->reader, entries * size, s->place, &to));
    tn_wire_each each = tn_wire_each_open(s->body, field, wire);
    uint64_t value;
    for (size_t i = 0; i < entries && tn_wire_each_next(&each, &value); ++i) {
        store_entry(to, i, size, s->type == TN_BOOL ? value != 0 : value);
    }
    if (each.fault) {
        return tn_onnx_malformed(s->reader, s->place, "TensorProto", each.fields.at, each.fault);
    }
    *data = to;
    return packed ? decode_packed(s, to, data) : TN_OK;
}

// string_data: one entry for each element; cells of pointers to zero-terminated copies.
static tn_status decode_strings(const source *s, const void **data)
{
    void *room;
    size_t found = 0;
    TN_TRY(tn_onnx_take(s->reader, (s->count + 1) * sizeof(char *), s->place, &room));
    const char **cells = room;
    tn_wire wire = tn_wire_open(s->body);
    while (tn_wire_next(&wire)) {
        if (wire.key != TN_WIRE_KEY(6, TN_WIRE_BYTES)) {
            continue;
        }
        if (found < s->count) {
            TN_TRY(tn_onnx_take(s->reader, wire.bytes.size + 1, s->place, &room));
            if (wire.bytes.size) {
                memcpy(room, wire.bytes.data, wire.bytes.size);
            }
            cells[found] = room;
        }
        found++;
    }
    if (wire.fault) {
        return tn_onnx_malformed(s->reader, s->place, "TensorProto", wire.at, wire.fault);
    }
    if (found != s->count) {
        return tn_fail(s->reader->diag, TN_INVALID_MODEL, s->place, "a tensor has %zu strings, its shape needs %zu", found, s->count);
    }
    *data = cells;
    return TN_OK;
}

// Head, shape and type first; only then is any data looked for.
tn_status tn_onnx_read_tensor(tn_onnx_reader *reader, tn_span body, const char *place, tn_onnx_tensor *out)
{
    source s = {.reader = reader, .place = place, .body = body};
    *out = (tn_onnx_tensor){.shape = tn_shape_unknown()};
    TN_TRY(read_head(&s, out));
    TN_TRY(read_shape(&s, out));
    TN_TRY(check_type(&s, out));
    if (out->refused) {
        return TN_OK;
    }
    TN_TRY(check_size(&s, &out->shape));
    if (s.type == TN_STRING) {
        return s.external || s.raw.data ? invalid(&s, "strings can only be in string_data") : decode_strings(&s, &out->data);
    }
    if (s.external) {
        TN_TRY(find_external(&s));
    }
    return s.external || s.raw.data ? decode_raw(&s, &out->data) : decode_typed(&s, &out->data);
}

void tn_onnx_count_parameters(tn_onnx_reader *reader, const tn_shape *shape)
{
    int64_t count;
    uint64_t *sum = &reader->out->parameter_count;
    if (tn_shape_count(shape, &count) && __builtin_add_overflow(*sum, (uint64_t)count, sum)) {
        *sum = UINT64_MAX;
    }
}

tn_status tn_onnx_constant(tn_onnx_reader *reader, tn_graph *graph, const char *name, tn_dtype dtype, const tn_shape *shape,
                           const void *data, bool copy, tn_value **out)
{
    *out = tn_graph_constant(graph, name, dtype, shape, data, copy);
    return *out ? TN_OK : tn_fail_memory(reader->diag, name ? name : "", sizeof(tn_value));
}
