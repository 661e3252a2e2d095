# SPDX-License-Identifier: BSD-3-Clause
#
# The same launches again and again, for paths that are remembered: from several lines of one
# function, below modules that call each other as PyTorch's do, from functions that are made anew
# each time (their code objects often get the place of the last one), from generators, coroutines,
# callbacks of C, finalizers, handlers of exceptions, recursion and threads.
# Usage: again.py ROUNDS (with a libcuda.so.1 in LD_LIBRARY_PATH that needs no GPU).

import asyncio
import ctypes
import sys
import threading
import types

cuda = ctypes.CDLL("libcuda.so.1")
function = ctypes.c_void_p()
ns = ctypes.c_uint64(1)
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(ns))


def start():
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuModuleLoadData(ctypes.byref(module),
            b".version 9.0\n.target sm_90\n.address_size 64\n"
            b".visible .entry spin()\n{ ret; }\n\0") == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"spin") == 0


def launch():
    assert cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None) == 0


class Module:
    def __init__(self, parts):
        self.parts = parts

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self):
        for part in self.parts:
            part()


class Layer(Module):
    def forward(self):
        launch()
        launch(), launch()


def launches_of(name):
    launch()


def made(i):
    code = launches_of.__code__.replace(co_firstlineno=1000 + i % 7)
    types.FunctionType(code, globals())(i)


def generated():
    for _ in range(2):
        launch()
        yield


def caught():
    try:
        yield launch()
    except ValueError:
        launch()
        yield
    finally:
        launch()


def thrown():
    g = caught()
    next(g)
    g.throw(ValueError())
    g.close()


def either(i):
    launch()
    if i % 3:
        launch()
    elif i % 5:
        launch()
    else:
        launch()


async def coroutine(n):
    launch()
    await asyncio.sleep(0)
    if n:
        await coroutine(n - 1)
    launch()


async def together():
    await asyncio.gather(*(coroutine(n) for n in (0, 2, 1)))


def executed(i):
    name = "ab"[i % 2]
    exec("def %s():\n%s    launch()\n%s()" % (name, "\n" * (i % 3), name), {"launch": launch})


def finalized():
    class Finalized:
        launch()

        def __init__(self, other=None):
            self.other = other

        def __del__(self):
            launch()

    Finalized(Finalized())


compares = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def called_back(i):
    numbers = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(numbers, 2, 4, compares(lambda a, b: launch() or i % 2))


def recursive(n):
    try:
        if n:
            recursive(n - 1)
        launch()
        raise KeyError
    except KeyError:
        if n % 4 == 0:
            launch()


def one_round(net, i):
    net()
    for k in range(4):
        made(i + k)
    either(i)
    sorted([2, 1], key=lambda v: launch() or v)
    list(generated())
    thrown()
    executed(i)
    finalized()
    called_back(i)
    recursive(i % 7)
    if i % 50 == 0:
        recursive(300)
        asyncio.run(together())


def rounds(n):
    net = Module([Module([Layer([]), Layer([])]) for _ in range(3)])
    for i in range(n):
        one_round(net, i)


start()
thread = threading.Thread(target=rounds, args=(int(sys.argv[1]) // 10,))
thread.start()
rounds(int(sys.argv[1]))
thread.join()
