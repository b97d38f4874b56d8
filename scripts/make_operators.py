#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/operators.md from what the library says of itself (tenon info --ops --json).

usage: make_operators.py TENON             writes the page
       make_operators.py TENON --check     exit status 1 when the page is out of date; 77 where the build lacks what the page tells of

The page is that of a build for x86-64 with the OpenCL device.
"""
import json
import os
import platform
import subprocess
import sys

PAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "operators.md")
DOMAINS = {"": "ONNX", "ai.onnx.ml": "ai.onnx.ml", "ai.onnx.preview": "ai.onnx.preview",
           "ai.onnx.preview.training": "ai.onnx.preview.training", "com.microsoft": "com.microsoft"}
HEAD = """# Operators

Made by `scripts/make_operators.py` from the library itself; do not edit. The same list: `tenon info --ops --json`.

*Opsets* are those of the domain in which the operator is read. *Becomes* is the operator of ours that does the work (`docs/design.md`); several
do where a composition is built. *Types* are those of the operand that takes most, in short: f32 f64 f16 bf16, i8 to i64, u8 to u64, i4 u4 i2 u2,
f8 (four kinds) e8m0 f4, bool, str, c64 c128. *Kernels* are the instruction sets with fast rows (p portable, a2 AVX2, a5 AVX-512, v VNNI, b AVX512-BF16,
x AMX); all else runs by a reference kernel in plain C. *Moved* operators become one copy whatever their own rows are. *cl*: the OpenCL device has a kernel.

Softmax of a row that is -infinity throughout is NaN, in ONNX, onnxruntime and PyTorch as here. Attention whose mask lets a query see no key gives 0
there, in ONNX's reference, onnxruntime's Attention and PyTorch's `scaled_dot_product_attention` as here. Attention written out in products
and Softmax is one operator where it can be fused, and then gives 0 too: what the framework gave that it was exported from. As written
(`optimise=False`) it gives NaN, as onnxruntime does.
"""
SHORT = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "string": "str", "complex64": "c64", "complex128": "c128",
         "float8_e8m0fnu": "e8m0", "float4_e2m1fn": "f4"}
ISA = {"portable": "p", "avx2": "a2", "avx512": "a5", "vnni": "v", "avx512bf16": "b", "amx": "x"}
ALL = 26
FOLDS = [("f8", {"float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"}),
         ("i8-i64", {"int8", "int16", "int32", "int64"}), ("u8-u64", {"uint8", "uint16", "uint32", "uint64"}),
         ("i4 u4 i2 u2", {"int4", "uint4", "int2", "uint2"})]


def types(names):
    left, words = set(names), []
    if len(left) == ALL:
        return "all"
    for word, group in FOLDS:
        if group <= left:
            words.append(word)
            left -= group
    for name in names:
        if name in left:
            words.append(SHORT.get(name, name.replace("uint", "u").replace("int", "i")))
    return " ".join(words) or "by attributes"


def opsets(rows):
    first, last = min(r["since"] for r in rows), rows[-1]["until"]
    return f"{first}-{last}" if last else f"{first}+"


def line(name, rows, ours):
    built = next((r["built_in"] for r in reversed(rows) if r["built_in"]), None)
    op = ours.get(built)
    if not op:
        return f"| {name} | {opsets(rows)} | a composition | | |"
    kernels = " ".join(ISA[k] for k in op["kernels"] if k in ISA)
    if "opencl" in op["devices"]:
        kernels = (kernels + " cl").strip()
    return f"| {name} | {opsets(rows)} | {built} | {types(op['dtypes'])} | {kernels} |"


def page(report):
    ours = {op["name"]: op for op in report["built_in"]}
    rows = {}
    for row in report["operators"]:
        rows.setdefault((row["domain"], row["name"]), []).append(row)
    out = [HEAD]
    for domain in sorted({d for d, _ in rows}, key=lambda d: (d != "", d)):
        names = sorted(n for d, n in rows if d == domain)
        out.append(f"## {DOMAINS.get(domain, domain)}\n\n{len(names)} operators.\n\n| operator | opsets | becomes | types | kernels |\n|---|---|---|---|---|")
        out += [line(n, sorted(rows[domain, n], key=lambda r: r["since"]), ours) for n in names]
        out.append("")
    return "\n".join(out)


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        return 0 if len(sys.argv) > 1 else 2
    report = json.loads(subprocess.run([sys.argv[1], "info", "--ops", "--json"], check=True, capture_output=True, text=True).stdout)
    devices = {d for op in report["built_in"] for d in op["devices"]}
    if "--check" in sys.argv[2:]:
        if platform.machine() not in ("x86_64", "AMD64") or "opencl" not in devices:
            return 77
        if open(PAGE, encoding="utf-8").read() != page(report):
            print("docs/operators.md is out of date: scripts/make_operators.py build/tenon")
            return 1
        return 0
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
