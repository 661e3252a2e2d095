/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restarts waits from our handler; see hook_wait.h. Must not wait or lock. Tests:
 * tests/cli/sacred/sacred_wait.sh, tests/cli/sacred/sacred_cancel.sh.
 */
#include "common/safe/newer.h"
#include "hpcrun-lite/hooks/wait/hook_wait.h"

#include "common/safe/clock.h"
#include "common/safe/load.h"
#include "hpcrun-lite/hooks/wait/hook_wait_number.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <limits.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#define NS 1000000000u

/* The thread's current wait. Written outside of handlers and by handlers of the same thread. */
static _Thread_local struct {
	volatile int number;          /* of the system call; 0: none */
	/* CLOCK_MONOTONIC; 0: the call does not wait for a span of time */
	volatile uint64_t start_ns;
	volatile uint64_t deadline_ns;/* 0: not interrupted yet */
	struct timespec left;         /* the timeout of a restarted call */
} current;

void wait_begin(int number, int is_timed)
{
	current.deadline_ns = 0;
	current.start_ns = is_timed ? clock_mono_ns() : 0;
	current.number = number;
}

void wait_end(void)
{
	current.number = 0;
}

/*
 * The system call instruction overwrites rcx, so our handlers use it to mark a context: we
 * restarted the wait, or a handler of the program interrupted it. The values cannot be addresses.
 */
#define RESTARTED 0x706f7c68732d5741
#define INTERRUPTED 0x706f7c68732d5742

/*
 * The system call instruction leaves the address after itself in rcx. If the kernel restarts a call
 * itself, it sets the program counter back to the instruction and rax to the number.
 */
long wait_interrupted(const ucontext_t *context, bool *has_returned)
{
	const greg_t *reg = context->uc_mcontext.gregs;
	const uintptr_t pc = (uintptr_t)reg[REG_RIP], mark = (uintptr_t)reg[REG_RCX];
	*has_returned = false;
	if (mark == RESTARTED || mark == pc + 2)
		return wait_number_in_code(pc + 2) == NO_CALL ? NO_CALL : (long)reg[REG_RAX];
	if (mark != pc && mark != INTERRUPTED)
		return NO_CALL;
	*has_returned = reg[REG_RAX] != -EINTR;
	const long number = wait_number_in_code(pc);
	bool ends;
	if (number == SYS_rt_sigprocmask && current.number == SYS_vfork)
		return SYS_vfork; /* posix_spawn() blocked the signal until its child called exec */
	return number == UNKNOWN_CALL ? wait_number_outside(context, current.number, &ends)
				      : number;
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

/* A span in milliseconds; negative: no limit. Rounded up, because a wait must not end early. */
static bool restart_ms(greg_t *reg)
{
	const int ms = (int)*reg;
	if (ms <= 0)
		return true;
	if (!current.start_ns)
		return false;
	const uint64_t left = (left_of((uint64_t)ms * 1000000) + 999999) / 1000000;
	*reg = left < INT_MAX ? (greg_t)left : INT_MAX;
	return true;
}

/* A pointer to a span that the kernel only reads. NULL: no limit. */
static bool restart_span(greg_t *reg)
{
	struct timespec span;
	if (!*reg)
		return true;
	if (!current.start_ns || load_guarded(&span, (uintptr_t)*reg, sizeof span) != sizeof span)
		return false;
	const uint64_t left = left_of(span_ns(&span));
	current.left = (struct timespec){(time_t)(left / NS), (long)(left % NS)};
	*reg = (greg_t)&current.left;
	return true;
}

/* The kernel wrote the remaining time to the address in the fourth argument; use it as the span. */
static bool restart_sleep(greg_t *reg)
{
	if (reg[REG_RSI] & TIMER_ABSTIME)
		return true;
	if (!reg[REG_R10])
		return false;
	reg[REG_RDX] = reg[REG_R10];
	return true;
}

/* The same for the older call, which libc's sleep() made before glibc 2.31. */
static bool restart_nanosleep(greg_t *reg)
{
	if (!reg[REG_RSI])
		return false;
	reg[REG_RDI] = reg[REG_RSI];
	return true;
}

/* When the thread's wait on a socket with a time-out must end; CLOCK_MONOTONIC. */
static _Thread_local uint64_t socket_deadline_ns;

/*
 * The system call instruction keeps the flags, and the code around it does not need them. Our
 * handler sets the zero and the sign flag in a call that it restarts. No instruction that computes
 * flags sets both, so they identify the call if it is interrupted again.
 */
#define SAME_CALL 0xc0

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
static greg_t timeout_error(long number, long fd)
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
 * the deadline ends the call as the kernel would. The time counts from the first signal, so the
 * call never ends too early.
 */
static bool restart_socket(long number, greg_t *reg, bool sends)
{
	const uint64_t span = socket_span_ns(reg[REG_RDI], sends), now = clock_mono_ns();
	const bool is_same = (reg[REG_EFL] & SAME_CALL) == SAME_CALL;
	reg[REG_EFL] &= ~SAME_CALL;
	if (!span)
		return false;
	if (!is_same)
		socket_deadline_ns = now + span;
	if (now >= socket_deadline_ns) {
		reg[REG_RAX] = timeout_error(number, reg[REG_RDI]);
		return false;
	}
	reg[REG_EFL] |= SAME_CALL;
	return true;
}

/*
 * Changes the registers so that the call continues as if it had not been interrupted. Returns false
 * if that is not possible.
 */
static bool prepare_restart(long number, greg_t *reg)
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
	case SYS_poll: return restart_ms(&reg[REG_RDX]);
	case SYS_epoll_wait:
	case SYS_epoll_pwait: return restart_ms(&reg[REG_R10]);
	case SYS_epoll_pwait2:
	case SYS_semtimedop: return restart_span(&reg[REG_R10]);
	case SYS_rt_sigtimedwait: return restart_span(&reg[REG_RDX]);
	case SYS_clock_nanosleep: return restart_sleep(reg);
	case SYS_nanosleep: return restart_nanosleep(reg);
	case SYS_futex:
		return (reg[REG_RSI] & FUTEX_CMD_MASK) ==
		       FUTEX_WAIT_BITSET; /* waits until a point in time */
	case SYS_io_getevents: return !reg[REG_R8];
	case SYS_io_uring_enter: return !(reg[REG_R10] & IORING_ENTER_EXT_ARG);
	case SYS_read: /* EINTR means that the socket has a time-out and that no data was moved */
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4: return restart_socket(number, reg, false);
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_sendfile:
	case SYS_connect: return restart_socket(number, reg, true);
	default: return false;
	}
}

/*
 * Also recognizes a futex with a time-out whose number is not known. libc's functions that wait for
 * it continue by themselves, as every user of futexes must.
 */
static bool is_futex(long number, const greg_t *reg)
{
	return number == SYS_futex ||
	       (number == UNKNOWN_CALL && (uint32_t)reg[REG_R9] == FUTEX_BITSET_MATCH_ANY &&
		(reg[REG_RSI] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET);
}

void wait_restart(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;
	if (reg[REG_RAX] != -EINTR || reg[REG_RCX] == INTERRUPTED)
		return;
	long number = wait_number_in_code((uintptr_t)reg[REG_RIP]);
	bool ends = false;
	if (number == UNKNOWN_CALL)
		number = wait_number_outside(context, current.number, &ends);
	if (number != current.number)
		current.start_ns = 0; /* the start belongs to another call */
	if (number == NO_CALL || ends)
		return;
	if (!prepare_restart(number, reg)) {
		if (reg[REG_RAX] == -EINTR && !is_futex(number, reg))
			runtime_wait_cut_short(context);
		return;
	}
	reg[REG_RIP] -= 2;
	reg[REG_RAX] = number;
	reg[REG_RCX] = RESTARTED;
}

void wait_interrupt(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;
	const uintptr_t pc = (uintptr_t)reg[REG_RIP];
	current.number = 0; /* the handler may not return */
	if (reg[REG_RCX] == RESTARTED && wait_number_in_code(pc + 2) != NO_CALL) {
		reg[REG_RIP] += 2;
		reg[REG_RAX] = -EINTR;
		reg[REG_RCX] = INTERRUPTED;
	} else if (reg[REG_RAX] == -EINTR && wait_number_in_code(pc) != NO_CALL) {
		reg[REG_RCX] = INTERRUPTED;
	}
}

/* The calls of signal(7) for which SA_RESTART decides. Some others always restart. */
static bool ends_with_eintr(const greg_t *reg)
{
	static const uint16_t calls[] = {
		SYS_read,     SYS_readv,    SYS_write,    SYS_writev,   SYS_ioctl,   SYS_open,
		SYS_openat,   SYS_wait4,    SYS_waitid,   SYS_connect,  SYS_accept,  SYS_accept4,
		SYS_recvfrom, SYS_recvmsg,  SYS_recvmmsg, SYS_sendto,   SYS_sendmsg, SYS_sendmmsg,
		SYS_flock,    SYS_fcntl,    SYS_pread64,  SYS_pwrite64, SYS_mq_timedsend,
		SYS_splice,   SYS_sendfile, SYS_mq_timedreceive,        SYS_getrandom};
	if (reg[REG_RAX] == SYS_futex)
		return (reg[REG_RSI] & FUTEX_CMD_MASK) == FUTEX_WAIT ||
		       (reg[REG_RSI] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (reg[REG_RAX] == calls[i])
			return true;
	return false;
}

void wait_end_restarted(ucontext_t *context)
{
	greg_t *reg = context->uc_mcontext.gregs;
	if (reg[REG_RCX] != reg[REG_RIP] + 2 ||
	    wait_number_in_code((uintptr_t)reg[REG_RIP] + 2) == NO_CALL || !ends_with_eintr(reg))
		return;
	reg[REG_RIP] += 2;
	reg[REG_RAX] = -EINTR;
}
