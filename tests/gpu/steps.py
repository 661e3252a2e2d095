#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Steps of programs as users have them, bound by the CPU, for tests/gpu/bench.sh:
#
#     steps.py WORKLOAD [PROFILER [BLOCKS]]
#
# WORKLOAD: resnet (a training step of ResNet-50, batch 16, autocast, AdamW), decoder (one token of
# a small language model, transformers), generate (four tokens of generate() of transformers, Qwen3
# of 28 layers, batch 4), jax (a training step of a small network, many kernels), nccl
# (data-parallel training of a small network on two GPUs), ddp (the same of ResNet-18, with a data
# loader of two processes and a gradient scaler). All weights are random. PROFILER:
# none, kineto (torch.profiler, CUDA only), kineto-cpu (and the CPU), kineto-stack (and stacks),
# proton (triton.profiler). Steps are timed inside of the process, in BLOCKS that begin and end with
# an idle GPU; "turns" prints "ready PID", and times one for each line that it reads, after steps
# that are not timed. Prints, one a line: "step MS", "cpu MS", "launch MS" for each block
# (elapsed, and CPU time of the process and of the threads that launch: the main thread and
# autograd's), "switches N" and "faults N" a step (context switches and page faults of the process),
# "memory KIB" resident and "private KIB" of it (RssAnon), "steps N", all that were taken, and
# "ended KIB", private memory after the end of the profile: some profilers read their records then.
#
# nccl and ddp are two processes. Rank 0 starts rank 1 with its own command line, so both have the
# same profiler. It prints "ready PID PID" and its own numbers, and passes on each line that it
# reads. Between turns both wait for a line, and no kernel of NCCL runs.

import atexit
import datetime
import glob
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

STEPS = {"resnet": 20, "decoder": 40, "generate": 5, "jax": 20, "nccl": 60, "ddp": 20}
OTHERS = [] # of rank 0: rank 1, its child
MEET = "STEPS_MEET" # only rank 1 is started with this variable: a file where the ranks meet


def resnet():
    import torch
    import torchvision

    torch.manual_seed(1)
    model = torchvision.models.resnet50().cuda()
    return training(torch, model)


def training(torch, model):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    x = torch.randn(16, 3, 224, 224, device="cuda")
    y = torch.randint(0, 1000, (16,), device="cuda")

    def step():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step, torch.cuda.synchronize


def decoder():
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.cache_utils import DynamicCache

    torch.manual_seed(1)
    config = LlamaConfig(vocab_size=8192, hidden_size=512, intermediate_size=1536,
                         num_hidden_layers=12, num_attention_heads=8, num_key_value_heads=8)
    model = LlamaForCausalLM(config).half().cuda().eval()
    state = {"left": 0}

    def step():
        with torch.no_grad():
            if not state["left"]:
                state.update(left=128, cache=DynamicCache(),
                             token=torch.ones(1, 16, dtype=torch.long, device="cuda"))
            out = model(input_ids=state["token"], past_key_values=state["cache"], use_cache=True)
            state["token"] = out.logits[:, -1:].argmax(-1)
            state["left"] -= 1

    return step, torch.cuda.synchronize


def generate():
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(1)
    config = Qwen3Config(vocab_size=8192, hidden_size=1024, intermediate_size=3072,
                         num_hidden_layers=28, num_attention_heads=16, num_key_value_heads=8,
                         head_dim=128)
    model = Qwen3ForCausalLM(config).bfloat16().cuda().eval()
    prompt = torch.ones(4, 16, dtype=torch.long, device="cuda")

    def step():
        model.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                       min_new_tokens=4, max_new_tokens=4, pad_token_id=0)

    return step, torch.cuda.synchronize


def jax():
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax
    import jax.numpy as jnp

    keys = jax.random.split(jax.random.PRNGKey(1), 24)
    state = {"w": [jax.random.normal(k, (256, 256)) / 16 for k in keys],
             "x": jax.random.normal(keys[0], (64, 256))}

    def loss(w, x):
        for one in w:
            x = jnp.tanh(x @ one) + x
        return (x * x).mean()

    @jax.jit
    def update(w, x):
        return [a - 1e-3 * g for a, g in zip(w, jax.grad(loss)(w, x))]

    def step():
        state["w"] = update(state["w"], state["x"])
        state["x"] = jnp.roll(state["x"], 1, 0) * 1.0

    return step, lambda: jax.block_until_ready(state["w"] + [state["x"]])


def two_ranks(stdout=subprocess.DEVNULL):
    """Starts this program once more, as rank 1. Returns torch and our rank, in a group of two."""
    rank = int(MEET in os.environ)
    if rank == 0:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ[MEET] = os.path.join(folder, "meet")
        OTHERS.append(subprocess.Popen([sys.executable, *sys.argv], stdin=subprocess.PIPE,
                                       stdout=stdout, text=True))
    import torch

    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", init_method="file://" + os.environ[MEET],
                                         rank=rank, world_size=2,
                                         timeout=datetime.timedelta(seconds=120),
                                         device_id=torch.device("cuda", rank))
    return torch, rank


def end_ranks():
    import torch

    torch.distributed.destroy_process_group() # on both ranks at the same time
    if any(other.wait() for other in OTHERS):
        sys.exit("rank 1 failed")


def nccl():
    torch, rank = two_ranks()
    torch.manual_seed(1)
    layers = [layer for _ in range(16) for layer in
              (torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.GELU())]
    model = torch.nn.Sequential(*layers).cuda()
    model = torch.nn.parallel.DistributedDataParallel(model, device_ids=[rank], bucket_cap_mb=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, foreach=True)
    x = torch.randn(64, 256, device="cuda")

    def step():
        torch.nn.functional.mse_loss(model(x), x).backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step, torch.cuda.synchronize


def ddp():
    torch, rank = two_ranks()
    import torchvision

    torch.manual_seed(1)
    images = torch.utils.data.TensorDataset(torch.randn(1024, 3, 64, 64),
                                            torch.randint(0, 1000, (1024,)))
    sampler = torch.utils.data.DistributedSampler(images, 2, rank)
    loader = torch.utils.data.DataLoader(images, 32, sampler=sampler, num_workers=2,
                                         pin_memory=True, persistent_workers=True)
    model = torch.nn.parallel.DistributedDataParallel(torchvision.models.resnet18().cuda(),
                                                      device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    scaler = torch.amp.GradScaler("cuda")

    def batches():
        while True:
            yield from loader

    batch = batches()

    def step():
        x, y = (one.cuda(non_blocking=True) for one in next(batch))
        with torch.autocast("cuda", dtype=torch.float16):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

    return step, torch.cuda.synchronize


def profiler(name):
    """Returns what begins and what ends a profile."""
    if name.startswith("kineto"):
        from torch.profiler import ProfilerActivity, profile

        kinds = [ProfilerActivity.CUDA]
        if name != "kineto":
            kinds.append(ProfilerActivity.CPU)
        p = profile(activities=kinds, with_stack=name == "kineto-stack")
        return p.__enter__, lambda: p.__exit__(None, None, None)
    if name == "proton":
        import triton.profiler as proton

        def begin():
            proton.start(os.path.join(os.environ.get("TMPDIR", "/tmp"), "proton-%d" % os.getpid()),
                         backend="cupti")
            proton.enter_scope("all")

        def end():
            proton.exit_scope()
            proton.finalize()

        return begin, end
    return lambda: None, lambda: None


def launching_ns():
    """CPU time of the threads that launch: this one and autograd's."""
    ns = time.thread_time_ns()
    for task in glob.glob("/proc/self/task/*/"):
        with open(task + "comm") as comm, open(task + "schedstat") as stat:
            if comm.read().startswith("pt_autograd"):
                ns += int(stat.read().split()[0])
    return ns


CLOCKS = {"step": time.perf_counter_ns, "cpu": time.process_time_ns, "launch": launching_ns}


def block(step, wait, n):
    """Returns ms a step, by each of CLOCKS."""
    wait()
    begin = [clock() for clock in CLOCKS.values()]
    for _ in range(n):
        step()
    wait()
    return [(clock() - b) / 1e6 / n for clock, b in zip(CLOCKS.values(), begin)]


def turns():
    print("ready", os.getpid(), *(other.pid for other in OTHERS), flush=True)
    for line in sys.stdin:
        for other in OTHERS:
            other.stdin.write(line)
            other.stdin.flush()
        yield line
    for other in OTHERS:
        other.stdin.close()


def status_kib(name):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name + ":"))


def used():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_nvcsw + r.ru_nivcsw, r.ru_minflt


def main():
    workload = sys.argv[1]
    begin, end = profiler(sys.argv[2] if len(sys.argv) > 2 else "none")
    blocks = sys.argv[3] if len(sys.argv) > 3 else "12"
    n = STEPS[workload]
    step, wait = {"resnet": resnet, "decoder": decoder, "generate": generate, "jax": jax,
                  "nccl": nccl, "ddp": ddp}[workload]()
    for _ in range(2):
        block(step, wait, n)
    begin()
    block(step, wait, n)
    switches, faults = used()
    done = 0
    for _ in turns() if blocks == "turns" else range(int(blocks)):
        done += n
        if blocks == "turns":
            block(step, wait, n // 5) # the caches were others' in between
            done += n // 5
        for name, ms in zip(CLOCKS, block(step, wait, n)):
            print(name, "%.4f" % ms)
        print("done", flush=True)
    after = used()
    print("switches %.1f" % ((after[0] - switches) / max(done, 1)))
    print("faults %.1f" % ((after[1] - faults) / max(done, 1)))
    print("steps %d" % (3 * n + done))
    print("private %d" % status_kib("RssAnon"))
    print("memory %d" % status_kib("VmRSS"), flush=True)
    end()
    print("ended %d" % status_kib("RssAnon"), flush=True)
    if OTHERS or MEET in os.environ:
        end_ranks()


if __name__ == "__main__":
    main()
