#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The command line of hpcprof-lite: usage, refusals, exit codes, names of databases, and that
# nothing half-written is left behind.
. "${srcdir:-.}/tests/lib.sh"

gen=$builddir/tests/gen/gen_measurement
job=$srcdir/tests/golden/prof/job
cd "$T" || exit 99

status() { "$HPCPROF" "$@" >"$T/out" 2>"$T/err"; echo $?; }

is "--help succeeds" "$(status --help)" 0
like "and names the options" "$(cat out)" '^ +--to=LIST '
is "no directory is a usage error" "$(status)" 2
is "said so" "$(head -n 1 err)" \
	"hpcprof-lite: which measurement directory? (--help lists the options)"
is "an unknown output is a usage error" "$(status --to xml "$job")" 2
like "said with what there is" "$(cat err)" \
	"^hpcprof-lite: --to: 'xml' is not an output of this build \(text"
is "-j 0 is a usage error" "$(status -j 0 "$job")" 2
is "--by nonsense is a usage error" "$(status --by nonsense "$job")" 2
is "--otf2 nonsense is a usage error" "$(status --otf2 nonsense "$job")" 2
is "an unknown option is a usage error" "$(status --nonsense "$job")" 2

is "a directory that is not there" "$(status --to text absent)" 1
is "is named with the cause" "$(cat err)" "hpcprof-lite: absent: No such file or directory"
mkdir empty
is "a directory without measurements" "$(status --to text empty)" 1
is "is named with the cause" "$(cat err)" \
	"hpcprof-lite: empty: no measurement files (*.hpcrun) in this directory"
is "and nothing was printed" "$(cat out)" ""

listed='(--help lists the options)'
mkdir -p database/otf2
touch database/report.html database/meta.db
said() { echo "$(status --to text "$1") $(sed 's/^hpcprof-lite: //' err)"; }
other="this is a database that hpcprof-lite wrote, not a measurement; \
open database/report.html, or give the directory that hpcrun-lite wrote"
is "a database is called one" "$(said database)" "1 database: $other"
is "... by its page, too" "$(said database/report.html)" "1 database/report.html: $other"
rm database/report.html
is "... and by files of hpcviewer" "$(said database)" \
	"1 database: $(echo "$other" | sed 's/open .*, or //')"
is "diff is called compare" "$(status diff "$job" "$job") $(cat err)" \
	"2 hpcprof-lite: there is no command diff: did you mean hpcprof-lite compare? $listed"

# Bad files.
mkdir other && cp "$job"/0-*.hpcrun other/a.hpcrun && printf '\011' |
	dd of=other/a.hpcrun bs=1 seek=8 conv=notrunc 2>dd.err
is "another major version is refused" "$(status --to text other)" 1
is "by name and version" "$(cat err)" \
	"hpcprof-lite: other/a.hpcrun: measurement format version 9 is not supported; this program reads version 1"
mkdir foreign && head -c 8192 /dev/zero | tr '\000' x >foreign/a.hpcrun
is "a foreign file is refused" "$(status --to text foreign)" 1
is "by name" "$(cat err)" "hpcprof-lite: foreign/a.hpcrun: not a measurement file of hpcrun-lite"
# A process that is killed before it has written its header leaves zeros: that must not cost a job
# the others.
mkdir begun && head -c 1048576 /dev/zero >begun/a.hpcrun
is "nothing but a file whose header was never written" "$(status --to text begun)" 1
like "is said" "$(cat err)" "none of the measurement files holds anything"
cp "$job"/1-*.hpcrun begun/b.hpcrun
is "beside a sound file it is only a warning" "$(status --to text begun)" 0
like "which is said" "$(cat err)" \
	"begun/a.hpcrun: warning: holds nothing: its header was never written"
"$HPCSTRUCT" begun >out 2>err
like "by the search for binaries too" "$(cat err)" \
	"begun/a.hpcrun: warning: its header was never written; left out"
mkdir short && head -c 100 "$job"/0-*.hpcrun >short/a.hpcrun
is "nothing but a file without a header" "$(status --to text short)" 1
like "is said" "$(cat err)" "none of the measurement files holds anything"
cp "$job"/1-*.hpcrun short/b.hpcrun
is "beside a sound file it is only a warning" "$(status --to text --no-structs short)" 0
like "which is said" "$(cat err)" "short/a.hpcrun: warning: holds nothing: 100 bytes"

# Killed at the start: a header that says nothing of an end, and nothing behind it
killed_early() {
	truncate -s 4096 "$1"
	dd if=/dev/zero of="$1" bs=1 seek=56 count=24 conv=notrunc 2>/dev/null
}
rm -rf early
"$gen" -p 3 -t 1 -n 20 -s 200 early
set -- early/*.hpcrun
killed_early "$1"
is "a process that was killed at the start: the others' report" \
	"$(status --to text --no-structs early)" 0
like "with its note" "$(cat out)" \
	'^  1 process recorded nothing \(killed at the start, or just starting\): pid [0-9]+$'
like "with theirs" "$(cat out)" '^Ledger: 400 samples delivered'
killed_early "$2"
killed_early "$3"
is "all of them" "$(status --to text --no-structs early)" 1
like "that is said" "$(cat err)" \
	'hpcprof-lite: nothing was measured: all processes were killed at the start, or just starting$'

# Truncated: read as far as it goes, said, counted, and the ledger shows it.
mkdir cut && head -c 12000 "$job"/0-*.hpcrun >cut/a.hpcrun
is "a truncated file is read" "$(status --to text --no-structs cut)" 0
like "said" "$(cat err)" \
	"cut/a.hpcrun: warning: truncated: read as far as it goes \([0-9]+ bytes missing or damaged\)"
like "and the ledger does not close" "$(cat out)" "^Ledger: .*IT DOES NOT CLOSE"
like "and the damage is counted" "$(cat out)" \
	"bytes of the measurement files are damaged or missing"

# --to text alone makes no database.
before=$(ls)
is "--to text" "$(status --to text --no-structs "$job")" 0
is "leaves nothing behind" "$(ls)" "$before"

if "$HPCPROF" --to cctdb --no-structs -o db "$job" >out 2>err; then
	is "--to cctdb prints no report" "$(cat out)" ""
	like "and says what is where" "$(cat err)" "^hpcprof-lite: cctdb in db$"
	ok "the database is there" test -f db/meta.db
	is "an existing database is not touched" "$(status --to cctdb --no-structs -o db "$job")" 1
	like "said" "$(cat err)" "^hpcprof-lite: db: exists already"
	is "before anything is read or printed" "$(status --no-structs -o db "$job") $(cat out)" \
		"1 "
	is "so is a place where none can be made" \
		"$(status --no-structs -o nowhere/db "$job") $(cat out err)" \
		"1 hpcprof-lite: nowhere/db: cannot be made: No such file or directory; name another place"
	is "the text alone needs no place" "$(status --to text --no-structs -o db "$job")" 0
	cp -R "$job" hpctoolkit-lite-mini-measurements-77
	is "the default name" \
		"$(status --to cctdb --no-structs hpctoolkit-lite-mini-measurements-77/)" 0
	ok "follows that of the measurements" test -f hpctoolkit-lite-mini-database-77/meta.db
	is "again" "$(status --to cctdb --no-structs hpctoolkit-lite-mini-measurements-77)" 0
	ok "is numbered" test -f hpctoolkit-lite-mini-database-77-2/meta.db
	is "another name of the measurements" "$(status --to cctdb --no-structs "$job")" 0
	ok "gives the program's" test -f hpctoolkit-lite-synthetic-database/meta.db
	is "the place cannot be made" "$(status --to cctdb --no-structs -o absent/db "$job")" 1
	like "said" "$(cat err)" \
		"^hpcprof-lite: absent/db: cannot be made: No such file or directory"
	# A full disk, for one writer: the file size limit.
	is "a write that fails" "$(
		(ulimit -f 1; trap '' XFSZ; "$HPCPROF" --to cctdb --no-structs -o full "$job") \
			>out 2>err; echo $?)" 1
	is "leaves nothing behind" "$(ls -d full* 2>/dev/null)" ""
	is "a metric that was not measured" \
		"$(status --metric NONE --no-structs -o refused "$job")" 2
	is "is refused before anything is written" "$(ls -d refused* 2>/dev/null)" ""
	# Signals at some moments of a longer run.
	"$gen" -p 1 -t 20 -n 3000 -s 20000 -b big
	left=
	for after in 0.02 0.05 0.1 0.2 0.3; do
		timeout -s TERM "$after" "$HPCPROF" --to cctdb --no-structs -o gone big >out 2>err
		left="$left$(ls -d gone.partial* 2>/dev/null)"
		rm -rf gone
	done
	is "SIGTERM leaves nothing half-written" "$left" ""
	"$HPCPROF" --to cctdb --no-structs -o gone big >out 2>err &
	reader=$!
	until ls -d gone* >/dev/null 2>&1 || ! kill -0 $reader 2>/dev/null; do :; done
	kill -TERM $reader
	wait $reader
	like "... and says that there is none" "$([ -d gone ] && echo whole || tail -n 1 err)" \
		'^(whole|hpcprof-lite: ended by a signal: no database is left)$'
	rm -rf gone
	# Somebody cuts the measurement while it is read: as soon as the database is begun, its
	# reader is stopped; the time lines are still to be read then.
	cut_while_read() {
		rm -rf big
		"$gen" -p 1 -t 20 -n 3000 -s 20000 -b big
		"$HPCPROF" -q --no-structs --to cctdb -j 2 -o gone big >out 2>err &
		reader=$!
		until ls -d gone* >/dev/null 2>&1 || ! kill -0 $reader 2>/dev/null; do :; done
		kill -STOP $reader
		for f in big/*.hpcrun; do : >"$f"; done
		kill -CONT $reader
		wait $reader
	}
	cut_while_read
	is "a measurement is cut while it is read" $? 1
	like "that is said" "$(cat err)" \
		"^hpcprof-lite: .*/big/.*\\.hpcrun: another process shortened this file while it was read; try again$"
	is "and nothing is left half-written" "$(ls -d gone* 2>/dev/null)" ""
else
	skip "databases" "this build has no sink that writes files"
fi

done_testing
