# SPDX-License-Identifier: BSD-3-Clause
#
# Compares the Python lines above each kernel with what the program said of its launches: compare.py
# TRUTH ALL, where TRUTH has lines "launch FILE:LINE:FUNCTION ..." (tabs between) and ALL is the
# output of hpcprof-lite --to=text --all. Prints "same N" or what differs; N is the number of
# launches. With a third argument, "modules", lines have names of PyTorch's modules and, between
# them, of functions of modules.py instead.

import collections
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "judge"))
from text_records import records  # noqa: E402  pylint: disable=wrong-import-position


def read_truth(path):
    with open(path, encoding="utf-8") as f:
        return collections.Counter(tuple(line.rstrip("\n").split("\t")[1:]) for line in f
                if line.startswith("launch\t"))


def read_paths(path):
    modules, files, functions, contexts, kernels = {}, {}, {}, {}, collections.Counter()
    module_of = {}
    with open(path, encoding="utf-8") as f:
        for kind, v in records(f):
            if kind == "module":
                modules[v["path"]] = v["id"]
            elif kind == "file":
                files[v["id"]] = v["path"]
            elif kind == "function":
                functions[v["id"]] = v["name"]
                module_of[v["id"]] = v["module"]
            elif kind == "context":
                contexts[v["id"]] = v
            elif kind == "gpu-op" and v["kind"] == "kernel":
                kernels[v["context"]] += 1
    paths = collections.Counter()
    for context, n in kernels.items():
        frames = []
        while context in contexts:
            c = contexts[context]
            function, path = c["function"], files.get(c["file"], "")
            # of lines: source that is a module itself, Python's
            if of_modules:
                if c["kind"] == "function" and module_of[function] == modules.get("[torch.nn]"):
                    frames.append(functions[function])
                elif c["kind"] == "line" and path.endswith("/modules.py"):
                    frames.append(functions[function])
            elif c["kind"] == "line" and path in modules:
                frames.append("%s:%s:%s" % (path.rsplit("/", 1)[-1], c["line"],
                    functions[function]))
            context = c["parent"]
        paths[tuple(frames if of_modules else frames[1:])] += n
    return paths


of_modules = sys.argv[3:] == ["modules"]
truth, found = read_truth(sys.argv[1]), read_paths(sys.argv[2])
for path in sorted(set(truth) | set(found)):
    if truth[path] != found[path]:
        print("said %d, found %d: %s" % (truth[path], found[path], " ".join(path)))
if truth == found:
    print("same %d" % sum(truth.values()))
