// SPDX-License-Identifier: Apache-2.0
// Products with weights of 2, 4 or 8 bits in blocks (matmul_nbits): codes are taken apart where they are multiplied, so that what is read of
// memory is as small as the file. Bound by reading the weights: up to ROWS rows of a share what one group reads.
// Ownership: const data. Threads: any.
#include "exec/opencl/rows/cl_rows.h"

#include "ops/quant/op_matmul_nbits.h"

#define ROWS 4

enum { A, B, SCALES, ZEROS, GROUPS, BIAS };

static const tn_tensor *operand(const tn_query *query, int i) { return i < query->n_in ? query->in[i] : NULL; }

static bool match_nbits(const tn_query *query, const char **why)
{
    const tn_tensor *zeros = operand(query, ZEROS), *bias = operand(query, BIAS);
    *why = "only float32 has a kernel";
    return query->in[A]->dtype == TN_F32 && query->in[SCALES]->dtype == TN_F32 && query->out[0]->dtype == TN_F32 &&
           (!zeros || zeros->dtype == TN_U8 || zeros->dtype == TN_F32) && (!bias || bias->dtype == TN_F32);
}

static void emit_nbits(tn_cl_build *b, const tn_query *query, tn_cl_value *const *in, tn_cl_value *const *out)
{
    static const struct { const char *type, *name; } args[] = {{"float", "a"}, {"uchar", "codes"}, {"float", "scales"}, {NULL, "zeros"}, {"int", "groups"},
                                                               {"float", "bias"}};
    const tn_nbits_attr *attr = query->attr;
    const int64_t rows = tn_cl_count(out[0]) / attr->n, blocks = TN_CEIL_DIV(attr->k, attr->block_size);
    const size_t limit = TN_MIN(b->cl->facts.max_group, (size_t)(b->cl->facts.is_cpu ? 4 : 64));
    const int held = (int)TN_MIN(rows, ROWS);
    tn_cl_mem *mems[6] = {NULL}, *bad = NULL;
    size_t parts = 1;
    while (parts * 2 <= limit && (int64_t)parts * 8 < attr->k) {
        parts *= 2;
    }
    for (int i = 0; i < query->n_in; i++) {
        mems[i] = in[i] ? tn_cl_plain(b, in[i]) : NULL;
    }
    tn_cl_mem *to = tn_cl_new_plain(b, out[0]);
    if (mems[GROUPS]) {
        bad = tn_cl_flag(b);
    }
    tn_cl_begin(b, "matmul_nbits");
    for (int i = 0; i < query->n_in; i++) {
        if (mems[i]) {
            tn_cl_in(b, args[i].type ? args[i].type : tn_cl_type(in[i]->dtype), args[i].name, mems[i]);
        }
    }
    tn_cl_out(b, "float", "y", to);
    if (mems[GROUPS]) {
        tn_cl_out(b, "int", "bad", bad);
        tn_cl_define(b, "GROUPS", "1");
    }
    if (mems[ZEROS]) {
        tn_cl_define(b, in[ZEROS]->dtype == TN_U8 ? "PACKED_ZEROS" : "ZEROS", "1");
    }
    if (mems[BIAS]) {
        tn_cl_define(b, "BIAS", "1");
    }
    tn_cl_int(b, "rows", rows);
    tn_cl_int(b, "n", attr->n);
    tn_cl_int(b, "k", attr->k);
    tn_cl_int(b, "blocks", blocks);
    tn_cl_int(b, "block", attr->block_size);
    tn_cl_int(b, "pitch", blocks * (attr->block_size * attr->bits / 8));
    tn_cl_define(b, "BITS", "%d", (int)attr->bits);
    tn_cl_define(b, "ROWS", "%d", held);
    tn_cl_define(b, "PARTS", "%zu", parts);
    tn_cl_local(b, "float", "sums", parts * (size_t)held * sizeof(float));
    tn_cl_group(b, parts, 1, 1);
    tn_cl_end(b, parts, (size_t)attr->n, (size_t)TN_CEIL_DIV(rows, held));
}

static const tn_cl_row rows[] = {{.op = &tn_op_matmul_nbits, .match = match_nbits, .emit = emit_nbits}};

TN_CL_EXPORT(nbits, rows);
