#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what hpcprof-lite --all prints (the oracle of the other outputs) and prints it as
facts, see facts.py: read_text.py FILE"""
import codecs
import re
import sys

sys.dont_write_bytecode = True
from facts import Facts, Paths, accumulator  # noqa: E402  pylint: disable=wrong-import-position
from text_records import records  # noqa: E402  pylint: disable=wrong-import-position


# Bytes that are no UTF-8 count one by one, as in the other outputs.
codecs.register_error("one-by-one", lambda e: ("\ufffd" * (e.end - e.start), e.end))


def unescape(s):
    def plain(escape):
        if escape[0] == "x":
            return bytes([int(escape[1:], 16)])
        return {"t": b"\t", "n": b"\n"}.get(escape, escape.encode())

    parts = re.split(r"(\\(?:x[0-9a-f]{2}|.))", s)
    return b"".join(plain(p[1:]) if i % 2 else p.encode() for i,
            p in enumerate(parts)).decode("utf-8", "one-by-one")


def main():
    if len(sys.argv) != 2:
        print("usage: read_text.py FILE", file=sys.stderr)
        return 2
    facts, paths = Facts(), Paths()
    files, functions, metrics = {}, {}, {}
    n_threads = n_profiles = 0
    with open(sys.argv[1], encoding="utf-8", errors="replace", newline="\n") as f:
        for kind, v in records(f):
            if kind == "file":
                files[v["id"]] = unescape(v["path"])
            elif kind == "function":
                functions[v["id"]] = unescape(v["name"])
            elif kind == "metric":
                metrics[v["id"]] = unescape(v["name"])
                facts.add("total", metrics[v["id"]], 0)
            elif kind == "context":
                context(facts, paths, files, functions, v)
            elif kind == "profile":
                facts.add("profiles", 1)
                facts.add("samples", v["id"], 0)
                facts.add("kind", v["id"], "queue" if v["thread"] == "-" else "thread", 1)
                n_profiles += v["thread"] != "-"
            elif kind == "value" and float(v["point"]) != 0:
                context_id = v["context"]
                facts.value(metrics[v["metric"]], paths.function(context_id),
                        paths.hash(context_id), float(v["point"]))
            elif kind == "sample":
                facts.add("samples", v["profile"], 1)
            elif kind == "thread":
                n_threads += 1
            elif kind.startswith("gpu-"):
                gpu(facts, paths, metrics, kind, v)
            elif kind == "ledger" and v["of"] == "all":
                facts.add("ledger", "samples delivered", int(v["delivered"]))
                facts.add("ledger", "samples in the tree", int(v["in_tree"]))
    if n_threads != n_profiles:
        print(f"read_text.py: {n_threads} records of threads, {n_profiles} profiles of threads",
                file=sys.stderr)
        return 1
    facts.print()
    return 0


def gpu(facts, paths, metrics, kind, v):
    if kind == "gpu-metric" and v["kind"] == "mean":
        del facts.sums[("total", metrics[v["id"]])]
        metrics[v["id"]] = accumulator(metrics[v["id"]])
        facts.add("total", metrics[v["id"]], 0)
    elif kind == "gpu-profile":
        facts.add("busy", v["id"], 0)
        facts.add("bytes", v["id"], 0)
    elif kind == "gpu-op":
        facts.add("samples", v["profile"], 1)
        facts.add("ops", v["profile"], paths.hash(v["context"]), 1)
        facts.add("busy", v["profile"], (int(v["end_ns"]) - int(v["start_ns"])) * 1e-9)
        if v["kind"] != "kernel":
            facts.add("bytes", v["profile"], int(v["bytes"]))
    elif kind == "gpu-kind" and v["of"] == "all":
        for what, n in (("launched", v["launched"]), ("joined", v["joined"]),
                        ("summed-up", v["aggregated"])):
            if int(n):
                facts.add(what, v["kind"], int(n))
    elif kind == "gpu-loss" and v["of"] == "all":
        facts.add("lost", v["cause"], int(v["n"]))


def context(facts, paths, files, functions, v):
    number, kind, function, line, address = (
            v["id"], v["kind"], v["function"], v["line"], v["address"])
    parent = None if kind == "root" else v["parent"]
    facts.add("contexts", 1)
    if kind == "root":
        paths.known[number] = paths.known[None]
    elif kind == "entry":
        name = v["name"]
        paths.frame(number, parent, name, name, False)
    elif kind == "function":
        name = functions.get(function, "<unknown function>")
        paths.frame(number, parent, name, name, v["relation"] == "inlined")
    elif kind == "loop":
        paths.frame(number, parent, f"loop at line {line}" if int(line) else f"loop at {address}",
                functions.get(function, "<unknown function>"), False)
    else:
        place = (files[v["file"]], int(line)) if kind == "line" else int(address, 0)
        paths.place(number, parent, place)


if __name__ == "__main__":
    sys.exit(main())
