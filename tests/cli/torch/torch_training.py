# SPDX-License-Identifier: BSD-3-Clause
"""Backward passes of PyTorch of many kinds. Each function forward_* is the forward pass of one
kind: what its nodes do belongs below it. Prints the gradients."""

import sys
import threading
import warnings

warnings.filterwarnings("ignore")

import torch
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)
torch.set_num_threads(1)
N = 320


def inputs():
    return torch.randn(N, N), torch.randn(N, N, requires_grad=True)


def forward_plain(x, w):
    return torch.tanh(x @ w)


def forward_retained(x, w):
    return torch.tanh(x @ w)


def forward_twice(x, w):
    return torch.tanh(x @ w)


def forward_checkpoint(x, w):
    return torch.tanh(x @ w)


def forward_throws(x, w):
    return torch.tanh(x @ w)


def forward_threads(x, w):
    return torch.tanh(x @ w)


def forward_handed(x, w):
    return torch.tanh(x @ w)


def plain(x, w):
    forward_plain(x, w).sum().backward()


def retained(x, w):
    y = forward_retained(x, w).sum()
    y.backward(retain_graph=True)
    y.backward()


def twice(x, w):
    """The derivative of a derivative."""
    (g,) = torch.autograd.grad(forward_twice(x, w).sum(), w, create_graph=True)
    (g * g).sum().backward()


def checkpointed(x, w):
    """The backward pass of a checkpoint has a forward and a backward pass inside."""
    checkpoint(lambda v: checkpoint(forward_checkpoint, v, w), x.requires_grad_()).sum().backward()


class Throws(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        raise RuntimeError("as it should")


def throws(x, w):
    try:
        Throws.apply(forward_throws(x, w)).sum().backward()
        print("no exception")
    except RuntimeError:
        forward_throws(x, w).sum().backward()


def in_threads(x, w):
    """Each thread trains a model of its own."""

    def train():
        for _ in range(12):
            forward_threads(x, w.detach().requires_grad_()).sum().backward()

    threads = [threading.Thread(target=train) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def handed(x, w):
    """The forward pass runs in another thread."""
    made = []
    t = threading.Thread(target=lambda: made.append(forward_handed(x, w).sum()))
    t.start()
    t.join()
    made.pop().backward()


for kind, n in (
    (plain, 12),
    (retained, 12),
    (twice, 12),
    (checkpointed, 12),
    (throws, 12),
    (in_threads, 1),
    (handed, 12),
):
    x, w = inputs()
    for _ in range(n):
        kind(x, w)
    print(kind.__name__, w.grad.double().sum().item() if w.grad is not None else None)
