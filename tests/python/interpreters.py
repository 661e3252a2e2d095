# SPDX-License-Identifier: BSD-3-Clause
#
# Interpreters inside of the interpreter, one after the other, each with a function of its own,
# between functions of the first one; prints the CPU time of each in ns: "truth NAME NS". "none"
# where there is no module for it.

import time

try:
    import _interpreters as interpreters
except ImportError:
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        interpreters = None

INNER = """
import time
def inner_%s(ns):
    begin = time.process_time_ns()
    while time.process_time_ns() < begin + ns:
        sum(i * i for i in range(1000))
    print("truth inner_%s", time.process_time_ns() - begin, flush=True)
inner_%s(%d)
"""


def outer(ns):
    begin = time.process_time_ns()
    while time.process_time_ns() < begin + ns:
        sum(i * i for i in range(1000))
    return time.process_time_ns() - begin


def main():
    took = outer(200000000)
    for name in "abcd":
        number = interpreters.create()
        run = getattr(interpreters, "run_string", None) or interpreters.exec
        run(number, INNER % (name, name, name, 100000000))
        interpreters.destroy(number)
    took += outer(200000000)
    print("truth outer", took, flush=True)


if interpreters:
    main()
else:
    print("none")
