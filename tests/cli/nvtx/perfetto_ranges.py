#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the ranges and marks of NVTX in a Perfetto trace: perfetto_ranges.py JUDGE TRACE

Each line is: thread, track, depth, start and duration in microseconds, name, with "|" between. The
duration of a mark is "-". A slice that is not inside of the one around it is an error.
"""
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from compare_perfetto import BEGIN, END, INSTANT, decode  # noqa: E402

threads, tracks, names, categories, stacks = {}, {}, {}, {}, {}
for packet in decode(sys.argv[2]):
    for data in packet["interned_data"]:
        if packet.one("trusted_packet_sequence_id") == "1":
            for table, into in (("event_names", names), ("event_categories", categories)):
                into.update((e.one("iid"), e.one("name")) for e in data[table])
    for d in packet["track_descriptor"]:
        if "thread" in d:
            threads[d.one("uuid")] = d.one("thread").one("thread_name")
        elif d.one("parent_uuid") in threads:
            tracks[d.one("uuid")] = f"{threads[d.one('parent_uuid')]}|{d.one('name')}"
    for event in packet["track_event"]:
        track, time = event.one("track_uuid"), int(packet.one("timestamp"))
        if track not in tracks:
            continue
        stack = stacks.setdefault(track, [])
        if event.one("type") == END:
            start, name = stack.pop()
            print(tracks[track], len(stack), start // 1000, (time - start) // 1000, name, sep="|")
            continue
        if categories[event.one("category_iids")] != "nvtx":
            raise ValueError(f"another category: {event}")
        name = names[event.one("name_iid")]
        if event.one("type") == BEGIN:
            stack.append((time, name))
        elif event.one("type") == INSTANT:
            print(tracks[track], len(stack), time // 1000, "-", name, sep="|")
if any(stacks.values()):
    raise ValueError(f"slices that do not end: {stacks}")
