# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # T, HPCRUN and the rest come from lib.sh
#
# Helpers of the end-to-end tests: a command is run plain and measured, and neither it nor who waits
# for it may notice. Source after tests/lib.sh. Must not: look at times. Its users are
# tests/cli/e2e/*.sh.

# as_user COMMAND...: as the user named in $e2e_user, nobody or empty for ourselves.
as_user() {
	if [ "${e2e_user-}" = nobody ]; then as_nobody "$@"; else "$@"; fi
}

# run_in DIR COMMAND...: in a new directory that the user owns, under the watchdog, with nothing to
# read. Leaves DIR.out, DIR.err and DIR.status beside it, whatever happens.
run_in() {
	e2e_dir=$1
	shift
	rm -rf "$T/work"
	public_dir work >/dev/null
	e2e_status=0
	(cd "$T/work" && as_user timeout --kill-after=5 $((240 * tap_patience)) "$@") \
		>"$e2e_dir.out" 2>"$e2e_dir.err" </dev/null || e2e_status=$?
	echo "$e2e_status" >"$e2e_dir.status"
	rm -rf "$e2e_dir"
	mv "$T/work" "$e2e_dir"
}

# both NAME [OPTION...] -- COMMAND...: plain, then measured with these options of hpcrun-lite. Tests
# that exit status, output, error output and the files made are the same. The measurement directory
# is then in $M.
both() {
	e2e_name=$1
	e2e_options=
	shift
	while [ "$1" != -- ]; do
		e2e_options="$e2e_options $1"
		shift
	done
	shift
	public_dir "m-$e2e_name" >/dev/null
	M=$T/m-$e2e_name/m
	run_in "$T/plain-$e2e_name" "$@"
	# shellcheck disable=SC2086 # a list of options
	run_in "$T/measured-$e2e_name" "$HPCRUN" -q $e2e_options -o "$M" -- "$@"
	is "$e2e_name: exit status" "$(cat "$T/measured-$e2e_name.status")" \
		"$(cat "$T/plain-$e2e_name.status")"
	same "$e2e_name: output" "$T/plain-$e2e_name.out" "$T/measured-$e2e_name.out"
	same "$e2e_name: error output" "$T/plain-$e2e_name.err" "$T/measured-$e2e_name.err"
	ok "$e2e_name: files" diff -r "$T/plain-$e2e_name" "$T/measured-$e2e_name"
}

# processes DIR: how many processes (images, counting each exec) left a measurement.
processes() {
	"$builddir/tests/workload/run/run_check" -k "$1"/*.hpcrun 2>/dev/null | grep -c '^file '
}

# analyse NAME FORMS DIR...: merges measurement directories into the database $T/db-NAME; the
# complete text is then in $T/text-NAME. Tests that it works and that the ledger closes.
# e2e_structs: --no-structs, where lines and static functions are not the question.
analyse() {
	e2e_name=$1
	e2e_forms=$2
	shift 2
	rm -rf "$T/db-$e2e_name"
	# shellcheck disable=SC2086 # an option or none
	ok "$e2e_name: analysis" run_limited 240 "$HPCPROF" ${e2e_structs:-} --to "$e2e_forms" \
		--all -o "$T/db-$e2e_name" "$@"
	mv "$T/.ok.out" "$T/text-$e2e_name"
	holds "$e2e_name: the ledger closes" "$e2e_name" "closes 1"
}

# holds DESCRIPTION NAME FIELDS: some line of the complete text begins with these fields; fields are
# separated by blanks here, by tabs there, and are regular expressions.
holds() {
	if grep -Eq "^$(printf '%s' "$3" | tr ' ' '\t')(	|\$)" "$T/text-$2"; then
		pass "$1"
	else
		fail "$1" "no such line: $3"
		grep -Ev '^(sample|value|total|context|function|file)' "$T/text-$2" | tail -n 30 |
			sed 's/^/#   | /'
	fi
}
