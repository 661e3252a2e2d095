/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See remote.h. x86-64. ptrace(2), signal(7) "Interruption of system calls". A thread that waits in
 * the kernel stops there with -ERESTART... as the result of its call. With orig_rax set to -1 the
 * kernel does not begin it again before ours; once the registers are the old ones, it does.
 */
#include "hpcrun-lite/launch/attach/remote.h"

#include "common/safe/clock.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/launch/attach/frame.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

/*
 * A thread can only be let go once it has stopped, and on a busy machine it stops when it next gets
 * a processor.
 */
#define WAIT_NS UINT64_C(2000000000)
enum { VECTOR_BYTES = 32768, POLL_NS = 20000, RED_ZONE_BYTES = 128 };
/* A thread that has made a call waits so long for us, as long as no stop takes us. */
enum { COME_SECONDS = 2 };

/* ---- stops ---- */

/* Waits for a stop of the thread, `most_ns` at most. Returns false if there was none. */
static bool wait_stop(pid_t tid, uint64_t most_ns, int *status)
{
	const struct timespec pause = {0, POLL_NS};
	const uint64_t start_ns = clock_mono_ns();
	for (;;) {
		const pid_t got = waitpid(tid, status, __WALL | (most_ns ? WNOHANG : 0));
		if (got == tid)
			return WIFSTOPPED(*status);
		if (got < 0 && errno != EINTR)
			return false;
		if (most_ns && clock_mono_ns() - start_ns > most_ns)
			return false;
		if (most_ns)
			nanosleep(&pause, NULL);
	}
}

static bool is_our_stop(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) == SIGTRAP;
}

static bool look_at_pending(struct remote *r)
{
	struct target_thread thread;
	if (!target_thread_look(r->t, r->tid, &thread))
		return false;
	r->pending = thread.pending & ~r->mask;
	return true;
}

static bool read_state(struct remote *r)
{
	struct iovec registers = {&r->regs, sizeof r->regs};
	struct iovec vectors = {r->vectors, VECTOR_BYTES};
	if (ptrace(PTRACE_GETREGSET, r->tid, NT_PRSTATUS, &registers) != 0 ||
	    ptrace(PTRACE_GETREGSET, r->tid, NT_X86_XSTATE, &vectors) != 0 ||
	    ptrace(PTRACE_GETSIGMASK, r->tid, sizeof r->mask, &r->mask) != 0 || !look_at_pending(r))
		return false;
	r->vector_bytes = vectors.iov_len;
	return true;
}

bool remote_stop(struct remote *r, const struct target *t, pid_t tid)
{
	int status;
	*r = (struct remote){.t = t, .tid = tid, .vectors = malloc(VECTOR_BYTES)};
	r->stopped_ns = clock_mono_ns();
	if (!r->vectors || ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) != 0) {
		free(r->vectors);
		return false;
	}
	r->is_stopped =
		ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0 && wait_stop(tid, WAIT_NS, &status);
	/* a signal of its own came first: it goes on to the program */
	for (int i = 0; r->is_stopped && !is_our_stop(status) && i < 16; i++) {
		const int sig = status >> 16 ? 0 : WSTOPSIG(status);
		r->is_stopped =
			ptrace(PTRACE_CONT, tid, 0, sig) == 0 && wait_stop(tid, WAIT_NS, &status);
	}
	if (r->is_stopped && is_our_stop(status) && read_state(r))
		return true;
	if (r->is_stopped) /* with the signal that it was about to get */
		ptrace(PTRACE_DETACH, tid, 0, status >> 16 ? 0 : WSTOPSIG(status));
	free(r->vectors);
	return false;
}

/*
 * Calls which the kernel ends with EINTR whenever the thread is stopped (signal(7)): we begin them
 * again. A time-out counts anew then. If a signal is waiting, the result is the signal's.
 */
static void begin_again(struct remote *r)
{
	if ((long)r->regs.orig_rax < 0 || (long)r->regs.rax != -EINTR || r->pending)
		return;
	r->regs.rax = r->regs.orig_rax;
	r->regs.orig_rax = (unsigned long long)-1;
	r->regs.rip -= MACHINE_CALL_BYTES;
}

static void set_state(struct remote *r, const struct user_regs_struct *regs)
{
	struct iovec registers = {(void *)(uintptr_t)regs, sizeof *regs};
	ptrace(PTRACE_SETREGSET, r->tid, NT_PRSTATUS, &registers);
}

void remote_go(struct remote *r)
{
	struct iovec vectors = {r->vectors, r->vector_bytes};
	if (!r->is_stopped) {
		free(r->vectors);
		r->vectors = NULL;
		return;
	}
	look_at_pending(r); /* our call may have taken a signal of ours */
	begin_again(r);
	ptrace(PTRACE_SETSIGMASK, r->tid, sizeof r->mask, &r->mask);
	ptrace(PTRACE_SETREGSET, r->tid, NT_X86_XSTATE, &vectors);
	set_state(r, &r->regs); /* last: until then its way back is the frame */
	ptrace(PTRACE_DETACH, r->tid, 0, 0);
	r->is_stopped = false;
	r->took_ns = clock_mono_ns() - r->stopped_ns;
	free(r->vectors);
	r->vectors = NULL;
}

/* ---- calls ---- */

/* All signals but those that instructions raise: blocked, these would lose their handlers. */
static void block_signals(struct remote *r)
{
	static const int raised[] = {SIGTRAP, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
	uint64_t mask = ~UINT64_C(0);
	for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
		mask &= ~(UINT64_C(1) << (raised[i] - 1));
	ptrace(PTRACE_SETSIGMASK, r->tid, sizeof mask, &mask);
}

/* Resumes the thread until it stops for another reason than a SIGSTOP for its process. */
static bool run(struct remote *r, enum __ptrace_request how, int *status)
{
	while (ptrace(how, r->tid, 0, 0) == 0) {
		if (!wait_stop(r->tid, 0, status)) {
			r->is_stopped = false; /* it has ended */
			return false;
		}
		if (!(*status >> 16))
			return true;
	}
	return false;
}

static bool read_registers(struct remote *r, struct user_regs_struct *regs)
{
	struct iovec registers = {regs, sizeof *regs};
	return ptrace(PTRACE_GETREGSET, r->tid, NT_PRSTATUS, &registers) == 0;
}

/*
 * To the call's entry and to its end. Not by single steps: if we are killed, the kernel would go on
 * to trap. Signals are blocked once the thread has its way back.
 */
static bool system_call(struct remote *r, uintptr_t at, long number, const uint64_t a[6],
			uint64_t *result)
{
	struct user_regs_struct regs = r->regs;
	int status;
	regs.rip = at;
	regs.rax = (unsigned long long)number;
	regs.orig_rax = (unsigned long long)-1;
	regs.rdi = a[0];
	regs.rsi = a[1];
	regs.rdx = a[2];
	regs.r10 = a[3];
	regs.r8 = a[4];
	regs.r9 = a[5];
	if (r->frame)
		regs.rsp = r->frame;
	set_state(r, &regs);
	block_signals(r);
	for (int i = 0; i < 2; i++)
		if (!run(r, PTRACE_SYSCALL, &status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
			return false;
	if (!read_registers(r, &regs) || regs.rip != at + MACHINE_CALL_BYTES)
		return false;
	*result = regs.rax;
	return (long)regs.rax >= 0 || (long)regs.rax < -4095;
}

static uintptr_t map(struct remote *r, uintptr_t at, size_t n_bytes, int protection)
{
	uint64_t result;
	return system_call(r, at, SYS_mmap,
			   (const uint64_t[]){0, n_bytes, (uint64_t)protection,
					      MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0},
			   &result)
		       ? result
		       : 0;
}

/* At the end of the pages: the frame, if the thread's own stack has no room, and the call. */
static uintptr_t call_at(const struct remote *r)
{
	return r->stack + REMOTE_STACK_BYTES - sizeof(struct frame_call);
}

static bool write_frame(struct remote *r)
{
	const uintptr_t end = r->regs.rsp - RED_ZONE_BYTES;
	if (target_is_stack(r->t, end, r->regs.fs_base, frame_bytes(r)))
		r->frame = frame_put(r, end, r->restorer);
	else if (r->stack)
		r->frame = frame_put(r, call_at(r), r->restorer);
	return r->frame;
}

bool remote_prepare(struct remote *r, uintptr_t at, uintptr_t restorer)
{
	r->restorer = restorer;
	begin_again(r);
	write_frame(r);
	r->code = map(r, at, MACHINE_LEAST_PAGE, PROT_READ | PROT_EXEC);
	r->stack = map(r, at, REMOTE_STACK_BYTES, PROT_READ | PROT_WRITE);
	return r->code && r->stack && write_frame(r) &&
	       target_write(r->t, r->code, frame_code, (size_t)(frame_code_end - frame_code));
}

void remote_clean(struct remote *r, uintptr_t at)
{
	uint64_t result;
	if (r->code)
		system_call(r, at, SYS_munmap,
			    (const uint64_t[]){r->code, MACHINE_LEAST_PAGE, 0, 0, 0, 0}, &result);
	if (r->stack)
		system_call(r, at, SYS_munmap,
			    (const uint64_t[]){r->stack, REMOTE_STACK_BYTES, 0, 0, 0, 0}, &result);
	r->code = r->stack = 0;
}

static bool is_done(const struct remote *r, uint64_t *result)
{
	struct frame_call call;
	if (!target_read(r->t, call_at(r), &call, sizeof call) || !call.done)
		return false;
	*result = call.result;
	return true;
}

/*
 * The thread has stopped because we asked it to. If it had waited for too long and is back in the
 * program, it is let go as it is.
 */
static void take_over(struct remote *r)
{
	struct user_regs_struct now;
	if (read_registers(r, &now) && now.rip - r->code < MACHINE_LEAST_PAGE)
		return;
	ptrace(PTRACE_DETACH, r->tid, 0, 0);
	r->is_stopped = false;
}

/* The end of a call is seen in memory; a trap there would kill the program if we are gone. */
static bool await_result(struct remote *r, uint64_t *result)
{
	const struct timespec pause = {0, POLL_NS};
	bool asked = false;
	int status;
	for (;;) {
		const pid_t got = waitpid(r->tid, &status, __WALL | WNOHANG);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || (got == r->tid && !WIFSTOPPED(status))) {
			r->is_stopped = false; /* it has ended */
			return false;
		}
		if (got == r->tid && !(status >> 16))
			return false; /* it has crashed */
		if (got == r->tid && is_done(r, result)) {
			take_over(r);
			return true;
		}
		if (got == r->tid)
			ptrace(PTRACE_CONT, r->tid, 0, 0);
		else if (!asked && is_done(r, result))
			asked = ptrace(PTRACE_INTERRUPT, r->tid, 0, 0) == 0;
		else
			nanosleep(&pause, NULL);
	}
}

bool remote_call(struct remote *r, uintptr_t function, uint64_t a, uint64_t b, uint64_t *result)
{
	const struct frame_call call = {.wait = {COME_SECONDS}};
	struct user_regs_struct regs = r->regs;
	if (!r->is_stopped || !target_write(r->t, call_at(r), &call, sizeof call))
		return false;
	frame_set_registers(&regs, &(struct frame_registers){
					   .code = r->code,
					   .call = call_at(r),
					   .frame = r->frame,
					   .stack_end = call_at(r) - FRAME_MOST_BYTES,
					   .function = function,
					   .a = a,
					   .b = b,
				   });
	set_state(r, &regs);
	return ptrace(PTRACE_CONT, r->tid, 0, 0) == 0 && await_result(r, result);
}

void remote_change_mask(struct remote *r, uint64_t add, uint64_t remove)
{
	r->mask = (r->mask | add) & ~remove;
	if (r->frame && r->is_stopped)
		write_frame(r);
}
