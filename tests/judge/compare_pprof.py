#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what go tool pprof reads with the complete text: compare_pprof.py ALL PROFILE

ALL is what hpcprof-lite --all printed. Compared are the sums of each metric by call path, with the
lines of all frames; the sums by rank, process and thread; and for the first metric the columns flat
and cum of -top. Prints the differences.
"""
import collections
import re
import subprocess
import sys

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


def pprof(*arguments):
    command = ["go", "tool", "pprof", "-symbolize=none", *arguments]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace").splitlines()


class Text:
    """The facts of the complete text."""

    def __init__(self, path):
        functions, names, units, frames = {}, {}, {}, {"-": ()}
        processes, profiles, means = {}, {}, set()
        self.paths, self.threads, self.top = (collections.Counter() for _ in range(3))
        self.files, rows = {""}, collections.Counter()
        text = open(path, encoding="utf-8", errors="surrogateescape", newline="\n")
        for kind, v in records(text):
            if kind == "function":
                functions[v["id"]] = unescape(v["name"]) or "<unknown function>"
            elif kind == "file":
                self.files.add(unescape(v["path"]))
            elif kind == "metric":
                names[v["id"]] = re.split(r" \(", unescape(v["name"]))[0]
                units[v["id"]] = v["unit"]
            elif kind == "gpu-metric" and v["kind"] == "mean":
                names[v["id"]] += "_ACUMU"
            elif kind == "context":
                frames[v["id"]] = self.frame(frames[v["parent"]], functions, v)
            elif kind == "process":
                processes[v["id"]] = (v["rank"], v["pid"])
            elif kind == "profile":
                profiles[v["id"]] = (*processes[v["process"]], v["thread"])
            elif kind == "value" and float(v["point"]):
                n = round(float(v["point"]) * (1e9 if units[v["metric"]] == "sec" else 1))
                self.paths[(names[v["metric"]], frames[v["context"]])] += n
                self.threads[(names[v["metric"]], profiles[v["profile"]])] += n
            elif kind == "by-function" and v["metric"] == line_of(names, units, "0"):
                name = unescape(v["name"]) or "<unknown function>"
                rows[name] += 1
                self.top[(name, "flat")] += round(float(v["exclusive"]) * 1e9)
                self.top[(name, "cum")] += round(float(v["inclusive"]) * 1e9)
        # pprof has one row for functions of the same name
        self.top = collections.Counter({k: v for k, v in self.top.items() if rows[k[0]] == 1})

    @staticmethod
    def frame(above, functions, v):
        """Frames are (function, line), from the entry inwards; a loop has its own line."""
        if v["kind"] == "entry":
            return ((ENTRIES[v["entry"]], "0"),)
        if v["kind"] == "function":
            return above + ((functions[v["function"]], v["line"]),)
        if v["kind"] == "root":
            return ()
        return above[:-1] + ((functions[v["function"]], v["line"]),)


def line_of(names, units, number):
    return f"{names[number]} ({units[number]})" if units[number] == "sec" else names[number]


class Pprof:
    """The same from pprof."""

    def __init__(self, path, files):
        self.paths, self.threads, self.top = (collections.Counter() for _ in range(3))
        lines = pprof("-raw", path)
        at = lines.index("Samples:") + 1
        end = lines.index("Locations")
        types = [t.split("/")[0] for t in lines[at].split()]
        locations = self.read_locations(lines[end + 1 : lines.index("Mappings")], files)
        for i in range(at + 1, end, 2):
            values, ids = lines[i].split(":")
            labels = dict(re.findall(r"(rank|pid|thread):\[(\d+)\]", lines[i + 1]))
            thread = (labels.get("rank", "-1"), labels["pid"], labels["thread"])
            frames = sum((locations[n] for n in reversed(ids.split())), ())
            for name, value in zip(types, map(int, values.split())):
                if value:
                    self.paths[(name, frames)] += value
                    self.threads[(name, thread)] += value
        for line in pprof("-top", "-unit=ns", "-nodecount=100000", "-nodefraction=0", path):
            row = re.match(r" *(\d+)(?:ns)? +\S+% +\S+% +(\d+)(?:ns)? +\S+% +(.*)", line)
            if row:
                name = row[3].removesuffix(" (inline)").removesuffix(" (partial-inline)")
                self.top[(name, "flat")] += int(row[1])
                self.top[(name, "cum")] += int(row[2])

    @staticmethod
    def read_locations(lines, files):
        """A file may have blanks and colons, so it has to be one that the text names. Newer
        versions of Go write a column behind the line: 'name file:LINE:COLUMN s=0()'."""
        locations, number = {}, None
        for line in lines:
            first = re.match(r" *(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*)", line)
            number = first[1] if first else number
            rest = (first[2] if first else line).strip()
            name, where = next(
                (match[1][: -len(f) - 1], match[2])
                for column in (r":\d+", "")
                for match in [re.fullmatch(r"(.*):(\d+)" + column + r" s=\d+\(.*\)", rest)]
                for f in files
                if match and match[1].endswith(" " + f)
            )
            name = re.sub("^(partial call paths).*", r"\1", name)
            locations[number] = ((name, where),) + locations.get(number, ())
        return locations


def differences(what, a, b, slack):
    n = 0
    for key in set(a) | set(b):
        if abs(a[key] - b[key]) > slack:
            print(what, key, a[key], b[key])
            n += 1
    return n


def main():
    text = Text(sys.argv[1])
    profile = Pprof(sys.argv[2], sorted(text.files, key=len, reverse=True))
    tops = {k: v for k, v in profile.top.items() if k in text.top}
    wanted = text.top
    n = differences("path", text.paths, profile.paths, 1)
    n += differences("thread", text.threads, profile.threads, len(text.paths))
    n += differences("top", wanted, collections.Counter(tops), len(text.paths))
    print(f"# {len(text.paths)} sums of paths, {len(text.threads)} of threads, {len(tops)} of -top")
    return 1 if n or not text.paths else 0


if __name__ == "__main__":
    sys.exit(main())
