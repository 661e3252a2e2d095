#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Damaged recordings: what is wrong is said, what is sound is played, and nothing crashes or hangs.

. "${srcdir:-.}/tests/lib.sh"
cd "$T" || exit 99
. "$srcdir/tests/gpu/recorded.sh"
fuzz=$builddir/tests/fuzz/fuzz_recording

record calls ,pc calls
record graph '' graph
tape=$(basename calls/*.hpctape)

# broken NAME WANTED COMMAND...: a copy of `calls` changed by the command (in it) cannot be played,
# and why is said
broken() {
	rm -rf b
	cp -R calls b
	name=$1
	wanted=$2
	shift 2
	(cd b && "$@") >/dev/null 2>&1
	replay b r
	is "$name: refused" "$replay_status" 1
	like "$name: why" "$(cat said-r)" "$wanted"
	not_ok "$name: no directory is left" test -e r
}
put() { printf "$2" | dd of="$tape" bs=1 seek="$1" conv=notrunc; }
broken "no recording at all" 'it is no recording of a GPU back end' put 0 'X'
broken "another version" 'it is a recording of another version' put 8 '\011'
broken "a name that leads elsewhere" 'its header is damaged' put 224 '../x'
broken "nothing but a header" 'there is nothing to play' truncate -s 4096 "$tape"
broken "less than a header" 'it is shorter than its header' truncate -s 100 "$tape"
broken "an empty file" 'it is shorter than its header' truncate -s 0 "$tape"
broken "without its measurement" 'the measurement that the recording belongs to is not here' find \
	. -name '*.hpcrun' -delete
broken "with another's measurement" 'this is no measurement of this version' \
	sh -c 'echo no >"$(ls *.hpcrun)"'

# What a refused replay made is removed, what somebody else made is not.
mkdir mine
echo kept >mine/file
run_limited 60 "$HPCRUN" replay b -o mine >said-mine 2>&1
is "into a directory that is there: refused" $? 1
is "... which stays" "$(cat mine/file)" kept
run_limited 60 "$HPCRUN" replay b -o again >said-again 2>&1
is "a refused replay" $? 1
run_limited 60 "$HPCRUN" replay calls -o again >said-again 2>&1
is "... does not stand in the way of the next" $? 0

# a piece is missing: the rest is played, and its sums close
cp -R calls torn
truncate -s 24000 torn/*.hpctape
replay torn torn-r
is "torn: what is there is played" "$replay_status" 0
facts torn-r
is "torn: its sums close" "$(closes torn-r)" 1
rm -rf torn
cp -R calls torn
dd if=/dev/zero of="torn/$tape" bs=1 seek=5000 count=2000 conv=notrunc 2>/dev/null
replay torn torn-r
is "overwritten: what is sound is played" "$replay_status" 0
like "overwritten: said" "$(cat said-torn-r)" 'bytes are damaged and are not played'

# code objects that are not there: said, and everything else is played
cp -R calls bare
rm -r bare/gpubins
replay bare bare-r
is "without code objects: played" "$replay_status" 0
like "without code objects: said" "$(cat said-bare-r)" 'the code object is not here'

for name in calls graph; do
	ok "$name: mutants and beginnings" run_limited 300 "$fuzz" -n 120 "$name" "scratch-$name"
done

done_testing
