#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes hx_columns_begin.inc, hx_columns_loops.S and hx_columns_q31.S: loops of the Hexagon vector unit whose rounds overlap.

usage: hexagon_loops.py FOLDER [--steps N] [--seed N] [--only LOOP]

A round is written here as what it computes: instructions, what each takes of a packet, and the webs (what lives in a register) that they
make and read. scripts/hexagon_anneal.c, compiled by `cc`, places them in packets; registers are given here. The same seed gives the same
file. Takes some minutes of processor time a loop; where no place is found other seeds are tried. With --only one loop of the files is written anew.
"""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

LICENCE = '// SPDX-License-Identifier: Apache-2.0\n'
BEGIN = LICENCE + '''// What the loops of hx_columns_loops.S and hx_columns_q31.S begin and end with.
//
//   void tn_hx_columns_...(const tn_hx_columns_job *job)
//
//   r26  records; m1 from one to the next    r28, r27  x and result of the first plane    r25, r24  one pixel, two (stride 2: a row)
//   m0   from row to row (line: planes)      r5, r6    distances of shuffles              r7        down
//   r4   where lines begin (quarter, line)
//   v27..v30  clamps      v26, v31  padding of the result, of x      v23..v25  of a gap: -1, odd, bits; fixed_q31: v25 the zero point
    .text

    .macro begin record
    { allocframe(#48) }
    { memd(r29 + #0) = r17:16; memd(r29 + #8) = r19:18 }
    { memd(r29 + #16) = r21:20; memd(r29 + #24) = r23:22 }
    { memd(r29 + #32) = r25:24; memd(r29 + #40) = r27:26 }
    { r28 = memw(r0 + #0); r27 = memw(r0 + #4) }
    { r26 = memw(r0 + #8); r1 = memw(r0 + #12); r2 = #\\record }
    { r3 = memw(r0 + #16); r12 = memw(r0 + #20); m1 = r2 }
    { r4 = memw(r0 + #24); r13 = memw(r0 + #28); m0 = r3 }
    { v30 = vmem(r4 + #0); r14 = memw(r0 + #32) }
    { v29 = vmem(r4 + #1); r15 = memw(r0 + #36) }
    { v28 = vmem(r4 + #2); r8 = memw(r0 + #40) }
    { v27 = vmem(r4 + #3); v31 = vsplat(r15); v26 = vsplat(r8) }
    { v25 = vsplat(r13); v24 = vsplat(r14); r9 = #-1 }
    { v23 = vsplat(r9); r25 = #4; r24 = #8; r7 = r12 }
    .endm

    .macro end
    { r17:16 = memd(r29 + #0); r19:18 = memd(r29 + #8) }
    { r21:20 = memd(r29 + #16); r23:22 = memd(r29 + #24) }
    { r25:24 = memd(r29 + #32); r27:26 = memd(r29 + #40) }
    { dealloc_return }
    .endm
'''

# Files, and what is in them.
HEADS = {'hx_columns_loops.S': '''// The loops of hx_columns.c and hx_blocks.c: a round is 128 pixels of the four channels of a plane (quarter, line: 64), whose constants it loads
// itself. scripts/hexagon_loops.py says what a round is and writes such files, with as many packets in other places. A round is spread over two
// (quarter, line: three); those before the first and behind the last read records that are there for it.
''', 'hx_columns_q31.S': '''// As hx_columns_loops.S, requantised by the definition of fixed_q31 and not by lines. scripts/hexagon_loops.py writes such files.
'''}
INCLUDE = '#include "exec/hexagon/dsp/kernels/depthwise/hx_columns_begin.inc"\n'

# What an instruction takes: places, memory, vector load, vector store, multipliers, permutation, shift, other vector units.
SCALAR = (1, 0, 0, 0, 0, 0, 0, 0)
MEMD = (1, 1, 0, 0, 0, 0, 0, 0)
LOAD = (1, 1, 1, 0, 0, 0, 0, 1)
ANY_LOAD = (2, 2, 1, 0, 0, 1, 0, 0)       # at any address: both places for memory
ANY_STORE = (2, 2, 0, 1, 0, 1, 0, 0)
STORE = (1, 1, 0, 1, 0, 0, 0, 1)
LAST_STORE = (2, 1, 0, 1, 0, 0, 0, 1)     # of what another instruction of the packet makes, which the store then needs no unit for
SIMPLE = (1, 0, 0, 0, 0, 0, 0, 1)
PERMUTE = (1, 0, 0, 0, 0, 1, 0, 0)
SHIFT = (1, 0, 0, 0, 0, 0, 1, 0)
SHUFFLE = (1, 0, 0, 0, 0, 1, 1, 0)        # of a pair of vectors
MULTIPLY = (1, 0, 0, 0, 1, 0, 0, 0)
MULTIPLY_ALL = (1, 0, 0, 0, 2, 0, 0, 0)


class Loop:
    """Instructions of a round. In texts <web> is its register, <web/0> the lower one of a pair, @n@ the byte n of the round's record."""

    def __init__(self, record, ahead, in_order=False):
        self.record, self.field, self.ahead, self.in_order = record, 8, ahead, in_order
        self.ops, self.webs, self.place, self.parts, self.near = [], {}, {}, {}, []
        self.first = 'load ta0' if in_order else 'offsets'   # moves the pointer to records on
        self.base = 8 if in_order else 0                     # its field

    def add(self, name, takes, text, makes=None, reads=(), after=(), kind='v', size=1):
        self.place[name] = len(self.ops)
        self.ops.append((name, takes, text, makes, list(reads), list(after)))
        if makes:
            self.webs[makes] = (kind, size)

    def load_pair(self, name, kind='r'):
        at = '++m1' if self.first == 'load ' + name else f'+#@{self.field}@'
        self.add('load ' + name, MEMD, f'<{name}> = memd(r26{at})', name, kind=kind, size=2)
        self.field += 8

    def load_start(self, name, web):
        """The next of a round's starts, which lie one after the other."""
        before = [op[0] for op in self.ops if op[0].startswith('start ')]
        self.add(name, LOAD, f'<{web}> = vmem(r4++#1)', web, after=before[-1:])
        self.near += [(before[0], name)] if before else []

    def add_near(self, name, last):
        """Both use a pointer that the latter moves on."""
        self.near.append((name, last))

    def sum(self, name):
        """Web and text of a finished sum, which may be half of a pair."""
        web, half = self.parts.get('S' + name, ('S' + name, None))
        return web, f'<{web}>' if half is None else f'<{web}/{half}>'

    def graph(self):
        makers = {op[3]: i for i, op in enumerate(self.ops) if op[3]}
        readers = {w: [i for i, op in enumerate(self.ops) if w in op[4]] for w in self.webs}
        deps = {(self.place[a], i) for i, op in enumerate(self.ops) for a in op[5]}
        deps |= {(makers[w], i) for w in self.webs for i in readers[w]} | {(self.place[a], self.place[b]) for a, b in self.near}
        return makers, readers, sorted(deps)


def begin_plane(loop, beside=False):
    loop.add('offsets', MEMD, '<offsets> = memd(r26++m1)', 'offsets', kind='r', size=2)
    loop.add('x', SCALAR, '<x> = add(r28,<offsets/0>)', 'x', ['offsets'], kind='r')
    loop.add('y', SCALAR, f'<y> = add(r27,<offsets/{int(not beside)}>)', 'y', ['offsets'], kind='r')
    if beside:
        loop.add('z', SCALAR, '<z> = add(r27,<offsets/1>)', 'z', ['offsets'], kind='r')


def requantise(loop, even, rows):
    """Sums of each row of channels a..d to o and the row; lines of hx_line.h. even: with a gap."""
    for pair in ('ac', 'bd') if even else ():
        loop.add('limit ' + pair, MULTIPLY, f'<limit{pair}> = vsplat(<limits/{int(pair == "bd")}>)', 'limit' + pair, ['limits'])
    for row in rows:
        for which, pair in enumerate(('ac', 'bd')):
            k = row + pair
            (u, even_sum), (w, odd_sum) = (loop.sum(row + c) for c in pair)
            loop.add('h' + k, SIMPLE, f'<h{k}>.h = vshuffo({odd_sum}.h,{even_sum}.h)', 'h' + k, [u, w], [f'add {row}{c}' for c in pair])
            loop.add('z' + k, MULTIPLY_ALL, f'<z{k}>.w = vmpy(<h{k}>.h,<lower/{which}>.h)', 'z' + k, ['h' + k, 'lower'], size=2)
            for half, c in enumerate(pair):
                web, text = loop.sum(row + c)
                loop.add(f'z{k}{half}', MULTIPLY_ALL, f'<z{k}/{half}>.w += vmpyo({text}.w,<m{c}>.h):<<1:rnd:sat:shift', None,
                         ['z' + k, web, 'm' + c], ['z' + k, f'add {row}{c}'])
            both = [f'z{k}0', f'z{k}1']
            loop.add('q' + k, SIMPLE, f'<q{k}>.h = vshuffo(<z{k}/1>.h,<z{k}/0>.h)', 'q' + k, ['z' + k], both)
            if even:
                loop.add('f' + k, SIMPLE, f'<f{k}>.h = vshuffe(<z{k}/1>.h,<z{k}/0>.h)', 'f' + k, ['z' + k], both)
                loop.add('n' + k, SIMPLE, f'<n{k}> = vand(<q{k}>,v24)', 'n' + k, ['q' + k])
                loop.add('p' + k, SIMPLE, f'<p{k}> = vcmp.eq(<n{k}>.h,v25.h)', 'p' + k, ['n' + k], kind='q')
                loop.add('g' + k, SIMPLE, f'<p{k}> &= vcmp.gt(<limit{pair}>.uh,<f{k}>.uh)', None, ['p' + k, 'f' + k, 'limit' + pair], ['p' + k])
                loop.add('c' + k, SIMPLE, f'if (<p{k}>) <q{k}>.h += v23.h', None, ['q' + k, 'p' + k], ['g' + k, 'n' + k])
        last = ['cq'[not even] + row + pair for pair in ('ac', 'bd')]
        loop.add('o' + row, SHIFT, f'<o{row}>.ub = vasr(<q{row}bd>.h,<q{row}ac>.h,r7):sat', 'o' + row, [f'q{row}ac', f'q{row}bd'], last)


def clamp(loop, row):
    loop.add('max ' + row, SIMPLE, f'<o{row}>.ub = vmax(<o{row}>.ub,v30.ub)', None, ['o' + row], ['o' + row])
    loop.add('min ' + row, SIMPLE, f'<o{row}>.ub = vmin(<o{row}>.ub,v29.ub)', None, ['o' + row], ['max ' + row])


def begin_sums(loop, rows, c, start, factor, takes):
    """Copies of what the sums of a channel's rows begin with, or are added to; takes: of a copy of two. Returns what each row's use waits for."""
    loop.add('m' + c, MULTIPLY, f'<m{c}> = vsplat(<{factor}>)', 'm' + c, [factor.split('/')[0]])
    first, *others = [f'S{row}{c}' for row in rows]
    copies = ['copy ' + other for other in others[-2:]]
    if start:
        loop.add('start ' + c, MULTIPLY, f'<{first}> = vsplat(<{start}>)', first, [start.split('/')[0]])
    else:
        loop.load_start('start ' + c, first)
    if len(rows) == 4:   # two at once, the place of an instruction less
        pair = 'S' + c
        loop.add(copies[0], takes, f'<{pair}> = vcombine(<{first}>,<{first}>)', pair, [first], ['start ' + c], size=2)
        loop.parts[others[0]], loop.parts[others[1]] = (pair, 0), (pair, 1)
    loop.add(copies[-1], SIMPLE, f'<{others[-1]}> = <{first}>', others[-1], [first], ['start ' + c])
    return [copies if k == 0 else [copies[-1]] if k == len(rows) - 1 else [copies[0]] for k in range(len(rows))]


def finish_sums(loop, rows, c, start, factor, takes=SHUFFLE):
    """Sums, which are in webs of row and channel, shifted and added to where their line begins."""
    for row, after in zip(rows, begin_sums(loop, rows, c, start, factor, takes)):
        web, text = loop.sum(row + c)
        loop.add(f'add {row}{c}', SHIFT, f'{text}.w += vasl(<{row}{c}>.w,<{factor}>)', None, [row + c, web, factor.split('/')[0]],
                 [f'{row}{c}2'] + after)


def add_product(loop, row, k, text, reads, after, begun):
    """Of taps k with a word; begun: what q31 sums, which begin with a bias, wait for."""
    if begun is None:
        loop.add(f'{row}{k}', MULTIPLY, f'<{row}>.w {"+=" if k else "="} vrmpy({text})', None if k else row, reads + ([row] if k else []), after)
    else:
        web, total = loop.sum(row)
        loop.add(f'{row}{k}', MULTIPLY, f'{total}.w += vrmpy({text})', None, reads + [web], after if k else begun)


def requantise_q31(loop, pairs):
    """By definition: halves round away from zero. Pairs of rows are narrowed together."""
    for upper, lower in pairs:
        for c in 'abcd':
            for row in (upper + c, lower + c):
                web, text = loop.sum(row)
                loop.add('z' + row, MULTIPLY_ALL, f'<z{row}>.w = vmpye({text}.w,<m{c}>.uh)', 'z' + row, [web, 'm' + c], [row + '2'])
                loop.add('y' + row, MULTIPLY_ALL, f'<z{row}>.w += vmpyo({text}.w,<m{c}>.h):<<1:rnd:sat:shift', None, ['z' + row, web, 'm' + c], ['z' + row])
                loop.add('x' + row, SHIFT, f'<z{row}>.w += vasr(<z{row}>.w,r7)', None, ['z' + row], ['y' + row])
            shifts, k = ('shiftac' if c in 'ac' else 'shiftbd'), int(c in 'cd')
            loop.add('h' + upper + c, SHIFT, f'<h{upper}{c}>.h = vasr(<z{lower}{c}>.w,<z{upper}{c}>.w,<{shifts}/{k}>):rnd:sat', 'h' + upper + c,
                     ['z' + upper + c, 'z' + lower + c, shifts], ['x' + upper + c, 'x' + lower + c])
            loop.add('i' + upper + c, SIMPLE, f'<h{upper}{c}>.h = vadd(<h{upper}{c}>.h,v25.h):sat', None, ['h' + upper + c], ['h' + upper + c])
        for a, b in ('ab', 'cd'):
            loop.add(f'u{upper}{a}', SIMPLE, f'<u{upper}{a}>.ub = vsat(<h{upper}{b}>.h,<h{upper}{a}>.h)', f'u{upper}{a}',
                     [f'h{upper}{a}', f'h{upper}{b}'], [f'i{upper}{a}', f'i{upper}{b}'])
        for row, which in ((upper, 'e'), (lower, 'o')):
            loop.add('o' + row, SIMPLE, f'<o{row}>.h = vshuff{which}(<u{upper}c>.h,<u{upper}a>.h)', 'o' + row, [f'u{upper}a', f'u{upper}c'])


def columns(shape, how):
    """Stride 1: four rows (row), eight of 16 pixels (half), a plane of eight (quarter; line: one plane after the other). Two rows from four of x."""
    small, in_order = shape in ('quarter', 'line'), shape == 'line'
    loop = Loop(136 if small else 152, 2 if small else 1, in_order)
    if not in_order:
        begin_plane(loop, shape == 'half')
    steps = 1 if small else 2
    if shape == 'row':
        for k in range(6):
            loop.add(f'v{k}', ANY_LOAD, f'<v{k}> = vmemu(<x>{"++m0" if k < 5 else "+#0"})', f'v{k}', ['x'], [f'v{k - 1}'] if k else [])
        rows = [(f'v{k}', f'<v{k}>') for k in range(6)]
    else:
        between = 1 if small else 2
        for k in range(2 if small else 5):
            at = ('r28+#-1', 'r28++m0')[k] if in_order else f'<x>+#{k}'
            loop.add(f'v{k}', ANY_LOAD, f'<v{k}> = vmemu({at})', f'v{k}', [] if in_order else ['x'])
        for k in range(1 if small else 3):
            loop.add(f'd{k}', SHUFFLE, f'<d{k}> = vdeal(<v{k + between}>,<v{k}>,r5)', f'd{k}', [f'v{k}', f'v{k + between}'], size=2)
        rows = [(f'd{k // 2}', f'<d{k // 2}/{k % 2}>') for k in range(2 if small else 6)]
    if in_order:
        loop.add_near('v0', 'v1')
    for k in range(len(rows) // 2):
        (u, upper), (w, lower) = rows[2 * k:2 * k + 2]
        loop.add(f'p{k}', SHUFFLE, f'<p{k}>.b = vshuffoe({lower}.b,{upper}.b)', f'p{k}', [u, w], size=2)
    words = [[(f'p{k}', f'<p{k}/{half}>') for half in range(2)] for k in range(len(rows) // 2)]
    if small:
        for half in range(2):
            loop.add(f'e{half}', PERMUTE, f'<e{half}> = valign(v31,<p0/{half}>,r6)', f'e{half}', ['p0'])
        words.append([(f'e{half}', f'<e{half}>') for half in range(2)])
    for step in range(steps):
        for k, pair in enumerate(('ac', 'bd')):
            (u, upper), (w, lower) = words[step][k], words[step + 1][k]
            loop.add(f'w{step}{pair}', SHUFFLE, f'<w{step}{pair}>.h = vshuffoe({lower}.h,{upper}.h)', f'w{step}{pair}', [u, w], size=2)
    for c in 'abcd':
        pair = 'ac' if c in 'ac' else 'bd'
        for k in range(3):
            loop.load_pair(f't{c}{k}')
        if not small:
            loop.load_pair('line' + c)
        start, factor = (None, f'factor{pair}/{pair.index(c)}') if small else (f'line{c}/0', f'line{c}/1')
        results = [row + str(step) for step in range(steps) for row in 'UL']
        begun = dict(zip(results, begin_sums(loop, results, c, start, factor, SHUFFLE))) if how == 'q31' else {}
        for step in range(steps):
            web = f'w{step}{pair}'
            word = f'<{web}/{pair.index(c)}>'
            for k in range(3):
                if k:
                    turned = f'r{step}{c}{k}'
                    loop.add(turned, PERMUTE, f'<{turned}> = vror({word},r{26 - k})', turned, [web])
                for half, row in enumerate((f'U{step}', f'L{step}')):
                    add_product(loop, row + c, k, f'{f"<{turned}>" if k else word}.ub,<t{c}{k}/{half}>.b', [turned if k else web, f't{c}{k}'],
                                [f'{row}{c}{k - 1}'] if k else [], begun.get(row))
        if how != 'q31':
            finish_sums(loop, results, c, start, factor)
    for pair in ('ac', 'bd') if small else ():
        loop.load_pair('factor' + pair)
    finish_records(loop, how, results)
    before = []
    for step in range(steps):
        if shape == 'row':
            for row in (f'U{step}', f'L{step}'):
                clamp(loop, row)
                at = '++m0' if row != 'L1' else '+#0'
                loop.add('store ' + row, ANY_STORE, f'vmemu(<y>{at}) = <o{row}>', None, ['o' + row, 'y'], ['min ' + row] + before)
                before = ['store ' + row]
            continue
        r = f'r{step}'
        loop.add(r, SHUFFLE, f'<{r}> = vshuff(<oL{step}>,<oU{step}>,r5)', r, [f'oU{step}', f'oL{step}'], [f'oU{step}', f'oL{step}'], size=2)
        for k in range(2):
            low, high = ('v28', 'v27') if small and k else ('v30', 'v29')
            to, last = k if small else step + 2 * k, f'n{step}{k}'
            loop.add(f'max {r}/{k}', SIMPLE, f'<{r}/{k}>.ub = vmax(<{r}/{k}>.ub,{low}.ub)', None, [r], [r])
            store(loop, to, f'<{r}/{k}>.ub = vmin(<{r}/{k}>.ub,{high}.ub)', last, [r], [f'max {r}/{k}'])
    for k in (-1, 2) if small else ():
        store(loop, k)
    for k in (-1, 0, 1) if in_order else ():
        loop.add_near(f'store {k}', 'store 2')
    if shape == 'half':
        loop.add('store beside', STORE, 'vmem(<z>+#0) = v26', None, ['z'])
    return loop


def store(loop, to, text='', web=None, reads=(), after=()):
    """A vector of padding, or what the text makes."""
    at, what = f'<y>+#{to}', f'<{web}>.new' if web else 'v26'
    if loop.in_order:   # rounds before the first store nothing
        at, reads = f'r27+#{to - 2}' if to < 2 else 'r27++m0', list(reads)
    else:
        reads = list(reads) + ['y']
    when = 'if (p3) ' if loop.in_order else ''
    made = text.replace(text.split('.')[0], f'<{web}>', 1) + '; ' if web else ''
    loop.add(f'store {to}', LAST_STORE if web else STORE, f'{made}{when}vmem({at}) = {what}', web, reads, after)


def finish_records(loop, how, rows):
    if how == 'q31':
        loop.load_pair('shiftac', 'l')
        loop.load_pair('shiftbd', 'l')
        requantise_q31(loop, list(zip(rows[::2], rows[1::2])))
        return
    loop.load_pair('lower')
    if how == 'even':
        loop.load_pair('limits')
    requantise(loop, how == 'even', rows)


def blocks(how):
    """Stride 2: four rows of a strip, from blocks of 2 x 2 pixels. The last row of x stays as pairs of channels, which weights of their own tell apart."""
    loop = Loop(120, 1)
    begin_plane(loop)
    for k in range(9):
        before = [f'a{k - 1}'] if k else []
        loop.add(f'b{k}', ANY_LOAD, f'<b{k}> = vmemu(<x>+#1)', f'b{k}', ['x'], before)
        loop.add(f'a{k}', ANY_LOAD, f'<a{k}> = vmemu(<x>{"++m0" if k < 8 else "+#0"})', f'a{k}', ['x'], before + [f'b{k}'])
        loop.add(f'd{k}', SHUFFLE, f'<d{k}> = vdeal(<b{k}>,<a{k}>,r5)', f'd{k}', [f'a{k}', f'b{k}'], size=2)
    for j in range(4):
        upper, lower = f'd{2 * j}', f'd{2 * j + 1}'
        for k, pair in enumerate(('ac', 'bd')):
            loop.add(f'k{j}{pair}', SHUFFLE, f'<k{j}{pair}>.b = vshuffoe(<{lower}/{k}>.b,<{upper}/{k}>.b)', f'k{j}{pair}', [upper, lower], size=2)
    for c in 'abcd':
        loop.load_pair('t' + c)       # block, below
        loop.load_pair('u' + c)       # beside, where the line begins
    loop.load_pair('factorac')
    loop.load_pair('factorbd')
    rows = ('U0', 'L0', 'U1', 'L1')
    for c in 'abcd':
        pair = 'ac' if c in 'ac' else 'bd'
        factor = f'factor{pair}/{pair.index(c)}'
        begun = dict(zip(rows, begin_sums(loop, rows, c, f'u{c}/1', factor, SHUFFLE))) if how == 'q31' else {}
        for j, row in enumerate(rows):
            here, below = f'k{j}{pair}', f'k{j + 1}{pair}' if j < 3 else 'd8'
            block, under = f'<{here}/{pair.index(c)}>', f'<{below}/{pair.index(c) if j < 3 else int(pair == "bd")}>'
            low, beside = ('last' + c, 0), ('last' + c, 1)
            if j < 3 or c in 'ab':
                low, beside = ('t' + c, 1), ('u' + c, 0)
            k = row + c
            loop.add('e' + k, SIMPLE, f'<e{k}>.h = vshuffe({under}.h,{block}.h)', 'e' + k, [here, below])
            loop.add('r' + k, PERMUTE, f'<e{k}> = vror(<e{k}>,r25)', None, ['e' + k], ['e' + k])
            add_product(loop, k, 0, f'{block}.ub,<t{c}/0>.b', [here, 't' + c], [], begun.get(row))
            add_product(loop, k, 1, f'{under}.ub,<{low[0]}/{low[1]}>.b', [below, low[0]], [k + '0'], begun.get(row))
            add_product(loop, k, 2, f'<e{k}>.ub,<{beside[0]}/{beside[1]}>.b', ['e' + k, beside[0]], [k + '1', 'r' + k], begun.get(row))
        if how != 'q31':
            finish_sums(loop, rows, c, f'u{c}/1', factor, MULTIPLY_ALL)
    finish_records(loop, how, rows)
    loop.field = 104
    for c in 'cd':
        loop.load_pair('last' + c)    # below, beside
    before = []
    for row in rows:
        clamp(loop, row)
        loop.add('store ' + row, ANY_STORE, f'vmemu(<y>+#0) = <o{row}>', None, ['o' + row, 'y'], ['min ' + row] + before)
        before = ['next ' + row]
        if row != rows[-1]:
            loop.add('next ' + row, SCALAR, '<y> = add(<y>,r24)', None, ['y'], ['store ' + row])
    return loop


def give_registers(loop, places, packets, registers, draw):
    """Webs as arcs around a round of packets, pairs at even registers; None: not found. What does not fit takes the place of others."""
    makers, readers, _ = loop.graph()
    given = {}
    for kind, free in registers.items():
        arcs = {}
        for web, (k, size) in loop.webs.items():
            if k == kind:
                begin = places[makers[web]]
                end = max([begin + 1] + [places[i] for i in readers[web]])
                arcs[web] = size, sum(1 << p for p in {at % packets for at in range(begin + 1, end + 1)})
        holders, moved = {r: set() for r in free}, dict.fromkeys(arcs, 0)
        left = sorted(arcs, key=lambda w: -arcs[w][0] * 1000 - bin(arcs[w][1]).count('1'))
        for _ in range(20000):
            if not left:
                break
            web = left.pop(0)
            size, arc = arcs[web]
            best = None
            for r in free:
                if size == 1 or (r % 2 == 0 and r + 1 in holders):
                    against = {w for at in range(r, r + size) for w in holders[at] if arcs[w][1] & arc}
                    taken = sum(bin(arcs[w][1]).count('1') for at in range(r, r + size) for w in holders[at])
                    cost = (sum(arcs[w][0] * (1 + moved[w]) for w in against), -taken, draw.random())
                    best = min(best, (cost, r, against), key=lambda b: b[:2]) if best else (cost, r, against)
            _, r, against = best
            for w in against:
                moved[w] += 1
                for at in holders.values():
                    at.discard(w)
            left += sorted(against)
            for at in range(r, r + size):
                holders[at].add(web)
            given[web] = r
        if left:
            return None
    return given


def anneal(tool, loop, packets, registers, steps, seed):
    makers, readers, deps = loop.graph()
    kinds = {'v': 0, 'r': 1, 'q': 2, 'l': 2}
    text = [f'{len(loop.ops)} {len(deps)} {len(loop.webs) + len(loop.near)} {packets} {loop.ahead + 1}', ' '.join(str(n) for n in registers)]
    text += [' '.join(str(t) for t in op[1][:7] + (sum(op[1][4:]),)) for op in loop.ops]
    text += [f'{a} {b}' for a, b in deps]
    text += [f'{kinds[k]} {size} {makers[w]} {len(readers[w])} ' + ' '.join(str(i) for i in readers[w]) for w, (k, size) in loop.webs.items()]
    text += [f'1 0 {loop.place[a]} 1 {loop.place[b]}' for a, b in loop.near]   # no register, but no longer than a round
    done = subprocess.run([tool, str(steps), str(seed)], input='\n'.join(text), capture_output=True, text=True, check=True)
    wrong, *places = done.stdout.split()
    places = [int(p) for p in places]
    late = [a for a, b in loop.near if places[loop.place[b]] - places[loop.place[a]] >= packets]
    return places if float(wrong) == 0 and not late else None


def find(tool, name, shape, loop, packets, steps, seed):
    small = shape in ('quarter', 'line')
    fixed = {26, 27, 28, 29, 30, 31} if small else {26, 29, 30} if shape == 'half' else {29, 30}
    q31 = '_q31' in name
    fixed |= {23, 24, 25} if '_even' in name else {25} if q31 else set()
    scalars = [r for r in range(24) if r not in (4 if small else 5, 5, 6, 7) and not (q31 and r < 4)]
    scalars += [6] * (not small) + [5] * (shape == 'row')
    # Some shifts take only low scalars.
    free = {'v': [r for r in range(32) if r not in fixed], 'r': scalars, 'l' if q31 else 'q': list(range(4))}
    for again in range(20):
        counts = (len(free['v']) - 1 - again % 3, len(free['r']) - 2 - again % 2, 4)
        places = anneal(tool, loop, packets, counts, steps, seed + again)
        stores = {p // packets for p, op in zip(places or [], loop.ops) if op[1][3]}
        if places and (max(places) // packets > loop.ahead or stores != {loop.ahead}):
            places = None             # another number of rounds in flight
        if places and loop.in_order and places[loop.place['v1']] >= packets:
            places = None             # x is not read first
        given = places and give_registers(loop, places, packets, free, random.Random(seed))
        print(f'{name}: seed {seed + again}: ' + ('found' if given else 'no registers' if places else 'no places'), file=sys.stderr, flush=True)
        if given:
            return places, given
    sys.exit(f'{name}: nothing found in {packets} packets')


def write(name, shape, loop, packets, places, given):
    def register(match):
        web, part = match.group(1), match.group(2)
        kind, size = loop.webs[web]
        at = given[web]
        kind = 'r' if kind == 'l' else kind
        return f'{kind}{at + int(part)}' if part else f'{kind}{at + 1}:{at}' if size == 2 else f'{kind}{at}'

    body = [[] for _ in range(packets)]
    read = places[loop.place[loop.first]]
    for i, op in enumerate(loop.ops):
        # Later rounds have moved the pointer on.
        text = re.sub('@([0-9]+)@', lambda m: str(int(m.group(1)) - loop.base - loop.record * ((places[i] - read - 1) // packets + 1)), op[2])
        body[places[i] % packets].append(re.sub(r'<(\w+)(?:/([01]))?>', register, text))
    makers, readers, _ = loop.graph()
    # What the first round would have from the one before.
    first = []
    for web, text in (('x', '{} = add(r28,r10)'), ('y', f'{{}} = add(r27,r{"10" if "z" in makers else "11"})'), ('z', '{} = add(r27,r11)'),
                      ('offsets', '{} = combine(r11,r10)')):
        if web not in makers:
            continue
        begin, end = places[makers[web]], max(places[i] for i in readers[web])
        if end // packets > begin // packets or begin % packets == packets - 1:
            first.append(text.format(register(re.match(r'<(\w+)(?:/([01]))?>', f'<{web}>'))))
    label = name.replace('tn_hx_columns_', '') + '_loop'
    start = [('p3 = sp2loop0' if loop.in_order else 'loop0') + f'({label},r1)']
    start += {'quarter': ['r5 = #-32', 'r6 = #32'], 'line': ['r5 = #-32', 'r6 = #32'], 'half': ['r5 = #-64'], 'row': [],
              'blocks': ['r5 = #-1', 'r24 = memw(r0 + #44)']}[shape]
    lines = ['', f'    .globl {name}', f'    .type {name}, @function', '    .p2align 4', f'{name}:', f'    begin {loop.record}']
    if loop.in_order:   # pointers that lie one step further when they are used
        lines += [f'    {{ r28 = add(r28,#128); r27 = add(r27,#256); r26 = add(r26,#{loop.base - loop.record * (read // packets)}) }}']
    else:
        lines += ['    { r11:10 = memd(r26 + #0) }']
    early = sum(places[i] // packets for i, op in enumerate(loop.ops) if op[0].startswith('start ')) if shape in ('quarter', 'line') else None
    if early is not None:
        first.append('r4 = memw(r0 + #48)')
    lines += ['    { ' + '; '.join(start) + ' }'] + (['    { ' + '; '.join(first) + ' }'] if first else [])
    lines += [f'    {{ r4 = add(r4,#{-128 * early}) }}'] if early else []
    lines += [f'{label}:'] + ['    { ' + '; '.join(p or ['nop']) + ' }' for p in body]
    lines[-1] += ' :endloop0'
    return lines + ['    end', f'    .size {name}, . - {name}']


# Shape, packets of a round, packets where lines have a gap, packets by the definition of fixed_q31.
LOOPS = (('quarter', 29, 34, 32), ('line', 28), ('half', 53, 63, 62), ('row', 53, 63, 62), ('blocks', 64, 76, 71))
HOW = ('', 'even', 'q31')


def todo():
    return [(f'tn_hx_columns_{which}' + (how and '_' + how), which, packets[k]) for k, how in enumerate(HOW) for which, *packets in LOOPS
            if k < len(packets)]


def make(name, shape):
    how = next(how for how in ('even', 'q31', '') if name.endswith(how))
    return blocks(how) if shape == 'blocks' else columns(shape, how)


def write_files(folder, lines):
    with open(os.path.join(folder, 'hx_columns_begin.inc'), 'w', encoding='ascii') as f:
        f.write(BEGIN)
    for file, head in HEADS.items():
        loops = [line for name, *_ in todo() if ('_q31' in name) == ('_q31' in file) for line in lines[name]]
        with open(os.path.join(folder, file), 'w', encoding='ascii') as f:
            f.write(LICENCE + head + INCLUDE + '\n'.join(loops) + '\n')


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument('folder')
    args.add_argument('--steps', type=int, default=16000000)
    args.add_argument('--seed', type=int, default=1)
    args.add_argument('--only')
    args = args.parse_args()
    lines = {}
    for file in HEADS if args.only else ():
        with open(os.path.join(args.folder, file), encoding='ascii') as f:
            lines |= {re.match(r'\w+', loop)[0]: ['\n    .globl ' + loop.rstrip()] for loop in f.read().split('\n    .globl ')[1:]}
    with tempfile.TemporaryDirectory() as folder:
        tool = os.path.join(folder, 'anneal')
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'hexagon_anneal.c')
        subprocess.run(['cc', '-O3', '-std=c11', '-o', tool, source, '-lm'], check=True)
        for name, shape, packets in todo():
            if args.only in (None, name):
                loop = make(name, shape)
                places, given = find(tool, name, shape, loop, packets, args.steps * len(loop.ops) // 100, args.seed)
                lines[name] = write(name, shape, loop, packets, places, given)
    write_files(args.folder, lines)


if __name__ == '__main__':
    main()
