/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of common/safe/find_object and loader: our table finds what glibc's own function finds,
 * also after dlopen and dlclose, in another namespace, and while other threads call these; the
 * loader's counts are those of dl_iterate_phdr. The last test takes STORM_SECONDS.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/find_object.h"
#include "common/safe/loader.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define LIBRARY "libBrokenLocale.so.1" /* of libc, small, and no program has it */

static int (*of_libc)(void *, struct dl_find_object *);

static int start(void **state)
{
	(void)state;
	*(void **)&of_libc = dlsym(RTLD_DEFAULT, "_dl_find_object");
	return 0;
}

/* Both answers for one address. The loader gives a part of an object that has gaps. */
static void check(uintptr_t address)
{
	struct dl_find_object theirs, ours;
	errno = 12345;
	const int found = find_object_in_table((void *)address, &ours);
	assert_int_equal(errno, 12345);
	if (!of_libc) {
		Dl_info info;
		assert_int_equal(found == 0, dladdr((void *)address, &info) != 0);
		return;
	}
	assert_int_equal(found, of_libc((void *)address, &theirs));
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
	assert_in_range(n, 9, 1000); /* aarch64 has two for an object, and one for the vDSO */
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
		assert_int_equal(find_object_in_table((void *)base, &found), 0);
		check(base);
		assert_int_equal(dlclose(library), 0);
		check(base);
	}
}

static int take_counts(struct dl_phdr_info *info, size_t size, void *to)
{
	(void)size;
	memcpy(to, info, sizeof *info);
	return 1;
}

static void counts(void **state)
{
	struct dl_phdr_info info;
	(void)state;
	find_object_start();
	assert_true(loader_has_counts());
	for (int i = 0; i < 3; i++) {
		void *library = i ? dlopen(LIBRARY, RTLD_NOW) : NULL;
		assert_int_equal(dl_iterate_phdr(take_counts, &info), 1);
		const struct loader_state now = loader_now();
		assert_true(loader_is_quiet(&now));
		assert_int_equal(now.n_added, info.dlpi_adds);
		assert_int_equal(loader_n_removed(&now), info.dlpi_subs);
		if (library)
			dlclose(library);
	}
}

/* Libraries of two namespaces, and the loader that both have. */
static void in_another_namespace(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		void *library = dlmopen(LM_ID_NEWLM, LIBRARY, RTLD_NOW);
		if (!library)
			skip();
		const uintptr_t base = base_of(library);
		struct dl_find_object found;
		assert_int_equal(find_object_in_table((void *)base, &found), 0);
		assert_ptr_equal(found.dlfo_link_map, library);
		check(base);
		all_objects(state);
		assert_int_equal(dlclose(library), 0);
		assert_int_equal(find_object_in_table((void *)base, &found), -1);
	}
	all_objects(state);
}

/* ---- while others load and unload ---- */

enum { N_OPENERS = 4 };

static atomic_bool is_done;
/* Two libraries of one size, each of which may get the place of the other. */
static char twin[2][PATH_MAX];

static void find_twins(void)
{
	const char *top = getenv("top_builddir");
	for (unsigned i = 0; i < 2; i++)
		snprintf(twin[i], sizeof twin[i], "%s/tests/workload/run/.libs/run_noid%u.so",
			 top ? top : ".", i + 1);
}

static void *open_and_close(void *number)
{
	for (unsigned i = (unsigned)(uintptr_t)number; !atomic_load(&is_done); i++) {
		void *library = dlopen(i % 3 ? twin[i % 3 - 1] : LIBRARY, RTLD_NOW);
		if (library)
			dlclose(library);
	}
	return NULL;
}

struct hits {
	unsigned n_sure, n_moving, n_absent, n_wrong;
};

/* Finds an address of a library that this thread keeps open from the first to the second time. */
static void hit(struct hits *h, void *address, const void *map)
{
	struct dl_find_object found;
	const int answer = find_object_in_table(address, &found);
	if (answer == FIND_OBJECT_MOVES)
		h->n_moving++;
	else if (answer == 0 && found.dlfo_link_map == map)
		h->n_sure++;
	else
		h->n_wrong++;
}

static struct hits in_handler;
static void *volatile in_handler_address;
static const void *volatile in_handler_map;

static void on_tick(int signal)
{
	(void)signal;
	const int error = errno;
	if (in_handler_address)
		hit(&in_handler, in_handler_address, (const void *)in_handler_map);
	errno = error;
}

static void tick_every(long us)
{
	const struct itimerval every = {{0, us}, {0, us}};
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

/* Opens one of the libraries, looks at it, and closes it, under a signal every 100 us. */
static void look(struct hits *h, unsigned i)
{
	struct dl_find_object found;
	void *library = dlopen(i % 3 ? twin[i % 3 - 1] : LIBRARY, RTLD_NOW);
	struct link_map *map;
	assert_non_null(library);
	assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
	in_handler_map = map;
	atomic_signal_fence(memory_order_seq_cst);
	in_handler_address = (void *)map->l_ld;
	for (unsigned k = 0; k < 50; k++)
		hit(h, map->l_ld, map);
	in_handler_address = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	const uintptr_t base = map->l_addr;
	dlclose(library);
	/* What is elsewhere changes; it must only not crash. */
	h->n_absent += find_object_in_table((void *)base, &found) != 0;
	/* This program is always there. */
	h->n_wrong += find_object_in_table((void *)(uintptr_t)look, &found) != 0 &&
		      find_object_in_table((void *)(uintptr_t)look, &found) < 0;
}

static void while_others_open(void **state)
{
	pthread_t thread[N_OPENERS];
	struct hits h = {0};
	struct timespec from, now;
	const char *wanted = getenv("STORM_SECONDS");
	const int seconds = wanted ? atoi(wanted) : getenv("THOROUGH") ? 60 : 2;
	(void)state;
	find_twins();
	signal(SIGALRM, on_tick);
	tick_every(100);
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (uintptr_t i = 0; i < N_OPENERS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, open_and_close, (void *)i), 0);
	unsigned i = 0;
	do {
		look(&h, i++);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - from.tv_sec < seconds);
	tick_every(0);
	atomic_store(&is_done, true);
	for (i = 0; i < N_OPENERS; i++)
		pthread_join(thread[i], NULL);
	print_message("# sure %u, in transit %u; in handlers %u, %u\n", h.n_sure, h.n_moving,
		      in_handler.n_sure, in_handler.n_moving);
	assert_int_equal(h.n_wrong, 0);
	assert_int_equal(in_handler.n_wrong, 0);
	assert_true(h.n_sure > h.n_moving);
	all_objects(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_objects),
		cmocka_unit_test(opened_and_closed),
		cmocka_unit_test(counts),
		cmocka_unit_test(in_another_namespace),
		cmocka_unit_test(while_others_open),
	};
	return cmocka_run_group_tests(tests, start, NULL);
}
