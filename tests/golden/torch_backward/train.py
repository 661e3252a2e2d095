# SPDX-License-Identifier: BSD-3-Clause
"""Training of a small model with a checkpoint; what README.md says is recorded."""

import ctypes
import warnings

warnings.filterwarnings("ignore")

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(32, 32, 3, padding=1)
        self.conv2 = nn.Conv2d(32, 32, 3, padding=1)

    def forward(self, x):
        return torch.relu(x + self.conv2(torch.relu(self.conv1(x))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.plain = Block()
        self.again = Block()
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        x = checkpoint(self.again, self.plain(self.first(x)))
        return self.head(x.mean((2, 3)))


def train():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    images, labels = torch.randn(16, 3, 32, 32), torch.randint(10, (16,))
    for _ in range(20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(images), labels).backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    hpctoolkit = ctypes.CDLL(None)
    hpctoolkit.hpctoolkit_sampling_start()
    train()
    hpctoolkit.hpctoolkit_sampling_stop()
