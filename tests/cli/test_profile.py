#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tenon profile and the pictures of tenon info: text, JSON, trace events, the page in a real browser, SVG.

Needs only the standard library; what needs a browser is skipped where no chromium is installed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tiny_onnx as tiny

ROOT = Path(__file__).resolve().parents[2]
TOOL = os.environ.get("TENON_TOOL", str(ROOT / "build" / "tenon"))
DIGITS = str(ROOT / "examples" / "digits" / "digits.onnx")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
HOSTILE = "</script><img src=x onerror=alert(1)>\x1b[31m\"&'"


def hostile_model():
    """Two matrix products with names that would break a page, a picture or a terminal."""
    weights = [tiny.tensor(tiny.FLOAT, [64, 64], [0.01] * 4096, "w")]
    nodes = [tiny.node("MatMul", ["x", "w"], [HOSTILE], HOSTILE), tiny.node("Erf", [HOSTILE], [HOSTILE + "2"], "erf"),
             tiny.node("MatMul", [HOSTILE + "2", "w"], ["y"], "last")]
    return tiny.model(nodes, [("x", tiny.FLOAT, [64, 64])], [("y", tiny.FLOAT, [64, 64])], weights)


class Pictures(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.here = Path(self.folder.name)
        self.hostile = self.here / "hostile.onnx"
        self.hostile.write_bytes(hostile_model())

    def good(self, *arguments, code=0):
        result = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, timeout=120)
        self.assertEqual(result.returncode, code, f"{arguments}: {result.stderr.decode()}{result.stdout.decode()[-2000:]}")
        return result.stdout.decode()

    def profile(self, *arguments):
        return json.loads(self.good("profile", *arguments, "--json"))

    def test_text(self):
        text = self.good("profile", DIGITS, "--runs", 3, "--threads", 2)
        for word in ("3 runs: median", "By operator", "Dearest nodes", "threads busy:", "GFLOP/s of multiply-adds", "conv"):
            self.assertIn(word, text)
        self.good("profile", DIGITS, "--runs", 0, code=2)

    def test_record_adds_up(self):
        document = self.profile(DIGITS, "--runs", 4, "--threads", 3, "--shape", "image=64x1x28x28")
        record = document["profile"]
        self.assertEqual((len(record["runs"]), record["threads"], record["dropped"]), (4, 3, 0))
        self.assertGreater(document["peak_gflops"], 0)
        self.assertGreater(document["copy_gbps"], 0)
        self.assertEqual(len(record["steps"]) % 4, 0)
        nodes = record["nodes"]
        self.assertEqual(len(record["steps"]) // 4, len(nodes))
        for node, run, begin, end in record["steps"]:
            self.assertLess(node, len(nodes))
            first, last, planning = record["runs"][run]
            self.assertTrue(first <= begin <= end <= last, (first, begin, end, last))
            self.assertEqual(planning, 0)
        for step, thread, begin, end, tiles in record["shares"]:
            _, _, first, last = record["steps"][step]
            self.assertTrue(first <= begin <= end <= last)
            self.assertLess(thread, 3)
            self.assertGreater(tiles, 0)
        self.assertTrue(record["shares"])          # on a busy machine they may all be of one thread
        convolutions = [n for n in nodes if n["op"] == "conv"]
        self.assertTrue(all(n["macs"] > 0 and n["read_bytes"] > 0 and n["constant_bytes"] > 0 for n in convolutions))

    def test_first_run_shows_planning(self):
        record = self.profile(DIGITS, "--runs", 2, "--warmup", 0, "--shape", "image=2x1x28x28")["profile"]
        self.assertEqual(record["runs"][1][2], 0)

    def test_trace(self):
        path = self.here / "trace.json"
        self.good("profile", DIGITS, "--runs", 2, "--threads", 2, "--trace", path)
        trace = json.loads(path.read_text())
        events = trace["traceEvents"]
        names = {e["args"]["name"] for e in events if e["ph"] == "M"}
        self.assertTrue({"steps", "thread 0", "thread 1"} <= names)
        spans = [e for e in events if e["ph"] == "X"]
        self.assertTrue(all(e["ts"] >= 0 and e["dur"] >= 0 and "pid" in e and "tid" in e for e in spans))
        self.assertEqual(sum(e["cat"] == "run" for e in spans), 2)
        self.assertTrue(any(e["cat"] == "conv" and e["args"]["macs"] > 0 for e in spans))

    def test_page_asks_for_nothing_and_holds_its_data(self):
        path = self.here / "page.html"
        self.good("profile", self.hostile, "--runs", 2, "--html", path)
        page = path.read_text()
        self.assertIsNone(re.search(r"(src|href)\s*=\s*[\"']?(https?:|//)", page))
        self.assertNotIn("</script><img", page)
        data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
        self.assertIn(HOSTILE, [n["name"] for n in json.loads(data)["profile"]["nodes"]])

    @unittest.skipUnless(BROWSER, "no chromium here")
    def test_page_in_a_browser(self):
        path = self.here / "page.html"
        self.good("profile", self.hostile, "--runs", 2, "--threads", 2, "--html", path)
        result = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.here / 'profile'}",
                                 "--virtual-time-budget=3000", "--dump-dom", path.as_uri()], capture_output=True, timeout=120)
        dom = result.stdout.decode()
        self.assertIn('data-ready="yes"', dom, result.stderr.decode()[-2000:])
        self.assertIn("matmul", re.search(r'<table id="table">(.*?)</table>', dom, re.S).group(1))
        self.assertGreaterEqual(re.search(r'<div id="lanes">(.*?)</div>', dom, re.S).group(1).count("<rect"), 3)
        self.assertGreaterEqual(re.search(r'<div id="roof">(.*?)</div>', dom, re.S).group(1).count("<circle"), 2)
        self.assertGreaterEqual(re.search(r'<div id="blocks">(.*?)</div>', dom, re.S).group(1).count("<rect"), 1)
        self.assertNotIn("<img", re.sub(r"<script.*?</script>", "", dom, flags=re.S))

    def test_arena_as_text_and_picture(self):
        path = self.here / "arena.svg"
        text = self.good("info", DIGITS, "--memory", "--svg", path)
        self.assertIn("<- peak", text)
        self.assertIn("lower bound", text)
        root = xml.parse(path).getroot()
        space = "{http://www.w3.org/2000/svg}"
        blocks = [b for b in json.loads(self.good("info", DIGITS, "--memory", "--json"))["memory"]["blocks"] if not b["alias_of"]]
        self.assertEqual(len(root.findall(f"{space}rect")), len(blocks) + 1)
        self.assertEqual(len(root.findall(f"{space}line[@class='bound']")), 1)
        self.good("info", self.hostile, "--svg", path)
        titles = [t.text for t in xml.parse(path).getroot().iter(f"{space}title")]
        self.assertTrue(any("img src=x" in t for t in titles), titles)

    def test_names_cannot_steer_the_terminal(self):
        for verb in ("info", "explain", "profile", "bench", "run", "compare"):
            arguments = ["--memory", "--graph"] if verb == "info" else ["--runs", 1] if verb != "compare" else []
            self.assertNotIn("\x1b", self.good(verb, self.hostile, *arguments), verb)


if __name__ == "__main__":
    unittest.main()
