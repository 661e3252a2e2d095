#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Damaged measurements, structures, recordings and binaries: no reader crashes, hangs, takes much
# memory, leaves half an output behind or lets through what controls a terminal.
# shellcheck disable=SC2154 # attack_status and others come from attack.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/attack/attack.sh"

cd "$T" || exit 99
golden=$srcdir/tests/golden
replay=no
if "$HPCRUN" replay --help >/dev/null 2>&1; then replay=yes; fi

# one_of N FILE...: the N-th, counted round
one_of() {
	attack_k=$(($1 % ($# - 1) + 1))
	shift $attack_k
	printf '%s\n' "$1"
}
copy_of() {
	rm -rf m
	cp -R "$1" m && chmod -R u+w m
}
# hurt KIND SEED FILE
hurt() {
	"$MUTATE" "$1" "$2" "$3" mutant && mv mutant "$3"
}

# prof SEED WHAT: one of the outputs of hpcprof-lite of ./m
prof() {
	rm -rf db
	case $2 in
	text) reads "$1" m "$HPCPROF" -q -j 2 --no-structs --to text --threshold 0 m ;;
	all) reads "$1" m "$HPCPROF" -q -j 2 --no-structs --to text --all m ;;
	files) reads "$1" m "$HPCPROF" -q -j 2 --no-structs --to "${OUTPUTS#text,}" -o db m ;;
	enterleave)
		reads "$1" m "$HPCPROF" -q -j 2 --no-structs --to \
			"$(one_of 2 cctdb "${OUTPUTS##*,}")" --otf2 enterleave -o db m
		;;
	esac
	case $2 in
	files | enterleave)
		if [ "$attack_status" -eq 0 ] && [ ! -d db ]; then
			found "$1" "success without a database" m "$2"
		fi
		if [ "$attack_status" -ne 0 ] && [ -e db ]; then
			found "$1" "a database of a failure" m "$2"
		fi
		;;
	*)
		if ! is_clean out; then found "$1" "control characters in the output" m "$2"; fi
		;;
	esac
	if ! is_clean err; then found "$1" "control characters in messages" m "$2"; fi
}

measurement() {
	copy_of "$(one_of "$1" "$golden"/prof/job "$golden"/prof/gpu "$golden"/prof/killed \
		"$golden"/prof/gpu-killed)"
	hurt measurement "$1" "$(one_of "$1" m/*.hpcrun)"
	prof "$1" "$(one_of $(($1 / 7)) text all files enterleave)"
}
nvidia() {
	rm -rf m
	mkdir m
	gzip -dc "$(one_of "$1" "$golden"/nvidia/*.hpcrun.gz)" >m/x.hpcrun
	hurt measurement "$1" m/x.hpcrun
	prof "$1" "$(one_of $(($1 / 7)) all files text)"
}
structure() {
	copy_of "$(one_of "$1" "$golden"/prof/job "$golden"/prof/gpu)"
	hurt structure "$1" "$(one_of "$1" m/structs/*.hpcstruct)"
	prof "$1" "$(one_of $(($1 / 7)) text all files)"
	set -- "$1" m/structs/*.hpcstruct
	reads "$1" m "$HPCSTRUCT" --print "$2"
	if ! is_clean out; then found "$1" "control characters in the output" m; fi
}
binary() {
	f=$(one_of $(($1 / 3)) "$golden"/struct/*.so "$golden"/cubin/*.cubin \
		"$golden"/cubin/*.fatbin)
	hurt_binary=binary.${f##*.}
	"$MUTATE" elf "$1" "$f" "$hurt_binary"
	reads "$1" "$hurt_binary" "$HPCSTRUCT" -q --no-cache -j 2 -o s "$hurt_binary"
	if ! is_clean err; then found "$1" "control characters in messages" "$hurt_binary"; fi
}
directory() {
	copy_of "$(one_of "$1" "$golden"/prof/gpu "$golden"/prof/job)"
	hurt measurement "$1" "$(one_of "$1" m/*.hpcrun)"
	reads "$1" m "$HPCSTRUCT" -q --no-cache -j 2 m
}
texts() {
	copy_of "$(one_of "$1" "$golden"/prof/job "$golden"/prof/gpu)"
	for f in m/*.hpcrun m/structs/*.hpcstruct; do hurt text "$1" "$f"; done
	prof "$1" "$(one_of $(($1 / 7)) text all)"
}
recording() {
	[ $replay = yes ] || return 0
	rm -rf recording r
	tar xzf "$(one_of "$1" "$golden"/replay/calls.tar.gz "$golden"/replay/graph.tar.gz \
		"$golden"/replay/called.tar.gz)"
	for f in recording/*.hpctape; do hurt recording "$1" "$f"; done
	reads "$1" recording "$HPCRUN" replay -q recording -o r
}
one() {
	"$(one_of "$1" measurement nvidia measurement structure binary texts directory measurement \
		recording)" "$1"
}
attack 18 one "damaged files: readers end, and say nothing harmful"
done_testing
