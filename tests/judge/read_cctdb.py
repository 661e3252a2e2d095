#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An independent reader of the CCT database (HPCToolkit's format 4.0), written from FORMATS.md
alone.

    read_cctdb.py DIRECTORY

Checks every pointer, alignment, order, footer and sum in meta.db, profile.db, cct.db and trace.db
and that the four agree, then prints what the database holds as facts (see facts.py). Exit status 1
and a message when something is wrong. Standard library only. Test of itself:
tests/cli/sink/sink_cctdb.sh breaks databases and sees it complain.
"""
import math
import os
import re
import struct
import sys

sys.dont_write_bytecode = True
from facts import Facts, Paths, accumulator  # noqa: E402  pylint: disable=wrong-import-position


class Bad(Exception):
    pass


def need(condition, message):
    if not condition:
        raise Bad(message)


class File:
    """Bytes with checked access; `where` names it in messages."""

    def __init__(self, directory, name, code, footer, sections):
        self.where = name
        with open(os.path.join(directory, name), "rb") as f:
            self.data = f.read()
        need(len(self.data) >= 16 + 16 * len(sections) + 8, f"{name}: too short")
        need(self.data[:10] == b"HPCTOOLKIT" and self.data[10:14] == code, f"{name}: wrong magic")
        need(self.data[14] == 4 and self.data[15] == 0,
                f"{name}: version {self.data[14]}.{self.data[15]}")
        need(self.data[-8:] == footer, f"{name}: wrong footer")
        self.sections = {}
        self.used = [(0, 16 + 16 * len(sections), "header"),
                (len(self.data) - 8, len(self.data), "footer")]
        for i, section in enumerate(sections):
            size, start = self.get("<QQ", 16 + 16 * i)
            self.pointer(start, 8, f"section {section}")
            need(start + size <= len(self.data) - 8,
                    f"{name}: section {section} ends beyond the file")
            self.sections[section] = (start, start + size)
            self.used.append((start, start + size, section))

    def get(self, form, at):
        size = struct.calcsize(form)
        need(0 <= at and at + size <= len(self.data),
                f"{self.where}: offset {at:#x} outside the file")
        return struct.unpack_from(form, self.data, at)

    def pointer(self, at, alignment, what):
        need(0 < at < len(self.data), f"{self.where}: {what}: pointer {at:#x} outside the file")
        need(at % alignment == 0, f"{self.where}: {what}: {at:#x} is not aligned to {alignment}")

    def inside(self, section, start, size, alignment, what):
        low, high = self.sections[section]
        self.pointer(start, alignment, what)
        need(low <= start and start + size <= high,
                f"{self.where}: {what}: {start:#x} is outside section {section}")

    def string(self, section, at, what):
        low, high = self.sections[section]
        need(low <= at < high, f"{self.where}: {what}: string {at:#x} outside section {section}")
        end = self.data.find(b"\0", at, high)
        need(end >= 0, f"{self.where}: {what}: string without end")
        return self.data[at:end].decode("utf-8")

    def block(self, start, size, alignment, what):
        """A part of the file outside of sections."""
        need(start % alignment == 0,
                f"{self.where}: {what} at {start:#x} is not aligned to {alignment}")
        need(start + size <= len(self.data) - 8, f"{self.where}: {what} ends beyond the file")
        if size:
            self.used.append((start, start + size, what))

    def check_use(self, gap=8):
        """Nothing overlaps, and nothing but padding is unused. A block can be that of several."""
        at, last = 0, "start"
        for (start, end), what in sorted({u[:2]: u[2] for u in self.used}.items()):
            need(start >= at,
                    f"{self.where}: {what} at {start:#x} overlaps {last}, which ends at {at:#x}")
            need(start - at < gap, f"{self.where}: {start - at} unused bytes before {what}")
            need(not any(self.data[at:start]), f"{self.where}: padding before {what} is not zero")
            at, last = end, what


class Context:
    __slots__ = ("id", "parent", "kind", "relation", "function", "place", "has_point",
            "propagation", "children", "entry")


class Meta:
    def __init__(self, directory):
        f = self.f = File(directory, "meta.db", b"meta", b"_meta.db",
                          ["general", "idnames", "metrics", "contexts", "strings", "modules",
                          "files", "functions"])
        title, description = f.get("<QQ", f.sections["general"][0])
        self.title = f.string("general", title, "title")
        self.description = f.string("general", description, "description")
        self.read_kinds()
        self.read_metrics()
        self.read_objects(directory)
        self.read_contexts()
        f.check_use()

    def read_kinds(self):
        f = self.f
        names, n = f.get("<QB", f.sections["idnames"][0])
        f.inside("idnames", names, 8 * n, 8, "identifier names")
        self.kinds = [f.string("idnames", f.get("<Q", names + 8 * i)[0], "identifier name")
                for i in range(n)]

    def read_metrics(self):
        f = self.f
        metrics, n, size, instance_size, summary_size = f.get("<QLBBB", f.sections["metrics"][0])
        scopes, n_scopes, scope_size = f.get("<QHB", f.sections["metrics"][0] + 0x10)
        f.inside("metrics", metrics, n * size, 8, "metrics")
        f.inside("metrics", scopes, n_scopes * scope_size, 8, "scopes")
        self.scopes = {}
        for i in range(n_scopes):
            name, kind, index = f.get("<QBB", scopes + i * scope_size)
            self.scopes[scopes + i * scope_size] = (f.string("metrics", name, "scope"), kind, index)
        need({s[0]: s[1] for s in self.scopes.values()} == {"function": 3, "lex_aware": 0,
                "execution": 2}, "meta.db: scopes")
        self.metrics, self.value_ids, self.statistic_ids = [], {}, {}
        for i in range(n):
            name, instances, summaries, n_instances, n_summaries = f.get("<QQQHH",
                    metrics + i * size)
            name = f.string("metrics", name, "metric")
            self.metrics.append(name)
            f.inside("metrics", instances, n_instances * instance_size, 8, name)
            f.inside("metrics", summaries, n_summaries * summary_size, 8, name)
            for k in range(n_instances):
                scope, number = f.get("<QH", instances + k * instance_size)
                need(scope in self.scopes and number not in self.value_ids,
                        f"meta.db: instance {k} of {name}")
                self.value_ids[number] = (i, self.scopes[scope][0])
            for k in range(n_summaries):
                scope, formula, combine, number = f.get("<QQBxH", summaries + k * summary_size)
                need(scope in self.scopes and number not in self.statistic_ids and combine < 3,
                        f"meta.db: summary {k} of {name}")
                formula = f.string("metrics", formula, "formula")
                self.statistic_ids[number] = (i, self.scopes[scope][0], formula,
                        ("sum", "min", "max")[combine])
        need(len(set(self.metrics)) == n, "meta.db: two metrics of one name")
        need(len(self.value_ids) == 3 * n, "meta.db: three scopes for each metric")

    def read_list(self, section, least):
        f = self.f
        items, n, size = f.get("<QLH", f.sections[section][0])
        need(size >= least, f"meta.db: {section} of {size} bytes")
        f.inside(section, items, n * size, 8, section)
        return [items + i * size for i in range(n)]

    def read_objects(self, directory):
        f = self.f
        self.modules, self.files, self.functions = {}, {}, {}
        for at in self.read_list("modules", 16):
            self.modules[at] = f.string("strings", f.get("<Q", at + 8)[0], "module")
        for at in self.read_list("files", 16):
            flags, path = f.get("<LxxxxQ", at)
            path = f.string("strings", path, "file")
            self.files[at] = path
            need(flags in (0, 1), f"meta.db: flags of {path}")
            if flags:
                need(not os.path.isabs(path) and ".." not in path.split("/"),
                        f"meta.db: {path}: copied to outside")
                need(os.path.isfile(os.path.join(directory, path)),
                        f"meta.db: {path}: is marked as copied and is not there")
        for at in self.read_list("functions", 40):
            name, module, offset, file, line, _ = f.get("<QQQQLL", at)
            need(module == 0 or module in self.modules, f"meta.db: module of function {at:#x}")
            need(file == 0 or file in self.files, f"meta.db: file of function {at:#x}")
            self.functions[at] = f.string("strings", name, "function")
            need(self.functions[at], "meta.db: a function without name")
            need(not self.functions[at].startswith("<gpu ") or (module, offset, file, line)
                    == (0, 0, 0, 0), f"meta.db: {self.functions[at]} has a place")

    def read_contexts(self):
        f = self.f
        entries, n, size = f.get("<QHB", f.sections["contexts"][0])
        f.inside("contexts", entries, n * size, 8, "entry points")
        root = Context()
        root.id, root.parent, root.kind = 0, None, "root"
        root.children, root.relation, root.propagation = [], 1, 0
        self.contexts = {0: root}
        pending, blocks = [], [(f.sections["contexts"][0], f.sections["contexts"][0] + 16),
                (entries, entries + n * size)]
        for i in range(n):
            n_bytes, children, number, kind, name = f.get("<QQLHxxQ", entries + i * size)
            c = Context()
            c.id, c.parent, c.kind = number, root, "entry"
            c.relation, c.propagation, c.children = 1, 0, []
            c.entry = (kind, f.string("strings", name, "entry point"))
            need(kind < 3, f"meta.db: entry point {kind}")
            self.add(c)
            pending.append((c, children, n_bytes))
        while pending:
            parent, at, n_bytes = pending.pop()
            need((at == 0) == (n_bytes == 0), f"meta.db: children of context {parent.id}")
            if n_bytes == 0:
                continue
            f.inside("contexts", at, n_bytes, 8, f"children of context {parent.id}")
            blocks.append((at, at + n_bytes))
            end = at + n_bytes
            while at < end:
                at = self.read_context(parent, at, pending)
            need(at == end,
                    f"meta.db: children of context {parent.id} end at {at:#x}, not {end:#x}")
        blocks.sort()
        for a, b in zip(blocks, blocks[1:]):
            need(a[1] == b[0], "meta.db: contexts overlap or leave room")
        need(sorted(self.contexts) == list(range(len(self.contexts))),
                "meta.db: context ids are not dense")
        for c in self.contexts.values():
            need(all(k.id > c.id for k in c.children),
                    f"meta.db: context {c.id} has a child of a smaller id")

    def add(self, c):
        need(c.id not in self.contexts, f"meta.db: context {c.id} twice")
        self.contexts[c.id] = c
        c.parent.children.append(c)

    def read_context(self, parent, at, pending):
        f = self.f
        n_bytes, children, number, flags, relation, lexical, words, propagation = f.get(
                "<QQLBBBBH", at)
        need(flags < 8 and relation < 3 and lexical < 4,
                f"meta.db: context {number}: flags {flags}, relation {relation}, type {lexical}")
        c = Context()
        c.id, c.parent, c.children = number, parent, []
        c.relation, c.propagation = relation, propagation
        c.kind = ("function", "loop", "line", "instruction")[lexical]
        c.function = c.place = None
        c.has_point = bool(flags & 4)
        flex, used = at + 0x20, 0
        if flags & 1:
            pointer, = f.get("<Q", flex)
            need(pointer in self.functions, f"meta.db: function of context {number}")
            c.function = self.functions[pointer]
            used += 1
        if flags & 2:
            pointer, line = f.get("<QL", flex + 8 * used)
            need(pointer in self.files, f"meta.db: file of context {number}")
            c.place = (self.files[pointer], line)
            used += 2
        if flags & 4:
            pointer, offset = f.get("<QQ", flex + 8 * used)
            need(pointer in self.modules, f"meta.db: module of context {number}")
            c.place = (self.modules[pointer], offset)
            used += 2
        need(used == words, f"meta.db: context {number}: {words} words, {used} used")
        need(lexical != 0 or c.function, f"meta.db: function context {number} without function")
        need(lexical == 0 or (relation == 0 and c.place),
                f"meta.db: context {number} is {c.kind} and called, or without place")
        need(propagation == (1 if relation == 0 else 0),
                f"meta.db: propagation of context {number}")
        self.add(c)
        pending.append((c, children, n_bytes))
        return at + 0x20 + 8 * words


def increasing(numbers, what):
    for a, b in zip(numbers, numbers[1:]):
        need(a < b, f"{what}: {b} behind {a}")


def read_block(f, at, value_form, index_form, n_form, what):
    """A sparse value block as {outer: {inner: value}}."""
    n_values, values, n_indices, indices = f.get("<QQ" + n_form + "Q", at)
    value_size, index_size = struct.calcsize(value_form), struct.calcsize(index_form)
    f.block(values, n_values * value_size, 2 if value_form[1] == "H" else 4, what + " values")
    f.block(indices, n_indices * index_size, 4 if index_form[1] == "L" else 2, what + " indices")
    need(n_values == 0 or values < indices, f"{f.where}: {what}: values behind the indices")
    all_values = list(struct.iter_unpack(value_form, f.data[values:values + n_values * value_size]))
    all_indices = list(struct.iter_unpack(index_form,
            f.data[indices:indices + n_indices * index_size]))
    increasing([i[0] for i in all_indices], f"{f.where}: {what}")
    starts = [i[1] for i in all_indices] + [n_values]
    need(not all_indices or starts[0] == 0, f"{f.where}: {what}: first index")
    increasing(starts, f"{f.where}: {what}: starts")
    result = {}
    for k, (outer, start) in enumerate(all_indices):
        part = all_values[start:starts[k + 1]]
        increasing([v[0] for v in part], f"{f.where}: {what}, {outer}")
        for _, value in part:
            need(value != 0 and math.isfinite(value), f"{f.where}: {what}, {outer}: value {value}")
        result[outer] = dict(part)
    return result


class Profiles:
    def __init__(self, directory, meta):
        f = File(directory, "profile.db", b"prof", b"_prof.db", ["infos", "tuples"])
        items, n, size = f.get("<QLB", f.sections["infos"][0])
        need(size >= 44, f"profile.db: profiles of {size} bytes")
        f.inside("infos", items, n * size, 8, "profiles")
        self.values, self.tuples = [], []
        at = f.sections["tuples"][0]
        for i in range(n):
            self.values.append(read_block(f, items + i * size, "<Hd", "<LQ", "Lxxxx",
                    f"profile {i}"))
            pointer, flags = f.get("<QL", items + i * size + 0x20)
            need(flags == (1 if i == 0 else 0), f"profile.db: flags of profile {i}")
            known = meta.statistic_ids if i == 0 else meta.value_ids
            for context, values in self.values[i].items():
                need(context in meta.contexts,
                        f"profile.db: profile {i}: context {context} is unknown")
                need(all(k in known for k in values),
                        f"profile.db: profile {i}: metric ids {list(values)}")
            if i == 0:
                need(pointer == 0, "profile.db: the summary has identifiers")
                continue
            need(pointer == at,
                    f"profile.db: identifiers of profile {i} are not behind those before")
            n_ids, = f.get("<H", at)
            ids = [f.get("<BxHLQ", at + 8 + 16 * k) for k in range(n_ids)]
            f.inside("tuples", at, 8 + 16 * n_ids, 8, f"identifiers of profile {i}")
            need(all(k[0] < len(meta.kinds) and k[1] < 2 for k in ids),
                    f"profile.db: identifiers of profile {i}")
            need(all(k[1] or k[2] == k[3] for k in ids),
                    f"profile.db: logical identifiers of profile {i}")
            kinds = tuple(meta.kinds[k[0]] for k in ids)
            need(re.fullmatch("NODE( RANK)?( THREAD| GPUDEVICE GPUCONTEXT GPUSTREAM)",
                    " ".join(kinds)), f"profile.db: identifiers of profile {i}: {kinds}")
            need("THREAD" in kinds or not self.values[i],
                    f"profile.db: profile {i} of a queue has values")
            self.tuples.append(tuple((meta.kinds[k[0]], k[2]) for k in ids))
            at += 8 + 16 * n_ids
        need(at == f.sections["tuples"][1], "profile.db: identifiers: size of the section")
        need(len(set(self.tuples)) == len(self.tuples),
                "profile.db: two profiles with the same identifiers")
        f.check_use()


def check_contexts(directory, meta, profiles):
    """cct.db is the transpose of profile.db."""
    f = File(directory, "cct.db", b"ctxt", b"__ctx.db", ["infos"])
    items, n, size = f.get("<QLB", f.sections["infos"][0])
    f.inside("infos", items, n * size, 8, "contexts")
    need(n == len(meta.contexts), f"cct.db: {n} contexts, meta.db: {len(meta.contexts)}")
    total = 0
    for context in range(n):
        block = read_block(f, items + context * size, "<Ld", "<HQ", "Hxxxxxx", f"context {context}")
        for number, values in block.items():
            need(number in meta.value_ids, f"cct.db: context {context}: metric {number}")
            for profile, value in values.items():
                need(0 < profile < len(profiles.values),
                        f"cct.db: context {context}: profile {profile}")
                need(profiles.values[profile].get(context, {}).get(number) == value,
                        f"cct.db: context {context}, metric {number}, profile {profile}")
                total += 1
    need(total == sum(len(v) for p in profiles.values[1:] for v in p.values()),
            "cct.db: fewer values than profile.db")
    f.check_use()


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


def with_ancestors(meta, contexts):
    """The contexts and all above them, children before their parents: these have smaller ids."""
    touched = set()
    for i in contexts:
        c = meta.contexts[i]
        while c and c.id not in touched:
            touched.add(c.id)
            c = c.parent
    return sorted(touched, reverse=True)


def check_scopes(meta, values, ids, what):
    """Each scope is the sum over its part of the tree. Elsewhere all values are 0. Returns the
    values of the contexts themselves by (context, metric): their function's part that none of
    their lexical children has."""
    order, points = with_ancestors(meta, values), {}
    for metric in range(len(meta.metrics)):
        number = {scope: k for k, (m, scope) in ids.items() if m == metric}
        below = {i: [0.0, 0.0, 0.0] for i in order}
        for i in order:
            c, found = meta.contexts[i], values.get(i, {})
            function = found.get(number["function"], 0.0)
            point = function - below[i][0]
            if math.isclose(function, below[i][0], rel_tol=1e-13):  # but for rounding
                point = 0.0
            need(point >= 0, f"{what}: context {i}, {meta.metrics[metric]}: {point} of its own")
            if point:
                points[i, metric] = point
            _, flat, execution = (point + v for v in below[i])
            for scope, expected in (("execution", execution),
                                    ("lex_aware", flat if c.kind == "loop" else function)):
                value = found.get(number[scope], 0.0)
                need(value == expected or close(value, expected),
                        f"{what}: context {i}, {meta.metrics[metric]}, {scope}: {value}, expected {expected}")
            if not c.parent:
                continue
            above = below[c.parent.id]
            above[2] += execution
            if c.propagation & 1:
                above[0] += function
                above[1] += 0.0 if c.kind == "loop" else flat
    return points


def check_summary(meta, profiles):
    """Statistics over profiles."""
    of_profiles = {context: [] for context in meta.contexts}
    for p in profiles.values[1:]:
        for context, values in p.items():
            of_profiles[context].append(values)
    number_of = {v: k for k, v in meta.value_ids.items()}
    for context, values in of_profiles.items():
        summary, present = profiles.values[0].get(context, {}), {}
        for number, (metric, scope, formula, combine) in meta.statistic_ids.items():
            if (metric, scope) not in present:
                source, inclusive = number_of[metric, scope], number_of[metric, "execution"]
                present[metric, scope] = [v.get(source, 0.0) for v in values if inclusive in v]
            expected = combined(present[metric, scope], formula, combine)
            found = summary.get(number, 0.0)
            need(found == expected or close(found, expected),
                    f"profile.db: summary: context {context}, {meta.metrics[metric]}, {scope}, {combine} of {formula}: {found}, expected {expected}")


def combined(values, formula, combine):
    if not any(values):
        return 0.0
    if formula == "($$^2)":
        return sum(v * v for v in values)
    need(formula == "$$", f"meta.db: formula {formula}")
    return {"sum": sum, "min": min, "max": max}[combine](values)


def read_traces(directory, meta, profiles):
    if not os.path.exists(os.path.join(directory, "trace.db")):
        return [0] * len(profiles.tuples), {i: [] if p[-1][0] == "GPUSTREAM" else None for i,
                p in enumerate(profiles.tuples)}
    f = File(directory, "trace.db", b"trce", b"trace.db", ["headers"])
    items, n, size, _, first, last = f.get("<QLB3sQQ", f.sections["headers"][0])
    f.inside("headers", items, n * size, 8, "headers")
    need(n == len(profiles.values) - 1,
            f"trace.db: {n} lines for {len(profiles.values) - 1} profiles")
    counts, times, end, ops = [], [], 0, {}
    for i in range(n):
        profile, start, stop = f.get("<LxxxxQQ", items + i * size)
        need(profile == i + 1, f"trace.db: line {i} is of profile {profile}")
        need(start <= stop and (stop - start) % 12 == 0,
                f"trace.db: line {i} from {start:#x} to {stop:#x}")
        need(start >= end, f"trace.db: line {i} overlaps the one before")
        end = stop
        f.block(start, stop - start, 4, f"line {i}")
        need(start % 8 == 0, f"trace.db: line {i} is not aligned")
        context, time, n_samples = 0, 0, 0
        ops[i] = [] if profiles.tuples[i][-1][0] == "GPUSTREAM" else None
        for t, c in struct.iter_unpack("<QL", f.data[start:stop]):
            need(c in meta.contexts, f"trace.db: line {i}: context {c}")
            need(t >= time, f"trace.db: line {i}: time goes back")
            need(c or context, f"trace.db: line {i}: idle twice")
            if ops[i] is not None and context:
                ops[i].append((context, t - time))
            need(ops[i] is None or context or t > time, f"trace.db: line {i}: idle for no time")
            context, time = c, t
            n_samples += c != 0
            if not times or t < times[0] or t > times[-1]:
                times = [min(times + [t]), max(times + [t])]
        need(not context, f"trace.db: line {i} does not end idle")
        counts.append(n_samples)
    if times:
        need([first, last] == times, f"trace.db: times from {first} to {last}, found {times}")
    return counts, ops


def unquote(text):
    """A double-quoted string of YAML, with the escapes that are in use."""
    return re.sub(r"\\(?:x([0-9a-f]{2})|u([0-9A-F]{4})|(.))", lambda m: m[3]
            or chr(int(m[1] or m[2], 16)), text)


def check_yaml(directory, meta):
    """The little that can be seen without a YAML parser: inputs exist in meta.db, and every alias
    has its anchor."""
    with open(os.path.join(directory, "metrics", "default.yaml"), encoding="utf-8") as file:
        text = file.read()
    need(text.startswith("version: 0\n"), "default.yaml: version")
    known = {(meta.metrics[m], scope, formula, combine) for m, scope, formula,
            combine in meta.statistic_ids.values()}
    inputs = re.findall(
            r'  - &(\S+)\n    metric: "((?:[^"\\]|\\.)*)"\n    scope: (\S+)\n    formula: (\S+)\n    combine: (\S+)\n', text)
    for _, metric, scope, formula, combine in inputs:
        metric = unquote(metric)
        need((metric, scope, formula, combine) in known,
                f"default.yaml: input {metric}, {scope}, {formula}, {combine}")
    anchors = [i[0] for i in inputs]
    need(len(set(anchors)) == len(anchors) == text.count("&m"), "default.yaml: anchors")
    for alias in re.findall(r"\*(m[^\s,\]}]+)", text):
        need(alias in anchors, f"default.yaml: alias {alias}")
    roots = re.findall(r'^  - name: "((?:[^"\\]|\\.)*)"$', text, re.M)
    roots = [unquote(r) for r in roots]
    need([m if m in roots else accumulator(r) for m, r in zip(meta.metrics, roots)] == meta.metrics
            and len(roots) == len(meta.metrics), f"default.yaml: roots {roots}")
    for root in set(roots) - set(meta.metrics):  # means: a quotient in each scope
        part = text[text.index(f'  - name: "{root}"\n'):]
        number = meta.metrics.index(accumulator(root))
        for scope in "execution", "lex_aware", "function":
            need(
                    re.search(
                    rf'^ +(standard|custom): {{"/": \[\*m{number}-sum-{scope} , \*m\d+-sum-{scope} \]}}$', part.split("\n  - name")[0], re.M), f"default.yaml: mean {root}, {scope}")


def make_paths(meta):
    paths = Paths()
    paths.known[0] = paths.known[None]
    for i in sorted(meta.contexts):
        c = meta.contexts[i]
        if c.kind == "entry":
            paths.frame(i, 0, c.entry[1], c.entry[1], False)
        elif c.kind == "function":
            paths.frame(i, c.parent.id, c.function, c.function, c.relation == 2)
        elif c.kind == "loop":
            paths.frame(i, c.parent.id, f"loop at {c.place[1]:#x}" if c.has_point
                    else f"loop at line {c.place[1]}", paths.function(c.parent.id), False)
        elif c.kind in ("line", "instruction"):
            paths.place(i, c.parent.id, c.place if c.kind == "line" else c.place[1])
    return paths


def print_facts(meta, profiles, points, traces):
    facts, paths = Facts(), make_paths(meta)
    facts.add("profiles", len(profiles.values) - 1)
    for metric in meta.metrics:
        facts.add("total", metric, 0)
    for of_profile in points:
        for (context, metric), value in of_profile.items():
            facts.value(meta.metrics[metric], paths.function(context), paths.hash(context), value)
    counts, ops = traces
    for i, n in enumerate(counts):
        facts.add("samples", i, n)
        facts.add("kind", i, "thread" if ops[i] is None else "queue", 1)
        if ops[i] is not None:
            facts.add("busy", i, 0)
        for context, ns in ops[i] or []:
            facts.add("ops", i, paths.hash(context), 1)
            facts.add("busy", i, ns * 1e-9)
    for kind, *numbers in re.findall(r"^- (\w+): launched (\d+), joined (\d+), summed up (\d+)$",
            meta.description, re.M):
        for what, number in zip(("launched", "joined", "summed-up"), numbers):
            if int(number):
                facts.add(what, kind, int(number))
    for cause, n in re.findall(r"^- GPU loss, (\S+): (\d+) ", meta.description, re.M):
        facts.add("lost", cause, int(n))
    for key, text in (("samples delivered", "samples delivered"),
            ("samples in the tree", "samples in the tree")):
        found = re.search(rf"^- {text}: (\d+)$", meta.description, re.M)
        need(found, f"meta.db: the description does not tell {text}")
        facts.add("ledger", key, int(found.group(1)))
    facts.print()


def main():
    if len(sys.argv) != 2:
        print("usage: read_cctdb.py DIRECTORY", file=sys.stderr)
        return 2
    directory = sys.argv[1]
    try:
        meta = Meta(directory)
        profiles = Profiles(directory, meta)
        check_contexts(directory, meta, profiles)
        points = [check_scopes(meta, values, meta.value_ids, f"profile.db: profile {i}")
                for i, values in enumerate(profiles.values[1:], 1)]
        check_summary(meta, profiles)
        traces = read_traces(directory, meta, profiles)
        check_yaml(directory, meta)
        print_facts(meta, profiles, points, traces)
    except (Bad, OSError, UnicodeDecodeError, struct.error) as e:
        print(f"read_cctdb.py: {directory}: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
