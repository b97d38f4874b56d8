#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Quantises float models by their own sample inputs and runs them on the DSP.

usage: check_models_int8.py --models DIR [--match TEXT] [--threads N]

DIR holds a folder for each model: model.onnx, meta.json and the cases' inputs. For each case: the largest and mean difference from the
float32 results as parts of their span, whether the DSP's bits are those of the CPU's integers, the nodes that ran on each device and the
share of the multiply-accumulates that the DSP did. Exit status 1: bits differ, or a convolution stayed off the DSP.
"""
import argparse
import json
import os
import sys

import numpy as np

import tenon

MODELS = ["mtcnn_pnet", "ppocr_cls", "ultraface_rfb320", "efficientnet_lite0", "yolox_nano"]


def feeds_of(folder, case):
    feeds = {}
    for spec in case["inputs"]:
        value = np.load(os.path.join(folder, case["dir"], spec["file"]))
        affine = spec.get("affine")
        if affine:
            scale, bias = np.asarray(affine["scale"], np.float32), np.asarray(affine["bias"], np.float32)
            if affine.get("axis") is not None:
                shape = [1] * value.ndim
                shape[affine["axis"]] = -1
                scale, bias = scale.reshape(shape), bias.reshape(shape)
            value = value.astype(np.float32) * scale + bias
        feeds[spec["name"]] = value.astype(spec["dtype"]).reshape(spec["shape"])
    return feeds


def differences(real, whole):
    largest = mean = 0.0
    for a, b in zip(real, whole):
        span = float(a.max() - a.min()) or 1.0
        error = np.abs(a.astype(np.float64) - b)
        largest, mean = max(largest, float(error.max()) / span), max(mean, float(error.mean()) / span)
    return largest, mean


def check(name, folder, threads):
    with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    samples = [feeds_of(folder, case) for case in cases]
    path = os.path.join(folder, "model.onnx")
    real = tenon.InferenceSession(path, threads=threads)
    cpu = tenon.InferenceSession(path, threads=threads, precision="int8", calibration=samples)
    dsp = tenon.InferenceSession(path, threads=threads, device="hexagon", precision="int8", calibration=samples)
    good = True
    for feeds, case in zip(samples, cases):
        want, whole, got = real.run(None, feeds), cpu.run(None, feeds), dsp.run(None, feeds)
        same = all(a.tobytes() == b.tobytes() for a, b in zip(whole, got))
        placed = dsp.placement()
        macs = {device: entry["macs"] for device, entry in placed.items()}
        share = macs.get("hexagon", 0) / max(1, sum(macs.values()))
        largest, mean = differences(want, got)
        nodes = ", ".join(f"{device} {entry['nodes']}" for device, entry in placed.items())
        print(f"{name:20} {case['dir']}  largest {largest:.4f}  mean {mean:.5f}  bits {'same' if same else 'DIFFER'}  nodes: {nodes}; "
              f"{100 * share:.1f} % of the work on the DSP", flush=True)
        good = good and same and share > 0.99
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", required=True)
    parser.add_argument("--match", default="")
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    good = True
    for name in MODELS:
        folder = os.path.join(args.models, name)
        if args.match in name and os.path.exists(os.path.join(folder, "model.onnx")):
            good = check(name, folder, args.threads) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
