#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# The loops of launch_loop.cu under profilers that live in Python, for tests/gpu/bench.sh:
#
#     peers.py LIBRARY PROFILER N US OUT
#
# PROFILER: none, kineto (torch.profiler), proton (triton.profiler), proton-pc (with PC sampling).
# Prints, one a line: "empty NS" for a launch of N empty kernels 30 calls deep, three times, "busy
# NS" elapsed for N kernels of US microseconds, three times (not with US 0), "memory KIB" resident,
# "end NS" for what the profiler does when it stops, and "after NS" for launches when it has
# stopped.

import ctypes
import os
import sys
import time


def resident_kib():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def kineto():
    import torch
    from torch.profiler import ProfilerActivity, profile

    p = profile(activities=[ProfilerActivity.CUDA])
    torch.zeros(1, device="cuda")
    return p.__enter__, lambda: p.__exit__(None, None, None)


def proton(out, mode):
    import triton.profiler as proton

    def start():
        proton.start(out, backend="cupti", mode=mode)
        proton.enter_scope("all")

    def stop():
        proton.exit_scope()
        proton.finalize()

    return start, stop


def main():
    library, profiler, n, us, out = sys.argv[1:6]
    n, us = int(n), int(us)
    loop = ctypes.CDLL(library)
    loop.loop_empty.argtypes = [ctypes.c_long, ctypes.c_int]
    loop.loop_busy.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_int]
    loop.loop_empty.restype = loop.loop_busy.restype = ctypes.c_double
    if profiler == "kineto":
        start, stop = kineto()
    elif profiler.startswith("proton"):
        start, stop = proton(out, "pcsampling" if profiler == "proton-pc" else None)
    else:
        start = stop = lambda: None
    start()
    loop.loop_empty(n // 10 + 1, 30)
    for _ in range(3):
        print("empty %.1f" % loop.loop_empty(n, 30), flush=True)
    if us > 0:
        loop.loop_busy(n // 10 + 1, us, 1)
    for _ in range(3 if us > 0 else 0):
        print("busy %.0f" % loop.loop_busy(n, us, 1), flush=True)
    print("memory %d" % resident_kib())
    begin = time.monotonic_ns()
    stop()
    print("end %d" % (time.monotonic_ns() - begin))
    for _ in range(2):
        print("after %.1f" % loop.loop_empty(n, 30), flush=True)


main()
