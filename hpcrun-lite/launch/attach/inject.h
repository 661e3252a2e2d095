/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads our library into a process, and calls its functions there. See doc/attach.md.
 */
#ifndef HPCRUN_LITE_LAUNCH_ATTACH_INJECT_H
#define HPCRUN_LITE_LAUNCH_ATTACH_INJECT_H

#include "hpcrun-lite/config/attach.h"
#include "hpcrun-lite/launch/attach/target.h"

/* ns for which a thread of the process was stopped, all together. */
extern uint64_t inject_stopped_ns;

/* Begins the measurement. Logs why not. The library is loaded first, if it is not there. */
enum status inject_attach(const struct target *t, const char *library, const char *config,
			  struct attach_answer *answer);
/* Ends it. */
enum status inject_detach(const struct target *t, struct attach_answer *answer);
/*
 * Asks a thread to join; `join` as in the answer. *was_blocked: we have unblocked our signal for
 * it, now or when it was asked before. Returns false if it cannot be asked now: it is stopped, or
 * has our signal blocked and does not stop for us.
 */
bool inject_join(const struct target *t, pid_t tid, uint64_t join, bool *was_blocked);
/*
 * Waits until the thread has taken the signal that asked it, two seconds at most. Later the signal
 * would be the program's.
 */
void inject_await(const struct target *t, pid_t tid);

#endif
