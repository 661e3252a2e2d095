# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables of lib.sh, and for the scripts that read this
#
# Records CUDA workloads on a driver that does not exist, replays them and compares what the tools
# say. Source after tests/lib.sh, in a directory to write in. Users: tests/cli/gpu/replay*.sh.

CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/fake/fake.sh" # only recorded programs see it

# record NAME OPTIONS WAY [ARG...]: cuda_calls under gpu=nvidia,OPTIONS with a recording, into NAME;
# its status in recorded_status.
record() {
	record_name=$1
	record_options=$2
	shift 2
	recorded_status=0
	LD_LIBRARY_PATH=$fake_path run_limited 120 "$HPCRUN" -q -e CPUTIME \
		-e "gpu=nvidia$record_options" --record-gpu -o "$record_name" \
		"$CUDA_CALLS" "$@" >"out-$record_name" 2>"err-$record_name" || recorded_status=$?
}

# Replays in another order, or with faults: --shuffle-streams SEED, --inject KIND[:N].
REPLAY_ALTERED=$builddir/tests/replay/replay_altered

# replay RECORDING TO [OPTION...]: its status in replay_status, what it says in said-TO. Options
# such as --shuffle-streams make it an altered replay.
replay() {
	replay_from=$1
	replay_to=$2
	shift 2
	replay_status=0
	rm -rf "$replay_to"
	case " $* " in
	*" --shuffle-streams "* | *" --inject "*) set -- "$REPLAY_ALTERED" "$@" ;;
	*) set -- "$HPCRUN" replay "$@" ;;
	esac
	run_limited 60 "$@" -v "$replay_from" -o "$replay_to" >"said-$replay_to" 2>&1 ||
		replay_status=$?
}

# facts DIR: what the tools make of a measurement, into all-DIR (text; without the size of its file,
# which only the recorded process could leave gaps in) and, WITH_DATABASE, db-DIR. Each under one
# and the same name, since names of code objects hold it.
facts() {
	rm -rf at "db-$1"
	mv "$1" at
	run_limited 120 "$HPCPROF" -q --to "text${WITH_DATABASE:+,cctdb}" ${WITH_DATABASE:+-o} \
		${WITH_DATABASE:+"db-$1"} --all at >"all-$1.whole" 2>"prof-$1" ||
		diag_file "prof-$1"
	mv at "$1"
	# CPU time is not what a replay repeats
	by_name -v OFS='\t' '$1 == "ledger" { $column[$1, "bytes"] = "-" } $1 !~ /^(# )?cpu( |$)/' \
		"all-$1.whole" >"all-$1"
}

# closes DIR: 1 when all sums of its ledgers do.
closes() {
	awk '$1 == "gpu-closes" { print $2 }' "all-$1"
}

# loss DIR CAUSE, kind DIR KIND (launched and joined)
loss() {
	by_name -v cause="$2" '$1 == "gpu-loss" && get("of") == "all" && get("cause") == cause {
		n = get("n") }
		END { print n + 0 }' "all-$1"
}
kind() {
	by_name -v kind="$2" '$1 == "gpu-kind" && get("of") == "all" && get("kind") == kind {
		l = get("launched"); j = get("joined") + get("aggregated") }
		END { print l + 0, j + 0 }' "all-$1"
}
# sampling DIR FIELD: of all
sampling() {
	by_name -v field="$2" '$1 == "gpu-sampling" && get("of") == "all" {
		print get(field) }' "all-$1"
}
