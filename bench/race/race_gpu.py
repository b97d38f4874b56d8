#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tenon on OpenCL against PyTorch and ncnn on one GPU, in one run: networks of the usual kind at batch 1, fp32.

    race_gpu.py --bench build/bench/bench_opencl [--cache DIR] [--ncnn DIR] [--rounds 5] [--seconds 60]

The engines take turns within each round, Tenon (image and buffer, in turns of their own), PyTorch, ncnn; told are the median and the least of each
engine's rounds (each a median of some runs) in milliseconds, and the ratios: a rival's median divided by ours. PyTorch runs a captured CUDA
graph without TF32: resident is a replay, end to end adds copies from pinned memory and back. ncnn runs on Vulkan in fp32, with its transfers;
DIR holds NAME.ncnn.param and .bin for the networks below. A rival that is not there is said to be absent. Weights are random but for ncnn's files.
"""
import argparse
import json
import os
import statistics
import subprocess
import time

# Ours, torchvision's, and ncnn's file.
NETS = {"mobilenet_v2": "mobilenet_v2", "squeezenet_1_1": "squeezenet1_1", "resnet18": "resnet18", "resnet50": "resnet50"}


class Torch:
    """One network as a captured graph."""

    def __init__(self, name):
        import torch
        import torchvision

        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        torch.backends.cudnn.benchmark = True
        self.net = getattr(torchvision.models, NETS[name])(weights=None).eval().cuda()
        self.host = torch.randn(1, 3, 224, 224).pin_memory()
        self.x = self.host.cuda()
        side = torch.cuda.Stream()
        with torch.no_grad():
            side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(side):
                for _ in range(5):
                    self.net(self.x)
            torch.cuda.current_stream().wait_stream(side)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.y = self.net(self.x)
        self.back = torch.empty(1, 1000).pin_memory()

    def _median(self, work):
        times = []
        for _ in range(60):
            self.torch.cuda.synchronize()
            begin = time.perf_counter_ns()
            work()
            self.torch.cuda.synchronize()
            times.append((time.perf_counter_ns() - begin) / 1e6)
        return statistics.median(times[10:])

    def measure(self):
        def whole():
            self.x.copy_(self.host, non_blocking=True)
            self.graph.replay()
            self.back.copy_(self.y, non_blocking=True)
        return {"resident": self._median(self.graph.replay), "end_to_end": self._median(whole)}


class Ncnn:
    """One network on Vulkan."""

    def __init__(self, stem):
        import ncnn
        import numpy

        if not ncnn.get_gpu_count():
            raise RuntimeError("no Vulkan device")
        self.ncnn, self.net = ncnn, ncnn.Net()
        option = self.net.opt
        option.use_vulkan_compute = True
        option.use_fp16_packed = option.use_fp16_storage = option.use_fp16_arithmetic = option.use_bf16_storage = False
        if self.net.load_param(stem + ".ncnn.param") or self.net.load_model(stem + ".ncnn.bin"):
            raise RuntimeError(f"{stem}: not read")
        self.x = numpy.random.default_rng(0).standard_normal((3, 224, 224)).astype(numpy.float32)

    def measure(self):
        times = []
        for _ in range(30):
            begin = time.perf_counter_ns()
            run = self.net.create_extractor()
            run.input("in0", self.ncnn.Mat(self.x))
            run.extract("out0")
            times.append((time.perf_counter_ns() - begin) / 1e6)
        return {"end_to_end": statistics.median(times[5:])}


def tenon(arguments, name):
    command = [arguments.bench, "--net", name, "--rounds", "20", "--json"] + (["--cache", arguments.cache] if arguments.cache else [])
    result = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in result.stdout.splitlines() if line.startswith('{"net"')]
    if result.returncode or not lines:
        raise SystemExit(f"{name}: {result.stdout[-400:]} {result.stderr[-400:]}")
    return json.loads(lines[-1])


def figures(rounds, key):
    return statistics.median(r[key] for r in rounds), min(r[key] for r in rounds)


def tell(name, ours, theirs):
    for store in ("image", "buffer"):
        mine = {key: figures([r[store] for r in ours], key + "_ms") for key in ("end_to_end", "resident")}
        line = f"{name:15s} {store:6s} {len(ours)} rounds"
        for key, (median, least) in mine.items():
            line += f"  {key} {median:.3f} (least {least:.3f})"
        print(line, flush=True)
        for rival, rounds in theirs.items():
            for key in rounds[0]:
                median, least = figures(rounds, key)
                print(f"    {rival:8s} {key:10s} {median:.3f} (least {least:.3f})  ratio {median / mine[key][0]:.2f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--cache")
    parser.add_argument("--ncnn", help="folder of ncnn's networks")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=60, help="no round begins after this long")
    arguments = parser.parse_args()
    begin = time.monotonic()
    rivals, ours, theirs = {name: {} for name in NETS}, {name: [] for name in NETS}, {name: {} for name in NETS}
    for name in NETS:
        stem = os.path.join(arguments.ncnn or "", NETS[name])
        makers = {"PyTorch": lambda: Torch(name)}
        if arguments.ncnn and os.path.exists(stem + ".ncnn.param"):
            makers["ncnn"] = lambda: Ncnn(stem)
        for rival, make in makers.items():
            try:
                rivals[name][rival] = make()
            except Exception as why:       # whatever is missing there, ours is still measured
                print(f"{rival}, {name}: absent ({str(why)[:200]})", flush=True)
    for number in range(arguments.rounds):
        if number and time.monotonic() - begin > arguments.seconds:
            break
        for name in NETS:
            ours[name].append(tenon(arguments, name))
            for rival, engine in rivals[name].items():
                theirs[name].setdefault(rival, []).append(engine.measure())
    for name in NETS:
        tell(name, ours[name], theirs[name])


if __name__ == "__main__":
    main()
