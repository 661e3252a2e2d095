#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the section "code" of a report.html, as doc/formats/report.md defines it.

Usage: read_code.py REPORT

    function NAME MODULE
    ADDRESS SAMPLES FILE:LINE TEXT     an instruction; SAMPLES of each metric that has some:
                                       METRIC=SAMPLES=VALUE,... or "-"
    missing SENTENCE
"""
import base64
import gzip
import json
import re
import sys


def section(page, name):
    found = re.search(r'data-section="%s">([^<]*)<' % name, page)
    return gzip.decompress(base64.b64decode(found.group(1)))


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        page = f.read()
    meta = json.loads(section(page, "meta"))
    text = section(page, "strings").split(b"\0")
    text = [t.decode() for t in text]
    metrics = meta["metrics"]
    functions = Reader(section(page, "functions"))
    for _ in range(functions.number()):
        for _ in range(5):
            functions.number()
    files = [text[functions.number()] for _ in range(functions.number())]
    r = Reader(section(page, "code"))
    for _ in range(r.number()):
        r.number()
        module, name, n = r.number(), r.number(), r.number()
        print("function", text[name].replace(" ", "_"), text[meta["modules"][module]["path"]])
        address = 0
        for _ in range(n):
            address += r.number()
            what, file, line = text[r.number()], r.number(), r.number() >> 1
            r.number()
            samples = []
            for _ in range(r.number()):
                metric, count, value = r.number(), r.number(), r.number()
                label = text[metrics[metric]["name"]].split(" ")[0]
                samples.append(f"{label}={count}={value / metrics[metric]['scale']:.9g}")
            place = f"{files[file - 1]}:{line}" if file else "?"
            print(f"{address:#x}", ",".join(samples) or "-", place, what)
    for _ in range(r.number()):
        print("missing", text[r.number()])


main()
