#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes seeds for fuzz_import and fuzz_run: the standard's operator tests and the operators of com.microsoft, as small models.

usage: make_corpus.py FOLDER      needs: onnx, ml_dtypes

    fuzz_run -max_total_time=1800 NEW FOLDER
"""
import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "operators"))
import test_contrib

LARGEST = 4096   # libFuzzer's default length; longer seeds would be cut


def models():
    for case in load_model_tests(kind="node"):
        if case.model is not None:
            yield case.model.SerializeToString()
    for path in sorted((ROOT / "tests" / "data").glob("*/*.onnx")):
        yield path.read_bytes()
    for name, draw in test_contrib.DRAWS.items():
        for k in range(4):
            yield draw(np.random.default_rng([7, k])).model()[0]


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    count = 0
    for data in models():
        if len(data) <= LARGEST:
            count += 1
            Path(folder, hashlib.sha256(data).hexdigest()[:16] + ".onnx").write_bytes(data)
    print(f"{count} seeds")


if __name__ == "__main__":
    main()
