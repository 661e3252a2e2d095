# SPDX-License-Identifier: BSD-3-Clause
"""Holds counters of kernels against what ncu says of the same kernels, and against the truth.

    python3 counters_compare.py ALL NCU OUT

ALL: hpcprof-lite --to text --all. NCU: lines of kernel, metric and sum over all launches, as
`python3 counters_compare.py reduce NCU.CSV` makes of the output of ncu --csv; -: none, because ncu
finds other caches than kernels that are not replayed. OUT: what counter_ways printed. Prints a line
of TAP for each value, without numbers.
"""

import csv
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../judge"))
from text_records import records  # noqa: E402  pylint: disable=wrong-import-position

EXECUTED = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum"
# Memory moves in sectors, and other traffic is counted, too. Bytes written and hits of the L2 cache
# depend on what was there before, so they are not compared.
NEAR = {"dram__bytes_read.sum": (0.01, 300e3)}
EXACT = "smsp__", "sm__ops"
KERNELS = "copy", "sum", "fma32", "mix64", "fma16", "tensor16"


def short(name):
    """The kernel of counter_ways, from its name as a linker or a reader has it."""
    for kernel in KERNELS:
        if f"{len(kernel)}{kernel}E" in name or f"::{kernel}(" in name:
            return kernel
    return name


def reduce(path):
    sums = {}
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f if line.startswith('"')]
    for row in csv.DictReader(lines):
        unit = row["Metric Unit"]
        if not row["Metric Name"].endswith(".sum") or unit not in ("byte", "inst", "sector", ""):
            continue
        key = short(row["Kernel Name"]), row["Metric Name"]
        sums[key] = sums.get(key, 0) + float(row["Metric Value"].replace(",", ""))
    for (kernel, metric), value in sorted(sums.items()):
        print(kernel, metric, f"{value:.0f}")


def read_ours(path):
    """Of by-function lines: metric, function ... and the value at the function itself."""
    values = {}
    with open(path, encoding="utf-8") as f:
        for kind, v in records(f):
            if kind == "by-function":
                key = short(v["name"]), v["metric"]
                values[key] = values.get(key, 0) + float(v["exclusive"])
    return values


def say(good, words):
    print(f"{'ok' if good else 'not ok'} - {words}")


def compare_ncu(ours, path):
    with open(path, encoding="utf-8") as f:
        for line in f:
            kernel, metric, value = line.split()
            have, want = ours.get((kernel, metric), 0), float(value)
            if metric.startswith(EXACT):
                say(have == want, f"{kernel}: {metric} is {have:.0f}, by ncu {want:.0f}")
            elif metric in NEAR:
                part, more = NEAR[metric]
                say(
                    abs(have - want) <= part * want + more,
                    f"{kernel}: {metric} is {have:.0f}, by ncu {want:.0f}",
                )


def compare_truth(ours, path, cached):
    """cached: bytes that the second copy finds in the L2 cache, where the last sum left them."""
    metrics = {"read": "dram__bytes_read.sum"}
    with open(path, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if not words or words[0] != "truth":
                continue
            kernel, n = words[1], ours.get((words[1], "GCTR:COUNT"), 0)
            for what, value in zip(words[2::2], words[3::2]):
                metric = metrics.get(what, EXECUTED % what)
                is_asked = any(name == metric for _, name in ours)
                if what == "written" or kernel in ("sum", "tensor16") or not is_asked:
                    continue
                have, want = ours.get((kernel, metric), 0), n * float(value)
                want -= cached if what == "read" else 0
                say(
                    abs(have - want) <= 0.003 * want and n == 2,
                    f"{kernel}: {what} in {n:.0f} launches is {have:.0f}, wanted {want:.0f}",
                )


def main():
    if sys.argv[1] == "reduce":
        reduce(sys.argv[2])
        return
    ours = read_ours(sys.argv[1])
    if sys.argv[2] != "-":
        compare_ncu(ours, sys.argv[2])
    compare_truth(ours, sys.argv[3], (16 << 20) if sys.argv[2] == "-" else 0)


main()
