/* SPDX-License-Identifier: BSD-3-Clause */
/* See inject.h. Tests: tests/cli/attach. */
#include "hpcrun-lite/launch/attach/inject.h"

#include "common/base/log.h"
#include "common/safe/clock.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/config/config.h"
#include "hpcrun-lite/launch/attach/frame.h"
#include "hpcrun-lite/launch/attach/remote.h"
#include "hpcrun-lite/launch/attach/safe_place.h"
#include "hpcrun-lite/runtime/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LIBCS_FIRST = 32 };

/* How long we look for a thread at a safe place, and pause between two rounds over all threads. */
#define LOOK_NS 10000000000u
#define PAUSE_NS 2000000
#define AWAIT_NS 2000000000u

uint64_t inject_stopped_ns;

/* What the functions need in the process. */
struct place {
	struct target_object libc, dl, own;
	uintptr_t system_call, restorer;
	uintptr_t dlopen, dlerror;
};

/* ---- functions of the process ---- */

/* Where libc's syscall() has its instruction. */
static uintptr_t find_system_call(const struct target *t, struct place *p)
{
	uint8_t code[64];
	const uintptr_t at = target_function(t, &p->libc, "syscall");
	if (!at || !target_read(t, at, code, sizeof code))
		return 0;
	for (size_t i = 0; i + 1 < sizeof code; i++)
		if (code[i] == 0x0f && code[i + 1] == 0x05)
			return at + i;
	return 0;
}

/* Where libc's handlers return to; it has no symbol. find_system_call() has made the copy. */
static uintptr_t find_restorer(const struct place *p)
{
	const size_t n = p->libc.copy ? p->libc.hi - p->libc.lo : 0;
	for (size_t i = 0; i < n; i++)
		if (frame_is_restorer(p->libc.copy + i, n - i))
			return p->libc.lo + i;
	return 0;
}

static uintptr_t find_function(const struct target *t, struct place *p, const char *name)
{
	const uintptr_t at = target_function(t, &p->libc, name);
	return at || !p->dl.lo ? at : target_function(t, &p->dl, name);
}

static void free_place(struct place *p)
{
	target_object_free(&p->libc);
	target_object_free(&p->dl);
	target_object_free(&p->own);
}

static bool cannot(const struct target *t, const char *why)
{
	log_error(NULL, "process %d %s", (int)t->pid, target_is_alive(t) ? why : "has ended");
	return false;
}

static bool find_place(const struct target *t, struct place *p)
{
	const struct timespec pause = {0, 5 * PAUSE_NS};
	*p = (struct place){0};
	/* the dynamic linker may be at work */
	for (unsigned i = 0; i < 200 && !target_object_named(t, "libc.so.6", &p->libc); i++)
		nanosleep(&pause, NULL);
	if (!target_object_named(t, "libc.so.6", &p->libc))
		return cannot(t, "has no libc.so.6");
	target_object_named(t, "libdl.so.2", &p->dl);
	p->system_call = find_system_call(t, p);
	p->restorer = find_restorer(p);
	p->dlopen = find_function(t, p, "dlopen");
	p->dlerror = find_function(t, p, "dlerror");
	if (!p->dlopen) /* before glibc 2.34, in a program without libdl */
		p->dlopen = find_function(t, p, "__libc_dlopen_mode");
	if (p->system_call && p->restorer && p->dlopen)
		return true;
	free_place(p);
	return cannot(t, "has a libc without dlopen and syscall");
}

/*
 * libc keeps two signals for itself, which a program cannot block. It blocks them with all others
 * where nothing may come between: as a thread begins or ends, in fork, in abort. Our handler, too.
 */
static bool is_in_libc(const struct target_thread *thread)
{
	return thread->blocked & UINT64_C(3) << (LIBCS_FIRST - 1);
}

/* ---- a thread at a safe place ---- */

struct search {
	struct safe_place *safe;
	struct remote *r;
	bool waits_only; /* look at threads that wait in the kernel, which need not be disturbed */
};

static bool is_disturbed(long call)
{
	return call == SYS_epoll_wait || call == SYS_epoll_pwait || call == SYS_semop ||
	       call == SYS_semtimedop || call == SYS_rt_sigtimedwait || call == SYS_msgrcv ||
	       call == SYS_msgsnd || call == SYS_io_getevents;
}

static bool try_thread(const struct target *t, pid_t tid, void *arg)
{
	struct search *s = arg;
	struct target_thread thread;
	/* a thread that sleeps in the kernel for good does not stop, and would not let us go either
	 */
	if (!target_thread_look(t, tid, &thread) || (thread.state != 'R' && thread.state != 'S'))
		return false;
	if (is_in_libc(&thread))
		return false;
	if (s->waits_only && (thread.state != 'S' || is_disturbed(thread.call)))
		return false;
	if (!remote_stop(s->r, t, tid))
		return false;
	const bool is_asleep = thread.state == 'S' && thread.call == (long)s->r->regs.orig_rax;
	thread.blocked = s->r->mask;
	if (!is_in_libc(&thread) && safe_place_is(s->safe, s->r, is_asleep))
		return true;
	remote_go(s->r);
	inject_stopped_ns += s->r->took_ns;
	return false;
}

/* Stops a thread that may call dlopen(). Logs why there is none. */
static bool stop_one(const struct target *t, struct remote *r)
{
	const struct timespec pause = {0, PAUSE_NS};
	const uint64_t start_ns = clock_mono_ns();
	struct search s = {safe_place_open(t), r, true};
	bool found = false;
	while (s.safe && !found && target_is_alive(t) && clock_mono_ns() - start_ns < LOOK_NS) {
		found = target_each_thread(t, try_thread, &s);
		if (!found && !s.waits_only)
			nanosleep(&pause, NULL);
		s.waits_only = false;
	}
	safe_place_close(s.safe);
	if (!found)
		log_error(NULL,
			  target_is_alive(t)
				  ? "process %d: for 10 s no thread was at a place where a library "
				    "can be loaded (not in malloc, the dynamic linker, fork or a "
				    "signal handler); try again"
				  : "process %d has ended",
			  (int)t->pid);
	return found;
}

/* ---- calls ---- */

/* Data in the process: one text after the other, and the answer. */
enum { PATH_AT = 0, CONFIG_AT = 8192, ANSWER_AT = CONFIG_AT + CONFIG_MAX_BYTES };

static bool put_text(const struct remote *r, uintptr_t at, const char *text)
{
	return target_write(r->t, remote_data(r) + at, text, strlen(text) + 1);
}

static void say_dlerror(const struct remote *r, struct remote *caller, const struct place *p,
			const char *library)
{
	char text[512] = "the dynamic linker refuses it";
	uint64_t at;
	if (p->dlerror && remote_call(caller, p->dlerror, 0, 0, &at) && at)
		for (size_t n = sizeof text - 1; n && !target_read(r->t, at, text, n); n /= 2)
			text[n / 2] = '\0';
	text[sizeof text - 1] = '\0';
	log_error(library, "cannot be loaded into process %d: %s", (int)r->t->pid, text);
}

/* Loads the library unless it is there. */
static enum status load(struct remote *r, struct place *p, const char *library)
{
	uint64_t handle;
	if (target_object_named(r->t, CONFIG_LIBRARY, &p->own))
		return STATUS_OK;
	if (!put_text(r, PATH_AT, library) ||
	    !remote_call(r, p->dlopen, remote_data(r) + PATH_AT,
			 RTLD_NOW | RTLD_LOCAL | (p->dlerror ? 0 : 0x80000000u), &handle))
		return STATUS_IO;
	if (!handle) {
		say_dlerror(r, r, p, library);
		return STATUS_UNSUPPORTED;
	}
	return target_object_named(r->t, CONFIG_LIBRARY, &p->own) ? STATUS_OK : STATUS_IO;
}

/* Calls one of our functions: name(first argument if not 0, answer). */
static enum status call_own(struct remote *r, struct place *p, const char *name, uintptr_t first,
			    struct attach_answer *answer)
{
	const uintptr_t function = target_function(r->t, &p->own, name),
			to = remote_data(r) + ANSWER_AT;
	uint64_t result;
	if (!function) {
		log_error(p->own.path, "is of another version of hpcrun-lite");
		return STATUS_UNSUPPORTED;
	}
	if (!remote_call(r, function, first ? first : to, to, &result) ||
	    !target_read(r->t, to, answer, sizeof *answer))
		return STATUS_IO;
	answer->cause[sizeof answer->cause - 1] = '\0';
	answer->path[sizeof answer->path - 1] = '\0';
	if ((int)result == 0)
		return STATUS_OK;
	log_error(NULL, "process %d: %s", (int)r->t->pid, answer->cause);
	return STATUS_UNSUPPORTED;
}

static enum status attach(struct remote *r, struct place *p, const char *library,
			  const char *config, struct attach_answer *answer)
{
	const enum status status = load(r, p, library);
	if (status != STATUS_OK)
		return status;
	if (!put_text(r, CONFIG_AT, config))
		return STATUS_IO;
	return call_own(r, p, ATTACH_SYMBOL, remote_data(r) + CONFIG_AT, answer);
}

static enum status detach(struct remote *r, struct place *p, struct attach_answer *answer)
{
	if (!target_object_named(r->t, CONFIG_LIBRARY, &p->own)) {
		log_error(NULL, "process %d is not measured", (int)r->t->pid);
		return STATUS_UNSUPPORTED;
	}
	const enum status status = call_own(r, p, DETACH_SYMBOL, 0, answer);
	if (status == STATUS_OK)
		remote_change_mask(r, answer->block, 0);
	return status;
}

/* `library` NULL: detach. */
static enum status inject(const struct target *t, const char *library, const char *config,
			  struct attach_answer *answer)
{
	struct remote r;
	struct place p;
	enum status status = STATUS_UNSUPPORTED;
	if (!find_place(t, &p) || !stop_one(t, &r))
		return status;
	status = STATUS_IO;
	log_detail(NULL, "calls run in thread %d", (int)r.tid);
	if (remote_prepare(&r, p.system_call, p.restorer))
		status = library ? attach(&r, &p, library, config, answer) : detach(&r, &p, answer);
	if (r.is_stopped)
		remote_clean(&r, p.system_call);
	remote_go(&r);
	inject_stopped_ns += r.took_ns;
	free_place(&p);
	if (status == STATUS_IO)
		log_error(NULL,
			  target_is_alive(t) ? "process %d: a call of our function in it failed"
					     : "process %d has ended",
			  (int)t->pid);
	return status;
}

enum status inject_attach(const struct target *t, const char *library, const char *config,
			  struct attach_answer *answer)
{
	return inject(t, library, config, answer);
}

enum status inject_detach(const struct target *t, struct attach_answer *answer)
{
	return inject(t, NULL, NULL, answer);
}

/* ---- threads ---- */

void inject_await(const struct target *t, pid_t tid)
{
	const struct timespec pause = {0, PAUSE_NS};
	const uint64_t start_ns = clock_mono_ns(), ours = UINT64_C(1) << (RUNTIME_SIGNAL - 1);
	struct target_thread thread;
	while (target_thread_look(t, tid, &thread) && thread.pending & ~thread.blocked & ours &&
	       clock_mono_ns() - start_ns < AWAIT_NS)
		nanosleep(&pause, NULL);
}

static bool send_join(const struct target *t, pid_t tid, uint64_t join)
{
	siginfo_t info;
	memset(&info, 0, sizeof info);
	info.si_signo = RUNTIME_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_value.sival_ptr = (void *)(uintptr_t)join;
	return machine_call4(SYS_rt_tgsigqueueinfo, t->pid, tid, RUNTIME_SIGNAL, (long)&info) == 0;
}

bool inject_join(const struct target *t, pid_t tid, uint64_t join, bool *was_blocked)
{
	const uint64_t ours = UINT64_C(1) << (RUNTIME_SIGNAL - 1);
	struct target_thread thread;
	struct remote r;
	bool done = false;
	if (!target_thread_look(t, tid, &thread) || thread.state == 'T' ||
	    thread.state == 't' || is_in_libc(&thread))
		return false;
	if (!(thread.blocked & ours))
		return send_join(t, tid, join + *was_blocked);
	/* it waits for signals, perhaps for this one */
	if (thread.call == SYS_rt_sigtimedwait || !remote_stop(&r, t, tid))
		return false;
	thread.blocked = r.mask; /* it may have gone on before it stopped */
	if (!is_in_libc(&thread)) {
		*was_blocked |= (r.mask & ours) != 0;
		/* before it is unblocked: it blocks it again if we are killed in between */
		done = send_join(t, tid, join + *was_blocked);
		remote_change_mask(&r, 0, ours);
	}
	remote_go(&r);
	inject_stopped_ns += r.took_ns;
	return done;
}
