#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds memory_limit against the peak that is reported, on a folder of models as check_fp16.py reads them, at 1 and 2 threads.

Where the peak is exact: with it as the limit the plan is the same and runs; one byte less leads to a cheaper plan that runs, or to an
error that names a number of bytes with which it runs. For small models limits between that number and the peak follow: each runs, none
needs more than a larger one, and what it is said to take is a limit that changes nothing. Exit status 0: so it is for all.
"""
import json
import logging
import os
import re
import sys

import tenon
from check_fp16 import load

SMALL = 2 << 20     # bytes of a file whose plans are quick to make
STEPS = 6


def rows(session):
    return [(node["name"], node["kernel"], node["layout_in"], node["layout_out"]) for node in session.report("explain")["nodes"]]


def run(path, feeds, threads, limit):
    """(rows, report of memory) of a session that ran under this limit."""
    with tenon.InferenceSession(path, threads=threads, memory_limit=limit) as session:
        session.run(None, feeds)
        memory = session.report("memory")
        if limit and memory["peak_bytes"] is not None and memory["peak_bytes"] > limit:
            raise AssertionError(f"a run under {limit} bytes says that it takes {memory['peak_bytes']}")
        return rows(session), memory


def planned(path, feeds, threads, limit):
    """The peak of a plan that was made under this limit, or the LIMIT error's number, negated."""
    try:
        with tenon.InferenceSession(path, threads=threads, memory_limit=limit) as session:
            session.prepare({name: value if value.dtype.kind in "ib" and value.size < 5 else value.shape for name, value in feeds.items()})
            return session.report("memory")["peak_bytes"]
    except tenon.Error as error:
        if error.status != tenon.Status.LIMIT:
            raise
        return -int(re.search(r"at least (\d+) bytes", error.message)[1])


def walk(path, feeds, threads, peak):
    """What is wrong with limits from the least to the peak, or None."""
    least = -planned(path, feeds, threads, 1)
    if planned(path, feeds, threads, least) != least or planned(path, feeds, threads, least - 1) != -least:
        return f"{least} bytes are named, and are not the least"
    before = least
    for step in range(1, STEPS + 1):
        limit = least + (peak - least) * step // STEPS
        taken = planned(path, feeds, threads, limit)
        if not 0 < taken <= limit:
            return f"{limit} bytes lead to {taken} although {before} are enough"
        if planned(path, feeds, threads, taken) != taken:
            return f"{limit} bytes lead to {taken}, which as a limit lead elsewhere"
        before = limit
    return None


def check(path, feeds, threads):
    """What is wrong, or None; and the peak, 0 when it is not exact."""
    free, memory = run(path, feeds, threads, 0)
    peak = memory["peak_bytes"]
    if not memory["exact"]:
        return None, 0
    if run(path, feeds, threads, peak)[0] != free:
        return "another plan with the peak as the limit", peak
    try:
        return (None if run(path, feeds, threads, peak - 1)[0] != free else "the same plan with a byte less"), peak
    except tenon.Error as error:
        named = re.search(r"at least (\d+) bytes", error.message)
        if error.status != tenon.Status.LIMIT or not named:
            return f"with a byte less: {error}", peak
        run(path, feeds, threads, int(named[1]))
        return None, peak


def main():
    logging.getLogger("tenon").setLevel(logging.ERROR)     # cheaper rows may be references
    count = bad = 0
    for name in sorted(os.listdir(sys.argv[1])):
        folder = os.path.join(sys.argv[1], name)
        path = os.path.join(folder, "model.onnx")
        if not os.path.exists(path):
            continue
        with open(os.path.join(folder, "meta.json"), encoding="utf-8") as file:
            case = json.load(file)["cases"][0]
        feeds = {spec["name"]: load(os.path.join(folder, case["dir"]), spec) for spec in case["inputs"]}
        for threads in (1, 2):
            count += 1
            try:
                wrong, peak = check(path, feeds, threads)
                if peak and not wrong and os.path.getsize(path) < SMALL:
                    wrong = walk(path, feeds, threads, peak)
            except (tenon.Error, AssertionError) as error:
                wrong, peak = str(error), 0
            bad += wrong is not None
            print(f"{'FAIL' if wrong else 'ok  '} {name:32s} {threads}  {peak or 'not exact'}  {wrong or ''}", flush=True)
    print(f"{count - bad} of {count} keep their peak")
    return 0 if count and not bad else 1


if __name__ == "__main__":
    sys.exit(main())
