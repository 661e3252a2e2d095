/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of common/safe/find_object: it finds what the loader's own _dl_find_object finds, also
 * after dlopen and dlclose and while another thread calls these.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/find_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libBrokenLocale.so.1" /* of libc, small, and no program has it */

extern struct r_debug _r_debug;

static int start_with(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	find_object_start(&_r_debug, info->dlpi_phdr, info->dlpi_phnum);
	return 1;
}

static int start(void **state)
{
	(void)state;
	return dl_iterate_phdr(start_with, NULL) != 1;
}

/* Both answers for one address. The loader gives a part of an object that has gaps. */
static void check(uintptr_t address)
{
	struct dl_find_object theirs, ours;
	errno = 12345;
	const int found = _dl_find_object((void *)address, &theirs);
	assert_int_equal(find_object((void *)address, &ours), found);
	assert_int_equal(errno, 12345);
	if (found != 0)
		return;
	assert_ptr_equal(ours.dlfo_link_map, theirs.dlfo_link_map);
	assert_ptr_equal(ours.dlfo_eh_frame, theirs.dlfo_eh_frame);
	assert_in_range((uintptr_t)theirs.dlfo_map_start, (uintptr_t)ours.dlfo_map_start,
			(uintptr_t)ours.dlfo_map_end);
	assert_true(address < (uintptr_t)ours.dlfo_map_end);
}

static int check_segments(struct dl_phdr_info *info, size_t size, void *n)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const uintptr_t lo = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		check(lo);
		check(lo + info->dlpi_phdr[i].p_memsz - 1);
		++*(unsigned *)n;
	}
	return 0;
}

static void all_objects(void **state)
{
	unsigned n = 0;
	(void)state;
	dl_iterate_phdr(check_segments, &n);
	assert_in_range(n, 10, 1000);
	void *heap = malloc(100);
	check((uintptr_t)heap);
	check((uintptr_t)&n);
	check(0);
	check(UINTPTR_MAX);
	free(heap);
}

static uintptr_t base_of(void *library)
{
	struct link_map *map;
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	return map->l_addr;
}

static void opened_and_closed(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		void *library = dlopen(LIBRARY, RTLD_NOW);
		if (!library)
			skip();
		const uintptr_t base = base_of(library);
		struct dl_find_object found;
		assert_int_equal(find_object((void *)base, &found), 0);
		check(base);
		assert_int_equal(dlclose(library), 0);
		check(base);
	}
}

static atomic_bool is_done;

static void *open_and_close(void *unused)
{
	while (!atomic_load(&is_done)) {
		void *library = dlopen(LIBRARY, RTLD_NOW);
		if (library)
			dlclose(library);
	}
	return unused;
}

static void while_others_open(void **state)
{
	pthread_t thread;
	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, open_and_close, NULL), 0);
	unsigned n_wrong = 0;
	for (int i = 0; i < 3000; i++) {
		struct dl_find_object found;
		/* This program is always there. What is elsewhere changes. */
		n_wrong += find_object((void *)(uintptr_t)open_and_close, &found) != 0;
		find_object((void *)((uintptr_t)pthread_create + (uintptr_t)i * 65536), &found);
	}
	atomic_store(&is_done, true);
	pthread_join(thread, NULL);
	assert_int_equal(n_wrong, 0);
	check((uintptr_t)open_and_close);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_objects),
		cmocka_unit_test(opened_and_closed),
		cmocka_unit_test(while_others_open),
	};
	return cmocka_run_group_tests(tests, start, NULL);
}
