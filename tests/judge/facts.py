# SPDX-License-Identifier: BSD-3-Clause
"""Facts that every complete output holds, for comparison by compare_facts.py: one a line, fields
separated by tabs, the last a number.

    contexts N                      contexts of the tree, the root included (not from OTF2, which
    folds functions into their lines; the CCT database has fewer)
    profiles N
    total METRIC SUM
    function METRIC NAME SUM        by the function around each place
    path METRIC HASH SUM            by calling context: the hash is of the frames from the entry
    point down, each with its place
    samples PROFILE N               of the time line; of a GPU queue its operations
    ledger KEY N
    kind PROFILE thread|queue 1
    ops PROFILE HASH N              operations of a queue by calling context (not from OTF2's form
    enterleave)
    busy PROFILE SECONDS            sum of their durations
    bytes PROFILE N                 of copies and fills (not from the CCT database)
    launched|joined|summed-up KIND N, lost CAUSE N   the ledger of GPUs

Names are compared without what is not printable ASCII, as outputs differ in how they show it.
"""
import hashlib
import posixpath


def plain(name):
    return "".join(c for c in name if " " <= c <= "~")


def normal(path):
    """The path of a source file, also of one that was copied below src/ of the database."""
    return plain(posixpath.normpath("/" + path[4:] if path.startswith("src/") else path))


def extend(parent, name, place, inlined):
    """Hash of a path with one more frame. `place` is None, an address or (file, line)."""
    if isinstance(place, tuple):
        place = f"{normal(place[0])}:{place[1]}"
    frame = f"{plain(name)}{' [inlined]' if inlined else ''} @ {place}"
    return hashlib.sha1(f"{parent}/{frame}".encode()).hexdigest()[:16]


def accumulator(metric):
    """HPCToolkit's name of the sums of which people read the mean."""
    name, _, unit = metric.partition(" (")
    return f"{name}_ACUMU" + (f" ({unit}" if unit else "")


class Facts:
    def __init__(self):
        self.sums = {}

    def add(self, *fields):
        *key, value = fields
        key = tuple(plain(str(k)) for k in key)  # metrics have names, too
        self.sums[key] = self.sums.get(key, 0) + value

    def value(self, metric, function, path, value):
        """A value at one very place."""
        self.add("total", metric, value)
        self.add("function", metric, plain(function), value)
        self.add("path", metric, path, value)

    def print(self):
        for key, value in sorted(self.sums.items()):
            print("\t".join(key) + f"\t{value:.17g}")


class Paths:
    """Paths of a tree whose contexts come one by one, parents first. A function, loop or entry
    begins a frame; a line or instruction is a place in the frame it is in. What an instruction
    or a loop without a line calls is below its function, because the CCT database has none of these
    that only call."""

    def __init__(self):
        # id -> hash, hash above the frame, name, function, inlined, hash for what it calls
        self.known = {None: ("", None, None, None, False, "")}

    def frame(self, number, parent, name, function, inlined):
        above = self.known[parent][5]
        path = extend(above, name, None, inlined)
        is_passed = name.startswith("loop at 0x")
        self.known[number] = (path, above, name, function, inlined, above if is_passed else path)

    def place(self, number, parent, place):
        _, above, name, function, inlined, calls = self.known[parent]
        path = extend(above, name, place, inlined)
        self.known[number] = (path, above, name, function, inlined,
                path if isinstance(place, tuple) else calls)

    def hash(self, number):
        return self.known[number][0]

    def function(self, number):
        return self.known[number][3]
