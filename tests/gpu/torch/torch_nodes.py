#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Where a node of autograd's graph has its number and the number of its thread (doc/torch.md).
# Prints the version, and for each word of nodes in memory how many have the number that Python
# knows.

import ctypes

import torch


def nodes(fn, seen):
    if fn is None or fn in seen:
        return
    seen.append(fn)
    for next_fn, _ in fn.next_functions:
        nodes(next_fn, seen)


def word(address):
    return ctypes.c_uint64.from_address(address).value


def main():
    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
    seen = []
    nodes(net(torch.randn(3, 4)).sum().grad_fn, seen)
    print("version", torch.__version__, torch.version.git_version)
    numbered = [f for f in seen if "Accumulate" not in f.name()]
    addresses = [word(id(f) + 16) for f in numbered]  # THPCppFunction: a head, then shared_ptr
    for offset in range(8, 128, 8):
        right = sum(word(a + offset) == f._sequence_nr() for a, f in zip(addresses, numbered)
                    if hasattr(f, "_sequence_nr"))
        values = [word(a + offset) for a in addresses]
        print("word", offset, "numbers right", right, "of", len(numbered), values[:4])


if __name__ == "__main__":
    main()
