#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Training steps of PyTorch on a GPU, the same to the bit in every process:
#
#     torch_steps.py WHAT [STEPS]
#
# WHAT: resnet (ResNet-50, autocast, AdamW), transformer (Llama of transformers), compiled (blocks
# under torch.compile), ranges (a small net in NVTX ranges), emit (the same in emit_nvtx), small
# (the same, as is), inside (the same; a torch.profiler runs in the middle). Prints "loss HEX" for
# each step, "weights HEX", and "module NAME CLASS" for all of named_modules().

import hashlib
import os
import sys

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")

import torch
from torch import nn


def resnet():
    import torchvision

    model = torchvision.models.resnet50().cuda()
    x = torch.randn(8, 3, 160, 160, device="cuda")
    y = torch.randint(0, 1000, (8,), device="cuda")

    def loss():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return nn.functional.cross_entropy(model(x), y)

    return model, loss


def transformer():
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(vocab_size=4096, hidden_size=512, intermediate_size=1536,
                         num_hidden_layers=6, num_attention_heads=8, num_key_value_heads=8)
    model = LlamaForCausalLM(config).cuda().train()
    tokens = torch.randint(0, 4096, (4, 256), device="cuda")
    return model, lambda: model(input_ids=tokens, labels=tokens).loss


class Feed(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.LayerNorm(n)
        self.up = nn.Linear(n, 4 * n)
        self.down = nn.Linear(4 * n, n)

    def forward(self, x):
        y = self.norm(x)
        y = nn.functional.gelu(self.up(y))
        return x + torch.tanh(self.down(y))


def compiled():
    model = nn.Sequential(Feed(512), Feed(512), nn.Linear(512, 10)).cuda()
    fast = torch.compile(model)
    x = torch.randn(2048, 512, device="cuda")
    y = torch.randint(0, 10, (2048,), device="cuda")
    return model, lambda: nn.functional.cross_entropy(fast(x), y)


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.conv = nn.Conv2d(n, n, 3, padding=1)
        self.norm = nn.BatchNorm2d(n)

    def forward(self, x):
        return torch.relu(x + self.norm(self.conv(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 64, 3)
        self.layers = nn.Sequential(Block(64), Block(64))
        self.head = nn.Linear(64, 10)

    def forward(self, x):
        x = self.layers(torch.relu(self.stem(x)))
        return self.head(x.mean((2, 3)))


def small():
    model = Net().cuda()
    x = torch.randn(16, 3, 64, 64, device="cuda")
    y = torch.randint(0, 10, (16,), device="cuda")
    return model, lambda: nn.functional.cross_entropy(model(x), y)


class NoRange:
    def __init__(self, name):
        pass

    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass


def train(what, steps):
    model, loss_of = {"resnet": resnet, "transformer": transformer, "compiled": compiled}.get(
        what, small)()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    span = torch.cuda.nvtx.range if what in ("ranges", "emit") else NoRange
    for i in range(steps):
        with span("step %d" % i):
            with span("forward"):
                loss = loss_of()
            with span("backward"):
                loss.backward()
            with span("optimizer"):
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
        if what == "ranges":
            torch.cuda.nvtx.mark("stepped")
        print("loss", loss.detach().float().cpu().numpy().tobytes().hex(), flush=True)
    weights = hashlib.sha256()
    for p in model.parameters():
        weights.update(p.detach().float().cpu().numpy().tobytes())
    print("weights", weights.hexdigest()[:32])
    for name, module in model.named_modules():
        print("module", name or "-", type(module).__name__)


def inside(steps):
    """A profiler of the program's own, for some of the steps."""
    from torch.profiler import ProfilerActivity, profile

    train("small", steps)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        train("small", steps)
    kinds = {}
    for e in p.events():
        kind = str(e.device_type)
        kinds[kind] = kinds.get(kind, 0) + 1
    print("events", sorted(kinds.items()), file=sys.stderr)
    train("small", steps)


def main():
    what, steps = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 6
    torch.manual_seed(1)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.use_deterministic_algorithms(True, warn_only=True)
    if what == "inside":
        inside(steps)
    elif what == "emit":
        with torch.autograd.profiler.emit_nvtx():
            train(what, steps)
    else:
        train(what, steps)


if __name__ == "__main__":
    main()
