# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The three outputs of one model agree: the complete text, the CCT database and the OTF2 archive,
# each read back by a program of its own, hold the same contexts, the same sums by metric, function
# and calling context, the same time lines and the same ledger; on synthetic measurements of all
# kinds and on every golden one.
. "${top_srcdir:-.}/tests/lib.sh"

GEN=$builddir/tests/gen/gen_measurement
JUDGE=$srcdir/tests/judge
need "${PYTHON3:-python3}"
[ -x "$HPCPROF" ] || skip_all "hpcprof-lite is not built"
otf2=no
if grep -q '^#define HAVE_OTF2 ' "$builddir/config.h" && have otf2-print; then otf2=yes; fi

# agree NAME DIRECTORY [FORMS]: two tests, and with "all" forms of OTF2 three
forms=$(thorough one all)
agree() {
	rm -rf "$T/db" "$T/el"
	if ! "$HPCPROF" -q --no-structs --all -o "$T/db" "$2" >"$T/all" 2>"$T/err"; then
		fail "$1: hpcprof-lite writes all outputs" "$(cat "$T/err")"
		return
	fi
	"$PYTHON3" "$JUDGE/read_text.py" "$T/all" >"$T/text"
	if "$PYTHON3" "$JUDGE/read_cctdb.py" "$T/db" >"$T/cctdb"; then
		grep -Ev '^(bytes|contexts)' "$T/text" >"$T/text-cctdb"
		ok "$1: text and CCT database agree" "$PYTHON3" "$JUDGE/compare_facts.py" \
			"$T/text-cctdb" "$T/cctdb"
	else
		fail "$1: the CCT database is sound"
	fi
	if [ "$otf2" = no ]; then
		skip "$1: text and OTF2 archive agree" "no OTF2, or no otf2-print"
		return
	fi
	# otf2-print shows six digits
	if "$PYTHON3" "$JUDGE/read_otf2.py" "$T/db/otf2/traces.otf2" >"$T/otf2"; then
		grep -v '^contexts' "$T/text" >"$T/text-otf2"
		grep -v '^ledger' "$T/otf2" >"$T/otf2-facts"
		grep -E '^ledger	samples (delivered|in the tree)' "$T/otf2" >>"$T/otf2-facts"
		ok "$1: text and OTF2 archive agree" "$PYTHON3" "$JUDGE/compare_facts.py" -t 1e-5 \
			"$T/text-otf2" "$T/otf2-facts"
	else
		fail "$1: the OTF2 archive is sound"
	fi
	[ "${3:-$forms}" = all ] || return
	if "$HPCPROF" -q --no-structs --to otf2 --otf2 enterleave -o "$T/el" "$2" &&
		"$PYTHON3" "$JUDGE/read_otf2.py" "$T/el/otf2/traces.otf2" >"$T/el.facts"; then
		ok "$1: ... also with Enter and Leave" "$PYTHON3" "$JUDGE/compare_facts.py" \
			-t 1e-5 "$T/text" "$T/el.facts" profiles total function path kind busy \
			bytes launched joined summed-up lost
	else
		fail "$1: the archive of the form enterleave is sound"
	fi
}

# synthetic NAME OPTIONS...
synthetic() {
	name=$1
	shift
	rm -rf "$T/m"
	"$GEN" "$@" "$T/m"
	agree "$name" "$T/m"
	forms=$(thorough one all)
}

synthetic "one thread" -n 150 -s 300
synthetic "ranks and threads, three metrics, lines" -p 3 -t 2 -n 120 -s 150 -m 3 -r -b
forms=all
synthetic "losses, marked frames, cut paths" -p 2 -t 2 -n 400 -s 300 -m 2 -b -l
guesses() { grep -c '^total	[A-Z]*TIME:GUESSED (sec)	' "$1"; }
is "what came by guessed frames is a metric of the text" "$(guesses "$T/text")" 2
is "... and of the CCT database" "$(guesses "$T/cctdb")" 2
within "guessed frames have names of their own in the text" \
	"$(by_name '$1 == "function" && get("name") ~ / \[guessed\]$/' "$T/all" | wc -l)" 1 1000
if [ -n "${HPCTESTTOOL:-}" ] && /usr/bin/python3 -c 'import ruamel.yaml' 2>/dev/null; then
	PYTHONPATH=$HPCTESTTOOL /usr/bin/python3 -m hpctesttool.formats.print "$T/db" >"$T/yaml"
	within "HPCToolkit's own reader finds guessed frames in the database" \
		"$(grep -c 'name: .*\[guessed\]$' "$T/yaml")" 1 1000
	is "... and the metrics of what came by them" \
		"$(grep -c 'name: .*TIME:GUESSED' "$T/yaml")" 2
else
	skip "HPCToolkit's own reader finds guessed frames in the database" \
		"HPCTESTTOOL does not name its directory"
fi
"$GEN" -p 2 -t 2 -n 400 -s 1000 -m 2 -b -l "$T/wide"
# room TITLE NAME PLACE: columns of the names in a table on a narrow terminal
room() {
	COLUMNS=80 LC_ALL=C "$HPCPROF" -q --no-structs --to text "$T/wide" 2>"$T/err" |
		awk -v title="^$1" -v name="$2" -v place="$3" '
		$0 ~ title { found = 1 }
		found && index($0, place) { print index($0, place) - index($0, name) - 2; exit }'
}
is "beside the column of guesses, names have 30 of 80 columns" \
	"$(room 'Functions by' function 'defined at')" 30
is "... lines and their functions 24 and 32" "$(room 'Lines by' line function)" 24
is "... call paths 41" "$(room 'Call paths' 'call path' 'called at')" 41
ok "... and in the CCT database" grep -qa '[a-z0-9_)] \[guessed\]' "$T/db/meta.db"
if [ "$otf2" = yes ]; then
	is "... and in OTF2, where it is a metric, too" "$(guesses "$T/otf2")" 2
	otf2-print -G "$T/db/otf2/traces.otf2" >"$T/definitions"
	like "... names" "$(cat "$T/definitions")" '^STRING .*[a-z0-9_)] \[guessed\]'
	like "... and calling contexts that say so" "$(cat "$T/definitions")" 'found by a heuristic'
	like "... also those further in" "$(cat "$T/definitions")" 'below a guessed frame'
else
	skip "... and in OTF2" "no OTF2, or no otf2-print"
fi
forms=all
synthetic "waits and idle threads" -t 2 -n 150 -s 400 -m 2 -b -w
like "a wait has a name in the text" "$(cat "$T/all")" '	<blocked: file>	'
like "... one of a later version too" "$(cat "$T/all")" '	<blocked: unknown cause>	'
"$HPCPROF" -q --no-structs --to html,folded,pprof,json,sqlite,perfetto -o "$T/more" "$T/m"
for f in profile.json profile.sqlite; do
	ok "$f names it" grep -qa '<blocked: file>' "$T/more/$f"
	ok "... and idle threads" grep -qa 'idle OpenMP threads' "$T/more/$f"
done
ok "the folded paths name it" grep -rqa '<blocked: file>' "$T/more/folded"
ok "... and idle threads" grep -rqa 'idle OpenMP threads' "$T/more/folded"
gzip -dc "$T/more/profile.pb.gz" >"$T/pprof"
ok "pprof names it" grep -qa '<blocked: file>' "$T/pprof"
ok "... and idle threads" grep -qa 'idle OpenMP threads' "$T/pprof"
synthetic "killed" -p 2 -t 2 -n 100 -s 150 -b -k
synthetic "no time lines" -t 2 -n 100 -s 150 -m 2 -b --no-trace
synthetic "many threads" -t 60 -n 50 -s 10
synthetic "no samples" -t 2 -n 50 -s 0

# A process that was killed before it had a thread stands between two others; its losses are in all
# outputs.
for n in 1000 1010; do
	mkdir -p "$T/killed"
	cp "$srcdir/tests/golden/prof/gpu/"*"-node0-$n.hpcrun" "$T/killed/$n.hpcrun"
done
head -c 4096 "$T/killed/1000.hpcrun" >"$T/killed/1005.hpcrun"
# its pid is 1005
printf '\355\003' | dd of="$T/killed/1005.hpcrun" bs=1 seek=16 conv=notrunc 2>"$T/err"
# 7 samples were lost
printf '\007' | dd of="$T/killed/1005.hpcrun" bs=1 seek=104 conv=notrunc 2>"$T/err"
agree "a process without threads" "$T/killed"

find "$srcdir/tests/golden" -name '*.hpcrun' -exec dirname {} \; | sort -u >"$T/golden"
while read -r dir; do
	case $dir in
	*/prof/gpu | */prof/job) forms=all ;;
	*/killed | */gpu-killed | */opencl-nvidia/* | */python) # what they have is in others
		forms=$(thorough "" all)
		[ -n "$forms" ] || continue
		;;
	*) forms=$(thorough one all) ;;
	esac
	agree "golden $(basename "$dir")" "$dir" "$forms"
done <"$T/golden"

# The database has at most three times the bytes of the measurement, and 1 MB.
mkdir "$T/nccl"
for f in "$srcdir"/tests/golden/nccl/*.hpcrun.gz; do
	gzip -dc "$f" >"$T/nccl/$(basename "$f" .gz)"
done
rm -rf "$T/db"
"$HPCPROF" -q --no-structs -o "$T/db" "$T/nccl" >"$T/all" 2>"$T/err"
within "a database of two ranks with GPUs is not too large" \
	"$(find "$T/db" -type f -exec cat {} + | wc -c)" 500000 \
	$((3 * $(cat "$T/nccl"/*.hpcrun | wc -c) + 1000000))
done_testing
