#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions on hexagon of the same model share one DSP program. Needs numpy and the device (exit status 77 without)."""
import logging
import sys
import tempfile
import threading
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
IMAGE = np.linspace(-1, 1, 28 * 28, dtype=np.float32)


def programs():
    """Children of this process, which has no others."""
    found = []
    for tasks in Path("/proc/self/task").glob("*/children"):
        found += tasks.read_text().split()
    return len(found)


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
        with self.open(str(DIGITS)) as first:
            self.assertEqual(programs(), 1)
            want, = first.run(None, self.feed)
            with self.open(DIGITS) as second:                      # the same file by another kind of name
                self.assertEqual(programs(), 1)
                np.testing.assert_array_equal(second.run(None, self.feed)[0], want)
            np.testing.assert_array_equal(first.run(None, self.feed)[0], want)
            with self.open(data) as third, self.open(bytearray(data)) as fourth:
                self.assertEqual(programs(), 2)                    # bytes are no file, but they are the same bytes
                np.testing.assert_array_equal(third.run(None, self.feed)[0], want)
                np.testing.assert_array_equal(fourth.run(None, self.feed)[0], want)
            with self.open(str(DIGITS), optimise=False):
                self.assertEqual(programs(), 2)                    # another model
        self.assertEqual(programs(), 0)

    def test_a_file_that_changed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.onnx"
            path.write_bytes(DIGITS.read_bytes())
            with self.open(path) as first:
                other = Path(folder) / "other.onnx"
                other.write_bytes(DIGITS.read_bytes())
                other.replace(path)
                with self.open(path) as second:
                    self.assertEqual(programs(), 2)
                    np.testing.assert_array_equal(second.run(None, self.feed)[0], first.run(None, self.feed)[0])

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
