#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Two ranks on two GPUs, of which it is known who comes late to operations of NCCL, for
# tests/gpu/nccl/nccl.sh:
#
#     nccl_late.py [STEPS]
#
# A step is an AllReduce, an AllGather and a ReduceScatter. (The AllGather is synchronous: PyTorch
# 2.8 launches these in the stream of the program.) Before each of them the ranks meet, and one
# sleeps for 20 ms. It is rank 1 in two of three AllReduces, never in an AllGather, and in each
# second ReduceScatter. In a last AllReduce, rank 1 sleeps for 80 ms while rank 0 multiplies
# matrices in another stream. Prints "result right" if all tensors have the sums that they must
# have, "site OPERATION LINE N" for the lines that launch them, and "bound NAME LOW HIGH" for what
# must be measured, counts or ms. A NAME that ends in 0 or 1 is of that GPU. Times of launches are
# by the monotonic clock of the host, which both ranks share; times on the GPU are by events.

import json
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import steps

SLACK_MS = 0.5 # a kernel starts, and an event behind it is recorded, so soon after the launch
N = 1 << 18


def now_ms():
    return time.monotonic_ns() / 1e6


class Rank:
    def __init__(self):
        self.torch, self.rank = steps.two_ranks(subprocess.PIPE)
        self.computed_ms = 0.0 # between events around multiplications
        self.operations = [] # kind, ms before and after the launch, ms between events around it
        self.sites = {} # by kind and line: how many operations
        self.is_right = True

    def meet(self):
        """Both ranks return from here at the same time."""
        self.torch.cuda.synchronize()
        for other in steps.OTHERS:
            other.stdin.write("\n")
            other.stdin.flush()
            other.stdout.readline()
        if self.rank:
            sys.stdin.readline()
            print(flush=True)

    def full(self, n, value):
        return self.torch.full((n,), float(value), device="cuda")

    def events(self):
        return [self.torch.cuda.Event(enable_timing=True) for _ in range(2)]

    def operate(self, kind, launch, late=None, sleep_ms=20, beside=lambda: None):
        """launch() starts an operation, on the rank `late` later. beside() runs meanwhile."""
        begin, end = self.events()
        self.meet()
        if self.rank == late:
            time.sleep(sleep_ms / 1e3)
        before_ms = now_ms()
        begin.record()
        work = launch()
        after_ms = now_ms()
        beside()
        if work:
            work.wait()
        end.record()
        end.synchronize()
        self.operations.append((kind, before_ms, after_ms, begin.elapsed_time(end)))
        site = "%s %d" % (kind, launch.__code__.co_firstlineno)
        self.sites[site] = self.sites.get(site, 0) + 1

    def check(self, tensor, *values):
        parts = tensor.cpu().chunk(len(values))
        self.is_right &= all(bool((p == v).all()) for p, v in zip(parts, values))

    def step(self, i):
        dist = self.torch.distributed
        both, one = self.full(N, self.rank + i), self.full(N // 2, self.rank)
        part = self.full(N // 2, 0)
        self.operate("AllReduce", lambda: dist.all_reduce(both, async_op=True), int(i % 3 > 0))
        self.check(both, 2 * i + 1)
        self.operate("AllGather", lambda: dist.all_gather_into_tensor(both, one), 0)
        self.check(both, 0, 1)
        self.operate("ReduceScatter", lambda: dist.reduce_scatter_tensor(part, both, async_op=True),
                     i % 2)
        self.check(part, 2 * self.rank)

    def multiply(self, matrix, n):
        begin, end = self.events()
        begin.record()
        for _ in range(n):
            self.torch.mm(matrix, matrix)
        end.record()
        end.synchronize()
        self.computed_ms += begin.elapsed_time(end)

    def hide(self):
        """An AllReduce behind multiplications. Returns when these ended."""
        matrix = self.torch.ones(2048, 2048, device="cuda")
        self.multiply(matrix, 1)
        self.computed_ms = 0.0
        both, done = self.full(N, 1), [0.0]

        def multiply():
            self.multiply(matrix, 40)
            done[0] = now_ms()

        self.operate("AllReduce", lambda: self.torch.distributed.all_reduce(both, async_op=True), 1,
                     80, multiply if self.rank == 0 else lambda: None)
        self.check(both, 2)
        return done[0]


def waits(mine, other):
    """From the start of my kernel to that of the other: ms, least and most."""
    return (max(other[1] - mine[2] - SLACK_MS, 0), max(other[2] - mine[1] + SLACK_MS, 0))


def bounds_of(ranks):
    """What must be measured, by name, from what each rank has noted."""
    bounds = {}

    def add(name, low, high):
        old = bounds.get(name, (0, 0))
        bounds[name] = (old[0] + low, old[1] + high)

    for gpu, r in enumerate(ranks):
        for kind, before_ms, after_ms, events_ms in r["operations"]:
            add("kernels-%d" % gpu, 1, 1)
            add("nccl-%d" % gpu, max(events_ms - (after_ms - before_ms) - SLACK_MS, 0),
                1.01 * events_ms)
        for mine, other in zip(r["operations"], ranks[1 - gpu]["operations"]):
            if mine[0] == "Broadcast": # does not need all ranks
                continue
            low_ms, high_ms = waits(mine, other)
            last = (int(high_ms == 0), int(low_ms == 0))
            add("operations-%d" % gpu, 1, 1)
            add("waited-%d" % gpu, low_ms, high_ms)
            add("last-%d" % gpu, *last)
            add("last-%s-%d" % (mine[0], gpu), *last)
            add("waited-for-%s-%d" % (mine[0], 1 - gpu), low_ms, high_ms)
        add("elapsed-%d" % gpu, r["lived_ms"], 1e9)
    hidden_ms = ranks[0]["computed_ms"]
    add("compute-0", 0.95 * hidden_ms - SLACK_MS, 1.01 * hidden_ms + 5)
    is_hidden = ranks[0]["done_ms"] < ranks[1]["operations"][-1][1] # rank 1 had not come yet
    add("overlap-0", 0.95 * hidden_ms - SLACK_MS if is_hidden else 0, 1.01 * hidden_ms)
    add("compute-1", 0, 5)
    add("overlap-1", 0, 0)
    return bounds


def main():
    begin_ms = now_ms()
    signal.alarm(100) # nothing here takes so long: a rank has failed
    os.environ.setdefault("NCCL_RUNTIME_CONNECT", "0") # no rank waits for others in a launch
    try:
        import torch
        has_two = torch.distributed.is_nccl_available() and torch.cuda.device_count() > 1
    except (ImportError, AttributeError): # without PyTorch, tests/gpu/torch has the name
        has_two = False
    if not has_two:
        print("no PyTorch with NCCL here, or fewer than two GPUs")
        sys.exit(77)
    r = Rank()
    first = r.full(N, 0)
    r.operate("Broadcast", lambda: torch.distributed.broadcast(first, 0, async_op=True))
    for i in range(int(sys.argv[1]) if len(sys.argv) > 1 else 12):
        r.step(i)
    done_ms = r.hide()
    mine = {"operations": r.operations, "computed_ms": r.computed_ms, "done_ms": done_ms,
            "is_right": r.is_right, "lived_ms": now_ms() - begin_ms}
    if r.rank:
        print(json.dumps(mine), flush=True)
    for other in steps.OTHERS:
        ranks = [mine, json.loads(other.stdout.readline())]
        print("result", "right" if all(one["is_right"] for one in ranks) else "wrong")
        for site, n in r.sites.items():
            print("site", site, n)
        for name, (low, high) in bounds_of(ranks).items():
            print("bound %s %.3f %.3f" % (name, low, high))
    sys.stdout.flush()
    steps.end_ranks()


main()
