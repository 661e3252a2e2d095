#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A program that stops and starts its measurement, on an OpenCL device: what it asked for while
# measurement was on is all there, with times, the rest is nowhere.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"

native stop "$W/ocl_stop"
measured stop stop -e CPUTIME -e gpu=opencl -- "$W/ocl_stop"
analyse stop text "$M"
accounted stop
# what KIND: joined
joined() {
	by_name -v kind="$1" '$1 == "gpu-kind" && get("of") == "all" && get("kind") == kind {
		n = get("joined") + get("aggregated") }
		END { print n + 0 }' "$T/text-stop"
}
is "kernels that were asked for before it was stopped have ended" "$(joined kernel)" \
	"$(truth stop count kernel)"
is "... and copies" "$(joined copy)" "$(counted stop write read)"
is "waits: those of the writes and the last" "$(joined sync)" "$(counted stop write finish)"
is "kernels by name: what was made while measurement was off is known" \
	"$(by_name '$1 == "by-function" && get("metric") == "GKER:COUNT" &&
		(get("name") == "twice" || get("name") == "thrice") {
			print get("name"), get("exclusive") }' "$T/text-stop" | sort)" \
		"thrice 20
twice 20"
is "nothing of the part that was not measured" "$(grep -c '	other_part	' "$T/text-stop")" \
	"$(grep -c '^function.*	other_part	' "$T/text-stop")"
done_testing
