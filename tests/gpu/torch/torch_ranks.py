#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Data-parallel training for torchrun and accelerate launch: torch_ranks.py nccl|gloo [STEPS].
# Batches come from two workers of a DataLoader. Each rank prints "rank R weights HEX".

import hashlib
import os
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Images(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        x = torch.randn(3, 64, 64, generator=g)
        for _ in range(20):  # what a real one does to decode
            x = torch.nn.functional.avg_pool2d(x[None], 3, 1, 1)[0]
        return x, i % 10


def main():
    backend, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12
    torch.manual_seed(1)
    torch.backends.cudnn.deterministic = True
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(0)
    torch.distributed.init_process_group(backend)
    net = nn.Sequential(nn.Conv2d(3, 32, 3), nn.ReLU(), nn.Conv2d(32, 32, 3), nn.ReLU(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10)).cuda()
    net = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    loader = DataLoader(Images(), batch_size=16, num_workers=2)
    done = 0
    while done < steps:
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
            if done == steps:
                break
    weights = hashlib.sha256()
    for p in net.parameters():
        weights.update(p.detach().cpu().numpy().tobytes())
    sys.stdout.write("rank %d weights %s\n" % (rank, weights.hexdigest()[:32]))
    sys.stdout.flush()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
