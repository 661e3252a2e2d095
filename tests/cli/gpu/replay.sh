#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Record and replay, on a fake driver and a fake CUPTI: a replay writes what the recorded process
# wrote, text and database, in the recorded order and in others. If the process was killed, or the
# recording reached its bound, the replay ends there.

. "${srcdir:-.}/tests/lib.sh"
cd "$T" || exit 99
. "$srcdir/tests/gpu/recorded.sh"

WITH_DATABASE=1

# same_as RECORDING REPLAY: facts of both
same_as() {
	facts "$2"
	same "$1: text of $2" "all-$1" "all-$2"
	ok "$1: database of $2" diff -r "db-$1" "db-$2"
}

while read -r name options way; do
	[ -n "$name" ] || continue
	options=$(echo "$options" | sed 's/^-$//')
	# shellcheck disable=SC2086 # words
	record "$name" "$options" $way
	replay "$name" "$name-r"
	is "$name: it is played" "$replay_status" 0
	facts "$name"
	is "$name: there is something" "$(by_name '$1 == "gpu-kind" && get("of") == "all" {
		n += get("joined") }
		END { print (n > 0) }' "all-$name")" 1
	same_as "$name" "$name-r"
done <<EOF
paths - paths
calls ,pc calls
graph ,pc graph
variants - variants
threads ,pc storm 3000 4
serialized ,pc,mode=serialized busy 1000
bursts ,pc,mode=bursts@50 busy 5000
notimes ,pc,notimes calls
contexts ,pc contexts
endless ,pc endless
killed ,pc killed
ended ,pc _exit
fork - fork
exec - exec
EOF
is "samples are there" "$(awk -v n="$(sampling calls recorded)" 'BEGIN { print (n > 0) }')" 1

# other orders
for seed in $(thorough "1 2" "1 2 3 4"); do
	for name in threads calls graph variants; do
		replay "$name" "$name-s" --shuffle-streams "$seed"
		same_as "$name" "$name-s"
	done
done
like "orders differ" "$(cat said-threads-s 2>/dev/null; replay threads threads-s --shuffle-streams \
	5; cat said-threads-s)" 'shuffled: [1-9][0-9]* of [0-9]+ events'

# as fast as it was, ten times as fast
replay paths paths-speed --speed 10
same_as paths paths-speed

# summed up beyond a bound
LD_LIBRARY_PATH=$fake_path run_limited 120 "$HPCRUN" -q --gpu-memory 0 -e CPUTIME -e gpu=nvidia \
	--record-gpu -o summed "$CUDA_CALLS" calls >out-summed 2>&1
facts summed
replay summed summed-r
same_as summed summed-r

# a process that was another program first, which used no GPU and so has no recording; and one that
# used it in both
LD_LIBRARY_PATH=$fake_path run_limited 120 "$HPCRUN" -q -e CPUTIME -e gpu=nvidia \
	--record-gpu -o became env "$CUDA_CALLS" paths >out-became 2>&1
is "two images, one recording" "$(ls became/*.hpcrun | wc -l) $(ls became/*.hpctape | wc -l)" "2 1"
facts became
replay became became-r
is "both are there" "$replay_status" 0
like "the one is played" "$(cat said-became-r)" ': 1 recording played'
same_as became became-r
for name in became exec; do
	is "$name: files have the names that they had" "$(cd "$name-r" && ls -- *.hpcrun)" \
		"$(cd "$name" && ls -- *.hpcrun)"
done

# a replay can be recorded in its turn: no; but a recording can be played from a copy anywhere
mkdir elsewhere
cp -R calls elsewhere/there
replay elsewhere/there moved
same_as calls moved

# the recording reaches its bound: said in the measurement, and what is there is played
LD_LIBRARY_PATH=$fake_path run_limited 120 "$HPCRUN" -q -e gpu=nvidia,record=2M -o bound \
	"$CUDA_CALLS" storm 20000 1 >out-bound 2>&1
like "the bound is said" "$("$HPCPROF" --no-structs bound 2>&1)" \
	'the recording ends here: it has reached its size limit'
replay bound bound-r
is "what came before it is played" "$replay_status" 0
like "and said to end" "$(cat said-bound-r)" \
	'the recording ended [0-9.]+ s after its start, before the process did'
facts bound-r
is "its sums close" "$(closes bound-r)" 1

# what a launch costs in the file: four events and its record, and little that is left empty
record room "" storm 20000 1
within "bytes of a launch" "$(($(cat room/*.hpctape | wc -c) / 21000))" 450 650
facts room
replay room room-r
same_as room room-r

# nothing is left open in the program, and nothing recorded when nobody asks
is "no recording without being asked" \
	"$(find . -path './ended*' -prune -o -name '*.hpctape' -path './summed-r*' -print)" ""
LD_LIBRARY_PATH=$fake_path "$HPCRUN" -q -e gpu=nvidia -o plain "$CUDA_CALLS" paths >out-plain 2>&1
is "none here" "$(find plain -name '*.hpctape')" ""

# wrong usage, and what is not there
"$HPCRUN" --record-gpu -e CPUTIME true >said 2>&1
is "--record-gpu without a GPU" "$? $(grep -c 'record-gpu needs -e gpu=nvidia' said)" "2 1"
"$HPCRUN" -e gpu=nvidia,record=1x true >said 2>&1
is "a size that is none" "$? $(grep -c 'cannot record' said)" "2 1"
for words in "" "calls" "-o x" "calls graph -o x" "calls -o x --speed 0" \
	"calls -o x --speed fast"; do
	# shellcheck disable=SC2086 # words
	"$HPCRUN" replay $words >said 2>&1
	is "replay $words: wrong usage" "$? $(test -e x && echo made)" "2 "
done
replay plain none
is "a measurement without a recording, of which nothing is left" \
	"$replay_status $(grep -c 'there is no recording in it' said-none)$(test -e none &&
	echo made)" "1 1"
replay nowhere none
is "a directory that is not there" "$replay_status$(test -e none && echo made)" 1
mkdir taken
run_limited 60 "$HPCRUN" replay calls -o taken >said 2>&1
is "the output is there already" "$?" 1
for words in "--shuffle-streams one" "--shuffle-streams" "--inject nothing" \
	"--inject wrap:0" "--inject wrap:x"; do
	# shellcheck disable=SC2086 # words
	"$REPLAY_ALTERED" calls -o x $words >said 2>&1
	is "replay_altered $words: wrong usage" "$? $(test -e x && echo made)" "2 "
	like "replay_altered $words: the faults are listed" "$(cat said)" \
		'subscriber:1: another tool'
done

done_testing
