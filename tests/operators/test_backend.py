#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tenon.backend through the onnx package's own test runner (onnx.backend.test.BackendTest), and its calls one by one.

usage: test_backend.py [--full] [unittest's arguments]     every 12th case of the runner, or all of them (some minutes)

Exit status 77 when the onnx package is not there. Real models, which the runner would download, are left out. The Bernoulli cases hold
random draws of another library, and of test_loop16_seq_none the runner cannot compare the results (scalars in a sequence).
"""
import logging
import sys
import unittest
import warnings
from pathlib import Path

try:
    import numpy as np
    import onnx
    import onnx.backend.test
    from onnx import helper
except ImportError:
    print("the onnx package is not there: skipped")
    sys.exit(77)

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings" / "python"))
import tenon
import tenon.backend

logging.getLogger("tenon").setLevel(logging.ERROR)
warnings.simplefilter("ignore")
EVERY = 1 if "--full" in sys.argv else 12


class Calls(unittest.TestCase):
    def test_node(self):
        x = np.array([-1, 2], np.float32)
        self.assertEqual(tenon.backend.run_node(helper.make_node("Relu", ["x"], ["y"]), [x])[0].tolist(), [0, 2])
        out = tenon.backend.run_node(helper.make_node("Clip", ["x", "", "high"], ["y"]), [x, np.float32(1)])
        self.assertEqual(out.y.tolist(), [-1, 1])
        node = helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")
        self.assertEqual(tenon.backend.run_node(node, {"x": x})[0].shape, (2,))

    def test_devices(self):
        self.assertTrue(tenon.backend.supports_device("CPU"))
        self.assertTrue(tenon.backend.supports_device("CPU:0"))
        for device in ("CPU:1", "CUDA", "nothing"):
            self.assertFalse(tenon.backend.supports_device(device))
        node = helper.make_node("Relu", ["x"], ["y"])
        with self.assertRaises(tenon.Error):
            tenon.backend.run_node(node, [np.zeros(1, np.float32)], device="CUDA")

    def test_compatible(self):
        def model(op):
            info = [helper.make_tensor_value_info(n, 1, [2]) for n in "xy"]
            return helper.make_model(helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", info[:1], info[1:]))
        self.assertTrue(tenon.backend.is_compatible(model("Relu")))
        self.assertFalse(tenon.backend.is_compatible(model("NoSuchThing")))
        with self.assertRaises(tenon.Error):
            tenon.backend.run_model(model("Relu"), [np.zeros(2, np.float32)] * 2)


def load_tests(loader, standard, pattern):
    runner = onnx.backend.test.BackendTest(tenon.backend, __name__)
    runner.exclude("test_bernoulli")
    runner.exclude("test_loop16_seq_none")
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(Calls))
    for name, case in sorted(runner.test_cases.items()):
        if "RealModel" not in name:
            names = [n for n in sorted(loader.getTestCaseNames(case)) if n.endswith("_cpu")]
            suite.addTests(case(n) for n in names[::EVERY])
    return suite


if __name__ == "__main__":
    unittest.main(argv=[a for a in sys.argv if a != "--full"])
