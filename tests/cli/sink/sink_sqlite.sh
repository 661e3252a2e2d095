#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The SQLite database: sound by its own check, tables and views in agreement with the complete text,
# written with little memory; a failure leaves nothing behind.
. "${srcdir:-.}/tests/lib.sh"

GEN=$builddir/tests/gen/gen_measurement
FIXTURE=$builddir/tests/unit/sink/sink_fixture
JUDGE=$srcdir/tests/judge
PYTHON=${PYTHON3:-python3}
grep -q '^#define HAVE_SQLITE3 ' "$builddir/config.h" || skip_all "built without SQLite"
"$PYTHON" -c 'import sqlite3' 2>"$T/err" || PYTHON=/usr/bin/python3
"$PYTHON" -c 'import sqlite3' 2>"$T/err" || skip_all "no Python with SQLite here"

# agree NAME DIRECTORY: two tests
agree() {
	rm -rf "$T/db"
	"$HPCPROF" -q --no-structs --to text,sqlite --all -o "$T/db" "$2" >"$T/all" 2>"$T/err" ||
		fail "$1: written" "$(cat "$T/err")"
	"$PYTHON" "$JUDGE/read_text.py" "$T/all" >"$T/text"
	"$PYTHON" "$JUDGE/read_sqlite.py" --words "$T/all" >"$T/words"
	if "$PYTHON" "$JUDGE/read_sqlite.py" "$T/db/profile.sqlite" >"$T/facts" 2>"$T/err"; then
		ok "$1: the text and the tables agree" \
			"$PYTHON" "$JUDGE/compare_facts.py" "$T/text" "$T/facts"
	else
		fail "$1: the database is sound" "$(cat "$T/err")"
	fi
	"$PYTHON" "$JUDGE/read_sqlite.py" --views "$T/db/profile.sqlite" >"$T/views"
	ok "$1: the text and the views agree" \
		"$PYTHON" "$JUDGE/compare_facts.py" "$T/words" "$T/views"
}
"$GEN" -n 150 -s 300 "$T/one"
agree "one thread" "$T/one"
"$GEN" -p 3 -t 2 -n 120 -s 150 -m 3 -r -b "$T/ranks"
agree "ranks and threads, three metrics" "$T/ranks"
"$GEN" -p 2 -t 2 -n 200 -s 150 -m 2 -b -l -w "$T/losses"
agree "losses, guessed frames, partial call paths" "$T/losses"
more=$(thorough "" "prof/job prof/killed prof/gpu-killed opencl-nvidia/calls")
for golden in prof/gpu $more forks python; do
	agree "$golden" "$srcdir/tests/golden/$golden"
done

# The comparison can say no.
cp "$T/db/profile.sqlite" "$T/changed.sqlite"
"$PYTHON" - "$T/changed.sqlite" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE context SET is_outer_function = 0 WHERE function IS NOT NULL")
db.commit()
END
"$PYTHON" "$JUDGE/read_sqlite.py" --views "$T/changed.sqlite" >"$T/views"
not_ok "recursion that is counted in another way is seen" \
	"$PYTHON" "$JUDGE/compare_facts.py" "$T/words" "$T/views"

# As a user sees it.
if have sqlite3; then
	"$HPCPROF" -q --no-structs --to sqlite -o "$T/gpu" "$srcdir/tests/golden/prof/gpu"
	sql() { sqlite3 "$T/gpu/profile.sqlite" "$@"; }
	is "the hottest function" \
		"$(sql "SELECT function, samples FROM functions LIMIT 1")" \
		"synthetic::step_15(double*, int)|16"
	is "the largest launch site" \
		"$(sql "SELECT kernel, function, line, launches FROM launch_sites LIMIT 1")" \
		"stencil|synthetic::step_15(double*, int)|324|23"
	is "balance of ranks" \
		"$(sql "SELECT rank, round(sum(value) / max(of_mean), 2) FROM threads
			WHERE metric = 'CPUTIME (sec)' GROUP BY rank" | tr '\n' ' ')" \
		"0|0.02 1|0.02 "
	is "the ledger" "$(sql "SELECT n FROM ledgers WHERE name = 'busy' AND source = 'CPU'")" 15
	like "the schema explains itself" "$(sql .schema)" '-- With all below$'
else
	skip "sqlite3" "not here"
fi
mkdir "$T/quotes" "$T/long"
"$FIXTURE" sqlite "$T/quotes" n_gpu_ops=5
ok "foreign names are UTF-8" "$PYTHON" "$JUDGE/read_sqlite.py" "$T/quotes/profile.sqlite"
if grep -q '^HL_SANITIZE_CFLAGS = -' "$builddir/Makefile"; then
	skip "a long time line is written with little memory" "a sanitizer needs more"
else
	peak=$("$FIXTURE" sqlite "$T/long" n_processes=1 n_threads=1 n_samples=1000000 peak=1)
	within "a long time line is written with little memory (KiB)" "$peak" 1000 32768
fi
"$FIXTURE" sqlite "$T/quotes" 2>"$T/err" && rc=0 || rc=$?
is "an existing file is not touched" "$rc" 1
is "... and named" "$(cat "$T/err")" "sink_fixture: $T/quotes/profile.sqlite: File exists"
for kib in 16 1024; do
	if [ "$(id -u)" -eq 0 ] && mkdir "$T/full$kib" &&
		mount -t tmpfs -o size=${kib}k tmpfs "$T/full$kib" 2>/dev/null; then
		at_exit "umount '$T/full$kib'"
		"$FIXTURE" sqlite "$T/full$kib" n_samples=100000 2>"$T/err" && rc=0 || rc=$?
		is "a full file system of $kib KiB is an error" "$rc" 1
		is "... with the file and the cause" "$(cat "$T/err")" \
			"sink_fixture: $T/full$kib/profile.sqlite: No space left on device"
		is "... and leaves nothing" "$(find "$T/full$kib" -mindepth 1)" ""
	else
		skip "a full file system" "needs root and mount"
	fi
done
mkdir "$T/limit"
(ulimit -f 100; "$FIXTURE" sqlite "$T/limit" n_samples=100000) 2>"$T/err" && rc=0 || rc=$?
is "a limit on the size of files is an error" "$rc" 1
like "... with the cause" "$(cat "$T/err")" 'profile.sqlite: File too large$'
is "... and leaves nothing" "$(find "$T/limit" -mindepth 1)" ""
done_testing
