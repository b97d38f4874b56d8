// SPDX-License-Identifier: Apache-2.0
// Einstein sums that are no product of two matrices (those are lowered before), on plain tensors: an item for each result.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/nn/op_matmul.h"

#include <stdio.h>
#include <string.h>

static bool match_einsum(const tn_query *query, const char **why)
{
    tn_einsum_form form;
    int64_t sums = 1;
    if (!tn_cl_all_f32(query, why)) {
        return false;
    }
    *why = "more operands or summed dims than the kernel holds";
    if (!tn_einsum_form_of(query, &form)) {
        return false;
    }
    for (int i = 0; i < form.summed; i++) {
        sums *= form.sizes[form.kept + i];
        *why = "sums of 2^24 products or more";
        if (sums >= 1 << 24) {
            return false;
        }
    }
    return true;
}

// A macro name(i): the place in an operand of number i in the mixed radix of n dims.
static void write_places(tn_cl_build *b, const char *name, int operand, const int64_t *sizes, const int64_t *strides, int n)
{
    int64_t inner = 1;
    tn_cl_code(b, "#define %s%d(i) (0", name, operand);
    for (int k = n - 1; k >= 0; k--) {
        if (sizes[k] > 1 && strides[k]) {
            tn_cl_code(b, " + (i) / %lld %% %lld * %lld", (long long)inner, (long long)sizes[k], (long long)strides[k]);
        }
        inner *= sizes[k];
    }
    tn_cl_code(b, ")\n");
}

static void emit_einsum(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    static const char *const names[] = {"a0", "a1", "a2", "a3"};
    tn_einsum_form form;
    tn_cl_mem *mems[TN_EINSUM_OPERANDS];
    int64_t count = 1;
    char product[160] = "a0[KEPT0(i) + SUMMED0(j)]";
    (void)tn_einsum_form_of(query, &form);
    for (int k = 0; k < query->n_in; k++) {
        mems[k] = tn_cl_plain(b, in[k]);
    }
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]);
    tn_cl_begin(b, "einsum");
    for (int k = 0; k < query->n_in; k++) {
        tn_cl_in(b, "float", names[k], mems[k]);
        write_places(b, "KEPT", k, form.sizes, form.strides[k], form.kept);
        write_places(b, "SUMMED", k, form.sizes + form.kept, form.strides[k] + form.kept, form.summed);
        if (k) {
            const size_t used = strlen(product);
            (void)snprintf(product + used, sizeof product - used, " * a%d[KEPT%d(i) + SUMMED%d(j)]", k, k, k);
        }
    }
    for (int k = 0; k < form.summed; k++) {
        count *= form.sizes[form.kept + k];
    }
    tn_cl_out(b, "float", "y", to);
    tn_cl_int(b, "count", count);
    tn_cl_define(b, "PRODUCT(i, j)", "%s", product);
    tn_cl_end(b, (size_t)tn_cl_count(out[0]), 1, 1);
}

static const tn_cl_row rows[] = {{.op = &tn_op_einsum, .match = match_einsum, .emit = emit_einsum}};

TN_CL_EXPORT(einsum, rows);
