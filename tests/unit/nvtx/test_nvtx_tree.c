/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/attribute/nvtx/nvtx_tree, and of what the model knows of ranges: where a
 * range is in the tree, and that no time of a function or line changes.
 */
#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/attribute/merge/nvtx_labels.h"
#include "tests/gen/gen_nvtx.h"
#include "tests/unit/prof_gpu/gpu_fixture.h"

#include <stdio.h>

enum { MAIN = 0x1000, F = 0x2000, G = 0x3000, LOOP = 0x4000, PUSH = 0x9000, RANGES_MOST = 16 };

/* Line L of each function is at its entry + 0x10 * L. Lines 40 to 49 of loop_ are in a loop. */
static void write_structure(const char *directory)
{
	static const struct {
		const char *name;
		uint64_t entry;
	} functions[] = {{"main", MAIN}, {"f", F}, {"g", G}, {"loop_", LOOP}, {"push", PUSH}};
	struct gen_structure *s = gen_structure_new("/opt/bin/app", NULL, 0);
	const uint32_t file = gen_structure_file(s, "/src/a.c");
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		const uint64_t entry = functions[i].entry;
		const uint32_t function = gen_structure_function(
			s, gen_structure_definition(s, functions[i].name, file, 1), entry);
		const uint32_t loop =
			entry == LOOP ? gen_structure_loop(s, function, file, 40, entry + 0x280)
				      : function;
		for (uint32_t line = 1; line < 64; line++)
			gen_structure_interval(s, entry + 0x10 * line,
					       line >= 40 && line < 50 ? loop : function, file,
					       line);
		gen_structure_interval(s, entry + 0x400, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	}
	free(gen_structure_close(s, directory));
}

/* A measurement with ranges: one thread. */
struct ranges {
	struct run run;
	uint32_t metric;
	struct msr_nvtx_range at[RANGES_MOST];
	char name[RANGES_MOST][32];
	uint32_t n;
	struct model *m;
};

static void begin(struct ranges *x)
{
	memset(x, 0, sizeof *x);
	run_begin(&x->run);
	x->metric = gen_metric(x->run.g, "CPUTIME", MSR_UNIT_NS, 1000000, MSR_SOURCE_TEST);
}

/* The node of a path "main:10 f:20", in range `range` (-1: none). */
static uint32_t path(struct ranges *x, const char *frames, int range)
{
	uint32_t node = x->run.entry;
	char name[16];
	unsigned line;
	for (int n; sscanf(frames, " %15[a-z_]:%u%n", name, &line, &n) == 2; frames += n) {
		const uint64_t entry = !strcmp(name, "main")    ? MAIN
				       : !strcmp(name, "f")     ? F
				       : !strcmp(name, "g")     ? G
				       : !strcmp(name, "loop_") ? LOOP
								: PUSH;
		node = gen_child(x->run.g, x->run.thread, node,
				 msr_addr_make(x->run.module, entry + 0x10 * line, false));
	}
	return range < 0 ? node : gen_nvtx_inside(x->run.g, x->run.thread, node, (uint32_t)range);
}

/* A range that was pushed at a path, NULL: an unknown one, in range `outer`. Returns its number. */
static int push(struct ranges *x, const char *name, const char *frames, int outer)
{
	const int n = (int)x->n++;
	snprintf(x->name[n], sizeof x->name[n], "%s", name);
	x->at[n] = (struct msr_nvtx_range){.node = frames ? path(x, frames, outer) : 0,
					   .name = 100 - (uint32_t)n, /* not in order */
					   .kind = MSR_NVTX_PUSHED,
					   .n_begun = 1,
					   .n = 1,
					   .ns = 1000000,
					   .least_ns = 1000000,
					   .most_ns = 1000000};
	return n;
}

static void sample(struct ranges *x, const char *frames, int range)
{
	gen_sample(x->run.g, x->run.thread, path(x, frames, range), x->metric, 0, 1000000000);
}

/* Returns the path of the file; the caller frees it. */
static char *write_ranges(struct ranges *x)
{
	char *file = gen_close(x->run.g, MSR_EXIT_RETURN, 0);
	for (uint32_t i = 0; i < x->n; i++)
		gen_nvtx_name(file,
			      (struct msr_nvtx_name){.kind = MSR_NVTX_NAME_RANGE,
						     .id = x->at[i].name},
			      x->name[i]);
	gen_nvtx_ranges(file, x->run.thread, x->at, x->n);
	write_structure(x->run.directory);
	return file;
}

static struct model *load(const struct ranges *x, bool ranges)
{
	fixture_ranges = ranges;
	struct model *m = fixture_model(x->run.directory, 1);
	fixture_ranges = false;
	fixture_check_model(m);
	return m;
}

static void end(struct ranges *x)
{
	free(write_ranges(x));
	x->m = load(x, true);
}

static void clean(struct ranges *x)
{
	run_clean(&x->run, x->m);
}

/* "main 10 <range x> main 11": the names and lines on the way to a context. */
static void put_path(const struct model *m, uint32_t context, char *to, size_t n)
{
	const struct model_context *c = &m->contexts[context];
	char above[512] = "";
	if (c->kind == MODEL_CONTEXT_ROOT || c->kind == MODEL_CONTEXT_ENTRY) {
		to[0] = '\0';
		return;
	}
	put_path(m, c->parent, above, sizeof above);
	if (c->kind == MODEL_CONTEXT_FUNCTION)
		snprintf(to, n, "%s%s%s", above, *above ? " " : "", m->functions[c->function].name);
	else
		snprintf(to, n, "%s%s%u", above, c->kind == MODEL_CONTEXT_LOOP ? " loop " : " ",
			 c->line);
}

/* The only path with samples. */
static void assert_path(struct ranges *x, const char *expected)
{
	char is[512];
	unsigned n = 0;
	end(x);
	for (size_t i = 0; i < x->m->n_totals; i++) {
		const struct model_total *t = &x->m->totals[i];
		if (t->metric != run_metric(x->m, "CPUTIME (sec)") || !t->sum[MODEL_POINT])
			continue;
		put_path(x->m, t->context, is, sizeof is);
		assert_string_equal(is, expected);
		n++;
	}
	assert_int_equal(n, 1);
	clean(x);
}

static void the_range_is_at_the_line_of_its_push(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	sample(&x, "main:10 f:21 g:30", push(&x, "outer", "main:10 f:20 push:1", -1));
	assert_path(&x, "main 10 f 20 <range outer> f 21 g 30");
}

static void the_sample_may_be_at_that_line(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	sample(&x, "main:10 f:20 g:30", push(&x, "outer", "main:10 f:20 push:1", -1));
	assert_path(&x, "main 10 f 20 <range outer> f 20 g 30");
}

static void ranges_of_one_function_follow_each_other(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	const int outer = push(&x, "outer", "main:10 f:20 push:1", -1),
		  inner = push(&x, "inner", "main:10 f:22 push:1", outer);
	sample(&x, "main:10 f:23 g:30", inner);
	assert_path(&x, "main 10 f 20 <range outer> <range inner> f 23 g 30");
}

static void the_path_goes_on_between_ranges(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	const int outer = push(&x, "outer", "main:10 f:20 push:1", -1),
		  inner = push(&x, "inner", "main:10 f:22 g:31 push:1", outer);
	sample(&x, "main:10 f:22 g:32", inner);
	assert_path(&x, "main 10 f 20 <range outer> f 22 g 31 <range inner> g 32");
}

static void a_range_may_outlive_its_function(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	sample(&x, "main:12 g:33", push(&x, "left open", "main:11 f:20 push:1", -1));
	assert_path(&x, "main 11 <range left open> main 12 g 33");
}

static void an_outer_range_is_never_below_an_inner_one(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	const int outer = push(&x, "outer", "main:10 f:20 g:31 push:1", -1),
		  inner = push(&x, "inner", "main:13 push:1", outer);
	sample(&x, "main:10 f:20 g:34", inner);
	assert_path(&x, "main 13 <range outer> <range inner> main 10 f 20 g 34");
}

static void loops_go_on(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	sample(&x, "main:10 loop_:42 g:30", push(&x, "step", "main:10 loop_:41 push:1", -1));
	assert_path(&x, "main 10 loop_ loop 40 41 <range step> loop_ loop 40 42 g 30");
}

static void without_a_path_it_is_at_the_entry(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	sample(&x, "main:10 g:30", push(&x, "somewhere", NULL, -1));
	assert_path(&x, "<range somewhere> main 10 g 30");
}

/* Of all contexts of a function. */
static double own_of(const struct model *m, const char *name)
{
	double sum = 0;
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_context *c = &m->contexts[m->totals[i].context];
		if (c->function < m->n_functions && !strcmp(m->functions[c->function].name, name))
			sum += m->totals[i].sum[MODEL_POINT];
	}
	return sum;
}

static void no_time_of_a_function_changes(void **state)
{
	(void)state;
	static const char *const names[] = {"main", "f", "g", "loop_", "push"};
	struct ranges x;
	begin(&x);
	const int outer = push(&x, "outer", "main:10 f:20 push:1", -1),
		  inner = push(&x, "inner", "main:10 f:22 g:31 push:1", outer);
	sample(&x, "main:10", -1);
	sample(&x, "main:10 f:21", outer);
	sample(&x, "main:10 f:21", outer);
	sample(&x, "main:10 f:22 g:32", inner);
	sample(&x, "main:10 f:22 g:31 push:2", outer);
	end(&x);
	struct model *plain = load(&x, false);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		assert_true(own_of(x.m, names[i]) == own_of(plain, names[i]));
	assert_true(own_of(plain, "f") == 2 && own_of(x.m, "<range outer>") == 0);
	const uint32_t metric = run_metric(x.m, "CPUTIME (sec)"),
		       f = run_find(x.m, 0, "f"), range = run_find(x.m, f, "<range outer>");
	assert_true(model_find_total(x.m, f, metric)->sum[MODEL_EXECUTION] == 4);
	assert_true(model_find_total(x.m, range, metric)->sum[MODEL_EXECUTION] == 4);
	assert_true(x.m->functions[x.m->contexts[range].function].is_range);
	assert_int_equal(run_find(plain, 0, "<range outer>"), MODEL_NONE);
	model_free(plain);
	clean(&x);
}

/* Ranges of two threads in the tree of one, whose nodes have other numbers. */
static void joined_trees_keep_pushes(void **state)
{
	(void)state;
	static const uint32_t module_of[2] = {0, 0};
	struct ranges x[2];
	struct load_job job = {0};
	struct merge_tree trees[2] = {0};
	struct nvtx_labels labels = {0};
	struct strtab strings = {0};
	uint32_t to[64];
	char *directories[2];
	for (int i = 0; i < 2; i++) {
		begin(&x[i]);
		if (i) {
			sample(&x[i], "main:20 g:30", -1);
			push(&x[i], "another", "main:20 push:1", -1);
		}
		const int outer = push(&x[i], "outer", "main:10 f:20 push:1", -1);
		sample(&x[i], "main:10 f:22",
		       push(&x[i], "inner", "main:10 f:21 push:1", outer));
		free(write_ranges(&x[i]));
		directories[i] = x[i].run.directory;
	}
	assert_int_equal(load_job_open(directories, 2, 1, &job), STATUS_OK);
	assert_true(nvtx_labels_unify(&labels, &job, &strings));
	uint32_t node[2];
	for (size_t i = 0; i < 2; i++) {
		struct load_thread *t = &job.files.at[i].threads.at[0];
		assert_true(merge_init(&trees[i]));
		assert_true(merge_thread(
			&trees[i], t, module_of,
			&(struct merge_names){.ranges = nvtx_labels_of_file(&labels, i)}));
		node[i] = t->node_to[t->n_nodes - 1]; /* the last node is the sample's */
		assert_int_equal(trees[i].nodes.at[node[i]].module, MERGE_RANGE);
	}
	assert_true(node[0] != node[1] && trees[1].nodes.n < 64);
	assert_true(merge_trees(&trees[0], &trees[1], to));
	assert_int_equal(to[node[1]], node[0]);
	for (size_t i = 0; i < 2; i++) {
		merge_free(&trees[i]);
		fixture_remove(x[i].run.directory);
	}
	nvtx_labels_free(&labels);
	strtab_free(&strings);
	load_job_close(&job);
}

static void kernels_are_in_the_range_that_launched_them(void **state)
{
	(void)state;
	struct ranges x;
	begin(&x);
	const int outer = push(&x, "outer", "main:10 f:20 push:1", -1),
		  inner = push(&x, "inner", "main:10 f:22 push:1", outer);
	run_kernel(&x.run, path(&x, "main:10 f:23 g:30", inner), 1, 2000, 3000, 5000);
	run_kernel(&x.run, path(&x, "main:10 f:24 g:30", outer), 2, 6000, 6000, 7000);
	run_kernel(&x.run, path(&x, "main:11 g:30", -1), 3, 7000, 7000, 17000);
	end(&x);
	assert_int_equal(x.m->nvtx->n_ranges, 2);
	assert_true(x.m->nvtx->has_gpu);
	for (uint32_t i = 0; i < 2; i++) {
		const struct model_nvtx_range *r = &x.m->nvtx->ranges[i];
		assert_int_equal(r->gpu_ns, strcmp(r->name, "inner") ? 3000 : 2000);
	}
	const uint32_t range = run_find(x.m, 0, "<range inner>"),
		       kernel = run_find(x.m, range, "saxpy");
	assert_int_not_equal(kernel, MODEL_NONE);
	char is[512];
	put_path(x.m, kernel, is, sizeof is);
	assert_string_equal(
		is, "main 10 f 20 <range outer> <range inner> f 23 g 30 <gpu kernel> saxpy");
	clean(&x);
}

static void put_event(struct msr_nvtx_event *e, int range, uint64_t enter_ns, uint64_t leave_ns)
{
	*e = (struct msr_nvtx_event){.enter_ns = enter_ns, .leave_ns = leave_ns,
				     .range = (uint32_t)range};
}

/* The main thread is in ranges; the other one, of autograd, is in a range of its own once. */
static void kernels_of_threads_in_no_range(void **state)
{
	(void)state;
	struct ranges x;
	struct msr_nvtx_event events[4], event_of_other;
	begin(&x);
	const uint32_t other = gen_thread(x.run.g, "autograd"), main_thread = x.run.thread,
		       entry = gen_entry(x.run.g, other, MSR_ENTRY_THREAD),
		       in_range = gen_nvtx_inside(x.run.g, other, entry, 0);
	const int backward = push(&x, "backward", "main:10 f:20 push:1", -1),
		  again = push(&x, "backward", "main:10 f:20 g:30 push:1", backward),
		  inner = push(&x, "inner", "main:10 f:22 push:1", backward),
		  cut = push(&x, "some without an event", "main:10 f:23 push:1", -1);
	x.at[cut].n = x.at[cut].n_begun = 2;
	for (int i = 0; i < 3; i++)
		x.at[i].n_events = 1;
	x.at[cut].n_events = 1;
	put_event(&events[0], backward, 2000, 4000);
	put_event(&events[1], again, 2100, 2500);
	put_event(&events[2], inner, 3000, 3500);
	put_event(&events[3], cut, 5000, 6000);
	/* each takes another time on the GPU; of main, in ranges or not, none counts */
	run_kernel(&x.run, path(&x, "main:10 f:23 g:30", inner), 1, 3100, 10000, 20000);
	x.run.thread = other;
	run_kernel(&x.run, entry, 2, 1999, 20000, 20001);
	run_kernel(&x.run, entry, 3, 2000, 20100, 20110);
	run_kernel(&x.run, entry, 4, 2200, 20200, 20300); /* twice in backward: counts once */
	run_kernel(&x.run, entry, 5, 3200, 21000, 22000);
	run_kernel(&x.run, in_range, 6, 3700, 30000, 40000);
	run_kernel(&x.run, entry, 7, 3900, 40000, 40005);
	run_kernel(&x.run, entry, 8, 4000, 41000, 41003);
	run_kernel(&x.run, entry, 9, 5500, 42000, 42007);
	x.run.thread = main_thread;
	const struct msr_nvtx_range of_other = {.node = entry,
						.name = 200,
						.kind = MSR_NVTX_PUSHED,
						.n_begun = 1,
						.n = 1,
						.n_events = 1,
						.ns = 100,
						.least_ns = 100,
						.most_ns = 100};
	put_event(&event_of_other, 0, 3650, 3750);
	char *file = write_ranges(&x);
	gen_nvtx_name(file, (struct msr_nvtx_name){.kind = MSR_NVTX_NAME_RANGE, .id = 200}, "own");
	gen_nvtx_ranges(file, other, &of_other, 1);
	gen_nvtx_events(file, main_thread, events, 4);
	gen_nvtx_events(file, other, &event_of_other, 1);
	free(file);
	x.m = load(&x, false);
	unsigned n = 0;
	for (uint32_t i = 0; i < x.m->nvtx->n_ranges; i++) {
		const struct model_nvtx_range *r = &x.m->nvtx->ranges[i];
		const uint64_t expected = !strcmp(r->name, "backward") ? 10 + 100 + 1000 + 5
					  : !strcmp(r->name, "inner")  ? 1000
								       : 0;
		assert_int_equal(r->has_gpu_others, r->name[0] != 's');
		assert_int_equal(r->gpu_others_ns, r->has_gpu_others ? expected : 7);
		assert_int_equal(r->gpu_ns, !strcmp(r->name, "own") ||
							    !strcmp(r->name, "backward") ||
							    !strcmp(r->name, "inner")
						    ? 10000
						    : 0);
		n++;
	}
	assert_int_equal(n, 4);
	clean(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_range_is_at_the_line_of_its_push),
		cmocka_unit_test(the_sample_may_be_at_that_line),
		cmocka_unit_test(ranges_of_one_function_follow_each_other),
		cmocka_unit_test(the_path_goes_on_between_ranges),
		cmocka_unit_test(a_range_may_outlive_its_function),
		cmocka_unit_test(an_outer_range_is_never_below_an_inner_one),
		cmocka_unit_test(loops_go_on),
		cmocka_unit_test(without_a_path_it_is_at_the_entry),
		cmocka_unit_test(no_time_of_a_function_changes),
		cmocka_unit_test(joined_trees_keep_pushes),
		cmocka_unit_test(kernels_are_in_the_range_that_launched_them),
		cmocka_unit_test(kernels_of_threads_in_no_range),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
