#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Training steps of a small network with JAX on a GPU: jax_steps.py [STEPS]. Prints "weights HEX".

import hashlib
import os
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import jax
import jax.numpy as jnp


def layer(x, w):
    with jax.named_scope("layer"):
        return jnp.tanh(x @ w) + x


def loss(weights, x):
    for w in weights:
        x = layer(x, w)
    return (x * x).mean()


@jax.jit
def update(weights, x):
    gradients = jax.grad(loss)(weights, x)
    return [w - 1e-3 * g for w, g in zip(weights, gradients)]


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    keys = jax.random.split(jax.random.PRNGKey(1), 6)
    weights = [jax.random.normal(k, (256, 256)) / 16 for k in keys]
    x = jax.random.normal(keys[0], (64, 256))
    for _ in range(steps):
        weights = update(weights, x)
        x = jnp.roll(x, 1, 0) * 1.0
    jax.block_until_ready(weights)
    digest = hashlib.sha256()
    for w in weights:
        digest.update(jax.device_get(w).tobytes())
    print("weights", digest.hexdigest()[:32])


if __name__ == "__main__":
    main()
