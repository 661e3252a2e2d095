#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# What a step costs under each tool, for tests/gpu/bench.sh:
#
#     turns.py WORKLOAD ROUNDS PROCESSES DIRECTORY KIND...        (HPCRUN=, PYTHON=: other places)
#
# PROCESSES of each kind (below) start at once and take turns: one works, the others wait. Processes
# of one kind differ by more than the kinds do, and so does the machine from minute to minute.
# Prints "WORKLOAD KIND NAME VALUE", a line for each number of steps.py, so that the Nth of each
# kind were measured beside each other. Measurements are DIRECTORY/KIND-PROCESS.

import os
import subprocess
import sys

CPU, GPU = ["-e", "CPUTIME"], ["-e", "gpu=nvidia"]
OURS = {"cpu": CPU, "gpu": GPU, "gpu+cpu": CPU + GPU, "torch": ["--torch"] + CPU + GPU,
        "pc+cpu": CPU + ["-e", "gpu=nvidia,pc"]}


class Process:
    def __init__(self, workload, kind, directory):
        self.workload, self.kind = workload, kind
        command = [os.environ.get("PYTHON", "python3"),
                   os.path.join(os.path.dirname(os.path.abspath(__file__)), "steps.py"), workload,
                   "none" if kind == "plain" or kind in OURS else kind, "turns"]
        if kind in OURS:
            command = [os.environ["HPCRUN"], "-q", *OURS[kind], "-o", directory, "--", *command]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True)

    def show(self):
        """Prints what the process says. False: it has said its last."""
        line = self.child.stdout.readline()
        if line and line != "ready\n":
            print(self.workload, self.kind, line, end="", flush=True)
        return bool(line)

    def turn(self):
        self.child.stdin.write("turn\n")
        self.child.stdin.flush()
        self.show()

    def end(self):
        self.child.stdin.close()
        while self.show():
            pass
        return self.child.wait()


def main():
    workload, rounds, processes, directory = sys.argv[1:5]
    os.makedirs(directory, exist_ok=True)
    running = [Process(workload, kind, os.path.join(directory, "%s-%d" % (kind, i)))
               for i in range(int(processes)) for kind in sys.argv[5:]]
    alive = [p for p in running if p.show()]
    for _ in range(int(rounds)):
        for p in alive:
            p.turn()
    failed = [p.kind for p in running if p.end()]
    if failed:
        sys.exit("turns.py: failed: " + " ".join(failed))


if __name__ == "__main__":
    main()
