#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the facts that two judges printed (see read_cctdb.py): compare_facts.py A B [KIND...]

Facts are lines of fields separated by tabs; the last is a number, compared with a relative tolerance, the others are the key. Facts of one key are
added up. With KINDs only those facts take part. Prints the differences; exit status 1 when there are any or nothing was compared.
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
    a, b = (read(path, sys.argv[3:]) for path in sys.argv[1:3])
    wrong = 0
    for key in sorted(set(a) | set(b)):
        x, y = a.get(key), b.get(key)
        if x is None or y is None or not math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12):
            print("\t".join(key), x, y)
            wrong += 1
    print(f"# {len(a)} facts, {wrong} differ")
    return 1 if wrong or not a else 0


if __name__ == "__main__":
    sys.exit(main())
