/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A child process that shares our memory, for work that no thread of the program should do: reading
 * and writing files, or becoming another program. wait() does not return it to the program unless
 * it passes __WALL, and its end sends no signal. Must not use libc: we may be in a handler. Tests:
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
 * Runs `run` in a child with all signals blocked and waits until it has ended. `run` must end with
 * beside_exit() and may only make system calls; it shares the caller's thread-local variables.
 * `flags` are added to those of clone(2), for example CLONE_FILES. The child keeps our memory
 * alive, so it should ask for a signal at our end (PR_SET_PDEATHSIG). Signal-safe.
 */
enum beside_end beside_run(struct beside *b, void (*run)(void), long flags, uint64_t limit_ms);

/* CPU time of the children that have ended. RUSAGE_CHILDREN includes it. Signal-safe. */
uint64_t beside_cpu_ns(void);

/* In a child: starts another process on `stack`. Returns its id or -errno. */
long beside_spawn(void (*run)(void), uint8_t stack[BESIDE_STACK_BYTES], long flags,
		  _Atomic uint32_t *runs);

/* In a child with its own descriptors: closes all from `first` on. */
void beside_close_from(int first);

_Noreturn void beside_exit(int status);

#endif
