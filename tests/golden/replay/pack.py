#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Packs a recording made on a machine with a GPU for tests/golden/replay: without names of that machine, with the structure of the program itself.

    pack.py RECORDING STRUCTURES OUT.tar.gz

Host and file names, working directory and paths of modules and Python files outside of /golden are replaced in the measurement file; what follows the space in use is cut off. STRUCTURES is a directory with the structure
file of the program (hpcstruct-lite), or "-". Replaces strings in place: no length changes.
"""
import gzip
import io
import os
import struct
import sys
import tarfile

HOST = b"gpu-host"


def put(data, at, room, text):
    """text with NULs behind it, in `room` bytes."""
    if len(text) + 1 > room:
        text = text[:room - 1]
    data[at:at + room] = text + bytes(room - len(text))


def neutral_path(path):
    return path if path.startswith(b"/golden/") or path.endswith(b"/") or b"/" not in path else b"/gone/" + path.rsplit(b"/", 1)[-1]


def neutral_info(data, at):
    key_bytes, value_bytes = struct.unpack_from("<II", data, at + 4)
    key = bytes(data[at + 16:at + 16 + key_bytes - 1])
    value_at = at + 16 + key_bytes
    value = bytes(data[value_at:value_at + value_bytes]).split(b"\0")[0]
    if key == b"cwd":
        put(data, value_at, value_bytes, b"/golden")
    elif value.startswith(b"/opt/"):
        put(data, value_at, value_bytes, neutral_path(value))
    if key == b"note" and b"/" in bytes(data[value_at:value_at + value_bytes]).replace(b"/s", b""):
        raise SystemExit("a note with a path: %r" % bytes(data[value_at:value_at + value_bytes]))


def neutral_module(data, at):
    path_bytes, = struct.unpack_from("<I", data, at + 36)
    path = bytes(data[at + 88:at + 88 + path_bytes]).split(b"\0")[0]
    new = neutral_path(path)
    if len(new) < path_bytes:
        put(data, at + 88, path_bytes, new)
        struct.pack_into("<I", data, at + 36, len(new) + 1)
    else:
        put(data, at + 88, path_bytes, new)


def neutral_python(data, at):
    """Files of Python's own and of packages stay recognisable: /gone/lib/python3.12/..."""
    size, = struct.unpack_from("<I", data, at)
    file_bytes, = struct.unpack_from("<H", data, at + 14)
    path = bytes(data[at + 24:at + 24 + file_bytes - 1])
    inner = path.find(b"/lib/python")
    if inner < 0 or path.startswith(b"/golden/"):
        new = neutral_path(path)
    else:
        new = path if path.startswith(b"/usr/lib/") else b"/gone" + path[inner:]
    if len(new) > len(path):
        raise SystemExit("no room for %r" % new)
    rest = bytes(data[at + 24 + file_bytes:at + size])
    put(data, at + 24, size - 24, b"")
    data[at + 24:at + 24 + len(new)] = new
    data[at + 25 + len(new):at + 25 + len(new) + len(rest)] = rest
    struct.pack_into("<H", data, at + 14, len(new) + 1)


NEUTRAL = {2: neutral_info, 4: neutral_module, 10: neutral_python}  # by kind of extent


def neutral_measurement(data):
    put(data, 360, 256, HOST)
    allocated, = struct.unpack_from("<Q", data, 80)
    del data[allocated:]
    at = 4096
    while at + 64 <= len(data):
        magic, kind = struct.unpack_from("<IH", data, at)
        if magic != 0x54584548:
            at += 64
            continue
        length, used = struct.unpack_from("<QQ", data, at + 24)
        record = at + 64
        while kind in NEUTRAL and record < at + 64 + used:
            size, = struct.unpack_from("<I", data, record)
            NEUTRAL[kind](data, record)
            record += size
        at += length


def neutral_tape(data, name):
    put(data, 224, 512, name)
    allocated, = struct.unpack_from("<Q", data, 56)
    del data[allocated:]


def add(tar, name, content):
    info = tarfile.TarInfo(name)
    info.size = len(content)
    info.mode = 0o644
    tar.addfile(info, io.BytesIO(content))


def main():
    recording, structures, out = sys.argv[1:]
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        names = sorted(n for n in os.listdir(recording) if n.endswith(".hpcrun"))
        for number, name in enumerate(names):
            base = "recording/norank-gpu-host-%d" % (number + 1)
            data = bytearray(open(os.path.join(recording, name), "rb").read())
            neutral_measurement(data)
            add(tar, base + ".hpcrun", bytes(data))
            tape = os.path.join(recording, name[:-len(".hpcrun")] + ".hpctape")
            if os.path.exists(tape):
                data = bytearray(open(tape, "rb").read())
                neutral_tape(data, base.encode().split(b"/")[-1] + b".hpcrun")
                add(tar, base + ".hpctape", bytes(data))
        for folder, where in (("gpubins", os.path.join(recording, "gpubins")), ("structs", structures)):
            for name in sorted(os.listdir(where)) if where != "-" and os.path.isdir(where) else []:
                add(tar, "recording/%s/%s" % (folder, name), open(os.path.join(where, name), "rb").read())
    with open(out, "wb") as f, gzip.GzipFile(filename="", mode="wb", compresslevel=9, mtime=0, fileobj=f) as z:
        z.write(buffer.getvalue())


main()
