// SPDX-License-Identifier: Apache-2.0
// numpy's .npy files (NEP 1; versions 1 to 3). The header is a Python dict in text: it is searched for its three keys.
// Files are the user's, but nothing in them is believed: every length is compared with what is there.
#include "cli_tensor.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *text; tenon_dtype dtype; } types[] = {
    {"f4", TENON_FLOAT32}, {"f8", TENON_FLOAT64}, {"f2", TENON_FLOAT16}, {"u1", TENON_UINT8}, {"i1", TENON_INT8},
    {"u2", TENON_UINT16}, {"i2", TENON_INT16}, {"i4", TENON_INT32}, {"u4", TENON_UINT32}, {"i8", TENON_INT64},
    {"u8", TENON_UINT64}, {"b1", TENON_BOOL}, {"c8", TENON_COMPLEX64}, {"c16", TENON_COMPLEX128}};

// The text after "'key':" in the header, or NULL.
static const char *value_of(const char *header, const char *key)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at) {
        return NULL;
    }
    at += strlen(quoted);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static bool read_type(const char *text, tenon_dtype expected, tenon_dtype *dtype, bool *swapped)
{
    if (*text != '\'' && *text != '"') {
        return false;
    }
    text++;
    *swapped = *text == '>';
    text += strchr("<>|=", *text) && *text ? 1 : 0;
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].text) == length && strncmp(types[i].text, text, length) == 0) {
            *dtype = types[i].dtype;
            return true;
        }
    }
    // ml_dtypes' types are void to numpy: V1 and V2 are what the model expects, if it has that size.
    if (length == 2 && text[0] == 'V' && expected >= TENON_BFLOAT16 && tenon_dtype_bytes(expected) == (size_t)(text[1] - '0')) {
        *dtype = expected;
        return true;
    }
    return false;
}

static bool read_shape(const char *text, tn_cli_tensor *tensor)
{
    if (*text++ != '(') {
        return false;
    }
    for (tensor->rank = 0;; tensor->rank++) {
        text += strspn(text, " ,");
        if (*text == ')') {
            return true;
        }
        if (!isdigit((unsigned char)*text) || tensor->rank == 8) {
            return false;
        }
        char *end;
        tensor->dims[tensor->rank] = strtoll(text, &end, 10);
        text = end;
    }
}

// Column-major data to row-major: element (i0, i1, ...) lies at i0 + d0 * (i1 + d1 * (...)).
static void turn_round(tn_cli_tensor *tensor, const uint8_t *source, size_t size)
{
    const size_t count = tensor->bytes / size;
    int64_t index[8] = {0};
    for (size_t i = 0; i < count; i++) {
        size_t at = 0;
        for (int d = tensor->rank - 1; d >= 0; d--) {
            at = at * (size_t)tensor->dims[d] + (size_t)index[d];
        }
        memcpy((uint8_t *)tensor->data + i * size, source + at * size, size);
        for (int d = tensor->rank - 1; d >= 0 && ++index[d] == tensor->dims[d]; d--) {
            index[d] = 0;
        }
    }
}

static int read_body(tn_cli_tensor *tensor, const char *header, const uint8_t *body, size_t size, tenon_dtype expected, const char *name)
{
    const char *type = value_of(header, "descr"), *shape = value_of(header, "shape"), *order = value_of(header, "fortran_order");
    bool swapped = false;
    if (!type || !shape || !order || !read_shape(shape, tensor)) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: the .npy header is not understood", name);
    }
    if (!read_type(type, expected, &tensor->dtype, &swapped)) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: elements of type %.*s cannot be read", name, (int)strcspn(type, ",}"), type);
    }
    const size_t element = tenon_dtype_bytes(tensor->dtype);
    if (swapped && element > 1) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: big-endian data; save it with astype(a.dtype.newbyteorder('='))", name);
    }
    const int64_t count = tn_cli_elements(tensor->rank, tensor->dims);
    if (count < 0 || (uint64_t)count * element > size) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: the file ends before its data does", name);
    }
    tensor->bytes = (size_t)count * element;
    tensor->data = tn_cli_take(tensor->bytes, 1);
    if (strncmp(order, "True", 4) == 0 && tensor->rank > 1 && count) {
        turn_round(tensor, body, element);
    } else if (tensor->bytes) {
        memcpy(tensor->data, body, tensor->bytes);
    }
    return TN_EXIT_GOOD;
}

int tn_cli_npy_read(tn_cli_tensor *tensor, const uint8_t *file, size_t size, tenon_dtype expected, const char *name)
{
    *tensor = (tn_cli_tensor){0};
    if (size < 12 || memcmp(file, "\x93NUMPY", 6) != 0 || file[6] < 1 || file[6] > 3) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: not a .npy file", name);
    }
    const size_t head = file[6] == 1 ? 10 : 12;
    size_t length = (size_t)file[8] | (size_t)file[9] << 8;
    if (file[6] > 1) {
        length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    }
    if (length > size - head) {
        return tn_cli_fail(TN_EXIT_USAGE, "%s: the .npy header is cut off", name);
    }
    char *header = tn_cli_take(length + 1, 1);
    memcpy(header, file + head, length);
    const int code = read_body(tensor, header, file + head + length, size - head - length, expected, name);
    free(header);
    return code;
}

int tn_cli_npy_write(tn_cli_writer *writer, const tenon_tensor *tensor)
{
    const char *type = NULL;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        type = types[i].dtype == tensor->dtype ? types[i].text : type;
    }
    char text[512], shape[256] = "";
    const size_t element = tenon_dtype_bytes(tensor->dtype);
    for (int i = 0; i < tensor->rank; i++) {
        const size_t at = strlen(shape);
        snprintf(shape + at, sizeof shape - at, "%lld%s", (long long)tensor->dims[i],
                 i + 1 < tensor->rank ? ", " : tensor->rank == 1 ? "," : "");
    }
    char other[16];
    snprintf(other, sizeof other, "V%zu", element);
    const int used = snprintf(text, sizeof text, "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }",
                              type && element > 1 ? "<" : "|", type ? type : other, shape);
    // Magic, version, header length and header fill a multiple of 64 bytes; the header ends with a new line.
    const size_t total = (10 + (size_t)used + 1 + 63) / 64 * 64;
    uint8_t head[1024] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)((total - 10) & 255), (uint8_t)((total - 10) >> 8)};
    memset(head + 10, ' ', total - 10);
    memcpy(head + 10, text, (size_t)used);
    head[total - 1] = '\n';
    const int code = tn_cli_writer_add(writer, head, total);
    return code ? code : tn_cli_writer_add(writer, tensor->data, tensor->bytes);
}
