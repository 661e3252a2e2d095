/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of hpcprof-lite/attribute/order: the frozen model does not depend on the order of
 * directories, of files in them, of threads, nodes and modules in the files, or on the number of
 * workers.
 */
#include "tests/gen/gen_gpu.h"
#include "tests/unit/prof/prof_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct gen_job job = {.n_processes = 3,
				   .n_threads = 4,
				   .n_nodes = 150,
				   .n_samples = 300,
				   .n_metrics = 2,
				   .seed = 3,
				   .structs = true,
				   .ranks = true,
				   .losses = true};

static void test_workers(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	gen_job(directory, &job);
	struct model *m = fixture_model(directory, 1);
	fixture_check_model(m);
	char *one = fixture_text(m);
	model_free(m);
	for (unsigned n = 2; n < 8; n++) {
		m = fixture_model(directory, n);
		char *many = fixture_text(m);
		assert_string_equal(one, many);
		free(many);
		model_free(m);
	}
	free(one);
	fixture_remove(directory);
}

static void test_directories(void **state)
{
	(void)state;
	char *all = fixture_directory(), *parts[3], from[512], to[512];
	gen_job(all, &job);
	struct model *m = fixture_model(all, 1);
	char *whole = fixture_text(m);
	model_free(m);
	for (int i = 0; i < 3; i++) {
		parts[2 - i] = fixture_directory(); /* in reverse */
		snprintf(from, sizeof from, "%s/%d-node0-%d.hpcrun", all, i, 1000 + i * 10);
		snprintf(to, sizeof to, "%s/%d-node0-%d.hpcrun", parts[2 - i], i, 1000 + i * 10);
		assert_int_equal(rename(from, to), 0);
	}
	struct load_job loaded = {0};
	assert_int_equal(load_job_open(parts, 3, 1, &loaded), STATUS_OK);
	m = fixture_model_of(&loaded, all, 1);
	char *merged = fixture_text(m);
	assert_string_equal(whole, merged);
	model_free(m);
	free(whole);
	free(merged);
	for (int i = 0; i < 3; i++)
		fixture_remove(parts[i]);
	fixture_remove(all);
}

/* The same calls, made in two orders: nodes, cells and modules get other ids. */
static void write_one(const char *directory, bool turned)
{
	static const uint8_t ids[2][2] = {{1, 1}, {2, 2}};
	struct gen *g =
		gen_open(directory, &(struct gen_process){.pid = 5, .rank = -1, .no_trace = true});
	uint16_t modules[2];
	for (int i = 0; i < 2; i++) {
		int k = turned ? 1 - i : i;
		modules[k] = gen_module(g, k ? "/lib/b.so" : "/bin/a", ids[k], 2, 0);
	}
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1, MSR_SOURCE_TEST),
		 t = gen_thread(g, "t");
	for (uint32_t i = 0; i < 200; i++) {
		uint32_t k = turned ? 199 - i : i;
		uint32_t n = gen_entry(g, t, k % 7 ? MSR_ENTRY_MAIN : MSR_ENTRY_PARTIAL + k % 5);
		n = gen_child(g, t, n, msr_addr_make(modules[k % 2], 0x100 + k % 11, false));
		n = gen_child(g, t, n,
			      msr_addr_make(modules[k % 3 == 0], 0x100 + k % 13, k % 5 == 0));
		gen_sample(g, t, n, metric, 0, k);
	}
	free(gen_close(g, MSR_EXIT_RETURN, 0));
}

static void test_ids_in_the_file(void **state)
{
	(void)state;
	char *texts[2], *directory = fixture_directory();
	for (int i = 0; i < 2; i++) {
		write_one(directory, i == 1);
		struct model *m = fixture_model(directory, 1);
		fixture_check_model(m);
		assert_true(m->n_contexts > 100);
		texts[i] = fixture_text(m);
		model_free(m);
	}
	assert_string_equal(texts[0], texts[1]);
	free(texts[0]);
	free(texts[1]);
	fixture_remove(directory);
}

static int compare_names(const struct model *m, uint32_t a, uint32_t b)
{
	return strcmp(m->functions[m->contexts[a].function].name,
		      m->functions[m->contexts[b].function].name);
}

static void test_siblings_are_sorted(void **state)
{
	(void)state;
	char *directory = fixture_directory();
	gen_job(directory, &job);
	struct model *m = fixture_model(directory, 2);
	for (uint32_t p = 0; p < m->n_contexts; p++) {
		uint32_t last = MODEL_NONE;
		for (uint32_t c = p + 1; c < p + m->contexts[p].subtree_n;
		     last = c, c += m->contexts[c].subtree_n) {
			if (last == MODEL_NONE)
				continue;
			const struct model_context *a = &m->contexts[last], *b = &m->contexts[c];
			assert_true(a->kind <= b->kind);
			if (a->kind == b->kind && a->kind == MODEL_CONTEXT_FUNCTION)
				assert_true(compare_names(m, last, c) <= 0);
			if (a->kind == b->kind && a->kind == MODEL_CONTEXT_LINE)
				assert_true(a->file < b->file ||
					    (a->file == b->file && a->line < b->line));
			if (a->kind == b->kind && a->kind == MODEL_CONTEXT_INSTRUCTION)
				assert_true(a->link_addr < b->link_addr);
		}
	}
	for (uint32_t i = 1; i < m->n_files; i++)
		assert_true(strcmp(m->files[i - 1].path, m->files[i].path) < 0);
	for (uint32_t i = 1; i < m->n_modules; i++)
		assert_true(strcmp(m->modules[i - 1].path, m->modules[i].path) <= 0);
	model_free(m);
	fixture_remove(directory);
}

/* Code objects lie in the measurement directory. Wherever that sorts among the paths of the
 * program's own modules, they come behind those, by content. */
static void test_code_objects_come_last(void **state)
{
	(void)state;
	static const uint64_t hashes[2][2] = {{UINT64_C(0xf000000000000000), 1},
					      {UINT64_C(0x1000000000000000), 2}};
	static const char *const files[2] = {"f0000000000000000000000000000001.gpubin",
					     "10000000000000000000000000000002.gpubin"};
	char *directory = fixture_directory();
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 3,
								  .rank = -1,
								  .start_mono_ns = 1000,
								  .start_real_ns = 1000000});
	uint16_t early = gen_module(g, "/.early", NULL, 0, MSR_MODULE_MAIN),
		 late = gen_module(g, "/~late", NULL, 0, 0);
	gen_thread(g, "first");
	uint32_t a = gen_child(g, 0, gen_entry(g, 0, MSR_ENTRY_MAIN),
			       msr_addr_make(early, 0x10, false)),
		 b = gen_child(g, 0, a, msr_addr_make(late, 0x10, false));
	gen_gpu_tally(g, 0, "nvidia", "a test");
	uint32_t device = gen_gpu_device(g, "Device", "",
					 (struct msr_gpu_def_device){.type = MSR_GPU_DEVICE_GPU});
	uint32_t queue =
		gen_gpu_queue(g, "stream 7",
			      (struct msr_gpu_def_queue){.context = gen_gpu_context(g, device, 0),
							 .device = device});
	for (uint64_t i = 0; i < 2; i++) {
		uint32_t code = gen_gpu_code(g, files[i], "", hashes[i], MSR_GPU_CODE_ELF),
			 function = gen_gpu_function(g, code, "kernel", "");
		gen_gpu_launch(g, 0, b, i + 1, MSR_GPU_KERNEL, 2000);
		gen_gpu_op(g, &(struct gen_gpu_op){
				      .id = i + 1,
				      .kind = MSR_GPU_KERNEL,
				      .start_ns = 3000 + i * 10,
				      .end_ns = 3005 + i * 10,
				      .queue = queue,
				      .shape = gen_gpu_shape(
					      g, (struct msr_gpu_shape){.function = function})});
	}
	free(gen_close(g, MSR_EXIT_RETURN, 0));
	struct model *m = fixture_model(directory, 1);
	fixture_check_model(m);
	assert_int_equal(m->n_modules, 4);
	assert_string_equal(m->modules[0].path, "/.early");
	assert_string_equal(m->modules[1].path, "/~late");
	assert_non_null(strstr(m->modules[2].path, files[1]));
	assert_non_null(strstr(m->modules[3].path, files[0]));
	model_free(m);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_workers),
		cmocka_unit_test(test_directories),
		cmocka_unit_test(test_ids_in_the_file),
		cmocka_unit_test(test_siblings_are_sorted),
		cmocka_unit_test(test_code_objects_come_last),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
