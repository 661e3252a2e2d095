# SPDX-License-Identifier: BSD-3-Clause
#
# Launches kernels below calls of modules like PyTorch's, and prints the truth of each: "launch NAME
# ..." (tabs between), innermost first: modules as named_modules() names them, and the functions of
# this file between them. PyTorch is not needed: the functions that call modules have the names and
# the file of PyTorch's, of version 1 (OLD) or 2 (NEW). Usage: modules.py OLD|NEW [ROUNDS|late]
# (with a libcuda.so.1 in LD_LIBRARY_PATH that needs no GPU: tests/gpu/fake/fake_cuda.c), or
# modules.py SPIN [fork], which uses CPU time instead.

import collections
import copy
import ctypes
import gc
import os
import sys
import threading
import time

OLD = """
def _call_impl(self, *input, **kwargs):
    return self.forward(*input, **kwargs)
Module.__call__ = _call_impl
"""
# PyTorch 2: the second function keeps its first argument in a cell.
NEW = """
def _wrapped_call_impl(self, *args, **kwargs):
    if self.compiled:
        return self.compiled(*args, **kwargs)
    return self._call_impl(*args, **kwargs)
def _call_impl(self, *args, **kwargs):
    def inner():
        return self.forward(*args, **kwargs)
    if not kwargs:
        return self.forward(*args)
    return inner()
Module.__call__ = _wrapped_call_impl
Module._call_impl = _call_impl
"""
FILE = "/anywhere/torch/nn/modules/module.py"
FUNCTIONS = ("_call_impl", "_wrapped_call_impl")
is_old = sys.argv[1] == "OLD"


class Module:
    compiled = None

    def __init__(self):
        object.__setattr__(self, "training", True)
        object.__setattr__(self, "_parameters", collections.OrderedDict())
        object.__setattr__(self, "_modules", collections.OrderedDict() if is_old else {})

    def __setattr__(self, name, value):
        if isinstance(value, Module):
            self.__dict__["_modules"][name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        try:
            return self.__dict__["_modules"][name]
        except KeyError:
            raise AttributeError(name) from None

    def add(self, name, module):
        self._modules[name] = module

    def names(self, prefix=""):
        yield self, prefix
        for name, module in self._modules.items():
            if module is not None:
                yield from module.names(prefix + "." + name if prefix else name)


exec(compile(OLD if is_old else NEW, FILE, "exec"))

spins = sys.argv[1] == "SPIN"
cuda = None if spins else ctypes.CDLL("libcuda.so.1")
function = ctypes.c_void_p()
lock = threading.Lock()


def start():
    context, module = ctypes.c_void_p(), ctypes.c_void_p()
    assert cuda.cuInit(0) == 0
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert cuda.cuCtxSetCurrent(context) == 0
    assert cuda.cuModuleLoadData(ctypes.byref(module),
            b".version 9.0\n.target sm_90\n.address_size 64\n"
            b".visible .entry spin()\n{ ret; }\n\0") == 0
    assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"spin") == 0


ns = ctypes.c_uint64(2000)
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(ns))
elsewhere = {}  # modules that are called without the one that has them: their names


def on_stack(frame):
    """
    The modules that are called, and names of functions, innermost first. A module that calls itself
    is there once, outside of all its calls.
    """
    found, last = [], None
    while frame:
        code = frame.f_code
        if code.co_name in FUNCTIONS and code.co_filename == FILE:
            if last is not None and found[last] is frame.f_locals["self"]:
                del found[last]
            last = len(found)
            found.append(frame.f_locals["self"])
        elif code.co_filename == __file__:
            found.append(getattr(code, "co_qualname", code.co_name))
        frame = frame.f_back
    return found


def truth(stack):
    modules = [m for m in stack if isinstance(m, Module)]
    names = []
    for i in reversed(range(len(modules))):
        m, name = modules[i], elsewhere.get(id(modules[i]), "")
        for j in range(i + 1, len(modules)):
            found = min((n for x, n in modules[j].names() if x is m and n),
                    key=lambda n: n.count("."), default=None)
            if found:
                outer = full[j]
                name = outer + "." + found if outer else found
                break
        if i == len(modules) - 1:
            full = {}
        full[i] = name
        names.append("%s (%s)" % (name, type(m).__name__) if name else type(m).__name__)
    return [names.pop() if isinstance(m, Module) else m for m in stack]


def spin():
    end = time.process_time() + 0.003
    while time.process_time() < end:
        pass


def launch():
    if spins:
        return spin()
    with lock:
        print("launch", *truth(on_stack(sys._getframe())), sep="\t")
    assert cuda.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, None, arguments, None) == 0


class Leaf(Module):
    def forward(self):
        launch()


class Sequential(Module):
    def __init__(self, *modules):
        super().__init__()
        for i, module in enumerate(modules):
            self.add(str(i), module)

    def forward(self):
        for module in self._modules.values():
            module()


class List(Sequential):
    forward = None


class Block(Module):
    def __init__(self):
        super().__init__()
        self.conv1 = Leaf()
        self.norm = None
        self.add("absent", None)
        self.conv2 = Leaf()

    def forward(self):
        launch()
        self.conv1()
        self.conv2()


class Net(Module):
    def __init__(self):
        super().__init__()
        for i in range(40):
            setattr(self, "number%d" % i, i)
        self.stem = Leaf()
        self.layers = List(*(Block() for _ in range(5)))
        self.groups = List(List(Block(), Sequential(Leaf(), Leaf())), List(Block()))
        self.größe = Leaf()
        self.add("層", Leaf())
        self.tail = Sequential(Block(), Leaf(), Sequential(Leaf()))

    def forward(self):
        self.stem()
        for block in self.layers._modules.values():
            block()
        for group in self.groups._modules.values():
            for block in group._modules.values():
                block()
        self.größe()
        self._modules["層"]()
        self.tail()
        launch()


class Wrapper(Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self):
        self.module()


class Free(Module):
    """Calls a module that it does not contain."""
    def __init__(self, module):
        super().__init__()
        self.hidden = [module]

    def forward(self):
        self.hidden[0]()


class Again(Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, n=3):
        self.leaf()
        if n:
            recursive(self, n - 1)


def recursive(module, n):
    module(n)


class Alias(Module):
    """Its forward() is itself a module."""
    def __init__(self, module):
        super().__init__()
        self.module = module
        object.__setattr__(self, "forward", module)


class Maker(Module):
    """Its forward() makes modules, of which no other one knows."""
    def __init__(self):
        super().__init__()
        self.own = Leaf()
        self.late = None

    def forward(self):
        Leaf()()
        Sequential(Leaf())()
        self.own()
        if self.late:
            self.late()


class Keywords(Module):
    def __init__(self):
        super().__init__()
        self.leaf = Leaf()

    def forward(self, a=0, b=0):
        self.leaf()


def copied(module):
    """A replica as DataParallel makes them."""
    new = type(module).__new__(type(module))
    new.__dict__ = module.__dict__.copy()
    new._modules = new._modules.copy()
    for name, inner in new._modules.items():
        if inner is not None:
            new._modules[name] = copied(inner)
    return new


def local_class():
    class Local(Leaf):
        pass
    class Slots(Leaf):
        __slots__ = ("other", "one_more")
    return Sequential(Local(), Slots())


def shared():
    leaf = Leaf()
    outer = Sequential(Sequential(leaf), Sequential(Leaf(), leaf))
    outer.add("same", leaf)
    return outer


def renamed():
    net = Sequential(Leaf(), Block())
    for name in "abcd":
        net.add(name, net._modules.popitem()[1])
        net()
        net._modules["0"], net._modules[name] = net._modules[name], net._modules["0"]
        net()


def made_again(n):
    for i in range(n):
        net = Sequential(*(Leaf() if (i + k) % 3 else Block() for k in range(6)))
        net.add("last%d" % (i % 4), Leaf())
        net()
        if i % 8 == 0:
            gc.collect()


def alone():
    """Checkpointing calls modules again without the ones that have them."""
    net = Sequential(Block(), Leaf())
    net()
    with_names = {id(m): n for m, n in net.names() if n}
    elsewhere.update(with_names)
    net._modules["0"]()
    net._modules["1"]()
    for key in with_names:
        del elsewhere[key]


def made_in_forward():
    net = Sequential(Maker(), Maker())
    for _ in range(6):
        net()
    net._modules["0"].late = Leaf()
    net._modules["1"].own = Leaf()
    net()


def calls():
    Net()()
    copy.deepcopy(Net())()
    copied(copied(Net()))()
    Wrapper(Wrapper(Net()))()
    Free(Net())()
    Sequential(Free(Leaf()), Leaf())()
    Again()()
    Sequential(Again(), Keywords())()
    Keywords()(a=1)
    Sequential(Alias(Block()))()
    Wrapper(local_class())()
    shared()()
    alone()
    renamed()
    made_again(24)
    made_in_forward()


def repeated(rounds):
    net, other = Net(), Sequential(Block(), Block())
    for _ in range(rounds):
        net()
        other()


def renamed_late():
    net = Sequential(Leaf())
    for name in "ab":
        net.add(name, net._modules.popitem()[1])
        for _ in range(1000):
            net()


def forked():
    child = os.fork()
    if not child:
        repeated(2)
        os._exit(0)
    os.waitpid(child, 0)
    print(child)


def main():
    if spins:
        repeated(2)
        return forked() if "fork" in sys.argv else None
    start()
    if sys.argv[2:] == ["late"]:
        renamed_late()
        return cuda.cuCtxSynchronize()
    calls()
    repeated(int(sys.argv[2]) if len(sys.argv) > 2 else 3)
    thread = threading.Thread(target=calls)
    thread.start()
    thread.join()
    cuda.cuCtxSynchronize()


main()
