# SPDX-License-Identifier: BSD-3-Clause
"""Data-parallel training of a small model; what README.md says is recorded."""

import ctypes

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Words(Dataset):
    def __len__(self):
        return 640

    def __getitem__(self, i):
        words = torch.randint(0, 1000, (64,))
        noise = torch.rand(96, 96).matmul(torch.rand(96, 96))
        return words, int(noise.sum()) % 10


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 64)
        self.layers = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64))
        self.head = nn.Linear(64, 10)

    def forward(self, words):
        return self.head(self.layers(self.embed(words)).mean(dim=1))


def train():
    dist.init_process_group("gloo")
    model = DistributedDataParallel(Classifier())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for words, labels in DataLoader(Words(), batch_size=16, num_workers=2):
        loss = nn.functional.cross_entropy(model(words), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    hpctoolkit = ctypes.CDLL(None)
    hpctoolkit.hpctoolkit_sampling_start()
    train()
    hpctoolkit.hpctoolkit_sampling_stop()
