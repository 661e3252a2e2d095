#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Lets programs that were linked with glibc 2.29 or later start with 2.28, for tests/fresh.sh: where
# they ask for the newer exp, exp2, log, log2 or pow (GLIBC_2.29 of libm), they ask for the older
# one of the same name. A version that they need for other functions becomes a weak need: they
# start, and end if they call one. Changes the files.
#
# Usage: older_libm.py FILE...
import os
import shutil
import struct
import sys

VERNEED, STRTAB, VERNEEDNUM, NULL = 0x6FFFFFFE, 5, 0x6FFFFFFF, 0
WEAK, OLD = 2, b"GLIBC_2.2.5"


def elf_hash(name):
    h = 0
    for c in name:
        h = (h << 4) + c
        g = h & 0xF0000000
        h = (h ^ g >> 24) & ~g
    return h


def segments(elf):
    at, = struct.unpack_from("<Q", elf, 32)
    size, n = struct.unpack_from("<HH", elf, 54)
    return [struct.unpack_from("<IIQQQQQQ", elf, at + i * size) for i in range(n)]


def name_at(elf, offset):
    return bytes(elf[offset:elf.index(0, offset)])


def change(elf):
    """Returns True if anything was changed."""
    phdrs = segments(elf)

    def offset(address):
        return next(address - p[3] + p[2] for p in phdrs
                    if p[0] == 1 and p[3] <= address < p[3] + p[5])

    dynamic = next((p for p in phdrs if p[0] == 2), None)
    if not dynamic:
        return False
    tags = {}
    for i in range(dynamic[2], dynamic[2] + dynamic[5], 16):
        tag, value = struct.unpack_from("<QQ", elf, i)
        tags.setdefault(tag, value)
    if VERNEED not in tags:
        return False
    strings, need = offset(tags[STRTAB]), offset(tags[VERNEED])
    old = elf.find(b"\0" + OLD + b"\0", strings) + 1 - strings
    changed = False
    for _ in range(tags[VERNEEDNUM]):
        _, n_aux, file, aux, following = struct.unpack_from("<HHIII", elf, need)
        library = name_at(elf, strings + file)
        at = need + aux
        for _ in range(n_aux):
            _, flags, other, name, step = struct.unpack_from("<IHHII", elf, at)
            version = name_at(elf, strings + name).split(b"_")[-1].split(b".")
            if name_at(elf, strings + name).startswith(b"GLIBC_2.") and int(version[1]) > 28:
                if library == b"libm.so.6" and version[1] == b"29" and old > 0:
                    struct.pack_into("<IHHI", elf, at, elf_hash(OLD), flags, other, old)
                else:
                    struct.pack_into("<H", elf, at + 4, flags | WEAK)
                changed = True
            at += step
        need += following
    return changed


for path in sys.argv[1:]:
    with open(path, "rb") as f:
        content = bytearray(f.read(5))
        if content == b"\x7fELF\x02":
            content += f.read()
    if len(content) > 5 and change(content):
        with open(path + ".new", "wb") as f:
            f.write(content)
        shutil.copystat(path, path + ".new")
        os.rename(path + ".new", path)
        print(path)
