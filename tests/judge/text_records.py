# SPDX-License-Identifier: BSD-3-Clause
"""Reads what hpcprof-lite --all prints, by the names of the fields."""


class Record:
    """Fields by name: record["in_tree"]. `rest` are those without a name, behind the others."""

    def __init__(self, names, values):
        self.names, self.values = names, values

    def __getitem__(self, name):
        return self.values[self.names[name]]

    @property
    def rest(self):
        return self.values[len(self.names):]


def records(lines):
    """Pairs of the kind of a record and its fields, escaped as in the text. Messages are left
    out."""
    names = {}
    for line in lines:
        kind, *values = line.rstrip("\n").split("\t")
        if kind.startswith("# "):
            names[kind[2:]] = {name: i for i, name in enumerate(values)}
        elif kind in names:
            yield kind, Record(names[kind], values)
