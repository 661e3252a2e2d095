#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that use torch.profiler: torch_profiler.py [FILE], which gets a trace. Prints what the
# profiler saw in each window as "result", the sums of launches and of copies in windows as
# "window", and results of the computation as "sum".

import json
import os
import sys
import tempfile

import torch
from torch.profiler import ProfilerActivity, profile, schedule

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
# launches of warm-up steps, which the profiler drops
seen = {"launches": 0, "copies": 0, "dropped": 20 + 60}


def report(p, name):
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(tempfile.gettempdir(),
                                                              "trace-%d.json" % os.getpid())
    p.export_chrome_trace(path)
    with open(path) as f:
        events = json.load(f)["traceEvents"]
    if len(sys.argv) <= 1:
        os.unlink(path)

    def of(*categories):
        return [e for e in events if e.get("cat") in categories]
    launches = [e for e in of("cuda_runtime", "cuda_driver")
                if "LaunchKernel" in e["name"] or "GraphLaunch" in e["name"]]
    copies = of("gpu_memcpy", "gpu_memset")
    seen["launches"] += len(launches)
    seen["copies"] += len(copies)
    print("result %s: kernels %d launches %d copies %d operators %d" % (
        name, len(of("kernel")), len(launches), len(copies), len(of("cpu_op"))), flush=True)


def main():
    torch.manual_seed(0)
    x = torch.ones(4096, device="cuda")
    w = torch.randn(256, 256, device="cuda", requires_grad=True)
    big = torch.randn(4096, 4096, device="cuda")

    def small(n):
        for _ in range(n):
            x.mul_(1.0001)

    def train(n):
        for _ in range(n):
            (w @ w).relu().sum().backward()
            w.grad = None

    small(10)
    train(3)
    torch.cuda.synchronize()
    with profile(activities=BOTH) as p:
        small(100)
        train(20)
        for _ in range(5):
            x.cpu()
    report(p, "window")
    small(200)
    train(20)
    for _ in range(40):
        torch.mm(big, big)
    with profile(activities=BOTH) as p:  # what was launched before is still running
        small(100)
    report(p, "in-flight")
    with profile(activities=[ProfilerActivity.CUDA],
                 schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                 on_trace_ready=lambda q: report(q, "scheduled")) as q:
        for i in range(9):
            small(10 * (i + 1))
            torch.cuda.synchronize()
            q.step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        small(10)
    for _ in range(20):
        graph.replay()
    torch.cuda.synchronize()
    with profile(activities=BOTH) as p:
        for _ in range(20):
            graph.replay()
    report(p, "graph")
    for _ in range(20):
        graph.replay()
    torch.cuda.synchronize()
    print("window launches %(launches)d copies %(copies)d dropped %(dropped)d" % seen)
    print("sum %r %r" % (float(w.detach().sum()), float(x.sum())))


main()
