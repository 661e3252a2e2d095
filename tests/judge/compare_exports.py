#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the three exports of everything record by record and field by field:
compare_exports.py ALL DIRECTORY, where ALL is what hpcprof-lite --all printed, and DIRECTORY has
profile.json and, if it was written, profile.sqlite. Fields that one of them has under another name
count as not there. Prints how many fields were compared; a difference is an error."""
import json
import pathlib
import sqlite3
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from read_text import unescape  # noqa: E402
from text_records import records  # noqa: E402

ARRAYS = {"module": "modules", "function": "functions", "metric": "metrics", "context": "contexts",
          "process": "processes", "profile": "profiles", "unmeasured": "unmeasured",
          "gpu-device": "gpu.devices", "gpu-queue": "gpu.queues", "gpu-shape": "gpu.shapes",
          "gpu-context": "gpu.contexts", "gpu-idle": "gpu.idle", "gpu-blame": "gpu.blames",
          "account": "account", "account-use": "account.uses", "account-spread": "account.spreads",
          "efficiency": "efficiencies", "gpu-efficiency": "gpu_efficiency",
          "omp-region": "omp_regions", "balance": "balances",
          "mpi-comm": "mpi.communicators", "mpi-call": "mpi.calls", "mpi-site": "mpi.sites",
          "mpi-late": "mpi.sites.last", "mpi-process": "mpi.processes",
          "mpi-function": "mpi.functions", "mpi-place": "mpi.places", "mpi-size": "mpi.sizes",
          "mpi-pair": "mpi.pairs", "mpi-open": "mpi.open",
          "nccl-device": "nccl.devices", "nccl-site": "nccl.sites", "meter": "gpu.meters",
          "nvtx-range": "nvtx.ranges"}


def same(text, other, start_ns=None):
    """True if the field of the text says what the other export says; None: unknown, or left out."""
    if other is None:
        return text in ("-", "", "0", "-1")
    if isinstance(other, bool):
        return text == str(int(other))
    if isinstance(other, str) and other.startswith("0x"):
        return int(text, 0) == int(other, 0)
    if isinstance(other, str):
        return unescape(text) == other or (text == "" and other == "<unknown function>")
    if text == "":
        return False
    if text.startswith("0x"):
        return int(text, 16) == other
    if isinstance(other, float) or "." in text or "e" in text:
        return float(text) == float(other)
    # an unsigned number of 64 bits is a negative one in SQL; times in JSON are relative
    return (int(text) - other) % 2**64 == 0 or (start_ns and int(text) - start_ns == other)


def compare(kind, texts, others, start_ns=None):
    n = 0
    if len(texts) != len(others):
        raise ValueError(f"{kind}: {len(texts)} records in the text, {len(others)} elsewhere")
    for i, (text, other) in enumerate(zip(texts, others)):
        for name in text.names:
            value = other.get(name)
            if name not in other or isinstance(value, (list, dict)):
                continue
            n += 1
            if not same(text[name], value, start_ns):
                raise ValueError(f"{kind} {i}: {name} is {text[name]} in the text, "
                                 f"{value} elsewhere")
    return n


def find(found, keys):
    """The objects at the path, of all objects of arrays on the way."""
    for key in keys:
        objects = found if isinstance(found, list) else [found or {}]
        found = [x.get(key) for x in objects]
        found = [y for x in found for y in (x if isinstance(x, list) else [x] if x else [])]
    return found


def main():
    texts, directory = {}, pathlib.Path(sys.argv[2])
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape", newline="\n") as f:
        for kind, record in records(f):
            texts.setdefault(kind, []).append(record)
    profile = json.loads((directory / "profile.json").read_text(encoding="utf-8"))
    n_json = n_sql = 0
    for kind, path in ARRAYS.items():
        n_json += compare(kind, texts.get(kind, []), find(profile, path.split(".")),
                          int(profile["start_ns"]))
    if (directory / "profile.sqlite").exists():
        db = sqlite3.connect(directory / "profile.sqlite")
        db.row_factory = sqlite3.Row
        tables = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
        for kind in sorted(texts):
            table = kind.replace("-", "_")
            if table in tables and kind not in ("ledger", "sample"):
                rows = [dict(row) for row in db.execute(f"SELECT * FROM {table}")]
                n_sql += compare(kind, texts[kind], rows)
    print(f"{n_json} fields of JSON, {n_sql} of SQL")


if __name__ == "__main__":
    main()
