/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a system call of the profiler's library fail: runs a command under ptrace, counts the calls
 * in all its threads that are made from within libhpcrun-lite.so and can fail in real life, and
 * lets the one with the number given (with '+', that and all later ones) fail. The program's own
 * calls are left alone. Writes the number of calls seen to the file named first, and ends as the
 * program did. Usage: sacred_fault COUNT-FILE NUMBER[+] ERRNO COMMAND... Run by
 * tests/cli/sacred/sacred_fault.sh.
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_THREADS 256

static const long can_fail[] = {
	SYS_openat,
	SYS_mmap,
	SYS_madvise,
	SYS_fallocate,
	SYS_ftruncate,
	SYS_perf_event_open,
	SYS_timer_create,
	SYS_timer_settime,
	SYS_fcntl,
	SYS_ioctl,
	SYS_write,
	SYS_pwrite64,
	SYS_read,
	SYS_pread64,
	SYS_mkdirat,
	SYS_newfstatat,
	SYS_fstat,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_prctl,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_mremap,
	SYS_msync,
#ifdef SYS_stat /* newer machines never had these */
	SYS_rename,
	SYS_mkdir,
	SYS_stat,
	SYS_readlink,
#endif
};

static struct tracee {
	pid_t tid;
	bool in_call, fails;
} tracees[MAX_THREADS];

static struct {
	uint64_t start, end; /* text of the library; 0: not loaded yet */
	long n_calls, number;
	bool all_later;
	int error;
} plan;

static struct tracee *find(pid_t tid)
{
	struct tracee *empty = NULL;
	for (size_t i = 0; i < MAX_THREADS; i++) {
		if (tracees[i].tid == tid)
			return &tracees[i];
		if (!tracees[i].tid && !empty)
			empty = &tracees[i];
	}
	if (empty)
		*empty = (struct tracee){.tid = tid};
	return empty;
}

static void find_library(pid_t pid)
{
	char path[64], line[512];
	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	FILE *f = fopen(path, "r");
	plan.start = plan.end = 0;
	while (f && fgets(line, sizeof line, f)) {
		unsigned long start, end;
		char rights[8];
		if (strstr(line, "/libhpcrun-lite.so") &&
		    sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 && strchr(rights, 'x')) {
			plan.start = start;
			plan.end = end;
		}
	}
	if (f)
		fclose(f);
}

static bool may_fail(long call)
{
	for (size_t i = 0; i < sizeof can_fail / sizeof *can_fail; i++)
		if (can_fail[i] == call)
			return true;
	return false;
}

#ifdef __aarch64__
enum { NUMBER = 8, RESULT = 0 };
#define PC(regs) ((regs)->pc)
#define REG(regs, which) ((regs)->regs[which])
#else
#define PC(regs) ((regs)->rip)
#define REG(regs, which) (*((which) == NUMBER ? &(regs)->orig_rax : &(regs)->rax))
enum { NUMBER, RESULT };
#endif

static bool registers(enum __ptrace_request request, pid_t tid, struct user_regs_struct *regs)
{
	struct iovec all = {regs, sizeof *regs};
	return ptrace(request, tid, (void *)NT_PRSTATUS, &all) == 0;
}

/* The kernel makes no call of this number. */
static void skip_call(pid_t tid, struct user_regs_struct *regs)
{
#ifdef __aarch64__
	int none = -1;
	struct iovec number = {&none, sizeof none};
	(void)regs;
	ptrace(PTRACE_SETREGSET, tid, (void *)NT_ARM_SYSTEM_CALL, &number);
#else
	REG(regs, NUMBER) = (unsigned long long)-1;
	registers(PTRACE_SETREGSET, tid, regs);
#endif
}

static void at_entry(struct tracee *t, struct user_regs_struct *regs)
{
	if (plan.start == 0)
		find_library(t->tid);
	t->fails = false;
	if (PC(regs) < plan.start || PC(regs) >= plan.end || !may_fail((long)REG(regs, NUMBER)))
		return;
	plan.n_calls++;
	t->fails = plan.n_calls == plan.number ||
		   (plan.all_later && plan.n_calls > plan.number && plan.number > 0);
	if (t->fails)
		skip_call(t->tid, regs);
}

static void at_return(struct tracee *t, struct user_regs_struct *regs)
{
	if (t->fails) {
		REG(regs, RESULT) = (unsigned long long)-plan.error;
		registers(PTRACE_SETREGSET, t->tid, regs);
	}
}

static void at_call(struct tracee *t)
{
	struct user_regs_struct regs;
	if (!registers(PTRACE_GETREGSET, t->tid, &regs))
		return;
	t->in_call = !t->in_call;
	if (t->in_call)
		at_entry(t, &regs);
	else
		at_return(t, &regs);
}

/* The signal to pass on when the thread goes on. */
static int at_stop(struct tracee *t, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;
	if (sig == (SIGTRAP | 0x80)) {
		at_call(t);
		return 0;
	}
	if (event == PTRACE_EVENT_EXEC) {
		plan.start = plan.end = 0;
		t->in_call = true;
		return 0;
	}
	return event || sig == SIGSTOP ? 0 : sig;
}

static int trace(pid_t child)
{
	for (;;) {
		int status;
		pid_t tid = waitpid(-1, &status, __WALL);
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return 99;
		struct tracee *t = find(tid);
		if (WIFSTOPPED(status) && t) {
			ptrace(PTRACE_SYSCALL, tid, NULL, (void *)(intptr_t)at_stop(t, status));
			continue;
		}
		if (t)
			t->tid = 0;
		if (tid == child)
			return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	}
}

int main(int argc, char **argv)
{
	if (argc < 5)
		return 2;
	plan.number = atol(argv[2]);
	plan.all_later = strchr(argv[2], '+') != NULL;
	plan.error = atoi(argv[3]);
	pid_t child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	int status;
	waitpid(child, &status, 0);
	find(child);
	ptrace(PTRACE_SETOPTIONS, child, NULL,
	       (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC |
			PTRACE_O_EXITKILL));
	ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	int code = trace(child);
	FILE *f = fopen(argv[1], "w");
	if (f) {
		fprintf(f, "%ld\n", plan.n_calls);
		fclose(f);
	}
	return code;
}
