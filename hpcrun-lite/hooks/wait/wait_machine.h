/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What restarting a system call needs to know about the processor, beyond common/machine. A context
 * can carry a mark from one signal to the next, in a register that the call keeps or overwrites.
 * Each processor has a folder. Signal-safe. Tests:
 * tests/cli/sacred/sacred_wait.sh, tests/cli/sacred/sacred_cancel.sh.
 */
#ifndef HPCRUN_LITE_HOOKS_WAIT_WAIT_MACHINE_H
#define HPCRUN_LITE_HOOKS_WAIT_WAIT_MACHINE_H

#include "common/safe/sys.h"

enum { NO_CALL = -1, UNKNOWN_CALL = -2 };

/*
 * Returns the number of the system call that ends at `pc`, by the code or by a register that the
 * call keeps. NO_CALL: no system call is there. UNKNOWN_CALL: nothing shows the number.
 */
long wait_number_in_code(const ucontext_t *context, uintptr_t pc);

/*
 * Finds argument 0 of that call. Returns false if the call has overwritten it and the code does not
 * show where else it is.
 */
bool wait_first_in_code(const ucontext_t *context, uintptr_t pc, long *first);

enum wait_mark {
	WAIT_NOT_MARKED,
	WAIT_RESTARTED,  /* we restarted the call at the pc */
	WAIT_INTERRUPTED /* a handler of the program interrupted the call before the pc */
};
enum wait_mark wait_mark_of(const ucontext_t *context);
void wait_set_mark(ucontext_t *context, enum wait_mark mark);

/*
 * Marks a call that we restart, so that it is known if it is interrupted again. wait_take_same()
 * says whether the call has this mark, and removes it.
 */
void wait_set_same(ucontext_t *context);
bool wait_take_same(ucontext_t *context);

#endif
