#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tenon on OpenCL against PyTorch on one GPU, in one run: networks of the usual kind at batch 1, fp32, random weights.

    race_gpu.py --bench build/bench/bench_opencl [--cache DIR] [--rounds 3] [--seconds 60]

The engines take turns, Tenon (image and buffer, in turns of their own), PyTorch, Tenon ...; told are medians of each engine's rounds in
milliseconds and their ratio, PyTorch's time divided by ours. PyTorch runs a captured CUDA graph without TF32: resident is a replay,
end to end adds copies from pinned memory and back. Needs torch and torchvision with CUDA for that part, and says so where they are not.
"""
import argparse
import json
import statistics
import subprocess
import time

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


def tenon(arguments, name):
    command = [arguments.bench, "--net", name, "--rounds", "20", "--json", "--direct"] + (["--cache", arguments.cache] if arguments.cache else [])
    result = subprocess.run(command, capture_output=True, text=True)
    lines = [line for line in result.stdout.splitlines() if line.startswith('{"net"')]
    if result.returncode or not lines:
        raise SystemExit(f"{name}: {result.stdout[-400:]} {result.stderr[-400:]}")
    return json.loads(lines[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--cache")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="no round begins after this long")
    arguments = parser.parse_args()
    begin = time.monotonic()
    rivals, ours, theirs = {}, {name: [] for name in NETS}, {name: [] for name in NETS}
    for name in NETS:
        try:
            rivals[name] = Torch(name)
        except Exception as why:       # whatever is missing there, ours is still measured
            print(f"PyTorch, {name}: absent ({str(why)[:200]})", flush=True)
    for _ in range(arguments.rounds):
        for name in NETS:
            if ours[name] and time.monotonic() - begin > arguments.seconds:
                continue
            ours[name].append(tenon(arguments, name))
            if name in rivals:
                theirs[name].append(rivals[name].measure())
    for name in NETS:
        for store in ("image", "buffer"):
            mine = {key: statistics.median(r[store][key] for r in ours[name])
                    for key in ("end_to_end_ms", "resident_ms", "direct_ms") if key in ours[name][0][store]}
            line = f"{name:16s} {store:6s} " + "  ".join(f"{key[:-3]} {value:.3f}" for key, value in mine.items()) + f"  ({len(ours[name])} rounds)"
            if theirs[name]:
                rival = {key: statistics.median(r[key] for r in theirs[name]) for key in ("end_to_end", "resident")}
                line += f"   PyTorch end_to_end {rival['end_to_end']:.3f}  resident {rival['resident']:.3f}   ratios "
                line += f"{rival['end_to_end'] / mine['end_to_end_ms']:.2f} {rival['resident'] / mine['resident_ms']:.2f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
