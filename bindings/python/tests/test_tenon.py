#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python binding: arrays in and out, errors, forks. Needs numpy (exit status 77 without); ml_dtypes and onnx are used if there.

PYTHONPATH=bindings/python TENON_LIBRARY=build/libtenon.so python3 bindings/python/tests/test_tenon.py
"""
import json
import logging
import os
import struct
import subprocess
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
sys.path.insert(0, str(ROOT / "tests" / "cli"))
sys.path.insert(0, str(ROOT / "bindings" / "python"))
import tenon
import tiny_onnx as tiny

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
FLOAT, INT64 = tiny.FLOAT, tiny.INT64
BOOL, FLOAT16, INT4, BFLOAT16 = 9, 10, 22, 16


def one_op(op, dtype, dims, out_dtype=None, inputs=1, opset=13):
    names = ["x", "y", "z"][:inputs]
    return tiny.model([tiny.node(op, names, ["out"])], [(n, dtype, dims) for n in names], [("out", out_dtype or dtype, dims)], opset=opset)


def failure(call, *arguments, **kw):
    """The tenon.Error that a call raises; any other exception is a failure of the test."""
    try:
        call(*arguments, **kw)
    except tenon.Error as error:
        return error
    raise AssertionError("no error was raised")


class CustomOperators(unittest.TestCase):
    """Operators written in Python."""

    @staticmethod
    def model(op, inputs=1, out_dims=("n",), dtype=FLOAT, **attributes):
        names = ["x", "y"][:inputs]
        return tiny.model([tiny.node(op, names, ["out"], name="own", domain="com.example", **attributes)],
                          [(n, dtype, ["n"]) for n in names], [("out", dtype, list(out_dims))], domains=[("com.example", 3)])

    def test_array_in_array_out(self):
        op = tenon.CustomOp("Ramp", lambda x, a: np.maximum(x[0], 0) * np.float32(a["slope"]), domain="com.example", attributes={"slope": 1.0})
        x = np.array([-1, 2, 3], np.float32)
        for slope in (None, 2.5):
            attributes = {} if slope is None else {"slope": slope}
            session = tenon.InferenceSession(self.model("Ramp", **attributes), custom_ops=[op])
            np.testing.assert_array_equal(session.run(None, {"x": x})[0], np.maximum(x, 0) * np.float32(slope or 1))

    def test_shapes_and_attributes(self):
        seen = {}

        def shape(inputs, attributes):
            seen.update(attributes)
            (dtype, dims), _ = inputs
            return [(dtype, (2, dims[0]))]
        op = tenon.CustomOp("Pair", lambda x, a: np.stack(x), shape, domain="com.example", inputs=2,
                            attributes={"count": int, "mode": "up", "axes": [int], "weights": [float]})
        model = self.model("Pair", inputs=2, out_dims=(2, "n"), count=4, axes=[1, 2], weights=[0.5])
        x, y = np.arange(3, dtype=np.float32), np.ones(3, np.float32)
        np.testing.assert_array_equal(tenon.InferenceSession(model, custom_ops=[op]).run(None, {"x": x, "y": y})[0], np.stack([x, y]))
        self.assertEqual(seen, {"count": 4, "mode": "up", "axes": [1, 2], "weights": [0.5]})
        error = failure(tenon.InferenceSession, self.model("Pair", inputs=2, out_dims=(2, "n")), custom_ops=[op])
        self.assertIn("count", str(error))

    def test_dynamic_and_text(self):
        above = tenon.CustomOp("Above", lambda x, a: x[0][x[0] > a["limit"]], domain="com.example", dynamic=True, attributes={"limit": 0.0})
        session = tenon.InferenceSession(self.model("Above", out_dims=("m",)), custom_ops=[above])
        for x in ([1, -1, 2], [-1, -2, -3], [5, 6, 7, 8]):
            x = np.array(x, np.float32)
            np.testing.assert_array_equal(session.run(None, {"x": x})[0], x[x > 0])
        upper = tenon.CustomOp("Upper", lambda x, a: np.array([w.upper() for w in x[0]], object), domain="com.example")
        session = tenon.InferenceSession(self.model("Upper", dtype=8), custom_ops=[upper])
        self.assertEqual(session.run(None, {"x": np.array(["a", "ä"], object)})[0].tolist(), ["A", "Ä"])

    def test_exceptions_come_back_as_causes(self):
        def broken(x, a):
            raise KeyError("missing thing")
        op = tenon.CustomOp("Broken", broken, domain="com.example")
        session = tenon.InferenceSession(self.model("Broken"), custom_ops=[op])
        error = failure(session.run, None, {"x": np.zeros(2, np.float32)})
        self.assertIsInstance(error.__cause__, KeyError)
        self.assertIn("missing thing", str(error))
        self.assertIn("own", str(error))
        wrong = tenon.CustomOp("Broken", lambda x, a: np.zeros(5, np.int64), domain="com.example")
        error = failure(tenon.InferenceSession(self.model("Broken"), custom_ops=[wrong]).run, None, {"x": np.zeros(2, np.float32)})
        self.assertIn("int64", str(error))

    def test_its_own_session_is_refused_inside(self):
        x, said = np.array([-1, 2], np.float32), []

        def meddle(inputs, attributes):
            for call in (lambda: session.run(None, {"x": x}), session.close, lambda: session.report("statistics"),
                         lambda: session.prepare({"x": (3,)}), session.trim):
                error = failure(call)
                said.append((error.status, "is running" in str(error)))
            return inputs[0] + 1
        session = tenon.InferenceSession(self.model("Meddle"), custom_ops=[tenon.CustomOp("Meddle", meddle, domain="com.example")])
        answers = []
        thread = threading.Thread(target=lambda: answers.append(session.run(None, {"x": x})[0].tolist()), daemon=True)
        thread.start()
        thread.join(60)
        self.assertEqual(answers, [[0, 3]])
        self.assertEqual(said, [(tenon.Status.STATE, True)] * 5)
        self.assertEqual(session.run(None, {"x": x})[0].tolist(), [0, 3])
        session.close()

    def test_only_sessions_with_it_know_it(self):
        self.assertEqual(failure(tenon.InferenceSession, self.model("Ramp")).status, tenon.Status.UNSUPPORTED)
        old = tenon.CustomOp("Ramp", lambda x, a: x[0] + 1, domain="com.example", version=1)
        new = tenon.CustomOp("Ramp", lambda x, a: x[0] + 2, domain="com.example", version=3)
        late = tenon.CustomOp("Ramp", lambda x, a: x[0] + 4, domain="com.example", version=4)
        x = np.zeros(2, np.float32)
        self.assertEqual(tenon.InferenceSession(self.model("Ramp"), custom_ops=[late, old, new]).run(None, {"x": x})[0].tolist(), [2, 2])
        self.assertEqual(failure(tenon.InferenceSession, self.model("Ramp"), custom_ops=[old, old]).status, tenon.Status.INVALID_ARGUMENT)


class Importing(unittest.TestCase):
    def test_import_starts_nothing(self):
        code = ("import threading, tenon, os; assert len(os.listdir('/proc/self/task')) == before, 'a thread'; "
                "assert 'libtenon' not in open('/proc/self/maps').read(), 'loaded'")
        code = "import os, numpy; before = len(os.listdir('/proc/self/task')); " + code
        subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python")))

    def test_missing_library_is_a_tenon_error(self):
        code = "import tenon\ntry:\n    tenon.version()\nexcept tenon.Error as e:\n    assert e.status == tenon.Status.NOT_FOUND, e\nelse:\n    raise SystemExit(1)"
        env = dict(os.environ, PYTHONPATH=str(ROOT / "bindings" / "python"), TENON_LIBRARY="/nowhere/libtenon.so")
        subprocess.run([sys.executable, "-c", code], check=True, env=env)


class Running(unittest.TestCase):
    def test_shape_of_the_interface(self):
        session = tenon.InferenceSession(str(DIGITS), device="cpu", threads=1)
        first, = session.get_inputs()
        self.assertEqual((first.name, first.shape, first.type), ("image", ["batch", 1, 28, 28], "tensor(float)"))
        self.assertEqual([o.name for o in session.get_outputs()], ["digit"])
        image = np.random.default_rng(0).random((2, 1, 28, 28), np.float32)
        chances, = session.run(None, {"image": image})
        self.assertEqual((chances.shape, chances.dtype), ((2, 10), np.float32))
        np.testing.assert_allclose(chances.sum(1), 1, atol=1e-5)
        again, inner = session.run(["digit", "pool1"], {"image": image})
        self.assertEqual(again.tobytes(), chances.tobytes())
        self.assertEqual(inner.shape, (2, 8, 12, 12))
        self.assertEqual(session.run([], {"image": image}), [])

    def test_results_belong_to_the_caller(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, ["n"]))
        first, = session.run(None, {"x": np.ones(3, np.float32)})
        second, = session.run(None, {"x": np.full(3, 5, np.float32)})
        np.testing.assert_array_equal(first, [-1, -1, -1])
        np.testing.assert_array_equal(second, [-5, -5, -5])
        first[0] = 9
        self.assertTrue(first.flags.writeable)

    def test_bytes_paths_and_context(self):
        data = DIGITS.read_bytes()
        for model in (data, bytearray(data), memoryview(data), DIGITS, str(DIGITS)):
            with tenon.InferenceSession(model) as session:
                self.assertEqual(len(session.get_inputs()), 1)
            self.assertEqual(failure(session.run, None, {}).status, tenon.Status.STATE)
            session.close()

    def test_any_layout_of_arrays(self):
        session = tenon.InferenceSession(one_op("Add", FLOAT, ["a", "b"], inputs=2))
        base = np.arange(24, dtype=np.float32).reshape(4, 6)
        odd = np.frombuffer(b"x" + base.tobytes(), np.uint8)[1:].view(np.float32).reshape(4, 6)
        self.assertFalse(odd.flags.aligned)
        for array in (base, np.asfortranarray(base), base[::-1], base[:, ::2], odd, base.astype(">f4"), base.T):
            got, = session.run(None, {"x": array, "y": np.zeros_like(array)})
            np.testing.assert_array_equal(got, array)

    def test_scalars_and_empty(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, []))
        for value in (np.array(2.5, np.float32), np.float32(2.5), 2.5):
            got, = session.run(None, {"x": value})
            self.assertEqual((got.shape, float(got)), ((), -2.5))
        session = tenon.InferenceSession(one_op("Neg", FLOAT, ["n", 3]))
        self.assertEqual(session.run(None, {"x": np.zeros((0, 3), np.float32)})[0].shape, (0, 3))

    def test_types(self):
        for number, dtype in ((FLOAT, np.float32), (11, np.float64), (FLOAT16, np.float16), (INT64, np.int64), (6, np.int32)):
            got, = tenon.InferenceSession(one_op("Neg", number, ["n"])).run(None, {"x": np.array([1, 2], dtype)})
            self.assertEqual((got.dtype, got.tolist()), (dtype, [-1, -2]))
        got, = tenon.InferenceSession(one_op("Not", BOOL, ["n"])).run(None, {"x": np.array([True, False])})
        self.assertEqual((got.dtype, got.tolist()), (np.bool_, [False, True]))

    def test_extended_types(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not there")
        session = tenon.InferenceSession(one_op("Identity", BFLOAT16, ["n"], opset=16))
        array = np.array([1.5, -2], ml_dtypes.bfloat16)
        got, = session.run(None, {"x": array})
        self.assertEqual((got.dtype, got.tobytes()), (array.dtype, array.tobytes()))
        session = tenon.InferenceSession(one_op("Identity", INT4, ["n"], opset=21))
        array = np.array([-8, -1, 0, 7], ml_dtypes.int4)
        got, = session.run(None, {"x": array})
        self.assertEqual((got.dtype, got.astype(int).tolist()), (array.dtype, [-8, -1, 0, 7]))

    def test_threads_of_the_interpreter(self):
        session = tenon.InferenceSession(str(DIGITS), threads=2)
        images = np.random.default_rng(1).random((8, 1, 1, 28, 28), np.float32)
        want = [session.run(None, {"image": i})[0] for i in images]
        got = [None] * 8

        def work(k):
            for _ in range(20):
                got[k], = session.run(None, {"image": images[k]})
        workers = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for w in workers:
            w.start()
        for w in workers:
            w.join()
        for g, w in zip(got, want):
            self.assertEqual(g.tobytes(), w.tobytes())

    def test_closing_waits_for_the_run(self):
        for _ in range(5):
            session = tenon.InferenceSession(str(DIGITS), threads=1)
            begun, ended = threading.Event(), []

            def work():
                try:
                    while True:
                        session.run(None, {"image": np.zeros((1, 1, 28, 28), np.float32)})
                        begun.set()
                except tenon.Error as error:
                    ended.append(error.status)
            worker = threading.Thread(target=work)
            worker.start()
            begun.wait()
            session.close()
            worker.join()
            self.assertEqual(ended, [tenon.Status.STATE])


class Quantising(unittest.TestCase):
    """precision="int8"."""

    def test_near_and_refused(self):
        samples = [{"image": np.random.default_rng(i).random((1, 1, 28, 28), np.float32)} for i in range(3)]
        real = tenon.InferenceSession(DIGITS)
        whole = tenon.InferenceSession(DIGITS, precision="int8", calibration=samples)
        for sample in samples:
            a, b = real.run(None, sample)[0], whole.run(None, sample)[0]
            self.assertLess(np.abs(a - b).max(), 0.1)
        self.assertIn("sample", str(failure(tenon.InferenceSession, DIGITS, precision="int8")))
        wrong = [{"picture": samples[0]["image"]}]
        self.assertIn("lacks", str(failure(tenon.InferenceSession, DIGITS, precision="int8", calibration=wrong)))

    def test_samples_that_are_no_numbers_are_told(self):
        sample = {"image": np.random.default_rng(0).random((1, 1, 28, 28), np.float32)}
        sample["image"][0, 0, 3, 3] = np.nan
        with self.assertLogs("tenon", logging.WARNING) as caught:
            tenon.InferenceSession(DIGITS, precision="int8", calibration=[sample])
        self.assertTrue(any("NaN or infinity" in line and "image" in line for line in caught.output), caught.output)

    def test_a_model_that_comes_quantised(self):
        """As written in float32 with precision "fp32", in integers with "int8", which then needs no samples; else what this processor does faster."""
        int8, rng = 3, np.random.default_rng(1)
        weights = rng.integers(-90, 90, (4, 3, 3, 3)).astype(np.int8)
        scale = [tiny.tensor(FLOAT, [], [v], name) for name, v in (("xs", 0.02), ("ws", 0.01), ("ys", 0.03))]
        zero = tiny.array(np.array(3, np.int8), "z", int8), tiny.array(np.array(0, np.int8), "wz", int8)
        nodes = [tiny.node("QuantizeLinear", ["x", "xs", "z"], ["xq"]), tiny.node("DequantizeLinear", ["xq", "xs", "z"], ["xd"]),
                 tiny.node("DequantizeLinear", ["w", "ws", "wz"], ["wd"]), tiny.node("Conv", ["xd", "wd"], ["c"]),
                 tiny.node("QuantizeLinear", ["c", "ys", "z"], ["cq"]), tiny.node("DequantizeLinear", ["cq", "ys", "z"], ["y"])]
        data = tiny.model(nodes, [("x", FLOAT, [1, 3, 9, 11])], [("y", FLOAT, [1, 4, 7, 9])],
                          scale + list(zero) + [tiny.array(weights, "w", int8)])
        feeds = {"x": rng.standard_normal((1, 3, 9, 11)).astype(np.float32)}
        sessions = [tenon.InferenceSession(data, **options) for options in ({"precision": "fp32"}, {"precision": "int8"}, {})]
        a, b, c = [session.run(None, feeds)[0] for session in sessions]
        self.assertLessEqual(np.abs(a - b).max(), 0.0301)     # a tie may round to the other side
        self.assertTrue((c == a).all() or (c == b).all())
        operators = [{node["op"] for node in session.report("explain")["nodes"]} for session in sessions]
        self.assertTrue("conv" in operators[0] and "qlinear_conv" not in operators[0])
        self.assertTrue("qlinear_conv" in operators[1] and "conv" not in operators[1])


class Failing(unittest.TestCase):
    def setUp(self):
        self.session = tenon.InferenceSession(str(DIGITS))
        self.image = np.zeros((1, 1, 28, 28), np.float32)

    def test_feeds(self):
        run = self.session.run
        wrong = failure(run, None, {"image": self.image.astype(np.float64)})
        self.assertEqual((wrong.status, wrong.place), (tenon.Status.INVALID_ARGUMENT, "image"))
        self.assertIn("float64", str(wrong))
        self.assertIn("float32", str(wrong))
        self.assertEqual(failure(run, None, {"image": self.image[:, :, :27]}).status, tenon.Status.INVALID_ARGUMENT)
        self.assertIn(failure(run, None, {"picture": self.image}).status, (tenon.Status.INVALID_ARGUMENT, tenon.Status.NOT_FOUND))
        self.assertIn(failure(run, None, {}).status, (tenon.Status.INVALID_ARGUMENT, tenon.Status.STATE))
        self.assertIn(failure(run, ["nothing"], {"image": self.image}).status, (tenon.Status.INVALID_ARGUMENT, tenon.Status.NOT_FOUND))
        self.assertEqual(failure(run, None, {"image": [self.image]}).status, tenon.Status.INVALID_ARGUMENT)
        self.assertEqual(failure(run, None, {"image": np.array(["text"], object)}).status, tenon.Status.INVALID_ARGUMENT)
        self.assertEqual(failure(run, None, {"image": np.zeros((1,) * 9, np.float32)}).status, tenon.Status.INVALID_ARGUMENT)
        self.assertEqual(failure(run, None, {3: self.image}).status, tenon.Status.INVALID_ARGUMENT)
        self.assertEqual(self.session.run(None, {"image": self.image})[0].shape, (1, 10))   # still usable

    def test_a_failed_run_keeps_no_old_feed(self):
        session = tenon.InferenceSession(one_op("Add", FLOAT, ["n"], inputs=2))
        failure(session.run, None, {"x": np.ones(2, np.float32), "y": np.ones(3, np.int64)})
        failure(session.run, None, {"y": np.ones(2, np.float32)})
        got, = session.run(None, {"x": np.ones(2, np.float32), "y": np.ones(2, np.float32)})
        self.assertEqual(got.tolist(), [2, 2])

    def test_options(self):
        for bad in ({"threads": -1}, {"threads": "two"}, {"strict": "everything"}, {"memory_limit": 1.5}, {"device": "cp\0u"},
                    {"precision": "fp3"}, {"isa": "abacus"}):
            self.assertEqual(failure(tenon.InferenceSession, str(DIGITS), **bad).status, tenon.Status.INVALID_ARGUMENT, bad)
        self.assertEqual(failure(tenon.InferenceSession, str(DIGITS), device="abacus").status, tenon.Status.DEVICE)
        self.assertEqual(failure(tenon.InferenceSession, 7).status, tenon.Status.INVALID_ARGUMENT)
        self.assertEqual(failure(self.session.report, "gossip").status, tenon.Status.INVALID_ARGUMENT)

    def test_models(self):
        self.assertEqual(failure(tenon.InferenceSession, "/nowhere/model.onnx").status, tenon.Status.IO)
        self.assertEqual(failure(tenon.InferenceSession, b"junk" * 9).status, tenon.Status.INVALID_MODEL)
        unsupported = failure(tenon.InferenceSession, one_op("NoSuchOp", FLOAT, [2]))
        self.assertEqual(unsupported.status, tenon.Status.UNSUPPORTED)
        self.assertIn("NoSuchOp", str(unsupported))

    def test_whatever_is_given(self):
        """Nothing but tenon.Error comes out of the public calls."""
        with tenon.InferenceSession(DIGITS, threads=1) as session, tempfile.TemporaryDirectory() as folder:
            x = np.zeros((1, 1, 28, 28), np.float32)
            wrong = [
                lambda: session.run(None, {"image": x, "imgae": None}), lambda: session.report([]), lambda: session.prepare({"image": 5}),
                lambda: session.prepare([1]), lambda: session.prepare({"image": (-1, 2)}), lambda: session.run(5, {"image": x}),
                lambda: session.profile({"image": x}, trace=os.path.join(folder, "none", "trace.json")),
                lambda: session.io_binding().bind_input("image", object()), lambda: session.io_binding().bind_output("image", 5),
                lambda: tenon.convert(DIGITS, os.path.join(folder, "a.tenon"), shapes={"image": "ab"}),
                lambda: tenon.convert(DIGITS, os.path.join(folder, "a.tenon"), shapes={"image": (1 << 40, 1, 1 << 10, 28)}),
                lambda: tenon.InferenceSession(DIGITS, strict=None), lambda: tenon.InferenceSession(DIGITS, strict=8),
                lambda: tenon.InferenceSession(DIGITS, strict=-1), lambda: tenon.InferenceSession(DIGITS, power="x"),
                lambda: tenon.InferenceSession(DIGITS, custom_ops=5), lambda: tenon.InferenceSession(DIGITS, calibration=5, precision="int8"),
            ]
            for call in wrong:
                self.assertNotEqual(failure(call).status, tenon.Status.OK)
            session.run(None, {"image": x})

    def test_queries_that_see_no_key(self):
        # 0 by the operator, also where products and a softmax became it; NaN as written. What sees a key is the same in all of them.
        dims, r = [1, 2, 16, 32], np.random.default_rng(7)
        mask = np.zeros((16, 16), np.float32)
        mask[3], mask[5, 2:] = -np.inf, -np.inf
        q, k, v = (r.standard_normal(dims, np.float32) for _ in range(3))
        inputs = [(n, FLOAT, dims) for n in "qkv"] + [("mask", FLOAT, [16, 16])]
        written = [tiny.node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), tiny.node("MatMul", ["q", "kt"], ["s"]),
                   tiny.node("Div", ["s", "root"], ["d"]), tiny.node("Add", ["d", "mask"], ["m"]), tiny.node("Softmax", ["m"], ["p"], axis=-1),
                   tiny.node("MatMul", ["p", "v"], ["y"])]
        models = {nodes: tiny.model(nodes, inputs, [("y", FLOAT, dims)], [tiny.tensor(FLOAT, [], [32 ** 0.5], "root")], opset=23)
                  for nodes in (tuple(written), (tiny.node("Attention", ["q", "k", "v", "mask"], ["y"]),))}
        want = None
        for nodes, model in models.items():
            for optimise in (True, False):
                with tenon.InferenceSession(model, threads=1, optimise=optimise) as session:
                    out, = session.run(None, {"q": q, "k": k, "v": v, "mask": mask})
                    fused = any(n["op"] == "attention" for n in session.report("explain")["nodes"])
                self.assertEqual(fused, optimise or len(nodes) == 1)
                unseen = out[:, :, 3].copy()
                self.assertTrue((unseen == 0).all() if fused else np.isnan(unseen).all())
                out[:, :, 3] = 0
                want = out if want is None else want
                np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-5)

    def test_a_text_is_no_list_of_names(self):
        session, feeds = tenon.InferenceSession(str(DIGITS)), {"image": self.image}
        shapes = {"image": (1, 1, 28, 28)}
        for call in (lambda: session.run("digit", feeds), lambda: session.run(b"digit", feeds), lambda: session.prepare(shapes, "digit"),
                     lambda: session.profile(feeds, 1, "digit"), lambda: session.run(7, feeds), lambda: session.run([b"digit"], feeds)):
            error = failure(call)
            self.assertEqual((error.status, error.place), (tenon.Status.INVALID_ARGUMENT, "output_names"))
        self.assertIn("['digit']", failure(session.run, "digit", feeds).message)
        self.assertEqual(len(session.run(("digit",), feeds)), 1)

    def test_objects_that_raise(self):
        """Whatever an object's own methods raise comes out as the cause of a tenon.Error that names the feed."""
        def trap(name, raises):
            def method(*_, **__):
                raise raises
            made = type("Trap", (), {name: method})
            if name == "__dlpack_device__":
                made.__dlpack__ = method
            if name == "__dlpack__":
                made.__dlpack_device__ = lambda _: (1, 0)
            return made()

        session = tenon.InferenceSession(str(DIGITS))
        for raises in (RuntimeError("broken"), KeyError("broken"), OSError("broken"), NotImplementedError("broken")):
            for name in ("__dlpack_device__", "__dlpack__", "__array__"):
                for call in (lambda v: session.run(None, {"image": v}), lambda v: session.io_binding().bind_input("image", v),
                             lambda v: tenon.InferenceSession(str(DIGITS), precision="int8", calibration=[{"image": v}])):
                    error = failure(call, trap(name, raises))
                    self.assertEqual((error.status, error.place), (tenon.Status.INVALID_ARGUMENT, "image"))
                    self.assertIs(error.__cause__, raises)
                    self.assertIn("broken", error.message)
            error = failure(session.io_binding().bind_output, "digit", trap("__dlpack_device__", raises))
            self.assertIs(error.__cause__, raises)

    def test_a_refused_limit_is_no_memory_error(self):
        def attempt():
            tenon.InferenceSession(str(DIGITS), memory_limit=1).run(None, {"image": self.image})
        error = failure(attempt)
        self.assertEqual(error.status, tenon.Status.LIMIT)
        for phrase in ("out of memory", "failed to allocate", "cannot allocate memory", "bad_alloc"):
            self.assertNotIn(phrase, str(error).lower())


class Forking(unittest.TestCase):
    @staticmethod
    def in_child(call):
        """Exit status of a forked child that runs call; 0 when it returned True."""
        pid = os.fork()
        if pid == 0:
            code = 3
            try:
                code = 0 if call() else 1
            finally:
                os._exit(code)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else 0

    def test_fork_after_import_works(self):
        def child():
            session = tenon.InferenceSession(str(DIGITS), threads=2)
            return session.run(None, {"image": np.zeros((1, 1, 28, 28), np.float32)})[0].shape == (1, 10)
        self.assertEqual(self.in_child(child), 0)

    def test_session_from_before_a_fork_refuses(self):
        session = tenon.InferenceSession(str(DIGITS), threads=2)
        feeds = {"image": np.zeros((1, 1, 28, 28), np.float32)}
        session.run(None, feeds)

        def child():
            refused = failure(session.run, None, feeds).status == tenon.Status.STATE
            session.close()
            return refused and tenon.InferenceSession(str(DIGITS), threads=2).run(None, feeds)[0].shape == (1, 10)
        self.assertEqual(self.in_child(child), 0)
        self.assertEqual(session.run(None, feeds)[0].shape, (1, 10))


class Reporting(unittest.TestCase):
    def test_reports(self):
        session = tenon.InferenceSession(str(DIGITS))
        session.run(None, {"image": np.zeros((1, 1, 28, 28), np.float32)})
        placed = session.placement()
        self.assertGreater(placed["cpu"]["nodes"], 0)
        self.assertGreater(placed["cpu"]["macs"], 100_000)
        self.assertTrue(session.report("explain")["nodes"])
        self.assertIn("arena_bytes", session.report("memory"))
        self.assertGreaterEqual(session.report("statistics")["plans_made"], 1)
        self.assertEqual(session.report("model")["operators"]["conv"], 2)
        self.assertIsInstance(session.report("graph"), str)

    def test_explain_asks_every_row_in_every_layout(self):
        # Rows that want blocks of channels are asked about plain results here.
        for dims, filters in (([1, 8, 1], 8), ([1, 16, 1, 1], 16), ([1, 257, 1], 64)):
            w = np.ones([filters, dims[1]] + [1] * (len(dims) - 2), np.float32)
            model = tiny.model([tiny.node("Conv", ["x", "w"], ["y"])], [("x", FLOAT, dims)], [("y", FLOAT, [1, filters] + dims[2:])], [tiny.array(w, "w", FLOAT)])
            self.assertTrue(tenon.InferenceSession(model, threads=1).report("explain")["nodes"])

    def test_profile(self):
        session = tenon.InferenceSession(str(DIGITS), threads=2)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            record = session.profile({"image": np.zeros((8, 1, 28, 28), np.float32)}, runs=3, trace=path)
            events = json.loads(path.read_text())["traceEvents"]
        self.assertEqual(len(record["runs"]), 3)
        self.assertEqual(len(record["steps"]), 3 * len(record["nodes"]))
        self.assertEqual(sum(e.get("cat") == "run" for e in events), 3)
        self.assertEqual(failure(session.report, "profile").status, tenon.Status.STATE)

    def test_planning_ahead(self):
        session = tenon.InferenceSession(str(DIGITS))
        session.prepare({"image": (3, 1, 28, 28)})
        made = session.report("statistics")["plans_made"]
        session.run(None, {"image": np.zeros((3, 1, 28, 28), np.float32)})
        self.assertEqual(session.report("statistics")["plans_made"], made)
        self.assertEqual(failure(session.prepare, {"image": (3, 2, 28, 28)}).status, tenon.Status.INVALID_ARGUMENT)
        for unknown in ({"picture": (1,)}, {"picture": (1,), "image": (1, 1, 28, 28)}):
            error = failure(session.prepare, unknown)
            self.assertEqual((error.status, error.place), (tenon.Status.NOT_FOUND, "picture"))
        self.assertEqual(failure(session.prepare, {"image": (1,) * 9}).status, tenon.Status.INVALID_ARGUMENT)
        session.trim()
        session.run(None, {"image": np.zeros((1, 1, 28, 28), np.float32)})

    def test_planning_ahead_of_a_scalar(self):
        model = tiny.model([tiny.node("Add", ["x", "n"], ["out"])], [("x", FLOAT, [2]), ("n", FLOAT, [])], [("out", FLOAT, [2])])
        session = tenon.InferenceSession(model)
        session.prepare({"x": (2,), "n": (1, 1)})       # as run() takes it
        session.run(None, {"x": np.ones(2, np.float32), "n": np.ones((1, 1), np.float32)})
        self.assertEqual(session.report("statistics")["plans_made"], 1)
        self.assertEqual(failure(session.prepare, {"x": (2,), "n": (2,)}).status, tenon.Status.INVALID_ARGUMENT)

    def test_power(self):
        session = tenon.InferenceSession(str(DIGITS), power={"affinity": "power-save", "gpu_priority": "low", "dsp_level": 2})
        fates = session.report("statistics")["power"]
        self.assertEqual(fates["affinity"]["asked"], "power-save")
        self.assertEqual(fates["dsp_level"], {"asked": 2, "effect": "not supported here", "why": fates["dsp_level"]["why"]})
        self.assertEqual(fates["dsp_dcvs"]["effect"], "default")
        for bad in ({"turbo": 1}, {"gpu_priority": "mad"}, {"dsp_level": -1}, {"dsp_level": 9}):
            self.assertEqual(failure(tenon.InferenceSession, str(DIGITS), power=bad).status, tenon.Status.INVALID_ARGUMENT)

    def test_devices_and_version(self):
        self.assertIn("cpu", [d["name"] for d in tenon.devices() if d["present"]])
        self.assertEqual(tenon.version(), tenon.__version__)


if __name__ == "__main__":
    unittest.main()
