#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Kernels written in Triton, launched from two functions: triton_work.py [LAUNCHES]. Prints "truth
# combine N" (its own count of launches) and "result NAME HEX".

import hashlib
import sys

import torch
import triton
import triton.language as tl


@triton.jit
def weighted(a, b, k):
    return a * b + k * 0.125  # WEIGHTED


@triton.jit
def combine(x, y, to, n, rounds, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    sum = tl.zeros((BLOCK,), dtype=tl.float32)
    for k in range(rounds):
        sum += weighted(tl.load(x + at, mask=inside), tl.load(y + at, mask=inside), k)
    tl.store(to + at, sum, mask=inside)


N = 1 << 20


def often(x, y, to, launches):
    for _ in range(3 * launches):
        combine[(N // 1024,)](x, y, to, N, 200, BLOCK=1024)
    return 3 * launches


def seldom(x, y, to, launches):
    for _ in range(launches):
        combine[(N // 1024,)](x, y, to, N, 200, BLOCK=1024)
    return launches


def main():
    launches = int(sys.argv[1]) if len(sys.argv) > 1 else 25
    if not torch.cuda.is_available():
        print("no CUDA device here")
        sys.exit(77)
    torch.manual_seed(3)
    x, y = torch.randn(N).cuda(), torch.randn(N).cuda()
    to = torch.empty_like(x)
    count = often(x, y, to, launches) + seldom(x, y, to, launches)
    torch.cuda.synchronize()
    print("truth combine %d" % count)
    print("result combine %s" % hashlib.sha256(to.cpu().numpy().tobytes()).hexdigest()[:16])


main()
