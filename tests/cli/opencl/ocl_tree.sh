#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The unified tree of the mini-application: from main through the call that asks for a kernel to the
# kernel and its source line, the source kept, time lines of the queue, and the same facts in all
# outputs, each read back by a program of its own.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"

melt=$builddir/tests/workload/miniapp/melt-opencl
[ -x "$melt" ] || skip_all "the mini-application is not built (no OpenMP)"
JUDGE=$srcdir/tests/judge
otf2=no
if grep -q '^#define HAVE_OTF2 ' "$builddir/config.h" && have otf2-print; then otf2=yes; fi

native melt "$melt" --cells 32 --steps 1 --checkpoint "$T/ck" --every 1
measured melt melt -e CPUTIME@f2000 -e gpu=opencl -- "$melt" --cells 32 --steps 1 --checkpoint \
	"$T/ck" --every 1
like "melt: verified" "$(cat "$T/measured-melt.out")" '^verified$'
analyse melt "$OUTPUTS" "$M"
holds "melt: the ledger of the GPU closes" melt "gpu-closes 1"

# chain FILE METRIC NAME...: prints yes when some path of the tree of a metric has these functions
# in this order, others in between.
chain() {
	c_file=$1
	c_metric=$2
	shift 2
	by_name -v metric="$c_metric" -v chain="$*" '
		BEGIN { n = split(chain, want, "|"); at[0] = 1 }
		$1 == "tree" && get("metric") == metric {
			depth = get("depth")
			at[depth + 1] = at[depth] + (get("name") == want[at[depth]])
			if (at[depth + 1] > n) { found = 1; exit }
		}
		END { print found ? "yes" : "no" }' "$c_file"
}
all=$T/text-melt
path="main|simulation_run|march|advance|cg_solve"
is "a smoothing kernel of the second grid, from main on" \
	"$(chain "$all" "GKER (sec)" \
	"$path|v_cycle|v_cycle|kernel_jacobi|clEnqueueNDRangeKernel|<gpu kernel>|jacobi")" yes
is "a kernel that is asked for from another path" \
	"$(chain "$all" "GKER (sec)" \
	"main|march|heat_properties|clEnqueueNDRangeKernel|<gpu kernel>|properties")" yes
is "not from a path that does not ask for it" \
	"$(chain "$all" "GKER (sec)" "main|cg_solve|<gpu kernel>|properties")" no
is "copies to the device" \
	"$(chain "$all" "GXCOPY (sec)" \
	"main|simulation_run|set_up|matrix_create|kernels_from_host|clEnqueueWriteBuffer|<gpu copyin>")" \
	yes
is "copies from the device" \
	"$(chain "$all" "GXCOPY (sec)" \
	"main|march|cg_solve|kernel_dot|kernels_to_host|clEnqueueReadBuffer|<gpu copyout>")" yes
is "copies on the device" \
	"$(chain "$all" "GXCOPY (sec)" "main|march|advance|clEnqueueCopyBuffer|<gpu copy>")" yes
is "fills" \
	"$(chain "$all" "GMSET (sec)" \
	"main|simulation_run|kernels_get|clEnqueueFillBuffer|<gpu memset>")" yes
is "the same tree has the CPU's time" \
	"$(chain "$all" "CPUTIME (sec)" "main|simulation_run|march|cg_solve")" yes

# --- the source
set -- "$M"/gpubins/*.cl
is "one source is kept" $# 1
cat "$srcdir/tests/workload/miniapp/physics.h" "$srcdir/tests/workload/miniapp/kernels.cl" \
	"$srcdir/tests/workload/miniapp/heat.cl" >"$T/source.cl"
same "it is the program's" "$T/source.cl" "$1"
place=$(by_name '$1 == "tree" && get("metric") == "GKER (sec)" && get("name") == "jacobi" {
	print get("place"); exit }' \
	"$all")
like "a kernel has the line of its definition" \
	"$(sed -n "${place##*:}p" "$T/source.cl" 2>/dev/null)" '^kernel void jacobi\('

# --- the report for people
"$HPCPROF" -q --to text -o "$T/none" "$M" >"$T/report" 2>"$T/err"
like "the report shows the path to the kernels" "$(cat "$T/report")" '<gpu kernel>'
like "the report names the kernels" "$(cat "$T/report")" 'jacobi'

# --- all outputs, each read back by a program of its own
if have "${PYTHON3:-python3}"; then
	"$PYTHON3" "$JUDGE/read_text.py" "$all" >"$T/facts"
	if "$PYTHON3" "$JUDGE/read_cctdb.py" "$T/db-melt" >"$T/facts-cctdb"; then
		# bytes and all contexts are not in that format
		grep -Ev '^(bytes|contexts)' "$T/facts" >"$T/facts-text"
		ok "text and CCT database agree" "$PYTHON3" "$JUDGE/compare_facts.py" \
			"$T/facts-text" "$T/facts-cctdb"
	else
		fail "the CCT database is sound"
	fi
	if [ "$otf2" = no ]; then
		skip "text and OTF2 archive agree" "no OTF2, or no otf2-print"
	elif "$PYTHON3" "$JUDGE/read_otf2.py" "$T/db-melt/otf2/traces.otf2" >"$T/facts-otf2"; then
		# otf2-print shows six digits
		ok "text and OTF2 archive agree" "$PYTHON3" "$JUDGE/compare_facts.py" -t 1e-5 \
			"$T/facts" "$T/facts-otf2" \
			profiles total function path samples kind busy bytes launched joined \
			summed-up lost ops
	else
		fail "the OTF2 archive is sound"
	fi
	if [ -n "${HPCTESTTOOL:-}" ]; then
		ok "HPCToolkit's own reader accepts the database" env PYTHONPATH="$HPCTESTTOOL" \
			"${YAML_PYTHON:-/usr/bin/python3}" -m hpctesttool.formats.print \
			-s "$T/db-melt"
	else
		skip "HPCToolkit's own reader accepts the database" \
			"HPCTESTTOOL does not name its directory"
	fi
else
	skip "all outputs agree" "no python3 here"
fi

done_testing
