#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tenon convert from outside: the same results, flatc reads and writes the graph, processes share pages, failed writes leave nothing.

Needs only the standard library; flatc and /proc where they are. TENON_TOOL names the command.
"""
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_cli
import tiny_onnx as tiny
from test_cli import DIGITS, ROOT, TOOL, tenon

SCHEMA = ROOT / "src" / "import" / "tenon" / "model.fbs"
SIDE = 512      # of the matrix that processes share: 1 MiB


class Convert(test_cli.Command):
    def convert(self, model, name, *options):
        out = self.here / name
        self.good("convert", model, "-o", out, *options)
        return out

    def results(self, model, *options):
        out = self.here / "results.bin"
        self.good("run", model, "--outputs", out, *options)
        return out.read_bytes()

    def matrix_model(self):
        weights = tiny.tensor(tiny.FLOAT, [SIDE, SIDE], [((i * 7919) % 1009) / 1009 - 0.5 for i in range(SIDE * SIDE)], "w")
        return self.write("matrix.onnx", tiny.model(
            [tiny.node("MatMul", ["x", "w"], ["p"]), tiny.node("Relu", ["p"], ["y"])],
            [("x", tiny.FLOAT, [4, SIDE])], [("y", tiny.FLOAT, [4, SIDE])], [weights]))

    def test_results_and_info(self):
        out = self.convert(DIGITS, "digits.tenon")
        self.assertEqual(self.results(DIGITS), self.results(out))
        info = json.loads(self.good("info", out, "--json"))
        self.assertEqual(info["format"], "tenon")
        self.assertEqual(info["file"]["version"], "1.0")
        self.assertGreater(info["file"]["pack_bytes"], 0)
        self.assertEqual(info["copied_bytes"], 0)
        text = self.good("info", out)
        self.assertIn(info["file"]["graph_sha256"], text)
        self.assertIn("packed weights", text)
        self.good("run", out, "--sha256", info["file"]["graph_sha256"])
        self.assertIn("pinned", self.told(3, "run", out, "--sha256", "0" * 64))
        self.assertIn("-o", self.told(2, "convert", DIGITS))
        self.assertIn("mmx", self.told(2, "convert", DIGITS, "-o", out, "--target", "mmx"))

    def test_bodies_and_symbols(self):
        # The branch sees a value whose dims are symbols of the graph around it.
        def branch(op):
            body = tiny.field(1, tiny.node(op, ["x"], ["b"])) + tiny.field(2, "branch") + tiny.field(12, tiny.value_info("b", tiny.FLOAT, ["n", "m"]))
            return tiny.field(6, body) + tiny.field(20, 5)

        choose = tiny.field(1, "c") + tiny.field(2, "y") + tiny.field(3, "choose") + tiny.field(4, "If")
        for name, op in (("then_branch", "Relu"), ("else_branch", "Neg")):
            choose += tiny.field(5, tiny.field(1, name) + branch(op))
        data = tiny.model([choose], [("c", 9, []), ("x", tiny.FLOAT, ["n", "m"])], [("y", tiny.FLOAT, ["n", "m"])])
        model = self.write("if.onnx", data)
        out = self.convert(model, "if.tenon", "--target", "none")
        self.assertEqual(self.results(model, "--shape", "x=3x5"), self.results(out, "--shape", "x=3x5"))

    def test_json(self):
        document = json.loads(self.good("convert", DIGITS, "-o", self.here / "j.tenon", "--target", "none", "--json"))
        self.assertEqual(document["file"]["targets"], [])
        self.assertEqual(document["bytes"], (self.here / "j.tenon").stat().st_size)

    def test_encrypted(self):
        key = self.write("key", b"0123456789abcdef" * 4)
        wrong = self.write("wrong", bytes(32))
        result = tenon("convert", DIGITS, "-o", self.here / "e.tenon", "--encrypt", key, "--key-name", "k1")
        if result.returncode == 4:
            self.skipTest("no libcrypto")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertEqual(self.results(DIGITS), self.results(self.here / "e.tenon", "--key-file", key))
        self.assertIn("encrypted", self.told(2, "run", self.here / "e.tenon"))
        self.assertIn("key is wrong", self.told(3, "run", self.here / "e.tenon", "--key-file", wrong))
        self.assertIn("key file", self.told(2, "run", self.here / "e.tenon", "--key-file", DIGITS))

    def test_encrypted_is_described_without_its_key(self):
        key = self.write("key", b"0123456789abcdef" * 4)
        out = self.here / "e.tenon"
        result = tenon("convert", DIGITS, "-o", out, "--encrypt", key, "--key-name", "k1", "--target", "none")
        if result.returncode == 4:
            self.skipTest("no libcrypto")
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        text = self.good("info", out)
        for word in ("image", "batch", "key 'k1'", "graph_sha256", "conv:", "--key-file"):
            self.assertIn(word, text)
        told = json.loads(self.good("info", out, "--json"))
        with_key = json.loads(self.good("info", out, "--json", "--key-file", key))
        for field in ("inputs", "outputs", "operators", "parameters", "file"):
            self.assertEqual(told[field], with_key[field])
        self.assertNotIn("memory", told)
        with open(out, "rb") as stream:
            self.assertIn("k1", self.good("info", "-", stdin=stream))
        self.assertIn("--key-file", self.told(2, "info", out, "--memory"))
        self.assertIn("encrypted", self.told(2, "explain", out))
        self.assertIn("with the key", self.told(2, "convert", DIGITS, "-o", key, "--encrypt", key))
        self.assertEqual(key.read_bytes(), b"0123456789abcdef" * 4)

    def test_what_the_model_is_read_from_is_not_replaced(self):
        model = self.write("digits.onnx", Path(DIGITS).read_bytes())
        os.link(model, self.here / "linked.tenon")
        os.symlink(model, self.here / "soft.tenon")
        for name in ("digits.onnx", "linked.tenon", "soft.tenon", "./digits.onnx"):
            self.assertIn("read from this file", self.told(2, "convert", model, "-o", self.here / name))
        self.assertEqual(model.read_bytes(), Path(DIGITS).read_bytes())
        # The weights of a pair: as one file again they may take the graph's place only under another name.
        pair = self.convert(model, "pair.tenon", "--split-weights", "--target", "none")
        before = self.results(pair)
        for options in (["-o", pair], ["-o", self.here / "pair.weights"], ["-o", self.here / "pair.onnx", "--split-weights"]):
            self.assertIn("read from this file", self.told(2, "convert", pair, *options))
        self.assertEqual(self.results(pair, "--verify"), before)
        self.assertFalse((self.here / "pair.onnx").exists())
        self.convert(model, "pair.tenon", "--split-weights", "--target", "none")     # another model's files are replaced as ever

    def test_failed_write(self):
        out = self.here / "full.tenon"
        out.write_bytes(b"old")
        small = subprocess.run([TOOL, "convert", DIGITS, "-o", str(out)], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                               preexec_fn=lambda: (resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)),
                                                   signal.signal(signal.SIGXFSZ, signal.SIG_IGN)), restore_signals=False)
        self.assertEqual(small.returncode, 1, small.stderr.decode())
        self.assertEqual(out.read_bytes(), b"old")
        self.assertEqual([p.name for p in self.here.iterdir()], ["full.tenon"])
        self.told(1, "convert", DIGITS, "-o", self.here / "no" / "folder.tenon")

    @unittest.skipUnless(shutil.which("flatc"), "flatc is not installed")
    def test_flatc_reads_and_writes(self):
        out = self.convert(DIGITS, "pair.tenon", "--split-weights")
        before = self.results(out)
        subprocess.run(["flatc", "--json", "--strict-json", "--raw-binary", "-o", str(self.here), str(SCHEMA), "--", str(out)], check=True)
        text = (self.here / "pair.json").read_text()
        tree = json.loads(text)
        self.assertEqual(tree["data_file"], "pair.weights")
        self.assertIn("conv", [o["name"] for o in tree["operators"]])
        self.assertEqual(len(tree["graph"]["nodes"]), json.loads(self.good("info", out, "--json"))["optimised_nodes"])
        out.unlink()
        subprocess.run(["flatc", "--binary", "-o", str(self.here), str(SCHEMA), str(self.here / "pair.json")], check=True)
        written = self.here / "pair.tenon"
        self.assertTrue(written.exists())
        self.assertEqual(self.results(written, "--verify"), before)
        # Two graphs that do not have the same border would be read past its end.
        for graph in ("imported", "graph"):
            other = json.loads(text)
            other[graph]["outputs"] *= 3
            (self.here / "pair.json").write_text(json.dumps(other))
            subprocess.run(["flatc", "--binary", "-o", str(self.here), str(SCHEMA), str(self.here / "pair.json")], check=True)
            self.assertIn("its graphs have", self.told(3, "info", written))
        # What flatc changes is changed: a node's name, and an operator that there is not.
        tree["graph"]["nodes"][0]["operator"] = 99
        (self.here / "pair.json").write_text(json.dumps(tree))
        subprocess.run(["flatc", "--binary", "-o", str(self.here), str(SCHEMA), str(self.here / "pair.json")], check=True)
        self.told(3, "run", written)

    def mapping(self, process, path):
        """Sizes of the process's mappings of the file in smaps, in KiB."""
        sums = {}
        inside = False
        for line in Path(f"/proc/{process.pid}/smaps").read_text().splitlines():
            if re.match(r"^[0-9a-f]+-[0-9a-f]+ ", line):
                inside = line.rstrip().endswith(str(path))
            elif inside and line.split()[1].isdigit():
                sums[line.split(":")[0]] = sums.get(line.split(":")[0], 0) + int(line.split()[1])
        return sums

    @unittest.skipUnless(os.path.exists("/proc/self/smaps"), "no smaps here")
    def test_processes_share_pages(self):
        out = self.convert(self.matrix_model(), "matrix.tenon", "--drop-imported").resolve()
        self.assertEqual(self.results(self.here / "matrix.onnx"), self.results(out))
        packed_kib = json.loads(self.good("info", out, "--json"))["file"]["pack_bytes"] // 1024
        self.assertGreaterEqual(packed_kib, SIDE * SIDE * 4 // 1024)
        command = [TOOL, "bench", str(out), "--runs", "1000000", "--threads", "1", "--no-progress"]
        processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(2)]
        try:
            sizes = []
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline:
                sizes = [self.mapping(p, out) for p in processes]
                if all(s.get("Shared_Clean", 0) >= packed_kib for s in sizes):
                    break
                time.sleep(0.1)
            for s in sizes:
                self.assertGreaterEqual(s["Shared_Clean"], packed_kib)       # the packed weights are there once for both
                self.assertEqual(s["Private_Dirty"] + s["Shared_Dirty"], 0)  # and nobody wrote to them
                self.assertLess(s["Pss"], s["Rss"] * 0.75)
        finally:
            for p in processes:
                p.kill()
                p.wait()

    @unittest.skipUnless(os.path.exists("/proc/self/smaps"), "no smaps here")
    def test_folded_weights_are_there_once(self):
        weights = tiny.tensor(tiny.FLOAT, [SIDE, SIDE], [0.5] * (SIDE * SIDE), "w")
        scale = tiny.tensor(tiny.FLOAT, [SIDE], [1.0 + i for i in range(SIDE)], "s")
        path = self.write("scaled.onnx", tiny.model(
            [tiny.node("MatMul", ["x", "w"], ["m"]), tiny.node("Mul", ["m", "s"], ["y"])],
            [("x", tiny.FLOAT, [1, SIDE])], [("y", tiny.FLOAT, [1, SIDE])], [weights, scale])).resolve()
        kib = SIDE * SIDE * 4 // 1024
        process = subprocess.Popen([TOOL, "bench", str(path), "--runs", "1000000", "--threads", "1", "--no-progress"], stdout=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 60
            copied, mapped = 0, kib
            while time.monotonic() < deadline and (copied < kib or mapped > kib // 2):
                time.sleep(0.1)
                status = Path(f"/proc/{process.pid}/status").read_text()
                copied = int(re.search(r"RssAnon:\s*(\d+)", status).group(1))
                mapped = self.mapping(process, path).get("Rss", kib) if copied >= kib else kib      # not mapped yet
            self.assertGreaterEqual(copied, kib)
            self.assertLess(mapped, kib // 2)     # the scaled copy takes the place of the file's pages
        finally:
            process.kill()
            process.wait()


if __name__ == "__main__":
    unittest.main()
