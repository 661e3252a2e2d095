#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that Debian ships, attached to and let go again and again while they work: each prints
# what it prints alone, and ends with the same status. Five of them 1,000 times, the others 50
# times; with ATTACH_CYCLES, all of them so often. ATTACH_ONLY names some of them.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/attach/attach_lib.sh"

head -c 4000000 /dev/zero | openssl enc -aes-128-ctr -K 00 -iv 00 2>/dev/null |
	od -An -tx4 | head -c 4000000 >"$T/data"
cat >"$T/Work.java" <<'END'
public class Work {
	static volatile long sum;
	public static void main(String[] a) throws Exception {
		Thread[] t = new Thread[4];
		for (int i = 0; i < 4; i++) {
			final int n = i;
			t[i] = new Thread(() -> { long s = 0;
				for (int k = 0; k < 300000000; k++) s += (k ^ n) % 7;
				synchronized (Work.class) { sum += s; } });
			t[i].start();
		}
		for (Thread x : t) x.join();
		System.out.println(sum);
		System.exit(7);
	}
}
END
printf 'scale=3500\na(1)*4\nquit\n' >"$T/bc.in"
echo 'for {set i 0} {$i < 8000000} {incr i} {set s [expr {$i % 7 * 3}]}; puts $s; exit 3' \
	>"$T/work.tcl"
awk 'BEGIN { print "all:"; for (i = 0; i < 600; i++) print "\t@echo " i " | cat" }' >"$T/work.mk"
awk 'BEGIN { for (i = 0; i < 800; i++) printf "int f%d(int a, int *b)\n{ int s = 0;" \
	"for (int i = 0; i < a; i++) s += b[i] * %d; return s; }\n", i, i }' >"$T/big.c"
cat >"$T/omp.c" <<'END'
#include <stdio.h>
int main(void)
{
	long sum = 0;
	for (int n = 0; n < 3000; n++) {
#pragma omp parallel for reduction(+ : sum) num_threads(3)
		for (int i = 0; i < 300000; i++)
			sum += i % (n + 2);
	}
	printf("%ld\n", sum);
	return 4;
}
END
${CC:-cc} -O1 -fopenmp -o "$T/omp" "$T/omp.c" 2>/dev/null
cat >"$T/work.go" <<'END'
package main

// #include <math.h>
// #cgo LDFLAGS: -lm
import "C"
import ("fmt"; "sync"; "os")

func main() {
	var w sync.WaitGroup
	sums := make([]float64, 4)
	for n := range sums {
		w.Add(1)
		go func(n int) {
			defer w.Done()
			for i := 0; i < 8000000; i++ {
				sums[n] += float64(C.sqrt(C.double(i % (n + 2))))
			}
		}(n)
	}
	w.Wait()
	fmt.Println(sums)
	os.Exit(6)
}
END

# is_wanted NAME PROGRAM: false, with a word, if it is not to run or not there.
is_wanted() {
	case " ${ATTACH_ONLY:-$1} " in *" $1 "*) ;; *) return 1 ;; esac
	command -v "$2" >/dev/null && return
	skip "$1" "no $2"
	return 1
}

# how_often: sets wanted, for the program in $name.
how_often() {
	case $name in
	python | node | java | redis | forks) wanted=${ATTACH_CYCLES:-1000} ;;
	*) wanted=${ATTACH_CYCLES:-50} ;;
	esac
	cycles=0
	refused=0
	rm -f "$T/refused"
}

# cycle: attaches to $pid and lets it go at once.
cycle() {
	rm -rf "$T/run" "$T/said"
	"$HPCRUN" -e CPUTIME -e OFFCPU --attach "$pid" -o "$T/run" >"$T/said" 2>&1 &
	attacher=$!
	until grep -qs 'measuring process' "$T/said" || ! kill -0 $attacher 2>/dev/null; do
		sleep 0.01
	done
	sleep "0.0$((cycles % 8))"
	kill -INT $attacher 2>/dev/null
	if wait $attacher; then
		cycles=$((cycles + 1))
	else
		refused=$((refused + 1))
		sed 's/process [0-9]*/it/' "$T/said" | tail -1 >"$T/refused"
		sleep 0.1
	fi
}

# said_of: what was done, for the description of a test.
said_of() {
	echo "$name, $cycles cycles ($refused not done$(sed 's/^/: /' "$T/refused" 2>/dev/null))"
}

# try NAME COMMAND...: alone, and with cycles, again and again until there were enough of them.
try() {
	name=$1
	shift
	is_wanted "$name" "$1" || return 0
	how_often
	"$@" >"$T/alone" 2>"$T/alone.err" </dev/null
	alone=$?
	good=yes
	runs=0
	while [ $cycles -lt "$wanted" ] && [ $good = yes ] && [ $runs -lt "$wanted" ]; do
		"$@" >"$T/out" 2>"$T/err" </dev/null &
		pid=$!
		while kill -0 $pid 2>/dev/null; do cycle; done
		wait $pid
		status=$?
		runs=$((runs + 1))
		if [ $status -ne $alone ] || ! cmp -s "$T/alone" "$T/out" ||
			! cmp -s "$T/alone.err" "$T/err"; then
			good=no
		fi
	done
	is "$(said_of): status" $status $alone
	same "$name: output" "$T/alone" "$T/out"
	same "$name: errors" "$T/alone.err" "$T/err"
	ok "$name: there were cycles" test $cycles -gt 0
}

# serve NAME PID-COMMAND CLIENT-COMMAND: a server that runs; PID-COMMAND prints which process is
# attached to. The client says the same again and again, while that happens.
serve() {
	name=$1
	how_often
	sh -c "$3" >"$T/alone" 2>&1
	sh -c "while [ ! -e $T/enough ]; do $3; done" >"$T/out" 2>&1 &
	client=$!
	while [ $cycles -lt "$wanted" ] && [ $refused -lt "$wanted" ] &&
		kill -0 $client 2>/dev/null; do
		pid=$(sh -c "$2")
		if [ -n "$pid" ]; then cycle; else refused=$((refused + 1)); fi
	done
	: >"$T/enough"
	wait $client
	rm "$T/enough"
	sort -u "$T/alone" >"$T/alone.lines"
	sort -u "$T/out" >"$T/lines"
	same "$(said_of): what its clients say" "$T/alone.lines" "$T/lines"
	ok "$name: there were cycles" test $cycles -gt 0
}

# ends NAME PID: the server has ended well.
ends() {
	kill "$2"
	wait "$2"
	is "$1: status" $? 0
}

if is_wanted redis redis-server; then
	port=$((20000 + $$ * 3 % 30000))
	redis-server --port $port --save '' --dir "$T" --io-threads 2 >"$T/redis.log" 2>&1 &
	server=$!
	at_exit "kill $server 2>/dev/null"
	until redis-cli -p $port ping >/dev/null 2>&1 || ! kill -0 $server; do sleep 0.1; done
	serve redis "echo $server" "redis-cli -p $port eval 'local s = 0
		for i = 1, 300000 do s = s + i % 7 end return s' 0
		redis-cli -p $port incr n >/dev/null
		for i in 1 2 3; do redis-cli -p $port lpush l a; done | tail -1 >/dev/null
		redis-cli -p $port ltrim l 0 0; redis-cli -p $port llen l"
	ends redis $server
fi
if is_wanted memcached memcached && have python3; then
	port=$((20000 + $$ * 3 % 30000 + 1))
	user=$(id -un)
	memcached -l 127.0.0.1 -p $port -u "$user" -t 4 >/dev/null 2>"$T/mem.err" &
	server=$!
	at_exit "kill $server 2>/dev/null"
	sleep 1
	serve memcached "echo $server" "python3 -c '
import socket
s = socket.create_connection((\"127.0.0.1\", $port)); f = s.makefile(\"rwb\")
for i in range(2000):
    f.write(b\"set k%d 0 0 5\\r\\nhello\\r\\n\" % i); f.flush()
    assert f.readline() == b\"STORED\\r\\n\"
print(\"stored\")'"
	ends memcached $server
fi
pg=$(find /usr/lib/postgresql -name pgbench 2>/dev/null | tail -n 1)
if is_wanted postgres "${pg:-pgbench}" && [ "$(id -u)" -eq 0 ] && public_tools; then
	pg=$(dirname "$pg")
	install -d -o postgres "$T/pg"
	as_pg="setpriv --reuid postgres --regid postgres --clear-groups"
	$as_pg "$pg/initdb" -D "$T/pg/data" >/dev/null 2>&1
	$as_pg "$pg/postgres" -D "$T/pg/data" -k "$T/pg" -c listen_addresses= >"$T/pg.log" 2>&1 &
	server=$!
	at_exit "kill $server 2>/dev/null"
	until $as_pg "$pg/psql" -h "$T/pg" -c 'create database bench' >/dev/null 2>&1 ||
		! kill -0 $server; do
		sleep 0.2
	done
	$as_pg "$pg/pgbench" -q -h "$T/pg" -i bench >/dev/null 2>&1
	serve postgres "pgrep -n -f 'postgres: postgres [b]ench'" "
		$as_pg $pg/pgbench -h $T/pg -n -c 2 -t 500 bench 2>&1 |
			grep -E 'processed|failed'"
	ends postgres $server
fi
if is_wanted nginx nginx && have curl; then
	port=$((20000 + $$ * 3 % 30000 + 2))
	printf 'daemon off; pid %s; error_log stderr; events {}
		http { access_log off; server { listen 127.0.0.1:%s; root %s; } }' \
		"$T/nginx.pid" $port "$T" >"$T/nginx.conf"
	echo "user $(id -un);" >>"$T/nginx.conf"
	cp "$T/data" "$T/page"
	nginx -c "$T/nginx.conf" >"$T/nginx.log" 2>&1 &
	server=$!
	at_exit "kill $server 2>/dev/null"
	until [ -s "$T/nginx.pid" ] || ! kill -0 $server; do sleep 0.1; done
	serve nginx "pgrep -P $server | head -n 1" \
		"for i in 1 2 3 4 5; do curl -s http://127.0.0.1:$port/page | md5sum; done"
	ends nginx $server
fi

try perl perl -e 'my %h; for my $i (1..6000000) { $h{$i % 1000} .= "x" }
	print scalar(keys %h), "\n"; exit 3'
try python python3 -c '
import threading, time, json
out = {}
def work(n):
    s = 0
    for i in range(3000000): s += i % (n + 2)
    time.sleep(0.1)
    out[n] = s
ts = [threading.Thread(target=work, args=(n,)) for n in range(4)]
[t.start() for t in ts]; [t.join() for t in ts]
print(json.dumps(out, sort_keys=True))'
try asyncio python3 -c '
import asyncio
async def one(n):
    for i in range(200): await asyncio.sleep(0.01)
    return n
async def main(): print(sum(await asyncio.gather(*[one(n) for n in range(50)])))
asyncio.run(main())'
try mawk mawk 'BEGIN { for (i = 0; i < 20000000; i++) s += i % 7; print s; exit 4 }'
try gawk gawk 'BEGIN { for (i = 0; i < 10000000; i++) s += i % 7; print s; exit 4 }'
try bash bash -c 's=0; for ((i = 0; i < 600000; i++)); do s=$((s + i % 7)); done
	echo $s; exit 5'
try dash dash -c 'i=0; while [ $i -lt 1500000 ]; do i=$((i + 1)); done; echo $i; (exit 6)'
try forks dash -c 'i=0
	while [ $i -lt 1500 ]; do i=$((i + 1)); /bin/true; x=$(echo $i); done; echo $x'
try sqlite3 sqlite3 :memory: 'with recursive c(x) as (select 1 union all select x+1 from c
	where x<6000000) select sum(x%7) from c;'
try xz xz -T2 -6 -k -c "$T/data"
try gzip gzip -9 -c "$T/data"
try bzip2 bzip2 -c "$T/data"
try zstd zstd -q -T2 -12 -c "$T/data"
try sort sort --parallel=2 -S 100M "$T/data" "$T/data" "$T/data" "$T/data" "$T/data" "$T/data"
try openssl openssl enc -aes-128-cbc -pbkdf2 -iter 8000000 -k x -nosalt -in /dev/null
try node node -e 'let s = 0, n = 0; const f = () => { for (let i = 0; i < 3e7; i++) s += i % 7;
	if (++n < 20) setTimeout(f, 5); else { console.log(s); process.exit(2) } }; f()'
try java java "$T/Work.java"
try ruby ruby -e 't = 4.times.map { |n| Thread.new { (0...4000000).sum { |i| i % (n + 2) } } }
	puts t.map(&:value).inspect'
try lua lua5.4 -e 'local s = 0; for i = 1, 200000000 do s = s + i % 7 end; print(s)'
try php php -r '$s = 0; for ($i = 0; $i < 200000000; $i++) $s += $i % 7; echo $s, "\n";'
try bc bc -l "$T/bc.in"
try tcl tclsh8.6 "$T/work.tcl"
if have go; then (cd "$T" && GOCACHE=$T/go-cache go build -o go work.go) >/dev/null 2>&1; fi
try go "$T/go"
try openmp "$T/omp"
try tar tar -c -f - -C /usr/share/doc --sort=name .
try make make -s -f "$T/work.mk"
try cc1 sh -c 'exec "$(gcc -print-prog-name=cc1)" -quiet -O2 "$0" -o -' "$T/big.c"

done_testing
