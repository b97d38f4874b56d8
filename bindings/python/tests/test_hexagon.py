#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions on hexagon share one DSP program, whatever their models. Needs numpy and the device (exit status 77 without)."""
import logging
import os
import signal
import sys
import threading
import time
import unittest
from pathlib import Path

try:
    import numpy as np
except ImportError:
    print("numpy is not there: skipped")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bindings" / "python"))
import tenon

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
SWALLOW = ROOT / "tests" / "data" / "session" / "swallow.onnx"
IMAGE = np.linspace(-1, 1, 28 * 28, dtype=np.float32)


def children():
    """Numbers of the children of this process, all of them DSP programs."""
    return [int(pid) for tasks in Path("/proc/self/task").glob("*/children") for pid in tasks.read_text().split()]


def programs():
    return len(children())


class Sharing(unittest.TestCase):
    def setUp(self):
        logging.getLogger("tenon").setLevel(logging.ERROR)
        with tenon.InferenceSession(str(DIGITS)) as session:
            arg = session.get_inputs()[0]
            self.feed = {arg.name: IMAGE.reshape([d if isinstance(d, int) and d > 0 else 1 for d in arg.shape])}

    def open(self, model, **options):
        return tenon.InferenceSession(model, device="hexagon", precision="int8", calibration=[self.feed], threads=1, **options)

    def test_one_program(self):
        data = DIGITS.read_bytes()
        limit = dict(memory_limit=1 << 30)                                               # so that there is no spare program
        with self.open(str(DIGITS), **limit) as first:
            self.assertEqual(programs(), 1)
            want, = first.run(None, self.feed)
            with self.open(DIGITS) as second, self.open(data) as third:                  # by path and from memory
                self.assertEqual(programs(), 1)
                np.testing.assert_array_equal(second.run(None, self.feed)[0], want)
                np.testing.assert_array_equal(third.run(None, self.feed)[0], want)
            with self.open(str(DIGITS), optimise=False) as other:                        # another graph
                self.assertEqual(programs(), 1)
                other.run(None, self.feed)
            np.testing.assert_array_equal(first.run(None, self.feed)[0], want)
        self.assertEqual(programs(), 0)

    def test_two_models(self):
        x = np.linspace(-2, 2, 330, dtype=np.float32).reshape(1, 3, 10, 11)
        swallow = dict(device="hexagon", precision="int8", calibration=[{"x": x}], threads=1, memory_limit=1 << 30)
        with tenon.InferenceSession(str(SWALLOW), precision="int8", calibration=[{"x": x}]) as session:
            wanted = session.run(None, {"x": x})[0]
        with self.open(str(DIGITS), memory_limit=1 << 30) as first:
            want, = first.run(None, self.feed)
            with tenon.InferenceSession(str(SWALLOW), **swallow) as second:
                self.assertEqual(programs(), 1)
                for _ in range(3):
                    np.testing.assert_array_equal(second.run(None, {"x": x})[0], wanted)
                    np.testing.assert_array_equal(first.run(None, self.feed)[0], want)
                os.kill(children()[0], signal.SIGKILL)
                for _ in range(3):
                    np.testing.assert_array_equal(first.run(None, self.feed)[0], want)
                    np.testing.assert_array_equal(second.run(None, {"x": x})[0], wanted)
                self.assertEqual(programs(), 1)
        self.assertEqual(programs(), 0)

    def test_spare(self):
        """Beside the program there is one that takes its place: both may be killed."""
        with self.open(str(DIGITS)) as session:
            want, = session.run(None, self.feed)
            for _ in range(2):
                until = time.monotonic() + 60
                while programs() < 2 and time.monotonic() < until:
                    np.testing.assert_array_equal(session.run(None, self.feed)[0], want)
                self.assertEqual(programs(), 2)
                for pid in children():
                    os.kill(pid, signal.SIGKILL)
                    for _ in range(3):
                        np.testing.assert_array_equal(session.run(None, self.feed)[0], want)
        self.assertEqual(programs(), 0)

    def test_threads(self):
        """The first to open and the last to close may be anybody."""
        wrong = []

        def work():
            for _ in range(4):
                with self.open(str(DIGITS)) as session:
                    if not np.array_equal(session.run(None, self.feed)[0], want):
                        wrong.append(1)

        with self.open(str(DIGITS)) as session:
            want, = session.run(None, self.feed)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(wrong)
        self.assertEqual(programs(), 0)

    def test_log(self):
        with self.assertLogs("tenon", logging.DEBUG) as caught, self.open(str(DIGITS), device_log=2) as session:
            logging.getLogger("tenon").setLevel(logging.DEBUG)
            session.run(None, self.feed)
        self.assertTrue(any("execute 0" in line for line in caught.output), caught.output)
        with self.assertRaises(tenon.Error):
            self.open(str(DIGITS), device_log=3)


if __name__ == "__main__":
    try:
        tenon.InferenceSession(str(DIGITS), device="hexagon").close()
    except tenon.Error as error:
        print(f"no hexagon here: {error}")
        sys.exit(77)
    unittest.main()
