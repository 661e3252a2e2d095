/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the hooks (hook_*.c), which stand between the program and libc, call of the run time. The run time never calls libc functions
 * that the hooks interpose; it makes the system calls itself (common/safe/sys.h), so hooks need no guard against it.
 *
 * Every function: keeps errno; never fails visibly; does nothing in a process that is not measured, and in a child made by
 * vfork, _Fork or a bare clone, which is noticed. "Signal-safe" is said where it holds; all may be called from any thread.
 * Tests: tests/cli/run_*.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_RUNTIME_H
#define HPCRUN_LITE_RUNTIME_RUNTIME_H

#include "common/format/measurement.h"
#include "hpcrun-lite/config/config.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <ucontext.h>

#define RUNTIME_SIGNAL SIGSTKFLT /* the sampling signal: hooks hide it from the program's masks and handlers */

/* ---- what the run time asks of the hooks --------------------------------------------------------------- */

/* Defined in hooks.c. All members are set; each is called where it says, and only there. */
extern const struct runtime_hooks {
	/* At the start, in every process: the configuration in an environment; NULL: none. */
	const char *(*find_config)(char *const *environment);
	/* Then, once: finds the functions of libc. `config` as found, or NULL. Not signal-safe. */
	void (*start)(const char *config);
	/* The process is measured from now on. Not signal-safe. */
	void (*measured)(void);
	/* Measurement has ended before the process does. Signal-safe. */
	void (*withdrawn)(void);
	/* In the child of fork: other threads may have been inside of hooks. */
	void (*forked)(void);
	/* From now on `sig` is ours as well; its handler is installed already. Not signal-safe. */
	void (*protect_signal)(int sig);
	/* The calling thread ends. */
	void (*thread_ends)(void);
	/*
	 * At the end of a handler of ours: restarts the wait that it interrupted, if it did. `rarely`:
	 * this signal comes a few times in a thread's life, not with each sample. Signal-safe.
	 */
	void (*restart_wait)(ucontext_t *context, bool rarely);
} runtime_hooks;

/*
 * Starts the run time, once: called by our constructor, or before it by a hook, for constructors of
 * other libraries may run earlier. Later calls do nothing. Not signal-safe.
 */
void runtime_start(void);

/* ---- state -------------------------------------------------------------------------------------------- */

/* The constants of this process; NULL before start-up and when nothing is measured. Valid for ever. Signal-safe. */
const struct config *runtime_config(void);

/*
 * True when the caller runs in the process (address space and pid) that owns the measurement: false in the child of vfork before its exec, of
 * _Fork and of a bare clone. One getpid system call. Signal-safe.
 */
bool runtime_is_owner(void);

/* Number of exec images this pid has had, this one included, less one; and CLOCK_MONOTONIC of the first. Signal-safe. */
unsigned runtime_exec_seq(void);
uint64_t runtime_process_start_ns(void);

/* ---- samples in the calling thread ---------------------------------------------------------------------- */

/* Samples that arrive between the two are counted as lost ("busy") and not recorded. Nests. Signal-safe. */
void runtime_suspend(void);
void runtime_resume(void);

/* ---- threads and modules --------------------------------------------------------------------------------- */

/* What is known of a thread's stack where the thread is made: its lowest address, or 0 and how large it was asked to be (0: not known either). */
struct thread_room {
	uintptr_t lo;
	size_t n_bytes;
};

/* A thread is about to be made. True: it is to be measured. Not signal-safe. */
bool runtime_thread_comes(void);
/* At the start of such a thread. Not signal-safe, no malloc. */
void runtime_thread_begins(const struct thread_room *room);

/* Around dlclose. Not signal-safe. */
void runtime_unload_begins(void);
void runtime_unload_ends(void);

/* ---- children -------------------------------------------------------------------------------------------- */

/* A child ended and was waited for; `status` as wait(2) gives it, `use` as wait4(2) does. Signal-safe. */
void runtime_child_ended(int pid, int status, const struct rusage *use);

/*
 * Process `pid` runs a program that cannot be measured, or is about to. `replaces`: it is the
 * calling process, whose CPU time so far is not the program's. NULL: not recorded. Signal-safe.
 */
struct msr_unmeasured *runtime_child_unmeasured(int pid, enum msr_unmeasured_reason reason,
						const char *path, bool replaces);
/* The program was not started after all. NULL is allowed. Signal-safe. */
void runtime_child_not_started(struct msr_unmeasured *record);

/* ---- the end of the process ------------------------------------------------------------------------------ */

/*
 * The process ends now: call directly before _exit, _Exit, quick_exit. Writes the ends of all threads, trims the file, prints the final
 * report in the root process. The second and later calls do nothing. exit() and return from main need no hook. For kinds see
 * enum msr_exit_kind; `code` is the exit status or signal. Not to be called from our own handler; signal-safe otherwise.
 */
void runtime_end(enum msr_exit_kind kind, int code);

/*
 * `sig` is about to end the process by its default action: the header says so. If it does not after
 * all, the end that comes will overwrite it. Signal-safe, also in a handler on top of ours.
 */
void runtime_fatal_signal(int sig);

/*
 * Measurement of the process ends here for good, the process does not: writes its end, prints the report, and from then on makes no system call and touches nothing any more. `why` is the note for the
 * user. Not to be called from our own handler.
 */
void runtime_withdraw(const char *why);

/*
 * Around execve and its kin, in the thread that calls it, directly before and, if it returned, after it. begin stops this
 * thread's sources and takes away every sampling signal that is pending, so that none meets the next image (where its
 * default action would kill); it marks the file as ended by exec. failed takes both back. In the child of vfork both
 * do nothing but clear pending signals. The signal mask is as before after both. Signal-safe.
 */
void runtime_exec_begin(void);
void runtime_exec_failed(void);

/* ---- descriptors -------------------------------------------------------------------------------------------- */

/* True when `fd` is one of ours: hooks answer EBADF to close() and dup2() away from it. Signal-safe. */
bool runtime_owns_fd(int fd);
/* The lowest of our descriptors >= from, or -1: lets closefrom and close_range go around them. Signal-safe. */
int runtime_next_fd(int from);
/*
 * dup2(x, fd) and dup3 are about to overwrite `fd`, which is ours: moves ours to another number and frees this one. False when no other
 * number could be had; then ours is given up (counted, the file no longer grows). Signal-safe.
 */
bool runtime_move_fd(int fd);
/* ---- signals ---------------------------------------------------------------------------------------------------- */

/*
 * What is done with a RUNTIME_SIGNAL that no source of ours sent (kill, tgkill, sigqueue). hook_signal.c registers its function, which
 * acts as the program's own disposition would have. Called inside our handler, errno saved, all signals blocked.
 * NULL (as at start): the signal is dropped.
 */
typedef void runtime_foreign_signal_fn(int sig, siginfo_t *info, void *ucontext);
void runtime_on_foreign_signal(runtime_foreign_signal_fn *fn);

/* ---- the file ------------------------------------------------------------------------------------------------------ */

/* A fault at `address`. True: that is in the measurement file, which somebody has shortened; there is memory now, and measurement ends. Signal-safe. */
bool runtime_mend_file(const void *address);
/*
 * The process is about to have a second thread, or to lose the right to make files: a child of fork
 * gets its measurement file now, if it has none yet. Signal-safe.
 */
void runtime_need_file(void);
/* The calling thread is inside the tool. Signal-safe. */
bool runtime_is_inside(void);

/* ---- for the report ------------------------------------------------------------------------------------------------ */

/* Adds a message for the user to the measurement file (INFO "note"), unless another is being written just now. Signal-safe. */
void runtime_note(const char *text);
/* Counts a process-wide loss. Signal-safe. */
void runtime_count_loss(enum msr_loss cause);

#endif
