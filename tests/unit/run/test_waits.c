/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of what hpcrun-lite/runtime/waits counts as lost: names beyond the most that are kept,
 * names without space in the file, and the blame of a thread that ends before it has a sample.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/safe/find_object.h"
#include "hpcrun-lite/runtime/code/module.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/runtime/waits/blame.h"
#include "hpcrun-lite/runtime/waits/wait_object.h"
#include "hpcrun-lite/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBJECTS_MOST = 1024, LOCKS_MOST = 512, TID = 7, METRIC = 3, NODE = 11 };

struct process process;
__thread struct thread *thread_self;

static struct thread thread;
static struct msr_thread record;
static uint64_t lost[MSR_LOSS_ROOM];
static uint64_t in_tree;
static bool file_is_full, tree_is_full;

/* ---- fakes ---- */

uint16_t module_of(const struct dl_find_object *found, uintptr_t *bias)
{
	(void)found;
	*bias = 0;
	return 1;
}

void *records_begin(enum msr_kind kind, size_t n_bytes, enum msr_loss *cause)
{
	static uint64_t room[64];
	(void)kind;
	*cause = MSR_LOSS_NO_SPACE;
	memset(room, 0, sizeof room);
	return file_is_full || n_bytes > sizeof room ? NULL : room;
}

void records_end(enum msr_kind kind, size_t n_bytes)
{
	(void)kind;
	(void)n_bytes;
}

void store_count_loss(enum msr_loss cause)
{
	lost[cause]++;
}

struct thread *thread_first(void)
{
	return &thread;
}

void thread_blame(struct thread *t)
{
	(void)t;
}

bool cct_add(struct cct *tree, uint32_t node, uint32_t metric, uint64_t count, uint64_t sum,
	     enum msr_loss *cause)
{
	(void)tree;
	assert_int_equal(node, NODE);
	assert_int_equal(metric, METRIC);
	assert_int_equal(count, 0);
	*cause = MSR_LOSS_NO_SPACE;
	in_tree += tree_is_full ? 0 : sum;
	return !tree_is_full;
}

/* ---- tests ---- */

static int setup(void **state)
{
	static int tree;
	(void)state;
	memset(lost, 0, sizeof lost);
	process.has_offcpu = true;
	wait_object_forked();
	process.blame_metric = METRIC;
	thread = (struct thread){.tid = TID, .state = THREAD_ALIVE, .record = &record};
	thread.cct = (struct cct *)&tree; /* not looked at */
	record = (struct msr_thread){0};
	file_is_full = tree_is_full = false;
	in_tree = 0;
	return 0;
}

static char locks[LOCKS_MOST + 3];

static uint32_t name_of_lock(uint32_t i)
{
	return wait_object_of(SOURCE_OBJECT_LOCK, (uintptr_t)&locks[i]);
}

/* The most locks, and then files: no lock takes the name of a file. */
static void names_beyond_the_most(void **state)
{
	char path[64] = "/tmp/waits.XXXXXX", other[64];
	(void)state;
	for (uint32_t i = 0; i < LOCKS_MOST; i++)
		assert_int_equal(name_of_lock(i), i + 1);
	assert_int_equal(lost[MSR_LOSS_WAIT_OBJECT], 0);
	for (uint32_t i = LOCKS_MOST; i < sizeof locks; i++)
		assert_int_equal(name_of_lock(i), 0);
	assert_int_equal(name_of_lock(5), 6);
	assert_int_equal(lost[MSR_LOSS_WAIT_OBJECT], 3);
	const int fd = mkstemp(path);
	assert_true(fd >= 0);
	for (uint32_t i = LOCKS_MOST; i < OBJECTS_MOST + 2; i++) {
		assert_int_equal(wait_object_of(SOURCE_OBJECT_DESCRIPTOR, (uint64_t)fd),
				 i < OBJECTS_MOST ? i + 1 : 0);
		snprintf(other, sizeof other, "/tmp/waits.%d.%u", (int)getpid(), i);
		assert_int_equal(rename(path, other), 0);
		memcpy(path, other, sizeof other);
	}
	assert_int_equal(lost[MSR_LOSS_WAIT_OBJECT], 5);
	unlink(path);
	close(fd);
}

static void names_without_space(void **state)
{
	(void)state;
	file_is_full = true;
	assert_int_equal(wait_object_of(SOURCE_OBJECT_LOCK, (uintptr_t)locks), 0);
	assert_int_equal(lost[MSR_LOSS_WAIT_OBJECT], 1);
	file_is_full = false;
	assert_int_equal(wait_object_of(SOURCE_OBJECT_LOCK, (uintptr_t)locks), 1);
	assert_int_equal(lost[MSR_LOSS_WAIT_OBJECT], 1);
}

/* What has no name that would be the same in another run is no loss. */
static void no_name(void **state)
{
	char on_stack;
	(void)state;
	assert_int_equal(wait_object_of(SOURCE_OBJECT_LOCK, (uintptr_t)&on_stack), 0);
	assert_int_equal(wait_object_of(SOURCE_OBJECT_DESCRIPTOR, 999), 0);
	assert_int_equal(lost[MSR_LOSS_WAIT_OBJECT], 0);
}

static void blame_with_a_place(void **state)
{
	(void)state;
	thread.blame.node = NODE;
	blame_add(TID, 100, true);
	blame_end(&thread);
	assert_int_equal(in_tree, 100);
	blame_end(&thread); /* nothing is left */
	assert_int_equal(in_tree, 100);
	assert_int_equal(record.losses[MSR_LOSS_BLAME], 0);
}

static void blame_without_a_place(void **state)
{
	(void)state;
	blame_end(&thread); /* nobody waited for it */
	assert_int_equal(record.losses[MSR_LOSS_BLAME], 0);
	blame_add(TID, 100, true);
	blame_end(&thread);
	assert_int_equal(in_tree, 0);
	assert_int_equal(record.losses[MSR_LOSS_BLAME], 1);
	thread.blame.node = NODE;
	tree_is_full = true;
	blame_add(TID, 100, true);
	blame_end(&thread);
	assert_int_equal(record.losses[MSR_LOSS_BLAME], 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_beyond_the_most, setup),
		cmocka_unit_test_setup(names_without_space, setup),
		cmocka_unit_test_setup(no_name, setup),
		cmocka_unit_test_setup(blame_with_a_place, setup),
		cmocka_unit_test_setup(blame_without_a_place, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
