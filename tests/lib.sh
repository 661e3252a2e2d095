# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Helpers for the shell tests: TAP output, a private directory, a watchdog, an unprivileged user. A
# test sources this file first and ends with done_testing (or starts with plan N):
#
#	. "${srcdir:-.}/tests/lib.sh"
#	is "echo repeats its argument" "$(echo a)" a
#	done_testing
#
# A script that ends early, for whatever reason, fails: the trap below notices that the plan was not
# met. Must not: assert wall-clock time, leave processes or files behind. Its own test is
# tests/cli/common/taplib.sh.
#
# After sourcing:
#	srcdir, builddir   absolute paths of the source and the build tree
#	HPCRUN HPCSTRUCT HPCPROF   absolute paths of the three tools; a test says "$HPCRUN" ...
#	OUTPUTS            what this build writes, for --to: text,cctdb and otf2 where it was built
#	    with it
#	T                  a private empty directory, readable by everyone, removed at the end:
#	    below TMPDIR if everyone may go there, else below /tmp
#	HPCTOOLKIT_LITE_CACHE   a cache of structures below $T
#	tap_patience       limits against hangs are multiplied by it: TEST_PATIENCE, else 10

# What whoever started us had in the environment for other purposes: other jobs' ranks, settings of
# what we test, habits of the shell. Standard input is nobody's.
unset CDPATH COLUMNS NO_COLOR POSIXLY_CORRECT GREP_OPTIONS GREP_COLOR DEBUGINFOD_URLS XDG_CACHE_HOME
for tap_v in $(env | sed -n 's/^\([A-Z][A-Z0-9_]*\)=.*/\1/p'); do
	case $tap_v in
	HPCTOOLKIT_LITE* | OMPI_* | PRTE_* | PMI_* | PMIX_* | MV2_* | MPISPAWN_* | PALS_* | FLUX_*)
		unset "$tap_v"
		;;
	SLURM_* | PBS_* | LSB_* | OAR_* | JOB_ID | SGE_* | PJM_* | COBALT_* | ALPS_*)
		unset "$tap_v"
		;;
	CUDA_INJECTION64_PATH | CUDA_VISIBLE_DEVICES | FAKE_CUDA)
		unset "$tap_v"
		;;
	OMP_* | OPENCL_LAYERS | OCL_TRUTH | POCL_* | UNWIND_*)
		unset "$tap_v"
		;;
	esac
done
exec </dev/null

srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/by_name.sh"
builddir=$(cd "${top_builddir:-.}" && pwd) || exit 99
HPCRUN=${HPCRUN:-$builddir/hpcrun-lite/hpcrun-lite}
HPCSTRUCT=${HPCSTRUCT:-$builddir/hpcstruct-lite/hpcstruct-lite}
HPCPROF=${HPCPROF:-$builddir/hpcprof-lite/hpcprof-lite}
OUTPUTS=text,cctdb
if grep -qs '^#define HAVE_OTF2 ' "$builddir/config.h"; then OUTPUTS=$OUTPUTS,otf2; fi
LC_ALL=C.UTF-8
export srcdir builddir HPCRUN HPCSTRUCT HPCPROF LC_ALL
umask 022

tap_count=0
tap_failed=0
tap_planned=
tap_finished=no
tap_atexit=
tap_patience=${TEST_PATIENCE:-10}
tap_runuser=$(command -v runuser || echo /usr/sbin/runuser)

# tap_make_dir WHERE: a directory there that nobody, as whom some tests run, can go to; else
# nothing.
tap_make_dir() {
	T=$(cd "$1" 2>/dev/null && mktemp -d "$(pwd -P)/hpctoolkit-lite-test.XXXXXX" 2>/dev/null) ||
		return 1
	chmod 755 "$T"
	[ "$(id -u)" -ne 0 ] || "$tap_runuser" -u nobody -- ls "$T" >/dev/null 2>&1 && return
	rmdir "$T"
	return 1
}
case ${TMPDIR:-} in
/*) # the path of a socket has 107 bytes
	if [ ${#TMPDIR} -gt 40 ] || ! tap_make_dir "$TMPDIR"; then unset TMPDIR; fi
	;;
*) unset TMPDIR ;;
esac
[ -n "${TMPDIR:-}" ] || tap_make_dir /tmp || exit 99
HPCTOOLKIT_LITE_CACHE=$T/cache
export T HPCTOOLKIT_LITE_CACHE

# Runs at every end of the script. An early end turns into a failure here.
tap_exit() {
	tap_status=$?
	trap - EXIT HUP INT TERM
	set +e
	if [ -n "$tap_atexit" ]; then eval "$tap_atexit"; fi
	cd / || :
	times >"$T/times" # of the shell, and in the second line of its children
	sed -n '2s/^/# CPU time, user and system: /p' "$T/times"
	if [ -n "${KEEP_TMP:-}" ]; then echo "# kept: $T"; else rm -rf "$T"; fi
	if [ "$tap_finished" = no ]; then
		if [ -n "$tap_planned" ] && [ "$tap_planned" = "$tap_count" ]; then
			[ "$tap_failed" -eq 0 ] || exit 1
			exit "$tap_status"
		fi
		echo "Bail out! test script ended early, status $tap_status, after $tap_count tests"
		exit 99
	fi
	[ "$tap_failed" -eq 0 ] || exit 1
	exit 0
}
trap tap_exit EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# at_exit COMMAND: a shell command line run at the end, before the directory goes; the last one
# given runs first.
at_exit() {
	tap_atexit="$1
$tap_atexit"
}

# plan N: the number of tests is known. Otherwise end with done_testing.
plan() {
	tap_planned=$1
	echo "1..$1"
}

# done_testing: prints the plan, if plan was not called, and marks the script as having reached its
# end.
done_testing() {
	if [ -z "$tap_planned" ]; then
		echo "1..$tap_count"
	elif [ "$tap_planned" != "$tap_count" ]; then
		echo "# planned $tap_planned tests, ran $tap_count"
		return 1
	fi
	tap_finished=yes
	[ "$tap_failed" -eq 0 ]
}

# skip_all REASON...: ends the script; nothing was tested.
skip_all() {
	echo "1..0 # SKIP $*"
	tap_finished=yes
	exit 0
}

# diag TEXT...: commentary, one '#' a line. What a run says so is in the failure of most_of.
diag() {
	tap_said=$*
	printf '%s\n' "$*" | sed 's/^/# /'
}

# diag_file FILE [LINES]: the last lines (40) of a file as commentary.
diag_file() {
	if [ -s "$1" ]; then tail -n "${2:-40}" "$1" | sed 's/^/#   | /'; fi
}

# pass DESCRIPTION, fail DESCRIPTION [WHY...]: the description ends in why, because the log may be
# gone when somebody reads that a test failed once.
pass() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1"
}

fail() {
	tap_count=$((tap_count + 1))
	tap_failed=$((tap_failed + 1))
	tap_name=$1
	shift
	tap_why=$(printf '%s' "$*" | tr -s '#[:space:]' ' ' | tr -cd '[:print:]' | cut -c 1-600)
	printf '%s\n' "not ok $tap_count - $tap_name${tap_why:+ [$tap_why]}"
	if [ $# -gt 0 ]; then diag "$*"; fi
	return 0
}

# skip DESCRIPTION REASON: one test that cannot run here.
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

# ok DESCRIPTION COMMAND [ARGS...]: passes when the command succeeds; shows what it printed when
# not.
ok() {
	tap_desc=$1
	shift
	if "$@" >"$T/.ok.out" 2>&1; then
		pass "$tap_desc"
	else
		tap_rc=$?
		fail "$tap_desc" "status $tap_rc: $*
$(tail -n 40 "$T/.ok.out" | sed 's/^/  | /')"
	fi
}

# not_ok DESCRIPTION COMMAND [ARGS...]: passes when the command fails by itself (not by a signal or
# a missing program).
not_ok() {
	tap_desc=$1
	shift
	tap_rc=0
	"$@" >"$T/.ok.out" 2>&1 || tap_rc=$?
	if [ "$tap_rc" -ne 0 ] && [ "$tap_rc" -lt 124 ]; then
		pass "$tap_desc"
	else
		fail "$tap_desc" "status $tap_rc: $*
$(tail -n 40 "$T/.ok.out" | sed 's/^/  | /')"
	fi
}

# is DESCRIPTION GOT WANT: equal as strings.
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got:    $2
wanted: $3"
	fi
}

# like DESCRIPTION TEXT ERE: some line of the text matches; unlike: none does.
like() {
	if printf '%s\n' "$2" | grep -Eq -e "$3"; then
		pass "$1"
	else
		fail "$1" "no line matches /$3/ in:
$(printf '%s\n' "$2" | tail -n 40 | sed 's/^/  | /')"
	fi
}

unlike() {
	if printf '%s\n' "$2" | grep -E -e "$3" >"$T/.unlike"; then
		fail "$1" "matches /$3/:
$(tail -n 40 "$T/.unlike" | sed 's/^/  | /')"
	else
		pass "$1"
	fi
}

# same DESCRIPTION FILE1 FILE2: byte for byte.
same() {
	if cmp -s "$2" "$3"; then
		pass "$1"
	else
		fail "$1" "$2 and $3 differ:
$(diff -a "$2" "$3" 2>&1 | head -n 20 | cut -c 1-200 | sed 's/^/  | /')"
	fi
}

# within DESCRIPTION GOT LOW HIGH: numbers, fractions allowed, bounds included.
within() {
	if awk -v g="$2" -v l="$3" -v h="$4" 'BEGIN {
		num = "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$"
		exit !(g ~ num && g + 0 >= l + 0 && g + 0 <= h + 0) }'; then
		pass "$1"
	else
		fail "$1" "got $2, wanted $3 to $4"
	fi
}

# is_near VALUE LEAST MOST: a silent question; what was seen is in the failure of most_of.
is_near() {
	awk -v v="$1" -v least="$2" -v most="$3" 'BEGIN { exit !(v >= least && v <= most) }' &&
		return
	tap_said="${tap_said:+$tap_said: }$1 is not $2 to $3"
	return 1
}

# most_of N DESCRIPTION COMMAND...: passes when N of at most 2 N - 1 runs of the command succeed. A
# rate depends on what else the machine does: one disturbed run does not fail, one lucky run does
# not pass.
most_of() {
	tap_n=$1 tap_good=0 tap_bad=0 tap_what=$2 tap_seen=
	shift 2
	while [ $tap_good -lt "$tap_n" ] && [ $tap_bad -lt "$tap_n" ]; do
		tap_said=
		if "$@"; then
			tap_good=$((tap_good + 1))
		else
			tap_bad=$((tap_bad + 1))
			tap_seen="$tap_seen; ${tap_said:-nothing said}"
		fi
	done
	if [ $tap_good -eq "$tap_n" ]; then
		pass "$tap_what"
	else
		fail "$tap_what" "$tap_bad of $((tap_good + tap_bad)) runs failed$tap_seen"
	fi
}

# need COMMAND...: skips the whole script unless all of them are there.
need() {
	for tap_c in "$@"; do
		command -v "$tap_c" >/dev/null 2>&1 || skip_all "no $tap_c here"
	done
}

# have COMMAND: silent question.
have() {
	command -v "$1" >/dev/null 2>&1
}

# thorough FEW MANY: how often a test repeats what differs little, or which cases it tries: MANY in
# ./bootstrap check --full=thorough, which sets THOROUGH.
thorough() {
	if [ -n "${THOROUGH:-}" ]; then echo "$2"; else echo "$1"; fi
}

# run_limited SECONDS COMMAND...: the watchdog against hangs. Status 124 (or 137) says it had to
# step in; the limit is no statement about speed: it is many times larger than needed, and ten times
# that for machines that are slow or busy.
run_limited() {
	tap_limit=$(($1 * tap_patience))
	shift
	timeout --kill-after=5 "$tap_limit" "$@"
}

# as_nobody COMMAND...: as the user nobody when we are root, else as we are. The command and its
# files must be readable by everyone; see public_tools and public_dir.
as_nobody() {
	if [ "$(id -u)" -eq 0 ]; then
		"$tap_runuser" -u nobody -- "$@"
	else
		"$@"
	fi
}

# public_dir NAME: a directory below $T which nobody owns; prints its path.
public_dir() {
	mkdir -p "$T/$1"
	if [ "$(id -u)" -eq 0 ]; then chown nobody "$T/$1"; fi
	chmod 755 "$T/$1"
	echo "$T/$1"
}

# public_tools: from here on HPCRUN, HPCSTRUCT and HPCPROF are installed tools that any user can
# run: those below tests/stage of the build tree, or a copy below $T, if the build tree lies where
# only its owner can go. Neither is where it was installed for.
public_tools() {
	tap_bin=$(find "$builddir/tests/stage" -type d -name bin 2>/dev/null | head -n 1)
	if [ -z "$tap_bin" ]; then
		diag "no staged installation below $builddir/tests/stage; make check makes it"
		return 1
	fi
	if ! as_nobody test -x "$tap_bin/hpcrun-lite"; then
		[ -d "$T/prefix" ] || cp -R "${tap_bin%/bin}" "$T/prefix" || return 1
		chmod -R a+rX "$T/prefix"
		tap_bin=$T/prefix/bin
	fi
	HPCRUN=$tap_bin/hpcrun-lite
	HPCSTRUCT=$tap_bin/hpcstruct-lite
	HPCPROF=$tap_bin/hpcprof-lite
	for tap_f in "$HPCRUN" "$HPCSTRUCT" "$HPCPROF"; do
		if [ ! -x "$tap_f" ]; then
			diag "the staged installation has no ${tap_f##*/}"
			return 1
		fi
	done
}

# public_copy FILE...: copies what a test built to $T, where any user can read it.
public_copy() {
	for tap_f in "$@"; do
		cp "$tap_f" "$T/" && chmod a+rx "$T/${tap_f##*/}" || return 1
	done
}

# papi_clock: sets PAPI_CLOCK to the name of PAPI's event for the clock of the kernel, and PAPI_SHIM
# to what must be preloaded for it, nothing where PAPI finds the processor's own unit. False: it
# cannot be had.
papi_clock() {
	tap_shim=$(find "$builddir/tests/workload/run/.libs" -name libpapi_pmu.so 2>/dev/null |
		head -n 1)
	for PAPI_SHIM in '' "$tap_shim"; do
		PAPI_CLOCK=$(LD_PRELOAD=$PAPI_SHIM "$HPCRUN" -L 2>/dev/null |
			sed -nE 's/^  ((perf::)?PERF_COUNT_SW_TASK_CLOCK)@.*/\1/p' | head -n 1)
		[ -z "$PAPI_CLOCK" ] || return 0
	done
	return 1
}
