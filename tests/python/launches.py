# SPDX-License-Identifier: BSD-3-Clause
#
# Launches kernels through the driver's API by ctypes, from Python lines in every kind of call, and
# prints the truth of each: "launch FILE:LINE:FUNCTION ..." (tabs between), innermost frame first,
# as sys._getframe has it. Usage: launches.py (with a libcuda.so.1 in LD_LIBRARY_PATH that needs no
# GPU: tests/gpu/fake/fake_cuda.c).

import ctypes
import functools
import sys
import threading

cuda = ctypes.CDLL("libcuda.so.1")
function = ctypes.c_void_p()
lock = threading.Lock()


def name_of(code):
    return getattr(code, "co_qualname", code.co_name)


def path(frame):
    while frame:
        yield "%s:%d:%s" % (frame.f_code.co_filename.rsplit("/", 1)[-1], frame.f_lineno,
                name_of(frame.f_code))
        frame = frame.f_back


def start():
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuModuleLoadData(ctypes.byref(module),
            b".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry spin()\n{ ret; }\n\0") == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"spin") == 0


ns = ctypes.c_uint64(2000)
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(ns))


def launch():
    with lock:
        print("launch", *path(sys._getframe(1)), sep="\t")
    assert cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None) == 0


def plain():
    launch()
    for _ in range(3):
        launch()


def recursive(n):
    if n:
        return recursive(n - 1)
    launch()


def one(n):
    return other(n - 1) if n else launch()


def other(n):
    return other(n - 1) if n else launch()


def in_turn():
    for f in (one, other) * 4:
        f(1)


def generator():
    yield launch()
    yield launch()


def delegating():
    yield from generator()


async def coroutine():
    launch()


class Work:
    def __init__(self):
        launch()

    def __getattr__(self, name):
        launch()
        return name

    def __lt__(self, other):
        launch()
        return False

    @property
    def value(self):
        launch()

    @functools.lru_cache(maxsize=1)
    def cached(self):
        launch()

    @staticmethod
    def cleverly(a=[launch for _ in range(1)]):
        for f in a: f()  # one line


def unwound():
    try:
        try:
            raise ValueError
        finally:
            launch()
    except ValueError:
        launch()
    with Manager():
        launch()


class Manager:
    def __enter__(self):
        launch()

    def __exit__(self, *_):
        launch()


def many_lines():
    first = (
        1
        + 2
    )
    launch(
    )
    return [
        launch()
        for _ in
        range(2)
    ], first


def ünïcödé():
    launch()


def 漢字():
    launch()


def callbacks():
    sorted([Work(), Work()])
    sorted(range(2), key=lambda x: launch() or x)
    functools.reduce(lambda a, b: launch() or a, range(3))
    list(map(lambda x: launch(), range(2)))
    callback = ctypes.CFUNCTYPE(None)(launch)
    callback()
    functools.partial(launch)()


def made_again():
    for i in range(20):
        scope = {"launch": launch}
        exec(compile("\n" * i + "def made():\n    launch()\nmade()\n", "<made %d>" % (i % 5),
                "exec"), scope)


def deleted():
    for i in range(50):
        scope = {"launch": launch}
        exec("def f%d():\n%s    launch()\n" % (i, "    0\n" * (i % 7)), scope)
        scope.popitem()[1]()


def cells():
    for i in range(30):
        exec(compile("launch()\n", "<cell %d>" % (i % 10), "exec"), {"launch": launch})


def same_size():
    for i in range(30):
        scope = {"launch": launch}
        exec("def f():\n%s    launch()\n%s" % ("    0\n" * (30 + i % 3), "    0\n" * (30 - i % 3)),
                scope)
        scope["f"]()


def specialised():
    for _ in range(60):
        Work()


def chain_of_functions(k):
    n = 40
    scope = {"g%d_%d" % (k, n): launch}
    exec(compile("".join("def g%d_%d(): g%d_%d()\n" % (k, i, k, i + 1) for i in range(n)),
            "<chain %d>" % k, "exec"), scope)
    return scope["g%d_0" % k]


def many_functions():
    chains = [chain_of_functions(k) for k in range(40)]
    for f in chains * 2:
        f()


def calls():
    plain()
    recursive(0)
    recursive(3)
    recursive(200)
    in_turn()
    for _ in delegating():
        pass
    try:
        coroutine().send(None)
    except StopIteration:
        pass
    w = Work()
    w.anything
    w.value
    w.cached()
    w.cached()
    w.cleverly()
    unwound()
    many_lines()
    ünïcödé()
    漢字()
    callbacks()
    made_again()
    deleted()
    cells()
    same_size()
    specialised()
    many_functions()


def main():
    start()
    calls()
    threads = [threading.Thread(target=plain) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    # Not the main thread, and without the interpreter lock, which ctypes gives away: frames are
    # read by guarded loads.
    elsewhere = threading.Thread(target=calls)
    elsewhere.start()
    elsewhere.join()
    cuda.cuCtxSynchronize()


main()
