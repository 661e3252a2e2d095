/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restarts waits from our handler; see hook_wait.h. Must not wait or lock. Tests:
 * tests/cli/sacred/sacred_wait.sh, tests/cli/sacred/sacred_cancel.sh.
 */
#include "hpcrun-lite/hooks/wait/hook_wait.h"

#include "common/safe/clock.h"
#include "common/safe/load.h"
#include "common/safe/newer.h"
#include "hpcrun-lite/hooks/wait/hook_wait_number.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define NS 1000000000u

/* The thread's current wait. Written outside of handlers and by handlers of the same thread. */
static _Thread_local struct {
	volatile int number;          /* of the system call; 0: none */
	volatile long first;          /* its argument 0 */
	/* CLOCK_MONOTONIC; 0: the call does not wait for a span of time */
	volatile uint64_t start_ns;
	volatile uint64_t deadline_ns;/* 0: not interrupted yet */
	struct timespec left;         /* the timeout of a restarted call */
} current;

void wait_begin(int number, int is_timed, long first)
{
	current.deadline_ns = 0;
	current.start_ns = is_timed ? clock_mono_ns() : 0;
	current.first = first;
	current.number = (int)machine_newer_call(number);
}

void wait_end(void)
{
	current.number = 0;
}

/* Whether the thread is at a system call instruction. */
static bool is_at_call(const ucontext_t *context)
{
	return wait_number_in_code(context, machine_pc(context) + MACHINE_CALL_BYTES) != NO_CALL;
}

long wait_interrupted(const ucontext_t *context, bool *has_returned)
{
	const uintptr_t pc = machine_pc(context);
	const enum wait_mark mark = wait_mark_of(context);
	*has_returned = false;
	if ((mark == WAIT_RESTARTED || machine_may_call_again(context)) && is_at_call(context))
		return machine_number_again(context);
	if (mark != WAIT_INTERRUPTED && !machine_may_have_called(context))
		return NO_CALL;
	*has_returned = machine_result(context) != -EINTR;
	const long number = wait_number_in_code(context, pc);
	if (number == SYS_rt_sigprocmask && current.number == SYS_vfork)
		return SYS_vfork; /* posix_spawn() blocked the signal until its child called exec */
	return number == UNKNOWN_CALL ? wait_number_outside(context, current.number) : number;
}

static uint64_t span_ns(const struct timespec *t)
{
	const uint64_t seconds = (uint64_t)t->tv_sec;
	return seconds > UINT64_MAX / NS / 4 ? UINT64_MAX / 4 : seconds * NS + (uint64_t)t->tv_nsec;
}

/* The remaining part of a span in ns that began with the wait. */
static uint64_t left_of(uint64_t span)
{
	const uint64_t now = clock_mono_ns();
	if (!current.deadline_ns)
		current.deadline_ns = current.start_ns + span;
	return current.deadline_ns > now ? current.deadline_ns - now : 0;
}

/*
 * CLOCK_MONOTONIC: when a wait must end whose begin nobody noted: on a socket with a time-out, or
 * one that was there before us. It counts from the first signal of ours, so it never ends too
 * early.
 */
static _Thread_local uint64_t unseen_deadline_ns;
static bool is_late; /* see wait_attach() */

static uint64_t left_of_unseen(ucontext_t *context, uint64_t span)
{
	const uint64_t now = clock_mono_ns();
	if (!wait_take_same(context))
		unseen_deadline_ns = now + span;
	wait_set_same(context);
	return unseen_deadline_ns > now ? unseen_deadline_ns - now : 0;
}

void wait_attach(void)
{
	is_late = true;
}

/* How much of a span is left. Returns false if that is not known. */
static bool find_left(ucontext_t *context, uint64_t span, uint64_t *left)
{
	if (!current.start_ns && !is_late)
		return false;
	*left = current.start_ns ? left_of(span) : left_of_unseen(context, span);
	return true;
}

/* A span in milliseconds; negative: no limit. Rounded up, because a wait must not end early. */
static bool restart_ms(ucontext_t *context, unsigned argument)
{
	const int ms = (int)machine_argument(context, argument);
	uint64_t left;
	if (ms <= 0)
		return true;
	if (!find_left(context, (uint64_t)ms * 1000000, &left))
		return false;
	left = (left + 999999) / 1000000;
	machine_set_argument(context, argument, left < INT_MAX ? (long)left : INT_MAX);
	return true;
}

/* *at: the address of a span that the kernel only reads; becomes another one. 0: no limit. */
static bool shorten_span(ucontext_t *context, long *at)
{
	struct timespec span;
	uint64_t left;
	if (!*at)
		return true;
	if (load_guarded(&span, (uintptr_t)*at, sizeof span) != sizeof span ||
	    !find_left(context, span_ns(&span), &left))
		return false;
	current.left = (struct timespec){(time_t)(left / NS), (long)(left % NS)};
	*at = (long)&current.left;
	return true;
}

static bool restart_span(ucontext_t *context, unsigned argument)
{
	long at = machine_argument(context, argument);
	if (!shorten_span(context, &at))
		return false;
	machine_set_argument(context, argument, at);
	return true;
}

/*
 * The kernel wrote the remaining time to the address in the fourth argument; use it as the span.
 * Our hooks see to it that there is one, but in a sleep that was there before us.
 */
static bool restart_sleep(ucontext_t *context)
{
	const long left = machine_argument(context, 3);
	if (machine_argument(context, 1) & TIMER_ABSTIME)
		return true;
	if (!left)
		return restart_span(context, 2);
	machine_set_argument(context, 2, left);
	return true;
}

/* The same for the older call, which libc's sleep() made before glibc 2.31. */
static bool restart_nanosleep(ucontext_t *context, long *first)
{
	const long left = machine_argument(context, 1);
	if (!left)
		return shorten_span(context, first);
	*first = left;
	return true;
}

/* The time-out of a socket in this direction; 0: none, or not a socket. */
static uint64_t socket_span_ns(long fd, bool sends)
{
	struct timeval t;
	socklen_t n = sizeof t;
	return sys_call6(SYS_getsockopt, fd, SOL_SOCKET, sends ? SO_SNDTIMEO : SO_RCVTIMEO,
			 (long)&t, (long)&n, 0) == 0
		       ? (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_usec * 1000
		       : 0;
}

/* What the kernel returns when a socket's time-out expires. */
static long timeout_error(long number, long fd)
{
	int domain = 0;
	socklen_t n = sizeof domain;
	if (number != SYS_connect)
		return -EAGAIN;
	sys_call6(SYS_getsockopt, fd, SOL_SOCKET, SO_DOMAIN, (long)&domain, (long)&n, 0);
	return domain == AF_UNIX ? -EAGAIN : -EINPROGRESS;
}

/*
 * A restarted call starts the socket's time-out again, so we keep our own deadline. A signal after
 * the deadline ends the call as the kernel would.
 */
static bool restart_socket(long number, ucontext_t *context, long fd, bool sends)
{
	const uint64_t span = socket_span_ns(fd, sends);
	if (span && left_of_unseen(context, span))
		return true;
	wait_take_same(context);
	if (span)
		machine_set_result(context, timeout_error(number, fd));
	return false;
}

/*
 * Changes the registers, and *first for argument 0, so that the call continues as if it had not
 * been interrupted. Returns false if that is not possible.
 */
static bool prepare_restart(long number, ucontext_t *context, long *first)
{
	switch (number) {
	case SYS_select: /* the kernel updates the remaining time in place, or there is none */
	case SYS_pselect6:
	case SYS_ppoll:
	case SYS_pause:
	case SYS_rt_sigsuspend:
	case SYS_semop:
	case SYS_msgrcv:
	case SYS_msgsnd: return true;
	case SYS_poll: return restart_ms(context, 2);
	case SYS_epoll_wait:
	case SYS_epoll_pwait: return restart_ms(context, 3);
	case SYS_epoll_pwait2:
	case SYS_semtimedop: return restart_span(context, 3);
	case SYS_rt_sigtimedwait: return restart_span(context, 2);
	case SYS_clock_nanosleep: return restart_sleep(context);
	case SYS_nanosleep: return restart_nanosleep(context, first);
	case SYS_futex:
		return (machine_argument(context, 1) & FUTEX_CMD_MASK) ==
		       FUTEX_WAIT_BITSET; /* waits until a point in time */
	case SYS_io_getevents: return !machine_argument(context, 4);
	case SYS_io_uring_enter: return !(machine_argument(context, 3) & IORING_ENTER_EXT_ARG);
	case SYS_read: /* EINTR means that the socket has a time-out and that no data was moved */
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4: return restart_socket(number, context, *first, false);
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_connect: return restart_socket(number, context, *first, true);
	default: return false;
	}
}

/*
 * Also recognizes a futex with a time-out whose number is not known. libc's functions that wait for
 * it continue by themselves, as every user of futexes must.
 */
static bool is_futex(long number, const ucontext_t *context)
{
	return number == SYS_futex ||
	       (number == UNKNOWN_CALL &&
		(uint32_t)machine_argument(context, 5) == FUTEX_BITSET_MATCH_ANY &&
		(machine_argument(context, 1) & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET);
}

void wait_restart(ucontext_t *context)
{
	if (machine_result(context) != -EINTR || wait_mark_of(context) == WAIT_INTERRUPTED)
		return;
	long number = wait_number_in_code(context, machine_pc(context)), first;
	if (number == NO_CALL)
		return;
	bool has_first = wait_first_in_code(context, machine_pc(context), &first);
	/* The code shows neither where libc makes calls for others, which it also ends. */
	if ((number == UNKNOWN_CALL || !has_first) && wait_is_cancelled(context))
		return;
	if (number == UNKNOWN_CALL)
		number = wait_number_outside(context, current.number);
	if (number != current.number)
		current.start_ns = 0; /* the start belongs to another call */
	if (!has_first)
		has_first = wait_has_noted(context, &first);
	if (!has_first && number == current.number) {
		first = current.first;
		has_first = true;
	}
	if (!has_first || !prepare_restart(number, context, &first)) {
		if (machine_result(context) == -EINTR && !is_futex(number, context)) {
			runtime_wait_cut_short(context);
			wait_set_mark(context, WAIT_INTERRUPTED); /* counted once */
		}
		return;
	}
	machine_call_again(context, number, first);
	wait_set_mark(context, WAIT_RESTARTED);
}

/* Ends the call at the pc. */
static void end_with_eintr(ucontext_t *context)
{
	machine_set_pc(context, machine_pc(context) + MACHINE_CALL_BYTES);
	machine_set_result(context, -EINTR);
}

void wait_interrupt(ucontext_t *context)
{
	current.number = 0; /* the handler may not return */
	if (wait_mark_of(context) == WAIT_RESTARTED && is_at_call(context)) {
		end_with_eintr(context);
		wait_set_mark(context, WAIT_INTERRUPTED);
	} else if (machine_result(context) == -EINTR &&
		   wait_number_in_code(context, machine_pc(context)) != NO_CALL) {
		wait_set_mark(context, WAIT_INTERRUPTED);
	}
}

/* The calls of signal(7) for which SA_RESTART decides. Some others always restart. */
static bool ends_with_eintr(const ucontext_t *context)
{
	static const int16_t calls[] = {SYS_read,     SYS_readv,           SYS_write,
					SYS_writev,   SYS_ioctl,           SYS_open,
					SYS_openat,   SYS_wait4,           SYS_waitid,
					SYS_connect,  SYS_accept,          SYS_accept4,
					SYS_recvfrom, SYS_recvmsg,         SYS_recvmmsg,
					SYS_sendto,   SYS_sendmsg,         SYS_sendmmsg,
					SYS_flock,    SYS_fcntl,           SYS_pread64,
					SYS_pwrite64, SYS_mq_timedsend,    SYS_splice,
					SYS_sendfile, SYS_mq_timedreceive, SYS_getrandom};
	const long number = machine_number_again(context),
		   command = machine_argument(context, 1) & FUTEX_CMD_MASK;
	if (number == SYS_futex)
		return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (number == calls[i])
			return true;
	return false;
}

void wait_end_restarted(ucontext_t *context)
{
	if (machine_may_call_again(context) && is_at_call(context) && ends_with_eintr(context))
		end_with_eintr(context);
}
