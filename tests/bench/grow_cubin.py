#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes a large cubin of a small one: every section of code with its symbols and sequences of lines,
# N times. What nvcc would need hours for.
#
#	grow_cubin.py CUBIN N OUT
import struct
import sys

SHDR, SYM, RELA = "<IIQQQQIIQQ", "<IBBHQQ", "<QQq"


def main():
    data, n = open(sys.argv[1], "rb").read(), int(sys.argv[2])
    header = bytearray(data[:64])
    shoff, = struct.unpack_from("<Q", data, 40)
    shnum, shstrndx = struct.unpack_from("<HH", data, 60)
    sections = [list(struct.unpack_from(SHDR, data, shoff + 64 * i)) for i in range(shnum)]
    contents = [b"" if s[1] == 8 else data[s[4] : s[4] + s[5]] for s in sections]
    text = lambda table, at: table[at : table.index(b"\0", at)]
    names = [text(contents[shstrndx], s[0]) for s in sections]
    keep = {k: names.index(k) for k in (b".debug_line", b".debug_str", b".symtab", b".strtab",
            b".nv.info") if k in names}
    code = [i for i, s in enumerate(sections) if s[2] & 4]
    symtab, strtab = contents[keep[b".symtab"]], contents[keep[b".strtab"]]
    symbols = [struct.unpack_from(SYM, symtab, i) for i in range(0, len(symtab), 24)]
    functions = [(i, s) for i, s in enumerate(symbols) if s[1] & 15 == 2 and s[3] in code]

    # the line table: header once, the program n times
    line = contents[keep[b".debug_line"]]
    start = 10 + struct.unpack_from("<I", line, 6)[0]
    program, program_at = line[start:], start
    relocations = contents[names.index(b".rela.debug_line")]
    relocations = [struct.unpack_from(RELA, relocations, i) for i in range(0, len(relocations), 24)]
    assert struct.unpack_from("<I", line, 0)[0] + 4 == len(line), "one table only"

    # sections: null, copies of code, then the rest; SHN_XINDEX where there are too many
    out_sections, blobs = [(0,) * 10], [b""]
    strings, new_strings = bytearray(b"\0"), bytearray(strtab)

    def string(s):
        at = len(strings)
        strings.extend(s + b"\0")
        return at

    new_symbols, far, index_of = [symbols[0]], [0], {}
    for k in range(n):
        place = {}
        for i in code:
            s = sections[i]
            place[i] = len(out_sections)
            out_sections.append((string(names[i] + b"_%d" % k), 1, 6, 0, 0, s[5], 0,
                    s[7] & 0xFF000000, 128, 0))
            blobs.append(contents[i])
        for i, s in functions:
            at = len(new_strings)
            new_strings.extend(text(strtab, s[0]) + b"_%d\0" % k)
            index_of[(k, i)] = len(new_symbols)
            section = place[s[3]]
            new_symbols.append((at, s[1], s[2], section if section < 0xFF00 else 0xFFFF, s[4],
                    s[5]))
            far.append(section)
    line_out = bytearray(line[:start]) + program * n
    struct.pack_into("<I", line_out, 0, len(line_out) - 4)
    rela_out = b"".join(
        struct.pack(RELA, at + k * len(program), index_of[(k, info >> 32)] << 32 | 2, addend)
        for k in range(n) for at, info, addend in relocations
    )

    def add(name, kind, blob, link=0, info=0, entry=0):
        out_sections.append((string(name), kind, 0, 0, 0, len(blob), link, info, 8, entry))
        blobs.append(blob)
        return len(out_sections) - 1

    line_at = add(b".debug_line", 1, bytes(line_out))
    add(b".debug_str", 1, contents[keep[b".debug_str"]] if b".debug_str" in keep else b"\0")
    strtab_at = add(b".strtab", 3, bytes(new_strings))
    symtab_at = add(b".symtab", 2, b"".join(struct.pack(SYM, *s) for s in new_symbols), strtab_at,
            1, 24)
    add(b".symtab_shndx", 18, struct.pack("<%dI" % len(far), *far), symtab_at, 0, 4)
    add(b".rela.debug_line", 4, rela_out, symtab_at, line_at, 24)
    names_at = add(b".shstrtab", 3, b"")
    blobs[names_at] = bytes(strings)

    with open(sys.argv[3], "wb") as out:
        out.write(b"\0" * 64)
        final = []
        for s, blob in zip(out_sections, blobs):
            s = list(s)
            out.write(b"\0" * (-out.tell() % 128))
            s[4], s[5] = out.tell(), len(blob)
            out.write(blob)
            final.append(s)
        final[0] = [0] * 10
        final[0][5], final[0][6] = len(final), names_at  # where the counts do not fit the header
        out.write(b"\0" * (-out.tell() % 8))
        at = out.tell()
        for s in final:
            out.write(struct.pack(SHDR, *s))
        struct.pack_into("<Q", header, 40, at)
        struct.pack_into("<Q", header, 32, 0)
        struct.pack_into("<HHHH", header, 56, 0, 64, len(final) if len(final) < 0xFF00 else 0,
                names_at if names_at < 0xFF00 else 0xFFFF)
        struct.pack_into("<H", header, 54, 0)
        out.seek(0)
        out.write(header)


main()
