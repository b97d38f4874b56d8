#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the house rules that a machine can see (CONTRIBUTING.md).

usage: check_style.py [--library libtenon.a --nm nm]

Licence line and file head, sizes of folders, files and functions, nesting, unique base names, leftovers, traces of the machine it
was written on, and, with a library, that every name with linkage begins with tn_ or tenon_. Prints each offence; exit status 1 when
there is one.
"""
import argparse
import os
import re
import subprocess
import sys

MAX_FILES = 15
MAX_LINES = 800
MAX_FUNCTION = 100
MAX_KERNEL_FUNCTION = 150
NESTED = re.compile(r"^ {20,}(if|for|while|switch|do)\b")   # a block in four others, at four columns each
CODE = (".c", ".h", ".inc", ".cl", ".S")
SCRIPT = (".py", ".sh", ".cmake", "CMakeLists.txt", ".ci/run", "/test", "/demo")
# Put together from pieces, so that this file does not offend itself.
LEFTOVER = re.compile("|".join([r"\bTO" + r"DO\b", r"\bFIX" + r"ME\b", r"\bX" + r"XX\b", r"#\s*if\s+" + "0"]))
TRACE = re.compile("|".join(["/wo" + "rk/", "/ro" + "ot/", "/ho" + r"me/\w", "/fa" + "rm/", r"\bpypi\." + "org", "python" + "hosted",
                             r"deb\.deb" + "ian", r"/tmp/" + r"w\b"]))
UNIQUE = ("src", "tests", "tools", "bench", "include")
MANY_NAMES = {"CMakeLists.txt", "README.md", "__init__.py"}


def tracked(root):
    out = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True)
    if out.returncode == 0:
        return sorted(name for name in out.stdout.decode().split("\0") if name and os.path.isfile(os.path.join(root, name)))
    found = []   # an unpacked archive: everything but build folders
    for at, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not f.startswith(("build", ".git", "__pycache__"))]
        found += [os.path.relpath(os.path.join(at, name), root) for name in names]
    return sorted(found)


def read(root, name):
    with open(os.path.join(root, name), "rb") as file:
        data = file.read()
    return None if b"\0" in data else data.decode("utf-8", "replace")


def check_functions(name, lines, errors):
    """Lengths by the braces in column one that our format gives to functions, and depth by indentation."""
    limit = MAX_KERNEL_FUNCTION if "kernels/" in name else MAX_FUNCTION
    start = None
    for number, line in enumerate(lines, 1):
        if line.startswith("{"):
            start = number
        elif line.startswith("}"):
            if start and number - start + 1 > limit:
                errors.append(f"{name}:{start}: a function of {number - start + 1} lines, at most {limit}")
            start = None
        elif NESTED.match(line):
            errors.append(f"{name}:{number}: nested too deeply")


def check_text(name, text, errors):
    lines = text.splitlines()
    is_code = name.endswith(CODE)
    is_script = ("/" + name).endswith(SCRIPT)
    if is_code or is_script:
        head = lines[0:2] if is_code else lines[0:3]
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in head):
            errors.append(f"{name}: does not begin with the SPDX line")
    if is_code and (len(lines) < 2 or not lines[1].startswith(("//", "/*", " *"))):
        errors.append(f"{name}: does not say what it is below the SPDX line")
    if name.endswith((".c", ".h", ".inc")):
        check_functions(name, lines, errors)
    if is_code and len(lines) > MAX_LINES:
        errors.append(f"{name}: {len(lines)} lines, at most {MAX_LINES}")
    for number, line in enumerate(lines, 1):
        if LEFTOVER.search(line) and (is_code or is_script):
            errors.append(f"{name}:{number}: a leftover: {line.strip()[:60]}")
        if TRACE.search(line):
            errors.append(f"{name}:{number}: a path or host of some machine: {line.strip()[:60]}")
        if is_code and "\t" in line:
            errors.append(f"{name}:{number}: a tab")
        if is_code and line != line.rstrip():
            errors.append(f"{name}:{number}: space at the end")


def check_tree(names, errors):
    folders, bases = {}, {}
    for name in names:
        folder, base = os.path.split(name)
        folders.setdefault(folder, []).append(base)
        if name.split("/")[0] in UNIQUE and base not in MANY_NAMES:
            bases.setdefault(base, []).append(name)
    for folder, inside in sorted(folders.items()):
        if folder.split("/")[0] in UNIQUE and len(inside) > MAX_FILES:
            errors.append(f"{folder}: {len(inside)} files, at most {MAX_FILES}")
    for base, where in sorted(bases.items()):
        if len(where) > 1:
            errors.append(f"{base}: the name is used {len(where)} times: {', '.join(where)}")


def check_linkage(library, nm, errors):
    out = subprocess.run([nm, "--extern-only", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        fields = line.split()
        if len(fields) == 3 and not fields[2].startswith(("tn_", "tenon_", "__asan", "__odr_asan", "__ubsan", "__tsan")):
            errors.append(f"linkage name without prefix: {fields[2]}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--library")
    arguments.add_argument("--nm", default="nm")
    chosen = arguments.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors = []
    names = tracked(root)
    check_tree(names, errors)
    for name in names:
        text = read(root, name)
        if text is not None and not name.startswith("LICENSE"):
            check_text(name, text, errors)
    if chosen.library:
        check_linkage(chosen.library, chosen.nm, errors)
    print("\n".join(errors) if errors else f"{len(names)} files keep the rules")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
