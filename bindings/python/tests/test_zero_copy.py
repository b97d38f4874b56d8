#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that is shared instead of copied: bindings, DLPack, buffers, .tenon files from Python. Needs numpy (exit status 77 without);
ml_dtypes and torch are used if there.
"""
import array
import ctypes as c
import gc
import mmap
import os
import sys
import tempfile
import unittest
import weakref
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
from tenon import _dlpack

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
FLOAT, INT64, BFLOAT16 = tiny.FLOAT, tiny.INT64, 16


def one_op(op, dtype, dims, out_dims=None, **attributes):
    return tiny.model([tiny.node(op, ["x"], ["out"], **attributes)], [("x", dtype, dims)], [("out", dtype, out_dims or dims)])


class Producer:
    """An object with nothing but DLPack, over a numpy array; counts what was done with it."""

    def __init__(self, values, device=(1, 0)):
        self.inner, self.device = tenon.DLPackArray(values), device

    def __dlpack__(self, **options):
        return self.inner.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


def addresses(session, call):
    """Addresses of the data that the library read and wrote in a call, as its own functions were given them."""
    seen = {}
    lib = session._lib
    at = {"tenon_session_bind_input": 5, "tenon_session_bind_output_as": 3}     # which argument is the address

    def plain(argument):
        return getattr(argument, "value", argument) if not isinstance(argument, c.Array) else c.addressof(argument)

    def watched(name, function):
        def note(*arguments):
            seen.setdefault(plain(arguments[1]).decode(), plain(arguments[at[name]]))
            return function(*arguments)

        return note if name in at else function

    class Spy:
        def __getattr__(self, name):
            return watched(name, getattr(lib, name))

        def __getitem__(self, name):
            return watched(name, lib[name])

    session._lib, session._last, session._calls = Spy(), None, {}
    try:
        return call(), seen
    finally:
        session._lib, session._last, session._calls = lib, None, {}


class Bindings(unittest.TestCase):
    def test_equal_addresses(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, [2, 8]), threads=1)
        x, y = np.arange(16, dtype=np.float32).reshape(2, 8), np.empty((2, 8), np.float32)
        binding = session.io_binding()
        binding.bind_input("x", x)
        binding.bind_output("out", y)
        (result,), seen = addresses(session, binding.run)
        self.assertIs(result, y)
        self.assertEqual(seen, {"x": x.ctypes.data, "out": y.ctypes.data})
        np.testing.assert_array_equal(y, -x)
        x[0, 0] = 7                                  # the next run reads what is there then
        session.run_with_iobinding(binding)
        self.assertEqual(y[0, 0], -7)
        self.assertIs(binding.get_outputs()[0], y)

    def test_results_of_known_shapes_are_written_in_place(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, [4]), threads=1)
        (result,), seen = addresses(session, lambda: session.run(None, {"x": np.ones(4, np.float32)}))
        self.assertEqual(seen["out"], result.ctypes.data)
        again, = session.run(None, {"x": np.zeros(4, np.float32)})
        np.testing.assert_array_equal(result, -np.ones(4))     # the caller's own

    def test_larger_buffers_and_open_shapes(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, ["n"]), threads=1)
        room = np.full(10, 9, np.float32)
        binding = session.io_binding()
        binding.bind_output("out", room)
        for n in (3, 10, 1):
            binding.bind_input("x", np.ones(n, np.float32))
            result, = binding.run()
            self.assertEqual((result.shape, result.ctypes.data), ((n,), room.ctypes.data))
            np.testing.assert_array_equal(result, -np.ones(n))
        binding.bind_input("x", np.ones(11, np.float32))
        with self.assertRaises(tenon.Error) as caught:
            binding.run()
        self.assertEqual(caught.exception.status, tenon.Status.INVALID_ARGUMENT)
        binding.bind_output("out")                   # not bound any more: an array of its own each time
        self.assertEqual(binding.run()[0].shape, (11,))
        # A failed run leaves no address behind: an ordinary run works.
        self.assertEqual(session.run(None, {"x": np.ones(2, np.float32)})[0].shape, (2,))
        binding.clear()
        self.assertEqual(binding.get_outputs(), [])

    def test_refusals(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, [2, 2]), threads=1)
        binding = session.io_binding()
        read_only = np.empty((2, 2), np.float32)
        read_only.flags.writeable = False
        odd = np.frombuffer(bytearray(20), np.uint8)[1:17].view(np.float32)
        for wrong in (read_only, np.empty((2, 4), np.float32)[:, ::2], np.empty((2, 2), ">f4"), odd, np.empty(4, object), 3, b"read only"):
            with self.assertRaises(tenon.Error):
                binding.bind_output("out", wrong)
        with self.assertRaises(tenon.Error) as caught:
            binding.bind_input("nobody", np.ones(2, np.float32))
        self.assertEqual(caught.exception.status, tenon.Status.NOT_FOUND)
        binding.bind_input("x", np.ones((2, 2), np.float32))
        wrong = np.full((2, 2), 77, np.int32)
        binding.bind_output("out", wrong)
        with self.assertRaises(tenon.Error) as caught:
            binding.run()
        self.assertEqual((caught.exception.status, caught.exception.place), (tenon.Status.INVALID_ARGUMENT, "out"))
        np.testing.assert_array_equal(wrong, 77)

    def test_no_buffer_is_written_when_another_does_not_fit(self):
        """Results of the plan, of a later stage (whose shape the graph knows) and inner tensors; too small, or of another type."""
        model = tiny.model([tiny.node("Neg", ["x"], ["a"]), tiny.node("Exp", ["a"], ["b"]), tiny.node("NonZero", ["x"], ["n"]),
                            tiny.node("Shape", ["n"], ["count"])],
                           [("x", FLOAT, [8])], [("a", FLOAT, [8]), ("b", FLOAT, [8]), ("count", INT64, [2])])
        x = np.arange(8, dtype=np.float32)
        for name, wrong in (("b", np.full(4, 77, np.float32)), ("b", np.full(8, 77, np.int32)), ("count", np.full(1, 77, np.int64)),
                            ("count", np.full(2, 77, np.float64))):
            session = tenon.InferenceSession(model, threads=1)
            for _ in range(2):                       # with a plan that is new, and with one that is known
                binding = session.io_binding()
                good = {n: np.full(8, 77, np.float32) for n in ("a", "b") if n != name}
                binding.bind_input("x", x)
                for other, room in good.items():
                    binding.bind_output(other, room)
                binding.bind_output(name, wrong)
                with self.assertRaises(tenon.Error) as caught:
                    binding.run()
                self.assertEqual((caught.exception.status, caught.exception.place), (tenon.Status.INVALID_ARGUMENT, name))
                for room in [wrong, *good.values()]:
                    np.testing.assert_array_equal(room, 77)
            got = session.run(None, {"x": x})        # nothing of it stays
            np.testing.assert_array_equal(got[2], [1, 7])

    def test_a_binding_keeps_its_arrays_alive(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, [1000]), threads=1)
        binding = session.io_binding()
        binding.bind_input("x", np.full(1000, 2, np.float32))
        binding.bind_output("out", np.empty(1000, np.float32))
        gc.collect()
        filler = [np.full(1000, 5, np.float32) for _ in range(50)]
        np.testing.assert_array_equal(binding.run()[0], np.full(1000, -2))
        del filler


    def test_a_binding_that_runs_again(self):
        # The library knows its addresses already: what else uses the session, another binding or a change of this one, must be seen.
        session = tenon.InferenceSession(one_op("Neg", FLOAT, [4]), threads=1)
        x, y, z = (np.full(4, v, np.float32) for v in (1, 0, 7))
        first, second = session.io_binding(), session.io_binding()
        first.bind_input("x", x)
        first.bind_output("out", y)
        second.bind_input("x", z)
        for value in range(3):
            x[:] = value
            self.assertIs(session.run_with_iobinding(first)[0], y)
            np.testing.assert_array_equal(y, np.full(4, -value))
        y[:] = 3
        np.testing.assert_array_equal(second.run()[0], -z)
        np.testing.assert_array_equal(session.run(None, {"x": z + 1})[0], -z - 1)
        np.testing.assert_array_equal(y, np.full(4, 3))
        with self.assertRaises(tenon.Error):             # the inputs of a binding are not those of a run
            session.run(None, {})
        np.testing.assert_array_equal(first.run()[0], -x)
        first.bind_input("x", z)
        np.testing.assert_array_equal(first.run()[0], -z)
        other = np.zeros(4, np.float32)
        first.bind_output("out", other)
        self.assertIs(first.run()[0], other)
        first.clear()
        with self.assertRaises(tenon.Error):
            first.run()
        seen = weakref.ref(other)
        del other, first
        gc.collect()
        self.assertIsNone(seen())                        # the session keeps no array
        session.prepare({"x": [4]})
        np.testing.assert_array_equal(second.run()[0], -z)

    def test_runs_that_repeat_the_last_one(self):
        # The library is told new addresses only: everything else that differs from the run before must be seen.
        model = tiny.model([tiny.node("Neg", ["x"], ["a"]), tiny.node("Add", ["a", "y"], ["b"]), tiny.node("NonZero", ["y"], ["n"])],
                           [("x", FLOAT, [2, 3]), ("y", FLOAT, ["k", 3])], [("a", FLOAT, [2, 3]), ("b", FLOAT, [2, 3]), ("n", INT64, [2, "m"])])
        session, rng = tenon.InferenceSession(model, threads=1), np.random.default_rng(2)
        fixed = np.frombuffer(rng.standard_normal((2, 3), np.float32).tobytes(), np.float32).reshape(2, 3)     # read-only
        wide = rng.standard_normal((2, 6), np.float32)
        binding, room = session.io_binding(), np.zeros((2, 3), np.float32)
        binding.bind_input("x", fixed)
        binding.bind_output("a", room)
        held = []

        def check(names, x, y):
            got = session.run(names, {"x": x, "y": y})
            want = {"a": -x, "b": y - x, "n": np.array(np.nonzero(y))}
            for name, result in zip(names or ("a", "b", "n"), got):
                np.testing.assert_array_equal(result, want[name])
                held.append((result, result.copy()))

        for names in (None, ["b"], ["b", "a"], ["a", "a"], ("a", "b"), ["n", "a"], None):
            for x in (np.ones((2, 3), np.float32), fixed, wide[:, ::2], np.asfortranarray(fixed)):
                for y in (fixed, np.ones((1, 3), np.float32), wide[:, :3]):
                    check(names, x, y)
                    check(names, x.copy(), y)
            with self.assertRaises(tenon.Error):
                session.run(names, {"y": fixed})
            with self.assertRaises(tenon.Error):
                session.run(names, {"x": fixed, "y": fixed.astype(np.float64)})
            check(names, fixed, fixed)
            np.testing.assert_array_equal(binding.run()[0], -fixed)
            check(names, fixed, fixed)
            session.trim()
            session.prepare({"x": [2, 3], "y": [1, 3]})
        np.testing.assert_array_equal(room, -fixed)
        for result, copy in held:                        # the caller's own
            np.testing.assert_array_equal(result, copy)
        feed = np.ones((2, 3), np.float32)
        last = weakref.ref(feed)
        check(None, feed, feed)
        del feed, held[:]
        self.assertIsNone(last())                        # the session keeps no array

    def test_runs_that_fail_again_and_again(self):
        session = tenon.InferenceSession(tiny.model([tiny.node("Gather", ["x", "i"], ["y"])], [("x", FLOAT, [4, 3]), ("i", INT64, [2])],
                                                    [("y", FLOAT, [2, 3])]), threads=1)
        x, good, bad = np.ones((4, 3), np.float32), np.array([0, 1]), np.array([0, 9])
        binding = session.io_binding()
        for _ in range(20):
            for index in (bad, good, bad, bad):
                feeds = {"x": x, "i": index}
                for name, array in feeds.items():
                    binding.bind_input(name, array)
                binding.bind_output("y", np.zeros((2, 3), np.float32))
                for run in (lambda: session.run(None, feeds), binding.run):
                    if index is good:
                        np.testing.assert_array_equal(run()[0], x[:2])
                    else:
                        with self.assertRaisesRegex(tenon.Error, "9"):
                            run()

    def test_results_that_change_their_shape_do_so_in_a_binding_too(self):
        session = tenon.InferenceSession(one_op("NonZero", FLOAT, [4], out_dims=[1, "n"]), threads=1)
        x, out = np.ones(4, np.float32), np.zeros((1, 4), np.int64)
        binding = session.io_binding()
        binding.bind_input("x", x)
        try:
            binding.bind_output("out", out)
            for n in (4, 2, 3):
                x[:] = np.arange(4) < n
                np.testing.assert_array_equal(binding.run()[0], [range(n)])
        finally:
            binding.clear()


class Opening(unittest.TestCase):
    def test_packed_weights_of_bytes_are_used_in_place(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.tenon"
            tenon.convert(DIGITS, path)
            data = path.read_bytes()
            with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapping:
                views = [data, bytearray(data), memoryview(mapping)] + [b"".join((data[:i], data[i:])) for i in range(1, 9)]
                held = set()
                for view in views:
                    with tenon.InferenceSession(view, threads=1) as session:
                        statistics = session.report("statistics")
                        self.assertEqual(statistics["weights_packed"], 0)
                        held.add(statistics["live_bytes"])      # no copies of them in the library
                        x = np.zeros([d if isinstance(d, int) else 1 for d in session.get_inputs()[0].shape], np.float32)
                        first, = session.run(None, {session.get_inputs()[0].name: x})
                        if isinstance(view, bytearray):     # what may change was copied
                            view[:] = bytes(len(view))
                            np.testing.assert_array_equal(session.run(None, {session.get_inputs()[0].name: x})[0], first)
                    del session
                del view, views
                self.assertEqual(len(held), 1)

    def test_bytes_of_other_files_are_read_in_place(self):
        data = DIGITS.read_bytes()
        with tenon.InferenceSession(data, threads=1) as session:
            self.assertEqual(session._bytes.ctypes.data, np.frombuffer(data, np.uint8).ctypes.data)
        for wrong in (b"", b"TNN1", memoryview(b"abcdefgh")[::2]):
            with self.assertRaises(tenon.Error):
                tenon.InferenceSession(wrong)


class Arguments(unittest.TestCase):
    def test_what_is_of_the_wrong_kind_is_named(self):
        # Each with what it is and what it should be: no text of numpy's, ctypes' or Python's own.
        model = one_op("Relu", FLOAT, ["n", 4])
        feeds = {"x": np.ones((1, 4), np.float32)}
        session = tenon.InferenceSession(model, threads=1)
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "o.tenon"
            calls = {
                "feeds": lambda v: session.run(None, v), "x": lambda v: session.prepare({"x": v}), "shapes": session.prepare,
                "output_names": lambda v: session.run(v, feeds), "kind": session.report, "binding": session.run_with_iobinding,
                "trace": lambda v: session.profile(feeds, 1, trace=v), "name": lambda v: session.io_binding().bind_output(v),
                "targets": lambda v: tenon.convert(model, out, targets=v), "inputs": lambda v: tenon.convert(model, out, inputs=v),
                "split_weights": lambda v: tenon.convert(model, out, split_weights=v),
                "progress": lambda v: tenon.tune(model, folder, device="cpu", seconds=0.01, progress=v),
                "version": lambda v: tenon.CustomOp("A", print, version=v), "domain": lambda v: tenon.CustomOp("A", print, domain=v),
                "attributes": lambda v: tenon.CustomOp("A", print, attributes=v), "array": tenon.DLPackArray,
            }
            for option in ("strict", "power", "calibration", "custom_ops", "optimise", "verify", "threads", "memory_limit", "isa", "folder"):
                calls[option] = lambda v, option=option: tenon.InferenceSession(model, **{option: v})
            for place, call in calls.items():
                for wrong in (2.5, object(), [object()], {1: 2}):
                    with self.assertRaises(tenon.Error, msg=(place, wrong)) as caught:
                        call(wrong)
                    self.assertIn(caught.exception.status, (tenon.Status.INVALID_ARGUMENT, tenon.Status.NOT_FOUND), (place, wrong))
                    self.assertNotRegex(caught.exception.message, "Error:|has no attribute|not iterable|unhashable|ambiguous|ctypes")

    def test_files_are_packed_for_shapes_that_hold_something(self):
        with tempfile.TemporaryDirectory() as folder:
            for shape in ([0, 4], [1, 0], [-1, 4], [1.5, 4], 4):
                with self.assertRaises(tenon.Error) as caught:
                    tenon.convert(one_op("Relu", FLOAT, ["n", 4]), Path(folder) / "o.tenon", shapes={"x": shape})
                self.assertEqual(caught.exception.place, "x")
            tenon.convert(one_op("Relu", FLOAT, ["n", 4]), Path(folder) / "o.tenon", shapes={"x": [3, 4]})


class DLPack(unittest.TestCase):
    def setUp(self):
        self.session = tenon.InferenceSession(one_op("Neg", FLOAT, [2, 3]), threads=1)
        self.x = np.arange(6, dtype=np.float32).reshape(2, 3)

    def test_any_producer_is_a_feed(self):
        (result,), seen = addresses(self.session, lambda: self.session.run(None, {"x": Producer(self.x)}))
        self.assertEqual(seen["x"], self.x.ctypes.data)
        np.testing.assert_array_equal(result, -self.x)
        self.assertEqual(_dlpack._alive, {})         # the deleter was called

    def test_strides(self):
        for view in (self.x[::-1, ::-1], np.asfortranarray(self.x), np.lib.stride_tricks.as_strided(self.x, (2, 3), (0, self.x.itemsize))):
            result, = self.session.run(None, {"x": Producer(view)})
            np.testing.assert_array_equal(result, -view)

    def test_outputs(self):
        room = np.empty((2, 3), np.float32)
        binding = self.session.io_binding()
        binding.bind_input("x", Producer(self.x))
        binding.bind_output("out", Producer(room))
        result, = binding.run()
        self.assertEqual(result.ctypes.data, room.ctypes.data)
        np.testing.assert_array_equal(room, -self.x)
        del result
        binding.clear()
        gc.collect()
        self.assertEqual(_dlpack._alive, {})

    def test_results_are_producers(self):
        result, = self.session.run(None, {"x": self.x})
        self.assertEqual(tuple(result.__dlpack_device__()), (1, 0))
        if hasattr(np, "from_dlpack"):
            self.assertEqual(np.from_dlpack(result).ctypes.data, result.ctypes.data)
            other = np.from_dlpack(tenon.DLPackArray(result))
            self.assertEqual(other.ctypes.data, result.ctypes.data)
            del other
        gc.collect()
        self.assertEqual(_dlpack._alive, {})

    def test_lifetimes(self):
        values = np.ones(4, np.float32)
        alive = weakref.ref(values)
        capsule = tenon.DLPackArray(values).__dlpack__()
        del values
        gc.collect()
        self.assertIsNotNone(alive())                # the capsule holds it
        del capsule                                  # which nobody consumed
        gc.collect()
        self.assertIsNone(alive())
        values = np.ones(4, np.float32)
        alive = weakref.ref(values)
        view = _dlpack.array_of("x", Producer(values))[1:]
        del values
        gc.collect()
        self.assertIsNotNone(alive())
        self.assertEqual(view.sum(), 3)
        del view
        gc.collect()
        self.assertIsNone(alive())

    def test_refusals(self):
        for wrong in (Producer(self.x, device=(2, 0)), Producer(self.x.astype(np.int32))):
            with self.assertRaises(tenon.Error) as caught:
                self.session.run(None, {"x": wrong})
            self.assertEqual(caught.exception.status, tenon.Status.INVALID_ARGUMENT)
        with self.assertRaises(tenon.Error):
            tenon.DLPackArray(np.array(["text"]))
        with self.assertRaises(BufferError):
            tenon.DLPackArray(self.x).__dlpack__(stream=1)
        fixed = self.x.copy()
        fixed.flags.writeable = False
        with self.assertRaises(BufferError):
            tenon.DLPackArray(fixed).__dlpack__()
        self.assertIsNotNone(tenon.DLPackArray(fixed).__dlpack__(copy=True))

    def test_bfloat16(self):
        try:
            import ml_dtypes
        except ImportError:
            self.skipTest("ml_dtypes is not there")
        session = tenon.InferenceSession(one_op("Neg", BFLOAT16, [4]), threads=1)
        x = np.arange(4).astype(ml_dtypes.bfloat16)
        np.testing.assert_array_equal(session.run(None, {"x": Producer(x)})[0], -x)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("torch is not there")
        x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        (result,), seen = addresses(self.session, lambda: self.session.run(None, {"x": x}))
        self.assertEqual(seen["x"], x.data_ptr())
        self.assertEqual(torch.from_dlpack(result).data_ptr(), result.ctypes.data)

    def test_buffers(self):
        session = tenon.InferenceSession(one_op("Neg", FLOAT, [4]), threads=1)
        x = array.array("f", [1, 2, 3, 4])
        (result,), seen = addresses(session, lambda: session.run(None, {"x": x}))
        self.assertEqual(seen["x"], x.buffer_info()[0])
        np.testing.assert_array_equal(result, [-1, -2, -3, -4])
        out = array.array("f", [0] * 4)
        binding = session.io_binding()
        binding.bind_input("x", memoryview(x))
        binding.bind_output("out", out)
        binding.run()
        self.assertEqual(out.tolist(), [-1, -2, -3, -4])


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = os.path.join(self.folder.name, "model.tenon")

    def same(self, **options):
        x = np.random.default_rng(0).random((2, 1, 28, 28), np.float32)
        with tenon.InferenceSession(DIGITS, threads=1) as a, tenon.InferenceSession(self.out, threads=1, **options) as b:
            np.testing.assert_array_equal(a.run(None, {"image": x})[0], b.run(None, {"image": x})[0])
            return b.report("model")["file"], b.report("statistics")

    def test_convert(self):
        tenon.convert(DIGITS, self.out, shapes={"image": (2, 1, 28, 28)})
        file, statistics = self.same(verify=True)
        self.assertEqual(statistics["weights_packed"], 0)
        self.same(sha256=file["graph_sha256"])
        with self.assertRaises(tenon.Error):
            tenon.InferenceSession(self.out, sha256="0" * 64)
        with self.assertRaises(tenon.Error):
            tenon.convert(DIGITS, self.out, "mmx")
        with self.assertRaises(tenon.Error):
            tenon.convert(DIGITS, self.out, shapes={"nobody": (1,)})

    def test_constants_in_the_layout_of_their_readers_are_in_the_file(self):
        rng = np.random.default_rng(1)
        w, scale = rng.standard_normal((16, 1, 3, 3), np.float32), rng.standard_normal((1, 16, 9, 9), np.float32)
        dims, pads = [1, 16, 9, 9], {"pads": [1, 1, 1, 1], "group": 16}
        nodes = [tiny.node("Conv", ["x", "w"], ["a"], **pads), tiny.node("Mul", ["a", "scale"], ["b"]), tiny.node("Tanh", ["b"], ["c"]),
                 tiny.node("Conv", ["c", "w"], ["y"], **pads)]
        model = tiny.model(nodes, [("x", tiny.FLOAT, dims)], [("y", tiny.FLOAT, dims)],
                           [tiny.array(w, "w", tiny.FLOAT), tiny.array(scale, "scale", tiny.FLOAT)])
        x = {"x": rng.standard_normal(dims, np.float32)}
        tenon.convert(model, self.out)
        with tenon.InferenceSession(model, threads=1) as a, tenon.InferenceSession(self.out, threads=1) as b:
            np.testing.assert_array_equal(a.run(None, x)[0], b.run(None, x)[0])
            self.assertGreater(a.report("statistics")["weights_packed"], 0)
            self.assertEqual(b.report("statistics")["weights_packed"], 0)

    def test_each_target_finds_the_form_that_it_runs(self):
        """A quantised model, with and without zero points: nothing is packed, the bits are the model's, for each target and precision."""
        int8, rng = 3, np.random.default_rng(1)
        arrays = {"w": rng.integers(-90, 90, (16, 8, 3, 3)).astype(np.int8), "v": rng.integers(-90, 90, (16, 24)).astype(np.int8)}
        for zeros in (True, False):
            zero, odd = (["wz"], ["z"]) if zeros else ([], [])
            nodes = [tiny.node("QuantizeLinear", ["x", "s", "z"], ["xq"]), tiny.node("DequantizeLinear", ["xq", "s", "z"], ["xd"]),
                     tiny.node("DequantizeLinear", ["w", "s", *zero], ["wd"]), tiny.node("Conv", ["xd", "wd"], ["c"]),
                     tiny.node("QuantizeLinear", ["c", "t", "z"], ["cq"]), tiny.node("DequantizeLinear", ["cq", "t", *odd], ["cd"]),
                     tiny.node("GlobalAveragePool", ["cd"], ["p"]), tiny.node("Flatten", ["p"], ["f"]),
                     tiny.node("QuantizeLinear", ["f", "t", "z"], ["fq"]), tiny.node("DequantizeLinear", ["fq", "t", *odd], ["fd"]),
                     tiny.node("DequantizeLinear", ["v", "s", *zero], ["vd"]), tiny.node("MatMul", ["fd", "vd"], ["m"]),
                     tiny.node("QuantizeLinear", ["m", "t", "z"], ["mq"]), tiny.node("DequantizeLinear", ["mq", "t", *odd], ["y"])]
            constants = [tiny.tensor(FLOAT, [], [0.02], "s"), tiny.tensor(FLOAT, [], [0.03], "t"), tiny.array(np.array(0, np.int8), "wz", int8),
                         tiny.array(np.array(3, np.int8), "z", int8), *(tiny.array(a, n, int8) for n, a in arrays.items())]
            data = tiny.model(nodes, [("x", FLOAT, [1, 8, 12, 12])], [("y", FLOAT, [1, 24])], constants)
            feeds = {"x": rng.standard_normal((1, 8, 12, 12)).astype(np.float32)}
            for targets, opened in (("host", [None]), ("portable", ["portable"]), ("host,portable", [None, "portable"])):
                for precision in (None, "fp32", "int8"):
                    for drop in (False, True):
                        tenon.convert(data, self.out, targets, precision=precision, drop_imported=drop)
                        for isa in opened:
                            session = tenon.InferenceSession(self.out, threads=1, isa=isa, precision=precision)
                            want = tenon.InferenceSession(data, threads=1, isa=isa, precision=precision).run(None, feeds)
                            np.testing.assert_array_equal(session.run(None, feeds)[0], want[0])
                            self.assertEqual(session.report("statistics")["weights_packed"], 0, f"{targets} {precision} {isa} {drop}")
            tenon.convert(data, self.out, "none", precision="fp32", drop_imported=True)
        for precision in ("fp16", "int8", "bf16"):       # of a model in floats
            with self.assertRaises(tenon.Error) as caught:
                tenon.convert(DIGITS, self.out, precision=precision)
            self.assertEqual(caught.exception.status, tenon.Status.INVALID_ARGUMENT)

    def test_keys(self):
        key = bytes(range(32))
        try:
            tenon.convert(DIGITS, self.out, "none", split_weights=True, key=key, key_name="k")
        except tenon.Error as error:
            self.assertEqual(error.status, tenon.Status.UNSUPPORTED)
            self.skipTest("no libcrypto")
        asked = []
        self.same(key=lambda name: (asked.append(name), key)[1])
        self.assertEqual(asked, ["k"])
        for wrong in (None, bytes(32), b"short"):
            with self.assertRaises(tenon.Error):
                tenon.InferenceSession(self.out, key=wrong)
        def fail(_):
            raise raised
        for raised in (ZeroDivisionError("no key today"), RuntimeError("no key today")):
            for call in (lambda: tenon.InferenceSession(self.out, key=fail), lambda: tenon.convert(DIGITS, self.out, "none", key=fail)):
                with self.assertRaises(tenon.Error) as caught:
                    call()
                self.assertIs(caught.exception.__cause__, raised)
        raised = KeyboardInterrupt()
        with self.assertRaises(KeyboardInterrupt):
            tenon.InferenceSession(self.out, key=fail)


if __name__ == "__main__":
    unittest.main()
