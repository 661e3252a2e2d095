#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs of the distribution print the same with OFFCPU as without, and end in the same way.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"
SACRED_EVENTS="-e CPUTIME -e OFFCPU@f1000"

cd "$T" || exit 99
awk 'BEGIN { for (i = 0; i < 100000; i++) print i, i * i % 977, "abcdefgh" }' >text

if have xz; then
	sacred "xz with two threads" sh -c 'xz -T2 -3 --block-size=300KiB -c text | xz -dc | cksum'
fi
if have sqlite3 && [ "$(thorough few all)" = all ]; then
	sacred "sqlite3 writes to disk" sh -c 'rm -f db
		{ echo "create table t (a, b);"
		for i in 1 2 3 4 5 6 7 8 9; do echo "insert into t values ($i, $i * $i);"; done
		echo "select sum(b) from t;"; } | sqlite3 db'
fi
if have git && [ "$(thorough few all)" = all ]; then
	sacred "git packs" sh -c 'rm -rf repo && git init -q repo && cp text repo/ && cd repo &&
		git add text && git -c user.name=x -c user.email=x@y commit -q -m m &&
		git gc -q && git fsck --no-progress && git ls-tree HEAD'
fi
if have python3; then
	cat >threads.py <<'EOF'
import queue, socket, subprocess, threading, time
q, out = queue.Queue(), []
def work():
    while True:
        n = q.get()
        if n is None:
            return
        time.sleep(0.003)
        out.append(n * n)
threads = [threading.Thread(target=work) for _ in range(8)]
for t in threads: t.start()
for i in range(400): q.put(i)
for t in threads: q.put(None)
for t in threads: t.join()
print(sum(out))
a, b = socket.socketpair()
a.settimeout(0.2)
try: a.recv(1)
except TimeoutError: print("timed out")
data = bytes(range(256)) * 20000
t = threading.Thread(target=lambda: b.sendall(data)); t.start()
a.settimeout(None); got = b""
while len(got) < len(data):
    got += a.recv(65536); time.sleep(0.0005)
t.join(); print(got == data)
p = subprocess.run(["sh", "-c", "sleep 0.2; cat"], input=data, capture_output=True)
print(p.returncode, p.stdout == data)
print(threading.Condition().acquire(timeout=1), threading.Event().wait(0.2))
EOF
	sacred "python with threads, sockets and children" python3 threads.py
fi
sacred "a pipe whose reader is slow" \
	sh -c 'cat text text text | (sleep 0.3; cat) | (sleep 0.3; cksum)'
sacred "dd from a slow pipe" sh -c '(cat text; sleep 0.2; cat text) | dd iflag=fullblock bs=1M \
	status=none | cksum'
sacred_sampled "the last one: the measurement is sound"

done_testing
