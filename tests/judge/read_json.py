#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads profile.json, validates it and prints it as facts, see facts.py:
read_json.py [--schema SCHEMA] FILE"""
import json
import math
import sys

sys.dont_write_bytecode = True
from facts import Facts, Paths, accumulator  # noqa: E402  pylint: disable=wrong-import-position


def validate(schema_file, profile):
    import jsonschema  # pylint: disable=import-outside-toplevel

    with open(schema_file, encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(profile)


def read_contexts(p, facts):
    paths = Paths()
    for i, c in enumerate(p["contexts"]):
        parent = c["parent"]
        facts.add("contexts", 1)
        function = p["functions"][c["function"]]["name"] if "function" in c else None
        if c["kind"] == "root":
            paths.known[i] = paths.known[None]
        elif c["kind"] == "entry":
            paths.frame(i, parent, c["name"], c["name"], False)
        elif c["kind"] == "function":
            paths.frame(i, parent, function, function, c["relation"] == "inlined")
        elif c["kind"] == "loop":
            where = f"line {c['line']}" if c.get("line") else c.get("address", "0x0")
            name = f"loop at {where}"
            paths.frame(i, parent, name, function, False)
        elif c["kind"] == "line":
            paths.place(i, parent, (p["files"][c["file"]], c["line"]))
        else:
            paths.place(i, parent, int(c.get("address", "0"), 0))
    return paths


def read_queue(p, number, queue, paths, facts):
    facts.add("busy", str(number), 0)
    facts.add("bytes", str(number), 0)
    for op in queue["operations"]:
        facts.add("samples", str(number), 1)
        facts.add("ops", str(number), paths.hash(op["context"]), 1)
        facts.add("busy", str(number), (op["end_ns"] - op["start_ns"]) * 1e-9)
        if op["kind"] != "kernel":
            facts.add("bytes", str(number), op["bytes"])
        if op["launcher"] is not None and p["profiles"][op["launcher"]]["kind"] != "thread":
            raise ValueError("a queue launched an operation")


def check_totals(p):
    """Inclusive totals are the sums of what contexts have of their own."""
    n = len(p["contexts"])
    sums = [[0.0] * (n + 1) for _ in p["metrics"]]
    for profile in p["profiles"]:
        for context, metric, point, *_ in profile.get("values", []):
            sums[metric][context + 1] += point
    for of_metric in sums:
        for i in range(n):
            of_metric[i + 1] += of_metric[i]
    for context, metric, *_, execution in p["totals"]:
        found = sums[metric][context + p["contexts"][context]["subtree"]] - sums[metric][context]
        if not math.isclose(found, execution, rel_tol=1e-6, abs_tol=1e-9 * sums[metric][n]):
            raise ValueError(f"context {context}, metric {metric}: {execution}, found {found}")


def main():
    with open(sys.argv[-1], encoding="utf-8") as f:
        p = json.load(f)
    if sys.argv[1] == "--schema":
        validate(sys.argv[2], p)
    check_totals(p)
    facts = Facts()
    paths = read_contexts(p, facts)
    metrics = [
        accumulator(m["name"]) if m["kind"] == "gpu-mean" else m["name"] for m in p["metrics"]
    ]
    for name in metrics:
        facts.add("total", name, 0)
    for number, profile in enumerate(p["profiles"]):
        facts.add("profiles", 1)
        facts.add("samples", str(number), 0)
        facts.add("kind", str(number), profile["kind"], 1)
        if profile["kind"] == "queue":
            read_queue(p, number, profile, paths, facts)
            continue
        for context, metric, point, *_ in profile["values"]:
            if not point:
                raise ValueError(f"context {context} has no value of its own")
            where = paths.function(context), paths.hash(context)
            facts.value(metrics[metric], *where, point)
        facts.add("samples", str(number), sum(1 for s in profile["samples"] if s[1]))
    for name, key in (("samples delivered", "delivered"), ("samples in the tree", "in_tree")):
        facts.add("ledger", name, p["ledger"]["samples"][key])
    ledger = p["gpu"]["ledger"] if p["gpu"] else {}
    for ours, theirs in (
        ("launched", "launched"),
        ("joined", "joined"),
        ("summed-up", "aggregated"),
        ("lost", "lost_launches"),
    ):
        for name, n in ledger.get(theirs, {}).items():
            facts.add(ours, name, n)
    facts.print()


if __name__ == "__main__":
    main()
