// SPDX-License-Identifier: Apache-2.0
// Peephole rules over a loop program: constants become immediates, pairs become one instruction, what nothing reads goes. One walk
// in order is enough, as each rule looks back only. Rules that skip a rounding keep the value within one unit in the last place of
// the larger part; a quotient by a constant is left alone unless its reciprocal is exact.
// Ownership: works in place. Threads: any.
#include "pass/fuse/chain_code.h"

#include "base/macros.h"

#include <math.h>
#include <string.h>

#define MAX_REGISTERS (TN_LOOP_MAX_INPUTS + TN_LOOP_MAX_CODE)

typedef struct shorten {
    tn_loop *loop;
    int result;
    int uses[MAX_REGISTERS];     // of each register, the result counted once more
} shorten;

// The instruction that makes a register; NULL for an operand.
static tn_loop_instr *made_by(const shorten *s, int reg)
{
    return reg < s->loop->n_inputs ? NULL : &s->loop->code[reg - s->loop->n_inputs];
}

// The register is made by this code.
static bool is_code(const shorten *s, int reg, tn_loop_code code)
{
    const tn_loop_instr *instr = made_by(s, reg);
    return instr && instr->code == code;
}

// The register holds a number that the program itself gives.
static bool constant(const shorten *s, int reg, float *v)
{
    if (!is_code(s, reg, TN_LOOP_CONST)) {
        return false;
    }
    *v = made_by(s, reg)->x;
    return true;
}

// Makes `with` the instruction; uses are counted anew at the end, and down as operands go.
static void become(shorten *s, tn_loop_instr *instr, tn_loop_instr with)
{
    const uint8_t old[3] = {instr->a, instr->b, instr->c}, new[3] = {with.a, with.b, with.c};
    for (int i = 0; i < tn_loop_code_operands((tn_loop_code)instr->code); i++) {
        s->uses[old[i]]--;
    }
    for (int i = 0; i < tn_loop_code_operands((tn_loop_code)with.code); i++) {
        s->uses[new[i]]++;
    }
    *instr = with;
}

static tn_loop_instr one(tn_loop_code code, int a, double x, double y)
{
    return (tn_loop_instr){.code = (uint8_t)code, .a = (uint8_t)a, .x = (float)x, .y = (float)y};
}

static tn_loop_instr two(tn_loop_code code, int a, int b)
{
    return (tn_loop_instr){.code = (uint8_t)code, .a = (uint8_t)a, .b = (uint8_t)b};
}

// Powers of two whose inverse is a normal number: there x / v and x * (1 / v) have the same bits.
static bool exact_reciprocal(float v)
{
    int exponent;
    return isnormal(v) && isnormal(1 / v) && fabsf(frexpf(v, &exponent)) == 0.5f;
}

// ---- rules, each about one instruction ----

// An operand that is a constant becomes an immediate.
static void take_constant(shorten *s, tn_loop_instr *i)
{
    float v;
    const bool right = constant(s, i->b, &v);
    if (tn_loop_code_operands((tn_loop_code)i->code) != 2 || (!right && !constant(s, i->a, &v)) || isnan(v)) {
        return;
    }
    const int x = right ? i->a : i->b;
    switch (i->code) {
    case TN_LOOP_ADD:
        become(s, i, one(TN_LOOP_AFFINE, x, 1, v));
        break;
    case TN_LOOP_SUB:
        become(s, i, right ? one(TN_LOOP_AFFINE, x, 1, -v) : one(TN_LOOP_AFFINE, x, -1, v));
        break;
    case TN_LOOP_MUL:
        become(s, i, one(TN_LOOP_AFFINE, x, v, 0));
        break;
    case TN_LOOP_DIV:
        if (right && exact_reciprocal(v)) {
            become(s, i, one(TN_LOOP_AFFINE, x, 1 / v, 0));
        } else if (!right && v == 1) {
            become(s, i, one(TN_LOOP_RECIP, x, 0, 0));
        }
        break;
    case TN_LOOP_MAX:
        become(s, i, one(TN_LOOP_CLIP, x, v, INFINITY));
        break;
    case TN_LOOP_MIN:
        become(s, i, one(TN_LOOP_CLIP, x, -INFINITY, v));
        break;
    case TN_LOOP_POW:
        if (right && v == 2) {
            become(s, i, two(TN_LOOP_MUL, x, x));
        }
        break;
    case TN_LOOP_PRELU:
        if (right) {
            become(s, i, one(TN_LOOP_LEAKY, x, v, 0));
        }
        break;
    default:
        break;
    }
}

// x1 (x0 a + y0) + y1, also with hard_swish(a) for a.
static void join_affine(shorten *s, tn_loop_instr *i)
{
    const tn_loop_instr *inner = i->code == TN_LOOP_AFFINE ? made_by(s, i->a) : NULL;
    if (!inner || s->uses[i->a] != 1) {
        return;
    }
    const bool swish = inner->code == TN_LOOP_HARD_SWISH;
    if (!swish && inner->code != TN_LOOP_HARD_SWISH_AFFINE && inner->code != TN_LOOP_AFFINE) {
        return;
    }
    const double x = (double)i->x * (swish ? 1 : inner->x), y = (double)i->x * (swish ? 0 : inner->y) + i->y;
    if (isfinite((float)x) && isfinite((float)y)) {
        become(s, i, one(inner->code == TN_LOOP_AFFINE ? TN_LOOP_AFFINE : TN_LOOP_HARD_SWISH_AFFINE, inner->a, x, y));
    }
}

// A ramp that is clipped to 0 .. 1.
static void join_ramp(shorten *s, tn_loop_instr *i)
{
    const tn_loop_instr *inner = i->code == TN_LOOP_CLIP && i->x == 0 && i->y == 1 ? made_by(s, i->a) : NULL;
    if (inner && inner->code == TN_LOOP_AFFINE && s->uses[i->a] == 1) {
        become(s, i, one(TN_LOOP_HARD_SIGMOID, inner->a, inner->x, inner->y));
    }
}

// A clip of a clip; a clip from 0 up is relu.
static void join_clip(shorten *s, tn_loop_instr *i)
{
    if (i->code != TN_LOOP_CLIP) {
        return;
    }
    const tn_loop_instr *inner = made_by(s, i->a);
    const bool relu = inner && inner->code == TN_LOOP_RELU;
    if (inner && s->uses[i->a] == 1 && i->x <= i->y && (relu || (inner->code == TN_LOOP_CLIP && inner->x <= inner->y))) {
        const float low = relu ? 0 : inner->x, high = relu ? INFINITY : inner->y;
        become(s, i, one(TN_LOOP_CLIP, inner->a, fminf(fmaxf(low, i->x), i->y), fminf(fmaxf(high, i->x), i->y)));
    }
    if (i->x == 0 && i->y == INFINITY) {
        become(s, i, one(TN_LOOP_RELU, i->a, 0, 0));
    }
}

// a * b + c.
static void join_madd(shorten *s, tn_loop_instr *i)
{
    if (i->code != TN_LOOP_ADD) {
        return;
    }
    for (int side = 0; side < 2; side++) {
        const int product = side ? i->b : i->a, other = side ? i->a : i->b;
        if (is_code(s, product, TN_LOOP_MUL) && s->uses[product] == 1) {
            tn_loop_instr madd = two(TN_LOOP_MADD, made_by(s, product)->a, made_by(s, product)->b);
            madd.c = (uint8_t)other;
            become(s, i, madd);
            return;
        }
    }
}

// 1 / sqrt(a), also as a divisor.
static void join_rsqrt(shorten *s, tn_loop_instr *i)
{
    if (i->code == TN_LOOP_RECIP && is_code(s, i->a, TN_LOOP_SQRT) && s->uses[i->a] == 1) {
        become(s, i, one(TN_LOOP_RSQRT, made_by(s, i->a)->a, 0, 0));
    } else if (i->code == TN_LOOP_DIV && is_code(s, i->b, TN_LOOP_SQRT) && s->uses[i->b] == 1 && i->a != i->b) {
        tn_loop_instr *root = made_by(s, i->b);
        become(s, root, one(TN_LOOP_RSQRT, root->a, 0, 0));
        become(s, i, two(TN_LOOP_MUL, i->a, i->b));
    }
}

// ---- the walk ----

// Operand k of an instruction.
static uint8_t *operand(tn_loop_instr *instr, int k) { return k == 0 ? &instr->a : k == 1 ? &instr->b : &instr->c; }

// How often each register is read. A rule that swallows an instruction asks that nothing else reads it.
static void count_uses(shorten *s)
{
    memset(s->uses, 0, sizeof s->uses);
    s->uses[s->result]++;
    for (int n = 0; n < s->loop->n_code; n++) {
        for (int k = 0; k < tn_loop_code_operands((tn_loop_code)s->loop->code[n].code); k++) {
            s->uses[*operand(&s->loop->code[n], k)]++;
        }
    }
}

// The register an instruction only repeats, or -1.
static int repeats(const tn_loop_instr *i)
{
    return i->code == TN_LOOP_AFFINE && i->x == 1 && i->y == 0 ? i->a : -1;
}

// Keeps what the result needs, in order, and renumbers.
static void compact(shorten *s)
{
    bool needed[MAX_REGISTERS] = {false};
    int now[MAX_REGISTERS], kept = 0;
    const int n_in = s->loop->n_inputs;
    needed[s->result] = true;
    for (int n = s->loop->n_code - 1; n >= 0; n--) {
        for (int k = 0; needed[n_in + n] && k < tn_loop_code_operands((tn_loop_code)s->loop->code[n].code); k++) {
            needed[*operand(&s->loop->code[n], k)] = true;
        }
    }
    for (int r = 0; r < n_in; r++) {
        now[r] = r;
    }
    for (int n = 0; n < s->loop->n_code; n++) {
        if (!needed[n_in + n]) {
            continue;
        }
        tn_loop_instr instr = s->loop->code[n];
        for (int k = 0; k < tn_loop_code_operands((tn_loop_code)instr.code); k++) {
            *operand(&instr, k) = (uint8_t)now[*operand(&instr, k)];
        }
        now[n_in + n] = n_in + kept;
        s->loop->code[kept++] = instr;
    }
    memset(s->loop->code + kept, 0, (size_t)(s->loop->n_code - kept) * sizeof s->loop->code[0]);
    s->loop->n_code = kept;
}

bool tn_chain_simplify(tn_loop *loop, int result)
{
    static void (*const rules[])(shorten *, tn_loop_instr *) = {take_constant, join_affine, join_ramp,
                                                                join_clip,     join_madd,   join_rsqrt};
    shorten s = {.loop = loop, .result = result};
    count_uses(&s);
    for (int n = 0; n < loop->n_code; n++) {
        tn_loop_instr *instr = &loop->code[n];
        // What only repeats another register is read there.
        for (int k = 0; k < tn_loop_code_operands((tn_loop_code)instr->code); k++) {
            const tn_loop_instr *from = made_by(&s, *operand(instr, k));
            const int same = from ? repeats(from) : -1;
            if (same >= 0) {
                s.uses[*operand(instr, k)]--;
                s.uses[same]++;
                *operand(instr, k) = (uint8_t)same;
            }
        }
        for (size_t r = 0; r < TN_COUNT(rules); r++) {
            rules[r](&s, instr);
        }
    }
    const tn_loop_instr *last = made_by(&s, s.result);
    if (last && repeats(last) >= 0) {
        s.result = repeats(last);
    }
    if (s.result < loop->n_inputs) {
        return false;
    }
    compact(&s);
    return true;
}
