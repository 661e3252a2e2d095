#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that Debian ships, attached to and let go again and again while they work: each prints
# what it prints alone, and ends with the same status. ATTACH_ONLY names some of them.

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

# try NAME COMMAND...: alone, and with cycles of half a second of measurement.
try() {
	name=$1
	shift
	case " ${ATTACH_ONLY:-$name} " in *" $name "*) ;; *) return ;; esac
	if ! command -v "$1" >/dev/null; then
		skip "$name" "not installed"
		return
	fi
	"$@" >"$T/alone" 2>"$T/alone.err" </dev/null
	alone=$?
	"$@" >"$T/out" 2>"$T/err" </dev/null &
	pid=$!
	cycles=0
	refused=0
	while kill -0 $pid 2>/dev/null; do
		rm -rf "$T/run"
		if "$HPCRUN" -q -e CPUTIME -e OFFCPU --attach $pid --seconds 1 -o "$T/run" \
			>"$T/said" 2>&1; then
			cycles=$((cycles + 1))
		else
			refused=$((refused + 1))
			cp "$T/said" "$T/refused"
			sleep 0.2
		fi
	done
	wait $pid
	is "$name: status, after $cycles cycles ($refused not done: $(
		sed 's/process [0-9]*/it/' "$T/refused" 2>/dev/null | tail -1))" $? $alone
	same "$name: output" "$T/alone" "$T/out"
	same "$name: errors" "$T/alone.err" "$T/err"
	rm -f "$T/refused"
}

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
try sort sort --parallel=2 -S 100M "$T/data"
try openssl openssl enc -aes-128-cbc -pbkdf2 -iter 8000000 -k x -nosalt -in /dev/null
try node node -e 'let s = 0, n = 0; const f = () => { for (let i = 0; i < 3e7; i++) s += i % 7;
	if (++n < 60) setTimeout(f, 5); else { console.log(s); process.exit(2) } }; f()'
try java java "$T/Work.java"
try ruby ruby -e 't = 4.times.map { |n| Thread.new { (0...4000000).sum { |i| i % (n + 2) } } }
	puts t.map(&:value).inspect'
try lua lua5.4 -e 'local s = 0; for i = 1, 200000000 do s = s + i % 7 end; print(s)'
try php php -r '$s = 0; for ($i = 0; $i < 200000000; $i++) $s += $i % 7; echo $s, "\n";'
try bc sh -c 'echo "scale=2500; a(1)*4" | bc -l'

done_testing
