#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cuts a jitdump down to the code whose name has one of the words: cut.py IN OUT WORD..."""
import struct
import sys

data = open(sys.argv[1], "rb").read()
out = data[:40]
at, lines = 40, b""
while at + 16 <= len(data):
    kind, size = struct.unpack_from("<II", data, at)
    record = data[at:at + size]
    if kind == 2:
        lines = record
    elif kind == 0:
        name = record[56:record.index(b"\0", 56)]
        if any(word.encode() in name for word in sys.argv[3:]):
            out += lines + record
        lines = b""
    at += size
open(sys.argv[2], "wb").write(out)
