#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What hpcprof-lite writes unasked and shows meanwhile: OTF2 up to a bound, progress on a terminal
# alone, and measurements that are still being written.
. "${srcdir:-.}/tests/lib.sh"

gen=$builddir/tests/gen/gen_measurement
cd "$T" || exit 99

# --- OTF2 has two files for each thread: unasked only where they are few
"$gen" -t 1001 -n 16 -s 1 many
"$gen" -t 1000 -n 16 -s 1 few
case $OUTPUTS in
*otf2*)
	"$HPCPROF" --no-structs -o db-many many >out 2>err
	is "many threads" "$?" 0
	not_ok "make no OTF2 archive" test -e db-many/otf2
	ok "but the database" test -f db-many/meta.db
	like "which is said, with what to do" "$(cat err)" \
		'^hpcprof-lite: no OTF2 archive: 1001 threads and queues would make 2002 files; --to text,cctdb,otf2 writes it$'
	"$HPCPROF" -q --no-structs --to otf2 -o db-asked many >out 2>err
	ok "on request it is made" test -f db-asked/otf2/traces.otf2
	"$HPCPROF" -q --no-structs -o db-few few >out 2>err
	ok "a thousand threads have one unasked" test -f db-few/otf2/traces.otf2
	;;
*) skip "OTF2 of many threads" "built without OTF2" ;;
esac

# --- a limit on the size of files, in the midst of events and while other outputs are written
"$builddir/tests/gen/gen_scale" -r 2 -l 64 -s 4000 big
limited() {
	(
		ulimit -f 1000
		"$HPCPROF" -q --no-structs "$@" -o db-big big >out 2>err
	)
	is "a limit on the size of files: $*: an error" "$?" 1
	like "... with the cause" "$(cat err)" '^hpcprof-lite: db-big\..*: File (is )?too large$'
	is "... and nothing is left" "$(echo db-big*)" 'db-big*'
}
limited -j3 --to sqlite,json
case $OUTPUTS in
*otf2*)
	limited -j1 --to otf2
	limited -j3 --to otf2,sqlite,json
	;;
*) skip "a limit on the size of files of OTF2" "built without OTF2" ;;
esac

# --- few processors: the report stands there before the database is written
(
	ulimit -f 100
	"$HPCPROF" --no-structs -j1 --to text,cctdb -o db-order big 2>&1
) | cat >both
"$HPCPROF" -q --no-structs -j1 --to text big >alone
sed '/^hpcprof-lite: db-order/,$d' both >before
ok "the report comes before the database, even before its failure" cmp before alone
like "... which is said" "$(tail -n 1 both)" '^hpcprof-lite: db-order\..*: File (is )?too large$'

# --- nobody reads the report: the files are written all the same
cat >unread.py <<'EOF'
import os, subprocess, sys
reader, writer = os.pipe()
os.close(reader)
print(subprocess.call(sys.argv[1:], stdout=writer))
EOF
is "a closed pipe ends the program as it ends others" \
	"$(python3 unread.py "$HPCPROF" --no-structs --to text,cctdb -o db-unread few 2>err)" -13
is "... without a word of it" "$(cat err)" "hpcprof-lite: cctdb in db-unread"
ok "... when the files are complete" test -f db-unread/meta.db

# --- standard output is closed: no file gets its descriptor, and the report in it
"$HPCPROF" -q --no-structs --to cctdb,json,folded -o db-whole few
for i in 1 2 3 4 5 6 7 8; do
	rm -rf db-closed
	"$HPCPROF" -q --no-structs --to text,cctdb,json,folded -o db-closed few >&- 2>err
	echo "$?: $(cat err)"
	diff -r db-closed db-whole
done >said 2>&1
is "a closed standard output is an error, and the files are whole" "$(sort -u said)" \
	"1: hpcprof-lite: text: cannot be written: Bad file descriptor"
"$HPCSTRUCT" -o open.hpcstruct "$HPCSTRUCT" >out 2>err
"$HPCSTRUCT" -o closed.hpcstruct "$HPCSTRUCT" <&- >&- 2>&-
ok "a structure is whole, too" cmp closed.hpcstruct open.hpcstruct
say='echo out; echo $? >said; { echo err >&2; } 2>/dev/null; echo $? >>said'
sh -c "$say" >&- 2>&-
mv said plain
"$HPCRUN" -o m-closed sh -c "$say" >&- 2>&-
is "a measured program finds closed files as without us" "$(cat said)" "$(cat plain)"

# --- progress
cat >terminal.py <<'EOF'
import os, pty, sys, threading
reader, writer = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    is_paged = sys.argv[1] == "paged"
    os.environ["TERM"] = "xterm"
    os.dup2(writer if is_paged else os.open("/dev/null", os.O_WRONLY), 1)
    os.execv(sys.argv[2], sys.argv[2:])
os.close(writer)
threading.Thread(target=os.fdopen(reader, "rb").read).start()
text = b""
while True:
    try:
        part = os.read(fd, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
sys.stdout.buffer.write(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
EOF
if have "${PYTHON3:-python3}"; then
	"${PYTHON3:-python3}" terminal.py alone "$HPCPROF" --no-structs --to text,cctdb \
		-o db-tty many >screen
	is "on a terminal" "$?" 0
	lines() { tr '\r' '\n' <screen | sed 's/^.\[K//'; }
	for what in 'reading measurement files' 'merging threads' 'functions and lines' \
		'adding up threads' 'profile.db' 'cct.db'; do
		like "it shows: $what" "$(lines)" \
			"^hpcprof-lite: $what( [0-9]+/[0-9]+ \\[#*\\.*\\]( [0-9]+ s left)?)?$"
	done
	# what is on the screen at the end: of each line what comes behind the last erasure
	is "and erases it" \
		"$(tr -d '\r' <screen | sed 's/.*.\[K//')" "hpcprof-lite: cctdb in db-tty"
	"${PYTHON3:-python3}" terminal.py paged "$HPCPROF" --no-structs --to text,cctdb \
		-o db-paged many >screen
	like "a pager may be on the terminal: it shows what comes before the report" "$(lines)" \
		'^hpcprof-lite: adding up threads '
	unlike "... and nothing of the files" "$(lines)" '(profile|cct|meta)\.db'
else
	skip "progress on a terminal" "no Python"
fi
"$HPCPROF" --no-structs --to text,cctdb -o db-file many >out 2>err
is "elsewhere there is none" "$(cat err)" "hpcprof-lite: cctdb in db-file"
"$HPCPROF" --no-structs --to html,cctdb -o db-page few 2>err
is "the last line says what to open" "$(tail -n 1 err)" \
	"hpcprof-lite: open db-page/report.html (beside it: cctdb)"

# --- a measurement that is still being written
cat >busy.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
static volatile int stop;
static double deep(int n) { return n ? deep(n - 1) * 1.0000001 + 1 : n; }
static void *work(void *seed)
{
	unsigned s = *(unsigned *)seed;
	volatile double sum = 0;
	while (!stop)
		sum = sum + deep(rand_r(&s) % 60);
	return NULL;
}
int main(void)
{
	static unsigned seeds[3] = {1, 2, 3};
	pthread_t threads[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, &seeds[i]);
	(void)!getchar();
	stop = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
EOF
if ${CC:-cc} -O1 -g -pthread -o busy busy.c 2>err; then
	mkfifo go
	"$HPCRUN" -q -e CPUTIME@f5000 -o live -- ./busy <go >out 2>err &
	exec 3>go
	tries=0
	until grep -q 'CPUTIME .* samples' report 2>"$T/err" || [ $((tries += 1)) -gt 100 ]; do
		sleep 0.1
		"$HPCPROF" -q --no-structs --to text live >report 2>"$T/err"
	done
	: >reports
	: >words
	for i in 1 2 3 4 5 6 7 8; do
		"$HPCPROF" --no-structs --to text --by module live >>reports 2>>words
	done
	exec 3>&-
	wait
	is "a running process: nothing is missing" "$(grep -c 'DOES NOT CLOSE' reports)" 0
	is "... nor damaged" "$(cat words)" ""
	like "... it is said that it runs" "$(cat reports)" \
		'^  1 process is still running: this is what was recorded so far$'
	like "... and that its ledger is not final" "$(cat reports)" \
		'closes for every thread that is not still being written$'
	"$HPCPROF" -q --no-structs --to text live >report 2>err
	like "when it has ended the ledger closes" "$(cat report)" '; it closes for every thread$'
else
	skip "a running process" "no compiler"
fi
done_testing
