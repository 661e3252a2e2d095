/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/attribute/merge/forward_paths.c and what merge does with it: where frames
 * MSR_FORWARD lead, and that damaged ones lead nowhere.
 */
#include "tests/unit/prof/prof_fixture.h"

#include "hpcprof-lite/attribute/merge/forward_paths.h"
#include "hpcprof-lite/attribute/merge/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum module { NONE, APP, TORCH, PYTHON, INTERPRETER, N_MODULES };

struct run {
	char *directory;
	struct gen *g;
	struct load_job job;
	struct forward_paths forward;
	struct merge_tree tree;
};

static void begin(struct run *r)
{
	static const char *const paths[N_MODULES] = {[APP] = "/bin/app",
						     [TORCH] = "/x/libtorch_cpu.so.1",
						     [PYTHON] = "<python>",
						     [INTERPRETER] = "/usr/bin/python3.11"};
	*r = (struct run){.directory = fixture_directory()};
	r->g = gen_open(r->directory, &(struct gen_process){.pid = 1, .rank = -1});
	for (unsigned i = 1; i < N_MODULES; i++) {
		const uint8_t id[2] = {0xb0, (uint8_t)i};
		assert_int_equal(gen_module(r->g, paths[i], id, sizeof id,
					    i == PYTHON ? MSR_MODULE_PYTHON : 0),
				 i);
	}
}

static uint32_t add(struct run *r, uint32_t thread, uint32_t above, enum module module,
		    uint64_t link_addr)
{
	return gen_child(r->g, thread, above, msr_addr_make((uint16_t)module, link_addr, false));
}

static uint32_t add_forward(struct run *r, uint32_t thread, uint32_t above, uint32_t to_thread,
			    uint32_t to_node)
{
	return gen_child(r->g, thread, above, msr_forward_make(to_thread, to_node));
}

/* Merges all threads, the last first: the order must not matter. */
static void merge(struct run *r, bool follows)
{
	static const uint32_t module_of[N_MODULES] = {0, APP, TORCH, PYTHON, INTERPRETER};
	free(gen_close(r->g, MSR_EXIT_RETURN, 0));
	assert_int_equal(load_job_open(&r->directory, 1, 1, &r->job), STATUS_OK);
	struct load_file *f = &r->job.files.at[0];
	assert_true(f->has_forward);
	assert_int_equal(f->bytes_damaged, 0);
	assert_true(forward_paths_find(&r->forward, f));
	assert_true(merge_init(&r->tree));
	for (size_t i = f->threads.n; i-- > 0;)
		assert_true(merge_thread(
			&r->tree, &f->threads.at[i], module_of,
			&(struct merge_names){.forward = follows ? &r->forward : NULL}));
}

static void clean(struct run *r)
{
	forward_paths_free(&r->forward);
	merge_free(&r->tree);
	load_job_close(&r->job);
	fixture_remove(r->directory);
}

/* "app.1 backward app.2": the path of a merged node, outermost first, without the entry. */
static void assert_merged(const struct run *r, uint32_t at, const char *expected)
{
	static const char *const names[N_MODULES] = {"", "app", "torch", "line", "interpreter"};
	char text[1024] = "", whole[1024] = "", one[64];
	for (; at; at = r->tree.nodes.at[at].parent) {
		const struct merge_node *n = &r->tree.nodes.at[at];
		if (n->module == MERGE_NO_MODULE)
			continue;
		if (n->module == MERGE_BACKWARD)
			snprintf(one, sizeof one, "backward");
		else
			snprintf(one, sizeof one, "%s.%llu", names[n->module],
				 (unsigned long long)n->link_addr);
		snprintf(whole, sizeof whole, "%s%s%s", one, *text ? " " : "", text);
		memcpy(text, whole, sizeof text);
	}
	assert_string_equal(text, expected);
}

/* ... of a node of the file. */
static void assert_path(const struct run *r, uint32_t thread, uint32_t node, const char *expected)
{
	assert_merged(r, r->job.files.at[0].threads.at[thread].node_to[node], expected);
}

/* ... as time lines show it. */
static void assert_shown(const struct run *r, uint32_t thread, uint32_t node, const char *expected)
{
	assert_non_null(r->job.files.at[0].threads.at[thread].shown_to);
	assert_merged(r, r->job.files.at[0].threads.at[thread].shown_to[node], expected);
}

static void backward_is_below_the_line(void **state)
{
	struct run r;
	(void)state;
	begin(&r);
	const uint32_t a = gen_thread(r.g, "a"), b = gen_thread(r.g, "b");
	uint32_t n = add(&r, a, gen_entry(r.g, a, MSR_ENTRY_MAIN), APP, 1);
	n = add(&r, a, n, APP, 2);
	const uint32_t made = add(&r, a, add(&r, a, n, TORCH, 3), TORCH, 4);
	n = add(&r, b, gen_entry(r.g, b, MSR_ENTRY_THREAD), TORCH, 5);
	const uint32_t frame = add_forward(&r, b, n, a, made), in = add(&r, b, frame, APP, 6);
	merge(&r, true);
	assert_path(&r, b, n, "torch.5");
	assert_path(&r, b, frame, "app.1 app.2 backward");
	assert_path(&r, b, in, "app.1 app.2 backward app.6");
	assert_path(&r, a, made, "app.1 app.2 torch.3 torch.4");
	clean(&r);
}

static void time_lines_show_the_thread(void **state)
{
	struct run r;
	(void)state;
	begin(&r);
	const uint32_t cpu = gen_metric(r.g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
		       a = gen_thread(r.g, "a"), b = gen_thread(r.g, "b");
	uint32_t n = add(&r, a, gen_entry(r.g, a, MSR_ENTRY_MAIN), APP, 1);
	const uint32_t made = add(&r, a, n, TORCH, 3);
	n = add(&r, b, gen_entry(r.g, b, MSR_ENTRY_THREAD), TORCH, 5);
	const uint32_t before = add(&r, b, n, APP, 4), frame = add_forward(&r, b, n, a, made),
		       in = add(&r, b, frame, APP, 6),
		       again = add_forward(&r, b, in, a, made), inner = add(&r, b, again, APP, 7),
		       nowhere = add(&r, b, add_forward(&r, b, in, 77, 1), APP, 8);
	gen_sample(r.g, b, in, cpu, 1000, 1);
	gen_sample(r.g, a, made, cpu, 1000, 1);
	merge(&r, true);
	assert_path(&r, b, in, "app.1 backward app.6");
	assert_shown(&r, b, in, "torch.5 app.6");
	assert_shown(&r, b, frame, "torch.5");
	assert_shown(&r, b, before, "torch.5 app.4");
	assert_shown(&r, b, inner, "torch.5 app.6 app.7");
	assert_shown(&r, b, nowhere, "torch.5 app.6 app.8");
	assert_null(r.job.files.at[0].threads.at[a].shown_to);
	clean(&r);
}

/* hpcprof-lite --internals */
static void frames_can_be_left_out(void **state)
{
	struct run r;
	(void)state;
	begin(&r);
	const uint32_t a = gen_thread(r.g, "a");
	uint32_t n = add(&r, a, gen_entry(r.g, a, MSR_ENTRY_MAIN), APP, 1);
	const uint32_t frame = add_forward(&r, a, n, a, n), in = add(&r, a, frame, APP, 6);
	merge(&r, false);
	assert_path(&r, a, in, "app.1 app.6");
	clean(&r);
}

static void the_line_is_of_python(void **state)
{
	struct run r;
	(void)state;
	begin(&r);
	const uint32_t a = gen_thread(r.g, "a");
	const uint32_t entry = gen_entry(r.g, a, MSR_ENTRY_MAIN);
	uint32_t n = add(&r, a, entry, INTERPRETER, 1);
	n = add(&r, a, n, PYTHON, 0);
	n = add(&r, a, n, INTERPRETER, 2);
	const uint32_t direct = add(&r, a, n, TORCH, 3);
	/* an extension in C++ calls PyTorch */
	const uint32_t extension = add(&r, a, add(&r, a, n, APP, 7), TORCH, 3);
	/* an interpreter without frames of Python */
	const uint32_t native = add(&r, a, add(&r, a, entry, INTERPRETER, 8), TORCH, 3);
	const uint32_t x = add_forward(&r, a, n, a, direct),
		       y = add_forward(&r, a, n, a, extension),
		       z = add_forward(&r, a, n, a, native);
	merge(&r, true);
	assert_path(&r, a, x, "interpreter.1 line.0 backward");
	assert_path(&r, a, y, "interpreter.1 line.0 interpreter.2 app.7 backward");
	assert_path(&r, a, z, "interpreter.8 backward");
	clean(&r);
}

/* A node that a backward pass made: a checkpoint, or the derivative of a derivative. */
static void paths_continue_others(void **state)
{
	struct run r;
	(void)state;
	begin(&r);
	const uint32_t a = gen_thread(r.g, "a"), b = gen_thread(r.g, "b");
	const uint32_t first = add(&r, a, gen_entry(r.g, a, MSR_ENTRY_MAIN), APP, 1);
	uint32_t n = add(&r, b, gen_entry(r.g, b, MSR_ENTRY_THREAD), TORCH, 5);
	const uint32_t in_first = add_forward(&r, b, n, a, first);
	const uint32_t second = add(&r, b, add(&r, b, in_first, APP, 2), TORCH, 6),
		       derivative = add(&r, b, in_first, TORCH, 7);
	const uint32_t in_second = add_forward(&r, b, n, b, second),
		       in_derivative = add_forward(&r, b, n, b, derivative);
	/* the innermost frame counts */
	const uint32_t both = add_forward(&r, b, add(&r, b, in_second, APP, 3), a, first);
	merge(&r, true);
	assert_path(&r, b, in_second, "app.1 backward app.2 backward");
	assert_path(&r, b, in_derivative, "app.1 backward backward");
	assert_path(&r, b, both, "app.1 backward");
	clean(&r);
}

/* They stay where they are. */
static void damaged_frames_lead_nowhere(void **state)
{
	struct run r;
	(void)state;
	begin(&r);
	const uint32_t a = gen_thread(r.g, "a");
	const uint32_t n = add(&r, a, gen_entry(r.g, a, MSR_ENTRY_MAIN), APP, 1);
	const uint32_t thread = add(&r, a, add_forward(&r, a, n, 9, n), APP, 2),
		       node = add(&r, a, add_forward(&r, a, n, a, 1000), APP, 3),
		       root = add(&r, a, add_forward(&r, a, n, a, 0), APP, 4);
	merge(&r, true);
	assert_path(&r, a, thread, "app.1 app.2");
	assert_path(&r, a, node, "app.1 app.3");
	assert_path(&r, a, root, "app.1 app.4");
	clean(&r);
}

static void circles_lead_nowhere(void **state)
{
	struct run r;
	(void)state;
	begin(&r);
	const uint32_t a = gen_thread(r.g, "a");
	const uint32_t n = add(&r, a, gen_entry(r.g, a, MSR_ENTRY_MAIN), APP, 1);
	/* ids of nodes are given in order: n + 1 is the frame itself, then its child */
	const uint32_t self = add_forward(&r, a, n, a, n + 2), in = add(&r, a, self, APP, 2);
	assert_int_equal(in, n + 2);
	const uint32_t one = add_forward(&r, a, n, a, in + 4), in_one = add(&r, a, one, APP, 3),
		       two = add_forward(&r, a, n, a, in_one), in_two = add(&r, a, two, APP, 4);
	assert_int_equal(in_two, in + 4);
	merge(&r, true);
	assert_path(&r, a, in, "app.1 app.2");
	assert_path(&r, a, in_one, "app.1 app.3");
	assert_path(&r, a, in_two, "app.1 app.4");
	clean(&r);
}

static void long_chains_lead_nowhere(void **state)
{
	struct run r;
	uint32_t in[FORWARD_DEPTH_MAX + 1];
	(void)state;
	begin(&r);
	const uint32_t a = gen_thread(r.g, "a");
	const uint32_t n = add(&r, a, gen_entry(r.g, a, MSR_ENTRY_MAIN), APP, 1);
	for (uint32_t i = 0, at = n; i <= FORWARD_DEPTH_MAX; i++)
		in[i] = at = add(&r, a, add_forward(&r, a, n, a, at), APP, 100 + i);
	merge(&r, true);
	assert_path(&r, a, in[1], "app.1 backward app.100 backward app.101");
	assert_path(&r, a, in[FORWARD_DEPTH_MAX], "app.1 app.164");
	const struct merge_tree *t = &r.tree;
	uint32_t depth = 0;
	for (uint32_t at = r.job.files.at[0].threads.at[a].node_to[in[FORWARD_DEPTH_MAX - 1]]; at;
	     at = t->nodes.at[at].parent)
		depth += t->nodes.at[at].module == MERGE_BACKWARD;
	assert_int_equal(depth, FORWARD_DEPTH_MAX);
	clean(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(backward_is_below_the_line),
		cmocka_unit_test(time_lines_show_the_thread),
		cmocka_unit_test(frames_can_be_left_out),
		cmocka_unit_test(the_line_is_of_python),
		cmocka_unit_test(paths_continue_others),
		cmocka_unit_test(damaged_frames_lead_nowhere),
		cmocka_unit_test(circles_lead_nowhere),
		cmocka_unit_test(long_chains_lead_nowhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
