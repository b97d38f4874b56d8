// SPDX-License-Identifier: Apache-2.0
// The list of operators as a document, made from what the library runs by: rows of the importer, descriptors, kernel rows, devices. Types
// are found by asking each descriptor's inference, so that the list cannot say more or less than it takes.
// Ownership: the caller's (C library). Threads: any.
#include "api/api.h"

#include "base/text.h"
#include "device/device.h"
#include "import/onnx/onnx_map.h"
#include "ops/op_eval.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED = 3 };   // operands whose types are asked for

// Whether inference takes this type at operand i when nothing else is known.
static bool takes(const tn_op *op, int i, tn_kind kind, tn_dtype dtype, tn_heap *heap)
{
    static const uint64_t zeros[64];
    tn_fact in[TN_MAX_IN], out[TN_MAX_OUT];
    const tn_fact *pointers[TN_MAX_IN];
    tn_arena arena;
    tn_diag diag = {0};
    const int count = TN_MAX(op->min_in, i + 1);
    for (int k = 0; k < count; k++) {
        in[k] = (tn_fact){.kind = k == i ? kind : TN_KIND_TENSOR, .dtype = k == i ? dtype : TN_NONE, .shape = tn_shape_unknown()};
        pointers[k] = &in[k];
    }
    memset(out, 0, sizeof out);
    tn_arena_init(&arena, heap);
    const void *attr = op->defaults ? op->defaults : op->attr_size && op->attr_size <= sizeof zeros ? zeros : NULL;
    const tn_status status = tn_op_infer(op, attr, op->name, pointers, count, out, TN_MAX(op->min_out, 1), &arena, &diag);
    tn_arena_deinit(&arena);
    return status == TN_OK;
}

// The types of the operand that takes most of them; 0: attributes that have no default decide.
static uint32_t types_of(const tn_op *op, tn_heap *heap)
{
    uint32_t best = 0;
    const int operands = op->max_in < 0 ? 1 : TN_MIN(op->max_in, ASKED);
    for (int i = 0; i < operands && op->infer && !(op->flags & TN_OP_CONTROL); i++) {
        uint32_t set = 0;
        for (int d = TN_F32; d < TN_DTYPE_COUNT; d++) {
            for (int kind = TN_KIND_TENSOR; kind <= TN_KIND_OPTIONAL; kind++) {
                set |= takes(op, i, (tn_kind)kind, (tn_dtype)d, heap) ? UINT32_C(1) << d : 0;
            }
        }
        best = __builtin_popcount(set) > __builtin_popcount(best) ? set : best;
    }
    return best;
}

static bool note_impl(const tn_kernel *row, void *context)
{
    *(uint32_t *)context |= UINT32_C(1) << row->impl;
    return true;
}

static void write_built_in(tn_text *text, const tn_op *op, tn_heap *heap)
{
    uint32_t impls = 0;
    const uint32_t types = types_of(op, heap);
    tn_registry_visit(op, note_impl, &impls);
    tn_json_open(text, '{');
    tn_json_key_string(text, "name", op->name);
    tn_json_key(text, "dtypes");
    tn_json_open(text, '[');
    for (int d = 0; d < TN_DTYPE_COUNT; d++) {
        if (types >> d & 1) {
            tn_json_string(text, tn_dtype_text((tn_dtype)d));
        }
    }
    tn_json_close(text, ']');
    tn_json_key(text, "kernels");
    tn_json_open(text, '[');
    for (int i = 0; i < TN_IMPL_COUNT; i++) {
        if (impls >> i & 1) {
            tn_json_string(text, tn_impl_text((tn_impl)i));
        }
    }
    tn_json_close(text, ']');
    tn_json_key_bool(text, "composite", op->lower != NULL);
    tn_json_key(text, "devices");
    tn_json_open(text, '[');
    for (const tn_device_vtable *const *vtable = tn_registry_devices; *vtable; vtable++) {
        if (!(*vtable)->has || (*vtable)->has(op)) {
            tn_json_string(text, (*vtable)->name);
        }
    }
    tn_json_close(text, ']');
    tn_json_close(text, '}');
}

static void write_row(tn_text *text, const char *domain, const tn_onnx_row *row)
{
    tn_json_open(text, '{');
    tn_json_key_string(text, "domain", domain);
    tn_json_key_string(text, "name", row->type);
    tn_json_key(text, "since");
    tn_json_int(text, row->since);
    tn_json_key(text, "until");
    if (row->until) {
        tn_json_int(text, row->until);
    } else {
        tn_json_null(text);
    }
    tn_json_key_string(text, "built_in", row->op ? row->op->name : NULL);
    tn_json_close(text, '}');
}

char *tenon_operators_json(void)
{
    tn_heap heap;
    tn_text text;
    tn_heap_init(&heap, NULL, NULL, NULL);
    tn_text_init(&text, &heap);
    tn_json_open(&text, '{');
    tn_json_key(&text, "operators");
    tn_json_open(&text, '[');
    for (const tn_onnx_table *const *table = tn_onnx_tables; *table; table++) {
        for (const tn_onnx_row *row = (*table)->rows; row->type; row++) {
            write_row(&text, (*table)->domain, row);
        }
    }
    tn_json_close(&text, ']');
    tn_json_key(&text, "built_in");
    tn_json_open(&text, '[');
    for (const tn_op_list *const *list = tn_registry_ops; *list; list++) {
        for (size_t i = 0; i < (*list)->count; i++) {
            write_built_in(&text, (*list)->ops[i], &heap);
        }
    }
    tn_json_close(&text, ']');
    tn_json_close(&text, '}');
    char *copy = text.failed || !text.data ? NULL : strdup(text.data);
    tn_text_deinit(&text);
    return copy;
}
