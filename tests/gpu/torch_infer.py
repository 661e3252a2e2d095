#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# PyTorch as users have it: inference of a small transformer, first call by call, then as a CUDA
# graph that is replayed.
#
#     torch_infer.py [REPLAYS] [profiler]
#
# Prints "elapsed-ns N" of the replays and "result NAME HEX" of what was computed. With "profiler"
# the PyTorch profiler (Kineto) counts: "truth kernel N", "truth copy N", "truth set N" and
# "profiler-ns N", the time of all kernels. It cannot be used at the same time as another profiler.

import hashlib
import sys
import time

import torch


def checksum(name, tensor):
    print("result %s %s" % (name, hashlib.sha256(tensor.float().cpu().numpy().tobytes()).hexdigest(
            )[:16]))


def infer(model, x):
    with torch.no_grad():
        return model(x)


def captured(model, x):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            infer(model, x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = infer(model, x)
    return graph, y


def work(replays):
    torch.manual_seed(7)
    layer = torch.nn.TransformerEncoderLayer(d_model=1024, nhead=16, dim_feedforward=4096,
            batch_first=True, dropout=0.0)
    model = torch.nn.TransformerEncoder(layer, num_layers=6, enable_nested_tensor=False).cuda().to(
            torch.bfloat16).eval()
    x = torch.randn(8, 256, 1024).cuda().to(torch.bfloat16)
    for _ in range(10):
        y = infer(model, x)
    checksum("eager", y)
    graph, y = captured(model, x)
    torch.cuda.synchronize()
    begin = time.monotonic_ns()
    for _ in range(replays):
        graph.replay()
    torch.cuda.synchronize()
    print("elapsed-ns %d" % (time.monotonic_ns() - begin))
    checksum("graph", y)


def main():
    replays = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    if not torch.cuda.is_available():
        print("no CUDA device here")
        sys.exit(77)
    if "profiler" not in sys.argv[2:]:
        work(replays)
        return
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as p:
        work(replays)
    n = {"kernel": 0, "copy": 0, "set": 0}
    ns = 0
    for e in p.events():
        if e.device_type != torch.autograd.DeviceType.CUDA:
            continue
        kind = "copy" if e.name.startswith("Memcpy") else "set" if e.name.startswith(
                "Memset") else "kernel"
        n[kind] += 1
        if kind == "kernel":
            ns += 1000 * (e.time_range.end - e.time_range.start)
    for kind, count in n.items():
        print("truth %s %d" % (kind, count))
    print("profiler-ns %.0f" % ns)


main()
