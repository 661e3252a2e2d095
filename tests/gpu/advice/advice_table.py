#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The table of tests/golden/advice: what was predicted and what was measured.

    advice_table.py DIR        what advice.sh left: times, WAY-flawed.db, WAY-cured.db

Also counts what the tool was silent about and advice about ways without a flaw.
"""
import json
import os
import statistics
import sys

# What the flaw of each way is called.
KINDS = {
    "strided": "scattered", "inflight": "in-flight", "spills": "local", "banks": "banks",
    "repeated": "queue", "registers": "occupancy", "shared": "occupancy", "blocks": "occupancy",
    "grid": "grid", "wave": "wave", "divergence": "branch", "balance": "barrier", "fetch": "fetch",
    "double": "pipe", "special": "special", "launches": "launches", "waits": "waits",
    "pageable": "pinned", "overlap": "overlap",
    "records": "scattered", "columns": "scattered", "rows": "scattered", "product": "queue",
    "tree": "barrier", "bodies": "pipe", "chain": "dependent", "table": "constant", "host": "host",
    "check": "waits",
    "gather": "scattered", "roots": "special", "vector": "banks", "stack": "local",
    "lookup": "in-flight", "tiles": "occupancy", "pieces": "grid", "results": "pinned",
    "steps": "launches",
    "matrix": "scattered", "powers": "special", "small": "occupancy", "turned": "banks",
    "dot": "in-flight", "residual": "waits", "upload": "pinned",
}
# A smaller factor is not worth a row of the report, and no wrong advice.
LEAST = 1.1


def rows_of(directory, way, kind):
    """None if it was not measured."""
    path = os.path.join(directory, f"{way}-{kind}.db", "profile.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as f:
        return json.load(f).get("advice", {"rows": []})["rows"]


def worth(rows):
    return [r for r in rows if r["factor"] >= LEAST]


def others(rows, kind):
    return ", ".join(f"{r['kind']} {r['factor']:.2f}" for r in worth(rows) if r["kind"] != kind)


def pair(way, flawed, cured, before, after):
    """A line of the table, and the error of the prediction or None."""
    kind = KINDS[way]
    found = [r for r in before if r["kind"] == kind]
    measured = float(flawed) / float(cured)
    still = "" if after is None else others(after, "")
    if not found:
        print(f"| {way} | {kind} | {measured:.2f} | none | | | {others(before, kind)} | {still} |")
        return None
    r = found[0]
    error = abs(r["factor"] - measured) / measured
    inside = "yes" if r["factor_low"] <= measured <= r["factor_high"] else "no"
    print(f"| {way} | {kind} | {measured:.2f} | {r['factor']:.2f} "
          f"({r['factor_low']:.2f} to {r['factor_high']:.2f}) | {100 * error:.0f}% | {inside} | "
          f"{others(before, kind)} | {still} |")
    return error, inside


def main():
    results, silent, clean, wrong = [], 0, 0, []
    print("| way | advice | measured | predicted | error | inside | other advice "
          "| after the cure |")
    print("|---|---|---|---|---|---|---|---|")
    for line in open(os.path.join(sys.argv[1], "times"), encoding="utf-8"):
        _, way, _, flawed, cured = line.split()
        before, after = (rows_of(sys.argv[1], way, kind) for kind in ("flawed", "cured"))
        if before is None:
            continue
        if cured == "-":
            clean += 1
            wrong += [f"{way}: {r['kind']} {r['factor']:.2f}" for r in worth(before)]
            continue
        result = pair(way, flawed, cured, before, after)
        silent += result is None
        results += [result] if result else []
    print()
    if results:
        print(f"{len(results)} predictions: median error "
              f"{100 * statistics.median(e for e, _ in results):.0f}%, "
              f"{sum(i == 'yes' for _, i in results)} inside of their interval; "
              f"silent about {silent} flaws.")
    print(f"{clean} ways without a flaw: wrong advice: {'; '.join(wrong) or 'none'}.")


main()
