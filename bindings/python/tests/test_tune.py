# SPDX-License-Identifier: Apache-2.0
"""tune, cache_list and cache_prune. What needs a device is skipped where there is none."""
import os
import tempfile
import unittest
from pathlib import Path

import tenon

SHAPES = {"image": (1, 1, 28, 28)}
DIGITS = Path(__file__).resolve().parents[3] / "examples" / "digits" / "digits.onnx"


def present(name):
    return any(device["name"] == name and device["present"] for device in tenon.devices())


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = held.name

    def test_nothing_there(self):
        seen = tenon.cache_list(self.folder)
        self.assertEqual((seen["files"], seen["count"], seen["bytes"], seen["broken"]), ([], 0, 0, 0))
        self.assertEqual(tenon.cache_prune(self.folder), 0)
        self.assertFalse(tenon.cache_list(os.path.join(self.folder, "absent"))["readable"])

    def test_arguments(self):
        for call in (lambda: tenon.cache_list(5), lambda: tenon.cache_prune(self.folder, -1), lambda: tenon.cache_prune(self.folder, "all"),
                     lambda: tenon.tune(DIGITS, self.folder, device="cpu"), lambda: tenon.tune(DIGITS, self.folder, seconds="long", device="cpu"),
                     lambda: tenon.tune(DIGITS, None, device="cpu"), lambda: tenon.tune(DIGITS, "", device="cpu"), lambda: tenon.tune(DIGITS, self.folder, device="abacus")):
            self.assertRaises(tenon.Error, call)

    def test_tune_processor(self):
        layers = tenon.tune(DIGITS, self.folder, device="cpu", threads=1, seconds=0.3, shapes=SHAPES)
        self.assertTrue(layers)
        self.assertTrue(all(layer["before_us"] >= layer["after_us"] for layer in layers))
        table, = tenon.cache_list(self.folder)["files"]
        self.assertEqual((table["kind"], table["whole"]), ("rows", True))
        os.truncate(os.path.join(self.folder, table["name"]), 1 << 30)     # no table is that large: it is not read
        self.assertEqual([file["whole"] for file in tenon.cache_list(self.folder)["files"]], [False])
        session = tenon.InferenceSession(DIGITS, device="cpu", threads=1, cache=self.folder)
        self.assertEqual(session.report("statistics")["fallbacks"], 0)

    def test_what_the_callback_raises(self):
        own = tenon.Error(tenon.Status.IO, "no room for the log", "log")
        for raised in (KeyError("from the callback"), RuntimeError("from the callback"), own, KeyboardInterrupt()):
            def fail(*_, error=raised):
                raise error
            try:
                tenon.tune(DIGITS, self.folder, device="cpu", threads=1, seconds=0.2, shapes=SHAPES, progress=fail)
                self.fail("nothing was raised")
            except BaseException as error:  # noqa: BLE001 - KeyboardInterrupt is one of them
                if isinstance(raised, (KeyError, RuntimeError)) and raised is not own:
                    self.assertIsInstance(error, tenon.Error)
                    self.assertEqual(error.status, tenon.Status.CANCELLED)
                    self.assertIs(error.__cause__, raised)
                    self.assertIn("from the callback", str(error))
                else:
                    self.assertIs(error, raised)

    @unittest.skipUnless(present("opencl"), "no OpenCL device")
    def test_tune(self):
        layers = tenon.tune(DIGITS, self.folder, seconds=0.3, shapes=SHAPES)
        self.assertTrue(layers)
        self.assertTrue(all(layer["before_us"] >= layer["after_us"] for layer in layers))
        seen = tenon.cache_list(self.folder)
        self.assertIn("tiles", [file["kind"] for file in seen["files"]])
        self.assertIn("program", [file["kind"] for file in seen["files"]])
        self.assertEqual(seen["broken"], 0)
        self.assertGreater(tenon.cache_prune(self.folder), 0)
        self.assertEqual([file["kind"] for file in tenon.cache_list(self.folder)["files"]], ["tiles"])

    @unittest.skipUnless(present("opencl"), "no OpenCL device")
    def test_stopping(self):
        seen = []
        layers = tenon.tune(DIGITS, self.folder, seconds=0.3, shapes=SHAPES, progress=lambda done, count, *rest: bool(seen.append((done, count))))
        self.assertEqual(len(layers), 1)
        self.assertEqual(len(seen), 1)

        def fail(*_):
            raise KeyError("from the callback")
        with self.assertRaisesRegex(tenon.Error, "from the callback"):
            tenon.tune(DIGITS, self.folder, seconds=0.3, shapes=SHAPES, progress=fail)


if __name__ == "__main__":
    unittest.main()
