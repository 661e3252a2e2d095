/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/merge: equal paths of different threads, processes and binaries
 * meet; different ones do not. */
#include "hpcprof-lite/attribute/merge/merge.h"
#include "tests/unit/prof/prof_fixture.h"

#include <stdlib.h>
#include <string.h>

static const struct merge_names no_names;

static const uint8_t id_a[2] = {1, 1}, id_b[2] = {2, 2};

struct fixture {
	char *directory;
	struct load_job job;
};

/* Two processes: the second loads the library first, and from another path. */
static void make(struct fixture *x)
{
	x->directory = fixture_directory();
	for (uint32_t p = 0; p < 2; p++) {
		struct gen *g = gen_open(x->directory,
					 &(struct gen_process){.pid = 10 + p, .rank = (int32_t)p});
		uint16_t app, lib;
		if (p == 0)
			app = gen_module(g, "/bin/app", id_a, 2, 0),
			lib = gen_module(g, "/lib/b.so", id_b, 2, 0);
		else
			lib = gen_module(g, "/elsewhere/b.so", id_b, 2, 0),
			app = gen_module(g, "/bin/app", id_a, 2, 0);
		uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
			 t = gen_thread(g, "t");
		uint32_t n = gen_entry(g, t, MSR_ENTRY_MAIN);
		n = gen_child(g, t, n, msr_addr_make(app, 0x10, false));
		n = gen_child(g, t, n, msr_addr_make(lib, 0x20, false));
		gen_sample(g, t, n, metric, 10, 1);
		n = gen_child(g, t, n, msr_addr_make(lib, 0x30 + p, false)); /* here they part */
		gen_sample(g, t, n, metric, 20, 1);
		gen_child(g, t, n, msr_addr_make(MSR_MODULE_UNKNOWN, 0x77, true));
		free(gen_close(g, MSR_EXIT_RETURN, 0));
	}
	assert_int_equal(load_job_open(&x->directory, 1, 1, &x->job), STATUS_OK);
}

static void unmake(struct fixture *x)
{
	load_job_close(&x->job);
	fixture_remove(x->directory);
}

static void unify(const struct fixture *x, struct merge_modules *all, uint32_t module_of[2][4])
{
	for (int p = 0; p < 2; p++)
		for (size_t i = 1; i < x->job.files.at[p].modules.n; i++)
			module_of[p][i] = merge_add_module(all, &x->job.files.at[p].modules.at[i]);
}

static void test_modules_by_build_id(void **state)
{
	(void)state;
	struct fixture x = {0};
	struct merge_modules all = {0};
	uint32_t module_of[2][4] = {{0}};
	make(&x);
	unify(&x, &all, module_of);
	assert_int_equal(all.list.n, 2);
	assert_int_equal(module_of[0][1], module_of[1][2]);
	assert_int_equal(module_of[0][2], module_of[1][1]);
	assert_string_equal(all.list.at[module_of[0][2]].path,
			    "/elsewhere/b.so"); /* the first in order */
	merge_free_modules(&all);
	unmake(&x);
}

static void test_modules_without_build_id(void **state)
{
	(void)state;
	struct merge_modules all = {0};
	struct msr_module a = {.file_bytes = 10}, b = {.file_bytes = 11};
	uint32_t first = merge_add_module(&all, &(struct load_module){&a, "/x"});
	assert_int_equal(merge_add_module(&all, &(struct load_module){&a, "/x"}), first);
	assert_int_not_equal(merge_add_module(&all, &(struct load_module){&b, "/x"}), first);
	assert_int_not_equal(merge_add_module(&all, &(struct load_module){&a, "/y"}), first);
	assert_int_equal(all.list.n, 3);
	struct {
		struct msr_module record;
		char path[8];
		uint64_t content;
	} c = {{.bytes = sizeof c, .path_bytes = 3, .file_bytes = 10}, "/x", 4};
	assert_int_not_equal(merge_add_module(&all, &(struct load_module){&c.record, "/x"}), first);
	assert_int_equal(all.list.n, 4);
	merge_free_modules(&all);
}

static void test_equal_paths_meet(void **state)
{
	(void)state;
	struct fixture x = {0};
	struct merge_modules all = {0};
	struct merge_tree tree = {0};
	uint32_t module_of[2][4] = {{0}};
	make(&x);
	unify(&x, &all, module_of);
	assert_true(merge_init(&tree));
	struct load_thread *a = &x.job.files.at[0].threads.at[0],
			   *b = &x.job.files.at[1].threads.at[0];
	assert_true(merge_thread(&tree, a, module_of[0], &no_names));
	assert_int_equal(tree.nodes.n, 6);
	assert_true(merge_thread(&tree, b, module_of[1], &no_names));
	assert_int_equal(tree.nodes.n, 8); /* root, entry, app, lib, then two for each */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(a->node_to[i], b->node_to[i]);
	assert_int_not_equal(a->node_to[4], b->node_to[4]);
	assert_int_equal(tree.nodes.at[b->node_to[5]].module, MERGE_UNKNOWN);
	assert_true(tree.nodes.at[b->node_to[5]].marked);
	merge_free(&tree);
	merge_free_modules(&all);
	unmake(&x);
}

/* A frame that was guessed is not the frame that is known. */
static void test_marked_frames_stay_apart(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 1, .rank = -1});
	uint16_t app = gen_module(g, "/bin/app", id_a, 2, 0);
	uint32_t t = gen_thread(g, "t"), entry = gen_entry(g, t, MSR_ENTRY_MAIN);
	gen_child(g, t, entry, msr_addr_make(app, 0x10, false));
	gen_child(g, t, entry, msr_addr_make(app, 0x10, true));
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct load_job job = {0};
	struct merge_tree tree = {0};
	static const uint32_t module_of[2] = {0, 0};
	assert_int_equal(load_job_open(&directory, 1, 1, &job), STATUS_OK);
	assert_true(merge_init(&tree));
	assert_true(merge_thread(&tree, &job.files.at[0].threads.at[0], module_of, &no_names));
	assert_int_equal(tree.nodes.n, 4);
	assert_true(!tree.nodes.at[2].marked && tree.nodes.at[3].marked);
	merge_free(&tree);
	load_job_close(&job);
	fixture_remove(directory);
}

static void test_trees_join_as_threads_do(void **state)
{
	(void)state;
	struct fixture x = {0};
	struct merge_modules all = {0};
	struct merge_tree one = {0}, two = {0};
	uint32_t module_of[2][4] = {{0}}, to[16];
	make(&x);
	unify(&x, &all, module_of);
	assert_true(merge_init(&one) && merge_init(&two));
	assert_true(merge_thread(&one, &x.job.files.at[0].threads.at[0], module_of[0], &no_names));
	assert_true(merge_thread(&two, &x.job.files.at[1].threads.at[0], module_of[1], &no_names));
	assert_true(merge_trees(&one, &two, to));
	assert_int_equal(one.nodes.n, 8);
	for (uint32_t i = 1; i < two.nodes.n; i++) {
		const struct merge_node *from = &two.nodes.at[i], *in = &one.nodes.at[to[i]];
		assert_true(from->module == in->module && from->link_addr == in->link_addr &&
			    from->marked == in->marked);
		assert_int_equal(in->parent, to[from->parent]);
	}
	merge_free(&one);
	merge_free(&two);
	merge_free_modules(&all);
	unmake(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules_by_build_id),
		cmocka_unit_test(test_modules_without_build_id),
		cmocka_unit_test(test_equal_paths_meet),
		cmocka_unit_test(test_marked_frames_stay_apart),
		cmocka_unit_test(test_trees_join_as_threads_do),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
