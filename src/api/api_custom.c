// SPDX-License-Identifier: Apache-2.0
// ext.h: operators of the application. Each becomes a descriptor and a kernel row like those of ops/, only in the heap, and a row of an
// importer table; planning and running know no difference.
// Ownership: a registry owns its operators and is kept by its handle and by each model. Threads: as ext.h says.
#include "api/custom.h"

#include "import/onnx/onnx_map.h"
#include "ops/objects.h"
#include "tenon/ext.h"

#include <stdio.h>
#include <string.h>

// One version of an operator.
typedef struct custom {
    tn_op op;                     // first: the descriptor's address leads back here
    tn_kernel row;
    tenon_custom_op given;        // with copies of all texts and lists
    struct custom *next;          // of the registry
} custom;

// All versions of one name: what the importer looks through.
typedef struct custom_type {
    tn_onnx_table table;
    tn_onnx_row *rows;            // newest version first; ends with a row without type
    size_t count, capacity;
    struct custom_type *next;
} custom_type;

struct tenon_registry {
    tn_heap heap;
    atomic_uint references;
    atomic_bool used;             // a model was opened with it
    tn_arena arena;
    custom *customs;
    custom_type *types;
    size_t n_types;
    const tn_onnx_table **tables; // for the importer; ends with NULL
};

// What stands behind tenon_call.inner: one of the two kinds of call.
struct tenon_call_inner {
    const custom *custom;
    const void *attr;
    const char *name;
    tn_diag *diag;
    const tn_call *call;          // NULL: shape
    tenon_call *outer;
};

// ---- life ----

static void run_destroy(const tenon_custom_op *op)
{
    if (op->destroy) {
        op->destroy(op->user);
    }
}

void tn_registry_drop(tenon_registry *registry)
{
    if (!registry || atomic_fetch_sub(&registry->references, 1) != 1) {
        return;
    }
    for (const custom *c = registry->customs; c; c = c->next) {
        run_destroy(&c->given);
    }
    tn_arena_deinit(&registry->arena);
    tn_heap heap;
    tn_heap_init(&heap, registry->heap.take, registry->heap.give, registry->heap.context);
    tn_give(&heap, registry);
}

void tn_registry_hold(tenon_registry *registry)
{
    atomic_store(&registry->used, true);
    atomic_fetch_add(&registry->references, 1);
}

const tn_onnx_table *const *tn_registry_tables(const tenon_registry *registry) { return registry->tables; }

void tenon_registry_destroy(tenon_registry *registry) { tn_registry_drop(registry); }

tenon_status tenon_registry_create(tenon_registry **out, const tenon_allocator *allocator, tenon_error **error)
{
    const tenon_allocator a = allocator ? *allocator : (tenon_allocator){0};
    tn_heap heap;
    if (!out) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_registry_create", "registry must not be NULL");
    }
    *out = NULL;
    if (!a.take != !a.give) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "allocator", "take and give must both be set, or neither");
    }
    tn_heap_init(&heap, a.take, a.give, a.context);
    tenon_registry *registry = tn_take_zero(&heap, 1, sizeof *registry);
    if (!registry) {
        return tn_api_refuse(error, TN_OUT_OF_MEMORY, "registry", "no memory for a registry");
    }
    tn_heap_init(&registry->heap, a.take, a.give, a.context);
    tn_arena_init(&registry->arena, &registry->heap);
    atomic_init(&registry->references, 1);
    atomic_init(&registry->used, false);
    *out = registry;
    return TENON_OK;
}

// ---- calls ----

static void lend_fact(const tn_fact *fact, tenon_tensor *to)
{
    *to = (tenon_tensor){.dtype = fact ? (tenon_dtype)fact->dtype : TENON_NONE, .rank = fact ? fact->shape.rank : 0};
    for (int d = 0; d < to->rank; d++) {
        to->dims[d] = tn_dim_known(fact->shape.dims[d]) ? fact->shape.dims[d] : -1;
    }
    if (fact && fact->value && fact->value->data) {
        to->data = fact->value->data;
        (void)tn_tensor_bytes(fact->value, &to->bytes);
    }
}

static void lend_tensor(const tn_tensor *tensor, tenon_tensor *to)
{
    *to = (tenon_tensor){0};
    if (tensor) {
        to->dtype = (tenon_dtype)tensor->dtype;
        to->rank = tensor->shape.rank;
        memcpy(to->dims, tensor->shape.dims, sizeof to->dims);
        to->data = tensor->data;
        (void)tn_tensor_bytes(tensor, &to->bytes);
    }
}

// A failure that the callback did not explain is explained by its status.
static tn_status finish(const tenon_call_inner *inner, tenon_status status)
{
    if (status == TENON_OK) {
        return TN_OK;
    }
    const tn_status code = status > TENON_OK && status <= TENON_INTERNAL ? (tn_status)status : TN_INTERNAL;
    if (inner->diag && inner->diag->status != TN_OK) {
        return inner->diag->status;
    }
    return tn_fail(inner->diag, code, inner->name, "custom operator %s: %s", inner->custom->op.name, tn_status_text(code));
}

// An answer of shape as a fact.
static tn_status take_answer(const tn_infer *infer, int i, const tenon_tensor *answer)
{
    tn_shape shape = tn_shape_unknown();
    if (answer->dtype <= TENON_NONE || (int)answer->dtype >= TN_DTYPE_COUNT || answer->rank < -1 || answer->rank > TN_MAX_RANK) {
        return tn_fail(infer->diag, TN_INVALID_ARGUMENT, infer->name, "custom operator %s: shape gave output %d dtype %d and rank %d",
                       infer->op->name, i, (int)answer->dtype, answer->rank);
    }
    if (answer->rank >= 0) {
        shape = (tn_shape){.rank = answer->rank};
    }
    for (int d = 0; d < answer->rank; d++) {
        if (answer->dims[d] < -1) {
            return tn_fail(infer->diag, TN_INVALID_ARGUMENT, infer->name, "custom operator %s: shape gave output %d the dim %lld",
                           infer->op->name, i, (long long)answer->dims[d]);
        }
        shape.dims[d] = answer->dims[d] < 0 ? TN_DIM_UNKNOWN : answer->dims[d];
    }
    infer->out[i].kind = TN_KIND_TENSOR;
    infer->out[i].dtype = (tn_dtype)answer->dtype;
    infer->out[i].shape = shape;
    return TN_OK;
}

static tn_status infer_custom(tn_infer *infer)
{
    const custom *c = (const custom *)(const void *)infer->op;
    tenon_tensor in[TENON_CUSTOM_MAX_VALUES], out[TENON_CUSTOM_MAX_VALUES];
    for (int i = 0; i < infer->n_in; i++) {
        if (infer->in[i] && infer->in[i]->kind != TN_KIND_TENSOR) {
            return tn_fail(infer->diag, TN_UNSUPPORTED, infer->name, "custom operator %s: input %d is no tensor", infer->op->name, i);
        }
        lend_fact(infer->in[i], &in[i]);
    }
    if (infer->n_in > 0 && infer->in[0] && infer->in[0]->dtype == TN_NONE) {
        return TN_OK;   // asked again when the type is known
    }
    for (int i = 0; i < infer->n_out; i++) {
        lend_fact(infer->n_in > 0 ? infer->in[0] : NULL, &out[i]);
        out[i].data = NULL;
        out[i].bytes = 0;
    }
    if (c->given.shape) {
        tenon_call call = {.struct_size = sizeof call, .node = infer->name, .user = c->given.user, .input_count = (size_t)infer->n_in,
                           .output_count = (size_t)infer->n_out, .inputs = in, .outputs = out};
        tenon_call_inner inner = {.custom = c, .attr = infer->attr, .name = infer->name, .diag = infer->diag, .outer = &call};
        call.inner = &inner;
        TN_TRY(finish(&inner, c->given.shape(&call)));
    }
    for (int i = 0; i < infer->n_out; i++) {
        TN_TRY(take_answer(infer, i, &out[i]));
    }
    return TN_OK;
}

static tn_status run_custom(const tn_call *run)
{
    const custom *c = (const custom *)(const void *)run->op;
    tenon_tensor in[TENON_CUSTOM_MAX_VALUES], out[TENON_CUSTOM_MAX_VALUES];
    tenon_call call = {.struct_size = sizeof call, .node = run->name, .user = c->given.user, .input_count = (size_t)run->n_in,
                       .output_count = (size_t)run->n_out, .inputs = in, .outputs = out};
    tenon_call_inner inner = {.custom = c, .attr = run->attr, .name = run->name, .diag = run->diag, .call = run, .outer = &call};
    call.inner = &inner;
    for (int i = 0; i < run->n_in; i++) {
        lend_tensor(run->in[i], &in[i]);
    }
    for (int i = 0; i < run->n_out; i++) {
        lend_tensor(run->out[i], &out[i]);
    }
    TN_TRY(finish(&inner, c->given.run(&call)));
    for (int i = 0; i < run->n_out; i++) {
        if (run->out[i] && !run->out[i]->data && out[i].bytes > 0) {
            return tn_fail(run->diag, TN_INVALID_ARGUMENT, run->name, "custom operator %s: output %d was given no shape", run->op->name, i);
        }
    }
    return TN_OK;
}

static const void *find_attr(const tenon_call *call, const char *name, tn_attr_kind kind, const tenon_attribute **row)
{
    const custom *c = call->inner->custom;
    for (int i = 0; i < c->op.n_attrs; i++) {
        if (c->op.attrs[i].kind == kind && strcmp(c->op.attrs[i].name, name) == 0) {
            *row = &c->given.attributes[i];
            return (const char *)call->inner->attr + c->op.attrs[i].offset;
        }
    }
    return NULL;
}

int64_t tenon_call_int(const tenon_call *call, const char *name)
{
    const tenon_attribute *row;
    const int64_t *at = find_attr(call, name, TN_ATTR_INT, &row);
    return at ? *at : 0;
}

double tenon_call_real(const tenon_call *call, const char *name)
{
    const tenon_attribute *row;
    const double *at = find_attr(call, name, TN_ATTR_REAL, &row);
    return at ? *at : 0;
}

const char *tenon_call_text(const tenon_call *call, const char *name)
{
    const tenon_attribute *row;
    const char *const *at = find_attr(call, name, TN_ATTR_TEXT, &row);
    return at && *at ? *at : at ? row->default_text : NULL;
}

const int64_t *tenon_call_ints(const tenon_call *call, const char *name, size_t *count)
{
    const tenon_attribute *row;
    const tn_ints *at = find_attr(call, name, TN_ATTR_INTS, &row);
    *count = at && at->set ? (size_t)at->count : 0;
    return *count ? at->v : NULL;
}

const float *tenon_call_reals(const tenon_call *call, const char *name, size_t *count)
{
    const tenon_attribute *row;
    const tn_reals *at = find_attr(call, name, TN_ATTR_REALS, &row);
    *count = at && at->set ? (size_t)at->count : 0;
    return *count ? at->v : NULL;
}

tenon_status tenon_call_fail(const tenon_call *call, tenon_status status, const char *message)
{
    if (status <= TENON_OK || status > TENON_INTERNAL) {
        status = TENON_INTERNAL;
    }
    return (tenon_status)tn_fail(call->inner->diag, (tn_status)status, call->node, "custom operator %s: %s", call->inner->custom->op.name,
                                 message ? message : tenon_status_text(status));
}

tenon_status tenon_call_resize(const tenon_call *call, size_t index, int rank, const int64_t *dims)
{
    const tn_call *run = call->inner->call;
    if (!run || !run->resize || index >= call->output_count || rank < 0 || rank > TN_MAX_RANK || (rank && !dims)) {
        return tenon_call_fail(call, TENON_INVALID_ARGUMENT, "tenon_call_resize: no such output, a rank above 8, or the operator is not dynamic");
    }
    for (int d = 0; d < rank; d++) {
        if (dims[d] < 0) {
            return tenon_call_fail(call, TENON_INVALID_ARGUMENT, "tenon_call_resize: a dim is negative");
        }
    }
    if (!run->out[index]) {
        return TENON_OK;
    }
    const tn_shape shape = tn_shape_of(rank, dims);
    const tn_status status = run->resize(run, (int)index, &shape);
    if (status == TN_OK) {
        lend_tensor(run->out[index], &call->inner->outer->outputs[index]);
    }
    return (tenon_status)status;
}

const char *tenon_call_copy_text(const tenon_call *call, const char *text, size_t length)
{
    const char *copy = NULL;
    return call->inner->call && tn_object_text(call->inner->call, text, length, &copy) == TN_OK ? copy : NULL;
}

// ---- registering ----

// Arity, names and attributes that make sense.
static tn_status check(const tenon_custom_op *op, tn_diag *diag)
{
    if (!op->name || !op->name[0] || strlen(op->name) > 128 || (op->domain && strlen(op->domain) > 128)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, "name", "an operator needs a name; names and domains have at most 128 characters");
    }
    if (!op->run) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, op->name, "run must not be NULL");
    }
    if (op->min_inputs > op->max_inputs || op->max_inputs > TENON_CUSTOM_MAX_VALUES || op->min_outputs > op->max_outputs ||
        op->max_outputs > TENON_CUSTOM_MAX_VALUES || op->max_outputs < 1) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, op->name, "%zu to %zu inputs and %zu to %zu outputs are no arity (at most %d of each)",
                       op->min_inputs, op->max_inputs, op->min_outputs, op->max_outputs, TENON_CUSTOM_MAX_VALUES);
    }
    if (!op->shape && op->min_inputs < 1) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, op->name, "an operator that may have no input needs a shape function");
    }
    if (op->since_version < 0 || op->since_version > 255) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, op->name, "since_version is %d, expected 0 to 255", op->since_version);
    }
    if (op->attribute_count > TENON_CUSTOM_MAX_ATTRIBUTES || (op->attribute_count && !op->attributes)) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, op->name, "%zu attributes, at most %d", op->attribute_count, TENON_CUSTOM_MAX_ATTRIBUTES);
    }
    for (size_t i = 0; i < op->attribute_count; i++) {
        const tenon_attribute *a = &op->attributes[i];
        if (!a->name || a->kind < TENON_ATTRIBUTE_INT || a->kind > TENON_ATTRIBUTE_REALS) {
            return tn_fail(diag, TN_INVALID_ARGUMENT, op->name, "attribute %zu has no name, or a kind that is none", i);
        }
    }
    return TN_OK;
}

static char *copy_text(tn_arena *arena, const char *text) { return tn_arena_text(arena, text, strlen(text)); }

static const tn_attr_kind kinds[] = {TN_ATTR_INT, TN_ATTR_REAL, TN_ATTR_TEXT, TN_ATTR_INTS, TN_ATTR_REALS};   // by tenon_attribute_kind
enum { FIELD = 24 };   // room for any of the five in an attribute struct
_Static_assert(sizeof(tn_ints) <= FIELD && sizeof(tn_reals) <= FIELD, "room of a field");

// The attribute struct is laid out here: one field after another.
static bool make_attributes(tn_arena *arena, custom *c, tn_onnx_row *row)
{
    const size_t count = c->given.attribute_count;
    tenon_attribute *copies = tn_arena_array(arena, count + 1, sizeof *copies);
    tn_attr *attrs = tn_arena_array(arena, count + 1, sizeof *attrs);
    tn_onnx_field *fields = tn_arena_array(arena, count + 1, sizeof *fields);
    bool good = copies && attrs && fields;
    for (size_t i = 0; i < count && good; i++) {
        const tenon_attribute *a = &c->given.attributes[i];
        copies[i] = *a;
        copies[i].name = copy_text(arena, a->name);
        copies[i].default_text = a->default_text ? copy_text(arena, a->default_text) : NULL;
        good = copies[i].name && (copies[i].default_text || !a->default_text);
        attrs[i] = (tn_attr){copies[i].name, kinds[a->kind], i * FIELD, NULL};
        fields[i] = (tn_onnx_field){.name = copies[i].name, .kind = (int)kinds[a->kind], .offset = (uint16_t)(i * FIELD),
                                    .required = a->required != 0, .number = a->default_int, .real = (float)a->default_real};
    }
    c->given.attributes = copies;
    c->op.attrs = attrs;
    c->op.n_attrs = (int)count;
    c->op.attr_size = count * FIELD;
    row->fields = fields;
    row->n_fields = count;
    return good;
}

static bool make_descriptor(tn_arena *arena, custom *c, tn_onnx_row *row)
{
    const tenon_custom_op *given = &c->given;
    const char *domain = given->domain ? given->domain : "";
    const char *name = tn_arena_print(arena, "%s%s%s", domain, domain[0] ? ":" : "", given->name);
    c->op = (tn_op){.name = name, .version = (uint16_t)TN_MAX(given->since_version, 1),
                    .flags = (uint16_t)((given->flags & TENON_CUSTOM_DYNAMIC ? TN_OP_DYNAMIC : 0) |
                                        (given->flags & TENON_CUSTOM_IMPURE ? TN_OP_RANDOM : 0)),
                    .min_in = (int8_t)given->min_inputs, .max_in = (int8_t)given->max_inputs, .min_out = (int8_t)given->min_outputs,
                    .max_out = (int8_t)given->max_outputs, .infer = infer_custom, .shape_operands = given->shape_inputs, .row = &c->row};
    c->row = (tn_kernel){.name = name, .op = &c->op, .impl = TN_IMPL_REFERENCE, .tag = "custom", .version = 1, .aligned_constants = true,
                         .run = run_custom};
    c->given.name = copy_text(arena, given->name);
    c->given.domain = copy_text(arena, domain);
    *row = (tn_onnx_row){.type = c->given.name, .since = (uint8_t)c->op.version, .max_in = (uint8_t)given->max_inputs, .op = &c->op};
    return make_attributes(arena, c, row) && name && c->given.name && c->given.domain;
}

// The versions of the operator's name; made when it is the first.
static custom_type *type_of(tenon_registry *registry, const custom *c)
{
    for (custom_type *type = registry->types; type; type = type->next) {
        if (strcmp(type->table.domain, c->given.domain) == 0 && strcmp(type->rows[0].type, c->given.name) == 0) {
            return type;
        }
    }
    custom_type *type = tn_arena_take(&registry->arena, sizeof *type);
    const tn_onnx_table **tables = tn_arena_array(&registry->arena, registry->n_types + 2, sizeof *tables);
    if (!type || !tables) {
        return NULL;
    }
    type->table.domain = c->given.domain;
    type->next = registry->types;
    tables[0] = &type->table;
    for (size_t i = 0; i < registry->n_types; i++) {
        tables[i + 1] = registry->tables[i];
    }
    registry->types = type;
    registry->tables = tables;
    registry->n_types++;
    return type;
}

// Newest first, so that the first row whose version the model's opset reaches is the right one.
static tn_status insert_row(tenon_registry *registry, custom_type *type, const tn_onnx_row *row, tn_diag *diag)
{
    tn_onnx_row *rows = tn_arena_array(&registry->arena, type->count + 2, sizeof *rows);
    size_t at = 0;
    while (at < type->count && type->rows[at].since > row->since) {
        at++;
    }
    if (at < type->count && type->rows[at].since == row->since) {
        return tn_fail(diag, TN_INVALID_ARGUMENT, row->type, "version %d of this operator is registered already", row->since);
    }
    if (!rows) {
        return tn_fail_memory(diag, row->type, (type->count + 2) * sizeof *rows);
    }
    for (size_t i = 0; i < type->count; i++) {
        rows[i + (i >= at)] = type->rows[i];
    }
    rows[at] = *row;
    type->rows = rows;
    type->table.rows = rows;
    type->count++;
    return TN_OK;
}

static tn_status add(tenon_registry *registry, const tenon_custom_op *op, tn_diag *diag)
{
    tn_onnx_row row;
    TN_TRY(check(op, diag));
    custom *c = tn_arena_take(&registry->arena, sizeof *c);
    if (c) {
        c->given = *op;
    }
    if (!c || !make_descriptor(&registry->arena, c, &row)) {
        return tn_fail_memory(diag, op->name, sizeof *c);
    }
    custom_type *type = type_of(registry, c);
    if (!type) {
        return tn_fail_memory(diag, op->name, sizeof *type);
    }
    const bool fresh = !type->rows;
    const tn_status status = insert_row(registry, type, &row, diag);
    if (status != TN_OK && fresh) {   // a name without versions is none
        registry->types = type->next;
        registry->tables++;
        registry->n_types--;
    }
    TN_TRY(status);
    c->next = registry->customs;
    registry->customs = c;
    return TN_OK;
}

tenon_status tenon_registry_add(tenon_registry *registry, const tenon_custom_op *given, tenon_error **error)
{
    tn_diag diag = {0};
    tenon_custom_op op;
    tenon_custom_op_init(&op);
    if (!given || !tn_api_options(&op, sizeof op, given)) {
        return tn_api_refuse(error, TN_INVALID_ARGUMENT, "tenon_registry_add", "fill the operator with tenon_custom_op_init first");
    }
    tn_status status = TN_OK;
    if (!registry) {
        status = tn_fail(&diag, TN_INVALID_ARGUMENT, "tenon_registry_add", "registry must not be NULL");
    } else if (atomic_load(&registry->used)) {
        status = tn_fail(&diag, TN_STATE, op.name ? op.name : "", "a model was opened with this registry; add operators before");
    } else {
        status = add(registry, &op, &diag);
    }
    if (status != TN_OK) {
        run_destroy(&op);
    }
    return tn_api_fail(error, status, &diag);
}
