#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that includes go down only, by the table below.

A folder may include itself and every folder of a lower row. Folders of one row do not see each other. Tools and bindings see the
public headers only; tests and benches may look everywhere. Prints each offending line; exit status 1 when there is one.
"""
import os
import re
import sys

ROWS = [
    ["base"],
    ["sys", "picture"],
    ["wire", "loop"],
    ["ir"],
    ["device"],
    ["dispatch"],
    ["ops"],
    ["simd"],
    ["kernels", "model", "import", "pass"],
    ["plan"],
    ["exec"],
    ["tune", "codegen", "pack"],
    ["api"],
]
LEVEL = {name: level for level, row in enumerate(ROWS) for name in row}
OUTSIDE = ("tools", "examples", "bindings")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def layer_of(path):
    """The layer that a path below src/ belongs to: its first folder, except that import/wire is a layer of its own."""
    parts = path.split("/")
    if parts[:2] == ["import", "wire"]:
        return "wire"
    return parts[0] if len(parts) > 1 else None


def check_source(root, path, errors):
    here = layer_of(os.path.relpath(path, os.path.join(root, "src")))
    if here not in LEVEL:
        errors.append(f"{os.path.relpath(path, root)}: folder '{here}' is not in the table of scripts/check_layers.py")
        return
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        match = INCLUDE.match(line)
        if not match or match.group(1) == "<":
            continue
        there = layer_of(match.group(2))
        where = f"{os.path.relpath(path, root)}:{number}"
        if there is None:
            # Beside the file itself: an .inc body next to the kernels that share it.
            if not os.path.exists(os.path.join(os.path.dirname(path), match.group(2))):
                errors.append(f"{where}: \"{match.group(2)}\" names no folder below src/")
        elif match.group(2).startswith("tenon/"):
            if here != "api":
                errors.append(f"{where}: the public header is for api/ only")
        elif there not in LEVEL:
            errors.append(f"{where}: \"{match.group(2)}\" is in no known folder")
        elif there != here and LEVEL[there] >= LEVEL[here]:
            errors.append(f"{where}: {here}/ may not include {there}/")


def check_outside(root, path, errors):
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        match = INCLUDE.match(line)
        if match and match.group(1) == '"' and layer_of(match.group(2)) in LEVEL:
            errors.append(f"{os.path.relpath(path, root)}:{number}: only include/ may be seen from here, not {match.group(2)}")


def sources(folder):
    for at, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".inc")):
                yield os.path.join(at, name)


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    errors = []
    for path in sources(os.path.join(root, "src")):
        check_source(root, path, errors)
    for folder in OUTSIDE:
        for path in sources(os.path.join(root, folder)):
            check_outside(root, path, errors)
    print("\n".join(errors) if errors else "includes go down only")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
