#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory_limit and the peak that is reported are one sum. Needs numpy (exit status 77 without)."""
import logging
import re
import sys
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("numpy is not there: skipped")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))
import tenon
import tiny_onnx as tiny

FLOAT = tiny.FLOAT


def shared_weights(pad):
    """Products that read the same weights and sums that read the same constants, which lie `pad` bytes further on in the file."""
    r = np.random.default_rng(3)
    w, v = (r.standard_normal((96, 96)).astype(np.float32) for _ in range(2))
    c = r.standard_normal((1, 96)).astype(np.float32)
    nodes = [tiny.node("MatMul", ["x", "w"], ["a"]), tiny.node("Add", ["a", "c"], ["b"]), tiny.node("MatMul", ["b", "w"], ["d"]),
             tiny.node("Mul", ["d", "c"], ["e"]), tiny.node("Tanh", ["e"], ["f"]), tiny.node("MatMul", ["f", "v"], ["g"]),
             tiny.node("Sub", ["g", "c"], ["h"]), tiny.node("Softmax", ["h"], ["i"]), tiny.node("Div", ["i", "c"], ["out"])]
    constants = [tiny.array(np.zeros(pad, np.uint8), "pad", 2), tiny.array(w, "w", FLOAT), tiny.array(v, "v", FLOAT), tiny.array(c, "c", FLOAT)]
    return tiny.model(nodes, [("x", FLOAT, [16, 96])], [("out", FLOAT, [16, 96])], constants)


class Deadline(unittest.TestCase):
    def test_a_run_that_takes_longer_is_an_error(self):
        x = np.zeros((16, 96), np.float32)
        with tenon.InferenceSession(shared_weights(0)) as session:
            session.set_deadline(1e-9)
            with self.assertRaises(tenon.Error) as caught:
                session.run(None, {"x": x})
            self.assertEqual(caught.exception.status, tenon.Status.DEADLINE)
            for none in (None, 0, 3600.0):
                session.set_deadline(none)
                session.run(None, {"x": x})
            for wrong in (-1, float("nan"), "1", True, 1e10):
                with self.assertRaises(tenon.Error):
                    session.set_deadline(wrong)


class Peak(unittest.TestCase):
    def setUp(self):
        logging.getLogger("tenon").setLevel(logging.ERROR)      # cheaper rows may be references

    def rows(self, model, limit, threads=1):
        """Kernels of a run under a limit, and the report of its memory."""
        x = np.linspace(-1, 1, 16 * 96, dtype=np.float32).reshape(16, 96)
        with tenon.InferenceSession(model, threads=threads, memory_limit=limit) as session:
            self.out, = session.run(None, {"x": x})
            memory = session.report("memory")
            self.assertTrue(memory["exact"])
            self.assertEqual(memory["peak_bytes"], sum(memory[f"{part}_bytes"] for part in ("arena", "packed", "input", "output")))
            self.assertLessEqual(memory["peak_bytes"], limit or 1 << 40)
            return [(n["name"], n["kernel"]) for n in session.report("explain")["nodes"]], memory

    def test_the_exact_peak_is_enough(self):
        for pad in range(4):
            for threads in (1, 2):
                model = shared_weights(pad)
                rows, memory = self.rows(model, 0, threads)
                like = self.out
                self.assertEqual(memory["input_bytes"], 16 * 96 * 4)
                self.assertEqual(self.rows(model, memory["peak_bytes"], threads), (rows, memory))
                np.testing.assert_array_equal(self.out, like)

    def test_a_byte_less_leads_to_cheaper_rows_or_says_what_is_needed(self):
        for pad in range(4):
            model = shared_weights(pad)
            rows, memory = self.rows(model, 0)
            limit, refused = memory["peak_bytes"] - 1, None
            while not refused:                                  # down the ladder of plans to the last
                try:
                    cheaper, memory = self.rows(model, limit)
                    self.assertNotEqual(cheaper, rows)
                    rows, limit = cheaper, memory["peak_bytes"] - 1
                except tenon.Error as error:
                    self.assertEqual(error.status, tenon.Status.LIMIT)
                    refused = int(re.search(r"at least (\d+) bytes", error.message)[1])
            self.assertGreater(refused, limit)
            self.assertEqual(self.rows(model, refused)[1]["peak_bytes"], refused)
            self.assertEqual(self.refusal(self.rows, model, refused - 1).status, tenon.Status.LIMIT)

    def test_every_limit_above_the_least_runs_and_its_peak_as_a_limit_changes_nothing(self):
        for threads in (1, 2):
            model = shared_weights(1)
            free = self.rows(model, 0, threads)[1]["peak_bytes"]
            least = int(re.search(r"at least (\d+) bytes", self.refusal(self.rows, model, 1, threads).message)[1])
            for limit in np.linspace(least, free, 25).astype(int):
                rows, memory = self.rows(model, int(limit), threads)
                self.assertEqual(self.rows(model, memory["peak_bytes"], threads), (rows, memory))

    def test_results_of_unknown_size_count(self):
        x = np.ones(1000, np.float32)
        model = tiny.model([tiny.node("NonZero", ["x"], ["n"])], [("x", FLOAT, ["n"])], [("n", tiny.INT64, [1, "k"])], [])

        def run(limit):
            with tenon.InferenceSession(model, threads=1, memory_limit=limit) as session:
                session.run(None, {"x": x})
                return session.report("memory")["peak_bytes"]

        peak = run(0)
        self.assertGreaterEqual(peak, x.nbytes + 8 * x.size)
        self.assertEqual(run(peak), peak)
        self.assertEqual(self.refusal(run, peak - 1).status, tenon.Status.LIMIT)

    def test_a_cached_plan_counts_with_what_is_around_it(self):
        # The same shapes of the later stage beside a result that grows: the second run finds the stage's plan, and no room for it.
        nodes = [tiny.node("NonZero", ["x"], ["n"]), tiny.node("Slice", ["n", "zero", "one", "axis"], ["few"]),
                 tiny.node("Cast", ["few"], ["f"], to=FLOAT), tiny.node("MatMul", ["w", "f"], ["out"])]
        w = np.ones((4096, 1), np.float32)
        constants = [tiny.array(w, "w", FLOAT)] + [tiny.tensor(tiny.INT64, [1], [value], name) for name, value in (("zero", 0), ("one", 1), ("axis", 1))]
        model = tiny.model(nodes, [("x", FLOAT, ["n"])], [("out", FLOAT, [4096, 1])], constants)
        x = np.zeros(4096, np.float32)
        x[0] = 1
        with tenon.InferenceSession(model, threads=1) as session:
            session.run(None, {"x": x})
            limit = session.report("memory")["peak_bytes"]
        with tenon.InferenceSession(model, threads=1, memory_limit=limit) as session:
            session.run(None, {"x": x})
            self.assertEqual(session.report("memory")["peak_bytes"], limit)
            error = self.refusal(session.run, None, {"x": np.ones(4096, np.float32)})
            self.assertEqual(error.status, tenon.Status.LIMIT)
            session.run(None, {"x": x})
            self.assertEqual(session.report("memory")["peak_bytes"], limit)

    def test_later_stages_count_with_the_first(self):
        r = np.random.default_rng(4)
        w, v = (r.standard_normal((n, 128)).astype(np.float32) for n in (96, 128))
        nodes = [tiny.node("MatMul", ["x", "w"], ["a"]), tiny.node("Tanh", ["a"], ["b"]), tiny.node("NonZero", ["x"], ["n"]),
                 tiny.node("Slice", ["n", "zero", "one", "zero"], ["rows"]), tiny.node("Squeeze", ["rows", "zero"], ["row"]),
                 tiny.node("Gather", ["b", "row"], ["g"]), tiny.node("MatMul", ["g", "v"], ["out"])]
        constants = [tiny.array(w, "w", FLOAT), tiny.array(v, "v", FLOAT), tiny.tensor(tiny.INT64, [1], [0], "zero"), tiny.tensor(tiny.INT64, [1], [1], "one")]
        model = tiny.model(nodes, [("x", FLOAT, [16, 96])], [("out", FLOAT, ["k", 128])], constants)
        x = np.where(r.random((16, 96)) < 0.3, r.standard_normal((16, 96)), 0).astype(np.float32)

        def peak(limit):
            with tenon.InferenceSession(model, threads=1, memory_limit=limit) as session:
                session.run(None, {"x": x})
                memory = session.report("memory")
                self.assertFalse(memory["exact"])
                self.assertLessEqual(memory["peak_bytes"], limit or 1 << 40)
                return memory["peak_bytes"]

        free = peak(0)
        self.assertEqual(peak(free), free)
        for limit in range(free * 2, 0, -free // 16):           # each either keeps what it says or refuses
            try:
                peak(limit)
            except tenon.Error as error:
                self.assertEqual(error.status, tenon.Status.LIMIT)
                self.assertGreater(int(re.search(r"(\d+) bytes", error.message)[1]), limit)
        self.assertEqual(tenon.Status.LIMIT, self.refusal(peak, free // 8).status)

    def test_a_stage_without_room_makes_the_one_before_it_leaner(self):
        # The first stage has weights whose fastest form is several times as large; the later one cannot do with less than it asks for.
        r = np.random.default_rng(5)
        w, v = r.standard_normal((64, 64, 3, 3)).astype(np.float32), r.standard_normal((64, 700)).astype(np.float32)
        nodes = [tiny.node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]), tiny.node("Relu", ["a"], ["b"]), tiny.node("NonZero", ["q"], ["n"]),
                 tiny.node("Squeeze", ["n", "zero"], ["row"]), tiny.node("ReduceMean", ["b"], ["m"], axes=[2, 3], keepdims=0),
                 tiny.node("Transpose", ["m"], ["t"], perm=[1, 0]), tiny.node("Gather", ["t", "row"], ["g"]), tiny.node("Transpose", ["v"], ["vt"], perm=[1, 0]),
                 tiny.node("Gather", ["vt", "row"], ["h"], axis=1), tiny.node("MatMul", ["h", "g"], ["out"])]
        constants = [tiny.array(w, "w", FLOAT), tiny.array(v, "v", FLOAT), tiny.tensor(tiny.INT64, [1], [0], "zero")]
        model = tiny.model(nodes, [("x", FLOAT, [1, 64, 16, 16]), ("q", FLOAT, [64])], [("out", FLOAT, [700, 1])], constants)
        feeds = {"x": r.standard_normal((1, 64, 16, 16)).astype(np.float32), "q": np.ones(64, np.float32)}

        def run(limit):
            with tenon.InferenceSession(model, threads=1, memory_limit=limit) as session:
                out, = session.run(None, feeds)
                peak = session.report("memory")["peak_bytes"]
                self.assertLessEqual(peak, limit or 1 << 40)
                return out, peak

        like, free = run(0)
        least = int(re.search(r"(\d+) bytes", self.refusal(run, 1).message)[1])
        while True:                                             # what is named is enough, or names more
            try:
                out, peak = run(least)
                break
            except tenon.Error as error:
                more = int(re.search(r"(\d+) bytes", error.message)[1])
                self.assertGreater(more, least)
                least = more
        self.assertLess(least, free // 2)                       # only without the large form of the weights, which alone would fit
        for limit in np.linspace(least, free, 30).astype(int):
            out, peak = run(int(limit))
            np.testing.assert_allclose(out, like, rtol=1e-3, atol=1e-3)
            np.testing.assert_array_equal(run(peak)[0], out)    # its own peak leads to the same
        self.assertEqual(self.refusal(run, least - 1).status, tenon.Status.LIMIT)

    def test_the_state_of_a_loop_counts(self):
        # Carries 100,000 numbers, and stacks 100 of them in each of the steps.
        body = tiny.body([tiny.node("Add", ["c", "c"], ["d"]), tiny.node("Slice", ["d", "zero", "few"], ["s"]), tiny.node("Identity", ["go"], ["on"])],
                         [("i", tiny.INT64, []), ("go", 9, []), ("c", FLOAT, [100000])], [("on", 9, []), ("d", FLOAT, [100000]), ("s", FLOAT, [100])])
        nodes = [tiny.node("Loop", ["trips", "", "x"], ["last", "all"], body=body)]
        constants = [tiny.tensor(tiny.INT64, [1], [0], "zero"), tiny.tensor(tiny.INT64, [1], [100], "few")]
        model = tiny.model(nodes, [("trips", tiny.INT64, []), ("x", FLOAT, [100000])], [("last", FLOAT, [100000]), ("all", FLOAT, ["n", 100])], constants)
        x = np.ones(100000, np.float32)

        def run(limit, trips=3):
            with tenon.InferenceSession(model, threads=1, memory_limit=limit) as session:
                last, stacked = session.run(None, {"trips": np.array(trips, np.int64), "x": x})
                self.assertEqual((last[0], stacked.shape), (2 ** trips, (trips, 100)))
                return session.report("memory")["peak_bytes"]

        peak = run(0)
        self.assertGreaterEqual(peak, 4 * x.nbytes)             # input, state, the body's result, the loop's
        self.assertEqual(run(peak), peak)
        self.assertEqual(self.refusal(run, 3 * x.nbytes).status, tenon.Status.LIMIT)
        self.assertGreaterEqual(run(0, 100), peak + 97 * 400)   # what is stacked

    def test_bits_do_not_depend_on_the_runs_before(self):
        # What the loop stacks grows, and its step count is not known: the product is planned with packed weights first, then without. (The
        # byte of padding lets the weights be read where they lie.)
        w = np.random.default_rng(5).standard_normal((192, 192)).astype(np.float32)
        body = tiny.body([tiny.node("MatMul", ["c", "w"], ["a"]), tiny.node("Tanh", ["a"], ["b"]), tiny.node("Softmax", ["b"], ["d"]),
                          tiny.node("Less", ["i", "few"], ["on"]), tiny.node("Identity", ["d"], ["s"])],
                         [("i", tiny.INT64, []), ("go", 9, []), ("c", FLOAT, [8, 192])], [("on", 9, []), ("d", FLOAT, [8, 192]), ("s", FLOAT, [8, 192])])
        model = tiny.model([tiny.node("Loop", ["", "", "x"], ["last", "all"], body=body)], [("x", FLOAT, [8, 192])],
                           [("last", FLOAT, [8, 192]), ("all", FLOAT, ["n", 8, 192])], [tiny.array(np.zeros(1, np.uint8), "pad", 2), tiny.array(w, "w", FLOAT), tiny.tensor(tiny.INT64, [], [6], "few")])
        x = np.random.default_rng(6).standard_normal((8, 192)).astype(np.float32)

        def session_of(limit):
            return tenon.InferenceSession(model, threads=1, memory_limit=limit)

        def works(limit):
            try:
                with session_of(limit) as session:
                    session.run(None, {"x": x})
                    return session.report("memory")["peak_bytes"]
            except tenon.Error as error:
                self.assertEqual(error.status, tenon.Status.LIMIT)
                return None

        free = works(0)
        ran = 0
        for limit in np.linspace(free // 8, free, 24).astype(int):
            if works(int(limit)):
                with session_of(int(limit)) as session:
                    runs = [session.run(None, {"x": x}) for _ in range(3)]
                    plans = session.report("statistics")["plans_made"]
                for later in runs[1:]:
                    for got, want in zip(later, runs[0]):
                        np.testing.assert_array_equal(got, want)
                ran += plans > 5
        self.assertGreater(ran, 0)                              # some were planned lean

    def test_the_slices_of_a_scan_count(self):
        body = tiny.body([tiny.node("Add", ["s", "e"], ["t"]), tiny.node("Neg", ["t"], ["y"])],
                         [("s", FLOAT, [50000]), ("e", FLOAT, [50000])], [("t", FLOAT, [50000]), ("y", FLOAT, [50000])])
        model = tiny.model([tiny.node("Scan", ["s0", "x"], ["sum", "all"], body=body, num_scan_inputs=1)],
                           [("s0", FLOAT, [50000]), ("x", FLOAT, ["n", 50000])], [("sum", FLOAT, [50000]), ("all", FLOAT, ["n", 50000])])

        def run(limit, n=4):
            with tenon.InferenceSession(model, threads=1, memory_limit=limit) as session:
                feeds = {"s0": np.zeros(50000, np.float32), "x": np.ones((n, 50000), np.float32)}
                total, stacked = session.run(None, feeds)
                self.assertEqual((total[0], stacked[-1, 0]), (n, -n))
                return session.report("memory")["peak_bytes"]

        peak, one = run(0), 200000
        self.assertGreaterEqual(peak, (5 + 2 + 4 + 5) * one)    # inputs, state and slice, what is stacked, results
        self.assertLessEqual(peak, (5 + 2 + 4 + 5 + 4) * one)   # and those of the body
        self.assertEqual(run(peak), peak)
        self.assertEqual(self.refusal(run, peak - one).status, tenon.Status.LIMIT)

    @staticmethod
    def refusal(call, *arguments):
        try:
            call(*arguments)
        except tenon.Error as error:
            return error
        raise AssertionError("no error was raised")

    def test_planning_takes_the_shapes_that_running_takes(self):
        nodes = [tiny.node("Mul", ["x", "f"], ["out"])]
        model = tiny.model(nodes, [("x", FLOAT, [2, "n"]), ("f", FLOAT, [])], [("out", FLOAT, [2, "n"])])
        shapes = [(), (1,), (1, 1), (2,), (2, 3), (3, 2), (2, 0), (0, 2), (2, 3, 1), (1,) * 8]
        with tenon.InferenceSession(model, threads=1) as session:
            for x in shapes:
                for f in shapes:
                    arrays = {"x": np.ones(x, np.float32), "f": np.ones(f, np.float32)}
                    errors = []
                    for call in (lambda: session.run(None, arrays), lambda: session.prepare({k: v.shape for k, v in arrays.items()})):
                        try:
                            call()
                            errors.append(None)
                        except tenon.Error as error:
                            errors.append((error.status, error.place, error.message))
                    self.assertEqual(errors[0], errors[1], (x, f))
                    self.assertEqual(errors[0] is None, x in ((2, 3), (2, 0)) and set(f) <= {1})

    def test_copies_of_weights_that_nodes_share_count_once(self):
        apart = self.rows(shared_weights(1), 0)[1]["packed_bytes"]
        self.assertLess(apart, 4 * 96 * 96 * 4)                 # two of weights and their tiles, not three


if __name__ == "__main__":
    unittest.main()
