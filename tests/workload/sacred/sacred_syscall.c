/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs ask of the kernel past libc. Run by tests/cli/sacred/sacred_syscall.sh. Usage:
 * sacred_syscall MODE strict, filter, libseccomp: allows itself next to nothing, computes, writes
 * and ends; spare: forbids one call that nobody makes. exec: becomes the same program by system
 * call, 20 times. exit: ends by one. signals: sets every signal to its default by syscall(2),
 * computes, and says what the dispositions are. frame: calls with nothing but a page that cannot be
 * written above its return address, where a sixth argument would be.
 */
#include "common/machine/machine.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* No system call in it. */
static void burn(void)
{
	volatile double x = 1;
	for (long i = 0; i < 10000000; i++)
		x = x * 1.0000001 + 1e-9;
}

/* CPU time, so that there is a sample even where the processor is somebody else's. */
static void burn_ticks(long ms)
{
	struct timespec t;
	do
		burn();
	while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 && t.tv_sec == 0 &&
	       t.tv_nsec < ms * 1000000);
}

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		syscall(SYS_exit, 9);
}

static int restrict_to_little(int by_syscall)
{
	static const int allowed[] = {SYS_write, SYS_exit, SYS_rt_sigreturn};
	struct sock_filter code[16];
	unsigned short n = 0;
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)allowed[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	struct sock_fprog program = {n, code};
	/* As libseccomp finds out what there is: nothing of it succeeds. */
	syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
			  : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int forbid_one(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_acct, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
		       ? -1
		       : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void become_again(char **argv)
{
	char left[12];
	int n = argv[2] ? atoi(argv[2]) : 20;
	char *again[] = {argv[0], argv[1], left, NULL};
	snprintf(left, sizeof left, "%d", n - 1);
	if (n > 0)
		syscall(SYS_execve, "/proc/self/exe", again, environ);
	printf("%d\n", n);
}

/* The kernel's struct sigaction. */
struct disposition {
	void *handler;
	unsigned long flags;
	void *restorer;
	unsigned long mask;
};

static int set_defaults(void)
{
	struct disposition now, none = {0};
	char text[65] = {0};
	for (int i = 1; i < 65; i++)
		syscall(SYS_rt_sigaction, i, &none, NULL, sizeof none.mask);
	for (int i = 0; i < 4; i++)
		burn();
	for (int i = 1; i < 65; i++)
		text[i - 1] = syscall(SYS_rt_sigaction, i, NULL, &now, sizeof now.mask) == 0 &&
					      !now.handler
				      ? '0'
				      : 'x';
	/* a raw call shows ours there: doc/transparency.md */
	text[SIGBUS - 1] = '-';
	say(text);
	return 11;
}

long call_below(long number, long (*call)(long, ...), char *top);
MACHINE_CALL_ON_STACK(call_below);

/* syscall(SYS_getpid) with a stack of its own, at whose top lies what may only be read. */
static int frame(void)
{
	enum { BYTES = 1 << 16 };
	char *low =
		mmap(NULL, 2 * BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (low == MAP_FAILED || mprotect(low + BYTES, BYTES, PROT_READ) != 0)
		return 77;
	for (int i = 0; i < 100000; i++)
		if (call_below(SYS_getpid, syscall, low + BYTES) != getpid())
			return 9;
	return 10;
}

/* One child by each call, which works and ends. */
static int fork_past_libc(void)
{
	const long number[] = {
#ifdef SYS_fork
		SYS_fork,
#endif
		SYS_clone,
	};
	for (int i = 0; i < (int)(sizeof number / sizeof *number); i++) {
		int status;
		const long child = syscall(number[i], (long)SIGCHLD, 0L, 0L, 0L, 0L);
		if (child == 0) {
			const clock_t start = clock();
			while (clock() - start < CLOCKS_PER_SEC / 20)
				continue;
			_exit(3 + i);
		}
		if (child < 0 || waitpid((pid_t)child, &status, 0) != child)
			return 1;
		printf("child %d\n", WEXITSTATUS(status));
	}
	return 6;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	burn_ticks(strcmp(mode, "exec") == 0 ? 50 : 100);
	if (strcmp(mode, "exec") == 0) {
		become_again(argv);
		return 4;
	}
	if (strcmp(mode, "fork") == 0)
		return fork_past_libc();
	if (strcmp(mode, "exit") == 0)
		syscall(SYS_exit_group, 5);
	if (strcmp(mode, "frame") == 0)
		return frame();
	if (strcmp(mode, "signals") == 0)
		return set_defaults();
	if (strcmp(mode, "spare") == 0) {
		if (forbid_one() != 0)
			return 77;
		burn_ticks(100);
		say("spared\n");
		return 6;
	}
	if (strcmp(mode, "strict") == 0 ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0
					: restrict_to_little(strcmp(mode, "libseccomp") == 0) != 0)
		return 77;
	burn();
	say("restricted\n");
	syscall(SYS_exit, 7);
	return 8;
}
