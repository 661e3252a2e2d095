/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests of what back ends define in hpcrun-lite/gpu: definitions are in the file as they were said,
 * equal ones have one id, contents are kept once whoever brings them, and everything has a name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/gpu/core_fixture.h"

#include "hpcrun-lite/gpu/content.h"
#include "hpcrun-lite/gpu/hash128.h"
#include "hpcrun-lite/store/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- definitions ---- */

static void definitions(void **state)
{
	(void)state;
	const struct gpu_device d = {.name = "d",
				     .driver = "v",
				     .n_units = 4,
				     .memory_bytes = UINT64_C(1) << 40,
				     .uuid = {1, 2},
				     .type = MSR_GPU_DEVICE_GPU};
	assert_int_equal(fixture.host->device(fixture.host, &d), 1);
	assert_int_equal(fixture.host->device(fixture.host, &d), 2);
	assert_int_equal(fixture.host->context(fixture.host, &(struct gpu_context){.device = 2}),
			 1);
	assert_int_equal(
		fixture.host->queue(fixture.host,
				    &(struct gpu_queue){.name = "q",
							.context = 1,
							.device = 2,
							.clock = 1,
							.flags = MSR_GPU_QUEUE_OUT_OF_ORDER}),
		1);
	assert_int_equal(fixture.host->clock(fixture.host), 1);
	fixture.host->clock_pair(fixture.host, 1, 10, 20, 3);
	fixture.host->stall(fixture.host, 7, "stall_x", "waits", 1, MSR_GPU_STALL_ISSUED);
	assert_int_equal(fixture.host->counter(fixture.host, "c", "counts", MSR_UNIT_BYTES), 1);
	const struct msr_gpu_def_device *r = core_record_at(MSR_GPU_DEFINITION, 0, 0, NULL);
	assert_int_equal(r->head.type, MSR_GPU_DEF_DEVICE);
	assert_int_equal(r->head.bytes % 8, 0);
	assert_int_equal(r->head.id, 1);
	assert_int_equal(r->head.name_bytes, 2);
	assert_int_equal(r->head.more_bytes, 2);
	assert_string_equal((const char *)(r + 1), "d");
	assert_string_equal((const char *)(r + 1) + 2, "v");
	assert_int_equal(r->memory_bytes, UINT64_C(1) << 40);
	assert_int_equal(r->uuid[1], 2);
	const struct msr_gpu_def_context *c =
		(const void *)((const uint8_t *)r + 2 * r->head.bytes);
	assert_int_equal(c->head.type, MSR_GPU_DEF_CONTEXT);
	assert_int_equal(c->head.name_bytes, 1);
	assert_int_equal(c->head.more_bytes, 0);
	assert_int_equal(c->device, 2);
	const struct msr_gpu_def_queue *q = (const void *)((const uint8_t *)c + c->head.bytes);
	assert_int_equal(q->head.type, MSR_GPU_DEF_QUEUE);
	assert_int_equal(q->flags, MSR_GPU_QUEUE_OUT_OF_ORDER);
	const struct msr_gpu_def_stall *s = (const void *)((const uint8_t *)q + q->head.bytes);
	assert_int_equal(s->head.type, MSR_GPU_DEF_STALL);
	assert_int_equal(s->head.id, 8);
	const struct msr_gpu_clock *p = core_record_at(MSR_GPU_CLOCK, 0, 0, NULL);
	assert_int_equal(p->device_ns, 10);
	assert_int_equal(p->mono_ns, 20);
	assert_int_equal(p->error_ns, 3);
}

static void interned(void **state)
{
	uint64_t h[2], g[2];
	static char long_name[100000];
	(void)state;
	struct gpu_code c = {
		.kind = MSR_GPU_CODE_OPENCL_C, .bytes = "source", .n_bytes = 6, .options = "-O2"};
	uint32_t a = fixture.host->code(fixture.host, &c, h);
	assert_int_equal(a, 1);
	assert_int_equal(fixture.host->code(fixture.host, &c, g), a);
	assert_memory_equal(h, g, sizeof h);
	c.options = NULL;
	assert_int_equal(fixture.host->code(fixture.host, &c, g), 2);
	c.options = "";
	assert_int_equal(fixture.host->code(fixture.host, &c, g), 2);
	c.kind = MSR_GPU_CODE_OTHER;
	assert_int_equal(fixture.host->code(fixture.host, &c, g), 3);
	c.bytes = "sourcf";
	assert_int_equal(fixture.host->code(fixture.host, &c, g), 4);
	assert_true(h[0] != g[0] && h[1] != g[1]);
	assert_int_equal(fixture.host->function(fixture.host,
						&(struct gpu_function){.code = 1, .name = "f"}),
			 1);
	assert_int_equal(fixture.host->function(
				 fixture.host,
				 &(struct gpu_function){.code = 1, .name = "f", .source_name = ""}),
			 1);
	assert_int_equal(
		fixture.host->function(
			fixture.host,
			&(struct gpu_function){.code = 1, .name = "f", .source_name = "F"}),
		2);
	assert_int_equal(fixture.host->function(fixture.host,
						&(struct gpu_function){.code = 2, .name = "f"}),
			 3);
	assert_int_equal(fixture.host->function(fixture.host,
						&(struct gpu_function){.code = 2, .name = "ff"}),
			 4);
	memset(long_name, 'x', sizeof long_name - 1);
	assert_int_equal(
		fixture.host->function(fixture.host,
				       &(struct gpu_function){.code = 2, .name = long_name}),
		5);
	assert_int_equal(
		fixture.host->function(fixture.host,
				       &(struct gpu_function){.code = 2, .name = long_name}),
		5);
	struct gpu_shape s = {
		.function = 1, .grid = {1, 2, 3}, .block = {32, 1, 1}, .global = {0, 0, 7}};
	assert_int_equal(fixture.host->shape(fixture.host, &s), 1);
	assert_int_equal(fixture.host->shape(fixture.host, &s), 1);
	s.global[2] = 8;
	assert_int_equal(fixture.host->shape(fixture.host, &s), 2);
	const struct msr_gpu_shape *r = core_record_at(MSR_GPU_SHAPE, 0, 1, NULL);
	assert_int_equal(r->id, 2);
	assert_int_equal(r->global[2], 8);
	assert_int_equal(r->grid[1], 2);
	assert_null(core_record_at(MSR_GPU_SHAPE, 0, 2, NULL));
}

/* A program that never launches the same shape twice: beyond a bound only the function is told. */
static void endless_shapes(void **state)
{
	(void)state;
	uint32_t last = 0;
	for (unsigned i = 0; i < (1u << 18) + 1000; i++)
		last = fixture.host->shape(
			fixture.host,
			&(struct gpu_shape){.function = 1 + i % 2, .grid = {1 + i, 1, 1}});
	assert_int_equal(last, (1u << 18) + 2);
	assert_int_equal(fixture.host->shape(fixture.host, &(struct gpu_shape){.function = 1,
									       .grid = {77, 1, 1}}),
			 77);
	assert_int_equal(core_tally()->n_lost_definitions, 0);
}

static void *intern_many(void *sum)
{
	uint64_t h[2];
	for (unsigned i = 0; i < 2000; i++) {
		char text[32];
		snprintf(text, sizeof text, "content %u", i);
		*(uint64_t *)sum += fixture.host->code(fixture.host,
						       &(struct gpu_code){.kind = MSR_GPU_CODE_PTX,
									  .bytes = text,
									  .n_bytes = strlen(text)},
						       h);
		*(uint64_t *)sum +=
			fixture.host->shape(fixture.host, &(struct gpu_shape){.function = 1 + i});
	}
	return NULL;
}

static void interned_by_threads(void **state)
{
	pthread_t t[4];
	uint64_t sum[4] = {0};
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, intern_many, &sum[i]), 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sum[i], 2 * (2000 * 2001 /
					      2)); /* ids 1 to 2000, each once, whoever was first */
	assert_null(core_record_at(MSR_GPU_SHAPE, 0, 2000, NULL));
}

/* ---- parts ---- */

static unsigned n_asked;

static uint32_t part_of(uint32_t code, const char *name)
{
	n_asked++;
	return code < 100 ? code : 7 + (name[0] == 'g');
}

/* The code object of a new function is asked for, once. */
static void parts(void **state)
{
	(void)state;
	struct gpu_function f = {.code = 100, .name = "f", .part = part_of};
	assert_int_equal(fixture.host->function(fixture.host, &f), 1);
	assert_int_equal(fixture.host->function(fixture.host, &f), 1);
	f.name = "g";
	assert_int_equal(fixture.host->function(fixture.host, &f), 2);
	f.code = 101; /* another image with a kernel of that name */
	assert_int_equal(fixture.host->function(fixture.host, &f), 3);
	assert_int_equal(fixture.host->function(fixture.host, &f), 3);
	f.code = 5;
	assert_int_equal(fixture.host->function(fixture.host, &f), 4);
	assert_int_equal(fixture.host->function(fixture.host, &f), 4);
	assert_int_equal(n_asked, 4);
	static const uint32_t codes[] = {7, 8, 8, 5};
	const uint8_t *at = core_record_at(MSR_GPU_DEFINITION, 0, 0, NULL);
	for (unsigned i = 0; i < 4; i++) {
		const struct msr_gpu_def_function *r = (const void *)at;
		assert_int_equal(r->code, codes[i]);
		assert_int_equal(r->flags, i < 3 ? MSR_GPU_FUNCTION_PART : 0);
		at += r->head.bytes;
	}
}

/* ---- contents ---- */

static void contents(void **state)
{
	char path[300], text[64] = "";
	uint64_t h[2];
	struct stat st;
	(void)state;
	fixture.host->code(
		fixture.host,
		&(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .bytes = "hello", .n_bytes = 5}, h);
	snprintf(path, sizeof path, "%s/gpubins/cbd8a7b341bd9b025b1e906a48ae1d19.gpubin",
		 fixture.directory);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	assert_int_equal(fread(text, 1, sizeof text, in), 5);
	fclose(in);
	assert_string_equal(text, "hello");
	const struct msr_gpu_def_code *r = core_record_at(MSR_GPU_DEFINITION, 0, 0, NULL);
	assert_string_equal((const char *)(r + 1), "cbd8a7b341bd9b025b1e906a48ae1d19.gpubin");
	assert_int_equal(r->content_bytes, 5);
	assert_int_equal(r->hash[0], UINT64_C(0xcbd8a7b341bd9b02));
	/* Again in another process of the run: the file stays what it is. */
	stat(path, &st);
	ino_t inode = st.st_ino;
	gpu_forked();
	core_launched(MSR_GPU_KERNEL, 0);
	fixture.host->code(
		fixture.host,
		&(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .bytes = "hello", .n_bytes = 5}, h);
	stat(path, &st);
	assert_int_equal(st.st_ino, inode);
	unlink(path);
	/* Only the hash is known; built in. */
	uint64_t known[2] = {1, 2};
	assert_int_equal(fixture.host->code(
				 fixture.host,
				 &(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .n_bytes = 9}, known),
			 2);
	assert_int_equal(known[1], 2);
	assert_int_equal(fixture.host->code(fixture.host,
					    &(struct gpu_code){.kind = MSR_GPU_CODE_BUILTIN,
							       .bytes = "x",
							       .n_bytes = 1},
					    h),
			 3);
	assert_int_equal(core_tally()->n_lost_contents, 0);
}

/* Ranks that save the same at once: one whole file, nothing left beside it. */
static void contents_by_processes(void **state)
{
	static uint8_t big[3 << 20];
	char command[800], folder[200], name[CONTENT_NAME_BYTES];
	uint64_t h[2];
	pid_t child[4];
	(void)state;
	for (size_t i = 0; i < sizeof big; i++)
		big[i] = (uint8_t)(i * 31 >> 5);
	hash128(big, sizeof big, 0, h);
	snprintf(folder, sizeof folder, "%s/ranks", fixture.directory);
	assert_int_equal(mkdir(folder, 0777), 0);
	for (unsigned i = 0; i < 4; i++)
		if ((child[i] = fork()) == 0) {
			bool good = true;
			for (unsigned j = 0; j < 5; j++) {
				h[1] = j;
				good = content_save(folder, h, ".bin", big, sizeof big, name) &&
				       good;
			}
			_exit(!good);
		}
	for (unsigned i = 0; i < 4; i++) {
		int status;
		waitpid(child[i], &status, 0);
		assert_int_equal(status, 0);
	}
	snprintf(command, sizeof command,
		 "cd %s/gpubins && test $(ls -A | wc -l) = 5 && cmp -s *0.bin *4.bin && test $(cat "
		 "*4.bin | wc -c) = %zu",
		 folder, sizeof big);
	assert_int_equal(system(command), 0);
	/* A file of another size under the name, as a copy that was cut: replaced. */
	snprintf(command, sizeof command, "cd %s/gpubins && for f in *4.bin; do : >$f; done",
		 folder);
	assert_int_equal(system(command), 0);
	h[1] = 4;
	assert_true(content_save(folder, h, ".bin", big, sizeof big, name));
	snprintf(command, sizeof command, "test $(wc -c <%s/gpubins/%s) = %zu", folder, name,
		 sizeof big);
	assert_int_equal(system(command), 0);
}

static void contents_lost(void **state)
{
	struct rlimit limit, old;
	uint64_t h[2];
	static char big[1 << 20];
	(void)state;
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){(1 << 20) - 1, old.rlim_max};
	setrlimit(RLIMIT_FSIZE, &limit); /* SIGXFSZ would end the test */
	assert_int_equal(fixture.host->code(fixture.host,
					    &(struct gpu_code){.kind = MSR_GPU_CODE_ELF,
							       .bytes = big,
							       .n_bytes = sizeof big},
					    h),
			 1);
	setrlimit(RLIMIT_FSIZE, &old);
	const struct msr_gpu_def_code *r = core_record_at(MSR_GPU_DEFINITION, 0, 0, NULL);
	assert_string_equal((const char *)(r + 1), "");
	assert_int_equal(core_tally()->n_lost_contents, 1);
	assert_int_equal(fixture.n_notes, 1);
	fixture.runtime.directory = "/nowhere/at/all";
	fixture.host->code(
		fixture.host,
		&(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .bytes = "abc", .n_bytes = 3}, h);
	assert_int_equal(core_tally()->n_lost_contents, 2);
	fixture.host->code(fixture.host,
			   &(struct gpu_code){.kind = MSR_GPU_CODE_ELF, .is_lost = true}, h);
	assert_int_equal(core_tally()->n_lost_contents, 3);
	assert_int_equal(fixture.n_notes, 1); /* said once */
	fixture.runtime.directory = fixture.directory;
}

/* ---- names ---- */

static void names(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MSR_N_GPU_LOSSES; i++) {
		assert_non_null(msr_gpu_loss_name((enum msr_gpu_loss)i));
		assert_true(strlen(msr_gpu_loss_description((enum msr_gpu_loss)i)) > 5);
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(msr_gpu_loss_name((enum msr_gpu_loss)i),
						msr_gpu_loss_name((enum msr_gpu_loss)j));
	}
	assert_string_equal(msr_gpu_loss_name(MSR_GPU_LOSS_NEVER_DONE), "never-done");
	assert_string_equal(msr_gpu_loss_name((enum msr_gpu_loss)200), "unknown");
	assert_string_equal(msr_gpu_kind_name(MSR_GPU_GRAPH), "graph");
	assert_string_equal(msr_gpu_kind_name((enum msr_gpu_kind)99), "unknown");
	assert_string_equal(msr_gpu_direction_name(MSR_GPU_COPY_MIGRATE), "migrate");
	assert_string_equal(msr_gpu_memory_name(MSR_GPU_MEMORY_IMAGE), "image");
	assert_string_equal(msr_gpu_sync_name(MSR_GPU_SYNC_FLUSH), "flush");
	assert_string_equal(msr_gpu_code_suffix(MSR_GPU_CODE_ELF), ".gpubin");
	assert_string_equal(msr_gpu_code_suffix(4711), ".bin");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, core_setup, core_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(definitions),         TEST(interned),          TEST(endless_shapes),
		TEST(interned_by_threads), TEST(contents),          TEST(contents_by_processes),
		TEST(contents_lost),       TEST(parts),
		cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, core_make_directory, core_remove_directory);
}
