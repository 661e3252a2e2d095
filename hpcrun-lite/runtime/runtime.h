/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the run time that hooks (hook_*.c) may call. Hooks replace functions of libc.
 * The run time never calls a libc function that the hooks replace. It makes system calls itself
 * (common/safe/sys.h), so hooks need no guard against calls from the run time.
 *
 * Every function may be called from any thread, keeps errno and never fails visibly. It does
 * nothing in a process that is not measured, nor in a child of vfork, _Fork or a bare clone, which
 * it detects. Functions are signal-safe only if their comment says so. Tests:
 * tests/cli/run/run_*.sh.
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

/*
 * The sampling signal: hooks hide it from the program's masks and handlers. Its default action is
 * to do nothing (doc/design.md).
 */
#define RUNTIME_SIGNAL SIGWINCH

/* ---- what the run time asks of the hooks ---- */

/*
 * What the run time calls in the hooks. Defined in hooks.c. All members are set; each is called
 * only when its comment says.
 */
extern const struct runtime_hooks {
	/* At the start, in every process: finds the configuration in an environment; NULL: none. */
	const char *(*find_config)(char *const *environment);
	/*
	 * Once after that: finds the functions of libc. `config` is from find_config. Not
	 * signal-safe.
	 */
	void (*start)(const char *config);
	/*
	 * The library was loaded into a process that runs, so it stands in front of nothing: the
	 * rest comes with take_signal. Not signal-safe.
	 */
	bool (*is_late)(void);
	/*
	 * In a process that was running: takes over RUNTIME_SIGNAL, before our handler is
	 * installed. patch makes the program call the hooks; false: there is no memory. give_back
	 * undoes both; `keeps_signal`: threads that have not left may still get it from us, so our
	 * handler stays. The calling thread joins and leaves in our handler: see hook_signal.h. Not
	 * signal-safe, except join and leave.
	 */
	void (*take_signal)(void);
	bool (*patch)(void);
	void (*give_back)(bool keeps_signal);
	void (*give_back_signal)(void); /* alone, in a forked child */
	void (*join)(bool has_blocked);
	void (*leave)(uint64_t *mask);
	/* The process is measured from now on. Not signal-safe. */
	void (*measured)(void);
	/* Measurement has ended before the process does. Signal-safe. */
	void (*withdrawn)(void);
	/* In a forked child. Other threads of the parent may have been inside hooks. */
	void (*forked)(void);
	/* From now on we use `sig` too; our handler is already installed. Not signal-safe. */
	void (*protect_signal)(int sig);
	/* The calling thread ends. */
	void (*thread_ends)(void);
	/*
	 * At the end of our handler: restarts the wait that it interrupted, if there was one.
	 * Signal-safe.
	 */
	void (*restart_wait)(ucontext_t *context);
	/*
	 * Returns the number of the system call that our handler interrupted, -1 if there was none,
	 * or -2 if the number is unknown. *has_returned: the call ended with its own result.
	 * Signal-safe.
	 */
	long (*interrupted_call)(const ucontext_t *context, bool *has_returned);
} runtime_hooks;

/*
 * Starts the run time. Our constructor calls it, or a hook does so earlier, because constructors of
 * other libraries may run before ours. Later calls do nothing. Not signal-safe.
 */
void runtime_start(void);

/* ---- state ---- */

/*
 * The configuration of this process; NULL before the start and if nothing is measured. Valid until
 * the process ends. Signal-safe.
 */
const struct config *runtime_config(void);

/*
 * Returns true if the caller runs in the process (address space and pid) that owns the measurement.
 * False in a child of vfork before its exec, of _Fork and of a bare clone. One getpid system call.
 * Signal-safe.
 */
bool runtime_is_owner(void);

/*
 * Number of programs that this pid ran before this one, and CLOCK_MONOTONIC of the first one's
 * start. Signal-safe.
 */
unsigned runtime_exec_seq(void);
uint64_t runtime_process_start_ns(void);

/* ---- samples in the calling thread ---- */

/*
 * Samples between suspend and resume are counted as lost ("busy") and not recorded. Nests.
 * Signal-safe.
 */
void runtime_suspend(void);
void runtime_resume(void);

/* ---- threads and modules ---- */

/*
 * What is known about a thread's stack at its creation: the lowest address, or, if that is 0, the
 * requested size (0: unknown).
 */
struct thread_room {
	uintptr_t lo;
	size_t n_bytes;
	uintptr_t code; /* the thread's function; 0: unknown */
	uintptr_t base; /* a place (region.h) outside of the thread's function; 0: unknown */
};

/* A thread is about to be created. Returns true if it must be measured. Not signal-safe. */
bool runtime_thread_comes(void);
/* Call at the start of a thread that is measured. Not signal-safe; no malloc. */
void runtime_thread_begins(const struct thread_room *room);
/* Ends the measurement of the calling thread. `why` is the note for the user. */
void runtime_thread_leaves(const char *why);

/* ---- alternate signal stacks ---- */

/*
 * A smaller alternate stack than small_stack has no room for a sample on top of the program's
 * handler. One smaller than tiny_stack has no room for a sample at all. In bytes. Signal-safe.
 */
size_t runtime_small_stack(void);
size_t runtime_tiny_stack(void);
/* From now on samples do not go to alternate stacks. Signal-safe. */
void runtime_avoid_alternate_stacks(void);
/* A handler of the program runs without samples, because its stack is too small. Signal-safe. */
void runtime_handler_unsampled(void);
/* Returns true if the alternate stack at `sp` is one that we lent to the thread. Signal-safe. */
bool runtime_lent_stack(const void *sp);

/*
 * The state of the calling thread's parallel regions, for hpcrun-lite/regions/region.h. NULL: do
 * not touch the region, because the thread is not measured or the user wants no OpenMP.
 * is_counting: measurement is on. Signal-safe, no system call.
 */
struct region_thread;
struct region_thread *runtime_regions(void);
bool runtime_is_counting(void);

/*
 * Call these around dlclose. `code` is an address in the OpenMP run time that the library uses;
 * NULL: none. Not signal-safe.
 */
void runtime_unload_begins(void *code);
/* Returns true if a thread has run a function that a dlclose can unload. Signal-safe. */
bool runtime_may_lose_code(void);
void runtime_unload_ends(void);

/* ---- children ---- */

/* The process waited for a child. `status` is from wait(2), `use` from wait4(2). Signal-safe. */
void runtime_child_ended(int pid, int status, const struct rusage *use);

/*
 * Process `pid` runs, or is about to run, a program that cannot be measured. `replaces`: `pid` is
 * the calling process, whose CPU time so far does not belong to the program. Returns NULL if it was
 * not recorded. Signal-safe.
 */
struct msr_unmeasured *runtime_child_unmeasured(int pid, enum msr_unmeasured_reason reason,
						const char *path, bool replaces);
/* The program was not started after all. NULL is allowed. Signal-safe. */
void runtime_child_not_started(struct msr_unmeasured *record);

/* Processes of one program that a job manager has started for this process, as a separate job. */
struct runtime_spawn {
	uint64_t id;          /* the id of the call, which all programs of the job share */
	const char *path;
	enum msr_unmeasured_reason reason; /* VOID: nothing prevents their measurement */
	uint32_t n_processes;
};
/* Not signal-safe. */
void runtime_spawned(const struct runtime_spawn *s);
/* The name of this host in the measurement; "" if nothing is measured. Signal-safe. */
const char *runtime_host(void);

/* ---- waits ---- */

/*
 * Returns true if one of the innermost frames at `context` returns to `pc`, and sets *sp to the
 * stack pointer after that return. Only in our handler. Signal-safe.
 */
bool runtime_find_return(const ucontext_t *context, uintptr_t pc, uint64_t *sp);
/*
 * Counts a wait that our signal ended with EINTR and that cannot be restarted. Does not count waits
 * of Go's run time, whose own signals do the same. Signal-safe.
 */
void runtime_wait_cut_short(const ucontext_t *context);

/* ---- the end of the process ---- */

/*
 * Ends the measurement: call right before _exit, _Exit and quick_exit; exit() and return from main
 * need no hook. Records the ends of all threads, trims the file and, in the root process, prints
 * the final report. Only the first call has an effect.
 *
 * `kind` is an enum msr_exit_kind, `code` the exit status or signal. Not to be called from our own
 * handler; signal-safe otherwise.
 */
void runtime_end(enum msr_exit_kind kind, int code);

/*
 * `sig` is about to end the process by its default action; records that in the header. If the
 * process survives, its real end will overwrite the record. Signal-safe, also in a handler that
 * interrupted ours.
 */
void runtime_fatal_signal(int sig);

/*
 * Ends the measurement for good while the process continues: records the end and prints the report.
 * From then on we make no system call and touch nothing. `why` is the note for the user. Not to be
 * called from our own handler.
 */
void runtime_withdraw(const char *why);

/*
 * Call begin right before execve and its variants, in the same thread, and failed if the exec
 * returned. begin stops the sources of this thread and removes pending sampling signals, which the
 * next program would find if the signal is blocked there. It marks the file as ended by exec.
 * failed undoes both. `is_measured`: the next program loads the library, and so copies this file,
 * too, at its end.
 *
 * In a child of vfork, both only remove pending signals. Both keep the signal mask. Signal-safe.
 */
void runtime_exec_begin(bool is_measured);
void runtime_exec_failed(void);

/* ---- descriptors ---- */

/*
 * Returns true if `fd` is one of ours. Hooks answer EBADF to close() of it and dup2() from it.
 * Signal-safe.
 */
bool runtime_owns_fd(int fd);
/*
 * Returns the lowest of our descriptors >= `from`, or -1. closefrom and close_range must skip it.
 * Signal-safe.
 */
int runtime_next_fd(int from);
/*
 * dup2 or dup3 is about to overwrite `fd`, which is ours: moves ours to another number and frees
 * this one. Returns false if no other number is free. Then our descriptor is given up and counted,
 * and the file can no longer grow. Signal-safe.
 */
bool runtime_move_fd(int fd);
/* ---- signals ---- */

/*
 * Handles a RUNTIME_SIGNAL that none of our sources sent (but a terminal, kill or sigqueue). The
 * hooks register a function that does what the program's own disposition demands. It is called
 * inside our handler with errno saved and all signals blocked. It returns false if the interrupted
 * wait must end. NULL (the initial value): the signal is dropped.
 */
typedef bool runtime_foreign_signal_fn(int sig, siginfo_t *info, void *ucontext);
void runtime_on_foreign_signal(runtime_foreign_signal_fn *fn);
/*
 * Makes our handler run in every other measured thread, which then calls restart_wait. Signal-safe.
 */
void runtime_nudge_others(void);
/*
 * Pauses or resumes the sources of the calling thread. Only with RUNTIME_SIGNAL blocked.
 * Signal-safe.
 */
void runtime_rest(bool rests);

/* ---- binaries that are removed ---- */

/*
 * The program is about to remove or replace the file that `path` (as in openat(2)) names. If code
 * was loaded from it, it is copied into the measurement first. Signal-safe.
 */
void runtime_name_goes(int directory, const char *path);
/*
 * The same, when the program is about to close a descriptor of a file that has no name.
 * Signal-safe.
 */
void runtime_descriptor_goes(int fd);

/* ---- the file ---- */

/*
 * Handles a fault at `address`. Returns true if the address is in the measurement file, which
 * another process has truncated. Memory replaces that part of the file, and measurement ends.
 * Signal-safe.
 */
bool runtime_mend_file(const void *address);
/*
 * The process is about to start a second thread or to lose the right to create files. A forked
 * child without a measurement file gets one now. Signal-safe.
 */
void runtime_need_file(void);
/*
 * Call these around a fork that bypasses libc, because the handlers of pthread_atfork do not run.
 * Keep errno.
 */
void runtime_fork_begins(void);
void runtime_fork_ends(bool is_child);
/* Returns true if the calling thread is inside the tool. Signal-safe. */
bool runtime_is_inside(void);

/* ---- for the report ---- */

/*
 * Adds a message for the user to the measurement file (INFO "note"). Dropped if another thread is
 * writing one at this moment. Signal-safe.
 */
void runtime_note(const char *text);
/* Counts a process-wide loss. Signal-safe. */
void runtime_count_loss(enum msr_loss cause);

#endif
