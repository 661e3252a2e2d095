/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first code that runs for a sample. The program may have left the thread in a state in which
 * compiled code cannot run: alignment checks (EFLAGS.AC), another FS base, little stack. All
 * functions are signal-safe. Test: tests/cli/sacred/sacred_state.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_SAMPLE_ENTRY_H
#define HPCRUN_LITE_RUNTIME_SAMPLE_ENTRY_H

#include <signal.h>
#include <stdbool.h>

struct thread;

/* The handler that the kernel calls. Calls sample_on_signal() if that can run. */
void sample_entry(int sig, siginfo_t *info, void *context);
void sample_on_signal(int sig, siginfo_t *info, void *context);

/*
 * Calls fn(argument), on the thread's own stack for handlers if the current stack has little room.
 */
void sample_entry_give_room(const struct thread *t, void (*fn)(void *), void *argument);

/* Once per process. `is_split`: the program has split stacks. Not signal-safe. */
void sample_entry_start(bool is_split);
/* At the start and the end of a measured thread, in the thread. */
void sample_entry_begin(struct thread *t);
void sample_entry_end(struct thread *t);
/* At the end of the process: writes notes about what could not be sampled. */
void sample_entry_report(void);

#endif
