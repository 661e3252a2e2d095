#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
#
# What a step costs under each tool, for tests/gpu/bench.sh:
#
#     turns.py WORKLOAD ROUNDS PROCESSES DIRECTORY KIND...        (HPCRUN=, PYTHON=: other places)
#
# PROCESSES of each kind (below) start at once and take turns: one works, the others wait. Processes
# of one kind differ by more than the kinds do, and so does the machine from minute to minute. So
# all work on the same processors, those that wait are on others, and each round begins with another
# kind. Of nccl and ddp, a process and its child are two ranks, with one turn. Prints "WORKLOAD
# KIND NAME VALUE PROCESS", a line for each number of steps.py, so that the Nth of each kind were
# measured beside each other; then a table, whose lines begin with "#". Measurements are
# DIRECTORY/KIND-PROCESS.

import os
import statistics
import subprocess
import sys

CPU, GPU = ["-e", "CPUTIME"], ["-e", "gpu=nvidia"]
OURS = {"cpu": CPU, "gpu": GPU, "gpu+cpu": CPU + GPU, "torch": ["--torch"] + CPU + GPU,
        "pc+cpu": CPU + ["-e", "gpu=nvidia,pc"]}


ALL = sorted(os.sched_getaffinity(0))
WORK, WAIT = (ALL[:6], ALL[6:]) if len(ALL) >= 12 else (ALL, ALL)


class Process:
    def __init__(self, workload, kind, number, directory):
        self.workload, self.kind, self.number = workload, kind, number
        command = [os.environ.get("PYTHON", "python3"),
                   os.path.join(os.path.dirname(os.path.abspath(__file__)), "steps.py"), workload,
                   "none" if kind == "plain" or kind in OURS or ":" in kind else kind, "turns"]
        if kind in OURS:
            command = [os.environ["HPCRUN"], "-q", *OURS[kind], "-o",
                       "%s/%s-%d" % (directory, kind, number), "--", *command]
        environment = dict(os.environ)
        if kind.startswith("bare:"):
            environment["CUDA_INJECTION64_PATH"] = os.path.join(os.environ["GPU_BIN"],
                                                                "bare_cupti.so")
            environment["BARE_CUPTI"] = kind[5:]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True, env=environment)
        self.pids = []
        self.numbers = {} # by name: one each round, or one

    def show(self):
        """Prints a number that the process says. Returns the line; "": it has said its last."""
        line = self.child.stdout.readline()
        if line.startswith("ready "):
            self.pids = line.split()[1:]
        elif line and line != "done\n":
            print(self.workload, self.kind, line.rstrip(), self.number, flush=True)
            name, value = line.split()
            self.numbers.setdefault(name, []).append(float(value))
        return line

    def place(self, processors):
        for thread in sum((os.listdir("/proc/%s/task" % pid) for pid in self.pids), []):
            try:
                os.sched_setaffinity(int(thread), processors)
            except ProcessLookupError: # it has ended
                pass

    def turn(self):
        self.place(WORK)
        self.child.stdin.write("turn\n")
        self.child.stdin.flush()
        while self.show() not in ("done\n", ""):
            pass
        self.place(WAIT)

    def end(self):
        self.child.stdin.close()
        while self.show():
            pass
        return self.child.wait()


def table(workload, name, processes):
    """Prints medians, and what is added to the mean of the plain processes in the same round."""
    plain = [statistics.mean(v) for v in zip(*(p.numbers[name] for p in processes
                                               if p.kind == "plain"))]
    for kind in dict.fromkeys(p.kind for p in processes):
        of_kind = [p.numbers[name] for p in processes if p.kind == kind]
        added = [[v - base for v, base in zip(values, plain)] for values in of_kind]
        every = sorted(sum(added, []))
        print("# %s %-6s %-40s %7.1f   added %.1f (%.1f to %.1f), by process: %s" % (
            workload, name, kind, statistics.median(sum(of_kind, [])), statistics.median(every),
            every[len(every) // 4], every[3 * len(every) // 4],
            " ".join("%.1f" % statistics.median(v) for v in added)))


def main():
    workload, rounds, processes, directory = sys.argv[1:5]
    os.makedirs(directory, exist_ok=True)
    running = [Process(workload, kind, i, directory)
               for i in range(int(processes)) for kind in sys.argv[5:]]
    alive = [p for p in running if p.show()]
    for p in alive:
        p.place(WAIT)
    for i in range(int(rounds)):
        for k in range(len(alive)):
            alive[(i + k) % len(alive)].turn()
    failed = [p.kind for p in running if p.end()]
    for name in ("step", "cpu", "launch", "switches", "faults", "memory", "private", "ended"):
        table(workload, name, alive)
    if failed:
        sys.exit("turns.py: failed: " + " ".join(failed))


if __name__ == "__main__":
    main()
