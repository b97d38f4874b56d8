# SPDX-License-Identifier: Apache-2.0
"""Two builds of the library against each other: race.py builds A.so B.so.

Each build lives in a process of its own. For every case both open the model, run it on the same input and hand their results over; cases whose
results differ are lost whatever their times. Then they take turns, A B B A: a few runs each, until the rounds are done. With one thread the time
of a run is that of its thread (CLOCK_THREAD_CPUTIME_ID), so other work on the machine costs little; with more it is the wall clock. What counts
as lost is in race_verdict.py. Exit status: 0 B is as fast and computes the same, 1 it is not, 2 a build could not be measured.
"""
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import race_cases
import race_verdict

SPIN = 0.03      # seconds of runs in one turn of a build


class Build:
    """The driver's end of one process."""

    def __init__(self, name, library, threads, slow):
        environment = dict(os.environ, TENON_LIBRARY=str(Path(library).resolve()))
        command = [sys.executable, __file__, str(threads), json.dumps(slow)]
        self.name = name
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)

    def ask(self, *words):
        self.process.stdin.write((json.dumps(words) + "\n").encode())
        self.process.stdin.flush()
        try:
            return pickle.load(self.process.stdout)
        except EOFError:
            return {"failed": f"build {self.name} ended"}

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def feeds_of(inputs):
    import numpy as np

    random = np.random.default_rng(7)
    feeds = {}
    for value in inputs:
        shape = [d if isinstance(d, int) else 1 for d in value.shape or [1]]
        float_types = {"tensor(float)": "f4", "tensor(double)": "f8", "tensor(float16)": "f2"}
        whole = {"tensor(int64)": "i8", "tensor(int32)": "i4", "tensor(uint8)": "u1", "tensor(int8)": "i1", "tensor(bool)": "?"}
        feeds[value.name] = (random.standard_normal(shape).astype(float_types[value.type]) if value.type in float_types
                             else np.ones(shape, whole[value.type]))
    return feeds


def worker(threads, slow):
    """Answers lines: ["open", name, path] with results, ["time"] with nanoseconds of some runs. Results are pickled to the caller's pipe."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import tenon

    clock = time.thread_time_ns if threads == 1 else time.perf_counter_ns
    session = feeds = None
    factor = 1.0
    for line in sys.stdin:
        words = json.loads(line)
        try:
            if words[0] == "open":
                session = None
                session = tenon.InferenceSession(words[2], threads=threads)
                feeds, factor = feeds_of(session.get_inputs()), slow.get(words[1], 1.0)
                answer = {"results": session.run(None, feeds)}
                session.run(None, feeds)
            else:
                samples, end = [], time.perf_counter() + SPIN
                while len(samples) < 3 or time.perf_counter() < end:
                    begin = clock()
                    session.run(None, feeds)
                    spent = clock() - begin
                    while clock() - begin < factor * spent:        # what --slow asks for
                        pass
                    samples.append(clock() - begin if factor > 1 else spent)
                answer = {"samples": samples}
        except Exception as why:                                  # told to the driver, whatever it was
            answer = {"failed": f"{type(why).__name__}: {why}"}
        pickle.dump(answer, answers)
        answers.flush()


def open_case(builds, name, path, tolerance):
    """The case before its first sample, or {"failed"}."""
    results = []
    for build in builds:
        answer = build.ask("open", name, path)
        if "failed" in answer:
            return {"failed": f"build {build.name}: {answer['failed']}"}
        results.append(answer["results"])
    equal, why = race_verdict.compare(results, tolerance)
    return {"samples": {"a": [], "b": []}, "equal": equal, "why": why}


def take_turns(builds, case, rounds):
    for r in range(rounds):
        for build in builds if r % 2 == 0 else builds[::-1]:
            answer = build.ask("time")
            if "failed" in answer:
                return f"build {build.name}: {answer['failed']}"
            case["samples"][build.name] += [min(answer["samples"])]
    return None


def measure(builds, cases, arguments):
    found, failed = {}, {}
    for _, name, path in cases:
        case = open_case(builds, name, path, arguments.tolerance)
        why = case.get("failed") or (take_turns(builds, case, arguments.rounds) if case["equal"] else None)
        # While it seems lost it gets more rounds: a disturbance passes, a loss stays.
        for _ in range(arguments.repeats):
            if why or not case["equal"] or not race_verdict.again({name: case}, arguments.limit):
                break
            why = take_turns(builds, case, 2 * arguments.rounds)
        if why:
            failed[name] = why
            continue
        found[name] = case
        if not arguments.json:
            text = f"{race_verdict.loss(case['samples']):6.3f}  {min(case['samples']['a']) / 1e3:11.1f} us" if case["equal"] else "results differ"
            print(f"{name:32s} {text}", flush=True)
    return found, failed


def run(arguments):
    slow = {name: float(factor) for name, _, factor in (s.partition("=") for s in arguments.slow)}
    with tempfile.TemporaryDirectory() as folder:
        levels = arguments.level or ([] if arguments.models else list(race_cases.LEVELS))
        cases = race_cases.write(folder, levels, arguments.case) + [("model", Path(m).name, str(Path(m).resolve())) for m in arguments.models]
        builds = [Build("a", arguments.a, arguments.threads, {}), Build("b", arguments.b, arguments.threads, slow)]
        try:
            if not arguments.json:
                print(f"{'case':32s}  B / A       of A at least")
            found, failed = measure(builds, cases, arguments)
        finally:
            for build in builds:
                build.close()
    verdict = race_verdict.decide(found, arguments.limit)
    if arguments.json:
        print(json.dumps(dict(verdict, failed=failed, samples={n: c["samples"] for n, c in found.items()}), indent=1))
    else:
        print(f"\ngeometric mean of B / A: {verdict['mean']:.3f} over {len(verdict['losses'])} cases")
        for reason in verdict["reasons"] + [f"{name}: not measured: {why}" for name, why in failed.items()]:
            print(f"  {reason}")
        print("B passes" if verdict["good"] and not failed else "B fails")
    return 2 if failed else 0 if verdict["good"] else 1


def add_options(verbs):
    verb = verbs.add_parser("builds", help="compare two builds: fails when the second is more than 5 %% slower or computes something else")
    verb.add_argument("a", metavar="A.so", help="the build before")
    verb.add_argument("b", metavar="B.so", help="the build after")
    verb.add_argument("models", nargs="*", metavar="MODEL.onnx", help="these models (and the made cases of --level)")
    verb.add_argument("--level", action="append", choices=list(race_cases.LEVELS), help="made cases: all, unless models are given; repeatable")
    verb.add_argument("--case", action="append", default=[], help="only made cases whose name holds this; repeatable")
    verb.add_argument("--threads", type=int, default=1)
    verb.add_argument("--rounds", type=int, default=6, help="turns of each build (default 6)")
    verb.add_argument("--repeats", type=int, default=3, help="how often a case that seems lost is measured again (default 3)")
    verb.add_argument("--limit", type=float, default=race_verdict.LIMIT, help="largest B / A that passes (default 1.05)")
    verb.add_argument("--tolerance", type=float, default=1e-3, help="largest difference of results over the largest magnitude (default 1e-3)")
    verb.add_argument("--slow", action="append", default=[], metavar="CASE=FACTOR", help="make B slower in a case: shows that the command can fail")
    verb.add_argument("--json", action="store_true")
    verb.set_defaults(function=run)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))
    worker(int(sys.argv[1]), json.loads(sys.argv[2]))
