#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Looks for numbers that cannot be true in tables about parallel programs:

    check_sums.py DIRECTORY... --texts FILE...

A directory has what --all prints: `run`, and of parts by time `whole` (0%:100%), `first` (0%:50%)
and `second` (50%:100%). The uses of an account add up to its capacity, and the uses of processes to
those of all; no share is above 1, no gain above the time of the region, no waiting above the time
in MPI, no mean above the most. The whole range is the run. What samples say of two halves adds up
to the whole, and what no sample says (REST) is at least as much. Texts are reports, perhaps
compressed: no share is above 100 %. Prints "ok WHAT" or "not ok WHAT: WHY", one line a check.
"""
import gzip
import pathlib
import re
import sys

sys.dont_write_bytecode = True
from text_records import records  # noqa: E402  pylint: disable=wrong-import-position

REST = "unknown", "off", "no-thread"
SHARES = {
    "efficiency": "parallel load_balance communication serialisation transfer mpi mpi_load_balance"
                  " mpi_communication omp offload",
    "gpu-efficiency": "parallel load_balance communication orchestration",
    "omp-region": "efficiency imbalance",
}
# The first field is at most the second.
BOUNDS = {
    "omp-region": (("gain_sec", "elapsed_sec"), ("work_sec", "capacity_sec")),
    "mpi-process": (("waited_sec", "seconds"), ("seconds", "elapsed_sec")),
    "mpi-place": (("waited_sec", "seconds"),),
    "mpi-function": (("waited_sec", "seconds"),),
    "mpi-size": (("waited_sec", "seconds"),),
    "mpi-late": (("most_behind_ns", "behind_ns"),),
    "balance": (("mean", "most"),),
}
# What is compared with a promise or with a clock is no share.
NO_SHARE = re.compile(r"were promised|by the clock")


def read(path):
    kinds = {}
    with open(path, encoding="utf-8", errors="surrogateescape", newline="\n") as f:
        for kind, record in records(f):
            kinds.setdefault(kind, []).append(record)
    return kinds


def number(text):
    return None if text in ("-", "") else float(text)


def report(name, differences):
    if differences:
        print(f"not ok {name}: {len(differences)} differ: {'; '.join(map(str, differences[:3]))}")
    else:
        print(f"ok {name}")


def uses(kinds):
    """Seconds by process, or "-" for all, and use."""
    return {(u["process"], u["use"]): float(u["seconds"]) for u in kinds.get("account-use", [])}


def check_account(kinds):
    if not kinds.get("account"):
        return []
    differences, of = [], uses(kinds)
    account = kinds["account"][0]
    capacity = float(account["capacity_sec"])
    total = sum(seconds for (process, _), seconds in of.items() if process == "-")
    if abs(total - capacity) > 1e-9 * capacity:
        differences.append(("capacity", total, capacity))
    if capacity < (1 - 1e-9) * float(account["elapsed_sec"]) * int(account["threads"]):
        differences.append(("capacity below elapsed time x threads", capacity))
    for use in {use for _, use in of if use != "no-thread"}:
        parts = sum(s for (process, u), s in of.items() if process != "-" and u == use)
        if abs(parts - of["-", use]) > 1e-9 * capacity:
            differences.append((use, parts, of["-", use]))
    return differences


def check_bounds(kinds):
    differences = []
    for kind, names in SHARES.items():
        differences += [(kind, name, r[name]) for r in kinds.get(kind, []) for name in names.split()
                        if not 0 <= (number(r[name]) or 0) <= 1 + 1e-9]
    for kind, pairs in BOUNDS.items():
        for record in kinds.get(kind, []):
            for small, large in pairs:
                a, b = number(record[small]), number(record[large])
                if a is not None and b is not None and a > b * (1 + 1e-9) + 1e-9:
                    differences.append((kind, small, a, large, b))
    return differences


def check_halves(whole, first, second):
    """None: one of them has no account, because nothing was measured in it."""
    accounts = [k["account"][0] for k in (whole, first, second) if k.get("account")]
    if len(accounts) < 3:
        return None
    differences = []
    if len({a["threads"] for a in accounts}) > 1:
        differences.append(("threads", [a["threads"] for a in accounts]))
    elapsed = [float(a["elapsed_sec"]) for a in accounts]
    if abs(elapsed[1] + elapsed[2] - elapsed[0]) > 1e-6 * elapsed[0]:
        differences.append(("elapsed", elapsed))
    of = [uses(k) for k in (whole, first, second)]
    for use in sorted({use for u in of for _, use in u} - set(REST)):
        seconds = [u.get(("-", use), 0) for u in of]
        if abs(seconds[1] + seconds[2] - seconds[0]) > 1e-6 * elapsed[0]:
            differences.append((use, seconds))
    rest = [sum(u.get(("-", use), 0) for use in REST) for u in of]
    if rest[1] + rest[2] < rest[0] - 1e-6 * elapsed[0]:
        differences.append(("what no sample says", rest))
    return differences


def has_time_lines(run):
    """False: some values have no time line, so the part by time lacks them."""
    return all(any(s["profile"] == t["id"] for s in run.get("sample", []))
               for t in run.get("profile", []) if t["kind"] == "thread" and t["counts"] == "1")


def check_whole(run, whole):
    """What the run and its whole range say of each use."""
    a, b = uses(run), uses(whole)
    seconds = sum(a.values())
    return [(key, a.get(key), b.get(key)) for key in sorted(set(a) | set(b))
            if key[0] == "-" and abs(a.get(key, 0) - b.get(key, 0)) > 1e-6 * seconds]


def check_directory(directory):
    kinds = [read(directory / name) for name in ("run", "whole", "first", "second")]
    for name, k in zip(("run", "whole", "first", "second"), kinds):
        report(f"{directory.name}: {name}", check_account(k) + check_bounds(k))
    differences = check_halves(*kinds[1:])
    if differences is not None:
        report(f"{directory.name}: halves", differences)
    if has_time_lines(kinds[0]):
        report(f"{directory.name}: the whole range", check_whole(*kinds[:2]))


def check_texts(paths):
    differences, n = [], 0
    for path in paths:
        data = pathlib.Path(path).read_bytes()
        text = (gzip.decompress(data) if path.endswith(".gz") else data).decode("utf-8", "replace")
        for line in text.split("\n"):
            shares = re.findall(r"(\d[\d,]*(?:\.\d+)?)%", line)
            n += len(shares)
            if any(float(x.replace(",", "")) > 100 for x in shares) and not NO_SHARE.search(line):
                differences.append((path, line.strip()))
    report(f"{n} shares of {len(paths)} texts", differences if n else ["there are none"])


def main():
    arguments = sys.argv[1:]
    at = arguments.index("--texts")
    for directory in arguments[:at]:
        check_directory(pathlib.Path(directory))
    check_texts(arguments[at + 1:])


main()
