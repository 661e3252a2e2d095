#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs and libraries that put their own functions in front of libc's: what runs of us inside the
# program calls none of them.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

sacred "a program with its own clock, behind a lock" "$W/sacred_clock"
sacred_sampled "its own clock: the measurement is sound"

# libfaketime's clock takes a lock and runs 1 ms ahead with every call.
if have faketime; then
	start=$(date +%s)
	is "libfaketime" \
		"$(run_limited 60 "$HPCRUN" -q -e CPUTIME@f10000 -o "$T/fake" faketime \
		-f '+0 i0.001' "$W/sacred_clock" 2>&1)" "done"
	took=$(($(date +%s) - start + 1))
	elapsed=$("$HPCPROF" --to text -o "$T/fake-database" "$T/fake" 2>/dev/null |
		sed -nE 's/.* ([0-9.]+) (ms|s) elapsed.*/\1 \2/p' | head -n 1)
	within "libfaketime: the time that is reported is the kernel's, in s" \
		"$(echo "$elapsed" | awk '{ print $2 == "ms" ? $1 / 1000 : $1 }')" 0.001 "$took"
else
	skip "libfaketime" "no faketime here"
	skip "libfaketime: the time that is reported is the kernel's, in s" "no faketime here"
fi

# ThreadSanitizer replaces most of libc. It is in the program with clang, and in a library with gcc.
cat >"$T/threads.cc" <<'CODE'
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static void work(unsigned *out)
{
	unsigned x = 1;
	std::vector<void *> v(500);
	for (int i = 0; i < 15000; i++) {
		x = x * 1664525u + 1013904223u;
		free(v[x % 500]);
		v[x % 500] = calloc(1, (x >> 8) % 3000 + 1);
		if (i % 64 == 0)
			try {
				throw std::runtime_error(std::to_string(x));
			} catch (std::exception &e) {
				x += e.what()[0];
			}
	}
	for (void *p : v)
		free(p);
	*out = x;
}
int main()
{
	unsigned sum[3];
	std::vector<std::thread> t;
	for (unsigned &s : sum)
		t.emplace_back(work, &s);
	for (std::thread &x : t)
		x.join();
	printf("%u\n", sum[0] + sum[1] + sum[2]);
}
CODE
for compiler in clang++ $(thorough "" g++); do
	if have "$compiler" && "$compiler" -g -O1 -fsanitize=thread \
		"$T/threads.cc" -o "$T/threads-$compiler" -pthread 2>/dev/null &&
		"$T/threads-$compiler" >/dev/null 2>&1; then
		sacred "ThreadSanitizer of $compiler" "$T/threads-$compiler"
	else
		skip "ThreadSanitizer of $compiler" "no such program can be built and run here"
	fi
done
done_testing
