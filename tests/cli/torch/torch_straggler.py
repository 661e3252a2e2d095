# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training of two ranks: torch_straggler.py STEPS SECONDS [gloo|nccl]. The backward
pass of one layer takes so long in rank 1, and next to nothing in rank 0. Ranks find each other by
the file MEETING, or as torchrun says. Prints the sum of the parameters."""

import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

STEPS, SECONDS = int(sys.argv[1]), float(sys.argv[2])
BACKEND = sys.argv[3] if len(sys.argv) > 3 else "gloo"
RANK = int(os.environ["RANK"])
DEVICE = "cuda:%d" % RANK if BACKEND == "nccl" else "cpu"


def wait(gradient):
    time.sleep(SECONDS)
    return gradient


class Block(nn.Module):
    def __init__(self, is_slow):
        super().__init__()
        self.fc = nn.Linear(64, 64)
        self.is_slow = is_slow

    def forward(self, x):
        y = self.fc(x)
        if self.is_slow:
            y.register_hook(wait)
        return torch.relu(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(Block(RANK == i == 1) for i in range(3))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def train():
    torch.manual_seed(0)
    model = DistributedDataParallel(Net().to(DEVICE))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(16, 64, device=DEVICE)).square().mean().backward()
        optimizer.step()
    return sum(p.double().sum().item() for p in model.parameters())


torch.set_num_threads(1)
if "MEETING" in os.environ:
    dist.init_process_group(BACKEND, init_method="file://" + os.environ["MEETING"], rank=RANK,
                            world_size=2)
else:
    dist.init_process_group(BACKEND)
print("%.9f" % train())
dist.destroy_process_group()
