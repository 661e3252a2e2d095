#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the commands of a page of doc/guide in the current directory, in their order, and looks for
# the lines that the page shows in what each prints. They follow each other there, unless "..." is
# between them, which stands for left-out lines or the rest of a line; ".." stands for a part of a
# name. Numbers with their units, bars, branches of trees, line breaks, and names of the machine and
# its directories may differ. A block without a command shows what some command before printed.
#
#     run_guide.py PAGE    prints a line for each command, with tabs between what came of it (ok,
#                          not-ok, missing or never), the command, and why or what is needed
#
# Comments on the line before a block of code say what no reader needs to see:
#     <!-- needs NAME... -->   run the block if each is a command or a variable that is set, as
#                              THOROUGH or HAVE_CUPTI. Names in NEVER are of what no test has.
#     <!-- file NAME -->       the block is a file
#     <!-- status N -->        the exit status of the last command in the block

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys

NEVER = {"GPU", "MPI_Comm_spawn", "PyTorch", "Slurm", "another-run", "cluster", "container",
         "viewer"}
LIMIT_S = 600
UNITS = r"(?:ns|us|ms|s|B|KiB|MiB|GiB|[kMG]?B/s|x)"
NUMBER = r"[-+~<(]*\d[\d,.:-]*%?[),;:]*"


class Block:
    def __init__(self, marks):
        self.marks = marks
        self.lines = []


def read_blocks(page):
    """Blocks of code: indented lines behind a blank line or a mark, with blank lines inside."""
    blocks, marks, block, blanks, was_open = [], {}, None, 0, True
    for line in open(page, encoding="utf-8").read().splitlines() + ["end"]:
        mark = re.fullmatch(r" *<!-- (needs|file|status) (.*) -->", line)
        if mark:
            marks[mark[1]] = mark[2]
            was_open, block = True, None
        elif not line.strip():
            was_open, blanks = True, blanks + 1
        elif line.startswith("    ") and (block or was_open):
            if not block:
                block = Block(marks)
                blocks.append(block)
            elif blanks:
                block.lines += [""] * blanks
            block.lines.append(line[4:])
            marks, blanks, was_open = {}, 0, False
        else:
            block, marks, blanks, was_open = None, {}, 0, False
    return blocks


def is_whole(command):
    try:
        shlex.split(command, comments=True)
        return True
    except ValueError:  # an open quote, or a backslash at the end
        return False


def commands_of(lines):
    """(command, shown lines) of a block; the first command is empty if it begins with output."""
    steps, is_open = [], False
    for line in lines:
        if is_open:
            steps[-1][0] += "\n" + line
        elif line.startswith("$ "):
            steps.append([line[2:], []])
        else:
            if not steps:
                steps.append(["", []])
            steps[-1][1].append(line)
            continue
        is_open = not is_whole(steps[-1][0])
    return steps


def words(text):
    """The text on one line, without what may differ."""
    text = text.replace(os.getcwd(), "/home/me").replace(os.environ["HOME"], "/home/me")
    text = re.sub(rf"\b{re.escape(socket.gethostname())}\b", "vm", text)
    text = re.sub(r"[├└│⋮]|(?<!\S)#+(?!\S)", " ", text)
    text = re.sub(rf"(?<!\S){NUMBER}(?: {UNITS}[),;:.]*)?(?!\S)", " ", text)
    text = re.sub(r"0x[0-9a-f]+|\d+", "N", text)
    return " " + " ".join(text.split()) + " "


def first_missing(shown, output):
    """The first shown line that is not in the output where it should be, or None."""
    output, at, is_gap = words(output), 0, True
    for line in shown:
        wanted = words(line)
        is_cut = wanted.endswith("... ")
        if is_cut:
            wanted = wanted[:-4] if line.endswith(" ...") else wanted[:-4].rstrip()
        if wanted.strip():
            found = re.compile(re.escape(wanted).replace(r"\.\.", r"\S*")).search(output, at)
            if not found or not is_gap and found.start() != at:
                return line
            at = found.end() - wanted.endswith(" ")
        is_gap = is_cut or (is_gap and not wanted.strip())
    return None


class Page:
    def __init__(self):
        self.outputs = []
        self.missed = None  # why a command did not run, if one could have

    def run(self, command, shown, status):
        """Why the command is not as the page says, or None."""
        done = subprocess.run(
            ["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
        self.outputs.append(done.stdout.decode(errors="replace"))
        if done.returncode != status:
            return f"status {done.returncode}: {self.outputs[-1][-600:]}"
        line = first_missing(shown, self.outputs[-1])
        return line and f"does not print <{line.strip()}> here, but: {self.outputs[-1][:3000]}"

    def find(self, shown):
        """Whether an earlier command printed this."""
        return any(first_missing(shown, output) is None for output in self.outputs)

    def step(self, command, shown, status, without):
        what = command or f"more output: {shown[0]}"
        if without:
            say(without[0], what, without[1])
            if without[0] == "missing":
                self.missed = without
        elif command:
            why = self.run(command, shown, status)
            say("not-ok" if why else "ok", what, why or "")
        elif self.find(shown):
            say("ok", what)
        elif self.missed:
            say("missing", what, self.missed[1])
        else:
            say("not-ok", what, "no earlier command of the page prints this")


def lacking(needs):
    """("missing" or "never", NAME) of the first that is not here, or None."""
    for name in needs.split():
        if name in NEVER:
            return "never", name
        if not (os.environ.get(name) or shutil.which(name)):
            return "missing", name
    return None


def say(result, what, why=""):
    print(result, *(" ".join(text.split()) for text in (what, why)), sep="\t", flush=True)


def main():
    page = Page()
    for block in read_blocks(sys.argv[1]):
        without = lacking(block.marks.get("needs", ""))
        if "file" in block.marks:
            with open(block.marks["file"], "w", encoding="utf-8") as file:
                file.write("\n".join(block.lines) + "\n")
            continue
        steps = commands_of(block.lines)
        for command, shown in steps:
            status = int(block.marks.get("status", "0")) if shown is steps[-1][1] else 0
            page.step(command, shown, status, without)


main()
