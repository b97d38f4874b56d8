#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Races on this machine: against its limits, against another build, against other engines.

    race.py roofline [MODEL.onnx...] [--level kernel|block|model]... [--nodes] [--threads N] [--json]
    race.py builds A.so B.so [MODEL.onnx...] [--level ...]... [--threads N] [--json]
    race.py gemm [--shape MxKxN]... [--all] [--json]
    race.py page [MODEL.onnx...]
    race.py overhead [--nodes 1000] [--rounds 9] [--library NAME=libtenon.so]... [--json]
    race.py memory [--json] MODEL.onnx[:OPEN]... [--ncnn FOLDER]

roofline, builds, gemm: see race_roofline.py, race_builds.py and race_gemm.py; what the first two run is in race_cases.py.
page: the tables of docs/benchmarks.md.

overhead: a chain of tiny matrix products, one thread; every engine lives in a process of its own and they take turns, A B C A B C. Told are
nanoseconds for a node, the least and the median of the rounds. --library adds other builds of this library, to compare two builds.
memory: peak resident memory of a process that opens the model and runs it three times, less that of the same process before it loaded
the engine. Inputs are case0/in_0.npy and so on beside the model where they fit, else ones; OPEN: what dims that the model leaves open become then. FOLDER: where NAME.ncnn.param and .bin of the same models lie.

Engines that are not installed (onnxruntime, ncnn, torch as Python modules; torch in overhead alone) are left out and named. Needs numpy;
PYTHONPATH and TENON_LIBRARY as for the Python binding.
"""
import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "bindings" / "python")]
import race_builds  # noqa: E402
import race_gemm  # noqa: E402
import race_page  # noqa: E402
import race_roofline  # noqa: E402

SIDE = 4


# ---- a chain of tiny products, for each engine ----

def write_chain(folder, nodes):
    """chain.onnx: MatMul [1, SIDE] x [SIDE, SIDE], again and again. chain.param, chain.bin: the same as inner products."""
    import tiny_onnx as tiny

    eye = [float(i % (SIDE + 1) == 0) for i in range(SIDE * SIDE)]
    weights = [tiny.tensor(tiny.FLOAT, [SIDE, SIDE], [v + 1e-6 * n for v in eye], f"w{n}") for n in range(nodes)]
    chain = [tiny.node("MatMul", [f"x{n}", f"w{n}"], [f"x{n + 1}"], f"n{n}") for n in range(nodes)]
    (folder / "chain.onnx").write_bytes(tiny.model(chain, [("x0", tiny.FLOAT, [1, SIDE])], [(f"x{nodes}", tiny.FLOAT, [1, SIDE])], weights))
    lines = ["7767517", f"{nodes + 1} {nodes + 1}", "Input in 0 1 x0"]
    lines += [f"InnerProduct n{n} 1 1 x{n} x{n + 1} 0={SIDE} 1=0 2={SIDE * SIDE}" for n in range(nodes)]
    (folder / "chain.param").write_text("\n".join(lines) + "\n")
    (folder / "chain.bin").write_bytes(b"".join(struct.pack(f"<i{SIDE * SIDE}f", 0, *(v + 1e-6 * n for v in eye)) for n in range(nodes)))


def runner(engine, folder, nodes):
    """A function that runs the chain once with as little of Python around it as there can be."""
    import numpy as np

    x = np.ones((1, SIDE), np.float32)
    path = str(folder / "chain")
    if engine == "onnxruntime":
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = ort.InferenceSession(path + ".onnx", options, providers=["CPUExecutionProvider"])
        return lambda: session.run(None, {"x0": x})
    if engine == "ncnn":
        import ncnn

        net = ncnn.Net()
        net.opt.num_threads = 1
        if net.load_param(path + ".param") or net.load_model(path + ".bin"):
            raise ImportError("ncnn could not read the chain")
        mat = ncnn.Mat(x[0].copy())

        def run():
            extractor = net.create_extractor()
            extractor.input("x0", mat)
            return extractor.extract(f"x{nodes}")
        run.keep = net, mat
        return run
    if engine == "torch":
        import torch

        torch.set_num_threads(1)
        weights = [torch.eye(SIDE) + 1e-6 * n for n in range(nodes)]

        def chain(at):
            for w in weights:
                at = at @ w
            return at

        tensor = torch.from_numpy(x)
        traced = torch.jit.trace(chain, tensor)

        def run():
            with torch.inference_mode():
                return traced(tensor)
        return run
    import tenon

    session = tenon.InferenceSession(path + ".onnx", threads=1, limit_nodes=0)
    return lambda: session.run(None, {"x0": x})


def worker_overhead(engine, folder, nodes):
    """Answers each line on stdin with nanoseconds for a node, the best of some runs."""
    try:
        run = runner(engine, Path(folder), nodes)
    except ImportError as why:
        print(f"absent: {why}", flush=True)
        return
    for _ in range(20):
        run()
    print("ready", flush=True)
    for _ in sys.stdin:
        best = float("inf")
        for _ in range(30):
            begin = time.perf_counter_ns()
            run()
            best = min(best, time.perf_counter_ns() - begin)
        print(best / nodes, flush=True)


def overhead(arguments):
    engines = [("tenon", {}), ("onnxruntime", {}), ("ncnn", {}), ("torch", {})]
    engines[1:1] = [(name, {"TENON_LIBRARY": path}) for name, _, path in (l.partition("=") for l in arguments.library)]
    with tempfile.TemporaryDirectory() as folder:
        write_chain(Path(folder), arguments.nodes)
        running, results, absent = {}, {}, []
        for name, environment in engines:
            command = [sys.executable, __file__, "--worker", "tenon" if environment else name, folder, str(arguments.nodes)]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ, **environment))
            if process.stdout.readline().strip() == "ready":
                running[name], results[name] = process, []
            else:
                absent.append(name)
        for _ in range(arguments.rounds):
            for name, process in running.items():
                process.stdin.write("go\n")
                process.stdin.flush()
                results[name].append(float(process.stdout.readline()))
        for process in running.values():
            process.stdin.close()
            process.wait()
    document = {"nodes": arguments.nodes, "absent": absent,
                "engines": {name: {"min_ns": min(r), "median_ns": statistics.median(r)} for name, r in results.items()}}
    if arguments.json:
        print(json.dumps(document, indent=1))
    else:
        for name, r in document["engines"].items():
            print(f"{name:14s} {r['min_ns']:8.1f} ns a node at least, {r['median_ns']:8.1f} in the median")
        print("absent: " + ", ".join(absent) if absent else "", end="\n" if absent else "")


# ---- memory ----

def status_kib(key):
    for line in open("/proc/self/status", encoding="ascii"):
        if line.startswith(key):
            return int(line.split()[1])
    return 0


NUMPY_OF = {"tensor(float)": "float32", "tensor(int64)": "int64", "tensor(int32)": "int32", "tensor(double)": "float64",
            "tensor(float16)": "float16", "tensor(uint8)": "uint8", "tensor(int8)": "int8", "tensor(bool)": "bool"}


def feeds_of(inputs, model, open_dim):
    """case0/in_0.npy, in_1.npy ... beside the model where they are, else ones."""
    import numpy as np

    files = [Path(model).parent / "case0" / f"in_{i}.npy" for i in range(len(inputs))]
    arrays = [np.load(f) for f in files] if all(f.exists() for f in files) else []
    if arrays and all(a.dtype == NUMPY_OF.get(v.type, "float32") for a, v in zip(arrays, inputs)):
        return {value.name: array for value, array in zip(inputs, arrays)}
    feeds = {}
    for value in inputs:
        shape = [d if isinstance(d, int) else 1 if axis == 0 else open_dim for axis, d in enumerate(value.shape or [open_dim])]
        feeds[value.name] = np.ones(shape, NUMPY_OF.get(value.type, "float32"))
    return feeds


def worker_memory(engine, model, open_dim):
    """Prints KiB: the peak, and what the process had before the engine was loaded."""
    import numpy as np

    try:
        if engine == "onnxruntime":
            import onnxruntime as ort
        elif engine == "ncnn":
            import ncnn
        else:
            import tenon

            tenon.version()
    except ImportError as why:
        print(f"absent: {why}")
        return
    base = status_kib("VmRSS:")
    if engine == "ncnn":
        net = ncnn.Net()
        net.opt.num_threads = 1
        if net.load_param(model + ".ncnn.param") or net.load_model(model + ".ncnn.bin"):
            print("absent: ncnn could not read the model")
            return
        shapes = json.loads((Path(model).parent / "manifest.json").read_text())[Path(model).name]["inputs"]
        arrays = [np.ones(i["shape"][1:], np.int32 if i["dtype"] == "int64" else np.float32) for i in shapes]
        for _ in range(3):
            extractor = net.create_extractor()
            for name, array in zip(net.input_names(), arrays):
                extractor.input(name, ncnn.Mat(array))
            for name in net.output_names():
                extractor.extract(name)
    else:
        if engine == "onnxruntime":
            options = ort.SessionOptions()
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        else:
            session = tenon.InferenceSession(model, threads=1)
        feeds = feeds_of(session.get_inputs(), model, open_dim)
        for _ in range(3):
            session.run(None, feeds)
    print(status_kib("VmHWM:"), base)


def memory(arguments):
    rows = []
    for text in arguments.models:
        model, _, open_dim = text.partition(":")
        row = {"model": model}
        for engine in ("tenon", "onnxruntime", "ncnn"):
            target = model
            if engine == "ncnn":
                target = str(Path(arguments.ncnn or ".") / Path(model).stem)
                if not arguments.ncnn or not Path(target + ".ncnn.param").exists():
                    continue
            result = subprocess.run([sys.executable, __file__, "--worker", engine, target, open_dim or "1", "memory"], capture_output=True, text=True)
            words = result.stdout.split()
            if result.returncode == 0 and len(words) == 2 and words[0].isdigit():
                row[engine] = {"peak_mib": int(words[0]) / 1024, "base_mib": int(words[1]) / 1024, "mib": (int(words[0]) - int(words[1])) / 1024}
            else:
                row[engine] = {"failed": (result.stdout + result.stderr).strip().splitlines()[-1:]}
        rows.append(row)
        if not arguments.json:
            cells = [f"{e} {row[e]['mib']:7.1f}" if "mib" in row[e] else f"{e} failed" for e in ("tenon", "onnxruntime", "ncnn") if e in row]
            others = [row[e]["mib"] for e in ("onnxruntime", "ncnn") if "mib" in row.get(e, {})]
            verdict = f"{row['tenon']['mib'] / min(others):6.2f} of the better" if others and "mib" in row["tenon"] else ""
            print(f"{'/'.join(Path(model).parts[-2:]):44s} MiB: {', '.join(cells)}  {verdict}", flush=True)
    if arguments.json:
        print(json.dumps(rows, indent=1))


def main():
    if len(sys.argv) > 4 and sys.argv[1] == "--worker":
        if len(sys.argv) > 5:
            worker_memory(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        else:
            worker_overhead(sys.argv[2], sys.argv[3], int(sys.argv[4]))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("overhead")
    one.add_argument("--nodes", type=int, default=1000)
    one.add_argument("--rounds", type=int, default=9)
    one.add_argument("--library", action="append", default=[])
    one.add_argument("--json", action="store_true")
    two = verbs.add_parser("memory")
    two.add_argument("models", nargs="+")
    two.add_argument("--ncnn")
    two.add_argument("--json", action="store_true")
    one.set_defaults(function=overhead)
    two.set_defaults(function=memory)
    race_roofline.add_options(verbs)
    race_builds.add_options(verbs)
    race_gemm.add_options(verbs)
    race_page.add_options(verbs)
    arguments = parser.parse_args()
    return arguments.function(arguments)


if __name__ == "__main__":
    sys.exit(main())
