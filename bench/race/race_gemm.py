# SPDX-License-Identifier: Apache-2.0
"""Matrix products of real models against the libraries that are here: race.py gemm.

200 shapes M x K x N: 1x1 convolutions as products (pixels x channels x channels), dense layers of encoders and decoders at several lengths,
classifiers, recurrent gates. B is constant, as weights are: Tenon, onnxruntime and oneDNN (torch) pack it ahead, OpenBLAS (numpy) takes it as
it is. Every engine lives in a process of its own and they take turns; one thread, whose own time counts (CLOCK_THREAD_CPUTIME_ID). Products
are compared, not calls: what an engine takes for a product of next to nothing, called the same way, is subtracted from its times. All memory of
the caller's is aligned to a cache line. For small products, where the call from Python would still count, Tenon's time is that of the node by
its recorder, and oneDNN and onnxruntime are left out. Told are the median and the worst of rival / Tenon for each rival and for the best of
them; above 1 Tenon is faster.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import race_cases

SMALL = 4e6            # multiply-accumulates below which a call from Python counts too much
SPIN = 0.02            # seconds of runs in one turn


def pointwise(size, pairs):
    return [(size * size, k, n) for k, n in pairs]


def encoder(tokens, width, inner):
    return [(t, k, n) for t in tokens for k, n in ((width, width), (width, 3 * width), (width, inner), (inner, width))]


def shapes():
    """(M, K, N), each once, in a fixed order."""
    found = []
    # MobileNetV1, V2, V3, EfficientNet-B0, ShuffleNetV2
    found += pointwise(112, [(32, 64), (32, 16), (16, 96), (16, 64)])
    found += pointwise(56, [(64, 128), (128, 128), (96, 24), (24, 144), (144, 24), (64, 24), (24, 72), (72, 24), (24, 58)])
    found += pointwise(28, [(128, 256), (256, 256), (144, 32), (32, 192), (192, 32), (72, 40), (40, 120), (120, 40), (40, 240), (144, 40), (240, 40), (58, 58)])
    found += pointwise(14, [(256, 512), (512, 512), (192, 64), (64, 384), (384, 64), (384, 96), (96, 576), (576, 96), (240, 80), (80, 200), (200, 80), (80, 184),
                            (184, 80), (80, 480), (480, 112), (112, 672), (672, 112), (116, 116)])
    found += pointwise(7, [(512, 1024), (1024, 1024), (576, 160), (160, 960), (960, 160), (960, 320), (320, 1280), (672, 160), (672, 192), (192, 1152), (1152, 192),
                           (1152, 320), (232, 232), (464, 1024)])
    # ResNet-50, SqueezeNet, Inception
    found += pointwise(56, [(64, 64), (64, 256), (256, 64), (256, 128)]) + pointwise(28, [(128, 512), (512, 128), (512, 256)])
    found += pointwise(14, [(256, 1024), (1024, 256), (1024, 512)]) + pointwise(7, [(512, 2048), (2048, 512)])
    found += pointwise(55, [(16, 64), (128, 16)]) + pointwise(27, [(256, 32), (32, 128)]) + pointwise(13, [(384, 48), (48, 192), (512, 64), (64, 256), (512, 1000)])
    found += pointwise(35, [(192, 64), (256, 48), (288, 64)]) + pointwise(17, [(768, 192), (768, 128)]) + pointwise(8, [(1280, 320), (2048, 192), (1280, 384)])
    # encoders: MiniLM, ViT-Tiny, ViT-Small/DeiT, BERT-Base, Whisper-Tiny, BERT-Large
    found += encoder((16, 64, 128, 256), 384, 1536) + encoder((197,), 192, 768) + encoder((197,), 384, 1536) + encoder((32, 128, 384), 768, 3072)
    found += encoder((1500,), 384, 1536) + encoder((64,), 1024, 4096)
    # decoders, a token at a time and a few: GPT-2, TinyLlama, Whisper-Base
    found += encoder((1, 4, 8), 768, 3072) + [(1, 2048, 2048), (1, 2048, 256), (1, 2048, 5632), (1, 5632, 2048), (8, 2048, 5632), (1, 768, 50257)] + encoder((1,), 512, 2048)
    # classifiers and recurrent gates
    found += [(1, k, n) for k, n in ((1280, 1000), (1024, 1000), (2048, 1000), (512, 1000), (25088, 4096), (4096, 4096), (4096, 1000), (960, 1280), (1280, 2048))]
    found += [(m, k, n) for m in (1, 10, 84) for k, n in ((256, 1024), (128, 512), (512, 2048))] + [(100, 40, 512), (100, 80, 1024)]
    # batches of small dense layers, detection heads, box and mask heads
    found += [(b, k, n) for b in (2, 16, 64) for k, n in ((784, 128), (128, 64), (64, 10), (512, 512))]
    found += [(1600, 128, 85), (400, 256, 255), (8400, 64, 80), (300, 256, 91), (1000, 1024, 81), (12544, 32, 16), (6400, 64, 64), (100, 256, 256)]
    found += [(1024, 1024, 1024), (512, 512, 512), (256, 256, 256), (2048, 512, 512), (77, 768, 768), (4096, 320, 320), (1024, 640, 640), (256, 1280, 1280),
              (77, 768, 3072), (256, 512, 512)]
    return list(dict.fromkeys(found))[:200]


# ---- engines ----

def is_small(m, k, n):
    """Whether calls from Python would count. 1 x 1 x 1 shows what a call takes, 1 x 1 x 2 what is left of it for small products."""
    return 1 < m * k * n < SMALL


def aligned(values):
    """The same float32 values at a multiple of 64 bytes: where an array happens to begin would decide how many lines a store touches."""
    import numpy as np

    room = np.empty(values.size + 16, np.float32)
    first = -room.ctypes.data % 64 // 4
    result = room[first:first + values.size].reshape(values.shape)
    result[...] = values
    return result


def bound(session, a, m, n):
    """Runs into one array, as OpenBLAS does here: fresh pages would be in the time."""
    import numpy as np

    binding = session.io_binding()
    if hasattr(binding, "bind_cpu_input"):                 # onnxruntime's
        import onnxruntime as engine

        c = engine.OrtValue.ortvalue_from_numpy(np.empty((m, n), np.float32))
        binding.bind_cpu_input("x", a)
        binding.bind_ortvalue_output("y", c)
    else:
        c = aligned(np.zeros((m, n), np.float32))
        binding.bind_input("x", a)
        binding.bind_output("y", c)
    return lambda: (session.run_with_iobinding(binding), c)


def tenon(m, k, n, a, b):
    import tenon as engine

    net = race_cases.Net(m, k)
    net.node("MatMul", "x", net.constant(b))
    session = engine.InferenceSession(net.bytes(), threads=1)
    if not is_small(m, k, n):
        return bound(session, a, m, n)

    def recorded():
        """Seconds of the node itself, the least of some runs."""
        record = session.profile({"x": a}, runs=50, warmup=1)
        return min(end - begin for _, _, begin, end, *_ in record["steps"]) * 1e-9
    recorded.times = True
    return recorded


def openblas(m, k, n, a, b):
    import numpy as np

    c = aligned(np.zeros((m, n), np.float32))
    return lambda: np.matmul(a, b, out=c)


def onednn(m, k, n, a, b):
    import torch

    if is_small(m, k, n):
        return None
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    x, w = torch.from_numpy(a), torch.from_numpy(b.T.copy())
    packed = torch.ops.mkldnn._reorder_linear_weight(w, m)
    call = torch.ops.mkldnn._linear_pointwise
    return lambda: call(x, packed, None, "none", [], "")


def onnxruntime(m, k, n, a, b):
    import onnxruntime as engine

    if is_small(m, k, n):
        return None
    net = race_cases.Net(m, k)
    net.node("MatMul", "x", net.constant(b))
    options = engine.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    session = engine.InferenceSession(net.bytes(), options, providers=["CPUExecutionProvider"])
    return bound(session, a, m, n)


ENGINES = {"tenon": tenon, "openblas": openblas, "onednn": onednn, "onnxruntime": onnxruntime}


def least(run, spin, repeat):
    """Seconds of the fastest of some runs; `repeat` calls to a sample where one is too short for the clock."""
    best, end, count = 1e9, time.perf_counter() + spin, 0
    while time.perf_counter() < end or count < 3:
        if getattr(run, "times", False):
            best = min(best, run())
        else:
            begin = time.thread_time_ns()
            for _ in range(repeat):
                run()
            best = min(best, (time.thread_time_ns() - begin) * 1e-9 / repeat)
        count += 1
    return best


def worker(engine, wanted):
    """Answers each line, an index, with the least seconds of some runs; 0: left out. The first line says whether the engine is here."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import numpy as np

    random, held = np.random.default_rng(0), {}
    try:
        calls = [ENGINES[engine](1, 1, n, np.ones((1, 1), np.float32), np.ones((1, n), np.float32)) for n in (1, 2)]
        overhead = [least(call, 0.3, 20) if call else 0 for call in calls]
        print("ready", file=answers, flush=True)
    except Exception as why:                 # not installed, or without what is asked of it
        print(f"absent: {why}", file=answers, flush=True)
        return
    for line in sys.stdin:
        index = int(line)
        m, k, n = wanted[index]
        if index not in held:
            held.clear()
            a, b = (aligned(random.standard_normal(shape).astype(np.float32)) for shape in ((m, k), (k, n)))
            held[index] = ENGINES[engine](m, k, n, a, b)
        run = held[index]
        seconds = least(run, SPIN, max(1, int(2e6 / (m * k * n)))) if run else 0
        seconds = max(seconds - overhead[is_small(m, k, n)], seconds / 10)
        print(seconds, file=answers, flush=True)


def measure(wanted, rounds):
    environment = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1",
                       MALLOC_MMAP_THRESHOLD_="1073741824", MALLOC_TRIM_THRESHOLD_="1073741824")   # torch's results: no fresh pages in each call
    running, absent, best = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "shapes.json"
        listed.write_text(json.dumps(wanted))
        for name in ENGINES:
            process = subprocess.Popen([sys.executable, __file__, name, str(listed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
            first = process.stdout.readline().strip()
            if first == "ready":
                running[name] = process
            else:
                absent[name] = first
        for index in range(len(wanted)):
            for _ in range(rounds):
                for name, process in running.items():
                    process.stdin.write(f"{index}\n")
                    process.stdin.flush()
                    seconds = float(process.stdout.readline() or 0)
                    row = best.setdefault(index, {})
                    if seconds > 0:
                        row[name] = min(row.get(name, seconds), seconds)
        for process in running.values():
            process.stdin.close()
            process.wait()
    return best, absent


def summarise(wanted, best):
    """{"rivals": {name: {"median", "worst", "shape", "below": shapes under 0.8}}, "shapes": [...]}: ratios are rival's time / Tenon's."""
    rows = []
    for index, times in best.items():
        rivals = {name: seconds / times["tenon"] for name, seconds in times.items() if name != "tenon"}
        if rivals:
            m, k, n = wanted[index]
            rows.append({"shape": f"{m}x{k}x{n}", "gflops": 2e-9 * m * k * n / times["tenon"], "ratios": dict(rivals, best=min(rivals.values()))})
    names = sorted({name for row in rows for name in row["ratios"]})
    table = {}
    for name in names:
        ratios = sorted((row["ratios"][name], row["shape"]) for row in rows if name in row["ratios"])
        table[name] = {"count": len(ratios), "median": statistics.median(r for r, _ in ratios), "worst": ratios[0][0], "shape": ratios[0][1],
                       "below": [f"{shape} {ratio:.2f}" for ratio, shape in ratios if ratio < 0.8]}
    return {"rivals": table, "shapes": rows}


def document_of(wanted, rounds):
    """The summary of these shapes (none: all 200), with the engines that are absent; no shapes where Tenon is absent."""
    wanted = wanted or shapes()
    best, absent = measure(wanted, rounds)
    return dict(summarise(wanted, {} if "tenon" in absent else best), absent=absent)


def run(arguments):
    document = document_of([tuple(map(int, s.split("x"))) for s in arguments.shape], arguments.rounds)
    if "tenon" in document["absent"]:
        print(f"Tenon was not measured: {document['absent']['tenon']}")
        return 2
    if arguments.json:
        print(json.dumps(document, indent=1))
        return 0
    if arguments.all or arguments.shape:
        for row in document["shapes"]:
            print(f"{row['shape']:18s} {row['gflops']:7.1f} GFLOP/s  " + "  ".join(f"{name} {ratio:.2f}" for name, ratio in row["ratios"].items()))
    print(f"{'rival / Tenon':14s} {'shapes':>6s} {'median':>7s} {'worst':>6s}")
    for name, row in document["rivals"].items():
        print(f"{name:14s} {row['count']:6d} {row['median']:7.2f} {row['worst']:6.2f}  at {row['shape']}; under 0.8: {len(row['below'])}")
    for text in document["rivals"].get("best", {"below": []})["below"]:
        print(f"  under 0.8 of the best: {text}")
    for name, why in document["absent"].items():
        print(f"{name} is not here ({why})")
    return 0


def add_options(verbs):
    verb = verbs.add_parser("gemm", help="matrix products of real models against the libraries that are here")
    verb.add_argument("--shape", action="append", default=[], metavar="MxKxN", help="only this shape; repeatable")
    verb.add_argument("--rounds", type=int, default=3)
    verb.add_argument("--all", action="store_true", help="a line for each shape")
    verb.add_argument("--json", action="store_true")
    verb.set_defaults(function=run)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))
    worker(sys.argv[1], [tuple(s) for s in json.loads(Path(sys.argv[2]).read_text())])
