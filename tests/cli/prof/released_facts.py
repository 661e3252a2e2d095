#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints what a measurement says whatever libraries this machine has, one fact a line, from
hpcprof-lite's profile.json: counts, ledgers, sums of metrics, functions of the measured programs.
Then the kinds of record that the format's page lists and the measurement files lack.
Usage: released_facts.py VERSION PROFILE.JSON MEASUREMENT.MD FILE.hpcrun...
       released_facts.py --lost EXPECTED FOUND   prints expected facts that are not found. What is
                                                 found may have further fields."""

import json
import re
import struct
import sys

# CLOCK has no writer. tests/golden/prof has the next two, which only long or rare runs write.
UNUSED = {"FREE", "CLOCK", "GPU_AGGREGATE", "GPU_VALUE"}
# TORCH_MODULE came to format 1.5 after this measurement was made, GPU_ENERGY with format 1.6.
UNUSED_BY = {"0.1.0": {"TORCH_MODULE", "GPU_ENERGY"}}


def fact(*words):
    print(*(json.dumps(w, sort_keys=True, ensure_ascii=False) for w in words))


def contains(found, expected):
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            key in found and contains(found[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(
            contains(f, e) for f, e in zip(found, expected))
    return found == expected


def read_facts(path):
    decoder, facts = json.JSONDecoder(), []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            words, at = [], 0
            while at < len(line.rstrip()):
                word, at = decoder.raw_decode(line, at)
                words.append(word)
                at += 1
            facts.append((line, words))
    return facts


def print_lost(expected_path, found_path):
    found = [words for _, words in read_facts(found_path)]
    for line, words in read_facts(expected_path):
        if not any(contains(f, words) for f in found):
            print(line, end="")


def kinds_of(path):
    with open(path, "rb") as file:
        data = file.read()
    minor = struct.unpack_from("<H", data, 10)[0]
    offset, kinds = 4096, set()
    while offset + 64 <= len(data):
        magic, kind = struct.unpack_from("<IH", data, offset)
        length, used = struct.unpack_from("<QQ", data, offset + 24)
        if magic == 0x54584548 and used:
            kinds.add(kind)
        offset += length if magic == 0x54584548 and length else 64
    return minor, kinds


if sys.argv[1] == "--lost":
    print_lost(*sys.argv[2:])
    sys.exit()
version, profile_path, page_path, *file_paths = sys.argv[1:]
unused = UNUSED | UNUSED_BY.get(version, set())
with open(profile_path, encoding="utf-8") as file:
    profile = json.load(file)
fact("closes", profile["ledger_closes"], profile["gpu"]["ledger_closes"],
     profile["gpu"]["sampling_closes"])
fact("ledger", profile["ledger"])
fact("gpu ledger", profile["gpu"]["ledger"])
fact("gpu sampling", profile["gpu"]["sampling"])
for program in profile["unmeasured"]:
    fact("unmeasured", program)
for process in profile["processes"]:
    fact("process", *(process[key] for key in ("rank", "host", "pid", "command", "end", "events",
                                               "notes", "ledger")))
    for back_end in process.get("gpu", []):
        fact("gpu", process["pid"], back_end["ledger"])
for thread in profile["profiles"]:
    if thread["kind"] == "thread":
        fact("thread", thread["tid"], thread["name"], thread["cpu_ns"], thread["ledger"])
    else:
        fact("queue", len(thread["operations"]),
             sum(op["end_ns"] - op["start_ns"] for op in thread["operations"] if op["end_ns"]))
for device in profile["gpu"]["devices"]:
    fact("device", device)
for nvtx in profile["nvtx"]["ranges"]:
    fact("nvtx", nvtx)

# Metrics that do not depend on names of functions, which libraries of this machine give.
stable = {i for i, m in enumerate(profile["metrics"])
          if re.match(r"(CPUTIME|OFFCPU|MPI( |:CALLS|:SENT|:RECEIVED)|GKER|GINS|GXCOPY|GMEM|GSYNC)",
                      m["name"])}
for context, metric, *rest in profile["totals"]:
    if context == 0 and metric in stable:
        fact("total", profile["metrics"][metric]["name"], [float(f"{x:.9g}") for x in rest])
for name in sorted({f["name"] for f in profile["functions"] if f["file"] is not None and
                    profile["files"][f["file"]].startswith("/golden/")}):
    fact("function", name)

with open(page_path, encoding="utf-8") as file:
    listed = re.findall(r"^\| (\d+) \| ([A-Z_]+) \| [^|]+ \| 1\.(\d+) \|", file.read(), re.M)
minor, present = 0, set()
for path in file_paths:
    minor_here, kinds = kinds_of(path)
    minor, present = max(minor, minor_here), present | kinds
fact("format", 1, minor)
fact("kinds without a record", [name for number, name, since in listed
                                if int(since) <= minor and int(number) not in present
                                and name not in unused])
