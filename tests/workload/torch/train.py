# SPDX-License-Identifier: BSD-3-Clause
"""Trains a small transformer. Two workers of a DataLoader prepare its batches. train.py MS: each
example takes so many milliseconds more to prepare."""

import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WAIT_S = float(sys.argv[1]) / 1000 if len(sys.argv) > 1 else 0


class Words(Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, i):
        time.sleep(WAIT_S)
        return torch.randint(0, 1000, (64,)), i % 10


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(1000, 64)
        layer = nn.TransformerEncoderLayer(64, 4, dim_feedforward=256, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.head = nn.Linear(64, 10)

    def forward(self, words):
        return self.head(self.encoder(self.embed(words)).mean(dim=1))


def train():
    model = Classifier()
    optimizer = torch.optim.AdamW(model.parameters())
    for words, labels in DataLoader(Words(), batch_size=16, num_workers=2):
        loss = nn.functional.cross_entropy(model(words), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    torch.set_num_threads(1)
    train()
