#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Functions of the C library that every stack shows have names without debug symbols and without
# .symtab. A program says by return addresses where it was called from; the library is a copy that
# no debug file belongs to.

. "${srcdir:-.}/tests/lib.sh"
cc=${CC:-gcc}
cc=${cc##* }
need "$cc" objcopy

cat >"$T/p.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static void *base;

static void say(const char *what, void **address, int n)
{
	Dl_info in;
	for (int i = 0; i < n; i++)
		if (dladdr(address[i], &in) && in.dli_fbase == base)
			printf("%s 0x%lx\n", what, (long)((char *)address[i] - (char *)base));
}
static void on_alarm(int sig)
{
	void *all[32];
	(void)sig;
	say("wait", all, backtrace(all, 32));
}
static void *work(void *socket)
{
	void *all[32];
	char byte;
	say("thread", all, backtrace(all, 32));
	recv(*(int *)socket, &byte, 1, 0);
	return NULL;
}
int main(void)
{
	void *all[32];
	Dl_info in;
	int ends[2];
	pthread_t t;
	dladdr(dlsym(RTLD_DEFAULT, "__libc_start_main"), &in);
	base = in.dli_fbase;
	printf("library %s\n", in.dli_fname);
	say("main", all, backtrace(all, 32));
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	signal(SIGALRM, on_alarm);
	pthread_create(&t, NULL, work, ends);
	usleep(200000);
	pthread_kill(t, SIGALRM);
	usleep(200000);
	write(ends[1], "x", 1);
	pthread_join(t, NULL);
	fflush(stdout);
	return 0;
}
END
"$cc" -O1 -w "$T/p.c" -o "$T/p" -ldl -pthread >"$T/cc.out" 2>&1 || exit 99
run_limited 60 "$T/p" >"$T/said" || exit 99
objcopy --strip-all --remove-section .note.gnu.build-id --remove-section .gnu_debuglink \
	"$(sed -n 's/^library //p' "$T/said")" "$T/libc.so" || exit 99
run_limited 60 "$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$T/libc.so" || exit 99
"$HPCSTRUCT" --print "$T/s" >"$T/print"

# names WHAT: the functions of the library that were on the stack there, innermost first.
names() {
	sed -n "s/^$1 0x//p" "$T/said" | while read -r address; do
		awk -v at="$address" -v digits=0123456789abcdef '
			function number(hex,   i, n) {
				for (i = 1; i <= length(hex); i++)
					n = n * 16 + index(digits, substr(hex, i, 1)) - 1
				return n
			}
			$1 == "function" { name = $3 }
			$1 == "code" {
				split($2, range, "-")
				if (number(at) > number(substr(range[1], 3)) &&
				    number(at) <= number(substr(range[2], 3)))
					print name
			}' "$T/print"
	done | tr '\n' ' '
}

version=$(getconf GNU_LIBC_VERSION 2>/dev/null)
case $version in
"glibc 2."*) version=${version#glibc 2.} ;;
*) skip_all "this is another C library" ;;
esac
[ "$version" -ge 34 ] || skip_all "glibc 2.$version has .symtab where it matters"
is "main is called by" "$(names main)" "__libc_start_call_main __libc_start_main "
is "a thread starts at" "$(names thread)" "start_thread clone3 "
if [ "$version" -ge 41 ]; then
	is "a wait is in" "$(names wait)" "__restore_rt __syscall_cancel_arch \
__internal_syscall_cancel __syscall_cancel recv start_thread clone3 "
else
	is "a wait is in" "$(names wait)" "__restore_rt recv start_thread clone3 "
fi
done_testing
