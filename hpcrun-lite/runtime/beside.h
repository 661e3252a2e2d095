/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child process that shares our memory, for work that no thread of the program does: it reads and
 * writes files, or becomes another program. Other threads of the program do not see it in wait(),
 * only with __WALL, and its end sends no signal. Must not use libc: we may be in a handler. Tests:
 * tests/cli/storage/storage_local.sh, tests/cli/run/run_gone.sh.
 */
#ifndef HPCRUN_LITE_RUNTIME_BESIDE_H
#define HPCRUN_LITE_RUNTIME_BESIDE_H

#include <stdatomic.h>
#include <stdint.h>

#define BESIDE_STACK_BYTES 8192u

/* One for each child that may run. Zero it first. */
struct beside {
	_Atomic uint32_t runs; /* the kernel clears it when the child has ended */
	_Alignas(16) uint8_t stack[BESIDE_STACK_BYTES];
};

enum beside_end {
	BESIDE_ENDED,
	BESIDE_LATE,  /* it took too long and was killed */
	BESIDE_STAYS, /* the same, but it has not ended yet: *b must never be used again */
	BESIDE_FAILED /* no process could be made */
};

/*
 * Runs `run` in a child with all signals blocked and waits until it has ended. It must leave with
 * beside_exit(), and only make system calls; thread-local variables are ours. `flags` are further
 * ones for clone(2), as CLONE_FILES. It holds our memory, so it should ask for a
 * signal at our end (PR_SET_PDEATHSIG). Signal-safe.
 */
enum beside_end beside_run(struct beside *b, void (*run)(void), long flags, uint64_t limit_ms);

/* CPU time of such children that have ended, which RUSAGE_CHILDREN has, too. Signal-safe. */
uint64_t beside_cpu_ns(void);

/* In a child: makes a further process on `stack`. Returns its id or -errno. */
long beside_spawn(void (*run)(void), uint8_t stack[BESIDE_STACK_BYTES], long flags,
		  _Atomic uint32_t *runs);

/* In a child with descriptors of its own: closes all from `first` on. */
void beside_close_from(int first);

_Noreturn void beside_exit(int status);

#endif
