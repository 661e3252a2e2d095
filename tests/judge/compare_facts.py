#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the facts that two judges printed (see read_cctdb.py): compare_facts.py [-t TOLERANCE] A
B [KIND...]

Facts are lines of fields separated by tabs; the last is a number, compared with a relative
tolerance (1e-9), the others are the key. Facts of one key are added up. With KINDs only those facts
take part. Prints the differences; exit status 1 when there are any or nothing was compared.
"""
import math
import sys


def read(path, kinds):
    facts = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            *key, value = line.rstrip("\n").split("\t")
            if not kinds or key[0] in kinds:
                facts[tuple(key)] = facts.get(tuple(key), 0.0) + float(value)
    return facts


def main():
    arguments, tolerance = sys.argv[1:], 1e-9
    if arguments[:1] == ["-t"]:
        tolerance = float(arguments[1])
        del arguments[:2]
    a, b = (read(path, arguments[2:]) for path in arguments[:2])
    wrong = 0
    for key in sorted(set(a) | set(b)):
        x, y = a.get(key), b.get(key)
        if x is None or y is None or not math.isclose(x, y, rel_tol=tolerance, abs_tol=1e-12):
            print("\t".join(key), x, y)
            wrong += 1
    print(f"# {len(a)} facts, {wrong} differ")
    return 1 if wrong or not a else 0


if __name__ == "__main__":
    sys.exit(main())
