// SPDX-License-Identifier: Apache-2.0
// Regular expressions in three steps: the parser makes a tree, the tree becomes a program, the program runs on sets of states.
//
//   a(b|c)*     SEQUENCE  SET a                  0 SET a
//                         REPEAT 0..             1 SPLIT 2, 6      2 SPLIT 3, 5     3 SET b   4 JUMP 1 ...
//                           CHOICE  SET b, SET c
//
// Ownership: tree and program are in one arena. Threads: one at a time.
#include "ops/text/regex.h"

#include "base/arena.h"
#include "base/macros.h"
#include "ops/text/utf8.h"

#include <stdint.h>
#include <string.h>

enum {
    MAX_NESTING = 200,       // groups
    MAX_REPEAT = 1000,       // as RE2
    MAX_PROGRAM = 1 << 15,   // instructions
    MAX_WORK = 1 << 18,      // tree nodes visited while they are made: repetitions of repetitions of nothing
    LAST = 0x10ffff
};

typedef struct range { uint32_t low, high; } range;

typedef struct set {
    range *ranges;
    size_t count, capacity;
    bool negated;
} set;

typedef enum kind { SEQUENCE, CHOICE, REPEAT, SET, LOOK } kind;

enum { TEXT_BEGIN, TEXT_END, LINE_BEGIN, LINE_END, WORD_EDGE, NO_WORD_EDGE };   // of LOOK

typedef struct tree {
    kind kind;
    struct tree *child, *next;   // SEQUENCE, CHOICE: a list; REPEAT: one child
    int min, max;                // REPEAT; max -1: no end
    int look;
    const set *set;
} tree;

enum { RUN_SET, RUN_SPLIT, RUN_LOOK, RUN_MATCH };

typedef struct code {
    int what;
    int x, y;                    // SPLIT: both targets (y -1: none). SET, LOOK: x is the next instruction
    int look;
    const set *set;
} code;

// Positions that are alive: a list, and a mark for each that says in which turn it was added.
typedef struct states {
    int *list;
    int count;
} states;

struct tn_regex {
    tn_heap *heap;
    tn_arena arena;
    code *program;
    int length;
    states now, later;
    int *stack;
    uint64_t *mark;
    uint64_t turn;
};

typedef struct parser {
    tn_regex *regex;
    const char *at, *end;
    const char *fault;
    int depth, work;
    bool fold, lines, all;       // flags i, m, s
} parser;

static void *fail(parser *p, const char *fault)
{
    p->fault = p->fault ? p->fault : fault;
    return NULL;
}

static tree *new_tree(parser *p, kind kind)
{
    tree *made = tn_arena_take(&p->regex->arena, sizeof *made);
    if (!made) {
        return fail(p, "no memory");
    }
    made->kind = kind;
    return made;
}

// ---- sets ----

static void add_range(parser *p, set *s, uint32_t low, uint32_t high)
{
    range *ranges = tn_arena_grow(&p->regex->arena, s->ranges, s->count, &s->capacity, sizeof *ranges);
    if (!ranges) {
        fail(p, "no memory");
        return;
    }
    s->ranges = ranges;
    ranges[s->count++] = (range){low, high};
}

// The range, and with flag i the other case of its letters.
static void add_folded(parser *p, set *s, uint32_t low, uint32_t high)
{
    add_range(p, s, low, high);
    if (!p->fold) {
        return;
    }
    const uint32_t upper[2] = {TN_MAX(low, 'A'), TN_MIN(high, 'Z')}, lower[2] = {TN_MAX(low, 'a'), TN_MIN(high, 'z')};
    if (upper[0] <= upper[1]) {
        add_range(p, s, upper[0] + 32, upper[1] + 32);
    }
    if (lower[0] <= lower[1]) {
        add_range(p, s, lower[0] - 32, lower[1] - 32);
    }
    if (low == high && low >= 0x80) {
        add_range(p, s, tn_utf8_lower(low), tn_utf8_lower(low));
        add_range(p, s, tn_utf8_upper(low), tn_utf8_upper(low));
    }
}

// Ranges in rising order, or all that is between them.
static void add_class(parser *p, set *s, const range *ranges, size_t count, bool negated)
{
    uint32_t from = 0;
    for (size_t i = 0; i < count; i++) {
        if (!negated) {
            add_range(p, s, ranges[i].low, ranges[i].high);
        } else if (ranges[i].low > from) {
            add_range(p, s, from, ranges[i].low - 1);
        }
        from = ranges[i].high + 1;
    }
    if (negated) {
        add_range(p, s, from, LAST);
    }
}

static const range digits[] = {{'0', '9'}};
static const range spaces[] = {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};
static const range words[] = {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}};

// \d \D \s \S \w \W; false: the letter is none of them.
static bool add_perl_class(parser *p, set *s, char letter)
{
    switch (letter) {
    case 'd': case 'D': add_class(p, s, digits, TN_COUNT(digits), letter == 'D'); return true;
    case 's': case 'S': add_class(p, s, spaces, TN_COUNT(spaces), letter == 'S'); return true;
    case 'w': case 'W': add_class(p, s, words, TN_COUNT(words), letter == 'W'); return true;
    default: return false;
    }
}

typedef struct named { const char *name; range ranges[4]; size_t count; } named;

static const named names[] = {
    {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3}, {"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2}, {"ascii", {{0, 127}}, 1},
    {"blank", {{'\t', '\t'}, {' ', ' '}}, 2}, {"cntrl", {{0, 31}, {127, 127}}, 2}, {"digit", {{'0', '9'}}, 1},
    {"graph", {{'!', '~'}}, 1}, {"lower", {{'a', 'z'}}, 1}, {"print", {{' ', '~'}}, 1},
    {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4}, {"space", {{'\t', '\r'}, {' ', ' '}}, 2},
    {"upper", {{'A', 'Z'}}, 1}, {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
    {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3},
};

// [:name:] and [:^name:] at p->at, behind "[:". false: it is none, and nothing was read.
static bool add_named_class(parser *p, set *s)
{
    const char *at = p->at;
    const bool negated = at < p->end && *at == '^';
    at += negated;
    for (size_t i = 0; i < TN_COUNT(names); i++) {
        const size_t length = strlen(names[i].name);
        if ((size_t)(p->end - at) >= length + 2 && memcmp(at, names[i].name, length) == 0 && at[length] == ':' && at[length + 1] == ']') {
            add_class(p, s, names[i].ranges, names[i].count, negated);
            p->at = at + length + 2;
            return true;
        }
    }
    return false;
}

static bool is_word(uint32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z'); }

static bool contains(const set *s, uint32_t c)
{
    bool found = false;
    for (size_t i = 0; i < s->count && !found; i++) {
        found = c >= s->ranges[i].low && c <= s->ranges[i].high;
    }
    return found != s->negated;
}

// ---- parser: single characters ----

static int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// \x7F or \x{10FFFF}, behind the x.
static uint32_t parse_hex(parser *p)
{
    uint32_t value = 0;
    const bool braces = p->at < p->end && *p->at == '{';
    p->at += braces;
    int count = 0;
    for (; p->at < p->end && hex_of(*p->at) >= 0 && count < (braces ? 6 : 2); count++) {
        value = value * 16 + (uint32_t)hex_of(*p->at++);
    }
    if (count < (braces ? 1 : 2) || value > LAST || (braces && (p->at == p->end || *p->at++ != '}'))) {
        fail(p, "a bad hexadecimal escape");
    }
    return value;
}

// A character behind a backslash that stands for one code point.
static uint32_t parse_escape(parser *p)
{
    static const char from[] = "aftnrv", to[] = "\a\f\t\n\r\v";
    if (p->at == p->end) {
        fail(p, "a backslash at the end");
        return 0;
    }
    const char *found = *p->at ? strchr(from, *p->at) : NULL;
    if (found) {
        p->at++;
        return (unsigned char)to[found - from];
    }
    if (*p->at == 'x') {
        p->at++;
        return parse_hex(p);
    }
    if (*p->at >= '0' && *p->at <= '7') {
        uint32_t value = 0;
        for (int i = 0; i < 3 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; i++) {
            value = value * 8 + (uint32_t)(*p->at++ - '0');
        }
        return value;
    }
    if (is_word((unsigned char)*p->at)) {
        fail(p, "an escape that is not supported");
        return 0;
    }
    return tn_utf8_next(&p->at, p->end);
}

// One end of a range in a class.
static uint32_t parse_end(parser *p)
{
    if (*p->at == '\\') {
        p->at++;
        return parse_escape(p);
    }
    return tn_utf8_next(&p->at, p->end);
}

// [...] behind the bracket.
static tree *parse_class(parser *p)
{
    tree *made = new_tree(p, SET);
    set *s = made ? tn_arena_take(&p->regex->arena, sizeof *s) : NULL;
    if (!s) {
        return fail(p, "no memory");
    }
    made->set = s;
    if (p->at < p->end && *p->at == '^') {
        s->negated = true;
        p->at++;
    }
    for (bool first = true; !p->fault; first = false) {
        if (p->at == p->end) {
            return fail(p, "a class without its end");
        }
        if (*p->at == ']' && !first) {
            p->at++;
            break;
        }
        if (p->end - p->at > 2 && p->at[0] == '[' && p->at[1] == ':') {
            p->at += 2;
            if (add_named_class(p, s)) {
                continue;
            }
            p->at -= 2;
        }
        if (p->end - p->at > 1 && p->at[0] == '\\' && add_perl_class(p, s, p->at[1])) {
            p->at += 2;
            continue;
        }
        const uint32_t low = parse_end(p);
        uint32_t high = low;
        if (p->end - p->at > 1 && p->at[0] == '-' && p->at[1] != ']') {
            p->at++;
            high = parse_end(p);
        }
        if (high < low) {
            return fail(p, "a range that runs backwards");
        }
        add_folded(p, s, low, high);
    }
    return made;
}

static tree *new_set(parser *p, set **out)
{
    tree *made = new_tree(p, SET);
    *out = made ? tn_arena_take(&p->regex->arena, sizeof **out) : NULL;
    if (!*out) {
        return fail(p, "no memory");
    }
    made->set = *out;
    return made;
}

static tree *literal(parser *p, uint32_t c)
{
    set *s;
    tree *made = new_set(p, &s);
    if (made) {
        add_folded(p, s, c, c);
    }
    return made;
}

static tree *look(parser *p, int what)
{
    tree *made = new_tree(p, LOOK);
    if (made) {
        made->look = what;
    }
    return made;
}

// Behind a backslash outside classes.
static tree *parse_backslash(parser *p)
{
    set *s;
    const char letter = p->at < p->end ? *p->at : 0;
    static const char looks[] = "Az\1\1bB";   // in the order of the enum; no letter for lines
    const char *found = letter ? strchr(looks, letter) : NULL;
    if (found && *found != 1) {
        p->at++;
        return look(p, (int)(found - looks));
    }
    if (letter && strchr("dDsSwW", letter)) {
        tree *made = new_set(p, &s);
        p->at++;
        if (made) {
            add_perl_class(p, s, letter);
        }
        return made;
    }
    const uint32_t c = parse_escape(p);
    return p->fault ? NULL : literal(p, c);
}

// ---- parser: groups, repetitions, choices ----

static tree *parse_choice(parser *p);

// (?flags) and (?flags:, behind the question mark; *group: a group follows.
static void parse_flags(parser *p, bool *group)
{
    bool value = true;
    for (; p->at < p->end; p->at++) {
        switch (*p->at) {
        case 'i': p->fold = value; break;
        case 'm': p->lines = value; break;
        case 's': p->all = value; break;
        case 'U': break;
        case '-': value = false; break;
        case ':': case ')': *group = *p->at++ == ':'; return;
        default: fail(p, "a group with an unknown flag"); return;
        }
    }
    fail(p, "a group without its end");
}

// P<name> or <name>: the name has no use here.
static void parse_name(parser *p)
{
    p->at += *p->at == 'P';
    const char *from = p->at + 1;
    const char *close = p->at < p->end && *p->at == '<' ? memchr(p->at, '>', (size_t)(p->end - p->at)) : NULL;
    bool good = close && close > from;
    for (const char *at = from; good && at < close; at++) {
        good = is_word((unsigned char)*at);
    }
    if (!good) {
        fail(p, "a group that is not supported");
        return;
    }
    p->at = close + 1;
}

// Behind the opening parenthesis.
static tree *parse_group(parser *p)
{
    const bool fold = p->fold, lines = p->lines, all = p->all;
    bool group = true;
    if (++p->depth > MAX_NESTING) {
        return fail(p, "groups are nested too deep");
    }
    if (p->at < p->end && *p->at == '?') {
        p->at++;
        if (p->at < p->end && (*p->at == 'P' || *p->at == '<')) {
            parse_name(p);
        } else {
            parse_flags(p, &group);
        }
    }
    if (!group) {
        p->depth--;
        return p->fault ? NULL : new_tree(p, SEQUENCE);   // the flags hold to the end of the group around
    }
    tree *made = p->fault ? NULL : parse_choice(p);
    if (!p->fault && (p->at == p->end || *p->at++ != ')')) {
        return fail(p, "a group without its end");
    }
    p->fold = fold;
    p->lines = lines;
    p->all = all;
    p->depth--;
    return made;
}

static tree *parse_dot(parser *p)
{
    set *s;
    tree *made = new_set(p, &s);
    if (made && p->all) {
        add_range(p, s, 0, LAST);
    } else if (made) {
        s->negated = true;
        add_range(p, s, '\n', '\n');
    }
    return made;
}

static tree *parse_atom(parser *p)
{
    const char c = *p->at;
    switch (c) {
    case '(': p->at++; return parse_group(p);
    case '[': p->at++; return parse_class(p);
    case '.': p->at++; return parse_dot(p);
    case '^': p->at++; return look(p, p->lines ? LINE_BEGIN : TEXT_BEGIN);
    case '$': p->at++; return look(p, p->lines ? LINE_END : TEXT_END);
    case '\\': p->at++; return parse_backslash(p);
    case '*': case '+': case '?': return fail(p, "a repetition of nothing");
    default: return literal(p, tn_utf8_next(&p->at, p->end));
    }
}

// A number of at most 4 digits; -1: there is none.
static int parse_number(const char **at, const char *end)
{
    int value = -1;
    for (int i = 0; i < 5 && *at < end && **at >= '0' && **at <= '9'; i++) {
        value = (value < 0 ? 0 : value) * 10 + (*(*at)++ - '0');
    }
    return value;
}

// {n}, {n,} or {n,m} at p->at; false: it is none of these, the brace is a literal.
static bool parse_counts(parser *p, int *min, int *max)
{
    const char *at = p->at + 1;
    *min = parse_number(&at, p->end);
    *max = *min;
    if (*min < 0 || at == p->end) {
        return false;
    }
    if (*at == ',') {
        at++;
        *max = parse_number(&at, p->end);
    }
    if (at == p->end || *at != '}') {
        return false;
    }
    p->at = at + 1;
    if (*min > MAX_REPEAT || *max > MAX_REPEAT || (*max >= 0 && *max < *min)) {
        fail(p, "a bad number of repetitions");
    }
    return true;
}

// The repetition behind an atom, if there is one.
static tree *parse_repeat(parser *p, tree *atom)
{
    int min = 0, max = -1;
    if (p->at == p->end || p->fault) {
        return atom;
    }
    if (*p->at == '*' || *p->at == '+' || *p->at == '?') {
        min = *p->at == '+';
        max = *p->at == '?' ? 1 : -1;
        p->at++;
    } else if (*p->at != '{' || !parse_counts(p, &min, &max)) {
        return atom;
    }
    if (p->at < p->end && *p->at == '?') {
        p->at++;   // lazy: the same strings match as a whole
    }
    if (p->at < p->end && (*p->at == '*' || *p->at == '+' || *p->at == '?')) {
        return fail(p, "a repetition of a repetition");
    }
    tree *made = new_tree(p, REPEAT);
    if (made) {
        made->child = atom;
        made->min = min;
        made->max = max;
    }
    return made;
}

// \Q...\E: everything between is literal; a repetition behind it is one of the last character. p->at is behind \Q.
static tree **parse_quoted(parser *p, tree **tail)
{
    tree **last = NULL;
    while (p->at < p->end && !p->fault) {
        if (p->end - p->at > 1 && p->at[0] == '\\' && p->at[1] == 'E') {
            p->at += 2;
            if (last) {
                *last = parse_repeat(p, *last);
                tail = *last ? &(*last)->next : last;
            }
            return tail;
        }
        *tail = literal(p, tn_utf8_next(&p->at, p->end));
        last = *tail ? tail : last;
        tail = *tail ? &(*tail)->next : tail;
    }
    return tail;
}

static tree *parse_sequence(parser *p)
{
    tree *made = new_tree(p, SEQUENCE), **tail = made ? &made->child : NULL;
    while (tail && !p->fault && p->at < p->end && *p->at != '|' && *p->at != ')') {
        if (p->end - p->at > 1 && p->at[0] == '\\' && p->at[1] == 'Q') {
            p->at += 2;
            tail = parse_quoted(p, tail);
            continue;
        }
        tree *atom = parse_repeat(p, parse_atom(p));
        if (atom) {
            *tail = atom;
            tail = &atom->next;
        }
    }
    return made;
}

static tree *parse_choice(parser *p)
{
    tree *first = parse_sequence(p);
    if (p->fault || p->at == p->end || *p->at != '|') {
        return first;
    }
    tree *made = new_tree(p, CHOICE);
    if (!made) {
        return NULL;
    }
    made->child = first;
    for (tree *last = first; !p->fault && p->at < p->end && *p->at == '|'; last = last->next) {
        p->at++;
        last->next = parse_sequence(p);
        if (!last->next) {
            return NULL;
        }
    }
    return made;
}

// ---- program ----

// The next instruction; -1 when the program is full.
static int emit(parser *p, int what, int x, int y)
{
    tn_regex *regex = p->regex;
    if (regex->length == MAX_PROGRAM || p->fault) {
        fail(p, "the pattern is too large");
        return -1;
    }
    regex->program[regex->length] = (code){.what = what, .x = x, .y = y};
    return regex->length++;
}

static void make(parser *p, const tree *t);

static void make_repeat(parser *p, const tree *t)
{
    tn_regex *regex = p->regex;
    for (int i = 0; i < t->min && !p->fault; i++) {
        make(p, t->child);
    }
    if (t->max < 0) {
        const int split = emit(p, RUN_SPLIT, regex->length + 1, 0);
        make(p, t->child);
        emit(p, RUN_SPLIT, split, -1);
        if (split >= 0) {
            regex->program[split].y = regex->length;
        }
        return;
    }
    // At most: each optional copy may leave to the end.
    int before = -1;
    for (int i = t->min; i < t->max && !p->fault; i++) {
        const int split = emit(p, RUN_SPLIT, regex->length + 1, before);
        make(p, t->child);
        before = split;
    }
    for (int split = before, next; split >= 0 && !p->fault; split = next) {
        next = regex->program[split].y;
        regex->program[split].y = regex->length;
    }
}

static void make_choice(parser *p, const tree *t)
{
    tn_regex *regex = p->regex;
    int jumps = -1;   // a chain of jumps to the end
    for (const tree *child = t->child; child && !p->fault; child = child->next) {
        const int split = child->next ? emit(p, RUN_SPLIT, regex->length + 1, 0) : -1;
        make(p, child);
        if (child->next) {
            jumps = emit(p, RUN_SPLIT, jumps, -1);
        }
        if (split >= 0) {
            regex->program[split].y = regex->length;
        }
    }
    for (int jump = jumps, next; jump >= 0 && !p->fault; jump = next) {
        next = regex->program[jump].x;
        regex->program[jump].x = regex->length;
    }
}

// Recursion is as deep as groups are nested.
static void make(parser *p, const tree *t)
{
    if (p->fault || ++p->work > MAX_WORK) {
        fail(p, "the pattern is too large");
        return;
    }
    if (t->kind == REPEAT) {
        make_repeat(p, t);
    } else if (t->kind == CHOICE) {
        make_choice(p, t);
    } else if (t->kind == SEQUENCE) {
        for (const tree *child = t->child; child && !p->fault; child = child->next) {
            make(p, child);
        }
    } else {
        const int at = emit(p, t->kind == SET ? RUN_SET : RUN_LOOK, 0, -1);
        if (at >= 0) {
            p->regex->program[at].x = at + 1;
            p->regex->program[at].look = t->look;
            p->regex->program[at].set = t->set;
        }
    }
}

static bool take_states(tn_regex *regex)
{
    const size_t n = (size_t)regex->length;
    regex->now.list = tn_arena_array(&regex->arena, n, sizeof(int));
    regex->later.list = tn_arena_array(&regex->arena, n, sizeof(int));
    regex->stack = tn_arena_array(&regex->arena, 2 * n + 2, sizeof(int));
    regex->mark = tn_arena_array(&regex->arena, n, sizeof *regex->mark);
    return regex->now.list && regex->later.list && regex->stack && regex->mark;
}

tn_regex *tn_regex_compile(const char *pattern, tn_heap *heap, const char **fault)
{
    tn_regex *regex = tn_take_zero(heap, 1, sizeof *regex);
    if (!regex) {
        *fault = "no memory";
        return NULL;
    }
    regex->heap = heap;
    tn_arena_init(&regex->arena, heap);
    parser p = {.regex = regex, .at = pattern, .end = pattern + strlen(pattern)};
    tree *root = parse_choice(&p);
    if (!p.fault && p.at < p.end) {
        fail(&p, "a closing parenthesis too many");
    }
    regex->program = p.fault ? NULL : tn_arena_array(&regex->arena, MAX_PROGRAM, sizeof *regex->program);
    if (regex->program) {
        make(&p, root);
        emit(&p, RUN_MATCH, 0, -1);
    }
    if (!p.fault && (!regex->program || !take_states(regex))) {
        fail(&p, "no memory");
    }
    if (p.fault) {
        *fault = p.fault;
        tn_regex_free(regex);
        return NULL;
    }
    return regex;
}

void tn_regex_free(tn_regex *regex)
{
    if (regex) {
        tn_arena_deinit(&regex->arena);
        tn_give(regex->heap, regex);
    }
}

// ---- running ----

#define NOTHING UINT32_MAX   // before the text and behind it

static bool holds(int what, uint32_t before, uint32_t after)
{
    switch (what) {
    case TEXT_BEGIN: return before == NOTHING;
    case TEXT_END: return after == NOTHING;
    case LINE_BEGIN: return before == NOTHING || before == '\n';
    case LINE_END: return after == NOTHING || after == '\n';
    default: return ((before != NOTHING && is_word(before)) != (after != NOTHING && is_word(after))) == (what == WORD_EDGE);
    }
}

// Adds an instruction and all that are reached from it without reading. Each is pushed at most twice: once by each split.
static void reach(tn_regex *regex, states *to, int from, uint32_t before, uint32_t after)
{
    int depth = 0;
    regex->stack[depth++] = from;
    while (depth > 0) {
        const int at = regex->stack[--depth];
        const code *c = &regex->program[at];
        if (regex->mark[at] == regex->turn) {
            continue;
        }
        regex->mark[at] = regex->turn;
        if (c->what == RUN_SPLIT) {
            if (c->y >= 0) {
                regex->stack[depth++] = c->y;
            }
            regex->stack[depth++] = c->x;
        } else if (c->what == RUN_LOOK) {
            if (holds(c->look, before, after)) {
                regex->stack[depth++] = c->x;
            }
        } else {
            to->list[to->count++] = at;
        }
    }
}

bool tn_regex_full_match(tn_regex *regex, const char *text, size_t length, const volatile int *cancel)
{
    const char *at = text, *end = text + length;
    uint32_t before = NOTHING, c = at < end ? tn_utf8_next(&at, end) : NOTHING;
    regex->turn++;
    regex->now.count = 0;
    reach(regex, &regex->now, 0, before, c);
    for (size_t read = 0; c != NOTHING && regex->now.count > 0; read++) {
        if (read % 64 == 0 && cancel && *cancel) {
            return false;
        }
        const uint32_t after = at < end ? tn_utf8_next(&at, end) : NOTHING;
        regex->turn++;
        regex->later.count = 0;
        for (int i = 0; i < regex->now.count; i++) {
            const code *one = &regex->program[regex->now.list[i]];
            if (one->what == RUN_SET && contains(one->set, c)) {
                reach(regex, &regex->later, one->x, c, after);
            }
        }
        const states swap = regex->now;
        regex->now = regex->later;
        regex->later = swap;
        before = c;
        c = after;
    }
    bool match = false;
    for (int i = 0; i < regex->now.count && c == NOTHING; i++) {
        match |= regex->program[regex->now.list[i]].what == RUN_MATCH;
    }
    return match;
}
