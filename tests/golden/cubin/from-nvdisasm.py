#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Brings the output of `nvdisasm -gi -c CUBIN` (standard input) into the form that tests/struct/cubin_chains prints: for each section of code, where it changes,
# the line of the instruction and the call sites of inlined calls, from the innermost on.
#
# nvdisasm writes "//## File F, line L inlined at G, line M" for each step of a chain and the outermost place last, before the instruction that it holds for. It says nothing where
# the innermost place is that of the instruction printed before, be that in another section.
import os
import re
import sys

PLACE = re.compile(r'//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')
INSTRUCTION = re.compile(r"^\s*(?:\{\s*)?/\*([0-9a-f]{4,})\*/\s")
SECTION = re.compile(r"^\s*\.section\s+(\.text\.[^,]*),")


def main():
    sections, name, chain, pending, last = {}, None, "?", [], None
    for line in sys.stdin:
        m = SECTION.match(line)
        if m:
            name, chain, pending, last = m.group(1), "?", [], None
            sections[name] = []
            continue
        m = PLACE.search(line)
        if m:
            pending.append(m.groups())
            continue
        m = INSTRUCTION.match(line)
        if not m or name is None:
            continue
        if pending:
            # several chains may follow one another before an instruction: the last one holds
            chains, current = [], []
            for step in pending:
                current.append(step)
                if step[2] is None:
                    chains.append(current)
                    current = []
            steps = chains[-1] if chains else current
            chain = " < ".join("%s:%s" % (os.path.basename(f), l) for f, l, _, _ in steps)
            pending = []
        if chain != last:
            sections[name].append((int(m.group(1), 16), chain))
            last = chain
    carried = "?"
    for name, places in sections.items():
        if len(places) > 1 and places[0][1] == "?":
            places[0] = (places[0][0], carried)
        if len(places) > 1 or (places and places[0][1] != "?"):
            carried = places[-1][1]
    for name in sorted(sections):
        print(name)
        for offset, chain in sections[name]:
            print("0x%x %s" % (offset, chain))


main()
