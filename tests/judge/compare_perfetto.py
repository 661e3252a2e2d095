#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares a Perfetto trace with the complete text: compare_perfetto.py [--leaves] ALL TRACE

ALL is what hpcprof-lite --all printed. protoc decodes the trace with perfetto.proto. A field that
the schema does not have is an error. Compared are: the tracks with their names; each sample with
its thread, metric, time and call path; the times without measurement; each GPU operation with its
queue, times, name and arguments; and each flow from a launch to an operation. With --leaves only
the last frames of call paths take part: of Python programs, interpreter frames are left out of the
paths. Prints the differences.
"""
import collections
import os
import re
import subprocess
import sys
import zlib

sys.dont_write_bytecode = True
from read_text import unescape  # noqa: E402  pylint: disable=wrong-import-position
from text_records import records  # noqa: E402  pylint: disable=wrong-import-position

ENTRIES = {
    "main": "main thread",
    "thread": "application thread",
    "partial": "partial call paths",
    "gpu-no-path": "GPU operations without a call path",
    "gpu-no-launch": "GPU operations without a known launch",
    "omp-idle": "idle OpenMP threads: outside of any region",
}
SHAPE = [f"{a}.{b}" for a in ("grid", "block", "cluster", "global") for b in "xyz"] + [
    "registers", "static_shared_bytes", "dynamic_shared_bytes", "local_bytes"]
BEGIN, END, INSTANT = "1", "2", "3"


# ---- the text ----


class Text:
    """The facts of the complete text."""

    def __init__(self, path):
        self.metrics, self.profiles, self.queues, self.shapes = {}, {}, {}, {}
        self.functions, self.frames, self.contexts = {}, {"-": ()}, {}
        self.tracks, self.processes, self.samples = {}, {}, collections.Counter()
        self.operations, self.flows = collections.Counter(), collections.Counter()
        self.placeholders, self.off, self.idle = set(), collections.Counter(), {}
        text = open(path, encoding="utf-8", errors="surrogateescape", newline="\n")
        for kind, v in records(text):
            read = getattr(self, "read_" + kind.replace("-", "_"), None)
            if read:
                read(v)
        for profile in list(self.idle):
            self.measure(profile, self.profiles[profile]["end_ns"])

    def read_function(self, v):
        self.functions[v["id"]] = unescape(v["name"]) or "<unknown function>"

    def read_gpu_function(self, v):
        self.placeholders.add(v["id"])

    def read_metric(self, v):
        self.metrics[v["id"]] = unescape(v["name"])

    def read_context(self, v):
        self.contexts[v["id"]] = (v["parent"], v["kind"], v["function"])
        self.frames[v["id"]] = self.frames[v["parent"]]
        if v["kind"] == "entry":
            self.frames[v["id"]] += (ENTRIES[v["entry"]],)
        elif v["kind"] == "function":
            self.frames[v["id"]] += (self.functions[v["function"]],)

    def read_process(self, v):
        name = unescape(v["executable"]).rsplit("/", 1)[-1]
        self.processes[v["id"]] = name if v["rank"] == "-1" else f"rank {v['rank']}: {name}"

    def read_profile(self, v):
        number = v["thread"]
        name = unescape(v["name"]) or ("main thread" if number == "0" else f"thread {number}")
        self.profiles[v["id"]] = v
        self.tracks[v["id"]] = (self.processes[v["process"]], name)

    def read_gpu_queue(self, v):
        self.queues[v["id"]] = unescape(v["name"])

    def read_gpu_profile(self, v):
        name = self.queues[v["queue"]] + ("" if v["lane"] == "0" else f" lane {v['lane']}")
        self.tracks[v["id"]] = (self.processes[self.profiles[v["id"]]["process"]], name)

    def read_gpu_shape(self, v):
        values = {name: int(v[name.replace(".", "_")]) for name in SHAPE}
        for name in ("grid", "block", "cluster", "global"):
            if not values[name + ".x"]:
                for axis in "xyz":
                    del values[f"{name}.{axis}"]
        self.shapes[v["id"]] = {k: n for k, n in values.items() if n or "." in k}

    def read_sample(self, v):
        self.measure(v["profile"], v["time_ns"])
        metric, frames = self.metrics[v["metric"]], self.frames[v["context"]]
        self.samples[(v["profile"], metric, v["time_ns"], frames)] += 1

    def read_idle(self, v):
        self.idle.setdefault(v["profile"], v["time_ns"])

    def measure(self, profile, time):
        if profile in self.idle:
            start = self.idle.pop(profile)
            self.off[(profile, start, max(start, time, key=int))] += 1

    def api(self, kind, context):
        """The function that asked for an operation."""
        at = self.contexts[context][0] if kind == "kernel" else context
        while at != "-" and (self.contexts[at][1] != "function"
                             or self.contexts[at][2] in self.placeholders):
            at = self.contexts[at][0]
        return at

    def read_gpu_op(self, v):
        profile, start, end, enter = v["profile"], v["start_ns"], v["end_ns"], v["enter_ns"]
        kind = v["kind"]
        arguments = dict(self.shapes.get(v["shape"], {}))
        names = {"correlation_id": v["launch_id"], "enqueued_ns": enter,
                 "queued_ns": v["queued_ns"], "submitted_ns": v["submitted_ns"]}
        if kind == "kernel":
            name = self.functions[self.contexts[v["context"]][2]]
            names["graph_node"] = v["graph_node"]
        else:
            name = f"{kind} {v['detail']}" if kind == "copy" else kind
            arguments["bytes"] = int(v["bytes"])
        arguments.update((k, int(n)) for k, n in names.items() if int(n))
        arguments = tuple(sorted(arguments.items()))
        self.operations[(profile, start, end, name, kind, arguments)] += 1
        if v["launcher"] != "-" and enter != "0":
            api = self.api(kind, v["context"])
            self.flows[(v["launcher"], enter, self.frames[api], profile, start, name)] += 1


# ---- the trace ----


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def packets(path):
    """The packets inside of the compressed ones."""
    data, at, out = open(path, "rb").read(), 0, []
    while at < len(data):
        tag, at = varint(data, at)
        n, at = varint(data, at)
        inner, start = varint(data, at)
        length, start = varint(data, start)
        if tag != 1 << 3 | 2 or inner != 50 << 3 | 2 or start + length != at + n:
            raise ValueError(f"no compressed packets at byte {at}")
        out.append(zlib.decompress(data[start : at + n]))
        at += n
    return b"".join(out)


class Message(collections.defaultdict):
    """Lists of values by name of the field."""

    def __init__(self):
        super().__init__(list)

    def one(self, name, default=None):
        return self[name][0] if name in self else default


def unquote(s):
    def plain(m):
        return bytes([int(m[1], 8)]) if m[1].isdigit() else {
            b"n": b"\n", b"r": b"\r", b"t": b"\t"}.get(m[1], m[1])

    return re.sub(rb"\\([0-7]{3}|.)", plain, s.encode()).decode("utf-8", "surrogateescape")


def decode(path):
    judge = os.path.dirname(os.path.abspath(__file__))
    command = ["protoc", "-I", judge, "--decode=judge.Trace", "perfetto.proto"]
    text = subprocess.run(command, input=packets(path), capture_output=True, check=True).stdout
    stack = [Message()]
    for line in text.decode().split("\n"):
        line = line.strip()
        if line.endswith(" {"):
            name = line[:-2]
            stack.append(Message())
            stack[-2][name].append(stack[-1])
        elif line == "}":
            stack.pop()
        elif line:
            name, value = line.split(": ", 1)
            stack[-1][name].append(unquote(value[1:-1]) if value[0] == '"' else value)
        if line and line[0].isdigit():
            raise ValueError(f"a field that the schema does not have: {line}")
    return stack[0]["packet"]


class Trace:
    """The same facts from the trace."""

    def __init__(self, path):
        self.sequences, self.threads, self.pids = {}, {}, {}
        self.tracks, self.samples = {}, collections.Counter()
        self.operations, self.flows = collections.Counter(), collections.Counter()
        self.open, self.launches, self.ends = {}, {}, []
        self.off, self.waits, self.clock = collections.Counter(), collections.Counter(), None
        for packet in decode(path):
            self.read(packet)
        for (flow, end) in self.ends:
            self.flows[self.launches[flow] + end] += 1
        if self.open:
            raise ValueError(f"slices that do not end: {self.open}")

    def read(self, packet):
        number, flags = packet.one("trusted_packet_sequence_id"), int(packet.one("sequence_flags"))
        if flags & 1:
            defaults = packet.one("trace_packet_defaults")
            if number in self.sequences or defaults.one("timestamp_clock_id") != "1":
                raise ValueError(f"sequence {number} does not begin as it should")
            perf = defaults.one("perf_sample_defaults")
            name = perf.one("timebase").one("name") if perf else None
            self.sequences[number] = (name, collections.defaultdict(dict))
        metric, tables = self.sequences[number]
        for data in packet["interned_data"]:
            for table, entries in data.items():
                for entry in entries:
                    if entry.one("iid") in tables[table]:
                        raise ValueError(f"{table} {entry.one('iid')} twice in a sequence")
                    tables[table][entry.one("iid")] = entry
        for snapshot in packet["clock_snapshot"]:
            self.clock = snapshot
        for track in packet["track_descriptor"]:
            self.read_track(track)
        time = packet.one("timestamp")
        for sample in packet["perf_sample"]:
            thread = self.threads[(sample.one("pid"), sample.one("tid"))]
            frames = self.frames(tables, sample.one("callstack_iid"))
            self.samples[(thread, metric, time, frames)] += 1
        for event in packet["track_event"]:
            self.read_event(tables, event, time)

    def read_track(self, track):
        uuid = int(track.one("uuid"))
        if "process" in track:
            process = track.one("process")
            pid = process.one("pid")
            if pid in self.pids.values():
                raise ValueError(f"two processes {pid}")
            self.pids[uuid] = pid
            self.tracks[uuid] = process.one("process_name", "")
            return
        parent = int(track.one("parent_uuid"))
        profile = str(uuid - len(self.pids) - 1)
        thread = track.one("thread")
        if thread:
            key = (thread.one("pid"), thread.one("tid"))
            if key[0] != self.pids[parent] or any(t == key[1] for _, t in self.threads):
                raise ValueError(f"thread {key} is not unique")
            self.threads[key] = profile
        name = thread.one("thread_name") if thread else track.one("name")
        self.tracks[profile] = (self.tracks[parent], name)

    @staticmethod
    def frames(tables, stack):
        names = []
        for number in tables["callstacks"][stack]["frame_ids"]:
            frame = tables["frames"][number]
            mapping = tables["mappings"][frame.one("mapping_id")]
            for path in mapping["path_string_ids"]:
                tables["mapping_paths"][path].one("name")
            if "build_id" in mapping:
                tables["build_ids"][mapping.one("build_id")].one("str")
            if "source_path_iid" in frame:
                tables["source_paths"][frame.one("source_path_iid")].one("name")
            names.append(tables["function_names"][frame.one("function_name_id")].one("name"))
        names[0] = re.sub("^(partial call paths).*", r"\1", names[0])
        return tuple(names)

    def arguments(self, tables, annotations, prefix=""):
        for a in annotations:
            name = prefix + tables["debug_annotation_names"][a.one("name_iid")].one("name")
            if "dict_entries" in a:
                yield from self.arguments(tables, a["dict_entries"], name + ".")
            elif not name.startswith("warps_per_sm"):  # the text does not have it by shape
                yield name, int(a.one("uint_value"))

    def read_event(self, tables, event, time):
        profile = str(int(event.one("track_uuid")) - len(self.pids) - 1)
        kind = event.one("type")
        if kind == END:
            start, name, category, arguments = self.open.pop(profile)
            if category == "wait":
                self.waits[(profile, start, time, name)] += 1
            elif category == "measurement":
                self.off[(profile, start, time)] += 1
            else:
                self.operations[(profile, start, time, name, category, arguments)] += 1
            return
        name = tables["event_names"][event.one("name_iid")].one("name")
        category = tables["event_categories"][event.one("category_iids")].one("name")
        arguments = tuple(sorted(self.arguments(tables, event["debug_annotations"])))
        if kind == INSTANT:
            stack = event.one("callstack_iid")
            frames = self.frames(tables, stack) if stack else ()
            for flow in event["flow_ids"]:
                if flow in self.launches:
                    raise ValueError(f"flow {flow} begins twice")
                self.launches[flow] = (profile, time, frames)
            if frames and name != frames[-1]:
                raise ValueError(f"launch {name} of the call path {frames}")
            return
        if profile in self.open:
            raise ValueError(f"track {profile}: two slices at once")
        self.open[profile] = (time, name, category, arguments)
        self.ends += [(f, (profile, time, name)) for f in event["terminating_flow_ids"]]


# ---- both ----


def leaves(counts, where):
    sums = collections.Counter()
    for key, n in counts.items():
        sums[key[:where] + key[where][-1:] + key[where + 1 :]] += n
    return sums


def differences(what, a, b):
    wrong = [k for k in set(a) | set(b) if a.get(k) != b.get(k)]
    for key in wrong[:20]:
        print(what, key, a.get(key), b.get(key))
    return len(wrong)


def main():
    only_leaves = sys.argv[1] == "--leaves"
    text, trace = Text(sys.argv[-2]), Trace(sys.argv[-1])
    tracks = {k: v for k, v in trace.tracks.items() if isinstance(k, str)}
    if only_leaves:
        for side in text, trace:
            side.samples, side.flows = leaves(side.samples, 3), leaves(side.flows, 2)
    wrong = differences("track", text.tracks, tracks)
    wrong += differences("sample", text.samples, trace.samples)
    wrong += differences("off", text.off, trace.off)
    wrong += differences("operation", text.operations, trace.operations)
    wrong += differences("flow", text.flows, trace.flows)
    if trace.clock is None or trace.clock.one("primary_trace_clock") != "1":
        print("the clock of the trace is not CLOCK_REALTIME")
        wrong += 1
    print(f"# {len(tracks)} tracks, {sum(trace.samples.values())} samples, "
          f"{sum(trace.operations.values())} operations, "
          f"{sum(trace.flows.values())} flows, {len(trace.off)} times off, {wrong} differ")
    return 1 if wrong or not tracks else 0


if __name__ == "__main__":
    sys.exit(main())
