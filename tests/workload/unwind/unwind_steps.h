/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the judge (unwind_steps.c) and the code it steps through (unwind_code.c,
 * unwind_code_cxx.cc). */
#ifndef TESTS_WORKLOAD_UNWIND_STEPS_H
#define TESTS_WORKLOAD_UNWIND_STEPS_H

#include <stddef.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

struct steps_case {
	const char *name;
	void (*run)(void);
	/* steps through code that holds the loader's lock: libunwind would wait for it for ever */
	int in_loader;
};

/* All cases of a file; ended by a NULL name. */
extern const struct steps_case code_cases[];
extern const struct steps_case code_cxx_cases[];

/* At the start of a signal handler of the tested code: goes on stepping in it. Outside of the
 * tested code's frames. */
void steps_in_handler(const ucontext_t *interrupted);

/* Tells the judge of a further stack. `linked`: a signal stack, whose frames continue on the main
 * stack. */
void steps_add_stack(const void *lo, size_t n_bytes, int linked);

/* Around dlclose. */
void steps_unloading(int begins);

/* Switches stepping on or off: the judge's handler toggles the trap flag at a breakpoint. */
#define STEPS_TOGGLE() __asm__ volatile("int3" ::: "memory")

#ifdef __cplusplus
}
#endif
#endif
