// SPDX-License-Identifier: Apache-2.0
// Writing steps: parameters, macros, source, kernel object.
// Ownership: see cl_build.h. Threads: one.
#include "exec/opencl/cl_build.h"

#include "base/num.h"
#include "exec/opencl/run/cl_slice.h"
#include "exec/opencl/run/cl_watch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Division and square root to the last bit where the device can: quantisation rounds their results.
#define BUILD_OPTIONS "-cl-std=CL1.2 -cl-mad-enable"
#define EXACT_OPTIONS BUILD_OPTIONS " -cl-fp32-correctly-rounded-divide-sqrt"

const char *tn_cl_type(tn_dtype dtype)
{
    switch (dtype) {
    case TN_F32: return "float";
    case TN_I64: return "long";
    case TN_U64: return "ulong";
    case TN_I32: return "int";
    case TN_U32: return "uint";
    case TN_I16: return "short";
    case TN_U16: return "ushort";
    case TN_I8: return "char";
    case TN_U8: case TN_BOOL: return "uchar";
    default: return NULL;
    }
}

static bool broken(const tn_cl_build *b) { return b->status != TN_OK; }

static void no_memory(tn_cl_build *b, size_t bytes)
{
    b->status = tn_fail_memory(b->diag, b->node ? b->node->name : "opencl", bytes);
}

void tn_cl_begin(tn_cl_build *b, const char *file)
{
    if (broken(b)) {
        return;
    }
    b->step = tn_arena_array(&b->flow->arena, 1, sizeof *b->step);
    tn_cl_arg *args = tn_arena_array(&b->flow->arena, TN_CL_MAX_ARGS, sizeof *args);
    if (!b->step || !args) {
        no_memory(b, sizeof *b->step);
        return;
    }
    b->step->args = args;
    b->step->file = file;
    b->step->node = b->node;
    b->too_wide = false;
    b->params.length = 0;
    b->prologue.length = 0;
}

static tn_cl_arg *next_arg(tn_cl_build *b, tn_cl_arg_kind kind)
{
    if (broken(b)) {
        return NULL;
    }
    if (b->step->n_args == TN_CL_MAX_ARGS) {
        b->status = tn_fail(b->diag, TN_UNSUPPORTED, b->node ? b->node->name : "opencl", "a kernel with more than %d arguments", TN_CL_MAX_ARGS);
        return NULL;
    }
    tn_cl_arg *arg = &b->step->args[b->step->n_args++];
    *arg = (tn_cl_arg){.kind = kind};
    if (b->params.length) {
        tn_text_add(&b->params, ", ");
    }
    return arg;
}

// A number is an argument, so that layers share programs; or, where starting a kernel costs more the more arguments it has and compilers are
// quick, a constant of the text, which also makes divisions cheap. Constants are enumerators: macros would change `v.w`.
static void number(tn_cl_build *b, int64_t value, const char *name, const char *tail)
{
    if (broken(b)) {
        return;
    }
    if (value > INT32_MAX || value < INT32_MIN) {
        b->status = tn_fail(b->diag, TN_UNSUPPORTED, b->node ? b->node->name : "opencl", "a size of %lld does not fit a kernel's 32 bits",
                            (long long)value);
    } else if (b->cl->baked) {
        tn_text_add(&b->prologue, "enum { %s%s = %lld };\n", name, tail, (long long)value);
    } else {
        tn_cl_arg *arg = next_arg(b, TN_CL_ARG_INT);
        if (arg) {
            arg->i = (cl_int)value;
            tn_text_add(&b->params, "int %s%s", name, tail);
        }
    }
}

void tn_cl_int(tn_cl_build *b, const char *name, int64_t value) { number(b, value, name, ""); }

// The multiplier and shift that stand for a division by d (Granlund and Montgomery, 1994): with s = ceil(log2 d) and m = ceil(2^(31 + s) / d),
// n m / 2^(31 + s) rounds down to n / d for each n < 2^31, and m < 2^32. The product's high word has 32 of the places gone.
void tn_cl_over(tn_cl_build *b, const char *name, int64_t divisor)
{
    char text[32];
    int s = 1;
    while ((INT64_C(1) << s) < divisor && s < 31) {
        s++;
    }
    const uint64_t d = (uint64_t)TN_MAX(divisor, 2), m = ((UINT64_C(1) << (31 + s)) + d - 1) / d;
    (void)snprintf(text, sizeof text, "%.20s_over", name);
    tn_cl_int(b, text, (int32_t)(uint32_t)m);
    (void)snprintf(text, sizeof text, "%.20s_shift", name);
    tn_cl_int(b, text, s - 1);
}

void tn_cl_real(tn_cl_build *b, const char *name, double value)
{
    tn_cl_arg *arg = next_arg(b, TN_CL_ARG_REAL);
    if (arg) {
        arg->real = (cl_float)value;
        tn_text_add(&b->params, "float %s", name);
    }
}

void tn_cl_local(tn_cl_build *b, const char *type, const char *name, size_t bytes)
{
    tn_cl_arg *arg = next_arg(b, TN_CL_ARG_LOCAL);
    if (arg) {
        arg->local_bytes = bytes;
        tn_text_add(&b->params, "__local %s *%s", type, name);
    }
}

static tn_cl_arg *mem_arg(tn_cl_build *b, tn_cl_mem *mem)
{
    tn_cl_arg *arg = mem ? next_arg(b, TN_CL_ARG_MEM) : NULL;
    if (arg) {
        arg->mem = mem->of ? mem->of : mem;
        b->step->image = b->step->image || mem->image;
        b->step->past = b->step->past || arg->mem->past;
    } else if (!broken(b)) {
        no_memory(b, 0);
    }
    return arg;
}

void tn_cl_in(tn_cl_build *b, const char *type, const char *name, tn_cl_mem *mem)
{
    if (mem_arg(b, mem)) {
        tn_text_add(&b->params, "__global const %s *%s", type, name);
    }
}

void tn_cl_out(tn_cl_build *b, const char *type, const char *name, tn_cl_mem *mem)
{
    if (mem_arg(b, mem)) {
        tn_text_add(&b->params, "__global %s *%s", type, name);
    }
}

// How an element is spelt: the texel's type in registers, in a buffer, the suffix of the image functions.
typedef struct spelling {
    const char *texel, *stored, *suffix;
} spelling;

static const spelling spellings[TN_CL_ELEMENT_COUNT] = {
    [TN_CL_F32] = {"float4", "float4", "f"},
    [TN_CL_F16] = {"float4", "half", "f"},
    [TN_CL_I32] = {"int4", "int4", "i"},
    [TN_CL_U8] = {"uint4", "uchar4", "ui"},
};

// The column that a view begins at, as a term of every access.
static const char *first_column(tn_cl_build *b, const char *name, const tn_cl_mem *mem, char text[48])
{
    text[0] = 0;
    if (mem->of) {
        number(b, (int64_t)mem->x0, name, "_x0");
        (void)snprintf(text, 48, " + %.32s_x0", name);
    }
    return text;
}

// halves: texels are of type N4 (common.cl), the grid is one of halves.
static void in_grid(tn_cl_build *b, const char *name, tn_cl_mem *mem, bool halves)
{
    char column[48], read[80];
    if (!mem_arg(b, mem)) {
        return;
    }
    const spelling *s = &spellings[mem->element];
    const char *texel = halves ? "N4" : s->texel;
    if (mem->image) {
        tn_text_add(&b->params, "__read_only image2d_t %s_", name);
        const char *x0 = first_column(b, name, mem, column);
        const bool border = !b->cl->no_sampler;
        if (halves) {
            (void)snprintf(read, sizeof read, "%s_N4(%.32s_, ", border ? "SAMPLE" : "READ", name);
        } else {
            (void)snprintf(read, sizeof read, "read_image%s(%.32s_, %s", s->suffix, name, border ? "TEXEL, " : "");
        }
        tn_text_add(&b->prologue, "#define %s_READ(px, py) %s(int2)((px)%s, (py)))\n", name, read, x0);
        if (border) {
            tn_text_add(&b->prologue, "#define %s_READ0(ok, px, py) %s(int2)((ok) ? (px)%s : -1, (py)))\n", name, read, x0);
        } else {
            tn_text_add(&b->prologue, "#define %s_READ0(ok, px, py) ((ok) ? %s_READ(px, py) : (%s)(0))\n", name, name, texel);
        }
        return;
    }
    tn_text_add(&b->params, "__global const %s *%s_", halves ? "N4" : s->stored, name);
    number(b, (int64_t)(mem->of ? mem->of->width : mem->width), name, "_pitch");
    const char *x0 = first_column(b, name, mem, column);
    tn_text_add(&b->prologue, "#define %s_READ(px, py) ", name);
    if (mem->element == TN_CL_F16 && !halves) {
        tn_text_add(&b->prologue, "vload_half4((py) * %s_pitch + (px)%s, %s_)\n", name, x0, name);
    } else {
        tn_text_add(&b->prologue, mem->element == TN_CL_U8 ? "convert_uint4(%s_[%s_pitch * (py) + (px)%s])\n"
                                                           : "%s_[%s_pitch * (py) + (px)%s]\n", name, name, x0);
    }
    tn_text_add(&b->prologue, "#define %s_READ0(ok, px, py) ((ok) ? %s_READ(px, py) : (%s)(0))\n", name, name, texel);
}

void tn_cl_narrow(tn_cl_build *b, const tn_cl_mem *operand, const tn_cl_mem *filter, const tn_cl_mem *result)
{
    if (!broken(b)) {
        b->step->halves = b->halves && operand && operand->grid && operand->element == TN_CL_F16 && filter && filter->element == TN_CL_F16 &&
                          result && result->element == TN_CL_F16;
    }
}

void tn_cl_in_grid(tn_cl_build *b, const char *name, tn_cl_mem *mem) { in_grid(b, name, mem, false); }
void tn_cl_in_narrow(tn_cl_build *b, const char *name, tn_cl_mem *mem) { in_grid(b, name, mem, b->status == TN_OK && b->step->halves); }

void tn_cl_in_planes(tn_cl_build *b, const char *name, tn_cl_mem *mem, const int64_t dims[4])
{
    static const char lanes[] = "xyzw";
    if (!mem_arg(b, mem)) {
        return;
    }
    tn_text_add(&b->params, "__global const float *%s_", name);
    tn_text_add(&b->prologue, "float4 %s_texel(__global const float *a, int px, int py)\n{\n    float4 v = (float4)(0.0f);\n"
                "    a += (py / %lld * %lld + py %% %lld) * %lld + px;\n", name, (long long)dims[2], (long long)(dims[1] * dims[2]),
                (long long)dims[2], (long long)dims[3]);
    for (int64_t c = 0; c < dims[1]; c++) {
        tn_text_add(&b->prologue, "    v.%c = a[%lld];\n", lanes[c], (long long)(c * dims[2] * dims[3]));
    }
    tn_text_add(&b->prologue, "    return v;\n}\n#define %s_READ(px, py) %s_texel(%s_, (px), (py))\n"
                "#define %s_READ0(ok, px, py) ((ok) ? %s_READ(px, py) : (float4)(0.0f))\n", name, name, name, name, name);
}

void tn_cl_out_grid(tn_cl_build *b, const char *name, tn_cl_mem *mem)
{
    char column[48];
    if (!mem_arg(b, mem)) {
        return;
    }
    b->step->grid_out = true;
    b->step->half_out = mem->element == TN_CL_F16;
    const spelling *s = &spellings[mem->element];
    tn_text_add(&b->params, mem->image ? "__write_only image2d_t %s_" : mem->element == TN_CL_F16 ? "__global half *%s_"
                            : mem->element == TN_CL_U8 ? "__global uchar4 *%s_" : mem->element == TN_CL_I32 ? "__global int4 *%s_"
                                                                                                           : "__global float4 *%s_", name);
    if (!mem->image) {
        number(b, (int64_t)(mem->of ? mem->of->width : mem->width), name, "_pitch");
    }
    const char *x0 = first_column(b, name, mem, column);
    const bool watched = tn_cl_watches(b, mem);
    const char *macro = b->cl->checked ? "PUT" : watched ? "STORE" : "WRITE";
    if (mem->image) {
        tn_text_add(&b->prologue, "#define %s_%s(px, py, v) write_image%s(%s_, (int2)((px)%s, (py)), (v))\n", name, macro, s->suffix, name, x0);
    } else if (mem->element == TN_CL_F16) {
        tn_text_add(&b->prologue, "#define %s_%s(px, py, v) vstore_half4_rte((v), (py) * %s_pitch + (px)%s, %s_)\n", name, macro, name, x0,
                    name);
    } else {
        tn_text_add(&b->prologue, "#define %s_%s(px, py, v) %s_[%s_pitch * (py) + (px)%s] = %s\n", name, macro, name, name, x0,
                    mem->element == TN_CL_U8 ? "convert_uchar4(v)" : "(v)");
    }
    if (b->cl->checked) {
        number(b, (int64_t)mem->width, name, "_w");
        number(b, (int64_t)mem->height, name, "_h");
        tn_text_add(&b->prologue, "#define %s_%s(px, py, v) do { if ((uint)(px) >= (uint)%s_w || (uint)(py) >= (uint)%s_h) check[0] = "
                    "step_number; else { %s_PUT(px, py, v); } } while (0)\n", name, watched ? "STORE" : "WRITE", name, name, name);
    }
    if (watched) {
        tn_cl_watch_store(b, name, mem);
    }
}

void tn_cl_define(tn_cl_build *b, const char *name, const char *format, ...)
{
    char line[256];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    tn_text_add(&b->prologue, "#define %s %s\n", name, line);
}

void tn_cl_code(tn_cl_build *b, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof text, format, list);
    va_end(list);
    tn_text_add(&b->prologue, "%s", text);
}

static void act_as(tn_cl_build *b, const tn_act *act, const char *macro, const char *function)
{
    if (!act || act->code == TN_LOOP_CONST) {
        tn_cl_define(b, macro, "(v)");
        return;
    }
    tn_loop loop = {.n_inputs = 1, .n_code = 1};
    loop.code[0] = (tn_loop_instr){.code = (uint8_t)act->code, .x = (float)act->x, .y = (float)act->y};
    for (int lanes = 1; lanes <= 4; lanes += 3) {
        const char *type = lanes == 4 ? "float4" : "float";
        tn_text_add(&b->prologue, "#define V %s\n__attribute__((overloadable)) %s %s(%s r0) {\n", type, type, function, type);
        tn_cl_loop_body(&b->prologue, &loop);
        tn_text_add(&b->prologue, "return result; }\n#undef V\n");
    }
    tn_cl_define(b, macro, "%s(v)", function);
}

void tn_cl_act(tn_cl_build *b, const tn_act *act) { act_as(b, act, "ACT(v)", "activate"); }
void tn_cl_act_first(tn_cl_build *b, const tn_act *act) { act_as(b, act, "ACT0(v)", "activate_first"); }

void tn_cl_group(tn_cl_build *b, size_t x, size_t y, size_t z)
{
    if (!broken(b)) {
        b->step->local[0] = x;
        b->step->local[1] = y;
        b->step->local[2] = z;
        tn_cl_define(b, "GROUP", "__attribute__((reqd_work_group_size(%zu, %zu, %zu)))", x, y, z);
    }
}

void tn_cl_tiled(tn_cl_build *b, const tn_cl_layer *layer, const tn_cl_tile *tile)
{
    tn_cl_layer *own = broken(b) ? NULL : tn_arena_array(&b->flow->arena, 1, sizeof *own);
    if (own) {
        *own = *layer;
        b->step->layer = own;
        b->step->tile = *tile;
    } else if (!broken(b)) {
        no_memory(b, sizeof *own);
    }
}

static size_t power_below(size_t n, size_t limit)
{
    size_t p = 1;
    while (p < limit && p < n) {
        p *= 2;
    }
    return TN_MIN(p, limit);
}

// Without a wish: up to 64 neighbours along x, then y, 128 items in all. Sizes are rounded up; kernels test gx, gy, gz.
static void set_sizes(tn_cl_build *b, size_t x, size_t y, size_t z)
{
    tn_cl_step *step = b->step;
    const size_t limit = TN_MIN((size_t)128, b->cl->facts.max_group);
    const size_t real[3] = {x, y, z};
    if (step->local[0] == 0 && b->cl->facts.is_cpu) {
        // Drivers on the CPU compile a kernel again for each size of group: one size for all.
        step->local[0] = TN_MIN((size_t)16, limit);
        step->local[1] = step->local[2] = 1;
    } else if (step->local[0] == 0) {
        step->local[0] = power_below(x, TN_MIN((size_t)64, limit));
        step->local[1] = power_below(y, limit / step->local[0]);
        step->local[2] = 1;
    }
    for (int i = 0; i < 3; i++) {
        step->real[i] = real[i];
        step->global[i] = TN_CEIL_DIV(real[i], step->local[i]) * step->local[i];
    }
}

static size_t group_items(const tn_cl_step *step) { return step->local[0] * step->local[1] * step->local[2]; }

// The kernel needs so many registers that the device takes only `most` items in a group. false: the step cannot be made with this group.
static bool narrow(tn_cl_build *b, size_t most, bool free_group)
{
    tn_cl_step *step = b->step;
    b->too_wide = !free_group && b->retries;
    if (!free_group) {
        b->status = b->retries ? TN_OK : tn_fail(b->diag, TN_DEVICE, step->file, "the device takes %zu items in a group, not %zu", most, group_items(step));
        return false;
    }
    for (int i = 2; i >= 0; i--) {
        while (step->local[i] > 1 && group_items(step) > most) {
            step->local[i] /= 2;
        }
        step->global[i] = TN_CEIL_DIV(step->real[i], step->local[i]) * step->local[i];
    }
    return true;
}

static const tn_cl_source *source_named(const char *name)
{
    const tn_cl_source *source = tn_cl_sources;
    while (source->name && strcmp(source->name, name) != 0) {
        source++;
    }
    return source->name ? source : NULL;
}

static void write_source(tn_cl_build *b)
{
    const tn_cl_source *head = source_named("common"), *body = source_named(b->step->file);
    const tn_cl_source *helper = b->step->helper ? source_named(b->step->helper) : NULL;
    b->source.length = 0;
    if (!head || !body || b->params.failed || b->prologue.failed) {
        b->status = head && body ? tn_fail_memory(b->diag, b->step->file, b->prologue.length)
                                 : tn_fail(b->diag, TN_INTERNAL, b->step->file, "there is no kernel source of this name");
        return;
    }
    tn_text_add(&b->source, b->cl->baked ? "#define BAKED 1\n" : "");
    tn_text_add(&b->source, b->step->halves ? "#define HALVES 1\n" : "");
    tn_text_bytes(&b->source, (const char *)head->data, head->size);
    tn_text_bytes(&b->source, b->prologue.data ? b->prologue.data : "", b->prologue.length);
    tn_text_add(&b->source, "#define PARAMETERS ");
    tn_text_bytes(&b->source, b->params.data, b->params.length);
    tn_text_add(&b->source, "\n");
    if (helper) {
        tn_text_bytes(&b->source, (const char *)helper->data, helper->size);
    }
    tn_text_bytes(&b->source, (const char *)body->data, body->size);
    if (b->source.failed) {
        no_memory(b, b->source.length);
    }
}

// A large GPU's driver prepares the images of a program anew whenever two steps that share it have others: 8 to 10 us for a start that takes 5
// to 6 otherwise (H200). Such steps get programs of their own, and share where the driver does not give them.
static cl_kernel kernel_of(tn_cl_build *b, cl_program program, cl_int *error)
{
    const tn_cl_step *other = b->once || !b->cl->twins || !b->step->image ? NULL : b->flow->first;
    while (other && other->program != program) {
        other = other->next;
    }
    cl_program twin = other ? tn_cl_program_twin(b->cl, program) : NULL;
    cl_kernel kernel = b->cl->driver.CreateKernel(twin ? twin : program, "run", error);
    if (twin) {
        (void)b->cl->driver.ReleaseProgram(twin);     // the kernel keeps it
    }
    b->step->program = program;
    return kernel;
}

void tn_cl_end(tn_cl_build *b, size_t x, size_t y, size_t z)
{
    cl_program program = NULL;
    cl_int error = CL_SUCCESS;
    if (broken(b) || x == 0 || y == 0 || z == 0) {
        return;
    }
    if (x > INT32_MAX / 2 || y > INT32_MAX / 2 || z > INT32_MAX / 2) {
        b->status = tn_fail(b->diag, TN_UNSUPPORTED, b->step->file, "more items than a kernel can count");
        return;
    }
    tn_cl_int(b, "gx", (int64_t)x);
    tn_cl_int(b, "gy", (int64_t)y);
    tn_cl_int(b, "gz", (int64_t)z);
    if (b->cl->checked) {
        tn_cl_int(b, "step_number", b->flow->n_steps + 1);
        tn_cl_out(b, "int", "check", b->flow->check);
    }
    const bool free_group = b->step->local[0] == 0;
    set_sizes(b, x, y, z);
    write_source(b);
    if (broken(b)) {
        return;
    }
    b->status = tn_cl_program_get(b->cl, b->source.data, b->source.length, b->cl->facts.exact ? EXACT_OPTIONS : BUILD_OPTIONS, b->cache, b->step->file, &program, b->diag);
    if (broken(b)) {
        return;
    }
    b->step->kernel = kernel_of(b, program, &error);
    if (!b->step->kernel) {
        b->status = tn_cl_fail(b->diag, b->step->file, "a kernel", error);
        return;
    }
    size_t most = b->cl->facts.max_group;
    (void)b->cl->driver.GetKernelWorkGroupInfo(b->step->kernel, b->cl->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
    if (group_items(b->step) > most && !narrow(b, most, free_group)) {
        (void)b->cl->driver.ReleaseKernel(b->step->kernel);
        return;
    }
    tn_cl_flow *flow = b->flow;
    b->step->estimate = tn_cl_slice_estimate(&b->cl->facts, b->step);
    if (b->once) {
        b->status = tn_cl_step_set(b->cl, b->step, b->diag);
        b->status = broken(b) ? b->status : tn_cl_step_enqueue(b->cl, b->cl->queue, b->step, false, b->diag);
        (void)b->cl->driver.ReleaseKernel(b->step->kernel);
        return;
    }
    if (flow->last) {
        flow->last->next = b->step;
    } else {
        flow->first = b->step;
    }
    flow->last = b->step;
    flow->n_steps++;
}
