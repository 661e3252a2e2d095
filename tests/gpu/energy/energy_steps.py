#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds a measurement of tests/gpu/energy/energy_ways.cu against what the program read of the meter
itself. Prints TAP lines. Usage: energy_steps.py TEXT-OF---all OUTPUT-OF-THE-PROGRAM"""

import sys

# What each step asks of the device, in s: of kernels that compute, and of those that read memory.
# Kernels of 200 us take longer than that: "short" has the rest of their measured times.
WORK = {"compute": (2.0, 0), "stream": (0, 2.0), "pulses": (0.6, 0)}


def read(path, first):
    with open(path, encoding="utf-8", errors="replace") as lines:
        return [line.rstrip("\n").split("\t") for line in lines if line.startswith(first)]


def report(good, what):
    print("ok" if good else "not ok", "-", what)


def near(what, have, wanted, percent):
    good = abs(have - wanted) <= wanted * percent / 100
    report(good, f"{what}: {have:.1f}, by the program's own readings {wanted:.1f}")


def find_window(changes, after, joules_mj):
    """The first changes behind `after` between which the meter grew by exactly so much."""
    for i in range(after, len(changes)):
        for k in range(i + 1, len(changes)):
            grown = changes[k][1] - changes[i][1]
            if grown == 1000 * joules_mj:
                return i, k
            if grown > 1000 * joules_mj:
                break
    return None


def of_kernel(path, name, metric):
    """Of the kernel itself, mangled or not; functions of the CPU have none."""
    return sum(float(r[5]) for r in read(path, "by-function\t") if r[1] == metric and name in r[2])


def main(all_path, out_path):
    changes = [(int(r[2]), int(r[4])) for r in read(all_path, "meter-change\t0\t")]
    names = read(all_path, "# meter\t")[0][1:]
    meter = dict(zip(names, read(all_path, "meter\t0\t")[0][1:]))
    steps = [r[0].split()[1:] for r in read(out_path, "step ")]
    idle_w = int(meter["idle_mw"]) / 1e3
    wanted = {"compute": 0.0, "stream": 0.0}
    work = dict(WORK, short=[of_kernel(all_path, kernel, "GKER (sec)") - sum(
        step[i] for step in WORK.values()) for i, kernel in enumerate(wanted)])
    after = 0
    for name, start, end, grown_mj in steps:
        window = find_window(changes, after, int(grown_mj))
        report(window is not None, f"{name}: the program's readings are changes of the file")
        if window is None:
            continue
        after = window[1]
        whole_s = (changes[window[1]][0] - changes[window[0]][0]) / 1e9
        if name in ("idle-2", "idle-3"):
            near(f"{name}: idle power, W", idle_w, int(grown_mj) / 1e3 / whole_s, 1.5)
        if name not in work:
            continue
        busy_s = sum(work[name])
        used = int(grown_mj) / 1e3 - idle_w * (whole_s - busy_s)
        for kernel, work_s in zip(wanted, work[name]):
            wanted[kernel] += used * work_s / busy_s
        report(whole_s > busy_s and int(end) > int(start), f"{name}: the window has the work")
    for kernel, joules in wanted.items():
        near(f"{kernel}: energy, J", of_kernel(all_path, kernel, "GENERGY (J)"), joules, 2)
    parts = sum(int(meter[k]) for k in ("operations_uj", "idle_uj", "unknown_uj"))
    report(parts == int(meter["total_uj"]), "the parts are the whole")
    near("step of the meter, ms", int(meter["step_ns"]) / 1e6, 100, 2)


main(*sys.argv[1:])
