#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads profile.sqlite with Python's own SQLite and prints it as facts, see facts.py. With --views
it prints what the views say, in the form of the records by-function, by-line, by-module, thread and
kernel of --all; --words FILE prints these records of a complete text in the same form:
read_sqlite.py [--views] FILE"""
import pathlib
import sqlite3
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from facts import Facts, Paths, accumulator, plain  # noqa: E402
from read_text import unescape  # noqa: E402
from text_records import records  # noqa: E402


def read_contexts(db, facts):
    paths = Paths()
    rows = db.execute(
        "SELECT c.id, c.parent, c.kind, c.relation, c.name, f.name, s.path, c.line, c.address"
        " FROM context c LEFT JOIN function f ON f.id = c.function"
        " LEFT JOIN file s ON s.id = c.file ORDER BY c.id"
    )
    for i, parent, kind, relation, entry, function, file, line, address in rows:
        facts.add("contexts", 1)
        if kind == "root":
            paths.known[i] = paths.known[None]
        elif kind == "entry":
            paths.frame(i, parent, entry, entry, False)
        elif kind == "function":
            paths.frame(i, parent, function, function, relation == "inlined")
        elif kind == "loop":
            name = f"loop at line {line}" if line else f"loop at {address:#x}"
            paths.frame(i, parent, name, function, False)
        elif kind == "line":
            paths.place(i, parent, (file, line))
        else:
            paths.place(i, parent, address)
    return paths


def put_facts(db):
    facts = Facts()
    paths = read_contexts(db, facts)
    metrics = {}
    for i, name, kind in db.execute("SELECT id, name, kind FROM metric"):
        metrics[i] = accumulator(name) if kind == "gpu-mean" else name
        facts.add("total", metrics[i], 0)
    for i, kind in db.execute("SELECT id, kind FROM profile"):
        facts.add("profiles", 1)
        facts.add("samples", i, 0)
        facts.add("kind", i, kind, 1)
        if kind == "queue":
            facts.add("busy", i, 0)
            facts.add("bytes", i, 0)
    for context, metric, point in db.execute("SELECT context, metric, point FROM value"):
        if point:
            facts.value(metrics[metric], paths.function(context), paths.hash(context), point)
    for i, n in db.execute("SELECT profile, count(*) FROM sample WHERE context GROUP BY 1"):
        facts.add("samples", i, n)
    ops = db.execute("SELECT profile, context, kind, bytes, end_ns - start_ns FROM gpu_op")
    for i, context, kind, n_bytes, ns in ops:
        facts.add("samples", i, 1)
        facts.add("ops", i, paths.hash(context), 1)
        facts.add("busy", i, ns * 1e-9)
        if kind != "kernel":
            facts.add("bytes", i, n_bytes)
    ledgers = {(s, c, n): k for s, c, n, k in db.execute("SELECT * FROM ledgers")}
    facts.add("ledger", "samples delivered", ledgers["CPU", "samples", "delivered"])
    facts.add("ledger", "samples in the tree", ledgers["CPU", "samples", "in_tree"])
    names = {"launched": "launched", "joined": "joined", "aggregated": "summed-up"}
    names["lost_launches"] = "lost"
    for (source, group, name), n in ledgers.items():
        if source == "GPU" and group in names:
            facts.add(names[group], name, n)
    facts.print()


def fact(*fields):
    *key, value = fields
    print("\t".join(plain(str(k)) for k in key) + f"\t{value:.17g}")


def put_views(db):
    for metric, function, own, total, n, *_ in db.execute("SELECT * FROM functions"):
        for what, value in (("self", own), ("total", total), ("samples", n)):
            if total or own:
                fact("by-function", metric, function, what, value)
    for metric, file, line, function, own, total, _ in db.execute("SELECT * FROM lines"):
        for what, value in (("self", own), ("total", total)):
            if line and (total or own):
                fact("by-line", metric, f"{file}:{line}", function, what, value)
    for metric, module, own, total, _ in db.execute("SELECT * FROM modules"):
        for what, value in (("self", own), ("total", total)):
            if total or own:
                fact("by-module", metric, module, what, value)
    for metric, _, host, pid, thread, _, value, *_ in db.execute("SELECT * FROM threads"):
        fact("thread", host, pid, thread, metric, value)
    for kernel, launches, seconds, *_ in db.execute("SELECT * FROM kernels"):
        if launches or seconds:
            fact("kernel", kernel, "launches", launches)
            fact("kernel", kernel, "seconds", seconds)
    for kind, detail, n, n_bytes, _ in db.execute("SELECT * FROM copies"):
        fact("copies", detail or kind, "n", n)
        fact("copies", detail or kind, "bytes", n_bytes)


def costs(v):
    return ("self", float(v["exclusive"])), ("total", float(v["inclusive"]))


def put_words(path):
    """The same from the complete text."""
    for kind, v in records(open(path, encoding="utf-8", errors="surrogateescape", newline="\n")):
        v.values = list(map(unescape, v.values))
        if kind == "by-function":
            name = v["name"] or "<unknown function>"
            fact(kind, v["metric"], name, "samples", float(v["samples"]))
            for what, value in costs(v):
                fact(kind, v["metric"], name, what, value)
        elif kind == "by-line" and ":" in v["place"]:
            function = v["function"] or "<unknown function>"
            for what, value in costs(v):
                fact(kind, v["metric"], v["place"], function, what, value)
        elif kind == "by-module":
            for what, value in costs(v):
                fact(kind, v["metric"], v["path"], what, value)
        elif kind == "thread":
            for metric, value in zip(v.rest[::2], v.rest[1::2]):
                fact(kind, v["host"], v["pid"], v["thread"], metric, float(value))
        elif kind == "kernel" and v["name"] != "<gpu kernel>":
            fact(kind, v["name"], "launches", float(v["launches"]))
            fact(kind, v["name"], "seconds", float(v["seconds"]))
        elif kind == "copies":
            fact(kind, v["direction"], "n", float(v["n"]))
            fact(kind, v["direction"], "bytes", float(v["bytes"]))


def main():
    if sys.argv[1] == "--words":
        put_words(sys.argv[2])
        return
    uri = pathlib.Path(sys.argv[-1]).resolve().as_uri() + "?mode=ro"
    db = sqlite3.connect(uri, uri=True)
    if db.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
        raise ValueError("the database is damaged")
    if db.execute("PRAGMA foreign_key_check").fetchall():
        raise ValueError("a reference leads nowhere")
    if sys.argv[1] == "--views":
        put_views(db)
    else:
        put_facts(db)


if __name__ == "__main__":
    main()
