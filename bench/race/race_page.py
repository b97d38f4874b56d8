# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/benchmarks.md as Markdown: race.py page. Ratios only, since times belong to one machine at one moment."""
import argparse

import race_gemm
import race_roofline


def percent(share):
    return f"{100 * share:.0f} %"


def print_level(document, level):
    print(f"\n| {level} | operations a byte | bound by | of the roof | of copy bandwidth |\n|---|---|---|---|---|")
    for case in document["cases"]:
        if case["level"] == level:
            print(f"| {case['case']} | {case['intensity']:.2f} | {case['bound']} | {percent(case['share'])} | {percent(case['bandwidth_share'])} |")


def print_products(document):
    print("\n| rival / Tenon | shapes | median | worst | at | under 0.8 |\n|---|---|---|---|---|---|")
    for name, row in document["rivals"].items():
        print(f"| {name} | {row['count']} | {row['median']:.2f} | {row['worst']:.2f} | {row['shape']} | {len(row['below'])} |")
    below = document["rivals"].get("best", {"below": []})["below"]
    print("\nUnder 0.8 of the best rival: " + (", ".join(below) or "none") + ".")
    for name, why in document["absent"].items():
        print(f"\n{name} was not there: {why}")


def run(arguments):
    roofline = race_roofline.document_of(argparse.Namespace(tool=arguments.tool, threads=arguments.threads, runs=arguments.runs, level=None, case=[],
                                                            models=arguments.models))
    if roofline["cases"]:
        print(f"Ridge point: {roofline['ridge']:.1f} operations a byte.")
        for level in ("kernel", "block", "model"):
            print_level(roofline, level)
    for name, why in roofline["failed"].items():
        print(f"\n{name} was not measured: {why}")
    products = race_gemm.document_of([], arguments.rounds)
    if products["shapes"]:
        print_products(products)
    return 0 if roofline["cases"] and products["shapes"] and not roofline["failed"] else 1


def add_options(verbs):
    verb = verbs.add_parser("page", help="the tables of docs/benchmarks.md: rooflines and matrix products")
    verb.add_argument("models", nargs="*", metavar="MODEL.onnx", help="more models for the roofline")
    verb.add_argument("--tool", help="the command (default: TENON_TOOL, or tenon)")
    verb.add_argument("--threads", type=int, default=1, help="of the rooflines (default 1)")
    verb.add_argument("--runs", type=int, default=20)
    verb.add_argument("--rounds", type=int, default=2, help="turns of each engine for each product (default 2)")
    verb.set_defaults(function=run)
