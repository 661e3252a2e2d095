# SPDX-License-Identifier: BSD-3-Clause
#
# Compares the Python lines above each kernel with what the program said of its launches: compare.py
# TRUTH ALL, where TRUTH has lines "launch FILE:LINE:FUNCTION ..." (tabs between) and ALL is the
# output of hpcprof-lite --to=text --all. Prints "same N" or what differs; N is the number of
# launches. With a third argument, "modules", lines have names of PyTorch's modules and, between
# them, of functions of modules.py instead.

import collections
import sys


def read_truth(path):
    with open(path, encoding="utf-8") as f:
        return collections.Counter(tuple(line.rstrip("\n").split("\t")[1:]) for line in f
                if line.startswith("launch\t"))


def read_paths(path):
    modules, files, functions, contexts, kernels = {}, {}, {}, {}, collections.Counter()
    module_of = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            field = line.rstrip("\n").split("\t")
            if field[0] == "module":
                modules[field[-1]] = field[1]
            elif field[0] == "file":
                files[field[1]] = field[2]
            elif field[0] == "function":
                functions[field[1]] = field[-1]
                module_of[field[1]] = field[2]
            elif field[0] == "context":
                contexts[field[1]] = field
            elif field[0] == "gpu-op" and field[8] == "kernel":
                kernels[field[11]] += 1
    paths = collections.Counter()
    for context, n in kernels.items():
        frames = []
        while context in contexts:
            c = contexts[context]
            # of lines: source that is a module itself, Python's
            if of_modules:
                if c[4] == "function" and module_of[c[7]] == modules.get("[torch.nn]"):
                    frames.append(functions[c[7]])
                elif c[4] == "line" and files.get(c[9], "").endswith("/modules.py"):
                    frames.append(functions[c[7]])
            elif c[4] == "line" and files.get(c[9]) in modules:
                frames.append("%s:%s:%s" % (files[c[9]].rsplit("/", 1)[-1], c[10], functions[c[7]]))
            context = c[2]
        paths[tuple(frames if of_modules else frames[1:])] += n
    return paths


of_modules = sys.argv[3:] == ["modules"]
truth, found = read_truth(sys.argv[1]), read_paths(sys.argv[2])
for path in sorted(set(truth) | set(found)):
    if truth[path] != found[path]:
        print("said %d, found %d: %s" % (truth[path], found[path], " ".join(path)))
if truth == found:
    print("same %d" % sum(truth.values()))
