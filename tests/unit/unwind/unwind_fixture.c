/* SPDX-License-Identifier: BSD-3-Clause */
/* See unwind_fixture.h. */
#include "tests/unit/unwind/unwind_fixture.h"

#include "common/safe/find_object.h"

#include <pthread.h>
#include <stdlib.h>

struct unwind_thread *thread;
struct unwind_path path;
struct unwind_stack stack;
volatile unsigned sink;

uint16_t one_module(const struct dl_find_object *object, uintptr_t *bias)
{
	(void)object;
	*bias = 0;
	return 1;
}

uint64_t pc_of(uint64_t addr)
{
	return addr & UNWIND_ADDR_LINK_MASK;
}

void new_thread(unsigned max_depth)
{
	free(thread);
	thread = unwind_thread_init(calloc(1, unwind_thread_bytes(max_depth)), max_depth, &stack);
}

unsigned count_tested(void)
{
	unsigned n = 0;
	for (unsigned i = 0; i < path.n; i++)
		n += pc_of(path.addr[i]) >= (uint64_t)__start_tested &&
		     pc_of(path.addr[i]) < (uint64_t)__stop_tested;
	return n;
}

TESTED unsigned recurse(unsigned n)
{
	if (n == 0) {
		walk_here();
		return 1;
	}
	sink = recurse(n - 1);
	return sink + 1;
}

struct unwind_stack own_stack(bool grows)
{
	pthread_attr_t attr;
	void *lo;
	size_t bytes;
	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &lo, &bytes);
	pthread_attr_destroy(&attr);
	return (struct unwind_stack){(uintptr_t)lo, (uintptr_t)lo + bytes, grows, 0};
}

int set_up(void **state)
{
	(void)state;
	stack = own_stack(true);
	unwind_init(&(struct unwind_config){.module_of = one_module});
	return 0;
}
