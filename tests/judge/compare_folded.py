#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the folded call paths with the complete text, line by line:
compare_folded.py [--leaves] ALL DIRECTORY

ALL is what hpcprof-lite --all printed, DIRECTORY is folded/ of the database. The call paths and
weights are computed anew from the records context and total. With --leaves only the last frames
take part: of Python programs, interpreter frames are left out of the paths. Prints the differences.
"""
import collections
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from text_records import records  # noqa: E402  pylint: disable=wrong-import-position

ENTRIES = {
    "main": "main thread",
    "thread": "application thread",
    "partial": "partial call paths",
    "gpu-no-path": "GPU operations without a call path",
    "gpu-no-launch": "GPU operations without a known launch",
    "omp-idle": "idle OpenMP threads: outside of any region",
}


def read_text(path):
    """Metric -> (unit, {call path: value})."""
    modules, functions, metrics, means, frames = {}, {}, {}, set(), {"-": ()}
    sums = collections.defaultdict(lambda: collections.defaultdict(float))
    for kind, v in records(open(path, encoding="utf-8", errors="surrogateescape", newline="\n")):
        if kind == "module":
            modules[v["id"]] = v["path"].rsplit("/", 1)[-1]
        elif kind == "function":
            name = v["name"] or "<unknown function>"
            if name.startswith("<unknown at 0x") and "[" not in name:
                name += f" [{modules[v['module']]}]"
            functions[v["id"]] = name.replace(";", ":")
        elif kind == "metric":
            metrics[v["id"]] = (v["name"], v["unit"])
        elif kind == "gpu-metric" and v["kind"] == "mean":
            means.add(v["id"])
        elif kind == "context":
            frames[v["id"]] = frames[v["parent"]]
            if v["kind"] == "entry":
                frames[v["id"]] += (ENTRIES[v["entry"]],)
            elif v["kind"] == "function":
                frames[v["id"]] += (functions[v["function"]],)
        elif kind == "total" and float(v["point"]) != 0:
            sums[v["metric"]][frames[v["context"]]] += float(v["point"])
    result = {}
    for number, (name, unit) in metrics.items():
        if number in sums:
            name = re.split(r"[ (]", name)[0] + ("_ACUMU" if number in means else "")
            result[re.sub(r"[^A-Za-z0-9_.]", "-", name)] = (unit, sums[number])
    return result


def read_folded(path):
    paths = {}
    for line in open(path, encoding="utf-8", newline="\n"):
        match = re.fullmatch(r"(.*) (\d+)\n", line)
        if not match or int(match[2]) == 0:
            raise ValueError(f"{path}: {line!r} is no call path with a weight")
        frames = tuple(re.sub("^(partial call paths).*", r"\1", f) for f in match[1].split(";"))
        if frames in paths and not frames[0].startswith("partial"):
            raise ValueError(f"{path}: {match[1]} has two lines")
        paths[frames] = paths.get(frames, 0) + int(match[2])
    return paths


def leaves(paths):
    sums = collections.Counter()
    for frames, value in paths.items():
        sums[frames[-1]] += value
    return sums


def main():
    only_leaves = sys.argv[1] == "--leaves"
    wanted, directory = read_text(sys.argv[-2]), pathlib.Path(sys.argv[-1])
    got = {p.name.removesuffix(".folded"): read_folded(p) for p in directory.iterdir()}
    wrong, n = 0, 0
    if set(wanted) != set(got):
        print("metrics differ:", sorted(set(wanted) ^ set(got)))
        wrong += 1
    for metric in set(wanted) & set(got):
        unit, values = wanted[metric]
        scale = 1e9 if unit == "sec" else 1
        a = {k: round(v * scale) for k, v in values.items()}
        a, b = {k: v for k, v in a.items() if v}, got[metric]
        if only_leaves:
            a, b = leaves(a), leaves(b)
        n += len(a)
        for key in set(a) | set(b):
            if abs(a.get(key, 0) - b.get(key, 0)) > 1:
                print(metric, key, a.get(key), b.get(key))
                wrong += 1
    print(f"# {n} call paths of {len(wanted)} metrics, {wrong} differ")
    return 1 if wrong or not n else 0


if __name__ == "__main__":
    sys.exit(main())
