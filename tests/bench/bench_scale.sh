#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite over ranks, threads and contexts: CPU time, memory and bytes of the database, with
# all default outputs and one worker, as a table. bench_scale.sh FILE.svg also draws CPU time and
# memory, log-log. MOST=N leaves out jobs of more than N threads (default 70000). Asserts nothing.
b=${top_builddir:-.}
prof=$b/hpcprof-lite/hpcprof-lite
gen=$b/tests/gen/gen_scale
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-scale.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT
env time -o "$t/probe" -f %U true 2>/dev/null || { echo "  no time(1) here"; exit 0; }

# measure SERIES X RANKS THREADS LEAVES PERCENT: a line of the table; x is what grows
measure() {
	[ $(($3 * $4)) -le "${MOST:-70000}" ] || return
	rm -rf "$t/job" "$t/db"
	"$gen" -r "$3" -t "$4" -l "$5" -p "$6" "$t/job"
	env time -o "$t/cost" -f '%U %S %M' "$prof" -q -j 1 -o "$t/db" "$t/job" >"$t/text" \
		2>"$t/err" || cat "$t/err" >&2
	row="| $1 | $2 | $3 x $4"
	awk -v row="$row" -v in_kib="$(du -sk "$t/job" | cut -f 1)" \
		-v out_kib="$(du -sk "$t/db" | cut -f 1)" '{
			printf "%s | %.2f s | %.0f MiB | ", row, $1 + $2, $3 / 1024
			printf "%.0f MiB | %.0f MiB |\n", in_kib / 1024, out_kib / 1024
		}' "$t/cost"
}

# draw COLUMN TITLE X0: a log-log plot of a column of the table, as a group at x0
draw() {
	awk -F ' *[|] *' -v column="$1" -v title="$2" -v x0="$3" '
	function lx(v) { return x0 + 60 + (log(v) / log(10) - 1) * 68 }
	function ly(v) { return 300 - (log(v) / log(10) + 1.5) * 43 }
	function write(x, y, anchor, words) {
		printf "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\">", x, y, anchor
		printf "%s</text>\n", words
	}
	function rule(path) { printf "<path class=\"grid\" d=\"%s\"/>\n", path }
	BEGIN {
		n = split("ranks threads contexts", order, " ")
		split("#1b6ca8 #c8553d #588b3a", colour, " ")
		write(lx(10), 20, "start", title)
		for (e = 1; e <= 6; e++) {
			rule("M" lx(10 ^ e) " 40V320")
			write(lx(10 ^ e), 336, "middle", e < 6 ? 10 ^ e : "1e6")
		}
		for (e = -1; e <= 4; e++) {
			rule("M" lx(10) " " ly(10 ^ e) "H" lx(1e6))
			write(lx(10) - 4, ly(10 ^ e) + 4, "end", 10 ^ e)
		}
	}
	$2 ~ /^(ranks|threads|contexts)$/ {
		split($column, number, " ")
		points[$2] = points[$2] sprintf(" %.1f,%.1f", lx($3), ly(number[1]))
	}
	END {
		for (i = 1; i <= n; i++) {
			printf "<g stroke=\"%s\"><polyline points=\"%s\"/></g>\n", colour[i],
				points[order[i]]
			printf "<g fill=\"%s\">", colour[i]
			write(x0 + 70, 40 + 16 * i, "start", order[i])
			print "</g>"
		}
	}' "$t/table"
}

picture() {
	echo '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 350"'
	echo ' font-family="sans-serif" font-size="12">'
	echo '<style>.grid{stroke:#ddd;fill:none}polyline{fill:none;stroke-width:2}</style>'
	echo '<rect width="860" height="350" fill="#fff"/>'
	draw 5 "CPU time (s)" 0
	draw 6 "memory (MiB)" 430
	echo '</svg>'
}

{
	echo "| grows | number | ranks x threads | CPU time | memory | measurement | database |"
	echo "|---|---:|---:|---:|---:|---:|---:|"
	for n in 128 512 2048 8192 32768; do
		measure ranks $n $n 1 64 50
	done
	for n in 16 64 256 1000 3000 10000; do
		measure threads $((n * 64)) $n 64 64 50
	done
	for n in 64,50 256,12 1024,3 4096,1 16384,1 65536,1; do
		measure contexts $((${n%,*} * 16 / 3)) 256 8 ${n%,*} ${n#*,}
	done
} | tee "$t/table"
[ -z "$1" ] || picture >"$1"
