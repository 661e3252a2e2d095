#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads what hpcprof-lite --all prints (the oracle of the other outputs) and prints it as facts, see facts.py: read_text.py FILE"""
import sys

sys.dont_write_bytecode = True
from facts import Facts, Paths  # noqa: E402  pylint: disable=wrong-import-position


def unescape(s):
    out, i = [], 0
    while i < len(s):
        if s[i] == "\\" and i + 1 < len(s):
            i += 1
            out.append({"t": "\t", "n": "\n"}.get(s[i], s[i]))
        else:
            out.append(s[i])
        i += 1
    return "".join(out)


def main():
    if len(sys.argv) != 2:
        print("usage: read_text.py FILE", file=sys.stderr)
        return 2
    facts, paths = Facts(), Paths()
    files, functions, metrics = {}, {}, {}
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
            elif kind == "value" and float(v[3]) != 0:
                facts.value(metrics[v[2]], paths.function(v[1]), paths.hash(v[1]), float(v[3]))
            elif kind == "sample":
                facts.add("samples", v[0], 1)
            elif kind == "ledger" and v[0] == "all":
                facts.add("ledger", "samples delivered", int(v[2]))
                facts.add("ledger", "samples in the tree", int(v[4]))
    facts.print()
    return 0


def context(facts, paths, files, functions, v):
    number, parent, _, kind, relation, _, function, _, file, line, address = v[:11]
    parent = None if kind == "root" else parent
    facts.add("contexts", 1)
    if kind == "root":
        paths.known[number] = paths.known[None]
    elif kind == "entry":
        name = {"main": "main thread", "thread": "application thread"}.get(v[11], f"partial call paths: {v[12]}")
        paths.frame(number, parent, name, name, False)
    elif kind == "function":
        name = functions.get(function, "<unknown function>")
        paths.frame(number, parent, name, name, relation == "inlined")
    elif kind == "loop":
        paths.frame(number, parent, f"loop at line {line}", functions.get(function, "<unknown function>"), False)
    else:
        paths.place(number, parent, (files[file], int(line)) if kind == "line" else int(address, 0))


if __name__ == "__main__":
    sys.exit(main())
