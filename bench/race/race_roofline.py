# SPDX-License-Identifier: Apache-2.0
"""Kernels, blocks and models on the roofline of this machine: race.py roofline.

Each case runs under `tenon profile --json`, which also measures the two limits with as many threads: multiply-adds in registers (GFLOP/s) and
copying of a block larger than the caches (GB/s). The upper quartile of the figures of all cases is the roof: the best of them may be an error
of the clock, which is read some 40 us apart. Their quotient is the ridge point. For a node that does F operations on B bytes (operands, weights
and results, each once) the least time is max(F / peak, B / copy): the larger term says whether arithmetic or memory bounds it. For several nodes the least times add up. The share is least time / measured time. It can be above
100 %: Winograd's convolutions do fewer operations than are counted, and data may come from caches.

With one thread the time of a case is that of the thread (CLOCK_THREAD_CPUTIME_ID) in runs through the Python binding, where that finds the
library, so other work on the machine counts little; else, and for the nodes of a case, it is the wall clock of the recorder.
"""
import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

import race_builds
import race_cases


def read_profile(document):
    """[{"kernel", "op", "flop", "bytes", "ns": least of the runs}] in the order of the plan, and the least time of a whole run."""
    profile, nodes = document["profile"], []
    for facts in profile["nodes"]:
        moved = facts["read_bytes"] + facts["write_bytes"] + facts["constant_bytes"]
        nodes.append({"name": facts["name"], "op": facts["op"], "kernel": facts["kernel"], "flop": 2 * facts["macs"], "bytes": moved, "ns": None})
    for node, _, begin, end, *_ in profile["steps"]:
        spent = end - begin
        nodes[node]["ns"] = spent if nodes[node]["ns"] is None else min(spent, nodes[node]["ns"])
    return [n for n in nodes if n["ns"]], min(end - begin for begin, end, *_ in profile["runs"])


def place(flop, moved, ns, peak, copy):
    """A point on the roofline. Gives intensity (operations a byte), bound, GFLOP/s, GB/s, least_ns, share of the roof, and of the copy rate."""
    arithmetic, memory = flop / peak, moved / copy
    least = max(arithmetic, memory)
    return {"intensity": flop / moved if moved else 0.0, "bound": "arithmetic" if arithmetic > memory else "memory", "gflops": flop / ns,
            "gbps": moved / ns, "least_ns": least, "share": least / ns, "bandwidth_share": memory / ns, "ns": ns}


def place_case(level, name, nodes, run_ns, peak, copy):
    rows = [dict(place(n["flop"], n["bytes"], n["ns"], peak, copy), name=n["name"], op=n["op"], kernel=n["kernel"]) for n in nodes]
    total = place(sum(n["flop"] for n in nodes), sum(n["bytes"] for n in nodes), run_ns, peak, copy)
    total["least_ns"] = sum(r["least_ns"] for r in rows)
    total["share"] = total["least_ns"] / run_ns
    total["bound"] = "arithmetic" if 2 * sum(r["least_ns"] for r in rows if r["bound"] == "arithmetic") > total["least_ns"] else "memory"
    return dict(total, level=level, case=name, nodes=rows)


def thread_time(path, runs):
    """Nanoseconds of the thread in the fastest of some runs; None: the Python binding is not there."""
    try:
        import tenon

        tenon.version()
    except Exception:                             # no numpy, no library: the wall clock serves
        return None
    session = tenon.InferenceSession(path, threads=1)
    feeds, least = race_builds.feeds_of(session.get_inputs()), None
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_input(name, value)
    for value, result in zip(session.get_outputs(), session.run(None, feeds)):
        binding.bind_output(value.name, result)   # fresh pages for results would be in the time
    for _ in range(runs):
        begin = time.thread_time_ns()
        session.run_with_iobinding(binding)
        spent = time.thread_time_ns() - begin
        least = spent if least is None else min(least, spent)
    session.close()
    return least


def upper_quartile(figures):
    return sorted(figures)[3 * (len(figures) - 1) // 4] if figures else 0.0


def profile(tool, path, threads, runs):
    command = [tool, "profile", path, "--json", "--quiet", "--threads", str(threads), "--runs", str(runs), "--warmup", "2"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr.strip().splitlines()[-1:] or ["no reason given"])
    return json.loads(result.stdout)


def print_row(r, what, width):
    print(f"{what:{width}s} {r['ns'] / 1e6:9.3f} {r['intensity']:8.2f} {r['bound']:10s} {r['gflops']:8.1f} {r['gbps']:7.1f} "
          f"{100 * r['bandwidth_share']:6.0f} % {100 * r['share']:6.0f} %")


def show(document, with_nodes):
    print(f"{document['threads']} thread(s): {document['peak_gflops']:.1f} GFLOP/s of multiply-adds, {document['copy_gbps']:.1f} GB/s of copying, "
          f"ridge at {document['ridge']:.1f} operations a byte")
    for level in race_cases.LEVELS:
        rows = [c for c in document["cases"] if c["level"] == level]
        if rows:
            print(f"\n{level + 's':28s} {'ms':>9s} {'ops/byte':>8s} {'bound by':10s} {'GFLOP/s':>8s} {'GB/s':>7s} {'of copy':>8s} {'of roof':>8s}")
        for c in rows:
            print_row(c, c["case"], 28)
            for n in c["nodes"] if with_nodes else []:
                print_row(n, f"    {n['kernel'][:44]}", 28)
    for name, why in document["failed"].items():
        print(f"{name}: not measured: {why}")


def document_of(arguments):
    """{"threads", "peak_gflops", "copy_gbps", "ridge", "failed", "cases"}; no cases where nothing could be measured."""
    tool = arguments.tool or os.environ.get("TENON_TOOL", "tenon")
    measured, failed, peaks, copies = [], {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        cases = race_cases.write(folder, arguments.level or list(race_cases.LEVELS), arguments.case)
        cases += [("model", Path(m).name, m) for m in arguments.models]
        for level, name, path in cases:
            try:
                record = profile(tool, path, arguments.threads, arguments.runs)
            except (RuntimeError, OSError, ValueError) as why:
                failed[name] = str(why)
                continue
            peaks.append(record["peak_gflops"])
            copies.append(record["copy_gbps"])
            nodes, wall = read_profile(record)
            own = thread_time(path, arguments.runs) if arguments.threads == 1 else None
            measured.append((level, name, nodes, own or wall))
    peak, copy = upper_quartile(peaks), upper_quartile(copies)
    whole = peak > 0 and copy > 0
    return {"threads": arguments.threads, "peak_gflops": peak, "copy_gbps": copy, "ridge": peak / copy if whole else None, "failed": failed,
            "cases": [place_case(level, name, nodes, ns, peak, copy) for level, name, nodes, ns in measured if whole]}


def run(arguments):
    document = document_of(arguments)
    if not document["cases"]:
        print(f"nothing was measured: {document['failed'] or 'no case has such a name'}")
        return 1
    if arguments.json:
        print(json.dumps(document, indent=1))
    else:
        show(document, arguments.nodes)
    return 1 if document["failed"] else 0


def add_options(verbs):
    verb = verbs.add_parser("roofline", help="place kernels, blocks and models on the roofline of this machine")
    verb.add_argument("models", nargs="*", metavar="MODEL.onnx", help="more models")
    verb.add_argument("--level", action="append", choices=list(race_cases.LEVELS), help="only these made cases; repeatable")
    verb.add_argument("--case", action="append", default=[], help="only made cases whose name holds this; repeatable")
    verb.add_argument("--nodes", action="store_true", help="a row for each node, too")
    verb.add_argument("--tool", help="the command (default: TENON_TOOL, or tenon)")
    verb.add_argument("--threads", type=int, default=1)
    verb.add_argument("--runs", type=int, default=10)
    verb.add_argument("--json", action="store_true")
    verb.set_defaults(function=run)
