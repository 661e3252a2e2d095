#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is read of a damaged measurement is the same in the text, the database and the trace: each is
# read back by a program of its own, and their facts are compared.
# shellcheck disable=SC2154 # T and others come from lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/attack/attack.sh"

PYTHON3=${PYTHON3:-python3}
need "$PYTHON3"
cd "$T" || exit 99
judge=$srcdir/tests/judge
otf2=no
if grep -q '^#define HAVE_OTF2 ' "$builddir/config.h" && have otf2-print; then otf2=yes; fi

# read_back SEED WHAT COMMAND...: facts of an output; found when it is not sound
read_back() {
	back_seed=$1
	back_what=$2
	shift 2
	"$PYTHON3" "$@" >facts 2>err && return
	found "$back_seed" "$back_what is not sound" m "$@"
	return 1
}

one() {
	rm -rf m db
	case $(($1 % 3)) in
	0) cp -R "$srcdir/tests/golden/prof/job" m ;;
	1) cp -R "$srcdir/tests/golden/prof/gpu" m ;;
	2) "$builddir/tests/gen/gen_measurement" -p 2 -t 3 -n 200 -s 500 -m 3 -b -l m ;;
	esac
	chmod -R u+w m
	for f in m/*.hpcrun; do
		"$MUTATE" measurement "$1" "$f" mutant && mv mutant "$f"
		[ $(($1 % 2)) -eq 0 ] || break
	done
	reads "$1" m "$HPCPROF" -q -j 2 --no-structs --all -o db m
	[ "$attack_status" -eq 0 ] || return 0
	mv out all
	# a sum that stopped at 2^64 is not that of its parts any more, which the judges expect; the
	# ledger says so
	if grep -aq '	1\.\{0,1\}8446744073\.\{0,1\}709' all; then
		grep -aq '^closes	0' all || found "$1" \
			"a sum at the bound, and the ledger closes" m
		return 0
	fi
	read_back "$1" "the text" "$judge/read_text.py" all || return 0
	mv facts text
	read_back "$1" "the database" "$judge/read_cctdb.py" db || return 0
	grep -Ev '^(bytes|contexts)' text >text-cctdb
	"$PYTHON3" "$judge/compare_facts.py" text-cctdb facts >err 2>&1 ||
		found "$1" "text and database differ" m "$HPCPROF" --no-structs --all -o db m
	[ $otf2 = yes ] || return 0
	read_back "$1" "the trace" "$judge/read_otf2.py" db/otf2/traces.otf2 || return 0
	grep -v '^contexts' text >text-otf2
	{
		grep -v '^ledger' facts
		grep -E '^ledger	samples (delivered|in the tree)' facts
	} >otf2-facts
	"$PYTHON3" "$judge/compare_facts.py" -t 1e-5 text-otf2 otf2-facts >err 2>&1 ||
		found "$1" "text and trace differ" m "$HPCPROF" --no-structs --all -o db m
}
# a time line whose parts run back, and ends before its last sample; losses that add up to
# 2^64; a carriage return in the name of a metric
again "damage that once made them differ" one 22000052 31000039 99850000012 304078000012
attack 2 one "damaged measurements: all outputs say the same"
done_testing
