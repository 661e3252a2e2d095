# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Shared by the tests of MEMORY.

MEMORY_W=$builddir/tests/workload/memory

# memory_measure EVENT NAME COMMAND...: measures into $T/m; what the command prints is in $T/NAME,
# what hpcprof-lite knows in $T/NAME.all, its exit status in $status.
memory_measure() {
	event=$1
	name=$2
	shift 2
	rm -rf "$T/m"
	"$HPCRUN" -q -e "$event" -o "$T/m" -- "$@" >"$T/$name" 2>"$T/$name.err"
	status=$?
	"$HPCPROF" -q --to text --all "$T/m" >"$T/$name.all"
}

# memory_of FUNCTION NAME: calls, bytes allocated, live at the peak, never freed, and temporary, of
# what the function called.
memory_of() {
	by_name -v "wanted=$1" '
		$1 == "metric" { metric[get("id")] = get("name") }
		$1 == "by-function" && get("name") ~ "^" wanted "(\\(|$)" {
			value[get("metric")] += get("inclusive") }
		END {
			printf "%.0f %.0f %.0f %.0f %.0f\n", value["MEMORY:CALLS"],
				value["MEMORY (B)"], value["MEMORY:PEAK (B)"],
				value["MEMORY:END (B)"], value["MEMORY:TEMPORARY (B)"]
		}' "$T/$2.all"
}
