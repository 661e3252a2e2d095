#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Compares what report.html has for its view "Waiting" with the text.
#
#     compare_waiting.py REPORT TEXT [ALL]
#
# TEXT: the report, 160 columns wide. ALL: the text of --all of a run whose calls of MPI were
# measured. Prints "ok NAME" or "not ok NAME: WHY", one line a check.

import base64
import gzip
import json
import re
import sys

sys.dont_write_bytecode = True
from text_records import records  # noqa: E402  pylint: disable=wrong-import-position


def check(name, got, want):
    print(f"ok {name}" if got == want else f"not ok {name}: {got} instead of {want}")


def section(page, name):
    found = re.search(f'data-section="{name}">([^<]*)<', page)
    return gzip.decompress(base64.b64decode(found.group(1))).decode("utf-8", "replace")


def table(lines, start):
    """The lines from one that starts so to the next empty one."""
    for i, line in enumerate(lines):
        if line.startswith(start):
            end = lines.index("", i)
            return lines[i:end]
    return []


def percent(thousandths):
    return f"{thousandths / 10:.1f}%"


def compare_phases(meta, names, lines):
    rows = table(lines, "Parallel efficiency")
    columns = ["parallel", "balance", "communication", "serialisation", "transfer", "mpi", "omp",
               "offload"]
    head = next(i for i, line in enumerate(rows) if line.lstrip().startswith("elapsed "))
    text = []
    for line in rows[head + 1:]:
        found = re.match(r" *[0-9.]+ m?s((?: +[0-9.]+%)+)  (.*)$", line)
        if found:
            text.append((found.group(2), found.group(1).split()))
    page = [(names[x["name"]], [percent(x[c]) for c in columns if c in x])
            for x in meta["pop"]["phases"]]
    check("there are phases", bool(page), True)
    check("phases", page, text)
    check("set-up", bool(meta["pop"]["setup"]), any("MPI_Init" in line for line in rows))


def compare_regions(meta, names, lines):
    rows = table(lines, "Parallel regions of OpenMP")
    regions = meta.get("regions")
    check("regions are there, or not", regions is not None, bool(rows))
    if regions is None:
        return
    text, small = [], 0
    for line in rows:
        found = re.match(r" *[0-9.]+ m?u?s +[0-9.]+ m?u?s +(\S+) +\S+ +(\S+%) +(\S+%) +.*?s +"
                         r"[0-9.]+ m?u?s  (.*)$", line)
        if found:
            text.append((found.group(4).split(", loop at")[0], found.group(2), found.group(3)))
        left_out = re.match(r"  left out: (\d+) region", line)
        small = int(left_out.group(1)) if left_out else small
    page = [(names[r["name"]], percent(r["efficiency"]), percent(r["imbalance"]))
            for r in regions["rows"]]
    check("there are regions", bool(page), True)
    check("regions", page, text)
    check("regions that are left out", regions["small"], small)
    check("number of regions", regions["worth"], len(page))


def compare_uses(meta, names, lines):
    rows = table(lines, "Where the time of")
    text = {}
    for line in rows:
        found = re.match(r" *([0-9.]+)% +[0-9.]+ m?u?s  (.*)$", line)
        if found and "  " not in found.group(2):
            text[found.group(2).split(" (-e OFFCPU")[0]] = float(found.group(1))
    whole = sum(meta["uses"]["us"])
    for row, us in zip(meta["uses"]["rows"], meta["uses"]["us"]):
        if names[row["name"]] in text:
            check(f"share: {names[row['name']]}",
                  abs(100 * us / whole - text.pop(names[row["name"]])) < 0.06, True)
    text.pop("other", None)
    check("shares that the page lacks", text, {})


def compare_mpi(meta, all_lines):
    mpi, calls, ns, waited, by_rank = meta["mpi"], 0, 0, 0, {}
    for kind, call in records(all_lines):
        if kind != "mpi-call":
            continue
        calls += int(call["calls"])
        ns += int(call["ns"])
        waited += int(call["waited_ns"])
        rank = by_rank.setdefault(int(call["rank"]), [0, 0])
        rank[0] += int(call["calls"])
        rank[1] += int(call["sent"])
    check("there are calls of MPI", calls > 0, True)
    check("calls of MPI", mpi["whole"]["n"], calls)
    check("their time", abs(mpi["whole"]["us"] - ns / 1000) <= 1, True)
    check("their waits", abs(mpi["whole"]["waited"] - waited / 1000) <= 1, True)
    check("calls and bytes of ranks",
          {meta["processes"][x["process"]]["rank"]: [x["n"], x["sent"]]
           for x in mpi["processes"]}, by_rank)
    check("calls of places", sum(x["n"] for x in mpi["places"]), calls)
    check("calls of sizes", sum(x["n"] for x in mpi["sizes"]), calls)


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        page = f.read()
    meta, names = json.loads(section(page, "meta")), section(page, "strings").split("\0")
    with open(sys.argv[2], encoding="utf-8") as f:
        lines = f.read().split("\n")
    if len(sys.argv) > 3:
        with open(sys.argv[3], encoding="utf-8", errors="replace") as f:
            compare_mpi(meta, f.read().split("\n"))
    else:
        compare_uses(meta, names, lines)
        compare_regions(meta, names, lines)
    compare_phases(meta, names, lines)


main()
