# SPDX-License-Identifier: BSD-3-Clause
# For torchrun: ranks that compute, rank 1 twice as long, with a DataLoader worker each. If FAIL is
# set, rank 1 fails at the first attempt.
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))


class Numbers(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        work(0.05)
        return float(i)


dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
work(0.2 * (rank + 1))
if os.environ.get("FAIL") and rank == 1 and os.environ["TORCHELASTIC_RESTART_COUNT"] == "0":
    sys.exit(3)
whole = torch.zeros(1)
for number in DataLoader(Numbers(), num_workers=1):
    whole += number.float()
dist.all_reduce(whole)
with open(f"{sys.argv[1]}.{rank}", "w") as f:
    print("rank", rank, "of", size, "has", whole.item(), file=f)
dist.destroy_process_group()
