# SPDX-License-Identifier: BSD-3-Clause
#
# Work below a stack of functions that stay: warm.py DEPTH SECONDS. Each function is one of its own;
# the innermost calls a small one. For tests/bench/bench_python.sh.

import sys
import time

depth, seconds = int(sys.argv[1]), float(sys.argv[2])
source = """
def f0(end):
    n = 0
    while time.thread_time() < end:
        for i in range(200):
            n += leaf(i)
    return n

def leaf(i):
    return i * i & 3
"""
for i in range(1, depth):
    source += """
def f%d(end):
    first = %d
    both = [first, end]
    for _ in range(1):
        if first:
            result = f%d(both[1])
    return result
""" % (i, i, i - 1)
scope = {"time": time}
exec(compile(source, "warm", "exec"), scope)
scope["f%d" % (depth - 1)](time.thread_time() + seconds)
