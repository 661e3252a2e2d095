#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the tables about parallel programs in all outputs, by the names of rows and fields: the
account of time, efficiencies, regions of OpenMP, balance, and the tables about MPI.

    compare_tables.py DIRECTORY...

Each directory has `all` (--all), `report` (the text with --threshold 0, 200 columns wide),
report.html, and profile.sqlite if it was written. compare_exports.py compares the JSON and the
tables of SQLite with --all. This compares the views of SQLite, the data of the page and the text.
In the text, a row is a line that ends with its name, or has a remark behind it; somewhere in the
line there must be each number. Prints "ok WHAT" or "not ok WHAT: WHY", one line a check.
"""
import base64
import gzip
import json
import pathlib
import re
import sqlite3
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from read_text import unescape  # noqa: E402
from text_records import records  # noqa: E402

# Names of the uses in the report: short ones with ranks, long ones without.
USES = {
    "work": ("worked", "worked, or was blocked", "worked or blocked"),
    "omp-barrier": ("OpenMP barriers", "OpenMP: waited at barriers and ends of regions"),
    "omp-lock": ("OpenMP locks", "OpenMP: waited for locks and critical sections"),
    "omp-ordered": ("OpenMP ordered", "OpenMP: waited for their turn (ordered)"),
    "omp-taskwait": ("OpenMP tasks", "OpenMP: waited for tasks"),
    "omp-overhead": ("OpenMP run time", "OpenMP: run time"),
    "omp-idle": ("OpenMP idle", "OpenMP: idle outside of regions"),
    "mpi-p2p": ("MPI p2p", "MPI: point-to-point"),
    "mpi-collective": ("MPI collectives", "MPI: collectives"),
    "mpi-one-sided": ("MPI one-sided", "MPI: one-sided"),
    "mpi-io": ("MPI files", "MPI: files"),
    "mpi-other": ("MPI other calls", "MPI: other calls"),
    "torch-collective": ("PyTorch collect.", "PyTorch: collective operations"),
    "gpu-wait": ("waited for a GPU",),
    "blocked-lock": ("blocked: locks",),
    "blocked-thread": ("blocked: threads",
                       "blocked: condition variables (waiting for another thread)"),
    "blocked-io": ("blocked: I/O", "blocked: files, sockets, pipes, devices"),
    "blocked-poll": ("blocked: poll",),
    "blocked-sleep": ("blocked: sleep",),
    "blocked-other": ("blocked: other", "blocked: other causes"),
    "no-processor": ("no processor", "ready, but without a processor"),
    "unknown": ("without samples", "blocked", "blocked, or ready without a processor"),
    "off": ("measurement off", "measurement was off"),
    "no-thread": ("no thread", "not used: fewer threads"),
}
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "%": 0.01, "B": 1, "KiB": 1 << 10,
         "MiB": 1 << 20, "GiB": 1 << 30, "": 1}
KINDS = {"time": ("s", "ms", "us", "ns"), "share": ("%",), "bytes": ("B", "KiB", "MiB", "GiB"),
         "n": ("",)}
FAILED = []


def check(name, differences, n=1):
    """n: how many facts were compared; if there is none, that is a failure."""
    if differences or not n:
        FAILED.append(name)
        why = "; ".join(map(str, differences[:3])) or "nothing was compared"
        print(f"not ok {name}: {len(differences)} differ: {why}")
    else:
        print(f"ok {name}")


def near(a, b, step):
    """True if b is a, rounded to a multiple of `step`, or both are unknown."""
    if a is None or b is None:
        return a is b
    return abs(a - b) <= 0.5001 * step + 1e-9 * abs(a)


def number(text):
    return None if text in ("-", "") else float(text)


def section(page, name):
    found = re.search(f'data-section="{name}">([^<]*)<', page)
    return gzip.decompress(base64.b64decode(found.group(1))).decode("utf-8", "replace")


class Run:
    """All outputs of one measurement."""

    def __init__(self, directory):
        self.kinds = {}
        with open(directory / "all", encoding="utf-8", errors="surrogateescape", newline="\n") as f:
            for kind, record in records(f):
                self.kinds.setdefault(kind, []).append(record)
        self.report = (directory / "report").read_text(encoding="utf-8").split("\n")
        page = (directory / "report.html").read_text(encoding="utf-8")
        self.meta = json.loads(section(page, "meta"))
        self.strings = section(page, "strings").split("\0")
        self.sqlite = directory / "profile.sqlite"

    def of(self, kind):
        return self.kinds.get(kind, [])

    def process(self, index):
        p = self.of("process")[int(index)]
        return f"rank {p['rank']}" if int(p["rank"]) >= 0 else f"pid {p['pid']}"

    def process_of(self, profile):
        return self.process(self.of("profile")[int(profile)]["process"])

    def place(self, context):
        """ "main.c:12", or "" without a line. """
        c = self.of("context")[int(context)]
        if c["file"] == "-" or c["line"] == "0":
            return ""
        path = unescape(self.of("file")[int(c["file"])]["path"])
        return f"{path.rpartition('/')[2]}:{c['line']}"

    def call(self, function, caller):
        place = self.place(caller)
        return f"{function} at {place}" if place else function


# ---- the text ----


def tokens(line):
    """Each number with its unit and half of its last digit."""
    for digits, unit in re.findall(r"(?<![\w.:])(\d[\d,]*(?:\.\d+)?)(?: ?(%|[num]?s|[KMG]?i?B))?"
                                   r"(?![\w.])", line):
        _, _, decimals = digits.partition(".")
        yield float(digits.replace(",", "")), unit, 0.501 * 10 ** -len(decimals)


def shows(line, kind, value):
    """True if the line has the number. Zeros and tiny shares may be left out."""
    if value is None or value == 0 or (kind == "share" and value < 0.0005):
        return True
    return any(unit in KINDS[kind] and abs(n - value / UNITS[unit]) <= half
               for n, unit, half in tokens(line))


def text_row(run, names, numbers, differences, is_needed=True):
    """Adds a difference unless a row with one of the names has all the numbers."""
    names = names if isinstance(names, tuple) else (names,)
    ends = [re.compile(r"(?:^|[\s:])" + re.escape(name) + r"(?:$|[\s,;(\[])") for name in names]
    lines = [line for line in run.report if any(end.search(line) for end in ends)]
    if not any(all(shows(line, *n) for n in numbers) for line in lines) and (lines or is_needed):
        differences.append((names, numbers, [line.strip() for line in lines[:3]]))


# ---- the account ----


def page_differs(record, page, fields):
    """fields: name in the record, name in the page, factor."""
    return [(field, record[field], page.get(key)) for field, key, factor in fields
            if record[field] != "-" and not near(float(record[field]) * factor, page.get(key), 1)]


def spread_of(run, use, index, differences):
    """The numbers of the text about a use over the ranks."""
    spread = next((s for s in run.of("account-spread") if s["use"] == use), None)
    pages = run.meta["uses"].get("spreads")
    if not spread or not pages:
        return []
    times = [float(spread[f]) for f in ("least_sec", "mean_sec", "most_sec")]
    least, least_at, mean, most, most_at = pages[index]
    if [int(spread["least_process"]), int(spread["most_process"])] != [least_at, most_at] or \
            not all(near(t * 1e6, x, 1) for t, x in zip(times, (least, mean, most))):
        differences.append((use, spread.values, pages[index]))
    return [("time", t) for t in times]


def compare_account(run, name):
    uses, differences, texts, n = run.meta.get("uses"), [], [], 0
    if not run.of("account"):
        check(f"{name}: no account in the page", [uses] if uses else [])
        return
    account = run.of("account")[0]
    capacity = float(account["capacity_sec"])
    differences += page_differs(account, uses, (
        ("elapsed_sec", "elapsed", 1e6), ("capacity_sec", "capacity", 1e6), ("cpu_sec", "cpu", 1e6),
        ("throttled_sec", "throttled", 1e6), ("threads", "threads", 1),
        ("processors", "allowed", 1), ("all_threads", "allThreads", 1), ("left_out", "leftOut", 1)))
    names = [run.strings[row["name"]] for row in uses["rows"]]
    for use in run.of("account-use"):
        index = next((i for i, x in enumerate(names) if x in USES[use["use"]]), None)
        seconds, is_all = float(use["seconds"]), use["process"] == "-"
        of = uses if is_all else uses["processes"][int(use["process"])]
        if index is None or not near(seconds * 1e6, of["us"][index], 1):
            differences.append((use["process"], use["use"], seconds, names))
        elif is_all:
            n += 1
            numbers = [("share", seconds / capacity), ("time", seconds)]
            if use["use"] != "no-thread":
                numbers += spread_of(run, use["use"], index, differences)
            text_row(run, USES[use["use"]], numbers, texts, seconds > 0.02 * capacity)
    check(f"{name}: account, page", differences, n)
    check(f"{name}: account, text", texts, n)


# ---- efficiencies, regions, balance ----

SHARES = {"parallel": "parallel", "load_balance": "balance", "communication": "communication",
          "serialisation": "serialisation", "transfer": "transfer", "mpi": "mpi", "omp": "omp",
          "offload": "offload"}


def compare_efficiencies(run, name):
    differences, texts = [], []
    efficiencies, pop = run.of("efficiency"), run.meta.get("pop") or {"phases": []}
    for e, page in pair_up(differences, "phases", efficiencies, pop["phases"]):
        place = run.place(e["loop"]) if int(e["loop"]) else ""
        row = unescape(e["phase"]) or (f"loop at {place}" if place else "everything")
        differences += [(row, field, e[field], page.get(key)) for field, key in SHARES.items()
                        if not near(number(e[field]) and 1000 * number(e[field]), page.get(key), 1)]
        if run.strings[page["name"]] != row:
            differences.append((row, run.strings[page["name"]]))
        text_row(run, row, [("time", float(e["elapsed_sec"]))] +
                 [("share", number(e[field])) for field in SHARES], texts)
    for g in run.of("gpu-efficiency"):
        differences += page_differs(g, pop["devices"], (
            ("devices", "n", 1), ("parallel", "parallel", 1000), ("load_balance", "balance", 1000),
            ("communication", "communication", 1000), ("orchestration", "orchestration", 1000)))
    check(f"{name}: efficiencies, page", differences)
    check(f"{name}: efficiencies, text", texts)


def compare_regions(run, name):
    regions, differences, texts, n = run.of("omp-region"), [], [], 0
    page = {run.strings[r["name"]]: r for r in run.meta.get("regions", {"rows": []})["rows"]}
    has_teams = any(int(r["most_threads"]) > 1 for r in regions)
    for r in regions:
        place = unescape(r["place"]).rpartition("/")[2]
        row = next((x for x in page if x.endswith(f" at {place}") or f" at {place}," in x), None)
        numbers = [("time", number(r[f])) for f in ("gain_sec", "elapsed_sec", "work_sec")]
        numbers += [("share", number(r[f])) for f in ("efficiency", "imbalance")]
        numbers.append(("n", float(r["instances"])))
        if r["work_sec"] != "-":
            numbers.append(("time", float(r["capacity_sec"]) - float(r["work_sec"])))
        if has_teams:
            text_row(run, f"parallel region at {place}", numbers, texts)
        if row is None:  # it could gain too little
            continue
        n += 1
        differences += page_differs(r, page[row], (
            ("gain_sec", "gain", 1e6), ("elapsed_sec", "time", 1e6), ("work_sec", "work", 1e6),
            ("capacity_sec", "capacity", 1e6), ("instances", "instances", 1),
            ("efficiency", "efficiency", 1e3), ("imbalance", "imbalance", 1e3)))
    if has_teams:
        check(f"{name}: regions, page", differences, n)
        check(f"{name}: regions, text", texts)
    else:
        check(f"{name}: no regions in the page", list(page))


def compare_balance(run, name):
    differences, texts, n = [], [], 0
    for b in run.of("balance"):
        metric, mean, most = run.meta["metrics"][int(b["metric"])], float(b["mean"]), \
            float(b["most"])
        if b["among"] == "threads":
            n += 1
            if not near(mean, metric["mean"] / metric["scale"], 1e-9) or \
                    not near(most, metric["most"] / metric["scale"], 1e-9):
                differences.append((b.values, metric))
        head = f"{b['among'].capitalize()} by {run.strings[metric['name']]}:"
        text_row(run, head, [("time", mean), ("time", most),
                             ("share", mean / most if most else 0)], texts, False)
    check(f"{name}: balance, page", differences, n)
    check(f"{name}: balance, text", texts)


# ---- MPI ----

SUMS = (("calls", "n", 1), ("sent", "sent", 1), ("received", "received", 1),
        ("seconds", "us", 1e6), ("waited_sec", "waited", 1e6))
KIND_OF = {"seconds": "time", "waited_sec": "time", "calls": "n", "sent": "bytes",
           "received": "bytes"}


def sums_of(record, *fields):
    return [(KIND_OF[f], float(record[f])) for f in fields]


def pair_up(differences, kind, found, page):
    """Records and rows of the page, which have the same order."""
    if len(found) != len(page):
        differences.append((kind, len(found), len(page)))
    return zip(found, page)


def compare_calls(run, mpi, differences, texts):
    """By process, place and size."""
    whole, *processes = run.of("mpi-process")
    differences += page_differs(whole, mpi["whole"], SUMS)
    for p, page in pair_up(differences, "processes", processes, mpi["processes"]):
        differences += page_differs(p, page, SUMS + (("process", "process", 1),))
        text_row(run, run.process(p["process"]), sums_of(p, *KIND_OF) +
                 [("share", float(p["seconds"]) / float(p["elapsed_sec"]))], texts)
    for p, page in pair_up(differences, "places", run.of("mpi-place"), mpi["places"]):
        differences += page_differs(p, page, SUMS)
        if run.strings[page["call"]] != p["function"]:
            differences.append((p["function"], run.strings[page["call"]]))
        text_row(run, run.call(p["function"], p["caller"]),
                 sums_of(p, "seconds", "waited_sec", "calls", "sent"), texts)
    for s, page in pair_up(differences, "sizes", run.of("mpi-size"), mpi["sizes"]):
        differences += page_differs(s, page, SUMS + (("size_class", "class", 1),
                                                     ("collective", "collective", 1)))
        numbers = sums_of(s, "calls", "sent", "received", "seconds")
        numbers.append(("bytes", 2.0 ** (int(s["size_class"]) - 1)))
        if int(s["size_class"]) and not any(all(shows(x, *n) for n in numbers)
                                            for x in run.report):
            texts.append(("size", numbers))


def compare_pairs(run, mpi, differences, texts):
    for p, of_page in pair_up(differences, "pairs", run.of("mpi-pair"), mpi["pairs"]):
        values = [int(p[f]) for f in ("from_rank", "to_rank", "calls", "sent")]
        if values != of_page:
            differences.append((values, of_page))
        text_row(run, f"{values[0]} to {values[1]}", [("n", values[2]), ("bytes", values[3])],
                 texts)
    comms = [c for c in run.of("mpi-comm") if int(c["calls"])]
    for c, page in pair_up(differences, "communicators", comms, mpi["comms"]):
        differences += page_differs(c, page, (("ranks", "ranks", 1), ("calls", "n", 1),
                                              ("world", "world", 1), ("seconds", "us", 1e6),
                                              ("measured", "measured", 1)))
        if int(c["world"]):
            text_row(run, "MPI_COMM_WORLD",
                     [("n", int(c["ranks"])), *sums_of(c, "calls", "seconds")], texts)


def compare_late(run, mpi, differences, texts):
    """Who came last."""
    late = {}
    for x in run.of("mpi-late"):
        late.setdefault(x["site"], []).append(x)
    for s, page in pair_up(differences, "sites", run.of("mpi-site"), mpi["sites"]):
        values = [int(s["calls"]), int(s["waited_ns"]) // 1000, s["function"]]
        if values != [page["n"], page["waited"], run.strings[page["call"]]]:
            differences.append(("site", values, page))
        text_row(run, run.call(s["function"], s["caller"]),
                 [("time", int(s["waited_ns"]) / 1e9), ("n", int(s["calls"]))], texts)
        for x, of_page in pair_up(differences, "late", late.get(s["id"], []), page["late"]):
            values = [int(x["profile"]), int(x["calls"])] + \
                [int(x[f]) // 1000 for f in ("waited_ns", "behind_ns", "most_behind_ns")]
            if values != [of_page[k] for k in ("profile", "n", "waited", "behind", "most")]:
                differences.append(("late", values, of_page))
            text_row(run, run.process_of(x["profile"]),
                     [("time", int(x["waited_ns"]) / 1e9),
                      ("share", int(x["calls"]) / int(s["calls"])),
                      ("time", int(x["behind_ns"]) / 1e9 / int(x["calls"])),
                      ("time", int(x["most_behind_ns"]) / 1e9)], texts)


def compare_open(run, mpi, differences, texts):
    """Calls that did not end."""
    for o, page in pair_up(differences, "open", run.of("mpi-open"), mpi["open"]):
        values = [int(o["ns"]) // 1000, int(o["threads"]), unescape(o["call"])]
        if values != [page["us"], page["n"], run.strings[page["call"]]]:
            differences.append(("open", values, page))
        numbers = [("time", int(o["ns"]) / 1e9)]
        if int(o["threads"]) > 1:
            numbers.append(("n", int(o["threads"])))
        text_row(run, run.call(values[2], o["caller"]), numbers, texts)


def compare_mpi(run, name):
    mpi = run.meta.get("mpi")
    if not run.of("mpi-ledger"):
        check(f"{name}: no calls of MPI in the page", [mpi] if mpi else [])
        return
    for what, compare in (("calls of MPI", compare_calls), ("pairs of ranks", compare_pairs),
                          ("late ranks", compare_late), ("open calls", compare_open)):
        differences, texts = [], []
        compare(run, mpi, differences, texts)
        check(f"{name}: {what}, page", differences)
        check(f"{name}: {what}, text", texts)


# ---- views of SQLite ----

# A view, the record that it shows, and which of its columns is which field.
VIEWS = (
    ("balances", "balance", {"n": "n", "mean": "mean", "most": "most"}),
    ("efficiencies", "efficiency",
     {"elapsed": "elapsed_sec", **{field: field for field in SHARES}}),
    ("regions", "omp-region",
     {"gain": "gain_sec", "elapsed": "elapsed_sec", "instances": "instances", "work": "work_sec",
      "threads": "most_threads", "efficiency": "efficiency", "imbalance": "imbalance"}),
    ("mpi_processes", "mpi-process",
     {"seconds": "seconds", "waited": "waited_sec", "calls": "calls", "sent": "sent",
      "received": "received"}),
    ("mpi_functions", "mpi-function",
     {"seconds": "seconds", "waited": "waited_sec", "calls": "calls", "sent": "sent"}),
    ("mpi_places", "mpi-place",
     {"seconds": "seconds", "waited": "waited_sec", "calls": "calls", "sent": "sent"}),
    ("late_ranks", "mpi-late", {"last_in": "calls", "rank": "rank"}),
    ("open_calls", "mpi-open", {"threads": "threads"}),
    ("uses", "account-use", {"seconds": "seconds"}),
)


def compare_views(run, name):
    if not run.sqlite.exists():
        return
    differences, n = [], 0
    db = sqlite3.connect(run.sqlite)
    db.row_factory = sqlite3.Row
    for view, kind, columns in VIEWS:
        found = run.of(kind)
        if view == "uses":
            found = sorted((u for u in found if u["process"] == "-"),
                           key=lambda u: -float(u["seconds"]))
        if view == "mpi_processes":
            found = found[1:]  # the first is of all
        rows = db.execute(f"SELECT * FROM {view}").fetchall()
        for record, row in pair_up(differences, view, found, rows):
            n += 1
            differences += [(view, column, record[field], row[column])
                            for column, field in columns.items()
                            if not near(number(record[field]), row[column], 1e-12)]
    # the mean of the view of threads is that of the report
    for row in db.execute("SELECT t.metric, t.value, t.of_mean * b.mean AS again FROM threads t"
                          " JOIN balances b ON b.metric = t.metric AND b.among = 'threads'"
                          " WHERE b.mean > 0"):
        n += 1
        if not near(row["value"], row["again"], 1e-9):
            differences.append(tuple(row))
    check(f"{name}: views of SQLite", differences, n)


def main():
    for argument in sys.argv[1:]:
        directory = pathlib.Path(argument)
        run = Run(directory)
        for compare in (compare_account, compare_efficiencies, compare_regions, compare_balance,
                        compare_mpi, compare_views):
            compare(run, directory.name)
    return 1 if FAILED else 0


if __name__ == "__main__":
    sys.exit(main())
