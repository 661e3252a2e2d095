# SPDX-License-Identifier: BSD-3-Clause
# The example of doc/guide/memory.md.
def read(n):
    return [bytearray(200000) for _ in range(n)]


def compress(pages):
    return [bytes(p[::4]) for p in pages]


kept = compress(read(300))
print(len(kept + compress(read(20))))
