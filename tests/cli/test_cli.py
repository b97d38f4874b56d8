#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tenon command from outside: exit codes, inputs and outputs in files, JSON, limits, Ctrl-C.

Needs only the standard library. TENON_TOOL names the command (default: build/tenon), the models are in the tree or made here.
"""
import json
import os
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tiny_onnx as tiny

ROOT = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("TENON_TOOL", str(ROOT / "build" / "tenon"))
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")
SEVEN = str(ROOT / "examples" / "digits" / "seven.png")


def tenon(*arguments, stdin=None, env=None):
    return subprocess.run([TOOL, *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                          env=dict(os.environ, **(env or {})))


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = Path(self.folder.name)

    def good(self, *arguments, code=0, **kw):
        result = tenon(*arguments, **kw)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr.decode()}{result.stdout.decode()[-2000:]}")
        return result.stdout.decode()

    def told(self, code, *arguments, **kw):
        """Runs, expects the exit code, gives what stderr says."""
        result = tenon(*arguments, **kw)
        self.assertEqual(result.returncode, code, result.stderr.decode())
        return result.stderr.decode()

    def write(self, name, data):
        path = self.here / name
        path.write_bytes(data)
        return path


class Usage(Command):
    def test_help_and_version(self):
        self.assertIn("Verbs:", self.good("--help"))
        self.assertRegex(self.good("--version"), r"^tenon \d+\.\d+\.\d+ ")
        for verb in ("run", "info", "bench", "explain", "compare", "profile", "doctor", "tune", "cache"):
            text = self.good(verb, "--help")
            self.assertIn("Examples:", text)
            self.assertIn("Exit status:", text)
            self.assertEqual(text, self.good("help", verb))

    def test_slips_are_guessed(self):
        self.assertIn("did you mean 'bench'?", self.told(2, "bnech", DIGITS))
        self.assertIn("did you mean --threads?", self.told(2, "run", DIGITS, "--thread", "1"))
        self.assertIn("did you mean 'image'?", self.told(2, "run", DIGITS, "--shape", "imge=1x1x28x28"))

    def test_usage_errors(self):
        self.told(2)
        self.told(2, "run")
        self.told(2, "run", DIGITS, DIGITS)
        self.told(2, "run", DIGITS, "--runs", "many")
        self.told(2, "run", DIGITS, "--runs")
        self.told(2, "run", DIGITS, "--json=yes")
        self.told(2, "run", DIGITS, "--memory-limit", "12Q")
        self.told(2, "run", DIGITS, "--strict=everything")
        self.told(2, "run", DIGITS, "--shape", "image=1x1x28x")
        self.told(2, "run", DIGITS, "--picture", self.here / "none.png")
        self.told(2, "run", DIGITS, "--inputs", self.here)
        self.told(2, "doctor", DIGITS)
        self.told(2, "doctor", "--threads", "2")
        self.assertNotIn("--threads", self.good("doctor", "--help"))

    def test_what_a_verb_does_not_take_is_a_usage_error(self):
        self.assertIn("takes no --threads", self.told(2, "doctor", "--threads", "2"))
        self.assertIn("--no-optimise", self.told(2, "convert", DIGITS, "-o", self.here / "x.tenon", "--no-optimise"))
        self.assertIn("folder", self.told(2, "convert", DIGITS, "-o", self.here))
        self.told(1, "convert", DIGITS, "-o", self.here / "absent" / "x.tenon")

    def test_man_page_and_completions_know_every_option(self):
        man = (ROOT / "tools" / "man" / "tenon.1").read_text().replace("\\-", "-")
        for verb in ("run", "info", "bench", "explain", "compare", "profile", "doctor", "tune", "cache"):
            for option in re.findall(r"^  (?:-h, )?(--[a-z-]+)", self.good(verb, "--help"), re.M):
                self.assertIn(option, man, f"{verb} {option} is not in the man page")
            self.assertIn(verb, (ROOT / "tools" / "completions" / "tenon.bash").read_text())
            self.assertIn(verb, (ROOT / "tools" / "completions" / "_tenon").read_text())


class Failures(Command):
    def test_bad_models(self):
        self.told(3, "run", self.here / "none.onnx")
        self.told(3, "run", self.write("junk.onnx", b"not a model at all" * 10))
        self.told(3, "info", self.write("empty.onnx", b""))
        whole = Path(DIGITS).read_bytes()
        self.assertIn(tenon("run", self.write("cut.onnx", whole[: len(whole) // 2])).returncode, (3, 4))

    def test_unsupported_lists_everything(self):
        bad = tiny.model([tiny.node("NoSuchOp", ["x"], ["y"], "first"), tiny.node("NorThis", ["y"], ["z"], "second")],
                         [("x", tiny.FLOAT, [2])], [("z", tiny.FLOAT, [2])])
        said = self.told(4, "info", self.write("bad.onnx", bad))
        for word in ("NoSuchOp", "NorThis", "first", "second"):
            self.assertIn(word, said)

    def test_json_errors(self):
        document = json.loads(self.good("run", self.here / "none.onnx", "--json", code=3))
        self.assertEqual(document["error"]["exit"], 3)
        self.assertIn("none.onnx", document["error"]["place"])

    def test_strict_names_what(self):
        self.told(0, "run", DIGITS, "--strict")
        self.assertIn("not ''", self.told(2, "run", DIGITS, "--strict="))

    def test_power_hints(self):
        self.assertIn("gpu-priority is not supported here", self.told(0, "run", DIGITS, "--power", "gpu-priority=low,dsp-level=3"))
        self.assertEqual("", self.told(0, "run", DIGITS, "--quiet", "--power", "gpu-priority=low,dsp-dcvs=off,dsp-latency=100"))
        self.assertIn("one of: low normal high", self.told(2, "run", DIGITS, "--power", "gpu-performance=warp"))
        self.assertIn("not 'warp'", self.told(2, "run", DIGITS, "--power", "gpu-performance=warp"))
        self.assertIn("--power takes", self.told(2, "run", DIGITS, "--power", "turbo=on"))
        self.told(2, "run", DIGITS, "--power", "dsp-level=6")

    def test_device_and_limits(self):
        self.told(5, "run", DIGITS, "--device", "abacus")
        self.told(6, "run", DIGITS, "--memory-limit", "1")


class Running(Command):
    def test_picture_and_top(self):
        document = json.loads(self.good("run", DIGITS, "--picture", SEVEN, "--top", 3, "--json"))
        top = document["outputs"][0]["top"]
        self.assertEqual(top[0]["index"], 7)
        self.assertEqual(len(top), 3)
        labels = self.write("labels.txt", b"\n".join(b"digit %d" % d for d in range(10)))
        self.assertIn("digit 7", self.good("run", DIGITS, "--picture", SEVEN, "--labels", labels))

    def test_same_bytes_each_time_and_for_any_thread_count(self):
        seen = set()
        for threads in (1, 1, 2, 3):
            path = self.here / f"out{threads}.bin"
            self.good("run", DIGITS, "--threads", threads, "--outputs", path)
            seen.add(path.read_bytes())
        self.assertEqual(len(seen), 1)
        self.assertEqual(len(seen.pop()), 40)

    def test_inputs_of_each_kind(self):
        values = [((i * 37) % 101) / 101 for i in range(784)]
        kinds = {"npy": tiny.npy(tiny.FLOAT, [1, 1, 28, 28], values), "pb": tiny.tensor(tiny.FLOAT, [1, 1, 28, 28], values),
                 "bin": struct.pack("<784f", *values)}
        seen = set()
        for kind, data in kinds.items():
            folder = self.here / kind
            folder.mkdir()
            (folder / f"image.{kind}").write_bytes(data)
            out = self.here / "out.bin"
            self.good("run", DIGITS, "--inputs", folder, "--outputs", out)
            seen.add(out.read_bytes())
        self.assertEqual(len(seen), 1)
        for kind, data in kinds.items():
            (self.here / kind / f"image.{kind}").write_bytes(data[: len(data) // 2])
            self.assertEqual(tenon("run", DIGITS, "--inputs", self.here / kind).returncode, 2, kind)

    def test_text_in_and_out(self):
        model = self.write("text.onnx", tiny.model([tiny.node("Identity", ["x"], ["y"])], [("x", 8, ["n", 2])], [("y", 8, ["n", 2])]))
        feeds = self.here / "text"
        feeds.mkdir()
        lines = ["one", "zw\u00f6lf", "", "a b\tc"]
        (feeds / "x.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        text = self.good("run", model, "--inputs", feeds, "--npy", self.here / "out")
        self.assertIn("zw\u00f6lf", text)
        self.assertEqual((self.here / "out" / "y.txt").read_text(encoding="utf-8").split("\n")[:-1], lines)
        for verb in ("run", "info", "bench", "explain", "profile", "convert"):       # without values there are some, as for numbers
            self.good(verb, model, *(["-o", self.here / "text.tenon"] if verb == "convert" else []))
        self.assertEqual(self.good("run", model, "--no-progress").split("\n")[:2], self.good("run", model, "--no-progress").split("\n")[:2])
        (feeds / "x.txt").write_text("one\ntwo\nthree\n")
        self.assertIn("3 lines", self.told(2, "run", model, "--inputs", feeds))

    def test_sequences_in_and_out(self):
        nodes = [tiny.node("Identity", ["s"], ["t"]), tiny.node("ConcatFromSequence", ["s"], ["y"], axis=0)]
        model = self.write("seq.onnx", tiny.model(nodes, [("s", tiny.FLOAT)], [("t", tiny.FLOAT), ("y", tiny.FLOAT, ["n"])], opset=14))
        folder = self.here / "feeds" / "s"
        folder.mkdir(parents=True)
        for i in range(3):
            (folder / f"{i}.npy").write_bytes(tiny.npy(tiny.FLOAT, [i + 1], [10.0 * i + k for k in range(i + 1)]))
        text = self.good("run", model, "--inputs", self.here / "feeds", "--npy", self.here / "out")
        for word in ("sequence of 3", "t[2]", "float32 6"):
            self.assertIn(word, text)
        first = json.loads(self.good("run", model, "--inputs", self.here / "feeds", "--json"))["outputs"]
        self.assertEqual([o["name"] for o in first], ["t", "t[0]", "t[1]", "t[2]", "y"])
        shutil.copytree(self.here / "out" / "t", self.here / "again" / "s")      # what came out can be fed
        self.assertEqual(json.loads(self.good("run", model, "--inputs", self.here / "again", "--json"))["outputs"], first)
        self.assertIn("is a sequence", self.told(2, "run", model))
        self.assertIn("there is no folder s", self.told(2, "run", model, "--inputs", self.here))

    def test_files_are_tried_before_the_run(self):
        self.told(1, "run", DIGITS, "--outputs", "/nowhere/at/all/out.bin")
        self.told(2, "run", DIGITS, "--outputs", self.here)
        self.told(1, "run", DIGITS, "--npy", "/nowhere/at/all")
        self.told(1, "profile", DIGITS, "--html", "/nowhere/page.html")
        self.told(2, "run", DIGITS, "--runs", 0)
        self.told(2, "bench", DIGITS, "--runs", 0)

    def test_outputs_in_files(self):
        self.good("run", DIGITS, "--npy", self.here, "--outputs", self.here / "raw.bin")
        raw = (self.here / "raw.bin").read_bytes()
        stored = (self.here / "digit.npy").read_bytes()
        self.assertEqual(stored[-40:], raw)
        self.assertIn(b"'shape': (1, 10)", stored[:128])
        self.assertEqual(sorted(os.listdir(self.here)), ["digit.npy", "raw.bin"])
        self.good("run", DIGITS, "--outputs", "/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        self.told(1, "run", DIGITS, "--outputs", self.here / "no" / "folder")

    def test_open_dims_are_stated(self):
        self.assertIn("batch = 1", self.good("run", DIGITS))
        document = json.loads(self.good("run", DIGITS, "--shape", "image=3x1x28x28", "--json"))
        self.assertEqual(document["inputs"][0]["assumed_dims"], [])
        self.assertEqual(document["outputs"][0]["shape"], [3, 10])

    def test_smallest_shape_is_found(self):
        # A 5x5 window without padding: 1x1 pictures are refused, 5x5 is the least.
        weights = tiny.tensor(tiny.FLOAT, [1, 1, 5, 5], [1.0] * 25, "w")
        data = tiny.model([tiny.node("Conv", ["x", "w"], ["y"], kernel_shape=[5, 5])], [("x", tiny.FLOAT, ["n", 1, "h", "w_"])],
                          [("y", tiny.FLOAT, ["n", 1, "oh", "ow"])], [weights])
        document = json.loads(self.good("run", self.write("conv.onnx", data), "--json"))
        self.assertEqual(document["inputs"][0]["shape"], [1, 1, 5, 5])
        self.assertEqual(document["inputs"][0]["assumed_dims"], [0, 2, 3])

    def test_contents_that_decide_shapes(self):
        # None of these runs with the zeros and ones that other inputs are given.
        x = ("x", tiny.FLOAT, [3, 4])
        for name, op, extra, shape in (
                ("expand", "Expand", [("s", tiny.INT64, [2])], [3, 4]), ("reshape", "Reshape", [("s", tiny.INT64, [2])], [1, 12]),
                ("scales", "Resize", [None, ("s", tiny.FLOAT, [2])], [3, 4]), ("sizes", "Resize", [None, None, ("s", tiny.INT64, [2])], [1, 1]),
                ("open", "Expand", [("s", tiny.INT64, ["n"])], [3, 4]), ("axes", "Unsqueeze", [("s", tiny.INT64, [2])], [3, 1, 4, 1]),
                ("repeats", "Tile", [("s", tiny.INT64, [2])], [3, 4])):
            data = tiny.model([tiny.node(op, ["x"] + [v[0] if v else "" for v in extra], ["y"])], [x] + [v for v in extra if v],
                              [("y", tiny.FLOAT, [f"d{i}" for i in range(len(shape))])])
            document = json.loads(self.good("run", self.write(f"{name}.onnx", data), "--json"))
            self.assertEqual(document["outputs"][0]["shape"], shape, name)
            self.assertEqual([i["source"] for i in document["inputs"]], ["random", "chosen"], name)
            self.good("convert", self.here / f"{name}.onnx", "-o", self.here / f"{name}.tenon")
        # Two together: ones for the first, a shape with a rest for the second.
        data = tiny.model([tiny.node("Tile", ["x", "s"], ["e"]), tiny.node("Reshape", ["e", "t"], ["y"])],
                          [x, ("s", tiny.INT64, [2]), ("t", tiny.INT64, [3])], [("y", tiny.FLOAT, ["a", "b", "c"])])
        document = json.loads(self.good("run", self.write("two.onnx", data), "--json"))
        self.assertEqual(document["outputs"][0]["shape"], [1, 1, 12])
        # The search plans many times; a warning is told once.
        data = tiny.model([tiny.node("Resize", ["x", "", "s"], ["y"])], [("x", tiny.FLOAT, ["n", "c", "h", "w"]), ("s", tiny.FLOAT, ["k"])],
                          [("y", tiny.FLOAT, ["a", "b", "d", "e"])])
        told = tenon("run", self.write("warned.onnx", data)).stderr.decode().splitlines()
        self.assertEqual(len(told), len(set(told)))
        # What no simple contents satisfy is refused as before.
        data = tiny.model([tiny.node("Split", ["w", "s"], ["y", "z"])], [("w", tiny.FLOAT, [9]), ("s", tiny.INT64, [2])],
                          [("y", tiny.FLOAT, ["a"]), ("z", tiny.FLOAT, ["b"])])
        self.assertIn("split", self.told(3, "run", self.write("split.onnx", data)))

    def test_long_chain(self):
        # Thousands of clamps become one; the work must not grow with the square of their number.
        count = 20000
        nodes = [tiny.node("Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(count)]
        data = tiny.model(nodes, [("x0", tiny.FLOAT, [4])], [(f"x{count}", tiny.FLOAT, [4])])
        document = json.loads(self.good("info", self.write("chain.onnx", data), "--json"))
        self.assertEqual((document["nodes"], document["optimised_nodes"]), (count, 1))

    def test_long_chain_that_stays(self):
        # Every second node works in place: slots merge along the whole chain.
        count = 10000
        nodes = [tiny.node("Sin" if i % 2 else "Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(count)]
        data = tiny.model(nodes, [("x0", tiny.FLOAT, [4])], [(f"x{count}", tiny.FLOAT, [4])])
        document = json.loads(self.good("info", self.write("sines.onnx", data), "--json"))
        self.assertEqual(document["nodes"], count)
        self.assertLessEqual(document["memory"]["arena_bytes"], 128)

    def test_too_large_result_names_its_node(self):
        nodes = [tiny.node("Expand", ["x", "s"], ["big"], name="the_node"), tiny.node("Sin", ["big"], ["y"])]
        data = tiny.model(nodes, [("x", tiny.FLOAT, [1])], [("y", tiny.FLOAT, ["n"])], [tiny.tensor(tiny.INT64, [1], [1 << 40], "s")])
        said = self.told(6, "info", self.write("big.onnx", data))
        self.assertIn("the_node", said)
        self.assertIn("limit_tensor_bytes", said)

    def test_inputs_with_a_value_are_told_apart(self):
        model = self.write("init.onnx", tiny.model([tiny.node("Add", ["x", "w"], ["y"])], [("x", tiny.FLOAT, [2]), ("w", tiny.FLOAT, [2])],
                                                   [("y", tiny.FLOAT, [2])], [tiny.tensor(tiny.FLOAT, [2], [1, 2], "w")]))
        told = json.loads(self.good("info", model, "--json"))
        self.assertEqual(([v["name"] for v in told["inputs"]], told["initialised_inputs"]), (["x"], ["w"]))
        self.assertIn("with a value in the model: w\n", self.good("info", model))

    def test_list_of_operators(self):
        lines = self.good("info", "--ops").splitlines()
        self.assertTrue(any(line.split()[:2] == ["Abs", "1+"] for line in lines))
        self.assertTrue(any(line.split()[:2] == ["Scan", "8-8"] for line in lines))

    def test_outputs_that_would_share_a_file(self):
        data = tiny.model([tiny.node("Relu", ["x"], ["a/b"]), tiny.node("Neg", ["x"], ["a_b"])], [("x", tiny.FLOAT, [4])],
                          [("a/b", tiny.FLOAT, [4]), ("a_b", tiny.FLOAT, [4])])
        path = self.write("two.onnx", data)
        self.assertIn("a_b.npy", self.told(2, "run", path, "--npy", self.here / "out"))
        self.good("run", path, "--npy", self.here / "out", "--output", "a/b")

    def test_outputs_in_every_verb(self):
        for verb in ("run", "bench", "explain", "info"):
            path = self.here / f"{verb}.bin"
            self.good(verb, DIGITS, "--outputs", path, "--runs", 1)
            self.assertEqual(path.read_bytes(), (self.here / "run.bin").read_bytes())

    def test_dims_have_the_model_s_names(self):
        self.assertIn("the model's [batch,1,28,28]", self.told(2, "run", DIGITS, "--shape", "image=1x1x20x20"))
        self.assertIn("float32[batch,1,28,28]", self.good("info", DIGITS, "--graph"))
        self.assertIn("batch x 1 x 28 x 28", self.good("info", DIGITS))
        data = tiny.model([tiny.node("Add", ["x", "z"], ["y"], name="sum")], [("x", tiny.FLOAT, ["seq_len", 3]), ("z", tiny.FLOAT, ["n", 4])],
                          [("y", tiny.FLOAT, ["seq_len", 3])])
        self.assertIn("[n,4] cannot be broadcast with [seq_len,3]", self.told(3, "info", self.write("sum.onnx", data)))

    def test_shapes_are_refused_before_values_are_made(self):
        self.assertIn("does not fit", self.told(2, "info", DIGITS, "--shape", "image=1x1x20000x20000"))
        self.assertIn("limit", self.told(6, "info", DIGITS, "--shape", "image=1000000x1x28x28"))

    def test_names_that_are_no_utf8(self):
        data = tiny.model([tiny.node("Relu", [b"x\xff"], [b"y\xc0\xaf"], b"n\xed\xa0\x80")], [(b"x\xff", tiny.FLOAT, [4])],
                          [(b"y\xc0\xaf", tiny.FLOAT, [4])])
        path = self.write("names.onnx", data)
        for verb in ("run", "info", "explain", "bench", "compare"):
            document = json.loads(self.good(verb, path, "--json", "--runs", 1))
            self.assertEqual(document["verb"], verb)

    def test_dims_that_must_be_equal_are_lowered_together(self):
        weights = tiny.tensor(tiny.FLOAT, [1, 1, 1, 5], [1.0] * 5, "w")
        data = tiny.model([tiny.node("Conv", ["x", "w"], ["c"]), tiny.node("Concat", ["c", "z"], ["y"], axis=0)],
                          [("x", tiny.FLOAT, ["n", 1, "h", 9]), ("z", tiny.FLOAT, ["m", 1, "k", 5])], [("y", tiny.FLOAT, ["q", 1, "h", 5])], [weights])
        document = json.loads(self.good("run", self.write("pair.onnx", data), "--json"))
        self.assertEqual([i["shape"] for i in document["inputs"]], [[1, 1, 1, 9], [1, 1, 1, 5]])

    def test_tensor_inside_the_model(self):
        document = json.loads(self.good("run", DIGITS, "--output", "pool1", "--json"))
        self.assertEqual([o["shape"] for o in document["outputs"]], [[1, 8, 12, 12]])

    def test_model_from_standard_input(self):
        with open(DIGITS, "rb") as stream:
            self.good("run", "-", stdin=stream)

    def test_interrupt(self):
        child = subprocess.Popen([TOOL, "bench", DIGITS, "--runs", str(10 ** 15), "--outputs", str(self.here / "out.bin")],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.7)
        child.send_signal(signal.SIGINT)
        begin = time.time()
        child.communicate(timeout=20)
        self.assertEqual(child.returncode, 130)
        self.assertLess(time.time() - begin, 1.5)
        self.assertEqual(os.listdir(self.here), [])


class Reports(Command):
    def test_info(self):
        document = json.loads(self.good("info", DIGITS, "--memory", "--json"))
        memory = document["memory"]
        for key in ("arena_bytes", "lower_bound_bytes", "peak_bytes", "exact", "blocks"):
            self.assertIn(key, memory)
        self.assertGreaterEqual(memory["arena_bytes"], memory["lower_bound_bytes"])
        self.assertGreaterEqual(memory["peak_bytes"], memory["arena_bytes"])
        self.assertEqual(document["operators"]["conv"], 2)
        self.assertEqual(document["parameters"], 200 + 8 + 3200 + 16 + 2560 + 10)
        self.assertIn("parameters", self.good("info", DIGITS))
        self.assertIn("memory", self.good("info", DIGITS, "--brief"))

    def test_blocks_do_not_share_bytes_while_alive(self):
        blocks = json.loads(self.good("info", DIGITS, "--memory", "--json"))["memory"]["blocks"]
        for i, a in enumerate(blocks):
            for b in blocks[:i]:
                if a["alias_of"] or b["alias_of"] or a["last"] < b["first"] or b["last"] < a["first"]:
                    continue
                apart = a["offset"] + a["bytes"] <= b["offset"] or b["offset"] + b["bytes"] <= a["offset"]
                self.assertTrue(apart, f"{a} and {b}")

    def test_explain(self):
        document = json.loads(self.good("explain", DIGITS, "--json"))
        nodes = document["plan"]["nodes"]
        self.assertTrue(nodes)
        for node in nodes:
            for key in ("name", "op", "kernel", "device", "layout_in", "layout_out", "lease", "lost", "macs"):
                self.assertIn(key, node)
        placed = document["placement"]
        self.assertEqual(sum(d["nodes"] for d in placed.values()), len(nodes))
        self.assertIn("Placement", self.good("explain", DIGITS, "--brief"))

    def test_bench(self):
        text = self.good("bench", DIGITS, "--runs", 20, "--threads", 1)
        last = text.rstrip().splitlines()[-1]
        self.assertRegex(last, r"^median_ms=\S+ min_ms=\S+ load_ms=\S+ first_ms=\S+$")
        values = {k: float(v) for k, v in (w.split("=") for w in last.split())}
        self.assertLessEqual(values["min_ms"], values["median_ms"])
        document = json.loads(self.good("bench", DIGITS, "--runs", 20, "--json"))
        self.assertEqual(document["runs"], 20)
        self.assertTrue(document["operators"])

    def test_compare(self):
        self.assertIn("all agree", self.good("compare", DIGITS))
        self.good("compare", DIGITS, "--a", "threads=1", "--b", "threads=2", "--rtol", 0, "--atol", 0)
        result = tenon("compare", DIGITS, "--a", "isa=portable", "--b", "optimise=on", "--rtol", 0, "--atol", 0, "--json")
        self.assertIn(result.returncode, (0, 1))
        document = json.loads(result.stdout)
        self.assertEqual(document["agrees"], result.returncode == 0)
        self.assertEqual(document["first_wrong"] is None, document["agrees"])
        # What passes made has a number for a name, another one in each configuration: it is not paired.
        rows = json.loads(self.good("compare", DIGITS, "--a", "optimise=off", "--b", "optimise=on", "--json"))["tensors"]
        self.assertFalse([row["tensor"] for row in rows if row["tensor"].startswith("%")])
        self.told(2, "compare", DIGITS, "--a", "speed=high")
        self.told(2, "compare", DIGITS, "--a", "isa")

    def test_int8(self):
        for i in range(2):
            folder = self.here / f"set{i}"
            folder.mkdir()
            (folder / "image.npy").write_bytes(tiny.npy(tiny.FLOAT, [1, 1, 28, 28], [(k * (i + 3)) % 17 / 16 for k in range(784)]))
        text = self.good("explain", DIGITS, "--precision", "int8", "--calibrate", self.here, "--quiet")
        self.assertIn("qlinear_conv", text)
        self.assertIn("sample", self.told(2, "run", DIGITS, "--precision", "int8"))
        sides = ["--a", "precision=fp32", "--b", "precision=int8", "--calibrate", self.here, "--quiet"]
        self.assertIn("all agree", self.good("compare", DIGITS, *sides, "--rtol", 0.2, "--atol", 1))
        self.assertIn("sample", self.told(2, "compare", DIGITS, "--calibrate", self.here))
        self.assertIn("image.npy", self.told(2, "run", DIGITS, "--precision", "int8", "--calibrate", ROOT / "examples" / "digits"))

    def test_doctor(self):
        devices = json.loads(self.good("doctor", "--json"))["devices"]
        self.assertEqual([d["name"] for d in devices if d["name"] == "cpu" and d["present"]], ["cpu"])

    def test_a_run_past_its_deadline_fails(self):
        chain = [tiny.node("MatMul", [f"x{i}", f"x{i}"], [f"x{i + 1}"]) for i in range(40)]
        model = self.write("long.onnx", tiny.model(chain, [("x0", tiny.FLOAT, [600, 600])], [("x40", tiny.FLOAT, [600, 600])]))
        self.assertIn("deadline", self.told(1, "run", model, "--deadline", 1, "--threads", 1).lower())
        self.good("run", model, "--deadline", 600000, "--threads", 1)

    def test_a_model_without_floats_is_in_integers_already(self):
        for dtype, code in ((2, 0), (tiny.FLOAT, 2)):
            model = self.write("x.onnx", tiny.model([tiny.node("Transpose", ["x"], ["y"])], [("x", dtype, [2, 3])], [("y", dtype, [3, 2])]))
            result = tenon("run", model, "--precision", "int8")
            self.assertEqual(result.returncode, code, result.stderr.decode())

    def test_a_driver_that_ends_the_process_is_told(self):
        # PoCL without a linker in PATH and with nothing in its cache aborts; others pass or are absent.
        bare = {"PATH": str(self.here), "POCL_CACHE_DIR": str(self.here / "empty")}
        result = tenon("doctor", "--json", env=bare)
        self.assertIn(result.returncode, (0, 3))
        devices = {d["name"]: d for d in json.loads(result.stdout)["devices"]}
        self.assertEqual(devices["cpu"]["test"], "passed")
        if devices.get("opencl", {}).get("test") == "failed":
            self.assertIn("ended the process", devices["opencl"]["test_said"])
            self.assertEqual(result.returncode, 3)

    def test_cache_and_tune(self):
        self.told(2, "cache", "ls")
        self.told(2, "cache", "--cache", self.here)
        self.assertIn("ls, verify or prune", self.told(2, "cache", "sweep", "--cache", self.here))
        self.told(2, "tune", DIGITS)
        tuned = json.loads(self.good("tune", DIGITS, "--threads", "1", "--cache", self.here, "--seconds", "1", "--json"))
        self.assertTrue(all(0 < layer["after_us"] <= layer["before_us"] for layer in tuned["layers"]) and tuned["layers"])
        listed = json.loads(self.good("cache", "ls", "--cache", self.here, "--json"))["folder"]
        self.assertEqual([(file["kind"], file["whole"]) for file in listed["files"]], [("rows", True)])
        nodes = json.loads(self.good("explain", DIGITS, "--threads", "1", "--cache", self.here, "--json"))
        self.assertIn("tuned", json.dumps(nodes))
        # Measured with other kernels: told, and not used.
        table = next(self.here.glob("*.rows"))
        kept = table.read_text()
        table.write_text(kept + "conv 00000000000003e8 00000000 plain plain conv_reference 0 all 1x2,3\n")
        self.assertIn("are of other kernels", self.told(0, "run", DIGITS, "--threads", "1", "--cache", self.here))
        table.write_text(kept)
        self.assertNotIn("are of other kernels", self.told(0, "run", DIGITS, "--threads", "1", "--cache", self.here))
        devices = json.loads(self.good("doctor", "--json"))["devices"]
        if not any(d["name"] == "opencl" and d["present"] for d in devices):
            return
        tuned = json.loads(self.good("tune", DIGITS, "--device", "opencl", "--cache", self.here, "--seconds", "1", "--json"))
        self.assertTrue(all(0 < layer["after_us"] <= layer["before_us"] for layer in tuned["layers"]) and tuned["layers"])
        listed = json.loads(self.good("cache", "ls", "--cache", self.here, "--json"))["folder"]
        self.assertEqual({file["kind"] for file in listed["files"]}, {"program", "rows", "tiles"})
        self.good("cache", "verify", "--cache", self.here)
        for file in self.here.iterdir():
            file.write_bytes(file.read_bytes()[:-1])
        self.assertIn("broken", self.good("cache", "verify", "--cache", self.here, code=1))
        if os.geteuid() != 0:                         # root may remove files of any folder
            self.here.chmod(0o500)
            self.assertIn("cannot be removed", self.told(1, "cache", "prune", "--cache", self.here))
            self.here.chmod(0o700)
        self.assertIn("files=0", self.good("cache", "prune", "--cache", self.here))
        # A cache folder that cannot be made: one warning, and the run works.
        bad = self.write("flat", b"") / "below"
        for device in ("opencl", "hexagon"):
            if any(d["name"] == device and d["present"] for d in devices):
                self.assertEqual(self.told(0, "run", DIGITS, "--device", device, "--cache", bad).count("cannot be made or written"), 1)
        self.told(2, "cache", "ls", "--cache", bad)
        self.good("compare", DIGITS, "--a", "device=opencl,store=image", "--b", "device=opencl,store=buffer")

    def test_a_cache_folder_that_cannot_be_written_is_told_before_the_search(self):
        file = self.write("file", b"")
        for bad in (file, file / "below", self.here / "absent" / "below"):
            begin = time.monotonic()
            self.assertIn(str(bad), self.told(1, "tune", DIGITS, "--cache", bad, "--seconds", "60", "--threads", "1"))
            self.assertLess(time.monotonic() - begin, 30)
        self.told(2, "tune", DIGITS, "--cache", "")
        self.good("tune", DIGITS, "--cache", self.here / "new", "--seconds", "1", "--threads", "1")     # it is made
        self.assertEqual(len(list((self.here / "new").iterdir())), 1)

    def test_names_of_files_and_keys_cannot_steer_the_terminal(self):
        model = self.write("di\x1b[31mgits.onnx", Path(DIGITS).read_bytes())
        key = self.write("key", b"0123456789abcdef" * 4)
        out, closed = self.here / "o\x1b[32mut.tenon", self.here / "closed.tenon"
        texts = [self.good("convert", model, "-o", out, "--split-weights", "--target", "none"), self.good("info", out)]
        for verb in ("info", "explain", "profile", "bench", "run", "compare"):
            texts.append(self.good(verb, model, *(["--runs", 1] if verb not in ("info", "compare") else [])))
        made = tenon("convert", model, "-o", closed, "--encrypt", key, "--key-name", "k\x1b[33m", "--target", "none")
        if made.returncode == 0:      # there is a libcrypto
            texts += [self.good("info", closed), self.good("info", closed, "--key-file", key), self.told(2, "run", closed)]
        for text in texts:
            self.assertNotIn("\x1b", text)

    def test_colour(self):
        self.assertNotIn("\033", self.good("info", DIGITS))
        self.assertIn("\033", self.good("info", DIGITS, "--color", "always"))
        self.told(2, "info", DIGITS, "--color", "blue")


if __name__ == "__main__":
    unittest.main()
