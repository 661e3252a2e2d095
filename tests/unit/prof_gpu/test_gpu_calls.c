/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/attribute/gpu_samples and gpu_calls: samples of functions that kernels call
 * stand below the calls, shared out by what is known of how often each was made. */
#include "tests/unit/prof_gpu/gpu_samples_fixture.h"

/* A function that no one launched belongs to the kernels of its code object; one of an unknown code
 * object to nobody. */
static void test_device_functions(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	run_structure(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	r.function = gen_gpu_function(r.g, r.code, "device_function", "");
	run_pc(&r, 0, 0x10, 2, 9);
	r.function = gen_gpu_function(r.g, 0, "stray", "stray(int)");
	run_pc(&r, 0, 0x20, 2, 3);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010), f = run_find(m, k, "device_function");
	assert_true(f != MODEL_NONE && m->contexts[f].parent == k);
	assert_int_equal(run_value(m, f, "GINS", MODEL_EXECUTION), 9);
	uint32_t stray = run_find(m, run_find_entry(m, MODEL_ENTRY_GPU_NO_LAUNCH), "stray(int)");
	assert_true(stray != MODEL_NONE);
	assert_int_equal(run_value(m, stray, "GINS", MODEL_EXECUTION), 3);
	assert_int_equal(m->contexts[stray].module, MODEL_NONE);
	run_clean(&r, m);
}

/*
 * saxpy (0x1000) calls mid in lines 11 and 12, leaf in line 13, fib in line 14; mid (0x2000) calls
 * leaf in line 22; fib (0x3000) calls itself in line 31 and turn in line 32, turn (0x4000) calls
 * fib in line 41; leaf (0x5000) calls nothing, and nothing that is known calls lost (0x6000).
 */
static void structure_with_calls(struct run *r)
{
	static const char *const names[] = {"saxpy", "mid", "fib", "turn", "leaf", "lost"};
	struct gen_structure *s = run_structure_new();
	uint32_t file = gen_structure_file(s, "/src/kernels.cl"), f[6];
	for (uint32_t i = 0; i < 6; i++) {
		uint64_t entry = 0x1000 * (i + 1);
		f[i] = gen_structure_function(
			s, gen_structure_definition(s, names[i], file, 10 * (i + 1)), entry);
		for (uint32_t line = 1; line < 5; line++)
			gen_structure_interval(s, entry + (line - 1) * 0x20, f[i], file,
					       10 * (i + 1) + line);
		gen_structure_interval(s, entry + 0x80, STRUCTURE_NONE, STRUCTURE_NONE, 0);
	}
	const struct {
		uint64_t at;
		uint32_t target;
	} calls[] = {{0x1010, 1}, {0x1030, 1}, {0x1050, 4},
		     {0x1070, 2}, {0x2030, 4}, {0x3010, 2},
		     {0x3030, 3}, {0x4010, 2}, {0x4030, STRUCTURE_NONE}};
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		gen_structure_call(s, calls[i].at,
				   calls[i].target == STRUCTURE_NONE ? STRUCTURE_NONE
								     : f[calls[i].target]);
	gen_structure_wait(s, 0x5000); /* leaf waits for two loads of its own */
	for (uint64_t at = 0x5020; at < 0x5060; at += 0x20)
		gen_structure_cause(s, &(struct structure_cause){
					       .link_addr = at,
					       .kind = STRUCTURE_WAIT_RESULT,
					       .operation = STRUCTURE_GLOBAL_LOAD,
					       .cycles = 10,
					       .is_carried = true});
	free(gen_structure_close(s, r->directory));
}

/* The function called from a line of the context, below it. */
static uint32_t callee(const struct model *m, uint32_t function, uint32_t line, const char *name)
{
	uint32_t at = function == MODEL_NONE ? MODEL_NONE : fixture_find_line(m, function, line);
	return at == MODEL_NONE ? MODEL_NONE : fixture_find_function(m, at, name);
}

static void test_calls_inside_of_kernels(void **state)
{
	(void)state;
	for (unsigned with_call_samples = 0; with_call_samples < 2; with_call_samples++) {
		struct run r;
		run_begin_sampled(&r);
		structure_with_calls(&r);
		run_kernel(&r, r.call, 1, 2000, 3000, 5000);
		uint64_t total = 0;
		const struct {
			uint64_t at, count;
			bool is_call;
		} samples[] = {{0x1010, 30, true},  {0x1030, 10, true},   {0x1050, 20, true},
			       {0x2030, 60, true},  {0x2000, 400, false}, {0x5000, 800, false},
			       {0x3060, 50, false}, {0x4000, 7, false},   {0x6000, 5, false}};
		for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
			if (samples[i].is_call && !with_call_samples)
				continue;
			run_pc(&r, 0, samples[i].at - 0x1000, 2, samples[i].count);
			total += samples[i].count;
		}
		struct model *m = run_finish(&r);
		uint32_t k = run_kernel_at(m, 0x1010);
		uint32_t mid11 = callee(m, k, 11, "mid"), mid12 = callee(m, k, 12, "mid"),
			 leaf13 = callee(m, k, 13, "leaf"), fib = callee(m, k, 14, "fib");
		uint32_t leaf11 = callee(m, mid11, 22, "leaf"),
			 leaf12 = callee(m, mid12, 22, "leaf"), turn = callee(m, fib, 32, "turn");
		uint32_t lost = fixture_find_function(m, k, "lost");
		assert_true(mid11 != MODEL_NONE && mid12 != MODEL_NONE && leaf13 != MODEL_NONE &&
			    fib != MODEL_NONE);
		assert_true(leaf11 != MODEL_NONE && leaf12 != MODEL_NONE && turn != MODEL_NONE &&
			    lost != MODEL_NONE);
		/* by the samples at the calls, or evenly */
		assert_int_equal(run_value(m, fixture_find_line(m, mid11, 21), "GINS", MODEL_POINT),
				 with_call_samples ? 300 : 200);
		assert_int_equal(run_value(m, fixture_find_line(m, mid12, 21), "GINS", MODEL_POINT),
				 with_call_samples ? 100 : 200);
		assert_int_equal(run_value(m, leaf13, "GINS", MODEL_EXECUTION),
				 with_call_samples ? 200 : 400);
		assert_int_equal(run_value(m, leaf11, "GINS", MODEL_EXECUTION),
				 with_call_samples ? 450 : 200);
		assert_int_equal(run_value(m, leaf12, "GINS", MODEL_EXECUTION),
				 with_call_samples ? 150 : 200);
		assert_int_equal(run_value(m, fixture_find_line(m, fib, 34), "GINS", MODEL_POINT),
				 50);
		assert_int_equal(run_value(m, turn, "GINS", MODEL_EXECUTION), 7);
		assert_int_equal(run_value(m, lost, "GINS", MODEL_EXECUTION), 5);
		assert_int_equal(run_value(m, k, "GINS", MODEL_EXECUTION), total);
		assert_int_equal(run_value(m, 0, "GINS", MODEL_EXECUTION), total);
		assert_int_equal(
			m->gpu_sampling.in_tree_exact + m->gpu_sampling.in_tree_apportioned, total);
		assert_int_equal(m->gpu_sampling.in_tree_apportioned,
				 with_call_samples ? 1260
						   : 1200); /* mid and leaf, and the call in mid */
		assert_true(m->metrics[run_metric(m, "GINS")].apportioned);
		run_clean(&r, m);
	}
}

/* What warps waited for at a call says nothing of how often it was made; what takes a fixed time
 * where it comes back does. */
static void test_calls_by_their_returns(void **state)
{
	(void)state;
	struct run r;
	run_begin_sampled(&r);
	structure_with_calls(&r);
	run_kernel(&r, r.call, 1, 2000, 3000, 5000);
	run_pc(&r, 0, 0x10, 2, 900); /* the first call of mid waits for memory */
	run_pc(&r, 0, 0x30, 2, 10);
	run_pc(&r, 0, 0x20, 1, 20);  /* but comes back once for three times of the other */
	run_pc(&r, 0, 0x40, 1, 60);
	run_pc(&r, 0, 0x40, 2, 500); /* which waits for its result */
	run_pc(&r, 0, 0x1000, 2, 400);
	struct model *m = run_finish(&r);
	uint32_t k = run_kernel_at(m, 0x1010);
	assert_int_equal(run_value(m, callee(m, k, 11, "mid"), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(run_value(m, callee(m, k, 12, "mid"), "GINS", MODEL_EXECUTION), 300);
	run_clean(&r, m);
}

static void begin_device_function_of_one_kernel(struct run *r)
{
	run_begin_sampled(r);
	structure_with_calls(r);
	run_kernel(r, r->call, 1, 2000, 3000, 5000);
	const uint32_t lost =
		gen_gpu_function(r->g, r->code, "lost", ""); /* launched too, and longer */
	r->shape = gen_gpu_shape(r->g, (struct msr_gpu_shape){.function = lost});
	run_kernel(r, r->other_call, 2, 2000, 5000, 50000);
	r->function = gen_gpu_function(r->g, r->code, "leaf", "");
	run_pc(r, 0, 0x00, 2, 100);
}

static void assert_one_kernel_has_all(const struct model *m)
{
	assert_int_equal(run_value(m, run_kernel_at(m, 0x1010), "GINS", MODEL_EXECUTION), 100);
	assert_int_equal(run_value(m, run_find(m, 0, "lost"), "GINS", MODEL_EXECUTION), 0);
	assert_int_equal(run_value(m, 0, "GINS:BLAME_GMEM", MODEL_EXECUTION), 100);
}

/* A device function that is known by itself goes to the kernels from which calls lead to it, and to
 * no other of its code object. */
static void test_device_function_of_one_kernel(void **state)
{
	(void)state;
	struct run r;
	begin_device_function_of_one_kernel(&r);
	struct model *m = run_finish(&r);
	assert_one_kernel_has_all(m);
	run_clean(&r, m);
}

/* ---- memory ---- */

void *__real_malloc(size_t n_bytes);
void *__real_calloc(size_t n, size_t n_bytes);
void *__real_realloc(void *p, size_t n_bytes);
void *__wrap_malloc(size_t n_bytes);
void *__wrap_calloc(size_t n, size_t n_bytes);
void *__wrap_realloc(void *p, size_t n_bytes);

static long until_failure = -1; /* allocations that still succeed; below 0: all do */
static bool has_failed;

static bool fails(void)
{
	if (until_failure < 0 || fixture_finds_structures || until_failure-- > 0)
		return false;
	has_failed = true;
	return true;
}

void *__wrap_malloc(size_t n_bytes) { return fails() ? NULL : __real_malloc(n_bytes); }
void *__wrap_calloc(size_t n, size_t n_bytes) { return fails() ? NULL : __real_calloc(n, n_bytes); }
void *__wrap_realloc(void *p, size_t n_bytes)
{
	return fails() ? NULL : __real_realloc(p, n_bytes);
}

/* Each allocation fails in turn: the run then fails, or its samples are where they belong. */
static void test_without_memory(void **state)
{
	(void)state;
	struct run r;
	begin_device_function_of_one_kernel(&r);
	free(gen_close(r.g, MSR_EXIT_RETURN, 0));
	unsigned n_failures = 0;
	has_failed = true;
	for (long n = 0; has_failed; n++) {
		struct load_job job = {0};
		struct model *m = NULL;
		assert_int_equal(load_job_open(&r.directory, 1, 1, &job), STATUS_OK);
		has_failed = false;
		until_failure = n;
		enum status status = fixture_try_model(&job, r.directory, 1, &m);
		until_failure = -1;
		if (status == STATUS_OK) {
			assert_one_kernel_has_all(m);
			model_free(m);
			continue;
		}
		assert_int_equal(status, STATUS_NO_MEMORY);
		assert_true(has_failed);
		load_job_close(&job);
		n_failures++;
	}
	assert_in_range(n_failures, 100, 100000);
	fixture_remove(r.directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device_functions),
		cmocka_unit_test(test_calls_inside_of_kernels),
		cmocka_unit_test(test_calls_by_their_returns),
		cmocka_unit_test(test_device_function_of_one_kernel),
		cmocka_unit_test(test_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
