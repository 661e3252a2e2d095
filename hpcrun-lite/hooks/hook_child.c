/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls that wait for children; see hook_child.h. Like libc, we implement wait, waitpid and
 * wait3 with wait4. It is one system call and one cancellation point, and also returns the resource
 * usage. Must not reap a child that the program would not have reaped. Test:
 * tests/cli/run/run_children.sh.
 */
#include "hpcrun-lite/hooks/hook_child.h"

#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/next.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/wait.h>

HOOK_NEXT(wait4);
HOOK_NEXT(pthread_setcanceltype);
HOOK_NEXT(waitid);

static bool lacks_point;

/*
 * wait() and waitpid() are cancellation points. Before glibc 2.31 its wait4() is none, so there we
 * do as libc does: a cancellation may end the thread in the system call.
 */
static pid_t reap(pid_t pid, int *status, int options, struct rusage *use, bool is_point)
{
	__typeof__(&wait4) next = NEXT(wait4);
	int type;
	if (!is_point || !lacks_point)
		return next(pid, status, options, use);
	NEXT(pthread_setcanceltype)(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	pid_t ended = next(pid, status, options, use);
	NEXT(pthread_setcanceltype)(type, NULL);
	return ended;
}

/* Passes the program's own pointers to the kernel, which returns EFAULT if they are bad. */
static pid_t wait_for(pid_t pid, int *status, int options, struct rusage *use, bool is_point)
{
	int own_status = 0;
	struct rusage own_use;
	if (!runtime_config())
		return reap(pid, status, options, use, is_point);
	status = status ? status : &own_status;
	use = use ? use : &own_use;
	pid_t ended = reap(pid, status, options, use, is_point);
	if (ended > 0) {
		int saved = errno;
		runtime_child_ended(ended, *status, use);
		errno = saved;
	}
	return ended;
}

HOOK pid_t wait4(pid_t pid, int *status, int options, struct rusage *use)
{
	return wait_for(pid, status, options, use, false);
}

HOOK pid_t wait3(int *status, int options, struct rusage *use)
{
	return wait_for(-1, status, options, use, false);
}

HOOK pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait_for(pid, status, options, NULL, true);
}

HOOK pid_t wait(int *status)
{
	return wait_for(-1, status, 0, NULL, true);
}

/* ---- waitid ---- */

static int status_of(const siginfo_t *info)
{
	int code = info->si_status;
	return info->si_code == CLD_EXITED ? W_EXITCODE(code, 0)
					   : code | (info->si_code == CLD_DUMPED ? WCOREFLAG : 0);
}

/*
 * Reaps the child without waiting. libc's waitid does not return the resource usage; the kernel
 * returns it in the fifth argument. But our own system call would not be a cancellation point. So
 * libc waits first and does not reap the child. Returns false if another thread reaped it
 * meanwhile.
 */
static bool take(pid_t pid, siginfo_t *info, int options, int *result)
{
	struct rusage use;
	siginfo_t own = {0};
	info = info ? info : &own;
	long error =
		sys_call6(SYS_waitid, P_PID, pid, (long)info, options | WNOHANG, (long)&use, 0);
	if (error == -ECHILD || (error == 0 && info->si_pid == 0))
		return false;
	*result = error == 0 ? 0 : -1;
	if (error != 0)
		errno = (int)-error;
	else if (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED
		|| info->si_code == CLD_DUMPED)
		runtime_child_ended(pid, status_of(info), &use);
	return true;
}

HOOK int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	if (!runtime_config() || !(options & WEXITED) || options & WNOWAIT)
		return NEXT(waitid)(type, id, info, options);
	for (int result = 0;;) {
		siginfo_t seen = {0};
		if (NEXT(waitid)(type, id, &seen, options | WNOWAIT) != 0)
			return -1;
		if (seen.si_pid == 0) /* WNOHANG, and no child has ended */
			return NEXT(waitid)(type, id, info, options);
		if (take(seen.si_pid, info, options, &result))
			return result;
	}
}

void hook_child_start(void)
{
	hook_next_find(&next_wait4);
	hook_next_find(&next_waitid);
	hook_next_find(&next_pthread_setcanceltype);
	struct hook_next of_2_31 = {"pthread_clockjoin_np", NULL};
	lacks_point = !hook_next_find(&of_2_31);
}
