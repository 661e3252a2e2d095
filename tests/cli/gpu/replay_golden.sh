#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Recordings made on NVIDIA GPUs (tests/golden/replay), played without a GPU, through hpcstruct-lite
# and hpcprof-lite: the report for people and sums of the complete text (sums.awk) are those that
# are kept beside them, and the CCT database and the OTF2 archive agree with them fact by fact.
# replay_golden.sh --accept writes what is expected anew.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
golden=$srcdir/tests/golden/replay
judge=$srcdir/tests/judge
altered=$builddir/tests/replay/replay_altered
python=${PYTHON3:-python3}
accept=no
[ "${1:-}" = --accept ] && accept=yes
"$HPCRUN" replay --help >"$T/help" 2>&1 || skip_all "built without CUPTI"
need "$python" tar gzip
otf2=no
if grep -q '^#define HAVE_OTF2 ' "$builddir/config.h" && have otf2-print; then otf2=yes; fi
cd "$T" || exit 99
unset COLUMNS NO_COLOR
TZ=UTC
export TZ

# expect NAME WHAT: what was made equals what is kept, in the same bytes
expect() {
	if [ $accept = yes ]; then gzip -9nc "$2" >"$golden/$1.$2.gz"; fi
	gzip -dc "$golden/$1.$2.gz" >want 2>/dev/null
	same "$1: $2 as expected" "$2" want
}

# all_facts DIR: its complete text, with names of code objects as if it were m, without the size
# of the file
all_facts() {
	run_limited 200 "$HPCPROF" -q --to text --all "$1" 2>/dev/null | sed "s,$T/$1/,m/,g" |
		by_name -v OFS='\t' '$1 == "ledger" { $column[$1, "bytes"] = "-" } 1'
}

# without_memory FILE: without what was live on GPUs, and with names of metrics instead of numbers:
# when these were recorded, nobody knew which allocation was freed
without_memory() {
	by_name -v OFS='\t' '
		function rename(field) {
			if (($1, field) in column && get(field) in name)
				$column[$1, field] = name[get(field)] }
		NR == FNR { if ($1 == "metric") name[get("id")] = get("name"); next }
		$1 ~ /^(# )?gpu-memory$/ { next }
		$1 == "thread" { gsub(/\tGMEM:(PEAK|END) \(B\)\t[^\t]*/, "") }
		$1 ~ /metric$/ { rename("id"); rename("parent"); rename("divisor") }
		{ rename("metric") }
		$1 ~ /metric$/ && $2 ~ /^GMEM:(PEAK|END) / { next }
		($1, "metric") in column && get("metric") ~ /^GMEM:(PEAK|END) / { next }
		1' "$1" "$1"
}

# tools NAME: all that the tools make of ./m
tools() {
	# says that libraries of the machine are not here
	run_limited 120 "$HPCSTRUCT" -q m >said 2>&1
	is "$1: hpcstruct-lite reads all code objects" \
		"$(for f in m/gpubins/*; do ls \
		"$HPCTOOLKIT_LITE_CACHE/$(basename "$f" .gpubin)"-*.hpcstruct >/dev/null ||
		echo "$f"; done)" ""
	rm -rf db
	ok "$1: hpcprof-lite" run_limited 200 sh -c "'$HPCPROF' -q -o db m >report 2>said"
	all_facts m >all
}

if [ $accept = no ]; then
	ok "the recordings are those that were committed" \
		sh -c "cd '$golden' && sha256sum --quiet -c SHA256SUMS"
fi
for packed in "$golden"/*.tar.gz; do
	[ -f "$packed" ] || continue
	name=$(basename "$packed" .tar.gz)
	rm -rf recording m
	tar xzf "$packed"
	ok "$name: it is played" run_limited 60 "$HPCRUN" replay -q recording -o m
	tools "$name"
	expect "$name" report
	by_name "$(cat "$srcdir/tests/cli/prof/sums.awk")" all >sums
	expect "$name" sums
	is "$name: the sums close" \
		"$(awk '$1 == "closes" || $1 == "gpu-closes" { print $2 }' all | tr '\n' ' ')" \
		"1 1 "
	all_facts recording >recorded
	for facts in all recorded; do without_memory $facts >old-$facts; done
	# its measurement is of format 1.6, which does not have the error of a refused launch
	[ "$name" = calls ] || same "$name: the replay is what was recorded" old-all old-recorded
	rm -rf shuffled
	run_limited 60 "$altered" -q --shuffle-streams 7 recording -o shuffled
	all_facts shuffled >other
	same "$name: so it is in another order" all other
	# the three outputs, which the judges take seconds for: of one recording or two
	case " called $(thorough "" inline-serialized) " in *" $name "*) ;; *) continue ;; esac
	"$python" "$judge/read_text.py" all >text-facts 2>err ||
		fail "$name: the complete text reads through" "$(cat err)"
	grep -Ev '^(bytes|contexts)' text-facts >text-cctdb
	"$python" "$judge/read_cctdb.py" db >cctdb-facts 2>err ||
		fail "$name: the CCT database is sound" "$(cat err)"
	ok "$name: text and CCT database agree" "$python" "$judge/compare_facts.py" text-cctdb \
		cctdb-facts
	if [ $otf2 = no ]; then
		skip "$name: text and OTF2 archive agree" "no OTF2, or no otf2-print"
		continue
	fi
	"$python" "$judge/read_otf2.py" db/otf2/traces.otf2 >otf2-facts 2>err ||
		fail "$name: the OTF2 archive is sound" "$(cat err)"
	ok "$name: text and OTF2 archive agree" "$python" "$judge/compare_facts.py" -t 1e-5 \
		text-facts otf2-facts profiles total function path samples kind busy bytes \
		launched joined summed-up lost ops
done
if [ $accept = yes ]; then (cd "$golden" && sha256sum ./*.tar.gz >SHA256SUMS); fi

done_testing
