#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcrun-lite --torch puts what autograd's nodes do below the path of the forward pass that made
# them. The program (tests/workload/torch) knows what runs where. See doc/torch.md. Without the
# option nothing changes.
# needs: torch_program
# needs: libtorch_cpu.la
# needs: fuzz_measurement

. "${srcdir:-.}/tests/lib.sh"

program=$builddir/tests/workload/torch/torch_program
library=$builddir/tests/workload/torch/.libs/libtorch_cpu.so
[ -e "$library" ] || skip_all "the program is not built"

# measure MODE OPTION...: runs the program; leaves its call paths in $T/paths.
measure() {
	mode=$1
	shift
	rm -rf "$T/m" "$T/db"
	status=0
	run_limited 60 "$HPCRUN" -q -e CPUTIME "$@" -o "$T/m" -- "$program" "$library" "$mode" \
		>"$T/out" 2>"$T/err" || status=$?
	is "$mode: status" "$status" 0
	"$HPCPROF" -q --to text,folded --all -o "$T/db" "$T/m" >"$T/all"
	cat "$T"/db/folded/*.folded >"$T/paths"
}

# sum_of ERE [OTHER]: ms of the call paths that match, and do not match the other expression.
# The nodes of the program are called Node.
sum_of() {
	awk -v p="$1" -v other="${2:-^$}" '{ v = $NF; sub(/ [0-9]+$/, "") }
		$0 ~ p && $0 !~ other { n += v }
		END { printf "%.0f\n", n / 1e6 }' "$T/paths"
}

# losses_of NAME: of the whole run.
losses_of() {
	by_name -v name="$1" '$1 == "loss" && get("of") == "all" && get("cause") == name {
		n = get("n") }
		END { print n + 0 }' "$T/all"
}

# samples_of ERE [OTHER]: of the time lines, whose call paths match, and do not match the other.
samples_of() {
	{ otf2-print -G "$T/lines/otf2/traces.otf2" && otf2-print "$T/lines/otf2/traces.otf2"; } |
		awk -v p="$1" -v other="${2:-^$}" '
		function id(s) { sub(/.*</, "", s); sub(/>.*/, "", s); return s }
		$1 == "CALLING_CONTEXT" {
			name = $4
			gsub(/"/, "", name)
			path[$2] = ($0 ~ /Parent: UNDEFINED$/ ? "" : path[id($0)]) ";" name
		}
		$1 == "CALLING_CONTEXT_SAMPLE" {
			sub(/, Unwind.*/, "")
			at = path[id($0)]
			if (at ~ p && at !~ other)
				n++
		}
		END { print n + 0 }'
}

# where: checks that all nodes are below the lines that made them, for 20 steps.
where() {
	within "$mode: below line_a, ms" "$(sum_of ';line_a;backward;Node')" 200 280
	within "$mode: below line_b, ms" "$(sum_of ';line_b;backward;Node')" 44 116
	is "$mode: other nodes than leaves, ms" \
		"$(sum_of ';Node(;|$)' ';line_[ab];backward;Node|autograd engine;Node(;|$)')" 0
	within "$mode: leaves, ms" "$(sum_of 'autograd engine;Node(;|$)')" 8 76
	is "$mode: lost" "$(losses_of forward-lines)" 0
}

measure same
is "without --torch: nodes below a forward line, ms" "$(sum_of ';line_[ab];backward')" 0
within "without --torch: nodes below the engine" "$(sum_of ';autograd engine;Node')" 280 440
cp "$T/out" "$T/plain"

for mode in ended same other; do
	measure $mode --torch
	same "$mode: its output" "$T/out" "$T/plain"
	where
	case $mode in
	ended)
		like "ended: the path is that of the thread that made the node" \
			"$(cat "$T/paths")" 'application thread;.*;line_a;backward;Node'
		;;
	same)
		# The engine does something where the frame of a node was.
		is "what the engine does is below no line" "$(sum_of 'line_.*wait')" 0
		"$HPCPROF" -q --internals --to folded -o "$T/internals" "$T/m"
		cat "$T"/internals/folded/*.folded >"$T/paths"
		is "--internals: nodes below a forward line, ms" \
			"$(sum_of ';line_[ab];.*apply')" 0
		like "... but below the engine" "$(cat "$T/paths")" \
			'Engine::evaluate_function.*Node::apply'
		;;
	esac
done

# In time lines, a backward pass is where the thread was. The last run was of the mode other.
if command -v otf2-print >"$T/null" && grep -q '^#define HAVE_OTF2 ' "$builddir/config.h"; then
	"$HPCPROF" -q --to otf2 -o "$T/lines" "$T/m"
	is "time lines: samples below a forward line" "$(samples_of ';line_[ab];backward')" 0
	within "... of nodes, below the engine of a thread" \
		"$(samples_of '^;application;.*;autograd;Node' ';line_')" 60 500
	rm -r "$T/lines"
	"$HPCPROF" -q --to otf2 --below line_a -o "$T/lines" "$T/m"
	within "... of a part without the engine" "$(samples_of ';line_a;backward;Node')" 40 400
else
	skip 'time lines show the path of the thread' 'no OTF2, or no otf2-print'
fi

measure throws --torch
is "throws: exceptions arrive" "$(cat "$T/out")" 20
where

measure again --torch
within "again: below line_a, ms" "$(sum_of ';line_a;backward;Node')" 420 540

# What a node makes is below the line of that node. The stacks of the two are equal.
measure nested --torch
for line in line_a line_b; do
	within "nested: what a node of $line made, ms" \
		"$(sum_of ";forward;$line;backward;Node;.*;line_b;backward;Node")" 44 116
done
is "nested: lost" "$(losses_of forward-lines)" 0
ok "mutants of the file are read" "$builddir/tests/fuzz/fuzz_measurement" -n 200 "$T"/m/*.hpcrun

# Paths of nodes that are remembered are those that a walk finds; see tests/cli/mpi/mpi_memo.sh.
rm -rf "$T/m" && mkdir "$T/m"
# Expands in the inner shell, whose process becomes the program.
# shellcheck disable=SC2016
sh -c 'LD_PRELOAD=$2:$3 HPCTOOLKIT_LITE="1;dir=$1;lib=$2;pid=$$;say=0;check=1;torch=1;$4" \
	exec "$5" "$6" nested' sh "$T/m" "$builddir/.libs/libhpcrun-lite.so" \
	"$builddir/.libs/libhpcrun-lite-torch.so" "event=CPUTIME,1,1,0,0,1000000,0,0" \
	"$program" "$library" >/dev/null
cat "$T"/m/*.hpcrun | tr '\0' '\n' | grep -a '^remembered call paths: ' >"$T/notes"
is "remembered paths that differ" "$(awk '{ n += $6 } END { print n + 0 }' "$T/notes")" 0
within "... of those that were checked" "$(awk '{ n += $4 } END { print n + 0 }' "$T/notes")" 50 90

# Paths of the parent are not in the file of the child.
measure forked --torch
is "forked: nodes below the forward line, ms" "$(sum_of ';line_[ab];backward')" 0
is "forked: counted" "$(losses_of forward-lines)" 2

measure many --torch
is "many: nodes below the forward line, ms" "$(sum_of ';line_[ab];backward')" 0
is "many: counted" "$(losses_of forward-lines)" 2

done_testing
