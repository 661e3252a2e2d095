#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what hpcprof-lite --all prints (the oracle of the other outputs) and prints it as
facts, see facts.py: read_text.py FILE"""
import codecs
import re
import sys

sys.dont_write_bytecode = True
from facts import Facts, Paths, accumulator  # noqa: E402  pylint: disable=wrong-import-position


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
        for line in f:
            kind, *v = line.rstrip("\n").split("\t")
            if kind == "file":
                files[v[0]] = unescape(v[1])
            elif kind == "function":
                functions[v[0]] = unescape(v[5])
            elif kind == "metric":
                metrics[v[0]] = unescape(v[5])
                facts.add("total", metrics[v[0]], 0)
            elif kind == "context":
                context(facts, paths, files, functions, v)
            elif kind == "profile":
                facts.add("profiles", 1)
                facts.add("samples", v[0], 0)
                facts.add("kind", v[0], "queue" if v[2] == "-" else "thread", 1)
                n_profiles += v[2] != "-"
            elif kind == "value" and float(v[3]) != 0:
                facts.value(metrics[v[2]], paths.function(v[1]), paths.hash(v[1]), float(v[3]))
            elif kind == "sample":
                facts.add("samples", v[0], 1)
            elif kind == "thread":
                n_threads += 1
            elif kind.startswith("gpu-"):
                gpu(facts, paths, metrics, kind, v)
            elif kind == "ledger" and v[0] == "all":
                facts.add("ledger", "samples delivered", int(v[2]))
                facts.add("ledger", "samples in the tree", int(v[4]))
    if n_threads != n_profiles:
        print(f"read_text.py: {n_threads} records of threads, {n_profiles} profiles of threads",
                file=sys.stderr)
        return 1
    facts.print()
    return 0


def gpu(facts, paths, metrics, kind, v):
    if kind == "gpu-metric" and v[1] == "mean":
        del facts.sums[("total", metrics[v[0]])]
        metrics[v[0]] = accumulator(metrics[v[0]])
        facts.add("total", metrics[v[0]], 0)
    elif kind == "gpu-profile":
        facts.add("busy", v[0], 0)
        facts.add("bytes", v[0], 0)
    elif kind == "gpu-op":
        facts.add("samples", v[0], 1)
        facts.add("ops", v[0], paths.hash(v[10]), 1)
        facts.add("busy", v[0], (int(v[2]) - int(v[1])) * 1e-9)
        if v[7] != "kernel":
            facts.add("bytes", v[0], int(v[9]))
    elif kind == "gpu-kind" and v[0] == "all":
        for what, n in zip(("launched", "joined", "summed-up"), v[4:7]):
            if int(n):
                facts.add(what, v[3], int(n))
    elif kind == "gpu-loss" and v[0] == "all":
        facts.add("lost", v[3], int(v[5]))


def context(facts, paths, files, functions, v):
    number, parent, _, kind, relation, _, function, _, file, line, address = v[:11]
    parent = None if kind == "root" else parent
    facts.add("contexts", 1)
    if kind == "root":
        paths.known[number] = paths.known[None]
    elif kind == "entry":
        name = {"main": "main thread", "thread": "application thread",
                "gpu-no-path": "GPU operations without a call path",
                "gpu-no-launch": "GPU operations without a known launch",
                "omp-idle": "idle OpenMP threads: outside of any region"}.get(v[11],
                f"partial call paths: {v[12]}")
        paths.frame(number, parent, name, name, False)
    elif kind == "function":
        name = functions.get(function, "<unknown function>")
        paths.frame(number, parent, name, name, relation == "inlined")
    elif kind == "loop":
        paths.frame(number, parent, f"loop at line {line}" if int(line) else f"loop at {address}",
                functions.get(function, "<unknown function>"), False)
    else:
        paths.place(number, parent, (files[file], int(line)) if kind == "line" else int(address, 0))


if __name__ == "__main__":
    sys.exit(main())
