/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See deliver.h. The helper is a grandchild: its parent, which shares our memory and runs while we
 * wait, ends at once and is reaped by us. It sends no signal and other threads of the program
 * cannot wait for it. Must not use libc: we may be in a handler.
 */
#include "hpcrun-lite/runtime/deliver/deliver.h"

#include "common/safe/sys.h"
#include "common/safe/text.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/report/say.h"
#include "hpcrun-lite/store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#define STACK_BYTES 8192u
#define MOST_DESCRIPTORS 1024 /* closed one by one before Linux 5.9 */

static trylock lock;

static struct {
	int pipe[2];
	bool is_started;
	_Alignas(16) uint8_t stack[2][STACK_BYTES]; /* of the child and of the grandchild */
} helper;

/*
 * Makes a process that shares our memory and runs `run` on `stack`, while we wait until it ends or
 * executes a program. Returns its id or -errno.
 */
static long spawn(void (*run)(void), uint8_t *stack, long exit_signal)
{
	void (**top)(void) = (void (**)(void))(void *)(stack + STACK_BYTES);
	long result;
	register long r10 __asm__("r10") = 0;
	register long r8 __asm__("r8") = 0;
	*(top -= 2) = run;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xor %%ebp, %%ebp\n\t"
			 "pop %%rax\n\t"
			 "add $8, %%rsp\n\t"
			 "call *%%rax\n\t"
			 "hlt\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(CLONE_VM | CLONE_VFORK | exit_signal), "S"(top),
			   "d"(0), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

static void close_descriptors(void)
{
	if (sys_call3(SYS_close_range, 3, ~0u, 0) == 0)
		return;
	for (int fd = 3; fd < MOST_DESCRIPTORS; fd++)
		sys_close(fd);
}

/* The program's files, its terminal and its directory are not held by the helper. */
static void be_helper(void)
{
	const char *const arguments[] = {process.config.tool, "--quiet", "--collect", store_path(),
					 store_local_path(), NULL};
	const char *const environment[] = {NULL};
	sys_call3(SYS_dup3, helper.pipe[1], 1, 0);
	close_descriptors();
	int null = sys_open("/dev/null", O_RDWR, 0);
	sys_call3(SYS_dup3, null, 0, 0);
	sys_call3(SYS_dup3, null, 2, 0);
	sys_call3(SYS_setsid, 0, 0, 0);
	sys_call3(SYS_chdir, (long)"/", 0, 0);
	sys_call3(SYS_execve, (long)process.config.tool, (long)arguments, (long)environment);
	sys_call3(SYS_exit_group, 127, 0, 0);
}

static void be_child(void)
{
	helper.is_started = spawn(be_helper, helper.stack[1], SIGCHLD) > 0;
	sys_call3(SYS_exit_group, 0, 0, 0);
}

/* Waits for the byte that the helper writes when all is copied. */
static enum delivery wait_for_helper(void)
{
	const uint64_t end_ns = sys_clock_ns(CLOCK_MONOTONIC) + DELIVER_WAIT_MS * UINT64_C(1000000);
	char done;
	for (;;) {
		uint64_t now_ns = sys_clock_ns(CLOCK_MONOTONIC);
		if (now_ns >= end_ns)
			return DELIVERY_LATE;
		const uint64_t left_ns = end_ns - now_ns;
		const struct timespec left = {(time_t)(left_ns / 1000000000u),
					      (long)(left_ns % 1000000000u)};
		struct pollfd p = {.fd = helper.pipe[0], .events = POLLIN};
		long r = sys_call6(SYS_ppoll, (long)&p, 1, (long)&left, 0, 0, 0);
		if (r > 0)
			return sys_read(helper.pipe[0], &done, 1) == 1 ? DELIVERY_DONE
								       : DELIVERY_FAILED;
	}
}

static enum delivery run_helper(void)
{
	const uint64_t all = ~UINT64_C(0);
	uint64_t old = 0;
	enum delivery d = DELIVERY_FAILED;
	if (sys_call3(SYS_pipe2, (long)helper.pipe, O_CLOEXEC, 0) != 0)
		return d;
	helper.is_started = false;
	/* A handler in the child would run in our memory. */
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&old, sizeof old);
	long child = spawn(be_child, helper.stack[0], 0);
	if (child > 0)
		sys_call4(SYS_wait4, child, 0, __WCLONE, 0);
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof old);
	sys_close(helper.pipe[1]);
	if (helper.is_started)
		d = wait_for_helper();
	sys_close(helper.pipe[0]);
	return d;
}

enum delivery deliver(void)
{
	if (!store_local_path()[0] || !store_maker_has_ended() || !trylock_take(&lock))
		return DELIVERY_NONE;
	enum delivery d = run_helper();
	trylock_give(&lock);
	return d;
}

bool deliver_and_say(void)
{
	char line[3 * PATH_MAX];
	struct text t = text_in(line, sizeof line);
	const enum delivery d = deliver();
	if (d != DELIVERY_LATE && d != DELIVERY_FAILED)
		return true;
	text_put(&t, "hpcrun-lite: ");
	text_put_foreign(&t, process.config.directory);
	text_put(&t, d == DELIVERY_LATE ? ": copying the measurement of process "
					: ": cannot copy the measurement of process ");
	text_put_u64(&t, (uint64_t)process.pid);
	text_put(&t, d == DELIVERY_LATE
			     ? " there takes longer than 10 s and goes on without the program; if "
			       "it is stopped, the data are in "
			     : " there; it is in ");
	text_put_foreign(&t, process.config.local);
	text_put(&t, " on ");
	text_put_foreign(&t, process.host);
	text_put(&t, "; fetch it there with hpcrun-lite --collect ");
	text_put_foreign(&t, process.config.directory);
	text_put_char(&t, '\n');
	say(&t);
	return false;
}
