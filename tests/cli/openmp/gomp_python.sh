#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Python function calls a library with a region: the samples of all threads of the team are below
# that function. needs: gomp_programs run_check
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

LIBRARY=$builddir/tests/workload/gomp/usual.so
[ -e "$LIBRARY" ] || skip_all "gcc has no OpenMP here"
need "${PYTHON3:-python3}"
"${PYTHON3:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
	skip_all "CPython before 3.10"

cat >"$T/solver.py" <<'EOF'
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])


def solve(ms):
    return library.plugin_burn(ms)


def main():
    threads = 0
    for _ in range(20):
        threads += solve(20)
    print(threads)


main()
EOF

measure -- "${PYTHON3:-python3}" "$T/solver.py" "$LIBRARY"
is "exit status" "$status" 0
is "output" "$(cat "$T/stdout")" 40
sound "files are sound"
ok "analysis" run_limited 120 "$HPCPROF" -q --to folded -o "$T/db" "$OUT"

# Of the time in plugin_work, in ns: below the Python functions, and elsewhere.
awk '/plugin_work/ {
	if (/;main;solve;.*;plugin_burn;/) joined += $NF; else other += $NF
}
END { printf "%.0f %.0f\n", joined, other }' "$T/db/folded/CPUTIME.folded" >"$T/times"
read -r joined other <"$T/times"
# 20 times 20 ms of CPU time in each of 2 threads
within "both threads are below the Python function" "$joined" 600000000 1000000000
# A worker may have begun its first region before that is known: seen once in twenty runs.
within "none is elsewhere, but for one region at most" "$other" 0 25000000
done_testing
