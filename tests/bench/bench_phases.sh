#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What share of hpcprof-lite's CPU time each of its steps has, with one worker and all default
# outputs: hpcrun-lite measures it. JOBS="RANKS,THREADS,LEAVES,PERCENT,SAMPLES,GPU ..." are options
# of gen_scale. A step is known by the functions that it is made of. Asserts nothing.
b=${top_builddir:-.}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-phases.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT
PATH=$b/hpcstruct-lite:$PATH

# phases JOB: a table
phases() {
	echo "$1" | tr , ' ' >"$t/numbers"
	read -r ranks threads leaves percent samples gpu <"$t/numbers"
	rm -rf "$t/job" "$t/db" "$t/run" "$t/out"
	"$b/tests/gen/gen_scale" -r "$ranks" -t "$threads" -l "$leaves" -p "$percent" \
		-s "$samples" -g "$gpu" "$t/job" || return
	"$b/hpcrun-lite/hpcrun-lite" -q -e CPUTIME@f1999 -o "$t/run" \
		"$b/hpcprof-lite/hpcprof-lite" -q -j 1 -o "$t/db" "$t/job" >"$t/text" \
		2>"$t/err" || cat "$t/err" >&2
	"$b/hpcprof-lite/hpcprof-lite" -q --to folded -o "$t/out" "$t/run" || return
	echo
	echo "$ranks ranks x $threads threads, each with $percent% of $leaves leaf functions," \
		"$samples samples in each, and $gpu GPU operations"
	echo
	echo "| step | share | CPU time |"
	echo "|---|---:|---:|"
	awk -f "$t/steps.awk" "$t"/out/folded/CPUTIME.folded
}

cat >"$t/steps.awk" <<'EOF'
function step(functions, name) {
	n++
	pattern[n] = ";(" functions ");"
	title[n] = name
}
# The first step that is on a call path decides.
BEGIN {
	step("write_shown", "text")
	step("load_job_open", "open and check files")
	step("merge_all", "merge trees")
	step("make_contexts", "contexts")
	step("gpu_join_all|gpu_add_modules|gpu_describe|find_idle|nccl_attribute", "GPU operations")
	step("make_profiles", "profiles")
	step("totals_[a-z]*|add_range", "totals")
	step("sum_up", "values of profiles")
	step("cctdb_write_profile", "profile.db")
	step("cctdb_write_cct", "cct.db")
	step("cctdb_write_trace", "trace.db")
	step("write_otf2", "OTF2")
	step("html_pack|html_pack_end|pack_one", "report.html, packing")
	step("html_write_values", "report.html, values")
	step("html_write_times", "report.html, time lines")
	step("write_report", "report.html, the rest")
	step(".*", "other")
}
{
	path = $0
	sub(/ [0-9.]+$/, ";", path)
	for (i = 1; ";" path !~ pattern[i]; i++)
		continue
	ns[i] += $NF
	all += $NF
}
END {
	for (i = 1; i <= n; i++)
		printf "| %s | %.1f%% | %.2f s |\n", title[i], 100 * ns[i] / all, ns[i] / 1e9
}
EOF

for job in ${JOBS:-2048,1,1024,30,1,0 1000,64,64,50,1,0 2048,1,64,50,300,0 2048,1,65536,1,1,0 \
	2048,1,64,50,1,2000}; do
	phases "$job"
done
