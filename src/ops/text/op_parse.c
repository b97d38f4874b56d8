// SPDX-License-Identifier: Apache-2.0
// Rows of cast and cast_like for strings (ONNX Cast 28, "string"): numbers to text and back.
//   float -> text   "%.8g" (float64: 15 digits), with more digits where these would not read as the same number; NaN, INF, -INF
//   text -> number  decimal or scientific notation, white space around it; anything else is an error of the run
// Ownership: const data. Threads: any.
#include "base/num.h"
#include "ops/math/op_cast.h"
#include "ops/objects.h"
#include "ops/op_facts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64 };   // bytes of a number's text

// ---- reference ----

// What the process's locale writes between whole and fraction; the texts have a point.
static char separator(void)
{
    char text[8] = "";
    snprintf(text, sizeof text, "%.1f", 0.5);
    return text[1] ? text[1] : '.';
}

static void replace(char *text, char from, char to)
{
    char *found = strchr(text, from);
    if (found) {
        *found = to;
    }
}

static void print_real(char *text, double v, bool wide)
{
    if (isnan(v) || isinf(v)) {
        snprintf(text, TEXT, "%s", isnan(v) ? "NaN" : v < 0 ? "-INF" : "INF");
        return;
    }
    for (int digits = wide ? 15 : 8; digits <= (wide ? 17 : 9); digits++) {
        snprintf(text, TEXT, "%.*g", digits, v);
        const double back = strtod(text, NULL);
        if (wide ? back == v : (float)back == (float)v) {
            break;
        }
    }
    replace(text, separator(), '.');
}

// x: any shape -> its numbers as text
static tn_status run_print(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    const int64_t n = tn_tensor_count(x);
    const char **cells = call->out[0]->data;
    char text[TEXT];
    for (int64_t i = 0; i < n; i++) {
        const int64_t whole = tn_dtype_is_float(x->dtype) ? 0 : tn_dtype_load_i64(x->dtype, x->data, (size_t)i);
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        if (tn_dtype_is_float(x->dtype)) {
            print_real(text, tn_dtype_load(x->dtype, x->data, (size_t)i), x->dtype == TN_F64);
        } else if (x->dtype == TN_BOOL) {
            snprintf(text, sizeof text, "%s", whole ? "True" : "False");
        } else if (x->dtype == TN_U64) {
            snprintf(text, sizeof text, "%" PRIu64, (uint64_t)whole);
        } else {
            snprintf(text, sizeof text, "%" PRId64, whole);
        }
        TN_TRY(tn_object_text(call, text, strlen(text), &cells[i]));
    }
    return TN_OK;
}

// Only white space is left.
static bool ends(const char *at)
{
    return at[strspn(at, " \t\r\n\v\f")] == 0;
}

static bool parse_whole(tn_tensor *y, int64_t i, const char *text)
{
    char *end;
    errno = 0;
    const bool huge = y->dtype == TN_U64 && !strchr(text, '-');
    const int64_t v = huge ? (int64_t)strtoull(text, &end, 10) : strtoll(text, &end, 10);
    if (end == text || !ends(end) || errno == ERANGE) {
        return false;
    }
    tn_dtype_store_i64(y->dtype, y->data, (size_t)i, v);
    return true;
}

static bool parse_truth(tn_tensor *y, int64_t i, const char *text)
{
    const bool yes = strcmp(text, "True") == 0 || strcmp(text, "true") == 0 || strcmp(text, "1") == 0;
    const bool no = strcmp(text, "False") == 0 || strcmp(text, "false") == 0 || strcmp(text, "0") == 0;
    ((uint8_t *)y->data)[i] = yes;
    return yes || no;
}

// Hexadecimal floats and the like are none.
static bool parse_real(tn_tensor *y, int64_t i, const char *given)
{
    char text[TEXT * 8];
    char *end;
    const size_t length = strlen(given);
    if (length >= sizeof text || strpbrk(given, "xX(")) {
        return false;
    }
    memcpy(text, given, length + 1);
    replace(text, '.', separator());
    const double v = strtod(text, &end);
    tn_dtype_store(y->dtype, y->data, (size_t)i, v);
    return end != text && ends(end);
}

// x: strings of any shape -> numbers
static tn_status run_parse(const tn_call *call)
{
    const tn_tensor *x = call->in[0];
    tn_tensor *y = call->out[0];
    const int64_t n = tn_tensor_count(x);
    for (int64_t i = 0; i < n; i++) {
        const char *text = tn_cell(x, i);
        if (tn_cancelled(call)) {
            return tn_fail_cancelled(call);
        }
        const bool good = y->dtype == TN_BOOL ? parse_truth(y, i, text)
                                              : (tn_dtype_is_int(y->dtype) && parse_whole(y, i, text)) || parse_real(y, i, text);
        if (!good) {
            return tn_fail(call->diag, TN_INVALID_ARGUMENT, call->name, "%s: \"%.40s\" is no %s", call->op->name, text,
                           tn_dtype_text(y->dtype));
        }
    }
    return TN_OK;
}

static tn_status run_cast_text(const tn_call *call)
{
    const tn_tensor *x = call->in[0], *y = call->out[0];
    size_t bytes;
    if (x->dtype != y->dtype) {
        return x->dtype == TN_STRING ? run_parse(call) : run_print(call);
    }
    if (tn_tensor_bytes(x, &bytes) && bytes && x->data != y->data) {
        memcpy(y->data, x->data, bytes);
    }
    return TN_OK;
}

// ---- export ----

static bool match_text(const tn_query *query, const char **why)
{
    *why = "neither side is a string";
    return query->in[0]->dtype == TN_STRING || query->out[0]->dtype == TN_STRING;
}

static const tn_kernel rows[] = {
    TN_REFERENCE_OBJECTS(cast, "_text", match_text, run_cast_text),
    TN_REFERENCE_OBJECTS(cast_like, "_text", match_text, run_cast_text),
};

const tn_op_list tn_ops_op_parse = {NULL, 0};
TN_EXPORT_KERNELS(op_parse, rows);
