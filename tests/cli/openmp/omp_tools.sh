#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Run times of OpenMP that report to a tool: the program's own tool wins and works as without us,
# tools that are switched off stay off, run times that a program or Python opens later, and programs
# with two of them.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

events="-e CPUTIME@f4000"
note='has an OpenMP tool of its own'

# plain COMMAND...: output without us.
plain() {
	omp_run plain "$@"
	cat "$T/plain.out" "$T/plain.err"
}

# has_note: whether the last measurement says that the program has a tool.
has_note() {
	grep "^note" "$T/$M.text" | grep -c "$note"
}

if workload omp_tool libomp "$events" 80; then
	is "the program's tool sees what it sees without us" \
		"$(cat "$T/$M.out" "$T/$M.err")" "$(plain "$T/omp_tool.libomp" 80)"
	is "$M: we say so" "$(has_note)" 1
	like "$M: paths of workers start at the thread" "$(paths_to tool_work)" \
		'thread > .* > OUTLINED > tool_work'
fi
if has_workload omp_paths libomp; then
	public_copy "$OMP_PROGRAMS/tool.libomp.so" "$OMP_PROGRAMS/omp_paths.libomp"
	omp_measure "OMP_TOOL_LIBRARIES" "$events" env OMP_TOOL_LIBRARIES="$T/tool.libomp.so" \
		"$T/omp_paths.libomp" chain 40
	like "$M: the tool works" "$(cat "$T/$M.out")" 'the tool in a library saw 40 regions'
	is "$M: we say so" "$(has_note)" 1
	omp_measure "OMP_TOOL=disabled" "$events" env OMP_TOOL=disabled \
		"$T/omp_paths.libomp" chain 300
	is "$M: no note" "$(has_note)" 0
	like "$M: paths of workers start at the thread" "$(paths_to inner_work)" \
		'thread > .* > OUTLINED > inside'
fi

# Two run times: each worker is below the region of its own.
for main in libgomp libomp; do
	for other in libgomp libomp; do
		if ! has_workload omp_both $main || ! has_workload omp_both $other; then
			skip "$main and $other" "not built here"
			continue
		fi
		public_copy "$OMP_PROGRAMS/omp_both.$main" "$OMP_PROGRAMS/plugin.$other.so"
		omp_measure "$main+$other" "$events" "$T/omp_both.$main" "$T/plugin.$other.so" 40
		is "$M: output" "$(cat "$T/$M.out")" "threads 160"
		all_in "regions of the program" program_work \
			"main > main > OUTLINED > program_work"
		all_in "regions of the library" plugin_work \
			"main > main > plugin_run > OUTLINED > plugin_work"
	done
done

# Python opens a library, and with it the run time, when threads are running already.
for runtime in libgomp libomp; do
	if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>"$T/err" ||
		! has_workload omp_both $runtime; then
		skip "Python and $runtime" "not here, or before 3.10"
		continue
	fi
	public_copy "$OMP_PROGRAMS/plugin.$runtime.so"
	omp_measure "python-$runtime" "$events" python3 -c '
import ctypes, sys, threading
n = []
def run():
    n.append(ctypes.CDLL(sys.argv[1]).plugin_run(60))
t = threading.Thread(target=run)
t.start()
t.join()
print(n[0])' "$T/plugin.$runtime.so"
	is "$M: output" "$(cat "$T/$M.out")" 120
	paths_to plugin_work >"$T/python"
	is "$M: all threads work below one call" "$(wc -l <"$T/python")" 1
	like "$M: which a Python function made" "$(cat "$T/python")" \
		' > run > .* > plugin_run > OUTLINED > plugin_work$'
done
done_testing
