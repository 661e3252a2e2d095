#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# A program that uses Triton's profiler, Proton, which opens CUPTI by itself: what it saw is printed
# as "result", and results of the computation as "sum".

import json
import os
import tempfile

import torch
import triton.profiler as proton


def count(node, n):
    for name, value in node.get("metrics", {}).items():
        if name.startswith("count"):
            n += int(value)
    return sum((count(child, 0) for child in node.get("children", [])), n)


def main():
    x = torch.ones(4096, device="cuda")
    torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as where:
        name = os.path.join(where, "profile")
        proton.start(name, backend="cupti")
        with proton.scope("small"):
            for _ in range(100):
                x.mul_(1.0001)
        torch.cuda.synchronize()
        proton.finalize()
        with open(name + ".hatchet") as f:
            tree = json.load(f)
    print("result kernels %d" % sum(count(node, 0) for node in tree if "frame" in node))
    for _ in range(50):
        x.mul_(1.0001)
    torch.cuda.synchronize()
    print("sum %r" % float(x.sum()))


main()
