# SPDX-License-Identifier: BSD-3-Clause
#
# Work in Python whose shares are known: frames.py SECONDS. Each part runs until its own CPU time is
# used up; prints "truth FUNCTION SECONDS" for the functions, whose names are unique: what they took
# by their threads' clocks. Recursion to the limit, generators, callbacks from C, code that is made
# and thrown away, threads and forked children are among them.

import os
import sys
import threading
import time


def burn(seconds):
    end = time.thread_time() + seconds
    n = 0
    while time.thread_time() < end:
        for i in range(200):
            n += i * i
    return n


class part:
    """With it: a part of that name, in this thread."""

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.begin = time.thread_time()

    def __exit__(self, *_):
        os.write(1, b"truth %s %.6f\n" % (self.name.encode(), time.thread_time() - self.begin))


def three(unit):
    burn(3 * unit)


def one(unit):
    burn(unit)


def deep(n, unit):
    if n:
        return deep(n - 1, unit)
    burn(unit)


def to_the_limit():
    return 1 + to_the_limit()


def limit(unit):
    end = time.thread_time() + unit
    while time.thread_time() < end:
        try:
            to_the_limit()
        except RecursionError:
            pass


def steps(unit):
    for _ in range(4):
        yield burn(unit / 4)


def generating(unit):
    sum(steps(unit))


def keyed(unit):
    sorted(range(4), key=lambda x: burn(unit / 4))


def thrown_away(unit):
    end = time.thread_time() + unit
    n = 0
    while time.thread_time() < end:
        n += 1
        scope = {}
        exec("def f%d(a):\n%s    for i in range(a): a += i\n" % (n % 9, "    0\n" * (n % 7)), scope)
        scope.popitem()[1](2000)


class Threads:
    def in_thread(self, unit):
        burn(unit)

    def in_part(self, unit):
        code = self.in_thread.__code__
        # Before 3.11 code does not know its class.
        with part(getattr(code, "co_qualname", code.co_name)):
            self.in_thread(unit)

    def together(self, unit):
        threads = [threading.Thread(target=self.in_part, args=(unit,)) for _ in range(2)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def child(unit):
    burn(unit)


def forked(unit):
    for _ in range(2):
        pid = os.fork()
        if not pid:
            with part("child"):
                child(unit)
            os._exit(0)
        os.waitpid(pid, 0)


def main(unit):
    for function in three, one, limit, generating, keyed, thrown_away:
        with part(function.__name__):
            function(unit)
    with part("deep"):
        deep(300, unit)
    forked(unit)
    Threads().together(unit)


main(float(sys.argv[1]))
