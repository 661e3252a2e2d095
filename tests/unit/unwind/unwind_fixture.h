/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the unwinder as a whole share (test_unwind.c, test_unwind_odd.c): a thread of
 * theirs, the path of the last walk, and functions that are told in it by where they lie. */
#ifndef TESTS_UNIT_UNWIND_FIXTURE_H
#define TESTS_UNIT_UNWIND_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/find_object.h"
#include "hpcrun-lite/unwind/internal.h"

enum { MAX_DEPTH = 64, PAGE = 4096 };

extern struct unwind_thread *thread;
extern struct unwind_path path;
extern struct unwind_stack stack; /* of the main thread */
extern volatile unsigned sink;

/* Functions of the test's own: they lie in a section of their own. */
#ifdef __clang__
#define TESTED __attribute__((noinline, section("tested")))
#else
#define TESTED __attribute__((noinline, noclone, section("tested")))
#endif
extern const char __start_tested[], __stop_tested[];

/* All code is of module 1, at its run-time address. */
uint16_t one_module(const struct dl_find_object *object, uintptr_t *bias);
uint64_t pc_of(uint64_t addr);
/* thread anew, without a previous path. */
void new_thread(unsigned max_depth);
/* How many functions of the test's own are in path. */
unsigned count_tested(void);
/* Its frame is the caller's. */
__attribute__((always_inline)) static inline void walk_here(void)
{
	struct unwind_regs regs;
	unwind_here(&regs);
	unwind_walk_regs(thread, &regs, &path);
}
/* Calls itself n times, then walks. */
unsigned recurse(unsigned n);
/* The calling thread's, by its mapping. */
struct unwind_stack own_stack(bool grows);
/* For the group of tests. */
int set_up(void **state);

#endif
