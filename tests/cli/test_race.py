#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The races of bench/race: what they decide, from recorded samples, and that their cases are models. Nothing here depends on a clock.

TENON_LIBRARY names the library, as for the Python binding. Exit status 77: numpy is not there.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed")
    sys.exit(77)

RACE = Path(__file__).resolve().parents[2] / "bench" / "race"
sys.path.insert(0, str(RACE))
import race_cases  # noqa: E402
import race_gemm  # noqa: E402
import race_roofline  # noqa: E402
import race_verdict  # noqa: E402

# Nanoseconds of one build against itself on a busy machine, and of a build that lost a tenth in one case.
SAME = {"conv": {"samples": {"a": [1010, 1002, 1400, 1001], "b": [1003, 2500, 1009, 1004]}},
        "gemm": {"samples": {"a": [5100, 5010, 5020], "b": [5009, 9000, 5030]}}}
LOST = {"conv": {"samples": {"a": [1010, 1002, 1400], "b": [1107, 1101, 1300]}}, "gemm": SAME["gemm"]}


class Verdict(unittest.TestCase):
    def test_same(self):
        verdict = race_verdict.decide(SAME)
        self.assertTrue(verdict["good"], verdict["reasons"])
        self.assertEqual(verdict["losses"]["conv"], 1)       # the minima say 1.002, the turns 0.998
        self.assertEqual(race_verdict.again(SAME), [])

    def test_one_case_lost(self):
        verdict = race_verdict.decide(LOST)
        self.assertFalse(verdict["good"])
        self.assertEqual(verdict["lost"], ["conv"])
        self.assertIn("9.6 % slower", verdict["reasons"][0])
        self.assertEqual(race_verdict.again(LOST), ["conv"])

    def test_disturbed_case_recovers(self):
        # The first rounds of B fell into other work; the repeated ones did not.
        disturbed = {"conv": {"samples": {"a": [1000, 1001], "b": [1200, 1180]}}}
        self.assertEqual(race_verdict.again(disturbed), ["conv"])
        disturbed["conv"]["samples"]["b"] += [1004, 1002]
        self.assertEqual(race_verdict.again(disturbed), [])
        self.assertTrue(race_verdict.decide(disturbed)["good"])

    def test_both_figures_must_agree(self):
        # One turn of A was lucky: the turns say that nothing was lost.
        self.assertEqual(race_verdict.loss({"a": [800, 1000, 1000], "b": [1000, 1000, 1000]}), 1)
        # Most turns of B were disturbed: the minima say that nothing was lost.
        self.assertEqual(race_verdict.loss({"a": [1000, 1000, 1000], "b": [1000, 1300, 1300]}), 1)
        self.assertEqual(race_verdict.loss({"a": [1000, 1000, 1000], "b": [1100, 1300, 1200]}), 1.1)
        self.assertEqual(race_verdict.loss({"a": [1000, 1000, 1000], "b": [800, 900, 950]}), 0.9)

    def test_mean_lost_though_no_case_is(self):
        cases = {f"case{i}": {"samples": {"a": [1000], "b": [1040]}} for i in range(5)}
        self.assertTrue(race_verdict.decide(cases)["good"])
        verdict = race_verdict.decide(cases, limit=1.03)
        self.assertFalse(verdict["good"])
        self.assertIn("geometric mean: 4.0 % slower", verdict["reasons"])

    def test_mean_is_symmetric(self):
        cases = {"up": {"samples": {"a": [1000], "b": [2000]}}, "down": {"samples": {"a": [2000], "b": [1000]}}}
        self.assertAlmostEqual(race_verdict.decide(cases)["mean"], 1)

    def test_faster_but_wrong(self):
        cases = dict(SAME, wrong={"samples": {"a": [1000], "b": [500]}, "equal": False, "why": "result 0"})
        verdict = race_verdict.decide(cases)
        self.assertFalse(verdict["good"])
        self.assertEqual(verdict["different"], ["wrong"])
        self.assertNotIn("wrong", verdict["losses"])

    def test_nothing_measured(self):
        self.assertFalse(race_verdict.decide({})["good"])

    def test_results(self):
        a = np.array([1, -4, 2], np.float32)
        self.assertTrue(race_verdict.compare([[a], [a + np.float32(0.003)]], 1e-3)[0])
        self.assertFalse(race_verdict.compare([[a], [a + np.float32(0.005)]], 1e-3)[0])
        self.assertFalse(race_verdict.compare([[a], [a[:2]]], 1e-3)[0])
        self.assertFalse(race_verdict.compare([[a], []], 1e-3)[0])
        self.assertFalse(race_verdict.compare([[a.astype(np.int64)], [a.astype(np.int64) + 1]], 1)[0])
        self.assertFalse(race_verdict.compare([[a], [np.array([1, np.nan, 2], np.float32)]], 1)[0])
        holes = np.array([np.inf, np.nan, 2], np.float32)
        self.assertTrue(race_verdict.compare([[holes], [holes]], 0)[0])


class Roofline(unittest.TestCase):
    def test_bounds(self):
        # Peak 100 GFLOP/s, 10 GB/s: the ridge is at 10 operations a byte.
        left = race_roofline.place(1000, 1000, 200, 100, 10)
        self.assertEqual((left["bound"], left["intensity"], left["least_ns"], left["share"]), ("memory", 1, 100, 0.5))
        right = race_roofline.place(20000, 1000, 400, 100, 10)
        self.assertEqual((right["bound"], right["gflops"], right["share"], right["bandwidth_share"]), ("arithmetic", 50, 0.5, 0.25))

    def test_roof_is_no_outlier(self):
        self.assertEqual([race_roofline.upper_quartile(f) for f in ([], [7], [101, 160, 99, 100])], [0.0, 7, 101])

    def test_sum_of_nodes(self):
        nodes = [dict(name="a", op="conv", kernel="k", flop=20000, bytes=1000, ns=300), dict(name="b", op="add", kernel="k", flop=0, bytes=1000, ns=150)]
        case = race_roofline.place_case("block", "c", nodes, 600, 100, 10)
        self.assertEqual(case["least_ns"], 300)       # 200 of arithmetic, 100 of memory
        self.assertEqual(case["share"], 0.5)
        self.assertEqual(case["bound"], "arithmetic")

    def test_record(self):
        fact = {"name": "n", "op": "add", "kernel": "k", "macs": 3, "read_bytes": 8, "write_bytes": 4, "constant_bytes": 2}
        nodes, least = race_roofline.read_profile({"profile": {"nodes": [fact], "steps": [[0, 0, 10, 40], [0, 1, 50, 70]], "runs": [[0, 45], [48, 75]]}})
        self.assertEqual(nodes, [{"name": "n", "op": "add", "kernel": "k", "flop": 6, "bytes": 14, "ns": 20}])
        self.assertEqual(least, 27)


class Products(unittest.TestCase):
    def test_shapes(self):
        shapes = race_gemm.shapes()
        self.assertEqual(len(shapes), 200)
        self.assertEqual(len(set(shapes)), 200)

    def test_summary(self):
        best = {0: {"tenon": 1.0, "openblas": 2.0, "onednn": 1.5}, 1: {"tenon": 1.0, "openblas": 0.5}, 2: {"tenon": 1.0}}
        rivals = race_gemm.summarise([(1, 2, 3), (4, 5, 6), (7, 8, 9)], best)["rivals"]
        self.assertEqual((rivals["openblas"]["median"], rivals["openblas"]["worst"], rivals["openblas"]["below"]), (1.25, 0.5, ["4x5x6 0.50"]))
        self.assertEqual((rivals["best"]["count"], rivals["best"]["median"]), (2, 1.0))


class Command(unittest.TestCase):
    def builds(self, *options):
        library = os.environ["TENON_LIBRARY"]
        command = [sys.executable, str(RACE / "race.py"), "builds", library, library, "--level", "block", "--case", "squeeze", "--rounds", "1",
                   "--repeats", "0", "--json", *options]
        result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return result.returncode, json.loads(result.stdout)

    def test_a_build_agrees_with_itself(self):
        code, verdict = self.builds("--limit", "1000000")
        self.assertEqual((code, verdict["good"], verdict["different"], verdict["failed"]), (0, True, [], {}))

    def test_different_results_fail(self):
        # No two results are closer than a negative tolerance.
        code, verdict = self.builds("--limit", "1000000", "--tolerance", "-1")
        self.assertEqual((code, verdict["different"]), (1, ["squeeze_excite_120_28"]))

    def test_a_loss_fails(self):
        # Any time at all is above a limit of nearly nothing: the exit status follows the verdict.
        code, verdict = self.builds("--limit", "1e-9", "--slow", "squeeze_excite_120_28=1.01")
        self.assertEqual((code, verdict["lost"]), (1, ["squeeze_excite_120_28"]))

    def test_cases_are_models(self):
        sys.path.insert(0, str(RACE.parents[1] / "bindings" / "python"))
        import tenon

        with tempfile.TemporaryDirectory() as folder:
            for level, name, path in race_cases.write(folder, ["kernel", "block"]):
                with self.subTest(name):
                    session = tenon.InferenceSession(path, threads=1)
                    self.assertTrue(all(isinstance(d, int) for value in session.get_inputs() for d in value.shape))
                    session.close()


if __name__ == "__main__":
    unittest.main()
