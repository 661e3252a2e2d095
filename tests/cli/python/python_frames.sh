#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Python functions and lines of samples: shares that are known, in recursion, generators, callbacks
# from C, code that comes and goes, threads and children of fork; in the text, the database and the
# trace. Nothing of the program changes.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/python.sh"
[ -z "${SANITIZER:-}" ] || skip_all "libraries are preloaded"
cd "$T" || exit 99
cp "$srcdir/tests/python/frames.py" .

"$HPCRUN" -e CPUTIME@f2000 -o m "$PY" frames.py 0.18 >out 2>err
is "the program runs" "$?" 0
"$HPCPROF" -q --no-structs -o db --to=text,cctdb --all m >all 2>err-prof
is "it is read" "$? $(cat err-prof)" "0 "
is "the ledger closes" "$(grep -cx 'closes	1' all)" 1

# found FUNCTION: seconds of CPU time in it and below, from the rows by function (metric, name,
# place, module, exclusive, inclusive, samples).
found() {
	by_name -v f="$1" '$1 == "by-function" && get("metric") == "CPUTIME (sec)" &&
		get("name") == f &&
		get("place") ~ /frames\.py:/ { s += get("inclusive") } END {
			printf "%.6f\n", s }' all
}
# Weights are CPU time but for up to a tick in each thread, and a sample at either end; a fifth is
# left to hosts that take the processor away and to interpreters that are caught in the middle of a
# call.
while read -r name seconds; do
	within "$name: its share of the time" "$(found "$name")" \
		"$(awk -v s="$seconds" 'BEGIN { print s * 0.8 - 0.025 }')" \
		"$(awk -v s="$seconds" 'BEGIN { print s * 1.2 + 0.025 }')"
done <<EOT
$(awk '$1 == "truth" { s[$2] += $3 } END { for (f in s) print f, s[f] }' out | sort)
EOT
burnt=$(by_name '$1 == "by-line" && get("metric") == "CPUTIME (sec)" &&
	get("place") ~ /frames\.py:1[5-9]$/ &&
	get("function") == "burn" { s += get("inclusive") } END { printf "%.3f\n", s }' all)
whole=$(awk '$1 == "truth" && $2 !~ /^(limit|thrown_away)$/ { s += $3 } END { print s }' out)
within "what burns stands at the lines of its loops" "$burnt" \
	"$(awk -v s="$whole" 'BEGIN { print 0.5 * s }')" \
	"$(awk -v s="$whole" 'BEGIN { print 1.2 * s }')"
is "the limit of recursion is in one path" \
	"$(by_name '$1 == "tree" && get("name") == "to_the_limit" && get("kind") == "function" {
		n++ }
		END { print (n > 900) }' all)" 1
is "functions of other versions of code are none" \
	"$(by_name '$1 == "function" && get("name") ~ /^f[0-9]$/ { n++ }
		END { print (n <= 9 * 7) }' all)" 1
in_thread=$(awk '$1 == "truth" && $2 ~ /in_thread$/ { print $2; exit }' out)
is "threads end in Python" "$(by_name -v f="$in_thread" '$1 == "tree" &&
	get("metric") == "CPUTIME (sec)" &&
	get("kind") == "function" && get("name") == f { n++ } END { print (n >= 1) }' all)" 1
is "the source is kept" "$(find db -name frames.py | wc -l)" 1
is "no module has a structure to be made" "$(find m -name '*.hpcstruct' | wc -l)" 0

"$HPCRUN" -q -a native -e CPUTIME@f1000 -o m-native "$PY" frames.py 0.02 >out-native 2>err
"$HPCPROF" -q --no-structs --to=text --all m-native >all-native 2>>err
is "-a native: no Python frames" "$(grep -c 'frames\.py:' all-native)" 0
like "-a takes two words" "$("$HPCRUN" -a flat true 2>&1)" \
	"-a: 'flat' is none of native, python"

if command -v otf2-print >/dev/null; then
	"$HPCPROF" -q --no-structs -o db2 --to=otf2 m 2>>err
	like "the trace has Python functions" \
		"$(otf2-print -G "$(find db2 -name '*.otf2')" 2>/dev/null)" "\"$in_thread\""
else
	skip "the trace has Python functions" "no otf2-print"
fi

# What the interpreter is told to do at the end of the run: daemon threads that run on while it is
# taken down.
cat >daemons.py <<'EOP'
import threading, time, sys
def storm(n):
    while True:
        scope = {}
        exec("def f%d(a):\n    return sum(x * x for x in range(a))\n" % n, scope)
        scope.popitem()[1](40)
        n = (n + 1) % 100
for _ in range(3):
    threading.Thread(target=storm, args=(0,), daemon=True).start()
time.sleep(0.1)
EOP
"$PY" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
	touch no-daemons # 3.10 itself may crash then
n=0
runs=$(thorough 2 5)
for _ in $(seq "$runs"); do
	rm -rf m-daemons
	"$HPCRUN" -q -e CPUTIME@f8000 -o m-daemons "$PY" daemons.py >>out-daemons 2>&1 &&
		n=$((n + 1))
done
if [ -e no-daemons ]; then
	skip "daemon threads at the end of the interpreter" "CPython 3.10 does not survive them"
else
	is "daemon threads at the end of the interpreter" "$n" "$runs"
fi
cat >inside.py <<'EOP'
import sys
try:
    import _interpreters as inner
except ImportError:
    try:
        import _xxsubinterpreters as inner
    except ImportError:
        sys.exit(77)
code = "n = 0\nfor i in range(500000): n += i\n"
made = inner.create()
(getattr(inner, "exec", None) or inner.run_string)(made, code)
inner.destroy(made)
EOP
"$HPCRUN" -q -e CPUTIME@f4000 -o m-inside "$PY" inside.py >out-inside 2>&1
status=$?
if [ "$status" = 77 ]; then
	skip "an interpreter inside of another" "there is no such module"
else
	is "an interpreter inside of another" "$status $(cat out-inside)" "0 "
fi

done_testing
