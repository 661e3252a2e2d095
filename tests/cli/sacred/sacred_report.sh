#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The report: on the standard error that the program was started with, or nowhere; and nobody has to
# wait for it.

. "${srcdir:-.}/tests/lib.sh"
need python3

LINE='^hpcrun-lite: .*sample'

# The program puts a file of its own where standard error was.
is "a program without standard error" \
	"$("$HPCRUN" -o "$T/closed" sh -c 'exec 2>&-; echo done' 2>&1)" "done"
"$HPCRUN" -o "$T/own" sh -c "exec 2>&-; exec 2<>'$T/data'; echo X >&2" 2>"$T/stderr"
is "a file of the program's with the number 2" "$(cat "$T/data")" X
"$HPCRUN" -o "$T/late" sh -c "exec 2>'$T/log'; echo X >&2" 2>"$T/stderr"
is "a log of the program's" "$(cat "$T/log" "$T/stderr")" X
"$HPCRUN" -o "$T/child" sh -c "exec 2>'$T/log'; sh -c 'echo X >&2'; true" 2>"$T/stderr"
is "a log of the program's, and a child" "$(cat "$T/log" "$T/stderr")" X
"$HPCRUN" -o "$T/kept" sh -c "exec 3>&2 2>'$T/log'; exec 2>&3 3>&-" 2>"$T/stderr"
like "standard error went elsewhere and came back" "$(cat "$T/stderr")" "$LINE"

# A parent that reads after the end, of a program that fills the pipe nearly or to its end.
cat >"$T/wait.py" <<'CODE'
import subprocess, sys
fill, command = int(sys.argv[1]), sys.argv[2:]
p = subprocess.Popen(command + ["sh", "-c", "head -c %d /dev/zero; :" % fill], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
try:
    p.wait(60)
except subprocess.TimeoutExpired:
    print("hangs")
    p.kill()
text = p.stdout.read()
print(p.returncode, text[:fill] == bytes(fill), text[fill:].decode())
CODE
is "a full pipe" "$(python3 "$T/wait.py" 65536 "$HPCRUN" -o "$T/full")" "0 True "
like "a pipe with room" "$(python3 "$T/wait.py" 1000 "$HPCRUN" -o "$T/room")" \
	'^0 True hpcrun-lite: .*sample'
like "a pipe with room for a part" "$(python3 "$T/wait.py" 65506 "$HPCRUN" -o "$T/part")" \
	'^0 True (hpcrun-lite: .*)?$'

# Where it goes is gone.
text=$("$HPCRUN" -o "$T/gone" sh -c "rm -rf '$T/gone'" 2>&1)
like "a removed directory is not named as if it were there" "$text" \
	'gone: the measurement file was removed while the program ran; its data is lost$'
# Nothing is lost where the directory got another name, or is not seen from another root directory.
"$HPCRUN" -o "$T/old-name" sh -c "mv '$T/old-name' '$T/new-name'" 2>"$T/err"
unlike "a measurement that was renamed is not lost" "$(cat "$T/err")" 'removed'
like "... and is counted" "$(cat "$T/err")" '^hpcrun-lite: .*1 thread, '
done_testing
