#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs models with fp16 storage on the OpenCL device and compares them with their stored references.

A folder of models holds one folder each with model.onnx, meta.json (cases: inputs, outputs) and arrays as .npy. A case agrees when each
output differs by at most 2 % of the reference's span (or the model's own tolerance, where that is wider) and the largest element of each
classifying output, [1, n], is the same (or one of several that are equal in the reference). Prints one line a model: largest difference in % of the span, classes, nodes on the device,
values kept in fp32. Exit status 0: all agree.
"""
import argparse
import json
import os
import sys

import numpy as np

import tenon

BOUND = 0.02


def load(folder, spec):
    """An input of a case: an array, scaled and shifted where the case says so."""
    array = np.load(os.path.join(folder, spec["file"]))
    if spec.get("affine"):
        scale, bias = (np.asarray(spec["affine"][key], np.float32) for key in ("scale", "bias"))
        if spec["affine"].get("axis") is not None:
            shape = [1] * array.ndim
            shape[spec["affine"]["axis"]] = -1
            scale, bias = scale.reshape(shape), bias.reshape(shape)
        array = array.astype(np.float32) * scale + bias
    return array.astype(spec["dtype"]).reshape(spec["shape"])


def compare(got, folder, spec, bound, classes):
    """(difference over the span, what is wrong or None)."""
    want = np.load(os.path.join(folder, spec["file"])).ravel()
    shape, got = np.shape(got), np.asarray(got).ravel()[:: spec.get("stride", 1)]
    if want.dtype.kind in "OUS":
        return 0.0, None if list(map(str, want)) == list(map(str, got)) else "text differs"
    want, got = want.astype(np.float64), got.astype(np.float64)
    if want.shape != got.shape:
        return 0.0, f"{got.size} elements instead of {want.size}"
    finite = np.isfinite(want)
    if not np.isfinite(got[finite]).all():
        return np.inf, "NaN or infinity"
    span = spec["stats"]["max"] - spec["stats"]["min"] if "stats" in spec else float(np.ptp(want[finite])) if finite.any() else 0.0
    if want.size == 1:
        span = max(span, float(abs(want[0])))
    diff = float(np.max(np.abs(got - want)[finite], initial=0.0)) / max(span, 1e-6)
    if diff > bound:
        return diff, f"{spec['name']} differs by {100 * diff:.2f} % of the span"
    if classes and len(shape) == 2 and shape[0] == 1 and want.size == shape[1] and want[got.argmax()] != want.max():
        return diff, f"{spec['name']}: another first class"
    return diff, None


def check(folder, store, cache, looser, precision):
    """(largest difference, nodes on the device, nodes elsewhere, precision events, what is wrong or None)."""
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
        meta = json.load(file)
    session = tenon.InferenceSession(os.path.join(folder, "model.onnx"), device="opencl", precision=precision, store=store, cache=cache)
    worst, wrong = 0.0, None
    for case in meta["cases"]:
        place = os.path.join(folder, case["dir"])
        feeds = {spec["name"]: load(place, spec) for spec in case["inputs"]}
        results = session.run([spec["name"] for spec in case["outputs"]], feeds)
        for got, spec in zip(results, case["outputs"]):
            diff, why = compare(got, place, spec, max(looser or BOUND, meta.get("rel", 0.0)), not looser)
            worst, wrong = max(worst, diff), wrong or why
    placed = session.placement()
    here = placed.get("opencl", {"nodes": 0})["nodes"]
    wide = session.report("statistics")["precision_events"]
    return worst, here, sum(device["nodes"] for device in placed.values()) - here, wide, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", help="folder of models")
    parser.add_argument("--match", default="", help="only models with this in their name")
    parser.add_argument("--except", dest="skip", action="append", default=[], help="a model that is left out")
    parser.add_argument("--allow", action="append", default=[], metavar="NAME=PERCENT", help="a looser bound for one model, and any first class")
    parser.add_argument("--store", choices=["image", "buffer"])
    parser.add_argument("--precision", choices=["fp16", "fp16_pure"], default="fp16")
    parser.add_argument("--cache", help="folder for built programs")
    options = parser.parse_args()
    allowed = {name: float(percent) / 100 for name, _, percent in (text.partition("=") for text in options.allow)}
    count = agree = 0
    for name in sorted(os.listdir(options.models)):
        folder = os.path.join(options.models, name)
        if options.match not in name or name in options.skip or not os.path.exists(os.path.join(folder, "model.onnx")):
            continue
        count += 1
        try:
            worst, here, elsewhere, wide, wrong = check(folder, options.store, options.cache, allowed.get(name), options.precision)
        except (tenon.Error, OSError, ValueError) as error:
            print(f"FAIL {name:32s} {error}", flush=True)
            continue
        agree += wrong is None
        print(f"{'FAIL' if wrong else 'ok  '} {name:32s} {100 * worst:8.3f} %  {here:4d} nodes, {elsewhere:3d} on the CPU, "
              f"{wide:3d} kept in fp32  {wrong or ''}", flush=True)
    print(f"{agree} of {count} models agree")
    return 0 if count and agree == count else 1


if __name__ == "__main__":
    sys.exit(main())
