#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Takes the C and the Python example out of README.md and runs them as a reader would, from the root of the source tree.

usage: test_readme.py SOURCE BUILD. Exit status 77 when numpy is not there.
"""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile


def block(text, language):
    found = re.findall(rf"```{language}\n(.*?)```", text, re.S)
    if len(found) != 1:
        raise SystemExit(f"README.md has {len(found)} {language} blocks, not one")
    return found[0]


def main():
    source, build = sys.argv[1:3]
    text = open(os.path.join(source, "README.md")).read()
    with tempfile.TemporaryDirectory() as here:
        program = os.path.join(here, "example")
        with open(program + ".c", "w") as file:
            file.write(block(text, "c"))
        subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", program + ".c", "-I", os.path.join(source, "include"),
                        "-L", build, "-ltenon", "-Wl,-rpath," + build, "-o", program], check=True)
        print(subprocess.run([program], cwd=source, check=True, capture_output=True, text=True).stdout, end="")
        if not importlib.util.find_spec("numpy"):
            return 77
        with open(program + ".py", "w") as file:
            file.write(block(text, "python"))
        print(subprocess.run([sys.executable, program + ".py"], cwd=source, check=True, capture_output=True, text=True).stdout, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
