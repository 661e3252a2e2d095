#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for nvdisasm, which few machines have: prints the sections of code of a cubin in its
form, with operations named after their bytes. Of one kernel of tests/golden/nvidia it has what the
real one printed. Usage: as nvdisasm -c [-fun SYMBOL] CUBIN"""
import pathlib
import struct
import sys


def main():
    with open(sys.argv[-1], "rb") as f:
        data = f.read()
    tables, = struct.unpack_from("<Q", data, 40)
    n, names = struct.unpack_from("<HH", data, 60)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, tables + 64 * i) for i in range(n)]

    def name(i):
        return data[sections[names][4] + sections[i][0]:].split(b"\0")[0].decode()

    only = None
    if "-fun" in sys.argv:
        symbols = next(s for s in sections if s[1] == 2)
        symbol = int(sys.argv[sys.argv.index("-fun") + 1])
        only, = struct.unpack_from("<H", data, symbols[4] + 24 * symbol + 6)
    if only and name(only) == ".text._Z13shared_kerneliifPf":
        golden = pathlib.Path(__file__).parent.parent / "golden/nvidia/shared_kernel.nvdisasm"
        print(golden.read_text(encoding="utf-8"), end="")
        return
    print('\t.target\tsm_90\n\n\t.elftype\t@"ET_EXEC"\n')
    for i in range(n):
        if not name(i).startswith(".text.") or only not in (None, i):
            continue
        print(f'//--------------------- {name(i)} ---\n\t.section\t{name(i)},"ax",@progbits')
        print(f'\t.sectionflags\t@"SHF_BARRIERS=1"\n\t.align\t128\n{name(i)}:')
        for at in range(0, sections[i][5], 16):
            word, = struct.unpack_from("<Q", data, sections[i][4] + at)
            print(f"        /*{at:04x}*/              @!P0 OP{word & 0xfff:03X} R{at // 16}, RZ ;")


main()
