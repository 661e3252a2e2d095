# SPDX-License-Identifier: BSD-3-Clause
"""Which names of other libraries the signal handlers of a built shared library may call.

Usage: reach.py LIBRARY HANDLERS KIND. Reads the machine code: a function leads to whatever it
calls, jumps to or takes the address of, and to the functions in each table that it names. What is
called through a pointer that was set at run time does not show in the code: HANDLERS has it. A line
"KIND NAME" there is where a walk begins, and a line "never NAME" where it does not go on.

Prints "NAME by FUNCTION from ... from HANDLER" for each name, and "? ..." for each line of HANDLERS
that names no function or object of the library. x86-64 alone, as the library is.
"""
import bisect
import re
import subprocess
import sys


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


class Library:
    def __init__(self, path):
        self.start, self.symbols = [], []  # by address: (end, name)
        self.address_of = {}
        self.read_symbols(path)
        self.target_at = {}  # address of a word that the loader fills in: a name, or an address
        self.read_relocations(path)
        self.edges = {}  # start of a function: addresses and names that it uses
        self.read_code(path)

    def read_symbols(self, path):
        found = {}
        for line in output_of("readelf", "-sW", path):
            word = line.split()
            if len(word) != 8 or word[3] not in ("FUNC", "OBJECT") or word[6] == "UND":
                continue
            address, size, name = int(word[1], 16), int(word[2], 0), word[7].split("@")[0]
            found[address] = max(found.get(address, (0, "")), (address + size, name.split(".")[0]))
            self.address_of.setdefault(name.split(".")[0], set()).add(address)
        for address in sorted(found):
            self.start.append(address)
            self.symbols.append(found[address])

    def read_relocations(self, path):
        for line in output_of("readelf", "-rW", path):
            word = line.split()
            if len(word) == 4 and word[2] == "R_X86_64_RELATIVE":
                self.target_at[int(word[0], 16)] = int(word[3], 16)
            elif len(word) >= 5 and word[2] in ("R_X86_64_GLOB_DAT", "R_X86_64_JUMP_SLOT",
                    "R_X86_64_64"):
                value, name = int(word[3], 16), word[4].split("@")[0]
                self.target_at[int(word[0], 16)] = value if value else name

    def symbol_of(self, address):
        """Start of the function or object at an address; None."""
        i = bisect.bisect_right(self.start, address) - 1
        if i >= 0 and address < max(self.symbols[i][0], self.start[i] + 1):
            return self.start[i]
        return None

    def name_of(self, start):
        return self.symbols[bisect.bisect_left(self.start, start)][1]

    def read_code(self, path):
        stub = re.compile(r"^([0-9a-f]+) <(.*)@plt>:$")
        named = re.compile(r"\b(?:callq?|j[a-z]+)\s+([0-9a-f]+) <(?:([^>]*)@plt)?")
        relative = re.compile(r"# ([0-9a-f]+)")
        for line in output_of("objdump", "-d", "--no-show-raw-insn", path):
            at, tab, text = line.partition(":\t")
            if not tab or stub.match(line):
                continue
            function = self.symbol_of(int(at, 16))
            if function is None:
                continue
            uses = self.edges.setdefault(function, set())
            found = named.search(text)
            if found:
                uses.add(found.group(2) or int(found.group(1), 16))
            found = relative.search(text)
            if found:
                address = int(found.group(1), 16)
                uses.add(self.target_at.get(address, address))

    def uses_of(self, start):
        if start in self.edges:
            return self.edges[start]
        i = bisect.bisect_left(self.start, start)
        return {self.target_at[a] for a in range(start & ~7, self.symbols[i][0], 8)
                if a in self.target_at}


def walk(library, begin, never):
    come_from = {start: None for start in begin}
    reached = {}  # name of another library: who uses it
    todo = list(begin)
    while todo:
        start = todo.pop()
        for use in library.uses_of(start):
            if isinstance(use, str):
                reached.setdefault(use, start)
                continue
            to = library.symbol_of(use)
            if to is None or to in come_from or library.name_of(to) in never:
                continue
            come_from[to] = start
            todo.append(to)
    return come_from, reached


def main():
    library = Library(sys.argv[1])
    begin, never, unknown = [], set(), []
    with open(sys.argv[2], encoding="ascii") as handlers:
        for line in handlers:
            word = line.split()
            if not word or word[0].startswith("#") or word[0] not in (sys.argv[3], "never"):
                continue
            if word[0] == "never":
                never.add(word[1])
            else:
                begin += library.address_of.get(word[1], [])
            if word[1] not in library.address_of and sys.argv[3] == "handler":
                unknown.append(line.strip())
    for line in unknown:
        print("?", line)
    come_from, reached = walk(library, begin, never)
    for name in sorted(reached):
        way, at = [], reached[name]
        while at is not None:
            way.append(library.name_of(at))
            at = come_from[at]
        print(name, "by", " from ".join(way))
    print("#", len(come_from))


main()
