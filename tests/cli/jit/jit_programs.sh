#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The names that node and Java give the code that they make, and mutants of what they wrote.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
[ -z "${SANITIZER:-}" ] || skip_all "libraries are preloaded"
cd "$T" || exit 99
TMPDIR=$T
export TMPDIR
at_exit 'for map in $maps; do rm -f "$map"; done'
maps=

# share NAME PATTERN: percent of the time in functions of generated code of that name, by themselves
share() {
	"$HPCPROF" -q --no-structs --to=text --all "$1" 2>"$1.err" |
		by_name -v p="$2" '$1 == "total" && get("context") == 0 && get("metric") == 0 {
			all = get("execution") }
		$1 == "by-function" && get("metric") == "CPUTIME (sec)" &&
			get("module") == "[JIT code]" &&
			get("name") ~ p { s += get("exclusive") } END { print int(100 * s / all) }'
}
# maps_of NAME: perf maps in /tmp that its processes wrote
maps_of() {
	for f in "$1"/*.hpcrun; do
		echo "/tmp/perf-$(echo "$f" | sed 's/.*-\([0-9]*\)\.hpcrun/\1/').map"
	done
}

if have node; then
	cat >fib.js <<'END'
function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
let x = 0;
const end = process.cpuUsage().user + 400000;
while (process.cpuUsage().user < end)
  x += fib(25);
console.log(x > 0);
END
	ok "node --perf-basic-prof" "$HPCRUN" -q -e CPUTIME@f1000 -o basic node --perf-basic-prof \
		fib.js
	maps=$(maps_of basic)
	within "its functions" "$(share basic '^[A-Za-z]+:[*^~]fib .*/fib\.js:1(:13)?$')" 40 100
	is "the perf map is kept" "$(find basic -name '*.perfmap' | wc -l)" 1
	ok "node --perf-prof" "$HPCRUN" -q -e CPUTIME@f1000 -o jitdump node --perf-prof fib.js
	within "its functions" "$(share jitdump '^[A-Za-z]+:[*^~]fib .*/fib\.js:1(:13)?$')" 40 100
	ok "without" "$HPCRUN" -q -e CPUTIME@f1000 -o without node fib.js
	is "no names" "$(share without .)" 0
else
	skip "node" "it is not installed"
fi

if have java && have javac; then
	cat >Fib.java <<'END'
public class Fib {
  static long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] a) {
    var clock = java.lang.management.ManagementFactory.getThreadMXBean();
    long x = 0;
    while (clock.getCurrentThreadCpuTime() < 500_000_000L) x += fib(25);
    System.out.println(x > 0);
  }
}
END
	java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit -version >java.out 2>&1 &
	probe=$!
	if wait "$probe" && javac Fib.java >javac.out 2>&1; then
		rm -f "/tmp/perf-$probe.map"
		ok "java -XX:+DumpPerfMapAtExit" "$HPCRUN" -q -e CPUTIME@f1000 -o java java \
			-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit Fib
		maps="$maps $(maps_of java)"
		within "its methods" "$(share java 'Fib[.]fib|Interpreter')" 25 100
	else
		skip "java" "it writes no perf map (before 17), or there is no compiler"
	fi
else
	skip "java" "it is not installed"
fi

for f in node-20.dump llvm-14.dump node-20.map java-17.map; do
	ok "$f and 3000 mutants" run_limited 60 "$builddir/tests/fuzz/fuzz_jit" -n 3000 \
		"$srcdir/tests/golden/jit/$f"
done
done_testing
