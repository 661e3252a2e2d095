#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads an OTF2 archive by way of otf2-print and checks what it says.

    read_otf2.py ARCHIVE [OTF2-PRINT]

Checks: otf2-print reads definitions and events to the end without a complaint; references are dense
and known; times of a location never go back and lie within the clock's range; the number of events
of each location is the defined one; each sample's unwind distance is the one that follows, by the
definition in OTF2_GlobalDefWriter.h, from it and the sample before it; or Enter and Leave nest and
end on an empty stack. Then prints facts (see facts.py); otf2-print shows six digits of a value.
Exit status 1 and a message when something is wrong. Standard library only.
"""
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from facts import Facts, Paths  # noqa: E402  pylint: disable=wrong-import-position


class Bad(Exception):
    pass


def need(condition, message):
    if not condition:
        raise Bad(message)


def run(*command):
    """Lines of the output; anything on standard error is a complaint."""
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    need(p.returncode == 0 and not p.stderr,
            f"{' '.join(command)}: status {p.returncode}: {p.stderr.decode(errors='replace').strip()[:400]}")
    return p.stdout.decode("utf-8").split("\n")


def reference(text):
    """N of '"name" <N>'; None for UNDEFINED."""
    if text.strip() in ("UNDEFINED", "INVALID"):
        return None
    m = re.search(r"<(\d+)>$", text.strip())
    need(m, f"no reference in '{text}'")
    return int(m.group(1))


class Definitions:
    def __init__(self, lines):
        self.strings, self.regions, self.places, self.contexts = {}, {}, {}, {}
        self.generators, self.members, self.classes, self.instances = {}, {}, {}, {}
        self.locations, self.groups, self.inlined, self.addresses = {}, {}, set(), {}
        self.clock = None
        readers = {
            "STRING": (self.strings, r'"(?P<text>.*)"$', lambda m: m["text"]),
            "REGION": (self.regions,
            r'Name: "(?P<name>.*?)" <\d+> \(Aka\. .*Descr\.: (?P<descr>.*), Role: (?P<role>\w+), Paradigm: SAMPLING, ',
                       lambda m: (m["name"], m["role"], m["descr"])),
            "SOURCE_CODE_LOCATION": (self.places,
            r"File: (?P<file>.*), Line Number: (?P<line>\d+)$",
            lambda m: (reference(m["file"]), int(m["line"]))),
            "CALLING_CONTEXT": (self.contexts,
            r"Region: (?P<region>.*), Source code location: (?P<place>.*), Parent: (?P<parent>.*)$",
                                lambda m: (reference(m["region"]), reference(m["place"]),
                                reference(m["parent"]))),
            "INTERRUPT_GENERATOR": (self.generators,
            r"Name: (?P<name>.*), Mode: (?P<mode>\w+), .* Period: (?P<period>\d+)$",
                                    lambda m: (reference(m["name"]), int(m["period"]))),
            "METRIC_MEMBER": (self.members, r'Name: "(?P<name>.*?)" <\d+>, Descr',
            lambda m: m["name"]),
            "METRIC_CLASS": (self.classes, r"Occurrence: .*Members?: (?P<members>.*)$",
            lambda m: [int(x) for x in re.findall(r"<(\d+)>", m["members"])]),
            "METRIC_INSTANCE": (self.instances, r"Class: (?P<of>\d+), ", lambda m: int(m["of"])),
            "LOCATION": (self.locations,
            r"Name: .*, Type: (?P<type>\w+), # Events: (?P<n>\d+), Group: (?P<group>.*)$",
                         lambda m: (m["type"], int(m["n"]), reference(m["group"]))),
            "LOCATION_GROUP": (self.groups,
            r"Name: .*, Type: (?P<type>\w+), Parent: (?P<parent>[^,]*), Creator: (?P<creator>.*)$",
            lambda m: (m["type"], reference(m["creator"]))),
        }
        for line in lines:
            kind = line.split(" ", 1)[0]
            if kind in readers:
                table, pattern, value = readers[kind]
                m = re.match(r"\S+ +(\d+)  (.*)$", line)
                need(m and re.match(pattern, m[2]), f"definition not understood: {line}")
                need(int(m[1]) not in table, f"{kind} {m[1]} twice")
                table[int(m[1])] = value(re.match(pattern, m[2]))
            elif kind == "CLOCK_PROPERTIES":
                m = re.search(r"Ticks per Seconds: (\d+), Global Offset: (\d+), Length: (\d+)",
                        line)
                self.clock = tuple(int(x) for x in m.groups())
            elif kind == "CALLING_CONTEXT_PROPERTY" and 'Name: "inlined"' in line:
                self.inlined.add(int(re.search(r"<(\d+)>, Name: ", line).group(1)))
            elif kind == "CALLING_CONTEXT_PROPERTY" and 'Name: "address"' in line:
                m = re.search(r"<(\d+)>, Name: .*Value: (\d+)$", line)
                self.addresses[int(m.group(1))] = int(m.group(2))
        self.check()

    def check(self):
        for name in ("strings", "regions", "places", "contexts", "generators", "members",
                "locations", "groups"):
            table = getattr(self, name)
            need(sorted(table) == list(range(len(table))), f"references of {name} are not dense")
        need(self.clock and self.clock[0] == 1000000000, "clock properties")
        need(set(self.classes) & set(self.instances) == set(), "a metric is class and instance")
        self.paths = {None: ()}
        for number in sorted(self.contexts):
            region, place, parent = self.contexts[number]
            need(region in self.regions, f"calling context {number}: region {region}")
            need(place is None or place in self.places, f"calling context {number}: place {place}")
            need(parent is None or parent < number, f"calling context {number}: parent {parent}")
            # what tells frames of one function apart: where they were called from, and whether
            # inlined
            frame = (parent, region, number in self.inlined)
            self.paths[number] = self.paths[parent] + ((number, frame),)
        self.check_system()

    def check_system(self):
        """After the description of location groups in OTF2_Definitions.h."""
        holds = {"PROCESS": "CPU_THREAD", "ACCELERATOR": "ACCELERATOR_STREAM"}
        for number, (kind, creator) in self.groups.items():
            need(kind in holds, f"location group {number}: {kind}")
            if kind == "ACCELERATOR":
                need(creator in self.groups and self.groups[creator][0] == "PROCESS",
                        f"location group {number}: created by {creator}")
                need(any(group == number for _, _, group in self.locations.values()),
                        f"location group {number} is empty")
        for number, (kind, _, group) in self.locations.items():
            need(group in self.groups and holds[self.groups[group][0]] == kind,
                    f"location {number}: {kind} in group {group}")

    def function(self, context):
        """Name of the function of a calling context; that of a loop is its region's description."""
        name, role, descr = self.regions[self.contexts[context][0]]
        return re.match(r'"(.*)" <\d+>', descr).group(1) if role == "LOOP" else name


def distance(defs, last, now):
    """Unwind distance by the definition, from whole paths. First is None before the first
    sample."""
    a, b = defs.paths[last], defs.paths[now]
    common = 0
    while common < min(len(a), len(b)) and a[common][0] == b[common][0]:
        common += 1
    if common < min(len(a), len(b)) and a[common][1] == b[common][1]:
        common += 1  # another place in the same frame: it made progress
    return len(b) - common + 1


class Events:
    def __init__(self, defs, lines):
        self.defs = defs
        self.times, self.counts, self.samples, self.last, self.stacks = {}, {}, {}, {}, {}
        self.totals, self.ledger, self.off = {}, {}, {}
        self.inside, self.ops, self.n_ops, self.busy, self.bytes = {}, {}, {}, {}, {}
        event = re.compile(r"([A-Z_]+) +(\d+) +(\d+)  (.*)$")
        pending = entered = None
        for line in lines:
            if pending:
                self.total(pending, line)
                pending = None
                continue
            m = event.match(line)
            if not m:
                if entered is not None and line.lstrip().startswith("ADDITIONAL ATTRIBUTES: "):
                    self.attributes(entered, line)
                    entered = None
                    continue
                need(not line or line[0] in "=-E\n", f"line not understood: {line}")
                continue
            kind, location, time, rest = m[1], int(m[2]), int(m[3]), m[4]
            need(location in defs.locations, f"event of unknown location: {line}")
            need(time >= self.times.get(location, 0), f"time goes back: {line}")
            need(defs.clock[1] <= time <= defs.clock[1] + defs.clock[2],
                    f"time outside of the clock's range: {line}")
            self.times[location] = time
            self.counts[location] = self.counts.get(location, 0) + 1
            if kind == "MEASUREMENT_ON_OFF":
                self.on_off(location, rest)
            elif kind == "CALLING_CONTEXT_SAMPLE":
                self.sample(location, rest)
            elif kind in ("ENTER", "LEAVE"):
                self.enter_leave(location, kind, reference(rest), line)
                entered = self.operation(location, kind == "ENTER", time)
            elif kind in ("CALLING_CONTEXT_ENTER", "CALLING_CONTEXT_LEAVE"):
                self.context_event(location, kind == "CALLING_CONTEXT_ENTER", rest)
                entered = self.operation(location, kind == "CALLING_CONTEXT_ENTER", time)
            elif kind == "METRIC":
                pending = self.metric(location, rest)
            else:
                raise Bad(f"event not expected: {line}")
        for location, (_, n, _) in defs.locations.items():
            need(self.counts.get(location, 0) == n,
                    f"location {location}: {self.counts.get(location, 0)} events, defined {n}")
        need(not any(self.stacks.values()), "a stack is not empty at the end")
        need(not (self.stacks and (self.samples or self.ops)),
                "Enter/Leave and calling contexts in one archive")
        need(not any(v is not None for v in self.inside.values()), "an operation does not end")

    def on_off(self, location, rest):
        m = re.match(r'Mode: (ON|OFF)$', rest)
        need(m, f"on or off not understood: {rest}")
        need((m[1] == "OFF") != self.off.get(location, False),
                f"location {location}: measurement is {m[1]} already")
        self.off[location] = m[1] == "OFF"
        need(not self.stacks.get(location), f"location {location}: off inside of a region")

    def sample(self, location, rest):
        need(not self.off.get(location, False),
                f"location {location}: a sample while measurement is off")
        m = re.match(r'Calling Context: (.*), Unwind Distance: (\d+), Interrupt Generator: (.*)$',
                rest)
        need(m, f"sample not understood: {rest}")
        context, found, generator = reference(m[1]), int(m[2]), reference(m[3])
        need(context in self.defs.contexts and generator in self.defs.generators, f"sample: {rest}")
        expected = distance(self.defs, self.last.get(location), context)
        need(found == expected,
                f"location {location}: unwind distance {found}, expected {expected}, from {self.last.get(location)} to {context}")
        self.last[location] = context
        self.samples[location] = self.samples.get(location, 0) + 1

    def context_event(self, location, enter, rest):
        """Calling contexts are entered and left by streams alone; the one before an enter is the
        parent of what was left."""
        m = re.match(r"Calling Context: (.*?)(?:, Unwind Distance: (\d+))?$", rest)
        need(m and bool(m[2]) == enter, f"event not understood: {rest}")
        context = reference(m[1])
        need(context in self.defs.contexts and self.is_stream(location),
                f"location {location}: {rest}")
        if enter:
            # it enters something
            expected = max(distance(self.defs, self.last.get(location), context), 2)
            need(int(m[2]) == expected,
                    f"location {location}: unwind distance {m[2]}, expected {expected}")
            self.ops[(location, context)] = self.ops.get((location, context), 0) + 1
            self.last[location] = context
            return
        need(self.last.get(location) == context,
                f"location {location}: leaves {context}, is in {self.last.get(location)}")
        self.last[location] = self.defs.contexts[context][2]

    def is_stream(self, location):
        return self.defs.locations[location][0] == "ACCELERATOR_STREAM"

    def operation(self, location, enter, time):
        """Operations of a stream do not overlap. Returns the location of what was entered."""
        if not self.is_stream(location):
            return None
        start = self.inside.get(location)
        need((start is None) == enter, f"location {location}: operations overlap at {time}")
        self.inside[location] = time if enter else None
        if enter:
            self.samples_of_stream(location)
            return location
        self.busy[location] = self.busy.get(location, 0) + (time - start) * 1e-9
        return None

    def samples_of_stream(self, location):
        self.n_ops[location] = self.n_ops.get(location, 0) + 1

    def attributes(self, location, line):
        found = dict(re.findall(r'\("([^"]*)" <\d+>; \w+; ([^)]*)\)', line))
        need(found, f"attributes not understood: {line}")
        if "bytes" in found:
            self.bytes[location] = self.bytes.get(location, 0) + int(found["bytes"])
        need("direction" not in found or "bytes" in found, f"a direction without bytes: {line}")

    def enter_leave(self, location, kind, region, line):
        need(region in self.defs.regions, f"unknown region: {line}")
        stack = self.stacks.setdefault(location, [])
        if kind == "ENTER":
            stack.append(region)
        else:
            need(stack and stack[-1] == region, f"leaves what is not on top: {line}")
            stack.pop()

    def metric(self, location, rest):
        """Metric events of one value are totals; their calling context is on the next line."""
        m = re.match(r"Metric: (\d+), (\d+) Values?: (.*)$", rest)
        need(m, f"metric not understood: {rest}")
        number, n = int(m[1]), int(m[2])
        members = self.defs.classes[self.defs.instances.get(number, number)]
        values = re.findall(r'<(\d+)>; (?:UINT64|DOUBLE); ([^)]+)\)', m[3])
        need(len(values) == n and [int(v[0]) for v in values] == members,
                f"metric {number}: {rest}")
        if n == 1:
            return int(values[0][0]), float(values[0][1])
        for member, value in values:
            key = ("process" if number in self.defs.instances else "thread",
                    self.defs.members[int(member)])
            self.ledger[key] = self.ledger.get(key, 0) + int(value)
        return None

    def total(self, pending, line):
        m = re.search(r"ADDITIONAL ATTRIBUTES: .*CALLING_CONTEXT; (.*)\)$", line)
        need(m, f"a total without calling context: {line}")
        context = reference(m[1])
        need(context in self.defs.contexts, f"total of an unknown calling context: {line}")
        key = (self.defs.members[pending[0]], context)
        self.totals[key] = self.totals.get(key, 0.0) + pending[1]


def make_paths(defs):
    """A calling context is a frame with its place."""
    paths = Paths()
    for i in sorted(defs.contexts):
        region, place, parent = defs.contexts[i]
        place = defs.addresses.get(i) if place is None else (defs.strings[defs.places[place][0]],
                defs.places[place][1])
        paths.frame(i, parent, defs.regions[region][0], defs.function(i), i in defs.inlined)
        if place is not None:
            paths.place(i, i, place)
    return paths


def print_facts(defs, events):
    facts, paths = Facts(), make_paths(defs)
    facts.add("profiles", len(defs.locations))
    for members in defs.classes.values():
        if len(members) == 1:
            facts.add("total", defs.members[members[0]], 0)
    for (metric, context), value in events.totals.items():
        facts.value(metric, paths.function(context), paths.hash(context), value)
    for location in defs.locations:
        facts.add("samples", location, events.samples.get(location, 0)
                + events.n_ops.get(location, 0))
        facts.add("kind", location, "queue" if events.is_stream(location) else "thread", 1)
        if events.is_stream(location):
            facts.add("busy", location, events.busy.get(location, 0))
            facts.add("bytes", location, events.bytes.get(location, 0))
    for (location, context), n in events.ops.items():
        facts.add("ops", location, paths.hash(context), n)
    for (whose, name), value in events.ledger.items():
        m = re.match(r"GPU (launched|joined|summed up|loss): (\S+)$", name)
        if m and value:
            facts.add("lost" if m[1] == "loss" else m[1].replace(" ", "-"), m[2], value)
        else:  # of threads and of processes: what belongs to no thread
            facts.add("ledger", name, value)
    facts.print()


def main():
    if len(sys.argv) not in (2, 3):
        print("usage: read_otf2.py ARCHIVE [OTF2-PRINT]", file=sys.stderr)
        return 2
    tool = sys.argv[2] if len(sys.argv) == 3 else "otf2-print"
    try:
        defs = Definitions(run(tool, "-G", sys.argv[1]))
        print_facts(defs, Events(defs, run(tool, sys.argv[1])))
    except (Bad, OSError, UnicodeDecodeError) as e:
        print(f"read_otf2.py: {sys.argv[1]}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
