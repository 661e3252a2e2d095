#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the instructions of a report with what objdump -d -M intel prints of the binary, and the
samples of a function with its own samples in the text.

Usage: judge_code.py CODE FUNCTION METRIC FACTS [OBJDUMP]
CODE: what read_code.py prints. FACTS: what read_text.py prints. Prints a line for each check.
"""
import re
import sys

# Zydis prefers other names of the same conditions.
CONDITIONS = {"z": "e", "nz": "ne", "nbe": "a", "nb": "ae", "nle": "g", "nl": "ge"}
PREFIXES = {"rep", "repz", "repnz", "lock", "cs", "ds", "data16", "bnd", "notrack"}


def mnemonic(text):
    words = [w for w in text.split() if w not in PREFIXES]
    name = words[0] if words else ""
    found = re.fullmatch(r"(j|set|cmov)(z|nz|nbe|nb|nle|nl)", name)
    name = found.group(1) + CONDITIONS[found.group(2)] if found else name
    return {"movabs": "mov", "stosq": "stos", "stosd": "stos", "movsq": "movs"}.get(name, name)


def main():
    code, function, metric, facts = sys.argv[1:5]
    rows, inside = {}, False
    with open(code, encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[0] == "function":
                inside = words[1].split("(")[0] == function
            elif inside and words[0].startswith("0x"):
                rows[int(words[0], 16)] = (words[1], " ".join(words[3:]))
    n = value = 0
    for samples, _ in rows.values():
        for part in samples.split(",") if samples != "-" else []:
            name, count, amount = part.split("=")
            if name == metric:
                n, value = n + int(count), value + float(amount)
    want = 0
    with open(facts, encoding="utf-8") as f:
        for line in f:
            words = line.rstrip("\n").split("\t")
            if words[0] == "function" and words[1].split(" ")[0] == metric and \
                    words[2].split("(")[0] == function:
                want += float(words[3])
    print(f"samples {n > 0 and abs(value - want) <= 1e-6 * want} {n} {value} {want}")
    texts = sum(1 for _, text in rows.values() if text)
    print(f"texts {texts == len(rows) and texts > 4} {texts} of {len(rows)}")
    if len(sys.argv) > 5:
        theirs = {}
        with open(sys.argv[5], encoding="utf-8") as f:
            for line in f:
                found = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
                if found:
                    theirs[int(found.group(1), 16)] = found.group(2)
        wrong = [f"{at:#x} {text} / {theirs.get(at)}" for at, (_, text) in rows.items()
                 if mnemonic(text) != mnemonic(theirs.get(at, ""))]
        print(f"mnemonics {not wrong} {wrong}")


main()
