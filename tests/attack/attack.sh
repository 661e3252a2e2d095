# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables of lib.sh, and for the scripts that read this
#
# Attacks: random damage, always the same for the same seed. Source after tests/lib.sh.
#
# ATTACK_SEED      where the sequence begins (1); `./bootstrap check --full` draws one and prints it
# ATTACK_SECONDS   how long each script goes on (0: only as many runs as `make check` makes)
#
# What fails is kept below attack-found/ of the build tree, with the command that shows it again.

MUTATE=$builddir/tests/attack/mutate
ATTACK_SEED=${ATTACK_SEED:-1}
ATTACK_SECONDS=${ATTACK_SECONDS:-0}
attack_found=$builddir/attack-found
attack_memory_kb=3000000
attack_sanitized=no
case ${SANITIZER:-} in *address*) attack_sanitized=yes ;; esac

# attack RUNS FUNCTION DESCRIPTION: calls FUNCTION SEED so many times, and on until the time is
# over. The function calls found where something is wrong.
attack() {
	attack_end=$(($(date +%s) + ATTACK_SECONDS))
	attack_n=0
	attack_bad=0
	while [ "$attack_n" -lt "$1" ] || { [ "$ATTACK_SECONDS" -gt 0 ] &&
		[ "$(date +%s)" -lt "$attack_end" ]; }; do
		"$2" $((ATTACK_SEED * 1000000 + attack_n))
		attack_n=$((attack_n + 1))
	done
	diag "$attack_n runs, ATTACK_SEED=$ATTACK_SEED"
	is "$3" "$attack_bad" 0
}

# again DESCRIPTION FUNCTION SEED...: runs that once found something
again() {
	attack_what=$1
	attack_call=$2
	attack_bad=0
	shift 2
	for attack_again; do "$attack_call" "$attack_again"; done
	is "$attack_what" "$attack_bad" 0
}

# found SEED WHAT INPUT COMMAND...: something is wrong; keeps the input (a file or directory).
found() {
	attack_bad=$((attack_bad + 1))
	attack_kept=$attack_found/$(basename "$0" .sh)-$1
	diag "seed $1: $2; kept as $attack_kept"
	[ "$attack_bad" -le 10 ] || return 0
	rm -rf "$attack_kept"
	mkdir -p "$attack_kept"
	cp -R "$3" "$attack_kept/"
	shift 3
	printf '%s\n' "$*" >"$attack_kept/command"
	for attack_f in "$T/out" "$T/err"; do
		[ ! -f "$attack_f" ] || cp "$attack_f" "$attack_kept/"
	done
	diag "$*"
	diag_file "$T/err" 5
}

# reads SEED INPUT COMMAND...: the command reads damaged input. It must end by itself with status 0
# or 1, without much memory; leaves its status in attack_status, its output in $T/out and $T/err.
reads() {
	attack_seed=$1
	attack_input=$2
	shift 2
	attack_status=0
	(
		[ $attack_sanitized = yes ] || ulimit -v $attack_memory_kb
		ulimit -c 0
		run_limited 20 "$@" >"$T/out" 2>"$T/err"
	) || attack_status=$?
	case $attack_status in
	0 | 1) ;;
	124 | 137) found "$attack_seed" "does not end" "$attack_input" "$@" ;;
	*) found "$attack_seed" "status $attack_status" "$attack_input" "$@" ;;
	esac
	if grep -Eq 'Sanitizer|runtime error:|ended by signal|out of memory' "$T/err"; then
		found "$attack_seed" \
			"$(grep -Em1 'Sanitizer|runtime error:|ended by signal|out of memory' \
			"$T/err")" "$attack_input" "$@"
	fi
}

# is_clean FILE: nothing in it controls a terminal. libc's sed judges in UTF-8; bytes that are no
# UTF-8 match nothing.
is_clean() {
	! LC_ALL=C grep -aq '[^[:print:][:space:]'"$(printf '\200-\377')"']' "$1" &&
		! LC_ALL=C grep -aq "$(printf '\r')" "$1" &&
		! LC_ALL=C.UTF-8 grep -aqv '^.*$' "$1" &&
		! LC_ALL=C.UTF-8 grep -aqP \
		'[\x{80}-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{200e}\x{200f}\x{2028}\x{2029}]' \
		"$1"
}
