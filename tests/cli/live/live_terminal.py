# SPDX-License-Identifier: BSD-3-Clause
# Runs a command on a terminal of its own, as a person would see it. Usage:
#   live_terminal.py ROWS COLUMNS ACTION COMMAND...
# ACTION: q types q, ^C types Ctrl-C, after some screens; large makes the terminal larger before q.
# Prints facts as "name value" lines: how the command ended, whether the terminal echoes again, and
# the sizes of the screens.
import fcntl
import os
import pty
import re
import struct
import sys
import termios

rows, columns, action = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def screens(text):
    """The screens that were drawn, each as lines without escape sequences."""
    drawn = []
    for part in text.split("\x1b[H")[1:]:
        if "\x1b[J" in part:
            plain = re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", part[: part.index("\x1b[J")])
            drawn.append(plain.replace("\r", "").split("\n"))
    return drawn


pid, terminal = pty.fork()
if pid == 0:
    while os.get_terminal_size(0).columns != columns:  # the parent sets it
        pass
    os.environ["TERM"] = "xterm"
    os.execv(sys.argv[4], sys.argv[4:])
before = termios.tcgetattr(terminal)
resize(terminal, rows, columns)
text = ""
while True:
    try:
        got = os.read(terminal, 65536)
    except OSError:
        break
    if not got:
        break
    text += got.decode(errors="replace")
    n = len(screens(text))
    if action == "large" and n >= 2:
        resize(terminal, rows + 10, columns + 40)
        action, first = "later", n
    elif action == "later" and n >= first + 2 or action == "q" and n >= 3:
        os.write(terminal, b"q")
        action = "done"
    elif action == "^C" and n >= 3:
        os.write(terminal, b"\x03")
        action = "done"
drawn = screens(text)
status = os.waitpid(pid, 0)[1]
print("status", os.waitstatus_to_exitcode(status))
print("restored", int(termios.tcgetattr(terminal)[3] == before[3]))
print("screens", len(drawn))
print("rows", max(len(s) for s in drawn))
print("columns", max(len(line) for s in drawn for line in s))
print("last-rows", len(drawn[-1]))
print("last-columns", max(len(line) for line in drawn[-1]))
print("left-alternate", int(text.rindex("\x1b[?1049l") > text.rindex("\x1b[?1049h")))
print("cursor", int(text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")))
print("progress", int("merging" in text))
print("SCREEN")
print("\n".join(drawn[-1]))
print("AFTER")
print(re.sub("\x1b\\[[0-9;?]*[A-Za-z]", "", text[text.rindex("\x1b[?1049l"):]).replace("\r", ""))
