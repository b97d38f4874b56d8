// SPDX-License-Identifier: Apache-2.0
// AttributeProto, and how map functions ask for attributes by name. Lists are decoded when asked for.
// Ownership and threads: see onnx_map.h.
#include "import/onnx/onnx_read.h"

#include <string.h>

// ---- reading ----

// Field numbers of the lists, by which an attribute without a type is recognised too.
enum { FLOATS = 7, INTS = 8, STRINGS = 9 };

// What type an attribute has whose field `number` is there; files before IR version 2 do not say.
static int64_t type_of_field(uint32_t number)
{
    switch (number) {
    case 2:
        return TN_ONNX_FLOAT;
    case 3:
        return TN_ONNX_INT;
    case 4:
        return TN_ONNX_STRING;
    case 5:
        return TN_ONNX_TENSOR;
    case 6:
        return TN_ONNX_GRAPH;
    case FLOATS:
        return TN_ONNX_FLOATS;
    case INTS:
        return TN_ONNX_INTS;
    case STRINGS:
        return TN_ONNX_STRINGS;
    case 10:
        return TN_ONNX_TENSORS;
    case 11:
        return TN_ONNX_GRAPHS;
    case 14:
        return TN_ONNX_TYPE;
    case 22:
        return TN_ONNX_SPARSE;
    default:
        return 0;
    }
}

// An AttributeProto while its fields come by. Several values may be there; the type, known only at the end, says which one counts.
typedef struct reading {
    tn_onnx_attr *out;
    tn_span reference; // ref_attr_name
    tn_span blobs[23]; // by field number: string, tensor, graph, type, sparse tensor
    int64_t guess;
} reading;

// AttributeProto   1 name   2 f   3 i   4 s   5 t   6 g   7 floats*   8 ints*   9 strings*   14 tp   20 type   21 ref_attr_name
//                  22 sparse_tensor
static void read_field(reading *r, const tn_wire *wire)
{
    const uint32_t number = wire->key >> 3;
    switch (wire->key) {
    case TN_WIRE_KEY(1, TN_WIRE_BYTES):
        r->out->name = wire->bytes;
        break;
    case TN_WIRE_KEY(2, TN_WIRE_FIXED32):
        r->out->f = tn_wire_f32(wire->value);
        break;
    case TN_WIRE_KEY(3, TN_WIRE_VARINT):
        r->out->i = (int64_t)wire->value;
        break;
    case TN_WIRE_KEY(4, TN_WIRE_BYTES):
    case TN_WIRE_KEY(5, TN_WIRE_BYTES):
    case TN_WIRE_KEY(6, TN_WIRE_BYTES):
    case TN_WIRE_KEY(14, TN_WIRE_BYTES):
    case TN_WIRE_KEY(22, TN_WIRE_BYTES):
        r->blobs[number] = wire->bytes;
        break;
    case TN_WIRE_KEY(20, TN_WIRE_VARINT):
        r->out->type = (int64_t)wire->value;
        return;
    case TN_WIRE_KEY(21, TN_WIRE_BYTES):
        r->reference = wire->bytes;
        return;
    default:
        break;
    }
    const int64_t type = type_of_field(number);
    r->guess = type ? type : r->guess;
}

// The call's attribute of that name, or the function's default for it.
static const tn_onnx_attr *find_reference(const tn_onnx_scope *scope, tn_span name)
{
    for (size_t i = 0; scope->call && i < scope->call->n_attrs; ++i) {
        if (tn_span_equal(scope->call->attrs[i].name, name)) {
            scope->call->attrs[i].used = true;
            return &scope->call->attrs[i];
        }
    }
    for (size_t i = 0; i < scope->n_defaults; ++i) {
        if (tn_span_equal(scope->defaults[i].name, name)) {
            return &scope->defaults[i];
        }
    }
    return NULL;
}

// A reference takes the whole value of the call's attribute, under the name that the node inside the function has for it. When the
// call lacks it, and the function has no default, the attribute is not there: the operator's own default counts.
tn_status tn_onnx_read_attr(tn_onnx_scope *scope, tn_span body, const char *place, tn_onnx_attr *out, bool *found)
{
    tn_onnx_reader *reader = scope->reader;
    reading r = {.out = out};
    uint64_t fields = 0;
    *out = (tn_onnx_attr){.body = body};
    *found = true;
    tn_wire wire = tn_wire_open(body);
    while (tn_wire_next(&wire)) {
        read_field(&r, &wire);
        ++fields;
    }
    if (wire.fault) {
        return tn_onnx_malformed(reader, place, "AttributeProto", wire.at, wire.fault);
    }
    if (out->name.size == 0) {
        return tn_fail(reader->diag, TN_INVALID_MODEL, place, "an attribute has no name");
    }
    if (r.reference.size > 0) {
        const tn_onnx_attr *from = find_reference(scope, r.reference);
        const tn_span name = out->name;
        *found = from != NULL;
        if (from) {
            *out = *from;
            out->name = name;
            out->used = false;
        }
        return tn_onnx_spend(scope, fields * TN_ONNX_FIELD_WORK);
    }
    out->type = out->type ? out->type : r.guess;
    static const uint8_t blob_of_type[] = {
        [TN_ONNX_STRING] = 4, [TN_ONNX_TENSOR] = 5, [TN_ONNX_GRAPH] = 6, [TN_ONNX_SPARSE] = 22, [TN_ONNX_TYPE] = 14};
    if (out->type > 0 && (size_t)out->type < sizeof blob_of_type) {
        out->bytes = r.blobs[blob_of_type[out->type]];
    }
    return tn_onnx_spend(scope, fields * TN_ONNX_FIELD_WORK);
}

// ---- asking ----

const tn_onnx_attr *tn_onnx_find(tn_onnx_node *node, const char *name)
{
    for (size_t i = 0; i < node->n_attrs; ++i) {
        if (tn_span_is(node->attrs[i].name, name)) {
            node->attrs[i].used = true;
            return &node->attrs[i];
        }
    }
    return NULL;
}

// The attribute when it is there and of this type; another type is the model's fault.
static const tn_onnx_attr *find_typed(tn_onnx_node *node, const char *name, int64_t type, const char *what)
{
    const tn_onnx_attr *attr = tn_onnx_good(node) ? tn_onnx_find(node, name) : NULL;
    if (attr && attr->type != type) {
        tn_onnx_fail(node, TN_INVALID_MODEL, "attribute '%s' must be %s", name, what);
        return NULL;
    }
    return attr;
}

int64_t tn_onnx_int(tn_onnx_node *node, const char *name, int64_t fallback)
{
    const tn_onnx_attr *attr = find_typed(node, name, TN_ONNX_INT, "an integer");
    return attr ? attr->i : fallback;
}

double tn_onnx_real(tn_onnx_node *node, const char *name, float fallback)
{
    const tn_onnx_attr *attr = find_typed(node, name, TN_ONNX_FLOAT, "a float");
    return attr ? (double)attr->f : (double)fallback;
}

// Room in the graph's arena for the elements of a list, counted first. NULL: failed, or no elements.
static void *list_room(tn_onnx_node *node, const tn_onnx_attr *attr, uint32_t field, int type, size_t size, int32_t *count)
{
    size_t found;
    const char *fault;
    if (!tn_wire_count(attr->body, field, type, &found, &fault)) {
        node->status = tn_onnx_malformed(node->scope->reader, node->name, "AttributeProto", attr->body.data, fault);
        return NULL;
    }
    if (found > INT32_MAX) {
        tn_onnx_fail(node, TN_LIMIT, "an attribute has %zu elements", found);
        return NULL;
    }
    node->status = tn_onnx_spend(node->scope, found);
    void *room = node->status == TN_OK ? tn_arena_array(&node->graph->arena, found, size) : NULL;
    if (!room && node->status == TN_OK) {
        node->status = tn_fail_memory(node->scope->reader->diag, node->name, found * size);
    }
    *count = room ? (int32_t)found : 0;
    return room;
}

// A run of numbers cut in the middle shows only when it is read.
static void check_list(tn_onnx_node *node, const tn_wire_each *each)
{
    if (each->fault && node->status == TN_OK) {
        node->status = tn_onnx_malformed(node->scope->reader, node->name, "AttributeProto", each->fields.at, each->fault);
    }
}

// Counted, then decoded into the graph's arena, where attribute structs may point to it.
tn_ints tn_onnx_ints(tn_onnx_node *node, const char *name)
{
    tn_ints list = {NULL, 0, false};
    const tn_onnx_attr *attr = find_typed(node, name, TN_ONNX_INTS, "a list of integers");
    int64_t *v = attr ? list_room(node, attr, INTS, TN_WIRE_VARINT, sizeof *v, &list.count) : NULL;
    if (!v) {
        return list;
    }
    tn_wire_each each = tn_wire_each_open(attr->body, INTS, TN_WIRE_VARINT);
    uint64_t value;
    for (int32_t i = 0; i < list.count && tn_wire_each_next(&each, &value); ++i) {
        v[i] = (int64_t)value;
    }
    check_list(node, &each);
    list.v = v;
    list.set = true;
    return list;
}

tn_reals tn_onnx_reals(tn_onnx_node *node, const char *name)
{
    tn_reals list = {NULL, 0, false};
    const tn_onnx_attr *attr = find_typed(node, name, TN_ONNX_FLOATS, "a list of floats");
    float *v = attr ? list_room(node, attr, FLOATS, TN_WIRE_FIXED32, sizeof *v, &list.count) : NULL;
    if (!v) {
        return list;
    }
    tn_wire_each each = tn_wire_each_open(attr->body, FLOATS, TN_WIRE_FIXED32);
    uint64_t value;
    for (int32_t i = 0; i < list.count && tn_wire_each_next(&each, &value); ++i) {
        v[i] = tn_wire_f32(value);
    }
    check_list(node, &each);
    list.v = v;
    list.set = true;
    return list;
}

const char *tn_onnx_text(tn_onnx_node *node, const char *name)
{
    const tn_onnx_attr *attr = find_typed(node, name, TN_ONNX_STRING, "a string");
    if (!attr) {
        return NULL;
    }
    const char *text = tn_arena_text(&node->graph->arena, (const char *)attr->bytes.data, attr->bytes.size);
    if (!text) {
        node->status = tn_fail_memory(node->scope->reader->diag, node->name, attr->bytes.size);
    }
    return text;
}

// A string that is one of a list. An unknown one is refused, not wrong: newer opsets add choices.
int tn_onnx_choice(tn_onnx_node *node, const char *name, const char *const *texts, int fallback)
{
    const tn_onnx_attr *attr = find_typed(node, name, TN_ONNX_STRING, "a string");
    if (!attr) {
        return fallback;
    }
    for (int i = 0; texts[i]; ++i) {
        if (tn_span_is(attr->bytes, texts[i])) {
            return i;
        }
    }
    tn_onnx_refuse(node, "attribute '%s' is '%.*s'", name, (int)TN_MIN(attr->bytes.size, 60),
                   attr->bytes.size ? (const char *)attr->bytes.data : "");
    return fallback;
}

tn_span tn_onnx_string(tn_onnx_node *node, const char *name, size_t index, size_t *count)
{
    const tn_onnx_attr *attr = find_typed(node, name, TN_ONNX_STRINGS, "a list of strings");
    tn_span found = {NULL, 0};
    *count = 0;
    tn_wire wire = tn_wire_open(attr ? attr->body : found);
    while (tn_wire_next(&wire)) {
        if (wire.key == TN_WIRE_KEY(STRINGS, TN_WIRE_BYTES)) {
            if (*count == index) {
                found = wire.bytes;
            }
            ++*count;
        }
    }
    return found;
}

// ---- filling an attribute struct ----

// One field of an attribute struct, by the kind that its row says. at: the field's address.
static void fill_field(tn_onnx_node *node, const tn_onnx_field *field, void *at)
{
    int64_t number = field->number;
    if (field->texts) {
        number = tn_onnx_choice(node, field->name, field->texts, (int)field->number);
    } else if (field->kind == TN_ATTR_INT || field->kind == TN_ATTR_BOOL || field->kind == TN_ATTR_DTYPE) {
        number = tn_onnx_int(node, field->name, field->number);
    }
    switch (field->kind) {
    case TN_ATTR_INT:
        *(int64_t *)at = number;
        break;
    case TN_ATTR_BOOL:
        *(bool *)at = number != 0;
        break;
    case TN_ATTR_ENUM:
        *(int *)at = (int)number;
        break;
    case TN_ATTR_DTYPE:
        if (number < 0 || number >= TN_DTYPE_COUNT) {
            tn_onnx_refuse(node, "attribute '%s' names data type %lld", field->name, (long long)number);
        } else {
            *(tn_dtype *)at = (tn_dtype)number;
        }
        break;
    case TN_ATTR_REAL:
        *(double *)at = tn_onnx_real(node, field->name, field->real);
        break;
    case TN_ATTR_INTS:
        *(tn_ints *)at = tn_onnx_ints(node, field->name);
        break;
    case TN_ATTR_REALS:
        *(tn_reals *)at = tn_onnx_reals(node, field->name);
        break;
    case TN_ATTR_TEXT:
        *(const char **)at = tn_onnx_text(node, field->name);
        break;
    default:
        break;
    }
}

// The struct begins as the descriptor's defaults; then each row's field is written, given or not, so that the defaults of the ONNX
// document count even where ours are others.
void tn_onnx_fill(tn_onnx_node *node, const tn_op *op, const tn_onnx_field *fields, size_t n_fields, void *room)
{
    if (op->defaults) {
        memcpy(room, op->defaults, op->attr_size);
    } else {
        memset(room, 0, op->attr_size);
    }
    for (size_t i = 0; i < n_fields && tn_onnx_good(node); ++i) {
        const tn_onnx_field *field = &fields[i];
        const bool given = tn_onnx_find(node, field->name) != NULL;
        if (field->required && !given) {
            tn_onnx_fail(node, TN_INVALID_MODEL, "attribute '%s' is missing", field->name);
        } else if (field->kind != TN_ONNX_SKIP) {
            fill_field(node, field, (char *)room + field->offset);
            if (field->given > 0) {
                ((bool *)room)[field->given - 1] = given;
            }
        }
    }
}
